"""`drover check` and the roles say everything that is wrong with the settings: where, which value, the rule, what to do."""
import json
import os
import re
import subprocess

import pytest
from harness import HANG_S, ROOT

NOWHERE = {"DROVER_POSTGRES_URL": "host=/nowhere", "DROVER_KAFKA_BROKERS": "127.0.0.1:1"}


def check(drover, *words, env=None):
    """Lines about what is wrong."""
    run = drover.run("check", "--offline", *words, env=env)
    lines = [line for line in run.out.splitlines() if ": ok, " not in line]
    assert (run.code, run.err) == (1 if lines else 0, ""), run.err
    return lines


@pytest.fixture
def settings(tmp_path):
    def write(text, mode=0o600):
        path = tmp_path / "drover.yaml"
        path.write_text(text)
        path.chmod(mode)
        return path
    return write


def test_settings_without_a_fault_are_said_to_be_well(drover, settings):
    assert check(drover, "--settings", settings("web:\n  port: 0\n")) == []


STANDARD = "records a worker takes from the broker at once. Leave it out for 10000"
RULES = [
    ("kafka:\n  borkers: a:1\n", "line 2: kafka.borkers: is not a setting. Did you mean kafka.brokers? `drover settings` lists them"),
    ("brokers: a:1\n", "line 1: brokers: is not a setting. Did you mean kafka.brokers? "),
    ("weahter:\n  provider: x\n", "line 2: weahter.provider: is not a setting. Did you mean weather.provider? "),
    ("kafka:\n  colour: red\n", "line 2: kafka.colour: is not a setting. `drover settings` lists them"),
    ("kafka:\n  batch_messages_max: 0\n", "line 2: kafka.batch_messages_max: is 0, must be 1 to 100000. It is: " + STANDARD),
    ("kafka:\n  batch_messages_max: many\n", "line 2: kafka.batch_messages_max: is `many`, must be a whole number; it must be 1 to 100000. "),
    ("kafka:\n  batch_messages_max: 1.5\n", "is `1.5`, must be a whole number"),
    ("kafka:\n  batch_messages_max: ''\n", "is ``, must be a whole number"),
    ("kafka:\n  batch_messages_max: 99999999999999999999\n", "must be a whole number"),
    ("trips:\n  sharp_mps2: 40\n", "line 2: trips.sharp_mps2: is 40, must be 0.5 to 20. "),
    ("trips:\n  sharp_mps2: '3,0'\n", "line 2: trips.sharp_mps2: is `3,0`, must be a number with a point; "),
    ("web:\n  port: 1\n  port: 2\n", "line 3: port stands twice. Keep one"),
    ("web:\n  port: 1\nweb.port: 2\n", "line 3: web.port: stands twice, first on line 2. Keep one"),
    ("kafka:\n  brokers: [a, b]\n", "line 2: kafka.brokers: lists are not settings; write `key: value`, several values with commas"),
    ("- a\n", "line 1: must be `key: value` lines"), ("just text\n", "line 1: must be `key: value` lines"),
    ("kafka:\n\tbrokers: a\n", "line 2: is not YAML: "), ("kafka: 'a\n", "is not YAML: "), ("a: &x 1\nb: *x\n", "aliases are not read"),
    ("a: 1\n---\nb: 2\n", "a second document"), ("{a: {b: {c: {d: {e: {f: {g: {h: {i: 1}}}}}}}}}\n", "nested deeper than 8"),
    ("postgres:\n  url: '" + "x" * 4_097 + "'\n", "line 2: postgres.url: is longer than 4096 bytes"),
    ("web:\n  certificate: /nowhere/chain.pem\n", "line 2: web.certificate: is /nowhere/chain.pem, which is not there. Put it there, or correct the path"),
    ("web:\n  certificate: /tmp\n", "line 2: web.certificate: is /tmp, which is a folder, must be a file"),
    ("reports:\n  folder: /nowhere\n", "line 2: reports.folder: is /nowhere, which is not there. Make the folder, or correct the path"),
    ("reports:\n  folder: /etc/passwd\n", "which is a file, must be a folder"),
    ("alerts:\n  thresholds_dir: Deploy/nowhere\n", "line 2: alerts.thresholds_dir: is Deploy/nowhere, which is not there."),
    ("gateway:\n  spool_path: /nowhere/spool.sqlite\n", "line 2: gateway.spool_path: is /nowhere/spool.sqlite, which cannot be made or written."),
]


@pytest.mark.parametrize("text, said", RULES, ids=[said[:60] for _, said in RULES])
def test_each_mistake_says_where_which_value_the_rule_and_what_to_do(drover, settings, text, said):
    path = settings(text)
    lines = check(drover, "--settings", path)
    assert any(line.startswith(f"settings: {path}: line ") and said in line for line in lines), lines


