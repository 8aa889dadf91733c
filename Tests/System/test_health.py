"""Whether a process lives, and whether it can work: /livez and /readyz beside /metrics, with servers that go and come back."""
import ctypes
import http.client
import json
import os
import re
import signal
from pathlib import Path

import psycopg
import pytest
from brokers import Noida, free_port
from cluster import Cluster
from harness import ROOT, until

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
ROLES = {"work": "torture", "notify": "relays", "gateway": "pollers", "serve": "readers"}


class Probed:
    """A running process, asked on its port for figures."""

    def __init__(self, running, port):
        self.running, self.port = running, port

    def ask(self, path, seconds=10):
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

    def until(self, path, status, seconds=60):
        """The checks of the first answer with this status."""
        return until(lambda: (answer := self.ask(path))[0] == status and answer[1]["checks"], self.running)

    def ill(self, path="/readyz"):
        """What is needed and not well, when the answer is no."""
        status, answer = self.ask(path)
        return {name: each["why"] for name, each in answer["checks"].items() if not each["ok"] and each.get("needed", True)} if status == 503 else {}


class Site:
    """A PostgreSQL and a broker that can be stopped, one database."""

    def __init__(self, folder, program, drover):
        self.folder, self.drover = folder, drover
        self.cluster, self.broker = Cluster(folder / "postgres"), Noida(folder / "broker")
        self.env = self.cluster.database(program) | {"DROVER_KAFKA_BROKERS": self.broker.brokers}
        self.owner = self.env.pop("TORTURE_OWNER")
        with psycopg.connect(self.owner, autocommit=True) as connection:
            for login, roles in {"relays": "drover_relay", "pollers": "drover_gateway", "readers": "drover_reader, drover_api"}.items():
                connection.execute(f"CREATE ROLE {login} LOGIN IN ROLE {roles}")

    def start(self, role, *words, env=None, **settings):
        port = free_port()
        settings = {
            "metrics.port": port, "health.stuck_s": 5, "kafka.partitions": 2, "gateway.spool_path": self.folder / "spool.sqlite",
            "web.port": 0, "postgres.relay_url": self.login("relays"), "postgres.gateway_url": self.login("pollers"),
            "postgres.reader_url": self.login("readers"), **settings}
        if role == "work":
            settings["kafka.instance_id"] = "health"
        pairs = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        return Probed(self.drover.start(role, *words, *pairs, env={**self.env, **(env or {})}), port)

    def login(self, name):
        return self.env["DROVER_POSTGRES_URL"].replace("user=torture", f"user={name}")

    def close(self):
        self.drover.close()
        self.broker.stop()
        self.cluster.close()


@pytest.fixture
def site(data, program, drover):
    # Both servers may enter: the cluster is another user's.
    data.mkdir(mode=0o711)
    site = Site(data, program, drover)
    yield site
    site.close()


def test_a_worker_tells_the_truth_from_its_start_to_its_end(site):
    site.broker.stop()
    worker = site.start("work")
    assert worker.until("/livez", 200)
    assert set(worker.ill()) >= {"partitions", "broker"}
    assert site.broker.start()
    ready = worker.until("/readyz", 200)
    assert {"database", "broker", "partitions"} <= set(ready) and ready["partitions"]["why"] == "10 of 10 are read"
    newest = max(int(path.name[:4]) for path in (ROOT / "Queries" / "migrations").glob("*.sql"))
    assert ready["database"]["why"] == f"migration {newest}"
    live = worker.ask("/livez")[1]
    assert live["status"] == "live" and {"poll", "lane-0", "commit-0"} <= set(live["checks"])

    site.cluster.stop()
    until(lambda: "database" in worker.ill(), worker.running)
    # To start again would not bring the database back.
    assert worker.ask("/livez")[0] == 200
    site.cluster.start()
    worker.until("/readyz", 200)

    site.broker.stop()
    until(lambda: "broker" in worker.ill(), worker.running)
    assert worker.ask("/livez")[0] == 200
    assert site.broker.start()
    worker.until("/readyz", 200)

    worker.running.signal(signal.SIGSTOP)
    assert worker.ask("/livez", seconds=1)[0] is None
    worker.running.signal(signal.SIGCONT)
    worker.until("/livez", 200)
    assert worker.running.stop() == 0 and worker.ask("/livez")[0] is None


