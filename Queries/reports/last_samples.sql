-- Question: what did this car say last, in the minutes that are stored?
-- Parameters: $1 vehicle, $2 since when.
-- Example result: 2018-02-20 19:43:00+00 | \x01…
SELECT minute_at, samples FROM drover.vehicle_minute
WHERE vehicle = $1 AND minute_at > $2::timestamptz - interval '1 minute'
ORDER BY minute_at DESC LIMIT 100
