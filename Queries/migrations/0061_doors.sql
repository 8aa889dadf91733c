-- What one may do at a time is held by locks on rows of a table that nobody reads or writes but by the functions here. Advisory
-- locks are anybody's who may log in: one `SELECT pg_advisory_lock(…)` of an analyst's held up every log-in and the relay.
-- Taken from PUBLIC they could be only by a superuser, which the owner of the database need not be.

CREATE TABLE drover.turn (
    what text NOT NULL,
    slot int  NOT NULL,    -- of what there is one for each account, vehicle and so on: 64 that they share; else 0
    PRIMARY KEY (what, slot)
);
REVOKE ALL ON drover.turn FROM PUBLIC;
INSERT INTO drover.turn (what, slot) SELECT what, 0 FROM unnest(ARRAY[
    'drover.account', 'drover.account_try', 'drover.code_request', 'drover.fleet', 'drover.notice', 'drover.partition_progress', 'drover.period',
    'drover.rules', 'drover.sighting_year', 'drover.taxonomy', 'drover.thresholds', 'drover.trip_rules']) AS what;
INSERT INTO drover.turn (what, slot) SELECT what, slot FROM unnest(ARRAY[
    'drover.account_identity', 'drover.alert_event', 'drover.dealership', 'drover.person_photo', 'drover.report_schedule',
    'drover.vehicle_change']) AS what CROSS JOIN generate_series(0, 63) AS slot;

-- `what`, or `what` and a key behind a blank.
CREATE FUNCTION drover.turn_slot(a_name text) RETURNS int LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN position(' ' IN a_name) = 0 THEN 0 ELSE (hashtextextended(a_name, 0) & 63)::int END
$$;

