-- Who may say what of which vehicle, for every door: uploads by token, pages, links in mails. Whoever is let in has said it for good,
-- and what is said of a drive opens sight of it; so sight asks here, too. As in 0031 it stands in tables that people change, and no
-- replay needs it (docs/decisions/0017-sight.md).

-- Vehicles that nobody owns: who wrote about one first goes on, and nobody else may. Once it has an owner or a fleet, these count.
CREATE TABLE drover.first_writer (
    kind     text        NOT NULL CHECK (kind IN ('car', 'machine')),
    vehicle  text        NOT NULL CHECK (vehicle ~ '^[A-Za-z0-9._-]{1,64}$'),
    account  text        NOT NULL,                 -- perhaps a name that does not log in
    wrote_at timestamptz NOT NULL DEFAULT now(),
    is_over  boolean     NOT NULL DEFAULT false,   -- it has been in a fleet: nobody's again, it is not this account's
    PRIMARY KEY (kind, vehicle)
);
CREATE FUNCTION drover.end_first_writer() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.first_writer w SET is_over = true WHERE w.kind = NEW.kind AND w.vehicle = NEW.vehicle AND NOT w.is_over;
    RETURN NULL;
END $$;
CREATE TRIGGER first_writer AFTER INSERT ON drover.fleet_vehicle FOR EACH ROW EXECUTE FUNCTION drover.end_first_writer();
CREATE INDEX first_writer_by_account ON drover.first_writer (account);
-- Only the functions below read and write it.
ALTER TABLE drover.first_writer ENABLE ROW LEVEL SECURITY;
CREATE INDEX fleet_vehicle_by_vehicle ON drover.fleet_vehicle (kind, vehicle);

-- Phones of cars that one account alone has uploaded for go on. A car that an adapter of ours is asked for is not the phone's.
INSERT INTO drover.first_writer (kind, vehicle, account, wrote_at, is_over)
    SELECT 'car', d.vehicle, min(d.account), min(d.from_at),
        EXISTS (SELECT FROM drover.fleet_vehicle f WHERE f.kind = 'car' AND f.vehicle = d.vehicle)
    FROM drover.driving d
    WHERE NOT EXISTS (SELECT FROM drover.registration r WHERE r.kind = 'car' AND r.vehicle = d.vehicle AND (r.account IS NOT NULL OR r.host IS NOT NULL))
        AND NOT EXISTS (SELECT FROM drover.car_support s WHERE s.vehicle = d.vehicle)
    GROUP BY d.vehicle HAVING count(DISTINCT d.account) = 1;

-- MARK: who may

-- NULL: nobody's then. What was recorded before anybody owned a car is its first owner's, as in drover.sees_at.
CREATE FUNCTION drover.car_owner_at(a_vehicle text, a_time timestamptz) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT o.account FROM drover.car_owner o WHERE o.vehicle = a_vehicle
    ORDER BY o.owned_at <= a_time DESC, CASE WHEN o.owned_at <= a_time THEN o.owned_at END DESC, o.owned_at LIMIT 1
$$;

