"""Dispatch through the log: what riders and ride drivers say in, rides and decisions out; killed, doubled, replayed."""
import itertools
import json
import math
import random
import signal
import threading
import time
from contextlib import contextmanager

import pytest
from harness import HANG_S, freeze, is_long, until
from world import Asked, connect, producer, query

NORTH, EAST = 38.9, -77.05
METRE_NORTH = 1 / 111_195.08
METRE_EAST = METRE_NORTH / math.cos(math.radians(NORTH))
NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def office(world):
    """A worker and a relay that brings decisions back to the log."""
    office = Office(world)
    yield office
    office.stop()


class Office(Asked):
    def __init__(self, world):
        self.world, self.env = world, world.database()
        query(self.env, "GRANT drover_relay TO CURRENT_USER")
        self.work()
        self.relay = world.drover.start("notify", env=self.env)
        self.sender = producer(world.brokers)

    def work(self):
        self.worker = self.world.assigned(self.env, "dispatch")

    def kill(self):
        self.worker.kill()

    def stop(self):
        try:
            self.worker.stop()
        finally:
            self.relay.stop()

    def campus(self, **settings):
        """A square of two kilometres, and nothing in it."""
        return Campus(self, f"campus-{next(NUMBERS)}", settings)

    def settle(self):
        self.world.work_off(self.env)

    def tick(self, ahead_s=0):
        """The time into every partition; up to a minute ahead it is believed, and all that is pushed until then counts as of then."""
        self.world.tell("drover.dispatch", {"schema": 1, "kind": "tick", "ts": int((time.time() + ahead_s) * 1000)})


def place(x, y):
    return {"latitude_deg": round(NORTH + y * METRE_NORTH, 7), "longitude_deg": round(EAST + x * METRE_EAST, 7)}


def end(name, x, y):
    return {f"{name}_{key}": value for key, value in place(x, y).items()}


class Campus:
    def __init__(self, office, name, settings):
        self.office, self.name, self.number = office, name, itertools.count(1)
        # Seconds that its records are of, from the year 2026 on; None: they are of now.
        self.clock_s = 0 if settings.get("record_time") else None
        corners = [place(x, y) for x, y in [(-1000, -1000), (1000, -1000), (1000, 1000), (-1000, 1000)]]
        boundary = " ".join(f"{corner['latitude_deg']},{corner['longitude_deg']}" for corner in corners)
        self.say("campus", name="The square", boundary=boundary, **settings)

    def record(self, kind, **fields):
        ts = int(time.time() * 1000) if self.clock_s is None else 1_767_225_600_000 + self.clock_s * 1000
        return {"schema": 1, "kind": kind, "id": f"{self.name}-{next(self.number)}", "campus": self.name, "ts": ts, **fields}

    def push(self, record):
        self.office.sender.produce("drover.dispatch", key=self.name.encode(), value=json.dumps(record).encode())
        assert self.office.sender.flush(HANG_S) == 0

    def say(self, kind, **fields):
        record = self.record(kind, **fields)
        self.push(record)
        return record

    def vehicle(self, vehicle, x, y, capacity=4):
        self.say("in_service", vehicle=vehicle, driver=f"driver-of-{vehicle}", name=f"Driver of {vehicle}", capacity=capacity, **place(x, y))

    def pickup(self, request, x, y, to_x, to_y, passengers=1, rider=None):
        return self.say("pickup", request=request, rider=rider or f"rider-of-{request}", passengers=passengers, **end("from", x, y), **end("to", to_x, to_y))

    def at(self, vehicle, x, y, speed=0):
        self.say("position", vehicle=vehicle, speed_mps=speed, **place(x, y))

    def rides(self, columns="state, vehicle"):
        self.office.settle()
        rows = self.office.query(f"SELECT request, {columns} FROM drover.ride WHERE campus = %s", self.name)
        return {row[0]: row[1:] for row in rows}

    def stops(self, vehicle):
        [[stops]] = self.office.query("SELECT stops FROM drover.ride_vehicle WHERE campus = %s AND vehicle = %s", self.name, vehicle)
        return stops


