"""A day of drivers and fleet managers in a real browser: the first page, reports and their files, drives of one route compared,
a drive while it lasts, a car's health."""
import csv
import http.client
import io
import itertools
import json
import os
import random
import re
import subprocess
import time
from datetime import datetime, timezone

import openpyxl
import pytest
from harness import HANG_S, is_long, lent, looked_at, now_ms, until
from people import PASSWORD, enter, follow, logged_in
from playwright.sync_api import expect
from test_accounts import Site
from world import Asked, connect, query

NIGHT_MS = int(datetime(2026, 10, 24, 22, tzinfo=timezone.utc).timestamp() * 1000)


@pytest.fixture(scope="module")
def fleet(world, tmp_path_factory, fixtures):
    yield from lent(Fleet(world, tmp_path_factory.mktemp("drives"), fixtures))


class Fleet(Asked):
    """The recorded drives of one car, commutes of another; its manager, a driver, and people without vehicles."""

    def __init__(self, world, folder, fixtures):
        self.world, self.env = world, world.database()
        self.folder = fixtures / "cars" / "kit-seat-leon"
        # Two of them are of the same hour: one car cannot drive both.
        self.files = [file for file in sorted(self.folder.glob("*.1hz.csv")) if "Beschleunigung" not in file.name]
        for file in self.files:
            world.drover.done("import", "cars", file, "--vehicle", "seat-leon", env=self.env)
        self.worker = world.worker(self.env, "drives")
        world.work_off(self.env)
        self.site = Site(world, self.env, None, folder, has_mail=False)
        self.address = f"http://127.0.0.1:{self.site.port}"
        for account, roles in [("manager", ["fleet_manager"]), ("root", ["administrator", "operator", "ranger", "researcher", "dispatcher"]), ("anna", ["driver"]),
                               ("sam", ["surveyor"]), ("rita", ["rider"]), ("wanja", ["ranger"]), ("nobody", [])]:
            self.site.with_account(account, f"{account}@example.org", PASSWORD, *roles)
        query(self.env, "INSERT INTO drover.fleet (fleet, name) VALUES ('north', 'North <cars>'), ('south', 'South')")
        query(self.env, "INSERT INTO drover.fleet_vehicle VALUES ('north', 'car', 'seat-leon'), ('north', 'car', 'chip'), ('north', 'car', 'golf')")
        query(self.env, "INSERT INTO drover.fleet_member VALUES ('north', 'manager')")

    def expected(self):
        with open(self.folder / "expected.csv") as file:
            return {row["file"]: row for row in csv.DictReader(file) if row["gap_s"] == "5"}

    def push(self, *records):
        self.world.push("drover.cars", *records)

    def enter(self, page, who="manager", to="/"):
        enter(page, self.address, who, to)

    def entered(self, who):
        return logged_in(self.site.port, who)

    def command(self, *words):
        """The bytes of a report, as the command writes them."""
        run = subprocess.run([self.world.drover.program, "report", *words], capture_output=True, timeout=HANG_S, env={**os.environ, **self.env})
        assert run.returncode == 0, run.stderr
        return run.stdout

    def close(self):
        try:
            self.site.close()
        finally:
            self.worker.stop()


def raw(visitor, path):
    """Status, type and the very bytes."""
    connection = http.client.HTTPConnection("127.0.0.1", int(visitor.port), timeout=HANG_S)
    connection.request("GET", path, headers={"Cookie": visitor.cookie})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.headers, body


def spreadsheet(file):
    """Rows of each sheet by its name, cells by their column, as openpyxl reads them."""
    book = openpyxl.load_workbook(io.BytesIO(file))
    return {sheet.title: [{cell.column_letter: float(cell.value) if isinstance(cell.value, (int, float)) else cell.value for cell in row if cell.value is not None}
                          for row in sheet.iter_rows()] for sheet in book.worksheets}


@pytest.mark.parametrize("who, there, absent", [
    ("manager", ["Where everyone is", "Needs attention", "Trips today"], "Tours"),
    ("wanja", ["Welcome", "Your pages"], "Trips"), ("sam", ["Welcome", "Your pages"], "Map"), ("rita", ["Welcome", "Your pages"], "Map"), ("nobody", [], "Map")])
def test_everybody_has_a_first_page(fleet, page, screenshots, who, there, absent):
    fleet.enter(page, who, "/home")
    expect(page.locator("h1")).to_have_text(re.compile("^Good " if who == "manager" else "First steps"))
    expect(page.locator("main h2")).to_have_text(there)
    links = page.get_by_role("navigation", name="Main", exact=True).get_by_role("link")
    expect(links.first).to_have_text("Home")
    assert absent not in links.all_inner_texts()
    # Each of its links leads somewhere that this account may go.
    visitor = fleet.entered(who)
    for address in page.locator("main a, nav a").evaluate_all("links => links.map((link) => link.getAttribute('href'))"):
        assert visitor.get(address).status in ((200, 303) if address == "/" else (200,)), address
    if who == "nobody":
        expect(page.locator("main")).to_contain_text("Your account has no role yet")
    if who in ("manager", "sam"):
        looked_at(page, screenshots, "first", dark=who == "manager")


