"""Search: what somebody may see is found by any part of its name, as a page and while typing; of what is not there the nearest is offered."""
import json
import urllib.parse

import pytest
from harness import axe_violations, lent, looked_at
from people import PASSWORD, enter, logged_in
from playwright.sync_api import expect
from test_accounts import Site
from world import Asked, connect

VEHICLES = [("machine", "mtg-0042", "Combine, north field", "S690 Combine", ["harvest"]), ("machine", "mtg-0077", "Sprayer by the river", None, []),
            ("car", "van-7", "Post van 7", None, ["post"]), ("car", "van_8", "100 % electric <van>", None, []), ("car", "vanx8", "Other", None, [])]


@pytest.fixture(scope="module")
def desk(world, tmp_path_factory):
    yield from lent(Desk(world, tmp_path_factory.mktemp("search")))


class Desk(Asked):
    def __init__(self, world, folder):
        self.world, self.env = world, world.database()
        self.site = Site(world, self.env, None, folder, has_mail=False)
        self.address = f"http://127.0.0.1:{self.site.port}"
        for account, *roles in [("fred", "farmer"), ("mia", "fleet_manager"), ("sam", "surveyor"), ("root", "administrator"), ("nobody",)]:
            self.site.with_account(account, f"{account}@example.org", PASSWORD, *roles)
        with connect(self.env) as connection:
            for kind, vehicle, name, model, tags in VEHICLES:
                connection.execute("""INSERT INTO drover.registration (kind, vehicle, topic_partition, registered_at, record_id, name, model, tags)
                    VALUES (%s, %s, 0, now(), %s, %s, %s, %s)""", [kind, vehicle, "r-" + vehicle, name, model, tags])
            connection.execute("INSERT INTO drover.taxon (taxon, name, rank, source) VALUES ('t1', 'Aglais io', 'species', 'test')")
            connection.execute("INSERT INTO drover.taxon_name (name, taxon, kind, given) VALUES ('aglais io', 't1', 'accepted', 'Aglais io'), "
                               "('peacock', 't1', 'common', 'Peacock')")
        for words in [("put", "north"), ("add", "north", "mtg-0042"), ("join", "north", "fred"), ("put", "city"), ("add", "city", "van-7", "van_8", "vanx8", "--kind", "car"),
                      ("join", "city", "mia")]:
            world.drover.done("fleet", *words, env=self.env)

    def close(self):
        self.site.close()

    def found(self, who, text):
        answer = logged_in(self.site.port, who).get("/search/results?q=" + urllib.parse.quote(text))
        assert answer.status == 200, answer.body
        return json.loads(answer.body)

    def names(self, who, text):
        found = self.found(who, text)
        return [] if found["said"] else [(hit["kind"], hit["name"]) for hit in found["results"]]

    def without_rules(self, who, text):
        """Rules are of models, which are nobody's: who changes rules finds them by the model's name."""
        rules = [hit for hit in self.found(who, text)["results"] if hit["kind"] == "Rule"]
        assert rules and all(hit["address"] == "/thresholds/models/S690%20Combine" for hit in rules), rules
        return [hit for hit in self.names(who, text) if hit[0] != "Rule"]


@pytest.mark.parametrize("who, text, hits", [
    ("fred", "NORTH f", [("Vehicle", "Combine, north field")]),
    ("fred", "0042", [("Vehicle", "Combine, north field")]),
    ("fred", "harvest", [("Vehicle", "Combine, north field")]),
    ("fred", "s690", [("Vehicle", "Combine, north field")]),
    # Of others' vehicles he learns nothing, whatever he asks.
    ("fred", "van-7", []), ("fred", "river", []), ("mia", "combine", []),
    # Signs of patterns are letters.
    ("mia", "%", [("Vehicle", "100 % electric <van>")]),
    ("mia", "n_8", [("Vehicle", "100 % electric <van>")]),
    ("mia", "\\", []), ("mia", "' OR true --", []),
    ("sam", "peac", [("Species", "Peacock")]),
    ("sam", "van", []), ("fred", "peacock", []),
    ("sam", "new surv", [("Page", "New survey")]),
    ("fred", "audit", []), ("root", "audit log", [("Page", "Audit log")]),
    ("root", "mia@", [("Person", "mia")]), ("mia", "fred@", []),
    ("nobody", "account", [("Page", "Account")]), ("nobody", "map", []),
])
def test_what_one_may_see_is_found(desk, who, text, hits):
    has_rules = (who, text) in [("fred", "s690"), ("mia", "combine")]
    assert (desk.without_rules if has_rules else desk.names)(who, text) == hits