def test_a_ride_from_the_request_to_its_end(office):
    campus = office.campus(speed_kmh=20, detour=1, pickup_s=0, dropoff_s=0)
    campus.vehicle("near", 100, 0)
    campus.vehicle("far", 900, 900)
    campus.say("profile", rider="rider-of-a", name="Ada", photo="photos/ada.jpg")
    campus.pickup("a", 0, 0, 500, 0)
    assert campus.rides() == {"a": ("assigned", "near")}
    # 100 m and 500 m at 20 km/h.
    [(asked, pickup, dropoff)] = campus.rides("requested_at, pickup_at, dropoff_at").values()
    assert (pickup - asked).total_seconds() == pytest.approx(18, abs=0.05)
    assert (dropoff - asked).total_seconds() == pytest.approx(108, abs=0.1)
    assert campus.stops("near") == ["a p", "a d"]
    # Near the stop but fast, slow but elsewhere: not reached.
    campus.at("near", 10, 0, speed=6)
    campus.at("near", 31, 0, speed=0)
    assert campus.rides() == {"a": ("assigned", "near")}
    campus.at("near", 29, 0, speed=1.9)
    assert campus.rides() == {"a": ("on_board", "near")}
    campus.say("cancel", request="a")
    campus.say("override", request="a")
    assert campus.rides() == {"a": ("on_board", "near")}, "on board nothing is taken back"
    campus.say("done", request="a", stop="dropoff")
    assert campus.rides("state, ended_at IS NOT NULL") == {"a": ("done", True)}
    assert campus.stops("near") == []
    assert office.query("SELECT name FROM drover.rider WHERE campus = %s", campus.name) == [("Ada",)]
    # Sent again an hour of work later: no second ride.
    campus.pickup("a", 0, 0, 500, 0)
    assert campus.rides() == {"a": ("done", "near")}


def test_a_repeated_request_is_one_ride_and_a_foreign_one_none(office):
    campus = office.campus()
    campus.vehicle("bus", 0, 0)
    for _ in range(3):
        campus.pickup("one", 10, 10, 300, 300)
    campus.pickup("two", 10, 10, 300, 300, rider="rider-of-one")
    # Half a mile is 804.672 m.
    campus.pickup("in-reach", 0, 0, 1800, 0)
    campus.pickup("out-of-reach", 0, 0, 1810, 0)
    campus.pickup("outside", 1100, 0, 1200, 0)
    rides = campus.rides("state, reason")
    assert {request: state for request, (state, _) in rides.items()} == {
        "one": "assigned", "two": "refused", "in-reach": "assigned", "out-of-reach": "refused", "outside": "refused"}
    assert "outstanding" in rides["two"][1] and "804 m outside" in rides["out-of-reach"][1]
    decisions = office.query("SELECT count(*) FROM drover.dispatch_decision WHERE campus = %s AND why -> 'steps' -> 0 ->> 'event' = 'pickup'", campus.name)
    assert decisions == [(2,)]


def test_who_finds_no_room_waits_in_line(office):
    campus = office.campus()
    campus.pickup("early", 0, 0, 100, 100)
    campus.pickup("late", 0, 0, 100, 100)
    assert campus.rides("state, place_in_line") == {"early": ("queued", 1), "late": ("queued", 2)}
    campus.vehicle("bus", 50, 0, capacity=1)
    assert campus.rides() == {"early": ("assigned", "bus"), "late": ("assigned", "bus")}
    campus.pickup("crowd", 0, 0, 100, 100, passengers=5)
    assert campus.rides()["crowd"] == ("queued", None)
    # Time passes by ticks; also for whom nothing is said any more.
    hurry = office.campus(queue_s=1)
    hurry.pickup("crowd", 0, 0, 100, 100, passengers=5)
    office.tick(ahead_s=30)
    assert hurry.rides("state, reason")["crowd"] == ("expired", "no vehicle had room in time")
    assert campus.rides()["crowd"] == ("queued", None)


