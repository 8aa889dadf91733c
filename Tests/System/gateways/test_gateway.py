"""Boxes to rows: emulator, gateway, broker, worker, database; boxes, lines, brokers and gateways that fail."""
import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request

import psycopg
import pytest
from brokers import Noida
from confluent_kafka import Consumer, TopicPartition
from harness import HANG_S, ROOT, free_port, freeze, is_long, scratch, until
from servers import Servers
from world import World, connect, messages, producer, query, url_of


@pytest.fixture(scope="module")
def servers(program):
    folder = scratch("drover-module-")
    servers = Servers(program, folder)
    yield servers
    servers.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def world(drover, servers, data):
    """A broker of the test's own beside the module's PostgreSQL: it can be stopped, and its log has nothing of other tests."""
    world = World(drover, servers)
    world.broker = Noida(data / "broker")
    world.brokers = world.broker.brokers
    drover.started.append(world.broker)  # Stopped after all that is started later.
    return world


@pytest.fixture
def broker(world):
    return world.broker


@pytest.fixture
def scenario(tmp_path):
    """Writes a scenario of one reading a second, so that time passes in a test."""
    def write(text, interval_s=1, memory_min=5):
        path = tmp_path / "scenario.yaml"
        path.write_text(f"interval_s: {interval_s}\nmemory_min: {memory_min}\nboxes:\n{text}")
        return path
    return write


def emulate(world, scenario, boxes, *arguments):
    """Boxes as the emulator lists them."""
    path = scenario if isinstance(scenario, os.PathLike) else ROOT / "Deploy" / "scenarios" / f"{scenario}.yaml"
    running = world.drover.start("emulate", "mtg", "--scenario", path, "--boxes", boxes, "--format", "json", *arguments)
    running.wait_for(rf'"box":{boxes - 1},.*\n')
    return [json.loads(line) for line in running.output().splitlines() if line.startswith("{")]


def register(env, boxes, **changed):
    with connect(env) as connection, connection.cursor() as cursor:
        cursor.executemany(
            """INSERT INTO drover.registration (kind, vehicle, topic_partition, registered_at, record_id, host, port, certificate_sha256)
               VALUES ('machine', %s, 0, now(), 'r', %s, %s, %s)""",
            [[box["serial"], *({**box, **changed}[name] for name in ("host", "port", "certificate_sha256"))] for box in boxes])


def gateway(world, env, tmp_path, **settings):
    """A gateway that is in more of a hurry than in the field, as a login that may read registrations and nothing else. It is asked for
    its figures at `.port`."""
    query(env, """DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'boxes') THEN CREATE ROLE boxes LOGIN IN ROLE drover_gateway; END IF;
        END $$""")
    standard = {
        "gateway.poll_interval_s": 1, "gateway.registry_interval_s": 1, "gateway.answer_timeout_ms": 60_000, "gateway.back_off_s_max": 2,
        "gateway.spool_path": tmp_path / "spool", "postgres.gateway_url": url_of(env, "boxes"),
        "gateway.plain_tcp_cidrs": "127.0.0.0/8", "gateway.failure_told_s": 0, "metrics.port": free_port(), **settings,
    }
    arguments = ["gateway"]
    for key, value in standard.items():
        arguments += ["--set", f"{key}={value}"]
    running = world.drover.start(*arguments, env={**env, "DROVER_LOG": "debug"})
    running.port = standard["metrics.port"]
    return running


