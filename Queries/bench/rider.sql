-- A rider of a campus with a device's token, as a mailed code would have given it.
WITH person AS (
    INSERT INTO drover.person (campus, person, role, name, mail) VALUES ($2, $3, 'rider', $3, 'a@b.example')
)
INSERT INTO drover.person_token (digest, campus, person, device, expires_at)
VALUES ($1, $2, $3, 'bench', now() + interval '1 day')
