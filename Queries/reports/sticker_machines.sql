-- Question: which machines get a sticker? Disabled ones only where they are named.
-- Parameters: $1 vehicles, or none for all; $2 a part of id, name, model or a dealer's own words, or empty; $3 a tag, or empty;
-- $4 a dealer's own class, or empty; $5 a dealer's own tag, or empty; $6 how many.
-- Example result: 8R-0001 | Old Faithful | 8R Tractor
SELECT vehicle, r.name, coalesce(v.model, r.model) AS model
FROM (SELECT vehicle, model FROM drover.vehicle WHERE kind = 'machine') v
FULL JOIN (SELECT vehicle, name, model, tags, is_disabled FROM drover.registration WHERE kind = 'machine') r USING (vehicle)
LEFT JOIN (SELECT vehicle AS marked, class AS own_class, tags AS own_tags FROM drover.dealer_mark
    WHERE account = (SELECT drover.sight_account())) AS own ON vehicle = own.marked
WHERE CASE WHEN cardinality($1::text[]) > 0 THEN vehicle = ANY ($1) ELSE r.is_disabled IS NOT TRUE END
    AND ($3 = '' OR $3 = ANY (r.tags)) AND ($4 = '' OR $4 = own.own_class) AND ($5 = '' OR $5 = ANY (own.own_tags))
    AND ($2 = '' OR position(lower($2) IN lower(concat_ws(' ', vehicle, r.name, v.model, r.model, own.own_class, array_to_string(own.own_tags, ' ')))) > 0)
ORDER BY lower(coalesce(r.name, vehicle)), vehicle COLLATE "C"
LIMIT $6
