-- Accounts: who logs in. The page's login calls the functions at the end; it reads none of these tables, so that it can list
-- neither people nor what passwords are checked against. Results name accounts by their id, which outlives the person's data.

CREATE TABLE drover.account (
    account       text        PRIMARY KEY CHECK (account ~ '^[A-Za-z0-9._-]{1,64}$'),
    mail          text        CHECK (octet_length(mail) BETWEEN 3 AND 254),  -- as it was written; NULL: erased
    first_name    text        NOT NULL DEFAULT '' CHECK (octet_length(first_name) <= 200),
    last_name     text        NOT NULL DEFAULT '' CHECK (octet_length(last_name) <= 200),
    roles         text[]      NOT NULL DEFAULT '{}' CHECK (roles <@ ARRAY['farmer', 'dealer', 'developer', 'driver', 'fleet_manager',
        'rider', 'ride_driver', 'dispatcher', 'surveyor', 'researcher', 'ranger', 'analyst', 'operator', 'administrator']),
    units         text        NOT NULL DEFAULT 'metric' CHECK (units IN ('metric', 'us')),
    zone          text        NOT NULL DEFAULT 'UTC' CHECK (octet_length(zone) <= 64),
    -- What Argon2id makes of the password, digested once more: Sources/Secrets/Password.swift. NULL: none yet.
    password      bytea       CHECK (octet_length(password) = 32),
    salt          bytea       CHECK (octet_length(salt) = 16),
    memory_kib    int,
    passes        int,
    made_at       timestamptz NOT NULL DEFAULT now(),
    confirmed_at  timestamptz,                         -- the mail address is theirs
    disabled_at   timestamptz,
    CHECK ((password IS NULL) = (salt IS NULL) AND (password IS NULL) = (memory_kib IS NULL) AND (password IS NULL) = (passes IS NULL))
);
CREATE UNIQUE INDEX account_by_mail ON drover.account (lower(mail));

CREATE TABLE drover.account_session (
    digest       bytea       PRIMARY KEY CHECK (octet_length(digest) = 32),
    number       bigint      GENERATED ALWAYS AS IDENTITY UNIQUE,
    account      text        NOT NULL REFERENCES drover.account ON DELETE CASCADE,
    agent        text        NOT NULL CHECK (octet_length(agent) <= 300),    -- what the browser calls itself
    is_kept      boolean     NOT NULL,                -- stays logged in for weeks
    made_at      timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz NOT NULL DEFAULT now()   -- to five minutes: a row is not written with each request
);
CREATE INDEX account_session_by_account ON drover.account_session (account, made_at);

-- Links that are mailed or printed, each good once.
CREATE TABLE drover.account_link (
    digest     bytea       PRIMARY KEY CHECK (octet_length(digest) = 32),
    account    text        NOT NULL REFERENCES drover.account ON DELETE CASCADE,
    purpose    text        NOT NULL CHECK (purpose IN ('confirm', 'password')),
    expires_at timestamptz NOT NULL
);
CREATE INDEX account_link_by_account ON drover.account_link (account);

-- Who tried to log in or asked for mail, known or not: so limits tell nobody who is known.
CREATE TABLE drover.account_try (
    try_id   bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    mail     text        NOT NULL,                    -- in lower case
    remote   text        NOT NULL,                    -- the client's address
    is_mail  boolean     NOT NULL,                    -- a mail was asked for
    tried_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX account_try_by_mail ON drover.account_try (mail, tried_at);
CREATE INDEX account_try_by_remote ON drover.account_try (remote, tried_at);
CREATE INDEX account_try_by_time ON drover.account_try (tried_at);

-- Salts of mail addresses that nobody has are made of this, so that they look like all others and stay the same.
CREATE TABLE drover.account_secret (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    secret  bytea   NOT NULL
);
INSERT INTO drover.account_secret (secret)
    VALUES (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));

