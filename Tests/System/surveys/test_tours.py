"""Tours: the list, packages that are cut off and resumed, what phones tell later and what it adds up to."""
import base64
import hashlib
import http.client
import json
import random
import socket
import struct
import threading
import time
import uuid
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

import description
import psycopg
import pytest
from harness import HANG_S, is_long
from world import connect, dump, producer, query, url_of

PART = 1 << 20


class Trailhead:
    """`drover serve` as its login in production, and versions that a ranger has published."""

    def __init__(self, world):
        self.world, self.env = world, world.database()
        query(self.env, "GRANT drover_reader, drover_api TO drover_web")
        self.web = url_of(self.env, "drover_web")
        self.serve()

    def serve(self, *more):
        self.server = self.world.drover.start("serve", "--port", 0, *more, env={**self.env, "DROVER_POSTGRES_READER_URL": self.web})
        self.port = self.server.page_port

    def work(self):
        return self.world.worker(self.env, "tours")

    def publish(self, tour, area, content, waypoints=("w1", "w2"), deltas=()):
        """The next version, as publishing leaves it."""
        with connect(self.env) as connection, connection.transaction():
            connection.execute(
                "INSERT INTO drover.tour (tour, account, area, draft, changed_by) VALUES (%s, 'r', %s, '{}', 'r') ON CONFLICT DO NOTHING", [tour, area])
            [version] = connection.execute("SELECT coalesce(max(version), 0) + 1 FROM drover.tour_version WHERE tour = %s", [tour]).fetchone()
            connection.execute(
                "INSERT INTO drover.tour_version (tour, version, area, document, files, waypoint_ids, published_by) VALUES (%s, %s, %s, '{}', '{}', %s, 'r')",
                [tour, version, area, list(waypoints)])
            for start, archive in [(0, content), *deltas]:
                key = [tour, version, start]
                connection.execute("INSERT INTO drover.tour_package VALUES (%s, %s, %s, %s, %s)", [*key, len(archive), hashlib.sha256(archive).digest()])
                for number, at in enumerate(range(0, len(archive), PART)):
                    connection.execute("INSERT INTO drover.tour_package_part VALUES (%s, %s, %s, %s, %s)", [*key, number, archive[at:at + PART]])
        return version

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG_S)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        answer = SimpleNamespace(status=response.status, headers=response.headers, body=response.read())
        connection.close()
        description.check(method, path, answer.status, answer.headers["Content-Type"], answer.body)
        return answer

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def json(self, path):
        answer = self.get(path)
        assert answer.status == 200, answer.body
        return json.loads(answer.body)

    def tell(self, *events):
        answer = self.ask("POST", "/v1/tour-visits", json.dumps({"events": events}), Content_Type="application/json")
        assert answer.status == 200, answer.body
        return json.loads(answer.body)

    def days(self, *tours):
        """Of these tours: the module's stories share one log."""
        return query(self.env, "SELECT tour, kind, waypoint, local_date::text, events FROM drover.tour_day WHERE tour = ANY(%s) ORDER BY tour, kind, waypoint, local_date", list(tours))


@pytest.fixture(scope="module")
def shared_head(world):
    trailhead = Trailhead(world)
    yield trailhead
    trailhead.server.stop()


def content(size, seed=1):
    return random.Random(seed).randbytes(size)


def test_tours_are_listed_by_area_name(world):
    trailhead = Trailhead(world)
    assert trailhead.json("/v1/tours") == {"tours": [], "next": None}
    for tour, area in [("t1", "Zell"), ("t2", "apple hill"), ("t3", "Äpfelweg"), ("t4", "Birkenau"), ("t5", "birch")]:
        trailhead.publish(tour, area, content(100, tour))
    trailhead.publish("t4", "Birkenau", content(2000), waypoints=("a", "b", "c"))
    listed = trailhead.json("/v1/tours")["tours"]
    assert [each["area"] for each in listed] == ["Äpfelweg", "apple hill", "birch", "Birkenau", "Zell"]
    [birch] = [each for each in listed if each["tour"] == "t4"]
    assert (birch["version"], birch["waypoints"], birch["bytes"]) == (2, 3, 2000)
    assert birch["sha256"] == hashlib.sha256(content(2000)).hexdigest() and trailhead.get(birch["package"]).body == content(2000)
    pages, path = [], "/v1/tours?limit=2"
    while path:
        page = trailhead.json(path)
        pages.append([each["area"] for each in page["tours"]])
        path = page["next"]
    assert pages == [["Äpfelweg", "apple hill"], ["birch", "Birkenau"], ["Zell"]]
    tag = trailhead.get("/v1/tours").headers["ETag"]
    assert trailhead.get("/v1/tours", If_None_Match=tag).status == 304
    for path in ("/v1/tours?limit=0", "/v1/tours?limit=x", "/v1/tours?limit=100000", "/v1/tours?after=a%2Fb"):
        assert trailhead.get(path).status == 400
    versions = trailhead.json("/v1/tours/t4")
    assert (versions["newest"], [each["version"] for each in versions["versions"]]) == (2, [2, 1])
    for path in ("/v1/tours/nobody", "/v1/tours/t1/versions/2/package", "/v1/tours/t1/versions/x/package", "/v1/tours/t1/versions/-1/package",
                 "/v1/tours/t1/versions/99999999999999999999/package", "/v1/tours/t1/versions/1/delta", "/v1/tours/t1/versions/0/delta", "/v1/tours/a%2Fb"):
        assert trailhead.get(path).status == 404, path
    trailhead.server.stop()


