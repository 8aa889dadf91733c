-- Question: which services were recorded last, of all machines? At most some of each machine are looked at.
-- Parameters: $1 a part of the name, id or model, or empty; $2 a tag, or empty; $3 how many machines; $4 how many of each; $5 how many.
-- Example result: combine-1 | Combine behind the barn | 2026-05-02 08:00:00+00 | 622.2 | ada | Regular service
SELECT m.vehicle, m.name, s.done_at, s.engine_hours_h, s.recorded_by, s.note
FROM (
    SELECT v.vehicle, r.name
    FROM (SELECT vehicle, model FROM drover.vehicle WHERE kind = 'machine') v
    LEFT JOIN drover.registration r ON r.kind = 'machine' AND r.vehicle = v.vehicle
    WHERE ($2 = '' OR $2 = ANY (r.tags)) AND ($1 = '' OR strpos(lower(concat_ws(' ', v.vehicle, r.name, v.model, r.model)), lower($1)) > 0)
    ORDER BY lower(coalesce(r.name, v.vehicle)), v.vehicle COLLATE "C" LIMIT $3
) AS m
CROSS JOIN LATERAL (
    SELECT x.done_at, x.engine_hours_h, x.recorded_by, x.note FROM drover.service x
    WHERE x.vehicle = m.vehicle ORDER BY x.done_at DESC LIMIT $4) AS s
ORDER BY s.done_at DESC, m.vehicle COLLATE "C"
LIMIT $5
