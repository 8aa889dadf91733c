"""Log-in at an OpenID Connect provider of others: there and back, linked accounts, and what a provider or a stranger may try."""
import base64
import json
import re
import time
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import oidc_provider_mock
import pytest
from harness import HANG_S, lent, until
from people import PASSWORD, Visitor
from stand_ins import Answering, StandIn
from test_accounts import Site
from world import query


@pytest.fixture(scope="module")
def provider():
    people = [oidc_provider_mock.User(sub=sub, claims=claims) for sub, claims in {
        "ada-1": {"email": "Ada@Example.org", "email_verified": True, "given_name": "Ada", "family_name": "Love<lace>"},
        "miller-1": {"email": "miller@example.org", "email_verified": True},
        "thief": {"email": "root@example.org", "email_verified": False}, "nobody": {},
        "squatted": {"email": "squatted@example.org", "email_verified": True}}.items()]
    with oidc_provider_mock.run_server_in_thread(user_claims=people, require_nonce=True) as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture(scope="module")
def site(world, certificate, provider, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    (folder / "secret").write_text("s3cret/+ of: ours\n")
    settings = lambda issuer: ["--set", f"oidc.issuer={issuer}", "--set", "oidc.client_id=drover client",
                               "--set", f"oidc.client_secret_file={folder / 'secret'}", "--set", "oidc.name=The <Campus>"]
    site = Site(world, world.database(), certificate, folder, *settings(provider))

    def with_provider(issuer):
        site.server.stop()
        site.serve(0, *settings(issuer))
    site.with_provider = with_provider
    yield site
    site.close()


class Browser(Visitor):
    """Keeps every cookie by its name."""

    def __init__(self, port):
        super().__init__(port)
        self.jar = {}

    def ask(self, method, path, body=None, **headers):
        self.cookie = "; ".join(f"{name}={value}" for name, value in self.jar.items()) or None
        answer = super().ask(method, path, body, **headers)
        for said in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = said.partition(";")[0].partition("=")
            self.jar[name] = value
            if not value:
                del self.jar[name]
        return answer


def at_provider(address, subject):
    """What the browser does there: the form of the provider, and its way back with a code."""
    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None
    try:
        urllib.request.build_opener(Stay).open(urllib.request.Request(address, urllib.parse.urlencode({"sub": subject}).encode()), timeout=HANG_S)
        raise AssertionError("the provider did not send us back")
    except urllib.error.HTTPError as answer:
        assert answer.code == 302, answer.read()
        return urllib.parse.urlsplit(answer.headers["Location"])


def go(browser, subject, next=None):
    start = browser.get("/oidc/start" + (f"?next={next}" if next else ""))
    assert start.status == 303
    back = at_provider(start.headers["Location"], subject)
    assert back.path == "/oidc/back"
    return browser.get(f"{back.path}?{back.query}")


def test_somebody_new_and_again(site, provider):
    ada = Browser(site.port)
    page = ada.get("/login?next=/dealers").body
    assert re.search(r'href="/oidc/start\?next=%2Fdealers">(<svg[^>]*>.*?</svg>)?Log in with The &lt;Campus&gt;<', page)
    asked = urllib.parse.parse_qs(urllib.parse.urlsplit(ada.get("/oidc/start").headers["Location"]).query)
    assert asked["code_challenge_method"] == ["S256"] and len(asked["code_challenge"][0]) == 43 and asked["scope"] == ["openid email profile"]
    answer = go(ada, "ada-1", next="/account%3Fa%3Db")
    assert answer.status == 303 and answer.headers["Location"] == "/account?a=b", answer.body
    assert set(ada.jar) == {"drover"}, "what the log-in needed is gone"
    account = ada.get("/account").body
    assert "Ada@Example.org" in account and "Love&lt;lace&gt;" in account and "No roles yet" in account
    assert go(Browser(site.port), "ada-1").status == 303
    assert site.query("SELECT count(*) FROM drover.account WHERE lower(mail) = 'ada@example.org'") == [(1,)]
    assert go(ada, "ada-1", next="//elsewhere.example/").headers["Location"] == "/"


def test_it_is_linked_to_who_has_that_mail_address(site):
    site.with_account("miller", "Miller@example.org", PASSWORD, "farmer")
    browser = Browser(site.port)
    assert go(browser, "miller-1").status == 303
    assert "known as miller<" in browser.get("/account").body
    # By whom, not by the mail address that the provider says today.
    site.query("UPDATE drover.account SET mail = 'other@example.org' WHERE account = 'miller' RETURNING 1")
    assert go(browser, "miller-1").status == 303 and "known as miller<" in browser.get("/account").body
    assert Visitor(site.port).log_in("other@example.org").status == 303, "the password still holds"


def test_an_address_that_nobody_has_verified_opens_nothing(site):
    site.with_account("root", "root@example.org", PASSWORD, "administrator")
    for subject in ("thief", "nobody"):
        browser = Browser(site.port)
        answer = go(browser, subject)
        assert answer.status == 403 and "no account for you here" in answer.body and not browser.jar
    # Somebody registered with another's address and waits: the one whose address it is gets the account, without that password.
    Visitor(site.port).post("/register", mail="squatted@example.org", password=PASSWORD, again=PASSWORD)
    assert go(Browser(site.port), "squatted").status == 303
    assert Visitor(site.port).log_in("squatted@example.org").status == 401
    assert site.query("SELECT count(*) FROM drover.account_link l JOIN drover.account a USING (account) WHERE a.mail = 'squatted@example.org'") == [(0,)]


def test_the_disabled_and_the_erased(site):
    assert go(Browser(site.port), "ada-1").status == 303
    [[account]] = site.query("SELECT account FROM drover.account WHERE mail = 'Ada@Example.org'")
    assert site.run("disable", account).code == 0
    assert go(Browser(site.port), "ada-1").status == 403
    assert site.run("erase", account).code == 0
    assert site.query("SELECT count(*) FROM drover.account_identity WHERE account = %s", account) == [(0,)]
    browser = Browser(site.port)
    assert go(browser, "ada-1").status == 303 and account not in browser.get("/account").body, "somebody new"


def test_only_the_browser_that_began_comes_back_and_once(site):
    begun, other = Browser(site.port), Browser(site.port)
    back = at_provider(begun.get("/oidc/start").headers["Location"], "miller-1")
    way = f"{back.path}?{back.query}"
    assert other.get(way).status == 400 and "drover" not in other.jar
    other.get("/oidc/start")
    assert other.get(way).status == 400 and "drover" not in other.jar, "another log-in's state"
    changed = re.sub(r"state=[^&]*", "state=x", way)
    kept = dict(begun.jar)
    assert begun.get(changed).status == 400
    begun.jar = dict(kept)
    assert begun.get(way).status == 303
    # The code was used.
    begun.jar = dict(kept)
    assert begun.get(way).status == 502 and "drover" not in begun.jar
    denied = Browser(site.port)
    state = urllib.parse.parse_qs(urllib.parse.urlsplit(denied.get("/oidc/start").headers["Location"]).query)["state"][0]
    assert denied.get(f"/oidc/back?error=access_denied&state={state}").status == 401


LIES = {
    "another issuer": {"iss": "http://localhost:1"}, "for somebody else": {"aud": "another"}, "for several": {"aud": ["drover client", "another"]},
    "too old": {"exp": 1_000_000_000}, "of another log-in": {"nonce": "n"}, "of nobody": {"sub": ""}, "of nobody at all": {"sub": None},
    "no number": {"exp": "soon"}, "no token": None, "garbage": "a.b.c",
}


@pytest.fixture(scope="module")
def liar():
    """A provider whose tokens say what a test wants, and who answers when it wants that."""
    class Handler(Answering):
        kind = "application/json"

        def answer(self, document):
            self.reply(200, json.dumps(document).encode())

        def do_GET(self):
            liar.waiting += 1
            liar.wait()
            if self.path == "/userinfo":
                return self.answer(liar.people)
            self.answer({"issuer": liar.address, "authorization_endpoint": liar.address + "/go", "token_endpoint": liar.address + "/token",
                         "userinfo_endpoint": liar.address + "/userinfo"})

        def do_POST(self):
            liar.asked = (self.headers["Authorization"], urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()))
            claims = {"iss": liar.address, "aud": "drover client", "exp": time.time() + 3600, "nonce": liar.nonce, "sub": "liar-1", "email": "liar@example.org",
                      "email_verified": True}
            if not isinstance(liar.lie, dict):
                return self.answer({"id_token": liar.lie} if liar.lie else {})
            claims.update(liar.lie)
            part = base64.urlsafe_b64encode(json.dumps({k: v for k, v in claims.items() if v is not None}).encode()).rstrip(b"=").decode()
            self.answer({"id_token": f"e30.{part}.", "access_token": "a"})

    liar = StandIn(Handler)
    liar.lie, liar.people, liar.waiting = {}, {}, 0
    yield from lent(liar)


