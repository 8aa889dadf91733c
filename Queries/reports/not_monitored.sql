-- Question: which vehicles does nothing judge as they are now, and why? Disabled ones are left out.
-- Parameters: $1 a vehicle, or empty; $2 a fleet, or empty; $3 heard of since then, or NULL; $4 how many vehicles are looked at.
-- Example result: car | car-7 | Golf | nobody
WITH found AS MATERIALIZED (
    SELECT v.kind, v.vehicle, r.name FROM drover.vehicle v LEFT JOIN drover.registration r USING (kind, vehicle)
    WHERE r.is_disabled IS NOT TRUE AND ($3::timestamptz IS NULL OR $3 <= CASE v.kind WHEN 'machine' THEN v.last_reading_at
            ELSE (SELECT t.end_at FROM drover.trip t WHERE t.vehicle = v.vehicle ORDER BY t.start_at DESC LIMIT 1) END) AND ($1::text = '' OR v.vehicle = $1)
        AND ($2::text = '' OR (v.kind, v.vehicle) IN (SELECT f.kind, f.vehicle FROM drover.fleets_seen() f WHERE f.fleet = $2))
    ORDER BY v.kind, v.vehicle COLLATE "C" LIMIT $4
)
SELECT found.*, unjudged.not_monitored
FROM found
JOIN drover.not_monitored_of(ARRAY(SELECT found.kind FROM found), ARRAY(SELECT found.vehicle FROM found)) AS unjudged
    ON unjudged.kind = found.kind AND unjudged.vehicle = found.vehicle
ORDER BY found.kind, found.vehicle COLLATE "C"
