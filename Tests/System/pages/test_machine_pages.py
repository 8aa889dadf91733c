"""Pages around machines in a real browser: a farmer's day, a dealer's, and somebody who changes a threshold."""
import json
import random
import re
import shutil
import threading
import urllib.parse
from datetime import datetime, timedelta

import pytest
from description import check
from harness import lent, looked_at, ROOT, today, until
from people import PASSWORD, Visitor, enter, follow, logged_in
from playwright.sync_api import expect
from test_accounts import Site
from test_gateway import emulate, gateway
from test_thresholds import walk
from test_uploads import give_token, now
from world import Asked, connect, query

SCENARIO = """interval_s: 1
memory_min: 1
boxes:
  hot:
    model: S690 Combine
    values:
      coolant_c: 97
      hydraulic_oil_c: 50
      tire_pressure_kpa: 190
      fuel_level_gal: 200
"""


@pytest.fixture(scope="module")
def farm(world, tmp_path_factory):
    yield from lent(Farm(world, tmp_path_factory.mktemp("machine-pages")))


class Farm(Asked):
    """A box that is too hot, its gateway, threshold files of its own, and people who have nothing yet."""

    def __init__(self, world, folder):
        self.world, self.env = world, world.database()
        self.thresholds = folder / "thresholds"
        shutil.copytree(ROOT / "Deploy" / "thresholds", self.thresholds)
        self.env["DROVER_ALERTS_THRESHOLDS_DIR"] = str(self.thresholds)
        self.env["DROVER_GATEWAY_PLAIN_TCP_CIDRS"] = "127.0.0.0/8"
        self.worker = world.assigned(self.env, "machine-pages")
        self.site = Site(world, self.env, None, folder, has_mail=False)
        self.address = f"http://127.0.0.1:{self.site.port}"
        for account, roles in [("ada", ["farmer"]), ("bea", ["farmer"]), ("deal", ["dealer"]), ("boss", ["fleet_manager"]), ("dev", ["developer"]),
                               ("joe", ["driver"]), ("root", ["administrator"])]:
            self.site.with_account(account, f"{account}@example.org", PASSWORD, *roles)
        (folder / "hot.yaml").write_text(SCENARIO)
        [self.box] = emulate(world, folder / "hot.yaml", 1)
        self.serial = self.box["serial"]
        self.keys = folder / "keys"
        self.keys.mkdir()
        self.gateway = gateway(world, self.env, folder, **{"gateway.debug_keys_dir": self.keys})
        until(lambda: self.query("SELECT 1 FROM drover.rule_set"), self.site.server, self.worker)

    def close(self):
        try:
            self.gateway.stop()
        finally:
            self.site.close()
            self.worker.stop()

    def enter(self, page, who, path="/vehicles"):
        page.context.clear_cookies()
        enter(page, self.address, who, path)

    def visitor(self, who):
        return logged_in(self.site.port, who)

    def read(self, vehicle, ts, **values):
        self.world.push("drover.machines", {"schema": 1, "kind": "reading", "id": f"{vehicle}-{ts}", "vehicle": vehicle, "ts": ts, "model": "8R Tractor",
                                            "gps_available": True, "coolant_c": 80, "serial": "42", **values})


def fields(body, action):
    """Of the form that is sent there."""
    forms = [text for text in re.findall(r"<form.*?</form>", body, re.S) if f'action="{action}"' in text]
    [form] = [text for text in forms if 'method="post"' in text] or forms
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form))


def test_a_farmers_day(farm, page, screenshots, watch):
    farm.enter(page, "ada")
    main, story = page.locator("main"), page.locator("#story")
    expect(main).to_contain_text("No vehicles yet")
    page.get_by_label("Add a vehicle").click()
    follow(page, page.get_by_role("link", name="Add a machine"))
    page.get_by_label("Serial number").fill(farm.serial)
    page.get_by_label("Name", exact=True).fill("Müller's <combine>")
    page.get_by_label("S690 Combine").check()
    page.get_by_label("Address of its").fill("no connection")
    page.get_by_label("Tags").fill("north, big")
    looked_at(page, screenshots, "new")
    follow(page, page.get_by_role("button", name="Add machine"))
    expect(page.get_by_role("alert")).to_contain_text("must be host:port")
    watch.forgive()  # That it was refused.
    # What was written is still there.
    expect(page.get_by_label("Name", exact=True)).to_have_value("Müller's <combine>")
    expect(page.get_by_label("S690 Combine")).to_be_checked()
    page.get_by_label("Address of its").fill(f"127.0.0.1:{farm.box['port']}")
    page.get_by_role("button", name="Add machine").click()
    page.wait_for_url(f"**/vehicles/{farm.serial}?*said=added")
    # It shows as soon as a worker has taken it.
    expect(page.locator("h1")).to_have_text("Müller's <combine>")
    assert farm.query("SELECT f.fleet, m.account FROM drover.fleet_vehicle f JOIN drover.fleet_member m USING (fleet) WHERE vehicle = %s", farm.serial) == [("ada", "ada")]

    expect(page.locator("#verdict")).to_contain_text("Nothing heard yet")
    more = page.get_by_label("More", exact=True)
    # What comes of it is told where it was asked.
    page.get_by_role("button", name="Connect").click()
    expect(page.locator("#downloads")).to_contain_text("Done")
    assert "said=asked" not in page.url
    expect(story).to_contain_text(re.compile(r"Coolant Temperature\s*97 °C"))
    # The verdict is the first that is read, with what to do and how to say that it was seen.
    verdict = page.locator("#verdict")
    expect(verdict.get_by_role("heading")).to_have_text("Stop: coolant temperature 97 °C")
    expect(verdict).to_contain_text(re.compile(r"rules watch it"))
    expect(verdict.get_by_role("button", name="Acknowledge")).to_have_count(1)
    expect(page.locator("#gauges .pill.critical")).to_have_text("Too hot")
    looked_at(page, screenshots, "machine", dark=True)
    tabs = page.get_by_role("navigation", name="Of this vehicle")
    follow(page, tabs.get_by_role("link", name="Alerts"))
    alerts = page.get_by_role("region", name="Open alerts")
    for text in ["Critical", "above 85 °C", "Engine Hours"]:
        expect(alerts).to_contain_text(text)
    looked_at(page, screenshots, "machine-alerts")
    follow(page, tabs.get_by_role("link", name="Details"))
    page.wait_for_function("() => document.querySelector('img[alt=\"Picture of the model S690 Combine\"]').naturalWidth > 0")
    expect(page.locator("#downloads")).to_contain_text("Done")
    looked_at(page, screenshots, "machine-details")

    more.click()
    follow(page, page.get_by_role("link", name="Record a service"))
    expect(page.get_by_label("Engine hours then")).to_have_value(re.compile(r"^\d*[1-9][\d.]*$"))
    page.get_by_label("What was done").select_option("Regular service")
    page.get_by_label("Note", exact=True).fill("oil & filters")
    looked_at(page, screenshots, "machine-services", dark=True)
    page.get_by_role("button", name="Record the service").click()
    page.wait_for_url("**tab=services&said=service")
    expect(story).to_contain_text("Regular service: oil & filters")
    expect(story).to_contain_text(re.compile(r"\d+ h left of \d+ h"))
    follow(page, tabs.get_by_role("link", name="Alerts"))
    expect(page.locator("section", has=page.locator("#open-alerts"))).not_to_contain_text("Engine Hours")
    expect(page.get_by_role("region", name="Resolved alerts")).to_contain_text("Engine Hours")
    [(state,)] = farm.query("SELECT state FROM drover.alert WHERE vehicle = %s AND parameter = 'Engine Hours'", farm.serial)
    assert state == "resolved"

    more.click()
    follow(page, page.get_by_role("link", name="All readings"))
    expect(page.locator("tbody tr").first).to_contain_text("97 °C")
    assert page.locator("tbody tr").count() <= 50
    expect(page.locator("thead")).not_to_contain_text("Terminal Serial Number")  # That is for dealers.
    looked_at(page, screenshots, "readings")
    follow(page, page.locator(".crumb"))

    more.click()
    follow(page, page.get_by_role("link", name="Edit details"))
    expect(page.get_by_label("Address of its")).to_have_value(f"127.0.0.1:{farm.box['port']}")
    expect(page.get_by_label("Tags")).to_have_value("north, big")
    page.get_by_label("Name", exact=True).fill("Old Faithful")
    looked_at(page, screenshots, "edit")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**said=changed")
    until(lambda: farm.query("SELECT name, model, tags, host FROM drover.registration WHERE vehicle = %s", farm.serial)
               == [("Old Faithful", "S690 Combine", ["north", "big"], "127.0.0.1")], farm.worker)
    page.goto(farm.address + "/vehicles?search=faith")
    expect(page.locator("#count")).to_have_text("1 vehicle")
    expect(page.locator("#rows .pill.critical")).to_have_text("Coolant Temperature 97 °C")
    looked_at(page, screenshots, "list")


