"""Every address as everybody: docs/access.md says who is let in, and the server agrees."""
import base64
import hashlib
import http.client
import re
import secrets

import pytest
from harness import HANG_S, ROOT
from test_surveys_api import routes
from world import as_served, connect

ROLES = ["farmer", "dealer", "developer", "driver", "fleet_manager", "rider", "ride_driver", "dispatcher", "surveyor", "researcher", "ranger", "analyst",
         "operator", "administrator"]
FLEET_READERS = {"farmer", "dealer", "developer", "driver", "fleet_manager", "dispatcher", "analyst", "operator", "administrator"}
SCOPES = ["upload", "read", "account", "survey", "export", "export-people", "export-places", "query", "audit"]
PARTS = {"kind": "cars", "zoom": "0", "column": "0", "row": "0", "name": "8R", "version": "1"}


def table():
    rows = re.findall(r"^\| `(\w+) (/[^`]*)` \| ([^|]+) \|$", (ROOT / "docs" / "access.md").read_text(), re.M)
    assert len(rows) == len({row[:2] for row in rows}) > 40
    return {(method, path): who.strip() for method, path, who in rows}


def known(path):
    """As the table has it."""
    return {"/assets/": "/assets/{name}"}.get(path, path.replace("\\(kind.rawValue)", "{kind}"))


@pytest.fixture(scope="module")
def desk(world, tmp_path_factory):
    desk = Desk(world, tmp_path_factory.mktemp("access") / "key")
    yield desk
    desk.database.close()
    desk.server.stop()


class Desk:
    def __init__(self, world, key):
        self.env, self.link = world.database(), None
        key.write_bytes(b"k" * 32)
        self.database = connection = connect(self.env)
        for role in ROLES:
            connection.execute("INSERT INTO drover.account (account, mail, roles, confirmed_at) VALUES (%s, %s, %s, now())", [role, f"{role}@example.org", [role]])
        connection.execute("INSERT INTO drover.account (account, mail, confirmed_at) VALUES ('plain', 'plain@example.org', now())")
        connection.execute("INSERT INTO drover.account (account) VALUES ('programs')")
        self.tokens = {}
        for scope in SCOPES:
            scopes = ["export", scope] if scope.startswith("export-") else [scope]
            # What is for administrators is, whatever a token says.
            self.tokens[scope] = self.token("INSERT INTO drover.token (token_id, account, scopes, digest) VALUES (%s, %s, %s, %s)", "t-" + scope,
                                            "administrator" if scope == "audit" else "programs", scopes)
        self.server = world.drover.start("serve", "--port", "0", "--set", "oidc.issuer=https://127.0.0.1:1", "--set", "oidc.client_id=x", "--set",
                                         "web.public_url=http://127.0.0.1:1", "--set", f"people.code_key_file={key}",
                                         env={**as_served(self.env), "DROVER_POSTGRES_SURVEY_URL": self.env["DROVER_POSTGRES_URL"]})
        self.port = self.server.page_port

    def token(self, sql, *values):
        text = "drover_" + base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode()
        self.database.execute(sql, [*values, hashlib.blake2b(text.encode(), digest_size=32).digest()])
        return text

    def ask(self, address, account=None, token=None):
        """By one connection, as long as answers leave it open. With a log-in of its own for each try: some addresses end it."""
        method, path = address
        path = re.sub(r"\{(\w+)\}", lambda part: PARTS.get(part.group(1), "x-1"), path)
        headers, body = {"Sec-Fetch-Site": "same-origin"}, None
        if token:
            headers["Authorization"] = "Bearer " + token
        if account:
            session = self.token("INSERT INTO drover.account_session (account, agent, is_kept, digest) VALUES (%s, 'test', false, %s)", account)
            digest = hashlib.blake2b(session.encode(), digest_size=32).digest()
            mark = hashlib.blake2b(b"form", key=digest, digest_size=32).hexdigest()
            headers |= {"Cookie": "drover=" + session, "X-Drover-Form": mark}
            body = "form=" + mark
        if method in ("POST", "PUT"):
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        while True:
            is_fresh, link = self.link is None, self.link or http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG_S)
            try:
                link.request(method, path, body if method != "GET" else None, headers)
                answer = link.getresponse()
                break
            except ConnectionError:
                self.link = link.close()
                assert not is_fresh, f"{method} {path}: no answer"
        status, location = answer.status, answer.headers["Location"] or ""
        # Streams do not end, and who refuses a body that it has not read hangs up.
        if answer.headers["Content-Length"] is None or answer.will_close:
            self.link = link.close()
        else:
            answer.read()
            self.link = link
        return "to log in" if status == 303 and location.startswith("/login") else status

    def is_refused(self, answer):
        assert answer == "to log in" or answer < 500 or answer == 502, answer
        return answer in ("to log in", 401, 403)


