"""Accounts: log-in, registration and forgotten passwords by mail, sessions, and what somebody without rights may try."""
import http.client
import re
import statistics
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import argon2.low_level as argon2
import hashlib
import psycopg
import pytest
from playwright.sync_api import expect
from harness import HANG_S, is_long, lent, looked_at, until
from people import PASSWORD, Visitor, add_account, token
from test_mail import Office
from world import Asked, connect, query, url_of

ADDRESS = re.compile(r"at (http://127\.0\.0\.1:(\d+)/)")
OTHER = "stapled ünïcode 李"


@pytest.fixture(scope="module")
def house(world, certificate, tmp_path_factory):
    yield from lent(Site(world, world.database(), certificate, tmp_path_factory.mktemp("site")))


@pytest.fixture
def site(house):
    """Without anybody, and without mail that is on its way."""
    house.forget()
    return house


class Site(Asked):
    """`drover serve` and `drover notify` as the logins that production gives them, and a real mail server; without `has_mail` the pages
    alone."""

    def __init__(self, world, env, certificate, folder, *settings, has_mail=True):
        self.world, self.env, self.office = world, env, None
        query(env, "GRANT drover_reader, drover_api TO drover_web")
        query(env, "GRANT drover_page TO drover_pages")
        self.pages = url_of(env, "drover_pages")
        self.web = url_of(env, "drover_web")
        self.key = folder / "key"
        self.key.write_bytes(b"k" * 32)
        if has_mail:
            self.office = Office(world, env, certificate, folder)
            self.office.notify("--set", f"people.code_key_file={self.key}")
        self.serve(0, *settings)

    def serve(self, port=0, *more):
        self.server, self.address, self.port = self.server_beside(port, *more)

    def server_beside(self, port=0, *more):
        """Another one on the same database: with its address and port."""
        mail = ["--set", f"mail.server=smtp://127.0.0.1:{self.office.server.port}"] if self.office else []
        server = self.world.drover.start(
            "serve", "--port", str(port), "--set", f"people.code_key_file={self.key}", "--set", "web.public_url=http://127.0.0.1:1", *mail, *more,
            env={**self.env, "DROVER_POSTGRES_READER_URL": self.web, "DROVER_POSTGRES_PAGE_URL": self.pages})
        return server, *server.wait_for(ADDRESS).groups()

    def close(self):
        try:
            self.server.stop()
        finally:
            if self.office:
                self.office.close()

    def forget(self):
        until(lambda: self.query("SELECT 1 FROM drover.mail") == [], *self.office.relays, about="the end of the mail")
        with connect(self.env) as connection:
            for rows in ("account_try", "report_schedule WHERE shipped IS NULL", "notice_step", "notice_message", "account"):
                connection.execute(f"DELETE FROM drover.{rows}")
        self.office.box.mails.clear()

    def run(self, *words):
        return self.world.drover.run("account", *words, env=self.env)

    def link(self, count=1):
        """Of the last mail, as text from its body."""
        until(lambda: len(self.office.box.mails) >= count)
        body = self.office.box.mails[count - 1][2].get_content()
        return re.search(r"http://127\.0\.0\.1:1(/\S+)", body).group(1)

    def mail(self, number):
        until(lambda: len(self.office.box.mails) > number)
        return self.office.box.mails[number][2]

    def with_account(self, account="miller", mail="miller@example.org", password=PASSWORD, *roles):
        add_account(self.env, account, *roles, mail=mail, password=password)
        return Visitor(self.port)

    def invited(self, account="miller", mail="miller@example.org", password=PASSWORD, *roles):
        """As an operator lets people in: by a link for their first password."""
        run = self.run("add", account, "--mail", mail, *[word for role in roles for word in ("--role", role)])
        assert run.code == 0, run.err
        visitor = Visitor(self.port)
        path = urllib.parse.urlsplit(run.out.strip())
        path = f"{path.path}?{path.query}"
        assert visitor.get(path).status == 200
        answer = visitor.post("/password", link=token(path), password=password, again=password)
        assert answer.status == 200 and "Password saved" in answer.body, answer.body
        return Visitor(self.port)


