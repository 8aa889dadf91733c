"""What decides which results a record has is on the log or beside the offset, and a worker that finds it otherwise refuses: the number of
a topic's partitions, the topic itself, whose clock stamps its records, and the clock that ticks make."""
import json
import signal
import time

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic, ResourceType
from harness import HANG_S, ROOT, free_port, freeze, lent, until
from kafka import Kafka, missing
from test_health import Probed
from test_uploads import now
from world import dump, producer, query

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

NOW = now() // 1000 * 1000
COUNTED, SENDERS = "the topic has 4 partitions, and had 2 when it was first read", "a sender's time stamp"


@pytest.fixture(scope="module")
def kafka(tmp_path_factory):
    yield from lent(Kafka(tmp_path_factory.mktemp("kafka")))


@pytest.fixture
def admin(kafka):
    return AdminClient({"bootstrap.servers": kafka.brokers, "log_level": 2})


@pytest.fixture
def env(world, kafka):
    kafka.prepare({"drover.cars": 2, "drover.machines": 1, "drover.dispatch": 1, "drover.sightings": 1, "drover.tours": 1,
                   "drover.alerts": 1, "drover.assignments": 1, "drover.rejected": 1})
    return world.database() | {"DROVER_KAFKA_BROKERS": kafka.brokers}


def drive(car, minutes, start=NOW - 7_200_000):
    """A reading a minute."""
    return [{"schema": 1, "kind": "reading", "id": f"{car}-{n}", "vehicle": car, "ts": start + n * 60_000, "speed_kmh": 50, "rpm": 2000} for n in minutes]


def send(env, topic, record, **place):
    sender, refused = producer(env["DROVER_KAFKA_BROKERS"]), []
    for each in record if isinstance(record, list) else [record]:
        where = place or {"key": each["vehicle"].encode()}
        sender.produce(topic, value=json.dumps(each).encode(), on_delivery=lambda error, _: error and refused.append(str(error)), **where)
    assert sender.flush(HANG_S) == 0 and not refused, refused


def push(env, records, topic="drover.cars"):
    send(env, topic, records)


def start(world, env, **settings):
    """A worker that sends no ticks, and the door where it says whether it is ready."""
    port = free_port()
    worker = world.worker(env, "decides", **{"ticks.roles": "notify", "metrics.port": port, **settings})
    return worker, Probed(worker, port)


def said(world, env, what, wanted):
    """`drover check` and `drover status` say it, and that something is to be done."""
    check = world.drover.run("check", env=env)
    assert check.code == 1 and wanted in check.out, check.out
    status = world.drover.run("status", "--format", "json", env=env)
    [line] = [line for line in json.loads(status.out) if line["what"] == "what decides"]
    assert status.code == 1 and wanted in line["what_to_do"], status.out
    return check.out


def make_anew(admin, topic, partitions):
    admin.delete_topics([topic])[topic].result(HANG_S)
    until(lambda: topic not in admin.list_topics(timeout=HANG_S).topics)
    config = {"message.timestamp.type": "LogAppendTime", "retention.ms": "-1"}
    until(lambda: not admin.create_topics([NewTopic(topic, partitions, 1, config=config)])[topic].exception(HANG_S))


def test_partitions_that_are_added_to_a_live_topic_are_not_read(world, env, admin):
    cars = [f"car-{n}" for n in range(8)]
    push(env, [reading for car in cars for reading in drive(car, range(10))])
    world.tick(env["DROVER_KAFKA_BROKERS"])
    worker, probed = start(world, env)
    world.work_off(env)
    probed.until("/readyz", 200)
    assert set(query(env, "SELECT DISTINCT topic, partition_count FROM drover.partition_progress WHERE topic = 'drover.cars'")) == {("drover.cars", 2)}
    before, stored = dump(env), query(env, "SELECT topic, partition, next_offset FROM drover.partition_progress WHERE topic = 'drover.cars' ORDER BY 2")
    admin.create_partitions([NewPartitions("drover.cars", 4)])["drover.cars"].result(HANG_S)
    worker.wait_for(COUNTED)
    # Senders go by the new number: some of these cars are in another partition now.
    until(lambda: len(admin.list_topics("drover.cars", timeout=HANG_S).topics["drover.cars"].partitions) == 4)
    push(env, [reading for car in cars for reading in drive(car, range(10, 20))])
    refused = until(lambda: (why := probed.ill().get("partitions", "")) and COUNTED in why and why, worker)
    assert "drover.cars" in refused
    assert "with 2 partitions" in said(world, env, "topics", COUNTED)
    # Who takes over refuses, too, and nothing is reset.
    assert worker.stop() == 0
    worker, probed = start(world, env)
    worker.wait_for(COUNTED)
    until(lambda: COUNTED in probed.ill().get("partitions", ""), worker)
    shown = world.drover.run("offsets", "show", env=env).out
    assert shown.count("recounted: ") == 4, shown
    world.drover.fails("offsets", "reset", env=env, says="with 2 partitions")
    world.drover.fails("replay", "--into", "grown", env=env, says=COUNTED)
    assert query(env, "SELECT topic, partition, next_offset FROM drover.partition_progress WHERE topic = 'drover.cars' ORDER BY 2") == stored
    assert dump(env) == before
    assert worker.stop() == 0
    # Made again as it was, and all of it handed in again.
    make_anew(admin, "drover.cars", 2)
    push(env, [reading for car in cars for reading in drive(car, range(15, 20))])
    world.drover.done("offsets", "reset", env=env)
    push(env, [reading for car in cars for reading in drive(car, range(10, 15))])
    worker, _ = start(world, env)
    world.tick(env["DROVER_KAFKA_BROKERS"])
    world.work_off(env)
    assert worker.stop() == 0
    counted = query(env, "SELECT vehicle, sum(readings) FROM drover.vehicle_minute GROUP BY 1")
    assert sorted(counted) == [(car, 20) for car in cars]
    assert query(env, "SELECT count(*), sum(readings) FROM drover.trip") == [(8, 160)]


