"""Hosts of a test's own: network namespaces, each with a cable to ours that can be cut or made slow, and a clock that can be set.

Needs root. What goes over a cable that is down is lost without a word, as between real machines: no connection is refused or reset.
"""
import glob
import os
import re
import subprocess
from pathlib import Path


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True)


class Hosts:
    """So many hosts beside ours. All reach ours, where brokers and databases listen, as `address`."""

    def __init__(self, folder, count):
        # A network for each process that runs tests side by side, as ports are (harness.py).
        worker = int(re.sub(r"\D", "", os.environ.get("PYTEST_XDIST_WORKER", "")) or 12)
        self.name, net = f"dv{os.getpid() % 100_000}", f"10.213.{worker}"
        self.address, self.network, self.hosts = f"{net}.1", f"{net}.0/24", []
        run("ip", "link", "add", self.name, "type", "bridge")
        run("ip", "address", "add", f"{self.address}/24", "dev", self.name)
        run("ip", "link", "set", self.name, "up")
        for number in range(count):
            self.hosts.append(Host(f"{self.name}-{number}", self.name, f"{net}.{number + 2}/24", Path(folder) / f"clock-{number}"))

    def close(self):
        for host in self.hosts:
            host.close()
        subprocess.run(["ip", "link", "del", self.name], capture_output=True)


class Host:
    def __init__(self, name, bridge, address, clock):
        self.name, self.cable, self.clock = name, name.replace("-", "c"), clock
        run("ip", "netns", "add", name)
        # The kernel makes both ends in our namespace; one end is then moved.
        run("ip", "link", "add", self.cable, "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", self.cable, "master", bridge)
        run("ip", "link", "set", self.cable, "up")
        run("ip", "-n", name, "address", "add", address, "dev", "eth0")
        run("ip", "-n", name, "link", "set", "eth0", "up")
        run("ip", "-n", name, "link", "set", "lo", "up")
        self.set_clock(0)

    def command(self, words):
        return ["ip", "netns", "exec", self.name, *words]

    def close(self):
        subprocess.run(["ip", "netns", "del", self.name], capture_output=True)
        subprocess.run(["ip", "link", "del", self.cable], capture_output=True)

    # MARK: the cable

    def cut(self):
        run("ip", "link", "set", self.cable, "down")

    def mend(self):
        run("ip", "link", "set", self.cable, "up")

    def slow(self, kilobits):
        """What it sends and gets waits up to two seconds, then is lost."""
        for place in (["dev", self.cable], ["dev", "eth0"]):
            inside = ["-n", self.name] if place[1] == "eth0" else []
            run("tc", *inside, "qdisc", "replace", *place, "root", "tbf", "rate", f"{kilobits}kbit", "burst", "16kb", "latency", "2s")

    def fast(self):
        run("tc", "qdisc", "del", "dev", self.cable, "root")
        run("tc", "-n", self.name, "qdisc", "del", "dev", "eth0", "root")

    # MARK: the clock

    @property
    def environment(self):
        """Of its processes: their clock follows a file (libfaketime). What measures spans of time goes on as it is."""
        libraries = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
        if not libraries:
            return {}
        return {"LD_PRELOAD": libraries[0], "FAKETIME_TIMESTAMP_FILE": str(self.clock), "FAKETIME_NO_CACHE": "1", "DONT_FAKE_MONOTONIC": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

    def set_clock(self, seconds):
        """So many seconds ahead of ours, at once."""
        self.clock.parent.mkdir(parents=True, exist_ok=True)
        self.clock.write_text(f"{seconds:+d}\n")
