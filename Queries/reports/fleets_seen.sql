-- Question: which fleets may a reader narrow a report to?
-- Parameters: $1 how many.
-- Example result: north | North farm
SELECT DISTINCT fleet, name FROM drover.fleets_seen() ORDER BY fleet LIMIT $1
