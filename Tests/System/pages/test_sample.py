"""The sample as somebody meets it who has started it: who to be, cars on streets, machines in fields, a campus at work."""
import http.client
import json
import math
import re
import shutil
import socket
import time

import psycopg
import pytest
from harness import HANG_S, PAGE_ADDRESS, ROOT, Drover, looked_at, scratch, until
from packed import readings
from people import Visitor
from playwright.sync_api import expect

ROLES = ["fleet manager", "driver", "analyst", "farmer", "dealer", "rider", "ride driver", "dispatcher", "surveyor", "researcher", "ranger", "administrator"]
STREETS = json.loads((ROOT / "Deploy/sample/streets.json").read_text())


@pytest.fixture(scope="module")
def sample(program):
    folder = scratch("drover-sample-")
    drover = Drover(program)
    try:
        # Not `up`, which waits until all is in.
        running = drover.start("up", "--data", folder / "data", "--sample")
        running.page = running.wait_for(PAGE_ADDRESS).group(0)
        running.data, running.port = folder / "data", int(re.search(r":(\d+)/", running.page).group(1))
        yield running
    finally:
        drover.close()
        shutil.rmtree(folder, ignore_errors=True)


def rows(running, statement, *parameters):
    with psycopg.connect(f"host={running.data}/run dbname=drover user=drover_owner", autocommit=True) as connection:
        return connection.execute(statement, parameters).fetchall()


def printed(running):
    """Mail addresses and passwords by role."""
    running.wait_for("Ctrl-C stops everything")
    found = re.findall(r"^  (\w[\w ]+?) +(\S+@sample\.example) +(\S+)$", running.output(), re.M)
    return {role: (mail, password) for role, mail, password in found}


