"""Sightings and surveys in a real browser: a researcher's, a surveyor's and a reviewer's day on the real surveys of A Rocha Kenya."""
import base64
import csv
import json
import re
import urllib.request
from collections import Counter, defaultdict
from datetime import date

import psycopg
import pytest
from analysis import files  # noqa: F401 (a fixture)
from harness import HANG_S, ROOT, looked_at, until
from people import add_account, enter, follow, logged_in
from playwright.sync_api import expect
from world import Asked, as_served, query

# All of it asks about recordings that are for tests only.
pytestmark = pytest.mark.needs_shared

RARE = "Secreta rara"
PEOPLE = {"rita": "researcher", "anna": "analyst", "sam": "surveyor", "olga": "surveyor", "root": "administrator"}
HIDDEN = {"schema": 1, "survey": "h-1", "site": "well", "site_name": "Old Well", "latitude": -3.3781, "longitude": 39.9888,
          "start": "2021-08-01T10:00:00+03:00", "stop": "2021-08-01T11:00:00+03:00", "comments": "at the well",
          "surveyors": [{"name": "A. Wanjiru", "role": "recorder", "mail": "wanjiru@example.org", "phone": "+254 700"}],
          "sightings": [{"species": RARE, "count": 3, "latitude": -3.37812, "longitude": 39.98884, "behaviour": "basking"}]}


class Desk(Asked):
    """`drover serve` with the logins that production gives it, a worker, and people of each role."""

    def __init__(self, world, folder, shared):
        self.world, self.env = world, world.database()
        taxonomy = (ROOT / "Deploy/taxonomy/butterflies-watamu.csv").read_text() + f"rare-1,{RARE},species,,,yes,,\ntesta-1,Testa communis,species,,,no,,Common tester\n"
        (folder / "taxa.csv").write_text(taxonomy)
        self.taxa = list(csv.DictReader(taxonomy.splitlines()))
        self.run("taxonomy", "load", folder / "taxa.csv")
        self.run("import", "sightings", shared / "data" / "sightings-arocha-butterflies", "--offset", "+03:00", "--site", "watamu", "--by", "tests")
        (folder / "hidden.jsonl").write_text(json.dumps(HIDDEN))
        self.run("import", "sightings", folder / "hidden.jsonl", "--by", "tests")
        self.worker = world.worker(self.env, "sightings-pages")
        self.query("GRANT drover_survey, drover_researcher TO drover_web")
        self.server = world.drover.start("serve", "--port", "0", env=as_served(self.env))
        self.port = self.server.page_port
        self.address = f"http://127.0.0.1:{self.port}"
        self.people = {account: self.person(account, role) for account, role in PEOPLE.items()}
        world.work_off(self.env)
        self.query("ANALYZE")  # As PostgreSQL does by itself within a minute.

    def run(self, *words):
        return self.world.drover.done(*words, env=self.env).out

    def person(self, account, role):
        add_account(self.env, account, role)
        return logged_in(self.port, account)

    def below(self, name):
        """Accepted names of a taxon and of all below it, by brute force."""
        keys = {row["taxon"] for row in self.taxa if name in [row["name"], *row["synonyms"].split("|")]}
        while more := {row["taxon"] for row in self.taxa if row["parent"] in keys} - keys:
            keys |= more
        return {row["name"] for row in self.taxa if row["taxon"] in keys}

    def enter(self, page, who, path):
        enter(page, self.address, who, path)

    def api(self, scopes, query, account="rita"):
        words = [word for scope in scopes for word in ("--scope", scope)]
        return self.raw(f"/v1/sightings/export?{query}", {"Authorization": "Bearer " + self.run("token", "add", "--account", account, *words).strip()})

    def page_export(self, who, query):
        return self.raw(f"/sightings/export?{query}", {"Cookie": self.people[who].cookie, "Sec-Fetch-Site": "same-origin"})

    def raw(self, path, headers):
        with urllib.request.urlopen(urllib.request.Request(self.address + path, headers=headers), timeout=HANG_S) as answer:
            return answer.headers.get_content_type(), answer.read()


