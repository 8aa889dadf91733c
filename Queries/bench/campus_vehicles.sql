-- Vehicles of campuses.
SELECT count(*) AS n FROM drover.ride_vehicle
