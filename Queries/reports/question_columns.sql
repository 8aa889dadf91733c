-- Question: what do the columns mean of the views that may be asked?
-- Parameters: none.
-- Example result: trip | idle_ms | Time standing with the engine running [ms].
SELECT c.relname::text AS view, a.attname::text AS name, pg_catalog.col_description(c.oid, a.attnum::int) AS about
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE n.nspname = 'analyst' AND c.relkind = 'v'
ORDER BY c.relname, a.attnum LIMIT 2000
