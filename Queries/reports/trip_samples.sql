-- Question: what did this trip's car say, minute by minute?
-- Parameters: $1 vehicle, $2 start of the trip.
-- Example result: 2018-02-20 19:23:00+00 | \x01…
SELECT minute_at, samples FROM drover.vehicle_minute
WHERE vehicle = $1 AND trip_start_at = $2
ORDER BY minute_at
