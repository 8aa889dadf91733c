-- Question: what did this machine read in a span, in pieces of equal length? Each piece has its mean, least and greatest value, so that
-- peaks stay, and where the machine was last.
-- Parameters: $1 vehicle; $2 from, $3 until (timestamptz); $4 length of a piece in seconds.
-- Example result: 2026-09-14 02:00:00+00 | 62.1 | 61 | 63.5 | 91.2 | 84 | 97.2 | …
SELECT date_bin($4::bigint * interval '1 second', read_at, $2::timestamptz) AS piece_at,
       avg(fuel_level_gal) AS fuel_level_gal_mean, min(fuel_level_gal) AS fuel_level_gal_least, max(fuel_level_gal) AS fuel_level_gal_most,
       avg(coolant_c) AS coolant_c_mean, min(coolant_c) AS coolant_c_least, max(coolant_c) AS coolant_c_most,
       avg(hydraulic_oil_c) AS hydraulic_oil_c_mean, min(hydraulic_oil_c) AS hydraulic_oil_c_least,
       max(hydraulic_oil_c) AS hydraulic_oil_c_most,
       avg(tire_pressure_kpa) AS tire_pressure_kpa_mean, min(tire_pressure_kpa) AS tire_pressure_kpa_least,
       max(tire_pressure_kpa) AS tire_pressure_kpa_most,
       (array_agg(latitude_deg ORDER BY read_at DESC) FILTER (WHERE longitude_deg IS NOT NULL))[1] AS latitude_deg,
       (array_agg(longitude_deg ORDER BY read_at DESC) FILTER (WHERE latitude_deg IS NOT NULL))[1] AS longitude_deg
FROM drover.machine_reading
WHERE vehicle = $1 AND read_at >= $2 AND read_at < $3 AND contact IS NULL
GROUP BY piece_at
ORDER BY piece_at
