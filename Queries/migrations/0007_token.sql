-- Tokens of programs. Only a digest is kept: who reads this table can show no token.
CREATE TABLE drover.token (
    token_id     text        PRIMARY KEY,
    account      text        NOT NULL,
    name         text,                                  -- as people call it
    scopes       text[]      NOT NULL,                  -- what it allows: Sources/Storage/TokenStore.swift
    digest       bytea       NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    made_at      timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz,                           -- NULL: never
    revoked_at   timestamptz,
    last_used_at timestamptz                            -- to the hour: a row is not written with each request
);

-- Whose token it is and whether it holds, for who has it in hand. The page's login may call this and not read the table:
-- it can neither list tokens nor make one valid.
CREATE FUNCTION drover.use_token(wanted bytea)
RETURNS TABLE (token_id text, account text, scopes text[], is_revoked boolean, is_expired boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.token t SET last_used_at = date_trunc('hour', now())
        WHERE t.digest = wanted AND t.last_used_at IS DISTINCT FROM date_trunc('hour', now())
            AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now());
    RETURN QUERY SELECT t.token_id, t.account, t.scopes, t.revoked_at IS NOT NULL, coalesce(t.expires_at <= now(), false)
        FROM drover.token t WHERE t.digest = wanted;
END $$;
REVOKE EXECUTE ON FUNCTION drover.use_token(bytea) FROM PUBLIC;

DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_api') THEN CREATE ROLE drover_api NOLOGIN; END IF;
END $$;
GRANT USAGE ON SCHEMA drover TO drover_api;
GRANT EXECUTE ON FUNCTION drover.use_token(bytea) TO drover_api;
