-- Surveys: what surveyors' apps hand in, and versions that a collector is to get. The login that serves apps is in drover_survey: it may
-- call what stands here, and read no table at all.

-- People. Apart from all else, so that a role may see sightings and not who saw them.
CREATE TABLE drover.surveyor (
    site text NOT NULL,
    survey text NOT NULL,
    surveyor integer NOT NULL,  -- 0, 1 … as handed in
    role text NOT NULL,
    name text NOT NULL,
    expertise text,
    mail text,
    phone text,
    CONSTRAINT surveyor_pkey PRIMARY KEY (site, survey, surveyor),
    CONSTRAINT surveyor_role_check CHECK ((role = ANY (ARRAY['recorder'::text, 'observer'::text])))
);
CREATE INDEX surveyor_by_name ON drover.surveyor (name);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.surveyor TO drover_writer;
GRANT SELECT ON drover.surveyor TO drover_researcher;

-- Surveys and their sightings: what was handed in, every version of it, and what is looked for.
CREATE TABLE drover.survey (
    site text NOT NULL,
    survey text NOT NULL,  -- the client's id
    version integer NOT NULL,  -- 0 as it was handed in, then one a review
    account text NOT NULL,
    submitted_by text NOT NULL,  -- token or person
    submitted_at timestamptz NOT NULL,
    site_name text,
    route text,
    started_at timestamptz NOT NULL,
    stopped_at timestamptz NOT NULL,
    utc_offset_min integer NOT NULL,
    local_date date NOT NULL,  -- of the start, by the surveyors' clocks
    latitude_deg double precision,  -- of the first place that it names; NULL: it names none
    longitude_deg double precision,
    line text,  -- encoded polyline of the waypoints, 5 decimals
    distance_m double precision,  -- by waypoints, else by sections
    pace_mps double precision,
    protocol text,
    gate text,  -- NULL: the protocol has no rules
    gate_reasons text[] DEFAULT '{}'::text[] NOT NULL,
    observers integer,
    expertise text,  -- the highest of the surveyors
    comments text,
    forward_to text,
    own_weather jsonb DEFAULT '{}'::jsonb NOT NULL,
    service_weather jsonb DEFAULT '[]'::jsonb NOT NULL,  -- by hour: Sources/Domain/Codecs/Services/WeatherAnswer.swift
    weather_missing integer NOT NULL,  -- hours of it that no service has told of yet
    needs_review boolean NOT NULL,  -- it holds a species that is not known
    sightings integer NOT NULL,
    individuals bigint NOT NULL,
    revised_at timestamptz,  -- NULL: as handed in
    others jsonb DEFAULT '{}'::jsonb NOT NULL,
    topic_partition integer NOT NULL,
    is_blurred boolean DEFAULT false NOT NULL,  -- A sensitive species was seen at its site: kept here as it is with sightings, since a walk may have none.
    CONSTRAINT survey_pkey PRIMARY KEY (site, survey),
    CONSTRAINT survey_gate_check CHECK ((gate = ANY (ARRAY['within'::text, 'outside'::text, 'unknown'::text])))
);
CREATE INDEX survey_blurred ON drover.survey (site) WHERE is_blurred;
CREATE INDEX survey_by_account ON drover.survey (account, submitted_at);
CREATE INDEX survey_by_time ON drover.survey (started_at);
CREATE INDEX survey_to_review ON drover.survey (submitted_at) WHERE needs_review;
CREATE INDEX survey_without_weather ON drover.survey (submitted_at, site, survey) WHERE (weather_missing > 0);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.survey TO drover_writer;
GRANT SELECT ON drover.survey TO drover_researcher;
GRANT SELECT (site, survey, account, submitted_at, started_at, stopped_at, latitude_deg, longitude_deg, weather_missing) ON drover.survey TO drover_gateway;
GRANT SELECT (site, survey, version, account, submitted_at, started_at, stopped_at, utc_offset_min, local_date, distance_m, pace_mps, protocol, gate, gate_reasons, observers, expertise, weather_missing, needs_review, sightings, individuals, revised_at, topic_partition) ON drover.survey TO drover_reader;

