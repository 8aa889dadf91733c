-- What grew without bound gets one (docs/scale.md).

-- MARK: drives

-- A row a drive, as Sources/Alerts/Drivers.swift joins the pieces that phones upload: those of one account that overlap or follow
-- each other within five minutes. The id is that of the piece that began first, of two that began together the greater.
CREATE TEMPORARY TABLE drive ON COMMIT DROP AS
    SELECT vehicle, account, min(from_at) AS from_at, max(until_at) AS until_at,
           (array_agg(record_id ORDER BY from_at, record_id COLLATE "C" DESC))[1] AS record_id
    FROM (
        SELECT *, count(*) FILTER (WHERE begins) OVER (PARTITION BY vehicle, account ORDER BY from_at, record_id COLLATE "C") AS drive
        FROM (
            SELECT *, coalesce(from_at > max(until_at) OVER (PARTITION BY vehicle, account ORDER BY from_at, record_id COLLATE "C"
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) + interval '5 minutes', true) AS begins
            FROM drover.driving) AS piece
        ) AS piece
    GROUP BY vehicle, account, drive HAVING count(*) > 1;
DELETE FROM drover.driving d USING drive
    WHERE d.vehicle = drive.vehicle AND d.account = drive.account AND d.from_at >= drive.from_at AND d.until_at <= drive.until_at
        AND d.record_id <> drive.record_id;
UPDATE drover.driving d SET until_at = drive.until_at FROM drive
    WHERE d.vehicle = drive.vehicle AND d.record_id = drive.record_id;
-- What adjoins a drive that goes on now is found from its end.
CREATE INDEX driving_by_end ON drover.driving (vehicle, until_at);

-- MARK: retention

CREATE INDEX outbox_refused ON drover.outbox (topic, made_at) WHERE refused IS NOT NULL;
