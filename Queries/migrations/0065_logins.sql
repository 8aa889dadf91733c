-- What a login of a person, or an account, can do to others by what PostgreSQL gives to everybody.

-- MARK: notifications

-- Everybody who may log in may LISTEN and NOTIFY, and PostgreSQL knows no way to forbid it. Whoever listens and does not read keeps the
-- queue from being emptied, and when it is full every commit that tells something fails: ours. So nothing is told any more once it is half
-- full. Who is told looks at the tables anyway, and once a second without being told.
CREATE OR REPLACE FUNCTION drover.tell_outbox() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_outbox', ''); END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION drover.tell_mail() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_mail', ''); END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION drover.tell_alert_event() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_alert_event', ''); END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION drover.tell_dispatch_progress() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_dispatch_progress', NEW.partition || ' ' || NEW.replay_offset); END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION drover.tell_fleet_progress() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_fleet', ''); END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION drover.tell_notice_event() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_notice', ''); END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION drover.tell_notice_message() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_notice_message', ''); END IF;
    RETURN NULL;
END $$;

-- MARK: what is written without a table of ours

-- Databases that were made by hand: temporary tables are for logins that need them (drover_writer, 0001).
DO $$ BEGIN EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()); END $$;

-- Large objects are of nobody's row policies and fill the disk. These functions belong to the cluster's superuser: where the owner is none,
-- docs/operator.md has what a superuser says, and `drover up`, Deploy/database and the container say it.
DO $$
DECLARE
    made regprocedure;
BEGIN
    FOR made IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace
        AND p.proname IN ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_put', 'lowrite', 'lo_import', 'lo_export')
        AND pg_has_role(p.proowner, 'USAGE')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', made);
    END LOOP;
END $$;

-- MARK: people's logins

-- Time-outs of a login are its own to undo, by SET and by ALTER ROLE. So who takes too long is ended from outside: a transaction that
-- idles holds back vacuum, migrations and the queue of notifications. The owner may end logins that it is a member of.
DO $$
DECLARE
    a_login text;
BEGIN
    FOR a_login IN SELECT l.login FROM drover.account_login l JOIN pg_roles r ON r.rolname = l.login WHERE NOT pg_has_role(r.oid, 'USAGE') LOOP
        BEGIN
            EXECUTE format('GRANT %I TO CURRENT_USER', a_login);
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE WARNING '% was made by another role: make it anew with drover account psql, so that who idles can be ended', a_login;
        END;
    END LOOP;
END $$;

-- How many were ended.
CREATE FUNCTION drover.end_long_logins(of_idling interval, of_statement interval, of_transaction interval) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ended int;
BEGIN
    SELECT count(*) FILTER (WHERE pg_terminate_backend(a.pid)) INTO ended
        FROM pg_stat_activity a JOIN drover.account_login l ON l.login = a.usename
        WHERE a.datname = current_database() AND pg_has_role(a.usesysid, 'USAGE') AND (
            (a.state LIKE 'idle in transaction%' AND a.state_change < clock_timestamp() - of_idling)
            OR (a.state NOT LIKE 'idle%' AND a.query_start < clock_timestamp() - of_statement)
            OR a.xact_start < clock_timestamp() - of_transaction);
    RETURN ended;
