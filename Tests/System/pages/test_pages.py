"""Pages of fleets in a real browser: the map and its list, a vehicle, alerts and what is said of them, trips, the overview."""
import html
import http.client
import json
import re
import time
from contextlib import contextmanager
from datetime import datetime, timezone
from urllib.parse import urlencode

import pytest
from harness import HANG_S, is_long, lent, looked_at, now_ms, until
from people import PASSWORD, Visitor, enter, follow, logged_in
from playwright.sync_api import expect
from test_accounts import Site
from world import Asked, connect, query

KARLSRUHE, FIELD = (49.0069, 8.4037), (42.0308, -93.6319)


@pytest.fixture(scope="module")
def fleet(world, tmp_path_factory):
    yield from lent(Fleet(world, tmp_path_factory.mktemp("pages")))


class Fleet(Asked):
    """Cars and machines that report now, and people who look at them."""

    def __init__(self, world, folder, takes_surveys=False):
        self.world, self.env = world, world.database()
        if takes_surveys:
            self.env["DROVER_POSTGRES_SURVEY_URL"] = self.env["DROVER_POSTGRES_URL"]
        self.worker = world.assigned(self.env, "pages")
        self.site = Site(world, self.env, None, folder, has_mail=False)
        self.address = f"http://127.0.0.1:{self.site.port}"
        self.site.with_account("manager", "manager@example.org", PASSWORD, "fleet_manager", "operator")
        self.site.with_account("ada", "ada@example.org", PASSWORD, "farmer")
        self.site.with_account("sam", "sam@example.org", PASSWORD, "surveyor")
        for kind, vehicle, name, tags in [("car", "van-1", "Van <1>", ["north"]), ("car", "van-2", "Van 2", ["south"]),
                                          ("machine", "combine-9", "Müller's combine", ["north"])]:
            words = ["vehicle", "register", vehicle, "--kind", kind, "--name", name, "--by", "Anna"]
            world.drover.done(*words, "--tags", ",".join(tags), env=self.env)

        # Not when the tests were collected: whoever is silent for five minutes has ended a trip.
        self.now = int(time.time()) * 1000

        self.drive("van-1", self.now - 170_000, range(170), speed_kmh=lambda s: 20 + s % 60, latitude_deg=lambda s: KARLSRUHE[0] + s * 0.0002, longitude_deg=lambda s: KARLSRUHE[1] + s * 0.0001)
        self.drive("van-2", self.now - 90_000_000, range(200), speed_kmh=30, latitude_deg=48.78, longitude_deg=lambda s: 9.18 + s * 0.0002)
        for minutes, coolant in [(600, 70), (300, 82), (30, 88), (20, 97), (1, 91)]:
            self.read("combine-9", self.now - minutes * 60_000, coolant)
        world.tick()
        until(lambda: self.query("SELECT count(*) FROM drover.vehicle") == [(3,)] and self.query("SELECT 1 FROM drover.trip WHERE vehicle = 'van-1'")
                   and self.query("SELECT 1 FROM drover.alert WHERE parameter = 'Coolant Temperature' AND severity = 'critical'"), self.worker)

    def drive_on(self):
        """The van's newest reading is of now: a minute later it would not be called moving."""
        ts = int(time.time()) * 1000
        self.drive("van-1", ts, range(1), speed_kmh=50, latitude_deg=KARLSRUHE[0] + 0.034, longitude_deg=KARLSRUHE[1] + 0.017)
        self.world.finish(self.env)

    @contextmanager
    def managers(self, **settings):
        """What the manager has set, and takes back afterwards."""
        def say(**values):
            with connect(self.env) as connection:
                connection.execute(f"UPDATE drover.account SET {', '.join(f'{key} = %s' for key in values)} WHERE account = 'manager'", list(values.values()))
        say(**settings)
        try:
            yield
        finally:
            say(units="metric", zone="UTC")

    def drive(self, car, start, seconds, **values):
        self.world.push("drover.cars", *[
            {"schema": 1, "kind": "reading", "id": f"{car}-{start + s * 1000}", "vehicle": car, "ts": start + s * 1000, "rpm": 1800, "maf_gps": 12,
             "coolant_c": 88, "voltage_v": 14.1, **{key: round(value(s), 6) if callable(value) else value for key, value in values.items()}} for s in seconds])

    def read(self, machine, ts, coolant):
        self.world.push("drover.machines", {
            "schema": 1, "kind": "reading", "id": f"{machine}-{ts}", "vehicle": machine, "ts": ts, "model": "S690 Combine", "gps_available": True, "reporting": True,
            "coolant_c": coolant, "hydraulic_oil_c": 50, "tire_pressure_kpa": 190, "fuel_level_gal": 200, "engine_hours_h": 812,
            "latitude_deg": FIELD[0], "longitude_deg": FIELD[1], "serial": "0042"})

    def enter(self, page, path="/map", who="manager"):
        enter(page, self.address, who, path)

    def close(self):
        try:
            self.site.close()
        finally:
            self.worker.stop()


