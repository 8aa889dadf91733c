-- Question: How far did each driver drive, and on how much fuel?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: trip
-- Chart: fuel_l by driver
-- Totals: trips km fuel_l
-- Example result: bob | 3 | 259.531 | 3 | 25.178 | 9.7 | 24.25
-- Of trips that began in these days (UTC) and were not discarded; the consumption is that of trips whose fuel is known.
SELECT coalesce(driver, '') AS driver, count(*) AS trips, round(sum(distance_mm) / 1e6, 3)::float8 AS km, count(fuel_l) AS trips_with_fuel,
    round(sum(fuel_l)::numeric, 3)::float8 AS fuel_l,
    round((100 * sum(fuel_l) / nullif(sum(distance_mm) FILTER (WHERE fuel_l IS NOT NULL) / 1e6, 0))::numeric, 2)::float8 AS l_per_100km,
    round((sum(distance_mm) FILTER (WHERE fuel_l > 0) / 1e6 / 1.609344 / nullif(sum(fuel_l) / 3.785411784, 0))::numeric, 2)::float8 AS mpg_us
FROM analyst.trip
WHERE start_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND start_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
    AND discarded_at IS NULL AND ($3::text = '' OR vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'car' AND f.fleet = $3))
GROUP BY 1
ORDER BY km DESC, driver
