"""Ready queries: each with a result that is recorded, computed again here from the rows that it is about, and its plan."""
import csv
import io
import math
import os
import re
import statistics
import subprocess
from collections import Counter, defaultdict
from datetime import datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal
from zoneinfo import ZoneInfo

import psycopg
import pytest
from analysis import DAY, SPECIES, filled, psql_login, world  # noqa: F401 (fixtures)
from harness import HANG_S, ROOT
from world import query

UTC = timezone.utc
RECORDED = ROOT / "Tests" / "Fixtures" / "queries"
AREAS = ("machines", "cars", "dispatch", "tours", "joint")
QUERIES = sorted(f"{path.parent.name}/{path.stem}" for area in AREAS for path in (ROOT / "Queries" / area).glob("*.sql"))
SPAN = {"from": "2010-01-01", "to": "2026-09-20"}
ASKED = {"cars/mpg_periods": {"from": "2018-02-22", "to": "2018-02-28"}, "cars/utilisation": {"from": "2018-02-01", "to": "2018-03-31"}, "tours/funnel": {"tour": "gorge", **SPAN},
         "machines/silent": {"hours": "1"}, "machines/since_service": {}, "machines/refuels": {**SPAN, "gallons": "10"},
         "cars/sharp_braking": {**SPAN, "zone": "Europe/Berlin"}, "dispatch/waiting_by_hour": {**SPAN, "zone": "America/New_York"}}
# Those of sightings are computed again in test_sightings_export.py; their results are recorded as all others'.
SIGHTINGS = sorted(f"sightings/{path.stem}" for path in (ROOT / "Queries" / "sightings").glob("*.sql"))
KIND, YEAR = {"species": SPECIES[1]}, {"year": "2026"}
ASKED |= {"sightings/behaviour": KIND, "sightings/counts_by_week": KIND | YEAR, "sightings/effort": SPAN, "sightings/first_and_last": KIND,
          "sightings/flight_curve": KIND | YEAR | {"site": "site-1"}, "sightings/latest_of_species": KIND, "sightings/map": KIND | YEAR,
          "sightings/near": {"latitude": "-3.3781", "longitude": "39.9891", "month": str(DAY.month)}, "sightings/outside_protocol": SPAN,
          "sightings/species_of_site": {"site": "site-1"}, "sightings/to_review": {}, "sightings/weather": KIND | YEAR}
# What the hour of the test says of it is not recorded.
PASSING = {"machines/silent": {"silent_h"}}


ANSWERS = {}


def ask(world, env, name, **values):
    """The answer as CSV. The rows stay as they are: each question is asked once."""
    given = [f"{key}={value}" for key, value in {**ASKED.get(name, SPAN), **values}.items()]
    question = (env.get("DROVER_POSTGRES_READER_URL", env["DROVER_POSTGRES_URL"]), name, *given)
    if question not in ANSWERS:
        ANSWERS[question] = world.drover.done("query", name, *given, "--format", "csv", env=env).out
    return ANSWERS[question]


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def numbers(row):
    return [None if value == "" else float(value) if re.fullmatch(r"-?[\d.]+(e-?\d+)?", value) else value for value in row.values()]


def same(a, b):
    """Seven decimals are what `drover query` writes."""
    return len(a) == len(b) and all(x == (pytest.approx(y, rel=1e-9, abs=1e-7) if isinstance(y, float) else y) for x, y in zip(a, b))


def rounded(degrees):
    """As PostgreSQL rounds: halves away from zero, of fifteen digits."""
    return float(Decimal(f"{degrees:.15g}").quantize(Decimal("0.001"), ROUND_HALF_UP))


def test_there_are_enough_of_them_for_each_area():
    counts = Counter(name.split("/")[0] for name in QUERIES)
    assert sum(counts.values()) >= 24 and all(counts[area] >= 3 for area in AREAS)


