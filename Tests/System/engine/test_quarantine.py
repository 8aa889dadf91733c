"""A vehicle that the database refuses is set apart by name, its partition goes on, and after a retry all is as if nothing had been."""
import json
import urllib.request

from brokers import make_topics
from harness import HANG_S, free_port, until
from test_gateway import servers, world  # noqa: F401 (fixtures)
from test_uploads import now
from world import Asked, connect, producer

CARS, MACHINES = ["odd-car", "car-1", "car-2", "car-3"], ["odd", "m-1", "m-2", "m-3"]


class Story(Asked):
    """One partition each of cars and machines, so that whoever is refused is among others."""

    def __init__(self, world):  # noqa: F811
        self.world, self.number, self.startMs = world, 0, now() - 86_400_000
        make_topics(world.brokers, {"drover.cars": 1, "drover.machines": 1})
        self.env, self.sender = world.database(), producer(world.brokers)

    def execute(self, *statements):
        with connect(self.env) as connection:
            return [connection.execute(each) for each in statements][-1]

    def say(self, topic, vehicle, kind, **fields):
        record = {"schema": 1, "kind": kind, "id": f"{vehicle}-{self.number}-{kind}", "vehicle": vehicle, "ts": self.startMs + 20_000 * self.number, **fields}
        self.sender.produce(topic, partition=0, key=vehicle.encode(), value=json.dumps(record).encode())

    def push(self, rounds, cars=CARS, machines=MACHINES):
        for _ in range(rounds):
            self.number += 1
            late = self.startMs + 20_000 * self.number - (95_000 if self.number % 4 == 0 else 0)
            for vehicle in cars:
                self.say("drover.cars", vehicle, "reading", speed_kmh=40 + self.number % 9, rpm=1_900, ts=late)
            for vehicle in machines:
                self.say("drover.machines", vehicle, "reading", model="8R Tractor", coolant_c=130 if self.number // 3 % 2 else 70, gps_available=True, ts=late)
        for vehicle in machines:
            self.say("drover.machines", vehicle, "service", engine_hours_h=100 + self.number, by="Anna")
            self.sender.produce("drover.machines", partition=0, key=vehicle.encode(), value=b"rubbish")
        assert self.sender.flush(HANG_S) == 0

    def refuse(self, *tables):
        self.tables = tables
        self.execute(*(f"ALTER TABLE drover.{table} ADD CONSTRAINT refused CHECK (vehicle NOT LIKE 'odd%') NOT VALID" for table in tables))

    def mend(self):
        self.execute(*(f"ALTER TABLE drover.{table} DROP CONSTRAINT refused" for table in self.tables))

    def run(self, *arguments):
        return self.world.drover.run(*arguments, env=self.env)

    def held(self):
        run = self.run("quarantine", "list", "--format", "json")
        assert run.code == 0, run.err
        return {each["vehicle"]: each for each in json.loads(run.out)}

    def verified(self, schema):
        run = self.run("verify", schema, "--format", "json")
        assert run.code == 0, run.out[-2_000:] + run.err
        found = json.loads(run.out)
        return {row["table"]: row["rows"] for row in found["compared"]}, {each["vehicle"] for each in found["in_quarantine"]}

    def newest(self, table, column):
        return dict(self.query(f"SELECT vehicle, (extract(epoch FROM max({column})) * 1000)::bigint FROM drover.{table} GROUP BY 1"))


def test_refused_vehicles_are_set_apart_and_come_back_as_if_nothing_had_been(world):  # noqa: F811
    story, port = Story(world), free_port()
    worker = world.worker(story.env, "one", **{"work.lanes": 1, "ticks.interval_s": 1, "metrics.port": port})
    story.push(20)
    world.work_off(story.env)
    # Its tables have no constraint: they are made before.
    assert story.run("replay", "--into", "again").code == 0

    story.refuse("machine_reading", "trip")
    story.push(12)
    until(lambda: story.held().keys() == {"odd", "odd-car"}, worker, about="the two in quarantine")
    story.push(8)
    lastMs = story.startMs + 20_000 * (story.number - 1)
    until(lambda: all(story.newest("machine_reading", "read_at")[each] >= lastMs for each in MACHINES[1:]), worker, about="the other machines")
    world.tick()
    until(lambda: all(story.newest("trip", "end_at")[each] >= lastMs for each in CARS[1:]), worker, about="the other cars")
    assert story.newest("machine_reading", "read_at")["odd"] < lastMs and story.newest("trip", "end_at")["odd-car"] < lastMs

    # Named, with the reason, wherever an operator looks.
    held = story.held()
    assert held["odd"]["topic"] == "drover.machines" and held["odd-car"]["topic"] == "drover.cars"
    assert all("refused" in each["reason"] and each["partition"] == 0 for each in held.values())
    assert "odd-car" in worker.wait_for(r".*this vehicle is set apart.*odd-car.*").group(0)
    status = {line["what"]: line for line in json.loads(story.run("status", "--format", "json").out)}["vehicles in quarantine"]
    assert status["is"] == "2: odd-car (drover.cars), odd (drover.machines)" or status["is"] == "2: odd (drover.machines), odd-car (drover.cars)", status
    assert "drover quarantine retry" in status["what_to_do"]

    def read(path):
        return urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}").read().decode()

    until(lambda: 'drover_quarantined_vehicles{topic="drover.cars"} 1' in read("metrics"), worker, about="the figure")
    assert 'drover_quarantined_vehicles{topic="drover.machines"} 1' in read("metrics")
    until(lambda: "in quarantine: odd (drover.machines) and 1 more" in read("readyz"), worker, about="the finding")
    # What was not done is not compared, and said so; the rest is as it must be.
    rows, left_out = story.verified("again")
    assert left_out == {"odd", "odd-car"} and rows["machine_reading"] > 0
    assert "vehicle odd of drover.machines" in story.run("verify", "again").out
    # A replay sets nobody apart: it fails.
    run = story.run("replay", "--into", "refusing")
    assert run.code == 1 and "refused" in run.err, run.err
    # Not mended: it stays where it is.
    run = story.run("quarantine", "retry", "odd")
    assert run.code == 1 and "stays in quarantine" in run.err and "refused" in run.err
    assert story.held().keys() == {"odd", "odd-car"}

    story.mend()
    # So many that the way back has a middle.
    story.push(1_500, cars=CARS[:2], machines=MACHINES[:2])
    world.work_off(story.env)
    before = story.held()["odd"]["offset"]
    with connect(story.env) as connection:
        connection.autocommit = False
        connection.execute("SELECT FROM drover.partition_progress WHERE topic = 'drover.machines' FOR UPDATE")
        retry = world.drover.start("quarantine", "retry", "odd", env=story.env)
        until(lambda: story.held()["odd"]["offset"] > before, retry, about="a part of the way back")
        retry.kill()
        connection.rollback()
    assert before < story.held()["odd"]["offset"]
    run = story.run("quarantine", "retry", "--all")
    assert run.code == 0 and "odd-car: is back" in run.err, run.err
    assert story.held() == {}
    story.push(8)
    world.work_off(story.env)
    world.tick()
    until(lambda: all(story.newest("trip", "end_at")[each] >= lastMs for each in CARS), worker, about="all cars")
    # As an undisturbed run, which a replay is: what it was told, and when, too.
    rows, left_out = story.verified("again")
    assert left_out == set() and rows["machine_reading"] > 3_000 and rows["alert"] > 0 and rows["rejected"] > 0
    [(machines,), (alerts,)] = [story.query(f"SELECT count(*) FROM drover.{table} WHERE vehicle = 'odd'")[0] for table in ("machine_reading", "alert")]
    assert machines > 1_500 and alerts > 0
    assert "in quarantine" not in read("readyz")
    assert worker.stop() == 0


