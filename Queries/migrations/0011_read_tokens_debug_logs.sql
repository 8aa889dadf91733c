-- Programs that read have a role, which says what of a machine they see (Sources/Alerts/Threshold.swift, Audience); and
-- the debug logs of boxes, for developers.

ALTER TABLE drover.token ADD COLUMN role text NOT NULL DEFAULT 'farmer'
    CHECK (role IN ('farmer', 'dealer', 'developer'));

-- As in 0007, with the role: what a function returns cannot be changed in place.
DROP FUNCTION drover.use_token(bytea);
CREATE FUNCTION drover.use_token(wanted bytea)
RETURNS TABLE (token_id text, account text, scopes text[], role text, is_revoked boolean, is_expired boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE drover.token t SET last_used_at = date_trunc('hour', now())
        WHERE t.digest = wanted AND t.last_used_at IS DISTINCT FROM date_trunc('hour', now())
            AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now());
    RETURN QUERY SELECT t.token_id, t.account, t.scopes, t.role, t.revoked_at IS NOT NULL,
            coalesce(t.expires_at <= now(), false)
        FROM drover.token t WHERE t.digest = wanted;
END $$;
REVOKE EXECUTE ON FUNCTION drover.use_token(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.use_token(bytea) TO drover_api;

-- What boxes wrote for their developers, as it was fetched: a row a download. Not in the log of records: nothing follows
-- from it. PostgreSQL compresses the bytes.
CREATE TABLE drover.debug_log (
    debug_log_id  bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    vehicle       text        NOT NULL,
    fetched_at    timestamptz NOT NULL DEFAULT now(),
    first_at      timestamptz,                 -- of the lines that begin with a time; NULL: none does
    last_at       timestamptz,
    error_lines   int         NOT NULL,        -- by the level beside the time: Sources/Wire/DebugLogText.swift
    warning_lines int         NOT NULL,
    info_lines    int         NOT NULL,
    debug_lines   int         NOT NULL,
    other_lines   int         NOT NULL,
    log           bytea       NOT NULL CHECK (octet_length(log) <= 16777216)
);
CREATE INDEX debug_log_by_vehicle ON drover.debug_log (vehicle, debug_log_id);

-- Debug logs and nothing else; nobody else but the owner reads them.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_debug') THEN CREATE ROLE drover_debug NOLOGIN; END IF;
END $$;
GRANT USAGE ON SCHEMA drover TO drover_debug;
GRANT SELECT, INSERT, DELETE ON drover.debug_log TO drover_debug;