def test_cancel_override_out_of_service_and_breakdown(office):
    campus = office.campus()
    for number in range(3):
        campus.vehicle(f"bus-{number}", 100 * number, 0)
    campus.pickup("a", 5, 0, 500, 500)
    assert campus.rides()["a"] == ("assigned", "bus-0")
    campus.say("override", request="a")
    first = campus.rides()["a"][1]
    assert first in ("bus-1", "bus-2")
    campus.say("override", request="a")
    assert campus.rides()["a"] == ("assigned", ({"bus-1", "bus-2"} - {first}).pop()), "never back"
    campus.say("cancel", request="a")
    assert campus.rides("state, reason")["a"] == ("cancelled", None)
    campus.pickup("b", 5, 0, 500, 500)
    campus.pickup("c", 6, 0, 600, 500)
    assert {row[1] for row in campus.rides().values() if row[0] == "assigned"} == {"bus-0"}
    campus.say("done", request="b", stop="pickup")
    campus.say("out_of_service", vehicle="bus-0")
    rides = campus.rides()
    assert rides["b"] == ("on_board", "bus-0") and rides["c"][0] == "assigned" and rides["c"][1] != "bus-0"
    campus.at("bus-0", 300, 300, speed=5)
    campus.say("breakdown", vehicle="bus-0")
    rides = campus.rides()
    assert rides["b"][0] == "assigned" and rides["b"][1] != "bus-0"
    [[x, y]] = office.query("SELECT latitude_deg, longitude_deg FROM drover.ride_vehicle WHERE campus = %s AND vehicle = 'bus-0' AND state = 'out'", campus.name)
    assert (x, y) == tuple(place(300, 300).values())


def test_the_silent_are_given_up(office):
    """By the time of its records, so that no pause of the machine is a silence."""
    campus = office.campus(record_time=1, silence_s=60)
    campus.vehicle("bus", 0, 0)
    campus.vehicle("spare", 400, 0)
    campus.pickup("a", 5, 0, 500, 500)
    campus.pickup("b", 5, 5, 500, 500)
    campus.say("done", request="a", stop="pickup")
    campus.clock_s = 59
    campus.say("sign", rider="rider-of-b")
    campus.say("sign", vehicle="spare")
    assert campus.rides() == {"a": ("on_board", "bus"), "b": ("assigned", "bus")}
    campus.clock_s = 62
    campus.say("sign", vehicle="spare")
    assert campus.rides() == {"a": ("on_board", "bus"), "b": ("assigned", "spare")}, "who rides is not put out"
    assert office.query("SELECT state, is_alarmed FROM drover.ride_vehicle WHERE campus = %s AND vehicle = 'bus'", campus.name) == [("leaving", True)]
    campus.clock_s = 118
    campus.say("sign", vehicle="spare")
    assert campus.rides()["b"] == ("assigned", "spare")
    campus.clock_s = 121
    campus.say("clock")
    assert campus.rides("state, reason")["b"] == ("cancelled", "no sign of life of the rider")


def test_each_decision_says_why(office):
    campus = office.campus(speed_kmh=20, detour=1, pickup_s=0, dropoff_s=0, order=0, cancel=0, override=0)
    campus.vehicle("near", 100, 0)
    campus.vehicle("far", 300, 0)
    campus.pickup("a", 0, 0, 500, 0, passengers=2)
    campus.rides()
    [[why]] = office.query("SELECT why FROM drover.dispatch_decision WHERE campus = %s AND why -> 'steps' -> 0 ->> 'request' = 'a'", campus.name)
    [step] = why["steps"]
    assert (step["outcome"], step["vehicle"]) == ("assigned", "near")
    near, far = step["choices"][0]["options"]
    # Seconds of driving, and for two passengers of waiting and riding, at 20 km/h.
    for option, metres in ((near, 100), (far, 300)):
        drive, wait, ride = (metres + 500) * 0.18, 2 * metres * 0.18, 2 * 500 * 0.18
        assert option["growth_s"] == pytest.approx(drive + wait + ride, abs=0.1)
        assert (option["travel_s"], option["wait_s"], option["ride_s"]) == (pytest.approx(drive, abs=0.1), pytest.approx(wait, abs=0.1), pytest.approx(ride, abs=0.1))
    assert why["weights"]["travel"] == 1
    run = office.world.drover.run("dispatch", "why", "a", "--campus", campus.name, "--format", "json", env=office.env)
    first, second = json.loads(run.out)
    assert (first["vehicle"], first["rank"], first["growth_s"]) == ("near", 1, near["growth_s"])
    assert (second["vehicle"], second["rank"], second["is_proven"]) == ("far", 2, True)
    assert office.world.drover.run("dispatch", "why", "nobody-s", env=office.env).code == 1


