-- Records that could not be read.
SELECT coalesce(sum(records), 0)::bigint AS n FROM drover.rejected
