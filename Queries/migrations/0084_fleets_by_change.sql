-- Makes a fleet without vehicles and people. False: not by an administrator, there is one of this id, whether a list shows it or not, or fleets
-- would be nested twice.
CREATE FUNCTION drover.make_fleet(a_fleet text, a_name text, is_part_of text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (NOT 'administrator' = ANY (drover.sight_roles())) THEN RETURN false; END IF;
    INSERT INTO drover.fleet (fleet, name, part_of) VALUES (a_fleet, a_name, is_part_of) ON CONFLICT (fleet) DO NOTHING;
    RETURN FOUND;
EXCEPTION WHEN foreign_key_violation OR check_violation THEN
    RETURN false;
END $$;
REVOKE EXECUTE ON FUNCTION drover.make_fleet(text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.make_fleet(text, text, text) TO drover_page;

-- Changes of a fleet what is named: NULL leaves the name or what it is part of, '' takes it out of the other. What somebody else does meanwhile
-- stays. Vehicles as `machine mtg-1`. False: not by an administrator, or an account or fleet is not there, or fleets would be nested twice; then
-- nothing is changed.
CREATE FUNCTION drover.change_fleet(a_fleet text, new_name text, is_part_of text, added text[], taken text[], joined text[], left_by text[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (NOT 'administrator' = ANY (drover.sight_roles())) THEN RETURN false; END IF;
    UPDATE drover.fleet f SET name = coalesce(new_name, f.name),
            part_of = CASE WHEN is_part_of IS NULL THEN f.part_of ELSE nullif(is_part_of, '') END
        WHERE f.fleet = a_fleet;
    IF NOT FOUND THEN RETURN false; END IF;
    DELETE FROM drover.fleet_vehicle v WHERE v.fleet = a_fleet AND v.kind || ' ' || v.vehicle = ANY (taken);
    INSERT INTO drover.fleet_vehicle (fleet, kind, vehicle)
        SELECT DISTINCT a_fleet, split_part(v, ' ', 1), split_part(v, ' ', 2) FROM unnest(added) v ON CONFLICT DO NOTHING;
    DELETE FROM drover.fleet_member m WHERE m.fleet = a_fleet AND m.account = ANY (left_by);
    INSERT INTO drover.fleet_member (fleet, account) SELECT DISTINCT a_fleet, m FROM unnest(joined) m ON CONFLICT DO NOTHING;
    RETURN true;
EXCEPTION WHEN foreign_key_violation OR check_violation THEN
    RETURN false;
END $$;
REVOKE EXECUTE ON FUNCTION drover.change_fleet(text, text, text, text[], text[], text[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.change_fleet(text, text, text, text[], text[], text[], text[]) TO drover_page;
