"""Disturbs workers, the database and the broker while a seeded load goes on, and compares what is in the result tables at the end with
what one undisturbed worker makes of the same input.

    python Tests/System/torture.py --broker kafka|mock --kills 100 --workers 3 --seed S
    python Tests/System/torture.py --shuffle --seed S          one input, many orders and partition counts: one digest

Environment: DROVER_BIN (default .build/release/drover). Prints its seed first and a JSON line at the end; exit code 1 when a table differs
(the first differing row is printed and the folder with all logs is kept), when a worker ended by itself, when a stored offset went
backwards, or when something was never worked off. tests: test_torture.py. What is undisturbed runs on the embedded broker.
"""
import argparse
import hashlib
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import psycopg
from brokers import DIES_WITH_US, ROOT, Mock, Noida, newest_librdkafka
from cluster import Cluster
from harness import HANG_S, scratch, until
from hosts import Hosts
from kafka import Kafka
from servers import TEMPLATE, golden
from torture_input import CARS, MACHINES, TOURS, Fleet, tick
from world import accept_stamps, producer, waiting_clocks

TOPICS = (CARS, MACHINES, TOURS)
# What a worker says of PostgreSQL's 53100.
DISK_IS_FULL = "The server's disk is full"


# The shortest that the product takes.
SESSION_S = 6


class Wrong(AssertionError):
    """The engine did not keep a promise."""


# MARK: what is in the tables

RESULTS = (
    "vehicle", "vehicle_minute", "trip", "vehicle_day", "machine_reading", "alert", "rejected", "registration", "service",
    "acknowledgement", "alert_triage", "silence", "poll_request", "trip_note", "driving", "assignment", "health_scan", "car_support", "trip_mark",
    "account_settings", "trip_start", "trip_weather", "tour_event", "tour_day",
)
# Columns that tell about the processing: where a record lay, how often a row was written, the state to go on from.
PROCESSING = re.compile(r"partition|offset|told_at|revision|revised|migration|(^|_)state_bytes$|^alert_state$|written_at|updated_at|committed_at|pushed_at|retried_at")
# An alert keeps the id that was first told (docs: an episode that late data move), so that ids follow the order of arrival.
TOLD = re.compile(r"^alert_id$|^first_opened_at$|told")


def tables(conninfo, any_order=False):
    """The rows of every result table as sorted tuples of text, with their columns; withdrawn alerts are left out."""
    found = {}
    with psycopg.connect(conninfo) as connection:
        for table in RESULTS:
            columns = [
                name for (name, kind) in connection.execute(
                    "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'drover' AND table_name = %s "
                    "ORDER BY column_name", (table,)).fetchall()
                if not PROCESSING.search(name) and not (kind == "bytea" and "state" in name) and not (any_order and TOLD.search(name))
            ]
            if not columns:
                raise Wrong(f"the database has no table drover.{table}")
            # What could not be decoded may lie on the topic more than once, when it was sent more than once.
            # An account's settings stand in every partition.
            distinct = "DISTINCT" if table in ("rejected", "account_settings") else ""
            where = "WHERE state <> 'withdrawn'" if table == "alert" else ""
            # Cars' alerts are judged a commit at a time: which opening was told first depends on where commits fell.
            shown = ", ".join(
                f"CASE kind WHEN 'machine' THEN {name}::text END" if table == "alert" and TOLD.search(name) else f"{name}::text"
                for name in columns)
            rows = connection.execute(f"SELECT {distinct} {shown} FROM drover.{table} {where}").fetchall()
            found[table] = (columns, sorted(rows, key=lambda row: tuple(value or "" for value in row)))
    return found


def digest(found):
    """md5 of each table, and of all."""
    each = {table: hashlib.md5(repr(content).encode()).hexdigest() for table, content in found.items()}
    return {**each, "all": hashlib.md5(repr(sorted(each.items())).encode()).hexdigest()}


def difference(ours, expected):
    """Says the first row of the first table that differs; None when nothing does."""
    keys = ("kind", "vehicle", "topic", "minute_at", "start_at", "day_at", "read_at", "parameter", "opened_at", "first_bytes")
    for table, (columns, rows) in expected.items():
        found, missing = set(ours[table][1]) - set(rows), set(rows) - set(ours[table][1])
        if ours[table] == (columns, rows):
            continue

        def key(row):
            return tuple(row[columns.index(name)] or "" for name in keys if name in columns)

        first = min([*found, *missing], key=key, default=None)
        if first is None:
            return f"{table}: a row is there more than once"
        beside = [dict(zip(columns, row)) for side in (found, missing) for row in side if key(row) == key(first)]
        told = [f"{table}: {len(missing)} of {len(rows)} rows are not as expected, {len(found)} of {len(ours[table][1])} are others"]
        told.append("first at " + ", ".join(f"{n}={v}" for n, v in zip([n for n in keys if n in columns], key(first))))
        if len(beside) == 2:
            told += [f"  {name}: is {beside[0][name]}, expected {beside[1][name]}" for name in columns if beside[0][name] != beside[1][name]]
        else:
            told.append(f"  {'should not be there' if first in found else 'is missing'}: {dict(zip(columns, first))}")
        return "\n".join(told)
    return None


