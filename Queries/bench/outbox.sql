-- What waits for the relay behind an id.
SELECT outbox_id, key FROM drover.outbox WHERE outbox_id > $1 AND topic = $2
