-- People change when a report comes, without losing its runs; one that comes with Drover and is given back comes as it was shipped.

ALTER TABLE drover.report_schedule ADD COLUMN shipped_cron text;
UPDATE drover.report_schedule SET shipped_cron = cron WHERE shipped IS NOT NULL;

-- From now on; what has fallen due before and stands in no ledger yet falls due by the new times. By one's own clock; those of
-- others keep theirs.
CREATE FUNCTION drover.change_report_schedule(a_schedule bigint, a_cron text, a_zone text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (NOT drover.holds_schedule(a_schedule)) THEN RETURN false; END IF;
    UPDATE drover.report_schedule s SET cron = a_cron, next_due_at = NULL, trouble = NULL,
            zone = CASE WHEN s.account = drover.sight_account() THEN a_zone ELSE s.zone END,
            planned_until = CASE WHEN s.next_due_at > now() THEN now() ELSE s.planned_until END
        WHERE s.schedule_id = a_schedule AND s.account IS NOT NULL;
    RETURN FOUND;
END $$;
REVOKE EXECUTE ON FUNCTION drover.change_report_schedule(bigint, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drover.change_report_schedule(bigint, text, text) TO drover_page;

-- As in 0043, and with its times.
CREATE OR REPLACE FUNCTION drover.end_report_schedule(a_schedule bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (NOT drover.holds_schedule(a_schedule)) THEN RETURN false; END IF;
    DELETE FROM drover.report_schedule s WHERE s.schedule_id = a_schedule AND s.shipped IS NULL;
    IF FOUND THEN RETURN true; END IF;
    DELETE FROM drover.report_run r WHERE r.schedule_id = a_schedule;
    UPDATE drover.report_schedule s SET account = NULL, is_enabled = false, mail_to = '{}', next_due_at = NULL, zone = 'UTC', units = 'metric',
            cron = s.shipped_cron, trouble = NULL
        WHERE s.schedule_id = a_schedule;
    RETURN true;
END $$;
