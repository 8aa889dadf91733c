-- People of campuses: the roster, the codes that are mailed to them once, and the tokens their devices have from then on. The page's login
-- can ask for a code, hand one in and show a token; it reads none of these tables.

CREATE TABLE drover.person (
    campus text NOT NULL,
    person text NOT NULL,  -- as the campus calls them
    role text NOT NULL,
    name text NOT NULL,
    mail text NOT NULL,
    imported_at timestamptz DEFAULT now() NOT NULL,
    left_at timestamptz,  -- no longer on the roster
    disabled_at timestamptz,  -- by a person; another import does not undo it
    CONSTRAINT person_pkey PRIMARY KEY (campus, person),
    CONSTRAINT person_role_check CHECK ((role = ANY (ARRAY['rider'::text, 'ride_driver'::text, 'dispatcher'::text])))
);

CREATE TABLE drover.person_account (
    campus text NOT NULL,
    person text NOT NULL,
    account text NOT NULL,
    bound_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT person_account_pkey PRIMARY KEY (campus, person),
    CONSTRAINT person_account_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT person_account_campus_person_fkey FOREIGN KEY (campus, person) REFERENCES drover.person(campus, person) ON DELETE CASCADE
);
CREATE INDEX person_account_by_account ON drover.person_account (account);

-- One code a person; a new one takes the old one's place. The digest's key is in no table: Sources/Platform/Crypto/CodeKey.swift.
CREATE TABLE drover.person_code (
    campus text NOT NULL,
    person text NOT NULL,
    digest bytea NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT person_code_pkey PRIMARY KEY (campus, person),
    CONSTRAINT person_code_campus_person_fkey FOREIGN KEY (campus, person) REFERENCES drover.person(campus, person) ON DELETE CASCADE,
    CONSTRAINT person_code_digest_check CHECK ((octet_length(digest) = 32))
);

-- Photos of people, by their content. Not on the log: profiles name them, and nothing is decided by them.
CREATE TABLE drover.person_photo (
    campus text NOT NULL,
    person text NOT NULL,
    photo text NOT NULL,  -- digest of the content
    media_type text NOT NULL,
    content bytea NOT NULL,
    kept_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT person_photo_pkey PRIMARY KEY (campus, person, photo),
    CONSTRAINT person_photo_content_check CHECK ((octet_length(content) <= 524288)),
    CONSTRAINT person_photo_media_type_check CHECK ((media_type = ANY (ARRAY['image/jpeg'::text, 'image/png'::text, 'image/webp'::text]))),
    CONSTRAINT person_photo_photo_check CHECK ((photo ~ '^[0-9a-f]{64}$'::text))
);
CREATE INDEX person_photo_by_content ON drover.person_photo (campus, photo);
GRANT SELECT ON drover.person_photo TO drover_api, drover_page;

CREATE TABLE drover.person_token (
    digest bytea NOT NULL,
    campus text NOT NULL,
    person text NOT NULL,
    device text NOT NULL,  -- as its owner calls it
    made_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    last_used_at timestamptz,  -- to the hour: a row is not written with each request
    CONSTRAINT person_token_pkey PRIMARY KEY (digest),
    CONSTRAINT person_token_campus_person_fkey FOREIGN KEY (campus, person) REFERENCES drover.person(campus, person) ON DELETE CASCADE,
    CONSTRAINT person_token_digest_check CHECK ((octet_length(digest) = 32))
);
CREATE INDEX person_token_by_person ON drover.person_token (campus, person, made_at);

-- Who asked for a code or handed one in, whether or not there is such a person: so limits tell nobody who is known.
CREATE TABLE drover.code_request (
    request_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    campus text NOT NULL,
    person text NOT NULL,
    is_try boolean NOT NULL,  -- a code was handed in
    asked_at timestamptz DEFAULT now() NOT NULL,
    asker text,  -- Who asked for one, or tried one: `account miller`, or `address 192.0.2.1`. NULL: by the program before.
    CONSTRAINT code_request_pkey PRIMARY KEY (request_id)
);
CREATE INDEX code_request_by_asker ON drover.code_request (asker, asked_at) WHERE (asker IS NOT NULL);
CREATE INDEX code_request_by_person ON drover.code_request (campus, person, asked_at);
CREATE INDEX code_request_by_time ON drover.code_request (asked_at);

