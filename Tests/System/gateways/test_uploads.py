"""Readings that phones hand in over HTTPS, and the models they judge by: real TLS, broker and PostgreSQL."""
import base64
import hashlib
import http.client
import itertools
import json
import os
import re
import select
import shutil
import signal
import socket
import ssl
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import quote

import description
import psycopg
import pytest
from answers import Answer
from brokers import Noida
from certificates import self_signed
from harness import HANG_S, ROOT, Drover, freeze, is_long, scratch, until
from world import World, as_served, connect, query

JSON, LINES = "application/json", "application/x-ndjson"
HOUR = 3_600_000
MACHINES = itertools.count(1)


def new_token():
    """A token as the commands make them, and the digest that is kept of it."""
    token = "drover_" + base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip("=")
    return token, hashlib.blake2b(token.encode(), digest_size=32).digest()


def give_token(env, account, *scopes):
    """What `drover token add` does: most stories need a token and are about something else."""
    token, digest = new_token()
    query(env, "INSERT INTO drover.account (account, roles) VALUES (%s, '{driver}') ON CONFLICT DO NOTHING", account)
    query(env, "INSERT INTO drover.token (token_id, account, scopes, digest) VALUES (%s, %s, %s, %s)", uuid.uuid4().hex, account, list(scopes), digest)
    return token


class Phone:
    """A client that trusts one certificate and shows one token."""

    def __init__(self, port, trusted, token=None):
        self.port, self.token = port, token
        self.tls = ssl.create_default_context(cafile=trusted)

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=HANG_S)
        try:
            if self.token:
                headers.setdefault("Authorization", f"Bearer {self.token}")
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = Answer(connection.getresponse())
        finally:
            connection.close()
        description.check(method, path, answer.status, answer.headers["Content-Type"], answer.body)
        return answer

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, body, kind=JSON, path="/v1/readings", **more):
        body = body if isinstance(body, (bytes, str)) else json.dumps(body)
        return self.ask("POST", path, body, Content_Type=kind, **more)


class Desk:
    """A migrated database, a worker, and `drover serve` over HTTPS as the login that production gives it."""

    def __init__(self, drover, servers, folder, brokers=None):
        self.drover, self.servers = drover, servers
        self.world = World(drover, servers)
        self.env = as_served({**self.world.database(), **({"DROVER_KAFKA_BROKERS": brokers} if brokers else {})})
        # Runs the installation: who may write about what is for test_strangers.py.
        query(self.env, "INSERT INTO drover.account (account, roles) VALUES ('miller', '{operator}')")
        self.certificate, self.key = self_signed(folder, "first")
        self.server, self.port = self.serve(self.certificate, self.key)

    def serve(self, certificate, key, *more):
        running = self.drover.start(
            "serve", "--port", 0, "--set", f"web.certificate={certificate}", "--set", f"web.certificate_key={key}", *more, env=self.env)
        return running, running.page_port

    def token(self, *more):
        run = self.drover.done("token", "add", "--account", "miller", "--scope", "upload", *more, env=self.env)
        return run.out.strip(), re.search(r"token (\w+) of miller", run.err).group(1)

    def phone(self, token=None):
        return Phone(self.port, self.certificate, token or give_token(self.env, "miller", "upload"))

    def work(self, name):
        return self.world.worker(self.env, name)

    def rows(self):
        self.world.work_off(self.env)
        return query(self.env, "SELECT vehicle, reading_id, coolant_c, is_reporting FROM drover.machine_reading ORDER BY vehicle, read_at")


@contextmanager
def a_desk(program):
    """For the fixtures of a module."""
    folder, drover = scratch("drover-desk-"), Drover(program)
    try:
        yield Desk(drover, drover.servers(folder / "data"), folder)
    finally:
        drover.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def shared_desk(program):
    """One for the stories that leave the servers alone."""
    with a_desk(program) as desk:
        desk.work("uploads")
        desk.silent = socket.create_connection(("127.0.0.1", desk.port), HANG_S)
        yield desk


