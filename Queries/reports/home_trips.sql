-- Question: which trips began in this span, the last first?
-- Parameters: $1 start, $2 end (timestamptz); $3 how many.
SELECT * FROM drover.trip_now
WHERE start_at >= $1 AND start_at < $2 AND discarded_at IS NULL
ORDER BY start_at DESC, vehicle
LIMIT $3
