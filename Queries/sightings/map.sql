-- Question: Where was a species seen in a year?
-- Parameter: species text: its accepted name
-- Parameter: year integer: of the calendar, UTC
-- Plan: sighting
-- Example result: -3.4 | 39.9 | 12 | 24
SELECT floor(latitude_deg * 10) / 10 AS south_deg, floor(longitude_deg * 10) / 10 AS west_deg, count(*) AS sightings,
    sum(individuals)::bigint AS individuals
FROM analyst.sighting
WHERE species = $1 AND seen_at >= make_timestamptz($2::int, 1, 1, 0, 0, 0, 'UTC')
    AND seen_at < make_timestamptz($2::int + 1, 1, 1, 0, 0, 0, 'UTC') AND latitude_deg IS NOT NULL AND individuals > 0
GROUP BY 1, 2
ORDER BY 1, 2
