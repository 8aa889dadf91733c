-- Question: How long until somebody acknowledged an alert?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: alert
-- Chart: alerts by parameter
-- Totals: alerts acknowledged
-- Example result: critical | Coolant Temperature | 7 | 3 | 33 | 65.8
-- From when it came in (told) to the first acknowledgement; where it is not known when it came in, from its opening.
SELECT severity, parameter, count(*) AS alerts, count(acknowledged_at) AS acknowledged,
    round((percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM acknowledged_at - coalesce(told_at, opened_at))::float8) / 60)::numeric, 1)::float8 AS median_min,
    round((percentile_cont(0.9) WITHIN GROUP (ORDER BY extract(epoch FROM acknowledged_at - coalesce(told_at, opened_at))::float8) / 60)::numeric, 1)::float8 AS p90_min
FROM analyst.alert
WHERE kind = 'machine' AND state NOT IN ('withdrawn', 'due_soon') AND ($3::text = '' OR vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'machine' AND f.fleet = $3))
    AND opened_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND opened_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
GROUP BY severity, parameter
ORDER BY severity, parameter
