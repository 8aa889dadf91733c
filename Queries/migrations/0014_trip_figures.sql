-- Trips people believe: peaks and a severity of accelerating and braking, and fuel by every method that the readings
-- allow, as sums that no registration and no price changes. NULL: unknown; also in rows that an older program wrote.

ALTER TABLE drover.vehicle_minute
    ADD COLUMN max_acceleration_mm_per_s2 int,       -- greatest change of speed over one second
    ADD COLUMN max_braking_mm_per_s2 int,
    ADD COLUMN acceleration_mm2_per_s3 bigint,       -- severity: integral of the squared smoothed acceleration
    ADD COLUMN braking_mm2_per_s3 bigint,
    ADD COLUMN fuel_rate_ul bigint,                  -- by the engine's own rate (PID 5E)
    ADD COLUMN fuel_rate_ms bigint,                  -- time that it covers
    ADD COLUMN burnt_air_mg bigint,                  -- of air_mg what met fuel at the stoichiometric ratio
    ADD COLUMN air_ms bigint,                        -- time that both cover
    ADD COLUMN burnt_air_calculated_mg bigint,
    ADD COLUMN air_calculated_ms bigint,
    ADD COLUMN burnt_air_per_litre_mg bigint,        -- speed-density, for each litre of displacement, filled wholly
    ADD COLUMN air_per_litre_ms bigint,
    ADD COLUMN fuel_cut_ms bigint;                   -- overrun without fuel; NULL: the car does not tell
ALTER TABLE drover.trip
    ADD COLUMN max_acceleration_mm_per_s2 int,
    ADD COLUMN max_braking_mm_per_s2 int,
    ADD COLUMN acceleration_mm2_per_s3 bigint,
    ADD COLUMN braking_mm2_per_s3 bigint,
    ADD COLUMN fuel_rate_ul bigint,
    ADD COLUMN fuel_rate_ms bigint,
    ADD COLUMN burnt_air_mg bigint,
    ADD COLUMN air_ms bigint,
    ADD COLUMN burnt_air_calculated_mg bigint,
    ADD COLUMN air_calculated_ms bigint,
    ADD COLUMN burnt_air_per_litre_mg bigint,
    ADD COLUMN air_per_litre_ms bigint,
    ADD COLUMN fuel_cut_ms bigint;
ALTER TABLE drover.vehicle_day
    ADD COLUMN max_acceleration_mm_per_s2 int,
    ADD COLUMN max_braking_mm_per_s2 int,
    ADD COLUMN acceleration_mm2_per_s3 bigint,
    ADD COLUMN braking_mm2_per_s3 bigint,
    ADD COLUMN fuel_rate_ul bigint,
    ADD COLUMN fuel_rate_ms bigint,
    ADD COLUMN burnt_air_mg bigint,
    ADD COLUMN air_ms bigint,
    ADD COLUMN burnt_air_calculated_mg bigint,
    ADD COLUMN air_calculated_ms bigint,
    ADD COLUMN burnt_air_per_litre_mg bigint,
    ADD COLUMN air_per_litre_ms bigint,
    ADD COLUMN fuel_cut_ms bigint;
