-- The first whole path: progress, vehicles, minutes, trips, days, machine readings, alerts, rejected records.
-- Times are timestamptz and end in _at; every other column ends in its unit. Sums are integers, so that a trip is
-- exactly the sum of its minutes.


-- The fence: a worker moves next_offset by compare-and-set in the transaction that writes the results, so a
-- partition has one writer whatever the consumer group believes.
CREATE TABLE drover.partition_progress (
    topic       text   NOT NULL,
    partition   int    NOT NULL,
    next_offset bigint NOT NULL,
    clock_at    timestamptz,             -- the greatest tick seen
    PRIMARY KEY (topic, partition)
);

CREATE TABLE drover.vehicle (
    kind            text NOT NULL CHECK (kind IN ('car', 'machine')),
    vehicle         text NOT NULL,
    model           text,
    topic_partition int  NOT NULL,
    last_reading_at timestamptz NOT NULL,
    PRIMARY KEY (kind, vehicle)
);

-- One row a vehicle and minute that holds readings: what the minute adds up to, and its samples, packed
-- (docs/packed-samples.md). An interval between two samples belongs to the minute of the later one.
CREATE TABLE drover.vehicle_minute (
    vehicle              text        NOT NULL,
    minute_at            timestamptz NOT NULL,
    trip_start_at        timestamptz NOT NULL,
    readings             int     NOT NULL,
    disputed_readings    int     NOT NULL,
    speed_readings       int     NOT NULL,
    integrated_ms        bigint  NOT NULL,
    distance_mm          bigint  NOT NULL,
    idle_ms              bigint  NOT NULL,
    holes                int     NOT NULL,
    sharp_accelerations  int     NOT NULL,
    sharp_brakings       int     NOT NULL,
    max_speed_m_per_h    int,
    rpm_ms               bigint  NOT NULL,  -- time covered by rpm
    milli_turns          bigint  NOT NULL,  -- crankshaft turns over that time, in thousandths
    max_rpm_milli        int,
    air_mg               bigint,
    air_calculated_mg    bigint,
    max_coolant_milli_c  int,
    min_voltage_mv       int,
    max_voltage_mv       int,
    samples              bytea   NOT NULL,
    PRIMARY KEY (vehicle, minute_at)
);

CREATE TABLE drover.trip (
    vehicle              text        NOT NULL,
    start_at             timestamptz NOT NULL,
    end_at               timestamptz NOT NULL,  -- time of the last reading
    is_open              boolean     NOT NULL,  -- the partition's clock has not passed the trip gap yet
    readings             int     NOT NULL,
    disputed_readings    int     NOT NULL,
    speed_readings       int     NOT NULL,
    integrated_ms        bigint  NOT NULL,
    distance_mm          bigint  NOT NULL,
    idle_ms              bigint  NOT NULL,
    holes                int     NOT NULL,
    sharp_accelerations  int     NOT NULL,
    sharp_brakings       int     NOT NULL,
    max_speed_m_per_h    int,
    rpm_ms               bigint  NOT NULL,
    milli_turns          bigint  NOT NULL,
    max_rpm_milli        int,
    air_mg               bigint,
    air_calculated_mg    bigint,
    max_coolant_milli_c  int,
    min_voltage_mv       int,
    max_voltage_mv       int,
    PRIMARY KEY (vehicle, start_at)
);
CREATE INDEX trip_by_end ON drover.trip (vehicle, end_at);
CREATE INDEX trip_by_start ON drover.trip (start_at);
CREATE INDEX trip_open ON drover.trip (end_at) WHERE is_open;

