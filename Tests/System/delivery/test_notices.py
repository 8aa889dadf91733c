"""Who is told of alerts, when and how, and what became of it: from a reading to a mail, against a real mail server."""
import re
import time
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from harness import is_long, until
from stories import Database
from test_mail import Office
from world import connect, query

ZONE = "Europe/Berlin"


def read(world, vehicle, ago_s, **values):
    """A machine's reading of so many seconds ago."""
    ts = int(time.time() - ago_s) * 1000
    reading = {"schema": 1, "kind": "reading", "id": f"r-{ts}", "vehicle": vehicle, "ts": ts, "model": "8R Tractor", "gps_available": True, **values}
    world.push("drover.machines", reading)


class Farm:
    """People with roles, fleets, machines and a dealer; alerts as workers write them; and what people were told."""

    def __init__(self, office, key=None):
        self.office, self.env, self.count = office, office.env, 0
        if not key:
            key = office.folder / "code.key"
            key.write_bytes(bytes(range(64)))
        self.settings = ["--set", f"people.code_key_file={key}", "--set", "web.public_url=https://drover.example", "--set", "notices.group_wait_s=1"]
        with connect(self.env) as connection:
            for account, roles in {"miller": ["farmer"], "deal": ["dealer"], "maker": ["developer"], "boss": ["fleet_manager"], "other": ["farmer"]}.items():
                connection.execute("INSERT INTO drover.account (account, mail, first_name, roles, zone, confirmed_at) VALUES (%s, %s, %s, %s, %s, now()) "
                                   "ON CONFLICT (account) DO UPDATE SET zone = EXCLUDED.zone, first_name = EXCLUDED.first_name",
                                   [account, f"{account}@example.org", account.title(), roles, ZONE])
            connection.execute("INSERT INTO drover.fleet (fleet, name) VALUES ('farm', 'Farm')")
            connection.execute("INSERT INTO drover.fleet_vehicle VALUES ('farm', 'machine', 'm-1'), ('farm', 'machine', 'm-2')")
            connection.execute("INSERT INTO drover.fleet_member VALUES ('farm', 'miller'), ('farm', 'boss')")
            connection.execute("INSERT INTO drover.dealership (vehicle, dealer, confirmed_at, confirmed_by) VALUES ('m-1', 'deal', now() - interval '9 days', 'miller')")
            # Only the farmer is asked by most tests.
            connection.execute("INSERT INTO drover.notice_setting (account, critical_manner, warning_manner) VALUES ('boss', 'never', 'never')")

    def notify(self, *more, **settings):
        return self.office.notify(*self.settings, *more, **settings)

    def alert(self, vehicle="m-1", severity="critical", audience="farmer", opened_ago_s=10, told_ago_s=5, parameter="Coolant Temperature", state="open", event="opened"):
        """An alert and what is to be told of it, in one transaction, as a worker writes them."""
        self.count += 1
        alert, now = f"{vehicle}-a{self.count}", datetime.now(timezone.utc)
        opened, told = now - timedelta(seconds=opened_ago_s), now - timedelta(seconds=told_ago_s)
        with connect(self.env) as connection, connection.transaction():
            connection.execute(
                """INSERT INTO drover.alert (alert_id, vehicle, model, parameter, unit, severity, state, test, threshold, since_at, opened_at, first_opened_at,
                       worst_at, worst_value, opening_value, audience, rules_version, told_at, advice)
                   VALUES (%s, %s, '8R Tractor', %s, '\u00b0C', %s, %s, 'above', 105, %s, %s, %s, %s, 108.5, 106, %s, 'v', %s, 'Stop & let it cool <slowly>')""",
                [alert, vehicle, parameter, severity, state, opened, opened, opened, opened, audience, told])
            self.event(alert, event, connection, told)
        return alert

    def event(self, alert, transition, connection=None, told=None):
        if connection is None:
            with connect(self.env) as connection:
                return self.event(alert, transition, connection, told)
        connection.execute("INSERT INTO drover.notice_event (alert_id, transition, told_at) VALUES (%s, %s, %s)", [alert, transition, told or datetime.now(timezone.utc)])

    def change(self, alert, event, **columns):
        with connect(self.env) as connection, connection.transaction():
            assigned = ", ".join(f"{name} = %({name})s" for name in columns)
            connection.execute(f"UPDATE drover.alert SET {assigned} WHERE alert_id = %(alert)s", {"alert": alert, **columns})
            self.event(alert, event, connection)

    def resolve(self, alert):
        self.change(alert, "resolved", state="resolved", resolved_at=datetime.now(timezone.utc), resolved_told_at=datetime.now(timezone.utc))

    def setting(self, account, **columns):
        with connect(self.env) as connection:
            connection.execute("INSERT INTO drover.notice_setting (account) VALUES (%s) ON CONFLICT DO NOTHING", [account])
            assigned = ", ".join(f"{name} = %({name})s" for name in columns)
            connection.execute(f"UPDATE drover.notice_setting SET {assigned} WHERE account = %(account)s", {"account": account, **columns})

    def notices(self, account="miller", what="occasion, state, reason"):
        return query(self.env, f"SELECT {what} FROM drover.notice WHERE account = %s ORDER BY decided_at, occasion, round, alert_id", account)

    def hurry(self):
        """What waits is due now."""
        with connect(self.env) as connection:
            connection.execute("UPDATE drover.notice SET due_at = now() WHERE state = 'waiting'")
            connection.execute("NOTIFY drover_notice")

    def hurry_burst(self):
        """What was held back because many messages went out is due now: the test does not wait five minutes."""
        with connect(self.env) as connection:
            connection.execute("UPDATE drover.notice_message SET made_at = made_at - interval '10 minutes' WHERE made_at > now() - interval '6 minutes'")
            connection.execute("UPDATE drover.notice SET due_at = now() WHERE state = 'waiting' AND occasion = 'opened' AND due_at > now()")
            connection.execute("NOTIFY drover_notice")

    @contextmanager
    def held(self, table):
        """Nobody writes to the table meanwhile; `is_met()` says whether somebody waits for that, in the middle of a transaction."""
        def is_met():
            return query(self.env, "SELECT 1 FROM pg_locks WHERE relation = %s::regclass AND NOT granted AND database = "
                         "(SELECT oid FROM pg_database WHERE datname = current_database())", f"drover.{table}")
        with connect(self.env) as connection, connection.transaction():
            connection.execute(f"LOCK TABLE drover.{table} IN SHARE MODE")
            yield is_met

    def mails(self, account="miller"):
        return [mail[2] for mail in self.office.box.mails if mail[1] == [f"{account}@example.org"]]

    def settled(self):
        """Nothing is left to decide, and nothing due to tell or send."""
        return query(self.env, """SELECT NOT EXISTS (SELECT FROM drover.notice_event) AND NOT EXISTS (SELECT FROM drover.notice WHERE state = 'waiting' AND due_at < now() + interval '5 s')
                   AND NOT EXISTS (SELECT FROM drover.mail WHERE refused IS NULL)""")[0][0]