def spooled(running):
    """Records that wait in a gateway's spool, as it tells probers; None while it does not."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{running.port}/readyz", timeout=HANG_S) as answer:
            body = answer.read()
    except urllib.error.HTTPError as not_ready:
        body = not_ready.read()
    except OSError:
        return None
    found = re.search(r"(\d+) readings wait", body.decode())
    return found and int(found[1])


def until_kept(broker):
    """The embedded broker saves what it has once a second and forgets the rest when it is stopped: until it has saved twice what came
    after the last sender fell silent."""
    sender, saved = producer(broker.brokers), broker.folder / "log" / "kafka.json"

    def markers():
        try:
            topics = dict(json.loads(saved.read_text())["topics"])
        except (FileNotFoundError, ValueError):  # It is being written.
            return 0
        return sum(partition["high_watermark"] for _, partition in topics["marker"]["partitions"]) if "marker" in topics else 0
    for number in (1, 2):
        sender.produce("marker", value=b"saved?")
        assert sender.flush(HANG_S) == 0
        until(lambda: markers() >= number)


def rows(env, interval_s=1):
    """Sequence numbers of the stored readings by vehicle: the emulator counts intervals since 1970."""
    found = query(env, "SELECT vehicle, extract(epoch FROM read_at)::bigint FROM drover.machine_reading WHERE contact IS NULL ORDER BY 1, 2")
    times = {}
    for vehicle, second in found:
        assert second % interval_s == 0
        times.setdefault(vehicle, []).append(second // interval_s)
    return times


def check_each_once(env, boxes, least, interval_s=1):
    """Each reading of each box is there once, and none is missing in between."""
    stored = rows(env, interval_s)
    assert set(stored) == {box["serial"] for box in boxes}
    for vehicle, sequences in stored.items():
        assert len(sequences) >= least, f"{vehicle}: {len(sequences)} readings"
        missing = set(range(sequences[0], sequences[-1] + 1)) - set(sequences)
        assert not missing, f"{vehicle}: {len(missing)} readings are missing, first {min(missing)}"
    assert query(env, "SELECT count(*) FROM drover.rejected") == [(0,)]
    return stored


def records(brokers, topic):
    """All records of vehicles that are on the topic now."""
    read = [(message.key(), json.loads(message.value())) for message in messages(brokers, topic)]
    found = [(key, record) for key, record in read if record["kind"] != "tick" and "vehicle" in record]
    assert all(key.decode() == record["vehicle"] for key, record in found)
    return [record for _, record in found]


def on_topic(brokers):
    """Ids of all readings on the topic; what the gateway itself says of contact is beside it."""
    return [record["id"] for record in records(brokers, "drover.machines") if record["kind"] == "reading" and "contact" not in record]


def test_what_boxes_of_every_firmware_say_stands_in_the_tables(world, tmp_path):
    env = world.database()
    began = time.time()
    boxes = emulate(world, "firmware", 8)
    register(env, boxes)
    worker = world.worker(env, "one")
    running = gateway(world, env, tmp_path)
    until(lambda: len(stored := rows(env, 60)) == 8 and all(len(each) >= 60 for each in stored.values()), running, worker)
    assert running.stop() == 0
    check_each_once(env, boxes, 60, interval_s=60)
    ended = time.time()
    kinds = {box["serial"]: box["what"] for box in boxes}
    found = query(env, """SELECT vehicle, reading_id, extract(epoch FROM read_at)::bigint / 60, serial, model, firmware, is_reporting,
            tire_pressure_kpa, gps_available, latitude_deg, last_cell_call_in_at, connected_device_names, machine_id FROM drover.machine_reading
        WHERE contact IS NULL""")
    # Where each structure ends (docs/mtg-wire.md): 124 before the position, 160 before the names of devices.
    for vehicle, reading, sequence, serial, model, firmware, reporting, tire, gps, latitude, call_in, names, machine in found:
        assert (reading, serial, model, tire, gps) == (f"{vehicle}-{sequence}", vehicle, "8R Tractor", 80, True)
        assert machine == "ID-" + vehicle.removeprefix("EMU-")
        # What came late says nothing about what follows it.
        assert reporting or sequence * 60 + 300 < ended
        assert not reporting or sequence * 60 + 300 >= began
        assert firmware == {"first": "1.0.3", "old": "3.2.0", "today": "4.11.2", "next": "5.0.0"}[kinds[vehicle]]
        assert (latitude is not None, call_in is not None) == (kinds[vehicle] != "first",) * 2
        assert names == (["StarFire 6000"] if kinds[vehicle] in ("today", "next") else None)


def test_an_overheating_machine_raises_its_alert(world, tmp_path):
    env = world.database()
    register(env, emulate(world, "overheating", 1))
    worker = world.worker(env, "one")
    running = gateway(world, env, tmp_path)

    def alerts():
        return set(query(env, "SELECT parameter, severity FROM drover.alert"))
    until(lambda: {("Coolant Temperature", "critical")} <= alerts(), running, worker)


def test_a_backlog_that_is_cut_off_again_and_again_arrives_once(world, tmp_path):
    """Three days over a line that is cut ten times; the short form has one day, and three cuts."""
    (tmp_path / "short.yaml").write_text("memory_min: 1440\nboxes:\n  cut:\n    cut_after_bytes: 120000\n")
    path, readings, cuts = ("cut-off", 4_320, 10) if is_long() else (tmp_path / "short.yaml", 1_440, 3)
    env = world.database()
    [box] = boxes = emulate(world, path, 1)
    register(env, boxes)
    worker = world.worker(env, "one")
    running = gateway(world, env, tmp_path)
    until(lambda: len(rows(env, 60).get(box["serial"], [])) >= readings, running, worker)
    assert running.stop() == 0
    world.work_off(env)
    check_each_once(env, boxes, readings, interval_s=60)
    assert running.output().count("closed in the middle of an answer") >= cuts, running.output()
    ids = on_topic(world.brokers)
    assert len(ids) == len(set(ids)) == len(rows(env, 60)[box["serial"]])


@pytest.mark.parametrize("boxes_count, kills, away_s", [
    (8, 1, 0), pytest.param(200, 2, 600, marks=pytest.mark.long(reason="the broker is away for ten minutes"))])
def test_a_broker_that_is_away_and_a_gateway_killed_meanwhile_lose_and_double_nothing(world, broker, scenario, tmp_path, boxes_count, kills, away_s):
    env = world.database()
    # One reading a second; a box keeps more than the gateway is ever down.
    boxes = emulate(world, scenario("  good:\n    weight: 1\n"), boxes_count)
    register(env, boxes)
    worker = world.worker(env, "one")
    running = gateway(world, env, tmp_path)
    until(lambda: len(rows(env)) == boxes_count, running, worker)
    assert worker.stop() == 0
    freeze(running)
    until_kept(broker)
    broker.stop()
    running.signal(signal.SIGCONT)
    for _ in range(kills):
        running.wait_for("the broker does not acknowledge|readings cannot be pushed")
        # The load is what comes meanwhile.
        time.sleep(away_s / kills)
        before = until(lambda: spooled(running))
        until(lambda: (spooled(running) or 0) >= before + 3 * boxes_count, running)
        running.kill()
        running = gateway(world, env, tmp_path)
        assert int(running.wait_for(r'"gateway started" spooled=(\d+)').group(1)) >= before + 3 * boxes_count
    assert broker.start()
    back = int(time.time())
    worker = world.worker(env, "one")
    until(lambda: all(sequences[-1] >= back for sequences in rows(env).values()), running, worker)
    assert running.stop() == 0
    world.work_off(env)
    stored = check_each_once(env, boxes, 300)
    ids = on_topic(world.brokers)
    assert len(set(ids)) == sum(len(sequences) for sequences in stored.values())
    print(f"{len(ids)} records, {len(ids) - len(set(ids))} of them repeats")


@pytest.mark.parametrize("how", [pytest.param(signal.SIGKILL, marks=pytest.mark.long(reason="less than a broker that stands still")), signal.SIGSTOP])
def test_a_worker_stops_also_when_its_broker_is_gone_or_stands_still(world, broker, how):
    """It has no group to leave then; an operator's stop must not wait for the broker to come back."""
    env = world.database()
    worker = world.worker(env, "one", **{"ticks.interval_s": 1})
    group = Consumer({"bootstrap.servers": world.brokers, "group.id": re.search(r"story_\w+", env["DROVER_POSTGRES_URL"]).group(0)})
    places = [TopicPartition("drover.machines", partition) for partition in range(8)]
    # Ticks come, and their offsets are told to the broker.
    until(lambda: any(each.offset > 0 for each in group.committed(places, timeout=HANG_S)), worker)
    group.close()
    os.kill(broker.process.pid, how)
    # It has met that.
    worker.wait_for("ticks cannot be sent")
    try:
        assert worker.stop() == 0
    finally:
        if how == signal.SIGSTOP:
            os.kill(broker.process.pid, signal.SIGCONT)


