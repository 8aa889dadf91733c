-- Trips as people see them: who drove, what the driver said of them, the weather, and what their fuel is worked out from.
-- What a trip is worked out with (whose it is, settings, notes) is not for everybody to read, but belongs to a trip that is
-- seen. So the views read it as their owner and hold the rule themselves.

-- The weather of a trip, each value with its unit; all NULL while nobody has told of it. Of the answers that can be read the last one.
CREATE FUNCTION drover.weather_of_trip(car text, from_at timestamptz)
RETURNS TABLE (weather text, weather_source text, weather_fetched_at timestamptz, weather_temperature_c double precision,
    weather_wind_speed_mps double precision, weather_wind_gust_mps double precision,
    weather_wind_direction_deg double precision, weather_cloud_cover_pct double precision,
    weather_precipitation_mm_per_h double precision, weather_humidity_pct double precision,
    weather_pressure_hpa double precision, weather_condition_code int)
LANGUAGE sql STABLE AS $$
    SELECT told.answer, (told.value ->> 'source') || ' ' || (told.value ->> 'model'), told.fetched_at,
           drover.readable_number(told.value, 'temperature_c'), drover.readable_number(told.value, 'wind_speed_mps'),
           drover.readable_number(told.value, 'wind_gust_mps'), drover.readable_number(told.value, 'wind_direction_deg'),
           drover.readable_number(told.value, 'cloud_cover_pct'), drover.readable_number(told.value, 'precipitation_mm_per_h'),
           drover.readable_number(told.value, 'humidity_pct'), drover.readable_number(told.value, 'pressure_hpa'),
           drover.readable_number(told.value, 'condition_code')::int
    FROM (SELECT) AS always
    LEFT JOIN LATERAL (
        SELECT w.answer, drover.readable_json(w.answer) AS value, w.fetched_at FROM drover.trip_start s
        JOIN drover.trip_weather w ON w.vehicle = s.vehicle AND w.hour_at = date_trunc('hour', s.start_at, 'UTC')
            AND drover.is_in_cell(s.latitude_deg, s.longitude_deg, w.cell_millideg, w.latitude_index, w.longitude_index)
        WHERE s.vehicle = $1 AND s.start_at = $2 AND drover.readable_json(w.answer) IS NOT NULL
        ORDER BY w.fetched_at DESC, w.answer COLLATE "C" DESC LIMIT 1) AS told ON true
$$;
REVOKE EXECUTE ON FUNCTION drover.weather_of_trip(car text, from_at timestamp with time zone) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.weather_of_trip(car text, from_at timestamp with time zone) TO drover_reader, drover_writer;

-- What people said of a span of driving, and whose limits, units and price hold for it. The driver is the account whose upload covers
-- the end of the trip best, else who was assigned when it began; limits, units and prices are the driver's, else the owner's, at its end.
CREATE FUNCTION drover.trip_context(car text, from_at timestamptz, until_at timestamptz)
RETURNS TABLE (tag text, discarded_at timestamptz, driver text, owner text, fuel text, tank_l double precision,
    displacement_cc int, volumetric_efficiency_pct double precision, settings text)
