-- Question: what are these vehicles called? A car and a machine may have the same id; machines come first.
-- Parameters: $1 vehicles.
-- Example result: 8R-0001 | Old Faithful
SELECT DISTINCT ON (vehicle) vehicle, name FROM drover.registration
WHERE vehicle = ANY ($1::text[]) AND name IS NOT NULL
ORDER BY vehicle, kind DESC
