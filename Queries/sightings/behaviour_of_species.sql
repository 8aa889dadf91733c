-- Question: what do individuals of a species do when they are seen?
-- Parameters: $1 accepted name.
-- Example result: nectaring | 120 | 260
SELECT CASE behaviour WHEN '' THEN 'not noted' ELSE behaviour END AS behaviour, sum(sightings)::bigint AS sightings,
       sum(individuals)::bigint AS individuals
FROM drover.sighting_week WHERE species = $1 GROUP BY 1 ORDER BY sightings DESC, 1
