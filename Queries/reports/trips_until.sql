-- Question: which is this car's trip at a time, and which were those before it?
-- Parameters: $1 vehicle; $2 the time; $3 how many.
-- A trip that does not count is shown to who asks for it, and is nobody's trip before.
SELECT * FROM drover.trip_now
WHERE vehicle = $1 AND start_at <= $2 AND (discarded_at IS NULL OR start_at = $2)
ORDER BY start_at DESC
LIMIT $3
