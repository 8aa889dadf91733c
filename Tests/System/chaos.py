"""Each fault by itself, several times, under load: what was lost, what was doubled, how long it took, what an operator saw.

    python Tests/System/chaos.py [--seed S] [--times N] [--only NAME,…] [--page docs/faults.md]

Two workers on hosts of their own (network namespaces, hosts.py) or on ours, a database and a broker beside them, a seeded load of cars,
machines and tours. After each fault's run the result tables must be, to the last digit, what one undisturbed worker makes of the same
input: a row too few is lost, a row too many or counted twice is doubled. Needs root, and libfaketime for the clocks. Environment:
DROVER_BIN (default .build/release/drover). Exit code 1 when anything was lost or doubled.
"""
import argparse
import collections
import json
import os
import random
import re
import statistics
import sys
import time
from pathlib import Path

from torture import Bench, Fleet, default_program, difference

# What happens; the fault of torture.py; on which broker; whether the workers have hosts of their own.
FAULTS = [
    ("A worker is killed (SIGKILL), another starts", "kill", "kafka", False),
    ("A worker is killed, those left take over", "takeover", "kafka", False),
    ("A worker is stopped (SIGTERM), another joins", "leave", "kafka", False),
    ("A worker stands still for less than its session", "pause", "kafka", False),
    ("A worker stands still for longer, and comes back", "zombie", "kafka", False),
    ("The same, in the middle of a transaction", "zombie-commit", "kafka", False),
    ("A worker's network is cut for seconds", "cut", "kafka", True),
    ("A worker's network is cut for longer than its session", "cut-long", "kafka", True),
    ("A worker's network becomes slow and lossy (96 kbit/s)", "slow", "kafka", True),
    ("A worker's clock jumps by hours and years", "clock", "kafka", True),
    ("PostgreSQL is restarted (fast)", "pg-fast", "kafka", False),
    ("PostgreSQL crashes (immediate) and recovers", "pg-immediate", "kafka", False),
    ("All sessions of the database are cut", "pg-backends", "kafka", False),
    ("The database's disk is full for seconds", "pg-full", "kafka", False),
    ("The broker is restarted", "broker", "kafka", False),
    ("The broker is killed, and comes back", "broker-kill", "kafka", False),
    ("A broker of a cluster is down for seconds", "mock-down", "mock", False),
    ("Partitions lose their leader, and get another", "mock-no-leader", "mock", False),
    ("A broker answers slowly (up to 0.9 s)", "mock-slow", "mock", False),
    ("Requests fail with what clusters answer", "mock-error", "mock", False),
]
# What tells nothing about a fault.
USUAL = re.compile(r'"(records not taken)"')


def said(folder):
    """The warnings and errors of the workers, the most frequent first, without what differs from line to line."""
    found = collections.Counter()
    for path in folder.glob("worker-*.log"):
        for line in path.read_text(errors="replace").splitlines():
            if (match := re.match(r'\S+ (?:warning|error) ("[^"]*")(?: line="(?:\[[^]]*\]: )?([^("]*))?', line)) and not USUAL.match(match[1]):
                # The words of the broker's library stand in a field of their own.
                text = match[1].strip('"') + (f": {match[2]}" if match[2] else "")
                found[re.sub(r"\d+", "N", text).strip()[:80]] += 1
    return [f"`{text}` ×{count}" for text, count in found.most_common(3)]


def one(program, seed, times, items, fault, say):
    what, name, broker, has_hosts = fault
    bench = Bench(program, seed, say, disk_mib=600 if name == "pg-full" else None, hosts=2 if has_hosts else 0)
    began, failed = time.monotonic(), True
    try:
        run = bench.run(broker, items, [name] * times, workers=2)
        any_order = run.load.is_reordered
        expected, ours = bench.reference(items, any_order=any_order), run.tables(any_order)
        told = difference(ours, expected)
        lost = sum(len(set(rows) - set(ours[table][1])) for table, (_, rows) in expected.items())
        more = sum(len(ours[table][1]) - len(set(ours[table][1]) & set(rows)) for table, (_, rows) in expected.items())
        recovery, lasted = ([seconds for each in found.values() for seconds in each] for found in (run.recovery, run.lasted))
        failed = told is not None
        if failed:
            say(told)
        return {"what": what, "fault": name, "broker": broker, "times": len(recovery), "rows": sum(len(rows) for _, rows in expected.values()),
                "lost": lost, "doubled": more, "lasted_max_s": max(lasted), "recovery_median_s": statistics.median(recovery), "recovery_max_s": max(recovery),
                "seen": said(run.folder), "ok": not failed}
    except AssertionError as wrong:
        say(f"{what}: {wrong}")
        return {"what": what, "fault": name, "broker": broker, "times": times, "ok": False, "error": str(wrong).splitlines()[0]}
    finally:
        say(f"{what}: {time.monotonic() - began:.0f} s{', logs: ' + str(bench.folder) if failed else ''}")
        bench.close(keep=failed)


def page(results, seed):
    lines = [
        "# Faults", "",
        "<!-- Made by Tests/System/chaos.py (make chaos): do not edit. -->", "",
        "Each fault alone, with two workers under load (cars, machines, tours; late and doubled records). Every result table is compared with",
        "that of one undisturbed worker. *Lost*: rows missing or different. *Doubled*: rows too many. *Recovery*: from the fault's end to the",
        "next write.", "",
        f"{time.strftime('%Y-%m-%d')}, seed {seed}, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}. Brokers: kafka is Apache Kafka, one",
        "broker; mock is librdkafka's cluster of three.", "",
        "| Fault | Broker | Times | Longest | Lost | Doubled | Recovery, median | Recovery, longest | Log, beside start and stop |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in results:
        if "rows" not in row:
            lines.append(f"| {row['what']} | {row['broker']} | {row['times']} | – | – | – | – | – | **failed**: {row['error']} |")
            continue
        seen = "; ".join(row["seen"]) or "–"
        lines.append(
            f"| {row['what']} | {row['broker']} | {row['times']} | {row['lasted_max_s']:.1f} s | {row['lost']} | {row['doubled']} | "
            f"{row['recovery_median_s']:.1f} s | {row['recovery_max_s']:.1f} s | {seen} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**6)))
    parser.add_argument("--times", type=int, default=5, help="how often each fault happens (default 5)")
    parser.add_argument("--only", default="", help="these faults, separated by commas: " + ", ".join(fault[1] for fault in FAULTS))
    parser.add_argument("--cars", type=int, default=60)
    parser.add_argument("--page", help="write the table to this file, too")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("chaos: needs root, for hosts and disks of its own")
    began = time.monotonic()

    def say(text):
        print(f"[{time.monotonic() - began:7.1f} s] {text}", file=sys.stderr, flush=True)

    say(f"seed {arguments.seed}")
    items = Fleet(arguments.seed, arguments.cars, 10, (10, 30), 40).as_sent()
    wanted = [fault for fault in FAULTS if not arguments.only or fault[1] in arguments.only.split(",")]
    results = []
    for fault in wanted:
        if fault[1] == "clock" and not list(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")):
            sys.exit("chaos: libfaketime is missing. Install it: apt-get install libfaketime")
        results.append(one(default_program(), arguments.seed, arguments.times, items, fault, say))
        print(json.dumps(results[-1]), flush=True)
    if arguments.page:
        Path(arguments.page).write_text(page(results, arguments.seed))
    return 0 if all(row["ok"] for row in results) else 1


if __name__ == "__main__":
    sys.exit(main())
