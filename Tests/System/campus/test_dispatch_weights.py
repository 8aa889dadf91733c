"""What a campus learns and is told: likelihoods by place, ways that were measured, the weather of the hour; days tried again."""
import csv
import io
import json
import math
import struct
import time
from datetime import datetime, timezone
from decimal import ROUND_HALF_UP, Decimal
from statistics import mean
from zoneinfo import ZoneInfo

import pytest
import services as away
from harness import HANG_S, until
from test_dispatch import EAST, NORTH, day, office, place
from world import messages

EARTH_M = 6_371_008.8


def whole_partition(office, campus):
    """Records of a campus and the ticks between them, in the order of the log, each with the broker's stamp."""
    found = [(message.partition(), json.loads(message.value()), message.timestamp()[1]) for message in messages(office.world.brokers, "drover.dispatch")]
    own = {partition for partition, record, _ in found if record.get("campus") == campus}
    return [(record, stamp) for partition, record, stamp in found if partition in own and (record["kind"] == "tick" or record["campus"] == campus)]


def cell(latitude, longitude):
    """Of the grid around the campus's middle."""
    y = math.radians(latitude - NORTH) * EARTH_M
    x = math.radians(longitude - EAST) * EARTH_M * math.cos(math.radians(NORTH))
    return math.floor(x / 250), math.floor(y / 250)


def trials(records):
    """Each wait and each offer with its time, and whether it went wrong, from what was said alone."""
    clock, rides, found = 0, {}, []
    for record, stamp in records:
        if record["kind"] == "tick":
            clock = max(clock, record["ts"])
            continue
        at, request = max(stamp, clock), record.get("request")
        ride = rides.get(request)
        if record["kind"] == "pickup" and ride is None:
            rides[request] = {"state": "waiting", "from": cell(record["from_latitude_deg"], record["from_longitude_deg"]),
                              "to": cell(record["to_latitude_deg"], record["to_longitude_deg"])}
        elif ride and ride["state"] == "waiting" and record["kind"] == "cancel":
            ride["state"] = "over"
            found.append((ride["from"], "wait", 1, at))
        elif ride and ride["state"] == "waiting" and record["kind"] == "override":
            found += [(ride[stop], "offer", 1, at) for stop in ("from", "to")]
        elif ride and ride["state"] == "waiting" and record["kind"] == "done" and record["stop"] == "pickup":
            ride["state"] = "on board"
            found += [(ride["from"], "wait", 0, at)] + [(ride[stop], "offer", 0, at) for stop in ("from", "to")]
    return found


def likelihood(trials, kind, home, now, half_life_ms):
    total, total_wrong, near, near_wrong = 0, 0, 0, 0
    for where, of, wrong, at in trials:
        steps = max(abs(where[0] - home[0]), abs(where[1] - home[1]))
        weight = 0.5 ** ((now - at) / half_life_ms)
        if of == kind:
            share = {0: 1, 1: 0.25}.get(steps, 0)
            total, total_wrong = total + weight, total_wrong + weight * wrong
            near, near_wrong = near + share * weight, near_wrong + share * weight * wrong
    return (near_wrong + 10 * total_wrong / (total + 20)) / (near + 10)


def unpacked(data):
    """The stored sums by cell, with half-life and landmark, read by the description of their bytes."""
    at = 1
    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value
    def signed():
        value = varint()
        return (value >> 1) ^ -(value & 1)
    assert data[0] == 1
    half_life_ms, landmark, sums = signed(), signed(), {}
    for _ in range(varint()):
        where = signed(), signed()
        sums[where] = struct.unpack_from("<4d", data, at)
        at += 32
    assert at == len(data)
    return half_life_ms, landmark, sums


def why_of(office, campus, request):
    [[why]] = office.query(
        "SELECT why FROM drover.dispatch_decision WHERE campus = %s AND why -> 'steps' -> 0 ->> 'request' = %s AND why -> 'steps' -> 0 ->> 'event' = 'pickup'", campus.name, request)
    return why