def test_a_package_says_what_it_is_and_comes_in_parts(shared_head):
    whole = content(3 * PART + 17)
    version = shared_head.publish("parts", "Parts", whole, deltas=[])
    path = f"/v1/tours/parts/versions/{version}/package"
    answer = shared_head.get(path)
    digest = hashlib.sha256(whole).digest()
    assert answer.status == 200 and answer.body == whole
    expected = {
        "Content-Type": "application/zip", "Content-Length": str(len(whole)), "Accept-Ranges": "bytes", "ETag": f'"{digest.hex()}"',
        "Repr-Digest": f"sha-256=:{base64.b64encode(digest).decode()}:", "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox", "Content-Disposition": 'attachment; filename="parts-1.zip"',
    }
    assert {name: answer.headers[name] for name in expected} == expected and "immutable" in answer.headers["Cache-Control"]
    head = shared_head.ask("HEAD", path)
    assert (head.status, head.body) == (200, b"") and {name: head.headers[name] for name in expected} == expected
    for asked, first, last in [("0-0", 0, 0), ("1048575-1048577", PART - 1, PART + 1), ("3145728-", 3 * PART, len(whole) - 1), ("-5", len(whole) - 5, len(whole) - 1)]:
        part = shared_head.get(path, Range=f"bytes={asked}")
        assert part.status == 206 and part.body == whole[first:last + 1], asked
        assert part.headers["Content-Range"] == f"bytes {first}-{last}/{len(whole)}" and part.headers["Repr-Digest"] == expected["Repr-Digest"]
    past = shared_head.get(path, Range=f"bytes={len(whole)}-")
    assert past.status == 416 and past.headers["Content-Range"] == f"bytes */{len(whole)}" and past.headers["Content-Type"] == "application/problem+json"
    assert shared_head.get(path, Range="bytes=0-1,5-6").status == 200
    assert shared_head.get(path, Range="bytes=5-6", If_Range='"another"').body == whole
    assert shared_head.get(path, Range="bytes=5-6", If_Range=expected["ETag"]).body == whole[5:7]
    assert shared_head.get(path, If_None_Match=expected["ETag"]).status == 304
    assert shared_head.ask("POST", path, b"").status == 405


def cut_download(port, path, had, tag, take, is_reset):
    """Asks for the rest and takes about so many bytes of it; what came."""
    link = socket.create_connection(("127.0.0.1", port), timeout=HANG_S)
    # A small window, so that the server still has much to send when the line is cut.
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 10)
    more = f"Range: bytes={len(had)}-\r\nIf-Range: {tag}\r\n" if had else ""
    link.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{more}\r\n".encode())
    got = b""
    while b"\r\n\r\n" not in got:
        got += link.recv(4096)
    head, _, body = got.partition(b"\r\n\r\n")
    status = 206 if had else 200
    assert head.startswith(f"HTTP/1.1 {status}".encode()), head
    while len(body) < take and (piece := link.recv(65536)):
        body += piece
    if is_reset:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    link.close()
    return body


def test_a_download_that_is_cut_20_times_and_resumed_has_the_same_bytes(shared_head):
    whole = content(9 * PART + 321, seed="cuts")
    version = shared_head.publish("cuts", "Cuts", whole)
    path = f"/v1/tours/cuts/versions/{version}/package"
    tag = shared_head.ask("HEAD", path).headers["ETag"]
    chance, had, cuts = random.Random(20), b"", 0
    while cuts < 20:
        had += cut_download(shared_head.port, path, had, tag, chance.randrange(1, 400_000), is_reset=cuts % 2 == 1)
        cuts += 1
        assert len(had) < len(whole), "there is something left for the next cut"
        if cuts == 10:
            # Meanwhile a ranger publishes again: who has begun with a version goes on with it.
            assert shared_head.publish("cuts", "Cuts", content(500)) == version + 1
    rest = shared_head.get(path, Range=f"bytes={len(had)}-", If_Range=tag)
    assert rest.status == 206
    had += rest.body
    assert had == whole and f'"{hashlib.sha256(had).hexdigest()}"' == tag


