"""The rangers' panel: a tour from nothing to phones in a browser, by mouse and by keyboard, and what others may try there."""
import base64
import hashlib
import io
import json
import random
import struct
import urllib.request
import zipfile

import psycopg
import pytest
from harness import HANG_S, is_long, looked_at
from people import Visitor, add_account, lend_cookie, logged_in
from playwright.sync_api import expect
from test_assets import tiles
from test_tours import cut_download
from world import Asked, as_served

GPX = """<?xml version="1.0"?><gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><name>Anna's walk</name><trkseg>
<trkpt lat="47.91" lon="8.01"><time>2026-05-01T10:00:00Z</time></trkpt><trkpt lat="47.93" lon="8.03"/><trkpt lat="47.95" lon="8.12"/></trkseg></trk></gpx>"""
PLACE = b"47 deg 54' 36\" N"


def drawn(page):
    """The map shows the trail, the way from waypoint to waypoint and the frame."""
    expect(page.locator("#map")).to_have_attribute("data-drawn", "yes")
    assert set(page.locator("#map").get_attribute("data-shapes").split()) == {"trail", "way", "frame"}


class Panel(Asked):
    """`drover serve` with the logins that production gives it, and people of three roles."""

    def __init__(self, world, *settings):
        self.world, self.env = world, world.database()
        self.server = world.drover.start("serve", "--port", "0", *settings, env=as_served(self.env))
        self.port = self.server.page_port
        self.address = f"http://127.0.0.1:{self.port}"
        self.people = {account: self.person(account, role) for account, role in [("rosa", "ranger"), ("rudi", "ranger"), ("miller", "farmer")]}

    def person(self, account, role):
        add_account(self.env, account, role)
        return logged_in(self.port, account)

    def call(self, account, method, path, body=None, **headers):
        visitor = self.people[account]
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        headers = {"X_Drover_Form": visitor.mark(), "Content_Type": "application/json", **headers}
        answer = visitor.ask(method, path, data, **headers)
        answer.json = json.loads(answer.body) if "json" in (answer.headers["Content-Type"] or "") else None
        return answer

    def make(self, area, account="rosa"):
        visitor = self.people[account]
        answer = visitor.post("/tours", form=visitor.mark(), area=area)
        assert answer.status == 303, answer.body
        return answer.headers["Location"].rpartition("/")[2]

    def save(self, tour, revision, account="rosa", **changes):
        return self.call(account, "PUT", f"/tours/{tour}/draft", {**small(), **changes}, If_Match=str(revision))


def small():
    return {"area": "Small", "text": "", "corners": {"south_west": [47, 8], "north_east": [48, 9]}, "track": [],
            "waypoints": [{"id": "w1", "latitude": 47.5, "longitude": 8.5, "title": "Here", "text": "", "media": []}]}


@pytest.fixture(scope="module")
def panel(world):
    panel = Panel(world)
    yield panel
    panel.server.stop()


def picture_with_place(page):
    """A JPEG by the browser, with Exif as a camera writes it."""
    made = page.evaluate("""() => { const c = document.createElement('canvas'); c.width = 320; c.height = 200; const g = c.getContext('2d');
        g.fillStyle = '#2a6'; g.fillRect(0, 0, 320, 200); g.fillStyle = '#fff'; g.fillText('oak', 100, 100); return c.toDataURL('image/jpeg').split(',')[1]; }""")
    jpeg = base64.b64decode(made)
    exif = b"Exif\0\0II*\0\x08\0\0\0\0\0" + PLACE
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[2:]


def noise(page):
    """A large PNG that nothing makes smaller."""
    made = page.evaluate("""() => { const c = document.createElement('canvas'); c.width = c.height = 900; const g = c.getContext('2d');
        const d = g.createImageData(900, 900); for (let i = 0; i < d.data.length; i += 65536) crypto.getRandomValues(d.data.subarray(i, i + 65536));
        for (let i = 3; i < d.data.length; i += 4) d.data[i] = 255;
        g.putImageData(d, 0, 0); return c.toDataURL('image/png').split(',')[1]; }""")
    return base64.b64decode(made)


