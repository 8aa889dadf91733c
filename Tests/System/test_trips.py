"""What drivers and analysts take away of trips: their readings for other programs, and how far their figures can be trusted."""
import csv
import io
import json
import math
import shutil
import tempfile
from datetime import datetime
from pathlib import Path

import gpxpy
import pytest
from harness import Drover
from world import World, connect

DODGE, BEGAN = "dodge-caliber-2007-a", "2020-03-25T16:40:00Z"


@pytest.fixture(scope="module")
def filled(program, fixtures):
    """One recorded drive with positions, through the broker and a worker. Gives the world and its environment."""
    folder = Path(tempfile.mkdtemp(prefix="drover-trips-", dir="/tmp"))
    folder.chmod(0o711)
    drover = Drover(program)
    world = World(drover, drover.servers(folder / "data"))
    env = world.database()
    run = drover.run("import", "cars", fixtures / "cars" / "envirocar" / f"{DODGE}.csv", "--vehicle", DODGE, env=env)
    assert run.code == 0, run.err
    worker = world.worker(env, "trips")
    world.work_off(env)
    yield world, env, worker
    worker.stop()
    drover.close()
    shutil.rmtree(folder, ignore_errors=True)


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
    run = world.drover.run("trip", "export", DODGE, "--trip", "2019-01-01T00:00:00Z", env=env)
    assert run.code == 1 and f"{DODGE} has no trip at 2019-01-01T00:00:00Z" in run.err


def test_tags_and_discards_of_a_trip_are_kept(filled):
    world, env, _ = filled
    for words in (["tag", DODGE, "to work"], ["discard", DODGE]):
        run = world.drover.run("trip", *words, "--trip", BEGAN, "--by", "anna", env=env)
        assert run.code == 0 and "done" in run.err, run.err
    with connect(env) as connection:
        notes = connection.execute("SELECT is_discard, tag, noted_by FROM drover.trip_note ORDER BY is_discard").fetchall()
    assert notes == [(False, "to work", "anna"), (True, None, "anna")]
    run = world.drover.run("trip", "tag", DODGE, "to work", env=env)
    assert run.code == 2 and "--trip TIME" in run.err


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
