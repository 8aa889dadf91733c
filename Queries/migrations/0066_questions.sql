-- Questions of people's own, one SELECT at a time, and no psql between neighbours.
--
-- Row-level security hides rows, not what it costs to hide them: EXPLAIN (ANALYZE) of a person's login says "never executed" of a rule
-- unless a hidden row matched the question, and so tells where others' machines are. So where there are neighbours no person has a login of
-- the database; `drover serve` asks for them, through views whose rows are held together before any condition of theirs is looked at
-- (docs/decisions/0027-questions.md).

DO $$ BEGIN
    -- Asks for people: one login of `drover serve`, in this role and in nothing else.
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_query') THEN CREATE ROLE drover_query NOLOGIN; END IF;
END $$;
GRANT drover_sight TO drover_query;
-- A statement is looked at as a temporary view before it runs.
DO $$ BEGIN EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO drover_query', current_database()); END $$;

-- MARK: neighbours

-- Whether more than one customer is here: two fleets of which neither is part of the other, or two campuses.
CREATE FUNCTION drover.has_neighbours() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT (SELECT count(*) FROM (SELECT FROM drover.fleet f WHERE f.part_of IS NULL LIMIT 2) AS two) > 1
        OR (SELECT count(*) FROM (SELECT FROM drover.campus LIMIT 2) AS two) > 1
$$;