# MARK: load

class Load(threading.Thread):
    """Pushes the items in their order, no further than it is allowed to; keeps the ends of the log from the acknowledgements."""

    def __init__(self, broker, partitions, items):
        super().__init__(daemon=True)
        self.items, self.partitions = items, partitions
        self.ends, self.failed, self.pushed, self.stopped, self.held = {}, None, 0, False, False
        # The number of the last item at the greatest offset of each place, and whether any item came to lie before an earlier one.
        self.newest, self.is_reordered = {}, False
        self.allow(1)
        # One request at a time keeps the order within a partition, whatever is tried again. Not the idempotent producer: what an
        # acknowledgement that was lost puts on the log twice is input like any other.
        settings = {
            "brokers": broker.brokers, "acks": "all", "linger.ms": 20, "max.in.flight.requests.per.connection": 1, "log_level": 0,
            "message.timeout.ms": HANG_S * 1000, "reconnect.backoff.max.ms": 500, "retry.backoff.ms": 100,
            # A record's time-out runs while it waits here, too: no more than the slowest broker takes in that time.
            "queue.buffering.max.messages": 10_000,
        }
        self.producer = producer(**settings)

    def allow(self, fraction, seconds=0):
        """Lets it push up to that part of the items, evenly over so many seconds."""
        allowed, began, behind = int(len(self.items) * fraction), time.monotonic(), self.pushed
        pace = (allowed - behind) / seconds if seconds else float("inf")
        self.may_push = lambda number: number < allowed and (seconds == 0 or number - behind < (time.monotonic() - began) * pace)
        self.allowed = allowed

    def run(self):
        try:
            for number, item in enumerate(self.items):
                while not self.stopped and (self.held or not self.may_push(number)):
                    self.producer.poll(0.01)
                if self.stopped:
                    return
                if item.is_tick and number >= len(self.items) - 1:
                    self._flush()  # Everything that the last tick closes lies before it.
                for topic, partition in self._places(item):
                    self._push(topic, partition, item, number)
                self.pushed = number + 1
            self._flush()
        except Exception as error:  # Told by whoever waits for the load.
            self.failed = error

    def _places(self, item):
        if item.key is not None:
            return [(item.topic, None)]
        return [(topic, number) for topic in (TOPICS if item.is_tick else [item.topic]) for number in range(self.partitions)]

    def _push(self, topic, partition, item, number):
        arguments = {"partition": partition} if partition is not None else {}
        while True:
            try:
                self.producer.produce(topic, item.value, item.key, on_delivery=lambda error, message: self._delivered(error, message, number), **arguments)
                break
            except BufferError:
                self.producer.poll(0.05)
        self.producer.poll(0)

    def tick(self, topic, partition, ms):
        """One more, once all items are pushed: a tick judges so many vehicles again, and no more."""
        self._push(topic, partition, tick(ms, ms), self.pushed)
        self.pushed += 1
        self._flush()

    def _flush(self):
        until(lambda: self.stopped or self.producer.flush(1) == 0, about="the broker's acknowledgement of the load")

    def _delivered(self, error, message, number):
        if error is not None:
            self.failed = self.failed or Wrong(f"the load was not taken: {error}")
            return
        place = (message.topic(), message.partition())
        if message.offset() < self.ends.get(place, 0):
            self.failed = self.failed or RuntimeError(
                f"the broker lost what it had acknowledged: {place} is at {message.offset()} after {self.ends[place]}")
        self.ends[place] = max(self.ends.get(place, 0), message.offset() + 1)
        offset, last = self.newest.get(place, (-1, -1))
        self.is_reordered = self.is_reordered or (message.offset() > offset) != (number > last)
        self.newest[place] = max((offset, last), (message.offset(), number))


# MARK: workers

