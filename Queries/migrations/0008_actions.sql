-- What people say of machines and alerts, as it came over the log. Of two services of one time the larger record id
-- counts.
CREATE TABLE drover.service (
    vehicle        text             NOT NULL,
    done_at        timestamptz      NOT NULL,
    record_id      text             NOT NULL,
    engine_hours_h double precision NOT NULL,
    recorded_by    text             NOT NULL,
    note           text,
    PRIMARY KEY (vehicle, done_at)
);

CREATE TABLE drover.acknowledgement (
    vehicle         text        NOT NULL,
    record_id       text        NOT NULL,
    alert_id        text        NOT NULL,
    acknowledged_at timestamptz NOT NULL,
    acknowledged_by text        NOT NULL,
    note            text,
    PRIMARY KEY (vehicle, record_id)
);
CREATE INDEX acknowledgement_by_alert ON drover.acknowledgement (alert_id, acknowledged_at);

-- Nobody is told of these alerts meanwhile. One of no vehicle stands in every partition, so once a partition.
CREATE TABLE drover.silence (
    topic_partition int         NOT NULL,
    record_id       text        NOT NULL,
    vehicle         text,        -- NULL: every machine
    model           text,        -- NULL: every model
    parameter       text,        -- as shown to people; NULL: every parameter
    from_at         timestamptz NOT NULL,
    until_at        timestamptz NOT NULL,
    silenced_by     text        NOT NULL,
    note            text,
    PRIMARY KEY (topic_partition, record_id)
);

-- Where a reading's record stands in its partition (vehicle.topic_partition): an alert can show what is behind it.
ALTER TABLE drover.machine_reading ADD COLUMN record_offset bigint;

-- Alerts as people see them: who has seen them first, and whether somebody wants not to be told. Of two silences of one
-- scope the later one counts, so that one that ends now takes the other back.
CREATE VIEW drover.alert_now AS
SELECT alert.*, seen.acknowledged_at, seen.acknowledged_by, seen.note AS acknowledgement_note,
       silence.until_at AS silenced_until_at, silence.silenced_by
FROM drover.alert
LEFT JOIN LATERAL (
    SELECT a.acknowledged_at, a.acknowledged_by, a.note FROM drover.acknowledgement a
    WHERE a.alert_id = alert.alert_id AND a.vehicle = alert.vehicle
    ORDER BY a.acknowledged_at, a.record_id LIMIT 1) AS seen ON true
LEFT JOIN LATERAL (
    SELECT s.until_at, s.silenced_by FROM (
        SELECT DISTINCT ON (s.vehicle, s.model, s.parameter) s.until_at, s.silenced_by
        FROM drover.silence s
        WHERE s.from_at <= now()
            AND (s.vehicle IS NULL OR s.vehicle = alert.vehicle) AND (s.model IS NULL OR s.model = alert.model)
            AND (s.parameter IS NULL OR s.parameter = alert.parameter)
        ORDER BY s.vehicle, s.model, s.parameter, s.from_at DESC, s.record_id DESC
    ) AS s WHERE s.until_at > now() ORDER BY s.until_at DESC LIMIT 1) AS silence ON true;

GRANT SELECT, INSERT, UPDATE, DELETE ON drover.service, drover.acknowledgement, drover.silence TO drover_writer;
GRANT SELECT ON drover.service, drover.acknowledgement, drover.silence, drover.alert_now TO drover_reader, drover_writer;

-- Said by the gateway that polls the box, in a row of its own: whether it answers. NULL in what the machine itself says.
ALTER TABLE drover.machine_reading ADD COLUMN contact boolean;
