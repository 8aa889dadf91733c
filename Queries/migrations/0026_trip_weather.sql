-- The weather of cars' trips: that of the hour and the place at which they began.

-- Where each trip began: the first place that its first stretch of a minute holds. Rows of trips that an older program wrote
-- are missing until late readings correct them; a replay has them all.
CREATE TABLE drover.trip_start (
    vehicle       text        NOT NULL,
    start_at      timestamptz NOT NULL,
    latitude_deg  double precision,             -- NULL: no reading of that minute has a place
    longitude_deg double precision,
    lacks_weather boolean     NOT NULL,         -- a place, and no service has told of its hour yet
    PRIMARY KEY (vehicle, start_at)
);
CREATE INDEX trip_start_without_weather ON drover.trip_start (start_at, vehicle) WHERE lacks_weather;

-- What services said of an hour and a cell of their grid, for a car: the answer that was fetched last.
CREATE TABLE drover.trip_weather (
    vehicle         text        NOT NULL,
    hour_at         timestamptz NOT NULL,
    cell_millideg   int         NOT NULL,
    latitude_index  int         NOT NULL,       -- from the south pole
    longitude_index int         NOT NULL,       -- from the 180th meridian
    fetched_at      timestamptz NOT NULL,
    answer          text        NOT NULL,       -- JSON: Sources/Wire/WeatherAnswer.swift
    PRIMARY KEY (vehicle, hour_at, cell_millideg, latitude_index, longitude_index)
);

-- As Sources/Wire/WeatherCell.swift has it.
CREATE FUNCTION drover.is_in_cell(a_latitude double precision, a_longitude double precision, a_size_millideg int,
    a_latitude_index int, a_longitude_index int) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT least(round((a_latitude * 1e7)::numeric)::bigint + 900000000, 1799999999) / (a_size_millideg * 10000::bigint)
            = a_latitude_index
        AND (round((a_longitude * 1e7)::numeric)::bigint + 1800000000) % 3600000000 / (a_size_millideg * 10000::bigint)
            = a_longitude_index
$$;

-- The weather of a trip, each value with its unit; all NULL while nobody has told of it.
CREATE FUNCTION drover.weather_of_trip(car text, from_at timestamptz)
RETURNS TABLE (weather text, weather_source text, weather_fetched_at timestamptz, weather_temperature_c double precision,
    weather_wind_speed_mps double precision, weather_wind_gust_mps double precision,
    weather_wind_direction_deg double precision, weather_cloud_cover_pct double precision,
    weather_precipitation_mm_per_h double precision, weather_humidity_pct double precision,
    weather_pressure_hpa double precision, weather_condition_code int)
LANGUAGE sql STABLE AS $$
    SELECT told.answer, (told.value ->> 'source') || ' ' || (told.value ->> 'model'), told.fetched_at,
           (told.value ->> 'temperature_c')::double precision, (told.value ->> 'wind_speed_mps')::double precision,
           (told.value ->> 'wind_gust_mps')::double precision, (told.value ->> 'wind_direction_deg')::double precision,
           (told.value ->> 'cloud_cover_pct')::double precision,
           (told.value ->> 'precipitation_mm_per_h')::double precision, (told.value ->> 'humidity_pct')::double precision,
           (told.value ->> 'pressure_hpa')::double precision,
           (told.value ->> 'condition_code')::double precision::int
    FROM (SELECT) AS always
    LEFT JOIN LATERAL (
        SELECT w.answer, w.answer::jsonb AS value, w.fetched_at FROM drover.trip_start s
        JOIN drover.trip_weather w ON w.vehicle = s.vehicle AND w.hour_at = date_trunc('hour', s.start_at, 'UTC')
            AND drover.is_in_cell(s.latitude_deg, s.longitude_deg, w.cell_millideg, w.latitude_index, w.longitude_index)
        WHERE s.vehicle = $1 AND s.start_at = $2
        ORDER BY w.fetched_at DESC, w.answer COLLATE "C" DESC LIMIT 1) AS told ON true
$$;

