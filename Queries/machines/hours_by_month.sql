-- Question: How many hours did each machine run, month by month?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: machine_reading
-- Chart: run_h by vehicle
-- Totals: run_h
-- Example result: combine-1 | 2026-09 | 47.83 | 1247.83
-- The meter at a month's end less that of the month before; of a machine's first month what its readings span. Months are UTC.
WITH month AS (
    SELECT vehicle, date_trunc('month', read_at, 'UTC') AS month_at, min(engine_hours_h) AS first_h, max(engine_hours_h) AS last_h
    FROM analyst.machine_reading
    WHERE engine_hours_h IS NOT NULL AND ($3::text = '' OR vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'machine' AND f.fleet = $3)) AND read_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
    GROUP BY 1, 2
), run AS (
    SELECT vehicle, month_at, last_h - coalesce(lag(last_h) OVER (PARTITION BY vehicle ORDER BY month_at), first_h) AS run_h, last_h FROM month
)
SELECT vehicle, to_char(month_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, greatest(0, run_h) AS run_h, last_h AS meter_h
FROM run
WHERE month_at >= date_trunc('month', $1::date::timestamp) AT TIME ZONE 'UTC'
ORDER BY vehicle, month
