"""Ready queries on the web: found, filled in, answered with what the asker may see, taken along and sent to somebody."""
import csv
import io
import json
import re
import urllib.parse
import urllib.request
import zipfile
from xml.etree import ElementTree

import pytest
from analysis import ROLES, fill
from harness import HANG_S, ROOT, looked_at
from people import Visitor, add_account, enter, follow, logged_in
from playwright.sync_api import expect
from world import as_served, connect, query



@pytest.fixture(scope="module")
def desk(world, fixtures):
    desk = Desk(world, fill(world, fixtures))
    yield desk
    desk.server.stop()


class Desk:
    def __init__(self, world, env):
        self.world, self.env = world, env
        self.server, self.port = self.serve()
        self.address = f"http://127.0.0.1:{self.port}"
        self.people = {account: self.person(account) for account in ROLES if ROLES[account]}

    def serve(self, *settings):
        server = self.world.drover.start("serve", "--port", "0", *settings, env=as_served(self.env))
        return server, server.page_port

    def person(self, account):
        add_account(self.env, account, *ROLES[account])
        return logged_in(self.port, account)

    def ask(self, account, query, status=200, **values):
        path = f"/queries/{query}?" + urllib.parse.urlencode({key.rstrip("_"): value for key, value in values.items()})
        answer = self.people[account].get(path)
        assert answer.status == status, answer.body
        return answer


def names(body):
    return re.findall(r'<li><a class="item" href="/queries/([\w/]+)">', body)


def test_each_role_finds_its_areas(desk):
    every = {f"{path.parent.name}/{path.stem}" for path in (ROOT / "Queries").glob("*/*.sql")
             if path.parent.name in ("machines", "cars", "dispatch", "tours", "joint", "sightings")} - {"sightings/to_review"}
    def areas(account):
        found = names(desk.people[account].get("/queries").body)
        assert set(found) <= every and len(found) == len(set(found))
        return sorted({name.split("/")[0] for name in found})
    assert areas("root") == ["cars", "dispatch", "joint", "machines", "sightings", "tours"] and set(names(desk.people["root"].get("/queries").body)) == every
    assert areas("anna") == ["cars", "joint", "machines", "sightings", "tours"]
    assert areas("walker") == ["sightings"] and areas("disp") == ["dispatch", "joint"] and areas("rita") == ["tours"]
    # What is for programs of the installation only is no page's.
    assert desk.people["root"].get("/queries/sightings/to_review").status == 404
    assert desk.people["root"].get("/queries/reports/alerts").status == 404


def test_every_query_is_answered_in_a_page_as_in_the_command(desk):
    given = {"species": "Papilio demodocus", "site": "site-1", "year": "2026", "latitude": "-3.4", "longitude": "40", "month": "9", "tour": "gorge", "from": "2010-01-01", "to": "2026-09-30"}
    for name in names(desk.people["root"].get("/queries").body):
        form = desk.people["root"].get(f"/queries/{name}").body
        fields = re.findall(r'<(?:input|select) id="p-(\w+)"', form)
        values = {field: given[field] for field in fields if field in given}
        page = desk.ask("root", name, format="", **values).body
        taken = desk.ask("root", name, format="csv", **values)
        run = desk.world.drover.run("query", name, *[f"{key}={value}" for key, value in values.items()], "--format", "csv", env=desk.env)
        assert run.code == 0 and taken.body.replace("\r\n", "\n") == run.out.replace("\r\n", "\n"), name
        rows = list(csv.reader(io.StringIO(run.out)))
        assert page.count("<tr>") == (len(rows) if len(rows) > 1 else 0), name
        assert taken.headers["Content-Disposition"] == f'attachment; filename="{name.replace("/", "-")}.csv"'


