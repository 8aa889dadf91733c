"""What PostgreSQL lets every login do, and what is left of it in a database of ours: by statements, without servers of Drover."""
import re

import psycopg
import pytest
from world import as_page, connect, query, url_of


@pytest.fixture(scope="module")
def fresh(world):
    """A database as an operator makes it: its rights are not those of a copy."""
    env = world.database()
    with connect(env) as owner:
        owner.execute("CREATE DATABASE logins_fresh")
        owner.execute("CREATE ROLE anybody LOGIN IN ROLE drover_sight")
    env = {**env, "DROVER_POSTGRES_URL": re.sub(r"dbname='?\w+'?", "dbname=logins_fresh", env["DROVER_POSTGRES_URL"])}
    world.drover.done("migrate", env=env)
    return env


@pytest.mark.parametrize("statement", ["SELECT lo_create(0)", "SELECT lo_creat(-1)", "SELECT lo_from_bytea(0, 'x')", "CREATE TEMPORARY TABLE mine (a int)",
                                       "CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 1'"])
def test_a_persons_login_writes_nowhere(fresh, statement):
    with psycopg.connect(url_of(fresh, "anybody")) as somebody:
        somebody.execute("SET default_transaction_read_only = off")
        somebody.commit()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            somebody.execute(statement)


def test_who_stages_rows_still_may(fresh):
    assert query(fresh, "SELECT has_database_privilege('drover_writer', current_database(), 'TEMPORARY')")[0] == (True,)


def test_what_a_role_may_ask_it_may_ask_to_the_end(fresh):
    """A view or function whose own functions its reader may not call fails when somebody needs it: notices of machines' alerts did."""
    lacking = query(fresh, r"""WITH ours AS (
                SELECT p.oid, p.proname, p.prosrc, NOT p.prosecdef AND p.prorettype <> 'trigger'::regtype AS asks_itself FROM pg_proc p
                WHERE p.pronamespace IN ('drover'::regnamespace, 'analyst'::regnamespace)),
            asked AS (
                SELECT r.rolname, o.proname AS name, o.prosrc AS text FROM ours o, pg_roles r
                WHERE r.rolname LIKE 'drover\_%' AND o.asks_itself AND has_function_privilege(r.oid, o.oid, 'EXECUTE')
                UNION ALL
                SELECT r.rolname, c.relname, pg_get_viewdef(c.oid) FROM pg_class c, pg_roles r
                WHERE r.rolname LIKE 'drover\_%' AND c.relkind = 'v' AND c.relnamespace IN ('drover'::regnamespace, 'analyst'::regnamespace, 'own'::regnamespace)
                    AND has_table_privilege(r.oid, c.oid, 'SELECT'))
            SELECT DISTINCT a.rolname, a.name, o.proname FROM asked a, regexp_matches(a.text, '(?:drover|analyst)\.(\w+)\(', 'g') AS named
            JOIN ours o ON o.proname = named[1] WHERE NOT has_function_privilege(a.rolname, o.oid, 'EXECUTE') ORDER BY 1, 2, 3""")
    assert lacking == []


@pytest.mark.parametrize("holding", ["LISTEN drover_fleet; BEGIN; SELECT 1", "BEGIN; SELECT FROM drover.trip LIMIT 1", "BEGIN; SELECT 1/0"])
def test_who_idles_in_a_transaction_is_ended_whatever_they_set(fresh, holding):
    """A session that listens and reads nothing keeps the queue of notifications from being emptied."""
    with connect(fresh) as owner:
        owner.execute("INSERT INTO drover.account (account, mail, roles, confirmed_at) VALUES ('idler', 'idler@example.org', '{farmer}', now()) ON CONFLICT DO NOTHING")
        owner.execute("INSERT INTO drover.account_login (login, account) VALUES ('anybody', 'idler') ON CONFLICT DO NOTHING")
        with psycopg.connect(url_of(fresh, "anybody"), autocommit=True) as somebody:
            somebody.execute("ALTER ROLE anybody SET idle_in_transaction_session_timeout = 0")
            somebody.execute("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0")
            for statement in holding.split("; "):
                try:
                    somebody.execute(statement)
                except psycopg.errors.DivisionByZero:
                    pass
            owner.execute("SET ROLE drover_relay")
            assert owner.execute("SELECT drover.end_long_logins('1 hour', '1 hour', '1 hour')").fetchone() == (0,)
            assert owner.execute("SELECT drover.end_long_logins('0 s', '1 hour', '1 hour')").fetchone() == (1,)
            owner.execute("RESET ROLE")
            with pytest.raises(psycopg.OperationalError):
                somebody.execute("SELECT 1")


def test_who_is_not_in_a_transaction_goes_on(fresh):
    with connect(fresh) as owner, psycopg.connect(url_of(fresh, "anybody"), autocommit=True) as somebody:
        somebody.execute("LISTEN drover_fleet")
        assert owner.execute("SELECT drover.end_long_logins('0 s', '0 s', '0 s')").fetchone() == (0,)
        assert somebody.execute("SELECT 1").fetchone() == (1,)


def test_nothing_is_told_by_a_queue_that_somebody_fills(fresh):
    """A full queue fails every commit that tells something."""
    tellers = query(fresh, "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'drover'::regnamespace AND prosrc LIKE '%pg_notify%'")
    assert len(tellers) >= 7
    assert [name for name, source in tellers if "IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_notify" not in source] == []


def test_an_account_takes_a_thousand_ids_on_pages_and_by_uploads(fresh):
    add = "SELECT drover.change_vehicle('car', %s, '', %s, NULL, 'sid')"
    query(fresh, "INSERT INTO drover.account (account, mail, roles, confirmed_at) VALUES ('sid', 'sid@example.org', '{driver}', now())")
    query(fresh, "INSERT INTO drover.vehicle_change (kind, vehicle, record_id, account) SELECT 'car', 'page-' || n, 'r-' || n, 'sid' FROM generate_series(1, 600) n")
    query(fresh, "INSERT INTO drover.first_writer (kind, vehicle, account) SELECT 'car', 'app-' || n, 'sid' FROM generate_series(1, 399) n")
    with as_page(fresh, "sid") as page:
        assert page.execute(add, ["free-1", "one"]).fetchone() == ("taken",)
        assert page.execute(add, ["free-2", "two"]).fetchone() == ("too many",)
    refused = "SELECT drover.refused_writes('sid', 'reading', 'car', %s, ARRAY[now()], ARRAY[now()])"
    assert query(fresh, refused, ["free-3"]) == [("free-3",)]
    # Readings came of some: they are vehicles, not ids that are kept from others.
    query(fresh, "DELETE FROM drover.first_writer WHERE vehicle = 'app-1'")
    assert query(fresh, refused, ["free-3"]) == []


def test_turns_are_shared_by_few(fresh):
    slots = query(fresh, "SELECT DISTINCT drover.turn_slot('drover.alert_event a-' || n) FROM generate_series(1, 20000) n")
    assert len(slots) == 1024
    query(fresh, "SELECT drover.take_turns((SELECT array_agg('drover.report_schedule a-' || n) FROM generate_series(1, 20000) n))")