def test_likelihoods_are_what_the_log_says(office):
    campus = office.campus(likelihood_days=1)
    for number in range(3):
        campus.vehicle(f"bus-{number}", 100 * number, 0, capacity=20)
    spots = [(10, 10), (240, 130), (-30, 400), (700, -700)]
    for number in range(48):
        x, y = spots[number % 4]
        to_x, to_y = spots[(number * 7 + 1) % 4]
        campus.pickup(f"r{number}", x + number, y + 5, to_x, to_y + 3)
        if number % 5 == 0:
            campus.say("override", request=f"r{number}")
        if number % 3 == 0:
            campus.say("cancel", request=f"r{number}")
            campus.say("cancel", request=f"r{number}")
        else:
            campus.say("done", request=f"r{number}", stop="pickup")
            campus.say("cancel", request=f"r{number}")
            campus.say("override", request=f"r{number}")
            campus.say("done", request=f"r{number}", stop="dropoff")
    campus.pickup("last", 12, 12, 700, -690)
    campus.rides()
    half_life_ms = 86_400_000
    said = whole_partition(office, campus.name)
    known = trials(said)
    assert len(known) == 16 + 3 * 32 + 2 * 10
    [[packed]] = office.query("SELECT likelihoods FROM drover.campus WHERE campus = %s", campus.name)
    stored_half_life, landmark, sums = unpacked(packed)
    assert stored_half_life == half_life_ms
    rows = json.loads(office.world.drover.done("campus", "likelihoods", campus.name, "--format", "json", env=office.env).out)
    now = round(datetime.fromisoformat(rows[0]["as_of"]).timestamp() * 1000)
    to_now = 0.5 ** (now / half_life_ms - landmark)
    assert {where for where, *_ in known} == set(sums)
    for where, (waits, cancelled, offers, refused) in sums.items():
        for stored, kind, only_wrong in ((waits, "wait", False), (cancelled, "wait", True), (offers, "offer", False), (refused, "offer", True)):
            true = sum(0.5 ** ((now - at) / half_life_ms) for place_of, of, wrong, at in known if place_of == where and of == kind and (wrong or not only_wrong))
            assert stored * to_now == pytest.approx(true, abs=1e-9)
    assert len(rows) == len(sums)
    for row in rows:
        where = cell(row["latitude_deg"], row["longitude_deg"])
        assert row["cancel_likelihood"] == pytest.approx(likelihood(known, "wait", where, now, half_life_ms), abs=1e-7)
        assert row["override_likelihood"] == pytest.approx(likelihood(known, "offer", where, now, half_life_ms), abs=1e-7)
    # The decision was made by them.
    why = why_of(office, campus, "last")
    choice = why["steps"][0]["choices"][0]
    asked = next(record for record, _ in said if record.get("request") == "last")
    home, there = (cell(asked[f"{stop}_latitude_deg"], asked[f"{stop}_longitude_deg"]) for stop in ("from", "to"))
    assert choice["cancel_likelihood"] == pytest.approx(likelihood(known, "wait", home, now, half_life_ms), abs=1e-6)
    assert choice["dropoff_override_likelihood"] == pytest.approx(likelihood(known, "offer", there, now, half_life_ms), abs=1e-6)
    drive = choice["options"][0]["legs"][0]["s"]
    assert choice["options"][0]["cancel_s"] == pytest.approx(0.5 * drive * choice["cancel_likelihood"], abs=0.002)
    assert office.world.drover.run("campus", "likelihoods", "nowhere", env=office.env).code == 1


def settings(stand, **more):
    values = {"weather.provider": "open-meteo", "weather.url": stand.address, "weather.history_url": stand.address, "weather.ca_file": stand.certificate,
              "travel.url": stand.address, "travel.ca_file": stand.certificate, "travel.decimals": 6, "travel.timeout_ms": 60_000, "dispatch.measure_ms": 10_000,
              **{key.replace("__", "."): value for key, value in more.items()}}
    return [part for key, value in values.items() for part in ("--set", f"{key}={value}")]


def at(x, y):
    return "{latitude_deg},{longitude_deg}".format(**place(x, y))


