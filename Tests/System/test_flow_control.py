"""A broker that is slow or gone while much is pushed: the sender waits, and says what was not acknowledged."""
import os
import re
import signal
import time

import pytest
from confluent_kafka import Consumer, TopicPartition
from harness import HANG_S
from test_relay import broker_of, free_port, start_broker

READINGS = 400_000


@pytest.fixture
def broker(drover, data, tmp_path):
    """One that can be stopped alone."""
    drover.servers(data)
    _, words = broker_of(data)
    port = free_port()
    words = [str(port) if words[i - 1:i] == ["--kafka-port"] else str(tmp_path) if words[i - 1:i] == ["--data-dir"] else word
             for i, word in enumerate(words)]
    process = start_broker(words, port)
    process.address = f"127.0.0.1:{port}"
    yield process
    process.kill()
    process.wait(10)


def on_topic(broker):
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": "look"})
    try:
        return sum(consumer.get_watermark_offsets(TopicPartition("drover.cars", p), timeout=HANG_S)[1] for p in range(8))
    except Exception:
        return 0  # The topic is not there yet.
    finally:
        consumer.close()


def importing(drover, broker, tmp_path):
    """An import of far more than the sender's queue holds, some of it on the topic already."""
    path = tmp_path / "long.csv"
    path.write_text("ts,speed\n" + "".join(f"{1_700_000_000_000 + n * 1000},{n % 100}\n" for n in range(READINGS)))
    run = drover.start("import", "cars", path, "--vehicle", "car-1", env={"DROVER_KAFKA_BROKERS": broker.address})
    deadline = time.monotonic() + 60
    while on_topic(broker) < 10_000:
        assert time.monotonic() < deadline and run.process.poll() is None, run.output()
    return run


def memory_kib(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1))


def test_a_broker_that_stands_still_makes_the_import_wait(drover, broker, tmp_path):
    run = importing(drover, broker, tmp_path)
    os.kill(broker.pid, signal.SIGSTOP)
    # How fast its queue fills depends on the machine; that it fills no further does not.
    sizes, deadline = [0, memory_kib(run.pid)], time.monotonic() + 90
    while sizes[-1] - sizes[-2] > 1_000:
        assert time.monotonic() < deadline and sizes[-1] < 300_000, sizes
        time.sleep(3)
        sizes.append(memory_kib(run.pid))
    assert run.process.poll() is None
    os.kill(broker.pid, signal.SIGCONT)
    assert run.wait(60) == 0, run.output()
    assert on_topic(broker) == READINGS + 8  # With a tick in each partition.


@pytest.mark.long
def test_a_broker_that_is_gone_ends_the_import_with_what_was_acknowledged(drover, broker, tmp_path):
    run = importing(drover, broker, tmp_path)
    broker.kill()
    assert run.wait(90) == 1
    said = re.search(r"sending the record of `car-1` to drover.cars: .*\n(\d+) of (\d+) records were acknowledged", run.output())
    assert said and 10_000 <= int(said.group(1)) < int(said.group(2)) <= int(said.group(1)) + 100_000, run.output()
