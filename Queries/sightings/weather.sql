-- Question: In which weather was a species seen in a year?
-- Parameter: species text: its accepted name
-- Parameter: year integer: of the calendar, UTC
-- Plan: sighting
-- Chart: individuals by from_temperature_c
-- Totals: sightings individuals
-- Example result: 20 | 2 | 12 | 24 | 40
SELECT floor(temperature_c / 5)::int * 5 AS from_temperature_c, floor(wind_speed_mps / 2)::int * 2 AS from_wind_mps,
    count(*) AS sightings, sum(individuals)::bigint AS individuals, avg(cloud_cover_pct) AS mean_cloud_cover_pct
FROM analyst.sighting
WHERE species = $1 AND seen_at >= make_timestamptz($2::int, 1, 1, 0, 0, 0, 'UTC')
    AND seen_at < make_timestamptz($2::int + 1, 1, 1, 0, 0, 0, 'UTC')
GROUP BY 1, 2
ORDER BY 1, 2