def test_a_fleet_managers_way_from_log_in_to_a_report_and_its_files(fleet, page, screenshots):
    fleet.enter(page)
    page.get_by_role("navigation").get_by_role("link", name="Reports").click()
    page.wait_for_url("**/reports")
    looked_at(page, screenshots, "reports")
    page.get_by_label("Report", exact=True).select_option("Trips")
    page.get_by_label("Day", exact=True).fill("2018-02-20")
    page.get_by_label("Fleet", exact=True).select_option("North <cars>")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**/reports?*report=trips*")
    expect(page.locator("h2").filter(has_text=re.compile("^Trips of 2018-02-20, fleet north$"))).to_have_count(1)
    wanted = fleet.expected()["2018-02-20_Seat_Leon_KA_KA_Frei.1hz.csv"]
    trips = page.get_by_role("region", name="Trips", exact=True).locator("tbody tr")
    expect(trips).to_have_count(1)
    cells = trips.locator("td").all_inner_texts()
    # Figures of the day as somebody else has worked them out.
    assert float(cells[5]) == pytest.approx(float(wanted["distance_km"]), abs=0.051)
    assert float(cells[7]) == pytest.approx(float(wanted["max_speed_kmh"]), abs=0.5)
    assert float(cells[11]) == pytest.approx(float(wanted["fuel_gal"]) * 3.785411784, abs=0.0051)
    assert (int(cells[9]), int(cells[10])) == (int(wanted["sharp_accel"]), int(wanted["sharp_brake"]))
    looked_at(page, screenshots, "report-trips")

    words, made, manager = ["trips", "--date", "2018-02-20", "--fleet", "north"], {}, fleet.entered("manager")
    for name, form in [("CSV", "csv"), ("JSON", "json"), ("XLSX", "xlsx"), ("PDF", "pdf"), ("HTML", "html")]:
        link = page.get_by_role("link", name=name, exact=True).get_attribute("href")
        status, headers, body = raw(manager, link)
        made[form] = fleet.command(*words, "--format", form)
        assert status == 200 and body == made[form], form
        assert body == raw(manager, link)[2], "run again it is the same"
        if form != "html":
            assert headers["Content-Disposition"] == f'attachment; filename="trips-2018-02-20-fleet-north.{form}"'
    [row] = csv.DictReader(io.StringIO(made["csv"].decode()))
    [thing] = json.loads(made["json"])["trips"]
    header, only = spreadsheet(made["xlsx"])["Trips"]
    columns = {text: place for place, text in header.items()}
    for key in ("distance_km", "fuel_us_gal", "average_mpg", "max_coolant_c"):
        assert float(row[key]) == thing[key] == only[columns[key]], key
    assert float(row["average_mpg"]) == pytest.approx(float(wanted["avg_mpg"]), abs=0.02)
    assert only[columns["vehicle"]] == "seat-leon" and only[columns["start"]] == row["start"]


def test_a_report_of_what_is_not_there_says_so(fleet):
    """It was empty, as if nothing had been."""
    manager, query = fleet.entered("manager"), "date=2018-02-11&span=month"
    for path, says in (("report=fuel&of=seat-lion", "there is no vehicle seat-lion that you may see"), ("report=trips&fleet=nort", "there is no fleet nort")):
        answer = manager.get(f"/reports?{path}&{query}")
        assert answer.status == 400 and says in answer.body and "No trip began" not in answer.body
    # Whoever sees none of it is told the same.
    assert raw(fleet.entered("anna"), f"/reports/fuel?of=seat-leon&{query}&format=csv")[0] == 404
    for words, says in ((["--vehicle", "seat-lion"], "there is no vehicle seat-lion"), (["--fleet", "nort"], "there is no fleet nort")):
        run = fleet.world.drover.run("report", "fuel", "--date", "2018-02-11", *words, env=fleet.env)
        assert (run.code, run.out) == (1, "") and says in run.err, run.err


def test_fuel_of_a_month_adds_up(fleet):
    manager = fleet.entered("manager")
    status, _, body = raw(manager, "/reports/fuel?date=2018-02-11&span=month&format=json")
    report = json.loads(body)
    assert status == 200 and (report["date"], report["zone"], report["units"]) == ("2018-02-01/2018-02-28", "UTC", "metric")
    month = {name: row for name, row in fleet.expected().items() if name.startswith("2018-02") and fleet.folder / name in fleet.files}
    assert sum(row["trips"] for row in report["rows"]) == report["sums"]["trips"] == len(month) == 3
    assert report["sums"]["fuel_l"] == pytest.approx(sum(float(row["fuel_gal"]) for row in month.values()) * 3.785411784, rel=0.001)
    assert report["sums"]["distance_km"] == pytest.approx(sum(float(row["distance_km"]) for row in month.values()), rel=0.001)
    assert report["sums"]["consumption_l_per_100km"] == pytest.approx(report["sums"]["fuel_l"] / report["sums"]["distance_km"] * 100, rel=1e-6)
    # The page begins with the sums.
    page = raw(manager, "/reports?report=fuel&date=2018-02-11&span=month")[2].decode()
    assert "<li>Trips<b>3</b></li>" in page and page.index('class="tiles"') < page.index("<table")
    us = json.loads(raw(manager, "/reports/fuel?date=2018-02-11&span=month&units=us&format=json")[2])
    assert us["sums"]["fuel_us_gal"] == pytest.approx(report["sums"]["fuel_l"] / 3.785411784, rel=1e-5)
    assert us["sums"]["consumption_mpg"] == pytest.approx(us["sums"]["distance_mi"] / us["sums"]["fuel_us_gal"], rel=1e-5)
    # On the page the sums come first, under the month's name.
    page = raw(manager, "/reports/fuel?date=2018-02-11&span=month&format=html")[2].decode()
    assert "<h1>Fuel February 2018</h1>" in page and f"<li>Trips<b>{len(month)}</b></li>" in page
    assert page.index("<li>Consumption<b>") < page.index("Rows: ")
    # Of one fleet, of another one that is not hers, of one vehicle.
    assert json.loads(raw(manager, "/reports/fuel?date=2018-02-11&span=month&fleet=north&format=json")[2])["sums"] == report["sums"]
    status, _, body = raw(manager, "/reports/fuel?date=2018-02-11&span=month&fleet=south&format=json")
    assert (status, json.loads(body)["detail"]) == (404, "there is no fleet south with vehicles that you may see.")
    assert json.loads(raw(manager, "/reports/fuel?date=2018-02-11&span=month&of=golf&format=json")[2])["rows"] == []


