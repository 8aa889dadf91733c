"""Who goes: by the command or by the page, an account's ways in and what is on its way to it end at once, and come back with no log-in."""
import hashlib
import http.client
import threading

import psycopg
import pytest
from harness import HANG_S, until
from people import PASSWORD, Visitor, add_account, logged_in
from test_accounts import Site
from test_sight import login
from world import connect, query, url_of

# Each column that names an account, by what becomes of its rows when the account is disabled and when it is erased: they go, they end
# (OPEN below says what of them is open), or they stay: results and what others did name accounts by their ids for good, what an account is
# stays while it is disabled. A new column stands here before it is used.
ENDS = {
    "account.account": "ends ends", "account.mail": "stays goes", "account_device.account": "goes goes", "account_identity.account": "stays goes",
    "account_link.account": "goes goes", "account_login.account": "goes goes", "account_recovery_code.account": "stays goes",
    "account_second_factor.account": "stays goes", "account_session.account": "goes goes", "account_settings.account": "stays stays",
    "account_try.mail": "stays goes", "acknowledgement.acknowledged_by": "stays stays", "alert.account": "stays stays", "alert_event.account": "stays stays",
    "alert_triage.account": "stays stays", "alert_triage.said_by": "stays stays",
    "assignment.account": "stays stays", "assignment.assigned_by": "stays stays", "audit_name.account": "stays goes", "car_owner.account": "stays stays", "dealer_mark.account": "stays goes", "dealership.confirmed_by": "stays stays",
    "dealership.dealer": "stays ends", "dealership.ended_by": "stays stays", "driving.account": "stays stays", "first_writer.account": "stays stays",
    "fleet_member.account": "stays goes", "forward.account": "stays stays", "health_scan.asked_by": "stays stays", "health_scan.scanned_by": "stays stays",
    "machine_photo.account": "stays stays", "mail.recipient": "goes goes", "notice.account": "ends ends", "notice_message.account": "ends ends", "notice_setting.account": "ends goes",
    "notice_step.account": "stays goes", "notice_step.colleague": "stays goes", "person_account.account": "stays goes", "poll_request.asked_by": "stays stays",
    "push_subscription.account": "goes goes", "question.account": "stays stays", "registration.account": "stays stays", "report_schedule.account": "ends goes",
    "report_schedule.mail_to": "stays goes", "rule_edit.account": "stays stays", "service.recorded_by": "stays stays", "silence.silenced_by": "stays stays",
    "survey.account": "stays stays", "survey.submitted_by": "stays stays", "survey_photo.account": "stays stays", "survey_receipt.account": "stays stays",
    "survey_version.account": "stays stays", "survey_version.said_by": "stays stays", "survey_waiting.account": "stays stays",
    "survey_waiting.said_by": "stays stays", "token.account": "ends ends", "tour.account": "stays stays", "tour.changed_by": "stays stays",
    "tour_version.published_by": "stays stays", "trip_mark.marked_by": "stays stays", "trip_note.noted_by": "stays stays",
    "trip_summary.account": "stays stays", "vehicle_change.account": "stays stays",
    # People of a roster and observers of surveys, who need not have an account.
    "person.mail": "stays stays", "surveyor.mail": "stays stays",
}
OPEN = {
    "account": "disabled_at IS NULL", "dealership": "ended_at IS NULL", "notice": "state = 'waiting'", "token": "revoked_at IS NULL",
    "notice_message": "state = 'waiting' OR link IS NOT NULL OR payload IS NOT NULL", "notice_setting": "webhook_url IS NOT NULL", "report_schedule": "is_enabled",
}
# A row of each that is a way in, or on its way.
ROWS = """
    INSERT INTO drover.account (account, mail) VALUES ('boss', 'boss@example.org');
    INSERT INTO drover.account_device (account, digest) VALUES ('miller', sha256('d'));
    INSERT INTO drover.account_identity (issuer, subject, account) VALUES ('https://login.example.org', 'm', 'miller');
    INSERT INTO drover.account_link VALUES (sha256('l'), 'miller', 'password', now() + interval '1 day');
    INSERT INTO drover.account_session (digest, account, agent, is_kept) VALUES (sha256('s'), 'miller', 'Firefox', true);
    INSERT INTO drover.account_second_factor (account, secret, on_since) VALUES ('miller', decode(repeat('00', 60), 'hex'), now());
    INSERT INTO drover.account_recovery_code VALUES ('miller', sha256('r'));
    INSERT INTO drover.account_try (mail, remote, is_mail) VALUES ('miller@example.org', '192.0.2.1', false);
    INSERT INTO drover.account_login VALUES ('drover_account_miller', 'miller');
    INSERT INTO drover.dealership (vehicle, dealer, confirmed_at, confirmed_by) VALUES ('mtg-1', 'miller', now(), 'boss');
    INSERT INTO drover.dealer_mark (account, vehicle, class, tags) VALUES ('miller', 'mtg-1', 'Fleet service', '{warranty}');
    INSERT INTO drover.fleet (fleet, name) VALUES ('north', 'North');
    INSERT INTO drover.fleet_member VALUES ('north', 'miller');
    INSERT INTO drover.mail (mail_id, recipient, subject, body, expires_at) VALUES ('m', 'Miller@example.org', 's', 'b', now() + interval '1 day');
    INSERT INTO drover.notice (notice_id, alert_id, account, occasion, round, vehicle, relation, manner, state, reason, due_at)
        VALUES ('n-' || repeat('0', 32), 'a', 'miller', 'opened', 0, 'mtg-1', 'owner', 'at_once', 'waiting', '', now());
    INSERT INTO drover.notice_message (message_id, account, channel, manner, payload, link, link_expires_at)
        VALUES ('notice-' || repeat('0', 32), 'miller', 'webhook', 'daily', 'sealed', sha256('k'), now() + interval '1 day');
    INSERT INTO drover.notice_setting (account, webhook_url, webhook_key) VALUES ('miller', 'https://hooks.example/miller', 'k');
    INSERT INTO drover.notice_step VALUES ('miller', 1, 15, 'boss'), ('boss', 1, 15, 'miller');
    INSERT INTO drover.person (campus, person, role, name, mail) VALUES ('c', 'p', 'rider', 'P', 'miller@example.org');
    INSERT INTO drover.person_account VALUES ('c', 'p', 'miller');
    INSERT INTO drover.push_subscription (endpoint, account, p256dh, auth, agent)
        VALUES ('https://push.example/1', 'miller', decode(repeat('00', 65), 'hex'), decode(repeat('00', 16), 'hex'), 'Firefox');
    INSERT INTO drover.report_schedule (account, report, span, format, cron, mail_to) VALUES ('miller', 'trips', 'day', 'pdf', '0 6 * * *', '{miller}'),
        ('boss', 'trips', 'day', 'pdf', '0 6 * * *', '{boss,miller}');
    INSERT INTO drover.report_run (schedule_id, due_at) SELECT schedule_id, now() FROM drover.report_schedule WHERE account = 'miller';
    INSERT INTO drover.token (token_id, account, name, scopes, digest) VALUES ('t', 'miller', 'phone', '{upload}', sha256('t'));
    INSERT INTO drover.survey_session (session, token) VALUES (sha256('x'), sha256('t'));
    INSERT INTO drover.first_writer (kind, vehicle, account) VALUES ('car', 'car-9', 'miller');
    INSERT INTO drover.vehicle_change (kind, vehicle, record_id, account) VALUES ('car', 'car-9', 'r', 'miller');
    INSERT INTO drover.rule_edit (account, model, version, changes) VALUES ('miller', '8R', 'v', '{}');
    INSERT INTO drover.driving VALUES ('car-9', now(), now(), 'miller', 'd');
"""


