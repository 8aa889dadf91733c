"""Lists: small pictures of what things did, the columns that somebody chose, and files that follow the choice."""
import csv
import io
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from harness import lent, looked_at, until
from people import follow, logged_in
from playwright.sync_api import expect
from test_pages import FIELD, Fleet

DAY = 86_400_000


class Lists(Fleet):
    """With a machine that has run three hours a day."""

    def __init__(self, world, folder):
        super().__init__(world, folder)
        for ago in range(5, -1, -1):
            ts = self.now - ago * DAY
            world.push("drover.machines", {
                "schema": 1, "kind": "reading", "id": f"tractor-7-{ts}", "vehicle": "tractor-7", "ts": ts, "model": "8R Tractor", "gps_available": True, "reporting": True,
                "coolant_c": 60, "engine_hours_h": 115 - 3 * ago, "latitude_deg": FIELD[0], "longitude_deg": FIELD[1]})
        world.finish(self.env)
        until(lambda: self.query("SELECT count(*) FROM drover.machine_reading WHERE vehicle = 'tractor-7'") == [(6,)], self.worker)


@pytest.fixture(scope="module")
def fleet(world, tmp_path_factory):
    yield from lent(Lists(world, tmp_path_factory.mktemp("lists")))


def listed(page, vehicle):
    return page.get_by_role("region", name="Vehicles", exact=True).locator("tbody tr", has=page.locator(f"a[href^='/vehicles/{vehicle}?']"))


def heads(page, region):
    return [text for text in page.get_by_role("region", name=region, exact=True).locator("thead th").all_inner_texts()]


def rows(body):
    return list(csv.DictReader(io.StringIO(body)))


def test_what_vehicles_did_stands_beside_their_names(fleet, page, screenshots):
    fleet.enter(page, "/vehicles")
    [(km,)] = fleet.query("SELECT sum(distance_mm) / 1e6 FROM drover.vehicle_day WHERE vehicle = 'van-2'")
    assert km > 1
    for vehicle, said in (("van-2", f"{km:.1f} km"), ("tractor-7", "15 h")):
        cell = listed(page, vehicle).locator("td.days")
        expect(cell).to_have_text(re.compile(rf"^\s*{re.escape(said.replace('.0 ', ' '))}\s*$"))
        expect(cell.locator("svg.spark rect")).to_have_count(14)
    # A meter that stood still has no picture.
    expect(listed(page, "combine-9").locator("td.days")).to_have_text("–")
    looked_at(page, screenshots, "vehicle-list", dark=True)
    with fleet.managers(units="us"):
        page.goto(fleet.address + "/vehicles")
        expect(listed(page, "van-2").locator("td.days")).to_contain_text(" mi")
    # Only who sees the vehicle sees what it did.
    assert "van-2" not in logged_in(fleet.site.port, "ada").get("/vehicles").body


def test_an_alerts_value_is_drawn_around_its_opening_with_its_limit(fleet, page):
    fleet.enter(page, "/alerts")
    hot = page.locator(".al", has_text="Coolant too hot")
    expect(hot.locator("svg.spark line")).to_have_count(1)
    # The part beyond the limit is red.
    assert hot.locator("svg.spark polyline").evaluate_all("all => all.map((each) => each.getAttribute('stroke'))")[-1] == "var(--critical)"
    page.goto(fleet.address + "/alerts?tab=services")
    expect(page.locator(".al").first).to_be_visible()
    expect(page.locator(".al svg.spark")).to_have_count(0)


def test_columns_are_chosen_and_remembered_and_the_file_follows(fleet, page):
    fleet.enter(page, "/vehicles")
    own = heads(page, "Vehicles")
    assert [name for name in ("State", "Model", "Tags", "14 days", "Last heard") if name not in own] == [] and "Id" not in own
    page.locator(".columns summary").click()
    menu = page.locator(".columns .pop")
    menu.get_by_label("Model", exact=True).uncheck()
    menu.get_by_label("Id", exact=True).check()
    follow(page, menu.get_by_role("button", name="Apply"))
    assert parse_qs(urlsplit(page.url).query)["columns"] == ["state,tags,days,heard,id"]
    assert "Id" in heads(page, "Vehicles") and "Model" not in heads(page, "Vehicles")
    # What is sorted, searched and taken along keeps the choice.
    follow(page, page.get_by_role("columnheader", name="Last heard").get_by_role("link"))
    assert parse_qs(urlsplit(page.url).query)["columns"] == ["state,tags,days,heard,id"]
    taken = rows(logged_in(fleet.site.port, "manager").get(page.get_by_role("link", name="CSV").get_attribute("href")).body)
    assert list(taken[0]) == ["kind", "vehicle", "name", "open_alerts", "worst_severity", "worst_alert", "not_monitored", "tags", "km_14_days", "engine_hours_14_days", "last_heard"]
    assert {row["vehicle"]: row["engine_hours_14_days"] for row in taken}["tractor-7"] == "15" and len(taken) == 4
    # This browser shows it again, until somebody takes it back.
    page.goto(fleet.address + "/vehicles")
    page.wait_for_url("**columns=state,tags,days,heard,id*")
    page.locator(".columns summary").click()
    follow(page, menu.get_by_role("link", name="Default"))
    assert heads(page, "Vehicles") == own
    page.goto(fleet.address + "/vehicles")
    expect(page.get_by_role("region", name="Vehicles", exact=True)).to_be_visible()
    assert "columns" not in page.url
    # Words that are no columns change nothing.
    assert "14 days" in logged_in(fleet.site.port, "manager").get("/vehicles?columns=%3Cscript%3E").body


