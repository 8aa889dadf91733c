-- Question: which vehicles are there, and is anything wrong with them? Disabled ones come last.
-- Parameters: $1 a tag, or empty; $2 a part of id, Machine ID, name, model or a dealer's own words, or empty; $3 car, machine, or empty; $4 audiences that the
-- reader belongs to; $5, $6 for pages of one kind: is_disabled and vehicle of the last row before (false and empty: from the
-- first on); $7 how many.
WITH found AS MATERIALIZED (
    SELECT vehicle, kind, r.name, coalesce(v.model, r.model) AS model, coalesce(r.tags, '{}') AS tags,
           CASE WHEN kind = 'machine' THEN (
               SELECT m.read_at FROM drover.machine_reading m WHERE m.vehicle = v.vehicle AND m.contact IS NULL
               ORDER BY m.read_at DESC LIMIT 1) ELSE v.last_reading_at END AS last_reading_at, coalesce(r.is_disabled, false) AS is_disabled,
           own.own_class, coalesce(own.own_tags, '{}') AS own_tags
    FROM (SELECT * FROM drover.vehicle WHERE $3 = '' OR kind = $3) v
    FULL JOIN (SELECT kind, vehicle, name, model, tags, is_disabled FROM drover.registration WHERE $3 = '' OR kind = $3) r USING (kind, vehicle)
    LEFT JOIN (SELECT vehicle AS marked, class AS own_class, tags AS own_tags FROM drover.dealer_mark
    WHERE account = (SELECT drover.sight_account())) AS own ON kind = 'machine' AND vehicle = own.marked
    WHERE ($1 = '' OR $1 = ANY (r.tags) OR $1 = ANY (own.own_tags))
        AND ($2 = '' OR position(lower($2) IN lower(concat_ws(' ', vehicle, r.name, v.machine_id, v.model, r.model, own.own_class, array_to_string(own.own_tags, ' ')))) > 0)
        AND (coalesce(r.is_disabled, false), vehicle COLLATE "C") > ($5::boolean, $6)
    ORDER BY is_disabled, kind, vehicle COLLATE "C"
    LIMIT $7
)
SELECT found.*, alerts.open_alerts, alerts.worst_severity, unjudged.not_monitored
FROM found
LEFT JOIN drover.not_monitored_of(ARRAY(SELECT found.kind FROM found), ARRAY(SELECT found.vehicle FROM found)) AS unjudged
    ON unjudged.kind = found.kind AND unjudged.vehicle = found.vehicle
CROSS JOIN LATERAL (
    SELECT count(*) AS open_alerts, min(a.severity) AS worst_severity FROM drover.alert a
    WHERE a.kind = found.kind AND a.vehicle = found.vehicle AND a.state IN ('open', 'due_soon') AND a.audience = ANY ($4)
) AS alerts
ORDER BY found.is_disabled, found.kind, found.vehicle COLLATE "C"
