-- What a worker writes again and again stays in its page: no new entry in an index, no second row in the log of the database.

-- A machine's last reading and its next deadline change with its readings, and an update is in place only where no index holds what
-- changed, its condition included. Who asks goes by kind and partition (vehicle_by_partition): a worker that takes a partition over, and
-- rules that change.
DROP INDEX drover.vehicle_by_deadline;
DROP INDEX drover.machine_by_last_reading;
ALTER TABLE drover.vehicle SET (fillfactor = 50);

-- All vehicles' minutes end at once, so that one commit writes all rows of a page again: beside them there must be room for as many. For
-- new pages only; those that there are fill as before.
ALTER TABLE drover.trip SET (fillfactor = 50);
ALTER TABLE drover.vehicle_day SET (fillfactor = 50);
