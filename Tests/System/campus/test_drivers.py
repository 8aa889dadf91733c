"""Drivers: settings, what apps hand in beside readings, alerts by the account's limits and the stream that brings them."""
import gzip
import http.client
import json
import random
import socket
import threading
import time

import pytest
from harness import HANG_S, is_long, until
from test_uploads import HOUR, LINES, Phone, a_desk, give_token, now
from world import connect, producer, query

ACCOUNTS = iter(f"driver-{n}" for n in range(1, 10_000))
CARS = iter(f"car-{n}" for n in range(1, 10_000))


@pytest.fixture(scope="module")
def shared_desk(program):
    with a_desk(program) as desk:
        desk.work("drivers").wait_for("partitions assigned")
        yield desk


@pytest.fixture
def desk(shared_desk):
    """The shared desk, with an account and a car that no other story has."""
    shared_desk.account, shared_desk.car = next(ACCOUNTS), next(CARS)
    return shared_desk


def phone(desk, account=None, *scopes):
    return Phone(desk.port, desk.certificate, give_token(desk.env, account or desk.account, *(scopes or ("upload", "account"))))


def ask(desk, *arguments, code=0):
    run = desk.drover.run(*arguments, env=desk.env)
    assert run.code == code, run.err
    return run


def drive(car, start, seconds, **values):
    """A reading a second; a value may be a function of the second."""
    return [{"schema": 1, "kind": "reading", "id": f"{car}-{start + s * 1000}", "vehicle": car, "ts": start + s * 1000,
             **{key: value(s) if callable(value) else value for key, value in values.items()}} for s in seconds]


def push(desk, records):
    desk.world.push("drover.cars", *records)


def register(desk, car=None, account=None, ts=None):
    """As `drover vehicle register` does."""
    push(desk, [{"schema": 1, "kind": "registration", "id": f"reg-{time.monotonic_ns()}", "vehicle": car or desk.car,
                 "ts": ts or now() - 40 * 24 * HOUR, "by": "test", "account": account or desk.account}])
    desk.world.work_off(desk.env)


def alerts(desk, car=None, columns="parameter, since_at, opened_at, resolved_at, threshold, opening_value, worst_value, worst_at, account"):
    return query(desk.env, f"SELECT {columns} FROM drover.alert WHERE kind = 'car' AND vehicle = %s AND state <> 'withdrawn' "
                 "ORDER BY opened_at, parameter", car or desk.car)


# Settings

def test_settings_are_typed_put_and_read(desk):
    ask(desk, "account", "settings", "set", desk.account, "speed_limit_mph=75", "units=metric", "mail=on", "--by", "Anna")
    shown = json.loads(ask(desk, "account", "settings", "show", desk.account, "--format", "json").out)
    assert (shown["speed_limit_mph"], shown["units"], shown["mail"], shown["coolant_limit_f"]) == (75, "metric", True, 220)
    table = ask(desk, "account", "settings", "show", desk.account).out
    assert "speed_limit_mph" in table and "too fast is more than this" in table
    # In every partition, once.
    rows = query(desk.env, "SELECT topic_partition, settings FROM drover.account_settings WHERE account = %s", desk.account)
    partitions = query(desk.env, "SELECT count(*) FROM drover.partition_progress WHERE topic = 'drover.cars'")[0][0]
    assert sorted(row[0] for row in rows) == list(range(partitions)) and len({row[1] for row in rows}) == 1

    app = phone(desk)
    answer = app.get("/v1/settings")
    assert answer.json["account"] == desk.account and answer.json["settings"]["speed_limit_mph"] == 75
    assert app.get("/v1/settings", If_None_Match=answer.headers["ETag"]).status == 304
    put = app.ask("PUT", "/v1/settings", json.dumps({"speed_limit_kmh": 120, "alerts": False}), Content_Type="application/json")
    assert put.status == 200 and put.json["settings"]["speed_limit_kmh"] == 120 and put.json["settings"]["units"] == "us"
    until(lambda: app.get("/v1/settings").json["settings"] == put.json["settings"])
    packed = gzip.compress(b'{"units":"metric"}')
    assert app.ask("PUT", "/v1/settings", packed, Content_Type="application/json", Content_Encoding="gzip").json["settings"]["units"] == "metric"


