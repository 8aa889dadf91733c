"""Riders', ride drivers' and dispatchers' apps: mutual TLS, a ride from end to end, and everything that may go wrong."""
import base64
import http.client
import itertools
import json
import re
import shutil
import signal
import ssl
import struct
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from apps import App, Desk
from certificates import Authority
from harness import HANG_S, freeze, is_long, scratch, until
from services import Services, slow
from test_dispatch import end, place
from world import connect, messages, query

PEOPLE = itertools.count(1)
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


@pytest.fixture(scope="module")
def desk(world):
    folder = scratch("drover-apps-")
    services = Services(folder)
    try:
        desk = Desk(world, folder, "--set", f"geocoder.url={services.address}", "--set", f"geocoder.ca_file={services.certificate}",
                    "--set", "geocoder.calls_max=600/min", "--set", "geocoder.timeout_ms=60000", "--set", "outside.failures_max=100")
        desk.services, desk.folder = services, folder
        yield desk
        desk.stop()
    finally:
        services.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def campus(desk):
    """A square of two kilometres that the workers know."""
    campus = desk.campus(pickup_s=0, dropoff_s=0)
    desk.settle()
    return campus


def rider(desk, campus, name=None, port=None):
    return desk.app(campus, name or f"rider-{next(PEOPLE)}", "rider", port)


def driver(desk, campus, vehicle="bus", x=0, y=0, capacity=4, name=None):
    app = desk.app(campus, name or f"driver-{next(PEOPLE)}", "ride_driver")
    answer = app.post("in-service", {"vehicle": vehicle, "capacity": capacity, **place(x, y)})
    assert answer.status == 200, answer.body
    return app


def order(x=10, y=10, to_x=300, to_y=300, passengers=1, **more):
    return {"passengers": passengers, **end("from", x, y), **end("to", to_x, to_y), **more}


def ask(app, key, **more):
    return app.post("pickups", order(**more), Idempotency_Key=key)


def rides(desk, campus):
    return desk.query("SELECT request, rider, state, vehicle FROM drover.ride WHERE campus = %s", campus.name)


def log(desk, campus):
    """All that stands on the log of a campus."""
    return [json.loads(message.value()) for message in messages(desk.world.brokers, "drover.dispatch") if message.key() == campus.name.encode()]


# Who is let in.

def refused(desk, certificate, port=None):
    """By both versions of TLS: in 1.3 a client learns of it only when it reads."""
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        app = App(port or desk.port, desk.certificate, certificate, "drover_x", "c")
        app.tls.minimum_version = app.tls.maximum_version = version
        with pytest.raises((ssl.SSLError, ConnectionError)):
            app.get("vehicles")
    return True


def test_only_apps_with_a_certificate_of_the_authority_get_through_the_handshake(desk, campus):
    assert rider(desk, campus).get("vehicles").json == {"vehicles": []}
    assert refused(desk, None)
    other = Authority(desk.folder, "another")
    for certificate in (other.issue("phone"), desk.authority.issue("old", begins="20200101000000Z", ends="20210101000000Z"),
                        desk.authority.issue("early", begins="20480101000000Z"), desk.authority.issue("a-server", use="server")):
        assert refused(desk, certificate)
    # Without any TLS there is no answer at all.
    with pytest.raises(OSError):
        plain = http.client.HTTPConnection("127.0.0.1", desk.port, timeout=HANG_S)
        plain.request("GET", "/v1/campuses/c/vehicles")
        plain.getresponse()
    said = desk.server.output()
    assert "certificate was refused" in said and "expired" in said and "issuer is unknown" in said, said
    assert rider(desk, campus).get("vehicles").status == 200


