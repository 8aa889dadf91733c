"""The weather of cars' trips: by the place and hour of their start, whatever ails the service and whatever comes late."""
import csv
import io
import json
import random
import re
import time
from datetime import datetime, timezone

import packed
import pytest
import services as away
from harness import is_long, until
from stories import alone, database, house, world  # noqa: F401 (fixtures)
from test_survey_weather import CANNOT, a_survey, gateway, middle
from test_survey_weather import push as push_surveys
from world import connect, dump, query, url_of

HOUR = 3_600_000
BASE = 1_781_514_000_000  # 2026-06-15 09:00 UTC
QUANTITIES = {"temperature_c": "weather_temperature_c", "wind_speed_mps": "weather_wind_speed_mps", "wind_gust_mps": "weather_wind_gust_mps",
              "wind_direction_deg": "weather_wind_direction_deg", "cloud_cover_pct": "weather_cloud_cover_pct",
              "precipitation_mm_per_h": "weather_precipitation_mm_per_h", "humidity_pct": "weather_humidity_pct",
              "pressure_hpa": "weather_pressure_hpa", "condition_code": "weather_condition_code"}


@pytest.fixture
def car(request):
    return "car-" + re.sub("[^a-z]", "", request.node.name)[-40:]


@pytest.fixture
def env(world):
    env = world.database()
    worker = world.assigned(env, "trips")
    yield env
    assert worker.stop() == 0


def drive(vehicle, start_ms, place=(50.05, 8.15), seconds=150, place_from=0, step=5):
    """A reading every five seconds; places from `place_from` on, a little further north each time."""
    for second in range(0, seconds, step):
        reading = {"schema": 1, "kind": "reading", "id": f"r-{start_ms + second * 1000}", "vehicle": vehicle, "ts": start_ms + second * 1000, "speed_kmh": 40, "rpm": 1500}
        if place and second >= place_from:
            reading |= {"latitude_deg": round(place[0] + second * 1e-5, 7), "longitude_deg": place[1]}
        yield reading


def push(world, env, records):
    world.push("drover.cars", *records)
    world.finish(env)


def starts(env):
    """Where each trip began, by its samples and the documentation of their bytes alone."""
    found = {}
    for vehicle, trip, minute, samples in query(env, """
            SELECT vehicle, trip_start_at, (extract(epoch FROM minute_at) * 1000)::bigint, samples FROM drover.vehicle_minute
            ORDER BY vehicle, trip_start_at, minute_at"""):
        if (vehicle, trip) not in found:
            places = [(v["latitude_deg"] / 1e7, v["longitude_deg"] / 1e7) for _, v in packed.readings(samples, int(minute)) if {"latitude_deg", "longitude_deg"} <= v.keys()]
            found[vehicle, trip] = places[0] if places else None
    return found


def check(env, stand, vehicle):
    """Each trip of the vehicle that has a place has its hour's weather, as the service's truth is."""
    rows = query(env, f"SELECT start_at, weather_source, weather_fetched_at, {', '.join(QUANTITIES.values())} FROM drover.trip_now WHERE vehicle = %s ORDER BY 1", vehicle)
    places = starts(env)
    assert rows
    for start, source, fetched, *values in rows:
        place = places[vehicle, start]
        if place is None:
            assert (source, fetched, set(values)) == (None, None, {None})
            continue
        hour = start.astimezone(timezone.utc).replace(minute=0, second=0, microsecond=0)
        expected = stand.truth.weather(*middle(place), hour)
        assert dict(zip(QUANTITIES, values)) == pytest.approx(expected, abs=0.0006), (start, place)
        assert source in ("open-meteo archive", "open-meteo forecast")
        assert stand.began <= fetched <= datetime.now(timezone.utc)
    return rows


def lacking(env):
    return query(env, "SELECT count(*) FILTER (WHERE lacks_weather), count(*) FROM drover.trip_start")[0]


def known(env, *vehicles):
    """How many answers the vehicles have."""
    return query(env, "SELECT count(*) FROM drover.trip_weather WHERE vehicle = ANY(%s)", list(vehicles))[0][0]


