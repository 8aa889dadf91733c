"""Pages around machines in a real browser: a farmer's day, a dealer's, and somebody who changes a threshold."""
import json
import re
import shutil
import threading

import pytest
from certificates import self_signed
from harness import ROOT
from people import PASSWORD, Visitor
from test_accounts import Site
from test_gateway import emulate, gateway, wait_until
from test_pages import looked_at
from world import connect, producer

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
    folder = tmp_path_factory.mktemp("machine-pages")
    farm = Farm(world, folder, self_signed(folder, "mail"))
    yield farm
    farm.close()


class Farm:
    """A box that is too hot, its gateway, threshold files of its own, and people who have nothing yet."""

    def __init__(self, world, folder, certificate):
        self.world, self.env = world, world.database()
        self.thresholds = folder / "thresholds"
        shutil.copytree(ROOT / "Deploy" / "thresholds", self.thresholds)
        self.env["DROVER_ALERTS_THRESHOLDS_DIR"] = str(self.thresholds)
        self.worker = world.worker(self.env, "machine-pages")
        self.worker.wait_for("partitions assigned", 30)
        self.site = Site(world, self.env, certificate, folder)
        self.address = f"http://127.0.0.1:{self.site.port}"
        for account, roles in [("ada", ["farmer"]), ("bea", ["farmer"]), ("deal", ["dealer"]), ("boss", ["fleet_manager"]), ("dev", ["developer"]),
                               ("joe", ["driver"]), ("root", ["administrator"])]:
            self.site.with_account(account, f"{account}@example.org", PASSWORD, *roles)
        (folder / "hot.yaml").write_text(SCENARIO)
        [self.box] = emulate(world, folder / "hot.yaml", 1)
        self.serial = self.box["serial"]
        self.gateway = gateway(world, self.env, folder)
        wait_until(lambda: self.rows("SELECT 1 FROM drover.rule_set"), 30, self.site.server, self.worker)

    def rows(self, sql, *values):
        with connect(self.env) as connection:
            return connection.execute(sql, values or None).fetchall()

    def close(self):
        self.gateway.stop()
        self.site.close()
        self.worker.stop()

    def enter(self, page, who, path="/vehicles"):
        page.context.clear_cookies()
        page.goto(f"{self.address}/login?next={path}")
        page.get_by_label("Mail address").fill(f"{who}@example.org")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url(lambda url: "/login" not in url)

    def visitor(self, who):
        visitor = Visitor(self.site.port)
        assert visitor.log_in(f"{who}@example.org").status == 303
        return visitor

    def read(self, vehicle, ts, **values):
        record = {"schema": 1, "kind": "reading", "id": f"{vehicle}-{ts}", "vehicle": vehicle, "ts": ts, "model": "8R Tractor", "gps_available": True,
                  "coolant_c": 80, "serial": "42", **values}
        sender = producer(self.world.brokers)
        sender.produce("drover.machines", key=vehicle.encode(), value=json.dumps(record).encode())
        assert sender.flush(30) == 0


def fields(body, action):
    """Of the form that is sent there."""
    [form] = [text for text in re.findall(r"<form.*?</form>", body, re.S) if f'action="{action}"' in text]
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form))


