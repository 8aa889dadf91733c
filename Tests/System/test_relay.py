"""The outbox reaches its topics: at least once, each key in order, whatever is killed or away meanwhile."""
import json
import os
import random
import re
import signal
import subprocess
import threading
import time

import psycopg
import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from harness import HANG_S
from world import World, connect

TOPICS = ["drover.alerts", "drover.assignments"]


@pytest.fixture
def world(drover, data):
    return World(drover, drover.servers(data))


def fill(env, ids, keys=40, topics=TOPICS, in_one=50):
    """Rows with ascending numbers, in transactions of `in_one`; the key decides the topic."""
    with psycopg.connect(env["DROVER_POSTGRES_URL"]) as connection:
        for at in range(0, len(ids), in_one):
            connection.cursor().executemany(
                "INSERT INTO drover.outbox (topic, key, record_id, record) VALUES (%s, %s, %s, %s)",
                [(topics[n % keys % len(topics)], f"car-{n % keys}", f"r-{n}", '{"id":"r-%d","n":%d}' % (n, n)) for n in ids[at:at + in_one]])
            connection.commit()


def waiting(env):
    with connect(env) as connection:
        return connection.execute("SELECT count(*) FROM drover.outbox").fetchone()[0]


def emptied(env, relay=None, seconds=60):
    deadline = time.monotonic() + seconds
    while left := waiting(env):
        assert time.monotonic() < deadline, f"{left} rows wait\n{relay and relay.output()}"
        time.sleep(0.02)


def on_topics(brokers, topics=TOPICS):
    """All records, by topic and partition in the order of the log: key, id header, value."""
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": f"look-{time.monotonic_ns()}", "enable.auto.commit": False,
                         "enable.partition.eof": True, "receive.message.max.bytes": 1_000_000_000})
    known = consumer.list_topics(timeout=HANG_S).topics
    places = [TopicPartition(topic, p, 0) for topic in topics for p in known[topic].partitions] if set(topics) <= set(known) else []
    open_places = {(place.topic, place.partition) for place in places
                   if consumer.get_watermark_offsets(place, timeout=HANG_S)[1] > 0}
    consumer.assign(places)
    records, deadline = [], time.monotonic() + 60
    while open_places:
        assert time.monotonic() < deadline, open_places
        message = consumer.poll(1)
        if message is None:
            continue
        if message.error():
            open_places.discard((message.topic(), message.partition()))
            continue
        records.append((message.topic(), message.key().decode(), dict(message.headers() or [])["id"].decode(), json.loads(message.value())))
    consumer.close()
    return records


def check(records, ids, keys=40):
    """Every id is there; without repeats each key's numbers ascend; header and JSON name the same id."""
    seen, last = set(), {}
    for topic, key, record_id, value in records:
        assert value["id"] == record_id and key == f"car-{value['n'] % keys}" and topic == TOPICS[value["n"] % keys % 2]
        if record_id in seen:
            continue
        seen.add(record_id)
        assert value["n"] > last.get(key, -1), f"{key}: {value['n']} after {last[key]}"
        last[key] = value["n"]
    assert seen == {f"r-{n}" for n in ids}
    return len(records) - len(seen)


def relay(world, env, **settings):
    arguments = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    return world.drover.start("notify", *arguments, env=env)


def test_kill_9_ten_times_loses_nothing_and_keeps_each_keys_order(world, data):
    env = world.database()
    broker, _ = broker_of(data)
    ids = list(range(5_000))
    chance = random.Random(7)
    fill(env, ids[:500])
    for kill in range(10):
        running = relay(world, env)
        running.wait_for("relay active")
        if kill % 2:
            # The broker is held while requests are on their way: it takes them after the relay is dead, so that their
            # rows are on the topic and in the outbox.
            emptied(env, running)
            os.kill(broker, signal.SIGSTOP)
        # Many small transactions, and the kill somewhere among them.
        filling = threading.Thread(target=fill, args=(env, ids[500 + kill * 400:900 + kill * 400]), kwargs={"in_one": chance.choice([1, 3, 40])})
        filling.start()
        time.sleep(0.3 if kill % 2 else chance.random() * 0.1)
        running.process.kill()
        running.wait(10)
        os.kill(broker, signal.SIGCONT)
        filling.join(30)
    fill(env, ids[4_500:])
    running = relay(world, env)
    emptied(env, running)
    assert running.stop() == 0
    repeats = check(on_topics(world.brokers), ids)
    assert repeats > 0, "no kill fell between the broker's taking and the outbox's deleting"


