"""A dealer's workspace: a class and tags that are nobody else's, stickers whose codes lead to the machine, and asking a box in place."""
import base64
import csv
import functools
import http.client
import json
import random
import re
import struct
import subprocess
import zlib
from urllib.parse import unquote, urlsplit

import psycopg
import pytest
from harness import HANG_S, ROOT, lent, looked_at
from people import PASSWORD, enter, follow, logged_in
from playwright.sync_api import expect
from test_accounts import Site
from test_second_factor import READER
from test_sight import login
from test_surveys_api import png
from test_uploads import give_token
from world import Asked, as_page, connect

MARKS, STICKERS = "/vehicles/marks", "/vehicles/stickers"
PEOPLE = {"dora": ["dealer"], "dan": ["dealer"], "fay": ["farmer"], "mila": ["fleet_manager"], "other": ["farmer"], "devi": ["developer"], "joe": ["driver"],
          "annika": ["analyst"], "disp": ["dispatcher"], "olga": ["operator"], "root": ["administrator"]}
# Words that stand nowhere else: whoever can find them sees what is Dora's.
CLASS, TAG = "Zeta service", "zeta-warranty"
COMBINE, TRACTOR, SPRAYER = "8R-0001", "S690-0002", "R4038-0003"


@pytest.fixture(scope="module")
def yard(world, tmp_path_factory):
    yield from lent(Yard(world, tmp_path_factory.mktemp("dealers")))


class Yard(Asked):
    """Three machines and a car of one farm. Dora is the dealer of two machines, Dan of one of these two; Other has a farm of his own."""

    def __init__(self, world, folder):
        self.world, self.env = world, world.database()
        self.site = Site(world, self.env, None, folder, has_mail=False)
        self.address, self.port = f"http://127.0.0.1:{self.site.port}", self.site.port
        for account, roles in PEOPLE.items():
            self.site.with_account(account, f"{account}@example.org", PASSWORD, *roles)
        with connect(self.env) as connection:
            for vehicle, name, model in [(COMBINE, "Old Faithful", "8R Tractor"), (TRACTOR, "Müller's <combine>", "S690 Combine"), (SPRAYER, None, "R4038 Sprayer")]:
                connection.execute("INSERT INTO drover.registration (kind, vehicle, topic_partition, registered_at, record_id, name, model, tags) VALUES "
                                   "('machine', %s, 0, now(), %s, %s, %s, '{north}')", [vehicle, "r-" + vehicle, name, model])
            connection.execute("INSERT INTO drover.registration (kind, vehicle, topic_partition, registered_at, record_id) VALUES ('car', 'van-1', 0, now(), 'r-van')")
            connection.execute("INSERT INTO drover.fleet (fleet, name) VALUES ('farm', 'Farm'), ('away', 'Away')")
            connection.execute("INSERT INTO drover.fleet_vehicle SELECT 'farm', kind, vehicle FROM drover.registration")
            connection.execute("INSERT INTO drover.fleet_member VALUES ('farm', 'fay'), ('farm', 'mila'), ('farm', 'annika'), ('farm', 'disp'), ('farm', 'joe'), ('away', 'other')")
            for vehicle, dealer in [(COMBINE, "dora"), (TRACTOR, "dora"), (COMBINE, "dan")]:
                connection.execute("INSERT INTO drover.dealership (vehicle, dealer, confirmed_at, confirmed_by) VALUES (%s, %s, now(), 'fay')", [vehicle, dealer])

    def close(self):
        self.site.close()

    @functools.cache
    def visitor(self, who):
        return logged_in(self.port, who)

    def mark(self, who, vehicles, **fields):
        visitor = self.visitor(who)
        items = [("form", visitor.mark()), *(("vehicle", vehicle) for vehicle in vehicles), *fields.items()]
        return visitor.post_items(MARKS, items)

    def marked(self):
        return {(account, vehicle): (kind, tags) for account, vehicle, kind, tags in self.query("SELECT account, vehicle, class, tags FROM drover.dealer_mark")}


@pytest.fixture(autouse=True)
def clean(yard):
    yield
    with connect(yard.env) as connection:
        connection.execute("DELETE FROM drover.dealer_mark")
        connection.execute("UPDATE drover.account SET roles = '{dealer}', disabled_at = NULL WHERE account IN ('dora', 'dan')")
        connection.execute("DELETE FROM drover.dealership WHERE ended_at IS NOT NULL")
        for vehicle, dealer in [(COMBINE, "dora"), (TRACTOR, "dora"), (COMBINE, "dan")]:
            connection.execute("INSERT INTO drover.dealership (vehicle, dealer, confirmed_at, confirmed_by) VALUES (%s, %s, now(), 'fay') ON CONFLICT DO NOTHING", [vehicle, dealer])


