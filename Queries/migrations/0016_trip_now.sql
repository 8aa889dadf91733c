-- Trips as people see them: who drove, what the driver said of them, and what their fuel is worked out from.
--
-- The driver is the account whose upload covers the end of the trip best, else who was assigned when it began. Limits, units
-- and prices are those of the driver, else of the owner, in force at the trip's end.
CREATE VIEW drover.trip_now AS
SELECT t.vehicle, t.start_at, t.end_at, t.is_open,
       t.readings, t.disputed_readings, t.speed_readings, t.integrated_ms, t.distance_mm, t.idle_ms, t.holes,
       t.sharp_accelerations, t.sharp_brakings, t.max_speed_m_per_h, t.rpm_ms, t.milli_turns, t.max_rpm_milli,
       t.air_mg, t.air_calculated_mg, t.max_coolant_milli_c, t.min_voltage_mv, t.max_voltage_mv,
       t.max_acceleration_mm_per_s2, t.max_braking_mm_per_s2, t.acceleration_mm2_per_s3, t.braking_mm2_per_s3,
       t.fuel_rate_ul, t.fuel_rate_ms, t.burnt_air_mg, t.air_ms, t.burnt_air_calculated_mg, t.air_calculated_ms,
       t.burnt_air_per_litre_mg, t.air_per_litre_ms, t.fuel_cut_ms,
       t.revision, t.revised_at, tag.tag, discard.noted_at AS discarded_at,
       coalesce(upload.account, assigned.account) AS driver, car.account AS owner, car.fuel, car.tank_l,
       car.displacement_cc, car.volumetric_efficiency_pct, settings.settings
FROM drover.trip t
LEFT JOIN drover.vehicle v ON v.kind = 'car' AND v.vehicle = t.vehicle
LEFT JOIN drover.registration car ON car.kind = 'car' AND car.vehicle = t.vehicle
LEFT JOIN LATERAL (
    SELECT n.tag FROM drover.trip_note n
    WHERE n.vehicle = t.vehicle AND NOT n.is_discard AND n.trip_at BETWEEN t.start_at AND t.end_at
    ORDER BY n.noted_at DESC, n.record_id COLLATE "C" DESC LIMIT 1) AS tag ON true
LEFT JOIN LATERAL (
    SELECT n.noted_at FROM drover.trip_note n
    WHERE n.vehicle = t.vehicle AND n.is_discard AND n.trip_at BETWEEN t.start_at AND t.end_at
    ORDER BY n.noted_at, n.record_id COLLATE "C" LIMIT 1) AS discard ON true
LEFT JOIN LATERAL (
    SELECT d.account FROM drover.driving d
    WHERE d.vehicle = t.vehicle AND d.from_at <= t.end_at AND d.until_at >= t.start_at
    ORDER BY d.until_at DESC, d.record_id COLLATE "C" DESC LIMIT 1) AS upload ON true
LEFT JOIN LATERAL (
    SELECT a.account FROM drover.assignment a
    WHERE a.vehicle = t.vehicle AND a.assigned_at <= t.start_at
    ORDER BY a.assigned_at DESC LIMIT 1) AS assigned ON true
LEFT JOIN LATERAL (
    SELECT s.settings FROM drover.account_settings s
    WHERE s.topic_partition = v.topic_partition
        AND s.account = coalesce(upload.account, assigned.account, car.account) AND s.in_force_at <= t.end_at
    ORDER BY s.in_force_at DESC LIMIT 1) AS settings ON true;
GRANT SELECT ON drover.trip_now TO drover_reader;
