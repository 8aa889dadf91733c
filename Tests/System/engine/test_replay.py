"""The results again from the topics alone, beside a worker that goes on, and compared with the live ones."""
import json
import re
import threading
import time

import psycopg
import pytest
from harness import HANG_S, until
from test_uploads import now
from world import connect, producer, query


@pytest.fixture(scope="module")
def filled(world, fixtures):
    env = world.database()
    world.import_recordings(env, fixtures)
    worker = world.worker(env, "replay")
    world.work_off(env)
    yield env
    assert worker.stop() == 0


def verify(world, env, schema):
    run = world.drover.run("verify", schema, "--format", "json", env=env)
    return run, {row["table"]: row for row in json.loads(run.out)["compared"]} if run.out else {}


def stream(brokers, is_over):
    """Two cars that drive on and a machine that is hot every other minute, some readings late, until it is over."""
    sender, number = producer(brokers), 0
    while not is_over.is_set():
        number += 1
        ts = now() - 86_400_000 + number * 20_000
        late = ts - 300_000 if number % 7 == 0 else ts
        cars = [{"schema": 1, "kind": "reading", "id": f"on-{car}-{number}", "vehicle": f"on-{car}", "ts": late, "speed_kmh": 50 + number % 9, "rpm": 2000} for car in "ab"]
        machine = {"schema": 1, "kind": "reading", "id": f"on-{number}", "vehicle": "on-machine", "ts": late, "model": "8R Tractor",
                   "coolant_c": 130 if number // 3 % 2 else 70, "gps_available": True}
        for topic, record in [("drover.cars", cars[0]), ("drover.cars", cars[1]), ("drover.machines", machine)]:
            sender.produce(topic, key=record["vehicle"].encode(), value=json.dumps(record).encode())
        sender.produce("drover.cars", key=b"on-a", value=b"rubbish")
        assert sender.flush(HANG_S) == 0
        is_over.wait(0.01)


def test_a_replay_equals_the_live_tables_while_the_worker_goes_on(world, filled):
    run = world.drover.done("replay", "--into", "again", env=filled)
    assert "a second" in run.err and "drover verify again" in run.err
    # Ticks come meanwhile: the live tables have gone on, and the replay is brought to the same offsets.
    run, tables = verify(world, filled, "again")
    assert run.code == 0, run.err
    assert all(row["equal"] for row in tables.values())
    assert tables["vehicle_minute"]["rows"] > 200 and tables["alert"]["rows"] >= 12 and tables["partition_progress"]["rows"] >= 5
    # No relay runs here: all that was told is there, and the replay would tell the same.
    assert tables["outbox"]["rows"] >= 12 and tables["notice_event"]["rows"] >= 12


def test_records_that_come_while_it_is_compared_are_no_difference(world, filled):
    world.drover.done("replay", "--into", "beside", env=filled)
    is_over = threading.Event()
    sending = threading.Thread(target=stream, args=(world.brokers, is_over))
    sending.start()
    try:
        seen = []
        for _ in range(3):
            run, tables = verify(world, filled, "beside")
            assert run.code == 0, run.err
            seen.append(sum(row["rows"] for row in tables.values()))
        assert seen[0] < seen[1] < seen[2], "nothing came meanwhile"
        assert tables["rejected"]["rows"] > 0
    finally:
        is_over.set()
        sending.join()
    world.work_off(filled)
    run, tables = verify(world, filled, "beside")
    assert run.code == 0, run.err


def test_what_is_not_compared_is_named_with_its_reason(world, filled):
    world.drover.done("replay", "--into", "said", env=filled)
    run = world.drover.done("verify", "said", env=filled)
    _, partly, wholly = run.out.split("Not compared")
    assert "trip: revision, revised_at: late readings" in partly and "outbox: what a relay has taken" in partly
    assert "account, account_device, account_identity" in wholly and all(": " in line for line in wholly.strip().splitlines()[1:])
    names = {name for name, in query(filled, "SELECT relname FROM pg_class WHERE relnamespace = 'drover'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition")}
    assert not {name for name in names if not re.search(rf"\b{name}\b", run.out)}
    assert "drover verify replay_1" in world.drover.run("verify", "--help").out


def test_a_replay_tells_nobody(world, filled):
    with connect(filled) as connection:
        told = connection.execute("SELECT count(*) FROM drover.outbox").fetchone()
        world.drover.done("replay", "--into", "silent", env=filled)
        assert connection.execute("SELECT count(*) FROM drover.outbox").fetchone() == told
        # It keeps for itself what it would tell.
        assert connection.execute("SELECT count(*) FROM silent.outbox").fetchone() >= told


def test_the_first_difference_is_shown(world, filled):
    world.drover.done("replay", "--into", "changed", env=filled)
    with connect(filled) as connection:
        car, start, distance = connection.execute("SELECT vehicle, start_at, distance_mm FROM changed.trip ORDER BY vehicle, start_at LIMIT 1").fetchone()
        connection.execute("UPDATE changed.trip SET distance_mm = distance_mm + 1 WHERE (vehicle, start_at) = (%s, %s)", [car, start])
        connection.execute("DELETE FROM changed.alert WHERE alert_id = (SELECT min(alert_id) FROM changed.alert)")
        connection.execute("UPDATE changed.partition_progress SET clock_at = clock_at + interval '1 day', replay_clock_at = replay_clock_at + interval '1 day' WHERE topic = 'drover.tours'")
        connection.execute("UPDATE changed.outbox SET record = replace(record, 'opened', 'closed') WHERE record_id = (SELECT min(record_id) FROM changed.outbox WHERE record ~ 'opened')")
        connection.execute("DELETE FROM changed.notice_event WHERE event_id = (SELECT min(event_id) FROM changed.notice_event)")
    run, tables = verify(world, filled, "changed")
    assert run.code == 1
    assert [name for name, row in tables.items() if not row["equal"]] == ["partition_progress", "trip", "alert", "outbox", "notice_event"]
    [trip], [record] = tables["trip"]["differences"], tables["outbox"]["differences"]
    assert (trip["key"]["vehicle"], trip["column"], trip["live"], trip["replayed"]) == (car, "distance_mm", str(distance), str(distance + 1))
    assert record["column"] == "record" and "opened" in record["live"] and "closed" in record["replayed"]
    assert "has no such row" in tables["alert"]["differences"][0]["text"] and "clock_at is" in tables["partition_progress"]["differences"][0]["text"]
    world.drover.fails("verify", "changed", env=filled, says=f"distance_mm is {distance}, replayed {distance + 1}")


def test_a_replay_that_an_earlier_version_began_is_refused(world, filled):
    world.drover.done("replay", "--into", "old", env=filled)
    query(filled, "DROP TABLE old.outbox")
    for command in (("verify", "old"), ("replay", "--into", "old")):
        run = world.drover.run(*command, env=filled)
        assert run.code == 1
        assert "lacks the table outbox" in run.err and "DROP SCHEMA old CASCADE" in run.err and "drover replay --into old" in run.err


def test_the_rights_of_a_worker_suffice(world, filled):
    """A login of its own: roles belong to the whole server, which other stories share."""
    login = f"replays_{time.monotonic_ns()}"
    with connect(filled) as connection:
        connection.execute(f"CREATE ROLE {login} LOGIN IN ROLE drover_writer")
        database = connection.info.dbname
    conninfo = psycopg.conninfo.make_conninfo(filled["DROVER_POSTGRES_URL"], user=login, dbname=database)
    env = {**filled, "DROVER_POSTGRES_URL": conninfo, "DROVER_POSTGRES_OWNER_URL": filled["DROVER_POSTGRES_URL"]}
    world.drover.done("replay", "--into", "by_login", env=env)
    run, tables = verify(world, env, "by_login")
    assert run.code == 0 and tables["outbox"]["rows"] >= 12, run.err


def test_a_replay_that_was_killed_goes_on(world, filled):
    started = world.drover.start("replay", "--into", "killed", "--set", "kafka.batch_messages_max=50", "--set",
                                 "work.commit_interval_ms=1", "--set", "work.lanes=1", env=filled)
    with connect(filled) as connection:
        def has_begun():
            return (connection.execute("SELECT to_regclass('killed.partition_progress')").fetchone()[0]
                    and connection.execute("SELECT coalesce(sum(next_offset), 0) FROM killed.partition_progress").fetchone()[0] > 0)

        until(lambda: started.process.poll() is not None or has_begun(), started.output)
    started.kill()
    run, tables = verify(world, filled, "killed")
    assert run.code == 0, run.err
    assert all(row["equal"] for row in tables.values())


def test_a_replay_from_a_time_begins_there(world, filled):
    world.drover.done("replay", "--into", "later", "--from", "2099-01-01T00:00:00Z", env=filled)
    assert query(filled, "SELECT count(*) FROM later.vehicle_minute")[0][0] == 0


@pytest.mark.parametrize("name, reason", [("drover", "choose another name"), ("Robert'); DROP", "letters a-z"), ("public", "choose another name")])
def test_names_that_are_refused(world, filled, name, reason):
    world.drover.fails("replay", "--into", name, env=filled, says=reason)


def test_what_was_never_replayed_cannot_be_verified(world, filled):
    world.drover.fails("verify", "nothing_here", env=filled, says="drover replay --into nothing_here")
