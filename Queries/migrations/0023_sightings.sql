-- Surveys and their sightings: what was handed in, every version of it, and what is looked for.
CREATE TABLE drover.survey (
    site            text             NOT NULL,
    survey          text             NOT NULL,      -- the client's id
    version         int              NOT NULL,      -- 0 as it was handed in, then one a review
    account         text             NOT NULL,
    submitted_by    text             NOT NULL,      -- token or person
    submitted_at    timestamptz      NOT NULL,
    site_name       text,
    route           text,
    started_at      timestamptz      NOT NULL,
    stopped_at      timestamptz      NOT NULL,
    utc_offset_min  int              NOT NULL,
    local_date      date             NOT NULL,      -- of the start, by the surveyors' clocks
    latitude_deg    double precision,               -- of the first place that it names; NULL: it names none
    longitude_deg   double precision,
    line            text,                           -- encoded polyline of the waypoints, 5 decimals
    distance_m      double precision,               -- by waypoints, else by sections
    pace_mps        double precision,
    protocol        text,
    gate            text             CHECK (gate IN ('within', 'outside', 'unknown')),  -- NULL: the protocol has no rules
    gate_reasons    text[]           NOT NULL DEFAULT '{}',
    observers       int,
    expertise       text,                           -- the highest of the surveyors
    comments        text,
    forward_to      text,
    own_weather     jsonb            NOT NULL DEFAULT '{}',
    service_weather jsonb            NOT NULL DEFAULT '[]',  -- by hour: Sources/Wire/WeatherAnswer.swift
    weather_missing int              NOT NULL,      -- hours of it that no service has told of yet
    needs_review    boolean          NOT NULL,      -- it holds a species that is not known
    sightings       int              NOT NULL,
    individuals     bigint           NOT NULL,
    revised_at      timestamptz,                    -- NULL: as handed in
    others          jsonb            NOT NULL DEFAULT '{}',
    topic_partition int              NOT NULL,
    PRIMARY KEY (site, survey)
);
CREATE INDEX survey_by_time ON drover.survey (started_at);
CREATE INDEX survey_by_account ON drover.survey (account, submitted_at);
CREATE INDEX survey_without_weather ON drover.survey (submitted_at, site, survey) WHERE weather_missing > 0;
CREATE INDEX survey_to_review ON drover.survey (submitted_at) WHERE needs_review;

-- Each version as it stands on the log. Personal data is in it: nobody but workers and those who may see it reads this.
CREATE TABLE drover.survey_version (
    site          text        NOT NULL,
    survey        text        NOT NULL,
    version       int         NOT NULL,
    record_id     text        NOT NULL,
    record_offset bigint      NOT NULL,             -- in the site's partition
    said_at       timestamptz NOT NULL,
    account       text        NOT NULL,
    said_by       text        NOT NULL,
    note          text,
    based_on      int,                              -- NULL: as it was handed in
    body          text        NOT NULL,             -- JSON to the letter: whether it comes again is a comparison
    PRIMARY KEY (site, survey, version)
);

-- Reviews that came before the version they were made from: logs can be merged.
CREATE TABLE drover.survey_waiting (
    site          text        NOT NULL,
    survey        text        NOT NULL,
    based_on      int         NOT NULL,
    record_id     text        NOT NULL,
    record_offset bigint      NOT NULL,
    said_at       timestamptz NOT NULL,
    account       text        NOT NULL,
    said_by       text        NOT NULL,
    note          text,
    body          text        NOT NULL,
    PRIMARY KEY (site, survey, based_on)
);

-- What services said of a survey's hours, also before the survey itself came.
CREATE TABLE drover.survey_weather (
    site    text        NOT NULL,
    survey  text        NOT NULL,
    hour_at timestamptz NOT NULL,
    answer  text        NOT NULL,                   -- Sources/Wire/WeatherAnswer.swift
    PRIMARY KEY (site, survey, hour_at)
);

-- People. Apart from all else, so that a role may see sightings and not who saw them.
CREATE TABLE drover.surveyor (
    site      text NOT NULL,
    survey    text NOT NULL,
    surveyor  int  NOT NULL,                        -- 0, 1 … as handed in
    role      text NOT NULL CHECK (role IN ('recorder', 'observer')),
    name      text NOT NULL,
    expertise text,
    mail      text,
    phone     text,
    PRIMARY KEY (site, survey, surveyor)
);
CREATE INDEX surveyor_by_name ON drover.surveyor (name);