def test_settings_that_are_wrong_are_refused_with_the_reason(desk):
    app = phone(desk)
    for body, why in [('{"speed_limit_mph": 1000}', "from 1 to 300"), ('{"limit": 1}', "`limit` is no setting"), ("[]", "not a JSON object"),
                      ('{"alerts": "yes"}', "`alerts` must be true or false"), ('{"speed_limit_mph":1,"speed_limit_kmh":1}', "say the same")]:
        answer = app.ask("PUT", "/v1/settings", body, Content_Type="application/json")
        assert answer.problem == (422, "settings") and why in answer.json["detail"], answer.body
    assert app.ask("PUT", "/v1/settings", "{}", Content_Type="text/plain").problem == (415, "content-type")
    assert phone(desk, None, "upload").get("/v1/settings").problem == (403, "scope-missing")
    for words in [["speed=1"], ["alerts=perhaps"], ["voltage_low_v=20"]]:
        assert ask(desk, "account", "settings", "set", desk.account, *words, code=2).out == ""
    assert ask(desk, "account", "settings", "show", "a b", code=2).out == ""
    # Past the API: the worker rejects what is none.
    before = query(desk.env, "SELECT count(*) FROM drover.rejected")[0][0]
    desk.world.push("drover.cars", {"schema": 1, "kind": "settings", "id": "x", "ts": now(), "by": "x", "account": desk.account, "settings": '{"speed_limit_mph":-1}'}, partition=0)
    desk.world.work_off(desk.env)
    reasons = query(desk.env, "SELECT reason FROM drover.rejected ORDER BY record_offset DESC")
    assert len(reasons) == before + 1 and any("`speed_limit_mph` must be a number" in reason for reason, in reasons)


# Uploads

def test_an_upload_says_who_drove_and_a_repeat_changes_nothing(desk):
    start = now() - HOUR
    body = drive(desk.car, start, range(60), speed_kmh=50) + drive(other := next(CARS), start + 5_000, range(10), speed_kmh=30)
    app = phone(desk)
    for _ in range(3):
        assert app.post(body, path="/v1/readings/cars").json["accepted"] == 70
    desk.world.work_off(desk.env)
    rows = query(desk.env, "SELECT vehicle, account, extract(epoch FROM from_at) * 1000, extract(epoch FROM until_at) * 1000 FROM drover.driving "
                 "WHERE vehicle = ANY (%s) ORDER BY vehicle", [desk.car, other])
    wanted = sorted([(desk.car, desk.account, start, start + 59_000), (other, desk.account, start + 5_000, start + 14_000)])
    assert [(row[0], row[1], int(row[2]), int(row[3])) for row in rows] == wanted


def test_pieces_of_a_drive_become_one_row_whatever_their_order(desk):
    """A phone uploads every minute: a row each would be most of the database after some years."""
    start, other = now() - 5 * HOUR, next(ACCOUNTS)
    def piece(number, account, from_s, to_s):
        return {"schema": 1, "kind": "driving", "id": f"{desk.car}-{account}-{number}", "vehicle": desk.car, "by": account, "from_ts": start + from_s * 1000, "ts": start + to_s * 1000}
    # Two hours, with a second between the pieces; a repeat of each third; another account within; and a drive after six minutes' pause.
    pieces = [piece(number, desk.account, number * 60, number * 60 + 59) for number in range(120)]
    wanted = [(desk.account, 0, 7_199, f"{desk.car}-{desk.account}-0"), (other, 600, 1_300, f"{desk.car}-{other}-1"), (desk.account, 7_560, 7_600, f"{desk.car}-{desk.account}-later")]
    all_of_them = [*pieces, *pieces[::3], piece(1, other, 600, 900), piece(2, other, 1_000, 1_300), piece("later", desk.account, 7_560, 7_600)]
    random.Random(7).shuffle(all_of_them)
    def drives():
        return [(account, int(begin), int(end), record) for account, begin, end, record in query(desk.env, """
            SELECT account, extract(epoch FROM from_at) - %s, extract(epoch FROM until_at) - %s, record_id FROM drover.driving WHERE vehicle = %s ORDER BY from_at""", start / 1000, start / 1000, desk.car)]
    for part in range(0, len(all_of_them), 30):
        push(desk, all_of_them[part:part + 30])
        desk.world.work_off(desk.env)
    assert drives() == wanted
    push(desk, all_of_them[::-1])
    desk.world.work_off(desk.env)
    assert drives() == wanted
    # A trip of the other's, within the hours of who drove before and after, is the other's.
    push(desk, drive(desk.car, start + 700_000, range(200), speed_kmh=50) + drive(desk.car, start + 3_600_000, range(200), speed_kmh=50))
    desk.world.work_off(desk.env)
    assert [row[0] for row in query(desk.env, "SELECT driver FROM drover.trip_now WHERE vehicle = %s ORDER BY start_at", desk.car)] == [other, desk.account]
    assert [row[0] for row in query(desk.env, "SELECT c.driver FROM drover.trip t, drover.trip_context(t.vehicle, t.start_at, t.end_at) c "
                                    "WHERE t.vehicle = %s ORDER BY t.start_at", desk.car)] == [other, desk.account]


