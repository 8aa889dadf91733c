"""TLS and SASL to the brokers, by a gate in front of the embedded one (kafka_gate.py says what it is): who is believed, who is let in,
and that certificates and passwords are renewed without a restart."""
import json
import re
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from brokers import DIES_WITH_US, Mock, Noida, answers, free_port, newest_librdkafka
from certificates import Authority
from confluent_kafka import Consumer
from harness import until
from kafka_gate import BEHIND, Gate
from world import connect, dump

PASSWORD, OTHER_PASSWORD = "Zaunkönig, 7 =", "Goldammer 8"


@pytest.fixture(scope="module")
def place():
    """A folder whose files others may not read."""
    folder = Path(tempfile.mkdtemp(prefix="drover-kafka-tls-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def roots(place):
    return Authority(place, "ours"), Authority(place, "theirs")


@pytest.fixture(scope="module")
def certificates(roots):
    """The broker's and clients': paths of certificate and key."""
    ours, theirs = roots
    return {
        "broker": ours.issue("broker", use="server"),
        "run out": ours.issue("old", use="server", ends="20210101000000Z"),
        "of another host": ours.issue("elsewhere", use="elsewhere"),
        "client": ours.issue("first"),
        "next client": ours.issue("second"),
        "client run out": ours.issue("past", ends="20210101000000Z"),
        "stranger": theirs.issue("stranger"),
        "broker of theirs": theirs.issue("moved", use="server"),
    }


@pytest.fixture
def gate(place):
    """In front of a broker of the test's own."""
    broker = Noida(tempfile.mkdtemp(dir=place), host=BEHIND)
    gate = Gate(broker.port)
    yield gate
    gate.stop()
    broker.stop()


def kafka(gate, **settings):
    """Variables that point `drover` there; a name is a setting's of the group."""
    named = {"brokers": f"127.0.0.1:{gate.port}", **settings}
    return {f"DROVER_KAFKA_{name.upper()}": str(value) for name, value in named.items()}


def tls(gate, roots, pair=None, **settings):
    mine = {"certificate_file": pair[0], "key_file": pair[1]} if pair else {}
    return kafka(gate, **{"security_protocol": "ssl", "ca_file": roots[0].root, **mine, **settings})


def login(gate, roots, secret, **settings):
    return tls(gate, roots, security_protocol="sasl_ssl", sasl_user="drover", sasl_password_file=secret, **settings)


def secret(place, text):
    path = Path(tempfile.mkdtemp(dir=place)) / "password"
    path.write_text(text + "\n")
    path.chmod(0o600)
    return path


@pytest.fixture(scope="module")
def expected(world, fixtures):
    """What comes of the drive and the machines over plain connections."""
    env = world.database()
    hand_in(world, env, fixtures)
    worker = world.worker(env, "plain")
    world.work_off(env)
    assert worker.stop() == 0
    return result(env)


def drive(fixtures):
    return sorted(path for path in fixtures.glob("cars/*/*.csv") if path.name != "expected.csv")[0]


def hand_in(world, env, fixtures):
    for what in (["cars", drive(fixtures), "--vehicle", "tls-car"], ["machines", fixtures / "machines" / "readings.jsonl"]):
        run = world.drover.run("import", *what, env=env)
        assert run.code == 0, run.err


def result(env):
    """Rows of what was handed in. Alerts of silence go by the ticks that stand between the readings, and are left out."""
    rows = dump(env)
    with connect(env) as connection:
        alerts = connection.execute("SELECT alert_id, parameter, severity, opened_at FROM drover.alert WHERE parameter <> 'Last Cell Call In' ORDER BY alert_id").fetchall()
    return {table: rows[table] for table in ("vehicle_minute", "trip", "vehicle_day", "machine_reading")} | {"alert": alerts}


def test_the_whole_path_over_tls_with_certificates_of_ours(world, gate, roots, certificates, fixtures, expected):
    gate.open(certificates["broker"], clients=roots[0].root)
    env = world.database() | tls(gate, roots, certificates["client"])
    hand_in(world, env, fixtures)
    worker = world.worker(env, "tls")
    notify = world.drover.start("notify", env=env)
    world.work_off(env)
    assert result(env) == expected and expected["trip"] and expected["machine_reading"] and expected["alert"]
    # What the worker decided comes out on a topic again.
    def relayed():
        with connect(env) as connection:
            return connection.execute("SELECT count(*) FROM drover.outbox").fetchone()[0] == 0
    until(relayed)
    assert alerts_on(gate.port) >= len(expected["alert"]) > 0
    assert world.drover.run("status", env=env).out.count("copies of topics") == 1
    assert re.search(r"^broker: ok, \d+ topics, 1 copy of ours$", world.drover.run("check", env=env).out, re.M)
    assert notify.stop() == 0 and worker.stop() == 0
    assert {name for _, _, name in gate.guests} == {"first"}
    assert {"drover-work", "drover-import", "drover-notify", "drover-ticks", "drover-offsets"} <= {client for client, _, _ in gate.guests}


def alerts_on(port):
    """Records of the alerts' topic, read behind the gate."""
    reader = Consumer({"bootstrap.servers": f"{BEHIND}:{port}", "group.id": "looker", "auto.offset.reset": "earliest", "log_level": 2})
    reader.subscribe(["drover.alerts"])
    count, deadline = 0, time.monotonic() + 60
    while time.monotonic() < deadline:
        message = reader.poll(1)
        if message and not message.error():
            count += 1
        elif count:
            break
    reader.close()
    return count


# Of librdkafka 2.0.2 Kafka 4 takes no SCRAM (Trouble.swift); of the newest it does.
@pytest.mark.parametrize("mechanism, newest", [("PLAIN", False), ("SCRAM-SHA-256", False), ("SCRAM-SHA-512", True)])
def test_the_whole_path_with_a_login(world, gate, roots, certificates, fixtures, expected, place, mechanism, newest):
    gate.open(certificates["broker"], users={"drover": PASSWORD}, is_kafka_4=newest)
    env = world.database() | login(gate, roots, secret(place, PASSWORD), sasl_mechanism=mechanism)
    env |= newest_librdkafka() if newest else {}
    hand_in(world, env, fixtures)
    worker = world.worker(env, f"login-{mechanism}")
    world.work_off(env)
    assert result(env) == expected
    assert worker.stop() == 0
    assert {user for _, user, _ in gate.guests} == {"drover"} and PASSWORD not in worker.output()


def said_of_broker(drover, env, *arguments):
    """What `drover check` says of the broker."""
    run = drover.run("check", *arguments, env={"DROVER_POSTGRES_URL": "host=/nowhere", **env})
    assert PASSWORD not in run.out + run.err
    return re.search(r"^broker: (.*)$", run.out, re.M)[1]


def test_what_is_wrong_with_the_brokers_certificate_is_named(drover, gate, roots, certificates):
    ours, theirs = roots
    good = tls(gate, roots)

    def check(env, wanted):
        said = said_of_broker(drover, env)
        assert wanted in said and "broker: ok" not in said, said

    for library in ({}, newest_librdkafka()):
        with ThreadPoolExecutor() as pool:
            gate.open(certificates["broker"])
            asked = [
                pool.submit(check, good | library | {"DROVER_KAFKA_CA_FILE": str(theirs.root)}, "not signed by the roots of kafka.ca_file"),
                # The certificate holds 127.0.0.1 and no name.
                pool.submit(check, good | library | {"DROVER_KAFKA_BROKERS": f"localhost:{gate.port}"}, f"localhost:{gate.port} is not believed: its certificate is another host's"),
                # An answer that is no TLS, and none that is.
                pool.submit(check, kafka(gate) | library, "Does it speak TLS there? Correct kafka.security_protocol"),
                pool.submit(check, good | library | {"DROVER_KAFKA_BROKERS": "127.0.0.1:1"}, "Is the broker up, and are kafka.brokers"),
            ]
            for each in asked:
                each.result()
        gate.open(certificates["run out"])
        check(good | library, "its certificate has run out. Renew it at the broker")
        gate.open(certificates["of another host"])
        check(good | library, "its certificate is another host's")
        gate.open(certificates["broker"])
        assert said_of_broker(drover, good | library).startswith("ok, ")


def test_what_the_broker_refuses_of_us_is_named(drover, gate, roots, certificates, place):
    ours, theirs = roots
    right, wrong = secret(place, PASSWORD), secret(place, OTHER_PASSWORD)
    old, new = {}, newest_librdkafka()
    gate.open(certificates["broker"], clients=ours.root)
    for library in (old, new):
        # It only hangs up, as a broker may; what it tells in an alert is in the next test.
        assert "Does it want a certificate of ours (kafka.certificate_file)" in said_of_broker(drover, tls(gate, roots) | library)
    mixed = (certificates["client"][0], certificates["next client"][1])
    assert "kafka.key_file failed: " in said_of_broker(drover, tls(gate, roots, mixed))
    gate.open(certificates["broker"], users={"drover": PASSWORD}, mechanisms=["SCRAM-SHA-256"])
    scram = login(gate, roots, right, sasl_mechanism="SCRAM-SHA-256")
    assert said_of_broker(drover, scram | new).startswith("ok, ")
    assert "Kafka 4, which takes SCRAM from librdkafka 2.6.1 on" in said_of_broker(drover, scram | old)
    said = said_of_broker(drover, scram | new | {"DROVER_KAFKA_SASL_PASSWORD_FILE": str(wrong)})
    assert "refuses the login (Authentication failed" in said and "Correct kafka.sasl_user and the password" in said and "Kafka 4" not in said
    assert "Set kafka.sasl_mechanism to one that it has" in said_of_broker(drover, scram | old | {"DROVER_KAFKA_SASL_MECHANISM": "PLAIN"})
    gate.open(certificates["broker"], users={"drover": PASSWORD})
    plain = login(gate, roots, wrong, sasl_mechanism="PLAIN")
    assert "Invalid username or password" in said_of_broker(drover, plain | old)
    assert said_of_broker(drover, plain | old | {"DROVER_KAFKA_SASL_PASSWORD_FILE": str(right)}).startswith("ok, ")
    empty = secret(place, "")
    assert f"kafka.sasl_password_file: {empty}: its first line is empty" in said_of_broker(drover, plain | {"DROVER_KAFKA_SASL_PASSWORD_FILE": str(empty)})


def test_a_tls_servers_alerts_are_put_into_words(drover, place, roots, certificates):
    """openssl's own server, which says in an alert what it misses; it never comes to a word of Kafka's."""
    port = free_port()
    certificate, key = certificates["broker"]
    server = subprocess.Popen(
        [*DIES_WITH_US, "openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", certificate, "-key", key, "-CAfile", roots[0].root,
         "-Verify", "1", "-verify_return_error", "-quiet"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: answers(port))

    class Named:
        pass

    Named.port = port
    try:
        for pair, wanted in ((None, "wants a certificate of ours. Set kafka.certificate_file"),
                             (certificates["stranger"], "refuses our certificate, which none of its roots has signed"),
                             (certificates["client run out"], "refuses our certificate, which has run out")):
            assert wanted in said_of_broker(drover, tls(Named, roots, pair))
    finally:
        server.kill()
        server.wait()


def test_a_worker_waits_for_a_broker_that_is_not_believed_and_goes_on_by_itself(world, gate, roots, certificates, fixtures, expected):
    gate.open(certificates["broker"])
    env = world.database() | tls(gate, roots)
    what = ["import", "cars", drive(fixtures), "--vehicle", "tls-car"]
    assert world.drover.run(*what, env=env).code == 0
    worker = world.worker(env, "patient")
    world.work_off(env)
    gate.open(certificates["run out"])
    gate.cut()
    worker.wait_for(r"is not believed: its certificate has run out")
    run = world.drover.run("import", "machines", fixtures / "machines" / "readings.jsonl", env=env)
    assert run.code == 1 and "its certificate has run out. Renew it at the broker" in run.err
    gate.open(certificates["broker"])
    hand_in(world, env, fixtures)
    world.work_off(env)
    assert result(env) == expected
    assert worker.process.poll() is None and worker.stop() == 0


def test_nothing_is_asked_for_without_a_pause_where_nothing_comes(world, gate, fixtures):
    """The broker behind the gate answers at once, with nothing."""
    gate.open()
    env = world.database() | {"DROVER_KAFKA_BROKERS": f"127.0.0.1:{gate.port}"}
    worker = world.worker(env, "idle", **{"ticks.roles": ""})
    assert world.drover.run("import", "cars", drive(fixtures), "--vehicle", "tls-car", env=env).code == 0
    world.work_off(env)
    before = gate.fetches
    time.sleep(5)
    # A hundred a second at most; without a pause there are thousands. It goes on asking all the same.
    assert 5 <= gate.fetches - before <= 600
    assert worker.process.poll() is None and worker.stop() == 0


def put(pair, names):
    """As a renewal does: another file in the place of the one that was there."""
    for source, name in zip(pair, names):
        fresh = name.with_suffix(".new")
        shutil.copyfile(source, fresh)
        fresh.chmod(0o600)
        fresh.rename(name)


def test_certificates_are_renewed_without_a_restart(world, gate, roots, certificates, fixtures, expected, place):
    folder = Path(tempfile.mkdtemp(dir=place))
    mine, root = (folder / "client.pem", folder / "client.key"), folder / "roots.pem"
    put(certificates["client"], mine)
    put([roots[0].root], [root])
    gate.open(certificates["broker"], clients=roots[0].root)
    env = world.database() | tls(gate, roots, mine, ca_file=root)
    hand_in(world, env, fixtures)
    worker = world.worker(env, "renewing", **{"ticks.interval_s": 1})
    notify = world.drover.start("notify", "--set", "ticks.interval_s=1", env=env)
    world.work_off(env)

    # Half of a renewal is none.
    put(certificates["next client"][:1], mine[:1])
    worker.wait_for("renewed files cannot be used, those before stay in use")
    put(certificates["next client"], mine)
    # Consumers and producers, of both processes: idle ones, too, and nobody was hung up on.
    wanted = {(client, None, "second") for client in ("drover-work", "drover-notify", "drover-ticks")}
    until(lambda: wanted <= set(gate.guests), worker, notify)
    worker.wait_for("the worker joins again with them")

    # Another authority for both sides. The old certificates are refused at once, so that records wait for the new ones.
    gate.open(certificates["broker of theirs"], clients=roots[1].root)
    gate.cut()
    worker.wait_for("is not believed|hangs up")
    with connect(env) as connection:
        connection.execute(
            "INSERT INTO drover.outbox (topic, key, record_id, record) VALUES ('drover.alerts', 'k', 'renewal-1', %s)",
            ['{"schema":1,"alert":"x"}'])
    put([roots[1].root], [root])
    put(certificates["stranger"], mine)
    wanted = {(client, None, "stranger") for client in ("drover-work", "drover-notify", "drover-ticks")}
    until(lambda: wanted <= set(gate.guests), worker, notify)

    def relayed():
        with connect(env) as connection:
            return connection.execute("SELECT count(*) FROM drover.outbox").fetchone()[0] == 0

    until(relayed)
    hand_in(world, env, fixtures)
    world.work_off(env)
    assert result(env) == expected
    for process in (worker, notify):
        assert process.process.poll() is None
        assert process.stop() == 0


def test_a_password_is_renewed_without_a_restart_and_never_said(world, gate, roots, certificates, fixtures, expected, place):
    path = secret(place, PASSWORD)
    gate.open(certificates["broker"], users={"drover": PASSWORD})
    env = world.database() | login(gate, roots, path, sasl_mechanism="PLAIN") | {"DROVER_LOG": "debug"}
    worker = world.worker(env, "password", **{"ticks.interval_s": 1})
    run = world.drover.run("import", "cars", drive(fixtures), "--vehicle", "tls-car", env=env)
    world.work_off(env)
    gate.open(certificates["broker"], users={"drover": OTHER_PASSWORD})
    gate.cut()
    worker.wait_for(r"refuses the login \(Authentication failed: Invalid username or password\)")
    fresh = path.with_suffix(".new")
    fresh.write_text(OTHER_PASSWORD + "\n")
    fresh.chmod(0o600)
    fresh.rename(path)
    until(lambda: {"drover-work", "drover-ticks"} <= {client for client, _, _ in gate.guests})
    hand_in(world, env, fixtures)
    world.work_off(env)
    assert result(env) == expected
    assert worker.process.poll() is None and worker.stop() == 0
    for said in (worker.output(), run.out + run.err):
        assert PASSWORD not in said and OTHER_PASSWORD not in said


# What is set in the file, the setting that is at fault, the rule and what to do.
TOGETHER = [
    ({"security_protocol": "sasl_ssl"}, "sasl_user", "is empty, and kafka.security_protocol is sasl_ssl. Set the user's name"),
    ({"security_protocol": "sasl_ssl", "sasl_user": "drover"}, "sasl_password_file", "Name a file whose first line is the password"),
    ({"sasl_user": "drover"}, "sasl_user", "which logs nobody in. Set sasl_ssl, or leave this out"),
    ({"security_protocol": "ssl", "certificate_file": "THERE"}, "certificate_file", "is set without its key"),
    ({"security_protocol": "ssl", "key_file": "THERE"}, "key_file", "is set without its certificate"),
    ({"ca_file": "THERE"}, "ca_file", "which knows no TLS. Set ssl or sasl_ssl"),
    ({"security_protocol": "ssl", "ca_file": "/nowhere/roots.pem"}, "ca_file", "which is not there. Put it there, or correct the path"),
    ({"security_protocol": "ssl", "certificate_file": "THERE", "key_file": "OPEN"}, "key_file", "everybody on this machine may read or write"),
    ({"security_protocol": "ssl", "key_password": "x"}, "key_password", "there is no key to open with it"),
    ({"security_protocol": "tls"}, "security_protocol", "is `tls`, must be `plaintext` or `ssl`"),
    ({"security_protocol": "sasl_plaintext", "sasl_mechanism": "PLAIN", "sasl_user": "d", "sasl_password_file": "THERE",
      "brokers": "127.0.0.1:9092,broker.example.org:9092"}, "security_protocol", "everybody on the way to broker.example.org:9092 reads the password"),
    ({"security_protocol": "sasl_ssl", "sasl_user": "d", "sasl_password": "x", "sasl_password_file": "THERE"}, "sasl_password_file", "Set one of them"),
]


@pytest.mark.parametrize("settings, key, wanted", TOGETHER)
def test_settings_that_do_not_go_together_are_told_with_their_line(drover, tmp_path, settings, key, wanted):
    there, opened, file = tmp_path / "there.pem", tmp_path / "open.pem", tmp_path / "drover.yaml"
    there.write_text("x\n")
    there.chmod(0o600)
    opened.write_text("x\n")
    opened.chmod(0o644)
    settings = {name: {"THERE": there, "OPEN": opened}.get(value, value) for name, value in settings.items()}
    file.write_text("kafka:\n" + "".join(f"  {name}: {value}\n" for name, value in settings.items()))
    file.chmod(0o600)
    run = drover.run("check", "--offline", "--settings", file)
    told = [line for line in run.out.splitlines() if wanted in line]
    assert run.code == 1 and len(told) == 1, run.out
    if key in settings:
        line = 2 + list(settings).index(key)
        assert told[0].startswith(f"settings: {file}: line {line}: kafka.{key}: ")
    else:
        assert told[0].startswith(f"settings: kafka.{key}: ")
    # A role does not begin with them. Files that are missing or open to others are its clients' to tell.
    if "not there" not in wanted and "everybody on this machine" not in wanted:
        refused = drover.run("import", "cars", file, "--settings", file)
        assert refused.code == 1 and wanted in refused.err, refused.err


def test_loopback_and_scram_may_do_without_tls(drover, gate, place):
    gate.open(users={"drover": PASSWORD}, is_kafka_4=False)
    for mechanism in ("PLAIN", "SCRAM-SHA-512"):
        env = kafka(gate, security_protocol="sasl_plaintext", sasl_user="drover", sasl_mechanism=mechanism, sasl_password_file=secret(place, PASSWORD))
        assert said_of_broker(drover, env).startswith("ok, ")


def test_an_encrypted_key_is_opened_by_its_password(drover, gate, roots, certificates, place):
    certificate, key = certificates["client"]
    locked = Path(tempfile.mkdtemp(dir=place)) / "locked.key"
    subprocess.run(["openssl", "pkcs8", "-topk8", "-in", key, "-out", locked, "-passout", "pass:Pirol"], check=True, capture_output=True)
    locked.chmod(0o600)
    gate.open(certificates["broker"], clients=roots[0].root)
    env = tls(gate, roots, (certificate, locked))
    assert said_of_broker(drover, env | {"DROVER_KAFKA_KEY_PASSWORD_FILE": str(secret(place, "Pirol"))}).startswith("ok, ")
    said = said_of_broker(drover, env | {"DROVER_KAFKA_KEY_PASSWORD": "Pirole"})
    assert "kafka.key_file failed" in said and "Pirol" not in said


def test_copies_that_no_broker_can_hold_are_refused_and_topics_that_have_fewer_told(world, fixtures, data):
    env = world.database()
    world.drover.run("import", "cars", drive(fixtures), "--vehicle", "tls-car", env=env)
    told = world.drover.run("check", "--set", "kafka.replication=3", env=env)
    assert told.code == 1 and re.search(r"^broker: drover\.alerts, .*: fewer copies than kafka\.replication, 3, wants", told.out, re.M), told.out
    status = world.drover.run("status", "--set", "kafka.replication=3", "--format", "json", env=env)
    [line] = [each for each in json.loads(status.out) if each["what"] == "copies of topics"]
    assert line["is"] == "1" and "kafka-reassign-partitions.sh" in line["what_to_do"]
    lonely = Noida(data)
    try:
        run = world.drover.run("import", "cars", drive(fixtures), "--vehicle", "tls-car", "--set", "kafka.replication=3",
                               env=env | {"DROVER_KAFKA_BROKERS": lonely.brokers})
        assert run.code == 1 and "kafka.replication: is 3, and 1 brokers are there: drover.cars, " in run.err and "Start the others" in run.err
    finally:
        lonely.stop()


def test_topics_of_a_cluster_have_their_copies_and_a_broker_that_is_away_is_told(drover, data):
    cluster = Mock(data)
    cluster.prepare({name: 2 for name in ("drover.cars", "drover.machines", "drover.dispatch", "drover.sightings", "drover.tours")})
    try:
        env = {"DROVER_KAFKA_BROKERS": cluster.brokers, "DROVER_KAFKA_REPLICATION": "3"}
        assert said_of_broker(drover, env) == "ok, 8 topics, 3 copies of ours"
    finally:
        cluster.stop()
