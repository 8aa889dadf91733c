-- Question: how often and in what numbers was a species seen, year by year (of ISO weeks)?
-- Parameters: $1 accepted name.
-- Example result: 2021 | 312 | 1290 | 4
SELECT iso_year, sum(sightings)::bigint AS sightings, sum(individuals)::bigint AS individuals, count(DISTINCT site) AS sites
FROM drover.sighting_week WHERE species = $1 GROUP BY iso_year ORDER BY iso_year