# What only several settings together, or their meaning, make wrong; said by the part that it would stop.
MEANING = [
    ("ticks:\n  roles: work,serv\n", "ticks: {}: line 2: ticks.roles: `serv` is not one of work, serve, notify, gateway"),
    ("gateway:\n  plain_tcp_cidrs: 10.0.0.1/8\n", "gateway: {}: line 2: gateway.plain_tcp_cidrs: `10.0.0.1/8` is no network"),
    ("gateway:\n  obd_schedule: often\n", "gateway: {}: line 2: gateway.obd_schedule: "),
    ("web:\n  host: 0.0.0.0\n", "page: {}: line 2: web.host is 0.0.0.0: tokens and readings would go over the net in the clear"),
    ("web:\n  public_url: ftp://a\n", "page: {}: line 2: web.public_url: is `ftp://a`, must begin with https://"),
    ("web:\n  certificate: /etc/passwd\n", "page: {}: line 2: web.certificate and web.certificate_key go together"),
    ("oidc:\n  issuer: https://a\n", "page: {}: line 2: oidc.issuer needs oidc.client_id"),
    ("mail:\n  server: smtp://a\n", "mail: mail.from: is no plain mail address"),
    ("apps:\n  port: 70000\n", "apps: {}: line 2: apps.port: is `70000`, must be 0 to 65535"),
    ("weather:\n  provider: rain\n", "services of others: {}: line 2: weather.provider: is `rain`, must be openweathermap or open-meteo"),
    ("travel:\n  zone: Mars/Base\n", "services of others: {}: line 2: travel.zone: `Mars/Base` is no time zone"),
    ("geocoder:\n  url: http://example.org\n", "services of others: {}: line 2: geocoder.url"),
    ("forward:\n  url: nowhere\n", "collector: {}: line 2: forward.url"),
    ("map:\n  tiles_url: https://a/{{z}}/{{x}}/{{y}}.png\n", "map: map.attribution: is empty"),
    ("notices:\n  webhook_hosts: hooks.example.org\n", "notices: people.code_key_file: webhooks and pushes need it"),
    ("trips:\n  gap_s: 600\n  trip_gap_min: 1\n", "trip rules: trips.*: "),
]


@pytest.mark.parametrize("text, said", MEANING, ids=[said for _, said in MEANING])
def test_what_does_not_go_together_is_said_by_the_part_that_it_stops(drover, settings, text, said):
    path = settings(text.replace("{{", "{").replace("}}", "}"))
    lines = check(drover, "--settings", path)
    assert any(line.startswith(said.format(path)) for line in lines), lines


def test_all_mistakes_of_all_sources_are_said_at_once(drover, settings):
    path = settings("kafka:\n  borkers: a:1\n  batch_messages_max: 0\n  batch_messages_max: 1\nweb:\n  port: 99999\n  certificate: /nowhere\ntravel:\n  zone: Mars/Base\n")
    lines = check(drover, "--settings", path, "--set", "trips.gap_s=0", "--set", "trips.gaps=1",
                  env={"DROVER_WORK_LANES": "many", "DROVER_KAFKA_BROKER": "a:1"})
    for said in [
        f"settings: {path}: line 4: batch_messages_max stands twice", f"settings: {path}: line 2: kafka.borkers: is not",
        f"settings: {path}: line 3: kafka.batch_messages_max: is 0", f"settings: {path}: line 6: web.port: is 99999",
        "settings: environment: DROVER_KAFKA_BROKER: is not a setting. Did you mean DROVER_KAFKA_BROKERS?",
        "settings: environment: DROVER_WORK_LANES: is `many`, must be a whole number", "settings: --set: trips.gap_s: is 0, must be 1 to 600",
        "settings: --set: trips.gaps: is not a setting. Did you mean trips.gap_s?", f"settings: {path}: line 7: web.certificate: is /nowhere",
        f"services of others: {path}: line 9: travel.zone", "page: not looked at: mend web.certificate, web.port first",
        "trip rules: not looked at: mend trips.gap_s first",
    ]:
        assert sum(line.startswith(said) for line in lines) == 1, (said, lines)
    # A role says the same and does not start.
    run = drover.run("work", "--settings", path, env={"DROVER_WORK_LANES": "many"})
    assert run.code == 1 and all(text in run.err for text in ("kafka.borkers", "line 6: web.port", "DROVER_WORK_LANES"))


def test_findings_for_programs(drover, settings):
    run = drover.run("check", "--format", "json", "--settings", settings("web:\n  port: x\n"), env=NOWHERE)
    findings = {}
    for finding in json.loads(run.out):
        findings.setdefault(finding["check"], []).append((finding["state"], finding["message"]))
    [(state, message)] = findings["settings"]
    assert run.code == 1 and state == "wrong" and "web.port: is `x`" in message
    assert findings["page"] == [("unknown", "not looked at: mend web.port first")]
    assert findings["trip rules"][0][0] == "ok" and findings["PostgreSQL"][0][0] == "wrong"


