-- Sightings and the species of them.

-- One row a sighting of the newest version of its survey, by year. Weather is that of its place and hour.
CREATE TABLE drover.sighting (
    site text NOT NULL,
    survey text NOT NULL,
    sighting integer NOT NULL,  -- 0, 1 … as handed in
    seen_at timestamptz NOT NULL,  -- its own time, else the survey's start
    local_date date NOT NULL,
    species text NOT NULL,  -- accepted name; as given where none is known
    given_name text NOT NULL,
    taxon text,  -- key of the taxonomy; NULL: not known
    individuals integer NOT NULL,
    latitude_deg double precision,
    longitude_deg double precision,
    uncertainty_m integer,
    section text,
    habitat text,
    conditions text,
    behaviour text,
    certainty text,
    life_stage text,
    sex text,
    mark text,
    light_lux integer,
    photos text[] DEFAULT '{}'::text[] NOT NULL,
    animals text,
    plants text,
    comments text,
    own_weather jsonb DEFAULT '{}'::jsonb NOT NULL,
    temperature_c double precision,  -- of the service, and where it has it from
    wind_speed_mps double precision,
    wind_direction_deg double precision,
    cloud_cover_pct double precision,
    weather_at timestamptz,
    weather_source text,
    is_sensitive boolean DEFAULT false NOT NULL,
    is_blurred boolean DEFAULT false NOT NULL,  -- a sensitive species was seen at its site
    needs_review boolean DEFAULT false NOT NULL,
    review_reason text,
    others jsonb DEFAULT '{}'::jsonb NOT NULL,
    shown_latitude_deg double precision GENERATED ALWAYS AS (CASE WHEN is_blurred THEN drover.cell_latitude(latitude_deg) ELSE latitude_deg END) STORED,
    shown_longitude_deg double precision GENERATED ALWAYS AS (CASE WHEN is_blurred THEN drover.cell_longitude(longitude_deg) ELSE longitude_deg END) STORED,
    CONSTRAINT sighting_pkey PRIMARY KEY (site, survey, sighting, seen_at),
    CONSTRAINT sighting_individuals_check CHECK ((individuals >= 0))
)
PARTITION BY RANGE (seen_at);
CREATE INDEX sighting_blurred ON drover.sighting (site) WHERE is_blurred;
CREATE INDEX sighting_by_place ON drover.sighting (latitude_deg, longitude_deg);
CREATE INDEX sighting_by_shown_place ON drover.sighting (shown_latitude_deg, shown_longitude_deg);
CREATE INDEX sighting_by_site ON drover.sighting (site, seen_at);
CREATE INDEX sighting_by_species ON drover.sighting (species, seen_at);
CREATE INDEX sighting_by_time ON drover.sighting USING brin (seen_at);
CREATE INDEX sighting_sensitive ON drover.sighting (site) WHERE is_sensitive;
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.sighting TO drover_writer;
GRANT SELECT ON drover.sighting TO drover_researcher;

-- Counts by species, site, week of the year (ISO 8601), behaviour and band of temperature: made again from the sightings
-- whenever one of them changes. A text that is not given is ''.
CREATE TABLE drover.sighting_week (
    site text NOT NULL,
    species text NOT NULL,
    iso_year integer NOT NULL,
    iso_week integer NOT NULL,
    behaviour text NOT NULL,
    temperature_band text NOT NULL,  -- of 5 °C, by its lower end: `15`; '' while it is not known
    sightings bigint NOT NULL,
    individuals bigint NOT NULL,
    CONSTRAINT sighting_week_pkey PRIMARY KEY (site, species, iso_year, iso_week, behaviour, temperature_band),
    CONSTRAINT sighting_week_iso_week_check CHECK (((iso_week >= 1) AND (iso_week <= 53)))
);
CREATE INDEX sighting_week_by_species ON drover.sighting_week (species, iso_year, iso_week);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.sighting_week TO drover_writer;
GRANT SELECT ON drover.sighting_week TO drover_reader, drover_researcher;

