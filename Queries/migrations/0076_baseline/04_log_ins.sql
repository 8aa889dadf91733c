-- Log-ins: tries, devices, sessions, and identities at OpenID Connect providers.

CREATE TABLE drover.account_session (
    digest bytea NOT NULL,
    number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    account text NOT NULL,
    agent text NOT NULL,  -- what the browser calls itself
    is_kept boolean NOT NULL,  -- stays logged in for weeks
    made_at timestamptz DEFAULT now() NOT NULL,
    last_used_at timestamptz DEFAULT now() NOT NULL,  -- to five minutes: a row is not written with each request
    awaits_code boolean DEFAULT false NOT NULL,  -- The password was right and the code is still to come: such a session opens nothing, whatever function looks at it.
    CONSTRAINT account_session_pkey PRIMARY KEY (digest),
    CONSTRAINT account_session_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT account_session_agent_check CHECK ((octet_length(agent) <= 300)),
    CONSTRAINT account_session_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT account_session_number_key UNIQUE (number)
);
CREATE INDEX account_session_by_account ON drover.account_session (account, made_at);

-- Who tried to log in or asked for mail, known or not: so limits tell nobody who is known.
CREATE TABLE drover.account_try (
    try_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    mail text NOT NULL,  -- in lower case
    remote text NOT NULL,  -- the client's address
    is_mail boolean NOT NULL,  -- a mail was asked for
    tried_at timestamptz DEFAULT now() NOT NULL,
    device bytea,  -- of one that is known, or of a session; NULL: of a stranger
    CONSTRAINT account_try_pkey PRIMARY KEY (try_id)
);
CREATE INDEX account_try_by_mail ON drover.account_try (mail, tried_at);
CREATE INDEX account_try_by_remote ON drover.account_try (remote, tried_at);
CREATE INDEX account_try_by_time ON drover.account_try (tried_at);

-- Browsers that somebody has logged in with before, by the digest of a cookie: others' guesses do not shut them out.
CREATE TABLE drover.account_device (
    account text NOT NULL,
    digest bytea NOT NULL,
    last_used_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT account_device_pkey PRIMARY KEY (account, digest),
    CONSTRAINT account_device_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT account_device_digest_check CHECK ((octet_length(digest) = 32))
);

CREATE TABLE drover.account_identity (
    issuer text NOT NULL,
    subject text NOT NULL,
    account text NOT NULL,
    linked_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT account_identity_pkey PRIMARY KEY (issuer, subject),
    CONSTRAINT account_identity_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT account_identity_issuer_check CHECK (((octet_length(issuer) >= 1) AND (octet_length(issuer) <= 2000))),
    CONSTRAINT account_identity_subject_check CHECK (((octet_length(subject) >= 1) AND (octet_length(subject) <= 255)))
);
CREATE INDEX account_identity_by_account ON drover.account_identity (account);

-- For functions that know of no device, and for the program before.
CREATE FUNCTION drover.admit_account_try(a_mail text, a_remote text, for_mail boolean) RETURNS boolean
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$ SELECT drover.admit_account_try(a_mail, a_remote, for_mail, NULL) $$;
REVOKE EXECUTE ON FUNCTION drover.admit_account_try(a_mail text, a_remote text, for_mail boolean) FROM PUBLIC;

CREATE FUNCTION drover.admit_account_try(a_mail text, a_remote text, for_mail boolean, a_device bytea) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    of_pair int; of_mail int; of_remote int; of_device int;
    since timestamptz := now() - CASE WHEN for_mail THEN interval '1 hour' ELSE interval '15 minutes' END;
    few int := CASE WHEN for_mail THEN 5 ELSE 10 END;
    is_known boolean;
