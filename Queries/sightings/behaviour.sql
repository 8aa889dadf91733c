-- Question: What was a species seen doing, and at which temperatures?
-- Parameter: species text: its accepted name
-- Plan: sighting_week_by_species
-- Chart: individuals by behaviour
-- Totals: sightings individuals
-- Example result:  | 20 | 12 | 24
SELECT behaviour, temperature_band AS from_temperature_c, sum(sightings)::bigint AS sightings, sum(individuals)::bigint AS individuals
FROM analyst.species_week
WHERE species = $1
GROUP BY behaviour, temperature_band
ORDER BY behaviour, nullif(temperature_band, '')::int NULLS LAST
