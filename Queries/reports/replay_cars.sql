-- Question: where were these cars in a span? Of each piece of it the last minute.
-- Parameters: $1 vehicles; $2 from, $3 until (timestamptz); $4 length of a piece in seconds, a minute or more; $5 how many minutes.
-- Example result: golf | 2026-11-24 15:07:00+00 | \x01…
-- The minutes are chosen by their keys alone; only what is chosen is fetched.
SELECT chosen.vehicle, m.minute_at, m.samples
FROM (
    SELECT a.vehicle, last.minute_at
    FROM unnest($1::text[]) AS a(vehicle)
    CROSS JOIN LATERAL (
        SELECT max(x.minute_at) AS minute_at FROM drover.vehicle_minute x
        WHERE x.vehicle = a.vehicle AND x.minute_at > $2::timestamptz - interval '1 minute' AND x.minute_at < $3
        GROUP BY date_bin($4::bigint * interval '1 second', x.minute_at, $2::timestamptz)) AS last
    LIMIT $5
) AS chosen
CROSS JOIN LATERAL (
    SELECT x.minute_at, x.samples FROM drover.vehicle_minute x
    WHERE x.vehicle = chosen.vehicle AND x.minute_at = chosen.minute_at LIMIT 1) AS m
ORDER BY chosen.vehicle, m.minute_at