def test_of_two_relays_one_is_active_and_the_other_takes_over(world):
    env = world.database()
    first = relay(world, env)
    first.wait_for("relay active")
    second = relay(world, env)
    second.wait_for("another relay is active")
    ids = list(range(2_000))
    fill(env, ids[:1_000])
    emptied(env, first)
    assert "relay active" not in second.output()
    first.process.kill()
    fill(env, ids[1_000:])
    second.wait_for("relay active")
    emptied(env, second)
    assert second.stop() == 0
    assert check(on_topics(world.brokers), ids) <= 1_000


def test_a_transaction_that_commits_late_is_not_passed_over(world):
    """Its ids are lower than those that were relayed before it became visible."""
    env = world.database()
    running = relay(world, env)
    running.wait_for("relay active")
    with psycopg.connect(env["DROVER_POSTGRES_URL"]) as slow:
        slow.execute("INSERT INTO drover.outbox (topic, key, record_id, record) VALUES ('drover.alerts', 'car-0', 'r-0', '{\"id\":\"r-0\",\"n\":0}')")
        fill(env, range(1, 20))
        emptied(env, running)
        slow.commit()
    emptied(env, running)
    assert running.stop() == 0
    check(on_topics(world.brokers), range(0, 20))


def test_a_database_that_goes_away_is_said_once_and_waited_for(world):
    env = world.database()
    running = relay(world, env)
    running.wait_for("relay active")
    ids = list(range(3_000))
    name = re.search(r"story_\w+", env["DROVER_POSTGRES_URL"]).group(0)
    with psycopg.connect(world.superuser, autocommit=True) as superuser:
        for part in range(3):
            fill(env, ids[part * 1_000:(part + 1) * 1_000])
            superuser.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND application_name = 'drover-notify'", (name,))
        # Away for a while: no new session is let in either.
        superuser.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        superuser.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
        time.sleep(3)
        superuser.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    emptied(env, running)
    assert running.stop() == 0
    check(on_topics(world.brokers), ids)
    said = running.output().count("relay cannot work")
    assert 1 <= said <= 4, running.output()


