-- Alerts, and the rules that they are judged by.

-- The rule sets of each partition of drover.machines. Of two with one time the one whose version sorts last counts.
CREATE TABLE drover.rule_set (
    topic_partition integer NOT NULL,
    in_force_at timestamptz NOT NULL,
    version text NOT NULL,
    rules text NOT NULL,  -- Sources/Domain/Alerts/Rules/RuleText.swift
    record_offset bigint NOT NULL,
    CONSTRAINT rule_set_pkey PRIMARY KEY (topic_partition, in_force_at)
);
-- Rule sets as somebody may read them: rules of models are known to all who read fleets, those of single machines name machines of everybody, so
-- a person gets those of machines that they know (Sources/Domain/Alerts/Rules/RuleText.swift: models, then machines, each with its rules in the lines
-- below it).
CREATE INDEX rule_set_by_version ON drover.rule_set (version);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.rule_set TO drover_writer;
GRANT SELECT ON drover.rule_set TO drover_page, drover_reader;
GRANT SELECT (topic_partition, in_force_at, version, record_offset) ON drover.rule_set TO drover_sight;

-- What was changed of thresholds in pages, by whom. Of a model, or of one machine. The rules themselves stand on the log.
CREATE TABLE drover.rule_edit (
    edit_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    edited_at timestamptz DEFAULT now() NOT NULL,
    account text NOT NULL,
    model text,
    vehicle text,
    version text NOT NULL,
    changes text[] NOT NULL,
    CONSTRAINT rule_edit_pkey PRIMARY KEY (edit_id),
    CONSTRAINT rule_edit_check CHECK (((model IS NULL) <> (vehicle IS NULL))),
    CONSTRAINT rule_edit_version_check CHECK ((octet_length(version) <= 64))
);
CREATE INDEX rule_edit_by_time ON drover.rule_edit (edited_at DESC);
GRANT SELECT ON drover.rule_edit TO drover_reader, drover_sight;

CREATE TABLE drover.alert (
    alert_id text NOT NULL,  -- vehicle, parameter and opening reading, see Alerts/Episode.swift
    vehicle text NOT NULL,
    model text NOT NULL,
    parameter text NOT NULL,  -- the name as shown to people
    unit text NOT NULL,
    severity text NOT NULL,
    state text NOT NULL,
    test text NOT NULL,
    threshold double precision,
    since_at timestamptz NOT NULL,  -- when the condition began
    opened_at timestamptz NOT NULL,  -- when it had held long enough
    opening_value double precision,
    worst_value double precision,
    worst_at timestamptz NOT NULL,
    resolved_at timestamptz,
    audience text NOT NULL,
    recommended double precision,
    advice text,
    rules_version text NOT NULL,
    first_opened_at timestamptz NOT NULL,
    revision integer DEFAULT 0 NOT NULL,  -- how often what had been told was corrected
    revised_at timestamptz,  -- when the record that made the last correction was pushed
    told_at timestamptz,
    resolved_told_at timestamptz,
    kind text DEFAULT 'machine'::text NOT NULL,
    account text,  -- of a car: whose limits it is about; model is empty then
    CONSTRAINT alert_pkey PRIMARY KEY (alert_id),
    CONSTRAINT alert_audience_check CHECK ((audience = ANY (ARRAY['farmer'::text, 'dealer'::text, 'developer'::text]))),
    CONSTRAINT alert_kind_check CHECK ((kind = ANY (ARRAY['car'::text, 'machine'::text]))),
    CONSTRAINT alert_severity_check CHECK ((severity = ANY (ARRAY['warning'::text, 'critical'::text]))),
    CONSTRAINT alert_state_check CHECK ((state = ANY (ARRAY['due_soon'::text, 'open'::text, 'resolved'::text, 'withdrawn'::text]))),
    CONSTRAINT alert_test_check CHECK ((test = ANY (ARRAY['above'::text, 'below'::text, 'absent'::text])))
);
CREATE INDEX alert_by_account ON drover.alert (account, opened_at) WHERE (account IS NOT NULL);
-- What judging again can touch is looked up by an alert's end, too.
CREATE INDEX alert_by_end ON drover.alert (vehicle, resolved_at) WHERE ((kind = 'machine'::text) AND (state <> 'withdrawn'::text));
CREATE INDEX alert_by_first_opening ON drover.alert (vehicle, first_opened_at);
CREATE INDEX alert_by_vehicle ON drover.alert (vehicle, opened_at);
CREATE INDEX alert_open ON drover.alert (opened_at) WHERE (state = ANY (ARRAY['open'::text, 'due_soon'::text]));
CREATE INDEX alert_open_of_cars ON drover.alert (vehicle) WHERE ((kind = 'car'::text) AND (state = 'open'::text));
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.alert TO drover_writer;
GRANT SELECT ON drover.alert TO drover_reader, drover_relay, drover_sight;