def test_who_is_revoked_is_cut_off_without_a_restart(desk, campus):
    lost = desk.authority.issue("lost-phone")
    server, port = desk.serve("--set", f"apps.client_revoked={desk.authority.revoke()}")
    app = desk.app(campus, "keeps-phone", "rider", port)
    thief = App(port, desk.certificate, lost, app.token, campus.name)
    open_connection = thief.connection()
    open_connection.request("GET", thief.path("vehicles"), headers=thief.headers({}))
    assert open_connection.getresponse().read() and app.get("vehicles").status == 200
    listening = thief.connection()
    listening.connect()
    desk.authority.revoke("lost-phone")
    server.signal(signal.SIGHUP)
    server.wait_for("the certificates for apps were read again")
    assert refused(desk, lost, port)
    with pytest.raises((OSError, http.client.HTTPException)):
        open_connection.request("GET", thief.path("vehicles"), headers=thief.headers({}))
        open_connection.getresponse()
    assert app.get("vehicles").status == 200
    # A list of somebody else is not believed, and the old one stays.
    other = Authority(desk.folder, f"list-{next(PEOPLE)}")
    (desk.authority.folder / "revoked.pem").write_bytes(other.revoke().read_bytes())
    server.signal(signal.SIGHUP)
    server.wait_for("not signed by the authority")
    assert refused(desk, lost, port) and app.get("vehicles").status == 200
    # One that should have been renewed goes on to count.
    desk.authority.openssl("ca", "-batch", "-config", "ca.conf", "-gencrl", "-crl_lastupdate", "20200101000000Z", "-crl_nextupdate", "20200201000000Z",
                           "-out", "revoked.pem")
    server.signal(signal.SIGHUP)
    until(lambda: server.output().count("the certificates for apps were read again") == 2)
    assert refused(desk, lost, port) and app.get("vehicles").status == 200
    server.stop()


@pytest.mark.parametrize("without, said", [("apps.client_authority", "apps.client_authority"), ("apps.key", "apps.certificate and apps.key")])
def test_without_certificates_the_listener_does_not_start(desk, without, said):
    desk.world.drover.fails(*desk.options("--set", f"{without}="), env=desk.env, says=[said, "apps.port"])
    run = desk.world.drover.run("check", "--offline", *desk.options("--set", f"{without}=")[3:], env=desk.env)
    assert run.code == 1 and f"apps: {said}" in run.out
    run = desk.world.drover.run("check", "--offline", *desk.options()[3:], env=desk.env)
    assert "apps: ok, served to those of" in run.out


ROLES = {"rider", "ride_driver", "dispatcher"}
ENDPOINTS = [
    ("GET", "me", ROLES), ("PUT", "me", ROLES), ("PUT", "me/photo", ROLES), ("DELETE", "me/photo", ROLES), ("GET", "photos/0", ROLES),
    ("GET", "vehicles", ROLES), ("POST", "pickups", {"rider"}), ("GET", "rides", {"rider", "dispatcher"}),
    ("GET", "rides/x", {"rider", "dispatcher"}), ("GET", "rides/x/stream", {"rider"}), ("POST", "rides/x/cancel", {"rider"}),
    ("POST", "in-service", {"ride_driver"}), ("POST", "out-of-service", {"ride_driver"}), ("POST", "breakdown", {"ride_driver"}),
    ("POST", "position", {"ride_driver"}), ("GET", "itinerary", {"ride_driver"}), ("GET", "itinerary/stream", {"ride_driver"}),
    ("POST", "stops/x/done", {"ride_driver"}), ("POST", "rides/x/override", {"ride_driver"}),
    ("POST", "rides/x/end", ROLES), ("POST", "rides/x/hand-over", ROLES),
    ("GET", "decisions/x", {"dispatcher"}), ("PUT", "surge", {"dispatcher"}),
]


def test_each_endpoint_is_for_its_roles_on_its_campus_only(desk, campus):
    apps = {role: desk.app(campus, f"a-{role}", role) for role in ROLES}
    elsewhere = desk.campus()
    desk.settle()
    for method, path, allowed in ENDPOINTS:
        for role, app in apps.items():
            answer = app.ask(method, path, "[" if method != "GET" else None)
            if role in allowed:
                assert answer.status not in (401, 403, 405, 500), (method, path, role, answer.status)
            else:
                assert answer.problem == (403, "role"), (method, path, role)
        stranger = App(desk.port, desk.certificate, desk.app_certificate, None, campus.name)
        assert stranger.ask(method, path).problem == (401, "token-missing")
        stranger.token = "drover_" + "A" * 43
        assert stranger.ask(method, path).problem == (401, "token-unknown")
        stranger.token = next(iter(apps.values())).token
        stranger.campus = elsewhere.name
        assert stranger.ask(method, path).problem == (404, "not-found")
    query(desk.env, "UPDATE drover.person SET disabled_at = now() WHERE campus = %s AND person = 'a-rider'", campus.name)
    assert apps["rider"].get("me").problem == (401, "token-unknown")


# A ride.

