"""The whole path: recordings in through Kafka, rows out of PostgreSQL, whatever is killed on the way."""
import json
import re
import subprocess
from decimal import Decimal

import pytest
from harness import HANG_S, ROOT, is_long, until
from world import connect, dump, query, recordings


@pytest.fixture(scope="module")
def filled(world, fixtures):
    """What one undisturbed worker makes of everything."""
    env = world.database()
    world.import_recordings(env, fixtures)
    worker = world.worker(env, "undisturbed")
    world.work_off(env)
    assert worker.stop() == 0
    return env


@pytest.fixture(scope="module")
def printed(world, fixtures):
    """What the offline command prints: each car with its trip."""
    return [(car, trip) for path, car in recordings(fixtures)
            for trip in json.loads(world.drover.run("trips", path, "--format", "json").out, parse_float=Decimal)]


def test_the_database_has_the_trips_that_the_offline_command_prints(world, filled, printed):
    compared, days = 0, {}
    for car, trip in printed:
        if (day := trip["start"][:10]) not in days:
            report = world.drover.run("report", "fleet-day", "--date", day, "--zone", "UTC", "--format", "json", env=filled)
            days[day] = json.loads(report.out, parse_float=Decimal)["trips"]
        [ours] = [dict(each) for each in days[day] if each["vehicle"] == car and each["start"] == trip["start"]]
        trip = {key: value for key, value in trip.items() if key != "file"}
        ours.pop("vehicle")
        # No service is asked by the offline command.
        told = ["driver", "tag", "revised", *(key for key in list(ours) if key.startswith("weather"))]
        assert [ours.pop(key) for key in told] == [None] * len(told)
        assert ours == trip
        compared += 1
    assert compared >= 9


def test_printed_figures_are_the_stored_integers(filled, printed):
    with connect(filled) as connection:
        for car, trip in printed:
            row = connection.execute(
                "SELECT distance_mm, integrated_ms, idle_ms, readings, sharp_brakings FROM drover.trip WHERE vehicle = %s AND start_at = %s",
                (car, trip["start"])).fetchone()
            assert row[0] == trip["distance_km"] * 1_000_000
            assert row[1:] == (trip["integrated_s"] * 1000, trip["idle_s"] * 1000, trip["readings"], trip["sharp_brakings"])


ADDITIVE = "readings disputed_readings speed_readings integrated_ms distance_mm idle_ms holes sharp_accelerations sharp_brakings rpm_ms milli_turns air_mg air_calculated_mg".split()


def test_a_trip_and_a_day_are_the_sums_of_their_minutes(filled):
    sums = ", ".join(f"sum({name}) AS {name}" for name in ADDITIVE)
    names = ", ".join(ADDITIVE)
    by_trip = query(filled, f"SELECT vehicle, trip_start_at, {sums} FROM drover.vehicle_minute GROUP BY 1, 2 ORDER BY 1, 2")
    assert by_trip == query(filled, f"SELECT vehicle, start_at, {names} FROM drover.trip ORDER BY 1, 2")
    by_day = query(filled, f"SELECT vehicle, date_trunc('day', minute_at, 'UTC'), {sums} FROM drover.vehicle_minute GROUP BY 1, 2 ORDER BY 1, 2")
    assert by_day == query(filled, f"SELECT vehicle, day_at, {names} FROM drover.vehicle_day ORDER BY 1, 2")
    assert len(by_trip) >= 9


def with_silence(folder):
    """The reference's episodes, and those that the closing tick opens: it is more than five days after the last call-in."""
    expected = json.loads((folder / "expected.json").read_text())
    last = {}
    for line in (folder / "readings.jsonl").read_text().splitlines():
        reading = json.loads(line)
        last[reading["vehicle"]] = reading
    for vehicle in {row["vehicle"] for row in expected}:  # The loader's model has no thresholds.
        reading = last[vehicle]
        told = [row for row in expected if row["vehicle"] == vehicle and row["parameter"] == "Last Cell Call In"]
        if all(row["resolved_ts"] is not None for row in told):
            deadline = max(reading["ts"], reading["last_cell_call_in_ts"] + 5 * 86_400_000)
            expected.append({"vehicle": vehicle, "parameter": "Last Cell Call In", "severity": "warning", "opened_ts": deadline,
                             "resolved_ts": None, "worst_value": 5.0})
    return sorted(expected, key=lambda row: (row["vehicle"], row["parameter"], row["opened_ts"]))


def test_alerts_are_those_of_the_independent_reference(filled, fixtures):
    expected = with_silence(fixtures / "machines")
    rows = query(filled, """SELECT vehicle, parameter, severity, extract(epoch FROM opened_at) * 1000, extract(epoch FROM resolved_at) * 1000,
                  worst_value FROM drover.alert WHERE state <> 'withdrawn' ORDER BY vehicle, parameter, opened_at""")
    ours = [
        dict(vehicle=v, parameter=p, severity=s, opened_ts=int(o), resolved_ts=None if r is None else int(r), worst_value=w)
        for v, p, s, o, r, w in rows
    ]
    assert ours == [{**row, "worst_value": pytest.approx(row["worst_value"], abs=0.0006)} for row in expected]
    assert len(ours) == 17


