"""Fixtures of the system tests. Deploy/test runs them; by hand:

DROVER_BIN=.build/release/drover .drover/venv-test/bin/python -m pytest Tests/System
"""
import json
import os
import re
import shutil
from pathlib import Path

import pytest
from certificates import self_signed
from harness import HANG_S, ROOT, Drover, Running, Tab, Watch, is_long, lent, scratch
from servers import new_place
from services import Services
from world import a_world


# Seconds of each test, written by Deploy/tests/test-times.
DURATIONS = Path(__file__).with_name("durations.json")
# Files whose tests share nothing: each test may run beside the others. Those of all other files run in their order in one process.
SPREAD = {"test_settings.py", "test_dependencies.py", "test_upgrade.py", "test_trip_figures.py", "test_plan_static.py", "test_dispatch_plan.py", "test_secrets.py",
          "test_steps.py"}


def pytest_configure(config):
    config.addinivalue_line("markers", "long(reason): the long form of a proof, or what leans on time; runs only with DROVER_LONG set")
    config.addinivalue_line("markers", "needs_shared: uses recordings that are for tests only, in ../shared")
    if not hasattr(config, "workerinput") and "DROVER_TEST_GOLDEN" not in os.environ:
        config.golden = os.environ["DROVER_TEST_GOLDEN"] = new_place()


def pytest_unconfigure(config):
    if golden := getattr(config, "golden", None):
        shutil.rmtree(golden, ignore_errors=True)
        del os.environ["DROVER_TEST_GOLDEN"]


def pytest_collection_modifyitems(items):
    for item in items:
        if (mark := item.get_closest_marker("long")) and not is_long():
            item.add_marker(pytest.mark.skip(reason=f"make long: {mark.kwargs.get('reason', 'the long form of a proof')}"))
        if item.get_closest_marker("needs_shared") and not shared_folder():
            item.add_marker(pytest.mark.skip(reason="../shared is not here"))
    longest_first(items)


def group(nodeid):
    """What runs in one process: a file, or a test of a file whose tests share nothing."""
    file = nodeid.partition("::")[0].rpartition("/")[2]
    return nodeid if file in SPREAD else file


def longest_first(items):
    """By the durations of an earlier run, so that no long file begins when all others are done. Within a file nothing moves."""
    known = json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {}
    seconds = {}
    for item in items:
        seconds[group(item.nodeid)] = seconds.get(group(item.nodeid), 0) + known.get(re.sub(r"^Tests/System/(\w+/)?", "", item.nodeid), 1)
    items.sort(key=lambda item: -seconds[group(item.nodeid)])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """What a second look needs is kept at the first: why, the load, what all roles that are up said."""
    report = yield
    item.has_failed = getattr(item, "has_failed", False) or report.failed
    if report.failed:
        folder = ROOT / ".drover" / "logs" / "failed"
        folder.mkdir(parents=True, exist_ok=True)
        told = [item.nodeid, f"load {os.getloadavg()}", report.longreprtext]
        told += [f"{' '.join(running.command)}\n{''.join(running.tail(400))}" for running in list(Running.all)]
        (folder / (re.sub(r"[^\w.-]+", "-", item.nodeid.rpartition("/")[2])[:150] + f"-{report.when}.txt")).write_text("\n\n".join(told))
    return report


def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group(nodeid)

    config.option.loadscopereorder = False  # The order is ours, not that of the number of tests.
    return Groups(config, log)


def shared_folder():
    """Beside the checkout, or beside the main one when this is a work tree of it."""
    candidate = ROOT.parent / "shared"
    return candidate if candidate.is_dir() else None


@pytest.fixture(scope="session")
def shared():
    return shared_folder()


@pytest.fixture(scope="session")
def fixtures():
    return ROOT / "Tests" / "Fixtures"


@pytest.fixture(scope="session")
def program():
    path = Path(os.environ.get("DROVER_BIN", ROOT / ".build" / "release" / "drover"))
    if not os.access(path, os.X_OK):
        pytest.fail(f"{path}: not built. Run swift build -c release, or name the command in DROVER_BIN")
    return path.resolve()


@pytest.fixture
def drover(program):
    yield from lent(Drover(program))


@pytest.fixture(scope="module")
def world(program):
    """A broker and a PostgreSQL of the module's own; a module that wants other ones has its own `world`."""
    with a_world(program) as world:
        yield world


@pytest.fixture
def env(world):
    """An empty database."""
    return world.database()


@pytest.fixture
def data():
    """A data folder's name, below a folder that the database's system user may enter (pytest's own are closed)."""
    folder = scratch("drover-system-")
    yield folder / "data"
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Of a server of the test's, with its key."""
    return self_signed(tmp_path_factory.mktemp("certificate"), "server")


@pytest.fixture
def stand(tmp_path):
    """Services of others, in their place."""
    yield from lent(Services(tmp_path))


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium; no browser is downloaded."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=HANG_S * 1000)

    chromium = os.environ.get("DROVER_CHROMIUM", "/usr/bin/chromium")
    if not os.access(chromium, os.X_OK):
        pytest.fail(f"{chromium}: missing. apt-get install chromium, or name another in DROVER_CHROMIUM")
    # Chromium's sandbox refuses root; the pages are our own. A small /dev/shm (containers) would crash it.
    # Names that are not this machine do not exist for it: a test sends nothing out, and no request passes through Python.
    arguments = ["--disable-dev-shm-usage", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1, EXCLUDE [::1]"] + (["--no-sandbox"] if os.geteuid() == 0 else [])
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield running
        running.close()


@pytest.fixture
def watch():
    return Watch()


@pytest.fixture(scope="session")
def tab(browser):
    yield from lent(Tab(browser))


@pytest.fixture
def page(tab, watch, screenshots, request):
    """A page on which nothing was. The test fails when it raised an error, warned, or asked for anything outside the loopback."""
    page = tab.open()
    watch.attach(page.context)
    yield page
    is_washed = False
    try:
        if request.node.has_failed:
            page.screenshot(path=screenshots / "failed.png", full_page=True)
        else:
            tab.wash()
            is_washed = True
    finally:
        if is_washed:
            watch.detach(page.context)
        else:
            tab.close()
    assert watch.problems() == {}, "the page misbehaved"


@pytest.fixture
def screenshots(request):
    """Where pictures for people to look at go: .drover/screenshots/TEST."""
    folder = ROOT / ".drover" / "screenshots" / request.node.name.replace("/", "_")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