def test_measured_ways_stand_on_the_log_before_the_pickup(office, stand):
    campus = office.campus(order=0, cancel=0, override=0, pickup_s=0, dropoff_s=0, wait=0, ride=0)
    campus.vehicle("a", 600, 600)
    campus.vehicle("b", -620, -600)
    campus.rides()
    measure = lambda *more: office.world.drover.run(
        "campus", "measure", campus.name, "--from", at(10, 20), "--to", at(500, -400), "--by", "test", *settings(stand), *more, env=office.env)
    # A busy machine may need longer than a ride may wait for its ways.
    run = until(lambda: (run := measure()).code == 0 and run)
    assert "6 of 8 ways are measured" in run.err, run.err
    campus.pickup("r", 10, 20, 500, -400)
    campus.rides()
    why = why_of(office, campus, "r")
    assert why["measured_by"].endswith("/driving") and why["measured_places"] == 4
    # Halves away from zero.
    rounded = lambda x, y: tuple(float(Decimal(str(value)).quantize(Decimal("0.000001"), ROUND_HALF_UP)) for value in place(x, y).values())
    true = {"a": stand.truth.way(rounded(600, 600), rounded(10, 20))[0], "b": stand.truth.way(rounded(-620, -600), rounded(10, 20))[0]}
    on = stand.truth.way(rounded(10, 20), rounded(500, -400))[0]
    options = {option["vehicle"]: option for option in why["steps"][0]["choices"][0]["options"]}
    assert why["steps"][0]["vehicle"] == min(true, key=true.get)
    for vehicle, seconds in true.items():
        assert [leg["s"] for leg in options[vehicle]["legs"]] == [pytest.approx(seconds, abs=0.001), pytest.approx(on, abs=0.001)]
        assert options[vehicle]["legs_measured"] == 2
        assert options[vehicle]["travel_s"] == pytest.approx(seconds + on, abs=0.001)
    run = office.world.drover.run("dispatch", "why", "r", "--campus", campus.name, "--format", "json", env=office.env)
    first = json.loads(run.out)[0]
    assert (first["legs_measured"], first["legs_estimated"]) == (2, 0) and first["measured_by"] == why["measured_by"]
    # Away, slow or lying: nothing is measured, and decisions go by distance.
    with_database = lambda: office.query("UPDATE drover.outside_service SET open_until = NULL, failures = 0 RETURNING 1") and office.query("DELETE FROM drover.travel_leg RETURNING 1")
    # Who is slow answers no sooner than a run is given up as one that hangs.
    for trick in (away.status(503), away.slow(stand, 2 * HANG_S), away.body(b'{"code":"Ok","durations":[[-1,2],[1,2],[1,2],[1,2]]}'), away.cut_off):
        with_database()
        stand.trick = trick
        run = measure("--set", "dispatch.measure_ms=400")
        assert run.code == 1 and "nothing was measured" in run.err, run.err
    campus.pickup("s", -10, -20, -500, -400)
    assert campus.rides()["s"][0] == "assigned"
    other = office.campus()
    other.vehicle("x", 100, 0)
    other.pickup("y", 0, 0, 500, 0)
    other.rides()
    assert why_of(office, other, "y")["measured_by"] is None


def looks_on(office, gateways):
    """Until each of the gateways has looked at the campuses twice from now on."""
    looks, counts = {}, {}
    def counted():
        for pid, at in office.query("SELECT pid, query_start FROM pg_stat_activity WHERE application_name = 'drover-campus-hours' AND datname = current_database()"):
            if looks.setdefault(pid, at) != at:
                looks[pid], counts[pid] = at, counts.get(pid, 0) + 1
        return sum(count >= 2 for count in counts.values()) == len(gateways)
    until(counted, *gateways)


