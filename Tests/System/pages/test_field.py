"""A machine in the field: found by the sticker that a camera sees, shown over the picture, in panels, and as it was last without a network; and what
its box calls it (Machine ID), which is stored, shown and found."""
import base64
import json
import os
import re
import shutil
import urllib.parse

import pytest
from description import check
from harness import HANG_S, ROOT, Watch, lent, looked_at, now_ms, until
from people import PASSWORD, enter, follow, lend_cookie, logged_in
from playwright.sync_api import expect
from test_accounts import Site
from world import Asked

CHROMIUM = os.environ.get("DROVER_CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = ["--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1, EXCLUDE [::1]",
             "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"] + (["--no-sandbox"] if os.geteuid() == 0 else [])
# Chromium on Linux has no detector of its own: this one stands for those that do.
DETECTOR = """globalThis.BarcodeDetector = class {
    static async getSupportedFormats() { return ["aztec", "qr_code"]; }
    constructor(options) { globalThis.asked = options.formats; }
    async detect(picture) { globalThis.seen = [picture.width, picture.height]; return [{ rawValue: "MID-42" }]; }
};"""
RASTER = """async ([text, border]) => {
    const { encodeQR } = await import("/assets/qr/index.js");
    return encodeQR(text, "raw", { ecc: "medium", border }).map((row) => row.map((dark) => (dark ? 1 : 0)).join(""));
}"""


@pytest.fixture(scope="module")
def field(world, tmp_path_factory):
    yield from lent(Field(world, tmp_path_factory.mktemp("field")))


class Field(Asked):
    """Two farms with a machine each, and who looks at them: ada at `combine`, bea at `other`."""

    def __init__(self, world, folder):
        self.world, self.env = world, world.database()
        self.thresholds = folder / "thresholds"
        shutil.copytree(ROOT / "Deploy" / "thresholds", self.thresholds)
        self.env["DROVER_ALERTS_THRESHOLDS_DIR"] = str(self.thresholds)
        self.worker = world.assigned(self.env, "field")
        self.site = Site(world, self.env, None, folder, has_mail=False)
        self.address = f"http://127.0.0.1:{self.site.port}"
        for account, roles in [("ada", ["farmer"]), ("bea", ["farmer"]), ("dev", ["developer"]), ("sue", ["surveyor"]), ("root", ["administrator"])]:
            self.site.with_account(account, f"{account}@example.org", PASSWORD, *roles)
        for who, machine in [("ada", "combine"), ("bea", "other")]:
            self.query("INSERT INTO drover.fleet (fleet, name) VALUES (%s, %s) RETURNING 1", who, who)
            self.query("INSERT INTO drover.fleet_member (fleet, account) VALUES (%s, %s) RETURNING 1", who, who)
            self.query("INSERT INTO drover.fleet_vehicle VALUES (%s, 'machine', %s) RETURNING 1", who, machine)
        until(lambda: self.query("SELECT 1 FROM drover.rule_set"), self.site.server, self.worker)
        self.read("combine", machine_id="MID-42", serial="BOX-1", coolant_c=97, fuel_level_gal=100, tire_pressure_kpa=190, engine_hours_h=700,
                  last_reprogramming_ok=False)
        self.read("other", machine_id="MID-7", serial="BOX-2", coolant_c=80)
        until(lambda: self.query("SELECT 1 FROM drover.alert WHERE vehicle = 'combine' AND severity = 'critical'")
              and self.query("SELECT 1 FROM drover.vehicle WHERE vehicle = 'other'"), self.worker)

    def close(self):
        self.site.close()
        self.worker.stop()

    def read(self, vehicle, ts=None, reading=None, **values):
        ts = ts or now_ms() - 60_000
        self.world.push("drover.machines", {"schema": 1, "kind": "reading", "id": reading or f"{vehicle}-{ts}", "vehicle": vehicle, "ts": ts,
                                            "model": "S690 Combine", "gps_available": True, **values})

    def visitor(self, who):
        return logged_in(self.site.port, who)

    def enter(self, page, who, path):
        page.context.clear_cookies()
        enter(page, self.address, who, path)


def found(answer):
    assert answer.status == 200, answer.body
    return [each["vehicle"] for each in json.loads(answer.body)["machines"]]


# MARK: Machine ID

