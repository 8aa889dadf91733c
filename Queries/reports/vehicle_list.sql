-- Question: which vehicles of these there are, in the order that somebody wants, and is anything wrong with them?
-- Parameters: $1 a tag, or empty; $2 a part of id, name, model or maker, or empty; $3 car, machine, or empty; $4 audiences that the
-- reader belongs to; $5 order: name, vehicle, model, heard or alerts; $6 how many are sorted at most; $7 how many come before;
-- $8 how many; $9 disabled ones, too.
-- Example result: machine | 8R-0001 | Old Faithful | 8R Tractor | {north} | 2026-09-14 08:00:00+00 | f | 1 | critical | 12
WITH page AS MATERIALIZED (
SELECT listed.*, count(*) OVER () AS found, row_number() OVER (ORDER BY is_disabled,
    CASE WHEN $5 = 'alerts' THEN worst_severity END NULLS LAST, CASE WHEN $5 = 'alerts' THEN -open_alerts END,
    CASE WHEN $5 = 'heard' THEN last_reading_at END DESC NULLS LAST,
    CASE $5 WHEN 'model' THEN lower(model) WHEN 'name' THEN lower(coalesce(name, vehicle)) END NULLS LAST,
    vehicle COLLATE "C", kind) AS place
FROM (
    SELECT found.*,
           CASE WHEN found.kind = 'machine' THEN (
               SELECT m.read_at FROM drover.machine_reading m WHERE m.vehicle = found.vehicle AND m.contact IS NULL
               ORDER BY m.read_at DESC LIMIT 1)
           ELSE (SELECT t.end_at FROM drover.trip t WHERE t.vehicle = found.vehicle ORDER BY t.start_at DESC LIMIT 1) END AS last_reading_at,
           alerts.open_alerts, alerts.worst_severity
    FROM (
        SELECT kind, vehicle, r.name, coalesce(v.model, nullif(concat_ws(' ', r.make, r.model, r.year), '')) AS model, coalesce(r.tags, '{}') AS tags,
               coalesce(r.is_disabled, false) AS is_disabled
        FROM (SELECT * FROM drover.vehicle WHERE $3 = '' OR kind = $3) v
        FULL JOIN (SELECT kind, vehicle, name, make, model, year, tags, is_disabled FROM drover.registration
                   WHERE $3 = '' OR kind = $3) r USING (kind, vehicle)
        WHERE ($1 = '' OR $1 = ANY (r.tags)) AND ($9::boolean OR r.is_disabled IS NOT TRUE)
            AND ($2 = '' OR position(lower($2) IN lower(concat_ws(' ', vehicle, r.name, v.model, r.make, r.model))) > 0)
        ORDER BY kind, vehicle COLLATE "C"
        LIMIT $6
    ) AS found
    CROSS JOIN LATERAL (
        SELECT count(*) AS open_alerts, min(a.severity) AS worst_severity FROM drover.alert a
        WHERE a.kind = found.kind AND a.vehicle = found.vehicle AND a.state IN ('open', 'due_soon') AND a.audience = ANY ($4)
    ) AS alerts
) AS listed
ORDER BY place
OFFSET $7 LIMIT $8
)
SELECT page.*, unjudged.not_monitored
FROM page
LEFT JOIN drover.not_monitored_of(ARRAY(SELECT page.kind FROM page), ARRAY(SELECT page.vehicle FROM page)) AS unjudged
    ON unjudged.kind = page.kind AND unjudged.vehicle = page.vehicle
ORDER BY page.place