def film(page):
    """A WebM that the browser recorded: parts without a length, as live recordings have them."""
    made = page.evaluate("""() => new Promise((done) => { const c = document.createElement('canvas'); c.width = 160; c.height = 120; const g = c.getContext('2d');
        const recorder = new MediaRecorder(c.captureStream(25), { mimeType: 'video/webm;codecs=vp8' }); const parts = []; let n = 0;
        recorder.ondataavailable = (e) => parts.push(e.data);
        recorder.onstop = async () => { const bytes = new Uint8Array(await new Blob(parts).arrayBuffer()); let t = ''; for (const b of bytes) t += String.fromCharCode(b); done(btoa(t)); };
        recorder.start(200);
        const step = () => { g.fillStyle = `hsl(${n * 12},80%,50%)`; g.fillRect(0, 0, 160, 120); if (++n < 30) requestAnimationFrame(step); else recorder.stop(); }; step(); })""")
    return base64.b64decode(made)


def open_as(panel, page, account="rosa"):
    lend_cookie(panel.people[account], page, panel.address)


def said(page, text):
    expect(page.locator("#said")).to_contain_text(text)


def item(page, number):
    return page.locator("#waypoints > li").nth(number - 1)


def test_from_nothing_to_a_package_that_is_cut_again_and_again(panel, page, watch, screenshots):
    open_as(panel, page)
    page.goto(panel.address + "/tours")
    page.get_by_label("Name of the area").fill("Höllental <1>")
    page.get_by_role("button", name="Create tour").click()
    page.locator("#editor[data-ready=yes]").wait_for()
    tour = page.url.rpartition("/")[2]
    for label, value in [("South", "47.9"), ("North", "48"), ("West", "8"), ("East", "8.2")]:
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_role("button", name="Show the whole tour").click()
    # Two by clicks on the map, one typed.
    page.get_by_label("add a waypoint").check()
    box = page.locator("#map").bounding_box()
    page.locator("#map").click(position={"x": box["width"] * 0.5, "y": box["height"] * 0.3})
    item(page, 1).get_by_label("Title").fill("View")
    page.locator("#map").click(position={"x": box["width"] * 0.45, "y": box["height"] * 0.7})
    item(page, 2).get_by_label("Title").fill("Car park")
    page.get_by_label("look around").check()
    page.get_by_role("button", name="Add a waypoint at the map’s centre").click()
    item(page, 3).get_by_label("Title").fill("Old oak")
    item(page, 3).get_by_label("Latitude").fill("47.92")
    item(page, 3).get_by_label("Longitude").fill("8.05")
    item(page, 3).get_by_label("Text").fill("It is old.\nVery <b>.")
    # The second one is dragged on the map.
    before = item(page, 2).get_by_label("Latitude").input_value()
    page.evaluate("window.scrollTo(0, 0)")
    marker = page.locator(".tour-marker", has_text="2").bounding_box()
    page.mouse.move(marker["x"] + 16, marker["y"] + 16)
    page.mouse.down()
    page.mouse.move(marker["x"] + 60, marker["y"] + 40, steps=8)
    page.mouse.up()
    expect(item(page, 2).get_by_label("Latitude")).not_to_have_value(before)
    page.get_by_label("Trail from a GPX file").set_input_files({"name": "walk.gpx", "mimeType": "application/gpx+xml", "buffer": GPX.encode()})
    said(page, "walk.gpx has 3 points")
    # Pictures and a film, checked by content whatever they are called.
    jpeg, webm, png = picture_with_place(page), film(page), noise(page)
    assert PLACE in jpeg and len(png) > 2_000_000
    for number, name, bytes, kind in [(3, "oak.txt", jpeg, "image/jpeg"), (1, "film.exe", webm, "video/webm"), (1, "big.png", png, "image/png")]:
        item(page, number).locator("input[type=file]").set_input_files({"name": name, "mimeType": "application/octet-stream", "buffer": bytes})
        said(page, f"{name} is added: {kind}")
    item(page, 2).locator("input[type=file]").set_input_files({"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": b"<script>alert(1)</script>"})
    said(page, "is no JPEG, PNG, WebP, MP4 or WebM")
    assert len(watch.console) == 1 and "422" in watch.console.pop()
    # The order by the optimizer, and one step by the keyboard.
    item(page, 1).get_by_role("button", name="Later: waypoint 1").focus()
    page.keyboard.press("Enter")
    said(page, "Waypoint 1 is number 2 now.")
    assert page.evaluate("document.activeElement.textContent") == "Later"
    expect(item(page, 1).get_by_label("Title")).to_have_value("Car park")
    page.get_by_role("button", name="Find the shortest order").click()
    expect(page.locator("#proposal")).to_contain_text("Shortest order: 1, 3, 2.")
    page.get_by_role("button", name="Use this order").click()
    for number, title in enumerate(["Car park", "Old oak", "View"], 1):
        expect(item(page, number).get_by_label("Title")).to_have_value(title)
    page.get_by_role("button", name="Save", exact=True).click()
    said(page, "Saved.")
    expect(page.locator("#missing li")).to_have_count(0)
    drawn(page)
    looked_at(page, screenshots, "editor", dark=True)
    page.get_by_role("button", name="Publish version 1").click()
    page.locator("#published a").wait_for()
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download the package").click()
    whole = open(downloading.value.path(), "rb").read()
    watch.failed.clear()  # A download is an aborted page to the browser.
    assert downloading.value.suggested_filename == f"{tour}-1.zip"

    archive = zipfile.ZipFile(io.BytesIO(whole))
    assert archive.testzip() is None
    made = json.loads(archive.read("tour.json"))
    assert (made["area"], made["version"]) == ("Höllental <1>", 1)
    assert [each["title"] for each in made["waypoints"]] == ["Car park", "Old oak", "View"] and made["waypoints"][1]["text"] == "It is old.\nVery <b>."
    media = {each["type"]: each for waypoint in made["waypoints"] for each in waypoint["media"]}
    assert set(media) == {"image/jpeg", "video/webm", "image/png"}
    for each in media.values():
        assert hashlib.sha256(archive.read(each["file"])).hexdigest() == each["sha256"]
    assert archive.read(media["image/png"]["file"]) == png and PLACE not in whole
    assert [feature["properties"]["kind"] for feature in json.loads(archive.read("map.geojson"))["features"]] == ["land", "frame", "trail"]

    # As a phone on a bad line: cut, and resumed as often.
    path = f"/v1/tours/{tour}/versions/1/package"
    tag, had, chance = f'"{hashlib.sha256(whole).hexdigest()}"', b"", random.Random(1)
    for cut in range(20 if is_long() else 5):
        had += cut_download(panel.port, path, had, tag, chance.randrange(1, 60_000), is_reset=cut % 2 == 0)
        assert len(had) < len(whole)
    had += cut_download(panel.port, path, had, tag, len(whole) - len(had), is_reset=False)
    assert had == whole

    for name, path in [("tours", "/tours"), ("visits", f"/tours/{tour}/visits")]:
        page.goto(panel.address + path)
        looked_at(page, screenshots, name)
    page.goto(panel.address + f"/tours/{tour}/preview")
    expect(page.locator("#waypoints h2")).to_have_text(["Car park", "Old oak", "View"])
    drawn(page)
    page.wait_for_function("[...document.images].filter(i => i.src.includes('/media/')).every(i => i.scrollIntoView() || i.complete && i.naturalWidth > 0)")
    page.wait_for_function("[...document.querySelectorAll('video')].every(v => v.readyState >= 1)")
    looked_at(page, screenshots, "preview")

    # What changes is sent alone.
    page.goto(panel.address + f"/tours/{tour}")
    page.locator("#editor[data-ready=yes]").wait_for()
    item(page, 1).get_by_label("Text").fill("Full on Sundays.")
    page.get_by_role("button", name="Publish version 2").click()
    expect(page.locator("#published")).to_contain_text("Version 2 is published")
    newest = json.loads(panel.people["rosa"].get(f"/v1/tours/{tour}").body)["versions"][0]
    assert newest["delta"]["from_version"] == 1 and newest["delta"]["bytes"] < 20_000 < newest["package"]["bytes"]
    delta = zipfile.ZipFile(io.BytesIO(download(panel, newest["delta"]["path"])))
    listed, out = json.loads(delta.read("delta.json")), io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as again:
        for file in listed["files"]:
            entry = zipfile.ZipInfo(file["name"])
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            again.writestr(entry, (delta if file["is_here"] else archive).read(file["name"]))
    assert hashlib.sha256(out.getvalue()).hexdigest() == newest["package"]["sha256"] == listed["to_sha256"]
    assert out.getvalue() == download(panel, newest["package"]["path"])


