"""What somebody hostile sends, one attack a test; docs/security.md is their list with what comes of them."""
import gzip
import io
import json
import re
import socket
import struct
import time
import urllib.parse
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness import HANG_S, is_long, until
from people import PASSWORD, Visitor
from test_access import table
from test_pages import Fleet
from world import connect

# Scripts that ask for what a page does not hold.
FETCHING = ["fleet-map.js", "nature/tours.js", "nature/tour-preview.js", "nature/survey-form.js", "nature/sightings.js"]
HOSTILE = "'\"><img src=x onerror=pwned=1><script>pwned=1</script>"


@pytest.fixture(scope="module")
def fleet(world, tmp_path_factory):
    fleet = Fleet(world, tmp_path_factory.mktemp("attacks"), takes_surveys=True)
    run = world.drover.done("token", "add", "--account", "manager", *[word for scope in ("upload", "survey", "read", "account", "export") for word in ("--scope", scope)], env=fleet.env)
    fleet.token = run.out.strip()
    yield fleet
    fleet.close()


@pytest.fixture
def port(fleet):
    """Whatever was done to it, the server answers as before, at once, and says nothing it should not."""
    port = int(fleet.site.port)
    yield port
    answer = Visitor(port).get("/healthz")
    assert (answer.status, answer.body) == (200, "ok\n")


def raw(port, sent):
    """What comes until the server hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=HANG_S) as link:
        got = b""
        try:
            link.sendall(sent)
            while piece := link.recv(65536):
                got += piece
        except (BrokenPipeError, ConnectionResetError):
            pass
        return got


def statuses(got):
    return [int(code) for code in re.findall(rb"HTTP/1\.[01] (\d+) ", got)]


def post(fleet, path, body, **headers):
    visitor = Visitor(fleet.site.port)
    return visitor.ask("POST", path, body, Authorization="Bearer " + fleet.token, **headers)


# MARK: Requests

def test_a_flood_of_log_ins_holds_up_nobody_else(port):
    """Passwords are hashed a few at a time; others are sent away at once and told when to come back."""
    def log_in(number):
        answer = Visitor(port).log_in(f"nobody-{number}@example.org", "not the right one")
        return answer.status, answer.headers["Retry-After"]
    with ThreadPoolExecutor(40) as crowd:
        asked = [crowd.submit(log_in, number) for number in range(40)]
        meanwhile = [Visitor(port).get("/login").status for _ in range(20)]
        answers = [each.result() for each in asked]
    assert set(meanwhile) == {200}
    assert {status for status, _ in answers} == {401, 503}
    assert all(again for status, again in answers if status == 503)


@pytest.mark.parametrize("head", [b"GET /login\0x HTTP/1.1\r\nHost: x\r\n", b"GET /login?a=\0b HTTP/1.1\r\nHost: x\r\n", b"GE\0T /login HTTP/1.1\r\nHost: x\r\n",
                                  b"GET /login HTTP/1.1\r\nHost: x\r\nCookie: a=b\0c\r\n", b"GET /login HTTP/1.1\r\nHost: x\0y\r\n",
                                  # For whom a lone CR ends a line, this is one request with a body, and not two.
                                  b"POST /login HTTP/1.1\r\nHost: x\r\nX-A: b\rContent-Length: 34\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n",
                                  b"GET /login HTTP/1.1\r\nHost: x\r\nX-A: b\x01c\r\n"])
def test_a_nul_in_a_head_is_refused(port, head):
    assert statuses(raw(port, head + b"\r\n"))[:1] == [400]


def test_a_slow_request_is_cut_and_others_are_served_meanwhile(fleet):
    """Slowloris: a byte now and then, in the head and in the body."""
    server, _, port = fleet.site.server_beside(0, "--set", "web.receive_s=2")
    links = []
    for head in (b"GET / HTTP/1.1\r\nHost: x\r\nX-A: ", b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"):
        for _ in range(20):
            link = socket.create_connection(("127.0.0.1", int(port)), timeout=HANG_S)
            link.sendall(head)
            link.setblocking(False)
            links.append(link)
    served = []

    def dribble():
        served.append(Visitor(port).get("/healthz").status)
        for link in list(links):
            try:
                link.send(b"a")
                if not link.recv(65536):
                    raise ConnectionResetError
            except BlockingIOError:
                pass
            except OSError:
                link.close()
                links.remove(link)
        return not links

    until(dribble, server, about="the end of all slow requests")
    assert set(served) == {200}
    server.stop()


FILM = 32 << 20


def begin_film(port, cookie=None, count=FILM):
    """A connection that has sent so much of a film, as far as the server takes it."""
    link = socket.create_connection(("127.0.0.1", int(port)), timeout=HANG_S)
    head = f"POST /tour-media?tour=none HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\nContent-Length: {FILM}\r\n"
    try:
        link.sendall((head + (f"Cookie: {cookie}\r\n" if cookie else "") + "\r\n").encode() + bytes(count))
    except (BrokenPipeError, ConnectionResetError):
        pass
    until(lambda: not unread(link), about="the server's reading of it")
    return link


def unread(link):
    """Bytes on their way to the server, and in front of it, by the kernel's table."""
    try:
        ours, theirs = link.getsockname()[1], link.getpeername()[1]
    except OSError:
        return 0
    rows = [line.split() for line in open("/proc/net/tcp")][1:]
    ends = {tuple(int(end.split(":")[1], 16) for end in row[1:3]): [int(count, 16) for count in row[4].split(":")] for row in rows}
    return ends.get((ours, theirs), [0, 0])[0] + ends.get((theirs, ours), [0, 0])[1]


