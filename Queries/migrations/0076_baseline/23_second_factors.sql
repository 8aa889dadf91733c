-- A second factor of log-ins (RFC 6238), and recovery codes.

CREATE FUNCTION drover.has_second_factor(an_account text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM drover.account_second_factor f WHERE f.account = an_account AND f.secret IS NOT NULL)
$$;
REVOKE EXECUTE ON FUNCTION drover.has_second_factor(an_account text) FROM PUBLIC;

-- Keeps a secret that is shown now. Where one is on, it takes a code of that, too. False: another password or code.
CREATE FUNCTION drover.begin_second_factor(a_session bytea, a_password bytea, a_step bigint, a_recovery bytea, new_secret bytea)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own text := drover.proven_account(a_session, a_password);
BEGIN
    IF own IS NULL OR drover.has_second_factor(own) AND NOT drover.take_factor_code(own, a_step, a_recovery) THEN RETURN false; END IF;
    INSERT INTO drover.account_second_factor AS f (account, next_secret, next_at) VALUES (own, new_secret, now())
        ON CONFLICT (account) DO UPDATE SET next_secret = EXCLUDED.next_secret, next_at = EXCLUDED.next_at;
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.begin_second_factor(a_session bytea, a_password bytea, a_step bigint, a_recovery bytea, new_secret bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.begin_second_factor(a_session bytea, a_password bytea, a_step bigint, a_recovery bytea, new_secret bytea) TO drover_api;

-- A code of `a_step` came for the secret that was shown: it is on from now on, and all other sessions end. False: another one was
-- shown meanwhile.
CREATE FUNCTION drover.confirm_second_factor(a_session bytea, shown_secret bytea, a_step bigint, the_codes bytea[])
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own text;
BEGIN
    UPDATE drover.account_second_factor f SET secret = f.next_secret, on_since = now(), last_step = a_step, tries = 0,
            next_secret = NULL, next_at = NULL
        FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL AND f.account = s.account
            AND f.next_secret = shown_secret AND f.next_at > now() - interval '1 hour'
        RETURNING f.account INTO own;
    IF NOT FOUND THEN RETURN false; END IF;
    PERFORM drover.put_recovery_codes(own, the_codes);
    DELETE FROM drover.account_session s WHERE s.account = own AND s.digest <> a_session;
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.confirm_second_factor(a_session bytea, shown_secret bytea, a_step bigint, the_codes bytea[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.confirm_second_factor(a_session bytea, shown_secret bytea, a_step bigint, the_codes bytea[]) TO drover_api;

-- New recovery codes in place of those from before, or none of it any more (`the_codes` NULL). False: another password or code.
CREATE FUNCTION drover.change_second_factor(a_session bytea, a_password bytea, a_step bigint, a_recovery bytea, the_codes bytea[])
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own text := drover.proven_account(a_session, a_password);
BEGIN
    IF own IS NULL OR NOT drover.take_factor_code(own, a_step, a_recovery) THEN RETURN false; END IF;
    IF the_codes IS NOT NULL THEN
        PERFORM drover.put_recovery_codes(own, the_codes);
    ELSE
        DELETE FROM drover.account_recovery_code c WHERE c.account = own;
        DELETE FROM drover.account_second_factor f WHERE f.account = own;
    END IF;
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.change_second_factor(a_session bytea, a_password bytea, a_step bigint, a_recovery bytea, the_codes bytea[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.change_second_factor(a_session bytea, a_password bytea, a_step bigint, a_recovery bytea, the_codes bytea[]) TO drover_api;

-- Of whoever's session it is, open or half. No row: neither.
CREATE FUNCTION drover.second_factor_of_session(a_session bytea)
RETURNS TABLE (is_on boolean, is_half boolean, has_password boolean, codes_left int, next_secret bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT f.secret IS NOT NULL, s.awaits_code, a.password IS NOT NULL,
            (SELECT count(*)::int FROM drover.account_recovery_code c WHERE c.account = a.account),
            CASE WHEN NOT s.awaits_code AND f.next_at > now() - interval '1 hour' THEN f.next_secret END
        FROM drover.account_session s JOIN drover.account a USING (account) LEFT JOIN drover.account_second_factor f USING (account)
        WHERE s.digest = a_session AND (drover.is_session_open(s) OR drover.is_session_awaiting(s)) AND a.disabled_at IS NULL
$$;
REVOKE EXECUTE ON FUNCTION drover.second_factor_of_session(a_session bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.second_factor_of_session(a_session bytea) TO drover_api, drover_page;

-- Takes the code of a step, or a recovery code, for good. False: it was taken before, or there is no such code.
CREATE FUNCTION drover.take_factor_code(an_account text, a_step bigint, a_recovery bytea) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF a_recovery IS NOT NULL THEN
        DELETE FROM drover.account_recovery_code c WHERE c.account = an_account AND c.digest = a_recovery;
        IF NOT FOUND THEN RETURN false; END IF;
        UPDATE drover.account_second_factor f SET tries = 0 WHERE f.account = an_account;
    ELSE
        UPDATE drover.account_second_factor f SET last_step = a_step, tries = 0
            WHERE f.account = an_account AND f.secret IS NOT NULL AND f.last_step < a_step;
        IF NOT FOUND THEN RETURN false; END IF;
    END IF;
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.take_factor_code(an_account text, a_step bigint, a_recovery bytea) FROM PUBLIC;

CREATE FUNCTION drover.put_recovery_codes(an_account text, the_codes bytea[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    DELETE FROM drover.account_recovery_code c WHERE c.account = an_account;
    INSERT INTO drover.account_recovery_code (account, digest) SELECT an_account, code FROM unnest(the_codes[1:10]) AS code
$$;
REVOKE EXECUTE ON FUNCTION drover.put_recovery_codes(an_account text, the_codes bytea[]) FROM PUBLIC;

-- Who is erased keeps neither, by whatever way: the row of the account stays, without a mail address.
CREATE FUNCTION drover.erase_second_factor() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM drover.account_recovery_code c WHERE c.account = NEW.account;
    DELETE FROM drover.account_second_factor f WHERE f.account = NEW.account;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION drover.erase_second_factor() FROM PUBLIC;

CREATE FUNCTION drover.audit_second_factor() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
BEGIN
    PERFORM drover.audit_append('second_factor_changed',
        coalesce(nullif(current_setting('drover.account', true), ''), nullif(current_setting('drover.audit_by', true), '')), OLD.account, NULL,
        jsonb_build_object('is', CASE WHEN TG_OP = 'DELETE' THEN 'off' WHEN OLD.secret IS NULL THEN 'on' ELSE 'renewed' END,
            'login', session_user)::text);
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION drover.audit_second_factor() FROM PUBLIC;

CREATE TRIGGER erase_second_factor AFTER UPDATE OF mail ON drover.account FOR EACH ROW WHEN (((old.mail IS NOT NULL) AND (new.mail IS NULL))) EXECUTE FUNCTION drover.erase_second_factor();
CREATE CONSTRAINT TRIGGER audit AFTER UPDATE OF secret ON drover.account_second_factor DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((new.secret IS NOT NULL) AND (new.secret IS DISTINCT FROM old.secret))) EXECUTE FUNCTION drover.audit_second_factor();
CREATE CONSTRAINT TRIGGER audit_off AFTER DELETE ON drover.account_second_factor DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((old.secret IS NOT NULL)) EXECUTE FUNCTION drover.audit_second_factor();
