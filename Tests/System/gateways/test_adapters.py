"""Cars' adapters to rows: a third party's ELM327, emulated ones, brokers and gateways that fail."""
import bisect
import json
import os
import re
import signal
import time

import obd
import pytest
from confluent_kafka import Consumer, TopicPartition
from elm_tap import Simulator, Tap
from harness import HANG_S, ROOT, freeze, is_long, until
from obd.protocols import ECU
from packed import readings
from test_gateway import broker, gateway, records, servers, spooled, until_kept, world  # noqa: F401 (fixtures)
from world import connect, query

# The schedule that ships, and the same in a hurry.
STEPS = "0D 1-10; 0C 1,3,5,7,9; 10/0B 2,4; 10/0F 8; 42 6; 05 10"
HURRY = {"gateway.obd_schedule": f"200 ms: {STEPS}"}
# As the schedule has it, with the signal that each becomes.
POLLED = {"010D": "speed_kmh", "010C": "rpm", "0110": "maf_gps", "0142": "voltage_v", "0105": "coolant_c", "010B": "map_kpa", "010F": "intake_air_c"}


def register(env, cars):
    """Cars by id with the port of their adapter."""
    with connect(env) as connection, connection.cursor() as cursor:
        cursor.executemany(
            """INSERT INTO drover.registration (kind, vehicle, topic_partition, registered_at, record_id, host, port)
               VALUES ('car', %s, 0, now(), 'r', '127.0.0.1', %s)""", list(cars.items()))


def close_minutes(world):
    """Ticks as far ahead as they may be: what has been in memory for a minute by them is written."""
    world.tell("drover.cars", {"schema": 1, "kind": "tick", "ts": int(time.time() * 1000) + 60_000})


def until_written(world, env, worker, count):  # noqa: F811
    """Until so many readings of cars are in the tables."""
    def are_there():
        close_minutes(world)
        return sum(map(len, stored(env).values())) == count
    until(are_there, worker)


def stored(env):
    """What the minutes hold, by car: [(ts, {signal: thousandths})]."""
    rows = query(env, "SELECT vehicle, (extract(epoch FROM minute_at) * 1000)::bigint, samples FROM drover.vehicle_minute ORDER BY 1, 2")
    found = {}
    for vehicle, minute, samples in rows:
        found.setdefault(vehicle, []).extend(readings(bytes(samples), minute))
    return found


def on_topic(brokers):
    """All records of the cars' topic that are no ticks."""
    return records(brokers, "drover.cars")


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


@pytest.mark.parametrize("scenario", [
    name if name == "car" else pytest.param(name, marks=pytest.mark.long(reason="the same with another car")) for name in SETTLED])
def test_a_third_partys_adapter_arrives_with_the_values_that_it_said(world, tmp_path, scenario):  # noqa: F811
    env = world.database()
    simulator = Simulator(scenario)
    tap = Tap(simulator.port)
    register(env, {"car": tap.port})
    # A whole cycle of the schedule and more.
    answers, pace = (22, {}) if is_long() else (12, HURRY)
    running = gateway(world, env, tmp_path, **pace)
    try:
        if SETTLED[scenario] == "parked":
            running.wait_for(r'"a car is parked" vehicle=car answer="[^"]*(ignition|UNABLE TO CONNECT)')
        else:
            until(lambda: len(tap.replies("010D")) >= answers, running)
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
    if '"gateway stopped" spooled=0' not in running.output():
        # What the broker had not taken by then waits in the spool for the next one; nobody answers that one.
        running = gateway(world, env, tmp_path)
        until(lambda: spooled(running) == 0, running)
        assert running.stop() == 0
    assert '"gateway stopped" spooled=0' in running.output()
    until_written(world, env, worker, sum(record["kind"] == "reading" for record in on_topic(world.brokers)))
    expected = {}
    for request, reply in tap.replies("01(0D|0C|10|42|05|0B|0F)"):
        if (value := by_reference(request, reply)) is not None:
            expected.setdefault(POLLED[request], []).append(value)
    found = {}
    for ts, values in stored(env)["car"]:
        for name, value in values.items():
            found.setdefault(name, []).append(value)
    # The answer that was under way when the gateway stopped is nobody's.
    assert {name: expected[name][:len(values)] for name, values in found.items()} == found
    assert sum(map(len, expected.values())) - sum(map(len, found.values())) in (0, 1)
    # Whole steps: one reading each.
    times = [ts for ts, _ in stored(env)["car"]]
    print(f"{scenario}: {len(times)} readings, {sum(map(len, expected.values()))} values, steps of "
          f"{min(b - a for a, b in zip(times, times[1:]))} to {max(b - a for a, b in zip(times, times[1:]))} ms")
    [(pids,)] = query(env, "SELECT pids FROM drover.car_support WHERE vehicle = 'car'")
    assert "010D" in pids and all(re.fullmatch("01[0-9A-F]{2}", pid) for pid in pids)


