-- Question: in which weeks of the year does a species fly, over all years and sites?
-- Parameters: $1 accepted name.
-- Example result: 23 | 41 | 88
SELECT iso_week, sum(sightings)::bigint AS sightings, sum(individuals)::bigint AS individuals
FROM drover.sighting_week WHERE species = $1 GROUP BY iso_week ORDER BY iso_week
