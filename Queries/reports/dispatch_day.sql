-- Question: how did a campus's day go, hour by hour and as a whole? Rides count in the hour in which they were asked for;
-- told vehicles, told arrivals and overrides in the hour of the decision. Detour: riding over the straight way at the campus's
-- own speed.
-- Parameters: $1 from, $2 to, $3 campus or empty, $4 how many; $5 time zone.
-- Example result: north | 08:00 | 41 | 37 | 2 | 1 | 1 | 0 | 187 | 420 | 402 | 1.18 | 5 | 96.5 | 1
-- The row without an hour is the day.
WITH asked AS (
    SELECT r.campus, to_char(date_trunc('hour', r.requested_at AT TIME ZONE $5), 'HH24:00') AS hour, r.state,
           CASE WHEN r.state IN ('done', 'on_board') THEN extract(epoch FROM r.pickup_at - r.requested_at)::float8 END AS waiting_s,
           CASE WHEN r.state = 'done' THEN extract(epoch FROM r.dropoff_at - r.pickup_at)::float8 END AS riding_s,
           CASE WHEN r.state = 'done' THEN
               2 * 6371008.8 * asin(least(1, sqrt(
                   power(sin(radians(r.to_latitude_deg - r.from_latitude_deg) / 2), 2)
                   + cos(radians(r.from_latitude_deg)) * cos(radians(r.to_latitude_deg))
                   * power(sin(radians(r.to_longitude_deg - r.from_longitude_deg) / 2), 2))))
               * 3.6 * coalesce((c.settings::jsonb ->> 'detour')::float8, 1.3)
               / coalesce((c.settings::jsonb ->> 'speed_kmh')::float8, 20) END AS direct_s
    FROM drover.ride r JOIN drover.campus c ON c.campus = r.campus
    WHERE r.requested_at >= $1 AND r.requested_at < $2 AND ($3 = '' OR r.campus = $3)
), rides AS (
    SELECT campus, hour, count(*) AS requests, count(*) FILTER (WHERE state = 'done') AS served,
           count(*) FILTER (WHERE state IN ('cancelled', 'ended')) AS cancelled, count(*) FILTER (WHERE state = 'expired') AS expired,
           count(*) FILTER (WHERE state = 'refused') AS refused,
           count(*) FILTER (WHERE state IN ('queued', 'assigned', 'on_board')) AS outstanding,
           percentile_disc(0.5) WITHIN GROUP (ORDER BY waiting_s) AS waiting_p50_s,
           percentile_disc(0.9) WITHIN GROUP (ORDER BY waiting_s) AS waiting_p90_s,
           avg(riding_s) AS riding_mean_s, sum(riding_s) / nullif(sum(direct_s), 0) AS detour
    FROM asked GROUP BY GROUPING SETS ((campus, hour), (campus))
), step AS (
    SELECT d.campus, to_char(date_trunc('hour', d.made_at AT TIME ZONE $5), 'HH24:00') AS hour, step
    FROM drover.dispatch_decision d, jsonb_array_elements(d.why -> 'steps') AS step
    WHERE d.made_at >= $1 AND d.made_at < $2 AND ($3 = '' OR d.campus = $3)
), change AS (
    SELECT campus, hour, (step ->> 'event' = 'override')::int AS override, 0 AS other_vehicle, 0::float8 AS moved_s FROM step
    UNION ALL
    SELECT campus, hour, 0, (moved ->> 'vehicle' IS DISTINCT FROM moved ->> 'vehicle_before')::int,
           abs(extract(epoch FROM (moved ->> 'pickup')::timestamptz - (moved ->> 'pickup_before')::timestamptz))::float8
    FROM step, jsonb_array_elements(step -> 'moved') AS moved
), changes AS (
    SELECT campus, hour, sum(other_vehicle) AS told_other_vehicle, sum(moved_s) AS told_arrivals_moved_s,
           sum(override) AS overrides
    FROM change GROUP BY GROUPING SETS ((campus, hour), (campus))
)
SELECT coalesce(r.campus, c.campus) AS campus, coalesce(r.hour, c.hour) AS hour, coalesce(r.requests, 0) AS requests,
       coalesce(r.served, 0) AS served, coalesce(r.cancelled, 0) AS cancelled, coalesce(r.expired, 0) AS expired,
       coalesce(r.refused, 0) AS refused, coalesce(r.outstanding, 0) AS outstanding, round(r.waiting_p50_s::numeric, 1)::float8 AS waiting_p50_s,
       round(r.waiting_p90_s::numeric, 1)::float8 AS waiting_p90_s, round(r.riding_mean_s::numeric, 1)::float8 AS riding_mean_s,
       round(r.detour::numeric, 3)::float8 AS detour, coalesce(c.told_other_vehicle, 0) AS told_other_vehicle,
       round(coalesce(c.told_arrivals_moved_s, 0)::numeric, 1)::float8 AS told_arrivals_moved_s,
       coalesce(c.overrides, 0) AS overrides
FROM rides r FULL JOIN changes c ON c.campus = r.campus AND c.hour IS NOT DISTINCT FROM r.hour
ORDER BY 1, 2 NULLS LAST
LIMIT $4