def stamped_by(admin, topic, kind):
    """Brokers before Kafka 4 take stamps of any time."""
    entries = [ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
               for name, value in (("message.timestamp.type", kind), ("message.timestamp.after.max.ms", str(2**63 - 1)))]
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    admin.incremental_alter_configs([resource])[resource].result(HANG_S)


def heard(machine, ts, due):
    """It called in last so long ago that there is an alert when the clock has passed `due`."""
    return {"schema": 1, "kind": "reading", "id": f"{machine}-{ts}", "vehicle": machine, "ts": ts, "model": "8R Tractor", "coolant_c": 80,
            "gps_available": True, "last_cell_call_in_ts": due - 5 * 86_400_000}


def judged(world, env):
    """From here on there are rules, before the first reading."""
    world.drover.done("rules", "publish", ROOT / "Deploy" / "thresholds", env=env)


def tick(env, ts, by=None, topic="drover.machines", partition=0, **stamp):
    send(env, topic, {"schema": 1, "kind": "tick", "ts": ts, **({"by": by} if by else {})}, partition=partition, **stamp)


def alerts(env, since=0):
    """Those that are open, of a time."""
    return query(env, "SELECT vehicle, parameter, opened_at FROM drover.alert WHERE state = 'open' AND opened_at >= to_timestamp(%s / 1000.0) ORDER BY 1, 2", since)


def clock(env, topic="drover.machines"):
    return query(env, "SELECT (extract(epoch FROM clock_at) * 1000)::bigint FROM drover.partition_progress WHERE topic = %s AND partition = 0", topic)[0][0]


def replayed(world, env, name):
    world.replayed(env, into=name)
    return query(env, f"SELECT topic, partition, clock_at, clock_waits FROM {name}.partition_progress ORDER BY 1, 2")


def test_a_topic_whose_senders_stamp_its_records_is_not_read(world, env, admin):
    """One tick of the year 2096, with a stamp of 2096: nothing else would tell that it is wrong."""
    far = 3_990_000_000_000
    machines = [f"m-{n}" for n in range(3)]
    judged(world, env)
    push(env, [heard(machine, NOW - 3_600_000, NOW - 1_800_000) for machine in machines], "drover.machines")
    tick(env, NOW - 1_000, "work-1")
    worker, probed = start(world, env)
    world.work_off(env)
    opened = until(lambda: alerts(env))
    stamped_by(admin, "drover.machines", "CreateTime")
    tick(env, far, "gate-2", timestamp=far)
    worker.wait_for(SENDERS)
    assert "LogAppendTime" in said(world, env, "topics", "drover.machines: its records are stamped by their senders")
    until(lambda: SENDERS in probed.ill().get("partitions", ""), worker)
    assert clock(env) == NOW - 1_000 and alerts(env) == opened
    world.drover.fails("offsets", "accept", "drover.machines", env=env, says="LogAppendTime")
    # Its other records count when the topic is as it should be, and a person has said so of what is on it.
    stamped_by(admin, "drover.machines", "LogAppendTime")
    push(env, [heard(machines[0], NOW, NOW + 86_400_000)], "drover.machines")
    accepted = world.drover.run("offsets", "accept", "drover.machines", env=env)
    assert accepted.code == 0 and "before offset" in accepted.err, accepted.err
    assert worker.stop() == 0
    worker, probed = start(world, env)
    world.work_off(env)
    probed.until("/readyz", 200)
    # The tick of 2096 waits, and nobody agrees.
    assert clock(env) == NOW - 1_000
    assert {vehicle for vehicle, _, _ in alerts(env)} == set(machines[1:])
    assert worker.stop() == 0
    replayed(world, env, "stamped")


