"""What people come for, in as few clicks as UI.md promises: the browser itself counts them. Each job begins on the page that its person lands
on after the log-in, or on the alert that is spoken of, and has an effect that is looked up elsewhere."""
import re
import shutil
import subprocess

import pytest
from harness import HANG_S, ROOT, Watch, lent, now_ms, until
from people import PASSWORD, lend_cookie, logged_in
from playwright.sync_api import expect
from test_campus_pages import geolocated
from test_dispatch import Campus, place
from test_pages import Fleet, drawn
from world import producer, query

# What is pressed, by pointer or finger, and fields that are typed into, whatever the test believes that it did.
COUNTS = """
    const typed = new WeakSet();
    addEventListener("pointerdown", (event) => { if (event.isTrusted) pressed("click"); }, true);
    addEventListener("keydown", (event) => { if (event.isTrusted && event.key === "Enter") pressed("enter"); if (event.isTrusted && event.key === "Tab") pressed("tab"); }, true);
    addEventListener("input", (event) => {
        if (!event.target.matches("textarea, input:not([type=radio], [type=checkbox])") || typed.has(event.target)) return;
        typed.add(event.target);
        pressed("field");
    }, true);
"""


class Hand:
    """A browser of somebody who is logged in, with what they did since the job began."""

    def __init__(self, page, address):
        self.page, self.address, self.did = page, address, []
        page.context.expose_binding("pressed", lambda _, what: self.did.append(what))
        page.context.add_init_script(COUNTS)

    def begin(self, path):
        self.page.goto(self.address + path)
        self.did.clear()
        return self.page

    def count(self, what):
        return self.did.count(what)

    def menu(self, name):
        self.page.get_by_role("navigation", name="Main", exact=True).get_by_role("link", name=name, exact=True).click()

    def tab_to(self, target):
        """By the Tab key only, as long as it takes; it can be seen where one is."""
        for _ in range(200):
            self.page.keyboard.press("Tab")
            if target.evaluate("each => each === document.activeElement"):
                break
        expect(target).to_be_focused()
        assert target.evaluate("each => each.matches(':focus-visible') && getComputedStyle(each).outlineStyle !== 'none'"), "nobody sees where the focus is"
        self.page.keyboard.press("Enter")


class Works(Fleet):
    """A fleet, a farm with a machine that is too hot and never serviced, and a campus with a vehicle."""

    def __init__(self, world, folder):
        super().__init__(world, folder)
        self.sender = producer(world.brokers)
        # Where rules that people save go: not into those that ship.
        rules = shutil.copytree(ROOT / "Deploy" / "thresholds", folder / "thresholds")
        self.site.server.stop()
        self.site.serve(0, "--set", f"alerts.thresholds_dir={rules}")
        self.address = f"http://127.0.0.1:{self.site.port}"
        for account, role in [("fay", "farmer"), ("rita", "rider"), ("root", "administrator")]:
            self.site.with_account(account, f"{account}@example.org", PASSWORD, role)
        query(self.env, "INSERT INTO drover.fleet (fleet, name) VALUES ('barn', 'Barn')")
        query(self.env, "INSERT INTO drover.fleet_vehicle VALUES ('barn', 'machine', 'combine-9')")
        query(self.env, "INSERT INTO drover.fleet_member VALUES ('barn', 'fay')")
        campus = Campus(self, "north", {"pickup_s": 0, "dropoff_s": 0})
        campus.vehicle("bus-1", 100, 50)
        self.settle()
        roster = folder / "roster.csv"
        roster.write_text("id,role,name,mail\nrita-1,rider,Rita,rita@campus.example\n")
        world.drover.done("import", "people", roster, "--campus", "north", env=self.env)
        query(self.env, "INSERT INTO drover.person_account VALUES ('north', 'rita-1', 'rita')")
        self.settle()

    def settle(self):
        self.world.work_off(self.env)

    def alert(self, parameter):
        """The one of the combine that is open; a new one when somebody has taken care of it."""
        asked = "SELECT alert_id FROM drover.alert_now WHERE vehicle = 'combine-9' AND parameter = %s AND state <> 'resolved' AND acknowledged_by IS NULL"
        if not self.query(asked, parameter):
            ts = now_ms()
            self.read("combine-9", ts, 60)
            self.read("combine-9", ts + 1_000, 97)
            self.settle()
        [(alert,)] = self.query(asked, parameter)
        return alert


