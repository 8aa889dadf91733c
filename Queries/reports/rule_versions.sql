-- Question: which rule sets were in force, since when, and who changed what in a page? The latest comes first.
-- Parameters: $1 how many.
SELECT coalesce(s.in_force_at, e.edited_at) AS at, version, e.account, e.changes
FROM (SELECT version, min(in_force_at) AS in_force_at FROM drover.rule_set GROUP BY version) s
FULL JOIN drover.rule_edit e USING (version)
ORDER BY coalesce(e.edited_at, s.in_force_at) DESC, version
LIMIT $1
