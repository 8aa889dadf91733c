-- Counts by week of one year's ($1) made-up sightings.
INSERT INTO drover.sighting_week (site, species, iso_year, iso_week, behaviour, temperature_band, sightings, individuals)
SELECT site, species, extract(isoyear FROM local_date)::int, extract(week FROM local_date)::int, coalesce(behaviour, ''),
    (floor(temperature_c / 5)::int * 5)::text, count(*), sum(individuals)
FROM drover.sighting
WHERE seen_at >= make_timestamptz($1::int, 1, 1, 0, 0, 0, 'UTC') AND seen_at < make_timestamptz($1::int + 1, 1, 1, 0, 0, 0, 'UTC')
GROUP BY 1, 2, 3, 4, 5, 6
