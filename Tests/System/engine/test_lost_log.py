"""A log that lost its end, or was written anew after losing it: recognised, left alone, and reset by a person."""
import pytest
from brokers import Noida
from confluent_kafka.admin import AdminClient
from harness import HANG_S
from world import connect, dump, query, recordings

LOST, REPLACED = "the broker does not have the records that follow our stored offset", "its end was lost and written anew"


@pytest.fixture(scope="module")
def filled(world, fixtures):
    env = world.database()
    for path, car in recordings(fixtures):
        world.drover.done("import", "cars", str(path), "--vehicle", car, env=env)
    worker = world.worker(env, "filler", **{"ticks.roles": "notify"})
    world.work_off(env)
    assert worker.stop() == 0
    return env


def test_it_is_left_alone_until_a_person_resets_it(world, filled):
    before = dump(filled)
    with connect(filled) as connection:
        [(lost,), (replaced,)] = connection.execute(
            "SELECT partition FROM drover.partition_progress WHERE topic = 'drover.cars' ORDER BY next_offset DESC LIMIT 2").fetchall()
        of = "WHERE topic = 'drover.cars' AND partition = %s"
        connection.execute(f"UPDATE drover.partition_progress SET next_offset = next_offset + 1000, replay_offset = next_offset + 1000 {of}", [lost])
        connection.execute(f"UPDATE drover.partition_progress SET last_record_hash = 4711 {of}", [replaced])
        # Other partitions may go on: a worker runs.
        rows = lambda: [connection.execute(f"SELECT * FROM drover.partition_progress {of}", [each]).fetchall() for each in (lost, replaced)]
        stored = rows()
        worker = world.worker(filled, "filler", **{"ticks.roles": "notify"})
        worker.wait_for(LOST)
        worker.wait_for(REPLACED)
        shown = world.drover.run("offsets", "show", env=filled).out
        assert shown.count("lost: drover offsets reset") == shown.count("replaced: drover offsets reset") == 1, shown
        dry = world.drover.run("offsets", "reset", "--dry-run", env=filled)
        assert dry.code == 0 and ": lost; from offset" in dry.err and ": replaced; from offset" in dry.err and "nothing was changed" in dry.err
        assert rows() == stored
    reset = world.drover.run("offsets", "reset", env=filled)
    assert reset.code == 0 and "2 partitions are read anew" in reset.err
    # The running worker looks again by itself; what it reads anew it has had before, so no row changes.
    world.work_off(filled)
    assert worker.stop() == 0
    assert dump(filled) == before


def test_a_topic_that_was_lost_and_is_made_anew(world, fixtures, data):
    """The log itself, and no table that is edited by hand."""
    broker = Noida(data)
    env = world.database() | {"DROVER_KAFKA_BROKERS": broker.brokers}
    longest, *rest, shortest = sorted(recordings(fixtures), key=lambda each: -each[0].stat().st_size)

    def hand_in(path):
        world.drover.done("import", "cars", path, "--vehicle", "car-1", env=env)

    def trips():
        return set(query(env, "SELECT start_at FROM drover.trip"))

    try:
        hand_in(longest[0])
        worker = world.worker(env, "loser")
        world.work_off(env)
        assert worker.stop() == 0
        admin = AdminClient({"bootstrap.servers": broker.brokers})
        admin.delete_topics(["drover.cars"])["drover.cars"].result(HANG_S)
        hand_in(shortest[0])
        before = trips()
        worker = world.worker(env, "loser")
        worker.wait_for(LOST)
        assert worker.stop() == 0
        reset = world.drover.run("offsets", "reset", env=env)
        assert reset.code == 0 and "are read anew" in reset.err, reset.err
        worker = world.worker(env, "loser")
        world.work_off(env)
        assert worker.stop() == 0
        # What had been written stays, and what is on the new log comes in.
        assert before and before < trips()
    finally:
        broker.close()