@pytest.fixture
def desk(shared_desk):
    """The shared desk, and a machine that no other story has."""
    shared_desk.machine = f"tractor-{next(MACHINES)}"
    return shared_desk


def now():
    return int(time.time() * 1000)


def reading(vehicle, number, ts=None, **values):
    return {"schema": 1, "kind": "reading", "id": f"{vehicle}-{number:04}", "vehicle": vehicle, "model": "8R Tractor",
            "ts": ts or now() - 60_000 + number, "coolant_c": 60 + number % 20, **values}


def of(desk, *machines):
    return [row for row in desk.rows() if row[0] in (machines or [desk.machine])]


def test_a_single_reading_becomes_a_row(desk):
    answer = desk.phone().post(reading(desk.machine, 1))
    assert (answer.status, answer.json) == (200, {"accepted": 1, "rejected": 0, "results": [{"index": 0, "status": "accepted"}]})
    assert of(desk) == [(desk.machine, f"{desk.machine}-0001", 61.0, False)]


@pytest.mark.parametrize("kind, body", [(JSON, json.dumps), (JSON, lambda batch: json.dumps(batch, indent=2)),
                                        (LINES, lambda batch: "\n".join(map(json.dumps, batch)) + "\n")])
def test_a_batch_days_late_in_any_order_and_repeated_gives_the_same_rows(desk, kind, body):
    phone = desk.phone()
    batch = [reading(desk.machine, n, now() - 72 * HOUR + n * 60_000) for n in range(40)]
    assert phone.post(body(batch[20:]), kind).json["accepted"] == 20
    assert phone.post(body(batch[:20][::-1]), kind).json["accepted"] == 20
    rows = of(desk)
    assert [row[1] for row in rows] == [f"{desk.machine}-{n:04}" for n in range(40)]
    assert phone.post(body(batch), kind).json["accepted"] == 40
    assert phone.post(reading(desk.machine, 40, now() - 71 * HOUR)).json["accepted"] == 1
    assert of(desk)[:40] == rows


def test_of_a_bad_batch_the_good_readings_are_taken_and_each_fault_is_told(desk):
    start = now() - HOUR
    good = reading(desk.machine, 1, start + 1)
    faults = [
        ({**good, "id": "a b"}, "`id`"), ({**good, "vehicle": "a/b"}, "`vehicle`"), ({**good, "ts": 12}, "`ts` 12"),
        ({**good, "schema": 2}, "schema 2"), ({**good, "ts": now() + 48 * HOUR}, "hours ahead"),
        ({**good, "reporting": True}, "`reporting` and `contact` are for gateways"), ({"schema": 1, "kind": "tick", "ts": now()}, "`kind` must be reading"),
        ({"schema": 1, "kind": "rules", "ts": now(), "version": "x", "rules": ""}, "`kind` must be reading"),
        ({**good, "note": "x" * 17_000}, "at most 16384"), ({key: value for key, value in good.items() if key != "model"}, "`model`"),
        (7, "not a JSON object"), ({**good, "id": None}, "`id`"),
    ]
    batch = [reading(desk.machine, 0, start), *(item for item, _ in faults), good]
    answer = desk.phone().post(batch)
    assert answer.status == 200 and (answer.json["accepted"], answer.json["rejected"]) == (2, len(faults))
    results = answer.json["results"]
    assert [result["index"] for result in results] == list(range(len(batch)))
    assert [result["status"] for result in results] == ["accepted"] + ["rejected"] * len(faults) + ["accepted"]
    for (_, reason), result in zip(faults, results[1:-1]):
        assert reason in result["reason"], result
    # A value that cannot be is dropped; the reading stays.
    assert desk.phone().post(reading(desk.machine, 2, start + 2, coolant_c=4000)).json["accepted"] == 1
    assert [row[1:3] for row in of(desk)] == [(f"{desk.machine}-0000", 60.0), (f"{desk.machine}-0001", 61.0), (f"{desk.machine}-0002", None)]


