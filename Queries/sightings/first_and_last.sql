-- Question: On which days was a species first and last seen in each year at a site, or anywhere?
-- Parameter: species text: its accepted name
-- Parameter: site text = : one site; empty for all
-- Plan: sighting
-- Chart: individuals by year
-- Example result: 2026 | 2026-09-14 | 2026-09-25 | 24
SELECT extract(year FROM local_date)::int AS year, to_char(min(local_date), 'YYYY-MM-DD') AS first_seen,
    to_char(max(local_date), 'YYYY-MM-DD') AS last_seen, sum(individuals)::bigint AS individuals
FROM analyst.sighting
WHERE species = $1 AND ($2 = '' OR site = $2) AND individuals > 0
GROUP BY 1
ORDER BY 1
