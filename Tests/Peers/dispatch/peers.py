#!/usr/bin/env python3
"""OR-Tools and VROOM beside `drover` on the same itineraries, streams and sets, in the same run. Prints one JSON object a line.

  python3 -m venv V && V/bin/pip install -r Tests/Peers/dispatch/requirements.txt
  V/bin/python Tests/Peers/dispatch/peers.py exact --drover .build/release/drover
  V/bin/python Tests/Peers/dispatch/peers.py stream --drover .build/release/drover --vehicles 5 --streams 10
  V/bin/python Tests/Peers/dispatch/peers.py stream --drover .build/release/drover --file ../shared/data/dispatch/stream.jsonl
  V/bin/python Tests/Peers/dispatch/peers.py sets --drover .build/release/drover

Times are processor times of one thread. J = driving + what passengers wait and ride, in seconds.
"""
import argparse
import json
import math
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from ortools.constraint_solver import pywrapcp, routing_enums_pb2

METRES_A_SECOND = 20 / 3.6
PARTIES = [1, 1, 1, 1, 2, 2, 3]
SIZES = {5: (20, 120, 55), 20: (80, 160, 10.5), 100: (420, 140, 1.8)}


def say(**row):
    print(json.dumps(row), flush=True)


def seconds(a, b):
    return math.dist(a, b) / METRES_A_SECOND


def drover(command, *arguments):
    run = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, check=True)
    return run.stdout


# ---------------------------------------------------------------- a fleet at one moment, for OR-Tools

class Moment:
    """Vehicles as (place, capacity, on board, waiting): rides are (id, passengers, from, to)."""

    def __init__(self, vehicles, matrix=None):
        self.vehicles, self.matrix = vehicles, matrix

    def solve(self, routes, new=None, limit_s=None, guided=False):
        """Routes of (id, kind) by vehicle, from a warm start. Gives the routes and the solver's processor seconds."""
        nodes, owner, pairs = [], {}, {}
        for v, (place, _, on_board, waiting) in enumerate(self.vehicles):
            for ride in on_board:
                owner[len(nodes)] = v
                pairs[ride[0]] = (None, len(nodes))
                nodes.append((ride[3], -ride[1], ride[1]))
            for ride in waiting:
                pairs[ride[0]] = (len(nodes), len(nodes) + 1)
                nodes += [(ride[2], ride[1], 0), (ride[3], -ride[1], ride[1])]
        if new:
            pairs[new[0]] = (len(nodes), len(nodes) + 1)
            nodes += [(new[2], new[1], 0), (new[3], -new[1], new[1])]
        count, fleet = len(nodes), len(self.vehicles)
        places = [node[0] for node in nodes] + [vehicle[0] for vehicle in self.vehicles]
        between = self.matrix or seconds
        table = [[round(between(a, b)) for b in places] + [0] for a in places] + [[0] * (len(places) + 1)]
        manager = pywrapcp.RoutingIndexManager(len(table), fleet, [count + v for v in range(fleet)], [len(places)] * fleet)
        model = pywrapcp.RoutingModel(manager)
        transit = model.RegisterTransitMatrix(table)
        model.SetArcCostEvaluatorOfAllVehicles(transit)
        model.AddDimension(transit, 0, 1_000_000, True, "time")
        clock = model.GetDimensionOrDie("time")
        demand = model.RegisterUnaryTransitVector([node[1] for node in nodes] + [0] * (fleet + 1))
        model.AddDimensionWithVehicleCapacity(demand, 0, [vehicle[1] for vehicle in self.vehicles], False, "load")
        load = model.GetDimensionOrDie("load")
        for v, vehicle in enumerate(self.vehicles):
            load.CumulVar(model.Start(v)).SetValue(sum(ride[1] for ride in vehicle[2]))
        for node, (_, _, passengers) in enumerate(nodes):
            if passengers:
                clock.SetCumulVarSoftUpperBound(manager.NodeToIndex(node), 0, passengers)
        for node, v in owner.items():
            model.solver().Add(model.VehicleVar(manager.NodeToIndex(node)) == v)
        for pickup, dropoff in pairs.values():
            if pickup is None:
                continue
            a, b = manager.NodeToIndex(pickup), manager.NodeToIndex(dropoff)
            model.AddPickupAndDelivery(a, b)
            model.solver().Add(model.VehicleVar(a) == model.VehicleVar(b))
            model.solver().Add(clock.CumulVar(a) <= clock.CumulVar(b))
        parameters = pywrapcp.DefaultRoutingSearchParameters()
        heuristics = routing_enums_pb2.LocalSearchMetaheuristic
        parameters.local_search_metaheuristic = heuristics.GUIDED_LOCAL_SEARCH if guided else heuristics.GREEDY_DESCENT
        if limit_s:
            parameters.time_limit.FromMilliseconds(int(limit_s * 1000))
        model.CloseModelWithParameters(parameters)
        names = {pairs[ride][0 if kind == "p" else 1]: (ride, kind) for route in routes for ride, kind in route}
        start = model.ReadAssignmentFromRoutes(
            [[pairs[ride][0 if kind == "p" else 1] for ride, kind in route] for route in routes], True)
        assert start, "the warm start is not feasible"
        began = time.process_time()
        solution = model.SolveFromAssignmentWithParameters(start, parameters)
        spent = time.process_time() - began
        found = []
        for v in range(fleet):
            index, route = solution.Value(model.NextVar(model.Start(v))), []
            while not model.IsEnd(index):
                route.append(names[manager.IndexToNode(index)])
                index = solution.Value(model.NextVar(index))
            found.append(route)
        return found, spent


