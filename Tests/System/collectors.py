"""A collector of sightings as others run one: takes CSV over HTTPS, keeps what it took, and can be made to answer badly."""
import csv
import io
import threading
import time

from harness import free_port
from stand_ins import Answering, StandIn

KEY = "operators-key-at-the-collector"


class Collector(StandIn):
    def __init__(self, certificate, port=0):
        self.requests, self.taken, self.trick, self.lock = [], [], None, threading.Lock()
        outer = self

        class Handler(Answering):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if len(body) != int(self.headers["Content-Length"]):
                    return  # Who sent it was killed: what is cut off is nobody's.
                with outer.lock:
                    request = Request(time.monotonic(), self.path, dict(self.headers), body)
                    outer.requests.append(request)
                outer.wait()
                with outer.lock:
                    status, text, headers = outer.trick(request) if outer.trick else (201, "thank you", {})
                    if 200 <= status < 300:
                        outer.taken.append(request)
                self.reply(status, text.encode(), **headers)

        super().__init__(Handler, certificate, port or free_port())

    def ids(self):
        with self.lock:
            return [request.id for request in self.taken]


class Request:
    def __init__(self, at, path, headers, body):
        self.at, self.path, self.headers, self.body = at, path, headers, body
        self.id = headers.get("Idempotency-Key")

    def rows(self):
        return list(csv.DictReader(io.StringIO(self.body.decode(), newline="")))