@pytest.mark.long(reason="three boxes with three days each")
def test_a_full_spool_leaves_readings_in_the_boxes_until_the_broker_is_back(world, broker, tmp_path):
    broker.stop()
    env = world.database()
    boxes = emulate(world, "backlog", 3)
    register(env, boxes)
    running = gateway(world, env, tmp_path, **{"gateway.spool_bytes_max": 1_000_000})
    running.wait_for("the spool is full: boxes are not polled")
    # One round of all boxes beyond the limit at most, with the file's own log beside it.
    assert sum(path.stat().st_size for path in tmp_path.glob("spool*")) < 8_000_000
    assert broker.start()
    running.wait_for("the spool has room again")
    worker = world.worker(env, "one")
    until(lambda: len(rows(env, 60)) == 3 and all(len(each) >= 4_320 for each in rows(env, 60).values()), running, worker)
    assert running.stop() == 0
    check_each_once(env, boxes, 4_320, interval_s=60)


def certificate(folder, name, days=10):
    """A negative number of days: it has expired."""
    file, key = folder / f"{name}.pem", folder / f"{name}.key"
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=box", "-out", file, "-keyout", key]
    subprocess.run(make, check=True, capture_output=True)
    subprocess.run(["openssl", "x509", "-in", file, "-signkey", key, "-days", str(days), "-out", file], check=True, capture_output=True)
    return ["--certificate", file, "--key", key]


