"""Raw rows that are deleted after a while: which ones, that their sums stay, and that nothing late is added to a part."""
import concurrent.futures
import json
import re
import time
import urllib.parse
from datetime import datetime, timedelta, timezone

import psycopg
import pytest
from analysis import recorded, world  # noqa: F401 (a fixture)
from clocks import faked_clock
from harness import HANG_S, is_long, until
from people import PASSWORD, token, Visitor
from world import as_served, connect, producer, query

DAY = timedelta(days=1)
# The present of whoever deletes: no midnight comes in between.
NOW = datetime.now(timezone.utc).replace(hour=12, minute=0, second=0, microsecond=0) - DAY


@pytest.fixture(scope="module")
def filled(world):
    """The recordings are years old; what one trip of now adds is not."""
    ticked(world.filled)
    query(world.filled, "INSERT INTO drover.partition_progress (topic, partition, next_offset, replay_offset, clock_at) VALUES ('drover.machines', 99, 0, 0, %s)", NOW)
    return world.filled


KEPT = ["vehicle_minute", "machine_reading", "dispatch_decision", "debug_log", "trip_weather", "trip_start", "notice", "notice_message", "outbox", "audit_entry"]


def ticked(env):
    """As if all partitions had."""
    query(env, "UPDATE drover.partition_progress SET clock_at = %s", NOW)


def retention(world, env, *words, **days):
    settings = [word for table, value in days.items() for word in ("--set", f"retention.{table}_days={value}")]
    return {row["table"]: row for row in json.loads(world.drover.done("retention", *words, *settings, "--format", "json", env={**env, **faked_clock(f"{NOW:%F %T}")}).out)}


def sums(env):
    return [query(env, f"SELECT * FROM drover.{table} ORDER BY 1, 2") for table in ("vehicle_day", "trip", "alert", "sighting_week", "tour_day", "ride")]


def test_by_itself_everything_is_kept(world, filled):
    before = {table: query(filled, f"SELECT count(*) FROM drover.{table}") for table in KEPT}
    found = retention(world, filled)
    assert set(found) == set(before) and all(row["note"] == "kept for ever" and row["rows_gone"] == 0 and row["kept_days"] is None for row in found.values())
    assert {table: query(filled, f"SELECT count(*) FROM drover.{table}") for table in before} == before and query(filled, "SELECT * FROM drover.retained") == []


def days_to(border):
    """So many days are kept that all before this midnight is too old, and no day more."""
    return (NOW - border).days - 2


def test_a_dry_run_says_what_would_go_and_then_it_goes(world, filled):
    kept = sums(filled)
    # Those with rows: some months ahead are there from the beginning.
    periods = query(filled, """SELECT partition, from_at, to_at FROM drover.period p WHERE relation = 'vehicle_minute'
        AND EXISTS (SELECT FROM drover.vehicle_minute m WHERE m.minute_at >= p.from_at AND m.minute_at < p.to_at) ORDER BY to_at""")
    # All years but the last one that something was recorded in.
    _, _, cut = periods[-2]
    days = days_to(cut)
    [[old, young]] = query(filled, "SELECT count(*) FILTER (WHERE minute_at < %s), count(*) FILTER (WHERE minute_at >= %s) FROM drover.vehicle_minute", cut, cut)
    assert old > 0 and young > 0
    would = retention(world, filled, "--dry-run", vehicle_minute=days)["vehicle_minute"]
    assert (would["rows_would_go"], would["kept_days"]) == (old, days) and datetime.fromisoformat(would["before"]) == cut and would["bytes_would_go"] > old * 100
    assert query(filled, "SELECT count(*) FROM drover.vehicle_minute") == [(old + young,)] and query(filled, "SELECT * FROM drover.retained") == []
    gone = retention(world, filled, vehicle_minute=days)["vehicle_minute"]
    assert (gone["rows_gone"], gone["bytes_gone"]) == (old, would["bytes_would_go"]) and gone["oldest_kept"] == would["oldest_kept"]
    assert query(filled, "SELECT min(minute_at) >= %s, count(*) FROM drover.vehicle_minute", cut) == [(True, young)]
    assert query(filled, "SELECT relation, from_at FROM drover.retained") == [("vehicle_minute", cut)]
    # The partitions are gone, not emptied.
    assert query(filled, "SELECT partition FROM drover.period WHERE relation = 'vehicle_minute' AND to_at <= %s", periods[-1][2]) == [(periods[-1][0],)]
    assert query(filled, "SELECT to_regclass('drover.' || %s) IS NULL", periods[0][0]) == [(True,)]
    # Days, trips, alerts, weeks and visits are as they were, and again nothing goes.
    assert sums(filled) == kept
    assert retention(world, filled, vehicle_minute=days)["vehicle_minute"]["rows_gone"] == 0
    # More days than before bring nothing back and say so no later.
    retention(world, filled, vehicle_minute=days + 4000)
    assert query(filled, "SELECT from_at FROM drover.retained WHERE relation = 'vehicle_minute'") == [(cut,)]


