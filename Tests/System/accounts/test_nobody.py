"""Who is nobody sees nothing: every table, view and function that a person may read or call, as listed by the database, so that a new one
is looked at, too."""
from contextlib import contextmanager

import psycopg
import pytest
from test_sight import DAY, filled  # noqa: F401
from world import as_page, connect, query, url_of

ROLES = ["farmer", "dealer", "developer", "driver", "fleet_manager", "rider", "ride_driver", "dispatcher", "surveyor", "researcher", "ranger", "analyst",
         "operator", "administrator"]
# What is everybody's: names of species, how far partitions are, and which waypoints published tours have.
OPEN = {"drover.taxon", "drover.taxon_name", "drover.partition_progress", "analyst.tour_waypoint"}
# Functions that say nothing of anybody: what weather means, what time it is somewhere, whose turn it is to write, as which role one asks, and which
# views may be asked.
SPEAK_OF_NOBODY = {"drover.views_asked", "drover.known_weather", "drover.local_time", "drover.take_turns", "drover.asking_role"}
# What functions are asked about, by the names of their arguments, else by their types: things that are there.
WANTED = {"a_kind": "'machine'", "a_vehicle": "'mtg-1'", "car": "'car-1'", "a_deed": "'alert'", "how": "'exact'", "some_roles": "'administrator'", "for_campus": "'c'",
          "for_person": "'p'", "an_account": "'miller'", "a_fleet": "'north'", "a_schedule": "1", "an_id": "1", "a_site": "'s'", "a_survey": "'v'",
          "the_kinds": "'{machine}'", "the_vehicles": "'{mtg-1}'"}
BY_TYPE = {"text": "'x'", "text[]": "'{}'", "bytea": "'x'", "boolean": "true", "integer": "0", "bigint": "1", "timestamp with time zone": f"'{DAY:%F}'"}


@pytest.fixture(scope="module")
def crowded(filled):  # noqa: F811
    """As test_sight.py has it; somebody who was everything until disabled, a campus, and what is for all machines."""
    with connect(filled) as owner:
        owner.execute("INSERT INTO drover.account (account, mail, roles, confirmed_at, disabled_at) VALUES ('gone', 'gone@example.org', %s, now(), now())", [ROLES])
        owner.execute("INSERT INTO drover.fleet_member VALUES ('all', 'gone'), ('north', 'gone')")
        owner.execute("INSERT INTO drover.dealership (vehicle, dealer, confirmed_at, confirmed_by, shares_past) VALUES ('mtg-1', 'gone', %s, 'x', true), ('mtg-3', 'nobody', %s, 'x', true)",
                      [DAY, DAY])
        owner.execute("INSERT INTO drover.assignment VALUES ('car-1', %s, 'gone', 'g', 'x')", [DAY])
        for person, role in [("p", "rider"), ("d", "ride_driver"), ("w", "dispatcher")]:
            owner.execute("INSERT INTO drover.person (campus, person, role, name, mail) VALUES ('c', %s, %s, 'P', 'p@example.org')", [person, role])
            owner.execute("INSERT INTO drover.person_account VALUES ('c', %s, %s)", [person, "nobody" if person == "p" else "gone"])
        owner.execute("INSERT INTO drover.silence (topic_partition, record_id, model, from_at, until_at, silenced_by) VALUES (0, 's', '8R', now(), now(), 'x')")
        owner.execute("INSERT INTO drover.rule_set (topic_partition, in_force_at, version, rules, record_offset) VALUES (0, now(), 'v', '{}', 0)")
        owner.execute("INSERT INTO drover.partition_progress (topic, partition, next_offset, replay_offset, clock_at) VALUES ('drover.machines', 0, 1, 0, now()) ON CONFLICT DO NOTHING")
        owner.execute("INSERT INTO drover.report_schedule (account, report, span, format, cron) VALUES ('gone', 'trips', 'day', 'pdf', '0 6 * * *')")
        owner.execute("GRANT drover_page TO drover_pages")
        for login in ("stranger", "unknown_reader", "bound_gone"):
            if not owner.execute("SELECT FROM pg_roles WHERE rolname = %s", [login]).fetchall():
                owner.execute(f"CREATE ROLE {login} LOGIN")
        # Members of drover_sight whom no account stands behind, and one whose account is disabled.
        owner.execute("GRANT drover_sight TO unknown_reader, bound_gone")
        owner.execute("INSERT INTO drover.account_login VALUES ('bound_gone', 'gone')")
    return filled


@contextmanager
def nobody(env, who):
    login, account = {
        "no account": ("drover_pages", None), "an empty name": ("drover_pages", ""), "NULL": ("drover_pages", False), "unknown": ("drover_pages", "who"),
        "disabled": ("drover_pages", "gone"), "without a role": ("drover_pages", "nobody"), "the superuser as a page": (None, "gone"),
        "the superuser as nobody's page": (None, None), "a login of nobody": ("unknown_reader", None), "a login of somebody disabled": ("bound_gone", None),
        "a login that says who it is": ("unknown_reader", "root"), "a login in no role": ("stranger", "root"),
    }[who]
    address = env["DROVER_POSTGRES_URL"] if login is None else url_of(env, login)
    with psycopg.connect(address, autocommit=True) as connection:
        if login in (None, "drover_pages"):
            connection.execute("SET ROLE drover_page")
        if account is not None:
            connection.execute("SELECT set_config('drover.account', %s, false)", [None if account is False else account])
        yield connection


