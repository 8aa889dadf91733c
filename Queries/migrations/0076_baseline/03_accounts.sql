-- Accounts: how one comes to be, its password, and what it is known by. The page's login calls the functions; it reads none of these
-- tables, so that it can list neither people nor what passwords are checked against. Results name accounts by their id, which outlives
-- the person's data.

CREATE TABLE drover.account (
    account text NOT NULL,
    mail text,  -- as it was written; NULL: erased
    first_name text DEFAULT ''::text NOT NULL,
    last_name text DEFAULT ''::text NOT NULL,
    roles text[] DEFAULT '{}'::text[] NOT NULL,
    units text DEFAULT 'metric'::text NOT NULL,
    zone text DEFAULT 'UTC'::text NOT NULL,
    password bytea,
    salt bytea,
    memory_kib integer,
    passes integer,
    made_at timestamptz DEFAULT now() NOT NULL,
    confirmed_at timestamptz,  -- the mail address is theirs
    disabled_at timestamptz,
    CONSTRAINT account_pkey PRIMARY KEY (account),
    CONSTRAINT account_account_check CHECK ((account ~ '^[A-Za-z0-9._-]{1,64}$'::text)),
    CONSTRAINT account_check CHECK ((((password IS NULL) = (salt IS NULL)) AND ((password IS NULL) = (memory_kib IS NULL)) AND ((password IS NULL) = (passes IS NULL)))),
    CONSTRAINT account_first_name_check CHECK ((octet_length(first_name) <= 200)),
    CONSTRAINT account_is_not_the_installation CHECK ((account <> 'installation'::text)),
    CONSTRAINT account_last_name_check CHECK ((octet_length(last_name) <= 200)),
    CONSTRAINT account_mail_check CHECK (((octet_length(mail) >= 3) AND (octet_length(mail) <= 254))),
    CONSTRAINT account_password_check CHECK ((octet_length(password) = 32)),
    CONSTRAINT account_roles_check CHECK ((roles <@ ARRAY['farmer'::text, 'dealer'::text, 'developer'::text, 'driver'::text, 'fleet_manager'::text, 'rider'::text, 'ride_driver'::text, 'dispatcher'::text, 'surveyor'::text, 'researcher'::text, 'ranger'::text, 'analyst'::text, 'operator'::text, 'administrator'::text])),
    CONSTRAINT account_salt_check CHECK ((octet_length(salt) = 16)),
    CONSTRAINT account_units_check CHECK ((units = ANY (ARRAY['metric'::text, 'us'::text]))),
    CONSTRAINT account_zone_check CHECK ((octet_length(zone) <= 64))
);
CREATE UNIQUE INDEX account_by_mail ON drover.account (lower(mail));
GRANT SELECT (account, mail, roles, units, zone, confirmed_at, disabled_at) ON drover.account TO drover_relay;

-- Salts of mail addresses that nobody has are made of this, so that they look like all others and stay the same.
CREATE TABLE drover.account_secret (
    is_only boolean DEFAULT true NOT NULL,
    secret bytea NOT NULL,
    CONSTRAINT account_secret_pkey PRIMARY KEY (is_only),
    CONSTRAINT account_secret_is_only_check CHECK (is_only)
);
INSERT INTO drover.account_secret (secret)
    VALUES (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));

-- Links that are mailed or printed, each good once.
CREATE TABLE drover.account_link (
    digest bytea NOT NULL,
    account text NOT NULL,
    purpose text NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT account_link_pkey PRIMARY KEY (digest),
    CONSTRAINT account_link_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT account_link_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT account_link_purpose_check CHECK ((purpose = ANY (ARRAY['confirm'::text, 'password'::text])))
);
CREATE INDEX account_link_by_account ON drover.account_link (account);

-- Logins of people in psql, made by `drover account psql`.
CREATE TABLE drover.account_login (
    login text NOT NULL,
    account text NOT NULL,
    CONSTRAINT account_login_pkey PRIMARY KEY (login),
    CONSTRAINT account_login_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account)
);

CREATE TABLE drover.account_second_factor (
    account text NOT NULL,
    secret bytea,  -- sealed: Sources/Platform/Crypto/CodeKey.swift. NULL: none is on
    next_secret bytea,  -- shown, and not confirmed by a code yet
    next_at timestamptz,
    on_since timestamptz,
    last_step bigint DEFAULT 0 NOT NULL,  -- of 30 s since 1970: the newest of which a code was taken, so that each is good once
    tries integer DEFAULT 0 NOT NULL,  -- since the last code that was right
    tries_since timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT account_second_factor_pkey PRIMARY KEY (account),
    CONSTRAINT account_second_factor_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT account_second_factor_check CHECK ((((secret IS NULL) = (on_since IS NULL)) AND ((next_secret IS NULL) = (next_at IS NULL)))),
    CONSTRAINT account_second_factor_next_secret_check CHECK (((octet_length(next_secret) >= 40) AND (octet_length(next_secret) <= 200))),
    CONSTRAINT account_second_factor_secret_check CHECK (((octet_length(secret) >= 40) AND (octet_length(secret) <= 200)))
);

