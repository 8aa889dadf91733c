"""What surveyors' apps hand in: real TLS, broker and PostgreSQL, and Python's own XML-RPC client."""
import csv
import http.client
import io
import json
import random
import re
import shutil
import struct
import threading
import time
import xmlrpc.client
import zlib

import psycopg
import pytest
from brokers import Noida
from harness import HANG_S, ROOT, Drover, is_long, scratch, until
from surveyors import App, SurveyDesk, a_site, ahead, survey, tables_readable
from world import World, connect, query

CSV, XML = "text/csv", "text/xml"


@pytest.fixture(scope="module")
def desk(program):
    folder = scratch("drover-surveys-")
    drover = Drover(program)
    try:
        servers = drover.servers(folder / "data")
        desk = SurveyDesk(World(drover, servers), folder)
        desk.servers = servers
        yield desk
    finally:
        drover.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def site():
    return a_site()


def test_a_survey_is_stored_once_and_its_receipt_is_the_same(desk, site):
    app = desk.app()
    first = app.hand_in(survey(site))
    assert first.status == 201 and first.headers["Location"] == first.json["status_url"] == f"/v1/surveys/receipts/{site}/s-1"
    # Written otherwise, it says the same.
    again = [app.hand_in(survey(site)), app.hand_in(json.dumps(survey(site), indent=3, sort_keys=True))]
    assert [(a.status, a.json) for a in again] == [(200, first.json)] * 2
    said, = desk.logged(site)
    assert said["sightings"][0] == survey(site)["sightings"][0] and said["surveyors"][0]["mail"] == "a@example.org"
    state = app.get(first.json["status_url"]).json
    assert {key: state[key] for key in first.json} == first.json and state["state"] == "pending" and state["version"] is None
    # Another survey of the site, and the same id at another.
    assert app.hand_in(survey(site, "s-2")).status == 201 and app.hand_in(survey(site + "-b")).status == 201


def test_what_was_accepted_is_not_overwritten(desk, site):
    app, other = desk.app(), desk.app(account="otieno")
    receipt = app.hand_in(survey(site)).json
    for changed in [survey(site, comments="corrected"), survey(site, sightings=[])]:
        assert app.hand_in(changed).problem == (409, "survey-taken")
    # Not even that he handed in the same: it is another's.
    assert other.hand_in(survey(site)).problem == (409, "survey-taken")
    assert other.get(receipt["status_url"]).problem == (404, "not-found")
    assert len(desk.logged(site)) == 1 and app.hand_in(survey(site)).json == receipt


def test_a_receipt_follows_the_survey_into_the_tables(desk, site):
    app = desk.app()
    # Another program was faster: what it put on the log first counts.
    other = {"schema": 1, "kind": "survey", "id": "x-1", "site": site, "ts": int(time.time() * 1000), "account": "import", "by": "tests",
             "survey": survey(site, "s-2", comments="first")}
    desk.world.push("drover.sightings", other, brokers=desk.env["DROVER_KAFKA_BROKERS"])
    first, second = app.hand_in(survey(site)).json, app.hand_in(survey(site, "s-2"))
    assert second.status == 201 and app.get(second.json["status_url"]).json["state"] == "pending"
    worker = desk.world.worker(desk.env, "receipts")
    desk.world.work_off(desk.env)
    worker.stop()
    state = app.get(first["status_url"]).json
    assert (state["state"], state["version"], state["weather"]) == ("stored", 0, "pending")
    assert app.get(second.json["status_url"]).json["state"] == "set-aside"
    # An import's survey has no receipt, and its id is taken all the same.
    query(desk.env, "DELETE FROM drover.survey_receipt WHERE site = %s AND survey = 's-2'", site)
    assert app.hand_in(survey(site, "s-2")).problem == (409, "survey-taken")


def faults_of(answer):
    return "\n".join(answer.json["faults"])


