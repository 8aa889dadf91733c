-- The stream engine: where a partition's reading has to begin again, the state beside each car's latest trip, and which
-- rows late data corrected.

ALTER TABLE drover.partition_progress
    ADD COLUMN replay_offset bigint,           -- records from here to next_offset are not in every row yet
    ADD COLUMN replay_clock_at timestamptz,    -- the clock at replay_offset
    ADD COLUMN last_record_hash bigint;        -- of the record before next_offset: a log that was replaced is recognised
UPDATE drover.partition_progress SET replay_offset = next_offset, replay_clock_at = clock_at;
ALTER TABLE drover.partition_progress ALTER COLUMN replay_offset SET NOT NULL;

-- revision 0: never corrected. Else how often data that came late changed the row, and when the last of it was pushed.
ALTER TABLE drover.vehicle_minute
    ADD COLUMN revision int NOT NULL DEFAULT 0,
    ADD COLUMN revised_at timestamptz;
ALTER TABLE drover.vehicle_day
    ADD COLUMN revision int NOT NULL DEFAULT 0,
    ADD COLUMN revised_at timestamptz;
ALTER TABLE drover.trip
    ADD COLUMN revision int NOT NULL DEFAULT 0,
    ADD COLUMN revised_at timestamptz,
    ADD COLUMN state bytea;                    -- what the car's next minute depends on, beside its latest trip only

-- A running trip is updated every minute: without indexes on what changes, and with room in the page, that stays in place.
DROP INDEX drover.trip_by_end;
DROP INDEX drover.trip_open;
ALTER TABLE drover.trip SET (fillfactor = 70);
ALTER TABLE drover.vehicle_day SET (fillfactor = 70);

-- A car's last reading is its latest trip's end.
ALTER TABLE drover.vehicle ALTER COLUMN last_reading_at DROP NOT NULL;
UPDATE drover.vehicle SET last_reading_at = NULL WHERE kind = 'car';
CREATE INDEX vehicle_by_partition ON drover.vehicle (kind, topic_partition, vehicle);
