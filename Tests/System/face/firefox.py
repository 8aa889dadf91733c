"""Debian's Firefox by Mozilla's geckodriver, as the second engine: the WebDriver protocol over HTTP."""
import json
import os
import re
import shutil
import urllib.error
import urllib.request

import pytest
from harness import HANG_S, Running, free_port, until

BINARY = shutil.which("firefox-esr")


class Firefox:
    def __init__(self, driver, folder):
        """Without WebGL, whatever the machine has. What pages say on the console is in the driver's output."""
        self.port = free_port()
        self.driver = Running([str(driver), "--port", str(self.port), "--profile-root", str(folder)], {**os.environ, "HOME": str(folder), "TMPDIR": str(folder)})
        self.driver.wait_for("Listening on")
        options = {"binary": BINARY, "args": ["-headless"], "prefs": {"webgl.disabled": True, "devtools.console.stdout.content": True, "ui.prefersReducedMotion": 1}}
        self.session = ""
        self.session = "/" + self.ask("POST", {"capabilities": {"alwaysMatch": {"moz:firefoxOptions": options}}})["sessionId"]

    def ask(self, method, body=None, path=""):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/session{self.session}{path}", None if body is None else json.dumps(body).encode(),
                                         {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=HANG_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()}\n{''.join(self.driver.tail())}")

    def open(self, address):
        """Returns when the page is loaded."""
        self.ask("POST", {"url": address}, "/url")

    def lend_cookie(self, visitor):
        """Of the site whose page is open."""
        name, _, value = visitor.cookie.partition("=")
        self.ask("POST", {"cookie": {"name": name, "value": value, "path": "/"}}, "/cookie")

    def size(self, width, height):
        self.ask("POST", {"width": width, "height": height}, "/window/rect")

    def run(self, expression):
        return self.ask("POST", {"script": f"return {expression}", "args": []}, "/execute/sync")

    def until(self, expression):
        return until(lambda: self.run(expression), self.driver, about=expression)

    def faults(self):
        """What pages threw, and what they complained of; Firefox's own parts put their name before it."""
        return [line for line in self.driver.output().splitlines() if re.search(r'JavaScript error: http|console\.(error|warn): ("|\(\{|Error)', line)]

    def close(self):
        try:
            if self.session:
                self.ask("DELETE")
        finally:
            self.driver.stop()


def firefox_or_skip(shared):
    driver = shared and shared / "tools" / "geckodriver" / "geckodriver"
    if not BINARY or not driver or not driver.exists():
        pytest.skip("Firefox is not here: DROVER_LONG=1 Deploy/install --test installs it, and ../shared/tools/geckodriver has its driver")
    return driver
