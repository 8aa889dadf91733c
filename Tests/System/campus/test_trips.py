"""What drivers and analysts take away of trips: their readings for other programs, and how far their figures can be trusted."""
import csv
import io
import json
import math
import random
import re
import statistics
from datetime import UTC, datetime

import gpxpy
import pytest
from world import query

DODGE, BEGAN = "dodge-caliber-2007-a", "2020-03-25T16:40:00Z"


@pytest.fixture(scope="module")
def filled(world, fixtures):
    """One recorded drive with positions, through the broker and a worker. Gives the world and its environment."""
    env = world.database()
    world.drover.done("import", "cars", fixtures / "cars" / "envirocar" / f"{DODGE}.csv", "--vehicle", DODGE, env=env)
    worker = world.worker(env, "trips")
    world.work_off(env)
    yield world, env, worker
    assert worker.stop() == 0


def recorded(fixtures):
    with open(fixtures / "cars" / "envirocar" / f"{DODGE}.csv") as file:
        return list(csv.DictReader(file))


def exported(filled, form, expected=0):
    world, env, _ = filled
    run = world.drover.run("trip", "export", DODGE, "--trip", BEGAN, "--format", form, env=env)
    assert run.code == expected, run.err
    return run


def test_a_trip_as_csv_and_json_is_what_was_recorded(filled, fixtures):
    rows = list(csv.DictReader(io.StringIO(exported(filled, "csv").out)))
    objects = json.loads(exported(filled, "json").out)
    source = recorded(fixtures)
    assert len(rows) == len(objects) == len(source)
    for row, thing, line in zip(rows, objects, source):
        assert row["time"] == line["time"] and thing["vehicle"] == DODGE
        if line["speed_kmh"]:
            assert float(row["speed_kmh"]) == thing["speed_kmh"] == round(float(line["speed_kmh"]), 3)
        else:
            assert row["speed_kmh"] == "" and "speed_kmh" not in thing
        assert float(row["latitude_deg"]) == thing["latitude_deg"] == float(line["lat"])


def test_a_trip_as_gpx_is_read_by_others(filled, fixtures):
    track = gpxpy.parse(exported(filled, "gpx").out)
    points = [point for segment in track.tracks[0].segments for point in segment.points]
    source = recorded(fixtures)
    assert [(point.latitude, point.longitude) for point in points] == [(float(line["lat"]), float(line["lon"])) for line in source]
    assert [point.time for point in points] == [datetime.fromisoformat(line["time"]) for line in source]
    for point, line in zip(points, source):
        speed = float(line["speed_kmh"]) / 3.6 if line["speed_kmh"] else None
        assert [float(extension[0].text) for extension in point.extensions] == pytest.approx([] if speed is None else [speed], abs=0.001)


def test_no_trip_at_that_time_says_so(filled):
    world, env, _ = filled
    world.drover.fails("trip", "export", DODGE, "--trip", "2019-01-01T00:00:00Z", env=env, says=f"{DODGE} has no trip at 2019-01-01T00:00:00Z")


def test_tags_and_discards_of_a_trip_are_kept(filled):
    world, env, _ = filled
    for words in (["tag", DODGE, "to work"], ["discard", DODGE]):
        run = world.drover.run("trip", *words, "--trip", BEGAN, "--by", "anna", env=env)
        assert run.code == 0 and "done" in run.err, run.err
    notes = query(env, "SELECT is_discard, tag, noted_by FROM drover.trip_note ORDER BY is_discard")
    assert notes == [(False, "to work", "anna"), (True, None, "anna")]
    world.drover.fails("trip", "tag", DODGE, "to work", env=env, says="--trip TIME", code=2)


# A drive from 23:30 to 02:30 in Berlin in the night in which the clocks go back: four hours, over midnight and over the change.
NIGHT_MS = int(datetime.fromisoformat("2026-10-24T21:30:00+00:00").timestamp() * 1000)


def night(vehicle, seed=1):
    chance, speed, readings = random.Random(seed), 50.0, []
    for number in range(4 * 720):
        speed = min(120.0, max(5.0, speed + chance.uniform(-4, 4)))
        readings.append({
            "schema": 1, "kind": "reading", "id": f"{vehicle}-{number}", "vehicle": vehicle, "ts": NIGHT_MS + number * 5000,
            "speed_kmh": round(speed, 1), "rpm": 2000, "maf_gps": round(2 + speed / 4, 2)})
    return readings


