-- Question: How is fuel measured, and over which share of the distance?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: vehicle_day
-- Chart: share_pct by method
-- Example result: maf | 7 | 320.836 | 83.54
SELECT coalesce(fuel_method, 'unknown') AS method, count(DISTINCT vehicle) AS cars, round(sum(distance_mm) / 1e6, 3)::float8 AS km,
    round(100 * sum(distance_mm) / nullif(sum(sum(distance_mm)) OVER (), 0), 2)::float8 AS share_pct
FROM analyst.vehicle_day
WHERE day_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND day_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC' AND ($3::text = '' OR vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'car' AND f.fleet = $3))
GROUP BY 1
ORDER BY km DESC, method
