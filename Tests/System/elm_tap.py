"""Between a gateway and an adapter: passes on what each says and writes it down; and a third party's ELM327 to put behind it."""
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Simulator:
    """ELM327-emulator from PyPI, one of its scenarios. It ends with its standard input."""

    def __init__(self, scenario, *lines):
        self.port = free_port()
        command = [Path(sys.executable).parent / "elm", "-n", str(self.port), "-s", scenario]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
                                        cwd=tempfile.gettempdir())  # It writes a log where it stands.
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                assert time.monotonic() < deadline and self.process.poll() is None, "elm does not start"
                time.sleep(0.1)
        for line in lines:
            self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def stop(self):
        self.process.kill()
        self.process.wait(10)


class Tap:
    """`said`: (seconds, request, reply up to its prompt) in order, over all connections. `asked`: every line sent."""

    def __init__(self, port):
        self.behind, self.said, self.asked, self.interrupted = port, [], [], 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                front, _ = self.listener.accept()
            except OSError:
                return
            try:
                back = socket.create_connection(("127.0.0.1", self.behind), 5)
            except OSError:
                front.close()
                continue
            talk = {"open": None}
            for source, sink, take in ((front, back, self._ask), (back, front, self._answer)):
                threading.Thread(target=self._pump, args=(source, sink, take, talk), daemon=True).start()

    def _pump(self, source, sink, take, talk):
        buffer = b""
        try:
            while data := source.recv(4096):
                buffer = take(buffer + data, talk)
                sink.sendall(data)
        except OSError:
            pass
        for each in (source, sink):
            each.close()

    def _ask(self, data, talk):
        *lines, rest = data.split(b"\r")
        for line in lines:
            self.interrupted += talk["open"] is not None
            talk["open"] = line.decode()
            self.asked.append(line.decode())
        return rest

    def _answer(self, data, talk):
        *replies, rest = data.split(b">")
        for reply in replies:
            self.said.append((time.time(), talk["open"], reply.decode(errors="replace")))
            talk["open"] = None
        return rest

    def replies(self, pattern):
        return [(request, reply) for _, request, reply in self.said if request and re.fullmatch(pattern, request)]

    def close(self):
        self.listener.close()