NOBODIES = ["no account", "an empty name", "NULL", "unknown", "disabled", "without a role", "the superuser as a page", "the superuser as nobody's page",
            "a login of nobody", "a login of somebody disabled", "a login that says who it is", "a login in no role"]


def relations(env):
    """All that people's roles may read of, and whatever anybody may."""
    return [row[0] for row in query(env, """SELECT c.oid::regclass::text FROM pg_class c WHERE c.relnamespace IN ('drover'::regnamespace, 'analyst'::regnamespace)
             AND c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition AND has_any_column_privilege('drover_page', c.oid, 'SELECT') ORDER BY 1""")]


def functions(env):
    return query(env, """SELECT p.pronamespace::regnamespace || '.' || p.proname, p.oid::regprocedure::text,
               ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY AS a(t, n) ORDER BY n), coalesce(p.proargnames, '{}'), p.proretset, p.provariadic <> 0
           FROM pg_proc p WHERE p.pronamespace IN ('drover'::regnamespace, 'analyst'::regnamespace) AND p.prorettype <> 'trigger'::regtype
             AND p.provolatile <> 'i' AND has_function_privilege('drover_page', p.oid, 'EXECUTE') ORDER BY 2""")


@pytest.mark.parametrize("who", NOBODIES)
def test_nobody_reads_nothing_of_any_table_or_view(crowded, who):
    listed, seen = relations(crowded), {}
    assert len(listed) > 50 and OPEN <= set(listed)
    with nobody(crowded, who) as connection:
        for relation in listed:
            try:
                [[rows]] = connection.execute(f"SELECT count(*) FROM {relation}").fetchall()
            except psycopg.errors.InsufficientPrivilege:
                continue
            if rows and relation not in OPEN:
                seen[relation] = rows
    assert seen == {}


@pytest.mark.parametrize("who", NOBODIES)
def test_nobody_is_told_nothing_by_any_function(crowded, who):
    listed, told = functions(crowded), {}
    assert len(listed) > 50
    with nobody(crowded, who) as connection:
        for name, signature, types, names, _, is_variadic in listed:
            values = [WANTED.get(argument, BY_TYPE.get(kind, "NULL")) if not is_variadic else "'administrator'"
                      for argument, kind in zip([*names, *[""] * len(types)], types)]
            try:
                rows = connection.execute(f"SELECT * FROM {name}({', '.join(values)})").fetchall()
            except (psycopg.errors.InsufficientPrivilege, psycopg.errors.NotNullViolation, psycopg.errors.CheckViolation):
                continue
            said = [value for row in rows for value in row if value not in (None, False, 0, "", [], b"")]
            if said and name not in SPEAK_OF_NOBODY:
                told[signature] = said
    assert {name: said for name, said in told.items() if not is_own(who, name, said)} == {}


def is_own(who, name, said):
    """Who one is and that one has no right are one's own to know; what is refused is no answer either."""
    if said in (["not yours"], ["wrong"], ["known"], ["refused"]):
        return True
    return who == "without a role" and name == "drover.sight_account()" and said == ["nobody"]


def test_somebody_reads_what_nobody_does(crowded):
    """So that the tests above are of something."""
    with as_page(crowded, "root") as connection:
        for relation in ("trip", "trip_now", "alert", "alert_now", "vehicle", "silence", "rule_set"):
            assert connection.execute(f"SELECT count(*) FROM drover.{relation}").fetchone()[0] > 0, relation
        assert connection.execute("SELECT count(*) FROM drover.fleets_seen()").fetchone()[0] > 0
        assert connection.execute("SELECT drover.sees_all()").fetchone() == (True,)
    with as_page(crowded, "miller") as connection:
        assert connection.execute("SELECT DISTINCT fleet FROM drover.fleets_seen()").fetchall() == [("north",)]
        assert connection.execute("SELECT count(*) FROM drover.rule_set").fetchone() == (1,)


@pytest.mark.parametrize("login", ["drover_worker", "drover_web", "drover_owner"])
def test_programs_of_the_installation_read_for_all(crowded, login):
    query(crowded, "GRANT drover_writer TO drover_worker; GRANT drover_reader, drover_api TO drover_web")
    name = query(crowded, "SELECT relowner::regrole::text FROM pg_class WHERE oid = 'drover.account'::regclass")[0][0]
    address = crowded["DROVER_POSTGRES_URL"] if login == "drover_owner" else url_of(crowded, login)
    with psycopg.connect(address) as connection:
        assert name and connection.execute("SELECT drover.sees_all()").fetchone() == (True,)
        assert connection.execute("SELECT count(*) FROM drover.trip").fetchone() == (9,)
        assert connection.execute("SELECT count(*) FROM drover.rule_set").fetchone() == (1,)
        if login == "drover_web":
            assert connection.execute("SELECT count(*) FROM drover.trip_now").fetchone() == (9,)
            assert connection.execute("SELECT count(DISTINCT fleet) FROM analyst.fleet_vehicle").fetchone() == (2,)
