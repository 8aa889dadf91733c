-- Question: which trips began in this span?
-- Parameters: $1 start, $2 end (timestamptz): the reader's day in the reader's zone.
-- Example result: seat-leon | 2018-02-20 19:23:27.987+00 | 2018-02-20 19:43:32.76+00 | f | 1206 | … | 10348900 | …
SELECT vehicle, start_at, end_at, is_open, readings, disputed_readings, speed_readings, integrated_ms, distance_mm,
       idle_ms, holes, sharp_accelerations, sharp_brakings, max_speed_m_per_h, rpm_ms, milli_turns, max_rpm_milli,
       air_mg, air_calculated_mg, max_coolant_milli_c, min_voltage_mv, max_voltage_mv,
       max_acceleration_mm_per_s2, max_braking_mm_per_s2, acceleration_mm2_per_s3, braking_mm2_per_s3, fuel_rate_ul,
       fuel_rate_ms, burnt_air_mg, air_ms, burnt_air_calculated_mg, air_calculated_ms, burnt_air_per_litre_mg,
       air_per_litre_ms, fuel_cut_ms
FROM drover.trip
WHERE start_at >= $1 AND start_at < $2
ORDER BY vehicle, start_at
