-- Services of others (weather, travel times, addresses): what they answered, how often they were asked, and whether they
-- are left alone for a while. All processes share it; nothing that Drover computes depends on what is still cached.

-- A row a service. The breaker and the waiting are by service, the spacing by budget (the row of the same name).
CREATE TABLE drover.outside_service (
    service text NOT NULL,  -- weather, weather-history, travel, geocoder
    failures integer DEFAULT 0 NOT NULL,  -- in a row
    open_until timestamptz,  -- left alone until then; NULL: it is asked
    trial_until timestamptz,  -- one call tries whether it is back
    wait_until timestamptz,  -- it said so itself (429, Retry-After)
    spaced_until timestamptz,  -- when the next call may begin
    answered_at timestamptz,
    failed_at timestamptz,
    fault text,  -- the last one
    dropped_values bigint DEFAULT 0 NOT NULL,  -- impossible, or in an unknown unit
    CONSTRAINT outside_service_pkey PRIMARY KEY (service)
);
GRANT INSERT, SELECT, UPDATE ON drover.outside_service TO drover_api, drover_gateway, drover_writer;
GRANT SELECT ON drover.outside_service TO drover_reader;

-- Calls by slice of a period (`CallBudget`). Old slices are deleted.
CREATE TABLE drover.outside_call (
    budget text NOT NULL,
    period text NOT NULL,
    slice bigint NOT NULL,
    calls integer NOT NULL,
    CONSTRAINT outside_call_pkey PRIMARY KEY (budget, period, slice),
    CONSTRAINT outside_call_calls_check CHECK ((calls > 0)),
    CONSTRAINT outside_call_period_check CHECK ((period = ANY (ARRAY['min'::text, 'h'::text, 'day'::text, 'month'::text])))
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.outside_call TO drover_api, drover_gateway, drover_writer;
GRANT SELECT ON drover.outside_call TO drover_reader;

-- Weather by cell of a grid and hour.
CREATE TABLE drover.weather_hour (
    source text NOT NULL,
    cell_millideg integer NOT NULL,
    latitude_index integer NOT NULL,  -- from the south pole
    longitude_index integer NOT NULL,  -- from the 180th meridian
    hour_at timestamptz NOT NULL,
    answer jsonb NOT NULL,  -- Sources/Domain/Codecs/Services/WeatherAnswer.swift
    kept_until timestamptz NOT NULL,
    CONSTRAINT weather_hour_pkey PRIMARY KEY (source, cell_millideg, latitude_index, longitude_index, hour_at)
);
CREATE INDEX weather_hour_by_end ON drover.weather_hour (kept_until);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.weather_hour TO drover_gateway, drover_writer;
GRANT SELECT ON drover.weather_hour TO drover_reader;

-- What services said of an hour and a cell of their grid, for a car: the answer that was fetched last.
CREATE TABLE drover.trip_weather (
    vehicle text NOT NULL,
    hour_at timestamptz NOT NULL,
    cell_millideg integer NOT NULL,
    latitude_index integer NOT NULL,  -- from the south pole
    longitude_index integer NOT NULL,  -- from the 180th meridian
    fetched_at timestamptz NOT NULL,
    answer text NOT NULL,  -- JSON: Sources/Domain/Codecs/Services/WeatherAnswer.swift
    CONSTRAINT trip_weather_pkey PRIMARY KEY (vehicle, hour_at, cell_millideg, latitude_index, longitude_index)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.trip_weather TO drover_writer;
GRANT SELECT ON drover.trip_weather TO drover_reader, drover_sight;

-- What services said of a survey's hours, also before the survey itself came.
CREATE TABLE drover.survey_weather (
    site text NOT NULL,
    survey text NOT NULL,
    hour_at timestamptz NOT NULL,
    answer text NOT NULL,  -- Sources/Domain/Codecs/Services/WeatherAnswer.swift
    CONSTRAINT survey_weather_pkey PRIMARY KEY (site, survey, hour_at)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.survey_weather TO drover_writer;
GRANT SELECT (site, survey, hour_at) ON drover.survey_weather TO drover_gateway;

-- Addresses. What was asked for is kept as a digest only: people's addresses are nobody else's business.
CREATE TABLE drover.geocode (
    source text NOT NULL,
    is_reverse boolean NOT NULL,
    question bytea NOT NULL,
    latitude integer,  -- NULL: there is no such place
    longitude integer,
    label text,
    kept_until timestamptz NOT NULL,
    CONSTRAINT geocode_pkey PRIMARY KEY (source, is_reverse, question),
    CONSTRAINT geocode_check CHECK ((((latitude IS NULL) = (longitude IS NULL)) AND ((latitude IS NULL) = (label IS NULL))))
);
CREATE INDEX geocode_by_end ON drover.geocode (kept_until);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.geocode TO drover_api, drover_gateway, drover_writer;

-- Travel times between rounded places (10⁻⁷ degrees) by hour of the week (0: Monday 0 to 1 o'clock, local).
CREATE TABLE drover.travel_leg (
    source text NOT NULL,
    from_latitude integer NOT NULL,
    from_longitude integer NOT NULL,
    to_latitude integer NOT NULL,
    to_longitude integer NOT NULL,
    week_hour integer NOT NULL,
    duration_ms bigint NOT NULL,
    distance_m bigint NOT NULL,
    kept_until timestamptz NOT NULL,
    CONSTRAINT travel_leg_pkey PRIMARY KEY (source, from_latitude, from_longitude, to_latitude, to_longitude, week_hour),
    CONSTRAINT travel_leg_week_hour_check CHECK (((week_hour >= 0) AND (week_hour <= 167)))
);
CREATE INDEX travel_leg_by_end ON drover.travel_leg (kept_until);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.travel_leg TO drover_api, drover_gateway, drover_writer;

-- Lines for maps, by a digest of the rounded places that they lead through.
CREATE TABLE drover.travel_line (
    source text NOT NULL,
    stops bytea NOT NULL,
    line text NOT NULL,  -- encoded polyline, 5 decimals
    duration_ms bigint NOT NULL,
    distance_m bigint NOT NULL,
    kept_until timestamptz NOT NULL,
    CONSTRAINT travel_line_pkey PRIMARY KEY (source, stops)
);
CREATE INDEX travel_line_by_end ON drover.travel_line (kept_until);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.travel_line TO drover_api, drover_gateway, drover_writer;

-- The middle of a cell of 0.1°; the north pole belongs to the last row, 180° east and west are one meridian. All as
-- Sources/Domain/Surveys/BlurredPlace.swift has it.
CREATE FUNCTION drover.cell_latitude(a_latitude double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT (least(floor(round((a_latitude * 1e7)::numeric) / 1000000), 899) / 10 + 0.05)::double precision
$$;

CREATE FUNCTION drover.cell_longitude(a_longitude double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT (CASE WHEN a_longitude >= 180 THEN -1800 ELSE floor(round((a_longitude * 1e7)::numeric) / 1000000) END / 10
        + 0.05)::double precision
$$;

-- No place of the cell is further from its middle, in whole metres (haversine; the corner nearer to the equator).
CREATE FUNCTION drover.cell_radius_m(a_latitude double precision) RETURNS int
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT ceil(2 * 6371008.8 * asin(sqrt(sin(radians(0.025)) ^ 2
        + cos(radians(middle)) * cos(radians(middle - sign(middle) * 0.05)) * sin(radians(0.025)) ^ 2)))::int
    FROM (SELECT drover.cell_latitude(a_latitude) AS middle) cell
$$;

-- As Sources/Domain/Codecs/Services/WeatherCell.swift has it.
CREATE FUNCTION drover.is_in_cell(a_latitude double precision, a_longitude double precision, a_size_millideg int,
    a_latitude_index int, a_longitude_index int) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT least(round((a_latitude * 1e7)::numeric)::bigint + 900000000, 1799999999) / (a_size_millideg * 10000::bigint)
            = a_latitude_index
        AND (round((a_longitude * 1e7)::numeric)::bigint + 1800000000) % 3600000000 / (a_size_millideg * 10000::bigint)
            = a_longitude_index
$$;

-- Weather of a cell that somebody asked for before and that is still believed, hour by hour.
CREATE FUNCTION drover.weather_known(a_source text, a_cell int, a_latitude int, a_longitude int, the_first timestamptz,
    the_last timestamptz, a_time timestamptz)
RETURNS TABLE (answer text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT w.answer::text FROM drover.weather_hour w
    WHERE w.source = a_source AND w.cell_millideg = a_cell AND w.latitude_index = a_latitude
        AND w.longitude_index = a_longitude AND w.hour_at BETWEEN the_first AND the_last AND w.kept_until > a_time
    ORDER BY w.hour_at
$$;
REVOKE EXECUTE ON FUNCTION drover.weather_known(a_source text, a_cell integer, a_latitude integer, a_longitude integer, the_first timestamp with time zone, the_last timestamp with time zone, a_time timestamp with time zone) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.weather_known(a_source text, a_cell integer, a_latitude integer, a_longitude integer, the_first timestamp with time zone, the_last timestamp with time zone, a_time timestamp with time zone) TO drover_gateway, drover_survey, drover_writer;

-- What surveyors measured without fields that Drover does not know: these may say anything, also where it was.
CREATE FUNCTION drover.known_weather(a_weather jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(a_weather)
    WHERE key IN ('temperature_c', 'wind_speed_mps', 'wind_beaufort', 'wind_direction_deg', 'cloud_cover_pct', 'sun_pct', 'rain')
$$;