def test_what_a_box_calls_its_machine_is_shown_wherever_its_serial_number_is(field):
    ada, dev = field.visitor("ada"), field.visitor("dev")
    assert field.query("SELECT machine_id FROM drover.machine_reading WHERE vehicle = 'combine'") == [("MID-42",)]
    assert re.search(r"<dt>Machine ID</dt><dd>MID-42</dd>", ada.get("/vehicles/combine?kind=machine&tab=details").body)
    assert "Machine ID" in ada.get("/vehicles/combine/readings").body and "MID-42" in ada.get("/vehicles/combine/readings").body
    assert re.search(r"<dt>Machine ID</dt><dd>MID-42</dd>", ada.get("/field/combine").body)
    answer = ada.get("/v1/field-view/combine")
    check("GET", "/v1/field-view/combine", answer.status, answer.headers["Content-Type"], answer.body.encode())
    view = json.loads(answer.body)
    assert view["machine_id"] == "MID-42"
    assert {each["name"]: each["shown"] for each in view["parameters"]}["Machine ID"] == "MID-42"
    token = re.search(r"drover_\S+", field.world.drover.done("token", "add", "--account", "ada", "--scope", "read", env=field.env).out).group(0)
    answer = ada.get("/v1/machines/combine", Authorization=f"Bearer {token}")
    assert answer.status == 200, answer.body
    machine = json.loads(answer.body)
    assert {each["key"]: each["value"] for each in machine["parameters"]}["machine_id"] == "MID-42"
    readings = json.loads(ada.get("/v1/machines/combine/readings", Authorization=f"Bearer {token}").body)["readings"]
    assert readings[0]["machine_id"] == "MID-42"
    assert json.loads(ada.get("/v1/machines?search=mid-42", Authorization=f"Bearer {token}").body)["machines"][0]["vehicle"] == "combine"
    assert field.query("SELECT DISTINCT machine_id FROM own.machine_reading WHERE vehicle = 'combine'") == [("MID-42",)]
    assert dev.get("/field/combine").status == 200


@pytest.mark.parametrize("text", ["MID-42", "mid-4", "id-42"])
def test_search_finds_a_machine_id_and_only_of_machines_that_one_sees(field, text):
    ada, bea = field.visitor("ada"), field.visitor("bea")
    for path in (f"/search/results?q={text}", f"/search?q={text}", f"/vehicles?search={text}"):
        assert "/vehicles/combine?" in ada.get(path).body and "/vehicles/combine" not in bea.get(path).body, path


def test_the_machine_id_that_was_said_last_counts_in_any_order(field):
    """Of two readings at one time the larger id counts, and one without a Machine ID leaves that of before."""
    end = now_ms() - 3_600_000
    readings = [
        {"ts": end - 2_000, "reading": "r1", "machine_id": "FIRST"},
        {"ts": end - 1_000, "reading": "r2", "machine_id": "SECOND"},
        {"ts": end, "reading": "r3", "machine_id": "WRONG"},
        {"ts": end, "reading": "r4"},  # Takes the place of r3.
    ]
    for vehicle, order in [("forth", [0, 1, 2, 3]), ("back", [3, 2, 1, 0]), ("across", [2, 0, 3, 1])]:
        for index in order:
            field.read(vehicle, **readings[index])
    for vehicle in ("forth", "back", "across"):
        until(lambda: field.query("SELECT count(*) FROM drover.machine_reading WHERE vehicle = %s", vehicle) == [(3,)]
              and field.query("SELECT machine_id FROM drover.vehicle WHERE vehicle = %s", vehicle) == [("SECOND",)], field.worker, about=vehicle)
        [(said_at,)] = field.query("SELECT extract(epoch FROM machine_id_at) * 1000 FROM drover.vehicle WHERE vehicle = %s", vehicle)
        assert int(said_at) == end - 1_000
    assert field.query("SELECT machine_id FROM drover.machine_reading WHERE vehicle = 'back' ORDER BY read_at") == [("FIRST",), ("SECOND",), (None,)]


