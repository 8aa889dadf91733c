-- Who sees what. Fleets, dealers and owners give an account its sight; row-level security (29_row_security.sql) holds whoever reads as a
-- person to it, in the pages and in psql alike. Sight is no result: it is asked when somebody reads, and no replay needs it. So it stands in
-- tables that people change.

CREATE TABLE drover.fleet (
    fleet text NOT NULL,
    name text NOT NULL,
    part_of text,  -- nested once
    made_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT fleet_pkey PRIMARY KEY (fleet),
    CONSTRAINT fleet_check CHECK ((part_of <> fleet)),
    CONSTRAINT fleet_fleet_check CHECK ((fleet ~ '^[A-Za-z0-9._-]{1,64}$'::text)),
    CONSTRAINT fleet_name_check CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 200))),
    CONSTRAINT fleet_part_of_fkey FOREIGN KEY (part_of) REFERENCES drover.fleet(fleet)
);
CREATE INDEX fleet_by_part_of ON drover.fleet (part_of) WHERE (part_of IS NOT NULL);

CREATE TABLE drover.fleet_member (
    fleet text NOT NULL,
    account text NOT NULL,
    CONSTRAINT fleet_member_pkey PRIMARY KEY (fleet, account),
    CONSTRAINT fleet_member_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account),
    CONSTRAINT fleet_member_fleet_fkey FOREIGN KEY (fleet) REFERENCES drover.fleet(fleet) ON DELETE CASCADE
);
CREATE INDEX fleet_member_by_account ON drover.fleet_member (account);

CREATE TABLE drover.fleet_vehicle (
    fleet text NOT NULL,
    kind text NOT NULL,
    vehicle text NOT NULL,
    CONSTRAINT fleet_vehicle_pkey PRIMARY KEY (fleet, kind, vehicle),
    CONSTRAINT fleet_vehicle_fleet_fkey FOREIGN KEY (fleet) REFERENCES drover.fleet(fleet) ON DELETE CASCADE,
    CONSTRAINT fleet_vehicle_kind_check CHECK ((kind = ANY (ARRAY['car'::text, 'machine'::text]))),
    CONSTRAINT fleet_vehicle_vehicle_check CHECK ((vehicle ~ '^[A-Za-z0-9._-]{1,64}$'::text))
);
CREATE INDEX fleet_vehicle_by_vehicle ON drover.fleet_vehicle (kind, vehicle);

CREATE FUNCTION drover.check_fleet() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- One at a time, so that two changes do not nest twice together.
    PERFORM drover.take_turn('drover.fleet');
    IF NEW.part_of IS NOT NULL AND (EXISTS (SELECT FROM drover.fleet f WHERE f.fleet = NEW.part_of AND f.part_of IS NOT NULL)
            OR EXISTS (SELECT FROM drover.fleet f WHERE f.part_of = NEW.fleet)) THEN
        RAISE EXCEPTION 'fleets are nested once: % cannot be part of %', NEW.fleet, NEW.part_of USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
REVOKE EXECUTE ON FUNCTION drover.check_fleet() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.check_fleet() TO drover_reader, drover_sight, drover_writer;

-- Who reads: what the pages say, or whose login it is; of the login that asks for people, for whom its transaction does. NULL: nobody, or
-- disabled; then nothing is seen.
CREATE FUNCTION drover.sight_account() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.account FROM drover.account a
    WHERE a.disabled_at IS NULL AND a.account = CASE
        WHEN EXISTS (SELECT FROM drover.account_login l WHERE l.login = session_user)
            THEN (SELECT l.account FROM drover.account_login l WHERE l.login = session_user)
        WHEN pg_has_role(session_user, 'drover_page', 'MEMBER') THEN nullif(current_setting('drover.account', true), '')
        WHEN pg_has_role(session_user, 'drover_query', 'MEMBER') THEN (SELECT q.account FROM drover.question q WHERE q.pid = pg_backend_pid())
    END
$$;
REVOKE EXECUTE ON FUNCTION drover.sight_account() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.sight_account() TO drover_reader, drover_sight, drover_writer;