def emulate(world, scenario, count, *arguments):  # noqa: F811
    """Adapters as the emulator lists them, and the emulator."""
    path = scenario if isinstance(scenario, os.PathLike) else ROOT / "Deploy" / "scenarios" / "cars" / f"{scenario}.yaml"
    running = world.drover.start("emulate", "obd", "--scenario", path, "--adapters", count, "--format", "json", *arguments)
    running.wait_for(rf'"adapter":{count - 1},.*\n')
    return [json.loads(line) for line in running.output().splitlines() if line.startswith("{")], running


def scan(world, env, car, wait_s=HANG_S):  # noqa: F811
    return world.drover.run("vehicle", "scan", car, "--by", "Anna", "--wait", wait_s, env=env, seconds=2 * HANG_S)


def test_a_car_is_registered_polled_and_scanned_from_the_command_line(world, tmp_path):  # noqa: F811
    env = world.database()
    simulator = Simulator("car", "import elm.obd_message as o; o.DTC_STORED[:]=['0143','0420']; o.DTC_PENDING[:]=['0171']")
    worker = world.worker(env, "one")
    try:
        world.drover.done("account", "add", "anna", "--mail", "anna@example.org", "--role", "driver", env=env)
        world.drover.done(
            "vehicle", "register", "golf", "--kind", "car", "--address", f"localhost:{simulator.port}", "--name", "Anna's Golf", "--make", "VW",
            "--model", "Golf", "--year", "2014", "--fuel", "gasoline", "--tank", "50", "--displacement", "1395", "--efficiency", "82.5",
            "--vin", "wvwzzz1kz7w386752", "--account", "anna", "--by", "Anna", env=env)
        # What is not typed stays.
        world.drover.done("vehicle", "register", "golf", "--kind", "car", "--tags", "family", "--by", "Anna", env=env)
        assert query(env, """SELECT kind, name, make, model, year, fuel, tank_l, displacement_cc, volumetric_efficiency_pct, vin, account, tags, host
               FROM drover.registration""") == [
            ("car", "Anna's Golf", "VW", "Golf", 2014, "gasoline", 50.0, 1395, 82.5, "WVWZZZ1KZ7W386752", "anna", ["family"], "localhost")]
        listed = json.loads(world.drover.run("vehicle", "list", "--kind", "car", "--format", "json", env=env).out)
        assert [(row["vehicle"], row["kind"]) for row in listed] == [("golf", "car")]
        for wrong, says in ((["--fuel", "soup"], "--fuel soup"), (["--vin", "123"], "--vin 123"), (["--tank", "-1"], "--tank -1")):
            world.drover.fails("vehicle", "register", "golf", "--kind", "car", *wrong, "--by", "Anna", env=env, says=says, code=2)
        world.drover.fails("vehicle", "register", "golf", "--fuel", "diesel", "--by", "Anna", env=env, says="say --kind car", code=2)

        # Nobody polls yet.
        run = scan(world, env, "golf", wait_s=1)
        assert run.code == 1 and "no gateway has answered within 1 s" in run.err
        running = gateway(world, env, tmp_path)
        run = scan(world, env, "golf")
        assert run.code == 0, run.err + running.output()
        assert "golf: 2 trouble codes: P0143, P0420; pending: P0171" in run.out
        assert "Catalyst System Efficiency Below Threshold" in run.out and "O2 Sensor Circuit Low Voltage" in run.out
        assert "malfunction lamp: on" in run.out and "VIN: WP0ZZZ99ZTS390000" in run.out
        run = world.drover.done("vehicle", "scans", "golf", "--format", "json", env=env)
        scans = json.loads(run.out)
        done = [each for each in scans if each["is_done"]]
        # The lamp was seen at the start, too: that scan nobody asked for.
        assert {tuple(each["stored"]) for each in done} == {("P0143", "P0420")} and {each["scanned_by"] for each in done} == {"gateway"}
        run = scan(world, env, "nobody")
        assert run.code == 1 and "No answer from the adapter at that address" in run.err
    finally:
        simulator.stop()
    run = scan(world, env, "golf")
    assert run.code == 1 and "No answer from the adapter at that address" in run.err
    assert running.stop() == 0 and worker.stop() == 0


