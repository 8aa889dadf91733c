-- Pages of campus rides: an account is bound to somebody of the roster by a code that was mailed to them, and then sees what
-- their app sees. Sight is no result (0031): it stands in a table that people change.

CREATE TABLE drover.person_account (
    campus   text        NOT NULL,
    person   text        NOT NULL,
    account  text        NOT NULL REFERENCES drover.account ON DELETE CASCADE,
    bound_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (campus, person),
    FOREIGN KEY (campus, person) REFERENCES drover.person ON DELETE CASCADE
);
CREATE INDEX person_account_by_account ON drover.person_account (account);

-- Uses a code up: `taken`, `wrong` (also: no such person, no code, too late, too many tries) or `too_many`. As in 0020.
CREATE FUNCTION drover.use_code(for_campus text, for_person text, code_digest bytea) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept drover.person_code;
BEGIN
    IF NOT drover.admit_code_request(for_campus, for_person, true) THEN RETURN 'too_many'; END IF;
    SELECT c.* INTO kept FROM drover.person_code c
        JOIN drover.person p USING (campus, person)
        WHERE c.campus = for_campus AND c.person = for_person AND c.expires_at > now() AND c.tries < 5
            AND p.left_at IS NULL AND p.disabled_at IS NULL
        FOR UPDATE OF c FOR SHARE OF p;
    IF NOT FOUND THEN RETURN 'wrong'; END IF;
    IF kept.digest <> code_digest THEN
        UPDATE drover.person_code SET tries = tries + 1 WHERE campus = for_campus AND person = for_person;
        RETURN 'wrong';
    END IF;
    DELETE FROM drover.person_code WHERE campus = for_campus AND person = for_person;
    RETURN 'taken';
END $$;

-- A code for a token, once.
CREATE OR REPLACE FUNCTION drover.take_code(
    for_campus text, for_person text, code_digest bytea, token_digest bytea, device_name text)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    outcome text := drover.use_code(for_campus, for_person, code_digest);
BEGIN
    IF outcome <> 'taken' THEN RETURN outcome; END IF;
    INSERT INTO drover.person_token (digest, campus, person, device, expires_at)
        VALUES (token_digest, for_campus, for_person, device_name, now() + interval '180 days');
    -- Ten devices a person; what is over for a month is forgotten.
    UPDATE drover.person_token SET revoked_at = now() WHERE digest IN (
        SELECT t.digest FROM drover.person_token t
        WHERE t.campus = for_campus AND t.person = for_person AND t.revoked_at IS NULL AND t.expires_at > now()
        ORDER BY t.made_at DESC, t.digest OFFSET 10);
    DELETE FROM drover.person_token t WHERE t.campus = for_campus AND t.person = for_person
        AND least(t.revoked_at, t.expires_at) < now() - interval '30 days';
    RETURN 'taken';
END $$;

-- A code for the account that is logged in, once. Of one role an account is one person: the last one counts.
CREATE FUNCTION drover.bind_person(for_campus text, for_person text, code_digest bytea) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    binder text := drover.sight_account();
    outcome text;
BEGIN
    IF binder IS NULL THEN RETURN 'wrong'; END IF;
    outcome := drover.use_code(for_campus, for_person, code_digest);
    IF outcome <> 'taken' THEN RETURN outcome; END IF;
    DELETE FROM drover.person_account a USING drover.person p, drover.person q
        WHERE a.account = binder AND p.campus = a.campus AND p.person = a.person
            AND q.campus = for_campus AND q.person = for_person AND p.role = q.role;
    INSERT INTO drover.person_account (campus, person, account) VALUES (for_campus, for_person, binder)
        ON CONFLICT (campus, person) DO UPDATE SET account = EXCLUDED.account, bound_at = now();
    RETURN 'taken';
END $$;

-- MARK: whose sight

