-- Question: which rules are in force in these partitions?
-- Parameters: $1 partitions.
-- Example result: 3 | 17b2… | …
SELECT p.topic_partition, s.version, s.rules
FROM unnest($1::int[]) AS p (topic_partition)
CROSS JOIN LATERAL (
    SELECT r.version, r.rules FROM drover.rule_set_seen r
    WHERE r.topic_partition = p.topic_partition AND r.in_force_at <= now() ORDER BY r.in_force_at DESC LIMIT 1) AS s
