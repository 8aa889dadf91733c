"""Services of others: real HTTPS servers that speak their APIs well and badly (services.py), and the command beside them."""
import json
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import psycopg
import pytest
import services as away
from clocks import faked_clock
from harness import is_long, until
from services import KEY, Services, metres
from stories import Database
from world import connect, query

PLACE = (38.8987123, -77.0486321)
PAST = "2026-06-01T14:20:00Z"


@pytest.fixture(scope="module")
def database(world):
    return Database(world)


@pytest.fixture
def env(database):
    """One database for all stories, of which each begins with nothing asked and nothing known."""
    return database.emptied()


def settings(stand, provider="open-meteo", **more):
    """All three services at the stand-in; a `None` takes a setting out."""
    values = {"weather.provider": provider, "weather.url": stand.address, "weather.history_url": stand.address,
              "weather.ca_file": stand.certificate, "weather.api_key": KEY if provider == "openweathermap" else None, "weather.timeout_ms": 60_000,
              "travel.url": stand.address, "travel.ca_file": stand.certificate, "travel.timeout_ms": 60_000,
              "geocoder.url": stand.address, "geocoder.ca_file": stand.certificate, "geocoder.calls_max": "600/min", "geocoder.timeout_ms": 60_000,
              **{key.replace("__", "."): value for key, value in more.items()}}
    return [part for key, value in values.items() if value is not None for part in ("--set", f"{key}={value}")]


def at(place):
    return f"{place[0]},{place[1]}"


def weather(drover, env, stand, *places, times=(PAST,), provider="open-meteo", **more):
    arguments = [part for place in places or [PLACE] for part in ("--at", at(place))]
    arguments += [part for text in times for part in ("--time", text)]
    return drover.run("outside", "weather", *arguments, "--format", "json", *settings(stand, provider, **more), env=env)


def values(answer):
    return {key: value for key, value in answer.items() if re.search(r"_(c|mps|deg|pct|mm_per_h|hpa|code)$", key) and key != "cell_deg"}


