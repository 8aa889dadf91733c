-- Question: How often was each tour downloaded, and its waypoints visited, month by month?
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Plan: tour_day
-- Chart: visits by tour
-- Totals: downloads visits
-- Example result: gorge | 2026-07 | 75 | 364
SELECT tour, to_char(local_date, 'YYYY-MM') AS month, coalesce(sum(events) FILTER (WHERE kind = 'download'), 0) AS downloads,
    coalesce(sum(events) FILTER (WHERE kind = 'visit'), 0) AS visits
FROM analyst.tour_day
WHERE local_date BETWEEN $1::date AND $2::date
GROUP BY 1, 2
ORDER BY 1, 2
