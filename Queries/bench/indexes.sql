-- What sightings are looked up by, but for their keys.
SELECT indexname, indexdef FROM pg_indexes
WHERE schemaname = 'drover' AND tablename IN ('sighting', 'sighting_week') AND indexname NOT LIKE '%_pkey'
