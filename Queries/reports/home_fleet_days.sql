-- Question: what did the cars of a large fleet do on each of these UTC days? From the table of days, since reading every trip would take
-- too long: discarded trips are in it, and `trips` counts cars.
-- Parameters: $1 start, $2 end (timestamptz); $3 how many cars are looked at.
-- Example result: 2026-11-24 | 27 | 143300000000 | 10800000 | 900000 | 14 | 9.8 | 120000000000
-- The fuel is that of analyst.fuel, written out: a call for each day of each car would take ten times as long.
SELECT to_char(d.day_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*) AS trips, sum(d.distance_mm)::bigint AS distance_mm,
       sum(d.integrated_ms)::bigint AS integrated_ms, sum(d.idle_ms)::bigint AS idle_ms,
       sum(d.sharp_accelerations + d.sharp_brakings) AS harsh, sum(d.fuel_l) AS fuel_l,
       coalesce(sum(d.distance_mm) FILTER (WHERE d.fuel_l IS NOT NULL), 0)::bigint AS fuel_distance_mm
FROM (
    SELECT w.*, CASE WHEN rate_l IS NOT NULL AND rate_ms >= 0.9 * longest THEN rate_l WHEN maf_l IS NOT NULL AND maf_ms >= 0.9 * longest THEN maf_l
                     WHEN calculated_l IS NOT NULL AND calculated_ms >= 0.9 * longest THEN calculated_l ELSE density_l END AS fuel_l
    FROM (
        SELECT m.*, greatest(CASE WHEN rate_l IS NOT NULL THEN rate_ms END, CASE WHEN maf_l IS NOT NULL THEN maf_ms END,
                             CASE WHEN calculated_l IS NOT NULL THEN calculated_ms END, CASE WHEN density_l IS NOT NULL THEN density_ms END) AS longest
        FROM (
            SELECT d.day_at, d.distance_mm, d.integrated_ms, d.idle_ms, d.sharp_accelerations, d.sharp_brakings,
                   CASE WHEN r.fuel IS DISTINCT FROM 'electric' THEN d.fuel_rate_ul / 1e6::float8 END AS rate_l, coalesce(d.fuel_rate_ms, 0) AS rate_ms,
                   coalesce(d.burnt_air_mg, d.air_mg) / r.air_mg_per_l AS maf_l, coalesce(d.air_ms, 0) AS maf_ms,
                   coalesce(d.burnt_air_calculated_mg, d.air_calculated_mg) / r.air_mg_per_l AS calculated_l, coalesce(d.air_calculated_ms, 0) AS calculated_ms,
                   d.burnt_air_per_litre_mg * (r.displacement_cc / 1000::float8 * coalesce(r.volumetric_efficiency_pct / 100, 0.8)) / r.air_mg_per_l AS density_l,
                   coalesce(d.air_per_litre_ms, 0) AS density_ms
            FROM (
                SELECT v.vehicle, r.fuel, r.displacement_cc, r.volumetric_efficiency_pct,
                       CASE coalesce(r.fuel, 'gasoline') WHEN 'gasoline' THEN 14.7 * 745 WHEN 'ethanol' THEN 9.0 * 789 WHEN 'methanol' THEN 6.47 * 791
                           WHEN 'lpg' THEN 15.6 * 538 WHEN 'cng' THEN 17.2 * 2567 / 3.785411784 END::float8 * 1000 AS air_mg_per_l
                FROM drover.vehicle v LEFT JOIN drover.registration r ON r.kind = 'car' AND r.vehicle = v.vehicle
                WHERE v.kind = 'car' ORDER BY v.vehicle LIMIT $3
            ) AS r
            JOIN LATERAL (SELECT * FROM drover.vehicle_day x WHERE x.vehicle = r.vehicle AND x.day_at >= $1 AND x.day_at < $2) AS d ON true
        ) AS m
    ) AS w
) AS d
GROUP BY 1
ORDER BY 1
