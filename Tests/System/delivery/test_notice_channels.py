"""The ways out beside mail, against others' readers: webhooks, browsers, Prometheus Alertmanager; and the pages where people choose."""
import base64
import hashlib
import hmac
import json
import re
import subprocess
import time
import urllib.request

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from harness import DIES_WITH_US, HANG_S, free_port, lent, looked_at, until
from people import PASSWORD, Visitor, enter, logged_in
from playwright.sync_api import expect
from stand_ins import Collector
from test_accounts import Site
from test_mail import Office
from test_notices import Farm, body, read
from test_notices import database, env, farm, worker  # noqa: F401 (fixtures)
from world import connect, query


def unpadded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@pytest.fixture
def hook(certificate):
    yield from lent(Collector(certificate))


class Home:
    """Pages, a mail server, and the farm's people with passwords."""

    def __init__(self, world, env, certificate, folder, *more):
        self.site = Site(world, env, certificate, folder, *more, has_mail=False)
        self.site.office = Office(world, env, certificate, folder)
        self.address, self.port = f"http://127.0.0.1:{self.site.port}", self.site.port
        for account, roles in {"miller": ["farmer"], "deal": ["dealer"], "boss": ["fleet_manager"], "root": ["administrator"]}.items():
            self.site.with_account(account, f"{account}@example.org", PASSWORD, *roles)
        self.farm = Farm(self.site.office, self.site.key)
        self.visitor = lambda who: self.log_in(who)

    def log_in(self, who):
        return logged_in(self.port, who)

    def form(self, who, path, **fields):
        visitor = self.log_in(who)
        return visitor.post(path, form=visitor.mark(), **fields)


def test_a_webhook_is_signed_tried_again_and_told_by_mail_in_the_end(world, env, certificate, hook, tmp_path):  # noqa: F811
    url = f"https://127.0.0.1:{hook.port}/sms"
    allowed = ("--set", f"notices.webhook_hosts=127.0.0.1:{hook.port}, hooks.localhost:{hook.port}")
    home = Home(world, env, certificate, tmp_path, *allowed)
    try:
        for bad in ("http://example.org/x", "https://example.org/x", f"https://u:p@127.0.0.1:{hook.port}/", f"https://127.0.0.1:{hook.port}@evil.example/", "file:///etc/passwd"):
            assert home.form("miller", "/notices/webhook", url=bad).status == 422, bad
        shown = home.form("miller", "/notices/webhook", url=url)
        key = base64.b64decode(re.search(r"whsec_([A-Za-z0-9+/=]+)", shown.body).group(1))
        # Shown once, and kept encrypted.
        assert "whsec_" not in home.log_in("miller").get("/notices").body
        assert key not in query(env, "SELECT webhook_key FROM drover.notice_setting WHERE account = 'miller'")[0][0]
        home.farm.setting("miller", critical_channels=["webhook"])
        answers = [(503, "later", {}), (302, "", {"Location": "https://127.0.0.1:1/"}), (429, "", {"Retry-After": "1"})]
        hook.trick = lambda request: answers.pop(0) if answers else (204, "", {})
        before = int(time.time())
        rules = "drover-rules 2\nmachine\tm-1\nrule\tCoolant Temperature\tabove\t\u00b0C\tint\tfarmer\t105000\t\t0" + "\t" * 7
        query(env, "INSERT INTO drover.rule_set VALUES (0, '1990-01-01T00:00:00Z', 'v', %s, -1) ON CONFLICT DO NOTHING", rules)
        relay = home.farm.notify(*allowed, "--set", f"notices.ca_file={certificate[0]}")
        alert = home.farm.alert()
        last = "SELECT {} FROM drover.notice_message WHERE account = 'miller' AND channel = 'webhook' ORDER BY made_at DESC LIMIT 1"

        def is_sent():
            # Put off, it is tried now.
            home.site.query("UPDATE drover.notice_message SET try_at = now() WHERE state = 'waiting' RETURNING 1")
            return home.site.query(last.format("state")) == [("sent",)]
        until(is_sent, relay)
        assert len(hook.requests) == 4 and len({request.headers["webhook-id"] for request in hook.requests}) == 1 and len({request.body for request in hook.requests}) == 1
        for request in hook.requests:
            assert before <= int(request.headers["webhook-timestamp"]) <= time.time()
            signed = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.".encode() + request.body
            assert request.headers["webhook-signature"] == "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        said = json.loads(hook.taken[0].body)
        assert said["id"] == hook.taken[0].headers["webhook-id"] and said["account"] == "miller" and said["subject"] == "[critical] m-1: Coolant Temperature 108.5 \u00b0C"
        assert [(each["alert"], each["occasion"], each["worst_value"], each["unit"], each["rule"]) for each in said["notices"]] == [
            (alert, "opened", 108.5, "\u00b0C", "of this machine")]
        assert said["acknowledge_url"].startswith("https://drover.example/notices/acknowledge?link=drover_")
        # Refused for good: by mail, once, with the same content.
        hook.trick = lambda request: (410, "gone", {})
        home.farm.alert("m-2")
        until(lambda: home.farm.mails() and home.site.office.rows() == {}, relay)
        [mail] = home.farm.mails()
        assert mail["Subject"].startswith("[critical] m-2")
        states = query(env, "SELECT channel, state, answer, payload IS NULL FROM drover.notice_message WHERE account = 'miller' ORDER BY made_at")
        assert states[0] == ("webhook", "sent", "status 204", True) and states[1] == ("webhook", "refused", "status 410", True) and states[2][:2] == ("mail", "sent")
        # A certificate that nobody vouches for: kept, not sent, and it says why.
        relay.stop()
        hook.trick, before = None, len(hook.requests)
        relay = home.farm.notify(*allowed)
        home.farm.alert("m-2", parameter="Tire Pressure")
        until(lambda: home.site.query(last.format("state || coalesce(answer, '') ~ '^waiting.*certificate'")) == [(True,)], relay)
        assert len(hook.requests) == before
        # A name that is allowed and leads to this machine (libcurl takes all below localhost for it): what nobody has named is not connected to.
        assert home.form("miller", "/notices/webhook", url=f"https://hooks.localhost:{hook.port}/sms").status == 200
        home.farm.alert("m-2", parameter="Fuel Level")
        relay.wait_for(r'"a host leads where we do not connect to" url=\S+ refusal="127.0.0.1: its network \(loopback\)|refusal="::1: its network')
        assert len(hook.requests) == before
    finally:
        home.site.close()


