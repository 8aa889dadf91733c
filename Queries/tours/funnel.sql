-- Question: How many visitors reach each waypoint of a tour?
-- Parameter: tour text: its id
-- Parameter: from date = 1970-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Plan: tour_day
-- Chart: visits by waypoint
-- Example result: 1 | gate | 724 | 100 | 
-- In the order of the newest version; phones tell each visit of a waypoint once and say nothing of who it was, so one visitor's
-- way and the time at a waypoint are not known.
SELECT w.position, w.waypoint, coalesce(sum(d.events), 0) AS visits,
    round(100.0 * coalesce(sum(d.events), 0) / nullif(first_value(coalesce(sum(d.events), 0)) OVER (ORDER BY w.position), 0), 1)::float8 AS of_first_pct,
    round(100.0 * coalesce(sum(d.events), 0) / nullif(lag(coalesce(sum(d.events), 0)) OVER (ORDER BY w.position), 0), 1)::float8 AS of_before_pct
FROM analyst.tour_waypoint w LEFT JOIN analyst.tour_day d ON d.tour = w.tour AND d.kind = 'visit' AND d.waypoint = w.waypoint
    AND d.local_date BETWEEN $2::date AND $3::date
WHERE w.tour = $1
GROUP BY w.position, w.waypoint
ORDER BY w.position