def test_a_download_goes_on_when_the_server_was_started_again(shared_head):
    trailhead, whole = shared_head, content(4 * PART, seed="restart")
    trailhead.publish("again", "Again", whole)
    path = "/v1/tours/again/versions/1/package"
    tag = trailhead.ask("HEAD", path).headers["ETag"]
    had = cut_download(trailhead.port, path, b"", tag, 1_000_000, is_reset=False)
    trailhead.server.stop()
    trailhead.serve()
    assert had + trailhead.get(path, Range=f"bytes={len(had)}-", If_Range=tag).body == whole


def test_many_phones_at_once(shared_head):
    wholes = {f"many-{number}": content(PART + number, seed=number) for number in range(20)}
    for tour, whole in wholes.items():
        shared_head.publish(tour, tour, whole)
    wrong = []

    def download(tour):
        if shared_head.get(f"/v1/tours/{tour}/versions/1/package").body != wholes[tour]:
            wrong.append(tour)

    # More packages than are kept open at a time.
    threads = [threading.Thread(target=download, args=[tour]) for tour in wholes for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG_S)
    assert wrong == [] and not any(thread.is_alive() for thread in threads)


def test_what_was_published_stays_as_it_is(shared_head):
    shared_head.publish("stays", "Stays", b"x" * 10)
    for conninfo, error in [(shared_head.web, psycopg.errors.InsufficientPrivilege), (shared_head.env["DROVER_POSTGRES_URL"], psycopg.errors.RaiseException)]:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            for statement in ("UPDATE drover.tour_package_part SET content = 'y'", "DELETE FROM drover.tour_package_part",
                              "UPDATE drover.tour_package SET bytes = 1", "DELETE FROM drover.tour_version"):
                with pytest.raises(error):
                    connection.execute(statement)


# MARK: What phones tell

# Visits of more than 400 days ago are not taken.
TODAY = datetime.now(timezone.utc).date()


def on(days, clock=None):
    """A date so many days from today on, or a time of it in UTC."""
    return f"{TODAY + timedelta(days=days)}" + (f"T{clock}Z" if clock else "")


def visit(tour, waypoint="w1", at=on(-5, "10:00:00"), offset=0, **more):
    ts = round(datetime.fromisoformat(at).timestamp() * 1000)
    return {"id": uuid.uuid4().hex, "kind": "visit", "tour": tour, "version": 1, "waypoint": waypoint, "ts": ts, "utc_offset_min": offset, **more}


def download(tour, **more):
    event = visit(tour, **more)
    del event["waypoint"]
    return {**event, "kind": "download"}


def test_visits_count_once_in_any_order_and_by_the_visitors_date(shared_head):
    trailhead = shared_head
    trailhead.publish("hill", "Hill", b"h" * 10)
    trailhead.publish("lake", "Lake", b"l" * 10, waypoints=("jetty",))
    worker = trailhead.work()
    events = [
        visit("hill"), visit("hill"), visit("hill", "w2"),
        # Past midnight in Auckland, and still the evening before in New York.
        visit("hill", at=on(-5, "12:00:00"), offset=780), visit("hill", at=on(-4, "03:00:00"), offset=-300),
        visit("lake", "jetty", at=on(-50, "09:00:00")), download("hill"), download("hill", at=on(-6, "23:59:59")),
    ]
    assert trailhead.tell(*events) == {"accepted": 8, "refused": []}
    trailhead.world.work_off(trailhead.env)
    expected = [
        ("hill", "download", "", on(-6), 1), ("hill", "download", "", on(-5), 1),
        ("hill", "visit", "w1", on(-5), 3), ("hill", "visit", "w1", on(-4), 1), ("hill", "visit", "w2", on(-5), 1),
        ("lake", "visit", "jetty", on(-50), 1),
    ]
    assert trailhead.days("hill", "lake") == expected
    # Phones repeat what they got no answer to, in their own order, and weeks later.
    random.Random(3).shuffle(events)
    for event in events:
        trailhead.tell(event)
    trailhead.tell(*events, *events)
    trailhead.world.work_off(trailhead.env)
    assert trailhead.days("hill", "lake") == expected
    late = visit("lake", "jetty", at=on(-50, "23:00:00"))
    trailhead.tell(late)
    trailhead.world.work_off(trailhead.env)
    assert trailhead.days("hill", "lake")[-1] == ("lake", "visit", "jetty", on(-50), 2)
    # The pages' login sees numbers, no events.
    with psycopg.connect(trailhead.web, autocommit=True) as web:
        assert web.execute("SELECT sum(events) FROM drover.tour_day WHERE tour IN ('hill', 'lake')").fetchone()[0] == 9
        assert web.execute("SELECT count(*) FROM drover.tour_version WHERE tour IN ('hill', 'lake')").fetchone()[0] == 2
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            web.execute("SELECT * FROM drover.tour_event")
    worker.stop()
    assert len(dump(trailhead.env)["tour_event"]) >= 9
    assert {"tour_event", "tour_day"} <= set(trailhead.world.replayed(trailhead.env))


