"""The weather of surveys: added later by the gateway, right whatever ails the service, and never a reason to wait."""
import csv
import json
import math
import re
import shutil
import socket
import time
import urllib.request
from datetime import datetime, timedelta, timezone

import pytest
import services as away
from harness import HANG_S, free_port, is_long, until
from services import Truth
from stories import database, house, world  # noqa: F401 (fixtures)
from surveyors import SurveyDesk
from world import query

COLUMNS = "temperature_c, wind_speed_mps, wind_direction_deg, cloud_cover_pct"


class Measured(Truth):
    """What ERA5 says of Watamu, where it does."""

    def __init__(self, file):
        super().__init__()
        self.hours = {datetime.fromisoformat(row["time"]).replace(tzinfo=timezone.utc): row for row in csv.DictReader(file.open())}

    def weather(self, latitude, longitude, hour):
        truth = super().weather(latitude, longitude, hour)
        if row := self.hours.get(hour):
            u, v = float(row["u10"]), float(row["v10"])
            truth |= {"temperature_c": round(float(row["t2m"]) - 273.15, 2), "wind_speed_mps": round(math.hypot(u, v), 2),
                      "wind_direction_deg": round((270 - math.degrees(math.atan2(v, u))) % 360, 1), "cloud_cover_pct": round(100 * float(row["tcc"]), 1)}
        return truth


@pytest.fixture
def site(request):
    return "at-" + re.sub("[^a-z]", "", request.node.name)[-40:]


@pytest.fixture
def env(world, site):
    env = {**world.database(), "SITE": site}
    worker = world.assigned(env, "weather")
    yield env
    assert worker.stop() == 0


def gateway(world, env, stand, tmp_path, **more):
    values = {"weather.provider": "open-meteo", "weather.url": stand.address, "weather.history_url": stand.address, "weather.ca_file": stand.certificate,
              "weather.timeout_ms": 60_000, "weather.calls_max": "6000/min", "outside.rest_s": 1, "weather.backfill_interval_s": 1,
              "gateway.spool_path": tmp_path / "spool.sqlite", **{key.replace("__", "."): value for key, value in more.items()}}
    return world.drover.start("gateway", *[part for key, value in values.items() for part in ("--set", f"{key}={value}")], env=env)


def missing(env):
    return query(env, "SELECT coalesce(sum(weather_missing), 0)::int, count(*)::int FROM drover.survey WHERE site LIKE %s", env["SITE"] + "%")[0]


def wait_filled(env, *roles):
    until(lambda: (left := missing(env))[0] == 0 and left[1] > 0, *roles, about="the weather of all hours")


def push(world, surveys, ago_s=0):
    world.push("drover.sightings", *[{"schema": 1, "kind": "survey", "id": "r-" + survey["survey"], "site": survey["site"], "ts": int((time.time() - ago_s) * 1000),
                                      "account": "club", "by": "tests", "survey": survey} for survey in surveys])


def a_survey(env, number, start=datetime(2026, 6, 15, 9, 10, tzinfo=timezone.utc), minutes=70):
    return {"schema": 1, "survey": f"s{number}", "site": f"{env['SITE']}-{number % 3}", "start": start.isoformat(), "stop": (start + timedelta(minutes=minutes)).isoformat(),
            "latitude": 50 + number * 0.31, "longitude": 8.1, "sightings": [
                {"species": "x", "count": 1, "time": (start + timedelta(minutes=minute)).isoformat()} for minute in (0, minutes)]}


