-- Question: How much was walked at each site, and how much of it by the protocol?
-- Parameter: from date: the first day
-- Parameter: to date: the last day
-- Plan: survey_by_time
-- Chart: surveys by site
-- Totals: surveys hours km
-- Example result: site-0 | 4 | 2 | 2 | 4 | 4.8
SELECT site, count(*) AS surveys, count(*) FILTER (WHERE gate = 'within') AS within_rules,
    count(*) FILTER (WHERE gate = 'outside') AS outside_rules,
    sum(extract(epoch FROM stopped_at - started_at))::float8 / 3600 AS hours, sum(distance_m) / 1000 AS km
FROM analyst.survey
WHERE started_at >= $1::date::timestamptz - interval '1 day' AND started_at < $2::date::timestamptz + interval '2 days'
    AND local_date BETWEEN $1::date AND $2::date
GROUP BY site
ORDER BY surveys DESC, site
