-- The tables for analysts: views of documented names in a schema of their own, which stay while tables beneath them change.
-- Whoever reads them is held to the same rules as pages: views of vehicles and rides ask as who reads (security_invoker);
-- those of sightings, surveys, tours and weather, whose tables no person's login may read, hold the rule themselves.
--
-- Each view's comment says grain, key and freshness; each column's says its unit in brackets where it is a number.

CREATE SCHEMA IF NOT EXISTS analyst;
COMMENT ON SCHEMA analyst IS 'Version 1. Views for analysts (docs/analyst.md). Columns are added, never renamed, retyped or taken away without another version.';
GRANT USAGE ON SCHEMA analyst TO drover_reader, drover_researcher, drover_sight;

-- Litres by the best of the methods that cover nine tenths of the time that the longest of them covers, as
-- Sources/Domain/Trips/Fuel.swift has it; no row: unknown.
CREATE FUNCTION analyst.fuel(
    a_fuel text, a_displacement_cc int, an_efficiency_pct double precision, rate_ul bigint, rate_ms bigint, burnt_mg bigint,
    air_ms bigint, calculated_mg bigint, calculated_ms bigint, per_litre_mg bigint, per_litre_ms bigint)
RETURNS TABLE (fuel_l double precision, fuel_method text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1 AS $$
    SELECT way.litres, way.method FROM (
        SELECT m.*, max(m.ms) OVER () AS longest FROM (
            SELECT CASE coalesce(a_fuel, 'gasoline') WHEN 'gasoline' THEN 14.7 * 745 WHEN 'ethanol' THEN 9.0 * 789 WHEN 'methanol' THEN 6.47 * 791
                WHEN 'lpg' THEN 15.6 * 538 WHEN 'cng' THEN 17.2 * 2567 / 3.785411784 END::double precision * 1000 AS air_mg_per_l) f
        CROSS JOIN LATERAL (VALUES
            (1, 'fuel_rate', CASE WHEN a_fuel IS DISTINCT FROM 'electric' THEN rate_ul / 1e6::double precision END, coalesce(rate_ms, 0)),
            (2, 'maf', burnt_mg / f.air_mg_per_l, coalesce(air_ms, 0)),
            (3, 'maf_calculated', calculated_mg / f.air_mg_per_l, coalesce(calculated_ms, 0)),
            (4, 'speed_density', per_litre_mg * (a_displacement_cc / 1000::double precision * coalesce(an_efficiency_pct / 100, 0.8))
                / f.air_mg_per_l, coalesce(per_litre_ms, 0))
        ) AS m (rank, method, litres, ms) WHERE m.litres IS NOT NULL
    ) AS way WHERE way.ms >= 0.9 * way.longest ORDER BY way.rank LIMIT 1
$$;

-- Roles that see what is nobody's in particular: visits of tours, the weather.
CREATE FUNCTION analyst.has_role(VARIADIC some_roles text[]) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.sees_all() OR drover.sight_roles() && some_roles
$$;
REVOKE EXECUTE ON FUNCTION analyst.has_role(VARIADIC some_roles text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION analyst.has_role(VARIADIC some_roles text[]) TO drover_reader, drover_researcher, drover_sight;

-- A person sees them with the roles of drover.sees_sightings, a program of the installation by its own.
CREATE FUNCTION analyst.sees_sightings(how text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.is_program() OR coalesce(drover.sees_sightings(how), false)
$$;
REVOKE EXECUTE ON FUNCTION analyst.sees_sightings(how text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION analyst.sees_sightings(how text) TO drover_reader, drover_researcher, drover_sight;

CREATE VIEW analyst.vehicle WITH (security_invoker) AS
SELECT v.kind, v.vehicle, r.name, coalesce(r.model, v.model) AS model, r.make, r.year, coalesce(r.tags, '{}') AS tags, r.account AS owner,
    r.fuel, r.tank_l, r.displacement_cc, v.last_reading_at, coalesce(r.is_disabled, false) AS is_disabled
FROM drover.vehicle v LEFT JOIN drover.registration r ON r.kind = v.kind AND r.vehicle = v.vehicle;
COMMENT ON VIEW analyst.vehicle IS 'Grain: a car or machine that has reported. Key: kind, vehicle. Fresh: a commit (200 ms).';
COMMENT ON COLUMN analyst.vehicle.kind IS 'car or machine.';
COMMENT ON COLUMN analyst.vehicle.vehicle IS 'Id.';
COMMENT ON COLUMN analyst.vehicle.name IS 'As people call it.';
COMMENT ON COLUMN analyst.vehicle.model IS 'Model.';
COMMENT ON COLUMN analyst.vehicle.make IS 'Maker.';
COMMENT ON COLUMN analyst.vehicle.year IS 'Year of make [calendar year].';
COMMENT ON COLUMN analyst.vehicle.tags IS 'Tags.';
COMMENT ON COLUMN analyst.vehicle.owner IS 'Account that owns the car.';
COMMENT ON COLUMN analyst.vehicle.fuel IS 'What it burns.';
COMMENT ON COLUMN analyst.vehicle.tank_l IS 'Size of the tank [l].';
COMMENT ON COLUMN analyst.vehicle.displacement_cc IS 'Displacement [cm³].';
COMMENT ON COLUMN analyst.vehicle.last_reading_at IS 'Of a machine''s last reading; of a car it is the end of its latest trip.';
COMMENT ON COLUMN analyst.vehicle.is_disabled IS 'Kept, not polled, not judged.';
GRANT SELECT ON analyst.vehicle TO drover_reader, drover_sight;

CREATE VIEW analyst.fleet_vehicle WITH (security_invoker) AS
SELECT f.fleet, f.name AS fleet_name, f.kind, f.vehicle FROM drover.fleets_seen() f;
COMMENT ON VIEW analyst.fleet_vehicle IS 'Grain: a vehicle in a fleet, those of its parts included. Key: fleet, kind, vehicle. Fresh: at once.';
COMMENT ON COLUMN analyst.fleet_vehicle.fleet IS 'Id of the fleet.';
COMMENT ON COLUMN analyst.fleet_vehicle.fleet_name IS 'Its name.';
COMMENT ON COLUMN analyst.fleet_vehicle.kind IS 'car or machine.';
COMMENT ON COLUMN analyst.fleet_vehicle.vehicle IS 'Id of the vehicle.';
GRANT SELECT ON analyst.fleet_vehicle TO drover_reader, drover_sight;

CREATE VIEW analyst.vehicle_minute WITH (security_invoker) AS
SELECT m.vehicle, m.minute_at, m.trip_start_at, m.readings, m.disputed_readings, m.speed_readings, m.integrated_ms, m.distance_mm, m.idle_ms,
    m.holes, m.sharp_accelerations, m.sharp_brakings, m.max_speed_m_per_h, m.rpm_ms, m.milli_turns, m.max_rpm_milli, m.air_mg,
    m.air_calculated_mg, m.max_coolant_milli_c, m.min_voltage_mv, m.max_voltage_mv, m.max_acceleration_mm_per_s2, m.max_braking_mm_per_s2,
    m.acceleration_mm2_per_s3, m.braking_mm2_per_s3, m.fuel_rate_ul, m.fuel_rate_ms, m.burnt_air_mg, m.air_ms, m.burnt_air_calculated_mg,
    m.air_calculated_ms, m.burnt_air_per_litre_mg, m.air_per_litre_ms, m.fuel_cut_ms, m.revision, m.revised_at
FROM drover.vehicle_minute m;
COMMENT ON VIEW analyst.vehicle_minute IS 'Grain: a car''s minute that holds readings, and one more row for each trip that a mark begins inside it. Key: vehicle, minute_at. Fresh: a later minute, a mark, or 66 s. An interval between two readings belongs to the minute of the later one.';
COMMENT ON COLUMN analyst.vehicle_minute.vehicle IS 'Id of the car.';
COMMENT ON COLUMN analyst.vehicle_minute.minute_at IS 'Start of the minute, or a mark''s cut inside it.';
COMMENT ON COLUMN analyst.vehicle_minute.trip_start_at IS 'The trip that it is of.';
COMMENT ON COLUMN analyst.vehicle_minute.readings IS 'Readings [count].';
COMMENT ON COLUMN analyst.vehicle_minute.disputed_readings IS 'Readings of one time that said different things [count].';
COMMENT ON COLUMN analyst.vehicle_minute.speed_readings IS 'Readings that tell the speed [count].';
COMMENT ON COLUMN analyst.vehicle_minute.integrated_ms IS 'Time between speed readings, holes left out [ms].';
COMMENT ON COLUMN analyst.vehicle_minute.distance_mm IS 'Distance by speed over time [mm]; unknown where speed_readings is 0.';
COMMENT ON COLUMN analyst.vehicle_minute.idle_ms IS 'Time standing with the engine running [ms].';
COMMENT ON COLUMN analyst.vehicle_minute.holes IS 'Silences too long to integrate over [count].';
COMMENT ON COLUMN analyst.vehicle_minute.sharp_accelerations IS 'Accelerations beyond 3.0 m/s² [count].';
COMMENT ON COLUMN analyst.vehicle_minute.sharp_brakings IS 'Brakings beyond 3.0 m/s² [count].';
COMMENT ON COLUMN analyst.vehicle_minute.max_speed_m_per_h IS 'Greatest speed [m/h].';
COMMENT ON COLUMN analyst.vehicle_minute.rpm_ms IS 'Time that engine speed covers [ms].';
COMMENT ON COLUMN analyst.vehicle_minute.milli_turns IS 'Turns of the crankshaft over rpm_ms [1/1000 turn]; average rpm is milli_turns * 60 / rpm_ms.';
COMMENT ON COLUMN analyst.vehicle_minute.max_rpm_milli IS 'Greatest engine speed [1/1000 rpm].';
COMMENT ON COLUMN analyst.vehicle_minute.air_mg IS 'Air by the car''s own sensor [mg].';
COMMENT ON COLUMN analyst.vehicle_minute.air_calculated_mg IS 'Air as the logger worked it out [mg].';
COMMENT ON COLUMN analyst.vehicle_minute.max_coolant_milli_c IS 'Hottest coolant [1/1000 °C].';
COMMENT ON COLUMN analyst.vehicle_minute.min_voltage_mv IS 'Lowest voltage [mV].';
COMMENT ON COLUMN analyst.vehicle_minute.max_voltage_mv IS 'Highest voltage [mV].';
COMMENT ON COLUMN analyst.vehicle_minute.max_acceleration_mm_per_s2 IS 'Greatest rise of speed over one second [mm/s²].';
COMMENT ON COLUMN analyst.vehicle_minute.max_braking_mm_per_s2 IS 'Greatest fall of speed over one second [mm/s²].';
COMMENT ON COLUMN analyst.vehicle_minute.acceleration_mm2_per_s3 IS 'Severity of accelerating: integral of the squared smoothed acceleration [mm²/s³].';
COMMENT ON COLUMN analyst.vehicle_minute.braking_mm2_per_s3 IS 'Severity of braking [mm²/s³].';
COMMENT ON COLUMN analyst.vehicle_minute.fuel_rate_ul IS 'Fuel by the engine''s own rate [µl].';
COMMENT ON COLUMN analyst.vehicle_minute.fuel_rate_ms IS 'Time that fuel_rate_ul covers [ms].';
COMMENT ON COLUMN analyst.vehicle_minute.burnt_air_mg IS 'Of air_mg what met fuel at the stoichiometric ratio [mg].';
COMMENT ON COLUMN analyst.vehicle_minute.air_ms IS 'Time that air_mg and burnt_air_mg cover [ms].';
COMMENT ON COLUMN analyst.vehicle_minute.burnt_air_calculated_mg IS 'Of air_calculated_mg what met fuel [mg].';
COMMENT ON COLUMN analyst.vehicle_minute.air_calculated_ms IS 'Time that air_calculated_mg covers [ms].';
COMMENT ON COLUMN analyst.vehicle_minute.burnt_air_per_litre_mg IS 'Burnt air by speed and density for each litre of displacement, filled wholly [mg/l].';
COMMENT ON COLUMN analyst.vehicle_minute.air_per_litre_ms IS 'Time that burnt_air_per_litre_mg covers [ms].';
COMMENT ON COLUMN analyst.vehicle_minute.fuel_cut_ms IS 'Overrun without fuel [ms]; NULL: the car does not tell.';
COMMENT ON COLUMN analyst.vehicle_minute.revision IS 'How often late data changed the row [count].';
COMMENT ON COLUMN analyst.vehicle_minute.revised_at IS 'When the last of that data was pushed; NULL: never.';
GRANT SELECT ON analyst.vehicle_minute TO drover_reader, drover_sight;

CREATE VIEW analyst.vehicle_day WITH (security_invoker) AS
SELECT d.vehicle, d.day_at, d.readings, d.disputed_readings, d.speed_readings, d.integrated_ms, d.distance_mm, d.idle_ms,
    d.holes, d.sharp_accelerations, d.sharp_brakings, d.max_speed_m_per_h, d.rpm_ms, d.milli_turns, d.max_rpm_milli, d.air_mg,
    d.air_calculated_mg, d.max_coolant_milli_c, d.min_voltage_mv, d.max_voltage_mv, d.max_acceleration_mm_per_s2, d.max_braking_mm_per_s2,
    d.acceleration_mm2_per_s3, d.braking_mm2_per_s3, d.fuel_rate_ul, d.fuel_rate_ms, d.burnt_air_mg, d.air_ms, d.burnt_air_calculated_mg,
    d.air_calculated_ms, d.burnt_air_per_litre_mg, d.air_per_litre_ms, d.fuel_cut_ms, d.revision, d.revised_at,
    used.fuel_l, used.fuel_method
FROM drover.vehicle_day d
LEFT JOIN drover.registration r ON r.kind = 'car' AND r.vehicle = d.vehicle
LEFT JOIN LATERAL analyst.fuel(r.fuel, r.displacement_cc, r.volumetric_efficiency_pct, d.fuel_rate_ul, d.fuel_rate_ms,
    coalesce(d.burnt_air_mg, d.air_mg), d.air_ms, coalesce(d.burnt_air_calculated_mg, d.air_calculated_mg), d.air_calculated_ms,
    d.burnt_air_per_litre_mg, d.air_per_litre_ms) used ON true;
COMMENT ON VIEW analyst.vehicle_day IS 'Grain: a car''s UTC day. Key: vehicle, day_at. Fresh: a later minute, or 66 s. Exact sums of its minutes.';
COMMENT ON COLUMN analyst.vehicle_day.vehicle IS 'Id of the car.';
COMMENT ON COLUMN analyst.vehicle_day.day_at IS '00:00 UTC.';
COMMENT ON COLUMN analyst.vehicle_day.readings IS 'Readings [count].';
COMMENT ON COLUMN analyst.vehicle_day.disputed_readings IS 'Readings of one time that said different things [count].';
COMMENT ON COLUMN analyst.vehicle_day.speed_readings IS 'Readings that tell the speed [count].';
COMMENT ON COLUMN analyst.vehicle_day.integrated_ms IS 'Time between speed readings, holes left out [ms].';
COMMENT ON COLUMN analyst.vehicle_day.distance_mm IS 'Distance by speed over time [mm]; unknown where speed_readings is 0.';
COMMENT ON COLUMN analyst.vehicle_day.idle_ms IS 'Time standing with the engine running [ms].';
COMMENT ON COLUMN analyst.vehicle_day.holes IS 'Silences too long to integrate over [count].';
COMMENT ON COLUMN analyst.vehicle_day.sharp_accelerations IS 'Accelerations beyond 3.0 m/s² [count].';
COMMENT ON COLUMN analyst.vehicle_day.sharp_brakings IS 'Brakings beyond 3.0 m/s² [count].';
COMMENT ON COLUMN analyst.vehicle_day.max_speed_m_per_h IS 'Greatest speed [m/h].';
COMMENT ON COLUMN analyst.vehicle_day.rpm_ms IS 'Time that engine speed covers [ms].';
COMMENT ON COLUMN analyst.vehicle_day.milli_turns IS 'Turns of the crankshaft over rpm_ms [1/1000 turn]; average rpm is milli_turns * 60 / rpm_ms.';
COMMENT ON COLUMN analyst.vehicle_day.max_rpm_milli IS 'Greatest engine speed [1/1000 rpm].';
COMMENT ON COLUMN analyst.vehicle_day.air_mg IS 'Air by the car''s own sensor [mg].';
COMMENT ON COLUMN analyst.vehicle_day.air_calculated_mg IS 'Air as the logger worked it out [mg].';
COMMENT ON COLUMN analyst.vehicle_day.max_coolant_milli_c IS 'Hottest coolant [1/1000 °C].';
COMMENT ON COLUMN analyst.vehicle_day.min_voltage_mv IS 'Lowest voltage [mV].';
COMMENT ON COLUMN analyst.vehicle_day.max_voltage_mv IS 'Highest voltage [mV].';
COMMENT ON COLUMN analyst.vehicle_day.max_acceleration_mm_per_s2 IS 'Greatest rise of speed over one second [mm/s²].';
COMMENT ON COLUMN analyst.vehicle_day.max_braking_mm_per_s2 IS 'Greatest fall of speed over one second [mm/s²].';
COMMENT ON COLUMN analyst.vehicle_day.acceleration_mm2_per_s3 IS 'Severity of accelerating: integral of the squared smoothed acceleration [mm²/s³].';
COMMENT ON COLUMN analyst.vehicle_day.braking_mm2_per_s3 IS 'Severity of braking [mm²/s³].';
COMMENT ON COLUMN analyst.vehicle_day.fuel_rate_ul IS 'Fuel by the engine''s own rate [µl].';
COMMENT ON COLUMN analyst.vehicle_day.fuel_rate_ms IS 'Time that fuel_rate_ul covers [ms].';
COMMENT ON COLUMN analyst.vehicle_day.burnt_air_mg IS 'Of air_mg what met fuel at the stoichiometric ratio [mg].';
COMMENT ON COLUMN analyst.vehicle_day.air_ms IS 'Time that air_mg and burnt_air_mg cover [ms].';
COMMENT ON COLUMN analyst.vehicle_day.burnt_air_calculated_mg IS 'Of air_calculated_mg what met fuel [mg].';
COMMENT ON COLUMN analyst.vehicle_day.air_calculated_ms IS 'Time that air_calculated_mg covers [ms].';
COMMENT ON COLUMN analyst.vehicle_day.burnt_air_per_litre_mg IS 'Burnt air by speed and density for each litre of displacement, filled wholly [mg/l].';
COMMENT ON COLUMN analyst.vehicle_day.air_per_litre_ms IS 'Time that burnt_air_per_litre_mg covers [ms].';
COMMENT ON COLUMN analyst.vehicle_day.fuel_cut_ms IS 'Overrun without fuel [ms]; NULL: the car does not tell.';
COMMENT ON COLUMN analyst.vehicle_day.revision IS 'How often late data changed the row [count].';
COMMENT ON COLUMN analyst.vehicle_day.revised_at IS 'When the last of that data was pushed; NULL: never.';
COMMENT ON COLUMN analyst.vehicle_day.fuel_l IS 'Fuel by the best method that covers the day, for the car as it is registered now [l].';
COMMENT ON COLUMN analyst.vehicle_day.fuel_method IS 'fuel_rate, maf, maf_calculated or speed_density.';
GRANT SELECT ON analyst.vehicle_day TO drover_reader, drover_sight;

CREATE VIEW analyst.trip WITH (security_invoker) AS
SELECT t.vehicle, t.start_at, t.end_at, t.is_open, t.readings, t.disputed_readings, t.speed_readings, t.integrated_ms, t.distance_mm, t.idle_ms,
    t.holes, t.sharp_accelerations, t.sharp_brakings, t.max_speed_m_per_h, t.rpm_ms, t.milli_turns, t.max_rpm_milli, t.air_mg,
    t.air_calculated_mg, t.max_coolant_milli_c, t.min_voltage_mv, t.max_voltage_mv, t.max_acceleration_mm_per_s2, t.max_braking_mm_per_s2,
    t.acceleration_mm2_per_s3, t.braking_mm2_per_s3, t.fuel_rate_ul, t.fuel_rate_ms, t.burnt_air_mg, t.air_ms, t.burnt_air_calculated_mg,
    t.air_calculated_ms, t.burnt_air_per_litre_mg, t.air_per_litre_ms, t.fuel_cut_ms, t.revision, t.revised_at,
    used.fuel_l, used.fuel_method, t.tag, t.discarded_at, t.driver, t.owner, t.weather_source, t.weather_temperature_c, t.weather_wind_speed_mps,
    t.weather_wind_gust_mps, t.weather_wind_direction_deg, t.weather_cloud_cover_pct, t.weather_precipitation_mm_per_h,
    t.weather_humidity_pct, t.weather_pressure_hpa, t.weather_condition_code, t.from_before, t.goes_on
FROM drover.trip_now t
LEFT JOIN LATERAL analyst.fuel(t.fuel, t.displacement_cc, t.volumetric_efficiency_pct, t.fuel_rate_ul, t.fuel_rate_ms,
    coalesce(t.burnt_air_mg, t.air_mg), t.air_ms, coalesce(t.burnt_air_calculated_mg, t.air_calculated_mg), t.air_calculated_ms,
    t.burnt_air_per_litre_mg, t.air_per_litre_ms) used ON true;
COMMENT ON VIEW analyst.trip IS 'Grain: all readings between two silences longer than the trip gap, or two marks; of a drive that runs for a day or longer the part between two borders at 00:00 UTC, which from_before and goes_on tell. Key: vehicle, start_at. Fresh: a later minute, a mark, or 66 s. Discarded ones are there, with discarded_at.';
COMMENT ON COLUMN analyst.trip.vehicle IS 'Id of the car.';
COMMENT ON COLUMN analyst.trip.start_at IS 'Its first reading; where it is from before, 00:00 UTC.';
COMMENT ON COLUMN analyst.trip.end_at IS 'Its last reading; where it goes on, 00:00 UTC.';
COMMENT ON COLUMN analyst.trip.is_open IS 'It may go on.';
COMMENT ON COLUMN analyst.trip.readings IS 'Readings [count].';
COMMENT ON COLUMN analyst.trip.disputed_readings IS 'Readings of one time that said different things [count].';
COMMENT ON COLUMN analyst.trip.speed_readings IS 'Readings that tell the speed [count].';
COMMENT ON COLUMN analyst.trip.integrated_ms IS 'Time between speed readings, holes left out [ms].';
COMMENT ON COLUMN analyst.trip.distance_mm IS 'Distance by speed over time [mm]; unknown where speed_readings is 0.';
COMMENT ON COLUMN analyst.trip.idle_ms IS 'Time standing with the engine running [ms].';
COMMENT ON COLUMN analyst.trip.holes IS 'Silences too long to integrate over [count].';
COMMENT ON COLUMN analyst.trip.sharp_accelerations IS 'Accelerations beyond 3.0 m/s² [count].';
COMMENT ON COLUMN analyst.trip.sharp_brakings IS 'Brakings beyond 3.0 m/s² [count].';
COMMENT ON COLUMN analyst.trip.max_speed_m_per_h IS 'Greatest speed [m/h].';
COMMENT ON COLUMN analyst.trip.rpm_ms IS 'Time that engine speed covers [ms].';
COMMENT ON COLUMN analyst.trip.milli_turns IS 'Turns of the crankshaft over rpm_ms [1/1000 turn]; average rpm is milli_turns * 60 / rpm_ms.';
COMMENT ON COLUMN analyst.trip.max_rpm_milli IS 'Greatest engine speed [1/1000 rpm].';
COMMENT ON COLUMN analyst.trip.air_mg IS 'Air by the car''s own sensor [mg].';
COMMENT ON COLUMN analyst.trip.air_calculated_mg IS 'Air as the logger worked it out [mg].';
COMMENT ON COLUMN analyst.trip.max_coolant_milli_c IS 'Hottest coolant [1/1000 °C].';
COMMENT ON COLUMN analyst.trip.min_voltage_mv IS 'Lowest voltage [mV].';
COMMENT ON COLUMN analyst.trip.max_voltage_mv IS 'Highest voltage [mV].';
COMMENT ON COLUMN analyst.trip.max_acceleration_mm_per_s2 IS 'Greatest rise of speed over one second [mm/s²].';
COMMENT ON COLUMN analyst.trip.max_braking_mm_per_s2 IS 'Greatest fall of speed over one second [mm/s²].';
COMMENT ON COLUMN analyst.trip.acceleration_mm2_per_s3 IS 'Severity of accelerating: integral of the squared smoothed acceleration [mm²/s³].';
COMMENT ON COLUMN analyst.trip.braking_mm2_per_s3 IS 'Severity of braking [mm²/s³].';
COMMENT ON COLUMN analyst.trip.fuel_rate_ul IS 'Fuel by the engine''s own rate [µl].';
COMMENT ON COLUMN analyst.trip.fuel_rate_ms IS 'Time that fuel_rate_ul covers [ms].';
COMMENT ON COLUMN analyst.trip.burnt_air_mg IS 'Of air_mg what met fuel at the stoichiometric ratio [mg].';
COMMENT ON COLUMN analyst.trip.air_ms IS 'Time that air_mg and burnt_air_mg cover [ms].';
COMMENT ON COLUMN analyst.trip.burnt_air_calculated_mg IS 'Of air_calculated_mg what met fuel [mg].';
COMMENT ON COLUMN analyst.trip.air_calculated_ms IS 'Time that air_calculated_mg covers [ms].';
COMMENT ON COLUMN analyst.trip.burnt_air_per_litre_mg IS 'Burnt air by speed and density for each litre of displacement, filled wholly [mg/l].';
COMMENT ON COLUMN analyst.trip.air_per_litre_ms IS 'Time that burnt_air_per_litre_mg covers [ms].';
COMMENT ON COLUMN analyst.trip.fuel_cut_ms IS 'Overrun without fuel [ms]; NULL: the car does not tell.';
COMMENT ON COLUMN analyst.trip.revision IS 'How often late data changed the row [count].';
COMMENT ON COLUMN analyst.trip.revised_at IS 'When the last of that data was pushed; NULL: never.';
COMMENT ON COLUMN analyst.trip.fuel_l IS 'Fuel by the best method that covers the trip [l].';
COMMENT ON COLUMN analyst.trip.fuel_method IS 'fuel_rate, maf, maf_calculated or speed_density.';
COMMENT ON COLUMN analyst.trip.tag IS 'What its driver calls it.';
COMMENT ON COLUMN analyst.trip.discarded_at IS 'When its driver said that it is not to be counted.';
COMMENT ON COLUMN analyst.trip.driver IS 'Account of who drove.';
COMMENT ON COLUMN analyst.trip.owner IS 'Account that owns the car.';
COMMENT ON COLUMN analyst.trip.weather_source IS 'Service and model that told of the weather where and when it began.';
COMMENT ON COLUMN analyst.trip.weather_temperature_c IS 'Temperature [°C].';
COMMENT ON COLUMN analyst.trip.weather_wind_speed_mps IS 'Wind [m/s].';
COMMENT ON COLUMN analyst.trip.weather_wind_gust_mps IS 'Gusts [m/s].';
COMMENT ON COLUMN analyst.trip.weather_wind_direction_deg IS 'Where the wind comes from [degrees].';
COMMENT ON COLUMN analyst.trip.weather_cloud_cover_pct IS 'Clouds [%].';
COMMENT ON COLUMN analyst.trip.weather_precipitation_mm_per_h IS 'Rain and snow [mm/h].';
COMMENT ON COLUMN analyst.trip.weather_humidity_pct IS 'Relative humidity [%].';
COMMENT ON COLUMN analyst.trip.weather_pressure_hpa IS 'Air pressure [hPa].';
COMMENT ON COLUMN analyst.trip.weather_condition_code IS 'The service''s own code [code].';
COMMENT ON COLUMN analyst.trip.from_before IS 'The drive began earlier: it is a part of one that ran for a day or longer.';
COMMENT ON COLUMN analyst.trip.goes_on IS 'The drive runs on in the next trip.';
GRANT SELECT ON analyst.trip TO drover_reader, drover_sight;

CREATE VIEW analyst.alert WITH (security_invoker) AS
SELECT a.alert_id, a.kind, a.vehicle, a.model, a.account, a.parameter, a.unit, a.severity, a.state, a.test, a.threshold, a.since_at, a.opened_at,
    a.opening_value, a.worst_value, a.worst_at, a.resolved_at, a.told_at, a.resolved_told_at, a.audience, a.recommended, a.advice,
    a.rules_version, a.revision, a.revised_at, seen.acknowledged_at, seen.acknowledged_by,
    extract(epoch FROM a.resolved_at - a.opened_at)::double precision AS open_s
FROM drover.alert a
LEFT JOIN LATERAL (
    SELECT k.acknowledged_at, k.acknowledged_by FROM drover.acknowledgement k
    WHERE k.alert_id = a.alert_id AND k.vehicle = a.vehicle ORDER BY k.acknowledged_at, k.record_id LIMIT 1) seen ON true;
COMMENT ON VIEW analyst.alert IS 'Grain: an episode of an alert. Key: alert_id. Fresh: a commit (200 ms). Withdrawn ones are there: late readings took them back.';
COMMENT ON COLUMN analyst.alert.alert_id IS 'Id; stays when late data moves the opening.';
COMMENT ON COLUMN analyst.alert.kind IS 'car or machine.';
COMMENT ON COLUMN analyst.alert.vehicle IS 'Id of the vehicle.';
COMMENT ON COLUMN analyst.alert.model IS 'Model of the machine; empty for cars.';
COMMENT ON COLUMN analyst.alert.account IS 'Of a car: whose limits it is about.';
COMMENT ON COLUMN analyst.alert.parameter IS 'As people read it.';
COMMENT ON COLUMN analyst.alert.unit IS 'Unit of threshold and values.';
COMMENT ON COLUMN analyst.alert.severity IS 'warning or critical.';
COMMENT ON COLUMN analyst.alert.state IS 'due_soon, open, resolved or withdrawn.';
COMMENT ON COLUMN analyst.alert.test IS 'above, below or absent.';
COMMENT ON COLUMN analyst.alert.threshold IS 'Limit [as column unit says].';
COMMENT ON COLUMN analyst.alert.since_at IS 'When the condition began.';
COMMENT ON COLUMN analyst.alert.opened_at IS 'When it had held long enough.';
COMMENT ON COLUMN analyst.alert.opening_value IS 'Value that opened it [as column unit says].';
COMMENT ON COLUMN analyst.alert.worst_value IS 'Value furthest beyond the limit [as column unit says].';
COMMENT ON COLUMN analyst.alert.worst_at IS 'When that was.';
COMMENT ON COLUMN analyst.alert.resolved_at IS 'When it was over.';
COMMENT ON COLUMN analyst.alert.told_at IS 'When what opened it came in.';
COMMENT ON COLUMN analyst.alert.resolved_told_at IS 'When what resolved it came in.';
COMMENT ON COLUMN analyst.alert.audience IS 'farmer, dealer or developer: for whom it is at least.';
COMMENT ON COLUMN analyst.alert.recommended IS 'What the value should be [as column unit says].';
COMMENT ON COLUMN analyst.alert.advice IS 'What to do.';
COMMENT ON COLUMN analyst.alert.rules_version IS 'Rules that it was judged by.';
COMMENT ON COLUMN analyst.alert.revision IS 'How often what had been told was corrected [count].';
COMMENT ON COLUMN analyst.alert.revised_at IS 'When the last correction was pushed.';
COMMENT ON COLUMN analyst.alert.acknowledged_at IS 'When somebody first said that they have seen it.';
COMMENT ON COLUMN analyst.alert.acknowledged_by IS 'Account of them.';
COMMENT ON COLUMN analyst.alert.open_s IS 'From opening to resolution [s]; NULL: still open.';
GRANT SELECT ON analyst.alert TO drover_reader, drover_sight;

CREATE VIEW analyst.machine_reading WITH (security_invoker) AS
SELECT r.vehicle, r.read_at, r.model, r.serial, r.firmware, r.engine_hours_h, r.engine_turn_on_count, r.key_turn_on_count, r.fuel_level_gal,
    r.coolant_c, r.hydraulic_oil_c, r.tire_pressure_kpa, r.gps_available, r.gps_fix_at, r.latitude_deg, r.longitude_deg, r.rda_license,
    r.wdt_license, r.machine_sync, r.connected_devices, r.last_cell_call_in_at, r.last_reprogramming_ok, r.last_reprogramming_at,
    r.is_partial, r.contact AS is_answering
FROM drover.machine_reading r;
COMMENT ON VIEW analyst.machine_reading IS 'Grain: a machine''s reading, or what the gateway says of its contact. Key: vehicle, read_at. Fresh: a commit (200 ms). NULL: the reading does not tell.';
COMMENT ON COLUMN analyst.machine_reading.vehicle IS 'Id of the machine.';
COMMENT ON COLUMN analyst.machine_reading.read_at IS 'By the box''s clock.';
COMMENT ON COLUMN analyst.machine_reading.model IS 'Model.';
COMMENT ON COLUMN analyst.machine_reading.serial IS 'Serial number.';
COMMENT ON COLUMN analyst.machine_reading.firmware IS 'Version of the box''s program.';
COMMENT ON COLUMN analyst.machine_reading.engine_hours_h IS 'Engine hours, a meter that only grows [h].';
COMMENT ON COLUMN analyst.machine_reading.engine_turn_on_count IS 'Starts of the engine [count].';
COMMENT ON COLUMN analyst.machine_reading.key_turn_on_count IS 'Turns of the key [count].';
COMMENT ON COLUMN analyst.machine_reading.fuel_level_gal IS 'Fuel in the tank [US gal].';
COMMENT ON COLUMN analyst.machine_reading.coolant_c IS 'Coolant [°C].';
COMMENT ON COLUMN analyst.machine_reading.hydraulic_oil_c IS 'Hydraulic oil [°C].';
COMMENT ON COLUMN analyst.machine_reading.tire_pressure_kpa IS 'Tire pressure [kPa].';
COMMENT ON COLUMN analyst.machine_reading.gps_available IS 'Whether it knows where it is.';
COMMENT ON COLUMN analyst.machine_reading.gps_fix_at IS 'When it last knew.';
COMMENT ON COLUMN analyst.machine_reading.latitude_deg IS 'Latitude [degrees].';
COMMENT ON COLUMN analyst.machine_reading.longitude_deg IS 'Longitude [degrees].';
COMMENT ON COLUMN analyst.machine_reading.rda_license IS 'Remote display access is licensed.';
COMMENT ON COLUMN analyst.machine_reading.wdt_license IS 'Wireless data transfer is licensed.';
COMMENT ON COLUMN analyst.machine_reading.machine_sync IS 'Machine sync is on.';
COMMENT ON COLUMN analyst.machine_reading.connected_devices IS 'Devices on its bus [count].';
COMMENT ON COLUMN analyst.machine_reading.last_cell_call_in_at IS 'When the box last called in.';
COMMENT ON COLUMN analyst.machine_reading.last_reprogramming_ok IS 'How the last reprogramming ended.';
COMMENT ON COLUMN analyst.machine_reading.last_reprogramming_at IS 'When that was.';
COMMENT ON COLUMN analyst.machine_reading.is_partial IS 'What it lacks says nothing.';
COMMENT ON COLUMN analyst.machine_reading.is_answering IS 'Said by the gateway in a row of its own: the box answers. NULL: the machine''s own reading.';
GRANT SELECT ON analyst.machine_reading TO drover_reader, drover_sight;

CREATE VIEW analyst.service WITH (security_invoker) AS
SELECT s.vehicle, s.done_at, s.engine_hours_h, s.recorded_by, s.note FROM drover.service s;
COMMENT ON VIEW analyst.service IS 'Grain: a service of a machine. Key: vehicle, done_at. Fresh: a commit (200 ms).';
COMMENT ON COLUMN analyst.service.vehicle IS 'Id of the machine.';
COMMENT ON COLUMN analyst.service.done_at IS 'When it was done.';
COMMENT ON COLUMN analyst.service.engine_hours_h IS 'Engine hours at the service [h].';
COMMENT ON COLUMN analyst.service.recorded_by IS 'Account that said so.';
COMMENT ON COLUMN analyst.service.note IS 'What they wrote.';
GRANT SELECT ON analyst.service TO drover_reader, drover_sight;

CREATE VIEW analyst.scan WITH (security_invoker) AS
SELECT s.vehicle, s.scan_id, s.asked_at, s.asked_by, s.scanned_at, s.scanned_by, s.is_done, s.answer, s.stored, s.pending, s.permanent,
    cardinality(s.stored) AS stored_codes, cardinality(s.pending) AS pending_codes, s.is_lamp_on, s.not_ready, s.freeze_frame
FROM drover.health_scan s;
COMMENT ON VIEW analyst.scan IS 'Grain: a health scan of a car, asked for or handed in. Key: vehicle, scan_id. Fresh: a commit (200 ms).';
COMMENT ON COLUMN analyst.scan.vehicle IS 'Id of the car.';
COMMENT ON COLUMN analyst.scan.scan_id IS 'Id of the request, else of the result.';
COMMENT ON COLUMN analyst.scan.asked_at IS 'When it was asked for.';
COMMENT ON COLUMN analyst.scan.asked_by IS 'By whom.';
COMMENT ON COLUMN analyst.scan.scanned_at IS 'When the answer was read.';
COMMENT ON COLUMN analyst.scan.scanned_by IS 'Who handed it in.';
COMMENT ON COLUMN analyst.scan.is_done IS 'The car answered.';
COMMENT ON COLUMN analyst.scan.answer IS 'The count of codes, or why there is none.';
COMMENT ON COLUMN analyst.scan.stored IS 'Trouble codes, stored.';
COMMENT ON COLUMN analyst.scan.pending IS 'Trouble codes, pending.';
COMMENT ON COLUMN analyst.scan.permanent IS 'Trouble codes, permanent.';
COMMENT ON COLUMN analyst.scan.stored_codes IS 'Stored codes [count].';
COMMENT ON COLUMN analyst.scan.pending_codes IS 'Pending codes [count].';
COMMENT ON COLUMN analyst.scan.is_lamp_on IS 'The check engine lamp is on.';
COMMENT ON COLUMN analyst.scan.not_ready IS 'Monitors that are not ready.';
COMMENT ON COLUMN analyst.scan.freeze_frame IS 'JSON: what the car kept when the code came.';
GRANT SELECT ON analyst.scan TO drover_reader, drover_sight;

CREATE VIEW analyst.ride WITH (security_invoker) AS
SELECT r.campus, r.request, r.state, r.reason, r.passengers, round(r.from_latitude_deg::numeric, 3)::double precision AS from_latitude_deg,
    round(r.from_longitude_deg::numeric, 3)::double precision AS from_longitude_deg,
    round(r.to_latitude_deg::numeric, 3)::double precision AS to_latitude_deg,
    round(r.to_longitude_deg::numeric, 3)::double precision AS to_longitude_deg,
    (2 * 6371008.8 * asin(least(1, sqrt(power(sin(radians(r.to_latitude_deg - r.from_latitude_deg) / 2), 2)
        + cos(radians(r.from_latitude_deg)) * cos(radians(r.to_latitude_deg))
        * power(sin(radians(r.to_longitude_deg - r.from_longitude_deg) / 2), 2)))))::double precision AS straight_m,
    r.requested_at, r.vehicle, r.place_in_line, r.pickup_at, r.dropoff_at, r.ended_at,
    CASE WHEN r.state IN ('done', 'on_board') THEN extract(epoch FROM r.pickup_at - r.requested_at)::double precision END AS waiting_s,
    CASE WHEN r.state = 'done' THEN extract(epoch FROM r.dropoff_at - r.pickup_at)::double precision END AS riding_s
FROM drover.ride r;
COMMENT ON VIEW analyst.ride IS 'Grain: a request for a ride. Key: campus, request. Fresh: a commit (200 ms). Nobody''s name; places to 0.001 degrees.';
COMMENT ON COLUMN analyst.ride.campus IS 'Id of the campus.';
COMMENT ON COLUMN analyst.ride.request IS 'Id of the request.';
COMMENT ON COLUMN analyst.ride.state IS 'queued, assigned, on_board, done, cancelled, expired or refused.';
COMMENT ON COLUMN analyst.ride.reason IS 'Why it was cancelled or refused.';
COMMENT ON COLUMN analyst.ride.passengers IS 'Passengers [count].';
COMMENT ON COLUMN analyst.ride.from_latitude_deg IS 'Pickup, rounded [degrees].';
COMMENT ON COLUMN analyst.ride.from_longitude_deg IS 'Pickup, rounded [degrees].';
COMMENT ON COLUMN analyst.ride.to_latitude_deg IS 'Dropoff, rounded [degrees].';
COMMENT ON COLUMN analyst.ride.to_longitude_deg IS 'Dropoff, rounded [degrees].';
COMMENT ON COLUMN analyst.ride.straight_m IS 'Straight way from pickup to dropoff [m].';
COMMENT ON COLUMN analyst.ride.requested_at IS 'When it was asked for.';
COMMENT ON COLUMN analyst.ride.vehicle IS 'Vehicle that serves it.';
COMMENT ON COLUMN analyst.ride.place_in_line IS 'Place among those who wait [1 is next].';
COMMENT ON COLUMN analyst.ride.pickup_at IS 'Expected, or when it was.';
COMMENT ON COLUMN analyst.ride.dropoff_at IS 'Expected, or when it was.';
COMMENT ON COLUMN analyst.ride.ended_at IS 'When it was over; NULL: it is not.';
COMMENT ON COLUMN analyst.ride.waiting_s IS 'From the request to the pickup [s]; NULL: not picked up.';
COMMENT ON COLUMN analyst.ride.riding_s IS 'From pickup to dropoff [s]; NULL: not there yet.';
GRANT SELECT ON analyst.ride TO drover_reader, drover_sight;

CREATE VIEW analyst.decision WITH (security_invoker) AS
SELECT d.campus, d.record_offset, d.made_at, d.why FROM drover.dispatch_decision d;
COMMENT ON VIEW analyst.decision IS 'Grain: what dispatch decided upon one record. Key: campus, record_offset. Fresh: a commit (200 ms).';
COMMENT ON COLUMN analyst.decision.campus IS 'Id of the campus.';
COMMENT ON COLUMN analyst.decision.record_offset IS 'Of the record that asked for it, in the campus''s partition [offset].';
COMMENT ON COLUMN analyst.decision.made_at IS 'When it was made.';
COMMENT ON COLUMN analyst.decision.why IS 'JSON: steps with what was tried, what each would have cost and what moved; weights (docs/dispatch.md).';
GRANT SELECT ON analyst.decision TO drover_reader, drover_sight;

CREATE VIEW analyst.dispatch_hour WITH (security_invoker) AS
SELECT r.campus, date_trunc('hour', r.requested_at, 'UTC') AS hour_at, count(*)::int AS requests, sum(r.passengers)::int AS passengers,
    count(*) FILTER (WHERE r.state = 'done')::int AS served, count(*) FILTER (WHERE r.state = 'cancelled')::int AS cancelled,
    count(*) FILTER (WHERE r.state = 'expired')::int AS expired, count(*) FILTER (WHERE r.state = 'refused')::int AS refused,
    count(*) FILTER (WHERE r.ended_at IS NULL)::int AS outstanding,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY r.waiting_s) AS waiting_p50_s,
    percentile_disc(0.9) WITHIN GROUP (ORDER BY r.waiting_s) AS waiting_p90_s, avg(r.waiting_s) AS waiting_mean_s, avg(r.riding_s) AS riding_mean_s
FROM analyst.ride r GROUP BY 1, 2;
COMMENT ON VIEW analyst.dispatch_hour IS 'Grain: a campus''s UTC hour in which rides were asked for. Key: campus, hour_at. Fresh: computed when it is asked. Of the rides that one sees.';
COMMENT ON COLUMN analyst.dispatch_hour.campus IS 'Id of the campus.';
COMMENT ON COLUMN analyst.dispatch_hour.hour_at IS 'Start of the UTC hour in which rides were asked for.';
COMMENT ON COLUMN analyst.dispatch_hour.requests IS 'Rides asked for [count].';
COMMENT ON COLUMN analyst.dispatch_hour.passengers IS 'Passengers of them [count].';
COMMENT ON COLUMN analyst.dispatch_hour.served IS 'Brought there [count].';
COMMENT ON COLUMN analyst.dispatch_hour.cancelled IS 'Cancelled [count].';
COMMENT ON COLUMN analyst.dispatch_hour.expired IS 'Given up after silence [count].';
COMMENT ON COLUMN analyst.dispatch_hour.refused IS 'Refused [count].';
COMMENT ON COLUMN analyst.dispatch_hour.outstanding IS 'Not over yet [count].';
COMMENT ON COLUMN analyst.dispatch_hour.waiting_p50_s IS 'Median of waiting [s].';
COMMENT ON COLUMN analyst.dispatch_hour.waiting_p90_s IS 'Nine in ten waited no longer [s].';
COMMENT ON COLUMN analyst.dispatch_hour.waiting_mean_s IS 'Mean of waiting [s].';
COMMENT ON COLUMN analyst.dispatch_hour.riding_mean_s IS 'Mean of riding [s].';
GRANT SELECT ON analyst.dispatch_hour TO drover_reader, drover_sight;

CREATE VIEW analyst.survey AS
SELECT s.event, s.site, s.survey, s.version, s.started_at, s.stopped_at, s.utc_offset_min, s.local_date, s.latitude_deg, s.longitude_deg,
    s.uncertainty_m, s.generalization, s.distance_m, s.pace_mps, s.protocol, s.gate, s.gate_reasons, s.observers, s.expertise,
    s.weather_missing AS weather_missing_hours, s.sightings, s.individuals, s.needs_review, s.is_blurred
FROM drover.survey_shown s WHERE (SELECT analyst.sees_sightings('shown'));
COMMENT ON VIEW analyst.survey IS 'Grain: a survey (walk), its newest version. Key: site, survey. Fresh: a commit (200 ms). Of sites with sensitive species places are the middle of a cell of 0.1 degrees.';
COMMENT ON COLUMN analyst.survey.event IS 'SITE:SURVEY.';
COMMENT ON COLUMN analyst.survey.site IS 'Id of the site.';
COMMENT ON COLUMN analyst.survey.survey IS 'Id that the client gave it.';
COMMENT ON COLUMN analyst.survey.version IS '0 as handed in, then one a review [count].';
COMMENT ON COLUMN analyst.survey.started_at IS 'Begin.';
COMMENT ON COLUMN analyst.survey.stopped_at IS 'End.';
COMMENT ON COLUMN analyst.survey.utc_offset_min IS 'Of the surveyors'' clocks [min].';
COMMENT ON COLUMN analyst.survey.local_date IS 'Day by those clocks.';
COMMENT ON COLUMN analyst.survey.latitude_deg IS 'First place that it names [degrees].';
COMMENT ON COLUMN analyst.survey.longitude_deg IS 'First place that it names [degrees].';
COMMENT ON COLUMN analyst.survey.uncertainty_m IS 'How far the place may be off because it was blurred [m].';
COMMENT ON COLUMN analyst.survey.generalization IS 'How it was blurred; NULL: it was not.';
COMMENT ON COLUMN analyst.survey.distance_m IS 'Way walked [m].';
COMMENT ON COLUMN analyst.survey.pace_mps IS 'Pace [m/s].';
COMMENT ON COLUMN analyst.survey.protocol IS 'Protocol.';
COMMENT ON COLUMN analyst.survey.gate IS 'within, outside or unknown: the protocol''s rules; NULL: it has none.';
COMMENT ON COLUMN analyst.survey.gate_reasons IS 'Which rules it was outside of.';
COMMENT ON COLUMN analyst.survey.observers IS 'People who looked [count].';
COMMENT ON COLUMN analyst.survey.expertise IS 'The highest of theirs.';
COMMENT ON COLUMN analyst.survey.weather_missing_hours IS 'Hours that no service has told of yet [count].';
COMMENT ON COLUMN analyst.survey.sightings IS 'Sightings [count].';
COMMENT ON COLUMN analyst.survey.individuals IS 'Animals [count].';
COMMENT ON COLUMN analyst.survey.needs_review IS 'It holds a species that is not known.';
COMMENT ON COLUMN analyst.survey.is_blurred IS 'A sensitive species was seen at its site.';
GRANT SELECT ON analyst.survey TO drover_reader, drover_researcher, drover_sight;

CREATE VIEW analyst.sighting AS
SELECT s.occurrence, s.event, s.site, s.survey, s.version, s.sighting, s.seen_at, s.local_date, s.utc_offset_min, s.species, s.given_name, s.taxon, s.individuals,
    s.latitude_deg, s.longitude_deg, s.uncertainty_m, s.generalization, s.section, s.habitat, s.conditions, s.behaviour, s.certainty,
    s.life_stage, s.sex, s.light_lux, s.temperature_c, s.wind_speed_mps, s.wind_direction_deg, s.cloud_cover_pct, s.weather_at,
    s.weather_source, s.protocol, s.gate, s.observers, s.needs_review, s.is_sensitive
FROM drover.sighting_shown s WHERE (SELECT analyst.sees_sightings('shown'));
COMMENT ON VIEW analyst.sighting IS 'Grain: a sighting of the newest version of its survey. Key: site, survey, sighting. Fresh: a commit (200 ms). Of sites with sensitive species places are the middle of a cell of 0.1 degrees.';
COMMENT ON COLUMN analyst.sighting.occurrence IS 'SITE:SURVEY:SIGHTING.';
COMMENT ON COLUMN analyst.sighting.event IS 'SITE:SURVEY.';
COMMENT ON COLUMN analyst.sighting.site IS 'Id of the site.';
COMMENT ON COLUMN analyst.sighting.survey IS 'Id of the survey.';
COMMENT ON COLUMN analyst.sighting.version IS 'Of the survey [count].';
COMMENT ON COLUMN analyst.sighting.sighting IS '0, 1 … as handed in [number].';
COMMENT ON COLUMN analyst.sighting.seen_at IS 'Its own time, else the survey''s begin.';
COMMENT ON COLUMN analyst.sighting.local_date IS 'Day by the surveyors'' clocks.';
COMMENT ON COLUMN analyst.sighting.utc_offset_min IS 'Of the surveyors'' clocks [min].';
COMMENT ON COLUMN analyst.sighting.species IS 'Accepted name; as given where none is known.';
COMMENT ON COLUMN analyst.sighting.given_name IS 'As it was handed in.';
COMMENT ON COLUMN analyst.sighting.taxon IS 'Key of the taxonomy; NULL: not known.';
COMMENT ON COLUMN analyst.sighting.individuals IS 'Animals [count].';
COMMENT ON COLUMN analyst.sighting.latitude_deg IS 'Latitude [degrees].';
COMMENT ON COLUMN analyst.sighting.longitude_deg IS 'Longitude [degrees].';
COMMENT ON COLUMN analyst.sighting.uncertainty_m IS 'How far the place may be off [m].';
COMMENT ON COLUMN analyst.sighting.generalization IS 'How it was blurred; NULL: it was not.';
COMMENT ON COLUMN analyst.sighting.section IS 'Section of the route.';
COMMENT ON COLUMN analyst.sighting.habitat IS 'Habitat.';
COMMENT ON COLUMN analyst.sighting.conditions IS 'Conditions.';
COMMENT ON COLUMN analyst.sighting.behaviour IS 'What it did.';
COMMENT ON COLUMN analyst.sighting.certainty IS 'How sure the observer was.';
COMMENT ON COLUMN analyst.sighting.life_stage IS 'Life stage.';
COMMENT ON COLUMN analyst.sighting.sex IS 'Sex.';
COMMENT ON COLUMN analyst.sighting.light_lux IS 'Light [lx].';
COMMENT ON COLUMN analyst.sighting.temperature_c IS 'Temperature by the service [°C].';
COMMENT ON COLUMN analyst.sighting.wind_speed_mps IS 'Wind by the service [m/s].';
COMMENT ON COLUMN analyst.sighting.wind_direction_deg IS 'Where the wind comes from [degrees].';
COMMENT ON COLUMN analyst.sighting.cloud_cover_pct IS 'Clouds by the service [%].';
COMMENT ON COLUMN analyst.sighting.weather_at IS 'Of which time the weather is.';
COMMENT ON COLUMN analyst.sighting.weather_source IS 'Which service.';
COMMENT ON COLUMN analyst.sighting.protocol IS 'Protocol of the survey.';
COMMENT ON COLUMN analyst.sighting.gate IS 'within, outside or unknown: the protocol''s rules.';
COMMENT ON COLUMN analyst.sighting.observers IS 'People who looked [count].';
COMMENT ON COLUMN analyst.sighting.needs_review IS 'A reviewer should look at it.';
COMMENT ON COLUMN analyst.sighting.is_sensitive IS 'Where it lives is nobody''s business.';
GRANT SELECT ON analyst.sighting TO drover_reader, drover_researcher, drover_sight;

CREATE VIEW analyst.species_week AS
SELECT w.site, w.species, w.iso_year, w.iso_week, w.behaviour, w.temperature_band, w.sightings, w.individuals
FROM drover.sighting_week w WHERE (SELECT analyst.sees_sightings('shown'));
COMMENT ON VIEW analyst.species_week IS 'Grain: a species at a site in an ISO week, by behaviour and band of temperature. Key: site, species, iso_year, iso_week, behaviour, temperature_band. Fresh: a commit (200 ms).';
COMMENT ON COLUMN analyst.species_week.site IS 'Id of the site.';
COMMENT ON COLUMN analyst.species_week.species IS 'Accepted name.';
COMMENT ON COLUMN analyst.species_week.iso_year IS 'ISO 8601 week year [year].';
COMMENT ON COLUMN analyst.species_week.iso_week IS 'ISO 8601 week [1 to 53].';
COMMENT ON COLUMN analyst.species_week.behaviour IS 'What it did; empty: not said.';
COMMENT ON COLUMN analyst.species_week.temperature_band IS 'Band of 5 °C by its lower end; empty: not known.';
COMMENT ON COLUMN analyst.species_week.sightings IS 'Sightings [count].';
COMMENT ON COLUMN analyst.species_week.individuals IS 'Animals [count].';
GRANT SELECT ON analyst.species_week TO drover_reader, drover_researcher, drover_sight;

CREATE VIEW analyst.tour_waypoint AS
SELECT v.tour, v.version, w.position::int AS position, w.waypoint
FROM (SELECT DISTINCT ON (tour) tour, version, waypoint_ids FROM drover.tour_version ORDER BY tour, version DESC) v
CROSS JOIN LATERAL unnest(v.waypoint_ids) WITH ORDINALITY AS w (waypoint, position);
COMMENT ON VIEW analyst.tour_waypoint IS 'Grain: a waypoint of the newest published version of a tour. Key: tour, position. Fresh: at once.';
COMMENT ON COLUMN analyst.tour_waypoint.tour IS 'Id of the tour.';
COMMENT ON COLUMN analyst.tour_waypoint.version IS 'Published version [number].';
COMMENT ON COLUMN analyst.tour_waypoint."position" IS 'Place in the tour, from 1 on [number].';
COMMENT ON COLUMN analyst.tour_waypoint.waypoint IS 'Id of the waypoint.';
GRANT SELECT ON analyst.tour_waypoint TO drover_reader, drover_sight;

CREATE VIEW analyst.tour_day WITH (security_barrier) AS
SELECT d.tour, d.kind, d.waypoint, d.local_date, d.events FROM drover.tour_day d
WHERE (SELECT analyst.has_role('ranger', 'analyst'));
COMMENT ON VIEW analyst.tour_day IS 'Grain: a tour''s downloads, or visits of one of its waypoints, on a day. Key: tour, kind, waypoint, local_date. Fresh: a commit (200 ms).';
COMMENT ON COLUMN analyst.tour_day.tour IS 'Id of the tour.';
COMMENT ON COLUMN analyst.tour_day.kind IS 'download or visit.';
COMMENT ON COLUMN analyst.tour_day.waypoint IS 'Id of the waypoint; empty: the tour''s download.';
COMMENT ON COLUMN analyst.tour_day.local_date IS 'Day where the visitor was.';
COMMENT ON COLUMN analyst.tour_day.events IS 'Downloads or visits [count].';
GRANT SELECT ON analyst.tour_day TO drover_reader, drover_sight;

CREATE VIEW analyst.weather_hour WITH (security_barrier) AS
SELECT w.source, w.cell_millideg, w.latitude_index, w.longitude_index, w.hour_at,
    (w.answer ->> 'latitude')::double precision AS latitude_deg, (w.answer ->> 'longitude')::double precision AS longitude_deg,
    (w.answer ->> 'temperature_c')::double precision AS temperature_c, (w.answer ->> 'wind_speed_mps')::double precision AS wind_speed_mps,
    (w.answer ->> 'wind_gust_mps')::double precision AS wind_gust_mps, (w.answer ->> 'wind_direction_deg')::double precision AS wind_direction_deg,
    (w.answer ->> 'cloud_cover_pct')::double precision AS cloud_cover_pct,
    (w.answer ->> 'precipitation_mm_per_h')::double precision AS precipitation_mm_per_h,
    (w.answer ->> 'humidity_pct')::double precision AS humidity_pct, (w.answer ->> 'pressure_hpa')::double precision AS pressure_hpa,
    (w.answer ->> 'condition_code')::double precision::int AS condition_code
FROM drover.weather_hour w
WHERE (SELECT analyst.has_role('researcher', 'analyst', 'dispatcher', 'fleet_manager'))
    AND (w.cell_millideg >= 100 OR (SELECT analyst.sees_sightings('exact')));
COMMENT ON VIEW analyst.weather_hour IS 'Grain: what a weather service said of an hour and a cell of its grid, as long as it is kept. Key: source, cell_millideg, latitude_index, longitude_index, hour_at. Fresh: when a trip, ride or survey needs it. People see cells of 0.1 degrees and more.';
COMMENT ON COLUMN analyst.weather_hour.source IS 'Service.';
COMMENT ON COLUMN analyst.weather_hour.cell_millideg IS 'Side of the cell [1/1000 degree].';
COMMENT ON COLUMN analyst.weather_hour.latitude_index IS 'Cell from the south pole [index].';
COMMENT ON COLUMN analyst.weather_hour.longitude_index IS 'Cell from the 180th meridian [index].';
COMMENT ON COLUMN analyst.weather_hour.hour_at IS 'Start of the hour.';
COMMENT ON COLUMN analyst.weather_hour.latitude_deg IS 'Middle of the cell [degrees].';
COMMENT ON COLUMN analyst.weather_hour.longitude_deg IS 'Middle of the cell [degrees].';
COMMENT ON COLUMN analyst.weather_hour.temperature_c IS 'Temperature [°C].';
COMMENT ON COLUMN analyst.weather_hour.wind_speed_mps IS 'Wind [m/s].';
COMMENT ON COLUMN analyst.weather_hour.wind_gust_mps IS 'Gusts [m/s].';
COMMENT ON COLUMN analyst.weather_hour.wind_direction_deg IS 'Where the wind comes from [degrees].';
COMMENT ON COLUMN analyst.weather_hour.cloud_cover_pct IS 'Clouds [%].';
COMMENT ON COLUMN analyst.weather_hour.precipitation_mm_per_h IS 'Rain and snow [mm/h].';
COMMENT ON COLUMN analyst.weather_hour.humidity_pct IS 'Relative humidity [%].';
COMMENT ON COLUMN analyst.weather_hour.pressure_hpa IS 'Air pressure [hPa].';
COMMENT ON COLUMN analyst.weather_hour.condition_code IS 'The service''s own code [code].';
GRANT SELECT ON analyst.weather_hour TO drover_reader, drover_researcher, drover_sight;

CREATE VIEW analyst.notice WITH (security_invoker) AS
SELECT n.notice_id, n.alert_id, n.vehicle, n.account, n.occasion, n.round, n.relation, n.manner, n.state, n.reason, n.decided_at, n.due_at,
    n.settled_at, sent.channels, sent.sent_at, sent.tries
FROM drover.notice n
LEFT JOIN LATERAL (
    SELECT array_agg(DISTINCT m.channel) FILTER (WHERE m.state = 'sent') AS channels, min(m.settled_at) FILTER (WHERE m.state = 'sent') AS sent_at,
        sum(m.tries) AS tries
    FROM drover.notice_told t JOIN drover.notice_message m USING (message_id) WHERE t.notice_id = n.notice_id) AS sent ON true;
COMMENT ON VIEW analyst.notice IS 'Grain: one occasion (an alert opened, became worse, ended, …) that one account was told of, or not, and why. Key: notice_id. Fresh: a second. People see their own.';
COMMENT ON COLUMN analyst.notice.notice_id IS 'Stable id of alert, account, occasion and round.';
COMMENT ON COLUMN analyst.notice.alert_id IS 'The alert, as in alert.';
COMMENT ON COLUMN analyst.notice.vehicle IS 'Id of the vehicle.';
COMMENT ON COLUMN analyst.notice.account IS 'Who was to be told.';
COMMENT ON COLUMN analyst.notice.occasion IS 'opened, worse, repeated, escalated, resolved, corrected or withdrawn.';
COMMENT ON COLUMN analyst.notice.round IS 'Which repeat or step, or the alert''s revision [number].';
COMMENT ON COLUMN analyst.notice.relation IS 'Why this account: owner, driver, dealer, developer, or for whom it steps in.';
COMMENT ON COLUMN analyst.notice.manner IS 'at_once, daily or never.';
COMMENT ON COLUMN analyst.notice.state IS 'waiting, told or not_told.';
COMMENT ON COLUMN analyst.notice.reason IS 'Why so, for people.';
COMMENT ON COLUMN analyst.notice.decided_at IS 'When it was decided.';
COMMENT ON COLUMN analyst.notice.due_at IS 'When it is, or was, due.';
COMMENT ON COLUMN analyst.notice.settled_at IS 'When it was told, or was clear that it is not.';
COMMENT ON COLUMN analyst.notice.channels IS 'Ways on which a message with it was taken.';
COMMENT ON COLUMN analyst.notice.sent_at IS 'When the first message with it was taken.';
COMMENT ON COLUMN analyst.notice.tries IS 'Tries of all messages with it [count].';
GRANT SELECT ON analyst.notice TO drover_reader, drover_sight;
