/// The cluster's own statements: they make the database and the logins that the migrations (Queries/migrations) and
/// the roles of a production installation presuppose. Each may run again.
enum DatabaseSetup {
    static let database = "drover"

    /// drover_owner owns the database and may make roles, which the first migration does; the others get their rights
    /// from the group roles that it makes.
    static let create = """
        SELECT 'CREATE ROLE drover_owner LOGIN CREATEROLE'
            WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_owner') \\gexec
        SELECT 'CREATE ROLE drover_worker LOGIN'
            WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_worker') \\gexec
        SELECT 'CREATE ROLE drover_web LOGIN'
            WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_web') \\gexec
        SELECT 'CREATE ROLE drover_notify LOGIN'
            WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_notify') \\gexec
        SELECT 'CREATE ROLE drover_poller LOGIN'
            WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_poller') \\gexec
        SELECT 'CREATE ROLE drover_surveyors LOGIN'
            WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_surveyors') \\gexec
        SELECT 'CREATE ROLE drover_pages LOGIN'
            WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_pages') \\gexec
        SELECT 'CREATE ROLE drover_asker LOGIN'
            WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_asker') \\gexec
        SELECT 'CREATE ROLE drover_developer LOGIN'
            WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_developer') \\gexec
        SELECT 'CREATE DATABASE drover OWNER drover_owner'
            WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'drover') \\gexec
        REVOKE ALL ON DATABASE drover FROM PUBLIC;
        GRANT CONNECT ON DATABASE drover TO drover_worker, drover_web, drover_notify, drover_poller, drover_surveyors, drover_pages,
            drover_asker, drover_developer;
        ALTER ROLE drover_asker CONNECTION LIMIT 8;
        ALTER ROLE drover_asker SET temp_file_limit = '1GB';
        """

    /// Large objects are for nobody: they fill the disk, and no right of ours holds them.
    static let grant = """
        REVOKE EXECUTE ON FUNCTION lo_creat(int), lo_create(oid), lo_from_bytea(oid, bytea), lo_put(oid, bigint, bytea),
            lowrite(int, bytea) FROM PUBLIC;
        GRANT drover_writer TO drover_worker;
        GRANT drover_reader, drover_api TO drover_web;
        GRANT drover_relay TO drover_notify;
        GRANT drover_gateway TO drover_poller;
        GRANT drover_survey TO drover_surveyors;
        GRANT drover_page TO drover_pages;
        GRANT drover_query TO drover_asker;
        GRANT drover_debug TO drover_developer;
        """
}
