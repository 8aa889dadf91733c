-- Question: what are these cars called?
-- Parameters: $1 vehicles.
-- Example result: golf | Anna's Golf
SELECT vehicle, name FROM drover.registration
WHERE kind = 'car' AND vehicle = ANY ($1::text[]) AND name IS NOT NULL