def test_what_is_wrong_is_explained(farm):
    ada = farm.visitor("ada")
    new = fields(ada.get("/vehicles/new?kind=machine").body, "/vehicles/new")
    for changed, said in [({"vehicle": "a b"}, "1 to 64 letters"), ({"vehicle": "new"}, "1 to 64 letters"), ({"vehicle": "m-1", "certificate": "ab"}, "no connection"),
                          ({"vehicle": "m-1", "address": "h:1", "certificate": "ab"}, "64 hexadecimal"),
                          ({"vehicle": "m-1", "address": "::1:7701"}, "No box or adapter may be at this address"),
                          ({"vehicle": "m-1", "address": "169.254.169.254:80"}, "No box or adapter may be at this address"),
                          ({"vehicle": "m-1", "address": "192.168.1.10:5432"}, "No box or adapter may be at this address"), ({"vehicle": "m-1", "tags": "x" * 65}, "longer than 64 bytes"),
                          ({"vehicle": "m-1", "name": "x" * 201}, "longer than 200 bytes"), ({"vehicle": "m-1", "model": "x" * 65}, "longer than 64 bytes"),
                          ({"vehicle": "m-1", "id": "no id"}, "no id")]:
        answer = ada.post("/vehicles/new", **{**new, **changed})
        assert answer.status == 422 and said in answer.body, changed
    car = fields(ada.get("/vehicles/new?kind=car").body, "/vehicles/new")
    for changed, said in [({"vin": "123"}, "17 letters"), ({"year": "20x"}, "1900 to 2200"), ({"tank": "-1"}, "number from"), ({"fuel": "coal"}, "no such fuel"),
                          ({"displacement": "0"}, "number from"), ({"efficiency": "400"}, "number from"), ({"owner": "deal"}, "owner must be you")]:
        answer = ada.post("/vehicles/new", **{**car, "vehicle": "car-1", **changed})
        assert answer.status in (409, 422) and said in answer.body, (changed, answer.body)
    assert farm.query("SELECT 1 FROM drover.registration WHERE vehicle IN ('m-1', 'car-1')") == []
    page = ada.get(f"/vehicles/{farm.serial}?tab=services").body
    service = {**fields(page, f"/vehicles/{farm.serial}/service"), "service": "Repair", "done": "2026-01-05T08:00", "hours": "10"}
    for wrong, said in [({"service": "Magic"}, "Say what was done"), ({"done": "soon"}, "like 2026-11-22"), ({"done": "2099-01-01T00:00"}, "still to come"),
                        ({"hours": "many"}, "like 1234.5"), ({"hours": "-1"}, "like 1234.5"), ({"hours": "900000"}, "could not have 900000 h"), ({"note": "x" * 2_000}, "too long")]:
        answer = ada.post(f"/vehicles/{farm.serial}/service", **{**service, **wrong})
        assert answer.status == 422 and said in answer.body, wrong


def test_debug_logs_are_asked_for_where_they_are_listed(farm, page, watch):
    ada, dev = farm.visitor("ada"), farm.visitor("dev")
    path = f"/vehicles/{farm.serial}/logs"
    farm.enter(page, "dev", path)
    said, ask = page.locator("#asked"), page.get_by_role("button", name="Get debug logs")
    ask.click()
    # Why it did not go, and what to do.
    expect(said).to_contain_text("Not done: No gateway here has the key of this box")
    (farm.keys / f"{farm.serial}.key").write_text(farm.box["debug_log_key"])
    ask.click()
    expect(said).to_contain_text("Done: the debug log,")
    expect(page.locator("#logs").get_by_role("link", name="Download log 1")).to_have_count(1)
    assert page.url.endswith(path)
    # Who reads none asks for none; without a script the form leads back to the page.
    assert ada.post(path, form=ada.mark(), id="of-ada").status == 403
    assert f'action="{path}"' not in ada.get(f"/vehicles/{farm.serial}").body and f'action="{path}"' in dev.get(f"/vehicles/{farm.serial}").body
    moved = dev.post(path, **fields(dev.get(path).body, path))
    assert "for the developers of the box’s maker" in dev.get(path).body
    assert moved.headers["Location"] == path + "?said=asked" and "Asked for." in dev.get(path + "?said=asked").body
    until(lambda: farm.query("SELECT count(*) FROM drover.poll_request WHERE wants = 'debug_log' AND is_done") == [(2,)], farm.gateway, farm.worker)
    farm.query("TRUNCATE drover.debug_log RESTART IDENTITY")


def test_it_moves_to_another_fleet_in_one_step_from_its_page(farm):
    ada, action = farm.visitor("ada"), f"/vehicles/{farm.serial}/edit"
    details = f"/vehicles/{farm.serial}?kind=machine&tab=details"
    said = "SELECT name, model, tags, host FROM drover.registration WHERE vehicle = %s"
    known = farm.query(said, farm.serial)
    # Where there is no other fleet there is nothing to choose, and it is said who can make one.
    alone = ada.get(details).body
    assert 'name="fleet"' not in alone and "You have no other fleet to move it to." in alone

    def move(fleet):
        [(record,)] = farm.query("SELECT record_id FROM drover.registration WHERE vehicle = %s", farm.serial)
        assert ada.post(action, **fields(ada.get(details).body, action), fleet=fleet).status == 303
        until(lambda: farm.query("SELECT record_id FROM drover.registration WHERE vehicle = %s", farm.serial) != [(record,)], farm.worker)
        assert farm.query("SELECT fleet FROM drover.fleet_vehicle WHERE vehicle = %s", farm.serial) == [(fleet,)]

    farm.query("INSERT INTO drover.fleet (fleet, name) VALUES ('hill', 'Hill') RETURNING 1")
    farm.query("INSERT INTO drover.fleet_member (fleet, account) VALUES ('hill', 'ada') RETURNING 1")
    try:
        move("hill")
        move("ada")
    finally:
        farm.query("DELETE FROM drover.fleet WHERE fleet = 'hill' RETURNING 1")
    assert farm.query(said, farm.serial) == known


