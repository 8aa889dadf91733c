-- Downloads that a person has asked for, and how they ended: both came over the log, in this order or the other.
CREATE TABLE drover.poll_request (
    vehicle     text NOT NULL,
    request_id  text NOT NULL,
    asked_at    timestamptz,
    asked_by    text,
    expires_at  timestamptz,  -- nobody waits for it any more
    answered_at timestamptz,
    is_done     boolean,      -- the box gave what it has
    answer      text,         -- what it gave, or the reason and what to do
    PRIMARY KEY (vehicle, request_id)
);
CREATE INDEX poll_request_open ON drover.poll_request (expires_at) WHERE answered_at IS NULL;
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.poll_request TO drover_writer;
GRANT SELECT ON drover.poll_request TO drover_reader, drover_gateway;