def test_somebody_registers_confirms_logs_in_and_out(site):
    ada = Visitor(site.port)
    said = ada.post("/register", mail="Ada@Example.org", first_name="Ada", last_name="Love<lace>", password=PASSWORD, again=PASSWORD)
    assert said.status == 200 and "Check your mail" in said.body
    path = site.link()
    assert ada.log_in("ada@example.org").status == 401, "not confirmed yet"
    # A program that looks into mail opens links; so nothing happens with it.
    assert ada.get(path).status == ada.get(path).status == 200
    assert ada.post("/confirm", link=token(path), password="something else").status == 401
    answer = ada.post("/confirm", link=token(path), password=PASSWORD)
    assert answer.status == 303 and answer.headers["Location"] == "/account"
    for attribute in ("HttpOnly", "SameSite=Lax", "Path=/"):
        assert attribute in answer.headers["Set-Cookie"]
    page = ada.get("/account")
    assert page.status == 200 and "Love&lt;lace&gt;" in page.body and "Love<lace>" not in page.body and page.headers["Cache-Control"] == "no-store"
    assert ada.post("/confirm", link=token(path), password=PASSWORD).status == 410, "once"
    assert ada.get(path).status == 410
    assert ada.post("/logout", form=ada.mark()).headers["Location"] == "/login" and ada.cookie is None
    assert ada.get("/account").headers["Location"] == "/login?next=/account"
    # By whatever way the address is written.
    assert ada.log_in("ADA@example.ORG", next="/account").headers["Location"] == "/account"
    assert site.query("SELECT roles, confirmed_at IS NOT NULL FROM drover.account WHERE lower(mail) = 'ada@example.org'") == [([], True)]
    for elsewhere in ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"):
        assert Visitor(site.port).log_in("ada@example.org", next=elsewhere).headers["Location"] == "/"