def test_machines_keep_the_newest_old_reading(world, filled):
    newest = query(filled, "SELECT vehicle, max(read_at) FROM drover.machine_reading GROUP BY 1 ORDER BY 1")
    gone = retention(world, filled, machine_reading=7, dispatch_decision=7)
    assert query(filled, "SELECT vehicle, read_at FROM drover.machine_reading ORDER BY 1") == newest and gone["machine_reading"]["rows_gone"] > 1000
    assert gone["dispatch_decision"]["rows_gone"] == 40 and query(filled, "SELECT count(*) FROM drover.dispatch_decision") == [(0,)]


def month_border(months_ago):
    first = NOW.replace(day=1, hour=0)
    for _ in range(months_ago):
        first = (first - DAY).replace(day=1)
    return first


def put(connection, table, time, **values):
    """A row that says nothing else."""
    names = [row[0] for row in connection.execute("SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND attnotnull AND NOT attisdropped AND NOT atthasdef", [f"drover.{table}"]).fetchall()]
    if time:
        connection.execute("SELECT drover.make_period(%s::regclass, %s)", [f"drover.{table}", values[time]])
    connection.execute(f"INSERT INTO drover.{table} ({', '.join(names)}) VALUES ({', '.join(f'%({name})s' for name in names)})", {**dict.fromkeys(names, 0), **values})


def test_a_trip_that_reaches_over_the_border_stays_whole(world, filled):
    cut = month_border(3)
    with connect(filled) as connection:
        for car, start, end, is_open in [("over", cut - timedelta(minutes=30), cut + timedelta(minutes=30), False), ("before", cut - timedelta(hours=3), cut - timedelta(hours=2), False),
                                         ("open", cut - timedelta(hours=3), cut - timedelta(hours=2), True)]:
            put(connection, "trip", None, vehicle=car, start_at=start, end_at=end, is_open=is_open)
            for minute in range(0, 60, 10):
                put(connection, "vehicle_minute", "minute_at", vehicle=car, minute_at=start + timedelta(minutes=minute), trip_start_at=start, samples=b"")
    mine = "SELECT vehicle, count(*) FROM drover.vehicle_minute WHERE vehicle IN ('over', 'before', 'open') GROUP BY 1"
    before = dict(query(filled, "SELECT to_char(minute_at, 'YYYY-MM-DD HH24:MI'), vehicle FROM drover.vehicle_minute WHERE vehicle IN ('over', 'open')"))
    # A day too few: the month is not over, and nothing of it goes.
    retention(world, filled, vehicle_minute=days_to(cut) + 1)
    assert dict(query(filled, mine)) == {"over": 6, "before": 6, "open": 6}
    gone = retention(world, filled, vehicle_minute=days_to(cut))["vehicle_minute"]
    assert dict(query(filled, mine)) == {"over": 6, "open": 6} and gone["rows_gone"] >= 6
    assert dict(query(filled, "SELECT to_char(minute_at, 'YYYY-MM-DD HH24:MI'), vehicle FROM drover.vehicle_minute WHERE vehicle IN ('over', 'open')")) == before
    # What is left lies where it lay, still guarded, and goes when the trips are over.
    name = f"vehicle_minute_{cut - DAY:%Y_%m}"
    assert query(filled, f"SELECT count(*) FROM drover.{name}") == [(9,)]
    assert retention(world, filled, vehicle_minute=days_to(cut))["vehicle_minute"]["rows_gone"] == 0
    with connect(filled) as connection:
        # A late row of the trip that stays finds its place.
        put(connection, "vehicle_minute", "minute_at", vehicle="over", minute_at=cut - timedelta(minutes=29), trip_start_at=cut - timedelta(minutes=30), samples=b"")
        connection.execute("DELETE FROM drover.trip WHERE vehicle IN ('over', 'before', 'open')")
    assert retention(world, filled, vehicle_minute=days_to(cut))["vehicle_minute"]["rows_gone"] == 10
    assert query(filled, "SELECT to_regclass('drover.' || %s) IS NULL", name) == [(True,)]
    query(filled, "DELETE FROM drover.vehicle_minute WHERE vehicle = 'over'")