def test_sent_twice_counts_once(farm):
    ada = farm.visitor("ada")
    service = {**fields(ada.get(f"/vehicles/{farm.serial}?tab=services").body, f"/vehicles/{farm.serial}/service"), "service": "Repair", "done": "2026-01-05T08:00", "hours": "10"}
    for _ in range(2):
        assert ada.post(f"/vehicles/{farm.serial}/service", **service).status == 303
    new = {**fields(ada.get("/vehicles/new?kind=car").body, "/vehicles/new"), "vehicle": "car-7", "name": "Van", "make": "Dodge", "model": "Caliber", "year": "2010",
           "vin": "1b3hb48b67d562726", "fuel": "gasoline", "tank": "51.5", "displacement": "1998", "efficiency": "85", "owner": "ada", "tags": "north"}
    for _ in range(2):
        assert ada.post("/vehicles/new", **new).headers["Location"] == "/vehicles/car-7?kind=car&said=added"
    until(lambda: farm.query("SELECT 1 FROM drover.registration WHERE vehicle = 'car-7'") and farm.query("SELECT 1 FROM drover.service WHERE note = 'Repair'"), farm.worker)
    assert ada.post("/vehicles/new", **new).status == 303
    farm.world.work_off(farm.env)
    assert farm.query("SELECT count(*) FROM drover.service WHERE note = 'Repair'") == [(1,)]
    assert farm.query("SELECT name, make, model, year, vin, fuel, tank_l, displacement_cc, volumetric_efficiency_pct, account, tags FROM drover.registration WHERE vehicle = 'car-7'") == [
        ("Van", "Dodge", "Caliber", 2010, "1B3HB48B67D562726", "gasoline", 51.5, 1998, 85, "ada", ["north"])]
    # What is shown and sent again changes nothing by its units.
    farm.query("UPDATE drover.account SET units = 'us' WHERE account = 'ada' RETURNING 1")
    body = ada.get("/vehicles/car-7/edit?kind=car").body
    assert 'name="tank" type="text" value="13.6"' in body
    sent = {**fields(body, "/vehicles/car-7/edit"), **{name: new[name] for name in new if name not in ("form", "id", "based_on", "kind", "vehicle", "fleet")}, "tank": "13.6", "name": "Van 7"}
    assert ada.post("/vehicles/car-7/edit", **sent).status == 303
    until(lambda: farm.query("SELECT tank_l FROM drover.registration WHERE vehicle = 'car-7' AND name = 'Van 7'") == [(51.5,)], farm.worker)
    farm.query("UPDATE drover.account SET units = 'metric' WHERE account = 'ada' RETURNING 1")


