"""HTTP servers of a test's own that stand in for somebody's: what they answer says who stands in."""
import csv
import io
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from harness import HANG_S, free_port


class Answering(BaseHTTPRequestHandler):
    protocol_version, kind = "HTTP/1.1", None

    def reply(self, status, body=b"", kind=None, length=None, **headers):
        """`length`: what is said of the body, where that is not so."""
        self.send_response(status)
        if kind or self.kind:
            self.send_header("Content-Type", kind or self.kind)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class StandIn:
    """Listens on the loopback as soon as it is made; with a certificate and its key over TLS."""

    def __init__(self, handler, pair=None, port=0):
        self.gate, self.lost, outer = threading.Event(), 0, self
        self.release()

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, request, address):
                outer.lost += 1  # Who hung up in the middle, or did not believe the certificate, is what some stories are about.

        self.server = Server(("127.0.0.1", port), handler)
        if pair:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*pair)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_port
        self.address = f"{'https' if pair else 'http'}://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def hold(self):
        """Requests that wait for it are answered when `release` is called."""
        self.gate.clear()

    def release(self):
        self.gate.set()

    def wait(self):
        self.gate.wait(HANG_S)

    def close(self):
        self.release()
        self.server.shutdown()
        self.server.server_close()


KEY = "operators-key-at-the-collector"


class Collector(StandIn):
    """Of sightings, as others run one: takes CSV over HTTPS, keeps what it took, and can be made to answer badly."""

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
