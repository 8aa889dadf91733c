-- Cars: what their fuel is worked out from, what drivers say of their trips, health scans, accounts' settings. All of it
-- came over the log; order and repeats do not matter.

ALTER TABLE drover.registration
    ADD COLUMN account text,                       -- who owns the car
    ADD COLUMN vin text,
    ADD COLUMN make text,
    ADD COLUMN year int,
    ADD COLUMN fuel text CHECK (fuel IN ('gasoline', 'diesel', 'ethanol', 'methanol', 'lpg', 'cng', 'electric')),
    ADD COLUMN tank_l double precision,
    ADD COLUMN displacement_cc int,
    ADD COLUMN volumetric_efficiency_pct double precision;

-- Where a driver's own start or stop cuts the drive.
CREATE TABLE drover.trip_mark (
    vehicle   text        NOT NULL,
    marked_at timestamptz NOT NULL,
    is_start  boolean     NOT NULL,   -- a reading of that very time begins the next trip; else it ends this one
    record_id text        NOT NULL,
    marked_by text        NOT NULL,
    PRIMARY KEY (vehicle, marked_at, is_start)
);

-- What a driver says of the trip that trip_at lies in: a row is the latest record of its kind by (noted_at, record_id).
CREATE TABLE drover.trip_note (
    vehicle      text        NOT NULL,
    trip_at      timestamptz NOT NULL,
    is_discard   boolean     NOT NULL,   -- else a tag
    tag          text,                   -- NULL: the tag is taken away
    noted_at     timestamptz NOT NULL,
    record_id    text        NOT NULL,
    noted_by     text        NOT NULL,
    PRIMARY KEY (vehicle, trip_at, is_discard)
);

-- Who drove, by what was uploaded; and who was assigned.
CREATE TABLE drover.driving (
    vehicle   text        NOT NULL,
    from_at   timestamptz NOT NULL,
    until_at  timestamptz NOT NULL,
    account   text        NOT NULL,
    record_id text        NOT NULL,
    PRIMARY KEY (vehicle, record_id)
);
CREATE INDEX driving_by_time ON drover.driving (vehicle, from_at);
CREATE TABLE drover.assignment (
    vehicle     text        NOT NULL,
    assigned_at timestamptz NOT NULL,
    account     text,                  -- NULL: nobody
    record_id   text        NOT NULL,
    assigned_by text        NOT NULL,
    PRIMARY KEY (vehicle, assigned_at)
);

-- An account's settings stand in every partition, so once a partition.
CREATE TABLE drover.account_settings (
    topic_partition int         NOT NULL,
    account         text        NOT NULL,
    in_force_at     timestamptz NOT NULL,
    settings        text        NOT NULL,  -- JSON: Sources/Alerts/DriverSettings.swift
    record_id       text        NOT NULL,
    PRIMARY KEY (topic_partition, account, in_force_at)
);

-- Health scans: asked for, answered, or handed in by a phone.
CREATE TABLE drover.health_scan (
    vehicle      text NOT NULL,
    scan_id      text NOT NULL,      -- the request's id, else the result's
    asked_at     timestamptz,
    asked_by     text,
    expires_at   timestamptz,        -- nobody waits for it any more
    scanned_at   timestamptz,
    scanned_by   text,
    is_done      boolean,            -- the car answered
    answer       text,               -- the count of codes, or the reason and what to do
    stored       text[],             -- mode 03
    pending      text[],             -- mode 07
    permanent    text[],             -- mode 0A
    is_lamp_on   boolean,
    not_ready    text[],
    vin          text,
    freeze_frame text,               -- JSON
    PRIMARY KEY (vehicle, scan_id)
);
CREATE INDEX health_scan_open ON drover.health_scan (expires_at) WHERE scanned_at IS NULL;

-- What a car said it supports: the row is its latest answer.
CREATE TABLE drover.car_support (
    vehicle   text        PRIMARY KEY,
    seen_at   timestamptz NOT NULL,
    record_id text        NOT NULL,
    pids      text[]      NOT NULL
);

GRANT SELECT, INSERT, UPDATE, DELETE ON drover.trip_mark, drover.trip_note, drover.driving, drover.assignment,
    drover.account_settings, drover.health_scan, drover.car_support TO drover_writer;
GRANT SELECT ON drover.trip_mark, drover.trip_note, drover.driving, drover.assignment, drover.account_settings,
    drover.health_scan, drover.car_support TO drover_reader;
GRANT SELECT ON drover.health_scan, drover.car_support TO drover_gateway;
