-- Question: what is there under this id? A car and a machine may have the same one.
-- Parameters: $1 vehicle.
SELECT kind, vehicle, r.name, coalesce(v.model, r.model) AS model, coalesce(r.tags, '{}') AS tags,
       coalesce(r.is_disabled, false) AS is_disabled, r.make
FROM (SELECT kind, vehicle, model FROM drover.vehicle WHERE vehicle = $1) v
FULL JOIN (SELECT kind, vehicle, name, model, tags, is_disabled, make FROM drover.registration WHERE vehicle = $1) r USING (kind, vehicle)
ORDER BY kind