-- Each version as it stands on the log. Personal data is in it: nobody but workers and those who may see it reads this.
CREATE TABLE drover.survey_version (
    site text NOT NULL,
    survey text NOT NULL,
    version integer NOT NULL,
    record_id text NOT NULL,
    record_offset bigint NOT NULL,  -- in the site's partition
    said_at timestamptz NOT NULL,
    account text NOT NULL,
    said_by text NOT NULL,
    note text,
    based_on integer,  -- NULL: as it was handed in
    body text NOT NULL,  -- JSON to the letter: whether it comes again is a comparison
    CONSTRAINT survey_version_pkey PRIMARY KEY (site, survey, version)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.survey_version TO drover_writer;

-- Reviews that came before the version they were made from: logs can be merged.
CREATE TABLE drover.survey_waiting (
    site text NOT NULL,
    survey text NOT NULL,
    based_on integer NOT NULL,
    record_id text NOT NULL,
    record_offset bigint NOT NULL,
    said_at timestamptz NOT NULL,
    account text NOT NULL,
    said_by text NOT NULL,
    note text,
    body text NOT NULL,
    CONSTRAINT survey_waiting_pkey PRIMARY KEY (site, survey, based_on)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.survey_waiting TO drover_writer;

-- A survey is promised here before it goes to the log, and marked when the broker has it: between the two a client that
-- got no answer hands it in again, and nobody hands in anything else under its id.
CREATE TABLE drover.survey_receipt (
    site text NOT NULL,
    survey text NOT NULL,
    number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    digest bytea NOT NULL,  -- of its contents (`SurveyReceiver`)
    account text NOT NULL,
    token_id text NOT NULL,
    received_at timestamptz DEFAULT date_trunc('milliseconds'::text, clock_timestamp()) NOT NULL,
    partition integer,  -- where it stands on drover.sightings; NULL: nobody said yet
    record_offset bigint,
    CONSTRAINT survey_receipt_pkey PRIMARY KEY (site, survey),
    CONSTRAINT survey_receipt_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT survey_receipt_number_key UNIQUE (number)
);
-- What somebody handed in and what became of it, the newest first, before a receipt's number.
CREATE INDEX survey_receipt_by_account ON drover.survey_receipt (account, number);

-- Sessions of XML-RPC clients, which stand for a token: digests on both sides.
CREATE TABLE drover.survey_session (
    session bytea NOT NULL,
    token bytea NOT NULL,
    opened_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT survey_session_pkey PRIMARY KEY (session),
    CONSTRAINT survey_session_session_check CHECK ((octet_length(session) = 32)),
    CONSTRAINT survey_session_token_fkey FOREIGN KEY (token) REFERENCES drover.token(digest) ON DELETE CASCADE
);
CREATE INDEX survey_session_by_token ON drover.survey_session (token, opened_at);

-- Photos by the digest of what is kept of them. Nobody but the owner reads them through the database.
CREATE TABLE drover.survey_photo (
    photo text NOT NULL,
    account text NOT NULL,
    media_type text NOT NULL,
    content bytea NOT NULL,
    kept_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT survey_photo_pkey PRIMARY KEY (photo),
    CONSTRAINT survey_photo_content_check CHECK ((octet_length(content) <= 5242880)),
    CONSTRAINT survey_photo_media_type_check CHECK ((media_type = ANY (ARRAY['image/jpeg'::text, 'image/png'::text, 'image/webp'::text]))),
    CONSTRAINT survey_photo_photo_check CHECK ((photo ~ '^[0-9a-f]{64}$'::text))
);
CREATE INDEX survey_photo_by_account ON drover.survey_photo (account, kept_at);
GRANT SELECT ON drover.survey_photo TO drover_researcher;

CREATE TABLE drover.forward (
    site text NOT NULL,
    survey text NOT NULL,
    version integer NOT NULL,
    account text NOT NULL,  -- that handed the survey in
    state text DEFAULT 'waiting'::text NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    try_at timestamptz DEFAULT now() NOT NULL,  -- not before
    made_at timestamptz DEFAULT now() NOT NULL,
    settled_at timestamptz,
    status integer,  -- of the last answer (HTTP); NULL: there was none
    answer text,  -- the collector's words, or what went wrong
    CONSTRAINT forward_pkey PRIMARY KEY (site, survey, version),
    CONSTRAINT forward_answer_check CHECK ((octet_length(answer) <= 500)),
    CONSTRAINT forward_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'sent'::text, 'refused'::text, 'stopped'::text])))
);
CREATE INDEX forward_by_state ON drover.forward (state, made_at);
CREATE INDEX forward_by_time ON drover.forward (try_at) WHERE (state = 'waiting'::text);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.forward TO drover_writer;
GRANT SELECT (site, survey, version) ON drover.forward TO drover_relay;
GRANT SELECT (tries), UPDATE (tries) ON drover.forward TO drover_relay;
GRANT UPDATE (state, try_at, settled_at, status, answer) ON drover.forward TO drover_relay;

