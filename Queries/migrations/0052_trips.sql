-- No trip is endless: one that has run for a day is cut at 00:00 UTC (docs/decisions/0023-parts-of-a-drive.md).

ALTER TABLE drover.trip
    ADD COLUMN from_before boolean NOT NULL DEFAULT false,  -- the trip before it goes on in it: start_at is the border
    ADD COLUMN goes_on     boolean NOT NULL DEFAULT false,  -- the drive runs on in the next one: end_at is the border
    ADD COLUMN carry       bytea;                           -- what its first minute depends on; null: from_before is false, or not known
ALTER TABLE drover.live_trip ADD COLUMN from_before boolean NOT NULL DEFAULT false;

-- MARK: trips that were endless

-- A trip is the sum of its minutes, so that the parts are theirs. Only of drives that ran on a midnight after their first day; one
-- whose minutes `drover retention` has taken stays as it is: nothing changes in it any more.
CREATE TEMPORARY TABLE endless ON COMMIT DROP AS
    SELECT vehicle, start_at, end_at, is_open, state, date_trunc('day', start_at + interval '48 hours' - interval '1 microsecond', 'UTC') AS border_at
    FROM drover.trip t WHERE date_trunc('day', end_at, 'UTC') >= start_at + interval '24 hours' AND readings = (
        SELECT sum(m.readings) FROM drover.vehicle_minute m WHERE m.vehicle = t.vehicle AND m.trip_start_at = t.start_at
            AND m.minute_at > t.start_at - interval '1 minute' AND m.minute_at <= t.end_at);
UPDATE drover.vehicle_minute m SET trip_start_at = date_trunc('day', m.minute_at, 'UTC') FROM endless e
    WHERE m.vehicle = e.vehicle AND m.trip_start_at = e.start_at AND m.minute_at >= e.border_at AND m.minute_at <= e.end_at;
CREATE TEMPORARY TABLE part ON COMMIT DROP AS
    SELECT e.vehicle, m.trip_start_at AS start_at, e.start_at AS drive_at,
           CASE WHEN m.trip_start_at = max(m.trip_start_at) OVER drive THEN e.end_at
               WHEN m.trip_start_at = e.start_at THEN e.border_at ELSE m.trip_start_at + interval '24 hours' END AS end_at,
           m.trip_start_at = max(m.trip_start_at) OVER drive AS is_last, m.trip_start_at = e.start_at AS is_first, e.is_open, e.state,
           sum(m.readings) AS readings, sum(m.disputed_readings) AS disputed_readings, sum(m.speed_readings) AS speed_readings,
           sum(m.integrated_ms) AS integrated_ms, sum(m.distance_mm) AS distance_mm, sum(m.idle_ms) AS idle_ms, sum(m.holes) AS holes,
           sum(m.sharp_accelerations) AS sharp_accelerations, sum(m.sharp_brakings) AS sharp_brakings,
           max(m.max_speed_m_per_h) AS max_speed_m_per_h, sum(m.rpm_ms) AS rpm_ms, sum(m.milli_turns) AS milli_turns,
           max(m.max_rpm_milli) AS max_rpm_milli, sum(m.air_mg) AS air_mg, sum(m.air_calculated_mg) AS air_calculated_mg,
           max(m.max_coolant_milli_c) AS max_coolant_milli_c, min(m.min_voltage_mv) AS min_voltage_mv, max(m.max_voltage_mv) AS max_voltage_mv,
           max(m.max_acceleration_mm_per_s2) AS max_acceleration_mm_per_s2, max(m.max_braking_mm_per_s2) AS max_braking_mm_per_s2,
           sum(m.acceleration_mm2_per_s3) AS acceleration_mm2_per_s3, sum(m.braking_mm2_per_s3) AS braking_mm2_per_s3,
           sum(m.fuel_rate_ul) AS fuel_rate_ul, sum(m.fuel_rate_ms) AS fuel_rate_ms, sum(m.burnt_air_mg) AS burnt_air_mg, sum(m.air_ms) AS air_ms,
           sum(m.burnt_air_calculated_mg) AS burnt_air_calculated_mg, sum(m.air_calculated_ms) AS air_calculated_ms,
           sum(m.burnt_air_per_litre_mg) AS burnt_air_per_litre_mg, sum(m.air_per_litre_ms) AS air_per_litre_ms, sum(m.fuel_cut_ms) AS fuel_cut_ms
    FROM endless e JOIN drover.vehicle_minute m ON m.vehicle = e.vehicle
        AND m.minute_at > e.start_at - interval '1 minute' AND m.minute_at <= e.end_at
        AND (m.trip_start_at = e.start_at OR m.trip_start_at >= e.border_at)
    GROUP BY e.vehicle, e.start_at, e.end_at, e.border_at, e.is_open, e.state, m.trip_start_at
    WINDOW drive AS (PARTITION BY e.vehicle, e.start_at);
