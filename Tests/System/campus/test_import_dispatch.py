"""Campus days from files: whole or not at all, decided by their own times, the same again nothing new."""
import csv
import io
import json
import random
from datetime import datetime, timedelta, timezone

from harness import is_long
from test_dispatch import EAST, METRE_EAST, METRE_NORTH, NORTH, office  # noqa: F401 (a fixture)

START = datetime(2026, 11, 2, 14, 0, tzinfo=timezone.utc)


def ms(seconds):
    return int(START.timestamp() * 1000) + round(seconds * 1000)


def degrees(x, y):
    return {"latitude_deg": round(NORTH + y * METRE_NORTH, 7), "longitude_deg": round(EAST + x * METRE_EAST, 7)}


class Archive:
    """A campus that goes by its records' times."""

    def __init__(self, office, name, **settings):
        self.office, self.name, self.lines = office, name, []
        corners = [degrees(x, y) for x, y in [(-1000, -1000), (1000, -1000), (1000, 1000), (-1000, 1000)]]
        self.say(0, "campus", name="The square", boundary=" ".join(f"{c['latitude_deg']},{c['longitude_deg']}" for c in corners),
                 record_time=1, speed_kmh=20, detour=1, pickup_s=0, dropoff_s=0, **settings)

    def say(self, seconds, kind, **fields):
        self.lines.append({"schema": 1, "kind": kind, "id": f"{self.name}-{len(self.lines)}", "campus": self.name, "ts": ms(seconds), **fields})

    def write(self, file):
        file.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        self.lines = []
        return file

    def load(self, file, *more):
        return self.office.world.drover.run("import", "dispatch", file, *more, env=self.office.env)

    def rides(self, columns="state, vehicle"):
        self.office.settle()
        return {row[0]: row[1:] for row in self.office.query(f"SELECT request, {columns} FROM drover.ride WHERE campus = %s", self.name)}


def ride(x, y, to_x, to_y):
    return {**{f"from_{key}": value for key, value in degrees(x, y).items()}, **{f"to_{key}": value for key, value in degrees(to_x, to_y).items()}}


def test_a_day_of_json_lines_is_decided_by_its_own_times(office, tmp_path):
    archive = Archive(office, "lines", queue_s=600)
    archive.say(0, "in_service", vehicle="bus", driver="d", name="D", capacity=1, **degrees(100, 0))
    archive.say(60, "pickup", request="a", rider="g-1", passengers=1, **ride(0, 0, 500, 0))
    archive.say(61, "pickup", request="crowd", rider="g-2", passengers=4, **ride(0, 0, 500, 0))
    archive.say(78, "done", request="a", stop="pickup")
    archive.say(168, "done", request="a", stop="dropoff")
    archive.say(300, "sign", rider="g-2")
    archive.say(500, "sign", rider="g-2")
    archive.say(661, "clock")
    archive.say(662, "clock")
    assert archive.load(archive.write(tmp_path / "day.jsonl")).code == 0
    # 100 m and 500 m at 20 km/h; ten minutes in line.
    rides = archive.rides("state, vehicle, requested_at, pickup_at, dropoff_at, ended_at")
    at = lambda seconds: START + timedelta(seconds=seconds)
    assert rides["a"] == ("done", "bus", at(60), at(78), at(168), at(168))
    assert rides["crowd"][0] == "expired" and rides["crowd"][5] == at(662)
    decisions = office.query("SELECT min(made_at), max(made_at) FROM drover.dispatch_decision WHERE campus = 'lines'")
    assert decisions == [(at(0), at(662))]
    # The same file again, and one of the day before.
    before = office.query("SELECT * FROM drover.ride WHERE campus = 'lines' ORDER BY request"), office.query("SELECT count(*) FROM drover.dispatch_decision WHERE campus = 'lines'")
    run = archive.load(tmp_path / "day.jsonl")
    assert run.code == 0 and "all 2 requests of lines are in the tables" in run.err, run.err
    archive.say(-86_400, "pickup", request="yesterday", rider="g-3", passengers=1, **ride(0, 0, 500, 0))
    late = office.world.drover.start("import", "dispatch", archive.write(tmp_path / "late.jsonl"), env=office.env)
    late.wait_for("1 records of lines")
    if is_long():  # Ten seconds it waits for the workers.
        late.wait_for("0 of 1 requests of lines are in the tables.* does not go back")
    office.settle()
    late.stop()
    assert before == (office.query("SELECT * FROM drover.ride WHERE campus = 'lines' ORDER BY request"), office.query("SELECT count(*) FROM drover.dispatch_decision WHERE campus = 'lines'"))


