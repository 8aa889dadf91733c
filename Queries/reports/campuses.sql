-- Question: which campuses are there, and what goes on?
-- Parameters: none.
-- Example result: north | The square | 3 | 7 | 2
SELECT c.campus, c.name,
       (SELECT count(*) FROM drover.ride_vehicle v WHERE v.campus = c.campus AND v.state = 'in_service') AS vehicles_in_service,
       (SELECT count(*) FROM drover.ride r WHERE r.campus = c.campus AND r.ended_at IS NULL) AS rides_outstanding,
       (SELECT count(*) FROM drover.ride r WHERE r.campus = c.campus AND r.state = 'queued') AS rides_in_line
FROM drover.campus c ORDER BY c.campus
