-- Question: when was each machine last serviced, which hours has it run, and is an alert of its service open?
-- Parameters: $1 a part of the name, id or model, or empty; $2 a tag, or empty; $3 audiences that the reader belongs to; $4 how many.
-- Example result: combine-1 | Combine behind the barn | S690 Combine | 3 | 812.4 | 2026-11-20 08:00:00+00 | 2026-05-02 08:00:00+00 | 622.2 | ada | …
WITH found AS MATERIALIZED (
    SELECT v.vehicle, r.name, coalesce(v.model, r.model) AS model, v.topic_partition
    FROM (SELECT vehicle, model, topic_partition FROM drover.vehicle WHERE kind = 'machine') v
    LEFT JOIN drover.registration r ON r.kind = 'machine' AND r.vehicle = v.vehicle
    WHERE r.is_disabled IS NOT TRUE AND ($2 = '' OR $2 = ANY (r.tags))
        AND ($1 = '' OR strpos(lower(concat_ws(' ', v.vehicle, r.name, v.model, r.model)), lower($1)) > 0)
    ORDER BY lower(coalesce(r.name, v.vehicle)), v.vehicle COLLATE "C"
    LIMIT $4
)
SELECT found.*, said.engine_hours_h, said.read_at, done.done_at, done.engine_hours_h AS done_hours_h, done.recorded_by, done.note,
       due.alert_id, due.state, due.threshold
FROM found
LEFT JOIN LATERAL (
    SELECT x.engine_hours_h, x.read_at FROM drover.machine_reading x
    WHERE x.vehicle = found.vehicle AND x.engine_hours_h IS NOT NULL ORDER BY x.read_at DESC LIMIT 1) AS said ON true
LEFT JOIN LATERAL (
    SELECT s.done_at, s.engine_hours_h, s.recorded_by, s.note FROM drover.service s
    WHERE s.vehicle = found.vehicle ORDER BY s.done_at DESC LIMIT 1) AS done ON true
LEFT JOIN LATERAL (
    SELECT a.alert_id, a.state, a.threshold FROM drover.alert a
    WHERE a.kind = 'machine' AND a.vehicle = found.vehicle AND a.state IN ('open', 'due_soon') AND a.parameter = 'Engine Hours' AND a.test = 'above'
        AND a.audience = ANY ($3)
    ORDER BY a.opened_at DESC LIMIT 1) AS due ON true
ORDER BY lower(coalesce(found.name, found.vehicle)), found.vehicle COLLATE "C"
