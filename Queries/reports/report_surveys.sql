-- Question: how many walks were made at each site by day, and what was seen? Days are those of the surveyors' clocks.
-- Parameters: $1 start, $2 end (timestamptz); $3 a site, or empty; $4 how many; $5 time zone: of these days.
-- Example result: 2026-05-14 | arabuko | 3 | 2.4 | 3.1 | 41 | 97 | 1
SELECT s.local_date::text AS day, s.site, count(*)::int AS walks,
       (sum(s.distance_m) / 1000)::float8 AS distance_km,
       (sum(extract(epoch FROM s.stopped_at - s.started_at)) / 3600)::float8 AS walking_h, sum(s.sightings)::int AS sightings,
       sum(s.individuals)::bigint AS individuals, count(*) FILTER (WHERE s.gate = 'outside')::int AS outside_protocol,
       count(*) FILTER (WHERE s.needs_review)::int AS to_review
FROM drover.seen_walk s
WHERE s.local_date >= ($1 AT TIME ZONE $5)::date AND s.local_date < ($2 AT TIME ZONE $5)::date AND ($3::text = '' OR s.site = $3)
GROUP BY s.local_date, s.site
ORDER BY s.local_date, s.site COLLATE "C"
LIMIT $4
