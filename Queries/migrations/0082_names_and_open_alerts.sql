-- What people are called, for readers who meet their accounts in what they see: in acknowledgements, services, drives. The reader's own name,
-- those of their fleets (with their parts and what they are a part of), of who drives, owns, keeps or sells vehicles that the reader sees, and
-- of who runs the installation. Nobody else's: who only guesses an id learns nothing.
CREATE FUNCTION drover.names_of(the_accounts text[]) RETURNS TABLE (account text, name text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 50 SET search_path = pg_catalog, pg_temp AS $$
    WITH own AS MATERIALIZED (
        SELECT DISTINCT f.fleet FROM drover.fleet_member m JOIN drover.fleet mine ON mine.fleet = m.fleet
            JOIN drover.fleet f ON f.fleet IN (mine.fleet, mine.part_of) OR f.part_of = mine.fleet
            WHERE m.account = drover.sight_account()
    ), car AS MATERIALIZED (
        -- Looked up only for whom the fleets do not tell.
        SELECT drover.seen('car') AS vehicle UNION SELECT drover.driven()
    ), machine AS MATERIALIZED (
        SELECT drover.seen('machine') AS vehicle UNION SELECT drover.seen_partly('machine')
    )
    SELECT p.account, trim(p.first_name || ' ' || p.last_name)
    FROM drover.account p
    WHERE p.account = ANY (the_accounts) AND trim(p.first_name || ' ' || p.last_name) <> '' AND drover.reads_fleets()
        AND (drover.sees_all() OR p.account = drover.sight_account() OR p.roles && ARRAY['developer', 'operator', 'administrator']
            OR EXISTS (SELECT FROM drover.fleet_member m WHERE m.account = p.account AND m.fleet IN (SELECT o.fleet FROM own o))
            OR EXISTS (SELECT FROM drover.assignment a WHERE a.account = p.account AND a.vehicle IN (SELECT c.vehicle FROM car c))
            OR EXISTS (SELECT FROM drover.car_owner o WHERE o.account = p.account AND o.vehicle IN (SELECT c.vehicle FROM car c))
            OR EXISTS (SELECT FROM drover.dealership d WHERE d.dealer = p.account AND d.confirmed_at IS NOT NULL
                AND d.vehicle IN (SELECT m.vehicle FROM machine m))
            OR EXISTS (SELECT FROM drover.fleet_member m JOIN drover.fleet f ON m.fleet IN (f.fleet, f.part_of)
                JOIN drover.fleet_vehicle v ON v.fleet = f.fleet
                WHERE m.account = p.account AND CASE v.kind WHEN 'car' THEN v.vehicle IN (SELECT c.vehicle FROM car c)
                    ELSE v.vehicle IN (SELECT m.vehicle FROM machine m) END))
    LIMIT 500
$$;
REVOKE EXECUTE ON FUNCTION drover.names_of(the_accounts text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.names_of(the_accounts text[]) TO drover_page;

-- The map, Home and the list of vehicles ask for the open alerts of each vehicle: not by way of all that it ever had.
CREATE INDEX alert_open_by_vehicle ON drover.alert (vehicle) WHERE state IN ('open', 'due_soon');

-- What a link would acknowledge, without doing it, of what the account may still say something of: a link in an old mail opens no more than its
-- reader has today. Which roles act on alerts of which kind, the program says (AlertAccess). No row: unknown, used or too late. The programs
-- before this one ask drover.look_at_notice_link, which knows machines alone.
CREATE FUNCTION drover.notice_link_alerts(a_link bytea) RETURNS TABLE (account text, roles text[], alert_id text, kind text, vehicle text, parameter text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT m.account, p.roles, a.alert_id, a.kind, a.vehicle, a.parameter
        FROM drover.notice_message m JOIN drover.notice_told t USING (message_id) JOIN drover.notice n USING (notice_id)
        JOIN drover.alert a USING (alert_id) JOIN drover.account p ON p.account = m.account
        WHERE m.link = a_link AND m.link_used_at IS NULL AND m.link_expires_at > now() AND p.disabled_at IS NULL
            AND a.state IN ('open', 'due_soon')
            AND (a.kind = 'car' OR a.audience = 'farmer' OR p.roles && ARRAY['developer', 'operator', 'administrator']
                OR (a.audience = 'dealer' AND 'dealer' = ANY (p.roles)))
            AND drover.may_write(m.account, 'alert', a.kind, a.vehicle, now(), now()) = 'yes'
        ORDER BY 5, 6, 3 LIMIT 200
$$;
REVOKE EXECUTE ON FUNCTION drover.notice_link_alerts(a_link bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.notice_link_alerts(a_link bytea) TO drover_api;

-- Who has the sight of the whole installation, and looks at what is somebody else's, at an alert too: whose it is, or NULL: nothing is to be noted.
CREATE OR REPLACE FUNCTION drover.audit_seen_owner(a_viewer text, a_detail jsonb) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    a_vehicle text := coalesce(a_detail->>'vehicle', (SELECT a.vehicle FROM drover.alert a WHERE a.alert_id = a_detail->>'alert'));
    owner text; its_fleet text;
BEGIN
    IF NOT EXISTS (SELECT FROM drover.account a WHERE a.account = a_viewer AND a.roles && ARRAY['administrator', 'operator']) THEN RETURN NULL; END IF;
    IF a_vehicle IS NULL THEN RETURN '-'; END IF;
    SELECT o.account INTO owner FROM drover.car_owner o WHERE o.vehicle = a_vehicle AND o.owned_at <= now() ORDER BY o.owned_at DESC LIMIT 1;
    IF owner IS NOT NULL THEN RETURN nullif(owner, a_viewer); END IF;
    SELECT v.fleet INTO its_fleet FROM drover.fleet_vehicle v WHERE v.vehicle = a_vehicle ORDER BY v.fleet LIMIT 1;
    IF NOT FOUND OR drover.is_of_its_fleet(a_viewer, 'car', a_vehicle) OR drover.is_of_its_fleet(a_viewer, 'machine', a_vehicle) THEN RETURN NULL; END IF;
    RETURN '-';
END $$;

-- Why nothing judges these vehicles as they are now, a row for each that nothing does. The one place that decides it, for pages, programs and
-- reports: `nobody` drives or owns the car; who does has switched all alerts off (`alerts_off`); the machine's model is not known (`no_model`),
-- or neither it nor the machine has rules (`no_rules`). The right to ask, a set of rules, and a model's rules in it are looked up once for all of them.
CREATE OR REPLACE FUNCTION drover.not_monitored_of(the_kinds text[], the_vehicles text[]) RETURNS TABLE (kind text, vehicle text, not_monitored text)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF NOT (drover.is_program() OR drover.reads_fleets()) THEN RETURN; END IF;
    RETURN QUERY
    WITH known AS MATERIALIZED (
        SELECT asked.kind, asked.vehicle, coalesce(v.model, r.model) AS model, coalesce(v.topic_partition, r.topic_partition) AS topic_partition
        FROM (SELECT DISTINCT a.kind, a.vehicle FROM unnest(the_kinds, the_vehicles) AS a(kind, vehicle)) AS asked
        LEFT JOIN drover.vehicle v ON v.kind = asked.kind AND v.vehicle = asked.vehicle
        LEFT JOIN drover.registration r ON r.kind = asked.kind AND r.vehicle = asked.vehicle
    ), heard AS MATERIALIZED (
        -- Of a car its latest trip tells when it was heard of last.
        SELECT k.vehicle, k.topic_partition,
            (SELECT t.end_at FROM drover.trip t WHERE t.vehicle = k.vehicle ORDER BY t.start_at DESC LIMIT 1) AS last_reading_at
        FROM known k WHERE k.kind = 'car'
    ), judged AS MATERIALIZED (
        -- Whose limits a car is judged by: who uploaded its last reading, else who is to drive it now, else who owns it (Sources/Alerts/Drivers.swift).
        SELECT h.vehicle, h.topic_partition, coalesce(
            -- Bounded: a drive is uploaded in pieces, and none is of a month.
            (SELECT d.account FROM drover.driving d WHERE d.vehicle = h.vehicle
                AND d.from_at BETWEEN h.last_reading_at - interval '31 days' AND h.last_reading_at AND d.until_at >= h.last_reading_at
                ORDER BY d.from_at DESC LIMIT 1),
            (SELECT a.account FROM drover.assignment a WHERE a.vehicle = h.vehicle AND a.assigned_at <= now() ORDER BY a.assigned_at DESC LIMIT 1),
            drover.car_owner_at(h.vehicle, now())) AS account
        FROM heard h
    ), cars AS (
        -- Where nobody answers for it the installation's limits judge it, if there are any (0071).
        SELECT 'car' AS kind, j.vehicle, CASE WHEN coalesce((SELECT s.settings ~ '"alerts"\s*:\s*false' FROM drover.account_settings s
                WHERE s.topic_partition = j.topic_partition AND s.account = coalesce(j.account, 'installation') AND s.in_force_at <= now()
                ORDER BY s.in_force_at DESC LIMIT 1), j.account IS NULL)
            THEN CASE WHEN j.account IS NULL THEN 'nobody' ELSE 'alerts_off' END END AS reason
        FROM judged j
    ), in_force AS MATERIALIZED (
        SELECT p.topic_partition, s.version, s.rules
        FROM (SELECT DISTINCT k.topic_partition FROM known k WHERE k.kind = 'machine' AND k.model IS NOT NULL) AS p
        CROSS JOIN LATERAL (SELECT r.version, r.rules FROM drover.rule_set r WHERE r.topic_partition = p.topic_partition AND r.in_force_at <= now()
            ORDER BY r.in_force_at DESC LIMIT 1) AS s
    ), texts AS MATERIALIZED (
        -- Each set unpacked once, by the empty text behind it.
        SELECT one.version, one.rules || '' AS rules FROM (SELECT DISTINCT ON (f.version) f.version, f.rules FROM in_force f) AS one
    ), sets AS MATERIALIZED (
        -- With the machines that it names, to be found by name.
        SELECT t.version, t.rules, (SELECT jsonb_object_agg(split_part(behind, E'\n', 1), true)
            FROM string_to_table(t.rules, E'\nmachine\t') AS behind) AS named
        FROM texts t
    ), machine AS MATERIALIZED (
        SELECT k.kind, k.vehicle, k.model, s.version, coalesce(jsonb_exists(s.named, k.vehicle), false) AS is_named
        FROM known k LEFT JOIN in_force f ON f.topic_partition = k.topic_partition LEFT JOIN sets s ON s.version = f.version
        WHERE k.kind = 'machine'
    ), models AS MATERIALIZED (
        -- Machines without rules of their own are judged as any other of their model: one is asked for.
        SELECT one.version, one.model, drover.is_judged(s.rules, one.model, one.vehicle) AS is_judged
        FROM (SELECT m.version, m.model, min(m.vehicle) AS vehicle FROM machine m WHERE NOT m.is_named AND m.model IS NOT NULL GROUP BY 1, 2) AS one
        JOIN sets s ON s.version = one.version
    ), machines AS (
        SELECT m.kind, m.vehicle, CASE WHEN m.model IS NULL THEN 'no_model'
            WHEN NOT coalesce(CASE WHEN m.is_named THEN drover.is_judged(s.rules, m.model, m.vehicle) ELSE o.is_judged END, false)
                THEN 'no_rules' END AS reason
        FROM machine m LEFT JOIN sets s ON s.version = m.version LEFT JOIN models o ON o.version = m.version AND o.model = m.model
    )
    SELECT c.kind, c.vehicle, c.reason FROM cars c WHERE c.reason IS NOT NULL
    UNION ALL
    SELECT m.kind, m.vehicle, m.reason FROM machines m WHERE m.reason IS NOT NULL;
END $$;
