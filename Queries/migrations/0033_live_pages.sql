-- Open pages are told that something was committed of cars or machines. That there is news is all that is said: pages ask for it
-- with their own rights.
CREATE FUNCTION drover.tell_fleet_progress() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    -- The same text several times in a transaction is told once.
    PERFORM pg_notify('drover_fleet', '');
    RETURN NULL;
END $$;
CREATE TRIGGER fleet_progress_tell AFTER INSERT OR UPDATE ON drover.partition_progress
    FOR EACH ROW WHEN (NEW.topic IN ('drover.cars', 'drover.machines')) EXECUTE FUNCTION drover.tell_fleet_progress();