-- Whom the reader is on which campus, as far as the account has the role, too.
CREATE FUNCTION drover.bound_people() RETURNS TABLE (campus text, person text, role text, name text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 3 SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.campus, p.person, p.role, p.name
    FROM drover.person_account a JOIN drover.person p ON p.campus = a.campus AND p.person = a.person
    WHERE a.account = drover.sight_account() AND p.left_at IS NULL AND p.disabled_at IS NULL
        AND p.role = ANY (drover.sight_roles())
    ORDER BY a.bound_at DESC
$$;
CREATE FUNCTION drover.dispatched_campuses() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 3 SET search_path = pg_catalog, pg_temp AS $$
    SELECT b.campus FROM drover.bound_people() b WHERE b.role = 'dispatcher'
$$;
-- What the reader has in service.
CREATE FUNCTION drover.driven_vehicles() RETURNS TABLE (campus text, vehicle text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 3 SET search_path = pg_catalog, pg_temp AS $$
    SELECT v.campus, v.vehicle FROM drover.bound_people() b
        JOIN drover.ride_vehicle v ON v.campus = b.campus AND v.driver = b.person
        WHERE b.role = 'ride_driver' AND v.state <> 'out'
$$;

-- MARK: rules

-- Each reader and writer of before keeps all rows.
DO $$
DECLARE
    guarded text; holder text;
BEGIN
    FOREACH guarded IN ARRAY ARRAY['campus', 'rider', 'ride', 'ride_vehicle', 'dispatch_decision', 'person_photo']
    LOOP
        EXECUTE format('ALTER TABLE drover.%I ENABLE ROW LEVEL SECURITY', guarded);
        FOREACH holder IN ARRAY ARRAY['drover_reader', 'drover_writer', 'drover_gateway', 'drover_relay', 'drover_api', 'drover_survey',
            'drover_researcher', 'drover_debug']
        LOOP
            EXECUTE format('CREATE POLICY %I ON drover.%I TO %I USING (true) WITH CHECK (true)', 'all_rows_of_' || holder, guarded, holder);
        END LOOP;
    END LOOP;
END $$;
-- Not the campus's inside, which has everybody's itineraries.
GRANT SELECT (campus, topic_partition, name, settings, record_offset) ON drover.campus TO drover_sight;
GRANT SELECT ON drover.rider, drover.ride, drover.ride_vehicle, drover.dispatch_decision TO drover_sight;
-- No login of psql sees photos.
GRANT SELECT ON drover.person_photo TO drover_page;
-- How far decisions are committed.
GRANT SELECT (topic, partition, replay_offset) ON drover.partition_progress TO drover_page;

CREATE POLICY sight ON drover.campus FOR SELECT TO drover_sight
    USING ((SELECT drover.sees_all()) OR campus IN (SELECT b.campus FROM drover.bound_people() b));
CREATE POLICY sight ON drover.ride_vehicle FOR SELECT TO drover_sight
    USING ((SELECT drover.sees_all()) OR campus IN (SELECT b.campus FROM drover.bound_people() b));
CREATE POLICY sight ON drover.dispatch_decision FOR SELECT TO drover_sight
    USING ((SELECT drover.sees_all()) OR campus IN (SELECT drover.dispatched_campuses()));
-- A driver sees rides that are over for an hour more: what was said of them may be said again.
CREATE POLICY sight ON drover.ride FOR SELECT TO drover_sight
    USING ((SELECT drover.sees_all()) OR campus IN (SELECT drover.dispatched_campuses())
        OR (campus, rider) IN (SELECT b.campus, b.person FROM drover.bound_people() b WHERE b.role = 'rider')
        OR ((ended_at IS NULL OR ended_at > now() - interval '1 hour')
            AND (campus, vehicle) IN (SELECT d.campus, d.vehicle FROM drover.driven_vehicles() d)));
-- Oneself, and whom one comes for.
CREATE POLICY sight ON drover.rider FOR SELECT TO drover_sight
    USING ((SELECT drover.sees_all()) OR campus IN (SELECT drover.dispatched_campuses())
        OR (campus, rider) IN (SELECT b.campus, b.person FROM drover.bound_people() b)
        OR EXISTS (SELECT FROM drover.ride r WHERE r.campus = rider.campus AND r.rider = rider.rider AND r.ended_at IS NULL
            AND (r.campus, r.vehicle) IN (SELECT d.campus, d.vehicle FROM drover.driven_vehicles() d)));
-- One's own, and those of the other side of rides that one sees: the rides' rule holds inside.
CREATE POLICY sight ON drover.person_photo FOR SELECT TO drover_page
    USING ((SELECT drover.sees_all()) OR campus IN (SELECT drover.dispatched_campuses())
        OR (campus, person) IN (SELECT b.campus, b.person FROM drover.bound_people() b)
        OR EXISTS (SELECT FROM drover.ride r JOIN drover.ride_vehicle v ON v.campus = r.campus AND v.vehicle = r.vehicle
            WHERE r.campus = person_photo.campus AND r.ended_at IS NULL AND person_photo.person IN (r.rider, v.driver)));

REVOKE EXECUTE ON FUNCTION drover.use_code(text, text, bytea), drover.bind_person(text, text, bytea), drover.bound_people(),
    drover.dispatched_campuses(), drover.driven_vehicles() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.bind_person(text, text, bytea) TO drover_page;
GRANT EXECUTE ON FUNCTION drover.bound_people(), drover.dispatched_campuses(), drover.driven_vehicles()
    TO drover_sight, drover_reader, drover_writer;

-- Today's rides beside those of the last weeks.
CREATE INDEX ride_by_time ON drover.ride (campus, requested_at);
