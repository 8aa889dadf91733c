-- The tables for analysts: views of documented names in a schema of their own, which stay while tables beneath them change.
-- Whoever reads them is held to the same rules as pages (0031): views of vehicles and rides ask as who reads (security_invoker);
-- those of sightings, surveys, tours and weather, whose tables no person's login may read, hold the rule themselves.
--
-- Each view's comment says grain, key and freshness; each column's says its unit in brackets where it is a number.

-- One that is left from a schema `drover` that somebody has dropped is taken over.
CREATE SCHEMA IF NOT EXISTS analyst;
COMMENT ON SCHEMA analyst IS 'Version 1. Views for analysts (docs/analyst.md). Columns are added, never renamed, retyped or taken away without another version.';
GRANT USAGE ON SCHEMA analyst TO drover_reader, drover_sight, drover_researcher;

-- Which fleet a vehicle is of, for who looks at it in psql as well: it gives no sight of its own (0038).
GRANT EXECUTE ON FUNCTION drover.fleets_seen() TO drover_sight;
GRANT EXECUTE ON FUNCTION drover.sees_sightings(text) TO drover_sight, drover_reader, drover_researcher;
GRANT EXECUTE ON FUNCTION drover.sight_roles(), drover.sees_all() TO drover_researcher;

-- MARK: fuel

