-- Minutes, days and trips of cars, and what was scanned. Cars' minutes and machines' readings lie in partitions by time, so that what is
-- old goes as whole tables (docs/decisions/0019-periods.md). What a worker writes again and again stays in its page: no new entry in an
-- index, no second row in the log of the database.

-- One row a vehicle and minute that holds readings: what the minute adds up to, and its samples, packed
-- (docs/packed-samples.md). An interval between two samples belongs to the minute of the later one.
CREATE TABLE drover.vehicle_minute (
    vehicle text NOT NULL,
    minute_at timestamptz NOT NULL,
    trip_start_at timestamptz NOT NULL,
    readings integer NOT NULL,
    disputed_readings integer NOT NULL,
    speed_readings integer NOT NULL,
    integrated_ms bigint NOT NULL,
    distance_mm bigint NOT NULL,
    idle_ms bigint NOT NULL,
    holes integer NOT NULL,
    sharp_accelerations integer NOT NULL,
    sharp_brakings integer NOT NULL,
    max_speed_m_per_h integer,
    rpm_ms bigint NOT NULL,  -- time covered by rpm
    milli_turns bigint NOT NULL,  -- crankshaft turns over that time, in thousandths
    max_rpm_milli integer,
    air_mg bigint,
    air_calculated_mg bigint,
    max_coolant_milli_c integer,
    min_voltage_mv integer,
    max_voltage_mv integer,
    samples bytea NOT NULL,
    revision integer DEFAULT 0 NOT NULL,
    revised_at timestamptz,
    max_acceleration_mm_per_s2 integer,  -- greatest change of speed over one second
    max_braking_mm_per_s2 integer,
    acceleration_mm2_per_s3 bigint,  -- severity: integral of the squared smoothed acceleration
    braking_mm2_per_s3 bigint,
    fuel_rate_ul bigint,  -- by the engine's own rate (PID 5E)
    fuel_rate_ms bigint,  -- time that it covers
    burnt_air_mg bigint,  -- of air_mg what met fuel at the stoichiometric ratio
    air_ms bigint,  -- time that both cover
    burnt_air_calculated_mg bigint,
    air_calculated_ms bigint,
    burnt_air_per_litre_mg bigint,  -- speed-density, for each litre of displacement, filled wholly
    air_per_litre_ms bigint,
    fuel_cut_ms bigint,  -- overrun without fuel; NULL: the car does not tell
    CONSTRAINT vehicle_minute_pkey PRIMARY KEY (vehicle, minute_at)
)
PARTITION BY RANGE (minute_at);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.vehicle_minute TO drover_writer;
GRANT SELECT ON drover.vehicle_minute TO drover_reader, drover_sight;

-- Days in UTC. A reader's day in another zone is made from trips and minutes (Queries/reports).
CREATE TABLE drover.vehicle_day (
    vehicle text NOT NULL,
    day_at timestamptz NOT NULL,  -- 00:00 UTC
    readings integer NOT NULL,
    disputed_readings integer NOT NULL,
    speed_readings integer NOT NULL,
    integrated_ms bigint NOT NULL,
    distance_mm bigint NOT NULL,
    idle_ms bigint NOT NULL,
    holes integer NOT NULL,
    sharp_accelerations integer NOT NULL,
    sharp_brakings integer NOT NULL,
    max_speed_m_per_h integer,
    rpm_ms bigint NOT NULL,
    milli_turns bigint NOT NULL,
    max_rpm_milli integer,
    air_mg bigint,
    air_calculated_mg bigint,
    max_coolant_milli_c integer,
    min_voltage_mv integer,
    max_voltage_mv integer,
    revision integer DEFAULT 0 NOT NULL,
    revised_at timestamptz,
    max_acceleration_mm_per_s2 integer,
    max_braking_mm_per_s2 integer,
    acceleration_mm2_per_s3 bigint,
    braking_mm2_per_s3 bigint,
    fuel_rate_ul bigint,
    fuel_rate_ms bigint,
    burnt_air_mg bigint,
    air_ms bigint,
    burnt_air_calculated_mg bigint,
    air_calculated_ms bigint,
    burnt_air_per_litre_mg bigint,
    air_per_litre_ms bigint,
    fuel_cut_ms bigint,
    CONSTRAINT vehicle_day_pkey PRIMARY KEY (vehicle, day_at)
)
WITH (fillfactor='50');
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.vehicle_day TO drover_writer;
GRANT SELECT ON drover.vehicle_day TO drover_reader, drover_sight;

