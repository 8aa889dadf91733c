-- Cars' minutes and machines' readings lie in partitions by time, so that what is old goes as whole tables
-- (docs/decisions/0019-periods.md).

-- The partitions there are. A period is a day, a month or a year (UTC); no two of a table overlap.
CREATE TABLE drover.period (
    relation  text        NOT NULL CHECK (relation IN ('vehicle_minute', 'machine_reading')),
    from_at   timestamptz NOT NULL,
    to_at     timestamptz NOT NULL CHECK (to_at > from_at),
    partition text        NOT NULL UNIQUE,
    PRIMARY KEY (relation, from_at)
);
GRANT SELECT ON drover.period TO drover_writer, drover_reader;

-- Of what width new partitions are: a month, or a day where a month is too much to drop at once.
CREATE TABLE drover.period_width (
    relation text PRIMARY KEY CHECK (relation IN ('vehicle_minute', 'machine_reading')),
    width    text NOT NULL DEFAULT 'month' CHECK (width IN ('day', 'month'))
);
INSERT INTO drover.period_width (relation) VALUES ('vehicle_minute'), ('machine_reading');
GRANT SELECT ON drover.period_width TO drover_writer, drover_reader;

-- Makes the partition that holds a time where it is missing. Of a table that has none (a replay's) it makes nothing.
-- Attached and not made in place: that would wait for whoever reads the table, and hold up all others meanwhile.
CREATE FUNCTION drover.make_period(a_table regclass, a_time timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    a_relation text; time_column text; a_width text; first_at timestamptz; last_at timestamptz; made text;
BEGIN
    CASE a_table
        WHEN to_regclass('drover.vehicle_minute') THEN a_relation := 'vehicle_minute'; time_column := 'minute_at';
        WHEN to_regclass('drover.machine_reading') THEN a_relation := 'machine_reading'; time_column := 'read_at';
        ELSE RETURN;
    END CASE;
    PERFORM FROM drover.period p WHERE p.relation = a_relation AND p.from_at <= a_time AND p.to_at > a_time;
    IF FOUND THEN RETURN; END IF;
    -- One at a time: the second finds what the first has made.
    PERFORM pg_advisory_xact_lock(hashtextextended('drover.period', 0));
    PERFORM FROM drover.period p WHERE p.relation = a_relation AND p.from_at <= a_time AND p.to_at > a_time;
    IF FOUND THEN RETURN; END IF;
    SELECT w.width INTO STRICT a_width FROM drover.period_width w WHERE w.relation = a_relation;
    -- Recordings of years ago must not make hundreds of partitions: years for what is older than two. Where months or days of
    -- that time are there already, the narrower ones.
    FOREACH a_width IN ARRAY CASE
        WHEN a_time < now() - interval '2 years' THEN ARRAY['year', 'month', 'day']
        WHEN a_width = 'month' OR a_time < now() - interval '40 days' THEN ARRAY['month', 'day']
        ELSE ARRAY['day'] END
    LOOP
        first_at := date_trunc(a_width, a_time);
        last_at := first_at + ('1 ' || a_width)::interval;
        EXIT WHEN NOT EXISTS (
            SELECT FROM drover.period p WHERE p.relation = a_relation AND p.from_at < last_at AND p.to_at > first_at);
    END LOOP;
    made := a_relation || to_char(first_at, CASE a_width WHEN 'year' THEN '_YYYY' WHEN 'month' THEN '_YYYY_MM' ELSE '_YYYY_MM_DD' END);
    EXECUTE format('CREATE TABLE drover.%1$I (LIKE drover.%2$I INCLUDING ALL, CONSTRAINT period CHECK (%3$I >= %4$L AND %3$I < %5$L))',
        made, a_relation, time_column, first_at, last_at);
    -- The check tells that its rows are of the period: attaching reads none of them.
    EXECUTE format('ALTER TABLE drover.%I ATTACH PARTITION drover.%I FOR VALUES FROM (%L) TO (%L)', a_relation, made, first_at, last_at);
    EXECUTE format('ALTER TABLE drover.%I DROP CONSTRAINT period', made);
    INSERT INTO drover.period (relation, from_at, to_at, partition) VALUES (a_relation, first_at, last_at, made);
END $$;
REVOKE EXECUTE ON FUNCTION drover.make_period(regclass, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.make_period(regclass, timestamptz) TO drover_writer;

-- MARK: the tables, made again with partitions

DO $$
DECLARE
    moved text[]; said text; told text[];
BEGIN
    FOREACH moved SLICE 1 IN ARRAY ARRAY[['vehicle_minute', 'minute_at'], ['machine_reading', 'read_at']] LOOP
        -- Who may do what, as it stands: read before the name changes, which policies' texts show.
        told := ARRAY(
            SELECT format('CREATE POLICY %I ON drover.%I FOR %s TO %s%s%s', p.policyname, moved[1], p.cmd,
                (SELECT string_agg(quote_ident(r), ', ') FROM unnest(p.roles) r),
                ' USING (' || p.qual || ')', ' WITH CHECK (' || p.with_check || ')')
            FROM pg_policies p WHERE p.schemaname = 'drover' AND p.tablename = moved[1] ORDER BY p.policyname)
            || ARRAY(
            SELECT format('GRANT %s ON drover.%I TO %I', a.privilege_type, moved[1], a.grantee::regrole::text)
            FROM pg_class c, aclexplode(c.relacl) a
            WHERE c.oid = format('drover.%I', moved[1])::regclass AND a.grantee <> c.relowner AND a.grantee <> 0)
            || ARRAY(
            SELECT format('GRANT %s (%I) ON drover.%I TO %I', a.privilege_type, c.attname, moved[1], a.grantee::regrole::text)
            FROM pg_attribute c, aclexplode(c.attacl) a
            WHERE c.attrelid = format('drover.%I', moved[1])::regclass AND a.grantee <> 0);
        EXECUTE format('ALTER TABLE drover.%I RENAME TO %I', moved[1], moved[1] || '_before');
        EXECUTE format('ALTER TABLE drover.%I RENAME CONSTRAINT %I TO %I', moved[1] || '_before', moved[1] || '_pkey', moved[1] || '_before_pkey');
        EXECUTE format('CREATE TABLE drover.%I (LIKE drover.%I INCLUDING ALL) PARTITION BY RANGE (%I)', moved[1], moved[1] || '_before', moved[2]);
        EXECUTE format('ALTER TABLE drover.%I ENABLE ROW LEVEL SECURITY', moved[1]);
        FOREACH said IN ARRAY told LOOP EXECUTE said; END LOOP;
        EXECUTE format('SELECT drover.make_period(%L::regclass, m) FROM (SELECT DISTINCT date_trunc(''day'', %I, ''UTC'') AS m FROM drover.%I ORDER BY 1) days',
            'drover.' || moved[1], moved[2], moved[1] || '_before');
        EXECUTE format('INSERT INTO drover.%I SELECT * FROM drover.%I', moved[1], moved[1] || '_before');
        -- The version before this one writes to what is there: it may go on for two months after the upgrade.
        EXECUTE format('SELECT drover.make_period(%L::regclass, now() + m * interval ''1 month'') FROM generate_series(-1, 2) m', 'drover.' || moved[1]);
        -- What analysts read, of the new table: the same columns, so that rights and comments stay.
        said := replace(pg_get_viewdef(format('analyst.%I', moved[1])::regclass), moved[1] || '_before', moved[1]);
        EXECUTE format('CREATE OR REPLACE VIEW analyst.%I WITH (security_invoker) AS %s', moved[1], said);
        EXECUTE format('DROP TABLE drover.%I', moved[1] || '_before');
    END LOOP;
END $$;
