"""TLS and SASL to the brokers: the whole path and what is refused on Apache Kafka, the rest by a gate in front of the embedded broker
(kafka_gate.py says what it is): who is believed, and that certificates and passwords are renewed without a restart."""
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
from harness import HANG_S, is_long, scratch, until
from kafka import Kafka, missing
from kafka_gate import BEHIND, SYNC_GROUP, Gate
from world import dump, messages, query

PASSWORD, OTHER_PASSWORD = "Zaunkönig, 7 =", "Goldammer 8"
needs_kafka = pytest.mark.skipif(bool(missing()), reason=missing())


@pytest.fixture(scope="module")
def place():
    """A folder whose files others may not read."""
    folder = scratch("drover-kafka-tls-")
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
def gates(place, world):
    """Makes gates, each in front of a broker of its own."""
    made = []

    def another():
        broker = Noida(tempfile.mkdtemp(dir=place), host=BEHIND)
        made.append((Gate(broker.port), broker))
        look_past(world, broker.port, f"{BEHIND}:{broker.port}")
        return made[-1][0]

    yield another
    for gate, broker in made:
        gate.stop()
        broker.stop()


@pytest.fixture
def gate(gates):
    return gates()


def look_past(world, port, plain):
    """What the test itself asks of the broker at that port goes by its plain door."""
    world.plain[f"127.0.0.1:{port}"] = plain
    world.watchers[f"127.0.0.1:{port}"] = Consumer({"bootstrap.servers": plain, "group.id": "tests-look", "log_level": 0})


@pytest.fixture(scope="module")
def secured(world, place, roots, certificates):
    """Apache Kafka with a door for those who have a certificate of ours, and one for those who have a password."""
    mine = place / "kafka.pem"
    mine.write_text("".join(Path(path).read_text() for path in (*reversed(certificates["broker"]), roots[0].root)))
    shows = {"ssl.keystore.type": "PEM", "ssl.keystore.location": mine}
    modules = "org.apache.kafka.common.security"
    broker = Kafka(place / "kafka", doors={
        "CERTIFICATE": {**shows, "protocol": "SSL", "ssl.client.auth": "required", "ssl.truststore.type": "PEM", "ssl.truststore.location": roots[0].root},
        "PASSWORD": {**shows, "protocol": "SASL_SSL", "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
                     "plain.sasl.jaas.config": f'{modules}.plain.PlainLoginModule required user_drover="{PASSWORD}";',
                     "scram-sha-512.sasl.jaas.config": f"{modules}.scram.ScramLoginModule required;"},
    })
    broker.add_login("drover", PASSWORD)
    for port in broker.ports.values():
        look_past(world, port, broker.brokers)
    yield broker
    broker.close()


def kafka(port, **settings):
    """Variables that point `drover` there; a name is a setting's of the group."""
    named = {"brokers": f"127.0.0.1:{port}", **settings}
    return {f"DROVER_KAFKA_{name.upper()}": str(value) for name, value in named.items()}


def tls(port, roots, pair=None, **settings):
    mine = {"certificate_file": pair[0], "key_file": pair[1]} if pair else {}
    return kafka(port, **{"security_protocol": "ssl", "ca_file": roots[0].root, **mine, **settings})


def login(port, roots, secret, **settings):
    return tls(port, roots, security_protocol="sasl_ssl", sasl_user="drover", sasl_password_file=secret, **settings)


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
        world.drover.done("import", *what, env=env)


def result(env):
    """Rows of what was handed in. Alerts of silence go by the ticks that stand between the readings, and are left out."""
    rows = dump(env)
    alerts = query(env, "SELECT alert_id, parameter, severity, opened_at FROM drover.alert WHERE parameter <> 'Last Cell Call In' ORDER BY alert_id")
    return {table: rows[table] for table in ("vehicle_minute", "trip", "vehicle_day", "machine_reading")} | {"alert": alerts}