CREATE TABLE drover.trip (
    vehicle text NOT NULL,
    start_at timestamptz NOT NULL,
    end_at timestamptz NOT NULL,  -- time of the last reading
    is_open boolean NOT NULL,  -- the partition's clock has not passed the trip gap yet
    readings integer NOT NULL,
    disputed_readings integer NOT NULL,
    speed_readings integer NOT NULL,
    integrated_ms bigint NOT NULL,
    distance_mm bigint NOT NULL,
    idle_ms bigint NOT NULL,
    holes integer NOT NULL,
    sharp_accelerations integer NOT NULL,
    sharp_brakings integer NOT NULL,
    max_speed_m_per_h integer,
    rpm_ms bigint NOT NULL,
    milli_turns bigint NOT NULL,
    max_rpm_milli integer,
    air_mg bigint,
    air_calculated_mg bigint,
    max_coolant_milli_c integer,
    min_voltage_mv integer,
    max_voltage_mv integer,
    revision integer DEFAULT 0 NOT NULL,
    revised_at timestamptz,
    state bytea,  -- what the car's next minute depends on, beside its latest trip only
    max_acceleration_mm_per_s2 integer,
    max_braking_mm_per_s2 integer,
    acceleration_mm2_per_s3 bigint,
    braking_mm2_per_s3 bigint,
    fuel_rate_ul bigint,
    fuel_rate_ms bigint,
    burnt_air_mg bigint,
    air_ms bigint,
    burnt_air_calculated_mg bigint,
    air_calculated_ms bigint,
    burnt_air_per_litre_mg bigint,
    air_per_litre_ms bigint,
    fuel_cut_ms bigint,
    from_before boolean DEFAULT false NOT NULL,  -- the trip before it goes on in it: start_at is the border
    goes_on boolean DEFAULT false NOT NULL,
    carry bytea,
    CONSTRAINT trip_pkey PRIMARY KEY (vehicle, start_at)
)
WITH (fillfactor='50');
ALTER TABLE drover.trip ADD CONSTRAINT trip_has_an_end CHECK ((end_at <= date_trunc('day'::text, ((start_at + '48:00:00'::interval) - '00:00:00.000001'::interval), 'UTC'::text))) NOT VALID;
CREATE INDEX trip_by_start ON drover.trip (start_at);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.trip TO drover_writer;
GRANT SELECT ON drover.trip TO drover_reader, drover_sight;
GRANT SELECT (vehicle, start_at, is_open) ON drover.trip TO drover_gateway;

-- Where each trip began: the first place that its first stretch of a minute holds. Rows of trips that an older program wrote
-- are missing until late readings correct them; a replay has them all.
CREATE TABLE drover.trip_start (
    vehicle text NOT NULL,
    start_at timestamptz NOT NULL,
    latitude_deg double precision,  -- NULL: no reading of that minute has a place
    longitude_deg double precision,
    lacks_weather boolean NOT NULL,  -- a place, and no service has told of its hour yet
    CONSTRAINT trip_start_pkey PRIMARY KEY (vehicle, start_at)
);
CREATE INDEX trip_start_without_weather ON drover.trip_start (start_at, vehicle) WHERE lacks_weather;
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.trip_start TO drover_writer;
GRANT SELECT ON drover.trip_start TO drover_gateway, drover_reader, drover_sight;

