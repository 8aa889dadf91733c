-- Vehicles that cannot be written, set apart from their partition: one refused by the database holds up no other. Each stands where
-- its partition stood when it was set apart, as in drover.partition_progress; its rows are those up to there.
CREATE TABLE drover.quarantine (
    topic              text NOT NULL,
    partition          int NOT NULL,
    vehicle            text NOT NULL,
    -- What the database, or a stored row, said of it last.
    reason             text NOT NULL,
    held_at            timestamptz NOT NULL DEFAULT now(),
    -- The first record that is not in its rows.
    next_offset        bigint NOT NULL,
    clock_at           timestamptz,
    replay_offset      bigint NOT NULL,
    replay_clock_at    timestamptz,
    last_record_hash   bigint,
    clock_waits        text,
    replay_clock_waits text,
    PRIMARY KEY (topic, partition, vehicle)
);
-- How often vehicles were set apart or came back. Who has loaded a partition before that writes nothing of it any more.
ALTER TABLE drover.partition_progress ADD COLUMN generation bigint NOT NULL DEFAULT 0;
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.quarantine TO drover_writer;
