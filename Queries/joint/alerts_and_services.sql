-- Question: Are there more alerts the longer ago the last service was?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: alert
-- Chart: alerts by from_days
-- Totals: alerts
-- Example result: 0 | warning | 8 | 3 | 4
-- Alerts by the days since the last service before them, in bands of 30 days; empty: no service is known.
SELECT floor(extract(epoch FROM a.opened_at - s.done_at) / 86400 / 30)::int * 30 AS from_days, a.severity, count(*) AS alerts,
    count(DISTINCT a.vehicle) AS machines, count(DISTINCT a.parameter) AS parameters
FROM analyst.alert a
LEFT JOIN LATERAL (SELECT x.done_at FROM analyst.service x WHERE x.vehicle = a.vehicle AND x.done_at <= a.opened_at ORDER BY x.done_at DESC LIMIT 1) s ON true
WHERE a.kind = 'machine' AND a.state NOT IN ('withdrawn', 'due_soon') AND ($3::text = '' OR a.vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'machine' AND f.fleet = $3))
    AND a.opened_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND a.opened_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
GROUP BY 1, 2
ORDER BY 1 NULLS LAST, 2
