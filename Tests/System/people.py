"""People who log in: with their cookies, with or without a browser."""
import functools
import hashlib
import http.client
import re
import urllib.parse
from types import SimpleNamespace

import argon2.low_level as argon2
from harness import HANG_S
from world import connect

PASSWORD = "correct horse battery"
# The least that the server takes: what passwords cost, and what is kept of them, is for test_accounts.py.
SALT, MEMORY_KIB, PASSES = b"salt of somebody", 8, 1


@functools.cache
def kept(password):
    """What the database keeps of it."""
    key = argon2.hash_secret_raw(password.encode(), SALT, PASSES, MEMORY_KIB, 1, 32, argon2.Type.ID)
    return hashlib.blake2b(key, digest_size=32).digest()


def add_account(env, account, *roles, mail=None, password=PASSWORD):
    """Somebody who can log in at once, with a password that is checked in no time."""
    with connect(env) as connection:
        connection.execute(
            """INSERT INTO drover.account AS a (account, mail, roles, password, salt, memory_kib, passes, confirmed_at) VALUES (%s, %s, %s, %s, %s, %s, %s, now())
               ON CONFLICT (account) DO UPDATE SET mail = EXCLUDED.mail, roles = EXCLUDED.roles, password = EXCLUDED.password, salt = EXCLUDED.salt,
                   memory_kib = EXCLUDED.memory_kib, passes = EXCLUDED.passes, confirmed_at = EXCLUDED.confirmed_at""",
            [account, mail or f"{account}@example.org", list(roles), kept(password), SALT, MEMORY_KIB, PASSES])


def token(path):
    return urllib.parse.parse_qs(path.partition("?")[2])["link"][0]


class Visitor:
    """A browser's cookies, without a browser."""

    def __init__(self, port):
        self.port, self.cookie = port, None

    def ask(self, method, path, body=None, **headers):
        headers = {"Sec-Fetch-Site": "same-origin", "User-Agent": "Tests/1", **headers}
        headers = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        if self.cookie:
            headers["Cookie"] = "theme=dark; " + self.cookie
        connection = http.client.HTTPConnection("127.0.0.1", int(self.port), timeout=HANG_S)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        raw = response.read()
        # Files are bytes: what is looked for in them stands in ASCII.
        is_file = response.headers.get_content_type() in ("application/pdf", "application/octet-stream")
        answer = SimpleNamespace(status=response.status, headers=response.headers, body=raw.decode("latin-1" if is_file else "utf-8"))
        connection.close()
        # The one of the session: by the other a browser is known, and tests want to be strangers.
        if said := next((said for said in answer.headers.get_all("Set-Cookie") or [] if "drover-device=" not in said), None):
            self.cookie = said.partition(";")[0]
            if self.cookie.endswith("="):
                self.cookie = None
        return answer

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, path, headers=None, **fields):
        return self.post_items(path, fields, headers)

    def post_items(self, path, fields, headers=None):
        return self.ask("POST", path, urllib.parse.urlencode(fields), **{"Content-Type": "application/x-www-form-urlencoded", **(headers or {})})

    def log_in(self, mail="miller@example.org", password=PASSWORD, **more):
        return self.post("/login", mail=mail, password=password, **more)

    def mark(self, path="/account"):
        """Of the forms of a page."""
        return re.search(r'name="form" value="([0-9a-f]{64})"', self.get(path).body).group(1)


def logged_in(port, who):
    visitor = Visitor(port)
    assert visitor.log_in(f"{who}@example.org").status == 303
    return visitor


def first_administrator(running):
    """Follows the link that `drover up` printed, as somebody does who starts it for the first time."""
    link = urllib.parse.urlsplit(running.wait_for(re.compile(r"within a day: (http\S+)")).group(1))
    visitor = Visitor(link.port)
    chosen = visitor.post("/password", link=token(f"{link.path}?{link.query}"), mail="root@example.org", password=PASSWORD, again=PASSWORD)
    assert chosen.status == 200, chosen.body
    assert visitor.log_in("root@example.org").status == 303
    return visitor


def lend_cookie(visitor, page, address):
    """The page's browser is logged in as the visitor."""
    name, _, value = visitor.cookie.partition("=")
    page.context.add_cookies([{"name": name, "value": value, "url": address}])


def enter(page, address, who, path="/"):
    """Logged in as by the log-in's form, which test_accounts.py and a dispatcher's day go through."""
    visitor = Visitor(urllib.parse.urlsplit(address).port)
    answer = visitor.log_in(f"{who}@example.org", next=path)
    assert (answer.status, answer.headers["Location"]) == (303, path), answer.body
    lend_cookie(visitor, page, address)
    page.goto(address + path)


def follow(page, link):
    """Clicks what leads to another page, or sends a form, until the next page is there."""
    with page.expect_navigation():
        link.click()
