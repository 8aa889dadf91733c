"""A machine without Swift gets it: Deploy/setup/swift against a server and with a release key of the test's own. In a checkout of its own."""
import http.server
import io
import os
import re
import shutil
import subprocess
import tarfile
import threading
from types import SimpleNamespace

import pytest
from harness import HANG_S, ROOT, free_port, lent, scratch
from terminal import OnTerminal

FOLDER = "/swift-6.3.3-release/debian12/swift-6.3.3-RELEASE/"
ARCHIVE = FOLDER + "swift-6.3.3-RELEASE-debian12.tar.gz"
KEYS = "/keys/all-keys.asc"
PART = ".drover/swift-6.3.3-RELEASE-debian12.tar.gz.part"
SIGNED, LATER = "20240601T000000!", "20250601T000000!"  # the key is made for the year 2024


def an_archive(name="swift-6.3.3-RELEASE-debian12"):
    """One folder with usr/ below it, as swift.org's, of some 300 kB that cannot be compressed."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        program = b"#!/bin/sh\necho Swift version 6.3.3\n"
        for path, content, mode in [("bin/swift", program, 0o755), ("lib/swift/linux/libswiftCore.so", os.urandom(300_000), 0o640)]:
            entry = tarfile.TarInfo(f"{name}/usr/{path}")
            entry.size, entry.mode = len(content), mode
            tar.addfile(entry, io.BytesIO(content))
    return out.getvalue()


class KeyRing:
    """The keys of whoever signs: `release`, and one of a stranger, in gpg's folder."""

    def __init__(self, folder):
        self.folder = folder
        self.release = self.make("Release <release@example.org>", "1y")
        self.stranger = self.make("Stranger <stranger@example.org>", "never")
        self.old = self.export()
        self.gpg("--quick-set-expire", self.release, "20990101T000000")
        self.prolonged = self.export()

    def gpg(self, *words, stdin=None):
        command = ["gpg", "--homedir", self.folder, "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "", *words]
        return subprocess.run(command, input=stdin, capture_output=True, check=True).stdout

    def make(self, owner, until_when):
        self.gpg("--faked-system-time", "20240101T000000!", "--quick-gen-key", owner, "ed25519", "sign", until_when)
        return re.search(rb"^fpr:+([0-9A-F]{40}):", self.gpg("--with-colons", "--list-keys", owner), re.M).group(1).decode()

    def export(self):
        return self.gpg("--armor", "--export", self.stranger, self.release)

    def sign(self, data, by=None, at=SIGNED):
        return self.gpg("--faked-system-time", at, "--local-user", by or self.release, "--detach-sign", stdin=data)


@pytest.fixture(scope="module")
def ring():
    folder = scratch("drover-ring-")  # short: an agent's socket is below it
    yield KeyRing(folder)
    subprocess.run(["gpgconf", "--homedir", folder, "--kill", "all"], check=True)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def archive():
    return an_archive()


@pytest.fixture(scope="module")
def signature(ring, archive):
    return ring.sign(archive)


class Mirror(http.server.ThreadingHTTPServer):
    """Serves `files`. `cuts` says after how many bytes the next answers to the archive's GET break off; `asked` is what was asked."""

    def __init__(self, files):
        super().__init__(("127.0.0.1", free_port()), Answer)
        self.files, self.cuts, self.asked, self.has_ranges = files, iter(()), [], True
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"

    def close(self):
        self.shutdown()
        self.server_close()


class Answer(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.answer(b"")

    def do_GET(self):
        self.answer(None)

    def answer(self, body):
        server, ranged = self.server, self.headers["Range"]
        server.asked.append((self.command, self.path, ranged))
        if (content := server.files.get(self.path)) is None:
            return self.send_error(404)
        since = int(re.fullmatch(r"bytes=(\d+)-", ranged).group(1)) if ranged and server.has_ranges else 0
        self.send_response(206 if since else 200)
        if since:
            self.send_header("Content-Range", f"bytes {since}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - since))
        self.end_headers()
        if body is None:
            cut = next(server.cuts, None) if self.path.endswith(".tar.gz") else None
            self.wfile.write(content[since:cut])
        self.close_connection = True

    def log_message(self, *_):
        pass


@pytest.fixture
def mirror(ring, archive, signature):
    yield from lent(Mirror({ARCHIVE: archive, ARCHIVE + ".sig": signature, KEYS: ring.prolonged}))


@pytest.fixture
def checkout(tmp_path, ring):
    """The scripts, with the test's fingerprint, where no Swift is found; `run` starts one on a Debian 12."""
    root = tmp_path / "a checkout"
    for folder in ("Deploy/lib", "Deploy/setup", "bin"):
        (root / folder).mkdir(parents=True)
    for name in ("lib/steps.sh", "setup/swift", "install"):
        shutil.copy(ROOT / "Deploy" / name, root / "Deploy" / name)
    steps = root / "Deploy" / "lib" / "steps.sh"
    steps.write_text(steps.read_text().replace(" /opt/swift/", f' "{root}"/no-swift/'))
    (root / "Deploy" / "setup" / "swift-release.fingerprint").write_text("# of the test\n" + re.sub("(....)", r"\1 ", ring.release) + "\n")
    stand_in(root, "dpkg", "echo amd64")
    system(root, "debian", "12", "Debian GNU/Linux 12 (bookworm)")
    return root


def stand_in(root, name, text):
    (root / "bin" / name).write_text(f"#!/bin/bash\n{text}\n")
    (root / "bin" / name).chmod(0o755)


def system(root, name, number, pretty):
    (root / "os-release").write_text(f'PRETTY_NAME="{pretty}"\nID={name}\nVERSION_ID="{number}"\n')


def environment(root, address):
    return {"PATH": f"{root}/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(root), "LANG": "C.UTF-8", "no_proxy": "*",
            "DROVER_OS_RELEASE": f"{root}/os-release", "DROVER_SWIFT_URL": address}


def run(root, address, *words, script="setup/swift"):
    done = subprocess.run(["bash", root / "Deploy" / script, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=environment(root, address), timeout=HANG_S)
    return SimpleNamespace(code=done.returncode, err=done.stderr, lines=done.stderr.splitlines())


def is_installed(root):
    swift = root / ".drover" / "swift" / "usr" / "bin" / "swift"
    return swift.exists() and subprocess.run([swift, "--version"], capture_output=True, text=True).stdout == "Swift version 6.3.3\n"


def archive_requests(mirror):
    return [ranged for method, path, ranged in mirror.asked if (method, path) == ("GET", ARCHIVE)]


@pytest.mark.parametrize("name, number, processor, path", [
    ("debian", "12", "amd64", "debian12/swift-6.3.3-RELEASE/swift-6.3.3-RELEASE-debian12"),
    ("debian", "12", "arm64", "debian12-aarch64/swift-6.3.3-RELEASE/swift-6.3.3-RELEASE-debian12-aarch64"),
    ("ubuntu", "22.04", "amd64", "ubuntu2204/swift-6.3.3-RELEASE/swift-6.3.3-RELEASE-ubuntu22.04"),
    ("ubuntu", "24.04", "arm64", "ubuntu2404-aarch64/swift-6.3.3-RELEASE/swift-6.3.3-RELEASE-ubuntu24.04-aarch64"),
])
def test_the_archive_for_this_system_comes_and_is_unpacked(checkout, mirror, archive, signature, name, number, processor, path):
    system(checkout, name, number, f"{name} {number}")
    stand_in(checkout, "dpkg", f"echo {processor}")
    address = f"/swift-6.3.3-release/{path}.tar.gz"
    mirror.files = {address: archive, address + ".sig": signature, KEYS: mirror.files[KEYS]}
    done = run(checkout, mirror.address, "--yes")
    assert done.code == 0 and is_installed(checkout), done.err
    # How much and where stands before anything comes.
    said = [n for n, line in enumerate(done.lines) if f"Swift 6.3.3 for {name} {number}: 0 MB from {mirror.address}, about 3500 MB in {checkout}/.drover/swift" in line]
    assert said and said[0] < next(n for n, line in enumerate(done.lines) if "fetching" in line), done.err
    assert sorted(path.name for path in (checkout / ".drover").iterdir()) == ["logs", "swift", "swift-keys.asc"]
    # What the program loads may be read by everybody.
    assert (checkout / ".drover/swift/usr/lib/swift/linux/libswiftCore.so").stat().st_mode & 0o004
    # Now it is found, and nothing is asked for any more.
    mirror.asked.clear()
    again = run(checkout, mirror.address)
    assert again.code == 0 and again.lines == [f"drover: Swift is here: {checkout}/.drover/swift/usr/bin/swift"] and mirror.asked == []


def test_an_archive_that_is_cut_off_goes_on_where_it_was(checkout, mirror, archive):
    mirror.cuts = iter([100_000, 200_000])
    done = run(checkout, mirror.address, "--yes")
    assert done.code == 0 and is_installed(checkout), done.err
    assert archive_requests(mirror) == [None, "bytes=100000-", "bytes=200000-"]


def test_the_next_run_goes_on_where_the_last_one_was_left(checkout, mirror):
    mirror.cuts = iter([100_000, 100_000])  # The second answer brings nothing more.
    cut = run(checkout, mirror.address, "--yes")
    assert cut.code == 1 and "100000 of " in cut.err and "Run it again: it goes on from there" in cut.err
    assert (checkout / PART).stat().st_size == 100_000 and not is_installed(checkout)
    mirror.asked.clear()
    done = run(checkout, mirror.address, "--yes")
    assert done.code == 0 and is_installed(checkout), done.err
    assert archive_requests(mirror) == ["bytes=100000-"]


def test_a_server_that_sends_whole_files_only_is_asked_from_the_start(checkout, mirror):
    mirror.has_ranges, mirror.cuts = False, iter([100_000])
    done = run(checkout, mirror.address, "--yes")
    assert done.code == 0 and is_installed(checkout), done.err
    assert archive_requests(mirror) == [None, "bytes=100000-", None]


@pytest.mark.parametrize("what, says", [
    ("changed", "the archive is not what was signed"), ("stranger", "it is not by the key of"), ("page", "it is not by the key of")])
def test_a_wrong_signature_refuses(checkout, mirror, ring, archive, what, says):
    if what == "changed":
        mirror.files[ARCHIVE] = archive[:-100] + bytes(100)
    else:
        mirror.files[ARCHIVE + ".sig"] = ring.sign(archive, by=ring.stranger) if what == "stranger" else b"<!doctype html>"
    done = run(checkout, mirror.address, "--yes")
    assert done.code == 1 and not is_installed(checkout), done.err
    assert "is wrong, " + says in done.lines[-1] and "the archive is deleted" in done.lines[-1], done.err
    assert sorted(path.name for path in (checkout / ".drover").iterdir()) == ["logs", "swift-keys.asc"]


def test_an_old_copy_of_the_key_is_fetched_again(checkout, mirror, ring):
    (checkout / ".drover").mkdir()
    (checkout / ".drover" / "swift-keys.asc").write_bytes(ring.old)
    done = run(checkout, mirror.address, "--yes")
    assert done.code == 0 and is_installed(checkout), done.err
    assert "the copy of the release key in .drover/swift-keys.asc is old: fetching it again" in done.err and "expired" not in done.err
    assert (checkout / ".drover" / "swift-keys.asc").read_bytes() == ring.prolonged


def test_a_key_that_expired_counts_for_what_it_signed_before(checkout, mirror, ring, archive):
    mirror.files[KEYS] = ring.old
    mirror.files[ARCHIVE + ".sig"] = ring.sign(archive, at=LATER)
    refused = run(checkout, mirror.address, "--yes")
    assert refused.code == 1 and not is_installed(checkout), refused.err
    assert "is of 2025-06-01, after the release key expired" in refused.lines[-1] and (checkout / PART).exists()
    mirror.files[ARCHIVE + ".sig"] = ring.sign(archive)
    taken = run(checkout, mirror.address, "--yes")
    assert taken.code == 0 and is_installed(checkout), taken.err
    assert "the release key expired on 2024-12-31, by a copy fetched just now, too" in taken.err
    assert "the signature is good, of 2024-06-01, when the key had not expired" in taken.err


def test_without_the_release_key_nothing_is_fetched(checkout, mirror, ring):
    mirror.files[KEYS] = ring.gpg("--armor", "--export", ring.stranger)
    done = run(checkout, mirror.address, "--yes")
    assert done.code == 1 and f"{KEYS} holds no key with the fingerprint" in done.lines[-1], done.err
    assert archive_requests(mirror) == [] and not (checkout / ".drover" / "swift-keys.asc").exists()


@pytest.mark.parametrize("name, number, pretty, processor, says", [
    ("debian", "13", "Debian GNU/Linux 13 (trixie)", "amd64", "not for Debian GNU/Linux 13 (trixie): put Swift 6.3 or later on PATH"),
    ("fedora", "43", "Fedora Linux 43", "amd64", "not for Fedora Linux 43: put Swift"),
    ("debian", "12", "Debian GNU/Linux 12 (bookworm)", "riscv64", "not for riscv64: put Swift"),
])
def test_another_system_is_told_what_to_do(checkout, mirror, name, number, pretty, processor, says):
    system(checkout, name, number, pretty)
    stand_in(checkout, "dpkg", f"echo {processor}")
    done = run(checkout, mirror.address, "--yes")
    assert done.code == 1 and len(done.lines) == 1 and says in done.err and "swift.org/install" in done.err, done.err
    assert mirror.asked == []


def test_without_a_network_one_line_says_what_to_do(checkout, mirror):
    nobody = run(checkout, f"http://127.0.0.1:{free_port()}", "--yes")
    del mirror.files[ARCHIVE]
    gone = run(checkout, mirror.address, "--yes")
    for done, why in [(nobody, "Failed to connect"), (gone, "404")]:
        assert done.code == 1 and len(done.lines) == 1 and why in done.err, done.err
        assert "with a network, or a mirror in DROVER_SWIFT_URL, run it again" in done.err


def test_too_small_a_disk_is_told(checkout, mirror):
    stand_in(checkout, "df", "printf 'head\\n/dev/x 9 9 1234 9%% /\\n'")
    done = run(checkout, mirror.address, "--yes")
    assert done.code == 1 and len(done.lines) == 1, done.err
    assert "Swift 6.3.3 needs 3500 MB" in done.err and "only 1234 MB are free" in done.err and archive_requests(mirror) == []


def test_with_nobody_to_ask_it_says_what_to_run(checkout, mirror):
    done = run(checkout, mirror.address)
    assert done.code == 1 and "nobody is here to ask: run Deploy/install --yes" in done.lines[-1], done.err
    assert archive_requests(mirror) == []


@pytest.mark.parametrize("answer", ["no", ""])
def test_a_person_is_asked_and_sees_it_come(checkout, mirror, answer):
    running = OnTerminal(["bash", checkout / "Deploy" / "setup" / "swift"], environment(checkout, mirror.address))
    running.wait_for("fetch it? [Y/n]")
    assert archive_requests(mirror) == []
    running.type(answer)
    assert running.wait() == (1 if answer else 0), running.output()
    assert is_installed(checkout) == (not answer)
    assert ("Swift is not fetched: put Swift" if answer else "\rdrover: fetching Swift: ") in running.output()


# Deploy/install: everything is looked at before anything is installed.


@pytest.fixture
def bare(checkout):
    """A machine without a package of ours. What would install them says so in a file, and brings curl and gpg as they are here."""
    stand_in(checkout, "dpkg-query", "true")
    stand_in(checkout, "sudo", 'while [[ "$1" == -* ]]; do shift; done; "$@"')
    (checkout / "Deploy" / "setup" / "packages").write_text(f'echo "$@" >"{checkout}/asked for"\n')
    (checkout / "Deploy" / "setup" / "requirements-broker.txt").touch()
    version = subprocess.run(["/usr/bin/python3", "--version"], capture_output=True, text=True).stdout.strip()
    (checkout / ".drover" / "venv").mkdir(parents=True)
    stamp = subprocess.run(["sha256sum"], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout.rstrip("\n")
    (checkout / ".drover" / "venv" / "complete").write_text(f"{stamp} {version}\n")
    return checkout


def test_install_installs_nothing_before_it_knows_that_swift_can_be_had(bare, mirror):
    asked_for = bare / "asked for"
    nobody = run(bare, f"http://127.0.0.1:{free_port()}", "--yes", script="install")
    assert nobody.code == 1 and len(nobody.lines) == 1 and "DROVER_SWIFT_URL" in nobody.err and not asked_for.exists(), nobody.err
    silent = run(bare, mirror.address, script="install")
    assert silent.code == 1 and "run Deploy/install --yes" in silent.lines[-1] and not asked_for.exists(), silent.err


def test_install_brings_packages_then_swift(bare, mirror):
    asked_for = bare / "asked for"
    done = run(bare, mirror.address, "--yes", script="install")
    assert done.code == 0 and is_installed(bare), done.err
    assert {"curl", "gpg", "g++", "librdkafka-dev"} <= set(asked_for.read_text().split())
    # It stands once how much comes and where it goes.
    assert done.err.count("Swift 6.3.3 for ") == 1
    # With Swift there is nothing to ask for but packages; those for fetching it are no longer among them.
    again = run(bare, mirror.address, script="install")
    assert again.code == 0 and not {"curl", "gpg"} & set(asked_for.read_text().split()), again.err


def test_install_leaves_swift_out_where_nothing_is_built(bare, mirror):
    done = run(bare, mirror.address, "--no-swift", script="install")
    assert done.code == 0 and mirror.asked == [] and not is_installed(bare), done.err


def test_a_package_that_another_one_provides_is_there(bare, mirror):
    names = re.search(r"^packages=\((.*?)^\)", (ROOT / "Deploy" / "install").read_text(), re.M | re.S).group(1)
    names = [name for name in re.sub(r"#.*", "", names).split() if name != "libcurl4"] + ["postgresql-15"]
    lines = [f"installed {name} \n" for name in names] + ["installed libcurl4t64 libcurl3t64 (= 8.5), libcurl4 (= 8.5)\n", "not-installed zlib1g-dev \n"]
    (bare / "packages here").write_text("".join(lines))
    stand_in(bare, "dpkg-query", f'cat "{bare}/packages here"')
    done = run(bare, mirror.address, "--no-swift", script="install")
    assert done.code == 0 and not (bare / "asked for").exists(), done.err
