-- Whose machines the asking dealer looks after: for each that was confirmed to them and has not ended, its owners as they are now. Who has left
-- the fleet, lost the role or is disabled is an owner no more.
CREATE FUNCTION drover.owners_of_dealt() RETURNS TABLE (vehicle text, owner text, owner_name text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT d.vehicle, a.account, trim(a.first_name || ' ' || a.last_name)
    FROM drover.dealership d
        JOIN drover.fleet_vehicle v ON v.kind = 'machine' AND v.vehicle = d.vehicle
        JOIN drover.fleet f ON f.fleet = v.fleet
        JOIN drover.fleet_member m ON m.fleet = f.fleet OR m.fleet = f.part_of
        JOIN drover.account a ON a.account = m.account
    WHERE d.dealer = drover.sight_account() AND 'dealer' = ANY (drover.sight_roles())
        AND d.confirmed_at IS NOT NULL AND d.ended_at IS NULL
        AND a.disabled_at IS NULL AND a.roles && ARRAY['farmer', 'fleet_manager']
    ORDER BY 1, 2 LIMIT 10000
$$;
REVOKE EXECUTE ON FUNCTION drover.owners_of_dealt() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.owners_of_dealt() TO drover_page;