def row(page, text):
    return page.locator("#vehicles .item", has_text=text)


def drawn(page, place="#map"):
    """The map has drawn everything."""
    expect(page.locator(place)).to_have_attribute("data-drawn", "yes")


def test_the_map_and_the_list_say_the_same(fleet, page, screenshots):
    fleet.drive_on()
    fleet.enter(page)
    expect(page).to_have_title("Map · Drover")
    expect(page.locator("#count")).to_have_text("3 vehicles")
    expect(row(page, "Van <1>")).to_contain_text(re.compile(r"\d+ km/h"))
    expect(row(page, "Van <1>")).to_have_attribute("data-state", "moving")
    expect(row(page, "Van 2")).to_contain_text("Silent")
    expect(row(page, "Van 2")).to_have_attribute("data-place", re.compile(r"^48\.78000 9\.2"))
    combine = row(page, "Müller's combine")
    for text in ["Critical", re.compile(r"\d open alerts · idling")]:
        expect(combine).to_contain_text(text)
    expect(combine).to_have_attribute("data-place", "42.03080 -93.63190")
    expect(combine).to_have_attribute("href", "/vehicles/combine-9?kind=machine")
    # The worst first.
    expect(page.locator("#vehicles .item").first).to_contain_text("Müller's combine")
    expect(page.locator("#vehicles .grp")).to_have_text([re.compile("Need attention"), re.compile("Moving"), re.compile("Silent")])
    drawn(page)
    expect(page.locator("#map")).to_have_attribute("data-vehicles", "3")
    expect(page.locator("#map .mk.moving")).to_have_accessible_name("Van <1>, moving")
    expect(page.locator(".mapcredit")).to_have_text("© OpenStreetMap contributors · Natural Earth (coarse)")
    # The critical one is far away: a pointer leads there.
    page.get_by_role("button", name=re.compile("^Show .*, 1 out of view")).click()
    critical = page.locator("#map .mk.critical")
    expect(critical).to_have_accessible_name("Müller's combine, critical")
    expect(page.locator(".nostreets")).to_contain_text("No streets here.")
    # A row lights its marker, a marker its row; a click opens a card and is kept in the address.
    combine.hover()
    expect(critical).to_have_class(re.compile(r"\blit\b"))
    critical.click()
    card = page.locator("#one")
    expect(card).to_contain_text("Müller's combine")
    expect(card).to_contain_text(re.compile(r"\d open alerts"))
    expect(card.get_by_role("link", name="Open vehicle")).to_have_attribute("href", "/vehicles/combine-9?kind=machine")
    expect(combine).to_have_attribute("aria-current", "true")
    assert page.url.endswith("?v=machine%2Fcombine-9")
    row(page, "Van 2").click()
    expect(card).to_contain_text("Van 2")
    expect(page.locator("#map .mk.lit")).to_have_accessible_name("Van 2, silent")
    card.get_by_role("button", name="Close").click()
    expect(card).to_be_hidden()
    looked_at(page, screenshots, "map", dark=True)


def test_the_list_is_filtered_with_and_without_script(fleet, page, browser):
    fleet.enter(page)
    drawn(page)
    page.get_by_role("link", name="1 need attention").click()
    page.wait_for_url("**/map?*state=alert*")
    expect(row(page, "Müller's combine")).to_have_count(1)
    expect(row(page, "Van 2")).to_have_count(0)
    expect(page.locator("#map")).to_have_attribute("data-vehicles", "1")
    page.get_by_role("link", name="1 need attention").click()
    expect(page.locator("#vehicles .item")).to_have_count(3)
    page.get_by_label("Find a vehicle").fill("VAN")
    expect(page.locator("#vehicles .item")).to_have_count(2)
    expect(page.locator("#map")).to_have_attribute("data-vehicles", "2")
    expect(page.locator("#count")).to_have_text("2 vehicles")
    page.get_by_label("Find a vehicle").fill("nobody")
    expect(page.locator("#vehicles")).to_contain_text("No vehicle fits")
    # Where one looks, too: an empty map is no answer.
    expect(page.locator("#nothing")).to_have_text("No vehicle fits")
    page.get_by_label("Find a vehicle").fill("van")
    expect(page.locator("#nothing")).to_be_hidden()
    cookies = page.context.cookies()
    plain = browser.new_context(java_script_enabled=False)
    plain.add_cookies(cookies)
    still = plain.new_page()
    still.goto(fleet.address + "/map?group=south")
    expect(still.locator("#vehicles .item")).to_have_count(1)
    expect(still.locator("#vehicles")).to_contain_text("Van 2")
    still.goto(fleet.address + "/map?search=VAN")
    expect(still.locator("#vehicles .item")).to_have_count(2)
    still.get_by_role("link", name="1 silent").click()
    expect(still.locator("#vehicles .item")).to_have_count(1)
    still.locator("#vehicles .item").click()
    expect(still.locator("h1")).to_have_text("Van 2")
    plain.close()


