-- Question: On which days of the week do visitors come?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Parameter: tour text = : its id; empty for all
-- Plan: tour_day
-- Chart: visits by weekday
-- Totals: visits
-- Example result: 1 | 233 | 9
-- 1 is Monday; days are those where the visitor was.
SELECT extract(isodow FROM local_date)::int AS weekday, sum(events) AS visits, count(DISTINCT local_date) AS days_with_visits
FROM analyst.tour_day
WHERE kind = 'visit' AND local_date BETWEEN $1::date AND $2::date AND ($3::text = '' OR tour = $3)
GROUP BY 1
ORDER BY 1
