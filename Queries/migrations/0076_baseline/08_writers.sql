-- Who may say what of which vehicle, for every door: uploads by token, pages, links in mails. Whoever is let in has said it for good, and
-- what is said of a drive opens sight of it; so sight asks here, too (docs/decisions/0017-sight.md). And what nothing judges.

-- For apps: whether the account may look at what a car does now. It is its owner or driver, or uploads for it; to write about it alone,
-- or to have written once, is not enough.
CREATE FUNCTION drover.may_look(an_account text, a_vehicle text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.may_write(an_account, 'reading', 'car', a_vehicle, now(), now()) = 'yes' AND (
        coalesce(drover.car_owner_at(a_vehicle, now()) = an_account, false)
        OR EXISTS (SELECT FROM drover.assigned_spans(a_vehicle) s WHERE s.account = an_account AND s.from_at <= now() AND s.until_at > now())
        OR EXISTS (SELECT FROM drover.driving d WHERE d.vehicle = a_vehicle AND d.account = an_account AND d.until_at > now() - interval '1 hour'))
$$;
REVOKE EXECUTE ON FUNCTION drover.may_look(an_account text, a_vehicle text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.may_look(an_account text, a_vehicle text) TO drover_api;

-- For pages: whether who looks may.
CREATE FUNCTION drover.may_do(a_deed text, a_kind text, a_vehicle text, a_begin timestamptz, an_end timestamptz) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.may_write(drover.sight_account(), a_deed, a_kind, a_vehicle, a_begin, an_end) = 'yes'
$$;
REVOKE EXECUTE ON FUNCTION drover.may_do(a_deed text, a_kind text, a_vehicle text, a_begin timestamp with time zone, an_end timestamp with time zone) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.may_do(a_deed text, a_kind text, a_vehicle text, a_begin timestamp with time zone, an_end timestamp with time zone) TO drover_page;

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
REVOKE EXECUTE ON FUNCTION drover.may_write_free(an_account text, a_kind text, a_vehicle text) FROM PUBLIC;

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
REVOKE EXECUTE ON FUNCTION drover.may_write_machine(an_account text, the_roles text[], a_deed text, a_vehicle text, a_begin timestamp with time zone) FROM PUBLIC;

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
REVOKE EXECUTE ON FUNCTION drover.may_write_car(an_account text, the_roles text[], a_deed text, a_vehicle text, a_begin timestamp with time zone, an_end timestamp with time zone) FROM PUBLIC;

-- Says `yes`, `no`, or `first`. `a_deed` as Sources/Stream/Storage/Accounts/WriteAccess.swift has them; the times are those that it is about.
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
REVOKE EXECUTE ON FUNCTION drover.may_write(an_account text, a_deed text, a_kind text, a_vehicle text, a_begin timestamp with time zone, an_end timestamp with time zone) FROM PUBLIC;

-- For programs: the vehicles of these that the account may not write about. None: what nobody has written about yet is the account's
-- from now on. Its new ids are counted in one place (drover.ids_taken).
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
REVOKE EXECUTE ON FUNCTION drover.refused_writes(an_account text, a_deed text, a_kind text, the_vehicles text[], the_begins timestamp with time zone[], the_ends timestamp with time zone[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.refused_writes(an_account text, a_deed text, a_kind text, the_vehicles text[], the_begins timestamp with time zone[], the_ends timestamp with time zone[]) TO drover_api;

CREATE FUNCTION drover.own_rows(a_session bytea, a_relation text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.rows_of_person(drover.open_account(a_session), a_relation, true)
$$;
REVOKE EXECUTE ON FUNCTION drover.own_rows(a_session bytea, a_relation text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.own_rows(a_session bytea, a_relation text) TO drover_api;

-- Who looks may say who drives it: who keeps it, and who runs the installation.
CREATE FUNCTION drover.may_assign(a_vehicle text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT (drover.keeps('car', a_vehicle) OR drover.sight_roles() && ARRAY['operator', 'administrator'])
        AND (EXISTS (SELECT FROM drover.vehicle v WHERE v.kind = 'car' AND v.vehicle = a_vehicle)
            OR EXISTS (SELECT FROM drover.registration r WHERE r.kind = 'car' AND r.vehicle = a_vehicle))
$$;
REVOKE EXECUTE ON FUNCTION drover.may_assign(a_vehicle text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.may_assign(a_vehicle text) TO drover_page;

-- To whom: oneself, and drivers of the car's fleets that one keeps. An assignment opens sight of the car's drives, so it is nobody's of another
-- customer. Who runs the installation chooses among all drivers. No row: who looks may not say it.
CREATE FUNCTION drover.assignable(a_vehicle text) RETURNS TABLE (account text, is_assigned boolean)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
    WITH now_assigned AS (SELECT a.account FROM drover.assignment a WHERE a.vehicle = a_vehicle AND a.assigned_at <= now()
        ORDER BY a.assigned_at DESC LIMIT 1)
    SELECT n.account, true FROM now_assigned n WHERE n.account IS NOT NULL AND drover.may_assign(a_vehicle)
    UNION ALL
    (SELECT p.account, false FROM drover.account p
    WHERE drover.may_assign(a_vehicle) AND p.disabled_at IS NULL AND NOT EXISTS (SELECT FROM now_assigned n WHERE n.account = p.account) AND 'driver' = ANY (p.roles) AND (
        drover.sight_roles() && ARRAY['operator', 'administrator'] OR p.account = drover.sight_account()
        OR p.account IN (SELECT m.account FROM drover.fleet_vehicle v
            JOIN drover.fleet f ON f.fleet = v.fleet JOIN drover.fleet_member m ON m.fleet = f.fleet OR m.fleet = f.part_of
            WHERE v.kind = 'car' AND v.vehicle = a_vehicle AND v.fleet IN (SELECT drover.kept_fleets())))
    ORDER BY p.account COLLATE "C" LIMIT 1000)
$$;
REVOKE EXECUTE ON FUNCTION drover.assignable(a_vehicle text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.assignable(a_vehicle text) TO drover_page;

-- Why nothing judges a vehicle as it is now; NULL: something does. For pages, programs and reports, by the one place that decides it
-- (drover.not_monitored_of): `nobody` drives or owns the car; who does has switched all alerts off (`alerts_off`); the machine's model is not
-- known (`no_model`), or neither it nor the machine has rules (`no_rules`).
CREATE FUNCTION drover.not_monitored(a_kind text, a_vehicle text) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT n.not_monitored FROM drover.not_monitored_of(ARRAY[a_kind], ARRAY[a_vehicle]) AS n);
END $$;
REVOKE EXECUTE ON FUNCTION drover.not_monitored(a_kind text, a_vehicle text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.not_monitored(a_kind text, a_vehicle text) TO drover_api, drover_page, drover_reader;

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
REVOKE EXECUTE ON FUNCTION drover.not_monitored_of(the_kinds text[], the_vehicles text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.not_monitored_of(the_kinds text[], the_vehicles text[]) TO drover_api, drover_page, drover_reader;

-- What the reader has in service.
CREATE FUNCTION drover.driven_vehicles() RETURNS TABLE (campus text, vehicle text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 3 SET search_path = pg_catalog, pg_temp AS $$
    SELECT v.campus, v.vehicle FROM drover.bound_people() b
        JOIN drover.ride_vehicle v ON v.campus = b.campus AND v.driver = b.person
        WHERE b.role = 'ride_driver' AND v.state <> 'out'
$$;
REVOKE EXECUTE ON FUNCTION drover.driven_vehicles() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.driven_vehicles() TO drover_reader, drover_sight, drover_writer;
