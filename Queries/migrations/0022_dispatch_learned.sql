-- What a campus learned of its places, and the hour that speed and surge were said for last.
ALTER TABLE drover.campus
    ADD COLUMN likelihoods    bytea,               -- Sources/Itineraries/LikelihoodsPacked.swift; NULL: nothing yet
    ADD COLUMN hour_at        timestamptz,
    ADD COLUMN hour_speed_kmh double precision;    -- NULL: the campus's own

-- The gateway says the weather of each campus, and measures ways between vehicles and stops.
GRANT SELECT ON drover.campus, drover.ride, drover.ride_vehicle TO drover_gateway;
-- Ways are measured where a pickup comes in.
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.travel_leg, drover.travel_line TO drover_api;
