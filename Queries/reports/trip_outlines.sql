-- Question: where did these trips go, roughly? Of each some of its minutes, the first and the last among them.
-- Parameters: $1 vehicles, $2 starts, $3 ends of the trips; $4 how many minutes of each.
-- Example result: seat-leon | 2018-02-20 19:23:27.987+00 | 2018-02-20 19:23:00+00 | \x01…
SELECT t.vehicle, t.start_at, m.minute_at, m.samples
FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) AS t(vehicle, start_at, end_at)
CROSS JOIN LATERAL (
    SELECT v.minute_at, v.samples, row_number() OVER (ORDER BY v.minute_at) AS nth, count(*) OVER () AS total
    FROM drover.vehicle_minute v
    WHERE v.vehicle = t.vehicle AND v.trip_start_at = t.start_at AND v.minute_at > t.start_at - interval '1 minute' AND v.minute_at <= t.end_at
) m
WHERE (m.nth - 1) % ((m.total - 1) / $4::bigint + 1) = 0 OR m.nth = m.total
ORDER BY t.vehicle, t.start_at, m.minute_at
