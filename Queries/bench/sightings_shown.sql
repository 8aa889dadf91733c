-- Sightings that are counted.
SELECT count(*) FROM drover.sighting_shown
