-- People of campuses: the roster, the codes that are mailed to them once, the tokens their devices have from then on, and
-- mail that waits to be sent. The page's login can ask for a code, hand one in and show a token; it reads none of these tables.

CREATE TABLE drover.person (
    campus      text        NOT NULL,
    person      text        NOT NULL,                 -- as the campus calls them
    role        text        NOT NULL CHECK (role IN ('rider', 'ride_driver', 'dispatcher')),
    name        text        NOT NULL,
    mail        text        NOT NULL,
    imported_at timestamptz NOT NULL DEFAULT now(),
    left_at     timestamptz,                          -- no longer on the roster
    disabled_at timestamptz,                          -- by a person; another import does not undo it
    PRIMARY KEY (campus, person)
);

-- One code a person; a new one takes the old one's place. The digest's key is in no table: Sources/Secrets/CodeKey.swift.
CREATE TABLE drover.person_code (
    campus     text        NOT NULL,
    person     text        NOT NULL,
    digest     bytea       NOT NULL CHECK (octet_length(digest) = 32),
    tries      int         NOT NULL DEFAULT 0,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (campus, person),
    FOREIGN KEY (campus, person) REFERENCES drover.person ON DELETE CASCADE
);

CREATE TABLE drover.person_token (
    digest       bytea       PRIMARY KEY CHECK (octet_length(digest) = 32),
    campus       text        NOT NULL,
    person       text        NOT NULL,
    device       text        NOT NULL,                -- as its owner calls it
    made_at      timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL,
    revoked_at   timestamptz,
    last_used_at timestamptz,                         -- to the hour: a row is not written with each request
    FOREIGN KEY (campus, person) REFERENCES drover.person ON DELETE CASCADE
);
CREATE INDEX person_token_by_person ON drover.person_token (campus, person, made_at);

-- Who asked for a code or handed one in, whether or not there is such a person: so limits tell nobody who is known.
CREATE TABLE drover.code_request (
    request_id bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    campus     text        NOT NULL,
    person     text        NOT NULL,
    is_try     boolean     NOT NULL,                  -- a code was handed in
    asked_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX code_request_by_person ON drover.code_request (campus, person, asked_at);
CREATE INDEX code_request_by_time ON drover.code_request (asked_at);

-- Mail to be sent, written in the transaction that it tells of; `drover notify` deletes it when the server has taken it.
CREATE TABLE drover.mail (
    mail_id    text        PRIMARY KEY CHECK (mail_id ~ '^[A-Za-z0-9-]{1,64}$'),  -- of the Message-ID: the same at each try
    recipient  text        NOT NULL,
    subject    text        NOT NULL,
    body       bytea       NOT NULL CHECK (octet_length(body) <= 1000000),        -- UTF-8
    is_sealed  boolean     NOT NULL DEFAULT false,    -- the body is encrypted: Sources/Secrets/CodeKey.swift
    made_at    timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,                  -- nobody needs it any more
    tries      int         NOT NULL DEFAULT 0,
    try_at     timestamptz NOT NULL DEFAULT now(),    -- not before
    refused    text                                   -- why it was given up; kept for a week
);
CREATE INDEX mail_by_time ON drover.mail (try_at) WHERE refused IS NULL;
CREATE FUNCTION drover.tell_mail() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM pg_notify('drover_mail', '');
    RETURN NULL;
END $$;
CREATE TRIGGER mail_tell AFTER INSERT ON drover.mail FOR EACH STATEMENT EXECUTE FUNCTION drover.tell_mail();

-- Counts the request; false: there were too many of this person or in all. One at a time, so that nobody slips through.
CREATE FUNCTION drover.admit_code_request(for_campus text, for_person text, try boolean) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    quarter int; day int; hour int;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('drover.code_request', 0));
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

-- Keeps a code and the mail that brings it, if there is such a person. What it returns does not say whether there is:
-- false is `too many`.
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
    INSERT INTO drover.mail (mail_id, recipient, subject, body, is_sealed, expires_at)
    SELECT new_mail_id, known.mail, mail_subject, sealed_body, true, now() + interval '15 minutes' FROM known;
    RETURN true;
END $$;

-- A code for a token, once: `taken`, `wrong` (also: no such person, no code, too late, too many tries) or `too_many`.
CREATE FUNCTION drover.take_code(
    for_campus text, for_person text, code_digest bytea, token_digest bytea, device_name text)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

CREATE FUNCTION drover.end_person_token(wanted bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE drover.person_token SET revoked_at = now() WHERE digest = wanted AND revoked_at IS NULL;
$$;

REVOKE EXECUTE ON FUNCTION drover.admit_code_request(text, text, boolean),
    drover.ask_code(text, text, bytea, text, text, bytea), drover.take_code(text, text, bytea, bytea, text),
    drover.person_of_token(bytea), drover.end_person_token(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.ask_code(text, text, bytea, text, text, bytea),
    drover.take_code(text, text, bytea, bytea, text), drover.person_of_token(bytea), drover.end_person_token(bytea)
    TO drover_api;
GRANT SELECT, DELETE, UPDATE (tries, try_at, refused) ON drover.mail TO drover_relay;