# What a client makes of each fault is for test_services.py.
def test_a_service_that_is_not_well_delays_only_the_weather(world, env, stand, tmp_path, car):
    stand.trick = away.cut_off
    role = gateway(world, env, stand, tmp_path)
    push(world, env, [record for number in range(3) for record in drive(f"{car}-{number}", BASE + number * 2 * HOUR, (50 + number, 8.15))])
    role.wait_for(CANNOT)
    assert stand.asked and lacking(env) == (3, 3), "trips are there at once"
    stand.trick = None
    until(lambda: lacking(env) == (0, 3), role)
    for number in range(3):
        assert len(check(env, stand, f"{car}-{number}")) == 1
    assert role.stop() == 0


def test_a_start_that_late_readings_move_gets_another_hours_weather(world, env, stand, tmp_path, car):
    role = gateway(world, env, stand, tmp_path)
    # Two minutes past ten; no place in the first minute of another.
    push(world, env, [*drive(car, BASE + HOUR + 120_000), *drive(car, BASE + 5 * HOUR, place_from=60), *drive(car, BASE + 8 * HOUR, place=None)])
    until(lambda: known(env, car) == 1, role)
    first = check(env, stand, car)
    assert [row[1] is None for row in first] == [False, True, True]
    # Readings of five minutes before it, from another cell and before the full hour; and a place for the second one.
    push(world, env, [*drive(car, BASE + HOUR - 180_000, place=(50.55, 8.15), seconds=300), *drive(car, BASE + 5 * HOUR + 2_500, seconds=50)])
    until(lambda: known(env, car) == 3, role)
    world.work_off(env)
    moved = check(env, stand, car)
    assert [row[1] is None for row in moved] == [False, False, True]
    assert moved[0][0] == datetime.fromtimestamp((BASE + HOUR - 180_000) / 1000, timezone.utc) and moved[0][3] != first[0][3]
    assert role.stop() == 0


def test_a_trip_that_is_under_way_and_an_hour_that_is_not_over_wait(world, env, stand, tmp_path, car):
    now = int(time.time() * 1000)
    under_way, parked, old = f"{car}-under-way", f"{car}-parked", f"{car}-over"
    # One has been driving for two hours; one drove a little, stood, and drives on.
    push(world, env, [*drive(under_way, now - 2 * HOUR, seconds=7_200, step=60), *drive(parked, now - 700_000, seconds=50), *drive(parked, now - 60_000, seconds=60)])
    # The last begun is looked at first: whoever has this one's weather has looked at the others.
    push(world, env, drive(old, BASE))
    role = gateway(world, env, stand, tmp_path)
    until(lambda: known(env, old), role)
    assert known(env, under_way) == 0
    assert query(env, "SELECT lacks_weather FROM drover.trip_start WHERE vehicle = %s", under_way) == [(True,)]
    # None was asked for before its hour was over, whenever one ends while this runs.
    assert known(env, parked) <= 1
    assert query(env, "SELECT 1 FROM drover.trip_weather WHERE fetched_at < hour_at + interval '1 hour'") == []
    assert role.stop() == 0


def test_surveys_go_first_where_calls_are_few(world, env, stand, tmp_path, car):
    env = {**env, "SITE": car}
    push(world, env, [record for number in range(3) for record in drive(f"{car}-{number}", BASE + number * HOUR, (10 + number, 8.15))])
    push_surveys(world, [a_survey(env, number, minutes=20) for number in range(3)])
    world.work_off(env)
    role = gateway(world, env, stand, tmp_path, weather__calls_max="4/day")
    # For the fifth.
    role.wait_for(CANNOT)
    world.work_off(env)
    assert len(stand.asked) == 4
    assert query(env, "SELECT weather_missing FROM drover.survey WHERE site LIKE %s", car + "%") == [(0,)] * 3
    # Of the trips the newest got what was left.
    assert [known(env, f"{car}-{number}") for number in range(3)] == [0, 0, 1]
    assert role.stop() == 0