@pytest.fixture(scope="module")
def desk(world, shared, tmp_path_factory):
    return Desk(world, tmp_path_factory.mktemp("sightings"), shared)


def counted(files, names):
    """Sightings of these names in the files, with their day: `(day, individuals)`."""
    events, occurrences, _ = files
    days = {row["eventID"]: date.fromisoformat(row["eventDate"]) for row in events}
    return [(days[row["eventID"]], int(row["individualCount"])) for row in occurrences if row["scientificName"] in names]


def totals(page, *expected):
    """The first of them: sightings, individuals, first and last day."""
    for number, text in enumerate(expected):
        expect(page.locator("#totals li b").nth(number)).to_have_text(text)


def table(page, caption):
    """Cells of a table by its caption."""
    region = page.get_by_role("region", name=caption, exact=True)
    return region.locator("tbody tr").evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.textContent.trim()))")


# Researchers.

def test_a_researchers_day(desk, files, page, screenshots):
    desk.enter(page, "rita", "/sightings")
    # Nothing is chosen: the last year.
    expect(page.get_by_label("From (UTC)")).to_have_value("2020-09-15")
    follow(page, page.get_by_role("link", name="Choose from the taxonomy"))
    page.get_by_role("link", name="Amauris", exact=True).click()
    page.wait_for_url("**/sightings/taxa?of=genus-amauris")
    assert {row[0] for row in table(page, "Below Amauris")} == desk.below("Amauris") - {"Amauris"}
    looked_at(page, screenshots, "taxonomy")
    follow(page, page.get_by_role("link", name="Sightings of all Amauris"))
    totals(page, str(len(counted(files, desk.below("Amauris")))))
    page.goto(desk.address + "/sightings")
    taxon = page.get_by_label("Species, genus or family")
    taxon.press_sequentially("Coloti")
    page.wait_for_function("() => [...document.querySelectorAll('#taxa option')].some(option => option.value === 'Colotis')")
    taxon.fill("Colotis")
    page.get_by_label("From (UTC)").fill("")
    page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_url("**taxon=Colotis*")
    names = desk.below("Colotis")
    assert len(names) > 5
    seen = counted(files, names)
    present = [day for day, individuals in seen if individuals]
    totals(page, str(len(seen)), str(sum(individuals for _, individuals in seen)), str(min(present)), str(max(present)))
    # Each link of the page leads to what it names.
    targets = page.get_by_role("navigation", name="On this page").get_by_role("link").evaluate_all("links => links.map((link) => link.getAttribute('href'))")
    assert len(targets) >= 5
    for target in targets:
        expect(page.locator(target)).to_have_count(1)
    # By week, with the years of ISO weeks.
    weeks = defaultdict(lambda: [0, 0])
    for day, individuals in seen:
        year, week, _ = day.isocalendar()
        weeks[f"{year}-W{week:02}"][0] += 1
        weeks[f"{year}-W{week:02}"][1] += individuals
    page.get_by_text("The weeks as a table").click()
    assert {row[0]: [int(row[2]), int(row[3])] for row in table(page, "Counts by week")} == weeks
    by_species = Counter()
    for name in names:
        by_species[name] = sum(individuals for _, individuals in counted(files, {name}))
    assert {row[0]: int(row[2]) for row in table(page, "Species")} == {name: count for name, count in by_species.items() if counted(files, {name})}
    # All sightings are of one transect: the cells have all of them.
    assert sum(int(row[1]) for row in table(page, "Cells with the most sightings")) == len(seen)
    expect(page.locator("#map")).to_have_attribute("data-drawn", "yes")
    expect(page.locator("#map")).to_have_attribute("data-cells-drawn", str(len(page.locator("#map").get_attribute("data-cells").split())))
    looked_at(page, screenshots, "sightings", dark=True)
    # The list goes on, page by page, with no sighting twice.
    shown = table(page, "The sightings, newest first")
    assert len(shown) == 50 and shown == sorted(shown, key=lambda row: row[0], reverse=True)
    page.get_by_role("link", name="Older sightings").click()
    page.wait_for_url("**behind=*")
    older = table(page, "The sightings, newest first")
    assert len(older) == 50 and older[0][0] <= shown[-1][0]
    # The map asks for what it shows.
    page.get_by_role("button", name="Search this area").click()
    page.wait_for_url("**box=-*")
    totals(page, str(len(seen)))