def test_a_parked_car_is_normal_and_says_what_to_do_when_it_is_asked(world, tmp_path):  # noqa: F811
    env = world.database()
    path = tmp_path / "parked.yaml"
    path.write_text("adapters:\n  parked:\n    ignition: 0 of 10 min\n")
    [car], _ = emulate(world, path, 1)
    worker = world.worker(env, "one")
    register(env, {"car": car["port"]})
    running = gateway(world, env, tmp_path, **{"gateway.obd_parked_s": 1})
    running.wait_for(r'(?s)(a car is parked.*){2}')
    run = scan(world, env, "car")
    assert run.code == 1 and "UNABLE TO CONNECT" in run.err and "Switch the ignition on" in run.err, run.err
    assert running.stop() == 0 and worker.stop() == 0
    assert " warning " not in running.output() and " error " not in running.output()


def polls(journal):
    """When and by whom 010D was answered, from the emulator's own journal."""
    for line in journal.read_text().splitlines():
        ms, adapter, request, *answer = line.split(" ")
        assert "FORBIDDEN" not in answer and "INTERRUPTED" not in answer, line
        if request == "010D" and answer[0].startswith("41"):
            yield int(ms), int(adapter)


def schedule_of(journal):
    """When each adapter answered 010D."""
    asked = {}
    for ms, adapter in polls(journal):
        asked.setdefault(adapter, []).append(ms)
    return asked


HOSTILE = ("silent", "closes", "no_data", "unable_to_connect", "stopped", "bus_error", "unknown", "garbage", "late_prompt", "babble", "slow")


