"""Charts of a vehicle: what the route says, and what a browser makes of it by pointer, by keys and as files."""
import csv
import io
import json
import re

import pytest
from description import check
from harness import lent, until
from people import logged_in
from playwright.sync_api import expect
from test_pages import Fleet

MINUTE, HOUR = 60_000, 3_600_000


@pytest.fixture(scope="module")
def fleet(world, tmp_path_factory):
    yield from lent(Fleet(world, tmp_path_factory.mktemp("charts")))


def asked(fleet, vehicle, span, who="manager", **more):
    query = "&".join(f"{key}={value}" for key, value in {"from": span[0], "until": span[1], **more}.items())
    answer = logged_in(fleet.site.port, who).get(f"/v1/vehicles/{vehicle}/series?{query}")
    return answer.status, json.loads(answer.body), answer


def signal(series, key):
    [found] = [each for each in series["signals"] if each["key"] == key]
    return found


def test_the_values_of_a_machine_are_told_with_what_they_are_judged_by(fleet):
    span = (fleet.now - 11 * HOUR, fleet.now)
    status, series, answer = asked(fleet, "combine-9", span, kind="machine")
    assert status == 200 and answer.headers["Cache-Control"] == "no-store"
    check("GET", "/v1/vehicles/combine-9/series", 200, answer.headers["Content-Type"], answer.body.encode())
    # A piece for each of at most 600; they begin at multiples of their length, the first before what was asked for.
    assert (series["kind"], series["from"], series["until"]) == ("machine", span[0] // 1000 // 67 * 67, span[1] // 1000)
    assert series["piece_s"] == 67 and [each["key"] for each in series["signals"]] == ["coolant_c", "hydraulic_oil_c", "tire_pressure_kpa", "fuel_level_gal"]
    coolant = signal(series, "coolant_c")
    assert coolant["mean"] == [70, 82, 88, 97, 91] and coolant["least"] is None and coolant["unit"] == "°C"
    times = [series["from"] + at * series["piece_s"] for at in coolant["at"]]
    wanted = [(fleet.now - minutes * MINUTE) / 1000 for minutes in (600, 300, 30, 20, 1)]
    assert all(0 <= real - time < series["piece_s"] for time, real in zip(times, wanted))
    assert {(limit["kind"], limit["value"], limit["test"]) for limit in coolant["limits"]} >= {("warning", 85, "above"), ("critical", 95, "above")}
    [alert] = coolant["alerts"]
    assert alert["severity"] == "critical" and alert["since"] <= alert["opened"] <= span[1] / 1000
    assert series["places"]["latitude_deg"][0] == pytest.approx(fleet.query("SELECT latitude_deg FROM drover.machine_reading WHERE vehicle = 'combine-9' LIMIT 1")[0][0], abs=1e-5)


def test_a_piece_has_its_mean_and_its_range(fleet):
    _, series, _ = asked(fleet, "combine-9", (fleet.now - 400 * 24 * HOUR, fleet.now), signals="coolant_c")
    [coolant] = series["signals"]
    # All five readings lie within one piece of sixteen hours, or within two.
    assert series["piece_s"] == 57_697 and sum(len(each) for each in (coolant["mean"], coolant["least"], coolant["most"])) in (3, 6)
    assert (min(coolant["least"]), max(coolant["most"])) == (70, 97) and all(low <= mean <= high for low, mean, high in zip(coolant["least"], coolant["mean"], coolant["most"]))


def test_a_car_is_told_second_by_second_and_of_long_spans_by_its_minutes(fleet):
    near = (fleet.now - 300_000, fleet.now)
    _, fine, _ = asked(fleet, "van-1", near, kind="car")
    speed = signal(fine, "speed_kmh")
    # The open minute is not stored yet.
    assert fine["piece_s"] == 1 and 100 <= len(speed["mean"]) <= 171 and set(speed["mean"]) <= set(range(20, 80))
    assert len(fine["places"]["at"]) == len(speed["at"])
    _, coarse, _ = asked(fleet, "van-1", (fleet.now - 30 * 24 * HOUR, fleet.now), kind="car")
    speed = signal(coarse, "speed_kmh")
    assert max(speed["most"]) == 79 and all(mean <= most for mean, most in zip(speed["mean"], speed["most"])) and coarse["places"]["at"] == []
    assert [each["key"] for each in coarse["signals"]] == ["speed_kmh", "rpm", "coolant_c", "voltage_v"]
    assert signal(coarse, "coolant_c")["mean"] == [88] * len(signal(coarse, "coolant_c")["mean"])


def test_no_answer_has_more_than_600_pieces(fleet):
    for length in (599_000, 600_000, 601_000, 7 * HOUR, 25 * HOUR, 27 * HOUR, 399 * 24 * HOUR):
        _, series, _ = asked(fleet, "van-1", (fleet.now - length, fleet.now), kind="car")
        assert (series["until"] - series["from"]) / series["piece_s"] <= 600
        assert all(at < 600 for each in series["signals"] for at in each["at"]), length


def test_what_was_told_keeps_its_time_when_the_span_moves_on(fleet):
    """A chart that lives asks for the same length again: pieces are the same ones, but for the first and the last."""
    until_ms = fleet.now - 60_000
    for vehicle, kind, length in (("combine-9", "machine", 11 * HOUR), ("van-1", "car", 2 * HOUR), ("van-2", "car", 40 * HOUR)):
        told = []
        for moved in (0, 7_000, 31_000):
            _, series, _ = asked(fleet, vehicle, (until_ms + moved - length, until_ms + moved), kind=kind)
            piece_s, start = series["piece_s"], series["from"]
            assert start % piece_s == 0 and 0 <= (until_ms + moved - length) // 1000 - start < piece_s
            told.append((piece_s, {
                (each["key"], start + at * piece_s): mean for each in series["signals"] for at, mean in zip(each["at"], each["mean"])
                if start + piece_s * (at + 1) <= until_ms / 1000}))
        assert told[0][1] and len({piece_s for piece_s, _ in told}) == 1
        for _, values in told[1:]:
            common = values.keys() & told[0][1].keys()
            assert common and {key: values[key] for key in common} == {key: told[0][1][key] for key in common}
            # Only what left the span at its beginning is no longer told.
            gone = told[0][1].keys() - values.keys()
            assert all(time < (until_ms + 31_000 - length) / 1000 for _, time in gone)


def test_values_come_in_the_readers_units(fleet):
    with fleet.managers(units="us"):
        _, series, _ = asked(fleet, "combine-9", (fleet.now - 11 * HOUR, fleet.now), signals="coolant_c")
    [coolant] = series["signals"]
    assert coolant["unit"] == "°F" and coolant["mean"][0] == 158 and ("warning", 185) in {(limit["kind"], limit["value"]) for limit in coolant["limits"]}


def test_nobody_is_told_of_what_is_anothers(fleet):
    assert asked(fleet, "combine-9", (fleet.now - HOUR, fleet.now), who="ada")[0] == 404
    assert asked(fleet, "combine-9", (fleet.now - HOUR, fleet.now), who="sam")[0] == 403
    assert asked(fleet, "nobodys", (fleet.now - HOUR, fleet.now))[0] == 404


@pytest.mark.parametrize("span", [("x", 2), (2, 1), (5, 5), (0, 500 * 24 * HOUR), (-1, 10 ** 30)])
def test_spans_that_are_none_are_said(fleet, span):
    status, problem, _ = asked(fleet, "combine-9", span)
    assert status == 400 and "epoch milliseconds" in problem["detail"]


# In a browser.

def charts(fleet, page, query="?kind=machine"):
    fleet.enter(page, "/vehicles/combine-9" + query)
    expect(page.locator("figure.chart.drawn")).to_have_count(4 if "charts" in query else 3)
    return page.locator("figure.chart", has=page.locator("figcaption", has_text="Coolant"))


def test_keys_move_a_crosshair_whose_value_is_the_tables(fleet, page):
    chart = charts(fleet, page)
    plot = chart.get_by_role("slider")
    plot.focus()
    page.keyboard.press("Home")
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    said = plot.get_attribute("aria-valuetext")
    when, value = re.fullmatch(r"(.+): Coolant Temperature ([\d.]+) °C", said).groups()
    expect(chart.locator(".ctip")).to_contain_text(value)
    expect(chart.locator(".ctip time")).to_have_text(when)
    # The other charts of the page have the same moment under their crosshairs, until somebody goes elsewhere.
    tips = page.locator("figure.chart .ctip:not([hidden])")
    expect(tips).to_have_count(3)
    page.keyboard.press("Tab")
    expect(tips).to_have_count(0)
    chart.get_by_label("as a table").click()
    rows = {row[0]: row[1] for row in chart.locator("tbody tr").evaluate_all("all => all.map((row) => [...row.cells].map((cell) => cell.textContent))")}
    assert rows[when] == value and list(rows.values()) == ["88", "97", "91"]


def test_a_chart_is_zoomed_by_pointer_and_keys_with_all_others_and_goes_back(fleet, page):
    chart = charts(fleet, page)
    asked_for = []
    page.on("request", lambda request: "/series?" in request.url and asked_for.append(request.url))
    box = chart.locator(".u-over").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 40, steps=4)
    page.mouse.up()
    expect(page.locator("figure.chart.zoomed")).to_have_count(3)
    # Finer values are asked for once, for all charts; what moves on by itself asks for the whole span.

    def finer():
        page.title()  # Requests are told of while the browser is asked something.
        lengths = [end - start for start, end in ([int(value) for value in re.findall(r"(?:from|until)=(\d+)", each)] for each in asked_for)]
        return [length for length in lengths if length < HOUR]

    until(finer)
    # A fifth of the half hour from the first reading until now.
    assert len(finer()) == 1 and 0.15 * HOUR / 2 < finer()[0] < 0.3 * HOUR / 2, asked_for
    chart.get_by_role("button", name="Show all").click()
    expect(page.locator("figure.chart.zoomed")).to_have_count(0)
    chart.get_by_role("slider").focus()
    page.keyboard.press("+")
    expect(page.locator("figure.chart.zoomed")).to_have_count(3)
    page.keyboard.press("Home")
    expect(page.locator("figure.chart.zoomed")).to_have_count(0)


