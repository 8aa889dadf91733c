-- Questions of people's own, one SELECT at a time, and no psql between neighbours.
--
-- Row-level security hides rows, not what it costs to hide them: EXPLAIN (ANALYZE) of a person's login says "never executed" of a rule
-- unless a hidden row matched the question, and so tells where others' machines are. So where there are neighbours no person has a login of
-- the database; `drover serve` asks for them, through views whose rows are held together before any condition of theirs is looked at
-- (docs/decisions/0027-questions.md).

-- For whom a connection asks. A row is there as long as the transaction that wrote it, for nobody else to see: it is rolled back.
CREATE UNLOGGED TABLE drover.question (
    pid integer NOT NULL,
    account text NOT NULL,
    CONSTRAINT question_pkey PRIMARY KEY (pid)
);

-- Whether more than one customer is here: two fleets of which neither is part of the other, or two campuses.
CREATE FUNCTION drover.has_neighbours() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT (SELECT count(*) FROM (SELECT FROM drover.fleet f WHERE f.part_of IS NULL LIMIT 2) AS two) > 1
        OR (SELECT count(*) FROM (SELECT FROM drover.campus LIMIT 2) AS two) > 1
$$;
REVOKE EXECUTE ON FUNCTION drover.has_neighbours() FROM PUBLIC;