@pytest.mark.parametrize("body, kind, problem", [
    ("", JSON, (400, "not-a-batch")), ("[{}", JSON, (400, "not-a-batch")), ("[{}]]", JSON, (400, "not-a-batch")),
    ("[" + ",".join(["{}"] * 1001) + "]", JSON, (400, "not-a-batch")), ("{}\n" * 1001, LINES, (400, "not-a-batch")),
    ("{}", JSON, (422, "no-reading-accepted")), ("nonsense", JSON, (422, "no-reading-accepted")),
    ("{}", "text/plain", (415, "content-type")), ("{}", "", (415, "content-type")), (" " * 1_048_577, JSON, (413, "body-too-large")),
])
def test_what_is_no_batch_is_refused_as_a_whole(desk, body, kind, problem):
    answer = desk.phone().post(body, kind)
    assert answer.problem == problem
    if answer.status == 422:
        assert answer.json["results"][0]["status"] == "rejected"


def test_other_encodings_and_methods_are_refused(desk):
    phone = desk.phone()
    assert phone.post("{}", Content_Encoding="br").problem == (415, "content-encoding")
    assert phone.get("/v1/readings").problem == (405, "method-not-allowed")
    assert phone.post("{}", path="/v1/readings/rules").problem == (404, "not-found")
    assert phone.post("[]").json == {"accepted": 0, "rejected": 0, "results": []}


def test_readings_of_cars_go_to_their_topic(desk):
    start = now() - HOUR
    car = [{"schema": 1, "kind": "reading", "id": f"c-{n}", "vehicle": desk.machine, "ts": start + n * 1000, "speed_kmh": 50} for n in range(30)]
    assert desk.phone().post(car, path="/v1/readings/cars").json["accepted"] == 30
    desk.world.finish(desk.env)
    assert query(desk.env, "SELECT readings FROM drover.trip WHERE vehicle = %s", desk.machine) == [(30,)]


def test_tokens_are_asked_for_and_told_apart(desk):
    item = reading(desk.machine, 1)
    assert Phone(desk.port, desk.certificate).post(item).problem == (401, "token-missing")
    for header in ["Bearer nonsense", "Bearer drover_" + "A" * 43, "Basic bTpw", "Bearer", "Bearer drover_" + "A" * 43 + " x"]:
        answer = Phone(desk.port, desk.certificate).post(item, Authorization=header)
        assert answer.problem == (401, "token-unknown") and answer.headers["WWW-Authenticate"] == "Bearer"

    token, token_id = desk.token("--name", "north farm", "--expires", "2099-01-01")
    assert desk.phone(token).post(item).status == 200
    with connect(desk.env) as connection:
        connection.execute("UPDATE drover.token SET scopes = '{other}' WHERE token_id = %s", [token_id])
        assert desk.phone(token).post(item).problem == (403, "scope-missing")
        connection.execute("UPDATE drover.token SET scopes = '{upload}', expires_at = now() WHERE token_id = %s", [token_id])
        assert desk.phone(token).post(item).problem == (401, "token-expired")
        connection.execute("UPDATE drover.token SET expires_at = NULL WHERE token_id = %s", [token_id])
        assert desk.phone(token).post(item).status == 200
        desk.drover.done("token", "revoke", token_id, env=desk.env)
        # At once: each request asks.
        assert desk.phone(token).post(item).problem == (401, "token-revoked")
        used, = connection.execute("SELECT last_used_at FROM drover.token WHERE token_id = %s", [token_id]).fetchone()
    assert (used.minute, used.second, used.microsecond) == (0, 0, 0)
    assert timedelta(0) <= datetime.now(timezone.utc) - used < timedelta(hours=2)