def test_who_reads_a_partition_is_not_disturbed_and_it_goes_the_next_time(world, filled):
    cut = month_border(3)
    with connect(filled) as connection:
        put(connection, "vehicle_minute", "minute_at", vehicle="read", minute_at=cut - DAY, trip_start_at=cut - DAY, samples=b"")
    def go():
        return retention(world, filled, vehicle_minute=days_to(cut))["vehicle_minute"]
    def waits():
        return query(filled, "SELECT FROM pg_locks WHERE NOT granted AND relation = 'drover.vehicle_minute'::regclass")
    with psycopg.connect(filled["DROVER_POSTGRES_URL"]) as reader, concurrent.futures.ThreadPoolExecutor(1) as pool:
        assert reader.execute("SELECT count(*) FROM drover.vehicle_minute WHERE vehicle = 'read'").fetchone() == (1,)
        going = pool.submit(go)
        until(waits)
        if is_long():  # It tries again and again for fourteen seconds.
            held = going.result(HANG_S)
            assert "is being read all the time: the next run tries again" in held["note"] and held["rows_gone"] == 0
        assert reader.execute("SELECT count(*) FROM drover.vehicle_minute WHERE vehicle = 'read'").fetchone() == (1,)
        reader.rollback()
        gone = going.result(HANG_S)
    assert gone["rows_gone"] == 1 or go()["rows_gone"] == 1


def test_partitions_go_while_a_worker_writes(world, env):
    """Nobody's commit is lost or refused, and nobody waits for ever."""
    worker = world.worker(env, "busy", **{"work.commit_interval_ms": 20})
    sender, now, pushed = producer(world.brokers), int(time.time() * 1000), 0
    def push(count):
        nonlocal pushed
        for _ in range(count):
            ts = now - 72_000_000 + pushed * 50
            record = {"schema": 1, "kind": "reading", "id": f"busy-{ts}", "vehicle": f"busy-{pushed % 7}", "ts": ts, "speed_kmh": 30}
            sender.produce("drover.cars", key=record["vehicle"].encode(), value=json.dumps(record).encode())
            pushed += 1
        assert sender.flush(HANG_S) == 0
    push(500)
    world.work_off(env)
    ticked(env)
    with connect(env) as connection:
        for months in range(3, 9):
            month = month_border(months)
            put(connection, "trip", None, vehicle="open", start_at=month, end_at=month, is_open=True)
            for day in range(20):
                for vehicle in ("open", "gone"):
                    put(connection, "vehicle_minute", "minute_at", vehicle=vehicle, minute_at=month + day * DAY, trip_start_at=month, samples=b"")
    # A partition that somebody holds on to all the time goes the next time.
    gone = []
    def go():
        until(lambda: gone.append(retention(world, env, vehicle_minute=days_to(month_border(2)))["vehicle_minute"]["rows_gone"]) or sum(gone) >= 6 * 20, worker)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        going = pool.submit(go)
        while not going.done():
            push(100)
        going.result()
    # What of the two stays is what the open trips hold.
    assert query(env, "SELECT DISTINCT vehicle FROM drover.vehicle_minute WHERE vehicle IN ('open', 'gone')") == [("open",)]
    assert query(env, "SELECT count(*) FROM drover.vehicle_minute WHERE vehicle = 'open'") == [(6 * 20,)]
    push(100)
    world.work_off(env)
    world.finish(env)
    assert worker.stop() == 0
    assert query(env, "SELECT sum(readings) FROM drover.vehicle_minute WHERE vehicle LIKE 'busy%%'") == [(pushed,)]


