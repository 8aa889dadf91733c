-- Bounds and doors: why nothing judges the vehicles of a list, in one look; who asks a question, and what ends with their account.

-- MARK: not monitored, of many

-- Why nothing judges these vehicles as they are now, a row for each that nothing does. The one place that decides it, for pages, programs and
-- reports: `nobody` drives or owns the car; who does has switched all alerts off (`alerts_off`); the machine's model is not known (`no_model`),
-- or neither it nor the machine has rules (`no_rules`). The right to ask, and a set of rules, are looked up once for all of them.
CREATE FUNCTION drover.not_monitored_of(the_kinds text[], the_vehicles text[]) RETURNS TABLE (kind text, vehicle text, not_monitored text)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF NOT (drover.is_program() OR drover.reads_fleets()) THEN RETURN; END IF;
    RETURN QUERY
    WITH known AS MATERIALIZED (
        SELECT asked.kind, asked.vehicle, coalesce(v.model, r.model) AS model, coalesce(v.topic_partition, r.topic_partition) AS topic_partition
        FROM (SELECT DISTINCT a.kind, a.vehicle FROM unnest(the_kinds, the_vehicles) AS a(kind, vehicle)) AS asked
        LEFT JOIN drover.vehicle v ON v.kind = asked.kind AND v.vehicle = asked.vehicle
        LEFT JOIN drover.registration r ON r.kind = asked.kind AND r.vehicle = asked.vehicle
    ), heard AS MATERIALIZED (
        -- Of a car its latest trip tells when it was heard of last.
        SELECT k.vehicle, k.topic_partition,
            (SELECT t.end_at FROM drover.trip t WHERE t.vehicle = k.vehicle ORDER BY t.start_at DESC LIMIT 1) AS last_reading_at
        FROM known k WHERE k.kind = 'car'
    ), judged AS MATERIALIZED (
        -- Whose limits a car is judged by: who uploaded its last reading, else who is to drive it now, else who owns it (Sources/Alerts/Drivers.swift).
        SELECT h.vehicle, h.topic_partition, coalesce(
            -- Bounded: a drive is uploaded in pieces, and none is of a month.
            (SELECT d.account FROM drover.driving d WHERE d.vehicle = h.vehicle
                AND d.from_at BETWEEN h.last_reading_at - interval '31 days' AND h.last_reading_at AND d.until_at >= h.last_reading_at
                ORDER BY d.from_at DESC LIMIT 1),
            (SELECT a.account FROM drover.assignment a WHERE a.vehicle = h.vehicle AND a.assigned_at <= now() ORDER BY a.assigned_at DESC LIMIT 1),
            drover.car_owner_at(h.vehicle, now())) AS account
        FROM heard h
    ), cars AS (
        -- Where nobody answers for it the installation's limits judge it, if there are any (0071).
        SELECT 'car' AS kind, j.vehicle, CASE WHEN coalesce((SELECT s.settings ~ '"alerts"\s*:\s*false' FROM drover.account_settings s
                WHERE s.topic_partition = j.topic_partition AND s.account = coalesce(j.account, 'installation') AND s.in_force_at <= now()
                ORDER BY s.in_force_at DESC LIMIT 1), j.account IS NULL)
            THEN CASE WHEN j.account IS NULL THEN 'nobody' ELSE 'alerts_off' END END AS reason
        FROM judged j
    ), in_force AS MATERIALIZED (
        SELECT p.topic_partition, s.version, s.rules
        FROM (SELECT DISTINCT k.topic_partition FROM known k WHERE k.kind = 'machine' AND k.model IS NOT NULL) AS p
        CROSS JOIN LATERAL (SELECT r.version, r.rules FROM drover.rule_set r WHERE r.topic_partition = p.topic_partition AND r.in_force_at <= now()
            ORDER BY r.in_force_at DESC LIMIT 1) AS s
    ), texts AS MATERIALIZED (
        -- Each set unpacked once, by the empty text behind it.
        SELECT one.version, one.rules || '' AS rules FROM (SELECT DISTINCT ON (f.version) f.version, f.rules FROM in_force f) AS one
    ), machines AS (
        SELECT k.kind, k.vehicle, CASE WHEN k.model IS NULL THEN 'no_model'
            WHEN NOT coalesce(drover.is_judged(t.rules, k.model, k.vehicle), false) THEN 'no_rules' END AS reason
        FROM known k LEFT JOIN in_force f ON f.topic_partition = k.topic_partition LEFT JOIN texts t ON t.version = f.version
        WHERE k.kind = 'machine'
    )
    SELECT c.kind, c.vehicle, c.reason FROM cars c WHERE c.reason IS NOT NULL
    UNION ALL
    SELECT m.kind, m.vehicle, m.reason FROM machines m WHERE m.reason IS NOT NULL;
