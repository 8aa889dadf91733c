-- Question: which trips were the last?
-- Parameters: $1 how many.
SELECT vehicle, start_at, end_at, is_open, readings, disputed_readings, speed_readings, integrated_ms, distance_mm,
       idle_ms, holes, sharp_accelerations, sharp_brakings, max_speed_m_per_h, rpm_ms, milli_turns, max_rpm_milli,
       air_mg, air_calculated_mg, max_coolant_milli_c, min_voltage_mv, max_voltage_mv
FROM drover.trip
ORDER BY start_at DESC, vehicle
LIMIT $1