def assert_served(fleet, port):
    """Somebody logs in, a phone hands in a few readings, another many."""
    for _ in range(10):
        assert Visitor(port).log_in("manager@example.org").status == 303
        for body in (b"[]", b"[]" + b" " * 200_000):
            answer = Visitor(port).ask("POST", "/v1/readings", body, Authorization="Bearer " + fleet.token, Content_Type="application/json")
            assert answer.status == 200, answer.body


def test_a_strangers_megabytes_are_not_held(fleet):
    """Two films but for their last bytes were all that bodies may have: nobody could log in or hand in anything for half an hour."""
    server, _, port = fleet.site.server_beside()
    links = [begin_film(port, count=FILM - 1) for _ in range(4)]
    assert_served(fleet, port)
    for link in links:
        link.close()
    assert statuses(raw(port, f"POST /tour-media HTTP/1.1\r\nHost: x\r\nContent-Length: {FILM}\r\n\r\n".encode())) == [401]
    server.stop()


def test_one_accounts_films_keep_nobody_out(fleet):
    fleet.site.with_account("rita", "rita@example.org", PASSWORD, "ranger")
    server, _, port = fleet.site.server_beside()
    rita = Visitor(port)
    rita.log_in("rita@example.org")
    held = begin_film(port, rita.cookie, FILM - 1)
    more = [begin_film(port, rita.cookie) for _ in range(3)]
    for link in more:
        assert statuses(link.recv(65536))[:1] == [429]
    assert_served(fleet, port)
    for link in [held, *more]:
        link.close()
    # Who has no films to hand in has no such room.
    sam = Visitor(port)
    sam.log_in("sam@example.org")
    assert statuses(raw(port, f"POST /tour-media HTTP/1.1\r\nHost: x\r\nCookie: {sam.cookie}\r\nExpect: 100-continue\r\nContent-Length: {FILM}\r\n\r\n".encode())) == [403]
    server.stop()