def test_only_the_pinned_certificate_is_taken_and_not_when_it_has_expired(world, scenario, tmp_path):
    env = world.database()
    path = scenario("  good:\n    weight: 1\n")
    right = emulate(world, path, 2, "--seed", 1, *certificate(tmp_path, "right"))
    wrong = emulate(world, path, 1, "--seed", 2, *certificate(tmp_path, "wrong"))
    expired = emulate(world, path, 1, "--seed", 3, *certificate(tmp_path, "expired", -1))
    plain = emulate(world, path, 1, "--seed", 4)
    register(env, right + expired)
    register(env, wrong + plain, certificate_sha256=right[0]["certificate_sha256"])
    # With a pinned certificate the network need not be one for plain TCP.
    running = gateway(world, env, tmp_path, **{"gateway.plain_tcp_cidrs": "192.168.0.0/16", "gateway.device_cidrs": "127.0.0.0/8"})
    worker = world.worker(env, "one")
    for box, why in ((wrong[0], "is not the pinned one"), (expired[0], "has expired"), (plain[0], "TLS handshake")):
        running.wait_for(rf'"a poll failed" vehicle={box["serial"]} fault="[^"\n]*{why}')
    until(lambda: len(rows(env)) == 2 and all(len(each) >= 300 for each in rows(env).values()), running, worker)
    assert running.stop() == 0
    world.work_off(env)
    check_each_once(env, right, 300)


def test_plain_tcp_outside_the_allow_list_is_refused(world, scenario, tmp_path):
    env = world.database()
    boxes = emulate(world, scenario("  good:\n    weight: 1\n"), 2)
    register(env, boxes[:1])
    register(env, boxes[1:], host="localhost")
    running = gateway(world, env, tmp_path, **{"gateway.plain_tcp_cidrs": "192.168.0.0/16, fd00::/8"})
    for box in boxes:
        running.wait_for(rf'plain TCP to this address is not allowed.*gateway.plain_tcp_cidrs" vehicle={box["serial"]} address=127.0.0.1')
    running.wait_for('"boxes to poll" boxes=0|gateway started')
    assert running.stop() == 0
    assert "polls_done=0 polls_failed=0" in running.output()
    world.drover.fails("gateway", "--set", "gateway.plain_tcp_cidrs=10.0.0.1/8", env=env, says="gateway.plain_tcp_cidrs: `10.0.0.1/8` is no network")


