-- Question: how often was each tour fetched, and each of its waypoints visited, by day? Days are those where the visitor was.
-- Parameters: $1 start, $2 end (timestamptz); $3 a tour, or empty; $4 how many; $5 time zone: of these days.
-- Example result: 2026-05-14 | gorge | bridge | | 12
SELECT d.local_date::text AS day, d.tour, nullif(d.waypoint, '') AS waypoint,
       (sum(d.events) FILTER (WHERE d.kind = 'download'))::int AS downloads,
       (sum(d.events) FILTER (WHERE d.kind = 'visit'))::int AS visits
FROM drover.tour_day d
WHERE d.local_date >= ($1 AT TIME ZONE $5)::date AND d.local_date < ($2 AT TIME ZONE $5)::date AND ($3::text = '' OR d.tour = $3)
GROUP BY d.local_date, d.tour, d.waypoint
ORDER BY d.local_date, d.tour COLLATE "C", d.waypoint COLLATE "C"
LIMIT $4
