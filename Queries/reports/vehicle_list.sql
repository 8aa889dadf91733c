-- Question: which vehicles of these there are, in the order that somebody wants, and is anything wrong with them?
-- Parameters: $1 a tag, or empty; $2 a part of id, Machine ID, name, model, maker or a dealer's own words, or empty; $3 car, machine, or empty; $4 audiences that the
-- reader belongs to; $5 order: name, vehicle, model, class, heard or alerts; $6 how many are sorted at most; $7 how many come before;
-- $8 how many; $9 disabled ones, too; $10 attention (an alert is open), silent (nothing heard for a day), or empty for all;
-- $11 a dealer's own class, or empty; $12 a dealer's own tag, or empty.
-- Example result: machine | 8R-0001 | Old Faithful | 8R Tractor | {north} | f | 2026-09-14 08:00:00+00 | 1 | critical | f | 12 | 3 | 2 | 12 | 1 | …
WITH page AS MATERIALIZED (
SELECT counted.*, count(*) OVER () AS found, row_number() OVER (ORDER BY is_disabled,
    CASE WHEN $5 = 'alerts' THEN worst_severity END NULLS LAST, CASE WHEN $5 = 'alerts' THEN -open_alerts END,
    CASE WHEN $5 = 'heard' THEN last_reading_at END DESC NULLS LAST,
    CASE $5 WHEN 'model' THEN lower(model) WHEN 'class' THEN lower(own_class) WHEN 'vehicle' THEN '' ELSE lower(coalesce(name, vehicle)) END NULLS LAST,
    CASE WHEN $5 = 'class' THEN lower(coalesce(name, vehicle)) END, vehicle COLLATE "C", kind) AS place
FROM (
    SELECT listed.*, count(*) OVER () AS all_count, count(*) FILTER (WHERE open_alerts > 0) OVER () AS attention_count,
           count(*) FILTER (WHERE is_silent) OVER () AS silent_count
    FROM (
        SELECT found.*, last.last_reading_at, alerts.open_alerts, alerts.worst_severity,
               coalesce(last.last_reading_at < now() - interval '24 hours', true) AS is_silent
        FROM (
            SELECT kind, vehicle, r.name, coalesce(v.model, nullif(concat_ws(' ', r.make, r.model, r.year), '')) AS model,
                   coalesce(r.tags, '{}') AS tags, coalesce(r.is_disabled, false) AS is_disabled,
                   own.own_class, coalesce(own.own_tags, '{}') AS own_tags
            FROM (SELECT * FROM drover.vehicle WHERE $3 = '' OR kind = $3) v
            FULL JOIN (SELECT kind, vehicle, name, make, model, year, tags, is_disabled FROM drover.registration
                       WHERE $3 = '' OR kind = $3) r USING (kind, vehicle)
            LEFT JOIN (SELECT vehicle AS marked, class AS own_class, tags AS own_tags FROM drover.dealer_mark
    WHERE account = (SELECT drover.sight_account())) AS own ON kind = 'machine' AND vehicle = own.marked
            WHERE ($1 = '' OR $1 = ANY (r.tags)) AND ($11 = '' OR $11 = own.own_class) AND ($12 = '' OR $12 = ANY (own.own_tags))
                AND ($9::boolean OR r.is_disabled IS NOT TRUE)
                AND ($2 = '' OR position(lower($2) IN lower(concat_ws(' ', vehicle, r.name, v.machine_id, v.model, r.make, r.model, own.own_class, array_to_string(own.own_tags, ' ')))) > 0)
            ORDER BY kind, vehicle COLLATE "C"
            LIMIT $6
        ) AS found
        CROSS JOIN LATERAL (
            SELECT CASE WHEN found.kind = 'machine' THEN (
                SELECT m.read_at FROM drover.machine_reading m WHERE m.vehicle = found.vehicle AND m.contact IS NULL
                ORDER BY m.read_at DESC LIMIT 1)
            ELSE (SELECT t.end_at FROM drover.trip t WHERE t.vehicle = found.vehicle ORDER BY t.start_at DESC LIMIT 1) END AS last_reading_at
        ) AS last
        CROSS JOIN LATERAL (
            SELECT count(*) AS open_alerts, min(a.severity) AS worst_severity FROM drover.alert a
            WHERE a.kind = found.kind AND a.vehicle = found.vehicle AND a.state IN ('open', 'due_soon') AND a.audience = ANY ($4)
        ) AS alerts
    ) AS listed
) AS counted
WHERE $10 = '' OR ($10 = 'attention' AND open_alerts > 0) OR ($10 = 'silent' AND is_silent)
ORDER BY place
OFFSET $7 LIMIT $8
)
SELECT page.*, unjudged.not_monitored, worst.alert_id, worst.parameter, worst.unit, worst.state, worst.test, worst.threshold, worst.worst_value
FROM page
LEFT JOIN drover.not_monitored_of(ARRAY(SELECT page.kind FROM page), ARRAY(SELECT page.vehicle FROM page)) AS unjudged
    ON unjudged.kind = page.kind AND unjudged.vehicle = page.vehicle
LEFT JOIN LATERAL (
    SELECT a.alert_id, a.parameter, a.unit, a.state, a.test, a.threshold, a.worst_value FROM drover.alert a
    WHERE page.open_alerts > 0 AND a.kind = page.kind AND a.vehicle = page.vehicle AND a.state IN ('open', 'due_soon') AND a.audience = ANY ($4)
    ORDER BY a.severity, a.state = 'due_soon', a.opened_at DESC LIMIT 1) AS worst ON true
ORDER BY page.place
