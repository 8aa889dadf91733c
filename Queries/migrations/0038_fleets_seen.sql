-- Fleets that a person belongs to, with their vehicles: reports and pages are narrowed to one of them. Programs of the
-- installation and who runs it see all. It gives no sight of its own: what is seen of a vehicle, its tables' rules say.
CREATE FUNCTION drover.fleets_seen()
RETURNS TABLE (fleet text, name text, kind text, vehicle text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT f.fleet, f.name, v.kind, v.vehicle
    FROM drover.fleet f
    -- A fleet has the vehicles of its parts, too.
    JOIN drover.fleet part ON part.fleet = f.fleet OR part.part_of = f.fleet
    JOIN drover.fleet_vehicle v ON v.fleet = part.fleet
    -- As in drover.sight_account(): the session, since this runs as its owner.
    WHERE NOT pg_has_role(session_user, 'drover_sight', 'USAGE')
        OR (drover.sight_account() IS NULL AND (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = session_user))
        OR drover.sight_roles() && ARRAY['administrator', 'operator']
        OR EXISTS (SELECT FROM drover.fleet_member m
            WHERE m.account = drover.sight_account() AND m.fleet IN (f.fleet, f.part_of))
$$;
REVOKE EXECUTE ON FUNCTION drover.fleets_seen() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.fleets_seen() TO drover_page, drover_reader;