def test_megabytes_buy_no_time_to_trickle(fleet):
    """Eight minutes for 8 MiB that came at once, and half an hour for a film."""
    fleet.site.with_account("rita", "rita@example.org", PASSWORD, "ranger")
    server, _, port = fleet.site.server_beside(0, "--set", "web.receive_s=2")
    rita = Visitor(port)
    rita.log_in("rita@example.org")
    link = begin_film(port, rita.cookie, 8 << 20)
    link.setblocking(False)

    def is_cut():
        try:
            link.send(b"a")
            return not link.recv(65536)
        except BlockingIOError:
            return False
        except OSError:
            return True

    until(is_cut, server, about="the end of the slow request")
    server.stop()


@pytest.mark.parametrize("head", [
    b"X: " + b"a" * 100_000 + b"\r\n", b"".join(b"X-%d: a\r\n" % n for n in range(20_000)), b"Cookie: " + b"a=b; " * 20_000 + b"\r\n",
    b"Cookie: drover=" + b"x" * 8_000 + b"\r\n"], ids=["long header", "many headers", "cookies", "long session"])
def test_huge_heads_are_refused(port, head):
    got = raw(port, b"GET /account HTTP/1.1\r\nHost: 127.0.0.1\r\n" + head + b"Connection: close\r\n\r\n")
    # What is too long may be cut off before it was read to its end.
    assert all(code in (303, 400, 413, 431) for code in statuses(got))
    assert len(got) < 5_000