-- Until the end of the transaction. Of many in the order of their rows, so that two transactions do not wait for each other.
CREATE FUNCTION drover.take_turns(the_names text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    taken int; asked int;
BEGIN
    PERFORM FROM drover.turn t
        WHERE (t.what, t.slot) IN (SELECT split_part(n, ' ', 1), drover.turn_slot(n) FROM unnest(the_names) AS n)
        ORDER BY t.what, t.slot FOR UPDATE;
    GET DIAGNOSTICS taken = ROW_COUNT;
    SELECT count(DISTINCT (split_part(n, ' ', 1), drover.turn_slot(n))) INTO asked FROM unnest(the_names) AS n;
    IF taken <> asked THEN RAISE EXCEPTION 'there are no such turns as %', the_names; END IF;
END $$;

CREATE FUNCTION drover.take_turn(a_name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM drover.take_turns(ARRAY[a_name]);
END $$;

-- Beside others who share it.
CREATE FUNCTION drover.share_turn(a_name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM drover.turn t WHERE t.what = split_part(a_name, ' ', 1) AND t.slot = drover.turn_slot(a_name) FOR SHARE;
    IF NOT FOUND THEN RAISE EXCEPTION 'there is no such turn as %', a_name; END IF;
END $$;

-- False: somebody else has it.
CREATE FUNCTION drover.try_turn(a_name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM drover.turn t WHERE t.what = split_part(a_name, ' ', 1) AND t.slot = drover.turn_slot(a_name) FOR UPDATE SKIP LOCKED;
    RETURN FOUND;
END $$;

REVOKE EXECUTE ON FUNCTION drover.turn_slot(text), drover.take_turns(text[]), drover.take_turn(text), drover.share_turn(text), drover.try_turn(text)
    FROM PUBLIC;
-- Logins of ours, which run statements of ours. Not drover_reader and drover_sight, which people may be in.
GRANT EXECUTE ON FUNCTION drover.take_turns(text[]) TO drover_writer, drover_api, drover_page;
GRANT EXECUTE ON FUNCTION drover.share_turn(text) TO drover_writer;
GRANT EXECUTE ON FUNCTION drover.try_turn(text) TO drover_relay;

-- Every function of ours that took an advisory lock, with the same name for its turn; rights and owners stay as they are.
DO $$
DECLARE
    a_function record;
BEGIN
    FOR a_function IN SELECT pg_get_functiondef(p.oid) AS made FROM pg_proc p
        WHERE p.pronamespace = 'drover'::regnamespace AND p.prosrc LIKE '%pg_advisory_xact_lock(%'
    LOOP
        EXECUTE regexp_replace(
            a_function.made, 'pg_advisory_xact_lock\(hashtextextended\((.+?), 0\)\)', 'drover.take_turn(\1)', 'g');
    END LOOP;
    IF EXISTS (SELECT FROM pg_proc p WHERE p.pronamespace = 'drover'::regnamespace AND p.prosrc LIKE '%pg\_%advisory%') THEN
        RAISE EXCEPTION 'a function still takes an advisory lock';
    END IF;
END $$;

-- The relay's, as long as its session lives: a lock of this table, in a transaction that does nothing else and so holds back no
-- vacuum. Who may not write here cannot take it.
CREATE TABLE drover.relay_turn (nothing boolean);
REVOKE ALL ON drover.relay_turn FROM PUBLIC;
GRANT UPDATE ON drover.relay_turn TO drover_relay;

-- MARK: lock-out of others

-- Browsers that somebody has logged in with before, by the digest of a cookie: others' guesses do not shut them out.
CREATE TABLE drover.account_device (
    account      text        NOT NULL REFERENCES drover.account ON DELETE CASCADE,
    digest       bytea       NOT NULL CHECK (octet_length(digest) = 32),
    last_used_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account, digest)
);
REVOKE ALL ON drover.account_device FROM PUBLIC;
ALTER TABLE drover.account_try ADD COLUMN device bytea;    -- of one that is known, or of a session; NULL: of a stranger

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

-- Counts a try; false: there were too many. One at a time, so that nobody slips through. Log-ins in a quarter of an hour: 10 with one
-- mail address from one client, 100 with one mail address, 100 from one client. Mails in an hour: 5, 20 and 30. A device or session of
-- the account's own has 10 (5) tries for itself, whatever others do, and what it does counts for nobody else.
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

-- For functions that know of no device, and for the program before.
CREATE OR REPLACE FUNCTION drover.admit_account_try(a_mail text, a_remote text, for_mail boolean) RETURNS boolean
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$ SELECT drover.admit_account_try(a_mail, a_remote, for_mail, NULL) $$;

-- As before, with the device that is shown; NULL: none.
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

-- Opens a session, and knows the device from then on by another mark. What others tried stays counted.
CREATE FUNCTION drover.log_in(
    a_mail text, a_password bytea, a_session bytea, an_agent text, keep boolean, a_remote text, shown_device bytea, new_device bytea)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found_account text;
BEGIN
    SELECT a.account INTO found_account FROM drover.account a
        WHERE lower(a.mail) = lower(a_mail) AND a.password = a_password AND a.confirmed_at IS NOT NULL AND a.disabled_at IS NULL
        FOR SHARE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    INSERT INTO drover.account_session (digest, account, agent, is_kept) VALUES (a_session, found_account, an_agent, keep);
    DELETE FROM drover.account_session s WHERE s.digest IN (
        SELECT o.digest FROM drover.account_session o WHERE o.account = found_account ORDER BY o.number DESC OFFSET 20);
    DELETE FROM drover.account_try t WHERE t.mail = lower(a_mail) AND NOT t.is_mail
        AND (t.device = shown_device OR t.device IS NULL AND t.remote = a_remote);
    PERFORM drover.know_device(found_account, shown_device, new_device);
    RETURN found_account;
END $$;

-- Whoever opens a mailed or printed link gets in with the password that they choose, whatever others try: the device is known from
-- then on, and those from before are not.
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

-- With what one's own password is to be hashed: tries are counted for the session. No row: too many.
CREATE OR REPLACE FUNCTION drover.own_salt(a_session bytea, a_remote text)
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

DO $$
DECLARE
    made regprocedure;
BEGIN
    FOREACH made IN ARRAY ARRAY[
        'drover.know_device(text, bytea, bytea)', 'drover.admit_account_try(text, text, boolean, bytea)',
        'drover.begin_log_in(text, text, int, int, bytea)', 'drover.log_in(text, bytea, bytea, text, boolean, text, bytea, bytea)',
        'drover.set_password(bytea, text, bytea, bytea, int, int, bytea)']::regprocedure[]
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', made);
        IF made::text NOT LIKE '%know_device%' AND made::text NOT LIKE '%admit_account_try%' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO drover_api', made);
        END IF;
    END LOOP;
END $$;

-- MARK: a year of sightings

-- As months are made (0045): to be attached, it waits for nobody who reads. CREATE TABLE … PARTITION OF waited for every open transaction of an
-- analyst, and all surveys of the partition with it.
CREATE OR REPLACE FUNCTION drover.make_sighting_year(a_year int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made text := format('sighting_%s', a_year);
    from_at timestamptz; to_at timestamptz;
BEGIN
    IF a_year NOT BETWEEN 1700 AND 2200 THEN RAISE EXCEPTION 'no survey is of the year %', a_year; END IF;
    IF to_regclass(format('drover.%I', made)) IS NOT NULL THEN RETURN; END IF;
    PERFORM drover.take_turn('drover.sighting_year');
    IF to_regclass(format('drover.%I', made)) IS NOT NULL THEN RETURN; END IF;
    from_at := make_timestamptz(a_year, 1, 1, 0, 0, 0, 'UTC');
    to_at := make_timestamptz(a_year + 1, 1, 1, 0, 0, 0, 'UTC');
    EXECUTE format('CREATE TABLE drover.%1$I (LIKE drover.sighting INCLUDING ALL, CONSTRAINT period CHECK (seen_at >= %2$L AND seen_at < %3$L))',
        made, from_at, to_at);
    EXECUTE format('ALTER TABLE drover.sighting ATTACH PARTITION drover.%I FOR VALUES FROM (%L) TO (%L)', made, from_at, to_at);
    EXECUTE format('ALTER TABLE drover.%I DROP CONSTRAINT period', made);
END $$;