def test_vehicles_have_their_names_on_the_map_where_one_is_near(fleet, page):
    fleet.enter(page, "/map?search=van-1")
    drawn(page)
    name = page.locator("#map .mk .nm")
    expect(name).to_be_visible()
    expect(name).to_have_text("Van <1>")
    zoom = lambda: float(page.locator("#map").get_attribute("data-zoom"))
    while zoom() >= 14:
        before = zoom()
        page.get_by_role("button", name="Zoom out").click()
        until(lambda: zoom() < before)
    expect(name).to_be_hidden()


def test_the_map_draws_what_the_reader_sees_and_no_more(fleet, page):
    answer = entered(fleet, "manager").get("/map/vehicles")
    told = json.loads(answer.body)
    assert sorted(one[0] for one in told["vehicles"]) == ["car/van-1", "car/van-2", "machine/combine-9"] and not told["is_cut"]
    one = dict(zip(told["fields"], next(each for each in told["vehicles"] if each[0] == "machine/combine-9")))
    assert (one["at"], one["severity"], one["icon"]) == ([-93.6319, 42.0308], "critical", "tractor") and one["alerts"] > 1
    assert json.loads(entered(fleet, "manager").get("/map/vehicles?search=van").body)["count"] == "2 vehicles"
    assert Visitor(fleet.site.port).get("/map/vehicles").status == 401


def test_without_webgl_the_list_remains(fleet, page, browser):
    fleet.enter(page)
    context = browser.new_context()
    context.add_cookies(page.context.cookies())
    blind = context.new_page()
    blind.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    blind.goto(fleet.address + "/map")
    expect(blind.locator("#map")).to_contain_text("This browser cannot draw the map")
    expect(blind.locator("#vehicles .item")).to_have_count(3)
    row(blind, "Van 2").click()
    expect(blind.locator("#one")).to_contain_text("Van 2")
    context.close()


def test_the_map_follows_the_theme(fleet, page):
    fleet.enter(page)
    drawn(page)
    colour = lambda: page.locator("#map .mk.moving > span").evaluate("each => getComputedStyle(each).backgroundColor")
    light = colour()
    page.emulate_media(color_scheme="dark")
    expect(page.locator("#map")).to_have_attribute("data-style", "2")
    assert colour() != light
    # What lies on the map comes back with the new style.
    expect(page.locator("#map")).to_have_attribute("data-vehicles", "3")
    expect(page.locator("#map .mk")).not_to_have_count(0)


def test_the_map_is_live(fleet, page):
    fleet.enter(page)
    combine = row(page, "Müller's combine")
    expect(combine).to_contain_text("Critical")
    place = combine.get_attribute("data-place")
    row(page, "Van 2").focus()
    ts = now_ms()
    fleet.read("combine-9", ts, 60)
    expect(combine).not_to_contain_text("Critical")
    expect(combine).to_have_attribute("data-place", place)
    # Who is on a link stays there.
    assert page.evaluate("document.activeElement.dataset.vehicle") == "car/van-2"
    fleet.read("combine-9", ts + 1_000, 97)
    expect(combine).to_contain_text("Critical")


def test_who_goes_from_page_to_page_leaves_no_stream_behind(fleet, page):
    fleet.enter(page, "/alerts")
    # More than one person may hold, of the page that is made soonest.
    for _ in range(20 if is_long() else 10):
        with page.expect_response("**/v1/live") as answer:
            page.goto(fleet.address + "/alerts")
        assert answer.value.status == 200
    # Those that stay open are counted.
    ada = entered(fleet, "ada")
    held = []
    for _ in range(9):
        connection = http.client.HTTPConnection("127.0.0.1", int(fleet.site.port), timeout=HANG_S)
        connection.request("GET", "/v1/live", headers={"Cookie": ada.cookie})
        held.append((connection, connection.getresponse()))
    assert [answer.status for _, answer in held] == [200] * 8 + [429]
    assert held[8][1].headers["Retry-After"] == "10"
    for connection, answer in held:
        answer.close()
        connection.close()