def test_a_webhook_that_says_nothing_holds_up_its_own_messages_alone(world, env, certificate, hook, tmp_path):  # noqa: F811
    """Three messages to one that was silent kept another customer's critical alert for half a minute."""
    silent = Collector(certificate)
    allowed = ("--set", f"notices.webhook_hosts=127.0.0.1:{hook.port}, 127.0.0.1:{silent.port}")
    home = Home(world, env, certificate, tmp_path, *allowed)
    try:
        for account, port, manner in (("boss", hook.port, "at_once"), ("miller", silent.port, "never")):
            assert home.form(account, "/notices/webhook", url=f"https://127.0.0.1:{port}/x").status == 200
            home.farm.setting(account, critical_channels=["webhook"], critical_manner=manner)
        relay = home.farm.notify(*allowed, "--set", f"notices.ca_file={certificate[0]}")
        home.farm.alert()
        until(lambda: len(hook.taken) == 1, relay)
        # From here on the one says nothing to the first message, and two more wait.
        silent.hold()
        home.farm.setting("boss", critical_manner="never")
        home.farm.setting("miller", critical_manner="at_once")
        of_miller = "SELECT count(*), max(tries) FROM drover.notice_message WHERE account = 'miller'"
        for count, parameter in enumerate(("Tire Pressure", "Fuel Level", "Oil Pressure"), 1):
            home.farm.alert("m-2", parameter=parameter)
            until(lambda: query(env, of_miller)[0][0] == count, relay)
        until(lambda: len(silent.requests) == 1, relay)
        home.farm.setting("boss", critical_manner="at_once")
        home.farm.setting("miller", critical_manner="never")
        home.farm.alert()
        until(lambda: len(hook.taken) == 2, relay)
        assert query(env, of_miller) == [(3, 0)] and len(silent.requests) == 1
        silent.release()
        until(lambda: query(env, "SELECT count(*) FROM drover.notice_message WHERE state = 'waiting'") == [(0,)], relay)
        assert query(env, "SELECT account, bool_or(has_answered) FROM drover.notice_message WHERE account IN ('boss', 'miller') GROUP BY 1 ORDER BY 1") == [("boss", True), ("miller", True)]
    finally:
        silent.close()
        home.site.close()