def cost(vehicle, route, rides, between=seconds):
    """J of a route from now; None when it is not feasible."""
    place, capacity, on_board, _ = vehicle
    load, clock, total = sum(ride[1] for ride in on_board), 0.0, 0.0
    for name, kind in route:
        ride = rides[name]
        target = ride[2] if kind == "p" else ride[3]
        drive = between(place, target)
        clock, total, place = clock + drive, total + drive, target
        load += ride[1] if kind == "p" else -ride[1]
        if load > capacity:
            return None
        if kind == "d":
            total += ride[1] * clock
    return total


def inserted(vehicles, routes, ride, rides, banned=()):
    """The routes with a ride where it costs least, the others in their order."""
    best = (math.inf, None)
    for v, vehicle in enumerate(vehicles):
        if v in banned or ride[1] > vehicle[1]:
            continue
        before = cost(vehicle, routes[v], rides)
        for i in range(len(routes[v]) + 1):
            for j in range(i, len(routes[v]) + 1):
                route = routes[v][:i] + [(ride[0], "p")] + routes[v][i:j] + [(ride[0], "d")] + routes[v][j:]
                after = cost(vehicle, route, rides)
                if after is not None and after - before < best[0]:
                    best = (after - before, (v, route))
    return best[1]


# ---------------------------------------------------------------- exact itineraries

def exact(options):
    rnd = random.Random(options.seed)
    cases, moments = [], []
    for on_board, waiting in [(2, 3), (2, 4), (2, 5)]:
        for number in range(options.cases):
            points = [(rnd.uniform(0, 3000), rnd.uniform(0, 3000)) for _ in range(1 + on_board + 2 * waiting)]
            matrix = [[round(seconds(a, b)) for b in points] for a in points]
            vehicle = {"id": "v", "location": 0, "capacity": 6, "onboard": [], "open": []}
            rides, at = {}, 1
            for r in range(on_board):
                vehicle["onboard"].append({"request": f"o{r}", "pax": rnd.choice([1, 2]), "dropoff": at, "rank": r + 1})
                rides[f"o{r}"] = (f"o{r}", vehicle["onboard"][-1]["pax"], None, at)
                at += 1
            for r in range(waiting):
                vehicle["open"].append({"request": f"w{r}", "pax": rnd.choice([1, 1, 2, 3]), "pickup": at, "dropoff": at + 1,
                                        "rank": on_board + r + 1})
                rides[f"w{r}"] = (f"w{r}", vehicle["open"][-1]["pax"], at, at + 1)
                at += 2
            cases.append({"id": f"{on_board + 2 * waiting}-{number}", "kind": "tour", "vehicle": vehicle, "matrix_s": matrix})
            moments.append((on_board + 2 * waiting, vehicle, rides, matrix))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases.json"
        path.write_text(json.dumps({"cases": cases}))
        best = [json.loads(line)["cost"] for line in drover(options.drover, "plan", path, "--format", "json").splitlines()]
        figures = json.loads(drover(options.drover, "bench", "dispatch", "--cases", path, "--format", "json"))
    ours = [figure["value"] for figure in figures]
    peers = {}
    for optimum, (stops, vehicle, rides, matrix) in zip(best, moments):
        def between(a, b):
            return matrix[a][b]

        state = (0, 6, [rides[g["request"]] for g in vehicle["onboard"]], [rides[g["request"]] for g in vehicle["open"]])
        # Those on board first, then the others in order of their rank: always feasible.
        warm = [(ride[0], "d") for ride in state[2]] + [(ride[0], kind) for ride in state[3] for kind in "pd"]
        (route,), spent = Moment([state], between).solve([warm])
        peers.setdefault(stops, []).append((spent * 1e6, cost(state, route, rides, between) / optimum - 1))
    for value, (stops, runs) in zip(ours, sorted(peers.items())):
        other = statistics.median(run[0] for run in runs)
        say(case=f"exact, {stops} stops", drover_us=value, ortools_us=round(other, 1), ratio=round(other / value, 1),
            ortools_gap_mean=round(statistics.mean(run[1] for run in runs), 4),
            ortools_optimal=sum(run[1] < 1e-9 for run in runs), cases=len(runs))


