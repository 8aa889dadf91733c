-- Question: which vehicles have these letters in their name, id, Machine ID, tags, model or maker, or in a dealer's own words?
-- Parameters: $1 the letters in lower case, as a pattern of LIKE with its signs escaped, like `%8r\_1%`; $2 how many.
-- Example result: machine | 8R-0001 | Old Faithful | 8R Tractor | {north}
SELECT kind, vehicle, r.name, coalesce(v.model, nullif(concat_ws(' ', r.make, r.model, r.year), '')) AS model, coalesce(r.tags, '{}') || array_remove(ARRAY[own.own_class], NULL) || coalesce(own.own_tags, '{}') AS tags
FROM drover.vehicle v FULL JOIN drover.registration r USING (kind, vehicle)
LEFT JOIN (SELECT vehicle AS marked, class AS own_class, tags AS own_tags FROM drover.dealer_mark
    WHERE account = (SELECT drover.sight_account())) AS own ON kind = 'machine' AND vehicle = own.marked
WHERE lower(concat_ws(' ', vehicle, r.name, v.machine_id, v.model, r.make, r.model, array_to_string(r.tags, ' '), own.own_class, array_to_string(own.own_tags, ' '))) LIKE $1
ORDER BY coalesce(r.is_disabled, false), lower(coalesce(r.name, vehicle)) NOT LIKE substr($1, 2), lower(coalesce(r.name, vehicle)), vehicle COLLATE "C", kind
LIMIT $2
