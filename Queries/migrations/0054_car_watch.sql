-- Drivers' alerts are judged from memory as readings come, and at ticks from what is stored (docs/decisions/0011-what-drivers-are-told.md). What a
-- worker that takes a partition over has to know of them; a car that is silent for an hour has no row.
CREATE TABLE drover.car_watch (
    vehicle         text PRIMARY KEY,
    topic_partition int         NOT NULL,
    -- The judgement after the readings before next_offset; null: it waits, and is made again from the stored readings.
    state           bytea,
    next_offset     bigint,
    -- What is to be judged again at the next ticks, and the record that asked for it, or the tick of the last piece.
    from_at         timestamptz,
    until_at        timestamptz,
    asked_offset    bigint,
    is_late         boolean,
    -- Its latest readings wait, too.
    is_latest       boolean,
    -- The partition's clock when the last of them came; null: long ago.
    arrived_at      timestamptz,
    -- Its trouble codes are to be judged again since that record.
    codes_offset    bigint,
    CHECK ((state IS NULL) = (next_offset IS NULL)),
    CHECK (num_nulls(from_at, until_at, asked_offset, is_late, is_latest) IN (0, 5))
) WITH (fillfactor = 50);
CREATE INDEX car_watch_by_partition ON drover.car_watch (topic_partition);
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.car_watch TO drover_writer;