BEGIN
    PERFORM drover.take_turn('drover.account_try');
    DELETE FROM drover.account_try t WHERE t.tried_at < now() - interval '1 hour';
    SELECT EXISTS (SELECT FROM drover.account a WHERE lower(a.mail) = lower(a_mail) AND (
            EXISTS (SELECT FROM drover.account_device d
                WHERE d.account = a.account AND d.digest = a_device AND d.last_used_at > now() - interval '1 year')
            OR EXISTS (SELECT FROM drover.account_session s WHERE s.account = a.account AND s.digest = a_device AND drover.is_session_open(s))))
        INTO is_known;
    IF is_known THEN
        SELECT count(*) INTO of_device FROM drover.account_try t
            WHERE t.mail = lower(a_mail) AND t.device = a_device AND t.is_mail = for_mail AND t.tried_at > since;
        IF of_device >= few THEN RETURN false; END IF;
    ELSE
        SELECT count(*) FILTER (WHERE t.remote = a_remote), count(*) INTO of_pair, of_mail FROM drover.account_try t
            WHERE t.mail = lower(a_mail) AND t.device IS NULL AND t.is_mail = for_mail AND t.tried_at > since;
        SELECT count(*) INTO of_remote FROM drover.account_try t
            WHERE t.remote = a_remote AND t.device IS NULL AND t.is_mail = for_mail AND t.tried_at > since;
        IF (of_pair >= few OR of_mail >= CASE WHEN for_mail THEN 20 ELSE 100 END
            OR of_remote >= CASE WHEN for_mail THEN 30 ELSE 100 END) THEN
            RETURN false;
        END IF;
    END IF;
    INSERT INTO drover.account_try (mail, remote, is_mail, device)
        VALUES (lower(a_mail), a_remote, for_mail, CASE WHEN is_known THEN a_device END);
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.admit_account_try(a_mail text, a_remote text, for_mail boolean, a_device bytea) FROM PUBLIC;

