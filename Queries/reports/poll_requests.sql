-- Question: which downloads, and which debug logs, were asked for of this machine, and how did they end? The latest comes first.
-- Parameters: $1 vehicle; $2 how many.
SELECT request_id, wants, coalesce(asked_at, answered_at) AS asked_at, asked_by, expires_at, answered_at, is_done, answer
FROM drover.poll_request
WHERE vehicle = $1
ORDER BY coalesce(asked_at, answered_at) DESC, request_id
LIMIT $2
