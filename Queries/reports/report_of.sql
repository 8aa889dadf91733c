-- Question: are a vehicle and a fleet there that a report is narrowed to, for who reads it?
-- Parameters: $1 a vehicle, or empty; $2 a fleet, or empty.
-- Example result: t | f
SELECT $1::text = '' OR EXISTS (SELECT FROM drover.vehicle v WHERE v.vehicle = $1)
           OR EXISTS (SELECT FROM drover.registration r WHERE r.vehicle = $1)
           -- Given to a fleet, and not heard of so far.
           OR EXISTS (SELECT FROM drover.fleets_seen() f WHERE f.vehicle = $1) AS has_vehicle,
       $2::text = '' OR EXISTS (SELECT FROM drover.fleets_seen() f WHERE f.fleet = $2) AS has_fleet
