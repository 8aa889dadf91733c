-- What one may do at a time, what the stream has come to, and what it hands on.
-- What one may do at a time is held by locks on rows of a table that nobody reads or writes but by the functions here. Advisory
-- locks are anybody's who may log in: a single one of an analyst's held up every log-in and the relay.
-- Taken from PUBLIC they could be only by a superuser, which the owner of the database need not be.
--
-- Times are timestamptz and end in _at; every other column ends in its unit. Sums are integers, so that a trip is
-- exactly the sum of its minutes.

CREATE TABLE drover.turn (
    what text NOT NULL,
    slot integer NOT NULL,  -- of what there is one for each account, vehicle and so on: 1,024 that they share; else 0
    CONSTRAINT turn_pkey PRIMARY KEY (what, slot)
);
INSERT INTO drover.turn (what, slot) SELECT what, 0 FROM unnest(ARRAY[
    'drover.account', 'drover.account_try', 'drover.code_request', 'drover.fleet', 'drover.notice', 'drover.partition_progress', 'drover.period',
    'drover.rules', 'drover.sighting_year', 'drover.taxonomy', 'drover.thresholds', 'drover.trip_rules']) AS what;
-- Who holds a turn holds up every 1024th neighbour; they are 6,000 small rows.
INSERT INTO drover.turn (what, slot) SELECT what, slot FROM unnest(ARRAY[
    'drover.account_identity', 'drover.alert_event', 'drover.dealership', 'drover.person_photo', 'drover.report_schedule',
    'drover.vehicle_change']) AS what CROSS JOIN generate_series(0, 1023) AS slot;

-- The relay's, as long as its session lives: a lock of this table, in a transaction that does nothing else and so holds back no
-- vacuum. Who may not write here cannot take it.
CREATE TABLE drover.relay_turn (
    nothing boolean
);
GRANT UPDATE ON drover.relay_turn TO drover_relay;