def test_periods_never_overlap_whatever_is_made_first(world, filled):
    def made(text):
        query(filled, "SELECT drover.make_period('drover.machine_reading', %s)", text)
        return query(filled, "SELECT partition FROM drover.period WHERE relation = 'machine_reading' AND from_at <= %s::timestamptz AND to_at > %s::timestamptz", text, text)
    now = NOW
    recent = month_border(4) + 3 * DAY
    # A year for what is old, a month for what is not, twice the same.
    assert made("2001-06-15T12:00:00Z") == made("2001-12-31T23:59:59.999Z") == [("machine_reading_2001",)]
    assert made(recent.isoformat()) == [(f"machine_reading_{recent:%Y_%m}",)]
    with connect(filled) as connection:
        connection.execute("UPDATE drover.period_width SET width = 'day' WHERE relation = 'machine_reading'")
        # As if this month had been made when it was new: its year is then made of months.
        connection.execute("DELETE FROM drover.period WHERE partition = 'machine_reading_2001'; DROP TABLE drover.machine_reading_2001")
    # Days of now stand beside the month that was there.
    ahead = now + timedelta(days=150)
    assert made(ahead.isoformat()) == [(f"machine_reading_{ahead:%Y_%m_%d}",)]
    query(filled, "UPDATE drover.period_width SET width = 'month' WHERE relation = 'machine_reading'")
    other = ahead + DAY if (ahead + DAY).month == ahead.month else ahead - DAY
    assert made(other.isoformat()) == [(f"machine_reading_{other:%Y_%m_%d}",)]
    assert query(filled, """SELECT count(*) FROM drover.period a JOIN drover.period b ON a.relation = b.relation AND a.partition < b.partition
        AND a.from_at < b.to_at AND a.to_at > b.from_at""") == [(0,)]
    # What the database holds is what the list says.
    assert query(filled, """SELECT (SELECT array_agg(partition ORDER BY partition) FROM drover.period)
        = (SELECT array_agg(c.relname::text ORDER BY c.relname::text) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
           WHERE i.inhparent IN ('drover.vehicle_minute'::regclass, 'drover.machine_reading'::regclass) AND c.relkind = 'r')""") == [(True,)]


def test_ten_writers_that_need_the_same_month_make_it_once(world, filled):
    month = month_border(6) + DAY
    def write(number):
        with connect(filled) as connection:
            put(connection, "vehicle_minute", "minute_at", vehicle=f"many-{number}", minute_at=month, trip_start_at=month, samples=b"")
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        list(pool.map(write, range(10)))
    assert query(filled, "SELECT count(*) FROM drover.vehicle_minute WHERE vehicle LIKE 'many-%%'", ) == [(10,)]
    query(filled, "DELETE FROM drover.vehicle_minute WHERE vehicle LIKE 'many-%'")


def test_the_weather_of_old_trips_goes_with_where_they_began(world, filled):
    with connect(filled) as connection:
        for number, start in enumerate([NOW - 40 * DAY, NOW - 20 * DAY]):
            for car in ("windy", "calm"):
                connection.execute("INSERT INTO drover.trip_start VALUES (%s, %s, 50, 8, false)", [car, start])
                connection.execute("INSERT INTO drover.trip_weather SELECT %s, date_trunc('hour', %s::timestamptz), 100, n, 1880, %s, '{}' FROM generate_series(1, 6000) n", [car, start, start])
    mine = "SELECT count(*) FROM drover.{} WHERE vehicle IN ('windy', 'calm')"
    would = retention(world, filled, "--dry-run", trip_weather=30)
    before = [query(filled, mine.format(table))[0][0] for table in ("trip_weather", "trip_start")]
    assert before == [24_000, 4] and would["trip_weather"]["rows_would_go"] >= 12_000 and would["trip_weather"]["bytes_would_go"] > 500_000
    gone = retention(world, filled, trip_weather=30)
    assert [gone[table]["rows_gone"] for table in ("trip_weather", "trip_start")] == [would[table]["rows_would_go"] for table in ("trip_weather", "trip_start")]
    assert [query(filled, mine.format(table)) for table in ("trip_weather", "trip_start")] == [[(12_000,)], [(2,)]]
    assert gone["trip_weather"]["kept_days"] == gone["trip_start"]["kept_days"] == 30
    # What was kept whole is known to whoever compares.
    assert {name for name, in query(filled, "SELECT relation FROM drover.retained")} >= {"trip_weather", "trip_start"}
    query(filled, "DELETE FROM drover.trip_weather WHERE vehicle IN ('windy', 'calm'); DELETE FROM drover.trip_start WHERE vehicle IN ('windy', 'calm')")


