-- Question: who is on a campus's roster, and how many devices does each have?
-- Parameters: $1 campus.
-- Example result: g-1042 | rider | Ada Example | ada@campus.example | enabled | 1 | 2026-11-21 09:00:00+00
SELECT p.person, p.role, p.name, p.mail,
       CASE WHEN p.disabled_at IS NOT NULL THEN 'disabled' WHEN p.left_at IS NOT NULL THEN 'left' ELSE 'enabled' END AS state,
       (SELECT count(*) FROM drover.person_token t WHERE t.campus = p.campus AND t.person = p.person
            AND t.revoked_at IS NULL AND t.expires_at > now()) AS devices,
       (SELECT max(t.last_used_at) FROM drover.person_token t
        WHERE t.campus = p.campus AND t.person = p.person) AS last_used_at
FROM drover.person p WHERE p.campus = $1 ORDER BY p.role, p.person COLLATE "C"
