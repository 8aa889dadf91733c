-- Who keeps a vehicle: registers it, changes what is registered, puts it into fleets. What is registered stands on the log; here
-- stands who may say it, and that nobody undoes what another has said a moment before. Debug logs and changes of thresholds
-- in pages.

-- The last change that a page sent of a vehicle: until it is committed, the next one waits; and an id that somebody has asked for
-- is not somebody else's.
CREATE TABLE drover.vehicle_change (
    kind       text        NOT NULL CHECK (kind IN ('car', 'machine')),
    vehicle    text        NOT NULL CHECK (vehicle ~ '^[A-Za-z0-9._-]{1,64}$'),
    record_id  text        NOT NULL CHECK (record_id ~ '^[A-Za-z0-9._-]{1,64}$'),
    account    text        NOT NULL REFERENCES drover.account,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (kind, vehicle)
);

-- Fleets that one keeps as a farmer or fleet manager; an administrator keeps all.
CREATE FUNCTION drover.kept_fleets() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
    SELECT f.fleet FROM drover.fleet f WHERE 'administrator' = ANY (drover.sight_roles())
    UNION
    SELECT f.fleet FROM drover.fleet_member m JOIN drover.fleet f ON f.fleet = m.fleet OR f.part_of = m.fleet
        WHERE m.account = drover.sight_account() AND drover.sight_roles() && ARRAY['farmer', 'fleet_manager']
$$;