def test_what_was_told_goes_when_the_alert_is_over_and_refused_records_with_it(world, filled):
    old, young = NOW - 100 * DAY, NOW - 10 * DAY
    with connect(filled) as connection:
        [open_alert], [over] = connection.execute("SELECT alert_id FROM drover.alert ORDER BY state = 'open' DESC, alert_id LIMIT 2").fetchall()
        connection.execute("UPDATE drover.alert SET state = CASE alert_id WHEN %s THEN 'open' ELSE 'resolved' END WHERE alert_id IN (%s, %s)", [open_alert, open_alert, over])
        told = [("over", over, old, "told"), ("over-too", over, old, "not_told"), ("open", open_alert, old, "told"), ("young", over, young, "told"), ("waiting", over, old, "waiting")]
        ids = {}
        for number, (name, alert, at, state) in enumerate(told):
            ids[name] = f"n-{number:032x}"
            connection.execute("""INSERT INTO drover.notice (notice_id, alert_id, account, occasion, round, vehicle, relation, manner, state, reason, decided_at, due_at)
                VALUES (%s, %s, 'jo', 'opened', 0, 'v', 'owner', 'at_once', %s, 'test', %s, %s)""", [ids[name], alert, state, at, at])
        for number, (state, at, names) in enumerate([("sent", old, ["over", "over-too"]), ("sent", old, ["over", "open"]), ("waiting", old, ["over"]), ("sent", young, ["over"])]):
            message = f"notice-{number:032x}"
            connection.execute("INSERT INTO drover.notice_message (message_id, account, channel, manner, state, made_at) VALUES (%s, 'jo', 'mail', 'at_once', %s, %s)", [message, state, at])
            for name in names:
                connection.execute("INSERT INTO drover.notice_told VALUES (%s, %s)", [message, ids[name]])
        for record, at, refused in [("o-1", old, "too large"), ("o-2", young, "too large"), ("o-3", old, None)]:
            connection.execute("INSERT INTO drover.outbox (topic, key, record_id, record, made_at, refused) VALUES ('drover.alerts', 'k', %s, '{}', %s, %s)", [record, at, refused])
    def left():
        return [[key for key, in query(filled, f"SELECT {key} FROM drover.{table} WHERE {mine} ORDER BY 1")]
                for table, key, mine in [("notice", "notice_id", "account = 'jo'"), ("notice_message", "message_id", "account = 'jo'"), ("outbox", "record_id", "record_id LIKE 'o-_'")]]
    everything = left()
    would = retention(world, filled, "--dry-run", notice=30, outbox=30)
    assert left() == everything
    gone = retention(world, filled, notice=30, outbox=30)
    assert [gone[table]["rows_gone"] for table in ("notice", "notice_message", "outbox")] == [2, 1, 1] == [would[table]["rows_would_go"] for table in ("notice", "notice_message", "outbox")]
    assert left() == [sorted(ids[name] for name in ("open", "young", "waiting")), [f"notice-{n:032x}" for n in (1, 2, 3)], ["o-2", "o-3"]]
    query(filled, "DELETE FROM drover.notice WHERE account = 'jo'; DELETE FROM drover.notice_message WHERE account = 'jo'; DELETE FROM drover.outbox WHERE record_id LIKE 'o-_'")


def test_a_partition_that_is_behind_holds_it_up(world, filled):
    with connect(filled) as connection:
        for months in (1, 7):
            connection.execute("SELECT drover.make_period('drover.machine_reading', %s)", [month_border(months) - DAY])
        found = retention(world, filled, "--dry-run", machine_reading=10)["machine_reading"]
        assert datetime.fromisoformat(found["before"]) == month_border(1)
        connection.execute("UPDATE drover.partition_progress SET clock_at = %s - interval '90 days' WHERE topic = 'drover.machines' AND partition = 99", [NOW])
        found = retention(world, filled, "--dry-run", machine_reading=10)["machine_reading"]
        assert datetime.fromisoformat(found["before"]) < NOW - 100 * DAY
        connection.execute("UPDATE drover.partition_progress SET clock_at = NULL WHERE topic = 'drover.machines' AND partition = 99")
        found = retention(world, filled, "--dry-run", machine_reading=10)["machine_reading"]
        assert found["note"] == "no clock of drover.machines yet" and found["rows_would_go"] == 0
        connection.execute("UPDATE drover.partition_progress SET clock_at = %s WHERE topic = 'drover.machines' AND partition = 99", [NOW])