def download(panel, path):
    with urllib.request.urlopen(panel.address + path, timeout=HANG_S) as answer:
        return answer.read()


def test_two_rangers_do_not_write_over_each_other(panel):
    tour = panel.make("Shared")
    first = panel.call("rosa", "GET", f"/tours/{tour}/draft").json
    assert panel.save(tour, first["revision"], area="Rosa's").status == 200
    stale = panel.save(tour, first["revision"], account="rudi", area="Rudi's")
    assert (stale.status, stale.json["type"]) == (409, "urn:drover:problem:changed")
    assert panel.save(tour, first["revision"] + 1, account="rudi", area="Rudi's").status == 200
    assert panel.call("rudi", "PUT", f"/tours/{tour}/draft", small()).status == 428
    # Sent twice it is published once; what was changed meanwhile is not published.
    now = panel.call("rudi", "GET", f"/tours/{tour}/draft").json
    wanted = {"revision": now["revision"], "version": 1}
    assert panel.call("rudi", "POST", f"/tours/{tour}/publish", wanted).status == 200
    assert panel.call("rudi", "POST", f"/tours/{tour}/publish", wanted).status == 409
    assert panel.call("rudi", "POST", f"/tours/{tour}/publish", {"revision": now["revision"] - 1, "version": 2}).status == 409
    unfinished = panel.make("Unfinished")
    answer = panel.call("rosa", "POST", f"/tours/{unfinished}/publish", {"revision": 1, "version": 1})
    assert answer.status == 422 and "needs a waypoint" in answer.json["detail"]
    assert unfinished not in download(panel, "/v1/tours").decode()