def test_a_dealer_sorts_machines_and_finds_them_again(yard):
    dora = yard.visitor("dora")
    said = yard.mark("dora", [COMBINE], do="set", **{"class": CLASS}, tags=f"{TAG}, red , {TAG}", next=f"/vehicles/{COMBINE}?kind=machine&tab=details")
    assert said.headers["Location"] == f"/vehicles/{COMBINE}?kind=machine&tab=details&said=marked"
    assert yard.marked() == {("dora", COMBINE): (CLASS, [TAG, "red"])}
    page = dora.get(said.headers["Location"]).body
    assert "Only you see it" in page and f'value="{CLASS}"' in page and f'value="{TAG}, red"' in page and "north" in page
    # Beside the owner's tags in the list, found by both, by search, sorted by class.
    assert TAG in dora.get("/vehicles").body and "north" in dora.get("/vehicles").body
    for found in (f"class={CLASS.replace(' ', '+')}", f"own={TAG}", "search=zeta-warr", "search=ZETA+SERV"):
        body = dora.get(f"/vehicles?{found}").body
        assert COMBINE in body and TRACTOR not in body, found
    assert TRACTOR not in dora.get(f"/search?q={TAG}").body and COMBINE in dora.get(f"/search?q={TAG}").body
    yard.mark("dora", [TRACTOR], do="set", **{"class": "Zz"}, tags="")
    ids = [re.findall(r'href="/vehicles/([^?"]+)\?kind=machine"', dora.get(f"/vehicles?sort={order}").body) for order in ("class", "name")]
    assert ids == [[COMBINE, TRACTOR], [TRACTOR, COMBINE]] and yard.marked()[("dora", TRACTOR)] == ("Zz", [])
    rows = csv.DictReader(dora.get("/vehicles?format=csv").body.splitlines())
    assert {row["vehicle"]: (row["own_class"], row["own_tags"]) for row in rows} == {COMBINE: (CLASS, f"{TAG} red"), TRACTOR: ("Zz", "")}
    # Taken away again, nothing is left.
    assert yard.mark("dora", [COMBINE], do="set", tags="").status == 303
    assert ("dora", COMBINE) not in yard.marked()


def test_several_at_once(yard):
    yard.mark("dora", [COMBINE], do="set", **{"class": "A"}, tags="one, two")
    assert yard.mark("dora", [COMBINE, TRACTOR], do="add", tags="two, three", less="one", next="/vehicles?own=two").headers["Location"] == "/vehicles?own=two&said=marked"
    # An empty class keeps what they have.
    assert yard.marked() == {("dora", COMBINE): ("A", ["two", "three"]), ("dora", TRACTOR): (None, ["two", "three"])}
    yard.mark("dora", [COMBINE, TRACTOR], do="add", **{"class": "B"})
    assert {row[0] for row in yard.marked().values()} == {"B"}
    yard.mark("dora", [COMBINE, TRACTOR], do="add", **{"no-class": "1"}, less="two, three")
    assert yard.marked() == {}
    dora = yard.visitor("dora")
    assert dora.get(MARKS).status == dora.post(MARKS, form=dora.mark(), do="add", tags="x").status == 422
    page = dora.get(f"{MARKS}?vehicle={COMBINE}&vehicle={TRACTOR}").body
    assert "<b>2 machines</b>" in page and "Müller&#39;s &lt;combine&gt;" in page