def test_weather_and_hour_come_from_the_gateway(office, stand, tmp_path):
    tables = {"surge_hours": "0-24 1.5", "surge_rain": "0.1 1.2, 4 1.5", "surge_wind": "3 1.1", "surge_max": 3, "speeds_kmh": "0-24 15", "time_zone": "America/New_York"}
    stand.trick = away.status(503)
    campus = office.campus(detour=1, **tables)
    plain = office.campus()
    campus.vehicle("bus", 100, 0)
    campus.rides()
    gateway = lambda name: office.world.drover.start(
        "gateway", *settings(stand, gateway__spool_path=tmp_path / name, dispatch__weather_interval_s=1, outside__rest_s=1, outside__failures_max=100), env=office.env)
    gateways = [gateway("one"), gateway("two")]
    def surge():
        number = next(numbers)
        campus.pickup(f"r{number}", 0, 0, 500, 0)
        campus.rides()
        why = why_of(office, campus, f"r{number}")
        campus.say("cancel", request=f"r{number}")
        return why["weights"]["surge"], why["seconds_per_metre"]
    numbers = iter(range(1_000))
    def said():
        return [record for record, _ in whole_partition(office, campus.name) if record["kind"] == "surge"]
    # The weather service is away: time of day alone. 15 km/h are 0.24 s a metre.
    until(lambda: surge() == (1.5, 0.24))
    gateways[0].wait_for("time of day alone counts")
    looks_on(office, gateways)
    assert sum("time of day alone counts" in line for line in gateways[0].lines) == 1, "said once"
    before, stand.trick = len(stand.asked), None
    def truth(record):
        """What the service says of the hour that a record is about: the present one, which may become another meanwhile."""
        asked = [query for _, path, query, _ in stand.asked[before:] if path == "/v1/forecast"]
        # The middle of the cell that the campus's middle lies in, and nothing nearer.
        assert all(abs(float(asked[-1][key]) - value) <= 0.0501 for key, value in (("latitude", NORTH), ("longitude", EAST)))
        return stand.truth.weather(float(asked[-1]["latitude"]), float(asked[-1]["longitude"]), datetime.fromtimestamp(record["hour_ts"] / 1000, timezone.utc))
    def is_told():
        if not (known := [record for record in said() if "weather" in record]):
            return False
        weather = truth(known[-1])
        rain = 1.5 if weather["precipitation_mm_per_h"] >= 4 else 1.2 if weather["precipitation_mm_per_h"] >= 0.1 else 1
        wind = 1.1 if weather["wind_speed_mps"] >= 3 else 1
        return surge()[0] == pytest.approx(min(3, int(int(1500 * rain) * wind) / 1000), abs=0.0011)
    until(is_told, *gateways)
    looks_on(office, gateways)
    hours = {}
    for record in said():
        hours.setdefault(record["hour_ts"], []).append(record)
        assert "by" not in record
    weather = json.loads(record["weather"])
    assert weather["source"] == "open-meteo" and weather["precipitation_mm_per_h"] == truth(record)["precipitation_mm_per_h"]
    # Two gateways, two values: of each hour at most two records each, of two ids, and two decisions on surge.
    assert all(len(records) <= 4 and len({record["id"] for record in records}) <= 2 for records in hours.values()) and len(hours) <= 2
    [[decided]] = office.query("SELECT count(*) FROM drover.dispatch_decision WHERE campus = %s AND why -> 'steps' @> '[{\"event\": \"surge\"}]'", campus.name)
    assert 2 <= decided <= 2 * len(hours)
    assert not [record for record, _ in whole_partition(office, plain.name) if record["kind"] == "surge"]
    for each in gateways:
        each.stop()


