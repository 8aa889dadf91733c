-- Question: of which other machines of a model may the reader change the rules?
-- Parameters: $1 the model; $2 the machine that is left out; $3 how many.
-- Example result: mtg-2 | Combine behind the barn
SELECT vehicle, r.name
FROM (SELECT vehicle, model FROM drover.vehicle WHERE kind = 'machine') v
FULL JOIN (SELECT vehicle, name, model FROM drover.registration WHERE kind = 'machine') r USING (vehicle)
WHERE coalesce(v.model, r.model) = $1 AND vehicle <> $2 AND drover.edits_rules(vehicle)
ORDER BY vehicle COLLATE "C"
LIMIT $3