def test_a_farmers_day(farm, page, screenshots):
    farm.enter(page, "ada")
    assert "There is none yet." in page.locator("main").inner_text()
    page.get_by_role("link", name="Add a machine").click()
    page.get_by_label("Serial number").fill(farm.serial)
    page.get_by_label("Name", exact=True).fill("Müller's <combine>")
    page.get_by_label("S690 Combine").check()
    page.get_by_label("Connection").fill("no connection")
    page.get_by_label("Tags").fill("north, big")
    looked_at(page, screenshots, "new")
    page.get_by_role("button", name="Add the machine").click()
    assert "must be host:port" in page.get_by_role("alert").inner_text()
    # What was written is still there.
    assert page.get_by_label("Name", exact=True).input_value() == "Müller's <combine>" and page.get_by_label("S690 Combine").is_checked()
    page.get_by_label("Connection").fill(f"127.0.0.1:{farm.box['port']}")
    page.get_by_role("button", name="Add the machine").click()
    page.wait_for_url(f"**/vehicles/{farm.serial}?*said=added")
    # It shows as soon as a worker has taken it.
    page.wait_for_function("() => document.querySelector('h1').innerText === \"Müller's <combine>\"", timeout=30_000)
    assert farm.rows("SELECT f.fleet, m.account FROM drover.fleet_vehicle f JOIN drover.fleet_member m USING (fleet) WHERE vehicle = %s", farm.serial) == [("ada", "ada")]

    page.get_by_role("button", name="Ask for a download").click()
    page.wait_for_url("**said=asked")
    page.wait_for_function("() => document.getElementById('downloads').innerText.includes('done')", timeout=40_000)
    page.wait_for_function("() => document.getElementById('story').innerText.includes('Coolant Temperature\\t97 °C')", timeout=40_000)
    page.wait_for_function("() => document.getElementById('open-alerts') && document.getElementById('story').innerText.includes('critical')", timeout=40_000)
    assert "above 85 °C" in page.get_by_role("region", name="Open alerts").inner_text()
    assert page.get_by_alt_text("Picture of the model S690 Combine").evaluate("image => image.naturalWidth") > 0
    looked_at(page, screenshots, "machine")

    assert "Engine Hours" in page.get_by_role("region", name="Open alerts").inner_text()
    page.reload()
    assert float(page.get_by_label("Engine hours then").input_value()) > 0
    page.get_by_label("What was done").select_option("Regular service")
    page.get_by_label("Note, if you like").fill("oil & filters")
    page.get_by_role("button", name="Record the service").click()
    page.wait_for_url("**said=service")
    page.wait_for_function("() => document.getElementById('story').innerText.includes('Regular service: oil & filters')", timeout=30_000)
    page.wait_for_function("() => !document.getElementById('open-alerts').nextElementSibling.innerText.includes('Engine Hours')", timeout=30_000)
    [(state,)] = farm.rows("SELECT state FROM drover.alert WHERE vehicle = %s AND parameter = 'Engine Hours'", farm.serial)
    assert state == "resolved"

    page.get_by_role("link", name="All readings").click()
    assert page.locator("tbody tr").count() <= 50 and "97 °C" in page.locator("tbody tr").first.inner_text()
    assert "Terminal Serial Number" not in page.locator("thead").inner_text(), "that is for dealers"
    looked_at(page, screenshots, "readings")
    page.get_by_role("link", name=f"Back to {farm.serial}").click()

    page.get_by_role("link", name="Change it").click()
    assert page.get_by_label("Connection").input_value() == f"127.0.0.1:{farm.box['port']}" and page.get_by_label("Tags").input_value() == "north, big"
    page.get_by_label("Name", exact=True).fill("Old Faithful")
    looked_at(page, screenshots, "edit")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**said=changed")
    wait_until(lambda: farm.rows("SELECT name, model, tags, host FROM drover.registration WHERE vehicle = %s", farm.serial)
               == [("Old Faithful", "S690 Combine", ["north", "big"], "127.0.0.1")], 20, farm.worker)
    page.goto(farm.address + "/vehicles?search=faith")
    assert page.locator("#count").inner_text() == "1 vehicle." and "critical" in page.locator("#rows").inner_text()
    looked_at(page, screenshots, "list")


