-- Question: Which routes do people ride most?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: campus text = : its id; empty for all
-- Parameter: limit integer = 20: so many pairs
-- Plan: ride
-- Example result: foggy | 38.905 | -77.055 | 38.905 | -77.05 | 4 | 8 | 21.8
-- Places by cells of 0.005 degrees (some 500 m), told by their south-west corner.
SELECT campus, (floor(from_latitude_deg::numeric * 200) / 200)::float8 AS from_south_deg, (floor(from_longitude_deg::numeric * 200) / 200)::float8 AS from_west_deg,
    (floor(to_latitude_deg::numeric * 200) / 200)::float8 AS to_south_deg, (floor(to_longitude_deg::numeric * 200) / 200)::float8 AS to_west_deg, count(*) AS requests, sum(passengers) AS passengers,
    round((percentile_cont(0.5) WITHIN GROUP (ORDER BY waiting_s) / 60)::numeric, 2)::float8 AS median_wait_min
FROM analyst.ride
WHERE requested_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND requested_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC' AND ($3::text = '' OR campus = $3)
GROUP BY 1, 2, 3, 4, 5
ORDER BY requests DESC, 1, 2, 3, 4, 5
LIMIT $4::int
