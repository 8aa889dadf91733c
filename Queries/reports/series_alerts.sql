-- Question: which alerts of this vehicle were open in a span, for a chart of its values?
-- Parameters: $1 car or machine; $2 vehicle; $3 audiences that the reader belongs to; $4 from, $5 until (timestamptz); $6 how many, the
-- newest.
-- Example result: 8R-0001~Coolant Temperature~… | Coolant Temperature | critical | 2026-09-14 02:37:00+00 | 2026-09-14 02:40:00+00 |
SELECT alert_id, parameter, severity, since_at, opened_at, resolved_at
FROM drover.alert
WHERE kind = $1 AND vehicle = $2 AND audience = ANY ($3) AND state <> 'withdrawn' AND test <> 'absent'
    AND opened_at < $5 AND (resolved_at IS NULL OR resolved_at >= $4)
ORDER BY opened_at DESC
LIMIT $6