-- Counts the request; false: too many. What somebody asks for or tries counts for who asks: of a bound for all together one account, in seconds,
-- kept all campuses from theirs, and three requests of a stranger kept a person from codes for 15 minutes, ten for a day. Of one
-- account 20 an hour, of an address, which many phones may have, 300; of these for one person three in 15 minutes, and ten a day (an address:
-- 30); of tries five or six times as many. What all together may try of one person's is beyond what a few askers can, and bounds who guesses.
CREATE FUNCTION drover.admit_code_request(for_campus text, for_person text, try boolean) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    quarter int; day int; hour int;
BEGIN
    PERFORM drover.take_turn('drover.code_request');
    DELETE FROM drover.code_request WHERE asked_at < now() - interval '1 day';
    SELECT count(*) FILTER (WHERE r.asked_at > now() - interval '15 minutes'), count(*) INTO quarter, day
        FROM drover.code_request r WHERE r.campus = for_campus AND r.person = for_person AND r.is_try = try;
    SELECT count(*) INTO hour FROM drover.code_request r
        WHERE r.is_try = try AND r.asked_at > now() - interval '1 hour';
    IF try AND (quarter >= 20 OR day >= 60 OR hour >= 5000) OR NOT try AND (quarter >= 3 OR day >= 10 OR hour >= 1000) THEN
        RETURN false;
    END IF;
    INSERT INTO drover.code_request (campus, person, is_try) VALUES (for_campus, for_person, try);
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.admit_code_request(for_campus text, for_person text, try boolean) FROM PUBLIC;

CREATE FUNCTION drover.admit_code_request(for_campus text, for_person text, try boolean, an_asker text) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    many int := CASE WHEN an_asker LIKE 'account %' THEN 1 ELSE 3 END;
    hour int; own_hour int; quarter int; own_quarter int; day int; own_day int;
BEGIN
    IF an_asker IS NULL THEN RETURN drover.admit_code_request(for_campus, for_person, try); END IF;
    an_asker := drover.code_asker(an_asker);
    PERFORM drover.take_turn('drover.code_request');
    DELETE FROM drover.code_request WHERE asked_at < now() - interval '1 day';
    SELECT count(*) FILTER (WHERE r.asked_at > now() - interval '15 minutes'), count(*),
            count(*) FILTER (WHERE r.asker = an_asker AND r.asked_at > now() - interval '15 minutes'), count(*) FILTER (WHERE r.asker = an_asker)
        INTO quarter, day, own_quarter, own_day
        FROM drover.code_request r WHERE r.campus = for_campus AND r.person = for_person AND r.is_try = try;
    SELECT count(*) INTO hour FROM drover.code_request r WHERE r.is_try = try AND r.asked_at > now() - interval '1 hour';
    SELECT count(*) INTO own_hour FROM drover.code_request r WHERE r.asker = an_asker AND r.is_try = try AND r.asked_at > now() - interval '1 hour';
    IF try AND (own_quarter >= 20 OR own_day >= 60 * many OR own_hour >= 100 * (CASE many WHEN 1 THEN 1 ELSE 15 END)
                OR quarter >= 100 OR day >= 1000 OR hour >= 5000)
        OR NOT try AND (own_quarter >= 3 OR own_day >= 10 * many OR own_hour >= 20 * (CASE many WHEN 1 THEN 1 ELSE 15 END) OR hour >= 1000) THEN
        RETURN false;
    END IF;
    INSERT INTO drover.code_request (campus, person, is_try, asker) VALUES (for_campus, for_person, try, an_asker);
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.admit_code_request(for_campus text, for_person text, try boolean, an_asker text) FROM PUBLIC;

