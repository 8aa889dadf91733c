-- Question: which trip of this vehicle does a time lie in?
-- Parameters: $1 vehicle, $2 the time.
-- Example result: 2018-02-20 19:23:27.987+00 | 2018-02-20 19:43:32.76+00
SELECT start_at, end_at FROM drover.trip
WHERE vehicle = $1 AND start_at <= $2 AND end_at >= $2
ORDER BY start_at DESC LIMIT 1
