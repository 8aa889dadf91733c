-- Question: How much of its engine time did each car idle, month by month?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: vehicle_day
-- Chart: idle_h by vehicle
-- Totals: idle_h engine_h
-- Example result: 2017-07-10_Seat_Leon_KA_KA_Stau.1hz | 2017-07 | 0.0255919 | 0.3451842 | 7.41
SELECT vehicle, to_char(day_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, sum(idle_ms)::float8 / 3600000 AS idle_h,
    sum(integrated_ms)::float8 / 3600000 AS engine_h, round(100 * sum(idle_ms) / nullif(sum(integrated_ms), 0), 2)::float8 AS idle_pct
FROM analyst.vehicle_day
WHERE day_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND day_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC' AND ($3::text = '' OR vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'car' AND f.fleet = $3))
GROUP BY 1, 2
ORDER BY 1, 2
