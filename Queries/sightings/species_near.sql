-- Question: which species were seen within so many kilometres of a place in a span of time?
-- Parameters: $1 latitude, $2 longitude, $3 kilometres, $4 from, $5 before.
-- Example result: Papilio demodocus | 41 | 57
WITH near AS (
    SELECT species, individuals, latitude_deg AS lat, longitude_deg AS lon FROM drover.sighting_shown
    WHERE seen_at >= $4::timestamptz AND seen_at < $5::timestamptz
        AND latitude_deg BETWEEN $1::float8 - $3::float8 / 111.19 AND $1::float8 + $3::float8 / 111.19)
SELECT species, count(*) AS sightings, sum(individuals)::bigint AS individuals FROM near
WHERE 2 * 6371.0088 * asin(least(1, sqrt(sin(radians(lat - $1::float8) / 2) ^ 2
    + cos(radians($1::float8)) * cos(radians(lat)) * sin(radians(lon - $2::float8) / 2) ^ 2))) <= $3::float8
GROUP BY species ORDER BY sightings DESC, species
