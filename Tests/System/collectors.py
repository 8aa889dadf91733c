"""A collector of sightings as others run one: takes CSV over HTTPS, keeps what it took, and can be made to answer badly."""
import csv
import io
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from harness import HANG_S, free_port

KEY = "operators-key-at-the-collector"


class Collector:
    def __init__(self, certificate, port=0):
        self.requests, self.taken, self.trick, self.lock, self.gate = [], [], None, threading.Lock(), threading.Event()
        # Callers that hung up, or did not believe the certificate.
        self.lost = 0
        self.release()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if len(body) != int(self.headers["Content-Length"]):
                    return  # Who sent it was killed: what is cut off is nobody's.
                with outer.lock:
                    request = Request(time.monotonic(), self.path, dict(self.headers), body)
                    outer.requests.append(request)
                outer.gate.wait(HANG_S)
                with outer.lock:
                    status, text, headers = outer.trick(request) if outer.trick else (201, "thank you", {})
                    if 200 <= status < 300:
                        outer.taken.append(request)
                self.send_response(status)
                self.send_header("Content-Length", str(len(text.encode())))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *arguments):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, address):
                outer.lost += 1

        self.server = Server(("127.0.0.1", port or free_port()), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def hold(self):
        """Requests come in and are answered when `release` is called."""
        self.gate.clear()

    def release(self):
        self.gate.set()

    def close(self):
        self.release()
        self.server.shutdown()
        self.server.server_close()

    def ids(self):
        with self.lock:
            return [request.id for request in self.taken]


class Request:
    def __init__(self, at, path, headers, body):
        self.at, self.path, self.headers, self.body = at, path, headers, body
        self.id = headers.get("Idempotency-Key")

    def rows(self):
        return list(csv.DictReader(io.StringIO(self.body.decode(), newline="")))
