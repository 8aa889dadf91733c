-- Reports at a time of their own: who wants which, and the ledger of what became of each time it fell due. `drover notify` makes
-- them, with the rights of the account that a schedule belongs to; people say what they want through the functions at the end.

CREATE TABLE drover.report_schedule (
    schedule_id   bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    shipped       text        UNIQUE,                  -- name of one that comes with Drover; off until somebody takes it
    account       text        REFERENCES drover.account,   -- whose rights it has; NULL: nobody's yet
    report        text        NOT NULL CHECK (report ~ '^[a-z-]{1,40}$'),
    span          text        NOT NULL CHECK (span IN ('day', 'week', 'month')),   -- the last one that is over when it falls due
    narrowed_to   text        NOT NULL DEFAULT '' CHECK (octet_length(narrowed_to) <= 200),   -- a vehicle, campus, site or tour
    fleet         text        NOT NULL DEFAULT '' CHECK (octet_length(fleet) <= 64),
    format        text        NOT NULL CHECK (format IN ('html', 'csv', 'json', 'xlsx', 'pdf', 'table')),
    units         text        NOT NULL DEFAULT 'metric' CHECK (units IN ('metric', 'us')),
    cron          text        NOT NULL CHECK (octet_length(cron) BETWEEN 9 AND 200),   -- Sources/Reports/CronTimes.swift
    zone          text        NOT NULL DEFAULT 'UTC' CHECK (octet_length(zone) <= 64),
    mail_to       text[]      NOT NULL DEFAULT '{}' CHECK (cardinality(mail_to) <= 50),   -- accounts
    is_filed      boolean     NOT NULL DEFAULT false,  -- also written into the operator's folder of reports
    is_enabled    boolean     NOT NULL DEFAULT true,
    made_at       timestamptz NOT NULL DEFAULT now(),
    planned_until timestamptz NOT NULL DEFAULT now(),  -- all that fell due until then stands in the ledger
    next_due_at   timestamptz,                         -- NULL: not yet known, or never again
    left_out_at   timestamptz,                         -- what fell due before was left out at the last catching up: it was too much
    trouble       text,                                -- why nothing can fall due
    CHECK (NOT is_enabled OR account IS NOT NULL)
);
CREATE INDEX report_schedule_by_account ON drover.report_schedule (account);

CREATE TABLE drover.report_run (
    schedule_id bigint      NOT NULL REFERENCES drover.report_schedule ON DELETE CASCADE,
    due_at      timestamptz NOT NULL,
    is_asked    boolean     NOT NULL DEFAULT false,    -- out of turn, by a person
    state       text        NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'done', 'failed')),
    first_date  text,                                  -- the days it is of
    last_date   text,
    tries       int         NOT NULL DEFAULT 0,
    try_at      timestamptz NOT NULL DEFAULT now(),    -- not before: late data has a while to come, a failed one waits
    reason      text,                                  -- why the last try failed, or what could not be done
    made_at     timestamptz,                           -- when what is kept here was made
    took_ms     int,
    rows        int,
    name        text,                                  -- of the file
    media_type  text,
    bytes       int,
    digest      bytea,                                 -- SHA-256
    content     bytea       CHECK (octet_length(content) <= 20000000),   -- NULL: too large, or too old, to be kept here
    facts       bytea       CHECK (octet_length(facts) <= 20000000),     -- its rows, to tell what late data changed
    mails       int         NOT NULL DEFAULT 0,        -- that were written
    look_at     timestamptz,                           -- whether late data has changed it; NULL: not again
    revision    int         NOT NULL DEFAULT 0,        -- so often it has
    change      text,                                  -- what the last of these changed
    wants_mail  boolean     NOT NULL DEFAULT false,    -- somebody asks for the revised one to be mailed
    PRIMARY KEY (schedule_id, due_at)
);
CREATE INDEX report_run_waiting ON drover.report_run (try_at) WHERE state = 'waiting';
CREATE INDEX report_run_to_look_at ON drover.report_run (look_at) WHERE look_at IS NOT NULL;
CREATE INDEX report_run_to_mail ON drover.report_run (due_at) WHERE wants_mail;

