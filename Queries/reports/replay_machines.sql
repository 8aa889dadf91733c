-- Question: where were these machines in a span? Of each piece of it the last place.
-- Parameters: $1 vehicles; $2 from, $3 until (timestamptz); $4 length of a piece in seconds; $5 how many places.
-- Example result: 8R-0001 | 2026-11-24 15:07:00+00 | 41.6008 | -93.6017
SELECT a.vehicle, p.read_at, p.latitude_deg, p.longitude_deg
FROM unnest($1::text[]) AS a(vehicle)
CROSS JOIN LATERAL (
    SELECT DISTINCT ON (piece_at) date_bin($4::bigint * interval '1 second', x.read_at, $2::timestamptz) AS piece_at, x.read_at, x.latitude_deg,
           x.longitude_deg
    FROM drover.machine_reading x
    WHERE x.vehicle = a.vehicle AND x.read_at >= $2 AND x.read_at < $3 AND x.contact IS NULL
        AND x.latitude_deg IS NOT NULL AND x.longitude_deg IS NOT NULL
    ORDER BY piece_at, x.read_at DESC) AS p
ORDER BY a.vehicle, p.read_at
LIMIT $5