CREATE TABLE drover.acknowledgement (
    vehicle text NOT NULL,
    record_id text NOT NULL,
    alert_id text NOT NULL,
    acknowledged_at timestamptz NOT NULL,
    acknowledged_by text NOT NULL,
    note text,
    CONSTRAINT acknowledgement_pkey PRIMARY KEY (vehicle, record_id)
);
CREATE INDEX acknowledgement_by_alert ON drover.acknowledgement (alert_id, acknowledged_at);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.acknowledgement TO drover_writer;
GRANT SELECT ON drover.acknowledgement TO drover_reader, drover_relay, drover_sight;

-- Nobody is told of these alerts meanwhile. One of no vehicle stands in every partition, so once a partition.
CREATE TABLE drover.silence (
    topic_partition integer NOT NULL,
    record_id text NOT NULL,
    vehicle text,  -- NULL: every machine
    model text,  -- NULL: every model
    parameter text,  -- as shown to people; NULL: every parameter
    from_at timestamptz NOT NULL,
    until_at timestamptz NOT NULL,
    silenced_by text NOT NULL,
    note text,
    CONSTRAINT silence_pkey PRIMARY KEY (topic_partition, record_id)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.silence TO drover_writer;
GRANT SELECT ON drover.silence TO drover_reader, drover_relay, drover_sight;

-- What was told of an account's alerts, in the order in which it became visible (OutboxStore takes the account's lock before
-- it asks for an id), so that who comes back after an id misses nothing. Kept for a week.
CREATE TABLE drover.alert_event (
    event_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    account text NOT NULL,
    record_id text NOT NULL,  -- as on drover.alerts
    record text NOT NULL,  -- the JSON value as it goes there
    made_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT alert_event_pkey PRIMARY KEY (event_id)
);
CREATE INDEX alert_event_by_account ON drover.alert_event (account, event_id);
CREATE INDEX alert_event_by_time ON drover.alert_event (made_at);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.alert_event TO drover_writer;
GRANT SELECT ON drover.alert_event TO drover_reader;