-- Until when the collector wants to be left alone, for all relays.
CREATE TABLE drover.forward_pause (
    is_only boolean DEFAULT true NOT NULL,
    until_at timestamptz NOT NULL,
    CONSTRAINT forward_pause_pkey PRIMARY KEY (is_only),
    CONSTRAINT forward_pause_is_only_check CHECK (is_only)
);
GRANT INSERT, SELECT, UPDATE ON drover.forward_pause TO drover_relay;

-- Of a token the last twenty are good, for a day.
CREATE FUNCTION drover.open_survey_session(a_token bytea, a_session bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    DELETE FROM drover.survey_session s WHERE s.token = a_token AND (s.opened_at < clock_timestamp() - interval '1 day'
        OR s.session IN (SELECT o.session FROM drover.survey_session o WHERE o.token = a_token
            ORDER BY o.opened_at DESC OFFSET 19));
    INSERT INTO drover.survey_session (session, token) VALUES (a_session, a_token);
$$;
REVOKE EXECUTE ON FUNCTION drover.open_survey_session(a_token bytea, a_session bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.open_survey_session(a_token bytea, a_session bytea) TO drover_survey;

CREATE FUNCTION drover.survey_session_token(a_session bytea) RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.token FROM drover.survey_session s
    WHERE s.session = a_session AND s.opened_at > clock_timestamp() - interval '1 day'
$$;
REVOKE EXECUTE ON FUNCTION drover.survey_session_token(a_session bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.survey_session_token(a_session bytea) TO drover_survey;

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
REVOKE EXECUTE ON FUNCTION drover.take_survey(a_site text, a_survey text, a_digest bytea, an_account text, a_token text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.take_survey(a_site text, a_survey text, a_digest bytea, an_account text, a_token text) TO drover_survey;

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
REVOKE EXECUTE ON FUNCTION drover.survey_receipt_of(an_account text, a_site text, a_survey text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.survey_receipt_of(an_account text, a_site text, a_survey text) TO drover_survey;

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
REVOKE EXECUTE ON FUNCTION drover.own_survey_receipts(before_number bigint, most integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.own_survey_receipts(before_number bigint, most integer) TO drover_page;

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
REVOKE EXECUTE ON FUNCTION drover.keep_survey_photo(an_account text, a_photo text, a_type text, a_content bytea, most integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.keep_survey_photo(an_account text, a_photo text, a_type text, a_content bytea, most integer) TO drover_survey;

-- Reviewers see all photos of surveys, everybody else the own ones.
CREATE FUNCTION drover.survey_photo_seen(a_photo text) RETURNS TABLE (media_type text, content bytea)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.media_type, p.content FROM drover.survey_photo p
    WHERE p.photo = a_photo AND (drover.sees_sightings('exact')
        OR (drover.sees_sightings('own') AND p.account = drover.sight_account()))
$$;
REVOKE EXECUTE ON FUNCTION drover.survey_photo_seen(a_photo text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.survey_photo_seen(a_photo text) TO drover_page;

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
REVOKE EXECUTE ON FUNCTION drover.survey_versions_seen(a_site text, a_survey text, a_version integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.survey_versions_seen(a_site text, a_survey text, a_version integer) TO drover_page;

-- Of each the first place on the log is kept: it is the one that counts.
CREATE FUNCTION drover.surveys_logged(the_numbers bigint[], the_partitions int[], the_offsets bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.survey_receipt r SET partition = place.partition, record_offset = place.record_offset
        FROM (SELECT DISTINCT ON (number) * FROM unnest(the_numbers, the_partitions, the_offsets)
            AS place (number, partition, record_offset) ORDER BY number, record_offset) AS place
        WHERE r.number = place.number AND r.partition IS NULL;
END $$;
REVOKE EXECUTE ON FUNCTION drover.surveys_logged(the_numbers bigint[], the_partitions integer[], the_offsets bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.surveys_logged(the_numbers bigint[], the_partitions integer[], the_offsets bigint[]) TO drover_survey;

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
REVOKE EXECUTE ON FUNCTION drover.surveys_open(a_site text, most integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.surveys_open(a_site text, most integer) TO drover_writer;

CREATE FUNCTION drover.surveys_to_review(a_site text, most int)
RETURNS TABLE (site text, survey text, version int, day text, submitted_at timestamptz, reasons text)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT drover.sees_sightings('exact') THEN RETURN; END IF;
    RETURN QUERY SELECT * FROM drover.surveys_open(a_site, least(most, 1000));
END $$;
REVOKE EXECUTE ON FUNCTION drover.surveys_to_review(a_site text, most integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.surveys_to_review(a_site text, most integer) TO drover_page;

-- Whether an account passes surveys on now: its latest settings. Standard: no.
CREATE FUNCTION drover.forwards_surveys(an_account text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce((
        SELECT drover.readable_json(s.settings) -> 'forward_surveys' = 'true' FROM drover.account_settings s
        WHERE s.account = an_account ORDER BY s.in_force_at DESC, s.record_id COLLATE "C" DESC LIMIT 1), false)
$$;
REVOKE EXECUTE ON FUNCTION drover.forwards_surveys(an_account text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.forwards_surveys(an_account text) TO drover_writer;

-- The next version, held until the end of the transaction. The people of the survey are not in what it returns.
CREATE FUNCTION drover.next_forward()
RETURNS TABLE (site text, survey text, version int, tries int, is_wanted boolean, is_sensitive boolean, body text)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH next AS (
        SELECT f.site, f.survey, f.version, f.account, f.tries FROM drover.forward f
        WHERE f.state = 'waiting' AND f.try_at <= now()
            AND NOT EXISTS (SELECT FROM drover.forward_pause p WHERE p.until_at > now())
            AND NOT EXISTS (SELECT FROM drover.forward o
                WHERE o.site = f.site AND o.survey = f.survey AND o.version < f.version AND o.state = 'waiting')
        ORDER BY f.try_at, f.site, f.survey LIMIT 1 FOR UPDATE OF f SKIP LOCKED
    )
    SELECT n.site, n.survey, n.version, n.tries, drover.forwards_surveys(n.account),
        EXISTS (SELECT FROM drover.sighting s WHERE s.site = n.site AND s.is_sensitive),
        (v.body::jsonb - 'surveyors')::text
    FROM next n LEFT JOIN drover.survey_version v
        ON v.site = n.site AND v.survey = n.survey AND v.version = n.version
$$;
REVOKE EXECUTE ON FUNCTION drover.next_forward() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.next_forward() TO drover_relay;