-- Ten for an account, gone when used. 80 bits of chance: one fast digest is enough.
CREATE TABLE drover.account_recovery_code (
    account text NOT NULL,
    digest bytea NOT NULL,
    CONSTRAINT account_recovery_code_pkey PRIMARY KEY (account, digest),
    CONSTRAINT account_recovery_code_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT account_recovery_code_digest_check CHECK ((octet_length(digest) = 32))
);

-- Before a password is hashed for somebody who wants an account.
CREATE FUNCTION drover.begin_registration(a_mail text, a_remote text) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.admit_account_try(a_mail, a_remote, true)
$$;
REVOKE EXECUTE ON FUNCTION drover.begin_registration(a_mail text, a_remote text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.begin_registration(a_mail text, a_remote text) TO drover_api;

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
REVOKE EXECUTE ON FUNCTION drover.register(a_mail text, new_account text, a_first_name text, a_last_name text, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer, a_link bytea, new_mail_id text, confirm_subject text, confirm_body bytea, known_subject text, known_body bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.register(a_mail text, new_account text, a_first_name text, a_last_name text, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer, a_link bytea, new_mail_id text, confirm_subject text, confirm_body bytea, known_subject text, known_body bytea) TO drover_api;

-- The same for whoever is logged in, of themselves.
CREATE FUNCTION drover.open_account(a_session bytea) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.account FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL
$$;
REVOKE EXECUTE ON FUNCTION drover.open_account(a_session bytea) FROM PUBLIC;

-- Whether a name that somebody is to own something by is anybody's: an account's, or that of a token that was given out. Asked by
-- `drover vehicle register --account`; it tells nothing else of accounts.
CREATE FUNCTION drover.is_account(a_name text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM drover.account a WHERE a.account = a_name)
        OR EXISTS (SELECT FROM drover.token t WHERE t.account = a_name AND t.revoked_at IS NULL)
$$;
REVOKE EXECUTE ON FUNCTION drover.is_account(a_name text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.is_account(a_name text) TO drover_api, drover_writer;

-- Programs of the installation, by name: who reads for all. Whoever may read as a person is none, and neither is a login that
-- nobody has said it of.
CREATE FUNCTION drover.is_program() RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce((SELECT r.rolsuper OR (NOT pg_has_role(r.oid, 'drover_sight', 'USAGE') AND (
            pg_has_role(r.oid, (SELECT c.relowner FROM pg_class c WHERE c.oid = 'drover.migration'::regclass), 'USAGE')
            OR pg_has_role(r.oid, 'drover_reader', 'USAGE') OR pg_has_role(r.oid, 'drover_writer', 'USAGE')
            OR pg_has_role(r.oid, 'drover_researcher', 'USAGE') OR pg_has_role(r.oid, 'drover_relay', 'USAGE')))
        FROM pg_roles r WHERE r.rolname = drover.asking_role()), false)
$$;
REVOKE EXECUTE ON FUNCTION drover.is_program() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.is_program() TO drover_reader, drover_relay, drover_researcher, drover_sight, drover_writer;

CREATE FUNCTION drover.change_account(a_session bytea, a_first_name text, a_last_name text, the_units text, a_zone text)
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE drover.account a SET first_name = a_first_name, last_name = a_last_name, units = the_units, zone = a_zone
        FROM drover.account_session s
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.account = s.account AND a.disabled_at IS NULL
$$;
REVOKE EXECUTE ON FUNCTION drover.change_account(a_session bytea, a_first_name text, a_last_name text, the_units text, a_zone text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.change_account(a_session bytea, a_first_name text, a_last_name text, the_units text, a_zone text) TO drover_api;

-- With what one's own password is to be hashed: tries are counted for the session. No row: too many.
CREATE FUNCTION drover.own_salt(a_session bytea, a_remote text)
RETURNS TABLE (salt bytea, memory_kib int, passes int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own drover.account;
BEGIN
    SELECT a.* INTO own FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.password IS NOT NULL;
    IF NOT FOUND OR NOT drover.admit_account_try(own.mail, a_remote, false, a_session) THEN RETURN; END IF;
    RETURN QUERY SELECT own.salt, own.memory_kib, own.passes;
END $$;
REVOKE EXECUTE ON FUNCTION drover.own_salt(a_session bytea, a_remote text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.own_salt(a_session bytea, a_remote text) TO drover_api;

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
REVOKE EXECUTE ON FUNCTION drover.change_password(a_session bytea, old_password bytea, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.change_password(a_session bytea, old_password bytea, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer) TO drover_api;

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
REVOKE EXECUTE ON FUNCTION drover.ask_password_link(a_mail text, a_remote text, a_link bytea, new_mail_id text, a_subject text, a_body bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.ask_password_link(a_mail text, a_remote text, a_link bytea, new_mail_id text, a_subject text, a_body bytea) TO drover_api;

-- What a link is for, without using it: programs that look into mail open links, too. No row: unknown, used or too late. The
-- salt is for `confirm_account`.
CREATE FUNCTION drover.look_at_link(a_link bytea)
RETURNS TABLE (purpose text, has_mail boolean, salt bytea, memory_kib int, passes int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT l.purpose, a.mail IS NOT NULL, a.salt, a.memory_kib, a.passes
        FROM drover.account_link l JOIN drover.account a USING (account)
        WHERE l.digest = a_link AND l.expires_at > now() AND a.disabled_at IS NULL
$$;
REVOKE EXECUTE ON FUNCTION drover.look_at_link(a_link bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.look_at_link(a_link bytea) TO drover_api;

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
REVOKE EXECUTE ON FUNCTION drover.confirm_account(a_link bytea, a_password bytea, a_session bytea, an_agent text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.confirm_account(a_link bytea, a_password bytea, a_session bytea, an_agent text) TO drover_api;

-- Whoever opens a mailed or printed link gets in with the password that they choose, whatever others try: the device is known from
-- then on, and those from before are not.
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
REVOKE EXECUTE ON FUNCTION drover.set_password(a_link bytea, a_mail text, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.set_password(a_link bytea, a_mail text, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer) TO drover_api;

CREATE FUNCTION drover.set_password(
    a_link bytea, a_mail text, new_password bytea, new_salt bytea, the_memory_kib int, the_passes int, new_device bytea)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    holder text := (SELECT l.account FROM drover.account_link l WHERE l.digest = a_link AND l.purpose = 'password');
BEGIN
    IF NOT drover.set_password(a_link, a_mail, new_password, new_salt, the_memory_kib, the_passes) THEN RETURN false; END IF;
    DELETE FROM drover.account_device d WHERE d.account = holder;
    PERFORM drover.know_device(holder, NULL, new_device);
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.set_password(a_link bytea, a_mail text, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer, new_device bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.set_password(a_link bytea, a_mail text, new_password bytea, new_salt bytea, the_memory_kib integer, the_passes integer, new_device bytea) TO drover_api;

-- Whose open session it is, where the password is theirs (or they have none).
CREATE FUNCTION drover.proven_account(a_session bytea, a_password bytea) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.account FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL
            AND (a.password IS NULL OR a.password = a_password)
$$;
REVOKE EXECUTE ON FUNCTION drover.proven_account(a_session bytea, a_password bytea) FROM PUBLIC;

-- As whom this is asked. `current_user` would be the owner's in functions and views that run as their owner.
CREATE FUNCTION drover.asking_role() RETURNS name
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role')::name END
$$;
REVOKE EXECUTE ON FUNCTION drover.asking_role() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.asking_role() TO drover_reader, drover_relay, drover_researcher, drover_sight, drover_writer;

-- What is registered, whole, for who may change something of it: a record says all of it. No row: one may not. `record_id` is NULL
-- where nothing is registered yet.
CREATE FUNCTION drover.registration_kept(a_kind text, a_vehicle text)
RETURNS TABLE (is_keeper boolean, record_id text, name text, model text, host text, port int, certificate_sha256 text, tags text[],
    is_disabled boolean, account text, vin text, make text, year int, fuel text, tank_ml int, displacement_cc int, efficiency_milli_pct int)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.keeps(a_kind, a_vehicle), r.record_id, r.name, r.model, r.host, r.port, r.certificate_sha256, coalesce(r.tags, '{}'),
        coalesce(r.is_disabled, false), r.account, r.vin, r.make, r.year, r.fuel, round(r.tank_l * 1000)::int, r.displacement_cc,
        round(r.volumetric_efficiency_pct * 1000)::int
    FROM (SELECT 1) AS one LEFT JOIN drover.registration r ON r.kind = a_kind AND r.vehicle = a_vehicle
    WHERE drover.tags_vehicle(a_kind, a_vehicle)
$$;
REVOKE EXECUTE ON FUNCTION drover.registration_kept(a_kind text, a_vehicle text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.registration_kept(a_kind text, a_vehicle text) TO drover_page;
