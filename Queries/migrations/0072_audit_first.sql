-- The audit log before the deed: what had no entry gets one, programs of administrators read it, and a password that was not looked at is
-- no try of its account (docs/audit.md, docs/accounts.md).

-- MARK: what had no entry

-- As in 0067; reports that schedules mail are counted, too. Who is held to an account's sight is that account, whatever is said. A subject with an @ is a mail
-- address, of which only the account is kept that has it.
CREATE OR REPLACE FUNCTION drover.audit_record(an_action text, an_actor text, a_subject text, a_remote text, a_detail text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    whose text;
BEGIN
    -- Before the head, always: `audit_forget`.
    LOCK TABLE drover.audit_tally IN ROW EXCLUSIVE MODE;
    an_actor := coalesce(nullif(current_setting('drover.account', true), ''), an_actor, nullif(current_setting('drover.audit_by', true), ''));
    IF position('@' IN a_subject) > 0 THEN
        a_subject := (SELECT a.account FROM drover.account a WHERE lower(a.mail) = lower(a_subject));
    END IF;
    CASE an_action
    -- What anybody may do as often as they like.
    WHEN 'log_in', 'log_out', 'session_ended' THEN
        PERFORM drover.audit_count(an_action, interval '1 minute', 60, coalesce(an_actor, a_subject), NULL, a_remote, a_detail);
    WHEN 'report_run', 'report_mailed', 'query_run', 'export_taken' THEN
        PERFORM drover.audit_count(an_action, interval '1 hour', 200, an_actor, a_subject, a_remote, a_detail);
    WHEN 'log_in_failed' THEN
        PERFORM drover.audit_count(an_action, interval '1 minute', 30, NULL, a_subject, a_remote, a_detail);
    WHEN 'data_seen' THEN
        whose := drover.audit_seen_owner(an_actor, a_detail::jsonb);
        IF whose IS NULL THEN RETURN; END IF;
        PERFORM drover.audit_count(an_action, interval '1 hour', 500, an_actor, nullif(whose, '-'), a_remote, a_detail);
    WHEN 'log_shortened', 'account_erased' THEN
        RAISE EXCEPTION 'only the owner of the database says %', an_action USING ERRCODE = 'insufficient_privilege';
    ELSE
        PERFORM drover.audit_append(an_action, an_actor, a_subject, a_remote, a_detail);
    END CASE;
    PERFORM drover.audit_close();
END $$;
-- Reports that fall due are told by the relay that makes them.
GRANT EXECUTE ON FUNCTION drover.audit_record(text, text, text, text, text) TO drover_relay;

-- Tokens of people of campuses, whoever makes or ends them. Somebody of a roster is `campus/person`, who need not have an account.
CREATE FUNCTION drover.audit_person_token() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    by_account text := coalesce(nullif(current_setting('drover.account', true), ''), nullif(current_setting('drover.audit_by', true), ''));
    login jsonb := CASE WHEN nullif(current_setting('drover.account', true), '') IS NULL THEN jsonb_build_object('login', session_user) ELSE '{}' END;
    its_role text := (SELECT p.role FROM drover.person p WHERE p.campus = NEW.campus AND p.person = NEW.person);
BEGIN
    PERFORM drover.audit_append(CASE TG_OP WHEN 'INSERT' THEN 'campus_token_added' ELSE 'campus_token_revoked' END, by_account,
        NEW.campus || '/' || NEW.person, NULL,
        (jsonb_build_object('campus', NEW.campus, 'role', its_role, 'token', left(encode(NEW.digest, 'hex'), 12)) || login)::text);
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION drover.audit_person_token() FROM PUBLIC;
CREATE CONSTRAINT TRIGGER audit_added AFTER INSERT ON drover.person_token
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION drover.audit_person_token();
CREATE CONSTRAINT TRIGGER audit_revoked AFTER UPDATE OF revoked_at ON drover.person_token
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL)
    EXECUTE FUNCTION drover.audit_person_token();

