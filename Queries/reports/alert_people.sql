-- Question: to whom can the reader give this alert?
-- Parameters: $1 the alert's id.
SELECT account, name FROM drover.alert_people($1)
