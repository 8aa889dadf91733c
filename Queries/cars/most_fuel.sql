-- Question: Which car uses most fuel?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: vehicle_day
-- Chart: fuel_l by vehicle
-- Totals: km fuel_l
-- Example result: sensor-51ee5e9c-long | 217.7 | 19.7 | 9.1 | 26
-- To a tenth, as a pump and a dashboard show it. The consumption is that of the days whose fuel is known. Days are UTC.
SELECT vehicle, round(sum(distance_mm) / 1e6, 1)::float8 AS km, round(sum(fuel_l)::numeric, 1)::float8 AS fuel_l,
    round((100 * sum(fuel_l) / nullif(sum(distance_mm) FILTER (WHERE fuel_l IS NOT NULL) / 1e6, 0))::numeric, 1)::float8 AS l_per_100km,
    round((sum(distance_mm) FILTER (WHERE fuel_l > 0) / 1e6 / 1.609344 / nullif(sum(fuel_l) / 3.785411784, 0))::numeric, 1)::float8 AS mpg_us
FROM analyst.vehicle_day
WHERE day_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND day_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC' AND ($3::text = '' OR vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'car' AND f.fleet = $3))
GROUP BY vehicle
ORDER BY sum(fuel_l) DESC NULLS LAST, vehicle