-- The fence: a worker moves next_offset by compare-and-set in the transaction that writes the results, so a
-- partition has one writer whatever the consumer group believes.
CREATE TABLE drover.partition_progress (
    topic text NOT NULL,
    partition integer NOT NULL,
    next_offset bigint NOT NULL,
    clock_at timestamptz,  -- the greatest tick seen
    replay_offset bigint NOT NULL,  -- records from here to next_offset are not in every row yet
    replay_clock_at timestamptz,  -- the clock at replay_offset
    last_record_hash bigint,  -- of the record before next_offset: a log that was replaced is recognised
    partition_count integer,
    topic_id text,
    create_time_before bigint,  -- records before this offset may be stamped by their senders: a person accepted them
    clock_waits text,
    replay_clock_waits text,  -- the same at replay_offset
    generation bigint DEFAULT 0 NOT NULL,  -- How often vehicles were set apart or came back. Who has loaded a partition before that writes nothing of it any more.
    CONSTRAINT partition_progress_pkey PRIMARY KEY (topic, partition)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.partition_progress TO drover_writer;
GRANT SELECT ON drover.partition_progress TO drover_reader, drover_relay;
GRANT SELECT (topic, partition, replay_offset) ON drover.partition_progress TO drover_page;

CREATE TABLE drover.outbox (
    outbox_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    topic text NOT NULL,
    key text NOT NULL,
    record_id text NOT NULL,  -- stable: a repeat of the same fact carries the same id
    record text NOT NULL,  -- the JSON value as it goes out
    made_at timestamptz DEFAULT now() NOT NULL,
    refused text,  -- why the broker will not take it; set aside for a person
    CONSTRAINT outbox_pkey PRIMARY KEY (outbox_id)
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_insert_threshold='-1');
CREATE INDEX outbox_refused ON drover.outbox (topic, made_at) WHERE (refused IS NOT NULL);
GRANT DELETE, SELECT ON drover.outbox TO drover_relay;
GRANT INSERT, SELECT ON drover.outbox TO drover_writer;
GRANT UPDATE (refused) ON drover.outbox TO drover_relay;

-- What could not be decoded. The primary key makes a repeat harmless.
CREATE TABLE drover.rejected (
    topic text NOT NULL,
    partition integer NOT NULL,
    record_offset bigint NOT NULL,
    reason text NOT NULL,
    first_bytes bytea NOT NULL,
    last_offset bigint NOT NULL,
    records bigint DEFAULT 1 NOT NULL,
    pushed_at timestamptz,
    retried_at timestamptz,
    CONSTRAINT rejected_pkey PRIMARY KEY (topic, partition, record_offset)
);
CREATE INDEX rejected_by_time ON drover.rejected (pushed_at);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.rejected TO drover_writer;
GRANT DELETE, SELECT ON drover.rejected TO drover_relay;

-- Vehicles that cannot be written, set apart from their partition: one refused by the database holds up no other. Each stands where
-- its partition stood when it was set apart, as in drover.partition_progress; its rows are those up to there.
CREATE TABLE drover.quarantine (
    topic text NOT NULL,
    partition integer NOT NULL,
    vehicle text NOT NULL,
    reason text NOT NULL,
    held_at timestamptz DEFAULT now() NOT NULL,
    next_offset bigint NOT NULL,
    clock_at timestamptz,
    replay_offset bigint NOT NULL,
    replay_clock_at timestamptz,
    last_record_hash bigint,
    clock_waits text,
    replay_clock_waits text,
    CONSTRAINT quarantine_pkey PRIMARY KEY (topic, partition, vehicle)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.quarantine TO drover_writer;

-- From when on raw rows are whole: `drover retention` has deleted what was before. What `drover verify` compares begins there.
CREATE TABLE drover.retained (
    relation text NOT NULL,
    from_at timestamptz NOT NULL,
    ran_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT retained_pkey PRIMARY KEY (relation)
);
GRANT SELECT ON drover.retained TO drover_reader, drover_writer;

-- Of what width new partitions are: a month, or a day where a month is too much to drop at once.
CREATE TABLE drover.period_width (
    relation text NOT NULL,
    width text DEFAULT 'month'::text NOT NULL,
    CONSTRAINT period_width_pkey PRIMARY KEY (relation),
    CONSTRAINT period_width_relation_check CHECK ((relation = ANY (ARRAY['vehicle_minute'::text, 'machine_reading'::text]))),
    CONSTRAINT period_width_width_check CHECK ((width = ANY (ARRAY['day'::text, 'month'::text])))
);
GRANT SELECT ON drover.period_width TO drover_reader, drover_writer;
INSERT INTO drover.period_width (relation) VALUES ('vehicle_minute'), ('machine_reading');

-- The partitions there are. A period is a day, a month or a year (UTC); no two of a table overlap.
CREATE TABLE drover.period (
    relation text NOT NULL,
    from_at timestamptz NOT NULL,
    to_at timestamptz NOT NULL,
    partition text NOT NULL,
    CONSTRAINT period_pkey PRIMARY KEY (relation, from_at),
    CONSTRAINT period_check CHECK ((to_at > from_at)),
    CONSTRAINT period_partition_key UNIQUE (partition),
    CONSTRAINT period_relation_check CHECK ((relation = ANY (ARRAY['vehicle_minute'::text, 'machine_reading'::text])))
);
GRANT SELECT ON drover.period TO drover_reader, drover_writer;

-- `what`, or `what` and a key behind a blank.
CREATE FUNCTION drover.turn_slot(a_name text) RETURNS int LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN position(' ' IN a_name) = 0 THEN 0 ELSE (hashtextextended(a_name, 0) & 1023)::int END
$$;
REVOKE EXECUTE ON FUNCTION drover.turn_slot(a_name text) FROM PUBLIC;

-- Until the end of the transaction. Of many in the order of their rows, so that two transactions do not wait for each other.
CREATE FUNCTION drover.take_turns(the_names text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    taken int; asked int;
BEGIN
    PERFORM FROM drover.turn t
        WHERE (t.what, t.slot) IN (SELECT split_part(n, ' ', 1), drover.turn_slot(n) FROM unnest(the_names) AS n)
        ORDER BY t.what, t.slot FOR UPDATE;
    GET DIAGNOSTICS taken = ROW_COUNT;
    SELECT count(DISTINCT (split_part(n, ' ', 1), drover.turn_slot(n))) INTO asked FROM unnest(the_names) AS n;
    IF taken <> asked THEN RAISE EXCEPTION 'there are no such turns as %', the_names; END IF;
END $$;
REVOKE EXECUTE ON FUNCTION drover.take_turns(the_names text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.take_turns(the_names text[]) TO drover_api, drover_page, drover_writer;

CREATE FUNCTION drover.take_turn(a_name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM drover.take_turns(ARRAY[a_name]);
END $$;
REVOKE EXECUTE ON FUNCTION drover.take_turn(a_name text) FROM PUBLIC;

-- False: somebody else has it.
CREATE FUNCTION drover.try_turn(a_name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM drover.turn t WHERE t.what = split_part(a_name, ' ', 1) AND t.slot = drover.turn_slot(a_name) FOR UPDATE SKIP LOCKED;
    RETURN FOUND;
END $$;
REVOKE EXECUTE ON FUNCTION drover.try_turn(a_name text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.try_turn(a_name text) TO drover_relay;

-- Beside others who share it.
CREATE FUNCTION drover.share_turn(a_name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM drover.turn t WHERE t.what = split_part(a_name, ' ', 1) AND t.slot = drover.turn_slot(a_name) FOR SHARE;
    IF NOT FOUND THEN RAISE EXCEPTION 'there is no such turn as %', a_name; END IF;
END $$;
REVOKE EXECUTE ON FUNCTION drover.share_turn(a_name text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.share_turn(a_name text) TO drover_writer;

-- Everybody who may log in may LISTEN and NOTIFY, and PostgreSQL knows no way to forbid it. Whoever listens and does not read keeps the
-- queue from being emptied, and when it is full every commit that tells something fails: ours. So nothing is told any more once it is half
-- full. Who is told looks at the tables anyway, and once a second without being told.
CREATE FUNCTION drover.tell_outbox() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_outbox', ''); END IF;
    RETURN NULL;
END $$;

-- Open pages are told that something was committed of cars or machines. That there is news is all that is said: pages ask for it
-- with their own rights.
CREATE FUNCTION drover.tell_fleet_progress() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_fleet', ''); END IF;
    RETURN NULL;
END $$;

-- How far the campuses of a partition are decided and committed: PARTITION OFFSET, all before it is in the tables.
CREATE FUNCTION drover.tell_dispatch_progress() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_dispatch_progress', NEW.partition || ' ' || NEW.replay_offset); END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER outbox_tell AFTER INSERT ON drover.outbox FOR EACH STATEMENT EXECUTE FUNCTION drover.tell_outbox();
CREATE TRIGGER dispatch_progress_tell AFTER INSERT OR UPDATE ON drover.partition_progress FOR EACH ROW WHEN ((new.topic = 'drover.dispatch'::text)) EXECUTE FUNCTION drover.tell_dispatch_progress();
CREATE TRIGGER fleet_progress_tell AFTER INSERT OR UPDATE ON drover.partition_progress FOR EACH ROW WHEN ((new.topic = ANY (ARRAY['drover.cars'::text, 'drover.machines'::text]))) EXECUTE FUNCTION drover.tell_fleet_progress();
