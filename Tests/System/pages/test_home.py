"""Home, where each role lands, the overview's verdict, and the page of services: in a real browser, and against sums made here."""
import html
import re
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal

import pytest
from harness import lent, looked_at, now_ms, today, until
from people import PASSWORD, Visitor, logged_in
from playwright.sync_api import expect
from test_pages import Fleet
from world import query

DAY_MS = 86_400_000
LANDINGS = {"rider": "/ride", "ride_driver": "/drive", "dispatcher": "/dispatch", "surveyor": "/surveys/enter", "ranger": "/tours", "researcher": "/sightings",
            "analyst": "/queries", "farmer": None, "dealer": None, "developer": None, "driver": None, "fleet_manager": None, "operator": None, "administrator": None}


@pytest.fixture(scope="module")
def fleet(world, tmp_path_factory):
    yield from lent(Home(world, tmp_path_factory.mktemp("home")))


class Home(Fleet):
    """The fleet of test_pages, with two weeks behind it, and somebody of every role."""

    def __init__(self, world, folder):
        super().__init__(world, folder)
        for days, air in [(3, 9), (5, 15), (20, 40)]:
            self.drive("van-2", self.now - days * DAY_MS, range(240), speed_kmh=lambda s: 0 if s < 60 else 50, maf_gps=air, latitude_deg=48.78, longitude_deg=lambda s: 9.18 + s * 0.0002)
        for account, roles in [("dora", ["driver"]), ("fay", ["farmer"]), ("mixed", ["rider", "surveyor"]), ("plain", [])] + [(f"only-{role.replace('_', '-')}", [role]) for role in LANDINGS]:
            self.site.with_account(account, f"{account}@example.org", PASSWORD, *roles)
        query(self.env, "INSERT INTO drover.fleet (fleet, name) VALUES ('barn', 'Barn')")
        query(self.env, "INSERT INTO drover.fleet_vehicle VALUES ('barn', 'machine', 'combine-9')")
        query(self.env, "INSERT INTO drover.fleet_member VALUES ('barn', 'fay')")
        world.work_off(self.env)

    def page(self, who, path="/"):
        answer = logged_in(self.site.port, who).get(path)
        assert answer.status == 200, (who, path, answer.status)
        return answer.body


# MARK: Where everybody lands

@pytest.mark.parametrize("role", LANDINGS)
def test_each_role_lands_in_its_job(fleet, role):
    visitor = logged_in(fleet.site.port, f"only-{role.replace('_', '-')}")
    answer, job = visitor.get("/"), LANDINGS[role]
    assert (answer.status, answer.headers["Location"]) == ((303, job) if job else (200, None))
    home = visitor.get("/home")
    assert home.status == 200
    # The menu's first entry leads to Home, wherever one has landed.
    body = visitor.get(job).body if job else answer.body
    assert f'<a href="{"/home" if job else "/"}" title="Home"' in body


def test_who_has_several_jobs_or_none_lands_on_home(fleet):
    for who, words in [("mixed", "Your pages"), ("plain", "Your account has no role yet"), ("manager", "Needs attention")]:
        answer = logged_in(fleet.site.port, who).get("/")
        assert answer.status == 200 and words in answer.body, who


@pytest.mark.parametrize("role, open_step, action", [
    ("farmer", "Add a machine", 'action="/vehicles/new"'), ("fleet_manager", "Add the first vehicle", 'href="/vehicles/new?kind=car"'),
    ("dealer", "Ask for a machine", 'action="/dealers/ask"'), ("rider", "Ask for a ride", 'href="/ride"'), ("ranger", "Draw the trail", 'href="/tours"')])
def test_an_account_without_vehicles_has_one_step_open_with_its_action(fleet, role, open_step, action):
    body = fleet.page(f"only-{role.replace('_', '-')}", "/home")
    steps = re.findall(r'<li class="(\w+)"', body)
    assert steps[:2] == ["ok", "open"] and set(steps[2:]) <= {"later"}
    shown = body.split('<li class="open"')[1].split("</li>")[0]
    assert f"<b>{open_step}</b>" in shown and action in shown


def test_first_steps_know_what_is_done(fleet):
    query(fleet.env, "INSERT INTO drover.dealership (vehicle, dealer) VALUES ('elsewhere-1', 'only-dealer')")
    body = fleet.page("only-dealer", "/home")
    assert re.findall(r'<li class="(\w+)"', body) == ["ok", "ok", "open"] and 'aria-label="2 of 3 done"' in body
    query(fleet.env, "DELETE FROM drover.dealership WHERE dealer = 'only-dealer'")
    assert re.findall(r'<li class="(\w+)"', fleet.page("only-dealer", "/home")) == ["ok", "open", "later"]


