-- Reports at a time of their own: who wants which, and the ledger of what became of each time it fell due. `drover notify` makes
-- them, with the rights of the account that a schedule belongs to; people say what they want through the functions.

CREATE TABLE drover.report_schedule (
    schedule_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    shipped text,  -- name of one that comes with Drover; off until somebody takes it
    account text,  -- whose rights it has; NULL: nobody's yet
    report text NOT NULL,
    span text NOT NULL,  -- the last one that is over when it falls due
    narrowed_to text DEFAULT ''::text NOT NULL,  -- a vehicle, campus, site or tour
    fleet text DEFAULT ''::text NOT NULL,
    format text NOT NULL,
    units text DEFAULT 'metric'::text NOT NULL,
    cron text NOT NULL,  -- Sources/People/Reports/Schedules/CronTimes.swift
    zone text DEFAULT 'UTC'::text NOT NULL,
    mail_to text[] DEFAULT '{}'::text[] NOT NULL,  -- accounts
    is_filed boolean DEFAULT false NOT NULL,  -- also written into the operator's folder of reports
    is_enabled boolean DEFAULT true NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    planned_until timestamptz DEFAULT now() NOT NULL,  -- all that fell due until then stands in the ledger
    next_due_at timestamptz,  -- NULL: not yet known, or never again
    left_out_at timestamptz,  -- what fell due before was left out at the last catching up: it was too much
    trouble text,  -- why nothing can fall due
    shipped_cron text,
    CONSTRAINT report_schedule_pkey PRIMARY KEY (schedule_id),
    CONSTRAINT report_schedule_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account),
    CONSTRAINT report_schedule_check CHECK (((NOT is_enabled) OR (account IS NOT NULL))),
    CONSTRAINT report_schedule_cron_check CHECK (((octet_length(cron) >= 9) AND (octet_length(cron) <= 200))),
    CONSTRAINT report_schedule_fleet_check CHECK ((octet_length(fleet) <= 64)),
    CONSTRAINT report_schedule_format_check CHECK ((format = ANY (ARRAY['html'::text, 'csv'::text, 'json'::text, 'xlsx'::text, 'pdf'::text, 'table'::text]))),
    CONSTRAINT report_schedule_mail_to_check CHECK ((cardinality(mail_to) <= 50)),
    CONSTRAINT report_schedule_narrowed_to_check CHECK ((octet_length(narrowed_to) <= 200)),
    CONSTRAINT report_schedule_report_check CHECK ((report ~ '^[a-z-]{1,40}$'::text)),
    CONSTRAINT report_schedule_shipped_key UNIQUE (shipped),
    CONSTRAINT report_schedule_span_check CHECK ((span = ANY (ARRAY['day'::text, 'week'::text, 'month'::text]))),
    CONSTRAINT report_schedule_units_check CHECK ((units = ANY (ARRAY['metric'::text, 'us'::text]))),
    CONSTRAINT report_schedule_zone_check CHECK ((octet_length(zone) <= 64))
);
CREATE INDEX report_schedule_by_account ON drover.report_schedule (account);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.report_schedule TO drover_relay;
INSERT INTO drover.report_schedule (shipped, report, span, format, cron, shipped_cron, is_enabled) VALUES
    ('fleet-day', 'fleet-day', 'day', 'html', '0 6 * * *', '0 6 * * *', false),
    ('machine-maintenance', 'maintenance', 'week', 'html', '0 6 * * mon', '0 6 * * mon', false),
    ('month', 'fuel', 'month', 'pdf', '0 6 1 * *', '0 6 1 * *', false);

CREATE TABLE drover.report_run (
    schedule_id bigint NOT NULL,
    due_at timestamptz NOT NULL,
    is_asked boolean DEFAULT false NOT NULL,  -- out of turn, by a person
    state text DEFAULT 'waiting'::text NOT NULL,
    first_date text,  -- the days it is of
    last_date text,
    tries integer DEFAULT 0 NOT NULL,
    try_at timestamptz DEFAULT now() NOT NULL,  -- not before: late data has a while to come, a failed one waits
    reason text,  -- why the last try failed, or what could not be done
    made_at timestamptz,  -- when what is kept here was made
    took_ms integer,
    rows integer,
    name text,  -- of the file
    media_type text,
    bytes integer,
    digest bytea,  -- SHA-256
    content bytea,  -- NULL: too large, or too old, to be kept here
    facts bytea,  -- its rows, to tell what late data changed
    mails integer DEFAULT 0 NOT NULL,  -- that were written
    look_at timestamptz,  -- whether late data has changed it; NULL: not again
    revision integer DEFAULT 0 NOT NULL,  -- so often it has
    change text,  -- what the last of these changed
    wants_mail boolean DEFAULT false NOT NULL,  -- somebody asks for the revised one to be mailed
    CONSTRAINT report_run_pkey PRIMARY KEY (schedule_id, due_at),
    CONSTRAINT report_run_content_check CHECK ((octet_length(content) <= 20000000)),
    CONSTRAINT report_run_facts_check CHECK ((octet_length(facts) <= 20000000)),
    CONSTRAINT report_run_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES drover.report_schedule(schedule_id) ON DELETE CASCADE,
    CONSTRAINT report_run_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'done'::text, 'failed'::text])))
);
CREATE INDEX report_run_to_look_at ON drover.report_run (look_at) WHERE (look_at IS NOT NULL);
CREATE INDEX report_run_to_mail ON drover.report_run (due_at) WHERE wants_mail;
CREATE INDEX report_run_waiting ON drover.report_run (try_at) WHERE (state = 'waiting'::text);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.report_run TO drover_relay;