def test_trips_scans_and_summaries(desk):
    app, start = phone(desk), now() - HOUR
    def item(kind, number, **values):
        return {"schema": 1, "kind": kind, "id": f"{desk.car}-{number}", "vehicle": desk.car, "ts": start + number * 1000, **values}
    batch = [item("trip_start", 1), item("trip_stop", 2), item("trip_tag", 3, trip_ts=start + 1500, tag="to work", by="somebody else"),
             item("trip_discard", 4, trip_ts=start + 1500),
             item("trip_summary", 5, from_ts=start - 60_000, distance_km=12.3, max_speed_kmh=88, fuel_l=0.9, sharp_brakings=2, note="old phone"),
             item("registration", 6, account="x"), item("driving", 7, from_ts=start), item("reading", 8, speed_kmh=3), item("scan", 9, text="x"),
             item("trip_tag", 10, tag="of which?"), item("trip_start", 11) | {"ts": now() + 48 * HOUR}]
    for _ in range(2):
        answer = app.post("\n".join(map(json.dumps, batch)), LINES, path="/v1/trips")
        assert (answer.json["accepted"], answer.json["rejected"]) == (5, 6), answer.json
    assert "`kind` must be trip_start" in answer.json["results"][5]["reason"] and "hours ahead" in answer.json["results"][10]["reason"]
    scan = item("scan", 20, text="1 trouble code: P0133", done=True, stored=["P0133"], lamp=True)
    assert app.post(scan, path="/v1/scans").json["accepted"] == 1
    assert app.post(item("trip_start", 1), path="/v1/scans").problem == (422, "no-reading-accepted")
    desk.world.work_off(desk.env)
    assert query(desk.env, "SELECT is_start, marked_by FROM drover.trip_mark WHERE vehicle = %s ORDER BY marked_at", desk.car) == [
        (True, desk.account), (False, desk.account)]
    assert query(desk.env, "SELECT is_discard, tag, noted_by FROM drover.trip_note WHERE vehicle = %s ORDER BY is_discard", desk.car) == [
        (False, "to work", desk.account), (True, None, desk.account)]
    assert query(desk.env, "SELECT basis, account, distance_km, max_speed_kmh, fuel_l, sharp_brakings, idle_s, note FROM drover.trip_summary WHERE vehicle = %s",
                 desk.car) == [("no readings", desk.account, 12.3, 88, 0.9, 2, None, "old phone")]
    # Never among what is made of readings.
    assert query(desk.env, "SELECT count(*) FROM drover.trip WHERE vehicle = %s", desk.car) == [(0,)]
    assert query(desk.env, "SELECT scanned_by, stored, is_lamp_on FROM drover.health_scan WHERE vehicle = %s", desk.car) == [(desk.account, ["P0133"], True)]


def test_who_may_write_to_which_car(desk):
    start = now() - HOUR
    owner, driver, stranger = desk.account, next(ACCOUNTS), next(ACCOUNTS)
    register(desk)
    push(desk, [{"schema": 1, "kind": "assignment", "id": f"as-{n}-{desk.car}", "vehicle": desk.car, "ts": ts, "by": "test", **who}
                for n, (ts, who) in enumerate([(start, {"driver": driver}), (start + 600_000, {})])])
    desk.world.work_off(desk.env)
    def post(account, ts, path="/v1/readings/cars"):
        kind = {"kind": "trip_stop"} if path == "/v1/trips" else {}
        return phone(desk, account).post([{**drive(desk.car, ts, [0], speed_kmh=1)[0], **kind}], path=path)
    for path in ["/v1/readings/cars", "/v1/trips"]:
        assert post(owner, start - 60_000, path).status == 200
        assert post(driver, start + 60_000, path).status == 200
        for account, ts in [(driver, start - 60_000), (driver, start + 700_000), (stranger, start + 60_000)]:
            answer = post(account, ts, path)
            assert answer.problem == (403, "not-your-car") and answer.json["vehicles"] == [desk.car]
    # Nothing of a batch with somebody else's car in it is taken; a car of nobody is everybody's.
    free = next(CARS)
    mixed = drive(free, start, range(3), speed_kmh=1) + drive(desk.car, start, range(3), speed_kmh=1)
    assert phone(desk, stranger).post(mixed, path="/v1/readings/cars").problem == (403, "not-your-car")
    assert phone(desk, stranger).post(mixed[:3], path="/v1/readings/cars").status == 200
    desk.world.work_off(desk.env)
    assert query(desk.env, "SELECT count(*) FROM drover.driving WHERE account = %s", stranger) == [(1,)]


