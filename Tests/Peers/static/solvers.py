"""PyVRP, VROOM and OR-Tools on one set: `solvers.py NAME FILE SECONDS` prints {"routes", "cpu"}.

Seconds are processor time from the begin of the search on: building the model is given to them. Each gets a fixed cost
for a vehicle that outweighs any distance, so that fewest routes come first. Distances are rounded to 1/1000.
"""
import datetime
import json
import sys
import time

import sets

SCALE = 1000
FIXED = 10_000_000


def scaled(value):
    return round(value * SCALE)


def pyvrp(problem, seconds):
    from pyvrp import Model

    model = Model()
    places = [model.add_location(x, y) for x, y, *_ in problem.nodes]
    depot = model.add_depot(places[0], scaled(problem.nodes[0][3]), scaled(problem.nodes[0][4]))
    model.add_vehicle_type(
        problem.vehicles, problem.capacity, depot, depot, FIXED, scaled(problem.nodes[0][3]), scaled(problem.nodes[0][4])
    )
    pairs = list(problem.partner.items())
    for pickup, dropoff in pairs:
        p, d = problem.nodes[pickup], problem.nodes[dropoff]
        model.add_shipment(
            places[pickup], places[dropoff], scaled(p[3]), scaled(p[4]), scaled(p[5]),
            scaled(d[3]), scaled(d[4]), scaled(d[5]), amount=p[2],
        )
    for a in range(len(places)):
        for b in range(len(places)):
            if a != b:
                way = scaled(problem.distance(a, b))
                model.add_edge(places[a], places[b], way, way)

    began = time.process_time()
    result = model.solve(lambda cost: time.process_time() - began > seconds, seed=1, collect_stats=False, display=False)
    if not result.best.is_feasible():
        return None
    routes = []
    for route in result.best.routes():
        stops = []
        for step in route:
            activity = step.activity if hasattr(step, "activity") else step
            if not activity.is_depot():
                stops.append(pairs[activity.idx][0 if activity.is_pickup() else 1])
        routes.append(stops)
    return routes


def vroom(problem, seconds):
    """Its limit is wall time, so a run that was starved is repeated with a longer one."""
    import numpy
    from vroom import Input, Shipment, ShipmentStep, TimeWindow, Vehicle
    from vroom.vehicle import VehicleCosts

    count = len(problem.nodes)
    matrix = numpy.array(
        [[scaled(problem.distance(a, b)) for b in range(count)] for a in range(count)], dtype=numpy.uint32
    )
    wall = seconds
    for _ in range(3):
        model = Input()
        model.set_durations_matrix("car", matrix)
        for v in range(problem.vehicles):
            window = TimeWindow(scaled(problem.nodes[0][3]), scaled(problem.nodes[0][4]))
            model.add_vehicle(
                Vehicle(v + 1, 0, 0, capacity=[problem.capacity], time_window=window, costs=VehicleCosts(fixed=FIXED))
            )
        for pickup, dropoff in problem.partner.items():
            steps = [
                ShipmentStep(n, n, default_service=scaled(problem.nodes[n][5]),
                             time_windows=[TimeWindow(scaled(problem.nodes[n][3]), scaled(problem.nodes[n][4]))])
                for n in (pickup, dropoff)
            ]
            model.add_job(Shipment(*steps, amount=[problem.nodes[pickup][2]]))
        began, cpu = time.monotonic(), time.process_time()
        solution = model.solve(5, nb_threads=1, timeout=datetime.timedelta(seconds=wall))
        took, used = time.monotonic() - began, time.process_time() - cpu
        # It ended by itself, or had what it was promised.
        if took < wall * 0.95 or used > seconds * 0.9:
            break
        wall = wall * seconds / max(used, 0.05)
    table = solution.routes
    if solution.summary.unassigned:
        return None
    stops = table[table["type"].isin(["pickup", "delivery"])]
    return [[int(n) for n in part["location_index"]] for _, part in stops.groupby("vehicle_id", sort=True)]


def ortools(problem, seconds):
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    count = len(problem.nodes)
    manager = pywrapcp.RoutingIndexManager(count, problem.vehicles, 0)
    routing = pywrapcp.RoutingModel(manager)
    ways = [[scaled(problem.distance(a, b)) for b in range(count)] for a in range(count)]
    cost = routing.RegisterTransitMatrix(ways)
    took = routing.RegisterTransitMatrix([[w + scaled(problem.nodes[a][5]) for w in ways[a]] for a in range(count)])
    loads = routing.RegisterUnaryTransitVector([n[2] for n in problem.nodes])
    routing.SetArcCostEvaluatorOfAllVehicles(cost)
    routing.SetFixedCostOfAllVehicles(FIXED)
    horizon = scaled(problem.nodes[0][4])
    routing.AddDimension(took, horizon, horizon, False, "time")
    routing.AddDimension(loads, 0, problem.capacity, True, "load")
    clock = routing.GetDimensionOrDie("time")
    solver = routing.solver()
    for node in range(1, count):
        clock.CumulVar(manager.NodeToIndex(node)).SetRange(scaled(problem.nodes[node][3]), scaled(problem.nodes[node][4]))
    for pickup, dropoff in problem.partner.items():
        a, b = manager.NodeToIndex(pickup), manager.NodeToIndex(dropoff)
        routing.AddPickupAndDelivery(a, b)
        solver.Add(routing.VehicleVar(a) == routing.VehicleVar(b))
        solver.Add(clock.CumulVar(a) <= clock.CumulVar(b))
    parameters = pywrapcp.DefaultRoutingSearchParameters()
    parameters.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.PARALLEL_CHEAPEST_INSERTION
    parameters.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    parameters.time_limit.seconds = int(seconds * 10) + 1
    began = time.process_time()
    routing.AddSearchMonitor(solver.CustomLimit(lambda: time.process_time() - began > seconds))
    solution = routing.SolveWithParameters(parameters)
    if solution is None:
        return None
    routes = []
    for vehicle in range(problem.vehicles):
        at, stops = routing.Start(vehicle), []
        while not routing.IsEnd(at):
            stops.append(manager.IndexToNode(at))
            at = solution.Value(routing.NextVar(at))
        if len(stops) > 1:
            routes.append(stops[1:])
    return routes


if __name__ == "__main__":
    name, path, seconds = sys.argv[1:]
    found = {"pyvrp": pyvrp, "vroom": vroom, "ortools": ortools}[name](sets.read(path), float(seconds))
    print(json.dumps({"routes": found, "cpu": round(time.process_time(), 2)}))