def test_nobody_takes_or_changes_what_is_anothers(farm):
    bea, joe = farm.visitor("bea"), farm.visitor("joe")
    new = fields(bea.get("/vehicles/new?kind=machine").body, "/vehicles/new")
    taken = bea.post("/vehicles/new", **{**new, "vehicle": farm.serial})
    assert taken.status == 409 and "already" in taken.body
    assert bea.get(f"/vehicles/{farm.serial}").status == bea.get(f"/vehicles/{farm.serial}/edit").status == 404
    for path in ("edit", "switch", "download", "service"):
        answer = bea.post(f"/vehicles/{farm.serial}/{path}", **{**new, "based_on": "", "to": "off", "service": "Repair", "done": "2026-01-05T08:00", "hours": "10"})
        assert answer.status == 404, path
    # Drivers have cars, of their own.
    machine = joe.post("/vehicles/new", **{**fields(joe.get("/vehicles/new?kind=machine").body, "/vehicles/new"), "kind": "machine", "vehicle": "m-9"})
    assert machine.status == 422 and "drivers can add cars only" in machine.body
    car = {**fields(joe.get("/vehicles/new?kind=car").body, "/vehicles/new"), "vehicle": "joes"}
    assert joe.post("/vehicles/new", **{**car, "owner": "ada"}).status == 409
    assert joe.post("/vehicles/new", **car).status == 303
    until(lambda: farm.query("SELECT account FROM drover.registration WHERE vehicle = 'joes'") == [("joe",)], farm.worker)
    assert "joes" in joe.get("/vehicles").body and "joes" not in bea.get("/vehicles").body
    # Two who add one at once: one of them gets it.
    ada = farm.visitor("ada")
    forms = {who: {**fields(who.get("/vehicles/new?kind=machine").body, "/vehicles/new"), "vehicle": "free-1"} for who in (bea, ada)}
    forms[ada]["fleet"] = "ada"
    answers = []
    threads = [threading.Thread(target=lambda who=who, form=form: answers.append(who.post("/vehicles/new", **form).status)) for who, form in forms.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [303, 409]


def test_two_who_change_a_vehicle_at_once(farm):
    ada = farm.visitor("ada")
    first, second = (fields(ada.get("/vehicles/car-7/edit?kind=car").body, "/vehicles/car-7/edit") for _ in range(2))
    rest = {"name": "Van A", "owner": "ada"}
    assert ada.post("/vehicles/car-7/edit", **{**first, **rest}).status == 303
    # While the first is on its way to the log, and when it is there.
    for said in ("Not saved: ", "Not saved: somebody changed this vehicle"):
        late = ada.post("/vehicles/car-7/edit", **{**second, **rest, "name": "Van B"})
        assert late.status == 409 and said in late.body and 'value="Van B"' in late.body
        until(lambda: farm.query("SELECT name FROM drover.registration WHERE vehicle = 'car-7'") == [("Van A",)], farm.worker)


def test_a_dealers_day(farm, page, screenshots):
    farm.enter(page, "deal", "/dealers")
    main = page.locator("main")
    page.get_by_label("Machine’s id").fill(farm.serial)
    follow(page, page.get_by_role("button", name="Ask its owner"))
    page.goto(farm.address + "/vehicles")
    expect(main).to_contain_text("No vehicles yet")
    farm.enter(page, "ada", "/dealers")
    follow(page, page.get_by_role("button", name=f"Confirm deal for {farm.serial}"))
    expect(page.get_by_role("status")).to_contain_text("Confirmed.")
    farm.enter(page, "deal", "/")
    expect(page.locator("#attention")).to_contain_text("alerts from before you were confirmed stay with its owner")
    farm.enter(page, "deal")
    expect(page.get_by_role("link", name="Old Faithful", exact=True)).to_have_count(1)
    expect(page.get_by_role("link", name="Add a machine")).to_have_count(0)
    follow(page, page.get_by_role("link", name="Old Faithful", exact=True))
    expect(page.locator("#story")).to_contain_text("Terminal Serial Number")
    expect(main).to_contain_text("Its owner did not share what was before")
    page.get_by_label("More", exact=True).click()
    expect(page.get_by_role("link", name="Edit details")).to_have_count(0)
    # Sorted as the dealer thinks, beside the owner's tags, which stay the owner's.
    follow(page, page.get_by_role("navigation", name="Of this vehicle").get_by_role("link", name="Details"))
    expect(page.get_by_label("Address of its")).to_have_count(0)
    assert "127.0.0.1" not in page.content()
    page.get_by_label("Class", exact=True).fill("Fleet service")
    page.get_by_label("My tags").fill("warranty, spare <parts>")
    looked_at(page, screenshots, "own-words")
    follow(page, page.get_by_role("button", name="Save"))
    expect(page.get_by_role("status").first).to_contain_text("Only you see it")
    assert farm.query("SELECT name, tags, host FROM drover.registration WHERE vehicle = %s", farm.serial) == [("Old Faithful", ["north", "big"], "127.0.0.1")]
    page.goto(farm.address + "/vehicles")
    # A choice is asked for as it is made, and stays in the address while another is made.
    page.get_by_role("combobox", name="My tag", exact=True).select_option("warranty")
    page.wait_for_url("**own=warranty*")
    follow(page, page.get_by_role("link", name="State", exact=True))
    page.wait_for_url("**own=warranty&sort=alerts")
    expect(page.locator("#rows tbody tr")).to_have_count(1)
    expect(page.locator("th[aria-sort]")).to_have_text("State")
    follow(page, page.get_by_role("link", name="Silent for a day"))
    expect(page.locator("main")).to_contain_text("No vehicle fits")
    # Of what is registered a dealer changes nothing, whatever a form holds; neither does who is a farmer elsewhere.
    deal, bea, ada = farm.visitor("deal"), farm.visitor("bea"), farm.visitor("ada")
    form = fields(ada.get(f"/vehicles/{farm.serial}/edit").body, f"/vehicles/{farm.serial}/edit")
    changed = {**form, "tags": "mine", "name": "Stolen", "address": "", "fleet": "ada"}
    assert deal.get(f"/vehicles/{farm.serial}/edit").status == 403
    assert deal.post(f"/vehicles/{farm.serial}/edit", **{**changed, "form": deal.mark()}).status == 403
    farm.query("UPDATE drover.account SET roles = '{dealer,farmer}' WHERE account = 'deal' RETURNING 1")
    try:
        assert deal.get(f"/vehicles/{farm.serial}/edit").status == 404
        for who in (deal, bea):
            assert who.post(f"/vehicles/{farm.serial}/edit", **{**changed, "form": who.mark()}).status == 404
            assert who.post(f"/vehicles/{farm.serial}/switch", **{**form, "form": who.mark(), "to": "off"}).status == 404
    finally:
        farm.query("UPDATE drover.account SET roles = '{dealer}' WHERE account = 'deal' RETURNING 1")
    assert deal.post(f"/vehicles/{farm.serial}/switch", **{**form, "form": deal.mark(), "to": "off"}).status == 403
    assert farm.query("SELECT name, tags, host FROM drover.registration WHERE vehicle = %s", farm.serial) == [("Old Faithful", ["north", "big"], "127.0.0.1")]


def test_a_threshold_is_tried_and_changed_and_the_next_reading_is_judged_by_it(farm, page, screenshots, watch):
    farm.query("INSERT INTO drover.fleet_member (fleet, account) VALUES ('ada', 'boss') RETURNING 1")
    file = farm.thresholds / "S690 Combine-thresholds.xml"
    before = file.read_text()
    farm.enter(page, "dev", "/thresholds")
    alert = page.get_by_role("alert")
    looked_at(page, screenshots, "thresholds")
    # Looked for by words in the address; each rule is a sentence.
    page.get_by_role("search", name="Rules").get_by_label("Search").fill("coolant s690")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert "q=coolant" in page.url
    rule = page.locator("section", has=page.get_by_role("heading", name="S690 Combine")).get_by_role("link", name=re.compile("Coolant temperature above 85 °C.*critical above 95 °C"))
    expect(rule).to_have_count(1)
    expect(page.locator("a.item.rule")).to_have_count(1)
    follow(page, rule)
    looked_at(page, screenshots, "rule")
    expect(page.get_by_label("Limit", exact=True)).to_have_value("85")
    expect(page.get_by_label("Critical beyond")).to_have_value("95")
    # What it would raise is shown without asking, and follows what is typed; nothing is saved.
    expect(page.locator("#tried .ansr")).to_be_visible()
    page.get_by_label("Limit", exact=True).fill("98")
    expect(page.locator("#critical-error")).to_contain_text("Must be above the limit, 98 °C.")
    watch.forgive()
    follow(page, page.get_by_role("button", name="Try it"))
    # By the field's name, not by the file's; beside the field, too.
    expect(alert).to_contain_text("Critical: Must be above the limit, 98 °C.")
    expect(page.locator("#critical-error")).to_be_visible()
    expect(alert).not_to_contain_text(".xml")
    watch.forgive()
    page.get_by_label("Critical beyond").fill("105")
    page.get_by_label("Ends at").fill("97")
    page.get_by_label("Days to look back").fill("3")
    expect(page.locator("#changed")).to_contain_text("Not saved yet")
    follow(page, page.get_by_role("button", name="Try it"))
    expect(page.locator("#tried")).to_contain_text("in the last 3 days")
    tried = page.get_by_role("region", name="Alerts")
    expect(tried).to_contain_text("Gone")
    expect(page.get_by_text(re.compile(r"rule tests passed, [1-9]\d* failed"))).to_have_count(1)
    looked_at(page, screenshots, "tried")
    assert file.read_text() == before and farm.query("SELECT 1 FROM drover.rule_edit") == [], "trying changes nothing"
    # A rule that has a test is not changed by accident.
    follow(page, page.get_by_role("button", name="Save rule"))
    expect(alert).to_contain_text("rule tests fail with it")
    assert file.read_text() == before
    watch.forgive()
    page.get_by_label("Save although rule tests fail").check()
    page.get_by_role("button", name="Save rule").click()
    page.wait_for_url("**?said=published")
    expect(page.get_by_role("status")).to_contain_text("Rule saved for S690 Combine. It holds for readings from now on.")
    after = file.read_text()
    # All else of the file stays as it was written.
    assert after != before and [line for line in after.splitlines() if line.startswith("  <!--")] == [line for line in before.splitlines() if line.startswith("  <!--")]
    assert "<threshold>98</threshold>\n    <critical>105</critical>\n    <clear>97</clear>" in after and after.count("<parameter>") == before.count("<parameter>")
    check = farm.world.drover.run("rules", "publish", farm.thresholds, "--check")
    [(account, model, version, changes)] = farm.query("SELECT account, model, version, changes FROM drover.rule_edit")
    assert (account, model) == ("dev", "S690 Combine") and f"version {version}" in check.out
    assert changes == ["changed S690 Combine: Coolant Temperature: threshold 85 → 98, critical 95 → 105, clear 82 → 97"]
    until(lambda: farm.query("SELECT 1 FROM drover.rule_set WHERE version = %s", version), farm.worker)
    # The box goes on saying 97 °C: that is none any more.
    until(lambda: farm.query("SELECT state FROM drover.alert WHERE vehicle = %s AND parameter = 'Coolant Temperature' ORDER BY opened_at DESC LIMIT 1", farm.serial)
               == [("resolved",)], farm.worker, farm.gateway)
    # The alert that was raised by the old rule is drawn with the old rule's limits.
    [(alert,)] = farm.query("SELECT alert_id FROM drover.alert WHERE vehicle = %s AND parameter = 'Coolant Temperature' ORDER BY opened_at DESC LIMIT 1", farm.serial)
    drawn = re.search(r'<svg[^>]*class="chart"[^>]*aria-label="([^"]+)"', farm.visitor("dev").get(f"/alerts/{alert}").body)[1]
    span = f"from={now() - 86_400_000}&until={now()}"
    [signal] = json.loads(farm.visitor("dev").get(f"/alerts/{alert}/series?{span}").body)["signals"]
    assert [(limit["kind"], limit["value"]) for limit in signal["limits"] if limit["kind"] != "recommended"] == [("warning", 85), ("critical", 95)], "with a script, too"
    assert farm.visitor("bea").get(f"/alerts/{alert}/series?{span}").status == 404 and farm.visitor("dev").get(f"/alerts/{alert}/series").status == 400
    assert "warning at 85" in drawn and "critical at 95" in drawn and "98" not in drawn.split("warning")[1], drawn
    page.goto(farm.address + "/thresholds")
    # In words; what is kept is as files have it.
    history = page.get_by_role("region", name="Rule history")
    expect(history).to_contain_text("You")
    expect(history).to_contain_text("Coolant temperature of S690 Combine: limit 85 °C → 98 °C, critical 95 °C → 105 °C, alert ends at 82 °C → 97 °C")
    farm.world.drover.run("rules", "publish", farm.thresholds, env=farm.env)
    assert farm.query("SELECT count(DISTINCT version) FROM drover.rule_set") == [(2,)], "the same publisher"


def test_two_who_change_a_threshold_at_once(farm):
    address = "/thresholds/models/8R%20Tractor/Fuel%20Level"
    dev, root = farm.visitor("dev"), farm.visitor("root")
    forms = [fields(who.get(address).body, address) for who in (dev, root)]
    texts = {"test": "below", "threshold": "51", "clear": "54", "in": "", "unit": "gallons", "type": "int", "user": "farmer", "capacity": "190", "anyway": "1", "do": "save", "advice": "a < b & c"}
    assert dev.post(address, **{**forms[0], **texts}).headers["Location"] == "/thresholds/models/8R%20Tractor?said=published"
    late = root.post(address, **{**forms[1], **texts, "threshold": "52"})
    assert late.status == 409 and "It is now: below 193.1 L" in late.body and 'value="52"' in late.body
    text = (farm.thresholds / "8R Tractor-thresholds.xml").read_text()
    assert "<threshold>51</threshold>" in text and "<advice>a &lt; b &amp; c</advice>" in text
    # Knowing what it is now they may go on; and another parameter of the same file is no conflict.
    oil = "/thresholds/models/8R%20Tractor/Hydraulic%20Oil%20Temperature"
    early = fields(root.get(oil).body, oil)
    assert root.post(address, **{**fields(late.body, address), **texts, "threshold": "52"}).status == 303
    assert root.post(address, **{**fields(root.get(address).body, address), **texts, "threshold": "52"}).headers["Location"].endswith("said=same")
    assert dev.post(oil, **{**early, "form": dev.mark(), "test": "above", "in": "", "threshold": "56", "clear": "52", "unit": "°C", "type": "int", "user": "farmer", "anyway": "1", "do": "save"}).status == 303
    # Rule tests that failed before this change do not ask again; those that it breaks do.
    kept = {key: value for key, value in texts.items() if key != "anyway"}
    assert root.post(address, **{**fields(root.get(address).body, address), **kept, "threshold": "52", "advice": "Fill it up"}).status == 303
    broken = root.post(address, **{**fields(root.get(address).body, address), **kept, "test": "none"})
    assert broken.status == 409 and "rule tests fail with it" in broken.body
    for wrong, said in [({"threshold": "many"}, "Must be a number"), ({"test": "over"}, "Must be one of: above, below, none"), ({"unit": "<b>" * 10, "type": "bool"}, "is compared as int"),
                        ({"every": "50"}, "ervices are counted in Engine Hours")]:
        answer = root.post(address, **{**fields(root.get(address).body, address), **texts, **wrong})
        assert answer.status == 422 and said in answer.body and "<b>" * 10 not in answer.body, (wrong, answer.body)
    assert root.get("/thresholds/models/None%20such/Fuel%20Level").status == root.get("/thresholds/models/8R%20Tractor/Speed").status == 404
    assert root.get("/thresholds/models/..%2Fx/Fuel%20Level").status in (400, 404)


def test_a_farmers_machine_has_a_threshold_of_its_own(farm, page, watch):
    ada, bea = farm.visitor("ada"), farm.visitor("bea")
    address = f"/thresholds/machines/{farm.serial}/Fuel%20Level"
    assert bea.get(address).status == 404
    farm.enter(page, "ada", f"/thresholds/machines/{farm.serial}")
    follow(page, page.get_by_role("link", name="Fuel Level"))
    # In the reader's units; the file keeps its own, and what was not changed stays as it is there.
    expect(page.locator("main")).to_contain_text("Its model's rule: below 246.1 L")
    expect(page.get_by_label("Limit", exact=True)).to_have_value("246.1")
    page.get_by_label("Limit", exact=True).fill("760.9")
    page.get_by_label("Ends at").fill("")
    follow(page, page.get_by_role("button", name="Try it"))
    expect(page.get_by_role("region", name="Alerts")).to_contain_text("New")
    # Rule tests are of models: those that somebody has broken before do not ask whoever changes a machine's rule.
    expect(page.get_by_label("Save although rule tests fail")).to_have_count(0)
    page.get_by_role("button", name="Save rule").click()
    page.wait_for_url("**?said=published")
    written = (farm.thresholds / "machines" / f"{farm.serial}-thresholds.xml").read_text()
    assert "<threshold>201.009</threshold>" in written and "<unit>gallons</unit>" in written and "<clear>" not in written and "<capacity>330</capacity>" in written
    until(lambda: farm.query("SELECT 1 FROM drover.alert WHERE vehicle = %s AND parameter = 'Fuel Level' AND state = 'open'", farm.serial), farm.worker, farm.gateway)
    follow(page, page.get_by_role("link", name="Fuel Level"))
    page.get_by_role("button", name="Back to its model's rule").click()
    page.wait_for_url("**?said=back")
    expect(page.get_by_role("status")).to_contain_text("The model's rule holds again")
    watch.forgive()
    assert not (farm.thresholds / "machines" / f"{farm.serial}-thresholds.xml").exists()
    until(lambda: farm.query("SELECT state FROM drover.alert WHERE vehicle = %s AND parameter = 'Fuel Level'", farm.serial) == [("resolved",)], farm.worker, farm.gateway)


@pytest.fixture(scope="module")
def past(farm):
    """A machine of ada's with forty days of readings around its limits; some lack the value."""
    chance, ts, celsius, made = random.Random(11), now() - 40 * 86_400_000, 80.0, []
    farm.query("INSERT INTO drover.fleet_vehicle VALUES ('ada', 'machine', 'past-1') RETURNING 1")
    while ts < now() - 3_600_000:
        celsius = min(100, max(65, celsius + chance.uniform(-6, 6)))
        values = {"coolant_c": round(celsius, 1)} if chance.random() < 0.9 else {}
        made.append({"schema": 1, "kind": "reading", "id": f"past-{ts}", "vehicle": "past-1", "ts": ts, "model": "S690 Combine", "gps_available": True, **values})
        ts += chance.choice([600_000, 1_200_000, 3_600_000, 9_000_000])
    farm.world.push("drover.machines", *made)
    until(lambda: farm.query("SELECT count(*) FROM drover.machine_reading WHERE vehicle = 'past-1'") == [(len(made),)]
               and not farm.query("SELECT 1 FROM drover.machine_rejudging WHERE vehicle = 'past-1'"), farm.worker)
    return farm.query("SELECT read_at, coolant_c FROM drover.machine_reading WHERE vehicle = 'past-1' AND coolant_c IS NOT NULL ORDER BY read_at")


COOLANT = "/thresholds/machines/past-1/Coolant%20Temperature"


def asked(visitor, **typed):
    text = {"test": "above", "threshold": "85", "clear": "82", "for": "", "for_unit": "s", "in": "", "unit": "°C", "type": "int", "user": "farmer", "days": "30", **typed}
    return visitor.get(f"{COOLANT}/tried?{urllib.parse.urlencode(text)}")


def test_what_a_rule_would_have_raised_is_what_the_readings_say(farm, past):
    """The count of the page beside a walk over the same readings; also those of the other limits that it offers."""
    ada, before = farm.visitor("ada"), standing(farm)
    seen = set()
    for test, limit, clear, hold, days in [("above", 85, 82, 0, 30), ("above", 90, 90, 0, 30), ("above", 80, 75, 3_600, 30), ("below", 75, 78, 0, 30),
                                           ("above", 85, 70, 0, 7), ("above", 99.9, 99, 0, 30), ("below", 70, 70, 7_200, 14)]:
        answer = asked(ada, test=test, threshold=limit, clear=clear, days=days, **{"for": hold or ""})
        assert answer.status == 200, answer.body
        said = json.loads(answer.body)
        start = datetime.fromisoformat(said["from"])
        def count(limit, clear):
            return sum(opened >= start for opened, _, _ in walk(past, test, limit, None, clear, hold))
        assert said["count"] == count(limit, clear), (test, limit, clear, hold, days)
        assert f'<span class="fig">{said["count"]}</span>' in said["html"] and (said["machines"], said["machines_left"]) == (1, 0)
        assert len(said["others"]) == 4
        for other in said["others"]:
            assert other["count"] == count(other["limit"], clear + other["limit"] - limit), (test, limit, other)
        seen.add(said["count"])
        if (limit, clear, days) == (85, 82, 30):
            # What was raised, by the model's rule, is this.
            raised = farm.query("SELECT count(*) FROM drover.alert WHERE vehicle = 'past-1' AND parameter = 'Coolant Temperature' AND state <> 'withdrawn' AND opened_at >= %s", start)
            assert raised == [(said["raised"],)] == [(said["count"],)]
    assert len(seen) > 4, "these limits differ"
    # Three days hold less, and a rule that is wrong says where.
    wrong = json.loads(asked(ada, threshold="many").body)
    assert wrong["errors"] == {"threshold": "Must be a number such as 65 or 65.5."}
    assert asked(ada, threshold="98", critical="95").status == 422
    assert standing(farm) == before, "trying changes nothing"


def test_the_list_of_rules_counts_what_they_raised(farm, past):
    ada = farm.visitor("ada").get("/thresholds").body
    [combine] = [group for group in re.findall(r'<section class="card rules">.*?</section>', ada, re.S) if "<h2>S690 Combine</h2>" in group]
    [(said,)] = [re.findall(r"raised (\d+) times in 30 days", rule) for rule in re.findall(r'<a class="item rule".*?</a>', combine, re.S) if "Coolant temperature" in rule]
    start = today().replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=29)
    raised = farm.query("""SELECT count(*) FROM drover.alert WHERE kind = 'machine' AND model = 'S690 Combine' AND parameter = 'Coolant Temperature' AND state <> 'withdrawn'
               AND opened_at >= %s AND vehicle IN (SELECT vehicle FROM drover.fleet_vehicle WHERE fleet = 'ada')""", start)
    assert [(int(said),)] == raised and int(said) > 5
    # Of nobody else's machines: who has none sees no rule, and no count.
    assert "past-1" not in ada and "times in 30 days" not in farm.visitor("bea").get("/thresholds").body


