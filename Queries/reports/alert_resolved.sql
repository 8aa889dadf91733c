-- Question: which alerts are over, the latest first, who had them, and what was said of them?
-- Parameters: $1 audiences that the reader belongs to; $2 a severity, or empty; $3 a tag, or empty; $4 a part of vehicle, model, alert or
-- person, or empty; $5 with whom: empty for anybody, me or nobody; $6 the reader's account; $7 those that ended before this time, and $8
-- of that time those with an id before this one; $9 how many; $10 how many are looked at. The last row of those is in oldest_at, oldest_id.
WITH recent AS MATERIALIZED (
    SELECT a.alert_id, a.resolved_at FROM drover.alert a
    WHERE a.state = 'resolved' AND (a.resolved_at, a.alert_id) < ($7, $8) AND a.audience = ANY ($1)
    ORDER BY a.resolved_at DESC, a.alert_id DESC
    LIMIT $10
), page AS MATERIALIZED (
    SELECT a.alert_id, a.kind, a.vehicle, r.name AS vehicle_name, a.model, a.parameter, a.unit, a.severity, a.state, a.test, a.threshold,
           a.since_at, a.opened_at, a.opening_value, a.worst_value, a.worst_at, a.resolved_at, a.recommended, a.advice,
           a.acknowledged_at, a.acknowledged_by, a.silenced_until_at, a.is_muted_to_its_end, a.assigned_to, a.assigned_at, a.is_service,
           coalesce((SELECT t.note FROM drover.alert_triage t WHERE t.alert_id = a.alert_id AND t.word = 'comment'
                     ORDER BY t.said_at DESC, t.record_id DESC LIMIT 1), a.acknowledgement_note) AS acknowledgement_note,
           false AS may_act
    FROM recent JOIN drover.alert_now a USING (alert_id)
    LEFT JOIN drover.registration r ON r.kind = a.kind AND r.vehicle = a.vehicle
    WHERE ($2 = '' OR a.severity = $2) AND ($3 = '' OR $3 = ANY (r.tags))
        AND ($4 = '' OR position(lower($4) IN lower(concat_ws(' ', a.vehicle, r.name, a.model, a.parameter, a.assigned_to, a.acknowledged_by))) > 0)
        AND CASE $5 WHEN 'me' THEN $6 IN (a.assigned_to, a.acknowledged_by)
            WHEN 'nobody' THEN a.assigned_to IS NULL AND a.acknowledged_by IS NULL ELSE true END
    ORDER BY a.resolved_at DESC, a.alert_id DESC
    LIMIT $9
)
SELECT page.*, whole.looked_at, oldest.resolved_at AS oldest_at, oldest.alert_id AS oldest_id
FROM (SELECT count(*) AS looked_at FROM recent) AS whole
LEFT JOIN (SELECT o.resolved_at, o.alert_id FROM recent o ORDER BY o.resolved_at, o.alert_id LIMIT 1) AS oldest ON true
LEFT JOIN page ON true
ORDER BY page.resolved_at DESC, page.alert_id DESC