def test_packed_bodies_are_unpacked_within_a_bound(desk):
    app, start = phone(desk), now() - HOUR
    body = json.dumps(drive(desk.car, start, range(1000), speed_kmh=50, note="x" * 500)).encode()
    packed = gzip.compress(body)
    assert len(packed) < 100_000 < len(body)
    assert app.post(packed, path="/v1/readings/cars", Content_Encoding="gzip").json["accepted"] == 1000
    machine = {"schema": 1, "kind": "reading", "id": f"m-{desk.car}", "vehicle": f"m-{desk.car}", "model": "8R Tractor", "ts": start, "coolant_c": 60}
    assert app.post(gzip.compress(json.dumps(machine).encode()), Content_Encoding="gzip").json["accepted"] == 1
    bomb = gzip.compress(b" " * (64 << 20))
    assert len(bomb) < 100_000
    assert app.post(bomb, path="/v1/readings/cars", Content_Encoding="gzip").problem == (413, "body-too-large")
    for wrong in [packed[:-1], body, packed[:100] + b"x" + packed[101:], b""]:
        assert app.post(wrong, path="/v1/readings/cars", Content_Encoding="gzip").problem == (400, "not-gzip")
    assert app.post(packed, path="/v1/readings/cars", Content_Encoding="br").problem == (415, "content-encoding")


# Alerts

def naive(readings, limits):
    """All alerts of one car by looking at every reading again for each: (parameter, since, opened, resolved), milliseconds."""
    readings = sorted({reading["ts"]: reading for reading in readings}.values(), key=lambda reading: reading["ts"])
    found, blocks = [], []
    for reading in readings:
        if blocks and reading["ts"] - blocks[-1][-1]["ts"] <= 300_000:
            blocks[-1].append(reading)
        else:
            blocks.append([reading])
    for name, key, test, over, hold in limits:
        for block in blocks:
            values = [(reading["ts"], reading[key]) for reading in block if key in reading]
            index = 0
            while index < len(values):
                if not test(values[index][1]):
                    index += 1
                    continue
                since, at = values[index][0], index
                while at < len(values) and test(values[at][1]) and values[at][0] - since < hold:
                    at += 1
                if at == len(values) or not test(values[at][1]):
                    index = at
                    continue
                end = next((place for place in range(at + 1, len(values)) if over(values[place][1])), None)
                resolved = values[end][0] if end is not None else block[-1]["ts"] + 300_000
                found.append((name, since, values[at][0], resolved))
                index = len(values) if end is None else end
    moving = [reading["ts"] for reading in readings if reading.get("speed_kmh", 0) > 0]
    while moving:
        count = next((n for n in range(1, len(moving)) if moving[n] - moving[n - 1] >= 1_800_000), len(moving))
        opened = next((ts for ts in moving[:count] if ts - moving[0] > 4 * HOUR), None)
        if opened:
            found.append(("Hours at the Wheel", opened, opened, moving[count - 1] + 1_800_000))
        moving = moving[count:]
    return sorted(found, key=lambda row: (row[2], row[0]))


STANDARD = [
    ("Speed", "speed_kmh", lambda v: v > 128.748, lambda v: v <= 123.920, 0),
    ("Engine Coolant Temperature", "coolant_c", lambda v: v > 104.444, lambda v: v <= 101.666, 0),
    ("Low Voltage", "voltage_v", lambda v: v < 11.8, lambda v: v >= 12.0, 10_000),
    ("High Voltage", "voltage_v", lambda v: v > 15.0, lambda v: v <= 14.8, 10_000),
]


def seeded_day(car, seed, start):
    """A day at the wheel: stretches of driving, holes, pauses, hot coolant, bad batteries."""
    chance, ts, readings = random.Random(seed), start, []
    while ts < start + 9 * HOUR:
        step = chance.choice([1_000, 2_000, 5_000])
        speed, coolant, voltage = chance.choice([0, 60, 120, 135]), chance.choice([90, 104, 106]), chance.choice([11, 11.9, 13, 15.2])
        for _ in range(chance.randrange(20, 200)):
            ts += step
            reading = {"schema": 1, "kind": "reading", "id": f"{car}-{ts}", "vehicle": car, "ts": ts, "speed_kmh": speed + chance.randrange(8)}
            if chance.random() < 0.5:
                reading["coolant_c"] = coolant + chance.randrange(-4, 4)
            if chance.random() < 0.5:
                reading["voltage_v"] = round(voltage + chance.randrange(-2, 3) / 10, 1)
            readings.append(reading)
        ts += chance.choice([5_000, 60_000, 299_000, 400_000, 900_000, 1_900_000])
    return readings


def milliseconds(rows):
    return [(name, *(at and round(at.timestamp() * 1000) for at in times)) for name, *times in rows]


