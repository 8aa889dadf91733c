"""Administrators keep accounts and fleets, dealers and owners find each other: in the pages, and what others may try there."""
import re

import pytest
from harness import looked_at, until
from people import PASSWORD, Visitor, lend_cookie, logged_in
from playwright.sync_api import expect
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


def put_fleet(site, fleet, *vehicles, members=(), **fields):
    """Makes the fleet where it is not there, and adds these to it."""
    root = site.people["root"]
    form, page = root.mark("/administration"), f"/administration/fleets/{fleet}"
    new = {} if site.query(f"SELECT 1 FROM drover.fleet WHERE fleet = '{fleet}'") else {"new": "1"}
    answer = root.post("/administration/fleet", form=form, fleet=fleet, **new, **fields)
    if vehicles:
        answer = root.post_items(page + "/vehicles", [("form", form), ("do", "add"), *[("vehicle", vehicle) for vehicle in vehicles]])
    for account in members:
        answer = root.post(page + "/people", form=form, join=account)
    return answer


def test_fleets_are_kept_in_the_page(site):
    root = site.people["root"]
    assert put_fleet(site, "all", name="All of it").status == 200
    answer = put_fleet(site, "north", "machine mtg-1", "machine mtg-2", "car car-7", "machine mtg-2", name="North <b>", part_of="all", members=["miller"])
    assert answer.status == 200 and "<h1>North &lt;b&gt;</h1>" in answer.body and "miller added." in answer.body
    assert "<b>North &lt;b&gt;</b><small>part of All of it, 3 vehicles, 1 person</small>" in root.get("/administration").body
    vehicles = "SELECT kind || ' ' || vehicle FROM drover.fleet_vehicle WHERE fleet = 'north' ORDER BY 1"
    people = "SELECT account FROM drover.fleet_member WHERE fleet = 'north' ORDER BY 1"
    assert site.query(vehicles) == [("car car-7",), ("machine mtg-1",), ("machine mtg-2",)]
    form = root.mark("/administration")
    def send(part, *fields):
        return root.post_items(f"/administration/fleets/north/{part}", [("form", form), *fields])
    assert send("vehicles", ("do", "take"), ("vehicle", "machine mtg-2")).status == 200
    assert site.query(vehicles) == [("car car-7",), ("machine mtg-1",)]
    # In one step from one fleet to another, and back from wherever it is.
    answer = send("vehicles", ("do", "move"), ("to", "all"), ("vehicle", "car car-7"))
    assert answer.status == 200 and "1 vehicle moved to All of it." in answer.body
    assert site.query("SELECT fleet FROM drover.fleet_vehicle WHERE vehicle = 'car-7'") == [("all",)]
    # From an old page: it has gone on already.
    assert send("vehicles", ("do", "move"), ("to", "all"), ("vehicle", "car car-7")).status == 422
    assert send("vehicles", ("do", "bring"), ("vehicle", "car car-7")).status == 200
    assert site.query("SELECT fleet FROM drover.fleet_vehicle WHERE vehicle = 'car-7'") == [("north",)]
    assert send("vehicles", ("do", "take"), ("vehicle", "car car-7")).status == 200
    for part, fields in [("people", [("join", "nobody-there")]), ("vehicles", [("do", "add"), ("vehicle", "machine a/b")]), ("vehicles", [("vehicle", "machine mtg-3")]),
                         ("vehicles", [("do", "move"), ("to", "nowhere"), ("vehicle", "machine mtg-1")]), ("vehicles", [("do", "move"), ("to", "north"), ("vehicle", "machine mtg-1")])]:
        answer = send(part, *fields)
        assert answer.status == 422 and "Nothing was changed" in answer.body, fields
    for fields in ({"part_of": "nowhere"}, {"part_of": "north", "fleet": "deep", "new": "1"}, {"fleet": "north", "new": "1"}, {"name": "x" * 201}):
        answer = root.post("/administration/fleet", form=form, **{"fleet": "north", **fields})
        assert answer.status == 422 and "Nothing was changed" in answer.body, fields
    assert (site.query(vehicles), site.query(people)) == ([("machine mtg-1",)], [("miller",)])
    # Its name changes, and nothing else.
    assert put_fleet(site, "north", name="North", part_of="all").status == 200
    assert (site.query(vehicles), site.query(people)) == ([("machine mtg-1",)], [("miller",)])
    assert root.get("/administration/fleets/none-such").status == 404


