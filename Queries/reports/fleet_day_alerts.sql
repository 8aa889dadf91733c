-- Question: which alerts were opened in this span, or were open when it began?
-- Parameters: $1 start, $2 end (timestamptz); $3 a vehicle, or empty; $4 a fleet, or empty; $5 how many.
-- Example result: combine-1 | S690 Combine | Coolant Temperature | °C | critical | resolved | above | 85 | …
SELECT kind, vehicle, model, parameter, unit, severity, state, test, threshold, since_at, opened_at, opening_value,
       worst_value, worst_at, resolved_at, recommended, advice
FROM drover.alert
WHERE opened_at < $2 AND (opened_at >= $1 OR resolved_at >= $1 OR resolved_at IS NULL) AND state <> 'withdrawn'
    AND ($3::text = '' OR vehicle = $3)
    AND ($4::text = '' OR (kind, vehicle) IN (SELECT f.kind, f.vehicle FROM drover.fleets_seen() f WHERE f.fleet = $4))
ORDER BY vehicle, opened_at, parameter
LIMIT $5