def test_a_whole_ride_with_both_apps_listening(desk, campus):
    bus = driver(desk, campus, "bus", 100, 0)
    ada = rider(desk, campus)
    assert ada.get("vehicles").json["vehicles"][0] | {"seen": None} == {
        "vehicle": "bus", "state": "in_service", "driver": bus.get("me").json["name"], **place(100, 0), "seen": None, "is_silent": False, "needs_attention": False,
        "capacity": 4, "free_seats": 4}
    itinerary = bus.listen("itinerary/stream")
    assert itinerary.until(lambda data: True)["stops"] == []
    assert ada.put("me", {"name": "Ada Lovelace"}).json["name"] == "Ada Lovelace"
    answer = ask(ada, "one", x=0, y=0, to_x=500, to_y=0, passengers=2, description="red coat", from_address="Gate 1")
    assert answer.status == 200, answer.body
    ride = answer.json
    assert (ride["state"], ride["vehicle"]["vehicle"], ride["vehicle"]["driver"]) == ("assigned", "bus", bus.get("me").json["name"])
    assert {key: ride["vehicle"][key] for key in place(100, 0)} == place(100, 0) and ride["pickup"] < ride["dropoff"]
    request = ride["request"]
    assert answer.headers["Location"] == f"/v1/campuses/{campus.name}/rides/{request}"
    listening = ada.listen(f"rides/{request}/stream")
    assert listening.until(lambda data: True)["state"] == "assigned"
    stops = itinerary.until(lambda data: data["stops"])["stops"]
    assert [(stop["stop"], stop["name"], stop["passengers"], stop["description"], stop["address"], stop["distance_m"]) for stop in stops] == [
        ("pickup", "Ada Lovelace", 2, "red coat", "Gate 1", 100), ("dropoff", "Ada Lovelace", 2, "red coat", None, 600)]
    assert {key: stops[1][key] for key in place(0, 0)} == place(500, 0)
    assert bus.post("position", {**place(50, 0), "speed_mps": 8}).status == 204
    assert listening.until(lambda data: data["vehicle"]["longitude_deg"] == place(50, 0)["longitude_deg"])["state"] == "assigned"
    # Slow and near: reached by position alone.
    assert bus.post("position", {**place(5, 0), "speed_mps": 0.5}).status == 204
    assert listening.until(lambda data: data["state"] != "assigned")["state"] == "on_board"
    assert ada.post(f"rides/{request}/cancel").problem == (409, "on-board")
    assert ask(ada, "two").problem == (409, "ride-outstanding")
    assert bus.post(f"rides/{request}/override").problem == (409, "on-board")
    for _ in range(2):
        # Said again when the answer was lost.
        assert bus.post(f"stops/{request}/done", {"stop": "dropoff"}).json["state"] == "done"
    assert listening.until(lambda data: data["state"] == "done")["ended"]
    assert listening.response.read() in (b"", b": \n\n"), "it ends with the ride"
    assert ada.get(f"rides/{request}").json["state"] == "done" and ada.get("rides").json == {"rides": []}
    assert bus.post("out-of-service").json["state"] == "out"
    assert itinerary.until(lambda data: data["state"] == "out")["stops"] == []
    assert bus.get("itinerary").problem == (409, "not-in-service")
    office = desk.app(campus, "office", "dispatcher")
    decision, = office.get(f"decisions/{request}").json
    assert (decision["vehicle"], decision["rank"], decision["event"]) == ("bus", 1, "pickup")
    assert office.put("surge", {"surge": 1.25}).json == {"surge": 1.25}


@pytest.mark.parametrize("who", ["rider", "ride_driver", "dispatcher"])
def test_each_of_the_three_ends_a_ride_or_hands_it_over_and_says_why(desk, campus, who):
    """Who was on board of a silent vehicle could not be brought out of it by anybody."""
    bus, office, stranger = driver(desk, campus, "bus"), desk.app(campus, "office", "dispatcher"), rider(desk, campus)
    def on_board():
        ada = rider(desk, campus)
        request = ask(ada, "k").json["request"]
        assert bus.post(f"stops/{request}/done", {"stop": "pickup"}).json["state"] == "on_board"
        return request, ada, {"rider": ada, "ride_driver": bus, "dispatcher": office}[who]
    request, ada, app = on_board()
    for body in ({}, {"reason": " "}, {"reason": "x" * 501}):
        assert app.post(f"rides/{request}/end", body).problem == (422, "value")
    for act in ("end", "hand-over"):
        assert stranger.post(f"rides/{request}/{act}", {"reason": "mine"}).problem == (404, "not-found")
    for _ in range(2):
        # Said again when the answer was lost.
        answer = app.post(f"rides/{request}/end", {"reason": "got off at the gate"})
        assert (answer.status, answer.json["state"]) == (200, "ended") and answer.json["reason"].endswith(": got off at the gate"), answer.body
    ended = ada.get(f"rides/{request}").json
    assert (ended["state"], ended["dropoff"]) == ("ended", None) and ended["reason"].endswith(": got off at the gate") and ended["pickup"] and ended["ended"]
    assert app.post(f"rides/{request}/hand-over", {"reason": "too late"}).problem == (409, "ride-over")
    request, ada, app = on_board()
    driver(desk, campus, "other", 50, 50)
    answer = app.post(f"rides/{request}/hand-over", {"reason": "a flat tyre"})
    assert (answer.status, answer.json["state"]) == (200, "assigned"), answer.body
    ride = ada.get(f"rides/{request}").json
    assert ride["vehicle"]["vehicle"] == "other" and {key: ride[f"from_{key}"] for key in place(0, 0)} == place(0, 0), "where the bus stands"
    [[why]] = desk.query("SELECT step ->> 'reason' FROM drover.dispatch_decision, jsonb_array_elements(why -> 'steps') AS step "
                         "WHERE campus = %s AND step ->> 'event' = 'hand_over'", campus.name)
    assert why.endswith(": a flat tyre")