@needs_kafka
def test_the_whole_path_over_tls_with_certificates_of_ours(world, secured, roots, certificates, fixtures, expected):
    secured.prepare()
    env = world.database() | tls(secured.ports["CERTIFICATE"], roots, certificates["client"])
    hand_in(world, env, fixtures)
    worker = world.worker(env, "tls")
    notify = world.drover.start("notify", env=env)
    world.work_off(env)
    assert result(env) == expected and expected["trip"] and expected["machine_reading"] and expected["alert"]
    # What the worker decided comes out on a topic again.
    until(lambda: outbox(env) == 0, worker, notify)
    assert len(messages(secured.brokers, "drover.alerts")) >= len(expected["alert"]) > 0
    assert world.drover.run("status", env=env).out.count("copies of topics") == 1
    assert re.search(r"^broker: ok, \d+ topics, 1 copy of ours$", world.drover.run("check", env=env).out, re.M)
    assert notify.stop() == 0 and worker.stop() == 0


def outbox(env):
    return query(env, "SELECT count(*) FROM drover.outbox")[0][0]


# Of librdkafka 2.0.2 Kafka 4 takes no SCRAM (BrokerDiagnosis.swift); of the newest it does.
@needs_kafka
@pytest.mark.parametrize("mechanism, newest", [("PLAIN", False), ("SCRAM-SHA-512", True)])
def test_the_whole_path_with_a_login(world, secured, roots, fixtures, expected, place, mechanism, newest):
    secured.prepare()
    env = world.database() | login(secured.ports["PASSWORD"], roots, secret(place, PASSWORD), sasl_mechanism=mechanism)
    env |= newest_librdkafka() if newest else {}
    hand_in(world, env, fixtures)
    worker = world.worker(env, f"login-{mechanism}")
    world.work_off(env)
    assert result(env) == expected
    assert worker.stop() == 0 and PASSWORD not in worker.output()


def said_of_broker(drover, env, *arguments):
    """What `drover check` says of the broker."""
    run = drover.run("check", *arguments, env={"DROVER_POSTGRES_URL": "host=/nowhere", **env})
    assert PASSWORD not in run.out + run.err
    return re.search(r"^broker: (.*)$", run.out, re.M)[1]


def differing(drover, asked):
    """What `drover check` says of the broker where it is not what is wanted; all are asked at once: most of it is waiting."""
    def ask(each):
        env, wanted = each
        text = until(lambda: is_told(said_of_broker(drover, env), wanted), about="an answer in time")
        return None if re.search(wanted, text) else (text, wanted)

    def is_told(text, wanted):
        # It waits five seconds for a broker, which is not enough on every machine.
        return text if "Local: Timed out" not in text or re.search(wanted, text) else None

    with ThreadPoolExecutor(len(asked)) as pool:
        return [told for told in pool.map(ask, asked) if told]


@needs_kafka
def test_what_kafka_refuses_of_us_is_named(drover, secured, roots, certificates, place):
    right, wrong = secret(place, PASSWORD), secret(place, OTHER_PASSWORD)
    by_certificate, by_password = secured.ports["CERTIFICATE"], secured.ports["PASSWORD"]
    scram = login(by_password, roots, right, sasl_mechanism="SCRAM-SHA-512")
    not_taken = "certificate.*kafka.certificate_file"
    assert differing(drover, [
        (tls(by_certificate, roots, certificates["client"]), "^ok, "),
        (tls(by_certificate, roots), not_taken),
        (tls(by_certificate, roots, certificates["stranger"]), not_taken),
        (tls(by_certificate, roots, certificates["client run out"]), not_taken),
        (scram | newest_librdkafka(), "^ok, "),
        (scram, "Kafka 4, which takes SCRAM from librdkafka 2.6.1 on"),
        (login(by_password, roots, wrong, sasl_mechanism="SCRAM-SHA-512") | newest_librdkafka(), "refuses the login (?!.*Kafka 4)"),
        (login(by_password, roots, wrong, sasl_mechanism="PLAIN"),
         r"refuses the login \(Authentication failed: Invalid username or password\)\. Correct kafka.sasl_user and the password"),
        (login(by_password, roots, right, sasl_mechanism="SCRAM-SHA-256"), "Set kafka.sasl_mechanism to one that it has"),
    ]) == []


