"""A second factor beside the password, app passwords, keys that are changed: as people and operators meet them, and who would get past them."""
import base64
import hmac
import re
import xmlrpc.client
from urllib.parse import parse_qs, urlsplit

import pytest
from harness import ROOT, lent, looked_at
from people import PASSWORD, Visitor, follow, lend_cookie, logged_in
from playwright.sync_api import expect
from test_accounts import OTHER, Site
from world import query

PATH = "/account/second-factor"
# What reads a picture as a phone does, by address.
READER = {"/decode.js": ROOT / "Tests/Fixtures/qr/decode.js", "/index.js": ROOT / "Sources/People/Web/Assets/qr/index.js"}


@pytest.fixture(scope="module")
def house(world, tmp_path_factory):
    env = world.database()
    env["DROVER_POSTGRES_SURVEY_URL"] = env["DROVER_POSTGRES_URL"]
    yield from lent(Site(world, env, None, tmp_path_factory.mktemp("factors"), "--set", "people.second_factor_roles=administrator", has_mail=False))


@pytest.fixture
def site(house):
    """Without anybody."""
    query(house.env, "DELETE FROM drover.account_try; DELETE FROM drover.token; DELETE FROM drover.account")
    return house


def step(site):
    """Of the time, by the clock that server and database share."""
    return site.query("SELECT floor(extract(epoch FROM clock_timestamp()) / 30)::bigint")[0][0]


def code(secret, at):
    """RFC 6238, by another program than ours."""
    digest = hmac.digest(base64.b32decode(secret), at.to_bytes(8, "big"), "sha1")
    start = digest[19] & 15
    return f"{(int.from_bytes(digest[start:start + 4], 'big') & 0x7FFFFFFF) % 1_000_000:06}"


def shown_secret(page):
    assert "otpauth://totp/Drover:" in page.body, page.body
    secret = re.search(r"<code>([A-Z2-7 ]+)</code>", page.body).group(1).replace(" ", "")
    assert f"secret={secret}" in page.body
    return secret


def scanned(browser, png):
    """The text of a QR code, read from the picture alone, in a page of its own."""
    reader = browser.new_page()

    def answer(route):
        file = READER.get(urlsplit(route.request.url).path)
        route.fulfill(path=file, content_type="text/javascript") if file else route.fulfill(body="", content_type="text/html")
    try:
        reader.route("**/*", answer)
        reader.goto("http://localhost/")
        return reader.evaluate("""async png => {
            const { decodeQR } = await import("/decode.js");
            const picture = new Image();
            picture.src = "data:image/png;base64," + png;
            await picture.decode();
            const pen = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
            pen.drawImage(picture, 0, 0);
            return decodeQR(pen.getImageData(0, 0, picture.width, picture.height));
        }""", base64.b64encode(png).decode())
    finally:
        reader.close()


def set_up(site, visitor):
    """With the secret, and the recovery codes."""
    secret = shown_secret(visitor.post(PATH + "/begin", form=visitor.mark(PATH), old=PASSWORD))
    page = visitor.post(PATH + "/confirm", form=visitor.mark(PATH), code=code(secret, step(site)))
    codes = re.findall(r"<li><code>([A-Z2-7-]{19})</code>", page.body)
    assert page.status == 200 and len(set(codes)) == 10, page.body
    return secret, codes


def fresh(site):
    """As if half a minute and more had gone by: codes of the step are good again."""
    site.query("UPDATE drover.account_second_factor SET last_step = 0 RETURNING 1")


@pytest.fixture
def miller(site):
    visitor = site.with_account("miller", "miller@example.org", PASSWORD, "farmer", "surveyor")
    assert visitor.log_in().status == 303
    return visitor