def test_a_rule_on_machine_id_is_offered_and_says_who_sees_it(field):
    dev, ada = field.visitor("dev"), field.visitor("ada")
    offered = dev.get("/thresholds/new").body
    assert re.search(r'<option[^>]*value="Machine ID"', offered)
    chosen = dev.get("/thresholds/new?" + urllib.parse.urlencode({"parameter": "Machine ID", "of": re.search(r'<option[^>]*value="([^"]*S690 Combine)"', offered).group(1)}))
    assert chosen.status == 303
    address = chosen.headers["Location"]
    form = dev.get(address).body
    assert "A text raises no alert" in form
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form[form.index('<form id="rule"'):]))

    def save(user, **more):
        form = dev.get(address).body
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form[form.index('<form id="rule"'):]))
        return dev.post(address, **{**hidden, "user": user, "type": "string", "unit": " ", "do": "save", **more})
    assert {"test": "none"}.items() <= hidden.items()
    assert save("dealer").status == 303
    try:
        until(lambda: "MID-42" not in ada.get("/field/combine").body, field.site.server)
        for path in ("/vehicles/combine?kind=machine&tab=details", "/vehicles/combine/readings", "/v1/field-view/combine"):
            assert "MID-42" not in ada.get(path).body and "MID-42" in dev.get(path).body, path
        # Only the whole of what stands on a machine is looked for there.
        assert found(ada.get("/v1/field-view?code=mid-42")) == ["combine"] and found(ada.get("/v1/field-view?code=mid-4")) == []
    finally:
        assert save("farmer").status == 303
        until(lambda: "MID-42" in ada.get("/field/combine").body, field.site.server)


# MARK: Words and units

def test_a_reprogramming_has_failed_and_is_not_no(field):
    dev = field.visitor("dev")
    until(lambda: field.query("SELECT 1 FROM drover.alert WHERE vehicle = 'combine' AND parameter = 'Last Reprogramming Status'"), field.worker)
    [(alert,)] = field.query("SELECT alert_id FROM drover.alert WHERE vehicle = 'combine' AND parameter = 'Last Reprogramming Status'")
    assert re.search(r"<dt>Last Reprogramming Status</dt><dd>failed</dd>", dev.get("/field/combine").body)
    assert re.search(r"Last Reprogramming Status</\w+>\s*<\w+[^>]*>failed<", dev.get("/vehicles/combine?kind=machine").body)
    assert re.search(r"<td[^>]*>failed</td>", dev.get("/vehicles/combine/readings").body)
    shown = {each["name"]: each["shown"] for each in json.loads(dev.get("/v1/field-view/combine").body)["parameters"]}
    assert shown["Last Reprogramming Status"] == "failed" and shown["GPS Available"] == "yes"
    story = dev.get(f"/alerts/{alert}").body
    assert "Last reprogramming failed" in story and re.search(r"<dt>Rule</dt><dd>failed, ", story) and not re.search(r"Reprogramming Status[^<]*\bno\b", story)
    assert "Last Reprogramming Status done" in story  # What would end it.
    assert "Last reprogramming failed" in dev.get("/alerts").body


GALLONS = re.compile(r"\b(?:US gal|gallons?)\b", re.I)


@pytest.mark.parametrize("unit", ["metric", "us"])
def test_gallons_are_for_accounts_in_us_units(field, unit):
    field.query("UPDATE drover.account SET units = %s WHERE account IN ('ada', 'dev') RETURNING 1", unit)
    try:
        field.read("combine", machine_id="MID-42", serial="BOX-1", coolant_c=97, fuel_level_gal=40, tire_pressure_kpa=190, engine_hours_h=700, last_reprogramming_ok=False)
        low = "SELECT alert_id FROM drover.alert WHERE vehicle = 'combine' AND parameter = 'Fuel Level' AND state = 'open'"
        until(lambda: field.query(low), field.worker)
        [(alert,)] = field.query(low)
        ada = field.visitor("ada")
        pages = ["/", "/home", "/vehicles", "/vehicles/combine?kind=machine", "/vehicles/combine?kind=machine&tab=alerts", "/vehicles/combine/readings", "/field", "/field/combine",
                 "/alerts", f"/alerts/{alert}", "/thresholds", "/fleet", "/map"]
        bodies = {path: ada.get(path).body for path in pages}
        shown = {each["name"]: each["shown"] for each in json.loads(ada.get("/v1/field-view/combine").body)["parameters"]}
        if unit == "metric":
            assert shown["Fuel Level"] == "151.4 L"
            assert {path for path, body in bodies.items() if GALLONS.search(body)} == set()
            assert "70 gal" not in bodies[f"/alerts/{alert}"] and re.search(r"Fuel Level of [\d.]+ L or more", bodies[f"/alerts/{alert}"])
        else:
            assert shown["Fuel Level"] == "40 US gal"
            assert {path for path in ("/field/combine", "/vehicles/combine/readings", f"/alerts/{alert}") if "US gal" not in bodies[path]} == set()
    finally:
        field.query("UPDATE drover.account SET units = 'metric' WHERE account IN ('ada', 'dev') RETURNING 1")


