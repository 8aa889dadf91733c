-- Question: where was a species seen last?
-- Parameters: $1 accepted name; $2 since when.
-- Example result: 2024-06-02 09:10:00+00 | watamu | 3 | -3.3782 | 39.9889 |
SELECT seen_at, site, individuals, latitude_deg, longitude_deg, generalization
FROM drover.sighting_shown WHERE species = $1 AND seen_at >= $2::timestamptz AND individuals > 0
ORDER BY seen_at DESC LIMIT 100