def test_an_open_stream_ends_when_its_person_is_signed_out(desk, campus):
    driver(desk, campus)
    ada, bob = rider(desk, campus), rider(desk, campus)
    streams = [app.listen(f"rides/{ask(app, 'k').json['request']}/stream") for app in (ada, bob)]
    for stream in streams:
        stream.until(lambda data: True)
    desk.query("UPDATE drover.person_token SET revoked_at = now() WHERE person = %s RETURNING 1", ada.get("me").json["id"])
    # With the next line that only says that it lives.
    beats = (line for line in iter(streams[0].response.readline, b"") if line.startswith(b":"))
    assert len(list(itertools.islice(beats, 3))) < 3
    assert streams[1].response.readline()


def test_waiting_in_line_cancelling_and_refusing(desk, campus):
    first, second = rider(desk, campus), rider(desk, campus)
    queued = [ask(app, "k", to_x=200).json for app in (first, second)]
    assert [(ride["state"], ride["place_in_line"], ride["vehicle"]) for ride in queued] == [("queued", 1, None), ("queued", 2, None)]
    office = desk.app(campus, "office", "dispatcher")
    assert [ride["request"] for ride in office.get("rides").json["rides"]] == [ride["request"] for ride in queued]
    bus, van = driver(desk, campus, "bus"), driver(desk, campus, "van", 900, 900)
    assert first.get(f"rides/{queued[0]['request']}").json["state"] == "assigned"
    holder = {"bus": bus, "van": van}
    vehicle = first.get(f"rides/{queued[0]['request']}").json["vehicle"]["vehicle"]
    other = holder["van" if vehicle == "bus" else "bus"]
    assert other.post(f"rides/{queued[0]['request']}/override").problem == (404, "not-found"), "not on its itinerary"
    assert other.post(f"stops/{queued[0]['request']}/done", {"stop": "pickup"}).problem == (404, "not-found")
    assert holder[vehicle].post(f"rides/{queued[0]['request']}/override").json["refused"] is True
    assert first.get(f"rides/{queued[0]['request']}").json["vehicle"]["vehicle"] != vehicle
    for _ in range(2):
        assert second.post(f"rides/{queued[1]['request']}/cancel").json["state"] == "cancelled"
    assert ask(second, "k", to_x=200).json["state"] == "cancelled", "the same key is the same ride"
    assert ask(second, "k", to_x=250).problem == (422, "key-reused")
    assert other.post("breakdown").json["state"] == "out"
    taken = driver(desk, campus, "shuttle", name="one-driver")
    assert taken.post("in-service", {"vehicle": "van", "capacity": 4, **place(0, 0)}).status == 409
    assert desk.app(campus, "thief", "ride_driver").post("in-service", {"vehicle": "shuttle", "capacity": 9, **place(0, 0)}).problem == (409, "vehicle-taken")


