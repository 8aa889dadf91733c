-- Who is told of alerts, how, and what became of it. Workers write what they decided as events; `drover notify` makes notices of
-- them, one an account and occasion, and messages of notices that are due, one a channel. All of it is decided in transactions, so
-- that a crash loses and doubles nothing; what leaves does so at least once, with the message's id.

-- What an account wants. No row: the standards that stand here.
CREATE TABLE drover.notice_setting (
    account text NOT NULL,
    critical_manner text DEFAULT 'at_once'::text NOT NULL,
    critical_channels text[] DEFAULT '{mail,push,webhook}'::text[] NOT NULL,
    warning_manner text DEFAULT 'daily'::text NOT NULL,
    warning_channels text[] DEFAULT '{mail,webhook}'::text[] NOT NULL,
    daily_minute smallint DEFAULT 420 NOT NULL,  -- of the local day: 07:00
    quiet_from smallint,  -- minutes of the local day
    quiet_until smallint,
    quiet_critical boolean DEFAULT false NOT NULL,  -- quiet hours hold critical ones back, too
    backlog text DEFAULT 'daily'::text NOT NULL,
    repeat_min integer DEFAULT 240 NOT NULL,  -- 0: never
    made_machines boolean DEFAULT false NOT NULL,  -- a developer: also of machines that are seen as their maker
    webhook_url text,
    webhook_key bytea,  -- encrypted: Sources/Platform/Crypto/CodeKey.swift
    mail_ended_at timestamptz,  -- by one click in a mail
    CONSTRAINT notice_setting_pkey PRIMARY KEY (account),
    CONSTRAINT notice_setting_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT notice_setting_backlog_check CHECK ((backlog = ANY (ARRAY['as_usual'::text, 'daily'::text, 'never'::text]))),
    CONSTRAINT notice_setting_check CHECK ((((quiet_from IS NULL) = (quiet_until IS NULL)) AND ((webhook_url IS NULL) = (webhook_key IS NULL)))),
    CONSTRAINT notice_setting_critical_channels_check CHECK ((critical_channels <@ ARRAY['mail'::text, 'push'::text, 'webhook'::text])),
    CONSTRAINT notice_setting_critical_manner_check CHECK ((critical_manner = ANY (ARRAY['at_once'::text, 'daily'::text, 'never'::text]))),
    CONSTRAINT notice_setting_daily_minute_check CHECK (((daily_minute >= 0) AND (daily_minute <= 1439))),
    CONSTRAINT notice_setting_quiet_from_check CHECK (((quiet_from >= 0) AND (quiet_from <= 1439))),
    CONSTRAINT notice_setting_quiet_until_check CHECK (((quiet_until >= 0) AND (quiet_until <= 1439))),
    CONSTRAINT notice_setting_repeat_min_check CHECK (((repeat_min = 0) OR ((repeat_min >= 15) AND (repeat_min <= 10080)))),
    CONSTRAINT notice_setting_warning_channels_check CHECK ((warning_channels <@ ARRAY['mail'::text, 'push'::text, 'webhook'::text])),
    CONSTRAINT notice_setting_warning_manner_check CHECK ((warning_manner = ANY (ARRAY['at_once'::text, 'daily'::text, 'never'::text]))),
    CONSTRAINT notice_setting_webhook_key_check CHECK ((octet_length(webhook_key) <= 200)),
    CONSTRAINT notice_setting_webhook_url_check CHECK ((octet_length(webhook_url) <= 1000))
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.notice_setting TO drover_page;

-- Whom to tell when this account does not acknowledge a critical alert in time.
CREATE TABLE drover.notice_step (
    account text NOT NULL,
    step smallint NOT NULL,
    after_min integer NOT NULL,
    colleague text NOT NULL,
    CONSTRAINT notice_step_pkey PRIMARY KEY (account, step),
    CONSTRAINT notice_step_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT notice_step_after_min_check CHECK (((after_min >= 5) AND (after_min <= 1440))),
    CONSTRAINT notice_step_colleague_fkey FOREIGN KEY (colleague) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT notice_step_step_check CHECK (((step >= 1) AND (step <= 3)))
);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.notice_step TO drover_page;

-- One occasion that one account is told of, or is not, and why. `round`: of a repeat or step its number, of a correction the
-- alert's revision.
CREATE TABLE drover.notice (
    notice_id text NOT NULL,  -- of the columns up to round: the same whenever it is decided
    alert_id text NOT NULL,
    account text NOT NULL,
    occasion text NOT NULL,
    round integer NOT NULL,
    vehicle text NOT NULL,
    relation text NOT NULL,  -- why this account: owner, driver, dealer, developer, or for whom it steps in
    manner text NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,  -- why so, for people
    decided_at timestamptz DEFAULT now() NOT NULL,
    due_at timestamptz NOT NULL,
    settled_at timestamptz,
    CONSTRAINT notice_pkey PRIMARY KEY (notice_id),
    CONSTRAINT notice_manner_check CHECK ((manner = ANY (ARRAY['at_once'::text, 'daily'::text, 'never'::text]))),
    CONSTRAINT notice_notice_id_check CHECK ((notice_id ~ '^n-[0-9a-f]{32}$'::text)),
    CONSTRAINT notice_occasion_check CHECK ((occasion = ANY (ARRAY['opened'::text, 'worse'::text, 'repeated'::text, 'escalated'::text, 'resolved'::text, 'corrected'::text, 'withdrawn'::text]))),
    CONSTRAINT notice_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'told'::text, 'not_told'::text])))
);
CREATE INDEX notice_by_account ON drover.notice (account, decided_at);
CREATE INDEX notice_by_alert ON drover.notice (alert_id, account);
CREATE INDEX notice_due ON drover.notice (due_at) WHERE (state = 'waiting'::text);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.notice TO drover_relay;
GRANT SELECT ON drover.notice TO drover_reader, drover_sight;