-- One row a sighting of the newest version of its survey, by year. Weather is that of its place and hour.
CREATE TABLE drover.sighting (
    site                text             NOT NULL,
    survey              text             NOT NULL,
    sighting            int              NOT NULL,  -- 0, 1 … as handed in
    seen_at             timestamptz      NOT NULL,  -- its own time, else the survey's start
    local_date          date             NOT NULL,
    species             text             NOT NULL,  -- accepted name; as given where none is known
    given_name          text             NOT NULL,
    taxon               text,                       -- key of the taxonomy; NULL: not known
    individuals         int              NOT NULL CHECK (individuals >= 0),
    latitude_deg        double precision,
    longitude_deg       double precision,
    uncertainty_m       int,
    section             text,
    habitat             text,
    conditions          text,
    behaviour           text,
    certainty           text,
    life_stage          text,
    sex                 text,
    mark                text,
    light_lux           int,
    photos              text[]           NOT NULL DEFAULT '{}',
    animals             text,
    plants              text,
    comments            text,
    own_weather         jsonb            NOT NULL DEFAULT '{}',
    temperature_c       double precision,           -- of the service, and where it has it from
    wind_speed_mps      double precision,
    wind_direction_deg  double precision,
    cloud_cover_pct     double precision,
    weather_at          timestamptz,
    weather_source      text,
    is_sensitive        boolean          NOT NULL DEFAULT false,
    is_blurred          boolean          NOT NULL DEFAULT false,    -- a sensitive species was seen at its site
    needs_review        boolean          NOT NULL DEFAULT false,
    review_reason       text,
    others              jsonb            NOT NULL DEFAULT '{}',
    PRIMARY KEY (site, survey, sighting, seen_at)
) PARTITION BY RANGE (seen_at);
CREATE INDEX sighting_by_species ON drover.sighting (species, seen_at);
CREATE INDEX sighting_by_site ON drover.sighting (site, seen_at);
CREATE INDEX sighting_by_place ON drover.sighting (latitude_deg, longitude_deg);
CREATE INDEX sighting_by_time ON drover.sighting USING brin (seen_at);

-- Makes the partition of a year (UTC) where it is missing.
CREATE FUNCTION drover.make_sighting_year(a_year int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF a_year NOT BETWEEN 1700 AND 2200 THEN RAISE EXCEPTION 'no survey is of the year %', a_year; END IF;
    IF to_regclass(format('drover.sighting_%s', a_year)) IS NOT NULL THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('drover.sighting_year', 0));
    EXECUTE format(
        'CREATE TABLE IF NOT EXISTS drover.sighting_%s PARTITION OF drover.sighting FOR VALUES FROM (%L) TO (%L)', a_year,
        make_timestamptz(a_year, 1, 1, 0, 0, 0, 'UTC'), make_timestamptz(a_year + 1, 1, 1, 0, 0, 0, 'UTC'));