def test_what_the_rules_forbid_says_by_how_much(desk, campus):
    bus = driver(desk, campus, "bus", capacity=3)
    ada = rider(desk, campus)
    far = ask(ada, "far", x=0, y=0, to_x=1904.672, to_y=0)
    assert far.problem == (422, "outside-campus") and far.json["to_outside_m"] == pytest.approx(905, abs=1) and "804 m" in far.json["detail"]
    assert ask(ada, "out", x=1100, to_x=1200).problem == (422, "outside-campus")
    crowd = ask(ada, "crowd", passengers=5)
    assert crowd.problem == (422, "too-many-passengers") and crowd.json["seats_max"] == 3 and "2 fewer" in crowd.json["detail"]
    assert rides(desk, campus) == []
    # Two parties that do not fit together: whoever gets in second is told to the driver.
    bob = rider(desk, campus)
    a, b = ask(ada, "a", x=0, to_x=900, passengers=2).json["request"], ask(bob, "b", x=20, to_x=900, passengers=2).json["request"]
    assert bus.post(f"stops/{a}/done", {"stop": "dropoff"}).problem == (409, "not-on-board")
    assert bus.post(f"stops/{a}/done", {"stop": "pickup"}).json["state"] == "on_board"
    full = bus.post(f"stops/{b}/done", {"stop": "pickup"})
    assert full.problem == (409, "no-seats") and (full.json["seats"], full.json["on_board"], full.json["passengers"]) == (3, 2, 2)
    assert "somebody must be dropped first" in full.json["detail"]
    told, = [stop["reason"] for stop in bus.get("itinerary").json["stops"] if (stop["request"], stop["stop"]) == (b, "pickup")]
    assert "somebody must be dropped first" in told
    assert bus.post(f"stops/{a}/done", {"stop": "dropoff"}).json["state"] == "done"
    assert (answer := bus.post(f"stops/{b}/done", {"stop": "pickup"}).json)["state"] == "on_board" and answer["reason"] is None


def test_ten_repeats_at_once_are_one_ride(desk, campus):
    driver(desk, campus)
    ada, bob = rider(desk, campus), rider(desk, campus)
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: ask(ada, "same"), range(10)))
    assert [answer.status for answer in answers] == [200] * 10
    assert len({answer.json["request"] for answer in answers}) == 1
    by_body = [ada.post("pickups", {**order(), "request": "same"}) for _ in range(2)]
    assert {answer.json["request"] for answer in by_body} == {answers[0].json["request"]}
    # Another rider's same key is another ride.
    assert ask(bob, "same").json["request"] != answers[0].json["request"]
    assert len(rides(desk, campus)) == 2


def test_one_rider_learns_nothing_of_another_s_ride(desk, campus):
    driver(desk, campus)
    ada, eve = rider(desk, campus), rider(desk, campus)
    request = ask(ada, "mine").json["request"]
    for method, path in (("GET", "rides/{}"), ("GET", "rides/{}/stream"), ("POST", "rides/{}/cancel"), ("GET", "rides/{}?after=0.0")):
        seen, made_up = (eve.ask(method, path.format(id)) for id in (request, "r-nobody-s"))
        assert (seen.status, seen.body) == (made_up.status, made_up.body) and seen.status == 404
    assert eve.get("rides").json == {"rides": []}
    assert ada.get(f"rides/{request}").json["state"] == "assigned"


# What may go wrong.

@pytest.fixture
def stopped_worker(desk):
    """It stands still: what is pushed is not decided."""
    freeze(desk.worker)
    yield desk.worker
    desk.worker.signal(signal.SIGCONT)


def wait_for_record(desk, campus, kind):
    until(lambda: any(record["kind"] == kind for record in log(desk, campus)))


def test_without_a_worker_the_answer_comes_later(desk, campus, stopped_worker):
    server, port = desk.serve("--set", "apps.answer_wait_ms=500")
    ada = rider(desk, campus, port=port)
    began = time.monotonic()
    answer = ask(ada, "patience")
    assert answer.status == 202 and time.monotonic() - began > 0.4
    assert answer.json["state"] == "undecided" and answer.headers["Retry-After"] and answer.headers["Location"] == answer.json["ask"]
    assert ada.get(answer.json["ask"]).status == 202, "still"
    assert ask(ada, "patience").json["request"] == answer.json["request"]
    stopped_worker.signal(signal.SIGCONT)
    until(lambda: ada.get(answer.json["ask"]).status == 200)
    assert ada.get(answer.json["ask"]).json["state"] == "queued"
    assert len(rides(desk, campus)) == 1
    server.stop()


def test_nobody_says_by_a_notification_that_something_is_decided(desk, campus, stopped_worker):
    """Every login of the database may NOTIFY."""
    server, port = desk.serve("--set", "apps.answer_wait_ms=500")
    office = desk.app(campus, "office", "dispatcher", port)
    query(desk.env, "SELECT pg_notify('drover_dispatch_progress', partition || ' 99999999') FROM drover.partition_progress WHERE topic = 'drover.dispatch'")
    assert office.put("surge", {"surge": 1.25}).status == 202
    server.stop()


