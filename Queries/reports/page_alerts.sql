-- Question: which alerts are open?
-- Parameters: $1 how many.
SELECT vehicle, model, parameter, unit, severity, state, test, threshold, since_at, opened_at, opening_value,
       worst_value, worst_at, resolved_at, recommended, advice
FROM drover.alert
WHERE state IN ('open', 'due_soon')
ORDER BY severity, opened_at DESC, vehicle
LIMIT $1
