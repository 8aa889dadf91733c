-- A second factor of log-ins (RFC 6238), app passwords that people make themselves, and what is held of a person.

-- MARK: who has one

CREATE TABLE drover.account_second_factor (
    account     text        PRIMARY KEY REFERENCES drover.account ON DELETE CASCADE,
    secret      bytea       CHECK (octet_length(secret) BETWEEN 40 AND 200),         -- sealed: Sources/Secrets/CodeKey.swift. NULL: none is on
    next_secret bytea       CHECK (octet_length(next_secret) BETWEEN 40 AND 200),    -- shown, and not confirmed by a code yet
    next_at     timestamptz,
    on_since    timestamptz,
    last_step   bigint      NOT NULL DEFAULT 0,      -- of 30 s since 1970: the newest of which a code was taken, so that each is good once
    tries       int         NOT NULL DEFAULT 0,      -- since the last code that was right
    tries_since timestamptz NOT NULL DEFAULT now(),
    CHECK ((secret IS NULL) = (on_since IS NULL) AND (next_secret IS NULL) = (next_at IS NULL))
);
-- Ten for an account, gone when used. 80 bits of chance: one fast digest is enough.
CREATE TABLE drover.account_recovery_code (
    account text  NOT NULL REFERENCES drover.account ON DELETE CASCADE,
    digest  bytea NOT NULL CHECK (octet_length(digest) = 32),
    PRIMARY KEY (account, digest)
);
REVOKE ALL ON drover.account_second_factor, drover.account_recovery_code FROM PUBLIC;

CREATE FUNCTION drover.has_second_factor(an_account text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM drover.account_second_factor f WHERE f.account = an_account AND f.secret IS NOT NULL)
$$;

-- MARK: half a log-in

-- The password was right and the code is still to come: such a session opens nothing, whatever function looks at it.
ALTER TABLE drover.account_session ADD COLUMN awaits_code boolean NOT NULL DEFAULT false;

-- By whatever way somebody logs in.
CREATE FUNCTION drover.await_code() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.awaits_code := drover.has_second_factor(NEW.account);
    RETURN NEW;
END $$;
CREATE TRIGGER await_code BEFORE INSERT ON drover.account_session FOR EACH ROW EXECUTE FUNCTION drover.await_code();

CREATE OR REPLACE FUNCTION drover.is_session_open(s drover.account_session) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.last_used_at > now() - CASE WHEN s.is_kept THEN interval '30 days' ELSE interval '12 hours' END
        AND s.made_at > now() - interval '90 days' AND NOT s.awaits_code
$$;

CREATE FUNCTION drover.is_session_awaiting(s drover.account_session) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT s.awaits_code AND s.made_at > now() - interval '10 minutes' $$;

-- Twenty that are open and twenty that wait: who has the password alone ends nobody's.
CREATE FUNCTION drover.trim_sessions(an_account text) RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    DELETE FROM drover.account_session s USING (
            SELECT o.digest, row_number() OVER (PARTITION BY o.awaits_code ORDER BY o.number DESC) AS place
            FROM drover.account_session o WHERE o.account = an_account) AS placed
        WHERE s.digest = placed.digest AND placed.place > 20
$$;