-- Own ones; administrators see all, and those that come with Drover.
CREATE FUNCTION drover.holds_schedule(a_schedule bigint) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM drover.report_schedule s WHERE s.schedule_id = a_schedule
        AND (s.account = drover.sight_account() OR 'administrator' = ANY (drover.sight_roles())))
$$;
REVOKE EXECUTE ON FUNCTION drover.holds_schedule(a_schedule bigint) FROM PUBLIC;

-- For oneself: mailed to nobody else. NULL: fifty are enough.
CREATE FUNCTION drover.add_report_schedule(
    a_report text, a_span text, a_narrowing text, a_fleet text, a_format text, the_units text, a_cron text, a_zone text, is_mailed boolean)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    me text := drover.sight_account();
    made bigint;
BEGIN
    IF me IS NULL THEN RETURN NULL; END IF;
    PERFORM drover.take_turn('drover.report_schedule ' || me);
    IF ((SELECT count(*) FROM drover.report_schedule s WHERE s.account = me) >= 50) THEN RETURN NULL; END IF;
    INSERT INTO drover.report_schedule (account, report, span, narrowed_to, fleet, format, units, cron, zone, mail_to)
        VALUES (me, a_report, a_span, a_narrowing, a_fleet, a_format, the_units, a_cron, a_zone,
            CASE WHEN is_mailed THEN ARRAY[me] ELSE '{}' END)
        RETURNING schedule_id INTO made;
    RETURN made;