def test_a_query_answers_as_it_is_opened_and_that_is_noted(desk):
    def noted():
        told = query(desk.env, "SELECT detail FROM drover.audit_entry e JOIN drover.audit_name n ON n.digest = e.actor WHERE e.action = 'query_run' AND n.said = 'rita'")
        return [detail for detail in (json.loads(text) for text, in told) if detail["query"].startswith("tours/") and "from" in detail]
    query(desk.env, "INSERT INTO drover.tour_day VALUES ('fresh', 'visit', 'w', current_date - 1, 7), ('stale', 'visit', 'w', current_date - 40, 7)")
    try:
        before = len(noted())
        page = desk.people["rita"].get("/queries/tours/by_month").body
        assert "<td>fresh</td>" in page and "<td>stale</td>" not in page
        first = re.search(r'id="p-from" name="from" type="date" value="([\d-]+)"', page).group(1)
        assert f"/queries/tours/by_month?from={first}&amp;to=" in page and "format=csv" in page
        assert '<a class="chip" href="/queries/tours/by_month?from=' + first in page and 'aria-current="true">Last 30 days</a>' in page
        assert [detail["from"] for detail in noted()[before:]] == [first] and noted()[-1]["query"] == "tours/by_month"
        # What must be said is asked for first, and nothing ran.
        assert 'id="answer"' not in desk.people["rita"].get("/queries/tours/funnel").body and len(noted()) == before + 1
    finally:
        query(desk.env, "DELETE FROM drover.tour_day WHERE tour IN ('fresh', 'stale')")


def test_an_answer_leads_with_what_it_adds_up_to_in_the_readers_units(desk):
    page = desk.ask("root", "cars/most_fuel", format="").body
    assert page.index('class="tiles"') < page.index('class="bars-by"') < page.index("<table")
    heads = re.findall(r'<th scope="col"[^>]*>([^<]*)</th>', page)
    assert heads == ["Vehicle", "Distance, km", "Fuel, L", "Consumption, L/100 km"]
    # Things have the names that people gave them; the id is there for who points at it, and in files.
    query(desk.env, "INSERT INTO drover.registration (kind, vehicle, topic_partition, registered_at, record_id, name) VALUES ('machine', 'combine-1', 0, now(), 'named', 'Old <Faithful>') "
          "ON CONFLICT (kind, vehicle) DO UPDATE SET name = excluded.name")
    assert '<td title="combine-1">Old &lt;Faithful&gt;</td>' in desk.ask("root", "machines/since_service", format="").body
    assert "combine-1," in desk.ask("root", "machines/since_service", format="csv").body
    # Files have the columns as they are stored.
    assert desk.ask("root", "cars/most_fuel", format="csv").body.splitlines()[0] == "vehicle,km,fuel_l,l_per_100km,mpg_us"


def test_people_get_what_they_may_see_and_an_address_can_be_sent(desk):
    north = {row[0] for row in query(desk.env, "SELECT vehicle FROM drover.fleet_vehicle WHERE fleet = 'north'")}
    machines = {row[0] for row in query(desk.env, "SELECT vehicle FROM drover.vehicle WHERE kind = 'machine'")}
    def vehicles(account, **values):
        return {row["vehicle"] for row in json.loads(desk.ask(account, "machines/hours_by_month", format="json", **values).body)}
    assert vehicles("anna") == vehicles("boss") == machines & north and vehicles("root") == machines
    assert vehicles("root", fleet="north") == machines & north and vehicles("anna", fleet="south") == set()
    assert vehicles("walker") == set() == vehicles("disp")
    # The same address, another asker.
    address = "/queries/cars/idle_share?from=2010-01-01&to=2026-09-30&fleet="
    assert desk.people["boss"].get(address).body.count("<tr>") < desk.people["root"].get(address).body.count("<tr>")
    assert "No rows." in desk.people["walker"].get(address).body
    # An empty answer says what was asked, and offers more time.
    empty = desk.people["root"].get("/queries/cars/idle_share?from=2010-01-01&to=2010-01-02&fleet=").body
    assert "First day: 2010-01-01 · Last day: 2010-01-02" in empty and '<a class="btn" href="/queries/cars/idle_share?from=' in empty
    # Places of sensitive species are told to nobody here.
    told = desk.ask("root", "sightings/latest_of_species", format="json", species="Papilio demodocus").body
    assert {row["latitude_deg"] for row in json.loads(told)} == {-3.35, -3.3781} and {row["site"] for row in json.loads(told) if row["latitude_deg"] == -3.3781} == {"site-1"}