-- Vehicles of these fleets, one's own cars, and what one has just added.
CREATE FUNCTION drover.keeps(a_kind text, a_vehicle text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'administrator' = ANY (drover.sight_roles())
        OR EXISTS (SELECT FROM drover.fleet_vehicle v
            WHERE v.kind = a_kind AND v.vehicle = a_vehicle AND v.fleet IN (SELECT drover.kept_fleets()))
        OR (drover.sight_roles() && ARRAY['farmer', 'fleet_manager', 'driver'] AND (
            EXISTS (SELECT FROM drover.registration r
                WHERE a_kind = 'car' AND r.kind = 'car' AND r.vehicle = a_vehicle AND r.account = drover.sight_account())
            OR EXISTS (SELECT FROM drover.vehicle_change c
                WHERE c.kind = a_kind AND c.vehicle = a_vehicle AND c.account = drover.sight_account()
                    AND NOT EXISTS (SELECT FROM drover.registration r WHERE r.kind = a_kind AND r.vehicle = a_vehicle))))
$$;

-- Dealers tag the machines that were confirmed to them.
CREATE FUNCTION drover.tags_vehicle(a_kind text, a_vehicle text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.keeps(a_kind, a_vehicle) OR (a_kind = 'machine' AND 'dealer' = ANY (drover.sight_roles())
        AND EXISTS (SELECT FROM drover.dealership d WHERE d.vehicle = a_vehicle AND d.dealer = drover.sight_account()
            AND d.confirmed_at IS NOT NULL AND d.ended_at IS NULL))
$$;

-- What is registered, whole, for who may change something of it: a record says all of it. No row: one may not. `record_id` is NULL
-- where nothing is registered yet.
CREATE FUNCTION drover.registration_kept(a_kind text, a_vehicle text)
RETURNS TABLE (is_keeper boolean, record_id text, name text, model text, host text, port int, certificate_sha256 text, tags text[],
    is_disabled boolean, account text, vin text, make text, year int, fuel text, tank_ml int, displacement_cc int, efficiency_milli_pct int)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.keeps(a_kind, a_vehicle), r.record_id, r.name, r.model, r.host, r.port, r.certificate_sha256, coalesce(r.tags, '{}'),
        coalesce(r.is_disabled, false), r.account, r.vin, r.make, r.year, r.fuel, round(r.tank_l * 1000)::int, r.displacement_cc,
        round(r.volumetric_efficiency_pct * 1000)::int
    FROM (SELECT 1) AS one LEFT JOIN drover.registration r ON r.kind = a_kind AND r.vehicle = a_vehicle
    WHERE drover.tags_vehicle(a_kind, a_vehicle)
$$;

-- One's fleets, whether this vehicle is in them, and who belongs to them.
CREATE FUNCTION drover.fleets_kept(a_kind text, a_vehicle text)
RETURNS TABLE (fleet text, name text, holds boolean, members text[])
LANGUAGE sql STABLE SECURITY DEFINER ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
    SELECT f.fleet, f.name,
        EXISTS (SELECT FROM drover.fleet_vehicle v WHERE v.fleet = f.fleet AND v.kind = a_kind AND v.vehicle = a_vehicle),
        ARRAY(SELECT m.account FROM drover.fleet_member m WHERE m.fleet = f.fleet ORDER BY m.account COLLATE "C")
    FROM drover.fleet f WHERE f.fleet IN (SELECT drover.kept_fleets())
    ORDER BY f.name, f.fleet COLLATE "C" LIMIT 200
$$;

-- Before a page puts a registration on the log. `based_on` is the record that its form was made of, empty: nothing was registered.
-- `the_fleets`: those of one's own that the vehicle shall be in; NULL: leave them. `an_owner`: the account that shall own a car.
-- Says `taken` (push it), `done` (it is committed already), or why not: `not yours`, `known` (somebody else's, or there already),
-- `changed` (by another meanwhile), `waiting` (a change is on its way), `fleet` (none is chosen), `owner` (not theirs to give to).
CREATE FUNCTION drover.change_vehicle(
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
    PERFORM pg_advisory_xact_lock(hashtextextended('drover.vehicle_change ' || a_kind || ' ' || a_vehicle, 0));
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
            IF last.record_id IS NOT NULL OR EXISTS (SELECT FROM drover.vehicle v WHERE v.kind = a_kind AND v.vehicle = a_vehicle)
                OR EXISTS (SELECT FROM drover.fleet_vehicle v WHERE v.kind = a_kind AND v.vehicle = a_vehicle)
                OR EXISTS (SELECT FROM drover.dealership d WHERE a_kind = 'machine' AND d.vehicle = a_vehicle AND d.confirmed_at IS NOT NULL)
            THEN RETURN 'known'; END IF;
            IF NOT (has_fleets OR (a_kind = 'car' AND 'driver' = ANY (drover.sight_roles()))) THEN RETURN 'not yours'; END IF;
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

-- What was changed of thresholds in pages, by whom. Of a model, or of one machine. The rules themselves stand on the log.
CREATE TABLE drover.rule_edit (
    edit_id   bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    edited_at timestamptz NOT NULL DEFAULT now(),
    account   text        NOT NULL,
    model     text,
    vehicle   text,
    version   text        NOT NULL CHECK (octet_length(version) <= 64),
    changes   text[]      NOT NULL,
    CHECK ((model IS NULL) <> (vehicle IS NULL))
);
CREATE INDEX rule_edit_by_time ON drover.rule_edit (edited_at DESC);
ALTER TABLE drover.rule_edit ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_rows_of_drover_reader ON drover.rule_edit TO drover_reader USING (true);
CREATE POLICY sight ON drover.rule_edit FOR SELECT TO drover_sight USING ((SELECT drover.sees_all())
    OR (model IS NOT NULL AND (SELECT drover.sight_roles()) && ARRAY['fleet_manager', 'developer', 'farmer'])
    OR vehicle IN (SELECT drover.seen('machine')));
GRANT SELECT ON drover.rule_edit TO drover_sight, drover_reader;

-- Who may change the thresholds of a model (NULL: of a machine).
CREATE FUNCTION drover.edits_rules(a_vehicle text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN drover.sight_roles() && ARRAY['developer', 'administrator'] THEN true
        WHEN a_vehicle IS NULL THEN 'fleet_manager' = ANY (drover.sight_roles())
        ELSE drover.keeps('machine', a_vehicle) END
$$;
CREATE FUNCTION drover.note_rule_edit(a_model text, a_vehicle text, a_version text, the_changes text[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF drover.edits_rules(a_vehicle) IS NOT TRUE THEN RETURN false; END IF;
    INSERT INTO drover.rule_edit (account, model, vehicle, version, changes) VALUES (drover.sight_account(), a_model, a_vehicle, a_version, the_changes);
    RETURN true;
END $$;

-- What a partition's clock says; alerts of silence are judged by it.
CREATE FUNCTION drover.machine_clock(a_partition int) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.clock_at FROM drover.partition_progress p WHERE p.topic = 'drover.machines' AND p.partition = a_partition
$$;

-- Debug logs are for developers, and for who runs the installation.
ALTER TABLE drover.debug_log ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_rows_of_drover_debug ON drover.debug_log TO drover_debug USING (true) WITH CHECK (true);
CREATE POLICY sight ON drover.debug_log FOR SELECT TO drover_sight
    USING ((SELECT drover.sees_all()) OR 'developer' = ANY ((SELECT drover.sight_roles())::text[]));
GRANT SELECT ON drover.debug_log TO drover_sight;

DO $$
DECLARE
    made regprocedure;
BEGIN
    FOR made IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'drover'::regnamespace AND p.proname IN (
        'kept_fleets', 'keeps', 'tags_vehicle', 'registration_kept', 'fleets_kept', 'change_vehicle', 'edits_rules', 'note_rule_edit',
        'machine_clock')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', made);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO drover_page', made);
    END LOOP;
END $$;
