-- From when on raw rows are whole: `drover retention` has deleted what was before. What `drover verify` compares begins there.
CREATE TABLE drover.retained (
    relation text        PRIMARY KEY,
    from_at  timestamptz NOT NULL,
    ran_at   timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT ON drover.retained TO drover_writer, drover_reader;
