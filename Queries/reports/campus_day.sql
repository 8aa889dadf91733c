-- Question: how did a campus's rides end, how long were people waiting and riding?
-- Parameters: $1 campus.
-- Example result: done | 47 | 71 | 5.2 | 6.1
SELECT r.state AS ended_as, count(*) AS rides, sum(r.passengers) AS passengers,
       round((avg(extract(epoch FROM r.pickup_at - r.requested_at)) / 60)::numeric, 1)::float8 AS mean_wait_min,
       round((avg(extract(epoch FROM r.dropoff_at - r.pickup_at)) / 60)::numeric, 1)::float8 AS mean_ride_min
FROM drover.ride r WHERE r.campus = $1 GROUP BY r.state ORDER BY rides DESC, r.state
