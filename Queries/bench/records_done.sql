-- Records of a topic that are committed.
SELECT coalesce(sum(next_offset), 0)::bigint AS done FROM drover.partition_progress WHERE topic = $1