def middle(place):
    """Of the cell of 0.1°, in whole steps: 140 // 0.1 is 1399."""
    return tuple((round((degrees + end) * 1e7) // 1_000_000 * 1_000_000 + 500_000) / 1e7 - end for degrees, end in zip(place, (90, 180)))


def check(env, truth):
    rows = query(env, f"SELECT s.latitude_deg, s.longitude_deg, seen_at, {COLUMNS}, weather_at, weather_source FROM drover.sighting s WHERE site LIKE %s ORDER BY site, survey, sighting", env["SITE"] + "%")
    assert rows
    for latitude, longitude, seen, *values, at, source in rows:
        hour = seen.astimezone(timezone.utc).replace(minute=0, second=0, microsecond=0)
        expected = truth.weather(*middle((latitude, longitude)), hour)
        assert values == pytest.approx([expected[name] for name in COLUMNS.split(", ")], abs=0.0006), (latitude, seen)
        assert at == hour and source in ("open-meteo archive", "open-meteo forecast")
    return rows


FAULTS = {"slow": away.slow, "too many": lambda s: away.status(429, Retry_After="1"), "unavailable": lambda s: away.status(503),
          "garbage": lambda s: away.body(b"\x00\xff garbage"), "cut off": lambda s: away.cut_off, "without end": lambda s: away.endless}


def test_what_a_service_was_asked_is_counted(world, env, stand, tmp_path):
    port = free_port()
    role = gateway(world, env, stand, tmp_path, metrics__port=port)
    push(world, [a_survey(env, 1)])
    wait_filled(env, role)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=HANG_S) as answer:
        counted = re.findall(r'^drover_outside_questions_total\{service="weather[^"]*",outcome="answered"\} (\d+)', answer.read().decode(), re.M)
    assert sum(map(int, counted)) > 0, counted
    assert role.stop() == 0


CANNOT = "the weather of surveys and trips cannot be asked for; it is added later"


# What a client makes of each fault is for test_services.py.
def test_a_service_that_is_not_well_delays_only_the_weather(world, env, stand, tmp_path):
    stand.trick = away.status(503)
    role = gateway(world, env, stand, tmp_path)
    push(world, [a_survey(env, number) for number in range(4)])
    world.work_off(env)
    assert missing(env) == (8, 4), "surveys are there at once"
    role.wait_for(CANNOT)
    assert stand.asked and missing(env) == (8, 4)
    stand.trick = None
    wait_filled(env, role)
    assert len(check(env, stand.truth)) == 8
    assert role.stop() == 0


def test_a_server_that_is_down_or_shows_another_name_gets_nothing(world, env, stand, tmp_path):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        down = f"https://127.0.0.1:{closed.getsockname()[1]}"
        push(world, [a_survey(env, number) for number in range(2)])
        world.work_off(env)
        for number, address in enumerate([down, f"https://localhost:{stand.port}"]):
            role = gateway(world, env, stand, tmp_path, weather__history_url=address, weather__url=address)
            role.wait_for(CANNOT)
            assert missing(env) == (4, 2) and stand.asked == []
            assert role.stop() == 0
    role = gateway(world, env, stand, tmp_path)
    wait_filled(env, role)
    check(env, stand.truth)
    assert role.stop() == 0


def test_other_units_come_out_in_ours(world, env, stand, tmp_path):
    stand.units = {"temperature_2m": ("°F", lambda value: round(value * 1.8 + 32, 4)), "wind_speed_10m": ("km/h", lambda value: round(value * 3.6, 4))}
    push(world, [a_survey(env, number) for number in range(3)])
    role = gateway(world, env, stand, tmp_path)
    wait_filled(env, role)
    check(env, stand.truth)
    assert role.stop() == 0


def test_an_hour_that_is_not_over_is_asked_for_later_and_one_without_place_never(world, env, stand, tmp_path):
    now = datetime.now(timezone.utc)
    start = (now - timedelta(hours=1)).replace(minute=5, second=0, microsecond=0)
    nowhere = a_survey(env, 1)
    del nowhere["latitude"], nowhere["longitude"]
    push(world, [a_survey(env, 0, start=start, minutes=int((now - start).total_seconds() // 60)), nowhere])
    world.work_off(env)
    # What was handed in last is looked at first: whoever has this one's weather has looked at the other two.
    push(world, [a_survey(env, 2)], ago_s=3600)
    world.work_off(env)
    role = gateway(world, env, stand, tmp_path)
    hours = lambda number: {hour: json.loads(answer) for hour, answer in query(
        env, "SELECT hour_at, answer FROM drover.survey_weather WHERE site LIKE %s AND survey = %s", env["SITE"] + "%", f"s{number}")}
    until(lambda: len(hours(2)) == 2, role)
    assert start.replace(minute=0) in hours(0) and hours(1) == {}
    # None was asked for before it was over, whenever one ends while this runs.
    for hour, answer in hours(0).items():
        assert answer["fetched_ts"] / 1000 >= (hour + timedelta(hours=1)).timestamp()
    assert query(env, "SELECT weather_missing FROM drover.survey WHERE survey = 's0'") == [(2 - len(hours(0)),)]
    assert role.stop() == 0


def test_apps_never_wait_for_the_weather_and_what_is_at_hand_comes_with_the_survey(world, stand, tmp_path):
    folder = tmp_path / "desk"
    folder.mkdir()
    desk = SurveyDesk(world, folder, settings=["weather.provider=open-meteo"])
    env = {**desk.env, "SITE": "desk-" + tmp_path.name.replace("_", "-")[-20:]}
    worker, app, taken_ms = world.worker(env, "weather-desk"), desk.app(), {}
    worker.wait_for("partitions assigned")
    try:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            elsewhere = {"down": f"https://127.0.0.1:{closed.getsockname()[1]}", "wrong certificate": f"https://localhost:{stand.port}"}
            times = 5 if is_long() else 2
            for number, fault in enumerate([*FAULTS, *elsewhere] if is_long() else ["slow", "down"]):
                stand.trick = FAULTS[fault](stand) if fault in FAULTS else None
                address, before = elsewhere.get(fault, stand.address), len(stand.asked)
                role = gateway(world, env, stand, tmp_path, weather__url=address, weather__history_url=address)
                taken_ms[fault] = []
                for again in range(times):
                    survey = a_survey(env, number)
                    began = time.monotonic()
                    assert app.hand_in({**survey, "survey": f"{survey['survey']}-{again}"}).status == 201
                    taken_ms[fault].append((time.monotonic() - began) * 1000)
                    # The others are handed in while it is asked, or has been in vain.
                    if again == 0 and fault in FAULTS:
                        until(lambda: len(stand.asked) > before, role, worker)
                    elif again == 0:
                        role.wait_for(CANNOT)
                role.kill()
        print({fault: f"{max(times):.0f} ms" for fault, times in taken_ms.items()})
        world.work_off(env)
        count = times * len(taken_ms)
        assert missing(env) == (2 * count, count)
        stand.trick = None
        role = gateway(world, env, stand, tmp_path)
        wait_filled(env, role)
        assert role.stop() == 0
        asked = len(stand.asked)
        # Nobody is there to ask, and nobody is needed: this place and hour were asked for.
        later = {**a_survey(env, 0), "survey": "known"}
        receipt = app.hand_in(later)
        assert receipt.status == 201
        # One hour of three is known; the others come later.
        longer = {**a_survey(env, 1, start=datetime(2026, 6, 14, 22, 30, tzinfo=timezone.utc), minutes=100), "survey": "partly"}
        assert app.hand_in(longer).status == 201
        world.work_off(env)
        assert app.get(receipt.json["status_url"]).json["weather"] == "known"
        assert query(env, "SELECT weather_missing FROM drover.survey WHERE survey = 'partly'") == [(2,)]
        assert len(stand.asked) == asked
        assert app.hand_in(later).status == 200
        check({**env, "SITE": env["SITE"] + "-0"}, stand.truth)
        assert worker.stop() == 0
    finally:
        desk.server.stop()


def some_walks(whole, folder, step):
    """Each so-manyth walk, with what was seen on it."""
    folder.mkdir()
    for name in ("taxa.csv", "transect.geojson"):
        shutil.copy(whole / name, folder)
    with (whole / "events.csv").open(newline="") as file:
        [head, *events] = csv.reader(file)
    events = events[::step]
    with (whole / "occurrences.csv").open(newline="") as file:
        [seen_head, *seen] = csv.reader(file)
    ids = {event[head.index("eventID")] for event in events}
    for name, rows in (("events.csv", [head, *events]), ("occurrences.csv", [seen_head, *(row for row in seen if row[seen_head.index("eventID")] in ids)])):
        with (folder / name).open("w", newline="") as file:
            csv.writer(file).writerows(rows)
    return folder


@pytest.mark.needs_shared
def test_real_surveys_get_the_weather_that_was_and_a_replay_asks_nobody(world, env, stand, tmp_path, shared):
    folder = shared / "data" / "sightings-arocha-butterflies"
    stand.truth = Measured(folder / "era5_hourly.csv")
    if not is_long():
        folder = some_walks(folder, tmp_path / "some", 12)
    world.drover.done("import", "sightings", folder, "--offset", "+03:00", "--site", env["SITE"], "--protocol", "pollard-walk", "--by", "tests", env=env)
    world.work_off(env)
    role = gateway(world, env, stand, tmp_path)
    wait_filled(env, role)
    rows = check(env, stand.truth)
    with (folder / "occurrences.csv").open(newline="") as file:
        assert len(rows) == len(list(csv.reader(file))) - 1
    days = {seen.date() for _, _, seen, *_ in rows}
    assert len(days) <= len(stand.asked) <= 2 * len(days), "an answer holds a day of its cell"
    # The gate, again: south of 35° there is no season, and the service's values are the only ones.
    for started, stopped, gate in query(env, "SELECT started_at, stopped_at, gate FROM drover.survey WHERE site = %s", env["SITE"]):
        hours, hour = [], started.replace(minute=0, second=0)
        while hour <= stopped:
            hours.append(stand.truth.weather(-3.35, 39.95, hour.astimezone(timezone.utc)))
            hour += timedelta(hours=1)
        mean = lambda name: sum(values[name] for values in hours) / len(hours)
        local = lambda moment: (moment + timedelta(hours=3)).strftime("%H:%M")
        temperature = mean("temperature_c")
        warm = temperature > 17 or temperature >= 13 and 100 - mean("cloud_cover_pct") >= 60
        good = (warm and mean("wind_speed_mps") < 10.8 and all(values["precipitation_mm_per_h"] < 0.1 for values in hours)
                and "10:45" <= local(started.astimezone(timezone.utc)) and local(stopped.astimezone(timezone.utc)) <= "15:45")
        assert gate == ("within" if good else "outside"), (started, hours)
    bands = dict(query(env, "SELECT temperature_band, sum(individuals)::int FROM drover.sighting_week WHERE site = %s GROUP BY 1", env["SITE"]))
    expected = {}
    for band, count in query(env, "SELECT (floor(temperature_c / 5) * 5)::int::text, individuals FROM drover.sighting WHERE site = %s", env["SITE"]):
        expected[band] = expected.get(band, 0) + count
    assert bands == expected and "" not in bands
    assert role.stop() == 0
    asked = len(stand.asked)
    world.replayed(env)
    assert len(stand.asked) == asked
