-- Tokens of programs and people, and mails that wait to be sent.

-- Tokens of programs. Only a digest is kept: who reads this table can show no token.
CREATE TABLE drover.token (
    token_id text NOT NULL,
    account text NOT NULL,
    name text,  -- as people call it
    scopes text[] NOT NULL,  -- what it allows: Sources/Stream/Storage/Accounts/TokenStore.swift
    digest bytea NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz,  -- NULL: never
    revoked_at timestamptz,
    last_used_at timestamptz,  -- to the hour: a row is not written with each request
    role text DEFAULT 'farmer'::text NOT NULL,
    is_own boolean DEFAULT false NOT NULL,  -- made on the account's page
    CONSTRAINT token_pkey PRIMARY KEY (token_id),
    CONSTRAINT token_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT token_digest_key UNIQUE (digest),
    CONSTRAINT token_is_not_of_the_installation CHECK ((account <> 'installation'::text)),
    CONSTRAINT token_role_check CHECK ((role = ANY (ARRAY['farmer'::text, 'dealer'::text, 'developer'::text])))
);
CREATE INDEX token_by_account ON drover.token (account);

-- Mail to be sent, written in the transaction that it tells of; `drover notify` deletes it when the server has taken it.
CREATE TABLE drover.mail (
    mail_id text NOT NULL,  -- of the Message-ID: the same at each try
    recipient text NOT NULL,
    subject text NOT NULL,
    body bytea NOT NULL,  -- UTF-8
    is_sealed boolean DEFAULT false NOT NULL,  -- the body is encrypted: Sources/Platform/Crypto/CodeKey.swift
    made_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,  -- nobody needs it any more
    tries integer DEFAULT 0 NOT NULL,
    try_at timestamptz DEFAULT now() NOT NULL,  -- not before
    refused text,  -- why it was given up; kept for a week
    html bytea,
    leave_url bytea,  -- where one click ends such mails (RFC 8058); encrypted alike
    refers_to text[] DEFAULT '{}'::text[] NOT NULL,  -- mail_id of mails that it belongs to
    is_for_person boolean DEFAULT false NOT NULL,  -- Codes are for people of a roster, whose mail address an account that ended may have, too.
    CONSTRAINT mail_pkey PRIMARY KEY (mail_id),
    CONSTRAINT mail_body_check CHECK ((octet_length(body) <= 1000000)),
    CONSTRAINT mail_html_check CHECK ((octet_length(html) <= 4000000)),
    CONSTRAINT mail_leave_url_check CHECK ((octet_length(leave_url) <= 2000)),
    CONSTRAINT mail_mail_id_check CHECK ((mail_id ~ '^[A-Za-z0-9-]{1,64}$'::text)),
    CONSTRAINT mail_refers_to_check CHECK ((cardinality(refers_to) <= 20))
);
CREATE INDEX mail_by_time ON drover.mail (try_at) WHERE (refused IS NULL);
GRANT DELETE, INSERT, SELECT ON drover.mail TO drover_relay;
GRANT UPDATE (tries, try_at, refused) ON drover.mail TO drover_relay;

CREATE TABLE drover.mail_file (
    mail_id text NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT mail_file_pkey PRIMARY KEY (mail_id, name),
    CONSTRAINT mail_file_content_check CHECK ((octet_length(content) <= 25000000)),
    CONSTRAINT mail_file_mail_id_fkey FOREIGN KEY (mail_id) REFERENCES drover.mail(mail_id) ON DELETE CASCADE,
    CONSTRAINT mail_file_media_type_check CHECK ((media_type ~ '^[a-z]+/[A-Za-z0-9.+-]{1,100}$'::text)),
    CONSTRAINT mail_file_name_check CHECK ((name ~ '^[A-Za-z0-9][A-Za-z0-9._ -]{0,120}$'::text))
);
GRANT INSERT, SELECT ON drover.mail_file TO drover_relay;

-- Whose token it is and whether it holds, for who has it in hand. The page's login may call this and not read the table:
-- it can neither list tokens nor make one valid.
CREATE FUNCTION drover.use_token(wanted bytea)
RETURNS TABLE (token_id text, account text, scopes text[], role text, is_revoked boolean, is_expired boolean, is_of_account boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.token t SET last_used_at = date_trunc('hour', now())
        WHERE t.digest = wanted AND t.last_used_at IS DISTINCT FROM date_trunc('hour', now())
            AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now());
    RETURN QUERY SELECT t.token_id, t.account, t.scopes, t.role, t.revoked_at IS NOT NULL OR a.disabled_at IS NOT NULL,
            coalesce(t.expires_at <= now(), false), a.account IS NOT NULL
        FROM drover.token t LEFT JOIN drover.account a ON a.account = t.account WHERE t.digest = wanted;
