"""`drover servers`: the embedded PostgreSQL and broker, as a developer uses and mistreats them."""
import os
import signal
import socket
import time

import psycopg
import pytest
from confluent_kafka import Consumer, Producer
from harness import processes_of


def database(running):
    return psycopg.connect(running.environment["DROVER_TEST_POSTGRES"], autocommit=True)


def wait_until_gone(folder, seconds=25):
    deadline = time.monotonic() + seconds
    while (left := processes_of(folder)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def test_a_database_and_a_broker(drover, data):
    running = drover.embedded_servers(data)
    with database(running) as connection:
        assert connection.execute("SELECT current_database()").fetchone() == ("drover",)
    brokers = running.environment["DROVER_TEST_BROKERS"]
    errors = []
    producer = Producer({"bootstrap.servers": brokers, "acks": "all", "enable.idempotence": True})
    for number in range(100):
        producer.produce("try", key=b"k", value=b"%d" % number, on_delivery=lambda e, _: e and errors.append(e))
    assert producer.flush(20) == 0 and errors == []
    assert read(brokers, "try", 100) == [b"%d" % number for number in range(100)]
    assert running.stop() == 0
    # Stopped properly, nothing is lost.
    again = drover.embedded_servers(data)
    assert read(again.environment["DROVER_TEST_BROKERS"], "try", 100)[-1] == b"99"
    assert again.stop() == 0
    assert wait_until_gone(data.parent, 0) == []


def read(brokers, topic, count):
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": "reader", "auto.offset.reset": "earliest",
                         "enable.auto.commit": False, "group.instance.id": str(time.monotonic_ns())})
    consumer.subscribe([topic])
    values, deadline = [], time.monotonic() + 30
    while len(values) < count and time.monotonic() < deadline:
        message = consumer.poll(0.5)
        if message is not None and message.error() is None:
            values.append(message.value())
    consumer.close()
    return values


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_every_child(drover, data, number):
    running = drover.embedded_servers(data)
    running.signal(number)
    assert running.wait(60) == 0, running.output()
    assert processes_of(data.parent) == []


@pytest.mark.parametrize("rounds", [3, pytest.param(30, marks=pytest.mark.long)])
def test_killed_and_started_again(drover, data, rounds):
    for turn in range(rounds):
        running = drover.embedded_servers(data)
        with database(running) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS turn (n int)")
            connection.execute("INSERT INTO turn VALUES (%s)", (turn,))
            assert connection.execute("SELECT count(*) FROM turn").fetchone() == (turn + 1,)
        running.signal(signal.SIGKILL)
        running.wait(10)
    assert wait_until_gone(data.parent) == [], "children must not outlive a killed parent"


def test_everything_killed_at_once(drover, data):
    running = drover.embedded_servers(data)
    with database(running) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS n")
    for pid in [running.pid, *processes_of(data.parent)]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # A backend that ended with its server.
    running.wait(10)
    again = drover.embedded_servers(data)
    with database(again) as connection:
        assert connection.execute("SELECT n FROM kept").fetchone() == (7,)


def test_one_run_a_folder(drover, data):
    first = drover.embedded_servers(data)
    refused = drover.run("servers", "--data", data, seconds=20)
    assert refused.code == 1 and refused.out == ""
    assert f"in use by process {first.pid}" in refused.err and "--data" in refused.err
    beside = drover.embedded_servers(data.parent / "other")
    assert beside.environment["DROVER_TEST_BROKERS"] != first.environment["DROVER_TEST_BROKERS"]


def test_only_the_loopback_is_listened_on(drover, data):
    running = drover.embedded_servers(data)
    port = int(running.environment["DROVER_TEST_BROKERS"].rsplit(":", 1)[1])
    with open("/proc/net/tcp") as table:
        rows = [line.split() for line in table.readlines()[1:]]
    listening = [row[1] for row in rows if row[3] == "0A" and int(row[1].split(":")[1], 16) == port]
    assert listening == [f"0100007F:{port:04X}"]
    with database(running) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)


def test_a_taken_port_is_left_alone(drover, data):
    first = drover.embedded_servers(data)
    address = first.environment["DROVER_TEST_BROKERS"]
    first.stop()
    with socket.socket() as stranger:
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        stranger.bind(("127.0.0.1", int(address.rsplit(":", 1)[1])))
        stranger.listen()
        second = drover.embedded_servers(data)
        assert second.environment["DROVER_TEST_BROKERS"] != address


@pytest.mark.parametrize("child", ["postgres", "broker"])
def test_a_server_that_dies_ends_the_run(drover, data, child):
    running = drover.embedded_servers(data)
    lines = (data / "children").read_text().splitlines()
    pid = next(int(line.split()[1]) for line in lines if line.startswith(child))
    os.kill(pid, signal.SIGKILL)
    assert running.wait(60) == 1
    assert f"{child}, process {pid}, ended by itself" in running.output()
    assert processes_of(data.parent) == []


@pytest.mark.parametrize(
    "folder, words",
    [("/proc/drover", "cannot make the data folder"), ("/dev/null", "a file, not a folder")],
)
def test_impossible_folders(drover, folder, words):
    run = drover.run("servers", "--data", folder, seconds=20)
    assert run.code == 1 and words in run.err and "--data" in run.err


def test_missing_programs(drover, data):
    run = drover.run("servers", "--data", data, seconds=20, env={"DROVER_BROKER": "/nonexistent/noida-db"})
    assert run.code == 1 and "/nonexistent/noida-db: is not a program" in run.err
    assert processes_of(data.parent) == []
