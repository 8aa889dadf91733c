-- Question: which alerts are there, who has seen them, and is anybody told?
-- Parameters: $1 a vehicle, or empty; $2 also those that are over; $3 audiences that the reader belongs to; $4 how many;
-- $5 milliseconds after which an opening or an end was told late.
SELECT alert_id, vehicle, model, parameter, severity, state, opened_at, resolved_at, opening_value, worst_value, unit,
       told_at - first_opened_at > $5 * interval '1 ms' AS is_opened_late,
       resolved_told_at - resolved_at > $5 * interval '1 ms' AS is_resolved_late,
       acknowledged_at, acknowledged_by, silenced_until_at
FROM drover.alert_now
WHERE ($1 = '' OR vehicle = $1) AND ($2 OR state IN ('open', 'due_soon')) AND audience = ANY ($3)
ORDER BY state IN ('open', 'due_soon') DESC, vehicle, severity, opened_at DESC, alert_id
LIMIT $4
