-- What people say of alerts beside having seen them: who takes care of one, a comment, that nobody has it any more, that it is not to be told.
-- Each is a record on the log of its vehicle (docs/machines.md), so a replay writes the same rows.
CREATE TABLE drover.alert_triage (
    vehicle   text        NOT NULL,
    record_id text        NOT NULL,
    alert_id  text        NOT NULL,
    said_at   timestamptz NOT NULL,
    said_by   text        NOT NULL,
    word      text        NOT NULL CHECK (word IN ('assigned', 'comment', 'reopened', 'muted')),
    account   text,                          -- who is to take care of it; NULL: nobody
    until_at  timestamptz,                   -- muted until then; NULL: until it is over
    note      text,
    PRIMARY KEY (vehicle, record_id)
);
CREATE INDEX alert_triage_by_alert ON drover.alert_triage (alert_id, said_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.alert_triage TO drover_writer;
GRANT SELECT ON drover.alert_triage TO drover_reader, drover_relay, drover_sight;
ALTER TABLE drover.alert_triage ENABLE ROW LEVEL SECURITY;
DO $$
DECLARE
    holder text;
BEGIN
    FOREACH holder IN ARRAY ARRAY[
        'drover_api', 'drover_debug', 'drover_gateway', 'drover_reader', 'drover_relay', 'drover_researcher', 'drover_survey', 'drover_writer']
    LOOP
        EXECUTE format('CREATE POLICY %I ON drover.alert_triage TO %I USING (true) WITH CHECK (true)', 'all_rows_of_' || holder, holder);
    END LOOP;
END $$;
CREATE POLICY sight ON drover.alert_triage FOR SELECT TO drover_sight USING (
    (SELECT drover.sees_all()) OR EXISTS (SELECT FROM drover.alert a WHERE a.alert_id = alert_triage.alert_id));

-- Alerts that are over, the latest first.
CREATE INDEX alert_resolved ON drover.alert (resolved_at, alert_id) WHERE state = 'resolved';

-- Alerts as people see them: who has seen them first since nobody had them, with whom they are, and whether somebody wants not to be told.
-- Of two silences of one scope the later one counts, so that one that ends now takes the other back; so it is with mutes of one alert.
-- Services are counted in engine hours (docs/machines.md), and nothing else is.
CREATE OR REPLACE VIEW drover.alert_now WITH (security_invoker) AS
 SELECT alert.alert_id,
    alert.vehicle,
    alert.model,
    alert.parameter,
    alert.unit,
    alert.severity,
    alert.state,
    alert.test,
    alert.threshold,
    alert.since_at,
    alert.opened_at,
    alert.opening_value,
    alert.worst_value,
    alert.worst_at,
    alert.resolved_at,
    alert.audience,
    alert.recommended,
    alert.advice,
    alert.rules_version,
    alert.first_opened_at,
    alert.revision,
    alert.revised_at,
    alert.told_at,
    alert.resolved_told_at,
    alert.kind,
    alert.account,
    seen.acknowledged_at,
    seen.acknowledged_by,
    seen.note AS acknowledgement_note,
    CASE WHEN mute.is_later THEN mute.until_at ELSE silence.until_at END AS silenced_until_at,
    CASE WHEN mute.is_later THEN mute.said_by ELSE silence.silenced_by END AS silenced_by,
    with_whom.account AS assigned_to,
    with_whom.said_at AS assigned_at,
    with_whom.said_by AS assigned_by,
    coalesce(mute.is_later AND mute.is_to_its_end, false) AS is_muted_to_its_end,
    (alert.kind = 'machine' AND alert.parameter = 'Engine Hours' AND alert.test = 'above') AS is_service
   FROM ((drover.alert
     LEFT JOIN LATERAL ( SELECT a.acknowledged_at,
            a.acknowledged_by,
            a.note
           FROM drover.acknowledgement a
          WHERE ((a.alert_id = alert.alert_id) AND (a.vehicle = alert.vehicle))
            AND NOT EXISTS (SELECT FROM drover.alert_triage t
                WHERE t.alert_id = a.alert_id AND t.vehicle = a.vehicle AND t.word = 'reopened' AND t.said_at >= a.acknowledged_at)
          ORDER BY a.acknowledged_at, a.record_id
         LIMIT 1) seen ON (true))
     LEFT JOIN LATERAL ( SELECT s.until_at,
            s.silenced_by
           FROM ( SELECT DISTINCT ON (s_1.vehicle, s_1.model, s_1.parameter) s_1.until_at,
                    s_1.silenced_by
                   FROM drover.silence s_1
                  WHERE ((s_1.from_at <= now()) AND ((s_1.vehicle IS NULL) OR (s_1.vehicle = alert.vehicle)) AND ((s_1.model IS NULL) OR (s_1.model = alert.model)) AND ((s_1.parameter IS NULL) OR (s_1.parameter = alert.parameter)))
                  ORDER BY s_1.vehicle, s_1.model, s_1.parameter, s_1.from_at DESC, s_1.record_id DESC) s
          WHERE (s.until_at > now())
          ORDER BY s.until_at DESC
         LIMIT 1) silence ON (true))
     LEFT JOIN LATERAL ( SELECT t.account, t.said_at, t.said_by
           FROM drover.alert_triage t
          WHERE t.alert_id = alert.alert_id AND t.vehicle = alert.vehicle AND t.word = 'assigned'
          ORDER BY t.said_at DESC, t.record_id DESC
         LIMIT 1) with_whom ON (with_whom.account IS NOT NULL)
     LEFT JOIN LATERAL ( SELECT m.until_at, m.said_by, m.is_to_its_end,
            m.until_at > now() AND m.until_at > coalesce(silence.until_at, '-infinity') AS is_later
           FROM ( SELECT coalesce(t.until_at, '2100-01-01 00:00:00+00') AS until_at, t.until_at IS NULL AS is_to_its_end, t.said_by
                   FROM drover.alert_triage t
                  WHERE t.alert_id = alert.alert_id AND t.vehicle = alert.vehicle AND t.word = 'muted' AND t.said_at <= now()
                  ORDER BY t.said_at DESC, t.record_id DESC
                 LIMIT 1) m) mute ON (true);

CREATE OR REPLACE VIEW analyst.alert WITH (security_invoker) AS
SELECT a.alert_id, a.kind, a.vehicle, a.model, a.account, a.parameter, a.unit, a.severity, a.state, a.test, a.threshold, a.since_at, a.opened_at,
    a.opening_value, a.worst_value, a.worst_at, a.resolved_at, a.told_at, a.resolved_told_at, a.audience, a.recommended, a.advice,
    a.rules_version, a.revision, a.revised_at, seen.acknowledged_at, seen.acknowledged_by,
    extract(epoch FROM a.resolved_at - a.opened_at)::double precision AS open_s
FROM drover.alert a
LEFT JOIN LATERAL (
    SELECT k.acknowledged_at, k.acknowledged_by FROM drover.acknowledgement k
    WHERE k.alert_id = a.alert_id AND k.vehicle = a.vehicle
        AND NOT EXISTS (SELECT FROM drover.alert_triage t
            WHERE t.alert_id = k.alert_id AND t.vehicle = k.vehicle AND t.word = 'reopened' AND t.said_at >= k.acknowledged_at)
    ORDER BY k.acknowledged_at, k.record_id LIMIT 1) seen ON true;

CREATE OR REPLACE FUNCTION drover.may_write_car(an_account text, the_roles text[], a_deed text, a_vehicle text, a_begin timestamptz, an_end timestamptz) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first_owner text := drover.car_owner_at(a_vehicle, a_begin);
    last_owner text := drover.car_owner_at(a_vehicle, an_end);
    has_others boolean := EXISTS (SELECT FROM drover.car_owner o WHERE o.vehicle = a_vehicle AND o.owned_at > a_begin AND o.owned_at <= an_end
        AND o.account <> an_account);
BEGIN
    IF first_owner = an_account AND last_owner = an_account AND NOT has_others THEN RETURN 'yes'; END IF;
    -- A drive often begins before somebody enters who takes the car: up to an hour of it to either side.
    IF EXISTS (SELECT FROM drover.assigned_spans(a_vehicle) s WHERE s.account = an_account AND s.from_at <= an_end AND s.until_at > a_begin
            AND s.from_at - interval '1 hour' <= a_begin AND s.until_at + interval '1 hour' >= an_end) THEN RETURN 'yes'; END IF;
    -- To have a car's health looked at, and to take care of its alerts, is for who keeps it, too.
    IF a_deed IN ('ask', 'alert') AND the_roles && ARRAY['farmer', 'fleet_manager'] AND drover.is_of_its_fleet(an_account, 'car', a_vehicle) THEN RETURN 'yes'; END IF;
    IF first_owner IS NOT NULL OR last_owner IS NOT NULL OR has_others THEN RETURN 'no'; END IF;
    IF drover.is_of_its_fleet(an_account, 'car', a_vehicle) AND the_roles && ARRAY['farmer', 'fleet_manager'] THEN RETURN 'yes'; END IF;
    -- From here on it is nobody's own: neither who was assigned to it then, nor of trips who drove.
    IF EXISTS (SELECT FROM drover.assigned_spans(a_vehicle) s WHERE s.account <> an_account AND s.from_at <= an_end AND s.until_at > a_begin)
        OR (a_deed = 'trip' AND EXISTS (SELECT FROM drover.driving d WHERE d.vehicle = a_vehicle AND d.account <> an_account
            AND d.from_at <= an_end AND d.until_at >= a_begin))
    THEN RETURN 'no'; END IF;
    IF EXISTS (SELECT FROM drover.fleet_vehicle v WHERE v.kind = 'car' AND v.vehicle = a_vehicle) THEN
        RETURN CASE WHEN drover.is_of_its_fleet(an_account, 'car', a_vehicle) AND 'driver' = ANY (the_roles) THEN 'yes' ELSE 'no' END;
    END IF;
    RETURN drover.may_write_free(an_account, 'car', a_vehicle);
END $$;

-- Whom the reader can give this alert to: people they know who may take care of it. None: it is not the reader's to give.
CREATE FUNCTION drover.alert_people(an_alert text) RETURNS TABLE (account text, name text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
    WITH asked AS MATERIALIZED (
        SELECT a.kind, a.vehicle, a.audience, a.account AS driver FROM drover.alert a
        WHERE a.alert_id = an_alert AND drover.may_do('alert', a.kind, a.vehicle, now(), now())
    ), colleague AS MATERIALIZED (
        SELECT c.account FROM drover.colleagues() c
    ), known AS (
        SELECT drover.sight_account() AS account
        UNION
        SELECT m.account FROM asked JOIN drover.fleet_vehicle v ON v.kind = asked.kind AND v.vehicle = asked.vehicle
            JOIN drover.fleet f ON f.fleet = v.fleet JOIN drover.fleet_member m ON m.fleet IN (f.fleet, f.part_of)
            WHERE drover.sees_all() OR m.account IN (SELECT c.account FROM colleague c)
        UNION
        SELECT d.dealer FROM asked JOIN drover.dealership d ON d.vehicle = asked.vehicle
            WHERE asked.kind = 'machine' AND d.confirmed_at IS NOT NULL AND d.ended_at IS NULL
                AND (drover.sees_all() OR drover.is_of_its_fleet(drover.sight_account(), 'machine', asked.vehicle))
        UNION
        SELECT asked.driver FROM asked
        UNION
        SELECT p.account FROM drover.account p WHERE drover.sees_all() AND p.roles && ARRAY['operator', 'administrator']
    )
    SELECT p.account, trim(p.first_name || ' ' || p.last_name)
    FROM known JOIN drover.account p USING (account) CROSS JOIN asked
    WHERE p.disabled_at IS NULL
        AND (p.roles && ARRAY['farmer', 'dealer', 'developer', 'fleet_manager', 'operator', 'administrator']
            OR (asked.kind = 'car' AND 'driver' = ANY (p.roles)))
        AND (asked.audience = 'farmer' OR p.roles && ARRAY['developer', 'operator', 'administrator']
            OR (asked.audience = 'dealer' AND 'dealer' = ANY (p.roles)))
        AND drover.may_write(p.account, 'alert', asked.kind, asked.vehicle, now(), now()) = 'yes'
    ORDER BY 2, 1 LIMIT 200
$$;
REVOKE EXECUTE ON FUNCTION drover.alert_people(an_alert text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.alert_people(an_alert text) TO drover_page;

-- Who was told of this alert, and on which way, or why not: the reader's own notices, and, to whoever may take care of it, those of people
-- they know. The latest come first.
CREATE FUNCTION drover.alert_told(an_alert text) RETURNS TABLE (account text, name text, occasion text, state text, reason text,
    decided_at timestamptz, due_at timestamptz, channel text, message_state text, message_at timestamptz, link_used_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
    SELECT n.account, trim(p.first_name || ' ' || p.last_name), n.occasion, n.state, n.reason, n.decided_at, n.due_at, m.channel, m.state,
        coalesce(m.settled_at, m.made_at), m.link_used_at
    FROM drover.notice n
    JOIN drover.alert a ON a.alert_id = n.alert_id
    LEFT JOIN drover.account p ON p.account = n.account
    LEFT JOIN drover.notice_told t ON t.notice_id = n.notice_id
    LEFT JOIN drover.notice_message m ON m.message_id = t.message_id
    WHERE n.alert_id = an_alert AND (n.account = drover.sight_account() OR drover.sees_all()
        OR (drover.may_do('alert', a.kind, a.vehicle, now(), now()) AND n.account IN (SELECT c.account FROM drover.colleagues() c)))
    ORDER BY n.decided_at DESC, n.account, n.notice_id, m.channel LIMIT 200
$$;
REVOKE EXECUTE ON FUNCTION drover.alert_told(an_alert text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.alert_told(an_alert text) TO drover_page;

-- Every table is named here once: with the rows of it that are about an account ($1), and what of them is nobody's to read (secrets,
-- and content that comes as a file); or with why it holds none. Erasing and taking one's data away go by the same list.
CREATE OR REPLACE FUNCTION drover.person_data() RETURNS TABLE (relation text, condition text, left_out text[], why_not text)
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
        ('alert_triage', '$1 IN (r.said_by, r.account)', ''),
        ('audit_name', 'account', 'digest salt'), ('audit_tally', '$1 IN (r.actor, r.subject)', 'key'),
        ('audit_entry', 'EXISTS (SELECT FROM drover.audit_name n WHERE n.account = $1 AND n.digest IN (r.actor, r.subject))', 'hash'),
        ('assignment', 'r.account = $1 OR r.assigned_by = $1', ''), ('car_owner', 'account', ''), ('code_request', 'bound', 'asker'),
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
        ('car_spreading car_support car_watch debug_log live_trip machine_reading machine_rejudging machine_spreading vehicle_day watched', 'of vehicles, whoever drives'),
        ('dispatch_decision', 'why a vehicle drives where: the rides are in `ride`'),
        ('forward_pause notice_event replaced_limits rule_set trip_rules', 'of all'),
        ('geocode travel_leg travel_line trip_weather weather_hour', 'answers about places, whoever asked'),
        ('mail_file', 'reports that wait with their mail: they are in `report_run`'),
        ('outbox', 'on its way to topics: the same as in other tables'),
        ('sighting_week species_season taxon taxon_name', 'sums, and names of species'),
        ('tour_day tour_event', 'visits of phones that nobody names'), ('tour_package tour_package_part', 'made of `tour_version`')
        ) AS named (relations, why_not), unnest(string_to_array(named.relations, ' ')) AS none (relation)
$list$;
