"""One partition that cannot be written stops alone, says so, and goes on when it can."""
import json

from confluent_kafka.admin import AdminClient, NewTopic
from harness import HANG_S, until
from test_gateway import servers, world  # noqa: F401 (fixtures)
from world import connect, producer, query

ROUNDS = 5
START = 1_789_344_000_000  # 2026-09-14


def test_what_the_database_refuses_stops_its_partition_alone(world):  # noqa: F811
    admin = AdminClient({"bootstrap.servers": world.brokers})
    topic = NewTopic("drover.machines", 6, 1, config={"message.timestamp.type": "LogAppendTime"})
    admin.create_topics([topic])["drover.machines"].result(HANG_S)
    env, sender, places = world.database(), producer(world.brokers), {}
    with connect(env) as connection:
        connection.execute("ALTER TABLE drover.machine_reading ADD CONSTRAINT refused CHECK (vehicle <> 'odd')")
        connection.commit()
    vehicles = ["odd", *(f"m-{index}" for index in range(20))]

    def push(round):
        for vehicle in vehicles:
            record = {"schema": 1, "kind": "reading", "id": f"r-{round}", "vehicle": vehicle, "ts": START + round, "model": "8R Tractor",
                      "coolant_c": 80}
            sender.produce("drover.machines", key=vehicle.encode(), value=json.dumps(record).encode(),
                           callback=lambda error, message, vehicle=vehicle: places.update({vehicle: message.partition()}))
        assert sender.flush(HANG_S) == 0

    def counts():
        return dict(query(env, "SELECT vehicle, count(*) FROM drover.machine_reading GROUP BY 1"))

    # One lane, so that all of them would be written together; and no vehicle may be set apart.
    worker = world.worker(env, "one", **{"work.lanes": 1, "work.quarantine_max": 0})
    for number in range(ROUNDS):
        push(number)
        others = {vehicle: number + 1 for vehicle in vehicles if places[vehicle] != places["odd"]}
        assert 10 < len(others) < 21
        until(lambda: counts() == others, worker, about="the readings of the other partitions")
    line = worker.wait_for(r".*this partition is left alone.*").group(0)
    assert "refused" in line and str(places["odd"]) in line, line
    with connect(env) as connection:
        connection.execute("ALTER TABLE drover.machine_reading DROP CONSTRAINT refused")
        connection.commit()
    world.work_off(env)
    assert counts() == dict.fromkeys(vehicles, ROUNDS)
    assert worker.stop() == 0
