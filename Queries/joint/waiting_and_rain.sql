-- Question: Do people wait longer for a ride when it rains, and do more of them ask?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: campus text = : its id; empty for all
-- Plan: ride
-- Totals: requests
-- Example result: foggy | no | 72 | 19 | 3.79 | 11.57 | 21.75
-- By the weather of the hour and cell in which the pickup lies; empty: no service told of it, or it is no longer kept.
SELECT r.campus, w.precipitation_mm_per_h > 0 AS is_raining, count(*) AS requests, count(DISTINCT date_trunc('hour', r.requested_at, 'UTC')) AS hours,
    round(count(*)::numeric / count(DISTINCT date_trunc('hour', r.requested_at, 'UTC')), 2)::float8 AS requests_per_hour,
    round((percentile_cont(0.5) WITHIN GROUP (ORDER BY r.waiting_s) / 60)::numeric, 2)::float8 AS median_min,
    round((percentile_cont(0.9) WITHIN GROUP (ORDER BY r.waiting_s) / 60)::numeric, 2)::float8 AS p90_min
FROM analyst.ride r
LEFT JOIN LATERAL (
    SELECT x.precipitation_mm_per_h FROM analyst.weather_hour x
    WHERE x.hour_at = date_trunc('hour', r.requested_at, 'UTC')
        AND drover.is_in_cell(r.from_latitude_deg, r.from_longitude_deg, x.cell_millideg, x.latitude_index, x.longitude_index)
    ORDER BY x.cell_millideg, x.source LIMIT 1) w ON true
WHERE r.requested_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND r.requested_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC' AND ($3::text = '' OR r.campus = $3)
GROUP BY 1, 2
ORDER BY 1, 2 NULLS LAST
