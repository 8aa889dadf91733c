"""What Deploy/ holds for operators is taken by the programs that it is for."""
import os
import re
import shlex
import shutil
import subprocess
import time
from pathlib import Path

import psycopg
import pytest
from cluster import DATA_BYTES_MAX
from harness import ROOT
from world import dump, query, recordings

UNITS = sorted(path.name for path in (ROOT / "Deploy" / "systemd").iterdir() if path.is_file())
SERVICES = [name for name in UNITS if name.endswith(".service")]


def with_binaries():
    """PostgreSQL's programs of the newest version that is installed: Debian keeps them apart."""
    newest = max(Path("/usr/lib/postgresql").glob("*/bin/pg_dump"), key=lambda path: int(path.parts[4]))
    return {**os.environ, "PATH": f"{newest.parent}:{os.environ['PATH']}"}


@pytest.fixture
def folder(tmp_path, program):
    """The units, with this program where the installed one would be; an instance of each that wants a number."""
    # By a name without a blank, whatever folder the checkout is in.
    (tmp_path / "drover").symlink_to(program)
    units = tmp_path / "units"
    units.mkdir()
    for name in UNITS:
        text = (ROOT / "Deploy" / "systemd" / name).read_text().replace("/opt/drover/bin/drover", str(tmp_path / "drover"))
        (units / name.replace("@.", "@1.")).write_text(text)
    return units