def test_no_address_that_somebody_registers_leads_inside(world, scenario, tmp_path):
    """With a pinned certificate, so that TLS is no reason: this machine in seven spellings, a cloud's metadata, nobody's; and our own
    ports where boxes may be."""
    env = world.database()
    [box] = emulate(world, scenario("  good:\n    weight: 1\n"), 1)
    pinned = {**box, "certificate_sha256": "0" * 64}
    hosts = ["127.0.0.1", "127.1", "2130706433", "localhost", "::1", "::ffff:127.0.0.1", "0.0.0.0", "169.254.169.254", "224.0.0.1"]
    register(env, [{**pinned, "serial": f"in-{number}", "host": host} for number, host in enumerate(hosts)])
    running = gateway(world, env, tmp_path, **{"gateway.plain_tcp_cidrs": "", "gateway.device_cidrs": "public, 0.0.0.0/0, ::/0"})
    for number in range(len(hosts)):
        running.wait_for(rf'"this address is not connected to[^"]*" vehicle=in-{number} ')
    assert running.stop() == 0 and "polls_done=0 polls_failed=0" in running.output()

    own = [int(world.brokers.rsplit(":", 1)[1]), 5432, 8080]
    register(env, [{**pinned, "serial": f"own-{port}", "port": port} for port in own])
    running = gateway(world, env, tmp_path, **{"gateway.device_cidrs": "127.0.0.0/8"})
    for port in own:
        running.wait_for(rf'vehicle=own-{port} address=127.0.0.1 port={port} reason="port {port} is one of our own')
    assert running.stop() == 0
    # Whose address is taken by nobody is told so where it is typed.
    world.drover.fails("vehicle", "register", "own", "--address", f"127.0.0.1:{own[0]}", "--by", "Anna", env=env, says="is one of our own")


def test_whoever_asks_for_a_box_learns_nothing_of_what_is_at_its_address(world, scenario, tmp_path):
    """A closed port, a wrong certificate, a network that is not allowed: one sentence, and the log has
    the rest."""
    env = world.database()
    [box] = emulate(world, scenario("  good:\n    weight: 1\n"), 1)
    places = {"closed": free_port(), "pinned": box["port"], "inside": 80}
    hosts = {"inside": "10.1.2.3"}
    seal = {"pinned": "0" * 64, "inside": "0" * 64}
    register(env, [{"serial": name, "host": hosts.get(name, "127.0.0.1"), "port": port, "certificate_sha256": seal.get(name)} for name, port in places.items()])
    running = gateway(world, env, tmp_path)
    worker = world.assigned(env, "one")
    said = set()
    for name in places:
        run = world.drover.run("gateway", "poll", name, "--by", "Anna", "--wait", HANG_S, env=env)
        assert run.code == 1 and name in run.err, run.err
        said.add(run.err.replace(name, "-"))
    assert len(said) == 1 and "No answer from the box at that address" in said.pop()
    running.wait_for(r'"somebody asks for a box that does not answer" vehicle=closed fault="[^"]*refused')
    running.wait_for(r'"somebody asks for a box that does not answer" vehicle=pinned')
    assert running.stop() == 0 and worker.stop() == 0


def test_registrations_that_change_are_followed(world, scenario, tmp_path):
    env = world.database()
    boxes = emulate(world, scenario("  good:\n    weight: 1\n"), 3)
    register(env, boxes[:2])
    running = gateway(world, env, tmp_path)
    running.wait_for('"boxes to poll" boxes=2')
    query(env, "UPDATE drover.registration SET is_disabled = true WHERE vehicle = %s", boxes[0]["serial"])
    running.wait_for('"boxes to poll" boxes=1 dropped=1')
    before = running.mark()
    register(env, boxes[2:])
    running.wait_for('"boxes to poll" boxes=2 dropped=0', since=before)
    with psycopg.connect(world.superuser, autocommit=True) as superuser:
        superuser.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'drover-gateway' AND datname = %s",
                          [re.search(r"story_\w+", env["DROVER_POSTGRES_URL"]).group(0)])
    running.wait_for("registrations cannot be read; boxes and adapters known so far are polled on")
    running.wait_for("registrations are read again")
    assert running.stop() == 0


