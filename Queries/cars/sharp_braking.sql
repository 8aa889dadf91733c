-- Question: Who brakes harshly, and at which hour of the day?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: zone text = UTC: time zone of the hours
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: trip
-- Chart: sharp_brakings by driver
-- Totals: km sharp_brakings
-- Example result:  | 18 | 1.58 | 0 | 0
-- Trips are worked out once each, before they meet their minutes.
WITH t AS MATERIALIZED (
    SELECT vehicle, start_at, end_at, coalesce(driver, '') AS driver
    FROM analyst.trip
    WHERE start_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND start_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
        AND discarded_at IS NULL
        AND ($4::text = '' OR vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'car' AND f.fleet = $4))
)
SELECT t.driver, extract(hour FROM m.minute_at AT TIME ZONE $3::text)::int AS hour, round(sum(m.distance_mm) / 1e6, 3)::float8 AS km,
    sum(m.sharp_brakings) AS sharp_brakings, round(sum(m.sharp_brakings) * 1e8 / nullif(sum(m.distance_mm), 0), 2)::float8 AS per_100km
FROM t JOIN analyst.vehicle_minute m ON m.vehicle = t.vehicle AND m.trip_start_at = t.start_at
    AND m.minute_at >= date_trunc('minute', t.start_at) AND m.minute_at <= t.end_at
GROUP BY 1, 2
ORDER BY 1, 2