def test_columns_work_without_script_and_none_is_a_choice(fleet, page, browser):
    fleet.enter(page, "/vehicles")
    plain = browser.new_context(java_script_enabled=False)
    plain.add_cookies(page.context.cookies())
    still = plain.new_page()
    still.goto(fleet.address + "/vehicles?search=van")
    still.locator(".columns summary").click()
    for box in still.locator(".columns .pop input").all():
        box.uncheck()
    follow(still, still.locator(".columns").get_by_role("button", name="Apply"))
    assert parse_qs(urlsplit(still.url).query) == {"search": ["van"], "columns": ["none"]}
    assert heads(still, "Vehicles") == ["Vehicle", "Connect and map"]
    still.locator(".columns summary").click()
    still.locator(".columns .pop").get_by_label("Tags", exact=True).check()
    still.locator(".columns .pop").get_by_label("State", exact=True).check()
    follow(still, still.locator(".columns").get_by_role("button", name="Apply"))
    assert parse_qs(urlsplit(still.url).query) == {"search": ["van"], "columns": ["state,tags"]}
    plain.close()


def test_columns_of_trips_and_readings(fleet, page):
    manager = logged_in(fleet.site.port, "manager")
    [(day,)] = fleet.query("SELECT to_char(start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') FROM drover.trip WHERE vehicle = 'van-2'")
    fleet.enter(page, f"/trips?date={day}")
    page.locator(".columns summary").click()
    for name in ("Track", "Fuel", "Cost", "Arrived"):
        page.locator(".columns .pop").get_by_label(name, exact=True).uncheck()
    page.locator(".columns .pop").get_by_label("Idle", exact=True).check()
    follow(page, page.locator(".columns").get_by_role("button", name="Apply"))
    shown = heads(page, "Trips")
    assert shown[0] == "Vehicle" and "Idle" in shown and not {"Track", "Fuel", "Cost", "Arrived"} & set(shown) and f"date={day}" in page.url
    taken = rows(manager.get(page.url.removeprefix(fleet.address) + "&format=csv").body)
    assert list(taken[0]) == ["vehicle", "start", "distance_km", "duration_s", "max_speed_kmh", "sharp_accelerations", "sharp_brakings", "idle_s"]
    whole = rows(manager.get(f"/trips?date={day}&format=csv").body)
    assert set(taken[0]) < set(whole[0]) and [row["distance_km"] for row in taken] == [row["distance_km"] for row in whole]

    page.goto(fleet.address + "/vehicles/tractor-7/readings")
    region = "Newest first"
    assert {"Read", "Model", "Engine Hours"} <= set(heads(page, region))
    page.goto(fleet.address + "/vehicles/tractor-7/readings?columns=engine-hours,coolant-temperature")
    assert heads(page, region) == ["Read", "Engine Hours", "Coolant Temperature"]
    taken = rows(manager.get(page.get_by_role("link", name="CSV").get_attribute("href")).body)
    assert list(taken[0]) == ["read_at", "Engine Hours, h", "Coolant Temperature, °C"]
    assert [(row["Engine Hours, h"], row["Coolant Temperature, °C"]) for row in taken] == [(str(115 - 3 * ago), "60") for ago in range(6)]


@pytest.mark.parametrize("path, region", [("/vehicles/tractor-7/readings", "Newest first"), ("/vehicles", "Vehicles")])
def test_the_first_column_stays_when_a_table_is_scrolled(fleet, page, path, region):
    page.set_viewport_size({"width": 800, "height": 900})
    fleet.enter(page, path)
    box = page.get_by_role("region", name=region, exact=True)
    expect(box.locator("tbody td").first).to_be_visible()
    before, after, width = box.evaluate("""each => { const left = () => each.querySelector("tbody td").getBoundingClientRect().left, before = left();
        each.scrollLeft = 200; return [before, left(), each.scrollLeft]; }""")
    assert before == after and (path == "/vehicles" or width > 0)