def test_what_is_kept_is_argon2id_and_no_answer_tells_who_has_an_account(site):
    begun = site.server.mark(), [relay.mark() for relay in site.office.relays]
    site.invited()
    (password, salt, memory, passes), = site.query("SELECT password, salt, memory_kib, passes FROM drover.account WHERE account = 'miller'")
    raw = argon2.hash_secret_raw(PASSWORD.encode(), bytes(salt), passes, memory, 1, 32, argon2.Type.ID)
    assert hashlib.blake2b(raw, digest_size=32).digest() == bytes(password) and memory >= 19 * 1024
    seen = {}
    for mail in ("miller@example.org", "nobody@example.org"):
        wrong = Visitor(site.port).log_in(mail, "not the password")
        again = Visitor(site.port).post("/forgot", mail=mail)
        new = Visitor(site.port).post("/register", mail=mail, password=OTHER, again=OTHER)
        seen[mail] = [(answer.status, answer.body.replace(mail, "M"), sorted(answer.headers.keys())) for answer in (wrong, again, new)]
    assert seen["miller@example.org"] == seen["nobody@example.org"]
    until(lambda: len(site.office.box.mails) == 3)
    subjects = sorted((mail[1][0], mail[2]["Subject"]) for mail in site.office.box.mails)
    assert subjects == [("miller@example.org", "A new password"), ("miller@example.org", "You already have an account"), ("nobody@example.org", "Confirm your mail address")]
    # Who registered for somebody else changed nothing of theirs.
    assert Visitor(site.port).log_in().status == 303
    # As long, too: both are hashed. (Shown, not asserted: a clock on a shared machine proves nothing.)
    times = {mail: [] for mail in seen}
    for _ in range(6 if is_long() else 0):
        for mail in times:
            began = time.monotonic()
            Visitor(site.port).log_in(mail, "not the password")
            times[mail].append(time.monotonic() - began)
    print({mail: f"{statistics.median(took) * 1000:.0f} ms" for mail, took in times.items() if took})
    with psycopg.connect(site.web, autocommit=True) as web:
        for table in ("account", "account_session", "account_link", "account_try", "account_secret"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                web.execute(f"SELECT * FROM drover.{table}")
        for inner in ("drover.admit_account_try('a', 'b', true)",):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                web.execute(f"SELECT {inner}")
    said = "".join(site.server.lines[begun[0]:]) + "".join(line for relay, mark in zip(site.office.relays, begun[1]) for line in relay.lines[mark:])
    assert PASSWORD not in said and "miller@" not in said and "drover_" not in said.replace("drover_web", "")


def test_a_forgotten_password_is_replaced_once_and_everybody_is_logged_out(site):
    old = site.with_account()
    assert old.log_in(keep="1").status == 303
    Visitor(site.port).post("/forgot", mail="miller@example.org")
    first = site.link(1)
    Visitor(site.port).post("/forgot", mail="miller@example.org")
    second = site.link(2)
    new = Visitor(site.port)
    assert new.get(first).status == 410, "the newest counts"
    for password, again in (("short", "short"), (OTHER, PASSWORD), ("aaaaaaaaaaaa", "aaaaaaaaaaaa"), ("x" * 300, "x" * 300)):
        answer = new.post("/password", link=token(second), password=password, again=again)
        assert answer.status == 422 and 'role="alert"' in answer.body
    assert new.post("/password", link=token(second), password=OTHER, again=OTHER).status == 200
    assert new.post("/password", link=token(second), password=PASSWORD, again=PASSWORD).status == 410
    assert old.get("/account").status == 303, "logged out"
    assert new.log_in().status == 401 and new.log_in(password=OTHER).status == 303
    # One that is too old.
    Visitor(site.port).post("/forgot", mail="miller@example.org")
    third = site.link(3)
    site.query("UPDATE drover.account_link SET expires_at = now() - interval '1 second' RETURNING 1")
    assert new.get(third).status == 410 and new.post("/password", link=token(third), password=PASSWORD, again=PASSWORD).status == 410


def test_one_account_in_many_places(site):
    here = site.with_account()
    there = Visitor(site.port)
    assert here.log_in().status == there.log_in(keep="1").status == 303
    assert here.get("/account").body.count('action="/account/sessions/end"') == 1
    # By the names that people know; what the browser said in all is its title.
    phone = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36"
    site.query("UPDATE drover.account_session SET agent = %s WHERE is_kept AND account = 'miller' RETURNING 1", phone)
    assert f'<span title="{phone}">Chrome on Android</span>' in here.get("/account").body
    number = re.search(r'name="number" value="(\d+)"', here.get("/account").body).group(1)
    # Somebody else's session is none of ours.
    stranger = site.with_account("fink", "fink@example.org")
    stranger.log_in("fink@example.org")
    stranger.post("/account/sessions/end", form=stranger.mark(), number=number)
    assert there.get("/account").status == 200
    here.post("/account/sessions/end", form=here.mark(), number=number)
    assert there.get("/account").status == 303 and here.get("/account").status == 200
    there.log_in()
    wrong = here.post("/account/password", form=here.mark(), old="not the password", password=OTHER, again=OTHER)
    assert wrong.status == 401 and there.get("/account").status == 200
    assert "Password saved" in here.post("/account/password", form=here.mark(), old=PASSWORD, password=OTHER, again=OTHER).body
    assert there.get("/account").status == 303 and here.get("/account").status == 200
    saved = here.post("/account", form=here.mark(), first_name="Ada", last_name="", units="us", zone="America/Chicago")
    assert saved.status == 200 and site.query("SELECT first_name, units, zone FROM drover.account WHERE account = 'miller'") == [("Ada", "us", "America/Chicago")]
    for fields in ({"zone": "Mars/Olympus"}, {"units": "furlongs"}, {"first_name": "a\r\nb"}):
        assert here.post("/account", **{"form": here.mark(), "first_name": "", "last_name": "", "units": "us", "zone": "UTC", **fields}).status == 422
    # Sessions end by themselves.
    site.query("UPDATE drover.account_session SET last_used_at = now() - interval '13 hours' RETURNING 1")
    assert here.get("/account").status == 303
    kept = Visitor(site.port)
    kept.log_in(password=OTHER, keep="1")
    site.query("UPDATE drover.account_session SET last_used_at = now() - interval '13 hours' RETURNING 1")
    assert kept.get("/account").status == 200
    site.query("UPDATE drover.account_session SET made_at = now() - interval '91 days' RETURNING 1")
    assert kept.get("/account").status == 303


def test_an_operator_disables_erases_and_gives_roles(site):
    miller = site.invited("miller", "miller@example.org", PASSWORD, "farmer")
    miller.log_in()
    assert '<span class="tag">Farmer</span>' in miller.get("/account").body
    assert site.run("roles", "miller", "--role", "farmer", "--role", "ranger").code == 0 and '<span class="tag">Farmer</span> <span class="tag">Ranger</span>' in miller.get("/account").body
    assert site.run("roles", "miller", "--role", "king").code == 2
    assert site.run("disable", "miller").code == 0 and miller.get("/account").status == 303 and miller.log_in().status == 401
    assert site.run("link", "miller").code == 1
    Visitor(site.port).post("/forgot", mail="miller@example.org")
    # Written by who did not know yet.
    site.query("INSERT INTO drover.mail (mail_id, recipient, subject, body, expires_at) VALUES ('late', 'Miller@example.org', 's', 'b', now() + interval '1 day') RETURNING 1")
    until(lambda: site.query("SELECT refused FROM drover.mail WHERE mail_id = 'late'") == [("nobody needs it any more",)], *site.office.relays)
    assert site.run("enable", "miller").code == 0 and miller.log_in().status == 303
    for words in (("add", "miller", "--mail", "other@example.org"), ("add", "other", "--mail", "MILLER@example.org")):
        run = site.run(*words)
        assert run.code == 1 and "already" in run.err
    assert site.run("add", "x", "--mail", "no mail").code == 2 and site.run("add", "a b").code == 2
    run = site.run("list", "--format", "csv")
    assert "miller,miller@example.org,,farmer ranger,confirmed" in run.out, run.out
    with connect(site.env) as connection:
        connection.execute("INSERT INTO drover.account (account) VALUES ('boss')")
        connection.execute("INSERT INTO drover.notice_setting (account, webhook_url, webhook_key) VALUES ('miller', 'https://hooks.example/miller', 'k')")
        connection.execute("INSERT INTO drover.notice_step VALUES ('miller', 1, 15, 'boss'), ('boss', 1, 15, 'miller')")
        connection.execute("INSERT INTO drover.push_subscription (endpoint, account, p256dh, auth, agent) VALUES ('https://push.example/1', 'miller', %s, %s, 'Firefox')", [bytes(65), bytes(16)])
        connection.execute("INSERT INTO drover.report_schedule (account, report, span, format, cron, mail_to) VALUES ('miller', 'trips', 'day', 'pdf', '0 6 * * *', '{miller}'), ('boss', 'trips', 'day', 'pdf', '0 6 * * *', '{boss,miller}')")
        connection.execute("UPDATE drover.report_schedule SET account = 'miller', is_enabled = true, mail_to = '{miller}' WHERE shipped = 'month'")
        connection.execute("INSERT INTO drover.report_run (schedule_id, due_at, state, content) SELECT schedule_id, now(), 'done', 'PDF' FROM drover.report_schedule WHERE account = 'miller'")
        connection.execute("INSERT INTO drover.notice_message (message_id, account, channel, manner, payload) VALUES ('notice-' || repeat('0', 32), 'miller', 'webhook', 'daily', 'sealed')")
    assert site.run("erase", "miller").code == 0 and miller.get("/account").status == 303
    for table in ("notice_setting", "notice_step", "push_subscription", "report_run"):
        assert site.query(f"SELECT count(*) FROM drover.{table}") == [(0,)], table
    assert site.query("SELECT count(*) FROM drover.report_schedule WHERE shipped IS NOT NULL AND account IS NULL AND NOT is_enabled AND mail_to = '{}'") == [(3,)]
    assert site.query("SELECT account, mail_to FROM drover.report_schedule WHERE shipped IS NULL") == [("boss", ["boss"])]
    assert site.query("SELECT payload FROM drover.notice_message") == [(None,)]
    assert site.query("SELECT mail, first_name, password, disabled_at IS NOT NULL FROM drover.account WHERE account = 'miller'") == [(None, "", None, True)]
    assert site.query("SELECT count(*) FROM drover.account_try WHERE mail LIKE 'miller%%'") == [(0,)]
    for verb in ("disable", "enable", "erase", "roles", "link"):
        assert site.run(verb, "nobody").code == 1


def test_guessing_is_slow_and_locks_nobody_out_for_good(site):
    miller = site.with_account()
    guesses = [Visitor(site.port).log_in(password=f"guess number {number}").status for number in range(12)]
    assert guesses == [401] * 10 + [429] * 2
    answer = miller.log_in()
    assert answer.status == 429 and answer.headers["Retry-After"]
    site.query("UPDATE drover.account_try SET tried_at = now() - interval '16 minutes' RETURNING 1")
    assert miller.log_in().status == 303
    assert [Visitor(site.port).post("/forgot", mail="a@example.org").status for _ in range(6)] == [200] * 5 + [429]
    # From one address, whoever is asked for.
    site.query("INSERT INTO drover.account_try (mail, remote, is_mail) SELECT 'm' || n, '127.0.0.1', false FROM generate_series(1, 100) n RETURNING 1")
    assert Visitor(site.port).log_in("new@example.org").status == 429


def guessed(site, mail, tries, addresses):
    """What strangers have tried."""
    site.query("INSERT INTO drover.account_try (mail, remote, is_mail) SELECT %s, '198.51.100.' || n %% %s, false FROM generate_series(1, %s) n RETURNING 1", mail, addresses, tries)


def device(answer):
    return next((said.partition(";")[0] for said in answer.headers.get_all("Set-Cookie") if said.startswith("drover-device=")), "")


def test_guesses_elsewhere_keep_nobody_out(site):
    """Ten wrong guesses from anywhere shut an account for a quarter of an hour, and again, for as long as somebody liked."""
    site.with_account()
    guessed(site, "miller@example.org", 10, 1)
    before = Visitor(site.port).log_in()
    assert before.status == 303
    # From everywhere it is bounded; where somebody logged in before it is not, and that place has ten tries of its own.
    guessed(site, "miller@example.org", 100, 50)
    assert Visitor(site.port).log_in().status == 429

    def at_home(password, cookie):
        return Visitor(site.port).log_in(password=password, headers={"Cookie": cookie})
    assert at_home("wrong password", device(before)).status == 401
    again = at_home(PASSWORD, device(before))
    assert again.status == 303 and device(again) != device(before)
    # The mark is good once, for this account, and opens nothing by itself.
    assert at_home(PASSWORD, device(before)).status == 429
    assert [at_home("wrong password", device(again)).status for _ in range(11)] == [401] * 10 + [429]
    assert at_home(PASSWORD, device(again)).status == 429
    assert Visitor(site.port).get("/account", Cookie=device(again)).status == 303
    site.with_account("other", "other@example.org")
    guessed(site, "other@example.org", 100, 50)
    assert Visitor(site.port).log_in("other@example.org", headers={"Cookie": device(again)}).status == 429


def test_an_administrator_always_gets_in(site):
    """Also one that strangers guess at from everywhere, and from here."""
    site.with_account("boss", "boss@example.org", PASSWORD, "administrator")
    guessed(site, "boss@example.org", 100, 50)
    site.query("INSERT INTO drover.account_try (mail, remote, is_mail) SELECT 'm' || n, '127.0.0.1', false FROM generate_series(1, 100) n RETURNING 1")
    assert Visitor(site.port).log_in("boss@example.org").status == 429
    link = re.search(r"http\S+", site.run("link", "boss").out).group(0)
    chosen = Visitor(site.port).post("/password", link=token(link), password=OTHER, again=OTHER)
    assert chosen.status == 200, chosen.body
    known = next((said.partition(";")[0] for said in chosen.headers.get_all("Set-Cookie") or []), "")
    assert Visitor(site.port).log_in("boss@example.org", OTHER, headers={"Cookie": known}).status == 303


def test_a_password_that_nobody_looked_at_is_no_try_of_the_account(site):
    """Nine at once: six passwords are looked at, and who was too many then was counted already."""
    site.with_account()
    site.query("UPDATE drover.account SET memory_kib = 65536, passes = 8 WHERE account = 'miller' RETURNING 1")
    tries = 9
    with connect(site.env) as held, ThreadPoolExecutor(tries) as pool:
        # All of them are past the first look at who is at work when they wait for their turn to be counted.
        with held.transaction():
            held.execute("SELECT drover.take_turn('drover.account_try')")
            answers = [pool.submit(lambda number=number: Visitor(site.port).log_in(password=f"guess number {number}").status) for number in range(tries)]
            until(lambda: site.query("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%begin_log_in%'")
                  == [(tries,)])
        statuses = [answer.result(HANG_S) for answer in answers]
    wrong, busy = statuses.count(401), statuses.count(503)
    assert wrong + busy == tries and busy > 0, statuses
    assert site.query("SELECT count(*) FROM drover.account_try WHERE mail = 'miller@example.org'") == [(wrong,)]
    # Of the address they are tries, so that nobody keeps the server busy for nothing.
    assert site.query("SELECT count(*) FROM drover.account_try WHERE remote = '127.0.0.1' AND NOT is_mail") == [(tries,)]
    assert site.with_account().log_in().status == 303


def test_what_is_left_to_the_address_is_the_try_that_was_counted(site):
    """Of a browser that is known, its own; of a stranger, not that of the browser."""
    left = "SELECT mail, device IS NULL FROM drover.account_try ORDER BY try_id"
    for device, rows in ((b"d" * 32, [("a@b.example", True), ("", True)]), (b"x" * 32, [("", True), ("a@b.example", False)]), (None, [("", True), ("a@b.example", False)])):
        site.query("DELETE FROM drover.account_try RETURNING 1")
        site.query("INSERT INTO drover.account_try (mail, remote, is_mail, device) VALUES ('a@b.example', '127.0.0.1', false, NULL), ('a@b.example', '127.0.0.1', false, %s) "
                   "RETURNING 1", b"d" * 32)
        site.query("SELECT drover.leave_unchecked('A@b.example', '127.0.0.1', false, %s)::text", device)
        assert site.query(left) == rows, device
    site.query("SELECT drover.leave_unchecked('a@b.example', '127.0.0.2', false, NULL)::text, drover.leave_unchecked('a@b.example', '127.0.0.1', true, NULL)::text")
    assert site.query(left) == rows


def test_two_that_are_too_many_at_once_give_back_a_try_each(site):
    """Both chose the newest: one of them gave back nothing."""
    site.query("DELETE FROM drover.account_try RETURNING 1")
    site.query("INSERT INTO drover.account_try (mail, remote, is_mail) VALUES ('a@b.example', '127.0.0.1', false), ('a@b.example', '127.0.0.1', false) RETURNING 1")
    give_back = "SELECT drover.leave_unchecked('a@b.example', '127.0.0.1', false, NULL)"
    with connect(site.env) as one, connect(site.env) as other:
        with one.transaction():
            one.execute(give_back)
            other.execute("SET lock_timeout = '2s'")
            other.execute(give_back)
    assert site.query("SELECT mail FROM drover.account_try") == [("",), ("",)]


def test_guesses_of_strangers_keep_nobody_from_changing_the_password(site):
    miller = site.with_account()
    assert miller.log_in().status == 303
    guessed(site, "miller@example.org", 100, 50)
    assert miller.post("/account/password", form=miller.mark(), old=PASSWORD, password=OTHER, again=OTHER).status == 200


def test_behind_a_proxy_everybody_has_tries_of_their_own(site):
    site.with_account()
    server, _, port = site.server_beside(0, "--set", "web.trusted_proxies=127.0.0.1")
    def guess(address, number):
        return Visitor(port).post("/login", headers={"X-Forwarded-For": address}, mail=f"m{number}@example.org", password="wrong").status
    query(site.env, """INSERT INTO drover.account_try (mail, remote, is_mail) SELECT 'x' || n, '198.51.100.7', false FROM generate_series(1, 100) n""")
    assert guess("198.51.100.7", 1) == 429 and guess("203.0.113.9, 198.51.100.7", 2) == 429
    assert guess("198.51.100.8", 3) == 401 and guess("198.51.100.7, 198.51.100.8", 4) == 401
    server.stop()


def test_forms_of_other_sites_are_refused(site):
    miller = site.with_account()
    miller.log_in()
    mark = miller.mark()
    fields = dict(first_name="Eve", last_name="", units="us", zone="UTC")
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": None},
                    {"Sec-Fetch-Site": None, "Origin": "https://evil.example"}, {"Sec-Fetch-Site": None, "Origin": "null"}):
        assert miller.post("/account", headers=headers, form=mark, **fields).status == 403
        assert Visitor(site.port).post("/login", headers=headers, mail="miller@example.org", password=PASSWORD).status == 403
    other = Visitor(site.port)
    other.log_in()
    for wrong in ("", "0" * 64, other.mark()):
        assert miller.post("/account", form=wrong, **fields).status == 403
    assert site.query("SELECT first_name FROM drover.account WHERE account = 'miller'") == [("",)]
    assert miller.post("/account", headers={"Sec-Fetch-Site": None, "Origin": f"http://127.0.0.1:{site.port}"}, form=mark, **fields).status == 200
    assert miller.ask("POST", "/login", b'{"mail": "x"}', Content_Type="application/json").status == 415
    # Tokens of apps open no page of people.
    key = site.world.drover.run("token", "add", "--account", "miller", "--scope", "survey", env=site.env).out.strip()
    assert Visitor(site.port).get("/account", Authorization=f"Bearer {key}").status == 303
    stranger = Visitor(site.port)
    stranger.cookie = f"drover={key}"
    assert stranger.get("/account").status == 303
    for cookie in ("drover=", "drover=drover_" + "A" * 43, "drover=" + "x" * 5000, "drover=\u00e9", "drover=a; drover=b"):
        stranger = Visitor(site.port)
        stranger.cookie = cookie.encode("latin-1").decode("latin-1")
        assert stranger.get("/account").status in (303, 400)
    for body in (b"", b"mail=" + b"a" * 100_000, b"mail=%ff%fe&password=x", b"mail=a%00b@example.org&password=xxxxxxxxxx", b"&".join([b"a=1"] * 5000)):
        assert Visitor(site.port).ask("POST", "/login", body, Content_Type="application/x-www-form-urlencoded").status in (400, 401, 413, 415, 422)