# MARK: Which machine it is

@pytest.mark.parametrize("code, machine", [("combine", "combine"), ("COMBINE", "combine"), ("MID-42", "combine"), (" mid-42 ", "combine"), ("BOX-1", "combine"),
                                           ("MID-7", None), ("BOX-2", None), ("other", None), ("MID-4", None), ("%", None), ("MID_42", None)])
def test_a_code_leads_to_the_machine_that_has_it_and_to_no_other_farms(field, code, machine):
    ada = field.visitor("ada")
    answer = ada.get("/v1/field-view?" + urllib.parse.urlencode({"code": code}))
    check("GET", "/v1/field-view?code=x", answer.status, answer.headers["Content-Type"], answer.body.encode())
    assert found(answer) == ([machine] if machine else [])
    shown = ada.get("/field?" + urllib.parse.urlencode({"code": code}))
    if machine:
        assert (shown.status, shown.headers["Location"]) == (303, f"/field/{machine}")
    else:
        assert shown.status == 200 and "No machine that you may see has" in shown.body


@pytest.mark.parametrize("address, status", [("http://127.0.0.1:1/field/combine", 303), ("{here}/field/combine", 303), ("https://evil.example/field/combine", 200),
                                             ("{here}/logout", 200), ("{here}/field/combine/x", 200), ("https://127.0.0.1:1@evil.example/field/combine", 200)])
def test_an_address_is_followed_only_to_a_machine_of_this_site(field, address, status):
    """The first is the address that the settings say (web.public_url)."""
    answer = field.visitor("ada").get("/field?" + urllib.parse.urlencode({"code": address.replace("{here}", field.address)}))
    assert answer.status == status
    assert answer.headers["Location"] == "/field/combine" if status == 303 else "Nothing was opened" in answer.body


def test_who_sees_no_vehicles_has_no_field_view(field):
    sue, strange = field.visitor("sue"), field.visitor("bea")
    assert sue.get("/field").status == sue.get("/field/combine").status == sue.get("/v1/field-view?code=combine").status == 403
    assert strange.get("/field/combine").status == 404 and "combine" not in strange.get("/field").body
    assert strange.get("/v1/field-view?code=").status == strange.get("/v1/field-view").status == strange.get("/v1/field-view?code=" + "x" * 65).status == 400
    strange.cookie = None
    assert strange.get("/v1/field-view?code=combine").status == 401 and strange.get("/field").status == 303
    # What a device keeps for everybody names nobody and no machine.
    frame, worker = strange.get("/field-offline"), strange.get("/field-worker.js")
    assert frame.status == worker.status == 200 and not re.search(r"\b(combine|ada|MID-42)\b", frame.body)
    assert worker.headers["Content-Type"].startswith("text/javascript")


# MARK: The camera

def raster(page, text, border=4):
    return [[letter == "1" for letter in row] for row in page.evaluate(RASTER, [text, border])]


def video(path, rows, width=640, height=480, frames=5):
    """A film of one picture, as Chromium's pretended camera plays it, round and round."""
    side = min(width, height) * 3 // 4 // len(rows)
    left, top = (width - side * len(rows)) // 2, (height - side * len(rows)) // 2
    bright = bytearray([200]) * (width * height)
    for y, row in enumerate(rows):
        line = b"".join(bytes([20 if dark else 235]) * side for dark in row)
        for each in range(side):
            at = (top + y * side + each) * width + left
            bright[at:at + len(line)] = line
    picture = b"FRAME\n" + bytes(bright) + bytes([128]) * (width * height // 2)
    path.write_bytes(f"YUV4MPEG2 W{width} H{height} F10:1 Ip A1:1 C420jpeg\n".encode() + picture * frames)
    return path


@pytest.fixture
def filmed(browser, field, page, tmp_path):
    """A browser whose camera sees this text as a code, and who looks at it."""
    opened = []

    def begin(text, who="ada", path="/field", script=None):
        page.goto(field.address + "/field-offline")
        film = video(tmp_path / f"film-{len(opened)}.y4m", raster(page, text))
        running = browser.browser_type.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, f"--use-file-for-fake-video-capture={film}"])
        context = running.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB", reduced_motion="reduce", permissions=["camera"])
        context.set_default_timeout(HANG_S * 1000)
        watch = Watch()
        watch.attach(context)
        opened.append((running, watch))
        if script:
            context.add_init_script(script)
        seeing = context.new_page()
        seeing.watch = watch
        lend_cookie(field.visitor(who), seeing, field.address)
        seeing.goto(field.address + path)
        return seeing

    yield begin
    problems = [watch.problems() for _, watch in opened]
    for running, _ in opened:
        running.close()
    assert all(each == {} for each in problems), problems