def test_a_farmers_first_machine_is_added_on_home(fleet, page, screenshots):
    fleet.enter(page, "/", who="only-farmer")
    looked_at(page, screenshots, "first-steps", dark=True)
    page.get_by_label("Serial number").fill("first-machine")
    page.get_by_role("button", name="Add this machine").click()
    page.wait_for_url("**/vehicles/first-machine?*said=added*")


# MARK: What needs the reader now

def test_home_leads_with_the_worst_alert_and_is_acknowledged_in_place(fleet, page, screenshots):
    fleet.enter(page, "/")
    now = page.locator("#now")
    expect(now.locator(".pill").first).to_have_text("Critical")
    expect(now).to_contain_text("Müller's combine: stop now.")
    expect(now).to_contain_text(re.compile(r"Coolant temperature 97 °C, limit 85 °C, for \d+ min"))
    attention = page.locator("#attention")
    for words in ["Coolant temperature 97 °C, limit 85 °C", "No signal since", "No service recorded yet", "Not monitored: nobody drives or owns it"]:
        expect(attention).to_contain_text(words)
    assert attention.locator(".item").count() <= 7
    for state, count in [("moving", 1), ("silent", 1)]:
        chip = page.locator(f"#chips a[href='/map?state={state}']")
        expect(chip).to_have_text(re.compile(rf"{count}\s*{state}"))
    looked_at(page, screenshots, "home", dark=True)
    alert = now.get_attribute("data-alert")
    now.get_by_role("button", name="Acknowledge").click()
    expect(now).to_contain_text("Acknowledged")
    assert page.url.rstrip("/").endswith(str(fleet.site.port)), "it stays where it was"
    until(lambda: fleet.query("SELECT acknowledged_by FROM drover.acknowledgement WHERE alert_id = %s", alert) == [("manager",)], fleet.worker)
    page.reload()
    expect(now).not_to_have_attribute("data-alert", alert)
    expect(attention).to_contain_text("1 acknowledged or muted")


def test_without_script_an_alert_is_acknowledged_by_the_form(fleet):
    # One that nobody has acknowledged.
    ts = now_ms()
    fleet.read("combine-9", ts, 60)
    fleet.read("combine-9", ts + 1_000, 97)
    fleet.world.work_off(fleet.env)
    fay = logged_in(fleet.site.port, "fay")
    body = fay.get("/").body
    form = re.search(r'<form method="post" action="(/alerts/[^"]+/acknowledge)"[^>]*>(.*?)</form>', body, re.S)
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form[2]))
    fields = {name: html.unescape(value) for name, value in fields.items()}
    answer = fay.post(form[1], **fields)
    assert (answer.status, answer.headers["Location"]) == (303, fields["next"])
    assert fields["next"].startswith("/?seen=") and "is with you now" in fay.get(fields["next"]).body


def test_who_may_not_act_has_no_button(fleet):
    query(fleet.env, "INSERT INTO drover.fleet_member VALUES ('barn', 'only-analyst') ON CONFLICT DO NOTHING")
    body = fleet.page("only-analyst", "/home")
    assert "combine" in body and '/acknowledge"' not in body and ">Acknowledge<" not in body
    assert fleet.page("only-dealer", "/home").count("combine-9") == 0


def test_nothing_is_shown_where_nothing_is_wrong(fleet):
    query(fleet.env, "INSERT INTO drover.fleet (fleet, name) VALUES ('calm', 'Calm')")
    fleet.world.push("drover.cars", {"schema": 1, "kind": "registration", "id": "r-calm", "vehicle": "van-7", "ts": fleet.now - DAY_MS, "by": "dora", "account": "dora"})
    # Two minutes at least are over: before its first whole minute the map has not heard of a car.
    fleet.drive("van-7", now_ms() - 180_000, range(180), speed_kmh=30, latitude_deg=49.0, longitude_deg=8.4)
    fleet.world.work_off(fleet.env)
    until(lambda: "Nothing needs you now." in fleet.page("dora"))
    body = fleet.page("dora")
    assert "All quiet" in body and 'class="strip' not in body
    # A driver's cars come by name, before the map of them.
    assert "Your cars" in body and 'href="/vehicles/van-7?kind=car"' in body.split('id="cars"')[1].split("</section>")[0]
    assert "Your cars" not in fleet.page("manager")


# MARK: Figures

def rounded(value):
    places = "1" if value >= 100 else "0.1"
    text = f"{Decimal(value).quantize(Decimal(places), ROUND_HALF_UP):,}"
    return text.removesuffix(".0")