-- Litres by the best of the methods that cover nine tenths of the time that the longest of them covers, as
-- Sources/Trips/Fuel.swift has it; no row: unknown.
CREATE OR REPLACE FUNCTION analyst.fuel(
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

-- MARK: vehicles

CREATE VIEW analyst.vehicle WITH (security_invoker) AS
SELECT v.kind, v.vehicle, r.name, coalesce(r.model, v.model) AS model, r.make, r.year, coalesce(r.tags, '{}') AS tags, r.account AS owner,
    r.fuel, r.tank_l, r.displacement_cc, v.last_reading_at, coalesce(r.is_disabled, false) AS is_disabled
FROM drover.vehicle v LEFT JOIN drover.registration r ON r.kind = v.kind AND r.vehicle = v.vehicle;

CREATE VIEW analyst.fleet_vehicle WITH (security_invoker) AS
SELECT f.fleet, f.name AS fleet_name, f.kind, f.vehicle FROM drover.fleets_seen() f;

CREATE VIEW analyst.vehicle_minute WITH (security_invoker) AS
SELECT m.vehicle, m.minute_at, m.trip_start_at, m.readings, m.disputed_readings, m.speed_readings, m.integrated_ms, m.distance_mm, m.idle_ms,
    m.holes, m.sharp_accelerations, m.sharp_brakings, m.max_speed_m_per_h, m.rpm_ms, m.milli_turns, m.max_rpm_milli, m.air_mg,
    m.air_calculated_mg, m.max_coolant_milli_c, m.min_voltage_mv, m.max_voltage_mv, m.max_acceleration_mm_per_s2, m.max_braking_mm_per_s2,
    m.acceleration_mm2_per_s3, m.braking_mm2_per_s3, m.fuel_rate_ul, m.fuel_rate_ms, m.burnt_air_mg, m.air_ms, m.burnt_air_calculated_mg,
    m.air_calculated_ms, m.burnt_air_per_litre_mg, m.air_per_litre_ms, m.fuel_cut_ms, m.revision, m.revised_at
FROM drover.vehicle_minute m;

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

CREATE VIEW analyst.trip WITH (security_invoker) AS
SELECT t.vehicle, t.start_at, t.end_at, t.is_open, t.readings, t.disputed_readings, t.speed_readings, t.integrated_ms, t.distance_mm, t.idle_ms,
    t.holes, t.sharp_accelerations, t.sharp_brakings, t.max_speed_m_per_h, t.rpm_ms, t.milli_turns, t.max_rpm_milli, t.air_mg,
    t.air_calculated_mg, t.max_coolant_milli_c, t.min_voltage_mv, t.max_voltage_mv, t.max_acceleration_mm_per_s2, t.max_braking_mm_per_s2,
    t.acceleration_mm2_per_s3, t.braking_mm2_per_s3, t.fuel_rate_ul, t.fuel_rate_ms, t.burnt_air_mg, t.air_ms, t.burnt_air_calculated_mg,
    t.air_calculated_ms, t.burnt_air_per_litre_mg, t.air_per_litre_ms, t.fuel_cut_ms, t.revision, t.revised_at,
    used.fuel_l, used.fuel_method, t.tag, t.discarded_at, t.driver, t.owner, t.weather_source, t.weather_temperature_c, t.weather_wind_speed_mps,
    t.weather_wind_gust_mps, t.weather_wind_direction_deg, t.weather_cloud_cover_pct, t.weather_precipitation_mm_per_h,
    t.weather_humidity_pct, t.weather_pressure_hpa, t.weather_condition_code
FROM drover.trip_now t
LEFT JOIN LATERAL analyst.fuel(t.fuel, t.displacement_cc, t.volumetric_efficiency_pct, t.fuel_rate_ul, t.fuel_rate_ms,
    coalesce(t.burnt_air_mg, t.air_mg), t.air_ms, coalesce(t.burnt_air_calculated_mg, t.air_calculated_mg), t.air_calculated_ms,
    t.burnt_air_per_litre_mg, t.air_per_litre_ms) used ON true;

CREATE VIEW analyst.scan WITH (security_invoker) AS
SELECT s.vehicle, s.scan_id, s.asked_at, s.asked_by, s.scanned_at, s.scanned_by, s.is_done, s.answer, s.stored, s.pending, s.permanent,
    cardinality(s.stored) AS stored_codes, cardinality(s.pending) AS pending_codes, s.is_lamp_on, s.not_ready, s.freeze_frame
FROM drover.health_scan s;

-- MARK: machines

CREATE VIEW analyst.machine_reading WITH (security_invoker) AS
SELECT r.vehicle, r.read_at, r.model, r.serial, r.firmware, r.engine_hours_h, r.engine_turn_on_count, r.key_turn_on_count, r.fuel_level_gal,
    r.coolant_c, r.hydraulic_oil_c, r.tire_pressure_kpa, r.gps_available, r.gps_fix_at, r.latitude_deg, r.longitude_deg, r.rda_license,
    r.wdt_license, r.machine_sync, r.connected_devices, r.last_cell_call_in_at, r.last_reprogramming_ok, r.last_reprogramming_at,
    r.is_partial, r.contact AS is_answering
FROM drover.machine_reading r;

CREATE VIEW analyst.alert WITH (security_invoker) AS
SELECT a.alert_id, a.kind, a.vehicle, a.model, a.account, a.parameter, a.unit, a.severity, a.state, a.test, a.threshold, a.since_at, a.opened_at,
    a.opening_value, a.worst_value, a.worst_at, a.resolved_at, a.told_at, a.resolved_told_at, a.audience, a.recommended, a.advice,
    a.rules_version, a.revision, a.revised_at, seen.acknowledged_at, seen.acknowledged_by,
    extract(epoch FROM a.resolved_at - a.opened_at)::double precision AS open_s
FROM drover.alert a
LEFT JOIN LATERAL (
    SELECT k.acknowledged_at, k.acknowledged_by FROM drover.acknowledgement k
    WHERE k.alert_id = a.alert_id AND k.vehicle = a.vehicle ORDER BY k.acknowledged_at, k.record_id LIMIT 1) seen ON true;

CREATE VIEW analyst.service WITH (security_invoker) AS
SELECT s.vehicle, s.done_at, s.engine_hours_h, s.recorded_by, s.note FROM drover.service s;

-- MARK: dispatch

-- Nobody's name, account, words or address; places to a thousandth of a degree (some hundred metres).
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

CREATE VIEW analyst.decision WITH (security_invoker) AS
SELECT d.campus, d.record_offset, d.made_at, d.why FROM drover.dispatch_decision d;

CREATE VIEW analyst.dispatch_hour WITH (security_invoker) AS
SELECT r.campus, date_trunc('hour', r.requested_at, 'UTC') AS hour_at, count(*)::int AS requests, sum(r.passengers)::int AS passengers,
    count(*) FILTER (WHERE r.state = 'done')::int AS served, count(*) FILTER (WHERE r.state = 'cancelled')::int AS cancelled,
    count(*) FILTER (WHERE r.state = 'expired')::int AS expired, count(*) FILTER (WHERE r.state = 'refused')::int AS refused,
    count(*) FILTER (WHERE r.ended_at IS NULL)::int AS outstanding,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY r.waiting_s) AS waiting_p50_s,
    percentile_disc(0.9) WITHIN GROUP (ORDER BY r.waiting_s) AS waiting_p90_s, avg(r.waiting_s) AS waiting_mean_s, avg(r.riding_s) AS riding_mean_s
FROM analyst.ride r GROUP BY 1, 2;

-- MARK: sightings