-- Where a driver's own start or stop cuts the drive.
CREATE TABLE drover.trip_mark (
    vehicle text NOT NULL,
    marked_at timestamptz NOT NULL,
    is_start boolean NOT NULL,  -- a reading of that very time begins the next trip; else it ends this one
    record_id text NOT NULL,
    marked_by text NOT NULL,
    CONSTRAINT trip_mark_pkey PRIMARY KEY (vehicle, marked_at, is_start)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.trip_mark TO drover_writer;
GRANT SELECT ON drover.trip_mark TO drover_reader;

-- By which limits trips are made, from the log of each partition of drover.cars (docs/decisions/0024-trip-rules-on-the-log.md). A trip is
-- made by the set in force when it begins. The row of 1990 is what a partition began with, before any set.
CREATE TABLE drover.trip_rules (
    topic_partition integer NOT NULL,
    in_force_at timestamptz NOT NULL,
    gap_ms bigint NOT NULL,
    trip_gap_ms bigint NOT NULL,
    sharp_mm_per_s2 bigint NOT NULL,
    sharp_merge_ms bigint NOT NULL,
    sharp_least_m_per_h bigint NOT NULL,
    sharp_hold_ms bigint NOT NULL,
    record_offset bigint,  -- the record that says so; null: the row of 1990, until a record tells of it
    CONSTRAINT trip_rules_pkey PRIMARY KEY (topic_partition, in_force_at)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.trip_rules TO drover_writer;
GRANT SELECT ON drover.trip_rules TO drover_reader, drover_sight;

-- What a driver says of the trip that trip_at lies in: a row is the latest record of its kind by (noted_at, record_id).
CREATE TABLE drover.trip_note (
    vehicle text NOT NULL,
    trip_at timestamptz NOT NULL,
    is_discard boolean NOT NULL,  -- else a tag
    tag text,  -- NULL: the tag is taken away
    noted_at timestamptz NOT NULL,
    record_id text NOT NULL,
    noted_by text NOT NULL,
    CONSTRAINT trip_note_pkey PRIMARY KEY (vehicle, trip_at, is_discard)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.trip_note TO drover_writer;
GRANT SELECT ON drover.trip_note TO drover_reader;

-- Trips without readings: what a phone reported, as it reported it. Never part of sums that are made from readings.
CREATE TABLE drover.trip_summary (
    vehicle text NOT NULL,
    record_id text NOT NULL,
    start_at timestamptz NOT NULL,
    end_at timestamptz NOT NULL,
    account text NOT NULL,  -- who reported it
    basis text DEFAULT 'no readings'::text NOT NULL,
    distance_km double precision,
    average_speed_kmh double precision,
    max_speed_kmh double precision,
    fuel_l double precision,
    average_mpg double precision,
    idle_s double precision,
    max_coolant_c double precision,
    sharp_accelerations integer,
    sharp_brakings integer,
    note text,
    CONSTRAINT trip_summary_pkey PRIMARY KEY (vehicle, record_id),
    CONSTRAINT trip_summary_basis_check CHECK ((basis = 'no readings'::text))
);
CREATE INDEX trip_summary_by_start ON drover.trip_summary (vehicle, start_at);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.trip_summary TO drover_writer;
GRANT SELECT ON drover.trip_summary TO drover_reader, drover_sight;

CREATE UNLOGGED TABLE drover.live_trip (
    vehicle text NOT NULL,
    start_at timestamptz,
    end_at timestamptz,
    readings integer,
    disputed_readings integer,
    speed_readings integer,
    integrated_ms bigint,
    distance_mm bigint,
    idle_ms bigint,
    holes integer,
    sharp_accelerations integer,
    sharp_brakings integer,
    max_speed_m_per_h integer,
    rpm_ms bigint,
    milli_turns bigint,
    max_rpm_milli integer,
    air_mg bigint,
    air_calculated_mg bigint,
    max_coolant_milli_c integer,
    min_voltage_mv integer,
    max_voltage_mv integer,
    max_acceleration_mm_per_s2 integer,
    max_braking_mm_per_s2 integer,
    acceleration_mm2_per_s3 bigint,
    braking_mm2_per_s3 bigint,
    fuel_rate_ul bigint,
    fuel_rate_ms bigint,
    burnt_air_mg bigint,
    air_ms bigint,
    burnt_air_calculated_mg bigint,
    air_calculated_ms bigint,
    burnt_air_per_litre_mg bigint,
    air_per_litre_ms bigint,
    fuel_cut_ms bigint,
    minute_at timestamptz NOT NULL,  -- start of the open minute
    samples bytea NOT NULL,
    from_before boolean DEFAULT false NOT NULL,
    CONSTRAINT live_trip_pkey PRIMARY KEY (vehicle)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.live_trip TO drover_writer;
GRANT SELECT ON drover.live_trip TO drover_reader, drover_sight;

-- Health scans: asked for, answered, or handed in by a phone.
CREATE TABLE drover.health_scan (
    vehicle text NOT NULL,
    scan_id text NOT NULL,  -- the request's id, else the result's
    asked_at timestamptz,
    asked_by text,
    expires_at timestamptz,  -- nobody waits for it any more
    scanned_at timestamptz,
    scanned_by text,
    is_done boolean,  -- the car answered
    answer text,  -- the count of codes, or the reason and what to do
    stored text[],  -- mode 03
    pending text[],  -- mode 07
    permanent text[],  -- mode 0A
    is_lamp_on boolean,
    not_ready text[],
    vin text,
    freeze_frame text,  -- JSON
    CONSTRAINT health_scan_pkey PRIMARY KEY (vehicle, scan_id)
);
CREATE INDEX health_scan_open ON drover.health_scan (expires_at) WHERE (scanned_at IS NULL);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.health_scan TO drover_writer;
GRANT SELECT ON drover.health_scan TO drover_gateway, drover_reader, drover_sight;

-- Makes the partition that holds a time where it is missing. Of a table that has none (a replay's) it makes nothing.
-- Attached and not made in place: that would wait for whoever reads the table, and hold up all others meanwhile.
CREATE FUNCTION drover.make_period(a_table regclass, a_time timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    a_relation text; time_column text; a_width text; first_at timestamptz; last_at timestamptz; made text;
BEGIN
    CASE a_table
        WHEN to_regclass('drover.vehicle_minute') THEN a_relation := 'vehicle_minute'; time_column := 'minute_at';
        WHEN to_regclass('drover.machine_reading') THEN a_relation := 'machine_reading'; time_column := 'read_at';
        ELSE RETURN;
    END CASE;
    PERFORM FROM drover.period p WHERE p.relation = a_relation AND p.from_at <= a_time AND p.to_at > a_time;
    IF FOUND THEN RETURN; END IF;
    -- One at a time: the second finds what the first has made.
    PERFORM drover.take_turn('drover.period');
    PERFORM FROM drover.period p WHERE p.relation = a_relation AND p.from_at <= a_time AND p.to_at > a_time;
    IF FOUND THEN RETURN; END IF;
    SELECT w.width INTO STRICT a_width FROM drover.period_width w WHERE w.relation = a_relation;
    -- Recordings of years ago must not make hundreds of partitions: years for what is older than two. Where months or days of
    -- that time are there already, the narrower ones.
    FOREACH a_width IN ARRAY CASE
        WHEN a_time < now() - interval '2 years' THEN ARRAY['year', 'month', 'day']
        WHEN a_width = 'month' OR a_time < now() - interval '40 days' THEN ARRAY['month', 'day']
        ELSE ARRAY['day'] END
    LOOP
        first_at := date_trunc(a_width, a_time);
        last_at := first_at + ('1 ' || a_width)::interval;
        EXIT WHEN NOT EXISTS (
            SELECT FROM drover.period p WHERE p.relation = a_relation AND p.from_at < last_at AND p.to_at > first_at);
    END LOOP;
    made := a_relation || to_char(first_at, CASE a_width WHEN 'year' THEN '_YYYY' WHEN 'month' THEN '_YYYY_MM' ELSE '_YYYY_MM_DD' END);
    EXECUTE format('CREATE TABLE drover.%1$I (LIKE drover.%2$I INCLUDING ALL, CONSTRAINT period CHECK (%3$I >= %4$L AND %3$I < %5$L))',
        made, a_relation, time_column, first_at, last_at);
    -- The check tells that its rows are of the period: attaching reads none of them.
    EXECUTE format('ALTER TABLE drover.%I ATTACH PARTITION drover.%I FOR VALUES FROM (%L) TO (%L)', a_relation, made, first_at, last_at);
    EXECUTE format('ALTER TABLE drover.%I DROP CONSTRAINT period', made);
    INSERT INTO drover.period (relation, from_at, to_at, partition) VALUES (a_relation, first_at, last_at, made);
END $$;
REVOKE EXECUTE ON FUNCTION drover.make_period(a_table regclass, a_time timestamp with time zone) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.make_period(a_table regclass, a_time timestamp with time zone) TO drover_writer;

-- Workers make further ones as they need them.
SELECT drover.make_period('drover.vehicle_minute', now() + m * interval '1 month') FROM generate_series(-1, 2) AS m;
SELECT drover.make_period('drover.machine_reading', now() + m * interval '1 month') FROM generate_series(-1, 2) AS m;
