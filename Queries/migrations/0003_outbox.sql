-- What must leave the database waits in the outbox, written in the transaction that decided it, until the relay
-- (`drover notify`) has the broker's acknowledgement. And what could not be decoded, within bounds.

CREATE TABLE drover.outbox (
    outbox_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic     text NOT NULL,
    key       text NOT NULL,
    record_id text NOT NULL,                      -- stable: a repeat of the same fact carries the same id
    record    text NOT NULL,                      -- the JSON value as it goes out
    made_at   timestamptz NOT NULL DEFAULT now(),
    refused   text                                -- why the broker will not take it; set aside for a person
);
-- Rows come and go: without this the relay would soon walk over more dead rows than living ones.
ALTER TABLE drover.outbox SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_insert_threshold = -1);

CREATE FUNCTION drover.tell_outbox() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM pg_notify('drover_outbox', '');
    RETURN NULL;
END $$;
CREATE TRIGGER outbox_tell AFTER INSERT ON drover.outbox FOR EACH STATEMENT EXECUTE FUNCTION drover.tell_outbox();

-- A row is one record, or the count of all beyond the first 64 of its block of 4,096 offsets (Pipeline/RejectedLog.swift).
ALTER TABLE drover.rejected
    ADD COLUMN last_offset bigint,
    ADD COLUMN records     bigint NOT NULL DEFAULT 1,
    ADD COLUMN pushed_at   timestamptz,           -- the log's own stamp of the last of them
    ADD COLUMN retried_at  timestamptz;           -- pushed again by `drover rejected retry`
UPDATE drover.rejected SET last_offset = record_offset;
ALTER TABLE drover.rejected ALTER COLUMN last_offset SET NOT NULL;
CREATE INDEX rejected_by_time ON drover.rejected (pushed_at);

-- The relay's rights: the outbox, and pruning what was rejected. Nothing else.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_relay') THEN CREATE ROLE drover_relay NOLOGIN; END IF;
END $$;
GRANT USAGE ON SCHEMA drover TO drover_relay;
GRANT SELECT, DELETE, UPDATE (refused) ON drover.outbox TO drover_relay;
GRANT SELECT, DELETE ON drover.rejected TO drover_relay;
GRANT SELECT ON drover.partition_progress TO drover_relay;
GRANT INSERT ON drover.outbox TO drover_writer;
