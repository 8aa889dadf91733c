"""Administrators keep accounts and fleets, dealers and owners find each other: in the pages, and what others may try there."""
import re

import pytest
from harness import looked_at, until
from people import PASSWORD, Visitor, lend_cookie, logged_in
from test_accounts import Site
from world import as_page, query


@pytest.fixture(scope="module")
def site(world, certificate, tmp_path_factory):
    site = Site(world, world.database(), certificate, tmp_path_factory.mktemp("site"))
    people = {"root": ["administrator"], "miller": ["farmer"], "mate": ["fleet_manager"], "deal": ["dealer"], "other": ["dealer"], "joe": ["driver"]}
    site.people = {}
    for account, roles in people.items():
        site.with_account(account, f"{account}@example.org", PASSWORD, *roles)
        site.people[account] = logged_in(site.port, account)
    yield site
    site.close()


def put_fleet(site, fleet, **fields):
    root = site.people["root"]
    return root.post("/administration/fleet", form=root.mark("/administration"), fleet=fleet, **fields)


def test_fleets_are_kept_in_the_page(site):
    assert put_fleet(site, "all", name="All of it").status == 200
    answer = put_fleet(site, "north", name="North <b>", part_of="all", machines="mtg-1, mtg-2\nmtg-2", cars="car-7", members="miller")
    assert answer.status == 200 and "North &lt;b&gt; (north, part of all): 3 vehicles, 1 person" in answer.body
    rows = "SELECT kind || ' ' || vehicle FROM drover.fleet_vehicle WHERE fleet = 'north' ORDER BY 1"
    assert site.query(rows) == [("car car-7",), ("machine mtg-1",), ("machine mtg-2",)]
    # What is not said any more is taken out.
    assert put_fleet(site, "north", name="North", part_of="all", machines="mtg-1", members="miller").status == 200
    assert site.query(rows) == [("machine mtg-1",)]
    for fields in ({"members": "nobody-there"}, {"part_of": "nowhere"}, {"part_of": "north", "fleet": "deep"}, {"machines": "a/b"}, {"name": "x" * 201}):
        fields = {"fleet": "north", **fields}
        assert (answer := put_fleet(site, **fields)).status == 422 and "Nothing was changed" in answer.body, fields
    assert site.query(rows) == [("machine mtg-1",)]


def test_the_fleet_that_ends_logins_says_whose(site):
    query(site.env, "INSERT INTO drover.account_login VALUES ('drover_account_mate', 'mate')")
    saved = put_fleet(site, "south", name="South")
    assert saved.status == 200 and "psql has ended for mate: with more than one fleet" in saved.body
    assert "psql has ended" not in put_fleet(site, "south", name="South").body
    query(site.env, "DELETE FROM drover.fleet WHERE fleet = 'south'")


def test_roles_are_given_and_taken_in_the_page(site):
    root, joe = site.people["root"], site.people["joe"]
    def change(account, *roles, enabled="1"):
        fields = [("form", root.mark("/administration")), ("account", account), ("enabled", enabled)] + [("role", role) for role in roles]
        return root.post_items("/administration/account", fields)
    assert joe.get("/dealers").status == 403
    assert change("joe", "driver", "fleet_manager").status == 200
    assert joe.get("/dealers").status == 200
    assert change("joe", "driver", "emperor").status == 200
    assert site.query("SELECT roles FROM drover.account WHERE account = 'joe'") == [(["driver"],)]
    out = change("joe", "driver", enabled="")
    assert out.status == 200 and "joe: saved, from the next request on: driver; may not log in." in out.body
    assert joe.get("/account").status == 303, "logged out"
    assert change("joe", "driver").status == 200
    # Somebody stays who can give roles.
    for answer in (change("root", "farmer"), change("root", "administrator", enabled=""), change("nobody-there", "farmer")):
        assert answer.status == 422 and "Nothing was changed" in answer.body


def test_an_account_without_a_mail_address_is_not_called_erased(site):
    """`drover up` makes its first administrator so."""
    site.world.drover.done("account", "add", "new-one", "--role", "farmer", env=site.env)
    page = site.people["root"].get("/administration").body
    assert "new-one: no mail address yet. farmer (not confirmed)" in page
    site.world.drover.done("account", "erase", "new-one", env=site.env)
    assert "new-one: erased. No roles (disabled)" in site.people["root"].get("/administration").body