def test_importing_everything_again_changes_no_row(world, filled, fixtures):
    before = dump(filled)
    world.import_recordings(filled, fixtures)
    # The same member: the embedded broker expires no static member that went away.
    worker = world.worker(filled, "undisturbed")
    worker.wait_for("worker started")
    world.work_off(filled)
    assert worker.stop() == 0
    assert dump(filled) == before


def test_kills_of_the_worker_change_no_row(world, filled, fixtures):
    """While it reads all that is there; in the long form more comes meanwhile. All tables of a fleet: test_torture.py."""
    env, kills = world.database(), 10 if is_long() else 3
    settings = {"kafka.batch_messages_max": 400, "work.commit_interval_ms": 20}
    imports = [world.drover.start("import", "cars", path, "--vehicle", car, env=env) for path, car in recordings(fixtures) if is_long()]
    last = 0
    for kill in range(kills):
        worker = world.worker(env, "killed", **settings)
        worker.wait_for("worker started")
        # Each life ends some commits after it has begun to write.
        until(lambda: world.written(env) > last + 150 * kill or world.lag(env) == 0, worker)
        worker.kill()
        last = world.written(env)
    assert [each.wait() for each in imports] == [0] * len(imports)
    worker = world.worker(env, "killed")
    world.work_off(env)
    assert worker.stop() == 0
    # There may be nothing left to do: it must not be stopped before it listens.
    undisturbed = world.worker(filled, "undisturbed")
    undisturbed.wait_for("worker started")
    world.work_off(filled)
    assert undisturbed.stop() == 0
    assert dump(env) == dump(filled)


def test_two_workers_that_both_believe_they_own_everything_write_each_row_once(world, filled):
    env = world.database()
    # Groups of their own: each is given all partitions, as after a partition of the network.
    settings = {"kafka.batch_messages_max": 300, "work.commit_interval_ms": 10}
    one = world.worker(env, "one", **settings, **{"kafka.group": "fence-one"})
    two = world.worker(env, "two", **settings, **{"kafka.group": "fence-two"})
    world.work_off(env)
    assert (one.stop(), two.stop()) == (0, 0)
    assert "another worker owns this partition" in one.output() + two.output()
    assert dump(env) == dump(filled)


def test_another_client_reads_the_topics(world, filled):
    run = subprocess.run(
        ["kcat", "-C", "-b", world.brokers, "-t", "drover.cars", "-o", "beginning", "-e", "-q", "-f", "%k\t%s\n"],
        capture_output=True, text=True, timeout=HANG_S)
    records = [line.split("\t") for line in run.stdout.splitlines()]
    kinds = {"reading": 0, "tick": 0, "trip_rules": 0}
    for key, value in records:
        record = json.loads(value)
        assert record["schema"] == 1 and isinstance(record["ts"], int)
        assert record["kind"] in ("tick", "trip_rules") or record["vehicle"] == key
        kinds[record["kind"]] += 1
    assert kinds["reading"] > 9_000 and kinds["tick"] > 0 and kinds["trip_rules"] >= 8, run.stderr


def test_the_reader_role_reads_and_nothing_else(world, filled):
    with connect(filled) as connection:
        connection.execute("SET ROLE drover_reader")
        assert connection.execute("SELECT count(*) FROM drover.trip").fetchone()[0] >= 9
        for statement in ("DELETE FROM drover.trip", "UPDATE drover.partition_progress SET next_offset = 0", "CREATE TABLE drover.mine (a int)",
                          "SELECT * FROM drover.rejected"):
            with pytest.raises(Exception, match="permission denied"):
                connection.execute(statement)


def test_every_query_that_ships_runs_as_the_reader(filled):
    """Reports are prepared; panels and ready queries have tests of their own."""
    reports = [(path.name, path.read_text()) for path in sorted((ROOT / "Queries" / "reports").glob("*.sql"))]
    assert len(reports) >= 6
    with connect(filled) as connection:
        connection.execute("SET ROLE drover_reader")
        for index, (name, sql) in enumerate(reports):
            assert "-- Question: " in sql and "-- Parameters: " in sql, name
            connection.execute(f"PREPARE report_{index} AS {sql}")


def test_migrating_from_two_processes_at_once(world):
    env = world.database()
    query(env, "DROP SCHEMA drover, analyst, own CASCADE")
    running = [world.drover.start("migrate", env=env) for _ in range(4)]
    ends = [each.wait() for each in running]
    assert ends == [0, 0, 0, 0], [each.output() for each in running]
    assert sum(bool(re.search("applied 0076", each.output())) for each in running) == 1
