-- How many readings of a machine are written, and whether some wait to be judged again.
SELECT (SELECT count(*) FROM drover.machine_reading WHERE vehicle = $1) AS written,
    EXISTS (SELECT FROM drover.machine_rejudging WHERE vehicle = $1) AS is_waiting