# ---------------------------------------------------------------- streams

def seeded(vehicles, seed):
    warm_up, measured, gap = SIZES[vehicles]
    rnd = random.Random(seed)

    def place():
        return {"x_m": round(rnd.uniform(0, 3000), 1), "y_m": round(rnd.uniform(0, 3000), 1)}

    events = [{"t": 0.0, "type": "in_service", "vehicle": f"v{v}", "capacity": 6, **place()} for v in range(vehicles)]
    t = 0.0
    for r in range(warm_up + measured):
        t += rnd.expovariate(1 / gap)
        a, b = place(), place()
        while math.dist(tuple(a.values()), tuple(b.values())) <= 330:
            a, b = place(), place()
        events.append({"t": t, "type": "pickup_request", "request": f"r{r}", "pax": rnd.choice(PARTIES), "from": a, "to": b})
    return events


class Drive:
    """The vehicles of a stream, that divert at once and stay where they are when they have nothing to do."""

    def __init__(self, policy):
        self.policy, self.now, self.driven = policy, 0.0, 0.0
        self.places, self.capacity, self.routes, self.on_board = {}, {}, {}, {}
        self.rides, self.asked, self.picked, self.dropped, self.banned = {}, {}, {}, {}, {}
        self.queue, self.spent = [], []

    def target(self, v):
        name, kind = self.routes[v][0]
        return self.rides[name][2 if kind == "p" else 3]

    def advance(self, until):
        while True:
            arrivals = [(self.now + seconds(self.places[v], self.target(v)), v) for v in self.places if self.routes[v]]
            at, first = min(arrivals, default=(math.inf, None))
            step = min(at, until) - self.now
            for v in self.places:
                if not self.routes[v]:
                    continue
                whole = seconds(self.places[v], self.target(v))
                share = min(1, step / whole) if whole else 1
                self.driven += min(step, whole)
                (x, y), (tx, ty) = self.places[v], self.target(v)
                self.places[v] = (x + (tx - x) * share, y + (ty - y) * share)
            self.now += step
            if at > until:
                return
            name, kind = self.routes[first].pop(0)
            self.places[first] = self.rides[name][2 if kind == "p" else 3]
            if kind == "p":
                self.picked.setdefault(name, self.now)
                self.on_board[first].append(name)
            else:
                self.dropped[name] = self.now
                self.on_board[first].remove(name)

    def state(self, v):
        waiting = [self.rides[name] for name, kind in self.routes[v] if kind == "p"]
        return (self.places[v], self.capacity[v], [self.rides[name] for name in self.on_board[v]], waiting)

    def place(self, name):
        fleet = list(self.places)
        states, routes = [self.state(v) for v in fleet], [self.routes[v] for v in fleet]
        banned = [i for i, v in enumerate(fleet) if v in self.banned.get(name, ())]
        spot = inserted(states, routes, self.rides[name], self.rides, banned)
        if not spot:
            self.queue.append(name)
            return
        warm = [spot[1] if i == spot[0] else route for i, route in enumerate(routes)]
        found, spent = Moment(states).solve(warm, self.rides[name], **self.policy)
        # A driver's refusal stands: a plan that brings a ride back to him is not taken.
        bad = any(v in self.banned.get(ride, ()) for v, route in zip(fleet, found) for ride, _ in route)
        for v, route in zip(fleet, warm if bad else found):
            self.routes[v] = route
        self.spent.append(spent)

    def holder(self, name):
        return next((v for v, route in self.routes.items() if (name, "p") in route), None)

    def take(self, event):
        kind = event["type"]
        if kind == "in_service":
            v = event["vehicle"]
            self.places[v], self.capacity[v] = (event["x_m"], event["y_m"]), event["capacity"]
            self.routes[v], self.on_board[v] = [], []
            names, self.queue = self.queue, []
        elif kind == "pickup_request":
            name = event["request"]
            self.rides[name] = (name, event["pax"], tuple(event["from"].values()), tuple(event["to"].values()))
            self.asked[name] = self.now
            names = [name]
        elif kind in ("cancel", "override"):
            v, names = self.holder(event["request"]), []
            if v is not None:
                self.routes[v] = [stop for stop in self.routes[v] if stop[0] != event["request"]]
                if kind == "override":
                    self.banned.setdefault(event["request"], set()).add(v)
                    names = [event["request"]]
        elif kind == "out_of_service":
            v = event["vehicle"]
            names = list(dict.fromkeys(name for name, _ in self.routes[v]))
            for name in self.on_board[v]:
                ride = self.rides[name]
                self.rides[name] = (name, ride[1], self.places[v], ride[3])
            for table in (self.places, self.capacity, self.routes, self.on_board):
                del table[v]
        else:
            return
        for name in names:
            self.place(name)


