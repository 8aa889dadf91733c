-- Question: who may log in, as what, and when did they last?
-- Parameters: none.
-- Example result: miller | miller@example.org | Ada Miller | farmer | confirmed | 1 | 2026-11-21 09:00:00+00
SELECT a.account, a.mail, trim(a.first_name || ' ' || a.last_name) AS name, array_to_string(a.roles, ' ') AS roles,
    CASE WHEN a.disabled_at IS NOT NULL THEN 'disabled' WHEN a.confirmed_at IS NOT NULL THEN 'confirmed' ELSE 'not confirmed' END
        AS state,
    (SELECT count(*) FROM drover.account_session s WHERE s.account = a.account) AS sessions,
    (SELECT max(s.last_used_at) FROM drover.account_session s WHERE s.account = a.account) AS last_used_at
FROM drover.account a
ORDER BY a.account
