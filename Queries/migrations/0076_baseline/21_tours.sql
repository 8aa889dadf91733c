-- Trail tours: what rangers work on, its pictures and films, what was published of it, and what visitors' phones told.

-- A draft. All rangers work on all tours; `revision` keeps two from writing over each other.
CREATE TABLE drover.tour (
    tour text NOT NULL,
    account text NOT NULL,  -- who made it
    area text NOT NULL,
    draft text NOT NULL,  -- JSON: Sources/Domain/Tours/TourText.swift
    revision integer DEFAULT 1 NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    changed_at timestamptz DEFAULT now() NOT NULL,
    changed_by text NOT NULL,
    CONSTRAINT tour_pkey PRIMARY KEY (tour),
    CONSTRAINT tour_area_check CHECK (((octet_length(area) >= 1) AND (octet_length(area) <= 200))),
    CONSTRAINT tour_draft_check CHECK ((octet_length(draft) <= 1048576)),
    CONSTRAINT tour_tour_check CHECK ((tour ~ '^[A-Za-z0-9._-]{1,64}$'::text))
);
GRANT INSERT, SELECT, UPDATE ON drover.tour TO drover_page;

-- Pictures and films, checked and cleaned, by the SHA-256 of what is kept.
CREATE TABLE drover.tour_medium (
    tour text NOT NULL,
    medium text NOT NULL,
    media_type text NOT NULL,
    content bytea NOT NULL,
    kept_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT tour_medium_pkey PRIMARY KEY (tour, medium),
    CONSTRAINT tour_medium_content_check CHECK ((octet_length(content) <= 33554432)),
    CONSTRAINT tour_medium_media_type_check CHECK ((media_type = ANY (ARRAY['image/jpeg'::text, 'image/png'::text, 'image/webp'::text, 'video/mp4'::text, 'video/webm'::text]))),
    CONSTRAINT tour_medium_medium_check CHECK ((medium ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT tour_medium_tour_fkey FOREIGN KEY (tour) REFERENCES drover.tour(tour) ON DELETE CASCADE
);
ALTER TABLE ONLY drover.tour_medium ALTER COLUMN content SET STORAGE EXTERNAL;
GRANT DELETE, INSERT, SELECT ON drover.tour_medium TO drover_page;

-- What phones may download. Never changed once it is there.
CREATE TABLE drover.tour_version (
    tour text NOT NULL,
    version integer NOT NULL,
    area text NOT NULL,
    document text NOT NULL,  -- tour.json of the package
    files text NOT NULL,  -- JSON: the package's files and their digests, in order
    waypoint_ids text[] NOT NULL,
    published_at timestamptz DEFAULT now() NOT NULL,
    published_by text NOT NULL,
    CONSTRAINT tour_version_pkey PRIMARY KEY (tour, version),
    CONSTRAINT tour_version_tour_fkey FOREIGN KEY (tour) REFERENCES drover.tour(tour),
    CONSTRAINT tour_version_version_check CHECK (((version >= 1) AND (version <= 1000000)))
);
GRANT INSERT, SELECT ON drover.tour_version TO drover_page;
GRANT SELECT ON drover.tour_version TO drover_api;

-- The archive of a version, and what an earlier one lacks of it.
CREATE TABLE drover.tour_package (
    tour text NOT NULL,
    version integer NOT NULL,
    from_version integer NOT NULL,  -- 0: whole
    bytes bigint NOT NULL,
    digest bytea NOT NULL,  -- SHA-256
    CONSTRAINT tour_package_pkey PRIMARY KEY (tour, version, from_version),
    CONSTRAINT tour_package_check CHECK (((from_version >= 0) AND (from_version <= (version - 1)))),
    CONSTRAINT tour_package_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT tour_package_tour_version_fkey FOREIGN KEY (tour, version) REFERENCES drover.tour_version(tour, version)
);
GRANT INSERT, SELECT ON drover.tour_package TO drover_page;
GRANT SELECT ON drover.tour_package TO drover_api;

CREATE TABLE drover.tour_package_part (
    tour text NOT NULL,
    version integer NOT NULL,
    from_version integer NOT NULL,
    number integer NOT NULL,  -- from 0, each but the last of a mebibyte
    content bytea NOT NULL,
    CONSTRAINT tour_package_part_pkey PRIMARY KEY (tour, version, from_version, number),
    CONSTRAINT tour_package_part_content_check CHECK (((octet_length(content) >= 1) AND (octet_length(content) <= 1048576))),
    CONSTRAINT tour_package_part_tour_version_from_version_fkey FOREIGN KEY (tour, version, from_version) REFERENCES drover.tour_package(tour, version, from_version)
);
ALTER TABLE ONLY drover.tour_package_part ALTER COLUMN content SET STORAGE EXTERNAL;
GRANT INSERT, SELECT ON drover.tour_package_part TO drover_page;
GRANT SELECT ON drover.tour_package_part TO drover_api;

-- What phones told, each event once.
CREATE TABLE drover.tour_event (
    tour text NOT NULL,
    event text NOT NULL,
    kind text NOT NULL,
    waypoint text NOT NULL,  -- '': a download
    version integer NOT NULL,
    happened_at timestamptz NOT NULL,
    utc_offset_min integer NOT NULL,
    local_date date NOT NULL,  -- where the visitor was
    CONSTRAINT tour_event_pkey PRIMARY KEY (tour, event),
    CONSTRAINT tour_event_kind_check CHECK ((kind = ANY (ARRAY['download'::text, 'visit'::text])))
);
CREATE INDEX tour_event_by_day ON drover.tour_event (tour, kind, waypoint, local_date);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.tour_event TO drover_writer;

CREATE TABLE drover.tour_day (
    tour text NOT NULL,
    kind text NOT NULL,
    waypoint text NOT NULL,  -- '': downloads of the whole tour
    local_date date NOT NULL,
    events integer NOT NULL,
    CONSTRAINT tour_day_pkey PRIMARY KEY (tour, kind, waypoint, local_date)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.tour_day TO drover_writer;
GRANT SELECT ON drover.tour_day TO drover_page, drover_reader;

-- The newest version of each tour, as they are listed.
CREATE VIEW drover.tour_published AS
SELECT DISTINCT ON (v.tour) v.tour, v.version, v.area, v.area COLLATE "und-x-icu" AS sorted_area, p.bytes,
    cardinality(v.waypoint_ids) AS waypoints, p.digest, v.published_at
FROM drover.tour_version v JOIN drover.tour_package p ON p.tour = v.tour AND p.version = v.version AND p.from_version = 0
ORDER BY v.tour, v.version DESC;
GRANT SELECT ON drover.tour_published TO drover_api, drover_reader;

CREATE TRIGGER tour_package_part_stays BEFORE DELETE OR UPDATE ON drover.tour_package_part FOR EACH STATEMENT EXECUTE FUNCTION drover.refuse_change();
CREATE TRIGGER tour_package_stays BEFORE DELETE OR UPDATE ON drover.tour_package FOR EACH STATEMENT EXECUTE FUNCTION drover.refuse_change();
CREATE TRIGGER tour_version_stays BEFORE DELETE OR UPDATE ON drover.tour_version FOR EACH STATEMENT EXECUTE FUNCTION drover.refuse_change();
