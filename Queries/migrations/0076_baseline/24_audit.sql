-- One log of who did what, to which the application can only append (docs/audit.md). What happened stands in each entry and is chained by
-- hash; who it was stands beside it, so that erasing somebody breaks no chain.

-- Whom an entry means: it holds the digest alone. The salt makes a digest that has lost its row tell nothing, even to who guesses names.
CREATE TABLE drover.audit_name (
    digest bytea NOT NULL,
    account text NOT NULL,  -- with whom it is erased; '': with nobody
    said text NOT NULL,  -- the account, or an address that it came from
    salt bytea NOT NULL,
    CONSTRAINT audit_name_pkey PRIMARY KEY (digest),
    CONSTRAINT audit_name_account_check CHECK ((octet_length(account) <= 256)),
    CONSTRAINT audit_name_account_said_key UNIQUE (account, said),
    CONSTRAINT audit_name_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT audit_name_said_check CHECK ((octet_length(said) <= 256)),
    CONSTRAINT audit_name_salt_check CHECK ((octet_length(salt) = 32))
);

CREATE TABLE drover.audit_entry (
    sequence bigint NOT NULL,
    at timestamptz NOT NULL,
    action text NOT NULL,
    actor bytea,  -- who did it; NULL: not known, or somebody with a login of the database
    subject bytea,  -- to whom, or whose it is
    remote bytea,  -- from where
    detail text NOT NULL,  -- JSON, as the hash has it; names nobody
    hash bytea NOT NULL,
    CONSTRAINT audit_entry_pkey PRIMARY KEY (sequence),
    CONSTRAINT audit_entry_action_check CHECK ((action ~ '^[a-z_]{1,40}$'::text)),
    CONSTRAINT audit_entry_detail_check CHECK (((octet_length(detail) <= 4000) AND (detail !~ '[\n\r]'::text))),
    CONSTRAINT audit_entry_hash_check CHECK ((octet_length(hash) = 32))
);
CREATE INDEX audit_entry_by_time ON drover.audit_entry (at);

-- Who appends holds this row until the end of the transaction, and takes no other lock after it.
CREATE TABLE drover.audit_head (
    is_only boolean DEFAULT true NOT NULL,
    sequence bigint NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT audit_head_pkey PRIMARY KEY (is_only),
    CONSTRAINT audit_head_is_only_check CHECK (is_only)
);
INSERT INTO drover.audit_head (sequence, hash) VALUES (0, decode(repeat('00', 32), 'hex'));

-- What happens often is an entry at its first time in a minute or an hour, and one with how often when that is over.
CREATE TABLE drover.audit_tally (
    action text NOT NULL,
    bucket_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    key bytea NOT NULL,
    is_known boolean NOT NULL,
    actor text,
    subject text,
    remote text,
    detail text NOT NULL,
    times bigint DEFAULT 1 NOT NULL,
    CONSTRAINT audit_tally_pkey PRIMARY KEY (action, bucket_at, key)
);
CREATE INDEX audit_tally_by_end ON drover.audit_tally (ends_at);