def test_what_is_decided_is_heard_of_where_notifications_are_lost(desk, campus):
    """As when the queue of them is full."""
    query(desk.env, "ALTER TABLE drover.partition_progress DISABLE TRIGGER dispatch_progress_tell")
    assert desk.app(campus, "office", "dispatcher").put("surge", {"surge": 1.25}).status == 200
    query(desk.env, "ALTER TABLE drover.partition_progress ENABLE TRIGGER dispatch_progress_tell")


def test_killed_between_push_and_answer_and_asked_again_it_is_the_same_ride(desk, campus, stopped_worker):
    server, port = desk.serve()
    ada = rider(desk, campus, port=port)
    lost = []
    def waits():
        try:
            ask(ada, "lost")
        except (OSError, http.client.HTTPException) as error:
            lost.append(error)
    asking = threading.Thread(target=waits)
    asking.start()
    wait_for_record(desk, campus, "pickup")
    server.kill()
    asking.join(HANG_S)
    assert len(lost) == 1
    stopped_worker.signal(signal.SIGCONT)
    again = rider(desk, campus)
    again.token = ada.token
    answer = ask(again, "lost")
    assert answer.status == 200 and len(rides(desk, campus)) == 1
    assert [row[0] for row in rides(desk, campus)] == [answer.json["request"]]


def test_without_a_broker_nothing_is_half_done(desk, campus):
    server, port = desk.serve(DROVER_KAFKA_BROKERS="127.0.0.1:1")
    ada = rider(desk, campus, port=port)
    assert ada.get("vehicles").status == 200
    for _ in range(2 if is_long() else 1):  # It is waited for the broker some seconds.
        answer = ada.post("pickups", order(), Idempotency_Key="away")
        assert answer.problem == (503, "broker-away") and answer.headers["Retry-After"]
    assert rides(desk, campus) == []
    ada.port = desk.port
    assert ask(ada, "away").status == 200
    server.stop()


def test_without_the_database_it_is_said_and_comes_back(desk, campus):
    ada = rider(desk, campus)
    with connect(desk.env) as connection:
        connection.execute("ALTER ROLE drover_web NOLOGIN")
        try:
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'drover_web' AND datname = current_database()")
            for answer in (ask(ada, "k"), ada.get("vehicles"), ada.get("me")):
                assert answer.problem == (503, "database") and answer.headers["Retry-After"]
        finally:
            connection.execute("ALTER ROLE drover_web LOGIN")
    assert ada.get("vehicles").status == 200
    until(lambda: ask(ada, "k").status == 200)
    assert len(rides(desk, campus)) == 1


def test_addresses_are_looked_up_and_coordinates_do_without(desk, campus):
    driver(desk, campus)
    ada = rider(desk, campus)
    desk.services.places["1 campus way"] = tuple(place(50, 50).values())
    try:
        found = ada.post("pickups", {"passengers": 1, "from_address": "1 Campus Way", **end("to", 200, 0)}, Idempotency_Key="a")
        assert found.status == 200, found.body
        assert (found.json["from_latitude_deg"], found.json["from_address"]) == (pytest.approx(place(50, 50)["latitude_deg"]), "1 Campus Way")
        assert ada.post(f"rides/{found.json['request']}/cancel").status == 200
        nowhere = {"passengers": 1, "from_address": "9 Nowhere Street", **end("to", 200, 0)}
        assert ada.post("pickups", nowhere, Idempotency_Key="b").problem == (422, "address-unknown")
        desk.services.trick = lambda handler: handler.reply(500, b"{}")
        away = ada.post("pickups", {**nowhere, "from_address": "3 Other Street"}, Idempotency_Key="c")
        assert away.problem == (503, "addresses-away") and away.headers["Retry-After"]
        assert ask(ada, "d", from_address="3 Other Street").status == 200
    finally:
        desk.services.trick = None
    assert len(rides(desk, campus)) == 2