INSERT INTO drover.report_schedule (shipped, report, span, format, cron, is_enabled) VALUES
    ('fleet-day', 'fleet-day', 'day', 'html', '0 6 * * *', false),
    ('machine-maintenance', 'maintenance', 'week', 'html', '0 6 * * mon', false),
    ('month', 'fuel', 'month', 'pdf', '0 6 1 * *', false);

-- Makes the reports, writes the mails that bring them; knows accounts as far as that takes.
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.report_schedule, drover.report_run TO drover_relay;
GRANT INSERT ON drover.mail, drover.mail_file TO drover_relay;
GRANT SELECT (account, mail, roles, units, zone, confirmed_at, disabled_at) ON drover.account TO drover_relay;

-- Own ones; administrators see all, and those that come with Drover.
CREATE FUNCTION drover.holds_schedule(a_schedule bigint) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM drover.report_schedule s WHERE s.schedule_id = a_schedule
        AND (s.account = drover.sight_account() OR 'administrator' = ANY (drover.sight_roles())))
$$;

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

CREATE FUNCTION drover.report_file(a_schedule bigint, a_due timestamptz)
RETURNS TABLE (name text, media_type text, content bytea)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.name, r.media_type, r.content FROM drover.report_run r
    WHERE r.schedule_id = a_schedule AND r.due_at = a_due AND r.content IS NOT NULL AND drover.holds_schedule(a_schedule)
$$;

-- For oneself: mailed to nobody else. NULL: fifty are enough.
CREATE FUNCTION drover.add_report_schedule(
    a_report text, a_span text, a_narrowing text, a_fleet text, a_format text, the_units text, a_cron text, a_zone text, is_mailed boolean)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    me text := drover.sight_account();
    made bigint;
BEGIN
    IF me IS NULL THEN RETURN NULL; END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('drover.report_schedule ' || me, 0));
    IF ((SELECT count(*) FROM drover.report_schedule s WHERE s.account = me) >= 50) THEN RETURN NULL; END IF;
    INSERT INTO drover.report_schedule (account, report, span, narrowed_to, fleet, format, units, cron, zone, mail_to)
        VALUES (me, a_report, a_span, a_narrowing, a_fleet, a_format, the_units, a_cron, a_zone,
            CASE WHEN is_mailed THEN ARRAY[me] ELSE '{}' END)
        RETURNING schedule_id INTO made;
    RETURN made;
END $$;

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

-- Those that come with Drover are given back instead.
CREATE FUNCTION drover.end_report_schedule(a_schedule bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (NOT drover.holds_schedule(a_schedule)) THEN RETURN false; END IF;
    DELETE FROM drover.report_schedule s WHERE s.schedule_id = a_schedule AND s.shipped IS NULL;
    IF FOUND THEN RETURN true; END IF;
    DELETE FROM drover.report_run r WHERE r.schedule_id = a_schedule;
    UPDATE drover.report_schedule s SET account = NULL, is_enabled = false, mail_to = '{}', next_due_at = NULL, zone = 'UTC', units = 'metric'
        WHERE s.schedule_id = a_schedule;
    RETURN true;
END $$;

-- Of the days that are over now. Once a minute at most.
CREATE FUNCTION drover.ask_report_run(a_schedule bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (NOT drover.holds_schedule(a_schedule)) THEN RETURN false; END IF;
    INSERT INTO drover.report_run (schedule_id, due_at, is_asked)
        SELECT s.schedule_id, date_trunc('minute', now()), true FROM drover.report_schedule s
        WHERE s.schedule_id = a_schedule AND s.account IS NOT NULL
        ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;

CREATE FUNCTION drover.mail_revised_report(a_schedule bigint, a_due timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.report_run r SET wants_mail = true
        WHERE r.schedule_id = a_schedule AND r.due_at = a_due AND r.revision > 0 AND drover.holds_schedule(a_schedule);
    RETURN FOUND;
END $$;

DO $$
DECLARE
    made regprocedure;
BEGIN
    FOR made IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'drover'::regnamespace AND p.proname IN (
        'holds_schedule', 'report_schedules', 'report_runs', 'report_file', 'add_report_schedule', 'switch_report_schedule',
        'end_report_schedule', 'ask_report_run', 'mail_revised_report')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', made);
        IF made::text NOT LIKE '%holds_schedule%' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO drover_page', made);
        END IF;
    END LOOP;
END $$;
