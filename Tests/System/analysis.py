"""Worlds that many tests begin with, filled once a run and then copied (servers.py). `recorded`: the recordings that ship with Drover,
through the broker and a worker. `analysed`: beside them what people, campuses, tours and a weather service would have said, the same in
every run, for analysts. `walked`: the walks of A Rocha Kenya. What is in their database is in `.filled`."""
import csv
import json
import random
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import pytest
from harness import ROOT
from servers import template
from world import connect, query, recordings

UTC = timezone.utc
DAY = datetime(2026, 9, 14, tzinfo=UTC)
SPECIES = ["Papilio demodocus", "Eronia cleodora", "Acraea anemosa"]
ROLES = {"anna": ["analyst"], "nobody": [], "root": ["administrator"], "boss": ["fleet_manager"], "walker": ["researcher"], "disp": ["dispatcher"], "rita": ["ranger"]}


def recorded(program, fixtures):
    return template(program, "recordings", lambda world: record(world, fixtures))


def analysed(program, fixtures):
    return template(program, "analysis", lambda world: beside(world.filled), ("recordings", lambda world: record(world, fixtures)))


def walked(program, shared):
    return template(program, "walks", lambda world: walk(world, shared))


@pytest.fixture(scope="module")
def world(program, fixtures):
    with analysed(program, fixtures) as world:
        yield world


@pytest.fixture(scope="module")
def filled(world):
    return world.filled


@pytest.fixture(scope="module")
def files(shared):
    """Events, occurrences and taxa of the walks, as their source has them."""
    folder = shared / "data" / "sightings-arocha-butterflies"
    return [list(csv.DictReader((folder / name).open(encoding="utf-8"))) for name in ("events.csv", "occurrences.csv", "taxa.csv")]


def record(world, fixtures):
    env = world.database()

    def take(*words):
        world.drover.done("import", *words, env=env)
    take("machines", fixtures / "machines" / "readings.jsonl")
    # Each waits a second for the broker, at the side of the others.
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: take("cars", each[0], "--vehicle", each[1]), recordings(fixtures)))
    worker = world.worker(env, "recordings")
    world.work_off(env)
    world.finish(env)
    assert worker.stop() == 0
    return known(env)


def fill(world, fixtures):
    """As `analysed`, in a world that is there."""
    return beside(record(world, fixtures))


def beside(env):
    with connect(env) as connection:
        # What has no rules on the log yet: alerts as a worker writes them, some open, some seen late.
        people(connection)
        cars(connection)
        machines(connection)
        rides(connection)
        sightings(connection)
        tours(connection)
        notices(connection)
    return known(env)


def walk(world, shared):
    """905 walks with 12,603 sightings."""
    env = world.database()
    for words in [("taxonomy", "load", ROOT / "Deploy/taxonomy/butterflies-watamu.csv"),
                  ("import", "sightings", shared / "data" / "sightings-arocha-butterflies", "--offset", "+03:00", "--site", "watamu", "--by", "tests")]:
        run = world.drover.done(*words, env=env)
    assert "905 surveys with 12603 sightings of 1 sites" in run.err, run.err
    worker = world.worker(env, "walks")
    world.work_off(env)
    assert worker.stop() == 0
    return known(env)


def known(env):
    """PostgreSQL knows what is in its tables, as it does where they are older than some seconds."""
    query(env, "ANALYZE")
    return env


