-- Cars and machines: what is known of them and what they sent.

CREATE TABLE drover.vehicle (
    kind text NOT NULL,
    vehicle text NOT NULL,
    model text,
    topic_partition integer NOT NULL,
    last_reading_at timestamptz,
    next_deadline_at timestamptz,  -- When the clock opens the machine's next alert; NULL: never.
    CONSTRAINT vehicle_pkey PRIMARY KEY (kind, vehicle),
    CONSTRAINT vehicle_kind_check CHECK ((kind = ANY (ARRAY['car'::text, 'machine'::text])))
)
WITH (fillfactor='50');
-- A page of a partition's machines, in the order in which they are noted, whatever the database sorts by. No column of it changes with
-- readings.
CREATE INDEX machine_by_name ON drover.vehicle (topic_partition, vehicle COLLATE "C") WHERE (kind = 'machine'::text);
CREATE INDEX vehicle_by_partition ON drover.vehicle (kind, topic_partition, vehicle);
-- A worker goes through a partition's cars in this order.
CREATE INDEX vehicle_cars_by_name ON drover.vehicle (topic_partition, vehicle COLLATE "C") WHERE (kind = 'car'::text);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.vehicle TO drover_writer;
GRANT SELECT ON drover.vehicle TO drover_reader, drover_sight;

