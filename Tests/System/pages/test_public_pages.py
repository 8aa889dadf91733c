"""Pages for everybody: trail tours with their map and download, and who made what is shown."""
import json
import re
import urllib.request

import migrations
import pytest
from harness import HANG_S, ROOT, looked_at
from people import Visitor, follow
from playwright.sync_api import expect
from test_tour_panel import Panel


@pytest.fixture(scope="module")
def panel(world):
    panel = Panel(world)
    yield panel
    panel.server.stop()


def publish(panel, area, **changes):
    tour = panel.make(area)
    saved = panel.save(tour, 1, area=area, **changes)
    assert saved.status == 200, saved.body
    assert panel.call("rosa", "POST", f"/tours/{tour}/publish", {"revision": saved.json["revision"], "version": 1}).status == 200
    return tour


def test_visitors_find_tours_by_area_with_and_without_script(panel, page, browser, screenshots):
    visitor = Visitor(panel.port)
    assert "No tours yet" in visitor.get("/trail-tours").body
    waypoints = [{"id": f"w{n}", "latitude": 47.5 + n / 100, "longitude": 8.5, "title": title, "text": "Look <up>\nand down", "media": []}
                 for n, title in enumerate(["Oak & ash", "Spring"])]
    track = [[47.45, 8.45], [47.52, 8.5], [47.6, 8.6]]
    hill = publish(panel, "Zeta <hill>", waypoints=waypoints, track=track, text="Bring water.")
    publish(panel, "älpli")
    publish(panel, "Birch wood")
    page.goto(panel.address + "/trail-tours")
    expect(page.locator("main h2")).to_have_text(["älpli", "Birch wood", "Zeta <hill>"])
    listed = {each["area"]: each for each in json.loads(visitor.get("/v1/tours").body)["tours"]}
    for area, each in listed.items():
        item = page.locator(".trails > li", has_text=area)
        expect(item).to_contain_text(f"{each['waypoints']} waypoint{'s' if each['waypoints'] > 1 else ''}, version {each['version']}")
        assert f"{each['bytes'] / 1e6:.1f} MB" in item.inner_text() or each["bytes"] < 150_000 and "0.1 MB" in item.inner_text()
        assert item.get_by_role("link", name="Download").get_attribute("href") == each["package"]
    looked_at(page, screenshots, "trails")
    page.get_by_role("link", name="Zeta <hill>", exact=True).click()
    page.wait_for_url(f"**/trail-tours/{hill}")
    page.wait_for_selector("#map .tour-marker")
    expect(page.locator(".tour-marker")).to_have_count(2)
    expect(page.locator("#map")).to_have_attribute("data-line", "47.45,8.45 47.52,8.5 47.6,8.6")
    expect(page.locator("#waypoints h2")).to_have_text(["Oak & ash", "Spring"])
    expect(page.locator("#waypoints")).to_contain_text("Look <up>")
    # The player goes from stop to stop.
    page.get_by_role("button", name="Next stop").click()
    expect(page.locator("#player-said")).to_have_text("Stop 2 of 2: Spring")
    expect(page.locator("#waypoints > [aria-current=step]")).to_contain_text("Spring")
    expect(page.get_by_role("button", name="Next stop")).to_be_disabled()
    looked_at(page, screenshots, "trail")
    with urllib.request.urlopen(panel.address + page.get_by_role("link", name="Download").get_attribute("href"), timeout=HANG_S) as package:
        assert len(package.read()) == listed["Zeta <hill>"]["bytes"]
    plain = browser.new_context(java_script_enabled=False)
    still = plain.new_page()
    still.goto(panel.address + f"/trail-tours/{hill}")
    expect(still.locator("svg.trail circle")).to_have_count(2)
    expect(still.locator("svg.trail path")).to_have_attribute("d", re.compile("^M135 83L"))
    plain.close()
    for path, status in [("/trail-tours/none", 404), ("/trail-tours?after=%2F", 404), ("/trail-tours?after=" + hill, 200)]:
        assert visitor.get(path).status == status, path


def test_what_is_not_published_is_not_shown(panel):
    draft = panel.make("Hidden valley")
    visitor = Visitor(panel.port)
    assert "Hidden valley" not in visitor.get("/trail-tours").body and visitor.get(f"/trail-tours/{draft}").status == 404


def test_about(panel, page, screenshots):
    page.goto(panel.address + "/login")
    follow(page, page.get_by_role("link", name="About"))
    text = page.locator("main").inner_text()
    newest = migrations.newest()
    assert f"database {newest}" in text and "MapLibre" in text and "Noto Sans" in text and "Natural Earth" in text and "A Rocha Kenya" in text
    # Nothing of the machine, its settings or its people.
    assert not re.search(r"postgres|kafka|/work|/tmp|127\.0\.0\.1|rosa", text, re.I)
    for path in re.findall(r"docs/[\w-]+\.md", text):
        assert (ROOT / path).exists(), path
    looked_at(page, screenshots, "about")
