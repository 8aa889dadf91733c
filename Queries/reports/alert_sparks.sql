-- Question: what was read of these alerts' values around their openings?
-- Parameters: $1 alerts' ids, $2 kinds, $3 vehicles, $4 what is read (a column's name; of cars speed, coolant, voltage_low or voltage_high),
-- $5 when they opened (timestamptz[]), all of one length.
-- Example result: golf-a1 | 2026-11-24 15:07:00+00 | 98.5
-- By vehicle and time; of the hour before and the hour after no more than is drawn, the nearest first.
WITH asked AS MATERIALIZED (
    SELECT a.alert, a.kind, a.vehicle, a.what, a.opened_at
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[]) AS a(alert, kind, vehicle, what, opened_at) LIMIT 50
), found AS (
    SELECT a.alert, a.what, m.read_at AS at, m.fuel_level_gal, m.coolant_c, m.hydraulic_oil_c, m.tire_pressure_kpa
    FROM asked a CROSS JOIN LATERAL (
        (SELECT b.read_at, b.fuel_level_gal, b.coolant_c, b.hydraulic_oil_c, b.tire_pressure_kpa FROM drover.machine_reading b
            WHERE a.kind = 'machine' AND b.vehicle = a.vehicle AND b.contact IS NULL AND b.read_at <= a.opened_at AND b.read_at > a.opened_at - interval '1 hour' ORDER BY b.read_at DESC LIMIT 60)
        UNION ALL
        (SELECT b.read_at, b.fuel_level_gal, b.coolant_c, b.hydraulic_oil_c, b.tire_pressure_kpa FROM drover.machine_reading b
            WHERE a.kind = 'machine' AND b.vehicle = a.vehicle AND b.contact IS NULL AND b.read_at > a.opened_at AND b.read_at <= a.opened_at + interval '1 hour' ORDER BY b.read_at LIMIT 60)) AS m
)
SELECT f.alert, f.at, CASE f.what WHEN 'fuel_level_gal' THEN f.fuel_level_gal WHEN 'coolant_c' THEN f.coolant_c
    WHEN 'hydraulic_oil_c' THEN f.hydraulic_oil_c WHEN 'tire_pressure_kpa' THEN f.tire_pressure_kpa END::float8 AS value
FROM found f
UNION ALL
SELECT a.alert, m.minute_at, CASE a.what WHEN 'speed' THEN m.max_speed_m_per_h WHEN 'coolant' THEN m.max_coolant_milli_c
    WHEN 'voltage_low' THEN m.min_voltage_mv WHEN 'voltage_high' THEN m.max_voltage_mv END / 1000::float8
FROM asked a CROSS JOIN LATERAL (
    SELECT b.minute_at, b.max_speed_m_per_h, b.max_coolant_milli_c, b.min_voltage_mv, b.max_voltage_mv FROM drover.vehicle_minute b
    WHERE a.kind = 'car' AND b.vehicle = a.vehicle AND b.minute_at > a.opened_at - interval '1 hour' AND b.minute_at <= a.opened_at + interval '1 hour'
    ORDER BY b.minute_at LIMIT 120) AS m
