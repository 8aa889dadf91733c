-- Question: How many of a species does a survey of a site count on average, week by week of a year?
-- Parameter: species text: its accepted name
-- Parameter: site text: its id
-- Parameter: year integer: of the ISO weeks
-- Plan: survey
-- Chart: mean by iso_week
-- Totals: surveys individuals
-- Example result: 38 | 3 | 6 | 2
WITH visit AS (
    SELECT extract(week FROM local_date)::int AS iso_week, count(*) AS surveys
    FROM analyst.survey
    WHERE site = $2 AND extract(isoyear FROM local_date) = $3::int
    GROUP BY 1
)
SELECT v.iso_week, v.surveys, coalesce(sum(w.individuals), 0)::bigint AS individuals,
    coalesce(sum(w.individuals), 0)::float8 / v.surveys AS mean
FROM visit v
LEFT JOIN analyst.species_week w
    ON w.site = $2 AND w.species = $1 AND w.iso_year = $3::int AND w.iso_week = v.iso_week
GROUP BY v.iso_week, v.surveys
ORDER BY v.iso_week