-- As before, with the device that is shown; NULL: none.
CREATE FUNCTION drover.begin_log_in(a_mail text, a_remote text, the_memory_kib int, the_passes int)
RETURNS TABLE (salt bytea, memory_kib int, passes int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT drover.admit_account_try(a_mail, a_remote, false) THEN RETURN; END IF;
    RETURN QUERY SELECT a.salt, a.memory_kib, a.passes FROM drover.account a
        WHERE lower(a.mail) = lower(a_mail) AND a.password IS NOT NULL;
    IF NOT FOUND THEN
        RETURN QUERY SELECT substr(sha256(s.secret || convert_to(lower(a_mail), 'UTF8')), 1, 16), the_memory_kib, the_passes
            FROM drover.account_secret s;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION drover.begin_log_in(a_mail text, a_remote text, the_memory_kib integer, the_passes integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.begin_log_in(a_mail text, a_remote text, the_memory_kib integer, the_passes integer) TO drover_api;

CREATE FUNCTION drover.begin_log_in(a_mail text, a_remote text, the_memory_kib int, the_passes int, a_device bytea)
RETURNS TABLE (salt bytea, memory_kib int, passes int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT drover.admit_account_try(a_mail, a_remote, false, a_device) THEN RETURN; END IF;
    RETURN QUERY SELECT a.salt, a.memory_kib, a.passes FROM drover.account a
        WHERE lower(a.mail) = lower(a_mail) AND a.password IS NOT NULL;
    IF NOT FOUND THEN
        RETURN QUERY SELECT substr(sha256(s.secret || convert_to(lower(a_mail), 'UTF8')), 1, 16), the_memory_kib, the_passes
            FROM drover.account_secret s;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION drover.begin_log_in(a_mail text, a_remote text, the_memory_kib integer, the_passes integer, a_device bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.begin_log_in(a_mail text, a_remote text, the_memory_kib integer, the_passes integer, a_device bytea) TO drover_api;

-- Twenty at a time, each for a year after its last log-in.
CREATE FUNCTION drover.know_device(an_account text, shown_device bytea, new_device bytea) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM drover.account_device d
        WHERE d.account = an_account AND (d.digest = shown_device OR d.last_used_at < now() - interval '1 year');
    INSERT INTO drover.account_device (account, digest) VALUES (an_account, new_device);
    DELETE FROM drover.account_device d WHERE d.account = an_account AND d.digest IN (
        SELECT o.digest FROM drover.account_device o WHERE o.account = an_account ORDER BY o.last_used_at DESC, o.digest OFFSET 20);
END $$;
REVOKE EXECUTE ON FUNCTION drover.know_device(an_account text, shown_device bytea, new_device bytea) FROM PUBLIC;

-- For the program before, which asks for no code: who has a second factor does not get in by it.
CREATE FUNCTION drover.log_in(a_mail text, a_password bytea, a_session bytea, an_agent text, keep boolean) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found_account text; is_half boolean;
BEGIN
    SELECT a.account INTO found_account FROM drover.account a
        WHERE lower(a.mail) = lower(a_mail) AND a.password = a_password AND a.confirmed_at IS NOT NULL AND a.disabled_at IS NULL
        FOR SHARE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    INSERT INTO drover.account_session AS s (digest, account, agent, is_kept) VALUES (a_session, found_account, an_agent, keep)
        RETURNING s.awaits_code INTO is_half;
    PERFORM drover.trim_sessions(found_account);
    IF NOT is_half THEN DELETE FROM drover.account_try t WHERE t.mail = lower(a_mail) AND NOT t.is_mail; END IF;
    RETURN found_account;
END $$;
REVOKE EXECUTE ON FUNCTION drover.log_in(a_mail text, a_password bytea, a_session bytea, an_agent text, keep boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.log_in(a_mail text, a_password bytea, a_session bytea, an_agent text, keep boolean) TO drover_api;

CREATE FUNCTION drover.log_in(
    a_mail text, a_password bytea, a_session bytea, an_agent text, keep boolean, a_remote text, shown_device bytea, new_device bytea)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found_account text; is_half boolean;
BEGIN
    SELECT a.account INTO found_account FROM drover.account a
        WHERE lower(a.mail) = lower(a_mail) AND a.password = a_password AND a.confirmed_at IS NOT NULL AND a.disabled_at IS NULL
        FOR SHARE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    INSERT INTO drover.account_session AS s (digest, account, agent, is_kept) VALUES (a_session, found_account, an_agent, keep)
        RETURNING s.awaits_code INTO is_half;
    PERFORM drover.trim_sessions(found_account);
    IF NOT is_half THEN
        DELETE FROM drover.account_try t WHERE t.mail = lower(a_mail) AND NOT t.is_mail
            AND (t.device = shown_device OR t.device IS NULL AND t.remote = a_remote);
        PERFORM drover.know_device(found_account, shown_device, new_device);
    END IF;
    RETURN found_account;
END $$;
REVOKE EXECUTE ON FUNCTION drover.log_in(a_mail text, a_password bytea, a_session bytea, an_agent text, keep boolean, a_remote text, shown_device bytea, new_device bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.log_in(a_mail text, a_password bytea, a_session bytea, an_agent text, keep boolean, a_remote text, shown_device bytea, new_device bytea) TO drover_api;

-- Opens a session for who logged in there. Who is not known yet is linked to the account with the mail address that the provider
-- has verified, or gets a new account without roles. No row: there is no such mail address, or the account is disabled.
CREATE FUNCTION drover.log_in_by_identity(
    an_issuer text, a_subject text, a_verified_mail text, a_first_name text, a_last_name text, new_account text, a_session bytea,
    an_agent text)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found_account text;
BEGIN
    -- Two log-ins of somebody new make one account.
    PERFORM drover.take_turn('drover.account_identity ' || a_subject);
    SELECT i.account INTO found_account FROM drover.account_identity i WHERE i.issuer = an_issuer AND i.subject = a_subject;
    IF NOT FOUND THEN
        IF a_verified_mail IS NULL THEN RETURN NULL; END IF;
        -- Somebody registered with that mail address and never confirmed it: the password is not known to be its owner's.
        UPDATE drover.account a SET confirmed_at = now(), password = NULL, salt = NULL, memory_kib = NULL, passes = NULL,
                first_name = a_first_name, last_name = a_last_name
            WHERE lower(a.mail) = lower(a_verified_mail) AND a.confirmed_at IS NULL;
        DELETE FROM drover.account_link l USING drover.account a
            WHERE l.account = a.account AND lower(a.mail) = lower(a_verified_mail) AND a.password IS NULL;
        INSERT INTO drover.account (account, mail, first_name, last_name, confirmed_at)
            VALUES (new_account, a_verified_mail, a_first_name, a_last_name, now()) ON CONFLICT (lower(mail)) DO NOTHING;
        SELECT a.account INTO found_account FROM drover.account a WHERE lower(a.mail) = lower(a_verified_mail);
        INSERT INTO drover.account_identity (issuer, subject, account) VALUES (an_issuer, a_subject, found_account);
    END IF;
    PERFORM FROM drover.account a WHERE a.account = found_account AND a.disabled_at IS NULL FOR SHARE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    INSERT INTO drover.account_session (digest, account, agent, is_kept) VALUES (a_session, found_account, an_agent, false);
    DELETE FROM drover.account_session s WHERE s.digest IN (
        SELECT o.digest FROM drover.account_session o WHERE o.account = found_account ORDER BY o.number DESC OFFSET 20);
    RETURN found_account;
END $$;
REVOKE EXECUTE ON FUNCTION drover.log_in_by_identity(an_issuer text, a_subject text, a_verified_mail text, a_first_name text, a_last_name text, new_account text, a_session bytea, an_agent text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.log_in_by_identity(an_issuer text, a_subject text, a_verified_mail text, a_first_name text, a_last_name text, new_account text, a_session bytea, an_agent text) TO drover_api;

-- A session is over when it was not used for 12 hours, a kept one for 30 days, and 90 days after log-in.
CREATE FUNCTION drover.is_session_open(s drover.account_session) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.last_used_at > now() - CASE WHEN s.is_kept THEN interval '30 days' ELSE interval '12 hours' END
        AND s.made_at > now() - interval '90 days' AND NOT s.awaits_code
$$;
REVOKE EXECUTE ON FUNCTION drover.is_session_open(s drover.account_session) FROM PUBLIC;

CREATE FUNCTION drover.is_session_awaiting(s drover.account_session) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT s.awaits_code AND s.made_at > now() - interval '10 minutes' $$;
REVOKE EXECUTE ON FUNCTION drover.is_session_awaiting(s drover.account_session) FROM PUBLIC;

-- Whose session it is; no row: unknown, over, or of somebody who is disabled.
CREATE FUNCTION drover.account_of_session(a_session bytea)
RETURNS TABLE (account text, mail text, first_name text, last_name text, roles text[], units text, zone text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.account_session s SET last_used_at = now()
        WHERE s.digest = a_session AND s.last_used_at < now() - interval '5 minutes' AND drover.is_session_open(s);
    RETURN QUERY SELECT a.account, a.mail, a.first_name, a.last_name, a.roles, a.units, a.zone
        FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL;
END $$;
REVOKE EXECUTE ON FUNCTION drover.account_of_session(a_session bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.account_of_session(a_session bytea) TO drover_api, drover_page;

CREATE FUNCTION drover.sessions_of_session(a_session bytea)
RETURNS TABLE (number bigint, agent text, made_at timestamptz, last_used_at timestamptz, is_this boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT o.number, o.agent, o.made_at, o.last_used_at, o.digest = a_session
        FROM drover.account_session s JOIN drover.account_session o USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND drover.is_session_open(o)
        ORDER BY o.number DESC
$$;
REVOKE EXECUTE ON FUNCTION drover.sessions_of_session(a_session bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.sessions_of_session(a_session bytea) TO drover_api;

-- Twenty that are open and twenty that wait: who has the password alone ends nobody's.
CREATE FUNCTION drover.trim_sessions(an_account text) RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    DELETE FROM drover.account_session s USING (
            SELECT o.digest, row_number() OVER (PARTITION BY o.awaits_code ORDER BY o.number DESC) AS place
            FROM drover.account_session o WHERE o.account = an_account) AS placed
        WHERE s.digest = placed.digest AND placed.place > 20
$$;
REVOKE EXECUTE ON FUNCTION drover.trim_sessions(an_account text) FROM PUBLIC;

-- One of one's own; NULL as number: this one.
CREATE FUNCTION drover.end_session(a_session bytea, a_number bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    DELETE FROM drover.account_session o USING drover.account_session s
        WHERE s.digest = a_session AND o.account = s.account
            AND CASE WHEN a_number IS NULL THEN o.digest = a_session ELSE o.number = a_number END
$$;
REVOKE EXECUTE ON FUNCTION drover.end_session(a_session bytea, a_number bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.end_session(a_session bytea, a_number bigint) TO drover_api;

-- The newest such try counts for its address from now on, and for no account and no device: the server was too busy to look at the
-- password. A try that counts for a device alone stays with its address, too. Of several that are too many at once each gives back a try of its
-- own: all chose the newest, and all but one gave back nothing.
CREATE FUNCTION drover.leave_unchecked(a_mail text, a_remote text, for_mail boolean, a_device bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE drover.account_try t SET mail = '', device = NULL WHERE t.try_id = (
        SELECT o.try_id FROM drover.account_try o
        WHERE o.mail = lower(a_mail) AND o.remote = a_remote AND o.is_mail = for_mail AND (o.device IS NULL OR o.device = a_device)
        ORDER BY o.device IS NULL, o.try_id DESC LIMIT 1 FOR UPDATE SKIP LOCKED)
$$;
REVOKE EXECUTE ON FUNCTION drover.leave_unchecked(a_mail text, a_remote text, for_mail boolean, a_device bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.leave_unchecked(a_mail text, a_remote text, for_mail boolean, a_device bytea) TO drover_api;