-- Whether an account may have a login of the database: who sees all rows anyway, and everybody where nobody has neighbours.
CREATE FUNCTION drover.may_have_login(an_account text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce((SELECT a.disabled_at IS NULL AND (a.roles && ARRAY['administrator', 'operator'] OR NOT drover.has_neighbours())
        FROM drover.account a WHERE a.account = an_account), false)
$$;

-- Those that may not be. Says how many there were.
CREATE FUNCTION drover.end_logins_of_neighbours() RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one record; ended int := 0;
BEGIN
    FOR one IN SELECT l.account, l.login FROM drover.account_login l WHERE NOT drover.may_have_login(l.account) ORDER BY l.login LOOP
        PERFORM drover.end_database_login(one.account);
        IF EXISTS (SELECT FROM pg_roles r WHERE r.rolname = one.login AND r.rolcanlogin) THEN
            RAISE EXCEPTION 'the login % may not stay where others have rows, and cannot be ended', one.login USING ERRCODE = 'insufficient_privilege',
                HINT = format('As a superuser: ALTER ROLE %I NOLOGIN', one.login);
        END IF;
        ended := ended + 1;
    END LOOP;
    RETURN ended;
END $$;

-- With the fleet or campus that makes neighbours, or with the role that let somebody see all.
CREATE FUNCTION drover.keep_neighbours_apart() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM drover.end_logins_of_neighbours();
    RETURN NULL;
EXCEPTION WHEN insufficient_privilege THEN
    -- A login that somebody else has made, who alone may end it. No fleet is made beside it; a worker goes on, and `drover migrate` says it again.
    IF TG_TABLE_NAME <> 'campus' THEN RAISE; END IF;
    RAISE WARNING 'logins of the database that are beside others'' rows were not ended: %', SQLERRM;
    RETURN NULL;
END $$;
CREATE TRIGGER fleet_neighbours AFTER INSERT OR UPDATE OF part_of ON drover.fleet
    FOR EACH STATEMENT EXECUTE FUNCTION drover.keep_neighbours_apart();
-- A row each: workers write a campus with each of its events, and make one once.
CREATE TRIGGER campus_neighbours AFTER INSERT ON drover.campus FOR EACH ROW EXECUTE FUNCTION drover.keep_neighbours_apart();
CREATE TRIGGER account_neighbours AFTER UPDATE OF roles ON drover.account
    FOR EACH ROW WHEN (OLD.roles IS DISTINCT FROM NEW.roles) EXECUTE FUNCTION drover.keep_neighbours_apart();
SELECT drover.end_logins_of_neighbours();

-- MARK: for whom a question is

-- For whom a connection asks. A row is there as long as the transaction that wrote it, for nobody else to see: it is rolled back.
CREATE UNLOGGED TABLE drover.question (
    pid     int  PRIMARY KEY,
    account text NOT NULL
);
REVOKE ALL ON drover.question FROM PUBLIC;

-- From here to the end of the transaction its login sees what the account sees. Once: no statement after it can say otherwise.
CREATE FUNCTION drover.begin_question(an_account text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- By another role it would have rights, or rows, of its own.
    IF EXISTS (SELECT FROM pg_roles r WHERE r.rolname NOT IN (session_user, 'drover_query', 'drover_sight') AND pg_has_role(session_user, r.oid, 'MEMBER')) THEN
        RAISE EXCEPTION 'the login % is to be in drover_query and in nothing else', session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO drover.question (pid, account) VALUES (pg_backend_pid(), an_account);
END $$;

-- As in 0031; and of the login that asks for people, for whom its transaction does.
CREATE OR REPLACE FUNCTION drover.sight_account() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.account FROM drover.account a
    WHERE a.disabled_at IS NULL AND a.account = CASE
        WHEN EXISTS (SELECT FROM drover.account_login l WHERE l.login = session_user)
            THEN (SELECT l.account FROM drover.account_login l WHERE l.login = session_user)
        WHEN pg_has_role(session_user, 'drover_page', 'MEMBER') THEN nullif(current_setting('drover.account', true), '')
        WHEN pg_has_role(session_user, 'drover_query', 'MEMBER') THEN (SELECT q.account FROM drover.question q WHERE q.pid = pg_backend_pid())
    END
$$;

-- MARK: what may be asked

-- The views of `analyst`, whose rows are held together before a question's own conditions are: OFFSET 0 lets none of these pass it. So what a
-- question does, and how long it takes, follows from rows that its account sees. Those of which everybody sees all or nothing
-- need no such fence, and have their indexes.
CREATE SCHEMA IF NOT EXISTS own;
COMMENT ON SCHEMA own IS 'The views of analyst for questions of people (drover query, /query): docs/analyst.md.';
GRANT USAGE ON SCHEMA own TO drover_query;
DO $$
DECLARE
    a_view text; fence text;
BEGIN
    FOR a_view IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'analyst'::regnamespace AND c.relkind = 'v' ORDER BY 1 LOOP
        fence := CASE
            WHEN a_view IN ('survey', 'sighting', 'species_week', 'tour_day', 'tour_waypoint') THEN ''
            -- By the index of vehicles, so that others' rows are not even looked at.
            WHEN a_view IN ('vehicle_minute', 'vehicle_day', 'trip') THEN
                'WHERE a.vehicle = ANY (ARRAY(SELECT v.vehicle FROM drover.vehicle v WHERE v.kind = ''car'')) OFFSET 0'
            WHEN a_view = 'machine_reading' THEN
                'WHERE a.vehicle = ANY (ARRAY(SELECT v.vehicle FROM drover.vehicle v WHERE v.kind = ''machine'')) OFFSET 0'
            ELSE 'OFFSET 0' END;
        EXECUTE format('CREATE OR REPLACE VIEW own.%I WITH (security_invoker) AS SELECT * FROM analyst.%1$I a %s', a_view, fence);
        EXECUTE format('GRANT SELECT ON own.%I TO drover_query', a_view);
    END LOOP;
END $$;

-- Functions that a question may call: those that look at their arguments alone. None that runs a statement (query_to_xml), changes a
-- setting or takes a lock, looks into PostgreSQL's own tables or figures, or at the clock while the question runs; none that makes a great value of little.
CREATE FUNCTION drover.may_be_asked(a_function oid) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce((SELECT p.pronamespace = 'pg_catalog'::regnamespace AND p.proname !~ '^(pg|lo|inet_server|inet_client)_|xml|xpath|handler$' AND (
            (p.provolatile = 'i' AND p.proname <> ALL (ARRAY['repeat', 'lpad', 'rpad', 'array_fill', 'satisfies_hash_partition', 'makeaclitem', 'acldefault']))
            OR EXISTS (SELECT FROM pg_operator o WHERE o.oprcode = p.oid)
            OR (EXISTS (SELECT FROM pg_cast c WHERE c.castfunc = p.oid) AND p.proname !~ '^reg')
            OR p.proname = ANY (ARRAY['age', 'array_to_json', 'array_to_string', 'concat', 'concat_ws', 'date_add', 'date_bin', 'date_part',
                'date_subtract', 'date_trunc', 'extract', 'format', 'generate_series', 'json_agg', 'json_build_array', 'json_build_object',
                'json_object_agg', 'json_populate_record', 'json_populate_recordset', 'json_to_record', 'json_to_recordset', 'jsonb_agg',
                'jsonb_build_array', 'jsonb_build_object', 'jsonb_object_agg', 'jsonb_path_exists_tz', 'jsonb_path_match_tz', 'jsonb_path_query_array_tz',
                'jsonb_path_query_first_tz', 'jsonb_path_query_tz', 'jsonb_populate_record', 'jsonb_populate_recordset', 'jsonb_to_record',
                'jsonb_to_recordset', 'make_timestamptz', 'now', 'overlaps', 'random', 'row_to_json', 'statement_timestamp', 'timezone', 'to_char',
                'to_date', 'to_json', 'to_jsonb', 'to_number', 'to_timestamp', 'transaction_timestamp']))
        FROM pg_proc p WHERE p.oid = a_function), false)
$$;

-- What of a statement, which somebody has made a view of, may not be asked: PostgreSQL's own parser has found each table and function.
-- Nothing has run yet.
CREATE FUNCTION drover.question_faults(a_view regclass) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE named AS (
        SELECT DISTINCT found[1] AS field, found[2]::oid AS id
        FROM pg_rewrite r, regexp_matches(r.ev_action::text,
            ':(relid|funcid|opfuncid|aggfnoid|winfnoid|opno|eqop|sortop|tsmhandler|(?:func|op)?resulttype|consttype|vartype|aggtype|wintype|typid) ([0-9]+)', 'g') AS found
        WHERE r.ev_class = a_view AND found[2] <> '0'),
    called AS (
        SELECT id FROM named WHERE field IN ('funcid', 'opfuncid', 'aggfnoid', 'winfnoid', 'tsmhandler')
        UNION SELECT o.oprcode FROM named n JOIN pg_operator o ON o.oid = n.id WHERE n.field IN ('opno', 'eqop', 'sortop')),
    -- Also those that columns of a function's rows are said to have, which no expression need name, and what rows, lists and domains are made of.
    typed AS (
        SELECT n.id FROM named n WHERE n.field ~ 'typ(e|id)$'
        UNION SELECT said::oid FROM pg_rewrite r, regexp_matches(r.ev_action::text, 'coltypes \(o ([0-9 ]+)\)', 'g') AS found,
            string_to_table(found[1], ' ') AS said WHERE r.ev_class = a_view
        UNION SELECT part.id FROM typed d JOIN pg_type t ON t.oid = d.id CROSS JOIN LATERAL (
            SELECT t.typelem AS id UNION ALL SELECT t.typbasetype
            UNION ALL SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped) AS part WHERE part.id <> 0)
    SELECT DISTINCT format('%I.%I is none of the views that may be asked', s.nspname, c.relname)
        FROM named n JOIN pg_class c ON c.oid = n.id JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE n.field = 'relid' AND c.oid <> a_view AND (s.nspname <> 'own' OR c.relkind <> 'v')
    UNION
    SELECT DISTINCT format('the function %s may not be asked', p.proname)
        FROM called JOIN pg_proc p ON p.oid = called.id WHERE NOT drover.may_be_asked(p.oid)
    UNION
    -- These turn numbers into names of PostgreSQL's own: of tables, of people's logins. XML has grammars of its own.
    SELECT DISTINCT format('the type %s may not be asked', format_type(t.oid, NULL))
        FROM typed d JOIN pg_type t ON t.oid = d.id WHERE t.typname ~ '^_?(reg|aclitem$|xml$)'
    UNION
    SELECT 'XML may not be asked' FROM pg_rewrite r WHERE r.ev_class = a_view AND r.ev_action::text ~ '\{XMLEXPR'
    ORDER BY 1
$$;

-- Counts what goes out; what is more than the statement may bring ends it before it leaves the server.
CREATE FUNCTION drover.admit_row(row_bytes int) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    total bigint := pg_catalog.current_setting('drover.question_bytes')::bigint - row_bytes;
BEGIN
    IF total < 0 THEN RAISE EXCEPTION 'the answer is too long' USING ERRCODE = 'program_limit_exceeded'; END IF;
    PERFORM pg_catalog.set_config('drover.question_bytes', total::text, true);
    RETURN true;
END $$;

-- The views that may be asked, with what their rows are and their columns.
CREATE FUNCTION drover.views_asked() RETURNS TABLE (view text, about text, columns text[])
LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
    SELECT c.relname::text, obj_description(c.oid, 'pg_class'), array_agg(a.attname::text ORDER BY a.attnum)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = 'analyst'::regnamespace AND c.relkind = 'v' GROUP BY c.oid, c.relname ORDER BY 1
$$;

-- MARK: rights

DO $$
DECLARE
    made regprocedure;
BEGIN
    FOR made IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'drover'::regnamespace AND p.proname IN (
        'has_neighbours', 'may_have_login', 'end_logins_of_neighbours', 'keep_neighbours_apart', 'begin_question', 'may_be_asked',
        'question_faults', 'admit_row', 'views_asked')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', made);
    END LOOP;
END $$;
GRANT EXECUTE ON FUNCTION drover.begin_question(text), drover.may_be_asked(oid), drover.question_faults(regclass), drover.admit_row(int) TO drover_query;
GRANT EXECUTE ON FUNCTION drover.views_asked() TO drover_page;