def let_in(who):
    """Roles and scopes of tokens that the table lets in; no roles: everybody who has logged in."""
    if who.startswith("token "):
        return set(), {who.removeprefix("token ")}
    who, _, scopes = who.partition(", and token ")
    roles = {"log-in": set(ROLES) | {"plain"}, "fleet readers": FLEET_READERS}.get(who) or {role.replace(" ", "_") for role in who.split(", ")}
    assert roles <= set(ROLES) | {"plain"}, roles
    return roles, set(scopes.split(" or ")) if scopes else set()


ADDRESSES = [(address, who) for address, who in sorted(table().items())]
CLOSED = [(address, who) for address, who in ADDRESSES if who != "everybody"]


def test_the_table_has_every_address():
    own = {(method, known(path)) for method, path in routes() if not path.startswith("/v1/campuses/")}
    assert own == set(table()), "docs/access.md and the sources do not have the same addresses"


def test_every_address_as_nobody(desk):
    wrong = []
    for address, who in ADDRESSES:
        answer = desk.ask(address)
        # A form of the log-in may refuse for its own reasons, and says so in its page.
        is_right = (answer not in ("to log in", 403) or address[1] == "/logout") if who == "everybody" else answer == 401 or answer == "to log in" and not who.startswith("token ")
        if not is_right:
            wrong.append((*address, who, answer))
    assert wrong == []


@pytest.mark.parametrize("role", [*ROLES, "plain"])
def test_every_address_as_a_role(desk, role):
    wrong = []
    for address, who in CLOSED:
        is_for_programs = who.startswith("token ")
        if is_for_programs and role != "administrator":
            continue  # If not theirs, whose?
        answer = desk.ask(address, account=role)
        # Who logs out is sent to the log-in.
        is_right = answer == 401 if is_for_programs else desk.is_refused(answer) == (role not in let_in(who)[0]) or address[1] == "/logout"
        if not is_right:
            wrong.append((*address, who, answer))
    assert wrong == []


@pytest.mark.parametrize("scope", SCOPES)
def test_every_address_with_a_token(desk, scope):
    """No token of a program opens a page."""
    wrong = []
    for address, who in CLOSED:
        scopes = let_in(who)[1]
        # Who may export with names or places may export.
        is_let_in = scope in scopes or who.startswith("token ") and any(scope.startswith(each + "-") for each in scopes)
        answer = desk.ask(address, token=desk.tokens[scope])
        if desk.is_refused(answer) == is_let_in:
            wrong.append((*address, who, answer))
    assert wrong == []


@pytest.mark.parametrize("role", [*ROLES, "plain"])
def test_the_audit_log_is_read_by_programs_of_administrators_alone(desk, role):
    token = desk.token("INSERT INTO drover.token (token_id, account, scopes, digest) VALUES (%s, %s, '{audit}', %s)", "t-audit-" + role, role)
    assert desk.ask(("GET", "/v1/audit"), token=token) == (200 if role == "administrator" else 403)
