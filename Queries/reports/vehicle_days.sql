-- Question: what did these vehicles do on each day? Of cars the way of each UTC day, of machines what the hour meter said at each of these
-- times.
-- Parameters: $1 kinds, $2 vehicles (of one length); $3 times: the days' starts, the first first, and now (timestamptz[]).
-- Example result: car | golf | 2026-11-24 00:00:00+00 | 41.2
-- By the tables' keys: 14 rows of a car's days; of a machine one probe for each time, not further back than a month before the first.
WITH asked AS MATERIALIZED (
    SELECT a.kind, a.vehicle FROM unnest($1::text[], $2::text[]) AS a(kind, vehicle) LIMIT 200
)
SELECT 'car' AS kind, a.vehicle, d.day_at AS at, d.distance_mm / 1e6::float8 AS value
FROM asked a
CROSS JOIN LATERAL (
    SELECT x.day_at, x.distance_mm FROM drover.vehicle_day x
    WHERE a.kind = 'car' AND x.vehicle = a.vehicle AND x.day_at >= ($3::timestamptz[])[1] AND x.day_at < ($3::timestamptz[])[cardinality($3::timestamptz[])]
    ORDER BY x.day_at LIMIT 40) AS d
UNION ALL
SELECT 'machine', a.vehicle, edge.at, told.engine_hours_h
FROM asked a
CROSS JOIN unnest(($3::timestamptz[])[1:40]) AS edge (at)
CROSS JOIN LATERAL (
    SELECT x.engine_hours_h FROM drover.machine_reading x
    WHERE a.kind = 'machine' AND x.vehicle = a.vehicle AND x.read_at < edge.at AND x.read_at >= ($3::timestamptz[])[1] - interval '31 days'
        AND x.engine_hours_h IS NOT NULL
    ORDER BY x.read_at DESC LIMIT 1) AS told
