"""The page and the report in a real browser, on `drover up` with the sample recordings."""
import json
import re
import signal
import shutil
import urllib.error
import urllib.request
from pathlib import Path

import psycopg
import pytest
from harness import HANG_S, ROOT, Drover, is_long, looked_at, processes_of, scratch, until
from people import PASSWORD, Visitor, first_administrator, lend_cookie
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def running(program):
    folder = scratch("drover-page-")
    drover = Drover(program)
    try:
        running = drover.up(folder / "data", "--sample")
        running.data = folder / "data"
        running.administrator = first_administrator(running)
        yield running
    finally:
        drover.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def page(running, page):
    lend_cookie(running.administrator, page, running.page)
    return page


def get(address, method="GET", visitor=None):
    headers = {"Cookie": visitor.cookie} if visitor else {}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, method=method, headers=headers), timeout=HANG_S) as response:
            return response.status, response.headers, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def test_the_first_page(running, page, screenshots):
    page.goto(running.page)
    assert page.title() == "Home · Drover"
    main = page.locator("main")
    assert [name for name in main.locator("h2").all_inner_texts() if name != "Trips today"] == ["Where everyone is", "Needs attention"]
    assert main.locator("#chips .chip").count() >= 4
    attention = page.locator("#attention")
    assert 1 <= attention.locator(".item").count() <= 7
    # One place at least for each kind of what needs somebody.
    for words in [re.compile(r"Coolant temperature [\d.]+ °C, limit 85 °C"), "No signal since", re.compile(r"Service [\d.]+ engine hours over"), "Not monitored: its driver has switched alerts off"]:
        expect(attention).to_contain_text(words)
    page.get_by_role("link", name="All alerts").click()
    page.wait_for_url("**/alerts")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.locator("main").get_by_role("link", name=re.compile("Services")).click()
    page.wait_for_url("**/alerts?tab=services")
    assert page.locator(".al", has_text="No service recorded").count() >= 5
    page.goto(running.page)
    # Wide tables scroll in their box; the page itself never scrolls sideways.
    looked_at(page, screenshots, "first", dark=True)


def test_cars_of_nobody_are_monitored_from_the_first_start_on(running):
    code, _, body = get(running.page + "limits", visitor=running.administrator)
    assert code == 200 and "Limits of the installation" in body and "They are off" not in body
    assert "Not monitored" not in get(running.page + "vehicles/hot-estate?kind=car", visitor=running.administrator)[2]


def test_by_keyboard_to_a_trip_and_its_days_report(running, page, screenshots):
    page.goto(running.page + "trips?date=2018-02-23")
    for _ in range(90):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.pathname ?? ''").startswith("/trips/seat-leon/"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/trips/seat-leon/*")
    expect(page.locator("h1")).to_contain_text("17:27")
    page.goto(running.page + "reports/fleet-day?date=2018-02-23&zone=UTC")
    expect(page.locator("h1")).to_have_text("Fleet day 2018-02-23")
    expect(page.locator("svg[role=img]")).to_have_attribute("aria-label", "seat-leon, 17:27:02 to 18:12:24: speed in km/h over minutes")
    assert page.locator("svg path").get_attribute("d").count("L") > 300
    looked_at(page, screenshots, "fleet-day")


def test_a_day_with_alerts_in_the_readers_zone(running, page, screenshots):
    page.goto(running.page + "reports/fleet-day?date=2026-09-14&zone=America/New_York")
    expect(page.locator(".critical")).to_have_text("critical")
    # 14:00 UTC is 10:00 in New York, in September.
    expect(page.locator("tr", has_text="Coolant Temperature")).to_contain_text("2026-09-14 10:00")
    looked_at(page, screenshots, "alerts")