def test_files_hold_all_rows_and_spreadsheets_are_read_by_others(desk):
    query(desk.env, "INSERT INTO drover.tour_day SELECT 'long', 'visit', 'w', date '1990-01-01' + n, 1 FROM generate_series(1, 18000) n")
    try:
        page = desk.ask("rita", "tours/by_month", format="").body
        assert "The first 500 rows. Files have all of them." in page and page.count("<tr>") == 501
        rows = json.loads(desk.ask("rita", "tours/by_month", format="json").body)
        assert len(rows) > 550
    finally:
        query(desk.env, "DELETE FROM drover.tour_day WHERE tour = 'long'")
    # A workbook is no text: without the visitor.
    request = urllib.request.Request(f"{desk.address}/queries/tours/funnel?tour=gorge&format=xlsx", headers={"Cookie": desk.people["rita"].cookie})
    with urllib.request.urlopen(request, timeout=HANG_S) as answer:
        book = zipfile.ZipFile(io.BytesIO(answer.read()))
    assert book.testzip() is None
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    sheet = [["".join(cell.itertext()) for cell in row] for row in ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml")).iter(f"{space}row")]
    numbers = [[cell.get("t") is None for cell in row] for row in ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml")).iter(f"{space}row")]
    told = list(csv.reader(io.StringIO(desk.ask("rita", "tours/funnel", tour="gorge", format="csv").body)))
    # The library writes 16 digits; programs for sheets show 15.
    shown = lambda text: f"{float(text):.15g}" if re.fullmatch(r"-?[\d.]+", text) else text
    assert [list(map(shown, row)) for row in sheet] == [[shown(text) for text in line if text] for line in told] and len(sheet) == 5
    assert numbers[1][:3] == [True, False, True]


def test_what_cannot_be_asked_is_said(desk):
    page = desk.ask("anna", "cars/utilisation", status=400, from_="x", wrong="1").body
    assert 'role="alert"' in page and "from=x: must be a day, like 2026-11-22" in page and "to is missing" in page and "wrong is none of its parameters" in page
    page = desk.ask("anna", "cars/sharp_braking", status=400, zone="Mars/Base").body
    assert "PostgreSQL cannot take one of these values" in page and "Mars/Base" in page
    assert desk.ask("anna", "cars/sharp_braking", status=400, zone="Mars/Base", format="csv").headers["Content-Type"] == "application/problem+json"
    assert desk.ask("anna", "cars/idle_share", status=400, format="exe").headers["Content-Type"] == "application/problem+json"
    # Nothing of a value becomes a part of the statement or of the page.
    for hostile in ["' OR true --", "north'; DROP TABLE drover.trip; --", "\\"]:
        assert "No rows." in desk.ask("root", "cars/idle_share", fleet=hostile).body
    body = desk.ask("root", "sightings/behaviour", species="<script>alert(1)</script>").body
    assert "<script>alert" not in body and "&lt;script&gt;" in body


def test_what_takes_too_long_ends_and_the_next_is_answered(desk):
    server, port = desk.serve("--set", "web.query_s=2")
    rita = Visitor(port)
    rita.cookie = desk.people["rita"].cookie
    with connect(desk.env) as owner:
        # Somebody holds the table: the question waits as a long one would run.
        owner.execute("BEGIN; LOCK TABLE drover.tour_day IN ACCESS EXCLUSIVE MODE")
        answer = rita.get("/queries/tours/by_month?format=")
        assert answer.status == 400 and "took longer than 2 s" in answer.body
        owner.execute("ROLLBACK")
    # That one has its time again.
    assert desk.ask("rita", "tours/by_month", format="").status == 200
    assert rita.get("/queries").status == 200
    server.stop()


def test_a_question_in_the_browser(desk, page, screenshots, watch):
    enter(page, desk.address, "anna", "/queries")
    expect(page).to_have_title("Queries · Drover")
    looked_at(page, screenshots, "list")
    follow(page, page.get_by_role("link", name="How much of its engine time did each car idle, month by month?"))
    expect(page.get_by_label("Fleet", exact=True).locator("option")).to_have_text(["All", "North"])
    page.get_by_label("First day").fill("2010-01-01")
    page.get_by_label("Fleet", exact=True).select_option("north")
    # By keyboard alone.
    page.get_by_role("button", name="Run").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**fleet=north")
    expect(page.get_by_role("status")).to_have_text(re.compile(r"rows$"))
    rows = page.locator("tbody tr").count()
    assert rows > 2
    expect(page.get_by_label("First day")).to_have_value("2010-01-01")
    looked_at(page, screenshots, "answer")
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    with open(download.value.path()) as file:
        assert len(list(csv.DictReader(file))) == rows
    watch.forgive()  # A download ends the navigation to it.