-- Whether an account may have a login of the database: who sees all rows anyway, and everybody where nobody has neighbours. Two parts of one
-- fleet may be two customers as well: then it is for who is in the whole of it.
CREATE FUNCTION drover.may_have_login(an_account text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce((SELECT a.disabled_at IS NULL AND (a.roles && ARRAY['administrator', 'operator'] OR NOT drover.has_neighbours() AND (
            (SELECT count(*) FROM (SELECT FROM drover.fleet f WHERE f.part_of IS NOT NULL LIMIT 2) AS two) < 2
            OR EXISTS (SELECT FROM drover.fleet_member m JOIN drover.fleet f ON f.fleet = m.fleet
                WHERE m.account = a.account AND f.part_of IS NULL)))
        FROM drover.account a WHERE a.account = an_account), false)
$$;
REVOKE EXECUTE ON FUNCTION drover.may_have_login(an_account text) FROM PUBLIC;

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
REVOKE EXECUTE ON FUNCTION drover.keep_neighbours_apart() FROM PUBLIC;

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
REVOKE EXECUTE ON FUNCTION drover.end_logins_of_neighbours() FROM PUBLIC;

-- Whose logins of the database there are, for administrators: they are told whose a fleet or a role ends.
CREATE FUNCTION drover.logins_administered() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
    SELECT l.account FROM drover.account_login l WHERE 'administrator' = ANY (drover.sight_roles()) ORDER BY 1
$$;
REVOKE EXECUTE ON FUNCTION drover.logins_administered() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.logins_administered() TO drover_page;

-- Ends an account's login of the database. False: it has none. A role that cannot be changed sees nothing all the same: it is
-- nobody's from here on.
CREATE FUNCTION drover.end_database_login(an_account text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ended name;
    is_there boolean := false;
BEGIN
    FOR ended IN DELETE FROM drover.account_login l WHERE l.account = an_account RETURNING l.login LOOP
        is_there := true;
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = ended);
        BEGIN
            EXECUTE format('ALTER ROLE %I NOLOGIN PASSWORD NULL', ended);
            IF pg_has_role(ended, 'drover_sight', 'MEMBER') THEN EXECUTE format('REVOKE drover_sight FROM %I', ended); END IF;
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE WARNING 'the login % could not be ended: %', ended, SQLERRM;
        END;
        PERFORM drover.end_connections(ended);
    END LOOP;
    RETURN is_there;
END $$;
REVOKE EXECUTE ON FUNCTION drover.end_database_login(an_account text) FROM PUBLIC;

-- How many were ended.
CREATE FUNCTION drover.end_long_logins(of_idling interval, of_statement interval, of_transaction interval) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ended int;
BEGIN
    SELECT count(*) FILTER (WHERE pg_terminate_backend(a.pid)) INTO ended
        FROM pg_stat_activity a JOIN drover.account_login l ON l.login = a.usename
        WHERE a.datname = current_database() AND pg_has_role(a.usesysid, 'USAGE') AND (
            (a.state LIKE 'idle in transaction%' AND a.state_change < clock_timestamp() - of_idling)
            OR (a.state NOT LIKE 'idle%' AND a.query_start < clock_timestamp() - of_statement)
            OR a.xact_start < clock_timestamp() - of_transaction);
    RETURN ended;
END $$;
REVOKE EXECUTE ON FUNCTION drover.end_long_logins(of_idling interval, of_statement interval, of_transaction interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.end_long_logins(of_idling interval, of_statement interval, of_transaction interval) TO drover_relay;

-- Ends the connections of a login. Its owner may do that as a member of it only; a superuser anyhow.
CREATE FUNCTION drover.end_connections(a_login name) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    is_member boolean := pg_has_role(current_user, a_login, 'USAGE');
BEGIN
    IF NOT EXISTS (SELECT FROM pg_stat_activity s WHERE s.usename = a_login) THEN RETURN; END IF;
    IF NOT is_member THEN EXECUTE format('GRANT %I TO %I', a_login, current_user); END IF;
    PERFORM pg_terminate_backend(s.pid) FROM pg_stat_activity s WHERE s.usename = a_login;
    IF NOT is_member THEN EXECUTE format('REVOKE %I FROM %I', a_login, current_user); END IF;
-- Another did the same at this moment: "tuple concurrently updated".
EXCEPTION WHEN insufficient_privilege OR internal_error THEN
    RAISE WARNING 'connections of % could not be ended: %', a_login, SQLERRM;
END $$;
REVOKE EXECUTE ON FUNCTION drover.end_connections(a_login name) FROM PUBLIC;

-- Who came in while a login was being ended. Pages ask for it with each heartbeat of their streams.
CREATE FUNCTION drover.end_lost_connections() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM drover.end_connections(lost.usename) FROM (
        SELECT DISTINCT s.usename FROM pg_stat_activity s JOIN pg_roles r ON r.rolname = s.usename
        WHERE r.rolname LIKE 'drover\_account\_%' AND NOT r.rolcanlogin
            AND NOT EXISTS (SELECT FROM drover.account_login l WHERE l.login = r.rolname)) AS lost;
END $$;
REVOKE EXECUTE ON FUNCTION drover.end_lost_connections() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.end_lost_connections() TO drover_api;

-- From here to the end of the transaction its login sees what the account sees. Once: no statement after it can say otherwise.
CREATE FUNCTION drover.begin_question(an_account text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- By another role it would have rights, or rows, of its own.
    IF EXISTS (SELECT FROM pg_roles r WHERE r.rolname NOT IN (session_user, 'drover_query', 'drover_sight') AND pg_has_role(session_user, r.oid, 'MEMBER')) THEN
        RAISE EXCEPTION 'the login % is to be in drover_query and in nothing else', session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO drover.question (pid, account) VALUES (pg_backend_pid(), an_account);
    PERFORM set_config('application_name', drover.question_name(an_account), true);
END $$;
REVOKE EXECUTE ON FUNCTION drover.begin_question(an_account text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.begin_question(an_account text) TO drover_query;

-- Functions that a question may call: those that look at their arguments alone. None that runs a statement (query_to_xml), changes a
-- setting or takes a lock, looks into PostgreSQL's own tables or figures, or at the clock while the question runs; none that makes a great value
-- of little; nor what PostgreSQL computes in one step, without a look at the clock or a signal, for a time that grows with the square of one
-- value: NORMALIZE orders accents by exchange (80,000 of them: 111 s), paths of JSON compare what they find each with each, and text search has
-- grammars of its own.
CREATE FUNCTION drover.may_be_asked(a_function oid) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce((SELECT p.pronamespace = 'pg_catalog'::regnamespace AND p.proname !~ '^(pg|lo|inet_server|inet_client|ts)_|xml|xpath|handler$'
            AND p.proname <> ALL (ARRAY['normalize', 'is_normalized'])
            AND NOT (p.proargtypes::oid[] || p.prorettype) && ARRAY['jsonpath', 'tsvector', 'tsquery', 'gtsvector']::regtype[]::oid[] AND (
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
REVOKE EXECUTE ON FUNCTION drover.may_be_asked(a_function oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.may_be_asked(a_function oid) TO drover_query;

-- Of an account as it is at this moment: whether it may ask still, and of which customers it is (fleets and campuses; '': of none). Whoever
-- runs the installation is of no customer, not even of ''. No row: there is no such account.
CREATE FUNCTION drover.question_asker(an_account text) RETURNS TABLE (is_disabled boolean, customers text[])
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.disabled_at IS NOT NULL, CASE WHEN a.roles && ARRAY['administrator', 'operator'] THEN '{}'
        ELSE coalesce(nullif(ARRAY(
            SELECT 'fleet ' || coalesce(f.part_of, f.fleet) FROM drover.fleet_member m JOIN drover.fleet f ON f.fleet = m.fleet WHERE m.account = a.account
            UNION SELECT 'campus ' || p.campus FROM drover.person_account p WHERE p.account = a.account), '{}'), ARRAY['']) END
    FROM drover.account a WHERE a.account = an_account
$$;
REVOKE EXECUTE ON FUNCTION drover.question_asker(an_account text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.question_asker(an_account text) TO drover_query;

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
REVOKE EXECUTE ON FUNCTION drover.question_faults(a_view regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.question_faults(a_view regclass) TO drover_query;

-- What a question's connection is called says for whom it asks, for nobody sees its row: whoever ends the account ends the question, too.
-- By a digest, for everybody on the server sees what connections are called.
CREATE FUNCTION drover.question_name(an_account text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'drover question ' || left(encode(sha256(convert_to(an_account, 'UTF8')), 'hex'), 32)
$$;
REVOKE EXECUTE ON FUNCTION drover.question_name(an_account text) FROM PUBLIC;

-- What a statement calls, as the fields of its parse tree name it: whether it looks at what may be long, or at a number of 100,000 digits, and which
-- arguments of it meet.
CREATE FUNCTION drover.question_steps(a_view regclass) RETURNS TABLE (field text, id oid, name text, is_of_long boolean, sides text[])
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH named AS (
        SELECT DISTINCT found[1] AS field, found[2]::oid AS id
        FROM pg_rewrite r, regexp_matches(r.ev_action::text, ':(funcid|aggfnoid|winfnoid|opno) ([0-9]+)', 'g') AS found WHERE r.ev_class = a_view)
    SELECT n.field, n.id, p.proname::text, drover.long_arguments(p.oid) <> '{}' OR 'numeric'::regtype = ANY (p.proargtypes::oid[]),
            drover.slow_sides(p.oid)::text[] FROM named n JOIN pg_proc p ON p.oid = n.id WHERE n.field <> 'opno'
    UNION ALL
    SELECT n.field, n.id, CASE o.oprname WHEN '~~' THEN 'LIKE' WHEN '!~~' THEN 'NOT LIKE' WHEN '~~*' THEN 'ILIKE' WHEN '!~~*' THEN 'NOT ILIKE'
        ELSE o.oprname END, drover.long_arguments(o.oprcode) <> '{}' OR 'numeric'::regtype IN (o.oprleft, o.oprright),
            drover.slow_sides(o.oprcode)::text[] FROM named n JOIN pg_operator o ON o.oid = n.id WHERE n.field = 'opno'
$$;
REVOKE EXECUTE ON FUNCTION drover.question_steps(a_view regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.question_steps(a_view regclass) TO drover_query;

-- Ends the questions of an account that are under way. The owner may do that as a member of the login that asks only; a superuser anyhow.
-- What cannot be ended is not answered all the same: who asks is looked at once more before.
CREATE FUNCTION drover.end_questions(an_account text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one record;
    is_member boolean;
BEGIN
    FOR one IN SELECT s.pid, s.usename FROM pg_stat_activity s WHERE s.datname = current_database()
        AND s.application_name = drover.question_name(an_account) AND pg_has_role(s.usesysid, 'drover_query', 'MEMBER')
    LOOP
        is_member := pg_has_role(current_user, one.usename, 'USAGE');
        IF NOT is_member THEN EXECUTE format('GRANT %I TO %I', one.usename, current_user); END IF;
        PERFORM pg_terminate_backend(one.pid);
        IF NOT is_member THEN EXECUTE format('REVOKE %I FROM %I', one.usename, current_user); END IF;
    END LOOP;
-- Another did the same at this moment: "tuple concurrently updated".
EXCEPTION WHEN insufficient_privilege OR internal_error THEN
    RAISE WARNING 'questions of % could not be ended: %', an_account, SQLERRM;
END $$;
REVOKE EXECUTE ON FUNCTION drover.end_questions(an_account text) FROM PUBLIC;

-- Which arguments of a function meet each with each, so that it takes the product of their lengths in one step: 75,000 numbers `<@` as many took 43 s.
-- Whatever has two arguments that may be long, but for those named here, which go through each once (equality, order, putting together, taking one thing
-- out), and regular expressions, which do look at the clock. None: it is fast. docs/decisions/0027-questions.md.
CREATE FUNCTION drover.slow_sides(a_function oid) RETURNS int[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN cardinality(sides.long) < 2
            OR p.prosrc = ANY (ARRAY[
                -- Arrays: put together, or looked through for one element.
                'array_append', 'array_cat', 'array_larger', 'array_position', 'array_position_start', 'array_positions', 'array_prepend',
                'array_remove', 'array_replace', 'array_smaller', 'array_to_text', 'array_to_text_null', 'width_bucket_array',
                -- Texts and bytes: put together, or compared from the start on.
                'bit_and', 'bitcat', 'bit_or', 'bitxor', 'bitoverlay', 'bitoverlay_no_len', 'bpchar_larger', 'bpchar_smaller', 'byteacat',
                'byteaoverlay', 'byteaoverlay_no_len', 'text_concat_ws', 'text_format', 'text_larger', 'text_smaller', 'text_starts_with',
                'textcat', 'textoverlay', 'textoverlay_no_len', 'timestamptz_trunc_zone',
                -- A pattern becomes another.
                'like_escape', 'like_escape_bytea', 'similar_escape', 'similar_to_escape_2',
                -- JSON: put together, or one key or path looked for.
                'json_extract_path', 'json_extract_path_text', 'json_object_field', 'json_object_field_text', 'json_object_two_arg',
                'json_populate_record', 'json_populate_recordset', 'jsonb_concat', 'jsonb_delete', 'jsonb_delete_path', 'jsonb_exists',
                'jsonb_extract_path', 'jsonb_extract_path_text', 'jsonb_insert', 'jsonb_object_field', 'jsonb_object_field_text',
                'jsonb_object_two_arg', 'jsonb_populate_record', 'jsonb_populate_recordset', 'jsonb_set', 'jsonb_set_lax',
                -- Paths and polygons: put together, or their corners counted, or the boxes around them compared.
                'path_add', 'path_n_eq', 'path_n_ge', 'path_n_gt', 'path_n_le', 'path_n_lt', 'poly_above', 'poly_below', 'poly_left',
                'poly_overabove', 'poly_overbelow', 'poly_overleft', 'poly_overright', 'poly_right',
                'window_lag_with_offset_and_default', 'window_lead_with_offset_and_default'])
            OR p.proname = ANY (ARRAY['anytextcat', 'textanycat', 'json_object_agg', 'jsonb_object_agg', 'percentile_disc', 'string_agg'])
            OR p.proname ~ '^regexp_|regexeq$|regexne$' OR p.proname = 'substring'
            OR EXISTS (SELECT FROM pg_operator o LEFT JOIN pg_operator negated ON negated.oid = o.oprnegate
                JOIN pg_amop m ON m.amopopr IN (o.oid, negated.oid) AND m.amopmethod = (SELECT a.oid FROM pg_am a WHERE a.amname = 'btree')
                WHERE o.oprcode = p.oid)
        THEN '{}'
        -- The third is what is put in, or a text that stands for NULL.
        WHEN p.prosrc ~ '^(replace_text|text_to_(array|table)(_null)?)$' THEN '{1,2}'
        ELSE sides.long END
    FROM pg_proc p CROSS JOIN LATERAL (SELECT drover.long_arguments(p.oid) AS long) AS sides
    WHERE p.oid = a_function
$$;
REVOKE EXECUTE ON FUNCTION drover.slow_sides(a_function oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.slow_sides(a_function oid) TO drover_query;

-- Which arguments of a function may be long. Numbers, ranges and networks never are.
CREATE FUNCTION drover.long_arguments(a_function oid) RETURNS int[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT ARRAY(SELECT argument.place::int
        FROM pg_proc p, unnest(p.proargtypes) WITH ORDINALITY AS argument(type, place) JOIN pg_type t ON t.oid = argument.type
        WHERE p.oid = a_function AND (t.typlen = -1 AND t.typtype IN ('b', 'c') AND t.typname <> ALL (ARRAY['numeric', 'inet', 'cidr'])
            OR t.typname = ANY (ARRAY['any', 'anyarray', 'anycompatible', 'anycompatiblearray', 'anycompatiblenonarray', 'anyelement',
                'anynonarray', 'record']))
        ORDER BY argument.place)
$$;
REVOKE EXECUTE ON FUNCTION drover.long_arguments(a_function oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.long_arguments(a_function oid) TO drover_query;

-- The views that may be asked, with what their rows are and their columns.
CREATE FUNCTION drover.views_asked() RETURNS TABLE (view text, about text, columns text[])
LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
    SELECT c.relname::text, obj_description(c.oid, 'pg_class'), array_agg(a.attname::text ORDER BY a.attnum)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = 'analyst'::regnamespace AND c.relkind = 'v' GROUP BY c.oid, c.relname ORDER BY 1
$$;
REVOKE EXECUTE ON FUNCTION drover.views_asked() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.views_asked() TO drover_page;

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
REVOKE EXECUTE ON FUNCTION drover.admit_row(row_bytes integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.admit_row(row_bytes integer) TO drover_query;

CREATE TRIGGER account_neighbours AFTER UPDATE OF roles ON drover.account FOR EACH ROW WHEN ((old.roles IS DISTINCT FROM new.roles)) EXECUTE FUNCTION drover.keep_neighbours_apart();
CREATE TRIGGER campus_neighbours AFTER INSERT ON drover.campus FOR EACH ROW EXECUTE FUNCTION drover.keep_neighbours_apart();
CREATE TRIGGER member_neighbours AFTER DELETE OR UPDATE ON drover.fleet_member FOR EACH STATEMENT EXECUTE FUNCTION drover.keep_neighbours_apart();
CREATE TRIGGER fleet_neighbours AFTER INSERT OR UPDATE OF part_of ON drover.fleet FOR EACH STATEMENT EXECUTE FUNCTION drover.keep_neighbours_apart();
