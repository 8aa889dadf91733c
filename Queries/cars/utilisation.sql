-- Question: On how many days was each car driven, and for how long?
-- Parameter: from date: the first day
-- Parameter: to date: the last day
-- Parameter: fleet text = : a fleet's id; empty for all
-- Plan: vehicle_day
-- Chart: days_driven by vehicle
-- Example result: 2017-07-10_Seat_Leon_KA_KA_Stau.1hz |  | 0 | 59 | 0 |  | 
SELECT v.vehicle, v.name, count(d.day_at) AS days_driven, ($2::date - $1::date + 1) AS days, round(100.0 * count(d.day_at) / ($2::date - $1::date + 1), 1)::float8 AS driven_pct,
    round((avg(d.integrated_ms) / 3600000)::numeric, 2)::float8 AS h_per_day_driven, round((avg(d.distance_mm) / 1e6)::numeric, 1)::float8 AS km_per_day_driven
FROM analyst.vehicle v LEFT JOIN analyst.vehicle_day d ON d.vehicle = v.vehicle AND d.distance_mm > 0
    AND d.day_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND d.day_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
WHERE v.kind = 'car' AND ($3::text = '' OR v.vehicle IN (SELECT f.vehicle FROM analyst.fleet_vehicle f WHERE f.kind = 'car' AND f.fleet = $3))
GROUP BY v.vehicle, v.name
ORDER BY days_driven, v.vehicle