def test_what_is_wrong_with_the_brokers_certificate_is_named(drover, gates, roots, certificates):
    believed, old, elsewhere = gates(), gates(), gates()
    believed.open(certificates["broker"])
    old.open(certificates["run out"])
    elsewhere.open(certificates["of another host"])
    good, asked = tls(believed.port, roots), []
    for library in ({}, newest_librdkafka()):
        asked += [(env | library, wanted) for env, wanted in (
            (good | {"DROVER_KAFKA_CA_FILE": str(roots[1].root)}, "not signed by the roots of kafka.ca_file"),
            # The certificate holds 127.0.0.1 and no name.
            (good | {"DROVER_KAFKA_BROKERS": f"localhost:{believed.port}"}, f"localhost:{believed.port} is not believed: its certificate is another host's"),
            # An answer that is no TLS, and none that is.
            (kafka(believed.port), "Does it speak TLS there\\? Correct kafka.security_protocol"),
            (good | {"DROVER_KAFKA_BROKERS": "127.0.0.1:1"}, "Is the broker up, and are kafka.brokers"),
            (tls(old.port, roots), "its certificate has run out. Renew it at the broker"),
            (tls(elsewhere.port, roots), "its certificate is another host's"),
            (good, "^ok, "),
        )]
    assert differing(drover, asked) == []


