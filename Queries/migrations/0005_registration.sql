-- What people say of a vehicle: its name, its model, how it is reached. A row is the latest registration record of its
-- topic partition by (registered_at, record_id), so that order and repeats do not matter.
CREATE TABLE drover.registration (
    kind               text        NOT NULL CHECK (kind IN ('car', 'machine')),
    vehicle            text        NOT NULL,
    topic_partition    int         NOT NULL,
    registered_at      timestamptz NOT NULL,           -- the record's own time
    record_id          text        NOT NULL,           -- of two records of one time the larger counts
    name               text,                           -- as people call it
    model              text,                           -- as in tractors.xml
    host               text,                           -- the box that is polled; NULL: upload only
    port               int CHECK (port BETWEEN 1 AND 65535),
    certificate_sha256 text CHECK (certificate_sha256 ~ '^[0-9a-f]{64}$'),  -- the box's, pinned; NULL: plain TCP
    tags               text[]      NOT NULL DEFAULT '{}',
    is_disabled        boolean     NOT NULL DEFAULT false,  -- kept, not polled, not judged
    PRIMARY KEY (kind, vehicle),
    CHECK ((host IS NULL) = (port IS NULL))
);
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.registration TO drover_writer;
GRANT SELECT ON drover.registration TO drover_reader;

-- Gateways read whom to poll, and nothing else.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_gateway') THEN CREATE ROLE drover_gateway NOLOGIN; END IF;
END $$;
GRANT USAGE ON SCHEMA drover TO drover_gateway;
GRANT SELECT ON drover.registration TO drover_gateway;
