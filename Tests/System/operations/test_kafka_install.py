"""Apache Kafka is fetched by its published address and SHA-512: Deploy/setup/kafka against a server of the test's own, in a checkout of its own."""
import hashlib
import http.server
import io
import os
import shutil
import subprocess
import tarfile
import threading

import pytest
from harness import HANG_S, ROOT, free_port

NAME = "kafka_2.13-4.3.1"
ADDRESS = f"/4.3.1/{NAME}.tgz"


def an_archive():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for path, content in [("libs/kafka-clients-4.3.1.jar", os.urandom(100_000)), ("bin/kafka-topics.sh", b"#!/bin/sh\n")]:
            entry = tarfile.TarInfo(f"{NAME}/{path}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def published(content):
    """As Apache writes it: in groups of eight, over several lines."""
    digest = hashlib.sha512(content).hexdigest().upper()
    groups = [digest[at:at + 8] for at in range(0, 128, 8)]
    return f"{NAME}.tgz: {' '.join(groups[:8])}\n {' '.join(groups[8:])}\n".encode()


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if (content := self.server.files.get(self.path)) is None:
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def mirror():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", free_port()), Answer)
    content = an_archive()
    server.files = {ADDRESS: content, ADDRESS + ".sha512": published(content)}
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def fetch(tmp_path, mirror):
    root = tmp_path / "a checkout"
    for name in ("lib/steps.sh", "setup/kafka"):
        (root / "Deploy" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "Deploy" / name, root / "Deploy" / name)

    def run(address=f"http://127.0.0.1:{mirror.server_port}"):
        done = subprocess.run([root / "Deploy/setup/kafka"], env=os.environ | {"DROVER_KAFKA_URL": address}, capture_output=True, text=True, timeout=HANG_S)
        return done, root / ".drover/kafka" / NAME
    return run


def test_it_is_fetched_once_and_its_digest_is_checked(fetch, mirror):
    done, folder = fetch()
    assert done.returncode == 0, done.stderr
    assert (folder / "libs/kafka-clients-4.3.1.jar").stat().st_size == 100_000
    assert "is in .drover/kafka" in done.stderr
    mirror.files.clear()  # Nobody is asked a second time.
    assert fetch()[0].returncode == 0


def test_another_archive_than_the_published_one_is_thrown_away(fetch, mirror):
    mirror.files[ADDRESS] = an_archive()
    done, folder = fetch()
    assert done.returncode == 1 and not folder.exists()
    assert "its SHA-512 is not the published one, so it was removed" in done.stderr


def test_what_was_cut_off_is_fetched_to_its_end(fetch, mirror):
    _, folder = fetch(f"http://127.0.0.1:{free_port()}")
    # This server sends whole files only: the piece is of no use, and in nobody's way.
    (folder.parent / f"{NAME}.tgz").write_bytes(mirror.files[ADDRESS][:1_000])
    done, folder = fetch()
    assert done.returncode == 0, done.stderr
    assert (folder / "libs/kafka-clients-4.3.1.jar").stat().st_size == 100_000


def test_without_a_network_it_says_what_to_do(fetch):
    done, folder = fetch(f"http://127.0.0.1:{free_port()}")
    assert done.returncode == 1 and not folder.exists()
    assert "download it from kafka.apache.org, unpack it, and name its folder in DROVER_KAFKA_HOME" in done.stderr