END $$;
REVOKE EXECUTE ON FUNCTION drover.use_token(wanted bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.use_token(wanted bytea) TO drover_api, drover_survey;

-- All that hold, also those that an operator made.
CREATE FUNCTION drover.tokens_of_session(a_session bytea)
RETURNS TABLE (token_id text, name text, scopes text[], is_own boolean, made_at timestamptz, expires_at timestamptz, last_used_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT t.token_id, t.name, t.scopes, t.is_own, t.made_at, t.expires_at, t.last_used_at
        FROM drover.account_session s JOIN drover.account a USING (account) JOIN drover.token t USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL AND t.revoked_at IS NULL
            AND (t.expires_at IS NULL OR t.expires_at > now())
        ORDER BY t.made_at DESC, t.token_id LIMIT 200
$$;
REVOKE EXECUTE ON FUNCTION drover.tokens_of_session(a_session bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.tokens_of_session(a_session bytea) TO drover_api;

-- What an app password may allow, by the roles of whose it is; with the audit log, for who sees its page.
CREATE FUNCTION drover.own_scopes(the_roles text[]) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(scope ORDER BY place), '{}') FROM (VALUES
        (1, 'upload', ARRAY['farmer', 'driver', 'fleet_manager', 'operator', 'administrator']),
        (2, 'read', ARRAY['farmer', 'dealer', 'developer', 'driver', 'fleet_manager', 'dispatcher', 'analyst', 'operator', 'administrator']),
        (3, 'account', ARRAY['farmer', 'driver', 'fleet_manager', 'operator', 'administrator']),
        (4, 'survey', ARRAY['surveyor']),
        (5, 'export', ARRAY['researcher', 'analyst', 'administrator']),
        -- Who finds /query.
        (6, 'query', ARRAY['analyst', 'researcher', 'dispatcher', 'ranger', 'fleet_manager', 'developer', 'operator', 'administrator']),
        (7, 'audit', ARRAY['administrator'])) AS allowed (place, scope, roles)
        WHERE allowed.roles && the_roles
$$;
REVOKE EXECUTE ON FUNCTION drover.own_scopes(the_roles text[]) FROM PUBLIC;

CREATE FUNCTION drover.own_scopes_of_session(a_session bytea) RETURNS text[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT drover.own_scopes(a.roles) FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL
$$;
REVOKE EXECUTE ON FUNCTION drover.own_scopes_of_session(a_session bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.own_scopes_of_session(a_session bytea) TO drover_api;

-- At most twenty that hold; of revoked ones the last hundred are kept. False: too many, or scopes that the roles do not allow.
CREATE FUNCTION drover.add_own_token(a_session bytea, new_id text, a_digest bytea, a_name text, the_scopes text[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own drover.account;
BEGIN
    SELECT a.* INTO own FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL FOR UPDATE OF a;
    IF NOT FOUND OR octet_length(a_name) > 200 OR cardinality(the_scopes) = 0 OR NOT the_scopes <@ drover.own_scopes(own.roles)
        OR 20 <= (SELECT count(*) FROM drover.token t WHERE t.account = own.account AND t.is_own AND t.revoked_at IS NULL) THEN
        RETURN false;
    END IF;
    DELETE FROM drover.token t WHERE t.token_id IN (
        SELECT o.token_id FROM drover.token o WHERE o.account = own.account AND o.is_own AND o.revoked_at IS NOT NULL
            ORDER BY o.revoked_at DESC, o.token_id OFFSET 100);
    INSERT INTO drover.token (token_id, digest, account, name, scopes, role, is_own)
        VALUES (new_id, a_digest, own.account, a_name, the_scopes, CASE WHEN 'developer' = ANY (own.roles) THEN 'developer'
            WHEN 'dealer' = ANY (own.roles) AND NOT 'farmer' = ANY (own.roles) THEN 'dealer' ELSE 'farmer' END, true);
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION drover.add_own_token(a_session bytea, new_id text, a_digest bytea, a_name text, the_scopes text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.add_own_token(a_session bytea, new_id text, a_digest bytea, a_name text, the_scopes text[]) TO drover_api;

CREATE FUNCTION drover.revoke_own_token(a_session bytea, a_token text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE drover.token t SET revoked_at = coalesce(t.revoked_at, now())
        FROM drover.account_session s JOIN drover.account a USING (account)
        WHERE s.digest = a_session AND drover.is_session_open(s) AND a.disabled_at IS NULL AND t.account = s.account AND t.token_id = a_token
$$;
REVOKE EXECUTE ON FUNCTION drover.revoke_own_token(a_session bytea, a_token text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.revoke_own_token(a_session bytea, a_token text) TO drover_api;

CREATE FUNCTION drover.tell_mail() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify('drover_mail', ''); END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER mail_tell AFTER INSERT ON drover.mail FOR EACH STATEMENT EXECUTE FUNCTION drover.tell_mail();
