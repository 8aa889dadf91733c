-- Question: how many alerts has each rule raised since then, of the reader's machines?
-- Parameters: $1 since when; $2 machines that have rules of their own; $3 how many machines are looked at; $4 how many alerts of each.
-- Example result: 8R Tractor | Coolant Temperature |  | 3
SELECT a.model, a.parameter, CASE WHEN a.vehicle = ANY ($2::text[]) THEN a.vehicle ELSE '' END AS own, count(*) AS raised
FROM (SELECT vehicle FROM drover.vehicle WHERE kind = 'machine' ORDER BY vehicle COLLATE "C" LIMIT $3) m
CROSS JOIN LATERAL (
    SELECT n.vehicle, n.model, n.parameter FROM drover.alert n
    WHERE n.vehicle = m.vehicle AND n.kind = 'machine' AND n.opened_at >= $1 AND n.state <> 'withdrawn'
    ORDER BY n.opened_at DESC LIMIT $4) a
GROUP BY 1, 2, 3