-- To whom a car was assigned when; what goes on with the same driver is one.
CREATE FUNCTION drover.assigned_spans(a_vehicle text) RETURNS TABLE (account text, from_at timestamptz, until_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.account, a.assigned_at, lead(a.assigned_at, 1, 'infinity') OVER (ORDER BY a.assigned_at)
    FROM (SELECT a.account, a.assigned_at, lag(a.account) OVER (ORDER BY a.assigned_at) AS before
          FROM drover.assignment a WHERE a.vehicle = a_vehicle) a
    WHERE a.account IS DISTINCT FROM a.before
$$;

CREATE FUNCTION drover.is_of_its_fleet(an_account text, a_kind text, a_vehicle text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM drover.fleet_vehicle v
        JOIN drover.fleet f ON f.fleet = v.fleet
        JOIN drover.fleet_member m ON m.fleet = f.fleet OR m.fleet = f.part_of
        WHERE v.kind = a_kind AND v.vehicle = a_vehicle AND m.account = an_account)
$$;

-- A vehicle without owner and fleet. `first`: nobody has written about it, so whoever takes it may (drover.refused_writes does).
CREATE FUNCTION drover.may_write_free(an_account text, a_kind text, a_vehicle text) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    writer text;
BEGIN
    SELECT CASE WHEN w.is_over THEN '' ELSE w.account END INTO writer FROM drover.first_writer w WHERE w.kind = a_kind AND w.vehicle = a_vehicle;
    IF writer IS NOT NULL THEN
        -- Who keeps it has said since whose it is: by an owner, a box or an adapter.
        RETURN CASE WHEN writer = an_account
            AND NOT EXISTS (SELECT FROM drover.registration r WHERE r.kind = a_kind AND r.vehicle = a_vehicle AND (r.host IS NOT NULL OR a_kind = 'machine'))
            AND NOT EXISTS (SELECT FROM drover.car_owner o WHERE a_kind = 'car' AND o.vehicle = a_vehicle AND o.account IS NOT NULL)
            THEN 'yes' ELSE 'no' END;
    END IF;
    -- Somebody's it is all the same: a page is registering it, or we have its readings from elsewhere, or ask its box.
    IF EXISTS (SELECT FROM drover.vehicle_change c WHERE c.kind = a_kind AND c.vehicle = a_vehicle AND c.account <> an_account)
        OR EXISTS (SELECT FROM drover.vehicle v WHERE v.kind = a_kind AND v.vehicle = a_vehicle)
        OR EXISTS (SELECT FROM drover.registration r WHERE r.kind = a_kind AND r.vehicle = a_vehicle
            AND (r.account IS NOT NULL OR r.host IS NOT NULL OR a_kind = 'machine'))
        OR EXISTS (SELECT FROM drover.driving d WHERE a_kind = 'car' AND d.vehicle = a_vehicle AND d.account <> an_account)
    THEN RETURN 'no'; END IF;
    RETURN 'first';
END $$;

CREATE FUNCTION drover.may_write_car(an_account text, the_roles text[], a_deed text, a_vehicle text, a_begin timestamptz, an_end timestamptz) RETURNS text
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
    -- To have a car's health looked at is for who keeps it, too.
    IF a_deed = 'ask' AND the_roles && ARRAY['farmer', 'fleet_manager'] AND drover.is_of_its_fleet(an_account, 'car', a_vehicle) THEN RETURN 'yes'; END IF;
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

CREATE FUNCTION drover.may_write_machine(an_account text, the_roles text[], a_deed text, a_vehicle text, a_begin timestamptz) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF the_roles && ARRAY['farmer', 'fleet_manager'] AND drover.is_of_its_fleet(an_account, 'machine', a_vehicle) THEN RETURN 'yes'; END IF;
    IF 'dealer' = ANY (the_roles) AND EXISTS (SELECT FROM drover.dealership d WHERE d.vehicle = a_vehicle AND d.dealer = an_account
            AND d.ended_at IS NULL AND d.confirmed_at IS NOT NULL AND (d.shares_past OR d.confirmed_at <= a_begin)) THEN RETURN 'yes'; END IF;
    -- Developers see all machines and care for them; what machines measured is not theirs to say.
    IF 'developer' = ANY (the_roles) AND a_deed <> 'reading' THEN RETURN 'yes'; END IF;
    IF EXISTS (SELECT FROM drover.fleet_vehicle v WHERE v.kind = 'machine' AND v.vehicle = a_vehicle)
        OR EXISTS (SELECT FROM drover.dealership d WHERE d.vehicle = a_vehicle AND d.confirmed_at IS NOT NULL AND d.ended_at IS NULL)
    THEN RETURN 'no'; END IF;
    -- Machines are owned by fleets. Where there are none, nobody has neighbours.
    IF NOT EXISTS (SELECT FROM drover.fleet) THEN RETURN 'yes'; END IF;
    RETURN drover.may_write_free(an_account, 'machine', a_vehicle);
END $$;

-- Says `yes`, `no`, or `first`. `a_deed` as Sources/Storage/WriteAccess.swift has them; the times are those that it is about.
CREATE FUNCTION drover.may_write(an_account text, a_deed text, a_kind text, a_vehicle text, a_begin timestamptz, an_end timestamptz) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    the_roles text[];
    is_disabled boolean;
BEGIN
    IF an_account IS NULL OR a_vehicle IS NULL OR a_begin IS NULL OR an_end IS NULL
        OR a_deed IS NULL OR a_deed NOT IN ('reading', 'trip', 'scan', 'ask', 'service', 'alert') THEN RETURN 'no'; END IF;
    -- Drivers of before there were accounts own cars by their name.
    SELECT a.roles, a.disabled_at IS NOT NULL INTO the_roles, is_disabled FROM drover.account a WHERE a.account = an_account;
    IF is_disabled THEN RETURN 'no'; END IF;
    the_roles := coalesce(the_roles, '{}');
    IF the_roles && ARRAY['operator', 'administrator'] THEN RETURN 'yes'; END IF;
    RETURN CASE a_kind
        WHEN 'car' THEN drover.may_write_car(an_account, the_roles, a_deed, a_vehicle, a_begin, an_end)
        WHEN 'machine' THEN drover.may_write_machine(an_account, the_roles, a_deed, a_vehicle, a_begin)
        ELSE 'no' END;
END $$;

-- MARK: who asks

-- For programs: the vehicles of these that the account may not write about. None: what nobody has written about yet is the account's
-- from now on.
CREATE FUNCTION drover.refused_writes(
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
        IF (SELECT count(*) FROM drover.first_writer w WHERE w.account = an_account) + cardinality(fresh) > 1000 THEN
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

-- For pages: whether who looks may.
CREATE FUNCTION drover.may_do(a_deed text, a_kind text, a_vehicle text, a_begin timestamptz, an_end timestamptz) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.may_write(drover.sight_account(), a_deed, a_kind, a_vehicle, a_begin, an_end) = 'yes'
$$;

-- For apps: whether the account may look at what a car does now. It is its owner or driver, or uploads for it; to write about it alone,
-- or to have written once, is not enough.
CREATE FUNCTION drover.may_look(an_account text, a_vehicle text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.may_write(an_account, 'reading', 'car', a_vehicle, now(), now()) = 'yes' AND (
        coalesce(drover.car_owner_at(a_vehicle, now()) = an_account, false)
        OR EXISTS (SELECT FROM drover.assigned_spans(a_vehicle) s WHERE s.account = an_account AND s.from_at <= now() AND s.until_at > now())
        OR EXISTS (SELECT FROM drover.driving d WHERE d.vehicle = a_vehicle AND d.account = an_account AND d.until_at > now() - interval '1 hour'))
$$;

-- MARK: sight

-- Whether a drive is believed: the account may write about it, or it was the car's first driver and nobody owned it then. To register a car
-- for somebody takes no drive from who drove it before.
CREATE FUNCTION drover.is_believed(an_account text, a_vehicle text, a_begin timestamptz, an_end timestamptz) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.may_write(an_account, 'reading', 'car', a_vehicle, a_begin, an_end) = 'yes' OR (
        EXISTS (SELECT FROM drover.first_writer w WHERE w.kind = 'car' AND w.vehicle = a_vehicle AND w.account = an_account)
        AND NOT EXISTS (SELECT FROM drover.car_owner o WHERE o.vehicle = a_vehicle AND o.account IS NOT NULL AND o.owned_at <= an_end))
$$;

-- As in 0031, of what the account may write about: a drive that somebody only says is no drive of theirs. Of a car one such drive is
-- enough to know its name.
CREATE OR REPLACE FUNCTION drover.driven() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
    SELECT c.vehicle FROM (
        SELECT DISTINCT d.vehicle FROM drover.driving d WHERE d.account = drover.sight_account() AND 'driver' = ANY (drover.sight_roles())) AS c
    WHERE EXISTS (SELECT FROM drover.driving d WHERE d.vehicle = c.vehicle AND d.account = drover.sight_account()
        AND drover.is_believed(d.account, d.vehicle, d.from_at, d.until_at))
    UNION
    SELECT a.vehicle FROM drover.assignment a WHERE a.account = drover.sight_account() AND 'driver' = ANY (drover.sight_roles())
$$;
CREATE OR REPLACE FUNCTION drover.drove(a_vehicle text, from_at timestamptz, until_at timestamptz) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN c.driver = drover.sight_account()
        THEN drover.is_believed(c.driver, a_vehicle, from_at, until_at) ELSE false END
    FROM drover.trip_context(a_vehicle, from_at, until_at) c
$$;

-- As in 0040, of what the account may still say something of: a link in an old mail opens no more than its reader has today.
CREATE OR REPLACE FUNCTION drover.look_at_notice_link(a_link bytea) RETURNS TABLE (account text, alert_id text, vehicle text, parameter text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT m.account, a.alert_id, a.vehicle, a.parameter
        FROM drover.notice_message m JOIN drover.notice_told t USING (message_id) JOIN drover.notice n USING (notice_id)
        JOIN drover.alert a USING (alert_id) JOIN drover.account p ON p.account = m.account
        WHERE m.link = a_link AND m.link_used_at IS NULL AND m.link_expires_at > now() AND p.disabled_at IS NULL
            AND a.kind = 'machine' AND a.state IN ('open', 'due_soon')
            AND drover.may_write(m.account, 'alert', 'machine', a.vehicle, now(), now()) = 'yes'
        ORDER BY 3, 4, 2 LIMIT 200
$$;

-- As in 0037: an id that another's phone has taken is not free, though no worker has read of it yet.
DO $$
DECLARE
    definition text := pg_get_functiondef('drover.change_vehicle(text, text, text, text, text[], text)'::regprocedure);
    place text := 'IF last.record_id IS NOT NULL OR EXISTS (SELECT FROM drover.vehicle v';
BEGIN
    IF strpos(definition, place) = 0 THEN RAISE EXCEPTION 'drover.change_vehicle looks for free ids in another way than 0037 made it'; END IF;
    EXECUTE replace(definition, place, 'IF EXISTS (SELECT FROM drover.first_writer w WHERE w.kind = a_kind AND w.vehicle = a_vehicle AND w.account <> me)
                OR last.record_id IS NOT NULL OR EXISTS (SELECT FROM drover.vehicle v');
END $$;

DO $$
DECLARE
    made regprocedure;
BEGIN
    FOR made IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'drover'::regnamespace AND p.proname IN (
        'car_owner_at', 'assigned_spans', 'is_of_its_fleet', 'may_write_free', 'may_write_car', 'may_write_machine', 'may_write', 'refused_writes',
        'may_do', 'may_look', 'is_believed')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', made);
    END LOOP;
END $$;
GRANT EXECUTE ON FUNCTION drover.refused_writes(text, text, text, text[], timestamptz[], timestamptz[]), drover.may_look(text, text) TO drover_api;
GRANT EXECUTE ON FUNCTION drover.may_do(text, text, text, timestamptz, timestamptz) TO drover_page;
