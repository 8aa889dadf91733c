-- What an attack of a second afternoon opened: a drive that is only announced, parts of one fleet as neighbours, one account that keeps all from
-- their codes, mails and reports on demand.

-- MARK: reports on demand

-- As in 0043, twenty an hour of an account: fifty schedules were fifty reports a minute, which one relay makes for everybody.
CREATE OR REPLACE FUNCTION drover.ask_report_run(a_schedule bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (NOT drover.holds_schedule(a_schedule)) THEN RETURN false; END IF;
    IF (SELECT count(*) FROM drover.report_run r JOIN drover.report_schedule s USING (schedule_id)
            WHERE s.account = (SELECT o.account FROM drover.report_schedule o WHERE o.schedule_id = a_schedule)
                AND r.is_asked AND r.due_at > now() - interval '1 hour') >= 20 THEN RETURN false; END IF;
    INSERT INTO drover.report_run (schedule_id, due_at, is_asked)
        SELECT s.schedule_id, date_trunc('minute', now()), true FROM drover.report_schedule s
        WHERE s.schedule_id = a_schedule AND s.account IS NOT NULL
        ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;

-- MARK: first drivers

-- Since when it is in a fleet. A drive that the first writer only announced, as uploads of before this could, is not theirs beyond that.
ALTER TABLE drover.first_writer ADD COLUMN over_at timestamptz;
UPDATE drover.first_writer SET over_at = now() WHERE is_over;
CREATE OR REPLACE FUNCTION drover.end_first_writer() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.first_writer w SET is_over = true, over_at = now() WHERE w.kind = NEW.kind AND w.vehicle = NEW.vehicle AND NOT w.is_over;
    RETURN NULL;
END $$;

-- As in 0060, of drives that were over when the car came into a fleet.
CREATE OR REPLACE FUNCTION drover.is_believed(an_account text, a_vehicle text, a_begin timestamptz, an_end timestamptz) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.may_write(an_account, 'reading', 'car', a_vehicle, a_begin, an_end) = 'yes' OR (
        EXISTS (SELECT FROM drover.first_writer w WHERE w.kind = 'car' AND w.vehicle = a_vehicle AND w.account = an_account
            AND (w.over_at IS NULL OR an_end <= w.over_at))
        AND NOT EXISTS (SELECT FROM drover.car_owner o WHERE o.vehicle = a_vehicle AND o.account IS NOT NULL AND o.owned_at <= an_end))
$$;

-- MARK: mails that an account brings about

-- As in 0031: fifty questions, those that were taken back within a day included, and one mail a day about a machine. Who asked, ended it and asked
-- again sent the owners of any machine a mail each time.
CREATE OR REPLACE FUNCTION drover.ask_dealership(a_vehicle text, new_mail_id text, a_subject text, a_body bytea) RETURNS boolean
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

-- MARK: webhooks that say nothing

-- Whether whom it goes to answered at the latest try, with whatever: that of their account and channel. NULL: nobody was asked yet. Three messages of one
-- customer to a server that said nothing held up another's critical alert for half a minute.
ALTER TABLE drover.notice_message ADD COLUMN has_answered boolean;
CREATE INDEX notice_message_next ON drover.notice_message ((has_answered IS FALSE), try_at) WHERE state = 'waiting' AND channel <> 'mail';

-- MARK: codes by mail

-- Who asked for one, or tried one: `account miller`, or `address 192.0.2.1`. NULL: by the program before.
ALTER TABLE drover.code_request ADD COLUMN asker text;
CREATE INDEX code_request_by_asker ON drover.code_request (asker, asked_at) WHERE asker IS NOT NULL;

-- As it is counted: of IPv6 whoever has one address has 2^64 of them, a network.
CREATE FUNCTION drover.code_asker(an_asker text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- With a point in it an address of IPv4 stands behind it.
    IF an_asker NOT LIKE 'address %:%' OR an_asker LIKE '%.%' THEN RETURN an_asker; END IF;
    RETURN 'address ' || network(set_masklen(substr(an_asker, 9)::inet, 64));
EXCEPTION WHEN invalid_text_representation THEN RETURN an_asker;
END $$;

-- Counts the request; false: too many. What somebody asks for or tries counts for who asks: of all together there are so many an hour (0020) that one
-- account, in seconds, kept all campuses from theirs, and three requests of a stranger kept a person from codes for 15 minutes, ten for a day. Of one
-- account 20 an hour, of an address, which many phones may have, 300; of these for one person three in 15 minutes, and ten a day (an address:
-- 30); of tries five or six times as many. What all together may try of one person's is beyond what a few askers can, and bounds who guesses.
CREATE FUNCTION drover.admit_code_request(for_campus text, for_person text, try boolean, an_asker text) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    many int := CASE WHEN an_asker LIKE 'account %' THEN 1 ELSE 3 END;
    hour int; own_hour int; quarter int; own_quarter int; day int; own_day int;
BEGIN
    IF an_asker IS NULL THEN RETURN drover.admit_code_request(for_campus, for_person, try); END IF;
    an_asker := drover.code_asker(an_asker);
    PERFORM drover.take_turn('drover.code_request');
    DELETE FROM drover.code_request WHERE asked_at < now() - interval '1 day';
    SELECT count(*) FILTER (WHERE r.asked_at > now() - interval '15 minutes'), count(*),
            count(*) FILTER (WHERE r.asker = an_asker AND r.asked_at > now() - interval '15 minutes'), count(*) FILTER (WHERE r.asker = an_asker)
        INTO quarter, day, own_quarter, own_day
        FROM drover.code_request r WHERE r.campus = for_campus AND r.person = for_person AND r.is_try = try;
    SELECT count(*) INTO hour FROM drover.code_request r WHERE r.is_try = try AND r.asked_at > now() - interval '1 hour';
    SELECT count(*) INTO own_hour FROM drover.code_request r WHERE r.asker = an_asker AND r.is_try = try AND r.asked_at > now() - interval '1 hour';
    IF try AND (own_quarter >= 20 OR own_day >= 60 * many OR own_hour >= 100 * (CASE many WHEN 1 THEN 1 ELSE 15 END)
                OR quarter >= 100 OR day >= 1000 OR hour >= 5000)
        OR NOT try AND (own_quarter >= 3 OR own_day >= 10 * many OR own_hour >= 20 * (CASE many WHEN 1 THEN 1 ELSE 15 END) OR hour >= 1000) THEN
        RETURN false;
    END IF;
    INSERT INTO drover.code_request (campus, person, is_try, asker) VALUES (for_campus, for_person, try, an_asker);
    RETURN true;
END $$;

-- As in 0062, for who is named. A person gets six mails in 15 minutes, whoever asks; beyond that the code of the newest one stays good instead, so that
-- nobody is kept from theirs. Where that one is over or nearly so, another comes.
CREATE FUNCTION drover.ask_code(
    for_campus text, for_person text, code_digest bytea, new_mail_id text, mail_subject text, sealed_body bytea, an_asker text)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT drover.admit_code_request(for_campus, for_person, false, an_asker) THEN RETURN false; END IF;
    DELETE FROM drover.person_code WHERE expires_at < now();
    IF (SELECT count(*) FROM drover.code_request r WHERE r.campus = for_campus AND r.person = for_person AND NOT r.is_try
                AND r.asked_at > now() - interval '15 minutes') > 6
        AND EXISTS (SELECT FROM drover.person_code c WHERE c.campus = for_campus AND c.person = for_person AND c.tries < 50
                AND c.expires_at > now() + interval '5 minutes') THEN
        RETURN true;
    END IF;
    WITH known AS (
        SELECT p.mail FROM drover.person p
        WHERE p.campus = for_campus AND p.person = for_person AND p.left_at IS NULL AND p.disabled_at IS NULL
    ), kept AS (
        INSERT INTO drover.person_code (campus, person, digest, expires_at)
        SELECT for_campus, for_person, code_digest, now() + interval '15 minutes' FROM known
        ON CONFLICT (campus, person) DO UPDATE
            SET digest = EXCLUDED.digest, expires_at = EXCLUDED.expires_at, tries = 0
    )
    INSERT INTO drover.mail (mail_id, recipient, subject, body, is_sealed, expires_at, is_for_person)
    SELECT new_mail_id, known.mail, mail_subject, sealed_body, true, now() + interval '15 minutes', true FROM known;
    RETURN true;
END $$;

-- Uses a code up, as in 0035. Whoever asks has five tries of one code, and all together 50: a stranger's wrong ones leave the person theirs.
CREATE FUNCTION drover.use_code(for_campus text, for_person text, code_digest bytea, an_asker text) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept drover.person_code;
BEGIN
    an_asker := drover.code_asker(an_asker);
    IF NOT drover.admit_code_request(for_campus, for_person, true, an_asker) THEN RETURN 'too_many'; END IF;
    SELECT c.* INTO kept FROM drover.person_code c
        JOIN drover.person p USING (campus, person)
        WHERE c.campus = for_campus AND c.person = for_person AND c.expires_at > now()
            AND c.tries < CASE WHEN an_asker IS NULL THEN 5 ELSE 50 END AND p.left_at IS NULL AND p.disabled_at IS NULL
        FOR UPDATE OF c FOR SHARE OF p;
    IF NOT FOUND THEN RETURN 'wrong'; END IF;
    -- With this one.
    IF (SELECT count(*) FROM drover.code_request r WHERE r.campus = for_campus AND r.person = for_person AND r.is_try AND r.asker = an_asker
            AND r.asked_at >= kept.expires_at - interval '15 minutes') > 5 THEN RETURN 'wrong'; END IF;
    IF kept.digest <> code_digest THEN
        UPDATE drover.person_code SET tries = tries + 1 WHERE campus = for_campus AND person = for_person;
        RETURN 'wrong';
    END IF;
    DELETE FROM drover.person_code WHERE campus = for_campus AND person = for_person;
    RETURN 'taken';
END $$;

-- As in 0035, for who is named.
CREATE FUNCTION drover.take_code(
    for_campus text, for_person text, code_digest bytea, token_digest bytea, device_name text, an_asker text)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    outcome text := drover.use_code(for_campus, for_person, code_digest, an_asker);
BEGIN
    IF outcome <> 'taken' THEN RETURN outcome; END IF;
    INSERT INTO drover.person_token (digest, campus, person, device, expires_at)
        VALUES (token_digest, for_campus, for_person, device_name, now() + interval '180 days');
    -- Ten devices a person; what is over for a month is forgotten.
    UPDATE drover.person_token SET revoked_at = now() WHERE digest IN (
        SELECT t.digest FROM drover.person_token t
        WHERE t.campus = for_campus AND t.person = for_person AND t.revoked_at IS NULL AND t.expires_at > now()
        ORDER BY t.made_at DESC, t.digest OFFSET 10);
    DELETE FROM drover.person_token t WHERE t.campus = for_campus AND t.person = for_person
        AND least(t.revoked_at, t.expires_at) < now() - interval '30 days';
    RETURN 'taken';
END $$;

-- As in 0035; who binds is who asks.
CREATE OR REPLACE FUNCTION drover.bind_person(for_campus text, for_person text, code_digest bytea) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    binder text := drover.sight_account();
    outcome text;
BEGIN
    IF binder IS NULL THEN RETURN 'wrong'; END IF;
    outcome := drover.use_code(for_campus, for_person, code_digest, 'account ' || binder);
    IF outcome <> 'taken' THEN RETURN outcome; END IF;
    DELETE FROM drover.person_account a USING drover.person p, drover.person q
        WHERE a.account = binder AND p.campus = a.campus AND p.person = a.person
            AND q.campus = for_campus AND q.person = for_person AND p.role = q.role;
    INSERT INTO drover.person_account (campus, person, account) VALUES (for_campus, for_person, binder)
        ON CONFLICT (campus, person) DO UPDATE SET account = EXCLUDED.account, bound_at = now();
    RETURN 'taken';
END $$;

REVOKE EXECUTE ON FUNCTION drover.code_asker(text), drover.admit_code_request(text, text, boolean, text), drover.use_code(text, text, bytea, text),
    drover.ask_code(text, text, bytea, text, text, bytea, text), drover.take_code(text, text, bytea, bytea, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.ask_code(text, text, bytea, text, text, bytea, text), drover.take_code(text, text, bytea, bytea, text, text)
    TO drover_api;

-- MARK: steps of a question that nothing ends

-- As in 0066; nor what PostgreSQL computes in one step, without a look at the clock or a signal, for a time that grows with the square of one value:
-- NORMALIZE orders accents by exchange (80,000 of them: 111 s), paths of JSON compare what they find each with each, and text search has grammars of its own.
CREATE OR REPLACE FUNCTION drover.may_be_asked(a_function oid) RETURNS boolean
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
REVOKE EXECUTE ON FUNCTION drover.long_arguments(oid), drover.slow_sides(oid), drover.question_steps(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.long_arguments(oid), drover.slow_sides(oid), drover.question_steps(regclass) TO drover_query;

-- MARK: roles that are taken

-- As in 0062, and of a session the roles that its account had when it asked (with commas between them) are to be its still: a page's stream went on
-- for a quarter of an hour, and the answer of a question went out. Of a token the trigger below sees to that.
CREATE FUNCTION drover.streams_that_hold(the_keys bytea[], the_campuses text[], the_people text[], the_roles text[]) RETURNS SETOF int
LANGUAGE sql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT w.place::int FROM unnest(the_keys, the_campuses, the_people, the_roles) WITH ORDINALITY AS w(key, campus, person, roles, place)
    WHERE EXISTS (SELECT FROM drover.account_session s JOIN drover.account a USING (account)
            WHERE s.digest = w.key AND drover.is_session_open(s) AND a.disabled_at IS NULL AND string_to_array(w.roles, ',') <@ a.roles
                AND (w.campus = '' OR EXISTS (
                    SELECT FROM drover.person_account b JOIN drover.person p USING (campus, person)
                    WHERE b.campus = w.campus AND b.person = w.person AND b.account = a.account AND p.role = ANY (a.roles)
                        AND p.left_at IS NULL AND p.disabled_at IS NULL)))
        OR EXISTS (SELECT FROM drover.token t LEFT JOIN drover.account a USING (account)
            WHERE t.digest = w.key AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now()) AND a.disabled_at IS NULL)
        OR EXISTS (SELECT FROM drover.person_token t JOIN drover.person p USING (campus, person)
            WHERE t.digest = w.key AND t.revoked_at IS NULL AND t.expires_at > now() AND p.left_at IS NULL AND p.disabled_at IS NULL)
$$;
REVOKE EXECUTE ON FUNCTION drover.streams_that_hold(bytea[], text[], text[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.streams_that_hold(bytea[], text[], text[], text[]) TO drover_api, drover_query;

-- As in 0068; nor a token of the operator's for what the role that was taken let the account do: exports and questions, which ask for no role at each
-- request. What an operator gave to an account that never had such a role stays.
CREATE OR REPLACE FUNCTION drover.revoke_beyond_roles() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept text[] := drover.own_scopes(NEW.roles);
    taken text[] := ARRAY(SELECT had.scope FROM unnest(drover.own_scopes(OLD.roles)) AS had(scope)
        WHERE had.scope <> ALL (kept) AND had.scope IN ('export', 'query'));
BEGIN
    UPDATE drover.token t SET revoked_at = now()
        WHERE t.account = NEW.account AND t.revoked_at IS NULL AND (t.is_own AND NOT t.scopes <@ kept OR t.scopes && taken);
    RETURN NULL;
END $$;

-- MARK: parts of a fleet

-- Whether an account may have a login of the database: who sees all rows anyway, and everybody where nobody has neighbours. Two parts of one
-- fleet may be two customers as well: then it is for who is in the whole of it.
CREATE OR REPLACE FUNCTION drover.may_have_login(an_account text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce((SELECT a.disabled_at IS NULL AND (a.roles && ARRAY['administrator', 'operator'] OR NOT drover.has_neighbours() AND (
            (SELECT count(*) FROM (SELECT FROM drover.fleet f WHERE f.part_of IS NOT NULL LIMIT 2) AS two) < 2
            OR EXISTS (SELECT FROM drover.fleet_member m JOIN drover.fleet f ON f.fleet = m.fleet
                WHERE m.account = a.account AND f.part_of IS NULL)))
        FROM drover.account a WHERE a.account = an_account), false)
$$;

-- Who leaves the whole is beside its parts.
CREATE TRIGGER member_neighbours AFTER DELETE OR UPDATE ON drover.fleet_member
    FOR EACH STATEMENT EXECUTE FUNCTION drover.keep_neighbours_apart();
SELECT drover.end_logins_of_neighbours();

-- MARK: what is kept of a person

-- As in 0070: who asked for a code is left out, an address may be of others.
CREATE OR REPLACE FUNCTION drover.person_data() RETURNS TABLE (relation text, condition text, left_out text[], why_not text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $list$
    SELECT named.relation, CASE
            WHEN named.rows = 'account' THEN 'r.account = $1'
            WHEN named.rows = 'bound'
                THEN 'EXISTS (SELECT FROM drover.person_account b WHERE b.account = $1 AND b.campus = r.campus AND b.person = r.person)'
            WHEN named.rows = 'survey' THEN 'EXISTS (SELECT FROM drover.survey v WHERE v.account = $1 AND v.site = r.site AND v.survey = r.survey)'
            WHEN named.rows = 'tour' THEN 'EXISTS (SELECT FROM drover.tour t WHERE t.account = $1 AND t.tour = r.tour)'
            -- By the vehicles first, which there is an index for.
            WHEN named.rows LIKE 'driven %' THEN format('r.vehicle IN (SELECT d.vehicle FROM drover.driving d WHERE d.account = $1) AND EXISTS ('
                'SELECT FROM drover.driving d WHERE d.account = $1 AND d.vehicle = r.vehicle AND %s)', substr(named.rows, 8))
            ELSE named.rows END, string_to_array(named.left_out, ' '), NULL
        FROM (VALUES
        ('account', 'account', 'password salt'), ('account_device', 'account', 'digest'), ('account_identity', 'account', ''),
        ('account_link', 'account', 'digest'), ('account_login', 'account', ''), ('account_recovery_code', 'account', 'digest'),
        ('account_second_factor', 'account', 'secret next_secret'), ('account_session', 'account', 'digest'),
        ('account_settings', 'account', ''),
        ('account_try', 'r.mail = (SELECT lower(a.mail) FROM drover.account a WHERE a.account = $1)', 'device'),
        ('acknowledgement', 'r.acknowledged_by = $1', ''), ('alert', 'account', ''), ('alert_event', 'account', 'record'),
        ('audit_name', 'account', 'digest salt'), ('audit_tally', '$1 IN (r.actor, r.subject)', 'key'),
        ('audit_entry', 'EXISTS (SELECT FROM drover.audit_name n WHERE n.account = $1 AND n.digest IN (r.actor, r.subject))', 'hash'),
        ('assignment', 'r.account = $1 OR r.assigned_by = $1', ''), ('car_owner', 'account', ''), ('code_request', 'bound', 'asker'),
        ('dealership', '$1 IN (r.dealer, r.confirmed_by, r.ended_by)', ''), ('driving', 'account', ''), ('first_writer', 'account', ''),
        ('fleet_member', 'account', ''), ('forward', 'account', ''), ('health_scan', '$1 IN (r.asked_by, r.scanned_by)', ''),
        ('mail', 'lower(r.recipient) = (SELECT lower(a.mail) FROM drover.account a WHERE a.account = $1)', 'body html leave_url'),
        ('notice', 'account', ''), ('notice_message', 'account', 'payload link'), ('notice_setting', 'account', 'webhook_key'),
        ('notice_step', '$1 IN (r.account, r.colleague)', ''),
        ('notice_told', 'EXISTS (SELECT FROM drover.notice_message m WHERE m.message_id = r.message_id AND m.account = $1)', ''),
        ('person', 'bound', ''), ('person_account', 'account', ''), ('person_code', 'bound', 'digest'), ('person_photo', 'bound', 'content'),
        ('person_token', 'bound', 'digest'), ('poll_request', 'r.asked_by = $1', ''), ('push_subscription', 'account', 'p256dh auth'), ('question', 'account', ''),
        ('registration', 'account', ''), ('report_schedule', 'r.account = $1 OR $1 = ANY (r.mail_to)', ''),
        ('report_run', 'EXISTS (SELECT FROM drover.report_schedule s WHERE s.schedule_id = r.schedule_id AND s.account = $1)', 'content digest'),
        ('ride', 'EXISTS (SELECT FROM drover.person_account b WHERE b.account = $1 AND b.campus = r.campus AND b.person = r.rider)', ''),
        ('ride_vehicle', 'EXISTS (SELECT FROM drover.person_account b WHERE b.account = $1 AND b.campus = r.campus AND b.person = r.driver)', ''),
        ('rider', 'EXISTS (SELECT FROM drover.person_account b WHERE b.account = $1 AND b.campus = r.campus AND b.person = r.rider)', ''),
        ('rule_edit', 'account', ''), ('service', 'r.recorded_by = $1', ''), ('sighting', 'survey', ''),
        ('silence', 'r.silenced_by = $1', ''), ('survey', 'account', ''), ('survey_photo', 'account', 'content'),
        ('survey_receipt', 'account', 'digest'),
        ('survey_session', 'EXISTS (SELECT FROM drover.token t WHERE t.digest = r.token AND t.account = $1)', 'session token'),
        ('survey_version', 'r.said_by = $1 OR EXISTS (SELECT FROM drover.survey v WHERE v.account = $1 AND v.site = r.site AND v.survey = r.survey)', ''),
        ('survey_waiting', 'r.account = $1 OR r.said_by = $1', ''), ('survey_weather', 'survey', ''), ('surveyor', 'survey', ''),
        ('token', 'account', 'digest'), ('tour', 'account', ''), ('tour_medium', 'tour', 'content'),
        ('tour_version', 'r.published_by = $1 OR EXISTS (SELECT FROM drover.tour t WHERE t.account = $1 AND t.tour = r.tour)', ''),
        ('trip', 'driven d.from_at <= r.end_at AND d.until_at >= r.start_at', ''),
        ('trip_mark', 'r.marked_by = $1', ''), ('trip_note', 'r.noted_by = $1', ''),
        ('trip_start', 'driven r.start_at BETWEEN d.from_at AND d.until_at', ''),
        ('trip_summary', 'account', ''), ('vehicle_change', 'account', ''),
        ('vehicle_minute', 'driven d.from_at < r.minute_at + interval ''1 minute'' AND d.until_at >= r.minute_at', '')
        ) AS named (relation, rows, left_out)
    UNION ALL
    SELECT none.relation, NULL, NULL, named.why_not FROM (VALUES
        ('account_secret audit_head migration outside_call outside_service partition_progress period period_width relay_turn retained turn', 'of the installation'),
        ('campus fleet fleet_vehicle quarantine rejected vehicle', 'names no account'),
        ('car_support car_watch debug_log live_trip machine_reading machine_rejudging machine_spreading vehicle_day watched', 'of vehicles, whoever drives'),
        ('dispatch_decision', 'why a vehicle drives where: the rides are in `ride`'),
        ('forward_pause notice_event rule_set trip_rules', 'of all'),
        ('geocode travel_leg travel_line trip_weather weather_hour', 'answers about places, whoever asked'),
        ('mail_file', 'reports that wait with their mail: they are in `report_run`'),
        ('outbox', 'on its way to topics: the same as in other tables'),
        ('sighting_week species_season taxon taxon_name', 'sums, and names of species'),
        ('tour_day tour_event', 'visits of phones that nobody names'), ('tour_package tour_package_part', 'made of `tour_version`')
        ) AS named (relations, why_not), unnest(string_to_array(named.relations, ' ')) AS none (relation)
$list$;