def test_words_are_bounded_and_all_or_none_is_saved(yard):
    yard.mark("dora", [COMBINE], do="set", tags=",".join(f"t{n}" for n in range(20)))
    for fields, why in [({"class": "x" * 65}, "longer than 64 bytes"), ({"tags": "ü" * 33}, "longer than 64 bytes"),
                        ({"tags": ",".join(f"u{n}" for n in range(21))}, "at most 20 tags"), ({"tags": "u0", "do": "add"}, "at most 20 tags"),
                        ({"class": "x", "no-class": "1", "do": "add"}, "Either write a class")]:
        answer = yard.mark("dora", [COMBINE, TRACTOR], **{"do": "set", **fields})
        assert answer.status == 422 and why in answer.body, fields
    # No form of a browser has control characters.
    assert yard.mark("dora", [COMBINE], do="set", **{"class": "a\x07b"}).status == 415
    assert list(yard.marked()) == [("dora", COMBINE)] and len(yard.marked()[("dora", COMBINE)][1]) == 20
    assert yard.mark("dora", [f"m-{n}" for n in range(501)], do="set", tags="x").status == 415
    with as_page(yard.env, "dora") as connection:
        def say(vehicles, tags):
            return connection.execute("SELECT drover.mark_machines(%s, true, '', true, %s, '{}')", [vehicles, tags]).fetchone()[0]
        assert say([COMBINE], ["x" * 65]) == say([COMBINE], [""]) == say([TRACTOR], [f"u{n}" for n in range(21)]) == "tags"
        assert say([], ["x"]) == say([COMBINE, "m-9"], ["x"]) == say([f"m-{n}" for n in range(501)], ["x"]) == "not yours"
    with connect(yard.env) as owner:
        owner.execute("INSERT INTO drover.dealer_mark (account, vehicle, class) SELECT 'dora', 'x-' || n, 'c' FROM generate_series(1, 4999) n")
    full = yard.mark("dora", [COMBINE, TRACTOR], do="set", tags="x")
    assert full.status == 422 and "5,000 machines" in full.body


def test_nobody_else_sees_searches_or_counts_them(yard, drover):
    yard.mark("dora", [COMBINE, TRACTOR], do="add", **{"class": CLASS}, tags=TAG)
    words = re.compile("zeta", re.I)
    for who in PEOPLE:
        if who == "dora":
            continue
        visitor = yard.visitor(who)
        for path in ("/vehicles", f"/vehicles/{COMBINE}?kind=machine", f"/vehicles/{COMBINE}?kind=machine&tab=details", "/vehicles?format=csv", "/map", "/home", "/dealers"):
            assert not words.search(visitor.get(path).body), (who, path)
        # What is asked for comes back in the page's field; a machine does not.
        for path in (f"/vehicles?search={TAG}", f"/vehicles?own={TAG}", f"/vehicles?class={CLASS.replace(' ', '+')}", f"/vehicles?tag={TAG}", f"/map?group={TAG}"):
            assert COMBINE not in visitor.get(path).body, (who, path)
        assert json.loads(visitor.get(f"/search/results?q={TAG}").body)["said"], who
        assert visitor.get(f"{STICKERS}?own={TAG}").status in (403, 404), who
        with as_page(yard.env, who) as connection:
            assert connection.execute("SELECT count(*) FROM drover.dealer_mark").fetchone() == (0,), who
    # Where several customers' rows are, only who runs the installation has a login of their own.
    with psycopg.connect(login(yard.env, "olga", drover)) as connection:
        connection.execute("SELECT set_config('drover.account', 'dora', false)")
        assert connection.execute("SELECT count(*) FROM drover.dealer_mark").fetchone() == (0,)
    # Programs that read all neither, and another dealer's filter offers his own words only.
    with connect(yard.env) as connection:
        connection.execute("SET ROLE drover_reader")
        assert connection.execute("SELECT count(*) FROM drover.dealer_mark").fetchone() == (0,)
    yard.mark("dan", [COMBINE], do="set", **{"class": "Dan's"}, tags="dan")
    body = yard.visitor("dan").get("/vehicles").body
    assert "Dan&#39;s" in body and not words.search(body)
    assert "Dan&#39;s" not in yard.visitor("dora").get("/vehicles").body
    # Nor does the audit log hold them, nor any topic.
    assert not words.search(repr(yard.query("SELECT * FROM drover.audit_entry")))
    assert yard.query("SELECT 1 FROM drover.vehicle_change") == []


