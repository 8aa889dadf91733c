-- Question: Why were rides moved to another vehicle?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: campus text = : its id; empty for all
-- Plan: dispatch_decision
-- Chart: rides_moved by event
-- Totals: decisions rides_moved
-- Example result: foggy | cancel | 8 | 14 | 12 | 37.36
-- By the event that led to it: a new request, a cancellation, an override, a vehicle that came or left …
SELECT d.campus, step ->> 'event' AS event, count(DISTINCT d.record_offset) AS decisions, count(*) AS rides_moved, count(DISTINCT moved ->> 'request') AS rides,
    round((avg(extract(epoch FROM (moved ->> 'pickup')::timestamptz - (moved ->> 'pickup_before')::timestamptz)) / 60)::numeric, 2)::float8 AS pickup_later_mean_min
FROM analyst.decision d, jsonb_array_elements(d.why -> 'steps') AS step, jsonb_array_elements(step -> 'moved') AS moved
WHERE d.made_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND d.made_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC' AND ($3::text = '' OR d.campus = $3)
    AND moved ->> 'vehicle' IS DISTINCT FROM moved ->> 'vehicle_before' AND moved ->> 'vehicle_before' IS NOT NULL
GROUP BY 1, 2
ORDER BY 1, rides_moved DESC, event
