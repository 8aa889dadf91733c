-- Walks leave the database, too, also those that found nothing; and the sites that they are walks of.

-- A sensitive species was seen at its site: kept here as it is with sightings, since a walk may have none.
ALTER TABLE drover.survey ADD COLUMN is_blurred boolean NOT NULL DEFAULT false;
UPDATE drover.survey v SET is_blurred = true
WHERE EXISTS (SELECT FROM drover.sighting s WHERE s.site = v.site AND s.is_sensitive);
CREATE INDEX survey_blurred ON drover.survey (site) WHERE is_blurred;

-- As it was, with the milliseconds where there are some (an export goes on behind a row by its time), and written so that it
-- becomes a part of the query that calls it: neither STRICT nor more than its parts are.
CREATE OR REPLACE FUNCTION drover.local_time(a_time timestamptz, an_offset_min int) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT to_char(a_time AT TIME ZONE 'UTC' + make_interval(mins => an_offset_min),
            CASE WHEN date_trunc('second', a_time) = a_time THEN 'YYYY-MM-DD"T"HH24:MI:SS'
                ELSE 'YYYY-MM-DD"T"HH24:MI:SS.MS' END)
        || CASE WHEN an_offset_min < 0 THEN '-' ELSE '+' END
        || to_char(make_interval(mins => abs(an_offset_min)), 'HH24:MI')
$$;

-- What surveyors measured without fields that Drover does not know: these may say anything, also where it was.
CREATE FUNCTION drover.known_weather(a_weather jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(a_weather)
    WHERE key IN ('temperature_c', 'wind_speed_mps', 'wind_beaufort', 'wind_direction_deg', 'cloud_cover_pct', 'sun_pct', 'rain')
$$;

-- Places and people's texts as they are.
CREATE VIEW drover.survey_exact AS
SELECT v.site || ':' || v.survey AS event, v.site, v.site_name, v.route, v.survey, v.version, v.started_at, v.stopped_at,
    v.utc_offset_min, v.local_date, v.latitude_deg, v.longitude_deg, NULL::int AS uncertainty_m,
    NULL::text AS generalization, v.line, v.distance_m, v.pace_mps, v.protocol, v.gate, v.gate_reasons, v.observers,
    v.expertise, v.comments, v.own_weather, v.service_weather, v.weather_missing, v.sightings, v.individuals,
    v.needs_review, v.others, v.is_blurred
FROM drover.survey v;

-- For everybody: as with sightings. Where the weather service was asked tells of the place as well.
CREATE VIEW drover.survey_shown AS
SELECT e.event, e.site, CASE WHEN NOT e.is_blurred THEN e.site_name END AS site_name,
    CASE WHEN NOT e.is_blurred THEN e.route END AS route, e.survey, e.version, e.started_at, e.stopped_at, e.utc_offset_min,
    e.local_date, CASE WHEN e.is_blurred THEN drover.cell_latitude(e.latitude_deg) ELSE e.latitude_deg END AS latitude_deg,
    CASE WHEN e.is_blurred THEN drover.cell_longitude(e.longitude_deg) ELSE e.longitude_deg END AS longitude_deg,
    CASE WHEN e.is_blurred THEN drover.cell_radius_m(e.latitude_deg) END AS uncertainty_m,
    CASE WHEN e.is_blurred THEN 'Coordinates are the middle of a cell of 0.1 degrees.' END AS generalization,
    CASE WHEN NOT e.is_blurred THEN e.line END AS line, e.distance_m, e.pace_mps, e.protocol, e.gate, e.gate_reasons,
    e.observers, e.expertise, CASE WHEN NOT e.is_blurred THEN e.comments END AS comments,
    CASE WHEN e.is_blurred THEN drover.known_weather(e.own_weather) ELSE e.own_weather END AS own_weather,
    CASE WHEN e.is_blurred THEN (
            SELECT coalesce(jsonb_agg(hour - '{latitude,longitude,cell_deg}'::text[] ORDER BY number), '[]')
            FROM jsonb_array_elements(e.service_weather) WITH ORDINALITY AS told(hour, number))
        ELSE e.service_weather END AS service_weather,
    e.weather_missing, e.sightings, e.individuals, e.needs_review, CASE WHEN e.is_blurred THEN '{}' ELSE e.others END AS others,
    e.is_blurred
FROM drover.survey_exact e;

-- As before, but for what surveyors measured.
CREATE OR REPLACE VIEW drover.sighting_shown AS
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
    CASE WHEN NOT e.is_blurred THEN e.comments END AS comments,
    CASE WHEN e.is_blurred THEN drover.known_weather(e.own_weather) ELSE e.own_weather END AS own_weather, e.temperature_c, e.wind_speed_mps,
    e.wind_direction_deg, e.cloud_cover_pct, e.weather_at, e.weather_source, e.protocol, e.gate, e.observers, e.distance_m,
    e.needs_review, e.is_sensitive, CASE WHEN e.is_blurred THEN '{}' ELSE e.others END AS others,
    CASE WHEN e.is_blurred THEN drover.cell_latitude(e.event_latitude_deg) ELSE e.event_latitude_deg END AS event_latitude_deg,
    CASE WHEN e.is_blurred THEN drover.cell_longitude(e.event_longitude_deg) ELSE e.event_longitude_deg END
        AS event_longitude_deg,
    CASE WHEN NOT e.is_blurred THEN e.event_comments END AS event_comments,
    CASE WHEN e.is_blurred THEN '{}' ELSE e.event_others END AS event_others
FROM drover.sighting_exact e;

GRANT SELECT ON drover.survey_shown TO drover_reader;
GRANT SELECT ON drover.survey_shown, drover.survey_exact TO drover_researcher;
DROP FUNCTION drover.sighting_years();
REVOKE SELECT (own_weather, service_weather) ON drover.survey FROM drover_reader;