def test_vehicles_are_chosen_by_name(site):
    put_fleet(site, "named", name="Named")
    query(site.env, "INSERT INTO drover.registration (kind, vehicle, topic_partition, registered_at, record_id, name) VALUES ('car', 'v-8', 0, now(), 'v-8', 'Old <Faithful>')")
    root = site.people["root"]
    for asked in ("?find=faith", "?add=1"):
        body = root.get("/administration/fleets/named" + asked).body
        assert 'value="car v-8"' in body and "<b>Old &lt;Faithful&gt;</b>" in body, asked
    put_fleet(site, "named", "car v-8")
    assert 'value="car v-8"' not in root.get("/administration/fleets/named?add=1").body
    assert "in Named" in root.get("/administration/fleets/named?find=faith").body
    # One that is not heard of yet, by its id.
    body = root.get("/administration/fleets/named?find=later-1").body
    assert 'value="machine later-1"' in body and "Add it as a machine" in body
    query(site.env, "DELETE FROM drover.fleet WHERE fleet = 'named'")
    query(site.env, "DELETE FROM drover.registration WHERE vehicle = 'v-8'")


def test_no_new_fleet_takes_the_place_of_one_beyond_the_list(site):
    """The list ends at a thousand; a new one of the same id emptied a fleet behind it."""
    query(site.env, "INSERT INTO drover.fleet (fleet, name) SELECT 'a-' || n, 'A' FROM generate_series(1, 1000) AS n")
    query(site.env, "INSERT INTO drover.fleet (fleet, name) VALUES ('zz', 'Zz')")
    query(site.env, "INSERT INTO drover.fleet_member VALUES ('zz', 'miller')")
    root = site.people["root"]
    answer = root.post("/administration/fleet", form=root.mark("/administration"), fleet="zz", new="1", name="Mine")
    assert answer.status == 422 and "There is a fleet with this id" in answer.body
    assert site.query("SELECT f.name, m.account FROM drover.fleet f JOIN drover.fleet_member m USING (fleet) WHERE fleet = 'zz'") == [("Zz", "miller")]
    query(site.env, "DELETE FROM drover.fleet WHERE fleet = 'zz' OR fleet LIKE 'a-%'")


def test_an_old_page_takes_nothing_back(site):
    """Two administrators had one page open: who saved last put the other's changes back."""
    put_fleet(site, "shared", "machine mtg-5", name="Shared")
    root = site.people["root"]
    form = root.mark("/administration")
    query(site.env, "INSERT INTO drover.fleet_member VALUES ('shared', 'mate')")
    query(site.env, "UPDATE drover.account SET roles = '{fleet_manager,analyst}' WHERE account = 'mate'")
    assert root.post("/administration/people/miller/fleets", form=form, join="shared").status == 200
    answer = root.post_items("/administration/account", [("form", form), ("account", "mate"), ("shown", "fleet_manager"), ("role", "fleet_manager"), ("role", "ranger")])
    assert answer.status == 200, answer.body
    [(roles,)] = site.query("SELECT roles FROM drover.account WHERE account = 'mate'")
    assert set(roles) == {"fleet_manager", "analyst", "ranger"}
    assert site.query("SELECT account FROM drover.fleet_member WHERE fleet = 'shared' ORDER BY 1") == [("mate",), ("miller",)]
    # Nor does it let somebody in again whom another has stopped.
    query(site.env, "UPDATE drover.account SET disabled_at = now() WHERE account = 'other'")
    root.post_items("/administration/account", [("form", form), ("account", "other"), ("shown", "dealer"), ("role", "dealer")])
    assert site.query("SELECT disabled_at IS NULL FROM drover.account WHERE account = 'other'") == [(False,)]
    query(site.env, "UPDATE drover.account SET disabled_at = NULL WHERE account = 'other'")
    site.people["other"] = logged_in(site.port, "other")  # Being stopped ended the session.
    query(site.env, "UPDATE drover.account SET roles = '{fleet_manager}' WHERE account = 'mate'")
    query(site.env, "DELETE FROM drover.fleet WHERE fleet = 'shared'")


def test_a_look_at_one_person_is_in_the_audit_log(site):
    root = site.people["root"]
    page = root.get("/administration/people/miller")
    assert page.status == 200 and "miller@example.org" in page.body and "Save roles" in page.body
    assert "<b>root</b> looked at the page of <b>miller</b>." in root.get("/audit?action=person_seen&account=miller").body
    assert root.get("/administration/people/nobody-there").status == 404


