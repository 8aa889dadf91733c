-- Question: how much was walked at a site, month by month?
-- Parameters: $1 site.
-- Example result: 2020-05-01 | 12 | 6.4 | 8.2
SELECT date_trunc('month', local_date)::date AS month, count(*) AS surveys,
       round((sum(extract(epoch FROM stopped_at - started_at)) / 3600)::numeric, 1) AS hours,
       round((sum(distance_m) / 1000)::numeric, 1) AS km
FROM drover.survey WHERE site = $1 GROUP BY 1 ORDER BY 1
