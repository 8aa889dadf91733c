-- Question: what is there under this id? A car and a machine may have the same one.
-- Parameters: $1 vehicle.
SELECT kind, vehicle, r.name, coalesce(v.model, r.model) AS model, coalesce(r.tags, '{}') AS tags,
       coalesce(r.is_disabled, false) AS is_disabled, r.make, v.is_known IS TRUE AS has_reported,
       drover.not_monitored(kind, vehicle) AS not_monitored
FROM (SELECT kind, vehicle, model, true AS is_known FROM drover.vehicle WHERE vehicle = $1) v
FULL JOIN (SELECT kind, vehicle, name, model, tags, is_disabled, make FROM drover.registration WHERE vehicle = $1) r USING (kind, vehicle)
ORDER BY kind
