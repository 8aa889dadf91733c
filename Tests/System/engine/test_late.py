"""Readings that come late, by the thousand, are judged in pieces; nobody else waits for them (decision 22)."""
import json
import shutil

from brokers import make_topics
from harness import HANG_S, ROOT, until
from test_gateway import servers, world  # noqa: F401 (fixtures)
from world import producer, query

MINUTE = 60_000
# More than are judged at a tick.
COUNT = 10_000


class Log:
    """One partition, so that all machines share what it costs."""

    def __init__(self, world):
        make_topics(world.brokers, {"drover.machines": 1})
        self.sender = producer(world.brokers)
        self.now = 1_789_344_000_000  # 2026-09-14
        self.ticks = 0

    def put(self, record, **place):
        while True:
            try:
                return self.sender.produce("drover.machines", value=json.dumps(record).encode(), **place)
            except BufferError:
                self.sender.poll(0.1)

    def read(self, vehicle, ts, celsius):
        self.put({"schema": 1, "kind": "reading", "id": f"r-{ts}", "vehicle": vehicle, "ts": ts, "model": "8R Tractor", "coolant_c": celsius,
                  "gps_available": True}, key=vehicle.encode())

    def tick(self):
        self.ticks += 1
        self.put({"schema": 1, "kind": "tick", "ts": self.now - COUNT * MINUTE + self.ticks, "by": "import.test"}, partition=0)

    def flush(self):
        assert self.sender.flush(HANG_S) == 0


def alerts(env):
    return query(env, "SELECT vehicle, state, (extract(epoch FROM opened_at) * 1000)::bigint, revision FROM drover.alert ORDER BY vehicle, opened_at")


def waiting(env):
    return query(env, "SELECT count(*) FROM drover.machine_rejudging")[0][0]


def taken(world, env):
    """No tick but the test's own."""
    until(lambda: world.lag(env) == 0, about="what was pushed")


def test_thousands_of_readings_newest_first_stop_nobody(world):  # noqa: F811
    env = world.database()
    log = Log(world)
    world.drover.done("rules", "publish", ROOT / "Deploy" / "thresholds", env=env)
    worker = world.worker(env, "one", **{"ticks.roles": "notify"})
    # Hot all along: each moves the alert's opening, and with it the state of all that follow.
    for index in range(COUNT):
        log.read("backlog", log.now - index * MINUTE, 120)
        if index % 1_000 == 999:
            log.read(f"other-{index // 1_000:02}", log.now, 120)
    log.flush()
    taken(world, env)
    others = [(f"other-{index:02}", "open", log.now, 0) for index in range(COUNT // 1_000)]
    assert alerts(env) == [("backlog", "open", log.now, 0), *others]
    assert waiting(env) == 1
    log.tick()
    log.flush()
    taken(world, env)
    # A piece, and no more: it is killed before the rest.
    assert waiting(env) == 1
    worker.kill()
    worker = world.worker(env, "one", **{"ticks.roles": "notify"})
    for _ in range(3):
        log.tick()
    log.flush()
    taken(world, env)
    assert waiting(env) == 0
    # Told once, however many moved it.
    assert alerts(env) == [("backlog", "open", log.now - (COUNT - 1) * MINUTE, 1), *others]
    assert query(env, "SELECT count(*), count(DISTINCT read_at) FROM drover.machine_reading WHERE vehicle = 'backlog'") == [(COUNT, COUNT)]
    world.replayed(env, seconds=HANG_S * 2)
    assert worker.stop() == 0


def test_rules_for_an_old_time_come_to_all_machines_in_pieces(world, tmp_path):  # noqa: F811
    """More machines than are noted in one commit, and a worker that is killed between two."""
    env = world.database()
    log = Log(world)
    world.drover.done("rules", "publish", ROOT / "Deploy" / "thresholds", env=env)
    worker = world.worker(env, "one", **{"ticks.roles": "notify"})
    for index in range(5_000):
        log.read(f"m-{index:04}", log.now, 120)
    log.flush()
    taken(world, env)
    assert {alert[1:] for alert in alerts(env)} == {("open", log.now, 0)}

    def spread():
        return query(env, "SELECT after_vehicle FROM drover.machine_spreading")

    # Of tractors it says nothing: from now on, and then from when the readings are on.
    shutil.copy(ROOT / "Deploy" / "thresholds" / "S690 Combine-thresholds.xml", tmp_path)
    world.drover.done("rules", "publish", tmp_path, env=env)
    taken(world, env)
    log.tick()
    log.flush()
    taken(world, env)
    assert spread() == [] and waiting(env) == 0
    version, text = query(env, "SELECT version, rules FROM drover.rule_set ORDER BY in_force_at DESC LIMIT 1")[0]
    log.put({"schema": 1, "kind": "rules", "ts": log.now, "version": version, "rules": text}, partition=0)
    log.flush()
    taken(world, env)
    assert waiting(env) == 4_096 and spread() == [("m-4095",)]
    worker.kill()
    worker = world.worker(env, "one", **{"ticks.roles": "notify"})
    log.tick()
    log.flush()
    taken(world, env)
    assert spread() == [] and 904 < waiting(env) < 5_000
    for _ in range(12):
        log.tick()
    log.flush()
    taken(world, env)
    assert waiting(env) == 0
    told = alerts(env)
    assert len(told) == 5_000 and {alert[1:] for alert in told} == {("withdrawn", log.now, 1)}
    world.replayed(env, seconds=HANG_S * 2)
    assert worker.stop() == 0