def test_species_are_a_field_guide(desk, files, page, screenshots):
    desk.enter(page, "rita", "/sightings/species")
    page.get_by_label("Name of a species").fill("Colotis amatus")
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**search=Colotis*")
    follow(page, page.get_by_role("link", name="Colotis amatus"))
    seen = counted(files, {"Colotis amatus"})
    totals(page, str(len(seen)), str(sum(individuals for _, individuals in seen)))
    weeks = Counter()
    for day, individuals in seen:
        weeks[day.isocalendar()[1]] += individuals
    page.get_by_text("The season as a table").click()
    assert {int(week): int(count) for week, count in table(page, "Individuals by week of the year")} == {week: count for week, count in weeks.items() if count}
    expect(page.locator("#map")).to_have_attribute("data-drawn", "yes")
    looked_at(page, screenshots, "species", dark=True)
    # What people call it stands first.
    called = desk.people["rita"].get("/sightings/species?search=common").body
    assert re.search(r"<b>Common tester</b></a><br><em[^>]*>Testa communis</em>", called)
    # What is sensitive has no exact place for whoever may not see it.
    rare = desk.people["anna"].get("/sightings/species/Secreta%20rara").body
    assert "Places hidden" in rare and "39.98" not in rare and "3.378" not in rare
    assert desk.people["rita"].get("/sightings/species/Nothing%20of%20the%20kind").status == 404
    # Surveyors see the own ones.
    assert "No species seen yet" in desk.people["sam"].get("/sightings/species").body


def test_the_flight_curve_is_that_of_the_ready_query(desk, page, screenshots):
    desk.enter(page, "rita", "/sightings?taxon=Colotis%20amatus&site=watamu&year=2020")
    rows = json.loads(desk.run("query", "sightings/flight_curve", "species=Colotis amatus", "site=watamu", "year=2020", "--format", "json"))
    page.get_by_text("The curve as a table").click()
    shown = table(page, "Walks and counts by week of 2020")
    assert [[int(row[0]), int(row[2]), int(row[3])] for row in shown] == [[int(row["iso_week"]), int(row["surveys"]), int(row["individuals"])] for row in rows]
    [curve] = json.loads(desk.run("sightings", "curve", "Colotis amatus", "--site", "watamu", "--year", "2020", "--format", "json"))
    expect(page.locator("#curve")).to_contain_text(f"Index {curve['index']} ")
    expect(page.locator("#curve")).to_contain_text(f"mean week {curve['mean_week']}.")
    expect(page.locator("svg.chart")).to_have_count(2)


@pytest.mark.parametrize("who, scopes", [("rita", ["export", "export-people", "export-places"]), ("anna", ["export"])])
@pytest.mark.parametrize("query", ["format=csv&taxon=Colotis&from=2020-06-01&to=2020-09-01", "format=geojson&box=-3.5,39.9,-3.3,40.1&behaviour=basking",
                                   "format=csv&rows=surveys&site=well", "format=dwca&taxon=Acraea"])
def test_an_export_of_the_page_is_the_apis(desk, who, scopes, query):
    kind, content = desk.page_export(who, query)
    assert (kind, content) == desk.api(scopes, query, who)
    assert len(content) > 500 or "site=well" in query or who == "anna"