def test_reports_and_page_name_the_weather_its_source_and_time(world, env, stand, tmp_path, car):
    """The gateway with no more rights than its role has."""
    with connect(env) as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'drover_asker'").fetchone():
            connection.execute("CREATE ROLE drover_asker LOGIN")
        connection.execute("GRANT drover_gateway TO drover_asker")
    login = url_of(env, "drover_asker")
    role = gateway(world, {**env, "DROVER_POSTGRES_GATEWAY_URL": login}, stand, tmp_path)
    push(world, env, drive(car, BASE))
    until(lambda: known(env, car), role)
    truth = stand.truth.weather(*middle((50.05, 8.15)), datetime.fromtimestamp(BASE / 1000, timezone.utc))

    def report(form):
        return world.drover.done("report", "trips", "--date", "2026-06-15", "--vehicle", car, "--format", form, env=env).out

    one, = json.loads(report("json"))["trips"]
    assert {name: one[column] for name, column in QUANTITIES.items()} == pytest.approx(truth, abs=0.0006)
    assert one["weather_source"] == "open-meteo archive" and one["weather_fetched"].endswith("Z")
    row, = csv.DictReader(io.StringIO(report("csv")))
    assert {name: float(row[column]) for name, column in QUANTITIES.items()} == pytest.approx(truth, abs=0.0006)
    page = report("html")
    assert "Weather at start" in page and f"wind {round(truth['wind_speed_mps'])}\u00a0m/s" in page.replace("&nbsp;", "\u00a0")
    assert "open-meteo archive" in page
    assert role.stop() == 0


def test_any_order_of_weather_and_readings_gives_the_same_rows_and_a_replay_asks_nobody(house, world, env, stand, tmp_path, car):
    role = gateway(world, env, stand, tmp_path)
    vehicles = [f"{car}-{number}" for number in range(4)]
    push(world, env, [record for number, vehicle in enumerate(vehicles) for record in drive(vehicle, BASE + number * HOUR, (50 + number * 0.3, 8.15))])
    until(lambda: known(env, *vehicles) == 4, role)
    push(world, env, drive(vehicles[0], BASE - 240_000, (51, 8.15), seconds=300))
    until(lambda: known(env, *vehicles) == 5, role)
    world.work_off(env)
    assert role.stop() == 0
    asked = len(stand.asked)
    world.replayed(env)
    assert len(stand.asked) == asked
    told = query(env, "SELECT vehicle, (extract(epoch FROM hour_at) * 1000)::bigint, answer FROM drover.trip_weather WHERE vehicle = ANY(%s)", vehicles)
    tables = ("trip", "trip_start", "trip_weather")
    rows = dump(env)
    mine = {table: rows[table] for table in tables}
    # The same facts on another log, weather before, between and after; an older answer and the same one again lose to the last.
    records = [record for number, vehicle in enumerate(vehicles) for record in drive(vehicle, BASE + number * HOUR, (50 + number * 0.3, 8.15))]
    records += drive(vehicles[0], BASE - 240_000, (51, 8.15), seconds=300)
    for vehicle, hour, answer in told:
        older = json.loads(answer) | {"fetched_ts": 1_781_600_000_000, "temperature_c": 1.5}
        for text in (answer, answer, json.dumps(older)):
            records.append({"schema": 1, "kind": "weather", "id": f"w-{len(records)}", "vehicle": vehicle, "ts": BASE, "by": "weather", "hour_ts": int(hour), "answer": text})
    for seed in (1, 2) if is_long() else (1,):
        (tmp_path / f"again-{seed}").mkdir()
        with alone(house, tmp_path / f"again-{seed}") as other:
            again = other.database()
            shuffled = list(records)
            random.Random(seed).shuffle(shuffled)
            worker = other.assigned(again, "again")
            for part in range(0, len(shuffled), 40):
                push(other, again, shuffled[part:part + 40])
            assert worker.stop() == 0
            rows = dump(again)
            assert {table: rows[table] for table in tables} == mine


