"""Ours beside PyVRP, VROOM and OR-Tools on static sets, one after the other on one core, by processor time.

compare.py run FOLDER OUT --drover .build/release/peer-plan      FOLDER: with instances/ and bks.csv or optimal.csv
compare.py report FOLDER OUT

OUT gets a line a result; what it holds already is not run again, so a run can be stopped and continued. Each plan is
judged here. Needs what requirements.txt lists.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

import sets

SOLVERS = ["drover", "pyvrp", "vroom", "ortools"]


def solve(solver, path, seconds, drover):
    if solver == "drover":
        command = [drover, path, "--budget", f"{seconds}s", "--clock", "processor", "--format", "json"]
    else:
        command = [sys.executable, Path(__file__).with_name("solvers.py"), solver, path, str(seconds)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        run = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, timeout=seconds * 30 + 120,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired:
        return None, "not done in time", None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2)
    if run.returncode != 0:
        return None, run.stderr.strip()[-200:], cpu
    return json.loads(run.stdout.splitlines()[-1])["routes"], None, cpu


def run(options):
    folder = Path(options.folder)
    known = {(r["instance"], r["solver"], r["seconds"]) for r in sets.lines(options.out)}
    names = options.instances or sorted(p.stem for p in (folder / "instances").glob("*.txt"))
    with open(options.out, "a") as out:
        for name in names:
            path = folder / "instances" / f"{name}.txt"
            problem = sets.read(path)
            for seconds in options.seconds:
                for solver in options.solvers:
                    if (name, solver, seconds) in known:
                        continue
                    routes, error, cpu = solve(solver, path, seconds, options.drover)
                    row = {"instance": name, "solver": solver, "seconds": seconds, "cpu": cpu, "error": error}
                    if routes is not None:
                        row |= {"vehicles": len(routes), "distance": round(sets.length(problem, routes), 4)}
                        # Peers round distances: what is late by less than 0.02 counts as in time for them.
                        row["faults"] = sets.faults(problem, routes, 1e-6 if solver == "drover" else 0.02)[:3]
                        row["routes"] = routes
                    print(json.dumps(row), file=out, flush=True)
                    print(name, solver, seconds, row.get("vehicles"), row.get("distance"), cpu, error or row.get("faults"))


def report(options):
    best = sets.best_known(options.folder)
    rows = sets.lines(options.out)
    names = sorted({r["instance"] for r in rows})
    found = {(r["instance"], r["solver"], r["seconds"]): r for r in rows if "routes" in r and not r["faults"]}
    columns = sorted({(r["seconds"], SOLVERS.index(r["solver"])) for r in rows})
    head = [f"{SOLVERS[s]} {t:g} s" for t, s in columns]
    print("| instance | best known | " + " | ".join(head) + " |\n" + "|---" * (len(head) + 2) + "|")
    for name in names:
        cells = [found.get((name, SOLVERS[s], t)) for t, s in columns]
        text = [f"{c['vehicles']}/{c['distance']:.1f}" if c else "–" for c in cells]
        fleet, distance = best.get(name, (None, None))
        print(f"| {name} | {fleet or ''}/{distance or ''} | " + " | ".join(text) + " |")
    print()
    for seconds, s in columns:
        solver = SOLVERS[s]
        mine = {n: found.get((n, solver, seconds)) for n in names if n in best}
        fleet = [n for n, r in mine.items() if r and (best[n][0] is None or r["vehicles"] <= best[n][0])]
        equal = [n for n in fleet if best[n][0] in (None, mine[n]["vehicles"])]
        gaps = [100 * (mine[n]["distance"] / best[n][1] - 1) for n in equal]
        tried = [r for r in rows if r["solver"] == solver and r["seconds"] == seconds]
        failed = sum(1 for r in tried if "routes" not in r or r["faults"])
        cpu = statistics.mean(r["cpu"] for r in tried if r["cpu"] is not None)
        gap = f"{statistics.median(gaps):.2f} % median, {statistics.mean(gaps):.2f} % mean" if gaps else "–"
        print(f"{solver:8} {seconds:4g} s: best known fleet {len(fleet)} of {len(mine)}, gap there {gap}, "
              f"without a possible plan {failed}, {cpu:.1f} s of processor time")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
verbs = parser.add_subparsers(required=True)
for verb, action in (("run", run), ("report", report)):
    part = verbs.add_parser(verb)
    part.set_defaults(action=action)
    part.add_argument("folder")
    part.add_argument("out")
    if verb == "run":
        part.add_argument("--drover", default=".build/release/peer-plan")
        part.add_argument("--seconds", type=lambda t: [float(x) for x in t.split(",")], default=[1.0, 5.0, 20.0])
        part.add_argument("--solvers", type=lambda t: t.split(","), default=SOLVERS)
        part.add_argument("--instances", type=lambda t: t.split(","))
options = parser.parse_args()
options.action(options)