def named(env):
    return {row[0] for row in query(env, r"""SELECT c.table_name || '.' || c.column_name FROM information_schema.columns c
            JOIN pg_class t ON t.oid = format('drover.%I', c.table_name)::regclass AND t.relkind IN ('r', 'p') AND NOT t.relispartition
            WHERE c.table_schema = 'drover' AND c.data_type IN ('text', 'ARRAY', 'name', 'character varying')
              AND (c.column_name ~ 'account|dealer$|colleague|member|recipient|mail_to$|^mail$|_by$'
                OR EXISTS (SELECT FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
                           WHERE k.contype = 'f' AND k.confrelid = 'drover.account'::regclass AND k.conrelid = t.oid AND a.attname = c.column_name))""")}


def rows(connection, column, is_open):
    table, name = column.split(".")
    value = "miller@example.org" if name in ("mail", "recipient") else "miller"
    condition = "%s = ANY (mail_to)" if name == "mail_to" else f"lower({name}) = %s"
    [[count]] = connection.execute(f"SELECT count(*) FROM drover.{table} WHERE {condition}" + (f" AND ({OPEN[table]})" if is_open else ""), [value]).fetchall()
    return count


def test_of_each_table_that_names_an_account_it_is_said_how_it_ends(env):
    assert named(env) == set(ENDS)


