"""A rehearsal of the rolling upgrade of docs/upgrade.md, and of going back: an older version of this repository's history, under load,
role by role to the program at hand; then the older program again on the new tables.

    python Tests/System/upgrade.py --from COMMIT [--cars N] [--ballast ROWS] [--plant SQL] [--keep]

The older version is built in `.build-upgrade/COMMIT`, a clone, unless it is there. Two workers, a relay, a gateway with emulated boxes and
a page, each with the login that an installation gives it, on servers of the rehearsal's own. Meanwhile cars and machines speak, phones
hand readings in, an account looks at pages, a report falls due each minute. It fails (exit code 1) when a page or the API answers 5xx,
when rows stop coming, when a role ends by itself, when the replay differs from what is in the tables, or when a reading that was
acknowledged is not there exactly once. `--plant` runs SQL as the owner after the migration, so that one sees it fail.
Environment: DROVER_BIN (default .build/release/drover).
"""
import argparse
import collections
import http.client
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.parse
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path

import psycopg
import torture_input
from brokers import ROOT, free_port
from cluster import Cluster
from harness import HANG_S, Drover, Running, scratch, until
from kafka import Kafka, missing
from migrations import BASELINE, newest
from people import PASSWORD, Visitor, token
from world import producer

CARS, MACHINES = torture_input.CARS, torture_input.MACHINES
# As Deploy/container/logins makes them.
LOGINS = {
    "drover_worker": "drover_writer", "drover_web": "drover_reader, drover_api", "drover_pages": "drover_page", "drover_notify": "drover_relay",
    "drover_poller": "drover_gateway", "drover_surveyors": "drover_survey",
}
PARTITIONS = 4
WORKERS = ("work-1", "work-2")
# Longer than a worker needs to leave, start and load, shorter than anybody should wait for rows.
STANDSTILL_S_MAX = 45


class Wrong(AssertionError):
    """The upgrade did not keep a promise."""


# MARK: the two programs

def built(commit, say):
    """The program of an older commit, from a clone of this repository."""
    def git(*words, where=ROOT):
        return subprocess.run(["git", "-C", str(where), *words], check=True, capture_output=True, text=True).stdout.strip()

    commit = git("rev-parse", "--short", commit + "^{commit}")
    folder = ROOT / ".build-upgrade" / commit
    program = folder / ".build" / "debug" / "drover"
    if not folder.exists():
        folder.parent.mkdir(exist_ok=True)
        git("clone", "--quiet", str(ROOT), str(folder))
        git("checkout", "--quiet", "--detach", commit, where=folder)
    if not program.exists():
        swift = shutil.which("swift") or "/opt/swift/usr/bin/swift"
        say(f"building {commit}: some minutes; log: {folder / 'build.log'}")
        with open(folder / "build.log", "wb") as log:
            if subprocess.run([swift, "build", "--product", "drover"], cwd=folder, stdout=log, stderr=log).returncode != 0:
                sys.exit(f"upgrade: {commit} does not build. Look at {folder / 'build.log'}")
    return commit, program


def newest_migration(program):
    """Of the version that the program was built from."""
    folder = program.parents[2].joinpath("Queries", "migrations")
    if not folder.is_dir():
        folder = program.resolve().parents[3] / "Queries" / "migrations"
    return newest(folder)


def workers_stop(was, to, page=None):
    """Whether docs/upgrade.md says that workers are stopped for one of the migrations in between."""
    wanted = re.findall(r"^\| migration (\d{4}).*stop the workers", page or (ROOT / "docs" / "upgrade.md").read_text(), re.M)
    return any(was < int(number) <= to for number in wanted)


# MARK: load

