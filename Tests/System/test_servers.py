"""`drover servers`: the embedded PostgreSQL and broker, as a developer uses and mistreats them."""
import os
import signal
import socket
import time

import psycopg
import pytest
from confluent_kafka import Consumer, Producer
from harness import HANG_S, free_port, processes_of, until


def database(running):
    return psycopg.connect(running.environment["DROVER_TEST_POSTGRES"], autocommit=True)


def test_a_database_and_a_broker(drover, data):
    running = drover.embedded_servers(data)
    with database(running) as connection:
        assert connection.execute("SELECT current_database()").fetchone() == ("drover",)
    brokers = running.environment["DROVER_TEST_BROKERS"]
    errors = []
    producer = Producer({"bootstrap.servers": brokers, "acks": "all", "enable.idempotence": True})
    for number in range(100):
        producer.produce("try", key=b"k", value=b"%d" % number, on_delivery=lambda e, _: e and errors.append(e))
    assert producer.flush(HANG_S) == 0 and errors == []
    assert read(brokers, "try", 100) == [b"%d" % number for number in range(100)]
    # Only the loopback is listened on.
    port = int(brokers.rsplit(":", 1)[1])
    with open("/proc/net/tcp") as table:
        rows = [line.split() for line in table.readlines()[1:]]
    listening = [row[1] for row in rows if row[3] == "0A" and int(row[1].split(":")[1], 16) == port]
    assert listening == [f"0100007F:{port:04X}"]
    with database(running) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
    assert running.stop() == 0
    # Stopped properly, nothing is lost.
    again = drover.embedded_servers(data)
    assert read(again.environment["DROVER_TEST_BROKERS"], "try", 100)[-1] == b"99"
    assert again.stop() == 0
    assert processes_of(data.parent) == []


def read(brokers, topic, count):
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": "reader", "auto.offset.reset": "earliest",
                         "enable.auto.commit": False, "group.instance.id": str(time.monotonic_ns())})
    consumer.subscribe([topic])
    values = []

    def are_read():
        values.extend(message.value() for message in consumer.consume(count, 0.1) if message.error() is None)
        return len(values) >= count
    until(are_read)
    consumer.close()
    return values


def test_a_signal_stops_every_child(drover, data):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        running = drover.embedded_servers(data)
        running.signal(number)
        assert running.wait() == 0, running.output()
        assert processes_of(data.parent) == [], number


@pytest.mark.parametrize("rounds", [3, pytest.param(30, marks=pytest.mark.long(reason="thirty kills"))])
def test_killed_and_started_again(drover, data, rounds):
    for turn in range(rounds):
        running = drover.embedded_servers(data)
        with database(running) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS turn (n int)")
            connection.execute("INSERT INTO turn VALUES (%s)", (turn,))
            assert connection.execute("SELECT count(*) FROM turn").fetchone() == (turn + 1,)
        running.kill()
    until(lambda: processes_of(data.parent) == [], about="the end of children, which must not outlive a killed parent")


def test_everything_killed_at_once(drover, data):
    running = drover.embedded_servers(data)
    with database(running) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS n")
    for pid in [running.pid, *processes_of(data.parent)]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # A backend that ended with its server.
    running.wait()
    again = drover.embedded_servers(data)
    with database(again) as connection:
        assert connection.execute("SELECT n FROM kept").fetchone() == (7,)


def test_one_run_a_folder(drover, data):
    first = drover.embedded_servers(data)
    refused = drover.run("servers", "--data", data)
    assert refused.code == 1 and refused.out == ""
    assert f"in use by process {first.pid}" in refused.err and "--data" in refused.err
    beside = drover.embedded_servers(data.parent / "other")
    assert beside.environment["DROVER_TEST_BROKERS"] != first.environment["DROVER_TEST_BROKERS"]


def test_a_taken_port_is_left_alone(drover, data):
    drover.embedded_servers(data).stop()
    port = free_port()
    # As if it had been this one last time.
    (data / "broker.port").write_text(f"{port}")
    with socket.socket() as stranger:
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        stranger.bind(("127.0.0.1", port))
        stranger.listen()
        running = drover.embedded_servers(data)
        assert running.environment["DROVER_TEST_BROKERS"] != f"127.0.0.1:{port}"
    assert running.stop() == 0
    # When it is free it is taken again.
    (data / "broker.port").write_text(f"{port}")
    assert drover.embedded_servers(data).environment["DROVER_TEST_BROKERS"] == f"127.0.0.1:{port}"


@pytest.mark.parametrize("child", ["postgres", "broker"])
def test_a_server_that_dies_ends_the_run(drover, data, child):
    running = drover.embedded_servers(data)
    lines = (data / "children").read_text().splitlines()
    pid = next(int(line.split()[1]) for line in lines if line.startswith(child))
    os.kill(pid, signal.SIGKILL)
    assert running.wait() == 1
    assert f"{child}, process {pid}, ended by itself" in running.output()
    assert processes_of(data.parent) == []


@pytest.mark.parametrize(
    "folder, words",
    [("/proc/drover", "cannot make the data folder"), ("/dev/null", "a file, not a folder")],
)
def test_impossible_folders(drover, folder, words):
    run = drover.run("servers", "--data", folder)
    assert run.code == 1 and words in run.err and "--data" in run.err


def test_missing_programs(drover, data):
    run = drover.run("servers", "--data", data, env={"DROVER_BROKER": "/nonexistent/noida-db"})
    assert run.code == 1 and "/nonexistent/noida-db: is not a program" in run.err
    assert processes_of(data.parent) == []