def test_the_camera_finds_a_sticker_and_shows_the_machine_over_the_picture(field, filmed, screenshots):
    page = filmed("http://127.0.0.1:1/field/combine")
    assert page.evaluate("'BarcodeDetector' in window") is False
    expect(page.locator("#over .sight")).to_have_count(0)
    page.get_by_role("button", name="Open the camera").click()
    over = page.locator("#over .sight")
    expect(over).to_contain_text("combine")
    expect(over).to_contain_text("Stop:")
    expect(over).to_contain_text("Coolant too hot")
    assert page.evaluate("document.getElementById('video').videoWidth") == 640
    # It stands over the picture, and nothing leads away from the page.
    box, picture = over.bounding_box(), page.locator("#video").bounding_box()
    assert picture["y"] <= box["y"] and box["y"] + box["height"] <= picture["y"] + picture["height"] + 10
    assert page.url == field.address + "/field"
    looked_at(page, screenshots, "camera", dark=True)

    freeze = page.get_by_role("button", name="Freeze")
    freeze.click()
    expect(freeze).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("document.getElementById('video').paused") is True
    freeze.click()
    page.wait_for_function("() => !document.getElementById('video').paused")
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#video")).to_be_hidden()
    # The camera is off, and what was found is still there.
    assert page.evaluate("document.getElementById('video').srcObject") is None
    expect(page.locator("#found .sight")).to_contain_text("Stop:")


@pytest.mark.parametrize("code, said", [("MID-42", "combine"), ("combine", "combine")])
def test_a_bare_number_on_a_machine_is_found_too(filmed, code, said):
    page = filmed(code)
    page.get_by_role("button", name="Open the camera").click()
    expect(page.locator("#over .who")).to_have_text(said)


@pytest.mark.parametrize("code, said", [
    ("https://evil.example/field/combine", "This code is not of this site: it leads to evil.example"), ("http://127.0.0.1:1/account", "not a machine's sticker"),
    ("MID-7", "No machine that you may see"), ("javascript:alert(1)", "No machine that you may see"), ("http://127.0.0.1:1/field/other", "There is no such machine that you may see")])
def test_codes_of_elsewhere_open_nothing(field, filmed, code, said):
    page = filmed(code)
    page.get_by_role("button", name="Open the camera").click()
    expect(page.locator("#said")).to_contain_text(said)
    assert page.url == field.address + "/field"
    expect(page.locator("#over .sight")).to_have_count(0)
    page.watch.forgive()  # That there is no such machine.


def test_the_browsers_own_detector_is_asked_first(filmed):
    page = filmed("http://127.0.0.1:1/field/nothing-of-this", script=DETECTOR)
    page.get_by_role("button", name="Open the camera").click()
    expect(page.locator("#over .who")).to_have_text("combine")
    assert page.evaluate("[globalThis.asked, globalThis.seen]") == [["qr_code"], [640, 480]]
    loaded = page.evaluate("performance.getEntriesByType('resource').filter((each) => each.name.includes('decode.js') && each.initiatorType === 'script').length")
    assert loaded == 0


