-- Who sees what. Fleets, dealers and owners give an account its sight; row-level security holds whoever reads as a person to
-- it, in the pages and in psql alike. Programs of the installation (drover_reader and the others) see all as before.
-- Sight is no result: it is asked when somebody reads, and no replay needs it. So it stands in tables that people change.

DO $$ BEGIN
    -- Reads as a person. Members: the pages, which say who it is (drover.account), and the logins of analysts, which cannot.
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_sight') THEN CREATE ROLE drover_sight NOLOGIN; END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_page') THEN CREATE ROLE drover_page NOLOGIN; END IF;
END $$;
GRANT drover_sight TO drover_page;
GRANT USAGE ON SCHEMA drover TO drover_sight;

CREATE TABLE drover.fleet (
    fleet   text        PRIMARY KEY CHECK (fleet ~ '^[A-Za-z0-9._-]{1,64}$'),
    name    text        NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 200),
    part_of text        REFERENCES drover.fleet CHECK (part_of <> fleet),   -- nested once
    made_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX fleet_by_part_of ON drover.fleet (part_of) WHERE part_of IS NOT NULL;
CREATE FUNCTION drover.check_fleet() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- One at a time, so that two changes do not nest twice together.
    PERFORM pg_advisory_xact_lock(hashtextextended('drover.fleet', 0));
    IF NEW.part_of IS NOT NULL AND (EXISTS (SELECT FROM drover.fleet f WHERE f.fleet = NEW.part_of AND f.part_of IS NOT NULL)
            OR EXISTS (SELECT FROM drover.fleet f WHERE f.part_of = NEW.fleet)) THEN
        RAISE EXCEPTION 'fleets are nested once: % cannot be part of %', NEW.fleet, NEW.part_of USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fleet_check BEFORE INSERT OR UPDATE ON drover.fleet FOR EACH ROW EXECUTE FUNCTION drover.check_fleet();

CREATE TABLE drover.fleet_vehicle (
    fleet   text NOT NULL REFERENCES drover.fleet ON DELETE CASCADE,
    kind    text NOT NULL CHECK (kind IN ('car', 'machine')),
    vehicle text NOT NULL CHECK (vehicle ~ '^[A-Za-z0-9._-]{1,64}$'),
    PRIMARY KEY (fleet, kind, vehicle)
);
CREATE TABLE drover.fleet_member (
    fleet   text NOT NULL REFERENCES drover.fleet ON DELETE CASCADE,
    account text NOT NULL REFERENCES drover.account,
    PRIMARY KEY (fleet, account)
);
CREATE INDEX fleet_member_by_account ON drover.fleet_member (account);

-- A dealer asks for a machine by its serial number; its owner confirms, and can end it. The past stays hidden unless shared.
CREATE TABLE drover.dealership (
    dealership_id bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    vehicle       text        NOT NULL CHECK (vehicle ~ '^[A-Za-z0-9._-]{1,64}$'),
    dealer        text        NOT NULL REFERENCES drover.account,
    asked_at      timestamptz NOT NULL DEFAULT now(),
    confirmed_at  timestamptz,
    confirmed_by  text,
    shares_past   boolean     NOT NULL DEFAULT false,
    ended_at      timestamptz,
    ended_by      text,
    CHECK ((confirmed_at IS NULL) = (confirmed_by IS NULL) AND (ended_at IS NULL) = (ended_by IS NULL))
);
CREATE UNIQUE INDEX dealership_open ON drover.dealership (vehicle, dealer) WHERE ended_at IS NULL;
CREATE INDEX dealership_by_dealer ON drover.dealership (dealer) WHERE ended_at IS NULL;

-- Logins of people in psql, made by `drover account psql`.
CREATE TABLE drover.account_login (
    login   text PRIMARY KEY,
    account text NOT NULL REFERENCES drover.account
);

-- MARK: whose sight

-- Who reads: what the pages say, or whose login it is. NULL: nobody, or disabled; then nothing is seen.
CREATE FUNCTION drover.sight_account() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.account FROM drover.account a
    WHERE a.disabled_at IS NULL AND a.account = CASE
        WHEN EXISTS (SELECT FROM drover.account_login l WHERE l.login = session_user)
            THEN (SELECT l.account FROM drover.account_login l WHERE l.login = session_user)
        WHEN pg_has_role(session_user, 'drover_page', 'MEMBER') THEN nullif(current_setting('drover.account', true), '')
    END
$$;

