"""What the files for containers and Kubernetes name, looked up in what the project has."""
import json
import os
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from brokers import Noida
from cluster import Cluster
from harness import ROOT, Drover, Run, scratch

CONTAINER = ROOT / "Deploy" / "container"
# Where the image has what the checkout has.
HOME = "/opt/drover/"


def settings(drover):
    """All settings with the names of their variables."""
    return {each["variable"]: each["key"] for each in json.loads(drover.run("settings", "--format", "json").out)}


def setting_of(variable, known):
    """The setting that a variable of the environment sets, by its value or by a file with it."""
    return known.get(variable) or known.get(variable.removesuffix("_FILE"))


def dotted(tree, prefix=""):
    """The settings of a YAML file."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from dotted(value, f"{prefix}{key}.")
        else:
            yield prefix + key


def check_command(drover, words):
    """The command is one of the program's, with options and settings that it knows."""
    said = drover.run(words[0], "--help")
    assert said.code == 0, words
    assert all(word in said.out for word in words if word.startswith("--")), words
    known = set(settings(drover).values())
    assert {pair.partition("=")[0] for word, pair in zip(words, words[1:]) if word == "--set"} <= known


def run(*words, **environment):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env={**os.environ, **{k: str(v) for k, v in environment.items()}})
    return Run(done.returncode, done.stdout, done.stderr, 0)


def psql_on_path():
    """Debian keeps PostgreSQL's programs apart."""
    newest = max(Path("/usr/lib/postgresql").glob("*/bin/psql"), key=lambda path: int(path.parts[4]))
    return f"{newest.parent}:{os.environ['PATH']}"


class Installed:
    """A cluster that asks for passwords, with the owner and the logins that the container's scripts make."""

    def __init__(self, cluster, folder, drover):
        self.cluster, self.folder, self.drover = cluster, folder, drover
        made = run(CONTAINER / "make-secrets", folder)
        assert made.code == 0, made.err
        for path in folder.iterdir():
            text = path.read_text().replace("host=postgres ", f"host={cluster.folder} ")
            path.chmod(0o600)
            path.write_text(text)
        (cluster.data / "pg_hba.conf").write_text("local all postgres trust\nlocal all all scram-sha-256\n")
        with psycopg.connect(cluster.conninfo(), autocommit=True) as connection:
            connection.execute("SELECT pg_reload_conf()")
        self.script("postgres-owner", PGHOST=cluster.folder, PGUSER="postgres", DROVER_OWNER_FILE=folder / "postgres-owner")
        drover.done("migrate", env={"DROVER_POSTGRES_OWNER_URL_FILE": str(folder / "postgres-owner")})
        self.script("logins", DROVER_SECRETS=folder)

    def script(self, name, **environment):
        done = run(CONTAINER / name, PATH=psql_on_path(), **environment)
        assert (done.code, done.out) == (0, ""), done.err

    def secret(self, name):
        return (self.folder / name).read_text().strip()


@pytest.fixture(scope="module")
def installed(program):
    """With a broker and a folder for what roles keep."""
    folder = scratch("drover-module-")
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        cluster = Cluster(folder / "postgres")
        stack.callback(cluster.close)
        broker = Noida(folder / "broker")
        stack.callback(broker.stop)
        drover = Drover(program)
        stack.callback(drover.close)
        site = Installed(cluster, folder / "secrets", drover)
        site.broker, site.place = broker, folder
        yield site


def linter(name):
    """Beside the tests' Python, where its package puts it."""
    import sys

    found = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert found, f"{name} is not installed; run Deploy/install --test"
    return found