def test_reports_queries_and_rules_are_found(desk):
    assert ("Report", "Fleet day") in desk.names("mia", "fleet day")
    assert any(kind == "Query" for kind, _ in desk.names("mia", "fuel"))
    rules = [hit for hit in desk.found("fred", "coolant")["results"] if hit["kind"] == "Rule"]
    assert rules and all(hit["address"].startswith("/thresholds/models/") for hit in rules), rules
    assert all(hit["kind"] != "Rule" for hit in desk.found("sam", "coolant")["results"]), "he changes no rules"


def test_a_species_leads_to_its_page(desk):
    [hit] = desk.found("sam", "peacock")["results"]
    assert (hit["about"], hit["address"]) == ("Aglais io, species", "/sightings/species/Aglais%20io")


def test_an_unknown_word_is_said_and_the_nearest_offered(desk):
    found = desk.found("fred", "comibne")
    assert found["said"] == "Nothing is called “comibne”." and found["offer"]
    assert found["results"][0]["name"] == "Combine, north field" and 1 <= len(found["results"]) <= 3
    assert all("van" not in hit["name"].lower() for hit in found["results"]), "not his"
    # Long and strange texts are answered, too, and say nothing that was not asked.
    for text in ["x" * 5_000, "\u202e👍" * 40, " ", ""]:
        assert len(desk.found("mia", text)["asked"]) <= 100


def test_who_is_not_logged_in_finds_nothing(desk):
    from people import Visitor
    visitor = Visitor(desk.site.port)
    assert visitor.get("/search/results?q=van").status == 401
    assert visitor.get("/search?q=van").headers["Location"] == "/login?next=%2Fsearch%3Fq%3Dvan"


def test_the_page_needs_no_script(desk, browser, page, screenshots):
    visitor = logged_in(desk.site.port, "mia")
    plain = visitor.get("/search?q=van").body
    assert "Post van 7" in plain and "100 % electric &lt;van&gt;" in plain and "<van>" not in plain
    said = visitor.get("/search?q=" + urllib.parse.quote("<i>psot</i>")).body
    assert "Nothing is called “&lt;i&gt;psot&lt;/i&gt;”." in said and "<i>psot" not in said
    said = visitor.get("/search?q=psot").body
    assert "Nothing is called “psot”." in said and "Post van 7" in said
    enter(page, desk.address, "mia", "/search?q=van")
    looked_at(page, screenshots, "search", dark=True)


def test_the_bar_shows_results_while_one_types(desk, page):
    enter(page, desk.address, "mia", "/account")
    page.keyboard.press("/")
    field = page.locator("#find-text")
    expect(field).to_be_focused()
    page.keyboard.type("post v")
    option = page.get_by_role("option", name="Post van 7")
    expect(option).to_be_visible()
    assert field.get_attribute("aria-expanded") == "true" and axe_violations(page) == []
    page.keyboard.press("ArrowDown")
    assert field.get_attribute("aria-activedescendant") == option.get_attribute("id") and option.get_attribute("aria-selected") == "true"
    # Escape closes what was found, then leaves the field.
    page.keyboard.press("Escape")
    expect(option).to_be_hidden()
    expect(field).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("pots")
    expect(page.locator(".found")).to_contain_text("Nothing is called “pots”.")
    expect(page.get_by_role("option").first).to_contain_text("Post van 7")
    page.keyboard.press("ArrowDown")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert urllib.parse.urlsplit(page.url).path == "/vehicles/van-7"
    # Enter without a choice asks the page.
    page.locator("#find-text").fill("electric")
    with page.expect_navigation():
        page.locator("#find-text").press("Enter")
    assert page.url == desk.address + "/search?q=electric"
