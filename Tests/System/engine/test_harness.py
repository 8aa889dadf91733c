"""The harness itself: it must see what it is there to see."""
import pytest
from harness import axe_violations, is_long
from stand_ins import Answering, StandIn

PAGES = {
    "/good": "<html lang=en><title>Good</title><main><h1>Good</h1></main></html>",
    "/bad": "<html><body><script>setTimeout(() => { throw new Error('planted') })</script><img src=/good></body></html>",
    "/rows": "<html lang=en><title>Rows</title><main><h1>Rows</h1><table>" + "<tr><td>fine</td></tr>" * 9 + "<tr><td><img src=/good></td></tr>" * 2 + "</table></main></html>",
    "/out": "<html lang=en><title>Out</title><img alt=x src='http://192.0.2.1/pixel.png'></html>",
    "/warn": "<html lang=en><title>Warn</title><script>console.error('planted')</script></html>",
}


@pytest.fixture(scope="module")
def site():
    class Handler(Answering):
        def do_GET(self):
            body = PAGES.get(self.path, "").encode()
            self.reply(200 if body or self.path == "/favicon.ico" else 404, body, "text/html")

    server = StandIn(Handler)
    yield server.address
    server.close()


def test_a_good_page_passes(page, site, watch, screenshots):
    page.goto(site + "/good")
    assert axe_violations(page) == []
    page.screenshot(path=screenshots / "good.png")
    assert (screenshots / "good.png").stat().st_size > 0
    assert watch.problems() == {}


def test_accessibility_faults_are_found(page, site, watch):
    with page.context.expect_event("weberror"):
        page.goto(site + "/bad")
    found = " ".join(axe_violations(page))
    assert "image-alt" in found and "html-has-lang" in found
    assert any("planted" in error for error in watch.errors)
    watch.forgive()


def test_tables_are_looked_at_from_their_tenth_row_on_in_the_long_form_only(page, site):
    page.goto(site + "/rows")
    [found] = axe_violations(page)
    assert found.startswith("image-alt") and found.count("img") == (2 if is_long() else 1), found


def test_requests_outside_are_refused_and_told(page, site, watch):
    page.goto(site + "/out")
    assert watch.outside == ["http://192.0.2.1/pixel.png"]
    watch.forgive()


def test_console_errors_are_told(page, site, watch):
    with page.expect_console_message():
        page.goto(site + "/warn")
    assert [line.split(" (")[0] for line in watch.console] == ["error: planted"]
    watch.forgive()


def test_a_washed_page_has_nothing_of_the_one_before(page, tab, site):
    page.goto(site + "/good")
    page.evaluate("document.cookie = 'who=ada'; localStorage.setItem('draft', 'x'); open('/good')")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 300})
    tab.wash()
    assert page.context.pages == [page] and page.url == "about:blank" and page.context.cookies() == []
    page.goto(site + "/good")
    assert page.evaluate("[document.cookie, localStorage.length, matchMedia('(prefers-color-scheme: dark)').matches, innerWidth]") == ["", 0, False, 1280]