@pytest.mark.parametrize("name", QUERIES + SIGHTINGS)
def test_a_query_gives_the_recorded_result(world, filled, name):
    found = table(ask(world, filled, name))
    assert found, "nothing would tell whether it is right"
    for row in found:
        for column in PASSING.get(name, ()):
            del row[column]
    path = RECORDED / f"{name}.csv"
    if os.environ.get("DROVER_RECORD"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            writer = csv.DictWriter(file, found[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)
    with path.open() as file:
        recorded = list(csv.DictReader(file))
    assert [list(row) for row in found] == [list(row) for row in recorded]
    for a, b in zip(map(numbers, found), map(numbers, recorded)):
        assert same(a, b), (a, b)
    # The file says what a row looks like.
    header = (ROOT / "Queries" / f"{name}.sql").read_text()
    assert re.search(r"^-- Question: .+\?$", header, re.M)
    [example] = re.findall(r"^-- Example result: (.+)$", header, re.M)
    assert example == " | ".join(recorded[0].values())


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_is_planned_as_it_says(world, filled, name):
    [plan] = re.findall(r"^-- Plan: (.+)$", (ROOT / "Queries" / f"{name}.sql").read_text(), re.M)
    given = [f"{key}={value}" for key, value in ASKED.get(name, SPAN).items()]
    run = world.drover.run("query", name, *given, "--explain", env=filled)
    assert run.code == 0 and "Execution Time" in run.out, run.err
    assert plan in run.out


# One of each area; all of them in the long form.
ONE_EACH = [next(name for name in QUERIES if name.startswith(f"{area}/")) for area in AREAS]


@pytest.mark.parametrize("name", [name if name in ONE_EACH else pytest.param(name, marks=pytest.mark.long(reason="psql with the other queries")) for name in QUERIES])
def test_psql_gives_the_same(world, filled, name, tmp_path):
    script = world.drover.done("query", name, "--psql", env=filled)
    (tmp_path / "q.sql").write_text(script.out)
    given = [word for key, value in ASKED.get(name, SPAN).items() for word in ("-v", f"{key}={value}")]
    run = subprocess.run(["psql", "-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1", *given, "-f", tmp_path / "q.sql", filled["DROVER_POSTGRES_URL"]], capture_output=True, text=True, timeout=HANG_S)
    assert run.returncode == 0, run.stderr
    ours, theirs = table(ask(world, filled, name)), table(run.stdout)
    assert len(ours) == len(theirs) and list(ours[0]) == list(theirs[0])
    if not any(key in name for key in ("silent", "refuels", "since_service")):  # Those show times, which psql writes in its own way.
        flags = {"t": "yes", "f": "no"}
        for a, b in zip(map(numbers, ours), map(numbers, theirs)):
            assert same(a, [flags.get(x, x) for x in b]), (a, b)


def test_psql_says_what_is_missing_and_keeps_values_out_of_the_statement(world, filled, tmp_path):
    (tmp_path / "q.sql").write_text(world.drover.run("query", "funnel", "--psql", env=filled).out)
    def psql(*words):
        return subprocess.run(["psql", "-X", "-q", "-At", *words, "-f", tmp_path / "q.sql", filled["DROVER_POSTGRES_URL"]], capture_output=True, text=True, timeout=HANG_S)
    assert "tour is missing: -v tour=TEXT" in psql().stdout
    assert psql("-v", "tour=x'); DROP TABLE drover.tour_day; --").stdout == ""
    assert len(psql("-v", "tour=gorge").stdout.splitlines()) == 4


def test_a_query_is_found_by_its_own_name_and_faults_are_told_at_once(world, filled):
    assert world.drover.run("query", "idle_share", *[f"{k}={v}" for k, v in SPAN.items()], "--format", "csv", env=filled).out == ask(world, filled, "cars/idle_share")
    world.drover.fails("query", "utilisation", env=filled, says="one of cars/utilisation, dispatch/utilisation", code=2)
    run = world.drover.run("query", "cars/utilisation", "from=x", "nothing=1", env=filled)
    assert run.code == 2 and all(words in run.err for words in ("nothing is none of its parameters", "from=x: must be a day", "to is missing"))


def test_a_person_asks_of_their_fleet_only(world, filled):
    env = {**filled, "DROVER_POSTGRES_READER_URL": psql_login(filled, "anna")}
    north = {row[0] for row in query(filled, "SELECT vehicle FROM drover.fleet_vehicle WHERE fleet = 'north'")}
    for name in QUERIES:
        found = table(ask(world, env, name))
        if found and "vehicle" in found[0] and not name.startswith("dispatch"):
            assert {row["vehicle"] for row in found} <= north, name
            # To narrow it to the fleet changes nothing; all of the others' is not there.
            assert table(ask(world, filled, name, fleet="north")) == found, name
        if name.startswith("dispatch"):
            assert found == []


# MARK: the same from the raw rows

@pytest.fixture(scope="module")
def raw(filled):
    def rows(statement):
        with psycopg.connect(filled["DROVER_POSTGRES_URL"], row_factory=psycopg.rows.dict_row) as connection:
            connection.execute("SET timezone = 'UTC'")
            return connection.execute(statement).fetchall()
    return rows


def quantile(values, share):
    """As percentile_cont has it."""
    values = sorted(values)
    place = share * (len(values) - 1)
    low = math.floor(place)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (place - low)


def near(*values, places):
    return pytest.approx(values, abs=0.500001 * 10 ** -places)


def litres(row):
    """Of cars of which nothing is registered: gasoline, by rate, sensor or the logger, whichever covers nine tenths first."""
    known = [(row["fuel_rate_ul"] and row["fuel_rate_ul"] / 1e6, row["fuel_rate_ms"])]
    known += [(mg and mg / 1000 / 14.7 / 745, ms) for mg, ms in ((row["burnt_air_mg"], row["air_ms"]), (row["burnt_air_calculated_mg"], row["air_calculated_ms"]))]
    known = [(value, ms or 0) for value, ms in known if value is not None]
    return next((value for value, ms in known if ms >= 0.9 * max(ms for _, ms in known)), None)


def test_hours_by_month(world, filled, raw):
    readings = defaultdict(list)
    for row in raw("SELECT vehicle, read_at, engine_hours_h FROM drover.machine_reading WHERE engine_hours_h IS NOT NULL ORDER BY read_at"):
        readings[row["vehicle"]].append((row["read_at"].strftime("%Y-%m"), row["engine_hours_h"]))
    expected = []
    for vehicle, meter in sorted(readings.items()):
        before = meter[0][1]
        for month in sorted({month for month, _ in meter}):
            last = max(value for at, value in meter if at == month)
            expected.append((vehicle, month, pytest.approx(last - before, abs=1e-6), last))
            before = last
    assert [(r["vehicle"], r["month"], float(r["run_h"]), float(r["meter_h"])) for r in table(ask(world, filled, "machines/hours_by_month"))] == expected


def alerts(raw):
    return [row for row in raw("SELECT * FROM drover.alert WHERE kind = 'machine' AND state NOT IN ('withdrawn', 'due_soon')") if row["opened_at"] < DAY + timedelta(days=7)]


def test_alert_minutes(world, filled, raw):
    end, open_min, count = DAY + timedelta(days=7), Counter(), Counter()
    for alert in alerts(raw):
        key = alert["model"], alert["parameter"], alert["severity"]
        open_min[key] += ((min(alert["resolved_at"] or end, end)) - alert["opened_at"]).total_seconds() / 60
        count[key] += 1
    found = {(r["model"], r["parameter"], r["severity"]): (int(r["alerts"]), float(r["open_min"])) for r in table(ask(world, filled, "machines/alert_minutes"))}
    assert found == {key: near(count[key], open_min[key], places=1) for key in count}


def test_time_to_acknowledge(world, filled, raw):
    first = {}
    for row in raw("SELECT alert_id, acknowledged_at FROM drover.acknowledgement"):
        first[row["alert_id"]] = min(first.get(row["alert_id"], row["acknowledged_at"]), row["acknowledged_at"])
    waits, count = defaultdict(list), Counter()
    for alert in alerts(raw):
        key = alert["severity"], alert["parameter"]
        count[key] += 1
        if alert["alert_id"] in first:
            waits[key].append((first[alert["alert_id"]] - (alert["told_at"] or alert["opened_at"])).total_seconds() / 60)
    for row in table(ask(world, filled, "machines/time_to_acknowledge")):
        key = row["severity"], row["parameter"]
        assert (int(row["alerts"]), int(row["acknowledged"])) == (count.pop(key), len(waits[key]))
        if waits[key]:
            assert (float(row["median_min"]), float(row["p90_min"])) == near(quantile(waits[key], 0.5), quantile(waits[key], 0.9), places=1)
    assert not count


def test_silent_and_since_service(world, filled, raw):
    last = {row["vehicle"]: row["last_reading_at"] for row in raw("SELECT vehicle, last_reading_at FROM drover.vehicle WHERE kind = 'machine'")}
    for row in table(ask(world, filled, "machines/silent")):
        since = last.pop(row["vehicle"])
        assert datetime.fromisoformat(row["silent_since"]) == since
        assert int(row["silent_h"]) == pytest.approx((datetime.now(UTC) - since).total_seconds() / 3600, abs=1.1)
    assert not last
    meter = {row["vehicle"]: row["h"] for row in raw("SELECT vehicle, max(engine_hours_h) AS h FROM drover.machine_reading GROUP BY 1")}
    service = {row["vehicle"]: row["engine_hours_h"] for row in raw("SELECT vehicle, engine_hours_h FROM drover.service ORDER BY done_at")}
    found = table(ask(world, filled, "machines/since_service"))
    assert {r["vehicle"]: r["since_service_h"] and float(r["since_service_h"]) for r in found} == {
        vehicle: pytest.approx(hours - service[vehicle], abs=1e-6) if vehicle in service else "" for vehicle, hours in meter.items()}


def test_refuels_and_hottest_days(world, filled, raw):
    level, filled_in, hot = {}, [], defaultdict(list)
    for row in raw("SELECT * FROM drover.machine_reading WHERE contact IS NULL ORDER BY vehicle, read_at"):
        hot[row["vehicle"], row["read_at"].strftime("%Y-%m-%d")].append((row["coolant_c"], row["hydraulic_oil_c"]))
        if row["fuel_level_gal"] is not None:
            before = level.get(row["vehicle"])
            if before is not None and row["fuel_level_gal"] - before >= 10:
                filled_in.append((row["vehicle"], before, row["fuel_level_gal"]))
            level[row["vehicle"]] = row["fuel_level_gal"]
    assert [(r["vehicle"], float(r["before_gal"]), float(r["after_gal"])) for r in table(ask(world, filled, "machines/refuels"))] == filled_in and filled_in
    def most(values):
        return max((value for value in values if value is not None), default="")
    assert {(r["vehicle"], r["day"]): (r["coolant_max_c"] and float(r["coolant_max_c"]), r["hydraulic_oil_max_c"] and float(r["hydraulic_oil_max_c"]), int(r["readings"]))
            for r in table(ask(world, filled, "machines/hottest_days"))} == {
        key: (most(c for c, _ in values), most(h for _, h in values), len(values)) for key, values in hot.items()}


def trips(raw):
    """With who drove, as far as the uploads say."""
    driving = raw("SELECT * FROM drover.driving")
    discarded = {(row["vehicle"], row["trip_at"]) for row in raw("SELECT * FROM drover.trip_note WHERE is_discard")}
    found = []
    for trip in raw("SELECT * FROM drover.trip ORDER BY vehicle, start_at"):
        if (trip["vehicle"], trip["start_at"]) not in discarded:
            who = [d["account"] for d in driving if d["vehicle"] == trip["vehicle"] and d["from_at"] <= trip["end_at"] and d["until_at"] >= trip["start_at"]]
            found.append({**trip, "driver": who[-1] if who else "", "litres": litres(trip), "km": trip["distance_mm"] / 1e6})
    return found


def test_idle_share(world, filled, raw):
    sums = defaultdict(lambda: [0, 0])
    for row in raw("SELECT vehicle, minute_at, idle_ms, integrated_ms FROM drover.vehicle_minute"):
        for index, column in enumerate(("idle_ms", "integrated_ms")):
            sums[row["vehicle"], row["minute_at"].strftime("%Y-%m")][index] += row[column]
    assert {(r["vehicle"], r["month"]): (float(r["idle_h"]), float(r["engine_h"]), float(r["idle_pct"])) for r in table(ask(world, filled, "cars/idle_share"))} == {
        key: (pytest.approx(idle / 3.6e6, abs=1e-6), pytest.approx(all_ / 3.6e6, abs=1e-6), pytest.approx(100 * idle / all_, abs=0.0051)) for key, (idle, all_) in sums.items()}


def test_fuel_by_driver_and_trip_lengths(world, filled, raw):
    by = defaultdict(list)
    for trip in trips(raw):
        by[trip["driver"]].append(trip)
    found = table(ask(world, filled, "cars/fuel_by_driver"))
    assert {r["driver"] for r in found} == set(by) and len(by) == 3
    for row in found:
        mine = by[row["driver"]]
        known = [trip for trip in mine if trip["litres"] is not None]
        fuel, way = sum(t["litres"] for t in known), sum(t["km"] for t in known)
        assert (int(row["trips"]), int(row["trips_with_fuel"])) == (len(mine), len(known))
        assert float(row["km"]) == pytest.approx(sum(t["km"] for t in mine), abs=6e-4)
        assert float(row["fuel_l"]) == pytest.approx(fuel, abs=6e-4)
        assert (float(row["l_per_100km"]), float(row["mpg_us"])) == near(100 * fuel / way, way / 1.609344 / (fuel / 3.785411784), places=2)
    bands = [0, 1, 2, 5, 10, 20, 50, 100]
    lengths = Counter(max(band for band in bands if band <= trip["km"]) for trip in trips(raw))
    assert {int(r["from_km"]): int(r["trips"]) for r in table(ask(world, filled, "cars/trip_lengths"))} == {band: lengths[band] for band in bands}


def test_sharp_braking(world, filled, raw):
    drivers = {(trip["vehicle"], trip["start_at"]): trip["driver"] for trip in trips(raw)}
    sums = defaultdict(lambda: [0, 0])
    for row in raw("SELECT * FROM drover.vehicle_minute"):
        if (who := drivers.get((row["vehicle"], row["trip_start_at"]))) is not None:
            entry = sums[who, row["minute_at"].astimezone(ZoneInfo("Europe/Berlin")).hour]
            entry[0] += row["distance_mm"]
            entry[1] += row["sharp_brakings"]
    found = {(r["driver"], int(r["hour"])): (float(r["km"]), int(r["sharp_brakings"])) for r in table(ask(world, filled, "cars/sharp_braking"))}
    assert found == {key: near(mm / 1e6, sharp, places=3) for key, (mm, sharp) in sums.items()}
    assert sum(sharp for _, sharp in found.values()) > 0


def days(raw):
    return [{**row, "litres": litres(row), "day": row["day_at"].date()} for row in raw("SELECT * FROM drover.vehicle_day")]


def test_cost_methods_and_fleets_by_month(world, filled, raw):
    fleets = {(row["kind"], row["vehicle"]): row["fleet"] for row in raw("SELECT * FROM drover.fleet_vehicle")}
    by = defaultdict(list)
    for day in days(raw):
        by[fleets["car", day["vehicle"]], day["day"].strftime("%Y-%m")].append(day)
    def cars(row):
        mine = by[row["fleet"], row["month"]]
        known = [day["litres"] for day in mine if day["litres"] is not None]
        return len({day["vehicle"] for day in mine}), sum(day["distance_mm"] for day in mine) / 1e6, sum(known) if known else None
    found = table(ask(world, filled, "cars/cost_by_fleet", price=2))
    assert {(r["fleet"], r["month"]) for r in found} == set(by) and len(by) > 3
    for row in found:
        count, km, fuel = cars(row)
        assert (int(row["cars"]), float(row["km"])) == near(count, km, places=3)
        assert (float(row["fuel_l"]), float(row["cost"])) == pytest.approx((fuel, 2 * fuel), abs=0.0051)
    opened = Counter((fleets["machine", alert["vehicle"]], alert["opened_at"].strftime("%Y-%m")) for alert in alerts(raw))
    found = table(ask(world, filled, "joint/fleet_month"))
    assert {(r["fleet"], r["month"]) for r in found} == set(by) | set(opened)
    for row in found:
        assert (int(row["machine_alerts"]), int(row["cars"])) == (opened[row["fleet"], row["month"]], cars(row)[0])
        assert float(row["km"]) == pytest.approx(cars(row)[1], abs=6e-4)
    methods = Counter()
    for day in days(raw):
        methods["unknown" if day["litres"] is None else "known"] += day["distance_mm"] / 1e6
    shares = {r["method"]: float(r["km"]) for r in table(ask(world, filled, "cars/fuel_methods"))}
    assert sum(shares.values()) == pytest.approx(sum(methods.values()), abs=0.01) and shares.get("unknown", 0) == pytest.approx(methods["unknown"], abs=0.01)


def test_which_car_uses_most_fuel(world, filled, raw):
    sums = defaultdict(lambda: [0, 0, 0])
    for day in days(raw):
        entry = sums[day["vehicle"]]
        entry[0] += day["distance_mm"] / 1e6
        if day["litres"] is not None:
            entry[1] += day["litres"]
            entry[2] += day["distance_mm"] / 1e6
    found = table(ask(world, filled, "cars/most_fuel"))
    assert [r["vehicle"] for r in found] == sorted(sums, key=lambda vehicle: -sums[vehicle][1])
    for row in found:
        km, fuel, way = sums[row["vehicle"]]
        assert [float(row[c]) for c in ("km", "fuel_l", "l_per_100km", "mpg_us")] == pytest.approx(
            [km, fuel, 100 * fuel / way, way / 1.609344 / (fuel / 3.785411784)], abs=0.051)


def test_mpg_and_utilisation(world, filled, raw):
    now, before = defaultdict(lambda: [0, 0]), defaultdict(lambda: [0, 0])
    for day in days(raw):
        for sums, first, last in ((now, "2018-02-22", "2018-02-28"), (before, "2018-02-15", "2018-02-21")):
            if first <= str(day["day"]) <= last and day["litres"]:
                sums[day["vehicle"]][0] += day["distance_mm"] / 1e6 / 1.609344
                sums[day["vehicle"]][1] += day["litres"] / 3.785411784
    found = {r["vehicle"]: (r["mpg_us"], r["before_mpg_us"]) for r in table(ask(world, filled, "cars/mpg_periods"))}
    assert set(found) == set(now) | set(before) and now and before
    for vehicle, pair in found.items():
        for value, sums in zip(pair, (now, before)):
            assert float(value) == pytest.approx(sums[vehicle][0] / sums[vehicle][1], abs=0.0051) if vehicle in sums else value == ""
    driven = Counter(day["vehicle"] for day in days(raw) if "2018-02-01" <= str(day["day"]) <= "2018-03-31" and day["distance_mm"] > 0)
    assert {r["vehicle"]: (int(r["days_driven"]), int(r["days"])) for r in table(ask(world, filled, "cars/utilisation"))} == {
        row["vehicle"]: (driven[row["vehicle"]], 59) for row in raw("SELECT vehicle FROM drover.vehicle WHERE kind = 'car'")}


def rides(raw):
    found = raw("SELECT * FROM drover.ride ORDER BY campus, request")
    for ride in found:
        ride["waiting"] = (ride["pickup_at"] - ride["requested_at"]).total_seconds() if ride["state"] == "done" else None
    return found


def test_waiting_outcomes_and_rain(world, filled, raw):
    hours, wet = defaultdict(list), defaultdict(list)
    rain = {row["hour_at"]: row["answer"]["precipitation_mm_per_h"] > 0 for row in raw("SELECT * FROM drover.weather_hour WHERE cell_millideg = 100")}
    for ride in rides(raw):
        hours[ride["campus"], ride["requested_at"].astimezone(ZoneInfo("America/New_York")).hour].append(ride["waiting"])
        hour = ride["requested_at"].replace(minute=0, second=0)
        wet[ride["campus"], {True: "yes", False: "no", None: ""}[rain.get(hour)]].append((hour, ride["waiting"]))
    def waits(values):
        known = [value / 60 for value in values if value is not None]
        return near(len(values), *((quantile(known, 0.5), quantile(known, 0.9)) if known else ()), places=2)
    found = {(r["campus"], int(r["hour"])): tuple(float(r[c]) for c in ("requests", "median_min", "p90_min") if r[c]) for r in table(ask(world, filled, "dispatch/waiting_by_hour"))}
    assert found == {key: waits(values) for key, values in hours.items()}
    found = {(r["campus"], r["is_raining"]): tuple(float(r[c]) for c in ("requests", "median_min", "p90_min")) for r in table(ask(world, filled, "joint/waiting_and_rain"))}
    assert found == {key: waits([wait for _, wait in values]) for key, values in wet.items()} and len(found) == 6
    assert {(r["campus"], r["is_raining"]): int(r["hours"]) for r in table(ask(world, filled, "joint/waiting_and_rain"))} == {key: len({h for h, _ in values}) for key, values in wet.items()}
    ends = Counter((ride["campus"], ride["requested_at"].strftime("%Y-%m-%d"), ride["state"]) for ride in rides(raw))
    for row in table(ask(world, filled, "dispatch/outcomes_by_day")):
        counted = [ends.pop((row["campus"], row["day"], state), 0) for state in ("done", "cancelled", "expired", "refused")]
        assert [int(row[column]) for column in ("served", "cancelled", "expired", "refused", "requests")] == counted + [sum(counted)]
    assert not ends


def test_ways_with_nobody_on_board(world, filled, raw):
    stops = defaultdict(list)
    for ride in rides(raw):
        if ride["state"] == "done":
            day = ride["campus"], ride["vehicle"]
            for at, change, kind in ((ride["pickup_at"], ride["passengers"], "from"), (ride["dropoff_at"], -ride["passengers"], "to")):
                stops[day, at.date()].append((at, change, ride["request"], rounded(ride[f"{kind}_latitude_deg"]), rounded(ride[f"{kind}_longitude_deg"])))
    way, empty, busy = Counter(), Counter(), {}
    for (key, day), each in stops.items():
        each.sort()
        load, with_somebody = 0, 0
        for (at, change, _, lat, lon), (until, _, _, lat2, lon2) in zip(each, each[1:]):
            load += change
            a = math.sin(math.radians(lat2 - lat) / 2) ** 2 + math.cos(math.radians(lat)) * math.cos(math.radians(lat2)) * math.sin(math.radians(lon2 - lon) / 2) ** 2
            km = 2 * 6371.0088 * math.asin(math.sqrt(a))
            way[key] += km
            empty[key] += km if load == 0 else 0
            with_somebody += (until - at).total_seconds() if load > 0 else 0
        busy[*key, str(day)] = 100 * with_somebody / (each[-1][0] - each[0][0]).total_seconds()
    assert {(r["campus"], r["vehicle"]): (float(r["km"]), float(r["empty_km"])) for r in table(ask(world, filled, "dispatch/empty_share"))} == {
        key: near(way[key], empty[key], places=2) for key in way}
    assert {(r["campus"], r["vehicle"], r["day"]): float(r["busy_pct"]) for r in table(ask(world, filled, "dispatch/utilisation"))} == {key: pytest.approx(value, abs=0.051) for key, value in busy.items()}
    assert 0 < sum(empty.values()) < sum(way.values())


def test_vehicle_changes_and_pairs(world, filled, raw):
    moved = Counter()
    for row in raw("SELECT campus, why FROM drover.dispatch_decision"):
        for step in row["why"]["steps"]:
            moved[row["campus"], step["event"]] += sum(each["vehicle"] != each["vehicle_before"] for each in step["moved"])
    assert {(r["campus"], r["event"]): int(r["rides_moved"]) for r in table(ask(world, filled, "dispatch/vehicle_changes"))} == {key: count for key, count in moved.items() if count}
    pairs = Counter()
    for ride in rides(raw):
        corner = tuple(math.floor(Decimal(str(rounded(ride[column]))) * 200) / 200 for column in ("from_latitude_deg", "from_longitude_deg", "to_latitude_deg", "to_longitude_deg"))
        pairs[ride["campus"], *corner] += 1
    found = table(ask(world, filled, "dispatch/pairs", limit=1000))
    assert sum(int(r["requests"]) for r in found) == sum(pairs.values())
    assert Counter(int(r["requests"]) for r in found) == Counter(pairs.values())


def test_tours(world, filled, raw):
    visits, months, weekdays = Counter(), Counter(), Counter()
    for row in raw("SELECT * FROM drover.tour_day"):
        months[row["local_date"].strftime("%Y-%m"), row["kind"]] += row["events"]
        if row["kind"] == "visit":
            visits[row["waypoint"]] += row["events"]
            weekdays[row["local_date"].isoweekday()] += row["events"]
    found = table(ask(world, filled, "tours/funnel"))
    assert [(r["waypoint"], int(r["visits"]), float(r["of_first_pct"])) for r in found] == [
        (name, visits[name], pytest.approx(100 * visits[name] / visits["gate"], abs=0.051)) for name in ("gate", "fall", "cave", "view")]
    assert {(r["month"], kind): int(r[kind + "s"]) for r in table(ask(world, filled, "tours/by_month")) for kind in ("download", "visit")} == months
    assert {int(r["weekday"]): int(r["visits"]) for r in table(ask(world, filled, "tours/by_weekday"))} == weekdays


def test_weather_and_mpg(world, filled, raw):
    told = {(row["vehicle"], row["hour_at"]): row["answer"] for row in raw("SELECT vehicle, hour_at, answer::jsonb AS answer FROM drover.trip_weather")}
    by = defaultdict(lambda: [0, 0, 0])
    for trip in trips(raw):
        answer = told.get((trip["vehicle"], trip["start_at"].replace(minute=0, second=0, microsecond=0)))
        if answer and trip["litres"]:
            entry = by[math.floor(answer["temperature_c"] / 10) * 10, "yes" if answer["precipitation_mm_per_h"] > 0 else "no"]
            for index, value in enumerate((1, trip["km"], trip["litres"])):
                entry[index] += value
    found = {(int(r["from_c"]), r["is_wet"]): (int(r["trips"]), float(r["km"]), float(r["fuel_l"])) for r in table(ask(world, filled, "joint/weather_and_mpg"))}
    assert found == {key: near(*values, places=3) for key, values in by.items()} and found


def test_alerts_and_services(world, filled, raw):
    services = raw("SELECT vehicle, done_at FROM drover.service")
    bands = Counter()
    for alert in alerts(raw):
        before = [s["done_at"] for s in services if s["vehicle"] == alert["vehicle"] and s["done_at"] <= alert["opened_at"]]
        bands[str((alert["opened_at"] - max(before)).days // 30 * 30) if before else "", alert["severity"]] += 1
    assert {(r["from_days"], r["severity"]): int(r["alerts"]) for r in table(ask(world, filled, "joint/alerts_and_services"))} == bands
    assert statistics.mean(bands.values()) > 0