def test_without_mail_nobody_registers_and_a_name_is_known_by_its_host_only_over_https(site, certificate):
    server = site.world.drover.start(
        "serve", "--port", "0", "--set", "web.public_url=", "--set", f"web.certificate={certificate[0]}", "--set", f"web.certificate_key={certificate[1]}",
        env={**site.env, "DROVER_POSTGRES_READER_URL": site.web})
    port = server.wait_for(re.compile(r"at https://127\.0\.0\.1:(\d+)/")).group(1)
    import ssl
    context = ssl.create_default_context(cafile=certificate[0])
    connection = http.client.HTTPSConnection("127.0.0.1", int(port), context=context, timeout=HANG_S)
    connection.request("GET", "/register")
    answer = connection.getresponse()
    assert answer.status == 503 and b"sends no mail" in answer.read()
    # Browsers come back over HTTPS for a year; over plain HTTP nothing is said of it.
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert Visitor(site.port).get("/login").headers["Strict-Transport-Security"] is None
    link = site.run("add", "miller", "--mail", "miller@example.org").out.strip().partition("link=")[2]
    for fields in ({"link": link, "password": PASSWORD, "again": PASSWORD}, {"mail": "miller@example.org", "password": PASSWORD}):
        connection.request("POST", "/password" if "link" in fields else "/login", urllib.parse.urlencode(fields),
                           {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"})
        answer = connection.getresponse()
        answer.read()
    assert answer.status == 303 and answer.headers["Set-Cookie"].startswith("__Host-drover=drover_") and "; Secure" in answer.headers["Set-Cookie"]
    connection.close()
    server.stop()


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long(reason="the same by keyboard in a narrow window"))])
def test_pages_in_a_browser_by_keyboard(site, page, watch, screenshots, width):
    site.with_account("miller", "miller@example.org", PASSWORD, "farmer")  # Who sees vehicles chooses units.
    page.set_viewport_size({"width": width, "height": 900})

    def look(name, dark=False):
        looked_at(page, screenshots, name, dark)
        page.set_viewport_size({"width": width, "height": 900})

    page.goto(site.address + "login")
    look("login", dark=True)
    # The mark leads home, and comes first.
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Email")).to_be_focused()
    page.keyboard.type("miller@example.org")
    page.keyboard.press("Tab")
    page.keyboard.type("not the password")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    # Browsers tell of an answer 401 themselves.
    assert len(watch.console) == 1 and "401" in watch.console.pop()
    look("login-wrong")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Stay logged in").check()
    with page.expect_navigation():
        page.get_by_role("button", name="Log in").click()
    page.locator(".rail summary").filter(has_text="miller").click()
    with page.expect_navigation():
        page.get_by_role("complementary", name="Menu").get_by_role("link", name="Account").click()
    expect(page.get_by_role("heading", name="Your account")).to_be_visible()
    look("account")
    page.get_by_label("Units").select_option("us")
    page.get_by_label("Time zone").fill("America/New_York")
    with page.expect_navigation():
        page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_be_visible()
    page.locator(".rail summary").filter(has_text="miller").click()
    with page.expect_navigation():
        page.locator(".rail").get_by_role("button", name="Log out", exact=True).click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    with page.expect_navigation():
        page.get_by_role("link", name="Create an account").click()
    look("register")
    page.goto(site.address + "forgot")
    look("forgot")