@pytest.mark.parametrize("query, date, since, until", [
    ("date=2025-10-26&zone=Europe/Berlin", "2025-10-26", "2025-10-25T22:00:00Z", "2025-10-26T23:00:00Z"),
    ("date=2025-03-30&zone=Europe/Berlin", "2025-03-30", "2025-03-29T23:00:00Z", "2025-03-30T22:00:00Z"),
    ("date=2026-11-22&span=week", "2026-11-16/2026-11-22", "2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z"),
    ("date=2024-02-29&span=month&zone=America/New_York", "2024-02-01/2024-02-29", "2024-02-01T05:00:00Z", "2024-03-01T05:00:00Z"),
    ("date=2025-12-31&span=month", "2025-12-01/2025-12-31", "2025-12-01T00:00:00Z", "2026-01-01T00:00:00Z"),
    ("date=2025-12-30&until=2026-01-02&span=range", "2025-12-30/2026-01-02", "2025-12-30T00:00:00Z", "2026-01-03T00:00:00Z")])
def test_days_weeks_and_months_are_those_of_the_calendar(fleet, query, date, since, until):
    report = json.loads(raw(fleet.entered("manager"), f"/reports/fuel?{query}&format=json")[2])
    assert (report["date"], report["from"], report["to"]) == (date, since, until)


REPORTS = ["fleet-day", "trips", "fuel", "alerts", "maintenance", "dispatch-day", "survey-day", "tour-visits"]


def fill(fleet):
    """Rows of surveys, tours, machines and rides, one day of each."""
    with connect(fleet.env) as connection:
        if connection.execute("SELECT 1 FROM drover.tour_day").fetchone():
            return
        connection.execute("INSERT INTO drover.tour_day VALUES ('gorge', 'visit', 'bridge <1>', '2026-05-14', 12), ('gorge', 'download', '', '2026-05-14', 3), ('gorge', 'visit', 'bridge <1>', '2026-05-15', 2)")
        connection.execute("""INSERT INTO drover.survey (site, survey, version, account, submitted_by, submitted_at, site_name, started_at, stopped_at, utc_offset_min, local_date,
                           distance_m, weather_missing, needs_review, sightings, individuals, topic_partition) VALUES
                           ('=Forest', 's-1', 0, 'sam', 't', now(), NULL, '2026-05-14T06:00Z', '2026-05-14T07:30Z', 180, '2026-05-14', 2500, 0, false, 7, 19, 0),
                           ('=Forest', 's-2', 0, 'sam', 't', now(), NULL, '2026-05-14T08:00Z', '2026-05-14T08:30Z', 180, '2026-05-14', 500, 0, true, 1, 1, 0)""")
        connection.execute("INSERT INTO drover.vehicle VALUES ('machine', 'mtg-1', '8R Tractor', 0, now())")
        connection.execute("INSERT INTO drover.service (vehicle, done_at, engine_hours_h, recorded_by, record_id) VALUES ('mtg-1', '2026-05-14T10:00Z', 800, 'Jo', 'r-1')")
        connection.execute("""INSERT INTO drover.alert (alert_id, vehicle, model, parameter, unit, severity, state, test, threshold, since_at, opened_at, first_opened_at,
                           worst_at, worst_value, audience, rules_version) VALUES ('a-1', 'mtg-1', '8R Tractor', 'Coolant Temperature', '°C', 'critical', 'open', 'above', 85,
                           '2026-05-14T09:00Z', '2026-05-14T09:00Z', '2026-05-14T09:00Z', '2026-05-14T09:05Z', 100, 'farmer', 'v')""")


TIMES = [(["--date", "2026-05-14"], "date=2026-05-14"),
         (["--date", "2018-02-20", "--span", "week", "--zone", "America/New_York", "--units", "us"], "date=2018-02-20&span=week&zone=America/New_York&units=us"),
         (["--date", "2018-01-01", "--until", "2018-12-31"], "date=2018-01-01&until=2018-12-31&span=range"), (["--date", "1999-01-01"], "date=1999-01-01")]
FORMS = ["html", "csv", "json", "xlsx", "pdf", "table"]


@pytest.mark.parametrize("report", REPORTS)
def test_every_report_is_the_commands_in_every_format(fleet, report):
    """Each format of one time; with DROVER_LONG of all times."""
    fill(fleet)
    root = fleet.entered("root")
    first = REPORTS.index(report)
    some = itertools.product(TIMES, FORMS) if is_long() else ((TIMES[(first + n) % len(TIMES)], form) for n, form in enumerate(FORMS))
    for (words, query), form in some:
        status, _, body = raw(root, f"/reports/{report}?{query}&format={form}")
        assert status == 200 and body == fleet.command(report, *words, "--format", form), (words, form)
        if form == "json":
            json.loads(body)
        if form == "xlsx":
            assert all(sheet for sheet in spreadsheet(body).values())
    for _, query in TIMES:
        page = raw(root, f"/reports?report={report}&{query}")[2].decode()
        assert all(f">{name}</a>" in page for name in ("CSV", "PDF", "XLSX")) and f"/reports/{report}?span=range" in page


