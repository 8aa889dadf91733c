-- Question: which groups (tags) of vehicles are there?
-- Parameters: $1 how many.
SELECT DISTINCT tag FROM drover.registration r, unnest(r.tags) AS tag
WHERE NOT r.is_disabled
ORDER BY tag LIMIT $1