CREATE FUNCTION drover.sight_roles() RETURNS text[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce((SELECT a.roles FROM drover.account a WHERE a.account = drover.sight_account()), '{}')
$$;
REVOKE EXECUTE ON FUNCTION drover.sight_roles() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.sight_roles() TO drover_reader, drover_relay, drover_researcher, drover_sight, drover_writer;

-- Not of a person, or of one who runs the installation. As the caller, so that it knows as whom it was asked.
CREATE FUNCTION drover.sees_all() RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.is_program() OR drover.sight_roles() && ARRAY['administrator', 'operator']
$$;
REVOKE EXECUTE ON FUNCTION drover.sees_all() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.sees_all() TO drover_reader, drover_relay, drover_researcher, drover_sight, drover_writer;

-- Alerts are for one of these: as Sources/Domain/Alerts/Rules/Threshold.swift, Audience, has them. Who reads no fleets gets none.
CREATE FUNCTION drover.seen_audiences() RETURNS text[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN drover.sight_roles() && ARRAY['developer', 'administrator', 'operator'] THEN ARRAY['farmer', 'dealer', 'developer']
                WHEN drover.sight_roles() && ARRAY['dealer'] THEN ARRAY['farmer', 'dealer']
                WHEN drover.reads_fleets() THEN ARRAY['farmer']
                ELSE '{}'::text[] END
$$;
REVOKE EXECUTE ON FUNCTION drover.seen_audiences() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.seen_audiences() TO drover_reader, drover_sight, drover_writer;

-- Vehicles that are seen with their whole past. Developers see the machines that they made.
CREATE FUNCTION drover.seen(a_kind text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT v.vehicle FROM drover.fleet_member m
        JOIN drover.fleet f ON f.fleet = m.fleet OR f.part_of = m.fleet
        JOIN drover.fleet_vehicle v ON v.fleet = f.fleet
        WHERE m.account = drover.sight_account() AND v.kind = a_kind
            AND drover.sight_roles() && ARRAY['farmer', 'fleet_manager', 'analyst', 'dispatcher']
    UNION
    SELECT o.vehicle FROM drover.car_owner o
        WHERE a_kind = 'car' GROUP BY o.vehicle
        HAVING drover.sight_account() IS NOT NULL AND bool_and(o.account IS NOT DISTINCT FROM drover.sight_account())
    UNION
    SELECT d.vehicle FROM drover.dealership d
        WHERE a_kind = 'machine' AND d.dealer = drover.sight_account() AND d.confirmed_at IS NOT NULL AND d.ended_at IS NULL
            AND d.shares_past AND 'dealer' = ANY (drover.sight_roles())
    UNION
    SELECT v.vehicle FROM drover.vehicle v
        WHERE a_kind = 'machine' AND v.kind = 'machine' AND 'developer' = ANY (drover.sight_roles())
    UNION
    SELECT r.vehicle FROM drover.registration r
        WHERE a_kind = 'machine' AND r.kind = 'machine' AND 'developer' = ANY (drover.sight_roles())
$$;
REVOKE EXECUTE ON FUNCTION drover.seen(a_kind text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.seen(a_kind text) TO drover_reader, drover_sight, drover_writer;

-- Vehicles of which some times are seen: a dealer's machines from the confirmation on, a car while one owned it.
CREATE FUNCTION drover.seen_partly(a_kind text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT d.vehicle FROM drover.dealership d
        WHERE a_kind = 'machine' AND d.dealer = drover.sight_account() AND d.confirmed_at IS NOT NULL AND d.ended_at IS NULL
            AND 'dealer' = ANY (drover.sight_roles())
    UNION
    SELECT o.vehicle FROM drover.car_owner o WHERE a_kind = 'car' AND o.account = drover.sight_account()
$$;
REVOKE EXECUTE ON FUNCTION drover.seen_partly(a_kind text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.seen_partly(a_kind text) TO drover_reader, drover_sight, drover_writer;

-- Of one of these, whether this time is seen. What was recorded before anybody owned a car is its first owner's.
CREATE FUNCTION drover.sees_at(a_kind text, a_vehicle text, a_time timestamptz) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE a_kind
        WHEN 'machine' THEN EXISTS (SELECT FROM drover.dealership d
            WHERE d.vehicle = a_vehicle AND d.dealer = drover.sight_account() AND d.confirmed_at <= a_time AND d.ended_at IS NULL)
        ELSE coalesce((SELECT o.account = drover.sight_account() FROM drover.car_owner o
            WHERE o.vehicle = a_vehicle
            ORDER BY o.owned_at <= a_time DESC, CASE WHEN o.owned_at <= a_time THEN o.owned_at END DESC, o.owned_at LIMIT 1), false)
        END
$$;
REVOKE EXECUTE ON FUNCTION drover.sees_at(a_kind text, a_vehicle text, a_time timestamp with time zone) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.sees_at(a_kind text, a_vehicle text, a_time timestamp with time zone) TO drover_reader, drover_sight, drover_writer;

-- Cars that somebody drove: of these the own drives, of what the account may write about: a drive that somebody only says is no drive of theirs.
-- Of a car one such drive is enough to know its name.
CREATE FUNCTION drover.driven() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
    SELECT c.vehicle FROM (
        SELECT DISTINCT d.vehicle FROM drover.driving d WHERE d.account = drover.sight_account() AND 'driver' = ANY (drover.sight_roles())) AS c
    WHERE EXISTS (SELECT FROM drover.driving d WHERE d.vehicle = c.vehicle AND d.account = drover.sight_account()
        AND drover.is_believed(d.account, d.vehicle, d.from_at, d.until_at))
    UNION
    SELECT a.vehicle FROM drover.assignment a WHERE a.account = drover.sight_account() AND 'driver' = ANY (drover.sight_roles())
$$;
REVOKE EXECUTE ON FUNCTION drover.driven() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.driven() TO drover_reader, drover_sight, drover_writer;

CREATE FUNCTION drover.drove(a_vehicle text, from_at timestamptz, until_at timestamptz) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN c.driver = drover.sight_account()
        THEN drover.is_believed(c.driver, a_vehicle, from_at, until_at) ELSE false END
    FROM drover.trip_context(a_vehicle, from_at, until_at) c
$$;
REVOKE EXECUTE ON FUNCTION drover.drove(a_vehicle text, from_at timestamp with time zone, until_at timestamp with time zone) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.drove(a_vehicle text, from_at timestamp with time zone, until_at timestamp with time zone) TO drover_reader, drover_sight, drover_writer;

-- Names and models of what one sees something of.
CREATE FUNCTION drover.known(a_kind text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.seen(a_kind) UNION SELECT drover.seen_partly(a_kind)
    UNION SELECT drover.driven() WHERE a_kind = 'car'
$$;
REVOKE EXECUTE ON FUNCTION drover.known(a_kind text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.known(a_kind text) TO drover_reader, drover_relay, drover_sight, drover_writer;

-- Fleets that a person belongs to, with their vehicles: reports and pages are narrowed to one of them. Programs of the
-- installation and who runs it see all; nobody, and people without a role, none; a program asks for nobody. It gives no sight of its own:
-- what is seen of a vehicle, its tables' rules say.
CREATE FUNCTION drover.fleets_seen()
RETURNS TABLE (fleet text, name text, kind text, vehicle text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT f.fleet, f.name, v.kind, v.vehicle
    FROM drover.fleet f
    -- A fleet has the vehicles of its parts, too.
    JOIN drover.fleet part ON part.fleet = f.fleet OR part.part_of = f.fleet
    JOIN drover.fleet_vehicle v ON v.fleet = part.fleet
    WHERE (drover.sight_account() IS NULL AND drover.is_program())
        OR drover.sight_roles() && ARRAY['administrator', 'operator']
        OR (drover.reads_fleets() AND EXISTS (SELECT FROM drover.fleet_member m
            WHERE m.account = drover.sight_account() AND m.fleet IN (f.fleet, f.part_of)))
$$;
REVOKE EXECUTE ON FUNCTION drover.fleets_seen() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.fleets_seen() TO drover_page, drover_reader, drover_sight;

-- Who has something to do with vehicles at all.
CREATE FUNCTION drover.reads_fleets() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.sight_roles() && ARRAY['farmer', 'dealer', 'developer', 'driver', 'fleet_manager', 'dispatcher', 'analyst', 'operator', 'administrator']
$$;
REVOKE EXECUTE ON FUNCTION drover.reads_fleets() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.reads_fleets() TO drover_reader, drover_relay, drover_researcher, drover_sight, drover_writer;

-- People who are in a fleet with the reader, for who reads fleets: whom one can ask to step in.
CREATE FUNCTION drover.colleagues() RETURNS TABLE (account text, name text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 50 SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT p.account, trim(p.first_name || ' ' || p.last_name)
        FROM drover.fleet_member mine JOIN drover.fleet_member m USING (fleet) JOIN drover.account p ON p.account = m.account
        WHERE mine.account = drover.sight_account() AND p.account <> mine.account AND p.disabled_at IS NULL AND drover.reads_fleets()
        ORDER BY 2, 1 LIMIT 500
$$;
REVOKE EXECUTE ON FUNCTION drover.colleagues() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.colleagues() TO drover_page;

CREATE TRIGGER fleet_check BEFORE INSERT OR UPDATE ON drover.fleet FOR EACH ROW EXECUTE FUNCTION drover.check_fleet();
