"""The outbox reaches its topics: at least once, each key in order, whatever is killed or away meanwhile."""
import json
import os
import random
import re
import signal
import threading
import time
from pathlib import Path

import psycopg
import pytest
from brokers import Noida
from confluent_kafka.admin import AdminClient
from harness import HANG_S, freeze, is_long, lent, until
from kafka import Kafka, missing
from world import connect, messages, query

TOPICS = ["drover.alerts", "drover.assignments"]
needs_kafka = pytest.mark.skipif(bool(missing()), reason=missing())


@pytest.fixture
def env(world, tmp_path):
    """An empty database, and a broker of the test's own."""
    broker = Noida(tmp_path / "broker")
    yield world.database() | {"DROVER_KAFKA_BROKERS": broker.brokers}
    broker.close()


@pytest.fixture(scope="module")
def kafka(tmp_path_factory):
    yield from lent(Kafka(tmp_path_factory.mktemp("kafka")))


@pytest.fixture
def kafka_env(world, kafka):
    kafka.prepare()
    return world.database() | {"DROVER_KAFKA_BROKERS": kafka.brokers}


def fill(env, ids, keys=40, topics=TOPICS, in_one=50):
    """Rows with ascending numbers, in transactions of `in_one`; the key decides the topic."""
    with psycopg.connect(env["DROVER_POSTGRES_URL"]) as connection:
        for at in range(0, len(ids), in_one):
            connection.cursor().executemany(
                "INSERT INTO drover.outbox (topic, key, record_id, record) VALUES (%s, %s, %s, %s)",
                [(topics[n % keys % len(topics)], f"car-{n % keys}", f"r-{n}", '{"id":"r-%d","n":%d}' % (n, n)) for n in ids[at:at + in_one]])
            connection.commit()


def waiting(env):
    return query(env, "SELECT count(*) FROM drover.outbox")[0][0]


def emptied(env, *show):
    until(lambda: waiting(env) == 0, *show, about="an empty outbox")


def on_topics(brokers, topics=TOPICS):
    """All records, by topic and partition in the order of the log: key, id header, value."""
    return [(message.topic(), message.key().decode(), dict(message.headers() or [])["id"].decode(), json.loads(message.value()))
            for topic in topics for message in messages(brokers, topic)]


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


def unread(port):
    """Bytes that wait for whoever listens at the port (/proc/net/tcp: addresses and sizes are hexadecimal)."""
    lines = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()[1:]]
    return sum(int(words[4].partition(":")[2], 16) for words in lines if words[1].endswith(f":{port:04X}"))


@needs_kafka
def test_kill_9_loses_nothing_and_keeps_each_keys_order(world, kafka, kafka_env):
    kills = 10 if is_long() else 3
    env, ids, chance = kafka_env, list(range(1_000 + 400 * kills)), random.Random(7)
    fill(env, ids[:500])
    for kill in range(kills):
        running, part = relay(world, env), ids[500 + kill * 400:900 + kill * 400]
        running.wait_for("relay active")
        if kill % 2 == 0:
            # The broker is held while requests are on their way: it takes them after the relay is dead, so that their
            # rows are on the topic and in the outbox.
            emptied(env, running)
            freeze(kafka)
            fill(env, part, in_one=len(part))
            until(lambda: unread(kafka.port) > 1_000, running, about="a request on its way")
            running.kill()
            os.kill(kafka.process.pid, signal.SIGCONT)
        else:
            # Many small transactions, and the kill somewhere among them.
            filling = threading.Thread(target=fill, args=(env, part), kwargs={"in_one": chance.choice([1, 3])})
            filling.start()
            until(lambda: waiting(env) > 0 or not filling.is_alive())
            time.sleep(chance.random() * 0.1)
            running.kill()
            filling.join(HANG_S)
    fill(env, ids[500 + kills * 400:])
    running = relay(world, env)
    emptied(env, running)
    assert running.stop() == 0
    repeats = check(on_topics(kafka.brokers), ids)
    assert repeats > 0, "no kill fell between the broker's taking and the outbox's deleting"


