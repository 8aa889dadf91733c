"""Surveys a second over HTTPS with acks=all, as wrk sees it (Debian: wrk), the gateway on one core and all else on another.

    DROVER_BIN=.build/release/drover .drover/venv-test/bin/python Tests/Peers/surveys/submissions.py --seconds 30

Says what wrk said, what the topic holds beside it, and what the gateway's core did. A plain handler of the same server beside
it (the description of the API) says how much of it is HTTPS and wrk itself.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "System"))
from harness import Drover
from surveyors import SurveyDesk, a_site
from world import World


def wrk(options, path, *more, **env):
    command = ["taskset", "-c", "1", "wrk", "-t", "1", "-c", str(options.connections), "-d", f"{options.seconds}s", "--latency", *more,
               f"https://127.0.0.1:{options.port}{path}"]
    said = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, check=True).stdout
    print(said)
    return said


def cpu_s(process):
    user, system = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--sightings", type=int, default=10, help="of each survey")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="drover-submissions-", dir="/tmp"))
    folder.chmod(0o711)
    os.sched_setaffinity(0, {1})
    drover = Drover(os.environ["DROVER_BIN"])
    try:
        world = World(drover, drover.servers(folder / "data"))
        desk = SurveyDesk(world, folder)
        options.port, server = desk.port, desk.server.process
        for task in Path(f"/proc/{server.pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), {0})
        site, began = a_site(), cpu_s(server)
        said = wrk(options, "/v1/surveys", "-s", str(Path(__file__).with_name("submit.lua")),
                   SITE=site, RUN="r", TOKEN=desk.token(), SIGHTINGS=str(options.sightings))
        used = cpu_s(server) - began
        stored = int(said.rpartition("stored ")[2].split(",")[0])
        logged = Counter(record["survey"]["survey"] for key, record in desk.log() if key.startswith(site))
        print(f"on the log {len(logged)} surveys, {sum(logged.values()) - len(logged)} of them twice; {stored} were acknowledged to wrk")
        assert len(logged) >= stored
        print(f"the gateway used {used:.1f} s of its core in {options.seconds} s, {1000 * used / max(stored, 1):.2f} ms a survey\n")
        wrk(options, "/openapi.json")
    finally:
        drover.close()
        shutil.rmtree(folder, ignore_errors=True)


main()