@pytest.mark.parametrize("change, fault", [
    ({"start": "2099-05-01T13:00:00Z", "stop": "2099-05-01T14:00:00Z"}, "start: lies more than a day ahead"),
    ({"start": "1699-05-01T13:00:00Z", "stop": "1699-05-01T14:00:00Z"}, "start: must be a time from 1700"),
    ({"sightings": [{"species": "x", "count": 1, "latitude": 91, "longitude": 0}]}, "sightings[0].latitude"),
    ({"waypoints": [{"latitude": 0, "longitude": 181}]}, "waypoints[0].longitude"),
    ({"comments": "x" * 4001}, "comments"), ({"comments": "a\u0001b"}, "comments"), ({"site": "a/b"}, "site"), ({"schema": 2}, "schema"),
    ({"sightings": [{"species": "x", "count": -1}, {"species": "", "count": 1}]}, "sightings[1].species"),
    ({"sightings": [{"species": "x", "count": 1}] * 2001}, "sightings"), ({"start": None}, "start"), ({"note": "x" * 5000}, "unknown"),
])
def test_what_cannot_be_is_refused_with_its_place(desk, site, change, fault):
    answer = desk.app().hand_in({**survey(site), **change})
    assert answer.problem == (422, "survey") and fault in faults_of(answer)
    assert desk.app().get(f"/v1/surveys/receipts/{site}/s-1").status == 404


@pytest.mark.parametrize("body, kind, problem", [
    (b"", "application/json", (400, "not-json")), (b"{", "application/json", (400, "not-json")), (b"[]", "application/json", (422, "survey")),
    (b'{"schema": 1, "site_name": "caf\xe9"}', "application/json", (400, "not-json")),
    ('{"schema": 1}'.encode("utf-16"), "application/json", (400, "not-json")),
    (b"[" * 100_000, "application/json", (400, "not-json")), (b"{}", "text/plain", (415, "content-type")), (b"{}", "", (415, "content-type")),
    (b'{"comments": "' + b"x" * 950_000 + b'"}', "application/json", (413, "body-too-large")),
    (b'{"comments": "' + b"x" * 10_000_000 + b'"}', "application/json", (413, "body-too-large")),
    (b"survey,site\n", CSV, (422, "survey")), (b"\xff\xfe", CSV, (422, "survey")),
])
def test_what_is_no_survey_is_refused(desk, body, kind, problem):
    assert desk.app().hand_in(body, kind).problem == problem


def test_the_present_is_taken_and_the_future_is_not(desk, site):
    app = desk.app()
    assert app.hand_in(survey(site, start=ahead(hours=23), stop=ahead(hours=24))).status == 201
    assert app.hand_in(survey(site, "s-2", start=ahead(hours=25), stop=ahead(hours=26))).problem == (422, "survey")


FORMULA = '=HYPERLINK("http://x","y")'


def test_a_table_is_a_survey_too(desk, site):
    rows = io.StringIO()
    table = csv.writer(rows)
    table.writerow(["survey", "site", "site_name", "start", "stop", "surveyors.1.name", "surveyors.1.role", "surveyors.1.mail",
                    "surveyors.1.phone", "species", "count", "latitude", "longitude", "comments"])
    head = ["s-1", site, "Watamu", "2020-05-01T13:00:00+03:00", "2020-05-01T13:33:00+03:00", "A. Wanjiru", "recorder", "a@example.org", "+254 1"]
    table.writerow([*head, "Papilio demodocus", "1", "-3.3781", "39.9888", FORMULA])
    table.writerow([""] * 9 + ["Danaus chrysippus", "0", "", "", "two\nlines, \"quoted\""])
    app = desk.app()
    first = app.hand_in(("\ufeff" + rows.getvalue()).encode(), CSV)
    assert first.status == 201
    same = survey(site, sightings=[{"species": "Papilio demodocus", "count": 1, "latitude": -3.3781, "longitude": 39.9888, "comments": FORMULA},
                                   {"species": "Danaus chrysippus", "count": 0, "comments": "two\nlines, \"quoted\""}])
    # The same survey as JSON has the same digest; what looks like a formula stands on the log as it was handed in.
    assert (again := app.hand_in(same)).status == 200 and again.json == first.json
    assert [s["comments"] for s in desk.logged(site)[0]["sightings"]] == [FORMULA, "two\nlines, \"quoted\""]