def test_nobody_else_writes_them(yard):
    yard.mark("dora", [COMBINE], do="set", tags=TAG)
    before = yard.marked()
    for who in set(PEOPLE) - {"dora", "dan"}:
        assert yard.mark(who, [COMBINE], do="set", tags="x").status == 403, who
        assert yard.visitor(who).get(f"{MARKS}?vehicle={COMBINE}").status == 403, who
        with as_page(yard.env, who) as connection:
            assert connection.execute("SELECT drover.mark_machines(%s, true, '', false, '{x}', '{}')", [[COMBINE]]).fetchone() == ("not yours",), who
    # A dealer of another machine, of none, and one whose question is still open.
    assert yard.mark("dan", [TRACTOR], do="set", tags="x").status == yard.mark("dan", [COMBINE, TRACTOR], do="add", tags="x").status == 404
    assert yard.mark("dora", [SPRAYER], do="set", tags="x").status == yard.visitor("dora").get(f"{MARKS}?vehicle={SPRAYER}").status == 404
    with connect(yard.env) as owner:
        owner.execute("INSERT INTO drover.dealership (vehicle, dealer) VALUES (%s, 'dan')", [SPRAYER])
    assert yard.mark("dan", [SPRAYER], do="set", tags="x").status == 404
    with connect(yard.env) as owner:
        owner.execute("DELETE FROM drover.dealership WHERE vehicle = %s", [SPRAYER])
    assert yard.marked() == before
    # Only by the function, whoever it is; and a form of another site, or of another session, is none.
    for statement in ("INSERT INTO drover.dealer_mark (account, vehicle, class) VALUES ('dora', 'x', 'y')", "UPDATE drover.dealer_mark SET class = 'y'", "DELETE FROM drover.dealer_mark"):
        with as_page(yard.env, "dora") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)
    dora = yard.visitor("dora")
    assert dora.post(MARKS, form="0" * 64, vehicle=COMBINE, do="set", tags="x").status == 403
    assert dora.post(MARKS, {"Sec-Fetch-Site": "cross-site"}, form=dora.mark(), vehicle=COMBINE, do="set", tags="x").status == 403
    assert yard.marked() == before


def test_a_dealer_sees_whose_machines_they_are(yard):
    def owners(who):
        with as_page(yard.env, who) as connection:
            return set(connection.execute("SELECT vehicle, owner FROM drover.owners_of_dealt()").fetchall())

    def rows(path):
        """The texts of the table's rows, its groups among them."""
        body = re.search(r"<tbody>(.*?)</tbody>", yard.visitor("dora").get(path).body, re.S).group(1)
        return [re.sub(r"<[^>]+>", " ", row) for row in re.findall(r"<tr.*?</tr>", body, re.S)]
    try:
        with connect(yard.env) as owner:
            # Another's machine, a question that is open, and one that is over.
            owner.execute("UPDATE drover.fleet_vehicle SET fleet = 'away' WHERE vehicle = %s", [SPRAYER])
            owner.execute("INSERT INTO drover.dealership (vehicle, dealer, confirmed_at, confirmed_by) VALUES (%s, 'dora', now(), 'other')", [SPRAYER])
            owner.execute("INSERT INTO drover.dealership (vehicle, dealer) VALUES (%s, 'dan')", [SPRAYER])
            owner.execute("INSERT INTO drover.dealership (vehicle, dealer, confirmed_at, confirmed_by, ended_at, ended_by) VALUES (%s, 'dan', now(), 'fay', now(), 'fay')", [TRACTOR])
            owner.execute("UPDATE drover.account SET first_name = 'Fay', last_name = 'Field' WHERE account = 'fay'")
        both = {"fay", "mila"}
        assert owners("dora") == {*((machine, who) for machine in (COMBINE, TRACTOR) for who in both), (SPRAYER, "other")}
        assert owners("dan") == {(COMBINE, who) for who in both}
        for who in set(PEOPLE) - {"dora", "dan"}:
            assert owners(who) == set(), who
        # Grouped by owner, filtered, and sorted.
        first, tractor, old, second, sprayer = rows("/dealers")
        assert first.split() == ["Fay", "Field,", "mila"] and second.split() == ["other"]
        assert "Old Faithful" in old and TRACTOR in tractor and SPRAYER in sprayer
        assert [SPRAYER in row for row in rows("/dealers?owner=other")] == [False, True]
        by_machine = rows("/dealers?sort=machine")
        assert len(by_machine) == 3 and TRACTOR in by_machine[0] and SPRAYER in by_machine[2]
        assert len(rows("/dealers?owner=nobody")) == 5, "of whom no machine is: all"
        # Who is no owner any more is not named.
        with connect(yard.env) as owner:
            owner.execute("UPDATE drover.account SET disabled_at = now() WHERE account = 'fay'")
            owner.execute("DELETE FROM drover.fleet_member WHERE fleet = 'away'")
        assert owners("dora") == {(COMBINE, "mila"), (TRACTOR, "mila")}
        assert any("No owner at present" in row for row in rows("/dealers"))
    finally:
        with connect(yard.env) as owner:
            owner.execute("UPDATE drover.account SET disabled_at = NULL, first_name = '', last_name = '' WHERE account = 'fay'")
            owner.execute("INSERT INTO drover.fleet_member VALUES ('away', 'other') ON CONFLICT DO NOTHING")
            owner.execute("DELETE FROM drover.dealership WHERE vehicle = %s OR ended_at IS NOT NULL", [SPRAYER])
            owner.execute("UPDATE drover.fleet_vehicle SET fleet = 'farm' WHERE vehicle = %s", [SPRAYER])


