-- Question: why does nothing judge this car as it is now? NULL: something does.
-- Parameters: $1 vehicle.
-- Example result: nobody
SELECT drover.not_monitored('car', $1) AS not_monitored