def fault_of(call, *arguments):
    with pytest.raises(xmlrpc.client.Fault) as caught:
        call(*arguments)
    return caught.value.faultCode


def test_xml_rpc_clients_log_in_and_hand_in(desk, site):
    calls, token = desk.calls(), desk.token()
    assert calls.system.connect()["user"]["uid"] == 0
    assert fault_of(calls.user.login, "wanjiru", "wrong") == 401
    assert fault_of(calls.user.login, "wanjiru", desk.token("upload")) == 403
    session = calls.user.login("", "wanjiru", token)["sessid"]
    receipt = calls.drover.submitSurvey(session, survey(site))
    assert receipt["survey"] == "s-1" and calls.drover.submitSurvey(session, survey(site)) == receipt
    app = App(desk.port, desk.certificate, token)
    assert app.hand_in(survey(site)).json["receipt"] == receipt["receipt"]
    assert fault_of(calls.drover.submitSurvey, session, survey(site, comments="x")) == 409
    assert fault_of(calls.drover.submitSurvey, session, survey(site, stop="x")) == 422
    assert fault_of(calls.drover.submitSurvey, "wrong", survey(site)) == 401
    assert fault_of(calls.drover.submitSurvey, session) == -32602 and fault_of(calls.drover.submitSurvey) == 401
    assert fault_of(calls.drover.deleteSurvey, session, "s-1") == -32601

    node = {"type": "survey", "title": "Watamu", "field_id": {"und": [{"value": "n-1"}]}, "field_site": {"und": [{"value": site}]},
            "field_start": "2020-05-01 13:00:00", "field_stop": xmlrpc.client.DateTime("20200501T13:33:00"),
            "field_sightings": [{"species": "Danaus", "count": "2"}, {"species": "Papilio", "count": 1}], "weather_station": "K7"}
    nid = calls.node.save(session, node)
    assert isinstance(nid, int) and calls.node.create(token, node) == {"nid": nid, "uri": f"/v1/surveys/receipts/{site}/n-1"}
    assert fault_of(calls.node.save, session, {**node, "nid": nid}) == 409
    assert fault_of(calls.node.save, session, {**node, "title": "Other"}) == 409
    stored = next(s for s in desk.logged(site) if s["survey"] == "n-1")
    assert stored == {"schema": 1, "survey": "n-1", "site": site, "site_name": "Watamu", "start": "2020-05-01T13:00:00+03:00",
                      "stop": "2020-05-01T13:33:00+03:00", "weather_station": "K7",
                      "sightings": [{"species": "Danaus", "count": 2}, {"species": "Papilio", "count": 1}]}


def test_old_clients_show_their_session_as_a_cookie(desk, site):
    session = desk.calls().user.login("x", desk.token())
    body = xmlrpc.client.dumps((survey(site),), "drover.submitSurvey")
    answer = desk.app().post(body, XML, "/v1/xmlrpc", Cookie=f"a=b; {session['session_name']}={session['sessid']}")
    (receipt,), _ = xmlrpc.client.loads(answer.body)
    assert answer.status == 200 and receipt["site"] == site


BOMB = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><methodCall><methodName>&b;</methodName></methodCall>'
OUTSIDE = b'<?xml version="1.0"?><!DOCTYPE l SYSTEM "file:///etc/passwd"><methodCall><methodName>a</methodName></methodCall>'


@pytest.mark.parametrize("body", [
    BOMB, OUTSIDE, b"", b"{}", b"<methodCall>", xmlrpc.client.dumps((), "a").encode("utf-16"), b"<?xml version='1.0' encoding='utf-7'?><methodCall/>",
    b"<methodCall><methodName>a</methodName><params><param>" + b"<value><array><data>" * 5_000,
    b"<methodCall><methodName>a</methodName><params><param><value><string>\xff</string></value></param></params></methodCall>",
    b"<methodCall><?x?><methodName>system.connect</methodName></methodCall>", b"<?xml?><methodCall/>",
], ids=["bomb", "outside", "nothing", "JSON", "cut off", "UTF-16", "UTF-7", "deep", "not UTF-8", "an instruction that says nothing", "a declaration that says nothing"])
def test_hostile_xml_is_a_fault(desk, body):
    answer = desk.app().post(body, XML, "/v1/xmlrpc")
    assert answer.status == 200
    with pytest.raises(xmlrpc.client.Fault) as caught:
        xmlrpc.client.loads(answer.body)
    assert caught.value.faultCode == -32700 and "passwd" not in caught.value.faultString


