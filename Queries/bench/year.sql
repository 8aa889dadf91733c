-- The tables of a year.
SELECT drover.make_sighting_year($1)