@pytest.fixture(scope="module")
def database(world):
    return Database(world)


@pytest.fixture
def env(database):
    return database.emptied()


@pytest.fixture
def worker(world, env):
    worker = world.assigned(env, "notices")
    yield worker
    assert worker.stop() == 0


@pytest.fixture
def farm(world, env, certificate, tmp_path):
    office = Office(world, env, certificate, tmp_path)
    yield Farm(office)
    office.close()


def body(message, kind="plain"):
    return message.get_body((kind,)).get_content().replace("\r\n", "\n")


def test_from_a_reading_to_the_owner_and_the_dealer(world, worker, farm):
    """A machine that overheats: the worker decides, `drover notify` tells both at once, and the end to both in the same thread."""
    relay = farm.notify()
    read(world, "m-1", 60, coolant_c=80)
    read(world, "m-1", 20, coolant_c=97)
    until(lambda: farm.mails() and farm.mails("deal"), worker, relay)
    [mine], [theirs] = farm.mails(), farm.mails("deal")
    assert mine["Subject"] == "[critical] m-1: Coolant Temperature 97 \u00b0C" == theirs["Subject"]
    text, html = body(mine), body(mine, "html")
    assert "Stop" not in text and "alert when: above 85 \u00b0C" in text and "rule: of model 8R Tractor\n" in text and "worst: 97 \u00b0C" in text and "advice: Let the engine idle" in text
    [opened] = query(farm.env, "SELECT opened_at FROM drover.alert WHERE severity = 'critical'")[0]
    assert f"since: {opened.astimezone(ZoneInfo(ZONE)):%Y-%m-%d %H:%M}" in text
    assert "https://drover.example/alerts/" in html and "I take care of it" in html
    assert mine["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click" and "/notices/end-mail?account=miller&link=drover_" in mine["List-Unsubscribe"]
    read(world, "m-1", 2, coolant_c=70)
    until(lambda: len(farm.mails()) == 2 and len(farm.mails("deal")) == 2, worker, relay)
    over = farm.mails()[1]
    assert over["Subject"] == "[over] m-1: Coolant Temperature 97 \u00b0C" and over["In-Reply-To"] == mine["Message-ID"] and "until: " in body(over)
    assert "acknowledge" not in body(over)
    # Only those who want it, and with what became of it.
    assert farm.mails("boss") == farm.mails("maker") == farm.mails("other") == []
    assert farm.notices("boss", "occasion, state, reason") == [("opened", "not_told", "critical alerts are switched off")]
    assert farm.notices("maker") == farm.notices("other") == []
    assert query(farm.env, "SELECT channel, state, answer FROM drover.notice_message") == [("mail", "sent", "taken by the mail server")] * 4
    assert query(farm.env, "SELECT count(*) FROM drover.notice_event") == [(0,)]


def test_whom(farm):
    """A farmer never gets what is for dealers; a dealer only from the confirmation on; a developer where it is wanted."""
    farm.setting("maker", made_machines=True)
    query(farm.env, "INSERT INTO drover.dealership (vehicle, dealer, confirmed_at, confirmed_by) VALUES ('m-2', 'deal', now() - interval '1 minute', 'miller')")
    relay = farm.notify()
    alerts = {audience: farm.alert(audience=audience) for audience in ("farmer", "dealer", "developer")}
    before = farm.alert("m-2", opened_ago_s=90)
    farm.alert("m-3")
    until(farm.settled, relay)
    told = lambda account: sorted(row[0] for row in farm.notices(account, "alert_id, occasion") if row[1] == "opened")
    assert told("miller") == sorted([alerts["farmer"], before])
    assert told("deal") == sorted([alerts["farmer"], alerts["dealer"]])
    # The maker sees all machines that are known.
    assert set(alerts.values()) <= set(told("maker"))
    assert told("other") == []
    [mail] = farm.mails("deal")
    assert mail["Subject"] == "[critical] 2 alerts of m-1"


def test_the_day_s_message(farm):
    """Warnings come in one mail at the minute that one wants, by one's own clock; what was over by then is told as over."""
    zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca", "America/Sao_Paulo"]
    with connect(farm.env) as connection:
        for index, zone in enumerate(zones):
            connection.execute("INSERT INTO drover.account (account, mail, roles, zone, confirmed_at) VALUES (%s, %s, '{farmer}', %s, now())", [f"z-{index}", f"z-{index}@example.org", zone])
            connection.execute("INSERT INTO drover.fleet_member VALUES ('farm', %s)", [f"z-{index}"])
    farm.setting("z-3", daily_minute=23 * 60 + 59)
    warning, other = farm.alert(severity="warning"), farm.alert("m-2", "warning", parameter="Tire Pressure")
    # Both are there at its first look.
    relay = farm.notify()
    until(lambda: len(farm.notices("z-5")) == 2, relay)
    for index, zone in enumerate(zones):
        [decided] = {row[0] for row in farm.notices(f"z-{index}", "decided_at")}
        local, (hour, minute) = decided.astimezone(ZoneInfo(zone)), (23, 59) if index == 3 else (7, 0)
        due = local.replace(hour=hour, minute=minute, second=0, microsecond=0)
        if due <= local:
            due = (local.replace(tzinfo=None) + timedelta(days=1)).replace(hour=hour, minute=minute, second=0, microsecond=0).replace(tzinfo=ZoneInfo(zone))
        assert [row[0] for row in farm.notices(f"z-{index}", "due_at")] == [due] * 2, zone
    assert farm.mails() == [] and {row[2] for row in farm.notices()} == {"warning: in the message of 07:00"}
    farm.resolve(other)
    until(farm.settled, relay)
    farm.hurry()
    until(lambda: farm.mails() and farm.settled(), relay)
    [mail] = farm.mails()
    assert re.fullmatch(r"2 alerts of 2 vehicles until \d{4}-\d\d-\d\d \d\d:\d\d", mail["Subject"])
    assert body(mail).index("WARNING  m-1: Coolant Temperature 108.5 \u00b0C") < body(mail).index("OVER  m-2: Tire Pressure")
    assert "Stop & let it cool <slowly>" in body(mail) and "Stop &amp; let it cool &lt;slowly&gt;" in body(mail, "html")
    # Nothing more of what was told: an end was told with it, and a day's message is not repeated.
    assert {row[:2] for row in farm.notices()} == {("opened", "told")}
    # It becomes critical: at once, and the end likewise.
    farm.change(warning, "worse", severity="critical")
    until(lambda: len(farm.mails()) == 2, relay)
    assert farm.mails()[1]["In-Reply-To"] == mail["Message-ID"]


def test_a_warning_that_becomes_critical_is_told_once(farm):
    relay = farm.notify()
    alert = farm.alert(severity="warning")
    until(lambda: farm.notices(), relay)
    farm.change(alert, "worse", severity="critical")
    until(lambda: farm.mails(), relay)
    assert farm.notices(what="occasion, state, reason")[:1] == [("opened", "not_told", "told earlier than that: it became critical")]
    assert [row[:2] for row in farm.notices() if row[0] == "worse"] == [("worse", "told")]


def test_us_units_and_the_reader_s_clock(farm):
    query(farm.env, "UPDATE drover.account SET units = 'us', zone = 'America/Chicago' WHERE account = 'miller'")
    relay = farm.notify()
    farm.alert(opened_ago_s=0)
    until(farm.mails, relay)
    [mail] = farm.mails()
    assert mail["Subject"].endswith("Coolant Temperature 227.3 \u00b0F") and "alert when: above 221 \u00b0F" in body(mail)
    [[opened]] = query(farm.env, "SELECT opened_at FROM drover.alert")
    assert f"since: {opened.astimezone(ZoneInfo('America/Chicago')):%Y-%m-%d %H:%M}" in body(mail)


def test_quiet_hours_silences_acknowledgements_and_backlogs(farm):
    # Where no clock is ever changed, and far from both ends.
    local = datetime.now(ZoneInfo("Asia/Kathmandu"))
    minute = local.hour * 60 + local.minute
    query(farm.env, "UPDATE drover.account SET zone = 'Asia/Kathmandu' WHERE account = 'miller'")
    farm.setting("miller", warning_manner="at_once", quiet_from=(minute - 360) % 1440, quiet_until=(minute + 360) % 1440)
    relay = farm.notify()
    quiet = farm.alert(severity="warning")
    loud = farm.alert("m-2")
    until(lambda: len(farm.mails()) == 1 and farm.settled(), relay)
    assert "m-2" in farm.mails()[0]["Subject"]
    [(state, reason, due)] = [row[1:] for row in farm.notices(what="alert_id, state, reason, due_at") if row[0] == quiet]
    assert (state, reason) == ("waiting", "quiet hours")
    assert due == (local + timedelta(minutes=360)).replace(second=0, microsecond=0)
    farm.setting("miller", quiet_from=None, quiet_until=None)
    [due] = [row[2] for row in farm.notices(what="alert_id, occasion, due_at - decided_at") if row[:2] == (loud, "repeated")]
    assert due == timedelta(hours=4)

    # Silenced: not before the silence ends; and over by then, not at all.
    query(farm.env, "INSERT INTO drover.silence VALUES (0, 's-1', 'm-1', NULL, 'Tire Pressure', now() - interval '1 s', now() + interval '1 hour', 'boss', NULL)")
    silenced = farm.alert(parameter="Tire Pressure")
    until(lambda: [row for row in farm.notices(what="alert_id, reason") if row == (silenced, "silenced by boss")], relay)
    farm.resolve(silenced)
    farm.hurry()
    until(lambda: (silenced, "not_told", "it was silenced by boss and is over") in farm.notices(what="alert_id, state, reason"), relay)

    # Acknowledged: neither told again nor passed on.
    query(farm.env, "INSERT INTO drover.acknowledgement VALUES ('m-2', 'r-1', %s, now(), 'boss', NULL)", loud)
    farm.hurry()
    until(lambda: (loud, "repeated", "not_told", "boss has acknowledged it") in farm.notices(what="alert_id, occasion, state, reason"), relay)

    # Hours old when it reached us, or over by then: as one wants such.
    old, over = farm.alert(opened_ago_s=7_300), farm.alert(opened_ago_s=60, state="resolved")
    query(farm.env, "UPDATE drover.alert SET resolved_told_at = told_at, resolved_at = opened_at + interval '9 s' WHERE alert_id = %s", over)
    until(lambda: len([row for row in farm.notices(what="alert_id, manner, reason") if row[0] in (old, over) and row[1] == "daily" and "hours old" in row[2]]) >= 1, relay)
    farm.setting("miller", backlog="never")
    older = farm.alert(opened_ago_s=9_000)
    until(lambda: (older, "not_told") in farm.notices(what="alert_id, state"), relay)
    farm.setting("miller", backlog="as_usual")
    oldest = farm.alert(opened_ago_s=9_900)
    until(lambda: (oldest, "told") in farm.notices(what="alert_id, state"), relay)


def test_repeats_slow_down_and_colleagues_step_in(farm):
    query(farm.env, "INSERT INTO drover.notice_step VALUES ('miller', 1, 15, 'boss'), ('miller', 2, 60, 'other')")
    farm.setting("boss", critical_manner="at_once")
    farm.setting("boss", critical_manner="never")
    relay = farm.notify()
    alert = farm.alert()
    until(lambda: farm.mails(), relay)
    assert [(row[0], row[1]) for row in farm.notices("boss", "occasion, state") if row[0] == "escalated"] == [("escalated", "waiting")]
    waits = []
    for number in range(1, 6):
        [waited] = [row[1] for row in farm.notices(what="round, due_at - decided_at, occasion, state") if row[2] == "repeated" and row[3] == "waiting"]
        waits.append(round(waited.total_seconds() / 3600, 2))
        farm.hurry()
        # A burst of messages is held back: these were hours apart.
        query(farm.env, "UPDATE drover.notice_message SET made_at = made_at - interval '1 hour'")
        until(lambda: len(farm.mails()) == number + 1, relay)
    assert waits == [4, 8, 16, 24, 24]
    assert {mail["Subject"] for mail in farm.mails()[1:]} == {"[still open] m-1: Coolant Temperature 108.5 \u00b0C"}
    until(farm.settled, relay)
    # Who steps in is told why, whatever is wanted otherwise; who does not see the machine is not told.
    [mail] = farm.mails("boss")
    assert mail["Subject"].startswith("[nobody acknowledged] m-1") and "why you: steps in for miller: not acknowledged within 15 minutes" in body(mail)
    assert farm.mails("other") == [] and farm.notices("other", "state, reason") == [("not_told", "this account does not see the vehicle or such alerts")]
    farm.resolve(alert)
    until(lambda: farm.mails()[-1]["Subject"].startswith("[over]"), relay)
    farm.hurry()
    until(lambda: ("repeated", "not_told", "it is over") in farm.notices(), relay)


def test_corrections_go_to_those_who_were_told(farm):
    farm.setting("miller", warning_manner="at_once", repeat_min=0)
    relay = farm.notify()
    told = farm.alert()
    until(lambda: len(farm.mails()) == 1 and farm.settled(), relay)
    untold = farm.alert("m-2")
    farm.change(untold, "withdrawn", state="withdrawn", revision=1)
    farm.change(told, "revised", revision=1, worst_value=120)
    until(lambda: len(farm.mails()) == 2 and farm.settled(), relay)
    assert farm.mails()[1]["Subject"] == "[corrected] m-1: Coolant Temperature 120 \u00b0C" and farm.mails()[1]["In-Reply-To"] == farm.mails()[0]["Message-ID"]
    farm.change(told, "withdrawn", state="withdrawn", revision=2)
    until(lambda: len(farm.mails()) == 3 and farm.settled(), relay)
    assert farm.mails()[2]["Subject"].startswith("[taken back] m-1")
    assert ("opened", "not_told", "late readings took it back before it was told") in farm.notices()
    assert len(farm.mails("deal")) == 3


def test_what_a_mail_server_refuses_is_seen(farm):
    """Greylisted: later, with the same id. Refused for good: said so, with the server's reason, where people look."""
    farm.office.box.answers["miller@example.org"] = ["451 greylisted", "452 full"]
    farm.office.box.answers["deal@example.org"] = ["550 no such user"]
    relay = farm.notify()
    farm.alert()
    def messages():
        return dict((row[0], row[1:]) for row in query(farm.env, "SELECT account, state, tries, answer FROM drover.notice_message WHERE account <> 'boss'"))
    until(lambda: farm.office.hurry() or {account: row[0] for account, row in messages().items()} == {"miller": "sent", "deal": "refused"}, relay)
    assert messages()["miller"] == ("sent", 3, "taken by the mail server") and messages()["deal"] == ("refused", 1, "the server refused it (550)")
    assert len(farm.mails()) == 1 and farm.office.box.asked.count("miller@example.org") == 3
    # The server is away: what waits is kept, and goes out when it is back.
    port = farm.office.server.port
    farm.office.server.stop()
    farm.alert("m-2")
    until(lambda: len(messages()) == 2 and len([row for row in farm.notices(what="vehicle, state") if row == ("m-2", "told")]) == 1, relay)
    relay.kill()
    farm.office.serve(port=port)
    relay = farm.notify()
    until(lambda: len(farm.mails()) == 2, relay)
    assert farm.mails()[1]["Subject"].startswith("[critical] m-2")


def test_two_relays_share_the_work(farm):
    """Both run all the while: each alert is in one message of its reader, and each message arrives once."""
    relays = [farm.notify(), farm.notify()]
    def done():
        farm.hurry_burst()
        return farm.settled()
    for number in range(20):
        farm.alert("m-1" if number % 2 else "m-2")
        # Some come alone, some together, some while others go out.
        if number % 3 == 2:
            until(lambda: len(farm.notices(what="1")) > number, *relays)
        if number % 7 == 6:
            until(done, *relays)
    until(done, *relays)
    arrived = [mail["Message-ID"][1:].partition("@")[0] for mail in farm.mails()]
    told = query(farm.env, "SELECT t.message_id, n.alert_id FROM drover.notice n JOIN drover.notice_told t USING (notice_id) WHERE n.account = 'miller' AND n.occasion = 'opened'")
    assert len(told) == len({alert for _, alert in told}) == 20
    assert sorted(arrived) == sorted({message for message, _ in told})


def test_a_storm_and_a_relay_that_is_killed_again_and_again(farm):
    """Many machines in a minute, `drover notify` killed meanwhile: each notice is in one message, and a message that came twice has one id."""
    kills, each = (50, 40) if is_long() else (6, 50)
    count = kills * each
    query(farm.env, "INSERT INTO drover.dealership (vehicle, dealer, confirmed_at, confirmed_by) SELECT 's-' || n, 'deal', now() - interval '1 day', 'x' "
          "FROM generate_series(0, %s) n", count - 1)
    query(farm.env, "INSERT INTO drover.fleet_vehicle SELECT 'farm', 'machine', 's-' || n FROM generate_series(0, %s) n", count - 1)

    def raise_more(first):
        with connect(farm.env) as connection, connection.transaction():
            connection.execute(
                """INSERT INTO drover.alert (alert_id, vehicle, model, parameter, unit, severity, state, test, threshold, since_at, opened_at, first_opened_at, worst_at,
                       worst_value, audience, rules_version, told_at)
                   SELECT 's-' || n || '-x', 's-' || n, '8R', 'Coolant Temperature', 'C', 'critical', 'open', 'above', 85, now(), now(), now(), now(), 99, 'farmer', 'v', now()
                   FROM generate_series(%s::int, %s) n""", [first, first + each - 1])
            connection.execute("INSERT INTO drover.notice_event (alert_id, transition, told_at) SELECT 's-' || n || '-x', 'opened', now() FROM generate_series(%s::int, %s) n",
                               [first, first + each - 1])

    def is_told():
        farm.hurry_burst()
        return farm.settled()
    relay = farm.notify()
    for kill in range(kills):
        if (table := ["notice", "notice_message", None][kill % 3]) is None:
            # Between the server's taking a mail and its mark.
            farm.office.box.before = relay.process.kill
            raise_more(kill * each)
            until(lambda: is_told() or relay.process.poll() is not None)
            farm.office.box.before = lambda: None
        else:
            # In the middle of deciding, and of making messages.
            farm.hurry_burst()
            with farm.held(table) as is_met:
                raise_more(kill * each)
                until(is_met, relay)
                relay.process.kill()
        relay.wait()
        if is_long():
            # Wherever it is then.
            relay = farm.notify()
            time.sleep((kill * 37 % 100) / 100)
            relay.kill()
        relay = farm.notify()
    until(is_told, relay)
    for account in ("miller", "deal"):
        with connect(farm.env) as connection:
            told = connection.execute("SELECT count(*), count(DISTINCT alert_id) FROM drover.notice WHERE account = %s AND occasion = 'opened' AND state = 'told'", [account]).fetchone()
            assert told == (count, count)
            once = connection.execute(
                """SELECT n, count(*) FROM (SELECT count(*) AS n FROM drover.notice_told t JOIN drover.notice_message m USING (message_id)
                       JOIN drover.notice o USING (notice_id) WHERE m.account = %s AND o.occasion = 'opened' GROUP BY notice_id) AS x GROUP BY n""", [account]).fetchall()
            assert once == [(1, count)]
            messages = {row[0] for row in connection.execute("SELECT message_id FROM drover.notice_message WHERE account = %s", [account]).fetchall()}
        arrived = [mail["Message-ID"][1:].partition("@")[0] for mail in farm.mails(account)]
        # None is missing; one that came again came with its id.
        assert set(arrived) == messages
        # All machines of a moment are in one.
        assert len(messages) < 2 * kills + 20
    mails = len(farm.office.box.mails)
    again = mails - len({mail[2]["Message-ID"] for mail in farm.office.box.mails})
    print(mails, "mails for", 2 * count, "notices,", again, "of them again")
    assert again >= 1
