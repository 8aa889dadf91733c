-- Question: what did this car say in a span, minute by minute?
-- Parameters: $1 vehicle; $2 from, $3 until (timestamptz); $4 how many minutes, the newest of them.
-- Example result: 2018-02-20 19:23:00+00 | \x01…
SELECT minute_at, samples FROM drover.vehicle_minute
WHERE vehicle = $1 AND minute_at > $2::timestamptz - interval '1 minute' AND minute_at < $3
ORDER BY minute_at DESC
LIMIT $4
