"""People who log in: with their cookies, with or without a browser."""
import http.client
import re
import urllib.parse
from types import SimpleNamespace

PASSWORD = "correct horse battery"


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
        connection = http.client.HTTPConnection("127.0.0.1", int(self.port), timeout=30)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        answer = SimpleNamespace(status=response.status, headers=response.headers, body=response.read().decode())
        connection.close()
        if said := answer.headers["Set-Cookie"]:
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

    def mark(self):
        return re.search(r'name="form" value="([0-9a-f]{64})"', self.get("/account").body).group(1)


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
    """By the log-in's form, as people do."""
    page.goto(f"{address}/login?next={urllib.parse.quote(path, safe='')}")
    page.get_by_label("Mail address").fill(f"{who}@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda url: "/login" not in url)