-- What goes out on one channel: some notices of one account.
CREATE TABLE drover.notice_message (
    message_id text NOT NULL,  -- of the account, the channel and the notices
    account text NOT NULL,
    channel text NOT NULL,
    manner text NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    payload bytea,  -- encrypted; NULL: a mail (drover.mail has it), or settled
    tries integer DEFAULT 0 NOT NULL,
    try_at timestamptz DEFAULT now() NOT NULL,
    answer text,  -- the last one
    settled_at timestamptz,
    mailed_at timestamptz,  -- refused, so it was told by mail instead
    link bytea,  -- digest of what its link acknowledges with
    link_expires_at timestamptz,
    link_used_at timestamptz,
    has_answered boolean,  -- Whether whom it goes to answered at the latest try, with whatever: that of their account and channel. NULL: nobody was asked yet. Three messages of one customer to a server that said nothing held up another's critical alert for half a minute.
    CONSTRAINT notice_message_pkey PRIMARY KEY (message_id),
    CONSTRAINT notice_message_answer_check CHECK ((octet_length(answer) <= 500)),
    CONSTRAINT notice_message_channel_check CHECK ((channel = ANY (ARRAY['mail'::text, 'push'::text, 'webhook'::text]))),
    CONSTRAINT notice_message_link_check CHECK ((octet_length(link) = 32)),
    CONSTRAINT notice_message_message_id_check CHECK ((message_id ~ '^notice-[0-9a-f]{32}$'::text)),
    CONSTRAINT notice_message_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'sent'::text, 'refused'::text])))
);
CREATE INDEX notice_message_by_account ON drover.notice_message (account, made_at);
CREATE INDEX notice_message_due ON drover.notice_message (try_at) WHERE ((state = 'waiting'::text) AND (channel <> 'mail'::text));
CREATE INDEX notice_message_next ON drover.notice_message (((has_answered IS FALSE)), try_at) WHERE ((state = 'waiting'::text) AND (channel <> 'mail'::text));
CREATE INDEX notice_message_refused ON drover.notice_message (settled_at) WHERE ((state = 'refused'::text) AND (channel <> 'mail'::text) AND (mailed_at IS NULL));
CREATE UNIQUE INDEX notice_message_by_link ON drover.notice_message (link);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.notice_message TO drover_relay;
GRANT SELECT (message_id, account, channel, manner, state, made_at, tries, try_at, answer, settled_at, link_used_at) ON drover.notice_message TO drover_reader, drover_sight;

CREATE TABLE drover.notice_told (
    message_id text NOT NULL,
    notice_id text NOT NULL,
    CONSTRAINT notice_told_pkey PRIMARY KEY (message_id, notice_id),
    CONSTRAINT notice_told_message_id_fkey FOREIGN KEY (message_id) REFERENCES drover.notice_message(message_id) ON DELETE CASCADE,
    CONSTRAINT notice_told_notice_id_fkey FOREIGN KEY (notice_id) REFERENCES drover.notice(notice_id) ON DELETE CASCADE
);
CREATE INDEX notice_told_by_notice ON drover.notice_told (notice_id);
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.notice_told TO drover_relay;
GRANT SELECT ON drover.notice_told TO drover_reader, drover_sight;

