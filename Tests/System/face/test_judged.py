"""Others' judges of what browsers load and are shown: web-check in ../shared/tools/web, or where WEB_CHECK says; with Node 20, and Java 17 for pages."""
import collections
import html
import http.client
import json
import os
import re
import shutil
import subprocess
import urllib.parse
from pathlib import Path

import pytest
from harness import HANG_S, ROOT, Drover, scratch

JUDGE = Path(os.environ.get("WEB_CHECK", ROOT.parent / "shared/tools/web/web-check"))
pytestmark = pytest.mark.skipif(not JUDGE.exists() or not shutil.which("node"), reason="web-check or Node is not here: name it in WEB_CHECK")

ASSETS = ROOT / "Sources/People/Web/Assets"
OF_OTHERS = ["maplibre", "uplot", "qr", "lucide"]
# Pages that no link leads to, or that only strangers see.
BEGIN = ["/", "/home", "/search?q=post", "/vehicles/new", "/thresholds/new", "/thresholds/tests", "/reports/schedules", "/field/north-combine", "/account/second-factor",
         "/login", "/sample", "/register", "/forgot", "/password", "/login/code", "/trail-tours", "/about", "/nothing-here", "/notices/acknowledge", "/notices/end-mail"]


def judged(*arguments):
    run = subprocess.run([str(JUDGE), *map(str, arguments), "--json"], capture_output=True, text=True)
    assert run.returncode in (0, 1), run.stdout + run.stderr
    answer = json.loads(run.stdout)
    assert answer["checked"] > 0
    return [finding for finding in answer["findings"] if finding["severity"] == "error"]


@pytest.mark.parametrize("judge", [["css"], ["js"], ["types", "--level", "normal"]], ids=lambda judge: judge[0])
def test_styles_and_scripts_have_no_faults(judge):
    assert judged(*judge, ASSETS, *(word for name in OF_OTHERS for word in ("--exclude", name))) == []


def test_the_description_of_the_api_has_no_faults():
    assert judged("openapi", ASSETS / "openapi.json") == []


def get(port, path, cookie, method="GET", body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANG_S)
    connection.request(method, path, body, {"Cookie": cookie, "Sec-Fetch-Site": "same-origin", "Accept": "text/html", **headers})
    answer = connection.getresponse()
    content = b"" if answer.headers["Content-Length"] is None else answer.read()
    connection.close()
    return answer, content.decode(errors="replace")


def kinds(path):
    """Of pages that differ by what they show only, one is looked at: the address without names, days and values, with each of its parameters."""
    url = urllib.parse.urlsplit(path)
    place = re.sub(r"^/(vehicles|field|cars|alerts|tours|trail-tours|surveys|sightings/species)/(?!new|enter|species)[^/]+", r"/\1/x", url.path)
    place = re.sub(r"^/trips/(?!compare)[^/]+/\d+", "/trips/x", re.sub(r"/\d{6,}", "/n", re.sub(r"^/thresholds/(\w+)/[^/]+", r"/thresholds/\1/x", place)))
    values = urllib.parse.parse_qsl(url.query, keep_blank_values=True)
    return {(place,), *((place, name, value if name in ("tab", "report", "kind") else "") for name, value in values)}


def pages_of(port, cookie, **headers):
    """Every kind of page that links lead to, with what it says."""
    seen, left = set(), collections.deque(BEGIN)
    while left:
        path = left.popleft()
        if re.match(r"/(assets|v1|oidc|logout)\b", path) or kinds(path) <= seen:
            continue
        seen |= kinds(path)
        answer, page = get(port, path, cookie, **headers)
        assert answer.status < 500 or path in ("/register", "/forgot"), (path, answer.status)
        if answer.status == 303:
            left.append(answer.headers["Location"])
        elif (answer.headers["Content-Type"] or "").startswith("text/html"):
            yield path, page
            left.extend(urllib.parse.urljoin(path, html.unescape(link)) for link in re.findall(r'href="([^"#:]+)', page))


@pytest.mark.long(reason="six hundred pages and a start of Java")
def test_no_page_of_anybody_has_a_fault(program, tmp_path):
    folder, drover = scratch("drover-judged-"), Drover(program)
    try:
        running = drover.up(folder / "data", "--sample")
        port = urllib.parse.urlsplit(running.page).port
        people = re.findall(r'name="account" value="([^"]+)"', get(port, "/sample", "")[1])
        assert len(people) >= 12
        for who in ["", *people]:
            cookie = ""
            if who:
                form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{port}"}
                cookie = get(port, "/sample", "", "POST", f"account={who}", **form)[0].headers["Set-Cookie"].partition(";")[0]
            (tmp_path / (who or "nobody")).mkdir()
            for path, page in pages_of(port, cookie):
                (tmp_path / (who or "nobody") / (re.sub(r"[^\w=&.-]+", "_", path)[:150] + ".html")).write_text(page)
    finally:
        drover.close()
        shutil.rmtree(folder, ignore_errors=True)
    # Boxes of one name are a list, as browsers send it; so are the hidden channels of a severity.
    rules = json.loads((JUDGE.parent / "config/html-validate.json").read_text())
    rules["rules"]["form-dup-name"] = ["error", {"shared": ["radio", "button", "reset", "submit", "checkbox"]}]
    (tmp_path / "rules.json").write_text(json.dumps(rules))
    findings = judged("html", *filter(Path.is_dir, tmp_path.iterdir()), "--config", tmp_path / "rules.json", "--ignore", '_channel"')
    assert {(finding["rule"], finding["message"]): f"{finding['file']}:{finding['line']}" for finding in findings} == {}