-- As before. Half a log-in makes no browser known and takes no try back: who has the password would have codes to try without end.
CREATE OR REPLACE FUNCTION drover.log_in(
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

-- For the program before, which asks for no code: who has a second factor does not get in by it.
CREATE OR REPLACE FUNCTION drover.log_in(a_mail text, a_password bytea, a_session bytea, an_agent text, keep boolean) RETURNS text
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

-- MARK: codes

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

-- MARK: one's own

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

-- Whose open session it is, where the password is theirs (or they have none).
CREATE FUNCTION drover.proven_account(a_session bytea, a_password bytea) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.account FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL
            AND (a.password IS NULL OR a.password = a_password)
$$;

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

CREATE FUNCTION drover.put_recovery_codes(an_account text, the_codes bytea[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    DELETE FROM drover.account_recovery_code c WHERE c.account = an_account;
    INSERT INTO drover.account_recovery_code (account, digest) SELECT an_account, code FROM unnest(the_codes[1:10]) AS code
$$;

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

-- Whoever tried codes had the password of before; with a new one the account's tries begin anew.
CREATE FUNCTION drover.forget_code_tries() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.account_second_factor f SET tries = 0 WHERE f.account = NEW.account;
    DELETE FROM drover.account_session s WHERE s.account = NEW.account AND s.awaits_code;
    RETURN NULL;
END $$;
CREATE TRIGGER forget_code_tries AFTER UPDATE OF password ON drover.account FOR EACH ROW
    WHEN (OLD.password IS DISTINCT FROM NEW.password) EXECUTE FUNCTION drover.forget_code_tries();

-- Who is erased keeps neither, by whatever way: the row of the account stays, without a mail address.
CREATE FUNCTION drover.erase_second_factor() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM drover.account_recovery_code c WHERE c.account = NEW.account;
    DELETE FROM drover.account_second_factor f WHERE f.account = NEW.account;
    RETURN NULL;
END $$;
CREATE TRIGGER erase_second_factor AFTER UPDATE OF mail ON drover.account FOR EACH ROW
    WHEN (OLD.mail IS NOT NULL AND NEW.mail IS NULL) EXECUTE FUNCTION drover.erase_second_factor();

-- MARK: app passwords

-- They are tokens, made by whom they are of, with what the roles allow.
ALTER TABLE drover.token ADD COLUMN is_own boolean NOT NULL DEFAULT false;    -- made on the account's page
CREATE INDEX IF NOT EXISTS token_by_account ON drover.token (account);

CREATE FUNCTION drover.own_scopes(the_roles text[]) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(scope ORDER BY place), '{}') FROM (VALUES
        (1, 'upload', ARRAY['farmer', 'driver', 'fleet_manager', 'operator', 'administrator']),
        (2, 'read', ARRAY['farmer', 'dealer', 'developer', 'driver', 'fleet_manager', 'dispatcher', 'analyst', 'operator', 'administrator']),
        (3, 'account', ARRAY['farmer', 'driver', 'fleet_manager', 'operator', 'administrator']),
        (4, 'survey', ARRAY['surveyor']),
        (5, 'export', ARRAY['researcher', 'analyst', 'administrator']),
        -- Who finds /query.
        (6, 'query', ARRAY['analyst', 'researcher', 'dispatcher', 'ranger', 'fleet_manager', 'developer', 'operator', 'administrator'])) AS allowed (place, scope, roles)
        WHERE allowed.roles && the_roles
$$;

CREATE FUNCTION drover.own_scopes_of_session(a_session bytea) RETURNS text[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.own_scopes(a.roles) FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL
$$;

-- At most twenty that hold; of revoked ones the last hundred are kept. False: too many, or scopes that the roles do not allow.
CREATE FUNCTION drover.add_own_token(a_session bytea, new_id text, a_digest bytea, a_name text, the_scopes text[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own drover.account;
BEGIN
    SELECT a.* INTO own FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL FOR UPDATE OF a;
    IF NOT FOUND OR octet_length(a_name) > 200 OR cardinality(the_scopes) = 0 OR NOT the_scopes <@ drover.own_scopes(own.roles)
        OR 20 <= (SELECT count(*) FROM drover.token t WHERE t.account = own.account AND t.is_own AND t.revoked_at IS NULL) THEN
        RETURN false;
    END IF;
    DELETE FROM drover.token t WHERE t.token_id IN (
        SELECT o.token_id FROM drover.token o WHERE o.account = own.account AND o.is_own AND o.revoked_at IS NOT NULL
            ORDER BY o.revoked_at DESC, o.token_id OFFSET 100);
    INSERT INTO drover.token (token_id, digest, account, name, scopes, role, is_own)
        VALUES (new_id, a_digest, own.account, a_name, the_scopes, CASE WHEN 'developer' = ANY (own.roles) THEN 'developer'
            WHEN 'dealer' = ANY (own.roles) AND NOT 'farmer' = ANY (own.roles) THEN 'dealer' ELSE 'farmer' END, true);
    RETURN true;
END $$;

-- All that hold, also those that an operator made.
CREATE FUNCTION drover.tokens_of_session(a_session bytea)
RETURNS TABLE (token_id text, name text, scopes text[], is_own boolean, made_at timestamptz, expires_at timestamptz, last_used_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT t.token_id, t.name, t.scopes, t.is_own, t.made_at, t.expires_at, t.last_used_at
        FROM drover.account_session s JOIN drover.account a USING (account) JOIN drover.token t USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL AND t.revoked_at IS NULL
            AND (t.expires_at IS NULL OR t.expires_at > now())
        ORDER BY t.made_at DESC, t.token_id LIMIT 200
$$;

CREATE FUNCTION drover.revoke_own_token(a_session bytea, a_token text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE drover.token t SET revoked_at = coalesce(t.revoked_at, now())
        FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL AND t.account = s.account AND t.token_id = a_token
$$;

-- Whose role is taken keeps no app password that it allowed.
CREATE FUNCTION drover.revoke_beyond_roles() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.token t SET revoked_at = now()
        WHERE t.account = NEW.account AND t.is_own AND t.revoked_at IS NULL AND NOT t.scopes <@ drover.own_scopes(NEW.roles);
    RETURN NULL;
END $$;
CREATE TRIGGER revoke_beyond_roles AFTER UPDATE OF roles ON drover.account FOR EACH ROW
    WHEN (OLD.roles IS DISTINCT FROM NEW.roles) EXECUTE FUNCTION drover.revoke_beyond_roles();

-- MARK: what is held of a person

-- Every table is named here once: with the rows of it that are about an account ($1), and what of them is nobody's to read (secrets,
-- and content that comes as a file); or with why it holds none. Erasing and taking one's data away go by the same list.
CREATE FUNCTION drover.person_data() RETURNS TABLE (relation text, condition text, left_out text[], why_not text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $list$
    SELECT named.relation, CASE
            WHEN named.rows = 'account' THEN 'r.account = $1'
            WHEN named.rows = 'bound'
                THEN 'EXISTS (SELECT FROM drover.person_account b WHERE b.account = $1 AND b.campus = r.campus AND b.person = r.person)'
            WHEN named.rows = 'survey' THEN 'EXISTS (SELECT FROM drover.survey v WHERE v.account = $1 AND v.site = r.site AND v.survey = r.survey)'
            WHEN named.rows = 'tour' THEN 'EXISTS (SELECT FROM drover.tour t WHERE t.account = $1 AND t.tour = r.tour)'
            -- By the vehicles first, which there is an index for.
            WHEN named.rows LIKE 'driven %' THEN format('r.vehicle IN (SELECT d.vehicle FROM drover.driving d WHERE d.account = $1) AND EXISTS ('
                'SELECT FROM drover.driving d WHERE d.account = $1 AND d.vehicle = r.vehicle AND %s)', substr(named.rows, 8))
            ELSE named.rows END, string_to_array(named.left_out, ' '), NULL
        FROM (VALUES
        ('account', 'account', 'password salt'), ('account_device', 'account', 'digest'), ('account_identity', 'account', ''),
        ('account_link', 'account', 'digest'), ('account_login', 'account', ''), ('account_recovery_code', 'account', 'digest'),
        ('account_second_factor', 'account', 'secret next_secret'), ('account_session', 'account', 'digest'),
        ('account_settings', 'account', ''),
        ('account_try', 'r.mail = (SELECT lower(a.mail) FROM drover.account a WHERE a.account = $1)', 'device'),
        ('acknowledgement', 'r.acknowledged_by = $1', ''), ('alert', 'account', ''), ('alert_event', 'account', 'record'),
        ('audit_name', 'account', 'digest salt'), ('audit_tally', '$1 IN (r.actor, r.subject)', 'key'),
        ('audit_entry', 'EXISTS (SELECT FROM drover.audit_name n WHERE n.account = $1 AND n.digest IN (r.actor, r.subject))', 'hash'),
        ('assignment', 'r.account = $1 OR r.assigned_by = $1', ''), ('car_owner', 'account', ''), ('code_request', 'bound', ''),
        ('dealership', '$1 IN (r.dealer, r.confirmed_by, r.ended_by)', ''), ('driving', 'account', ''), ('first_writer', 'account', ''),
        ('fleet_member', 'account', ''), ('forward', 'account', ''), ('health_scan', '$1 IN (r.asked_by, r.scanned_by)', ''),
        ('mail', 'lower(r.recipient) = (SELECT lower(a.mail) FROM drover.account a WHERE a.account = $1)', 'body html leave_url'),
        ('notice', 'account', ''), ('notice_message', 'account', 'payload link'), ('notice_setting', 'account', 'webhook_key'),
        ('notice_step', '$1 IN (r.account, r.colleague)', ''),
        ('notice_told', 'EXISTS (SELECT FROM drover.notice_message m WHERE m.message_id = r.message_id AND m.account = $1)', ''),
        ('person', 'bound', ''), ('person_account', 'account', ''), ('person_code', 'bound', 'digest'), ('person_photo', 'bound', 'content'),
        ('person_token', 'bound', 'digest'), ('poll_request', 'r.asked_by = $1', ''), ('push_subscription', 'account', 'p256dh auth'), ('question', 'account', ''),
        ('registration', 'account', ''), ('report_schedule', 'r.account = $1 OR $1 = ANY (r.mail_to)', ''),
        ('report_run', 'EXISTS (SELECT FROM drover.report_schedule s WHERE s.schedule_id = r.schedule_id AND s.account = $1)', 'content digest'),
        ('ride', 'EXISTS (SELECT FROM drover.person_account b WHERE b.account = $1 AND b.campus = r.campus AND b.person = r.rider)', ''),
        ('ride_vehicle', 'EXISTS (SELECT FROM drover.person_account b WHERE b.account = $1 AND b.campus = r.campus AND b.person = r.driver)', ''),
        ('rider', 'EXISTS (SELECT FROM drover.person_account b WHERE b.account = $1 AND b.campus = r.campus AND b.person = r.rider)', ''),
        ('rule_edit', 'account', ''), ('service', 'r.recorded_by = $1', ''), ('sighting', 'survey', ''),
        ('silence', 'r.silenced_by = $1', ''), ('survey', 'account', ''), ('survey_photo', 'account', 'content'),
        ('survey_receipt', 'account', 'digest'),
        ('survey_session', 'EXISTS (SELECT FROM drover.token t WHERE t.digest = r.token AND t.account = $1)', 'session token'),
        ('survey_version', 'r.said_by = $1 OR EXISTS (SELECT FROM drover.survey v WHERE v.account = $1 AND v.site = r.site AND v.survey = r.survey)', ''),
        ('survey_waiting', 'r.account = $1 OR r.said_by = $1', ''), ('survey_weather', 'survey', ''), ('surveyor', 'survey', ''),
        ('token', 'account', 'digest'), ('tour', 'account', ''), ('tour_medium', 'tour', 'content'),
        ('tour_version', 'r.published_by = $1 OR EXISTS (SELECT FROM drover.tour t WHERE t.account = $1 AND t.tour = r.tour)', ''),
        ('trip', 'driven d.from_at <= r.end_at AND d.until_at >= r.start_at', ''),
        ('trip_mark', 'r.marked_by = $1', ''), ('trip_note', 'r.noted_by = $1', ''),
        ('trip_start', 'driven r.start_at BETWEEN d.from_at AND d.until_at', ''),
        ('trip_summary', 'account', ''), ('vehicle_change', 'account', ''),
        ('vehicle_minute', 'driven d.from_at < r.minute_at + interval ''1 minute'' AND d.until_at >= r.minute_at', '')
        ) AS named (relation, rows, left_out)
    UNION ALL
    SELECT none.relation, NULL, NULL, named.why_not FROM (VALUES
        ('account_secret audit_head migration outside_call outside_service partition_progress period period_width relay_turn retained turn', 'of the installation'),
        ('campus fleet fleet_vehicle quarantine rejected vehicle', 'names no account'),
        ('car_support car_watch debug_log live_trip machine_reading machine_rejudging vehicle_day watched', 'of vehicles, whoever drives'),
        ('dispatch_decision', 'why a vehicle drives where: the rides are in `ride`'),
        ('forward_pause notice_event rule_set trip_rules', 'of all'),
        ('geocode travel_leg travel_line trip_weather weather_hour', 'answers about places, whoever asked'),
        ('mail_file', 'reports that wait with their mail: they are in `report_run`'),
        ('outbox', 'on its way to topics: the same as in other tables'),
        ('sighting_week species_season taxon taxon_name', 'sums, and names of species'),
        ('tour_day tour_event', 'visits of phones that nobody names'), ('tour_package tour_package_part', 'made of `tour_version`')
        ) AS named (relations, why_not), unnest(string_to_array(named.relations, ' ')) AS none (relation)
$list$;

-- The drives that pages show to an account as its own: to have said of somebody else's car that one drove it opens nothing.
CREATE FUNCTION drover.believed_drives(an_account text) RETURNS SETOF drover.driving
LANGUAGE sql STABLE ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT d.* FROM drover.driving d WHERE d.account = an_account AND drover.is_believed(d.account, d.vehicle, d.from_at, d.until_at)
$$;

-- Rows as JSON, one after the other. `is_sight`: of vehicles what the account may see today; else of all that it said it drove, which an
-- operator looks through before handing it to who has left.
CREATE FUNCTION drover.rows_of_person(an_account text, a_relation text, is_sight boolean DEFAULT false) RETURNS SETOF text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    named record;
BEGIN
    SELECT d.* INTO named FROM drover.person_data() AS d WHERE d.relation = a_relation AND d.condition IS NOT NULL;
    IF NOT FOUND THEN RAISE EXCEPTION 'there are no rows of people in %', a_relation; END IF;
    IF is_sight THEN named.condition := replace(named.condition, 'drover.driving d', 'drover.believed_drives($1) d'); END IF;
    RETURN QUERY EXECUTE format('SELECT (to_jsonb(r) - $2)::text FROM drover.%I AS r WHERE %s', named.relation, named.condition)
        USING an_account, named.left_out;
END $$;

-- Pictures, films and reports, each a file.
CREATE FUNCTION drover.files_of_person(an_account text) RETURNS TABLE (name text, content bytea)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'survey_photo/' || p.photo || '.' || split_part(p.media_type, '/', 2), p.content FROM drover.survey_photo p WHERE p.account = an_account
    UNION ALL
    SELECT 'person_photo/' || p.campus || '-' || p.photo || '.' || split_part(p.media_type, '/', 2), p.content
        FROM drover.person_photo p JOIN drover.person_account b USING (campus, person) WHERE b.account = an_account
    UNION ALL
    SELECT 'tour_medium/' || m.tour || '-' || m.medium || '.' || split_part(m.media_type, '/', 2), m.content
        FROM drover.tour_medium m JOIN drover.tour t USING (tour) WHERE t.account = an_account
    UNION ALL
    SELECT 'report_run/' || u.schedule_id || '-' || to_char(u.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD-HH24MI') || '-' || u.name, u.content
        FROM drover.report_run u JOIN drover.report_schedule s USING (schedule_id) WHERE s.account = an_account AND u.content IS NOT NULL
$$;

-- The same for whoever is logged in, of themselves.
CREATE FUNCTION drover.open_account(a_session bytea) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.account FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL
$$;
CREATE FUNCTION drover.own_rows(a_session bytea, a_relation text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.rows_of_person(drover.open_account(a_session), a_relation, true)
$$;
CREATE FUNCTION drover.own_files(a_session bytea) RETURNS TABLE (name text, content bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT f.name, f.content FROM drover.files_of_person(drover.open_account(a_session)) AS f
$$;

-- MARK: what is told of it

CREATE FUNCTION drover.audit_second_factor() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
BEGIN
    PERFORM drover.audit_append('second_factor_changed',
        coalesce(nullif(current_setting('drover.account', true), ''), nullif(current_setting('drover.audit_by', true), '')), OLD.account, NULL,
        jsonb_build_object('is', CASE WHEN TG_OP = 'DELETE' THEN 'off' WHEN OLD.secret IS NULL THEN 'on' ELSE 'renewed' END,
            'login', session_user)::text);
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER audit AFTER UPDATE OF secret ON drover.account_second_factor
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.secret IS NOT NULL AND NEW.secret IS DISTINCT FROM OLD.secret)
    EXECUTE FUNCTION drover.audit_second_factor();
CREATE CONSTRAINT TRIGGER audit_off AFTER DELETE ON drover.account_second_factor
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.secret IS NOT NULL) EXECUTE FUNCTION drover.audit_second_factor();

-- MARK: rights

DO $$
DECLARE
    made regprocedure;
BEGIN
    FOREACH made IN ARRAY ARRAY[
        'drover.has_second_factor(text)', 'drover.await_code()', 'drover.is_session_awaiting(drover.account_session)',
        'drover.trim_sessions(text)', 'drover.take_factor_code(text, bigint, bytea)', 'drover.proven_account(bytea, bytea)',
        'drover.put_recovery_codes(text, bytea[])', 'drover.forget_code_tries()', 'drover.erase_second_factor()', 'drover.own_scopes(text[])',
        'drover.revoke_beyond_roles()', 'drover.believed_drives(text)', 'drover.rows_of_person(text, text, boolean)', 'drover.files_of_person(text)',
        'drover.open_account(bytea)', 'drover.audit_second_factor()']::regprocedure[]
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', made);
    END LOOP;
    FOREACH made IN ARRAY ARRAY[
        'drover.begin_code(bytea, text, bytea)', 'drover.pass_code(bytea, bigint, bytea, bytea, text, bytea, bytea)',
        'drover.second_factor_of_session(bytea)', 'drover.begin_second_factor(bytea, bytea, bigint, bytea, bytea)',
        'drover.confirm_second_factor(bytea, bytea, bigint, bytea[])', 'drover.change_second_factor(bytea, bytea, bigint, bytea, bytea[])',
        'drover.own_scopes_of_session(bytea)', 'drover.add_own_token(bytea, text, bytea, text, text[])', 'drover.tokens_of_session(bytea)',
        'drover.revoke_own_token(bytea, text)', 'drover.person_data()', 'drover.own_rows(bytea, text)', 'drover.own_files(bytea)']::regprocedure[]
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', made);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO drover_api', made);
    END LOOP;
END $$;
-- Pages ask with each request whether it is on.
GRANT EXECUTE ON FUNCTION drover.second_factor_of_session(bytea) TO drover_page;
