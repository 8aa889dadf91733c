-- Surveys and sightings in views of the same columns, as they are and blurred: of a site that a sensitive species was seen at all positions
-- are the middle of a cell of 0.1°. A walk is an event (`SITE:SURVEY`).

-- `how`: 'exact', 'shown' (blurred) or 'own'.
CREATE FUNCTION drover.sees_sightings(how text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.sight_roles() && CASE how
        WHEN 'exact' THEN ARRAY['researcher', 'administrator']
        WHEN 'shown' THEN ARRAY['researcher', 'administrator', 'analyst']
        WHEN 'own' THEN ARRAY['surveyor'] END
$$;
REVOKE EXECUTE ON FUNCTION drover.sees_sightings(how text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.sees_sightings(how text) TO drover_page, drover_reader, drover_researcher, drover_sight;

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
GRANT SELECT ON drover.sighting_exact TO drover_researcher;

-- As before, but for what surveyors measured.
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
GRANT SELECT ON drover.sighting_shown TO drover_reader, drover_researcher;

-- Places and people's texts as they are.
CREATE VIEW drover.survey_exact AS
SELECT v.site || ':' || v.survey AS event, v.site, v.site_name, v.route, v.survey, v.version, v.started_at, v.stopped_at,
    v.utc_offset_min, v.local_date, v.latitude_deg, v.longitude_deg, NULL::int AS uncertainty_m,
    NULL::text AS generalization, v.line, v.distance_m, v.pace_mps, v.protocol, v.gate, v.gate_reasons, v.observers,
    v.expertise, v.comments, v.own_weather, v.service_weather, v.weather_missing, v.sightings, v.individuals,
    v.needs_review, v.others, v.is_blurred
FROM drover.survey v;
GRANT SELECT ON drover.survey_exact TO drover_researcher;

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
GRANT SELECT ON drover.survey_shown TO drover_reader, drover_researcher;

-- What people see of sightings and surveys in pages. What is asked of the views is ours alone (they are for drover_page,
-- no login of a person), so they are no barriers and indexes are used behind them.
-- The same columns in all of them: those that everybody may have.
DO $$
DECLARE
    part text; shown_columns text;
BEGIN
    FOREACH part IN ARRAY ARRAY['sighting', 'survey'] LOOP
        SELECT string_agg('e.' || quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO shown_columns FROM pg_attribute a
            WHERE a.attrelid = format('drover.%s_shown', part)::regclass AND a.attnum > 0 AND NOT a.attisdropped;
        EXECUTE format('CREATE VIEW drover.seen_%1$s_exact AS SELECT %2$s FROM drover.%1$s_exact e
            WHERE (SELECT drover.sees_sightings(''exact''))', part, shown_columns);
        EXECUTE format('CREATE VIEW drover.seen_%1$s_shown AS SELECT %2$s FROM drover.%1$s_shown e
            WHERE (SELECT drover.sees_sightings(''shown''))', part, shown_columns);
        EXECUTE format('CREATE VIEW drover.seen_%1$s_own AS SELECT %2$s FROM drover.%1$s_exact e
            WHERE (SELECT drover.sees_sightings(''own'')) AND (e.site, e.survey) IN (
                SELECT s.site, s.survey FROM drover.survey s WHERE s.account = (SELECT drover.sight_account()))', part, shown_columns);
        EXECUTE format('GRANT SELECT ON drover.seen_%1$s_exact, drover.seen_%1$s_shown, drover.seen_%1$s_own TO drover_page', part);
    END LOOP;
END $$;

CREATE VIEW drover.seen_surveyor AS SELECT p.* FROM drover.surveyor p
WHERE (SELECT drover.sees_sightings('exact'))
    OR ((SELECT drover.sees_sightings('own')) AND (p.site, p.survey) IN (
        SELECT s.site, s.survey FROM drover.survey s WHERE s.account = (SELECT drover.sight_account())));
GRANT SELECT ON drover.seen_surveyor TO drover_page;

-- Walks as reports count them: all of them, for who sees surveys as they are and for who runs the installation. No barrier, as the other seen_
-- views are none, since what is asked of it is ours alone: no login of a person may read it.
CREATE VIEW drover.seen_walk AS
SELECT s.site, s.survey, s.local_date, s.started_at, s.stopped_at, s.distance_m, s.gate, s.needs_review, s.sightings, s.individuals
FROM drover.survey s WHERE (SELECT drover.sees_all()) OR (SELECT drover.sees_sightings('exact'));
GRANT SELECT ON drover.seen_walk TO drover_page, drover_reader;