class Worker:
    """A `drover work` process whose lines go to a file."""

    def __init__(self, number, name, command, env, folder, host=None):
        self.host = host
        if host:
            command, env = host.command(command), {**env, **host.environment}
        self.name, self.path = name, folder / f"worker-{number:03d}-{name or 'dynamic'}.log"
        self.is_meant_to_end = False
        with open(self.path, "wb") as log:
            self.process = subprocess.Popen(
                [*DIES_WITH_US, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, start_new_session=True)

    def said(self):
        return self.path.read_text(errors="replace")

    def share(self):
        """How many partitions the group has given it."""
        told = re.findall(r'"partitions (assigned|revoked)" count="?(\d+)', self.said())
        return sum(int(count) if what == "assigned" else -int(count) for what, count in told)

    def kill(self):
        self.is_meant_to_end = True
        self.process.kill()
        self.process.wait(HANG_S)

    def terminate(self):
        # Before it says that it has started, it need not have heard of signals.
        until(lambda: self.process.poll() is not None or '"worker started"' in self.said(), self.said, about="a worker that has started")
        self.is_meant_to_end = True
        self.process.terminate()

    def wait(self):
        try:
            code = self.process.wait(HANG_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Wrong(f"a worker did not stop on SIGTERM\n{self.said()[-3000:]}")
        if code != 0:
            raise Wrong(f"a worker ended with {code} on SIGTERM\n{self.said()[-3000:]}")


class Torture:
    """One database that workers of one group fill from one broker, while it is disturbed."""

    def __init__(self, program, folder, cluster, broker, items, database, seed=0, partitions=4, workers=1, named=False, settings=None,
                 librdkafka="debian", hosts=None, say=lambda text: None):
        """`database`: the name of an empty one of `cluster`, which is the group's, too. `named`: the workers are fixed members, each
        started again under its own name, so that nobody waits for the session of one that was killed."""
        self.hosts, self.named = hosts, named
        self.program, self.folder, self.cluster, self.broker, self.items = str(program), Path(folder), cluster, broker, items
        self.partitions, self.settings, self.say = partitions, settings or {}, say
        self.chance, self.wanted = random.Random(f"{seed} faults"), workers
        self.folder.mkdir(parents=True, exist_ok=True)
        self.owner, self.group = cluster.conninfo(database), database
        worker = f"host={cluster.hosts.address} user=torture dbname={database}" if cluster.hosts else cluster.conninfo(database, "torture")
        newest = newest_librdkafka() if librdkafka == "newest" else {}
        self.env = {**os.environ, **newest, "DROVER_POSTGRES_URL": worker, "DROVER_KAFKA_BROKERS": broker.brokers,
                    "DROVER_KAFKA_PARTITIONS": str(partitions), "DROVER_POSTGRES_READER_URL": "",
                    "DROVER_KAFKA_SESSION_TIMEOUT_MS": str(SESSION_S * 1000),
                    # The load's ticks are of its own time and close everything at its end; ticks of today would let that wait for the next.
                    "DROVER_TICKS_ROLES": "serve"}
        self.workers, self.lives, self.looking = [], 0, None
        self.load = Load(broker, partitions, items)
        self.done, self.recovery, self.lasted, self.highest = [], {}, {}, {}

    # MARK: running

    def run(self, plan=()):
        """Starts load and workers, does the faults of the plan one after the other while the load goes on, waits until all is written."""
        steps = len(plan) + 2
        self.load.allow(1 / steps if plan else 1)
        try:
            for number in range(self.wanted):
                self._start(self._name())
            self._wait_for_rules()
            self.load.start()
            for number, fault in enumerate(plan):
                if fault in SLOW:
                    until(lambda: all(worker.share() > 0 for worker in self.workers), self._told, about="a share for each worker")
                # Slow enough for some commits: a worker that has nothing in its hands has nothing to lose.
                self.load.allow((number + 2) / steps, SESSION_S + 10 if fault in SLOW else 0.6)
                self._await_progress()
                time.sleep(self.chance.uniform(0, 0.3))
                self._fault(fault)
                while len(self.workers) < self.wanted and number + 1 < len(plan):
                    self._start(self._name())
            self.load.allow(1)
            self._work_off()
            for worker in self.workers:
                worker.terminate()
            for worker in self.workers:
                worker.wait()
        finally:
            self.load.stopped = True
            for worker in self.workers:
                worker.process.send_signal(signal.SIGCONT)
                worker.kill()
            if self.load.ident:
                self.load.join(HANG_S)
            if self.looking:
                self.looking.close()
        return self

    def _wait_for_rules(self):
        """What is told first follows from where the rules stand among the readings: before them, in every run."""
        with psycopg.connect(self.owner, autocommit=True) as connection:
            until(lambda: connection.execute("SELECT count(*) FROM drover.rule_set").fetchone()[0] >= self.load.partitions,
                  self._told, about="the rules in every partition")

    def tables(self, any_order=False):
        return tables(self.owner, any_order)

    def count_said(self, text):
        return sum(path.read_text(errors="replace").count(text) for path in self.folder.glob("worker-*.log"))

    def fenced(self):
        """How often a worker found that another owns its partition: whether the fence was tried at all."""
        return self.count_said("another worker owns")

    def _name(self):
        """Of the next worker."""
        taken = [worker.name for worker in self.workers]
        return next(name for name in (f"torture-{number}" for number in range(100)) if name not in taken) if self.named else ""

    def _start(self, name):
        self.lives += 1
        settings = {"kafka.group": self.group, **({"kafka.instance_id": name} if name else {}), **self.settings}
        command = [self.program, "work", *(part for key, value in settings.items() for part in ("--set", f"{key}={value}"))]
        host = self.hosts.hosts[self.lives % len(self.hosts.hosts)] if self.hosts else None
        self.workers.append(Worker(self.lives, name, command, self.env, self.folder, host))

    # MARK: watching

    def _look(self):
        """Where each partition stands; none when the database is away. Fails on what must not be."""
        for worker in self.workers:
            if not worker.is_meant_to_end and worker.process.poll() is not None:
                raise Wrong(f"a worker ended by itself with {worker.process.returncode}\n{worker.said()[-3000:]}")
        if self.load.failed:
            raise self.load.failed
        try:
            self.looking = self.looking or psycopg.connect(self.owner, autocommit=True, connect_timeout=5)
            rows = self.looking.execute("SELECT topic, partition, next_offset FROM drover.partition_progress").fetchall()
        except psycopg.OperationalError:
            self.looking = None
            return None
        for topic, partition, offset in rows:
            if offset < self.highest.get((topic, partition), 0):
                raise Wrong(f"the stored offset of {topic}[{partition}] went back from {self.highest[topic, partition]} to {offset}")
            self.highest[topic, partition] = offset
        return sum(self.highest.values())

    def _told(self):
        return "\n".join(f"{worker.path.name}:\n{worker.said()[-1500:]}" for worker in self.workers)

    def _lag(self):
        return {place: end - self.highest.get(place, 0) for place, end in self.load.ends.items() if end > self.highest.get(place, 0)}

    def _await_progress(self):
        """Until something more is written, so that faults do not only hit workers that wait; returns how long it took."""
        began, before = time.monotonic(), self._look() or sum(self.highest.values())

        def is_on():
            now = self._look()
            return now is not None and (now > before or not self._lag() and self.load.pushed >= self.load.allowed)

        until(is_on, self._told, about="something new in the tables")
        return time.monotonic() - began

    def _work_off(self):
        def is_done():
            return self._look() is not None and not self.load.is_alive() and not self._lag()

        while True:
            # However long it takes, as long as it goes on.
            while not is_done():
                before = sum(self.highest.values())
                until(lambda: is_done() or sum(self.highest.values()) > before or self.load.is_alive(), self._told,
                      lambda: f"records that are left: {self._lag()}; pushed {self.load.pushed} of {len(self.items)}", about="the rest in the tables")
            waiting = waiting_clocks(self.looking)
            if not waiting:
                return
            for topic, partition, ms in waiting:
                self.load.tick(topic, partition, ms)

    # MARK: faults

    def _fault(self, name):
        began = time.monotonic()
        if name.startswith("fail "):
            told = self.broker.tell(name)
        else:
            told = getattr(self, "fault_" + name.replace("-", "_"))()
        took = time.monotonic() - began
        waited = self._await_progress()
        self.done.append(name)
        self.recovery.setdefault(name, []).append(round(waited, 2))
        self.lasted.setdefault(name, []).append(round(took, 2))
        self.say(f"{len(self.done)}: {name} {told or ''} ({took:.1f} s, then {waited:.1f} s until something was written; "
                 f"{self.load.pushed} of {len(self.items)} pushed, {sum(self._lag().values())} behind)")

    def _pick(self):
        return self.chance.choice(self.workers)

    def fault_kill(self):
        """SIGKILL, and another starts: under the same name, or as a new member."""
        worker = self._pick()
        worker.kill()
        self.workers.remove(worker)
        self._start(worker.name)

    def fault_leave(self):
        """A worker stops on SIGTERM; another joins."""
        worker = self._pick()
        self._leave(worker)
        self._start(worker.name)

    def fault_join(self):
        """One more joins, or one of those leaves."""
        if len(self.workers) <= self.wanted:
            return self._start("")
        self._leave(self._pick())

    def _leave(self, worker):
        worker.terminate()
        worker.wait()
        self.workers.remove(worker)

    def fault_takeover(self):
        """SIGKILL without another that starts: the members that are left take over. Until every partition goes on."""
        worker = self._pick()
        worker.kill()
        self.workers.remove(worker)
        if not self.workers:
            self._start(worker.name)
        self._await_every_partition()

    def fault_zombie(self):
        """Stopped for longer than the session, so that others take over; then it goes on where it was, believing that all is as before."""
        worker = self._pick()
        # Not in a transaction: its locks would be waited for until PostgreSQL ends it (SchemaConnection.swift), half a minute. What one of its
        # sessions waits for may be given to it later, and is seen in the same way.
        self._stop_where(worker, lambda open_ones: not open_ones)
        self._stop_beyond_session(worker)

    def fault_zombie_commit(self):
        """The same, stopped in the middle of a transaction: its locks stay, and it may be the one that commits."""
        worker = self._pick()
        met = self._stop_where(worker, lambda open_ones: open_ones)
        self._stop_beyond_session(worker)
        return "" if met else "(never met in a transaction)"

    def fault_copy(self):
        """A writer's session that holds every partition's row and gets no more of its COPY. To PostgreSQL it is busy."""
        with psycopg.connect(self.cluster.conninfo(self.group, "torture")) as connection:
            connection.execute("CREATE TEMPORARY TABLE stage_held (n int)")
            connection.execute("SELECT FROM drover.partition_progress FOR UPDATE")
            try:
                with connection.cursor().copy("COPY stage_held FROM STDIN") as copy:
                    copy.write("1\n")
                    self._await_every_partition()
            except psycopg.errors.AdminShutdown:
                return "(it was ended)"
        raise Wrong("a session that stood still amid its COPY was not ended")

    def _stop_where(self, worker, is_there):
        """Stops it again and again, for some seconds, until what it left open at the database is as wanted."""
        query = "SELECT pid, xact_start FROM pg_stat_activity WHERE usename = 'torture' AND xact_start IS NOT NULL"
        end = time.monotonic() + 20
        with psycopg.connect(self.cluster.conninfo(), autocommit=True) as connection:
            while True:
                worker.process.send_signal(signal.SIGSTOP)
                # A transaction that takes so long belongs to the one that is stopped, or waits for it.
                open_ones = set(connection.execute(query).fetchall())
                time.sleep(0.1)
                if is_there(open_ones & set(connection.execute(query).fetchall())):
                    return True
                if time.monotonic() > end:
                    return False
                worker.process.send_signal(signal.SIGCONT)
                time.sleep(self.chance.uniform(0, 0.02))

    def _stop_beyond_session(self, worker):
        """It is stopped already."""
        try:
            self._await_every_partition()
        finally:
            worker.process.send_signal(signal.SIGCONT)

    def _await_every_partition(self):
        """Until something that came after now is written in every partition, so that somebody owns each. Where nothing more may come:
        until all is written."""
        before = dict(self.load.ends)
        until(lambda: self.load.failed or self.load.pushed >= self.load.allowed or all(self.load.ends[place] > end for place, end in before.items()),
              about="something new in every partition")
        ends = dict(self.load.ends)
        until(lambda: self._look() is not None and all(self.highest.get(place, 0) >= end for place, end in ends.items()), self._told,
              about="an owner of every partition")

    def fault_pause(self):
        """Stopped for a while shorter than the session."""
        worker = self._pick()
        worker.process.send_signal(signal.SIGSTOP)
        time.sleep(self.chance.uniform(0.1, 2))
        worker.process.send_signal(signal.SIGCONT)

    def fault_pg_fast(self):
        self.cluster.stop(signal.SIGINT)
        time.sleep(self.chance.uniform(0, 1))
        self.cluster.start()

    def fault_pg_immediate(self):
        self.cluster.stop(signal.SIGQUIT)
        time.sleep(self.chance.uniform(0, 1))
        self.cluster.start()

    def fault_pg_backends(self):
        """Every connection is cut; the server stays."""
        with psycopg.connect(self.cluster.conninfo(), autocommit=True) as connection:
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'torture'")

    def fault_pg_full(self):
        """No byte left on the database's disk until a worker missed one, and for a while longer."""
        told = self.count_said(DISK_IS_FULL)
        # What is pushed while the disk is filled could be written before it is full, and nobody would meet the fault.
        self.load.held = True
        self.cluster.fill_disk()
        self.load.held = False
        until(lambda: self.count_said(DISK_IS_FULL) > told or self.cluster.process.poll() is not None, self._told, about="a word on the full disk")
        time.sleep(self.chance.uniform(2, 8))
        self.cluster.free_disk()

    def fault_broker(self, how=signal.SIGTERM):
        """The broker stops properly and comes back on the same port with the same log."""
        self.broker.stop(how)
        time.sleep(self.chance.uniform(0, 0.5))
        if not self.broker.start():
            raise RuntimeError(f"the broker did not come back\n{self.broker.said()}")

    def fault_broker_kill(self):
        """The same after SIGKILL: it looks through its log first."""
        self.fault_broker(signal.SIGKILL)

    def fault_cut(self):
        """The cable of a worker's host is cut for a while shorter than the session."""
        host = self._pick().host
        host.cut()
        time.sleep(self.chance.uniform(1, 4))
        host.mend()

    def fault_cut_long(self):
        """Longer than the session: others take over, and it comes back believing that all is as before."""
        host = self._pick().host
        host.cut()
        try:
            self._await_every_partition()
        finally:
            host.mend()

    def fault_slow(self):
        """The way to a worker's host becomes as slow as an old modem's: everything waits for seconds, and much is lost."""
        host = self._pick().host
        host.slow(96)
        time.sleep(self.chance.uniform(4, 8))
        host.fast()

    def fault_clock(self):
        """The clock of a worker's host jumps by an hour, then by years, then back."""
        host = self._pick().host
        for seconds in (3_600, -3_600, self.chance.choice((-300_000_000, 300_000_000)), 0):
            host.set_clock(seconds)
            time.sleep(self.chance.uniform(0.5, 2))

    def fault_mock_error(self):
        """The next requests of a kind fail with something that a real cluster says now and then."""
        api, errors = self.chance.choice([
            ("fetch", ("NOT_LEADER_FOR_PARTITION", "UNKNOWN_TOPIC_OR_PART", "LEADER_NOT_AVAILABLE", "_TRANSPORT")),
            ("produce", ("NOT_LEADER_FOR_PARTITION", "NOT_ENOUGH_REPLICAS", "_TRANSPORT")),
            ("list-offsets", ("NOT_LEADER_FOR_PARTITION", "LEADER_NOT_AVAILABLE", "_TRANSPORT")),
            ("offset-commit", ("NOT_COORDINATOR", "REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION", "_TRANSPORT")),
            ("heartbeat", ("NOT_COORDINATOR", "REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "_TRANSPORT")),
            ("join-group", ("COORDINATOR_NOT_AVAILABLE", "UNKNOWN_MEMBER_ID", "_TRANSPORT")),
            ("sync-group", ("NOT_COORDINATOR", "REBALANCE_IN_PROGRESS", "_TRANSPORT")),
            ("find-coordinator", ("COORDINATOR_NOT_AVAILABLE", "_TRANSPORT")),
            ("metadata", ("LEADER_NOT_AVAILABLE", "_TRANSPORT")),
        ])
        # A member that is told to join again does so for each of them, which takes seconds.
        most = 2 if api in ("offset-commit", "heartbeat", "join-group", "sync-group") else 8
        command = f"fail {api} {self.chance.randint(1, most)} {self.chance.choice(errors)}"
        self.broker.tell(command)
        return command

    def fault_mock_leader(self):
        command = f"leader {self.chance.choice(TOPICS)} {self.chance.randrange(self.partitions)} {self.chance.randint(1, 3)}"
        self.broker.tell(command)
        return command

    def fault_mock_no_leader(self):
        place = f"{self.chance.choice(TOPICS)} {self.chance.randrange(self.partitions)}"
        self.broker.tell(f"leader {place} -1")
        time.sleep(self.chance.uniform(0.2, 1))
        self.broker.tell(f"leader {place} {self.chance.randint(1, 3)}")

    def fault_mock_coordinator(self):
        self.broker.tell(f"coordinator {self.group} {self.chance.randint(1, 3)}")

    def fault_mock_slow(self):
        number = self.chance.randint(1, 3)
        self.broker.tell(f"rtt {number} {self.chance.randint(50, 900)}")
        time.sleep(self.chance.uniform(0.2, 1))
        self.broker.tell(f"rtt {number} 0")

    def fault_mock_down(self):
        number = self.chance.randint(1, 3)
        self.broker.tell(f"down {number}")
        time.sleep(self.chance.uniform(0.2, 1))
        self.broker.tell(f"up {number}")


# Faults that take longer than a session.
SLOW = ("takeover", "zombie", "zombie-commit", "copy", "cut-long", "slow")
ANYWHERE = ("pause", "leave", "join", "pg-fast", "pg-immediate", "pg-backends", "zombie", "zombie-commit", "takeover")
OTHERS = {
    "kafka": ANYWHERE + ("broker", "broker-kill"),
    "mock": ANYWHERE + ("mock-error", "mock-error", "mock-error", "mock-leader", "mock-no-leader", "mock-coordinator", "mock-slow", "mock-down"),
}


def plan_of(broker, kills, others, seed):
    """A seeded order of so many kills and so many other faults."""
    chance = random.Random(f"{seed} plan")
    plan = ["kill"] * kills + [chance.choice(OTHERS[broker]) for _ in range(others)]
    chance.shuffle(plan)
    return plan


# MARK: whole proofs

class Bench:
    """Folder, database cluster and program of some runs; the servers end with it."""

    def __init__(self, program, seed, say=lambda text: None, disk_mib=None, hosts=0):
        self.program, self.seed, self.say = program, seed, say
        self.folder = scratch("drover-torture-")
        self.hosts = Hosts(self.folder, hosts) if hosts else None
        self.cluster = Cluster(self.folder / "postgres", disk_mib, self.hosts, copy_of=golden(program))
        with psycopg.connect(self.cluster.conninfo(), autocommit=True) as connection:
            connection.execute("CREATE ROLE torture LOGIN IN ROLE drover_writer")
        self.count, self.references, self.kafka = 0, {}, None

    def close(self, keep=False):
        if self.kafka:
            self.kafka.close()
        if not keep:
            self.cluster.stop(signal.SIGQUIT)  # Nobody wants what it would write yet.
        self.cluster.close()
        if self.hosts:
            self.hosts.close()
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def broker(self, name, folder):
        """Kafka is one for all runs, one after the other; the others start in no time."""
        if name != "kafka":
            return {"noida": Noida, "mock": Mock}[name](folder)
        if not self.kafka:
            self.kafka = Kafka(self.folder / "kafka", *([self.hosts.address] if self.hosts else []))
        elif self.kafka.process.poll() is not None:
            self.kafka.start()
        return self.kafka

    def database(self):
        """An empty one."""
        self.count += 1
        with psycopg.connect(self.cluster.conninfo(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE run_{self.count} TEMPLATE {TEMPLATE} STRATEGY FILE_COPY")
        return f"run_{self.count}"

    def run(self, broker, items, plan=(), partitions=4, **options):
        """One run with empty topics and a database of its own."""
        database = self.database()
        folder = self.folder / f"run-{self.count}"
        # The embedded broker is on the loopback only.
        hosts = self.hosts if broker == "kafka" else None
        server = self.broker(broker, folder / "broker")
        try:
            # Those that workers read; the mock makes none by itself.
            server.prepare({topic: partitions for topic in (*TOPICS, "drover.dispatch", "drover.sightings")})
            if broker == "mock":
                accept_stamps(self.cluster.conninfo(database), (*TOPICS, "drover.dispatch", "drover.sightings"), partitions)
            torture = Torture(
                self.program, folder, self.cluster, server, items, database, seed=self.seed, partitions=partitions, say=self.say, hosts=hosts,
                **options)
            return torture.run(plan)
        finally:
            if server != self.kafka:
                server.close()

    def reference(self, items, partitions=4, any_order=False):
        """The tables after one undisturbed worker."""
        key = (id(items), partitions, any_order)
        if key not in self.references:
            self.references[key] = self.run("noida", items, partitions=partitions).tables(any_order)
        return self.references[key]

    def prove(self, broker, items, plan, partitions=4, **options):
        """A disturbed run must leave what the undisturbed one left."""
        run = self.run(broker, items, plan, partitions, **options)
        # A broker whose partitions lose their leader may take a record that was tried again after a later one. Then what was told
        # first is another thing, as it is for any other order.
        any_order = run.load.is_reordered
        self.say(f"the log is {'in another order than it was sent' if any_order else 'in the order in which it was sent'}")
        expected = self.reference(items, partitions, any_order)
        if told := difference(run.tables(any_order), expected):
            raise Wrong(f"seed {self.seed}, {broker}, {' '.join(run.done)}:\n{told}\nlogs: {run.folder}")
        return run

    def orders(self, fleet):
        """Name, items, partitions and settings of each arrival that must leave the same results."""
        in_order, hour = fleet.in_order(), 3_600_000
        return [
            ("in order, 4 partitions", in_order, 4, {}),
            ("shuffled within an hour", fleet.shuffled(hour), 4, {}),
            ("shuffled across hours", fleet.shuffled(), 4, {}),
            ("as sent, 5 % late and 10 % twice", fleet.as_sent(), 4, {}),
            ("in order, 10 % twice", fleet.in_order(duplicates=0.1), 4, {}),
            ("shuffled, 10 % twice, 1 partition", fleet.shuffled(duplicates=0.1), 1, {}),
            ("shuffled within an hour, 12 partitions", fleet.shuffled(hour), 12, {}),
            ("in order, a commit a record", in_order, 4, {"kafka.batch_messages_max": 1, "work.commit_interval_ms": 1}),
            ("shuffled, batches of 10,000", fleet.shuffled(), 12, {"kafka.batch_messages_max": 10_000, "work.commit_interval_ms": 2_000}),
        ]

    def prove_orders(self, fleet, only=("",), without=()):
        """Every order (or those whose name holds one of `only`, and none of `without`) leaves the same results; returns their digests."""
        expected, faults = None, []
        for name, items, partitions, settings in self.orders(fleet):
            if not any(part in name for part in only) or any(part in name for part in without):
                continue
            began = time.monotonic()
            found = self.run("noida", items, partitions=partitions, settings=settings).tables(any_order=True)
            self.say(f"{name}: {digest(found)['all']} ({time.monotonic() - began:.1f} s)")
            expected = expected or found
            if told := difference(found, expected):
                faults.append(f"{name}:\n{told}")
        if faults:
            raise Wrong(f"seed {self.seed}: {len(faults)} orders of the same readings leave other results\n" + "\n".join(faults))
        return digest(expected)


def default_program():
    return Path(os.environ.get("DROVER_BIN", ROOT / ".build" / "release" / "drover")).resolve()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--broker", choices=OTHERS, default="kafka")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--others", type=int, help="further faults (default: a quarter of the kills)")
    parser.add_argument("--plan", help="these faults instead, in this order, separated by commas; "
                        "on mock also its command: 'fail offset-commit 4 ILLEGAL_GENERATION'")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--named", action="store_true", help="fixed members: who was killed starts again under its name")
    parser.add_argument("--partitions", type=int, default=12)
    parser.add_argument("--cars", type=int, help="default: 300; mock: 60")
    parser.add_argument("--machines", type=int, default=20)
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**6)))
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the workers")
    parser.add_argument("--librdkafka", choices=["debian", "newest"], default="debian")
    parser.add_argument("--shuffle", action="store_true", help="orders and partition counts instead of faults")
    parser.add_argument("--keep", action="store_true", help="keep the folder with all logs")
    arguments = parser.parse_args()

    began = time.monotonic()

    def say(text):
        print(f"[{time.monotonic() - began:7.1f} s] {text}", file=sys.stderr, flush=True)

    say(f"seed {arguments.seed}")
    cars = arguments.cars or (60 if arguments.broker == "mock" else 300)
    fleet = Fleet(arguments.seed, cars, arguments.machines, (10, 40), 180 if arguments.shuffle else 60)
    bench = Bench(default_program(), arguments.seed, say)
    result, failed = {"seed": arguments.seed, "readings": len(fleet.readings)}, True
    try:
        if arguments.shuffle:
            result["digest"] = bench.prove_orders(fleet, without=("a commit a record",))["all"]
            # A commit takes some milliseconds, so that this order needs a set of its own.
            small = Fleet(arguments.seed, 2, 1, (4, 6), 6)
            result["digest_small"] = bench.prove_orders(small, only=("in order, 4", "a commit a record", "10,000"))["all"]
        else:
            others = arguments.kills // 4 if arguments.others is None else arguments.others
            plan = arguments.plan.split(",") if arguments.plan else plan_of(arguments.broker, arguments.kills, others, arguments.seed)
            items = fleet.as_sent()
            settings = dict(pair.split("=", 1) for pair in arguments.set)
            run = bench.prove(arguments.broker, items, plan, arguments.partitions, workers=arguments.workers, named=arguments.named,
                              settings=settings, librdkafka=arguments.librdkafka)
            result |= {
                "broker": arguments.broker, "records": len(items), "workers": arguments.workers, "fenced": run.fenced(), "digest": digest(run.tables())["all"],
                "until_written_s": {name: {"count": len(times), "median": statistics.median(times), "max": max(times)}
                                    for name, times in sorted(run.recovery.items())},
            }
        failed = False
    except AssertionError as wrong:
        say(str(wrong))
    finally:
        result |= {"ok": not failed, "seconds": round(time.monotonic() - began, 1), "load": os.getloadavg()[0]}
        bench.close(keep=failed or arguments.keep)
        if failed or arguments.keep:
            say(f"kept: {bench.folder}")
        print(json.dumps(result))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
