-- A service alert is there before the service is due, in a state of its own.
ALTER TABLE drover.alert DROP CONSTRAINT alert_state_check;
ALTER TABLE drover.alert ADD CONSTRAINT alert_state_check
    CHECK (state IN ('due_soon', 'open', 'resolved', 'withdrawn'));
DROP INDEX drover.alert_open;
CREATE INDEX alert_open ON drover.alert (opened_at) WHERE state IN ('open', 'due_soon');
