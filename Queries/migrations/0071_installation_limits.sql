-- Limits of the installation, for cars at times at which no account answers for them (docs/decisions/0028-limits-of-the-installation.md).

-- MARK: a name that no account has

-- Their settings are an account's of this name, so that they stand on the log like all others. Where an account is called so already this stops,
-- and nothing is changed: docs/upgrade.md says what to do.
ALTER TABLE drover.account ADD CONSTRAINT account_is_not_the_installation CHECK (account <> 'installation');
ALTER TABLE drover.token ADD CONSTRAINT token_is_not_of_the_installation CHECK (account <> 'installation');

-- MARK: what a partition has taken

-- Each record comes to a partition's cars one after the other by their names, some at each tick. Empty of all other accounts.
ALTER TABLE drover.account_settings
    ADD COLUMN judged_from_at     timestamptz,       -- readings before it are not judged again
    ADD COLUMN reached_vehicle    text,              -- the last car to which it has come; NULL: none, or all
    ADD COLUMN reached_all_offset bigint;            -- the tick at which it had come to all
-- A worker goes through a partition's cars in this order.
CREATE INDEX vehicle_cars_by_name ON drover.vehicle (topic_partition, vehicle COLLATE "C") WHERE kind = 'car';

-- What is in force now, for who runs the installation; no row: nothing was ever set.
CREATE FUNCTION drover.installation_settings() RETURNS TABLE (settings text, in_force_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.settings, s.in_force_at FROM drover.account_settings s
    WHERE s.account = 'installation' AND (drover.is_program() OR drover.sight_roles() && ARRAY['operator', 'administrator'])
    ORDER BY s.in_force_at DESC, s.record_id COLLATE "C" DESC LIMIT 1
$$;
REVOKE EXECUTE ON FUNCTION drover.installation_settings() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.installation_settings() TO drover_page, drover_reader, drover_api;
