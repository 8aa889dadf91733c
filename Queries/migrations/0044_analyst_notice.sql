-- What people were told, for analysts: held to what pages show of it (0040).

CREATE POLICY all_rows_of_drover_reader ON drover.notice TO drover_reader USING (true);
CREATE POLICY all_rows_of_drover_reader ON drover.notice_message TO drover_reader USING (true);
CREATE POLICY all_rows_of_drover_reader ON drover.notice_told TO drover_reader USING (true);
GRANT SELECT ON drover.notice, drover.notice_told TO drover_reader;
GRANT SELECT (message_id, account, channel, manner, state, made_at, tries, try_at, answer, settled_at, link_used_at)
    ON drover.notice_message TO drover_reader;

CREATE VIEW analyst.notice WITH (security_invoker) AS
SELECT n.notice_id, n.alert_id, n.vehicle, n.account, n.occasion, n.round, n.relation, n.manner, n.state, n.reason, n.decided_at, n.due_at,
    n.settled_at, sent.channels, sent.sent_at, sent.tries
FROM drover.notice n
LEFT JOIN LATERAL (
    SELECT array_agg(DISTINCT m.channel) FILTER (WHERE m.state = 'sent') AS channels, min(m.settled_at) FILTER (WHERE m.state = 'sent') AS sent_at,
        sum(m.tries) AS tries
    FROM drover.notice_told t JOIN drover.notice_message m USING (message_id) WHERE t.notice_id = n.notice_id) AS sent ON true;
GRANT SELECT ON analyst.notice TO drover_reader, drover_sight;

COMMENT ON VIEW analyst.notice IS 'Grain: one occasion (an alert opened, became worse, ended, …) that one account was told of, or not, and why. Key: notice_id. Fresh: a second. People see their own.';
DO $$
DECLARE
    described text[];
BEGIN
    FOREACH described SLICE 1 IN ARRAY ARRAY[
        ['notice_id', 'Stable id of alert, account, occasion and round.'], ['alert_id', 'The alert, as in alert.'], ['vehicle', 'Id of the vehicle.'],
        ['account', 'Who was to be told.'], ['occasion', 'opened, worse, repeated, escalated, resolved, corrected or withdrawn.'],
        ['round', 'Which repeat or step, or the alert''s revision [number].'], ['relation', 'Why this account: owner, driver, dealer, developer, or for whom it steps in.'],
        ['manner', 'at_once, daily or never.'], ['state', 'waiting, told or not_told.'], ['reason', 'Why so, for people.'], ['decided_at', 'When it was decided.'],
        ['due_at', 'When it is, or was, due.'], ['settled_at', 'When it was told, or was clear that it is not.'], ['channels', 'Ways on which a message with it was taken.'],
        ['sent_at', 'When the first message with it was taken.'], ['tries', 'Tries of all messages with it [count].']]
    LOOP
        EXECUTE format('COMMENT ON COLUMN analyst.notice.%I IS %L', described[1], described[2]);
    END LOOP;
END $$;
