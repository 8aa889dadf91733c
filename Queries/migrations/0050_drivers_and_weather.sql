-- What was stored of a weather service that no reader takes stops no reader; and of two drives that hold a trip the one counts that began
-- later, as for alerts (docs/decisions/0021-drives.md). Apart from 0049: it waits for whoever reads the views, and workers must not wait with it.

-- JSON of one flat object that Drover has read before it was stored, so that only a number's size can keep jsonb from taking it:
-- NULL then. The door refuses such now (Sources/Wire/JSONNumber.swift).
CREATE FUNCTION drover.readable_json(a_text text) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN a_text !~ '[0-9][eE][+-]?0*[1-9][0-9]{3}' THEN a_text::jsonb END
$$;
-- One of its numbers; NULL for what is none, or too large for any weather.
CREATE FUNCTION drover.readable_number(a_value jsonb, a_key text) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN jsonb_typeof(a_value -> a_key) = 'number' AND abs((a_value ->> a_key)::numeric) < 10000000
        THEN round((a_value ->> a_key)::numeric, 9)::double precision END
$$;

-- As in 0026: of the answers that can be read the last one.
CREATE OR REPLACE FUNCTION drover.weather_of_trip(car text, from_at timestamptz)
RETURNS TABLE (weather text, weather_source text, weather_fetched_at timestamptz, weather_temperature_c double precision,
    weather_wind_speed_mps double precision, weather_wind_gust_mps double precision,
    weather_wind_direction_deg double precision, weather_cloud_cover_pct double precision,
    weather_precipitation_mm_per_h double precision, weather_humidity_pct double precision,
    weather_pressure_hpa double precision, weather_condition_code int)
LANGUAGE sql STABLE AS $$
    SELECT told.answer, (told.value ->> 'source') || ' ' || (told.value ->> 'model'), told.fetched_at,
           drover.readable_number(told.value, 'temperature_c'), drover.readable_number(told.value, 'wind_speed_mps'),
           drover.readable_number(told.value, 'wind_gust_mps'), drover.readable_number(told.value, 'wind_direction_deg'),
           drover.readable_number(told.value, 'cloud_cover_pct'), drover.readable_number(told.value, 'precipitation_mm_per_h'),
           drover.readable_number(told.value, 'humidity_pct'), drover.readable_number(told.value, 'pressure_hpa'),
           drover.readable_number(told.value, 'condition_code')::int
    FROM (SELECT) AS always
    LEFT JOIN LATERAL (
        SELECT w.answer, drover.readable_json(w.answer) AS value, w.fetched_at FROM drover.trip_start s
        JOIN drover.trip_weather w ON w.vehicle = s.vehicle AND w.hour_at = date_trunc('hour', s.start_at, 'UTC')
            AND drover.is_in_cell(s.latitude_deg, s.longitude_deg, w.cell_millideg, w.latitude_index, w.longitude_index)
        WHERE s.vehicle = $1 AND s.start_at = $2 AND drover.readable_json(w.answer) IS NOT NULL
        ORDER BY w.fetched_at DESC, w.answer COLLATE "C" DESC LIMIT 1) AS told ON true
$$;

-- 0031 wrote these functions' texts into both views.
DO $$
DECLARE
    seen_view text; definition text; by_end text := 'd.until_at DESC'; by_begin text := 'd.from_at DESC';
BEGIN
    definition := pg_get_functiondef('drover.trip_context(text, timestamptz, timestamptz)'::regprocedure);
    IF strpos(definition, by_end) = 0 THEN RAISE EXCEPTION 'drover.trip_context finds the driver in another way than 0017 made it'; END IF;
    EXECUTE replace(definition, by_end, by_begin);
    FOREACH seen_view IN ARRAY ARRAY['trip_now', 'live_trip_now'] LOOP
        definition := rtrim(pg_get_viewdef(format('drover.%I', seen_view)::regclass), '; ');
        definition := regexp_replace(definition, '\(w\.answer\)::jsonb AS value', 'drover.readable_json(w.answer) AS value', 'g');
        definition := regexp_replace(definition, '\(\(told\.value ->> ''(\w+)''::text\)\)::double precision', 'drover.readable_number(told.value, ''\1'')', 'g');
        definition := replace(definition, 'WHERE ((s.vehicle = t.vehicle) AND (s.start_at = t.start_at))',
            'WHERE s.vehicle = t.vehicle AND s.start_at = t.start_at AND drover.readable_json(w.answer) IS NOT NULL');
        IF strpos(definition, '(w.answer) IS NOT NULL') = 0 OR strpos(definition, '::jsonb') > 0 OR strpos(definition, '''condition_code''::text') > 0 THEN
            RAISE EXCEPTION 'drover.% reads the weather in another way than 0031 made it', seen_view;
        END IF;
        IF strpos(definition, by_end) = 0 THEN
            RAISE EXCEPTION 'drover.% finds the driver in another way than 0031 made it', seen_view;
        END IF;
        definition := replace(definition, by_end, by_begin);
        EXECUTE format('CREATE OR REPLACE VIEW drover.%I WITH (security_barrier) AS %s', seen_view, definition);
    END LOOP;
END $$;

-- As in 0027.
CREATE OR REPLACE FUNCTION drover.forwards_surveys(an_account text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce((
        SELECT drover.readable_json(s.settings) -> 'forward_surveys' = 'true' FROM drover.account_settings s
        WHERE s.account = an_account ORDER BY s.in_force_at DESC, s.record_id COLLATE "C" DESC LIMIT 1), false)
$$;