def test_of_two_relays_one_is_active_and_the_other_takes_over(world, env):
    first = relay(world, env)
    first.wait_for("relay active")
    second = relay(world, env)
    second.wait_for("another relay is active")
    ids = list(range(2_000))
    fill(env, ids[:1_000])
    emptied(env, first)
    assert "relay active" not in second.output()
    first.kill()
    fill(env, ids[1_000:])
    second.wait_for("relay active")
    emptied(env, second)
    assert second.stop() == 0
    assert check(on_topics(env["DROVER_KAFKA_BROKERS"]), ids) <= 1_000


def test_a_transaction_that_commits_late_is_not_passed_over(world, env):
    """Its ids are lower than those that were relayed before it became visible."""
    running = relay(world, env)
    running.wait_for("relay active")
    with psycopg.connect(env["DROVER_POSTGRES_URL"]) as slow:
        slow.execute("INSERT INTO drover.outbox (topic, key, record_id, record) VALUES ('drover.alerts', 'car-0', 'r-0', '{\"id\":\"r-0\",\"n\":0}')")
        fill(env, range(1, 20))
        emptied(env, running)
        slow.commit()
    emptied(env, running)
    assert running.stop() == 0
    check(on_topics(env["DROVER_KAFKA_BROKERS"]), range(0, 20))


def test_a_database_that_goes_away_is_said_once_and_waited_for(world, env):
    running = relay(world, env)
    running.wait_for("relay active")
    ids = list(range(3_000))
    name = re.search(r"story_\w+", env["DROVER_POSTGRES_URL"]).group(0)
    log = Path(re.search(r"host=(\S+)", world.superuser).group(1)) / "postgres.log"
    refusals = lambda: log.read_text(errors="replace").count(f'database "{name}" is not currently accepting connections')
    with psycopg.connect(world.superuser, autocommit=True) as superuser:
        for part in range(3):
            fill(env, ids[part * 1_000:(part + 1) * 1_000])
            superuser.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND application_name = 'drover-notify'", (name,))
        emptied(env, running)
        # Away for a while: no new session is let in either.
        before = running.mark()
        superuser.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        superuser.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
        until(lambda: refusals() >= 4, running, about="some tries to come back")
        assert running.output().count("relay cannot work", len("".join(running.lines[:before]))) == 1, running.output()
        superuser.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    running.wait_for("relay works again", since=before)
    assert running.stop() == 0
    check(on_topics(env["DROVER_KAFKA_BROKERS"]), ids)


@needs_kafka
def test_a_broker_that_is_stopped_and_started_again_gets_everything(world, kafka, kafka_env):
    env, stops = kafka_env, 2 if is_long() else 1
    running = relay(world, env)
    running.wait_for("relay active")
    ids = list(range(1_000 + stops * 1_000))
    fill(env, ids[:500])
    for stop in range(stops):
        before = running.mark()
        fill(env, ids[500 + stop * 1_000:1_000 + stop * 1_000])
        kafka.stop()
        fill(env, ids[1_000 + stop * 1_000:1_500 + stop * 1_000])
        running.wait_for("the broker does not acknowledge", since=before)
        assert kafka.start()
        emptied(env, running)
    fill(env, ids[500 + stops * 1_000:])
    emptied(env, running)
    assert running.stop() == 0
    check(on_topics(kafka.brokers), ids)


def test_a_record_that_the_broker_will_never_take_is_set_aside(world, env):
    query(env, "INSERT INTO drover.outbox (topic, key, record_id, record) VALUES ('drover.alerts', 'car-0', 'huge', %s)", "x" * 2_000_000)
    running = relay(world, env)
    fill(env, range(0, 10))
    running.wait_for("will not take a record")
    with connect(env) as connection:
        until(lambda: connection.execute("SELECT record_id, refused IS NULL FROM drover.outbox").fetchall() == [("huge", False)], running)
    assert running.stop() == 0
    check(on_topics(env["DROVER_KAFKA_BROKERS"]), range(0, 10))