def test_reports_of_machines_walks_and_tours_say_what_is_stored(fleet):
    fill(fleet)
    root = fleet.entered("root")

    def rows(report):
        return json.loads(raw(root, f"/reports/{report}?date=2026-05-14&span=week&format=json")[2])
    [walks] = rows("survey-day")["rows"]
    assert (walks["walks"], walks["distance_km"], walks["walking_h"], walks["sightings"], walks["individuals"], walks["to_review"]) == (2, 3, 2, 8, 20, 1)
    tours = rows("tour-visits")
    assert tours["sums"]["visits"] == 14 and tours["sums"]["downloads"] == 3 and len(tours["rows"]) == 3
    [alert] = rows("alerts")["rows"]
    assert (alert["threshold"], alert["worst_value"], alert["unit"], alert["resolved"]) == (85, 100, "°C", None)
    [us] = json.loads(raw(root, "/reports/alerts?date=2026-05-14&units=us&format=json")[2])["rows"]
    assert (us["threshold"], us["worst_value"], us["unit"]) == (185, 212, "°F")
    [machine] = rows("maintenance")["rows"]
    assert (machine["vehicle"], machine["services"], machine["last_service"], machine["due"]) == ("mtg-1", 1, "2026-05-14T10:00:00Z", "Coolant Temperature (open)")
    # No text becomes a formula.
    walk = spreadsheet(raw(root, "/reports/survey-day?date=2026-05-14&format=xlsx")[2])["survey-day"][1]
    assert "=Forest" in walk.values()
    assert "'=Forest" in raw(root, "/reports/survey-day?date=2026-05-14&format=csv")[2].decode()


def test_who_may_have_which_report(fleet):
    manager, ranger = fleet.entered("manager"), fleet.entered("wanja")
    assert "Machine maintenance" in manager.get("/reports").body and "Tour visits" not in manager.get("/reports").body
    assert re.findall(r"<option value=\"([\w-]+)\"", ranger.get("/reports").body)[0] == "tour-visits"
    for visitor, path, status in [(manager, "dispatch-day", 403), (manager, "tour-visits", 403), (ranger, "trips", 403), (ranger, "tour-visits", 200), (manager, "nothing", 404),
                                  (manager, "trips?date=tomorrow", 400), (manager, "trips?zone=Mars", 400), (manager, "trips?format=exe", 400), (manager, "trips?of=a%20b", 400),
                                  (manager, "trips?date=2026-01-02&until=2026-01-01&span=range", 400), (manager, "trips?date=2020-01-01&until=2026-01-01&span=range", 400),
                                  (manager, "trips?units=parsec", 400)]:
        assert visitor.get("/reports/" + path).status == status, path
    assert manager.get("/reports?report=trips&date=tomorrow").status == 400 and "like 2026-11-21" in manager.get("/reports?report=trips&date=tomorrow").body
    # Nobody's report has what its account may not see.
    fill(fleet)
    assert "seat-leon" not in fleet.entered("anna").get("/reports/trips?date=2018-02-20&format=csv").body
    assert "mtg-1" not in manager.get("/reports/maintenance?date=2026-05-14&format=csv").body
    assert "no machine" in manager.get("/reports?report=maintenance&date=2026-05-14").body


def table(page, name):
    """Cells of a table's rows, by the first."""
    rows = page.get_by_role("region", name=name).locator("tbody tr").evaluate_all("rows => rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText))")
    return {cells[0]: cells for cells in rows}


def commute(day, north_of=0.0, maf=8.0):
    """Ten minutes along one road at 15 m/s, with positions and some noise."""
    chance, begin = random.Random(f"{day} {north_of}"), NIGHT_MS + day * 86_400_000
    return [{"schema": 1, "kind": "reading", "id": f"chip-{day}-{n}", "vehicle": "chip", "ts": begin + n * 2000,
             "speed_kmh": round(54 + chance.uniform(-3, 3), 1), "rpm": 1800, "maf_gps": round(maf + chance.uniform(-0.5, 0.5), 2),
             "latitude_deg": round(48 + north_of + n * 30 / 111_195, 7), "longitude_deg": 9.0} for n in range(300)]


def test_drives_of_one_route_before_and_after_a_change(fleet, page, screenshots):
    for day in range(6):
        fleet.push(*commute(day, maf=8 if day < 3 else 6))
    fleet.push(*commute(6, north_of=0.05))
    fleet.world.finish(fleet.env)
    until(lambda: fleet.query("SELECT count(*) FROM drover.trip_now WHERE vehicle = 'chip' AND NOT is_open") == [(7,)], fleet.worker)
    fleet.enter(page, to="/trips")
    follow(page, page.get_by_role("link", name="Compare", exact=True))
    page.get_by_label("Car").select_option("chip")
    follow(page, page.get_by_role("button", name="Choose its drives"))
    page.get_by_label("A drive of the route").select_option(str(NIGHT_MS))
    change = datetime.fromtimestamp((NIGHT_MS + 3 * 86_400_000) / 1000, timezone.utc).strftime("%Y-%m-%d")
    page.get_by_label("First day after the change").fill(change)
    follow(page, page.get_by_role("button", name="Compare"))
    expect(page.locator("h2").filter(has_text=re.compile("^3 drives before, 3 after$"))).to_have_count(1)
    # What changed stands first, in words: a quarter less air is a quarter less fuel.
    expect(page.locator("main .strip").first).to_contain_text("Consumption: 25 % less")
    expect(page.locator(".compared .card").filter(has_text="Consumption")).to_contain_text("Clear")
    trip = datetime.fromtimestamp(NIGHT_MS / 1000, timezone.utc).isoformat()
    words = ["compare", "--vehicle", "chip", "--trip", trip, "--change", change + "T00:00:00Z"]
    lines = {line["figure"]: line for line in json.loads(fleet.command(*words, "--format", "json"))["figures"]}
    rows = table(page, "3 drives before, 3 after")
    for name, figure, scale in [("Consumption, L/100 km", "consumption_l_per_100km", 1), ("Fuel, L", "fuel_l", 1), ("Distance, km", "distance_km", 1), ("Time, min", "duration_s", 1 / 60),
                                ("Average speed, km/h", "average_speed_kmh", 1)]:
        cells, line = rows[name], lines[figure]
        for place, key in [(1, "before_mean"), (2, "before_sd"), (4, "after_mean"), (5, "after_sd"), (7, "difference")]:
            assert float(cells[place]) == pytest.approx(line[key] * scale, abs=0.0051), (name, key)
        assert (cells[3], cells[6]) == ("3", "3") and cells[9] == ("clear" if line["clear"] else "may be chance")
    assert rows["Consumption, L/100 km"][9] == "clear"
    page.locator("summary", has_text="Export").click()
    for name, form in [("CSV", "csv"), ("JSON", "json")]:
        link = page.get_by_role("link", name=name, exact=True).get_attribute("href")
        assert raw(fleet.entered("manager"), link)[2] == fleet.command(*words, "--format", form)
    page.keyboard.press("Escape")
    looked_at(page, screenshots, "compare")
    # Others see no drive of it, and what is wrong is said.
    anna = fleet.entered("anna")
    assert "has no ended trip" in anna.get(f"/trips/compare?vehicle=chip&trip={NIGHT_MS}&change={change}").body
    for wrong in ["trip=1", "", "tag=a&trip=1767225600000"]:
        assert anna.get(f"/trips/compare?vehicle=chip&change={change}&{wrong}").status == 400