def push(filled, readings):
    """All of them, then the time, and waits until everything is in the tables."""
    world, env, _ = filled
    world.push("drover.cars", *readings)
    world.finish(env)


def trips_of(filled, vehicle, date="2026-10-24"):
    world, env, _ = filled
    return json.loads(world.drover.done("report", "trips", "--date", date, "--zone", "Europe/Berlin", "--vehicle", vehicle, "--format", "json", env=env).out)


def test_the_table_of_trips_is_in_the_units_that_were_asked_for(filled):
    world, env, _ = filled
    push(filled, night("units"))
    say = lambda units: world.drover.run("report", "trips", "--date", "2026-10-24", "--zone", "Europe/Berlin", "--vehicle", "units", "--units", units, env=env).out
    metric, us = say("metric").splitlines(), say("us").splitlines()
    rows = [dict(zip(lines[0].split(), lines[1].split())) for lines in (metric, us)]
    number = lambda row, key: float(rows[row][key])
    assert number(0, "distance_km") == pytest.approx(1.609344 * number(1, "distance_mi"), abs=0.002)
    assert number(0, "max_speed_kmh") == pytest.approx(1.609344 * number(1, "max_speed_mph"), abs=0.002)
    assert {"fuel_l", "average_l_per_100km"} <= set(rows[0]) and {"fuel_us_gal", "average_mpg"} <= set(rows[1])
    assert number(0, "fuel_l") == pytest.approx(3.785411784 * number(1, "fuel_us_gal"), rel=0.001)
    assert number(0, "average_l_per_100km") == pytest.approx(235.2146 / number(1, "average_mpg"), rel=0.001)
    # What is a unit keeps its letters.
    assert re.search(r", \d+\.\d L/100 km, ", metric[-1]) and re.search(r", \d+\.\d MPG, ", us[-1])


def test_a_drive_in_any_order_in_pieces_twice_and_late_is_one_and_the_same_trip(filled):
    push(filled, night("straight"))
    chance = random.Random(7)
    shuffled = night("shuffled")
    shuffled += chance.sample(shuffled, 1000)
    chance.shuffle(shuffled)
    pieces = night("pieces")
    pieces = [reading for piece in chance.sample([pieces[at:at + 100] for at in range(0, len(pieces), 100)], 29) for reading in piece]
    push(filled, shuffled)
    for at in range(0, len(pieces), 500):
        push(filled, pieces[at:at + 500])
    # Long after it is over: once more, and a car that was out of reach, backwards.
    push(filled, night("late")[::-1] + night("straight"))

    [expected] = trips_of(filled, "straight")["trips"]
    assert expected["revised"] is None and expected["readings"] == 2880 and expected["duration_s"] == 14395
    for vehicle in ("shuffled", "pieces", "late"):
        [trip] = trips_of(filled, vehicle)["trips"]
        assert {**trip, "vehicle": 0, "revised": 0} == {**expected, "vehicle": 0, "revised": 0}, vehicle
    # It counts on the day it began; the next day in Berlin has 25 hours and no trip of it.
    after = trips_of(filled, "straight", "2026-10-25")
    assert after["trips"] == [] and after["from"] == "2026-10-24T22:00:00Z" and after["to"] == "2026-10-25T23:00:00Z"


def test_ten_missing_minutes_that_come_later_make_one_trip_of_two(filled):
    drive = night("holed")
    missing = [reading for reading in drive if 10 <= (reading["ts"] - NIGHT_MS) / 60_000 < 20]
    push(filled, [reading for reading in drive if reading not in missing])
    before = trips_of(filled, "holed")
    assert len(before["trips"]) == 2 and {trip["revised"] for trip in before["trips"]} == {None}
    push(filled, missing)
    [trip] = trips_of(filled, "holed")["trips"]
    assert trip["revised"] is not None
    push(filled, night("whole"))
    [whole] = trips_of(filled, "whole")["trips"]
    assert {**trip, "vehicle": 0, "revised": 0} == {**whole, "vehicle": 0, "revised": 0}


def test_a_discarded_trip_is_not_counted_and_tags_and_drivers_stand_in_the_report(filled):
    world, env, _ = filled
    push(filled, night("kept") + night("thrown"))
    at = "2026-10-24T22:00:00Z"
    for words in (["tag", "kept", "before the chip"], ["discard", "thrown"]):
        world.drover.done("trip", *words, "--trip", at, "--by", "anna", env=env)
    push(filled, [{"schema": 1, "kind": "driving", "id": "d-1", "vehicle": "kept", "ts": NIGHT_MS + 3_600_000, "by": "ben", "from_ts": NIGHT_MS}])
    report = trips_of(filled, "kept")
    assert [(trip["tag"], trip["driver"]) for trip in report["trips"]] == [("before the chip", "ben")]
    thrown = trips_of(filled, "thrown")
    assert thrown["trips"] == [] and thrown["discarded"] == 1 and thrown["totals"]["trips"] == 0


