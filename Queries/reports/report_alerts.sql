-- Question: which alerts were open at any time of this span?
-- Parameters: $1 start, $2 end (timestamptz); $3 a vehicle, or empty; $4 how many; $5 a fleet, or empty.
-- Example result: 2026-09-14 02:40:00+00 | | machine | combine-1 | | Coolant Temperature | critical | open | above | 85 | 86.5 | °C
SELECT a.opened_at AS opened, a.resolved_at AS resolved, a.kind, a.vehicle, r.name, a.parameter, a.severity, a.state, a.test,
       a.threshold::float8 AS threshold, a.worst_value::float8 AS worst_value, a.unit, a.acknowledged_at AS seen,
       a.acknowledged_by AS seen_by, a.advice, a.revised_at AS revised
FROM drover.alert_now a
LEFT JOIN drover.registration r ON r.kind = a.kind AND r.vehicle = a.vehicle
WHERE a.opened_at < $2 AND (a.resolved_at >= $1 OR a.resolved_at IS NULL) AND a.state <> 'withdrawn' AND ($3::text = '' OR a.vehicle = $3)
    AND ($5::text = '' OR (a.kind, a.vehicle) IN (SELECT f.kind, f.vehicle FROM drover.fleets_seen() f WHERE f.fleet = $5))
ORDER BY a.opened_at, a.kind, a.vehicle COLLATE "C", a.parameter, a.alert_id
LIMIT $4
