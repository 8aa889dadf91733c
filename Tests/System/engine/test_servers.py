"""`drover servers`: the embedded PostgreSQL and broker, as a developer uses and mistreats them."""
import os
import re
import signal
import time
from pathlib import Path

import psycopg
import pytest
from cluster import DATA_BYTES_MAX
from confluent_kafka import Consumer, Producer
from harness import HANG_S, processes_of, until


def database(running):
    return psycopg.connect(running.environment["DROVER_TEST_POSTGRES"], autocommit=True)


def test_a_database_and_a_broker_until_a_signal_stops_every_child(drover, data):
    running = drover.embedded_servers(data)
    with database(running) as connection:
        assert connection.execute("SELECT current_database()").fetchone() == ("drover",)
        # A statement that wants more memory than there is ends by itself, and not the whole server.
        limits = Path(f"/proc/{connection.info.backend_pid}/limits").read_text()
        assert re.search(rf"Max data size +{DATA_BYTES_MAX} +{DATA_BYTES_MAX} +bytes", limits), limits
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
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        running.signal(number)
        assert running.wait() == 0, running.output()
        assert processes_of(data.parent) == [], number
        running = drover.embedded_servers(data)
    # Stopped properly, nothing is lost.
    assert read(running.environment["DROVER_TEST_BROKERS"], "try", 100)[-1] == b"99"


def test_other_users_of_the_machine_read_nothing_of_the_data_folder(drover, data):
    """Also of what an earlier version left open; and PostgreSQL is reached by its socket alone, which is ours."""
    data.mkdir(mode=0o755)
    (data / "lock").touch(0o644)
    (data / "postgres.log.1").touch(0o644)
    running = drover.embedded_servers(data)
    open_to_others = [
        (str(path), oct(path.lstat().st_mode)) for path in [data, *data.rglob("*")]
        if not path.is_symlink() and path.lstat().st_mode & (0o067 if path == data else 0o077)]
    assert open_to_others == []
    with database(running) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        # Without a password there is no way by TCP, should somebody set an address to listen on.
        rules = connection.execute("SELECT type, auth_method FROM pg_hba_file_rules").fetchall()
        assert {method for kind, method in rules if kind != "local"} == {"reject"}, rules
        sockets = connection.execute("SHOW unix_socket_directories").fetchone()[0].strip('"')
    assert os.stat(sockets).st_mode & 0o077 == 0
    assert running.stop() == 0


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


@pytest.mark.parametrize("rounds", [2, pytest.param(30, marks=pytest.mark.long(reason="thirty kills"))])
def test_killed_and_started_again(drover, data, rounds):
    """In the last round with all its children at once."""
    for turn in range(rounds + 1):
        running = drover.embedded_servers(data)
        with database(running) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS turn (n int)")
            connection.execute("INSERT INTO turn VALUES (%s)", (turn,))
            assert connection.execute("SELECT count(*) FROM turn").fetchone() == (turn + 1,)
        for pid in [running.pid, *(processes_of(data.parent) if turn == rounds else ())]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # A backend that ended with its server.
        running.wait()
    again = drover.embedded_servers(data)
    with database(again) as connection:
        assert connection.execute("SELECT count(*) FROM turn").fetchone() == (rounds + 1,)
    again.kill()
    until(lambda: processes_of(data.parent) == [], about="the end of children, which must not outlive a killed parent")


def test_one_run_a_folder_and_a_taken_port_is_left_alone(drover, data):
    first = drover.embedded_servers(data)
    refused = drover.run("servers", "--data", data)
    assert refused.code == 1 and refused.out == ""
    assert f"in use by process {first.pid}" in refused.err and "--data" in refused.err
    taken = first.environment["DROVER_TEST_BROKERS"]
    other = data.parent / "other"
    beside = drover.embedded_servers(other)
    assert beside.environment["DROVER_TEST_BROKERS"] != taken
    assert beside.stop() == 0
    # As if it had been this one last time.
    (other / "broker.port").write_text(taken.rpartition(":")[2])
    assert drover.embedded_servers(other).environment["DROVER_TEST_BROKERS"] != taken


def test_a_server_that_dies_ends_the_run(drover, data):
    for child in ("postgres", "broker"):
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
    drover.fails("servers", "--data", folder, says=[words, "--data"])


def test_missing_programs(drover, data):
    drover.fails("servers", "--data", data, env={"DROVER_BROKER": "/nonexistent/noida-db"}, says="/nonexistent/noida-db: is not a program")
    assert processes_of(data.parent) == []
