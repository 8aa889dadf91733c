-- Question: Which machines have gone silent, and since when?
-- Parameter: hours number = 24: at least so many
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: vehicle
-- Chart: silent_h by vehicle
-- Example result: combine-1 |  | S690 Combine | 2026-09-15T23:50:00Z
SELECT vehicle, name, model, last_reading_at AS silent_since, floor(extract(epoch FROM now() - last_reading_at) / 3600)::bigint AS silent_h
FROM analyst.vehicle
WHERE kind = 'machine' AND NOT is_disabled AND last_reading_at <= now() - $1::float8 * interval '1 hour' AND ($2::text = '' OR vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'machine' AND f.fleet = $2))
ORDER BY last_reading_at, vehicle
