-- The schema of Drover at migration 76, for a new database: files by noun, which run one after the other in one transaction. Migrations
-- from 77 on follow it. A database that the single migrations before it brought to 76 has the same already.

-- Bodies of functions name tables and functions of files that come later.
SET LOCAL check_function_bodies = off;

-- Least privilege. The group roles hold the rights; logins are members. Roles belong to the whole cluster,
-- so another database of the same cluster may have made them already.
DO $$
DECLARE
    a_role text;
BEGIN
    FOREACH a_role IN ARRAY ARRAY[
        'drover_writer',      -- workers
        'drover_reader',      -- programs of the installation that read all
        'drover_relay',       -- the outbox, mails, notices and reports
        'drover_gateway',     -- whom to poll
        'drover_api',         -- accounts and tokens for pages and the API
        'drover_debug',       -- debug logs and nothing else; nobody else but the owner reads them
        'drover_survey',      -- surveyors' apps: functions only, no table
        'drover_researcher',  -- positions of sensitive species as they are, and people: for exports of those who may
        'drover_sight',       -- reads as a person; members: the pages, which say who it is (drover.account), and the logins of analysts, which cannot
        'drover_page',        -- the pages
        'drover_query']       -- asks for people: one login of `drover serve`, in this role and in nothing else
    LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = a_role) THEN EXECUTE format('CREATE ROLE %I NOLOGIN', a_role); END IF;
    END LOOP;
END $$;
GRANT drover_sight TO drover_page;
GRANT drover_sight TO drover_query;

-- Temporary tables are for logins that need them: workers copy into staging tables, and a question is looked at as a temporary view
-- before it runs.
DO $$ BEGIN
    EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO drover_writer', current_database());
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO drover_query', current_database());
END $$;

-- Large objects are of nobody's row policies and fill the disk. These functions belong to the cluster's superuser: where the owner is none,
-- docs/operator.md has what a superuser says, and `drover up`, Deploy/database and the container say it.
DO $$
DECLARE
    made regprocedure;
BEGIN
    FOR made IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace
        AND p.proname IN ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_put', 'lowrite', 'lo_import', 'lo_export')
        AND pg_has_role(p.proowner, 'USAGE')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', made);
    END LOOP;
END $$;

GRANT USAGE ON SCHEMA drover TO drover_api, drover_debug, drover_gateway, drover_reader, drover_relay, drover_researcher, drover_sight, drover_survey, drover_writer;

-- The list of migrations is there already.
GRANT DELETE, INSERT, SELECT, UPDATE ON drover.migration TO drover_writer;
GRANT SELECT ON drover.migration TO drover_gateway, drover_reader, drover_relay;
