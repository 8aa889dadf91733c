"""The API as OpenAPI 3.1: all of it is described, and schemathesis asks by the description, with what fits it and what does not.

That answers are as described is looked at with every answer that the tests of the API get: description.py."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from apps import Desk as Apps
from description import DOCUMENT, METHODS
from harness import HANG_S, ROOT, is_long
from surveyors import SurveyDesk
from test_access import table

SCOPES = ["upload", "read", "account", "survey", "export", "query"]
CAMPUS = "/v1/campuses/{campus}"
# Answers of these go on until somebody hangs up; test_drivers.py, test_pages.py and test_campus_api.py listen to them.
STREAMS = {path for path, item in DOCUMENT["paths"].items() if "text/event-stream" in item.get("get", {}).get("responses", {}).get("200", {}).get("content", {})}


def described():
    return {(method.upper(), path): item[method] for path, item in DOCUMENT["paths"].items() for method in METHODS if method in item}


def test_all_of_the_api_is_described_and_for_whom():
    served = {row: who for row, who in table().items() if row[1].startswith("/v1/") or row[1] in ("/healthz", "/openapi.json")}
    # The document has a kind of readings as an address of its own.
    upload = served.pop(("POST", "/v1/readings/{kind}"))
    served |= {("POST", "/v1/readings/" + kind): upload for kind in ("machines", "cars")}
    own = {row: operation for row, operation in described().items() if not row[1].startswith(CAMPUS)}
    assert set(own) == set(served)
    for row, who in served.items():
        who, _, scopes = who.partition(", and token ")
        scope = who.removeprefix("token ")
        wanted = [] if who == "everybody" else [{"token": [scope]}] if scope != who else [{"session": []}]
        wanted += [{"token": [scope]} for scope in scopes.split(" or ") if scope]
        assert own[row]["security"] == wanted, row


def test_all_of_the_campus_api_is_described():
    listed = set()
    for name in ("campus-apps.md", "campus-people.md"):
        for cell in re.findall(r"^\| (`(?:GET|PUT|POST|DELETE) [^|]+) \|", (ROOT / "docs" / name).read_text(), re.M):
            for method, path in re.findall(r"`(\w+) ([^`?]+)`", cell):
                listed.add((method, path if path.startswith("/") else f"{CAMPUS}/{path}"))
    assert {row for row in described() if row[1].startswith(CAMPUS)} == listed


def test_the_values_of_machines_are_described():
    """Each key that docs/machines.md names, without a type: what is not of it is left out, and the rest of the reading is taken."""
    text = re.search(r"and any of `(serial .*?)`", (ROOT / "docs" / "machines.md").read_text(), re.S).group(1)
    reading = DOCUMENT["components"]["schemas"]["MachineReading"]
    assert set(text.split()) == set(reading["properties"]) - set(reading["required"])
    assert all(list(reading["properties"][key]) == ["description"] for key in text.split())


def test_ids_are_unique_and_refusals_are_problems():
    operations = described()
    names = [operation["operationId"] for operation in operations.values()]
    assert len(set(names)) == len(names)
    for row, operation in operations.items():
        for status, answer in operation["responses"].items():
            if int(status) >= 400:
                assert answer.get("$ref", "").startswith("#/components/responses/"), (row, status)


def schemathesis(folder, address, token, *options, examples=6):
    # Thousands of requests at the ends of what fits take most of the time; the short form asks for what fits and what does not by chance.
    phases = ["--max-examples", "200"] if is_long() else ["--max-examples", str(examples), "--phases", "examples,fuzzing,stateful"]
    found = subprocess.run(
        [Path(sys.executable).parent / "schemathesis", "run", f"{address}/openapi.json", "-H", f"Authorization: Bearer {token}", *phases,
         "--seed", "7", "--workers", "1", "--request-timeout", str(HANG_S), "--continue-on-failure", "--generation-database", "none", "--no-color",
         # Few texts are XML-RPC, and a machine may be busy.
         "--suppress-health-check", "filter_too_much,too_slow", *options],
        cwd=folder, capture_output=True, text=True, timeout=20 * HANG_S)
    assert found.returncode == 0, found.stdout[-8000:] + found.stderr[-2000:]
    return found.stdout


# A description cannot say all that a survey must be: that it stops after it starts, or how many bytes a text has.
SETTINGS = """
[checks.positive_data_acceptance]
enabled = false
"""
# Beside its token the field view takes a session, which looks like an authorization that is not asked for.
FIELD_VIEW = """
[[operations]]
include-path-regex = "^/v1/field-view"
[operations.checks.ignored_auth]
enabled = false
"""


def test_what_is_described_is_what_is_answered(world, tmp_path):
    desk = SurveyDesk(world, tmp_path)
    worker = world.worker(desk.env, "described")
    try:
        token = desk.token(*SCOPES)
        (tmp_path / "schemathesis.toml").write_text(SETTINGS + FIELD_VIEW)
        # Tracks take nothing but a session, so that a program with a token gets none of them.
        told = schemathesis(tmp_path, f"https://127.0.0.1:{desk.port}", token, "--tls-verify", desk.certificate,
                            "--exclude-path-regex", "^(/v1/campuses/|/v1/tracks/|" + "|".join(map(re.escape, sorted(STREAMS))) + ")")
        assert int(re.search(r"Tested:\s+(\d+)", told).group(1)) >= 26, told[-3000:]
        # Whatever was sent, everything still answers and works.
        assert desk.app(token).get("/v1/machines").status == 200
        world.work_off(desk.env)
        assert worker.stop() == 0
    finally:
        desk.server.stop()


@pytest.fixture(scope="module")
def apps(world, tmp_path_factory):
    folder = tmp_path_factory.mktemp("apps")
    key = folder / "code-key"
    key.write_bytes(os.urandom(32))
    # Nobody mails them; that there would be a way is what is asked.
    apps = Apps(world, folder, "--set", f"people.code_key_file={key}", "--set", "mail.server=smtp://127.0.0.1:1")
    yield apps
    apps.stop()


@pytest.mark.parametrize("role", ["rider", "ride_driver", "dispatcher"])
def test_what_is_described_is_what_the_campus_answers(apps, tmp_path, role):
    campus = apps.campus(pickup_s=0, dropoff_s=0)
    apps.settle()
    app = apps.app(campus, "somebody", role)
    (tmp_path / "schemathesis.toml").write_text(SETTINGS + f'[parameters]\n"path.campus" = "{campus.name}"\n')
    # Who signs out is asked no more.
    left_out = "|".join(re.escape(path) for path in sorted(STREAMS | {CAMPUS + "/tokens/current"}))
    told = schemathesis(tmp_path, f"https://127.0.0.1:{apps.port}", app.token, "--tls-verify", apps.certificate,
                        "--request-cert", apps.app_certificate[0], "--request-cert-key", apps.app_certificate[1],
                        "--include-path-regex", "^/v1/campuses/", "--exclude-path-regex", left_out, examples=3)
    assert int(re.search(r"Tested:\s+(\d+)", told).group(1)) >= 20, told[-3000:]
    assert app.get("me").status in (200, 429)
