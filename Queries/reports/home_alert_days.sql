-- Question: how many alerts opened on each of these days, how many of them are over, and how soon were they?
-- Parameters: $1 start, $2 end (timestamptz): whole days in the reader's zone; $3 that zone; $4 audiences that the reader belongs to;
-- $5 how many vehicles are looked at.
-- Example result: 2026-11-24 | 5 | 4 | 1440000
SELECT to_char(a.opened_at AT TIME ZONE $3, 'YYYY-MM-DD') AS day, count(*) AS opened, count(a.resolved_at) AS resolved,
       coalesce(sum(extract(epoch FROM a.resolved_at - a.opened_at)), 0)::bigint * 1000 AS took_ms
FROM (SELECT v.kind, v.vehicle FROM drover.vehicle v ORDER BY v.kind, v.vehicle LIMIT $5) AS v
JOIN LATERAL (
    SELECT x.opened_at, x.resolved_at FROM drover.alert x
    WHERE x.vehicle = v.vehicle AND x.kind = v.kind AND x.opened_at >= $1 AND x.opened_at < $2 AND x.state NOT IN ('withdrawn', 'due_soon')
        AND x.audience = ANY ($4)) AS a ON true
GROUP BY 1
ORDER BY 1
