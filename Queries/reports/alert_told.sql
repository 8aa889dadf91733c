-- Question: who was told of this alert, when and on which way, or why not, as far as the reader may know?
-- Parameters: $1 the alert's id.
SELECT account, name, occasion, state, reason, decided_at, due_at, channel, message_state, message_at, link_used_at FROM drover.alert_told($1)
