"""Servers of a module's own, a database for each story, and what comparing them needs."""
import json
import re
import shutil
import time
from contextlib import contextmanager
from decimal import Decimal

import psycopg
from confluent_kafka import Consumer, Producer, TopicPartition
from harness import HANG_S, Drover, scratch, until
from servers import TEMPLATE, Servers

TABLES = {
    "vehicle": "kind, vehicle", "vehicle_minute": "vehicle, minute_at", "trip": "vehicle, start_at",
    "trip_start": "vehicle, start_at", "trip_weather": "vehicle, hour_at, cell_millideg, latitude_index, longitude_index",
    "vehicle_day": "vehicle, day_at", "machine_reading": "vehicle, read_at", "alert": "alert_id",
    "rejected": "topic, partition, record_offset", "registration": "kind, vehicle", "service": "vehicle, done_at",
    "acknowledgement": "vehicle, record_id", "alert_triage": "vehicle, record_id", "silence": "topic_partition, record_id", "poll_request": "vehicle, request_id",
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


# The topics that workers read, and what a record is of there.
KEYS = {"drover.cars": "vehicle", "drover.machines": "vehicle", "drover.dispatch": "campus", "drover.sightings": "site", "drover.tours": "tour"}


def producer(brokers, **settings):
    """A producer that puts keys where Drover expects them; Python's own default is another hash."""
    return Producer({"bootstrap.servers": brokers, "partitioner": "murmur2_random", **settings})


def waiting_clocks(connection):
    """Topic, partition and the next millisecond of its clock, where machines or drivers' alerts wait for a tick to be judged again."""
    return connection.execute("""
        SELECT topic, partition, coalesce(1 + (extract(epoch FROM clock_at) * 1000)::bigint, %s) FROM drover.partition_progress p
        WHERE topic = 'drover.machines' AND EXISTS (SELECT FROM drover.machine_rejudging r WHERE r.topic_partition = p.partition)
            OR topic = 'drover.cars' AND EXISTS (SELECT FROM drover.car_watch w WHERE w.topic_partition = p.partition
                AND (w.asked_offset IS NOT NULL OR w.codes_offset IS NOT NULL))
            OR topic = 'drover.cars' AND EXISTS (SELECT FROM drover.account_settings s WHERE s.topic_partition = p.partition
                AND s.account = 'installation' AND s.reached_all_offset IS NULL)
        """, [LONG_AGO_MS]).fetchall()


def messages(brokers, topic):
    """What stands on a topic, partition by partition, in the order of the log."""
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": "tests-read", "enable.auto.commit": False, "receive.message.max.bytes": 1_000_000_000})
    known = consumer.list_topics(timeout=HANG_S).topics
    marks = {p: consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=HANG_S) for p in (known[topic].partitions if topic in known else ())}
    left = {p: high for p, (low, high) in marks.items() if high > low}
    consumer.assign([TopicPartition(topic, p, marks[p][0]) for p in left])
    found = []
    while left:
        message = consumer.poll(HANG_S)
        assert message is not None, f"{topic} cannot be read to its end"
        if message.error() or message.partition() not in left:
            continue
        found.append(message)
        if message.offset() + 1 >= left[message.partition()]:
            del left[message.partition()]
    consumer.close()
    return sorted(found, key=lambda message: (message.partition(), message.offset()))


LONG_AGO_MS = 946_684_800_000  # 2000-01-01