def test_a_huge_address_is_refused(port):
    assert all(code in (400, 413, 414, 431) for code in statuses(raw(port, b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")))


@pytest.mark.parametrize("head,body", [
    (b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    (b"Content-Length: 5\r\nContent-Length: 6\r\n", b"abcdeGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    (b"Transfer-Encoding: xchunked\r\n", b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    (b"Transfer-Encoding: chunked, identity\r\n", b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    (b"Content-Length : 5\r\n", b"abcdeGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    (b"Content-Length: +5\r\n", b"abcdeGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    (b"Transfer-Encoding: chunked\r\n", b"fffffffffffffffff\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    (b"Transfer-Encoding: chunked\r\n", b"3;a\nabc\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    (b"Transfer-Encoding: chunked\r\n", b"3\r\nabc\r\n0\n\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    (b"X: a\0b\r\nContent-Length: 0\r\n", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    (b"X: a\r\n Content-Length: 46\r\n", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")],
    ids=["both lengths", "two lengths", "unknown coding", "list of codings", "blank before colon", "signed length", "chunk too large",
         "bare LF behind a chunk's word", "bare LF at the end of chunks", "NUL in a header", "header of two lines"])
def test_no_request_is_smuggled_behind_another(port, head, body):
    got = raw(port, b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\n" + head + b"\r\n" + body)
    assert 200 not in statuses(got) and b"ok\n" not in got, got[:300]


def test_no_header_is_made_of_what_was_sent(port):
    visitor = Visitor(port)
    for path in ["/login?next=%0d%0aSet-Cookie:%20a=b", "/account?x=%0d%0aSet-Cookie:%20a=b", "/trips?date=%0d%0aX:%20y", "/assets/%0d%0aX:%20y"]:
        answer = visitor.get(path)
        assert answer.headers["X"] is None and "a=b" not in (answer.headers["Set-Cookie"] or ""), path


@pytest.mark.parametrize("target", ["//evil.example/", "https://evil.example/", "/\\evil.example/", "\\\\evil.example", "/%09/evil.example", "javascript:alert(1)", "/login/../..//evil.example"])
def test_who_logs_in_stays_here(fleet, port, target):
    visitor = Visitor(port)
    answer = visitor.ask("POST", "/login?next=" + urllib.parse.quote(target, safe=""),
                         urllib.parse.urlencode({"mail": "manager@example.org", "password": PASSWORD, "next": target}),
                         **{"Content-Type": "application/x-www-form-urlencoded"})
    assert answer.status == 303
    place = urllib.parse.urljoin(f"http://127.0.0.1:{port}/login", answer.headers["Location"].replace("\\", "/"))
    assert urllib.parse.urlsplit(place).netloc == f"127.0.0.1:{port}", answer.headers["Location"]


TRAVERSALS = ["../../../../etc/passwd", "..%2f..%2f..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/%2e%2e/etc/passwd", "..%5c..%5cetc%5cpasswd", "%252e%252e%252fetc%252fpasswd",
              "....//....//etc/passwd", "/etc/passwd", "%00", "pages.css%00.js", "..;/..;/etc/passwd", "%c0%ae%c0%ae/etc/passwd"]


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_path_leads_out(fleet, port, path):
    visitor = Visitor(port)
    visitor.log_in("manager@example.org")
    for pattern in ["/assets/{}", "/v1/models/{}/thresholds.xml", "/v1/models/{}/picture", "/tiles/0/0/{}", "/vehicles/{}", "/v1/trouble-codes?make={}", "/v1/tours/{}", "/{}"]:
        got = raw(port, b"GET " + pattern.format(path).encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nCookie: " + visitor.cookie.encode() + b"\r\n\r\n")
        assert b"root:" not in got, pattern
        assert statuses(got)[:1] and statuses(got)[0] < 500, (pattern, got[:200])


# MARK: Bodies

def test_what_unpacks_to_too_much_is_refused(fleet, port):
    """A gigabyte of zeros in a megabyte, a tenth of that in the short form; thousands of them in a row; one inside another."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(1000 if is_long() else 100)) + packer.flush()
    # It is its size that is refused, before anybody reads what it is; of the others it may be the form.
    too_large, wrong = [bomb, gzip.compress(bytes(9 << 20))], [gzip.compress(b"[]") * 20_000, gzip.compress(gzip.compress(bytes(1 << 20)))]
    for body, wanted in [*((body, {413}) for body in too_large), *((body, {400, 413, 422}) for body in wrong)]:
        answer = post(fleet, "/v1/readings", body[: 1 << 20], Content_Type="application/json", Content_Encoding="gzip")
        assert answer.status in wanted, answer.body


@pytest.mark.parametrize("body", [
    b"[" * 500_000, b'{"a":' * 100_000, b'[{"schema":1e99999}]', b'"' + b"\\u0000" * 1000 + b'"', b'{"schema":1,"schema":1}', b"\xff\xfe[]", b"[1,2,3" + b"," * 100_000,
    b'[{"ts":' + b"9" * 100_000 + b"}]"], ids=["deep lists", "deep objects", "huge exponent", "nulls", "twice", "utf-16", "commas", "huge number"])
def test_rubbish_json_is_refused(fleet, port, body):
    for path in ["/v1/readings", "/v1/readings/cars", "/v1/trips", "/v1/surveys", "/v1/tour-visits"]:
        answer = post(fleet, path, body, Content_Type="application/json")
        assert 400 <= answer.status < 500, (path, answer.status, answer.body[:200])


LAUGHS = '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{("&" + chr(97 + n) + ";") * 10}">' for n in range(9)) + "]>"
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY j SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("prologue", [LAUGHS, OUTSIDE], ids=["a billion laughs", "a file as an entity"])
def test_xml_has_no_entities_of_its_own(fleet, port, prologue):
    call = prologue + "<methodCall><methodName>system.connect</methodName><params><param><value><string>&j;</string></value></param></params></methodCall>"
    answer = post(fleet, "/v1/xmlrpc", call, Content_Type="text/xml")
    assert "root:" not in answer.body and ("fault" in answer.body or answer.status == 400) and len(answer.body) < 10_000


def png(more=b"", side=1):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"") + more


def archive():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("index.html", "<script>pwned=1</script>")
    return out.getvalue()


@pytest.mark.parametrize("name,file", [
    ("a picture with an archive behind it", png(archive())), ("a picture with a page behind it", png(b"<html><script>pwned=1</script>")),
    ("a page", b"<html><script>pwned=1</script></html>"), ("a drawing with a script", b"<svg xmlns='http://www.w3.org/2000/svg' onload='pwned=1'/>"),
    ("a GIF that is a script", b"GIF89a/*" + bytes(20) + b"*/=1;pwned=1"), ("the first bytes of a JPEG, then a page", b"\xff\xd8\xff\xe0<html><script>pwned=1</script>"),
    ("an archive", archive()), ("nothing", b"")], ids=lambda value: value if isinstance(value, str) else "")
def test_a_file_that_is_two_things_is_no_picture(fleet, port, name, file):
    for kind in ("image/png", "image/jpeg"):
        answer = post(fleet, "/v1/survey-photos", file, Content_Type=kind)
        # Taken at most as the picture alone, without what was hidden in it.
        if answer.status == 201:
            assert json.loads(answer.body)["bytes"] <= len(png()), name
        else:
            assert answer.status in (400, 415, 422), (name, answer.status)


def test_a_picture_that_unpacks_to_gigabytes_is_refused(fleet, port):
    answer = post(fleet, "/v1/survey-photos", png(side=50_000), Content_Type="image/png")
    assert answer.status == 415 and "50000 by 50000 pixels" in answer.body


# MARK: Texts that are scripts

def test_no_text_that_somebody_wrote_runs(fleet, port, page, watch):
    """The same hostile text wherever somebody may write: each page shows it, none runs it."""
    def ask(*words):
        fleet.world.drover.done(*words, env=fleet.env)
    ask("vehicle", "register", "hostile-car", "--kind", "car", "--name", HOSTILE, "--tags", HOSTILE, "--by", HOSTILE)
    ask("vehicle", "register", "hostile-machine", "--name", HOSTILE, "--tags", HOSTILE, "--by", HOSTILE)
    now = int(time.time() * 1000)
    fleet.world.push("drover.machines", *[
        {"schema": 1, "kind": "reading", "id": f"h-{n}", "vehicle": "hostile-machine", "ts": now - (3 - n) * 60_000, "model": HOSTILE[:64] if n else "S690 Combine", "serial": HOSTILE[:64],
         "firmware": HOSTILE[:64], "connected_device_names": [HOSTILE[:64]], "coolant_c": 99, "latitude_deg": 42, "longitude_deg": -93, "gps_available": True} for n in range(3)])
    fleet.drive("hostile-car", now - 60_000, range(50), speed_kmh=50, latitude_deg=49, longitude_deg=8.4)
    tag = {"schema": 1, "kind": "trip_tag", "id": "h-tag", "vehicle": "hostile-car", "ts": now, "trip_ts": now - 30_000, "tag": HOSTILE}
    scan = {"schema": 1, "kind": "scan", "id": "h-scan", "vehicle": "hostile-car", "ts": now - 40_000, "text": HOSTILE, "done": True, "stored": ["P0133"], "vin": HOSTILE[:17]}
    for path, record in (("/v1/trips", tag), ("/v1/scans", scan)):
        answer = post(fleet, path, json.dumps(record), Content_Type="application/json")
        assert answer.status in (200, 422), answer.body
    survey = {"schema": 1, "survey": "hostile", "site": "hostile-site", "site_name": HOSTILE, "route": HOSTILE, "start": "2020-05-01T13:00:00+03:00", "stop": "2020-05-01T13:33:00+03:00", "comments": HOSTILE,
              "protocol": HOSTILE, "surveyors": [{"name": HOSTILE, "role": "recorder", "mail": HOSTILE, "phone": HOSTILE, "expertise": HOSTILE}],
              "sightings": [{"species": HOSTILE, "count": 1, "latitude": -3.4, "longitude": 40, "comments": HOSTILE, "behaviour": HOSTILE, "habitat": HOSTILE}]}
    answer = post(fleet, "/v1/surveys", json.dumps(survey), Content_Type="application/json")
    assert answer.status == 201, answer.body
    roles = "farmer dealer developer driver fleet_manager dispatcher surveyor researcher ranger analyst operator administrator".split()
    with connect(fleet.env) as connection:
        connection.execute("UPDATE drover.account SET first_name = %s, last_name = %s, roles = %s WHERE account = 'manager'", [HOSTILE, HOSTILE, roles])
        connection.execute("UPDATE drover.account SET first_name = %s, last_name = %s WHERE account = 'ada'", [HOSTILE, HOSTILE])
    fleet.world.tick()
    until(lambda: fleet.query("SELECT 1 FROM drover.alert WHERE vehicle = 'hostile-machine'") and fleet.query("SELECT 1 FROM drover.survey WHERE survey = 'hostile'"), fleet.worker)
    alert, = fleet.query("SELECT alert_id FROM drover.alert WHERE vehicle = 'hostile-machine' LIMIT 1")[0]
    fleet.enter(page)
    page.goto(fleet.address + "/tours")
    made = page.evaluate("""async text => {
        const form = document.querySelector("main form");
        for (const field of form.querySelectorAll("input:not([type=hidden])")) field.value = text;
        form.requestSubmit(); }""", HOSTILE)
    assert made is None
    page.wait_for_url(lambda url: "/tours/" in url)
    flying = set()

    def landed(request):
        flying.discard(request)
    heard = {"request": lambda request: request.resource_type != "eventsource" and flying.add(request), "requestfinished": landed, "requestfailed": landed}
    for event, hear in heard.items():
        page.on(event, hear)

    def is_quiet():
        """Scripts go on for a while after the page is there."""
        return page.evaluate("() => new Promise((done) => requestIdleCallback(() => done(true)))") and not flying
    tour = urllib.parse.urlsplit(page.url).path.split("/")[2]
    values = {"alert": alert, "tour": tour, "site": "hostile-site", "survey": "hostile"}
    manager = Visitor(fleet.site.port)
    manager.log_in("manager@example.org")
    walked, seen = [], 0
    for (method, path), who in sorted(table().items()):
        # Not what pages fetch by script: going to a stream would never end.
        if method != "GET" or path.startswith(("/v1/", "/assets", "/tiles", "/oidc", "/openapi", "/healthz")) or path.endswith(("/draft", "}/visits", "/media/{medium}", "/export", "/events", "/stream")):
            continue
        for vehicle in ("hostile-machine", "hostile-car") if "{vehicle}" in path else ("",):
            address = re.sub(r"\{(\w+)\}", lambda part: values.get(part.group(1), vehicle), path)
            head, _, body = raw(port, f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nCookie: {manager.cookie}\r\n\r\n".encode()).decode(errors="replace").partition("\r\n\r\n")
            if "text/html" not in head:
                continue
            assert "<img src=x" not in body and "<script>pwned" not in body, address
            # A page that does not hold the text shows it only if a script of its own asks for more.
            if not is_long() and "pwned" not in body.split("<main", 1)[-1] and not any(script in body for script in FETCHING):
                continue
            walked.append(address)
            page.goto(fleet.address + address)
            until(is_quiet, about=f"the end of what {address} loads")
            ran, made, shown = page.evaluate("""text => [typeof pwned, document.querySelectorAll("img[src=x], a[href^='javascript:'], main [onerror], main [onmouseover]").length,
                document.body.innerText.includes(text) || [...document.querySelectorAll("input, textarea")].some((one) => one.value.includes(text))]""", HOSTILE)
            assert (ran, made) == ("undefined", 0), address
            assert not watch.outside and not watch.errors, address
            seen += shown
            # Pages of what is not there are 404.
            watch.forgive()
    for event, hear in heard.items():
        page.remove_listener(event, hear)
    assert seen >= 15 and f"/tours/{tour}" in walked, (seen, walked)