def test_more_than_may_be_set_apart_stop_their_partition_and_are_named(world):  # noqa: F811
    story = Story(world)
    worker = world.worker(story.env, "one", **{"work.lanes": 1, "work.quarantine_max": 2})
    story.push(3)
    world.work_off(story.env)
    story.refuse("machine_reading")
    odd = [f"odd-{number}" for number in range(5)]
    story.push(2, cars=[], machines=MACHINES + odd)
    line = worker.wait_for(r".*this partition is left alone.*more than 2 of its vehicles.*").group(0)
    assert "odd-0" in line and "work.quarantine_max" in line, line
    assert story.held() == {}
    story.mend()
    world.work_off(story.env)
    assert {each for each, in story.query("SELECT DISTINCT vehicle FROM drover.machine_reading")} == {*MACHINES, *odd}
    assert worker.stop() == 0


def test_records_that_the_topic_has_lost_are_said_before_anything_is_done(world):  # noqa: F811
    story = Story(world)
    worker = world.worker(story.env, "one", **{"work.lanes": 1})
    story.push(3)
    world.work_off(story.env)
    story.refuse("machine_reading")
    story.push(3, cars=[])
    until(lambda: story.held().keys() == {"odd"}, worker, about="the one in quarantine")
    story.mend()
    story.execute("UPDATE drover.quarantine SET next_offset = next_offset - 1000000, replay_offset = replay_offset - 1000000")
    held = story.held()
    run = story.run("quarantine", "retry", "--all")
    assert run.code == 1 and "are not on the topic any more" in run.err and "--rest" in run.err, run.err
    assert story.held() == held
    run = story.run("quarantine", "retry", "odd", "--rest")
    assert run.code == 0 and story.held() == {}, run.err
    story.push(2)
    world.work_off(story.env)
    counts = dict(story.query("SELECT vehicle, count(*) FROM drover.machine_reading GROUP BY 1"))
    assert counts["odd"] == counts["m-1"]
    assert story.run("quarantine", "retry", "nobody").code == 1
    assert worker.stop() == 0
