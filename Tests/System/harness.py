"""What system tests share: runs of the built command, watched pages. Fixtures are in conftest.py."""
import os
import re
import signal
import subprocess
import threading
import time
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
LOOPBACK = {"127.0.0.1", "localhost", "[::1]", "::1"}
PAGE_ADDRESS = re.compile(r"http://(?:127\.0\.0\.1|localhost|\[::1\]):\d+/\S*")

# Bounds of waits are what a machine with time needs; they only end a hang, so that a busy one gets a multiple of it.
PATIENCE = 3


@dataclass(frozen=True)
class Run:
    """How a command ended."""

    code: int
    out: str
    err: str
    seconds: float


class Drover:
    """The built command. A run that hangs is killed and fails its test with what was said so far."""

    def __init__(self, program):
        self.program = str(program)
        self.started = []

    def run(self, *arguments, stdin="", seconds=60, env=None):
        began = time.monotonic()
        process = subprocess.Popen(
            [self.program, *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, errors="replace", env={**os.environ, **(env or {})}, start_new_session=True,
        )
        try:
            out, err = process.communicate(stdin, timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            raise AssertionError(f"drover {' '.join(map(str, arguments))}: not done after {seconds} s\n{out}\n{err}")
        return Run(process.returncode, out, err, time.monotonic() - began)

    def start(self, *arguments, env=None):
        """Starts a command that stays up; it is stopped at the end of the test at the latest."""
        running = Running([self.program, *map(str, arguments)], {**os.environ, **(env or {})})
        self.started.append(running)
        return running

    def up(self, data, *arguments, seconds=120):
        """`drover up` until it has said where its page is; the address is in `.page`."""
        running = self.start("up", "--data", data, *arguments)
        running.page = running.wait_for(PAGE_ADDRESS, seconds).group(0)
        return running

    def servers(self, data, seconds=60):
        """`drover servers` until both answer; the test variables are in `.environment`."""
        running = self.start("servers", "--data", data)
        running.wait_for(re.compile(r"^DROVER_TEST_BROKERS=.+$", re.M), seconds)
        running.environment = dict(re.findall(r"^(DROVER_TEST_\w+)=(.*)$", running.output(), re.M))
        return running

    def close(self):
        for running in reversed(self.started):
            running.stop()


class Running:
    """A command that stays up, with what it says collected as it comes."""

    def __init__(self, command, env):
        self.command = command
        self.lines = []
        self.changed = threading.Condition()
        # A session of its own, so that a signal sent here cannot reach the test runner.
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", env=env, start_new_session=True,
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()
        with self.changed:
            self.changed.notify_all()

    @property
    def pid(self):
        return self.process.pid

    def output(self):
        with self.changed:
            return "".join(self.lines)

    def wait_for(self, pattern, seconds):
        """The first match in all that was said; fails when the command ends or is silent about it for too long."""
        pattern = re.compile(pattern)
        deadline = time.monotonic() + PATIENCE * seconds
        with self.changed:
            while not (found := pattern.search("".join(self.lines))):
                ended = not self.reader.is_alive()
                if ended or time.monotonic() > deadline:
                    what = f"ended with {self.process.wait(5)}" if ended else f"said nothing of it in {PATIENCE * seconds} s"
                    raise AssertionError(f"{self.command}: {what}; looked for {pattern.pattern}\n{''.join(self.lines)}")
                self.changed.wait(0.2)
        return found

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=60):
        return self.process.wait(PATIENCE * seconds)

    def stop(self, seconds=60):
        """SIGTERM and wait; the exit code. Killed, with its group, when it does not listen."""
        seconds *= PATIENCE
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                os.killpg(self.pid, signal.SIGKILL)
                self.process.wait(5)
                raise AssertionError(f"{self.command}: did not stop in {seconds} s\n{self.output()}")
        return self.process.returncode


@dataclass
class Watch:
    """All that a page did that no page of ours may do: errors, console warnings, requests that leave this machine."""

    errors: list = field(default_factory=list)
    console: list = field(default_factory=list)
    outside: list = field(default_factory=list)
    failed: list = field(default_factory=list)

    def attach(self, context):
        # On the context, so that pages opened by pages are watched, too.
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        context.on("console", self._console)
        context.on("request", self._request)
        context.on("requestfailed", self._failed)
        # Refused, not only noticed: a test sends nothing out.
        context.route(lambda url: not self._is_inside(url), lambda route: route.abort())

    def _console(self, message):
        if message.type in ("error", "warning", "assert"):
            self.console.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _request(self, request):
        if not self._is_inside(request.url):
            self.outside.append(request.url)

    def _failed(self, request):
        # Whoever leaves a page gives up what it still asked for: what it loads, its scripts' questions, the stream that keeps it live.
        if request.failure == "net::ERR_ABORTED" and request.resource_type != "document":
            return
        self.failed.append(f"{request.url}: {request.failure}")

    @staticmethod
    def _is_inside(url):
        parts = urlsplit(url)
        return parts.scheme in ("data", "blob", "about") or parts.hostname in LOOPBACK

    def problems(self):
        return {name: found for name, found in asdict(self).items() if found}

    def forgive(self):
        """For a test that provokes errors: forget those so far, after it has looked at them."""
        for each in fields(self):
            getattr(self, each.name).clear()


def axe_violations(page):
    """Accessibility rules that the page breaks, one line each with the elements; empty when it is in order."""
    from axe_playwright_python.sync_playwright import Axe

    violations = Axe().run(page).response["violations"]
    return [
        f"{v['id']} ({v['impact']}): {v['help']}: " + ", ".join(" ".join(map(str, n["target"])) for n in v["nodes"])
        for v in violations
    ]


def processes_of(folder):
    """Process ids whose command line or working folder lies in the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = entry.joinpath("cmdline").read_bytes().decode(errors="replace")
            where = os.readlink(entry / "cwd")
        except OSError:
            continue  # It ended, or is not ours to see.
        if int(entry.name) != os.getpid() and (str(folder) in command or where.startswith(str(folder))):
            found.append(int(entry.name))
    return found