-- By whose rule an alert of a machine was judged: the machine's own where its set has one of the parameter, else its model's. It follows
-- from the set, so it is not kept beside it. NULL: the set is not on record. A list asks once a set for its text, then for each alert.
CREATE FUNCTION drover.rule_text(a_version text) RETURNS text
LANGUAGE sql STABLE COST 10000 SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.rules FROM drover.rule_set_seen r WHERE r.version = a_version LIMIT 1
$$;
REVOKE EXECUTE ON FUNCTION drover.rule_text(a_version text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.rule_text(a_version text) TO drover_reader, drover_relay, drover_sight, drover_writer;

CREATE FUNCTION drover.rule_whose(the_rules text, a_vehicle text, a_model text, a_parameter text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE
        WHEN strpos(drover.rules_of_group(the_rules, E'machine\t' || a_vehicle), E'\nrule\t' || a_parameter || E'\t') > 0 THEN 'of this machine'
        WHEN a_model <> '' THEN 'of model ' || a_model END
$$;
REVOKE EXECUTE ON FUNCTION drover.rule_whose(the_rules text, a_vehicle text, a_model text, a_parameter text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.rule_whose(the_rules text, a_vehicle text, a_model text, a_parameter text) TO drover_reader, drover_relay, drover_sight, drover_writer;

-- The rules of a model or machine in a rule set's text (Sources/Domain/Alerts/Rules/RuleText.swift), a line each; empty: it has none. `a_group` is its
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
REVOKE EXECUTE ON FUNCTION drover.rules_of_group(the_rules text, a_group text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.rules_of_group(the_rules text, a_group text) TO drover_reader, drover_relay, drover_sight, drover_writer;

-- Who may change the thresholds of a model (NULL: of a machine). Those of a model hold for machines of everybody, so they are not for
-- who keeps some of them.
CREATE FUNCTION drover.edits_rules(a_vehicle text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN drover.sight_roles() && ARRAY['developer', 'administrator'] THEN true
        WHEN a_vehicle IS NULL OR NOT drover.sight_roles() && ARRAY['farmer', 'fleet_manager'] THEN false
        ELSE drover.keeps('machine', a_vehicle) END
$$;
REVOKE EXECUTE ON FUNCTION drover.edits_rules(a_vehicle text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.edits_rules(a_vehicle text) TO drover_page;

CREATE FUNCTION drover.note_rule_edit(a_model text, a_vehicle text, a_version text, the_changes text[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF drover.edits_rules(a_vehicle) IS NOT TRUE THEN RETURN false; END IF;
    INSERT INTO drover.rule_edit (account, model, vehicle, version, changes) VALUES (drover.sight_account(), a_model, a_vehicle, a_version, the_changes);
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.note_rule_edit(a_model text, a_vehicle text, a_version text, the_changes text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.note_rule_edit(a_model text, a_vehicle text, a_version text, the_changes text[]) TO drover_page;

CREATE FUNCTION drover.tell_alert_event() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_alert_event', ''); END IF;
    RETURN NULL;
END $$;

-- Alerts as people see them: who has seen them first, and whether somebody wants not to be told. Of two silences of one
-- scope the later one counts, so that one that ends now takes the other back.
CREATE VIEW drover.alert_now WITH (security_invoker) AS
 SELECT alert.alert_id,
    alert.vehicle,
    alert.model,
    alert.parameter,
    alert.unit,
    alert.severity,
    alert.state,
    alert.test,
    alert.threshold,
    alert.since_at,
    alert.opened_at,
    alert.opening_value,
    alert.worst_value,
    alert.worst_at,
    alert.resolved_at,
    alert.audience,
    alert.recommended,
    alert.advice,
    alert.rules_version,
    alert.first_opened_at,
    alert.revision,
    alert.revised_at,
    alert.told_at,
    alert.resolved_told_at,
    alert.kind,
    alert.account,
    seen.acknowledged_at,
    seen.acknowledged_by,
    seen.note AS acknowledgement_note,
    silence.until_at AS silenced_until_at,
    silence.silenced_by
   FROM ((drover.alert
     LEFT JOIN LATERAL ( SELECT a.acknowledged_at,
            a.acknowledged_by,
            a.note
           FROM drover.acknowledgement a
          WHERE ((a.alert_id = alert.alert_id) AND (a.vehicle = alert.vehicle))
          ORDER BY a.acknowledged_at, a.record_id
         LIMIT 1) seen ON (true))
     LEFT JOIN LATERAL ( SELECT s.until_at,
            s.silenced_by
           FROM ( SELECT DISTINCT ON (s_1.vehicle, s_1.model, s_1.parameter) s_1.until_at,
                    s_1.silenced_by
                   FROM drover.silence s_1
                  WHERE ((s_1.from_at <= now()) AND ((s_1.vehicle IS NULL) OR (s_1.vehicle = alert.vehicle)) AND ((s_1.model IS NULL) OR (s_1.model = alert.model)) AND ((s_1.parameter IS NULL) OR (s_1.parameter = alert.parameter)))
                  ORDER BY s_1.vehicle, s_1.model, s_1.parameter, s_1.from_at DESC, s_1.record_id DESC) s
          WHERE (s.until_at > now())
          ORDER BY s.until_at DESC
         LIMIT 1) silence ON (true));
GRANT SELECT ON drover.alert_now TO drover_reader, drover_relay, drover_sight, drover_writer;

CREATE VIEW drover.rule_set_seen AS
SELECT s.topic_partition, s.in_force_at, s.version,
    CASE WHEN (SELECT drover.sees_all()) THEN s.rules
        ELSE split_part(s.rules, E'\nmachine\t', 1) || coalesce((
            SELECT string_agg(E'\nmachine\t' || part.text, '' ORDER BY part.number)
            FROM unnest(string_to_array(s.rules, E'\nmachine\t')) WITH ORDINALITY AS part(text, number)
            WHERE part.number > 1 AND split_part(part.text, E'\n', 1) IN (SELECT drover.known('machine'))), '') END AS rules
FROM drover.rule_set s WHERE (SELECT drover.is_program()) OR (SELECT drover.reads_fleets());
GRANT SELECT ON drover.rule_set_seen TO drover_reader, drover_relay, drover_sight, drover_writer;

CREATE TRIGGER alert_event_tell AFTER INSERT ON drover.alert_event FOR EACH STATEMENT EXECUTE FUNCTION drover.tell_alert_event();
