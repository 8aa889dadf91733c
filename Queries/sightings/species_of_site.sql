-- Question: which species were found at a site, when first and last, and in what numbers?
-- Parameters: $1 site.
-- Example result: Danaus plexippus | 2020 | 2024 | 57 | 201
SELECT species, min(iso_year) AS first_year, max(iso_year) AS last_year, sum(sightings)::bigint AS sightings,
       sum(individuals)::bigint AS individuals
FROM drover.sighting_week WHERE site = $1 GROUP BY species ORDER BY individuals DESC, species