def come_back(site, liar):
    browser = Browser(site.port)
    asked = urllib.parse.parse_qs(urllib.parse.urlsplit(browser.get("/oidc/start").headers["Location"]).query)
    liar.nonce = asked["nonce"][0]
    return browser, browser.get(f"/oidc/back?code=c&state={asked['state'][0]}")


def test_a_provider_that_says_other_things_logs_nobody_in(site, liar):
    site.with_provider(liar.address)
    browser, answer = come_back(site, liar)
    assert answer.status == 303 and "drover" in browser.jar
    user, _, secret = base64.b64decode(liar.asked[0].removeprefix("Basic ")).decode().partition(":")
    assert (urllib.parse.unquote(user), urllib.parse.unquote(secret)) == ("drover client", "s3cret/+ of: ours")
    assert liar.asked[1]["grant_type"] == ["authorization_code"] and len(liar.asked[1]["code_verifier"][0]) == 43
    for name, lie in LIES.items():
        liar.lie = lie
        browser, answer = come_back(site, liar)
        assert answer.status == 502 and "drover" not in browser.jar, name
    # Told elsewhere, of whom the token is; and of somebody else.
    liar.lie, liar.people = {"email": None, "email_verified": None}, {"sub": "liar-1", "email": "liar@example.org", "email_verified": True}
    assert come_back(site, liar)[1].status == 303
    liar.people["sub"] = "somebody"
    assert come_back(site, liar)[1].status == 502
    said = site.server.output()
    assert "the id_token is of another log-in" in said and "s3cret" not in said
    assert query(site.env, "SELECT count(*) FROM drover.account WHERE mail = 'liar@example.org'")[0][0] == 1


def test_a_provider_that_hangs_holds_few_threads(site, liar):
    site.with_provider(liar.address)
    liar.hold()
    asked = []
    try:
        with ThreadPoolExecutor(30) as pool:
            asked = [pool.submit(lambda: Browser(site.port).get("/oidc/start").status) for _ in range(30)]
            # Four wait, and all others are told so at once.
            site.server.wait_for("4 log-ins wait for the provider already")
            assert liar.waiting >= 1
            # The log-in page is served meanwhile, by threads that do not wait.
            assert Visitor(site.port).get("/login").status == 200
            until(lambda: any(each.done() for each in asked), site.server)
            liar.release()
    finally:
        liar.release()
    statuses = [each.result() for each in asked]
    assert set(statuses) <= {303, 502} and 502 in statuses, statuses
