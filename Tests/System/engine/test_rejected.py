"""What could not be decoded is bounded, can be looked at, and comes in once it can be read."""
import json
import re
import socket
import threading
import time
from contextlib import suppress

import pytest
from brokers import make_topics
from harness import HANG_S, is_long, until
from test_relay import emptied, env, on_topics, relay  # noqa: F401 (a fixture)
from world import connect, producer, query

TS = 1_790_000_000_000


def reading(number, vehicle="car-1"):
    return ('{"schema":1,"kind":"reading","id":"a-%d","vehicle":"%s","ts":%d,"speed_kmh":50}' % (number, vehicle, TS + number * 1000)).encode()


def push(env, values, key=b"car-1", partition=None):
    pushing = producer(env["DROVER_KAFKA_BROKERS"])
    places = []
    for value in values:
        extra = {} if partition is None else {"partition": partition}
        pushing.produce("drover.cars", key=key, value=value, on_delivery=lambda error, m: places.append((m.partition(), m.offset())), **extra)
        pushing.poll(0)
    assert pushing.flush(HANG_S) == 0
    return places


def start(world, env, name, **settings):
    worker = world.assigned(env, name, **{"ticks.interval_s": 60, **settings})
    return worker


def rows(env, what="*"):
    return query(env, f"SELECT {what} FROM drover.rejected ORDER BY topic, partition, record_offset")


COLUMNS = "topic, partition, record_offset, last_offset, records, reason, first_bytes, pushed_at"