def test_a_commit_that_hangs_is_not_ready_and_a_stop_that_waits_for_it_says_so(site, fixtures):
    worker = site.start("work", env={"DROVER_LOG": "debug"})
    worker.until("/readyz", 200)
    with psycopg.connect(site.owner) as blocker:
        blocker.execute("LOCK TABLE drover.partition_progress IN ACCESS EXCLUSIVE MODE")
        run = site.drover.run("import", "machines", fixtures / "machines" / "readings.jsonl", env=site.env)
        assert run.code == 0, run.err
        until(lambda: any("waits for a server" in why for why in worker.ill().values()), worker.running)
        assert worker.ask("/livez")[0] == 200
        worker.running.signal(signal.SIGTERM)
        until(lambda: worker.ill() == {"process": "is stopping"}, worker.running)
    assert worker.running.wait() == 0


@pytest.mark.parametrize("role, name", [("work", "lane-0"), ("gateway", "adapters")])
def test_one_thread_that_stands_still_is_told(site, role, name):
    """Only this thread is held, as a deadlock or an endless loop would."""
    process = site.start(role)
    process.until("/readyz", 200)
    thread = next(int(path.name) for path in Path(f"/proc/{process.running.pid}/task").iterdir() if (path / "comm").read_text().strip() == name)
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

    def do(request):
        assert ptrace(request, thread, None, None) == 0, os.strerror(ctypes.get_errno())

    do(PTRACE_SEIZE)
    do(PTRACE_INTERRUPT)
    os.waitpid(thread, 0x40000000)
    try:
        stuck = process.until("/livez", 503)
        assert [each for each in stuck if not stuck[each]["ok"]] == [name] and "5 s are allowed" in stuck[name]["why"]
    finally:
        do(PTRACE_DETACH)
    process.until("/livez", 200)


@pytest.mark.parametrize("role", ROLES)
def test_every_role_says_what_it_needs(site, role):
    process = site.start(role)
    ready = process.until("/readyz", 200)
    assert ready["database"]["ok"] and ready["broker"]["ok"]
    assert process.ask("/livez")[1]["checks"], "no loop is watched"
    health = lambda *words: site.drover.run("health", *words, "--set", f"metrics.port={process.port}", env=site.env)
    assert [health().code, health("--ready").code] == [0, 0]

    # The tables are of an older program.
    with psycopg.connect(site.owner, autocommit=True) as connection:
        [row] = connection.execute("DELETE FROM drover.migration WHERE number = (SELECT max(number) FROM drover.migration) RETURNING *").fetchall()
        until(lambda: "drover migrate" in process.ill().get("database", ""), process.running)
        run = health("--ready")
        assert run.code == 1 and "drover migrate" in run.out and health().code == 0
        connection.execute(f"INSERT INTO drover.migration VALUES ({', '.join(['%s'] * len(row))})", row)
    process.until("/readyz", 200)

    site.broker.stop()
    if role in ("serve", "gateway"):
        # It does its work without.
        until(lambda: not process.ask("/readyz")[1]["checks"]["broker"]["ok"], process.running)
        status, answer = process.ask("/readyz")
        assert (status, answer["status"], answer["checks"]["broker"]["needed"]) == (200, "ready", False)
    else:
        until(lambda: "broker" in process.ill(), process.running)
    assert process.ask("/livez")[0] == 200


@pytest.mark.parametrize("role, keys", [("serve", {"postgres.page_url": "drover_page", "postgres.survey_url": "drover_survey"}),
                                        ("notify", {"postgres.page_url": "drover_page", "postgres.reader_url": "drover_reader"})])
def test_every_login_that_a_role_uses_is_looked_at(site, role, keys):
    with psycopg.connect(site.owner, autocommit=True) as connection:
        logins = {key: f"of_{key[9:13]}" for key in keys}
        for key, login in logins.items():
            connection.execute(f"CREATE ROLE {login} LOGIN IN ROLE {keys[key]}")
        process = site.start(role, **{key: site.login(login) for key, login in logins.items()})
        assert process.until("/readyz", 200)["logins"]["why"] == ", ".join(keys)
        for key, login in logins.items():
            connection.execute(f"REVOKE {keys[key]} FROM {login}")
            until(lambda: process.ill() == {"logins": f"{key}: its login is not in {keys[key]}"}, process.running)
            connection.execute(f"GRANT {keys[key]} TO {login}")
            process.until("/readyz", 200)
        # A session that is open says nothing of the next one.
        connection.execute("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = ANY(%s)", [list(logins.values())])
        for login in logins.values():
            connection.execute(f"ALTER ROLE {login} NOLOGIN")
        until(lambda: all(key in process.ill().get("logins", "") for key in keys), process.running)
        assert not any(login in json.dumps(process.ask("/readyz")[1]) for login in logins.values())