@pytest.fixture(scope="module")
def works(world, tmp_path_factory):
    yield from lent(Works(world, tmp_path_factory.mktemp("jobs")))


@pytest.fixture
def browsing(browser, works):
    opened = []

    def enter(who, **more):
        context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB", timezone_id="Europe/Berlin", reduced_motion="reduce", **more)
        context.set_default_timeout(HANG_S * 1000)
        watch = Watch()
        watch.attach(context)
        opened.append((context, watch))
        page = context.new_page()
        lend_cookie(logged_in(works.site.port, who), page, works.address)
        return Hand(page, works.address)

    yield enter
    for context, _ in opened:
        context.close()
    for _, watch in opened:
        assert watch.problems() == {}, "the page misbehaved"


def test_acknowledge_from_home_is_one_click(works, browsing):
    alert = works.alert("Coolant Temperature")
    hand = browsing("manager")
    page = hand.begin("/")
    now = page.locator("#now")
    expect(now).to_have_attribute("data-alert", alert)
    now.get_by_role("button", name="Acknowledge").click()
    expect(now).to_contain_text("Acknowledged")
    assert hand.did == ["click"] and page.url == works.address + "/"
    until(lambda: works.query("SELECT acknowledged_by FROM drover.acknowledgement WHERE alert_id = %s", alert) == [("manager",)], works.worker)


def test_a_vehicle_is_found_on_the_map_with_one_click(works, browsing):
    hand = browsing("manager")
    page = hand.begin("/")
    hand.menu("Map")
    drawn(page)
    page.locator("#vehicles .item", has_text="Van <1>").hover()
    lit = page.locator("#map .mk.lit")
    expect(lit).to_have_accessible_name(re.compile("^Van <1>, "))
    expect(lit).to_be_in_viewport()
    assert hand.did == ["click"]
    # Of many, by some letters of the name: it stands alone on the map.
    page.get_by_label("Find a vehicle").fill("combine")
    expect(page.locator("#map")).to_have_attribute("data-vehicles", "1")
    expect(page.locator("#vehicles .item")).to_have_text([re.compile("Müller's combine")])
    assert hand.did == ["click", "field"]


def test_a_service_is_recorded_from_its_alert_with_one_click(works, browsing):
    alert = works.alert("Engine Hours")
    services = "SELECT recorded_by, engine_hours_h FROM drover.service WHERE vehicle = 'combine-9'"
    assert works.query(services) == []
    hand = browsing("fay")
    page = hand.begin(f"/alerts/{alert}")
    button = page.get_by_role("button", name="Record the service")
    expect(button).to_be_in_viewport()
    button.click()
    page.wait_for_url("**said=service**")
    assert hand.did == ["click"]
    expect(page.locator(".strip.ok")).to_contain_text("Service recorded")
    until(lambda: works.query(services) == [("fay", 812)], works.worker)
    until(lambda: works.query("SELECT state FROM drover.alert WHERE alert_id = %s", alert) == [("resolved",)], works.worker)


def test_a_ride_is_asked_for_with_two_taps(works, browsing):
    hand = browsing("rita", has_touch=True, **geolocated(0, 0))
    page = hand.begin("/ride")
    # Where she is, she has let the page know before; where to, she shows.
    expect(page.locator("#from_latitude_deg")).not_to_have_value("")
    expect(page.get_by_role("group", name="To").get_by_role("button", name="Choose on the map")).to_have_attribute("aria-pressed", "true")
    drawn(page)
    at = place(400, 300)
    x, y = page.evaluate("async ([a, b]) => { const { map } = await droverCampus.ready, p = map.project([b, a]); return [p.x, p.y]; }", [at["latitude_deg"], at["longitude_deg"]])
    page.locator("#map").click(position={"x": x, "y": y})
    expect(page.locator("#to_latitude_deg")).not_to_have_value("")
    page.get_by_role("button", name="Request ride").click()
    expect(page.locator("#said")).to_contain_text("A vehicle is coming: bus-1")
    assert hand.did == ["click", "click"]
    [row] = works.query("SELECT state, vehicle, from_latitude_deg, to_latitude_deg FROM drover.ride WHERE rider = 'rita-1'")
    assert row[:2] == ("assigned", "bus-1")
    assert row[2:] == pytest.approx((place(0, 0)["latitude_deg"], at["latitude_deg"]), abs=1e-4)