-- Days in UTC. A reader's day in another zone is made from trips and minutes (Queries/reports).
CREATE TABLE drover.vehicle_day (
    vehicle              text NOT NULL,
    day_at               timestamptz NOT NULL,  -- 00:00 UTC
    readings             int     NOT NULL,
    disputed_readings    int     NOT NULL,
    speed_readings       int     NOT NULL,
    integrated_ms        bigint  NOT NULL,
    distance_mm          bigint  NOT NULL,
    idle_ms              bigint  NOT NULL,
    holes                int     NOT NULL,
    sharp_accelerations  int     NOT NULL,
    sharp_brakings       int     NOT NULL,
    max_speed_m_per_h    int,
    rpm_ms               bigint  NOT NULL,
    milli_turns          bigint  NOT NULL,
    max_rpm_milli        int,
    air_mg               bigint,
    air_calculated_mg    bigint,
    max_coolant_milli_c  int,
    min_voltage_mv       int,
    max_voltage_mv       int,
    PRIMARY KEY (vehicle, day_at)
);

CREATE TABLE drover.machine_reading (
    vehicle                 text        NOT NULL,
    read_at                 timestamptz NOT NULL,
    reading_id              text        NOT NULL,
    model                   text        NOT NULL,
    serial                  text,
    firmware                text,
    engine_hours_h          double precision,
    engine_turn_on_count    bigint,
    key_turn_on_count       bigint,
    fuel_level_gal          double precision,
    coolant_c               double precision,
    hydraulic_oil_c         double precision,
    tire_pressure_kpa       double precision,
    gps_available           boolean,
    gps_fix_at              timestamptz,
    latitude_deg            double precision,
    longitude_deg           double precision,
    rda_license             boolean,
    wdt_license             boolean,
    machine_sync            boolean,
    connected_devices       bigint,
    connected_device_names  text[],
    last_cell_call_in_at    timestamptz,
    last_reprogramming_ok   boolean,
    last_reprogramming_at   timestamptz,
    alert_state             bytea NOT NULL,     -- the alert engine's state after this reading: where late data starts again
    PRIMARY KEY (vehicle, read_at)
);

CREATE TABLE drover.alert (
    alert_id       text PRIMARY KEY,             -- vehicle, parameter and opening reading, see Alerts/Episode.swift
    vehicle        text NOT NULL,
    model          text NOT NULL,
    parameter      text NOT NULL,                -- the name as shown to people
    unit           text NOT NULL,
    severity       text NOT NULL CHECK (severity IN ('warning', 'critical')),
    state          text NOT NULL CHECK (state IN ('open', 'resolved', 'withdrawn')),
    test           text NOT NULL CHECK (test IN ('above', 'below', 'absent')),
    threshold      double precision,
    since_at       timestamptz NOT NULL,         -- when the condition began
    opened_at      timestamptz NOT NULL,         -- when it had held long enough
    opening_value  double precision,
    worst_value    double precision,
    worst_at       timestamptz NOT NULL,
    resolved_at    timestamptz,
    audience       text NOT NULL CHECK (audience IN ('farmer', 'dealer', 'developer')),
    recommended    double precision,
    advice         text,
    rules_version  text NOT NULL
);
CREATE INDEX alert_by_vehicle ON drover.alert (vehicle, opened_at);
CREATE INDEX alert_open ON drover.alert (opened_at) WHERE state = 'open';

-- What could not be decoded. The primary key makes a repeat harmless.
CREATE TABLE drover.rejected (
    topic       text   NOT NULL,
    partition   int    NOT NULL,
    record_offset bigint NOT NULL,
    reason      text   NOT NULL,
    first_bytes bytea  NOT NULL,
    PRIMARY KEY (topic, partition, record_offset)
);

-- Least privilege. The group roles hold the rights; logins are members. Roles belong to the whole cluster,
-- so another database of the same cluster may have made them already.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_writer') THEN CREATE ROLE drover_writer NOLOGIN; END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_reader') THEN CREATE ROLE drover_reader NOLOGIN; END IF;
END $$;
-- Workers copy into temporary staging tables.
DO $$ BEGIN EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO drover_writer', current_database()); END $$;
GRANT USAGE ON SCHEMA drover TO drover_writer, drover_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA drover TO drover_writer;
GRANT SELECT ON drover.vehicle, drover.vehicle_minute, drover.trip, drover.vehicle_day, drover.machine_reading,
    drover.alert, drover.partition_progress TO drover_reader;