def test_what_is_wrong_is_explained(farm):
    ada = farm.visitor("ada")
    new = fields(ada.get("/vehicles/new?kind=machine").body, "/vehicles/new")
    for changed, said in [({"vehicle": "a b"}, "1 to 64 letters"), ({"vehicle": "new"}, "1 to 64 letters"), ({"vehicle": "m-1", "certificate": "ab"}, "no connection"),
                          ({"vehicle": "m-1", "address": "h:1", "certificate": "ab"}, "64 hexadecimal"), ({"vehicle": "m-1", "tags": "x" * 65}, "longer than 64 bytes"),
                          ({"vehicle": "m-1", "name": "x" * 201}, "longer than 200 bytes"), ({"vehicle": "m-1", "model": "x" * 65}, "longer than 64 bytes"),
                          ({"vehicle": "m-1", "id": "no id"}, "no id")]:
        answer = ada.post("/vehicles/new", **{**new, **changed})
        assert answer.status == 422 and said in answer.body, changed
    car = fields(ada.get("/vehicles/new?kind=car").body, "/vehicles/new")
    for changed, said in [({"vin": "123"}, "17 letters"), ({"year": "20x"}, "1900 to 2200"), ({"tank": "-1"}, "number from"), ({"fuel": "coal"}, "no such fuel"),
                          ({"displacement": "0"}, "number from"), ({"efficiency": "400"}, "number from"), ({"owner": "deal"}, "owner must be you")]:
        answer = ada.post("/vehicles/new", **{**car, "vehicle": "car-1", **changed})
        assert answer.status in (409, 422) and said in answer.body, (changed, answer.body)
    assert farm.rows("SELECT 1 FROM drover.registration WHERE vehicle IN ('m-1', 'car-1')") == []
    page = ada.get(f"/vehicles/{farm.serial}").body
    service = {**fields(page, f"/vehicles/{farm.serial}/service"), "service": "Repair", "done": "2026-01-05T08:00", "hours": "10"}
    for wrong, said in [({"service": "Magic"}, "Say what was done"), ({"done": "soon"}, "like 2026-11-22"), ({"done": "2099-01-01T00:00"}, "still to come"),
                        ({"hours": "many"}, "like 1234.5"), ({"hours": "-1"}, "like 1234.5"), ({"note": "x" * 2_000}, "too long")]:
        answer = ada.post(f"/vehicles/{farm.serial}/service", **{**service, **wrong})
        assert answer.status == 422 and said in answer.body, wrong


def test_sent_twice_counts_once(farm):
    ada = farm.visitor("ada")
    service = {**fields(ada.get(f"/vehicles/{farm.serial}").body, f"/vehicles/{farm.serial}/service"), "service": "Repair", "done": "2026-01-05T08:00", "hours": "10"}
    for _ in range(2):
        assert ada.post(f"/vehicles/{farm.serial}/service", **service).status == 303
    new = {**fields(ada.get("/vehicles/new?kind=car").body, "/vehicles/new"), "vehicle": "car-7", "name": "Van", "make": "Dodge", "model": "Caliber", "year": "2010",
           "vin": "1b3hb48b67d562726", "fuel": "gasoline", "tank": "51.5", "displacement": "1998", "efficiency": "85", "owner": "ada", "tags": "north"}
    for _ in range(2):
        assert ada.post("/vehicles/new", **new).headers["Location"] == "/vehicles/car-7?kind=car&said=added"
    wait_until(lambda: farm.rows("SELECT 1 FROM drover.registration WHERE vehicle = 'car-7'") and farm.rows("SELECT 1 FROM drover.service WHERE note = 'Repair'"), 20, farm.worker)
    assert ada.post("/vehicles/new", **new).status == 303
    farm.world.work_off(farm.env)
    assert farm.rows("SELECT count(*) FROM drover.service WHERE note = 'Repair'") == [(1,)]
    assert farm.rows("SELECT name, make, model, year, vin, fuel, tank_l, displacement_cc, volumetric_efficiency_pct, account, tags FROM drover.registration WHERE vehicle = 'car-7'") == [
        ("Van", "Dodge", "Caliber", 2010, "1B3HB48B67D562726", "gasoline", 51.5, 1998, 85, "ada", ["north"])]
    # What is shown and sent again changes nothing by its units.
    farm.rows("UPDATE drover.account SET units = 'us' WHERE account = 'ada' RETURNING 1")
    body = ada.get("/vehicles/car-7/edit?kind=car").body
    assert 'name="tank" type="text" value="13.6"' in body
    sent = {**fields(body, "/vehicles/car-7/edit"), **{name: new[name] for name in new if name not in ("form", "id", "based_on", "kind", "vehicle", "fleet")}, "tank": "13.6", "name": "Van 7"}
    assert ada.post("/vehicles/car-7/edit", **sent).status == 303
    wait_until(lambda: farm.rows("SELECT tank_l FROM drover.registration WHERE vehicle = 'car-7' AND name = 'Van 7'") == [(51.5,)], 20, farm.worker)
    farm.rows("UPDATE drover.account SET units = 'metric' WHERE account = 'ada' RETURNING 1")


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
    assert machine.status == 422 and "drivers add cars" in machine.body
    car = {**fields(joe.get("/vehicles/new?kind=car").body, "/vehicles/new"), "vehicle": "joes"}
    assert joe.post("/vehicles/new", **{**car, "owner": "ada"}).status == 409
    assert joe.post("/vehicles/new", **car).status == 303
    wait_until(lambda: farm.rows("SELECT account FROM drover.registration WHERE vehicle = 'joes'") == [("joe",)], 20, farm.worker)
    assert "joes" in joe.get("/vehicles").body and "joes" not in bea.get("/vehicles").body
    # Two who add one at once: one of them gets it.
    forms = {who: {**fields(who.get("/vehicles/new?kind=machine").body, "/vehicles/new"), "vehicle": "free-1"} for who in (bea, farm.visitor("ada"))}
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
    late = ada.post("/vehicles/car-7/edit", **{**second, **rest, "name": "Van B"})
    assert late.status == 409 and "Nothing was saved" in late.body and 'value="Van B"' in late.body
    wait_until(lambda: farm.rows("SELECT name FROM drover.registration WHERE vehicle = 'car-7'") == [("Van A",)], 20, farm.worker)


