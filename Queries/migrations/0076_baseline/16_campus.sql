-- Rides of campuses, and the fleet that serves them.

-- Dispatch: campuses, their rides and vehicles, and each decision with its reasons.
CREATE TABLE drover.campus (
    campus text NOT NULL,
    topic_partition integer NOT NULL,
    name text NOT NULL,
    settings text NOT NULL,  -- the record that said them last, as on drover.dispatch
    state bytea NOT NULL,  -- itineraries and who waits: Sources/Domain/Routing/Dispatch/CampusPacked.swift
    record_offset bigint NOT NULL,  -- of the last record in it
    likelihoods bytea,
    hour_at timestamptz,
    hour_speed_kmh double precision,  -- NULL: the campus's own
    CONSTRAINT campus_pkey PRIMARY KEY (campus)
);
CREATE INDEX campus_by_partition ON drover.campus (topic_partition);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.campus TO drover_writer;
GRANT SELECT ON drover.campus TO drover_gateway, drover_reader;
GRANT SELECT (campus, topic_partition, name, settings, record_offset) ON drover.campus TO drover_sight;

CREATE TABLE drover.ride (
    campus text NOT NULL,
    request text NOT NULL,
    rider text NOT NULL,
    state text NOT NULL,
    reason text,
    passengers integer NOT NULL,
    description text,
    from_latitude_deg double precision NOT NULL,
    from_longitude_deg double precision NOT NULL,
    from_address text,
    to_latitude_deg double precision NOT NULL,
    to_longitude_deg double precision NOT NULL,
    to_address text,
    requested_at timestamptz NOT NULL,
    vehicle text,
    place_in_line integer,
    pickup_at timestamptz,  -- expected, or when it was
    dropoff_at timestamptz,  -- expected, or when it was
    ended_at timestamptz,
    sign_at timestamptz NOT NULL,  -- the rider's last sign of life
    CONSTRAINT ride_pkey PRIMARY KEY (campus, request)
);
ALTER TABLE drover.ride ADD CONSTRAINT ride_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'assigned'::text, 'on_board'::text, 'done'::text, 'cancelled'::text, 'expired'::text, 'refused'::text, 'ended'::text]))) NOT VALID;
CREATE INDEX ride_by_end ON drover.ride (campus, ended_at);
CREATE INDEX ride_by_rider ON drover.ride (campus, rider, requested_at);
-- Today's rides beside those of the last weeks.
CREATE INDEX ride_by_time ON drover.ride (campus, requested_at);
CREATE INDEX ride_outstanding ON drover.ride (campus) WHERE (ended_at IS NULL);
CREATE INDEX ride_outstanding_of_rider ON drover.ride (campus, rider) WHERE (ended_at IS NULL);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.ride TO drover_writer;
GRANT SELECT ON drover.ride TO drover_gateway, drover_reader, drover_sight;

CREATE TABLE drover.rider (
    campus text NOT NULL,
    rider text NOT NULL,
    name text NOT NULL,
    photo text,
    CONSTRAINT rider_pkey PRIMARY KEY (campus, rider)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.rider TO drover_writer;
GRANT SELECT ON drover.rider TO drover_reader, drover_sight;

CREATE TABLE drover.ride_vehicle (
    campus text NOT NULL,
    vehicle text NOT NULL,
    driver text NOT NULL,
    driver_name text NOT NULL,
    driver_photo text,
    capacity integer NOT NULL,
    latitude_deg double precision NOT NULL,
    longitude_deg double precision NOT NULL,
    seen_at timestamptz NOT NULL,  -- when it was there
    state text NOT NULL,
    is_alarmed boolean NOT NULL,
    sign_at timestamptz NOT NULL,  -- the driver's last sign of life
    stops text[] NOT NULL,  -- `request p` or `request d`, in order
    is_silent boolean DEFAULT false NOT NULL,  -- its last position is too old: nobody is planned on it
    CONSTRAINT ride_vehicle_pkey PRIMARY KEY (campus, vehicle),
    CONSTRAINT ride_vehicle_state_check CHECK ((state = ANY (ARRAY['in_service'::text, 'leaving'::text, 'out'::text])))
);
CREATE INDEX ride_vehicle_by_driver ON drover.ride_vehicle (campus, driver);
COMMENT ON COLUMN drover.ride_vehicle.is_alarmed IS 'silent with passengers on board, until somebody looks after them';
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.ride_vehicle TO drover_writer;
GRANT SELECT ON drover.ride_vehicle TO drover_gateway, drover_reader, drover_sight;

CREATE TABLE drover.dispatch_decision (
    campus text NOT NULL,
    record_offset bigint NOT NULL,  -- of the record that asked for it, in the campus's partition
    made_at timestamptz NOT NULL,
    decision text NOT NULL,  -- Sources/Domain/Routing/Dispatch/DecisionText.swift
    why jsonb NOT NULL,
    CONSTRAINT dispatch_decision_pkey PRIMARY KEY (campus, record_offset)
);
CREATE INDEX dispatch_decision_by_time ON drover.dispatch_decision (campus, made_at);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.dispatch_decision TO drover_writer;
GRANT SELECT ON drover.dispatch_decision TO drover_reader, drover_sight;

CREATE FUNCTION drover.dispatched_campuses() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 3 SET search_path = pg_catalog, pg_temp AS $$
    SELECT b.campus FROM drover.bound_people() b WHERE b.role = 'dispatcher'
$$;
REVOKE EXECUTE ON FUNCTION drover.dispatched_campuses() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.dispatched_campuses() TO drover_reader, drover_sight, drover_writer;
