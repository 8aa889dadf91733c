-- Question: which trips of this vehicle may be compared: ended, not discarded, with this tag if one is asked for?
-- Parameters: $1 vehicle, $2 start, $3 end of the span, $4 tag, or empty for all.
SELECT * FROM drover.trip_now
WHERE vehicle = $1 AND start_at >= $2 AND start_at < $3 AND discarded_at IS NULL AND NOT is_open
    AND ($4::text = '' OR tag = $4)
ORDER BY start_at
LIMIT 2000