END $$;

-- As in 0069, by the same look. NULL: something judges it.
CREATE OR REPLACE FUNCTION drover.not_monitored(a_kind text, a_vehicle text) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT n.not_monitored FROM drover.not_monitored_of(ARRAY[a_kind], ARRAY[a_vehicle]) AS n);
END $$;
DROP FUNCTION drover.judged_by(text, timestamptz);

REVOKE EXECUTE ON FUNCTION drover.not_monitored_of(text[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.not_monitored_of(text[], text[]) TO drover_page, drover_reader, drover_api;

-- MARK: who asks a question

-- Of an account as it is at this moment: whether it may ask still, and of which customers it is (fleets and campuses; '': of none). Whoever
-- runs the installation is of no customer, not even of ''. No row: there is no such account.
CREATE FUNCTION drover.question_asker(an_account text) RETURNS TABLE (is_disabled boolean, customers text[])
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.disabled_at IS NOT NULL, CASE WHEN a.roles && ARRAY['administrator', 'operator'] THEN '{}'
        ELSE coalesce(nullif(ARRAY(
            SELECT 'fleet ' || coalesce(f.part_of, f.fleet) FROM drover.fleet_member m JOIN drover.fleet f ON f.fleet = m.fleet WHERE m.account = a.account
            UNION SELECT 'campus ' || p.campus FROM drover.person_account p WHERE p.account = a.account), '{}'), ARRAY['']) END
    FROM drover.account a WHERE a.account = an_account
$$;

-- As in 0066; and what its connection is called says for whom it asks, for nobody sees its row: whoever ends the account ends the question, too.
-- By a digest, for everybody on the server sees what connections are called.
CREATE FUNCTION drover.question_name(an_account text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'drover question ' || left(encode(sha256(convert_to(an_account, 'UTF8')), 'hex'), 32)
$$;
CREATE OR REPLACE FUNCTION drover.begin_question(an_account text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- By another role it would have rights, or rows, of its own.
    IF EXISTS (SELECT FROM pg_roles r WHERE r.rolname NOT IN (session_user, 'drover_query', 'drover_sight') AND pg_has_role(session_user, r.oid, 'MEMBER')) THEN
        RAISE EXCEPTION 'the login % is to be in drover_query and in nothing else', session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO drover.question (pid, account) VALUES (pg_backend_pid(), an_account);
    PERFORM set_config('application_name', drover.question_name(an_account), true);
END $$;

-- Ends the questions of an account that are under way. The owner may do that as a member of the login that asks only; a superuser anyhow.
-- What cannot be ended is not answered all the same: who asks is looked at once more before.
CREATE FUNCTION drover.end_questions(an_account text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one record;
    is_member boolean;
BEGIN
    FOR one IN SELECT s.pid, s.usename FROM pg_stat_activity s WHERE s.datname = current_database()
        AND s.application_name = drover.question_name(an_account) AND pg_has_role(s.usesysid, 'drover_query', 'MEMBER')
    LOOP
        is_member := pg_has_role(current_user, one.usename, 'USAGE');
        IF NOT is_member THEN EXECUTE format('GRANT %I TO %I', one.usename, current_user); END IF;
        PERFORM pg_terminate_backend(one.pid);
        IF NOT is_member THEN EXECUTE format('REVOKE %I FROM %I', one.usename, current_user); END IF;
    END LOOP;
-- Another did the same at this moment: "tuple concurrently updated".
EXCEPTION WHEN insufficient_privilege OR internal_error THEN
    RAISE WARNING 'questions of % could not be ended: %', an_account, SQLERRM;
END $$;

-- As in 0062; and its questions.
CREATE OR REPLACE FUNCTION drover.end_doors(an_account text) RETURNS void
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
    PERFORM drover.end_questions(an_account);
    PERFORM drover.end_database_login(an_account);
END $$;

-- Whose logins of the database there are, for administrators: they are told whose a fleet or a role ends.
CREATE FUNCTION drover.logins_administered() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
    SELECT l.account FROM drover.account_login l WHERE 'administrator' = ANY (drover.sight_roles()) ORDER BY 1
$$;

REVOKE EXECUTE ON FUNCTION drover.question_asker(text), drover.question_name(text), drover.end_questions(text), drover.logins_administered() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.logins_administered() TO drover_page;
GRANT EXECUTE ON FUNCTION drover.question_asker(text) TO drover_query;
