-- Mail with more than a text: the same as HTML, files beside it, and what mail programs want to know of a mail that comes again.

ALTER TABLE drover.mail
    ADD COLUMN html      bytea CHECK (octet_length(html) <= 4000000),       -- the body once more; encrypted when is_sealed
    ADD COLUMN leave_url bytea CHECK (octet_length(leave_url) <= 2000),     -- where one click ends such mails (RFC 8058); encrypted alike
    ADD COLUMN refers_to text[] NOT NULL DEFAULT '{}' CHECK (cardinality(refers_to) <= 20);  -- mail_id of mails that it belongs to

CREATE TABLE drover.mail_file (
    mail_id    text  NOT NULL REFERENCES drover.mail ON DELETE CASCADE,
    name       text  NOT NULL CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._ -]{0,120}$'),
    media_type text  NOT NULL CHECK (media_type ~ '^[a-z]+/[A-Za-z0-9.+-]{1,100}$'),
    content    bytea NOT NULL CHECK (octet_length(content) <= 25000000),
    PRIMARY KEY (mail_id, name)
);

GRANT SELECT ON drover.mail_file TO drover_relay;
