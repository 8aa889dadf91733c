-- When the records that told first of an alert's opening, and of its end, were pushed: long after it, it was told late. NULL:
-- told before this was kept.
ALTER TABLE drover.alert
    ADD COLUMN told_at timestamptz,
    ADD COLUMN resolved_told_at timestamptz;

-- With the new columns; otherwise as it was.
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

GRANT SELECT ON drover.alert_now TO drover_reader, drover_writer;
