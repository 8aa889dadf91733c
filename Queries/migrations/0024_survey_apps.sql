-- What surveyors' apps hand in: receipts, photos, sessions of XML-RPC. The login that serves apps is in drover_survey: it may
-- call what stands here, and read no table at all.

DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_survey') THEN CREATE ROLE drover_survey NOLOGIN; END IF;
    -- Positions of sensitive species as they are, and people: for exports of those who may.
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_researcher') THEN CREATE ROLE drover_researcher NOLOGIN; END IF;
END $$;
GRANT USAGE ON SCHEMA drover TO drover_survey, drover_researcher;
GRANT EXECUTE ON FUNCTION drover.use_token(bytea) TO drover_survey;

-- A survey is promised here before it goes to the log, and marked when the broker has it: between the two a client that
-- got no answer hands it in again, and nobody hands in anything else under its id.
CREATE TABLE drover.survey_receipt (
    site          text        NOT NULL,
    survey        text        NOT NULL,
    number        bigint      GENERATED ALWAYS AS IDENTITY UNIQUE,
    digest        bytea       NOT NULL CHECK (octet_length(digest) = 32),  -- of its contents: Sources/Web/SurveyDesk.swift
    account       text        NOT NULL,
    token_id      text        NOT NULL,
    received_at   timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
    partition     int,                              -- where it stands on drover.sightings; NULL: nobody said yet
    record_offset bigint,
    PRIMARY KEY (site, survey)
);

-- Promises a survey, or finds the promise that is there. No row: the survey was stored without one, by an import.
CREATE FUNCTION drover.take_survey(a_site text, a_survey text, a_digest bytea, an_account text, a_token text)
RETURNS TABLE (number bigint, is_same boolean, is_logged boolean, received_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO drover.survey_receipt (site, survey, digest, account, token_id)
        SELECT a_site, a_survey, a_digest, an_account, a_token
        WHERE NOT EXISTS (SELECT FROM drover.survey s WHERE s.site = a_site AND s.survey = a_survey)
        ON CONFLICT (site, survey) DO NOTHING;
    RETURN QUERY SELECT r.number, r.digest = a_digest AND r.account = an_account, r.partition IS NOT NULL, r.received_at
        FROM drover.survey_receipt r WHERE r.site = a_site AND r.survey = a_survey;
END $$;

-- Of each the first place on the log is kept: it is the one that counts.
CREATE FUNCTION drover.surveys_logged(the_numbers bigint[], the_partitions int[], the_offsets bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.survey_receipt r SET partition = place.partition, record_offset = place.record_offset
        FROM (SELECT DISTINCT ON (number) * FROM unnest(the_numbers, the_partitions, the_offsets)
            AS place (number, partition, record_offset) ORDER BY number, record_offset) AS place
        WHERE r.number = place.number AND r.partition IS NULL;
END $$;

CREATE FUNCTION drover.survey_receipt_of(an_account text, a_site text, a_survey text)
RETURNS TABLE (number bigint, digest bytea, received_at timestamptz, is_logged boolean, is_set_aside boolean, version int,
    weather_missing int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.number, r.digest, r.received_at, r.partition IS NOT NULL,
        EXISTS (SELECT FROM drover.rejected x
            WHERE x.topic = 'drover.sightings' AND x.partition = r.partition AND x.record_offset = r.record_offset),
        s.version, s.weather_missing
    FROM drover.survey_receipt r LEFT JOIN drover.survey s ON s.site = r.site AND s.survey = r.survey
    WHERE r.account = an_account AND r.site = a_site AND r.survey = a_survey
$$;

-- Photos by the digest of what is kept of them. Nobody but the owner reads them through the database.
CREATE TABLE drover.survey_photo (
    photo      text        PRIMARY KEY CHECK (photo ~ '^[0-9a-f]{64}$'),
    account    text        NOT NULL,
    media_type text        NOT NULL CHECK (media_type IN ('image/jpeg', 'image/png', 'image/webp')),
    content    bytea       NOT NULL CHECK (octet_length(content) <= 5242880),
    kept_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX survey_photo_by_account ON drover.survey_photo (account, kept_at);
GRANT SELECT ON drover.survey_photo TO drover_researcher;

-- False: the account has handed in so many within a day that it must wait.
CREATE FUNCTION drover.keep_survey_photo(an_account text, a_photo text, a_type text, a_content bytea, most int)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM drover.survey_photo p WHERE p.photo = a_photo) THEN RETURN true; END IF;
    IF (SELECT count(*) FROM drover.survey_photo p
        WHERE p.account = an_account AND p.kept_at > clock_timestamp() - interval '1 day') >= most THEN RETURN false; END IF;
    INSERT INTO drover.survey_photo (photo, account, media_type, content) VALUES (a_photo, an_account, a_type, a_content)
        ON CONFLICT (photo) DO NOTHING;
    RETURN true;
END $$;

-- Sessions of XML-RPC clients, which stand for a token: digests on both sides.
CREATE TABLE drover.survey_session (
    session   bytea       PRIMARY KEY CHECK (octet_length(session) = 32),
    token     bytea       NOT NULL REFERENCES drover.token (digest) ON DELETE CASCADE,
    opened_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX survey_session_by_token ON drover.survey_session (token, opened_at);

-- Of a token the last twenty are good, for a day.
CREATE FUNCTION drover.open_survey_session(a_token bytea, a_session bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    DELETE FROM drover.survey_session s WHERE s.token = a_token AND (s.opened_at < clock_timestamp() - interval '1 day'
        OR s.session IN (SELECT o.session FROM drover.survey_session o WHERE o.token = a_token
            ORDER BY o.opened_at DESC OFFSET 19));
    INSERT INTO drover.survey_session (session, token) VALUES (a_session, a_token);
$$;
CREATE FUNCTION drover.survey_session_token(a_session bytea) RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.token FROM drover.survey_session s
    WHERE s.session = a_session AND s.opened_at > clock_timestamp() - interval '1 day'
$$;

-- Weather of a cell that somebody asked for before and that is still believed, hour by hour.
CREATE FUNCTION drover.weather_known(a_source text, a_cell int, a_latitude int, a_longitude int, the_first timestamptz,
    the_last timestamptz, a_time timestamptz)
RETURNS TABLE (answer text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT w.answer::text FROM drover.weather_hour w
    WHERE w.source = a_source AND w.cell_millideg = a_cell AND w.latitude_index = a_latitude
        AND w.longitude_index = a_longitude AND w.hour_at BETWEEN the_first AND the_last AND w.kept_until > a_time
    ORDER BY w.hour_at
$$;
REVOKE EXECUTE ON FUNCTION drover.weather_known(text, int, int, int, timestamptz, timestamptz, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.weather_known(text, int, int, int, timestamptz, timestamptz, timestamptz)
    TO drover_survey, drover_gateway, drover_writer;

REVOKE EXECUTE ON FUNCTION drover.take_survey(text, text, bytea, text, text), drover.surveys_logged(bigint[], int[], bigint[]),
    drover.survey_receipt_of(text, text, text), drover.keep_survey_photo(text, text, text, bytea, int),
    drover.open_survey_session(bytea, bytea), drover.survey_session_token(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.take_survey(text, text, bytea, text, text), drover.surveys_logged(bigint[], int[], bigint[]),
    drover.survey_receipt_of(text, text, text), drover.keep_survey_photo(text, text, text, bytea, int),
    drover.open_survey_session(bytea, bytea), drover.survey_session_token(bytea) TO drover_survey;

-- Names only: no counts, places or people.
GRANT EXECUTE ON FUNCTION drover.species_list(double precision, double precision, int) TO drover_survey;