def test_in_order_shuffled_doubled_or_late_the_alerts_are_those_of_the_readings(desk):
    start = (now() - 30 * HOUR) // 60_000 * 60_000
    for seed in range(6 if is_long() else 3):
        car = next(CARS)
        readings = seeded_day(car, seed, start)
        register(desk, car)
        chance = random.Random(seed)
        if seed % 3 == 1:
            chance.shuffle(readings)
        elif seed % 3 == 2:
            readings = readings[len(readings) // 3:] + readings[:len(readings) // 2]
        for at in range(0, len(readings), size := chance.choice([200, 1000, 5000])):
            push(desk, readings[at:at + size])
            if chance.random() < 0.3:
                desk.world.work_off(desk.env)
        desk.world.finish(desk.env)
        wanted = naive(readings, STANDARD)
        assert len(wanted) > 10 and {row[0] for row in wanted} >= {"Speed", "Low Voltage", "High Voltage"}
        def told():
            return milliseconds(alerts(desk, car, "parameter, since_at, opened_at, resolved_at"))
        until(lambda: len(told()) == len(wanted))
        assert told() == wanted, f"seed {seed}"
        values = {round(at.timestamp() * 1000): value for at, value in query(
            desk.env, "SELECT opened_at, opening_value FROM drover.alert WHERE vehicle = %s AND parameter = 'Speed' AND state <> 'withdrawn'", car)}
        by_time = {reading["ts"]: reading["speed_kmh"] for reading in readings}
        assert values == {ts: by_time[ts] for ts in values}


def test_a_worker_that_is_killed_tells_the_same(desk):
    """A second worker group over the same log, killed amid it: the same alerts, each opened once. Kills of all sorts: test_torture.py."""
    car, start = next(CARS), (now() - 40 * HOUR) // 60_000 * 60_000
    readings = seeded_day(car, 77, start)
    register(desk, car)
    push(desk, readings[:len(readings) // 2])
    env, kills = desk.world.database(), 4 if is_long() else 1
    for n in range(kills):
        before, worker = desk.world.written(env), desk.world.worker(env, "killed")
        until(lambda: desk.world.written(env) > before, worker)
        worker.kill()
        push(desk, readings[len(readings) // 2 + n * len(readings) // (2 * kills):len(readings) // 2 + (n + 1) * len(readings) // (2 * kills) + 1])
    desk.world.tick()
    worker = desk.world.worker(env, "killed")
    desk.world.work_off(env)
    desk.world.work_off(desk.env)
    def told(env):
        return milliseconds(query(env, "SELECT parameter, since_at, opened_at, resolved_at FROM drover.alert WHERE vehicle = %s AND state <> 'withdrawn' ORDER BY opened_at, parameter", car))
    wanted = naive(readings, STANDARD)
    until(lambda: told(env) == wanted, worker)
    until(lambda: told(desk.env) == wanted)
    opened = query(env, "SELECT record_id, count(*) FROM drover.alert_event WHERE record LIKE %s GROUP BY 1", f'%"vehicle":"{car}"%')
    assert opened and all(count == 1 for _, count in opened), "an event was told twice"


def test_whose_limits_count(desk):
    start = now() - 3 * HOUR
    strict, car = next(ACCOUNTS), desk.car
    ask(desk, "account", "settings", "set", strict, "speed_limit_kmh=50", "coolant_alert=off", "--by", "test")
    register(desk)
    # The owner's limits; then those of who uploaded, which correct what was told.
    push(desk, drive(car, start, range(120), speed_kmh=60, coolant_c=120))
    desk.world.work_off(desk.env)
    until(lambda: [row[0] for row in alerts(desk, columns="parameter")] == ["Engine Coolant Temperature"])
    push(desk, [{"schema": 1, "kind": "driving", "id": f"d-{car}", "vehicle": car, "ts": start + 60_000, "from_ts": start, "by": strict}])
    desk.world.work_off(desk.env)
    # Settings count from their own time on: before it the strict account has the standard.
    # Behind the drive the owner counts again, who is told anew.
    until(lambda: alerts(desk, columns="parameter, account") == [("Engine Coolant Temperature", strict), ("Engine Coolant Temperature", desk.account)])
    # After the settings were made.
    live = now()
    push(desk, [{"schema": 1, "kind": "driving", "id": f"d2-{car}", "vehicle": car, "ts": live + 60_000, "from_ts": live, "by": strict}])
    push(desk, drive(car, live, range(5), speed_kmh=60, coolant_c=120))
    until(lambda: ("Speed", 50.0, strict) in alerts(desk, columns="parameter, threshold, account"))
    assert len([row for row in alerts(desk, columns="parameter, account, opened_at") if row[2].timestamp() * 1000 >= live and row[0] != "Speed"]) == 0
    # Nobody's car is judged by nobody.
    free = next(CARS)
    push(desk, drive(free, start, range(60), speed_kmh=200))
    desk.world.finish(desk.env)
    assert alerts(desk, free) == []


def test_new_trouble_codes_open_and_end_with_scans(desk):
    start = now() - HOUR
    register(desk)
    def scan(number, *codes, done=True):
        return {"schema": 1, "kind": "scan", "id": f"s-{desk.car}-{number}", "vehicle": desk.car, "ts": start + number * 60_000, "by": desk.account,
                "text": "scanned", "done": done, "stored": list(codes)}
    def told():
        return [(name, round(opened.timestamp() * 1000) - start, resolved and round(resolved.timestamp() * 1000) - start)
                for name, opened, resolved in alerts(desk, columns="parameter, opened_at, resolved_at")]
    push(desk, [scan(1, "P0133", "U0100")])
    until(lambda: told() == [("Trouble Code P0133", 60_000, None), ("Trouble Code U0100", 60_000, None)])
    push(desk, [scan(3, "U0100"), scan(4, done=False), scan(1, "P0133", "U0100")])
    until(lambda: told() == [("Trouble Code P0133", 60_000, 180_000), ("Trouble Code U0100", 60_000, None)])
    # Late: it was there before.
    push(desk, [scan(0, "U0100")])
    until(lambda: told() == [("Trouble Code U0100", 0, None), ("Trouble Code P0133", 60_000, 180_000)])


def test_a_replay_makes_the_same_alerts(desk):
    desk.world.finish(desk.env)
    desk.world.replayed(desk.env)


# The stream

class Stream:
    """Server-sent events as a browser reads them, with the time at which each came."""

    def __init__(self, desk, app, last=None):
        self.connection = http.client.HTTPSConnection("127.0.0.1", desk.port, context=app.tls, timeout=HANG_S)
        headers = {"Authorization": f"Bearer {app.token}", **({"Last-Event-ID": str(last)} if last is not None else {})}
        self.connection.request("GET", "/v1/alerts/stream", headers=headers)
        self.socket = self.connection.sock  # Which the connection leaves to the answer.
        self.response = self.connection.getresponse()
        self.events, self.beats, self.ended = [], 0, threading.Event()
        if self.response.status == 200:
            threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        fields = {}
        try:
            while line := self.response.readline():
                line = line.decode().rstrip("\n")
                if line.startswith(":"):
                    self.beats += 1
                elif line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
                elif "data" in fields:
                    self.events.append((time.monotonic(), int(fields["id"]), json.loads(fields["data"])))
                    fields = {}
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            pass
        self.ended.set()

    def close(self):
        # The thread that reads would keep a socket that is only closed, until the next heartbeat.
        socket.socket.shutdown(self.socket, socket.SHUT_RDWR)
        assert self.ended.wait(HANG_S)
        self.response.close()


def test_from_the_push_of_a_reading_to_the_drivers_open_page(desk, capsys):
    app = phone(desk)
    stream = Stream(desk, app)
    assert stream.response.headers["Content-Type"] == "text/event-stream"
    until(lambda: stream.beats > 0)
    delays = []
    sender = producer(desk.world.brokers, **{"linger.ms": 0})
    for n in range(count := 10 if is_long() else 4):
        car = next(CARS)
        register(desk, car)
        # Every second one has never reported before.
        if n % 2:
            push(desk, drive(car, now() - 1_000, [0], speed_kmh=100))
            desk.world.work_off(desk.env)
        [reading] = drive(car, now(), [0], speed_kmh=150)
        pushed = time.monotonic()
        sender.produce("drover.cars", key=car.encode(), value=json.dumps(reading).encode())
        assert sender.flush(HANG_S) == 0
        until(lambda: len(stream.events) > n, about=f"the event of reading {n}")
        assert stream.events[n][2]["vehicle"] == car
        delays.append(stream.events[n][0] - pushed)
    first = stream.events[0][2]
    assert (first["parameter"], first["transition"], first["unit"], first["threshold"], first["account"]) == ("Speed", "opened", "mph", 80, desk.account)
    assert first["opening_value"] == pytest.approx(93.2, abs=0.01)
    with capsys.disabled():
        print(f"\n  push of a reading to the event at the client: {1000 * sorted(delays)[count // 2]:.0f} ms in the middle, {1000 * max(delays):.0f} ms at worst of {count}")
    stream.close()


def test_who_comes_back_misses_nothing_and_gets_nothing_twice(desk):
    register(desk)
    app, other = phone(desk), phone(desk, next(ACCOUNTS))
    stranger = Stream(desk, other)
    start = now() - 10 * HOUR
    def trip(n):
        push(desk, drive(desk.car, start + n * HOUR, range(5), speed_kmh=150))
        desk.world.finish(desk.env)
    listed = app.get("/v1/alerts").json
    assert (listed["account"], listed["alerts"]) == (desk.account, [])
    trip(0)
    first = Stream(desk, app, listed["last_event"])
    until(lambda: len(first.events) >= 2)
    assert [event[2]["transition"] for event in first.events] == ["opened", "resolved"]
    first.close()
    trip(1)
    trip(2)
    second = Stream(desk, app, first.events[0][1])
    until(lambda: len(second.events) >= 5)
    trip(3)
    until(lambda: len(second.events) >= 7)
    ids = [event[1] for event in second.events]
    assert ids == sorted(set(ids)) and ids[0] == first.events[1][1] and len(ids) == 7
    assert stranger.events == []
    listed = app.get("/v1/alerts?all=true&limit=3").json["alerts"]
    assert len(listed) == 3 and all(alert["unit"] == "mph" and alert["state"] == "resolved" for alert in listed)
    assert app.get("/v1/alerts").json["alerts"] == []
    assert app.get("/v1/alerts/stream", Last_Event_ID="x").problem == (400, "last-event-id")
    assert app.get("/v1/alerts?limit=0").problem == (400, "limit")
    assert phone(desk, None, "read").get("/v1/alerts").problem == (403, "scope-missing")
    for stream in (second, stranger):
        stream.close()


def test_streams_are_bounded_beat_and_end_with_the_server(desk):
    app = phone(desk)
    server, port = desk.serve(desk.certificate, desk.key)
    desk.port, usual = port, desk.port
    try:
        streams = [Stream(desk, Phone(port, desk.certificate, app.token)) for _ in range(8)]
        assert [stream.response.status for stream in streams] == [200] * 8
        refused = Stream(desk, Phone(port, desk.certificate, app.token))
        assert refused.response.status == 429 and refused.response.headers["Retry-After"] == "10"
        # One that is closed makes room.
        streams[0].close()
        def again():
            stream = Stream(desk, Phone(port, desk.certificate, app.token))
            if stream.response.status == 200:
                streams.append(stream)
            return stream.response.status == 200
        until(again)
        # The first one greets; the next ones come each ten seconds.
        until(lambda: streams[1].beats >= (2 if is_long() else 1))
        server.stop()
        assert all(stream.ended.wait(HANG_S) for stream in streams[1:])
    finally:
        desk.port = usual


def live(app, car):
    answer = app.get(f"/v1/cars/{car}/now")
    assert answer.status == 200, answer.body
    return answer.json


def test_the_latest_values_are_at_hand_while_driving(desk, capsys):
    register(desk)
    app = phone(desk, None, "account")
    assert app.get(f"/v1/cars/{desk.car}/now").problem == (404, "no-trip-yet")
    assert app.get("/v1/cars/somebody-s/now").problem == (404, "not-found")
    start = now() - 100_000
    speed, maf = (lambda s: 60 + s % 7), (lambda s: 9.5 + s % 3)
    def readings(seconds):
        return drive(desk.car, start, seconds, speed_kmh=speed, rpm=lambda s: 2000 + s, maf_gps=maf,
                     **({"coolant_c": 90, "voltage_v": 14.1} if 0 in seconds else {}))
    def expected(count):
        """The spec's formulas in floating point: mean of both speeds times the time between, air / 14.7 / 745 g/L."""
        steps = range(count - 1)
        km = sum((speed(s) + speed(s + 1)) / 2 / 3600 for s in steps)
        gallons = sum((maf(s) + maf(s + 1)) / 2 for s in steps) / 14.7 / 745 / 3.785411784
        return km / 1.609344, gallons
    push(desk, readings(range(80)))
    desk.world.work_off(desk.env)
    # Nobody has looked yet: what is stored is known, or nothing where all of it lies in one minute.
    until(lambda: app.get(f"/v1/cars/{desk.car}/now").status == 200 or push(desk, readings([79])))
    first = live(app, desk.car)
    assert first["driving"] and first["units"] == "us"
    until(lambda: push(desk, readings([80])) or live(app, desk.car)["driving_time_s"] == 80)
    delays = []
    seen = 81
    for count in range(82, 92, 1 if is_long() else 3):
        push(desk, readings(range(seen, count)))
        seen = count
        began = time.monotonic()
        until(lambda: live(app, desk.car)["driving_time_s"] == count - 1)
        delays.append(time.monotonic() - began)
    values = live(app, desk.car)
    miles, gallons = expected(91)
    assert values["distance_mi"] == pytest.approx(miles, abs=0.001)
    assert values["average_speed_mph"] == pytest.approx(miles / 90 * 3600, abs=0.01)
    assert values["fuel_us_gal"] == pytest.approx(gallons, rel=1e-4)
    assert values["average_mpg"] == pytest.approx(miles / gallons, rel=1e-3)
    assert values["fuel_cost"] == pytest.approx(gallons * 2.39, abs=0.0002) and values["currency"] == "USD"
    assert values["instantaneous_mpg"] == pytest.approx(7.155 * speed(90) / maf(90), rel=1e-3)
    assert (values["speed_mph"], values["rpm"]) == (pytest.approx(speed(90) / 1.609344, abs=0.001), 2090)
    assert (values["coolant_f"], values["voltage_v"]) == (194, 14.1)
    assert values["read"]["coolant_c"] < values["read"]["speed_kmh"] == values["as_of"], "it was read ninety seconds ago"
    assert (values["sharp_accelerations"], values["sharp_brakings"], values["holes"]) == (0, 0, 0)
    push(desk, drive(desk.car, start, [91], speed_kmh=speed(91), coolant_c=88.5, voltage_v=13.9))
    until(lambda: live(app, desk.car)["coolant_f"] != 194)
    values = live(app, desk.car)
    assert (values["coolant_f"], values["voltage_v"]) == (191.3, 13.9)
    assert values["read"]["coolant_c"] == values["as_of"]
    # Others see nothing of it; whom it is assigned to does, in the units of that account.
    other = phone(desk, next(ACCOUNTS), "account")
    assert other.get(f"/v1/cars/{desk.car}/now").problem == (404, "not-found")
    assert phone(desk, None, "upload").get(f"/v1/cars/{desk.car}/now").problem == (403, "scope-missing")
    assert app.ask("PUT", "/v1/settings", json.dumps({"units": "metric"}), Content_Type="application/json").status == 200
    until(lambda: live(app, desk.car)["units"] == "metric")
    values = live(app, desk.car)
    assert (values["coolant_c"], values["speed_kmh"]) == (88.5, speed(91))
    assert values["distance_km"] == pytest.approx(expected(92)[0] * 1.609344, abs=0.001)
    # What is looked at is no result: the trip in the tables is that of the stored minutes.
    [[seconds]] = query(desk.env, "SELECT round(extract(epoch FROM end_at - start_at)) FROM drover.trip WHERE vehicle = %s", desk.car)
    assert seconds <= 91
    with capsys.disabled():
        print(f"\n  push of a reading to the value at the client, polled: {1000 * sorted(delays)[len(delays) // 2]:.0f} ms in the middle, {1000 * max(delays):.0f} ms at worst of {len(delays)}")


def test_cars_that_nobody_looks_at_cost_nothing(desk):
    register(desk)
    app = phone(desk, None, "account")
    push(desk, drive(desk.car, now() - 20_000, range(5), speed_kmh=50))
    desk.world.work_off(desk.env)
    assert query(desk.env, "SELECT FROM drover.live_trip WHERE vehicle = %s", desk.car) == []
    # A car that never reported is not looked at, whoever asks.
    with connect({"DROVER_POSTGRES_URL": desk.env["DROVER_POSTGRES_READER_URL"]}) as web:
        web.execute("SELECT drover.watch('nobody-s-car')")
        web.execute("SELECT drover.watch(%s)", [desk.car])
        for statement in ["DELETE FROM drover.watched", "INSERT INTO drover.watched VALUES ('x', now())", "DELETE FROM drover.live_trip"]:
            with pytest.raises(Exception, match="permission denied"):
                web.execute(statement)
    assert query(desk.env, "SELECT vehicle FROM drover.watched WHERE vehicle IN (%s, 'nobody-s-car')", desk.car) == [(desk.car,)]
    def shown():
        push(desk, drive(desk.car, now(), [0], speed_kmh=50))
        return query(desk.env, "SELECT FROM drover.live_trip WHERE vehicle = %s", desk.car)
    until(shown)
    # Half a minute later, in short: what was known is still shown, and forgotten when somebody asks for another car.
    query(desk.env, "UPDATE drover.watched SET until_at = now() - interval '1 second' WHERE vehicle = %s RETURNING 1", desk.car)
    assert live(app, desk.car)["driving"]
    query(desk.env, "UPDATE drover.watched SET until_at = now() - interval '1 second' WHERE vehicle = %s RETURNING 1", desk.car)
    with connect({"DROVER_POSTGRES_URL": desk.env["DROVER_POSTGRES_READER_URL"]}) as web:
        # Again, where the worker was about to write what came last.
        def is_forgotten():
            web.execute("SELECT drover.watch('another')")
            return query(desk.env, "SELECT FROM drover.live_trip WHERE vehicle = %s", desk.car) == []
        until(is_forgotten)
