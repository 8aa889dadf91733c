"""Brokers that a test starts, disturbs and stops by itself: the embedded one and librdkafka's mock cluster. Apache Kafka is in kafka.py."""
import functools
import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic
from harness import DIES_WITH_US, HANG_S, ROOT, free_port, until

HOST = "127.0.0.1"


def answers(port, host=HOST):
    with socket.socket() as caller:
        caller.settimeout(0.5)
        return caller.connect_ex((host, port)) == 0


def make_topics(brokers, topics):
    """Makes topics (name: partitions) as `drover` does, and waits until the broker shows them."""
    admin = AdminClient({"bootstrap.servers": brokers, "log_level": 2})
    # The settings of Sources/Stream/Ingest/Topics.swift.
    config = {"retention.ms": "-1", "retention.bytes": "-1", "message.timestamp.type": "LogAppendTime"}
    made = admin.create_topics([NewTopic(name, count, 1, config=config) for name, count in topics.items()])
    for future in made.values():
        future.result(HANG_S)

    def are_shown():
        known = admin.list_topics(timeout=HANG_S).topics
        return all(name in known and len(known[name].partitions) == count for name, count in topics.items())

    until(are_shown, about=f"the broker's word of {topics}")


@functools.cache
def newest_librdkafka():
    """What to put into LD_LIBRARY_PATH to run `drover` on the librdkafka that comes in the confluent-kafka wheel."""
    import confluent_kafka

    bundled = Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs"
    [library] = bundled.glob("librdkafka-*.so.1")
    folder = Path(tempfile.mkdtemp(prefix="drover-librdkafka-"))
    (folder / "librdkafka.so.1").symlink_to(library)
    import atexit

    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return {"LD_LIBRARY_PATH": f"{folder}:{bundled}"}


class Served:
    """A server process on a port of the loopback; it can be stopped and started again on the same port."""

    name = "?"
    def __init__(self, folder, host=HOST):
        self.host = host
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.process = None
        for _ in range(8):
            self.port = free_port()
            if self.start():
                return
        raise AssertionError(f"{self.name} found its port taken eight times\n{self.said()}")

    @property
    def brokers(self):
        return f"{self.host}:{self.port}"

    def command(self):
        raise NotImplementedError

    def start(self):
        """False when it ended at once; the caller may try another port."""
        with open(self.folder / f"{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(
                [*DIES_WITH_US, *map(str, self.command())], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                cwd=self.folder, start_new_session=True)
        until(lambda: self.process.poll() is not None or self.is_up(), self.said, about=f"{self.name}'s answer")
        return self.process.poll() is None

    def is_up(self):
        return answers(self.port, self.host)

    def stop(self, number=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.send_signal(signal.SIGCONT)  # A test that failed may have left it stopped.
            try:
                self.process.wait(HANG_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(HANG_S)

    def close(self):
        self.stop()

    def said(self):
        path = self.folder / f"{self.name}.log"
        return path.read_text(errors="replace")[-2000:] if path.exists() else ""


class Noida(Served):
    """The embedded broker. It keeps its log when stopped by SIGTERM, and never expires a member that died."""

    name = "noida"

    def command(self):
        return [self.program(), "start", "--only", "kafka", "--host", self.host, "--kafka-port", self.port, "--data-dir", self.folder / "log"]

    @staticmethod
    def program():
        places = [os.environ.get("DROVER_BROKER", ""), *glob.glob(str(ROOT / ".drover/venv/lib/python3*/site-packages/noida_db/noida-db"))]
        for place in places:
            if place and os.access(place, os.X_OK):
                return place
        raise AssertionError("noida-db is not in .drover/venv; run Deploy/install, or name it in DROVER_BROKER")

    def prepare(self, topics):
        make_topics(self.brokers, topics)


class Mock:
    """librdkafka's mock cluster of three brokers (broker_mock.c): it misbehaves at a word, and keeps 5 MiB a partition."""

    name = "mock"

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.process = None

    @staticmethod
    @functools.cache
    def program():
        """Compiled when it is first needed; Deploy/install brings a C compiler with g++."""
        compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang", "/opt/swift/usr/bin/clang"))), None)
        assert compiler, "no C compiler (cc, gcc, clang) on PATH; run Deploy/install"
        program = Path(tempfile.mkdtemp(prefix="drover-mock-")) / "broker_mock"
        import atexit

        atexit.register(shutil.rmtree, program.parent, ignore_errors=True)
        subprocess.run(
            [compiler, "-O1", "-o", program, ROOT / "Tests" / "System" / "engine" / "broker_mock.c", "-lrdkafka"], check=True)
        return program

    def prepare(self, topics):
        """Its topics are made when it starts: it knows no request that makes them."""
        topics = {"drover.alerts": 1, "drover.assignments": 1, "drover.rejected": 1} | topics
        with open(self.folder / "mock.log", "ab") as log:
            self.process = subprocess.Popen(
                [*DIES_WITH_US, str(self.program()), "3", *(f"{name}:{count}" for name, count in topics.items())],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True)
        self.brokers = self.process.stdout.readline().strip()
        assert self.brokers, f"the mock cluster did not start\n{self.said()}"

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        assert answer == "ok", f"mock cluster: {command}: {answer or 'ended'}"

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(HANG_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(HANG_S)

    def close(self):
        self.stop()

    def said(self):
        path = self.folder / "mock.log"
        return path.read_text(errors="replace")[-2000:] if path.exists() else ""