def test_what_is_no_tour_is_refused(panel):
    tour = panel.make("Refused")
    for change, fault in [({"area": ""}, "area"), ({"waypoints": [7]}, "waypoints[0]"), ({"corners": {"south_west": [48, 8], "north_east": [47, 9]}}, "corners"),
                          ({"waypoints": [{**small()["waypoints"][0], "media": ["f" * 64]}]}, "add it again"), ({"track": [[1, 2, 3]]}, "track[0]")]:
        answer = panel.save(tour, 1, **change)
        assert answer.status == 422 and fault in answer.json["detail"], answer.body
    for path, body, status in [("/tour-track?tour=x", b"<kml/>", 422), (f"/tour-media?tour={tour}", b"GIF89a", 422), ("/tour-media?tour=nobody", b"GIF89a", 422),
                               (f"/tours/{tour}/order", b"{}", 422), (f"/tours/{tour}/publish", b"[]", 422), ("/tours/nobody/draft", None, 404),
                               (f"/tours/{tour}/media/{'f' * 64}", None, 404), (f"/tours/{tour}/media/..", None, 400)]:
        answer = panel.call("rosa", "GET" if body is None else "POST", path, body)
        assert answer.status == status, (path, answer.body)
    too_large = b"\x89PNG\r\n\x1a\n" + bytes(6 << 20)
    assert panel.call("rosa", "POST", f"/tour-media?tour={tour}", too_large).status == 422
    for area in ("", "   ", "x" * 201, "a\nb"):
        answer = panel.people["rosa"].post("/tours", form=panel.people["rosa"].mark(), area=area)
        assert answer.status == 422 and 'role="alert"' in answer.body


