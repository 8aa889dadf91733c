-- What leaves the database of sightings, in two views of the same columns. In both a walk is an event (`SITE:SURVEY`).

-- The middle of a cell of 0.1°; the north pole belongs to the last row, 180° east and west are one meridian. All as
-- Sources/Surveys/BlurredPlace.swift has it.
CREATE FUNCTION drover.cell_latitude(a_latitude double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT (least(floor(round((a_latitude * 1e7)::numeric) / 1000000), 899) / 10 + 0.05)::double precision
$$;
CREATE FUNCTION drover.cell_longitude(a_longitude double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT (CASE WHEN a_longitude >= 180 THEN -1800 ELSE floor(round((a_longitude * 1e7)::numeric) / 1000000) END / 10
        + 0.05)::double precision
$$;
-- No place of the cell is further from its middle, in whole metres (haversine; the corner nearer to the equator).
CREATE FUNCTION drover.cell_radius_m(a_latitude double precision) RETURNS int
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT ceil(2 * 6371008.8 * asin(sqrt(sin(radians(0.025)) ^ 2
        + cos(radians(middle)) * cos(radians(middle - sign(middle) * 0.05)) * sin(radians(0.025)) ^ 2)))::int
    FROM (SELECT drover.cell_latitude(a_latitude) AS middle) cell
$$;

-- A time by the clocks of those who noted it: 2020-05-01T13:00:00+03:00.
CREATE FUNCTION drover.local_time(a_time timestamptz, an_offset_min int) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT to_char(a_time AT TIME ZONE 'UTC' + make_interval(mins => an_offset_min), 'YYYY-MM-DD"T"HH24:MI:SS')
        || CASE WHEN an_offset_min < 0 THEN '-' ELSE '+' END
        || to_char(make_interval(mins => abs(an_offset_min)), 'HH24:MI')
$$;

-- Where others may know a sighting to be, kept beside where it was: what they look for by place must find it by an index.
ALTER TABLE drover.sighting
    ADD COLUMN shown_latitude_deg double precision
        GENERATED ALWAYS AS (CASE WHEN is_blurred THEN drover.cell_latitude(latitude_deg) ELSE latitude_deg END) STORED,
    ADD COLUMN shown_longitude_deg double precision
        GENERATED ALWAYS AS (CASE WHEN is_blurred THEN drover.cell_longitude(longitude_deg) ELSE longitude_deg END) STORED;
CREATE INDEX sighting_sensitive ON drover.sighting (site) WHERE is_sensitive;
CREATE INDEX sighting_blurred ON drover.sighting (site) WHERE is_blurred;
CREATE INDEX sighting_by_shown_place ON drover.sighting (shown_latitude_deg, shown_longitude_deg);

-- Positions and people's texts as they are.
CREATE VIEW drover.sighting_exact AS
SELECT s.site || ':' || s.survey || ':' || s.sighting AS occurrence, s.site || ':' || s.survey AS event,
    s.site, v.site_name, v.route, s.survey, v.version, s.sighting, s.seen_at, s.local_date, v.started_at, v.stopped_at,
    v.utc_offset_min, s.species, s.given_name, s.taxon, s.individuals, s.latitude_deg, s.longitude_deg, s.uncertainty_m,
    NULL::text AS generalization, s.section, s.habitat, s.conditions, s.behaviour, s.certainty, s.life_stage, s.sex, s.mark,
    s.light_lux, s.photos, s.animals, s.plants, s.comments, s.own_weather, s.temperature_c, s.wind_speed_mps,
    s.wind_direction_deg, s.cloud_cover_pct, s.weather_at, s.weather_source, v.protocol, v.gate, v.observers, v.distance_m,
    s.needs_review, s.is_sensitive, s.is_blurred, s.others, v.latitude_deg AS event_latitude_deg, v.longitude_deg AS event_longitude_deg,
    v.comments AS event_comments, v.others AS event_others, s.shown_latitude_deg, s.shown_longitude_deg
-- Each has its survey; a join to the left is left out where nothing of the survey is asked for.
FROM drover.sighting s LEFT JOIN drover.survey v ON v.site = s.site AND v.survey = s.survey;

-- For everybody: of a site that a sensitive species was seen at all positions are the middle of a cell of 0.1°, and what tells
-- where it lies is left out. The site's other walks would give the place away.
CREATE VIEW drover.sighting_shown AS
SELECT e.occurrence, e.event, e.site, CASE WHEN NOT e.is_blurred THEN e.site_name END AS site_name,
    CASE WHEN NOT e.is_blurred THEN e.route END AS route, e.survey, e.version, e.sighting, e.seen_at, e.local_date,
    e.started_at, e.stopped_at, e.utc_offset_min, e.species, e.given_name, e.taxon, e.individuals,
    e.shown_latitude_deg AS latitude_deg, e.shown_longitude_deg AS longitude_deg,
    CASE WHEN e.is_blurred THEN greatest(drover.cell_radius_m(e.latitude_deg), e.uncertainty_m) ELSE e.uncertainty_m END
        AS uncertainty_m,
    CASE WHEN e.is_blurred THEN 'Coordinates are the middle of a cell of 0.1 degrees.' END AS generalization,
    CASE WHEN NOT e.is_blurred THEN e.section END AS section, CASE WHEN NOT e.is_blurred THEN e.habitat END AS habitat,
    CASE WHEN NOT e.is_blurred THEN e.conditions END AS conditions, e.behaviour, e.certainty, e.life_stage, e.sex, e.mark,
    e.light_lux, CASE WHEN e.is_blurred THEN '{}' ELSE e.photos END AS photos,
    CASE WHEN NOT e.is_blurred THEN e.animals END AS animals, CASE WHEN NOT e.is_blurred THEN e.plants END AS plants,
    CASE WHEN NOT e.is_blurred THEN e.comments END AS comments, e.own_weather, e.temperature_c, e.wind_speed_mps,
    e.wind_direction_deg, e.cloud_cover_pct, e.weather_at, e.weather_source, e.protocol, e.gate, e.observers, e.distance_m,
    e.needs_review, e.is_sensitive, CASE WHEN e.is_blurred THEN '{}' ELSE e.others END AS others,
    CASE WHEN e.is_blurred THEN drover.cell_latitude(e.event_latitude_deg) ELSE e.event_latitude_deg END AS event_latitude_deg,
    CASE WHEN e.is_blurred THEN drover.cell_longitude(e.event_longitude_deg) ELSE e.event_longitude_deg END
        AS event_longitude_deg,
    CASE WHEN NOT e.is_blurred THEN e.event_comments END AS event_comments,
    CASE WHEN e.is_blurred THEN '{}' ELSE e.event_others END AS event_others
FROM drover.sighting_exact e;

-- Which years there are; what is looked for in them is found window by window.
CREATE FUNCTION drover.sighting_years() RETURNS TABLE (year int)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT right(c.relname, 4)::int FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'drover.sighting'::regclass AND c.relname ~ '^sighting_[0-9]{4}$' ORDER BY 1
$$;

GRANT SELECT ON drover.sighting_shown TO drover_reader;
GRANT SELECT ON drover.sighting, drover.sighting_shown, drover.sighting_exact, drover.survey, drover.surveyor
    TO drover_researcher;
-- A survey's row tells where it went, whatever it met there: analysts see the walk without its places.
REVOKE SELECT ON drover.survey FROM drover_reader;
GRANT SELECT (site, survey, version, account, submitted_at, started_at, stopped_at, utc_offset_min, local_date, distance_m,
    pace_mps, protocol, gate, gate_reasons, observers, expertise, own_weather, service_weather, weather_missing, needs_review,
    sightings, individuals, revised_at, topic_partition) ON drover.survey TO drover_reader;