def stream(options):
    files = [(options.file, None)] if options.file else [(None, seed) for seed in range(1, options.streams + 1)]
    warm_up = 0 if options.file else SIZES[options.vehicles][0]
    policy = {"limit_s": 0.2, "guided": True} if options.guided else {}
    rows = []
    for path, seed in files:
        with tempfile.TemporaryDirectory() as folder:
            if path is None:
                path = Path(folder) / "stream.jsonl"
                path.write_text("".join(json.dumps(e) + "\n" for e in seeded(options.vehicles, seed)))
            figures = json.loads(drover(options.drover, "bench", "dispatch", "--stream", path, "--warm-up", warm_up,
                                        "--streams", 3, "--format", "json"))
            events = [json.loads(line) for line in Path(path).read_text().splitlines()]
        drive, count, since, driven = Drive(policy), 0, 0.0, 0.0
        for event in events:
            drive.advance(event["t"])
            if event["type"] == "pickup_request":
                count += 1
                if count == warm_up + 1:
                    since, driven, drive.spent = drive.now, drive.driven, []
            drive.take(event)
        drive.advance(1e9)
        served = [name for name, at in drive.dropped.items() if at > since]
        passengers = sum(drive.rides[name][1] for name in served)
        j = drive.driven - driven + sum(
            drive.rides[name][1] * (drive.dropped[name] - max(drive.asked[name], since)) for name in served)
        ours = {figure["name"].split(": ")[1]: figure for figure in figures}
        row = {
            "stream": str(seed or Path(path).name), "drover": ours["J per passenger"]["value"],
            "insertion": ours["J per passenger"]["baseline"], "ortools": round(j / passengers, 2),
            "ratio": round(ours["J per passenger"]["value"] / (j / passengers), 4),
            "drover_drive_s": ours["drive"]["value"], "ortools_drive_s": round(drive.driven - driven),
            "drover_ms": ours["request and improvement p50"]["value"],
            "ortools_ms": round(1e3 * statistics.median(drive.spent), 2)}
        rows.append(row)
        say(**row)
    say(stream="all", ratio=round(statistics.mean(row["drover"] for row in rows) / statistics.mean(row["ortools"] for row in rows), 4))


# ---------------------------------------------------------------- whole sets

