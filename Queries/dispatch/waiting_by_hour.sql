-- Question: How long do people wait for a ride, by hour of the day?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: zone text = UTC: time zone of the hours
-- Parameter: campus text = : its id; empty for all
-- Plan: ride
-- Chart: requests by hour
-- Totals: requests picked_up
-- Example result: foggy | 4 | 13 | 10 | 7.55 | 14.49 | 17.55
SELECT campus, extract(hour FROM requested_at AT TIME ZONE $3::text)::int AS hour, count(*) AS requests, count(waiting_s) AS picked_up,
    round((percentile_cont(0.5) WITHIN GROUP (ORDER BY waiting_s) / 60)::numeric, 2)::float8 AS median_min,
    round((percentile_cont(0.9) WITHIN GROUP (ORDER BY waiting_s) / 60)::numeric, 2)::float8 AS p90_min, round((max(waiting_s) / 60)::numeric, 2)::float8 AS longest_min
FROM analyst.ride
WHERE requested_at >= $1::date::timestamp AT TIME ZONE $3::text AND requested_at < ($2::date + 1)::timestamp AT TIME ZONE $3::text AND ($4::text = '' OR campus = $4)
GROUP BY 1, 2
ORDER BY 1, 2