def test_they_end_with_the_access(yard):
    yard.mark("dora", [COMBINE, TRACTOR], do="add", **{"class": CLASS}, tags=TAG)
    yard.mark("dan", [COMBINE], do="set", tags="dan")
    [[number]] = yard.query("SELECT dealership_id::text FROM drover.dealership WHERE dealer = 'dora' AND vehicle = %s", COMBINE)
    fay = yard.visitor("fay")
    assert fay.post("/dealers/end", form=fay.mark("/dealers"), dealership=number).status == 200
    assert set(yard.marked()) == {("dora", TRACTOR), ("dan", COMBINE)}
    assert yard.mark("dora", [COMBINE], do="set", tags="x").status == 404
    # Without the role, or disabled, they are hidden, and come back with it.
    with connect(yard.env) as owner:
        for change, back in [("roles = '{farmer}'", "roles = '{dealer}'"), ("disabled_at = now()", "disabled_at = NULL")]:
            owner.execute(f"UPDATE drover.account SET {change} WHERE account = 'dora'")
            with as_page(yard.env, "dora") as connection:
                assert connection.execute("SELECT count(*) FROM drover.dealer_mark").fetchone() == (0,), change
            owner.execute(f"UPDATE drover.account SET {back} WHERE account = 'dora'")
            with as_page(yard.env, "dora") as connection:
                assert connection.execute("SELECT class FROM drover.dealer_mark").fetchall() == [(CLASS,)], back
        [[mine]] = owner.execute("SELECT array_agg(r) FROM drover.rows_of_person('dora', 'dealer_mark') r").fetchall()
        assert [(json.loads(row)["vehicle"], json.loads(row)["class"]) for row in mine] == [(TRACTOR, CLASS)]
        owner.execute("BEGIN")
        owner.execute("SELECT drover.erase_account('dora')")
        assert {account for account, in owner.execute("SELECT account FROM drover.dealer_mark").fetchall()} == {"dan"}
        owner.execute("ROLLBACK")


def test_programs_of_a_dealer_get_them_and_no_others(yard):
    yard.mark("dora", [COMBINE], do="set", **{"class": CLASS}, tags=TAG)

    def ask(who, role, path):
        token = give_token(yard.env, who, "read")
        yard.query("UPDATE drover.token SET role = %s WHERE account = %s RETURNING 1", role, who)
        answer = yard.visitor(who).ask("GET", path, Authorization=f"Bearer {token}", Accept="application/json")
        assert answer.status == 200, answer.body
        return json.loads(answer.body)
    one = ask("dora", "dealer", f"/v1/machines/{COMBINE}")
    assert (one["own_class"], one["own_tags"], one["tags"]) == (CLASS, [TAG], ["north"])
    assert [each["vehicle"] for each in ask("dora", "dealer", f"/v1/machines?tag={TAG}")["machines"]] == [COMBINE]
    assert [(each["vehicle"], each["own_class"]) for each in ask("dora", "dealer", "/v1/machines")["machines"]] == [(COMBINE, CLASS), (TRACTOR, None)]
    assert (lambda other: (other["own_class"], other["own_tags"]))(ask("dan", "dealer", f"/v1/machines/{COMBINE}")) == (None, [])
    assert "own_class" not in ask("fay", "farmer", f"/v1/machines/{COMBINE}")
    assert ask("fay", "farmer", f"/v1/machines?search={TAG}")["machines"] == []


def codes(browser, png):
    """The texts of all QR codes of a picture, by another program than the one that made them, in a page of its own."""
    reader = browser.new_page()

    def answer(route):
        file = READER.get(urlsplit(route.request.url).path)
        route.fulfill(path=file, content_type="text/javascript") if file else route.fulfill(body="", content_type="text/html")
    try:
        reader.route("**/*", answer)
        reader.goto("http://localhost/")
        return reader.evaluate("""async png => {
            const { decodeQRBatch } = await import("/decode.js");
            const picture = new Image();
            picture.src = "data:image/png;base64," + png;
            await picture.decode();
            const pen = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
            pen.drawImage(picture, 0, 0);
            const [found] = await decodeQRBatch([pen.getImageData(0, 0, picture.width, picture.height)]);
            // What looked like the corner of one, and was none, is an error.
            return found.filter((each) => typeof each === "string");
        }""", base64.b64encode(png).decode())
    finally:
        reader.close()