def test_a_machine(fleet, page, screenshots):
    fleet.enter(page, "/vehicles/combine-9?kind=machine")
    expect(page.locator("h1")).to_have_text("Müller's combine")
    expect(page.locator("#verdict h2")).to_have_text(re.compile("^Stop: coolant temperature [0-9.]+ °C$"))
    latest = page.get_by_role("region", name="Latest reading")
    expect(latest).to_contain_text(re.compile(r"Fuel Level\s*757\.1 L"))
    expect(latest).to_contain_text("Terminal Serial Number")
    # Three charts, the judged first; a dial for each signal with a rule.
    expect(page.locator("figure.chart.drawn")).to_have_count(3)
    expect(page.get_by_role("slider", name=re.compile("^Coolant Temperature: from .* °C"))).to_have_count(1)
    expect(page.locator("#gauges section")).to_have_count(4)
    looked_at(page, screenshots, "machine", dark=True)
    follow(page, page.get_by_role("link", name="Charts", exact=True))
    expect(page.locator("figure.chart.drawn")).to_have_count(4)
    looked_at(page, screenshots, "machine-charts")
    follow(page, page.get_by_role("navigation", name="Of this vehicle").get_by_role("link", name="Services"))
    expect(page.get_by_text("No service is recorded.")).to_have_count(1)


def test_what_the_server_draws_is_there_without_a_script(fleet):
    body = entered(fleet, "manager").get("/vehicles/combine-9?kind=machine&tab=charts").body
    drawn = re.findall(r'<svg class="chart".*?</svg>', body, re.S)
    assert len(drawn) == 4 and re.search("Coolant Temperature, °C.*critical at 95", drawn[0], re.S)
    assert len(re.findall('class="limit', drawn[0])) == 2
    # Each tab is an address of its own.
    tabs = re.search(r'<nav class="tabs\b.*?</nav>', body, re.S).group(0)
    assert re.findall(r'<a href="/vehicles/combine-9\?kind=machine(?:&amp;tab=(\w+))?"', tabs) == ["", "alerts", "charts", "services", "details"]


def test_a_car_in_the_readers_units(fleet, page, screenshots):
    fleet.enter(page, "/vehicles/van-1?kind=car")
    expect(page.locator("h1")).to_have_text("Van <1>")
    latest = page.get_by_role("region", name="Latest reading")
    expect(latest).to_contain_text(re.compile(r"Coolant temperature\s*88 °C"))
    expect(page.locator("figure.chart.drawn")).to_have_count(3)
    looked_at(page, screenshots, "car")
    # On a phone, too, its drive is one tap away.
    assert '<a href="/cars/van-1/live">Live drive</a>' in entered(fleet, "manager").get("/vehicles/van-1?kind=car").body
    # Nobody owns it, so nobody has said what is too much.
    follow(page, page.get_by_role("link", name="Charts", exact=True))
    body = page.evaluate("fetch(location.pathname + '?kind=car&tab=charts').then((answer) => answer.text())")
    assert '<svg class="chart"' in body and 'class="limit' not in body
    with fleet.managers(units="us", zone="America/New_York"):
        fleet.enter(page, "/vehicles/van-1?kind=car")
        expect(latest).to_contain_text(re.compile(r"Coolant temperature\s*190\.4 °F"))
        follow(page, page.get_by_role("link", name="Details", exact=True))
        expect(page.locator("main")).to_contain_text("America/New_York")


