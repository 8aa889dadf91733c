"""A clock that is set back comes to a partition's cars in pieces; nobody else waits for them (decision 11)."""
import json

from harness import HANG_S, until
from test_gateway import servers, world  # noqa: F401 (fixtures)
from test_idle_cars import BEGIN, DAY, Story, instant

HOUR, CARS = 3_600_000, 600


def test_a_clock_that_is_set_back_comes_to_all_cars_in_pieces(world):  # noqa: F811
    story = Story(world)
    for number in range(CARS):
        story.say(f"car-{number:03}", BEGIN - DAY, "registration", by="test", account="jo")
        story.drive(f"car-{number:03}", BEGIN, range(3), speed=240)
    story.tick(BEGIN + 2_000)

    def open_alerts():
        return story.query("SELECT count(*), count(DISTINCT alert_id) FROM drover.alert WHERE state = 'open' AND parameter = 'Speed'")[0]

    def waiting():
        return story.query("SELECT count(*) FROM drover.car_watch WHERE asked_offset IS NOT NULL")[0][0]

    def spread():
        return story.query("SELECT after_vehicle FROM drover.car_spreading")

    def taken():
        until(lambda: world.lag(story.env) == 0, about="what was pushed")

    assert open_alerts() == (CARS, CARS)
    # It goes ahead, and ends what is open.
    story.tick(BEGIN + 2 * HOUR)
    assert open_alerts() == (0, 0)
    run = world.drover.run("clock", "set-back", "--topic", "drover.cars", "--partition", "0", "--to", instant(BEGIN + 10_000), "--reason", "test",
                           env=story.env)
    assert run.code == 0, run.err
    taken()
    # A piece, and no more: the worker is killed before the rest.
    assert waiting() == 256 and spread() == [("car-255",)]
    story.worker.kill()
    story.start()
    record = {"schema": 1, "kind": "tick", "ts": BEGIN + 10_001, "by": "import.tests"}
    story.sender.produce("drover.cars", partition=0, value=json.dumps(record).encode())
    assert story.sender.flush(HANG_S) == 0
    taken()
    # 128 are judged at a tick, and as many wait as may.
    assert waiting() == 256 + 16 - 128 and spread() == [("car-271",)]
    story.tick(BEGIN + 11_000)
    assert waiting() == 0 and spread() == []
    assert open_alerts() == (CARS, CARS)
    story.tick(BEGIN + HOUR)
    assert open_alerts() == (0, 0)
    assert world.drover.run("replay", "--into", "again", env=story.env, seconds=HANG_S * 2).code == 0
    verified = world.drover.run("verify", "again", env=story.env)
    assert verified.code == 0, verified.out[-2_000:]
    assert story.worker.stop() == 0