-- What people say of a vehicle: its name, its model, how it is reached. A row is the latest registration record of its
-- topic partition by (registered_at, record_id), so that order and repeats do not matter.
CREATE TABLE drover.registration (
    kind text NOT NULL,
    vehicle text NOT NULL,
    topic_partition integer NOT NULL,
    registered_at timestamptz NOT NULL,  -- the record's own time
    record_id text NOT NULL,  -- of two records of one time the larger counts
    name text,  -- as people call it
    model text,  -- as in tractors.xml
    host text,  -- the box that is polled; NULL: upload only
    port integer,
    certificate_sha256 text,  -- the box's, pinned; NULL: plain TCP
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    is_disabled boolean DEFAULT false NOT NULL,  -- kept, not polled, not judged
    account text,  -- who owns the car
    vin text,
    make text,
    year integer,
    fuel text,
    tank_l double precision,
    displacement_cc integer,
    volumetric_efficiency_pct double precision,
    CONSTRAINT registration_pkey PRIMARY KEY (kind, vehicle),
    CONSTRAINT registration_certificate_sha256_check CHECK ((certificate_sha256 ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT registration_check CHECK (((host IS NULL) = (port IS NULL))),
    CONSTRAINT registration_fuel_check CHECK ((fuel = ANY (ARRAY['gasoline'::text, 'diesel'::text, 'ethanol'::text, 'methanol'::text, 'lpg'::text, 'cng'::text, 'electric'::text]))),
    CONSTRAINT registration_kind_check CHECK ((kind = ANY (ARRAY['car'::text, 'machine'::text]))),
    CONSTRAINT registration_port_check CHECK (((port >= 1) AND (port <= 65535)))
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.registration TO drover_writer;
GRANT SELECT ON drover.registration TO drover_gateway, drover_reader;
GRANT SELECT (kind, vehicle, name) ON drover.registration TO drover_relay;
GRANT SELECT (kind, vehicle, topic_partition, registered_at, name, model, tags, is_disabled, account, vin, make, year, fuel, tank_l, displacement_cc, volumetric_efficiency_pct) ON drover.registration TO drover_sight;

-- The last change that a page sent of a vehicle: until it is committed, the next one waits; and an id that somebody has asked for
-- is not somebody else's.
CREATE TABLE drover.vehicle_change (
    kind text NOT NULL,
    vehicle text NOT NULL,
    record_id text NOT NULL,
    account text NOT NULL,
    changed_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT vehicle_change_pkey PRIMARY KEY (kind, vehicle),
    CONSTRAINT vehicle_change_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account),
    CONSTRAINT vehicle_change_kind_check CHECK ((kind = ANY (ARRAY['car'::text, 'machine'::text]))),
    CONSTRAINT vehicle_change_record_id_check CHECK ((record_id ~ '^[A-Za-z0-9._-]{1,64}$'::text)),
    CONSTRAINT vehicle_change_vehicle_check CHECK ((vehicle ~ '^[A-Za-z0-9._-]{1,64}$'::text))
);
CREATE INDEX vehicle_change_by_account ON drover.vehicle_change (account);

CREATE TABLE drover.machine_reading (
    vehicle text NOT NULL,
    read_at timestamptz NOT NULL,
    reading_id text NOT NULL,
    model text NOT NULL,
    serial text,
    firmware text,
    engine_hours_h double precision,
    engine_turn_on_count bigint,
    key_turn_on_count bigint,
    fuel_level_gal double precision,
    coolant_c double precision,
    hydraulic_oil_c double precision,
    tire_pressure_kpa double precision,
    gps_available boolean,
    gps_fix_at timestamptz,
    latitude_deg double precision,
    longitude_deg double precision,
    rda_license boolean,
    wdt_license boolean,
    machine_sync boolean,
    connected_devices bigint,
    connected_device_names text[],
    last_cell_call_in_at timestamptz,
    last_reprogramming_ok boolean,
    last_reprogramming_at timestamptz,
    alert_state bytea NOT NULL,  -- the alert engine's state after this reading: where late data starts again
    is_reporting boolean DEFAULT false NOT NULL,  -- Expected to go on reporting: only then is silence judged.
    record_offset bigint,  -- Where a reading's record stands in its partition (vehicle.topic_partition): an alert can show what is behind it.
    contact boolean,  -- Said by the gateway that polls the box, in a row of its own: whether it answers. NULL in what the machine itself says.
    is_partial boolean DEFAULT false NOT NULL,  -- What the reading lacks says nothing: one of several that tell a part of one state each (ISO 15143-3).
    CONSTRAINT machine_reading_pkey PRIMARY KEY (vehicle, read_at)
)
PARTITION BY RANGE (read_at);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.machine_reading TO drover_writer;
GRANT SELECT ON drover.machine_reading TO drover_reader, drover_sight;

-- Machines whose readings wait to be judged again: those not before from_at, a piece at each tick of their partition, until from until_at
-- on the state after one of them comes out as it was (docs/decisions/0022-judged-in-pieces.md). A reading that was not judged yet has an
-- empty alert_state.
CREATE TABLE drover.machine_rejudging (
    vehicle text NOT NULL,
    topic_partition integer NOT NULL,
    from_at timestamptz NOT NULL,
    until_at timestamptz NOT NULL,
    asked_offset bigint NOT NULL,
    is_late boolean NOT NULL,
    has_begun boolean NOT NULL,
    again_from_at timestamptz,
    again_until_at timestamptz,
    CONSTRAINT machine_rejudging_pkey PRIMARY KEY (vehicle)
);
CREATE INDEX machine_rejudging_by_partition ON drover.machine_rejudging (topic_partition);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.machine_rejudging TO drover_writer;

-- What is to be judged again of all machines of a partition (rules for an old time, a clock that is set back): of those whose latest
-- reading is not before since_at, the readings from from_at on. They are noted in machine_rejudging a piece at each tick, in the order of
-- their names (docs/decisions/0022-judged-in-pieces.md). Two rows a partition at most: what goes on, and what was asked for since.
CREATE TABLE drover.machine_spreading (
    topic_partition integer NOT NULL,
    asked_offset bigint NOT NULL,
    since_at timestamptz NOT NULL,
    from_at timestamptz NOT NULL,
    until_at timestamptz NOT NULL,
    after_vehicle text,
    CONSTRAINT machine_spreading_pkey PRIMARY KEY (topic_partition, asked_offset)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.machine_spreading TO drover_writer;

-- Downloads that a person has asked for, and how they ended: both came over the log, in this order or the other.
CREATE TABLE drover.poll_request (
    vehicle text NOT NULL,
    request_id text NOT NULL,
    asked_at timestamptz,
    asked_by text,
    expires_at timestamptz,  -- nobody waits for it any more
    answered_at timestamptz,
    is_done boolean,  -- the box gave what it has
    answer text,  -- what it gave, or the reason and what to do
    CONSTRAINT poll_request_pkey PRIMARY KEY (vehicle, request_id)
);
CREATE INDEX poll_request_open ON drover.poll_request (expires_at) WHERE (answered_at IS NULL);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.poll_request TO drover_writer;
GRANT SELECT ON drover.poll_request TO drover_gateway, drover_reader, drover_sight;

-- What people say of machines and alerts, as it came over the log. Of two services of one time the larger record id
-- counts.
CREATE TABLE drover.service (
    vehicle text NOT NULL,
    done_at timestamptz NOT NULL,
    record_id text NOT NULL,
    engine_hours_h double precision NOT NULL,
    recorded_by text NOT NULL,
    note text,
    CONSTRAINT service_pkey PRIMARY KEY (vehicle, done_at)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.service TO drover_writer;
GRANT SELECT ON drover.service TO drover_reader, drover_sight;

-- What boxes wrote for their developers, as it was fetched: a row a download. Not in the log of records: nothing follows
-- from it. PostgreSQL compresses the bytes.
CREATE TABLE drover.debug_log (
    debug_log_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    vehicle text NOT NULL,
    fetched_at timestamptz DEFAULT now() NOT NULL,
    first_at timestamptz,  -- of the lines that begin with a time; NULL: none does
    last_at timestamptz,
    error_lines integer NOT NULL,  -- by the level beside the time: Sources/Domain/Codecs/MTG/DebugLogText.swift
    warning_lines integer NOT NULL,
    info_lines integer NOT NULL,
    debug_lines integer NOT NULL,
    other_lines integer NOT NULL,
    log bytea NOT NULL,
    CONSTRAINT debug_log_pkey PRIMARY KEY (debug_log_id),
    CONSTRAINT debug_log_log_check CHECK ((octet_length(log) <= 16777216))
);
CREATE INDEX debug_log_by_vehicle ON drover.debug_log (vehicle, debug_log_id);
GRANT DELETE, INSERT, SELECT ON drover.debug_log TO drover_debug;
GRANT SELECT ON drover.debug_log TO drover_sight;

-- Vehicles that nobody owns: who wrote about one first goes on, and nobody else may. Once it has an owner or a fleet, these count.
CREATE TABLE drover.first_writer (
    kind text NOT NULL,
    vehicle text NOT NULL,
    account text NOT NULL,  -- perhaps a name that does not log in
    wrote_at timestamptz DEFAULT now() NOT NULL,
    is_over boolean DEFAULT false NOT NULL,  -- it has been in a fleet: nobody's again, it is not this account's
    over_at timestamptz,  -- Since when it is in a fleet. A drive that the first writer only announced, as uploads of before this could, is not theirs beyond that.
    CONSTRAINT first_writer_pkey PRIMARY KEY (kind, vehicle),
    CONSTRAINT first_writer_kind_check CHECK ((kind = ANY (ARRAY['car'::text, 'machine'::text]))),
    CONSTRAINT first_writer_vehicle_check CHECK ((vehicle ~ '^[A-Za-z0-9._-]{1,64}$'::text))
);
CREATE INDEX first_writer_by_account ON drover.first_writer (account);

-- What a partition's clock says, for who reads fleets; alerts of silence are judged by it.
CREATE FUNCTION drover.machine_clock(a_partition int) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.clock_at FROM drover.partition_progress p
    WHERE p.topic = 'drover.machines' AND p.partition = a_partition AND drover.reads_fleets()
$$;
REVOKE EXECUTE ON FUNCTION drover.machine_clock(a_partition integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.machine_clock(a_partition integer) TO drover_page;

-- JSON of one flat object that Drover has read before it was stored, so that only a number's size can keep jsonb from taking it:
-- NULL then. The door refuses such now (Sources/Platform/Formats/JSON/JSONNumber.swift).
CREATE FUNCTION drover.readable_json(a_text text) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN a_text !~ '[0-9][eE][+-]?0*[1-9][0-9]{3}' THEN a_text::jsonb END
$$;

-- One of its numbers; NULL for what is none, or too large for any weather.
CREATE FUNCTION drover.readable_number(a_value jsonb, a_key text) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN jsonb_typeof(a_value -> a_key) = 'number' AND abs((a_value ->> a_key)::numeric) < 10000000
        THEN round((a_value ->> a_key)::numeric, 9)::double precision END
$$;

CREATE FUNCTION drover.end_first_writer() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.first_writer w SET is_over = true, over_at = now() WHERE w.kind = NEW.kind AND w.vehicle = NEW.vehicle AND NOT w.is_over;
    RETURN NULL;
END $$;

-- Taken by uploads, and by the page that adds vehicles as long as no reading of them has come.
CREATE FUNCTION drover.ids_taken(an_account text) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT (SELECT count(*) FROM drover.first_writer w WHERE w.account = an_account)
        + (SELECT count(*) FROM drover.vehicle_change c WHERE c.account = an_account
            AND NOT EXISTS (SELECT FROM drover.vehicle v WHERE v.kind = c.kind AND v.vehicle = c.vehicle)
            AND NOT EXISTS (SELECT FROM drover.first_writer w WHERE w.kind = c.kind AND w.vehicle = c.vehicle AND w.account = an_account))
$$;
REVOKE EXECUTE ON FUNCTION drover.ids_taken(an_account text) FROM PUBLIC;

-- As it was, with the milliseconds where there are some (an export goes on behind a row by its time), and written so that it
-- becomes a part of the query that calls it: neither STRICT nor more than its parts are.
CREATE FUNCTION drover.local_time(a_time timestamptz, an_offset_min int) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT to_char(a_time AT TIME ZONE 'UTC' + make_interval(mins => an_offset_min),
            CASE WHEN date_trunc('second', a_time) = a_time THEN 'YYYY-MM-DD"T"HH24:MI:SS'
                ELSE 'YYYY-MM-DD"T"HH24:MI:SS.MS' END)
        || CASE WHEN an_offset_min < 0 THEN '-' ELSE '+' END
        || to_char(make_interval(mins => abs(an_offset_min)), 'HH24:MI')
$$;

CREATE TRIGGER first_writer AFTER INSERT ON drover.fleet_vehicle FOR EACH ROW EXECUTE FUNCTION drover.end_first_writer();
