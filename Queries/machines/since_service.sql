-- Question: How many hours has each machine run since its last service?
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: machine_reading
-- Chart: since_service_h by vehicle
-- Example result: combine-1 |  | S690 Combine |  |  | 1247.83 | 
SELECT v.vehicle, v.name, v.model, s.done_at AS last_service_at, s.engine_hours_h AS at_service_h, r.engine_hours_h AS meter_h,
    r.engine_hours_h - s.engine_hours_h AS since_service_h
FROM analyst.vehicle v
LEFT JOIN LATERAL (SELECT x.done_at, x.engine_hours_h FROM analyst.service x WHERE x.vehicle = v.vehicle ORDER BY x.done_at DESC LIMIT 1) s ON true
LEFT JOIN LATERAL (SELECT x.engine_hours_h FROM analyst.machine_reading x
    WHERE x.vehicle = v.vehicle AND x.engine_hours_h IS NOT NULL ORDER BY x.read_at DESC LIMIT 1) r ON true
WHERE v.kind = 'machine' AND ($1::text = '' OR v.vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'machine' AND f.fleet = $1))
ORDER BY since_service_h DESC NULLS FIRST, v.vehicle
