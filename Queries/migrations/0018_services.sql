-- Services of others (weather, travel times, addresses): what they answered, how often they were asked, and whether they
-- are left alone for a while. All processes share it; nothing that Drover computes depends on what is still cached.

-- A row a service. The breaker and the waiting are by service, the spacing by budget (the row of the same name).
CREATE TABLE drover.outside_service (
    service        text        PRIMARY KEY,     -- weather, weather-history, travel, geocoder
    failures       int         NOT NULL DEFAULT 0,  -- in a row
    open_until     timestamptz,                 -- left alone until then; NULL: it is asked
    trial_until    timestamptz,                 -- one call tries whether it is back
    wait_until     timestamptz,                 -- it said so itself (429, Retry-After)
    spaced_until   timestamptz,                 -- when the next call may begin
    answered_at    timestamptz,
    failed_at      timestamptz,
    fault          text,                        -- the last one
    dropped_values bigint      NOT NULL DEFAULT 0   -- impossible, or in an unknown unit
);

-- Calls by slice of a period: Sources/Outside/CallBudget.swift. Old slices are deleted.
CREATE TABLE drover.outside_call (
    budget text   NOT NULL,
    period text   NOT NULL CHECK (period IN ('min', 'h', 'day', 'month')),
    slice  bigint NOT NULL,
    calls  int    NOT NULL CHECK (calls > 0),
    PRIMARY KEY (budget, period, slice)
);

-- Weather by cell of a grid and hour.
CREATE TABLE drover.weather_hour (
    source          text        NOT NULL,
    cell_millideg   int         NOT NULL,
    latitude_index  int         NOT NULL,       -- from the south pole
    longitude_index int         NOT NULL,       -- from the 180th meridian
    hour_at         timestamptz NOT NULL,
    answer          jsonb       NOT NULL,       -- Sources/Wire/WeatherAnswer.swift
    kept_until      timestamptz NOT NULL,
    PRIMARY KEY (source, cell_millideg, latitude_index, longitude_index, hour_at)
);
CREATE INDEX weather_hour_by_end ON drover.weather_hour (kept_until);

-- Travel times between rounded places (10⁻⁷ degrees) by hour of the week (0: Monday 0 to 1 o'clock, local).
CREATE TABLE drover.travel_leg (
    source         text        NOT NULL,
    from_latitude  int         NOT NULL,
    from_longitude int         NOT NULL,
    to_latitude    int         NOT NULL,
    to_longitude   int         NOT NULL,
    week_hour      int         NOT NULL CHECK (week_hour BETWEEN 0 AND 167),
    duration_ms    bigint      NOT NULL,
    distance_m     bigint      NOT NULL,
    kept_until     timestamptz NOT NULL,
    PRIMARY KEY (source, from_latitude, from_longitude, to_latitude, to_longitude, week_hour)
);
CREATE INDEX travel_leg_by_end ON drover.travel_leg (kept_until);

-- Lines for maps, by a digest of the rounded places that they lead through.
CREATE TABLE drover.travel_line (
    source      text        NOT NULL,
    stops       bytea       NOT NULL,
    line        text        NOT NULL,           -- encoded polyline, 5 decimals
    duration_ms bigint      NOT NULL,
    distance_m  bigint      NOT NULL,
    kept_until  timestamptz NOT NULL,
    PRIMARY KEY (source, stops)
);
CREATE INDEX travel_line_by_end ON drover.travel_line (kept_until);

-- Addresses. What was asked for is kept as a digest only: people's addresses are nobody else's business.
CREATE TABLE drover.geocode (
    source     text        NOT NULL,
    is_reverse boolean     NOT NULL,
    question   bytea       NOT NULL,
    latitude   int,                             -- NULL: there is no such place
    longitude  int,
    label      text,
    kept_until timestamptz NOT NULL,
    PRIMARY KEY (source, is_reverse, question),
    CHECK ((latitude IS NULL) = (longitude IS NULL) AND (latitude IS NULL) = (label IS NULL))
);
CREATE INDEX geocode_by_end ON drover.geocode (kept_until);

-- Gateways and workers ask; who reads sees how the services do, and weather, but neither places nor addresses.
GRANT SELECT, INSERT, UPDATE ON drover.outside_service TO drover_gateway, drover_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.outside_call, drover.weather_hour, drover.travel_leg, drover.travel_line,
    drover.geocode TO drover_gateway, drover_writer;
GRANT SELECT ON drover.outside_service, drover.outside_call, drover.weather_hour TO drover_reader;
