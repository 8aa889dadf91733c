"""PostgreSQL and a broker of a story's own, made in half a second: the cluster is a copy of one that was made once a run, with the
logins of `drover servers` and a migrated database to copy; the broker starts empty.

A cluster for each story rather than one for all: stories give roles rights, refuse log-ins and stop the server, which no other may feel.
"""
import atexit
import fcntl
import os
import re
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import psycopg
from brokers import Noida
from cluster import Cluster
from harness import ROOT, Drover, scratch

# The database that has all migrations and no rows.
TEMPLATE = "template_drover"


def golden(program):
    """The folder of the stopped cluster that others are copies of; made by the first process of a run that asks."""
    place = os.environ.get("DROVER_TEST_GOLDEN")
    if not place:  # Not below pytest: this process is the run.
        place = os.environ["DROVER_TEST_GOLDEN"] = new_place()
        atexit.register(shutil.rmtree, place, ignore_errors=True)
    place = Path(place)
    with open(place / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "complete").exists():
            make_golden(program, place / "postgres")
            (place / "complete").touch()
    return place / "postgres" / "data"


def new_place():
    return str(scratch("drover-golden-"))


def make_golden(program, folder):
    shutil.rmtree(folder, ignore_errors=True)
    cluster = Cluster(folder)
    try:
        logins = re.findall(r"CREATE ROLE (\w+ LOGIN(?: CREATEROLE)?)", (ROOT / "Sources/Tools/LocalServers/DatabaseSetup.swift").read_text())
        assert len(logins) >= 8, logins
        with psycopg.connect(cluster.conninfo(), autocommit=True) as connection:
            for login in logins:
                connection.execute(f"CREATE ROLE {login}")
            connection.execute(f"CREATE DATABASE {TEMPLATE}")
            connection.execute("CREATE DATABASE drover OWNER drover_owner")
        migrated = subprocess.run([str(program), "migrate"], env={**os.environ, "DROVER_POSTGRES_URL": cluster.conninfo(TEMPLATE)},
                                  capture_output=True, text=True)
        assert migrated.returncode == 0, migrated.stderr
    finally:
        cluster.close()


@contextmanager
def template(program, name, make, base=None):
    """A world of its own that begins as `make(world)` left another one: the environment that it returned is in `.filled`. `make` runs
    once a run, whoever asks first; all others copy the database and the log. `base`: name and `make` of what it begins with itself."""
    made = _made(program, name, make, base)
    folder = scratch("drover-module-")
    try:
        with _running(program, folder, made) as world:
            yield world
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _made(program, name, make, base=None):
    made = golden(program).parents[1] / name
    begin = base and _made(program, *base)
    with open(made.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (made / "database").exists():
            shutil.rmtree(made, ignore_errors=True)
            with _running(program, made, begin) as world:
                env = make(world)
            (made / "database").write_text(re.search(r"story_\w+", env["DROVER_POSTGRES_URL"]).group(0))
    return made


@contextmanager
def _running(program, folder, copy_of=None):
    from world import World

    drover, servers = Drover(program), Servers(program, folder, copy_of)
    try:
        world = World(drover, servers)
        if copy_of:
            world.filled = {"DROVER_POSTGRES_URL": servers.cluster.conninfo((copy_of / "database").read_text()), "DROVER_KAFKA_BROKERS": world.brokers}
        yield world
    finally:
        try:
            drover.close()
        finally:
            servers.stop()


class Servers:
    """What `drover servers` starts, for a story of a test: `.environment` has the same variables."""

    def __init__(self, program, folder, copy_of=None):
        """`copy_of`: a folder of stopped ones, to begin with their rows and their log."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o711)
        self.cluster = Cluster(folder / "postgres", copy_of=copy_of / "postgres" / "data" if copy_of else golden(program))
        try:
            if copy_of:
                shutil.copytree(copy_of / "broker" / "log", folder / "broker" / "log")
            self.broker = Noida(folder / "broker")
        except BaseException:
            self.cluster.close()
            raise
        self.environment = {"DROVER_TEST_POSTGRES": self.cluster.conninfo(), "DROVER_TEST_BROKERS": self.broker.brokers}

    def stop(self):
        self.broker.stop()
        self.cluster.close()