def test_ways_are_measured_before_a_ride_is_asked_for_and_nobody_waits_long_for_them(desk, campus):
    def serve(measure_ms):
        return desk.serve(
            "--set", f"travel.url={desk.services.address}", "--set", f"travel.ca_file={desk.services.certificate}", "--set", "outside.failures_max=100",
            "--set", "travel.calls_max=600/min", "--set", "travel.timeout_ms=60000", "--set", f"dispatch.measure_ms={measure_ms}")
    patient, port = serve(10_000)
    hasty, hasty_port = serve(100)
    try:
        driver(desk, campus, x=300, y=300)
        ada = rider(desk, campus, port=port)
        assert ask(ada, "a").status == 200
        kinds = [record["kind"] for record in log(desk, campus) if record["kind"] in ("travel", "pickup")]
        assert kinds == ["travel", "pickup"]
        (why,) = desk.query("SELECT why ->> 'measured_by' FROM drover.dispatch_decision WHERE campus = %s AND why ->> 'measured_by' IS NOT NULL", campus.name)
        assert why[0].endswith("/driving")
        # Slow: decided by distance, once the time is over that a pickup waits. The service answers when the client has long given up.
        desk.services.trick = slow(desk.services, 2 * HANG_S)
        assert ask(rider(desk, campus, port=hasty_port), "b", from_latitude_deg=place(-333, 0)["latitude_deg"]).status == 200
        said = [record for record in log(desk, campus) if record["kind"] == "travel"][-1]
        assert "{latitude_deg},{longitude_deg}".format(**place(-333, 0)) not in said["to"] or "-" in said["ways_ms"]
        # Many at once wait for their turn no longer than that, too.
        desk.services.trick = None
        apps = [rider(desk, campus, port=port) for _ in range(30 if is_long() else 8)]
        with ThreadPoolExecutor(len(apps)) as pool:
            found = list(pool.map(lambda app: ask(app, "c"), apps))
        # A slow machine may need longer for all decisions than an answer waits for one.
        assert {answer.status for answer in found} <= {200, 202}, found
        for app, answer in zip(apps, found):
            until(lambda: answer.status == 200 or app.get(answer.json["ask"]).status == 200)
    finally:
        desk.services.trick = None
        assert patient.stop() == hasty.stop() == 0


HOSTILE = [
    ("no JSON", b"hello", (400, "not-json")), ("a list", b"[]", (400, "not-json")), ("empty", b"", (400, "not-json")), ("cut off", b'{"passengers": 1', (400, "not-json")),
    ("not UTF-8", b'{"passengers": 1, "description": "\xff\xfe"}', (400, "not-json")), ("NUL", b'{"passengers": 1, "description": "a\\u0000b"}', (400, "not-json")),
    ("UTF-16", '{"passengers": 1}'.encode("utf-16"), (400, "not-json")), ("nested", b'{"passengers": ' + b"[" * 5000 + b"]" * 5000 + b"}", (400, "not-json")),
    ("doubled", b'{"passengers": 1, "passengers": 2}', (400, "not-json")), ("NaN", {"from_latitude_deg": float("nan")}, (400, "not-json")),
    ("Infinity", {"from_latitude_deg": float("inf")}, (400, "not-json")), ("a pole too far", {"from_latitude_deg": 90.0001}, (422, "value")),
    ("around the world", {"to_longitude_deg": -180.5}, (422, "value")), ("huge exponent", b'{"passengers": 1e99}', (422, "value")),
    ("half a person", {"passengers": 1.5}, (422, "value")), ("nobody", {"passengers": 0}, (422, "value")), ("text for a number", {"passengers": "1"}, (422, "value")),
    ("half a place", {"from_longitude_deg": None}, (422, "value")), ("nowhere", {"to_latitude_deg": None, "to_longitude_deg": None}, (422, "place-missing")),
    ("long description", {"description": "x" * 1001}, (422, "value")), ("control characters", {"description": "a\x1b[2Jb"}, (422, "value")),
    ("17 KB", {"note": "x" * 17_000}, (413, "body-too-large")), ("10 MB description", {"description": "x" * 10_000_000}, (413, "body-too-large")),
    ("null island elsewhere", {"from_latitude_deg": 0, "from_longitude_deg": 0}, (422, "outside-campus")),
]


@pytest.mark.parametrize("name, body, problem", HOSTILE, ids=[row[0] for row in HOSTILE])
def test_hostile_bodies(desk, hostile_campus, name, body, problem):
    campus, ada = hostile_campus
    if isinstance(body, dict):
        body = json.dumps({**order(), **body})
    try:
        answer = ada.ask("POST", "pickups", body, Idempotency_Key="k")
    except OSError:
        # It stopped listening to what is far too long.
        assert name == "10 MB description"
        return
    assert answer.problem == problem
    assert rides(desk, campus) == []


@pytest.fixture(scope="module")
def hostile_campus(desk):
    campus = desk.campus()
    desk.settle()
    return campus, rider(desk, campus)