def test_a_role_without_other_logins_has_nothing_to_look_at(site):
    process = site.start("serve", **{"postgres.page_url": "", "postgres.survey_url": ""})
    assert "logins" not in process.until("/readyz", 200)


def test_a_probe_opens_no_session_and_tells_no_secret(site):
    worker = site.start("work")
    worker.until("/readyz", 200)
    sessions = "SELECT array_agg(pid) FROM pg_stat_activity WHERE application_name = 'drover-health'"
    with psycopg.connect(site.owner, autocommit=True) as connection:
        before = connection.execute(sessions).fetchone()[0]
        for _ in range(50):
            assert worker.ask("/readyz")[0] == 200
        assert connection.execute(sessions).fetchone()[0] == before and len(before) == 1
    secret = "not-to-be-told"
    away = site.start("notify", env={"DROVER_POSTGRES_URL": "x"}, **{"postgres.relay_url": f"host=127.0.0.1 port=1 password={secret} user=hidden"})
    until(lambda: "Start the server" in away.ill().get("database", ""), away.running)
    broken = site.start("notify", **{"postgres.relay_url": f"host=127.0.0.1 passwort={secret}"})
    until(lambda: "database" in broken.ill(), broken.running)
    for each in (away, broken):
        text = json.dumps(each.ask("/readyz")[1]) + each.running.output()
        assert secret not in text and "hidden" not in json.dumps(each.ask("/readyz")[1])


def test_nothing_else_is_at_that_port(site):
    worker = site.start("work")
    worker.until("/livez", 200)
    for method, path in [("POST", "/livez"), ("GET", "/livez/"), ("GET", "/"), ("DELETE", "/readyz")]:
        connection = http.client.HTTPConnection("127.0.0.1", worker.port, timeout=10)
        connection.request(method, path)
        assert connection.getresponse().status == 404
        connection.close()
    run = site.drover.run("health", "--set", "metrics.port=0", env=site.env)
    assert run.code == 1 and "metrics.port" in run.err
    run = site.drover.run("health", "--set", f"metrics.port={free_port()}", env=site.env)
    assert run.code == 1


def test_the_log_is_json_where_it_is_wanted(site, fixtures):
    worker = site.start("work", **{"log.format": "json"})
    worker.until("/readyz", 200)
    assert worker.running.stop() == 0
    lines = [json.loads(line) for line in worker.running.output().splitlines()]
    assert all(list(line) == ["time", "level", "message", "fields"] for line in lines)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"]) and line["level"] in ("debug", "info", "warning", "error") for line in lines)
    started = next(line for line in lines if line["message"] == "worker started")
    assert started["fields"]["group"] == "drover" and isinstance(started["fields"]["lanes"], int)
    # What a command says before it fails is a line, too.
    run = site.drover.run("serve", "--set", "log.format=json", "--set", "web.host=0.0.0.0", env=site.env)
    line = json.loads(run.err)
    assert run.code == 1 and line["level"] == "error" and "web.host" in line["message"]
    run = site.drover.run("check", "--set", "log.format=xml", env=site.env)
    assert run.code == 1 and "log.format: is `xml`, must be `text` or `json`" in run.out


def test_the_lag_is_told_by_topic(site, fixtures):
    worker = site.start("work")
    worker.until("/readyz", 200)

    def figure(name):
        connection = http.client.HTTPConnection("127.0.0.1", worker.port, timeout=10)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return {match[1]: float(match[2]) for match in re.finditer(rf"^{name}(\S*) (\S+)$", text, re.M)}

    assert figure("drover_worker_partitions") == {"": 10}
    newest = max(int(path.name[:4]) for path in (ROOT / "Queries" / "migrations").glob("*.sql"))
    assert figure("drover_build_info") == {f'{{release="none",migration="{newest}"}}': 1}
    assert len(figure("drover_worker_lag_records")) == 5
    with psycopg.connect(site.owner) as blocker:
        blocker.execute("LOCK TABLE drover.partition_progress IN ACCESS EXCLUSIVE MODE")
        assert site.drover.run("import", "machines", fixtures / "machines" / "readings.jsonl", env=site.env).code == 0
        count = len((fixtures / "machines" / "readings.jsonl").read_text().splitlines())
        until(lambda: figure("drover_worker_lag_records")['{topic="drover.machines"}'] >= count, worker.running)
    until(lambda: figure("drover_worker_lag_records")['{topic="drover.machines"}'] < count, worker.running)