@pytest.mark.parametrize("way, place", [("disable", 0), ("enable", 0), ("erase", 1)])
def test_tables_end_as_it_is_said(env, way, place):
    add_account(env, "miller", "farmer", "driver")
    with connect(env) as owner:
        owner.execute(ROWS)
        if not owner.execute("SELECT FROM pg_roles WHERE rolname = 'drover_account_miller'").fetchall():
            owner.execute("CREATE ROLE drover_account_miller")
        owner.execute("ALTER ROLE drover_account_miller LOGIN; GRANT drover_sight TO drover_account_miller")
        before = {column: rows(owner, column, False) for column in ENDS}
        assert all(before[column] for column, ends in ENDS.items() if ends != "stays stays")
        assert owner.execute(f"SELECT drover.{'disable' if way == 'enable' else way}_account('miller')").fetchone() == (True,)
        if way == "enable":
            # What somebody made meanwhile does not come in either.
            owner.execute("INSERT INTO drover.token (token_id, account, scopes, digest) VALUES ('u', 'miller', '{read}', sha256('u'))")
            assert owner.execute("SELECT drover.enable_account('miller')").fetchone() == (True,)
            before["token.account"] += 1
        for column, ends in ENDS.items():
            table = column.split(".")[0]
            if (end := ends.split()[place]) == "goes":
                assert rows(owner, column, False) == 0, column
            elif end == "ends":
                assert rows(owner, column, True) == (column == "account.account" and way == "enable"), column
            else:
                assert rows(owner, column, False) == before[column], column
        assert owner.execute("SELECT count(*) FROM drover.survey_session").fetchone() == (0,)
        assert owner.execute("SELECT state FROM drover.report_run").fetchall() == ([] if way == "erase" else [("failed",)])
        assert owner.execute("SELECT rolcanlogin, pg_has_role(rolname, 'drover_sight', 'MEMBER') FROM pg_roles WHERE rolname = 'drover_account_miller'").fetchall() == [(False, False)]
        assert owner.execute("SELECT drover.is_mail_over('MILLER@example.org')").fetchone() == (way == "disable",)


def test_mail_of_a_roster_is_not_an_accounts(env):
    add_account(env, "miller", "rider")
    with connect(env) as owner:
        owner.execute("INSERT INTO drover.person (campus, person, role, name, mail) VALUES ('c', 'p', 'rider', 'P', 'miller@example.org')")
        owner.execute("SELECT drover.ask_code('c', 'p', sha256('c'), 'code', 's', 'b')")
        owner.execute("SELECT drover.disable_account('miller')")
        assert owner.execute("SELECT mail_id, is_for_person FROM drover.mail").fetchall() == [("code", True)]


def test_a_stream_holds_while_what_it_was_opened_with_does(env):
    """Each way in which a session's, a token's and a device's streams end."""
    add_account(env, "miller", "rider", "driver")
    ends = [
        "UPDATE drover.account SET disabled_at = now()", "DELETE FROM drover.account_session", "UPDATE drover.account_session SET made_at = now() - interval '91 days'",
        "UPDATE drover.token SET revoked_at = now()", "UPDATE drover.token SET expires_at = now()", "UPDATE drover.account SET roles = '{driver}'",
        "DELETE FROM drover.person_account", "UPDATE drover.person SET disabled_at = now()", "UPDATE drover.person_token SET revoked_at = now()"]
    doors = {"session": "", "session as rider": "c", "token": "", "device": "c", "nothing": ""}
    held = {0: {"device"}, 1: {"token", "device"}, 2: {"token", "device"}, 3: {"session", "session as rider", "device"}, 4: {"session", "session as rider", "device"},
            5: {"session", "token", "device"}, 6: {"session", "token", "device"}, 7: {"session", "token"}, 8: {"session", "session as rider", "token"}}
    with psycopg.connect(env["DROVER_POSTGRES_URL"]) as connection:
        connection.execute("""
            INSERT INTO drover.account_session (digest, account, agent, is_kept) VALUES (sha256('session'), 'miller', 'Firefox', true);
            INSERT INTO drover.token (token_id, account, scopes, digest) VALUES ('t', 'miller', '{account}', sha256('token'));
            INSERT INTO drover.person (campus, person, role, name, mail) VALUES ('c', 'p', 'rider', 'P', 'p@example.org');
            INSERT INTO drover.person_account VALUES ('c', 'p', 'miller');
            INSERT INTO drover.person_token (digest, campus, person, device, expires_at) VALUES (sha256('device'), 'c', 'p', 'phone', now() + interval '1 day')""")
        def holding():
            keys = [hashlib.sha256(door.split()[0].encode()).digest() for door in doors]
            places = connection.execute("SELECT drover.streams_that_hold(%s, %s, %s)", [keys, list(doors.values()), ["p"] * len(doors)]).fetchall()
            return {list(doors)[place - 1] for place, in places}
        assert holding() == set(doors) - {"nothing"}
        for number, end in enumerate(ends):
            with connection.transaction(force_rollback=True):
                connection.execute(end)
                assert holding() == held[number], end


