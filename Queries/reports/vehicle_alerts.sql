-- Question: which alerts of this vehicle are over? The latest comes first.
-- Parameters: $1 car or machine; $2 vehicle; $3 audiences that the reader belongs to; $4 how many.
SELECT * FROM drover.alert_now
WHERE kind = $1 AND vehicle = $2 AND audience = ANY ($3) AND state = 'resolved'
ORDER BY opened_at DESC, alert_id
LIMIT $4