def test_the_password_alone_opens_nothing(site, miller):
    there = Visitor(site.port)
    assert there.log_in().headers["Location"] == "/"
    secret, codes = set_up(site, miller)
    assert there.get("/account").status == 303, "log-ins from before end"
    assert miller.get("/account").status == 200
    kept = repr(site.query("SELECT * FROM drover.account_second_factor, drover.account_recovery_code"))
    assert secret not in kept and not any(code in kept for code in codes)
    half = there.log_in(next="/vehicles")
    assert half.status == 303 and half.headers["Location"] == "/login/code?next=%2Fvehicles" and there.cookie
    assert "drover-device" not in repr(half.headers.items())
    for path in ("/account", "/", "/vehicles", PATH):
        assert there.get(path).headers["Location"].startswith("/login"), path
    assert there.post("/account/data", form="x").status == 303
    before = there.cookie
    assert there.get("/login/code?next=/vehicles").status == 200
    # By the third it was switched on: a code is good once.
    (taken,), = site.query("SELECT last_step FROM drover.account_second_factor")
    for wrong in ("000000", "", code(secret, taken), codes[0][:-1]):
        assert there.post("/login/code", code=wrong).status == 401, wrong
    fresh(site)
    right = there.post("/login/code", code=code(secret, step(site)), next="/vehicles")
    assert right.status == 303 and right.headers["Location"] == "/vehicles" and there.cookie != before
    assert there.get("/account").status == 200
    # What half a log-in had is worth nothing.
    for ask in (lambda: there.get("/account").status == 303, lambda: there.post("/login/code", code=codes[0]).status == 410):
        there.cookie = before
        assert ask()
    assert Visitor(site.port).get("/login/code").status == 410


def test_a_phone_scans_the_secret_and_it_leaves_the_browser_by_nothing_else(site, miller, page, browser, screenshots):
    lend_cookie(miller, page, site.address)
    page.goto(site.address + PATH[1:])
    page.get_by_label("Password").fill(PASSWORD)
    asked, answers = [], []
    page.on("request", lambda request: asked.append((request.method, urlsplit(request.url).path)))
    page.on("response", lambda response: answers.append(response))
    follow(page, page.get_by_role("button", name="Set up"))
    picture = page.get_by_role("img", name="QR code of your secret")
    picture.wait_for()
    link = page.locator("#otpauth").get_attribute("href")
    assert scanned(browser, picture.screenshot()) == link and link.startswith("otpauth://totp/Drover:miller%40example.org?")
    looked_at(page, screenshots, "secret", dark=True)
    assert scanned(browser, picture.screenshot()) == link
    # The page asked for its styles and the two scripts, and may ask for nothing else, nor be told to.
    assert asked[0] == ("POST", PATH + "/begin") and sorted(asked[1:]) == [
        ("GET", f"/assets/{name}") for name in ("pages.css", "qr/index.js", "second-factor.js", "tokens.css")]
    policy = next(answer.headers["content-security-policy"] for answer in answers if answer.url.endswith("/begin"))
    assert "default-src 'none'; script-src 'self'; style-src" in policy and "img-src data:;" in policy
    assert not re.search("connect-src|media-src|unsafe|http|\\*", policy), policy
    # What was scanned logs in.
    [secret] = parse_qs(urlsplit(link).query)["secret"]
    assert secret == page.locator("li code").inner_text().replace(" ", "")
    page.get_by_role("textbox", name="Code").fill(code(secret, step(site)))
    follow(page, page.get_by_role("button", name="Switch on"))
    assert page.locator("li code").count() == 10
    fresh(site)
    there = Visitor(site.port)
    assert there.log_in().headers["Location"].startswith("/login/code")
    assert there.post("/login/code", code=code(secret, step(site))).status == 303 and there.get("/account").status == 200
    # Without script there is no empty frame, and nothing is missing.
    moved = there.post(PATH + "/begin", form=there.mark(PATH), old=PASSWORD, code=code(secret, step(site) + 1))
    assert '<div id="qr" hidden>' in moved.body and shown_secret(moved) != secret
    for path in (PATH, "/login"):
        assert "script-src" not in there.get(path).headers["Content-Security-Policy"], path
    # What stands in the frame of all pages has its scripts, and no other.
    assert "script-src 'self'; connect-src 'self'; style-src" in there.get("/account").headers["Content-Security-Policy"]