def test_addresses_that_are_not_there_and_methods_that_are_not_taken(running):
    for address, method, status in [
        ("nothing", "GET", 404), ("", "POST", 405), ("reports/fleet-day?date=tomorrow", "GET", 400),
        ("reports/fleet-day?date=2026-09-14&zone=Mars", "GET", 400), ("reports/fleet-day?date=2026-09-14&format=exe", "GET", 400),
        ("%2e%2e/etc/passwd", "GET", 400),
    ]:
        code, headers, body = get(running.page + address, method, running.administrator)
        assert (code, headers["Content-Type"]) == (status, "application/problem+json"), body
    assert get(running.page + "healthz")[0] == 200
    first = get(running.page, visitor=running.administrator)
    assert not re.search(r"<script(?![^>]* src=)| style=| on\w+=", first[2]) and "default-src 'none'" in first[1]["Content-Security-Policy"]
    # Nobody is logged in: to the log-in, and back.
    assert "Log in" in get(running.page + "reports/fleet-day?date=2026-09-14")[2]


@pytest.fixture
def said(running, drover):
    """What people say of the sample's machines: a name, a service, that an alert was seen, that one be silent, that one is out of use."""
    login = f"host={running.data}/run dbname=drover user="
    env = {"DROVER_POSTGRES_URL": login + "drover_worker", "DROVER_POSTGRES_READER_URL": login + "drover_web",
           "DROVER_KAFKA_BROKERS": f"127.0.0.1:{(running.data / 'broker.port').read_text().strip()}"}
    for words in [
        ["vehicle", "register", "combine-1", "--name", "Müller's <old> combine"],
        ["vehicle", "register", "combine-2", "--name", "Sold combine", "--disable"],
        ["vehicle", "register", "ordered-1", "--name", "Ordered tractor", "--model", "8R Tractor"],
        ["vehicle", "service", "sprayer-1", "--hours", "1200", "--at", "2026-09-15T00:00:00Z"],
        ["alert", "silence", "--vehicle", "tractor-1", "--until", "2099-01-01T08:30:00Z"],
    ]:
        run = drover.run(*words, "--by", "Anna", env=env)
        assert (run.code, run.err) == (0, "done\n")
    alerts = json.loads(drover.run("alert", "list", "--vehicle", "tractor-1", "--format", "json", env=env).out)
    # A service of the past is judged at the next tick.
    with psycopg.connect(env["DROVER_POSTGRES_URL"], autocommit=True) as connection:
        until(lambda: connection.execute("SELECT count(*) FROM drover.machine_rejudging").fetchone() == (0,))
    [alert] = [each["alert_id"] for each in alerts if each["parameter"] == "Engine Hours"]
    drover.done("alert", "acknowledge", alert, "--by", "Jo <b>", "--at", "2026-11-21T08:15:00Z", env=env)


def test_the_pages_show_what_people_have_said(running, said, page, screenshots):
    def alert(path, vehicle, title):
        page.goto(running.page + path)
        row = page.locator(".al", has=page.get_by_role("link", name=vehicle, exact=True)).filter(has_text=title)
        return {part: row.locator(f".{part}").inner_text() for part in ("sevp", "when", "who")}
    assert alert("alerts?tab=services", "sprayer-1", "Service")["sevp"] == "Due soon"
    service = alert("alerts?tab=services", "tractor-1", "Service")
    assert "since 14 Sep 00:00" in service["when"] and service["who"] == "Jo <b>\nacknowledged 21 Nov 08:15, muted until 1 Jan 2099 08:30"
    call = alert("alerts", "tractor-1", "No call-in")
    assert "since 20 Sep 18:50" in call["when"] and call["who"] == "Nobody\nnot acknowledged, muted until 1 Jan 2099 08:30"
    page.goto(running.page + "alerts")
    expect(page.get_by_role("link", name="Müller's <old> combine", exact=True).first).to_be_visible()
    page.goto(running.page + "vehicles")
    vehicles = page.get_by_role("region", name="Vehicles", exact=True)

    def cells(row):
        return [text.strip() for text in row.locator("td").all_inner_texts()]
    named = cells(vehicles.locator("tr", has_text="combine-1"))
    assert named[0] == "Müller's <old> combine\ncombine-1" and "Disabled" not in named[1]
    assert cells(vehicles.locator("tr", has_text="ordered-1")) == ["Ordered tractor\nordered-1", "Silent", "8R Tractor", "", "–", "never", ""]
    # Who is out of use is there for those who ask, at the end.
    expect(vehicles.locator("tr", has_text="Sold combine")).to_have_count(0)
    page.get_by_label("Disabled, too").check()
    page.wait_for_url("**/vehicles?*disabled=1*")
    expect(vehicles.locator("tr", has_text="Sold combine")).to_have_count(1)
    assert cells(vehicles.locator("tbody tr").last)[:2] == ["Sold combine\ncombine-2", "Disabled"]
    looked_at(page, screenshots, "said")


