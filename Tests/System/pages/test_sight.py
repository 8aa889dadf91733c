"""Who sees what: the pages as people of each role, and the same straight in psql as the database's roles."""
import json
import re
import subprocess
import urllib.error
import urllib.request
from datetime import datetime, timedelta, timezone

import psycopg
import pytest
from harness import HANG_S
from world import as_page, as_served, connect, query

DAY = datetime(2026, 9, 14, tzinfo=timezone.utc)
CARS, MACHINES = ["car-1", "car-2", "car-3"], ["mtg-1", "mtg-2", "mtg-3"]
# Who sees how many trips of which cars, and alerts of which machines.
ALL = {"car-1": 3, "car-2": 3, "car-3": 3, "mtg-1": 3, "mtg-2": 3, "mtg-3": 3}
SEEN = {
    "root": ALL, "watch": ALL, "maker": {"mtg-1": 3, "mtg-2": 3, "mtg-3": 3},
    "miller": {"car-1": 3, "mtg-1": 1},
    # Of the fleet that theirs is part of, they see theirs; of their fleet's parts all.
    "boss": {"car-1": 3, "car-2": 3, "mtg-1": 1, "mtg-2": 1}, "anna": {"car-1": 3, "car-2": 3, "mtg-1": 1, "mtg-2": 1},
    # What was before the owner confirmed stays hidden, unless shared.
    "deal": {"mtg-1": 2, "mtg-3": 2},
    # The car had another owner until ten; and one drove a car once.
    "joe": {"car-3": 2}, "ada": {"car-2": 1}, "sue": {}, "nobody": {},
    # Has said that he drove them all.
    "spy": {},
}
ROLES = {"root": ["administrator"], "watch": ["operator"], "maker": ["developer"], "miller": ["farmer"], "boss": ["fleet_manager"], "anna": ["analyst"],
         "deal": ["dealer"], "joe": ["driver"], "ada": ["driver"], "sue": ["surveyor", "researcher", "ranger"], "nobody": [], "spy": ["driver"]}


