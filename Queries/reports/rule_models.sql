-- Question: how many machines of each model does the reader see?
-- Parameters: $1 how many machines are looked at.
-- Example result: 8R Tractor | 6
SELECT model, count(*) AS machines
FROM (
    SELECT coalesce(v.model, r.model) AS model
    FROM (SELECT vehicle, model FROM drover.vehicle WHERE kind = 'machine') v
    FULL JOIN (SELECT vehicle, model FROM drover.registration WHERE kind = 'machine' AND NOT is_disabled) r USING (vehicle)
    LIMIT $1) m
WHERE model IS NOT NULL
GROUP BY model
ORDER BY model
