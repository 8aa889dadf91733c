-- Question: which fleets are there, what is in them, and who belongs to them?
-- Parameters: none.
-- Example result: north | North farm | | mtg-1 (machine), car-7 (car) | miller
SELECT f.fleet, f.name, f.part_of,
    (SELECT string_agg(v.vehicle || ' (' || v.kind || ')', ', ' ORDER BY v.kind, v.vehicle COLLATE "C") FROM drover.fleet_vehicle v
     WHERE v.fleet = f.fleet) AS vehicles,
    (SELECT string_agg(m.account, ', ' ORDER BY m.account COLLATE "C") FROM drover.fleet_member m WHERE m.fleet = f.fleet) AS members
FROM drover.fleet f
ORDER BY coalesce(f.part_of, f.fleet) COLLATE "C", f.part_of NULLS FIRST, f.fleet COLLATE "C"
