"""The tests themselves: nothing waits by time, reads the wall clock or picks a port but where it stands here. The counts may only fall: who
needs one more finds an event to wait for, or moves the test to the long form."""
import re

import pytest
from harness import ROOT

HERE = ROOT / "Tests" / "System"
# What every test may use, and tools that are no tests.
HARNESS = {"harness.py", "world.py", "servers.py", "cluster.py", "brokers.py", "kafka.py", "clocks.py", "hosts.py", "chaos.py", "upgrade.py", "test_waiting.py"}
MOST = {
    r"\btime\.sleep\(": 27,
    r"wait_for_timeout\(": 0,
    r"datetime\.now\(|time\.time\(\)": 77,
    r"\.bind\(\(": 5,
    r"time\.monotonic\(\)": 35,
    r"\bseconds=\d|\btimeout=\d": 14,
}


def lines(pattern):
    for path in sorted(HERE.rglob("*.py")):
        if path.name not in HARNESS:
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if re.search(pattern, line):
                    yield f"{path.relative_to(ROOT)}:{number}: {line.strip()}"


@pytest.mark.parametrize("pattern", MOST)
def test_counts_may_only_fall(pattern):
    found = list(lines(pattern))
    assert len(found) <= MOST[pattern], "\n".join(found)


def test_there_is_one_way_to_wait():
    """It is `until`."""
    assert not list(lines(r"def (wait_until|eventually|poll_until)\("))
