-- Question: which alerts are open, the worst first, who has seen them, and is anybody told?
-- Parameters: $1 a vehicle, or empty for all; $2 audiences that the reader belongs to; $3 how many; $4 its kind (car, machine),
-- or empty for both.
WITH shown AS MATERIALIZED (
    SELECT a.alert_id, a.kind, a.vehicle, r.name AS vehicle_name, a.model, a.parameter, a.unit, a.severity, a.state, a.test, a.threshold,
           a.since_at, a.opened_at, a.opening_value, a.worst_value, a.worst_at, a.resolved_at, a.recommended, a.advice,
           a.acknowledged_at, a.acknowledged_by, a.silenced_until_at, a.rules_version
    FROM drover.alert_now a
    LEFT JOIN drover.registration r ON r.kind = a.kind AND r.vehicle = a.vehicle
    WHERE a.state IN ('open', 'due_soon') AND ($1 = '' OR a.vehicle = $1) AND ($4 = '' OR a.kind = $4) AND a.audience = ANY ($2)
    ORDER BY a.severity, a.state = 'due_soon', a.opened_at DESC, a.vehicle, a.alert_id
    LIMIT $3
), sets AS MATERIALIZED (
    SELECT v.rules_version, drover.rule_text(v.rules_version) AS rules
    FROM (SELECT DISTINCT s.rules_version FROM shown s WHERE s.kind = 'machine') AS v
)
SELECT s.*, drover.rule_whose(sets.rules, s.vehicle, s.model, s.parameter) AS rule
FROM shown s LEFT JOIN sets ON s.kind = 'machine' AND sets.rules_version = s.rules_version
ORDER BY s.severity, s.state = 'due_soon', s.opened_at DESC, s.vehicle, s.alert_id