LANGUAGE sql STABLE AS $$
    SELECT tag.tag, discard.noted_at, coalesce(upload.account, assigned.account), car.account, car.fuel, car.tank_l,
           car.displacement_cc, car.volumetric_efficiency_pct, settings.settings
    FROM (SELECT) AS always
    LEFT JOIN drover.vehicle v ON v.kind = 'car' AND v.vehicle = $1
    LEFT JOIN drover.registration car ON car.kind = 'car' AND car.vehicle = $1
    LEFT JOIN LATERAL (
        SELECT n.tag FROM drover.trip_note n
        WHERE n.vehicle = $1 AND NOT n.is_discard AND n.trip_at BETWEEN $2 AND $3
        ORDER BY n.noted_at DESC, n.record_id COLLATE "C" DESC LIMIT 1) AS tag ON true
    LEFT JOIN LATERAL (
        SELECT n.noted_at FROM drover.trip_note n
        WHERE n.vehicle = $1 AND n.is_discard AND n.trip_at BETWEEN $2 AND $3
        ORDER BY n.noted_at, n.record_id COLLATE "C" LIMIT 1) AS discard ON true
    LEFT JOIN LATERAL (
        SELECT d.account FROM drover.driving d
        WHERE d.vehicle = $1 AND d.from_at <= $3 AND d.until_at >= $2
        ORDER BY d.from_at DESC, d.record_id COLLATE "C" DESC LIMIT 1) AS upload ON true
    LEFT JOIN LATERAL (
        SELECT a.account FROM drover.assignment a
        WHERE a.vehicle = $1 AND a.assigned_at <= $2
        ORDER BY a.assigned_at DESC LIMIT 1) AS assigned ON true
    LEFT JOIN LATERAL (
        SELECT s.settings FROM drover.account_settings s
        WHERE s.topic_partition = v.topic_partition
            AND s.account = coalesce(upload.account, assigned.account, car.account) AND s.in_force_at <= $3
        ORDER BY s.in_force_at DESC LIMIT 1) AS settings ON true
$$;
REVOKE EXECUTE ON FUNCTION drover.trip_context(car text, from_at timestamp with time zone, until_at timestamp with time zone) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.trip_context(car text, from_at timestamp with time zone, until_at timestamp with time zone) TO drover_reader, drover_writer;

