-- Question: How far does each vehicle drive with nobody on board?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: campus text = : its id; empty for all
-- Plan: ride
-- Chart: empty_km by vehicle
-- Totals: km empty_km
-- Example result: foggy | van-0 | 68.09 | 28.21 | 41.4
-- Straight ways from stop to stop of rides that were brought there, day by day (UTC); places are to a thousandth of a degree.
WITH stop AS (
    SELECT campus, vehicle, request, pickup_at AS at, passengers AS change, from_latitude_deg AS latitude, from_longitude_deg AS longitude
    FROM analyst.ride WHERE state = 'done' AND pickup_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND pickup_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC' AND ($3::text = '' OR campus = $3)
    UNION ALL
    SELECT campus, vehicle, request, dropoff_at, -passengers, to_latitude_deg, to_longitude_deg
    FROM analyst.ride WHERE state = 'done' AND pickup_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND pickup_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC' AND ($3::text = '' OR campus = $3)
), leg AS (
    SELECT campus, vehicle, at, lead(at) OVER w AS until_at, sum(change) OVER w AS on_board, latitude, longitude,
        lead(latitude) OVER w AS next_latitude, lead(longitude) OVER w AS next_longitude
    FROM stop WINDOW w AS (PARTITION BY campus, vehicle, (at AT TIME ZONE 'UTC')::date ORDER BY at, change, request)
)
, way AS (
    SELECT *, 2 * 6371.0088 * asin(least(1, sqrt(power(sind((next_latitude - latitude) / 2), 2)
        + cosd(latitude) * cosd(next_latitude) * power(sind((next_longitude - longitude) / 2), 2)))) AS km
    FROM leg WHERE until_at IS NOT NULL
)
SELECT campus, vehicle, round(sum(km)::numeric, 2)::float8 AS km, round(coalesce(sum(km) FILTER (WHERE on_board = 0), 0)::numeric, 2)::float8 AS empty_km,
    round((100 * coalesce(sum(km) FILTER (WHERE on_board = 0), 0) / nullif(sum(km), 0))::numeric, 1)::float8 AS empty_pct
FROM way
GROUP BY 1, 2
ORDER BY 1, 2
