"""From the roster to a token: codes by mail, once, alike for whoever is not on it, and out of reach of who reads the tables."""
import hashlib
import json
import os
import re
import statistics
import threading
import time

import pytest
from apps import App, Desk
from harness import HANG_S, until
from test_mail import Box, Server
from world import connect, query

ROSTER = "id,role,name,mail\n" + "".join(f"g-{n},rider,Rider {n},g{n}@campus.example\n" for n in range(1, 61)) + "d-1,ride_driver,Petr,d1@campus.example\n"


@pytest.fixture(scope="module")
def office(world, tmp_path_factory):
    office = Codes(world, tmp_path_factory.mktemp("codes"))
    yield office
    office.stop()


class Codes(Desk):
    """The apps' endpoints, and a mail server of the campus."""

    def __init__(self, world, folder):
        self.key_file = folder / "code-key"
        self.key_file.write_bytes(os.urandom(32))
        self.folder, self.box = folder, Box()
        self.mail = Server(self.box, None, tls=False)
        self.mail.start()
        super().__init__(world, folder, *self.settings())
        self.mailing = self.notify()
        self.roster(ROSTER)

    def settings(self):
        """What the process that makes codes and the one that mails them have in common."""
        return ["--set", f"people.code_key_file={self.key_file}", "--set", f"mail.server=smtp://127.0.0.1:{self.mail.port}"]

    def notify(self):
        return self.world.drover.start("notify", *self.settings(), "--set", "mail.from=rides@campus.example", env=self.env)

    def roster(self, text, *more):
        file = self.folder / "roster.csv"
        file.write_text(text)
        self.world.drover.done("import", "people", file, "--campus", "north", *more, env=self.env)

    def anybody(self, token=None):
        return App(self.port, self.certificate, self.app_certificate, token, "north")

    def code(self, person):
        """Asked for, and read in the person's mail."""
        to, count = f"{person.replace('-', '')}@campus.example", len(self.box.mails)
        assert self.anybody().post("codes", {"id": person}).status == 202
        until(lambda: any(mail[1] == [to] for mail in self.box.mails[count:]))
        [message] = [mail[2] for mail in self.box.mails[count:] if mail[1] == [to]]
        return re.search(r"\b(\d{8})\b", message.get_content()).group(1)

    def stop(self):
        try:
            self.mailing.stop()
            self.mail.stop()
        finally:
            super().stop()


def hand(office, person, code, device="phone"):
    return office.anybody().post("tokens", {"id": person, "code": code, "device": device})


def wrong(code):
    return f"{(int(code) + 1) % 10**8:08d}"


def test_a_mailed_code_gives_a_token_once(office):
    code = office.code("g-1")
    assert hand(office, "g-1", wrong(code)).problem == (401, "code-wrong")
    assert hand(office, "g-2", code).problem == (401, "code-wrong")
    answer = hand(office, "g-1", code)
    assert answer.status == 201 and answer.headers["Cache-Control"] == "no-store"
    assert hand(office, "g-1", code).problem == (401, "code-wrong"), "once"
    app = office.anybody(answer.json["token"])
    me = app.get("me").json
    assert (me["id"], me["role"], me["name"]) == ("g-1", "rider", "Rider 1")
    assert App(office.port, office.certificate, office.app_certificate, app.token, "south").get("me").status == 404
    assert app.ask("DELETE", "tokens/current").status == 204
    assert app.get("me").problem == (401, "token-unknown")
    assert app.ask("DELETE", "tokens/current").status == 204, "again changes nothing"
    assert [entry[:2] for entry in tokens_told(office, "north/g-1")] == [("campus_token_added", None), ("campus_token_revoked", None)]


def tokens_told(office, person):
    """By the audit log: what, by whom, and what more."""
    run = office.world.drover.done("audit", "--account", person, "--json", env=office.env)
    return [(entry["action"], entry["actor"], json.loads(entry["detail"])) for entry in map(json.loads, run.out.splitlines())]


def test_tokens_that_an_operator_ends_are_told_with_who_did_it(office):
    app = office.anybody(hand(office, "g-60", office.code("g-60")).json["token"])
    office.world.drover.done("people", "revoke-tokens", "g-60", "--campus", "north", env=office.env)
    assert app.get("me").problem == (401, "token-unknown")
    added, ended = tokens_told(office, "north/g-60")
    assert (added[0], added[1]) == ("campus_token_added", None) and ended[0] == "campus_token_revoked" and ended[1], "whoever typed it"
    assert (added[2]["campus"], added[2]["role"]) == ("north", "rider") and added[2]["token"] == ended[2]["token"]