def test_an_alert_is_seen_and_silenced(fleet, page, screenshots):
    fleet.enter(page, "/alerts")
    looked_at(page, screenshots, "alerts", dark=True)
    # On a phone each alert is a card: no column is out of sight.
    page.set_viewport_size({"width": 390, "height": 900})
    cells = page.locator("#alerts .al > *").evaluate_all("all => all.map((cell) => [cell.getBoundingClientRect().left, cell.getBoundingClientRect().right, cell.innerText])")
    assert cells and all(0 <= left and right <= 390 for left, right, _ in cells), cells
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("link", name="Coolant too hot").first.click()
    page.wait_for_url("**/alerts/*")
    story = page.locator("#story")
    for text in ["above 85 °C", "Coolant temperature now", "Beyond the limit by"]:
        expect(story).to_contain_text(text)
    page.locator("#details summary").click()
    expect(page.locator("#details")).to_contain_text("Readings behind it")
    page.locator("#details summary").click()
    expect(page.locator("#alert-status")).to_have_text(re.compile(r"Critical, open \d+ (s|min)$"))
    # Those of its own rule, not of a later one; and nothing is known of what is to come.
    # Who has no script sees the picture that the server has drawn.
    drawn = entered(fleet, "manager").get(page.url.removeprefix(fleet.address)).body
    label = re.search(r'<svg[^>]*class="chart"[^>]*aria-label="([^"]+)"', drawn)[1]
    assert "warning at 85" in label and "critical at 95" in label and len(re.findall(r'class="limit[ "]', drawn)) == 2
    expect(page.locator("figure.chart")).to_have_attribute("data-signals", "coolant_c")
    ends = datetime.strptime(re.search(r" to (\S+ \S+):", label)[1], "%Y-%m-%d %H:%M").replace(tzinfo=timezone.utc)
    assert ends.timestamp() <= time.time()
    looked_at(page, screenshots, "alert")
    page.locator("#alert-acts").get_by_role("button", name="Acknowledge").click()
    page.wait_for_url("**?said=acknowledgement")
    # It shows as soon as it is committed, without a reload.
    expect(page.locator("#happened")).to_contain_text("You acknowledged it")
    page.get_by_label("Comment").fill("On my way <b>")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url("**?said=comment")
    expect(page.locator("#happened")).to_contain_text("You: On my way <b>")
    page.locator("#alert-acts").get_by_text("Mute").click()
    page.locator("#alert-acts").get_by_role("button", name="For 8 hours").click()
    page.wait_for_url("**?said=silence")
    expect(story).to_contain_text("muted until")
    assert fleet.query("SELECT acknowledged_by FROM drover.acknowledgement") == [("manager",)]
    [(parameter, hours)] = fleet.query("SELECT parameter, extract(epoch FROM until_at - from_at) / 3600 FROM drover.silence")
    assert (parameter, float(hours)) == ("Coolant Temperature", 8)
    page.reload()
    expect(page.locator("#alert-acts").get_by_role("button", name="Take back")).to_be_visible()
    expect(page.get_by_role("button", name="Acknowledge")).to_have_count(0)  # It was acknowledged.
    looked_at(page, screenshots, "alert-silenced")
    page.locator("#alert-acts").get_by_role("button", name="Unmute").click()
    page.wait_for_url("**?said=end")
    expect(story).not_to_contain_text("muted until")
    page.reload()
    expect(page.locator("#alert-acts").get_by_text("Mute")).to_have_count(1)


def test_trips_of_a_day_with_the_way_of_one(fleet, page, screenshots):
    day = datetime.fromtimestamp((fleet.now - 170_000) / 1000, timezone.utc).strftime("%Y-%m-%d")
    fleet.enter(page, f"/trips?date={day}&vehicle=van-1")
    looked_at(page, screenshots, "trips")
    assert page.locator("svg.mini polyline").first.get_attribute("points").count(",") > 20, "the outline of its way"
    page.get_by_role("region", name="Trips").get_by_role("link", name="Van <1>").first.click()
    page.wait_for_selector("#replay:not([hidden])")
    drawn(page, "#track")
    expect(page.locator("#track")).to_have_attribute("data-shapes", "track track-arrows")
    expect(page.locator("#track .pin")).to_have_count(2)
    slider = page.get_by_label("Moment of the trip")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^\d\d:\d\d:\d\d, 20 km/h$"))
    # The dot on the map moves with it.
    dot = page.locator("#track")
    first, place = slider.get_attribute("aria-valuetext"), dot.get_attribute("data-cursor")
    slider.focus()
    page.keyboard.press("End")
    expect(slider).not_to_have_attribute("aria-valuetext", first)
    expect(dot).not_to_have_attribute("data-cursor", place)
    last = slider.get_attribute("aria-valuetext")
    page.get_by_role("button", name="Play the trip").click()
    expect(slider).not_to_have_attribute("aria-valuetext", last)
    page.get_by_role("button", name="Pause").click()
    looked_at(page, screenshots, "trip-map")


def test_trips_of_a_car_are_asked_for_by_its_name(fleet):
    """The field wanted an id, and showed it."""
    day = datetime.fromtimestamp((fleet.now - 170_000) / 1000, timezone.utc).strftime("%Y-%m-%d")
    manager = entered(fleet, "manager")
    for typed in ("Van <1>", "van <1>"):
        answer = manager.get(f"/trips?{urlencode({'date': day, 'vehicle': typed})}")
        assert (answer.status, answer.headers["Location"]) == (303, f"/trips?date={day}&vehicle=van-1")
    body = manager.get(f"/trips?date={day}&vehicle=van-1").body
    assert re.search(r'id="vehicle"[^>]* value="Van &lt;1&gt;"', body)
    # Of two cars of one name the id says which.
    fleet.query("UPDATE drover.registration SET name = 'Van <1>' WHERE vehicle = 'van-2'")
    try:
        assert manager.get(f"/trips?{urlencode({'date': day, 'vehicle': 'Van <1>'})}").status == 404
        assert re.search(r'id="vehicle"[^>]* value="van-1"', manager.get(f"/trips?date={day}&vehicle=van-1").body)
    finally:
        fleet.query("UPDATE drover.registration SET name = 'Van 2' WHERE vehicle = 'van-2'")


