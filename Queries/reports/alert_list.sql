-- Question: which alerts need somebody, the worst first, who has them, and may the reader act on them?
-- Parameters: $1 open, acknowledged or services; $2 audiences that the reader belongs to; $3 a severity, or empty; $4 a tag, or empty;
-- $5 a part of vehicle, model, alert or person, or empty; $6 with whom: empty for anybody, me or nobody; $7 the reader's account;
-- $8 how many.
WITH shown AS MATERIALIZED (
    SELECT a.alert_id, a.kind, a.vehicle, r.name AS vehicle_name, a.model, a.parameter, a.unit, a.severity, a.state, a.test, a.threshold,
           a.since_at, a.opened_at, a.opening_value, a.worst_value, a.worst_at, a.resolved_at, a.recommended, a.advice,
           a.acknowledged_at, a.acknowledged_by, a.acknowledgement_note, a.silenced_until_at, a.is_muted_to_its_end, a.assigned_to,
           a.assigned_at, a.is_service
    FROM drover.alert_now a
    LEFT JOIN drover.registration r ON r.kind = a.kind AND r.vehicle = a.vehicle
    WHERE a.state IN ('open', 'due_soon') AND a.audience = ANY ($2)
        AND CASE $1 WHEN 'services' THEN a.is_service WHEN 'acknowledged' THEN a.acknowledged_at IS NOT NULL AND NOT a.is_service
            ELSE a.acknowledged_at IS NULL AND NOT a.is_service END
        AND ($3 = '' OR a.severity = $3) AND ($4 = '' OR $4 = ANY (r.tags))
        AND ($5 = '' OR position(lower($5) IN lower(concat_ws(' ', a.vehicle, r.name, a.model, a.parameter, a.assigned_to, a.acknowledged_by))) > 0)
        AND CASE $6 WHEN 'me' THEN $7 IN (a.assigned_to, a.acknowledged_by)
            WHEN 'nobody' THEN a.assigned_to IS NULL AND a.acknowledged_by IS NULL ELSE true END
    ORDER BY a.severity, a.state = 'due_soon', a.opened_at DESC, a.vehicle, a.alert_id
    LIMIT $8
), allowed AS MATERIALIZED (
    SELECT v.kind, v.vehicle, drover.may_do('alert', v.kind, v.vehicle, now(), now()) AS may_act
    FROM (SELECT DISTINCT s.kind, s.vehicle FROM shown s) AS v
)
SELECT s.*, allowed.may_act
FROM shown s JOIN allowed USING (kind, vehicle)
ORDER BY s.severity, s.state = 'due_soon', s.opened_at DESC, s.vehicle, s.alert_id