def expected(fleet, us=False):
    """From the rows of trips, with the formula of stoichiometric gasoline written down here."""
    days = defaultdict(lambda: [0, 0, 0, 0, 0])
    first = (today() - timedelta(days=13)).date()
    for start, mm, ran, idle, harsh, air in fleet.query(
            "SELECT start_at, distance_mm, integrated_ms, idle_ms, sharp_accelerations + sharp_brakings, coalesce(burnt_air_mg, air_mg) FROM drover.trip"):
        day = start.astimezone(timezone.utc).date()
        if day >= first:
            for place, value in enumerate([mm, ran, idle, harsh, air / 1000 / 14.7 / 745]):
                days[day][place] += value
    unit = 1.609344 if us else 1
    latest = max(days)

    def figures(mm, ran, idle, harsh, litres):
        length = mm / 1e6 / unit
        use = length / (litres / 3.785411784) if us else litres / length * 100
        return {"Distance": length, "Fuel": use, "Idling": idle / ran * 100, "Harsh events": harsh / length * 100}
    others = [sums for day, sums in days.items() if day != latest]
    usual = figures(*[sum(column) for column in zip(*others)])
    usual["Distance"] /= len(others)
    return figures(*days[latest]), usual


@pytest.mark.parametrize("us", [False, True])
def test_figures_are_those_of_a_sum_made_elsewhere(fleet, us):
    fleet.world.work_off(fleet.env)
    with fleet.managers(units="us" if us else "metric"):
        body = fleet.page("manager")
        figures, usual = expected(fleet, us)
    tiles = re.findall(r'<span class="label">(Distance|Fuel|Idling|Harsh events) [^<]*</span><span class="row"><span class="fig">([^<]*)<small>([^<]*)</small>.*?<span class="chg">(.*?)</span></a>', body, re.S)
    units = dict(zip(figures, ["mi", "MPG", "% of time", "per 100 mi"] if us else ["km", "L/100 km", "% of time", "per 100 km"]))
    assert {name: (figure, unit) for name, figure, unit, _ in tiles} == {
        name: (rounded(value) if name == "Distance" else f"{Decimal(value).quantize(Decimal('0.1'), ROUND_HALF_UP):,}".removesuffix(".0"), units[name]) for name, value in figures.items()}
    changes = {name: re.sub("<[^>]+>", "", change) for name, _, _, change in tiles}
    assert re.search(rf"(So far|on a usual day|As on|this time yesterday)", changes["Distance"])
    less = figures["Fuel"] < usual["Fuel"]
    assert changes["Fuel"].startswith("↓" if less else "↑") and "on a usual day" in changes["Fuel"], changes
    # Two weeks are drawn, and what is older is not counted.
    assert body.count('class="spark"') == 4


def test_trips_of_today_have_their_outline(fleet, page):
    fleet.enter(page, "/")
    if datetime.fromtimestamp((fleet.now - 170_000) / 1000, timezone.utc).date() == today().date():
        trip = page.locator("#trips tbody tr", has_text="Van <1>")
        expect(trip.locator("svg.mini polyline")).to_have_count(1)
        expect(trip).to_contain_text("harsh brake")


# MARK: The overview

def test_the_overview_says_who_uses_the_most(fleet, page, screenshots):
    for car, air in [("thirsty", 40), ("thrifty", 8)]:
        fleet.drive(car, fleet.now - 40 * DAY_MS, range(500), speed_kmh=60, maf_gps=air, latitude_deg=48.78, longitude_deg=9.18)
    fleet.world.finish(fleet.env)
    day = datetime.fromtimestamp((fleet.now - 40 * DAY_MS) / 1000, timezone.utc).strftime("%Y-%m-%d")
    # 499 s at 60 km/h are 8.3 km; gasoline burns with 14.7 times its weight of air, and a litre weighs 745 g.
    use = {air: 499 * air / 14.7 / 745 / (499 * 60 / 3600) * 100 for air in (40, 8)}
    mean = sum(use.values()) / 2
    fleet.enter(page, f"/fleet?date={day}")
    verdict = page.locator(".verdict-line")
    expect(verdict).to_contain_text(f"thirsty uses the most: {use[40]:.1f} L/100 km, {(use[40] - mean) / mean * 100:.0f} % over the fleet.")
    expect(verdict).to_contain_text("2 vehicles drove 16.6 km in 2 trips.")
    rows = page.get_by_role("region", name="Vehicle by vehicle").locator("tbody tr")
    expect(rows).to_have_count(2)
    for span in ("week", "month"):
        page.get_by_role("navigation", name="Span").get_by_role("link", name=span.capitalize()).click()
        page.wait_for_url(f"**span={span}*")
        expect(verdict).to_contain_text("thirsty uses the most")
    looked_at(page, screenshots, "overview-month", dark=True)
    page.get_by_role("link", name="The month before").click()
    expect(page.locator("main")).to_contain_text("No trip began in this month")


