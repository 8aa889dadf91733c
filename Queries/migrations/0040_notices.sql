-- Who is told of alerts, how, and what became of it. Workers write what they decided as events; `drover notify` makes notices of
-- them, one an account and occasion, and messages of notices that are due, one a channel. All of it is decided in transactions, so
-- that a crash loses and doubles nothing; what leaves does so at least once, with the message's id.

CREATE TABLE drover.notice_event (
    event_id   bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    alert_id   text        NOT NULL,
    transition text        NOT NULL CHECK (transition IN ('opened', 'worse', 'resolved', 'revised', 'withdrawn')),
    told_at    timestamptz NOT NULL                  -- when the record that says it was pushed
);
-- Rows come and go, as in the outbox.
ALTER TABLE drover.notice_event SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_insert_threshold = -1);
CREATE FUNCTION drover.tell_notice_event() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM pg_notify('drover_notice', '');
    RETURN NULL;
END $$;
CREATE TRIGGER notice_event_tell AFTER INSERT ON drover.notice_event FOR EACH STATEMENT EXECUTE FUNCTION drover.tell_notice_event();

-- What an account wants. No row: the standards that stand here.
CREATE TABLE drover.notice_setting (
    account           text     PRIMARY KEY REFERENCES drover.account ON DELETE CASCADE,
    critical_manner   text     NOT NULL DEFAULT 'at_once' CHECK (critical_manner IN ('at_once', 'daily', 'never')),
    critical_channels text[]   NOT NULL DEFAULT '{mail,push,webhook}' CHECK (critical_channels <@ ARRAY['mail', 'push', 'webhook']),
    warning_manner    text     NOT NULL DEFAULT 'daily' CHECK (warning_manner IN ('at_once', 'daily', 'never')),
    warning_channels  text[]   NOT NULL DEFAULT '{mail,webhook}' CHECK (warning_channels <@ ARRAY['mail', 'push', 'webhook']),
    daily_minute      smallint NOT NULL DEFAULT 420 CHECK (daily_minute BETWEEN 0 AND 1439),   -- of the local day: 07:00
    quiet_from        smallint CHECK (quiet_from BETWEEN 0 AND 1439),                          -- minutes of the local day
    quiet_until       smallint CHECK (quiet_until BETWEEN 0 AND 1439),
    quiet_critical    boolean  NOT NULL DEFAULT false,  -- quiet hours hold critical ones back, too
    backlog           text     NOT NULL DEFAULT 'daily' CHECK (backlog IN ('as_usual', 'daily', 'never')),
    repeat_min        int      NOT NULL DEFAULT 240 CHECK (repeat_min = 0 OR repeat_min BETWEEN 15 AND 10080),  -- 0: never
    made_machines     boolean  NOT NULL DEFAULT false,  -- a developer: also of machines that are seen as their maker
    webhook_url       text     CHECK (octet_length(webhook_url) <= 1000),
    webhook_key       bytea    CHECK (octet_length(webhook_key) <= 200),        -- encrypted: Sources/Secrets/CodeKey.swift
    mail_ended_at     timestamptz,                      -- by one click in a mail
    CHECK ((quiet_from IS NULL) = (quiet_until IS NULL) AND (webhook_url IS NULL) = (webhook_key IS NULL))
);

-- Whom to tell when this account does not acknowledge a critical alert in time.
CREATE TABLE drover.notice_step (
    account   text     REFERENCES drover.account ON DELETE CASCADE,
    step      smallint CHECK (step BETWEEN 1 AND 3),
    after_min int      NOT NULL CHECK (after_min BETWEEN 5 AND 1440),
    colleague text     NOT NULL REFERENCES drover.account ON DELETE CASCADE,
    PRIMARY KEY (account, step)
);

