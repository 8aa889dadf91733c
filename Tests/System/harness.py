"""What system tests share: one way to wait, ports, runs of the built command, watched pages. Fixtures are in conftest.py."""
import itertools
import os
import re
import signal
import socket
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
# Tests and tools may use what a test of another folder has.
sys.path += [str(folder) for folder in sorted(Path(__file__).parent.iterdir()) if folder.is_dir() and folder.name[0] not in "_."]
LOOPBACK = {"127.0.0.1", "localhost", "[::1]", "::1"}
PAGE_ADDRESS = re.compile(r"http://(?:127\.0\.0\.1|localhost|\[::1\]):\d+/\S*")

# The one limit of the tests: it ends a hang, and nothing that a busy machine does in its time.
HANG_S = int(os.environ.get("DROVER_TEST_HANG_S", "300"))
# Started processes get this signal when the one that started them ends, so that a killed test leaves nothing behind.
DIES_WITH_US = ["setpriv", "--pdeathsig", "TERM"]


def now_ms():
    return int(time.time() * 1000)


def today():
    """The moment, as UTC has it."""
    return datetime.now(timezone.utc)


def is_long():
    """Whether the long forms of proofs are asked for."""
    return bool(os.environ.get("DROVER_LONG"))


def until(what, *show, about=""):
    """Asks again and again until the answer is true, and returns it. Fails only after `HANG_S`, with the last answer and what `show`
    says: processes (`Running`), or functions."""
    deadline, pause = time.monotonic() + HANG_S, 0.01
    while not (found := what()):
        if time.monotonic() > deadline:
            told = "\n".join(str(each() if callable(each) else "".join(each.tail())) for each in show)
            raise AssertionError(f"{about or 'what was waited for'} did not come in {HANG_S} s; the last answer was {found!r}\n{told}")
        for each in show:
            if isinstance(each, Running) and each.process.poll() is not None:
                raise AssertionError(f"{each.command} ended with {each.process.returncode} before {about or 'what was waited for'} came\n{''.join(each.tail())}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)
    return found


def lent(thing):
    """What a fixture gives, and closes in the end."""
    yield thing
    thing.close()


def freeze(role):
    """Stops a process; returns when all of its threads stand still, which a signal alone does not wait for."""
    role.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, role.process.pid, os.WSTOPPED)


