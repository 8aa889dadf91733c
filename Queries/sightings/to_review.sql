-- Question: Which surveys wait for a reviewer, the longest waiting first?
-- Parameter: limit integer = 100: so many
-- Plan: survey_to_review
SELECT site, survey, version, submitted_at, to_char(local_date, 'YYYY-MM-DD') AS day, sightings, individuals
FROM drover.survey
WHERE needs_review
ORDER BY submitted_at, site, survey
LIMIT $1::int