def test_who_may_try_which_rule(farm, past):
    from_nobody = Visitor(farm.site.port)
    assert asked(from_nobody).status == 401
    # A fleet manager may as long as the machine is in a fleet of theirs.
    query(farm.env, "INSERT INTO drover.fleet_member (fleet, account) VALUES ('ada', 'boss') ON CONFLICT DO NOTHING")
    assert json.loads(asked(farm.visitor("boss")).body)["machines"] == 1
    query(farm.env, "DELETE FROM drover.fleet_member WHERE (fleet, account) = ('ada', 'boss')")
    for who in ("bea", "boss", "joe", "deal"):
        answer = asked(farm.visitor(who))
        assert answer.status in (403, 404) and "count" not in answer.body, who
    model = COOLANT.replace("machines/past-1", "models/S690%20Combine")
    assert farm.visitor("ada").get(f"{model}/tried?test=above&threshold=90").status == 403
    assert asked(farm.visitor("ada"), also="no-such none").status == 403
    assert json.loads(farm.visitor("dev").get(f"{model}/tried?test=above&threshold=90&unit=%C2%B0C&type=int&user=farmer&days=30").body)["machines"] >= 2


def shown_values(body):
    """What the form has in its fields: limit, critical, and the value at which it ends."""
    return [re.search(rf'<input id="{name}" .*?value="([^"]*)"', body).group(1) for name in ("threshold", "critical", "clear")]


