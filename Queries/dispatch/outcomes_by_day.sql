-- Question: How did rides end, day by day?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: campus text = : its id; empty for all
-- Plan: ride
-- Chart: requests by day
-- Totals: requests served cancelled expired refused
-- Example result: foggy | 2026-09-14 | 48 | 97 | 37 | 1 | 3 | 7 | 0 | 77.1
SELECT campus, to_char(hour_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, sum(requests) AS requests, sum(passengers) AS passengers, sum(served) AS served, sum(cancelled) AS cancelled,
    sum(expired) AS expired, sum(refused) AS refused, sum(outstanding) AS outstanding, round(100.0 * sum(served) / nullif(sum(requests), 0), 1)::float8 AS served_pct
FROM analyst.dispatch_hour
WHERE hour_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND hour_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC' AND ($3::text = '' OR campus = $3)
GROUP BY 1, 2
ORDER BY 1, 2