def middle(place, size=0.1):
    """Of the cell of the grid, counted from the south pole and the 180th meridian."""
    cells = [int((place[0] + 90) // size), int((place[1] + 180) // size)]
    return round((cells[0] + 0.5) * size - 90, 7), round((cells[1] + 0.5) * size - 180, 7)


def truth_of(stand, place, text):
    hour = datetime.fromisoformat(text.replace("Z", "+00:00")).replace(minute=0, second=0, microsecond=0)
    return stand.truth.weather(*middle(place), hour)


def ledger(env, service="weather-history"):
    with connect(env) as connection:
        row = connection.execute(
            "SELECT failures, open_until, wait_until, fault, dropped_values FROM drover.outside_service WHERE service = %s", [service]).fetchone()
        return dict(zip(("failures", "open_until", "wait_until", "fault", "dropped"), row)) if row else None


def clock(env):
    """Of the database, which counts for all processes."""
    return query(env, "SELECT clock_timestamp()")[0][0]


def is_over(env, column):
    """A wait or a rest is over."""
    query(env, f"UPDATE drover.outside_service SET {column} = now() - interval '1 ms' WHERE {column} IS NOT NULL")


# Weather

@pytest.mark.parametrize("provider", ["open-meteo", "openweathermap"])
def test_weather_is_what_the_service_says_in_our_units_and_is_asked_for_once(drover, env, stand, provider):
    # Ten past whatever hour it is, here and there.
    moment = datetime.now(timezone.utc).replace(minute=10, second=0, microsecond=0)
    now, env, stand.now = moment.strftime("%Y-%m-%dT%H:%M:%SZ"), {**env, **faked_clock(f"{moment:%Y-%m-%d %H:%M:%S}")}, lambda: moment
    for text, model in [(PAST, {"open-meteo": "archive", "openweathermap": "timemachine"}), (now, {"open-meteo": "forecast", "openweathermap": "current"})]:
        run = weather(drover, env, stand, times=[text], provider=provider)
        assert run.code == 0, run.err
        [answer] = json.loads(run.out)
        assert values(answer) == pytest.approx(truth_of(stand, PLACE, text), abs=0.0006)
        assert (answer["source"], answer["model"], "dropped" in answer) == (provider, model[provider], False)
        assert (answer["latitude"], answer["longitude"], answer["cell_deg"]) == (*middle(PLACE), 0.1)
        count = len(stand.asked)
        again = weather(drover, env, stand, times=[text], provider=provider)
        assert (again.code, again.out, len(stand.asked)) == (0, run.out, count), "what is kept is not asked for again"


def test_only_the_middle_of_the_cell_leaves_the_machine(drover, env, stand):
    neighbour = (38.8012, -77.0001)
    assert middle(neighbour) == middle(PLACE)
    assert weather(drover, env, stand, PLACE, neighbour).code == 0
    [(_, path, query, _)] = stand.asked
    assert (path, float(query["latitude"]), float(query["longitude"])) == ("/v1/archive", *middle(PLACE))
    assert not any("8987" in str(value) or "0486" in str(value) for value in query.values())


def test_a_day_of_the_archive_is_one_request(drover, env, stand):
    times = [f"2026-06-01T{hour:02}:59:59Z" for hour in range(24)]
    run = weather(drover, env, stand, times=times)
    assert run.code == 0, run.err
    assert [values(answer) for answer in json.loads(run.out)] == [pytest.approx(truth_of(stand, PLACE, text), abs=0.0006) for text in times]
    assert len(stand.asked) == 1
    weather(drover, env, stand, times=["2026-06-02T00:00:00Z"])
    assert len(stand.asked) == 2


@pytest.mark.parametrize("place", [(90, 180), (-90, -180), (0, 0), (-33.85, 151.21), (89.999, -0.001)])
def test_places_at_the_ends_of_the_globe_have_weather(drover, env, stand, place):
    run = weather(drover, env, stand, place)
    assert run.code == 0, run.err
    [(_, _, query, _)] = stand.asked
    assert abs(float(query["latitude"])) < 90 and abs(float(query["longitude"])) < 180
    wanted = abs(place[0]) if abs(place[0]) < 90 else 89.95
    assert abs(abs(float(query["latitude"])) - wanted) <= 0.0501


def test_other_units_are_honoured_where_the_answer_names_them(drover, env, stand):
    stand.units = {"wind_speed_10m": ("km/h", lambda v: v * 3.6), "wind_gusts_10m": ("mp/h", lambda v: v * 3600 / 1609.344),
                   "temperature_2m": ("°F", lambda v: v * 9 / 5 + 32), "precipitation": ("inch", lambda v: v / 25.4)}
    [answer] = json.loads(weather(drover, env, stand).out)
    assert values(answer) == pytest.approx(truth_of(stand, PLACE, PAST), abs=0.0006)


def test_unknown_units_and_impossible_values_are_dropped_and_counted(drover, env, stand):
    stand.units = {"wind_speed_10m": ("furlong/fortnight", lambda v: v), "temperature_2m": ("°C", lambda v: 900),
                   "cloud_cover": ("%", lambda v: -1), "pressure_msl": ("hPa", lambda v: "n/a"), "precipitation": ("mm", lambda v: None)}
    [answer] = json.loads(weather(drover, env, stand).out)
    truth = truth_of(stand, PLACE, PAST)
    for name in ("wind_speed_mps", "temperature_c", "cloud_cover_pct", "pressure_hpa", "precipitation_mm_per_h"):
        del truth[name]
    assert values(answer) == pytest.approx(truth, abs=0.0006)
    assert answer["dropped"] == "temperature impossible, wind_speed unit_unknown, cloud_cover impossible, pressure not_a_number"
    assert ledger(env)["dropped"] == 4 * 24, "every hour of the answer counts"


def test_celsius_from_a_service_that_was_asked_for_kelvin_is_not_believed_nor_is_its_wind(drover, env, stand):
    stand.ignores_units = True
    [answer] = json.loads(weather(drover, env, stand, provider="openweathermap").out)
    truth = truth_of(stand, PLACE, PAST)
    for name in ("temperature_c", "wind_speed_mps", "wind_gust_mps"):
        del truth[name]
    assert values(answer) == pytest.approx(truth, abs=0.0006)
    assert answer["dropped"] == "temperature impossible, wind_speed unit_unknown, wind_gust unit_unknown"


def test_the_key_is_sent_and_never_shown(drover, env, stand, tmp_path):
    (tmp_path / "key").write_text("wrong-" + KEY + "\nsecond line\n")
    run = weather(drover, env, stand, provider="openweathermap", weather__api_key=None, weather__api_key_file=tmp_path / "key")
    assert run.code == 1 and "it refuses us (status 401): check its key" in run.err
    assert stand.asked[0][2]["appid"] == "wrong-" + KEY
    kept = query(env, "SELECT string_agg(s::text, ' ') FROM drover.outside_service s")[0][0]
    assert KEY not in run.err + run.out + kept
    check = drover.run("outside", "check", *settings(stand, "openweathermap", weather__api_key="wrong-" + KEY), env=env)
    assert KEY not in check.out + check.err


FAULTS = {
    "slow": (lambda s: away.slow(s), "Timeout was reached"),
    "a byte now and then": (lambda s: away.drip(s), "Timeout was reached"),
    "an error of its own": (lambda s: away.status(500), "status 500"),
    "unavailable": (lambda s: away.status(503), "status 503"),
    "garbage": (lambda s: away.body(b"\x00\xff\x17 garbage"), "not JSON: see byte 0"),
    "half an answer": (lambda s: away.cut_off, "transferred a partial file|Transferred"),
    "JSON of another kind": (lambda s: away.body(b'{"cod":"404","message":"none"}'), "has no `hourly and hourly_units`"),
    "an error that says 200": (lambda s: away.body(b'{"error":true,"reason":"no"}'), "says that it has no answer"),
    "nested too deep": (lambda s: away.deep, "nested more than 16 deep"),
    "a page for people": (lambda s: away.body(b"<html>captive portal</html>", kind="text/html"), "not JSON by its content type"),
    "a body without end": (lambda s: away.endless, "more than 4194304 bytes"),
    "a packed bomb": (lambda s: away.packed_bomb, "more than 4194304 bytes"),
    "headers without end": (lambda s: away.endless_headers, "Failed"),
    "a redirect": (lambda s: away.status(302, Location=s.address + "/elsewhere"), "sends us elsewhere \\(status 302\\)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_service_that_is_not_well_is_said_so_and_asked_again_later(drover, env, stand, fault):
    trick, message = FAULTS[fault]
    stand.trick = trick(stand)
    run = weather(drover, env, stand, weather__timeout_ms=700 if "Timeout" in message else 60_000)
    assert (run.code, run.out.strip()) == (1, "[]")
    assert re.search(f"^weather-history: .*({message})", run.err, re.M), run.err
    assert "38.8" not in run.err and "77.0" not in run.err, "no place in a message"
    assert "/elsewhere" not in stand.paths(), "a redirect would carry the key away"
    assert ledger(env)["failures"] == 1
    stand.trick = None
    well = weather(drover, env, stand)
    assert well.code == 0, well.err
    assert values(json.loads(well.out)[0]) == pytest.approx(truth_of(stand, PLACE, PAST), abs=0.0006)
    assert ledger(env)["failures"] == 0


def test_a_server_that_is_down_or_shows_another_name_or_an_unknown_root_gets_nothing(drover, env, stand):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        down = f"https://127.0.0.1:{closed.getsockname()[1]}"
        cases = [({"weather__history_url": down}, "connect to server"),
                 ({"weather__history_url": f"https://localhost:{stand.port}"}, "SSL peer certificate|certificate"),
                 ({"weather__ca_file": None}, "certificate")]
        for number, (more, message) in enumerate(cases):
            run = weather(drover, env, stand, outside__failures_max=100, **more)
            assert run.code == 1 and re.search(message, run.err), run.err
    assert stand.asked == []


@pytest.mark.parametrize("address, message", [
    ("http://192.0.2.7/", "plain http:// only to this machine"), ("http://127.0.0.1.example/", "plain http:// only to this machine"),
    ("https://user:password@service.example", "without user and query"), ("https://service.example?key=1", "without user and query"),
    ("file:///etc/passwd", "must be an address like"), ("service.example", "must be an address like"), ("https://", "must be an address like")])
def test_an_address_that_would_leak_or_lead_nowhere_is_refused(drover, env, stand, address, message):
    run = weather(drover, env, stand, weather__history_url=address)
    assert run.code == 1 and "weather.history_url" in run.err and message in run.err, run.err


def test_plain_http_is_for_services_on_this_machine(drover, env, tmp_path):
    plain = Services(tmp_path, https=False)
    # A proxy of the environment is for the outside, not for this machine.
    try:
        run = weather(drover, {**env, "http_proxy": "http://127.0.0.1:9"}, plain)
    finally:
        plain.close()
    assert run.code == 0, run.err


# Limits and rests, kept by all processes together

@pytest.mark.parametrize("as_date", [False, True])
def test_a_service_that_says_later_is_asked_later(drover, env, stand, as_date):
    hour, began = timedelta(hours=1), clock(env)
    later = format_datetime(datetime.now(timezone.utc) + hour, usegmt=True) if as_date else "3600"
    stand.trick = away.status(429, Retry_After=later)
    first = weather(drover, env, stand)
    assert first.code == 1 and "come back later (status 429)" in first.err
    stand.trick, ended = None, clock(env)
    second = weather(drover, env, stand)
    assert second.code == 1 and "come back later" in second.err and len(stand.asked) == 1, "another process waits, too"
    assert ledger(env)["failures"] == 0, "that is no failure"
    # A date is told in whole seconds.
    assert began - timedelta(seconds=as_date) <= ledger(env)["wait_until"] - hour <= ended
    is_over(env, "wait_until")
    assert weather(drover, env, stand).code == 0
    assert len(stand.asked) == 2


def test_a_wait_that_is_absurd_is_cut_to_a_day(drover, env, stand):
    stand.trick = away.status(429, Retry_After="99999999999999999")
    weather(drover, env, stand)
    assert ledger(env)["wait_until"] - datetime.now(timezone.utc) < timedelta(days=1, minutes=1)


def test_the_breaker_opens_lets_one_call_try_and_closes(drover, env, stand):
    stand.trick = away.status(500)
    places = [(10 + n, 10) for n in range(12)]
    more = {"outside__failures_max": 3, "outside__rest_s": 3600}
    run = weather(drover, env, stand, *places[:6], **more)
    assert run.code == 1 and len(stand.asked) == 3 and run.err.count("failed 3 times in a row and is left alone") == 3, run.err
    assert weather(drover, env, stand, *places, **more).code == 1 and len(stand.asked) == 3, "other processes leave it alone, too"
    is_over(env, "open_until")
    # Still ill and slow to say so: of six that come at once one tries.
    stand.hold()
    with ThreadPoolExecutor(6) as pool:
        runs = [pool.submit(weather, drover, env, stand, place, **more) for place in places[:6]]
        try:
            until(lambda: len(stand.asked) == 4 and sum(run.done() for run in runs) == 5)
            began = clock(env)
        finally:
            stand.release()
    assert len(stand.asked) == 4 and all(run.result().code == 1 for run in runs)
    assert began <= ledger(env)["open_until"] - timedelta(hours=2) <= clock(env), "a try that failed doubles the rest"
    stand.trick = None
    is_over(env, "open_until")
    run = weather(drover, env, stand, *places, **more)
    assert run.code == 0, run.err
    assert ledger(env)["failures"] == 0 and ledger(env)["open_until"] is None
    assert len(stand.asked) == 4 + len(places)


def test_many_processes_together_keep_to_one_limit(drover, env, stand):
    limit, processes, each = (17, 8, 5) if is_long() else (10, 5, 4)
    # Of an hour, which a busy machine does not take.
    limits = f"{limit}/h, 1000/day"
    places = [[(n, m) for m in range(each)] for n in range(processes)]
    with ThreadPoolExecutor(processes) as pool:
        runs = list(pool.map(lambda some: weather(drover, env, stand, *some, weather__calls_max=limits), places))
    answered = sum(len(json.loads(run.out)) for run in runs)
    refused = sum(run.err.count(f"its limit ({limits}) is reached by all of us together") for run in runs)
    assert (len(stand.asked), answered, refused) == (limit, limit, processes * each - limit)
    # Forecast and archive are one budget.
    now = weather(drover, env, stand, times=[datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")], weather__calls_max=limits)
    assert now.code == 1 and "limit" in now.err and len(stand.asked) == limit


def test_many_processes_together_keep_their_distance(drover, env, stand):
    stand.places = {f"house {n}": (1 + n / 100, 2) for n in range(8)}
    began = clock(env)
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda n: drover.run(
            "outside", "address", f"house {2 * n}", f"house {2 * n + 1}", *settings(stand, geocoder__calls_max="4/s"), env=env), range(4)))
    [[spaced_until, last]] = query(env, "SELECT spaced_until, clock_timestamp() FROM drover.outside_service WHERE service = 'geocoder'")
    assert sum(run.out.count("(service)") for run in runs) == len(stand.asked) == 8, [run.err for run in runs]
    # A turn is a quarter of a second: eight in a row, the last one not before it begins.
    turn = timedelta(seconds=0.25)
    assert began + 8 * turn <= spaced_until <= last + turn


def test_without_postgresql_nobody_outside_is_asked(drover, stand):
    gone = {"DROVER_POSTGRES_URL": "host=127.0.0.1 port=1 dbname=none connect_timeout=2"}
    run = weather(drover, gone, stand)
    assert run.code == 1 and "PostgreSQL does not count or keep" in run.err
    run = travel(drover, gone, stand, [PLACE], [(38.9, -77.0)])
    assert [leg["method"] for leg in json.loads(run.out)] == ["distance"] and run.code == 0
    assert stand.asked == []


# Travel times

def travel(drover, env, stand, sources, destinations, *arguments, **more):
    places = [part for place in sources for part in ("--from", at(place))] + [part for place in destinations for part in ("--to", at(place))]
    return drover.run("outside", "travel", *places, "--format", "json", *arguments, *settings(stand, **more), env=env)


def campus(count, shift=0):
    return [(round(38.88 + 0.0031 * n + shift, 4), round(-77.06 + 0.0047 * (n * 7 % 11), 4)) for n in range(count)]


def by_distance(a, b, kmh=30, detour=1.35):
    return metres(a, b) * detour, metres(a, b) * detour / kmh * 3.6


def test_a_large_table_is_asked_in_pieces_and_kept_by_hour_of_the_week(drover, env, stand):
    sources, destinations = campus(7), campus(9, shift=0.0005)
    stand.tables_max = 6
    more = {"travel__coordinates_max": 6}
    monday = ["--time", "2026-11-16T12:00:00Z"]
    run = travel(drover, env, stand, sources, destinations, *monday, **more)
    assert run.code == 0, run.err
    legs = json.loads(run.out)
    assert len(legs) == 63 and {leg["method"] for leg in legs} == {"service"}
    for leg, (a, b) in zip(legs, [(a, b) for a in sources for b in destinations]):
        seconds, distance = stand.truth.way(a, b)
        assert (leg["duration_ms"], leg["distance_m"]) == (pytest.approx(seconds * 1000, abs=0.6), pytest.approx(distance, abs=0.51))
    pieces = len(stand.asked)
    assert pieces == 3 * 3
    kept = travel(drover, env, stand, sources, destinations, "--time", "2026-11-23T12:59:00Z", **more)
    again = json.loads(kept.out)
    assert len(stand.asked) == pieces and {leg["method"] for leg in again} == {"cache"}
    assert [{**leg, "method": ""} for leg in again] == [{**leg, "method": ""} for leg in legs]
    # One more place: only its ways are asked for.
    travel(drover, env, stand, [*sources, (38.95, -77.01)], destinations, *monday, **more)
    extra = stand.asked[pieces:]
    assert len(extra) == 2 and all(len(query["sources"].split(";")) == 1 for _, _, query, _ in extra)
    # Another hour is another question.
    travel(drover, env, stand, sources[:1], destinations[:1], "--time", "2026-11-16T13:00:00Z", **more)
    assert len(stand.asked) == pieces + 3


def test_coordinates_are_rounded_before_they_leave(drover, env, stand):
    travel(drover, env, stand, [(38.89871234, -77.04863219)], [(38.90001, -77.03999)])
    [(_, path, _, _)] = stand.asked
    assert path == "/table/v1/driving/-77.0486,38.8987;-77.04,38.9"


def test_ways_that_the_service_does_not_know_are_by_distance_each_by_itself(drover, env, stand):
    sources, destinations = campus(2), campus(3, shift=0.001)
    stand.unreachable = {(sources[0], destinations[1])}
    stand.off_the_map = {destinations[2]}
    run = travel(drover, env, stand, sources, destinations, "--time", "2026-11-16T12:00:00Z")
    legs = json.loads(run.out)
    assert [leg["method"] for leg in legs] == ["service", "distance", "distance", "service", "service", "distance"]
    for n in (1, 2, 5):
        distance, seconds = by_distance(sources[n // 3], destinations[n % 3])
        assert (legs[n]["distance_m"], legs[n]["duration_ms"]) == (pytest.approx(distance, abs=0.51), pytest.approx(seconds * 1000, abs=0.6))
    assert ledger(env, "travel")["dropped"] == 2, "places off its map are counted; no way is an answer"


REST = [pytest.param(fault, marks=pytest.mark.long(reason="the same client as the weather's")) for fault in ("garbage", "a page for people", "a body without end", "a redirect")]


@pytest.mark.parametrize("fault", ["slow", "too small", "impossible", "refused", *REST])
def test_when_the_service_is_not_well_ways_are_by_distance_and_the_hour_decides_the_speed(drover, env, stand, fault):
    shapes = {"too small": away.body(b'{"code":"Ok","durations":[[1]],"distances":[[1,2]]}'),
              "impossible": away.body(b'{"code":"Ok","durations":[[1,-5]],"distances":[[90000000,7]]}'),
              "refused": away.body(b'{"code":"NoTable","message":"a text of theirs"}')}
    stand.trick = shapes.get(fault) or FAULTS[fault][0](stand)
    a, destinations = (38.8987, -77.0486), [(38.9112, -77.02), (38.88, -77.1)]
    hours = [("UTC", "2026-11-16T03:00:00Z", 50), ("America/New_York", "2026-11-16T13:00:00Z", 20), ("UTC", "2026-11-16T13:00:00Z", 10)]
    for zone, hour, kmh in hours if is_long() or fault == "slow" else hours[:1]:
        run = travel(drover, env, stand, [a], destinations, "--time", hour, travel__timeout_ms=400 if fault == "slow" else 60_000, travel__zone=zone,
                     travel__speeds_kmh="0-7 50, 7-12 20, 12-24 10", travel__detour="1.5", outside__failures_max=100)
        assert run.code == 0, run.err
        assert fault == "impossible" or re.search("^travel: ", run.err, re.M)
        assert "theirs" not in run.err
        for leg, b in zip(json.loads(run.out), destinations):
            distance, seconds = by_distance(a, b, kmh, 1.5)
            assert (leg["method"], leg["distance_m"], leg["duration_ms"]) == ("distance", pytest.approx(distance, abs=0.51), pytest.approx(seconds * 1000, abs=0.6))


def test_the_road_between_places_is_drawn_and_kept_and_straight_when_the_service_is_away(drover, env, stand):
    stops = campus(3)
    run = travel(drover, env, stand, stops[:1], stops[1:], "--line")
    [line] = json.loads(run.out)
    wanted = [*stand.road(stops[0], stops[1]), *stand.road(stops[1], stops[2])[1:]]
    assert [tuple(map(float, point.split(","))) for point in line["points"]] == wanted
    ways = [stand.truth.way(a, b) for a, b in zip(stops, stops[1:])]
    assert (line["method"], line["duration_ms"], line["distance_m"]) == ("service", pytest.approx(sum(w[0] for w in ways) * 1000, abs=1), pytest.approx(sum(w[1] for w in ways), abs=1))
    stand.trick = away.status(500)
    [kept] = json.loads(travel(drover, env, stand, stops[:1], stops[1:], "--line").out)
    assert {**kept, "method": "service"} == line and kept["method"] == "cache" and len(stand.asked) == 1
    [straight] = json.loads(travel(drover, env, stand, stops[1:2], stops[2:], "--line").out)
    assert straight["method"] == "distance" and [tuple(map(float, point.split(","))) for point in straight["points"]] == stops[1:]


# Addresses

def address(drover, env, stand, *arguments, **more):
    return drover.run("outside", "address", *arguments, "--format", "json", *settings(stand, outside__contact="ops@fleet.example", **more), env=env)


def test_an_address_is_found_once_and_who_asks_says_so(drover, env, stand):
    run = address(drover, env, stand, "2121  I Street NW")
    [place] = json.loads(run.out)
    assert (place["latitude"], place["longitude"], place["method"]) == (38.89871, -77.04861, "service")
    [again] = json.loads(address(drover, env, stand, " 2121 i STREET nw ").out)
    assert again == {**place, "method": "cache"} and len(stand.asked) == 1
    assert stand.asked[0][3]["User-Agent"] == "drover (ops@fleet.example)"
    kept = query(env, "SELECT string_agg(g::text, ' ') FROM drover.geocode g")[0][0]
    assert "street" not in kept.lower(), "what people look for is kept as a digest"


def test_no_such_place_is_an_answer_that_is_kept(drover, env, stand):
    for _ in range(2):
        run = address(drover, env, stand, "nowhere 17")
        assert run.code == 1 and "knows no such place" in run.err
    run = address(drover, env, stand, "--at", "-10,5")
    assert run.code == 1 and "knows no address there" in run.err
    assert len(stand.asked) == 2


def test_places_outside_the_area_do_not_count_whatever_the_service_says(drover, env, stand):
    run = address(drover, env, stand, "far away inn", geocoder__area="38.88,-77.07,38.91,-77.03")
    assert run.code == 1 and "knows no such place" in run.err
    assert stand.asked[0][2]["viewbox"] == "-77.07,38.91,-77.03,38.88" and stand.asked[0][2]["bounded"] == "1"
    assert address(drover, env, stand, "2121 i street nw", geocoder__area="38.88,-77.07,38.91,-77.03").code == 0


def test_a_place_keeps_its_coordinates_when_an_address_is_found_for_it(drover, env, stand):
    [place] = json.loads(address(drover, env, stand, "--at", "38.8987123,-77.0486321").out)
    assert (place["latitude"], place["longitude"]) == (38.8987123, -77.0486321)
    assert (stand.asked[0][2]["lat"], stand.asked[0][2]["lon"]) == ("38.8987", "-77.0486")
    assert place["address"] == "Beside 38.8987, -77.0486!", "signs that turn a line round or ring a bell are left out"


@pytest.mark.parametrize("text", ["", " \t ", "x" * 301, "a\x07b"])
def test_what_is_no_address_is_not_asked_for(drover, env, stand, text):
    run = address(drover, env, stand, text)
    assert run.code == 1 and "an address has 1 to 300 bytes" in run.err and stand.asked == []


@pytest.mark.parametrize("content", [b'{"a":1}', b'[{"lat":"91","lon":"0","display_name":"x"}]', b'[{"lat":"nan","lon":"0","display_name":"x"}]', b'[[]]', b"null"])
def test_a_geocoder_that_talks_nonsense_is_not_believed(drover, env, stand, content):
    stand.trick = away.body(content)
    run = address(drover, env, stand, "2121 i street nw")
    assert run.code == 1 and "holds no place that can be read" in run.err


# What operators see

def test_the_check_asks_each_service_once_and_says_units_and_what_is_left(drover, env, stand):
    arguments = ["--at", "38.90,-77.04", "--format", "json", *settings(stand)]
    for count in (1, 2):
        run = drover.done("outside", "check", *arguments, env=env)
        assert sorted(path.split("/")[1] for path in stand.paths()) == sorted(["v1", "table", "reverse"] * count)
    weather, travel, geocoder = json.loads(run.out)
    assert re.search(r"temperature -?[\d.]+ °C, wind_speed [\d.]+ m/s", weather["says"])
    # The first may be more than a minute ago.
    assert weather["limits"] == "600/min, 5000/h, 10000/day" and re.fullmatch("59[89]/min, 4998/h, 9998/day", weather["left"])
    assert re.search(r"\d+ s and \d+ m to a place 1.1 km away", travel["says"])
    assert "38.9,-77.04 is Beside 38.9, -77.04" in geocoder["says"]
    stand.trick = away.status(500)
    ill = drover.run("outside", "check", *settings(stand), env=env)
    assert ill.code == 1 and re.search(r"^weather: FAILED, status 500$", ill.out, re.M), ill.out
    none = drover.run("outside", "check", env=env)
    assert none.code == 0 and "weather: not used: weather.provider is not set" in none.out


@pytest.mark.parametrize("setting, value, message", [
    ("weather__provider", "weatherbug", "must be openweathermap or open-meteo"), ("weather__calls_max", "60/fortnight", "is no limit"),
    ("weather__cell_deg", "0", "must be 0.01 to 5"), ("travel__speeds_kmh", "0-12 30", "hour 12 to 13 is missing"),
    ("travel__speeds_kmh", "0-24 30, 3-4 20", "hour 3 stands there twice"), ("travel__zone", "Mars/Olympus", "is no time zone"),
    ("geocoder__area", "38,-77", "write SOUTH,WEST,NORTH,EAST"), ("travel__coordinates_max", "1", "must be 2 to 1000"),
    ("outside__contact", "two words", "must be a mail address")])
def test_settings_that_cannot_work_are_refused(drover, env, stand, setting, value, message):
    run = drover.run("outside", "check", *settings(stand, **{setting: value}), env=env)
    assert run.code == 1 and message in run.err and stand.asked == [], run.err


def test_openweathermap_without_a_key_is_refused(drover, env, stand):
    run = weather(drover, env, stand, provider="openweathermap", weather__api_key=None)
    assert run.code == 1 and "wants a key" in run.err


def test_gateways_may_ask_and_readers_see_neither_places_nor_addresses(drover, env, stand):
    def as_role(role):
        return {**env, "DROVER_POSTGRES_GATEWAY_URL": env["DROVER_POSTGRES_URL"] + f" options='-c role={role}'"}
    for role in ("drover_gateway", "drover_writer"):
        assert weather(drover, as_role(role), stand, (1, len(role))).code == 0
        assert json.loads(travel(drover, as_role(role), stand, [PLACE], [(38.9, -77.0 - len(role) / 100)]).out)[0]["method"] == "service"
        assert travel(drover, as_role(role), stand, [PLACE], [(38.9, -77.0)], "--line").code == 0
        assert address(drover, as_role(role), stand, "2121 i street nw").code == 0
    assert weather(drover, as_role("drover_reader"), stand, (2, 2)).code == 1
    with connect(env) as connection:
        connection.execute("SET ROLE drover_reader")
        assert connection.execute("SELECT count(*) FROM drover.weather_hour").fetchone()[0] > 0
        for table in ("travel_leg", "travel_line", "geocode"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT 1 FROM drover.{table}")


def test_what_is_kept_too_long_goes(drover, env, stand):
    assert weather(drover, env, stand).code == 0
    travel(drover, env, stand, [PLACE], [(38.9, -77.0)])
    with connect(env) as connection:
        for table in ("weather_hour", "travel_leg"):
            connection.execute(f"UPDATE drover.{table} SET kept_until = now() - interval '1 second'")
    assert weather(drover, env, stand, (1, 1)).code == 0 and len(stand.paths()) == 3
    assert json.loads(travel(drover, env, stand, [PLACE], [(38.9, -77.0)]).out)[0]["method"] == "service"
    assert query(env, "SELECT count(*) FROM drover.weather_hour WHERE kept_until < now()")[0][0] == 0
    assert query(env, "SELECT count(*) FROM drover.travel_leg")[0][0] == 1


# Recorded answers

@pytest.mark.needs_shared
@pytest.mark.parametrize("provider, sample, time, wanted", [
    ("openweathermap", "openweathermap/one_call_history.json", "2020-04-09T00:00:00Z",
     {"temperature_c": 278.41 - 273.15, "wind_speed_mps": 9.83, "wind_gust_mps": 15.65, "wind_direction_deg": 60, "cloud_cover_pct": 0,
      "precipitation_mm_per_h": 0, "humidity_pct": 65, "pressure_hpa": 1006, "condition_code": 800}),
    # Local times of Amsterdam, which was an hour ahead of UTC by its offset of two.
    ("open-meteo", "open-meteo/historical_weather.json", "1953-01-31T00:00:00Z", {"temperature_c": 5.1, "wind_speed_mps": 24.8 / 3.6})])
def test_recorded_answers_are_read(drover, env, stand, shared, provider, sample, time, wanted):
    stand.trick = away.body((shared / "data" / "weather-samples" / sample).read_bytes())
    run = weather(drover, env, stand, provider=provider, times=[time])
    assert run.code == 0, run.err
    assert values(json.loads(run.out)[0]) == pytest.approx(wanted, abs=0.0006)