def test_it_looks_no_more_than_five_times_a_second_and_not_while_hidden(filmed):
    count = DETECTOR.replace("globalThis.seen = [picture.width, picture.height]; return [{ rawValue: \"MID-42\" }];", "(globalThis.looks ??= []).push(performance.now()); return [];")
    page = filmed("x", script=count + "globalThis.isHidden = false; Object.defineProperty(document, 'hidden', { get: () => globalThis.isHidden });")
    page.get_by_role("button", name="Open the camera").click()
    page.wait_for_function("() => (globalThis.looks ?? []).length >= 10")
    looks = page.evaluate("globalThis.looks")
    assert min(b - a for a, b in zip(looks, looks[1:])) > 150
    page.evaluate("globalThis.isHidden = true; globalThis.before = globalThis.looks.length; globalThis.since = performance.now()")
    page.wait_for_function("() => performance.now() - globalThis.since > 1500")
    # One that was under way may still have come.
    assert page.evaluate("globalThis.looks.length - globalThis.before") <= 1


# MARK: Without a camera

def test_without_a_camera_one_types_or_takes_a_photo(field, page, tmp_path, screenshots):
    field.enter(page, "ada", "/field")
    page.get_by_role("button", name="Open the camera").click()
    expect(page.locator("#said")).to_contain_text(re.compile("cannot be opened|not allowed"))
    page.get_by_label("Serial number, Machine ID or name").fill("mid-42")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#found .sight")).to_contain_text("Stop:")
    looked_at(page, screenshots, "typed")
    page.get_by_label("Serial number, Machine ID or name").fill("https://evil.example/field/combine")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#said")).to_contain_text("not of this site")
    # A photo of the sticker, twice as large as what is looked at.
    rows = raster(page, field.address + "/field/combine")
    photo = page.evaluate("""(rows) => { const canvas = document.createElement("canvas"), side = 24; canvas.width = canvas.height = 2000; const pen = canvas.getContext("2d");
        pen.fillStyle = "#bbb"; pen.fillRect(0, 0, 2000, 2000);
        rows.forEach((row, y) => row.forEach((dark, x) => { pen.fillStyle = dark ? "#111" : "#fff"; pen.fillRect(300 + x * side, 400 + y * side, side, side); }));
        return canvas.toDataURL("image/jpeg").split(",")[1]; }""", rows)
    page.reload()
    page.locator("#photo").set_input_files({"name": "sticker.jpg", "mimeType": "image/jpeg", "buffer": base64.b64decode(photo)})
    expect(page.locator("#over .sight")).to_contain_text("Stop:")
    page.locator("#photo").set_input_files({"name": "x.jpg", "mimeType": "image/jpeg", "buffer": b"no picture"})
    expect(page.locator("#said")).to_contain_text("The browser cannot read this file as a picture")


def test_panels_turn_by_links_buttons_and_keys_without_sideways_scrolling_of_the_page(field, page, screenshots):
    field.enter(page, "ada", "/field/combine")
    expect(page.locator(".panel")).to_have_count(5)
    page.set_viewport_size({"width": 390, "height": 800})
    current = page.locator(".flick nav [aria-current]")
    expect(current).to_have_text("Status")
    at = lambda name: page.wait_for_function(
        "(id) => { const box = document.querySelector('.panels').getBoundingClientRect(), part = document.getElementById(id).getBoundingClientRect(); return Math.abs(box.left - part.left) < 3; }",
        arg=f"field-{name}")
    page.get_by_role("navigation", name="Panels").get_by_role("link", name="Readings").click()
    at("readings")
    expect(current).to_have_text("Readings")
    page.get_by_role("button", name="Next panel").click()
    at("service")
    page.get_by_role("region", name="Panels, swipe sideways").press("End")
    at("machine")
    expect(page.get_by_role("button", name="Next panel")).to_be_disabled()
    page.get_by_role("region", name="Panels, swipe sideways").press("ArrowLeft")
    at("service")
    # News leave the reader at the panel.
    field.read("combine", machine_id="MID-42", serial="BOX-1", coolant_c=98.5, fuel_level_gal=100, tire_pressure_kpa=190, engine_hours_h=701, last_reprogramming_ok=False)
    expect(page.locator("#field-readings")).to_contain_text("98.5 °C")
    at("service")
    page.set_viewport_size({"width": 1280, "height": 900})
    looked_at(page, screenshots, "panels", dark=True)


def test_without_script_it_is_links_and_a_form(field, browser):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        context.set_default_timeout(HANG_S * 1000)
        enter(page, field.address, "ada", "/field")
        expect(page.locator("#scene")).to_be_hidden()
        page.get_by_label("Serial number, Machine ID or name").fill("MID-42")
        follow(page, page.get_by_role("button", name="Show"))
        assert page.url == field.address + "/field/combine"
        expect(page.locator(".verdict")).to_contain_text("Stop")
        for text in ["Status", "Alerts", "Readings", "Service", "Machine"]:
            expect(page.locator(".flick nav")).to_contain_text(text)
    finally:
        context.close()


