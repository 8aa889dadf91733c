"""A log that lost its end, or was written anew after losing it: recognised, left alone, and reset by a person."""
import pytest
from world import connect, dump, recordings


@pytest.fixture(scope="module")
def filled(world, fixtures):
    env = world.database()
    for path, car in recordings(fixtures):
        assert world.drover.run("import", "cars", str(path), "--vehicle", car, env=env).code == 0
    worker = world.worker(env, "filler", **{"ticks.roles": "notify"})
    world.work_off(env)
    assert worker.stop() == 0
    return env


BUSIEST = "(SELECT partition FROM drover.partition_progress WHERE topic = 'drover.cars' ORDER BY next_offset DESC LIMIT 1)"


@pytest.mark.parametrize("state, change, reason", [
    ("lost", "next_offset = next_offset + 1000, replay_offset = next_offset + 1000",
     "the broker does not have the records that follow our stored offset"),
    ("replaced", "last_record_hash = 4711", "its end was lost and written anew"),
])
def test_it_is_left_alone_until_a_person_resets_it(world, filled, state, change, reason):
    before = dump(filled)
    with connect(filled) as connection:
        connection.execute(f"UPDATE drover.partition_progress SET {change} WHERE topic = 'drover.cars' AND partition = {BUSIEST}")
        # Other partitions may go on: a worker runs.
        stored = connection.execute(f"SELECT * FROM drover.partition_progress WHERE topic = 'drover.cars' AND partition = {BUSIEST}").fetchall()
    worker = world.worker(filled, "filler", **{"ticks.roles": "notify"})
    worker.wait_for(reason)
    shown = world.drover.run("offsets", "show", env=filled).out
    assert shown.count(f"{state}: drover offsets reset") == 1, shown
    dry = world.drover.run("offsets", "reset", "--dry-run", env=filled)
    assert dry.code == 0 and f": {state}; from offset" in dry.err and "nothing was changed" in dry.err
    with connect(filled) as connection:
        assert connection.execute(f"SELECT * FROM drover.partition_progress WHERE topic = 'drover.cars' AND partition = {BUSIEST}").fetchall() == stored
    reset = world.drover.run("offsets", "reset", env=filled)
    assert reset.code == 0 and "1 partitions are read anew" in reset.err
    # The running worker looks again by itself; what it reads anew it has had before, so no row changes.
    world.work_off(filled)
    assert worker.stop() == 0
    assert dump(filled) == before