def test_from_an_alert_another_limit_is_one_link(farm, past, page):
    [(alert,)] = farm.query("SELECT alert_id FROM drover.alert WHERE vehicle = 'past-1' AND parameter = 'Coolant Temperature' LIMIT 1")
    ada = farm.visitor("ada")
    limit, critical, clear = shown_values(ada.get(COOLANT).body)
    body = ada.get(f"{COOLANT}?limit=90&from=alert&alert={alert}").body
    # The limit moves, and with it the value at which the alert ends; what it would have raised stands there without a script.
    assert shown_values(body) == ["90", critical, f"{90 + float(clear) - float(limit):g}"] and f'href="/alerts/{alert}"' in body
    said = json.loads(asked(ada, threshold="90", clear=shown_values(body)[2], critical=critical).body)
    assert f'<span class="fig">{said["count"]}</span>' in body and f'href="{COOLANT}?limit=' in body
    farm.enter(page, "ada", COOLANT)
    expect(page.locator("#tried .ansr")).to_be_visible()
    before = page.locator("#tried .fig").text_content()
    # In one line at the top, too, where it stays in sight.
    expect(page.locator("#tally")).to_contain_text(re.compile(rf"Would have raised {before} alerts? in the last 30 days"))
    # One drag: by keys here. Nothing is saved by it.
    page.get_by_label("Try another limit").press("Home")
    expect(page.locator("#tried .fig")).not_to_have_text(before)
    expect(page.locator("#changed")).to_contain_text(f"was {limit} °C. Not saved yet.")
    assert not (farm.thresholds / "machines" / "past-1-thresholds.xml").exists()


def test_a_reader_of_us_units_types_fahrenheit_and_the_file_keeps_celsius(farm, past):
    stored = shown_values(farm.visitor("ada").get(COOLANT).body)
    farm.query("UPDATE drover.account SET units = 'us' WHERE account = 'ada' RETURNING 1")
    try:
        ada = farm.visitor("ada")
        body = ada.get(COOLANT).body
        limit, critical, clear = shown_values(body)
        assert [limit, critical, clear] == [f"{float(value) * 1.8 + 32:g}" for value in stored] and 'name="in" value="°F"' in body
        higher = float(limit) + 1
        typed = {**fields(body, COOLANT), "test": "above", "threshold": f"{higher:g}", "critical": critical, "clear": clear, "unit": "°C", "type": "int", "user": "farmer", "do": "save"}
        assert ada.post(COOLANT, **typed).status == 303
        written = (farm.thresholds / "machines" / "past-1-thresholds.xml").read_text()
        # What was not changed is as it was, to the digit.
        assert f"<threshold>{round((higher - 32) / 1.8, 3):g}</threshold>\n    <critical>{stored[1]}</critical>\n    <clear>{stored[2]}</clear>" in written
        assert f"Coolant temperature above {higher:g} °F" in ada.get("/thresholds").body
        assert ada.post(COOLANT, **{**fields(ada.get(COOLANT).body, COOLANT), "do": "remove"}).status == 303
    finally:
        farm.query("UPDATE drover.account SET units = 'metric' WHERE account = 'ada' RETURNING 1")


def standing(farm):
    """All that a change of rules could have changed."""
    files = {file.relative_to(farm.thresholds): file.read_bytes() for file in farm.thresholds.rglob("*") if file.is_file()}
    return files, farm.query("SELECT count(*) FROM drover.rule_edit"), farm.query("SELECT count(DISTINCT version) FROM drover.rule_set")


LOW = {"test": "below", "threshold": "250", "in": "", "unit": "gallons", "type": "int", "user": "farmer", "anyway": "1", "do": "save"}


