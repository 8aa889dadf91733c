"""Reports as files: on paper, read by another program; saved whole or not at all."""
import csv
import io
import os
import re
import subprocess
from html.parser import HTMLParser

import pytest
from harness import HANG_S, is_long
from test_drive_pages import REPORTS, fill, fleet  # noqa: F401
from world import connect, query

ONE_DAY, MONTH = ["--date", "2018-02-20", "--zone", "Europe/Berlin"], ["--date", "2026-05-14", "--span", "month"]


class Cells(HTMLParser):
    """Texts of a page's table cells, read without our own code."""

    def __init__(self, page):
        super().__init__()
        self.cells, self.inside = [], False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag in ("td", "th"):
            self.inside = True
            self.cells.append("")

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.cells[-1] += data


def text(pdf, *words):
    run = subprocess.run(["pdftotext", *words, "-", "-"], input=pdf, capture_output=True, timeout=HANG_S)
    assert run.returncode == 0 and not run.stderr, run.stderr
    return run.stdout.decode()


def bare(words):
    return re.sub(r"\s", "", words)


def facts(pdf):
    lines = subprocess.run(["pdfinfo", "-isodates", "-"], input=pdf, capture_output=True, timeout=HANG_S, check=True).stdout.decode().splitlines()
    return {name: value.strip() for name, value in (line.split(":", 1) for line in lines)}


@pytest.mark.parametrize("report", REPORTS)
def test_on_paper_stands_what_stands_in_the_page(fleet, report, screenshots):
    fill(fleet)
    spans = (ONE_DAY if report in ("fleet-day", "trips", "fuel") else MONTH), ["--date", "2018-01-01", "--until", "2018-12-31", "--units", "us"]
    for span in spans if is_long() or report in ("trips", "fuel") else spans[:1]:
        pdf, page = (fleet.command(report, *span, "--format", form) for form in ("pdf", "html"))
        assert pdf == fleet.command(report, *span, "--format", "pdf")
        printed, cells = bare(text(pdf, "-raw")), Cells(page.decode()).cells
        title = re.search("<h1>(.*?)</h1>", page.decode()).group(1)
        known = facts(pdf)
        assert known["Title"] == title and f"Page 1 of {known['Pages']}" in text(pdf)
        missing = [cell for cell in cells if bare(cell) not in printed]
        assert missing == [] and bare(title) in printed, (missing, printed)
        if cells:
            # A page ends with a form feed.
            for number, paper in enumerate(text(pdf).split("\f")[:-1], 1):
                assert f"Page {number} of" in paper
        (screenshots / f"{report}-{span[1]}.pdf").write_bytes(pdf)


def test_the_head_of_a_table_stands_on_each_of_its_pages(fleet):
    query(fleet.env, """INSERT INTO drover.survey (site, survey, version, account, submitted_by, submitted_at, site_name, started_at, stopped_at, utc_offset_min, local_date,
                       distance_m, weather_missing, needs_review, sightings, individuals, topic_partition)
                       SELECT 'many', 'm-' || n, 0, 'sam', 't', now(), NULL, day, day + interval '1 hour', 0, day::date, 1000 + n, 0, false, n, n, 0
                       FROM generate_series(0, 299) n, LATERAL (SELECT timestamptz '2026-03-01Z' + n * interval '1 day' AS day) d""")
    pdf = fleet.command("survey-day", "--date", "2026-03-01", "--until", "2026-12-31", "--site", "many", "--format", "pdf")
    pages = int(facts(pdf)["Pages"])
    assert pages > 5
    found = text(pdf, "-layout").split("\f")[:-1]
    assert len(found) == pages
    rows = [re.findall(r"^ *(2026-\d\d-\d\d) ", page, re.MULTILINE) for page in found]
    assert sum(rows, []) == sorted(set(sum(rows, []))) and sum(map(len, rows)) == 300
    for page, days in zip(found, rows):
        assert ("walking" in page.lower()) == bool(days), page


