-- Out of place and out of season: what a reviewer should look at because the deployment's own records never had it there.
-- Nothing of it is stored: each new survey changes what is unusual of the others (docs/decisions/0014).
CREATE INDEX species_season_by_cell ON drover.species_season (latitude_cell, longitude_cell, month);

-- A species that one survey met, where no other survey met it within three degrees in that month and the ones beside it:
--   out of place   no other met it within three degrees at all, and 300 records of any species are from there;
--   out of season  others met it there 20 times, and 300 records of any species are from there in these months.
-- A record is a species that a survey met in a cell of one degree. Rows of one site's month never speak for each other: they
-- can be of one survey. NULL: all sites.
CREATE FUNCTION drover.unusual_sightings(a_site text)
RETURNS TABLE (site text, year int, month int, species text, reason text)
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
    WITH met AS (
        -- Of one site each is a row; of all sites what two met in one cell and month is left out first.
        SELECT s.site, s.latitude_cell, s.longitude_cell, s.year, s.month, s.species FROM drover.species_season s
        WHERE a_site IS NOT NULL AND s.site = a_site AND s.surveys = 1
        UNION ALL
        SELECT min(s.site), s.latitude_cell, s.longitude_cell, min(s.year), s.month, s.species FROM drover.species_season s
        WHERE a_site IS NULL GROUP BY s.species, s.latitude_cell, s.longitude_cell, s.month HAVING sum(s.surveys) = 1
    ), alone AS (
        SELECT met.*, ARRAY[(met.month + 10) % 12 + 1, met.month, met.month % 12 + 1] AS months
        FROM met LEFT JOIN LATERAL (
            SELECT true AS is_met FROM drover.species_season o
            WHERE o.species = met.species AND o.latitude_cell BETWEEN met.latitude_cell - 3 AND met.latitude_cell + 3
                -- 180° east and west are one meridian.
                AND (o.longitude_cell - met.longitude_cell + 540) % 360 BETWEEN 177 AND 183
                AND o.month IN ((met.month + 10) % 12 + 1, met.month, met.month % 12 + 1)
                AND (o.site, o.year, o.month) <> (met.site, met.year, met.month)
            LIMIT 1) other ON true
        WHERE other.is_met IS NULL
    ), judged AS MATERIALIZED (
        SELECT alone.*, others.records = 0 AS is_place
        FROM alone, LATERAL (
            SELECT coalesce(sum(surveys), 0) AS records FROM (
                SELECT o.surveys FROM drover.species_season o
                WHERE o.species = alone.species
                    AND o.latitude_cell BETWEEN alone.latitude_cell - 3 AND alone.latitude_cell + 3
                    AND (o.longitude_cell - alone.longitude_cell + 540) % 360 BETWEEN 177 AND 183
                    AND (o.site, o.year, o.month) <> (alone.site, alone.year, alone.month)
                -- Each has a record or more: enough is enough.
                LIMIT 20) o) others
        WHERE others.records = 0 OR others.records >= 20
    ), totals AS MATERIALIZED (
        SELECT s.latitude_cell, s.longitude_cell, s.month, sum(s.surveys) AS records FROM drover.species_season s
        WHERE s.latitude_cell BETWEEN (SELECT min(latitude_cell) - 3 FROM judged) AND (SELECT max(latitude_cell) + 3 FROM judged)
        GROUP BY 1, 2, 3
    ), near AS MATERIALIZED (
        SELECT t.latitude_cell + dy AS latitude_cell, (t.longitude_cell + dx + 540) % 360 - 180 AS longitude_cell, t.month,
            sum(t.records) AS records
        FROM totals t, generate_series(-3, 3) AS dy, generate_series(-3, 3) AS dx
        GROUP BY 1, 2, 3
    )
    SELECT j.site, j.year, j.month, j.species,
        CASE WHEN j.is_place THEN 'out of place: no other survey met it within three degrees'
            ELSE 'out of season: no other survey within three degrees met it in that month or the ones beside it' END
    FROM judged j JOIN near n ON n.latitude_cell = j.latitude_cell AND n.longitude_cell = j.longitude_cell
        AND (j.is_place OR n.month = ANY (j.months))
    GROUP BY j.site, j.year, j.month, j.species, j.is_place, j.latitude_cell, j.longitude_cell HAVING sum(n.records) >= 300
$$;
REVOKE EXECUTE ON FUNCTION drover.unusual_sightings(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.unusual_sightings(text) TO drover_reader, drover_writer;
