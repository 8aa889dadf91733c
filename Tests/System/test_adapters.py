"""Cars' adapters to rows: a third party's ELM327, emulated ones, brokers and gateways that fail."""
import json
import re
import signal
import time

import obd
import pytest
from confluent_kafka import Consumer, TopicPartition
from elm_tap import Simulator, Tap
from harness import ROOT
from obd import OBDStatus  # noqa: F401  (python-OBD is the reference of all values here)
from obd.protocols import ECU
from packed import readings
from test_gateway import broker, gateway, wait_until  # noqa: F401
from world import World, connect, producer

# As the schedule has it, with the signal that each becomes.
POLLED = {"010D": "speed_kmh", "010C": "rpm", "0110": "maf_gps", "0142": "voltage_v", "0105": "coolant_c", "010B": "map_kpa", "010F": "intake_air_c"}


@pytest.fixture
def world(drover, data):
    return World(drover, drover.servers(data))


def register(env, cars):
    """Cars by id with the port of their adapter."""
    with connect(env) as connection, connection.cursor() as cursor:
        cursor.executemany(
            """INSERT INTO drover.registration (kind, vehicle, topic_partition, registered_at, record_id, host, port)
               VALUES ('car', %s, 0, now(), 'r', '127.0.0.1', %s)""", list(cars.items()))


def close_minutes(world):
    """Ticks so far ahead that what is open in memory is written."""
    ticks = producer(world.brokers)
    for partition in ticks.list_topics("drover.cars", timeout=10).topics["drover.cars"].partitions:
        ticks.produce("drover.cars", partition=partition, value=json.dumps({"schema": 1, "kind": "tick", "ts": int(time.time() * 1000) + 58_000}).encode())
    assert ticks.flush(20) == 0


def stored(env):
    """What the minutes hold, by car: [(ts, {signal: thousandths})]."""
    with connect(env) as connection:
        rows = connection.execute(
            "SELECT vehicle, (extract(epoch FROM minute_at) * 1000)::bigint, samples FROM drover.vehicle_minute ORDER BY 1, 2").fetchall()
    found = {}
    for vehicle, minute, samples in rows:
        found.setdefault(vehicle, []).extend(readings(bytes(samples), minute))
    return found


def on_topic(brokers):
    """All records of the cars' topic that are no ticks."""
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": "look", "enable.auto.commit": False})
    partitions = consumer.list_topics("drover.cars", timeout=10).topics["drover.cars"].partitions
    ends = {p: consumer.get_watermark_offsets(TopicPartition("drover.cars", p), timeout=10) for p in partitions}
    left = {p for p, (low, high) in ends.items() if high > low}
    consumer.assign([TopicPartition("drover.cars", p, ends[p][0]) for p in left])
    found, deadline = [], time.monotonic() + 120
    while left:
        assert time.monotonic() < deadline, left
        message = consumer.poll(1)
        if message is None or message.error():
            continue
        record = json.loads(message.value())
        if record["kind"] != "tick":
            assert message.key().decode() == record["vehicle"]
            found.append(record)
        if message.offset() + 1 >= ends[message.partition()][1]:
            left.discard(message.partition())
    consumer.close()
    return found


def by_reference(request, reply):
    """A reply of mode 01 in thousandths by python-OBD; None: it holds no value."""
    command = next(each for each in obd.commands[1] if each.command == request.encode())
    # Lines as python-OBD's own connection gives them, with headers off: mode and parameter first.
    for line in reply.replace("\r", "\n").splitlines():
        digits = line.replace(" ", "")
        if digits.startswith("41" + request[2:]) and len(digits) == 2 * command.bytes:
            message = type("Message", (), {"data": bytearray.fromhex(digits), "ecu": ECU.ENGINE})
            value = command.decode([message])
            return round(value.to({"degF": "degC"}.get(str(value.units), value.units)).magnitude * 1000)
    return None


SETTLED = {"car": "driving", "default": "driving", "mt05": "driving", "AT": "driving", "UDS_WF": "driving", "UDS_W_VIN": "driving", "engineoff": "parked"}


@pytest.mark.parametrize("scenario", SETTLED)
def test_a_third_partys_adapter_arrives_with_the_values_that_it_said(world, tmp_path, scenario):
    env = world.database()
    simulator = Simulator(scenario)
    tap = Tap(simulator.port)
    register(env, {"car": tap.port})
    running = gateway(world, env, tmp_path)
    try:
        if SETTLED[scenario] == "parked":
            running.wait_for(r'"a car is parked" vehicle=car answer="[^"]*(ignition|UNABLE TO CONNECT)', 60)
        else:
            wait_until(lambda: len(tap.replies("010D")) >= 22, 90, running)
        assert running.stop() == 0
    finally:
        simulator.stop()
        tap.close()
    # The session begins as the documents say, and nothing is asked before the answer to the last request.
    assert tap.asked[:5] == ["ATZ", "AT@1", "AT@2", "ATSP00", "0100"] and tap.interrupted == 0
    assert not [line for line in tap.asked if re.match("0[48]", line)]
    worker = world.worker(env, "one")
    if SETTLED[scenario] == "parked":
        world.work_off(env)
        assert stored(env) == {} and running.output().count("WARN") == 0, running.output()
        return
    # What is not in the car's masks is never asked for.
    masks = {request: bytes.fromhex(re.search(rf"41 ?{request[2:]} ?((?:[0-9A-F]{{2}} ?){{4}})", reply).group(1)) for request, reply in tap.replies("01[024]0")}
    having = {int(request[2:], 16) + bit + 1 for request, mask in masks.items() for bit in range(32) if int.from_bytes(mask) >> (31 - bit) & 1}
    if scenario != "default":  # Two control units, each with a mask of its own.
        assert {int(line[2:4], 16) for line in tap.asked if line[:2] == "01" and line[2:] not in ("00",)} <= having
    time.sleep(3)
    close_minutes(world)
    wait_until(lambda: stored(env), 60, worker)
    world.work_off(env)
    expected = {}
    for request, reply in tap.replies("01(0D|0C|10|42|05|0B|0F)"):
        if (value := by_reference(request, reply)) is not None:
            expected.setdefault(POLLED[request], []).append(value)
    found = {}
    for ts, values in stored(env)["car"]:
        for name, value in values.items():
            found.setdefault(name, []).append(value)
    assert found == expected
    # Whole steps: one reading a second.
    times = [ts for ts, _ in stored(env)["car"]]
    print(f"{scenario}: {len(times)} readings, {sum(map(len, expected.values()))} values, steps of "
          f"{min(b - a for a, b in zip(times, times[1:]))} to {max(b - a for a, b in zip(times, times[1:]))} ms")
    with connect(env) as connection:
        [(pids,)] = connection.execute("SELECT pids FROM drover.car_support WHERE vehicle = 'car'").fetchall()
        assert "010D" in pids and all(re.fullmatch("01[0-9A-F]{2}", pid) for pid in pids)