def sheet(visitor, port, path):
    """The file: cookies as the visitor's, and bytes as they come."""
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=HANG_S)
    connection.request("GET", path, headers={"Cookie": visitor.cookie, "Sec-Fetch-Site": "same-origin"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/pdf"), body[:300]
    return body


def told(*words, pdf):
    run = subprocess.run(words, input=pdf, capture_output=True, timeout=HANG_S)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_codes_of_a_sheet_lead_to_the_field_view_of_each_machine(yard, browser, screenshots):
    pdf = sheet(yard.visitor("fay"), yard.port, STICKERS)
    words = told("pdftotext", "-layout", "-", "-", pdf=pdf).decode()
    for word in (COMBINE, TRACTOR, SPRAYER, "Old Faithful", "Müller's", "8R Tractor"):
        assert word in words, word
    assert "van-1" not in words
    png = told("pdftoppm", "-png", "-r", "150", "-singlefile", "-", pdf=pdf)
    (screenshots / "stickers.png").write_bytes(png)
    # As it is set: a phone in a field knows no other.
    assert sorted(codes(browser, png)) == [f"http://127.0.0.1:1/field/{vehicle}" for vehicle in sorted((COMBINE, TRACTOR, SPRAYER))]
    assert yard.visitor("fay").get(f"/field/{COMBINE}").status == 200
    # Who may not see a machine gets no sticker of it, also where it is named.
    alone = told("pdftotext", "-", "-", pdf=sheet(yard.visitor("dan"), yard.port, f"{STICKERS}?vehicle={COMBINE}&vehicle={TRACTOR}")).decode()
    assert COMBINE in alone and TRACTOR not in alone
    other = yard.visitor("other")
    assert other.get(f"{STICKERS}?vehicle={COMBINE}").status == other.get(STICKERS).status == 404
    # By the list's filter, and by one's own words.
    yard.mark("dora", [TRACTOR], do="set", tags=TAG)
    mine = told("pdftotext", "-", "-", pdf=sheet(yard.visitor("dora"), yard.port, f"{STICKERS}?own={TAG}")).decode()
    assert TRACTOR in mine and COMBINE not in mine


def test_a_dealer_is_told_what_a_debug_log_is_for(yard):
    page = yard.visitor("dora").get(f"/vehicles/{TRACTOR}?kind=machine&tab=details").body
    assert "for the developers of the box’s maker" in page and "Send them the file unchanged" in page
    assert "Send them the file" not in yard.visitor("fay").get(f"/vehicles/{TRACTOR}?kind=machine&tab=details").body


def test_paper_is_as_the_account_measures_or_as_it_is_chosen(yard):
    def size(visitor, path):
        return re.search(rb"Page size:\s+([\d.]+) x ([\d.]+)", told("pdfinfo", "-", pdf=sheet(visitor, yard.port, path))).groups()
    fay, a4, letter = yard.visitor("fay"), (b"595.276", b"841.89"), (b"612", b"792")
    assert size(fay, STICKERS) == a4 and size(fay, f"{STICKERS}?paper=letter") == letter
    yard.query("UPDATE drover.account SET units = 'us' WHERE account = 'fay' RETURNING 1")
    try:
        assert size(fay, STICKERS) == letter
    finally:
        yard.query("UPDATE drover.account SET units = 'metric' WHERE account = 'fay' RETURNING 1")
    assert fay.get(f"{STICKERS}?paper=a3").status == fay.get(f"{STICKERS}?vehicle=a+b").status == 400


def test_a_sheet_has_24_stickers_a_page_and_a_bound(yard, browser):
    names = [f"m-{n:03}" for n in range(481)]
    with connect(yard.env) as owner:
        for name in names:
            owner.execute("INSERT INTO drover.registration (kind, vehicle, topic_partition, registered_at, record_id, name) VALUES ('machine', %s, 0, now(), %s, %s)",
                          [name, "r-" + name, "A name that is far too long for a sticker " * 4])
            owner.execute("INSERT INTO drover.fleet_vehicle VALUES ('away', 'machine', %s)", [name])
    try:
        other = yard.visitor("other")
        refused = other.get(STICKERS)
        assert refused.status == 422 and "480 stickers at most" in refused.body
        pdf = sheet(other, yard.port, STICKERS + "?" + "&".join(f"vehicle={name}" for name in names[:49]))
        assert re.search(rb"Pages:\s+3\n", told("pdfinfo", "-", pdf=pdf))
        # On each page each code is whole, however long the words beside it.
        for page, part in [("1", names[:24]), ("3", names[48:49])]:
            found = codes(browser, told("pdftoppm", "-png", "-r", "150", "-f", page, "-l", page, "-singlefile", "-", pdf=pdf))
            assert sorted(found) == [f"http://127.0.0.1:1/field/{name}" for name in part]
        assert sheet(other, yard.port, STICKERS + "?search=m-00").startswith(b"%PDF")
    finally:
        with connect(yard.env) as owner:
            owner.execute("DELETE FROM drover.fleet_vehicle WHERE fleet = 'away'; DELETE FROM drover.registration WHERE vehicle LIKE 'm-%'")


def test_a_dealers_list(yard, page, screenshots, watch):
    page.context.clear_cookies()
    enter(page, yard.address, "dora", "/vehicles")
    bulk = page.locator("#bulk")
    expect(bulk).to_be_hidden()
    looked_at(page, screenshots, "list")
    page.get_by_label("Select Old Faithful").check()
    expect(bulk).to_contain_text("1 machine selected")
    page.get_by_label("Select all machines on this page").check()
    expect(bulk).to_contain_text("2 machines selected")
    looked_at(page, screenshots, "list-selected", dark=True)
    follow(page, page.get_by_role("button", name="Class and tags"))
    expect(page.get_by_role("main")).to_contain_text("2 machines")
    page.get_by_label("Class", exact=True).fill(CLASS)
    page.get_by_label("Add tags").fill(TAG)
    looked_at(page, screenshots, "marks")
    follow(page, page.get_by_role("button", name="Save"))
    expect(page.get_by_role("status").first).to_contain_text("Only you see it")
    expect(page.locator("#rows .tag.own")).to_have_text([TAG, TAG])
    page.get_by_role("combobox", name="Class", exact=True).select_option(CLASS)
    page.wait_for_url("**class=Zeta*")
    expect(page.locator("#rows tbody tr")).to_have_count(2)
    # A farmer has neither the column nor the words, and makes stickers by the same boxes.
    page.context.clear_cookies()
    enter(page, yard.address, "fay", "/vehicles")
    expect(page.locator("main")).not_to_contain_text(CLASS)
    expect(page.get_by_role("columnheader", name="Class")).to_have_count(0)
    page.get_by_label("Select Old Faithful").check()
    expect(page.get_by_role("button", name="Class and tags")).to_have_count(0)
    expect(page.locator("#bulk").get_by_role("button", name="QR stickers")).to_be_visible()
    expect(page.get_by_label("Stickers on").locator("option")).to_have_text(["A4, labels 70 × 37 mm", "Letter, labels 2.83 × 1.31 in"])


EXIF = (b"eXIf", b"MM\0*PLACE-OF-FAY")


def large(width, height):
    """A picture as it comes from a camera, with where it was taken."""
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)), EXIF,
             (b"IDAT", zlib.compress(b"".join(b"\0" + bytes((x ^ y) & 255 for x in range(width)) for y in range(height)))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts)