def test_a_session_s_stream_ends_with_a_role_of_its_account(env):
    """Which of them let it in nobody says: who comes back with the others is let in by these."""
    add_account(env, "miller", "analyst", "driver")
    with connect(env) as owner:
        owner.execute("INSERT INTO drover.account_session (digest, account, agent, is_kept) VALUES (sha256('session'), 'miller', 'Firefox', true)")
        def holds():
            key = hashlib.sha256(b"session").digest()
            return bool(owner.execute("SELECT drover.streams_that_hold(%s, '{\"\"}', '{\"\"}', '{\"analyst,driver\"}')", [[key]]).fetchall())
        assert holds()
        owner.execute("UPDATE drover.account SET roles = '{farmer,driver,analyst}'")
        assert holds()
        owner.execute("UPDATE drover.account SET roles = '{driver,farmer}'")
        assert not holds()


def test_an_operators_token_ends_with_the_role_that_allowed_it(env):
    """One for exports went on after the role was taken."""
    add_account(env, "rita", "researcher", "driver")
    add_account(env, "museum", "driver")
    with connect(env) as owner:
        for account, scope in (("rita", "export"), ("rita", "query"), ("rita", "account"), ("museum", "export")):
            owner.execute("INSERT INTO drover.token (token_id, account, scopes, digest) VALUES (%s, %s, %s, sha256(%s))", [f"{account}-{scope}", account, [scope], f"{account}-{scope}".encode()])
        def revoked():
            return [token for token, in owner.execute("SELECT token_id FROM drover.token WHERE revoked_at IS NOT NULL ORDER BY 1").fetchall()]
        owner.execute("UPDATE drover.account SET roles = '{driver,analyst}' WHERE account = 'rita'")
        assert revoked() == []
        owner.execute("UPDATE drover.account SET roles = '{driver}'")
        assert revoked() == ["rita-export", "rita-query"]
        owner.execute("UPDATE drover.account SET roles = '{farmer}' WHERE account = 'museum'")
        assert revoked() == ["rita-export", "rita-query"]


# With a running server

class Stream:
    """Events as they come, until the server ends it."""

    def __init__(self, port, path, **headers):
        self.connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=HANG_S)
        self.connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        self.response, self.ended = self.connection.getresponse(), threading.Event()
        assert self.response.status == 200, self.response.read()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            while self.response.readline():
                pass
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            pass
        self.ended.set()


@pytest.fixture(scope="module")
def site(world, certificate, tmp_path_factory):
    site = Site(world, world.database(), certificate, tmp_path_factory.mktemp("site"), has_mail=False)
    site.with_account("root", "root@example.org", PASSWORD, "administrator")
    site.root = logged_in(site.port, "root")
    yield site
    site.close()


class Goer:
    """Somebody with every way in there is."""

    def __init__(self, site, name):
        self.site, self.name = site, name
        self.browser = site.with_account(name, f"{name}@example.org", PASSWORD, "farmer", "driver")
        assert self.log_in().status == 303
        scopes = [word for scope in ("upload", "read", "account") for word in ("--scope", scope)]
        run = site.world.drover.done("token", "add", "--account", name, *scopes, env=site.env)
        self.token = {"Authorization": f"Bearer {run.out.strip()}"}
        self.psql = psycopg.connect(login(site.env, name, site.world.drover), autocommit=True)
        self.psql.execute("LISTEN drover_cars")
        self.streams = [Stream(site.port, "/v1/alerts/stream", **self.token), Stream(site.port, "/v1/live", Cookie=self.browser.cookie)]

    def log_in(self):
        return self.browser.log_in(f"{self.name}@example.org")

    def answers(self):
        """Of the page, of what a program reads and of its alerts, and of an upload."""
        program = Visitor(self.site.port)
        upload = program.ask("POST", "/v1/readings", "{}", Content_Type="application/x-ndjson", **self.token)
        return [self.browser.get("/account").status, *[program.get(path, **self.token).status for path in ("/v1/machines", "/v1/alerts")], upload.status]


