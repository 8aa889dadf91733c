-- Question: which vehicles are there, and when were they last heard of?
-- Parameters: $1 how many.
SELECT v.vehicle, v.kind, v.model,
       coalesce((SELECT t.end_at FROM drover.trip t WHERE v.kind = 'car' AND t.vehicle = v.vehicle ORDER BY t.start_at DESC LIMIT 1),
                v.last_reading_at) AS last_reading_at,
       (SELECT count(*) FROM drover.alert a WHERE a.vehicle = v.vehicle AND a.state IN ('open', 'due_soon') AND v.kind = 'machine') AS open_alerts
FROM drover.vehicle v
ORDER BY v.kind, v.vehicle
LIMIT $1