CREATE OR REPLACE VIEW drover.trip_now AS
SELECT t.vehicle, t.start_at, t.end_at, t.is_open,
       t.readings, t.disputed_readings, t.speed_readings, t.integrated_ms, t.distance_mm, t.idle_ms, t.holes,
       t.sharp_accelerations, t.sharp_brakings, t.max_speed_m_per_h, t.rpm_ms, t.milli_turns, t.max_rpm_milli,
       t.air_mg, t.air_calculated_mg, t.max_coolant_milli_c, t.min_voltage_mv, t.max_voltage_mv,
       t.max_acceleration_mm_per_s2, t.max_braking_mm_per_s2, t.acceleration_mm2_per_s3, t.braking_mm2_per_s3,
       t.fuel_rate_ul, t.fuel_rate_ms, t.burnt_air_mg, t.air_ms, t.burnt_air_calculated_mg, t.air_calculated_ms,
       t.burnt_air_per_litre_mg, t.air_per_litre_ms, t.fuel_cut_ms,
       t.revision, t.revised_at, context.tag, context.discarded_at,
       context.driver, context.owner, context.fuel, context.tank_l, context.displacement_cc, context.volumetric_efficiency_pct,
       context.settings, weather.weather, weather.weather_source, weather.weather_fetched_at, weather.weather_temperature_c,
       weather.weather_wind_speed_mps, weather.weather_wind_gust_mps, weather.weather_wind_direction_deg,
       weather.weather_cloud_cover_pct, weather.weather_precipitation_mm_per_h, weather.weather_humidity_pct,
       weather.weather_pressure_hpa, weather.weather_condition_code
FROM drover.trip t, LATERAL drover.trip_context(t.vehicle, t.start_at, t.end_at) AS context,
    LATERAL drover.weather_of_trip(t.vehicle, t.start_at) AS weather;

-- The same columns: both are read as one.
DROP VIEW drover.live_trip_now;
CREATE VIEW drover.live_trip_now AS
SELECT t.vehicle, t.start_at, t.end_at, true AS is_open,
       t.readings, t.disputed_readings, t.speed_readings, t.integrated_ms, t.distance_mm, t.idle_ms, t.holes,
       t.sharp_accelerations, t.sharp_brakings, t.max_speed_m_per_h, t.rpm_ms, t.milli_turns, t.max_rpm_milli,
       t.air_mg, t.air_calculated_mg, t.max_coolant_milli_c, t.min_voltage_mv, t.max_voltage_mv,
       t.max_acceleration_mm_per_s2, t.max_braking_mm_per_s2, t.acceleration_mm2_per_s3, t.braking_mm2_per_s3,
       t.fuel_rate_ul, t.fuel_rate_ms, t.burnt_air_mg, t.air_ms, t.burnt_air_calculated_mg, t.air_calculated_ms,
       t.burnt_air_per_litre_mg, t.air_per_litre_ms, t.fuel_cut_ms,
       0 AS revision, NULL::timestamptz AS revised_at, context.tag, context.discarded_at,
       context.driver, context.owner, context.fuel, context.tank_l, context.displacement_cc, context.volumetric_efficiency_pct,
       context.settings, weather.weather, weather.weather_source, weather.weather_fetched_at, weather.weather_temperature_c,
       weather.weather_wind_speed_mps, weather.weather_wind_gust_mps, weather.weather_wind_direction_deg,
       weather.weather_cloud_cover_pct, weather.weather_precipitation_mm_per_h, weather.weather_humidity_pct,
       weather.weather_pressure_hpa, weather.weather_condition_code, t.minute_at, t.samples
FROM drover.live_trip t, LATERAL drover.trip_context(t.vehicle, t.start_at, t.end_at) AS context,
    LATERAL drover.weather_of_trip(t.vehicle, t.start_at) AS weather;

GRANT SELECT, INSERT, UPDATE, DELETE ON drover.trip_start, drover.trip_weather TO drover_writer;
GRANT SELECT ON drover.trip_start, drover.trip_weather, drover.live_trip_now TO drover_reader;
-- Whose weather has to be asked for.
GRANT SELECT ON drover.trip_start TO drover_gateway;
GRANT SELECT (vehicle, start_at, is_open) ON drover.trip TO drover_gateway;
