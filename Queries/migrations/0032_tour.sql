-- Trail tours: what rangers work on, its pictures and films, what was published of it, and what visitors' phones told.

-- A draft. All rangers work on all tours; `revision` keeps two from writing over each other.
CREATE TABLE drover.tour (
    tour       text        PRIMARY KEY CHECK (tour ~ '^[A-Za-z0-9._-]{1,64}$'),
    account    text        NOT NULL,                   -- who made it
    area       text        NOT NULL CHECK (octet_length(area) BETWEEN 1 AND 200),
    draft      text        NOT NULL CHECK (octet_length(draft) <= 1048576),     -- JSON: Sources/Tours/TourText.swift
    revision   int         NOT NULL DEFAULT 1,
    made_at    timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    changed_by text        NOT NULL
);

-- Pictures and films, checked and cleaned, by the SHA-256 of what is kept.
CREATE TABLE drover.tour_medium (
    tour       text        NOT NULL REFERENCES drover.tour ON DELETE CASCADE,
    medium     text        NOT NULL CHECK (medium ~ '^[0-9a-f]{64}$'),
    media_type text        NOT NULL CHECK (media_type IN ('image/jpeg', 'image/png', 'image/webp', 'video/mp4', 'video/webm')),
    content    bytea       NOT NULL CHECK (octet_length(content) <= 33554432),
    kept_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tour, medium)
);
-- Packed already.
ALTER TABLE drover.tour_medium ALTER COLUMN content SET STORAGE EXTERNAL;

-- What phones may download. Never changed once it is there.
CREATE TABLE drover.tour_version (
    tour         text        NOT NULL REFERENCES drover.tour,
    version      int         NOT NULL CHECK (version BETWEEN 1 AND 1000000),
    area         text        NOT NULL,
    document     text        NOT NULL,                 -- tour.json of the package
    files        text        NOT NULL,                 -- JSON: the package's files and their digests, in order
    waypoint_ids text[]      NOT NULL,
    published_at timestamptz NOT NULL DEFAULT now(),
    published_by text        NOT NULL,
    PRIMARY KEY (tour, version)
);

-- The archive of a version, and what an earlier one lacks of it.
CREATE TABLE drover.tour_package (
    tour         text   NOT NULL,
    version      int    NOT NULL,
    from_version int    NOT NULL CHECK (from_version BETWEEN 0 AND version - 1),  -- 0: whole
    bytes        bigint NOT NULL,
    digest       bytea  NOT NULL CHECK (octet_length(digest) = 32),               -- SHA-256
    PRIMARY KEY (tour, version, from_version),
    FOREIGN KEY (tour, version) REFERENCES drover.tour_version
);
CREATE TABLE drover.tour_package_part (
    tour         text   NOT NULL,
    version      int    NOT NULL,
    from_version int    NOT NULL,
    number       int    NOT NULL,                      -- from 0, each but the last of a mebibyte
    content      bytea  NOT NULL CHECK (octet_length(content) BETWEEN 1 AND 1048576),
    PRIMARY KEY (tour, version, from_version, number),
    FOREIGN KEY (tour, version, from_version) REFERENCES drover.tour_package
);
ALTER TABLE drover.tour_package_part ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE FUNCTION drover.refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'what was published of a tour stays as it is: publish another version';
END $$;
CREATE TRIGGER tour_version_stays BEFORE UPDATE OR DELETE ON drover.tour_version
    FOR EACH STATEMENT EXECUTE FUNCTION drover.refuse_change();
CREATE TRIGGER tour_package_stays BEFORE UPDATE OR DELETE ON drover.tour_package
    FOR EACH STATEMENT EXECUTE FUNCTION drover.refuse_change();
CREATE TRIGGER tour_package_part_stays BEFORE UPDATE OR DELETE ON drover.tour_package_part
    FOR EACH STATEMENT EXECUTE FUNCTION drover.refuse_change();

-- The newest version of each tour, as they are listed.
CREATE VIEW drover.tour_published AS
SELECT DISTINCT ON (v.tour) v.tour, v.version, v.area, v.area COLLATE "und-x-icu" AS sorted_area, p.bytes,
    cardinality(v.waypoint_ids) AS waypoints, p.digest, v.published_at
FROM drover.tour_version v JOIN drover.tour_package p ON p.tour = v.tour AND p.version = v.version AND p.from_version = 0
ORDER BY v.tour, v.version DESC;

-- What phones told, each event once.
CREATE TABLE drover.tour_event (
    tour           text        NOT NULL,
    event          text        NOT NULL,
    kind           text        NOT NULL CHECK (kind IN ('download', 'visit')),
    waypoint       text        NOT NULL,               -- '': a download
    version        int         NOT NULL,
    happened_at    timestamptz NOT NULL,
    utc_offset_min int         NOT NULL,
    local_date     date        NOT NULL,               -- where the visitor was
    PRIMARY KEY (tour, event)
);
CREATE INDEX tour_event_by_day ON drover.tour_event (tour, kind, waypoint, local_date);

CREATE TABLE drover.tour_day (
    tour       text NOT NULL,
    kind       text NOT NULL,
    waypoint   text NOT NULL,                          -- '': downloads of the whole tour
    local_date date NOT NULL,
    events     int  NOT NULL,
    PRIMARY KEY (tour, kind, waypoint, local_date)
);

-- Pages work as the person who is logged in: rangers on drafts, and what is published only grows.
DO $$
DECLARE
    own text;
BEGIN
    FOREACH own IN ARRAY ARRAY['tour', 'tour_medium', 'tour_version', 'tour_package', 'tour_package_part', 'tour_day'] LOOP
        EXECUTE format('ALTER TABLE drover.%I ENABLE ROW LEVEL SECURITY', own);
        EXECUTE format('CREATE POLICY rangers ON drover.%I TO drover_page
            USING (drover.sight_roles() && ARRAY[''ranger'', ''administrator''])
            WITH CHECK (drover.sight_roles() && ARRAY[''ranger'', ''administrator''])', own);
    END LOOP;
    -- What was published is for everybody.
    FOREACH own IN ARRAY ARRAY['tour_version', 'tour_package', 'tour_package_part'] LOOP
        EXECUTE format('CREATE POLICY published ON drover.%I FOR SELECT TO drover_api, drover_reader USING (true)', own);
    END LOOP;
END $$;
CREATE POLICY readers ON drover.tour_day FOR SELECT TO drover_reader USING (true);
CREATE POLICY workers ON drover.tour_day TO drover_writer USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON drover.tour TO drover_page;
GRANT SELECT, INSERT, DELETE ON drover.tour_medium TO drover_page;
GRANT SELECT, INSERT ON drover.tour_version, drover.tour_package, drover.tour_package_part TO drover_page;
GRANT SELECT ON drover.tour_day TO drover_page, drover_reader;
-- Phones, without anybody logged in.
GRANT SELECT ON drover.tour_version, drover.tour_package, drover.tour_package_part, drover.tour_published TO drover_api;
GRANT SELECT ON drover.tour_published TO drover_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.tour_event, drover.tour_day TO drover_writer;