CREATE TABLE drover.notice_event (
    event_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    alert_id text NOT NULL,
    transition text NOT NULL,
    told_at timestamptz NOT NULL,  -- when the record that says it was pushed
    CONSTRAINT notice_event_pkey PRIMARY KEY (event_id),
    CONSTRAINT notice_event_transition_check CHECK ((transition = ANY (ARRAY['opened'::text, 'worse'::text, 'resolved'::text, 'revised'::text, 'withdrawn'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_insert_threshold='-1');
GRANT DELETE, SELECT, UPDATE ON drover.notice_event TO drover_relay;
GRANT INSERT, SELECT ON drover.notice_event TO drover_writer;

-- A browser that pages may push to (W3C Push API).
CREATE TABLE drover.push_subscription (
    endpoint text NOT NULL,
    account text NOT NULL,
    p256dh bytea NOT NULL,
    auth bytea NOT NULL,
    agent text NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT push_subscription_pkey PRIMARY KEY (endpoint),
    CONSTRAINT push_subscription_account_fkey FOREIGN KEY (account) REFERENCES drover.account(account) ON DELETE CASCADE,
    CONSTRAINT push_subscription_agent_check CHECK ((octet_length(agent) <= 300)),
    CONSTRAINT push_subscription_auth_check CHECK ((octet_length(auth) = 16)),
    CONSTRAINT push_subscription_endpoint_check CHECK (((endpoint ~ '^https://'::text) AND (octet_length(endpoint) <= 1000))),
    CONSTRAINT push_subscription_p256dh_check CHECK ((octet_length(p256dh) = 65))
);
CREATE INDEX push_subscription_by_account ON drover.push_subscription (account);
GRANT DELETE ON drover.push_subscription TO drover_page;
GRANT DELETE, SELECT ON drover.push_subscription TO drover_relay;
GRANT SELECT (endpoint, account, agent, made_at) ON drover.push_subscription TO drover_page;

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
REVOKE EXECUTE ON FUNCTION drover.notice_accounts(the_accounts text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.notice_accounts(the_accounts text[]) TO drover_relay;

-- Who is near enough to these alerts to be told, and may see them: as Sources/Domain/Alerts/Rules/Threshold.swift, Audience, and the row policies
-- have it. Dealers from the confirmation on.
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
REVOKE EXECUTE ON FUNCTION drover.notice_people(the_alerts text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.notice_people(the_alerts text[]) TO drover_relay;

-- Alerts that nobody decided about for a minute: no relay runs. For who runs the installation.
CREATE FUNCTION drover.notices_undecided() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT count(*) FROM (SELECT FROM drover.notice_event e WHERE e.told_at < now() - interval '1 minute'
        AND drover.sight_roles() && ARRAY['administrator', 'operator'] LIMIT 10000) AS late
$$;
REVOKE EXECUTE ON FUNCTION drover.notices_undecided() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.notices_undecided() TO drover_page;

-- What a link would acknowledge, without doing it, of what the account may still say something of: a link in an old mail opens no more than its
-- reader has today. No row: unknown, used or too late.
CREATE FUNCTION drover.look_at_notice_link(a_link bytea) RETURNS TABLE (account text, alert_id text, vehicle text, parameter text)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT m.account, a.alert_id, a.vehicle, a.parameter
        FROM drover.notice_message m JOIN drover.notice_told t USING (message_id) JOIN drover.notice n USING (notice_id)
        JOIN drover.alert a USING (alert_id) JOIN drover.account p ON p.account = m.account
        WHERE m.link = a_link AND m.link_used_at IS NULL AND m.link_expires_at > now() AND p.disabled_at IS NULL
            AND a.kind = 'machine' AND a.state IN ('open', 'due_soon')
            AND drover.may_write(m.account, 'alert', 'machine', a.vehicle, now(), now()) = 'yes'
        ORDER BY 3, 4, 2 LIMIT 200
$$;
REVOKE EXECUTE ON FUNCTION drover.look_at_notice_link(a_link bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.look_at_notice_link(a_link bytea) TO drover_api;

CREATE FUNCTION drover.use_notice_link(a_link bytea) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE drover.notice_message m SET link_used_at = now() WHERE m.link = a_link AND m.link_used_at IS NULL
$$;
REVOKE EXECUTE ON FUNCTION drover.use_notice_link(a_link bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.use_notice_link(a_link bytea) TO drover_api;

-- By one click in a mail (RFC 8058). Who ended is not written about.
CREATE FUNCTION drover.end_notice_mail(an_account text) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO drover.notice_setting (account, mail_ended_at)
        SELECT p.account, now() FROM drover.account p WHERE p.account = an_account AND p.disabled_at IS NULL
        ON CONFLICT (account) DO UPDATE SET mail_ended_at = coalesce(drover.notice_setting.mail_ended_at, now())
$$;
REVOKE EXECUTE ON FUNCTION drover.end_notice_mail(an_account text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.end_notice_mail(an_account text) TO drover_api;

-- Whether nobody is to get mail there any more. Asked when it goes out.
CREATE FUNCTION drover.is_mail_over(a_recipient text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM drover.account a WHERE lower(a.mail) = lower(a_recipient) AND a.disabled_at IS NOT NULL)
$$;
REVOKE EXECUTE ON FUNCTION drover.is_mail_over(a_recipient text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.is_mail_over(a_recipient text) TO drover_relay;

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
REVOKE EXECUTE ON FUNCTION drover.subscribe_push(an_endpoint text, a_key bytea, an_auth bytea, an_agent text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.subscribe_push(an_endpoint text, a_key bytea, an_auth bytea, an_agent text) TO drover_page;

CREATE FUNCTION drover.tell_notice_event() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_notice', ''); END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION drover.tell_notice_message() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_notice_message', ''); END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER notice_event_tell AFTER INSERT ON drover.notice_event FOR EACH STATEMENT EXECUTE FUNCTION drover.tell_notice_event();
CREATE TRIGGER notice_message_tell AFTER INSERT ON drover.notice_message FOR EACH STATEMENT EXECUTE FUNCTION drover.tell_notice_message();
