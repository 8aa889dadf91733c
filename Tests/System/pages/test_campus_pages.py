"""A dispatcher's, a rider's and a ride driver's day in the browser, from the log-in to the end of a ride, and who sees what of it."""
import itertools
import re

import harness
import psycopg
import pytest
from playwright.sync_api import expect
from certificates import self_signed
from harness import HANG_S, Watch, lent, until
from people import PASSWORD, Visitor, follow, lend_cookie, logged_in
from services import Services
from test_accounts import Site
from test_campus_api import PNG
from test_dispatch import Campus, place
from world import Asked, as_page, connect, producer, query

PEOPLE = {"ada": "rider", "bob": "rider", "dora": "ride_driver", "dan": "ride_driver", "dave": "dispatcher"}
NAMES = {"ada": "Ada <Lovelace>", "bob": "Bob", "dora": "Dora Miller", "dan": "Dan", "dave": "Dave"}
FORM = re.compile(r'name="(form|key)" value="([^"]+)"')


@pytest.fixture(scope="module")
def town(world, tmp_path_factory):
    yield from lent(Town(world, tmp_path_factory.mktemp("town")))


class Town(Asked):
    """A campus that is dispatched, with a roster, mail, addresses and roads, and people with accounts."""

    def __init__(self, world, folder):
        self.world, self.env, self.sender, self.folder = world, world.database(), producer(world.brokers), folder
        self.worker = world.assigned(self.env, "town")
        self.services = Services(folder)
        self.site = Site(world, self.env, self_signed(folder, "mail"), folder, "--set", f"geocoder.url={self.services.address}", "--set", f"geocoder.ca_file={self.services.certificate}", "--set",
                         "geocoder.calls_max=600/min", "--set", f"travel.url={self.services.address}", "--set", f"travel.ca_file={self.services.certificate}",
                         "--set", "outside.failures_max=100")
        self.address = f"http://127.0.0.1:{self.site.port}"
        self.campus = Campus(self, "north", {"pickup_s": 0, "dropoff_s": 0})
        self.settle()
        roster = folder / "roster.csv"
        roster.write_text("id,role,name,mail\n" + "".join(f"{who}-1,{role},{NAMES[who]},{who}@campus.example\n" for who, role in PEOPLE.items()))
        world.drover.done("import", "people", roster, "--campus", "north", env=self.env)
        for who, role in PEOPLE.items():
            self.site.with_account(who, f"{who}@example.org", PASSWORD, role)
        self.site.with_account("root", "root@example.org", PASSWORD, "administrator")
        self.site.with_account("eve", "eve@example.org", PASSWORD, "rider", "ride_driver", "dispatcher")

    def settle(self):
        self.world.work_off(self.env)

    def bind(self, who):
        """As a mailed code would have."""
        query(self.env, "INSERT INTO drover.person_account VALUES ('north', %s, %s) ON CONFLICT DO NOTHING", f"{who}-1", who)

    def visitor(self, who):
        return logged_in(self.site.port, who)

    def ride(self, rider, *columns):
        [row] = self.query(f"SELECT {', '.join(columns)} FROM drover.ride WHERE rider = %s ORDER BY requested_at DESC LIMIT 1", f"{rider}-1")
        return row

    def close(self):
        try:
            self.site.close()
            self.worker.stop()
        finally:
            self.services.close()


@pytest.fixture
def browsing(browser, town):
    """A browser of each person: the test fails when a page of theirs misbehaved."""
    opened = []

    def enter(who, path, log_in=False, **context):
        watch = Watch()
        made = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB", timezone_id="Europe/Berlin", reduced_motion="reduce", **context)
        made.set_default_timeout(HANG_S * 1000)
        watch.attach(made)
        page = made.new_page()
        page.watch = watch
        opened.append((made, watch, who))
        if log_in:
            page.goto(town.address + "/login?next=" + path)
            page.get_by_label("Email").fill(f"{who}@example.org")
            page.get_by_label("Password").fill(PASSWORD)
            follow(page, page.get_by_role("button", name="Log in"))
            page.wait_for_url("**" + path)
        else:
            lend_cookie(town.visitor(who), page, town.address)
            page.goto(town.address + path)
        return page

    yield enter
    for made, _, _ in opened:
        made.close()
    for _, watch, who in opened:
        assert watch.problems() == {}, f"the page of {who} misbehaved"