def test_the_fleet_that_ends_logins_says_whose(site):
    query(site.env, "INSERT INTO drover.account_login VALUES ('drover_account_mate', 'mate')")
    saved = put_fleet(site, "south", name="South")
    assert saved.status == 200 and "psql log-ins ended for mate: with more than one fleet" in saved.body
    assert "psql log-ins ended" not in put_fleet(site, "south", name="South").body
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
    out = change("joe", "driver", enabled="0")
    assert out.status == 200 and "joe saved: Driver. May not log in." in out.body
    assert joe.get("/account").status == 303, "logged out"
    assert change("joe", "driver").status == 200
    # Somebody stays who can give roles.
    for answer in (change("root", "farmer"), change("root", "administrator", enabled="0"), change("nobody-there", "farmer")):
        assert answer.status == 422 and "Nothing was changed" in answer.body


def test_an_account_without_a_mail_address_is_not_called_erased(site):
    """`drover up` makes its first administrator so."""
    site.world.drover.done("account", "add", "new-one", "--role", "farmer", env=site.env)
    page = site.people["root"].get("/administration").body
    assert '<b>new-one</b><small>No email yet</small>' in page and ">Not confirmed</span>" in page
    site.world.drover.done("account", "erase", "new-one", env=site.env)
    assert "<b>new-one</b><small>Erased</small>" in site.people["root"].get("/administration?q=new-one").body


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
                assert page.execute("SELECT drover.make_fleet('x', 'x', NULL)").fetchone() == (False,)
                assert page.execute("SELECT drover.change_fleet('north', 'x', NULL, '{}', '{}', %s, '{}')", [[account]]).fetchone() == (False,)


def test_a_colleague_is_invited_in_three_clicks(site, page, screenshots):
    put_fleet(site, "north", "machine mtg-1", name="North farm", members=["miller"])
    letters = len(site.office.box.mails)
    lend_cookie(site.people["root"], page, site.address)
    page.goto(site.address + "administration")
    page.get_by_role("link", name="Invite").click()
    page.get_by_label("Email", exact=True).fill("Ville.Oja@example.org")
    looked_at(page, screenshots, "invite", dark=True)
    page.get_by_role("radio", name="Driver Own trips and cars").click()
    page.get_by_label("Fleet", exact=True).select_option("north")
    with page.expect_navigation():
        page.get_by_role("button", name="Send invitation").click()
    expect(page.get_by_role("status").first).to_contain_text("Invitation sent to Ville.Oja@example.org.")
    assert query(site.env, "SELECT account, roles, confirmed_at FROM drover.account WHERE mail = 'Ville.Oja@example.org'") == [("ville.oja", ["driver"], None)]
    assert query(site.env, "SELECT fleet FROM drover.fleet_member WHERE account = 'ville.oja'") == [("north",)]
    letter = site.mail(letters)
    assert letter["To"] == "Ville.Oja@example.org" and "as driver" in letter.get_content()
    link = re.search(r"link=(\S+)", letter.get_content()).group(1)
    ville = Visitor(site.port)
    assert ville.post("/password", link=link, password=PASSWORD, again=PASSWORD).status == 200
    assert ville.log_in("ville.oja@example.org").status == 303 and '<span class="tag">Driver</span>' in ville.get("/account").body
    assert ville.post("/password", link=link, password=PASSWORD, again=PASSWORD).status == 410, "once"
    assert "added the account of <b>ville.oja</b>. Roles: Driver." in site.people["root"].get("/audit?action=account_added&account=ville.oja").body


def test_invitations_that_cannot_be_sent_say_why_beside_the_field(site):
    root, letters = site.people["root"], len(site.office.box.mails)
    def invite(**fields):
        return root.post("/administration/invite", form=root.mark("/administration"), **fields)
    for status, why, fields in [(422, "Not an email", {"mail": "nobody", "role": "driver"}), (422, "Choose what they will do", {"mail": "new@example.org"}),
                                (422, "Choose what they will do", {"mail": "new@example.org", "role": "emperor"}),
                                (409, "has an account already", {"mail": "MILLER@example.org", "role": "driver"}),
                                (409, "no longer exists", {"mail": "new@example.org", "role": "driver", "fleet": "none-such"})]:
        answer = invite(**fields)
        assert answer.status == status and why in answer.body and 'class="err"' in answer.body, (fields, answer.body)
        # What was typed is still there.
        assert f'value="{fields["mail"]}"' in answer.body
    # Another one of that name gets an id of their own, and nobody is written to for nothing.
    assert invite(mail="joe@other.example", role="driver").status == 200
    [(account,)] = query(site.env, "SELECT account FROM drover.account WHERE mail = 'joe@other.example'")
    assert re.fullmatch(r"joe-[0-9a-f]{6}", account)
    until(lambda: len(site.office.box.mails) == letters + 1)
    # Who is no administrator invites nobody, neither by page nor in the database.
    mate = site.people["mate"]
    assert mate.post("/administration/invite", form=mate.mark("/account"), mail="x@example.org", role="administrator").status == 403
    with as_page(site.env, "mate") as database:
        sql = "SELECT drover.administer_invitation('x', 'x@example.org', '{administrator}', '', sha256('x'), NULL, NULL, NULL)"
        assert database.execute(sql).fetchone() == ("refused",)


