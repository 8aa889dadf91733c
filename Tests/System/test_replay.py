"""The results again from the topics alone, beside a worker that goes on, and compared with the live ones."""
import json

import pytest
from harness import until
from world import connect, recordings


@pytest.fixture(scope="module")
def filled(world, fixtures):
    env = world.database()
    for path, car in recordings(fixtures):
        assert world.drover.run("import", "cars", str(path), "--vehicle", car, env=env).code == 0
    assert world.drover.run("import", "machines", str(fixtures / "machines" / "readings.jsonl"), env=env).code == 0
    worker = world.worker(env, "replay")
    world.work_off(env)
    yield env
    assert worker.stop() == 0


def verify(world, env, schema):
    run = world.drover.run("verify", schema, "--format", "json", env=env)
    return run, {row["table"]: row for row in json.loads(run.out)} if run.out else {}


def test_a_replay_equals_the_live_tables_while_the_worker_goes_on(world, filled):
    run = world.drover.run("replay", "--into", "again", env=filled)
    assert run.code == 0, run.err
    assert "a second" in run.err and "drover verify again" in run.err
    # Ticks come meanwhile: the live tables have gone on, and the replay is brought to the same offsets.
    run, tables = verify(world, filled, "again")
    assert run.code == 0, run.err
    assert all(row["equal"] for row in tables.values())
    assert tables["vehicle_minute"]["rows"] > 200 and tables["alert"]["rows"] >= 12


def test_a_replay_tells_nobody(world, filled):
    with connect(filled) as connection:
        told = connection.execute("SELECT count(*) FROM drover.outbox").fetchone()
        assert world.drover.run("replay", "--into", "silent", env=filled).code == 0
        assert connection.execute("SELECT count(*) FROM drover.outbox").fetchone() == told


def test_the_first_difference_is_shown(world, filled):
    assert world.drover.run("replay", "--into", "changed", env=filled).code == 0
    with connect(filled) as connection:
        connection.execute("UPDATE changed.trip SET distance_mm = distance_mm + 1 WHERE vehicle = (SELECT min(vehicle) FROM changed.trip)")
        connection.execute("DELETE FROM changed.alert WHERE alert_id = (SELECT min(alert_id) FROM changed.alert)")
    run, tables = verify(world, filled, "changed")
    assert run.code == 1
    assert [name for name, row in tables.items() if not row["equal"]] == ["trip", "alert"]
    assert "has no such row" in tables["alert"]["first_difference"]


def test_a_replay_that_was_killed_goes_on(world, filled):
    started = world.drover.start("replay", "--into", "killed", "--set", "kafka.batch_messages_max=50", "--set",
                                 "work.commit_interval_ms=1", "--set", "work.lanes=1", env=filled)
    with connect(filled) as connection:
        def has_begun():
            return (connection.execute("SELECT to_regclass('killed.partition_progress')").fetchone()[0]
                    and connection.execute("SELECT coalesce(sum(next_offset), 0) FROM killed.partition_progress").fetchone()[0] > 0)

        until(lambda: started.process.poll() is not None or has_begun(), started.output)
    started.kill()
    run, tables = verify(world, filled, "killed")
    assert run.code == 0, run.err
    assert all(row["equal"] for row in tables.values())


def test_a_replay_from_a_time_begins_there(world, filled):
    run = world.drover.run("replay", "--into", "later", "--from", "2099-01-01T00:00:00Z", env=filled)
    assert run.code == 0, run.err
    with connect(filled) as connection:
        assert connection.execute("SELECT count(*) FROM later.vehicle_minute").fetchone()[0] == 0


@pytest.mark.parametrize("name, reason", [("drover", "choose another name"), ("Robert'); DROP", "letters a-z"), ("public", "choose another name")])
def test_names_that_are_refused(world, filled, name, reason):
    run = world.drover.run("replay", "--into", name, env=filled)
    assert run.code == 1 and reason in run.err


def test_what_was_never_replayed_cannot_be_verified(world, filled):
    run = world.drover.run("verify", "nothing_here", env=filled)
    assert run.code == 1 and "drover replay --into nothing_here" in run.err
