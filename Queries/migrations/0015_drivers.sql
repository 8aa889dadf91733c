-- Alerts of drivers beside those of machines; the events that reach a driver's open page; who owned a car when; trips that
-- are known from a phone's summary only.

ALTER TABLE drover.alert
    ADD COLUMN kind text NOT NULL DEFAULT 'machine' CHECK (kind IN ('car', 'machine')),
    ADD COLUMN account text;                       -- of a car: whose limits it is about; model is empty then
CREATE INDEX alert_by_account ON drover.alert (account, opened_at) WHERE account IS NOT NULL;
CREATE INDEX alert_open_of_cars ON drover.alert (vehicle) WHERE kind = 'car' AND state = 'open';

-- With the new columns; otherwise as in 0009.
DROP VIEW drover.alert_now;
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

-- What was told of an account's alerts, in the order in which it became visible (OutboxStore takes the account's lock before
-- it asks for an id), so that who comes back after an id misses nothing. Kept for a week.
CREATE TABLE drover.alert_event (
    event_id  bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account   text        NOT NULL,
    record_id text        NOT NULL,                -- as on drover.alerts
    record    text        NOT NULL,                -- the JSON value as it goes there
    made_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX alert_event_by_account ON drover.alert_event (account, event_id);
CREATE INDEX alert_event_by_time ON drover.alert_event (made_at);
CREATE FUNCTION drover.tell_alert_event() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM pg_notify('drover_alert_event', '');
    RETURN NULL;
END $$;
CREATE TRIGGER alert_event_tell AFTER INSERT ON drover.alert_event
    FOR EACH STATEMENT EXECUTE FUNCTION drover.tell_alert_event();

-- Whose car it was from a time on: registrations over time, where drover.registration has the latest.
CREATE TABLE drover.car_owner (
    vehicle    text        NOT NULL,
    owned_at   timestamptz NOT NULL,
    account    text,                               -- NULL: nobody's
    record_id  text        NOT NULL,
    PRIMARY KEY (vehicle, owned_at)
);
INSERT INTO drover.car_owner (vehicle, owned_at, account, record_id)
    SELECT vehicle, registered_at, account, record_id FROM drover.registration WHERE kind = 'car';

-- Whose cars are touched by an account's settings.
CREATE INDEX car_owner_by_account ON drover.car_owner (account);
CREATE INDEX assignment_by_account ON drover.assignment (account);
CREATE INDEX driving_by_account ON drover.driving (account, until_at);

-- Trips without readings: what a phone reported, as it reported it. Never part of sums that are made from readings.
CREATE TABLE drover.trip_summary (
    vehicle             text        NOT NULL,
    record_id           text        NOT NULL,
    start_at            timestamptz NOT NULL,
    end_at              timestamptz NOT NULL,
    account             text        NOT NULL,      -- who reported it
    basis               text        NOT NULL DEFAULT 'no readings' CHECK (basis = 'no readings'),
    distance_km         double precision,
    average_speed_kmh   double precision,
    max_speed_kmh       double precision,
    fuel_l              double precision,
    average_mpg         double precision,
    idle_s              double precision,
    max_coolant_c       double precision,
    sharp_accelerations int,
    sharp_brakings      int,
    note                text,
    PRIMARY KEY (vehicle, record_id)
);
CREATE INDEX trip_summary_by_start ON drover.trip_summary (vehicle, start_at);

GRANT SELECT ON drover.alert_now TO drover_reader, drover_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON drover.alert_event, drover.car_owner, drover.trip_summary TO drover_writer;
GRANT SELECT ON drover.alert_event, drover.car_owner, drover.trip_summary TO drover_reader;
