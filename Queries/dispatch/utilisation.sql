-- Question: How much of each day did each vehicle have passengers?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: campus text = : its id; empty for all
-- Plan: ride
-- Chart: with_passengers_h by vehicle
-- Totals: h with_passengers_h
-- Example result: foggy | van-0 | 2026-09-14 | 10.34 | 2.04 | 19.8 | 5
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
SELECT campus, vehicle, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, round((sum(extract(epoch FROM until_at - at)) / 3600)::numeric, 2)::float8 AS h,
    round((coalesce(sum(extract(epoch FROM until_at - at)) FILTER (WHERE on_board > 0), 0) / 3600)::numeric, 2)::float8 AS with_passengers_h,
    round((100 * coalesce(sum(extract(epoch FROM until_at - at)) FILTER (WHERE on_board > 0), 0) / nullif(sum(extract(epoch FROM until_at - at)), 0))::numeric, 1)::float8 AS busy_pct,
    max(on_board) AS most_on_board
FROM leg
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