@pytest.fixture(scope="module")
def filled(world):
    """Three cars with a trip an hour of one day, three machines with an alert for each audience; fleets, a dealer, an owner, a driver."""
    env = world.database()
    with connect(env) as connection:
        columns = [row[0] for row in connection.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'drover.trip'::regclass AND attnum > 0 AND attnotnull AND NOT attisdropped AND NOT atthasdef").fetchall()]
        values = {"vehicle": "%(car)s", "start_at": "%(at)s", "end_at": "%(at)s + interval '20 minutes'", "is_open": "false"}
        for car in CARS:
            connection.execute("INSERT INTO drover.vehicle VALUES ('car', %s, NULL, 0, %s)", [car, DAY])
            for hour in (8, 12, 16):
                connection.execute(f"INSERT INTO drover.trip ({', '.join(columns)}) VALUES ({', '.join(values.get(name, '0') for name in columns)})",
                                   {"car": car, "at": DAY + timedelta(hours=hour)})
        for machine in MACHINES:
            connection.execute("INSERT INTO drover.vehicle VALUES ('machine', %s, '8R', 0, %s)", [machine, DAY])
            for audience in ("farmer", "dealer", "developer"):
                connection.execute(
                    """INSERT INTO drover.alert (alert_id, vehicle, model, parameter, unit, severity, state, test, threshold, since_at, opened_at, first_opened_at,
                           worst_at, audience, rules_version) VALUES (%s, %s, '8R', 'Coolant Temperature', 'C', 'warning', 'open', 'above', '1', %s, %s, %s, %s, %s, 'v')""",
                    [f"{machine}-{audience}", machine, DAY, DAY, DAY, DAY, audience])
        for account, roles in ROLES.items():
            connection.execute("INSERT INTO drover.account (account, mail, roles, confirmed_at) VALUES (%s, %s, %s, now())", [account, f"{account}@example.org", roles])
        connection.execute("INSERT INTO drover.fleet (fleet, name) VALUES ('all', 'All')")
        connection.execute("INSERT INTO drover.fleet (fleet, name, part_of) VALUES ('north', 'North', 'all')")
        for fleet, kind, vehicle in [("north", "car", "car-1"), ("all", "car", "car-2"), ("north", "machine", "mtg-1"), ("all", "machine", "mtg-2")]:
            connection.execute("INSERT INTO drover.fleet_vehicle VALUES (%s, %s, %s)", [fleet, kind, vehicle])
        # A member who has no role for it sees nothing of the fleet.
        for fleet, account in [("north", "miller"), ("all", "boss"), ("all", "anna"), ("all", "nobody"), ("all", "sue"), ("north", "joe")]:
            connection.execute("INSERT INTO drover.fleet_member VALUES (%s, %s)", [fleet, account])
        for machine, at, shared, ended in [("mtg-1", DAY - timedelta(days=1), False, None), ("mtg-2", DAY + timedelta(days=1), False, None),
                                           ("mtg-3", DAY + timedelta(days=1), True, None)]:
            connection.execute("INSERT INTO drover.dealership (vehicle, dealer, confirmed_at, confirmed_by, shares_past) VALUES (%s, 'deal', %s, 'x', %s)",
                               [machine, at, shared])
        # Joe bought the car at ten from somebody else; Ada drove at noon, in another one that was hers for an hour.
        connection.execute("INSERT INTO drover.assignment VALUES ('car-2', %s, 'ada', 'e', 'x'), ('car-2', %s, NULL, 'f', 'x')",
                           [DAY + timedelta(hours=12), DAY + timedelta(hours=13)])
        for car in CARS:
            connection.execute("INSERT INTO drover.driving VALUES (%s, %s, %s, 'spy', 's')", [car, DAY - timedelta(days=1), DAY])
        connection.execute("INSERT INTO drover.car_owner VALUES ('car-3', %s, 'old', 'a'), ('car-3', %s, 'joe', 'b')", [DAY, DAY + timedelta(hours=10)])
        connection.execute("INSERT INTO drover.driving VALUES ('car-2', %s, %s, 'ada', 'd')", [DAY + timedelta(hours=12), DAY + timedelta(hours=12, minutes=20)])
    return env


def login(env, account, drover):
    password, user = re.fullmatch(r"PGPASSWORD=(\w+) psql '.* user=([^ ]+)'\n", drover.done("account", "psql", account, env=env).out).groups()
    return re.sub(r"user='?\w+'?", f"user='{user}' password='{password}'", env["DROVER_POSTGRES_URL"])


def seen(connection):
    """Trips by car and alerts by machine, and the same by the views that pages and analysts use."""
    def count(table):
        return dict(connection.execute(f"SELECT vehicle, count(*) FROM drover.{table} GROUP BY vehicle").fetchall())
    trips, alerts = count("trip"), count("alert")
    assert count("trip_now") == trips and count("alert_now") == alerts
    # Names of what they see something of, and of nothing else.
    assert set(count("vehicle")) >= set(trips) | set(alerts)
    return trips | alerts


@pytest.mark.parametrize("account", SEEN)
def test_a_person_sees_the_same_in_pages_and_in_psql(filled, drover, account):
    with as_page(filled, account) as connection:
        assert seen(connection) == SEEN[account]
    with psycopg.connect(login(filled, account, drover)) as connection:
        assert seen(connection) == SEEN[account]
        # Saying that one is somebody else changes nothing.
        connection.execute("SELECT set_config('drover.account', 'root', false)")
        assert seen(connection) == SEEN[account]


def test_what_a_persons_login_may_not_do(filled, drover):
    tables = [row[0] for row in query(filled, "SELECT relname FROM pg_class WHERE relnamespace = 'drover'::regnamespace AND relkind IN ('r', 'p', 'v')")]
    functions = query(filled, """SELECT p.oid::regprocedure::text FROM pg_proc p WHERE p.pronamespace = 'drover'::regnamespace AND prorettype <> 'trigger'::regtype
             AND has_function_privilege('drover_sight', p.oid, 'EXECUTE') AND p.prosecdef""")
    with psycopg.connect(login(filled, "anna", drover), autocommit=True) as connection:
        open_tables = set()
        for table in tables:
            try:
                connection.execute(f"SELECT count(*) FROM drover.{table}")
                open_tables.add(table)
            except psycopg.errors.InsufficientPrivilege:
                pass
        # What a person may read is held to a rule, or is no person's: the rules in force.
        guarded = {"vehicle", "registration", "vehicle_minute", "trip", "trip_start", "trip_weather", "vehicle_day", "machine_reading", "alert", "service",
                   "acknowledgement", "alert_triage", "dealer_mark", "silence", "poll_request", "health_scan", "trip_summary", "live_trip", "account_settings",
                   "debug_log", "rule_edit", "notice", "notice_told", "notice_message", "campus", "rider", "ride", "ride_vehicle", "dispatch_decision"}
        assert open_tables - guarded == {"rule_set", "rule_set_seen", "trip_rules", "alert_now", "trip_now", "live_trip_now"}
        for guard in guarded:
            [[enabled]] = connection.execute("SELECT relrowsecurity FROM pg_class WHERE oid = %s::regclass", [f"drover.{guard}"]).fetchall()
            assert enabled, guard
        for private in ("host FROM drover.registration", "rules FROM drover.rule_set"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT {private}")
        # Sets of rules name machines of everybody; here stand those of machines that she sees.
        with connect(filled) as owner:
            owner.execute("INSERT INTO drover.rule_set VALUES (0, '2026-01-01T00:00:00Z', 'v', %s, -1)",
                          ["drover-rules 2\nmodel\t8R\nrule\tr-8R" + "".join(f"\nmachine\t{machine}\nrule\tr-{machine}" for machine in MACHINES)])
        assert connection.execute("SELECT rules FROM drover.rule_set_seen").fetchone() == (
            "drover-rules 2\nmodel\t8R\nrule\tr-8R\nmachine\tmtg-1\nrule\tr-mtg-1\nmachine\tmtg-2\nrule\tr-mtg-2",)
        for words in ["SET ROLE drover_page", "SET ROLE drover_reader", "SET SESSION AUTHORIZATION drover_worker",
                      "SELECT * FROM drover.account", "SELECT * FROM drover.account_of_session('')", "SELECT * FROM drover.trip_context('car-3', now(), now())",
                      "DELETE FROM drover.trip", "CREATE TABLE drover.mine (a int)"]:
            connection.execute("SET default_transaction_read_only = off")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(words)
        # A function in a question never gets to see rows that the rule keeps back.
        connection.execute("CREATE FUNCTION pg_temp.tell(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE 'told %', t; RETURN true; END $$")
        told = []
        connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
        for table in ("trip", "trip_now", "alert", "alert_now", "vehicle_minute", "live_trip_now"):
            connection.execute(f"SELECT count(*) FROM drover.{table} WHERE pg_temp.tell(vehicle)")
        assert {line.split()[1] for line in told} == {"car-1", "car-2", "mtg-1", "mtg-2"}
    # What runs with more rights than the caller's is this short list.
    assert sorted(name.split("(")[0].removeprefix("drover.") for name, in functions) == [
        "bound_people", "dispatched_campuses", "driven", "driven_vehicles", "drove", "fleets_seen", "known", "reads_fleets", "seen", "seen_audiences", "seen_partly", "sees_at", "sight_account", "sight_roles"]


def test_the_line_for_psql_can_be_pasted(filled, drover):
    line = drover.run("account", "psql", "miller", env=filled).out
    run = subprocess.run(f"{line.strip()} -XAtc 'SELECT current_user'", shell=True, capture_output=True, text=True, timeout=HANG_S)
    assert (run.returncode, run.stdout) == (0, "drover_account_miller\n"), run.stderr


def test_a_login_ends_with_its_account_and_the_words_for_it(filled, drover):
    address = login(filled, "miller", drover)
    with psycopg.connect(address, autocommit=True) as connection:
        assert seen(connection) == SEEN["miller"]
        with connect(filled) as owner:
            owner.execute("UPDATE drover.account SET disabled_at = now() WHERE account = 'miller'")
            try:
                assert seen(connection) == {}
            finally:
                owner.execute("UPDATE drover.account SET disabled_at = NULL WHERE account = 'miller'")
        drover.done("account", "no-psql", "miller", env=filled)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT FROM drover.trip")
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(address)
    assert drover.run("account", "no-psql", "miller", env=filled).err == "drover account: miller: it has no login of the database\n"
    assert drover.run("account", "psql", "who", env=filled).err == "drover account: who: there is no such account, or it is disabled\n"


def test_long_names_have_logins_of_their_own(filled, drover):
    names = ["a" * 63 + end for end in "xy"]
    with connect(filled) as owner:
        for name, role in zip(names, ("operator", "driver")):
            owner.execute("INSERT INTO drover.account (account, mail, roles, confirmed_at) VALUES (%s, %s, %s, now())", [name, f"{name[-9:]}@example.org", [role]])
    logins = [login(filled, name, drover) for name in names]
    for address, expected in zip(logins, (ALL, {})):
        with psycopg.connect(address) as connection:
            assert seen(connection) == expected


def test_fleets_are_kept_by_words(filled, drover):
    def fleet(*words, code=0):
        run = drover.run("fleet", *words, env=filled)
        assert run.code == code, run.err
        return run.err.strip() or run.out
    assert fleet("put", "south", "--name", "South <farm>", "--part-of", "all").startswith("fleet south: South <farm>, part of all")
    assert "nested once" in fleet("put", "deep", "--part-of", "north", code=1)
    assert "nested once" in fleet("put", "all", "--part-of", "south", code=1)
    assert "there is no fleet nothing" in fleet("put", "deep", "--part-of", "nothing", code=1)
    fleet("add", "south", "mtg-3", "mtg-9")
    fleet("join", "south", "miller")
    with as_page(filled, "miller") as connection:
        assert seen(connection) == SEEN["miller"] | {"mtg-3": 1}
    assert "no account stranger" in fleet("join", "south", "stranger", code=1)
    assert "nothing was changed" in fleet("take", "south", "mtg-3", "mtg-8", code=1)
    listed = {row["fleet"]: row for row in json.loads(fleet("list", "--format", "json"))}
    assert listed["south"]["vehicles"] == "mtg-3 (machine), mtg-9 (machine)" and listed["south"]["members"] == "miller"
    fleet("leave", "south", "miller")
    fleet("remove", "south")
    assert "no such fleet" in fleet("remove", "all", code=1)
    with as_page(filled, "miller") as connection:
        assert seen(connection) == SEEN["miller"]


def test_a_program_of_somebody_reads_what_they_see(world, filled):
    server = world.drover.start("serve", "--port", "0", env=as_served(filled))
    address = server.wait_for(r"at (http://127\.0\.0\.1:\d+/)").group(1)
    def token(account):
        return json.loads(world.drover.done("token", "add", "--account", account, "--scope", "read", "--role", "developer", "--format", "json", env=filled).out)["token"]
    def machines(key):
        request = urllib.request.Request(address + "v1/machines?limit=1000", headers={"Authorization": "Bearer " + key})
        with urllib.request.urlopen(request, timeout=HANG_S) as answer:
            return {machine["vehicle"]: machine["open_alerts"] for machine in json.load(answer)["machines"]}
    for account, alerts in [("miller", {"mtg-1": 1}), ("deal", {"mtg-1": 2, "mtg-3": 2}), ("maker", {name: 3 for name in MACHINES}), ("sue", {}),
                            ("watch", {name: 3 for name in MACHINES})]:
        # A dealer knows the name of a machine whose alerts of before he does not see.
        assert {name: count for name, count in machines(token(account)).items() if count} == alerts, account
    key = token("miller")
    query(filled, "UPDATE drover.account SET disabled_at = now() WHERE account = 'miller'")
    try:
        with pytest.raises(urllib.error.HTTPError) as refused:
            machines(key)
        assert refused.value.code == 401 and "revoked" in refused.value.read().decode()
    finally:
        query(filled, "UPDATE drover.account SET disabled_at = NULL WHERE account = 'miller'")
    server.stop()