def test_a_spool_that_cannot_be_used_ends_the_gateway_with_what_to_do(world, tmp_path):
    env = world.database()
    (tmp_path / "spool").write_text("This is no spool, but somebody's letter. " * 100)
    running = gateway(world, env, tmp_path)
    running.wait_for("is damaged or no spool: .*Move it away")
    assert running.wait() == 1
    (tmp_path / "spool").unlink()
    first = gateway(world, env, tmp_path)
    first.wait_for("gateway started")
    second = gateway(world, env, tmp_path)
    second.wait_for("another gateway has it")
    assert second.wait() == 1
    assert first.stop() == 0


def test_the_debug_log_needs_the_boxs_own_key(world, tmp_path):
    [box, other] = emulate(world, "backlog", 2, *certificate(tmp_path, "box"))
    (tmp_path / "right").write_text(box["debug_log_key"] + "\n")
    (tmp_path / "wrong").write_text(other["debug_log_key"])
    (tmp_path / "none").write_text("secret")

    def log(key, *arguments):
        return world.drover.run("gateway", "log", f"127.0.0.1:{box['port']}", "--key", tmp_path / key, "--set", "gateway.device_cidrs=127.0.0.0/8", *arguments)
    pinned = ["--certificate-sha256", box["certificate_sha256"]]
    run = log("right", *pinned)
    assert run.code == 0 and re.fullmatch(r"(\S+Z (INFO|WARN) .+\n){4320}", run.out), run.err
    run = log("wrong", *pinned)
    assert run.code == 1 and "the key of the debug log is not this box's" in run.err and run.out == ""
    run = log("right", "--certificate-sha256", "0" * 64)
    assert run.code == 1 and "is not the pinned one" in run.err
    run = log("right", "--set", "gateway.plain_tcp_cidrs=10.0.0.0/8")
    assert run.code == 1 and "plain TCP to 127.0.0.1 is not allowed" in run.err
    run = log("none", *pinned)
    assert run.code == 1 and "is no key: write 64 hexadecimal digits" in run.err and "secret" not in run.err


def test_debug_logs_are_kept_listed_searched_and_printed_whole(world, tmp_path):
    env = world.database()
    query(env, "CREATE ROLE developers LOGIN IN ROLE drover_debug")
    env["DROVER_POSTGRES_DEBUG_URL"] = url_of(env, "developers")
    env["DROVER_GATEWAY_PLAIN_TCP_CIDRS"] = "127.0.0.0/8"
    boxes = emulate(world, "backlog", 2)

    def run(*arguments, code=0):
        result = world.drover.run(*arguments, env=env)
        assert result.code == code, result.err
        return result

    for number, box in enumerate(boxes, 1):
        (tmp_path / "key").write_text(box["debug_log_key"])
        kept = run("gateway", "log", f"127.0.0.1:{box['port']}", "--key", tmp_path / "key", "--vehicle", f"box-{number}")
        assert (kept.out, kept.err) == ("", f"kept: `drover log show {number}` prints it\n")
    log = run("log", "show", 2).out
    assert re.fullmatch(r"(\S+Z (INFO|WARN) .+\n){4320}", log)
    newer, older = json.loads(run("log", "list", "--format", "json").out)
    warnings = [line for line in log.splitlines() if " WARN " in line]
    assert (newer["id"], newer["vehicle"], older["id"]) == (2, "box-2", 1)
    assert (newer["first_at"], newer["last_at"], newer["bytes"]) == (log.split()[0], log.splitlines()[-1].split()[0], len(log))
    assert [newer[f"{level}_lines"] for level in ("error", "warning", "info", "debug", "other")] == [0, len(warnings), 4320 - len(warnings), 0, 0]

    found = json.loads(run("log", "search", "No CARRIER", "--vehicle", "box-2", "--level", "warning", "--format", "json").out)
    assert [each["text"] for each in found] == warnings and {each["id"] for each in found} == {2}
    assert log.splitlines()[found[0]["line"] - 1] == warnings[0]
    assert json.loads(run("log", "search", "carrier", "--level", "error", "--format", "json").out) == []
    assert len(json.loads(run("log", "search", "kept", "--limit", 7, "--format", "json").out)) == 7
    assert "there is no debug log 3" in run("log", "show", 3, code=1).err

    # Fifty of a vehicle are kept, and its developers' login sees nothing else.
    with psycopg.connect(env["DROVER_POSTGRES_DEBUG_URL"], autocommit=True) as connection:
        connection.execute("""INSERT INTO drover.debug_log (vehicle, log, error_lines, warning_lines, info_lines, debug_lines, other_lines)
                              SELECT 'box-2', '', 0, 0, 0, 0, 0 FROM generate_series(1, 49)""")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT FROM drover.machine_reading")
        with pytest.raises(psycopg.errors.CheckViolation):
            connection.execute("""INSERT INTO drover.debug_log (vehicle, log, error_lines, warning_lines, info_lines, debug_lines, other_lines)
                                  VALUES ('box-2', convert_to(repeat('x', 16777217), 'UTF8'), 0, 0, 0, 0, 0)""")
    run("gateway", "log", f"127.0.0.1:{boxes[1]['port']}", "--key", tmp_path / "key", "--vehicle", "box-2")
    listed = json.loads(run("log", "list", "--vehicle", "box-2", "--format", "json").out)
    assert len(listed) == 50 and 2 not in {each["id"] for each in listed} and listed[0]["bytes"] > 100_000
    assert len(json.loads(run("log", "list", "--format", "json").out)) == 51


