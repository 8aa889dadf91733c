-- Question: which services of this machine are recorded? The latest comes first.
-- Parameters: $1 vehicle; $2 how many.
SELECT done_at, engine_hours_h, recorded_by, note FROM drover.service
WHERE vehicle = $1
ORDER BY done_at DESC
LIMIT $2
