"""What a worker writes again and again stays in its page: an update that moves its row writes it whole, and into each index anew."""
import json

import pytest
from harness import HANG_S, until
from world import producer, query

CARS, MACHINES, MINUTES, STARTED_MS = 400, 200, 9, 1_767_225_600_000

# What of a row that is written again stays as it is; all else changes.
STAYS = {
    "trip": {"vehicle", "start_at"}, "vehicle_day": {"vehicle", "day_at"}, "vehicle_minute": {"vehicle", "minute_at"},
    "machine_reading": {"vehicle", "read_at"}, "vehicle": {"kind", "vehicle", "topic_partition"}, "partition_progress": {"topic", "partition"},
    "car_watch": {"vehicle", "topic_partition"}, "machine_rejudging": {"vehicle", "topic_partition"}, "live_trip": {"vehicle"},
    "machine_spreading": {"topic_partition", "asked_offset"}, "car_spreading": {"topic_partition", "asked_offset"},
    "replaced_limits": {"topic_partition", "in_force_at", "record_id"},
}


@pytest.mark.parametrize("table", STAYS)
def test_no_index_holds_what_changes_with_every_reading(env, table):
    # Of keys, expressions and conditions: each of them keeps an update from being in place.
    held = query(env, """SELECT DISTINCT i.indexrelid::regclass::text, a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid
        WHERE i.indrelid = %s::regclass AND (a.attnum = ANY (i.indkey) OR EXISTS (
            SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
                AND d.refobjid = i.indrelid AND d.refobjsubid = a.attnum AND a.attnum > 0))""", "drover." + table)
    assert held
    assert [(index, column) for index, column in held if column not in STAYS[table]] == []


def test_a_fleets_minutes_are_written_in_place(world, env):
    worker, sender = world.worker(env, "hot"), producer(world.brokers)

    def say(topic, vehicle, second, **fields):
        ts = STARTED_MS + 1_000 * second
        record = {"schema": 1, "kind": "reading", "id": f"{vehicle}-{second}", "vehicle": vehicle, "ts": ts, **fields}
        sender.produce(topic, key=vehicle.encode(), value=json.dumps(record).encode())

    # Minute after minute all of them at once, as by the clock on the wall.
    for second in range(0, 60 * MINUTES, 20):
        for number in range(CARS):
            say("drover.cars", f"car-{number}", second, speed_kmh=(number + second // 7) % 100, rpm=1_900 + second, maf_g_per_s=4.5)
        for number in range(0 if second % 60 else MACHINES):
            say("drover.machines", f"m-{number}", second, model="8R Tractor", coolant_c=70, gps_available=True, reporting=True)
        if second % 60 == 40:
            assert sender.flush(HANG_S) == 0
            world.work_off(env)
    assert worker.stop() == 0

    def counted():
        return {name: (updates, hot) for name, updates, hot in query(env, "SELECT relname, n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE schemaname = 'drover'")}

    # The first of its minutes is new, the last one still open. Sessions tell of what they did as they end.
    least = {"trip": CARS * (MINUTES - 2), "vehicle_day": CARS * (MINUTES - 2), "vehicle": MACHINES * (MINUTES - 1)}
    until(lambda: all(counted()[table][0] >= count for table, count in least.items()), counted)
    shares = {table: counted()[table][1] / counted()[table][0] for table in least}
    assert all(share > 0.95 for share in shares.values()), shares
