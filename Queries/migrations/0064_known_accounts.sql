-- Whether a name that somebody is to own something by is anybody's: an account's, or that of a token that was given out. Asked by
-- `drover vehicle register --account`; it tells nothing else of accounts.
CREATE FUNCTION drover.is_account(a_name text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM drover.account a WHERE a.account = a_name)
        OR EXISTS (SELECT FROM drover.token t WHERE t.account = a_name AND t.revoked_at IS NULL)
$$;

REVOKE EXECUTE ON FUNCTION drover.is_account(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.is_account(text) TO drover_api, drover_writer;
