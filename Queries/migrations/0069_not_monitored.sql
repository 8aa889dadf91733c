-- What looks right and is not: vehicles that nothing judges, and ride vehicles that nobody has heard of.

-- MARK: not monitored

-- Whether a machine has a rule that can open an alert: one of its own, or one of its model's that it has not put another in place of. A rule
-- judges by its test (third of its fields), or by how long nothing may be said (eleventh).
CREATE FUNCTION drover.is_judged(the_rules text, a_model text, a_vehicle text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    judges text := E'\nrule\t[^\t\n]*\t(above|below)\t|\nrule(\t[^\t\n]*){9}\t[0-9]';
    own text := drover.rules_of_group(the_rules, E'machine\t' || a_vehicle);
    models text := drover.rules_of_group(the_rules, E'model\t' || replace(replace(replace(a_model, '\', '\\'), E'\t', '\t'), E'\n', '\n'));
BEGIN
    IF own = '' OR own ~ judges THEN RETURN coalesce(own || models ~ judges, false); END IF;
    RETURN EXISTS (SELECT FROM string_to_table(models, E'\n') AS line
        WHERE E'\n' || line ~ judges AND strpos(own, E'\nrule\t' || split_part(line, E'\t', 2) || E'\t') = 0);
END $$;

-- Whose limits a car is judged by: who uploaded its last reading, else who is to drive it now, else who owns it (Sources/Alerts/Drivers.swift).
CREATE FUNCTION drover.judged_by(a_vehicle text, last_reading_at timestamptz) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(
        -- Bounded: a drive is uploaded in pieces, and none is of a month.
        (SELECT d.account FROM drover.driving d WHERE d.vehicle = a_vehicle AND d.from_at BETWEEN last_reading_at - interval '31 days' AND last_reading_at
            AND d.until_at >= last_reading_at ORDER BY d.from_at DESC LIMIT 1),
        (SELECT a.account FROM drover.assignment a WHERE a.vehicle = a_vehicle AND a.assigned_at <= now() ORDER BY a.assigned_at DESC LIMIT 1),
        drover.car_owner_at(a_vehicle, now()))
$$;

-- Why nothing judges a vehicle as it is now; NULL: something does. The one place that decides it, for pages, programs and reports:
-- `nobody` drives or owns the car; who does has switched all alerts off (`alerts_off`); the machine's model is not known (`no_model`), or
-- neither it nor the machine has rules (`no_rules`).
CREATE FUNCTION drover.not_monitored(a_kind text, a_vehicle text) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said record;
    judge text;
BEGIN
    IF NOT (drover.is_program() OR drover.reads_fleets()) THEN RETURN NULL; END IF;
    SELECT max(k.model) AS model, max(k.topic_partition) AS topic_partition INTO said
    FROM (SELECT v.model, v.topic_partition FROM drover.vehicle v WHERE v.kind = a_kind AND v.vehicle = a_vehicle
        UNION ALL
        SELECT r.model, r.topic_partition FROM drover.registration r WHERE r.kind = a_kind AND r.vehicle = a_vehicle
            AND NOT EXISTS (SELECT FROM drover.vehicle v WHERE v.kind = a_kind AND v.vehicle = a_vehicle AND v.model IS NOT NULL)) k;
    IF a_kind = 'car' THEN
        -- Of a car its latest trip tells when it was heard of last.
        judge := drover.judged_by(a_vehicle, (SELECT t.end_at FROM drover.trip t WHERE t.vehicle = a_vehicle ORDER BY t.start_at DESC LIMIT 1));
        IF judge IS NULL THEN RETURN 'nobody'; END IF;
        RETURN (SELECT CASE WHEN s.settings ~ '"alerts"\s*:\s*false' THEN 'alerts_off' END FROM drover.account_settings s
            WHERE s.topic_partition = said.topic_partition AND s.account = judge AND s.in_force_at <= now()
            ORDER BY s.in_force_at DESC LIMIT 1);
    END IF;
    IF said.model IS NULL THEN RETURN 'no_model'; END IF;
    -- Unpacked once, by the empty text behind it.
    RETURN CASE WHEN coalesce(drover.is_judged(
        (SELECT s.rules || '' FROM drover.rule_set s WHERE s.topic_partition = said.topic_partition AND s.in_force_at <= now()
         ORDER BY s.in_force_at DESC LIMIT 1), said.model, a_vehicle), false) THEN NULL ELSE 'no_rules' END;
END $$;

-- It says of any vehicle whether somebody keeps it, so nobody's own login asks it: only our statements, of vehicles that were found.
DO $$
DECLARE
    made regprocedure;
BEGIN
    FOREACH made IN ARRAY ARRAY['drover.is_judged(text, text, text)', 'drover.judged_by(text, timestamptz)',
        'drover.not_monitored(text, text)']::regprocedure[]
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', made);
    END LOOP;
END $$;
GRANT EXECUTE ON FUNCTION drover.not_monitored(text, text) TO drover_page, drover_reader, drover_api;

-- MARK: who drives a car

-- Who looks may say who drives it: who keeps it, and who runs the installation.
CREATE FUNCTION drover.may_assign(a_vehicle text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT (drover.keeps('car', a_vehicle) OR drover.sight_roles() && ARRAY['operator', 'administrator'])
        AND (EXISTS (SELECT FROM drover.vehicle v WHERE v.kind = 'car' AND v.vehicle = a_vehicle)
            OR EXISTS (SELECT FROM drover.registration r WHERE r.kind = 'car' AND r.vehicle = a_vehicle))
$$;

-- To whom: oneself, and drivers of the car's fleets that one keeps. An assignment opens sight of the car's drives, so it is nobody's of another
-- customer. Who runs the installation chooses among all drivers. No row: who looks may not say it.
CREATE FUNCTION drover.assignable(a_vehicle text) RETURNS TABLE (account text, is_assigned boolean)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
    WITH now_assigned AS (SELECT a.account FROM drover.assignment a WHERE a.vehicle = a_vehicle AND a.assigned_at <= now()
        ORDER BY a.assigned_at DESC LIMIT 1)
    SELECT n.account, true FROM now_assigned n WHERE n.account IS NOT NULL AND drover.may_assign(a_vehicle)
    UNION ALL
    (SELECT p.account, false FROM drover.account p
    WHERE drover.may_assign(a_vehicle) AND p.disabled_at IS NULL AND NOT EXISTS (SELECT FROM now_assigned n WHERE n.account = p.account) AND 'driver' = ANY (p.roles) AND (
        drover.sight_roles() && ARRAY['operator', 'administrator'] OR p.account = drover.sight_account()
        OR p.account IN (SELECT m.account FROM drover.fleet_vehicle v
            JOIN drover.fleet f ON f.fleet = v.fleet JOIN drover.fleet_member m ON m.fleet = f.fleet OR m.fleet = f.part_of
            WHERE v.kind = 'car' AND v.vehicle = a_vehicle AND v.fleet IN (SELECT drover.kept_fleets())))
    ORDER BY p.account COLLATE "C" LIMIT 1000)
$$;
REVOKE EXECUTE ON FUNCTION drover.may_assign(text), drover.assignable(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.may_assign(text), drover.assignable(text) TO drover_page;

-- MARK: silent vehicles of a campus

ALTER TABLE drover.ride_vehicle ADD COLUMN is_silent boolean NOT NULL DEFAULT false;  -- its last position is too old: nobody is planned on it
COMMENT ON COLUMN drover.ride_vehicle.is_alarmed IS 'silent with passengers on board, until somebody looks after them';
-- `ended`: over before its drop-off, because somebody said so, and why. What is there holds by the check before, so that nothing is read
-- while all rides wait.
ALTER TABLE drover.ride DROP CONSTRAINT ride_state_check;
ALTER TABLE drover.ride ADD CONSTRAINT ride_state_check CHECK (state IN
    ('queued', 'assigned', 'on_board', 'done', 'cancelled', 'expired', 'refused', 'ended')) NOT VALID;
