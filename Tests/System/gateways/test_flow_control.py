"""A broker that is slow or gone while much is pushed: the sender waits, and says what was not acknowledged."""
import re
import signal

import pytest
from brokers import Noida
from confluent_kafka import Consumer, TopicPartition
from harness import HANG_S, freeze, until

READINGS = 400_000
pytestmark = pytest.mark.long(reason="hundreds of thousands of readings, and the memory that they may take")


@pytest.fixture
def broker(tmp_path):
    broker = Noida(tmp_path / "broker")
    yield broker
    broker.stop(signal.SIGKILL)


def on_topic(broker):
    consumer = Consumer({"bootstrap.servers": broker.brokers, "group.id": "look"})
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
    run = drover.start("import", "cars", path, "--vehicle", "car-1", env={"DROVER_KAFKA_BROKERS": broker.brokers})
    until(lambda: on_topic(broker) >= 10_000, run, about="the first of the readings on the topic")
    return run


def memory_kib(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1))


def test_a_broker_that_stands_still_makes_the_import_wait(drover, broker, tmp_path):
    run = importing(drover, broker, tmp_path)
    freeze(broker)
    # How fast its queue fills depends on the machine; that it fills no further does not.
    sizes = [0]

    def is_full():
        sizes.append(memory_kib(run.pid))
        assert sizes[-1] < 300_000, sizes
        return len(sizes) > 20 and sizes[-1] - sizes[-20] < 1_000
    until(is_full, run, about="a queue that grows no further")
    broker.process.send_signal(signal.SIGCONT)
    assert run.wait() == 0, run.output()
    assert on_topic(broker) == READINGS + 8  # With a tick in each partition.


def test_a_broker_that_is_gone_ends_the_import_with_what_was_acknowledged(drover, broker, tmp_path):
    run = importing(drover, broker, tmp_path)
    broker.stop(signal.SIGKILL)
    assert run.wait() == 1
    said = re.search(r"sending the record of `car-1` to drover.cars: .*\n(\d+) of (\d+) records were acknowledged", run.output())
    assert said and 10_000 <= int(said.group(1)) < int(said.group(2)) <= int(said.group(1)) + 100_000, run.output()