-- Counts a try; false: there were too many with this mail address or from this client. One at a time, so that nobody slips
-- through. Of one address 10 log-ins in a quarter of an hour, 5 mails an hour; of one client 100 and 30.
CREATE FUNCTION drover.admit_account_try(a_mail text, a_remote text, for_mail boolean) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    of_mail int; of_remote int;
    since timestamptz := now() - CASE WHEN for_mail THEN interval '1 hour' ELSE interval '15 minutes' END;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('drover.account_try', 0));
    DELETE FROM drover.account_try t WHERE t.tried_at < now() - interval '1 hour';
    SELECT count(*) INTO of_mail FROM drover.account_try t
        WHERE t.mail = lower(a_mail) AND t.is_mail = for_mail AND t.tried_at > since;
    SELECT count(*) INTO of_remote FROM drover.account_try t
        WHERE t.remote = a_remote AND t.is_mail = for_mail AND t.tried_at > since;
    IF (of_mail >= CASE WHEN for_mail THEN 5 ELSE 10 END OR of_remote >= CASE WHEN for_mail THEN 30 ELSE 100 END) THEN
        RETURN false;
    END IF;
    INSERT INTO drover.account_try (mail, remote, is_mail) VALUES (lower(a_mail), a_remote, for_mail);
    RETURN true;
END $$;

-- Before a password is hashed for somebody who wants an account.
CREATE FUNCTION drover.begin_registration(a_mail text, a_remote text) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.admit_account_try(a_mail, a_remote, true)
$$;

-- With what the password is to be hashed, whether or not there is such an account. No row: too many tries.
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

-- Opens a session; NULL: no such account, another password, not confirmed or disabled.
CREATE FUNCTION drover.log_in(a_mail text, a_password bytea, a_session bytea, an_agent text, keep boolean) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found_account text;
BEGIN
    SELECT a.account INTO found_account FROM drover.account a
        WHERE lower(a.mail) = lower(a_mail) AND a.password = a_password AND a.confirmed_at IS NOT NULL AND a.disabled_at IS NULL
        FOR SHARE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    INSERT INTO drover.account_session (digest, account, agent, is_kept) VALUES (a_session, found_account, an_agent, keep);
    -- Twenty at a time.
    DELETE FROM drover.account_session s WHERE s.digest IN (
        SELECT o.digest FROM drover.account_session o WHERE o.account = found_account ORDER BY o.number DESC OFFSET 20);
    DELETE FROM drover.account_try t WHERE t.mail = lower(a_mail) AND NOT t.is_mail;
    RETURN found_account;
END $$;

-- A session is over when it was not used for 12 hours, a kept one for 30 days, and 90 days after log-in.
CREATE FUNCTION drover.is_session_open(s drover.account_session) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.last_used_at > now() - CASE WHEN s.is_kept THEN interval '30 days' ELSE interval '12 hours' END
        AND s.made_at > now() - interval '90 days'
$$;

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