def test_a_browser_that_is_known_is_asked_as_well(site, miller):
    secret, codes = set_up(site, miller)
    visitor = Visitor(site.port)
    visitor.log_in()
    device = visitor.post("/login/code", code=codes[0]).headers.get_all("Set-Cookie")
    device = next(said for said in device if said.startswith("drover-device=")).partition(";")[0]
    answer = Visitor(site.port).post("/login", mail="miller@example.org", password=PASSWORD, headers={"Cookie": device})
    assert answer.headers["Location"].startswith("/login/code")


def test_a_recovery_code_lets_in_once(site, miller):
    secret, codes = set_up(site, miller)
    one = Visitor(site.port)
    one.log_in()
    assert one.post("/login/code", code=codes[3].lower().replace("-", " ")).status == 303 and one.get("/account").status == 200
    assert "Recovery codes left: 9." in one.get(PATH).body
    again = Visitor(site.port)
    again.log_in()
    assert again.post("/login/code", code=codes[3]).status == 401
    new = one.post(PATH + "/codes", form=one.mark(PATH), old=PASSWORD, code=codes[4])
    fresh_codes = re.findall(r"<li><code>([A-Z2-7-]{19})</code>", new.body)
    assert len(fresh_codes) == 10 and not set(fresh_codes) & set(codes)
    assert again.post("/login/code", code=codes[5]).status == 401 and again.post("/login/code", code=fresh_codes[5]).status == 303


def test_codes_cannot_be_tried_out(site, miller):
    secret, codes = set_up(site, miller)
    thief = Visitor(site.port)
    tried = 0
    # The password in between takes no try back.
    for _ in range(20):
        answer = thief.log_in()
        if answer.status == 429:
            break
        tried += 1
        if thief.post("/login/code", code="000000").status == 429:
            break
    assert tried <= 5
    assert thief.post("/login/code", code=code(secret, step(site))).status == 429 and thief.log_in().status == 429
    # From many addresses: the account has its own bound, which a new password ends.
    site.query("DELETE FROM drover.account_try RETURNING 1")
    site.query("UPDATE drover.account_second_factor SET tries = 30, tries_since = now(), last_step = 0 RETURNING 1")
    visitor = Visitor(site.port)
    visitor.log_in()
    refused = visitor.post("/login/code", code=code(secret, step(site)))
    assert refused.status == 429 and refused.headers["Retry-After"] == "900"
    link = site.run("link", "miller").out.strip()
    assert visitor.post("/password", link=link.partition("link=")[2], password=OTHER, again=OTHER).status == 200
    assert visitor.get("/login/code").status == 410, "half a log-in with the password of before"
    visitor.log_in(password=OTHER)
    assert visitor.post("/login/code", code=code(secret, step(site))).status == 303


def test_half_log_ins_end_nobodys(site, miller):
    set_up(site, miller)
    for _ in range(25):
        assert Visitor(site.port).log_in().status == 303
        site.query("DELETE FROM drover.account_try RETURNING 1")
    assert miller.get("/account").status == 200
    assert site.query("SELECT count(*) FROM drover.account_session WHERE awaits_code") == [(20,)]
    site.query("UPDATE drover.account_session SET made_at = now() - interval '11 minutes' WHERE awaits_code RETURNING 1")
    late = Visitor(site.port)
    late.log_in()
    site.query("UPDATE drover.account_session SET made_at = now() - interval '11 minutes' WHERE awaits_code RETURNING 1")
    assert late.get("/login/code").status == 410


def test_whose_role_needs_one_does_nothing_else_before(site):
    boss = site.with_account("boss", "boss@example.org", PASSWORD, "administrator")
    assert boss.log_in("boss@example.org").status == 303
    for path in ("/", "/account", "/administration", "/vehicles", "/settings"):
        answer = boss.get(path)
        assert (answer.status, answer.headers["Location"]) == (303, PATH), path
    own = boss.mark(PATH)
    for path in ("/account", "/account/app-passwords", "/account/data", "/account/password", "/settings", "/administration/account"):
        assert boss.post(path, form=own).headers["Location"] == PATH, path
    script = boss.get("/v1/live")
    assert script.status in (303, 403) and ("second-factor-missing" in script.body or script.headers["Location"] == PATH)
    secret, codes = set_up(site, boss)
    assert boss.get("/administration").status == boss.get("/account").status == 200
    assert boss.post(PATH + "/remove", form=boss.mark(PATH), old=PASSWORD, code=codes[0]).status == 409
    said = site.run("second-factor", "boss")
    assert said.code == 0 and "on since" in said.out and "recovery codes left: 10" in said.out
    assert site.run("second-factor", "boss", "--remove").code == 0
    assert boss.get("/administration").headers["Location"] == PATH
    assert site.run("second-factor", "boss", "--remove").code == 1 and site.run("second-factor", "nobody").code == 1
    assert "none is on" in site.run("second-factor", "boss").out
    set_up(site, boss)
    assert site.run("erase", "boss").code == 0
    assert site.query("SELECT account FROM drover.account_second_factor UNION ALL SELECT account FROM drover.account_recovery_code") == []