def test_nobody_else_gets_in(panel):
    tour = panel.make("Private")
    stranger = Visitor(panel.port)
    for path in ("/tours", f"/tours/{tour}", f"/tours/{tour}/preview", f"/tours/{tour}/visits"):
        assert stranger.get(path).headers["Location"].startswith("/login?next="), path
        assert panel.people["miller"].get(path).status == 403
        page = panel.people["rosa"].get(path)
        policy = page.headers["Content-Security-Policy"]
        assert page.status == 200 and "default-src 'none'" in policy and "unsafe" not in policy and "<script>" not in page.body
    for method, path, body in [("GET", f"/tours/{tour}/draft", None), ("PUT", f"/tours/{tour}/draft", small()), ("POST", f"/tours/{tour}/publish", {"revision": 1, "version": 1}),
                               ("POST", f"/tour-media?tour={tour}", b"x"), ("POST", "/tour-track", GPX.encode()), ("POST", f"/tours/{tour}/order", {"places": [[1, 1], [2, 2]]})]:
        assert panel.call("miller", method, path, body, If_Match="1").status == 403, path
        if method != "GET":
            for headers in ({"X_Drover_Form": None}, {"X_Drover_Form": panel.people["rudi"].mark()}, {"Sec_Fetch_Site": "cross-site"}):
                assert panel.call("rosa", method, path, body, If_Match="1", **headers).status == 403, (path, headers)
    with psycopg.connect(panel.login("drover_pages"), autocommit=True) as pages:
        for account, seen in [("rosa", True), ("miller", False), ("", False)]:
            with pages.transaction():
                pages.execute("SET LOCAL ROLE drover_page")
                pages.execute("SELECT set_config('drover.account', %s, true)", [account])
                assert (pages.execute("SELECT count(*) FROM drover.tour").fetchone()[0] > 0) == seen
                if not seen:
                    with pytest.raises(psycopg.errors.InsufficientPrivilege), pages.transaction():
                        pages.execute("INSERT INTO drover.tour (tour, account, area, draft, changed_by) VALUES ('x', 'x', 'x', '{}', 'x')")


def test_media_are_served_as_what_they_are_to_rangers_alone(panel):
    tour, other = panel.make("Media"), panel.make("Other")
    png = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
    kept = panel.call("rosa", "POST", f"/tour-media?tour={tour}", png, Content_Type="text/html").json
    assert kept["type"] == "image/png" and kept["medium"] == hashlib.sha256(png).hexdigest()
    path = f"/tours/{tour}/media/{kept['medium']}"
    request = urllib.request.Request(panel.address + path, headers={"Cookie": panel.people["rosa"].cookie})
    with urllib.request.urlopen(request, timeout=HANG_S) as answer:
        assert answer.read() == png
        headers = answer.headers
    assert headers["Content-Type"] == "image/png" and headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "default-src 'none'; media-src 'self'; sandbox" and headers["Cache-Control"] == "no-store"
    assert Visitor(panel.port).get(path).status == 401 and panel.people["miller"].get(path).status == 403
    assert panel.call("rosa", "GET", path.replace(tour, other)).status == 404


def test_the_operators_map_goes_along(world, tmp_path, page):
    panel = Panel(world, "--set", f"map.tiles_file={tiles(tmp_path / 'map.mbtiles', attribution='The makers')}")
    tour = panel.make("Mapped")
    draft = panel.call("rosa", "GET", f"/tours/{tour}/draft").json
    assert draft["tour"]["map_zoom"] == 14
    open_as(panel, page)
    page.goto(f"{panel.address}/tours/{tour}")
    page.locator("#editor[data-ready=yes]").wait_for()
    page.get_by_label("Finest map zoom").fill("1")
    for label, value in [("South", "47"), ("North", "48"), ("West", "8"), ("East", "9")]:
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_role("button", name="Show the whole tour").click()
    page.get_by_role("button", name="Add a waypoint at the map’s centre").click()
    item(page, 1).get_by_label("Title").fill("Here")
    page.get_by_role("button", name="Publish version 1").click()
    expect(page.locator("#published")).to_contain_text("Version 1 is published")
    archive = zipfile.ZipFile(io.BytesIO(download(panel, f"/v1/tours/{tour}/versions/1/package")))
    # Rows of the file count from the south, those of the package from the north.
    assert [name for name in archive.namelist() if name.startswith("tiles/")] == ["tiles/0/0/0.png", "tiles/1/1/0.png"]
    assert archive.read("tiles/1/1/0.png").endswith(b"1/1/1")
    made = json.loads(archive.read("tour.json"))["map"]["tiles"]
    assert (made["attribution"], made["zoom_min"], made["zoom_max"], made["count"]) == ("The makers", 0, 1, 2)
    panel.server.stop()
