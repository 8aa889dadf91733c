-- Question: which machines' boxes said this serial number in their latest reading?
-- Parameters: $1 the number, in lower case; $2 how many; $3 how many machines are looked at.
-- Example result: 8R-0001 | Old Faithful | 8R Tractor
SELECT v.vehicle, r.name, coalesce(v.model, r.model) AS model
FROM (SELECT vehicle, model FROM drover.vehicle WHERE kind = 'machine' ORDER BY vehicle COLLATE "C" LIMIT $3) v
LEFT JOIN drover.registration r ON r.kind = 'machine' AND r.vehicle = v.vehicle
CROSS JOIN LATERAL (
    SELECT m.serial FROM drover.machine_reading m WHERE m.vehicle = v.vehicle AND m.contact IS NULL
    ORDER BY m.read_at DESC LIMIT 1) said
WHERE lower(said.serial) = $1
ORDER BY v.vehicle COLLATE "C"
LIMIT $2