def notices(connection):
    """What a farmer and an analyst's colleague were told of some alerts: one by mail and webhook, one that waits, one not told."""
    for number, (alert, vehicle) in enumerate(connection.execute("SELECT alert_id, vehicle FROM drover.alert ORDER BY alert_id LIMIT 6").fetchall()):
        for account in ("anna", "miller"):
            notice, state = f"n-{number:030x}{'aa' if account == 'anna' else 'bb'}", ["told", "waiting", "not_told"][number % 3]
            connection.execute(
                """INSERT INTO drover.notice (notice_id, alert_id, account, occasion, round, vehicle, relation, manner, state, reason, due_at)
                   VALUES (%s, %s, %s, 'opened', 0, %s, 'owner', 'at_once', %s, 'critical: at once', now())""", [notice, alert, account, vehicle, state])
            if state == "told":
                for channel in ("mail", "webhook"):
                    message = f"notice-{number:028x}{'aa' if account == 'anna' else 'bb'}{'01' if channel == 'mail' else '02'}"
                    connection.execute("INSERT INTO drover.notice_message (message_id, account, channel, manner, state, tries, settled_at) VALUES (%s, %s, %s, 'at_once', 'sent', 2, now())",
                                       [message, account, channel])
                    connection.execute("INSERT INTO drover.notice_told VALUES (%s, %s)", [message, notice])


def people(connection):
    for account, roles in ROLES.items():
        connection.execute("INSERT INTO drover.account (account, mail, roles, confirmed_at) VALUES (%s, %s, %s, now()) ON CONFLICT DO NOTHING", [account, f"{account}@example.org", roles])
    connection.execute("INSERT INTO drover.fleet (fleet, name) VALUES ('north', 'North'), ('south', 'South')")
    vehicles = connection.execute("SELECT kind, vehicle FROM drover.vehicle ORDER BY 1, 2").fetchall()
    for number, (kind, vehicle) in enumerate(vehicles):
        connection.execute("INSERT INTO drover.fleet_vehicle VALUES (%s, %s, %s)", ["north" if number % 2 else "south", kind, vehicle])
    for account in ("anna", "boss"):
        connection.execute("INSERT INTO drover.fleet_member VALUES ('north', %s)", [account])


def cars(connection):
    trips = connection.execute("SELECT vehicle, start_at, end_at FROM drover.trip ORDER BY 1, 2").fetchall()
    for number, (vehicle, start, end) in enumerate(trips):
        if number % 3 < 2:
            connection.execute("INSERT INTO drover.driving VALUES (%s, %s, %s, %s, %s)", [vehicle, start, end, ["ada", "bob"][number % 2], f"d{number}"])
        place = connection.execute("SELECT latitude_deg, longitude_deg FROM drover.trip_start WHERE vehicle = %s AND start_at = %s", [vehicle, start]).fetchone()
        if place and place[0] is not None:
            hour = start.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
            latitude, longitude = int((place[0] + 90) * 10), int((place[1] + 180) * 10)
            answer = {"source": "open-meteo", "model": "archive", "ts": int(hour.timestamp()) * 1000, "fetched_ts": 1, "latitude": place[0], "longitude": place[1],
                      "cell_deg": 0.1, "temperature_c": 3 + number % 25, "precipitation_mm_per_h": number % 2 * 0.4}
            connection.execute("INSERT INTO drover.trip_weather VALUES (%s, %s, 100, %s, %s, now(), %s) ON CONFLICT DO NOTHING", [vehicle, hour, latitude, longitude, json.dumps(answer)])
    vehicle, start, end = trips[-1]
    connection.execute("INSERT INTO drover.trip_note VALUES (%s, %s, true, NULL, %s, 'n1', 'ada')", [vehicle, start, end])
    connection.execute("""INSERT INTO drover.health_scan (vehicle, scan_id, asked_at, asked_by, scanned_at, is_done, answer, stored, pending, is_lamp_on)
        SELECT vehicle, 's1', '2020-03-26', 'ada', '2020-03-26 00:01', true, '2', '{P0301,P0171}', '{P0420}', true FROM drover.vehicle WHERE kind = 'car'""")