def test_pushes_are_read_by_the_browser_s_key_alone(farm, hook, certificate, tmp_path):  # noqa: F811
    """The push service sees what RFC 8291 and RFC 8292 say: decrypted and verified here by another implementation."""
    subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", tmp_path / "push.key"], check=True)
    browser, auth = ec.generate_private_key(ec.SECP256R1()), bytes(range(16))
    point = browser.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    farm.setting("miller", critical_channels=["push", "mail"])
    service = f"https://127.0.0.1:{hook.port}"
    with connect(farm.env) as connection:
        for endpoint, key in [(service + "/one", point), (service + "/gone", point), ("https://elsewhere.example/x", point), (service + "/bad", b"\x04" + bytes(64))]:
            connection.execute("INSERT INTO drover.push_subscription (endpoint, account, p256dh, auth, agent) VALUES (%s, 'miller', %s, %s, 'Test')", [endpoint, key, auth])
    hook.trick = lambda request: (410, "", {}) if request.path == "/gone" else (201, "", {})
    relay = farm.notify("--set", f"notices.push_key_file={tmp_path / 'push.key'}", "--set", f"notices.push_hosts=127.0.0.1:{hook.port}",
                        "--set", f"notices.ca_file={certificate[0]}", "--set", "outside.contact=ops@drover.example")
    alert = farm.alert()
    pushed = lambda: query(farm.env, "SELECT state FROM drover.notice_message WHERE channel = 'push'") == [("sent",)]
    until(lambda: pushed() and farm.mails(), relay)
    [push] = hook.taken
    assert (push.path, push.headers["Content-Encoding"], push.headers["TTL"], push.headers["Urgency"]) == ("/one", "aes128gcm", "86400", "high")
    # RFC 8188, 2.1 and RFC 8291, 3.4.
    salt, size, length = push.body[:16], int.from_bytes(push.body[16:20], "big"), push.body[20]
    theirs, sealed = push.body[21:21 + length], push.body[21 + length:]
    assert length == 65 and size > len(sealed)
    shared = browser.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), theirs))
    derive = lambda salt, secret, info, count: HKDF(hashes.SHA256(), count, salt, info).derive(secret)
    secret = derive(auth, shared, b"WebPush: info\0" + point + theirs, 32)
    plain = AESGCM(derive(salt, secret, b"Content-Encoding: aes128gcm\0", 16)).decrypt(derive(salt, secret, b"Content-Encoding: nonce\0", 12), sealed, None)
    assert plain[-1:] == b"\x02"
    shown = json.loads(plain[:-1])
    assert shown["title"] == "[critical] m-1: Coolant Temperature 108.5 \u00b0C" and shown["open"] == "/alerts" and shown["body"] == "m-1: Coolant Temperature 108.5 \u00b0C"
    # Who we are: signed for this service, for less than a day.
    token, public = re.fullmatch(r"vapid t=(\S+), k=(\S+)", push.headers["Authorization"]).groups()
    head, claims, signature = (unpadded(part) for part in token.split("."))
    assert json.loads(head) == {"typ": "JWT", "alg": "ES256"}
    claims = json.loads(claims)
    assert claims["aud"] == service and claims["sub"] == "mailto:ops@drover.example" and 0 < claims["exp"] - time.time() <= 86_400
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), unpadded(public))
    key.verify(encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")), token.rpartition(".")[0].encode(), ec.ECDSA(hashes.SHA256()))
    # Those that are gone, not allowed or no key of a browser are forgotten.
    assert query(farm.env, "SELECT endpoint FROM drover.push_subscription") == [(service + "/one",)]
    assert query(farm.env, "SELECT state, answer FROM drover.notice_message WHERE channel = 'push'") == [("sent", "taken for 1 browser")]
    assert alert


def test_the_page_s_worker_shows_what_is_pushed(world, env, certificate, browser, tmp_path):  # noqa: F811
    """In Chromium: the worker is installed, takes a push, and shows it. (The browsers' own push services cannot be reached from here.)"""
    subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", tmp_path / "push.key"], check=True)
    home = Home(world, env, certificate, tmp_path, "--set", f"notices.push_key_file={tmp_path / 'push.key'}", "--set", "outside.contact=ops@drover.example")
    context = browser.new_context(permissions=["notifications"])
    try:
        page = context.new_page()
        enter(page, home.address, "miller", "/notices")
        page.wait_for_selector("#push:not([hidden])")
        # Nothing can reach her yet: how she is reached is all that is asked, and no time is promised.
        expect(page.get_by_role("heading", name="How should we reach you?")).to_be_visible()
        expect(page.locator("#flow, [name=daily], main table")).to_have_count(0)
        tools = context.new_cdp_session(page)
        registrations = []
        tools.on("ServiceWorker.workerRegistrationUpdated", lambda event: registrations.extend(event["registrations"]))
        tools.send("ServiceWorker.enable")
        page.evaluate("navigator.serviceWorker.register('/push-worker.js').then(() => navigator.serviceWorker.ready).then(() => true)")
        # Events come while the page is asked something.
        until(lambda: page.evaluate("1") and registrations)
        said = {"id": "n-1", "title": "[critical] m-1: Coolant Temperature 108.5 \u00b0C", "body": "m-1 <b>", "open": "/alerts"}
        for _ in range(2):
            tools.send("ServiceWorker.deliverPushMessage", {"origin": home.address, "registrationId": registrations[0]["registrationId"], "data": json.dumps(said)})
        shown = "navigator.serviceWorker.ready.then((worker) => worker.getNotifications()).then((all) => all.map((one) => [one.title, one.body, one.tag, one.data]))"
        until(lambda: page.evaluate(shown))
        # Pushed twice, shown once.
        assert page.evaluate(shown) == [[said["title"], said["body"], "n-1", "/alerts"]]
        # What a browser would hand in is taken from allowed push services only.
        answer = home.form("miller", "/notices/browser", endpoint="https://169.254.169.254/", p256dh=base64.urlsafe_b64encode(b"\x04" + bytes(64)).decode(), auth="AAAAAAAAAAAAAAAAAAAAAA")
        assert answer.status == 422
        answer = home.form("miller", "/notices/browser", endpoint="https://fcm.googleapis.com/fcm/send/abc", p256dh=base64.urlsafe_b64encode(b"\x04" + bytes(64)).decode(),
                           auth="AAAAAAAAAAAAAAAAAAAAAA", agent="Firefox <1>")
        reached = home.log_in("miller").get("/notices").body
        assert answer.status == 303 and "Firefox &lt;1&gt;" in reached and 'id="flow"' in reached and 'name="daily"' in reached
        # Another who logs in with the same browser takes it over.
        assert home.form("boss", "/notices/browser", endpoint="https://fcm.googleapis.com/fcm/send/abc", p256dh=base64.urlsafe_b64encode(b"\x04" + bytes(64)).decode(),
                         auth="AAAAAAAAAAAAAAAAAAAAAA", agent="x").status == 303
        assert "No browser gets notifications." in home.log_in("miller").get("/notices").body
        assert home.form("boss", "/notices/browser/end", endpoint="https://fcm.googleapis.com/fcm/send/abc").status == 303
        assert "No browser gets notifications." in home.log_in("boss").get("/notices").body
    finally:
        context.close()
        home.site.close()


def test_people_choose_what_they_are_told(world, env, certificate, page, screenshots, tmp_path, watch):  # noqa: F811
    home = Home(world, env, certificate, tmp_path, "--set", "mail.server=smtp://127.0.0.1:1", "--set", "notices.webhook_hosts=hooks.example.org")
    try:
        relay = home.farm.notify()
        home.farm.alert()
        home.farm.alert("m-2", "warning", parameter="Tire Pressure <kPa>")
        until(lambda: len(home.farm.mails()) == 1 and len(home.farm.notices()) >= 3 and home.site.office.rows() == {}, relay)
        enter(page, home.address, "miller", "/notices")
        rows = page.locator("main table tbody tr")
        for texts in (["m-1: Coolant Temperature", "Told", "Email sent", "taken by the mail server", "critical: at once (owner)"],
                      ["m-2: Tire Pressure <kPa>", "Waits", "until ", "warning: in the message of 07:00 (owner)"]):
            row = rows
            for text in texts:
                row = row.filter(has_text=text)
            expect(row).not_to_have_count(0)
        looked_at(page, screenshots, "notices")
        page.get_by_label("Time of the daily message").fill("6")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("Please check what is marked")
        expect(page.locator("#daily-error")).to_contain_text("The daily message needs a time like 07:00.")
        watch.forgive()  # That it was refused.
        expect(page.get_by_label("Time of the daily message")).to_have_value("6")
        page.get_by_label("Time of the daily message").fill("06:30")
        page.get_by_label("Other alerts", exact=True).select_option("at_once")
        page.get_by_label("Quiet from").fill("22:00")
        page.get_by_label("Quiet until").fill("06:00")
        page.get_by_label("Remind me while open, after").fill("0,5")
        page.get_by_role("button", name="Save", exact=True).click()
        page.wait_for_url("**/notices?said=saved")
        with connect(env) as connection:
            assert connection.execute("SELECT warning_manner, critical_channels, daily_minute, quiet_from, quiet_until, quiet_critical, repeat_min, backlog FROM drover.notice_setting WHERE account = 'miller'").fetchone() == (
                "at_once", ["mail", "webhook"], 390, 1320, 360, False, 30, "daily")
        expect(page.get_by_label("Quiet until")).to_have_value("06:00")
        # And at night? Critical comes through, others wait; the server says it, and the slider asks it.
        miller = home.log_in("miller")
        for asked, said in [("kind=critical&at=23", "You are told at once, in quiet hours too"), ("kind=warning&at=23", "You are told at 06:00, when your quiet hours end"),
                            ("kind=warning&at=12", "You are told at once"), ("kind=warning&at=6", "You are told at once"), ("kind=warning&at=5", "You are told at 06:00")]:
            shown = miller.get(f"/notices?{asked}").body
            assert said in re.search(r'<span class="soft" role="status">(.*?)</span>', shown).group(1), asked
            assert ("pc held" in shown) == ("06:00" in said), asked
        page.goto(home.address + "/notices?kind=warning&at=12")
        page.get_by_label("If it happens at").fill("23")
        expect(page.locator("#flow")).to_contain_text("Held until 06:00")
        # Steps: colleagues of one's own fleets, in order.
        page.get_by_label("Step 1: tell").select_option("boss")
        page.get_by_label("Step 1: after minutes").fill("15")
        with page.expect_navigation():  # To where it is already.
            page.get_by_role("button", name="Save the steps").click()
        assert query(env, "SELECT * FROM drover.notice_step") == [("miller", 1, 15, "boss")]
        expect(page.locator("#flow")).to_contain_text("After 15 min")
        assert home.form("miller", "/notices/steps", **{"colleague-1": "deal", "after-1": "15"}).status == 422
        # Everybody sees what is theirs; who runs the installation all of it.
        assert "Nothing yet. Each message" in home.log_in("deal").get("/notices").body or "m-2" not in home.log_in("deal").get("/notices").body
        everything = home.log_in("root").get("/notices").body
        assert "What everybody was told" in everything and ">miller<" in everything and ">boss<" in everything
    finally:
        home.site.close()


def test_links_in_mails(world, worker, env, certificate, page, screenshots, tmp_path):  # noqa: F811
    """A link acknowledges once, when a button is pressed; one click ends the mails, and the page takes that back."""
    home = Home(world, env, certificate, tmp_path)
    try:
        relay = home.farm.notify()
        # A real machine's alert: what is said of it goes by the log.
        read(world, "m-1", 60, coolant_c=80)
        read(world, "m-1", 20, coolant_c=97)
        until(home.farm.mails, worker, relay)
        [mail] = home.farm.mails()
        link = re.search(r"https://drover\.example(/notices/acknowledge\?link=\S+)", body(mail)).group(1)
        visitor = Visitor(home.port)
        for _ in range(3):
            assert "m-1: Coolant Temperature" in visitor.get(link).body
        assert query(env, "SELECT count(*) FROM drover.acknowledgement") == [(0,)]
        page.goto(home.address + link)
        looked_at(page, screenshots, "acknowledge")
        page.get_by_label("Note for colleagues").fill("on my way")
        page.get_by_role("button", name="Acknowledge").click()
        expect(page.get_by_role("status")).to_contain_text("Your colleagues see")
        def seen():
            return query(env, "SELECT acknowledged_by, note FROM drover.acknowledgement")
        until(seen, worker)
        assert seen() == [("miller", "on my way")]
        # Once.
        assert visitor.get(link).status == 404 and "does nothing any more" in visitor.get(link).body
        assert visitor.get("/notices/acknowledge?link=drover_" + "A" * 43).status == 404
        assert visitor.post("/notices/acknowledge", link="drover_" + "A" * 43).status == 404
        # One click, as a mail program sends it: from no page, without a cookie.
        leave = re.search(r"<https://drover\.example(/notices/end-mail\S+)>", mail["List-Unsubscribe"]).group(1)
        assert visitor.get(leave).status == 200
        def ended():
            return query(env, "SELECT mail_ended_at IS NOT NULL FROM drover.notice_setting WHERE account = 'miller'")
        assert ended() == []
        assert visitor.get(leave.replace("account=miller", "account=boss")).status == 404
        assert visitor.ask("POST", leave.replace("account=miller", "account=boss"), "List-Unsubscribe=One-Click").status == 404
        answer = visitor.ask("POST", leave, "List-Unsubscribe=One-Click", Sec_Fetch_Site=None, Content_Type="application/x-www-form-urlencoded")
        assert answer.status == 200 and ended() == [(True,)]
        home.farm.alert("m-2")
        until(lambda: ("opened", "not_told", "there is no way to tell it: see the channels in the settings") in home.farm.notices(), relay)
        assert "You ended these mails" in home.log_in("miller").get("/notices").body
        assert home.form("miller", "/notices", critical_manner="at_once", critical_channel="mail", warning_manner="daily", daily="07:00", backlog="daily", repeat_h="4").status == 303
        assert ended() == [(False,)]
    finally:
        home.site.close()


def test_links_in_mails_about_cars(world, worker, env, certificate, tmp_path):  # noqa: F811
    """As machines' alerts, by the same rule: who may act on it today, by role and by the car."""
    home = Home(world, env, certificate, tmp_path)
    try:
        query(env, "INSERT INTO drover.fleet_vehicle VALUES ('farm', 'car', 'van-1') RETURNING 1")
        alert = home.farm.alert("van-1", parameter="Speed")
        query(env, "UPDATE drover.alert SET kind = 'car', unit = 'km/h', model = '' WHERE alert_id = %s RETURNING 1", alert)
        relay = home.farm.notify()
        until(home.farm.mails, relay)
        [mail] = home.farm.mails()
        assert mail["To"] == "miller@example.org"
        path = re.search(r"https://drover\.example(/notices/acknowledge\?link=\S+)", body(mail)).group(1)
        link, visitor = path.split("link=")[1], Visitor(home.port)
        assert "van-1: Speed" in visitor.get(path).body
        # Not as an analyst, nor when the car is another's; then it does what it did.
        for take, give in (("UPDATE drover.account SET roles = '{analyst}' WHERE account = 'miller' RETURNING 1", "UPDATE drover.account SET roles = '{farmer}' WHERE account = 'miller' RETURNING 1"),
                           ("DELETE FROM drover.fleet_vehicle WHERE vehicle = 'van-1' RETURNING 1", "INSERT INTO drover.fleet_vehicle VALUES ('farm', 'car', 'van-1') RETURNING 1")):
            query(env, take)
            assert visitor.get(path).status == 404 and visitor.post("/notices/acknowledge", link=link, note="").status == 404
            query(env, give)
        assert query(env, "SELECT count(*) FROM drover.acknowledgement WHERE alert_id = %s", alert) == [(0,)]
        assert "Your colleagues see" in visitor.post("/notices/acknowledge", link=link, note="on my way").body
        until(lambda: query(env, "SELECT alert_id, vehicle, acknowledged_by, note FROM drover.acknowledgement WHERE alert_id = %s", alert) == [(alert, "van-1", "miller", "on my way")], worker)
        assert visitor.get(path).status == 404
        assert query(env, "SELECT detail::jsonb ->> 'by', detail::jsonb ->> 'vehicle' FROM drover.audit_entry WHERE action = 'alert_acknowledged' AND detail::jsonb ->> 'alert' = %s", alert) == [("link", "van-1")]
    finally:
        home.site.close()


def test_links_in_mails_are_for_whom_the_alert_is_for_today(world, env, certificate, tmp_path):  # noqa: F811
    """The rule says another audience since: an old mail opens no more than the pages do."""
    home = Home(world, env, certificate, tmp_path)
    try:
        alert = home.farm.alert("m-1")
        relay = home.farm.notify()
        until(home.farm.mails, relay)
        [mail] = home.farm.mails()
        assert mail["To"] == "miller@example.org"
        path = re.search(r"https://drover\.example(/notices/acknowledge\?link=\S+)", body(mail)).group(1)
        link, visitor = path.split("link=")[1], Visitor(home.port)
        for audience, shown in [("farmer", True), ("dealer", False), ("developer", False), ("farmer", True)]:
            query(env, "UPDATE drover.alert SET audience = %s WHERE alert_id = %s", audience, alert)
            answer = visitor.get(path)
            assert (answer.status == 200 and "m-1: Coolant Temperature" in answer.body) == shown, (audience, answer.body)
            if not shown:
                assert visitor.post("/notices/acknowledge", link=link, note="").status == 404, audience
        # A machine's alert for dealers is its owner's who is a dealer, too.
        query(env, "UPDATE drover.alert SET audience = 'dealer' WHERE alert_id = %s", alert)
        query(env, "UPDATE drover.account SET roles = '{farmer,dealer}' WHERE account = 'miller'")
        assert visitor.get(path).status == 200
        assert query(env, "SELECT count(*) FROM drover.acknowledgement") == [(0,)]
    finally:
        home.site.close()


def test_alertmanager_gets_what_is_open(farm, tmp_path):  # noqa: F811
    """A real Alertmanager groups what we say by dealer and ends what has ended; stopped and started, it has all of it again."""
    port = free_port()
    (tmp_path / "am.yml").write_text("route:\n  receiver: none\n  group_by: [dealer]\nreceivers:\n  - name: none\n")
    address = f"http://127.0.0.1:{port}"
    start = lambda: subprocess.Popen(
        [*DIES_WITH_US, "prometheus-alertmanager", f"--config.file={tmp_path / 'am.yml'}", f"--storage.path={tmp_path / 'am'}", f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def groups():
        try:
            with urllib.request.urlopen(address + "/api/v2/alerts/groups", timeout=HANG_S) as answer:
                return {group["labels"].get("dealer"): {(one["labels"]["vehicle"], one["labels"]["alertname"], one["labels"]["severity"]): one for one in group["alerts"]} for group in json.load(answer)}
        except OSError:
            return {}
    manager = start()
    try:
        first, second = farm.alert(), farm.alert("m-2", "warning", parameter="Tire Pressure")
        begin = lambda: farm.notify("--set", f"alertmanager.url={address}", "--set", "alertmanager.interval_s=5")
        relay = begin()
        until(lambda: set(groups()) == {"deal", None}, relay)
        one = groups()["deal"]["m-1", "Coolant Temperature", "critical"]
        [opened] = query(farm.env, "SELECT opened_at FROM drover.alert WHERE alert_id = %s", first)[0]
        assert one["startsAt"][:19] == f"{opened:%Y-%m-%dT%H:%M:%S}" and one["generatorURL"] == f"https://drover.example/alerts/{first}"
        assert one["annotations"] == {"alert": first, "worst": "108.5 \u00b0C", "rule": "above 105 \u00b0C", "advice": "Stop & let it cool <slowly>"}
        # One that starts tells at once.
        farm.resolve(first)
        relay.stop()
        relay = begin()
        until(lambda: set(groups()) == {None}, relay)
        manager.kill()
        manager.wait()
        relay.stop()
        relay = begin()
        relay.wait_for("does not get the alerts")
        manager = start()
        until(lambda: set(groups()) == {None}, relay)
        assert set(groups()[None]) == {("m-2", "Tire Pressure", "warning")}
        assert second
    finally:
        manager.kill()
        manager.wait()