-- Trips as people see them: who drove, what the driver said of them, and what their fuel is worked out from.
--
-- The driver is the account whose upload covers the end of the trip best, else who was assigned when it began. Limits, units
-- and prices are those of the driver, else of the owner, in force at the trip's end.
CREATE VIEW drover.trip_now WITH (security_barrier) AS
 SELECT t.vehicle,
    t.start_at,
    t.end_at,
    t.is_open,
    t.readings,
    t.disputed_readings,
    t.speed_readings,
    t.integrated_ms,
    t.distance_mm,
    t.idle_ms,
    t.holes,
    t.sharp_accelerations,
    t.sharp_brakings,
    t.max_speed_m_per_h,
    t.rpm_ms,
    t.milli_turns,
    t.max_rpm_milli,
    t.air_mg,
    t.air_calculated_mg,
    t.max_coolant_milli_c,
    t.min_voltage_mv,
    t.max_voltage_mv,
    t.max_acceleration_mm_per_s2,
    t.max_braking_mm_per_s2,
    t.acceleration_mm2_per_s3,
    t.braking_mm2_per_s3,
    t.fuel_rate_ul,
    t.fuel_rate_ms,
    t.burnt_air_mg,
    t.air_ms,
    t.burnt_air_calculated_mg,
    t.air_calculated_ms,
    t.burnt_air_per_litre_mg,
    t.air_per_litre_ms,
    t.fuel_cut_ms,
    t.revision,
    t.revised_at,
    context.tag,
    context.discarded_at,
    context.driver,
    context.owner,
    context.fuel,
    context.tank_l,
    context.displacement_cc,
    context.volumetric_efficiency_pct,
    context.settings,
    weather.weather,
    weather.weather_source,
    weather.weather_fetched_at,
    weather.weather_temperature_c,
    weather.weather_wind_speed_mps,
    weather.weather_wind_gust_mps,
    weather.weather_wind_direction_deg,
    weather.weather_cloud_cover_pct,
    weather.weather_precipitation_mm_per_h,
    weather.weather_humidity_pct,
    weather.weather_pressure_hpa,
    weather.weather_condition_code,
    t.from_before,
    t.goes_on
   FROM drover.trip t,
    LATERAL ( SELECT tag.tag,
            discard.noted_at,
            COALESCE(upload.account, assigned.account) AS "coalesce",
            car.account,
            car.fuel,
            car.tank_l,
            car.displacement_cc,
            car.volumetric_efficiency_pct,
            settings.settings
           FROM (((((((( SELECT) always
             LEFT JOIN drover.vehicle v ON (((v.kind = 'car'::text) AND (v.vehicle = t.vehicle))))
             LEFT JOIN drover.registration car ON (((car.kind = 'car'::text) AND (car.vehicle = t.vehicle))))
             LEFT JOIN LATERAL ( SELECT n.tag
                   FROM drover.trip_note n
                  WHERE ((n.vehicle = t.vehicle) AND (NOT n.is_discard) AND ((n.trip_at >= t.start_at) AND (n.trip_at <= t.end_at)))
                  ORDER BY n.noted_at DESC, (n.record_id COLLATE "C") DESC
                 LIMIT 1) tag ON (true))
             LEFT JOIN LATERAL ( SELECT n.noted_at
                   FROM drover.trip_note n
                  WHERE ((n.vehicle = t.vehicle) AND n.is_discard AND ((n.trip_at >= t.start_at) AND (n.trip_at <= t.end_at)))
                  ORDER BY n.noted_at, (n.record_id COLLATE "C")
                 LIMIT 1) discard ON (true))
             LEFT JOIN LATERAL ( SELECT d.account
                   FROM drover.driving d
                  WHERE ((d.vehicle = t.vehicle) AND (d.from_at <= t.end_at) AND (d.until_at >= t.start_at))
                  ORDER BY d.from_at DESC, (d.record_id COLLATE "C") DESC
                 LIMIT 1) upload ON (true))
             LEFT JOIN LATERAL ( SELECT a.account
                   FROM drover.assignment a
                  WHERE ((a.vehicle = t.vehicle) AND (a.assigned_at <= t.start_at))
                  ORDER BY a.assigned_at DESC
                 LIMIT 1) assigned ON (true))
             LEFT JOIN LATERAL ( SELECT s.settings
                   FROM drover.account_settings s
                  WHERE ((s.topic_partition = v.topic_partition) AND (s.account = COALESCE(upload.account, assigned.account, car.account)) AND (s.in_force_at <= t.end_at))
                  ORDER BY s.in_force_at DESC
                 LIMIT 1) settings ON (true))) context(tag, discarded_at, driver, owner, fuel, tank_l, displacement_cc, volumetric_efficiency_pct, settings),
    LATERAL ( SELECT told.answer,
            (((told.value ->> 'source'::text) || ' '::text) || (told.value ->> 'model'::text)) AS "?column?",
            told.fetched_at,
            drover.readable_number(told.value, 'temperature_c'::text) AS float8,
            drover.readable_number(told.value, 'wind_speed_mps'::text) AS float8,
            drover.readable_number(told.value, 'wind_gust_mps'::text) AS float8,
            drover.readable_number(told.value, 'wind_direction_deg'::text) AS float8,
            drover.readable_number(told.value, 'cloud_cover_pct'::text) AS float8,
            drover.readable_number(told.value, 'precipitation_mm_per_h'::text) AS float8,
            drover.readable_number(told.value, 'humidity_pct'::text) AS float8,
            drover.readable_number(told.value, 'pressure_hpa'::text) AS float8,
            (drover.readable_number(told.value, 'condition_code'::text))::integer AS int4
           FROM (( SELECT) always
             LEFT JOIN LATERAL ( SELECT w.answer,
                    drover.readable_json(w.answer) AS value,
                    w.fetched_at
                   FROM (drover.trip_start s
                     JOIN drover.trip_weather w ON (((w.vehicle = s.vehicle) AND (w.hour_at = date_trunc('hour'::text, s.start_at, 'UTC'::text)) AND drover.is_in_cell(s.latitude_deg, s.longitude_deg, w.cell_millideg, w.latitude_index, w.longitude_index))))
                  WHERE ((s.vehicle = t.vehicle) AND (s.start_at = t.start_at) AND (drover.readable_json(w.answer) IS NOT NULL))
                  ORDER BY w.fetched_at DESC, (w.answer COLLATE "C") DESC
                 LIMIT 1) told ON (true))) weather(weather, weather_source, weather_fetched_at, weather_temperature_c, weather_wind_speed_mps, weather_wind_gust_mps, weather_wind_direction_deg, weather_cloud_cover_pct, weather_precipitation_mm_per_h, weather_humidity_pct, weather_pressure_hpa, weather_condition_code)
  WHERE (( SELECT drover.sees_all() AS sees_all) OR (t.vehicle IN ( SELECT drover.seen('car'::text) AS seen)) OR ((t.vehicle IN ( SELECT drover.seen_partly('car'::text) AS seen_partly)) AND drover.sees_at('car'::text, t.vehicle, t.start_at)) OR ((t.vehicle IN ( SELECT drover.driven() AS driven)) AND drover.drove(t.vehicle, t.start_at, t.end_at)));
