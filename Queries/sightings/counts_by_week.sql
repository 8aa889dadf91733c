-- Question: How many of a species were counted in each week of a year, and in how many sightings?
-- Parameter: species text: its accepted name
-- Parameter: year integer: of the ISO weeks
-- Plan: sighting_week_by_species
-- Chart: individuals by iso_week
-- Totals: sightings individuals
-- Example result: 38 | 7 | 14 | 2
SELECT iso_week, sum(sightings)::bigint AS sightings, sum(individuals)::bigint AS individuals, count(DISTINCT site) AS sites
FROM analyst.species_week
WHERE species = $1 AND iso_year = $2::int
GROUP BY iso_week
ORDER BY iso_week
