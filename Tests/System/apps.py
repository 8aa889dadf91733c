"""A campus with its people's apps: certificates, tokens, and a client that speaks mutual TLS."""
import http.client
import json
import re
import ssl

import description
from answers import Answer
from certificates import Authority, self_signed
from harness import HANG_S
from test_dispatch import Campus, Office
from test_uploads import new_token
from world import connect, query, url_of

ADDRESS = re.compile(r"apps are served at https://127\.0\.0\.1:(\d+)/")
JSON = "application/json"


class App:
    """One device: the app's certificate, and the token of who holds it."""

    def __init__(self, port, trusted, certificate=None, token=None, campus=None):
        self.port, self.token, self.campus = port, token, campus
        self.tls = ssl.create_default_context(cafile=trusted)
        if certificate:
            self.tls.load_cert_chain(*certificate)

    def connection(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=HANG_S)

    def ask(self, method, path, body=None, **headers):
        connection = self.connection()
        try:
            connection.request(method, self.path(path), body, self.headers(headers, body))
            answer = Answer(connection.getresponse())
        finally:
            connection.close()
        description.check(method, self.path(path), answer.status, answer.headers["Content-Type"], answer.body)
        return answer

    def path(self, path):
        return path if path.startswith("/v1/") else f"/v1/campuses/{self.campus}/{path}"

    def headers(self, headers, body=None):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        if body is not None:
            headers.setdefault("Content-Type", JSON)
        return headers

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def post(self, path, body=None, **more):
        return self.ask("POST", path, None if body is None else json.dumps(body), **more)

    def put(self, path, body, **more):
        return self.ask("PUT", path, json.dumps(body), **more)

    def listen(self, path):
        return Listening(self, path)


class Listening:
    """Server-sent events as they come."""

    def __init__(self, app, path):
        self.connection = app.connection()
        self.connection.request("GET", app.path(path), headers=app.headers({}))
        self.response = self.connection.getresponse()
        assert self.response.status == 200, self.response.read()
        assert self.response.headers["Content-Type"] == "text/event-stream"

    def events(self):
        event = {}
        for line in iter(self.response.readline, b""):
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name in ("event", "data"):
                event[name] = value
            elif not name and "data" in event:
                yield event["event"], json.loads(event["data"])
                event = {}

    def until(self, wanted):
        """The first event that is wanted."""
        for _, data in self.events():
            if wanted(data):
                return data
        raise AssertionError("the stream ended")

    def close(self):
        self.connection.close()


class Desk(Office):
    """A worker, a relay, and `drover serve` with the endpoints of apps, as the logins that production gives them."""

    def __init__(self, world, folder, *serving):
        super().__init__(world)
        query(self.env, "GRANT drover_reader, drover_api TO drover_web")
        self.env["DROVER_POSTGRES_READER_URL"] = url_of(self.env, "drover_web")
        self.authority = Authority(folder, "apps")
        self.certificate, self.key = self_signed(folder, "server")
        self.app_certificate = self.authority.issue("phone")
        self.server, self.port = self.serve(*serving)

    def options(self, *more):
        return ["serve", "--port", "0", "--set", "apps.port=0", "--set", f"apps.certificate={self.certificate}", "--set", f"apps.key={self.key}",
                "--set", f"apps.client_authority={self.authority.root}",
                # A decision that comes late on a busy machine is an answer, too.
                "--set", "apps.answer_wait_ms=60000", *more]

    def serve(self, *more, **env):
        running = self.world.drover.start(*self.options(*more), env={**self.env, **env})
        return running, int(running.wait_for(ADDRESS).group(1))

    def stop(self):
        try:
            self.server.stop()
        finally:
            super().stop()

    def app(self, campus, person, role, port=None):
        """Somebody of the roster with a token, as a mailed code would have given it."""
        token, digest = new_token()
        with connect(self.env) as connection:
            connection.execute(
                "INSERT INTO drover.person (campus, person, role, name, mail) VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                [campus.name, person, role, f"Name of {person}", f"{person}@example.org"])
            connection.execute(
                "INSERT INTO drover.person_token (digest, campus, person, device, expires_at) VALUES (%s, %s, %s, 'phone', now() + interval '1 day')",
                [digest, campus.name, person])
        return App(port or self.port, self.certificate, self.app_certificate, token, campus.name)


__all__ = ["Answer", "App", "Campus", "Desk", "Listening"]