ATTRIBUTES = "".join(f' a{n}=""' for n in range(104_000))


@pytest.mark.parametrize("body,why", [
    (f"<methodCall{ATTRIBUTES}><methodName>a</methodName></methodCall>", "line 1: an element has more than 32 attributes"),
    (f"<methodCall>\n<methodName{ATTRIBUTES[:600]}>a</methodName></methodCall>", "line 2: an element has more than 32 attributes"),
    (f"<methodCall><methodName a='{'x' * 9_000}'>a</methodName></methodCall>", "line 1: a tag has more than 8192 bytes"),
    (f"<{'m' * 400_000}><methodName>a</methodName></{'m' * 400_000}>", "line 1: a name has more than 200 bytes"),
    ("<!--" * 250_000, "line 1: a comment has no end, or more than 8192 bytes"),
    ("\n<!-- a -- b --><methodCall/>", "line 2: a comment has -- in it"),
], ids=["104,000 attributes", "33 in one element", "a long value", "a long name", "a megabyte of comments", "a comment in itself"])
def test_xml_is_bounded_before_it_is_parsed(desk, body, why):
    """A megabyte of attributes took six seconds of a handler, and a token nobody asked for."""
    answer = desk.app().post(body.encode(), XML, "/v1/xmlrpc")
    with pytest.raises(xmlrpc.client.Fault) as caught:
        xmlrpc.client.loads(answer.body)
    assert (caught.value.faultCode, caught.value.faultString) == (-32700, why)


@pytest.mark.parametrize("shown", ["<param><value><string>nobody</string></value></param>", "<param><value>nobody</value></param>", ""])
def test_who_calls_is_asked_before_the_call_is_read(desk, shown):
    """What follows is no XML-RPC, and does not end."""
    body = f"<methodCall><methodName>drover.submitSurvey</methodName><params>{shown}<param>" + "<value><array><data>" * 5_000
    answer = desk.app().post(body.encode(), XML, "/v1/xmlrpc")
    with pytest.raises(xmlrpc.client.Fault) as caught:
        xmlrpc.client.loads(answer.body)
    assert caught.value.faultCode == 401


def png(*chunks):
    parts = [(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)), *chunks, (b"IDAT", zlib.compress(b"\0\0")), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts)


def test_photos_lose_where_they_were_taken(desk):
    app = desk.app()
    kept = app.ask("POST", "/v1/survey-photos", png((b"eXIf", b"MM\0*GPS"), (b"tEXt", b"place\0home")), Content_Type="image/png")
    assert kept.status == 201 and kept.json["bytes"] == len(png())
    assert app.ask("POST", "/v1/survey-photos", png(), Content_Type="image/png").json == kept.json
    assert query(desk.env, "SELECT content FROM drover.survey_photo WHERE photo = %s", kept.json["photo"])[0][0] == png()
    for body in [b"", b"<svg/>", png()[:-1], b"GIF89a" + png()]:
        assert app.ask("POST", "/v1/survey-photos", body, Content_Type="image/png").problem == (415, "photo")
    # Larger than other bodies may be, up to its own limit.
    large = png((b"IDAT", random.Random(1).randbytes(4_000_000)))
    assert app.ask("POST", "/v1/survey-photos", large, Content_Type="image/png").status == 201
    assert app.ask("POST", "/v1/survey-photos", b"\x89" * 5_300_000, Content_Type="image/png").status == 413
    assert app.hand_in(b" " * 1_100_000).status == 413