@pytest.mark.parametrize("name", ["van-99", "combine-9", "va n", "x" * 100])
def test_trips_of_what_is_no_car_are_not_those_of_all(fleet, name):
    """A name that is no id showed the trips of all cars, an id that there is not zeros."""
    day = datetime.fromtimestamp((fleet.now - 170_000) / 1000, timezone.utc).strftime("%Y-%m-%d")
    manager = entered(fleet, "manager")
    answer = manager.get(f"/trips?{urlencode({'date': day, 'vehicle': name})}")
    assert answer.status == 404 and f"No vehicle {html.escape(name[:64])}" in answer.body and "<table" not in answer.body and "van-1" not in answer.body
    assert manager.get(f"/trips?{urlencode({'date': day, 'vehicle': ' van-1 '})}").status == manager.get(f"/trips?date={day}&vehicle=").status == 200


def test_the_figures_of_a_days_trips_are_those_of_the_formula(fleet):
    """A run of 199 s at 30 km/h with 12 g/s of air: gasoline burns with 14.7 times its weight of air, and a litre weighs 745 g."""
    km, litres = 199 * 30 / 3600, 199 * 12 / 14.7 / 745
    day = datetime.fromtimestamp((fleet.now - 90_000_000) / 1000, timezone.utc).strftime("%Y-%m-%d")
    fleet.world.work_off(fleet.env)
    manager = Visitor(fleet.site.port)
    manager.log_in("manager@example.org")

    def tiles():
        found = re.findall(r'<span class="label">([^<]+)</span><span class="fig">([^<]*)(?:<small>([^<]*)</small>)?</span><span class="chg">([^<]*)', manager.get(f"/trips?date={day}&vehicle=van-2").body)
        return {name: f"{number} {unit}".strip() for name, number, unit, _ in found} | {f"{name}, more": more for name, _, _, more in found}
    assert tiles().items() >= {"Trips": "1", "Distance": f"{km:.1f} km", "Fuel": f"{litres:.1f} L"}.items()
    assert tiles()["Fuel, more"].startswith(f"{litres / km * 100:.1f} L/100 km")
    with fleet.managers(units="us"):
        mi, gallons = km / 1.609344, litres / 3.785411784
        assert tiles().items() >= {"Distance": f"{mi:.1f} mi", "Fuel": f"{gallons:.1f} US gal"}.items()
        assert tiles()["Fuel, more"].startswith(f"{mi / gallons:.1f} MPG")


def test_a_trip_in_a_day_of_25_hours(fleet, page):
    fleet.drive("van-3", int(datetime(2025, 10, 26, 22, 30, tzinfo=timezone.utc).timestamp() * 1000), range(100), speed_kmh=50)
    fleet.world.tick()
    until(lambda: fleet.query("SELECT 1 FROM drover.trip WHERE vehicle = 'van-3'"), fleet.worker)
    with fleet.managers(zone="Europe/Berlin"):
        fleet.enter(page, "/account")
        about = page.locator(".top .status")
        for date, hours, trips in [("2025-10-26", 25, 1), ("2025-10-27", 24, 0), ("2025-03-30", 23, 0)]:
            page.goto(fleet.address + f"/trips?date={date}")
            expect(about).to_contain_text(f"Europe/Berlin, {hours} hours")
            expect(page.get_by_role("region", name="Trips").get_by_role("link", name="van-3")).to_have_count(trips)
        page.goto(fleet.address + "/fleet?date=2025-10-26&span=week")
        expect(page.locator(".top .status")).to_contain_text("20 Oct to 26 Oct 2025")
        expect(page.locator("main .about")).to_contain_text("Europe/Berlin, 169 hours")


def test_the_overview_of_a_day_and_week(fleet, page, screenshots):
    fleet.enter(page, "/fleet")
    page.get_by_role("navigation", name="Span").get_by_role("link", name="Week").click()
    page.wait_for_url("**span=week*")
    expect(page.get_by_role("region", name="Day by day").locator("tbody tr")).to_have_count(7)
    expect(page.get_by_role("region", name="Figures").locator("table")).to_contain_text("Consumption")
    expect(page.get_by_role("region", name="Vehicle by vehicle")).to_contain_text("Van <1>")
    silent = page.get_by_role("region", name="Silent now")
    expect(silent).to_contain_text("Van 2")
    expect(page.get_by_role("region", name="Open alerts now")).to_contain_text("Müller's combine")
    looked_at(page, screenshots, "overview")


