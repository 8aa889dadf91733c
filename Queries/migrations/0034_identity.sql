-- Accounts that log in at an OpenID Connect provider: who they are there.

CREATE TABLE drover.account_identity (
    issuer    text        NOT NULL CHECK (octet_length(issuer) BETWEEN 1 AND 2000),
    subject   text        NOT NULL CHECK (octet_length(subject) BETWEEN 1 AND 255),
    account   text        NOT NULL REFERENCES drover.account ON DELETE CASCADE,
    linked_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX account_identity_by_account ON drover.account_identity (account);

-- Opens a session for who logged in there. Who is not known yet is linked to the account with the mail address that the provider
-- has verified, or gets a new account without roles. No row: there is no such mail address, or the account is disabled.
CREATE FUNCTION drover.log_in_by_identity(
    an_issuer text, a_subject text, a_verified_mail text, a_first_name text, a_last_name text, new_account text, a_session bytea,
    an_agent text)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found_account text;
BEGIN
    -- Two log-ins of somebody new make one account.
    PERFORM pg_advisory_xact_lock(hashtextextended('drover.account_identity ' || a_subject, 0));
    SELECT i.account INTO found_account FROM drover.account_identity i WHERE i.issuer = an_issuer AND i.subject = a_subject;
    IF NOT FOUND THEN
        IF a_verified_mail IS NULL THEN RETURN NULL; END IF;
        -- Somebody registered with that mail address and never confirmed it: the password is not known to be its owner's.
        UPDATE drover.account a SET confirmed_at = now(), password = NULL, salt = NULL, memory_kib = NULL, passes = NULL,
                first_name = a_first_name, last_name = a_last_name
            WHERE lower(a.mail) = lower(a_verified_mail) AND a.confirmed_at IS NULL;
        DELETE FROM drover.account_link l USING drover.account a
            WHERE l.account = a.account AND lower(a.mail) = lower(a_verified_mail) AND a.password IS NULL;
        INSERT INTO drover.account (account, mail, first_name, last_name, confirmed_at)
            VALUES (new_account, a_verified_mail, a_first_name, a_last_name, now()) ON CONFLICT (lower(mail)) DO NOTHING;
        SELECT a.account INTO found_account FROM drover.account a WHERE lower(a.mail) = lower(a_verified_mail);
        INSERT INTO drover.account_identity (issuer, subject, account) VALUES (an_issuer, a_subject, found_account);
    END IF;
    PERFORM FROM drover.account a WHERE a.account = found_account AND a.disabled_at IS NULL FOR SHARE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    INSERT INTO drover.account_session (digest, account, agent, is_kept) VALUES (a_session, found_account, an_agent, false);
    DELETE FROM drover.account_session s WHERE s.digest IN (
        SELECT o.digest FROM drover.account_session o WHERE o.account = found_account ORDER BY o.number DESC OFFSET 20);
    RETURN found_account;
END $$;
REVOKE EXECUTE ON FUNCTION drover.log_in_by_identity(text, text, text, text, text, text, bytea, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.log_in_by_identity(text, text, text, text, text, text, bytea, text) TO drover_api;

-- One's own settings, for one's own page.
ALTER TABLE drover.account_settings ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_rows_of_drover_reader ON drover.account_settings TO drover_reader USING (true);
CREATE POLICY all_rows_of_drover_writer ON drover.account_settings TO drover_writer USING (true) WITH CHECK (true);
CREATE POLICY sight ON drover.account_settings FOR SELECT TO drover_sight USING (account = (SELECT drover.sight_account()));
GRANT SELECT ON drover.account_settings TO drover_sight;
