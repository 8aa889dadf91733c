-- Question: which readings are behind this alert: the last before it, those that began, opened, worsened and ended it?
-- Parameters: $1 vehicle; $2 the parameter's column of drover.machine_reading; $3 since when, $4 opened, $5 worst, $6 resolved
-- (or the same as worst).
-- Example result: opened | 2026-09-14 02:40:00+00 | 86.5 | 8R-0001-22 | 41
SELECT CASE r.read_at WHEN $5::timestamptz THEN 'worst' WHEN $6::timestamptz THEN 'resolved' WHEN $4::timestamptz THEN 'opened'
           WHEN $3::timestamptz THEN 'since' ELSE 'before' END AS what,
       r.read_at, to_jsonb(r) ->> $2 AS value, r.reading_id, r.record_offset
FROM drover.machine_reading r
WHERE r.vehicle = $1 AND (r.read_at IN ($3::timestamptz, $4::timestamptz, $5::timestamptz, $6::timestamptz)
    OR r.read_at = (SELECT max(b.read_at) FROM drover.machine_reading b WHERE b.vehicle = $1 AND b.read_at < $3::timestamptz
        AND (b.contact IS NULL OR $2 = 'contact')))
ORDER BY r.read_at