def test_tokens_are_listed_without_the_secret_and_kept_as_digests(desk):
    token, token_id = desk.token("--name", "phone of Jo")
    listed = json.loads(desk.drover.run("token", "list", "--format", "json", env=desk.env).out)
    mine, = [row for row in listed if row["token_id"] == token_id]
    assert (mine["account"], mine["name"], mine["scopes"], mine["last_used_at"]) == ("miller", "phone of Jo", ["upload"], None)
    assert token_id in desk.drover.run("token", "list", env=desk.env).out
    stored, digest = query(desk.env, "SELECT t::text, digest FROM drover.token t WHERE token_id = %s", token_id)[0]
    assert digest == hashlib.blake2b(token.encode(), digest_size=32).digest()
    for text in [stored, json.dumps(listed)]:
        assert token not in text and token.removeprefix("drover_").encode().hex() not in text
    assert desk.drover.run("token", "revoke", "nobody", env=desk.env).code == 1
    for wrong in [["add"], ["add", "--account", "a b", "--scope", "upload"], ["add", "--account", "a"],
                  ["add", "--account", "a", "--scope", "all"], ["add", "--account", "a", "--scope", "upload", "--expires", "2001-01-01"], ["show"]]:
        assert desk.drover.run("token", *wrong, env=desk.env).code == 2


def test_the_pages_login_can_check_a_token_and_read_none(desk):
    with psycopg.connect(desk.env["DROVER_POSTGRES_READER_URL"], autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM drover.use_token(%s)", [b"x" * 32]).fetchone()[0] == 0
        for statement in ["SELECT token_id FROM drover.token", "SELECT digest FROM drover.token", "UPDATE drover.token SET revoked_at = NULL",
                          "DELETE FROM drover.token", "INSERT INTO drover.token (token_id, account, scopes, digest) VALUES ('x', 'y', '{upload}', '')"]:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


def test_the_models_come_with_etags(desk):
    phone = Phone(desk.port, desk.certificate)
    models = phone.get("/v1/models")
    assert [(model["name"], model["fuel_capacity_gal"]) for model in models.json] == [("S690 Combine", 330), ("R4038 Sprayer", 155), ("8R Tractor", 190)]
    for model in models.json:
        for address, kind, path in [(model["thresholds"], "application/xml", f"{model['name']}-thresholds.xml"),
                                    (model["picture"], "image/svg+xml", f"pictures/{model['name']}.svg")]:
            assert address.startswith("/v1/models/" + quote(model["name"]))
            answer = phone.get(address)
            assert (answer.status, answer.headers["Content-Type"], answer.headers["Cache-Control"]) == (200, kind, "no-cache")
            assert answer.body == (ROOT / "Deploy/thresholds" / path).read_bytes()
            tag = answer.headers["ETag"]
            for sent in [tag, f'"other", W/{tag}', "*"]:
                again = phone.get(address, If_None_Match=sent)
                assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag)
            assert phone.get(address, If_None_Match='"other"').status == 200
            assert phone.ask("HEAD", address).headers["Content-Length"] == str(len(answer.body))
    assert phone.get("/v1/models", If_None_Match=models.headers["ETag"]).status == 304