GRANT SELECT ON drover.trip_now TO drover_reader, drover_sight;

-- The same of the running trips that are looked at.
CREATE VIEW drover.live_trip_now WITH (security_barrier) AS
 SELECT t.vehicle,
    t.start_at,
    t.end_at,
    true AS is_open,
    t.readings,
    t.disputed_readings,
    t.speed_readings,
    t.integrated_ms,
    t.distance_mm,
    t.idle_ms,
    t.holes,
    t.sharp_accelerations,
    t.sharp_brakings,
    t.max_speed_m_per_h,
    t.rpm_ms,
    t.milli_turns,
    t.max_rpm_milli,
    t.air_mg,
    t.air_calculated_mg,
    t.max_coolant_milli_c,
    t.min_voltage_mv,
    t.max_voltage_mv,
    t.max_acceleration_mm_per_s2,
    t.max_braking_mm_per_s2,
    t.acceleration_mm2_per_s3,
    t.braking_mm2_per_s3,
    t.fuel_rate_ul,
    t.fuel_rate_ms,
    t.burnt_air_mg,
    t.air_ms,
    t.burnt_air_calculated_mg,
    t.air_calculated_ms,
    t.burnt_air_per_litre_mg,
    t.air_per_litre_ms,
    t.fuel_cut_ms,
    0 AS revision,
    NULL::timestamp with time zone AS revised_at,
    context.tag,
    context.discarded_at,
    context.driver,
    context.owner,
    context.fuel,
    context.tank_l,
    context.displacement_cc,
    context.volumetric_efficiency_pct,
    context.settings,
    weather.weather,
    weather.weather_source,
    weather.weather_fetched_at,
    weather.weather_temperature_c,
    weather.weather_wind_speed_mps,
    weather.weather_wind_gust_mps,
    weather.weather_wind_direction_deg,
    weather.weather_cloud_cover_pct,
    weather.weather_precipitation_mm_per_h,
    weather.weather_humidity_pct,
    weather.weather_pressure_hpa,
    weather.weather_condition_code,
    t.from_before,
    false AS goes_on,
    t.minute_at,
    t.samples
   FROM drover.live_trip t,
    LATERAL ( SELECT tag.tag,
            discard.noted_at,
            COALESCE(upload.account, assigned.account) AS "coalesce",
            car.account,
            car.fuel,
            car.tank_l,
            car.displacement_cc,
            car.volumetric_efficiency_pct,
            settings.settings
           FROM (((((((( SELECT) always
             LEFT JOIN drover.vehicle v ON (((v.kind = 'car'::text) AND (v.vehicle = t.vehicle))))
             LEFT JOIN drover.registration car ON (((car.kind = 'car'::text) AND (car.vehicle = t.vehicle))))
             LEFT JOIN LATERAL ( SELECT n.tag
                   FROM drover.trip_note n
                  WHERE ((n.vehicle = t.vehicle) AND (NOT n.is_discard) AND ((n.trip_at >= t.start_at) AND (n.trip_at <= t.end_at)))
                  ORDER BY n.noted_at DESC, (n.record_id COLLATE "C") DESC
                 LIMIT 1) tag ON (true))
             LEFT JOIN LATERAL ( SELECT n.noted_at
                   FROM drover.trip_note n
                  WHERE ((n.vehicle = t.vehicle) AND n.is_discard AND ((n.trip_at >= t.start_at) AND (n.trip_at <= t.end_at)))
                  ORDER BY n.noted_at, (n.record_id COLLATE "C")
                 LIMIT 1) discard ON (true))
             LEFT JOIN LATERAL ( SELECT d.account
                   FROM drover.driving d
                  WHERE ((d.vehicle = t.vehicle) AND (d.from_at <= t.end_at) AND (d.until_at >= t.start_at))
                  ORDER BY d.from_at DESC, (d.record_id COLLATE "C") DESC
                 LIMIT 1) upload ON (true))
             LEFT JOIN LATERAL ( SELECT a.account
                   FROM drover.assignment a
                  WHERE ((a.vehicle = t.vehicle) AND (a.assigned_at <= t.start_at))
                  ORDER BY a.assigned_at DESC
                 LIMIT 1) assigned ON (true))
             LEFT JOIN LATERAL ( SELECT s.settings
                   FROM drover.account_settings s
                  WHERE ((s.topic_partition = v.topic_partition) AND (s.account = COALESCE(upload.account, assigned.account, car.account)) AND (s.in_force_at <= t.end_at))
                  ORDER BY s.in_force_at DESC
                 LIMIT 1) settings ON (true))) context(tag, discarded_at, driver, owner, fuel, tank_l, displacement_cc, volumetric_efficiency_pct, settings),
    LATERAL ( SELECT told.answer,
            (((told.value ->> 'source'::text) || ' '::text) || (told.value ->> 'model'::text)) AS "?column?",
            told.fetched_at,
            drover.readable_number(told.value, 'temperature_c'::text) AS float8,
            drover.readable_number(told.value, 'wind_speed_mps'::text) AS float8,
            drover.readable_number(told.value, 'wind_gust_mps'::text) AS float8,
            drover.readable_number(told.value, 'wind_direction_deg'::text) AS float8,
            drover.readable_number(told.value, 'cloud_cover_pct'::text) AS float8,
            drover.readable_number(told.value, 'precipitation_mm_per_h'::text) AS float8,
            drover.readable_number(told.value, 'humidity_pct'::text) AS float8,
            drover.readable_number(told.value, 'pressure_hpa'::text) AS float8,
            (drover.readable_number(told.value, 'condition_code'::text))::integer AS int4
           FROM (( SELECT) always
             LEFT JOIN LATERAL ( SELECT w.answer,
                    drover.readable_json(w.answer) AS value,
                    w.fetched_at
                   FROM (drover.trip_start s
                     JOIN drover.trip_weather w ON (((w.vehicle = s.vehicle) AND (w.hour_at = date_trunc('hour'::text, s.start_at, 'UTC'::text)) AND drover.is_in_cell(s.latitude_deg, s.longitude_deg, w.cell_millideg, w.latitude_index, w.longitude_index))))
                  WHERE ((s.vehicle = t.vehicle) AND (s.start_at = t.start_at) AND (drover.readable_json(w.answer) IS NOT NULL))
                  ORDER BY w.fetched_at DESC, (w.answer COLLATE "C") DESC
                 LIMIT 1) told ON (true))) weather(weather, weather_source, weather_fetched_at, weather_temperature_c, weather_wind_speed_mps, weather_wind_gust_mps, weather_wind_direction_deg, weather_cloud_cover_pct, weather_precipitation_mm_per_h, weather_humidity_pct, weather_pressure_hpa, weather_condition_code)
  WHERE (( SELECT drover.sees_all() AS sees_all) OR (t.vehicle IN ( SELECT drover.seen('car'::text) AS seen)) OR ((t.vehicle IN ( SELECT drover.seen_partly('car'::text) AS seen_partly)) AND drover.sees_at('car'::text, t.vehicle, t.start_at)) OR ((t.vehicle IN ( SELECT drover.driven() AS driven)) AND drover.drove(t.vehicle, t.start_at, t.end_at)));
GRANT SELECT ON drover.live_trip_now TO drover_reader, drover_sight;