def test_one_wrong_clock_moves_no_partition(world, env):
    """Its stamp is no further than the broker's: the partition's clock stood still, as after an outage."""
    old = NOW - 2 * 86_400_000
    machines = [f"m-{n}" for n in range(3)]
    judged(world, env)
    push(env, [heard(machine, old - 60_000, old + 3_600_000) for machine in machines], "drover.machines")
    tick(env, old, "work-1")
    worker, _ = start(world, env)
    world.work_off(env)
    tick(env, NOW, "gate-2")
    world.work_off(env)
    assert clock(env) == old and alerts(env) == []
    shown = [each for each in json.loads(world.drover.run("clock", "show", "--format", "json", env=env).out) if each["topic"] == "drover.machines"]
    assert shown[0]["by"] == "gate-2" and shown[0]["waits"] > shown[0]["clock"], shown
    # Whoever takes over knows what waits, and a replay too. Another says that time goes on as before.
    assert worker.kill() is None
    worker, _ = start(world, env)
    tick(env, old + 5_000, "work-1")
    world.work_off(env)
    assert clock(env) == old + 5_000
    assert "gate-2" not in world.drover.run("clock", "show", env=env).out
    tick(env, NOW, "gate-2")
    world.work_off(env)
    live = query(env, "SELECT topic, partition, clock_at, clock_waits FROM drover.partition_progress ORDER BY 1, 2")
    assert replayed(world, env, "waits") == live
    assert worker.stop() == 0
    worker, _ = start(world, env)
    # Now another agrees: it was an outage.
    tick(env, NOW + 1_000, "work-1")
    world.work_off(env)
    assert clock(env) == NOW + 1_000
    assert {vehicle for vehicle, _, _ in alerts(env)} == set(machines)
    assert worker.stop() == 0
    replayed(world, env, "outage")


def test_a_clock_that_was_moved_wrongly_is_set_back_by_a_person(world, env):
    was = NOW - 7_200_000
    judged(world, env)
    push(env, [heard("m-1", was - 60_000, was + 1_800_000)], "drover.machines")
    push(env, drive("car-1", range(3), start=was - 150_000))
    tick(env, was, "work-1")
    for number in range(2):
        tick(env, was, "work-1", "drover.cars", number)
    worker, _ = start(world, env)
    world.work_off(env)
    open_trips = lambda: query(env, "SELECT vehicle, is_open FROM drover.trip")
    [(partition,)] = query(env, "SELECT topic_partition FROM drover.vehicle WHERE kind = 'car'")

    def move(ts):
        for by in ("a", "b"):
            tick(env, ts, by)
            tick(env, ts, by, "drover.cars", partition)
        world.work_off(env)

    move(was + 3_600_000)
    assert alerts(env) and open_trips() == [("car-1", False)]
    # Whoever takes over has in memory only what still waits for a time.
    assert worker.stop() == 0
    worker, _ = start(world, env)
    to = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(was // 1000))
    for arguments, text in ((["--to", to], "--reason"), (["--to", to, "--reason", "x", "--partition", "99"], "no worker has read it"),
                            (["--to", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NOW // 1000)), "--reason", "x"], "set back only")):
        run = world.drover.run("clock", "set-back", "--topic", "drover.machines", "--partition", "0", *arguments, env=env)
        assert run.code != 0 and text in run.err, run.err
    for topic, number in (("drover.machines", 0), ("drover.cars", partition)):
        run = world.drover.run("clock", "set-back", "--topic", topic, "--partition", str(number), "--to", to, "--reason", "the clock of gate-2", "--by", "ann", env=env)
        assert run.code == 0 and "done" in run.err, run.err
    world.work_off(env)
    # With the tick at which the silence is judged again.
    assert clock(env) == was + 1 and alerts(env) == [] and open_trips() == [("car-1", True)]
    # Time goes on, the trip and the silence with it; a replay does the same.
    push(env, [heard("m-1", was + 120_000, was + 86_400_000)], "drover.machines")
    push(env, drive("car-1", [3], start=was - 150_000))
    move(was + 240_000)
    assert alerts(env) == [] and query(env, "SELECT count(*), sum(readings) FROM drover.trip") == [(1, 4)]
    assert worker.stop() == 0
    replayed(world, env, "put_back")


def test_a_log_that_is_replaced_under_a_running_worker_is_found(world, env, admin):
    """It stands still while the topic is made anew with more records than it had: nothing is out of range when it goes on."""
    cars = [f"car-{n}" for n in range(8)]
    push(env, [reading for car in cars for reading in drive(car, range(5))])
    worker, probed = start(world, env, **{"kafka.session_timeout_ms": 120_000})
    world.work_off(env)
    freeze(worker)
    make_anew(admin, "drover.cars", 2)
    push(env, [reading for car in cars for reading in drive(car, range(20, 40))])
    worker.process.send_signal(signal.SIGCONT)
    found = worker.wait_for("partition=0 .*(its end was lost and written anew|it was deleted and made anew)")
    until(lambda: "made anew" in (why := probed.ill().get("partitions", "")) or "written anew" in why, worker, about=found.group(0))
    # Who takes over finds it so, too, though what was read meanwhile is of the new log.
    shown = lambda: world.drover.run("offsets", "show", env=env).out  # noqa: E731
    until(lambda: shown().count("drover offsets reset") == 2, worker, shown)
    assert worker.stop() == 0
    worker, probed = start(world, env)
    worker.wait_for("written anew|made anew")
    assert worker.stop() == 0
