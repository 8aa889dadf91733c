"""What a month's reports of a fleet cost beside bare SQL of the same figures.

    DROVER_BIN=.build/release/drover .drover/venv-test/bin/python Tests/Peers/reports/month.py [--cars 1000] [--trips 3]

Prints for each report and format its time and greatest memory, its size, and what psql takes for the same sums.
"""
import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "System"))
from world import a_world, connect

SQL = """SELECT (start_at AT TIME ZONE 'Europe/Berlin')::date AS day, vehicle, count(*), sum(distance_mm) / 1e6 AS km,
    sum(integrated_ms) / 3.6e6 AS h, sum(air_mg) FROM drover.trip
    WHERE start_at >= '2026-10-01 Europe/Berlin' AND start_at < '2026-11-01 Europe/Berlin' GROUP BY 1, 2 ORDER BY 1, 2"""


def measured(command, env, out="/tmp/drover-report-bench"):
    """Seconds and MB of a program of its own."""
    start = time.monotonic()
    with open(out, "wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.PIPE, env={**os.environ, **env})
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    return time.monotonic() - start, usage.ru_maxrss / 1024, os.path.getsize(out), said.decode().strip() if status else ""


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--cars", type=int, default=1_000)
    options.add_argument("--trips", type=int, default=3)
    options = options.parse_args()
    program = os.environ.get("DROVER_BIN", ".build/release/drover")
    with a_world(program) as world:
        env = world.database()
        with connect(env) as connection:
            connection.execute("INSERT INTO drover.vehicle SELECT 'car', 'car-' || n, '', 0, now() FROM generate_series(1, %s) n", [options.cars])
            connection.execute("""INSERT INTO drover.trip (vehicle, start_at, end_at, is_open, readings, disputed_readings, speed_readings, integrated_ms, distance_mm, idle_ms,
                holes, sharp_accelerations, sharp_brakings, max_speed_m_per_h, rpm_ms, milli_turns, max_rpm_milli, air_mg)
                SELECT 'car-' || n, start_at, start_at + interval '20 minutes', false, 1200, 0, 1200, 1200000, 9000000 + n * 1000, 60000, 0, 1, 2, 90000, 1200000, 40000000, 3000000, 9000000
                FROM generate_series(1, %s) n, generate_series(timestamptz '2026-10-01 06:00 Europe/Berlin', '2026-10-31 06:00 Europe/Berlin', '1 day') day,
                    generate_series(1, %s) k, LATERAL (SELECT day + k * interval '2 hours' + n * interval '1 s' AS start_at) s""", [options.cars, options.trips])
            connection.execute("ANALYZE drover.trip")
            [[trips]] = connection.execute("SELECT count(*) FROM drover.trip").fetchall()
        print(f"{trips} trips of {options.cars} cars")
        seconds, _, size, said = measured(["psql", env["DROVER_POSTGRES_URL"], "-XAtc", SQL], {})
        print(f"psql, sums by day and car: {seconds:.2f} s, {size / 1e6:.1f} MB {said}")
        for report in ("fuel", "trips"):
            for form in ("json", "csv", "xlsx", "pdf", "html"):
                seconds, memory, size, said = measured(
                    [program, "report", report, "--date", "2026-10-01", "--span", "month", "--zone", "Europe/Berlin", "--format", form], env)
                print(f"{report} as {form}: {seconds:.2f} s, {memory:.0f} MB of memory, {size / 1e6:.1f} MB {said}", flush=True)


if __name__ == "__main__":
    main()
