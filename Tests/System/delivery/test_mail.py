"""Mail that waits reaches a mail server: at least once, over TLS, with one Message-ID; refused, greylisted, away, killed."""
import email
import email.policy
import signal
import socket
import ssl
from datetime import datetime, timezone

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult
from certificates import self_signed
from harness import HANG_S, free_port, is_long, lent, until
from world import connect, query, url_of

USER, PASSWORD = "drover", "pass word\u00e9"


class Box:
    """A mail server's inside: takes mail, or answers what it is told to."""

    def __init__(self):
        self.mails, self.answers, self.asked, self.before = [], {}, [], lambda: None

    async def handle_RCPT(self, server, session, envelope, address, options):
        self.asked.append(address)
        answers = self.answers.get(address, [])
        if answers:
            return answers.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        self.mails.append((envelope.mail_from, envelope.rcpt_tos, message, session.ssl is not None, envelope.content))
        self.before()
        return self.answers["data"].pop(0) if self.answers.get("data") else "250 OK"


class Server(Controller):
    def __init__(self, box, certificate, port=0, implicit=False, tls=True, host="127.0.0.1"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if tls else None
        if tls:
            context.load_cert_chain(*certificate)
        self.starttls = None if implicit else context
        # Not handled: the library answers.
        authenticate = lambda server, session, envelope, mechanism, data: AuthResult(
            success=(data.login, data.password) == (USER.encode(), PASSWORD.encode()), handled=False)
        self.extra = {"authenticator": authenticate, "auth_required": tls, "auth_require_tls": tls and not implicit, "tls_context": self.starttls, "require_starttls": tls and not implicit}
        super().__init__(box, hostname=host, port=port or free_port(), ssl_context=context if implicit else None, ready_timeout=HANG_S)

    def factory(self):
        return SMTP(self.handler, **self.extra)

    def stop(self, no_assert=True):
        if self._thread:  # Once is enough.
            super().stop()


@pytest.fixture(scope="module")
def database(world):
    return world.database()


@pytest.fixture
def office(world, database, certificate, tmp_path):
    query(database, "DELETE FROM drover.mail")
    yield from lent(Office(world, database, certificate, tmp_path))


class Office:
    """A mail server that wants TLS and a login, and what `drover notify` needs to know of it."""

    def __init__(self, world, env, certificate, folder):
        self.world, self.env, self.certificate, self.folder, self.box = world, env, certificate, folder, Box()
        # As production's login, without other rights.
        query(env, "GRANT drover_relay TO drover_notify")
        self.relay_url = url_of(env, "drover_notify")
        self.password = folder / "password"
        self.password.write_text(PASSWORD + "\n")
        self.server, self.relays = Server(self.box, certificate), []
        self.server.start()

    def notify(self, *more, env=None, **settings):
        settings = {"server": f"smtp://127.0.0.1:{self.server.port}", "from": "rides@campus.example", "user": USER,
                    "password_file": self.password, "certificate_authority": self.certificate[0], **settings}
        arguments = [word for key, value in settings.items() if value for word in ("--set", f"mail.{key}={value}")] + list(more)
        relay = self.world.drover.start("notify", *arguments, env={**self.env, "DROVER_POSTGRES_RELAY_URL": self.relay_url, **(env or {})})
        self.relays.append(relay)
        return relay

    def write(self, mail_id, recipient="ada@campus.example", subject="Your code", body="12345678\n", expires="1 hour"):
        query(self.env, "INSERT INTO drover.mail (mail_id, recipient, subject, body, expires_at) VALUES (%s, %s, %s, %s, now() + %s::interval)", mail_id, recipient, subject, body.encode(), expires)

    def rows(self):
        return {row[0]: row[1:] for row in query(self.env, "SELECT mail_id, tries, refused FROM drover.mail")}

    def ids(self):
        return [mail[2]["Message-ID"] for mail in self.box.mails]

    def hurry(self):
        """What was put off is tried now."""
        with connect(self.env) as connection:
            connection.execute("UPDATE drover.mail SET try_at = now() WHERE refused IS NULL")
            connection.execute("NOTIFY drover_mail")

    def serve(self, **more):
        """Another mail server in the place of the one that was."""
        self.server.stop()
        self.server = Server(self.box, self.certificate, **more)
        self.server.start()

    def close(self):
        try:
            for relay in self.relays:
                relay.stop()
        finally:
            self.server.stop()


def test_a_mail_of_parts_is_read_by_another_reader(office):
    """HTML beside the text, files, the mails it belongs to, one click that ends such mails: read by Python's own reader."""
    office.notify()
    picture = bytes(range(256)) * 300
    with connect(office.env) as connection, connection.transaction():
        connection.execute(
            "INSERT INTO drover.mail (mail_id, recipient, subject, body, html, leave_url, refers_to, expires_at) VALUES "
            "('p-1', 'ada@campus.example', 'Coolant', %s, %s, %s, '{m-1,m-2}', now() + interval '1 hour')",
            [b"Coolant 108 \xc2\xb0C\n--=_a_p-1--\n", "<p>Coolant <b>108\u00a0\u00b0C</b></p>".encode(), b"https://drover.example/off/abc"])
        connection.cursor().executemany(
            "INSERT INTO drover.mail_file (mail_id, name, media_type, content) VALUES ('p-1', %s, %s, %s)",
            [("fleet day.csv", "text/csv", b"a,b\n1,2\n"), ("fleet.pdf", "application/pdf", picture)])
    until(lambda: office.box.mails)
    # The server has it before the relay marks that.
    until(lambda: office.rows() == {})
    message = office.box.mails[0][2]
    assert [part.get_content_type() for part in message.walk()] == [
        "multipart/mixed", "multipart/alternative", "text/plain", "text/html", "text/csv", "application/pdf"]
    assert message.get_body(("plain",)).get_content().replace("\r\n", "\n") == "Coolant 108 \u00b0C\n--=_a_p-1--\n"
    assert message.get_body(("html",)).get_content().strip() == "<p>Coolant <b>108\u00a0\u00b0C</b></p>"
    assert {part.get_filename(): part.get_payload(decode=True) for part in message.iter_attachments()} == {
        "fleet day.csv": b"a,b\n1,2\n", "fleet.pdf": picture}
    assert message["In-Reply-To"] == "<m-2@campus.example>"
    assert message["References"].split() == ["<m-1@campus.example>", "<m-2@campus.example>"]
    assert message["List-Unsubscribe"] == "<https://drover.example/off/abc>" and message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert not message.defects and not any(part.defects for part in message.walk())
    assert query(office.env, "SELECT count(*) FROM drover.mail_file") == [(0,)]


def test_mail_arrives_over_tls_with_a_login(office):
    office.notify()
    before = datetime.now(timezone.utc).replace(microsecond=0)
    text = "J\u00f6rg, .\n.\n..dots\n" + "x" * 2_000 + "\nend\n"
    office.write("m-1", subject="Caf\u00e9 \u674e", body=text)
    office.write("m-2", body=".\nFrom here\n")
    until(lambda: office.rows() == {})
    [(sender, [to], first, is_encrypted, raw), (_, _, second, _, _)] = office.box.mails
    assert (sender, to, is_encrypted) == ("rides@campus.example", "ada@campus.example", True)
    assert first["Subject"] == "Caf\u00e9 \u674e" and first["To"] == "ada@campus.example" and first["Message-ID"] == "<m-1@campus.example>"
    assert first.get_content().replace("\r\n", "\n").strip() == text.strip()
    assert second.get_content().replace("\r\n", "\n").strip() == ".\nFrom here"
    assert before <= first["Date"].datetime <= datetime.now(timezone.utc)
    assert max(map(len, raw.split(b"\r\n"))) <= 998


def test_implicit_tls(office):
    office.serve(implicit=True)
    office.notify(server=f"smtps://127.0.0.1:{office.server.port}")
    office.write("m-1")
    until(lambda: office.rows() == {})
    assert office.ids() == ["<m-1@campus.example>"]


def test_a_greylisted_mail_comes_later_and_holds_no_other_up(office):
    office.box.answers["slow@campus.example"] = ["451 4.7.1 Greylisted, try again", "450 busy"]
    office.write("m-1", recipient="slow@campus.example")
    office.write("m-2", recipient="quick@campus.example")
    relay = office.notify()
    until(lambda: office.hurry() or office.rows() == {}, relay)
    for tries in (1, 2):
        relay.wait_for(f"a mail was put off.* tries={tries} retry_in_ms={1000 << tries}")
    assert office.ids() == ["<m-2@campus.example>", "<m-1@campus.example>"]
    assert office.box.asked.count("slow@campus.example") == 3
    assert relay.output().count("a mail was put off") == 2 and "slow@campus" not in relay.output()


def test_a_refused_mail_is_told_and_given_up(office):
    office.box.answers = {"gone@campus.example": ["550 no such user"], "data": ["554 rubbish"]}
    office.write("m-1", recipient="gone@campus.example")
    office.write("m-2", recipient="full@campus.example")
    relay = office.notify()
    office.write("m-3", expires="-1 second")
    office.write("m-4")
    until(lambda: office.ids()[-1:] == ["<m-4@campus.example>"] and len(office.rows()) == 3, relay)
    rows = office.rows()
    assert "(550)" in rows["m-1"][1] and "(554)" in rows["m-2"][1] and rows["m-3"][1] == "nobody needs it any more"
    assert relay.output().count("a mail was given up") == 3
    # Whatever comes later, they are not tried again.
    office.hurry()
    office.write("m-5")
    until(lambda: len(office.ids()) == 3 and len(office.rows()) == 3, relay)
    assert office.box.asked.count("gone@campus.example") == 1 and office.box.asked.count("full@campus.example") == 1


def test_to_a_server_that_is_not_the_one_nothing_goes(office, tmp_path):
    """Each relay tries again and again, and says so once; none gives the mail or the password away."""
    plain = Server(office.box, office.certificate, tls=False)
    plain.start()
    try:
        wrong = tmp_path / "wrong"
        wrong.write_text("wrong\n")
        troubles = {"another certificate": {"certificate_authority": self_signed(tmp_path, "other")[0]},
                    "another name": {"server": f"smtp://localhost:{office.server.port}"},
                    "no TLS": {"server": f"smtp://127.0.0.1:{plain.port}"},
                    "wrong password": {"password_file": wrong},
                    "nobody there": {"server": f"smtp://127.0.0.1:{free_port()}"}}
        relays = {trouble: office.notify(env={"DROVER_LOG": "debug"}, **settings) for trouble, settings in troubles.items()}
        office.write("m-1")
        for trouble, relay in relays.items():
            relay.wait_for("mail cannot go out; what waits is kept")
            relay.wait_for("still in trouble")
            assert relay.output().count("mail cannot go out") == 1 and PASSWORD not in relay.output(), trouble
        assert "another login (535)" in relays["wrong password"].output()
        assert office.box.mails == [] and office.rows() == {"m-1": (0, None)}
    finally:
        plain.stop()


def test_plain_mail_only_on_this_machine(office):
    office.serve(tls=False, host="0.0.0.0")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outward:
        outward.connect(("192.0.2.1", 9))
        address = outward.getsockname()[0]
    plain = {"certificate_authority": None, "user": None, "password_file": None}
    away = office.notify(server=f"smtp://{address}:{office.server.port}", **plain)
    office.write("m-1")
    away.wait_for("mail cannot go out")
    assert office.box.mails == []
    away.stop()
    office.notify(server=f"smtp://127.0.0.1:{office.server.port}", **plain)
    until(lambda: office.rows() == {})
    assert [mail[3] for mail in office.box.mails] == [False]


def test_a_server_that_comes_back_gets_what_waited(office):
    port = office.server.port
    office.server.stop()
    relay = office.notify()
    office.write("m-1")
    relay.wait_for("mail cannot go out")
    office.serve(port=port)
    until(lambda: office.rows() == {})
    relay.wait_for("mail goes out again")
    assert office.ids() == ["<m-1@campus.example>"]


def test_killed_between_send_and_mark_it_comes_again_under_its_name(office):
    first = office.notify()
    office.box.before = lambda: first.signal(signal.SIGKILL)
    office.write("m-1")
    first.wait()
    assert office.ids() == ["<m-1@campus.example>"] and office.rows() == {"m-1": (0, None)}
    office.box.before = lambda: None
    office.notify()
    until(lambda: office.rows() == {})
    assert office.ids() == ["<m-1@campus.example>"] * 2


def test_two_relays_send_each_mail_once(office):
    count = 60 if is_long() else 20
    for number in range(count):
        office.write(f"m-{number}", recipient=f"p{number}@campus.example")
    for _ in range(2):
        office.notify()
    until(lambda: office.rows() == {})
    assert sorted(office.ids()) == sorted(f"<m-{number}@campus.example>" for number in range(count))


def test_settings_that_cannot_be_are_told_at_once(office):
    run = lambda *settings: office.world.drover.run("notify", *[word for setting in settings for word in ("--set", setting)], env=office.env)
    for settings, said in [
        (["mail.server=mail.example"], "mail.server: must be smtp://"), (["mail.server=smtp://a", "mail.from=a\r\nBcc: b@c.example"], "mail.from"),
        (["mail.server=smtp://a", "mail.from=a@b.example", "mail.user=x"], "go together"),
        (["mail.server=smtp://a", "mail.from=a@b.example", f"people.code_key_file={office.password}"], "must hold 32"),
    ]:
        ended = run(*settings)
        assert ended.code == 1 and said in ended.err, ended.err