def looked_at(page, screenshots, name, dark=False):
    """As other pages; and nothing sticks out on a small phone."""
    harness.looked_at(page, screenshots, name, dark)
    page.set_viewport_size({"width": 360, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
    page.set_viewport_size({"width": 1280, "height": 900})


def bound(town, page, who):
    """Has a code mailed and hands it in, as the page says."""
    page.locator("#ask-campus").fill("north")
    page.locator("#ask-id").fill(f"{who}-1")
    before = len(town.site.office.box.mails)
    follow(page, page.get_by_role("button", name="Send code"))
    expect(page.get_by_text("a code is on its way")).to_be_visible()
    until(lambda: len(town.site.office.box.mails) > before)
    [code] = re.findall(r"\b\d{8}\b", town.site.mail(before).get_content())
    page.get_by_label("Code").fill(code)
    follow(page, page.get_by_role("button", name="Join"))


def said(page, text):
    """Shows without a reload."""
    expect(page.locator("#said")).to_contain_text(text, use_inner_text=True)


def geolocated(x, y):
    at = place(x, y)
    return {"geolocation": {"latitude": at["latitude_deg"], "longitude": at["longitude_deg"]}, "permissions": ["geolocation"]}


def click_map(page, x, y):
    """At a place of the campus."""
    at = place(x, y)
    page.locator("#map").scroll_into_view_if_needed()
    point = page.evaluate("async ([a, b]) => { const { map } = await droverCampus.ready, p = map.project([b, a]); return [p.x, p.y]; }", [at["latitude_deg"], at["longitude_deg"]])
    page.locator("#map").click(position={"x": point[0], "y": point[1]})


def test_a_day_from_the_log_in_to_the_end_of_a_ride(town, browsing, screenshots, tmp_path):
    dave = browsing("dave", "/dispatch", log_in=True)
    looked_at(dave, screenshots, "bind")
    bound(town, dave, "dave")
    said(dave, "0 vehicles, 0 open rides")

    # The driver comes into service where the device says that she is.
    dora = browsing("dora", "/drive", **geolocated(100, 50))
    bound(town, dora, "dora")
    dora.get_by_text("Your name and photo").click()
    (tmp_path / "face.png").write_bytes(PNG)
    dora.get_by_label("Another photo").set_input_files(tmp_path / "face.png")
    dora.get_by_role("button", name="Keep this photo").click()
    expect(dora.get_by_text("Kept.")).to_be_visible()
    dora.reload()
    dora.get_by_label("Vehicle", exact=True).fill("bus-1")
    dora.get_by_role("button", name="Use my position").click()
    dora.wait_for_function("() => document.getElementById('latitude_deg').value")
    looked_at(dora, screenshots, "enter")
    follow(dora, dora.get_by_role("button", name="Start service"))
    said(dora, "No stops now")
    expect(dora.locator("#now li").filter(has_text="seats taken")).to_have_text("0 of 4 seats taken")
    said(dave, "1 vehicle")
    expect(dave.locator("#vehicles")).to_contain_text("Dora Miller")
    expect(dave.locator("#map")).to_have_attribute("data-shapes", re.compile("campus"))

    # The rider asks: an address, and a click on the map.
    ada = browsing("ada", "/ride")
    bound(town, ada, "ada")
    ada.get_by_label("Address of the start").fill("2121 I Street NW")
    ada.get_by_role("group", name="To").get_by_role("button", name="Choose on the map").click()
    click_map(ada, 400, 300)
    expect(ada.locator("#to_latitude_deg")).not_to_have_value("")
    assert float(ada.locator("#to_latitude_deg").input_value()) == pytest.approx(place(400, 300)["latitude_deg"], abs=1e-4)
    ada.get_by_label("Passengers").fill("2")
    ada.get_by_label("Note for the driver").fill("red coat <b>")
    looked_at(ada, screenshots, "ask")
    form = dict(FORM.findall(ada.content().split('id="ask"')[1]))
    ada.get_by_role("button", name="Request ride").dblclick()
    said(ada, "A vehicle is coming: bus-1 with Dora Miller")
    [(request, passengers, address)] = town.query("SELECT request, passengers, from_address FROM drover.ride")
    assert (passengers, address) == (2, "2121 I Street NW")
    # Sent again with what the form held, it is the same ride: nothing is made twice.
    answer = ada.request.post(town.address + "/ride", form={
        **form, "passengers": "2", "description": "red coat <b>", "from_address": "2121 I Street NW",
        **{f"to_{key}": str(value) for key, value in zip(["latitude_deg", "longitude_deg"], town.ride("ada", "to_latitude_deg", "to_longitude_deg"))}},
        headers={"Origin": town.address})
    assert answer.ok and len(town.query("SELECT 1 FROM drover.ride")) == 1, answer.text()
    expect(ada.locator("#now img.face")).to_have_attribute("alt", "Photo of Dora Miller")
    ada.wait_for_function("() => document.querySelector('#now img.face').naturalWidth > 0")
    expect(ada.locator("#now")).to_contain_text("from your start")
    looked_at(ada, screenshots, "ride", dark=True)

    # The driver is shown it; the dispatcher, too, with the way along the road.
    said(dora, "Next: pick up Ada <Lovelace> (2).")
    expect(dora.locator("ol.stops > li.next").get_by_role("link", name="Navigate: Pick up Ada <Lovelace>")).to_have_attribute("href", re.compile(r"^geo:38\.\d+,-77\.\d+\?q="))
    stops = dora.locator("ol.stops > li")
    expect(stops).to_have_count(2)
    for text in ["“red coat <b>”", "2121 I Street NW", re.compile(r"2 passengers, \d+ m")]:
        expect(stops.first).to_contain_text(text)
    looked_at(dora, screenshots, "drive", dark=True)
    said(dave, ", 1 open ride")
    expect(dave.locator("#vehicles")).to_contain_text("↑ pick up Ada <Lovelace>")
    expect(dave.locator("#timeline svg[aria-label^='bus-1:']")).to_have_attribute("aria-label", re.compile(r"^bus-1: Ada <Lovelace>: pickup \d\d:\d\d, drop-off \d\d:\d\d$"))
    expect(dave.locator("#map .nm").filter(has_text="bus-1")).to_have_count(1)
    # No name covers another.
    assert not dave.evaluate("""() => {
        const boxes = [...document.querySelectorAll("#map .nm:not([hidden])")].map((name) => name.getBoundingClientRect());
        return boxes.some((a, i) => boxes.slice(i + 1).some((b) => a.right > b.left + 1 && b.right > a.left + 1 && a.bottom > b.top + 1 && b.bottom > a.top + 1));
    }""")
    expect(dave.locator("#needs")).to_contain_text("Nothing right now")
    expect(dave.locator("#map")).to_have_attribute("data-roads", "1")
    assert any(path.startswith("/route/v1/driving/") for path in town.services.paths())
    looked_at(dave, screenshots, "dispatch", dark=True)

    # Her device says where she is while the page is open.
    at = geolocated(0, 0)["geolocation"]
    dora.context.set_geolocation(at)
    until(lambda: town.query("SELECT 1 FROM drover.ride_vehicle WHERE abs(latitude_deg - %s) < 1e-6", at["latitude"]))

    dora.get_by_role("button", name="Done: Pick up Ada <Lovelace>").click()
    said(dora, "Next: drop off Ada <Lovelace> (2).")
    said(ada, "On board")
    expect(dave.locator("#rides")).to_contain_text("on board")
    expect(ada.get_by_role("button", name="Cancel ride")).to_have_count(0)
    dora.get_by_role("button", name="Done: Drop off Ada <Lovelace>").click()
    said(dora, "No stops now")
    said(ada, "Your last ride: done.")
    said(dave, ", 0 open rides")
    assert town.ride("ada", "state") == ("done",)
    # Unless the day ended meanwhile.
    [(is_today,)] = town.query("SELECT requested_at >= date_trunc('day', now()) FROM drover.ride WHERE rider = 'ada-1'")
    expect(dave.locator("#times")).to_contain_text(re.compile(rf"{'Today' if is_today else 'days, four weeks'}\s+1\s+1\s"), use_inner_text=True)

    # One is cancelled, and the dispatcher sees it.
    asked(ada, 200, 200)
    said(ada, "A vehicle is coming")
    said(dora, "Next: pick up")
    ada.get_by_role("button", name="Cancel ride").click()
    said(ada, "Your last ride: cancelled.")
    said(dora, "No stops now")
    expect(dave.locator("#events")).to_contain_text("Ride cancelled")

    # One is refused: it waits in line, and goes to the next vehicle that comes.
    asked(ada, 300, 100)
    said(ada, "A vehicle is coming")
    said(dora, "Next: pick up")
    dora.get_by_role("button", name="Refuse the ride of Ada <Lovelace>").click()
    said(dora, "No stops now")
    said(ada, "Waiting for a vehicle, number 1 in line.")
    expect(dave.locator("#needs")).to_contain_text("No vehicle yet")
    expect(dave.locator("#timeline")).to_contain_text("No vehicle yet")
    expect(dave.locator("#events")).to_contain_text("Driver refused a ride")
    town.campus.vehicle("bus-2", -300, -300)
    said(ada, "A vehicle is coming: bus-2 with Driver of bus-2")
    expect(dave.locator("#rides")).to_contain_text("bus-2")
    looked_at(dave, screenshots, "refused")

    # Why: what the page says is what the decisions say.
    dave.locator("#rides").get_by_role("link", name="Why this vehicle").click()
    dave.wait_for_url("**/why/**")
    compare_why(town, dave, town.ride("ada", "request")[0])
    looked_at(dave, screenshots, "why")

    dora.get_by_role("button", name="Out of service").click()
    expect(dora.get_by_text("You are not in service.")).to_be_visible()
    town.settle()
    assert town.query("SELECT state FROM drover.ride_vehicle WHERE vehicle = 'bus-1'") == [("out",)]
    ada.get_by_role("button", name="Cancel ride").click()
    said(ada, "Your last ride: cancelled.")


def opened(page):
    """With all that a rider seldom types."""
    page.locator("#ask").evaluate("form => { for (const each of form.querySelectorAll('details')) each.open = true; }")


def asked(page, to_x, to_y):
    opened(page)
    page.get_by_label("Address of the start").fill("2121 I Street NW")
    for key, value in place(to_x, to_y).items():
        page.locator(f"#to_{key}").fill(str(value))
    page.get_by_role("button", name="Request ride").click()


def compare_why(town, page, request):
    """Each vehicle that was tried, with all its terms, against the rows of the decisions themselves."""
    expected = []
    for made, why in town.query("SELECT made_at, why FROM drover.dispatch_decision WHERE campus = 'north' ORDER BY made_at, record_offset"):
        for step in why["steps"]:
            for choice in step["choices"]:
                if choice["request"] == request:
                    expected.append((step["event"], why["weights"], choice["options"]))
    page.evaluate("() => { for (const each of document.querySelectorAll('main details')) each.open = true; }")
    shown = [[[cell.strip() for cell in row.locator("td").all_inner_texts()] for row in section.locator("tbody tr").all()]
             for section in page.get_by_role("region", name=re.compile(r"^All costs of decision \d+$")).all()]
    shown = [rows for rows in shown if rows]
    expected = [entry for entry in expected if entry[2]]
    assert len(shown) == len(expected) >= 2
    terms = ["growth_s", "travel_s", "wait_s", "ride_s", "order_s", "cancel_s", "override_s", "promises_s", "before_s", "after_s"]
    for rows, (_, _, options) in zip(shown, expected):
        assert [(row[0], row[1]) for row in rows] == [(str(at + 1), option["vehicle"]) for at, option in enumerate(options)]
        for row, option in zip(rows, options):
            assert [float(cell) for cell in row[2:12]] == [pytest.approx(option[term]) for term in terms]
            assert row[12] == ("proven" if option["proven"] else "not proven")
            assert row[14] == f"{option['legs_measured']} measured, {option['legs_estimated']} estimated"
            # The terms make the growth.
            assert sum(float(cell) for cell in row[3:10]) == pytest.approx(float(row[2]), abs=0.01)
    weights = page.locator("main section details dl").filter(has_text="Weights").first.inner_text()
    for name, value in expected[0][1].items():
        assert re.search(rf"\b{name} {float(value):g}\b", weights), (name, weights)


def test_a_ride_that_cannot_be_says_why_and_keeps_what_was_typed(town, browsing, screenshots):
    town.bind("bob")
    bob = browsing("bob", "/ride")
    opened(bob)
    for key, value in {**{f"from_{key}": value for key, value in place(0, 0).items()}, **{f"to_{key}": value for key, value in place(5000, 0).items()}}.items():
        bob.locator(f"#{key}").fill(str(value))
    bob.get_by_label("Note for the driver").fill("two bags")
    bob.get_by_role("button", name="Request ride").click()
    expect(bob.get_by_role("alert")).to_contain_text(re.compile(r"A ride leaves the campus by at most 804 m; where you go is \d+ m outside"))
    expect(bob.get_by_label("Note for the driver")).to_have_value("two bags")
    expect(bob.locator("#to_latitude_deg")).to_have_value(str(place(5000, 0)["latitude_deg"]))
    looked_at(bob, screenshots, "outside")
    for values, text in [({"from_address": "", "from_latitude_deg": "", "from_longitude_deg": ""}, "Say where you start"),
                         ({"from_latitude_deg": "north"}, "latitude of the start must be a number of degrees"),
                         ({"from_address": "nowhere", "from_latitude_deg": "", "from_longitude_deg": ""}, "This address is not found"),
                         ({"passengers": "101"}, "number of passengers must be a whole number")]:
        bob.goto(town.address + "/ride")
        opened(bob)
        for key, value in {**{f"from_{key}": value for key, value in place(0, 0).items()}, **{f"to_{key}": value for key, value in place(100, 0).items()}, **values}.items():
            bob.locator(f"#{key}").fill(str(value))
        # What the browser itself would not send.
        bob.locator("#ask").evaluate("form => form.noValidate = true")
        bob.get_by_role("button", name="Request ride").click()
        expect(bob.get_by_role("alert")).to_contain_text(text)
    assert town.query("SELECT 1 FROM drover.ride WHERE rider = 'bob-1'") == []
    assert all("422" in line for line in bob.watch.console)
    bob.watch.forgive()


def test_without_script_a_ride_is_asked_for_and_cancelled(town):
    town.bind("bob")
    bob = town.visitor("bob")
    form = dict(FORM.findall(bob.get("/ride").body.split('id="ask"')[1]))
    order = {**form, "passengers": "1", "from_address": "2121 I Street NW", "to_latitude_deg": "38,9", "to_longitude_deg": "-77,05"}
    answers = [bob.post("/ride", **order) for _ in range(2)]
    assert [(answer.status, answer.headers["Location"]) for answer in answers] == [(303, "/ride")] * 2, answers[0].body
    [(request, state)] = town.query("SELECT request, state FROM drover.ride WHERE rider = 'bob-1'")
    assert state in ("queued", "assigned") and request in bob.get("/ride").body
    # Another one beside it is refused, and the form says why.
    home = bob.get("/home").body
    assert "Your last rides" in home and "Open ride" in home and "Your last surveys" not in home
    again = bob.post("/ride", **{**order, "key": "another"})
    assert again.status == 409 and "You have asked for another ride already" in again.body
    # Nobody else's hands: neither the ride, nor a form of another log-in.
    town.bind("ada")
    ada = town.visitor("ada")
    assert ada.post(f"/ride/{request}/cancel", form=ada.mark()).status == 404
    assert ada.get(f"/ride/{request}/stream").status == 404
    assert bob.post(f"/ride/{request}/cancel", form=ada.mark()).status == 403
    assert bob.post(f"/ride/{request}/cancel", {"Sec-Fetch-Site": "cross-site"}, form=bob.mark()).status == 403
    assert bob.post(f"/ride/{request}/cancel", form=bob.mark()).status == 303
    assert town.query("SELECT state FROM drover.ride WHERE request = %s", request) == [("cancelled",)]


def test_a_driver_without_script_with_a_breakdown(town):
    town.bind("dan")
    dan = town.visitor("dan")
    form = dict(FORM.findall(dan.get("/drive").body.split('id="enter"')[1]))
    entered = dan.post("/drive/in-service", **form, vehicle="van-9", capacity="6", **{key: str(value) for key, value in place(10, 10).items()})
    assert entered.status == 303, entered.body
    assert dan.post("/drive/in-service", **{**form, "key": "k-2"}, vehicle="van-8", capacity="6", **{key: str(value) for key, value in place(10, 10).items()}).status == 409
    assert dan.post("/drive/position", form=form["form"], latitude_deg="38.9001", longitude_deg="-77.05", speed_mps="3").status == 303
    until(lambda: town.query("SELECT 1 FROM drover.ride_vehicle WHERE vehicle = 'van-9' AND abs(latitude_deg - 38.9001) < 1e-6"), town.worker)
    assert dan.post("/drive/done", form=form["form"], request="r-none", stop="pickup").status == 404
    assert dan.post("/drive/override", form=form["form"]).status == 404
    assert dan.post("/drive/breakdown", form=form["form"], key="b-1").status == 303
    assert town.query("SELECT state FROM drover.ride_vehicle WHERE vehicle = 'van-9'") == [("out",)]
    assert "Start service" in dan.get("/drive").body
    root = town.visitor("root")
    assert "Breakdown" in root.get("/dispatch?campus=north").body


def test_a_ride_on_board_of_a_silent_vehicle_needs_attention_and_is_dealt_with(town):
    """A vehicle last heard of yesterday was shown with "picks you up in less than a minute"."""
    for who in ("bob", "dan", "dave"):
        town.bind(who)
    bob, dan, dave = (town.visitor(who) for who in ("bob", "dan", "dave"))
    here = {key: str(value) for key, value in place(700, 700).items()}
    assert dan.post("/drive/in-service", form=dan.mark(), key="k-silent", vehicle="van-silent", capacity="4", **here).status == 303
    order = {f"{end}_{key}": value for end, at in (("from", place(701, 701)), ("to", place(0, 0))) for key, value in at.items()}
    assert bob.post("/ride", form=bob.mark(), key="k-silent", passengers="1", **order).status == 303
    [(request, vehicle)] = town.query("SELECT request, vehicle FROM drover.ride WHERE rider = 'bob-1' AND ended_at IS NULL")
    assert vehicle == "van-silent"
    silent = "UPDATE drover.ride_vehicle SET seen_at = now() - interval '26 hours', is_silent = true, is_alarmed = %s WHERE vehicle = 'van-silent'"
    query(town.env, silent, False)
    shown = bob.get("/ride").body
    assert "in less than a minute" not in shown and "the vehicle was last heard of 26 h ago" in shown and 'data-kind="stale"' in shown
    assert "too old: you get no rides" in dan.get("/drive").body
    assert dan.post("/drive/done", form=dan.mark(), request=request, stop="pickup").status == 303
    assert f'href="/drive?deal={request}#deal"' in dan.get("/drive").body and 'action="/drive/hand-over"' in dan.get(f"/drive?deal={request}").body
    assert f'action="/ride/{request}/end"' in bob.get("/ride").body
    # The dispatcher's link leads to the open form.
    why = f"/dispatch/north/why/{request}"
    assert "<details open" in dave.get(why + "?deal=1").body and "<details open" not in dave.get(why).body
    query(town.env, silent, True)
    shown = dave.get("/dispatch?campus=north").body
    assert "On board of van-silent, last heard 26 h ago. Call Dan, then end the ride or hand it over." in shown
    assert "Needs attention: van-silent, silent with passengers on board" in shown and "26 h ago" in shown and f"/why/{request}?deal=1#deal" in shown
    assert "Your vehicle has been silent for a while" in bob.get("/ride").body
    # Not without a reason, not by others.
    deal = f"/dispatch/north/rides/{request}"
    assert dave.post(deal + "/end", form=dave.mark()).status == 422
    assert bob.post(deal + "/end", form=bob.mark(), reason="mine").status == 403
    assert dave.post(deal + "/end", form=dave.mark(), key="d-1", reason="found at the gate").status == 303
    assert town.query("SELECT state, reason FROM drover.ride WHERE request = %s", request) == [("ended", "the dispatcher: found at the gate")]
    assert town.query("SELECT is_alarmed FROM drover.ride_vehicle WHERE vehicle = 'van-silent'") == [(False,)]
    assert "found at the gate" in dave.get("/dispatch?campus=north").body
    assert dan.post("/drive/out-of-service", form=dan.mark(), key="o-silent").status == 303


def test_dispatchers_name_places_and_riders_go_by_them(town):
    for who in ("bob", "dave"):
        town.bind(who)
    bob, dave = town.visitor("bob"), town.visitor("dave")
    path, keys = "/dispatch/north/places", itertools.count(1)

    def base():
        return re.search(r'name="base" value="(\d+)"', dave.get(path).body)[1]

    def put(act, at=None, who=dave, **fields):
        return who.post(path, form=who.mark(), key=f"p-{next(keys)}", act=act, base=at or base(), **{key: str(value) for key, value in fields.items()})
    first = base()
    assert put("add", name="  Main  <gate> ", **place(30, 40)).status == 303
    assert "Main &lt;gate&gt;" in dave.get(path).body
    # What was made from the places of before is refused, not lost.
    late = put("add", at=first, name="Library", **place(400, 300))
    assert late.status == 409 and "Somebody else changed the places meanwhile" in late.body and 'value="Library"' in late.body
    assert put("add", name="Library", **place(400, 300)).status == 303
    for fields, text in [({"name": "library", **place(1, 1)}, "There is a place called library already"), ({"name": "Far", **place(9000, 0)}, "outside the campus"),
                         ({"name": " ", **place(1, 1)}, "A name has 1 to 80 letters"), ({"name": "Nowhere"}, "Tap the map where the place is")]:
        answer = put("add", **fields)
        assert answer.status == 422 and text in answer.body, fields
    assert put("add", at="1", who=bob, name="Mine", **place(1, 1)).status == 403
    assert town.visitor("ada").get(path).status == 403
    # Settings that are published again leave the places.
    [(boundary,)] = town.query("SELECT settings::jsonb ->> 'boundary' FROM drover.campus WHERE campus = 'north'")
    town.campus.say("campus", name="The square", boundary=boundary, pickup_s=0, dropoff_s=0)
    town.settle()
    assert put("rename", was="Library", name="Library, east").status == 303
    shown = bob.get("/ride").body
    assert 'value="Library, east"' in shown and '<option value="Main &lt;gate&gt;"' in shown

    order = {"form": bob.mark(), "passengers": "1"}
    gone = bob.post("/ride", **order, key="named-0", from_place="Main <gate>", to_place="Library")
    assert gone.status == 422 and "There is no place called Library any more" in gone.body
    assert bob.post("/ride", **order, key="named-1", from_place="Main <gate>", to_place="Library, east").status == 303
    [(request, *ends)] = town.query("SELECT request, from_address, to_address FROM drover.ride WHERE rider = 'bob-1' AND ended_at IS NULL")
    assert ends == ["Main <gate>", "Library, east"]
    assert "↓ Library, east" in dave.get("/dispatch?campus=north").body
    assert bob.post(f"/ride/{request}/cancel", form=bob.mark()).status == 303
    # The same again, in one tap; nobody else's.
    query(town.env, "UPDATE drover.ride SET state = 'done' WHERE request = %s", request)
    assert f'name="again" value="{request}"' in bob.get("/ride").body
    town.bind("ada")
    ada = town.visitor("ada")
    assert ada.post("/ride", form=ada.mark(), key="named-2", passengers="1", again=request).status == 422
    assert bob.post("/ride", **order, key="named-3", again=request).status == 303
    [(again, *ends)] = town.query("SELECT request, from_address, to_address FROM drover.ride WHERE rider = 'bob-1' AND ended_at IS NULL")
    assert again != request and ends == ["Main <gate>", "Library, east"]
    assert bob.post(f"/ride/{again}/cancel", form=bob.mark()).status == 303
    for name in ("Main <gate>", "Library, east"):
        assert put("remove", was=name).status == 303
    assert "No places yet" in dave.get(path).body


def test_who_sees_what(town):
    for who in PEOPLE:
        town.bind(who)
    numbers = itertools.count(1)
    town.campus.say("profile", rider="bob-1", name="Bob")
    town.campus.say("in_service", vehicle="bus-7", driver="dora-1", name="Dora Miller", capacity=4, **place(0, 0))
    for vehicle in ("bus-1", "bus-2", "van-9"):
        town.campus.say("out_of_service", vehicle=vehicle)
    town.settle()
    for rider in ("ada-1", "bob-1"):
        town.campus.pickup(f"sees-{next(numbers)}", 20, 20, 300, 300, rider=rider)
    town.settle()
    assert town.query("SELECT vehicle FROM drover.ride WHERE request = 'sees-1'") == [("bus-7",)]
    everything = {table: town.query(f"SELECT count(*) FROM drover.{table}")[0][0] for table in ("ride", "rider", "ride_vehicle", "dispatch_decision", "person_photo")}

    def seen(account, table, where="true"):
        with as_page(town.env, account) as page:
            return page.execute(f"SELECT count(*) FROM drover.{table} WHERE {where}").fetchone()[0]
    for account in ("dave", "root"):
        assert {table: seen(account, table) for table in everything} == everything, account
    assert {table: seen("eve", table) for table in everything} == dict.fromkeys(everything, 0), "bound to nobody, she sees nothing"
    for rider in ("ada", "bob"):
        assert seen(rider, "ride") == seen(rider, "ride", f"rider = '{rider}-1'") >= 1
        assert seen(rider, "rider", f"rider <> '{rider}-1'") == seen(rider, "dispatch_decision") == 0
        assert seen(rider, "ride_vehicle") == everything["ride_vehicle"]
    assert seen("dora", "ride") == seen("dora", "ride", "vehicle = 'bus-7'")
    assert seen("dan", "ride", "ended_at IS NULL") == 0
    with psycopg.connect(town.env["DROVER_POSTGRES_URL"]) as connection:
        connection.execute("SET LOCAL ROLE drover_page")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT state FROM drover.campus")

    # The driver's face is for who waits for her.
    photo = "ab" * 32
    with connect(town.env) as connection:
        connection.execute("INSERT INTO drover.person_photo VALUES ('north', 'dora-1', %s, 'image/png', %s)", [photo, PNG])
        connection.execute("UPDATE drover.ride SET vehicle = NULL WHERE request = 'sees-2'")

    def look(who):
        return town.visitor(who).ask("HEAD", f"/campus-photos/north/{photo}").status
    assert {who: look(who) for who in [*PEOPLE, "eve", "root"]} == {"ada": 200, "bob": 404, "dora": 200, "dan": 404, "dave": 200, "eve": 404, "root": 200}
    assert Visitor(town.site.port).get(f"/campus-photos/north/{photo}").status == 401

    # Off the roster, or without the role: nothing is seen from then on.
    run = town.world.drover.run("people", "disable", "bob-1", "--campus", "north", env=town.env)
    assert run.code == 0 and seen("bob", "ride") == 0
    assert "Join your campus" in town.visitor("bob").get("/ride").body
    query(town.env, "UPDATE drover.account SET roles = '{rider}' WHERE account = 'dave'")
    assert seen("dave", "ride") == 0
    assert town.visitor("dave").get("/dispatch").status == 403
    query(town.env, "UPDATE drover.account SET roles = '{dispatcher}' WHERE account = 'dave'")


def test_a_code_binds_once_and_a_wrong_one_never(town):
    eve = town.visitor("eve")
    form = {"form": eve.mark(), "role": "rider", "campus": "north", "id": "nobody-1"}
    asked = eve.post("/campus-code", **form)
    known = eve.post("/campus-code", **{**form, "id": "ada-1"})
    # Nothing tells who is on the roster.
    assert asked.status == known.status == 200 and asked.body == known.body.replace("ada-1", "nobody-1")
    for code, status in [("12345", 422), ("00000000", 422)]:
        answer = eve.post("/campus-bind", **{**form, "id": "ada-1"}, code=code)
        assert answer.status == status and 'role="alert"' in answer.body
    assert town.query("SELECT 1 FROM drover.person_account WHERE account = 'eve'") == []
    answer = eve.post("/campus-code", **{**form, "campus": "<script>"})
    assert answer.status == 422 and "<script>" not in answer.body
    # One account a person, one person of a role an account.
    query(town.env, "DELETE FROM drover.code_request")
    before = len(town.site.office.box.mails)
    assert eve.post("/campus-code", **{**form, "id": "dan-1"}).status == 200
    until(lambda: len(town.site.office.box.mails) > before)
    [code] = re.findall(r"\b\d{8}\b", town.site.mail(before).get_content())
    taken = eve.post("/campus-bind", **{**form, "id": "dan-1"}, code=code)
    assert (taken.status, taken.headers["Location"]) == (303, "/drive")
    assert town.query("SELECT account FROM drover.person_account WHERE person = 'dan-1'") == [("eve",)]
    assert eve.post("/campus-bind", **{**form, "id": "dan-1"}, code=code).status == 422
