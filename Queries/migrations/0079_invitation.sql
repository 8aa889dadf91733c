-- An administrator's invitation: an account with a role, in a fleet or none, and a link for its first password, mailed where mail can be
-- sent. `invited`; `known`: somebody has this mail address; `taken`: somebody has this id; `fleet`: there is no such fleet; `many`: too
-- many invitations wait; `refused`: the asker is no administrator.
CREATE FUNCTION drover.administer_invitation(
    new_account text, a_mail text, new_roles text[], a_fleet text, a_link bytea, new_mail_id text, a_subject text, a_body bytea
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ends_at timestamptz := now() + interval '7 days';
BEGIN
    IF NOT 'administrator' = ANY (drover.sight_roles()) THEN RETURN 'refused'; END IF;
    PERFORM drover.take_turn('drover.account');
    IF EXISTS (SELECT FROM drover.account a WHERE lower(a.mail) = lower(a_mail)) THEN RETURN 'known'; END IF;
    IF EXISTS (SELECT FROM drover.account a WHERE a.account = new_account) THEN RETURN 'taken'; END IF;
    -- Nor that of a program, or of somebody who drove or owned a car before they had an account: they would be this one's.
    IF new_account = 'installation' OR EXISTS (SELECT FROM drover.token t WHERE t.account = new_account)
        OR EXISTS (SELECT FROM drover.car_owner o WHERE o.account = new_account)
        OR EXISTS (SELECT FROM drover.registration r WHERE r.account = new_account)
        OR EXISTS (SELECT FROM drover.assignment g WHERE g.account = new_account)
        OR EXISTS (SELECT FROM drover.driving d WHERE d.account = new_account)
        OR EXISTS (SELECT FROM drover.first_writer w WHERE w.account = new_account)
        OR EXISTS (SELECT FROM drover.account_settings s WHERE s.account = new_account) THEN RETURN 'taken'; END IF;
    IF a_fleet <> '' AND NOT EXISTS (SELECT FROM drover.fleet f WHERE f.fleet = a_fleet) THEN RETURN 'fleet'; END IF;
    DELETE FROM drover.account_link l WHERE l.expires_at < now();
    IF (SELECT count(*) FROM (SELECT FROM drover.account_link l WHERE l.purpose = 'password' LIMIT 500) waiting) = 500 THEN RETURN 'many'; END IF;
    INSERT INTO drover.account (account, mail, roles) VALUES (new_account, a_mail, new_roles);
    IF a_fleet <> '' THEN INSERT INTO drover.fleet_member (fleet, account) VALUES (a_fleet, new_account); END IF;
    INSERT INTO drover.account_link (digest, account, purpose, expires_at) VALUES (a_link, new_account, 'password', ends_at);
    IF new_mail_id IS NOT NULL THEN
        INSERT INTO drover.mail (mail_id, recipient, subject, body, is_sealed, expires_at)
            VALUES (new_mail_id, a_mail, a_subject, a_body, true, ends_at);
    END IF;
    RETURN 'invited';
END $$;
REVOKE ALL ON FUNCTION drover.administer_invitation(text, text, text[], text, bytea, text, text, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.administer_invitation(text, text, text[], text, bytea, text, text, bytea) TO drover_page;

-- Makes an account that waits for its mail to be confirmed, and the mail; to somebody who has one already another mail goes.
-- It does not say which. What nobody confirmed in a week goes, but not who was invited or has a role or a fleet by another way.
CREATE OR REPLACE FUNCTION drover.register(
    a_mail text, new_account text, a_first_name text, a_last_name text, new_password bytea, new_salt bytea,
    the_memory_kib int, the_passes int, a_link bytea, new_mail_id text, confirm_subject text, confirm_body bytea,
    known_subject text, known_body bytea)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made text; is_news boolean;
BEGIN
    DELETE FROM drover.account a WHERE a.confirmed_at IS NULL AND a.made_at < now() - interval '7 days'
        AND a.account LIKE 'a-%' AND cardinality(a.roles) = 0 AND NOT EXISTS (SELECT FROM drover.fleet_member m WHERE m.account = a.account)
        AND NOT EXISTS (SELECT FROM drover.account_link l WHERE l.account = a.account AND l.expires_at > now());
    -- Nobody has confirmed it yet: whoever comes last may.
    INSERT INTO drover.account AS a (account, mail, first_name, last_name, password, salt, memory_kib, passes)
        VALUES (new_account, a_mail, a_first_name, a_last_name, new_password, new_salt, the_memory_kib, the_passes)
        ON CONFLICT (lower(mail)) DO UPDATE SET mail = EXCLUDED.mail, first_name = EXCLUDED.first_name,
            last_name = EXCLUDED.last_name, password = EXCLUDED.password, salt = EXCLUDED.salt,
            memory_kib = EXCLUDED.memory_kib, passes = EXCLUDED.passes
        WHERE a.confirmed_at IS NULL AND a.disabled_at IS NULL AND cardinality(a.roles) = 0
        RETURNING a.account INTO made;
    is_news := FOUND;
    IF is_news THEN
        DELETE FROM drover.account_link l WHERE l.account = made;
        INSERT INTO drover.account_link (digest, account, purpose, expires_at)
            VALUES (a_link, made, 'confirm', now() + interval '1 day');
    END IF;
    INSERT INTO drover.mail (mail_id, recipient, subject, body, is_sealed, expires_at)
        SELECT new_mail_id, a_mail, CASE WHEN is_news THEN confirm_subject ELSE known_subject END,
            CASE WHEN is_news THEN confirm_body ELSE known_body END, true, now() + interval '1 day';
END $$;
