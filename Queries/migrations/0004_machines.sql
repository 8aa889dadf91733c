-- Machines: rule sets from the log, alerts with their corrections, deadlines that the clock passes.

-- The rule sets of each partition of drover.machines. Of two with one time the one whose version sorts last counts.
CREATE TABLE drover.rule_set (
    topic_partition int         NOT NULL,
    in_force_at     timestamptz NOT NULL,
    version         text        NOT NULL,
    rules           text        NOT NULL,  -- Sources/Alerts/RuleText.swift
    record_offset   bigint      NOT NULL,
    PRIMARY KEY (topic_partition, in_force_at)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.rule_set TO drover_writer;
GRANT SELECT ON drover.rule_set TO drover_reader;

-- An alert's id is made of the opening that was told first and stays when late readings or rules move the opening.
ALTER TABLE drover.alert
    ADD COLUMN first_opened_at timestamptz,
    ADD COLUMN revision int NOT NULL DEFAULT 0,  -- how often what had been told was corrected
    ADD COLUMN revised_at timestamptz;           -- when the record that made the last correction was pushed
UPDATE drover.alert SET first_opened_at = opened_at;
ALTER TABLE drover.alert ALTER COLUMN first_opened_at SET NOT NULL;
CREATE INDEX alert_by_first_opening ON drover.alert (vehicle, first_opened_at);

-- Expected to go on reporting: only then is silence judged.
ALTER TABLE drover.machine_reading ADD COLUMN is_reporting boolean NOT NULL DEFAULT false;

-- When the clock opens the machine's next alert; NULL: never. Those that have reported before this migration are looked
-- at once by the next worker.
ALTER TABLE drover.vehicle ADD COLUMN next_deadline_at timestamptz;
UPDATE drover.vehicle SET next_deadline_at = last_reading_at WHERE kind = 'machine';
CREATE INDEX vehicle_by_deadline ON drover.vehicle (topic_partition)
    WHERE kind = 'machine' AND next_deadline_at IS NOT NULL;
CREATE INDEX machine_by_last_reading ON drover.vehicle (topic_partition, last_reading_at) WHERE kind = 'machine';
