"""The baseline (Queries/migrations/0076_baseline) makes what the single migrations before it made, and their databases go on with it."""
import difflib
import re
import shutil
import subprocess
import time
from contextlib import contextmanager

import psycopg
import pytest
from cluster import Cluster
from harness import ROOT, Drover, scratch
from migrations import BASELINE, apply_singles, singles
from world import connect, dump

OWNER = "drover_owner"


@contextmanager
def cluster():
    """With the owner that an installation has, and an empty database of it."""
    folder = scratch("drover-baseline-")
    one = Cluster(folder / "postgres")
    try:
        with psycopg.connect(one.conninfo(), autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {OWNER} LOGIN CREATEROLE")
            connection.execute(f"CREATE DATABASE drover OWNER {OWNER}")
        yield one
    finally:
        one.close()
        shutil.rmtree(folder, ignore_errors=True)


def migrate(program, conninfo, home=ROOT):
    return Drover(program).run("migrate", env={"DROVER_POSTGRES_URL": conninfo, "DROVER_HOME": str(home)})


def dumped(one, *options):
    text = subprocess.run([str(one.binaries / "pg_dump"), *options, "--dbname", one.conninfo("drover")], check=True, capture_output=True, text=True).stdout
    return re.sub(r"^\\(?:un)?restrict .*\n", "", text, flags=re.M)


def schema(one):
    """With owners; the rights of one thing in any order."""
    return re.sub(r"(?:^(?:GRANT|REVOKE) .*\n)+", lambda rights: "".join(sorted(rights.group(0).splitlines(True))), dumped(one, "--schema-only"), flags=re.M)


def rows(one):
    """In any order; without what is each database's own: when rows were made, its secret, and how it came to be."""
    text = dumped(one, "--data-only", "--exclude-table-data=drover.migration", "--exclude-table-data=drover.account_secret")
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\+00", "NOW", text)
    return "COPY ".join("".join(sorted(part.splitlines(True))) for part in re.split("^COPY ", text, flags=re.M))


CLUSTERWIDE = {
    "roles": "SELECT rolname, rolcanlogin, rolinherit, rolcreaterole, rolcreatedb, rolsuper, rolreplication, rolbypassrls, rolconnlimit, rolconfig FROM pg_roles",
    "members": "SELECT roleid::regrole::text, member::regrole::text, admin_option, grantor::regrole::text FROM pg_auth_members",
    "database": "SELECT datname, datdba::regrole::text, right_::text FROM pg_database, unnest(datacl) AS right_",
    "settings": "SELECT setdatabase, setrole::regrole::text, setconfig FROM pg_db_role_setting",
    "standard rights": "SELECT defaclrole::regrole::text, defaclobjtype, defaclacl::text FROM pg_default_acl",
    "of PostgreSQL's own functions": "SELECT oid::regprocedure::text, right_::text FROM pg_proc, unnest(proacl) AS right_ WHERE pronamespace = 'pg_catalog'::regnamespace",
    "what salts of strangers are made of": "SELECT is_only, octet_length(secret) FROM drover.account_secret",
}


def clusterwide(one):
    with psycopg.connect(one.conninfo("drover")) as connection:
        return {name: sorted(map(str, connection.execute(text).fetchall())) for name, text in CLUSTERWIDE.items()}


def same(was, now):
    assert "\n".join(list(difflib.unified_diff(was.split("\n"), now.split("\n"), "the single migrations", "the baseline", lineterm="", n=1))[:60]) == ""


@pytest.mark.parametrize("owner", [OWNER, "postgres"])
def test_the_baseline_makes_what_the_single_migrations_made(program, owner):
    with cluster() as was, cluster() as now:
        with psycopg.connect(was.conninfo("drover", owner), autocommit=True) as connection:
            apply_singles(connection)
        run = migrate(program, now.conninfo("drover", owner), home_to_the_baseline(now.folder.parent / "home"))
        assert run.code == 0 and f"applied {BASELINE:04}_baseline" in run.err, run.err
        same(schema(was), schema(now))
        same(rows(was), rows(now))
        assert clusterwide(was) == clusterwide(now)


def home_to_the_baseline(folder, **more):
    """What an installation's home holds for `drover migrate`: the baseline and nothing after it but `more`, names and texts."""
    migrations = folder / "Queries" / "migrations"
    shutil.copytree(ROOT / "Queries" / "migrations" / f"{BASELINE:04}_baseline", migrations / f"{BASELINE:04}_baseline")
    for name, text in more.items():
        (migrations / f"{name}.sql").write_text(text)
    return folder


def later_ones():
    """Migrations after the baseline, names and texts."""
    return {path.stem: path.read_text() for path in (ROOT / "Queries" / "migrations").glob("*.sql")}


def database_of_singles(world, last=BASELINE):
    name = f"story_singles_{time.monotonic_ns()}"
    with psycopg.connect(world.superuser, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    env = {"DROVER_POSTGRES_URL": re.sub(r"dbname='?\w+'?", f"dbname='{name}'", world.superuser), "DROVER_KAFKA_BROKERS": world.brokers}
    with connect(env) as connection:
        apply_singles(connection, last)
    return env


def listed(env):
    with connect(env) as connection:
        return connection.execute("SELECT number, name, digest, applied_at FROM drover.migration ORDER BY number").fetchall()


def test_a_database_of_the_single_migrations_goes_on_with_its_rows(world, fixtures, tmp_path):
    env = database_of_singles(world)
    later = later_ones()
    assert len(listed(env)) == len(singles()) == 74
    run = migrate(world.drover.program, env["DROVER_POSTGRES_URL"])
    assert run.code == 0 and f"{BASELINE:04}_baseline" not in run.err, run.err
    assert world.drover.run("import", "machines", fixtures / "machines" / "readings.jsonl", env=env).code == 0
    worker = world.worker(env, "worker")
    world.work_off(env)
    assert worker.stop() == 0
    rows_before, list_before = dump(env), listed(env)
    assert rows_before["machine_reading"] and rows_before["vehicle"] and len(list_before) == len(singles()) + len(later)

    run = migrate(world.drover.program, env["DROVER_POSTGRES_URL"], home_to_the_baseline(tmp_path / "now", **later))
    assert (run.code, "the database is up to date" in run.err) == (0, True), run.err
    assert (dump(env), listed(env)) == (rows_before, list_before)
    home = home_to_the_baseline(tmp_path / "later", **later, **{"9999_later": "CREATE TABLE drover.later (a int)"})
    run = migrate(world.drover.program, env["DROVER_POSTGRES_URL"], home)
    assert (run.code, "applied 9999_later.sql" in run.err) == (0, True), run.err
    assert dump(env) == rows_before and listed(env)[:-1] == list_before and listed(env)[-1][:2] == (9999, "9999_later.sql")

    # Workers go on where the others stopped.
    with connect(env) as connection:
        connection.execute("DROP TABLE drover.later")
        connection.execute("DELETE FROM drover.migration WHERE number = 9999")
    assert migrate(world.drover.program, env["DROVER_POSTGRES_URL"]).code == 0
    assert world.drover.run("import", "machines", fixtures / "machines" / "readings.jsonl", env=env).code == 0
    worker = world.worker(env, "worker")
    world.work_off(env)
    assert worker.stop() == 0
    assert len(dump(env)["machine_reading"]) == len(rows_before["machine_reading"])


@pytest.mark.parametrize("last, gone, told", [(50, [], "the database is at migration 50,"), (BASELINE, [31], "the database lacks migration 0031,"),
                                              (BASELINE - 1, [], f"the database is at migration {BASELINE - 1},")])
def test_a_database_from_before_the_baseline_is_refused_and_told_the_way(world, last, gone, told):
    env = database_of_singles(world, last)
    with connect(env) as connection:
        connection.execute("DELETE FROM drover.migration WHERE number = ANY (%s)", [gone])
    before = listed(env)
    run = migrate(world.drover.program, env["DROVER_POSTGRES_URL"])
    assert run.code == 1 and told in run.err and "commit 9a3697d7" in run.err and "docs/upgrade.md" in run.err, run.err
    assert listed(env) == before


def test_the_baseline_that_was_applied_and_changed_since_is_refused(world, tmp_path):
    env, home = world.database(), home_to_the_baseline(tmp_path / "home")
    with open(home / "Queries" / "migrations" / f"{BASELINE:04}_baseline" / "02_turns.sql", "a") as file:
        file.write("\n-- One remark more.\n")
    with connect(env) as connection:
        connection.execute("DELETE FROM drover.migration WHERE number > %s", [BASELINE])
    run = migrate(world.drover.program, env["DROVER_POSTGRES_URL"], home)
    assert run.code == 1 and f"{BASELINE:04}_baseline" in run.err and "has changed since" in run.err, run.err
