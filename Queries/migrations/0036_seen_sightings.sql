-- What people see of sightings and surveys in pages. Researchers and administrators see all as it is, with people; analysts all of it
-- with sensitive places blurred; surveyors what they handed in. What is asked of the views is ours alone (they are for drover_page,
-- no login of a person), so they are no barriers and indexes are used behind them.

-- `how`: 'exact', 'shown' (blurred) or 'own'.
CREATE FUNCTION drover.sees_sightings(how text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.sight_roles() && CASE how
        WHEN 'exact' THEN ARRAY['researcher', 'administrator']
        WHEN 'shown' THEN ARRAY['researcher', 'administrator', 'analyst']
        WHEN 'own' THEN ARRAY['surveyor'] END
$$;

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
GRANT SELECT ON drover.seen_surveyor, drover.taxon, drover.taxon_name TO drover_page;

-- What somebody handed in and what became of it, the newest first, before a receipt's number.
CREATE INDEX survey_receipt_by_account ON drover.survey_receipt (account, number);
CREATE FUNCTION drover.own_survey_receipts(before_number bigint, most int)
RETURNS TABLE (number bigint, site text, survey text, received_at timestamptz, is_logged boolean, is_set_aside boolean, version int,
    day text, sightings int, individuals bigint, needs_review boolean, weather_missing int)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 50 SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.number, r.site, r.survey, r.received_at, r.partition IS NOT NULL,
        EXISTS (SELECT FROM drover.rejected x
            WHERE x.topic = 'drover.sightings' AND x.partition = r.partition AND x.record_offset = r.record_offset),
        s.version, to_char(s.local_date, 'YYYY-MM-DD'), s.sightings, s.individuals, s.needs_review, s.weather_missing
    FROM drover.survey_receipt r
    LEFT JOIN drover.survey s ON s.site = r.site AND s.survey = r.survey AND s.account = r.account
    WHERE r.account = drover.sight_account() AND r.number < before_number
    ORDER BY r.number DESC LIMIT least(most, 200)
$$;

-- What a reviewer should see, with the reasons. A survey that a reviewer has been through is not asked for its places and months
-- again. NULL: of all sites.
CREATE FUNCTION drover.surveys_open(a_site text, most int)
RETURNS TABLE (site text, survey text, version int, day text, submitted_at timestamptz, reasons text)
LANGUAGE sql STABLE ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    WITH open AS (
        SELECT x.site, x.survey, x.given_name, x.review_reason AS reason FROM drover.survey s
        JOIN drover.sighting x ON x.site = s.site AND x.survey = s.survey AND x.needs_review
        WHERE s.needs_review AND (a_site IS NULL OR s.site = a_site)
        UNION
        SELECT x.site, x.survey, x.given_name, u.reason FROM drover.unusual_sightings(a_site) u
        JOIN drover.sighting x ON x.site = u.site AND x.species = u.species AND x.individuals > 0
            AND x.seen_at >= make_date(u.year, u.month, 1)::timestamptz - interval '2 days'
            AND x.seen_at < make_date(u.year, u.month, 1)::timestamptz + interval '33 days'
            AND x.local_date >= make_date(u.year, u.month, 1)
            AND x.local_date < make_date(u.year, u.month, 1) + interval '1 month'
        JOIN drover.survey s ON s.site = x.site AND s.survey = x.survey AND s.version = 0)
    SELECT s.site, s.survey, s.version, to_char(s.local_date, 'YYYY-MM-DD'), s.submitted_at,
        string_agg(o.given_name || ': ' || o.reason, '; ' ORDER BY o.given_name, o.reason)
    FROM open o JOIN drover.survey s ON s.site = o.site AND s.survey = o.survey
    GROUP BY s.site, s.survey, s.version, s.local_date, s.submitted_at ORDER BY s.submitted_at, s.site, s.survey
    LIMIT most
$$;
CREATE FUNCTION drover.surveys_to_review(a_site text, most int)
RETURNS TABLE (site text, survey text, version int, day text, submitted_at timestamptz, reasons text)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT drover.sees_sightings('exact') THEN RETURN; END IF;
    RETURN QUERY SELECT * FROM drover.surveys_open(a_site, least(most, 1000));
END $$;

-- The versions of a survey that one may see, each with who said it; the text of one of them (NULL: the newest).
CREATE FUNCTION drover.survey_versions_seen(a_site text, a_survey text, a_version int)
RETURNS TABLE (version int, record_id text, said_at timestamptz, said_by text, note text, body text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 5 SET search_path = pg_catalog, pg_temp AS $$
    SELECT v.version, v.record_id, v.said_at, v.said_by, v.note,
        CASE WHEN v.version = coalesce(a_version, max(v.version) OVER ()) THEN v.body END
    FROM drover.survey_version v
    WHERE v.site = a_site AND v.survey = a_survey
        AND (drover.sees_sightings('exact') OR (drover.sees_sightings('own') AND EXISTS (
            SELECT FROM drover.survey s WHERE s.site = a_site AND s.survey = a_survey AND s.account = drover.sight_account())))
    ORDER BY v.version
$$;

-- Reviewers see all photos of surveys, everybody else the own ones.
CREATE FUNCTION drover.survey_photo_seen(a_photo text) RETURNS TABLE (media_type text, content bytea)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.media_type, p.content FROM drover.survey_photo p
    WHERE p.photo = a_photo AND (drover.sees_sightings('exact')
        OR (drover.sees_sightings('own') AND p.account = drover.sight_account()))
$$;

REVOKE EXECUTE ON FUNCTION drover.sees_sightings(text), drover.own_survey_receipts(bigint, int), drover.surveys_open(text, int),
    drover.surveys_to_review(text, int), drover.survey_versions_seen(text, text, int), drover.survey_photo_seen(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.sees_sightings(text), drover.own_survey_receipts(bigint, int), drover.surveys_to_review(text, int),
    drover.survey_versions_seen(text, text, int), drover.survey_photo_seen(text) TO drover_page;
GRANT EXECUTE ON FUNCTION drover.surveys_open(text, int) TO drover_writer;
