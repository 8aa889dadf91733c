-- Cars of a partition that are judged again because its clock was set back: those whose latest reading is not before since_at. They are
-- noted in car_watch some at each tick, in the order of their names (docs/decisions/0011-what-drivers-are-told.md). Two rows a partition at
-- most: what goes on, and what was asked for since.
CREATE TABLE drover.car_spreading (
    topic_partition int         NOT NULL,
    asked_offset    bigint      NOT NULL,    -- the record that asked for it first
    since_at        timestamptz NOT NULL,
    after_vehicle   text,                    -- up to this car they are noted; NULL: none is
    PRIMARY KEY (topic_partition, asked_offset)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.car_spreading TO drover_writer;

-- Limits of the installation in whose place others of the same time were set, until these have come to all cars of the partition
-- (docs/decisions/0028-limits-of-the-installation.md): two of one time at most. The one said last stands in account_settings, whose
-- columns these are.
CREATE TABLE drover.replaced_limits (
    topic_partition    int         NOT NULL,
    in_force_at        timestamptz NOT NULL,
    record_id          text        NOT NULL,
    settings           text        NOT NULL,
    record_offset      bigint      NOT NULL,
    judged_from_at     timestamptz NOT NULL,
    reached_vehicle    text,
    reached_all_offset bigint,
    PRIMARY KEY (topic_partition, in_force_at, record_id)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.replaced_limits TO drover_writer;

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