def test_no_good_adapter_is_passed_over_while_bad_ones_keep_their_connections(world, tmp_path):  # noqa: F811
    """One that never answers is given as long as the test lasts: who waits for it with the others would never get on. How late a poll
    is stands in the long form."""
    env = world.database()
    path, journal = tmp_path / "hostile.yaml", tmp_path / "journal"
    path.write_text("adapters:\n" + "".join(f"  {kind}:\n    peer: {kind}\n" for kind in HOSTILE) + f"  good:\n    weight: {len(HOSTILE)}\n")
    adapters, emulator = emulate(world, path, 2 * len(HOSTILE), "--journal", journal)
    register(env, {f"car-{each['adapter']}": each["port"] for each in adapters})
    good = {each["adapter"] for each in adapters if each["peer"] == "answers"}
    running = gateway(world, env, tmp_path, **{"gateway.answer_timeout_ms": 600_000, "gateway.back_off_s_max": 60, "gateway.obd_parked_s": 60}, **HURRY)
    running.wait_for(f'"adapters to poll" adapters={len(adapters)} ')
    for words in ("closed the connection", "sends without being asked", "did not understand the request"):
        running.wait_for(rf' warning .*{words}.* do="')
    consumer = Consumer({"bootstrap.servers": world.brokers, "group.id": "look", "enable.auto.commit": False})
    partitions = until(lambda: "drover.cars" in (known := consumer.list_topics(timeout=HANG_S).topics) and known["drover.cars"].partitions, running)
    consumer.assign([TopicPartition("drover.cars", partition, 0) for partition in partitions])
    ids = {}

    def are_read():
        for message in consumer.consume(1_000, 0.1):
            if message.error():
                continue
            record = json.loads(message.value())
            if record["kind"] == "reading":
                ids.setdefault(record["vehicle"], []).append(record["id"])
        return all(len(ids.get(f"car-{adapter}", ())) >= 10 for adapter in good)
    until(are_read, running)
    consumer.close()
    assert running.stop() == 0 and emulator.stop() == 0
    assert all(len(each) == len(set(each)) for each in ids.values())
    # From where all good ones are polled: between two polls of one no other has more than a late one and those on both sides of it.
    order = [adapter for _, adapter in polls(journal) if adapter in good]
    assert set(order) == good
    since = {adapter: {} for adapter in good}
    for adapter in order[max(order.index(adapter) for adapter in good):]:
        assert all(count <= 4 for count in since[adapter].values()), f"adapter {adapter} was passed over: {since[adapter]}"
        since[adapter] = {}
        for other in good - {adapter}:
            since[other][adapter] = since[other].get(adapter, 0) + 1


def cpu_seconds(process):
    fields = open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def memory_mb(process):
    return int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{process.pid}/status").read()).group(1)) / 1024


