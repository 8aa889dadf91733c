"""The audit log: what gets an entry, that nobody can change one unseen, who may read it, and that erasing somebody leaves the chain whole."""
import hashlib
import json
import re
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import description
import migrations
import psycopg
import pytest
from clocks import faked_clock
from harness import HANG_S, ROOT, until
from people import PASSWORD, Visitor, logged_in
from test_accounts import Site
from test_machine_pages import fields
from test_uploads import give_token, new_token
from world import connect, query

PEOPLE = {"root": ["administrator"], "olga": ["operator"], "miller": ["farmer"], "joe": ["driver"], "gone": ["driver"]}


@pytest.fixture(scope="module")
def site(world, tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    shutil.copytree(ROOT / "Deploy" / "thresholds", folder / "thresholds")
    settings = "--set", f"alerts.thresholds_dir={folder / 'thresholds'}", "--set", "alerts.watch_s=0"
    site = Site(world, world.database(), None, folder, *settings, has_mail=False)
    site.folder, site.settings = folder, settings
    site.people = {}
    for account, roles in PEOPLE.items():
        site.with_account(account, f"{account}@example.org", PASSWORD, *roles)
    with connect(site.env) as connection:
        connection.execute("INSERT INTO drover.fleet (fleet, name) VALUES ('north', 'North'), ('own', 'Own')")
        connection.execute("INSERT INTO drover.fleet_member VALUES ('north', 'miller'), ('own', 'root')")
        connection.execute("INSERT INTO drover.fleet_vehicle VALUES ('north', 'machine', 'm-1'), ('own', 'machine', 'm-own')")
        connection.execute("INSERT INTO drover.registration (kind, vehicle, topic_partition, registered_at, record_id) "
                           "SELECT 'machine', v, 0, now(), v FROM unnest(ARRAY['m-1', 'm-own']) AS v")
        connection.execute("INSERT INTO drover.vehicle VALUES ('machine', 'm-1', '8R Tractor', 0, now())")
        connection.execute(
            """INSERT INTO drover.alert (alert_id, kind, vehicle, model, parameter, unit, severity, state, test, threshold, since_at, opened_at, first_opened_at, worst_at, audience,
               rules_version) VALUES ('a-1', 'machine', 'm-1', '8R Tractor', 'Coolant Temperature', '°C', 'warning', 'open', 'above', 85, now(), now(), now(), now(), 'farmer', 'v')""")
    for account in PEOPLE:
        site.people[account] = logged_in(site.port, account)
    yield site
    site.close()


def audit(site, *words, **more):
    return site.world.drover.run("audit", *words, env={**site.env, **more})


def entries(site, *words):
    run = audit(site, "--json", "--limit", "100000", *words)
    assert run.code == 0, run.err
    return [json.loads(line) for line in run.out.splitlines()]


def last(site, action):
    found = entries(site, "--action", action)
    assert found, action
    return {**found[-1], "detail": json.loads(found[-1]["detail"])}


def fits(site, *words):
    run = audit(site, "verify", *words)
    return run.code == 0, run.out + run.err


# MARK: what gets an entry


def test_log_ins_and_log_outs(site):
    visitor = Visitor(site.port)
    before = len(entries(site, "--action", "log_in", "--account", "joe"))
    assert before >= 1
    for _ in range(20):
        assert visitor.log_in("joe@example.org").status == 303
    found = entries(site, "--action", "log_in", "--account", "joe")
    # The same within a minute is counted.
    assert len(found) <= before + 4 and {(entry["remote"], json.loads(entry["detail"])["with"]) for entry in found} == {("127.0.0.1", "password")}
    visitor.post("/logout", form=visitor.mark())
    assert last(site, "log_out")["actor"] == "joe"


def test_failures_are_counted_and_cannot_fill_the_table(site):
    before = len(entries(site, "--action", "log_in_failed"))
    for _ in range(4):
        assert Visitor(site.port).log_in("miller@example.org", "wrong horse battery").status == 401
    found = entries(site, "--action", "log_in_failed")[before:]
    # Two where the minute ended amid them.
    assert 1 <= len(found) <= 2 and {(entry["subject"], entry["remote"]) for entry in found} == {("miller", "127.0.0.1")}
    # Of a mail address that nobody has, nothing is kept: it may be a password that slipped into the wrong field.
    assert Visitor(site.port).log_in("my.secret@example.org").status == 401
    assert last(site, "log_in_failed")["subject"] is None and "my.secret" not in audit(site, "--json").out
    with connect(site.env) as connection:
        began = connection.execute("SELECT count(*) FROM drover.audit_entry").fetchone()[0]
        with connection.transaction():
            for number in range(500):
                connection.execute("SELECT drover.audit_record('log_in_failed', NULL, %s, %s, '{}')", [f"{number}@nowhere", f"10.0.{number // 250}.{number % 250}"])
        ended = connection.execute("SELECT count(*) FROM drover.audit_entry").fetchone()[0]
        assert ended - began <= 62
        connection.execute("UPDATE drover.audit_tally SET ends_at = now() - interval '1 second'")
        for _ in range(10):
            connection.execute("SELECT drover.audit_record('log_out', 'joe', NULL, NULL, '{}')")
    counted = [json.loads(entry["detail"]).get("times", 0) for entry in entries(site, "--action", "log_in_failed")]
    assert sum(counted) >= 500 - 62 and fits(site)[0]


def test_accounts_tokens_and_fleets_whoever_changes_them(site):
    run = site.run("add", "new", "--mail", "new@example.org", "--role", "farmer")
    assert run.code == 0 and (found := last(site, "account_added"))["subject"] == "new" and found["detail"]["roles"] == ["farmer"] and found["actor"]
    assert site.run("link", "new").code == 0 and last(site, "link_given")["subject"] == "new"
    assert site.run("roles", "new", "--role", "driver").code == 0
    assert (found := last(site, "roles_changed"))["detail"]["from"] == ["farmer"] and found["detail"]["to"] == ["driver"]
    assert site.run("disable", "new").code == 0 and last(site, "account_disabled")["subject"] == "new"
    assert site.run("enable", "new").code == 0 and last(site, "account_enabled")["subject"] == "new"
    token = site.world.drover.run("token", "add", "--account", "new", "--scope", "upload", "--format", "json", env=site.env)
    name = json.loads(token.out)["token_id"]
    assert last(site, "token_added")["detail"]["token"] == name
    assert site.world.drover.run("token", "revoke", name, env=site.env).code == 0 and last(site, "token_revoked")["detail"]["token"] == name
    for words, action in [(("join", "north", "new"), "fleet_joined"), (("leave", "north", "new"), "fleet_left")]:
        site.world.drover.done("fleet", *words, env=site.env)
        assert (found := last(site, action))["subject"] == "new" and found["detail"]["fleet"] == "north"
    assert site.world.drover.run("fleet", "put", "south", env=site.env).code == 0 and last(site, "fleet_changed")["detail"]["fleet"] == "south"
    # A page says who, and straight in the database the login does.
    root = site.people["root"]
    form = [("form", root.mark("/administration")), ("account", "new"), ("enabled", "1"), ("role", "ranger")]
    assert root.post_items("/administration/account", form).status == 200 and (found := last(site, "roles_changed"))["actor"] == "root"
    with connect(site.env) as connection:
        connection.execute("UPDATE drover.account SET roles = '{administrator}' WHERE account = 'new'")
        login = connection.execute("SELECT session_user").fetchone()[0]
    assert (found := last(site, "roles_changed"))["actor"] is None and found["detail"]["login"] == login
    # Nothing is told of what was not done.
    with connect(site.env) as connection, pytest.raises(ZeroDivisionError), connection.transaction():
        connection.execute("UPDATE drover.account SET roles = '{}' WHERE account = 'new'")
        raise ZeroDivisionError
    assert last(site, "roles_changed")["sequence"] == found["sequence"]


def test_who_types_a_command_stands_beside_what_it_did(site, tmp_path):
    query(site.env, "INSERT INTO drover.account_second_factor (account, secret, on_since) VALUES ('joe', decode(repeat('00', 60), 'hex'), now())")
    link = site.run("link", "joe")
    assert link.code == 0 and (typist := last(site, "link_given")["actor"])
    assert site.run("second-factor", "joe", "--remove").code == 0
    assert (found := last(site, "second_factor_changed"))["actor"] == typist and found["subject"] == "joe"
    assert site.run("export", "joe", "--to", tmp_path).code == 0
    assert (found := last(site, "export_taken"))["actor"] == typist and found["subject"] == "joe"


def test_what_was_taken_away(site):
    miller = site.people["miller"]
    assert miller.get("/reports/nothing-like-that").status == 404
    report = re.search(r'name="report"><option value="([\w-]+)"', miller.get("/reports").body).group(1)
    assert miller.get(f"/reports?report={report}&date=2026-01-01").status == 200
    found = last(site, "report_run")
    assert found["actor"] == "miller" and found["detail"]["report"] == report and found["detail"]["date"] == "2026-01-01"
    token = give_token(site.env, "olga", "export")
    assert miller.get("/v1/sightings/export?rows=surveys", Authorization="Bearer " + token).status == 200
    assert (found := last(site, "export_taken"))["actor"] == "olga" and found["detail"]["rows"] == "surveys"


def test_whose_data_somebody_saw_who_sees_all(site):
    root = site.people["root"]
    def seen():
        return [entry for entry in entries(site, "--action", "data_seen") if json.loads(entry["detail"]).get("vehicle")]
    before = len(seen())
    for _ in range(5):
        assert root.get("/vehicles/m-1").status == 200
    now = seen()[before:]
    # Two where the hour ended amid them.
    assert 1 <= len(now) <= 2 and {(entry["actor"], json.loads(entry["detail"])["vehicle"]) for entry in now} == {("root", "m-1")}
    # What is one's own, what is not there, and what somebody sees whose it is.
    assert root.get("/vehicles/m-own").status == 200 and root.get("/vehicles/m-none").status == 404
    assert site.people["miller"].get("/vehicles/m-1").status == 200
    assert len(seen()) == before + len(now)
    # A program of an operator is one, too.
    token = give_token(site.env, "olga", "read")
    assert root.get("/v1/machines/m-1", Authorization="Bearer " + token).status == 200
    assert seen()[-1]["actor"] == "olga"


def test_lists_and_alerts_are_seen_as_well(site):
    root, paths = site.people["root"], ["/", "/home", "/map/vehicles", "/vehicle-names?kind=machine&search=m", "/alerts/a-1"]
    with connect(site.env) as connection:
        connection.execute("INSERT INTO drover.vehicle VALUES ('machine', 'm-own', '8R Tractor', 0, now())")
        connection.execute("""INSERT INTO drover.alert SELECT own.* FROM drover.alert a, jsonb_populate_record(a, '{"alert_id": "a-own", "vehicle": "m-own"}') AS own
                              WHERE a.alert_id = 'a-1'""")
    def seen():
        found = [(entry["actor"], json.loads(entry["detail"])) for entry in entries(site, "--action", "data_seen")]
        return [(actor, detail) for actor, detail in found if "times" not in detail]
    before = seen()
    # Pages that keep themselves up to date ask again and again: one entry, two where the hour ended amid them.
    for _ in range(20):
        for path in paths:
            assert root.get(path).status == 200, path
    now = seen()
    for detail in ({"page": "/"}, {"page": "/home"}, {"page": "/map/vehicles"}, {"page": "/vehicle-names"}, {"alert": "a-1"}):
        assert ("root", detail) in now and now.count(("root", detail)) - before.count(("root", detail)) <= 2, (detail, now)
    # Not of one's own vehicle, nor of what is not there, nor who sees only their own.
    assert root.get("/alerts/a-own").status == 200 and root.get("/alerts/a-none").status == 404
    for path in paths:
        assert site.people["miller"].get(path).status == 200, path
    assert seen() == now


# MARK: before the deed


@contextmanager
def no_entry(site, action):
    """The log takes none of this kind."""
    with connect(site.env) as connection:
        connection.execute(f"ALTER TABLE drover.audit_entry ADD CONSTRAINT none_of_it CHECK (action <> '{action}') NOT VALID")
        try:
            yield
        finally:
            connection.execute("ALTER TABLE drover.audit_entry DROP CONSTRAINT none_of_it")


def problem(answer):
    return answer.status, json.loads(answer.body)["type"].removeprefix("urn:drover:problem:")


def outcomes(site, action, since):
    return [json.loads(entry["detail"]).get("outcome") for entry in entries(site, "--action", action, "--after", str(since))]


def bookmark(site):
    return int(audit(site, "head").out.partition(":")[0])


@pytest.fixture(scope="module")
def away(site):
    """The same pages, and nobody takes what is said there: who is logged in asks them by `there`."""
    server, _, port = site.server_beside(0, *site.settings, "--set", "kafka.brokers=127.0.0.1:1")
    site.there = lambda account: visiting(port, site.people[account].cookie)
    yield site
    server.stop()


def visiting(port, cookie):
    visitor = Visitor(port)
    visitor.cookie = cookie
    return visitor


SAID = {"acknowledge": ("alert_acknowledged", {"note": ""}), "silence": ("alert_silenced", {"hours": "2"})}


@pytest.mark.parametrize("word", SAID)
def test_what_is_said_of_an_alert_has_its_entry_before_it_goes_out(away, word):
    action, fields = SAID[word]
    before = bookmark(away)
    say = lambda visitor: visitor.post(f"/alerts/a-1/{word}", form=visitor.mark(), id=f"{word}-1", **fields)
    with no_entry(away, action):
        assert problem(say(away.there("miller"))) == (503, "database"), "the broker was not asked"
    assert outcomes(away, action, before) == []
    # The broker is away: that it was said stands there, and that nobody knows of it on the log.
    assert problem(say(away.there("miller"))) == (503, "broker-away")
    assert outcomes(away, action, before) == [None, "unconfirmed"]
    assert say(away.people["miller"]).status == 303 and outcomes(away, action, before) == [None, "unconfirmed", None]
    assert last(away, action)["detail"]["record"] == f"{word}-1", "by which the three are of one deed"


def test_a_mails_link_says_nothing_that_has_no_entry(away):
    link, before = new_link(away), bookmark(away)
    say = lambda visitor: visitor.post("/notices/acknowledge", link=link, note="")
    with no_entry(away, "alert_acknowledged"):
        assert problem(say(away.there("root"))) == (503, "database")
    assert problem(say(away.there("root"))) == (503, "broker-away") and outcomes(away, "alert_acknowledged", before) == [None, "unconfirmed"]
    # Pressed again, it says it again, and then no more.
    assert [say(away.people["root"]).status for _ in range(2)] == [200, 404]
    assert (found := last(away, "alert_acknowledged"))["actor"] == "miller" and found["detail"]["by"] == "link" and "outcome" not in found["detail"]


def new_link(site):
    text, digest = new_token()
    query(site.env, """INSERT INTO drover.notice (notice_id, alert_id, account, occasion, round, vehicle, relation, manner, state, reason, due_at)
           VALUES ('n-' || repeat('0', 32), 'a-1', 'miller', 'opened', 0, 'm-1', 'owner', 'at_once', 'told', '', now())""")
    query(site.env, "INSERT INTO drover.notice_message (message_id, account, channel, manner, link, link_expires_at) "
          "VALUES ('notice-' || repeat('0', 32), 'miller', 'mail', 'at_once', %s, now() + interval '1 day')", digest)
    query(site.env, "INSERT INTO drover.notice_told VALUES ('notice-' || repeat('0', 32), 'n-' || repeat('0', 32))")
    return text


def test_rules_are_in_force_when_their_entry_is_there(site):
    root, before, file = site.people["root"], bookmark(site), site.folder / "thresholds" / "8R Tractor-thresholds.xml"
    address, text = "/thresholds/models/8R%20Tractor/Fuel%20Level", file.read_text()
    save = lambda limit: root.post(address, **{**fields(root.get(address).body, address), "in": "", "test": "below", "threshold": limit, "unit": "gallons", "type": "int", "user": "farmer",
                                               "anyway": "1", "do": "save"})
    with no_entry(site, "rules_edited"):
        assert problem(save("41")) == (503, "database") and file.read_text() == text
    assert outcomes(site, "rules_edited", before) == []
    # Files that cannot be written: told twice, and nothing is changed.
    file.with_name(file.name + ".part").mkdir()
    assert save("42").status == 503 and file.read_text() == text
    shutil.rmtree(file.with_name(file.name + ".part"), ignore_errors=True)
    assert outcomes(site, "rules_edited", before) == [None, "failed"]
    assert save("43").headers["Location"].endswith("said=published") and "<threshold>43</threshold>" in file.read_text()
    found = last(site, "rules_edited")
    assert (found["actor"], found["detail"]["model"], "outcome" in found["detail"]) == ("root", "8R Tractor", False) and "43" in found["detail"]["change 1"]
    assert site.query("SELECT count(*) FROM drover.rule_edit") == [(1,)]
    # And on the log: `drover rules publish` says so of what comes from files, too.
    assert last(site, "rules_published")["detail"]["of"] == "alerts"
    with no_entry(site, "rules_published"):
        assert save("44").headers["Location"].endswith("said=waiting"), "it is not on the log"
    run = site.world.drover.run("rules", "publish", site.folder / "thresholds", env=site.env)
    assert run.code == 0 and "44" in last(site, "rules_published")["detail"]["changes"]


def test_what_a_command_says_has_its_entry_before_it_goes_out(site):
    before = bookmark(site)
    # The broker would not be asked for such a note.
    acknowledge = lambda: site.world.drover.run("alert", "acknowledge", "a-1", "--by", "Jo", "--note", "n" * 3_000, env=site.env)
    with no_entry(site, "alert_acknowledged"):
        assert acknowledge().code == 1
    assert outcomes(site, "alert_acknowledged", before) == []
    assert acknowledge().code == 1 and outcomes(site, "alert_acknowledged", before) == [None, "failed"]
    assert last(site, "alert_acknowledged")["actor"] == "Jo"


def test_a_log_out_that_cannot_be_told_is_none(site):
    visitor = logged_in(site.port, "joe")
    # The same in this minute would be counted.
    query(site.env, "DELETE FROM drover.audit_tally")
    with no_entry(site, "log_out"):
        assert visitor.post("/logout", form=visitor.mark()).status == 503
        assert visitor.get("/account").status == 200


def test_who_moves_a_vehicle_between_fleets_on_its_page_is_told(site):
    query(site.env, "INSERT INTO drover.fleet (fleet, name) VALUES ('hill', 'Hill'); INSERT INTO drover.fleet_member VALUES ('hill', 'miller')")
    before = bookmark(site)
    with psycopg.connect(site.pages) as connection:
        connection.execute("SET LOCAL ROLE drover_page")
        connection.execute("SELECT set_config('drover.account', 'miller', true)")
        assert connection.execute("SELECT drover.change_vehicle('machine', 'm-1', 'm-1', 'move-1', ARRAY['hill'], NULL)").fetchone() == ("taken",)
    found = [(entry["actor"], json.loads(entry["detail"])) for entry in entries(site, "--action", "fleet_changed", "--after", str(before))]
    assert found == [("miller", {"fleet": "north", "taken": "m-1", "kind": "machine"}), ("miller", {"fleet": "hill", "added": "m-1", "kind": "machine"})]
    query(site.env, "INSERT INTO drover.fleet_vehicle VALUES ('north', 'machine', 'm-1')")


# MARK: append only


@pytest.mark.parametrize("login", ["drover_web", "drover_pages"])
def test_services_can_append_and_nothing_else(site, login):
    conninfo = site.web if login == "drover_web" else site.pages
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("SELECT drover.audit_record('log_out', 'joe', NULL, NULL, '{}')")
        for table in ("entry", "head", "name", "tally"):
            for sql in ("SELECT * FROM", "DELETE FROM", "TRUNCATE"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(f"{sql} drover.audit_{table}")
        for sql in ("UPDATE drover.audit_entry SET detail = '{}'", "INSERT INTO drover.audit_head (sequence, hash) VALUES (0, '')",
                    "SELECT drover.audit_append('x', NULL, NULL, NULL, '{}')", "SELECT drover.audit_forget('joe')", "SELECT drover.audit_shorten(now())",
                    "SELECT drover.audit_record('log_shortened', NULL, NULL, NULL, '{}')", "ALTER TABLE drover.audit_entry DISABLE TRIGGER ALL"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(sql)


def test_a_page_speaks_for_its_account_alone(site):
    with psycopg.connect(site.pages) as connection:
        connection.execute("SET LOCAL ROLE drover_page")
        connection.execute("SELECT set_config('drover.account', 'miller', true)")
        connection.execute("SELECT drover.audit_record('alert_silenced', 'root', NULL, NULL, '{}')")
    assert last(site, "alert_silenced")["actor"] == "miller"


def test_many_at_once_make_one_chain(site):
    def some(number):
        with psycopg.connect(site.web, autocommit=True) as connection:
            for count in range(20):
                connection.execute("SELECT drover.audit_record('offsets_reset', %s, NULL, NULL, '{}')", [f"many-{number}-{count % 3}"])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(some, range(8)))
    assert len([entry for entry in entries(site, "--action", "offsets_reset") if (entry["actor"] or "").startswith("many-")]) == 160
    assert fits(site)[0]


def test_a_change_amid_the_traffic_is_named(site, undone):
    """Several write, somebody with all rights changes an entry meanwhile, and it is that entry which does not fit."""
    may_go_on = threading.Event()

    def some(number):
        with psycopg.connect(site.web, autocommit=True) as connection:
            for _ in range(30):
                connection.execute("SELECT drover.audit_record('offsets_reset', %s, NULL, NULL, '{}')", [f"load-{number}"])
                # Each has written one before the change, and writes the others beside it.
                may_go_on.wait(HANG_S)
    began = bookmark(site)
    with ThreadPoolExecutor(6) as pool:
        writers = [pool.submit(some, number) for number in range(6)]
        with connect(site.env) as superuser:
            until(lambda: superuser.execute("SELECT sequence >= %s FROM drover.audit_head", [began + 6]).fetchone() == (True,))
            may_go_on.set()
            changed = began + 3
            assert superuser.execute("UPDATE drover.audit_entry SET detail = '{\"a\": 1}' WHERE sequence = %s", [changed]).rowcount == 1
        # While they write on, too: one state is looked at.
        fit, said = fits(site)
        assert not fit and f"entry {changed} does not fit" in said, said
        for writer in writers:
            writer.result(HANG_S)
    assert bookmark(site) == began + 180
    fit, said = fits(site)
    assert not fit and f"entry {changed} does not fit" in said, said


# MARK: changes that a superuser makes

MIDDLE = "(SELECT sequence FROM drover.audit_entry ORDER BY sequence OFFSET 4 LIMIT 1)"
CHANGES = {
    "changed": [f"UPDATE drover.audit_entry SET detail = '{{\"with\": \"nothing\"}}' WHERE sequence = {MIDDLE}"],
    "of another time": [f"UPDATE drover.audit_entry SET at = at + interval '1 microsecond' WHERE sequence = {MIDDLE}"],
    "by nobody": [f"UPDATE drover.audit_entry SET subject = NULL, actor = NULL WHERE sequence = {MIDDLE}"],
    "changed with its hash": [
        f"UPDATE drover.audit_entry SET action = 'log_in' WHERE sequence = {MIDDLE}",
        f"UPDATE drover.audit_entry e SET hash = sha256((SELECT p.hash FROM drover.audit_entry p WHERE p.sequence = e.sequence - 1) || drover.audit_bytes(e)) "
        f"WHERE e.sequence = {MIDDLE}"],
    "removed": [f"DELETE FROM drover.audit_entry WHERE sequence = {MIDDLE}"],
    "removed at the beginning": ["DELETE FROM drover.audit_entry WHERE sequence = (SELECT min(sequence) FROM drover.audit_entry)"],
    "put in": [
        f"UPDATE drover.audit_entry SET sequence = -sequence WHERE sequence >= {MIDDLE}", "UPDATE drover.audit_entry SET sequence = 1 - sequence WHERE sequence < 0",
        "INSERT INTO drover.audit_entry SELECT e.sequence + 1, e.at, e.action, e.actor, e.subject, e.remote, e.detail, e.hash FROM drover.audit_entry e "
        "WHERE NOT EXISTS (SELECT FROM drover.audit_entry n WHERE n.sequence = e.sequence + 1) ORDER BY e.sequence LIMIT 1"],
    "moved": [
        f"UPDATE drover.audit_entry SET sequence = -sequence WHERE sequence IN ({MIDDLE}, {MIDDLE} + 1)",
        "UPDATE drover.audit_entry SET sequence = (SELECT sum(-o.sequence) FROM drover.audit_entry o WHERE o.sequence < 0) + sequence WHERE sequence < 0"],
    "cut off at the end": ["DELETE FROM drover.audit_entry WHERE sequence = (SELECT max(sequence) FROM drover.audit_entry)"],
    "another name": ["UPDATE drover.audit_name SET said = 'angel' WHERE said = 'miller' AND account = 'miller'"],
    "no name": ["DELETE FROM drover.audit_name WHERE said = 'miller' AND account = 'miller'"],
}


@pytest.fixture
def undone(site):
    """What a test does to the tables is undone: it is there for another process meanwhile."""
    with connect(site.env) as connection:
        for table in ("entry", "head", "name"):
            connection.execute(f"CREATE TABLE public.kept_{table} AS TABLE drover.audit_{table}")
        yield connection
        for table in ("entry", "head", "name"):
            connection.execute(f"DELETE FROM drover.audit_{table}; INSERT INTO drover.audit_{table} SELECT * FROM public.kept_{table}; DROP TABLE public.kept_{table}")


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_by_a_superuser_is_found(site, undone, change):
    fit, said = fits(site)
    assert fit, said
    for sql in CHANGES[change]:
        undone.execute(sql)
    fit, said = fits(site)
    assert not fit and ("entry" in said or "name" in said), said
    if change in ("changed", "removed", "moved", "by nobody"):
        [place] = undone.execute("SELECT sequence FROM public.kept_entry ORDER BY sequence OFFSET 4 LIMIT 1").fetchone()
        assert f"entry {place} " in said, "the first that does not fit"


def test_a_tail_that_is_cut_with_its_head_is_found_by_an_anchor(site, undone):
    head = audit(site, "head").out.strip()
    assert fits(site, "--anchor", head)[0] and fits(site, "--anchor", head.partition(":")[2])[0]
    # The hash is in the log, and not at that number.
    number, _, digest = head.partition(":")
    for other in (int(number) - 1, int(number) + 1, 0):
        fit, said = fits(site, "--anchor", f"{other}:{digest}")
        assert not fit and f"entry {other} is not in the log as it was written down" in said, said
    undone.execute("DELETE FROM drover.audit_entry WHERE sequence > (SELECT max(sequence) - 3 FROM drover.audit_entry)")
    undone.execute("UPDATE drover.audit_head SET (sequence, hash) = (SELECT sequence, hash FROM drover.audit_entry ORDER BY sequence DESC LIMIT 1)")
    assert fits(site)[0], "nothing is left that could tell"
    fit, said = fits(site, "--anchor", head)
    assert not fit and "is not in the log as it was written down" in said
    assert audit(site, "verify", "--anchor", "nonsense").code == 2


def test_others_can_walk_the_chain_by_what_they_collect(site):
    previous = bytes(32)
    for entry in entries(site, "--after", "0"):
        names = [entry[f"{who}_digest"] or "" for who in ("actor", "subject", "remote")]
        told = "\n".join([str(entry["sequence"]), str(entry["at_us"]), entry["action"], *names, entry["detail"]])
        previous = hashlib.sha256(previous + told.encode()).digest()
        assert previous.hex() == entry["hash"], entry
    assert audit(site, "head").out.strip().endswith(previous.hex())


# MARK: who reads


def test_the_page_is_for_administrators_and_filters(site):
    root = site.people["root"]
    assert [site.people[account].get("/audit").status for account in ("miller", "olga")] == [403, 403]
    page = root.get("/audit")
    assert page.status == 200 and "<h1>Audit log</h1>" in page.body
    # People stand in the list to choose from, too.
    found = "".join(re.findall(r"<tr>.*?</tr>", root.get("/audit?account=joe&action=log_in").body, re.S))
    assert "<b>joe</b> logged in with a password." in found and "127.0.0.1" in found and "miller" not in found
    assert "No entries found." in root.get("/audit?since=2031-01-01").body
    for wrong in ("action=bad", "since=yesterday", "before=x"):
        assert root.get("/audit?" + wrong).status == 400
    with connect(site.env) as connection:
        with connection.transaction():
            for number in range(101):
                connection.execute("SELECT drover.audit_record('clock_set_back', %s, NULL, NULL, '{}')", [f"tick-<{number}>"])
    first = root.get("/audit?action=clock_set_back").body
    assert "tick-&lt;100&gt;" in first and "tick-&lt;0&gt;" not in first
    older = re.search(r'href="(/audit\?action=clock_set_back&amp;before=\d+)">Older entries</a>', first).group(1)
    assert "tick-&lt;0&gt;" in root.get(older.replace("&amp;", "&")).body


def test_a_reader_that_is_no_administrator_gets_nothing_from_the_database(site):
    with psycopg.connect(site.pages) as connection:
        for account, count in (("root", 5), ("miller", 0), ("", 0)):
            with connection.transaction():
                connection.execute("SET LOCAL ROLE drover_page")
                connection.execute("SELECT set_config('drover.account', %s, true)", [account])
                assert len(connection.execute("SELECT * FROM drover.audit_shown(NULL, NULL, NULL, NULL, NULL, 5)").fetchall()) == count


def test_others_collect_it_as_it_comes(site):
    head = audit(site, "head").out.partition(":")[0]
    collector = site.world.drover.start("audit", "--follow", "--after", head, "--action", "clock_set_back", env=site.env)
    with connect(site.env) as connection:
        for name in ("early-bird", "late-bird"):
            connection.execute("SELECT drover.audit_record('clock_set_back', %s, NULL, NULL, '{}')", [name])
            collector.wait_for(name)
    collector.stop()
    assert [json.loads(line)["actor"] for line in collector.output().splitlines()] == ["early-bird", "late-bird"]


# MARK: programs


def program(site, account, *scopes):
    """Answers of the API are held against their description."""
    token = give_token(site.env, account, *scopes)
    return lambda query="": ask_program(site, "/v1/audit" + query, token)


def ask_program(site, address, token):
    answer = Visitor(site.port).get(address, Authorization="Bearer " + token)
    description.check("GET", address, answer.status, answer.headers["Content-Type"], answer.body)
    answer.json = json.loads(answer.body)
    answer.problem = problem(answer) if answer.status >= 400 else None
    return answer


def test_a_program_of_an_administrator_collects_all_of_it_page_by_page(site):
    ask = program(site, "root", "audit")
    collected, query = [], "?limit=40&after=0"
    while query:
        answer = ask(query)
        assert answer.status == 200 and len(answer.json["entries"]) <= 40
        collected += answer.json["entries"]
        query = (answer.json["next"] or "").removeprefix("/v1/audit")
    # The lines of the command, but for what reading has added.
    lines = entries(site, "--after", "0")
    assert len(collected) >= len(lines) - 2 > 10 and collected == lines[:len(collected)]
    assert ask(f"?after={collected[-1]['sequence'] + 10}").json == {"entries": [], "next": None}
    # That it was read is told, once an hour.
    told = [entry for entry in entries(site, "--action", "data_seen", "--account", "root") if json.loads(entry["detail"]) == {"page": "/v1/audit"}]
    assert 1 <= len(told) <= 2


def test_a_program_has_the_filters_of_the_page(site):
    ask = program(site, "root", "audit")
    found = ask("?account=joe&action=log_in").json["entries"]
    assert found and {entry["actor"] for entry in found} == {"joe"} and {entry["action"] for entry in found} == {"log_in"}
    assert ask("?since=2031-01-01").json["entries"] == [] and ask("?until=2020-01-01").json["entries"] == []
    for wrong in ("action=bad", "since=yesterday", "after=x", "after=-1", "limit=0", "account=" + "n" * 65, "account=%01"):
        assert ask("?" + wrong).status == 400, wrong


def test_no_other_program_reads_it(site):
    for account, scopes, said in (("root", ["read"], (403, "scope-missing")), ("olga", ["audit"], (403, "role-missing")), ("miller", ["audit", "read"], (403, "role-missing")),
                                  ("anybody", ["audit"], (403, "role-missing"))):
        assert program(site, account, *scopes)().problem == said, account
    # Who is none any more, from the next request on.
    site.with_account("late", "late@example.org", PASSWORD, "administrator")
    ask = program(site, "late", "audit")
    assert ask().status == 200
    site.query("UPDATE drover.account SET roles = '{operator}' WHERE account = 'late' RETURNING 1")
    assert ask().problem == (403, "role-missing")
    with psycopg.connect(site.web) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("SELECT * FROM drover.audit_listed(NULL, NULL, NULL, NULL, NULL, 5)")


# MARK: what goes


def test_erasing_somebody_takes_the_name_and_leaves_the_chain(site):
    before = entries(site, "--account", "gone")
    assert before
    assert site.run("erase", "gone").code == 0
    with connect(site.env) as connection:
        for table in ("entry", "name", "tally"):
            assert "gone" not in [word for row in connection.execute(f"SELECT t::text FROM drover.audit_{table} t").fetchall() for word in re.findall(r"\w+", row[0])], table
    assert entries(site, "--account", "gone") == []
    after = {entry["sequence"]: entry for entry in entries(site)}
    for entry in before:
        # The same somebody in all of them, and nobody knows who.
        assert after[entry["sequence"]]["hash"] == entry["hash"] and "gone" not in (after[entry["sequence"]]["actor"], after[entry["sequence"]]["subject"])
    assert last(site, "account_erased")["subject"] is None
    fit, said = fits(site)
    assert fit, said


def test_a_name_as_long_as_names_may_be_is_forgotten_too(site):
    name = "n" * 64
    site.with_account(name, "long@example.org", PASSWORD, "driver")
    assert entries(site, "--account", name)
    assert site.run("erase", name).code == 0
    assert query(site.env, "SELECT count(*) FROM drover.audit_name WHERE said LIKE 'nnnn%'") == [(0,)]
    assert fits(site)[0]


def test_erasing_somebody_who_logs_in_at_that_moment_waits_for_it(site):
    site.with_account("busy", "busy@example.org", PASSWORD, "driver")
    entry = "'log_in', interval '1 minute', 60, 'busy', NULL, '127.0.0.1', '{\"with\": \"password\"}'"
    with psycopg.connect(site.env["DROVER_POSTGRES_URL"]) as visitor, psycopg.connect(site.env["DROVER_POSTGRES_URL"]) as eraser, ThreadPoolExecutor(1) as pool:
        # Something that is over, so that the next entry closes it.
        visitor.execute("INSERT INTO drover.audit_tally VALUES ('log_out', now() - interval '5 min', now() - interval '4 min', 'k', false, 'x', NULL, NULL, '{}', 2)")
        visitor.execute(f"SELECT drover.audit_count({entry})")
        visitor.commit()
        # As `audit_record` does it, stopped in between.
        visitor.execute(f"SELECT drover.audit_count({entry})")
        erased = pool.submit(lambda: eraser.execute("SELECT drover.erase_account('busy')").fetchone())
        with connect(site.env) as look:
            until(lambda: look.execute("SELECT wait_event_type FROM pg_stat_activity WHERE pid = %s", [eraser.info.backend_pid]).fetchone() == ("Lock",))
        visitor.execute("SELECT drover.audit_close()")
        visitor.commit()
        assert erased.result(HANG_S) == (True,)
        eraser.commit()
    assert entries(site, "--account", "busy") == []
    assert query(site.env, "SELECT count(*) FROM drover.audit_tally WHERE actor = 'busy'") == [(0,)]
    assert fits(site)[0]


def test_names_that_no_entry_has_any_more_go_in_no_time(site):
    """Whoever logs in waits for it."""
    with psycopg.connect(site.env["DROVER_POSTGRES_URL"]) as connection:
        connection.execute("INSERT INTO drover.audit_name SELECT sha256(convert_to('n' || i, 'UTF8')), '', 'n' || i, sha256('s') FROM generate_series(1, 20000) AS i")
        connection.execute("INSERT INTO drover.audit_entry SELECT -i, now() - i * interval '1 second', 'log_in', sha256(convert_to('n' || i % 2000, 'UTF8')), NULL, NULL, '{}', "
                           "sha256('h') FROM generate_series(1, 100000) AS i")
        connection.execute(f"SET statement_timeout = '{HANG_S}s'")
        [gone] = connection.execute("SELECT drover.audit_shorten(now() - interval '50000 seconds')").fetchone()
        assert 49_000 < gone <= 50_001
        assert connection.execute("SELECT count(*) FROM drover.audit_name WHERE said ~ '^n[0-9]'").fetchone() == (1_999,)
        connection.rollback()


def test_what_is_old_goes_and_the_chain_goes_on(site, undone):
    head = audit(site, "head").out.strip()
    first = entries(site)[0]["sequence"]
    [day] = undone.execute("SELECT to_char(now() + interval '4 days', 'YYYY-MM-DD')").fetchone()
    run = site.world.drover.done("retention", "--set", "retention.audit_days=1", "--format", "json", env={**site.env, **faked_clock(f"{day} 12:00:00")})
    gone = {row["table"]: row["rows_gone"] for row in json.loads(run.out)}["audit_entry"]
    left = entries(site)
    assert gone == int(head.partition(":")[0]) - first and left[0]["sequence"] == first + gone and left[-1]["action"] == "log_shortened"
    fit, said = fits(site, "--anchor", head)
    assert fit, said
    # What a superuser takes from the beginning, no entry tells of.
    undone.execute("DELETE FROM drover.audit_entry WHERE sequence = (SELECT min(sequence) FROM drover.audit_entry)")
    assert not fits(site)[0]


# MARK: the list of actions


def test_each_action_is_told_and_made_somewhere():
    actions = dict(re.findall(r'case (\w+) = "(\w+)"', (ROOT / "Sources/Stream/Storage/Audit/AuditAction.swift").read_text()))
    sources = "".join(path.read_text() for folder in ("People", "Tools") for path in (ROOT / "Sources" / folder).rglob("*.swift"))
    tables = "".join(migrations.texts())
    told = (ROOT / "docs/audit.md").read_text()
    assert len(actions) > 25
    # The table has all of them and no other.
    listed = {name for cell in re.findall(r"^\| (`[^|]+) \|", told, re.M) for name in re.findall(r"`(\w+)`", cell)}
    assert listed == set(actions.values())
    assert [name for case, name in actions.items() if not re.search(rf"\.{case}[,)\s]", sources) and f"'{name}'" not in tables] == []
