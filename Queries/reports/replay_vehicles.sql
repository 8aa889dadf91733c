-- Question: which vehicles told where they were in this span, by name? Disabled ones are left out.
-- Parameters: $1 from, $2 until (timestamptz); $3 kinds and $4 ids of those that are asked for, or empty for all; $5 how many.
-- Example result: car | golf | Anna's Golf
-- One probe a vehicle, by vehicle and time.
SELECT v.kind, v.vehicle, r.name
FROM drover.vehicle v LEFT JOIN drover.registration r ON r.kind = v.kind AND r.vehicle = v.vehicle
WHERE r.is_disabled IS NOT TRUE
    AND (cardinality($3::text[]) = 0 OR EXISTS (SELECT FROM unnest($3::text[], $4::text[]) AS a(kind, vehicle) WHERE a.kind = v.kind AND a.vehicle = v.vehicle))
    AND CASE v.kind
        WHEN 'car' THEN EXISTS (SELECT FROM drover.vehicle_minute m WHERE m.vehicle = v.vehicle AND m.minute_at > $1::timestamptz - interval '1 minute' AND m.minute_at < $2)
        ELSE EXISTS (SELECT FROM drover.machine_reading m WHERE m.vehicle = v.vehicle AND m.read_at >= $1 AND m.read_at < $2 AND m.contact IS NULL
            AND m.latitude_deg IS NOT NULL AND m.longitude_deg IS NOT NULL) END
ORDER BY lower(coalesce(r.name, v.vehicle)), v.kind, v.vehicle
LIMIT $5