CREATE FUNCTION drover.sessions_of_session(a_session bytea)
RETURNS TABLE (number bigint, agent text, made_at timestamptz, last_used_at timestamptz, is_this boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT o.number, o.agent, o.made_at, o.last_used_at, o.digest = a_session
        FROM drover.account_session s JOIN drover.account_session o USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND drover.is_session_open(o)
        ORDER BY o.number DESC
$$;

-- One of one's own; NULL as number: this one.
CREATE FUNCTION drover.end_session(a_session bytea, a_number bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    DELETE FROM drover.account_session o USING drover.account_session s
        WHERE s.digest = a_session AND o.account = s.account
            AND CASE WHEN a_number IS NULL THEN o.digest = a_session ELSE o.number = a_number END
$$;

CREATE FUNCTION drover.change_account(a_session bytea, a_first_name text, a_last_name text, the_units text, a_zone text)
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE drover.account a SET first_name = a_first_name, last_name = a_last_name, units = the_units, zone = a_zone
        FROM drover.account_session s
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.account = s.account AND a.disabled_at IS NULL
$$;

-- With what one's own password is to be hashed. No row: too many tries.
CREATE FUNCTION drover.own_salt(a_session bytea, a_remote text)
RETURNS TABLE (salt bytea, memory_kib int, passes int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own drover.account;
BEGIN
    SELECT a.* INTO own FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.password IS NOT NULL;
    IF NOT FOUND OR NOT drover.admit_account_try(own.mail, a_remote, false) THEN RETURN; END IF;
    RETURN QUERY SELECT own.salt, own.memory_kib, own.passes;
END $$;

-- Ends all other sessions. False: the old password is another.
CREATE FUNCTION drover.change_password(
    a_session bytea, old_password bytea, new_password bytea, new_salt bytea, the_memory_kib int, the_passes int)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    changed text;
BEGIN
    UPDATE drover.account a SET password = new_password, salt = new_salt, memory_kib = the_memory_kib, passes = the_passes
        FROM drover.account_session s
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.account = s.account AND a.disabled_at IS NULL
            AND a.password = old_password
        RETURNING a.account INTO changed;
    IF NOT FOUND THEN RETURN false; END IF;
    DELETE FROM drover.account_session s WHERE s.account = changed AND s.digest <> a_session;
    DELETE FROM drover.account_link l WHERE l.account = changed;
    RETURN true;
END $$;

-- Makes an account that waits for its mail to be confirmed, and the mail; to somebody who has one already another mail goes.
-- It does not say which.
CREATE FUNCTION drover.register(
    a_mail text, new_account text, a_first_name text, a_last_name text, new_password bytea, new_salt bytea,
    the_memory_kib int, the_passes int, a_link bytea, new_mail_id text, confirm_subject text, confirm_body bytea,
    known_subject text, known_body bytea)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made text; is_news boolean;
BEGIN
    DELETE FROM drover.account a WHERE a.confirmed_at IS NULL AND a.made_at < now() - interval '7 days'
        AND a.account LIKE 'a-%' AND NOT EXISTS (SELECT FROM drover.account_link l WHERE l.account = a.account AND l.expires_at > now());
    -- Nobody has confirmed it yet: whoever comes last may.
    INSERT INTO drover.account AS a (account, mail, first_name, last_name, password, salt, memory_kib, passes)
        VALUES (new_account, a_mail, a_first_name, a_last_name, new_password, new_salt, the_memory_kib, the_passes)
        ON CONFLICT (lower(mail)) DO UPDATE SET mail = EXCLUDED.mail, first_name = EXCLUDED.first_name,
            last_name = EXCLUDED.last_name, password = EXCLUDED.password, salt = EXCLUDED.salt,
            memory_kib = EXCLUDED.memory_kib, passes = EXCLUDED.passes
        WHERE a.confirmed_at IS NULL AND a.disabled_at IS NULL AND cardinality(a.roles) = 0
        RETURNING a.account INTO made;
    is_news := FOUND;
    IF is_news THEN
        DELETE FROM drover.account_link l WHERE l.account = made;
        INSERT INTO drover.account_link (digest, account, purpose, expires_at)
            VALUES (a_link, made, 'confirm', now() + interval '1 day');
    END IF;
    INSERT INTO drover.mail (mail_id, recipient, subject, body, is_sealed, expires_at)
        SELECT new_mail_id, a_mail, CASE WHEN is_news THEN confirm_subject ELSE known_subject END,
            CASE WHEN is_news THEN confirm_body ELSE known_body END, true, now() + interval '1 day';
END $$;

-- Mails a link for a new password, if there is such an account. False: too many.
CREATE FUNCTION drover.ask_password_link(
    a_mail text, a_remote text, a_link bytea, new_mail_id text, a_subject text, a_body bytea)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    known drover.account;
BEGIN
    IF NOT drover.admit_account_try(a_mail, a_remote, true) THEN RETURN false; END IF;
    DELETE FROM drover.account_link WHERE expires_at < now();
    SELECT a.* INTO known FROM drover.account a WHERE lower(a.mail) = lower(a_mail) AND a.disabled_at IS NULL;
    IF FOUND THEN
        DELETE FROM drover.account_link l WHERE l.account = known.account AND l.purpose = 'password';
        INSERT INTO drover.account_link (digest, account, purpose, expires_at)
            VALUES (a_link, known.account, 'password', now() + interval '1 hour');
        INSERT INTO drover.mail (mail_id, recipient, subject, body, is_sealed, expires_at)
            VALUES (new_mail_id, known.mail, a_subject, a_body, true, now() + interval '1 hour');
    END IF;
    RETURN true;
END $$;

-- What a link is for, without using it: programs that look into mail open links, too. No row: unknown, used or too late. The
-- salt is for `confirm_account`.
CREATE FUNCTION drover.look_at_link(a_link bytea)
RETURNS TABLE (purpose text, has_mail boolean, salt bytea, memory_kib int, passes int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT l.purpose, a.mail IS NOT NULL, a.salt, a.memory_kib, a.passes
        FROM drover.account_link l JOIN drover.account a USING (account)
        WHERE l.digest = a_link AND l.expires_at > now() AND a.disabled_at IS NULL
$$;

-- Needs the password as well: who registered with somebody else's mail address does not get an account with it, and who reads
-- the mail does not confirm somebody else's password. NULL: the link or the password is another.
CREATE FUNCTION drover.confirm_account(a_link bytea, a_password bytea, a_session bytea, an_agent text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    used text;
BEGIN
    DELETE FROM drover.account_link l USING drover.account a
        WHERE l.digest = a_link AND l.purpose = 'confirm' AND l.expires_at > now() AND a.account = l.account
            AND a.disabled_at IS NULL AND a.password = a_password
        RETURNING l.account INTO used;
    IF NOT FOUND THEN RETURN NULL; END IF;
    UPDATE drover.account a SET confirmed_at = coalesce(a.confirmed_at, now()) WHERE a.account = used;
    INSERT INTO drover.account_session (digest, account, agent, is_kept) VALUES (a_session, used, an_agent, false);
    RETURN used;
END $$;

-- Whoever opened a mailed link has the mail address: it is confirmed, too. The first administrator's account has none yet: its
-- link is printed, and `a_mail` is taken. Ends all sessions. False: the link is another, or somebody has that mail address.
CREATE FUNCTION drover.set_password(
    a_link bytea, a_mail text, new_password bytea, new_salt bytea, the_memory_kib int, the_passes int)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    used text;
BEGIN
    DELETE FROM drover.account_link l USING drover.account a
        WHERE l.digest = a_link AND l.purpose = 'password' AND l.expires_at > now() AND a.account = l.account
            AND a.disabled_at IS NULL AND (a.mail IS NOT NULL OR a_mail IS NOT NULL
                AND NOT EXISTS (SELECT FROM drover.account o WHERE lower(o.mail) = lower(a_mail)))
        RETURNING l.account INTO used;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE drover.account a SET password = new_password, salt = new_salt, memory_kib = the_memory_kib, passes = the_passes,
            mail = coalesce(a.mail, a_mail), confirmed_at = coalesce(a.confirmed_at, now())
        WHERE a.account = used;
    DELETE FROM drover.account_session s WHERE s.account = used;
    DELETE FROM drover.account_link l WHERE l.account = used;
    RETURN true;
END $$;

DO $$
DECLARE
    made regprocedure;
BEGIN
    FOR made IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'drover'::regnamespace AND p.proname IN (
        'admit_account_try', 'begin_registration', 'begin_log_in', 'log_in', 'is_session_open', 'account_of_session', 'sessions_of_session', 'end_session',
        'change_account', 'own_salt', 'change_password', 'register', 'ask_password_link', 'look_at_link', 'confirm_account',
        'set_password')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', made);
        IF made::text NOT LIKE '%admit_account_try%' AND made::text NOT LIKE '%is_session_open%' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO drover_api', made);
        END IF;
    END LOOP;
END $$;