def commute(vehicle, day, north_of=0.0, maf=8.0):
    """Twenty minutes along one road at 15 m/s, with positions and some noise."""
    chance, begin = random.Random(f"{vehicle} {day} {north_of}"), NIGHT_MS + day * 86_400_000
    return [{
        "schema": 1, "kind": "reading", "id": f"{vehicle}-{day}-{n}", "vehicle": vehicle, "ts": begin + n * 2000,
        "speed_kmh": round(54 + chance.uniform(-3, 3), 1), "rpm": 1800, "maf_gps": round(maf + chance.uniform(-0.5, 0.5), 2),
        "latitude_deg": round(48 + north_of + n * 30 / 111_195 + chance.uniform(-5e-5, 5e-5), 7),
        "longitude_deg": round(9 + chance.uniform(-5e-5, 5e-5), 7)} for n in range(600)]


def test_drives_of_one_route_are_compared_before_and_after_a_change(filled):
    world, env, _ = filled
    drives = {day: commute("chip", day, maf=8.0 + day / 10 if day < 4 else 6.0 + day / 10) for day in range(8)}
    push(filled, sum(drives.values(), commute("chip", 8, north_of=0.02)))
    change = datetime.fromtimestamp((NIGHT_MS + 4 * 86_400_000 - 3_600_000) / 1000, UTC).isoformat()
    model = datetime.fromtimestamp((NIGHT_MS + 60_000) / 1000, UTC).isoformat()
    report = json.loads(world.drover.done("report", "compare", "--vehicle", "chip", "--trip", model, "--change", change, "--format", "json", env=env).out)
    # The ninth drive began 2 km further north: another route.
    assert len(report["before"]) == len(report["after"]) == 4
    used = {figure["figure"]: figure for figure in report["figures"]}["fuel_l"]
    litres = {day: sum((a["maf_gps"] + b["maf_gps"]) for a, b in zip(drive, drive[1:])) / 14.7 / 745 for day, drive in drives.items()}
    for name, days in (("before", range(4)), ("after", range(4, 8))):
        values = [litres[day] for day in days]
        assert used[f"{name}_mean"] == pytest.approx(statistics.mean(values), abs=0.001)
        assert used[f"{name}_sd"] == pytest.approx(statistics.stdev(values), abs=0.001)
    assert used["clear"] is True and used["difference"] < -used["margin_95"] < 0

    for n, day in enumerate((0, 1, 5, 6)):
        at = datetime.fromtimestamp((NIGHT_MS + day * 86_400_000 + 60_000) / 1000, UTC).isoformat()
        world.drover.done("trip", "tag", "chip", "commute", "--trip", at, "--by", "anna", env=env)
    run = world.drover.run("report", "compare", "--vehicle", "chip", "--tag", "commute", "--change", change, env=env)
    assert run.code == 0 and "2 drives before" in run.out and "2 from then on" in run.out, run.out + run.err
    world.drover.fails("report", "compare", "--vehicle", "kept", "--trip", "2026-10-24T22:00:00Z", "--change", change, env=env, says=["has no positions", "--tag"])


def test_the_price_is_the_accounts_that_is_in_force_at_the_end(filled):
    world, env, _ = filled
    push(filled, night("priced"))
    assert trips_of(filled, "priced")["trips"][0]["fuel_cost"] == pytest.approx(trips_of(filled, "priced")["trips"][0]["fuel_us_gal"] * 2.39, abs=0.001)
    for words in (["account", "add", "anna", "--mail", "anna@example.org", "--role", "driver"],
                  ["vehicle", "register", "priced", "--kind", "car", "--account", "anna"],
                  ["account", "settings", "set", "anna", "fuel_price_per_us_gal=4", "fuel_currency=EUR"]):
        world.drover.done(*words, *([] if words[1] == "add" else ["--by", "anna"]), env=env)
    [now] = trips_of(filled, "priced")["trips"]
    assert now["currency"] == "USD", "the drive was over before the price was said"
    said = {"schema": 1, "kind": "settings", "id": "s-1", "ts": NIGHT_MS - 86_400_000, "by": "anna", "account": "anna",
            "settings": json.dumps({"fuel_price_per_us_gal": 3, "fuel_currency": "EUR"})}
    world.tell("drover.cars", said)
    world.work_off(env)
    [then] = trips_of(filled, "priced")["trips"]
    assert then["currency"] == "EUR" and then["fuel_cost"] == pytest.approx(then["fuel_us_gal"] * 3, abs=0.001)


