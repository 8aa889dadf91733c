-- Question: which vehicles are there, and when were they last heard of? Disabled ones come last.
-- Parameters: $1 how many.
-- Those that report and are not disabled are read in the order of the index; the others are few.
SELECT vehicle, kind, name, model, is_disabled,
       CASE kind
           WHEN 'car' THEN (SELECT t.end_at FROM drover.trip t WHERE t.vehicle = found.vehicle ORDER BY t.start_at DESC LIMIT 1)
           -- Not what the gateway says of its box.
           ELSE (SELECT m.read_at FROM drover.machine_reading m WHERE m.vehicle = found.vehicle AND m.contact IS NULL
                 ORDER BY m.read_at DESC LIMIT 1)
       END AS last_reading_at,
       (SELECT count(*) FROM drover.alert a WHERE a.vehicle = found.vehicle AND a.kind = found.kind AND a.state IN ('open', 'due_soon')) AS open_alerts
FROM (
    (SELECT vehicle, kind, r.name, coalesce(v.model, r.model) AS model, false AS is_disabled
     FROM drover.vehicle v LEFT JOIN drover.registration r USING (kind, vehicle)
     WHERE r.is_disabled IS NOT TRUE ORDER BY kind, vehicle LIMIT $1)
    UNION ALL
    (SELECT vehicle, kind, r.name, coalesce(v.model, r.model), r.is_disabled
     FROM drover.registration r LEFT JOIN drover.vehicle v USING (kind, vehicle)
     WHERE r.is_disabled OR v.vehicle IS NULL ORDER BY is_disabled, kind, vehicle LIMIT $1)
) AS found
ORDER BY is_disabled, kind, vehicle
LIMIT $1
