-- Question: how long did people wait and ride today, and how long on each day of the week of the four weeks before? Of rides
-- by the day on which they were asked for; median and 90 %, as in dispatch_day.
-- Parameters: $1 campus, $2 time zone, $3 today's first instant, $4 the first instant 28 days before.
-- Example result: | 41 | 37 | 187 | 420 | 402
-- The row without a day of the week is today; 1 is Monday.
SELECT CASE WHEN r.requested_at < $3 THEN extract(isodow FROM r.requested_at AT TIME ZONE $2)::int END AS weekday,
       count(*) AS requests, count(*) FILTER (WHERE r.state = 'done') AS served,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY CASE WHEN r.state IN ('done', 'on_board')
           THEN extract(epoch FROM r.pickup_at - r.requested_at)::float8 END) AS waiting_p50_s,
       percentile_disc(0.9) WITHIN GROUP (ORDER BY CASE WHEN r.state IN ('done', 'on_board')
           THEN extract(epoch FROM r.pickup_at - r.requested_at)::float8 END) AS waiting_p90_s,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY CASE WHEN r.state = 'done'
           THEN extract(epoch FROM r.dropoff_at - r.pickup_at)::float8 END) AS riding_p50_s
FROM drover.ride r WHERE r.campus = $1 AND r.requested_at >= $4
GROUP BY 1 ORDER BY 1 NULLS FIRST
