-- Made-up rows for bench.py, by the server itself: generate_series into tables without their keys, which are made behind it.
-- :minutes of cars, each of sixty readings; the rest in proportion. A minute's readings are as many bytes as a recorded one has.
\set ON_ERROR_STOP on
SET synchronous_commit = off;
SET maintenance_work_mem = '512MB';
ALTER TABLE drover.vehicle_minute DROP CONSTRAINT vehicle_minute_pkey;
ALTER TABLE drover.machine_reading DROP CONSTRAINT machine_reading_pkey;

-- 500 cars, half an hour a day.
INSERT INTO drover.vehicle (kind, vehicle, topic_partition) SELECT 'car', 'car-' || n, n % 8 FROM generate_series(1, 500) n;
SELECT count(drover.make_period('drover.vehicle_minute', at)) FROM generate_series(
    timestamptz '2026-01-01 00:00Z' - (:minutes / 15000 + 1) * interval '1 day', timestamptz '2026-01-02 00:00Z', interval '1 day') AS at;
INSERT INTO drover.vehicle_minute (vehicle, minute_at, trip_start_at, readings, disputed_readings, speed_readings, integrated_ms, distance_mm,
    idle_ms, holes, sharp_accelerations, sharp_brakings, max_speed_m_per_h, rpm_ms, milli_turns, max_rpm_milli, burnt_air_mg, air_mg, air_ms, samples)
SELECT 'car-' || car, start_at + minute * interval '1 minute', start_at, 60, 0, 60, 60000, 500000 + h % 400000, h % 20000, 0, (h % 40 = 0)::int,
    (h % 50 = 0)::int, 60000, 60000, 120000, 2500000, 60000 + h % 20000, 65000 + h % 20000, 60000, packed
FROM (SELECT decode(repeat('5a', 600), 'hex') AS packed) p, generate_series(1, (:minutes / 15000)::int) AS day, generate_series(1, 500) AS car,
    LATERAL (SELECT timestamptz '2026-01-01 00:00Z' - day * interval '1 day' + (6 + car % 14) * interval '1 hour' AS start_at) s,
    generate_series(0, 29) AS minute, LATERAL (SELECT hashint8extended(car * 100000 + day, minute) & 1048575 AS h) chance;
ALTER TABLE drover.vehicle_minute ADD PRIMARY KEY (vehicle, minute_at);

INSERT INTO drover.trip (vehicle, start_at, end_at, is_open, readings, disputed_readings, speed_readings, integrated_ms, distance_mm, idle_ms, holes,
    sharp_accelerations, sharp_brakings, rpm_ms, milli_turns, burnt_air_mg, air_mg, air_ms)
SELECT vehicle, trip_start_at, max(minute_at) + interval '59 seconds', false, sum(readings), 0, sum(speed_readings), sum(integrated_ms), sum(distance_mm),
    sum(idle_ms), 0, sum(sharp_accelerations), sum(sharp_brakings), sum(rpm_ms), sum(milli_turns), sum(burnt_air_mg), sum(air_mg), sum(air_ms)
FROM drover.vehicle_minute GROUP BY 1, 2;
INSERT INTO drover.vehicle_day (vehicle, day_at, readings, disputed_readings, speed_readings, integrated_ms, distance_mm, idle_ms, holes,
    sharp_accelerations, sharp_brakings, rpm_ms, milli_turns, burnt_air_mg, air_mg, air_ms)
SELECT vehicle, date_trunc('day', minute_at, 'UTC'), sum(readings), 0, sum(speed_readings), sum(integrated_ms), sum(distance_mm),
    sum(idle_ms), 0, sum(sharp_accelerations), sum(sharp_brakings), sum(rpm_ms), sum(milli_turns), sum(burnt_air_mg), sum(air_mg), sum(air_ms)
FROM drover.vehicle_minute GROUP BY 1, 2;

-- 200 machines, a reading each ten minutes.
INSERT INTO drover.vehicle (kind, vehicle, model, topic_partition, last_reading_at)
    SELECT 'machine', 'mtg-' || n, '8R Tractor', n % 8, timestamptz '2026-01-01 00:00Z' FROM generate_series(1, 200) n;
