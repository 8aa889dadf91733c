-- Who keeps a vehicle or a fleet: registers it, changes what is registered, asks for a machine as its dealer. What is registered stands on
-- the log; here stands who may say it, and that nobody undoes what another has said a moment before.

-- A dealer asks for a machine by its serial number; its owner confirms, and can end it. The past stays hidden unless shared.
CREATE TABLE drover.dealership (
    dealership_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    vehicle text NOT NULL,
    dealer text NOT NULL,
    asked_at timestamptz DEFAULT now() NOT NULL,
    confirmed_at timestamptz,
    confirmed_by text,
    shares_past boolean DEFAULT false NOT NULL,
    ended_at timestamptz,
    ended_by text,
    CONSTRAINT dealership_pkey PRIMARY KEY (dealership_id),
    CONSTRAINT dealership_check CHECK ((((confirmed_at IS NULL) = (confirmed_by IS NULL)) AND ((ended_at IS NULL) = (ended_by IS NULL)))),
    CONSTRAINT dealership_dealer_fkey FOREIGN KEY (dealer) REFERENCES drover.account(account),
    CONSTRAINT dealership_vehicle_check CHECK ((vehicle ~ '^[A-Za-z0-9._-]{1,64}$'::text))
);
CREATE INDEX dealership_by_dealer ON drover.dealership (dealer) WHERE (ended_at IS NULL);
CREATE UNIQUE INDEX dealership_open ON drover.dealership (vehicle, dealer) WHERE (ended_at IS NULL);
GRANT SELECT (vehicle, dealer, confirmed_at, ended_at) ON drover.dealership TO drover_relay;

