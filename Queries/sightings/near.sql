-- Question: What is seen near a place in a month of the year?
-- Parameter: latitude number: degrees
-- Parameter: longitude number: degrees
-- Parameter: km number = 5: how far
-- Parameter: month integer: 1 to 12
-- Parameter: limit integer = 100: so many species
-- Plan: sighting
-- Chart: individuals by species
-- Totals: sightings individuals
-- Example result: Acraea anemosa | 6 | 18
SELECT species, count(*) AS sightings, sum(individuals)::bigint AS individuals
FROM analyst.sighting
WHERE latitude_deg BETWEEN $1::float8 - $3::float8 / 111.195 AND $1::float8 + $3::float8 / 111.195
    AND longitude_deg BETWEEN $2::float8 - $3::float8 / (111.195 * greatest(0.01, cosd($1::float8)))
        AND $2::float8 + $3::float8 / (111.195 * greatest(0.01, cosd($1::float8)))
    AND 6371.0088 * 2 * asin(least(1, sqrt(
        sind((latitude_deg - $1::float8) / 2) ^ 2
        + cosd($1::float8) * cosd(latitude_deg) * sind((longitude_deg - $2::float8) / 2) ^ 2))) <= $3::float8
    AND extract(month FROM local_date) = $4::int AND individuals > 0
GROUP BY species
ORDER BY individuals DESC, species
LIMIT $5::int