DELETE FROM drover.trip t USING part p WHERE t.vehicle = p.vehicle AND t.start_at = p.drive_at;
INSERT INTO drover.trip (vehicle, start_at, end_at, is_open, state, from_before, goes_on,
    readings, disputed_readings, speed_readings, integrated_ms, distance_mm, idle_ms, holes, sharp_accelerations, sharp_brakings,
    max_speed_m_per_h, rpm_ms, milli_turns, max_rpm_milli, air_mg, air_calculated_mg, max_coolant_milli_c, min_voltage_mv, max_voltage_mv,
    max_acceleration_mm_per_s2, max_braking_mm_per_s2, acceleration_mm2_per_s3, braking_mm2_per_s3, fuel_rate_ul, fuel_rate_ms,
    burnt_air_mg, air_ms, burnt_air_calculated_mg, air_calculated_ms, burnt_air_per_litre_mg, air_per_litre_ms, fuel_cut_ms)
SELECT vehicle, start_at, end_at, is_last AND is_open, CASE WHEN is_last THEN state END, NOT is_first, NOT is_last,
    readings, disputed_readings, speed_readings, integrated_ms, distance_mm, idle_ms, holes, sharp_accelerations, sharp_brakings,
    max_speed_m_per_h, rpm_ms, milli_turns, max_rpm_milli, air_mg, air_calculated_mg, max_coolant_milli_c, min_voltage_mv, max_voltage_mv,
    max_acceleration_mm_per_s2, max_braking_mm_per_s2, acceleration_mm2_per_s3, braking_mm2_per_s3, fuel_rate_ul, fuel_rate_ms,
    burnt_air_mg, air_ms, burnt_air_calculated_mg, air_calculated_ms, burnt_air_per_litre_mg, air_per_litre_ms, fuel_cut_ms
FROM part;

-- A worker of the version before must not go on with one in its memory: it would write the whole over the first part.
ALTER TABLE drover.trip ADD CONSTRAINT trip_has_an_end
    CHECK (end_at <= date_trunc('day', start_at + interval '48 hours' - interval '1 microsecond', 'UTC')) NOT VALID;

-- MARK: who reads them

-- Two columns more, at the end of a trip's own: before the open minute of the one that is looked at, so that both views stay alike.
DO $$
DECLARE
    definition text; from_trip text := E'\n   FROM drover.trip t'; from_live text := E'\n   FROM drover.live_trip t'; minute text := 't.minute_at,';
BEGIN
    definition := pg_get_viewdef('drover.trip_now'::regclass);
    IF strpos(definition, from_trip) = 0 THEN RAISE EXCEPTION 'drover.trip_now reads trips in another way than 0031 made it'; END IF;
    definition := overlay(definition PLACING E',\n    t.from_before,\n    t.goes_on' || from_trip FROM strpos(definition, from_trip) FOR length(from_trip));
    EXECUTE format('CREATE OR REPLACE VIEW drover.trip_now WITH (security_barrier) AS %s', definition);
    definition := pg_get_viewdef('drover.live_trip_now'::regclass);
    IF strpos(definition, minute) = 0 OR strpos(definition, from_live) = 0 THEN
        RAISE EXCEPTION 'drover.live_trip_now reads trips in another way than 0031 made it';
    END IF;
    definition := overlay(definition PLACING E't.from_before,\n    false AS goes_on,\n    t.minute_at,' FROM strpos(definition, minute) FOR length(minute));
    DROP VIEW drover.live_trip_now;
    EXECUTE format('CREATE VIEW drover.live_trip_now WITH (security_barrier) AS %s', definition);
END $$;
GRANT SELECT ON drover.live_trip_now TO drover_reader, drover_sight;

-- As in 0041, with two columns more.
CREATE OR REPLACE VIEW analyst.trip WITH (security_invoker) AS
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
COMMENT ON COLUMN analyst.trip.start_at IS 'Its first reading; where it is from before, 00:00 UTC.';
COMMENT ON COLUMN analyst.trip.end_at IS 'Its last reading; where it goes on, 00:00 UTC.';
COMMENT ON COLUMN analyst.trip.from_before IS 'The drive began earlier: it is a part of one that ran for a day or longer.';
COMMENT ON COLUMN analyst.trip.goes_on IS 'The drive runs on in the next trip.';
