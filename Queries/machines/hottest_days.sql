-- Question: How hot did each machine's coolant and hydraulic oil get, day by day?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: machine_reading
-- Example result: combine-1 | 2026-09-14 | 101.2 | 59.4 | 144
SELECT vehicle, to_char(read_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, max(coolant_c) AS coolant_max_c, max(hydraulic_oil_c) AS hydraulic_oil_max_c, count(*) AS readings
FROM analyst.machine_reading
WHERE is_answering IS NULL AND ($3::text = '' OR vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'machine' AND f.fleet = $3))
    AND read_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND read_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
GROUP BY 1, 2
ORDER BY 1, 2