def test_who_hands_a_code_in_at_once_from_many_devices_gets_one_token(office):
    code, answers = office.code("g-3"), []
    threads = [threading.Thread(target=lambda: answers.append(hand(office, "g-3", code).status)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG_S)
    assert sorted(answers) == [201] + [401] * 11


def test_nothing_says_who_is_on_the_roster(office):
    shown = lambda answer: (answer.status, answer.body, sorted(name for name, _ in answer.headers.items()))
    assert shown(office.anybody().post("codes", {"id": "g-4"})) == shown(office.anybody().post("codes", {"id": "nobody"}))
    assert shown(hand(office, "g-4", "00000000")) == shown(hand(office, "nobody", "00000000"))
    assert hand(office, "nobody-of-no-campus", "00000000").problem == (401, "code-wrong")
    for person in ("g-5", "nobody-5"):
        statuses = [office.anybody().post("codes", {"id": person}).status for _ in range(5)]
        assert statuses == [202] * 3 + [429] * 2
        answer = office.anybody().post("codes", {"id": person})
        assert answer.problem == (429, "too-many") and answer.headers["Retry-After"] == "900"


@pytest.mark.long(reason="leans on time")
def test_nor_does_the_time_that_an_answer_takes(office):
    def seconds(person):
        began = time.perf_counter()
        assert office.anybody().post("codes", {"id": person}).status == 202
        return time.perf_counter() - began
    # Turn about, so that whatever else goes on falls on both.
    pairs = [(seconds(f"g-{n}"), seconds(f"no-{n}")) for n in range(10, 50)]
    known, unknown = (statistics.median(column) for column in zip(*pairs))
    print(f"{known * 1000:.1f} ms, {unknown * 1000:.1f} ms")
    assert abs(known - unknown) < max(0.35 * unknown, 0.004), (known, unknown)


def test_a_code_cannot_be_tried_out(office):
    code = office.code("g-6")
    for _ in range(5):
        assert hand(office, "g-6", wrong(code)).problem == (401, "code-wrong")
    assert hand(office, "g-6", code).problem == (401, "code-wrong")
    assert hand(office, "g-6", office.code("g-6")).status == 201


def test_the_tables_and_logs_hold_no_code(office):
    office.mailing.stop()
    assert office.anybody().post("codes", {"id": "g-7"}).status == 202
    [digest] = [row[0] for row in query(office.env, "SELECT digest FROM drover.person_code WHERE person = 'g-7'")]
    [[waiting]] = query(office.env, "SELECT body FROM drover.mail WHERE recipient = 'g7@campus.example'")
    assert not re.search(rb"\d{8}", waiting)
    guesses = [b"%s%08d" % (prefix, 0) for prefix in (b"", b"north\0g-7\0")]
    assert digest not in [hashlib.blake2b(guess, digest_size=32).digest() for guess in guesses]
    office.mailing = office.notify()
    until(lambda: any(mail[1] == ["g7@campus.example"] for mail in office.box.mails))
    [text] = [mail[2].get_content() for mail in office.box.mails if mail[1] == ["g7@campus.example"]]
    code = re.search(r"\d{8}", text).group(0)
    for running in (office.server, office.mailing, office.relay):
        assert code not in running.output() and "g7@campus" not in running.output()
    assert hand(office, "g-7", code).status == 201


def test_another_address_or_no_place_on_the_roster_signs_out(office):
    app = office.anybody(hand(office, "g-8", office.code("g-8")).json["token"])
    waiting = office.code("g-8")
    office.roster(ROSTER.replace("g8@campus.example", "g8@elsewhere.example"))
    assert app.get("me").problem == (401, "token-unknown") and hand(office, "g-8", waiting).problem == (401, "code-wrong")
    app = office.anybody(hand(office, "g-9", office.code("g-9")).json["token"])
    assert app.get("me").status == 200
    office.roster("".join(line for line in ROSTER.splitlines(True) if not line.startswith("g-9,")), "--disable-missing")
    assert app.get("me").problem == (401, "token-unknown")
    office.roster(ROSTER)


@pytest.mark.parametrize("body,status", [
    ("", 400), ("[]", 400), ('{"id":', 400), ('{"id":"a b"}', 422), ('{"id":7}', 422), ("{}", 422), ('{"id":"' + "x" * 65 + '"}', 422),
    ('{"id":"' + "x" * 20_000 + '"}', 400), ('{"id":"g-1\\u0000"}', 400),
])
def test_what_is_no_request_for_a_code(office, body, status):
    assert office.anybody().ask("POST", "codes", body).status == status


@pytest.mark.parametrize("fields", [{"code": "1234567", "device": "d"}, {"code": "1234567a", "device": "d"}, {"code": "12345678"}, {"device": "d"},
                                    {"code": "12345678", "device": ""}, {"code": "12345678", "device": "a\nb"}, {"code": "12345678", "device": "x" * 101}, {"code": "１２３４５６７８", "device": "d"}])
def test_what_is_no_code(office, fields):
    assert office.anybody().post("tokens", {"id": "g-1", **fields}).status == 422


@pytest.mark.parametrize("given, said", [
    ([], "people.code_key_file and mail.server are not set"), (["mail.server"], "people.code_key_file is not set"),
    # A key is for second factors, too: by itself it promises no mail.
    (["people.code_key_file"], "mail.server is not set")], ids=["nothing", "no key", "no mail"])
def test_without_a_key_or_a_mail_server_there_are_no_codes(office, given, said):
    running, port = office.serve(*[word for word in office.settings() for name in given if word.startswith(name + "=") for word in ("--set", word)])
    try:
        app = App(port, office.certificate, office.app_certificate, None, "north")
        for path, fields in [("codes", {"id": "g-1"}), ("tokens", {"id": "g-1", "code": "12345678", "device": "phone"})]:
            answer = app.post(path, fields)
            assert answer.problem == (503, "codes-off") and said in answer.json["detail"], answer.body
    finally:
        running.stop()


def test_a_key_must_be_long_enough(office, world):
    short = office.folder / "short-key"
    short.write_bytes(b"x" * 31)
    world.drover.fails(*office.options("--set", f"people.code_key_file={short}"), env=office.env, says="must hold 32")


def test_one_account_does_not_use_up_everybodys_codes(env):
    """A rider's account asked for a thousand codes of ids that nobody has in four seconds, and for an hour no campus got one."""
    def ask(connection, person, asker):
        return connection.execute("SELECT drover.ask_code('north', %s, sha256('c'), %s, 's', 'b', %s)", [person, f"mail-{person}-{asker.split()[0]}-{asker[-1]}", asker]).fetchone()[0]
    with connect(env) as connection:
        connection.execute("INSERT INTO drover.person (campus, person, role, name, mail) VALUES ('north', 'g-1', 'rider', 'G', 'g@campus.example')")
        asked = [ask(connection, f"nobody-{number}", "account spy") for number in range(1010)]
        assert asked == [True] * 20 + [False] * 990
        assert ask(connection, "g-1", "account spy") is False
        assert ask(connection, "g-1", "account rider") is True and ask(connection, "g-1", "address 192.0.2.1") is True
        # The same of tries.
        tried = [connection.execute("SELECT drover.take_code('north', %s, sha256('w'), sha256('t'), 'd', 'account spy')", [f"nobody-{number}"]).fetchone()[0] for number in range(110)]
        assert tried == ["wrong"] * 100 + ["too_many"] * 10


def test_one_network_of_ipv6_does_not_use_up_everybodys_codes(env):
    """Whoever has one address of IPv6 has 2^64 of them: a thousand asked once each, and for an hour no campus got a code."""
    with connect(env) as connection:
        def ask(number, asker):
            return connection.execute("SELECT drover.ask_code('north', %s, sha256('c'), %s, 's', 'b', %s)", [f"six-{number}", f"six-{number}", asker]).fetchone()[0]
        assert [ask(number, f"address 2001:db8::{number:x}") for number in range(310)] == [True] * 300 + [False] * 10
        assert ask(310, "address 2001:db8:0:1::1") and ask(311, "address ::ffff:192.0.2.1") and ask(312, "address fe80::1%eth0")
        assert connection.execute("SELECT array_agg(DISTINCT asker ORDER BY asker) FROM drover.code_request WHERE person LIKE 'six-%'").fetchone()[0] == [
            "address 2001:db8:0:1::/64", "address 2001:db8::/64", "address ::ffff:192.0.2.1", "address fe80::1%eth0"]


def test_strangers_keep_nobody_from_a_code(env):
    """Three requests by anybody kept a person from codes for 15 minutes, ten for a day, and five wrong tries took the code that was out."""
    with connect(env) as connection:
        connection.execute("INSERT INTO drover.person (campus, person, role, name, mail) VALUES ('north', 'm-1', 'rider', 'M', 'm@campus.example') ON CONFLICT DO NOTHING")
        def ask(asker, code):
            return connection.execute("SELECT drover.ask_code('north', 'm-1', sha256(%s), %s, 's', 'b', %s)", [code.encode(), f"m-{code.replace(' ', '-')}-{asker[-1]}", asker]).fetchone()[0]
        def take(asker, code):
            return connection.execute("SELECT drover.take_code('north', 'm-1', sha256(%s), sha256(%s), 'd', %s)", [code.encode(), code.encode() + b" token", asker]).fetchone()[0]
        def mails():
            return connection.execute("SELECT count(*) FROM drover.mail WHERE recipient = 'm@campus.example'").fetchone()[0]
        assert [ask("account spy", f"spied {number}") for number in range(4)] == [True] * 3 + [False]
        assert ask("account owner", "own") and mails() == 4
        # A stranger's tries are the stranger's.
        assert [take("account spy", f"guess {number}") for number in range(9)] == ["wrong"] * 9 and take("account spy", "own") == "wrong"
        assert take("account owner", "own") == "taken"
        # Many strangers fill no mailbox: what the newest mail says stays good.
        assert all(ask(f"address 192.0.2.{number}", f"last {number}") for number in range(9))
        assert mails() == 6 and take("account owner", "last 8") == "wrong" and take("account owner", "last 1") == "taken"