def test_a_day_under_way_is_compared_with_the_same_part_of_the_day_before(fleet):
    manager = logged_in(fleet.site.port, "manager")
    midnight = int(today().replace(hour=0, minute=0, second=0, microsecond=0).timestamp() * 1000)

    def before():
        body = manager.get("/fleet").body
        assert "compared with the day before up to the same time" in body and "By this time yesterday" in body
        return int(re.search(r"<td>Trips</td><td[^>]*>\d+</td><td[^>]*>(\d+)</td>", body).group(1))

    # A day that is over is compared with a whole one.
    assert "compared with" not in manager.get(f"/fleet?date={(today() - timedelta(days=9)).strftime('%Y-%m-%d')}").body
    fleet.drive("early", midnight - DAY_MS, range(60), speed_kmh=50)
    fleet.world.finish(fleet.env)
    known = before()
    assert known >= 1
    fleet.drive("late", midnight - 70_000, range(60), speed_kmh=50)
    fleet.world.finish(fleet.env)
    assert before() == known or now_ms() - midnight > DAY_MS - 120_000


# MARK: Services

def test_who_sees_services_and_who_records_them(fleet):
    for who, sees, records in [("manager", True, True), ("fay", True, True), ("dora", False, False), ("ada", False, True)]:
        body = fleet.page(who, "/services")
        assert ("combine-9" in body) == sees, who
        assert ('/vehicles/combine-9/service"' in body) == (sees and records), who
    for who in ("sam", "plain", "only-rider"):
        assert logged_in(fleet.site.port, who).get("/services").status == 403
    assert Visitor(fleet.site.port).get("/services").headers["Location"].startswith("/login")
    fields = {"id": "s-stranger", "service": "Regular service", "done": "2026-01-02T03:04", "hours": "812", "next": "/services"}
    for who, status in [("ada", 404), ("dora", 403), ("only-rider", 403)]:
        visitor = logged_in(fleet.site.port, who)
        assert visitor.post("/vehicles/combine-9/service", form=visitor.mark(), **fields).status == status, who


def test_a_service_is_asked_for_once_more_and_counts_at_once(fleet, page, screenshots):
    fleet.enter(page, "/services", who="fay")
    expect(page.locator("main .strip")).to_contain_text("1 machine is due for a service.")
    row = page.locator("tr#combine-9")
    expect(row).to_contain_text("no service recorded")
    looked_at(page, screenshots, "services", dark=True)
    yes = row.get_by_role("button", name="Yes, record it")
    expect(yes).to_be_hidden()
    row.locator("summary").click()
    expect(row).to_contain_text("A regular service, done now at 812 h?")
    yes.click()
    page.wait_for_url("**/services?*recorded=combine-9*")
    expect(page.get_by_role("status")).to_contain_text("Service of Müller's combine recorded.")
    # Whether a worker has stored it by now or not.
    expect(page.locator("main")).not_to_contain_text("due for a service")
    expect(page.get_by_role("navigation", name="Which services")).to_contain_text("Due 0")
    until(lambda: fleet.query("SELECT engine_hours_h, recorded_by, note FROM drover.service WHERE vehicle = 'combine-9'") == [(812.0, "fay", "Regular service")], fleet.worker)
    ts = now_ms()
    fleet.read("combine-9", ts, 60)
    until(lambda: fleet.query("SELECT 1 FROM drover.alert WHERE vehicle = 'combine-9' AND parameter = 'Engine Hours' AND state = 'resolved'"), fleet.worker)
    page.goto(fleet.address + "/services?show=fine")
    every = fleet.query("SELECT threshold FROM drover.alert WHERE vehicle = 'combine-9' AND parameter = 'Engine Hours' LIMIT 1")[0][0]
    expect(row).to_contain_text(f"in {every:.0f} h")
    expect(row).to_contain_text(f"0 of {every:.0f} h")
    page.get_by_role("navigation", name="Which services").get_by_role("link", name="Done").click()
    expect(page.get_by_role("region", name="Done").locator("tbody tr")).to_have_count(1)
    page.goto(fleet.address + "/services?q=nothing-like-it")
    expect(page.locator("main")).to_contain_text("No machine is like that")


def test_a_form_leads_only_to_pages_of_ours(fleet):
    fay = logged_in(fleet.site.port, "fay")
    now = today().strftime("%Y-%m-%dT%H:%M")
    for place in ("https://elsewhere.example/", "//elsewhere.example/", "/\\elsewhere.example"):
        answer = fay.post("/vehicles/combine-9/service", form=fay.mark(), id="s-away", service="Inspection", done=now, hours="812", next=place)
        assert (answer.status, answer.headers["Location"]) == (303, "/vehicles/combine-9?kind=machine&tab=services&said=service"), place
