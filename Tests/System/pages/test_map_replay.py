"""The map as it was: what the route says of a span, to whom, and how a browser plays it by pointer and keys."""
import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from harness import lent, looked_at, until
from people import Visitor, logged_in
from playwright.sync_api import expect
from test_pages import FIELD, KARLSRUHE, Fleet, drawn, row
from world import connect, query

HOUR = 3_600_000


@pytest.fixture(scope="module")
def fleet(world, tmp_path_factory):
    yield from lent(Fleet(world, tmp_path_factory.mktemp("replay")))


def asked(fleet, span, who="manager", **more):
    items = "&".join(f"{key}={value}" for key, value in {"from": span[0], "until": span[1], **more}.items())
    answer = logged_in(fleet.site.port, who).get("/map/replay?" + items)
    return answer.status, json.loads(answer.body)


def track(body, id):
    [found] = [each for each in body["vehicles"] if each["id"] == id]
    return found


def test_where_vehicles_were_is_told_in_pieces_of_their_own_length(fleet):
    span = (fleet.now - 300_000, fleet.now)
    status, body = asked(fleet, span)
    assert status == 200 and not body["is_cut"] and [each["id"] for each in body["vehicles"]] == ["machine/combine-9", "car/van-1"]
    piece = body["piece_s"]
    assert piece == 2 and body["from"] % piece == 0 and 0 <= span[0] // 1000 - body["from"] < piece and body["until"] == span[1] // 1000
    van = track(body, "car/van-1")
    assert van["name"] == "Van <1>" and 40 < len(van["at"]) <= 240
    pieces = [at // piece for at in van["at"]]
    assert pieces == sorted(set(pieces)), "one place a piece, by time"
    # It drives north-east, a step each second: what is told is where it was.
    start = (fleet.now - 170_000) / 1000
    for at, north, east, speed in zip(van["at"], van["latitude_deg"], van["longitude_deg"], van["speed"]):
        second = body["from"] + at - start
        assert (north, east, speed) == (pytest.approx(KARLSRUHE[0] + second * 0.0002, abs=2e-5), pytest.approx(KARLSRUHE[1] + second * 0.0001, abs=2e-5), 20 + second % 60)
    combine = track(body, "machine/combine-9")
    assert (combine["latitude_deg"], combine["longitude_deg"], combine["speed"]) == ([FIELD[0]], [FIELD[1]], [None])


def test_a_day_has_at_most_240_places_of_each_and_the_same_again_a_moment_later(fleet):
    day = (fleet.now - 25 * HOUR - 600_000, fleet.now - HOUR - 600_000)
    told = []
    for moved in (0, 5_000):
        status, body = asked(fleet, (day[0] + moved, day[1] + moved))
        assert status == 200 and body["piece_s"] > 60
        van = track(body, "car/van-2")
        assert 0 < len(van["at"]) <= 240 and max(van["at"]) // body["piece_s"] < 240
        told.append({body["from"] + at: place for at, place in zip(van["at"], zip(van["latitude_deg"], van["longitude_deg"]))})
    assert told[0] == told[1], "pieces stay where they are when the span moves on"
    [only] = asked(fleet, (fleet.now - HOUR, fleet.now), vehicles="car/van-1")[1]["vehicles"]
    assert only["id"] == "car/van-1"
    with fleet.managers(units="us"):
        assert asked(fleet, (fleet.now - HOUR, fleet.now), vehicles="car/van-1")[1]["speed_unit"] == "mph"


@pytest.mark.parametrize("span", [("x", 2), (2, 1), (5, 5), (1_767_571_200_000, 1_767_571_200_000 + 26 * HOUR), (-1, 10 ** 30)])
def test_spans_that_are_none_are_said(fleet, span):
    status, problem = asked(fleet, span)
    assert status == 400 and "at most a day" in problem["detail"]


def test_words_that_are_no_vehicles_show_nothing(fleet):
    for words in ("nonsense", "car/", "boat/van-1", "car/van-1'--"):
        status, problem = asked(fleet, (fleet.now - HOUR, fleet.now), vehicles=words)
        assert status == 400 and "vehicles must be like" in problem["detail"], words
    assert asked(fleet, (fleet.now - HOUR, fleet.now), vehicles="car/nobodys")[1]["vehicles"] == []


def test_nobody_is_told_of_others(fleet):
    span = (fleet.now - HOUR, fleet.now)
    assert Visitor(fleet.site.port).get(f"/map/replay?from={span[0]}&until={span[1]}").status == 401
    assert asked(fleet, span, who="sam")[0] == 403
    assert asked(fleet, span, who="ada")[1]["vehicles"] == asked(fleet, span, who="ada", vehicles="car/van-1,machine/combine-9")[1]["vehicles"] == []
    with connect(fleet.env) as connection:
        connection.execute("INSERT INTO drover.fleet (fleet, name) VALUES ('farm', 'Farm')")
        connection.execute("INSERT INTO drover.fleet_vehicle VALUES ('farm', 'machine', 'combine-9')")
        connection.execute("INSERT INTO drover.fleet_member VALUES ('farm', 'ada')")
    try:
        assert [each["id"] for each in asked(fleet, span, who="ada", vehicles="car/van-1,machine/combine-9")[1]["vehicles"]] == ["machine/combine-9"]
    finally:
        query(fleet.env, "DELETE FROM drover.fleet WHERE fleet = 'farm' RETURNING 1")
    # Who sees everything leaves a word of it, one an hour.
    asked(fleet, span)
    until(lambda: fleet.query("SELECT 1 FROM drover.audit_entry WHERE action = 'data_seen' AND detail::jsonb ->> 'page' = '/map/replay' LIMIT 1"))


# In a browser.

def played(fleet, page, more=""):
    span = (fleet.now - 240_000, fleet.now)
    fleet.enter(page, f"/map?from={span[0]}&until={span[1]}{more}")
    expect(page.locator("#replay-bar")).to_be_visible()
    drawn(page)
    return page.get_by_role("slider", name="Moment of the replay")


def now_s(page):
    return int(page.locator("#replay").get_attribute("data-now"))


def test_a_replay_is_played_by_buttons_and_keys_and_shared_by_its_address(fleet, page, screenshots):
    slider = played(fleet, page)
    expect(page.locator("#replay-told")).to_be_hidden()
    expect(page.locator("#replay")).to_have_attribute("data-vehicles", "2")
    # It begins when the first of them told where it was: the map has that one.
    expect(page.locator("#map .mk.moving")).to_have_accessible_name("Van <1>, moving")
    # The list is of that moment, too.
    expect(page.locator("#vehicles .grp").first).to_have_text("Moving1")
    expect(page.locator("#states [data-state=moving] b")).to_have_text("1")
    expect(page.locator("#states [data-state=alert]")).to_be_hidden()
    first = now_s(page)
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    until(lambda: now_s(page) > first)
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"\d\d:\d\d:\d\d, 1 of 2 moving"))
    page.get_by_label("Speed", exact=True).select_option("60")
    slider.focus()
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    expect(page.locator("#play")).to_have_accessible_name("Pause")
    begin = now_s(page)
    until(lambda: now_s(page) - begin > 30)
    page.keyboard.press("Space")
    expect(page.locator("#play")).to_have_accessible_name("Play")
    at = now_s(page)
    asked_for = parse_qs(urlsplit(page.url).query)
    assert asked_for["at"] == [str(at * 1000)] and asked_for["pace"] == ["60"]
    looked_at(page, screenshots, "replay", dark=True)
    # The same address shows the same moment.
    page.goto(page.url)
    expect(page.locator("#replay-bar")).to_be_visible()
    until(lambda: now_s(page) == at)
    expect(page.get_by_label("Speed", exact=True)).to_have_value("60")
    # It plays to its end and stands still there.
    page.get_by_label("Speed", exact=True).select_option("1200")
    page.get_by_role("button", name="Play", exact=True).click()
    until(lambda: now_s(page) == fleet.now // 1000)
    expect(page.locator("#play")).to_have_accessible_name("Play")


def test_the_chosen_ones_way_is_drawn_and_now_is_one_click_away(fleet, page):
    slider = played(fleet, page)
    row(page, "Van <1>").click()
    expect(page.locator("#map")).to_have_attribute("data-shapes", re.compile(r"\bway\b"))
    expect(page.locator("#one")).to_contain_text("Van <1>")
    assert parse_qs(urlsplit(page.url).query)["v"] == ["car/van-1"]
    slider.focus()
    page.keyboard.press("End")
    until(lambda: now_s(page) == fleet.now // 1000)
    page.get_by_role("link", name="Back to now").click()
    page.wait_for_url("**/map")
    expect(page.locator("#replay")).to_have_count(0)


def test_what_is_played_is_chosen_without_script_and_said_where_it_cannot_be(fleet, page, browser):
    fleet.enter(page, "/map?search=van")
    plain = browser.new_context(java_script_enabled=False)
    plain.add_cookies(page.context.cookies())
    still = plain.new_page()
    still.goto(fleet.address + "/map?search=van")
    still.locator("summary[aria-label=Replay]").click()
    still.get_by_role("link", name="Last 6 hours").click()
    asked_for = parse_qs(urlsplit(still.url).query)
    assert int(asked_for["until"][0]) - int(asked_for["from"][0]) == 6 * HOUR and asked_for["search"] == ["van"]
    expect(still.locator("#replay-told")).to_contain_text("needs scripts and a browser that draws maps. The trips of that day are a list.")
    expect(still.locator("#replay-bar")).to_be_hidden()
    # What else is chosen stays with it.
    assert "from=" in still.locator("#states a").first.get_attribute("href")
    still.locator("summary[aria-label=Replay]").click()
    still.get_by_label("A day").fill("2026-01-05")
    still.get_by_role("button", name="Play", exact=True).click()
    asked_for = parse_qs(urlsplit(still.url).query)
    assert (int(asked_for["from"][0]), int(asked_for["until"][0]) - int(asked_for["from"][0])) == (1_767_571_200_000, 24 * HOUR)
    plain.close()
    manager = logged_in(fleet.site.port, "manager")
    assert [manager.get(path).status for path in ("/map?day=2999-01-01", "/map?day=x", "/map?from=1&until=2&day=", "/map?from=5&until=1", f"/map?from=1767571200000&until={1_767_571_200_000 + 26 * HOUR}")] == [400] * 5

    # No WebGL: the same words. Nobody drove then: that, too.
    blind = page.context.new_page()
    blind.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    blind.goto(fleet.address + f"/map?from={fleet.now - HOUR}&until={fleet.now}")
    expect(blind.locator("#map")).to_contain_text("This browser cannot draw the map")
    expect(blind.locator("#replay-told")).to_contain_text("needs scripts and a browser that draws maps")
    blind.close()
    page.goto(fleet.address + f"/map?from={1_767_571_200_000}&until={1_767_571_200_000 + HOUR}")
    expect(page.locator("#replay-told")).to_have_text("No vehicle told where it was in this time.")
    expect(page.locator("#replay-bar")).to_be_hidden()