def hand_in(yard, who, vehicle, body, **headers):
    visitor = yard.visitor(who)
    return visitor.ask("POST", f"/vehicles/{vehicle}/photo", body, X_Drover_Form=visitor.mark(), Content_Type="image/png", **headers)


def test_a_photo_of_a_machine_is_for_who_sees_it_and_without_its_place(yard, page, tmp_path, watch):
    with connect(yard.env) as owner:
        owner.execute("DELETE FROM drover.machine_photo")
    (tmp_path / "photo.png").write_bytes(large(1600, 1200))
    page.context.clear_cookies()
    enter(page, yard.address, "fay", f"/vehicles/{COMBINE}?kind=machine&tab=details")
    with page.expect_navigation():
        page.locator("#photo input").set_input_files(tmp_path / "photo.png")
    page.wait_for_function("() => document.querySelector('img.photo').naturalWidth === 1280")
    [(kept, kind)] = yard.query("SELECT content, media_type FROM drover.machine_photo WHERE account = 'fay'")
    assert kind == "image/jpeg" and b"PLACE-OF-FAY" not in bytes(kept) and len(kept) <= 512 << 10
    # Also one that no script made small.
    assert hand_in(yard, "fay", COMBINE, png(EXIF)).status == 200
    [(kept,)] = yard.query("SELECT content FROM drover.machine_photo")
    assert bytes(kept) == png()
    for body, why in [(b"<svg/>", "no JPEG, PNG or WebP"), (png()[:-4], "cut off"),
                      (png((b"IDAT", random.Random(1).randbytes(600_000))), "at most 524288 are kept")]:
        refused = hand_in(yard, "fay", COMBINE, body)
        assert refused.status == 422 and why in refused.body, why
    assert hand_in(yard, "fay", COMBINE, b"\x89" * 1_100_000).status == 413
    shown = yard.visitor("fay").ask("HEAD", f"/vehicles/{COMBINE}/photo").headers
    assert shown["Cache-Control"].startswith("private") and shown["Vary"] == "Cookie"
    # Who sees the machine sees it; another customer neither sees nor changes it, and a dealer does not replace the owner's.
    seen = {who: yard.visitor(who).ask("HEAD", f"/vehicles/{COMBINE}/photo").status for who in PEOPLE}
    assert {who for who, status in seen.items() if status == 200} == {"dora", "dan", "fay", "mila", "devi", "annika", "disp", "olga", "root"}, seen
    small = png()
    assert {who: hand_in(yard, who, COMBINE, small).status for who in ("other", "dora", "dan", "joe", "annika", "devi")} == {
        "other": 404, "dora": 404, "dan": 404, "joe": 403, "annika": 403, "devi": 403}
    assert hand_in(yard, "dora", TRACTOR, small).status == hand_in(yard, "dora", TRACTOR, small).status == 200
    assert hand_in(yard, "dora", SPRAYER, small).status == hand_in(yard, "other", "nothing", small).status == 404
    # The owner takes away a dealer's; nobody takes away another's without a form of their own.
    other, fay = yard.visitor("other"), yard.visitor("fay")
    assert other.post(f"/vehicles/{TRACTOR}/photo/remove", form=other.mark()).status == 404
    assert fay.post(f"/vehicles/{TRACTOR}/photo/remove", form="0" * 64).status == 403
    assert fay.post(f"/vehicles/{TRACTOR}/photo/remove", form=fay.mark()).status == 303
    assert yard.query("SELECT vehicle, account FROM drover.machine_photo") == [(COMBINE, "fay")]
    with as_page(yard.env, "fay") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("DELETE FROM drover.machine_photo")


