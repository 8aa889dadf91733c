-- Versions of surveys that a collector is to get: written in the transaction that stores them, for accounts that have switched
-- it on (`forward_surveys`), and brought out by `drover notify`.

CREATE TABLE drover.forward (
    site       text        NOT NULL,
    survey     text        NOT NULL,
    version    int         NOT NULL,
    account    text        NOT NULL,                -- that handed the survey in
    state      text        NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sent', 'refused', 'stopped')),
    tries      int         NOT NULL DEFAULT 0,
    try_at     timestamptz NOT NULL DEFAULT now(),  -- not before
    made_at    timestamptz NOT NULL DEFAULT now(),
    settled_at timestamptz,
    status     int,                                 -- of the last answer (HTTP); NULL: there was none
    answer     text CHECK (octet_length(answer) <= 500),    -- the collector's words, or what went wrong
    PRIMARY KEY (site, survey, version)
);
CREATE INDEX forward_by_time ON drover.forward (try_at) WHERE state = 'waiting';
CREATE INDEX forward_by_state ON drover.forward (state, made_at);

-- Until when the collector wants to be left alone, for all relays.
CREATE TABLE drover.forward_pause (
    is_only  boolean     PRIMARY KEY DEFAULT true CHECK (is_only),
    until_at timestamptz NOT NULL
);

CREATE INDEX account_settings_by_account ON drover.account_settings (account, in_force_at);

-- Whether an account passes surveys on now: its latest settings. Standard: no.
CREATE FUNCTION drover.forwards_surveys(an_account text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce((
        SELECT (s.settings::jsonb ->> 'forward_surveys')::boolean FROM drover.account_settings s
        WHERE s.account = an_account ORDER BY s.in_force_at DESC, s.record_id COLLATE "C" DESC LIMIT 1), false)
$$;

-- The next version, held until the end of the transaction. The people of the survey are not in what it returns.
CREATE FUNCTION drover.next_forward()
RETURNS TABLE (site text, survey text, version int, tries int, is_wanted boolean, is_sensitive boolean, body text)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH next AS (
        SELECT f.site, f.survey, f.version, f.account, f.tries FROM drover.forward f
        WHERE f.state = 'waiting' AND f.try_at <= now()
            AND NOT EXISTS (SELECT FROM drover.forward_pause p WHERE p.until_at > now())
            AND NOT EXISTS (SELECT FROM drover.forward o
                WHERE o.site = f.site AND o.survey = f.survey AND o.version < f.version AND o.state = 'waiting')
        ORDER BY f.try_at, f.site, f.survey LIMIT 1 FOR UPDATE OF f SKIP LOCKED
    )
    SELECT n.site, n.survey, n.version, n.tries, drover.forwards_surveys(n.account),
        EXISTS (SELECT FROM drover.sighting s WHERE s.site = n.site AND s.is_sensitive),
        (v.body::jsonb - 'surveyors')::text
    FROM next n LEFT JOIN drover.survey_version v
        ON v.site = n.site AND v.survey = n.survey AND v.version = n.version
$$;

REVOKE EXECUTE ON FUNCTION drover.forwards_surveys(text), drover.next_forward() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.forwards_surveys(text) TO drover_writer;
GRANT EXECUTE ON FUNCTION drover.next_forward() TO drover_relay;
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.forward TO drover_writer;
GRANT SELECT (site, survey, version, tries), UPDATE (state, tries, try_at, settled_at, status, answer) ON drover.forward TO drover_relay;
GRANT SELECT, INSERT, UPDATE ON drover.forward_pause TO drover_relay;
-- What names stand for.
GRANT SELECT ON drover.taxon, drover.taxon_name TO drover_relay;