def test_who_may_see_what(fleet):
    visitor = Visitor(fleet.site.port)
    assert (visitor.get("/map").status, visitor.get("/map").headers["Location"][:7]) == (303, "/login?")
    assert visitor.get("/v1/live").status == 401
    sam = Visitor(fleet.site.port)
    assert sam.post("/login", mail="sam@example.org", password=PASSWORD).status == 303
    for path in ["/map", "/map/vehicles", "/map/replay", "/services", "/alerts", "/vehicles/van-1", "/trips", "/fleet", "/v1/live", "/v1/tracks/van-1/1700000000000"]:
        assert sam.get(path).status == 403, path


def entered(fleet, who):
    return logged_in(fleet.site.port, who)


def test_somebody_sees_the_vehicles_of_his_fleet_and_no_others(fleet):
    [(alert,)] = fleet.query("SELECT alert_id FROM drover.alert WHERE parameter = 'Engine Hours'")
    ada = entered(fleet, "ada")
    assert ada.get("/map").status == 200 and ada.get("/trips").status == 403
    assert "href=\"/trips\"" not in ada.get("/map").body
    # Nothing is hers yet: no name, no group, no alert.
    for path in ["/map", "/map/vehicles", "/services", "/alerts", "/"]:
        body = ada.get(path).body
        assert not re.search("combine-9|van-1|north", body), path
    assert ada.get("/vehicles/combine-9").status == ada.get(f"/alerts/{alert}").status == 404
    assert ada.post(f"/alerts/{alert}/acknowledge", form=ada.mark(), id="a-1").status == 404
    query(fleet.env, "INSERT INTO drover.fleet (fleet, name) VALUES ('farm', 'Farm')")
    query(fleet.env, "INSERT INTO drover.fleet_vehicle VALUES ('farm', 'machine', 'combine-9')")
    query(fleet.env, "INSERT INTO drover.fleet_member VALUES ('farm', 'ada')")
    for path in ["/map", "/map/vehicles", "/services", "/"]:
        body = ada.get(path).body
        assert "combine-9" in body and "van-1" not in body and "south" not in body, path
    machine = ada.get("/vehicles/combine-9").body
    assert "Coolant Temperature" in machine and "Terminal Serial Number" not in machine, "that is for dealers"
    assert ada.get(f"/alerts/{alert}").status == 200 and ada.get("/vehicles/van-1").status == 404


def test_a_time_beyond_all_times_in_an_address_ends_nothing(fleet):
    manager = entered(fleet, "manager")
    for at in ("-9223372036854775808", "9223372036854775807", "0", "x"):
        answer = manager.get(f"/services?recorded=combine-9&at={at}")
        assert answer.status == 200 and "combine-9" in answer.body and "recorded. It stays on record" not in answer.body, at


