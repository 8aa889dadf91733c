"""`drover servers` and `drover up` with Apache Kafka by name: one node and three, plain and with TLS and a log-in, killed and started again."""
import os
import re
import signal

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from harness import HANG_S, until
from kafka import missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


def start(drover, data, *words):
    running = drover.start("servers", "--data", data, "--broker", "kafka", *words)
    running.wait_for(re.compile(r"^DROVER_TEST_BROKERS=.+$", re.M))
    running.environment = dict(re.findall(r"^(DROVER_\w+)=(.*)$", running.output(), re.M))
    return running


def client(running):
    """How a client of somebody else's reaches it."""
    told = running.environment
    plain = {"bootstrap.servers": told["DROVER_TEST_BROKERS"], "log_level": 2}
    if "DROVER_KAFKA_CA_FILE" not in told:
        return plain
    with open(told["DROVER_KAFKA_SASL_PASSWORD_FILE"]) as file:
        password = file.readline().strip()
    return plain | {"security.protocol": "sasl_ssl", "ssl.ca.location": told["DROVER_KAFKA_CA_FILE"], "sasl.mechanism": told["DROVER_KAFKA_SASL_MECHANISM"],
                    "sasl.username": told["DROVER_KAFKA_SASL_USER"], "sasl.password": password}


def push(running, topic, numbers):
    errors = []
    producer = Producer(client(running) | {"acks": "all", "enable.idempotence": True})
    for number in numbers:
        producer.produce(topic, key=b"k", value=b"%d" % number, on_delivery=lambda error, _: error and errors.append(error))
    assert producer.flush(HANG_S) == 0 and errors == []


def read(running, topic, count):
    consumer = Consumer(client(running) | {"group.id": f"reader-{count}-{os.urandom(4).hex()}", "auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.subscribe([topic])
    values = []

    def are_read():
        values.extend(message.value() for message in consumer.consume(count, 0.2) if message.error() is None)
        return len(values) >= count
    until(are_read)
    consumer.close()
    return [int(value) for value in values]


def make(running, topic, copies):
    admin = AdminClient(client(running))
    admin.create_topics([NewTopic(topic, num_partitions=1, replication_factor=copies)])[topic].result(HANG_S)
    return admin


def test_one_node_keeps_what_it_acknowledged_and_belongs_to_its_folder(drover, data):
    running = start(drover, data)
    make(running, "try", 1)
    push(running, "try", range(100))
    assert read(running, "try", 100) == list(range(100))
    # It dies with the whole group, and is there again.
    os.kill(running.process.pid, signal.SIGKILL)
    running.process.wait(HANG_S)
    again = start(drover, data)
    assert again.environment["DROVER_TEST_BROKERS"] == running.environment["DROVER_TEST_BROKERS"]
    assert read(again, "try", 100) == list(range(100))
    assert again.stop() == 0
    drover.fails("servers", "--data", data, says=["was made with --broker kafka", "choose another folder with --data"])


def test_three_nodes_go_on_when_one_is_killed(drover, data):
    running = start(drover, data, "--nodes", "3", "--secure")
    admin = make(running, "try", 3)
    until(lambda: len(admin.list_topics("try", timeout=HANG_S).topics["try"].partitions) == 1)
    push(running, "try", range(50))
    with open(data / "children") as file:
        nodes = {name: int(pid) for name, pid in re.findall(r"^(kafka-\d) (\d+)", file.read(), re.M)}
    assert len(nodes) == 3
    os.kill(nodes["kafka-2"], signal.SIGKILL)
    push(running, "try", range(50, 100))
    running.wait_for("kafka-2, process .* is started again")
    assert read(running, "try", 100) == list(range(100))
    until(lambda: len(admin.list_topics(timeout=HANG_S).brokers) == 3)
    assert running.stop() == 0


def test_what_does_not_go_together_is_said(drover, data):
    drover.fails("servers", "--data", data, "--nodes", "3", code=2, says=["add --broker kafka"])
    drover.fails("servers", "--data", data, "--broker", "rabbit", code=2, says=["--broker rabbit: unknown. It is embedded or kafka"])
    drover.fails("servers", "--data", data, "--broker", "kafka", "--nodes", "2", code=2, says=["--nodes 2: one, or three"])
    drover.fails("servers", "--data", data, "--broker", "kafka", env={"DROVER_KAFKA_HOME": str(data)}, says=["holds no Kafka", "DROVER_KAFKA_HOME"])
    # What could not start has bound the folder to nothing.
    assert not (data / "broker.choice").exists()


def test_everything_starts_on_it(drover, data):
    running = drover.start("up", "--data", data, "--broker", "kafka", "--once")
    running.wait_for("the page is at")
    assert running.wait() == 0, running.output()
    assert "starting Apache Kafka, one node" in running.output()