def ask(port, method="GET", path="/sample", body=None, address="127.0.0.1", **headers):
    connection = http.client.HTTPConnection(address, port, timeout=HANG_S)
    connection.putrequest(method, path, skip_host=True)
    headers = {"Host": f"127.0.0.1:{port}", "Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(len(body or "")), **headers}
    for name, value in headers.items():
        if value is not None:
            connection.putheader(name.replace("_", "-"), value)
    connection.endheaders((body or "").encode())
    response = connection.getresponse()
    answer = response.status, response.read().decode(), response.headers
    connection.close()
    return answer


def post(port, account="sample-mia", **headers):
    return ask(port, "POST", body=f"account={account}", **{"Sec_Fetch_Site": "same-origin", **headers})


def test_everybody_is_one_click_away(sample, page, screenshots):
    page.goto(sample.page + "login")
    page.get_by_role("link", name="Try the sample").click()
    page.wait_for_url("**/sample")
    expect(page.get_by_role("heading", level=1)).to_have_text("Be anyone. One click.")
    assert [text.partition("\n")[0].lower() for text in page.locator(".role").all_inner_texts()] == ROLES
    looked_at(page, screenshots, "sample", dark=True)
    page.get_by_role("button", name=re.compile("Mia Korhonen")).click()
    page.wait_for_url(lambda address: "/sample" not in address)
    assert "/login" not in page.url
    for role in ROLES:
        page.goto(sample.page + "sample")
        page.get_by_role("button", name=re.compile(f"^{role}", re.I)).click()
        page.wait_for_url(lambda address: "/sample" not in address)
        page.goto(sample.page + "account")
        expect(page.locator("main")).to_contain_text(re.compile(rf"known as sample-\w+\s+{role}\b", re.I))


def test_passwords_are_printed_once_and_kept_from_others(sample):
    people = printed(sample)
    assert sorted(people) == sorted(ROLES) and len({password for _, password in people.values()}) == len(ROLES)
    file = sample.data / "sample-log-ins"
    assert file.stat().st_mode & 0o777 == 0o600
    kept = dict(line.split() for line in file.read_text().splitlines())
    assert set(kept.values()) == {password for _, password in people.values()}
    # In the database there is nothing that a copy of it could be entered with.
    assert rows(sample, "SELECT count(*), count(password) FROM drover.account WHERE account LIKE 'sample-%%' AND account = ANY (%s)", list(kept)) == [(len(ROLES), 0)]
    mail, password = people["fleet manager"]
    visitor = Visitor(sample.port)
    assert visitor.log_in(mail, password + "x").status == 401
    assert visitor.log_in(mail, password).status == 303 and "sample-mia" in visitor.get("/account").body


@pytest.mark.parametrize("headers", [
    {"Host": "drover.example.org"}, {"Host": "127.0.0.1.example.org"}, {"Host": "10.0.0.7:8080"}, {"Host": "[2001:db8::1]"}, {"X_Forwarded_For": "203.0.113.9"},
    {"Forwarded": "for=203.0.113.9"}, {"X_Real_IP": "127.0.0.1"}, {"Via": "1.1 proxy"}, {"Origin": "https://drover.example.org"},
], ids=lambda headers: " ".join(f"{name} {value}" for name, value in headers.items()))
def test_for_others_there_is_no_such_page_and_no_such_password(sample, headers):
    assert ask(sample.port, **headers)[0] == 404
    status, _, said = post(sample.port, **headers)
    assert status == 404 and "Set-Cookie" not in said
    mail, password = printed(sample)["administrator"]
    status, _, said = ask(sample.port, "POST", "/login", f"mail={mail.replace('@', '%40')}&password={password}", Sec_Fetch_Site="same-origin", **headers)
    # Too many tries, after some of them, is as good a refusal.
    assert status in (401, 429) and "Set-Cookie" not in said
    assert "Try the sample" not in ask(sample.port, path="/login", **headers)[1]


def test_what_asks_as_a_proxy_does_by_itself_is_refused(sample):
    assert ask(sample.port, Connection="close")[0] == post(sample.port, Connection="close")[0] == 404


def test_a_click_is_one_on_the_page_itself(sample):
    for headers in [{"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}, {"Sec_Fetch_Site": None}, {"Sec_Fetch_Site": None, "Origin": "http://127.0.0.1:1"}]:
        status, _, said = post(sample.port, **headers)
        assert status == 403 and "Set-Cookie" not in said, headers
    for account in ["sample-olli", "administrator", ""]:
        assert post(sample.port, account)[0] == 404, account
    status, _, said = post(sample.port, Sec_Fetch_Site=None, Origin=f"http://127.0.0.1:{sample.port}")
    assert status == 303 and "HttpOnly" in said["Set-Cookie"]
    assert rows(sample, "SELECT count(*) FROM drover.audit_entry WHERE action = 'log_in' AND detail LIKE '%%sample%%'")[0][0] >= 1


def metres_to_street(latitude, longitude):
    """To the nearest one of the file."""
    east = 111_320 * math.cos(math.radians(latitude))

    def flat(node):
        return ((STREETS["nodes"][node][1] / 1e7 - longitude) * east, (STREETS["nodes"][node][0] / 1e7 - latitude) * 111_320)

    def away(a, b):
        (x1, y1), (x2, y2) = flat(a), flat(b)
        length = (x2 - x1) ** 2 + (y2 - y1) ** 2
        share = max(0, min(1, -(x1 * (x2 - x1) + y1 * (y2 - y1)) / length)) if length else 0
        return math.hypot(x1 + share * (x2 - x1), y1 + share * (y2 - y1))
    return min(away(a, b) for way in STREETS["ways"] for a, b in zip(way["nodes"], way["nodes"][1:]))


def cars(running):
    """Where each car was when it last said so."""
    found = {}
    for vehicle, minute, samples in rows(running, """SELECT DISTINCT ON (vehicle) vehicle, (extract(epoch FROM minute_at) * 1000)::bigint, samples
            FROM drover.vehicle_minute WHERE vehicle ~ '^(post-van|courier|taxi|truck|service-van|pool-car)-' ORDER BY vehicle, minute_at DESC"""):
        _, last = list(readings(bytes(samples), minute))[-1]
        found[vehicle] = (last["latitude_deg"] / 1e7, last["longitude_deg"] / 1e7)
    return found


def machines(running):
    return {vehicle: place for vehicle, *place in rows(running, """SELECT DISTINCT ON (vehicle) vehicle, latitude_deg, longitude_deg FROM drover.machine_reading
        WHERE contact IS NULL AND latitude_deg IS NOT NULL AND read_at > now() - interval '3 days' ORDER BY vehicle, read_at DESC""")}


@pytest.fixture
def mia(sample):
    visitor = Visitor(sample.port)
    assert visitor.post("/sample", account="sample-mia").status == 303
    return visitor


def test_cars_drive_on_streets(sample):
    before = until(lambda: len(found := cars(sample)) == 8 and found, sample)

    def moved():
        now = cars(sample)
        return [car for car in before if now[car] != before[car]]
    # Each is out for two thirds of its time.
    assert until(lambda: len(found := moved()) >= 2 and found, sample)
    for car, place in [*before.items(), *cars(sample).items()]:
        assert metres_to_street(*place) < 2, (car, place)


def test_machines_work_in_fields_and_one_runs_hot(sample):
    alert = "SELECT severity FROM drover.alert WHERE vehicle = 'north-combine' AND parameter = 'Coolant Temperature' AND state = 'open'"
    until(lambda: ("critical",) in rows(sample, alert), sample)
    before = until(lambda: len(found := machines(sample)) >= 6 and found, sample)
    assert set(before) >= {"north-combine", "south-combine", "hill-tractor", "yard-tractor", "river-sprayer", "old-tractor"}
    for vehicle in ["north-combine", "south-combine", "river-sprayer"]:
        assert 60.355 < before[vehicle][0] < 60.37 and 25.18 < before[vehicle][1] < 25.24
        until(lambda: machines(sample)[vehicle] != before[vehicle], sample)


def test_one_is_silent_one_is_not_monitored_and_one_has_a_service_due(sample, mia):
    sample.wait_for("all of the sample is in")
    # Whatever has said nothing for a day is silent.
    assert rows(sample, "SELECT last_reading_at < now() - interval '1 day' FROM drover.vehicle WHERE vehicle = 'old-tractor'") == [(True,)]
    assert "ot monitored" in mia.get("/vehicles/anna-golf?kind=car").body
    due = "SELECT vehicle, state FROM drover.alert WHERE parameter = 'Engine Hours' AND state IN ('open', 'due_soon') AND vehicle IN ('hill-tractor', 'yard-tractor')"
    until(lambda: sorted(rows(sample, due)) == [("hill-tractor", "due_soon"), ("yard-tractor", "open")], sample, lambda: rows(sample, due))


def test_there_are_drives_of_two_weeks(sample):
    sample.wait_for("all of the sample is in")
    trips = """SELECT count(*), min(start_at) < now() - interval '12 days', max(distance_mm) / 1e6 BETWEEN 5 AND 25
        FROM drover.trip WHERE vehicle IN ('post-van-4', 'post-van-7', 'post-van-12') AND start_at < now() - interval '1 day'"""
    # Seven to eight a day of three cars; just after midnight yesterday's are left out as well.
    until(lambda: (found := rows(sample, trips)[0])[0] > 80 and found[1:] == (True, True), sample, lambda: rows(sample, trips))


def test_the_campus_is_at_work(sample):
    sample.wait_for("all of the sample is in")
    def at_work():
        return rows(sample, """SELECT 1 FROM drover.ride WHERE campus = 'city-campus' AND request LIKE 'live-%%' AND requested_at > now() - interval '1 hour'""")
    until(lambda: len(at_work()) >= 3, sample)
    shuttles = rows(sample, "SELECT latitude_deg, longitude_deg FROM drover.ride_vehicle WHERE campus = 'city-campus' AND state <> 'out'")
    assert len(shuttles) >= 3
    for place in shuttles:
        assert metres_to_street(*place) < 2, place


def test_butterflies_were_counted_and_a_tour_is_published(sample):
    sample.wait_for("all of the sample is in")
    counted = """SELECT count(DISTINCT site), count(DISTINCT species) > 35, count(*) > 1000, bool_and(taxon IS NOT NULL), bool_and(comments IS NULL),
        max(seen_at) < now() FROM drover.sighting"""
    until(lambda: rows(sample, counted) == [(7, True, True, True, True, True)], sample, lambda: rows(sample, counted))
    odd = "SELECT count(*) FROM drover.survey WHERE comments IS DISTINCT FROM 'Invented for the sample.' OR weather_missing > 0"
    until(lambda: rows(sample, odd) == [(0,)], sample, lambda: rows(sample, odd))
    assert rows(sample, "SELECT count(*) FROM drover.rejected WHERE topic IN ('drover.sightings', 'drover.tours')") == [(0,)]
    visitor = Visitor(sample.port)
    assert "Töölönlahti Bay" in visitor.get("/trail-tours/sample-central-park").body
    assert visitor.post("/sample", account="sample-sanna").status == 303
    assert "sample-laakso" in visitor.get("/surveys").body and "Töölönlahti Bay" in visitor.get("/surveys/enter").body
    assert "Gonepteryx rhamni" in visitor.get("/sightings/species").body
    assert visitor.post("/sample", account="sample-petri").status == 303
    assert "Helsinki Central Park" in visitor.get("/tours").body
    until(lambda: rows(sample, "SELECT sum(events) > 50 FROM drover.tour_day WHERE tour = 'sample-central-park'") == [(True,)], sample)


def test_a_port_that_is_taken_is_told_before_anything_is_started(drover, data):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = drover.fails("up", "--data", data, "--sample", "--port", str(port), says=f"--port {port}: something else listens there")
    assert run.seconds < 10 and not (data / "postgres").exists()


def test_whoever_serves_the_folder_without_the_sample_lets_nobody_in(sample, drover):
    """The last test of `sample`: it stops it."""
    people = printed(sample)
    visitor = Visitor(sample.port)
    assert visitor.log_in(*people["administrator"]).status == 303 and visitor.get("/account").status == 200
    assert sample.stop() == 0, sample.output()
    plain = drover.up(sample.data)
    port = int(re.search(r":(\d+)/", plain.page).group(1))
    assert ask(port)[0] == 404 and post(port)[0] == 404
    for role in ["administrator", "fleet manager"]:
        assert Visitor(port).log_in(*people[role]).status == 401
    # Nor by a session from before.
    visitor.port = port
    assert visitor.get("/account").status == 303
    plain.stop()
    again = drover.up(sample.data, "--sample")
    again.wait_for("Ctrl-C stops everything")
    assert people["administrator"][1] not in again.output(), "printed once"
    port = int(re.search(r":(\d+)/", again.page).group(1))
    assert Visitor(port).log_in(*people["administrator"]).status == 303
