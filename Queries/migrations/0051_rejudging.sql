-- Machines whose readings wait to be judged again: those not before from_at, a piece at each tick of their partition, until from until_at
-- on the state after one of them comes out as it was (docs/decisions/0022-judged-in-pieces.md). A reading that was not judged yet has an
-- empty alert_state.
CREATE TABLE drover.machine_rejudging (
    vehicle         text PRIMARY KEY,
    topic_partition int         NOT NULL,
    from_at         timestamptz NOT NULL,
    until_at        timestamptz NOT NULL,
    -- Whose turn it is: the record that asked for it, or the tick of the last piece.
    asked_offset    bigint      NOT NULL,
    -- Readings came late; a piece was judged; what was asked for meanwhile before the place that the pieces had come to.
    is_late         boolean     NOT NULL,
    has_begun       boolean     NOT NULL,
    again_from_at   timestamptz,
    again_until_at  timestamptz
);
CREATE INDEX machine_rejudging_by_partition ON drover.machine_rejudging (topic_partition);
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.machine_rejudging TO drover_writer;

-- What judging again can touch is looked up by an alert's end, too.
CREATE INDEX alert_by_end ON drover.alert (vehicle, resolved_at) WHERE kind = 'machine' AND state <> 'withdrawn';