def test_whoever_is_refused_reads_why_on_a_page(fleet, page, watch, screenshots):
    """Programs and scripts get problem details."""
    page.goto(fleet.address + "/vehicels")
    expect(page.locator("h1")).to_have_text("Nothing here")
    expect(page.locator("main")).to_contain_text("Check its spelling")
    fleet.enter(page, "/account")
    answer = page.goto(fleet.address + "/vehicles/nobodys")
    assert (answer.status, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    expect(page.get_by_text("There is no such vehicle that you may see.")).to_be_visible()
    looked_at(page, screenshots, "refused")
    # A form, too, with what else the answer says.
    for link in [page.locator("main").get_by_role("link", name="Home", exact=True), page.get_by_role("navigation").get_by_role("link", name="Settings")]:
        with page.expect_navigation():
            link.click()
    page.evaluate("document.querySelectorAll('input[name=form]').forEach((mark) => { mark.value = '0'.repeat(64); })")
    page.locator("main form").first.get_by_role("button").first.click()
    expect(page.locator("h1")).to_have_text("You can’t do this")
    expect(page.locator("main")).to_contain_text("Reload the page")
    expect(page.get_by_role("link", name="Go back")).to_have_attribute("href", re.compile(r"^/settings"))
    # A browser notes each page that is none; nothing else went wrong.
    assert [re.search(r"status of (\d+)", line)[1] for line in watch.console] == ["404", "404", "403"]
    watch.forgive()
    visitor = Visitor(fleet.site.port)
    page_of, problem = (visitor.get("/login/x/y", Accept=accept) for accept in ("text/html,*/*;q=0.8", "*/*"))
    assert (page_of.status, problem.status) == (404, 404)
    assert json.loads(problem.body)["type"] == "urn:drover:problem:not-found" and "<h1>Nothing here</h1>" in page_of.body
    answer = visitor.post("/about", {"Accept": "text/html"})
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")


def test_ids_are_completed_as_they_are_typed(fleet, page):
    fleet.enter(page, "/account")
    for path, label, offered in [("/trips", "Vehicle", {"van-1", "van-2"}),
                                 ("/reports", re.compile("^Vehicle"), {"combine-9", "van-1", "van-2"})]:
        page.goto(fleet.address + path)
        for typed in ("MÜLL", "van"):
            with page.expect_response(lambda answer: "/vehicle-names?" in answer.url):
                page.get_by_label(label).press_sequentially(typed)
            page.get_by_label(label).fill("")
        # Those of what was typed last are there, so those of the first are.
        page.wait_for_function("(wanted) => wanted.every((name) => document.querySelector(`#vehicles option[value='${name}']`))", arg=sorted(offered - {"combine-9"}))
        there = set(page.locator("#vehicles option").evaluate_all("options => options.map((option) => option.value)"))
        assert there >= offered and ("combine-9" in there) == ("combine-9" in offered)
    names = json.loads(entered(fleet, "manager").get("/vehicle-names?search=Van").body)["names"]
    assert names[:2] == [{"name": "van-1", "about": "Van <1>"}, {"name": "van-2", "about": "Van 2"}]
    ada = entered(fleet, "ada")
    assert json.loads(ada.get("/vehicle-names?search=van").body) == {"names": []}, "not hers"
    assert ada.get("/vehicle-names").status == 400


def test_a_form_sent_twice_says_it_once(fleet):
    [(alert,)] = fleet.query("SELECT alert_id FROM drover.alert WHERE parameter = 'Engine Hours'")
    manager = entered(fleet, "manager")
    form = dict(re.findall(r'name="(form|id)" value="([^"]+)"', manager.get(f"/alerts/{alert}").body.split("/acknowledge\"")[1].split("</form>")[0]))
    form["id"] = "a-twice"
    for note in ("one", "two"):
        answer = manager.post(f"/alerts/{alert}/acknowledge", **form, note=note)
        assert (answer.status, answer.headers["Location"]) == (303, f"/alerts/{alert}?said=acknowledgement")
    until(lambda: fleet.query(f"SELECT 1 FROM drover.acknowledgement WHERE alert_id = '{alert}'"), fleet.worker)
    # What is behind them on the log is stored: so are both.
    ts = now_ms() + 2_000
    fleet.read("combine-9", ts, 60)
    until(lambda: fleet.query(f"SELECT 1 FROM drover.machine_reading WHERE read_at = to_timestamp({ts} / 1000.0)"), fleet.worker)
    assert len(fleet.query(f"SELECT 1 FROM drover.acknowledgement WHERE alert_id = '{alert}'")) == 1
    for wrong, status in [({"hours": "721"}, 422), ({"hours": "-1"}, 422), ({"hours": "x"}, 422), ({"hours": "8", "id": "no id"}, 422), ({"hours": "8", "form": "0" * 64}, 403), ({"hours": "8", "note": "x" * 2_001}, 422)]:
        assert manager.post(f"/alerts/{alert}/silence", **{**form, **wrong}).status == status, wrong
    assert manager.post(f"/alerts/{alert}/silence", {"Sec-Fetch-Site": "cross-site"}, **form, hours="8").status == 403


def test_pages_need_no_other_server_and_no_inline_script(fleet, page):
    fleet.enter(page, "/account")
    for path in ["/map", "/alerts", "/vehicles/combine-9", "/trips", "/fleet"]:
        answer = page.goto(fleet.address + path)
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy and policy.startswith("default-src 'none'")
        # Past the links with the first key.
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_have_class("skip")
        page.keyboard.press("Enter")
        expect(page.locator(":focus")).to_have_id("main")


def test_a_trip_under_way_is_not_counted_as_ended(fleet):
    manager = entered(fleet, "manager")
    start = now_ms() - 60_000
    fleet.drive("van-4", start, range(50), speed_kmh=40)
    fleet.world.tick()
    until(lambda: fleet.query("SELECT 1 FROM drover.trip_now WHERE vehicle = 'van-4'"), fleet.worker)
    day = datetime.fromtimestamp(start / 1000, timezone.utc).strftime("%Y-%m-%d")
    body = manager.get(f"/trips?date={day}&vehicle=van-4").body
    assert '<span class="label">Trips</span><span class="fig">0' in body and "1 under way, not counted yet" in body and ">Under way</span>" in body