def machines(connection):
    chance = random.Random(7)
    for number, (machine,) in enumerate(connection.execute("SELECT vehicle FROM drover.vehicle WHERE kind = 'machine' ORDER BY 1").fetchall()):
        if number % 4:
            for days in (200, 20):
                connection.execute("INSERT INTO drover.service VALUES (%s, %s, %s, 1200 - %s, 'ada', NULL)", [machine, DAY - timedelta(days=days + number), f"s{number}-{days}", days / 4])
        for k in range(3):
            opened = DAY - timedelta(days=chance.randrange(300), minutes=chance.randrange(1000))
            resolved = None if k == 2 else opened + timedelta(minutes=chance.randrange(5, 600))
            connection.execute(
                """INSERT INTO drover.alert (alert_id, vehicle, model, parameter, unit, severity, state, test, threshold, since_at, opened_at, first_opened_at, worst_at, resolved_at,
                       told_at, audience, rules_version) VALUES (%s, %s, %s, %s, '°C', %s, %s, 'above', 85, %s, %s, %s, %s, %s, %s, 'farmer', 'v')""",
                [f"made-{number}-{k}", machine, ["8R Tractor", "S690 Combine"][number % 2], ["Coolant Temperature", "Hydraulic Oil Temperature"][k % 2],
                 ["warning", "critical"][(number + k) % 2], "open" if resolved is None else "resolved", opened, opened, opened, opened, resolved, opened + timedelta(minutes=1)])
            if k:
                seen = opened + timedelta(minutes=1 + chance.randrange(3, 90))
                for late in (0, 30):  # The first one counts.
                    connection.execute("INSERT INTO drover.acknowledgement VALUES (%s, %s, %s, %s, 'ada', NULL)", [machine, f"k{number}-{k}-{late}", f"made-{number}-{k}", seen + timedelta(minutes=late)])


def rides(connection):
    chance = random.Random(11)
    for campus in ("foggy", "hill"):
        connection.execute("INSERT INTO drover.campus (campus, topic_partition, name, settings, state, record_offset) VALUES (%s, 0, %s, '{}', '', 0)", [campus, campus.title()])
        for number in range(150):
            asked = DAY + timedelta(days=chance.randrange(3), seconds=chance.randrange(8 * 3600, 20 * 3600))
            state = chance.choice(["done"] * 7 + ["cancelled", "expired", "refused"])
            pickup = asked + timedelta(seconds=chance.randrange(20, 1500))
            place = [38.9 + chance.randrange(-90, 90) / 1e4, -77.05 + chance.randrange(-90, 90) / 1e4, 38.9 + chance.randrange(-90, 90) / 1e4, -77.05 + chance.randrange(-90, 90) / 1e4]
            dropoff = pickup + timedelta(seconds=chance.randrange(60, 1200))
            connection.execute(
                """INSERT INTO drover.ride (campus, request, rider, state, passengers, from_latitude_deg, from_longitude_deg, to_latitude_deg, to_longitude_deg, requested_at, vehicle,
                       pickup_at, dropoff_at, ended_at, sign_at) VALUES (%s, %s, 'Rosa Rider', %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)""",
                [campus, f"r{number}", state, 1 + chance.randrange(3), *place, asked, f"van-{chance.randrange(3)}" if state == "done" else None, pickup if state == "done" else None,
                 dropoff if state == "done" else None, dropoff, asked])
        for number in range(20):
            moved = [{"request": f"r{number + k}", "vehicle_before": "van-1", "vehicle": chance.choice(["van-1", "van-2"]), "pickup_before": "2026-09-14T08:00:00.000Z",
                      "pickup": f"2026-09-14T08:{chance.randrange(10, 59)}:00.000Z"} for k in range(3)]
            why = {"steps": [{"event": chance.choice(["request", "cancel", "override"]), "moved": moved}]}
            connection.execute("INSERT INTO drover.dispatch_decision VALUES (%s, %s, %s, '', %s)", [campus, number, DAY + timedelta(hours=8, minutes=number), json.dumps(why)])
        connection.execute("INSERT INTO drover.rider VALUES (%s, 'Rosa Rider', 'Rosa', NULL)", [campus])
    for hour in range(72):
        # Of the second day no service has told.
        if hour // 24 != 1:
            answer = {"latitude": 38.85, "longitude": -77.05, "temperature_c": hour % 24, "precipitation_mm_per_h": 1.2 if hour % 5 == 0 else 0}
            for latitude in (1288, 1289):
                for longitude in (1029, 1030):
                    connection.execute("INSERT INTO drover.weather_hour VALUES ('open-meteo', 100, %s, %s, %s, %s, now() + interval '9 years')", [latitude, longitude, DAY + timedelta(hours=hour), json.dumps(answer)])
    connection.execute("INSERT INTO drover.weather_hour VALUES ('open-meteo', 10, 12880, 10290, %s, %s, now() + interval '9 years')", [DAY, json.dumps({"latitude": 38.805, "longitude": -77.095})])