-- A person sees them with the roles of 0036, a program of the installation by its own.
CREATE OR REPLACE FUNCTION analyst.sees_sightings(how text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT NOT pg_has_role(current_user, 'drover_sight', 'USAGE')
        OR (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user)
        OR drover.sees_sightings(how)
$$;
-- Roles that see what is nobody's in particular: visits of tours, the weather.
CREATE OR REPLACE FUNCTION analyst.has_role(VARIADIC some_roles text[]) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.sees_all() OR drover.sight_roles() && some_roles
$$;
REVOKE EXECUTE ON FUNCTION analyst.sees_sightings(text), analyst.has_role(text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION analyst.sees_sightings(text), analyst.has_role(text[]) TO drover_reader, drover_sight, drover_researcher;

-- No barriers, so that indexes give the latest sightings in order: whether somebody sees them is asked once, before any row is read,
-- and what is blurred is so in the columns themselves.
CREATE VIEW analyst.survey AS
SELECT s.event, s.site, s.survey, s.version, s.started_at, s.stopped_at, s.utc_offset_min, s.local_date, s.latitude_deg, s.longitude_deg,
    s.uncertainty_m, s.generalization, s.distance_m, s.pace_mps, s.protocol, s.gate, s.gate_reasons, s.observers, s.expertise,
    s.weather_missing AS weather_missing_hours, s.sightings, s.individuals, s.needs_review, s.is_blurred
FROM drover.survey_shown s WHERE (SELECT analyst.sees_sightings('shown'));

CREATE VIEW analyst.sighting AS
SELECT s.occurrence, s.event, s.site, s.survey, s.version, s.sighting, s.seen_at, s.local_date, s.utc_offset_min, s.species, s.given_name, s.taxon, s.individuals,
    s.latitude_deg, s.longitude_deg, s.uncertainty_m, s.generalization, s.section, s.habitat, s.conditions, s.behaviour, s.certainty,
    s.life_stage, s.sex, s.light_lux, s.temperature_c, s.wind_speed_mps, s.wind_direction_deg, s.cloud_cover_pct, s.weather_at,
    s.weather_source, s.protocol, s.gate, s.observers, s.needs_review, s.is_sensitive
FROM drover.sighting_shown s WHERE (SELECT analyst.sees_sightings('shown'));

CREATE VIEW analyst.species_week AS
SELECT w.site, w.species, w.iso_year, w.iso_week, w.behaviour, w.temperature_band, w.sightings, w.individuals
FROM drover.sighting_week w WHERE (SELECT analyst.sees_sightings('shown'));

-- MARK: tours and weather

-- The waypoints of the newest version, in order. What was published is for everybody.
CREATE VIEW analyst.tour_waypoint AS
SELECT v.tour, v.version, w.position::int AS position, w.waypoint
FROM (SELECT DISTINCT ON (tour) tour, version, waypoint_ids FROM drover.tour_version ORDER BY tour, version DESC) v
CROSS JOIN LATERAL unnest(v.waypoint_ids) WITH ORDINALITY AS w (waypoint, position);

CREATE VIEW analyst.tour_day WITH (security_barrier) AS
SELECT d.tour, d.kind, d.waypoint, d.local_date, d.events FROM drover.tour_day d
WHERE (SELECT analyst.has_role('ranger', 'analyst'));

-- A cell that is smaller than those that sensitive places are blurred to would tell where somebody walks.
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

GRANT SELECT ON ALL TABLES IN SCHEMA analyst TO drover_reader, drover_sight;
GRANT SELECT ON analyst.survey, analyst.sighting, analyst.species_week, analyst.weather_hour TO drover_researcher;
GRANT SELECT ON drover.sighting_week TO drover_researcher;

-- MARK: what they hold

DO $$
DECLARE
    described text[]; guarded text;
BEGIN
    FOREACH described SLICE 1 IN ARRAY ARRAY[
        ['vehicle', 'Grain: a car or machine that has reported. Key: kind, vehicle. Fresh: a commit (200 ms).'],
        ['fleet_vehicle', 'Grain: a vehicle in a fleet, those of its parts included. Key: fleet, kind, vehicle. Fresh: at once.'],
        ['vehicle_minute', 'Grain: a car''s minute that holds readings, and one more row for each trip that a mark begins inside it. Key: vehicle, minute_at. Fresh: a later minute, a mark, or 66 s. An interval between two readings belongs to the minute of the later one.'],
        ['vehicle_day', 'Grain: a car''s UTC day. Key: vehicle, day_at. Fresh: a later minute, or 66 s. Exact sums of its minutes.'],
        ['trip', 'Grain: all readings between two silences longer than the trip gap, or two marks. Key: vehicle, start_at. Fresh: a later minute, a mark, or 66 s. Discarded ones are there, with discarded_at.'],
        ['alert', 'Grain: an episode of an alert. Key: alert_id. Fresh: a commit (200 ms). Withdrawn ones are there: late readings took them back.'],
        ['machine_reading', 'Grain: a machine''s reading, or what the gateway says of its contact. Key: vehicle, read_at. Fresh: a commit (200 ms). NULL: the reading does not tell.'],
        ['service', 'Grain: a service of a machine. Key: vehicle, done_at. Fresh: a commit (200 ms).'],
        ['scan', 'Grain: a health scan of a car, asked for or handed in. Key: vehicle, scan_id. Fresh: a commit (200 ms).'],
        ['ride', 'Grain: a request for a ride. Key: campus, request. Fresh: a commit (200 ms). Nobody''s name; places to 0.001 degrees.'],
        ['decision', 'Grain: what dispatch decided upon one record. Key: campus, record_offset. Fresh: a commit (200 ms).'],
        ['dispatch_hour', 'Grain: a campus''s UTC hour in which rides were asked for. Key: campus, hour_at. Fresh: computed when it is asked. Of the rides that one sees.'],
        ['survey', 'Grain: a survey (walk), its newest version. Key: site, survey. Fresh: a commit (200 ms). Of sites with sensitive species places are the middle of a cell of 0.1 degrees.'],
        ['sighting', 'Grain: a sighting of the newest version of its survey. Key: site, survey, sighting. Fresh: a commit (200 ms). Of sites with sensitive species places are the middle of a cell of 0.1 degrees.'],
        ['species_week', 'Grain: a species at a site in an ISO week, by behaviour and band of temperature. Key: site, species, iso_year, iso_week, behaviour, temperature_band. Fresh: a commit (200 ms).'],
        ['tour_day', 'Grain: a tour''s downloads, or visits of one of its waypoints, on a day. Key: tour, kind, waypoint, local_date. Fresh: a commit (200 ms).'],
        ['tour_waypoint', 'Grain: a waypoint of the newest published version of a tour. Key: tour, position. Fresh: at once.'],
        ['weather_hour', 'Grain: what a weather service said of an hour and a cell of its grid, as long as it is kept. Key: source, cell_millideg, latitude_index, longitude_index, hour_at. Fresh: when a trip, ride or survey needs it. People see cells of 0.1 degrees and more.']]
    LOOP
        EXECUTE format('COMMENT ON VIEW analyst.%I IS %L', described[1], described[2]);
    END LOOP;

    -- What minutes, days and trips add up to.
    FOREACH guarded IN ARRAY ARRAY['vehicle_minute', 'vehicle_day', 'trip'] LOOP
        FOREACH described SLICE 1 IN ARRAY ARRAY[
            ['vehicle', 'Id of the car.'],
            ['readings', 'Readings [count].'],
            ['disputed_readings', 'Readings of one time that said different things [count].'],
            ['speed_readings', 'Readings that tell the speed [count].'],
            ['integrated_ms', 'Time between speed readings, holes left out [ms].'],
            ['distance_mm', 'Distance by speed over time [mm]; unknown where speed_readings is 0.'],
            ['idle_ms', 'Time standing with the engine running [ms].'],
            ['holes', 'Silences too long to integrate over [count].'],
            ['sharp_accelerations', 'Accelerations beyond 3.0 m/s² [count].'],
            ['sharp_brakings', 'Brakings beyond 3.0 m/s² [count].'],
            ['max_speed_m_per_h', 'Greatest speed [m/h].'],
            ['rpm_ms', 'Time that engine speed covers [ms].'],
            ['milli_turns', 'Turns of the crankshaft over rpm_ms [1/1000 turn]; average rpm is milli_turns * 60 / rpm_ms.'],
            ['max_rpm_milli', 'Greatest engine speed [1/1000 rpm].'],
            ['air_mg', 'Air by the car''s own sensor [mg].'],
            ['air_calculated_mg', 'Air as the logger worked it out [mg].'],
            ['max_coolant_milli_c', 'Hottest coolant [1/1000 °C].'],
            ['min_voltage_mv', 'Lowest voltage [mV].'],
            ['max_voltage_mv', 'Highest voltage [mV].'],
            ['max_acceleration_mm_per_s2', 'Greatest rise of speed over one second [mm/s²].'],
            ['max_braking_mm_per_s2', 'Greatest fall of speed over one second [mm/s²].'],
            ['acceleration_mm2_per_s3', 'Severity of accelerating: integral of the squared smoothed acceleration [mm²/s³].'],
            ['braking_mm2_per_s3', 'Severity of braking [mm²/s³].'],
            ['fuel_rate_ul', 'Fuel by the engine''s own rate [µl].'],
            ['fuel_rate_ms', 'Time that fuel_rate_ul covers [ms].'],
            ['burnt_air_mg', 'Of air_mg what met fuel at the stoichiometric ratio [mg].'],
            ['air_ms', 'Time that air_mg and burnt_air_mg cover [ms].'],
            ['burnt_air_calculated_mg', 'Of air_calculated_mg what met fuel [mg].'],
            ['air_calculated_ms', 'Time that air_calculated_mg covers [ms].'],
            ['burnt_air_per_litre_mg', 'Burnt air by speed and density for each litre of displacement, filled wholly [mg/l].'],
            ['air_per_litre_ms', 'Time that burnt_air_per_litre_mg covers [ms].'],
            ['fuel_cut_ms', 'Overrun without fuel [ms]; NULL: the car does not tell.'],
            ['revision', 'How often late data changed the row [count].'],
            ['revised_at', 'When the last of that data was pushed; NULL: never.']]
        LOOP
            EXECUTE format('COMMENT ON COLUMN analyst.%I.%I IS %L', guarded, described[1], described[2]);
        END LOOP;
    END LOOP;

    FOREACH described SLICE 1 IN ARRAY ARRAY[
        ['vehicle.kind', 'car or machine.'], ['vehicle.vehicle', 'Id.'], ['vehicle.name', 'As people call it.'], ['vehicle.model', 'Model.'],
        ['vehicle.make', 'Maker.'], ['vehicle.year', 'Year of make [calendar year].'], ['vehicle.tags', 'Tags.'], ['vehicle.owner', 'Account that owns the car.'],
        ['vehicle.fuel', 'What it burns.'], ['vehicle.tank_l', 'Size of the tank [l].'], ['vehicle.displacement_cc', 'Displacement [cm³].'],
        ['vehicle.last_reading_at', 'Of a machine''s last reading; of a car it is the end of its latest trip.'], ['vehicle.is_disabled', 'Kept, not polled, not judged.'],
        ['fleet_vehicle.fleet', 'Id of the fleet.'], ['fleet_vehicle.fleet_name', 'Its name.'], ['fleet_vehicle.kind', 'car or machine.'], ['fleet_vehicle.vehicle', 'Id of the vehicle.'],
        ['vehicle_minute.minute_at', 'Start of the minute, or a mark''s cut inside it.'], ['vehicle_minute.trip_start_at', 'The trip that it is of.'],
        ['vehicle_day.day_at', '00:00 UTC.'],
        ['vehicle_day.fuel_l', 'Fuel by the best method that covers the day, for the car as it is registered now [l].'], ['vehicle_day.fuel_method', 'fuel_rate, maf, maf_calculated or speed_density.'],
        ['trip.start_at', 'Its first reading.'], ['trip.end_at', 'Its last reading.'], ['trip.is_open', 'It may go on.'],
        ['trip.fuel_l', 'Fuel by the best method that covers the trip [l].'], ['trip.fuel_method', 'fuel_rate, maf, maf_calculated or speed_density.'],
        ['trip.tag', 'What its driver calls it.'], ['trip.discarded_at', 'When its driver said that it is not to be counted.'], ['trip.driver', 'Account of who drove.'], ['trip.owner', 'Account that owns the car.'],
        ['trip.weather_source', 'Service and model that told of the weather where and when it began.'], ['trip.weather_temperature_c', 'Temperature [°C].'],
        ['trip.weather_wind_speed_mps', 'Wind [m/s].'], ['trip.weather_wind_gust_mps', 'Gusts [m/s].'], ['trip.weather_wind_direction_deg', 'Where the wind comes from [degrees].'],
        ['trip.weather_cloud_cover_pct', 'Clouds [%].'], ['trip.weather_precipitation_mm_per_h', 'Rain and snow [mm/h].'], ['trip.weather_humidity_pct', 'Relative humidity [%].'],
        ['trip.weather_pressure_hpa', 'Air pressure [hPa].'], ['trip.weather_condition_code', 'The service''s own code [code].'],
        ['alert.alert_id', 'Id; stays when late data moves the opening.'], ['alert.kind', 'car or machine.'], ['alert.vehicle', 'Id of the vehicle.'], ['alert.model', 'Model of the machine; empty for cars.'],
        ['alert.account', 'Of a car: whose limits it is about.'], ['alert.parameter', 'As people read it.'], ['alert.unit', 'Unit of threshold and values.'], ['alert.severity', 'warning or critical.'],
        ['alert.state', 'due_soon, open, resolved or withdrawn.'], ['alert.test', 'above, below or absent.'], ['alert.threshold', 'Limit [as column unit says].'], ['alert.since_at', 'When the condition began.'],
        ['alert.opened_at', 'When it had held long enough.'], ['alert.opening_value', 'Value that opened it [as column unit says].'], ['alert.worst_value', 'Value furthest beyond the limit [as column unit says].'],
        ['alert.worst_at', 'When that was.'], ['alert.resolved_at', 'When it was over.'], ['alert.told_at', 'When what opened it came in.'], ['alert.resolved_told_at', 'When what resolved it came in.'],
        ['alert.audience', 'farmer, dealer or developer: for whom it is at least.'], ['alert.recommended', 'What the value should be [as column unit says].'], ['alert.advice', 'What to do.'], ['alert.rules_version', 'Rules that it was judged by.'],
        ['alert.revision', 'How often what had been told was corrected [count].'], ['alert.revised_at', 'When the last correction was pushed.'], ['alert.acknowledged_at', 'When somebody first said that they have seen it.'], ['alert.acknowledged_by', 'Account of them.'],
        ['alert.open_s', 'From opening to resolution [s]; NULL: still open.'],
        ['machine_reading.vehicle', 'Id of the machine.'], ['machine_reading.read_at', 'By the box''s clock.'], ['machine_reading.model', 'Model.'], ['machine_reading.serial', 'Serial number.'], ['machine_reading.firmware', 'Version of the box''s program.'],
        ['machine_reading.engine_hours_h', 'Engine hours, a meter that only grows [h].'], ['machine_reading.engine_turn_on_count', 'Starts of the engine [count].'], ['machine_reading.key_turn_on_count', 'Turns of the key [count].'],
        ['machine_reading.fuel_level_gal', 'Fuel in the tank [US gal].'], ['machine_reading.coolant_c', 'Coolant [°C].'], ['machine_reading.hydraulic_oil_c', 'Hydraulic oil [°C].'], ['machine_reading.tire_pressure_kpa', 'Tire pressure [kPa].'],
        ['machine_reading.gps_available', 'Whether it knows where it is.'], ['machine_reading.gps_fix_at', 'When it last knew.'], ['machine_reading.latitude_deg', 'Latitude [degrees].'], ['machine_reading.longitude_deg', 'Longitude [degrees].'],
        ['machine_reading.rda_license', 'Remote display access is licensed.'], ['machine_reading.wdt_license', 'Wireless data transfer is licensed.'], ['machine_reading.machine_sync', 'Machine sync is on.'], ['machine_reading.connected_devices', 'Devices on its bus [count].'],
        ['machine_reading.last_cell_call_in_at', 'When the box last called in.'], ['machine_reading.last_reprogramming_ok', 'How the last reprogramming ended.'], ['machine_reading.last_reprogramming_at', 'When that was.'],
        ['machine_reading.is_partial', 'What it lacks says nothing.'], ['machine_reading.is_answering', 'Said by the gateway in a row of its own: the box answers. NULL: the machine''s own reading.'],
        ['service.vehicle', 'Id of the machine.'], ['service.done_at', 'When it was done.'], ['service.engine_hours_h', 'Engine hours at the service [h].'], ['service.recorded_by', 'Account that said so.'], ['service.note', 'What they wrote.'],
        ['scan.vehicle', 'Id of the car.'], ['scan.scan_id', 'Id of the request, else of the result.'], ['scan.asked_at', 'When it was asked for.'], ['scan.asked_by', 'By whom.'], ['scan.scanned_at', 'When the answer was read.'], ['scan.scanned_by', 'Who handed it in.'],
        ['scan.is_done', 'The car answered.'], ['scan.answer', 'The count of codes, or why there is none.'], ['scan.stored', 'Trouble codes, stored.'], ['scan.pending', 'Trouble codes, pending.'], ['scan.permanent', 'Trouble codes, permanent.'],
        ['scan.stored_codes', 'Stored codes [count].'], ['scan.pending_codes', 'Pending codes [count].'], ['scan.is_lamp_on', 'The check engine lamp is on.'], ['scan.not_ready', 'Monitors that are not ready.'], ['scan.freeze_frame', 'JSON: what the car kept when the code came.'],
        ['ride.campus', 'Id of the campus.'], ['ride.request', 'Id of the request.'], ['ride.state', 'queued, assigned, on_board, done, cancelled, expired or refused.'], ['ride.reason', 'Why it was cancelled or refused.'], ['ride.passengers', 'Passengers [count].'],
        ['ride.from_latitude_deg', 'Pickup, rounded [degrees].'], ['ride.from_longitude_deg', 'Pickup, rounded [degrees].'], ['ride.to_latitude_deg', 'Dropoff, rounded [degrees].'], ['ride.to_longitude_deg', 'Dropoff, rounded [degrees].'],
        ['ride.straight_m', 'Straight way from pickup to dropoff [m].'], ['ride.requested_at', 'When it was asked for.'], ['ride.vehicle', 'Vehicle that serves it.'], ['ride.place_in_line', 'Place among those who wait [1 is next].'],
        ['ride.pickup_at', 'Expected, or when it was.'], ['ride.dropoff_at', 'Expected, or when it was.'], ['ride.ended_at', 'When it was over; NULL: it is not.'], ['ride.waiting_s', 'From the request to the pickup [s]; NULL: not picked up.'], ['ride.riding_s', 'From pickup to dropoff [s]; NULL: not there yet.'],
        ['decision.campus', 'Id of the campus.'], ['decision.record_offset', 'Of the record that asked for it, in the campus''s partition [offset].'], ['decision.made_at', 'When it was made.'], ['decision.why', 'JSON: steps with what was tried, what each would have cost and what moved; weights (docs/dispatch.md).'],
        ['dispatch_hour.campus', 'Id of the campus.'], ['dispatch_hour.hour_at', 'Start of the UTC hour in which rides were asked for.'], ['dispatch_hour.requests', 'Rides asked for [count].'], ['dispatch_hour.passengers', 'Passengers of them [count].'], ['dispatch_hour.served', 'Brought there [count].'],
        ['dispatch_hour.cancelled', 'Cancelled [count].'], ['dispatch_hour.expired', 'Given up after silence [count].'], ['dispatch_hour.refused', 'Refused [count].'], ['dispatch_hour.outstanding', 'Not over yet [count].'],
        ['dispatch_hour.waiting_p50_s', 'Median of waiting [s].'], ['dispatch_hour.waiting_p90_s', 'Nine in ten waited no longer [s].'], ['dispatch_hour.waiting_mean_s', 'Mean of waiting [s].'], ['dispatch_hour.riding_mean_s', 'Mean of riding [s].'],
        ['survey.event', 'SITE:SURVEY.'], ['survey.site', 'Id of the site.'], ['survey.survey', 'Id that the client gave it.'], ['survey.version', '0 as handed in, then one a review [count].'], ['survey.started_at', 'Begin.'], ['survey.stopped_at', 'End.'], ['survey.utc_offset_min', 'Of the surveyors'' clocks [min].'],
        ['survey.local_date', 'Day by those clocks.'], ['survey.latitude_deg', 'First place that it names [degrees].'], ['survey.longitude_deg', 'First place that it names [degrees].'], ['survey.uncertainty_m', 'How far the place may be off because it was blurred [m].'], ['survey.generalization', 'How it was blurred; NULL: it was not.'],
        ['survey.distance_m', 'Way walked [m].'], ['survey.pace_mps', 'Pace [m/s].'], ['survey.protocol', 'Protocol.'], ['survey.gate', 'within, outside or unknown: the protocol''s rules; NULL: it has none.'], ['survey.gate_reasons', 'Which rules it was outside of.'], ['survey.observers', 'People who looked [count].'],
        ['survey.expertise', 'The highest of theirs.'], ['survey.weather_missing_hours', 'Hours that no service has told of yet [count].'], ['survey.sightings', 'Sightings [count].'], ['survey.individuals', 'Animals [count].'], ['survey.needs_review', 'It holds a species that is not known.'], ['survey.is_blurred', 'A sensitive species was seen at its site.'],
        ['sighting.occurrence', 'SITE:SURVEY:SIGHTING.'], ['sighting.event', 'SITE:SURVEY.'], ['sighting.site', 'Id of the site.'], ['sighting.survey', 'Id of the survey.'], ['sighting.version', 'Of the survey [count].'], ['sighting.sighting', '0, 1 … as handed in [number].'], ['sighting.seen_at', 'Its own time, else the survey''s begin.'], ['sighting.local_date', 'Day by the surveyors'' clocks.'],
        ['sighting.utc_offset_min', 'Of the surveyors'' clocks [min].'], ['sighting.species', 'Accepted name; as given where none is known.'], ['sighting.given_name', 'As it was handed in.'], ['sighting.taxon', 'Key of the taxonomy; NULL: not known.'], ['sighting.individuals', 'Animals [count].'], ['sighting.latitude_deg', 'Latitude [degrees].'], ['sighting.longitude_deg', 'Longitude [degrees].'],
        ['sighting.uncertainty_m', 'How far the place may be off [m].'], ['sighting.generalization', 'How it was blurred; NULL: it was not.'], ['sighting.section', 'Section of the route.'], ['sighting.habitat', 'Habitat.'], ['sighting.conditions', 'Conditions.'], ['sighting.behaviour', 'What it did.'], ['sighting.certainty', 'How sure the observer was.'], ['sighting.life_stage', 'Life stage.'], ['sighting.sex', 'Sex.'],
        ['sighting.light_lux', 'Light [lx].'], ['sighting.temperature_c', 'Temperature by the service [°C].'], ['sighting.wind_speed_mps', 'Wind by the service [m/s].'], ['sighting.wind_direction_deg', 'Where the wind comes from [degrees].'], ['sighting.cloud_cover_pct', 'Clouds by the service [%].'], ['sighting.weather_at', 'Of which time the weather is.'], ['sighting.weather_source', 'Which service.'],
        ['sighting.protocol', 'Protocol of the survey.'], ['sighting.gate', 'within, outside or unknown: the protocol''s rules.'], ['sighting.observers', 'People who looked [count].'], ['sighting.needs_review', 'A reviewer should look at it.'], ['sighting.is_sensitive', 'Where it lives is nobody''s business.'],
        ['species_week.site', 'Id of the site.'], ['species_week.species', 'Accepted name.'], ['species_week.iso_year', 'ISO 8601 week year [year].'], ['species_week.iso_week', 'ISO 8601 week [1 to 53].'], ['species_week.behaviour', 'What it did; empty: not said.'], ['species_week.temperature_band', 'Band of 5 °C by its lower end; empty: not known.'], ['species_week.sightings', 'Sightings [count].'], ['species_week.individuals', 'Animals [count].'],
        ['tour_day.tour', 'Id of the tour.'], ['tour_day.kind', 'download or visit.'], ['tour_day.waypoint', 'Id of the waypoint; empty: the tour''s download.'], ['tour_day.local_date', 'Day where the visitor was.'], ['tour_day.events', 'Downloads or visits [count].'],
        ['tour_waypoint.tour', 'Id of the tour.'], ['tour_waypoint.version', 'Published version [number].'], ['tour_waypoint.position', 'Place in the tour, from 1 on [number].'], ['tour_waypoint.waypoint', 'Id of the waypoint.'],
        ['weather_hour.source', 'Service.'], ['weather_hour.cell_millideg', 'Side of the cell [1/1000 degree].'], ['weather_hour.latitude_index', 'Cell from the south pole [index].'], ['weather_hour.longitude_index', 'Cell from the 180th meridian [index].'], ['weather_hour.hour_at', 'Start of the hour.'], ['weather_hour.latitude_deg', 'Middle of the cell [degrees].'], ['weather_hour.longitude_deg', 'Middle of the cell [degrees].'],
        ['weather_hour.temperature_c', 'Temperature [°C].'], ['weather_hour.wind_speed_mps', 'Wind [m/s].'], ['weather_hour.wind_gust_mps', 'Gusts [m/s].'], ['weather_hour.wind_direction_deg', 'Where the wind comes from [degrees].'], ['weather_hour.cloud_cover_pct', 'Clouds [%].'], ['weather_hour.precipitation_mm_per_h', 'Rain and snow [mm/h].'], ['weather_hour.humidity_pct', 'Relative humidity [%].'], ['weather_hour.pressure_hpa', 'Air pressure [hPa].'], ['weather_hour.condition_code', 'The service''s own code [code].']]
    LOOP
        EXECUTE format('COMMENT ON COLUMN analyst.%I.%I IS %L', split_part(described[1], '.', 1), split_part(described[1], '.', 2), described[2]);
    END LOOP;
END $$;