def test_a_command_names_who_cannot_join(site):
    put_fleet(site, "east", name="East")
    for words, says in [(("join", "east", "nobody-there"), "no account nobody-there"), (("join", "nowhere", "joe"), "no fleet nowhere"), (("add", "nowhere", "mtg-1"), "no fleet nowhere"),
                        (("put", "east", "--part-of", "nowhere"), "no fleet nowhere")]:
        site.world.drover.fails("fleet", *words, env=site.env, says=[says, "Nothing was changed"])


def test_nobody_else_gets_in(site):
    root = site.people["root"]
    for account in ("miller", "deal"):
        visitor = site.people[account]
        assert visitor.get("/administration").status == 403
        foreign = visitor.post("/administration/account", form=root.mark("/administration"), account=account, role="administrator", enabled="1")
        own = visitor.post("/administration/account", form=visitor.mark("/account"), account=account, role="administrator", enabled="1")
        assert (foreign.status, own.status) == (403, 403)
    stranger = Visitor(site.port)
    assert stranger.get("/administration?a=b%20c").headers["Location"] == "/login?next=%2Fadministration%3Fa%3Db%2520c"
    assert stranger.post("/administration/fleet", fleet="x").status == 303
    # The same straight in the database: functions give nothing to who is none.
    for account in ("miller", "", "root"):
        with as_page(site.env, account) as page:
            count = page.execute("SELECT count(*) FROM drover.accounts_administered()").fetchone()[0]
            assert (count > 0) == (account == "root")
            if account != "root":
                assert page.execute("SELECT drover.administer_account('miller', '{administrator}', true)").fetchone() == (False,)
                assert page.execute("SELECT drover.administer_fleet('x', 'x', NULL, '{}', '{}')").fetchone() == (False,)


def test_a_dealer_finds_an_owner(site):
    put_fleet(site, "north", name="North", machines="mtg-1", members="miller")
    dealer, owner, stranger = (site.people[who] for who in ("deal", "miller", "other"))
    letters = len(site.office.box.mails)
    # What is answered does not say whether there is such a machine.
    said = []
    for vehicle in ("mtg-1", "mtg-none"):
        body = dealer.post("/dealers/ask", form=dealer.mark("/dealers"), vehicle=vehicle).body
        said.append("".join(re.sub(r"<tr>.*?</tr>", "", body, flags=re.S).split()))
    assert "itsownerisasked" in said[0] and said[0] == said[1]
    letter = site.mail(letters)
    assert letter["To"] == "miller@example.org" and "/dealers" in letter.get_content() and "mtg-1" in letter["Subject"]
    # Asked again: no other mail.
    dealer.post("/dealers/ask", form=dealer.mark("/dealers"), vehicle="mtg-1")
    page = owner.get("/dealers").body
    assert "waits for the owner" in page and "mtg-none" not in page
    number = re.search(r'name="dealership" value="(\d+)"', page).group(1)
    assert number not in re.findall(r'name="dealership" value="(\d+)"', stranger.get("/dealers").body)
    for visitor in (dealer, stranger):
        assert visitor.post("/dealers/confirm", form=visitor.mark("/dealers"), dealership=number).status == 409
    answer = owner.post("/dealers/confirm", form=owner.mark("/dealers"), dealership=number, past="1")
    assert answer.status == 200 and "with its past" in answer.body
    assert owner.post("/dealers/confirm", form=owner.mark("/dealers"), dealership=number).status == 409
    def sees(account):
        with as_page(site.env, account) as page:
            return [vehicle for vehicle, in page.execute("SELECT drover.known('machine')").fetchall()]
    assert sees("deal") == ["mtg-1"] and sees("other") == []
    assert stranger.post("/dealers/end", form=stranger.mark("/dealers"), dealership=number).status == 409
    assert owner.post("/dealers/end", form=owner.mark("/dealers"), dealership=number).status == 200
    assert sees("deal") == []
    assert dealer.post("/dealers/end", form=dealer.mark("/dealers"), dealership=number).status == 409
    # Nor is it mailed again and again by who takes the question back.
    for _ in range(3):
        assert dealer.post("/dealers/ask", form=dealer.mark("/dealers"), vehicle="mtg-1").status == 200
        [[number]] = site.query("SELECT dealership_id::text FROM drover.dealership WHERE dealer = 'deal' AND vehicle = 'mtg-1' AND ended_at IS NULL")
        assert dealer.post("/dealers/end", form=dealer.mark("/dealers"), dealership=number).status == 200
    # Not all serial numbers that there are.
    query(site.env, "INSERT INTO drover.dealership (vehicle, dealer) SELECT 's-' || n, 'other' FROM generate_series(1, 50) n")
    assert stranger.post("/dealers/ask", form=stranger.mark("/dealers"), vehicle="mtg-1").status == 429
    until(lambda: site.query("SELECT count(*) FROM drover.mail") == [(0,)])
    assert len(site.office.box.mails) == letters + 1, "one letter for one question"


