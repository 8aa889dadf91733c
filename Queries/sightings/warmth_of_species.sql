-- Question: at which temperatures (bands of 5 °C, by their lower end) is a species seen?
-- Parameters: $1 accepted name.
-- Example result: 25 | 310 | 702
SELECT temperature_band::int AS from_c, sum(sightings)::bigint AS sightings, sum(individuals)::bigint AS individuals
FROM drover.sighting_week WHERE species = $1 AND temperature_band <> '' GROUP BY 1 ORDER BY 1
