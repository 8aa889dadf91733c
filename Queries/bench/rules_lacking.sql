-- Whether a partition of this topic has no rules yet.
SELECT NOT bool_and(EXISTS (SELECT FROM drover.rule_set r WHERE r.topic_partition = p.partition)) AS lacks
FROM drover.partition_progress p WHERE p.topic = $1