-- As in 0065; what it moves between fleets stands in the log.
CREATE OR REPLACE FUNCTION drover.change_vehicle(
    a_kind text, a_vehicle text, based_on text, new_record text, the_fleets text[], an_owner text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    me text := drover.sight_account();
    is_administrator boolean := 'administrator' = ANY (drover.sight_roles());
    has_fleets boolean := drover.sight_roles() && ARRAY['farmer', 'fleet_manager'];
    is_keeper boolean := coalesce(drover.keeps(a_kind, a_vehicle), false);
    registered record;
    last record;
    own_fleet text;
    left_fleet text; joined_fleet text;
    left_fleets text[] := '{}'; joined_fleets text[] := '{}';
BEGIN
    IF me IS NULL OR NOT drover.sight_roles() && ARRAY['farmer', 'fleet_manager', 'driver', 'dealer', 'administrator'] THEN RETURN 'not yours'; END IF;
    PERFORM drover.take_turn('drover.vehicle_change ' || a_kind || ' ' || a_vehicle);
    SELECT r.record_id, r.account INTO registered FROM drover.registration r WHERE r.kind = a_kind AND r.vehicle = a_vehicle;
    SELECT c.record_id, c.account, c.changed_at INTO last FROM drover.vehicle_change c WHERE c.kind = a_kind AND c.vehicle = a_vehicle;
    -- The same form again.
    IF last.record_id = new_record THEN
        IF last.account <> me THEN RETURN 'not yours'; END IF;
        RETURN CASE WHEN registered.record_id = new_record THEN 'done' ELSE 'taken' END;
    END IF;
    IF based_on = '' THEN
        IF registered.record_id IS NOT NULL THEN RETURN 'known'; END IF;
        IF NOT is_keeper AND drover.tags_vehicle(a_kind, a_vehicle) IS NOT TRUE THEN
            -- Whoever takes a free id sees what comes under it from then on; of one that is not free it would be another's past.
            IF EXISTS (SELECT FROM drover.first_writer w WHERE w.kind = a_kind AND w.vehicle = a_vehicle AND w.account <> me)
                OR last.record_id IS NOT NULL OR EXISTS (SELECT FROM drover.vehicle v WHERE v.kind = a_kind AND v.vehicle = a_vehicle)
                OR EXISTS (SELECT FROM drover.fleet_vehicle v WHERE v.kind = a_kind AND v.vehicle = a_vehicle)
                OR EXISTS (SELECT FROM drover.dealership d WHERE a_kind = 'machine' AND d.vehicle = a_vehicle AND d.confirmed_at IS NOT NULL)
            THEN RETURN 'known'; END IF;
            IF NOT (has_fleets OR (a_kind = 'car' AND 'driver' = ANY (drover.sight_roles()))) THEN RETURN 'not yours'; END IF;
            IF NOT is_administrator AND drover.ids_taken(me) >= 1000 THEN RETURN 'too many'; END IF;
            is_keeper := true;
        END IF;
    ELSE
        IF drover.tags_vehicle(a_kind, a_vehicle) IS NOT TRUE THEN RETURN 'not yours'; END IF;
        IF registered.record_id IS DISTINCT FROM based_on THEN RETURN 'changed'; END IF;
    END IF;
    -- One that is on its way still; after a minute it has failed.
    IF last.record_id <> coalesce(registered.record_id, '') AND last.changed_at > now() - interval '1 minute' THEN
        RETURN 'waiting';
    END IF;
    IF a_kind = 'car' AND an_owner IS DISTINCT FROM registered.account AND an_owner IS DISTINCT FROM me THEN
        IF NOT (has_fleets OR is_administrator) THEN RETURN 'owner'; END IF;
        IF an_owner IS NOT NULL AND NOT EXISTS (SELECT FROM drover.fleet_member m
                WHERE m.account = an_owner AND m.fleet IN (SELECT drover.kept_fleets())) THEN
            RETURN 'owner';
        END IF;
    END IF;
    IF is_keeper AND the_fleets IS NOT NULL THEN
        IF EXISTS (SELECT FROM unnest(the_fleets) wanted WHERE wanted NOT IN (SELECT drover.kept_fleets())) THEN RETURN 'fleet'; END IF;
        IF cardinality(the_fleets) = 0 AND has_fleets AND NOT is_administrator AND (a_kind = 'machine' OR an_owner IS DISTINCT FROM me) THEN
            -- Without a fleet nobody would see it. Who has none yet gets one.
            IF EXISTS (SELECT drover.kept_fleets()) THEN RETURN 'fleet'; END IF;
            own_fleet := me;
            IF EXISTS (SELECT FROM drover.fleet f WHERE f.fleet = own_fleet) THEN
                own_fleet := left(me, 50) || '-' || substr(md5(random()::text), 1, 8);
            END IF;
            INSERT INTO drover.fleet (fleet, name) VALUES (own_fleet, left('Vehicles of ' || me, 100));
            INSERT INTO drover.fleet_member (fleet, account) VALUES (own_fleet, me);
            the_fleets := ARRAY[own_fleet];
        END IF;
        WITH gone AS (
            DELETE FROM drover.fleet_vehicle v WHERE v.kind = a_kind AND v.vehicle = a_vehicle
                AND v.fleet IN (SELECT drover.kept_fleets()) AND v.fleet <> ALL (the_fleets) RETURNING v.fleet)
            SELECT coalesce(array_agg(g.fleet ORDER BY g.fleet), '{}') INTO left_fleets FROM gone g;
        WITH come AS (
            INSERT INTO drover.fleet_vehicle (fleet, kind, vehicle)
                SELECT DISTINCT wanted, a_kind, a_vehicle FROM unnest(the_fleets) wanted ON CONFLICT DO NOTHING RETURNING fleet_vehicle.fleet)
            SELECT coalesce(array_agg(c.fleet ORDER BY c.fleet), '{}') INTO joined_fleets FROM come c;
    END IF;
    INSERT INTO drover.vehicle_change (kind, vehicle, record_id, account) VALUES (a_kind, a_vehicle, new_record, me)
        ON CONFLICT (kind, vehicle) DO UPDATE SET record_id = EXCLUDED.record_id, account = EXCLUDED.account, changed_at = now();
    -- Last: the chain is held until the transaction ends. In the words of `drover fleet`.
    IF own_fleet IS NOT NULL THEN
        PERFORM drover.audit_record('fleet_changed', me, NULL, NULL, jsonb_build_object('fleet', own_fleet, 'is', 'made')::text);
    END IF;
    FOREACH left_fleet IN ARRAY left_fleets LOOP
        PERFORM drover.audit_record('fleet_changed', me, NULL, NULL, jsonb_build_object('fleet', left_fleet, 'taken', a_vehicle, 'kind', a_kind)::text);
    END LOOP;
    FOREACH joined_fleet IN ARRAY joined_fleets LOOP
        PERFORM drover.audit_record('fleet_changed', me, NULL, NULL, jsonb_build_object('fleet', joined_fleet, 'added', a_vehicle, 'kind', a_kind)::text);
    END LOOP;
    RETURN 'taken';
END $$;

-- Rules of pages are told before their files are written: this came when they were in force.
DROP TRIGGER audit ON drover.rule_edit;

-- MARK: who reads

-- As in 0068, with the audit log, for who sees its page.
CREATE OR REPLACE FUNCTION drover.own_scopes(the_roles text[]) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(scope ORDER BY place), '{}') FROM (VALUES
        (1, 'upload', ARRAY['farmer', 'driver', 'fleet_manager', 'operator', 'administrator']),
        (2, 'read', ARRAY['farmer', 'dealer', 'developer', 'driver', 'fleet_manager', 'dispatcher', 'analyst', 'operator', 'administrator']),
        (3, 'account', ARRAY['farmer', 'driver', 'fleet_manager', 'operator', 'administrator']),
        (4, 'survey', ARRAY['surveyor']),
        (5, 'export', ARRAY['researcher', 'analyst', 'administrator']),
        -- Who finds /query.
        (6, 'query', ARRAY['analyst', 'researcher', 'dispatcher', 'ranger', 'fleet_manager', 'developer', 'operator', 'administrator']),
        (7, 'audit', ARRAY['administrator'])) AS allowed (place, scope, roles)
        WHERE allowed.roles && the_roles
