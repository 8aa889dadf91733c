-- Question: which surveys wait for a reviewer, the oldest first?
-- Parameters: none.
-- Example result: watamu | 2020-05-01_1000 | 2026-11-22 09:00:00+00 | 14
SELECT site, survey, submitted_at, sightings FROM drover.survey WHERE needs_review ORDER BY submitted_at, site, survey LIMIT 500
