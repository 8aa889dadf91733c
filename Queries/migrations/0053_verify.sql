-- `drover verify` compares with a replay what of the outbox and of the notice events is still there. Who runs it writes both tables.
GRANT SELECT ON drover.outbox, drover.notice_event TO drover_writer;