@pytest.mark.parametrize("who", ["ada", "boss", "bea"])
def test_rules_of_models_are_for_developers_and_administrators(farm, who):
    """A fleet manager of one customer switched off the alerts of every machine of a model, also those of other customers."""
    farm.query("INSERT INTO drover.fleet_member (fleet, account) VALUES ('ada', 'boss') ON CONFLICT (fleet, account) DO UPDATE SET fleet = EXCLUDED.fleet RETURNING 1")
    visitor, before = farm.visitor(who), standing(farm)
    for what in ("Fuel%20Level", "Coolant%20Temperature"):
        address = f"/thresholds/models/S690%20Combine/{what}"
        for do in ("save", "remove", "try"):
            answers = [visitor.get(address), visitor.post(address, form=visitor.mark(), **{**LOW, "do": do, "based_on": "none"})]
            assert {answer.status for answer in answers} == {403} and all("developers and administrators" in answer.body for answer in answers)
    model = visitor.get("/thresholds/models/S690%20Combine").body
    assert "is for developers and administrators" in model and "/thresholds/models/S690%20Combine/" not in model
    assert (f"/thresholds/machines/{farm.serial}" in model) == (who != "bea")
    # Of another's machine neither, and it is not said whether there is one.
    if who == "bea":
        for machine in (farm.serial, "no-such-machine"):
            answer = visitor.post(f"/thresholds/machines/{machine}/Fuel%20Level", form=visitor.mark(), based_on="none", **LOW)
            assert answer.status == 403 and "machines of their fleets" in answer.body
    root = farm.visitor("root")
    assert root.post("/thresholds/machines/no-such-machine/Fuel%20Level", form=root.mark(), based_on="none", **LOW).status == 404
    assert standing(farm) == before


def test_several_machines_get_a_rule_at_once_and_an_alert_says_whose_it_was(farm):
    ada, first, second, third = farm.visitor("ada"), farm.serial, "second-combine", "third-combine"
    for machine in (second, third):
        farm.read(machine, now(), model="S690 Combine", fuel_level_gal=200)
    until(lambda: farm.query("SELECT count(*) FROM drover.vehicle WHERE vehicle IN (%s, %s)", second, third) == [(2,)], farm.worker)
    query(farm.env, "INSERT INTO drover.fleet (fleet, name) VALUES ('others', 'Others')")
    query(farm.env, "INSERT INTO drover.fleet_vehicle VALUES ('ada', 'machine', %s), ('others', 'machine', %s)", second, third)
    address = f"/thresholds/machines/{second}/Fuel%20Level"
    form = ada.get(address).body
    assert f'name="also" value="{first} none"' in form and third not in form and "Change it for the model" not in form
    assert "Change it for the model" in farm.visitor("dev").get(address).body
    sent, before = [*{**fields(form, address), **LOW}.items()], standing(farm)
    # Another's among them, or one that somebody has changed meanwhile: nothing is written, also not of one's own.
    strange = ada.post_items(address, [*sent, ("also", f"{first} none"), ("also", f"{third} none")])
    assert strange.status == 403 and "machines of their fleets" in strange.body
    late = ada.post_items(address, [*sent, ("also", f"{first} 0123")])
    assert late.status == 409 and f"<li>{first}</li>" in late.body
    assert standing(farm) == before
    saved = ada.post_items(address, [*sent, ("also", f"{first} none")])
    assert saved.headers["Location"] == f"/thresholds/machines/{second}?said=published&with={first}"
    assert f"Rule saved for machines {second}, {first}. It holds for readings from now on." in ada.get(saved.headers["Location"]).body
    for machine in (first, second):
        assert "<threshold>250</threshold>" in (farm.thresholds / "machines" / f"{machine}-thresholds.xml").read_text()
    edits = farm.query("SELECT vehicle, changes, version FROM drover.rule_edit ORDER BY edit_id DESC LIMIT 2")
    # Each by itself: who sees one machine reads nothing of the other.
    assert {vehicle: [change.split(": ")[0] for change in changes] for vehicle, changes, _ in edits} == {
        machine: [f"added machine {machine}"] for machine in (first, second)}
    until(lambda: farm.query("SELECT 1 FROM drover.rule_set WHERE version = %s", edits[0][2]), farm.worker)
    farm.read(second, now(), model="S690 Combine", fuel_level_gal=200, hydraulic_oil_c=60)
    # One's own rule stands in the place of the model's; of the others the model's holds.
    whose = {"Fuel Level": "of this machine", "Hydraulic Oil Temperature": "of model S690 Combine"}
    def alerts():
        return dict(farm.query("SELECT parameter, alert_id FROM drover.alert WHERE vehicle = %s AND state = 'open' AND parameter = ANY (%s)", second, list(whose)))
    until(lambda: set(alerts()) == set(whose), farm.worker)
    token = give_token(farm.env, "ada", "read")
    answer = json.loads(ada.get(f"/v1/machines/{second}", Authorization=f"Bearer {token}").body)
    assert {alert["parameter"]: alert["rule"] for alert in answer["alerts"]}.items() >= whose.items()
    for parameter, alert in alerts().items():
        place = "/" + urllib.parse.quote(parameter)
        links = {"ada": f"/thresholds/machines/{second}", "dev": f"/thresholds/machines/{second}" if parameter == "Fuel Level" else "/thresholds/models/S690%20Combine"}
        for who, link in links.items():
            body = farm.visitor(who).get(f"/alerts/{alert}").body
            assert f", {whose[parameter]}, version " in body and f'href="{link}{place}">Change this rule</a>' in body, who
    # And back to the model's, both.
    form = ada.get(address).body
    [version] = re.findall(f'name="also" value="{first} ([0-9a-f]+)"', form)
    assert ada.post_items(address, [*{**fields(form, address), **LOW, "do": "remove"}.items(), ("also", f"{first} {version}")]).status == 303
    assert not list((farm.thresholds / "machines").glob("*.xml"))


def test_one_who_keeps_machines_leaves_room_for_rules_of_others(farm):
    """A set of rules has bounds: one farmer's advice could have filled it, and nobody's rules could be changed any more."""
    machines, names = [f"many-{number}" for number in range(26)], ["Fuel Level", "Coolant Temperature", "Hydraulic Oil Temperature", "Tire Pressure"]
    with connect(farm.env) as connection:
        connection.cursor().executemany("INSERT INTO drover.fleet_vehicle VALUES ('ada', 'machine', %s)", [[machine] for machine in machines])
    parameters = "".join(f"<parameter><name>{name}</name><test>none</test><unit> </unit><type>int</type><user>farmer</user><threshold>0</threshold><advice>{'x' * 990}</advice></parameter>"
                         for name in names)
    files = [farm.thresholds / "machines" / f"{machine}-thresholds.xml" for machine in machines]
    try:
        for file in files:
            file.parent.mkdir(exist_ok=True)
            file.with_suffix(".part").write_text(f"<root>{parameters}</root>")
            file.with_suffix(".part").rename(file)
        ada, address = farm.visitor("ada"), f"/thresholds/machines/{farm.serial}/Fuel%20Level"
        before = standing(farm)[:2]
        refused = ada.post(address, **{**fields(ada.get(address).body, address), **LOW})
        assert refused.status == 409 and "may take 100000" in refused.body and standing(farm)[:2] == before
    finally:
        for file in files:
            file.unlink(missing_ok=True)
        farm.query("DELETE FROM drover.fleet_vehicle WHERE vehicle LIKE 'many-%' RETURNING 1")


