-- Question: which were this car's last trips?
-- Parameters: $1 vehicle; $2 how many.
SELECT * FROM drover.trip_now
WHERE vehicle = $1 AND discarded_at IS NULL
ORDER BY start_at DESC
LIMIT $2