def on_the_road(fleet, car):
    """A car that drives since a minute: what sends its next readings, what it has sent, and when it set out."""
    start, sent = int(time.time()) * 1000 - 61_000, []

    def drive(*speeds):
        readings = [{"schema": 1, "kind": "reading", "id": f"{car}-{start + second * 1000}", "vehicle": car, "ts": start + second * 1000, "speed_kmh": speed, "rpm": 2000, "maf_gps": 10,
                     "coolant_c": 88, "voltage_v": 14.1} for second, speed in enumerate(speeds, len(sent))]
        sent.extend(readings)
        fleet.push(*readings)
    # Over the end of a minute, with which a trip is written.
    drive(*[50] * 61)
    until(lambda: fleet.query("SELECT 1 FROM drover.trip_now WHERE vehicle = %s", car), fleet.worker)
    return drive, sent, start


def test_a_drive_while_it_lasts(fleet, page, screenshots):
    """A recorded drive, as if it were now: the page follows each reading, and the driver's alert."""
    fleet.world.drover.done("vehicle", "register", "golf", "--kind", "car", "--name", "Anna's Golf", "--account", "anna", "--by", "Jo", env=fleet.env)
    fleet.world.drover.done("account", "settings", "set", "anna", "speed_limit_kmh=90", "units=metric", "--by", "Jo", env=fleet.env)
    drive, sent, start = on_the_road(fleet, "golf")
    page.set_viewport_size({"width": 390, "height": 900})
    fleet.enter(page, "anna")
    page.get_by_role("region", name="Trips today").get_by_role("link", name="Live drive of Anna's Golf").click()
    page.wait_for_url("**/cars/golf/live")
    values = page.locator("#values")
    for speed in (61, 62):
        drive(speed)
        expect(values).to_contain_text(f"{speed} km/h")
    km = sum((a["speed_kmh"] + b["speed_kmh"]) / 2 * (b["ts"] - a["ts"]) / 3.6e6 for a, b in zip(sent, sent[1:]))
    litres = sum(10 * (b["ts"] - a["ts"]) / 1000 for a, b in zip(sent, sent[1:])) / 14.7 / 745
    shown = dict(item.split("\n") for item in page.locator("#values li").all_inner_texts())
    assert float(shown["Distance"].split()[0]) == pytest.approx(km, abs=0.006)
    assert float(shown["Fuel used"].split()[0]) == pytest.approx(litres, abs=0.006)
    assert float(shown["Fuel cost"].split()[0]) == pytest.approx(litres / 3.785411784 * 2.39, abs=0.006)
    assert float(shown["Average consumption"].split()[0]) == pytest.approx(litres / km * 100, abs=0.11)
    assert (shown["Engine speed"], shown["Coolant"], shown["Voltage"]) == ("2000 rpm", "88 °C", "14.1 V")
    assert (shown["Harsh accelerations"], shown["Harsh brakings"]) == ("1", "0")
    seconds = (sent[-1]["ts"] - start) // 1000
    assert shown["Driving time"] == f"0:{seconds // 60:02}:{seconds % 60:02}"
    looked_at(page, screenshots, "live", dark=True)
    # Too fast: it is said at once, without a reload.
    drive(95)
    expect(page.locator("#drive-alerts")).to_contain_text("Speed")
    expect(page.locator("#drive-alerts")).to_contain_text("above 90 km/h")
    # Marks are records: tag, and the end.
    page.get_by_text("This trip: tag or discard it").click()
    page.get_by_label("Tag; leave empty to remove it").fill("to <work>")
    page.get_by_role("button", name="Tag", exact=True).click()
    page.wait_for_url("**?said=tag")
    expect(page.locator("#state")).to_contain_text("to <work>")
    page.get_by_role("button", name="End the trip").click()
    page.wait_for_url("**?said=stop")
    until(lambda: fleet.query("SELECT is_start, marked_by FROM drover.trip_mark WHERE vehicle = 'golf'") == [(False, "anna")], fleet.worker)
    assert fleet.query("SELECT tag FROM drover.trip_now WHERE vehicle = 'golf' AND tag IS NOT NULL") == [("to <work>",)]
    # A form that is sent twice says it once; others may not say anything of her car.
    anna, manager = fleet.entered("anna"), fleet.entered("manager")
    form = {"form": anna.mark(), "id": "a-twice", "do": "start", "ts": str(now_ms()), "trip": ""}
    assert [anna.post("/cars/golf/trip", **form).status for _ in range(2)] == [303, 303]
    until(lambda: len(fleet.query("SELECT 1 FROM drover.trip_mark WHERE vehicle = 'golf' AND is_start")) == 1, fleet.worker)
    fleet.world.work_off(fleet.env)
    assert len(fleet.query("SELECT 1 FROM drover.trip_mark WHERE vehicle = 'golf' AND is_start")) == 1
    # Over time it is drawn with its driver's limit.
    page.goto(fleet.address + "/vehicles/golf?kind=car&tab=charts")
    expect(page.locator("figure.chart").first).to_be_visible()
    [speed] = json.loads(anna.get(f"/v1/vehicles/golf/series?kind=car&from={start}&until={int(time.time()) * 1000 + 1000}&signals=speed_kmh").body)["signals"]
    assert ("warning", 90, "above") in {(limit["kind"], limit["value"], limit["test"]) for limit in speed["limits"]}
    assert manager.get("/cars/golf/live").status == 200
    assert manager.post("/cars/golf/trip", **{**form, "form": manager.mark()}).status == 403
    assert anna.post("/cars/golf/trip", **{**form, "do": "fly"}).status == anna.post("/cars/golf/trip", **{**form, "do": "tag"}).status == 422
    assert anna.get("/cars/chip/live").status == 404 and anna.post("/cars/chip/trip", **form).status == 404