def test_a_debug_log_that_somebody_asks_for_is_fetched_by_the_gateway_that_has_the_key(world, tmp_path):
    env = world.database()
    mine, mistaken, other = boxes = emulate(world, "backlog", 3)
    register(env, boxes)
    keys = tmp_path / "keys"
    keys.mkdir()
    (keys / f"{mine['serial']}.key").write_text(mine["debug_log_key"] + "\n")
    (keys / f"{mistaken['serial']}.key").write_text(mine["debug_log_key"])
    worker = world.assigned(env, "logs")
    running = gateway(world, env, tmp_path, **{"gateway.debug_keys_dir": keys})
    now = int(time.time() * 1000)
    # Asked of a gateway that has just begun, a box that it does not know yet is not polled.
    until(lambda: query(env, "SELECT count(DISTINCT vehicle) FROM drover.machine_reading") == [(3,)], running, worker)

    def ask(vehicle, number, wants="debug_log"):
        world.push("drover.machines", {"schema": 1, "kind": "poll_request", "id": f"log-{number}", "vehicle": vehicle, "ts": now, "by": "dev",
                                       "until_ts": now + 3_600_000, "wants": wants})
    for number, vehicle in enumerate([mine["serial"], mistaken["serial"], other["serial"], "nowhere"]):
        ask(vehicle, number)

    def answers():
        return query(env, "SELECT is_done, answer FROM drover.poll_request WHERE wants = 'debug_log' AND answered_at IS NOT NULL ORDER BY request_id")
    until(lambda: len(answers()) == 4, running, worker)
    [(vehicle, size)] = query(env, "SELECT vehicle, octet_length(log) FROM drover.debug_log")
    assert vehicle == mine["serial"] and size > 100_000
    done, refused, lacking, nowhere = answers()
    assert done == (True, f"the debug log, {size} bytes")
    # People are told one sentence; why, the log says. No address, no key.
    assert refused[0] is False and refused[1].startswith("No answer from the box at that address")
    running.wait_for(f'"a debug log could not be fetched" vehicle={mistaken["serial"]} fault="[^"]*is not this box\'s')
    assert lacking == nowhere and "gateway.debug_keys_dir" in lacking[1] and lacking[0] is False
    assert mine["debug_log_key"] not in running.output()
    # What nobody knows is no request, and polls answer as before.
    ask(mine["serial"], 9, wants="the moon")
    until(lambda: query(env, "SELECT count(*) FROM drover.rejected") == [(1,)], worker)
    world.push("drover.machines", {"schema": 1, "kind": "poll_request", "id": "poll", "vehicle": mine["serial"], "ts": now, "by": "dev", "until_ts": now + 3_600_000})
    until(lambda: query(env, "SELECT is_done FROM drover.poll_request WHERE request_id = 'poll'") == [(True,)], running, worker)
    assert query(env, "SELECT count(*) FROM drover.debug_log") == [(1,)]
    assert running.stop() == 0
    # These were written by hand, no record says them.
    query(env, "DELETE FROM drover.registration")
    world.replayed(env)
    assert worker.stop() == 0


