-- Question: of which machines may the reader change the rules?
-- Parameters: $1 how many.
-- Example result: mtg-2 | Combine behind the barn
SELECT vehicle, r.name
FROM (SELECT vehicle FROM drover.vehicle WHERE kind = 'machine') v
FULL JOIN (SELECT vehicle, name FROM drover.registration WHERE kind = 'machine') r USING (vehicle)
WHERE drover.edits_rules(vehicle)
ORDER BY vehicle COLLATE "C"
LIMIT $1