def test_what_a_driver_types_stays_while_the_page_looks_again(fleet, page):
    fleet.world.drover.done("vehicle", "register", "polo", "--kind", "car", "--account", "anna", "--by", "Jo", env=fleet.env)
    drive, _, _ = on_the_road(fleet, "polo")
    fleet.enter(page, "anna", "/cars/polo/live")
    page.get_by_text("This trip: tag or discard it").click()
    page.evaluate("document.getElementById('tag').value = 'to work'")
    for speed in (61, 62):
        drive(speed)
        expect(page.locator("#values")).to_contain_text(f"{speed} km/h")
    assert page.evaluate("[document.getElementById('tag').value, document.querySelector('#trip details').open]") == ["to work", True]


def test_a_cars_health_is_asked_for_and_shown(fleet, page, screenshots):
    fleet.world.drover.done("vehicle", "register", "golf", "--kind", "car", "--name", "Anna's Golf", "--account", "anna", "--by", "Jo", env=fleet.env)
    fleet.enter(page, "anna", "/cars/golf/scan")
    expect(page.locator("main")).to_contain_text("No scan has read its codes yet.")
    before = fleet.query("SELECT count(*) FROM drover.health_scan WHERE vehicle = 'golf'")
    page.get_by_role("button", name="Scan now").click()
    expect(page.locator("#waiting")).to_contain_text("A scan was asked for")
    until(lambda: fleet.query("SELECT count(*) FROM drover.health_scan WHERE vehicle = 'golf'") != before, fleet.worker)
    [(request,)] = fleet.query("SELECT scan_id FROM drover.health_scan WHERE vehicle = 'golf' AND scanned_at IS NULL")
    # The gateway's answer.
    answer = {"schema": 1, "kind": "scan", "id": "scan-1", "vehicle": "golf", "ts": now_ms(), "by": "gateway", "request": request, "done": True, "text": "3 trouble codes",
              "stored": ["P0133", "P1130"], "pending": ["U0100"], "permanent": [], "lamp": True}
    fleet.push(answer)
    expect(page.locator("#found")).to_contain_text("P0133")
    rows = table(page, "Trouble codes")
    assert rows["P0133"][1:4:2] == ["stored", "powertrain"] and "O2 Sensor" in rows["P0133"][2].replace("Oxygen", "O2") and rows["P0133"][5] == "standard"
    assert rows["P1130"][5] == "maker" and (rows["U0100"][1], rows["U0100"][3]) == ("pending", "network")
    expect(page.locator("#found")).to_contain_text("Warning lamp on.")
    looked_at(page, screenshots, "scan")
    # Again, and nothing is found: it says so, and the one before stays in the history.
    again = {**answer, "id": "scan-2", "ts": answer["ts"] + 1000, "text": "no trouble codes", "stored": [], "pending": [], "lamp": False}
    del again["request"]
    fleet.push(again)
    expect(page.locator("#found")).to_contain_text("No trouble codes")
    expect(page.get_by_role("region", name="Scans").locator("tbody tr")).to_have_count(2)
    assert fleet.entered("anna").get("/cars/chip/scan").status == 404


def exported(fleet, path, form):
    """What the command makes of the trip whose page has this path."""
    vehicle, start = path.split("/")[-2:]
    start = datetime.fromtimestamp(int(start) / 1000, timezone.utc).isoformat()
    return subprocess.run([fleet.world.drover.program, "trip", "export", vehicle, "--trip", start, "--format", form], capture_output=True, timeout=HANG_S, env={**os.environ, **fleet.env})


