"""Who may do alone what one may do at a time: nobody who has a login of the database and no rights holds up others by it."""
import re
import threading

import psycopg
import pytest
from harness import ROOT, free_port, until
from people import PASSWORD, Visitor
from test_accounts import Site
from test_health import Probed
from world import connect, query, url_of

# As the programs and functions of before took them: what an analyst, or a farmer with psql, could hold.
NAMES = ["account", "account_try", "code_request", "fleet", "notice", "partition_progress", "period", "sighting_year", "taxonomy", "thresholds"]
NUMBERS = {"relay": 0x6472656C6179, "migrate": 0x64726F766572, "rules": 0x72756C6573, "trips": 0x7472697073}


@pytest.fixture(scope="module")
def site(world, tmp_path_factory):
    site = Site(world, world.database(), None, tmp_path_factory.mktemp("turns"), has_mail=False)
    site.with_account("miller", "miller@example.org", PASSWORD, "farmer")
    query(site.env, "CREATE ROLE snoop LOGIN IN ROLE drover_reader")
    yield site
    site.close()


@pytest.fixture
def snoop(site):
    """Somebody who may read, with a session that stays."""
    with psycopg.connect(url_of(site.env, "snoop"), autocommit=True) as session:
        yield session


@pytest.fixture
def advisory(snoop):
    """Every advisory lock that was ever ours is the snoop's."""
    for name in NAMES:
        snoop.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [f"drover.{name}"])
    for number in NUMBERS.values():
        snoop.execute("SELECT pg_advisory_lock(%s)", [number])


def notify(site):
    port = free_port()
    running = site.world.drover.start("notify", "--set", f"metrics.port={port}", env=site.env)
    return Probed(running, port)


class Asked:
    """A question on a thread of its own: what hangs is seen to hang."""

    def __init__(self, ask):
        self.answer = None
        self.thread = threading.Thread(target=self.run, args=(ask,), daemon=True)
        self.thread.start()

    def run(self, ask):
        self.answer = ask()


def waits_for(session, site):
    return site.query("SELECT pid FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))", session.info.backend_pid)


# Databases of one template have tables of one number.
HOLDER = """SELECT pid FROM pg_locks WHERE relation = 'drover.relay_turn'::regclass AND granted AND mode = 'ShareRowExclusiveLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""


def test_who_may_only_read_holds_up_no_log_in(site, snoop, advisory):
    asked = Asked(lambda: Visitor(site.port).log_in().status)
    until(lambda: asked.answer or waits_for(snoop, site), site.server, about="the answer, or the wait for the snoop")
    assert asked.answer == 303


def test_who_may_only_read_holds_up_no_migration_and_no_publication(site, snoop, advisory):
    for words in (["migrate"], ["rules", "publish"], ["rules", "trips", "--publish"]):
        asked = Asked(lambda: site.world.drover.run(*words, env=site.env).code)
        until(lambda: asked.answer is not None or waits_for(snoop, site), about=f"the end of {words}")
        assert asked.answer == 0, words


def test_who_may_only_read_does_not_have_the_relays_turn(site, advisory):
    relay = notify(site)
    assert relay.running.wait_for("relay active|another relay is active").group(0) == "relay active"
    assert relay.until("/readyz", 200)["turn"]["why"] == "active"
    relay.running.stop()


def test_a_relay_without_its_turn_is_not_ready(site):
    """Only behind a relay it is: there it takes over."""
    with connect(site.env) as thief:
        thief.autocommit = False
        thief.execute("LOCK TABLE drover.relay_turn IN SHARE ROW EXCLUSIVE MODE")
        relay = notify(site)
        until(lambda: "relays nothing" in relay.ill().get("turn", ""), relay.running)
        thief.rollback()
    assert relay.until("/readyz", 200)["turn"]["why"] == "active"
    second = notify(site)
    assert "another relay" in second.until("/readyz", 200)["turn"]["why"]
    # Whose session with the turn was ended has to ask for it again.
    query(site.env, f"SELECT pg_terminate_backend(pid) FROM ({HOLDER}) AS holder")
    until(lambda: {each.until("/readyz", 200)["turn"]["why"] for each in (relay, second)} >= {"active"}, relay.running, second.running)
    for each in (relay, second):
        each.running.stop()


def test_the_relays_turn_holds_back_no_vacuum(site):
    relay = notify(site)
    relay.until("/readyz", 200)
    [(xid, xmin)] = site.query(f"SELECT backend_xid, backend_xmin FROM pg_stat_activity WHERE pid = ({HOLDER})")
    assert (xid, xmin) == (None, None)
    relay.running.stop()


def test_a_lock_that_somebody_holds_ends_a_request_and_no_server(site):
    """Not even the owner's own: who waits is told so, and the thread goes on."""
    # More than there are threads.
    people = [f"m{n}@example.org" for n in range(30)]
    for mail in people:
        site.with_account(mail.partition("@")[0], mail, PASSWORD, "farmer")
    with connect(site.env) as holder:
        holder.autocommit = False
        holder.execute("SELECT FROM drover.account FOR UPDATE")
        asked = [Asked(lambda mail=mail: Visitor(site.port).log_in(mail).status) for mail in people]
        until(lambda: all(each.answer for each in asked), site.server, about="an answer to each")
        assert {each.answer for each in asked} == {503}
        assert Visitor(site.port).get("/login").status == 200
        holder.rollback()
    assert Visitor(site.port).log_in().status == 303


@pytest.mark.parametrize("role", ["drover_reader", "drover_sight", "drover_gateway", "drover_survey"])
def test_nobody_without_rights_takes_a_turn(site, role):
    with connect(site.env) as connection:
        connection.execute(f"SET ROLE {role}")
        for taking in ("SELECT drover.take_turns(ARRAY['drover.account_try'])", "SELECT drover.take_turn('drover.account_try')", "SELECT drover.share_turn('drover.taxonomy')",
                       "SELECT drover.try_turn('drover.notice')", "SELECT FROM drover.turn FOR SHARE", "LOCK TABLE drover.turn IN ACCESS SHARE MODE",
                       "LOCK TABLE drover.relay_turn IN ACCESS SHARE MODE", "LOCK TABLE drover.migration IN ROW EXCLUSIVE MODE"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute(taking)


def test_turns_are_of_those_that_there_are_and_taken_in_one_order(site):
    with connect(site.env) as connection:
        for name in ("drover.none", "drover.account_try x", ""):
            with pytest.raises(psycopg.errors.RaiseException):
                connection.execute("SELECT drover.take_turns(%s)", [[name]])
        connection.execute("SELECT drover.take_turns(%s)", [[f"drover.alert_event a-{n}" for n in range(1_000)]])


def test_nothing_of_ours_takes_an_advisory_lock(site):
    assert site.query("SELECT proname FROM pg_proc WHERE pronamespace = 'drover'::regnamespace AND prosrc LIKE '%%pg\\_%%advisory%%'") == []
    sources = [path for path in (ROOT / "Sources").rglob("*.swift") if re.search(r"pg_\w*advisory", path.read_text())]
    queries = [path for path in (ROOT / "Queries").rglob("*.sql") if re.search(r"pg_\w*advisory", path.read_text())]
    assert (sources, queries) == ([], [])