-- Whose machine it is: farmers and fleet managers of its fleets.
CREATE FUNCTION drover.owners_of_machine(a_vehicle text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT a.account FROM drover.fleet_vehicle v
        JOIN drover.fleet f ON f.fleet = v.fleet
        JOIN drover.fleet_member m ON m.fleet = f.fleet OR m.fleet = f.part_of
        JOIN drover.account a ON a.account = m.account
        WHERE v.kind = 'machine' AND v.vehicle = a_vehicle AND a.disabled_at IS NULL AND a.roles && ARRAY['farmer', 'fleet_manager']
$$;
REVOKE EXECUTE ON FUNCTION drover.owners_of_machine(a_vehicle text) FROM PUBLIC;

-- A dealer asks for a machine; its owners get the mail (NULL: none is sent). It does not say whether there is such a machine: `true` means that it
-- was taken. At most fifty questions a dealer, those that were taken back within a day included, so that nobody asks for all serial numbers there
-- are, and one mail a day about a machine: who asked, ended it and asked again sent the owners of any machine a mail each time.
CREATE FUNCTION drover.ask_dealership(a_vehicle text, new_mail_id text, a_subject text, a_body bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asker text := drover.sight_account();
    is_again boolean;
BEGIN
    IF (NOT 'dealer' = ANY (drover.sight_roles())) THEN RETURN false; END IF;
    PERFORM drover.take_turn('drover.dealership ' || asker);
    IF ((SELECT count(*) FROM drover.dealership d WHERE d.dealer = asker AND d.confirmed_at IS NULL
            AND (d.ended_at IS NULL OR d.asked_at > now() - interval '1 day')) >= 50) THEN
        RETURN false;
    END IF;
    is_again := EXISTS (SELECT FROM drover.dealership d WHERE d.dealer = asker AND d.vehicle = a_vehicle AND d.asked_at > now() - interval '1 day');
    INSERT INTO drover.dealership (vehicle, dealer) VALUES (a_vehicle, asker) ON CONFLICT (vehicle, dealer) WHERE ended_at IS NULL DO NOTHING;
    IF FOUND AND NOT is_again THEN
        INSERT INTO drover.mail (mail_id, recipient, subject, body, is_sealed, expires_at)
            SELECT new_mail_id || '-' || row_number() OVER (ORDER BY o), a.mail, a_subject, a_body, true, now() + interval '7 days'
            FROM drover.owners_of_machine(a_vehicle) o JOIN drover.account a ON a.account = o WHERE a.mail IS NOT NULL AND new_mail_id IS NOT NULL;
    END IF;
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.ask_dealership(a_vehicle text, new_mail_id text, a_subject text, a_body bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.ask_dealership(a_vehicle text, new_mail_id text, a_subject text, a_body bytea) TO drover_page;

-- Those that one asked for, and those of one's own machines, for who reads fleets.
CREATE FUNCTION drover.dealerships()
RETURNS TABLE (dealership_id bigint, vehicle text, dealer text, dealer_name text, asked_at timestamptz, confirmed_at timestamptz,
    shares_past boolean, ended_at timestamptz, is_own boolean)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
    SELECT d.dealership_id, d.vehicle, d.dealer, trim(a.first_name || ' ' || a.last_name), d.asked_at, d.confirmed_at, d.shares_past,
        d.ended_at, d.dealer <> drover.sight_account()
    FROM drover.dealership d JOIN drover.account a ON a.account = d.dealer
    WHERE drover.reads_fleets() AND (d.dealer = drover.sight_account() OR drover.sight_account() IN (SELECT drover.owners_of_machine(d.vehicle))
        OR drover.sight_roles() && ARRAY['administrator'])
    ORDER BY d.ended_at IS NOT NULL, d.confirmed_at IS NOT NULL, d.asked_at DESC, d.dealership_id LIMIT 500
$$;
REVOKE EXECUTE ON FUNCTION drover.dealerships() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.dealerships() TO drover_page;

-- By an owner. False: it is none of one's own, was confirmed, or is over.
CREATE FUNCTION drover.confirm_dealership(an_id bigint, share_past boolean) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.dealership d SET confirmed_at = now(), confirmed_by = drover.sight_account(), shares_past = share_past
        WHERE d.dealership_id = an_id AND d.confirmed_at IS NULL AND d.ended_at IS NULL
            AND drover.sight_account() IN (SELECT drover.owners_of_machine(d.vehicle));
    RETURN FOUND;
END $$;
REVOKE EXECUTE ON FUNCTION drover.confirm_dealership(an_id bigint, share_past boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.confirm_dealership(an_id bigint, share_past boolean) TO drover_page;

-- By an owner or by the dealer. From then on the dealer sees nothing of it.
CREATE FUNCTION drover.end_dealership(an_id bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.dealership d SET ended_at = now(), ended_by = drover.sight_account()
        WHERE d.dealership_id = an_id AND d.ended_at IS NULL
            AND (d.dealer = drover.sight_account() OR drover.sight_account() IN (SELECT drover.owners_of_machine(d.vehicle)));
    RETURN FOUND;
END $$;
REVOKE EXECUTE ON FUNCTION drover.end_dealership(an_id bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.end_dealership(an_id bigint) TO drover_page;

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
REVOKE EXECUTE ON FUNCTION drover.accounts_administered() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.accounts_administered() TO drover_page;

-- Roles, and whether somebody may log in, by the same ways as the command. False: not by an administrator, there is no such account, or
-- nobody would be left who is one.
CREATE FUNCTION drover.administer_account(an_account text, new_roles text[], is_enabled boolean) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (NOT 'administrator' = ANY (drover.sight_roles())) THEN RETURN false; END IF;
    PERFORM drover.take_turn('drover.account');
    IF (NOT (is_enabled AND 'administrator' = ANY (new_roles)) AND NOT EXISTS (
            SELECT FROM drover.account a WHERE a.account <> an_account AND a.disabled_at IS NULL AND a.password IS NOT NULL
                AND 'administrator' = ANY (a.roles))) THEN
        RETURN false;
    END IF;
    UPDATE drover.account a SET roles = new_roles WHERE a.account = an_account AND (a.mail IS NOT NULL OR NOT is_enabled);
    IF NOT FOUND THEN RETURN false; END IF;
    RETURN CASE WHEN is_enabled THEN drover.enable_account(an_account) ELSE drover.disable_account(an_account) END;
END $$;
REVOKE EXECUTE ON FUNCTION drover.administer_account(an_account text, new_roles text[], is_enabled boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.administer_account(an_account text, new_roles text[], is_enabled boolean) TO drover_page;

CREATE FUNCTION drover.fleets_administered()
RETURNS TABLE (fleet text, name text, part_of text, vehicles text[], members text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT f.fleet, f.name, f.part_of,
        ARRAY(SELECT v.kind || ' ' || v.vehicle FROM drover.fleet_vehicle v WHERE v.fleet = f.fleet ORDER BY v.kind, v.vehicle COLLATE "C"),
        ARRAY(SELECT m.account FROM drover.fleet_member m WHERE m.fleet = f.fleet ORDER BY m.account COLLATE "C")
    FROM drover.fleet f WHERE 'administrator' = ANY (drover.sight_roles())
    ORDER BY coalesce(f.part_of, f.fleet) COLLATE "C", f.part_of NULLS FIRST, f.fleet COLLATE "C" LIMIT 1000
$$;
REVOKE EXECUTE ON FUNCTION drover.fleets_administered() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.fleets_administered() TO drover_page;

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
REVOKE EXECUTE ON FUNCTION drover.administer_fleet(a_fleet text, a_name text, is_part_of text, the_vehicles text[], the_members text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.administer_fleet(a_fleet text, a_name text, is_part_of text, the_vehicles text[], the_members text[]) TO drover_page;

-- Vehicles of these fleets, one's own cars, and what one has just added.
CREATE FUNCTION drover.keeps(a_kind text, a_vehicle text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'administrator' = ANY (drover.sight_roles())
        OR EXISTS (SELECT FROM drover.fleet_vehicle v
            WHERE v.kind = a_kind AND v.vehicle = a_vehicle AND v.fleet IN (SELECT drover.kept_fleets()))
        OR (drover.sight_roles() && ARRAY['farmer', 'fleet_manager', 'driver'] AND (
            EXISTS (SELECT FROM drover.registration r
                WHERE a_kind = 'car' AND r.kind = 'car' AND r.vehicle = a_vehicle AND r.account = drover.sight_account())
            OR EXISTS (SELECT FROM drover.vehicle_change c
                WHERE c.kind = a_kind AND c.vehicle = a_vehicle AND c.account = drover.sight_account()
                    AND NOT EXISTS (SELECT FROM drover.registration r WHERE r.kind = a_kind AND r.vehicle = a_vehicle))))
$$;
REVOKE EXECUTE ON FUNCTION drover.keeps(a_kind text, a_vehicle text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.keeps(a_kind text, a_vehicle text) TO drover_page;

-- One's fleets, whether this vehicle is in them, and who belongs to them.
CREATE FUNCTION drover.fleets_kept(a_kind text, a_vehicle text)
RETURNS TABLE (fleet text, name text, holds boolean, members text[])
LANGUAGE sql STABLE SECURITY DEFINER ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
    SELECT f.fleet, f.name,
        EXISTS (SELECT FROM drover.fleet_vehicle v WHERE v.fleet = f.fleet AND v.kind = a_kind AND v.vehicle = a_vehicle),
        ARRAY(SELECT m.account FROM drover.fleet_member m WHERE m.fleet = f.fleet ORDER BY m.account COLLATE "C")
    FROM drover.fleet f WHERE f.fleet IN (SELECT drover.kept_fleets())
    ORDER BY f.name, f.fleet COLLATE "C" LIMIT 200
$$;
REVOKE EXECUTE ON FUNCTION drover.fleets_kept(a_kind text, a_vehicle text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.fleets_kept(a_kind text, a_vehicle text) TO drover_page;

-- Fleets that one keeps as a farmer or fleet manager; an administrator keeps all.
CREATE FUNCTION drover.kept_fleets() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
    SELECT f.fleet FROM drover.fleet f WHERE 'administrator' = ANY (drover.sight_roles())
    UNION
    SELECT f.fleet FROM drover.fleet_member m JOIN drover.fleet f ON f.fleet = m.fleet OR f.part_of = m.fleet
        WHERE m.account = drover.sight_account() AND drover.sight_roles() && ARRAY['farmer', 'fleet_manager']
$$;
REVOKE EXECUTE ON FUNCTION drover.kept_fleets() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.kept_fleets() TO drover_page;

CREATE FUNCTION drover.is_of_its_fleet(an_account text, a_kind text, a_vehicle text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM drover.fleet_vehicle v
        JOIN drover.fleet f ON f.fleet = v.fleet
        JOIN drover.fleet_member m ON m.fleet = f.fleet OR m.fleet = f.part_of
        WHERE v.kind = a_kind AND v.vehicle = a_vehicle AND m.account = an_account)
$$;
REVOKE EXECUTE ON FUNCTION drover.is_of_its_fleet(an_account text, a_kind text, a_vehicle text) FROM PUBLIC;

-- Dealers tag the machines that were confirmed to them.
CREATE FUNCTION drover.tags_vehicle(a_kind text, a_vehicle text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.keeps(a_kind, a_vehicle) OR (a_kind = 'machine' AND 'dealer' = ANY (drover.sight_roles())
        AND EXISTS (SELECT FROM drover.dealership d WHERE d.vehicle = a_vehicle AND d.dealer = drover.sight_account()
            AND d.confirmed_at IS NOT NULL AND d.ended_at IS NULL))
$$;
REVOKE EXECUTE ON FUNCTION drover.tags_vehicle(a_kind text, a_vehicle text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.tags_vehicle(a_kind text, a_vehicle text) TO drover_page;

-- Before a page puts a registration on the log. `based_on` is the record that its form was made of, empty: nothing was registered.
-- `the_fleets`: those of one's own that the vehicle shall be in; NULL: leave them. `an_owner`: the account that shall own a car.
-- Says `taken` (push it), `done` (it is committed already), or why not: `not yours`, `known` (somebody else's, or there already),
-- `changed` (by another meanwhile), `waiting` (a change is on its way), `fleet` (none is chosen), `owner` (not theirs to give to).
-- New ids are bounded; what it moves between fleets stands in the log.
CREATE FUNCTION drover.change_vehicle(
    a_kind text, a_vehicle text, based_on text, new_record text, the_fleets text[], an_owner text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    me text := drover.sight_account();
    is_administrator boolean := 'administrator' = ANY (drover.sight_roles());
    has_fleets boolean := drover.sight_roles() && ARRAY['farmer', 'fleet_manager'];
    is_keeper boolean := coalesce(drover.keeps(a_kind, a_vehicle), false);
    registered record;
    last record;
    own_fleet text;
    left_fleet text; joined_fleet text;
    left_fleets text[] := '{}'; joined_fleets text[] := '{}';
BEGIN
    IF me IS NULL OR NOT drover.sight_roles() && ARRAY['farmer', 'fleet_manager', 'driver', 'dealer', 'administrator'] THEN RETURN 'not yours'; END IF;
    PERFORM drover.take_turn('drover.vehicle_change ' || a_kind || ' ' || a_vehicle);
    SELECT r.record_id, r.account INTO registered FROM drover.registration r WHERE r.kind = a_kind AND r.vehicle = a_vehicle;
    SELECT c.record_id, c.account, c.changed_at INTO last FROM drover.vehicle_change c WHERE c.kind = a_kind AND c.vehicle = a_vehicle;
    -- The same form again.
    IF last.record_id = new_record THEN
        IF last.account <> me THEN RETURN 'not yours'; END IF;
        RETURN CASE WHEN registered.record_id = new_record THEN 'done' ELSE 'taken' END;
    END IF;
    IF based_on = '' THEN
        IF registered.record_id IS NOT NULL THEN RETURN 'known'; END IF;
        IF NOT is_keeper AND drover.tags_vehicle(a_kind, a_vehicle) IS NOT TRUE THEN
            -- Whoever takes a free id sees what comes under it from then on; of one that is not free it would be another's past.
            IF EXISTS (SELECT FROM drover.first_writer w WHERE w.kind = a_kind AND w.vehicle = a_vehicle AND w.account <> me)
                OR last.record_id IS NOT NULL OR EXISTS (SELECT FROM drover.vehicle v WHERE v.kind = a_kind AND v.vehicle = a_vehicle)
                OR EXISTS (SELECT FROM drover.fleet_vehicle v WHERE v.kind = a_kind AND v.vehicle = a_vehicle)
                OR EXISTS (SELECT FROM drover.dealership d WHERE a_kind = 'machine' AND d.vehicle = a_vehicle AND d.confirmed_at IS NOT NULL)
            THEN RETURN 'known'; END IF;
            IF NOT (has_fleets OR (a_kind = 'car' AND 'driver' = ANY (drover.sight_roles()))) THEN RETURN 'not yours'; END IF;
            IF NOT is_administrator AND drover.ids_taken(me) >= 1000 THEN RETURN 'too many'; END IF;
            is_keeper := true;
        END IF;
    ELSE
        IF drover.tags_vehicle(a_kind, a_vehicle) IS NOT TRUE THEN RETURN 'not yours'; END IF;
        IF registered.record_id IS DISTINCT FROM based_on THEN RETURN 'changed'; END IF;
    END IF;
    -- One that is on its way still; after a minute it has failed.
    IF last.record_id <> coalesce(registered.record_id, '') AND last.changed_at > now() - interval '1 minute' THEN
        RETURN 'waiting';
    END IF;
    IF a_kind = 'car' AND an_owner IS DISTINCT FROM registered.account AND an_owner IS DISTINCT FROM me THEN
        IF NOT (has_fleets OR is_administrator) THEN RETURN 'owner'; END IF;
        IF an_owner IS NOT NULL AND NOT EXISTS (SELECT FROM drover.fleet_member m
                WHERE m.account = an_owner AND m.fleet IN (SELECT drover.kept_fleets())) THEN
            RETURN 'owner';
        END IF;
    END IF;
    IF is_keeper AND the_fleets IS NOT NULL THEN
        IF EXISTS (SELECT FROM unnest(the_fleets) wanted WHERE wanted NOT IN (SELECT drover.kept_fleets())) THEN RETURN 'fleet'; END IF;
        IF cardinality(the_fleets) = 0 AND has_fleets AND NOT is_administrator AND (a_kind = 'machine' OR an_owner IS DISTINCT FROM me) THEN
            -- Without a fleet nobody would see it. Who has none yet gets one.
            IF EXISTS (SELECT drover.kept_fleets()) THEN RETURN 'fleet'; END IF;
            own_fleet := me;
            IF EXISTS (SELECT FROM drover.fleet f WHERE f.fleet = own_fleet) THEN
                own_fleet := left(me, 50) || '-' || substr(md5(random()::text), 1, 8);
            END IF;
            INSERT INTO drover.fleet (fleet, name) VALUES (own_fleet, left('Vehicles of ' || me, 100));
            INSERT INTO drover.fleet_member (fleet, account) VALUES (own_fleet, me);
            the_fleets := ARRAY[own_fleet];
        END IF;
        WITH gone AS (
            DELETE FROM drover.fleet_vehicle v WHERE v.kind = a_kind AND v.vehicle = a_vehicle
                AND v.fleet IN (SELECT drover.kept_fleets()) AND v.fleet <> ALL (the_fleets) RETURNING v.fleet)
            SELECT coalesce(array_agg(g.fleet ORDER BY g.fleet), '{}') INTO left_fleets FROM gone g;
        WITH come AS (
            INSERT INTO drover.fleet_vehicle (fleet, kind, vehicle)
                SELECT DISTINCT wanted, a_kind, a_vehicle FROM unnest(the_fleets) wanted ON CONFLICT DO NOTHING RETURNING fleet_vehicle.fleet)
            SELECT coalesce(array_agg(c.fleet ORDER BY c.fleet), '{}') INTO joined_fleets FROM come c;
    END IF;
    INSERT INTO drover.vehicle_change (kind, vehicle, record_id, account) VALUES (a_kind, a_vehicle, new_record, me)
        ON CONFLICT (kind, vehicle) DO UPDATE SET record_id = EXCLUDED.record_id, account = EXCLUDED.account, changed_at = now();
    -- Last: the chain is held until the transaction ends. In the words of `drover fleet`.
    IF own_fleet IS NOT NULL THEN
        PERFORM drover.audit_record('fleet_changed', me, NULL, NULL, jsonb_build_object('fleet', own_fleet, 'is', 'made')::text);
    END IF;
    FOREACH left_fleet IN ARRAY left_fleets LOOP
        PERFORM drover.audit_record('fleet_changed', me, NULL, NULL, jsonb_build_object('fleet', left_fleet, 'taken', a_vehicle, 'kind', a_kind)::text);
    END LOOP;
    FOREACH joined_fleet IN ARRAY joined_fleets LOOP
        PERFORM drover.audit_record('fleet_changed', me, NULL, NULL, jsonb_build_object('fleet', joined_fleet, 'added', a_vehicle, 'kind', a_kind)::text);
    END LOOP;
    RETURN 'taken';
END $$;
REVOKE EXECUTE ON FUNCTION drover.change_vehicle(a_kind text, a_vehicle text, based_on text, new_record text, the_fleets text[], an_owner text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.change_vehicle(a_kind text, a_vehicle text, based_on text, new_record text, the_fleets text[], an_owner text) TO drover_page;

CREATE FUNCTION drover.refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'what was published of a tour stays as it is: publish another version';
END $$;
