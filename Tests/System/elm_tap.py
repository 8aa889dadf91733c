"""Between a gateway and an adapter: passes on what each says and writes it down; and a third party's ELM327 to put behind it."""
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from harness import DIES_WITH_US, HANG_S, free_port, until


class Simulator:
    """ELM327-emulator from PyPI, one of its scenarios. It ends with its standard input."""

    def __init__(self, scenario, *lines):
        self.port = free_port()
        command = [*DIES_WITH_US, Path(sys.executable).parent / "elm", "-n", str(self.port), "-s", scenario]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
                                        cwd=tempfile.gettempdir())  # It writes a log where it stands.
        until(self._answers, about="a connection to elm")
        for line in lines:
            self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def _answers(self):
        assert self.process.poll() is None, "elm does not start"
        try:
            socket.create_connection(("127.0.0.1", self.port), HANG_S).close()
        except OSError:
            return False
        return True

    def stop(self):
        self.process.kill()
        self.process.wait(HANG_S)


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
                back = socket.create_connection(("127.0.0.1", self.behind), HANG_S)
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