@pytest.mark.parametrize("mode, exposed", [(0o600, False), (0o640, False), (0o644, True), (0o604, True), (0o602, True), (0o444, True)])
def test_secret_files_that_others_may_read_or_write_are_refused(drover, tmp_path, settings, mode, exposed):
    file = tmp_path / "password"
    file.write_text("secret-of-the-mail-server\n")
    file.chmod(mode)
    path = settings(f"mail:\n  server: smtp://127.0.0.1:1\n  from: a@b.example\n  user: u\n  password_file: {file}\n", 0o644)
    lines = check(drover, "--settings", path)
    said = [f"settings: {path}: line 5: mail.password_file: is {file}, which everybody on this machine may read or write (mode {mode:04o}). "
            f"Secrets are for their owner and group: chmod o-rwx {file}"]
    assert lines == (said if exposed else [])


def test_every_setting_of_a_secret_file_is_looked_at(drover, tmp_path):
    listed = json.loads(drover.run("settings", "--format", "json").out)
    keys = [row["key"] for row in listed if row["type"] == "file, secret"]
    named = {row["key"] for row in listed if re.search(r"(password|secret|token|key)_file$|key$", row["key"])}
    assert named <= {row["key"] for row in listed if row["secret"]}
    file = tmp_path / "secret"
    file.write_text("x\n")
    file.chmod(0o644)
    lines = check(drover, *[word for key in keys for word in ("--set", f"{key}={file}")])
    assert [key for key in keys if not any(f"{key}: is {file}, which everybody" in line for line in lines)] == []


def test_secrets_in_a_settings_file_or_on_the_command_line_are_refused_and_never_shown(drover, settings):
    text = "weather:\n  api_key: hunter-two\npostgres:\n  url: postgresql://drover:hunter-two@db/drover\n  reader_url: dbname=drover\n"
    path = settings(text, 0o644)
    lines = [line for line in check(drover, "--settings", path) if line.startswith("settings: ")]
    assert [re.search(r"line \d+: [a-z_.]+", line).group(0) for line in lines] == ["line 4: postgres.url", "line 2: weather.api_key"]
    assert not any("hunter-two" in line for line in lines)
    assert [line for line in check(drover, "--settings", settings(text, 0o640)) if line.startswith("settings: ")] == []
    lines = check(drover, "--set", "weather.api_key=hunter-two")
    assert any("--set: weather.api_key: is a secret that everybody on this machine sees in the list of processes. Set the variable DROVER_WEATHER_API_KEY" in line for line in lines)
    assert not any("hunter-two" in line for line in lines)


def test_a_role_that_starts_says_which_secret_others_can_read_and_goes_on(drover, tmp_path):
    file = tmp_path / "code.key"
    file.write_bytes(bytes(range(32)))
    file.chmod(0o644)
    notify = drover.start("notify", "--set", f"people.code_key_file={file}", env=NOWHERE)
    notify.wait_for(f"people.code_key_file: is {file}, which everybody on this machine may read")
    notify.stop()
    file.chmod(0o600)
    notify = drover.start("notify", "--set", f"people.code_key_file={file}", env=NOWHERE)
    notify.wait_for("reports that fall due are not made here")
    notify.stop()
    assert "others can read a secret" not in notify.output()


def test_a_file_that_may_not_be_read_is_told_from_one_that_is_not_there(program, tmp_path, settings):
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    folder = tmp_path
    while folder != folder.parent and folder.stat().st_uid == 0 and folder.name != "tmp":
        folder.chmod(folder.stat().st_mode | 0o755)
        folder = folder.parent
    file = tmp_path / "chain.pem"
    file.write_text("x")
    file.chmod(0o600)
    path = settings(f"web:\n  certificate: {file}\n", 0o644)
    run = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "check", "--offline", "--settings", path], capture_output=True, text=True, timeout=HANG_S,
        env={**os.environ, "DROVER_HOME": str(ROOT)})
    assert f"line 2: web.certificate: is {file}, which this user may not read. Give the user or its group the right" in run.stdout, run.stdout + run.stderr


def test_the_list_of_settings_is_whole(drover):
    rows = json.loads(drover.run("settings", "--format", "json").out)
    known = {"work", "serve", "notify", "gateway", "gateway pull-iso", "commands"}
    assert all(row["read_by"] and set(row["read_by"]) <= known and row["what"] and row["type"] for row in rows)
    sources = "".join(path.read_text() for path in (ROOT / "Sources" / "Tools").rglob("*.swift"))
    # Each is read somewhere: by its key, or with an end that is put on (`…_file` of a secret, days that a kind of row is kept).
    assert [row["key"] for row in rows if f'"{row["key"]}"' not in sources
            and not row["key"].endswith("_file") and not row["key"].startswith("retention.")] == []
    text = drover.run("settings").out
    assert all(re.search(rf"^{re.escape(row['key'])} ", text, re.M) for row in rows)
    assert drover.run("settings", "--format", "xml").code == 2
