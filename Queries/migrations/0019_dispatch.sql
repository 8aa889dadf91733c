-- Dispatch: campuses, their rides and vehicles, and each decision with its reasons.
CREATE TABLE drover.campus (
    campus          text   PRIMARY KEY,
    topic_partition int    NOT NULL,
    name            text   NOT NULL,
    settings        text   NOT NULL,                -- the record that said them last, as on drover.dispatch
    state           bytea  NOT NULL,               -- itineraries and who waits: Sources/Itineraries/CampusPacked.swift
    record_offset   bigint NOT NULL                -- of the last record in it
);
CREATE INDEX campus_by_partition ON drover.campus (topic_partition);

CREATE TABLE drover.rider (
    campus text NOT NULL,
    rider  text NOT NULL,
    name   text NOT NULL,
    photo  text,
    PRIMARY KEY (campus, rider)
);

CREATE TABLE drover.ride (
    campus             text             NOT NULL,
    request            text             NOT NULL,
    rider              text             NOT NULL,
    state              text             NOT NULL CHECK (state IN
        ('queued', 'assigned', 'on_board', 'done', 'cancelled', 'expired', 'refused')),
    reason             text,
    passengers         int              NOT NULL,
    description        text,
    from_latitude_deg  double precision NOT NULL,
    from_longitude_deg double precision NOT NULL,
    from_address       text,
    to_latitude_deg    double precision NOT NULL,
    to_longitude_deg   double precision NOT NULL,
    to_address         text,
    requested_at       timestamptz      NOT NULL,
    vehicle            text,
    place_in_line      int,
    pickup_at          timestamptz,                -- expected, or when it was
    dropoff_at         timestamptz,                -- expected, or when it was
    ended_at           timestamptz,
    sign_at            timestamptz      NOT NULL,  -- the rider's last sign of life
    PRIMARY KEY (campus, request)
);
CREATE INDEX ride_outstanding ON drover.ride (campus) WHERE ended_at IS NULL;
CREATE INDEX ride_by_end ON drover.ride (campus, ended_at);
CREATE INDEX ride_by_rider ON drover.ride (campus, rider, requested_at);

CREATE TABLE drover.ride_vehicle (
    campus        text             NOT NULL,
    vehicle       text             NOT NULL,
    driver        text             NOT NULL,
    driver_name   text             NOT NULL,
    driver_photo  text,
    capacity      int              NOT NULL,
    latitude_deg  double precision NOT NULL,
    longitude_deg double precision NOT NULL,
    seen_at       timestamptz      NOT NULL,       -- when it was there
    state         text             NOT NULL CHECK (state IN ('in_service', 'leaving', 'out')),
    is_alarmed    boolean          NOT NULL,       -- silent with passengers on board
    sign_at       timestamptz      NOT NULL,       -- the driver's last sign of life
    stops         text[]           NOT NULL,       -- `request p` or `request d`, in order
    PRIMARY KEY (campus, vehicle)
);

CREATE TABLE drover.dispatch_decision (
    campus        text        NOT NULL,
    record_offset bigint      NOT NULL,            -- of the record that asked for it, in the campus's partition
    made_at       timestamptz NOT NULL,
    decision      text        NOT NULL,            -- Sources/Itineraries/DecisionText.swift
    why           jsonb       NOT NULL,
    PRIMARY KEY (campus, record_offset)
);
CREATE INDEX dispatch_decision_by_time ON drover.dispatch_decision (campus, made_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON drover.campus, drover.rider, drover.ride, drover.ride_vehicle,
    drover.dispatch_decision TO drover_writer;
GRANT SELECT ON drover.campus, drover.rider, drover.ride, drover.ride_vehicle, drover.dispatch_decision TO drover_reader;
