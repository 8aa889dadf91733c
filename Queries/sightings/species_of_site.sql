-- Question: Which species were seen at a site?
-- Parameter: site text: its id
-- Parameter: from date = 1700-01-01: the first day
-- Parameter: to date = 2200-12-31: the last day
-- Plan: sighting
-- Chart: individuals by species
-- Totals: sightings individuals
-- Example result: Acraea anemosa | 6 | 18 | 2026-09-25
SELECT species, count(*) AS sightings, sum(individuals)::bigint AS individuals, to_char(max(local_date), 'YYYY-MM-DD') AS last_seen
FROM analyst.sighting
WHERE site = $1 AND seen_at >= $2::date::timestamptz - interval '1 day' AND seen_at < $3::date::timestamptz + interval '2 days'
    AND local_date BETWEEN $2::date AND $3::date
GROUP BY species
ORDER BY individuals DESC, species