class Live(threading.Thread):
    """Cars at 1 Hz and machines each 5 s, of now; some late, some twice. Keeps what the broker acknowledged."""

    def __init__(self, brokers, seed, cars, machines):
        super().__init__(daemon=True)
        self.chance = random.Random(f"{seed} live")
        self.speeds = {f"live-{number:03d}": self.chance.uniform(0, 60) for number in range(cars)}
        self.coolants = {f"field-{number:02d}": self.chance.uniform(70, 90) for number in range(machines)}
        self.producer = producer(brokers, **{"acks": "all", "linger.ms": 20, "max.in.flight.requests.per.connection": 1, "log_level": 0})
        self.stopped, self.failed = threading.Event(), None

    def push(self, topic, fields):
        value = json.dumps({"schema": 1, "kind": "reading", **fields}).encode()
        self.producer.produce(topic, value, fields["vehicle"].encode(), on_delivery=self._delivered)
        self.producer.poll(0)

    def _delivered(self, error, message):
        if error is not None:
            self.failed = self.failed or Wrong(f"the load was not taken: {error}")

    def car(self, vehicle, ts):
        speed = self.speeds[vehicle] = min(130.0, max(0.0, self.speeds[vehicle] + self.chance.uniform(-3, 3.05)))
        return {"id": f"{vehicle}-{ts}", "vehicle": vehicle, "ts": ts, "speed_kmh": round(speed, 1), "rpm": 800 + int(speed * 25),
                "maf_gps": round(2 + speed * 0.25, 2), "latitude_deg": 41.61, "longitude_deg": -93.59}

    def machine(self, vehicle, ts):
        coolant = self.coolants[vehicle] = min(105.0, max(60.0, self.coolants[vehicle] + self.chance.uniform(-4, 4.1)))
        return {"id": f"{vehicle}-{ts}", "vehicle": vehicle, "ts": ts, "model": "S690 Combine", "serial": vehicle, "engine_hours_h": 1000.5,
                "coolant_c": round(coolant, 1), "gps_available": True, "gps_fix_ts": ts, "latitude_deg": 41.6, "longitude_deg": -93.59}

    def drive(self, vehicle, began, minutes):
        """A recording: all at once."""
        self.speeds.setdefault(vehicle, 30)
        for second in range(minutes * 60):
            self.push(CARS, self.car(vehicle, int(began.timestamp() + second) * 1000))

    def run(self):
        second, held = int(time.time()), []
        while not self.stopped.is_set():
            now = int(time.time())
            for second in range(second + 1, now + 1):
                fresh = [(CARS, self.car(vehicle, second * 1000)) for vehicle in list(self.speeds) if vehicle.startswith("live-")]
                if second % 5 == 0:
                    fresh += [(MACHINES, self.machine(vehicle, second * 1000)) for vehicle in self.coolants]
                for item in fresh:
                    if self.chance.random() < 0.05:
                        held.append((second + self.chance.randint(5, 40), item))
                    else:
                        self.push(*item)
                    if self.chance.random() < 0.05:
                        held.append((second + self.chance.randint(0, 40), item))
                for due, item in [each for each in held if each[0] <= second]:
                    self.push(*item)
                held = [each for each in held if each[0] > second]
            self.producer.poll(0)
            time.sleep(0.1)
        for _, item in held:
            self.push(*item)

    def finish(self):
        self.stopped.set()
        self.join(30)
        until(lambda: self.producer.flush(1) == 0, about="the broker's acknowledgement of the load")


class Asking(threading.Thread):
    """Somebody who asks the page again and again; `once` is a story of it."""

    def __init__(self, once, pause_s):
        super().__init__(daemon=True)
        self.once, self.pause_s, self.answers, self.stopped = once, pause_s, [], threading.Event()

    def run(self):
        number = 0
        while not self.stopped.is_set():
            began = time.monotonic()
            status, what = self.once(number)
            self.answers.append((began, time.monotonic() - began, status, what))
            number += 1
            self.stopped.wait(self.pause_s)

    def finish(self):
        self.stopped.set()
        self.join(60)


