"""A car that has long been silent is in the database alone: whatever is said of it next finds it there, and nothing shows that it was left out."""
import json
import urllib.request
from datetime import UTC, datetime

from brokers import make_topics
from harness import HANG_S, free_port, until
from test_gateway import servers, world  # noqa: F401 (fixtures)
from test_uploads import now
from world import Asked, producer

DAY, ONCE = 86_400_000, 700
BEGIN = now() // DAY * DAY - 20 * DAY


def instant(ms):
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Story(Asked):
    """One partition, whose clock is told."""

    def __init__(self, world):  # noqa: F811
        self.world, self.port = world, free_port()
        make_topics(world.brokers, {"drover.cars": 1})
        self.env, self.sender, self.number = world.database(), producer(world.brokers), 0
        self.start()

    def start(self):
        self.worker = self.world.worker(self.env, "idle", **{"ticks.roles": "notify", "metrics.port": self.port})

    def say(self, vehicle, ts, kind="reading", **fields):
        self.number += 1
        record = {"schema": 1, "kind": kind, "id": f"r-{self.number}", "vehicle": vehicle, "ts": ts, **fields}
        self.sender.produce("drover.cars", partition=0, key=vehicle.encode(), value=json.dumps(record).encode())

    def drive(self, vehicle, start, seconds, speed=60):
        for second in seconds:
            self.say(vehicle, start + 1_000 * second, speed_kmh=speed, rpm=2_000)

    def tick(self, ts):
        for _ in range(2):
            self.sender.produce("drover.cars", partition=0, value=json.dumps({"schema": 1, "kind": "tick", "ts": ts, "by": "import.tests"}).encode())
        assert self.sender.flush(HANG_S) == 0
        self.world.work_off(self.env)

    def held(self):
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics").read().decode()
        return int(next(line.split()[1] for line in text.splitlines() if line.startswith("drover_worker_vehicles ")))

    def holds(self, count):
        until(lambda: self.held() == count, self.worker, about=f"{count} cars in memory")


def test_cars_that_come_once_are_forgotten_and_found_again(world):  # noqa: F811
    story = Story(world)
    for number in range(ONCE):
        story.drive(f"once-{number}", BEGIN + 100 * number, range(0, 90, 30))
    # Somebody owns some of them, and one was told to be too fast.
    for number in range(6, 20):
        story.say(f"once-{number}", BEGIN - DAY, "registration", by="test", account=f"driver-{number}")
    story.drive("once-10", BEGIN + 120_000, range(60), speed=240)
    story.say("once-12", BEGIN + DAY // 2, "scan", by="gateway", done=True, text="1 trouble code: P0101", stored=["P0101"])
    story.tick(BEGIN + DAY)
    assert story.held() == ONCE
    for day in range(2, 6):
        story.drive("daily", BEGIN + day * DAY, range(0, 90, 30))
        story.tick(BEGIN + day * DAY + 3_600_000)
    story.holds(1)

    # A worker that takes the partition over does not load them either.
    story.worker.kill()
    story.start()
    story.holds(1)

    # Each way in which it is said something of one: a late reading, a new drive, a mark amid what it drove and one of a car that never
    # did, a driver of that time, an answer's codes.
    at = BEGIN + 6 * DAY
    story.drive("once-5", BEGIN, range(-40, 0, 20))
    story.drive("once-6", at, range(60), speed=240)
    story.say("once-7", BEGIN + 700 + 45_000, "trip_stop", by="driver-7")
    story.say("never", at, "trip_start", by="driver-7")
    story.say("once-8", BEGIN - 1_000, "assignment", by="test", driver="driver-9")
    story.say("once-9", at, "driving", by="driver-9", from_ts=at - 60_000)
    story.drive("once-9", at - 60_000, range(60), speed=240)
    story.say("once-12", at, "assignment", by="test", driver="driver-13")
    story.drive("once-10", BEGIN + 120_000, range(60, 63), speed=230)
    story.tick(at + 60_000)
    story.worker.kill()
    story.start()
    story.tick(at + 3_600_000)

    assert story.query("SELECT count(*) FROM drover.trip WHERE vehicle = 'once-5'") == [(1,)]
    assert story.query("SELECT count(*) FROM drover.trip WHERE vehicle IN ('once-6', 'once-9')") == [(4,)]
    assert story.query("SELECT count(*) FROM drover.trip WHERE vehicle = 'once-7'") == [(2,)]
    told = dict(story.query("SELECT vehicle, string_agg(DISTINCT account, ' ') FROM drover.alert WHERE state <> 'withdrawn' GROUP BY 1"))
    assert told == {"once-6": "driver-6", "once-9": "driver-9", "once-10": "driver-10", "once-12": "driver-12"}, told
    # A clock that is set back finds those of its time again.
    world.drover.done("clock", "set-back", "--topic", "drover.cars", "--partition", "0", "--to", f"{instant(BEGIN + DAY // 2)}", "--reason", "test",
                           env=story.env)
    world.work_off(story.env)
    story.holds(ONCE + 1)
    story.tick(at + 3 * DAY)
    story.holds(0)
    world.replayed(story.env)
    assert story.worker.stop() == 0


def test_a_car_given_on_more_often_than_is_read_at_once_waits_for_nobody(world):  # noqa: F811
    """Newest first, then between, then in order: whether a record says anything new is asked of its neighbours, 512 at once."""
    story, given = Story(world), 1_200
    for car in ("given", "other"):
        story.drive(car, BEGIN, range(3), speed=240)
        story.say(car, BEGIN - DAY, "registration", by="test", account="jo")
    story.tick(BEGIN + 2_000)
    for shift, numbers in ((0, range(given, 0, -1)), (500, range(given, 0, -1)), (700, range(1, given + 1))):
        for number in numbers:
            story.say("given", BEGIN - DAY + number * 1_000 + shift, "assignment", by="test", driver=f"driver-{number % 5}")
        story.drive("other", BEGIN + 60_000 + shift, range(10), speed=240)
    story.tick(BEGIN + 200_000)
    assert story.query("SELECT count(*) FROM drover.assignment WHERE vehicle = 'given'") == [(3 * given,)]
    world.tick_waiting(story.env)
    assert world.replayed(story.env)["assignment"] == 3 * given
