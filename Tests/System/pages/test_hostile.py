"""A hostile text in every field, read by every role: no page shows it as anything but text, and none shows tags as text."""
import html.parser
import re
import urllib.parse

import pytest
from hostile import HOSTILE, fill
from people import Visitor
from test_access import ROLES, Desk, let_in, table

# Whole, in a text, in JSON in a text, or as a part of an address.
TEXTS = re.compile(r"&lt;q&gt;\\?&quot;&#39;&amp;")
# Streams do not end, and stickers are a PDF.
LEFT_OUT = re.compile(r"/stream$|^/vehicles/stickers|/events$|^/oidc|^/assets|^/tiles|^/v1/live|^/push-worker|\.json$")
# Some end the log-in, and those of a campus wait for a worker.
NEVER_SENT = re.compile(r"^/logout|^/account/second-factor|^/account/password|^/account/sessions|^/account/data|^/login|^/ride|^/drive|^/dispatch/")
PARTS = {"alert": ["x-1", "x-2", "x-3"], "kind": ["machines"], "of": ["x-1"], "parameter": ["Coolant%20Temperature"], "area": ["machines"], "schedule": ["100"], "due": ["1"], "log": ["1"], "report": ["alerts", "trips"]}
# Where more than such a part says which page it is.
WHOLE = {"/queries/{area}/{query}": ["/queries/machines/silent?format=", "/queries/sightings/to_review?format=", "/queries/sightings/species_of_site?site=x-1", "/queries/tours/by_month?format="],
         "/vehicles/{vehicle}": [f"/vehicles/x-1?kind={kind}{tab}" for kind in ("machine", "car") for tab in ("", "&tab=trips", "&tab=alerts", "&tab=charts", "&tab=services", "&tab=codes", "&tab=details")], "/vehicles/marks": ["/vehicles/marks?vehicle=x-2"], "/vehicles/{vehicle}/edit": ["/vehicles/x-1/edit?kind=machine", "/vehicles/x-1/edit?kind=car"]}
# Whatever a page may look at in its address.
QUERY = "account action after area at before behaviour box change class date day days deal fleet format from group kind level link near next of own page paper report said search site sort span species state " \
        "status since surveyor tab tag taxon to trip until vehicle version zone".split()


@pytest.fixture(scope="module")
def desk(world, tmp_path_factory):
    desk = Desk(world, tmp_path_factory.mktemp("hostile") / "key")
    desk.database.execute("UPDATE drover.account SET first_name = %s, last_name = %s", [HOSTILE, HOSTILE])
    fill(desk.database, [*ROLES, "plain"])
    desk.asked, desk.sent = set(), set()
    yield desk
    desk.database.close()
    desk.server.stop()


def entered(desk, role):
    visitor = Visitor(desk.port)
    session = desk.token("INSERT INTO drover.account_session (account, agent, is_kept, digest) VALUES (%s, %s, false, %s)", role, HOSTILE)
    visitor.cookie, visitor.wrong = "drover=" + session, []
    return visitor


def addresses(role):
    """Of pages that are the role's, with what is there in the place of their parts."""
    for (method, path), who in sorted(table().items()):
        if method != "GET" or LEFT_OUT.search(path) or path.startswith("/v1/") or who != "everybody" and role not in let_in(who)[0]:
            continue
        some = WHOLE.get(path, [path])
        for name in re.findall(r"\{(\w+)\}", path):
            some = [each.replace("{" + name + "}", value) for each in some for value in PARTS.get(name, ["x-1"])]
        yield from some


def look(visitor, method, address, body=None):
    """The page; whatever is wrong with it is noted."""
    headers = {"Accept": "text/html", **({"Content-Type": "application/x-www-form-urlencoded"} if body is not None else {})}
    answer = visitor.ask(method, address, body, **headers)
    visitor.wrong += [(method, address.partition("account=")[0], answer.status, *fault) for fault in faults(answer)]
    return answer.body if "text/html" in (answer.headers["Content-Type"] or "") else ""


def faults(answer):
    if answer.status in (500, 503):
        yield answer.body[:300],
    if "text/html" not in (answer.headers["Content-Type"] or ""):
        return
    text = TEXTS.sub("", answer.body)
    # What is left of it was not escaped, or not whole, or twice; tags that people read are HTML that was taken for a text.
    for sign in (r"<q>", r"&lt;q", r"q&gt;", r"&amp;(?:lt|gt|quot|amp|#39);", r"HTML\(", r"Optional\(", r"&lt;/?[a-z][a-z0-9]*[ &/]"):
        if found := re.search(r".{0,60}" + sign + r".{0,40}", text):
            yield sign, found.group()
    yield from Tags(answer.body).faults


class Tags(html.parser.HTMLParser):
    """Each is closed, and has attributes that a page of ours may have."""
    VOID = {"meta", "link", "input", "br", "img", "hr", "option", "path", "line", "rect", "circle"}

    def __init__(self, text):
        super().__init__()
        self.open, self.faults = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name.startswith("on") or not re.fullmatch(r"[a-zA-Z0-9-]+", name) or name in ("href", "src", "action") and not re.match(r"[/?#]|$|data:,$|otpauth:|geo:[-0-9.,]+\?q=[-0-9.,]+$", value or ""):
                self.faults.append((tag, name, value))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID and (self.open.pop() if self.open else None) != tag:
            self.faults.append((tag, "is not what was open"))


class Forms(html.parser.HTMLParser):
    """What a page can send, with a hostile text in each field that somebody writes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = {name: value or "" for name, value in attributes}
        if tag == "form":
            self.found.append((given.get("method", "get").upper(), given.get("action", ""), []))
        elif self.found and given.get("name", "format") != "format" and tag in ("input", "textarea", "button"):
            value = given.get("value", "") if given.get("type") in ("hidden", "checkbox", "radio") or tag == "button" else HOSTILE
            self.found[-1][2].append((given["name"], value))


@pytest.mark.parametrize("role", [*ROLES, "plain"])
def test_no_page_shows_a_text_as_anything_else(desk, role):
    """Each page by each role; what is asked in its address, and its forms, by the first who gets there: who comes after sees what was taken."""
    visitor, shown = entered(desk, role), 0
    for address in addresses(role):
        page = look(visitor, "GET", address)
        shown += bool(TEXTS.search(page))
        if address not in desk.asked:
            desk.asked.add(address)
            look(visitor, "GET", address + ("&" if "?" in address else "?") + urllib.parse.urlencode(dict.fromkeys(QUERY, HOSTILE)))
        for method, action, fields in Forms(page).found:
            # One of each kind.
            kind = method, re.sub(r"x-\d+|\d+", "", action), tuple(name for name, _ in fields)
            if kind not in desk.sent and not NEVER_SENT.search(action):
                desk.sent.add(kind)
                body = urllib.parse.urlencode(fields)
                look(visitor, method, action if method == "POST" else f"{action}?{body}", body if method == "POST" else None)
    assert not visitor.wrong, "\n".join(map(str, visitor.wrong))
    assert shown >= (1 if role == "plain" else 3), shown
