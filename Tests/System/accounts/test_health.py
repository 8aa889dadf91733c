"""Whether a process lives, and whether it can work: /livez and /readyz beside /metrics, with servers that go and come back."""
import ctypes
import http.client
import json
import os
import re
import shutil
import signal
from pathlib import Path

import migrations
import psycopg
import pytest
from brokers import Noida
from cluster import Cluster
from harness import HANG_S, free_port, freeze, lent, scratch, until
from servers import TEMPLATE, golden

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
ROLES = ("work", "notify", "gateway", "serve")
LOGINS = {"torture": "drover_writer", "relays": "drover_relay", "pollers": "drover_gateway", "readers": "drover_reader, drover_api"}
# As soon as may be. Elsewhere nothing is stuck that a busy machine keeps waiting.
STUCK = {"health.stuck_s": 5}


class Probed:
    """A running process, asked on its port for figures."""

    def __init__(self, running, port):
        self.running, self.port = running, port

    def ask(self, path, seconds=HANG_S):
        """Status and answer; nothing while nobody listens or answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            assert answer.headers["Content-Type"] == "application/json" and answer.headers["Cache-Control"] == "no-store"
            return answer.status, json.loads(answer.read())
        except OSError:
            return None, {"checks": {}}
        finally:
            connection.close()

    def until(self, path, status):
        """The checks of the first answer with this status."""
        return until(lambda: (answer := self.ask(path))[0] == status and answer[1]["checks"], self.running)

    def ill(self, path="/readyz"):
        """What is needed and not well, when the answer is no."""
        status, answer = self.ask(path)
        return {name: each["why"] for name, each in answer["checks"].items() if not each["ok"] and each.get("needed", True)} if status == 503 else {}

    def until_ill(self, *names):
        """Until all of these are not well."""
        until(lambda: set(names) <= set(self.ill()), self.running)


class Site:
    """A database and a broker of a test's own."""

    def __init__(self, cluster, broker, folder, drover):
        self.cluster, self.broker, self.folder, self.drover = cluster, broker, folder, drover
        drover.started.insert(0, broker)  # Stopped after all that is started.
        cluster.databases += 1
        name = f"health_{cluster.databases}"
        with psycopg.connect(cluster.conninfo(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY FILE_COPY")
            for login, roles in LOGINS.items() if cluster.databases == 1 else ():
                connection.execute(f"CREATE ROLE {login} LOGIN IN ROLE {roles}")
        self.owner = cluster.conninfo(name)
        self.env = {"DROVER_POSTGRES_URL": self.login("torture"), "DROVER_KAFKA_BROKERS": self.broker.brokers}

    def start(self, role, *words, env=None, **settings):
        port = free_port()
        settings = {
            "metrics.port": port, "health.stuck_s": 3600, "kafka.partitions": 2, "gateway.spool_path": self.folder / "spool.sqlite",
            "web.port": 0, "postgres.relay_url": self.login("relays"), "postgres.gateway_url": self.login("pollers"),
            "postgres.reader_url": self.login("readers"), **settings}
        if role == "work":
            settings["kafka.instance_id"] = "health"
        pairs = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        return Probed(self.drover.start(role, *words, *pairs, env={**self.env, **(env or {})}), port)

    def login(self, name):
        return self.owner.replace("user=postgres", f"user={name}")


@pytest.fixture(scope="module")
def cluster(program):
    folder = scratch("drover-module-")
    yield from lent(Cluster(folder / "postgres", copy_of=golden(program)))
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def site(cluster, tmp_path, drover):
    """For tests that do not stop PostgreSQL."""
    return Site(cluster, Noida(tmp_path / "broker"), tmp_path, drover)


@pytest.fixture
def lone_site(program, data, tmp_path, drover):
    """For one that does."""
    data.mkdir(mode=0o711)
    cluster = Cluster(data / "postgres", copy_of=golden(program))
    yield Site(cluster, Noida(tmp_path / "broker"), tmp_path, drover)
    drover.close()
    cluster.close()


def test_a_worker_tells_the_truth_from_its_start_to_its_end(lone_site):
    site = lone_site
    site.broker.stop()
    worker = site.start("work")
    assert worker.until("/livez", 200)
    worker.until_ill("partitions", "broker")
    assert site.broker.start()
    ready = worker.until("/readyz", 200)
    assert {"database", "broker", "partitions"} <= set(ready) and ready["partitions"]["why"] == "10 of 10 are read"
    newest = migrations.newest()
    assert ready["database"]["why"] == f"migration {newest}"
    live = worker.ask("/livez")[1]
    assert live["status"] == "live" and {"poll", "lane-0", "commit-0"} <= set(live["checks"])

    site.cluster.stop()
    worker.until_ill("database")
    # To start again would not bring the database back.
    assert worker.ask("/livez")[0] == 200
    site.cluster.start()
    worker.until("/readyz", 200)

    freeze(worker.running)
    assert worker.ask("/livez", seconds=1)[0] is None
    worker.running.signal(signal.SIGCONT)
    worker.until("/livez", 200)
    assert worker.running.stop() == 0 and worker.ask("/livez")[0] is None


def test_a_commit_that_hangs_is_not_ready_and_a_stop_that_waits_for_it_says_so(site, fixtures):
    worker = site.start("work", **STUCK)
    worker.until("/readyz", 200)
    with psycopg.connect(site.owner) as blocker:
        blocker.execute("LOCK TABLE drover.partition_progress IN ACCESS EXCLUSIVE MODE")
        site.drover.done("import", "machines", fixtures / "machines" / "readings.jsonl", env=site.env)
        until(lambda: any("waits for a server" in why for why in worker.ill().values()), worker.running)
        worker.until("/livez", 200)
        worker.running.signal(signal.SIGTERM)
        until(lambda: worker.ill() == {"process": "is stopping"}, worker.running)
    assert worker.running.wait() == 0


def test_one_thread_that_stands_still_is_told(site):
    """Only this thread is held, as a deadlock or an endless loop would."""
    processes = {name: site.start(role, **STUCK) for role, name in (("work", "lane-0"), ("gateway", "adapters"))}
    for process in processes.values():
        process.until("/readyz", 200)
    threads = {name: next(int(path.name) for path in Path(f"/proc/{process.running.pid}/task").iterdir() if (path / "comm").read_text().strip() == name)
               for name, process in processes.items()}
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

    def do(request, thread):
        assert ptrace(request, thread, None, None) == 0, os.strerror(ctypes.get_errno())

    for thread in threads.values():
        do(PTRACE_SEIZE, thread)
        do(PTRACE_INTERRUPT, thread)
        os.waitpid(thread, 0x40000000)
    try:
        for name, process in processes.items():
            # None else stays stuck.
            until(lambda: set(process.ill("/livez")) == {name}, process.running)
            assert "5 s are allowed" in process.ill("/livez")[name]
    finally:
        for thread in threads.values():
            do(PTRACE_DETACH, thread)
    for process in processes.values():
        process.until("/livez", 200)


def test_every_role_says_what_it_needs(site):
    processes = {role: site.start(role) for role in ROLES}

    def until_all(what):
        """Each is asked again and again: what it needs is looked at only while somebody wants to know."""
        until(lambda: all([what(role, process) for role, process in processes.items()]), *(process.running for process in processes.values()))

    def health(*words):
        return site.drover.run("health", *words, "--set", f"metrics.port={processes['work'].port}", env=site.env)
    for role, process in processes.items():
        ready = process.until("/readyz", 200)
        assert ready["database"]["ok"] and ready["broker"]["ok"]
        assert process.ask("/livez")[1]["checks"], f"no loop of {role} is watched"
        # Without other logins there is nothing to look at.
        assert "logins" not in ready or role == "notify"
    until(lambda: health().code == health("--ready").code == 0)

    # The tables are of an older program.
    with psycopg.connect(site.owner, autocommit=True) as connection:
        # One amid others, as after a merge of two programs, and then the last one.
        connection.execute("INSERT INTO drover.migration (number, name, digest) VALUES (9999, '9999_later.sql', '')")
        [row] = connection.execute("DELETE FROM drover.migration WHERE number = %s RETURNING *", [migrations.BASELINE]).fetchall()
        until_all(lambda role, process: "lacks migration 0076" in process.ill().get("database", ""))
        connection.execute(f"INSERT INTO drover.migration VALUES ({', '.join(['%s'] * len(row))})", row)
        connection.execute("DELETE FROM drover.migration WHERE number = 9999")
        [row] = connection.execute("DELETE FROM drover.migration WHERE number = (SELECT max(number) FROM drover.migration) RETURNING *").fetchall()
        until_all(lambda role, process: "drover migrate" in process.ill().get("database", ""))
        until(lambda: (run := health("--ready")).code == 1 and "drover migrate" in run.out)
        until(lambda: health().code == 0)
        connection.execute(f"INSERT INTO drover.migration VALUES ({', '.join(['%s'] * len(row))})", row)
    for process in processes.values():
        process.until("/readyz", 200)

    site.broker.stop()

    def is_told(role, process):
        status, answer = process.ask("/readyz")
        broker = answer["checks"].get("broker", {"ok": True})
        if role in ("serve", "gateway"):
            # It does its work without.
            return not broker["ok"] and (status, answer["status"], broker["needed"]) == (200, "ready", False)
        return not broker["ok"] and status == 503
    until_all(is_told)
    for process in processes.values():
        assert process.ask("/livez")[0] == 200
    assert site.broker.start()
    processes["work"].until("/readyz", 200)


def test_every_login_that_a_role_uses_is_looked_at(site):
    keys = {"serve": {"postgres.page_url": "drover_page", "postgres.survey_url": "drover_survey"},
            "notify": {"postgres.page_url": "drover_page"}}
    logins = {role: {key: f"{role}_{key[9:13]}" for key in each} for role, each in keys.items()}
    with psycopg.connect(site.owner, autocommit=True) as connection:
        processes = {}
        for role, each in logins.items():
            for key, login in each.items():
                connection.execute(f"CREATE ROLE {login} LOGIN IN ROLE {keys[role][key]}")
            processes[role] = site.start(role, **{key: site.login(login) for key, login in each.items()})
        for role, process in processes.items():
            assert process.until("/readyz", 200)["logins"]["why"] == ", ".join(keys[role])
        for number in range(2):
            turn = {role: [*each.items()][number] for role, each in logins.items() if number < len(each)}
            for role, (key, login) in turn.items():
                connection.execute(f"REVOKE {keys[role][key]} FROM {login}")
            for role, (key, _) in turn.items():
                until(lambda: processes[role].ill() == {"logins": f"{key}: its login is not in {keys[role][key]}"}, processes[role].running)
            for role, (key, login) in turn.items():
                connection.execute(f"GRANT {keys[role][key]} TO {login}")
            for role in turn:
                processes[role].until("/readyz", 200)
        # A session that is open says nothing of the next one.
        names = [login for each in logins.values() for login in each.values()]
        connection.execute("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = ANY(%s)", [names])
        for login in names:
            connection.execute(f"ALTER ROLE {login} NOLOGIN")
        for role, process in processes.items():
            until(lambda: all(key in process.ill().get("logins", "") for key in keys[role]), process.running)
            assert not any(login in json.dumps(process.ask("/readyz")[1]) for login in names)


def test_a_probe_opens_no_session_and_tells_no_secret(site):
    worker = site.start("work")
    worker.until("/readyz", 200)
    sessions = "SELECT array_agg(pid) FROM pg_stat_activity WHERE application_name = 'drover-health' AND datname = current_database()"
    with psycopg.connect(site.owner, autocommit=True) as connection:
        before = connection.execute(sessions).fetchone()[0]
        for _ in range(50):
            worker.ask("/readyz")
        assert connection.execute(sessions).fetchone()[0] == before and len(before) == 1
    secret = "not-to-be-told"
    away = site.start("notify", env={"DROVER_POSTGRES_URL": "x"}, **{"postgres.relay_url": f"host=127.0.0.1 port=1 password={secret} user=hidden"})
    until(lambda: "Start the server" in away.ill().get("database", ""), away.running)
    broken = site.start("notify", **{"postgres.relay_url": f"host=127.0.0.1 passwort={secret}"})
    until(lambda: "database" in broken.ill(), broken.running)
    for each in (away, broken):
        text = json.dumps(each.ask("/readyz")[1]) + each.running.output()
        assert secret not in text and "hidden" not in json.dumps(each.ask("/readyz")[1])


def test_a_workers_port_tells_its_lag_and_nothing_else_and_its_log_is_json(site, fixtures):
    worker = site.start("work", **{"log.format": "json"})
    worker.until("/readyz", 200)
    for method, path in [("POST", "/livez"), ("GET", "/livez/"), ("GET", "/"), ("DELETE", "/readyz")]:
        connection = http.client.HTTPConnection("127.0.0.1", worker.port, timeout=HANG_S)
        connection.request(method, path)
        assert connection.getresponse().status == 404
        connection.close()

    def figure(name):
        connection = http.client.HTTPConnection("127.0.0.1", worker.port, timeout=HANG_S)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return {match[1]: float(match[2]) for match in re.finditer(rf"^{name}(\S*) (\S+)$", text, re.M)}

    assert figure("drover_worker_partitions") == {"": 10}
    newest = migrations.newest()
    assert figure("drover_build_info") == {f'{{release="none",migration="{newest}"}}': 1}
    assert len(figure("drover_worker_lag_records")) == 5
    with psycopg.connect(site.owner) as blocker:
        blocker.execute("LOCK TABLE drover.partition_progress IN ACCESS EXCLUSIVE MODE")
        site.drover.done("import", "machines", fixtures / "machines" / "readings.jsonl", env=site.env)
        count = len((fixtures / "machines" / "readings.jsonl").read_text().splitlines())
        until(lambda: figure("drover_worker_lag_records")['{topic="drover.machines"}'] >= count, worker.running)
    until(lambda: figure("drover_worker_lag_records")['{topic="drover.machines"}'] < count, worker.running)

    assert worker.running.stop() == 0
    lines = [json.loads(line) for line in worker.running.output().splitlines()]
    assert all(list(line) == ["time", "level", "message", "fields"] for line in lines)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"]) and line["level"] in ("debug", "info", "warning", "error") for line in lines)
    started = next(line for line in lines if line["message"] == "worker started")
    assert started["fields"]["group"] == "drover" and isinstance(started["fields"]["lanes"], int)


def test_what_a_command_says_before_it_fails_is_json_too(drover):
    run = drover.run("serve", "--set", "log.format=json", "--set", "web.host=0.0.0.0")
    line = json.loads(run.err)
    assert run.code == 1 and line["level"] == "error" and "web.host" in line["message"]
    run = drover.run("check", "--offline", "--set", "log.format=xml")
    assert run.code == 1 and "log.format: is `xml`, must be `text` or `json`" in run.out
    drover.fails("health", "--set", "metrics.port=0", says="metrics.port")
    run = drover.run("health", "--set", f"metrics.port={free_port()}")
    assert run.code == 1