def test_two_of_one_id_come_to_the_same_whichever_was_first(world):
    early, late = visit("twice", id="same", at=on(-20, "10:00:00")), visit("twice", "w2", id="same", at=on(-19, "10:00:00"))
    seen = []
    for first, second, one_by_one in [(early, late, True), (late, early, False), *([(early, late, False), (late, early, True)] if is_long() else [])]:
        env = world.database()
        worker = world.worker(env, f"order-{len(seen)}")
        for event in (first, second):
            world.push("drover.tours", {"schema": 1, **event})
            if one_by_one:
                world.work_off(env)
        world.work_off(env)
        seen.append(query(env, "SELECT kind, waypoint, local_date::text, events FROM drover.tour_day WHERE tour = 'twice'"))
        worker.stop()
    # All stories share one log: the last ones see all pairs, and still count one.
    assert seen == [[("visit", "w2", on(-19), 1)]] * len(seen)


def test_records_that_are_none_are_set_aside(shared_head):
    trailhead = shared_head
    trailhead.publish("bad", "Hill", b"h" * 10)
    good = {"schema": 1, **visit("bad", id="kept", at=on(-18, "10:00:00"))}
    bad = [
        (b"bad", b"{"), (b"bad", b""), (b"bad", json.dumps({**good, "schema": 2}).encode()), (b"other", json.dumps(good).encode()),
        (b"bad", json.dumps({**good, "kind": "like"}).encode()), (b"bad", json.dumps({**good, "utc_offset_min": 9000}).encode()),
        (b"bad", json.dumps({**good, "ts": int(time.time() * 1000) + 3 * 86_400_000}).encode()), (b"bad", json.dumps({**good, "ts": 5}).encode()),
    ]
    worker = trailhead.work()
    push = producer(trailhead.env["DROVER_KAFKA_BROKERS"])
    for key, value in bad:
        push.produce("drover.tours", key=key, value=value)
    push.produce("drover.tours", key=b"bad", value=json.dumps(good).encode())
    assert push.flush(HANG_S) == 0
    trailhead.world.work_off(trailhead.env)
    assert trailhead.days("bad") == [("bad", "visit", "w1", on(-18), 1)]
    [number] = query(trailhead.env, "SELECT count(*) FROM drover.rejected WHERE topic = 'drover.tours'")[0]
    assert number >= len(bad)
    worker.stop()


def test_what_phones_must_not_tell_is_refused_one_by_one(shared_head):
    shared_head.publish("told", "Told", b"t" * 10)
    good = visit("told")
    events = [good, visit("told", "w9"), visit("nobody"), visit("told", version=2), visit("told", utc_offset_min=10_000), visit("told", id="a b"),
              visit("told", at="2099-01-01T00:00:00Z"), visit("told", at="2020-01-01T00:00:00Z"), {**good, "kind": "like"}, {}, 7, visit("../told")]
    answer = shared_head.tell(*events)
    assert answer["accepted"] == 1 and [each["index"] for each in answer["refused"]] == list(range(1, 12)), answer
    for body, kind, status in [(b"", "application/json", 400), (b"[]", "application/json", 400), (b"{}", "text/plain", 415), (b'{"events": []}', "application/json", 400),
                               (json.dumps({"events": [good] * 501}).encode(), "application/json", 400), (json.dumps({"events": [7] * 501}).encode(), "application/json", 400),
                               (b'{"events": [' + b"[" * 5000, "application/json", 400), (b" " * (129 << 10), "application/json", 413)]:
        assert shared_head.ask("POST", "/v1/tour-visits", body, Content_Type=kind).status == status, body[:40]


def test_a_phone_that_runs_wild_is_told_to_wait(shared_head):
    shared_head.server.stop()
    shared_head.serve("--set", "tours.tells_per_minute=5")
    answers = (shared_head.ask("POST", "/v1/tour-visits", b"{}", Content_Type="application/json") for _ in range(1_000))
    refused = next(answer for answer in answers if answer.status != 400)
    assert refused.status == 429 and 1 <= int(refused.headers["Retry-After"]) <= 60
    # Downloads go on.
    assert shared_head.get("/v1/tours").status == 200
