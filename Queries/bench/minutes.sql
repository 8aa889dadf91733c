-- What minutes of cars take.
SELECT count(*) AS minutes, sum(octet_length(samples)) AS packed, (
    SELECT coalesce(sum(pg_total_relation_size(inhrelid)), 0)::bigint FROM pg_inherits
    WHERE inhparent = 'drover.vehicle_minute'::regclass) AS bytes,
    (SELECT coalesce(sum(records), 0)::bigint FROM drover.rejected) AS rejected
FROM drover.vehicle_minute
