-- Off-boarding: an account that ends does so at every door at once, whoever says it and where. And who may see: what nobody was
-- allowed is nobody's, so that a forgotten account, role or login sees nothing.

-- MARK: off-boarding

-- Codes are for people of a roster, whose mail address an account that ended may have, too.
ALTER TABLE drover.mail ADD COLUMN is_for_person boolean NOT NULL DEFAULT false;
CREATE INDEX token_by_account ON drover.token (account);

-- Ends the connections of a login. Its owner may do that as a member of it only; a superuser anyhow.
CREATE FUNCTION drover.end_connections(a_login name) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    is_member boolean := pg_has_role(current_user, a_login, 'USAGE');
BEGIN
    IF NOT EXISTS (SELECT FROM pg_stat_activity s WHERE s.usename = a_login) THEN RETURN; END IF;
    IF NOT is_member THEN EXECUTE format('GRANT %I TO %I', a_login, current_user); END IF;
    PERFORM pg_terminate_backend(s.pid) FROM pg_stat_activity s WHERE s.usename = a_login;
    IF NOT is_member THEN EXECUTE format('REVOKE %I FROM %I', a_login, current_user); END IF;
-- Another did the same at this moment: "tuple concurrently updated".
EXCEPTION WHEN insufficient_privilege OR internal_error THEN
    RAISE WARNING 'connections of % could not be ended: %', a_login, SQLERRM;
END $$;

-- Ends an account's login of the database. False: it has none. A role that cannot be changed sees nothing all the same: it is
-- nobody's from here on.
CREATE FUNCTION drover.end_database_login(an_account text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ended name;
    is_there boolean := false;
BEGIN
    FOR ended IN DELETE FROM drover.account_login l WHERE l.account = an_account RETURNING l.login LOOP
        is_there := true;
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = ended);
        BEGIN
            EXECUTE format('ALTER ROLE %I NOLOGIN PASSWORD NULL', ended);
            IF pg_has_role(ended, 'drover_sight', 'MEMBER') THEN EXECUTE format('REVOKE drover_sight FROM %I', ended); END IF;
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE WARNING 'the login % could not be ended: %', ended, SQLERRM;
        END;
        PERFORM drover.end_connections(ended);
    END LOOP;
    RETURN is_there;
END $$;

-- Who came in while a login was being ended. Pages ask for it with each heartbeat of their streams.
CREATE FUNCTION drover.end_lost_connections() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM drover.end_connections(lost.usename) FROM (
        SELECT DISTINCT s.usename FROM pg_stat_activity s JOIN pg_roles r ON r.rolname = s.usename
        WHERE r.rolname LIKE 'drover\_account\_%' AND NOT r.rolcanlogin
            AND NOT EXISTS (SELECT FROM drover.account_login l WHERE l.login = r.rolname)) AS lost;
END $$;

