-- Question: what did people say of this alert? The latest comes first.
-- Parameters: $1 the alert's id; $2 how many.
SELECT said_at, said_by, word, account, until_at, note FROM (
    SELECT t.said_at, t.said_by, t.word, t.account, t.until_at, t.note, t.record_id FROM drover.alert_triage t WHERE t.alert_id = $1
    UNION ALL
    SELECT k.acknowledged_at, k.acknowledged_by, 'acknowledged', NULL, NULL, k.note, k.record_id FROM drover.acknowledgement k WHERE k.alert_id = $1
) AS said
ORDER BY said_at DESC, record_id DESC
LIMIT $2
