-- Question: when did this car's next trip begin?
-- Parameters: $1 vehicle; $2 start of the trip before it.
-- Example result: 2018-02-21 06:02:11.4+00
SELECT start_at FROM drover.trip_now
WHERE vehicle = $1 AND start_at > $2 AND discarded_at IS NULL
ORDER BY start_at
LIMIT 1