def test_the_list_of_species_is_names_only(desk):
    with connect(desk.env) as connection:
        connection.execute("INSERT INTO drover.taxon (taxon, name, rank, source) VALUES ('1', 'Papilio demodocus', 'species', 'tests'), ('2', 'Parnassius apollo', 'species', 'tests')")
        connection.execute("INSERT INTO drover.species_season (site, latitude_cell, longitude_cell, year, month, species, surveys) VALUES (%s, -4, 39, 2020, 5, %s, 3), (%s, 60, 10, 2020, 5, %s, 1)",
                           ["a", "Papilio demodocus", "b", "Parnassius apollo"])
    app = desk.app()
    near = app.get("/v1/species-list?lat=-3.37&lon=39.98&month=5").json
    assert set(near) == {"species"} and "Papilio demodocus" in near["species"] and "Parnassius apollo" not in near["species"]
    for wrong in ["", "?lat=91&lon=0&month=5", "?lat=0&lon=0&month=13", "?lat=nan&lon=0&month=1", "?lat=0x1&lon=0&month=1", "?lat=0&lon=0&month=5.0"]:
        assert app.get("/v1/species-list" + wrong).problem == (400, "place"), wrong


OWN = {("POST", "/v1/surveys"), ("GET", "/v1/surveys/receipts/{site}/{survey}"), ("GET", "/v1/species-list"), ("POST", "/v1/survey-photos"),
       ("POST", "/v1/xmlrpc"), ("GET", "/openapi.json")}
# Pages and files for everybody, which no token is asked for.
OPEN = {("GET", "/"), ("GET", "/healthz"), ("GET", "/reports/fleet-day")}


def routes():
    """Every route that the sources add, methods and patterns."""
    found, texts = set(), [path.read_text() for path in (ROOT / "Sources" / "People" / "Web").rglob("*.swift")]
    # Deeds on an alert have an address each.
    [deeds] = [re.split(r",\s*", cases) for text in texts for cases in re.findall(r"enum Deed: String, CaseIterable[^{]*\{\s*case ([\w\s,]+?)\s*\}", text)]
    for text in texts:
        for method, pattern in re.findall(r'add\(\s*"(GET|POST|PUT|DELETE|PATCH)",\s*"(/[^"]*)"', text):
            each = deeds if "\\(deed.rawValue)" in pattern else [""]
            found.update((method, pattern.replace("\\(deed.rawValue)", deed)) for deed in each)
    return found


def test_an_apps_token_opens_its_own_and_nothing_else(desk):
    app, nobody = desk.app(), App(desk.port, desk.certificate)
    tried = 0
    for method, pattern in sorted(routes() - OWN - OPEN):
        # Pages of people know sessions and no tokens: test_accounts.py.
        if pattern.startswith("/v1/campuses") or not pattern.startswith("/v1/") or "\\(" in pattern:
            continue
        path = re.sub(r"\{\w+\}", "x-1", pattern)
        answer = app.ask(method, path, b"{}" if method != "GET" else None, Content_Type="application/json")
        bare = nobody.ask(method, path, b"{}" if method != "GET" else None, Content_Type="application/json")
        # What is open to everybody is open to this one, too; all else is closed.
        assert answer.status in (401, 403, 404) or answer.status == bare.status and pattern.startswith(("/v1/models", "/v1/trouble-codes", "/v1/tours", "/v1/tour-visits", "/v1/live", "/v1/tracks")), (method, path, answer.status)
        tried += answer.status == 403
    assert tried >= 10, tried
    for method, path in [("POST", "/v1/readings"), ("POST", "/v1/readings/cars"), ("POST", "/v1/trips"), ("POST", "/v1/scans")]:
        assert app.post("[]", path=path).problem == (403, "scope-missing"), path
    # And no other token opens surveys.
    for scope in ["upload", "read", "account"]:
        other = App(desk.port, desk.certificate, desk.token(scope))
        assert other.hand_in(survey("x")).problem == (403, "scope-missing")
        assert other.get("/v1/species-list?lat=0&lon=0&month=1").problem == (403, "scope-missing")
    assert nobody.hand_in(survey("x")).problem == (401, "token-missing")


