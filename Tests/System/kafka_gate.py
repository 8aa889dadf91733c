"""A gate in front of a broker that speaks neither TLS nor SASL: it speaks both, lets in who shows what is wanted, and passes requests on.

The broker listens on 127.0.0.2, the gate on 127.0.0.1, both on the same port. Where the broker tells its address the gate writes its own,
so that everything goes through it. What it checks it checks for real: TLS by Python's ssl (OpenSSL), PLAIN by RFC 4616, SCRAM by
RFC 5802 and 7677, in the requests of the Kafka protocol (SaslHandshake, SaslAuthenticate). It is no Apache Kafka: how that words a refusal
is copied here from its sources.
"""
import asyncio
import base64
import hashlib
import hmac
import os
import ssl
import struct
import threading

from harness import HANG_S

BEHIND, FRONT = "127.0.0.2", "127.0.0.1"
# Numbers of the Kafka protocol (kafka.apache.org/protocol, "Api Keys").
FETCH, METADATA, FIND_COORDINATOR, SYNC_GROUP, SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE = 1, 3, 10, 14, 17, 18, 36
UNSUPPORTED_MECHANISM, FAILED = 33, 58
HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
MECHANISMS = ("PLAIN", *HASHES)


class Refused(Exception):
    """What the client is told before the connection is closed."""