def test_species_of_a_genus_and_a_box_are_chosen_as_they_lie(desk, files):
    _, content = desk.page_export("rita", "taxon=Colotis&format=csv")
    assert len(list(csv.DictReader(content.decode().splitlines()))) == len(counted(files, desk.below("Colotis")))
    _, content = desk.page_export("rita", "taxon=Nothing%20of%20the%20kind&format=csv")
    assert len(content.splitlines()) == 1
    for box, count in [("-3.4,39.9,-3.3,40", 1), ("-3.4,40,-3.3,41", 0), ("-3.4,39.98,-3.3,-170", 1), ("-3.4,170,-3.3,-170", 0)]:
        _, content = desk.page_export("rita", f"site=well&format=csv&box={box}")
        assert len(content.splitlines()) == 1 + count, box
    rita = desk.people["rita"]
    for wrong in ["box=1,2,3", "box=9,0,1,0", "near=x", "from=yesterday", "nonsense=1"]:
        assert rita.get("/sightings/export?" + wrong).status == 400, wrong
        assert rita.get("/sightings?" + wrong).status == 422, wrong
    assert rita.get("/sightings/export?format=xml").status == 400 and rita.get("/sightings?format=xml").status == 200
    assert desk.people["anna"].get("/sightings?surveyor=x").status == 422


def test_analysts_see_sensitive_places_blurred_and_nobody_named(desk, page):
    desk.enter(page, "anna", "/sightings?site=well")
    totals(page, "1", "3")
    expect(page.locator("main")).to_contain_text("-3.35, 39.95 (blurred)")
    expect(page.locator("main")).not_to_contain_text("Surveyor’s name")
    told = page.content() + desk.page_export("anna", "site=well&format=csv")[1].decode() + desk.page_export("anna", "site=well&format=geojson")[1].decode() \
        + desk.page_export("anna", "site=well&rows=surveys&format=csv")[1].decode()
    for word in ["39.98", "-3.378", "Old Well", "at the well", "Wanjiru", "254"]:
        assert word not in told, word
    assert desk.people["anna"].get("/surveys").status == desk.people["anna"].get("/surveys/well/h-1").status == 403
    exact = desk.page_export("rita", "site=well&format=csv")[1].decode()
    assert "39.98884" in exact and "wanjiru@example.org" in exact and "Old Well" in exact
    rita = desk.people["rita"].get("/sightings?site=well&surveyor=A.%20Wanjiru").body
    assert "-3.3781, 39.9888" in rita and "Individuals <b>3</b>" in rita