def test_an_apps_way_to_the_database_reads_no_table(desk):
    assert tables_readable(desk.login("drover_surveyors")) == []
    with psycopg.connect(desk.login("drover_surveyors"), autocommit=True) as connection:
        for statement in ["SELECT * FROM drover.sighting", "SELECT * FROM drover.surveyor", "SELECT * FROM drover.survey_receipt",
                          "UPDATE drover.survey_receipt SET digest = digest", "SELECT * FROM drover.species_season"]:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


def test_the_broker_is_away_and_the_retry_is_accepted_once(desk, drover, tmp_path):
    broker = Noida(tmp_path / "broker")
    try:
        desk = SurveyDesk(World(drover, desk.servers), tmp_path, brokers=broker.brokers)
        app, site, calls = desk.app(), a_site(), desk.calls()
        assert app.hand_in(survey(site, "s-0")).status == 201
        broker.stop()
        answer = app.hand_in(survey(site))
        assert answer.problem == (503, "broker-away") and int(answer.headers["Retry-After"]) > 0
        assert app.get(f"/v1/surveys/receipts/{site}/s-1").json["state"] == "received"
        # Nor anything else under its id; that nobody waits for the broker from now on: test_uploads.py.
        assert app.hand_in(survey(site)).status == 503
        assert app.hand_in(survey(site, comments="other")).problem == (409, "survey-taken")
        assert fault_of(calls.drover.submitSurvey, app.token, survey(site)) == 503
        assert broker.start()
        def taken():
            answer = app.hand_in(survey(site))
            return answer.status != 503 and answer
        assert until(taken, desk.server).status == 201 and app.hand_in(survey(site)).status == 200
        ids = [s["survey"] for s in desk.logged(site)]
        assert ids.count("s-1") >= 1 and set(ids) <= {"s-0", "s-1"} and len({json.dumps(s) for s in desk.logged(site)}) == len(set(ids))
    finally:
        drover.close()
        broker.stop()


def test_no_survey_is_lost_or_changed_when_the_gateway_is_killed(desk):
    site, token, chance = a_site(), desk.token(), random.Random(7)
    accepted, stop, failures = {}, threading.Event(), []

    def surveyor(number):
        count = 0
        while not stop.is_set():
            body, answer = survey(site, f"k-{number}-{count}", comments=f"{number} {count}"), None
            while answer is None or answer.status == 503:
                try:
                    answer = App(desk.port, desk.certificate, token).hand_in(body)
                except (OSError, http.client.HTTPException):
                    if stop.wait(0.05):
                        return
            if answer.status not in (200, 201):
                return failures.append(answer.json)
            accepted[body["survey"]] = answer.json
            count += 1

    def more(count):
        goal = len(accepted) + count
        until(lambda: len(accepted) >= goal or failures, desk.server)

    threads = [threading.Thread(target=surveyor, args=[n]) for n in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(50 if is_long() else 2):
            more(chance.randrange(1, 20))
            desk.server.kill()
            desk.serve()
        more(4)
    finally:
        stop.set()
    for thread in threads:
        thread.join(HANG_S)
    assert failures == []
    said = {}
    for body in desk.logged(site):
        said.setdefault(body["survey"], set()).add(json.dumps(body, sort_keys=True))
    # What was accepted is on the log, and under each id stands one survey only.
    assert set(accepted) <= set(said) and all(len(bodies) == 1 for bodies in said.values())
    # The worker takes each once, however often it stands on the log.
    worker = desk.world.worker(desk.env, "receipts")
    desk.world.work_off(desk.env)
    worker.stop()
    stored = query(desk.env, "SELECT survey, version, comments FROM drover.survey WHERE site = %s", site)
    assert {row[0] for row in stored} == set(said) and {row[1] for row in stored} == {0}
    assert all(comments == " ".join(id.split("-")[1:]) for id, _, comments in stored)
    app = App(desk.port, desk.certificate, token)
    for id, receipt in random.Random(1).sample(sorted(accepted.items()), min(len(accepted), 20)):
        number, count = id.split("-")[1:]
        assert app.hand_in(survey(site, id, comments=f"{number} {count}")).json == receipt