@pytest.mark.long(reason="how late a poll is depends on what else the machine does")
@pytest.mark.parametrize("count, seconds", [(200, 25), (2_000, 180)])
def test_adapters_of_which_one_in_twenty_misbehaves_are_polled_on_schedule(world, tmp_path, count, seconds):  # noqa: F811
    env = world.database()
    journal = tmp_path / "journal"
    # A whole round of the scenario's kinds, so that one in twenty misbehaves.
    count = -(-count // 220) * 220
    adapters, emulator = emulate(world, "hostile", count, "--journal", journal)
    register(env, {f"car-{each['adapter']}": each["port"] for each in adapters})
    running = gateway(world, env, tmp_path, **{"gateway.answer_timeout_ms": 5_000, "gateway.back_off_s_max": 60, "gateway.obd_parked_s": 60})
    good = {each["adapter"] for each in adapters if each["peer"] == "answers"}
    running.wait_for(rf'"adapters to poll" adapters={count} ')
    time.sleep(15)  # All are called within seconds.
    cpu, began = cpu_seconds(running.process), time.time()
    time.sleep(seconds)
    cpu, ended = cpu_seconds(running.process) - cpu, time.time()
    peak = memory_mb(running.process)
    assert running.stop() == 0 and emulator.stop() == 0
    asked = schedule_of(journal)
    assert good <= set(asked)
    gaps = []
    for adapter in good:
        times = [ms for ms in asked[adapter] if began * 1000 <= ms <= ended * 1000]
        assert abs(len(times) - seconds) <= max(2, seconds // 50), f"adapter {adapter}: {len(times)} polls in {seconds} s"
        gaps += [b - a for a, b in zip(times, times[1:])]
    gaps.sort()
    print(f"{len(good)} good of {count} adapters, {seconds} s: {len(gaps)} gaps between polls, median {gaps[len(gaps) // 2]} ms, "
          f"p99.9 {gaps[-1 - len(gaps) // 1000]} ms, longest {gaps[-1]} ms; {100 * cpu / (ended - began):.0f} % of a core, {peak:.0f} MB")
    assert gaps[len(gaps) // 2] in range(980, 1_021)
    assert gaps[-1 - len(gaps) // 1000] < 2_000
    # Of each kind of fault something is said, and no flood.
    warnings = [line for line in running.output().splitlines() if " warning " in line]
    for words in ("no prompt in time", "closed the connection", "sends without being asked", "did not understand the request"):
        assert any(words in line and ' do="' in line for line in warnings), words + "\n" + "\n".join(warnings)
    assert len(warnings) <= count // 20 * 3, "\n".join(warnings)
    # Each reading has come once.
    records = on_topic(world.brokers)
    ids = [(record["vehicle"], record["id"]) for record in records if record["kind"] == "reading"]
    assert len(ids) == len(set(ids)) and {vehicle for vehicle, _ in ids} >= {f"car-{adapter}" for adapter in good}


@pytest.mark.long(reason="test_gateway.py has the short form, of boxes")
@pytest.mark.parametrize("count, away_s", [(40, 8), (200, 300)])
def test_a_broker_that_is_away_and_a_gateway_killed_meanwhile_lose_and_double_no_reading_of_cars(world, broker, tmp_path, count, away_s):  # noqa: F811
    env = world.database()
    journal = tmp_path / "journal"
    path = tmp_path / "good.yaml"
    path.write_text("adapters:\n  good:\n    latency_ms: 20\n")
    adapters, emulator = emulate(world, path, count, "--journal", journal)
    register(env, {f"car-{each['adapter']}": each["port"] for each in adapters})
    running = gateway(world, env, tmp_path)
    running.wait_for(r'"adapters to poll" adapters=\d+')
    until(lambda: len(on_topic(world.brokers)) >= 5 * count, running)
    frozen = [time.time()]
    freeze(running)
    until_kept(broker)
    broker.stop()
    running.signal(signal.SIGCONT)
    frozen.append(time.time())
    kills = []
    for _ in range(2):
        running.wait_for("the broker does not acknowledge|readings cannot be pushed")
        time.sleep(away_s / 2)  # The load is what comes meanwhile.
        kills.append(time.time())
        running.kill()
        running = gateway(world, env, tmp_path)
        assert int(running.wait_for(r'"gateway started" spooled=(\d+)').group(1)) > 0
    assert broker.start()
    until(lambda: (waiting := spooled(running)) is not None and waiting < 2 * count, running)
    assert running.stop() == 0 and emulator.stop() == 0
    if int(re.findall(r'"gateway stopped" spooled=(\d+)', running.output())[-1]):
        running = gateway(world, env, tmp_path)  # Drains what is left; nobody answers it.
        until(lambda: spooled(running) == 0, running)
        assert running.stop() == 0
    assert '"gateway stopped" spooled=0' in running.output()
    # What the adapters answered by their own journal, against what is on the topic: speeds by car in the order of time.
    records = [record for record in on_topic(world.brokers) if record["kind"] == "reading"]
    ids = [(record["vehicle"], record["id"]) for record in records]
    unique = {identity: record for identity, record in zip(ids, records)}
    answered, missing, read = 0, 0, {}
    for record in unique.values():
        read.setdefault(record["vehicle"], []).append(record["ts"])
    ended = max(map(max, read.values()))
    for adapter, times in schedule_of(journal).items():
        # The next request goes out when the answer was read: a reading is of the last answer before it, however late.
        found = {bisect.bisect_right(times, ts + 50) - 1 for ts in read.get(f"car-{adapter}", ())}
        for place, ms in enumerate(times):
            # Half a second before a kill is in the gateway's memory only.
            if any(kill * 1000 - 1_000 <= ms <= kill * 1000 + 500 for kill in kills) or ms > ended - 2_000:
                continue
            # What was answered to a gateway that stood still is read, and bears its time, when it goes on.
            if frozen[0] * 1000 - 1_000 <= ms <= frozen[1] * 1000 + 500:
                continue
            answered += 1
            missing += place not in found
    print(f"{answered} readings while the broker was away and the gateway killed twice: {missing} missing, {len(ids) - len(unique)} repeats "
          f"of {len(ids)} records on the topic")
    assert missing == 0
    worker = world.worker(env, "one")
    until_written(world, env, worker, len(unique))
