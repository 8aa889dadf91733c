"""Every address as everybody: docs/access.md says who is let in, and the server agrees."""
import base64
import hashlib
import http.client
import re
import secrets
from pathlib import Path

import pytest
from test_surveys_api import routes
from world import connect

ROOT = Path(__file__).resolve().parents[2]
ROLES = ["farmer", "dealer", "developer", "driver", "fleet_manager", "rider", "ride_driver", "dispatcher", "surveyor", "researcher", "ranger", "analyst",
         "operator", "administrator"]
FLEET_READERS = {"farmer", "dealer", "developer", "driver", "fleet_manager", "dispatcher", "analyst", "operator", "administrator"}
SCOPES = ["upload", "read", "account", "survey", "export", "export-people", "export-places"]
PARTS = {"kind": "cars", "zoom": "0", "column": "0", "row": "0", "name": "8R", "version": "1"}


def table():
    rows = re.findall(r"^\| `(\w+) (/[^`]*)` \| ([^|]+) \|$", (ROOT / "docs" / "access.md").read_text(), re.M)
    assert len(rows) == len({row[:2] for row in rows}) > 40
    return {(method, path): who.strip() for method, path, who in rows}


def known(path):
    """As the table has it."""
    return {"/assets/": "/assets/{name}"}.get(path, path.replace("\\(kind.rawValue)", "{kind}"))


@pytest.fixture(scope="module")
def desk(world):
    return Desk(world)


class Desk:
    def __init__(self, world):
        self.env = world.database()
        with connect(self.env) as connection:
            connection.execute("GRANT drover_page TO drover_pages; GRANT drover_reader, drover_api TO drover_web")
            for role in ROLES:
                connection.execute("INSERT INTO drover.account (account, mail, roles, confirmed_at) VALUES (%s, %s, %s, now())", [role, f"{role}@example.org", [role]])
            connection.execute("INSERT INTO drover.account (account, mail, confirmed_at) VALUES ('plain', 'plain@example.org', now())")
            self.tokens = {}
            for scope in SCOPES:
                scopes = ["export", scope] if scope.startswith("export-") else [scope]
                self.tokens[scope] = self.token(connection, "INSERT INTO drover.token (token_id, account, scopes, digest) VALUES (%s, 'programs', %s, %s)",
                                                "t-" + scope, scopes)
        def login(user):
            return re.sub(r"user='?\w+'?", f"user={user}", self.env["DROVER_POSTGRES_URL"])
        self.server = world.drover.start("serve", "--port", "0", "--set", "oidc.issuer=https://127.0.0.1:1", "--set", "oidc.client_id=x", "--set",
                                         "web.public_url=http://127.0.0.1:1", "--set", f"people.code_key_file={self.key()}",
                                         env={**self.env, "DROVER_POSTGRES_READER_URL": login("drover_web"), "DROVER_POSTGRES_PAGE_URL": login("drover_pages"),
                                              "DROVER_POSTGRES_SURVEY_URL": self.env["DROVER_POSTGRES_URL"]})
        self.port = int(self.server.wait_for(r"at http://127\.0\.0\.1:(\d+)/").group(1))

    @staticmethod
    def key():
        path = Path("/tmp") / f"drover-access-{secrets.token_hex(4)}"
        path.write_bytes(b"k" * 32)
        return path

    @staticmethod
    def token(connection, sql, *values):
        text = "drover_" + base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode()
        connection.execute(sql, [*values, hashlib.blake2b(text.encode(), digest_size=32).digest()])
        return text

    def session(self, account):
        """A log-in of its own for each try: some addresses end it."""
        with connect(self.env) as connection:
            return self.token(connection, "INSERT INTO drover.account_session (account, agent, is_kept, digest) VALUES (%s, 'test', false, %s)", account)

    def ask(self, method, path, session=None, token=None):
        path = re.sub(r"\{(\w+)\}", lambda part: PARTS.get(part.group(1), "x-1"), path)
        headers, body = {"Sec-Fetch-Site": "same-origin"}, None
        if token:
            headers["Authorization"] = "Bearer " + token
        if session:
            digest = hashlib.blake2b(session.encode(), digest_size=32).digest()
            mark = hashlib.blake2b(b"form", key=digest, digest_size=32).hexdigest()
            headers |= {"Cookie": "drover=" + session, "X-Drover-Form": mark}
            body = "form=" + mark
        if method in ("POST", "PUT"):
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body if method != "GET" else None, headers)
        answer = connection.getresponse()
        status, location = answer.status, answer.headers["Location"] or ""
        connection.close()
        return "to log in" if status == 303 and location.startswith("/login") else status

    def is_refused(self, answer):
        assert answer == "to log in" or answer < 500 or answer == 502, answer
        return answer in ("to log in", 401, 403)


def test_the_table_has_every_address():
    own = {(method, known(path)) for method, path in routes() if not path.startswith("/v1/campuses/")}
    assert own == set(table()), "docs/access.md and the sources do not have the same addresses"


@pytest.mark.parametrize("address", sorted(table()), ids=" ".join)
def test_an_address_as_everybody(desk, address):
    who, (method, path) = table()[address], address
    nobody = desk.ask(method, path)
    if who.startswith("token "):
        scope = who.removeprefix("token ")
        assert nobody == 401 and desk.ask(method, path, session=desk.session("administrator")) == 401
        for each, token in desk.tokens.items():
            assert desk.is_refused(desk.ask(method, path, token=token)) == (not (each == scope or each.startswith(scope + "-"))), each
        return
    if who == "everybody":
        # A form of the log-in may refuse for its own reasons, and says so in its page.
        assert nobody not in ("to log in", 403) or path == "/logout", nobody
        return
    who, _, scopes = who.partition(", and token ")
    allowed = {"log-in": set(ROLES), "fleet readers": FLEET_READERS}.get(who) or {role.replace(" ", "_") for role in who.split(", ")}
    assert allowed <= set(ROLES)
    assert nobody in ("to log in", 401)
    for role in ROLES:
        answer = desk.ask(method, path, session=desk.session(role))
        # Who logs out is sent to the log-in.
        assert desk.is_refused(answer) == (role not in allowed) or path == "/logout", (role, answer)
    assert desk.is_refused(desk.ask(method, path, session=desk.session("plain"))) == (who != "log-in") or path == "/logout"
    # No token of a program opens a page.
    for scope, token in desk.tokens.items():
        assert desk.is_refused(desk.ask(method, path, token=token)) == (scope not in scopes.split(" or ")), scope