def test_rubbish_is_set_aside_and_the_campus_goes_on(office):
    campus = office.campus()
    campus.vehicle("bus", 0, 0)
    bad = [
        {**campus.record("pickup"), "request": "x"}, {**campus.record("pickup"), "request": "a b", "rider": "r", "passengers": 1, **end("from", 0, 0), **end("to", 1, 1)},
        {**campus.record("position"), "vehicle": "bus", "latitude_deg": 91, "longitude_deg": 0}, {**campus.record("dance")},
        {**campus.record("campus"), "name": "no ground", "boundary": "1,1 2,2"}, {**campus.record("in_service"), "vehicle": "v", "driver": "d", "name": "n", "capacity": 1000, **place(0, 0)},
        {**campus.record("surge"), "surge": -1}, {**campus.record("decision"), "offset": -1, "decision": "", "why": ""}, {**campus.record("campus"), "campus": "another"},
    ]
    before = office.query("SELECT coalesce(sum(records), 0) FROM drover.rejected WHERE topic = 'drover.dispatch'")[0][0]
    for record in bad:
        campus.push(record)
    office.sender.produce("drover.dispatch", key=b"unknown-campus", value=json.dumps({**campus.record("cancel"), "campus": "unknown-campus", "request": "x"}).encode())
    office.sender.produce("drover.dispatch", key=campus.name.encode(), value=b"\x00\xff")
    campus.pickup("a", 10, 0, 100, 100)
    assert campus.rides() == {"a": ("assigned", "bus")}
    assert office.query("SELECT sum(records) FROM drover.rejected WHERE topic = 'drover.dispatch'")[0][0] - before == len(bad) + 2


def test_an_operator_publishes_a_campus(office, tmp_path):
    file, name = tmp_path / "campus.json", f"campus-{next(NUMBERS)}"
    ground = {"name": "North", "boundary": "38.9,-77.05 38.91,-77.05 38.91,-77.04", "speed_kmh": 25, "silence_s": 120}
    file.write_text(json.dumps(ground))
    publish = lambda: office.world.drover.run("campus", "publish", name, str(file), "--by", "test", env=office.env)
    run = publish()
    assert run.code == 0 and "done" in run.err, run.err
    run = office.world.drover.run("campus", "list", "--format", "json", env=office.env)
    assert {"campus": name, "name": "North", "vehicles_in_service": 0, "rides_outstanding": 0, "rides_in_line": 0} in json.loads(run.out)
    for change, said in [({"speed_kmh": 0}, "speed_kmh"), ({"boundary": "1,1 2,2"}, "boundary"), ({"speed": 3}, "`speed` is no setting"),
                         ({"time_zone": "Mars/Olympus"}, "no time zone"), ({"speeds_kmh": "0-23 20"}, "hour 23 to 24 is missing"),
                         ({"surge_rain": "2 1.1, 1 1.2"}, "thresholds that rise"), ({"surge_hours": 3}, "surge_hours"), ({"likelihood_days": 0}, "likelihood_days")]:
        file.write_text(json.dumps({**ground, **change}))
        run = publish()
        assert run.code == 1 and said in run.err, run.err


def day(campus, seed, count):
    """What a campus says in a while, seeded: requests, rides that go on, people who change their minds."""
    chance = random.Random(seed)
    spot = lambda: (chance.uniform(-900, 900), chance.uniform(-900, 900))
    for number in range(4):
        campus.vehicle(f"bus-{number}", *spot())
    open_requests = []
    for number in range(count):
        draw = chance.random()
        if draw < 0.45 or not open_requests:
            request = f"r-{number}"
            campus.pickup(request, *spot(), *spot(), passengers=chance.randint(1, 3))
            open_requests.append(request)
        elif draw < 0.75:
            request = chance.choice(open_requests)
            campus.say("done", request=request, stop=chance.choice(["pickup", "dropoff"]))
        elif draw < 0.82:
            campus.say("cancel", request=open_requests.pop(chance.randrange(len(open_requests))))
        elif draw < 0.88:
            campus.say("override", request=chance.choice(open_requests))
        elif draw < 0.93:
            campus.at(f"bus-{chance.randrange(4)}", *spot(), speed=chance.choice([0, 5]))
        elif draw < 0.96:
            campus.say(chance.choice(["out_of_service", "breakdown"]), vehicle=f"bus-{chance.randrange(4)}")
        else:
            campus.vehicle(f"bus-{chance.randrange(4)}", *spot())
        yield number


