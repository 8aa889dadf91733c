-- Made-up surveys of one year, for `drover bench sightings`. $1 the year, $2 how many, $3 of how many sites.
INSERT INTO drover.survey (site, survey, version, account, submitted_by, submitted_at, started_at, stopped_at, utc_offset_min,
    local_date, latitude_deg, longitude_deg, distance_m, pace_mps, protocol, gate, observers, own_weather, service_weather,
    weather_missing, needs_review, sightings, individuals, topic_partition)
SELECT 'site-' || site, 'walk-' || $1::int || '-' || n, 0, 'bench', 'bench', at + interval '6 hours', at, at + interval '40 minutes', 0,
    at::date, -60 + site % 121, -170 + (site * 7) % 341, 1500, 0.6, 'pollard-walk',
    CASE WHEN n % 5 = 0 THEN 'outside' ELSE 'within' END, 1,
    CASE WHEN n % 3 = 0 THEN jsonb_build_object('temperature_c', 15 + n % 10, 'sun_pct', n % 101) ELSE '{}' END,
    jsonb_build_array(jsonb_build_object('source', 'open-meteo', 'model', 'archive', 'ts',
        extract(epoch FROM date_trunc('hour', at))::bigint * 1000, 'temperature_c', 12 + n % 20, 'wind_speed_mps', n % 9,
        'wind_direction_deg', n % 360, 'cloud_cover_pct', n % 101)),
    0, n % 1000 = 0, 20, 40, site % 12
FROM (
    SELECT n, (hashint8extended(n, $1::int) & 1073741823) % $3::int AS site,
        make_timestamptz($1::int, 4, 1, 9, 0, 0, 'UTC')
            + ((hashint8extended(n, 1000 + $1::int) & 1073741823) % (183 * 24 * 60)) * interval '1 minute' AS at
    FROM generate_series(1, $2::bigint) AS n
) AS walk
-- Rows come to the tables about as walks are made.
ORDER BY walk.at
