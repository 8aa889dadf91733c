-- Question: what did this machine say, newest first? Page by page: the next one begins before the last row's time.
-- Parameters: $1 vehicle; $2 before this time; $3 how many.
SELECT read_at, reading_id, model, engine_hours_h, fuel_level_gal, coolant_c, hydraulic_oil_c, tire_pressure_kpa,
       gps_available, gps_fix_at, latitude_deg, longitude_deg, rda_license, wdt_license, machine_sync, connected_devices,
       connected_device_names, engine_turn_on_count, key_turn_on_count, last_cell_call_in_at, last_reprogramming_ok,
       last_reprogramming_at, serial, firmware, machine_id
FROM drover.machine_reading
WHERE vehicle = $1 AND read_at < $2 AND contact IS NULL
ORDER BY read_at DESC
LIMIT $3
