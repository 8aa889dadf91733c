"""How long each ready query takes on many rows, and whether its plan is the one that it names.

  .drover/venv-test/bin/python Tests/Peers/queries/bench.py [SAMPLES]

SAMPLES is readings of cars, 100,000,000 by itself: each row of vehicle_minute holds sixty. The rows are made by the server from
generate_series into tables without keys (fill.sql). PostgreSQL is the embedded one with its own settings, the login is in
drover_reader; each query is asked once for warmth and then three times, the middle time counts. Queries of sightings have
`drover bench sightings`.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parents[3]
DROVER = os.environ.get("DROVER_BIN", str(ROOT / ".build" / "release" / "drover"))
ASKED = {"cars/mpg_periods": ["2025-12-01", "2025-12-31", ""], "cars/utilisation": ["2025-12-01", "2025-12-31", ""], "tours/funnel": ["tour-1", "2025-01-01", "2026-12-31"]}


def main():
    samples = int(sys.argv[1].replace("_", "")) if len(sys.argv) > 1 else 100_000_000
    with tempfile.TemporaryDirectory(prefix="drover-bench-queries-", dir="/tmp") as folder:
        os.chmod(folder, 0o711)
        servers = subprocess.Popen([DROVER, "servers", "--data", folder + "/data"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            # The broker's line is the last one.
            for line in servers.stdout:
                if line.startswith("DROVER_TEST_POSTGRES="):
                    address = line.strip().partition("=")[2]
                if line.startswith("DROVER_TEST_BROKERS="):
                    break
            measure(address, samples)
        finally:
            servers.terminate()
            servers.wait(30)


def measure(address, samples):
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE DATABASE bench")
    address = re.sub(r"dbname='?\w+'?", "dbname=bench", address)
    subprocess.run([DROVER, "migrate"], env={**os.environ, "DROVER_POSTGRES_URL": address}, check=True, capture_output=True)
    began = time.monotonic()
    subprocess.run(["psql", "-X", "-q", "-v", f"minutes={samples // 60}", "-f", ROOT / "Tests" / "Peers" / "queries" / "fill.sql", address], check=True)
    with psycopg.connect(address, autocommit=True) as connection:
        def one(sql):
            return connection.execute(sql).fetchone()[0]
        print(f"{one('SELECT sum(readings) FROM drover.vehicle_minute'):,} readings of cars, {one('SELECT count(*) FROM drover.machine_reading'):,} of machines, "
              f"{one('SELECT pg_database_size(current_database())') / 1e9:.1f} GB, filled in {time.monotonic() - began:.0f} s")
        connection.execute("SET ROLE drover_reader")
        for area in ("machines", "cars", "dispatch", "tours", "joint"):
            for path in sorted((ROOT / "Queries" / area).glob("*.sql")):
                query(connection, f"{area}/{path.stem}", path.read_text())


def query(connection, name, text):
    given = ASKED.get(name) or [default or "" for default in re.findall(r"^-- Parameter: \w+ \w+ = ?(.*?):", text, re.M)]
    [plan] = re.findall(r"^-- Plan: (.+)$", text, re.M)
    times = []
    for _ in range(4):
        began = time.monotonic()
        cursor = psycopg.RawCursor(connection)
        rows = len(cursor.execute(text, given).fetchall())
        times.append(time.monotonic() - began)
    found = "\n".join(row[0] for row in psycopg.RawCursor(connection).execute("EXPLAIN " + text, given).fetchall())
    shape = next(line for line in found.splitlines() if plan in line and "Scan" in line).strip().removeprefix("->").split("(cost")[0].strip() if plan in found else "NOT ITS PLAN"
    print(f"{name:32} {statistics.median(times[1:]) * 1000:9.1f} ms {rows:7} rows  {shape}")


if __name__ == "__main__":
    main()
