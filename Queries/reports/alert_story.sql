-- Question: what does this alert say?
-- Parameters: $1 the alert's id; $2 audiences that the reader belongs to.
SELECT a.*, (
           SELECT count(*) FROM drover.alert b
           WHERE b.kind = a.kind AND b.vehicle = a.vehicle AND b.parameter = a.parameter AND b.state <> 'withdrawn' AND b.opened_at < a.opened_at
               AND b.opened_at >= a.opened_at - interval '30 days') AS repeats,
       v.topic_partition, r.name AS vehicle_name,
       (SELECT s.rules FROM drover.rule_set_seen s WHERE s.version = a.rules_version LIMIT 1) AS rules
FROM drover.alert_now a
JOIN drover.vehicle v ON v.kind = a.kind AND v.vehicle = a.vehicle
LEFT JOIN drover.registration r ON r.kind = a.kind AND r.vehicle = a.vehicle
WHERE a.alert_id = $1 AND a.audience = ANY ($2)
