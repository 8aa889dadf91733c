-- Question: which trips began in this span?
-- Parameters: $1 start, $2 end (timestamptz): the reader's days in the reader's zone; $3 one vehicle, or empty for all; $4 one
-- fleet, or empty for all; $5 how many.
-- Example result: seat-leon | 2018-02-20 19:23:27.987+00 | 2018-02-20 19:43:32.76+00 | f | 1206 | … | 10348900 | …
SELECT * FROM drover.trip_now
WHERE start_at >= $1 AND start_at < $2 AND ($3::text = '' OR vehicle = $3)
    AND ($4::text = '' OR vehicle IN (SELECT f.vehicle FROM drover.fleets_seen() f WHERE f.fleet = $4 AND f.kind = 'car'))
ORDER BY vehicle, start_at
LIMIT $5
