-- Question: How long are trips?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: trip
-- Chart: trips by from_km
-- Totals: trips km
-- Example result: 0 | 1 | 0 | 0
WITH band (from_km, to_km) AS (VALUES (0, 1), (1, 2), (2, 5), (5, 10), (10, 20), (20, 50), (50, 100), (100, NULL)),
driven AS (
    SELECT distance_mm / 1e6 AS km FROM analyst.trip
    WHERE start_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND start_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
        AND discarded_at IS NULL AND speed_readings > 0 AND ($3::text = '' OR vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'car' AND f.fleet = $3))
)
SELECT b.from_km, b.to_km, count(d.km) AS trips, coalesce(round(sum(d.km), 3), 0)::float8 AS km
FROM band b LEFT JOIN driven d ON d.km >= b.from_km AND (b.to_km IS NULL OR d.km < b.to_km)
GROUP BY b.from_km, b.to_km
ORDER BY b.from_km