HOSTILE = ("silent", "closes", "truncated", "slow", "endless", "wrong_length", "random")


def test_a_good_box_is_polled_on_while_bad_ones_keep_their_connections(world, scenario, tmp_path):
    """A box that never answers is given as long as the test lasts: who waits for it with the others would never get on."""
    path = scenario("".join(f"  {kind}:\n    peer: {kind}\n" for kind in HOSTILE) + "  working:\n    weight: 3\n")
    env = world.database()
    boxes = emulate(world, path, 10)
    good = [box for box in boxes if box["peer"] == "answers"]
    register(env, boxes)
    running = gateway(world, env, tmp_path, **{"gateway.answer_timeout_ms": 600_000})
    worker = world.worker(env, "one")
    for kind, says in (("closes", "closed in the middle of an answer"), ("endless", ""), ("random", "")):
        [box] = [box for box in boxes if box["peer"] == kind]
        running.wait_for(rf'"a poll failed" vehicle={box["serial"]} fault="[^"\n]*{says}')
    now = int(time.time())
    until(lambda: all(rows(env).get(box["serial"], [0])[-1] >= now + 3 for box in good), running, worker)
    assert running.stop() == 0
    world.work_off(env)
    stored = rows(env)
    check_each_once(env, [box for box in boxes if box["serial"] in stored], 2)


def processor_s(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mib(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1)) // 1_024


@pytest.mark.long(reason="how late a poll is depends on what else the machine does")
@pytest.mark.parametrize("boxes_count, interval_s, minutes", [(200, 2, 0.25), (5_000, 60, 5)])
def test_hostile_boxes_keep_no_good_one_waiting(world, scenario, tmp_path, boxes_count, interval_s, minutes):
    """Of 100 boxes one is hostile in the long form, and seven in the short one: each kind is there."""
    good = 93 if boxes_count < 5_000 else 693
    path = scenario(
        "".join(f"  {kind}:\n    peer: {kind}\n" for kind in HOSTILE) + f"  working:\n    weight: {good}\n", interval_s=interval_s)
    env = world.database()
    boxes = emulate(world, path, boxes_count)
    good_ones = {box["serial"] for box in boxes if box["peer"] == "answers"}
    hostile = boxes_count - len(good_ones)
    assert hostile >= (14 if boxes_count < 5_000 else 50)
    register(env, boxes)
    running = gateway(world, env, tmp_path, **{"gateway.poll_interval_s": interval_s, "gateway.back_off_s_max": 60, "gateway.answer_timeout_ms": 10_000})
    worker = world.worker(env, "one")
    until(lambda: good_ones <= set(rows(env, interval_s)), running, worker)
    began, before = time.monotonic(), processor_s(running.pid)
    time.sleep(minutes * 60)  # The load is what comes meanwhile.
    cpu = (processor_s(running.pid) - before) / (time.monotonic() - began)
    peak = memory_mib(running.pid)
    assert running.stop() == 0
    world.work_off(env)
    stored = rows(env, interval_s)
    # A good box was never late by more than a poll: its readings go on to the end, and none is missing.
    check_each_once(env, [box for box in boxes if box["serial"] in stored], 2, interval_s)
    end = max(sequences[-1] for sequences in stored.values())
    behind = {vehicle: end - stored[vehicle][-1] for vehicle in good_ones if end - stored[vehicle][-1] > 4}
    assert not behind, behind
    assert peak < 600
    figures = re.findall(r'"gateway figures" (.*)', running.output())[-1]
    print(f"\n{boxes_count} boxes, {hostile} hostile, poll {interval_s} s: {cpu:.1%} of a core, {peak} MiB at most; {figures}")