def test_a_second_copy_beside_it_other_commands_and_a_kill(running, drover, data):
    other = drover.up(data)
    assert other.page != running.page
    assert get(other.page)[0] == get(running.page)[0] == 200

    # Other commands find its servers by the file that it makes at each start, which names every login.
    settings = Path(data) / "drover.yaml"
    assert f"--settings {settings}" in other.output() and settings.stat().st_mode & 0o777 == 0o600
    run = drover.run("check", "--settings", settings)
    logins = dict(re.findall(r"^postgres\.(\w+): ok, (\w+), in (?:\w+)$", run.out, re.M))
    assert run.code == 0 and logins == {
        "reader_url": "drover_web", "page_url": "drover_pages", "query_url": "drover_asker", "relay_url": "drover_notify", "gateway_url": "drover_poller",
        "survey_url": "drover_surveyors", "debug_url": "drover_developer"}, run.out
    account = drover.run("account", "add", "ada", "--mail", "ada@example.org", "--role", "fleet_manager", "--settings", settings)
    assert account.code == 0 and other.page.rstrip("/") in account.out + account.err, (account.out, account.err)
    # A key for second factors, and so no codes that nobody would mail.
    key = (data / "code-key").read_bytes()
    assert len(key) == 32 and (data / "code-key").stat().st_mode & 0o777 == 0o600
    assert "\nmail: ok, none goes out, no codes for people\n" in run.out, run.out
    # A login that is there but not the one meant.
    wrong = f"postgres.page_url=host={data}/run dbname=drover user=drover_notify"
    run = drover.run("check", "--settings", settings, "--set", wrong)
    assert run.code == 1 and "drover_notify is not in the role drover_page" in run.out, run.out

    # Killed, it is cleaned up by the next start.
    other.kill()
    once = ["up", "--data", data, "--sample", "--once"]
    first = drover.done(*once)
    assert (data / "code-key").read_bytes() == key
    # The emulated campus's day was played to its end.
    rides = dict(re.findall(r"^(\w+) +(\d+)", first.out[first.out.index("Rides at city-campus"):], re.M))
    assert int(rides["done"]) > 25 and int(rides["cancelled"]) > 2 and not {"queued", "assigned", "on_board"} & set(rides), rides
    if is_long():
        killed = drover.up(data)
        killed.kill()
        again = drover.run(*once)
        assert (again.code, again.out) == (0, first.out), again.err
    until(lambda: processes_of(data) == [])