def test_without_mail_the_page_hands_over_the_whole_link(site):
    """It was a path, which nobody could send."""
    server, _, port = site.server_beside(0, "--set", "people.code_key_file=", "--set", "web.public_url=")
    try:
        root, origin = logged_in(port, "root"), f"http://127.0.0.1:{port}"
        fields = [("form", root.mark("/administration")), ("mail", "by.hand@example.org"), ("role", "driver")]
        answer = root.post_items("/administration/invite", fields, {"Origin": origin})
        assert answer.status == 200 and 'data-copy="handed-link"' in answer.body, answer.body
        link = re.search(r'id="handed-link"[^>]*value="([^"]+)"', answer.body).group(1)
        assert link.startswith(origin + "/password?link=")
        assert Visitor(port).get(link.removeprefix(origin)).status == 200
    finally:
        server.stop()


HELD = {  # By whom before they had an account, and what.
    "held-token": "INSERT INTO drover.token (token_id, account, scopes, digest, revoked_at) VALUES ('held', %s, '{read}', sha256('held'), now())",
    "held-car": "INSERT INTO drover.car_owner VALUES ('held', now(), %s, 'held')",
    "held-entry": "INSERT INTO drover.registration (kind, vehicle, topic_partition, registered_at, record_id, account) VALUES ('car', 'held', 0, now(), 'held', %s)",
    "held-assigned": "INSERT INTO drover.assignment VALUES ('held', now(), %s, 'held', 'root')",
    "held-drive": "INSERT INTO drover.driving VALUES ('held', now() - interval '1 hour', now(), %s, 'held')",
    "held-first": "INSERT INTO drover.first_writer (kind, vehicle, account) VALUES ('car', 'held', %s)",
    "held-limits": "INSERT INTO drover.account_settings (topic_partition, account, in_force_at, settings, record_id) VALUES (0, %s, now(), '{}', 'held')",
}


@pytest.mark.parametrize("name", [*HELD, "installation"])
def test_nobody_is_invited_into_what_is_somebodys(site, name):
    """A program's data, or somebody's who drove before they had an account, would be the new one's."""
    root = site.people["root"]
    if name in HELD:
        query(site.env, HELD[name], name)
    answer = root.post("/administration/invite", form=root.mark("/administration"), mail=f"{name}@example.org", role="driver")
    assert answer.status == 200, answer.body
    [(account,)] = query(site.env, "SELECT account FROM drover.account WHERE mail = %s", f"{name}@example.org")
    assert re.fullmatch(name + "-[0-9a-f]{6}", account)


def test_an_invitation_that_nobody_answers_is_in_the_way_of_no_registration(site):
    put_fleet(site, "north", "machine mtg-1", name="North farm", members=["miller"])
    root, mails = site.people["root"], ["a-team@example.org", "a@example.org", "a@other.example"]
    for mail in mails:
        answer = root.post("/administration/invite", form=root.mark("/administration"), mail=mail, role="driver", fleet="north")
        assert answer.status == 200, answer.body
    # Registered accounts begin with `a-`: no invited one does, nor with more signs behind its name.
    invited = [query(site.env, "SELECT account FROM drover.account WHERE mail = %s", mail)[0][0] for mail in mails]
    assert invited[:2] == ["person-team", "a"] and re.fullmatch("person-[0-9a-f]{6}", invited[2]), invited
    # Also one of that name, as programs before this one made it, and what was registered and never confirmed.
    for account, roles in [("a-roles", "{driver}"), ("a-fleet", "{}"), ("a-left", "{}")]:
        query(site.env, "INSERT INTO drover.account (account, mail, roles, made_at) VALUES (%s, %s, %s, now() - interval '8 days')", account, f"{account}@example.org", roles)
    query(site.env, "INSERT INTO drover.fleet_member VALUES ('north', 'a-fleet')")
    answer = Visitor(site.port).post("/register", mail="newcomer@example.org", first_name="New", last_name="Comer", password=PASSWORD, again=PASSWORD)
    assert answer.status == 200 and "Check your mail" in answer.body, answer.body
    until(lambda: query(site.env, "SELECT 1 FROM drover.account WHERE mail = 'newcomer@example.org'"))
    assert query(site.env, "SELECT account FROM drover.account WHERE account IN ('a-roles', 'a-fleet', 'a-left') ORDER BY 1") == [("a-fleet",), ("a-roles",)]


