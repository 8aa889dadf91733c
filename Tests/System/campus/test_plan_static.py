"""The search of static sets (Tests/Peers/static), judged by a checker that shares nothing with the product."""
import json
import sys

import pytest
from harness import ROOT, Drover

sys.path.append(str(ROOT / "Tests" / "Peers" / "static"))
import sets  # noqa: E402

PLANS = ROOT / "Tests" / "Fixtures" / "plans"


@pytest.fixture
def search(program):
    path = program.with_name("peer-plan")
    if not path.exists():
        pytest.skip(f"{path}: not built. Run swift build -c release --product peer-plan")
    return Drover(path)


def planned(search, path, *options):
    plan, problem = json.loads(search.done(path, "--format", "json", *options).out), sets.read(path)
    assert sets.faults(problem, plan["routes"]) == []
    assert plan["vehicles"] == len(plan["routes"])
    assert plan["distance"] == pytest.approx(sets.length(problem, plan["routes"]), abs=1e-6)
    return plan


@pytest.mark.parametrize("name", ["parcels", "rides"])
def test_a_set_is_planned_and_the_same_again(search, name):
    plans = [planned(search, PLANS / f"{name}.txt", "--iterations", "600", "--seed", str(s)) for s in (7, 7, 8)]
    assert plans[0] == plans[1]


def test_a_longer_search_finds_no_worse_plan_and_a_budget_ends_it(search):
    short = planned(search, PLANS / "parcels.txt", "--iterations", "1")
    long = planned(search, PLANS / "parcels.txt", "--budget", "1s", "--clock", "processor")
    assert (long["vehicles"], long["distance"]) < (short["vehicles"], short["distance"])
    assert search.run(PLANS / "rides.txt", "--budget", "500ms").code == 0


def test_text_for_people_lists_each_route(search):
    run = search.run(PLANS / "rides.txt", "--iterations", "100")
    *routes, total = run.out.splitlines()
    assert [line.split(":")[0] for line in routes] == [str(i + 1) for i in range(len(routes))]
    assert total.startswith(f"{len(routes)} vehicles, distance ")


@pytest.mark.parametrize(
    "text, says",
    [
        ("", "set.txt:1: is empty. Name a file of a static set"),
        ("one two three\n", "set.txt:1: `one` must be a number from -1e9 to 1e9"),
        ("2 10 1\n0 0 0 0 0 100 0 0 0\n1 5 5 5 0 100 0 0 2\n2 9 9 -5 0 3 0 1 0\n", "the request from node 1 to 2 fits into no route"),
        ("2 10 1\n0 0 0 0 0 100 0 0 0\n1 5 5 5 0 100", "set.txt:3: has 6 fields, must have 9"),
        ("1 4 480 1 60\n0 0 0 0 0 0 480\n1 9 0 0 1 9 9\n2 -9 0 0 1 9 9\n3 9 9 0 -1 0 480\n4 -9 9 0 -1 0 480\n",
         "no plan with at most 1 vehicles was found in 50 iterations"),
    ],
)
def test_what_cannot_be_planned_is_said(search, tmp_path, text, says):
    (tmp_path / "set.txt").write_text(text)
    run = search.run(tmp_path / "set.txt", "--iterations", "50")
    assert run.code == 1 and run.out == "" and says in run.err


@pytest.mark.parametrize("options", [["--budget", "soon"], ["--budget", "0s"], ["--iterations", "-1"], ["--iterations", "0"], ["--clock", "sun"]])
def test_a_wrong_option_is_wrong_use(search, options):
    run = search.run(PLANS / "rides.txt", *options)
    assert run.code == 2 and options[0] in run.err and run.out == ""


@pytest.mark.needs_shared
def test_a_benchmark_gets_its_best_known_fleet_and_distance(search, shared):
    folder = shared / "data" / "pdptw-li-lim"
    plan = planned(search, folder / "instances" / "lr101.txt", "--iterations", "1000")
    fleet, distance = sets.best_known(folder)["lr101"]
    assert plan["vehicles"] == fleet and plan["distance"] < distance * 1.01


@pytest.mark.needs_shared
def test_the_checker_agrees_with_published_plans(shared):
    folder = shared / "data" / "pdptw-li-lim"
    for name, (fleet, distance) in sets.best_known(folder).items():
        text = (folder / "solutions" / f"{name}.txt").read_text()
        routes = [[int(n) for n in line.split(":")[1].split()] for line in text.splitlines() if line.startswith("Route ")]
        problem = sets.read(folder / "instances" / f"{name}.txt")
        assert sets.faults(problem, routes) == [] and len(routes) == fleet
        assert sets.length(problem, routes) == pytest.approx(distance, abs=0.01)
        routes[0].reverse()
        assert sets.faults(problem, routes) != []
    rides = shared / "data" / "darp-cordeau"
    for name, routes in json.loads((rides / "routes.json").read_text()).items():
        problem = sets.read(rides / "instances" / f"{name}.txt")
        assert sets.faults(problem, routes) == [], name
        problem.ride_max = 1
        assert sets.faults(problem, routes) != [], name