# MARK: Without a network

KEPT = "async () => (await Promise.all((await caches.keys()).filter((name) => name.startsWith('drover-field:')).map(async (name) => [name, (await (await caches.open(name)).keys()).map((each) => new URL(each.url).pathname)])))"


def kept(page):
    return {name: paths for name, paths in page.evaluate(KEPT)}


def ready(page):
    """The frame and the machine are kept, and the worker answers for the page."""
    page.wait_for_function("async () => Boolean(await caches.match('/field-offline')) && navigator.serviceWorker.controller !== null")
    page.wait_for_function("async (path) => Boolean(await caches.match(path))", arg="/assets/qr/index.js")


def test_without_a_network_the_last_known_is_shown_with_its_age(field, page, watch, screenshots):
    field.enter(page, "ada", "/field/combine")
    ready(page)
    until(lambda: kept(page) == {"drover-field:ada": ["/field/combine"]})
    page.context.set_offline(True)
    try:
        page.goto(field.address + "/field/combine")
        expect(page.locator("#asof")).to_contain_text(re.compile(r"As of \d+ (s|min) ago, no network"))
        expect(page.locator("#found .verdict")).to_contain_text("Stop")
        expect(page.locator("#found")).to_contain_text("MID-42")
        # The age is of when it was kept.
        page.evaluate("""async () => { const open = await caches.open("drover-field:ada"), old = await open.match("/field/combine");
            await open.put("/field/combine", new Response(await old.text(), { headers: { "Kept-At": String(Date.now() - 2 * 3_600_000 - 60_000) } })); }""")
        page.goto(field.address + "/field")
        expect(page.locator("#kept")).to_contain_text("2 h ago")
        page.get_by_label("Serial number, Machine ID or name").fill("mid-42")
        page.get_by_role("button", name="Show").click()
        expect(page.locator("#asof")).to_contain_text("As of 2 h ago, no network")
        expect(page.locator("#found .verdict")).to_contain_text("Stop")
        looked_at(page, screenshots, "offline", dark=True)
        page.get_by_label("Serial number, Machine ID or name").fill("unknown")
        page.get_by_role("button", name="Show").click()
        expect(page.locator("#said")).to_contain_text("was kept on this device, and there is no network")
    finally:
        page.context.set_offline(False)
    # The page comes again by itself.
    expect(page.locator("#point[data-offline]")).to_have_count(0)
    watch.forgive()
    # With a network again it is the page.
    page.goto(field.address + "/field/combine")
    expect(page.locator("#field")).to_be_visible()
    expect(page.locator("#asof")).to_be_hidden()
    watch.forgive()


def test_what_is_kept_is_one_accounts_and_goes_with_the_log_out(field, page, watch):
    field.enter(page, "ada", "/field/combine")
    ready(page)
    until(lambda: kept(page) == {"drover-field:ada": ["/field/combine"]})
    # Any page of another account deletes it.
    field.enter(page, "bea", "/vehicles")
    until(lambda: kept(page) == {})
    page.goto(field.address + "/field/other")
    until(lambda: kept(page) == {"drover-field:bea": ["/field/other"]})
    page.context.set_offline(True)
    try:
        page.goto(field.address + "/field/combine")
        expect(page.locator("#said")).to_contain_text("No machine with combine was kept on this device")
        expect(page.locator("#kept")).to_contain_text("other")
        expect(page.locator("main")).not_to_contain_text("MID-42")
    finally:
        page.context.set_offline(False)
    expect(page.locator("#point[data-offline]")).to_have_count(0)
    watch.forgive()
    page.goto(field.address + "/vehicles")
    page.locator(".rail details.menu summary").click()
    follow(page, page.get_by_role("button", name="Log out"))
    page.goto(field.address + "/field-offline")
    assert kept(page) == {}
    watch.forgive()