def test_a_worker_that_is_killed_decides_once_and_a_replay_decides_nothing_anew(office, world):
    """Once here; killed again and again beside a second one it is in test_torture.py, amid answers in test_dispatch_kill.py."""
    campus, (count, kills) = office.campus(), (200, 5) if is_long() else (120, 1)
    for number in day(campus, 5, count):
        if number % (count // (kills + 1)) == 0 and number:
            office.kill()
            office.work()
    office.settle()
    rides = campus.rides()
    assert len(rides) > count // 4 and {"done", "cancelled", "assigned"} <= {state for state, _ in rides.values()}
    # Every decision comes back to the log once it is committed.
    until(lambda: office.query("SELECT count(*) FROM drover.outbox") == [(0,)])
    office.settle()
    tables = world.replayed(office.env)
    assert tables["dispatch_decision"] > count // 2 and tables["ride"] > count // 4


def test_decisions_that_are_on_their_way_to_the_log_are_no_difference(office, world):
    """What is decided is committed before it is on the log: a replay to the same offsets cannot have it."""
    campus, is_over = with_vehicles(office), threading.Event()
    world.drover.done("replay", "--into", "beside", env=office.env)
    freeze(office.relay)
    campus.pickup("a", 10, 20, 500, 0)
    assert campus.rides() == {"a": ("assigned", "bus-0")}
    run = world.drover.run("verify", "beside", env=office.env)
    assert run.code == 1 and "is drover notify running?" in run.err and "differs" not in run.out + run.err
    office.relay.signal(signal.SIGCONT)

    def ask():
        for number in itertools.count():
            if is_over.wait(0.05):
                return
            campus.pickup(f"b-{number}", 10 * (number % 50), 20, 500, -10)
            campus.say("cancel", request=f"b-{number}")

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for _ in range(3):
            run = world.drover.done("verify", "beside", "--format", "json", env=office.env)
        tables = {row["table"]: row["rows"] for row in json.loads(run.out)["compared"]}
        assert tables["ride"] > 3 < tables["dispatch_decision"]
    finally:
        is_over.set()
        asking.join()


def backlog(campus, count):
    for number in range(count):
        campus.pickup(f"r-{number}", 10 * number, 20, 500, -10 * number)


@contextmanager
def held(office, campus, most):
    """Nobody can commit more rides of the campus than so many, until this ends: whoever tries waits. Yields a function that says, once
    somebody waits, how many are there."""
    with connect(office.env) as holder:
        holder.execute("SELECT pg_advisory_lock(1)")
        holder.execute(f"""CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF (SELECT count(*) FROM drover.ride WHERE campus = '{campus.name}') > {most} THEN PERFORM pg_advisory_xact_lock_shared(1); END IF;
            RETURN NULL; END $$""")
        holder.execute("CREATE TRIGGER hold AFTER INSERT ON drover.ride FOR EACH STATEMENT EXECUTE FUNCTION hold()")

        def seen():
            until(lambda: office.query("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND classid = 0 AND NOT granted") != [(0,)], office.worker)
            return committed(office, campus)

        try:
            yield seen
        finally:
            holder.execute("SELECT pg_advisory_unlock(1)")
            holder.execute("DROP FUNCTION hold CASCADE")


def committed(office, campus):
    return office.query("SELECT count(*) FROM drover.ride WHERE campus = %s", campus.name)[0][0]


def with_vehicles(office):
    campus = office.campus()
    for number in range(4):
        campus.vehicle(f"bus-{number}", 100 * number, 0)
    campus.rides()
    return campus


def test_a_backlog_is_committed_piece_by_piece(office):
    campus = with_vehicles(office)
    with held(office, campus, 40) as seen:
        freeze(office.worker)
        backlog(campus, 80)
        office.worker.signal(signal.SIGCONT)
        assert 0 < seen() <= 40
    assert len(campus.rides()) == 80


def test_who_takes_over_a_backlog_commits_it_piece_by_piece_and_a_kill_amid_it_begins_there(office):
    """The log's end is not known to be decided by nobody until it is read: so all of it waits, and then goes piece by piece."""
    campus = with_vehicles(office)
    office.settle()
    office.kill()
    backlog(campus, 90)
    with held(office, campus, 40) as seen:
        office.work()
        before = seen()
        assert 0 < before <= 40
        [(waiting,)] = office.query("""SELECT next_offset - replay_offset FROM drover.partition_progress
            WHERE topic = 'drover.dispatch' AND next_offset > replay_offset ORDER BY 1 DESC LIMIT 1""")
        assert 0 < waiting <= 90
        office.kill()
    assert before <= committed(office, campus) < 90
    office.work()
    assert len(campus.rides()) == 90
    decisions = office.query("SELECT count(*), count(DISTINCT record_offset) FROM drover.dispatch_decision WHERE campus = %s", campus.name)
    assert decisions == [(94, 94)], decisions