def test_a_trips_page_has_the_figures_of_its_row_and_of_the_reference(fleet, page, screenshots):
    """The same trip in the list, on its page, in its files, and as somebody else has worked it out."""
    wanted = fleet.expected()["2018-02-20_Seat_Leon_KA_KA_Frei.1hz.csv"]
    fleet.enter(page, to="/trips?date=2018-02-20")
    row = page.get_by_role("region", name="Trips").locator("tbody tr")
    expect(row).to_have_count(1)
    cells = dict(zip(page.get_by_role("region", name="Trips").locator("thead th").all_inner_texts(), row.locator("td").all_inner_texts()))
    assert "Track" not in cells, "its readings hold no places"
    follow(page, row.get_by_role("link"))
    expect(page).to_have_url(re.compile(r"/trips/seat-leon/\d+$"))
    figures = dict(part.split("\n", 1) for part in page.locator(".sum > div").all_inner_texts())
    for name, key, scale, margin in [("Distance", "distance_km", 1, 0.051), ("Top speed", "max_speed_kmh", 1, 0.51), ("Fuel", "fuel_gal", 3.785411784, 0.051)]:
        number = float(re.match(r"[\d.]+", figures[name])[0])
        assert number == pytest.approx(float(wanted[key]) * scale, abs=margin), name
        assert cells[name].split()[0] == re.match(r"[\d.]+", figures[name])[0], name
    assert figures["Harsh events"].split()[0] == cells["Harsh"] == str(int(wanted["sharp_accel"]) + int(wanted["sharp_brake"]))
    # Each of them is on the list of what happened, at its time.
    names = page.locator("#events .ev b").all_inner_texts()
    assert (names.count("Harsh acceleration"), names.count("Harsh braking")) == (int(wanted["sharp_accel"]), int(wanted["sharp_brake"]))
    assert (names[0], names[-1]) == ("Start", "End")
    expect(page.locator("dl.why")).to_contain_text("readings of the car's speed, added up over time")
    # Its files are the command's.
    path = page.url.removeprefix(fleet.address)
    manager = fleet.entered("manager")
    for form in ("csv", "json"):
        status, headers, body = raw(manager, f"{path}?format={form}")
        assert status == 200 and body.strip() == exported(fleet, path, form).stdout.strip() and f".{form}" in headers["Content-Disposition"], form
    # Without places there is no track: both say so. (Of one with places, see below.)
    run, (status, _, body) = exported(fleet, path, "gpx"), raw(manager, f"{path}?format=gpx")
    assert (run.returncode, status) == (1, 404) and "has no positions" in run.stderr.decode() and "has no positions" in body.decode()
    assert manager.get(f"{path}?format=xml").status == 400
    assert "format=csv" in manager.get(path).body and "format=gpx" not in manager.get(path).body
    looked_at(page, screenshots, "trip")


def test_a_trips_slider_charts_map_and_events_move_together(fleet, page):
    fleet.enter(page, to="/trips?date=2018-02-20")
    follow(page, page.get_by_role("region", name="Trips").locator("tbody tr").get_by_role("link"))
    slider, said = page.get_by_label("Moment of the trip"), page.locator("#said")
    expect(page.locator("#replay")).to_be_visible()
    expect(page.locator(".along figure .u-over").first).to_be_visible()
    # The recording's first reading has no speed: none is made up.
    expect(said).to_have_text("speed not known")
    first = slider.get_attribute("aria-valuetext")
    slider.focus()
    page.keyboard.press("End")
    expect(slider).not_to_have_attribute("aria-valuetext", first)
    end = slider.get_attribute("aria-valuetext")
    expect(said).to_have_text(re.compile(r"^\d+ km/h$"))
    # The crosshair of every chart follows: the first one is of the speed that the slider says.
    tips = page.locator(".along .ctip")
    expect(tips).to_have_count(page.locator(".along .plot").count())
    expect(tips.first).to_have_text(said.inner_text())
    expect(tips.last).to_be_visible()
    # The other way round: keys in a chart move the slider and the dot.
    chart = page.locator(".along .plot").nth(1)
    chart.focus()
    page.keyboard.press("Shift+ArrowLeft")
    expect(slider).not_to_have_attribute("aria-valuetext", end)
    # A line of what happened leads to its moment.
    line = page.locator("#events .ev").nth(1)
    when = line.locator("time").inner_text()
    line.click()
    expect(slider).to_have_attribute("aria-valuetext", re.compile(f"^{when}"))
    expect(line).to_have_class(re.compile("lit"))
    # Against the distance: the crosshair says how far it was.
    page.get_by_role("button", name="Distance", exact=True).click()
    chart = page.locator(".along .plot").first
    chart.focus()
    page.keyboard.press("ArrowRight")
    expect(tips.first.locator("time")).to_have_text(re.compile(r"^[\d.]+ km$"))
    page.get_by_role("button", name="Play the trip").click()
    before = slider.get_attribute("aria-valuetext")
    expect(slider).not_to_have_attribute("aria-valuetext", before)
    page.get_by_role("button", name="Pause").click()


