-- Question: Which surveys did not keep to their protocol, and why?
-- Parameter: from date: the first day, UTC
-- Parameter: to date: the last day
-- Plan: survey_by_time
-- Example result: 2026-09-14T00:00:00Z | site-0 | w0 | pollard | 
SELECT started_at, site, survey, protocol, array_to_string(gate_reasons, '; ') AS reasons
FROM analyst.survey
WHERE started_at >= $1::date::timestamptz AND started_at < $2::date::timestamptz + interval '1 day' AND gate = 'outside'
ORDER BY started_at, site, survey