def test_who_may_not_change_a_vehicle_finds_no_link_to_do_so(farm):
    """Who drove a car first, and what other roles see of a machine, was led to a page that is not there."""
    query(farm.env, "INSERT INTO drover.fleet (fleet, name) VALUES ('pool', 'Pool')")
    query(farm.env, "INSERT INTO drover.fleet_vehicle VALUES ('pool', 'car', 'pool-car')")
    query(farm.env, "INSERT INTO drover.vehicle VALUES ('car', 'pool-car', NULL, 0, now())")
    query(farm.env, "INSERT INTO drover.fleet_member VALUES ('pool', 'joe'), ('pool', 'boss')")
    query(farm.env, "INSERT INTO drover.assignment VALUES ('pool-car', '2026-01-01T00:00:00Z', 'joe', 'e', 'x')")
    joe, boss = farm.visitor("joe"), farm.visitor("boss")
    for who, status in ((joe, 404), (boss, 200)):
        page = who.get("/vehicles/pool-car?kind=car")
        assert page.status == 200 and ("/vehicles/pool-car/edit" in page.body) == (status == 200)
        assert who.get("/vehicles/pool-car/edit?kind=car").status == status


def test_it_is_switched_off_and_kept(farm, page):
    farm.enter(page, "ada", f"/vehicles/{farm.serial}/edit")
    page.get_by_role("button", name="Disable it").click()
    page.wait_for_url("**said=disabled")
    until(lambda: farm.query("SELECT is_disabled, name, host FROM drover.registration WHERE vehicle = %s", farm.serial) == [(True, "Old Faithful", "127.0.0.1")], farm.worker)
    page.goto(farm.address + "/vehicles")
    expect(page.locator("#count")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text(farm.serial)
    page.get_by_label("Disabled, too").check()
    page.wait_for_url("**disabled=1*")
    expect(page.locator("#rows").get_by_role("row", name=farm.serial)).to_contain_text("Disabled")


def test_the_field_view_is_kept_and_asked_again(farm, page, screenshots):
    """Of a machine that only uploads, so that it stays as it is."""
    farm.query("INSERT INTO drover.fleet_vehicle VALUES ('ada', 'machine', 'field-1') RETURNING 1")
    ts = int(farm.query("SELECT extract(epoch FROM now()) * 1000")[0][0])
    for each in range(120):
        farm.read("field-1", ts - each * 60_000, coolant_c=97 if each == 0 else 80, tire_pressure_kpa=60)
    until(lambda: farm.query("SELECT count(*) FROM drover.machine_reading WHERE vehicle = 'field-1'") == [(120,)]
               and farm.query("SELECT 1 FROM drover.alert WHERE vehicle = 'field-1' AND severity = 'critical'")
               # All but the newest came late: they are judged at ticks.
               and not farm.query("SELECT 1 FROM drover.machine_rejudging WHERE vehicle = 'field-1'"), farm.worker)
    ada = farm.visitor("ada")
    answer = ada.get("/v1/field-view/field-1")
    view = json.loads(answer.body)
    check("GET", "/v1/field-view/field-1", answer.status, answer.headers["Content-Type"], answer.body.encode())
    assert answer.headers["Cache-Control"] == "private, max-age=30, stale-while-revalidate=3600" and answer.headers["Vary"] == "Authorization, Cookie"
    again = ada.get("/v1/field-view/field-1", If_None_Match=answer.headers["ETag"])
    assert (again.status, again.body) == (304, "") and again.headers["ETag"] == answer.headers["ETag"]
    assert (view["vehicle"], view["model"], view["state"]) == ("field-1", "8R Tractor", "critical")
    assert view["alerts"][0]["parameter"] == "Coolant Temperature" and len(view["alerts"]) <= 5
    values = {each["name"]: each for each in view["parameters"]}
    assert values["Coolant Temperature"] == {"name": "Coolant Temperature", "value": 97, "unit": "°C", "shown": "97 °C", "state": "critical"}
    assert values["Tire Pressure"]["state"] == "warning" and values["GPS Available"]["state"] == "ok" and "Terminal Serial Number" not in values
    assert {each["name"]: each for each in json.loads(ada.get("/v1/field-view/field-1?units=us").body)["parameters"]}["Coolant Temperature"]["shown"] == "206.6 °F"
    assert ada.get("/v1/field-view/field-1?units=x").status == 400
    assert farm.visitor("bea").get("/v1/field-view/field-1").status == 404
    dev = json.loads(farm.visitor("dev").get("/v1/field-view/field-1").body)
    assert "Terminal Serial Number" in {each["name"] for each in dev["parameters"]}
    token = re.search(r"drover_\S+", farm.world.drover.done("token", "add", "--account", "ada", "--scope", "account", env=farm.env).out).group(0)
    program = Visitor(farm.site.port)
    assert program.get("/v1/field-view/field-1").status == 401
    mine = program.get("/v1/field-view/field-1", Authorization=f"Bearer {token}")
    assert mine.status == 200 and json.loads(mine.body)["state"] == "critical"
    assert program.get(f"/v1/field-view/{farm.serial}x", Authorization=f"Bearer {token}").status == 404
    assert program.get("/v1/field-view/field-1", Authorization=f"Bearer {token}", If_None_Match=mine.headers["ETag"]).status == 304

    farm.enter(page, "ada", "/field/field-1")
    expect(page.locator(".verdict")).to_contain_text("Stop")
    expect(page.locator("#field .figure.critical")).to_contain_text(re.compile(r"Coolant Temperature\s*97 °C\s*Critical"))
    looked_at(page, screenshots, "field")
    page.goto(farm.address + "/vehicles/field-1/readings")
    times = page.locator("tbody tr time").evaluate_all("all => all.map((each) => each.dateTime)")
    for _ in range(2):
        follow(page, page.get_by_role("link", name="Older", exact=True).first)
        times += page.locator("tbody tr td:first-child time").evaluate_all("all => all.map((each) => each.dateTime)")
    expect(page.get_by_role("link", name="Older", exact=True)).to_have_count(0)
    assert len(times) == len(set(times)) == 120 and times == sorted(times, reverse=True)


def test_debug_logs_are_for_developers(farm, page, screenshots, tmp_path):
    key = tmp_path / "key"
    key.write_text(farm.box["debug_log_key"])
    for _ in range(2):
        farm.world.drover.done("gateway", "log", f"127.0.0.1:{farm.box['port']}", "--key", key, "--vehicle", farm.serial, env=farm.env)
    [(log, lines)] = farm.query("SELECT log, error_lines + warning_lines + info_lines + debug_lines + other_lines FROM drover.debug_log ORDER BY debug_log_id LIMIT 1")
    farm.enter(page, "dev", f"/vehicles/{farm.serial}/logs")
    expect(page.get_by_role("region", name="Logs").locator("tbody tr")).to_have_count(2)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download log 1").click()
    download.value.save_as(tmp_path / "log")
    assert (tmp_path / "log").read_bytes() == log
    word = log.decode(errors="replace").split()[-1]
    page.get_by_label("Text", exact=True).fill(word)
    follow(page, page.get_by_role("button", name="Search"))
    expect(page.get_by_role("region", name="Lines found")).to_contain_text(word)
    looked_at(page, screenshots, "logs")
    ada = farm.visitor("ada")
    assert ada.get(f"/vehicles/{farm.serial}/logs").status == ada.get(f"/vehicles/{farm.serial}/logs/1").status == 403
    assert farm.visitor("dev").get("/vehicles/other/logs/1").status == 404


def test_codes_have_their_meaning(farm):
    farm.query("INSERT INTO drover.health_scan (vehicle, scan_id, asked_at, scanned_at, is_done, answer, stored, pending, permanent) "
              "VALUES ('car-7', 's', now(), now(), true, '1 code', '{P0133,P1ZZZ}', '{}', '{}') RETURNING 1")
    body = farm.visitor("ada").get("/vehicles/car-7?kind=car&tab=codes").body
    assert re.search(r"<b>P0133</b> \w", body) and "<b>P1ZZZ</b><" in body