def test_a_driver_keeps_settings_in_the_page(site):
    joe = site.people["joe"]
    assert joe.log_in("joe@example.org").status == 303
    worker = site.world.worker(site.env, "settings")
    answer = joe.post("/settings", form=joe.mark("/settings"), speed_limit_kmh="88.5", alerts="on", fuel_currency="EUR")
    assert answer.status == 303 and answer.headers["Location"] == "/settings?said=taken", answer.body
    shown = lambda: re.search(r'name="speed_limit_kmh" type="text" value="([^"]*)"', joe.get("/settings").body).group(1)
    until(lambda: shown() == "88.5")
    [[text]] = site.query("SELECT DISTINCT settings FROM drover.account_settings WHERE account = 'joe'")
    assert text == '{"alerts":true,"speed_limit_kmh":88.5,"fuel_currency":"EUR"}'
    for fields, why in [({"speed_limit_kmh": "fast"}, "must be a number from"), ({"fuel_currency": "<b>"}, "three capital letters"), ({"alerts": "maybe"}, "on or off"),
                        ({"speed_limit_kmh": "80", "speed_limit_mph": "50"}, "say the same")]:
        answer = joe.post("/settings", form=joe.mark("/settings"), **fields)
        assert answer.status == 422 and why in answer.body and "Nothing was changed" in answer.body, answer.body
        assert "<b>" not in answer.body.replace("<b>joe</b>", "")
    # Others do not see them.
    assert '"88.5"' not in site.people["miller"].get("/settings").body
    # An empty form takes all standards.
    assert joe.post("/settings", form=joe.mark("/settings")).status == 303
    until(lambda: shown() == "")
    worker.stop()


@pytest.mark.parametrize("path", ["administration", "dealers", "settings"])
def test_the_pages_in_a_browser(site, page, screenshots, path):
    put_fleet(site, "north", name="North farm", machines="mtg-1\nmtg-2", members="miller")
    lend_cookie(site.people["root"], page, site.address)
    page.goto(site.address + path)
    if path == "administration":
        page.get_by_text("North farm (north): 2 vehicles").click()
        page.get_by_text("miller: miller@example.org").click()
        page.get_by_role("button", name="Save miller").wait_for()
    looked_at(page, screenshots, path)


def test_buttons_stand_apart_on_a_phone(site, page):
    """Confirm and End of a dealer stuck together."""
    query(site.env, "INSERT INTO drover.fleet (fleet, name) VALUES ('apart', 'Apart') ON CONFLICT DO NOTHING")
    query(site.env, "INSERT INTO drover.fleet_vehicle VALUES ('apart', 'machine', 'mtg-apart') ON CONFLICT DO NOTHING")
    query(site.env, "INSERT INTO drover.fleet_member VALUES ('apart', 'miller') ON CONFLICT DO NOTHING")
    query(site.env, "INSERT INTO drover.dealership (vehicle, dealer) VALUES ('mtg-apart', 'deal')")
    page.set_viewport_size({"width": 390, "height": 844})
    lend_cookie(site.people["miller"], page, site.address)
    page.goto(site.address + "dealers")
    confirm, end = (page.get_by_role("row", name="mtg-apart").get_by_role("button", name=name).bounding_box() for name in ("Confirm", "End"))
    assert end["y"] - (confirm["y"] + confirm["height"]) >= 4, (confirm, end)