def test_a_threshold_is_changed_from_an_alert_with_two_clicks_and_its_effect_seen_between(works, browsing):
    alert = works.query("SELECT alert_id FROM drover.alert WHERE vehicle = 'combine-9' AND parameter = 'Coolant Temperature' ORDER BY opened_at LIMIT 1")[0][0]
    hand = browsing("fay")
    page = hand.begin(f"/alerts/{alert}")
    page.get_by_label("Warning above").fill("92")
    page.get_by_role("button", name="Try it").click()
    page.wait_for_url("**/thresholds/machines/combine-9/Coolant%20Temperature?**")
    tried = page.locator("#tried")
    expect(tried).to_contain_text(re.compile(r"\d+\s*alerts? on 1 machine"))
    expect(tried.get_by_role("link", name=re.compile("^92 °C"))).to_have_attribute("aria-current", "true")
    expect(page.locator("#threshold")).to_have_value("92")
    assert hand.did == ["field", "click"]
    assert works.query("SELECT 1 FROM drover.rule_edit") == [], "it was only tried"
    with page.expect_navigation():
        page.get_by_role("button", name="Save rule").click()
    assert hand.did == ["field", "click", "click"]
    [(vehicle, account, changes)] = works.query("SELECT vehicle, account, changes FROM drover.rule_edit")
    assert (vehicle, account) == ("combine-9", "fay") and "92" in " ".join(changes)
    page.goto(works.address + "/thresholds/machines/combine-9/Coolant%20Temperature")
    expect(page.locator("#threshold")).to_have_value("92")


def test_a_colleague_is_added_with_three_clicks(works, browsing):
    hand = browsing("root")
    page = hand.begin("/")
    page.locator("header.top").get_by_role("link", name="Invite").click()
    page.get_by_label("Email", exact=True).fill("ville.oja@example.org")
    page.get_by_role("radio", name="Driver Own trips and cars").click()
    page.get_by_role("button", name=re.compile("Create link|Send invitation")).click()
    expect(page.get_by_role("status").first).to_contain_text(re.compile("ville.oja@example.org is added|Invitation sent to ville.oja@example.org"))
    assert hand.did == ["click", "field", "click", "click"]
    assert works.query("SELECT account, roles FROM drover.account WHERE mail = 'ville.oja@example.org'") == [("ville.oja", ["driver"])]


def test_the_months_fuel_is_a_pdf_after_two_clicks(works, browsing):
    hand = browsing("manager")
    page = hand.begin("/")
    hand.menu("Reports")
    with page.expect_download() as kept:
        page.get_by_role("link", name="Fuel, this month, as PDF").click()
    assert hand.did == ["click", "click"]
    path = kept.value.path()
    assert path.read_bytes().startswith(b"%PDF-")
    text = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True).stdout
    assert re.match(r"Fuel [A-Z][a-z]+ \d{4}\n", text) and "Fuel, L by day" in text, text


# MARK: By keys only

def test_by_keys_only_an_alert_is_acknowledged(works, browsing):
    alert = works.alert("Coolant Temperature")
    hand = browsing("manager")
    page = hand.begin("/")
    hand.tab_to(page.locator("#now").get_by_role("button", name="Acknowledge"))
    expect(page.locator("#now")).to_contain_text("Acknowledged")
    assert hand.count("click") == 0 and hand.count("enter") == 1
    until(lambda: works.query("SELECT acknowledged_by FROM drover.acknowledgement WHERE alert_id = %s", alert) == [("manager",)], works.worker)


def test_by_keys_only_a_service_is_recorded(works, browsing):
    hand = browsing("manager")
    page = hand.begin("/services")
    hand.tab_to(page.locator("#combine-9 summary"))
    # Asked once more: it stays on record.
    hand.tab_to(page.get_by_role("button", name=re.compile("^Yes, record it.*Müller's combine")))
    page.wait_for_url("**recorded=combine-9**")
    assert hand.count("click") == 0 and hand.count("enter") == 2
    until(lambda: works.query("SELECT engine_hours_h FROM drover.service WHERE vehicle = 'combine-9' AND recorded_by = 'manager'") == [(812,)], works.worker)