$$;

-- The log as programs of administrators collect it, the oldest first, with all that the hashes are over; filters that are NULL let all
-- through. Who is no administrator gets nothing.
CREATE FUNCTION drover.audit_listed(
    an_account text, the_actions text[], since_at timestamptz, until_at timestamptz, after_sequence bigint, most int)
RETURNS TABLE (sequence bigint, at_us bigint, action text, actor bytea, subject bytea, remote bytea, detail text, hash bytea,
    actor_said text, subject_said text, remote_said text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted bytea[];
BEGIN
    IF ('administrator' = ANY (drover.sight_roles())) IS NOT TRUE THEN RETURN; END IF;
    IF an_account IS NOT NULL THEN wanted := ARRAY(SELECT n.digest FROM drover.audit_name n WHERE n.said = an_account); END IF;
    RETURN QUERY SELECT e.sequence, (extract(epoch FROM e.at) * 1000000)::bigint, e.action, e.actor, e.subject, e.remote, e.detail, e.hash,
            a.said, s.said, r.said
        FROM drover.audit_entry e
        LEFT JOIN drover.audit_name a ON a.digest = e.actor
        LEFT JOIN drover.audit_name s ON s.digest = e.subject
        LEFT JOIN drover.audit_name r ON r.digest = e.remote
        WHERE (wanted IS NULL OR e.actor = ANY (wanted) OR e.subject = ANY (wanted))
            AND (the_actions IS NULL OR e.action = ANY (the_actions))
            AND (since_at IS NULL OR e.at >= since_at) AND (until_at IS NULL OR e.at < until_at)
            AND (after_sequence IS NULL OR e.sequence > after_sequence)
        ORDER BY e.sequence LIMIT least(most, 1001);
END $$;

-- Whether the asker reads the log at all.
CREATE FUNCTION drover.audit_is_read() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce('administrator' = ANY (drover.sight_roles()), false)
$$;
REVOKE EXECUTE ON FUNCTION drover.audit_listed(text, text[], timestamptz, timestamptz, bigint, int), drover.audit_is_read() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.audit_listed(text, text[], timestamptz, timestamptz, bigint, int), drover.audit_is_read() TO drover_page;

-- MARK: a password that nobody looked at

-- The newest such try counts for its address from now on, and for no account and no device: the server was too busy to look at the
-- password. A try that counts for a device alone stays with its address, too.
CREATE FUNCTION drover.leave_unchecked(a_mail text, a_remote text, for_mail boolean, a_device bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE drover.account_try t SET mail = '', device = NULL WHERE t.try_id = (
        SELECT o.try_id FROM drover.account_try o
        WHERE o.mail = lower(a_mail) AND o.remote = a_remote AND o.is_mail = for_mail AND (o.device IS NULL OR o.device = a_device)
        ORDER BY o.device IS NULL, o.try_id DESC LIMIT 1)
$$;
REVOKE EXECUTE ON FUNCTION drover.leave_unchecked(text, text, boolean, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.leave_unchecked(text, text, boolean, bytea) TO drover_api;
