-- Question: which machines have this as their serial number, Machine ID or name?
-- Parameters: $1 what somebody read or typed, in lower case; $2 how many.
-- Example result: 8R-0001 | Old Faithful | 8R Tractor
SELECT vehicle, r.name, coalesce(v.model, r.model) AS model
FROM (SELECT vehicle, model, machine_id FROM drover.vehicle WHERE kind = 'machine') v
FULL JOIN (SELECT vehicle, name, model FROM drover.registration WHERE kind = 'machine') r USING (vehicle)
WHERE lower(vehicle) = $1 OR lower(v.machine_id) = $1 OR lower(r.name) = $1
ORDER BY lower(vehicle) <> $1, vehicle COLLATE "C"
LIMIT $2
