"""A command on a terminal: what it writes is read as it comes, lines that are written over as well."""
import os
import pty
import subprocess
import threading

from harness import DIES_WITH_US, HANG_S, until


class OnTerminal:
    def __init__(self, command, env):
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen([*DIES_WITH_US, *command], stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True)
        os.close(theirs)
        self.pieces = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        try:
            while piece := os.read(self.ours, 4096):
                self.pieces.append(piece)
        except OSError:
            pass  # So a terminal ends.

    def output(self):
        return b"".join(self.pieces).decode(errors="replace")

    def wait_for(self, text):
        until(lambda: text in self.output() or self.process.poll() is not None, self.output, about=text)
        assert text in self.output(), self.output()

    def type(self, line):
        os.write(self.ours, line.encode() + b"\n")

    def wait(self):
        """The exit code, once all that it wrote is read."""
        code = self.process.wait(HANG_S)
        self.reader.join(HANG_S)
        os.close(self.ours)
        return code
