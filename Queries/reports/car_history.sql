-- Question: what did this car say in a long span, in pieces of equal length? From what minutes keep of themselves: mean and greatest of
-- speed and engine speed, the minutes' greatest coolant temperature, the voltage's range.
-- Parameters: $1 vehicle; $2 from, $3 until (timestamptz); $4 length of a piece in seconds.
-- Example result: 2018-02-20 19:00:00+00 | 34.2 | 83 | 1650.4 | 3120 | 88.1 | 71 | 92 | 14.1 | 11.9 | 14.4
SELECT date_bin($4::bigint * interval '1 second', minute_at, $2::timestamptz) AS piece_at,
       (sum(distance_mm) * 3.6 / nullif(sum(integrated_ms), 0))::double precision AS speed_kmh_mean,
       max(max_speed_m_per_h)::double precision / 1000 AS speed_kmh_most,
       (sum(milli_turns) * 60.0 / nullif(sum(rpm_ms), 0))::double precision AS rpm_mean,
       max(max_rpm_milli)::double precision / 1000 AS rpm_most,
       avg(max_coolant_milli_c)::double precision / 1000 AS coolant_c_mean, min(max_coolant_milli_c)::double precision / 1000 AS coolant_c_least,
       max(max_coolant_milli_c)::double precision / 1000 AS coolant_c_most,
       avg(min_voltage_mv + max_voltage_mv)::double precision / 2000 AS voltage_v_mean,
       min(min_voltage_mv)::double precision / 1000 AS voltage_v_least, max(max_voltage_mv)::double precision / 1000 AS voltage_v_most
FROM drover.vehicle_minute
WHERE vehicle = $1 AND minute_at >= $2 AND minute_at < $3
GROUP BY piece_at
ORDER BY piece_at
