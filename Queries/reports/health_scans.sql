-- Question: which health scans of a car are there, and what did they find? The newest comes first.
-- Parameters: $1 the car; $2 how many.
SELECT scan_id, asked_at, asked_by, scanned_at, scanned_by, is_done, answer, stored, pending, permanent, is_lamp_on, not_ready,
       vin, freeze_frame
FROM drover.health_scan
WHERE vehicle = $1
ORDER BY coalesce(scanned_at, asked_at) DESC, scan_id
LIMIT $2
