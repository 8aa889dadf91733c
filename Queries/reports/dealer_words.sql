-- Question: which classes and tags of their own has a dealer given machines, and how many machines each?
-- Parameters: $1 how many of each.
-- Example result: class | Fleet service | 12
(SELECT 'class' AS what, class AS word, count(*) AS machines FROM drover.dealer_mark
 WHERE account = (SELECT drover.sight_account()) AND class IS NOT NULL
 GROUP BY class ORDER BY class LIMIT $1)
UNION ALL
(SELECT 'tag', tag, count(*) FROM drover.dealer_mark, unnest(tags) AS tag
 WHERE account = (SELECT drover.sight_account()) GROUP BY tag ORDER BY tag LIMIT $1)