-- As it is counted: of IPv6 whoever has one address has 2^64 of them, a network.
CREATE FUNCTION drover.code_asker(an_asker text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- With a point in it an address of IPv4 stands behind it.
    IF an_asker NOT LIKE 'address %:%' OR an_asker LIKE '%.%' THEN RETURN an_asker; END IF;
    RETURN 'address ' || network(set_masklen(substr(an_asker, 9)::inet, 64));
EXCEPTION WHEN invalid_text_representation THEN RETURN an_asker;
END $$;
REVOKE EXECUTE ON FUNCTION drover.code_asker(an_asker text) FROM PUBLIC;

-- Keeps a code and the mail that brings it, which is for somebody of a roster, if there is such a person. What it returns does not say whether
-- there is: false is `too many`. A person gets six mails in 15 minutes, whoever asks; beyond that the code of the newest one stays good
-- instead, so that nobody is kept from theirs. Where that one is over or nearly so, another comes.
CREATE FUNCTION drover.ask_code(
    for_campus text, for_person text, code_digest bytea, new_mail_id text, mail_subject text, sealed_body bytea)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT drover.admit_code_request(for_campus, for_person, false) THEN RETURN false; END IF;
    DELETE FROM drover.person_code WHERE expires_at < now();
    WITH known AS (
        SELECT p.mail FROM drover.person p
        WHERE p.campus = for_campus AND p.person = for_person AND p.left_at IS NULL AND p.disabled_at IS NULL
    ), kept AS (
        INSERT INTO drover.person_code (campus, person, digest, expires_at)
        SELECT for_campus, for_person, code_digest, now() + interval '15 minutes' FROM known
        ON CONFLICT (campus, person) DO UPDATE
            SET digest = EXCLUDED.digest, expires_at = EXCLUDED.expires_at, tries = 0
    )
    INSERT INTO drover.mail (mail_id, recipient, subject, body, is_sealed, expires_at, is_for_person)
    SELECT new_mail_id, known.mail, mail_subject, sealed_body, true, now() + interval '15 minutes', true FROM known;
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.ask_code(for_campus text, for_person text, code_digest bytea, new_mail_id text, mail_subject text, sealed_body bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.ask_code(for_campus text, for_person text, code_digest bytea, new_mail_id text, mail_subject text, sealed_body bytea) TO drover_api;

CREATE FUNCTION drover.ask_code(
    for_campus text, for_person text, code_digest bytea, new_mail_id text, mail_subject text, sealed_body bytea, an_asker text)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT drover.admit_code_request(for_campus, for_person, false, an_asker) THEN RETURN false; END IF;
    DELETE FROM drover.person_code WHERE expires_at < now();
    IF (SELECT count(*) FROM drover.code_request r WHERE r.campus = for_campus AND r.person = for_person AND NOT r.is_try
                AND r.asked_at > now() - interval '15 minutes') > 6
        AND EXISTS (SELECT FROM drover.person_code c WHERE c.campus = for_campus AND c.person = for_person AND c.tries < 50
                AND c.expires_at > now() + interval '5 minutes') THEN
        RETURN true;
    END IF;
    WITH known AS (
        SELECT p.mail FROM drover.person p
        WHERE p.campus = for_campus AND p.person = for_person AND p.left_at IS NULL AND p.disabled_at IS NULL
    ), kept AS (
        INSERT INTO drover.person_code (campus, person, digest, expires_at)
        SELECT for_campus, for_person, code_digest, now() + interval '15 minutes' FROM known
        ON CONFLICT (campus, person) DO UPDATE
            SET digest = EXCLUDED.digest, expires_at = EXCLUDED.expires_at, tries = 0
    )
    INSERT INTO drover.mail (mail_id, recipient, subject, body, is_sealed, expires_at, is_for_person)
    SELECT new_mail_id, known.mail, mail_subject, sealed_body, true, now() + interval '15 minutes', true FROM known;
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.ask_code(for_campus text, for_person text, code_digest bytea, new_mail_id text, mail_subject text, sealed_body bytea, an_asker text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.ask_code(for_campus text, for_person text, code_digest bytea, new_mail_id text, mail_subject text, sealed_body bytea, an_asker text) TO drover_api;

-- By whatever way somebody logs in.
CREATE FUNCTION drover.await_code() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.awaits_code := drover.has_second_factor(NEW.account);
    RETURN NEW;
END $$;
REVOKE EXECUTE ON FUNCTION drover.await_code() FROM PUBLIC;

-- What a code is compared with, for a session that is open or waits for it. Counted as a password is, by account and address, and
-- thirty an hour of the account besides: six digits are few. No row: too many tries, or no such session. A right code takes its try back.
CREATE FUNCTION drover.begin_code(a_session bytea, a_remote text, a_device bytea)
RETURNS TABLE (account text, secret bytea, last_step bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own drover.account; is_open boolean;
BEGIN
    SELECT a.* INTO own FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND (drover.is_session_open(s) OR drover.is_session_awaiting(s)) AND a.disabled_at IS NULL;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT drover.is_session_open(s) INTO is_open FROM drover.account_session s WHERE s.digest = a_session;
    IF NOT drover.admit_account_try(
        coalesce(own.mail, own.account), a_remote, false, CASE WHEN is_open THEN a_session ELSE a_device END) THEN RETURN; END IF;
    RETURN QUERY UPDATE drover.account_second_factor f SET
            tries = CASE WHEN f.tries_since < now() - interval '1 hour' THEN 1 ELSE f.tries + 1 END,
            tries_since = CASE WHEN f.tries_since < now() - interval '1 hour' THEN now() ELSE f.tries_since END
        WHERE f.account = own.account AND f.secret IS NOT NULL AND (f.tries < 30 OR f.tries_since < now() - interval '1 hour')
        RETURNING f.account, f.secret, f.last_step;
END $$;
REVOKE EXECUTE ON FUNCTION drover.begin_code(a_session bytea, a_remote text, a_device bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.begin_code(a_session bytea, a_remote text, a_device bytea) TO drover_api;

-- A code for a token, once: `taken`, `wrong` (also: no such person, no code, too late, too many tries) or `too_many`.
CREATE FUNCTION drover.take_code(
    for_campus text, for_person text, code_digest bytea, token_digest bytea, device_name text)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    outcome text := drover.use_code(for_campus, for_person, code_digest);
BEGIN
    IF outcome <> 'taken' THEN RETURN outcome; END IF;
    INSERT INTO drover.person_token (digest, campus, person, device, expires_at)
        VALUES (token_digest, for_campus, for_person, device_name, now() + interval '180 days');
    -- Ten devices a person; what is over for a month is forgotten.
    UPDATE drover.person_token SET revoked_at = now() WHERE digest IN (
        SELECT t.digest FROM drover.person_token t
        WHERE t.campus = for_campus AND t.person = for_person AND t.revoked_at IS NULL AND t.expires_at > now()
        ORDER BY t.made_at DESC, t.digest OFFSET 10);
    DELETE FROM drover.person_token t WHERE t.campus = for_campus AND t.person = for_person
        AND least(t.revoked_at, t.expires_at) < now() - interval '30 days';
    RETURN 'taken';
END $$;
REVOKE EXECUTE ON FUNCTION drover.take_code(for_campus text, for_person text, code_digest bytea, token_digest bytea, device_name text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.take_code(for_campus text, for_person text, code_digest bytea, token_digest bytea, device_name text) TO drover_api;

CREATE FUNCTION drover.take_code(
    for_campus text, for_person text, code_digest bytea, token_digest bytea, device_name text, an_asker text)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    outcome text := drover.use_code(for_campus, for_person, code_digest, an_asker);
BEGIN
    IF outcome <> 'taken' THEN RETURN outcome; END IF;
    INSERT INTO drover.person_token (digest, campus, person, device, expires_at)
        VALUES (token_digest, for_campus, for_person, device_name, now() + interval '180 days');
    -- Ten devices a person; what is over for a month is forgotten.
    UPDATE drover.person_token SET revoked_at = now() WHERE digest IN (
        SELECT t.digest FROM drover.person_token t
        WHERE t.campus = for_campus AND t.person = for_person AND t.revoked_at IS NULL AND t.expires_at > now()
        ORDER BY t.made_at DESC, t.digest OFFSET 10);
    DELETE FROM drover.person_token t WHERE t.campus = for_campus AND t.person = for_person
        AND least(t.revoked_at, t.expires_at) < now() - interval '30 days';
    RETURN 'taken';
END $$;
REVOKE EXECUTE ON FUNCTION drover.take_code(for_campus text, for_person text, code_digest bytea, token_digest bytea, device_name text, an_asker text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.take_code(for_campus text, for_person text, code_digest bytea, token_digest bytea, device_name text, an_asker text) TO drover_api;

-- Uses a code up: `taken`, `wrong` (also: no such person, no code, too late, too many tries) or `too_many`. Whoever asks has five tries of one
-- code, and all together 50: a stranger's wrong ones leave the person theirs.
CREATE FUNCTION drover.use_code(for_campus text, for_person text, code_digest bytea) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept drover.person_code;
BEGIN
    IF NOT drover.admit_code_request(for_campus, for_person, true) THEN RETURN 'too_many'; END IF;
    SELECT c.* INTO kept FROM drover.person_code c
        JOIN drover.person p USING (campus, person)
        WHERE c.campus = for_campus AND c.person = for_person AND c.expires_at > now() AND c.tries < 5
            AND p.left_at IS NULL AND p.disabled_at IS NULL
        FOR UPDATE OF c FOR SHARE OF p;
    IF NOT FOUND THEN RETURN 'wrong'; END IF;
    IF kept.digest <> code_digest THEN
        UPDATE drover.person_code SET tries = tries + 1 WHERE campus = for_campus AND person = for_person;
        RETURN 'wrong';
    END IF;
    DELETE FROM drover.person_code WHERE campus = for_campus AND person = for_person;
    RETURN 'taken';
END $$;
REVOKE EXECUTE ON FUNCTION drover.use_code(for_campus text, for_person text, code_digest bytea) FROM PUBLIC;

CREATE FUNCTION drover.use_code(for_campus text, for_person text, code_digest bytea, an_asker text) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept drover.person_code;
BEGIN
    an_asker := drover.code_asker(an_asker);
    IF NOT drover.admit_code_request(for_campus, for_person, true, an_asker) THEN RETURN 'too_many'; END IF;
    SELECT c.* INTO kept FROM drover.person_code c
        JOIN drover.person p USING (campus, person)
        WHERE c.campus = for_campus AND c.person = for_person AND c.expires_at > now()
            AND c.tries < CASE WHEN an_asker IS NULL THEN 5 ELSE 50 END AND p.left_at IS NULL AND p.disabled_at IS NULL
        FOR UPDATE OF c FOR SHARE OF p;
    IF NOT FOUND THEN RETURN 'wrong'; END IF;
    -- With this one.
    IF (SELECT count(*) FROM drover.code_request r WHERE r.campus = for_campus AND r.person = for_person AND r.is_try AND r.asker = an_asker
            AND r.asked_at >= kept.expires_at - interval '15 minutes') > 5 THEN RETURN 'wrong'; END IF;
    IF kept.digest <> code_digest THEN
        UPDATE drover.person_code SET tries = tries + 1 WHERE campus = for_campus AND person = for_person;
        RETURN 'wrong';
    END IF;
    DELETE FROM drover.person_code WHERE campus = for_campus AND person = for_person;
    RETURN 'taken';
END $$;
REVOKE EXECUTE ON FUNCTION drover.use_code(for_campus text, for_person text, code_digest bytea, an_asker text) FROM PUBLIC;

-- The other half of a log-in: the session is open from now on, by another mark, and the browser is known. False: another code.
CREATE FUNCTION drover.pass_code(
    a_session bytea, a_step bigint, a_recovery bytea, new_session bytea, a_remote text, shown_device bytea, new_device bytea)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own drover.account;
BEGIN
    SELECT a.* INTO own FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_awaiting(s) AND a.disabled_at IS NULL FOR UPDATE OF s;
    IF NOT FOUND OR NOT drover.take_factor_code(own.account, a_step, a_recovery) THEN RETURN false; END IF;
    UPDATE drover.account_session s SET digest = new_session, awaits_code = false, last_used_at = now() WHERE s.digest = a_session;
    PERFORM drover.trim_sessions(own.account);
    DELETE FROM drover.account_try t WHERE t.mail = lower(coalesce(own.mail, own.account)) AND NOT t.is_mail
        AND (t.device = shown_device OR t.device IS NULL AND t.remote = a_remote);
    PERFORM drover.know_device(own.account, shown_device, new_device);
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.pass_code(a_session bytea, a_step bigint, a_recovery bytea, new_session bytea, a_remote text, shown_device bytea, new_device bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.pass_code(a_session bytea, a_step bigint, a_recovery bytea, new_session bytea, a_remote text, shown_device bytea, new_device bytea) TO drover_api;

-- Whoever tried codes had the password of before; with a new one the account's tries begin anew.
CREATE FUNCTION drover.forget_code_tries() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.account_second_factor f SET tries = 0 WHERE f.account = NEW.account;
    DELETE FROM drover.account_session s WHERE s.account = NEW.account AND s.awaits_code;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION drover.forget_code_tries() FROM PUBLIC;

-- Whose token it is; no row: unknown, revoked, expired, or of somebody who is disabled or no longer on the roster.
CREATE FUNCTION drover.person_of_token(wanted bytea)
RETURNS TABLE (campus text, person text, role text, name text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.person_token t SET last_used_at = date_trunc('hour', now())
        WHERE t.digest = wanted AND t.last_used_at IS DISTINCT FROM date_trunc('hour', now())
            AND t.revoked_at IS NULL AND t.expires_at > now();
    RETURN QUERY SELECT p.campus, p.person, p.role, p.name
        FROM drover.person_token t JOIN drover.person p USING (campus, person)
        WHERE t.digest = wanted AND t.revoked_at IS NULL AND t.expires_at > now()
            AND p.left_at IS NULL AND p.disabled_at IS NULL;
END $$;
REVOKE EXECUTE ON FUNCTION drover.person_of_token(wanted bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.person_of_token(wanted bytea) TO drover_api;

CREATE FUNCTION drover.end_person_token(wanted bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE drover.person_token SET revoked_at = now() WHERE digest = wanted AND revoked_at IS NULL;
$$;
REVOKE EXECUTE ON FUNCTION drover.end_person_token(wanted bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.end_person_token(wanted bytea) TO drover_api;

-- Keeps a photo, and the two before it: a vehicle in service may still show one of them.
CREATE FUNCTION drover.keep_photo(a_campus text, a_person text, a_photo text, a_type text, a_content bytea)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM drover.take_turn('drover.person_photo ' || a_campus || ' ' || a_person);
    INSERT INTO drover.person_photo (campus, person, photo, media_type, content)
        VALUES (a_campus, a_person, a_photo, a_type, a_content)
        ON CONFLICT (campus, person, photo) DO UPDATE SET kept_at = clock_timestamp();
    DELETE FROM drover.person_photo p WHERE p.campus = a_campus AND p.person = a_person AND p.photo NOT IN (
        SELECT q.photo FROM drover.person_photo q WHERE q.campus = a_campus AND q.person = a_person
        ORDER BY q.kept_at DESC LIMIT 3);
END $$;
REVOKE EXECUTE ON FUNCTION drover.keep_photo(a_campus text, a_person text, a_photo text, a_type text, a_content bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.keep_photo(a_campus text, a_person text, a_photo text, a_type text, a_content bytea) TO drover_api;

-- A code for the account that asks, once. Of one role an account is one person: the last one counts.
CREATE FUNCTION drover.bind_person(for_campus text, for_person text, code_digest bytea) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    binder text := drover.sight_account();
    outcome text;
BEGIN
    IF binder IS NULL THEN RETURN 'wrong'; END IF;
    outcome := drover.use_code(for_campus, for_person, code_digest, 'account ' || binder);
    IF outcome <> 'taken' THEN RETURN outcome; END IF;
    DELETE FROM drover.person_account a USING drover.person p, drover.person q
        WHERE a.account = binder AND p.campus = a.campus AND p.person = a.person
            AND q.campus = for_campus AND q.person = for_person AND p.role = q.role;
    INSERT INTO drover.person_account (campus, person, account) VALUES (for_campus, for_person, binder)
        ON CONFLICT (campus, person) DO UPDATE SET account = EXCLUDED.account, bound_at = now();
    RETURN 'taken';
END $$;
REVOKE EXECUTE ON FUNCTION drover.bind_person(for_campus text, for_person text, code_digest bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.bind_person(for_campus text, for_person text, code_digest bytea) TO drover_page;

-- Whom the reader is on which campus, as far as the account has the role, too.
CREATE FUNCTION drover.bound_people() RETURNS TABLE (campus text, person text, role text, name text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 3 SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.campus, p.person, p.role, p.name
    FROM drover.person_account a JOIN drover.person p ON p.campus = a.campus AND p.person = a.person
    WHERE a.account = drover.sight_account() AND p.left_at IS NULL AND p.disabled_at IS NULL
        AND p.role = ANY (drover.sight_roles())
    ORDER BY a.bound_at DESC
$$;
REVOKE EXECUTE ON FUNCTION drover.bound_people() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.bound_people() TO drover_reader, drover_sight, drover_writer;

CREATE TRIGGER await_code BEFORE INSERT ON drover.account_session FOR EACH ROW EXECUTE FUNCTION drover.await_code();
CREATE TRIGGER forget_code_tries AFTER UPDATE OF password ON drover.account FOR EACH ROW WHEN ((old.password IS DISTINCT FROM new.password)) EXECUTE FUNCTION drover.forget_code_tries();
