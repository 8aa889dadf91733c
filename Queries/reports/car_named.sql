-- Question: which cars are called so?
-- Parameters: $1 the name, as somebody types it. Two rows: more than one.
-- Example result: golf
SELECT vehicle FROM drover.registration
WHERE kind = 'car' AND lower(name) = lower($1::text)
ORDER BY vehicle LIMIT 2