-- Which species were seen at a site in a month, by cells of one degree; made again like the weeks.
CREATE TABLE drover.species_season (
    site text NOT NULL,
    latitude_cell integer NOT NULL,  -- floor of the degrees
    longitude_cell integer NOT NULL,
    year integer NOT NULL,
    month integer NOT NULL,
    species text NOT NULL,
    surveys bigint NOT NULL,
    CONSTRAINT species_season_pkey PRIMARY KEY (site, latitude_cell, longitude_cell, year, month, species),
    CONSTRAINT species_season_month_check CHECK (((month >= 1) AND (month <= 12))),
    CONSTRAINT species_season_surveys_check CHECK ((surveys > 0))
);
-- Out of place and out of season: what a reviewer should look at because the deployment's own records never had it there.
-- Nothing of it is stored: each new survey changes what is unusual of the others (docs/decisions/0014).
CREATE INDEX species_season_by_cell ON drover.species_season (latitude_cell, longitude_cell, month);
CREATE INDEX species_season_by_name ON drover.species_season (species, latitude_cell, longitude_cell, month);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.species_season TO drover_writer;
GRANT SELECT ON drover.species_season TO drover_reader;

-- Species, their synonyms and common names; written by `drover taxonomy load`.
CREATE TABLE drover.taxon (
    taxon text NOT NULL,
    name text NOT NULL,  -- accepted scientific name
    rank text NOT NULL,
    parent text,
    authorship text,
    is_sensitive boolean DEFAULT false NOT NULL,  -- where it lives is nobody's business
    source text NOT NULL,
    CONSTRAINT taxon_pkey PRIMARY KEY (taxon),
    CONSTRAINT taxon_name_key UNIQUE (name)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.taxon TO drover_writer;
GRANT SELECT ON drover.taxon TO drover_page, drover_reader, drover_relay;

CREATE TABLE drover.taxon_name (
    name text NOT NULL,  -- folded: lower case, single blanks
    taxon text NOT NULL,
    kind text NOT NULL,
    given text NOT NULL,  -- as it is written
    CONSTRAINT taxon_name_pkey PRIMARY KEY (name, taxon),
    CONSTRAINT taxon_name_kind_check CHECK ((kind = ANY (ARRAY['accepted'::text, 'synonym'::text, 'common'::text]))),
    CONSTRAINT taxon_name_taxon_fkey FOREIGN KEY (taxon) REFERENCES drover.taxon(taxon) ON DELETE CASCADE
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.taxon_name TO drover_writer;
GRANT SELECT ON drover.taxon_name TO drover_page, drover_reader, drover_relay;

-- Makes the partition of a year (UTC) where it is missing. As months are made (drover.make_period): to be attached, it waits for nobody who
-- reads. CREATE TABLE … PARTITION OF waited for every open transaction of an analyst, and all surveys of the partition with it.
CREATE FUNCTION drover.make_sighting_year(a_year int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made text := format('sighting_%s', a_year);
    from_at timestamptz; to_at timestamptz;
BEGIN
    IF a_year NOT BETWEEN 1700 AND 2200 THEN RAISE EXCEPTION 'no survey is of the year %', a_year; END IF;
    IF to_regclass(format('drover.%I', made)) IS NOT NULL THEN RETURN; END IF;
    PERFORM drover.take_turn('drover.sighting_year');
    IF to_regclass(format('drover.%I', made)) IS NOT NULL THEN RETURN; END IF;
    from_at := make_timestamptz(a_year, 1, 1, 0, 0, 0, 'UTC');
    to_at := make_timestamptz(a_year + 1, 1, 1, 0, 0, 0, 'UTC');
    EXECUTE format('CREATE TABLE drover.%1$I (LIKE drover.sighting INCLUDING ALL, CONSTRAINT period CHECK (seen_at >= %2$L AND seen_at < %3$L))',
        made, from_at, to_at);
    EXECUTE format('ALTER TABLE drover.sighting ATTACH PARTITION drover.%I FOR VALUES FROM (%L) TO (%L)', made, from_at, to_at);
    EXECUTE format('ALTER TABLE drover.%I DROP CONSTRAINT period', made);
END $$;
REVOKE EXECUTE ON FUNCTION drover.make_sighting_year(a_year integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.make_sighting_year(a_year integer) TO drover_writer;

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
REVOKE EXECUTE ON FUNCTION drover.species_list(a_latitude double precision, a_longitude double precision, a_month integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.species_list(a_latitude double precision, a_longitude double precision, a_month integer) TO drover_api, drover_survey;

-- A species that one survey met, where no other survey met it within three degrees in that month and the ones beside it:
--   out of place   no other met it within three degrees at all, and 300 records of any species are from there;
--   out of season  others met it there 20 times, and 300 records of any species are from there in these months.
-- A record is a species that a survey met in a cell of one degree. Rows of one site's month never speak for each other: they
-- can be of one survey. NULL: all sites.
CREATE FUNCTION drover.unusual_sightings(a_site text)
RETURNS TABLE (site text, year int, month int, species text, reason text)
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
    WITH met AS (
        -- Of one site each is a row; of all sites what two met in one cell and month is left out first.
        SELECT s.site, s.latitude_cell, s.longitude_cell, s.year, s.month, s.species FROM drover.species_season s
        WHERE a_site IS NOT NULL AND s.site = a_site AND s.surveys = 1
        UNION ALL
        SELECT min(s.site), s.latitude_cell, s.longitude_cell, min(s.year), s.month, s.species FROM drover.species_season s
        WHERE a_site IS NULL GROUP BY s.species, s.latitude_cell, s.longitude_cell, s.month HAVING sum(s.surveys) = 1
    ), alone AS (
        SELECT met.*, ARRAY[(met.month + 10) % 12 + 1, met.month, met.month % 12 + 1] AS months
        FROM met LEFT JOIN LATERAL (
            SELECT true AS is_met FROM drover.species_season o
            WHERE o.species = met.species AND o.latitude_cell BETWEEN met.latitude_cell - 3 AND met.latitude_cell + 3
                -- 180° east and west are one meridian.
                AND (o.longitude_cell - met.longitude_cell + 540) % 360 BETWEEN 177 AND 183
                AND o.month IN ((met.month + 10) % 12 + 1, met.month, met.month % 12 + 1)
                AND (o.site, o.year, o.month) <> (met.site, met.year, met.month)
            LIMIT 1) other ON true
        WHERE other.is_met IS NULL
    ), judged AS MATERIALIZED (
        SELECT alone.*, others.records = 0 AS is_place
        FROM alone, LATERAL (
            SELECT coalesce(sum(surveys), 0) AS records FROM (
                SELECT o.surveys FROM drover.species_season o
                WHERE o.species = alone.species
                    AND o.latitude_cell BETWEEN alone.latitude_cell - 3 AND alone.latitude_cell + 3
                    AND (o.longitude_cell - alone.longitude_cell + 540) % 360 BETWEEN 177 AND 183
                    AND (o.site, o.year, o.month) <> (alone.site, alone.year, alone.month)
                -- Each has a record or more: enough is enough.
                LIMIT 20) o) others
        WHERE others.records = 0 OR others.records >= 20
    ), totals AS MATERIALIZED (
        SELECT s.latitude_cell, s.longitude_cell, s.month, sum(s.surveys) AS records FROM drover.species_season s
        WHERE s.latitude_cell BETWEEN (SELECT min(latitude_cell) - 3 FROM judged) AND (SELECT max(latitude_cell) + 3 FROM judged)
        GROUP BY 1, 2, 3
    ), near AS MATERIALIZED (
        SELECT t.latitude_cell + dy AS latitude_cell, (t.longitude_cell + dx + 540) % 360 - 180 AS longitude_cell, t.month,
            sum(t.records) AS records
        FROM totals t, generate_series(-3, 3) AS dy, generate_series(-3, 3) AS dx
        GROUP BY 1, 2, 3
    )
    SELECT j.site, j.year, j.month, j.species,
        CASE WHEN j.is_place THEN 'out of place: no other survey met it within three degrees'
            ELSE 'out of season: no other survey within three degrees met it in that month or the ones beside it' END
    FROM judged j JOIN near n ON n.latitude_cell = j.latitude_cell AND n.longitude_cell = j.longitude_cell
        AND (j.is_place OR n.month = ANY (j.months))
    GROUP BY j.site, j.year, j.month, j.species, j.is_place, j.latitude_cell, j.longitude_cell HAVING sum(n.records) >= 300
$$;
REVOKE EXECUTE ON FUNCTION drover.unusual_sightings(a_site text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.unusual_sightings(a_site text) TO drover_reader, drover_writer;