def test_more_that_is_refused(desk, campus):
    ada = rider(desk, campus)
    assert ada.post("pickups", order()).problem == (400, "idempotency-key")
    assert ada.post("pickups", order(), Idempotency_Key="k" * 201).problem == (400, "idempotency-key")
    assert ada.post("pickups", order(), Content_Type="text/plain", Idempotency_Key="k").problem == (415, "content-type")
    assert ada.post("pickups", order(), Content_Encoding="gzip", Idempotency_Key="k").problem == (415, "content-encoding")
    assert ada.get("rides/a%20b").problem == (404, "not-found")
    bus = driver(desk, campus)
    for body in ({"vehicle": "a b"}, {"vehicle": "v", "capacity": 0}, {"vehicle": "v", "capacity": 4, "latitude_deg": 1}):
        assert bus.post("in-service", body).problem == (422, "value")
    assert bus.post("position", {**place(0, 0), "speed_mps": -1}).problem == (422, "value")
    assert bus.post("stops/x/done", {"stop": "lunch"}).problem == (422, "value")
    office = desk.app(campus, "office", "dispatcher")
    assert office.put("surge", {"surge": 1000}).problem == (422, "value") and office.get("decisions/x").problem == (404, "not-found")
    # An app that runs wild is slowed down, and nobody else is.
    assert 429 in (ada.put("me", {"name": f"Ada {number}"}).status for number in range(500))
    assert rider(desk, campus).put("me", {"name": "Bob"}).status == 200


def test_photos_go_to_those_who_meet(desk, campus):
    bus = driver(desk, campus)
    ada, eve = rider(desk, campus), rider(desk, campus)
    for content in (b"GIF89a", b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", PNG[:-4], b"\xff\xd8\xff", b""):
        assert ada.ask("PUT", "me/photo", content, Content_Type="image/png").problem == (415, "photo")
    assert ada.ask("PUT", "me/photo", PNG + b"\0" * 524_288, Content_Type="image/png").problem == (413, "body-too-large")
    # Where it was taken stays with who took it: a chunk `eXIf`, with its check sum.
    chunk = b"eXIfMM\0\x2agps 38.9N"
    telling = PNG[:33] + struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) + PNG[33:]
    path = ada.ask("PUT", "me/photo", telling, Content_Type="text/html").json["photo"]
    assert re.fullmatch(rf"/v1/campuses/{campus.name}/photos/[0-9a-f]{{64}}", path)
    mine = ada.get(path)
    assert mine.body == PNG and mine.headers["Content-Type"] == "image/png" and mine.headers["X-Content-Type-Options"] == "nosniff"
    assert eve.get(path).problem == bus.get(path).problem == (404, "not-found"), "they have nothing to do with each other"
    request = ask(ada, "k").json["request"]
    assert bus.get("itinerary").json["stops"][0]["photo"] == path and bus.get(path).body == PNG
    assert eve.get(path).status == 404
    assert desk.app(campus, "office", "dispatcher").get(path).body == PNG
    assert ada.post(f"rides/{request}/cancel").status == 200
    assert bus.get(path).status == 404, "the ride is over"
    assert ada.ask("DELETE", "me/photo").json["photo"] is None
    query(desk.env, "GRANT drover_reader TO CURRENT_USER")
    may = query(desk.env, "SELECT has_table_privilege('drover_reader', 'drover.person_photo', 'SELECT'), has_table_privilege('drover_web', 'drover.person_photo', 'INSERT')")[0]
    assert may == (False, False)


def test_looking_is_a_sign_of_life_twice_a_minute_at_most(desk, campus):
    bus = driver(desk, campus)
    ada = rider(desk, campus)
    request = ask(ada, "k").json["request"]
    def signs(last):
        """Those that follow from looking when the last ones were then."""
        with connect(desk.env) as connection:
            for table in ("ride", "ride_vehicle"):
                connection.execute(f"UPDATE drover.{table} SET sign_at = now() + %s::interval WHERE campus = %s", [last, campus.name])
        for _ in range(10):
            assert ada.get(f"rides/{request}").status == 200 and bus.get("itinerary").status == 200
        desk.settle()
        return [record for record in log(desk, campus) if record["kind"] == "sign"]
    assert signs("1 hour") == []
    [[before]] = desk.query("SELECT now()")
    said = signs("-31 s")
    for who in ("rider", "vehicle"):
        times = [record["ts"] for record in said if who in record]
        assert times and all(later - sooner > 29_000 for sooner, later in zip(times, times[1:])), times
    assert desk.query("SELECT min(sign_at) > %s FROM drover.ride WHERE campus = %s", before, campus.name) == [(True,)]