@pytest.mark.parametrize("name", ["9R%20Tractor", "..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "8R%20Tractor%2f..%2f8R%20Tractor", "tractors.xml", "%00", "8R+Tractor"])
def test_only_listed_models_are_found(desk, name):
    for path in ["thresholds.xml", "picture"]:
        answer = Phone(desk.port, desk.certificate).get(f"/v1/models/{name}/{path}")
        assert answer.status in (400, 404), answer.body


def test_a_model_without_files_and_a_list_that_does_not_load(desk, tmp_path):
    (tmp_path / "tractors.xml").write_text("<root><model><name>9R Ä</name><image>9R.png</image></model></root>")
    (tmp_path / "9R Ä-thresholds.xml").write_text("<root/>")
    _, port = desk.serve(desk.certificate, desk.key, "--set", f"alerts.thresholds_dir={tmp_path}")
    phone = Phone(port, desk.certificate)
    first = phone.get("/v1/models")
    assert first.json == [{"name": "9R Ä", "fuel_capacity_gal": None, "thresholds": "/v1/models/9R%20%C3%84/thresholds.xml", "picture": None}]
    assert phone.get("/v1/models/9R%20%C3%84/thresholds.xml").body == b"<root/>"
    assert phone.get("/v1/models/9R%20%C3%84/picture").problem == (404, "not-found")
    # What changes is seen at once, under another tag.
    (tmp_path / "9R Ä-thresholds.xml").unlink()
    second = phone.get("/v1/models", If_None_Match=first.headers["ETag"])
    assert second.json[0]["thresholds"] is None
    (tmp_path / "tractors.xml").write_text("<root><model>")
    assert phone.get("/v1/models").problem == (503, "models")


def test_the_meanings_of_trouble_codes_come_with_etags(desk, tmp_path):
    phone = Phone(desk.port, desk.certificate)
    first = phone.get("/v1/trouble-codes")
    assert first.status == 200 and first.json["make"] is None and len(first.json["codes"]) == 9_249
    [slow] = [code for code in first.json["codes"] if code["code"] == "P0133"]
    assert slow == {"code": "P0133", "system": "powertrain", "origin": "generic", "subsystem": "fuel and air metering",
                    "description": "O2 Sensor Circuit Slow Response Bank 1 Sensor 1"}
    again = phone.get("/v1/trouble-codes", If_None_Match=first.headers["ETag"])
    assert (again.status, again.body) == (304, b"")
    # A file a make: its codes are added, its words come before the generic ones, and another tag says so.
    (tmp_path / "generic.csv").write_text("code,description\nP0133,Slow\n")
    (tmp_path / "land-rover.csv").write_text('code,description\nP1100,"Own, theirs"\nP0133,Very slow\n')
    _, port = desk.serve(desk.certificate, desk.key, "--set", f"cars.trouble_codes_dir={tmp_path}")
    phone = Phone(port, desk.certificate)
    own = phone.get("/v1/trouble-codes?make=Land%20Rover")
    assert (own.json["make"], own.json["makes"]) == ("land-rover", ["land-rover"])
    assert [(code["code"], code["description"]) for code in own.json["codes"]] == [("P0133", "Very slow"), ("P1100", "Own, theirs")]
    other = phone.get("/v1/trouble-codes?make=..%2F..%2Fetc%2Fpasswd", If_None_Match=own.headers["ETag"])
    assert (other.status, other.json["make"], len(other.json["codes"])) == (200, None, 1)
    (tmp_path / "generic.csv").write_text("code,description\nP01,short\n")
    assert phone.get("/v1/trouble-codes").problem == (503, "trouble-codes")


def handshake(port, trusted, version):
    context = ssl.create_default_context(cafile=trusted)
    context.minimum_version = context.maximum_version = version
    # Debian's OpenSSL would not even offer the old ones.
    context.set_ciphers("ALL:@SECLEVEL=0")
    with socket.create_connection(("127.0.0.1", port), HANG_S) as plain, context.wrap_socket(plain, server_hostname="127.0.0.1") as tls:
        return tls.version(), tls.getpeercert(True)


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_tls_from_1_2_on_and_nothing_plain(desk):
    assert handshake(desk.port, desk.certificate, ssl.TLSVersion.TLSv1_3)[0] == "TLSv1.3"
    assert handshake(desk.port, desk.certificate, ssl.TLSVersion.TLSv1_2)[0] == "TLSv1.2"
    for old in [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1]:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            handshake(desk.port, desk.certificate, old)
    with socket.create_connection(("127.0.0.1", desk.port), HANG_S) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b"HTTP/" not in plain.recv(1000)


def test_sighup_renews_the_certificate_and_keeps_connections_and_listener(desk, tmp_path):
    certificate, key = self_signed(tmp_path, "renewed")
    server, port = desk.serve(certificate, key)
    before = handshake(port, certificate, ssl.TLSVersion.TLSv1_3)[1]
    kept = http.client.HTTPSConnection("127.0.0.1", port, context=ssl.create_default_context(cafile=certificate), timeout=HANG_S)
    kept.request("GET", "/healthz")
    assert kept.getresponse().read() == b"ok\n"

    self_signed(tmp_path, "renewed")
    server.signal(signal.SIGHUP)
    server.wait_for("the certificate was read again")
    after = handshake(port, certificate, ssl.TLSVersion.TLSv1_3)[1]
    assert after != before
    kept.request("GET", "/healthz")
    assert kept.getresponse().read() == b"ok\n"

    key.write_text("no key")
    server.signal(signal.SIGHUP)
    server.wait_for("the certificate was not renewed; the old one stays in use")
    assert handshake(port, certificate, ssl.TLSVersion.TLSv1_3)[1] == after
    assert server.stop() == 0


def test_settings_that_would_leave_readings_in_the_clear_are_refused(desk, tmp_path):
    desk.drover.fails("serve", "--port", 0, "--set", "web.host=0.0.0.0", env=desk.env, says="in the clear")
    desk.drover.fails("serve", "--port", 0, "--set", f"web.certificate={desk.certificate}", env=desk.env, says="set both or none")
    _, other = self_signed(tmp_path, "other")
    desk.drover.fails(
        "serve", "--port", 0, "--set", f"web.certificate={desk.certificate}", "--set", f"web.certificate_key={other}", env=desk.env, says="cannot be used")
    desk.drover.start("serve", "--port", 0, "--set", "web.host=0.0.0.0", "--set", "web.plain_http_outside=1", env=desk.env).wait_for(
        r"the page is at http://0\.0\.0\.0:\d+/")


def test_a_dribbling_client_is_cut_off_while_others_are_served(desk):
    """One byte now and then keeps a connection busy: what ends it is the time for the whole request."""
    server, port = desk.serve(desk.certificate, desk.key, "--set", "web.receive_s=2")
    phone, served = Phone(port, desk.certificate, give_token(desk.env, "miller", "upload")), 0
    with socket.create_connection(("127.0.0.1", port), HANG_S) as plain, phone.tls.wrap_socket(plain, server_hostname="127.0.0.1") as tls:
        tls.sendall(b"POST /v1/readings HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1048576\r\n\r\n")

        def is_cut_off():
            nonlocal served
            try:
                tls.sendall(b" ")
            except (ssl.SSLError, ConnectionError):
                return True
            served += phone.post(reading(desk.machine, served)).json["accepted"]
        until(is_cut_off, server)
    server.stop()
    assert served >= 1 and len(of(desk)) == served


def test_more_connections_than_allowed_are_refused_and_the_others_served(desk):
    """200 of one address."""
    server, port = desk.serve(desk.certificate, desk.key, "--set", "web.receive_s=600")
    phone = Phone(port, desk.certificate, give_token(desk.env, "miller", "upload"))
    sockets, closed = {}, select.poll()
    try:
        for _ in range(260):
            each = socket.create_connection(("127.0.0.1", port), HANG_S)
            sockets[each.fileno()] = each
            closed.register(each, select.POLLIN | select.POLLHUP)
        until(lambda: len(closed.poll(0)) >= 60, server)
        refused = {number for number, _ in closed.poll(0)}
        assert len(refused) < 80
        for number in list(sockets.keys() - refused)[::50]:
            with phone.tls.wrap_socket(sockets.pop(number), server_hostname="127.0.0.1") as tls:
                tls.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                assert tls.recv(1000).startswith(b"HTTP/1.1 200")
    finally:
        for each in sockets.values():
            each.close()

    # The server notices one by one that they are closed; until then the next one is refused, too.
    def is_taken():
        try:
            return phone.post(reading(desk.machine, 1)).json["accepted"] == 1
        except (ConnectionError, ssl.SSLError, http.client.HTTPException):
            return False
    until(is_taken, server)
    server.stop()


def test_many_phones_at_once(desk):
    token, _ = desk.token()
    phone = desk.phone(token)

    def hand_in(n):
        machine = f"{desk.machine}-{n}"
        batch = [reading(machine, k) for k in range(20)]
        # As the answer says: too many at a time come back a little later, with the same ids.
        def taken():
            answer = phone.post(batch)
            if answer.status != 503:
                return answer
            assert answer.problem == (503, "busy") and answer.headers["Retry-After"] == "1"
        return until(taken).json["accepted"]

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(hand_in, range(60))) == [20] * 60
    rows = of(desk, *(f"{desk.machine}-{n}" for n in range(60)))
    assert len(rows) == len(set(row[1] for row in rows)) == 1200


@pytest.fixture
def lone_desk(drover, shared_desk, tmp_path):
    """With a database and a broker of its own, which can be stopped alone."""
    broker = Noida(tmp_path / "broker")
    try:
        desk = Desk(drover, shared_desk.servers, tmp_path, broker.brokers)
        desk.broker, desk.machine = broker, "tractor"
        yield desk
    finally:
        drover.close()
        broker.stop()


def test_with_the_broker_away_nothing_is_promised_and_later_each_reading_is_there_once(lone_desk):
    desk = lone_desk
    phone = desk.phone()
    assert phone.post(reading("tractor", 0)).status == 200
    desk.broker.stop()
    answer = phone.post([reading("tractor", 1)])
    assert answer.problem == (503, "broker-away") and answer.headers["Retry-After"] == "10"
    desk.server.wait_for("uploads cannot be sent")

    # While one upload tries the broker the others are told at once, and pages are served.
    with ThreadPoolExecutor(20) as pool:
        tries = [pool.submit(phone.post, [reading("tractor", 4)]) for _ in range(20)]
        assert phone.get("/healthz").status == 200
        assert {attempt.result().problem for attempt in tries} == {(503, "broker-away")}

    assert desk.broker.start()
    batch = [reading("tractor", n) for n in range(50)]
    def taken():
        answer = phone.post(batch)
        return answer.status != 503 and answer
    assert until(taken, desk.server).json["accepted"] == 50
    desk.server.wait_for("uploads are sent again")
    assert phone.post(batch).json["accepted"] == 50
    desk.work("after")
    rows = desk.rows()
    assert sorted({row[1] for row in rows}) == [f"tractor-{n:04}" for n in range(50)]


def unread(port):
    """Whether something was sent to the port's owner that it has not read."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(int(local.rpartition(":")[2], 16) == port and int(queues.rpartition(":")[2], 16) > 0 for _, local, _, _, queues, *_ in lines)


def test_a_server_killed_in_the_middle_and_a_phone_that_repeats(lone_desk):
    desk, count = lone_desk, 100 if is_long() else 50
    token = give_token(desk.env, "miller", "upload")
    batches = [[reading("tractor", n, now() - HOUR + n * 1000) for n in range(start, start + 25)] for start in range(0, count, 25)]
    for batch in batches:
        cut = []

        def hand_in():
            try:
                cut.append(desk.phone(token).post(batch))
            except (ConnectionError, http.client.HTTPException, ssl.SSLError, OSError) as error:
                cut.append(error)

        # The broker is held, so that the readings are on their way to it when the server dies.
        freeze(desk.broker)
        handing = threading.Thread(target=hand_in)
        handing.start()
        until(lambda: unread(desk.broker.port), desk.server)
        desk.server.kill()
        handing.join(HANG_S)
        desk.broker.process.send_signal(signal.SIGCONT)
        assert isinstance(cut[0], Exception), "the phone was answered although its server died"
        desk.server, desk.port = desk.serve(desk.certificate, desk.key)
        assert desk.phone(token).post(batch).json["accepted"] == 25
    desk.work("kills")
    rows = desk.rows()
    assert [row[1] for row in rows] == [f"tractor-{n:04}" for n in range(count)]


def test_with_the_database_away_the_phone_keeps_its_readings(lone_desk):
    phone = lone_desk.phone()
    name = re.search(r"story_\w+", lone_desk.env["DROVER_POSTGRES_URL"]).group(0)
    with psycopg.connect(lone_desk.world.superuser, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        answer = phone.post(reading("tractor", 0))
        assert answer.problem == (503, "database") and answer.headers["Retry-After"] == "5"
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    assert phone.post(reading("tractor", 0)).status == 200


def test_a_handshake_that_never_comes_is_not_waited_for(shared_desk):
    """It was due since all of these tests began, which have been served beside it."""
    while shared_desk.silent.recv(100):
        pass
    assert shared_desk.phone().get("/healthz").status == 200