def test_what_the_broker_refuses_of_us_is_named(drover, gates, roots, certificates, place):
    """By a broker that only hangs up, as it may, and by openssl's own server, which says in an alert what it misses and never comes to a
    word of Kafka's."""
    gate = gates()
    gate.open(certificates["broker"], clients=roots[0].root)
    mixed = (certificates["client"][0], certificates["next client"][1])
    asked = [(tls(gate.port, roots) | library, r"Does it want a certificate of ours \(kafka.certificate_file\)") for library in ({}, newest_librdkafka())]
    asked.append((tls(gate.port, roots, mixed), "kafka.key_file failed: "))
    asked.append((login(gate.port, roots, secret(place, ""), sasl_mechanism="PLAIN"), "kafka.sasl_password_file: .*: its first line is empty"))
    certificate, key = certificates["broker"]
    servers = []
    try:
        for pair, wanted in ((None, "wants a certificate of ours. Set kafka.certificate_file"),
                             (certificates["stranger"], "refuses our certificate, which none of its roots has signed"),
                             (certificates["client run out"], "refuses our certificate, which has run out")):
            port = free_port()
            servers.append(subprocess.Popen(
                [*DIES_WITH_US, "openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", certificate, "-key", key, "-CAfile", roots[0].root,
                 "-Verify", "1", "-verify_return_error", "-quiet"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            until(lambda: answers(port))
            asked.append((tls(port, roots, pair), wanted))
        assert differing(drover, asked) == []
    finally:
        for server in servers:
            server.kill()
            server.wait(HANG_S)


def test_a_worker_waits_for_a_broker_that_is_not_believed_and_goes_on_by_itself(world, gate, roots, certificates, fixtures, expected):
    gate.open(certificates["broker"])
    env = world.database() | tls(gate.port, roots)
    what = ["import", "cars", drive(fixtures), "--vehicle", "tls-car"]
    world.drover.done(*what, env=env)
    worker = world.worker(env, "patient")
    world.work_off(env)
    gate.open(certificates["run out"])
    gate.cut()
    worker.wait_for(r"is not believed: its certificate has run out")
    if is_long():  # It tries for ten seconds.
        world.drover.fails("import", "machines", fixtures / "machines" / "readings.jsonl", env=env, says="its certificate has run out. Renew it at the broker")
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
    world.drover.done("import", "cars", drive(fixtures), "--vehicle", "tls-car", env=env)
    world.work_off(env)
    before, began = gate.fetches, time.monotonic()
    # It goes on asking all the same. A hundred a second at most, however fast the machine is; without a pause there are thousands.
    until(lambda: gate.fetches >= before + 200, worker)
    assert time.monotonic() - began > 0.5
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
    env = world.database() | tls(gate.port, roots, mine, ca_file=root)
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
    if is_long():
        another_authority(world, gate, roots, certificates, env, worker, notify, (root, mine))
    hand_in(world, env, fixtures)
    world.work_off(env)
    assert result(env) == expected
    for process in (worker, notify):
        assert process.process.poll() is None
        assert process.stop() == 0


def another_authority(world, gate, roots, certificates, env, worker, notify, files):
    """For both sides. The old certificates are refused at once, so that records wait for the new ones."""
    root, mine = files
    gate.open(certificates["broker of theirs"], clients=roots[1].root)
    gate.cut()
    worker.wait_for("is not believed|hangs up")
    query(env, "INSERT INTO drover.outbox (topic, key, record_id, record) VALUES ('drover.alerts', 'k', 'renewal-1', %s)", '{"schema":1,"alert":"x"}')
    put([roots[1].root], [root])
    put(certificates["stranger"], mine)
    wanted = {(client, None, "stranger") for client in ("drover-work", "drover-notify", "drover-ticks")}
    until(lambda: wanted <= set(gate.guests), worker, notify)
    until(lambda: outbox(env) == 0, worker, notify)


@pytest.mark.long(reason="clients that were refused come back after up to ten seconds")
def test_a_password_is_renewed_without_a_restart_and_never_said(world, gate, roots, certificates, fixtures, expected, place):
    path = secret(place, PASSWORD)
    gate.open(certificates["broker"], users={"drover": PASSWORD})
    env = world.database() | login(gate.port, roots, path, sasl_mechanism="PLAIN") | {"DROVER_LOG": "debug"}
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


@pytest.mark.long(reason="the worker waits ten seconds for the group before it gives up")
def test_a_worker_that_is_stopped_while_it_joins_its_group_ends_as_ever(world, gate):
    """librdkafka before 2.3 ends the process when a member is destroyed between its joining and its first partitions."""
    gate.open()
    worker = world.worker(world.database() | kafka(gate.port), "hasty")
    gate.hold(SYNC_GROUP)
    until(lambda: gate.held > 0, worker)
    assert worker.stop() == 0
    gate.release(SYNC_GROUP)


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
        drover.fails("import", "cars", file, "--settings", file, says=wanted)


def test_loopback_and_scram_may_do_without_tls(drover, gate, place):
    """By SCRAM of librdkafka 2.0.2, too, at a Kafka before 4."""
    gate.open(users={"drover": PASSWORD}, is_kafka_4=False)
    assert differing(drover, [
        (kafka(gate.port, security_protocol="sasl_plaintext", sasl_user="drover", sasl_mechanism=mechanism, sasl_password_file=secret(place, PASSWORD)),
         "^ok, ") for mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")]) == []


def test_an_encrypted_key_is_opened_by_its_password(drover, gate, roots, certificates, place):
    certificate, key = certificates["client"]
    locked = Path(tempfile.mkdtemp(dir=place)) / "locked.key"
    subprocess.run(["openssl", "pkcs8", "-topk8", "-in", key, "-out", locked, "-passout", "pass:Pirol"], check=True, capture_output=True)
    locked.chmod(0o600)
    gate.open(certificates["broker"], clients=roots[0].root)
    env = tls(gate.port, roots, (certificate, locked))
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
        world.drover.fails("import", "cars", drive(fixtures), "--vehicle", "tls-car", "--set", "kafka.replication=3",
                           env=env | {"DROVER_KAFKA_BROKERS": lonely.brokers}, says=["kafka.replication: is 3, and 1 brokers are there: drover.cars, ", "Start the others"])
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