def test_what_is_saved_is_what_was_told(fleet, page, tmp_path):
    chart = charts(fleet, page, "?kind=machine&tab=charts&days=1")
    series = page.evaluate("""() => { const data = document.querySelector('figure.chart').dataset;
        return fetch(`${data.source}&from=${data.from}&until=${data.until}`).then((answer) => answer.json()) }""")
    coolant = signal(series, "coolant_c")

    def saved(what):
        chart.get_by_label(re.compile("^Save Coolant")).click()
        with page.expect_download() as download:
            chart.get_by_role("button", name=what).click()
        download.value.save_as(tmp_path / download.value.suggested_filename)
        return tmp_path / download.value.suggested_filename
    file = saved("Values as CSV")
    assert file.name == "coolant-temperature-c.csv"
    head, *rows = csv.reader(io.StringIO(file.read_text()))
    assert head[:2] == ["time", "Coolant Temperature (°C)"] and [float(row[1]) for row in rows] == coolant["mean"]
    picture = saved("Picture as PNG").read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) > 2_000


def test_a_chart_follows_the_theme(fleet, page):
    chart = charts(fleet, page)
    drawn = "(canvas) => canvas.toDataURL()"
    light = chart.locator("canvas").evaluate(drawn)
    page.emulate_media(color_scheme="dark")
    until(lambda: chart.locator("canvas").evaluate(drawn) != light)


def test_who_has_no_answer_keeps_what_the_server_has_drawn(fleet, page, watch):
    page.route("**/series?*", lambda route: route.abort())
    fleet.enter(page, "/vehicles/combine-9?kind=machine")
    expect(page.locator("figure.chart.failed svg.chart")).to_have_count(3)
    watch.forgive()