def ask(port, method, path, body=None, headers=None, seconds=60):
    """Status, type, text; 0 while nobody listens. What is a stream is not read."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        kind = answer.headers["Content-Type"] or ""
        return answer.status, kind, "" if "event-stream" in kind else answer.read().decode(errors="replace")
    except (OSError, http.client.HTTPException):
        return 0, "", ""
    finally:
        connection.close()


# MARK: the installation

class Site:
    """Servers, logins, settings and the roles of an installation, as docs/operator.md has them."""

    def __init__(self, folder, old, new, seed, cars, say):
        self.folder, self.old, self.new, self.say, self.seed = folder, old, new, say, seed
        self.cluster, self.broker = Cluster(folder / "postgres"), Kafka(folder / "broker")
        self.roles, self.left, self.ended = {}, [], False
        with self.sql(self.cluster.conninfo()) as connection:
            connection.execute("CREATE ROLE drover_owner LOGIN CREATEROLE")
            connection.execute("CREATE DATABASE drover OWNER drover_owner")
        self.owner = self.login("drover_owner")
        (folder / "key").write_bytes(b"k" * 32)
        (folder / "key").chmod(0o600)
        self.port = free_port()
        self.settings = self._settings()
        self.cars = cars

    def login(self, name):
        return self.cluster.conninfo("drover", name)

    @contextmanager
    def sql(self, conninfo=None):
        with psycopg.connect(conninfo or self.cluster.conninfo("drover"), autocommit=True) as connection:
            yield connection

    def rows(self, text, *values):
        with self.sql() as connection:
            return connection.execute(text, values or None).fetchall()

    def _settings(self):
        """One file for both programs, with what the older knows."""
        self.known = subprocess.run([str(self.old), "settings"], capture_output=True, text=True, timeout=60).stdout
        wanted = {
            "kafka.brokers": self.broker.brokers, "kafka.partitions": PARTITIONS, "kafka.session_timeout_ms": 6000,
            "postgres.url": self.login("drover_worker"), "postgres.owner_url": self.owner, "postgres.reader_url": self.login("drover_web"),
            "postgres.page_url": self.login("drover_pages"), "postgres.relay_url": self.login("drover_notify"),
            "postgres.gateway_url": self.login("drover_poller"), "postgres.survey_url": self.login("drover_surveyors"),
            "gateway.spool_path": self.folder / "spool.sqlite", "gateway.poll_interval_s": 1, "gateway.registry_interval_s": 1,
            "gateway.back_off_s_max": 2, "gateway.plain_tcp_cidrs": "127.0.0.0/8", "reports.folder": self.folder / "reports", "reports.grace_s": 0, "ticks.interval_s": 1,
            "people.code_key_file": self.folder / "key", "web.port": self.port, "web.public_url": f"http://127.0.0.1:{self.port}",
        }
        (self.folder / "reports").mkdir()
        path, areas = self.folder / "drover.yaml", collections.defaultdict(list)
        for key, value in wanted.items():
            if self.knows(key):
                area, _, name = key.partition(".")
                areas[area].append(f"  {name}: {json.dumps(str(value)) if not isinstance(value, int) else value}")
        path.write_text("".join(f"{area}:\n" + "\n".join(lines) + "\n" for area, lines in areas.items()))
        path.chmod(0o640)
        return path

    def knows(self, key):
        return re.search(rf"^\s*{re.escape(key)}\s", self.known, re.M) is not None

    def run(self, program, *words, seconds=600, fine=(0,)):
        done = Drover(program).run(*words, "--settings", self.settings, seconds=seconds)
        if done.code not in fine:
            raise Wrong(f"drover {' '.join(map(str, words))}: ended with {done.code}\n{done.out[-2000:]}{done.err[-2000:]}")
        return done

    # MARK: roles

    def start(self, program, *names):
        """Of `work-1`, `work-2`, `notify`, `gateway` and `serve`, until they have begun. Workers without `kafka.instance_id`: who leaves by
        SIGTERM is not waited for."""
        began = []
        for name in names:
            role, metrics = name.partition("-")[0], free_port()
            words = [role, "--settings", str(self.settings)]
            if program == self.new or self.knows("metrics.port"):
                words += ["--set", f"metrics.port={metrics}"]
            self.roles[name] = Running([str(program), *words], {**os.environ, "DROVER_LOG": "info"})
            began.append((name, role, metrics, self.roles[name]))
        for name, role, metrics, running in began:
            if role in ("work", "serve"):
                running.wait_for("partitions assigned" if role == "work" else "the page is at")
            # The newer program says when it is ready (404: none of the two does).
            if program == self.new:
                until(lambda: ask(metrics, "GET", "/readyz")[0] in (200, 404), lambda: ask(metrics, "GET", "/readyz")[2], running, about=f"/readyz of {name}")

    def restart(self, name, program):
        """Stop, start; how long nobody was there."""
        began = time.monotonic()
        self.stop(name)
        self.start(program, name)
        return time.monotonic() - began

    def stop(self, name):
        running = self.roles.pop(name)
        if (code := running.stop()) != 0:
            raise Wrong(f"{name} ended with {code} on SIGTERM\n{running.output()[-2000:]}")
        self.left.append((name, running))

    def close(self):
        self.ended = True
        for running in self.roles.values():
            running.kill()
        self.broker.close()
        self.cluster.close()

    def check_roles(self):
        for name, running in self.roles.items():
            if running.process.poll() is not None:
                raise Wrong(f"{name} ended by itself with {running.process.returncode}\n{running.output()[-3000:]}")

    def said(self, since):
        """Warnings and errors of all roles after this many lines of each, the most frequent first."""
        found = collections.Counter()
        for name, running in [*self.roles.items(), *self.left]:
            for line in running.lines[since.get(id(running), 0):]:
                if match := re.match(r'\S+ (warning|error) "([^"]*)"', line):
                    found[f"{name.partition('-')[0]}: {match[2]}"] += 1
        return [f"`{text}` ×{count}" for text, count in found.most_common(3)]

    def lines(self):
        return {id(running): len(running.lines) for running in [*self.roles.values(), *[each for _, each in self.left]]}

    # MARK: filling

    def fill(self, load):
        """What an installation has after a while: drives of years and months ago, machines, people's words, rubbish."""
        fleet = torture_input.Fleet(self.seed, 12, 6, (10, 20), 40)
        for item in fleet.as_sent():
            if item.is_tick:
                continue
            for partition in [None] if item.key is not None else range(PARTITIONS):
                load.producer.produce(item.topic, item.value, item.key, **({} if partition is None else {"partition": partition}))
                load.producer.poll(0)
        now = datetime.now(timezone.utc)
        for days in (70, 36, 9, 1):
            for number in range(8):
                load.drive(f"past-{number}", now - timedelta(days=days, minutes=7 * number), 12)
        until(lambda: load.producer.flush(1) == 0, about="the broker's acknowledgement of the first load")

    def work_off(self):
        """Until all that was pushed so far is written."""
        ends = self.ends()
        until(lambda: not self._left(ends), lambda: f"not written: {self._left(ends)}", *self.roles.values(), about="what was pushed, in the tables")

    def ends(self):
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer({"bootstrap.servers": self.broker.brokers, "group.id": "look", "log_level": 0})
        try:
            return {(topic, number): consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=HANG_S)[1]
                    for topic in (CARS, MACHINES) for number in range(PARTITIONS)}
        finally:
            consumer.close()

    def _left(self, ends):
        stored = {(topic, partition): offset for topic, partition, offset in
                  self.rows("SELECT topic, partition, next_offset FROM drover.partition_progress")}
        return {place: end - stored.get(place, 0) for place, end in ends.items() if end > stored.get(place, 0)}

    def ballast(self, rows):
        """So many more minutes, so that a migration that copies the table takes as long as somewhere."""
        names = [name for name, in self.rows(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'drover' AND table_name = 'vehicle_minute' ORDER BY ordinal_position")]
        taken = ", ".join(f"'ballast-' || copy || '-' || {name}" if name == "vehicle" else name for name in names)
        [[count]] = self.rows("SELECT count(*) FROM drover.vehicle_minute")
        self.rows(f"WITH made AS (INSERT INTO drover.vehicle_minute ({', '.join(names)}) SELECT {taken} FROM drover.vehicle_minute, "
                  f"generate_series(1, {max(1, rows // max(1, count))}) AS copy RETURNING 1) SELECT count(*) FROM made")
        return self.rows("SELECT count(*), pg_size_pretty(pg_total_relation_size('drover.vehicle_minute')) FROM drover.vehicle_minute")[0]


# MARK: the rehearsal

class Rehearsal:
    """The steps, each with what was looked at and what came of it."""

    def __init__(self, site, load, ballast, plant, stops_workers):
        self.site, self.load, self.wanted_ballast, self.plant, self.stops_workers = site, load, ballast, plant, stops_workers
        self.results, self.looking, self.uploading, self.emulator = [], None, None, None
        self.written, self.accepted, self.late = [], [], []

    @contextmanager
    def step(self, name, is_serve_away=False, needs_rows=True):
        """What load, pages and phones met while it lasted is told beside what the step itself says."""
        site, told = self.site, []
        before, began = site.lines(), time.monotonic()
        site.say(name)
        yield told.append
        ended = time.monotonic()
        time.sleep(0.3)
        site.check_roles()
        if self.load.failed:
            raise self.load.failed
        faults, self.late = self.late, []
        if site.roles and self.written:
            rows, still = self._rows(began, ended)
            if needs_rows:
                told.append(f"{rows:,} records written, longest standstill {still:.1f} s")
                if ended - began > 10 and rows == 0 or still > STANDSTILL_S_MAX:
                    faults.append("rows stopped coming")
        for who, asking in (("pages", self.looking), ("uploads", self.uploading)):
            if asking:
                answers = [each for each in asking.answers if each[0] + each[1] >= began and each[0] <= ended]
                wrong = [each for each in answers if each[2] >= 500 or each[2] in (302, 303, 401, 403, 404)]
                away = sum(each[2] == 0 for each in answers)
                slowest = max((each[1] for each in answers), default=0)
                told.append(f"{len(answers)} {who}, slowest {slowest:.1f} s" + (f", {away} found nobody" if away else ""))
                if wrong:
                    faults.append(f"{who}: " + ", ".join(f"{each[3]} {each[2]}" for each in wrong[:3]) + f" ({len(wrong)} in all)")
                if away and not is_serve_away:
                    faults.append(f"{who}: nobody answered {away} times")
        self._row(name, told, faults, ended - began, site.said(before))

    def _row(self, name, told, faults, seconds, said):
        self.results.append({"step": name, "told": told, "faults": faults, "seconds": seconds, "said": said})
        self.site.say(f"  {'WRONG: ' + '; '.join(faults) + ' -- ' if faults else ''}{'; '.join(told)}; {seconds:.1f} s; {'; '.join(said)}")

    def _rows(self, began, ended):
        """Records written meanwhile and the longest time without any."""
        seen = [(at, sum_) for at, sum_ in self.written if began - 1 <= at <= ended + 0.3]
        still, last, moved = 0.0, began, seen[0][1] if seen else 0
        for at, total in seen:
            if total > moved:
                still, last, moved = max(still, at - max(last, began)), at, total
        return (seen[-1][1] - seen[0][1] if seen else 0), max(still, ended - last)

    def watch_rows(self):
        with self.site.sql() as connection:
            while not self.site.ended:
                total = connection.execute("SELECT coalesce(sum(next_offset), 0)::bigint FROM drover.partition_progress").fetchone()[0]
                self.written.append((time.monotonic(), total))
                time.sleep(0.1)

    # MARK: who asks

    def people(self):
        site = self.site
        link = urllib.parse.urlsplit(site.run(site.old, "account", "add", "root", "--mail", "root@example.org", "--role", "administrator").out.strip())
        site.run(site.old, "account", "add", "miller", "--mail", "miller@example.org", "--role", "fleet_manager")
        self.visitor = Visitor(site.port)
        self.visitor.post("/password", link=token(f"{link.path}?{link.query}"), password=PASSWORD, again=PASSWORD)
        if self.visitor.log_in("root@example.org").status != 303:
            raise Wrong("the administrator cannot log in")
        self.upload, self.read = (site.run(site.old, "token", "add", "--account", "root", "--scope", scope).out.strip() for scope in ("upload", "read"))
        self.schedule = None
        if "schedule  " in subprocess.run([str(site.old), "--help"], capture_output=True, text=True).stdout:
            self.schedule = int(site.run(site.old, "schedule", "add", "fleet-day", "--account", "root", "--cron", "* * * * *", "--as", "csv", "--file").out)

    def get(self, path, bearer=None):
        return ask(self.site.port, "GET", path, headers={"Authorization": f"Bearer {bearer}"} if bearer else {"Cookie": self.visitor.cookie, "Sec-Fetch-Site": "same-origin"})

    def look(self, number):
        path = self.PAGES[number % len(self.PAGES)]
        return self.get(path, self.read if path.startswith("/v1/machines") else None)[0], path

    PAGES = ("/", "/vehicles", "/alerts", "/trips?vehicle=live-000", "/v1/machines", "/fleet", "/reports", "/map", "/v1/machines/machine-000/readings")

    def hand_in(self, number):
        """A reading by HTTPS as apps do it: the same one again until it is taken."""
        ts = int(time.time() * 1000)
        reading = {"schema": 1, "kind": "reading", "id": f"phone-{number}", "vehicle": "phone", "ts": ts, "model": "S690 Combine", "coolant_c": 71.5}
        while True:
            status, _, text = ask(self.site.port, "POST", "/v1/readings", json.dumps(reading),
                                  {"Authorization": f"Bearer {self.upload}", "Content-Type": "application/json"})
            if status in (200, 202):
                self.accepted.append(reading["id"])
            if status != 0 or self.site.ended:
                return status, "POST /v1/readings"
            time.sleep(0.1)

    def crawl(self, addresses_max=250):
        """Every page that links lead to from the first one, at most three of a kind, and the API; what answered 5xx."""
        todo, seen, kinds, wrong = collections.deque(["/", *self.PAGES]), set(), collections.Counter(), []
        description = self.get("/openapi.json")
        for path, methods in json.loads(description[2])["paths"].items():
            if "get" in methods and "{" not in path:
                todo.append(path)
        while todo and len(seen) < addresses_max:
            path = todo.popleft()
            kind = re.sub(r"[0-9]+", "N", path.partition("?")[0])
            kind = re.sub(r"(live|past|car|machine|field|phone)-?[\w.-]*", "V", kind) + "?" + "&".join(sorted(re.findall(r"[?&](\w+)=", path)))
            if path in seen or kinds[kind] >= 3 or path.startswith("/oidc"):
                continue
            seen.add(path)
            kinds[kind] += 1
            status, form, text = self.get(path, self.read if path.startswith("/v1/machines") else None)
            if status >= 500 or status == 0:
                wrong.append(f"{path} {status}")
            if status == 200 and "html" in form:
                for link in re.findall(r'(?:href|src)="(/[^"#]*)', text):
                    if link != "/logout":
                        todo.append(link.replace("&amp;", "&"))
        return len(seen), len(kinds), wrong

    def crawled(self, told):
        count, kinds, wrong = self.crawl()
        told(f"{count} addresses of {kinds} kinds followed, {len(wrong)} with 5xx")
        if wrong:
            self.late.append(f"5xx: {', '.join(wrong[:5])}")

    # MARK: the steps

    def run(self):
        site, old, new = self.site, self.site.old, self.site.new
        with self.step("older version: migrate, start, fill", needs_rows=False) as told:
            site.run(old, "migrate")
            with site.sql() as connection:
                for login, roles in LOGINS.items():
                    connection.execute(f"DO $$ BEGIN CREATE ROLE {login} LOGIN; EXCEPTION WHEN duplicate_object THEN ALTER ROLE {login} LOGIN; END $$")
                    for role in roles.split(", "):
                        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone():
                            connection.execute(f"GRANT {role} TO {login}")
            site.start(old, *WORKERS, "notify", "gateway", "serve")
            self.up_to_date()
            self.people()
            self.boxes()
            site.fill(self.load)
            site.work_off()
            if self.wanted_ballast:
                count, size = site.ballast(self.wanted_ballast)
                told(f"{count:,} minutes of cars, {size}")
        threading.Thread(target=self.watch_rows, daemon=True).start()
        self.load.start()
        # Pages name this car.
        until(lambda: site.rows("SELECT 1 FROM drover.vehicle WHERE vehicle = 'live-000'"), *site.roles.values(), about="the first car")
        self.looking, self.uploading = Asking(self.look, 0.1), Asking(self.hand_in, 0.25)
        self.looking.start()
        self.uploading.start()
        with self.step("older version under load") as told:
            time.sleep(12)
            self.crawled(told)
        with self.step("`drover check` with the new program") as told:
            done = site.run(new, "check", fine=(0, 1))
            told(f"ends with {done.code}")
            if done.code:
                self.late.append(f"it says {' / '.join((done.out + done.err).splitlines())[:400]}")
        self.was = newest_migration(old)
        if self.stops_workers:
            # As the table of docs/upgrade.md wants it: pages, uploads, boxes and relays go on meanwhile.
            with self.step("workers stop, `drover migrate`, new workers start; the other old roles go on") as told:
                began = time.monotonic()
                for name in WORKERS:
                    site.stop(name)
                self.migrate(told)
                site.start(new, *WORKERS)
                self.up_to_date()
                told(f"{time.monotonic() - began:.1f} s until everything was written up to now")
        else:
            with self.step("`drover migrate` with the new program; all old roles go on") as told:
                self.migrate(told)
        with self.step("`drover migrate` once more") as told:
            site.run(new, "migrate")
            told("nothing to do")
        if self.plant:
            with site.sql(site.owner) as connection:
                connection.execute(self.plant)
        with self.step(f"older {'relay, gateway and page' if self.stops_workers else 'version'} on the new tables") as told:
            time.sleep(15)
            self.up_to_date()
            told("all partitions are written up to now")
            self.crawled(told)
            self.told_on(told)
        self.old_recording(f"a recording of months ago, {'new' if self.stops_workers else 'old'} workers", 150)
        for name in () if self.stops_workers else WORKERS:
            with self.step(f"`{name}` to the new program") as told:
                told(f"away for {site.restart(name, new):.1f} s")
                self.up_to_date()
        for name in ("notify", "gateway", "serve"):
            with self.step(f"`{name}` to the new program", is_serve_away=name == "serve") as told:
                told(f"away for {site.restart(name, new):.1f} s")
        with self.step("new version") as told:
            time.sleep(12)
            self.up_to_date()
            self.crawled(told)
            self.told_on(told)
        self.verify("up")
        with self.step("back: all roles to the older program, one after the other", is_serve_away=True) as told:
            for name in ("serve", "gateway", "notify", *WORKERS):
                site.restart(name, old)
            self.up_to_date()
        with self.step("older version again") as told:
            time.sleep(12)
            self.crawled(told)
            self.told_on(told)
        self.old_recording("a recording of months ago, old workers again", 180)
        with self.step("forward again", is_serve_away=True) as told:
            for name in (*WORKERS, "notify", "gateway", "serve"):
                site.restart(name, new)
            self.up_to_date()
        for asking in (self.looking, self.uploading):
            asking.finish()
        self.looking = self.uploading = None
        self.load.finish()
        self.verify("all")
        self.each_once()

    def migrate(self, told):
        began = time.monotonic()
        self.site.run(self.site.new, "migrate")
        told(f"migrations {self.was + 1} to {newest_migration(self.site.new)} in {time.monotonic() - began:.1f} s")

    def up_to_date(self):
        """As an operator waits for `drover status`: every partition is written up to a few seconds ago."""
        until(lambda: self.site.rows(
            "SELECT coalesce(min(clock_at) > now() - interval '8 seconds', false) FROM drover.partition_progress WHERE topic = ANY (%s)",
            [CARS, MACHINES])[0][0], *self.site.roles.values(), about="the present in every partition")

    def told_on(self, told):
        """What is decided goes out: the outbox is empty now and then."""
        until(lambda: self.site.rows("SELECT count(*) FROM drover.outbox")[0][0] == 0, *self.site.roles.values(), about="an empty outbox")
        told("outbox empty")

    def old_recording(self, name, days):
        """It needs a partition that nobody has made."""
        with self.step(name) as told:
            began = time.monotonic()
            self.load.drive(f"late-{days}", datetime.now(timezone.utc) - timedelta(days=days), 3)
            until(lambda: self.is_recorded(days), *self.site.roles.values(), about="the rows of a recording of months ago")
            told(f"written after {time.monotonic() - began:.1f} s")

    def is_recorded(self, days):
        return self.site.rows("SELECT count(*) FROM drover.vehicle_minute WHERE vehicle = %s", f"late-{days}")[0][0] >= 2

    def boxes(self):
        site = self.site
        scenario = site.folder / "scenario.yaml"
        scenario.write_text("interval_s: 2\nmemory_min: 30\nboxes:\n" + "\n".join(
            (ROOT / "Deploy" / "scenarios" / "overheating.yaml").read_text().partition("boxes:\n")[2].splitlines()) + "\n")
        self.emulator = Running([str(site.new), "emulate", "mtg", "--scenario", str(scenario), "--boxes", "4", "--format", "json"], dict(os.environ))
        self.emulator.wait_for(r'"box":3,.*\n')
        self.serials = []
        for line in self.emulator.output().splitlines():
            if line.startswith("{"):
                box = json.loads(line)
                self.serials.append(box["serial"])
                site.run(site.old, "vehicle", "register", box["serial"], "--model", "S690 Combine", "--address", f"{box['host']}:{box['port']}",
                         "--certificate", box["certificate_sha256"] or "none", "--by", "root")

    def verify(self, name):
        """The results again from the topics alone."""
        site = self.site
        with self.step(f"replay and `drover verify` ({name})") as told:
            site.rows("WITH gone AS (DELETE FROM drover.vehicle_minute WHERE vehicle LIKE 'ballast-%%' RETURNING 1) SELECT count(*) FROM gone")
            site.run(site.new, "replay", "--into", f"again_{name}")
            done = site.run(site.new, "verify", f"again_{name}", "--format", "json", fine=(0, 1))
            tables = json.loads(done.out)["compared"] if done.out else []
            differing = [row for row in tables if not row["equal"]]
            wrong = [f"{row['table']}: {row['differences'][0]['text']}" for row in differing if not self.is_of_the_older(row)]
            told(f"{len(tables)} tables, {sum(row['rows'] for row in tables):,} rows, {len(wrong)} differ, {len(differing) - len(wrong)} as docs/upgrade.md says")
            if wrong or done.code and not differing:
                self.late.append(f"the replay differs: {'; '.join(wrong)[:600] or done.err[-400:]}")

    def is_of_the_older(self, row):
        """Differences that docs/upgrade.md tells of: a reason in the older program's words."""
        return row["table"] == "rejected" and all(": reason is " in difference["text"] for difference in row["differences"])

    def each_once(self):
        """By their ids, whatever a replay says."""
        site = self.site
        with self.step("each once: uploads, boxes, reports", needs_rows=False) as told:
            site.work_off()
            stored = collections.Counter(each for each, in site.rows("SELECT reading_id FROM drover.machine_reading WHERE vehicle = 'phone' AND contact IS NULL"))
            lost, doubled = set(self.accepted) - set(stored), [each for each, count in stored.items() if count > 1]
            told(f"{len(self.accepted)} uploads taken, {len(lost)} lost, {len(doubled)} doubled")
            if lost or doubled:
                self.late.append(f"uploads lost {sorted(lost)[:3]}, doubled {doubled[:3]}")
            missing = total = 0
            for serial in self.serials:
                times = [second for second, in site.rows(
                    "SELECT extract(epoch FROM read_at)::bigint / 2 FROM drover.machine_reading WHERE vehicle = %s AND contact IS NULL ORDER BY 1", serial)]
                total += len(times)
                if len(times) < 30 or len(times) != len(set(times)):
                    self.late.append(f"box {serial}: {len(times)} readings, {len(set(times))} different")
                missing += len(set(range(times[0], times[-1] + 1)) - set(times)) if times else 0
            told(f"{total} readings of {len(self.serials)} boxes, {missing} missing in between")
            if missing:
                self.late.append(f"{missing} readings of boxes are missing")
            if self.schedule is not None:
                runs = site.rows("SELECT state, count(*), count(DISTINCT due_at) FROM drover.report_run WHERE schedule_id = %s GROUP BY 1", self.schedule)
                told("reports: " + ", ".join(f"{count} {state}" for state, count, _ in runs))
                if any(state == "failed" for state, _, _ in runs) or not any(state == "done" for state, _, _ in runs):
                    self.late.append(f"reports: {runs}")


def table(results):
    lines = ["| Step | What was looked at | Result | How long |", "| --- | --- | --- | ---: |"]
    for row in results:
        seen = f"; said: {', '.join(row['said'])}" if row["said"] else ""
        lines.append(f"| {row['step']} | {'; '.join(row['told'])}{seen} | {'**' + ' '.join('; '.join(row['faults']).split())[:300] + '**' if row['faults'] else 'well'} | {row['seconds']:.1f} s |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="commit", required=True, metavar="COMMIT", help="the older version, 9a3697d7 or a later one")
    parser.add_argument("--cars", type=int, default=30)
    parser.add_argument("--ballast", type=int, default=100_000, metavar="ROWS", help="further minutes of cars before the migration (default 100000)")
    parser.add_argument("--keep-workers", action="store_true", help="the old workers go on even where docs/upgrade.md says that they stop")
    parser.add_argument("--plant", metavar="SQL", help="a fault, after the migration")
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**6)))
    parser.add_argument("--keep", action="store_true", help="keep the folder")
    arguments = parser.parse_args()
    began = time.monotonic()

    def say(text):
        print(f"[{time.monotonic() - began:7.1f} s] {text}", file=sys.stderr, flush=True)

    if told := missing():
        sys.exit(f"upgrade: {told}")
    new = Path(os.environ.get("DROVER_BIN", ROOT / ".build" / "release" / "drover")).absolute()
    if not os.access(new, os.X_OK):
        sys.exit(f"upgrade: {new} is not built. Run swift build -c release --product drover, or name another in DROVER_BIN")
    commit, old = built(arguments.commit, say)
    if newest_migration(old) < BASELINE:
        sys.exit(f"upgrade: {commit} ends before migration {BASELINE}, from which this program goes on. Name 9a3697d7 or a later one (docs/upgrade.md)")
    say(f"from {commit} (migration {newest_migration(old)}) to migration {newest_migration(new)}, seed {arguments.seed}, load average {os.getloadavg()[0]:.1f}")
    folder = scratch("drover-upgrade-")
    failed, site, rehearsal = True, None, None
    try:
        site = Site(folder, old, new, arguments.seed, arguments.cars, say)
        load = Live(site.broker.brokers, arguments.seed, arguments.cars, 6)
        stops = not arguments.keep_workers and workers_stop(newest_migration(old), newest_migration(new))
        rehearsal = Rehearsal(site, load, arguments.ballast, arguments.plant, stops)
        rehearsal.run()
        failed = any(row["faults"] for row in rehearsal.results)
    except (Wrong, AssertionError) as wrong:
        say(f"WRONG: {wrong}")
    finally:
        if rehearsal:
            print(table(rehearsal.results), flush=True)
            if rehearsal.emulator:
                rehearsal.emulator.process.kill()
        if site:
            for name, running in [*site.roles.items(), *site.left]:
                with open(folder / f"{name}.log", "a") as log:
                    log.write(running.output())
            site.close()
        if failed or arguments.keep:
            say(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{'FAILED' if failed else 'well'} from {commit}, {time.monotonic() - began:.0f} s, load average {os.getloadavg()[0]:.1f}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
