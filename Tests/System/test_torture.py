"""Short forms of torture.py, and with DROVER_LONG its long ones: whatever is killed, cut off or stopped, and in whatever order readings
arrive, the result tables are the same to the last digit."""
import os

import pytest
from torture import DISK_IS_FULL, Bench, Fleet, difference, plan_of

SEED = os.environ.get("DROVER_TORTURE_SEED", "1")


@pytest.fixture(scope="module")
def bench(program):
    bench = Bench(program, SEED, say=print)
    print(f"seed {SEED}: DROVER_TORTURE_SEED={SEED} repeats it")
    yield bench
    # With logs, when something failed: the tests that failed name the folder.
    bench.close(keep=bench.failed)


@pytest.fixture(autouse=True)
def keep_logs(bench, request):
    failed = request.session.testsfailed
    yield
    bench.failed = getattr(bench, "failed", False) or request.session.testsfailed > failed


@pytest.fixture(scope="module")
def fleet():
    return Fleet(SEED, cars=16, machines=6, minutes=(10, 20), span_min=30)


@pytest.fixture(scope="module")
def items(fleet):
    return fleet.as_sent()


def test_a_lost_a_changed_and_a_doubled_row_are_found(bench, items):
    """The comparison itself: it must see what it is there to see."""
    expected = bench.reference(items)
    assert all(len(rows) >= 10 for _, rows in expected.values()), {table: len(rows) for table, (_, rows) in expected.items()}
    assert difference(expected, expected) is None
    for table, (columns, rows) in expected.items():
        lost = {**expected, table: (columns, rows[1:])}
        assert f"{table}: 1 of {len(rows)} rows are not as expected" in difference(lost, expected)
        doubled = {**expected, table: (columns, sorted([*rows, rows[3]], key=str))}
        assert difference(doubled, expected).startswith(f"{table}: ")
    columns, rows = expected["trip"]
    place = columns.index("distance_mm")
    changed = [rows[0][:place] + (str(int(rows[0][place]) + 1),) + rows[0][place + 1:], *rows[1:]]
    assert f"distance_mm: is {changed[0][place]}, expected {rows[0][place]}" in difference({**expected, "trip": (columns, changed)}, expected)


def test_killed_workers(bench, items):
    """One member: when a fixed member starts again the embedded broker shares all partitions out anew and does not tell the
    others, so that some stand still until the next rebalance. Several members are for Tansu, and for the long forms."""
    bench.prove("noida", items, ["kill"] * 10, workers=1)


def test_a_database_that_stops_at_once(bench, items):
    bench.prove("noida", items, ["pg-immediate", "pg-backends", "pg-immediate", "kill", "pg-fast"], workers=1)


def test_a_broker_that_stops_and_comes_back(bench, items):
    bench.prove("noida", items, ["broker", "kill", "broker"], workers=1)


def test_another_member_takes_over_from_a_killed_one(bench, items):
    bench.prove("tansu", items, ["takeover"], workers=2)


def test_a_member_that_was_stopped_for_longer_than_its_session_comes_back(bench, items):
    # So long between two commits that it has records in its hands when it is stopped, and tries to write them when it comes back.
    run = bench.prove("tansu", items, ["zombie"], workers=2, settings={"work.commit_interval_ms": 2_000})
    print(f"fenced {run.fenced()} times")


@pytest.mark.skipif(os.geteuid() != 0, reason="hosts are made for it, which needs root")
def test_a_host_that_is_cut_off(program):
    """Nothing is refused or reset: what is sent is lost without a word, for less than a session and for more."""
    bench = Bench(program, SEED, say=print, hosts=2)
    failed = True
    try:
        items = Fleet(SEED, cars=16, machines=6, minutes=(10, 20), span_min=30).as_sent()
        bench.prove("tansu", items, ["cut", "cut-long"], workers=2)
        failed = False
    finally:
        bench.close(keep=failed)


@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk is mounted for it, which needs root")
def test_a_database_whose_disk_is_full_for_a_while(program):
    bench = Bench(program, SEED, say=print, disk_mib=600)
    failed = True
    try:
        items = Fleet(SEED, cars=16, machines=6, minutes=(10, 20), span_min=30).as_sent()
        run = bench.prove("noida", items, ["pg-full", "kill", "pg-full"], workers=1)
        assert run.count_said(DISK_IS_FULL), "nobody was told what to do"
        failed = False
    finally:
        bench.close(keep=failed)


def test_a_cluster_that_answers_with_errors(bench, items):
    plan = [
        "mock-leader", "fail fetch 5 NOT_LEADER_FOR_PARTITION", "mock-coordinator", "fail fetch 3 _TRANSPORT", "mock-no-leader",
        "fail metadata 3 LEADER_NOT_AVAILABLE", "mock-slow", "fail heartbeat 1 ILLEGAL_GENERATION", "fail offset-commit 1 NOT_COORDINATOR",
        "mock-down", "fail fetch 2 UNKNOWN_TOPIC_OR_PART",
    ]
    bench.prove("mock", items, plan, workers=1)


def test_one_digest_in_any_order_and_any_number_of_partitions(bench):
    bench.prove_orders(Fleet(SEED, cars=6, machines=3, minutes=(10, 20), span_min=90), without=("a commit a record",))


def test_one_digest_with_a_commit_a_record(bench):
    bench.prove_orders(Fleet(SEED, cars=2, machines=1, minutes=(2, 3), span_min=3), only=("in order, 4", "a commit a record", "10,000"))


@pytest.mark.long
@pytest.mark.parametrize("broker, kills, others, cars", [("noida", 100, 25, 300), ("tansu", 30, 15, 60), ("mock", 20, 60, 60)])
def test_kills_and_faults_in_their_hundreds(program, broker, kills, others, cars):
    bench = Bench(program, SEED, say=print)
    failed = True
    try:
        items = Fleet(SEED, cars, 20, (10, 40), 60).as_sent()
        bench.prove(broker, items, plan_of(broker, kills, others, SEED), partitions=12, workers=3, seconds=600)
        failed = False
    finally:
        bench.close(keep=failed)


@pytest.mark.long
def test_one_digest_of_a_whole_fleet(bench):
    bench.prove_orders(Fleet(SEED, cars=300, machines=20, minutes=(10, 40), span_min=180), without=("a commit a record",))
