-- As in 0072. Of several that are too many at once each gives back a try of its own: all chose the newest, and all but one gave back nothing.
CREATE OR REPLACE FUNCTION drover.leave_unchecked(a_mail text, a_remote text, for_mail boolean, a_device bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE drover.account_try t SET mail = '', device = NULL WHERE t.try_id = (
        SELECT o.try_id FROM drover.account_try o
        WHERE o.mail = lower(a_mail) AND o.remote = a_remote AND o.is_mail = for_mail AND (o.device IS NULL OR o.device = a_device)
        ORDER BY o.device IS NULL, o.try_id DESC LIMIT 1 FOR UPDATE SKIP LOCKED)
$$;
