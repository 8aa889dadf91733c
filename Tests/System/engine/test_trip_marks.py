"""Drivers' own starts and stops: the same trips in whatever order marks and readings come, after kills and a replay too."""
import json
import random
import time

import pytest
from brokers import make_topics
from harness import HANG_S, is_long, until
from world import a_world, connect, dump, producer, query

BASE = 1_767_225_600_000
# Seconds of readings, of starts and of stops.
READINGS = [*range(0, 400), *range(420, 900, 2), *range(2_000, 2_300)]
STARTS, STOPS = [150, 430], [415, 2_100]
# By hand: 0 to 149 | start at 150, stop at 415 | 420 to 428 | start at 430 … | gap | 2,000, stop at 2,100 | the rest.
TRIPS = [(0, 149), (150, 399), (420, 428), (430, 898), (2_000, 2_100), (2_101, 2_299)]


def records():
    for second in READINGS:
        ts = BASE + second * 1_000
        yield {"schema": 1, "kind": "reading", "id": f"r-{ts}", "vehicle": "car-1", "ts": ts, "speed_kmh": 36, "rpm": 1_500,
               "maf_gps": 7}
    for kind, seconds in (("trip_start", STARTS), ("trip_stop", STOPS)):
        for second in seconds:
            yield {"schema": 1, "kind": kind, "id": f"{kind}-{second}", "vehicle": "car-1", "ts": BASE + second * 1_000,
                   "by": "driver"}


def push(world, records):
    """In bursts, so that commits fall anywhere."""
    sender = producer(world.brokers)
    for number, record in enumerate(records):
        sender.produce("drover.cars", key=record["vehicle"].encode(), value=json.dumps(record).encode())
        if number % 97 == 0:
            assert sender.flush(HANG_S) == 0
    assert sender.flush(HANG_S) == 0


def trips(env):
    with connect(env) as connection:
        return [(round(start), round(end)) for start, end in connection.execute(
            "SELECT extract(epoch FROM start_at) - %s, extract(epoch FROM end_at) - %s FROM drover.trip ORDER BY start_at",
            [BASE // 1_000, BASE // 1_000]).fetchall()]


def checked(env):
    """A trip is the sum of its stretches; each stretch holds readings of its own trip only."""
    sums = "sum(readings), sum(distance_mm), sum(integrated_ms), sum(burnt_air_mg), sum(air_ms)"
    by_stretch = query(env, f"SELECT trip_start_at, {sums} FROM drover.vehicle_minute GROUP BY 1 ORDER BY 1")
    by_trip = query(env, f"SELECT start_at, {sums} FROM drover.trip GROUP BY 1 ORDER BY 1")
    assert by_stretch == by_trip
    assert query(env, "SELECT sum(readings) FROM drover.vehicle_day")[0][0] == len(READINGS)
    keys = {round(at.timestamp() * 1_000) - BASE for at, in query(env, "SELECT minute_at FROM drover.vehicle_minute")}
    # The stop at 415 s is the last of its minute: the next stretch begins with a minute.
    assert {key for key in keys if key % 60_000} == {150_000, 430_000, 2_100_001}
    return dump(env)


@pytest.fixture(scope="module")
def told(world):
    """One worker, everything in order; then the topic is there for all."""
    env = world.database()
    make_topics(world.brokers, {"drover.cars": 8})  # What a broker makes by itself is stamped by senders.
    ordered = sorted(records(), key=lambda record: (record["ts"], record["kind"]))
    push(world, ordered)
    worker = world.worker(env, "ordered")
    world.work_off(env)
    world.finish(env)
    assert worker.stop() == 0
    assert trips(env) == TRIPS
    return checked(env)


def test_marks_cut_the_drive(told):
    assert len(told["trip_mark"]) == 4


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long(reason="another order"))])
def test_any_order_repeats_and_kills_give_the_same_rows(program, told, seed):
    """A broker of its own: another log. Kills of all sorts: test_torture.py."""
    chance, quick = random.Random(seed), {"work.commit_interval_ms": 5}
    with a_world(program) as world:
        env = world.database()
        shuffled = list(records())
        shuffled += chance.sample(shuffled, 300)
        chance.shuffle(shuffled)
        worker = world.assigned(env, "shuffled", **quick)
        for part in range(4):
            before = world.written(env)
            push(world, shuffled[part::4])
            until(lambda: world.written(env) > before, worker)
            if is_long() or part == 1:
                worker.kill()
                worker = world.worker(env, "shuffled", **quick)
        world.work_off(env)
        world.finish(env)
        assert worker.stop() == 0
        assert trips(env) == TRIPS
        rows = checked(env)
        for table in ("vehicle_minute", "trip", "vehicle_day", "trip_mark"):
            assert rows[table] == told[table], table
        world.replayed(env)


def test_a_stop_ends_the_trip_before_the_gap_has_passed(world, env):
    worker = world.assigned(env, "stop")
    now = int(time.time() * 1_000)
    sent = [{"schema": 1, "kind": "reading", "id": f"r-{ago}", "vehicle": "car-2", "ts": now - ago * 1_000, "speed_kmh": 36} for ago in (20, 10)]
    push(world, [*sent, {"schema": 1, "kind": "trip_stop", "id": "stop", "vehicle": "car-2", "ts": now - 5_000, "by": "driver"}])

    def ended():
        return query(env, "SELECT is_open, readings, distance_mm FROM drover.trip WHERE vehicle = 'car-2'") == [(False, 2, 100_000)]

    until(ended, worker)
    assert worker.stop() == 0