def vroom_set(vehicles, requests, shift_s, level):
    import vroom

    problem = vroom.Input()
    points = [v[0] for v in vehicles] + [p for r in requests for p in (r[2], r[3])]
    problem.set_durations_matrix("car", [[round(seconds(a, b)) for b in points] for a in points])
    for v, (_, capacity, _, _) in enumerate(vehicles):
        problem.add_vehicle(vroom.Vehicle(v, start=v, capacity=[capacity], time_window=vroom.TimeWindow(0, shift_s)))
    for r, ride in enumerate(requests):
        at = len(vehicles) + 2 * r
        problem.add_shipment(vroom.ShipmentStep(r, location=at), vroom.ShipmentStep(r, location=at + 1), amount=vroom.Amount([ride[1]]))
    began = time.process_time()
    solution = problem.solve(exploration_level=level, nb_threads=1)
    spent = time.process_time() - began
    routes = [[] for _ in vehicles]
    for step in solution.routes.itertuples():
        if step.type in ("pickup", "delivery"):
            routes[step.vehicle_id].append((requests[int(step.id)][0], step.type[0]))
    return routes, spent, len(solution.to_dict()["unassigned"])


def sets(options):
    rnd = random.Random(options.seed)
    for fleet, count, ours_s, shifts, level, ortools_s in [
            (5, 30, 1, (1500, 1800, 2100), 5, 60), (20, 200, 1, (1800, 2100, 2400), 5, None),
            (100, 1000, 20, (2100,), 0, None)]:
        if options.quick:
            level, ortools_s = 0, None
        def place():
            return (round(rnd.uniform(0, 3000), 1), round(rnd.uniform(0, 3000), 1))

        vehicles = [(place(), 6, [], []) for _ in range(fleet)]
        requests = [(f"r{r}", rnd.choice(PARTIES), place(), place()) for r in range(count)]
        rides = {ride[0]: ride for ride in requests}
        case = {
            "id": f"{fleet}x{count}", "kind": "fleet", "speed_kmh": 20,
            "vehicles": [{"id": f"v{v}", "capacity": 6, "x_m": p[0], "y_m": p[1]} for v, (p, *_) in enumerate(vehicles)],
            "requests": [{"request": r[0], "pax": r[1], "from": {"x_m": r[2][0], "y_m": r[2][1]},
                          "to": {"x_m": r[3][0], "y_m": r[3][1]}} for r in requests]}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "set.json"
            path.write_text(json.dumps(case))
            answer = json.loads(drover(options.drover, "plan", path, "--budget", f"{ours_s}s", "--clock", "processor",
                                       "--format", "json"))
        routes = [[(name, kind[0]) for name, kind in item["order"]] for item in answer["itineraries"]]
        assert sorted(stop for route in routes for stop in route) == sorted((r[0], k) for r in requests for k in "pd")
        ours = sum(cost(v, route, rides) for v, route in zip(vehicles, routes))
        assert abs(ours - answer["cost"]) < 1e-3 * ours, "the cost that was said is not the cost of the plan"
        row = {"set": case["id"], "drover": round(ours), "drover_s": ours_s}
        best = math.inf
        for shift in shifts:
            found, spent, left = vroom_set(vehicles, requests, shift, level)
            if left == 0:
                j = sum(cost(v, route, rides) for v, route in zip(vehicles, found))
                if j < best:
                    best = j
                    row |= {"vroom": round(j), "vroom_level": level, "vroom_shift_s": shift, "vroom_s": round(spent, 1),
                            "ratio_vroom": round(ours / j, 4)}
        if ortools_s:
            warm = [[] for _ in vehicles]
            for ride in requests:
                v, route = inserted(vehicles, warm, ride, rides)
                warm[v] = route
            states = [(p, c, [], [rides[name] for name, kind in route if kind == "p"])
                      for (p, c, _, _), route in zip(vehicles, warm)]
            found, _ = Moment(states).solve(warm, limit_s=ortools_s, guided=True)
            j = sum(cost(v, route, rides) for v, route in zip(vehicles, found))
            row |= {"ortools": round(j), "ortools_s": ortools_s, "ratio_ortools": round(ours / j, 4)}
        say(**row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["exact", "stream", "sets"])
    parser.add_argument("--drover", required=True, help="the release build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=40, help="exact: itineraries of each size")
    parser.add_argument("--vehicles", type=int, choices=sorted(SIZES), default=5)
    parser.add_argument("--streams", type=int, default=10)
    parser.add_argument("--file", help="stream: a recorded one")
    parser.add_argument("--guided", action="store_true", help="stream: OR-Tools searches 0.2 s instead of to its first optimum")
    parser.add_argument("--quick", action="store_true", help="sets: VROOM at its lowest level, no OR-Tools")
    options = parser.parse_args()
    {"exact": exact, "stream": stream, "sets": sets}[options.what](options)


if __name__ == "__main__":
    main()