def sightings(connection):
    connection.execute("SELECT drover.make_sighting_year(2026)")
    for number in range(12):
        began = DAY + timedelta(days=number)
        connection.execute(
            """INSERT INTO drover.survey (site, survey, version, account, submitted_by, submitted_at, started_at, stopped_at, utc_offset_min, local_date, latitude_deg, longitude_deg, route,
                   protocol, gate, gate_reasons, distance_m, weather_missing, needs_review, sightings, individuals, topic_partition, is_blurred)
               VALUES (%s, %s, 0, 'walker', 'walker', %s, %s, %s, 0, %s, -3.3781, 39.9891, 'behind the well', 'pollard', %s, '{}', 1200, 0, %s, 3, 6, 0, %s)""",
            [f"site-{number % 2}", f"w{number}", began, began, began + timedelta(hours=1), began.date(), "outside" if number % 3 == 0 else "within", number == 5, number % 2 == 0])
        for k, species in enumerate(SPECIES):
            connection.execute(
                """INSERT INTO drover.sighting (site, survey, sighting, seen_at, local_date, species, given_name, individuals, latitude_deg, longitude_deg, temperature_c, wind_speed_mps,
                       cloud_cover_pct, is_sensitive, is_blurred, comments) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, -3.3781, 39.9891, %s, 2, 40, %s, %s, 'at the well')""",
                [f"site-{number % 2}", f"w{number}", k, began + timedelta(minutes=k), began.date(), species, species, k + 1, 20 + k, number % 2 == 0 and k == 0, number % 2 == 0])
    connection.execute("""INSERT INTO drover.sighting_week SELECT site, species, extract(isoyear FROM local_date)::int, extract(week FROM local_date)::int, '', '20', count(*), sum(individuals)
        FROM drover.sighting GROUP BY 1, 2, 3, 4""")


def tours(connection):
    connection.execute("INSERT INTO drover.tour (tour, account, area, draft, changed_by) VALUES ('gorge', 'rita', 'Gorge', '{}', 'rita')")
    for version, points in ((1, ["gate", "fall"]), (2, ["gate", "fall", "cave", "view"])):
        connection.execute("INSERT INTO drover.tour_version (tour, version, area, document, files, waypoint_ids, published_by) VALUES ('gorge', %s, 'Gorge', '{}', '[]', %s, 'rita')", [version, points])
    chance = random.Random(3)
    for day in range(60):
        on = (DAY - timedelta(days=day)).date()
        connection.execute("INSERT INTO drover.tour_day VALUES ('gorge', 'download', '', %s, %s)", [on, 1 + chance.randrange(9)])
        for place, waypoint in enumerate(["gate", "fall", "cave"]):
            connection.execute("INSERT INTO drover.tour_day VALUES ('gorge', 'visit', %s, %s, %s)", [waypoint, on, 1 + chance.randrange(20 - 6 * place)])


def psql_login(env, account):
    """The address of the database for a person of theirs. Made by hand: there are two fleets here, and `drover account psql` makes none."""
    user = f"drover_account_{account}"
    with connect(env) as owner:
        if not owner.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [user]).fetchone():
            owner.execute(f"CREATE ROLE {user}")
        owner.execute(f"ALTER ROLE {user} LOGIN PASSWORD 'x'; ALTER ROLE {user} SET default_transaction_read_only = on; GRANT drover_sight TO {user}")
        owner.execute("INSERT INTO drover.account_login VALUES (%s, %s) ON CONFLICT DO NOTHING", [user, account])
    return re.sub(r"user='?\w+'?", f"user='{user}' password='x'", env["DROVER_POSTGRES_URL"])