class Gate:
    """Closed until `open`, which can be called again: what changes holds for connections from then on."""

    def __init__(self, port):
        self.port, self.server, self.writers = port, None, set()
        # Who came in since `open`: client id, user or None, common name of its certificate or None.
        self.guests = []
        # How many there were to be passed on, of all clients.
        self.fetches = 0
        # Requests that are held, by API, and how many there are.
        self.holding, self.held = {}, 0
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def _do(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(HANG_S)

    def open(self, certificate=None, clients=None, users=None, is_kafka_4=True):
        """`certificate`: paths of ours and its key; none: without TLS. `clients`: a root whose certificates are wanted of clients.
        `users`: passwords by name; none: nobody has to log in. `is_kafka_4`: no longer takes what librdkafka before 2.6.1 makes of SCRAM.
        Connections that are open stay: see `cut`."""
        self._do(self._open(certificate, clients, users, is_kafka_4))

    async def _open(self, certificate, clients, users, is_kafka_4):
        await self._close()
        context = None
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            if clients:
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(clients)
        self.guests = []

        async def come(reader, writer):
            guest = Guest(self, reader, writer, users, is_kafka_4)
            self.writers.add(writer)
            try:
                await guest.serve()
            except (OSError, EOFError, asyncio.CancelledError):
                pass  # It hung up, or the broker did.
            finally:
                self.writers.discard(writer)
                writer.close()

        self.server = await asyncio.start_server(come, FRONT, self.port, ssl=context, limit=1 << 26)

    async def _close(self):
        if self.server:
            # Not waited for: from Python 3.12 on that is until all connections have ended.
            self.server.close()
            self.server = None

    def hold(self, api):
        """Requests of this kind are passed on when `release` is called."""
        async def begin():
            self.holding[api] = asyncio.Event()

        self._do(begin())

    def release(self, api):
        self.loop.call_soon_threadsafe(self.holding.pop(api).set)

    def cut(self):
        """Hangs up on everybody."""
        self._do(self._cut())

    async def _cut(self):
        for writer in list(self.writers):
            writer.transport.abort()

    async def _end(self):
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def stop(self):
        self._do(self._close())
        self._do(self._end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(HANG_S)


class Guest:
    """One connection, from its TLS handshake on."""

    def __init__(self, gate, reader, writer, users, is_kafka_4):
        self.gate, self.reader, self.writer, self.users = gate, reader, writer, users
        self.is_kafka_4, self.is_in, self.user, self.exchange = is_kafka_4, False, None, None
        # API by correlation id, of requests that were passed on.
        self.asked = {}

    async def serve(self):
        broker = await asyncio.open_connection(BEHIND, self.gate.port, limit=1 << 26)
        back = asyncio.ensure_future(self._answers(broker[0]))
        try:
            while True:
                frame = await read(self.reader)
                api, version, correlation, size = struct.unpack_from(">hhih", frame)
                if self.users and self.user is None and api != API_VERSIONS:
                    if not await self._log_in(api, version, correlation, frame[10 + max(0, size):]):
                        return
                else:
                    if not self.is_in and (self.user or not self.users):
                        self._came_in(frame[10:10 + max(0, size)].decode())
                    self.asked[correlation] = api
                    self.gate.fetches += api == FETCH
                    if holding := self.gate.holding.get(api):
                        self.gate.held += 1
                        await holding.wait()
                    broker[1].write(struct.pack(">i", len(frame)) + frame)
                    await broker[1].drain()
        finally:
            back.cancel()
            broker[1].close()

    async def _answers(self, broker):
        try:
            while True:
                frame = await read(broker)
                [correlation] = struct.unpack_from(">i", frame)
                if self.asked.pop(correlation, None) in (METADATA, FIND_COORDINATOR):
                    frame = frame.replace(BEHIND.encode(), FRONT.encode())
                self.writer.write(struct.pack(">i", len(frame)) + frame)
                await self.writer.drain()
        except (OSError, EOFError):
            self.writer.transport.abort()

    def _came_in(self, client):
        self.is_in = True
        certificate = self.writer.get_extra_info("peercert") or {}
        names = dict(part for [part] in certificate.get("subject", ()))
        self.gate.guests.append((client, self.user, names.get("commonName")))

    async def _log_in(self, api, version, correlation, body):
        """False: the connection ends."""
        if api == SASL_HANDSHAKE and version <= 1:
            name = body[2:2 + struct.unpack(">h", body[:2])[0]].decode()
            code = 0 if name in MECHANISMS else UNSUPPORTED_MECHANISM
            offered = b"".join(string(each) for each in MECHANISMS)
            await self._answer(correlation, struct.pack(">hi", code, len(MECHANISMS)) + offered)
            self.exchange = plain(self.users) if name == "PLAIN" else code == 0 and scram(self.users, name, self.is_kafka_4)
            if self.exchange:
                next(self.exchange)
            return code == 0
        if api != SASL_AUTHENTICATE or version > 1 or not self.exchange:
            return False
        code, why, token = 0, struct.pack(">h", -1), b""
        try:
            self.user, token = self.exchange.send(body[4:4 + struct.unpack(">i", body[:4])[0]])
        except Refused as refusal:
            code, why = FAILED, string(str(refusal))
        lifetime = struct.pack(">q", 0) if version else b""
        await self._answer(correlation, struct.pack(">h", code) + why + struct.pack(">i", len(token)) + token + lifetime)
        return code == 0

    async def _answer(self, correlation, body):
        self.writer.write(struct.pack(">ii", 4 + len(body), correlation) + body)
        await self.writer.drain()


async def read(stream):
    [size] = struct.unpack(">i", await stream.readexactly(4))
    return await stream.readexactly(size)


def string(text):
    return struct.pack(">h", len(text.encode())) + text.encode()


def plain(users):
    """Takes what the client says and gives the user, once it is known, with the answer (RFC 4616)."""
    _, user, password = ((yield).decode()).split("\0")
    if not hmac.compare_digest(users.get(user, "").encode(), password.encode()) or user not in users:
        raise Refused("Authentication failed: Invalid username or password")
    yield user, b""


def scram(users, mechanism, is_kafka_4):
    """The same by a challenge: the password itself never comes (RFC 5802, 7677)."""
    kind, rounds = HASHES[mechanism], 4096
    refused = Refused(f"Authentication failed during authentication due to invalid credentials with SASL mechanism {mechanism}")
    first = ((yield).decode()).removeprefix("n,,")
    fields = dict(part.split("=", 1) for part in first.split(","))
    user = fields["n"].replace("=2C", ",").replace("=3D", "=")
    if user not in users:
        raise refused
    salt, nonce = os.urandom(16), fields["r"] + base64.b64encode(os.urandom(18)).decode()
    challenge = f"r={nonce},s={base64.b64encode(salt).decode()},i={rounds}"
    last = (yield None, challenge.encode()).decode()
    without_proof, proof = last.rsplit(",p=", 1)
    salted = hashlib.pbkdf2_hmac(kind, users[user].encode(), salt, rounds)
    client_key = hmac.digest(salted, b"Client Key", kind)
    said = f"{first},{challenge},{without_proof}".encode()
    signature = hmac.digest(hashlib.new(kind, client_key).digest(), said, kind)
    came = dict(part.split("=", 1) for part in without_proof.split(","))["r"]
    is_right = came == nonce if is_kafka_4 else came.endswith(nonce)
    wanted = bytes(a ^ b for a, b in zip(client_key, signature))
    if not is_right or not hmac.compare_digest(wanted, base64.b64decode(proof)):
        raise refused
    server = hmac.digest(hmac.digest(salted, b"Server Key", kind), said, kind)
    yield user, b"v=" + base64.b64encode(server)
