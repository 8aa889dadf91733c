-- What is held of a person: read, carried away and erased. And off-boarding: an account that ends does so at every door at once, whoever
-- says it and where.

-- Every table is named here once: with the rows of it that are about an account ($1), and what of them is nobody's to read (secrets,
-- and content that comes as a file); or with why it holds none. Erasing and taking one's data away go by the same list. Who asked for a code is
-- left out, an address may be of others.
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
        ('car_support car_watch debug_log live_trip machine_reading machine_rejudging machine_spreading vehicle_day watched', 'of vehicles, whoever drives'),
        ('dispatch_decision', 'why a vehicle drives where: the rides are in `ride`'),
        ('forward_pause notice_event rule_set trip_rules', 'of all'),
        ('geocode travel_leg travel_line trip_weather weather_hour', 'answers about places, whoever asked'),
        ('mail_file', 'reports that wait with their mail: they are in `report_run`'),
        ('outbox', 'on its way to topics: the same as in other tables'),
        ('sighting_week species_season taxon taxon_name', 'sums, and names of species'),
        ('tour_day tour_event', 'visits of phones that nobody names'), ('tour_package tour_package_part', 'made of `tour_version`')
        ) AS named (relations, why_not), unnest(string_to_array(named.relations, ' ')) AS none (relation)
$list$;
REVOKE EXECUTE ON FUNCTION drover.person_data() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.person_data() TO drover_api;

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
REVOKE EXECUTE ON FUNCTION drover.rows_of_person(an_account text, a_relation text, is_sight boolean) FROM PUBLIC;

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
REVOKE EXECUTE ON FUNCTION drover.files_of_person(an_account text) FROM PUBLIC;

CREATE FUNCTION drover.own_files(a_session bytea) RETURNS TABLE (name text, content bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT f.name, f.content FROM drover.files_of_person(drover.open_account(a_session)) AS f
$$;
REVOKE EXECUTE ON FUNCTION drover.own_files(a_session bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.own_files(a_session bytea) TO drover_api;

-- What an account came in by, what is on its way to it, and its questions. What a relay has in its hands at this moment it asks about once more
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
    PERFORM drover.end_questions(an_account);
    PERFORM drover.end_database_login(an_account);
END $$;
REVOKE EXECUTE ON FUNCTION drover.end_doors(an_account text) FROM PUBLIC;

-- False: there is no such account.
CREATE FUNCTION drover.disable_account(an_account text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.account a SET disabled_at = coalesce(a.disabled_at, now()) WHERE a.account = an_account;
    IF NOT FOUND THEN RETURN false; END IF;
    PERFORM drover.end_doors(an_account);
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.disable_account(an_account text) FROM PUBLIC;

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
REVOKE EXECUTE ON FUNCTION drover.enable_account(an_account text) FROM PUBLIC;

-- Forgets who it was. The id stays, disabled: results name it. False: there is no such account.
CREATE FUNCTION drover.erase_account(an_account text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT drover.erase_all_but_log(an_account) THEN RETURN false; END IF;
    PERFORM drover.audit_forget(an_account);
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.erase_account(an_account text) FROM PUBLIC;

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
REVOKE EXECUTE ON FUNCTION drover.administer_erasure(an_account text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.administer_erasure(an_account text) TO drover_page;

CREATE FUNCTION drover.erase_all_but_log(an_account text) RETURNS boolean
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
REVOKE EXECUTE ON FUNCTION drover.erase_all_but_log(an_account text) FROM PUBLIC;

-- Whose role is taken keeps no app password that it allowed; nor a token of the operator's for what the role that was taken let the account do:
-- exports and questions, which ask for no role at each request. What an operator gave to an account that never had such a role stays.
CREATE FUNCTION drover.revoke_beyond_roles() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept text[] := drover.own_scopes(NEW.roles);
    taken text[] := ARRAY(SELECT had.scope FROM unnest(drover.own_scopes(OLD.roles)) AS had(scope)
        WHERE had.scope <> ALL (kept) AND had.scope IN ('export', 'query'));
BEGIN
    UPDATE drover.token t SET revoked_at = now()
        WHERE t.account = NEW.account AND t.revoked_at IS NULL AND (t.is_own AND NOT t.scopes <@ kept OR t.scopes && taken);
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION drover.revoke_beyond_roles() FROM PUBLIC;

-- Which of these streams go on, by their places from 1: what each was opened with, a session or a token, holds still, and a session's
-- account is still who it was on the campus ('': it was nobody there) and has the roles that it had when it asked (with commas between them):
-- a page's stream went on for a quarter of an hour, and the answer of a question went out. Of a token the trigger revoke_beyond_roles sees to
-- that. Asked with each heartbeat.
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
REVOKE EXECUTE ON FUNCTION drover.streams_that_hold(the_keys bytea[], the_campuses text[], the_people text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.streams_that_hold(the_keys bytea[], the_campuses text[], the_people text[]) TO drover_api;

CREATE FUNCTION drover.streams_that_hold(the_keys bytea[], the_campuses text[], the_people text[], the_roles text[]) RETURNS SETOF int
LANGUAGE sql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT w.place::int FROM unnest(the_keys, the_campuses, the_people, the_roles) WITH ORDINALITY AS w(key, campus, person, roles, place)
    WHERE EXISTS (SELECT FROM drover.account_session s JOIN drover.account a USING (account)
            WHERE s.digest = w.key AND drover.is_session_open(s) AND a.disabled_at IS NULL AND string_to_array(w.roles, ',') <@ a.roles
                AND (w.campus = '' OR EXISTS (
                    SELECT FROM drover.person_account b JOIN drover.person p USING (campus, person)
                    WHERE b.campus = w.campus AND b.person = w.person AND b.account = a.account AND p.role = ANY (a.roles)
                        AND p.left_at IS NULL AND p.disabled_at IS NULL)))
        OR EXISTS (SELECT FROM drover.token t LEFT JOIN drover.account a USING (account)
            WHERE t.digest = w.key AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now()) AND a.disabled_at IS NULL)
        OR EXISTS (SELECT FROM drover.person_token t JOIN drover.person p USING (campus, person)
            WHERE t.digest = w.key AND t.revoked_at IS NULL AND t.expires_at > now() AND p.left_at IS NULL AND p.disabled_at IS NULL)
$$;
REVOKE EXECUTE ON FUNCTION drover.streams_that_hold(the_keys bytea[], the_campuses text[], the_people text[], the_roles text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.streams_that_hold(the_keys bytea[], the_campuses text[], the_people text[], the_roles text[]) TO drover_api, drover_query;

CREATE TRIGGER revoke_beyond_roles AFTER UPDATE OF roles ON drover.account FOR EACH ROW WHEN ((old.roles IS DISTINCT FROM new.roles)) EXECUTE FUNCTION drover.revoke_beyond_roles();