def test_a_dealers_day(farm, page, screenshots):
    farm.enter(page, "deal", "/dealers")
    page.get_by_label("Serial number").fill(farm.serial)
    page.get_by_role("button", name="Ask its owner").click()
    page.goto(farm.address + "/vehicles")
    assert "There is none yet." in page.locator("main").inner_text()
    farm.enter(page, "ada", "/dealers")
    page.get_by_role("button", name=f"Confirm deal for {farm.serial}").click()
    assert "Confirmed." in page.get_by_role("status").inner_text()
    farm.enter(page, "deal")
    assert page.get_by_role("link", name="Add a machine").count() == 0
    page.get_by_role("link", name="Old Faithful").click()
    page.wait_for_function("() => document.getElementById('story').innerText.includes('Terminal Serial Number')", timeout=30_000)
    page.get_by_role("link", name="Change it").click()
    assert "owner's to change" in page.locator("main").inner_text() and page.get_by_label("Connection").count() == 0
    assert "127.0.0.1" not in page.content()
    page.get_by_label("Tags").fill("north, big, warranty")
    looked_at(page, screenshots, "tags")
    page.get_by_role("button", name="Save the tags").click()
    page.wait_for_url("**said=changed")
    wait_until(lambda: farm.rows("SELECT name, tags, host FROM drover.registration WHERE vehicle = %s", farm.serial)
               == [("Old Faithful", ["north", "big", "warranty"], "127.0.0.1")], 20, farm.worker)
    page.goto(farm.address + "/vehicles")
    page.get_by_label("Tag").select_option("warranty")
    page.get_by_label("Sort by").select_option("worst alerts")
    page.get_by_role("button", name="Show").click()
    assert page.locator("#rows tbody tr").count() == 1
    # A dealer's form says tags and nothing else, whatever it holds.
    deal = farm.visitor("deal")
    form = fields(deal.get(f"/vehicles/{farm.serial}/edit").body, f"/vehicles/{farm.serial}/edit")
    assert deal.post(f"/vehicles/{farm.serial}/edit", **{**form, "tags": "mine", "name": "Stolen", "address": "", "fleet": "ada"}).status == 303
    wait_until(lambda: farm.rows("SELECT name, tags, host FROM drover.registration WHERE vehicle = %s", farm.serial) == [("Old Faithful", ["mine"], "127.0.0.1")], 20, farm.worker)
    assert deal.post(f"/vehicles/{farm.serial}/switch", **{**form, "to": "off"}).status == 403