def test_it_is_moved_and_taken_away_with_password_and_code(site, miller):
    secret, codes = set_up(site, miller)
    own = miller.mark(PATH)
    for fields in ({"old": PASSWORD}, {"old": PASSWORD, "code": "000000"}, {"old": "not the password", "code": codes[0]}):
        for what in ("begin", "codes", "remove"):
            site.query("DELETE FROM drover.account_try RETURNING 1")
            assert miller.post(f"{PATH}/{what}", form=own, **fields).status == 422, (what, fields)
    site.query("DELETE FROM drover.account_try RETURNING 1")
    moved = shown_secret(miller.post(PATH + "/begin", form=own, old=PASSWORD, code=codes[1]))
    assert moved != secret
    # The one of before counts until a code of the new one came.
    elsewhere = Visitor(site.port)
    elsewhere.log_in()
    fresh(site)
    assert elsewhere.post("/login/code", code=code(secret, step(site))).status == 303
    assert miller.post(PATH + "/confirm", form=own, code="000000").status == 422
    assert miller.post(PATH + "/confirm", form=own, code=code(moved, step(site))).status == 200
    assert miller.post(PATH + "/confirm", form=own, code=code(moved, step(site))).status == 409
    fresh(site)
    assert miller.post(PATH + "/remove", form=own, old=PASSWORD, code=code(moved, step(site))).status == 303
    assert elsewhere.log_in().headers["Location"] == "/"
    assert miller.post(PATH + "/begin", form="0" * 64, old=PASSWORD).status == 403


def test_apps_have_passwords_of_their_own(site, miller):
    set_up(site, miller)
    calls = xmlrpc.client.ServerProxy(f"http://127.0.0.1:{site.port}/v1/xmlrpc")
    with pytest.raises(xmlrpc.client.Fault, match="no app password.*own password is not taken"):
        calls.user.login("miller", PASSWORD)
    page = miller.get("/account").body
    assert all(f'value="{scope}"' in page for scope in ("upload", "read", "account", "survey")) and 'value="export"' not in page
    own = miller.mark(PATH)
    made = miller.post_items("/account/app-passwords", [("form", own), ("name", "Phone <1>"), ("scope", "read"), ("scope", "survey")])
    password = re.search(r"<code>(drover_[\w-]+)</code>", made.body).group(1)
    assert "Phone &lt;1&gt;" in made.body and password not in miller.get("/account").body
    assert calls.user.login("miller", password)["user"]["name"] == "miller"

    def machines(token):
        return Visitor(site.port).get("/v1/machines", Authorization="Bearer " + token).status

    def uploads(token):
        return Visitor(site.port).ask("POST", "/v1/readings", "[]", Authorization="Bearer " + token, Content_Type="application/json").status

    assert machines(password) == 200 and uploads(password) == 403
    page = miller.get("/account").body
    assert "Phone &lt;1&gt;" in page and "read, survey" in page and "never" not in page
    # Not beyond the roles, not without a name or a scope, not another's.
    for fields, status in (([("scope", "export")], 409), ([("scope", "export-people")], 409), ([], 422), ([("scope", "king")], 422)):
        assert miller.post_items("/account/app-passwords", [("form", own), ("name", "x"), *fields]).status == status, fields
    assert miller.post("/account/app-passwords", form=own, scope="read").status == 422
    (number,), = site.query("SELECT token_id FROM drover.token WHERE revoked_at IS NULL")
    stranger = site.with_account("fink", "fink@example.org", PASSWORD, "farmer")
    stranger.log_in("fink@example.org")
    stranger.post("/account/app-passwords/end", form=stranger.mark(PATH), id=number)
    assert machines(password) == 200
    # Whose role is taken has none that it allowed.
    assert site.run("roles", "miller", "--role", "farmer").code == 0 and machines(password) == 401
    again = miller.post("/account/app-passwords", form=own, name="phone", scope="read")
    password = re.search(r"<code>(drover_[\w-]+)</code>", again.body).group(1)
    (number,), = site.query("SELECT token_id FROM drover.token WHERE revoked_at IS NULL")
    assert machines(password) == 200
    miller.post("/account/app-passwords/end", form=own, id=number)
    assert machines(password) == 401
    site.query("INSERT INTO drover.token (token_id, account, scopes, digest, is_own) SELECT 't-' || n, 'miller', '{read}', sha256(n::text::bytea), true FROM generate_series(1, 20) AS n RETURNING 1")
    assert miller.post("/account/app-passwords", form=own, name="phone", scope="read").status == 409


