"""The harness itself: it must see what it is there to see."""
import http.server
import threading

import pytest
from harness import axe_violations

PAGES = {
    "/good": "<html lang=en><title>Good</title><main><h1>Good</h1></main></html>",
    "/bad": "<html><body><script>setTimeout(() => { throw new Error('planted') })</script><img src=/good></body></html>",
    "/out": "<html lang=en><title>Out</title><img alt=x src='http://192.0.2.1/pixel.png'></html>",
    "/warn": "<html lang=en><title>Warn</title><script>console.error('planted')</script></html>",
}


@pytest.fixture(scope="module")
def site():
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = PAGES.get(self.path, "").encode()
            self.send_response(200 if body or self.path == "/favicon.ico" else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_a_good_page_passes(page, site, watch, screenshots):
    page.goto(site + "/good")
    assert axe_violations(page) == []
    page.screenshot(path=screenshots / "good.png")
    assert watch.problems() == {}


def test_accessibility_faults_are_found(page, site, watch):
    page.goto(site + "/bad")
    page.wait_for_timeout(200)
    found = " ".join(axe_violations(page))
    assert "image-alt" in found and "html-has-lang" in found
    assert any("planted" in error for error in watch.errors)
    watch.forgive()


def test_requests_outside_are_refused_and_told(page, site, watch):
    page.goto(site + "/out")
    assert watch.outside == ["http://192.0.2.1/pixel.png"]
    watch.forgive()


def test_console_errors_are_told(page, site, watch):
    page.goto(site + "/warn")
    assert [line.split(" (")[0] for line in watch.console] == ["error: planted"]
    watch.forgive()
