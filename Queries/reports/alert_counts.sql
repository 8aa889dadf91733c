-- Question: how many alerts are there in each part of the page of alerts? Of those that are over, those of the last 30 days, up to 1000.
-- Parameters: $1 audiences that the reader belongs to.
SELECT count(*) FILTER (WHERE a.acknowledged_at IS NULL AND NOT a.is_service) AS open,
       count(*) FILTER (WHERE a.acknowledged_at IS NULL AND NOT a.is_service AND a.severity = 'critical') AS critical,
       count(*) FILTER (WHERE a.acknowledged_at IS NOT NULL AND NOT a.is_service) AS acknowledged,
       count(*) FILTER (WHERE a.is_service) AS services,
       (SELECT count(*) FROM (
            SELECT FROM drover.alert o WHERE o.state = 'resolved' AND o.resolved_at >= now() - interval '30 days' AND o.audience = ANY ($1)
            LIMIT 1000) AS over) AS resolved
FROM drover.alert_now a
WHERE a.state IN ('open', 'due_soon') AND a.audience = ANY ($1)