def test_fuel_of_several_cars_is_added_up_by_car_before_the_rows(fleet):
    """On paper there were rows only."""
    with connect(fleet.env) as connection:
        connection.execute("INSERT INTO drover.vehicle SELECT 'car', 'fuel-' || n, '', 0, now() FROM generate_series(1, 2) n")
        connection.execute("INSERT INTO drover.registration (kind, vehicle, topic_partition, registered_at, record_id, name) VALUES ('car', 'fuel-2', 0, now(), 'r-fuel', 'Delivery van')")
        connection.execute("""INSERT INTO drover.trip (vehicle, start_at, end_at, is_open, readings, disputed_readings, speed_readings, integrated_ms, distance_mm, idle_ms,
            holes, sharp_accelerations, sharp_brakings, max_speed_m_per_h, rpm_ms, milli_turns, max_rpm_milli, air_mg)
            SELECT 'fuel-' || n, start_at, start_at + interval '20 minutes', false, 1200, 0, 1200, 1200000, 9000000 * n, 60000, 0, 1, 2, 90000, 1200000, 40000000, 3000000, 9000000
            FROM generate_series(1, 2) n, generate_series(timestamptz '2017-05-03 06:00Z', '2017-05-05 06:00Z', '1 day') start_at""")
    words = ["fuel", "--date", "2017-05-03", "--span", "month"]
    printed = text(fleet.command(*words, "--format", "pdf"), "-layout")
    assert "Fuel May 2017" in printed and printed.index("By car") < printed.index("Rows: 6")
    assert re.search(r"Delivery van +3 +54\.0 ", printed) and re.search(r"fuel-1 +3 +27\.0 ", printed), printed
    # Programs have the rows alone, with ids.
    rows = list(csv.DictReader(io.StringIO(fleet.command(*words, "--format", "csv").decode())))
    assert sorted({row["vehicle"] for row in rows}) == ["fuel-1", "fuel-2"] and len(rows) == 6


def test_a_report_is_saved_whole_under_a_name_that_says_what_it_is(fleet, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    for words, name in [(["trips", "--date", "2018-02-20", "--format", "csv"], "trips-2018-02-20.csv"),
                        (["fuel", "--date", "2018-02-20", "--span", "month", "--zone", "Europe/Berlin", "--fleet", "north", "--units", "us", "--format", "pdf"],
                         "fuel-2018-02-01-to-2018-02-28-Europe-Berlin-fleet-north-us.pdf"),
                        (["trips", "--date", "2018-02-20", "--vehicle", "seat-leon", "--format", "table"], "trips-2018-02-20-seat-leon.txt")]:
        assert fleet.command(*words, "--save", kept).decode().strip() == f"{kept}/{name}"
        assert (kept / name).read_bytes() == fleet.command(*words)
    # Two sites whose names a folder would not tell apart.
    names = {fleet.command("survey-day", "--date", "2026-05-14", "--site", site, "--save", kept, "--format", "csv").decode().strip() for site in ("=Forest", "/Forest", "-Forest")}
    assert len(names) == 3
    rows = list(csv.DictReader(io.StringIO(fleet.command("trips", "--date", "2018-02-20", "--format", "csv").decode())))
    assert rows and fleet.command("trips", "--date", "2018-02-20", "--format", "csv", "--save", kept / "mine.csv").decode().strip() == f"{kept}/mine.csv"
    assert len(list(csv.DictReader(io.StringIO((kept / "mine.csv").read_text())))) == len(rows)
    assert not list(kept.glob("*.part"))


def test_a_report_that_cannot_be_saved_says_why_and_leaves_the_old_one(fleet, tmp_path):
    def refused(place, *around):
        run = subprocess.run([*around, fleet.world.drover.program, "report", "trips", "--date", "2018-02-20", "--format", "json", "--save", place],
                             capture_output=True, timeout=HANG_S, env={**os.environ, **fleet.env})
        assert run.returncode == 1 and not run.stdout, run
        return run.stderr.decode()
    assert "There is no such folder" in refused(tmp_path / "none" / "a.json") and "no such folder" in refused(f"{tmp_path}/none/")
    old = tmp_path / "small"
    old.mkdir()
    (old / "a.json").write_text("old")
    # No file may grow beyond a kilobyte: what a full disk is like.
    said = refused(old / "a.json", "bash", "-c", "ulimit -f 1; trap '' XFSZ; exec \"$@\"", "bash")
    assert "cannot be written" in said and (old / "a.json").read_text() == "old" and [file.name for file in old.iterdir()] == ["a.json"]