CREATE FUNCTION drover.sight_roles() RETURNS text[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce((SELECT a.roles FROM drover.account a WHERE a.account = drover.sight_account()), '{}')
$$;

-- Not of a person, or of one who runs the installation. As the caller, so that it knows as whom it was asked.
CREATE FUNCTION drover.sees_all() RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT NOT pg_has_role(current_user, 'drover_sight', 'USAGE')
        OR (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user)
        OR drover.sight_roles() && ARRAY['administrator', 'operator']
$$;

-- Alerts are for one of these: as Sources/Alerts/Threshold.swift, Audience, has them.
CREATE FUNCTION drover.seen_audiences() RETURNS text[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN drover.sight_roles() && ARRAY['developer', 'administrator', 'operator'] THEN ARRAY['farmer', 'dealer', 'developer']
                WHEN drover.sight_roles() && ARRAY['dealer'] THEN ARRAY['farmer', 'dealer']
                ELSE ARRAY['farmer'] END
$$;

-- Vehicles that are seen with their whole past. Developers see the machines that they made.
CREATE FUNCTION drover.seen(a_kind text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT v.vehicle FROM drover.fleet_member m
        JOIN drover.fleet f ON f.fleet = m.fleet OR f.part_of = m.fleet
        JOIN drover.fleet_vehicle v ON v.fleet = f.fleet
        WHERE m.account = drover.sight_account() AND v.kind = a_kind
            AND drover.sight_roles() && ARRAY['farmer', 'fleet_manager', 'analyst', 'dispatcher']
    UNION
    SELECT o.vehicle FROM drover.car_owner o
        WHERE a_kind = 'car' GROUP BY o.vehicle
        HAVING drover.sight_account() IS NOT NULL AND bool_and(o.account IS NOT DISTINCT FROM drover.sight_account())
    UNION
    SELECT d.vehicle FROM drover.dealership d
        WHERE a_kind = 'machine' AND d.dealer = drover.sight_account() AND d.confirmed_at IS NOT NULL AND d.ended_at IS NULL
            AND d.shares_past AND 'dealer' = ANY (drover.sight_roles())
    UNION
    SELECT v.vehicle FROM drover.vehicle v
        WHERE a_kind = 'machine' AND v.kind = 'machine' AND 'developer' = ANY (drover.sight_roles())
    UNION
    SELECT r.vehicle FROM drover.registration r
        WHERE a_kind = 'machine' AND r.kind = 'machine' AND 'developer' = ANY (drover.sight_roles())
$$;

-- Vehicles of which some times are seen: a dealer's machines from the confirmation on, a car while one owned it.
CREATE FUNCTION drover.seen_partly(a_kind text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT d.vehicle FROM drover.dealership d
        WHERE a_kind = 'machine' AND d.dealer = drover.sight_account() AND d.confirmed_at IS NOT NULL AND d.ended_at IS NULL
            AND 'dealer' = ANY (drover.sight_roles())
    UNION
    SELECT o.vehicle FROM drover.car_owner o WHERE a_kind = 'car' AND o.account = drover.sight_account()
$$;

-- Of one of these, whether this time is seen. What was recorded before anybody owned a car is its first owner's.
CREATE FUNCTION drover.sees_at(a_kind text, a_vehicle text, a_time timestamptz) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE a_kind
        WHEN 'machine' THEN EXISTS (SELECT FROM drover.dealership d
            WHERE d.vehicle = a_vehicle AND d.dealer = drover.sight_account() AND d.confirmed_at <= a_time AND d.ended_at IS NULL)
        ELSE coalesce((SELECT o.account = drover.sight_account() FROM drover.car_owner o
            WHERE o.vehicle = a_vehicle
            ORDER BY o.owned_at <= a_time DESC, CASE WHEN o.owned_at <= a_time THEN o.owned_at END DESC, o.owned_at LIMIT 1), false)
        END
$$;

-- Cars that somebody drove: of these the own drives.
CREATE FUNCTION drover.driven() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
    SELECT d.vehicle FROM drover.driving d WHERE d.account = drover.sight_account() AND 'driver' = ANY (drover.sight_roles())
    UNION
    SELECT a.vehicle FROM drover.assignment a WHERE a.account = drover.sight_account() AND 'driver' = ANY (drover.sight_roles())
$$;
CREATE FUNCTION drover.drove(a_vehicle text, from_at timestamptz, until_at timestamptz) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(c.driver = drover.sight_account(), false) FROM drover.trip_context(a_vehicle, from_at, until_at) c
$$;

-- Names and models of what one sees something of.
CREATE FUNCTION drover.known(a_kind text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.seen(a_kind) UNION SELECT drover.seen_partly(a_kind)
    UNION SELECT drover.driven() WHERE a_kind = 'car'
$$;

-- MARK: rules

-- Each reader and writer of before keeps all rows.
DO $$
DECLARE
    guarded text; holder text;
BEGIN
    FOREACH guarded IN ARRAY ARRAY['vehicle', 'registration', 'vehicle_minute', 'trip', 'trip_start', 'trip_weather', 'vehicle_day',
        'machine_reading', 'alert', 'service', 'acknowledgement', 'silence', 'poll_request', 'health_scan', 'trip_summary', 'live_trip']
    LOOP
        EXECUTE format('ALTER TABLE drover.%I ENABLE ROW LEVEL SECURITY', guarded);
        FOREACH holder IN ARRAY ARRAY['drover_reader', 'drover_writer', 'drover_gateway', 'drover_relay', 'drover_api', 'drover_survey',
            'drover_researcher', 'drover_debug']
        LOOP
            EXECUTE format('CREATE POLICY %I ON drover.%I TO %I USING (true) WITH CHECK (true)', 'all_rows_of_' || holder, guarded, holder);
        END LOOP;
        EXECUTE format('GRANT SELECT ON drover.%I TO drover_sight', guarded);
    END LOOP;
END $$;
REVOKE SELECT ON drover.registration FROM drover_sight;
-- Not how the box is reached.
GRANT SELECT (kind, vehicle, topic_partition, registered_at, name, model, tags, is_disabled, account, vin, make, year, fuel, tank_l,
    displacement_cc, volumetric_efficiency_pct) ON drover.registration TO drover_sight;
GRANT SELECT ON drover.rule_set TO drover_sight;

-- The text of a rule: all of a vehicle, or its time is seen; of cars the own drives besides, where `until_column` is given.
CREATE FUNCTION drover.sight_rule(a_kind text, vehicle_column text, time_column text, until_column text DEFAULT NULL) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT format('(SELECT drover.sees_all()) OR %2$s IN (SELECT drover.seen(%1$L))
            OR (%2$s IN (SELECT drover.seen_partly(%1$L)) AND drover.sees_at(%1$L, %2$s, %3$s))', a_kind, vehicle_column, time_column)
        || CASE WHEN until_column IS NULL THEN '' ELSE format('
            OR (%1$s IN (SELECT drover.driven()) AND drover.drove(%1$s, %2$s, %3$s))', vehicle_column, time_column, until_column) END
$$;
DO $$
DECLARE
    guarded text[];
BEGIN
    FOREACH guarded SLICE 1 IN ARRAY ARRAY[
        ['vehicle_minute', drover.sight_rule('car', 'vehicle', 'minute_at', 'minute_at + interval ''1 minute''')],
        ['trip', drover.sight_rule('car', 'vehicle', 'start_at', 'end_at')],
        ['trip_start', drover.sight_rule('car', 'vehicle', 'start_at', 'start_at')],
        ['trip_weather', drover.sight_rule('car', 'vehicle', 'hour_at')],
        ['vehicle_day', drover.sight_rule('car', 'vehicle', 'day_at')],
        ['live_trip', drover.sight_rule('car', 'vehicle', 'start_at', 'end_at')],
        ['trip_summary', drover.sight_rule('car', 'vehicle', 'start_at') || ' OR account = (SELECT drover.sight_account())'],
        ['machine_reading', drover.sight_rule('machine', 'vehicle', 'read_at')],
        ['service', drover.sight_rule('machine', 'vehicle', 'done_at')],
        ['poll_request', drover.sight_rule('machine', 'vehicle', 'coalesce(asked_at, answered_at)')],
        ['health_scan', drover.sight_rule('car', 'vehicle', 'coalesce(asked_at, scanned_at)')],
        ['alert', format('(kind = ''machine'' AND audience = ANY ((SELECT drover.seen_audiences())::text[]) AND (%s))
            OR (kind = ''car'' AND (account = (SELECT drover.sight_account()) OR %s))',
            drover.sight_rule('machine', 'vehicle', 'opened_at'), drover.sight_rule('car', 'vehicle', 'opened_at'))],
        -- Those of alerts that are seen.
        ['acknowledgement', '(SELECT drover.sees_all()) OR EXISTS (SELECT FROM drover.alert a WHERE a.alert_id = acknowledgement.alert_id)'],
        ['silence', '(SELECT drover.sees_all()) OR vehicle IS NULL OR vehicle IN (SELECT drover.known(''machine''))'],
        ['vehicle', '(SELECT drover.sees_all()) OR (kind = ''car'' AND vehicle IN (SELECT drover.known(''car'')))
            OR (kind = ''machine'' AND vehicle IN (SELECT drover.known(''machine'')))'],
        ['registration', '(SELECT drover.sees_all()) OR (kind = ''car'' AND vehicle IN (SELECT drover.known(''car'')))
            OR (kind = ''machine'' AND vehicle IN (SELECT drover.known(''machine'')))']]
    LOOP
        EXECUTE format('CREATE POLICY sight ON drover.%I FOR SELECT TO drover_sight USING (%s)', guarded[1], guarded[2]);
    END LOOP;
END $$;

-- What a trip is worked out with (whose it is, settings, notes) is not for everybody to read, but belongs to a trip that is
-- seen. So the views read it as their owner and hold the rule themselves. A view's functions run as who asks, so what they
-- say stands in the view: their text, with its arguments put in.
DO $$
DECLARE
    seen_view text; part text; body text; definition text;
BEGIN
    FOREACH seen_view IN ARRAY ARRAY['trip_now', 'live_trip_now'] LOOP
        definition := rtrim(pg_get_viewdef(format('drover.%I', seen_view)::regclass), '; ');
        FOREACH part IN ARRAY ARRAY['drover.trip_context(t.vehicle, t.start_at, t.end_at)', 'drover.weather_of_trip(t.vehicle, t.start_at)'] LOOP
            SELECT replace(replace(replace(p.prosrc, '$1', 't.vehicle'), '$2', 't.start_at'), '$3', 't.end_at') INTO STRICT body
                FROM pg_proc p WHERE p.pronamespace = 'drover'::regnamespace AND part LIKE 'drover.' || p.proname || '(%';
            IF strpos(definition, part) = 0 THEN RAISE EXCEPTION 'drover.% does not ask %', seen_view, part; END IF;
            definition := replace(definition, part, '(' || body || ')');
        END LOOP;
        EXECUTE format('CREATE OR REPLACE VIEW drover.%I WITH (security_barrier) AS %s WHERE %s', seen_view, definition,
            drover.sight_rule('car', 't.vehicle', 't.start_at', 't.end_at'));
    END LOOP;
END $$;
DROP FUNCTION drover.sight_rule(text, text, text, text);
ALTER VIEW drover.alert_now SET (security_invoker = true);
GRANT SELECT ON drover.alert_now, drover.trip_now, drover.live_trip_now TO drover_sight;

-- MARK: dealers

-- Whose machine it is: farmers and fleet managers of its fleets.
CREATE FUNCTION drover.owners_of_machine(a_vehicle text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT a.account FROM drover.fleet_vehicle v
        JOIN drover.fleet f ON f.fleet = v.fleet
        JOIN drover.fleet_member m ON m.fleet = f.fleet OR m.fleet = f.part_of
        JOIN drover.account a ON a.account = m.account
        WHERE v.kind = 'machine' AND v.vehicle = a_vehicle AND a.disabled_at IS NULL AND a.roles && ARRAY['farmer', 'fleet_manager']
$$;

-- A dealer asks for a machine; its owners get the mail (NULL: none is sent). It does not say whether there is such a machine: `true` means that it
-- was taken. At most fifty open ones a dealer, so that nobody asks for all serial numbers there are.
CREATE FUNCTION drover.ask_dealership(a_vehicle text, new_mail_id text, a_subject text, a_body bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asker text := drover.sight_account();
BEGIN
    IF (NOT 'dealer' = ANY (drover.sight_roles())) THEN RETURN false; END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('drover.dealership ' || asker, 0));
    IF ((SELECT count(*) FROM drover.dealership d WHERE d.dealer = asker AND d.confirmed_at IS NULL AND d.ended_at IS NULL) >= 50) THEN
        RETURN false;
    END IF;
    INSERT INTO drover.dealership (vehicle, dealer) VALUES (a_vehicle, asker) ON CONFLICT (vehicle, dealer) WHERE ended_at IS NULL DO NOTHING;
    IF FOUND THEN
        INSERT INTO drover.mail (mail_id, recipient, subject, body, is_sealed, expires_at)
            SELECT new_mail_id || '-' || row_number() OVER (ORDER BY o), a.mail, a_subject, a_body, true, now() + interval '7 days'
            FROM drover.owners_of_machine(a_vehicle) o JOIN drover.account a ON a.account = o WHERE a.mail IS NOT NULL AND new_mail_id IS NOT NULL;
    END IF;
    RETURN true;
END $$;

-- Those that one asked for, and those of one's own machines.
CREATE FUNCTION drover.dealerships()
RETURNS TABLE (dealership_id bigint, vehicle text, dealer text, dealer_name text, asked_at timestamptz, confirmed_at timestamptz,
    shares_past boolean, ended_at timestamptz, is_own boolean)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
    SELECT d.dealership_id, d.vehicle, d.dealer, trim(a.first_name || ' ' || a.last_name), d.asked_at, d.confirmed_at, d.shares_past,
        d.ended_at, d.dealer <> drover.sight_account()
    FROM drover.dealership d JOIN drover.account a ON a.account = d.dealer
    WHERE d.dealer = drover.sight_account() OR drover.sight_account() IN (SELECT drover.owners_of_machine(d.vehicle))
        OR drover.sight_roles() && ARRAY['administrator']
    ORDER BY d.ended_at IS NOT NULL, d.confirmed_at IS NOT NULL, d.asked_at DESC, d.dealership_id LIMIT 500
$$;

-- By an owner. False: it is none of one's own, was confirmed, or is over.
CREATE FUNCTION drover.confirm_dealership(an_id bigint, share_past boolean) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.dealership d SET confirmed_at = now(), confirmed_by = drover.sight_account(), shares_past = share_past
        WHERE d.dealership_id = an_id AND d.confirmed_at IS NULL AND d.ended_at IS NULL
            AND drover.sight_account() IN (SELECT drover.owners_of_machine(d.vehicle));
    RETURN FOUND;
END $$;

-- By an owner or by the dealer. From then on the dealer sees nothing of it.
CREATE FUNCTION drover.end_dealership(an_id bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.dealership d SET ended_at = now(), ended_by = drover.sight_account()
        WHERE d.dealership_id = an_id AND d.ended_at IS NULL
            AND (d.dealer = drover.sight_account() OR drover.sight_account() IN (SELECT drover.owners_of_machine(d.vehicle)));
    RETURN FOUND;
END $$;

-- MARK: administration

-- Accounts, for administrators; others get none.
CREATE FUNCTION drover.accounts_administered()
RETURNS TABLE (account text, mail text, name text, roles text[], state text, last_used_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.account, a.mail, trim(a.first_name || ' ' || a.last_name), a.roles,
        CASE WHEN a.disabled_at IS NOT NULL THEN 'disabled' WHEN a.confirmed_at IS NOT NULL THEN 'confirmed' ELSE 'not confirmed' END,
        (SELECT max(s.last_used_at) FROM drover.account_session s WHERE s.account = a.account)
    FROM drover.account a WHERE 'administrator' = ANY (drover.sight_roles())
    ORDER BY a.disabled_at IS NOT NULL, a.account LIMIT 1000
$$;

-- Roles, and whether somebody may log in. False: not by an administrator, there is no such account, or nobody would be left who
-- is one.
CREATE FUNCTION drover.administer_account(an_account text, new_roles text[], is_enabled boolean) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (NOT 'administrator' = ANY (drover.sight_roles())) THEN RETURN false; END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('drover.account', 0));
    IF (NOT (is_enabled AND 'administrator' = ANY (new_roles)) AND NOT EXISTS (
            SELECT FROM drover.account a WHERE a.account <> an_account AND a.disabled_at IS NULL AND a.password IS NOT NULL
                AND 'administrator' = ANY (a.roles))) THEN
        RETURN false;
    END IF;
    UPDATE drover.account a SET roles = new_roles, disabled_at = CASE WHEN NOT is_enabled THEN coalesce(a.disabled_at, now()) END
        WHERE a.account = an_account AND (a.mail IS NOT NULL OR NOT is_enabled);
    IF NOT FOUND THEN RETURN false; END IF;
    IF NOT is_enabled THEN
        DELETE FROM drover.account_session s WHERE s.account = an_account;
        DELETE FROM drover.account_link l WHERE l.account = an_account;
    END IF;
    RETURN true;
END $$;

CREATE FUNCTION drover.fleets_administered()
RETURNS TABLE (fleet text, name text, part_of text, vehicles text[], members text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT f.fleet, f.name, f.part_of,
        ARRAY(SELECT v.kind || ' ' || v.vehicle FROM drover.fleet_vehicle v WHERE v.fleet = f.fleet ORDER BY v.kind, v.vehicle COLLATE "C"),
        ARRAY(SELECT m.account FROM drover.fleet_member m WHERE m.fleet = f.fleet ORDER BY m.account COLLATE "C")
    FROM drover.fleet f WHERE 'administrator' = ANY (drover.sight_roles())
    ORDER BY coalesce(f.part_of, f.fleet) COLLATE "C", f.part_of NULLS FIRST, f.fleet COLLATE "C" LIMIT 1000
$$;

-- Makes or changes a fleet with all that it holds: `vehicles` as `machine mtg-1`. False: not by an administrator, or an
-- account or fleet is not there, or fleets would be nested twice; then nothing is changed.
CREATE FUNCTION drover.administer_fleet(a_fleet text, a_name text, is_part_of text, the_vehicles text[], the_members text[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (NOT 'administrator' = ANY (drover.sight_roles())) THEN RETURN false; END IF;
    INSERT INTO drover.fleet AS f (fleet, name, part_of) VALUES (a_fleet, a_name, is_part_of)
        ON CONFLICT (fleet) DO UPDATE SET name = EXCLUDED.name, part_of = EXCLUDED.part_of;
    DELETE FROM drover.fleet_vehicle v WHERE v.fleet = a_fleet AND v.kind || ' ' || v.vehicle <> ALL (the_vehicles);
    INSERT INTO drover.fleet_vehicle (fleet, kind, vehicle)
        SELECT DISTINCT a_fleet, split_part(v, ' ', 1), split_part(v, ' ', 2) FROM unnest(the_vehicles) v ON CONFLICT DO NOTHING;
    DELETE FROM drover.fleet_member m WHERE m.fleet = a_fleet AND m.account <> ALL (the_members);
    INSERT INTO drover.fleet_member (fleet, account) SELECT DISTINCT a_fleet, m FROM unnest(the_members) m ON CONFLICT DO NOTHING;
    RETURN true;
EXCEPTION WHEN foreign_key_violation OR check_violation THEN
    RETURN false;
END $$;

DO $$
DECLARE
    made regprocedure;
BEGIN
    FOR made IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'drover'::regnamespace AND p.proname IN (
        'check_fleet', 'sight_account', 'sight_roles', 'sees_all', 'seen_audiences', 'seen', 'seen_partly', 'sees_at', 'driven', 'drove', 'known')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', made);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO drover_sight, drover_reader, drover_writer', made);
    END LOOP;
    FOR made IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'drover'::regnamespace AND p.proname IN (
        'owners_of_machine', 'ask_dealership', 'dealerships', 'confirm_dealership', 'end_dealership', 'accounts_administered',
        'administer_account', 'fleets_administered', 'administer_fleet')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', made);
        IF made::text NOT LIKE '%owners_of_machine%' THEN EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO drover_page', made); END IF;
    END LOOP;
END $$;
-- As in 0011; a token ends with its account, and says whether it is of one.
DROP FUNCTION drover.use_token(bytea);
CREATE FUNCTION drover.use_token(wanted bytea)
RETURNS TABLE (token_id text, account text, scopes text[], role text, is_revoked boolean, is_expired boolean, is_of_account boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.token t SET last_used_at = date_trunc('hour', now())
        WHERE t.digest = wanted AND t.last_used_at IS DISTINCT FROM date_trunc('hour', now())
            AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now());
    RETURN QUERY SELECT t.token_id, t.account, t.scopes, t.role, t.revoked_at IS NOT NULL OR a.disabled_at IS NOT NULL,
            coalesce(t.expires_at <= now(), false), a.account IS NOT NULL
        FROM drover.token t LEFT JOIN drover.account a ON a.account = t.account WHERE t.digest = wanted;
END $$;
REVOKE EXECUTE ON FUNCTION drover.use_token(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.use_token(bytea) TO drover_api, drover_survey;

REVOKE EXECUTE ON FUNCTION drover.trip_context(text, timestamptz, timestamptz), drover.weather_of_trip(text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.trip_context(text, timestamptz, timestamptz), drover.weather_of_trip(text, timestamptz)
    TO drover_reader, drover_writer;
GRANT EXECUTE ON FUNCTION drover.account_of_session(bytea) TO drover_page;
