-- By which limits trips are made, from the log of each partition of drover.cars (docs/decisions/0024-trip-rules-on-the-log.md). A trip is
-- made by the set in force when it begins. The row of 1990 is what a partition began with, before any set.
CREATE TABLE drover.trip_rules (
    topic_partition     int         NOT NULL,
    in_force_at         timestamptz NOT NULL,
    gap_ms              bigint      NOT NULL,
    trip_gap_ms         bigint      NOT NULL,
    sharp_mm_per_s2     bigint      NOT NULL,
    sharp_merge_ms      bigint      NOT NULL,
    sharp_least_m_per_h bigint      NOT NULL,
    sharp_hold_ms       bigint      NOT NULL,
    record_offset       bigint,  -- the record that says so; null: the row of 1990, until a record tells of it
    PRIMARY KEY (topic_partition, in_force_at)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.trip_rules TO drover_writer;
GRANT SELECT ON drover.trip_rules TO drover_reader, drover_sight;
