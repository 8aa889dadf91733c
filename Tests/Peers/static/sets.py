"""Li and Lim's and Cordeau and Laporte's files, and a judge of plans that shares nothing with the product."""
import csv
import json
import math
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Set:
    vehicles: int
    capacity: int
    #: x, y, load, earliest, latest, service
    nodes: list
    #: pickup -> drop-off
    partner: dict
    ride_max: float = math.inf
    route_max: float = math.inf

    def distance(self, a, b):
        return math.dist(self.nodes[a][:2], self.nodes[b][:2])


def read(path):
    head, *rows = [line.split() for line in Path(path).read_text().splitlines() if line.strip()]
    rows = [[float(field) for field in row] for row in rows]
    if len(head) == 3:
        nodes = [(r[1], r[2], int(r[3]), r[4], r[5], r[6]) for r in rows]
        return Set(int(head[0]), int(head[1]), nodes, {i: int(r[8]) for i, r in enumerate(rows) if i and r[8]})
    count = int(head[1]) // 2
    nodes = [(r[1], r[2], int(r[4]), r[5], r[6], r[3]) for r in rows[: 2 * count + 1]]
    return Set(
        int(head[0]), int(head[3]), nodes, {i: i + count for i in range(1, count + 1)}, float(head[4]), float(head[2])
    )


def length(problem, routes):
    return sum(problem.distance(a, b) for r in routes for a, b in zip([0, *r], [*r, 0]))


def faults(problem, routes, tolerance=1e-6):
    """What the plan breaks, in words. The tolerance is for solvers that round distances to whole numbers."""
    found = []
    if sorted(n for r in routes for n in r) != list(range(1, len(problem.nodes))):
        found.append("not every node is visited once")
    if len(routes) > problem.vehicles:
        found.append(f"{len(routes)} routes, {problem.vehicles} vehicles")
    for route in routes:
        place = {node: at for at, node in enumerate(route)}
        if any(p in place and place.get(d, -1) < place[p] for p, d in problem.partner.items()):
            found.append(f"a drop-off of {route} is not behind its pickup")
            continue
        load = 0
        for node in route:
            load += problem.nodes[node][2]
            if not 0 <= load <= problem.capacity:
                found.append(f"load {load} after {node}")
        found += late(problem, route, tolerance)
    return found


def late(problem, route, tolerance):
    """Earliest times, raised until rides and route are short enough: a schedule exists when these keep the windows."""
    path = [0, *route, 0]
    times = [problem.nodes[n][3] for n in path]
    for _ in range(len(path) + 2):
        before = list(times)
        for at in range(1, len(path)):
            service = problem.nodes[path[at - 1]][5]
            times[at] = max(times[at], times[at - 1] + service + problem.distance(path[at - 1], path[at]))
            if times[at] > problem.nodes[path[at]][4] + tolerance:
                return [f"node {path[at]} at {times[at]:.3f}, latest {problem.nodes[path[at]][4]}"]
        for at, node in enumerate(path):
            if node in problem.partner:
                end = path.index(problem.partner[node])
                times[at] = max(times[at], times[end] - problem.ride_max - problem.nodes[node][5])
        times[0] = max(times[0], times[-1] - problem.route_max)
        if max(b - a for a, b in zip(before, times)) < tolerance / 10:
            return []
    return [f"no times keep the longest ride or route of {route}"]


def best_known(folder):
    """instance -> (routes, distance); the routes are unknown for dial-a-ride."""
    folder = Path(folder)
    if (folder / "bks.csv").exists():
        with open(folder / "bks.csv") as file:
            return {r["instance"]: (int(r["routes"]), float(r["distance"])) for r in csv.DictReader(file)}
    with open(folder / "optimal.csv") as file:
        return {r["instance"]: (None, float(r["optimal_cost"])) for r in csv.DictReader(file)}


def lines(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()] if Path(path).exists() else []