CREATE FUNCTION drover.audit_append(an_action text, an_actor text, a_subject text, a_remote text, a_detail text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    head drover.audit_head; made drover.audit_entry;
BEGIN
    SELECT h.* INTO STRICT head FROM drover.audit_head h FOR UPDATE;
    made.sequence := head.sequence + 1;
    made.at := clock_timestamp();
    made.action := an_action;
    made.actor := drover.audit_digest(an_actor, an_actor);
    made.subject := drover.audit_digest(a_subject, a_subject);
    -- An address goes with whom it tells of.
    made.remote := drover.audit_digest(coalesce(an_actor, a_subject, ''), a_remote);
    made.detail := a_detail;
    made.hash := sha256(head.hash || drover.audit_bytes(made));
    INSERT INTO drover.audit_entry SELECT made.*;
    UPDATE drover.audit_head h SET sequence = made.sequence, hash = made.hash;
END $$;
REVOKE EXECUTE ON FUNCTION drover.audit_append(an_action text, an_actor text, a_subject text, a_remote text, a_detail text) FROM PUBLIC;

-- What an entry's hash is over, behind the hash before. Sources/Stream/Storage/Audit/AuditEntry.swift has the same.
CREATE FUNCTION drover.audit_bytes(e drover.audit_entry) RETURNS bytea
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT convert_to(concat_ws(E'\n', e.sequence, (extract(epoch FROM e.at) * 1000000)::bigint, e.action,
        coalesce(encode(e.actor, 'hex'), ''), coalesce(encode(e.subject, 'hex'), ''), coalesce(encode(e.remote, 'hex'), ''), e.detail), 'UTF8')
$$;
REVOKE EXECUTE ON FUNCTION drover.audit_bytes(e drover.audit_entry) FROM PUBLIC;

-- Counts of minutes and hours that are over. Rows that somebody holds wait for the next call.
CREATE FUNCTION drover.audit_close() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    over drover.audit_tally;
BEGIN
    FOR over IN DELETE FROM drover.audit_tally t WHERE (t.action, t.bucket_at, t.key) IN (
            SELECT o.action, o.bucket_at, o.key FROM drover.audit_tally o WHERE o.ends_at <= now() ORDER BY o.ends_at LIMIT 20 FOR UPDATE SKIP LOCKED)
        RETURNING t.*
    LOOP
        CONTINUE WHEN over.times = 1;
        PERFORM drover.audit_append(over.action, over.actor, over.subject, over.remote, (over.detail::jsonb
            || jsonb_build_object('times', over.times, 'since', to_char(over.bucket_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')))::text);
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION drover.audit_close() FROM PUBLIC;

-- An attacker has a great many addresses, and a program of ours a great many vehicles: what is beyond `most` in a minute or an hour is one row.
CREATE FUNCTION drover.audit_count(
    an_action text, a_width interval, most int, an_actor text, a_subject text, a_remote text, a_detail text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bucket timestamptz := date_bin(a_width, now(), 'epoch');
    wanted bytea := sha256(convert_to(concat_ws(E'\n', coalesce(an_actor, ''), coalesce(a_subject, ''), coalesce(a_remote, ''), a_detail), 'UTF8'));
    counted bigint;
BEGIN
    UPDATE drover.audit_tally t SET times = t.times + 1 WHERE t.action = an_action AND t.bucket_at = bucket AND t.key = wanted;
    IF FOUND THEN RETURN; END IF;
    -- Of accounts that exist apart from the others: rubbish does not hide what is tried on these.
    IF (SELECT count(*) FROM drover.audit_tally t WHERE t.action = an_action AND t.bucket_at = bucket AND t.is_known = (a_subject IS NOT NULL)
            AND t.actor IS NOT DISTINCT FROM an_actor) >= most THEN
        wanted := convert_to(concat_ws(' ', 'others', a_subject IS NOT NULL, an_actor), 'UTF8');
        a_remote := NULL;
        a_detail := '{"others": true}';
    END IF;
    INSERT INTO drover.audit_tally AS t (action, bucket_at, ends_at, key, is_known, actor, subject, remote, detail)
        VALUES (an_action, bucket, bucket + a_width, wanted, a_subject IS NOT NULL, an_actor,
            CASE WHEN a_detail = '{"others": true}' THEN NULL ELSE a_subject END, a_remote, a_detail)
        ON CONFLICT (action, bucket_at, key) DO UPDATE SET times = t.times + 1 RETURNING t.times INTO counted;
    IF counted = 1 THEN
        PERFORM drover.audit_append(an_action, an_actor, CASE WHEN a_detail = '{"others": true}' THEN NULL ELSE a_subject END, a_remote, a_detail);
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION drover.audit_count(an_action text, a_width interval, most integer, an_actor text, a_subject text, a_remote text, a_detail text) FROM PUBLIC;

-- Precondition: the head is held, or an erasure could come between.
CREATE FUNCTION drover.audit_digest(an_account text, a_said text) RETURNS bytea
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found_digest bytea; new_salt bytea;
BEGIN
    IF a_said IS NULL OR a_said = '' THEN RETURN NULL; END IF;
    SELECT n.digest INTO found_digest FROM drover.audit_name n WHERE n.account = left(an_account, 64) AND n.said = left(a_said, 64);
    IF FOUND THEN RETURN found_digest; END IF;
    new_salt := sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'));
    found_digest := sha256(new_salt || convert_to(left(an_account, 64) || E'\n' || left(a_said, 64), 'UTF8'));
    INSERT INTO drover.audit_name (digest, account, said, salt) VALUES (found_digest, left(an_account, 64), left(a_said, 64), new_salt);
    RETURN found_digest;
END $$;
REVOKE EXECUTE ON FUNCTION drover.audit_digest(an_account text, a_said text) FROM PUBLIC;

-- Whom the entries mean is forgotten; the entries stay, under digests that belong to nobody.
CREATE FUNCTION drover.audit_forget(an_account text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
BEGIN
    -- Whoever counts holds rows of it and wants the head, which is held from here on.
    LOCK TABLE drover.audit_tally IN SHARE ROW EXCLUSIVE MODE;
    -- What is told at the commit would bring the name back.
    SET CONSTRAINTS ALL IMMEDIATE;
    DELETE FROM drover.audit_tally t WHERE t.actor = an_account OR t.subject = an_account;
    PERFORM drover.audit_append('account_erased',
        coalesce(nullif(current_setting('drover.account', true), ''), nullif(current_setting('drover.audit_by', true), '')), an_account, NULL, '{}');
    DELETE FROM drover.audit_name n WHERE n.account = an_account;
END $$;
REVOKE EXECUTE ON FUNCTION drover.audit_forget(an_account text) FROM PUBLIC;

-- Whether the asker reads the log at all.
CREATE FUNCTION drover.audit_is_read() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce('administrator' = ANY (drover.sight_roles()), false)
$$;
REVOKE EXECUTE ON FUNCTION drover.audit_is_read() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.audit_is_read() TO drover_page;

-- The log as programs of administrators collect it, the oldest first, with all that the hashes are over; filters that are NULL let all
-- through. Who is no administrator gets nothing.
CREATE FUNCTION drover.audit_listed(
    an_account text, the_actions text[], since_at timestamptz, until_at timestamptz, after_sequence bigint, most int)
RETURNS TABLE (sequence bigint, at_us bigint, action text, actor bytea, subject bytea, remote bytea, detail text, hash bytea,
    actor_said text, subject_said text, remote_said text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted bytea[];
BEGIN
    IF ('administrator' = ANY (drover.sight_roles())) IS NOT TRUE THEN RETURN; END IF;
    IF an_account IS NOT NULL THEN wanted := ARRAY(SELECT n.digest FROM drover.audit_name n WHERE n.said = an_account); END IF;
    RETURN QUERY SELECT e.sequence, (extract(epoch FROM e.at) * 1000000)::bigint, e.action, e.actor, e.subject, e.remote, e.detail, e.hash,
            a.said, s.said, r.said
        FROM drover.audit_entry e
        LEFT JOIN drover.audit_name a ON a.digest = e.actor
        LEFT JOIN drover.audit_name s ON s.digest = e.subject
        LEFT JOIN drover.audit_name r ON r.digest = e.remote
        WHERE (wanted IS NULL OR e.actor = ANY (wanted) OR e.subject = ANY (wanted))
            AND (the_actions IS NULL OR e.action = ANY (the_actions))
            AND (since_at IS NULL OR e.at >= since_at) AND (until_at IS NULL OR e.at < until_at)
            AND (after_sequence IS NULL OR e.sequence > after_sequence)
        ORDER BY e.sequence LIMIT least(most, 1001);
END $$;
REVOKE EXECUTE ON FUNCTION drover.audit_listed(an_account text, the_actions text[], since_at timestamp with time zone, until_at timestamp with time zone, after_sequence bigint, most integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.audit_listed(an_account text, the_actions text[], since_at timestamp with time zone, until_at timestamp with time zone, after_sequence bigint, most integer) TO drover_page;

-- Tokens of people of campuses, whoever makes or ends them. Somebody of a roster is `campus/person`, who need not have an account.
CREATE FUNCTION drover.audit_person_token() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    by_account text := coalesce(nullif(current_setting('drover.account', true), ''), nullif(current_setting('drover.audit_by', true), ''));
    login jsonb := CASE WHEN nullif(current_setting('drover.account', true), '') IS NULL THEN jsonb_build_object('login', session_user) ELSE '{}' END;
    its_role text := (SELECT p.role FROM drover.person p WHERE p.campus = NEW.campus AND p.person = NEW.person);
BEGIN
    PERFORM drover.audit_append(CASE TG_OP WHEN 'INSERT' THEN 'campus_token_added' ELSE 'campus_token_revoked' END, by_account,
        NEW.campus || '/' || NEW.person, NULL,
        (jsonb_build_object('campus', NEW.campus, 'role', its_role, 'token', left(encode(NEW.digest, 'hex'), 12)) || login)::text);
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION drover.audit_person_token() FROM PUBLIC;

-- All that services may do here; reports that schedules mail are counted, too. Who is held to an account's sight is that account, whatever is
-- said. A subject with an @ is a mail address, of which only the account is kept that has it.
CREATE FUNCTION drover.audit_record(an_action text, an_actor text, a_subject text, a_remote text, a_detail text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    whose text;
BEGIN
    -- Before the head, always: `audit_forget`.
    LOCK TABLE drover.audit_tally IN ROW EXCLUSIVE MODE;
    an_actor := coalesce(nullif(current_setting('drover.account', true), ''), an_actor, nullif(current_setting('drover.audit_by', true), ''));
    IF position('@' IN a_subject) > 0 THEN
        a_subject := (SELECT a.account FROM drover.account a WHERE lower(a.mail) = lower(a_subject));
    END IF;
    CASE an_action
    -- What anybody may do as often as they like.
    WHEN 'log_in', 'log_out', 'session_ended' THEN
        PERFORM drover.audit_count(an_action, interval '1 minute', 60, coalesce(an_actor, a_subject), NULL, a_remote, a_detail);
    WHEN 'report_run', 'report_mailed', 'query_run', 'export_taken' THEN
        PERFORM drover.audit_count(an_action, interval '1 hour', 200, an_actor, a_subject, a_remote, a_detail);
    WHEN 'log_in_failed' THEN
        PERFORM drover.audit_count(an_action, interval '1 minute', 30, NULL, a_subject, a_remote, a_detail);
    WHEN 'data_seen' THEN
        whose := drover.audit_seen_owner(an_actor, a_detail::jsonb);
        IF whose IS NULL THEN RETURN; END IF;
        PERFORM drover.audit_count(an_action, interval '1 hour', 500, an_actor, nullif(whose, '-'), a_remote, a_detail);
    WHEN 'log_shortened', 'account_erased' THEN
        RAISE EXCEPTION 'only the owner of the database says %', an_action USING ERRCODE = 'insufficient_privilege';
    ELSE
        PERFORM drover.audit_append(an_action, an_actor, a_subject, a_remote, a_detail);
    END CASE;
    PERFORM drover.audit_close();
END $$;
REVOKE EXECUTE ON FUNCTION drover.audit_record(an_action text, an_actor text, a_subject text, a_remote text, a_detail text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.audit_record(an_action text, an_actor text, a_subject text, a_remote text, a_detail text) TO drover_api, drover_page, drover_relay, drover_writer;

-- At the commit, so that the chain is held for no longer. Who has no account is named by the database's login.
CREATE FUNCTION drover.audit_row() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    by_account text := coalesce(nullif(current_setting('drover.account', true), ''), nullif(current_setting('drover.audit_by', true), ''));
    login jsonb := CASE WHEN nullif(current_setting('drover.account', true), '') IS NULL THEN jsonb_build_object('login', session_user) ELSE '{}' END;
    old_row jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    new_row jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    any_row jsonb := coalesce(new_row, old_row);
    owner text := any_row->>'account';
    -- Each as its action and detail.
    told text[][] := '{}';
    one text[];
BEGIN
    CASE TG_TABLE_NAME
    WHEN 'account' THEN
        -- Who registers is somebody when the mail address is confirmed.
        IF TG_OP = 'INSERT' THEN
            IF new_row->>'password' IS NULL OR new_row->>'confirmed_at' IS NOT NULL THEN
                told := told || ARRAY[['account_added', jsonb_build_object('roles', new_row->'roles')::text]];
            END IF;
        ELSE
            IF old_row->>'confirmed_at' IS NULL AND new_row->>'confirmed_at' IS NOT NULL THEN told := told || ARRAY[['account_confirmed', '{}']]; END IF;
            IF old_row->'roles' <> new_row->'roles' THEN
                told := told || ARRAY[['roles_changed', jsonb_build_object('from', old_row->'roles', 'to', new_row->'roles')::text]];
            END IF;
            IF old_row->>'disabled_at' IS NULL AND new_row->>'disabled_at' IS NOT NULL THEN told := told || ARRAY[['account_disabled', '{}']]; END IF;
            IF old_row->>'disabled_at' IS NOT NULL AND new_row->>'disabled_at' IS NULL THEN told := told || ARRAY[['account_enabled', '{}']]; END IF;
            IF new_row->>'password' IS NOT NULL AND old_row->>'password' IS DISTINCT FROM new_row->>'password' THEN
                told := told || ARRAY[['password_changed', '{}']];
            END IF;
        END IF;
    WHEN 'fleet_member' THEN
        told := ARRAY[[CASE TG_OP WHEN 'INSERT' THEN 'fleet_joined' ELSE 'fleet_left' END, jsonb_build_object('fleet', any_row->'fleet')::text]];
    WHEN 'token' THEN
        told := ARRAY[[CASE WHEN TG_OP = 'INSERT' THEN 'token_added' ELSE 'token_revoked' END,
            jsonb_build_object('token', any_row->'token_id', 'scopes', any_row->'scopes')::text]];
    WHEN 'account_login' THEN
        told := ARRAY[[CASE TG_OP WHEN 'DELETE' THEN 'database_login_ended' ELSE 'database_login_given' END, '{}']];
    WHEN 'dealership' THEN
        owner := any_row->>'dealer';
        told := ARRAY[['dealership_changed', jsonb_build_object('vehicle', any_row->'vehicle', 'is',
            CASE WHEN any_row->>'ended_at' IS NOT NULL THEN 'ended' WHEN any_row->>'confirmed_at' IS NOT NULL THEN 'confirmed' ELSE 'asked' END)::text]];
    WHEN 'report_schedule' THEN
        told := ARRAY[['schedule_changed', jsonb_build_object('schedule', any_row->'schedule_id', 'report', any_row->'report', 'of', any_row->'narrowed_to',
            'fleet', any_row->'fleet', 'cron', any_row->'cron', 'mails_to', jsonb_array_length(any_row->'mail_to'),
            'is', CASE WHEN TG_OP = 'DELETE' THEN 'removed' WHEN (any_row->>'is_enabled')::boolean THEN 'on' ELSE 'off' END)::text]];
    WHEN 'rule_edit' THEN
        by_account := owner;
        owner := NULL;
        -- Cut to what an entry takes: the change is in force by now, and an entry that is refused would leave none.
        told := ARRAY[['rules_edited', jsonb_build_object('model', left(any_row->>'model', 100), 'vehicle', any_row->'vehicle', 'version', any_row->'version',
            'changes', CASE WHEN octet_length(any_row->>'changes') <= 2500 THEN any_row->'changes' ELSE to_jsonb(left(any_row->'changes'->>0, 400) || '…') END)::text]];
    END CASE;
    IF cardinality(told) = 0 THEN RETURN NULL; END IF;
    FOREACH one SLICE 1 IN ARRAY told LOOP
        PERFORM drover.audit_append(one[1], by_account, owner, NULL, (one[2]::jsonb || login)::text);
    END LOOP;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION drover.audit_row() FROM PUBLIC;

-- Who has the sight of the whole installation, and looks at what is somebody else's: whose it is, or NULL: nothing is to be noted.
CREATE FUNCTION drover.audit_seen_owner(a_viewer text, a_detail jsonb) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    a_vehicle text := a_detail->>'vehicle';
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
REVOKE EXECUTE ON FUNCTION drover.audit_seen_owner(a_viewer text, a_detail jsonb) FROM PUBLIC;

-- Entries from before a time go, from the oldest on; the newest stays. What the chain goes on from is an entry of its own. Who appends
-- waits for none of the scans: the head is taken after them.
CREATE FUNCTION drover.audit_shorten(before_at timestamptz) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    last drover.audit_entry; gone bigint; newest bigint; unnamed bytea[];
BEGIN
    -- One after the other.
    LOCK TABLE drover.audit_entry IN SHARE UPDATE EXCLUSIVE MODE;
    SELECT h.sequence INTO STRICT newest FROM drover.audit_head h;
    SELECT e.* INTO last FROM drover.audit_entry e
        WHERE e.sequence < coalesce((SELECT min(k.sequence) FROM drover.audit_entry k WHERE k.at >= before_at), newest)
        ORDER BY e.sequence DESC LIMIT 1;
    IF NOT FOUND THEN RETURN 0; END IF;
    DELETE FROM drover.audit_entry e WHERE e.sequence <= last.sequence;
    GET DIAGNOSTICS gone = ROW_COUNT;
    -- Names that no entry has any more. One scan, whatever their number.
    unnamed := ARRAY(SELECT n.digest FROM drover.audit_name n EXCEPT (SELECT e.actor FROM drover.audit_entry e
        UNION ALL SELECT e.subject FROM drover.audit_entry e UNION ALL SELECT e.remote FROM drover.audit_entry e));
    PERFORM drover.audit_append('log_shortened', nullif(current_setting('drover.audit_by', true), ''), NULL, NULL,
        jsonb_build_object('sequence', last.sequence, 'hash', encode(last.hash, 'hex'), 'gone', gone)::text);
    -- Unless one has come since: nobody names anybody while the head is held.
    DELETE FROM drover.audit_name n WHERE n.digest = ANY (unnamed) AND NOT EXISTS (
        SELECT FROM drover.audit_entry e WHERE e.sequence > newest AND n.digest IN (e.actor, e.subject, e.remote));
    RETURN gone;
END $$;
REVOKE EXECUTE ON FUNCTION drover.audit_shorten(before_at timestamp with time zone) FROM PUBLIC;

-- For administrators alone; filters that are NULL let all through. The newest first, below `before_sequence`.
CREATE FUNCTION drover.audit_shown(
    an_account text, the_actions text[], since_at timestamptz, until_at timestamptz, before_sequence bigint, most int)
RETURNS TABLE (sequence bigint, at timestamptz, action text, actor text, subject text, remote text, detail text, hash bytea)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted bytea[];
BEGIN
    IF ('administrator' = ANY (drover.sight_roles())) IS NOT TRUE THEN RETURN; END IF;
    IF an_account IS NOT NULL THEN wanted := ARRAY(SELECT n.digest FROM drover.audit_name n WHERE n.said = an_account); END IF;
    RETURN QUERY SELECT e.sequence, e.at, e.action, a.said, s.said, r.said, e.detail, e.hash
        FROM drover.audit_entry e
        LEFT JOIN drover.audit_name a ON a.digest = e.actor
        LEFT JOIN drover.audit_name s ON s.digest = e.subject
        LEFT JOIN drover.audit_name r ON r.digest = e.remote
        WHERE (wanted IS NULL OR e.actor = ANY (wanted) OR e.subject = ANY (wanted))
            AND (the_actions IS NULL OR e.action = ANY (the_actions))
            AND (since_at IS NULL OR e.at >= since_at) AND (until_at IS NULL OR e.at < until_at)
            AND (before_sequence IS NULL OR e.sequence < before_sequence)
        ORDER BY e.sequence DESC LIMIT least(most, 1000);
END $$;
REVOKE EXECUTE ON FUNCTION drover.audit_shown(an_account text, the_actions text[], since_at timestamp with time zone, until_at timestamp with time zone, before_sequence bigint, most integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.audit_shown(an_account text, the_actions text[], since_at timestamp with time zone, until_at timestamp with time zone, before_sequence bigint, most integer) TO drover_page;

CREATE CONSTRAINT TRIGGER audit AFTER INSERT OR UPDATE OF confirmed_at, ended_at ON drover.dealership DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION drover.audit_row();
CREATE CONSTRAINT TRIGGER audit AFTER INSERT OR DELETE OR UPDATE OF account, cron, mail_to, is_enabled ON drover.report_schedule DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION drover.audit_row();
CREATE CONSTRAINT TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON drover.account_login DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION drover.audit_row();
CREATE CONSTRAINT TRIGGER audit AFTER INSERT OR UPDATE OF roles, password, confirmed_at, disabled_at ON drover.account DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION drover.audit_row();
CREATE CONSTRAINT TRIGGER audit AFTER INSERT OR DELETE ON drover.fleet_member DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION drover.audit_row();
CREATE CONSTRAINT TRIGGER audit_added AFTER INSERT ON drover.person_token DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION drover.audit_person_token();
CREATE CONSTRAINT TRIGGER audit_revoked AFTER UPDATE OF revoked_at ON drover.person_token DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION drover.audit_person_token();
CREATE CONSTRAINT TRIGGER audit_added AFTER INSERT ON drover.token DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION drover.audit_row();
CREATE CONSTRAINT TRIGGER audit_revoked AFTER UPDATE OF revoked_at ON drover.token DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION drover.audit_row();
