"""Apache Kafka itself: a broker and its controller in one process (KRaft), for what stand-ins cannot prove.

    python Tests/System/kafka.py [--fast] [PARTITIONS]      starts one, makes the topics, prints the environment for drover

It is looked for in DROVER_KAFKA_HOME (a folder like that of the official download, with `libs/`, or one with such folders), else in
../shared/kafka. It needs Java 17, 370 MB of memory, and three seconds of a processor to start.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from brokers import HOST, Served, make_topics
from confluent_kafka.admin import AdminClient, ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion
from harness import DIES_WITH_US, HANG_S, ROOT, free_port, scratch, until

# For a start that is quick, and for a broker that is fast.
QUICK = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"], "384m"
FAST = ["-XX:+UseG1GC", "-Xshare:auto"], "1g"
LOGGING = """status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
logger.server.name = kafka.server.KafkaRaftServer
logger.server.level = info
"""


def libraries():
    """The folder with Kafka's jars, of the newest version that is there; None: there is none."""
    place = Path(os.environ.get("DROVER_KAFKA_HOME") or ROOT.parent / "shared" / "kafka")
    found = [folder for folder in (place / "libs", *place.glob("*/libs")) if any(folder.glob("kafka-clients-*.jar"))]
    return max(found, key=lambda folder: [int(part) for part in re.findall(r"\d+", next(folder.glob("kafka-clients-*.jar")).name)], default=None)


def missing():
    """What it needs and does not find, for whoever skips a test; empty: nothing."""
    if not libraries():
        return "Apache Kafka is not here: name the folder of its download in DROVER_KAFKA_HOME"
    return "" if shutil.which("java") else "Java is not here: apt-get install openjdk-17-jre-headless"


class Kafka(Served):
    """It keeps its log and its groups when stopped, however."""

    name = "kafka"

    def __init__(self, folder, host=HOST, doors=None, java=QUICK):
        """`doors`: listeners beside the plain one, their settings by name and key; their ports are in `ports`."""
        self.java, self.heap = java
        if told := missing():
            raise SystemExit(told)
        self.doors, self.ports, self.made_for = doors or {}, {}, None
        super().__init__(folder, host)

    def start(self):
        if self.made_for != self.port:  # Not when it comes back.
            self._make()
        self.starts = self._started() + 1
        return super().start()

    def is_up(self):
        return self._started() >= self.starts

    def _started(self):
        log = self.folder / f"{self.name}.log"
        return log.read_text(errors="replace").count("Kafka Server started") if log.exists() else 0

    def _make(self):
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        controller, self.ports = free_port(), {name: free_port(self.host) for name in self.doors}
        ports = {"PLAIN": self.port, **self.ports}
        said = {
            "process.roles": "broker,controller", "node.id": 1, "controller.quorum.voters": f"1@{HOST}:{controller}",
            "listeners": ",".join([f"CONTROLLER://{HOST}:{controller}", *(f"{name}://{self.host}:{port}" for name, port in ports.items())]),
            "advertised.listeners": ",".join(f"{name}://{self.host}:{port}" for name, port in ports.items()),
            "listener.security.protocol.map": ",".join(
                ["CONTROLLER:PLAINTEXT", "PLAIN:PLAINTEXT", *(f"{name}:{door['protocol']}" for name, door in self.doors.items())]),
            "controller.listener.names": "CONTROLLER", "inter.broker.listener.name": "PLAIN", "log.dirs": self.folder / "data",
            "offsets.topic.num.partitions": 1, "offsets.topic.replication.factor": 1, "transaction.state.log.num.partitions": 1,
            "transaction.state.log.replication.factor": 1, "transaction.state.log.min.isr": 1,
            "share.coordinator.state.topic.replication.factor": 1, "share.coordinator.state.topic.min.isr": 1,
            "auto.create.topics.enable": "false", "log.retention.ms": -1, "log.cleaner.dedupe.buffer.size": 4 << 20,
            # The first member of a group does not wait for others: a story has one, or waits until each has its share.
            "group.initial.rebalance.delay.ms": 0, "group.min.session.timeout.ms": 1_000,
            **{f"listener.name.{name.lower()}.{key}": value for name, door in self.doors.items() for key, value in door.items() if key != "protocol"},
        }
        # Java reads the file as Latin-1, with escapes as in JSON.
        (self.folder / "server.properties").write_text("".join(f"{key}={json.dumps(str(value))[1:-1]}\n" for key, value in said.items()))
        (self.folder / "log4j2.properties").write_text(LOGGING)
        done = subprocess.run(
            [*DIES_WITH_US, *self._java("128m"), "kafka.tools.StorageTool", "format", "-t", "ZHJvdmVyLXRlc3RzLW9uZQ",
             "-c", str(self.folder / "server.properties")], capture_output=True, text=True, timeout=HANG_S)
        assert done.returncode == 0, f"Kafka's folder was not made:\n{done.stdout}{done.stderr}"
        self.made_for = self.port

    def _java(self, heap):
        # What it unpacks while it runs stays in its folder, also when it is killed.
        return ["java", *self.java, f"-Xmx{heap}", f"-Djava.io.tmpdir={self.folder}", f"-Dlog4j2.configurationFile=file:{self.folder / 'log4j2.properties'}",
                "-cp", f"{libraries()}/*"]

    def command(self):
        return [*self._java(self.heap), "kafka.Kafka", self.folder / "server.properties"]

    def prepare(self, topics=()):
        """These topics (name: partitions), all empty: what another story left goes."""
        admin = AdminClient({"bootstrap.servers": self.brokers, "log_level": 2})
        if old := [name for name in admin.list_topics(timeout=HANG_S).topics if not name.startswith("__")]:
            for future in admin.delete_topics(old).values():
                future.result(HANG_S)
            until(lambda: not set(old) & set(admin.list_topics(timeout=HANG_S).topics), about="the end of the old topics")
        if topics:
            make_topics(self.brokers, topics)

    def add_login(self, user, password, mechanism=ScramMechanism.SCRAM_SHA_512):
        """For the doors that take SCRAM."""
        admin = AdminClient({"bootstrap.servers": self.brokers, "log_level": 2})
        added = UserScramCredentialUpsertion(user, ScramCredentialInfo(mechanism, 4096), password.encode())
        admin.alter_user_scram_credentials([added])[user].result(HANG_S)

    def close(self):
        """Nothing of it is wanted any more."""
        self.stop(signal.SIGKILL)


def main():
    is_fast, counts = "--fast" in sys.argv, [int(word) for word in sys.argv[1:] if word.isdigit()]
    count = counts[0] if counts else 4
    folder = scratch("drover-kafka-")
    broker = Kafka(folder, java=FAST if is_fast else QUICK)
    # In a script's background SIGINT is ignored.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        broker.prepare({"drover.cars": count, "drover.machines": count})
        print(f"DROVER_KAFKA_BROKERS={broker.brokers}", flush=True)
        while broker.process.poll() is None:
            time.sleep(0.2)
    except KeyboardInterrupt:
        pass
    finally:
        broker.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