def minutes_of_a_drive(vehicle, first, last):
    """A reading each four minutes, so many minutes after 2026-10-05T00:00Z."""
    return [{"schema": 1, "kind": "reading", "id": f"{vehicle}-{minute}", "vehicle": vehicle, "ts": MIDNIGHT + minute * 60_000, "speed_kmh": 36} for minute in range(first, last + 1, 4)]


MIDNIGHT = int(datetime(2026, 10, 5, tzinfo=UTC).timestamp()) * 1000
PARTS = "SELECT extract(epoch FROM start_at)::bigint / 60 - %s, extract(epoch FROM end_at)::bigint / 60 - %s, from_before, goes_on, readings FROM drover.trip WHERE vehicle = %s ORDER BY 1"


def parts_of(env, vehicle):
    return [tuple(row) for row in query(env, PARTS, MIDNIGHT // 60_000, MIDNIGHT // 60_000, vehicle)]


def test_a_drive_of_days_is_cut_at_midnights_and_what_comes_late_moves_one_cut(filled):
    world, env, _ = filled
    drive = minutes_of_a_drive("sleepless", 4, 4 * 1440)
    push(filled, drive)
    parts = [(4, 2880, False, True, 719), (2880, 4320, True, True, 360), (4320, 5760, True, True, 360), (5760, 5760, True, False, 1)]
    assert parts_of(env, "sleepless") == parts
    [one] = [trip for trip in trips_of(filled, "sleepless", date="2026-10-07")["trips"] if trip["part"] == "from before, goes on"]
    assert one["duration_s"] == 86400 and one["readings"] == 360
    # Before its start, within a part and at a border; then all of it again, which changes nothing.
    push(filled, [{**drive[0], "id": f"late-{at}", "ts": MIDNIGHT + at} for at in (0, 3000 * 60_000 + 1, 4320 * 60_000 - 1, 4320 * 60_000 + 1)])
    moved = [(0, 1440, False, True, 360), (1440, 2880, True, True, 360), (2880, 4320, True, True, 362), (4320, 5760, True, True, 361), (5760, 5760, True, False, 1)]
    assert parts_of(env, "sleepless") == moved
    push(filled, drive)
    assert parts_of(env, "sleepless") == moved


def haversine(a, b):
    (lat1, lon1), (lat2, lon2) = [(math.radians(float(row["lat"])), math.radians(float(row["lon"]))) for row in (a, b)]
    h = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * 6_371_008.8 * math.asin(math.sqrt(h))


def test_the_accuracy_bench_measures_what_it_says(drover, fixtures):
    path = fixtures / "cars" / "envirocar" / f"{DODGE}.csv"
    distance, fuel, mean = json.loads(drover.run("bench", "accuracy", path, "--format", "json").out)
    rows = [row for row in recorded(fixtures) if row["speed_kmh"]]
    pairs = [(a, b, (datetime.fromisoformat(b["time"]) - datetime.fromisoformat(a["time"])).total_seconds()) for a, b in zip(rows, rows[1:])]
    by_speed = sum((float(a["speed_kmh"]) + float(b["speed_kmh"])) / 7.2 * seconds for a, b, seconds in pairs if seconds <= 15)
    by_place = sum(haversine(a, b) for a, b, seconds in pairs if seconds <= 15)
    assert distance["value"] == pytest.approx(by_speed, abs=0.2)
    assert distance["baseline"] == pytest.approx(by_place, abs=0.1)
    assert mean["value"] == pytest.approx(abs(by_speed / by_place - 1) * 100, abs=0.001)
    assert fuel["ratio"] == pytest.approx(1, abs=0.001)


@pytest.mark.needs_shared
def test_the_distance_is_within_0_9_percent_of_the_positions(drover, shared):
    run = drover.run("bench", "accuracy", shared / "data" / "obd-envirocar",
                     "--format", "json")
    figures = json.loads(run.out)
    assert len([figure for figure in figures if figure["name"].startswith("distance ") and figure["unit"] == "m"]) == 4
    assert figures[-1]["name"] == "distance error, geometric mean of 4" and figures[-1]["value"] < 0.9
