-- Question: For how many minutes was each parameter of each model in alert, and how often?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: alert
-- Chart: open_min by parameter
-- Totals: alerts still_open open_min
-- Example result: 8R Tractor | Coolant Temperature | warning | 6 | 3 | 3 | 817386
-- Minutes within the days asked for (UTC), up to now for what is open; withdrawn alerts are left out.
SELECT model, parameter, severity, count(*) AS alerts, count(DISTINCT vehicle) AS machines, count(*) FILTER (WHERE resolved_at IS NULL) AS still_open,
    round((sum(extract(epoch FROM least(coalesce(resolved_at, now()), ($2::date + 1)::timestamp AT TIME ZONE 'UTC')
        - greatest(opened_at, $1::date::timestamp AT TIME ZONE 'UTC'))) / 60)::numeric, 1)::float8 AS open_min
FROM analyst.alert
WHERE kind = 'machine' AND state NOT IN ('withdrawn', 'due_soon') AND ($3::text = '' OR vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'machine' AND f.fleet = $3))
    AND opened_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC' AND coalesce(resolved_at, now()) > $1::date::timestamp AT TIME ZONE 'UTC'
GROUP BY model, parameter, severity
ORDER BY open_min DESC, model, parameter, severity