END $$;
REVOKE EXECUTE ON FUNCTION drover.add_report_schedule(a_report text, a_span text, a_narrowing text, a_fleet text, a_format text, the_units text, a_cron text, a_zone text, is_mailed boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.add_report_schedule(a_report text, a_span text, a_narrowing text, a_fleet text, a_format text, the_units text, a_cron text, a_zone text, is_mailed boolean) TO drover_page;

-- From now on; what has fallen due before and stands in no ledger yet falls due by the new times. By one's own clock; those of
-- others keep theirs.
CREATE FUNCTION drover.change_report_schedule(a_schedule bigint, a_cron text, a_zone text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (NOT drover.holds_schedule(a_schedule)) THEN RETURN false; END IF;
    UPDATE drover.report_schedule s SET cron = a_cron, next_due_at = NULL, trouble = NULL,
            zone = CASE WHEN s.account = drover.sight_account() THEN a_zone ELSE s.zone END,
            planned_until = CASE WHEN s.next_due_at > now() THEN now() ELSE s.planned_until END
        WHERE s.schedule_id = a_schedule AND s.account IS NOT NULL;
    RETURN FOUND;
END $$;
REVOKE EXECUTE ON FUNCTION drover.change_report_schedule(a_schedule bigint, a_cron text, a_zone text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.change_report_schedule(a_schedule bigint, a_cron text, a_zone text) TO drover_page;

-- What fell due while it was off is not caught up. Who takes one that comes with Drover gets it by mail, by his own clock.
CREATE FUNCTION drover.switch_report_schedule(a_schedule bigint, to_be_on boolean) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (NOT drover.holds_schedule(a_schedule)) THEN RETURN false; END IF;
    UPDATE drover.report_schedule s SET account = a.account, zone = a.zone, units = a.units, mail_to = ARRAY[a.account]
        FROM drover.account a
        WHERE s.schedule_id = a_schedule AND to_be_on AND s.account IS NULL AND a.account = drover.sight_account();
    UPDATE drover.report_schedule s SET is_enabled = to_be_on, next_due_at = NULL, trouble = NULL,
            planned_until = CASE WHEN to_be_on AND NOT s.is_enabled THEN now() ELSE s.planned_until END
        WHERE s.schedule_id = a_schedule;
    RETURN FOUND;
END $$;
REVOKE EXECUTE ON FUNCTION drover.switch_report_schedule(a_schedule bigint, to_be_on boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.switch_report_schedule(a_schedule bigint, to_be_on boolean) TO drover_page;

-- Those that come with Drover are given back instead, with their times.
CREATE FUNCTION drover.end_report_schedule(a_schedule bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (NOT drover.holds_schedule(a_schedule)) THEN RETURN false; END IF;
    DELETE FROM drover.report_schedule s WHERE s.schedule_id = a_schedule AND s.shipped IS NULL;
    IF FOUND THEN RETURN true; END IF;
    DELETE FROM drover.report_run r WHERE r.schedule_id = a_schedule;
    UPDATE drover.report_schedule s SET account = NULL, is_enabled = false, mail_to = '{}', next_due_at = NULL, zone = 'UTC', units = 'metric',
            cron = s.shipped_cron, trouble = NULL
        WHERE s.schedule_id = a_schedule;
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.end_report_schedule(a_schedule bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.end_report_schedule(a_schedule bigint) TO drover_page;

CREATE FUNCTION drover.report_schedules()
RETURNS TABLE (schedule_id bigint, shipped text, account text, report text, span text, narrowed_to text, fleet text, format text,
    cron text, zone text, mail_to text[], is_filed boolean, is_enabled boolean, next_due_at timestamptz, left_out_at timestamptz, trouble text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.schedule_id, s.shipped, s.account, s.report, s.span, s.narrowed_to, s.fleet, s.format, s.cron, s.zone, s.mail_to,
        s.is_filed, s.is_enabled, s.next_due_at, s.left_out_at, s.trouble
    FROM drover.report_schedule s
    WHERE s.account = drover.sight_account() OR 'administrator' = ANY (drover.sight_roles())
    ORDER BY s.account IS DISTINCT FROM drover.sight_account(), s.account, s.schedule_id LIMIT 200
$$;
REVOKE EXECUTE ON FUNCTION drover.report_schedules() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.report_schedules() TO drover_page;

-- The last runs of each of these.
CREATE FUNCTION drover.report_runs(most int)
RETURNS TABLE (schedule_id bigint, due_at timestamptz, state text, first_date text, last_date text, tries int, try_at timestamptz,
    reason text, made_at timestamptz, rows int, name text, bytes int, is_kept boolean, mails int, revision int, change text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.schedule_id, r.due_at, r.state, r.first_date, r.last_date, r.tries, r.try_at, r.reason, r.made_at, r.rows, r.name,
        r.bytes, r.content IS NOT NULL, r.mails, r.revision, r.change
    FROM drover.report_schedules() s CROSS JOIN LATERAL (
        SELECT * FROM drover.report_run x WHERE x.schedule_id = s.schedule_id ORDER BY x.due_at DESC LIMIT least(most, 50)) r
    ORDER BY r.schedule_id, r.due_at DESC
$$;
REVOKE EXECUTE ON FUNCTION drover.report_runs(most integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.report_runs(most integer) TO drover_page;

CREATE FUNCTION drover.report_file(a_schedule bigint, a_due timestamptz)
RETURNS TABLE (name text, media_type text, content bytea)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.name, r.media_type, r.content FROM drover.report_run r
    WHERE r.schedule_id = a_schedule AND r.due_at = a_due AND r.content IS NOT NULL AND drover.holds_schedule(a_schedule)
$$;
REVOKE EXECUTE ON FUNCTION drover.report_file(a_schedule bigint, a_due timestamp with time zone) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.report_file(a_schedule bigint, a_due timestamp with time zone) TO drover_page;

-- Of the days that are over now. Once a minute at most, and twenty an hour of an account: fifty schedules were fifty reports a minute, which one
-- relay makes for everybody.
CREATE FUNCTION drover.ask_report_run(a_schedule bigint) RETURNS boolean
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
REVOKE EXECUTE ON FUNCTION drover.ask_report_run(a_schedule bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.ask_report_run(a_schedule bigint) TO drover_page;

CREATE FUNCTION drover.mail_revised_report(a_schedule bigint, a_due timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.report_run r SET wants_mail = true
        WHERE r.schedule_id = a_schedule AND r.due_at = a_due AND r.revision > 0 AND drover.holds_schedule(a_schedule);
    RETURN FOUND;
END $$;
REVOKE EXECUTE ON FUNCTION drover.mail_revised_report(a_schedule bigint, a_due timestamp with time zone) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.mail_revised_report(a_schedule bigint, a_due timestamp with time zone) TO drover_page;