SELECT count(drover.make_period('drover.machine_reading', at)) FROM generate_series(
    timestamptz '2026-01-01 00:00Z' - (:minutes / 200) * interval '10 minutes', timestamptz '2026-01-02 00:00Z', interval '1 day') AS at;
INSERT INTO drover.machine_reading (vehicle, read_at, reading_id, model, engine_hours_h, fuel_level_gal, coolant_c, hydraulic_oil_c, tire_pressure_kpa, alert_state)
SELECT 'mtg-' || n, timestamptz '2026-01-01 00:00Z' - k * interval '10 minutes', n || '-' || k, '8R Tractor', 2000 - k / 12.0, 300 - (k * 7 + n) % 290,
    70 + (k * n) % 30, 40 + (k * n) % 15, 420 - (k * n) % 30, decode(repeat('00', 40), 'hex')
FROM generate_series(1, (:minutes / 200)::int) AS k, generate_series(1, 200) AS n;
ALTER TABLE drover.machine_reading ADD PRIMARY KEY (vehicle, read_at);
INSERT INTO drover.alert (alert_id, vehicle, model, parameter, unit, severity, state, test, threshold, since_at, opened_at, first_opened_at, worst_at,
    resolved_at, told_at, audience, rules_version)
SELECT 'a' || n, 'mtg-' || 1 + n % 200, '8R Tractor', (ARRAY['Coolant Temperature', 'Fuel Level', 'Tire Pressure'])[1 + n % 3], 'C',
    (ARRAY['warning', 'critical'])[1 + n % 2], 'resolved', 'above', 85, at, at, at, at, at + n % 500 * interval '1 minute', at, 'farmer', 'v'
FROM generate_series(1, (:minutes / 80)::int) AS n, LATERAL (SELECT timestamptz '2026-01-01 00:00Z' - n * interval '11 minutes' AS at) t;
INSERT INTO drover.acknowledgement SELECT vehicle, 'k' || alert_id, alert_id, opened_at + interval '20 minutes', 'ada', NULL FROM drover.alert;
INSERT INTO drover.service SELECT 'mtg-' || n, timestamptz '2026-01-01 00:00Z' - k * interval '40 days', n || '-' || k, 2000 - k * 400, 'ada', NULL
    FROM generate_series(1, 200) AS n, generate_series(1, 4) AS k;

INSERT INTO drover.campus (campus, topic_partition, name, settings, state, record_offset) VALUES ('c', 0, 'C', '{}', '', 0);
INSERT INTO drover.ride (campus, request, rider, state, passengers, from_latitude_deg, from_longitude_deg, to_latitude_deg, to_longitude_deg, requested_at,
    vehicle, pickup_at, dropoff_at, ended_at, sign_at)
SELECT 'c', 'r' || n, 'p' || n % 3000, 'done', 1, 38.9 + n % 50 / 1e3, -77.05 + n % 40 / 1e3, 38.9 + n % 30 / 1e3, -77.05 + n % 20 / 1e3, at, 'van-' || n % 9,
    at + n % 900 * interval '1 second', at + (n % 900 + 500) * interval '1 second', at + (n % 900 + 500) * interval '1 second', at
FROM generate_series(1, (:minutes / 16)::int) AS n, LATERAL (SELECT timestamptz '2026-01-01 00:00Z' - n * interval '3 minutes' AS at) t;
INSERT INTO drover.dispatch_decision SELECT 'c', n, timestamptz '2026-01-01 00:00Z' - n * interval '3 minutes', '',
    jsonb_build_object('steps', jsonb_build_array(jsonb_build_object('event', 'request', 'moved', jsonb_build_array(jsonb_build_object('request', 'r' || n,
        'vehicle_before', 'van-1', 'vehicle', 'van-' || n % 3, 'pickup_before', '2026-01-01T00:00:00Z', 'pickup', '2026-01-01T00:05:00Z')))))
FROM generate_series(1, (:minutes / 16)::int) AS n;
INSERT INTO drover.tour_day SELECT 'tour-' || t, 'visit', 'w' || w, date '2026-01-01' - d, 5 FROM generate_series(1, 20) t, generate_series(1, 12) w, generate_series(1, 400) d;
VACUUM ANALYZE;