def change(site, account, is_enabled, *more, status=200):
    fields = [("form", site.root.mark("/administration")), ("account", account), ("role", "farmer"), ("role", "driver"), ("enabled", "1" if is_enabled else "0"), *more]
    answer = site.root.post_items("/administration/account", fields)
    assert answer.status == status, answer.body
    return answer


def test_every_way_in_ends_at_once_whoever_says_it(site):
    ways = {"by-command": lambda name: site.run("disable", name), "by-page": lambda name: change(site, name, False), "erased": lambda name: site.run("erase", name),
            "erased-by-page": lambda name: change(site, name, True, ("erase", name))}
    goers = {name: Goer(site, name) for name in [*ways, "neighbour"]}
    before = goers["neighbour"].answers()
    assert before[:3] == [200, 200, 200] and before[3] not in (401, 503)
    for name, end in ways.items():
        goer = goers[name]
        assert goer.answers() == before
        end(name)
        assert goer.answers() == [303, 401, 401, 401] and goer.log_in().status == 401, name
        with pytest.raises(psycopg.OperationalError):
            goer.psql.execute("SELECT 1")
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(goer.psql.info.dsn, password=goer.psql.info.password)
    # At the next heartbeat, of which the slower one comes each 15 s; not after 15 minutes.
    for name in ways:
        for stream in goers[name].streams:
            assert stream.ended.wait(HANG_S), name
    assert not any(stream.ended.is_set() for stream in goers["neighbour"].streams)
    assert goers["neighbour"].answers() == before
    # Back again: with the password, and with nothing else of before.
    for name, again in {"by-command": lambda name: site.run("enable", name), "by-page": lambda name: change(site, name, True)}.items():
        again(name)
        assert goers[name].answers() == [303, 401, 401, 401]
        assert goers[name].log_in().status == 303 and goers[name].browser.get("/account").status == 200


def test_a_page_erases_who_is_named_twice_and_not_the_last_administrator(site):
    add_account(site.env, "mistaken", "farmer")
    assert "type its id" in change(site, "mistaken", True, ("erase", "mistake"), status=422).body
    change(site, "root", True, ("erase", "root"), status=422)
    assert site.query("SELECT mail FROM drover.account WHERE account IN ('mistaken', 'root') AND disabled_at IS NULL ORDER BY 1") == [("mistaken@example.org",), ("root@example.org",)]
    change(site, "mistaken", True, ("erase", "mistaken"))
    assert site.query("SELECT mail, roles FROM drover.account WHERE account = 'mistaken'") == [(None, [])]


def test_a_stream_ends_with_its_log_in_and_with_its_token(site):
    goer = Goer(site, "leaver")
    others = logged_in(site.port, "leaver")
    goer.browser.post("/logout", form=goer.browser.mark())
    [[token]] = site.query("SELECT token_id FROM drover.token WHERE account = 'leaver'")
    site.world.drover.done("token", "revoke", token, env=site.env)
    assert all(stream.ended.wait(HANG_S) for stream in goer.streams)
    assert others.get("/account").status == 200


def test_a_connection_that_came_in_meanwhile_ends_with_the_next_heartbeat(site):
    """As one that a login opened between the end of its others and the commit of it."""
    with connect(site.env) as owner:
        owner.execute("CREATE ROLE drover_account_late LOGIN")
        try:
            address = url_of(site.env, "drover_account_late")
            with psycopg.connect(address, autocommit=True) as late:
                owner.execute("ALTER ROLE drover_account_late NOLOGIN")
                until(lambda: owner.execute("SELECT FROM pg_stat_activity WHERE usename = 'drover_account_late'").fetchall() == [])
                with pytest.raises(psycopg.OperationalError):
                    late.execute("SELECT 1")
        finally:
            owner.execute("DROP ROLE drover_account_late")
