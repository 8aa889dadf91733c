-- What the box calls the machine (Machine ID), with each reading; and the one it said last, which people search by. Readings from before have
-- none: the records of their boxes did not carry it.
ALTER TABLE drover.machine_reading ADD COLUMN machine_id text;
ALTER TABLE drover.vehicle ADD COLUMN machine_id text;
ALTER TABLE drover.vehicle ADD COLUMN machine_id_at timestamptz;  -- the reading that said so

CREATE OR REPLACE VIEW analyst.machine_reading WITH (security_invoker) AS
SELECT r.vehicle, r.read_at, r.model, r.serial, r.firmware, r.engine_hours_h, r.engine_turn_on_count, r.key_turn_on_count, r.fuel_level_gal,
    r.coolant_c, r.hydraulic_oil_c, r.tire_pressure_kpa, r.gps_available, r.gps_fix_at, r.latitude_deg, r.longitude_deg, r.rda_license,
    r.wdt_license, r.machine_sync, r.connected_devices, r.last_cell_call_in_at, r.last_reprogramming_ok, r.last_reprogramming_at,
    r.is_partial, r.contact AS is_answering, r.machine_id
FROM drover.machine_reading r;
COMMENT ON COLUMN analyst.machine_reading.machine_id IS 'What the box calls the machine.';

CREATE OR REPLACE VIEW own.machine_reading WITH (security_invoker) AS SELECT * FROM analyst.machine_reading a
WHERE a.vehicle = ANY (ARRAY(SELECT v.vehicle FROM drover.vehicle v WHERE v.kind = 'machine')) OFFSET 0;