END $$;
REVOKE EXECUTE ON FUNCTION drover.make_sighting_year(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.make_sighting_year(int) TO drover_writer;

-- Counts by species, site, week of the year (ISO 8601), behaviour and band of temperature: made again from the sightings
-- whenever one of them changes. A text that is not given is ''.
CREATE TABLE drover.sighting_week (
    site             text   NOT NULL,
    species          text   NOT NULL,
    iso_year         int    NOT NULL,
    iso_week         int    NOT NULL CHECK (iso_week BETWEEN 1 AND 53),
    behaviour        text   NOT NULL,
    temperature_band text   NOT NULL,               -- of 5 °C, by its lower end: `15`; '' while it is not known
    sightings        bigint NOT NULL,
    individuals      bigint NOT NULL,
    PRIMARY KEY (site, species, iso_year, iso_week, behaviour, temperature_band)
);
CREATE INDEX sighting_week_by_species ON drover.sighting_week (species, iso_year, iso_week);

-- Which species were seen at a site in a month, by cells of one degree; made again like the weeks.
CREATE TABLE drover.species_season (
    site           text   NOT NULL,
    latitude_cell  int    NOT NULL,                 -- floor of the degrees
    longitude_cell int    NOT NULL,
    year           int    NOT NULL,
    month          int    NOT NULL CHECK (month BETWEEN 1 AND 12),
    species        text   NOT NULL,
    surveys        bigint NOT NULL CHECK (surveys > 0),
    PRIMARY KEY (site, latitude_cell, longitude_cell, year, month, species)
);
CREATE INDEX species_season_by_name ON drover.species_season (species, latitude_cell, longitude_cell, month);

-- Species, their synonyms and common names; written by `drover taxonomy load`.
CREATE TABLE drover.taxon (
    taxon        text    PRIMARY KEY,
    name         text    NOT NULL UNIQUE,           -- accepted scientific name
    rank         text    NOT NULL,
    parent       text,
    authorship   text,
    is_sensitive boolean NOT NULL DEFAULT false,    -- where it lives is nobody's business
    source       text    NOT NULL
);
CREATE TABLE drover.taxon_name (
    name  text NOT NULL,                            -- folded: lower case, single blanks
    taxon text NOT NULL REFERENCES drover.taxon ON DELETE CASCADE,
    kind  text NOT NULL CHECK (kind IN ('accepted', 'synonym', 'common')),
    given text NOT NULL,                            -- as it is written
    PRIMARY KEY (name, taxon)
);

-- What may be met at a place in a month: names that were seen within a cell of one degree and its neighbours, in that month
-- and the ones beside it; where nothing was, all of the taxonomy. Names that nobody knows may be anything, and where
-- sensitive species live is nobody's business: neither is told.
CREATE FUNCTION drover.species_list(a_latitude double precision, a_longitude double precision, a_month int)
RETURNS TABLE (species text) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    cell_latitude int;
    cell_longitude int;
BEGIN
    IF a_latitude IS NULL OR a_longitude IS NULL OR a_month IS NULL OR NOT a_latitude BETWEEN -90 AND 90
        OR NOT a_longitude BETWEEN -180 AND 180 OR NOT a_month BETWEEN 1 AND 12 THEN
        RAISE EXCEPTION 'no such place or month' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    cell_latitude := floor(a_latitude)::int;
    cell_longitude := floor(a_longitude)::int;
    RETURN QUERY
        SELECT t.name FROM drover.taxon t
        WHERE NOT t.is_sensitive AND EXISTS (
            SELECT FROM drover.species_season s
            WHERE s.species = t.name
                AND s.latitude_cell IN (cell_latitude - 1, cell_latitude, cell_latitude + 1)
                -- 180° east and west are one meridian.
                AND s.longitude_cell IN ((cell_longitude + 179 + 360) % 360 - 180, (cell_longitude + 180) % 360 - 180,
                    (cell_longitude + 181) % 360 - 180)
                AND s.month IN ((a_month + 10) % 12 + 1, a_month, a_month % 12 + 1))
        ORDER BY t.name COLLATE "C" LIMIT 5000;
    IF NOT FOUND THEN
        RETURN QUERY
            SELECT t.name FROM drover.taxon t WHERE NOT t.is_sensitive AND t.rank IN ('species', 'subspecies')
            ORDER BY t.name COLLATE "C" LIMIT 5000;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION drover.species_list(double precision, double precision, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.species_list(double precision, double precision, int) TO drover_api;

GRANT SELECT, INSERT, UPDATE, DELETE ON drover.survey, drover.survey_version, drover.survey_waiting,
    drover.survey_weather, drover.surveyor, drover.sighting, drover.sighting_week, drover.species_season, drover.taxon,
    drover.taxon_name TO drover_writer;
-- Whose weather has to be asked for.
GRANT SELECT (site, survey, account, submitted_at, started_at, stopped_at, latitude_deg, longitude_deg, weather_missing)
    ON drover.survey TO drover_gateway;
GRANT SELECT (site, survey, hour_at) ON drover.survey_weather TO drover_gateway;
-- Analysts see no people; positions of sensitive species only blurred, through the view.
GRANT SELECT ON drover.survey, drover.sighting_week, drover.species_season, drover.taxon, drover.taxon_name TO drover_reader;
