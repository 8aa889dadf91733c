-- Question: What did each fleet do, month by month?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Plan: vehicle_day
-- Chart: km by month
-- Totals: km fuel_l machine_alerts critical
-- Example result: north | 2013-08 | 1 | 217.669 | 19.706 | 0 | 0
WITH driven AS (
    SELECT f.fleet, date_trunc('month', d.day_at, 'UTC') AS month_at, count(DISTINCT d.vehicle) AS cars, sum(d.distance_mm) / 1e6 AS km, sum(d.fuel_l) AS fuel_l
    FROM analyst.vehicle_day d JOIN analyst.fleet_vehicle f ON f.kind = 'car' AND f.vehicle = d.vehicle
    WHERE d.day_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND d.day_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
    GROUP BY 1, 2
), alarmed AS (
    SELECT f.fleet, date_trunc('month', a.opened_at, 'UTC') AS month_at, count(*) AS alerts, count(*) FILTER (WHERE a.severity = 'critical') AS critical
    FROM analyst.alert a JOIN analyst.fleet_vehicle f ON f.kind = 'machine' AND f.vehicle = a.vehicle
    WHERE a.kind = 'machine' AND a.state NOT IN ('withdrawn', 'due_soon')
        AND a.opened_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND a.opened_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
    GROUP BY 1, 2
)
SELECT fleet, to_char(month_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, coalesce(d.cars, 0) AS cars, coalesce(round(d.km, 3), 0)::float8 AS km,
    round(d.fuel_l::numeric, 3)::float8 AS fuel_l, coalesce(a.alerts, 0) AS machine_alerts, coalesce(a.critical, 0) AS critical
FROM driven d FULL JOIN alarmed a USING (fleet, month_at)
ORDER BY 1, 2
