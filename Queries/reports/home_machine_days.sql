-- Question: which engine hours had these machines together run by the start of each of these days, and by now? A machine counts from its
-- first hours in the span on, so that one that is new adds none of its past.
-- Parameters: $1 days' starts, the first first, and now (timestamptz[]); $2 how many machines are looked at.
-- Example result: 2026-11-11 00:00:00+00 | 18240.2 | 12
WITH m AS MATERIALIZED (
    SELECT v.vehicle FROM drover.vehicle v LEFT JOIN drover.registration r USING (kind, vehicle)
    WHERE v.kind = 'machine' AND r.is_disabled IS NOT TRUE ORDER BY v.vehicle LIMIT $2
)
SELECT edge.at, sum(coalesce(told.hours, m.first_hours)) AS engine_h, count(*) AS machines
FROM (
    SELECT m.vehicle, coalesce(
        (SELECT x.engine_hours_h FROM drover.machine_reading x WHERE x.vehicle = m.vehicle AND x.read_at < ($1::timestamptz[])[1] AND x.engine_hours_h IS NOT NULL
         ORDER BY x.read_at DESC LIMIT 1),
        (SELECT x.engine_hours_h FROM drover.machine_reading x WHERE x.vehicle = m.vehicle AND x.read_at >= ($1::timestamptz[])[1] AND x.engine_hours_h IS NOT NULL
         ORDER BY x.read_at LIMIT 1)) AS first_hours
    FROM m
) AS m
CROSS JOIN unnest($1::timestamptz[]) AS edge (at)
LEFT JOIN LATERAL (
    SELECT x.engine_hours_h AS hours FROM drover.machine_reading x
    WHERE x.vehicle = m.vehicle AND x.read_at < edge.at AND x.engine_hours_h IS NOT NULL ORDER BY x.read_at DESC LIMIT 1) AS told ON true
WHERE m.first_hours IS NOT NULL
GROUP BY edge.at
ORDER BY edge.at
