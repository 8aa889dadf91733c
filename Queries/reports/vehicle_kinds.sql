-- Question: what is there under this id? A car and a machine may have the same one.
-- Parameters: $1 vehicle.
SELECT kind, vehicle, r.name, coalesce(v.model, r.model) AS model, coalesce(r.tags, '{}') AS tags,
       coalesce(r.is_disabled, false) AS is_disabled, r.make, r.year, r.account AS owner, r.fuel, r.tank_l, v.is_known IS TRUE AS has_reported,
       drover.not_monitored(kind, vehicle) AS not_monitored, own.own_class, coalesce(own.own_tags, '{}') AS own_tags
FROM (SELECT kind, vehicle, model, true AS is_known FROM drover.vehicle WHERE vehicle = $1) v
FULL JOIN (SELECT kind, vehicle, name, model, tags, is_disabled, make, year, account, fuel, tank_l FROM drover.registration
           WHERE vehicle = $1) r USING (kind, vehicle)
LEFT JOIN (SELECT vehicle AS marked, class AS own_class, tags AS own_tags FROM drover.dealer_mark
    WHERE account = (SELECT drover.sight_account())) AS own ON kind = 'machine' AND vehicle = own.marked
ORDER BY kind
