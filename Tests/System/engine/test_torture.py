"""Short forms of torture.py, and with DROVER_LONG its long ones: whatever is killed, cut off or stopped, and in whatever order readings
arrive, the result tables are the same to the last digit."""
import os

import pytest
from brokers import Mock
from harness import is_long, until
from kafka import missing
from torture import DISK_IS_FULL, TOPICS, Bench, Fleet, Worker, difference, plan_of

SEED = os.environ.get("DROVER_TORTURE_SEED", "1")
needs_kafka = pytest.mark.skipif(bool(missing()), reason=missing())
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="hosts and disks are made for it, which needs root")


@pytest.fixture(scope="module")
def bench(program):
    bench = Bench(program, SEED, say=print)
    print(f"seed {SEED}: DROVER_TORTURE_SEED={SEED} repeats it")
    yield bench
    # With logs, when something failed: the tests that failed name the folder.
    bench.close(keep=bench.failed)


@pytest.fixture
def own_bench(program, request):
    """With what the test's parameter says, such as hosts or a small disk."""
    failed = request.session.testsfailed
    bench = Bench(program, SEED, say=print, **request.param)
    yield bench
    bench.close(keep=request.session.testsfailed > failed)


@pytest.fixture(autouse=True)
def keep_logs(bench, request):
    failed = request.session.testsfailed
    yield
    bench.failed = getattr(bench, "failed", False) or request.session.testsfailed > failed


@pytest.fixture(scope="module")
def items():
    return Fleet(SEED, cars=16, machines=6, minutes=(10, 20), span_min=30).as_sent()


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


@needs_kafka
def test_killed_workers(bench, items):
    """Two that share the partitions; each starts again under its name."""
    bench.prove("kafka", items, ["kill"] * (10 if is_long() else 4), workers=2, named=True)


@needs_kafka
def test_a_database_that_stops_at_once(bench, items):
    more = ["pg-immediate", "kill", "pg-fast"] if is_long() else []
    bench.prove("kafka", items, ["pg-immediate", "pg-backends", *more], named=True)


@needs_kafka
def test_a_broker_that_stops_and_comes_back(bench, items):
    bench.prove("kafka", items, ["broker", "kill", "broker", "broker-kill"] if is_long() else ["broker"], named=True)


@needs_kafka
def test_another_member_takes_over_from_a_killed_one(bench, items):
    bench.prove("kafka", items, ["takeover"], workers=2)


@needs_kafka
def test_a_member_that_was_stopped_for_longer_than_its_session_comes_back(bench, items):
    # So long between two commits that it has records in its hands when it is stopped, and tries to write them when it comes back.
    run = bench.prove("kafka", items, ["zombie"], workers=2, settings={"work.commit_interval_ms": 2_000})
    print(f"fenced {run.fenced()} times")


@pytest.mark.long(reason="half a minute of PostgreSQL's clock passes before it is ended")
def test_a_session_that_stands_still_amid_a_copy(bench, items):
    bench.prove("noida", items, ["copy"], workers=2, named=True)


@needs_kafka
@needs_root
@pytest.mark.long(reason="a cable that is cut for longer than a session, twice")
@pytest.mark.parametrize("own_bench", [{"hosts": 2}], indirect=True, ids=["hosts"])
def test_a_host_that_is_cut_off(own_bench, items):
    """Nothing is refused or reset: what is sent is lost without a word, for less than a session and for more."""
    own_bench.prove("kafka", items, ["cut", "cut-long"], workers=2)


@needs_kafka
@needs_root
@pytest.mark.long(reason="fills 600 MB of memory, twice")
@pytest.mark.parametrize("own_bench", [{"disk_mib": 600}], indirect=True, ids=["disk"])
def test_a_database_whose_disk_is_full_for_a_while(own_bench, items):
    run = own_bench.prove("kafka", items, ["pg-full", "kill", "pg-full"], named=True)
    assert run.count_said(DISK_IS_FULL), "nobody was told what to do"


def test_a_cluster_that_answers_with_errors(bench, items):
    plan = ["mock-leader", "fail fetch 5 NOT_LEADER_FOR_PARTITION", "mock-coordinator", "fail heartbeat 1 ILLEGAL_GENERATION", "mock-no-leader", "mock-down"]
    more = ["fail fetch 3 _TRANSPORT", "fail metadata 3 LEADER_NOT_AVAILABLE", "mock-slow", "fail offset-commit 1 NOT_COORDINATOR", "fail fetch 2 UNKNOWN_TOPIC_OR_PART"]
    bench.prove("mock", items, plan + more * is_long())


def test_a_worker_that_stops_amid_its_first_join(bench):
    """The group took it in and gives it nothing yet. librdkafka 2.0.2 aborts where such a client is destroyed."""
    database, broker = bench.database(), Mock(bench.folder / "amid-join")
    broker.prepare({topic: 1 for topic in (*TOPICS, "drover.dispatch", "drover.sightings")})
    try:
        broker.tell("tell")
        broker.tell("fail sync-group 1000 REBALANCE_IN_PROGRESS")
        env = {**os.environ, "DROVER_POSTGRES_URL": bench.cluster.conninfo(database, "torture"), "DROVER_POSTGRES_READER_URL": "",
               "DROVER_KAFKA_BROKERS": broker.brokers, "DROVER_KAFKA_PARTITIONS": "1"}
        worker = Worker(0, "", [bench.program, "work"], env, broker.folder)
        until(lambda: "SyncGroup" in broker.said(), worker.said, about="the answer to its join")
        worker.terminate()
        worker.wait()
    finally:
        broker.close()


def test_one_digest_in_any_order_and_any_number_of_partitions(bench):
    only = ("",) if is_long() else ("in order, 4", "10 % twice, 1 partition", "12 partitions")
    bench.prove_orders(Fleet(SEED, cars=6, machines=3, minutes=(10, 20), span_min=90), only, without=("a commit a record",))


@pytest.mark.long(reason="a commit takes some milliseconds, and there is one for each record")
def test_one_digest_with_a_commit_a_record(bench):
    bench.prove_orders(Fleet(SEED, cars=2, machines=1, minutes=(2, 3), span_min=3), only=("in order, 4", "a commit a record", "10,000"))


@pytest.mark.long(reason="hundreds of faults under the load of a whole fleet")
@pytest.mark.parametrize("broker, named, kills, others, cars", [
    pytest.param("kafka", True, 100, 25, 300, marks=needs_kafka), pytest.param("kafka", False, 30, 15, 60, marks=needs_kafka),
    ("mock", False, 20, 60, 60)])
@pytest.mark.parametrize("own_bench", [{}], indirect=True, ids=[""])
def test_kills_and_faults_in_their_hundreds(own_bench, broker, named, kills, others, cars):
    items = Fleet(SEED, cars, 20, (10, 40), 60).as_sent()
    own_bench.prove(broker, items, plan_of(broker, kills, others, SEED), partitions=12, workers=3, named=named)


@pytest.mark.long(reason="the day of a whole fleet, in eight orders")
def test_one_digest_of_a_whole_fleet(bench):
    bench.prove_orders(Fleet(SEED, cars=300, machines=20, minutes=(10, 40), span_min=180), without=("a commit a record",))