def _in_memory():
    """Whether there is room for some clusters, which cost a third there."""
    available = re.search(r"MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text())
    return available and int(available.group(1)) > 6 << 20 and os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 4 << 30


SCRATCH = "/dev/shm" if _in_memory() else "/tmp"


def scratch(prefix):
    """A folder that whoever asks removes, for servers: the database's system user may enter."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=SCRATCH))
    folder.chmod(0o711)
    return folder


def _ports():
    """Of a block that no other test process hands out, below those that the kernel gives to outgoing connections (32768 and up).
    DROVER_TEST_PORTS: where the blocks of this run begin, for two runs side by side."""
    worker = int(re.sub(r"\D", "", os.environ.get("PYTEST_XDIST_WORKER", "")) or 12)
    first = int(os.environ.get("DROVER_TEST_PORTS", "20000")) + 400 * worker
    yield from itertools.cycle(range(first, first + 400))


_handed_out = _ports()


def free_port(host="127.0.0.1"):
    """A port that nobody listens on, and that nobody else gets."""
    for port in itertools.islice(_handed_out, 400):
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((host, port))
            except OSError:
                continue
            return port
    raise AssertionError("all ports of the block are taken")


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

    def run(self, *arguments, stdin="", seconds=HANG_S, env=None):
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

    def done(self, *arguments, **more):
        """A run that ends well."""
        run = self.run(*arguments, **more)
        assert run.code == 0, run.out + run.err
        return run

    def fails(self, *arguments, says, code=1, **more):
        """A run that ends badly and says why, in one text or in several."""
        run = self.run(*arguments, **more)
        assert run.code == code and all(text in run.err for text in ([says] if isinstance(says, str) else says)), run.out + run.err
        return run

    def start(self, *arguments, env=None):
        """Starts a command that stays up; it is stopped at the end of the test at the latest."""
        running = Running([self.program, *map(str, arguments)], {**os.environ, **(env or {})})
        self.started.append(running)
        return running

    def up(self, data, *arguments):
        """`drover up` until it has said where its page is; the address is in `.page`."""
        running = self.start("up", "--data", data, *arguments)
        running.page = running.wait_for(PAGE_ADDRESS).group(0)
        if "--sample" in arguments:
            # The page is up before; what it shows comes in behind it.
            running.wait_for("all of the sample is in")
        return running

    def servers(self, data):
        """PostgreSQL and a broker of the test's own, stopped after what was started later."""
        from servers import Servers

        servers = Servers(self.program, data)
        self.started.append(servers)
        return servers

    def embedded_servers(self, data):
        """`drover servers` until both answer; the test variables are in `.environment`. Only for tests of that command."""
        running = self.start("servers", "--data", data)
        running.wait_for(re.compile(r"^DROVER_TEST_BROKERS=.+$", re.M))
        running.environment = dict(re.findall(r"^(DROVER_TEST_\w+)=(.*)$", running.output(), re.M))
        return running

    def close(self):
        """Stops all, also when one does not listen; that one is told."""
        failed = []
        for running in reversed(self.started):
            try:
                running.stop()
            except AssertionError as error:
                failed.append(str(error))
        self.started.clear()
        assert not failed, "\n".join(failed)


class Running:
    """A command that stays up, with what it says collected as it comes."""

    all = weakref.WeakSet()

    def __init__(self, command, env):
        Running.all.add(self)
        self.command = command
        self.lines = []
        self.changed = threading.Condition()
        # The kernel ends it with the thread that started it: only the main one lasts as long as the tests.
        is_main = threading.current_thread() is threading.main_thread()
        # A session of its own, so that a signal sent here cannot reach the test runner.
        self.process = subprocess.Popen(
            [*(DIES_WITH_US if is_main else []), *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
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

    @property
    def page_port(self):
        """Of `drover serve`, when its pages answer."""
        return int(self.wait_for(r"the page is at https?://127\.0\.0\.1:(\d+)/").group(1))

    def tail(self, lines=40):
        with self.changed:
            return self.lines[-lines:]

    def mark(self):
        """So many lines were said; `wait_for(…, since=mark)` looks at later ones only."""
        with self.changed:
            return len(self.lines)

    def wait_for(self, pattern, _=None, since=0):
        """The first match in what was said; fails when the command ends without it, or hangs."""
        pattern, deadline, searched = re.compile(pattern), time.monotonic() + HANG_S, -1
        with self.changed:
            while True:
                ended = not self.reader.is_alive()
                if len(self.lines) > searched:
                    searched = len(self.lines)
                    if found := pattern.search("".join(self.lines[since:])):
                        return found
                if ended and len(self.lines) == searched or time.monotonic() > deadline:
                    what = f"ended with {self.process.wait(5)}" if ended else f"said nothing of it in {HANG_S} s"
                    raise AssertionError(f"{self.command}: {what}; looked for {pattern.pattern}\n{''.join(self.lines)}")
                self.changed.wait(0.2)

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, _=None):
        return self.process.wait(HANG_S)

    def kill(self):
        self.process.kill()
        self.process.wait(HANG_S)

    def stop(self, _=None):
        """SIGTERM and wait; the exit code. Killed, with its group, when it does not listen."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.send_signal(signal.SIGCONT)  # A test that failed may have left it stopped.
            try:
                self.process.wait(HANG_S)
            except subprocess.TimeoutExpired:
                os.killpg(self.pid, signal.SIGKILL)
                self.process.wait(5)
                raise AssertionError(f"{self.command}: did not stop in {HANG_S} s\n{self.output()}")
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
        for event, heard in self._events():
            context.on(event, heard)
        # That none of them gets out is the browser's own setting (conftest.py).

    def detach(self, context):
        for event, heard in self._events():
            context.remove_listener(event, heard)

    def _events(self):
        return [("weberror", self._error), ("console", self._console), ("request", self._request), ("requestfailed", self._failed)]

    def _error(self, error):
        self.errors.append(str(error.error))

    def _console(self, message):
        if message.type in ("error", "warning", "assert"):
            self.console.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _request(self, request):
        if not self._is_inside(request.url):
            self.outside.append(request.url)

    def _failed(self, request):
        # The browser's own doing, no server's: whoever leaves a page gives up what it still asked for, be it the next page.
        if request.failure == "net::ERR_ABORTED":
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


class Tab:
    """The page that tests get, one after the other: to make another one, with all that it loads anew, costs more than most tests do
    with it."""

    def __init__(self, browser):
        self.browser, self.page = browser, None

    def open(self):
        if not self.page:
            context = self.browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB", timezone_id="Europe/Berlin", reduced_motion="reduce")
            context.set_default_timeout(HANG_S * 1000)
            self.page = context.new_page()
        return self.page

    def wash(self):
        """Nothing of a test is there for the next one: no cookie, nothing that its server's pages stored, no script, no other page."""
        page, context, place = self.page, self.page.context, urlsplit(self.page.url)
        # Before the cookies go: a page that looks again by itself would be on its way to the log-in.
        until(self._leave, about="an empty page")
        if place.scheme in ("http", "https"):
            tools = context.new_cdp_session(page)
            tools.send("Storage.clearDataForOrigin", {"origin": f"{place.scheme}://{place.netloc}", "storageTypes": "all"})
            tools.detach()
        for other in context.pages:
            if other != page:
                other.close()
        context.clear_cookies()
        context.clear_permissions()
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1280, "height": 900})

    def _leave(self):
        from playwright.sync_api import Error

        try:
            self.page.goto("about:blank")
        except Error as error:
            if "interrupted by another navigation" in str(error):  # Its own, of this moment.
                return False
            raise
        return True

    def close(self):
        if self.page:
            self.page.context.close()
            self.page = None


def axe_violations(page):
    """Accessibility rules that the page breaks, one line each with the elements; empty when it is in order. Rows of a table are built
    one like the other, and contrast, measured letter by letter, is nine tenths of what axe costs: with DROVER_LONG it looks at all
    rows, else at the first ten of each table."""
    from axe_playwright_python.sync_playwright import Axe

    part = None if is_long() else {"exclude": [["tbody > tr:nth-child(n + 11)"]]}
    violations = Axe().run(page, part).response["violations"]
    return [
        f"{v['id']} ({v['impact']}): {v['help']}: " + ", ".join(" ".join(map(str, n["target"])) for n in v["nodes"])
        for v in violations
    ]


def looked_at(page, screenshots, name, dark=False):
    """A page in both widths: nothing sticks out, and axe finds nothing in the wide one; `dark`: nor in the narrow dark one. With
    DROVER_LONG axe looks at all four, and pictures for people to look at are taken. Who clicked before waits for the new page before."""
    page.wait_for_load_state()
    looks = {(1280, "light"), (390, "dark")} if dark else {(1280, "light")}
    for width, scheme in [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]:
        with_axe = is_long() or (width, scheme) in looks
        if scheme == "dark" and not with_axe:
            continue
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (name, width)
        if with_axe:
            found = axe_violations(page)
            assert found == [], (name, width, scheme, found)
        if is_long():
            page.screenshot(path=screenshots / f"{name}-{width}-{scheme}.png", full_page=True)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})


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
