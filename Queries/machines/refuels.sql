-- Question: When was each machine refuelled, and with how much?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: gallons number = 5: rises of at least so many US gallons between two readings
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: machine_reading
-- Chart: filled_gal by vehicle
-- Totals: filled_gal
-- Example result: combine-1 | 2026-09-15T00:00:00Z | 243 | 299.8 | 56.8
WITH level AS (
    SELECT vehicle, read_at, fuel_level_gal, lag(fuel_level_gal) OVER (PARTITION BY vehicle ORDER BY read_at) AS before_gal
    FROM analyst.machine_reading
    WHERE fuel_level_gal IS NOT NULL AND ($4::text = '' OR vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'machine' AND f.fleet = $4))
        AND read_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND read_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
)
SELECT vehicle, read_at AS filled_by, before_gal, fuel_level_gal AS after_gal, fuel_level_gal - before_gal AS filled_gal
FROM level
WHERE fuel_level_gal - before_gal >= $3::float8
ORDER BY vehicle, read_at