def test_rides_of_another_system_come_as_csv(office, tmp_path):
    archive, chance, out = Archive(office, "csv", silence_s=86400), random.Random(3), io.StringIO()
    for number in range(6):
        archive.say(number, "in_service", vehicle=f"bus-{number}", driver=f"d-{number}", name="D", capacity=6, **degrees(chance.uniform(-900, 900), 0))
    assert archive.load(archive.write(tmp_path / "fleet.jsonl")).code == 0
    writer = csv.DictWriter(out, ["request", "rider", "passengers", "note", "requested_at", "picked_up_at", "dropped_off_at", "cancelled_at", "from_address",
                                  *[f"{end}_{part}_deg" for end in ("from", "to") for part in ("latitude", "longitude")]])
    writer.writeheader()
    expected, stamp = {}, lambda seconds: (START + timedelta(seconds=seconds)).isoformat()
    for number in chance.sample(range(100), 100):
        asked, cancelled = 60 + 90 * number, number % 10 == 3
        row = {"request": f"r-{number}", "rider": f"g-{number}", "passengers": chance.randint(1, 3), "note": "x, \"y\"", "requested_at": stamp(asked), "from_address": "Gate \"1\"\nnorth"}
        row |= {"cancelled_at": stamp(asked + 30)} if cancelled else {"picked_up_at": stamp(asked + 200), "dropped_off_at": stamp(asked + 500)}
        writer.writerow({**row, **ride(*[chance.uniform(-900, 900) for _ in range(4)])})
        expected[f"r-{number}"] = ("cancelled", START + timedelta(seconds=asked + 30)) if cancelled else ("done", START + timedelta(seconds=asked + 500))
    (tmp_path / "rides.csv").write_text(out.getvalue())
    assert archive.load(tmp_path / "rides.csv", "--campus", "csv").code == 0
    assert archive.rides("state, ended_at") == expected
    run = archive.load(tmp_path / "rides.csv", "--campus", "csv")
    assert run.code == 0 and "all 100 requests of csv are in the tables" in run.err, run.err
    assert archive.rides("state, ended_at") == expected
    why = office.world.drover.run("dispatch", "why", "r-7", "--campus", "csv", env=office.env)
    assert why.code == 0 and "bus-" in why.out


def test_a_file_with_a_fault_brings_nothing_in(office, tmp_path):
    archive = Archive(office, "faulty")
    archive.say(10, "pickup", request="a", rider="g-1", passengers=1, **ride(0, 0, 500, 0))
    archive.say(5, "cancel", request="a")
    archive.say(20, "pickup", request="b", rider="g-2", passengers=0, **ride(0, 0, 500, 0))
    archive.say(21, "decision", offset=1, decision="", why="")
    run = archive.load(archive.write(tmp_path / "faulty.jsonl"))
    assert run.code == 1
    for said in ("line 3: `ts` is before", "line 4: `passengers`", "line 5: a decision is made by the workers", "nothing of it was brought in"):
        assert said in run.err, run.err
    office.settle()
    assert office.query("SELECT count(*) FROM drover.campus WHERE campus = 'faulty'") == [(0,)]
    for name, content in [("empty", b""), ("rubbish", b"\x00\xff\xfe"), ("cut", b'{"schema":1,"kind":"clo'), ("deep", b"{" * 100_000)]:
        (tmp_path / name).write_bytes(content)
        assert archive.load(tmp_path / name, "--campus", "faulty").code == 1, name


def test_a_campus_of_the_clock_takes_no_day_by_mistake(office, tmp_path):
    live = office.campus()
    live.rides()
    file = tmp_path / "day.jsonl"
    file.write_text(json.dumps({"schema": 1, "kind": "pickup", "id": "x-1", "campus": live.name, "ts": ms(0), "request": "a", "rider": "g", "passengers": 1, **ride(0, 0, 500, 0)}))
    run = office.world.drover.run("import", "dispatch", file, env=office.env)
    assert run.code == 1 and "goes by its clock" in run.err and live.rides() == {}
    run = office.world.drover.run("import", "dispatch", file, "--now", env=office.env)
    assert run.code == 0 and live.rides() == {"a": ("queued", None)}
    file.write_text(file.read_text().replace(live.name, "nowhere"))
    office.world.drover.fails("import", "dispatch", file, env=office.env, says="nowhere is not published")
