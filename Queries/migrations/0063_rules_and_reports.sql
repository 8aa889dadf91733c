-- Rules of models belong to administrators and developers; an alert says whose rule it was; every report is read as the account that
-- asks for it.

-- MARK: rules

-- Who may change the thresholds of a model (NULL: of a machine). Those of a model hold for machines of everybody, so they are not for
-- who keeps some of them.
CREATE OR REPLACE FUNCTION drover.edits_rules(a_vehicle text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN drover.sight_roles() && ARRAY['developer', 'administrator'] THEN true
        WHEN a_vehicle IS NULL OR NOT drover.sight_roles() && ARRAY['farmer', 'fleet_manager'] THEN false
        ELSE drover.keeps('machine', a_vehicle) END
$$;

-- Rule sets as somebody may read them: rules of models are known to all who read fleets, those of single machines name machines of everybody, so
-- a person gets those of machines that they know (Sources/Alerts/RuleText.swift: models, then machines, each with its rules in the lines
-- below it).
CREATE INDEX rule_set_by_version ON drover.rule_set (version);
CREATE VIEW drover.rule_set_seen AS
SELECT s.topic_partition, s.in_force_at, s.version,
    CASE WHEN (SELECT drover.sees_all()) THEN s.rules
        ELSE split_part(s.rules, E'\nmachine\t', 1) || coalesce((
            SELECT string_agg(E'\nmachine\t' || part.text, '' ORDER BY part.number)
            FROM unnest(string_to_array(s.rules, E'\nmachine\t')) WITH ORDINALITY AS part(text, number)
            WHERE part.number > 1 AND split_part(part.text, E'\n', 1) IN (SELECT drover.known('machine'))), '') END AS rules
FROM drover.rule_set s WHERE (SELECT drover.is_program()) OR (SELECT drover.reads_fleets());
REVOKE SELECT ON drover.rule_set FROM drover_sight;
GRANT SELECT (topic_partition, in_force_at, version, record_offset) ON drover.rule_set TO drover_sight;
-- What a page tries on readings is asked of the set as it is.
GRANT SELECT ON drover.rule_set TO drover_page;
GRANT SELECT ON drover.rule_set_seen TO drover_sight, drover_reader, drover_writer, drover_relay;
GRANT EXECUTE ON FUNCTION drover.sees_all(), drover.sight_roles(), drover.known(text) TO drover_relay;

-- The rules of a model or machine in a rule set's text (Sources/Alerts/RuleText.swift), a line each; empty: it has none. `a_group` is its
-- line there. Plain expressions, and no settings of its own: it is asked for each vehicle of a page. A set may have 400 kB: cut by
-- split_part, which counts no characters, and first where the cut leaves little.
CREATE FUNCTION drover.rules_of_group(the_rules text, a_group text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    behind text := split_part(the_rules, E'\n' || a_group || E'\n', 2);
BEGIN
    IF behind = '' THEN RETURN ''; END IF;
    -- The line's end belongs to the next line's mark, too.
    RETURN split_part(split_part(E'\n' || behind, E'\nmachine\t', 1), E'\nmodel\t', 1);
END $$;
REVOKE EXECUTE ON FUNCTION drover.rules_of_group(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.rules_of_group(text, text) TO drover_sight, drover_reader, drover_writer, drover_relay;

-- By whose rule an alert of a machine was judged: the machine's own where its set has one of the parameter, else its model's. It follows
-- from the set, so it is not kept beside it. NULL: the set is not on record. A list asks once a set for its text, then for each alert.
CREATE FUNCTION drover.rule_text(a_version text) RETURNS text
LANGUAGE sql STABLE COST 10000 SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.rules FROM drover.rule_set_seen r WHERE r.version = a_version LIMIT 1
$$;
CREATE FUNCTION drover.rule_whose(the_rules text, a_vehicle text, a_model text, a_parameter text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE
        WHEN strpos(drover.rules_of_group(the_rules, E'machine\t' || a_vehicle), E'\nrule\t' || a_parameter || E'\t') > 0 THEN 'of this machine'
        WHEN a_model <> '' THEN 'of model ' || a_model END
$$;
REVOKE EXECUTE ON FUNCTION drover.rule_text(text), drover.rule_whose(text, text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.rule_text(text), drover.rule_whose(text, text, text, text) TO drover_sight, drover_reader, drover_writer, drover_relay;

-- MARK: reports

-- Walks as reports count them: all of them, for who sees surveys as they are and for who runs the installation. As in 0036 no barrier,
-- since what is asked of it is ours alone: no login of a person may read it.
CREATE VIEW drover.seen_walk AS
SELECT s.site, s.survey, s.local_date, s.started_at, s.stopped_at, s.distance_m, s.gate, s.needs_review, s.sightings, s.individuals
FROM drover.survey s WHERE (SELECT drover.sees_all()) OR (SELECT drover.sees_sightings('exact'));
GRANT SELECT ON drover.seen_walk TO drover_page, drover_reader;

-- What was made of all campuses for who sees one. Those that are looked at again for late data are made anew by that.
UPDATE drover.report_run r SET content = NULL, facts = NULL
    FROM drover.report_schedule s JOIN drover.account a ON a.account = s.account
    WHERE s.schedule_id = r.schedule_id AND s.report = 'dispatch-day' AND NOT a.roles && ARRAY['administrator', 'operator'];
