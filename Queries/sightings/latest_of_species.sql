-- Question: Where was a species seen last?
-- Parameter: species text: its accepted name
-- Parameter: limit integer = 100: so many sightings
-- Plan: sighting
-- Example result: 2026-09-25T00:01:00Z | site-1 | 2 | -3.3781 | 39.9891 | 
SELECT seen_at, site, individuals, latitude_deg, longitude_deg, generalization
FROM analyst.sighting
WHERE species = $1 AND individuals > 0
ORDER BY seen_at DESC
LIMIT $2::int