def test_a_second_factor_can_be_tried_and_codes_of_the_campus_say_what_is_missing(running, drover):
    settings = running.data / "drover.yaml"
    factor = running.administrator.get("/account/second-factor")
    assert factor.status == 200 and ">Set up</button>" in factor.body
    shown = running.administrator.post("/account/second-factor/begin", form=running.administrator.mark(), old=PASSWORD)
    assert shown.status == 200 and "otpauth://totp/Drover:root%40example.org?" in shown.body
    added = drover.done("account", "add", "rita", "--mail", "rita@example.org", "--role", "rider", "--settings", settings)
    rita = Visitor(running.administrator.port)
    assert rita.post("/password", link=added.out.strip().partition("link=")[2], password=PASSWORD, again=PASSWORD).status == 200
    assert rita.log_in("rita@example.org").status == 303
    asked = rita.post("/campus-code", form=rita.mark(), role="rider", campus="city-campus", id="rita-1")
    for answer, status in [(rita.get("/ride"), 200), (asked, 503)]:
        assert answer.status == status and "This server mails no codes: mail.server is not set." in answer.body
        assert "Your campus has not added you yet" in answer.body and "Send code" not in answer.body


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_rule_that_is_saved_on_a_page_leaves_the_checkout_as_it_was(running):
    shipped, own = ROOT / "Deploy/thresholds", running.data / "thresholds"
    assert f"rules are changed in {own}" in running.output()
    before, boss = files(shipped), running.administrator
    assert files(own) == before
    address = "/thresholds/models/8R%20Tractor/Fuel%20Level"
    [based_on] = re.findall(r'name="based_on" value="(\w+)"', boss.get(address).body)
    saved = boss.post(address, form=boss.mark(), based_on=based_on, test="below", threshold="51", clear="54", unit="gallons", type="int", user="farmer", capacity="190",
                      anyway="1", do="save", advice="Fill it up")
    try:
        assert (saved.status, saved.headers["Location"]) == (303, "/thresholds/models/8R%20Tractor?said=published"), saved.body
        assert files(shipped) == before, "the checkout was written to"
        changed = {name for name, text in files(own).items() if text != before[name]}
        assert changed == {Path("8R Tractor-thresholds.xml")} and own.stat().st_mode & 0o077 == 0
        assert f'thresholds_dir: "{own}"' in (running.data / "drover.yaml").read_text()
    finally:
        for name, text in before.items():
            if (shipped / name).read_bytes() != text:
                (shipped / name).write_bytes(text)


BOXES = ["hill-tractor", "north-combine", "river-sprayer", "south-combine", "yard-tractor"]


def minutes_of_boxes(data, running, offset=0):
    """The minutes of each polled box's readings and the records read, once that many more than `offset` have been."""
    with psycopg.connect(f"host={data}/run dbname=drover user=drover_owner", autocommit=True) as connection:
        def found():
            rows = connection.execute(
                """SELECT vehicle, array_agg(DISTINCT extract(epoch FROM read_at)::bigint / 60)
                   FROM drover.machine_reading WHERE vehicle = ANY (%s) AND contact IS NULL GROUP BY 1 ORDER BY 1""", [BOXES]).fetchall()
            records = connection.execute("SELECT sum(next_offset) FROM drover.partition_progress WHERE topic = 'drover.machines'").fetchone()[0]
            return len(rows) == len(BOXES) and records >= offset + 60 * len(BOXES) and (dict(rows), records)
        return until(found, running)


@pytest.mark.long(reason="two more starts with the sample; test_gateway.py kills a gateway")
def test_up_polls_boxes_without_machines_also_after_a_kill(drover, data):
    first = drover.up(data, "--sample")
    minutes, records = minutes_of_boxes(data, first)
    first.kill()
    again = drover.up(data, "--sample")
    # The boxes are asked again for all that they have; what was known counts once.
    after, _ = minutes_of_boxes(data, again, records)
    for box in BOXES:
        assert after[box] == list(range(minutes[box][0], after[box][-1] + 1)), box
    assert again.stop() == 0, again.output()
    assert processes_of(data) == []
    assert "no contact" not in again.output()


def test_boxes_without_machines_are_polled_and_ctrl_c_stops_every_child(running):
    """The last test of `running`: it stops it."""
    minutes, _ = minutes_of_boxes(running.data, running)
    for box in BOXES:
        assert minutes[box] == list(range(minutes[box][0], minutes[box][-1] + 1)), box
    assert len(processes_of(running.data)) > 2
    running.signal(signal.SIGINT)
    assert running.wait() == 0, running.output()
    assert processes_of(running.data) == []
