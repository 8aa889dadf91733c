-- The views of `analyst`, whose rows are held together before a question's own conditions are: OFFSET 0 lets none of these pass it. So what a
-- question does, and how long it takes, follows from rows that its account sees. Those of which everybody sees all or nothing
-- need no such fence, and have their indexes (docs/decisions/0027-questions.md).

CREATE SCHEMA IF NOT EXISTS own;
COMMENT ON SCHEMA own IS 'The views of analyst for questions of people (drover query, /query): docs/analyst.md.';
GRANT USAGE ON SCHEMA own TO drover_query;

DO $$
DECLARE
    a_view text; fence text;
BEGIN
    FOR a_view IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'analyst'::regnamespace AND c.relkind = 'v' ORDER BY 1 LOOP
        fence := CASE
            WHEN a_view IN ('survey', 'sighting', 'species_week', 'tour_day', 'tour_waypoint') THEN ''
            -- By the index of vehicles, so that others' rows are not even looked at.
            WHEN a_view IN ('vehicle_minute', 'vehicle_day', 'trip') THEN
                'WHERE a.vehicle = ANY (ARRAY(SELECT v.vehicle FROM drover.vehicle v WHERE v.kind = ''car'')) OFFSET 0'
            WHEN a_view = 'machine_reading' THEN
                'WHERE a.vehicle = ANY (ARRAY(SELECT v.vehicle FROM drover.vehicle v WHERE v.kind = ''machine'')) OFFSET 0'
            ELSE 'OFFSET 0' END;
        EXECUTE format('CREATE VIEW own.%I WITH (security_invoker) AS SELECT * FROM analyst.%1$I a %s', a_view, fence);
        EXECUTE format('GRANT SELECT ON own.%I TO drover_query', a_view);
    END LOOP;
END $$;