-- What an account came in by, and what is on its way to it. What a relay has in its hands at this moment it asks about once more
-- before it goes out (drover.is_mail_over, drover.notice_accounts): nobody waits for it here.
CREATE FUNCTION drover.end_doors(an_account text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    why text := 'the account is disabled';
BEGIN
    DELETE FROM drover.account_session s WHERE s.account = an_account;
    DELETE FROM drover.account_link l WHERE l.account = an_account;
    DELETE FROM drover.account_device d WHERE d.account = an_account;
    DELETE FROM drover.survey_session s USING drover.token t WHERE t.digest = s.token AND t.account = an_account;
    UPDATE drover.token t SET revoked_at = now() WHERE t.account = an_account AND t.revoked_at IS NULL;
    DELETE FROM drover.push_subscription p WHERE p.account = an_account;
    UPDATE drover.notice_setting s SET webhook_url = NULL, webhook_key = NULL WHERE s.account = an_account AND s.webhook_url IS NOT NULL;
    UPDATE drover.notice n SET state = 'not_told', reason = why, settled_at = now() WHERE n.notice_id IN (
        SELECT w.notice_id FROM drover.notice w WHERE w.account = an_account AND w.state = 'waiting' FOR UPDATE SKIP LOCKED);
    -- Neither again, nor by mail instead, nor acknowledged by a link that is out already.
    UPDATE drover.notice_message m SET payload = NULL, link = NULL, link_expires_at = NULL,
            state = CASE m.state WHEN 'waiting' THEN 'refused' ELSE m.state END,
            answer = CASE m.state WHEN 'waiting' THEN why ELSE m.answer END,
            settled_at = coalesce(m.settled_at, now()), mailed_at = CASE m.state WHEN 'sent' THEN m.mailed_at ELSE coalesce(m.mailed_at, now()) END
        WHERE m.message_id IN (
            SELECT w.message_id FROM drover.notice_message w WHERE w.account = an_account
                AND (w.state = 'waiting' OR w.link IS NOT NULL OR w.state = 'refused' AND w.mailed_at IS NULL) FOR UPDATE SKIP LOCKED);
    UPDATE drover.report_run r SET wants_mail = false,
            state = CASE r.state WHEN 'waiting' THEN 'failed' ELSE r.state END, reason = CASE r.state WHEN 'waiting' THEN why ELSE r.reason END
        WHERE (r.schedule_id, r.due_at) IN (
            SELECT w.schedule_id, w.due_at FROM drover.report_run w JOIN drover.report_schedule s USING (schedule_id)
            WHERE s.account = an_account AND (w.state = 'waiting' OR w.wants_mail) FOR UPDATE OF w SKIP LOCKED);
    UPDATE drover.report_schedule s SET is_enabled = false, next_due_at = NULL WHERE s.account = an_account AND s.is_enabled;
    DELETE FROM drover.mail m WHERE m.mail_id IN (
        SELECT w.mail_id FROM drover.mail w JOIN drover.account a ON lower(w.recipient) = lower(a.mail)
        WHERE a.account = an_account AND NOT w.is_for_person FOR UPDATE OF w SKIP LOCKED);
    PERFORM drover.end_database_login(an_account);
END $$;

-- False: there is no such account.
CREATE FUNCTION drover.disable_account(an_account text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.account a SET disabled_at = coalesce(a.disabled_at, now()) WHERE a.account = an_account;
    IF NOT FOUND THEN RETURN false; END IF;
    PERFORM drover.end_doors(an_account);
    RETURN true;
END $$;

-- It may log in again, with nothing of before: not even with what somebody made for it meanwhile. False: there is no such account.
CREATE FUNCTION drover.enable_account(an_account text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM drover.account a WHERE a.account = an_account FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    IF EXISTS (SELECT FROM drover.account a WHERE a.account = an_account AND a.disabled_at IS NOT NULL) THEN
        PERFORM drover.end_doors(an_account);
        UPDATE drover.account a SET disabled_at = NULL WHERE a.account = an_account;
    END IF;
    RETURN true;
END $$;

-- Forgets who it was. The id stays, disabled: results name it. False: there is no such account.
CREATE FUNCTION drover.erase_account(an_account text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT drover.disable_account(an_account) THEN RETURN false; END IF;
    DELETE FROM drover.account_try t USING drover.account a WHERE a.account = an_account AND t.mail = lower(a.mail);
    DELETE FROM drover.mail m USING drover.account a WHERE a.account = an_account AND lower(m.recipient) = lower(a.mail);
    UPDATE drover.token t SET name = NULL WHERE t.account = an_account;
    DELETE FROM drover.account_identity i WHERE i.account = an_account;
    DELETE FROM drover.person_account p WHERE p.account = an_account;
    DELETE FROM drover.fleet_member m WHERE m.account = an_account;
    UPDATE drover.dealership d SET ended_at = now(), ended_by = 'operator' WHERE d.dealer = an_account AND d.ended_at IS NULL;
    -- What it is told by, and reports that it had made: their runs go with them. Those that come with Drover are there for the next one.
    DELETE FROM drover.notice_setting s WHERE s.account = an_account;
    DELETE FROM drover.notice_step s WHERE an_account IN (s.account, s.colleague);
    UPDATE drover.notice_message m SET payload = NULL, link = NULL WHERE m.account = an_account;
    DELETE FROM drover.report_run r USING drover.report_schedule s
        WHERE s.schedule_id = r.schedule_id AND s.account = an_account AND s.shipped IS NOT NULL;
    UPDATE drover.report_schedule s SET account = NULL, is_enabled = false, mail_to = '{}', next_due_at = NULL
        WHERE s.account = an_account AND s.shipped IS NOT NULL;
    DELETE FROM drover.report_schedule s WHERE s.account = an_account;
    UPDATE drover.report_schedule s SET mail_to = array_remove(s.mail_to, an_account) WHERE an_account = ANY (s.mail_to);
    UPDATE drover.account a SET mail = NULL, first_name = '', last_name = '', roles = '{}', units = 'metric', zone = 'UTC',
            password = NULL, salt = NULL, memory_kib = NULL, passes = NULL
        WHERE a.account = an_account;
    RETURN true;
END $$;

-- As in 0031, by the same ways as the command.
CREATE OR REPLACE FUNCTION drover.administer_account(an_account text, new_roles text[], is_enabled boolean) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (NOT 'administrator' = ANY (drover.sight_roles())) THEN RETURN false; END IF;
    PERFORM drover.take_turn('drover.account');
    IF (NOT (is_enabled AND 'administrator' = ANY (new_roles)) AND NOT EXISTS (
            SELECT FROM drover.account a WHERE a.account <> an_account AND a.disabled_at IS NULL AND a.password IS NOT NULL
                AND 'administrator' = ANY (a.roles))) THEN
        RETURN false;
    END IF;
    UPDATE drover.account a SET roles = new_roles WHERE a.account = an_account AND (a.mail IS NOT NULL OR NOT is_enabled);
    IF NOT FOUND THEN RETURN false; END IF;
    RETURN CASE WHEN is_enabled THEN drover.enable_account(an_account) ELSE drover.disable_account(an_account) END;
END $$;

-- False: not by an administrator, there is no such account, or nobody would be left who is one.
CREATE FUNCTION drover.administer_erasure(an_account text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (NOT 'administrator' = ANY (drover.sight_roles())) THEN RETURN false; END IF;
    PERFORM drover.take_turn('drover.account');
    IF (NOT EXISTS (
            SELECT FROM drover.account a WHERE a.account <> an_account AND a.disabled_at IS NULL AND a.password IS NOT NULL
                AND 'administrator' = ANY (a.roles))) THEN
        RETURN false;
    END IF;
    RETURN drover.erase_account(an_account);
END $$;

-- Whether nobody is to get mail there any more. Asked when it goes out.
CREATE FUNCTION drover.is_mail_over(a_recipient text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM drover.account a WHERE lower(a.mail) = lower(a_recipient) AND a.disabled_at IS NOT NULL)
$$;

-- As in 0020; the mail is for somebody of a roster.
CREATE OR REPLACE FUNCTION drover.ask_code(
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

-- As in 0040; who ended is not written about.
CREATE OR REPLACE FUNCTION drover.end_notice_mail(an_account text) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO drover.notice_setting (account, mail_ended_at)
        SELECT p.account, now() FROM drover.account p WHERE p.account = an_account AND p.disabled_at IS NULL
        ON CONFLICT (account) DO UPDATE SET mail_ended_at = coalesce(drover.notice_setting.mail_ended_at, now())
$$;

-- Which of these streams go on, by their places from 1: what each was opened with, a session or a token, holds still, and a session's
-- account is still who it was on the campus ('': it was nobody there). Asked with each heartbeat.
CREATE FUNCTION drover.streams_that_hold(the_keys bytea[], the_campuses text[], the_people text[]) RETURNS SETOF int
LANGUAGE sql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT w.place::int FROM unnest(the_keys, the_campuses, the_people) WITH ORDINALITY AS w(key, campus, person, place)
    WHERE EXISTS (SELECT FROM drover.account_session s JOIN drover.account a USING (account)
            WHERE s.digest = w.key AND drover.is_session_open(s) AND a.disabled_at IS NULL
                AND (w.campus = '' OR EXISTS (
                    SELECT FROM drover.person_account b JOIN drover.person p USING (campus, person)
                    WHERE b.campus = w.campus AND b.person = w.person AND b.account = a.account AND p.role = ANY (a.roles)
                        AND p.left_at IS NULL AND p.disabled_at IS NULL)))
        OR EXISTS (SELECT FROM drover.token t LEFT JOIN drover.account a USING (account)
            WHERE t.digest = w.key AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now()) AND a.disabled_at IS NULL)
        OR EXISTS (SELECT FROM drover.person_token t JOIN drover.person p USING (campus, person)
            WHERE t.digest = w.key AND t.revoked_at IS NULL AND t.expires_at > now() AND p.left_at IS NULL AND p.disabled_at IS NULL)
$$;

-- Accounts that were disabled before: their doors, too.
DO $$
BEGIN
    PERFORM drover.end_doors(a.account) FROM drover.account a WHERE a.disabled_at IS NOT NULL;
END $$;

-- MARK: nobody sees nothing

-- As whom this is asked. `current_user` would be the owner's in functions and views that run as their owner.
CREATE FUNCTION drover.asking_role() RETURNS name
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role')::name END
$$;

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

CREATE OR REPLACE FUNCTION drover.sees_all() RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.is_program() OR drover.sight_roles() && ARRAY['administrator', 'operator']
$$;

CREATE OR REPLACE FUNCTION analyst.sees_sightings(how text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.is_program() OR coalesce(drover.sees_sightings(how), false)
$$;

-- Who has something to do with vehicles at all.
CREATE FUNCTION drover.reads_fleets() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.sight_roles() && ARRAY['farmer', 'dealer', 'developer', 'driver', 'fleet_manager', 'dispatcher', 'analyst', 'operator', 'administrator']
$$;

-- As in 0031; who reads no fleets gets none.
CREATE OR REPLACE FUNCTION drover.seen_audiences() RETURNS text[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN drover.sight_roles() && ARRAY['developer', 'administrator', 'operator'] THEN ARRAY['farmer', 'dealer', 'developer']
                WHEN drover.sight_roles() && ARRAY['dealer'] THEN ARRAY['farmer', 'dealer']
                WHEN drover.reads_fleets() THEN ARRAY['farmer']
                ELSE '{}'::text[] END
$$;

-- As in 0038. Nobody's, and people's without a role, it has none; a program asks for nobody.
CREATE OR REPLACE FUNCTION drover.fleets_seen()
RETURNS TABLE (fleet text, name text, kind text, vehicle text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT f.fleet, f.name, v.kind, v.vehicle
    FROM drover.fleet f
    -- A fleet has the vehicles of its parts, too.
    JOIN drover.fleet part ON part.fleet = f.fleet OR part.part_of = f.fleet
    JOIN drover.fleet_vehicle v ON v.fleet = part.fleet
    WHERE (drover.sight_account() IS NULL AND drover.is_program())
        OR drover.sight_roles() && ARRAY['administrator', 'operator']
        OR (drover.reads_fleets() AND EXISTS (SELECT FROM drover.fleet_member m
            WHERE m.account = drover.sight_account() AND m.fleet IN (f.fleet, f.part_of)))
$$;

-- As in 0031, for who reads fleets.
CREATE OR REPLACE FUNCTION drover.dealerships()
RETURNS TABLE (dealership_id bigint, vehicle text, dealer text, dealer_name text, asked_at timestamptz, confirmed_at timestamptz,
    shares_past boolean, ended_at timestamptz, is_own boolean)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
    SELECT d.dealership_id, d.vehicle, d.dealer, trim(a.first_name || ' ' || a.last_name), d.asked_at, d.confirmed_at, d.shares_past,
        d.ended_at, d.dealer <> drover.sight_account()
    FROM drover.dealership d JOIN drover.account a ON a.account = d.dealer
    WHERE drover.reads_fleets() AND (d.dealer = drover.sight_account() OR drover.sight_account() IN (SELECT drover.owners_of_machine(d.vehicle))
        OR drover.sight_roles() && ARRAY['administrator'])
    ORDER BY d.ended_at IS NOT NULL, d.confirmed_at IS NOT NULL, d.asked_at DESC, d.dealership_id LIMIT 500
$$;

-- As in 0040, for who reads fleets.
CREATE OR REPLACE FUNCTION drover.colleagues() RETURNS TABLE (account text, name text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 50 SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT p.account, trim(p.first_name || ' ' || p.last_name)
        FROM drover.fleet_member mine JOIN drover.fleet_member m USING (fleet) JOIN drover.account p ON p.account = m.account
        WHERE mine.account = drover.sight_account() AND p.account <> mine.account AND p.disabled_at IS NULL AND drover.reads_fleets()
        ORDER BY 2, 1 LIMIT 500
$$;

-- As in 0037, for who reads fleets.
CREATE OR REPLACE FUNCTION drover.machine_clock(a_partition int) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.clock_at FROM drover.partition_progress p
    WHERE p.topic = 'drover.machines' AND p.partition = a_partition AND drover.reads_fleets()
$$;

-- As in 0031; what silences machines of all kinds is for who reads fleets.
ALTER POLICY sight ON drover.silence USING ((SELECT drover.sees_all()) OR (vehicle IS NULL AND (SELECT drover.reads_fleets()))
    OR vehicle IN (SELECT drover.known('machine')));

-- Rules name machines. They were everybody's who could read at all.
ALTER TABLE drover.rule_set ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.trip_rules ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_rows_of_drover_writer ON drover.rule_set TO drover_writer USING (true) WITH CHECK (true);
CREATE POLICY all_rows_of_drover_reader ON drover.rule_set TO drover_reader USING (true);
CREATE POLICY sight ON drover.rule_set FOR SELECT TO drover_sight USING ((SELECT drover.reads_fleets()));
CREATE POLICY all_rows_of_drover_writer ON drover.trip_rules TO drover_writer USING (true) WITH CHECK (true);
CREATE POLICY all_rows_of_drover_reader ON drover.trip_rules TO drover_reader USING (true);
CREATE POLICY sight ON drover.trip_rules FOR SELECT TO drover_sight USING ((SELECT drover.reads_fleets()));

REVOKE EXECUTE ON FUNCTION drover.end_connections(name), drover.end_database_login(text), drover.end_lost_connections(), drover.end_doors(text),
    drover.disable_account(text), drover.enable_account(text), drover.erase_account(text), drover.administer_erasure(text), drover.is_mail_over(text),
    drover.streams_that_hold(bytea[], text[], text[]), drover.asking_role(), drover.is_program(), drover.reads_fleets() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.end_lost_connections(), drover.streams_that_hold(bytea[], text[], text[]) TO drover_api;
GRANT EXECUTE ON FUNCTION drover.is_mail_over(text) TO drover_relay;
GRANT EXECUTE ON FUNCTION drover.administer_erasure(text) TO drover_page;
GRANT EXECUTE ON FUNCTION drover.asking_role(), drover.is_program(), drover.reads_fleets()
    TO drover_sight, drover_reader, drover_writer, drover_researcher, drover_relay;