def test_units_are_in_order_and_give_away_little(folder):
    names = sorted(path.name for path in folder.iterdir())
    run = subprocess.run(["systemd-analyze", "verify", *[f"./{name}" for name in names]], cwd=folder, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    for name in names:
        if name.endswith(".service"):
            run = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20", f"./{name}"], cwd=folder, capture_output=True, text=True)
            assert run.returncode == 0, run.stdout
    # It does find what is wrong.
    broken = folder / "drover-serve.service"
    broken.write_text(broken.read_text().replace("Restart=always", "Restart=sometimes"))
    assert "sometimes" in subprocess.run(["systemd-analyze", "verify", "./drover-serve.service"], cwd=folder, capture_output=True, text=True).stderr


def test_postgresql_is_bounded_alike_wherever_it_runs(folder):
    """By `drover up`, in the container, as Debian's service: the same memory for each of its processes."""
    drop_in = (ROOT / "Deploy" / "systemd" / "postgresql@.service.d" / "drover.conf").read_text()
    assert int(re.search(r"^LimitDATA=(\d+)M$", drop_in, re.M).group(1)) << 20 == DATA_BYTES_MAX
    assert f"ulimits: {{data: {DATA_BYTES_MAX}}}" in (ROOT / "Deploy" / "container" / "compose.yaml").read_text()
    assert f"ulimit -d {DATA_BYTES_MAX >> 10}`" in (ROOT / "docs" / "operator.md").read_text()
    (folder / "postgresql@1.service").write_text("[Service]\nExecStart=/bin/true\n" + drop_in)
    run = subprocess.run(["systemd-analyze", "verify", "./postgresql@1.service"], cwd=folder, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize("name", SERVICES)
def test_each_command_of_a_unit_is_one_that_the_program_has(drover, name):
    command = re.search(r"^ExecStart=(.+)$", (ROOT / "Deploy" / "systemd" / name).read_text(), re.M).group(1)
    words = shlex.split(command.replace("%i", "1"))
    assert words[0] == "/opt/drover/bin/drover"
    said = drover.run(words[1], "--help")
    assert said.code == 0 and all(word in said.out for word in words if word.startswith("--")), said.out
    keys = {pair.partition("=")[0] for word, pair in zip(words, words[1:]) if word == "--set"}
    table = (ROOT / "docs" / "settings.md").read_text()
    assert all(f"| `{key}` |" in table for key in keys), keys

def test_units_serve_figures_on_ports_of_their_own_where_prometheus_asks():
    """One file of settings is for all units: a port in it would be the first one's alone."""
    ports = {name: re.search(r"--set metrics\.port=(\S+)", (ROOT / "Deploy" / "systemd" / name).read_text()) for name in SERVICES}
    stay = {name: found.group(1) for name, found in ports.items() if found}
    assert set(SERVICES) - set(stay) == {"drover-retention.service"}
    asked = set(re.findall(r"localhost:(\d+)", (ROOT / "Deploy" / "grafana" / "prometheus.yaml").read_text()))
    each = [port.replace("%i", number) for port in stay.values() for number in (("1", "2") if "%i" in port else ("",))]
    assert len(set(each)) == len(each) and asked <= set(each)
    assert asked >= {port.replace("%i", "1") for port in stay.values()}


def test_alert_rules_fire_when_they_should():
    """Prometheus's own tool reads the rules and runs their tests; each figure is one that a process serves."""
    folder = ROOT / "Deploy" / "prometheus"
    for words in (["check", "rules", "rules.yaml"], ["test", "rules", "tests.yaml"]):
        run = subprocess.run(["promtool", *words], cwd=folder, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
    sources = "".join(path.read_text() for path in (ROOT / "Sources").rglob("*.swift"))
    named = set(re.findall(r"drover_[a-z_]+", re.sub(r"summary:.*|remedy:.*", "", (folder / "rules.yaml").read_text())))
    assert named and {name for name in named if f'"{name}"' not in sources} == set()


def test_a_backup_shows_its_password_to_nobody(world, tmp_path):
    """What each program was started with, and what a second one gets by its environment."""
    shims, log = tmp_path / "shims", tmp_path / "arguments"
    shims.mkdir()
    env = with_binaries()
    for name in ("pg_dump", "pg_dumpall", "pg_restore", "psql"):
        real = shutil.which(name, path=env["PATH"])
        (shims / name).write_text(f'#!/bin/sh\nprintf "%s\\n" "$PGPASSWORD: $*" >>"{log}"\nexec {real} "$@"\n')
        (shims / name).chmod(0o755)
    env["PATH"] = f"{shims}:{env['PATH']}"
    secret = "it's-not to\\be seen"
    start = lambda name, *words, stdin=None: subprocess.run([ROOT / "Deploy" / name, *words], input=stdin, capture_output=True, text=True, env=env)
    quoted = secret.replace("\\", "\\\\").replace("'", "\\'")
    whole = f"{world.superuser} password = '{quoted}' connect_timeout=9"
    for wrong in (whole, "password=x dbname=y", "postgresql://me:x@127.0.0.1/y", "postgresql://me@127.0.0.1/y?password=x", "sslpassword=x dbname=y"):
        for words in (("backup", wrong, tmp_path / "to"), ("restore", "x.dump", wrong, "y")):
            refused = start(*words)
            assert refused.returncode == 2 and "CONNINFO: " in refused.stderr and "me:x" not in refused.stderr, refused.stderr
    assert not log.exists()
    backup = start("backup", "-", tmp_path / "to", stdin=whole + "\n")
    assert backup.returncode == 0, backup.stderr
    name = f"unseen_{time.monotonic_ns()}"
    try:
        restored = start("restore", backup.stdout.strip(), "-", name, stdin=whole)
        assert (restored.returncode, restored.stdout) == (0, f"restored as {name}\n"), restored.stderr
    finally:
        with psycopg.connect(world.superuser, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    lines = log.read_text().splitlines()
    assert len(lines) >= 6 and all(line.startswith(secret + ": ") and secret not in line[len(secret):] and "password" not in line.lower().replace("--no-role-passwords", "")
                                   for line in lines), lines
    assert start("backup", "-", tmp_path / "to", stdin="").returncode == 2


def test_the_owner_can_migrate_what_was_restored(world, tmp_path):
    """Who owns the tables is no superuser, and restores come from one."""
    name = f"owned_{time.monotonic_ns()}"
    as_owner = lambda database: {"DROVER_POSTGRES_URL": f"{re.sub(r'(dbname|user)=[^ ]+ ?', '', world.superuser)} dbname={database} user={name}"}
    try:
        with psycopg.connect(world.superuser, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {name} LOGIN CREATEROLE")
            connection.execute(f"CREATE DATABASE {name} OWNER {name}")
        world.drover.done("migrate", env=as_owner(name))
        backup = subprocess.run([ROOT / "Deploy" / "backup", re.sub(r"dbname=[^ ]+", f"dbname={name}", world.superuser), tmp_path],
                                capture_output=True, text=True, env=with_binaries())
        assert backup.returncode == 0, backup.stderr
        run = subprocess.run([ROOT / "Deploy" / "restore", backup.stdout.strip(), world.superuser, f"again_{name}"],
                             capture_output=True, text=True, env=with_binaries())
        assert run.returncode == 0, run.stderr
        world.drover.done("migrate", env=as_owner(f"again_{name}"))
    finally:
        with psycopg.connect(world.superuser, autocommit=True) as connection:
            for database in (name, f"again_{name}"):
                connection.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
            connection.execute(f"DROP ROLE IF EXISTS {name}")


def test_a_restored_backup_catches_up_to_the_same_rows(world, fixtures, tmp_path):
    """Backed up while a worker writes; the database is lost; restored as another one, the worker reads the rest from the topics."""
    env = world.database()
    files = recordings(fixtures)
    for path, car in files[:2]:
        world.drover.done("import", "cars", path, "--vehicle", car, env=env)
    worker = world.worker(env, "before")
    world.work_off(env)
    world.drover.done("import", "machines", fixtures / "machines" / "readings.jsonl", env=env)
    *rest, last = files[2:]
    for path, car in rest:
        world.drover.done("import", "cars", path, "--vehicle", car, env=env)
    # In the middle of it.
    backup = subprocess.run([ROOT / "Deploy" / "backup", env["DROVER_POSTGRES_URL"], tmp_path], capture_output=True, text=True, env=with_binaries())
    assert backup.returncode == 0, backup.stderr
    file = backup.stdout.strip()
    # However fast the worker is, this comes behind the backup.
    world.drover.done("import", "cars", last[0], "--vehicle", last[1], env=env)
    world.work_off(env)
    worker.stop()
    expected = dump(env)
    name = re.search(r"story_\w+", env["DROVER_POSTGRES_URL"]).group(0)
    with psycopg.connect(world.superuser, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    restore = lambda *words: subprocess.run([ROOT / "Deploy" / "restore", *words], capture_output=True, text=True, env=with_binaries())
    run = restore(file, world.superuser, "restored_" + name)
    assert (run.returncode, run.stdout) == (0, f"restored as restored_{name}\n"), run.stderr
    again = {**env, "DROVER_POSTGRES_URL": env["DROVER_POSTGRES_URL"].replace(name, "restored_" + name)}
    behind = query(again, "SELECT sum(next_offset) FROM drover.partition_progress")[0][0]
    world.drover.done("migrate", env=again)
    # The same member as before: this broker expires nobody.
    worker = world.worker(again, "before")
    world.work_off(again)
    worker.stop()
    assert dump(again) == expected and behind < world.written(again)
    # What is there is never overwritten; what is no backup makes nothing.
    assert "is there already" in restore(file, world.superuser, "restored_" + name).stderr
    (tmp_path / "cut.dump").write_bytes((tmp_path / file).read_bytes()[:5_000])
    run = restore(tmp_path / "cut.dump", world.superuser, "cut_" + name)
    assert run.returncode == 1
    with psycopg.connect(world.superuser, autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM pg_database WHERE datname = %s", ["cut_" + name]).fetchone() == (0,)
    assert restore(file, world.superuser, "x; DROP TABLE y").returncode == 2
