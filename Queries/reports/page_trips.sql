-- Question: which trips were the last?
-- Parameters: $1 how many.
SELECT * FROM drover.trip_now
WHERE discarded_at IS NULL
ORDER BY start_at DESC, vehicle
LIMIT $1
