-- Riders' and ride drivers' apps: who waits for a commit is told of it, photos, and addresses looked up by the page's login.

-- How far the campuses of a partition are decided and committed: PARTITION OFFSET, all before it is in the tables.
CREATE FUNCTION drover.tell_dispatch_progress() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM pg_notify('drover_dispatch_progress', NEW.partition || ' ' || NEW.replay_offset);
    RETURN NULL;
END $$;
CREATE TRIGGER dispatch_progress_tell AFTER INSERT OR UPDATE ON drover.partition_progress
    FOR EACH ROW WHEN (NEW.topic = 'drover.dispatch') EXECUTE FUNCTION drover.tell_dispatch_progress();

-- Photos of people, by their content. Not on the log: profiles name them, and nothing is decided by them.
CREATE TABLE drover.person_photo (
    campus     text        NOT NULL,
    person     text        NOT NULL,
    photo      text        NOT NULL CHECK (photo ~ '^[0-9a-f]{64}$'),    -- digest of the content
    media_type text        NOT NULL CHECK (media_type IN ('image/jpeg', 'image/png', 'image/webp')),
    content    bytea       NOT NULL CHECK (octet_length(content) <= 524288),
    kept_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (campus, person, photo)
);
CREATE INDEX person_photo_by_content ON drover.person_photo (campus, photo);

-- Keeps a photo, and the two before it: a vehicle in service may still show one of them.
CREATE FUNCTION drover.keep_photo(a_campus text, a_person text, a_photo text, a_type text, a_content bytea)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('drover.person_photo ' || a_campus || ' ' || a_person, 0));
    INSERT INTO drover.person_photo (campus, person, photo, media_type, content)
        VALUES (a_campus, a_person, a_photo, a_type, a_content)
        ON CONFLICT (campus, person, photo) DO UPDATE SET kept_at = clock_timestamp();
    DELETE FROM drover.person_photo p WHERE p.campus = a_campus AND p.person = a_person AND p.photo NOT IN (
        SELECT q.photo FROM drover.person_photo q WHERE q.campus = a_campus AND q.person = a_person
        ORDER BY q.kept_at DESC LIMIT 3);
END $$;
REVOKE EXECUTE ON FUNCTION drover.keep_photo(text, text, text, text, bytea) FROM PUBLIC;

-- Analysts (drover_reader) see no photos.
GRANT SELECT ON drover.person_photo TO drover_api;
GRANT EXECUTE ON FUNCTION drover.keep_photo(text, text, text, text, bytea) TO drover_api;
GRANT SELECT, INSERT, UPDATE ON drover.outside_service TO drover_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.outside_call, drover.geocode TO drover_api;
CREATE INDEX ride_vehicle_by_driver ON drover.ride_vehicle (campus, driver);
CREATE INDEX ride_outstanding_of_rider ON drover.ride (campus, rider) WHERE ended_at IS NULL;