def test_a_machine_that_one_may_not_see_any_more_is_forgotten(field, page, watch):
    field.query("INSERT INTO drover.fleet_vehicle VALUES ('ada', 'machine', 'lent-1') RETURNING 1")
    field.read("lent-1", coolant_c=70)
    until(lambda: field.query("SELECT 1 FROM drover.vehicle WHERE vehicle = 'lent-1'"), field.worker)
    field.enter(page, "ada", "/field")
    page.get_by_label("Serial number, Machine ID or name").fill("lent-1")
    page.get_by_role("button", name="Show").click()
    until(lambda: "/field/lent-1" in kept(page).get("drover-field:ada", []))
    field.query("DELETE FROM drover.fleet_vehicle WHERE vehicle = 'lent-1' RETURNING 1")
    field.query("INSERT INTO drover.fleet_vehicle VALUES ('bea', 'machine', 'lent-1') RETURNING 1")
    page.evaluate("Promise.resolve()")
    page.get_by_label("Serial number, Machine ID or name").fill(field.address + "/field/lent-1")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#said")).to_contain_text("There is no such machine that you may see")
    until(lambda: "/field/lent-1" not in kept(page).get("drover-field:ada", []))
    watch.forgive()  # That there is no such machine.


def test_a_page_that_is_refused_is_forgotten(field, page, watch):
    """By its address, not by what was pointed at: the machine that is another's now, and all of them where the role is gone."""
    field.query("INSERT INTO drover.fleet_vehicle VALUES ('ada', 'machine', 'lent-2') RETURNING 1")
    field.read("lent-2", coolant_c=70)
    until(lambda: field.query("SELECT 1 FROM drover.vehicle WHERE vehicle = 'lent-2'"), field.worker)
    field.enter(page, "ada", "/field/combine")
    ready(page)
    page.goto(field.address + "/field/lent-2")
    until(lambda: sorted(kept(page).get("drover-field:ada", [])) == ["/field/combine", "/field/lent-2"])
    field.query("DELETE FROM drover.fleet_vehicle WHERE vehicle = 'lent-2' RETURNING 1")
    # The page that is open finds out by news, and shows the machine no longer.
    with page.expect_navigation():
        page.evaluate("() => { droverLive.refresh(); }")
    expect(page.locator("main")).to_contain_text("There is no such machine that you may see")
    until(lambda: kept(page) == {"drover-field:ada": ["/field/combine"]})
    field.query("UPDATE drover.account SET roles = '{surveyor}' WHERE account = 'ada' RETURNING 1")
    try:
        assert page.goto(field.address + "/field/lent-2").status == 403
        until(lambda: kept(page) == {})
    finally:
        field.query("UPDATE drover.account SET roles = '{farmer}' WHERE account = 'ada' RETURNING 1")
    watch.forgive()  # That there is no such machine, and that it is not for surveyors.


def test_news_for_another_account_are_not_kept_as_the_first_ones(field, page):
    """Both may see the machine; who logs in in another tab has the same cookie."""
    field.enter(page, "ada", "/field/combine")
    ready(page)
    until(lambda: kept(page) == {"drover-field:ada": ["/field/combine"]})
    lend_cookie(field.visitor("root"), page, field.address)
    with page.expect_navigation():
        page.evaluate("() => { droverLive.refresh(); }")
    expect(page.locator("[data-account]").first).to_have_attribute("data-account", "root")
    until(lambda: kept(page) == {"drover-field:root": ["/field/combine"]})


def test_no_more_than_fifty_machines_are_kept(field, page):
    field.enter(page, "ada", "/field/combine")
    ready(page)
    until(lambda: kept(page) == {"drover-field:ada": ["/field/combine"]})
    page.evaluate("""async () => { const open = await caches.open("drover-field:ada");
        for (let number = 0; number < 60; number++) await open.put(`/field/old-${number}`, new Response("", { headers: { "Kept-At": String(1000 + number) } })); }""")
    page.reload()
    until(lambda: len(kept(page)["drover-field:ada"]) == 50)
    names = kept(page)["drover-field:ada"]
    assert "/field/combine" in names and "/field/old-59" in names and "/field/old-0" not in names


def test_the_machines_of_the_list_can_be_taken_along(field, page):
    field.enter(page, "ada", "/field")
    page.get_by_role("button", name="Keep for offline").click()
    expect(page.locator(".toast")).to_contain_text(re.compile(r"\d+ machines? (is|are) kept on this device"))
    assert "/field/combine" in kept(page)["drover-field:ada"]
