-- Who drives, owns and watches cars.

CREATE TABLE drover.assignment (
    vehicle text NOT NULL,
    assigned_at timestamptz NOT NULL,
    account text,  -- NULL: nobody
    record_id text NOT NULL,
    assigned_by text NOT NULL,
    CONSTRAINT assignment_pkey PRIMARY KEY (vehicle, assigned_at)
);
CREATE INDEX assignment_by_account ON drover.assignment (account);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.assignment TO drover_writer;
GRANT SELECT ON drover.assignment TO drover_reader;

-- Who drove, by what was uploaded; and who was assigned.
CREATE TABLE drover.driving (
    vehicle text NOT NULL,
    from_at timestamptz NOT NULL,
    until_at timestamptz NOT NULL,
    account text NOT NULL,
    record_id text NOT NULL,
    CONSTRAINT driving_pkey PRIMARY KEY (vehicle, record_id)
);
CREATE INDEX driving_by_account ON drover.driving (account, until_at);
-- What adjoins a drive that goes on now is found from its end.
CREATE INDEX driving_by_end ON drover.driving (vehicle, until_at);
CREATE INDEX driving_by_time ON drover.driving (vehicle, from_at);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.driving TO drover_writer;
GRANT SELECT ON drover.driving TO drover_reader;

-- Whose car it was from a time on: registrations over time, where drover.registration has the latest.
CREATE TABLE drover.car_owner (
    vehicle text NOT NULL,
    owned_at timestamptz NOT NULL,
    account text,  -- NULL: nobody's
    record_id text NOT NULL,
    CONSTRAINT car_owner_pkey PRIMARY KEY (vehicle, owned_at)
);
-- Whose cars are touched by an account's settings.
CREATE INDEX car_owner_by_account ON drover.car_owner (account);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.car_owner TO drover_writer;
GRANT SELECT ON drover.car_owner TO drover_reader;

