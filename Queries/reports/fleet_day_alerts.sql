-- Question: which alerts were opened in this span, or were open when it began?
-- Parameters: $1 start, $2 end (timestamptz).
-- Example result: combine-1 | S690 Combine | Coolant Temperature | °C | critical | resolved | above | 85 | …
SELECT kind, vehicle, model, parameter, unit, severity, state, test, threshold, since_at, opened_at, opening_value,
       worst_value, worst_at, resolved_at, recommended, advice
FROM drover.alert
WHERE opened_at < $2 AND (opened_at >= $1 OR resolved_at >= $1 OR resolved_at IS NULL) AND state <> 'withdrawn'
ORDER BY vehicle, opened_at, parameter