def test_weather_that_cannot_be_is_set_aside(world, env, car):
    records = [{"schema": 1, "kind": "weather", "id": f"w-{number}", "vehicle": car, "ts": BASE, "by": "weather", **fields} for number, fields in enumerate([
        {"hour_ts": BASE + 1, "answer": "{}"}, {"hour_ts": BASE, "answer": "{}"}, {"hour_ts": BASE}, {"answer": "{}"}, {"hour_ts": BASE, "answer": "x" * 5_000},
        {"hour_ts": BASE, "answer": json.dumps({"source": "a", "model": "b", "ts": 2**63 - 1, "fetched_ts": BASE, "latitude": 1, "longitude": 1, "cell_deg": 0.1})}])]
    before = query(env, "SELECT count(*) FROM drover.rejected")[0][0]
    push(world, env, records)
    assert query(env, "SELECT count(*) FROM drover.rejected")[0][0] == before + len(records)
    assert query(env, "SELECT 1 FROM drover.trip_weather WHERE vehicle = %s", car) == []


def reports(world, env):
    """Those of all vehicles: each trip's weather is read for them."""
    for name in ("trips", "fuel", "fleet-day"):
        run = world.drover.done("report", name, "--date", "2026-06-15", "--zone", "UTC", "--format", "json", env=env)
        yield run.out


def test_a_number_that_no_reader_takes_is_set_aside_and_stops_no_report(world, env, car):
    """PostgreSQL makes no number of 1e999999, nor of a word; one row of it kept everybody's reports of the day from coming."""
    push(world, env, drive(car, BASE))
    good = json.dumps({"source": "by hand", "model": "m", "ts": BASE, "fetched_ts": BASE + HOUR, "latitude": 50.05, "longitude": 8.15, "cell_deg": 0.1, "temperature_c": 20.5})
    bad = [(good[:-1] + ', "x": 1e999999}', "`x` is a number of more than"), (good[:-1] + ', "x": 0e-999999}', "`x` is a number of more than"),
           (good.replace("20.5", '"cold"'), "`temperature_c` must be a number"), (good.replace("20.5", "1e400"), "`temperature_c` is a number of more than")]
    records = [{"schema": 1, "kind": "weather", "id": f"w-{number}", "vehicle": car, "ts": BASE, "by": "weather", "hour_ts": BASE, "answer": answer}
               for number, (answer, _) in enumerate(bad)]
    push(world, env, records)
    reasons = [reason for reason, in query(env, "SELECT reason FROM drover.rejected WHERE topic = 'drover.cars' AND reason LIKE 'no answer of%%' ORDER BY record_offset DESC LIMIT 4")][::-1]
    assert all("no answer of a weather service: " + why in reason for (_, why), reason in zip(bad, reasons)), reasons
    assert known(env, car) == 0 and len(list(reports(world, env))) == 3
    push(world, env, [{**records[0], "id": "w-good", "answer": good}])
    assert known(env, car) == 1
    # As a version before this one stored them: fetched later, of cells of other sizes around the same place.
    def store(number):
        size, answer = 100 * (number + 2), bad[number][0]
        query(env, "INSERT INTO drover.trip_weather VALUES (%s, %s, %s, %s, %s, now(), %s)", car, datetime.fromtimestamp(BASE / 1000, timezone.utc), size, 140_050 // size, 188_150 // size, answer)
    def shown():
        trips, *_ = reports(world, env)
        mine, = [trip for trip in json.loads(trips)["trips"] if trip["vehicle"] == car]
        return mine["weather_temperature_c"], mine["weather_source"]
    store(0)
    store(1)
    # What is no JSON to PostgreSQL gives way to what is.
    assert known(env, car) == 3 and shown() == (20.5, "by hand m")
    for number in (2, 3):
        store(number)
        assert shown()[0] is None and query(env, "SELECT weather_source, weather_temperature_c FROM drover.trip_now WHERE vehicle = %s", car) == [("by hand m", None)]
