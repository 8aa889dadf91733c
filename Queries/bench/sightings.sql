-- Twenty made-up sightings for each made-up survey of one year ($1), of 500 species, some far more frequent than others.
INSERT INTO drover.sighting (site, survey, sighting, seen_at, local_date, species, given_name, taxon, individuals, latitude_deg,
    longitude_deg, section, habitat, behaviour, certainty, light_lux, own_weather, temperature_c, wind_speed_mps, wind_direction_deg, cloud_cover_pct,
    weather_at, weather_source)
SELECT site, survey, k, at, at::date, 'Species ' || species, 'Species ' || species, species::text, 1 + h % 3,
    latitude_deg + (h % 1000) / 100000.0, longitude_deg + (h / 1000 % 1000) / 100000.0, (k % 10)::text, 'meadow',
    (ARRAY['nectaring', 'basking', 'patrolling', NULL])[1 + h % 4], 'certain',
    CASE WHEN h % 10 = 0 THEN 1000 + h % 9000 END, CASE WHEN h % 20 = 0 THEN '{"temperature_c": 21.5}' ELSE '{}' END::jsonb, 12 + h % 20, h % 9, h % 360, h % 101,
    date_trunc('hour', at), 'open-meteo'
FROM (
    SELECT s.site, s.survey, k, s.latitude_deg, s.longitude_deg, s.started_at + k * interval '2 minutes' AS at, h,
        floor(500 * (h / 1048576.0) ^ 3)::int AS species
    FROM drover.survey s, generate_series(0, 19) AS k,
        LATERAL (SELECT hashtextextended(s.survey || ' ' || s.site, k) & 1048575 AS h) AS chance
    WHERE s.started_at >= make_timestamptz($1::int, 1, 1, 0, 0, 0, 'UTC')
        AND s.started_at < make_timestamptz($1::int + 1, 1, 1, 0, 0, 0, 'UTC')
) AS seen
ORDER BY seen.at - k * interval '2 minutes', site, survey, k
