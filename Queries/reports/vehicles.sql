-- Question: which vehicles are there, how are they reached, and is anything wrong with them?
-- Parameters: $1 a tag, or empty; $2 a part of id, name or model, or empty; $3 how many.
SELECT vehicle, kind, r.name, coalesce(v.model, r.model) AS model, array_to_string(r.tags, ',') AS tags,
       r.host || ':' || r.port AS address, r.certificate_sha256 IS NOT NULL AS is_encrypted,
       v.last_reading_at, coalesce(r.is_disabled, false) AS is_disabled,
       (SELECT count(*) FROM drover.alert a
        WHERE kind = 'machine' AND a.vehicle = v.vehicle AND a.state IN ('open', 'due_soon')) AS open_alerts
FROM drover.vehicle v FULL JOIN drover.registration r USING (kind, vehicle)
WHERE ($1 = '' OR $1 = ANY (r.tags))
    AND ($2 = '' OR position(lower($2) IN lower(concat_ws(' ', vehicle, r.name, v.model, r.model))) > 0)
ORDER BY is_disabled, kind, vehicle
LIMIT $3
