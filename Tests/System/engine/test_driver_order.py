"""Drivers' alerts are what readings, limits and drivers of their own times give, whatever came first and wherever a backlog is cut."""
import json

import pytest
from harness import HANG_S
from test_gateway import servers, world  # noqa: F401 (fixtures)
from test_uploads import HOUR, now
from world import producer, query

BEGIN = now() // 60_000 * 60_000 - 10 * HOUR


@pytest.fixture
def story(world):  # noqa: F811
    story = Story(world)
    yield story
    assert story.worker.stop() == 0


class Story:
    def __init__(self, world):  # noqa: F811
        self.world, self.env, self.sender, self.number = world, world.database(), producer(world.brokers), 0
        self.worker = world.worker(self.env, "order", **{"ticks.roles": "notify"})
        self.partitions = self.sender.list_topics("drover.cars", timeout=HANG_S).topics["drover.cars"].partitions

    def say(self, kind, ts, vehicle=None, **fields):
        self.number += 1
        record = {"schema": 1, "kind": kind, "id": f"{kind}-{self.number}", "ts": ts, "by": "test", **({"vehicle": vehicle} if vehicle else {}), **fields}
        for partition in [None] if vehicle else self.partitions:
            place = {"key": vehicle.encode()} if vehicle else {"partition": partition}
            self.sender.produce("drover.cars", value=json.dumps(record).encode(), **place)

    def limit(self, account, ts, kmh):
        self.say("settings", ts, account=account, settings=json.dumps({"speed_limit_kmh": kmh}))

    def drive(self, car, start, seconds, speed):
        for second in seconds:
            self.say("reading", start + 1_000 * second, car, speed_kmh=speed(second))

    def settle(self, tick=None):
        for partition in self.partitions if tick else ():
            self.sender.produce("drover.cars", partition=partition, value=json.dumps({"schema": 1, "kind": "tick", "ts": tick, "by": "import.tests"}).encode())
        assert self.sender.flush(HANG_S) == 0
        self.world.work_off(self.env)

    def alerts(self, car):
        return query(self.env, """SELECT (extract(epoch FROM opened_at) * 1000)::bigint - %s, (extract(epoch FROM resolved_at) * 1000)::bigint - %s, split_part(account, '-', 1)
            FROM drover.alert WHERE vehicle = %s AND state <> 'withdrawn' AND parameter = 'Speed' ORDER BY 1""", BEGIN, BEGIN, car)


@pytest.mark.parametrize("change", ["limits", "driver"])
def test_a_drive_before_and_after_what_changes_is_told_the_same(story, change):
    def changes(car):
        if change == "limits":
            story.limit(f"strict-{car}", BEGIN + 2 * HOUR, 200)
            story.settle()
            story.limit(f"strict-{car}", BEGIN + 3 * HOUR, 201)
        else:
            story.say("assignment", BEGIN + 2 * HOUR, car, driver=f"calm-{car}")
        story.settle()

    def drives(car):
        story.drive(car, BEGIN + HOUR, range(240), lambda second: 130 if second < 60 else 50)
        story.settle()
    for car, steps in (("first", [drives, changes]), ("last", [changes, drives])):
        story.say("registration", BEGIN - HOUR, car, account=f"calm-{car}")
        story.say("assignment", BEGIN - HOUR, car, driver=f"strict-{car}")
        story.limit(f"strict-{car}", BEGIN - HOUR, 100)
        story.limit(f"calm-{car}", BEGIN - HOUR, 200)
        story.drive(car, BEGIN, range(200), lambda _: 60)
        story.settle()
        for step in steps:
            step(car)
    story.settle(tick=BEGIN + 4 * HOUR)
    assert story.alerts("first") == story.alerts("last") == [(HOUR, HOUR + 60_000, "strict")]


def test_no_clock_ends_an_alert_ahead_of_its_cars_backlog(story):
    for car, cuts in (("whole", [2_400]), ("pieces", [898, 1_500, 2_400])):
        story.say("registration", BEGIN - HOUR, car, account=car)
        story.settle()
        begin = 0
        for number, cut in enumerate(cuts):
            story.drive(car, BEGIN, range(begin, cut), lambda second: 150 if second < 1_500 else 60)
            story.settle(tick=now() + number)
            begin = cut
    story.settle(tick=now() + 10)
    assert story.alerts("whole") == [(0, 1_500_000, "whole")] and story.alerts("pieces") == [(0, 1_500_000, "pieces")]
