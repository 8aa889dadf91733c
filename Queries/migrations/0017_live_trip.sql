-- What somebody looks at while it drives: the running trip with its open minute, of watched cars only, so that it costs nothing
-- that nobody looks. Neither table is a result: they are empty after a crash and filled again while somebody looks.
CREATE UNLOGGED TABLE drover.watched (
    vehicle  text        PRIMARY KEY,
    until_at timestamptz NOT NULL
);
CREATE UNLOGGED TABLE drover.live_trip AS SELECT
    vehicle, start_at, end_at,
    readings, disputed_readings, speed_readings, integrated_ms, distance_mm, idle_ms, holes, sharp_accelerations,
    sharp_brakings, max_speed_m_per_h, rpm_ms, milli_turns, max_rpm_milli, air_mg, air_calculated_mg, max_coolant_milli_c,
    min_voltage_mv, max_voltage_mv, max_acceleration_mm_per_s2, max_braking_mm_per_s2, acceleration_mm2_per_s3,
    braking_mm2_per_s3, fuel_rate_ul, fuel_rate_ms, burnt_air_mg, air_ms, burnt_air_calculated_mg, air_calculated_ms,
    burnt_air_per_litre_mg, air_per_litre_ms, fuel_cut_ms
    FROM drover.trip WITH NO DATA;
ALTER TABLE drover.live_trip
    ADD PRIMARY KEY (vehicle),
    ADD minute_at timestamptz NOT NULL,            -- start of the open minute
    ADD samples   bytea       NOT NULL;            -- its readings so far, as in vehicle_minute

-- The web asks for a car to be looked at. Bounded: ten thousand at a time.
CREATE FUNCTION drover.watch(car text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
    WITH gone AS (DELETE FROM drover.watched WHERE until_at < now() AND vehicle <> car RETURNING vehicle)
    DELETE FROM drover.live_trip l USING gone WHERE l.vehicle = gone.vehicle;
    INSERT INTO drover.watched (vehicle, until_at)
    SELECT car, now() + interval '30 seconds'
    WHERE EXISTS (SELECT FROM drover.vehicle v WHERE v.kind = 'car' AND v.vehicle = car)
        AND (SELECT count(*) FROM drover.watched) < 10000
    ON CONFLICT (vehicle) DO UPDATE SET until_at = EXCLUDED.until_at;
$$;
REVOKE ALL ON FUNCTION drover.watch(text) FROM PUBLIC;

-- What people said of a span of driving, and whose limits, units and price hold for it (0016 says how the driver is found).
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
        ORDER BY d.until_at DESC, d.record_id COLLATE "C" DESC LIMIT 1) AS upload ON true
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
       context.settings
FROM drover.trip t, LATERAL drover.trip_context(t.vehicle, t.start_at, t.end_at) AS context;

-- The same of the running trips that are looked at.
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
       context.settings, t.minute_at, t.samples
FROM drover.live_trip t, LATERAL drover.trip_context(t.vehicle, t.start_at, t.end_at) AS context;

GRANT SELECT ON drover.watched, drover.live_trip, drover.live_trip_now TO drover_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.live_trip TO drover_writer;
GRANT SELECT, DELETE ON drover.watched TO drover_writer;
GRANT EXECUTE ON FUNCTION drover.watch(text) TO drover_api;
