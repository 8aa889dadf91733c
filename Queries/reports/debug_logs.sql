-- Question: which debug logs of boxes are there, newest first?
-- Parameters: $1 a vehicle, or empty; $2 how many.
SELECT debug_log_id AS id, vehicle, fetched_at, first_at, last_at, octet_length(log) AS bytes, error_lines, warning_lines,
       info_lines, debug_lines, other_lines
FROM drover.debug_log
WHERE $1 = '' OR vehicle = $1
ORDER BY debug_log_id DESC
LIMIT $2