def test_a_dealer_finds_an_owner(site):
    put_fleet(site, "north", "machine mtg-1", name="North", members=["miller"])
    dealer, owner, stranger = (site.people[who] for who in ("deal", "miller", "other"))
    letters = len(site.office.box.mails)
    # What is answered does not say whether there is such a machine.
    said = []
    for vehicle in ("mtg-1", "mtg-none"):
        body = dealer.post("/dealers/ask", form=dealer.mark("/dealers"), vehicle=vehicle).body
        said.append("".join(re.sub(r"<tr>.*?</tr>", "", body, flags=re.S).split()))
    assert "weaskeditsowner" in said[0] and said[0] == said[1]
    letter = site.mail(letters)
    assert letter["To"] == "miller@example.org" and "/dealers" in letter.get_content() and "mtg-1" in letter["Subject"]
    # Asked again: no other mail.
    dealer.post("/dealers/ask", form=dealer.mark("/dealers"), vehicle="mtg-1")
    page = owner.get("/dealers").body
    assert "Waits for the owner" in page and "mtg-none" not in page
    number = re.search(r'name="dealership" value="(\d+)"', page).group(1)
    assert number not in re.findall(r'name="dealership" value="(\d+)"', stranger.get("/dealers").body)
    for visitor in (dealer, stranger):
        assert visitor.post("/dealers/confirm", form=visitor.mark(), dealership=number).status == 409
    answer = owner.post("/dealers/confirm", form=owner.mark("/dealers"), dealership=number, past="1")
    assert answer.status == 200 and "sees its past" in answer.body
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
    answer = joe.post("/settings", form=joe.mark("/settings"), speed_limit_kmh="88.5", alerts="on", mail="on", fuel_currency="EUR")
    assert answer.status == 303 and answer.headers["Location"] == "/settings?said=taken&changed=mail,speed_limit_kmh,fuel_currency", answer.body
    assert "Saved: Alerts: By email, too; Speed: Max speed; Fuel cost: Currency." in joe.get(answer.headers["Location"]).body
    shown = lambda: re.search(r'name="speed_limit_kmh" type="text" value="([^"]*)"', joe.get("/settings").body).group(1)
    until(lambda: shown() == "88.5")
    [[text]] = site.query("SELECT DISTINCT settings FROM drover.account_settings WHERE account = 'joe'")
    # A switch that stands as it does anyway follows the default.
    assert text == '{"mail":true,"speed_limit_kmh":88.5,"fuel_currency":"EUR"}'
    for fields, why in [({"speed_limit_kmh": "fast"}, "A number from 1 to 400"), ({"fuel_currency": "<b>"}, "Three letters, like EUR"), ({"alerts": "maybe"}, "On or off"),
                        ({"speed_limit_kmh": "80", "speed_limit_mph": "50"}, "Say it in one unit only")]:
        answer = joe.post("/settings", form=joe.mark("/settings"), **fields)
        assert answer.status == 422 and f"{why}. Not saved." in answer.body, answer.body
        assert "<b>" not in answer.body.replace("<b>joe</b>", "")
    # Who has machines by their role finds these below, if they have a car as well.
    assert "If you drive or own a car" in site.people["miller"].get("/settings").body and "If you drive or own a car" not in joe.get("/settings").body
    # Others do not see them.
    assert '"88.5"' not in site.people["miller"].get("/settings").body
    # An empty form takes all standards.
    assert joe.post("/settings", form=joe.mark("/settings")).status == 303
    until(lambda: shown() == "")
    worker.stop()


@pytest.mark.parametrize("path", ["administration", "dealers", "settings"])
def test_the_pages_in_a_browser(site, page, screenshots, path):
    put_fleet(site, "north", "machine mtg-1", "machine mtg-2", name="North farm", members=["miller"])
    lend_cookie(site.people["root"], page, site.address)
    page.goto(site.address + path)
    if path == "administration":
        page.get_by_role("link", name="miller@example.org").click()
        page.get_by_role("button", name="Save roles").wait_for()
        looked_at(page, screenshots, "administration-person")
        page.get_by_role("link", name="North farm").click()
        page.get_by_role("button", name="Remove from this fleet").wait_for()
        looked_at(page, screenshots, "administration-fleet")
        page.goto(site.address + path)
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
    apart = max(end["y"] - (confirm["y"] + confirm["height"]), end["x"] - (confirm["x"] + confirm["width"]))
    assert apart >= 4, (confirm, end)
