-- Question: How does the weather change what cars burn?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: trip
-- Totals: trips km fuel_l
-- Example result: 0 | no | 1 | 42.417 | 3.598 | 27.73
-- Of trips whose fuel and whose weather at the start are known. Bands of 10 °C by their lower end.
SELECT floor(weather_temperature_c / 10)::int * 10 AS from_c, coalesce(weather_precipitation_mm_per_h, 0) > 0 AS is_wet, count(*) AS trips,
    round(sum(distance_mm) / 1e6, 3)::float8 AS km, round(sum(fuel_l)::numeric, 3)::float8 AS fuel_l,
    round((sum(distance_mm) / 1e6 / 1.609344 / nullif(sum(fuel_l) / 3.785411784, 0))::numeric, 2)::float8 AS mpg_us
FROM analyst.trip
WHERE start_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND start_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
    AND discarded_at IS NULL AND fuel_l > 0 AND weather_temperature_c IS NOT NULL AND ($3::text = '' OR vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'car' AND f.fleet = $3))
GROUP BY 1, 2
ORDER BY 1, 2