def broker_of(folder):
    """The embedded broker's command line, to start it again after a stop; and its process."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            words = open(f"/proc/{entry}/cmdline").read().split("\0")[:-1]
        except OSError:
            continue
        if any(word.startswith(str(folder)) for word in words) and "--kafka-port" in words:
            return int(entry), words
    raise AssertionError("no broker")


def test_a_broker_that_is_stopped_and_started_again_gets_everything(drover, data, tmp_path):
    """A broker beside the embedded one, so that it can be stopped alone."""
    world = World(drover, drover.servers(data))
    env = world.database()
    _, words = broker_of(data)
    port = free_port()
    words = [str(port) if words[i - 1:i] == ["--kafka-port"] else str(tmp_path) if words[i - 1:i] == ["--data-dir"] else word
             for i, word in enumerate(words)]
    env["DROVER_KAFKA_BROKERS"] = f"127.0.0.1:{port}"
    broker = start_broker(words, port)
    try:
        running = relay(world, env)
        running.wait_for("relay active")
        ids = list(range(4_000))
        fill(env, ids[:1_000])
        emptied(env, running)
        for stop in range(2):
            fill(env, ids[1_000 + stop * 1_000:1_500 + stop * 1_000])
            # This broker loses what it acknowledged in its last second: no relay can know that.
            emptied(env, running)
            time.sleep(2)
            broker.send_signal(signal.SIGTERM)
            broker.wait(30)
            fill(env, ids[1_500 + stop * 1_000:2_000 + stop * 1_000])
            running.wait_for("(?s)" + ".*the broker does not acknowledge" * (stop + 1))
            broker = start_broker(words, port)
            emptied(env, running)
        fill(env, ids[3_000:])
        emptied(env, running)
        assert running.stop() == 0
        assert running.output().count("the broker does not acknowledge") == 2, running.output()
        check(on_topics(env["DROVER_KAFKA_BROKERS"]), ids)
    finally:
        broker.kill()
        broker.wait(10)


def free_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_broker(words, port, seconds=20):
    import socket

    broker = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return broker
        time.sleep(0.05)
    raise AssertionError("the broker does not listen")


def test_a_record_that_the_broker_will_never_take_is_set_aside(world):
    env = world.database()
    with connect(env) as connection:
        connection.execute("INSERT INTO drover.outbox (topic, key, record_id, record) VALUES ('drover.alerts', 'car-0', 'huge', %s)", ("x" * 2_000_000,))
    running = relay(world, env)
    fill(env, range(0, 10))
    running.wait_for("will not take a record")
    deadline = time.monotonic() + 60
    with connect(env) as connection:
        while (rows := connection.execute("SELECT record_id, refused IS NULL FROM drover.outbox").fetchall()) != [("huge", False)]:
            assert time.monotonic() < deadline, rows
            time.sleep(0.05)
    assert running.stop() == 0
    check(on_topics(world.brokers), range(0, 10))


def test_a_topic_that_vanished_is_made_again_with_our_number_of_partitions(world):
    env = world.database()
    running = relay(world, env)
    running.wait_for("relay active")
    fill(env, range(0, 100))
    emptied(env, running)
    admin = AdminClient({"bootstrap.servers": world.brokers})
    admin.delete_topics(["drover.alerts"])["drover.alerts"].result(20)
    fill(env, range(100, 200))
    emptied(env, running)
    assert running.stop() == 0
    assert len(admin.list_topics(timeout=HANG_S).topics["drover.alerts"].partitions) == 8
    missing = {f"r-{n}" for n in range(100, 200)} - {record_id for _, _, record_id, _ in on_topics(world.brokers)}
    assert missing == set(), running.output()


def test_the_relay_has_the_rights_it_needs_and_no_others(world):
    env = world.database()
    with connect(env) as connection:
        connection.execute("INSERT INTO drover.outbox (topic, key, record_id, record) VALUES ('drover.alerts', 'a', 'b', '{}')")
        connection.execute("SET ROLE drover_relay")
        connection.execute("UPDATE drover.outbox SET refused = 'x'")
        connection.execute("DELETE FROM drover.outbox")
        for refused in ("INSERT INTO drover.outbox (topic, key, record_id, record) VALUES ('a', 'b', 'c', 'd')",
                        "UPDATE drover.outbox SET record = 'x'", "SELECT * FROM drover.vehicle", "DELETE FROM drover.trip"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(refused)
        connection.execute("SET ROLE drover_writer")
        connection.execute("INSERT INTO drover.outbox (topic, key, record_id, record) VALUES ('drover.alerts', 'a', 'b', '{}')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("DELETE FROM drover.outbox")


def test_old_rows_of_rejected_records_are_pruned_in_whole_blocks(world):
    env = world.database()
    with connect(env) as connection:
        connection.execute("INSERT INTO drover.partition_progress (topic, partition, next_offset, replay_offset) VALUES ('drover.cars', 0, 9000000, 9000000), ('drover.cars', 1, 10, 10)")
        connection.execute("""INSERT INTO drover.rejected (topic, partition, record_offset, last_offset, reason, first_bytes)
            SELECT 'drover.cars', 0, n * 64, n * 64, 'r', '' FROM generate_series(0, 29999) n""")
        connection.execute("INSERT INTO drover.rejected (topic, partition, record_offset, last_offset, reason, first_bytes) VALUES ('drover.cars', 1, 3, 3, 'r', '')")
        running = relay(world, env, **{"rejected.rows_max": 1_000})
        deadline = time.monotonic() + 30
        # 64 rows a block: the newest 1,000 rows and the rest of the block they begin in.
        while (kept := connection.execute("SELECT count(*), min(record_offset) %% 4096 FROM drover.rejected WHERE partition = 0".replace("%%", "%")).fetchone()) != (1_008, 0):
            assert time.monotonic() < deadline, kept
            time.sleep(0.1)
        assert connection.execute("SELECT count(*) FROM drover.rejected WHERE partition = 1").fetchone() == (1,)
        assert running.stop() == 0