def test_two_keys_hold_while_they_are_changed(site, miller, tmp_path):
    secret, codes = set_up(site, miller)
    new = tmp_path / "key"
    new.write_bytes(b"n" * 32)
    new.chmod(0o600)
    site.key.chmod(0o600)
    both = ["--set", f"people.code_key_file={new}", "--set", f"people.code_key_file_before={site.key}"]

    def logs_in(port):
        fresh(site)
        site.query("DELETE FROM drover.account_try RETURNING 1")
        visitor = Visitor(port)
        visitor.log_in()
        return visitor.post("/login/code", code=code(secret, step(site))).status

    def checked(*more):
        lines = site.world.drover.run("check", *more, env=site.env).out.splitlines()
        return next(line for line in lines if line.startswith("key from before: "))

    server, _, port = site.server_beside(0, *both)
    try:
        assert logs_in(port) == 303
        assert "1 second factors and webhooks and 0 messages that wait still need it" in checked(*both)
        run = site.world.drover.run("account", "reseal", *both, env=site.env)
        assert run.code == 0 and "1 values are sealed" in run.err
        assert logs_in(port) == 303
        assert "nothing needs it" in checked(*both)
    finally:
        server.stop()
    server, _, port = site.server_beside(0, *both[:2])
    try:
        assert logs_in(port) == 303 and logs_in(site.port) == 503, "the old key alone opens nothing any more"
    finally:
        server.stop()
    assert checked(*both[:2]) == "key from before: ok, none"
    site.world.drover.fails("account", "reseal", *both[:2], env=site.env, says="people.code_key_file_before")


def test_where_there_is_no_key_nobody_is_led_to_set_one_up(site):
    """The page of one's account offered it, and the next page was the end of the way."""
    site.with_account("plain", "plain@example.org", PASSWORD, "farmer")
    server, _, port = site.server_beside(0, "--set", "people.code_key_file=", "--set", "web.public_url=", "--set", "people.second_factor_roles=")
    try:
        plain = logged_in(port, "plain")
        page = plain.get("/account").body
        assert PATH not in page and "This server has no key for it" in page
        closed = plain.get(PATH)
        assert closed.status == 503 and 'href="/account"' in closed.body and 'href="/login"' not in closed.body
    finally:
        server.stop()


def test_an_app_password_stays_on_a_small_phone(site, page):
    site.with_account("plain", "plain@example.org", PASSWORD, "farmer")
    address = f"http://127.0.0.1:{site.port}"
    lend_cookie(logged_in(site.port, "plain"), page, address)
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(address + "/account")
    form = page.locator('form[action="/account/app-passwords"]')
    form.get_by_label("App", exact=True).fill("phone")
    form.get_by_label("Read the machines you see").check()
    form.get_by_role("button").click()
    expect(page.locator("code")).to_contain_text("drover_")
    inside = "code => code.getBoundingClientRect().right <= code.closest('main').getBoundingClientRect().right"
    assert page.eval_on_selector("code", inside)
