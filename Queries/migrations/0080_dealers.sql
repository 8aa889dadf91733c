-- A dealer's own class and tags of a machine that was confirmed to them: nobody's but theirs, neither the owner's nor an administrator's.
-- No result: it stands in a table that the page changes, and on no topic. It ends with the dealership.
CREATE TABLE drover.dealer_mark (
    account    text        NOT NULL REFERENCES drover.account (account),
    vehicle    text        NOT NULL CHECK (vehicle ~ '^[A-Za-z0-9._-]{1,64}$'),
    class      text        CHECK (octet_length(class) BETWEEN 1 AND 64),
    tags       text[]      NOT NULL DEFAULT '{}' CHECK (cardinality(tags) <= 20 AND array_position(tags, NULL) IS NULL),
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account, vehicle),
    CHECK (class IS NOT NULL OR cardinality(tags) > 0)
);
ALTER TABLE drover.dealer_mark ENABLE ROW LEVEL SECURITY;
-- Programs that read all ask the same queries: they may, and there is no policy for them, so they see no row.
GRANT SELECT ON drover.dealer_mark TO drover_reader, drover_sight;
CREATE POLICY own ON drover.dealer_mark FOR SELECT TO drover_sight USING (
    (account = (SELECT drover.sight_account())) AND (vehicle IN (SELECT drover.seen_partly('machine'))));

-- Sets the class and tags of these machines, all or none. `new_class`: empty: none. `keeps_tags`: `some_tags` come to those that are there,
-- without `less_tags`; else they replace them. Says `done`, or why not: `not yours` (one of them was not confirmed to the asker), `tags` (more
-- than a machine may have, or too long), `too many` (machines of the account).
CREATE FUNCTION drover.mark_machines(
    the_vehicles text[], keeps_class boolean, new_class text, keeps_tags boolean, some_tags text[], less_tags text[]) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    me text := drover.sight_account();
    wanted text[] := ARRAY(SELECT DISTINCT v FROM unnest(the_vehicles) AS v LIMIT 501);
    held int;
BEGIN
    IF me IS NULL OR NOT 'dealer' = ANY (drover.sight_roles()) OR cardinality(wanted) NOT BETWEEN 1 AND 500 THEN RETURN 'not yours'; END IF;
    IF cardinality(some_tags) > 20 OR EXISTS (SELECT FROM unnest(some_tags) AS t WHERE t IS NULL OR octet_length(t) NOT BETWEEN 1 AND 64) THEN
        RETURN 'tags';
    END IF;
    PERFORM drover.take_turn('drover.dealership ' || me);
    -- Held until this is written: a dealership that ends meanwhile would leave its mark behind.
    PERFORM FROM drover.dealership d
        WHERE d.dealer = me AND d.vehicle = ANY (wanted) AND d.confirmed_at IS NOT NULL AND d.ended_at IS NULL FOR SHARE;
    GET DIAGNOSTICS held = ROW_COUNT;
    IF held <> cardinality(wanted) THEN RETURN 'not yours'; END IF;
    IF (SELECT count(*) FROM drover.dealer_mark m WHERE m.account = me AND m.vehicle <> ALL (wanted)) + held > 5000 THEN RETURN 'too many'; END IF;
    WITH said AS (
        SELECT w AS vehicle, CASE WHEN keeps_class THEN k.class ELSE nullif(new_class, '') END AS class, ARRAY(
            SELECT t.tag FROM (
                SELECT o.tag, o.place FROM unnest(CASE WHEN keeps_tags THEN coalesce(k.tags, '{}') ELSE '{}' END) WITH ORDINALITY AS o (tag, place)
                    WHERE o.tag <> ALL (less_tags)
                UNION ALL SELECT s.tag, 100 + s.place FROM unnest(some_tags) WITH ORDINALITY AS s (tag, place)) AS t
            GROUP BY t.tag ORDER BY min(t.place)) AS tags
        FROM unnest(wanted) AS w LEFT JOIN drover.dealer_mark k ON k.account = me AND k.vehicle = w
    ), bare AS (
        DELETE FROM drover.dealer_mark m USING said s
            WHERE m.account = me AND m.vehicle = s.vehicle AND s.class IS NULL AND cardinality(s.tags) = 0
    )
    INSERT INTO drover.dealer_mark AS m (account, vehicle, class, tags)
        SELECT me, s.vehicle, s.class, s.tags FROM said s WHERE s.class IS NOT NULL OR cardinality(s.tags) > 0
        ON CONFLICT (account, vehicle) DO UPDATE SET class = EXCLUDED.class, tags = EXCLUDED.tags, changed_at = now();
    RETURN 'done';
EXCEPTION WHEN check_violation THEN
    RETURN 'tags';