def test_a_day_is_reported_and_tried_again(office, tmp_path):
    campus = office.campus(iterations=20)
    began = int(time.time() * 1000) - 5
    for _ in day(campus, 11, 120):
        pass
    # Nobody is left in line, or time alone would go on deciding.
    for request, (state, _) in campus.rides().items():
        if state == "queued":
            campus.say("cancel", request=request)
    assert "queued" not in {state for state, _ in campus.rides().values()}
    until(lambda: office.query("SELECT count(*) FROM drover.outbox") == [(0,)])
    rides = office.query("SELECT state, extract(epoch FROM pickup_at - requested_at)::float8, extract(epoch FROM dropoff_at - pickup_at)::float8 FROM drover.ride WHERE campus = %s", campus.name)
    waits = sorted(wait for state, wait, _ in rides if state in ("done", "on_board"))
    riding = [seconds for state, _, seconds in rides if state == "done"]
    moved = office.query(
        """SELECT m ->> 'vehicle' <> m ->> 'vehicle_before', abs(extract(epoch FROM (m ->> 'pickup')::timestamptz - (m ->> 'pickup_before')::timestamptz))::float8
           FROM drover.dispatch_decision d, jsonb_array_elements(d.why -> 'steps') s, jsonb_array_elements(s -> 'moved') m WHERE d.campus = %s""", campus.name)
    # Where it is not about midnight.
    zone = "UTC" if 1 <= time.gmtime().tm_hour <= 21 else "America/New_York"
    date = datetime.now(ZoneInfo(zone)).strftime("%Y-%m-%d")
    report = lambda *more: office.world.drover.run("report", "dispatch-day", "--campus", campus.name, "--date", date, "--zone", zone, *more, env=office.env)
    run = report("--format", "json")
    assert run.code == 0, run.err
    rows = json.loads(run.out)["rows"]
    [total] = [row for row in rows if row["hour"] is None]
    hours = [row for row in rows if row["hour"]]
    counts = {state: sum(1 for row in rides if row[0] == state) for state in ("done", "cancelled", "expired", "refused")}
    assert (total["requests"], total["served"], total["cancelled"], total["expired"], total["refused"]) == (len(rides), *counts.values())
    for column in ("requests", "served", "told_other_vehicle", "overrides"):
        assert total[column] == sum(row[column] for row in hours), column
    assert total["waiting_p50_s"] == pytest.approx(waits[math.ceil(len(waits) * 0.5) - 1], abs=0.051)
    assert total["waiting_p90_s"] == pytest.approx(waits[math.ceil(len(waits) * 0.9) - 1], abs=0.051)
    assert total["riding_mean_s"] == pytest.approx(mean(riding), abs=0.051)
    assert total["told_other_vehicle"] == sum(other for other, _ in moved) and total["told_arrivals_moved_s"] == pytest.approx(sum(seconds for _, seconds in moved), abs=0.051)
    table = list(csv.DictReader(io.StringIO(report("--format", "csv").out)))
    assert [row["requests"] for row in table] == [str(row["requests"]) for row in rows]
    page = report().out
    assert page.startswith("<!doctype html>") and "whole day" in page
    # Tried again: the day as it was, by the same weights, by others.
    weights = tmp_path / "weights.json"
    weights.write_text(json.dumps({"wait": 0, "ride": 0, "order": 0}))
    ended = int(time.time() * 1000) + 1
    window = [datetime.fromtimestamp(ms / 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03}Z" for ms in (began - 60_000, ended)]
    # It reads the log alone: there is no database to write to.
    nowhere = {**office.env, "DROVER_POSTGRES_URL": "host=127.0.0.1 port=1 dbname=none"}
    attempt = lambda *more: office.world.drover.run("dispatch", "try", "--campus", campus.name, "--weights", str(weights), "--from", window[0], "--to", window[1], *more, env=nowhere)
    run = attempt("--format", "json")
    assert run.code == 0, run.err
    tried = json.loads(run.out)
    was = tried["as_decided"]
    assert (was["requests"], was["served"], was["cancelled"], was["expired"], was["refused"]) == (len(rides), *counts.values())
    assert was["waiting_mean_s"] == pytest.approx(mean(waits), abs=0.002) and was["riding_mean_s"] == pytest.approx(mean(riding), abs=0.002)
    assert was["told_other_vehicle"] == total["told_other_vehicle"] and was["told_arrivals_moved_s"] == pytest.approx(total["told_arrivals_moved_s"], abs=0.06)
    assert was["overrides"] == total["overrides"]
    for column in ("same_weights", "other_weights"):
        assert tried[column]["requests"] == was["requests"] and tried[column]["served"] > 10
    assert tried["same_weights"] != tried["other_weights"]
    assert json.loads(attempt("--format", "json").out) == tried, "the same again"
    assert attempt().out.splitlines()[0].split() == ["figure", "as", "decided", "same", "weights", "other", "weights"]
    for change, said in [({"name": "x"}, "cannot be tried"), ({"wait": -1}, "must be a number from 0"), ({"wait": "2"}, "must be a number")]:
        weights.write_text(json.dumps(change))
        run = attempt()
        assert run.code == 1 and said in run.err, run.err
    weights.write_text("{}")
    office.world.drover.fails("dispatch", "try", "--campus", "nowhere", "--weights", str(weights), env=office.env, says="no such campus")


def test_all_of_it_is_built_again_from_the_log(office):
    campus = office.campus(likelihood_days=1)
    campus.vehicle("bus", 100, 0)
    campus.say("travel", source="roads", **{"from": at(100, 0), "to": at(0, 0)}, ways_ms="61000")
    campus.say("surge", surge=1.5, hour_ts=int(time.time()) // 3600 * 3_600_000, speed_kmh=12.5)
    for request in "abc":
        campus.pickup(request, 0, 0, 500, 0)
        campus.say("override" if request == "b" else "cancel", request=request)
    office.settle()
    until(lambda: office.query("SELECT count(*) FROM drover.outbox") == [(0,)])
    office.settle()
    tables = office.world.replayed(office.env)
    assert tables["campus"] >= 1 and tables["dispatch_decision"] >= 9
    assert why_of(office, campus, "c")["measured_by"] == "roads" and why_of(office, campus, "c")["weights"]["surge"] == 1.5
