"""Trip rules are on the log: whichever worker makes a trip, and whenever, it makes the same one."""
import json
import re
from datetime import datetime, timezone

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from harness import HANG_S, until
from world import a_world, accept_stamps, producer, query

PARTITIONS = 4
MINUTE = 60_000
CARS = [f"car-{number}" for number in range(12)]
# Of the recordings' own time: no ticks of the present.
QUIET = {"ticks.roles": "notify"}


@pytest.fixture
def world(program):
    """A broker of its own: a set on the log is for all databases. Stamps are those of the senders, so that the day that a set
    waits for can pass at once."""
    with a_world(program) as world:
        config = {"retention.ms": "-1", "message.timestamp.type": "CreateTime", "message.timestamp.after.max.ms": str(2**63 - 1)}
        admin = AdminClient({"bootstrap.servers": world.brokers})
        admin.create_topics([NewTopic("drover.cars", PARTITIONS, 1, config=config)])["drover.cars"].result(HANG_S)
        yield world


def database(world):
    env = world.database()
    accept_stamps(env["DROVER_POSTGRES_URL"], ["drover.cars"], PARTITIONS)
    return env


def drive(world, minutes):
    """A reading of each car at these minutes of the epoch, and then an hour's silence."""
    sender = producer(world.brokers)
    for minute in minutes:
        for car in CARS:
            record = {"schema": 1, "kind": "reading", "id": f"{car}-{minute}", "vehicle": car, "ts": minute * MINUTE, "speed_kmh": 50, "rpm": 2000}
            sender.produce("drover.cars", key=car.encode(), value=json.dumps(record).encode(), timestamp=minute * MINUTE)
    end = (minutes[-1] + 61) * MINUTE
    for partition in range(PARTITIONS):
        tick = {"schema": 1, "kind": "tick", "ts": end, "by": "import.tests"}
        sender.produce("drover.cars", partition=partition, value=json.dumps(tick).encode(), timestamp=end)
    assert sender.flush(HANG_S) == 0


def trips(env):
    """Of each car: first and last minute."""
    rows = query(env, """
        SELECT vehicle, (extract(epoch FROM start_at) / 60)::bigint, (extract(epoch FROM end_at) / 60)::bigint FROM drover.trip
        ORDER BY vehicle, start_at""")
    return {car: [(first, last) for vehicle, first, last in rows if vehicle == car] for car in CARS}


def present(env):
    """Seconds of the epoch, by the database's clock."""
    return query(env, "SELECT extract(epoch FROM now())::bigint")[0][0]


def known(env):
    return query(env, "SELECT topic_partition, in_force_at, trip_gap_ms, record_offset FROM drover.trip_rules ORDER BY 1, 2")


def rules(world, env, *arguments):
    return world.drover.done("rules", "trips", *arguments, env=env).out


def test_the_log_says_how_trips_are_made_and_no_worker_does(world):
    env = database(world)
    assert rules(world, env) == "nothing is in force yet: the first worker of a partition begins with its settings' trips.*\n"
    first = world.worker(env, "first", **QUIET)
    # What it began with is on each log, to be seen.
    until(lambda: len([row for row in known(env) if row[3] is not None]) == PARTITIONS, first)
    second = world.worker(env, "second", **{**QUIET, "trips.trip_gap_min": 60})
    second.wait_for(r"partitions assigned.* count=[1-9]")
    now = present(env) // 60
    drive(world, [now - 100, now - 97, now - 90, now - 89])
    world.work_off(env)
    made = [(now - 100, now - 97), (now - 90, now - 89)]
    assert trips(env) == {car: made for car in CARS}

    other = ("--set", "trips.trip_gap_min=60")
    wanted = "trips.trip_gap_min is 60 in the settings and 5 on the log of partitions 0-3"
    assert wanted in rules(world, env, "--check", *other)
    assert "would change nothing" in rules(world, env, "--check")
    for command in ("check", "status"):
        run = world.drover.run(command, *other, env=env)
        assert run.code == 1 and wanted in run.out and "drover rules trips --publish" in run.out, run.out
    assert "trip rules in force: ok" in world.drover.run("check", env=env).out
    assert re.search(r"partitions 0-3 +the beginning +10 +5 ", rules(world, env), re.M)
    assert "nothing was published" in rules(world, env, "--publish")

    said = rules(world, env, "--publish", "--from", "2026-01-01T00:00:00Z", *other)
    assert "no set can be in force sooner than a day after it is pushed" in said
    assert f"put on {PARTITIONS} of {PARTITIONS} partitions of drover.cars" in said
    [at] = re.findall(r"trips that begin from (\S+) on", said)
    start = int(datetime.fromisoformat(at.replace("Z", "+00:00")).astimezone(timezone.utc).timestamp()) // 60
    assert start * 60 > present(env) + 86_400
    # Also before the workers have read it.
    assert "nothing was published" in rules(world, env, "--publish", *other)
    world.work_off(env)
    assert [row[2] for row in known(env)] == [300_000, 3_600_000] * PARTITIONS
    assert re.search(rf"{re.escape(at)} +10 +60 .* comes", rules(world, env))

    # Begun before it a trip ends after five minutes, also when that is after it.
    drive(world, [start - 20, start - 11, start - 7, start - 2, start + 3, start + 10, start + 50, start + 111])
    world.work_off(env)
    made += [(start - 20, start - 20), (start - 11, start + 3), (start + 10, start + 50), (start + 111, start + 111)]
    assert trips(env) == {car: made for car in CARS}
    assert (first.stop(), second.stop()) == (0, 0)
    # A late reading makes a trip that was of the set begin before it.
    drive(world, [start + 5])
    again = [world.worker(env, name, **{**QUIET, "trips.trip_gap_min": 1}) for name in ("first", "second")]
    world.work_off(env)
    made[3:5] = [(start - 11, start + 10), (start + 50, start + 50)]
    assert trips(env) == {car: made for car in CARS}
    assert [worker.stop() for worker in again] == [0, 0]

    assert world.replayed(env, "--set", "trips.trip_gap_min=7")["trip_rules"] == 2 * PARTITIONS
    # One worker alone, which reads it all at once.
    alone = database(world)
    worker = world.worker(alone, "alone", **QUIET)
    world.work_off(alone)
    assert trips(alone) == trips(env)
    assert worker.stop() == 0


def test_what_is_no_set_of_rules_is_refused_with_its_reason(world):
    env = database(world)
    worker = world.worker(env, "refuses", **QUIET)
    limits = {"gap_ms": 10_000, "trip_gap_ms": 300_000, "sharp_mm_per_s2": 3_000, "sharp_merge_ms": 1_000, "sharp_least_m_per_h": 0, "sharp_hold_ms": 0}
    world.push("drover.cars", *[{"schema": 1, "kind": "trip_rules", "ts": 1_800_000_000_000, "rules": {**limits, **changed}}
                                for changed in ({"gap_ms": 0}, {"trip_gap_ms": 59_999}, {"trip_gap_ms": 1.5}, {"gap_s": 10})], partition=0)
    world.work_off(env)
    reasons = [reason for reason, in query(env, "SELECT reason FROM drover.rejected ORDER BY record_offset")]
    until(lambda: len(known(env)) == PARTITIONS)
    assert reasons == [
        "`rules` are no trip rules: the hole limit is 0 ms, must be 1 s to 600 s",
        "`rules` are no trip rules: the trip gap is 59999 ms, must be 1 min to 100000 min",
        "`rules` are no trip rules: `trip_gap_ms` is missing or no whole number",
        "`rules` are no trip rules: they have a key that is none of " + ", ".join(limits)]
    assert worker.stop() == 0