-- What a car said it supports: the row is its latest answer.
CREATE TABLE drover.car_support (
    vehicle text NOT NULL,
    seen_at timestamptz NOT NULL,
    record_id text NOT NULL,
    pids text[] NOT NULL,
    CONSTRAINT car_support_pkey PRIMARY KEY (vehicle)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.car_support TO drover_writer;
GRANT SELECT ON drover.car_support TO drover_gateway, drover_reader;

-- Drivers' alerts are judged from memory as readings come, and at ticks from what is stored (docs/decisions/0011-what-drivers-are-told.md). What a
-- worker that takes a partition over has to know of them; a car that is silent for an hour has no row.
CREATE TABLE drover.car_watch (
    vehicle text NOT NULL,
    topic_partition integer NOT NULL,
    state bytea,
    next_offset bigint,
    from_at timestamptz,
    until_at timestamptz,
    asked_offset bigint,
    is_late boolean,
    is_latest boolean,
    arrived_at timestamptz,
    codes_offset bigint,
    CONSTRAINT car_watch_pkey PRIMARY KEY (vehicle),
    CONSTRAINT car_watch_check CHECK (((state IS NULL) = (next_offset IS NULL))),
    CONSTRAINT car_watch_check1 CHECK ((num_nulls(from_at, until_at, asked_offset, is_late, is_latest) = ANY (ARRAY[0, 5])))
)
WITH (fillfactor='50');
CREATE INDEX car_watch_by_partition ON drover.car_watch (topic_partition);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.car_watch TO drover_writer;

-- An account's settings stand in every partition, so once a partition.
CREATE TABLE drover.account_settings (
    topic_partition integer NOT NULL,
    account text NOT NULL,
    in_force_at timestamptz NOT NULL,
    settings text NOT NULL,  -- JSON: Sources/Domain/Alerts/Drivers/DriverSettings.swift
    record_id text NOT NULL,
    record_offset bigint,  -- Where an account's settings stand on the log: a car that is taken up again alone is judged by what its partition knew there. Null: from before, long ago.
    judged_from_at timestamptz,
    reached_vehicle text,
    reached_all_offset bigint,  -- the tick at which it had come to all
    CONSTRAINT account_settings_pkey PRIMARY KEY (topic_partition, account, in_force_at)
);
CREATE INDEX account_settings_by_account ON drover.account_settings (account, in_force_at);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.account_settings TO drover_writer;
GRANT SELECT ON drover.account_settings TO drover_reader, drover_sight;

-- What somebody looks at while it drives: the running trip with its open minute, of watched cars only, so that it costs nothing
-- that nobody looks. Neither table is a result: they are empty after a crash and filled again while somebody looks.
CREATE UNLOGGED TABLE drover.watched (
    vehicle text NOT NULL,
    until_at timestamptz NOT NULL,
    CONSTRAINT watched_pkey PRIMARY KEY (vehicle)
);
GRANT DELETE, SELECT ON drover.watched TO drover_writer;
GRANT SELECT ON drover.watched TO drover_reader;

-- NULL: nobody's then. What was recorded before anybody owned a car is its first owner's, as in drover.sees_at.
CREATE FUNCTION drover.car_owner_at(a_vehicle text, a_time timestamptz) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT o.account FROM drover.car_owner o WHERE o.vehicle = a_vehicle
    ORDER BY o.owned_at <= a_time DESC, CASE WHEN o.owned_at <= a_time THEN o.owned_at END DESC, o.owned_at LIMIT 1
$$;
REVOKE EXECUTE ON FUNCTION drover.car_owner_at(a_vehicle text, a_time timestamp with time zone) FROM PUBLIC;

-- Whether a drive is believed: the account may write about it, or it was the car's first driver and nobody owned it then, of drives that were
-- over when the car came into a fleet. To register a car for somebody takes no drive from who drove it before.
CREATE FUNCTION drover.is_believed(an_account text, a_vehicle text, a_begin timestamptz, an_end timestamptz) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.may_write(an_account, 'reading', 'car', a_vehicle, a_begin, an_end) = 'yes' OR (
        EXISTS (SELECT FROM drover.first_writer w WHERE w.kind = 'car' AND w.vehicle = a_vehicle AND w.account = an_account
            AND (w.over_at IS NULL OR an_end <= w.over_at))
        AND NOT EXISTS (SELECT FROM drover.car_owner o WHERE o.vehicle = a_vehicle AND o.account IS NOT NULL AND o.owned_at <= an_end))
$$;
REVOKE EXECUTE ON FUNCTION drover.is_believed(an_account text, a_vehicle text, a_begin timestamp with time zone, an_end timestamp with time zone) FROM PUBLIC;

-- The drives that pages show to an account as its own: to have said of somebody else's car that one drove it opens nothing.
CREATE FUNCTION drover.believed_drives(an_account text) RETURNS SETOF drover.driving
LANGUAGE sql STABLE ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT d.* FROM drover.driving d WHERE d.account = an_account AND drover.is_believed(d.account, d.vehicle, d.from_at, d.until_at)
$$;
REVOKE EXECUTE ON FUNCTION drover.believed_drives(an_account text) FROM PUBLIC;

-- Whether a machine has a rule that can open an alert: one of its own, or one of its model's that it has not put another in place of. A rule
-- judges by its test (third of its fields), or by how long nothing may be said (eleventh).
CREATE FUNCTION drover.is_judged(the_rules text, a_model text, a_vehicle text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    judges text := E'\nrule\t[^\t\n]*\t(above|below)\t|\nrule(\t[^\t\n]*){9}\t[0-9]';
    own text := drover.rules_of_group(the_rules, E'machine\t' || a_vehicle);
    models text := drover.rules_of_group(the_rules, E'model\t' || replace(replace(replace(a_model, '\', '\\'), E'\t', '\t'), E'\n', '\n'));
BEGIN
    IF own = '' OR own ~ judges THEN RETURN coalesce(own || models ~ judges, false); END IF;
    RETURN EXISTS (SELECT FROM string_to_table(models, E'\n') AS line
        WHERE E'\n' || line ~ judges AND strpos(own, E'\nrule\t' || split_part(line, E'\t', 2) || E'\t') = 0);
END $$;
REVOKE EXECUTE ON FUNCTION drover.is_judged(the_rules text, a_model text, a_vehicle text) FROM PUBLIC;

-- To whom a car was assigned when; what goes on with the same driver is one.
CREATE FUNCTION drover.assigned_spans(a_vehicle text) RETURNS TABLE (account text, from_at timestamptz, until_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.account, a.assigned_at, lead(a.assigned_at, 1, 'infinity') OVER (ORDER BY a.assigned_at)
    FROM (SELECT a.account, a.assigned_at, lag(a.account) OVER (ORDER BY a.assigned_at) AS before
          FROM drover.assignment a WHERE a.vehicle = a_vehicle) a
    WHERE a.account IS DISTINCT FROM a.before
$$;
REVOKE EXECUTE ON FUNCTION drover.assigned_spans(a_vehicle text) FROM PUBLIC;

-- What is in force now, for who runs the installation; no row: nothing was ever set.
CREATE FUNCTION drover.installation_settings() RETURNS TABLE (settings text, in_force_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.settings, s.in_force_at FROM drover.account_settings s
    WHERE s.account = 'installation' AND (drover.is_program() OR drover.sight_roles() && ARRAY['operator', 'administrator'])
    ORDER BY s.in_force_at DESC, s.record_id COLLATE "C" DESC LIMIT 1
$$;
REVOKE EXECUTE ON FUNCTION drover.installation_settings() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.installation_settings() TO drover_api, drover_page, drover_reader;

-- The web asks for a car to be looked at. Bounded: ten thousand at a time.
CREATE FUNCTION drover.watch(car text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
    WITH gone AS (DELETE FROM drover.watched WHERE until_at < now() AND vehicle <> car RETURNING vehicle)
    DELETE FROM drover.live_trip l USING gone WHERE l.vehicle = gone.vehicle;
    INSERT INTO drover.watched (vehicle, until_at)
    SELECT car, now() + interval '30 seconds'
    WHERE EXISTS (SELECT FROM drover.vehicle v WHERE v.kind = 'car' AND v.vehicle = car)
        AND (SELECT count(*) FROM drover.watched) < 10000
    ON CONFLICT (vehicle) DO UPDATE SET until_at = EXCLUDED.until_at;
$$;
REVOKE EXECUTE ON FUNCTION drover.watch(car text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.watch(car text) TO drover_api;
