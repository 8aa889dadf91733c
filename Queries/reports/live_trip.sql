-- Question: what is known of the trip that this car is on, or was on last? Two rows where it is looked at: the trip as it is
-- stored, and with the minute that is still open.
-- Parameters: $1 vehicle.
-- Example result: car-1 | 2018-02-20 19:23:27.987+00 | 2018-02-20 19:43:32.76+00 | …
(SELECT stored.*, NULL::timestamptz AS minute_at, NULL::bytea AS samples FROM drover.trip_now stored
 WHERE stored.vehicle = $1 ORDER BY stored.start_at DESC LIMIT 1)
UNION ALL
SELECT * FROM drover.live_trip_now live WHERE live.vehicle = $1