END $$;
REVOKE EXECUTE ON FUNCTION drover.end_long_logins(interval, interval, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.end_long_logins(interval, interval, interval) TO drover_relay;

-- MARK: turns

-- Accounts, vehicles and the like shared 64 turns of each kind: who held one held up every 64th neighbour. 1,024 are 6,000 small rows.
-- Whoever holds a turn ends first: nobody has one by the number of before beside one of now.
LOCK TABLE drover.turn IN EXCLUSIVE MODE;
INSERT INTO drover.turn (what, slot) SELECT t.what, slot FROM (SELECT what FROM drover.turn GROUP BY what HAVING count(*) > 1) AS t
    CROSS JOIN generate_series(64, 1023) AS slot;
CREATE OR REPLACE FUNCTION drover.turn_slot(a_name text) RETURNS int LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN position(' ' IN a_name) = 0 THEN 0 ELSE (hashtextextended(a_name, 0) & 1023)::int END
$$;

-- MARK: ids that an account takes

CREATE INDEX vehicle_change_by_account ON drover.vehicle_change (account);

-- Taken by uploads, and by the page that adds vehicles as long as no reading of them has come.
CREATE FUNCTION drover.ids_taken(an_account text) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT (SELECT count(*) FROM drover.first_writer w WHERE w.account = an_account)
        + (SELECT count(*) FROM drover.vehicle_change c WHERE c.account = an_account
            AND NOT EXISTS (SELECT FROM drover.vehicle v WHERE v.kind = c.kind AND v.vehicle = c.vehicle)
            AND NOT EXISTS (SELECT FROM drover.first_writer w WHERE w.kind = c.kind AND w.vehicle = c.vehicle AND w.account = an_account))
$$;
REVOKE EXECUTE ON FUNCTION drover.ids_taken(text) FROM PUBLIC;

-- As in 0060, with the one count of ids.
CREATE OR REPLACE FUNCTION drover.refused_writes(
    an_account text, a_deed text, a_kind text, the_vehicles text[], the_begins timestamptz[], the_ends timestamptz[]) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    refused text[];
    fresh text[];
BEGIN
    SELECT coalesce(array_agg(DISTINCT asked.vehicle) FILTER (WHERE asked.may = 'no'), '{}'),
            coalesce(array_agg(DISTINCT asked.vehicle) FILTER (WHERE asked.may = 'first'), '{}')
        INTO refused, fresh
        FROM (SELECT w.vehicle, drover.may_write(an_account, a_deed, a_kind, w.vehicle, w.begins_at, w.ends_at) AS may
              FROM unnest(the_vehicles, the_begins, the_ends) AS w(vehicle, begins_at, ends_at)) AS asked;
    IF cardinality(refused) = 0 AND cardinality(fresh) > 0 THEN
        -- So that nobody takes all ids that others may need. An operator's program has no such bound.
        IF drover.ids_taken(an_account) + cardinality(fresh) > 1000 THEN
            refused := fresh;
        ELSE
            -- In one order, so that two who take the same do not wait for each other.
            INSERT INTO drover.first_writer (kind, vehicle, account)
                SELECT a_kind, taken, an_account FROM unnest(fresh) AS taken ORDER BY taken COLLATE "C" ON CONFLICT DO NOTHING;
            -- Taken by another a moment before.
            SELECT coalesce(array_agg(w.vehicle), '{}') INTO refused FROM drover.first_writer w
                WHERE w.kind = a_kind AND w.vehicle = ANY (fresh) AND w.account <> an_account;
            IF cardinality(refused) > 0 THEN
                DELETE FROM drover.first_writer w WHERE w.kind = a_kind AND w.vehicle = ANY (fresh) AND w.account = an_account AND w.wrote_at = now();
            END IF;
        END IF;
    END IF;
    RETURN QUERY SELECT r FROM unnest(refused) AS r ORDER BY r COLLATE "C";
END $$;

-- As in 0060, with a bound on new ids.
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
        DELETE FROM drover.fleet_vehicle v WHERE v.kind = a_kind AND v.vehicle = a_vehicle
            AND v.fleet IN (SELECT drover.kept_fleets()) AND v.fleet <> ALL (the_fleets);
        INSERT INTO drover.fleet_vehicle (fleet, kind, vehicle)
            SELECT DISTINCT wanted, a_kind, a_vehicle FROM unnest(the_fleets) wanted ON CONFLICT DO NOTHING;
    END IF;
    INSERT INTO drover.vehicle_change (kind, vehicle, record_id, account) VALUES (a_kind, a_vehicle, new_record, me)
        ON CONFLICT (kind, vehicle) DO UPDATE SET record_id = EXCLUDED.record_id, account = EXCLUDED.account, changed_at = now();
    RETURN 'taken';
END $$;
