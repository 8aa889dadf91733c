-- Question: which engine hours has a machine said last, and when?
-- Parameters: $1 vehicle.
SELECT engine_hours_h, read_at FROM drover.machine_reading WHERE vehicle = $1 AND engine_hours_h IS NOT NULL ORDER BY read_at DESC LIMIT 1