def test_a_trips_track_is_thinned_within_a_bound_and_keeps_its_peaks(fleet):
    manager = fleet.entered("manager")
    query(fleet.env, "INSERT INTO drover.fleet_vehicle VALUES ('north', 'car', 'far')")
    # Three quarters of an hour, each second; once, for one second, far faster than ever before and after.
    begin = NIGHT_MS + 12 * 86_400_000
    fleet.push(*[{"schema": 1, "kind": "reading", "id": f"far-{n}", "vehicle": "far", "ts": begin + n * 1000, "speed_kmh": 131 if n == 1_347 else 50 + n % 7, "rpm": 1800, "maf_gps": 8,
                  "latitude_deg": round(47 + n * 14.7 / 111_195, 7), "longitude_deg": 9.0} for n in range(2_700)])
    fleet.world.finish(fleet.env)
    until(lambda: fleet.query("SELECT readings FROM drover.trip_now WHERE vehicle = 'far' AND NOT is_open") == [(2_700,)], fleet.worker)
    [(start, readings, top)] = fleet.query(
        "SELECT extract(epoch FROM start_at) * 1000, readings, max_speed_m_per_h FROM drover.trip_now WHERE vehicle = 'far' ORDER BY readings DESC LIMIT 1")
    assert readings > 2_000 and top == 131_000, "else nothing is thinned"
    track = json.loads(manager.get(f"/v1/tracks/far/{int(start)}").body)
    assert 500 < len(track["ts"]) <= 2_000 and track["ts"] == sorted(set(track["ts"]))
    assert max(value for value in track["speed_kmh"] if value is not None) == top / 1000
    assert all(len(signal["values"]) == len(track["ts"]) for signal in track["signals"]) and track["distance"] == sorted(track["distance"])
    speed = next(signal for signal in track["signals"] if signal["key"] == "speed_kmh")
    assert (speed["name"], speed["unit"]) == ("Speed", "km/h")
    # Its file has every place, as the command writes it.
    assert "format=gpx" in manager.get(f"/trips/far/{int(start)}").body
    status, headers, body = raw(manager, f"/trips/far/{int(start)}?format=gpx")
    assert status == 200 and body.strip() == exported(fleet, f"/trips/far/{int(start)}", "gpx").stdout.strip() and ".gpx" in headers["Content-Disposition"]
    assert body.count(b"<trkpt ") == readings


def test_old_links_to_a_trip_lead_to_its_page(fleet):
    manager = fleet.entered("manager")
    [(start,)] = fleet.query("SELECT (extract(epoch FROM start_at) * 1000)::bigint FROM drover.trip_now WHERE vehicle = 'seat-leon' ORDER BY start_at LIMIT 1")
    answer = manager.get(f"/trips?date=2018-02-20&vehicle=seat-leon&trip={start}")
    assert (answer.status, answer.headers["Location"]) == (303, f"/trips/seat-leon/{start}")
    # A time within it is its, too; before it and of others there is none.
    answer = manager.get(f"/trips/seat-leon/{start + 60_000}")
    assert (answer.status, answer.headers["Location"]) == (303, f"/trips/seat-leon/{start}")
    assert [manager.get(f"/trips/seat-leon/{wrong}").status for wrong in (start - 60_000, "x", "-1")] == [404] * 3
    assert fleet.entered("anna").get(f"/trips/seat-leon/{start}").status == 404


def test_trips_of_some_days_are_filtered_sorted_and_taken_along(fleet, page):
    fleet.enter(page, to="/trips?date=2018-02-11&until=2018-02-28")
    rows = page.get_by_role("region", name="Trips").locator("tbody tr:not(.day)")
    count = rows.count()
    assert count == len([file for file in fleet.files if file.name.startswith("2018-02")]) and page.locator("tr.day").count() >= 1
    page.get_by_role("columnheader", name="Distance").get_by_role("link").click()
    page.wait_for_url("**sort=distance**")
    expect(page.get_by_role("columnheader", name="Distance")).to_have_attribute("aria-sort", "descending")
    shown = [float(text.split()[0]) for text in rows.locator("td[data-l=Distance]").all_inner_texts()]
    assert shown == sorted(shown, reverse=True) and len(shown) == count
    page.locator("summary", has_text="Export").click()
    link = page.get_by_role("link", name=f"CSV of these {count} trips").get_attribute("href")
    status, headers, body = raw(fleet.entered("manager"), link)
    taken = list(csv.DictReader(io.StringIO(body.decode())))
    assert status == 200 and "attachment" in headers["Content-Disposition"]
    assert [round(float(row["distance_km"]), 1) for row in taken] == [pytest.approx(value, abs=0.051) for value in shown]
    # A day without any says where the last ones are.
    page.goto(fleet.address + "/trips?date=2017-01-01")
    expect(page.locator("main")).to_contain_text("No trip began on this day")
    follow(page, page.get_by_role("link", name=re.compile("^The last trip: ")))
    expect(rows.first).to_be_visible()


def test_settings_are_typed_in_peoples_words_and_faults_stand_beside_their_fields(fleet, page, watch, screenshots):
    fleet.enter(page, "anna", "/settings")
    page.get_by_label("Max speed").fill("-5")
    page.get_by_label("Currency").fill("euros"[:3])
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was saved: one field needs another value.")
    field = page.get_by_label("Max speed")
    expect(field).to_have_value("-5")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.locator(f"#{field.get_attribute('aria-describedby')}")).to_contain_text("A number from 1 to")
    looked_at(page, screenshots, "settings")
    watch.forgive()  # That it was refused.
    field.fill("90")
    page.get_by_label("Currency").fill("eur")
    page.get_by_label("Fuel price").fill("1.79")
    page.get_by_label("Tell me when the coolant is too hot").uncheck()
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/settings?said=taken&changed=*")
    expect(page.locator("main")).to_contain_text("Coolant: Tell me when the coolant is too hot")
    # What is switched off, and what the account has no use for, takes no room.
    expect(page.get_by_label("Pass my surveys on to the collector")).to_have_count(0)
    until(lambda: fleet.query("SELECT 1 FROM drover.account_settings WHERE account = 'anna' AND settings::jsonb ->> 'fuel_currency' = 'EUR'"), fleet.worker)
    page.goto(fleet.address + "/settings")
    expect(page.get_by_label("Max speed")).to_have_value("90")
    expect(page.get_by_label("Fuel price")).to_have_value("1.79")
    expect(page.get_by_label("Tell me when the coolant is too hot")).not_to_be_checked()
    expect(page.get_by_label("Longest time at the wheel")).to_have_attribute("placeholder", "4")
    # Keys are for programs.
    assert "_limit_" not in page.locator("main").inner_text()