def test_a_topic_that_vanished_is_made_again_with_our_number_of_partitions(world, env):
    running = relay(world, env)
    running.wait_for("relay active")
    fill(env, range(0, 100))
    emptied(env, running)
    admin = AdminClient({"bootstrap.servers": env["DROVER_KAFKA_BROKERS"]})
    admin.delete_topics(["drover.alerts"])["drover.alerts"].result(HANG_S)
    fill(env, range(100, 200))
    emptied(env, running)
    assert running.stop() == 0
    assert len(admin.list_topics(timeout=HANG_S).topics["drover.alerts"].partitions) == 8
    missing = {f"r-{n}" for n in range(100, 200)} - {record_id for _, _, record_id, _ in on_topics(env["DROVER_KAFKA_BROKERS"])}
    assert missing == set(), running.output()


def test_the_relay_has_the_rights_it_needs_and_no_others(env):
    with connect(env) as connection:
        connection.execute("INSERT INTO drover.outbox (topic, key, record_id, record) VALUES ('drover.alerts', 'a', 'b', '{}')")
        connection.execute("INSERT INTO drover.rule_set VALUES (0, now(), 'v', %s, -1)", ["drover-rules 2\nmodel\t8R\nmachine\tm-1\nrule\tFuel Level\tbelow"])
        connection.execute("SET ROLE drover_relay")
        connection.execute("UPDATE drover.outbox SET refused = 'x'")
        connection.execute("DELETE FROM drover.outbox")
        # What a notice is made of: the alert, and whose rule it was, also a single machine's.
        connection.execute("SELECT a.*, drover.rule_whose(drover.rule_text(a.rules_version), a.vehicle, a.model, a.parameter) FROM drover.alert_now a")
        assert connection.execute("SELECT drover.rule_whose(drover.rule_text('v'), 'm-1', '8R', 'Fuel Level')").fetchone() == ("of this machine",)
        for refused in ("INSERT INTO drover.outbox (topic, key, record_id, record) VALUES ('a', 'b', 'c', 'd')",
                        "UPDATE drover.outbox SET record = 'x'", "SELECT * FROM drover.vehicle", "DELETE FROM drover.trip"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(refused)
        connection.execute("SET ROLE drover_writer")
        connection.execute("INSERT INTO drover.outbox (topic, key, record_id, record) VALUES ('drover.alerts', 'a', 'b', '{}')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("DELETE FROM drover.outbox")


def test_old_rows_of_rejected_records_are_pruned_in_whole_blocks(world, env):
    with connect(env) as connection:
        connection.execute("INSERT INTO drover.partition_progress (topic, partition, next_offset, replay_offset) VALUES ('drover.cars', 0, 9000000, 9000000), ('drover.cars', 1, 10, 10)")
        connection.execute("""INSERT INTO drover.rejected (topic, partition, record_offset, last_offset, reason, first_bytes)
            SELECT 'drover.cars', 0, n * 64, n * 64, 'r', '' FROM generate_series(0, 11055) n""")
        connection.execute("INSERT INTO drover.rejected (topic, partition, record_offset, last_offset, reason, first_bytes) VALUES ('drover.cars', 1, 3, 3, 'r', '')")
        running = relay(world, env, **{"rejected.rows_max": 1_000})
        # 64 rows a block: the newest 1,000 rows and the rest of the block they begin in.
        kept = lambda: connection.execute("SELECT count(*), min(record_offset) % 4096 FROM drover.rejected WHERE partition = 0").fetchone()
        until(lambda: kept() == (1_008, 0), running, kept)
        assert connection.execute("SELECT count(*) FROM drover.rejected WHERE partition = 1").fetchone() == (1,)
        assert running.stop() == 0
