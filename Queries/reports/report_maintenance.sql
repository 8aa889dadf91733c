-- Question: how long did each machine run, what was done to it, and what was due when the span ended?
-- Parameters: $1 start, $2 end (timestamptz); $3 a machine, or empty; $4 how many; $5 a fleet, or empty.
-- Example result: combine-1 | | S690 Combine | 812.4 | 12.1 | 0 | 2026-05-02 08:00:00+00 | 190.2 | Engine Hours (due soon)
SELECT m.vehicle, r.name, m.model, last.engine_hours_h::float8 AS engine_h,
       (last.engine_hours_h - coalesce(before.engine_hours_h, first.engine_hours_h))::float8 AS run_h, done.services,
       service.done_at AS last_service, (last.engine_hours_h - service.engine_hours_h)::float8 AS since_service_h, due.due
FROM (SELECT vehicle, model FROM drover.vehicle WHERE kind = 'machine') m
LEFT JOIN drover.registration r ON r.kind = 'machine' AND r.vehicle = m.vehicle
LEFT JOIN LATERAL (
    SELECT engine_hours_h FROM drover.machine_reading x
    WHERE x.vehicle = m.vehicle AND x.read_at < $2 AND x.engine_hours_h IS NOT NULL ORDER BY x.read_at DESC LIMIT 1) last ON true
LEFT JOIN LATERAL (
    SELECT engine_hours_h FROM drover.machine_reading x
    WHERE x.vehicle = m.vehicle AND x.read_at < $1 AND x.engine_hours_h IS NOT NULL ORDER BY x.read_at DESC LIMIT 1) before ON true
LEFT JOIN LATERAL (
    SELECT engine_hours_h FROM drover.machine_reading x
    WHERE x.vehicle = m.vehicle AND x.read_at >= $1 AND x.read_at < $2 AND x.engine_hours_h IS NOT NULL ORDER BY x.read_at LIMIT 1) first ON true
CROSS JOIN LATERAL (
    SELECT count(*)::int AS services FROM drover.service s
    WHERE s.vehicle = m.vehicle AND s.done_at >= $1 AND s.done_at < $2) done
LEFT JOIN LATERAL (
    SELECT s.done_at, s.engine_hours_h FROM drover.service s
    WHERE s.vehicle = m.vehicle AND s.done_at < $2 ORDER BY s.done_at DESC LIMIT 1) service ON true
CROSS JOIN LATERAL (
    SELECT string_agg(a.parameter || ' (' || replace(a.state::text, '_', ' ') || ')', ', ' ORDER BY a.parameter, a.alert_id) AS due
    FROM drover.alert a
    WHERE a.kind = 'machine' AND a.vehicle = m.vehicle AND a.opened_at < $2 AND (a.resolved_at IS NULL OR a.resolved_at >= $2)
        AND a.state <> 'withdrawn') due
WHERE ($3::text = '' OR m.vehicle = $3)
    AND ($5::text = '' OR m.vehicle IN (SELECT f.vehicle FROM drover.fleets_seen() f WHERE f.fleet = $5 AND f.kind = 'machine'))
ORDER BY m.vehicle COLLATE "C"
LIMIT $4
