-- Question: What did each fleet's fuel cost, month by month?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: price number = 1.5: of a litre
-- Plan: vehicle_day
-- Chart: cost by month
-- Totals: km fuel_l cost
-- Example result: north | 2013-08 | 1 | 217.669 | 19.706 | 29.56 | 13.58
-- Cars of no fleet stand under an empty name; a car of two fleets is in both. Days are UTC.
SELECT coalesce(f.fleet, '') AS fleet, to_char(d.day_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(DISTINCT d.vehicle) AS cars,
    round(sum(d.distance_mm) / 1e6, 3)::float8 AS km, round(sum(d.fuel_l)::numeric, 3)::float8 AS fuel_l,
    round((sum(d.fuel_l) * $3::float8)::numeric, 2)::float8 AS cost, round((100 * sum(d.fuel_l) * $3::float8 / nullif(sum(d.distance_mm) FILTER (WHERE d.fuel_l IS NOT NULL) / 1e6, 0))::numeric, 2)::float8 AS cost_per_100km
FROM analyst.vehicle_day d LEFT JOIN analyst.fleet_vehicle f ON f.kind = 'car' AND f.vehicle = d.vehicle
WHERE d.day_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND d.day_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
GROUP BY 1, 2
ORDER BY 1, 2