def test_the_database_holds_people_to_it(desk):
    seen = {"rita": (905 + 1, 905 + 1, 1), "anna": (0, 905 + 1, 0), "olga": (0, 0, 0)}
    for who, (exact, shown, people) in seen.items():
        with psycopg.connect(desk.login("drover_pages")) as connection:
            connection.execute("SELECT set_config('drover.account', %s, true)", [who])
            got = [connection.execute(f"SELECT count(*) FROM drover.{view}").fetchone()[0] for view in ("seen_survey_exact", "seen_survey_shown", "seen_surveyor")]
            assert got == [exact, shown, people], who
            assert len(connection.execute("SELECT * FROM drover.survey_versions_seen('well', 'h-1', NULL)").fetchall()) == (1 if who == "rita" else 0)
            for table_of_all in ("sighting", "survey", "surveyor", "sighting_exact", "sighting_shown", "survey_version", "survey_photo", "survey_receipt"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                    connection.execute(f"SELECT 1 FROM drover.{table_of_all}")


# Surveyors.

def fill_survey(page, site):
    page.locator("#rest > summary").click()
    page.get_by_label("Site id").fill(site)
    page.get_by_label("Start").fill("2021-06-01T10:00")
    page.get_by_label("Stop").fill("2021-06-01T10:45")
    page.get_by_label("Time zone, as").fill("+03:00")
    page.get_by_label("Latitude, degrees").first.fill("-3.3781")
    page.get_by_label("Longitude, degrees").first.fill("39.9888")
    page.get_by_label("Temperature, °C").fill("27.5")
    row = page.locator("#sightings .row").first
    row.get_by_label("Species").fill("Junonia oenone")
    row.get_by_label("Count").fill("4")
    row.get_by_label("Time").fill("10:05")
    row.get_by_label("Behaviour").fill("nectaring")


def picture(page):
    return base64.b64decode(page.evaluate("""() => { const c = document.createElement('canvas'); c.width = 64; c.height = 48; const g = c.getContext('2d');
        g.fillStyle = '#2a6'; g.fillRect(0, 0, 64, 48); return c.toDataURL('image/jpeg').split(',')[1]; }"""))


def test_a_surveyors_day_with_a_draft_and_without_a_network(desk, page, watch, screenshots):
    desk.enter(page, "sam", "/surveys")
    expect(page.locator("main")).to_contain_text("No surveys yet.")
    follow(page, page.get_by_role("link", name="New survey"))
    page.locator("form[data-ready=yes]").wait_for()
    fill_survey(page, "forest-1")
    # Names near there in that season are offered.
    page.wait_for_function("() => document.querySelectorAll('#taxa option').length > 20")
    page.get_by_role("button", name="Add a sighting").click()
    second = page.locator("#sightings .row").nth(1)
    second.get_by_label("Species").fill("Something <unknown>")
    second.get_by_label("Count").fill("1")
    second.get_by_text("More", exact=True).click()
    second.get_by_label("Plants").fill("Lantana")
    second.locator("input[type=file]").set_input_files({"name": "b.jpg", "mimeType": "image/jpeg", "buffer": picture(page)})
    looked_at(page, screenshots, "enter", dark=True)
    # Without a network it stays on the device, also when the page is left.
    page.context.set_offline(True)
    page.get_by_role("button", name="Send survey").click()
    expect(page.get_by_text("Not handed in yet")).to_be_visible()
    assert desk.query("SELECT 1 FROM drover.survey_receipt WHERE account = 'sam'") == []
    page.context.set_offline(False)
    watch.forgive()
    page.wait_for_url("**/surveys?said=taken")
    watch.forgive()
    [(site, survey)] = desk.query("SELECT site, survey FROM drover.survey_receipt WHERE account = 'sam'")
    assert site == "forest-1"
    until(lambda: desk.query("SELECT 1 FROM drover.survey WHERE site = 'forest-1'"), desk.worker)
    page.reload()
    receipts = table(page, "Your surveys")
    assert receipts[0][0] == f"forest-1 {survey}" and "Saved; a name is unknown: somebody will look at it" in receipts[0][3] and receipts[0][4:] == ["2", "5"]
    looked_at(page, screenshots, "receipts")
    follow(page, page.get_by_role("link", name=f"forest-1 {survey}"))
    for text in ["27.5 °C", "2021-06-01 10:00:00+03:00", "Something <unknown>", "plants: Lantana"]:
        expect(page.locator("main")).to_contain_text(text)
    photo = page.get_by_role("link", name="photo 1").get_attribute("href")
    assert desk.raw(photo, {"Cookie": desk.people["sam"].cookie})[0] == "image/jpeg"
    assert desk.people["olga"].get(photo).status == 404
    [(body,)] = desk.query("SELECT body FROM drover.survey_version WHERE site = 'forest-1'")
    first = json.loads(body)["sightings"][0]
    assert first == {"species": "Junonia oenone", "count": 4, "time": "2021-06-01T10:05:00+03:00", "behaviour": "nectaring"}


def test_a_draft_is_there_again_and_a_refusal_says_why(desk, page, watch):
    desk.enter(page, "olga", "/surveys/enter")
    page.locator("form[data-ready=yes]").wait_for()
    fill_survey(page, "draft-site")
    page.locator("#sightings .row").first.get_by_label("Species").fill("Papilio demodocus")
    page.get_by_label("Stop").fill("2021-06-01T09:00")
    page.get_by_role("button", name="Send survey").click()
    expect(page.get_by_text("stop: must not be before the start")).to_be_visible()
    watch.forgive()
    page.wait_for_selector("form[data-kept=yes]")
    page.reload()
    page.get_by_role("button", name="Go on with draft-site").click()
    row = page.locator("#sightings .row").first
    expect(row.get_by_label("Species")).to_have_value("Papilio demodocus")
    expect(row.get_by_label("Time")).to_have_value("10:05")
    page.get_by_label("Stop").fill("2021-06-01T11:00")
    page.get_by_role("button", name="Send survey").click()
    page.wait_for_url("**/surveys?said=taken")
    assert len(desk.query("SELECT 1 FROM drover.survey_receipt WHERE account = 'olga' AND site = 'draft-site'")) == 1
    page.goto(desk.address + "/surveys/enter")
    page.locator("form[data-ready=yes]").wait_for()
    kept = page.evaluate("""() => new Promise((done, failed) => {
        const open = indexedDB.open("drover-surveys", 1);
        open.onerror = () => failed(open.error);
        open.onsuccess = () => { const asked = open.result.transaction("drafts").objectStore("drafts").count(); asked.onsuccess = () => done(asked.result); };
    })""")
    assert kept == 0
    expect(page.get_by_text("Drafts on this device")).to_have_count(0)


def test_a_walk_is_counted_by_taps_with_its_way(desk, page, watch):
    until(lambda: desk.query("SELECT 1 FROM drover.survey WHERE site = 'draft-site'"), desk.worker)
    page.context.grant_permissions(["geolocation"])
    page.context.set_geolocation({"latitude": -3.3781, "longitude": 39.9888, "accuracy": 5})
    desk.enter(page, "olga", "/surveys/enter")
    page.locator("form[data-ready=yes]").wait_for()
    # The site of the last survey is chosen; another one is typed.
    expect(page.get_by_label("Site", exact=True)).to_have_value("draft-site")
    expect(page.get_by_label("Site id")).to_be_hidden()
    page.get_by_label("Site", exact=True).select_option("New site…")
    page.get_by_label("Name of the site").fill("Mwamba Dunes")
    expect(page.get_by_label("Site id")).to_have_value("mwamba-dunes")
    page.get_by_role("button", name="Start walk").click()
    page.wait_for_function("() => document.querySelector('[name=latitude]').value !== ''")
    page.context.set_geolocation({"latitude": -3.3791, "longitude": 39.9889, "accuracy": 5})
    expect(page.locator("#walk-said")).to_have_text("Walking: 112 m")
    expect(page.locator("#walk-map")).to_be_visible()
    for name in ["Papilio demodocus", "Junonia oenone"]:
        page.get_by_label("Another species").fill(name)
        page.get_by_label("Another species").press("Enter")
    tally = page.locator("#tallies li", has_text="Papilio demodocus")
    tally.locator(".more").click()
    tally.locator(".more").click()
    expect(tally.locator("output")).to_have_text("3")
    expect(page.locator("#tallies li").first).to_contain_text("Papilio demodocus")
    page.get_by_role("button", name="Undo").click()
    expect(tally.locator("output")).to_have_text("2")
    # What people call a species finds it, and stands first.
    page.get_by_label("Another species").press_sequentially("Common tes")
    page.wait_for_function("() => [...document.querySelectorAll('#taxa option')].some(option => option.value === 'Common tester')")
    page.get_by_label("Another species").fill("common tester")
    page.get_by_label("Another species").press("Enter")
    called = page.locator("#tallies li", has_text="Testa communis")
    expect(called.locator(".more b")).to_have_text("Common tester")
    expect(called.locator(".more em")).to_have_text("Testa communis")
    called.locator(".fewer").click()
    page.get_by_role("button", name="Next section").click()
    tally.locator(".more").click()
    page.get_by_role("button", name="Finish walk").click()
    page.get_by_role("button", name="Send survey").click()
    page.wait_for_url("**/surveys?said=taken")
    until(lambda: desk.query("SELECT 1 FROM drover.survey WHERE site = 'mwamba-dunes'"), desk.worker)
    [(body,)] = desk.query("SELECT body FROM drover.survey_version WHERE site = 'mwamba-dunes'")
    told = json.loads(body)
    assert told["site_name"] == "Mwamba Dunes" and len(told["waypoints"]) == 2
    assert [(each["species"], each["section"], each["count"]) for each in told["sightings"]] == [
        ("Papilio demodocus", "1", 2), ("Junonia oenone", "1", 1), ("Papilio demodocus", "2", 1)]


def test_a_survey_sent_twice_counts_once_and_without_script(desk):
    olga = desk.people["olga"]
    fields = {"form": olga.mark(), "survey": "w-plain", "site": "plain-site", "start": "2021-06-02T10:00", "stop": "2021-06-02T10:30", "offset": "+03:00",
              "weather.rain": "no", "sightings.1.species": "Junonia oenone", "sightings.1.count": "2", "sightings.1.time": "10:10", "sightings.3.species": "Hypolimnas misippus",
              "sightings.3.count": "1", "sightings.2.species": "", "surveyors.1.name": "Olga", "comments": "two\nlines"}
    for _ in range(2):
        answer = olga.post("/surveys", **fields)
        assert (answer.status, answer.headers["Location"]) == (303, "/surveys?said=taken"), answer.body
    until(lambda: desk.query("SELECT 1 FROM drover.survey WHERE site = 'plain-site'"), desk.worker)
    [(version, account, individuals, body)] = desk.query(
        "SELECT s.version, s.account, s.individuals, v.body FROM drover.survey s JOIN drover.survey_version v USING (site, survey) WHERE site = 'plain-site'")
    told = json.loads(body)
    assert (version, account, individuals) == (0, "olga", 3) and told["weather"] == {"rain": False} and told["surveyors"] == [{"name": "Olga", "role": "recorder"}]
    assert [each.get("time") for each in told["sightings"]] == ["2021-06-02T10:10:00+03:00", None]
    assert olga.post("/surveys", **{**fields, "comments": "other"}).status == 409
    assert desk.people["sam"].post("/surveys", **{**fields, "form": desk.people["sam"].mark()}).status == 409
    for wrong, status in [({"form": "0" * 64}, 403), ({"sightings.1.count": "-1"}, 422), ({"a..b": "1"}, 422), ({"site.x": "1"}, 422), ({"offset": ""}, 422)]:
        assert olga.post("/surveys", **{**fields, "survey": "w-wrong", **wrong}).status == status, wrong
    assert desk.people["rita"].post("/surveys", **{**fields, "form": desk.people["rita"].mark()}).status == 403


def test_surveyors_see_their_own_only(desk, page):
    sam, olga = desk.people["sam"], desk.people["olga"]
    [(survey,)] = desk.query("SELECT survey FROM drover.survey WHERE site = 'forest-1'")
    assert sam.get(f"/surveys/forest-1/{survey}").status == 200
    assert olga.get(f"/surveys/forest-1/{survey}").status == sam.get("/surveys/well/h-1").status == 404
    assert "forest-1" not in olga.get("/surveys").body and "plain-site" not in sam.get("/surveys").body
    desk.enter(page, "sam", "/sightings")
    totals(page, "2", "5")
    assert "watamu" not in page.content()
    _, content = desk.page_export("sam", "format=csv")
    assert {row["site"] for row in csv.DictReader(content.decode().splitlines())} == {"forest-1"}
    _, content = desk.page_export("olga", "format=geojson")
    assert {feature["properties"]["site"] for feature in json.loads(content)["features"]} == {"draft-site", "plain-site", "mwamba-dunes"}
    _, content = desk.page_export("olga", "format=csv&rows=surveys")
    assert {row["site"] for row in csv.DictReader(content.decode().splitlines())} == {"draft-site", "plain-site", "mwamba-dunes"}


# Reviewers.

def test_a_reviewer_corrects_a_survey(desk, page, screenshots):
    [(survey,)] = desk.query("SELECT survey FROM drover.survey WHERE site = 'forest-1'")
    desk.enter(page, "rita", "/surveys")
    waiting = table(page, "Waiting for a review")
    listed = json.loads(desk.run("sightings", "open", "--format", "json"))
    assert [row[0] for row in waiting] == [f"{row['site']} {row['survey']}" for row in listed][:200]
    assert [row[4] for row in waiting] == [row["reasons"] for row in listed][:200]
    looked_at(page, screenshots, "waiting")
    follow(page, page.get_by_role("link", name=f"forest-1 {survey}"))
    expect(page.locator("main")).to_contain_text("the name is not in the taxonomy")
    looked_at(page, screenshots, "survey")
    follow(page, page.get_by_role("link", name="Review"))
    page.locator("#fields[data-ready=yes]").wait_for()
    row = page.locator("#sightings .row").nth(1)
    expect(row.get_by_label("Species")).to_have_value("Something <unknown>")
    row.get_by_label("Species").fill("Junonia hierta")
    row.get_by_label("Count").fill("2")
    page.get_by_label("Why").fill("By the photo <b>")
    looked_at(page, screenshots, "correct")
    page.get_by_role("button", name="Save as version 1").click()
    page.wait_for_url("**said=r-*")
    until(lambda: desk.query("SELECT 1 FROM drover.survey WHERE site = 'forest-1' AND version = 1"), desk.worker)
    page.reload()
    for text in ["Your correction is version 1.", "Junonia hierta", "By the photo <b>"]:
        expect(page.locator("main")).to_contain_text(text)
    before, after = [json.loads(body) for body, in desk.query("SELECT body FROM drover.survey_version WHERE site = 'forest-1' ORDER BY version")]
    assert before["sightings"][1]["species"] == "Something <unknown>"
    # What the form does not show, and what nobody touched, stays to the letter.
    before["sightings"][1] |= {"species": "Junonia hierta", "count": 2}
    assert after == before
    page.get_by_role("link", name="0, as handed in").click()
    page.wait_for_url("**version=0")
    expect(page.locator("main")).to_contain_text("Something <unknown>")
    assert f"forest-1 {survey}" not in [row["site"] + " " + row["survey"] for row in json.loads(desk.run("sightings", "open", "--format", "json"))]
    # The surveyor sees what became of it.
    assert "Saved, corrected 1 time" in desk.people["sam"].get("/surveys").body
    assert "Your last surveys" in desk.people["sam"].get("/home").body


def test_of_two_reviews_of_one_version_the_first_counts_and_sent_twice_is_once(desk):
    rita, root = desk.people["rita"], desk.people["root"]
    def form(visitor):
        body = visitor.get("/surveys/well/h-1/correct").body
        fields = dict(re.findall(r'name="(form|id|based_on)" value="([^"]+)"', body))
        return fields | {"survey": json.dumps({**HIDDEN, "comments": "again"}), "note": "n"}
    first, second = form(rita), form(root)
    for _ in range(2):
        answer = rita.post("/surveys/well/h-1/versions", **first)
        assert answer.status == 303 and first["id"] in answer.headers["Location"]
    until(lambda: desk.query("SELECT 1 FROM drover.survey WHERE site = 'well' AND version = 1"), desk.worker)
    assert rita.post("/surveys/well/h-1/versions", **first).status == 303
    late = root.post("/surveys/well/h-1/versions", **second)
    assert late.status == 409 and "version 1 meanwhile" in late.body
    assert "somebody reviewed version 0 before you" in root.get(f"/surveys/well/h-1?said={second['id']}&based-on=0").body
    assert desk.query("SELECT count(*) FROM drover.survey_version WHERE site = 'well'") == [(2,)]
    for wrong, status in [({"survey": "{"}, 400), ({"survey": json.dumps({**HIDDEN, "site": "other"})}, 422), ({"survey": json.dumps({**HIDDEN, "stop": "x"})}, 422),
                          ({"based_on": "x"}, 422), ({"id": ""}, 422), ({"note": "x" * 4_001}, 422), ({"form": "0" * 64}, 403)]:
        fresh = form(rita)
        assert rita.post("/surveys/well/h-1/versions", **{**fresh, **wrong}).status == status, wrong
    sam = desk.people["sam"]
    assert sam.get("/surveys/well/h-1/correct").status == sam.post("/surveys/well/h-1/versions", **{**form(rita), "form": sam.mark()}).status == 403
    assert rita.get("/surveys/well/none").status == rita.get("/surveys/well/none/correct").status == 404