def test_whoever_connects_sees_in_place_how_it_goes(yard, page, screenshots):
    """No gateway and no worker is there: what came of it is written as a worker would."""
    page.context.clear_cookies()
    enter(page, yard.address, "dora", "/vehicles")
    row = page.locator("#rows tr", has_text="Old Faithful")
    with page.expect_request(lambda request: request.method == "POST") as sent:
        row.get_by_role("button", name="Connect to Old Faithful").click()
    expect(row.locator(".asked")).to_have_text("Connecting…")
    request = re.search(r"(?:^|&)id=([0-9a-f]+)", sent.value.post_data)[1]
    assert unquote(sent.value.url).endswith(f"/vehicles/{COMBINE}/download")
    with connect(yard.env) as owner:
        owner.execute("""INSERT INTO drover.poll_request (vehicle, request_id, asked_at, asked_by, expires_at, answered_at, is_done, answer)
            VALUES (%s, %s, now(), 'dora', now() + interval '30 seconds', now(), false, 'The box did not answer. Is it on, and in reach?')""", [COMBINE, request])
    expect(row.locator(".asked.warning")).to_have_text("Not done: The box did not answer. Is it on, and in reach?")
    assert "said" not in page.url
    looked_at(page, screenshots, "connect")
    # What came of a request is for who sees the machine; without a script the form leads to a page that says so.
    path = f"/vehicles/{COMBINE}/asked?request={request}"
    assert json.loads(yard.visitor("fay").get(path).body) == {"state": "failed", "words": "The box did not answer. Is it on, and in reach?"}
    assert json.loads(yard.visitor("other").get(path).body) == {"state": "waiting", "words": "Connecting…"}
    assert yard.visitor("dora").get(f"/vehicles/{COMBINE}/asked").status == 404
    dora = yard.visitor("dora")
    moved = dora.post(f"/vehicles/{COMBINE}/download", form=dora.mark(), id="by-hand", next="/vehicles?said=asked")
    assert moved.headers["Location"] == "/vehicles?said=asked" and "Download asked for" in dora.get("/vehicles?said=asked").body
    assert yard.visitor("other").post(f"/vehicles/{COMBINE}/download", form=yard.visitor("other").mark(), id="foreign").status == 404
