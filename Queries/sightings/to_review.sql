-- Question: Which surveys wait for a reviewer, the longest waiting first?
-- Parameter: limit integer = 100: so many
-- Plan: survey
-- For: installation
-- Example result: site-1 | w5 | 0 | 2026-09-19T00:00:00Z | 2026-09-19 | 3 | 6 | a name that is not known
SELECT s.site, s.survey, s.version, s.submitted_at, to_char(s.local_date, 'YYYY-MM-DD') AS day, s.sightings, s.individuals,
    string_agg(open.reason, '; ' ORDER BY open.reason) AS reasons
FROM (
    SELECT n.site, n.survey, 'a name that is not known' AS reason FROM drover.survey n WHERE n.needs_review
    UNION ALL
    SELECT x.site, x.survey, x.species || ': ' || u.reason FROM drover.unusual_sightings(NULL) u
    JOIN drover.sighting_shown x ON x.site = u.site AND x.species = u.species AND x.version = 0 AND x.individuals > 0
        AND x.seen_at >= make_date(u.year, u.month, 1)::timestamptz - interval '2 days'
        AND x.seen_at < make_date(u.year, u.month, 1)::timestamptz + interval '33 days'
        AND x.local_date >= make_date(u.year, u.month, 1)
        AND x.local_date < make_date(u.year, u.month, 1) + interval '1 month'
    GROUP BY 1, 2, 3
) open JOIN drover.survey s ON s.site = open.site AND s.survey = open.survey
GROUP BY s.site, s.survey, s.version, s.submitted_at, s.local_date, s.sightings, s.individuals
ORDER BY s.submitted_at, s.site, s.survey
LIMIT $1::int
