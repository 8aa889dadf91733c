"""Servers of a module's own, a database for each story, and what comparing them needs."""
import json
import re
import shutil
import tempfile
import time
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import psycopg
from confluent_kafka import Producer
from harness import PATIENCE, Drover

TABLES = {
    "vehicle": "kind, vehicle", "vehicle_minute": "vehicle, minute_at", "trip": "vehicle, start_at",
    "trip_start": "vehicle, start_at", "trip_weather": "vehicle, hour_at, cell_millideg, latitude_index, longitude_index",
    "vehicle_day": "vehicle, day_at", "machine_reading": "vehicle, read_at", "alert": "alert_id",
    "rejected": "topic, partition, record_offset", "registration": "kind, vehicle", "service": "vehicle, done_at",
    "acknowledgement": "vehicle, record_id", "silence": "topic_partition, record_id", "poll_request": "vehicle, request_id",
    "trip_mark": "vehicle, marked_at, is_start", "trip_note": "vehicle, trip_at, is_discard",
    "driving": "vehicle, record_id", "assignment": "vehicle, assigned_at",
    "account_settings": "topic_partition, account, in_force_at", "health_scan": "vehicle, scan_id", "car_support": "vehicle",
    "car_owner": "vehicle, owned_at", "trip_summary": "vehicle, record_id",
    "campus": "campus", "rider": "campus, rider", "ride": "campus, request", "ride_vehicle": "campus, vehicle",
    "dispatch_decision": "campus, record_offset",
    "survey": "site, survey", "survey_version": "site, survey, version", "survey_waiting": "site, survey, based_on",
    "survey_weather": "site, survey, hour_at", "surveyor": "site, survey, surveyor", "sighting": "site, survey, sighting",
    "sighting_week": "site, species, iso_year, iso_week, behaviour, temperature_band",
    "species_season": "site, latitude_cell, longitude_cell, year, month, species",
    "tour_event": "tour, event", "tour_day": "tour, kind, waypoint, local_date",
}


def within_the_hour(seconds):
    """Waits for the next hour if this one ends sooner than that, for what is about the hour of the clock."""
    if (left := 3600 - time.time() % 3600) < seconds:
        time.sleep(left)


def producer(brokers, **settings):
    """A producer that puts keys where Drover expects them; Python's own default is another hash."""
    return Producer({"bootstrap.servers": brokers, "partitioner": "murmur2_random", **settings})


class World:
    """One broker, and databases that are filled from it."""

    def __init__(self, drover, servers):
        self.drover = drover
        self.brokers = servers.environment["DROVER_TEST_BROKERS"]
        self.superuser = servers.environment["DROVER_TEST_POSTGRES"]
        self.count = 0

    def database(self):
        """A fresh, migrated database; returns the environment that points the command at it."""
        self.count += 1
        name = f"story_{self.count}_{time.monotonic_ns()}"
        with psycopg.connect(self.superuser, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        conninfo = re.sub(r"dbname='?\w+'?", f"dbname='{name}'", self.superuser)
        env = {"DROVER_POSTGRES_URL": conninfo, "DROVER_KAFKA_BROKERS": self.brokers}
        assert self.drover.run("migrate", env=env).code == 0
        return env

    def worker(self, env, name, **settings):
        """A worker whose group is its database's own, so that stories do not share progress."""
        arguments = ["work", "--set", f"kafka.instance_id={name}"]
        for key, value in {"kafka.group": re.search(r"story_\w+", env["DROVER_POSTGRES_URL"]).group(0), **settings}.items():
            arguments += ["--set", f"{key}={value}"]
        return self.drover.start(*arguments, env=env)

    def written(self, env):
        """Records that the database has the results of."""
        with connect(env) as connection:
            return int(connection.execute("SELECT coalesce(sum(next_offset), 0) FROM drover.partition_progress").fetchone()[0])

    def lag(self, env):
        run = self.drover.run("offsets", "show", env=env)
        assert run.code == 0, run.err
        return sum(int(line.split()[5]) for line in run.out.splitlines()[1:])

    def tick(self):
        """The present into every partition of the cars' topic: what is open in memory is written."""
        ticks = producer(self.brokers)
        for partition in ticks.list_topics("drover.cars", timeout=30).topics["drover.cars"].partitions:
            tick = {"schema": 1, "kind": "tick", "ts": int(time.time() * 1000)}
            ticks.produce("drover.cars", partition=partition, value=json.dumps(tick).encode())
        assert ticks.flush(20) == 0

    def work_off(self, env, seconds=60):
        seconds *= PATIENCE
        deadline = time.monotonic() + seconds
        while (left := self.lag(env)) > 0:
            assert time.monotonic() < deadline, f"{left} records are not written after {seconds} s\n" + self.drover.run("offsets", "show", env=env).out
            time.sleep(0.05)


@contextmanager
def a_world(program):
    """For the fixtures of a module, which outlive a test's command and folder."""
    folder = Path(tempfile.mkdtemp(prefix="drover-module-", dir="/tmp"))
    folder.chmod(0o711)
    drover = Drover(program)
    yield World(drover, drover.servers(folder / "data"))
    drover.close()
    shutil.rmtree(folder, ignore_errors=True)


def connect(env):
    return psycopg.connect(env["DROVER_POSTGRES_URL"], autocommit=True)


# What tells how the rows came to be: the state beside a car's latest trip says up to which offset it goes.
PROCESSING = {"state", "revision", "revised_at", "told_at", "resolved_told_at", "record_offset"}


def dump(env):
    """All rows of all tables, in order."""
    with connect(env) as connection:
        return {table: connection.execute(f"SELECT {columns(connection, table)} FROM drover.{table} ORDER BY {key}").fetchall()
                for table, key in TABLES.items()}


def columns(connection, table):
    names = connection.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'drover' AND table_name = %s ORDER BY ordinal_position",
        [table]).fetchall()
    return ", ".join(name for name, in names if name not in PROCESSING)


def recordings(fixtures):
    """The shipped car recordings, each with a car of its own."""
    files = [path for path in sorted(fixtures.glob("cars/*/*.csv")) if path.name != "expected.csv"]
    return [(path, re.sub(r"[^A-Za-z0-9_.-]", "-", path.stem)) for path in files]


def thousand(value):
    return Decimal(value) / 1000