def test_what_comes_later_than_is_kept_is_set_aside_and_what_comes_in_time_is_taken(world, env):
    now = int(datetime.now(timezone.utc).timestamp() * 1000)
    days = {"retention.vehicle_minute_days": 30, "retention.machine_reading_days": 30}
    worker = world.worker(env, "kept", **days)
    def send(topic, vehicle, ago_days, **values):
        times = [now - ago_days * 86_400_000 + second * 1000 for second in range(3)]
        world.push(topic, *[{"schema": 1, "kind": "reading", "id": f"{vehicle}-{ts}", "vehicle": vehicle, "ts": ts, **values} for ts in times])
    for ago in (29, 31):
        send("drover.cars", f"late-car-{ago}", ago, speed_kmh=30)
        send("drover.machines", f"late-mtg-{ago}", ago, model="8R Tractor", coolant_c=80)
    world.work_off(env)
    world.finish(env)
    worker.stop()
    assert query(env, "SELECT DISTINCT vehicle FROM drover.vehicle_minute WHERE vehicle LIKE 'late%'") == [("late-car-29",)]
    assert query(env, "SELECT DISTINCT vehicle FROM drover.machine_reading WHERE vehicle LIKE 'late%'") == [("late-mtg-29",)]
    reasons = query(env, "SELECT topic, reason, sum(records)::int FROM drover.rejected WHERE reason LIKE '%%older than what is kept%%' GROUP BY 1, 2 ORDER BY 1")
    # The topics also hold the recordings of the other tests, which are years old.
    assert [topic for topic, _, _ in reasons] == ["drover.cars", "drover.machines"] and all(count > 3 and "30 days" in reason for _, reason, count in reasons)
    assert query(env, "SELECT count(*) FROM drover.vehicle_minute WHERE minute_at < now() - interval '31 days'") == [(0,)]


@pytest.fixture(scope="module")
def plain(program, fixtures):
    """With nothing that the log does not have."""
    with recorded(program, fixtures) as world:
        world.clocks = query(world.filled, "SELECT clock_at, topic, partition FROM drover.partition_progress")
        ticked(world.filled)
        yield world


def test_a_replay_agrees_with_what_is_left(plain):
    """All is on the topics still: the replay has what was deleted, and the comparison begins where the rows are whole."""
    env = plain.filled
    gone = retention(plain, env, vehicle_minute=(NOW - datetime(2018, 2, 22, tzinfo=timezone.utc)).days, machine_reading=7)
    assert gone["vehicle_minute"]["rows_gone"] > 0 < gone["machine_reading"]["rows_gone"]
    plain.drover.done("replay", "--into", "again", env=env)
    # The clocks that were moved for retention are those of the log again.
    with connect(env) as connection:
        connection.cursor().executemany("UPDATE drover.partition_progress SET clock_at = %s WHERE (topic, partition) = (%s, %s)", plain.clocks)
    plain.drover.done("verify", "again", env=env)
    ticked(env)
    assert query(env, "SELECT count(*) FROM again.vehicle_minute")[0] > query(env, "SELECT count(*) FROM drover.vehicle_minute")[0]


def test_old_trips_are_still_shown_with_their_figures(plain):
    world, env = plain, plain.filled
    [[vehicle, start, km]] = query(env, "SELECT vehicle, start_at, distance_mm / 1e6 FROM drover.trip WHERE distance_mm > 0 ORDER BY start_at LIMIT 1")
    retention(world, env, vehicle_minute=1000)
    assert query(env, "SELECT count(*) FROM drover.vehicle_minute WHERE vehicle = %s", vehicle) == [(0,)]
    run = world.drover.run("trip", "export", vehicle, "--trip", start.strftime("%Y-%m-%dT%H:%M:%SZ"), "--format", "csv", env=env)
    assert run.code == 0 and len(run.out.splitlines()) == 1, run.err
    server = world.drover.start("serve", "--port", "0", env=as_served(env))
    visitor = Visitor(server.page_port)
    run = world.drover.run("account", "add", "root", "--mail", "root@example.org", "--role", "administrator", env=env)
    path = urllib.parse.urlsplit(run.out.strip())
    assert visitor.post("/password", link=token(f"{path.path}?{path.query}"), password=PASSWORD, again=PASSWORD).status == 200
    assert visitor.log_in("root@example.org").status == 303
    page = visitor.get(f"/trips?date={start:%Y-%m-%d}")
    assert page.status == 200 and vehicle in page.body and re.search(rf"\b{float(km):.1f}\b", page.body), page.body
    assert visitor.get(f"/vehicles/{vehicle}").status == 200
    server.stop()
