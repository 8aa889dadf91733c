"""Deploy/try and what it builds with: what a stop leaves behind, and when it builds. In a checkout of its own, with a compiler that only waits."""
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from deployed import linter
from harness import HANG_S, ROOT, Running, processes_of
from terminal import OnTerminal

# As `swift build` does: each compiler is in a process group of its own, and does not end with who started it.
SWIFT = """import os, subprocess, sys, time
if sys.argv[1:] == ["--version"]:
    sys.exit(print("Swift version 6.3.1"))
root = sys.argv[sys.argv.index("--package-path") + 1]
if os.path.exists(root + "/Sources/hangs"):
    for ignores in (False, True):
        subprocess.Popen([sys.executable, root + "/compiler.py", str(ignores)], process_group=0)
    time.sleep(600)
if os.path.exists(root + "/Sources/says"):
    print("Building for production...\\n[0/1] Planning build\\n[119/640] Emitting module Trips\\n[120/640] Compiling Web TripPages.swift\\n[120/640] Write x", flush=True)
    while os.path.exists(root + "/Sources/says"): time.sleep(0.02)
os.makedirs(root + "/.build/release", exist_ok=True)
with open(root + "/.build/release/drover", "w") as program:
    program.write("#!/bin/sh\\necho runs: $*\\n")
os.chmod(root + "/.build/release/drover", 0o755)
"""
COMPILER = """import signal, sys, time
if sys.argv[1] == "True": signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(__file__ + sys.argv[1], "w").close()
time.sleep(600)
"""


@pytest.fixture
def checkout(tmp_path):
    root = tmp_path / "a checkout"
    for folder in ("Deploy/lib", "Sources", "bin"):
        (root / folder).mkdir(parents=True)
    for name in ("lib/steps.sh", "try"):
        (root / "Deploy" / name).write_text((ROOT / "Deploy" / name).read_text())
    (root / "Package.swift").touch()
    (root / "Sources" / "One.swift").touch()
    (root / "compiler.py").write_text(COMPILER)
    (root / "Deploy" / "install").write_text("#!/bin/sh\n")
    (root / "swift.py").write_text(SWIFT)
    # A line of #! takes no interpreter whose path has a blank.
    (root / "bin" / "swift").write_text(f"#!/bin/sh\nexec '{sys.executable}' '{root}/swift.py' \"$@\"\n")
    for path in ("Deploy/install", "Deploy/try", "bin/swift"):
        (root / path).chmod(0o755)
    return root


def environment(root):
    return {**os.environ, "PATH": f"{root}/bin:{os.environ['PATH']}"}


def until_compiling(root, running):
    deadline = time.monotonic() + 60
    while not all((root / f"compiler.py{ignores}").exists() for ignores in (False, True)):
        assert running.process.poll() is None and time.monotonic() < deadline, running.output()
        time.sleep(0.05)


def test_the_scripts_are_in_order(tmp_path):
    def is_script(path):
        return path.is_file() and re.match(rb"#!.*\b(ba)?sh\b|# shellcheck shell=", path.read_bytes()[:100])

    scripts = sorted(path for folder in ["Deploy", ".ci", "Tests"] for path in (ROOT / folder).rglob("*") if is_script(path))
    assert {"try", "test", "run", "steps.sh", "postgres-owner"} <= {path.name for path in scripts}
    look = [linter("shellcheck"), "--external-sources", "--source-path=SCRIPTDIR"]
    done = subprocess.run([*look, *scripts], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    # It does find what is wrong.
    (tmp_path / "wrong").write_text("#!/bin/bash\nrm -r $1\n")
    assert "SC2086" in subprocess.run([*look, tmp_path / "wrong"], capture_output=True, text=True).stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_amid_a_build_leaves_no_compiler_behind(checkout, number):
    (checkout / "Sources" / "hangs").touch()
    running = Running([str(checkout / "Deploy" / "try")], environment(checkout))
    until_compiling(checkout, running)
    assert len(processes_of(checkout)) >= 4
    running.signal(number)
    assert running.wait(60) == (130 if number == signal.SIGINT else 143)
    assert processes_of(checkout) == []


def test_a_build_that_takes_too_long_leaves_no_compiler_behind(checkout):
    (checkout / "Sources" / "hangs").touch()
    script = f'source "{checkout}/Deploy/lib/steps.sh"; step "building" 5 build "{checkout}/bin/swift" build --package-path "{checkout}"'
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=environment(checkout), timeout=120)
    assert run.returncode == 1 and "building: not done after 5 s" in run.stderr
    assert all((checkout / f"compiler.py{ignores}").exists() for ignores in (False, True))
    assert processes_of(checkout) == []


@pytest.mark.parametrize("on_terminal", [False, True])
def test_a_build_shows_how_far_it_is(checkout, on_terminal):
    says = checkout / "Sources" / "says"
    says.touch()
    running = (OnTerminal if on_terminal else Running)([str(checkout / "Deploy" / "try"), "--once"], environment(checkout))
    running.wait_for("drover: building: 120 of 640 files, Web")
    says.unlink()
    assert running.wait() == 0, running.output()
    running.reader.join(HANG_S)
    assert running.output().count("120 of 640") == 1 and "building (the first time takes some minutes): done in" in running.output()
    # The line that is written over begins where the last one did, and is gone at the end.
    assert ("\x1b[K" in running.output()) == on_terminal
    assert processes_of(checkout) == []


@pytest.mark.parametrize("line, shown", [
    ("[7/9] Compiling CSqlite shim.c", "building: 7 of 9 files, CSqlite"),
    ("[3/640] Emitting module Fleet", "building: 3 of 640 files, Fleet"),
    ("[640/640] Linking drover", "building: 640 of 640 files, linking drover"),
    ("Building for production...", ""), ("[0/1] Planning build", ""), ("/a/File.swift:3:1: warning: [1/2] Compiling", ""), ("", ""),
])
def test_how_far_a_build_is_stands_in_its_log(checkout, line, shown):
    (checkout / "log").write_text(line + "\n")
    script = f'source "{checkout}/Deploy/lib/steps.sh"; building "{checkout}/log"'
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert (run.returncode, run.stdout.strip(), run.stderr) == (0, shown, "")


def test_it_says_why_it_builds_and_does_not_where_that_is_wanted(checkout):
    def start(*words):
        return subprocess.run([checkout / "Deploy" / "try", *words], capture_output=True, text=True, env=environment(checkout), timeout=120)

    refused = start("--no-build")
    assert refused.returncode == 1 and ".build/release/drover is not there yet. Leave --no-build out" in refused.stderr
    first = start("--once")
    assert first.returncode == 0 and re.fullmatch(r"runs: up --data .*/\.drover/data --sample --once\n", first.stdout), first.stderr
    assert ".build/release/drover is not there yet\n" in first.stderr and "building (the first" in first.stderr
    assert "building" not in start().stderr
    built = (checkout / ".build" / "release" / "drover").stat().st_mtime
    os.utime(checkout / "Sources" / "One.swift", (built + 1, built + 1))
    skipped = start("--no-build")
    assert skipped.stdout.startswith("runs: up") and "building" not in skipped.stderr
    assert "Sources/One.swift is newer than .build/release/drover; it is run as it is" in skipped.stderr
    again = start()
    assert "Sources/One.swift is newer than .build/release/drover\n" in again.stderr and "building (the first" in again.stderr