END $$;
REVOKE EXECUTE ON FUNCTION drover.mark_machines(text[], boolean, text, boolean, text[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.mark_machines(text[], boolean, text, boolean, text[], text[]) TO drover_page;

-- With the dealership go the marks, whoever ends it: the owner, the dealer, or an erasure.
CREATE FUNCTION drover.forget_marks() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM drover.dealer_mark m WHERE m.account = OLD.dealer AND m.vehicle = OLD.vehicle;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION drover.forget_marks() FROM PUBLIC;
CREATE TRIGGER dealership_forget AFTER UPDATE OF ended_at ON drover.dealership
    FOR EACH ROW WHEN (NEW.ended_at IS NOT NULL AND OLD.ended_at IS NULL) EXECUTE FUNCTION drover.forget_marks();

-- What is asked of a box; NULL: readings, as before this migration.
ALTER TABLE drover.poll_request ADD COLUMN wants text CHECK (wants = 'debug_log');

-- The common tags are the owner's: of a registration a dealer changes nothing. By this name for the program before this migration.
CREATE OR REPLACE FUNCTION drover.tags_vehicle(a_kind text, a_vehicle text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.keeps(a_kind, a_vehicle)
$$;

-- A photo of a single machine, by who keeps it or by its dealer: for whoever knows the machine. No result, and on no topic.
CREATE TABLE drover.machine_photo (
    vehicle    text        PRIMARY KEY CHECK (vehicle ~ '^[A-Za-z0-9._-]{1,64}$'),
    account    text        NOT NULL REFERENCES drover.account (account),
    photo      text        NOT NULL CHECK (photo ~ '^[0-9a-f]{64}$'),  -- digest of the content
    media_type text        NOT NULL CHECK (media_type IN ('image/jpeg', 'image/png', 'image/webp')),
    content    bytea       NOT NULL CHECK (octet_length(content) <= 524288),
    kept_at    timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE drover.machine_photo ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON drover.machine_photo TO drover_page;
CREATE POLICY sight ON drover.machine_photo FOR SELECT TO drover_page USING (
    (SELECT drover.sees_all()) OR (vehicle IN (SELECT drover.known('machine'))));

-- Who keeps the machine replaces and takes away any photo of it; its dealer their own.
CREATE FUNCTION drover.may_photograph(a_vehicle text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.keeps('machine', a_vehicle) OR (a_vehicle IN (SELECT drover.seen_partly('machine'))
        AND NOT EXISTS (SELECT FROM drover.machine_photo p WHERE p.vehicle = a_vehicle AND p.account <> drover.sight_account()))
$$;
REVOKE EXECUTE ON FUNCTION drover.may_photograph(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.may_photograph(text) TO drover_page;

-- False: it is not theirs to photograph. Without content the photo goes.
CREATE FUNCTION drover.keep_machine_photo(a_vehicle text, a_photo text, a_type text, a_content bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM drover.take_turn('drover.vehicle_change machine ' || a_vehicle);
    IF drover.sight_account() IS NULL OR drover.may_photograph(a_vehicle) IS NOT TRUE THEN RETURN false; END IF;
    IF a_content IS NULL THEN
        DELETE FROM drover.machine_photo p WHERE p.vehicle = a_vehicle;
    ELSE
        INSERT INTO drover.machine_photo AS p (vehicle, account, photo, media_type, content)
            VALUES (a_vehicle, drover.sight_account(), a_photo, a_type, a_content)
            ON CONFLICT (vehicle) DO UPDATE SET account = EXCLUDED.account, photo = EXCLUDED.photo, media_type = EXCLUDED.media_type,
                content = EXCLUDED.content, kept_at = now();
    END IF;
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.keep_machine_photo(text, text, text, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.keep_machine_photo(text, text, text, bytea) TO drover_page;

-- Pictures, films and reports, each a file.
CREATE OR REPLACE FUNCTION drover.files_of_person(an_account text) RETURNS TABLE (name text, content bytea)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'survey_photo/' || p.photo || '.' || split_part(p.media_type, '/', 2), p.content FROM drover.survey_photo p WHERE p.account = an_account
    UNION ALL
    SELECT 'person_photo/' || p.campus || '-' || p.photo || '.' || split_part(p.media_type, '/', 2), p.content
        FROM drover.person_photo p JOIN drover.person_account b USING (campus, person) WHERE b.account = an_account
    UNION ALL
    SELECT 'tour_medium/' || m.tour || '-' || m.medium || '.' || split_part(m.media_type, '/', 2), m.content
        FROM drover.tour_medium m JOIN drover.tour t USING (tour) WHERE t.account = an_account
    UNION ALL
    SELECT 'machine_photo/' || p.vehicle || '.' || split_part(p.media_type, '/', 2), p.content FROM drover.machine_photo p WHERE p.account = an_account
    UNION ALL
    SELECT 'report_run/' || u.schedule_id || '-' || to_char(u.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD-HH24MI') || '-' || u.name, u.content
        FROM drover.report_run u JOIN drover.report_schedule s USING (schedule_id) WHERE s.account = an_account AND u.content IS NOT NULL
$$;

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
        ('dealer_mark', 'account', ''), ('dealership', '$1 IN (r.dealer, r.confirmed_by, r.ended_by)', ''), ('driving', 'account', ''), ('first_writer', 'account', ''),
        ('fleet_member', 'account', ''), ('forward', 'account', ''), ('health_scan', '$1 IN (r.asked_by, r.scanned_by)', ''),
        ('machine_photo', 'account', 'content'),
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