class World:
    """One broker, and databases that are filled from it."""

    def __init__(self, drover, servers):
        self.drover = drover
        self.brokers = servers.environment["DROVER_TEST_BROKERS"]
        self.superuser = servers.environment["DROVER_TEST_POSTGRES"]
        self.count, self.watchers = 0, {}
        # Doors without a lock, for what the tests themselves ask.
        self.plain = {}

    def database(self):
        """A fresh, migrated database; returns the environment that points the command at it."""
        self.count += 1
        name = f"story_{self.count}_{time.monotonic_ns()}"
        with psycopg.connect(self.superuser, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY FILE_COPY")
        conninfo = re.sub(r"dbname='?\w+'?", f"dbname='{name}'", self.superuser)
        return {"DROVER_POSTGRES_URL": conninfo, "DROVER_KAFKA_BROKERS": self.brokers}

    def worker(self, env, name, **settings):
        """A worker whose group is its database's own, so that stories do not share progress."""
        arguments = ["work", "--set", f"kafka.instance_id={name}"]
        for key, value in {"kafka.group": re.search(r"story_\w+", env["DROVER_POSTGRES_URL"]).group(0), **settings}.items():
            arguments += ["--set", f"{key}={value}"]
        worker = self.drover.start(*arguments, env=env)
        # From here on it stops as asked, also where nothing is left for it to do.
        worker.wait_for("worker started")
        return worker

    def assigned(self, env, name, **settings):
        """A worker that has its partitions."""
        worker = self.worker(env, name, **settings)
        worker.wait_for("partitions assigned")
        return worker

    def written(self, env):
        """Records that the database has the results of."""
        with connect(env) as connection:
            return int(connection.execute("SELECT coalesce(sum(next_offset), 0) FROM drover.partition_progress").fetchone()[0])

    def lag(self, env):
        """Records on the topics that workers read which the database has no results of. Asked in this process: a look is a
        millisecond, `drover offsets show` a start of the program."""
        brokers = env["DROVER_KAFKA_BROKERS"]
        if brokers not in self.watchers:
            self.watchers[brokers] = Consumer({"bootstrap.servers": brokers, "group.id": "tests-look", "log_level": 0})
        consumer = self.watchers[brokers]
        with connect(env) as connection:
            stored = {(topic, partition): offset for topic, partition, offset in
                      connection.execute("SELECT topic, partition, next_offset FROM drover.partition_progress")}
        known = consumer.list_topics(timeout=HANG_S).topics
        left = 0
        for topic in KEYS:
            for partition in known[topic].partitions if topic in known else []:
                low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=HANG_S)
                left += max(high - stored.get((topic, partition), low), 0)
        return left

    def import_recordings(self, env, fixtures):
        """The cars and machines that ship with Drover, onto the log."""
        for path, car in recordings(fixtures):
            self.drover.done("import", "cars", path, "--vehicle", car, env=env)
        self.drover.done("import", "machines", fixtures / "machines" / "readings.jsonl", env=env)

    def push(self, topic, *records, brokers=None, **place):
        """Onto the log, each record under what it is of; or all of them where `place` says."""
        sender = producer(brokers or self.brokers)
        for record in records:
            sender.produce(topic, value=json.dumps(record).encode(), **(place or {"key": record[KEYS[topic]].encode()}))
            sender.poll(0)
        assert sender.flush(HANG_S) == 0

    def tell(self, topic, record, brokers=None):
        """Into every partition."""
        sender = producer(brokers or self.brokers)
        for partition in sender.list_topics(topic, timeout=HANG_S).topics[topic].partitions:
            sender.produce(topic, partition=partition, value=json.dumps(record).encode())
        assert sender.flush(HANG_S) == 0

    def tick(self, brokers=None):
        """The present into every partition of the cars' topic: what is open in memory is written."""
        self.tell("drover.cars", {"schema": 1, "kind": "tick", "ts": int(time.time() * 1000), "by": "import.tests"}, brokers)

    def work_off(self, env, _=None):
        """Until the results of all that is on the topics are written, also of what is judged only at ticks."""
        while True:
            until(lambda: self.lag(env) == 0, lambda: self.drover.run("offsets", "show", env=env).out, about="the end of the backlog")
            if not self.tick_waiting(env):
                return

    def replayed(self, env, *settings, into="again", **limit):
        """Made anew from the log all is the same; gives the rows by table."""
        self.drover.done("replay", "--into", into, *settings, env=env, **limit)
        compared = json.loads(self.drover.done("verify", into, *settings, "--format", "json", env=env).out)["compared"]
        assert all(row["equal"] for row in compared), [row for row in compared if not row["equal"]]
        return {row["table"]: row["rows"] for row in compared}

    def finish(self, env):
        """The present to all, and until what follows from it is written, too."""
        self.tick()
        self.work_off(env)

    def tick_waiting(self, env):
        """A millisecond passes where machines or drivers' alerts wait to be judged again."""
        with connect(env) as connection:
            clocks = waiting_clocks(connection)
        brokers = env["DROVER_KAFKA_BROKERS"]
        ticks = producer(self.plain.get(brokers, brokers))
        for topic, partition, ms in clocks:
            tick = {"schema": 1, "kind": "tick", "ts": ms, "by": "import.tests"}
            ticks.produce(topic, partition=partition, value=json.dumps(tick).encode())
        assert ticks.flush(HANG_S) == 0
        return clocks


@contextmanager
def a_world(program):
    """For the fixtures of a module, which outlive a test's command and folder."""
    folder = scratch("drover-module-")
    drover, servers = Drover(program), None
    try:
        servers = Servers(program, folder)
        yield World(drover, servers)
    finally:
        try:
            drover.close()
        finally:
            if servers:
                servers.stop()
            shutil.rmtree(folder, ignore_errors=True)


def connect(env):
    return psycopg.connect(env["DROVER_POSTGRES_URL"], autocommit=True)


def query(env, statement, *values):
    """The rows that a statement gives by itself; none of one that gives none."""
    with connect(env) as connection:
        cursor = connection.execute(statement, values or None)
        return [] if cursor.description is None else cursor.fetchall()


def url_of(env, user):
    """The database's address with another login."""
    return re.sub(r"user='?\w+'?", f"user={user}", env["DROVER_POSTGRES_URL"])


def as_page(env, account):
    """As pages read: whatever the login, the transaction's role is that of pages."""
    connection = psycopg.connect(env["DROVER_POSTGRES_URL"])
    connection.execute("SET LOCAL ROLE drover_page")
    connection.execute("SELECT set_config('drover.account', %s, true)", [account])
    return connection


def as_served(env):
    """The environment of `drover serve` with the logins that production gives it."""
    query(env, "GRANT drover_reader, drover_api TO drover_web; GRANT drover_page TO drover_pages")
    return {**env, "DROVER_POSTGRES_READER_URL": url_of(env, "drover_web"), "DROVER_POSTGRES_PAGE_URL": url_of(env, "drover_pages")}


class Asked:
    """Whoever has a database in `env`."""

    def query(self, statement, *values):
        return query(self.env, statement, *values)

    def login(self, user):
        return url_of(self.env, user)


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


def accept_stamps(conninfo, topics, partitions):
    """For brokers and topics that know no append time: their records are read as their senders stamp them."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(
            """INSERT INTO drover.partition_progress (topic, partition, next_offset, replay_offset, create_time_before)
            SELECT topic, partition, 0, 0, 9223372036854775807 FROM unnest(%s::text[]) topic, generate_series(0, %s - 1) partition""",
            [list(topics), partitions])


def recordings(fixtures):
    """The shipped car recordings, each with a car of its own."""
    files = [path for path in sorted(fixtures.glob("cars/*/*.csv")) if path.name != "expected.csv"]
    return [(path, re.sub(r"[^A-Za-z0-9_.-]", "-", path.stem)) for path in files]


def thousand(value):
    return Decimal(value) / 1000
