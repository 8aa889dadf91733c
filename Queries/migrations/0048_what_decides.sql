-- What decides which results a record has stands beside the offset: how many partitions the topic has and which topic it is, whose
-- clock stamps its records, and what the partition's clock waits for. docs/decisions/0020 has the reasons.

ALTER TABLE drover.partition_progress
    ADD COLUMN partition_count    int,    -- of the topic, when it was first read; null: not looked at yet
    ADD COLUMN topic_id           text,   -- that the brokers gave it; null: broker or library do not tell
    ADD COLUMN create_time_before bigint, -- records before this offset may be stamped by their senders: a person accepted them
    ADD COLUMN clock_waits        text,   -- a tick far beyond clock_at that waits for another to agree: ts, stamp, sender
    ADD COLUMN replay_clock_waits text;   -- the same at replay_offset
