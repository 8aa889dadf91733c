-- Question: what did the reader's cars do on each of these days? Discarded trips are left out, and days without any.
-- Parameters: $1 start, $2 end (timestamptz): whole days in the reader's zone; $3 that zone.
-- Example result: 2026-11-24 | 27 | 143300000000 | 10800000 | 900000 | 14 | 9.8 | 120000000000
SELECT to_char(t.start_at AT TIME ZONE $3, 'YYYY-MM-DD') AS day, count(*) AS trips, sum(t.distance_mm)::bigint AS distance_mm,
       sum(t.integrated_ms)::bigint AS integrated_ms, sum(t.idle_ms)::bigint AS idle_ms,
       sum(t.sharp_accelerations + t.sharp_brakings) AS harsh, sum(t.fuel_l) AS fuel_l,
       coalesce(sum(t.distance_mm) FILTER (WHERE t.fuel_l IS NOT NULL), 0)::bigint AS fuel_distance_mm
FROM analyst.trip t
WHERE t.start_at >= $1 AND t.start_at < $2 AND t.discarded_at IS NULL
GROUP BY 1
ORDER BY 1