-- A browser that pages may push to (W3C Push API).
CREATE TABLE drover.push_subscription (
    endpoint text        PRIMARY KEY CHECK (endpoint ~ '^https://' AND octet_length(endpoint) <= 1000),
    account  text        NOT NULL REFERENCES drover.account ON DELETE CASCADE,
    p256dh   bytea       NOT NULL CHECK (octet_length(p256dh) = 65),
    auth     bytea       NOT NULL CHECK (octet_length(auth) = 16),
    agent    text        NOT NULL CHECK (octet_length(agent) <= 300),
    made_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX push_subscription_by_account ON drover.push_subscription (account);

-- One occasion that one account is told of, or is not, and why. `round`: of a repeat or step its number, of a correction the
-- alert's revision.
CREATE TABLE drover.notice (
    notice_id  text        PRIMARY KEY CHECK (notice_id ~ '^n-[0-9a-f]{32}$'),   -- of the columns up to round: the same whenever it is decided
    alert_id   text        NOT NULL,
    account    text        NOT NULL,
    occasion   text        NOT NULL CHECK (occasion IN ('opened', 'worse', 'repeated', 'escalated', 'resolved', 'corrected', 'withdrawn')),
    round      int         NOT NULL,
    vehicle    text        NOT NULL,
    relation   text        NOT NULL,               -- why this account: owner, driver, dealer, developer, or for whom it steps in
    manner     text        NOT NULL CHECK (manner IN ('at_once', 'daily', 'never')),
    state      text        NOT NULL CHECK (state IN ('waiting', 'told', 'not_told')),
    reason     text        NOT NULL,               -- why so, for people
    decided_at timestamptz NOT NULL DEFAULT now(),
    due_at     timestamptz NOT NULL,
    settled_at timestamptz
);
CREATE INDEX notice_due ON drover.notice (due_at) WHERE state = 'waiting';
CREATE INDEX notice_by_account ON drover.notice (account, decided_at);
CREATE INDEX notice_by_alert ON drover.notice (alert_id, account);

-- What goes out on one channel: some notices of one account.
CREATE TABLE drover.notice_message (
    message_id      text        PRIMARY KEY CHECK (message_id ~ '^notice-[0-9a-f]{32}$'),  -- of the account, the channel and the notices
    account         text        NOT NULL,
    channel         text        NOT NULL CHECK (channel IN ('mail', 'push', 'webhook')),
    manner          text        NOT NULL,
    state           text        NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sent', 'refused')),
    made_at         timestamptz NOT NULL DEFAULT now(),
    payload         bytea,                           -- encrypted; NULL: a mail (drover.mail has it), or settled
    tries           int         NOT NULL DEFAULT 0,
    try_at          timestamptz NOT NULL DEFAULT now(),
    answer          text        CHECK (octet_length(answer) <= 500),   -- the last one
    settled_at      timestamptz,
    mailed_at       timestamptz,                     -- refused, so it was told by mail instead
    link            bytea       CHECK (octet_length(link) = 32),       -- digest of what its link acknowledges with
    link_expires_at timestamptz,
    link_used_at    timestamptz
);
CREATE INDEX notice_message_due ON drover.notice_message (try_at) WHERE state = 'waiting' AND channel <> 'mail';
CREATE INDEX notice_message_refused ON drover.notice_message (settled_at)
    WHERE state = 'refused' AND channel <> 'mail' AND mailed_at IS NULL;
CREATE INDEX notice_message_by_account ON drover.notice_message (account, made_at);
CREATE UNIQUE INDEX notice_message_by_link ON drover.notice_message (link);
CREATE FUNCTION drover.tell_notice_message() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM pg_notify('drover_notice_message', '');
    RETURN NULL;
END $$;
CREATE TRIGGER notice_message_tell AFTER INSERT ON drover.notice_message FOR EACH STATEMENT EXECUTE FUNCTION drover.tell_notice_message();

CREATE TABLE drover.notice_told (
    message_id text REFERENCES drover.notice_message ON DELETE CASCADE,
    notice_id  text REFERENCES drover.notice ON DELETE CASCADE,
    PRIMARY KEY (message_id, notice_id)
);
CREATE INDEX notice_told_by_notice ON drover.notice_told (notice_id);

-- MARK: whom

-- Who is near enough to these alerts to be told, and may see them: as Sources/Alerts/Threshold.swift, Audience, and
-- 0031_sight.sql have it. Dealers from the confirmation on.
CREATE FUNCTION drover.notice_people(the_alerts text[]) RETURNS TABLE (alert_id text, account text, relation text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1000 SET search_path = pg_catalog, pg_temp AS $$
    WITH near AS (
        SELECT a.alert_id, m.account, 'owner' AS relation, 1 AS rank, a.audience
            FROM drover.alert a
            JOIN drover.fleet_vehicle v ON v.kind = a.kind AND v.vehicle = a.vehicle
            JOIN drover.fleet f ON f.fleet = v.fleet
            JOIN drover.fleet_member m ON m.fleet IN (f.fleet, f.part_of)
            JOIN drover.account p ON p.account = m.account
            WHERE a.alert_id = ANY (the_alerts) AND p.roles && ARRAY['farmer', 'fleet_manager']
        UNION ALL
        SELECT a.alert_id, d.dealer, 'dealer', 2, a.audience
            FROM drover.alert a JOIN drover.dealership d ON d.vehicle = a.vehicle
            JOIN drover.account p ON p.account = d.dealer
            WHERE a.alert_id = ANY (the_alerts) AND a.kind = 'machine' AND d.confirmed_at <= a.opened_at AND d.ended_at IS NULL
                AND 'dealer' = ANY (p.roles)
        UNION ALL
        SELECT a.alert_id, a.account, 'driver', 3, a.audience
            FROM drover.alert a WHERE a.alert_id = ANY (the_alerts) AND a.kind = 'car'
        UNION ALL
        SELECT a.alert_id, p.account, 'developer', 4, a.audience
            FROM drover.alert a CROSS JOIN drover.account p
            WHERE a.alert_id = ANY (the_alerts) AND a.kind = 'machine' AND 'developer' = ANY (p.roles)
    )
    SELECT DISTINCT ON (n.alert_id, n.account) n.alert_id, n.account, n.relation
        FROM near n JOIN drover.account p USING (account)
        WHERE p.disabled_at IS NULL AND p.confirmed_at IS NOT NULL
            AND CASE n.audience WHEN 'farmer' THEN true
                                WHEN 'dealer' THEN p.roles && ARRAY['dealer', 'developer', 'administrator', 'operator']
                                ELSE p.roles && ARRAY['developer', 'administrator', 'operator'] END
        ORDER BY n.alert_id, n.account, n.rank
$$;

-- What is known of these accounts that matters for telling them something.
CREATE FUNCTION drover.notice_accounts(the_accounts text[])
RETURNS TABLE (account text, mail text, name text, units text, zone text, is_enabled boolean, pushes bigint,
    steps int[], colleagues text[], setting drover.notice_setting)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.account, p.mail, trim(p.first_name || ' ' || p.last_name), p.units, p.zone,
        p.disabled_at IS NULL AND p.confirmed_at IS NOT NULL,
        (SELECT count(*) FROM drover.push_subscription b WHERE b.account = p.account),
        (SELECT coalesce(array_agg(t.after_min ORDER BY t.step), '{}') FROM drover.notice_step t WHERE t.account = p.account),
        (SELECT coalesce(array_agg(t.colleague ORDER BY t.step), '{}') FROM drover.notice_step t WHERE t.account = p.account),
        s
        FROM drover.account p LEFT JOIN drover.notice_setting s USING (account)
        WHERE p.account = ANY (the_accounts)
$$;
REVOKE EXECUTE ON FUNCTION drover.notice_people(text[]), drover.notice_accounts(text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.notice_people(text[]), drover.notice_accounts(text[]) TO drover_relay;

GRANT INSERT ON drover.notice_event TO drover_writer;
GRANT SELECT, UPDATE, DELETE ON drover.notice_event TO drover_relay;
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.notice, drover.notice_message, drover.notice_told TO drover_relay;
GRANT SELECT, DELETE ON drover.push_subscription TO drover_relay;
GRANT SELECT ON drover.alert, drover.alert_now, drover.acknowledgement, drover.silence TO drover_relay;
GRANT SELECT (vehicle, dealer, confirmed_at, ended_at) ON drover.dealership TO drover_relay;
GRANT SELECT (vehicle, kind, name) ON drover.registration TO drover_relay;
GRANT INSERT ON drover.mail TO drover_relay;

-- MARK: pages

-- Everybody sees what was told, or not told, to themselves; who runs the installation sees all.
ALTER TABLE drover.notice ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.notice_message ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.notice_told ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.notice_setting ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.notice_step ENABLE ROW LEVEL SECURITY;
ALTER TABLE drover.push_subscription ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_rows_of_drover_relay ON drover.notice TO drover_relay USING (true) WITH CHECK (true);
CREATE POLICY all_rows_of_drover_relay ON drover.notice_message TO drover_relay USING (true) WITH CHECK (true);
CREATE POLICY all_rows_of_drover_relay ON drover.notice_told TO drover_relay USING (true) WITH CHECK (true);
CREATE POLICY all_rows_of_drover_relay ON drover.push_subscription TO drover_relay USING (true) WITH CHECK (true);

-- People who are in a fleet with the reader: whom one can ask to step in.
CREATE FUNCTION drover.colleagues() RETURNS TABLE (account text, name text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 50 SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT p.account, trim(p.first_name || ' ' || p.last_name)
        FROM drover.fleet_member mine JOIN drover.fleet_member m USING (fleet) JOIN drover.account p ON p.account = m.account
        WHERE mine.account = drover.sight_account() AND p.account <> mine.account AND p.disabled_at IS NULL
        ORDER BY 2, 1 LIMIT 500
$$;

-- A browser that several people log in with belongs to the last one. Twenty an account; the oldest go first.
CREATE FUNCTION drover.subscribe_push(an_endpoint text, a_key bytea, an_auth bytea, an_agent text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO drover.push_subscription (endpoint, account, p256dh, auth, agent)
        VALUES (an_endpoint, drover.sight_account(), a_key, an_auth, an_agent)
        ON CONFLICT (endpoint) DO UPDATE SET account = EXCLUDED.account, p256dh = EXCLUDED.p256dh, auth = EXCLUDED.auth,
            agent = EXCLUDED.agent, made_at = now();
    DELETE FROM drover.push_subscription s WHERE s.endpoint IN (SELECT o.endpoint FROM drover.push_subscription o
        WHERE o.account = drover.sight_account() ORDER BY o.made_at DESC, o.endpoint OFFSET 20);
END $$;

-- Alerts that nobody decided about for a minute: no relay runs. For who runs the installation.
CREATE FUNCTION drover.notices_undecided() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT count(*) FROM (SELECT FROM drover.notice_event e WHERE e.told_at < now() - interval '1 minute'
        AND drover.sight_roles() && ARRAY['administrator', 'operator'] LIMIT 10000) AS late
$$;

CREATE POLICY sight ON drover.notice FOR SELECT TO drover_sight USING (account = (SELECT drover.sight_account()) OR (SELECT drover.sees_all()));
CREATE POLICY sight ON drover.notice_message FOR SELECT TO drover_sight
    USING (account = (SELECT drover.sight_account()) OR (SELECT drover.sees_all()));
CREATE POLICY sight ON drover.notice_told FOR SELECT TO drover_sight
    USING (notice_id IN (SELECT n.notice_id FROM drover.notice n));
CREATE POLICY own ON drover.notice_setting TO drover_page
    USING (account = (SELECT drover.sight_account())) WITH CHECK (account = (SELECT drover.sight_account()));
CREATE POLICY own ON drover.notice_step TO drover_page USING (account = (SELECT drover.sight_account()))
    WITH CHECK (account = (SELECT drover.sight_account()) AND colleague IN (SELECT c.account FROM drover.colleagues() c));
CREATE POLICY own ON drover.push_subscription TO drover_page USING (account = (SELECT drover.sight_account()));
GRANT SELECT ON drover.notice, drover.notice_told TO drover_sight;
GRANT SELECT (message_id, account, channel, manner, state, made_at, tries, try_at, answer, settled_at, link_used_at)
    ON drover.notice_message TO drover_sight;
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.notice_setting, drover.notice_step TO drover_page;
GRANT SELECT (endpoint, account, agent, made_at), DELETE ON drover.push_subscription TO drover_page;
REVOKE EXECUTE ON FUNCTION drover.colleagues(), drover.subscribe_push(text, bytea, bytea, text), drover.notices_undecided() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.colleagues(), drover.subscribe_push(text, bytea, bytea, text), drover.notices_undecided() TO drover_page;

-- MARK: links in mails

-- What a link would acknowledge, without doing it. No row: unknown, used or too late.
CREATE FUNCTION drover.look_at_notice_link(a_link bytea) RETURNS TABLE (account text, alert_id text, vehicle text, parameter text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT m.account, a.alert_id, a.vehicle, a.parameter
        FROM drover.notice_message m JOIN drover.notice_told t USING (message_id) JOIN drover.notice n USING (notice_id)
        JOIN drover.alert a USING (alert_id) JOIN drover.account p ON p.account = m.account
        WHERE m.link = a_link AND m.link_used_at IS NULL AND m.link_expires_at > now() AND p.disabled_at IS NULL
            AND a.kind = 'machine' AND a.state IN ('open', 'due_soon')
        ORDER BY 3, 4, 2 LIMIT 200
$$;
CREATE FUNCTION drover.use_notice_link(a_link bytea) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE drover.notice_message m SET link_used_at = now() WHERE m.link = a_link AND m.link_used_at IS NULL
$$;
-- By one click in a mail (RFC 8058).
CREATE FUNCTION drover.end_notice_mail(an_account text) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO drover.notice_setting (account, mail_ended_at)
        SELECT p.account, now() FROM drover.account p WHERE p.account = an_account
        ON CONFLICT (account) DO UPDATE SET mail_ended_at = coalesce(drover.notice_setting.mail_ended_at, now())
$$;
REVOKE EXECUTE ON FUNCTION drover.look_at_notice_link(bytea), drover.use_notice_link(bytea), drover.end_notice_mail(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.look_at_notice_link(bytea), drover.use_notice_link(bytea), drover.end_notice_mail(text) TO drover_api;