def test_a_burst_of_rubbish_fills_no_disk_and_restarts_change_nothing(world, env):
    """Half the records are rubbish; the rows are those of one undisturbed reading, whatever is killed."""
    calm, rough = env, env | {"DROVER_POSTGRES_URL": world.database()["DROVER_POSTGRES_URL"]}
    records, restarts = (20_000, 4) if is_long() else (9_000, 2)
    blocks = -(-records // 4_096)
    worker = start(world, calm, "calm")
    places = push(env, [b"rubbish %d" % n if n % 2 else reading(n) for n in range(records)])
    assert len({partition for partition, _ in places}) == 1
    world.tick(env["DROVER_KAFKA_BROKERS"])
    world.work_off(calm)
    assert worker.stop() == 0
    for restart in range(restarts):
        worker = start(world, rough, "rough", **{"kafka.batch_messages_max": 700, "work.commit_interval_ms": 5})
        until(lambda: world.written(rough) >= (restart + 1) * 3_500, worker)
        worker.kill()
    worker = start(world, rough, "rough")
    world.work_off(rough)
    assert worker.stop() == 0
    assert rows(rough, COLUMNS) == rows(calm, COLUMNS)
    singles = [row for row in rows(calm, "records, last_offset - record_offset")]
    # 65 rows a block of 4,096 offsets, and every record is in one of them.
    assert len(singles) == 65 * blocks and sum(row[0] for row in singles) == records // 2
    with connect(calm) as connection:
        assert connection.execute("SELECT sum(readings) FROM drover.trip").fetchone() == (records // 2,)
        told = connection.execute("SELECT count(*), count(DISTINCT record_id) FROM drover.outbox WHERE topic = 'drover.rejected'").fetchone()
        # The block that is still open is not told of yet.
        assert told == (65 * blocks - 1, 65 * blocks - 1)


def test_rejected_records_come_out_on_their_topic(world, env):
    worker, running = start(world, env, "out"), relay(world, env)
    [(partition, offset)] = push(env, [b"\xff\xfe rubbish"])
    world.work_off(env)
    emptied(env, running)
    [(topic, key, record_id, value)] = on_topics(env["DROVER_KAFKA_BROKERS"], ["drover.rejected"])
    assert record_id == f"drover.cars-{partition}-{offset}" and key == f"drover.cars-{partition}"
    assert value["kind"] == "rejected" and value["first_bytes_hex"].startswith("fffe20") and "not a JSON object" in value["reason"]
    assert value["pushed_ts"] > TS and (value["offset"], value["records"]) == (offset, 1)
    assert running.stop() == 0 and worker.stop() == 0


def test_list_show_and_retry(world, drover, env):
    worker = start(world, env, "list")
    # In a partition where the decoder finds the record's key to be another's: good as soon as it is read as a machine's
    # is not to be had here, so the decoder's change is played by the table: a good record is marked as rejected.
    [(partition, bad), (_, good)] = push(env, [b"\x00\x01rubbish", reading(1)])
    world.work_off(env)
    query(env, """INSERT INTO drover.rejected (topic, partition, record_offset, last_offset, reason, first_bytes, pushed_at)
        VALUES ('drover.cars', %s, %s, %s, 'a decoder of yesterday', '', now())""", partition, good, good)

    run = drover.run("rejected", "list", "--format", "json", env=env)
    listed = json.loads(run.out)
    assert run.code == 0 and [row["offset"] for row in listed] == [bad, good] and listed[0]["retried_at"] is None
    assert len(drover.run("rejected", "list", "--topic", "drover.machines", env=env).out.splitlines()) == 1
    assert json.loads(drover.run("rejected", "list", "--since", "2099-01-01T00:00:00Z", "--format", "json", env=env).out) == []

    run = drover.run("rejected", "show", "drover.cars", partition, bad, env=env)
    assert run.code == 0 and "value_hex: 000172756262697368" in run.out and "key: car-1" in run.out and "reason: not a JSON object" in run.out
    shown = json.loads(drover.run("rejected", "show", "drover.cars", partition, good, "--format", "json", env=env).out)
    assert shown["value"] == reading(1).decode() and shown["today"] == "can be decoded" and shown["reason"] == "a decoder of yesterday"

    drover.fails("rejected", "retry", "drover.cars", partition, bad, env=env, says="still cannot be decoded: not a JSON object")
    run = drover.run("rejected", "retry", "drover.cars", partition, good, env=env)
    assert run.code == 0 and "pushed again" in run.err
    assert [row[0] is not None for row in rows(env, "retried_at")] == [False, True]
    world.tick(env["DROVER_KAFKA_BROKERS"])
    world.work_off(env)
    # It was there already: sent twice is once.
    assert query(env, "SELECT readings FROM drover.trip") == [(1,)]
    assert drover.run("rejected", "retry", "drover.cars", partition, 99, env=env).code == 1
    assert worker.stop() == 0


def test_a_vehicle_in_two_partitions_is_rejected_in_the_wrong_one_and_retried_into_the_right(world, drover, env):
    """A producer with another partitioner must not make two owners of one vehicle: they would write each other's rows."""
    worker = start(world, env, "places")
    [(right, _)] = push(env, [reading(0)])
    wrong = (right + 3) % 8
    [(_, offset)] = push(env, [reading(1)], partition=wrong)
    push(env, [reading(2)])
    world.work_off(env)
    [row] = rows(env, "partition, record_offset, reason")
    assert row[:2] == (wrong, offset) and f"belongs to partition {right}" in row[2] and "murmur2_random" in row[2]
    run = drover.run("rejected", "retry", "--all", env=env)
    assert run.code == 0 and "1 records pushed again" in run.err, run.err
    world.tick(env["DROVER_KAFKA_BROKERS"])
    world.work_off(env)
    assert query(env, "SELECT readings FROM drover.trip") == [(3,)]
    assert len(rows(env)) == 1 and worker.stop() == 0


def test_what_a_campus_says_in_a_wrong_partition_is_retried_into_the_right(world, drover, env):
    """What is rejected of any topic is judged by that topic's own decoder."""
    worker = start(world, env, "campuses")
    said = {"schema": 1, "kind": "campus", "id": "c-1", "campus": "square", "ts": TS, "name": "The square",
            "boundary": "49,8.4 49.02,8.4 49.02,8.42 49,8.42"}
    sender = producer(env["DROVER_KAFKA_BROKERS"])

    def push_to(partition, **fields):
        sender.produce("drover.dispatch", key=b"square", value=json.dumps(said | fields).encode(), partition=partition)
        assert sender.flush(HANG_S) == 0
    for partition in range(8):
        push_to(partition)
    push_to(0, boundary="nowhere")
    world.work_off(env)
    reasons = [reason for _, reason in rows(env, "partition, reason")]
    assert len(reasons) == 8 and sum("belongs to partition" in reason for reason in reasons) == 7
    run = drover.run("rejected", "retry", "--all", "--topic", "drover.dispatch", env=env)
    # The one without a boundary is of no use in any partition.
    assert run.code == 1 and "7 records pushed again, acknowledged; 1 still cannot be decoded" in run.err, run.err
    world.work_off(env)
    assert query(env, "SELECT campus FROM drover.campus") == [("square",)]
    assert worker.stop() == 0


def test_retry_all_brings_in_what_can_be_read_by_now(world, drover, env):
    """A worker that knew less has counted good records as rejected: all of them come in."""
    # As Drover makes it: what a sender stamps is not read.
    make_topics(env["DROVER_KAFKA_BROKERS"], {"drover.cars": 8})
    [(partition, first), *rest] = push(env, [reading(n) for n in range(200)])
    offsets = [first] + [offset for _, offset in rest]
    with connect(env) as connection:
        for offset in offsets[:64]:
            connection.execute("""INSERT INTO drover.rejected (topic, partition, record_offset, last_offset, reason, first_bytes)
                VALUES ('drover.cars', %s, %s, %s, 'yesterday', '')""", (partition, offset, offset))
        connection.execute("""INSERT INTO drover.rejected (topic, partition, record_offset, last_offset, records, reason, first_bytes)
            VALUES ('drover.cars', %s, %s, %s, 136, 'yesterday', '')""", (partition, offsets[64], offsets[-1]))
        for index in range(8):
            connection.execute("INSERT INTO drover.partition_progress (topic, partition, next_offset, replay_offset) VALUES ('drover.cars', %s, %s, %s)",
                               (index, *[200 if index == partition else 0] * 2))
    run = drover.run("rejected", "retry", "--all", env=env)
    assert run.code == 0 and "200 records pushed again" in run.err, run.err
    assert all(row[0] is not None for row in rows(env, "retried_at"))
    assert "0 records pushed again" in drover.run("rejected", "retry", "--all", env=env).err
    worker = start(world, env, "late")
    world.tick(env["DROVER_KAFKA_BROKERS"])
    world.work_off(env)
    assert worker.stop() == 0
    assert query(env, "SELECT sum(readings) FROM drover.trip") == [(200,)]


@pytest.mark.parametrize("arguments, text", [
    ([], "say `list`"), (["show"], "show takes TOPIC PARTITION OFFSET"), (["show", "drover.cars", "x", "1"], "PARTITION x"),
    (["retry", "drover.cars", "1", "-1"], "OFFSET -1"), (["show", "cars", "1", "1"], "cars: is not a topic of readings; these are drover.cars"),
    (["retry"], "retry takes TOPIC PARTITION OFFSET"), (["list", "--since", "yesterday"], "--since yesterday: must be a time with its zone"),
    (["list", "x"], "say `list`"), (["retry", "--all", "drover.cars", "1", "1"], "say `list`"),
])
def test_wrong_use_says_how(drover, arguments, text):
    drover.fails("rejected", *arguments, says=text, code=2)


def test_ticks_reach_every_partition_again_and_again(world, env):
    worker = world.assigned(env, "ticking", **{"ticks.interval_s": 1})
    with connect(env) as connection:
        for _ in range(2):
            since = connection.execute("SELECT now()").fetchone()[0]
            ahead = lambda: connection.execute("SELECT count(*) FROM drover.partition_progress WHERE clock_at > %s", (since,)).fetchone()[0]
            until(lambda: ahead() >= 16, worker, ahead, about="ticks in 16 partitions")
    assert worker.stop() == 0


def test_a_tick_of_a_clock_that_runs_ahead_is_dropped_and_counted(world, env):
    worker = start(world, env, "sceptical", **{"ticks.roles": "notify"})
    at = lambda seconds: b'{"schema":1,"kind":"tick","ts":%d}' % ((time.time() + seconds) * 1000)
    [(partition, _)] = push(env, [at(90_000)], partition=3, key=None)
    worker.wait_for("ticks_ahead=1")
    push(env, [at(5)], partition=partition, key=None)
    world.work_off(env)
    [(clock,)] = query(env, "SELECT extract(epoch FROM clock_at) FROM drover.partition_progress WHERE topic = 'drover.cars' AND partition = 3")
    assert clock < time.time() + 60
    assert worker.stop() == 0


def test_ticks_without_a_broker_are_left_out_and_said_once(drover):
    """By one that hangs up on everybody. Each time another client tries, which comes four or five times in its second."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        came = []

        def hang_up():
            while True:
                try:
                    caller, _ = server.accept()
                except OSError:
                    return
                with caller, suppress(OSError):  # It may hang up first.
                    caller.settimeout(HANG_S)
                    came.append(b"drover-ticks" in caller.recv(1_000))

        threading.Thread(target=hang_up, daemon=True).start()
        port = server.getsockname()[1]
        run = drover.start("work", "--set", "ticks.interval_s=1", env={"DROVER_KAFKA_BROKERS": f"127.0.0.1:{port}", "DROVER_POSTGRES_URL": "host=127.0.0.1 port=1"})
        run.wait_for("ticks cannot be sent")
        before = sum(came)
        until(lambda: sum(came) >= before + 8, run, about="further ticks that are tried")
        assert len(re.findall("ticks cannot be sent", run.output())) == 1
        assert run.stop() == 0
        server.shutdown(socket.SHUT_RDWR)


def test_a_role_that_is_no_role_is_said(drover):
    drover.fails("work", "--set", "ticks.roles=everybody", says="ticks.roles: `everybody` is not one of work, serve, notify")
