"""What looks right and is not: a vehicle that nothing judges says so and why, everywhere, and never that no alert is open; who drives a car
is said by a command and on its page."""
import json
import re

import psycopg
import pytest
from harness import ROOT
from people import Visitor
from test_strangers import Two
from world import connect, query

HOUR = 3_600_000
LONE, TOY, UNKNOWN = "lone-golf", "toy-tractor", "nameless"


@pytest.fixture(scope="module")
def two(world, tmp_path_factory):
    two = Two(world, tmp_path_factory.mktemp("not-monitored"))
    # It boils, and is nobody's; a model without thresholds boils, too; one that has not said its model.
    two.push("cars", [two.reading(LONE, two.now - 60_000 + s * 1000, coolant_c=108) for s in range(60)])
    two.push("machines", [two.record("registration", UNKNOWN, two.now - HOUR), {**two.machine_reading(TOY, two.now - HOUR), "model": "Toy"}])
    query(two.env, "INSERT INTO drover.fleet_vehicle VALUES ('north', 'car', %s), ('north', 'machine', %s), ('north', 'machine', %s)", LONE, TOY, UNKNOWN)
    yield two
    two.close()


def page(two, account, path):
    answer = two.entered(account).get(path)
    assert answer.status == 200, answer.body
    return answer.body


def why(two, vehicle, kind="car"):
    return two.query("SELECT drover.not_monitored(%s, %s)", kind, vehicle)[0][0]


def test_a_car_of_nobody_says_that_it_is_not_monitored(two):
    """Its page said "No alert is open" at 108 degrees."""
    shown = page(two, "nick", f"/vehicles/{LONE}?kind=car")
    assert re.search("<h2>Not monitored</h2>.*Nobody drives or owns it", shown) and "No alert is open" not in shown
    # And the way out, for who may take it.
    assert f'href="/vehicles/{LONE}?kind=car&amp;tab=details#driver">Assign a driver</a>' in shown
    shown = page(two, "nick", "/")
    assert f"<b class=\"ell\">{LONE}</b><small class=\"ell\">Not monitored: nobody drives or owns it</small>" in shown and "No alert is open" not in shown
    assert "Nothing needs you now." not in shown
    for path in ("/alerts", "/fleet"):
        shown = page(two, "nick", path)
        assert "Not monitored:" in shown and f">{LONE}</a> (nobody drives or owns it)" in shown and "No alert is open." not in shown, path
    assert f'<b class="ell">{LONE}</b><small class="ell">Not monitored: nobody drives or owns it</small>' in page(two, "nick", "/map")
    assert re.search("Not monitored</span> <span[^>]*>nobody drives or owns it", page(two, "nick", "/vehicles"))


def test_a_machine_without_thresholds_says_that_it_is_not_monitored(two):
    shown = page(two, "nick", f"/vehicles/{TOY}?kind=machine")
    assert re.search("<h2>Not monitored</h2>.*Neither its model", shown) and "No alert is open" not in shown
    shown = page(two, "nick", f"/field/{TOY}")
    assert "Not monitored: it has no thresholds" in shown and "Nothing is open" not in shown
    assert re.search("<h2>Nothing heard yet</h2>.*Nothing judges it yet. Its model is not known", page(two, "nick", f"/vehicles/{UNKNOWN}?kind=machine"))


def test_programs_are_told_as_well(two):
    read = lambda path: json.loads(Visitor(two.site.port).ask("GET", path, None, Authorization=f"Bearer {two.tokens['nick']}").body)
    machines = {machine["vehicle"]: machine for machine in read("/v1/machines")["machines"]}
    assert (machines[TOY]["monitored"], machines[TOY]["not_monitored"]) == (False, "no_rules") and "thresholds" in machines[TOY]["why"]
    one, field = read(f"/v1/machines/{TOY}"), read(f"/v1/field-view/{TOY}")
    assert (one["monitored"], field["monitored"], field["state"]) == (False, False, "none")


def test_a_report_names_what_nothing_judges(two):
    run = two.world.drover.run("report", "fleet-day", "--date", two.at(two.now - HOUR)[:10], "--format", "json", env=two.env)
    found = {item["vehicle"]: item["not_monitored"] for item in json.loads(run.out)["not_monitored"]}
    assert (found[LONE], found[TOY]) == ("nobody", "no_rules")
    run = two.world.drover.run("report", "alerts", "--date", two.at(two.now - HOUR)[:10], "--format", "html", env=two.env)
    assert f"{LONE} is not monitored now." in run.out, run.err


def test_it_is_monitored_by_whoever_drives_or_owns_it(two):
    car = two.new_car()
    two.push("cars", [two.reading(car, two.now - HOUR)])
    assert why(two, car) == "nobody"
    two.push("cars", [two.record("assignment", car, two.now - HOUR, driver="nora")])
    assert why(two, car) is None
    two.push("cars", [two.record("assignment", car, two.now - HOUR + 1, driver=None)])
    assert why(two, car) == "nobody"
    two.push("cars", [two.record("registration", car, two.now - HOUR, account="nora")])
    assert why(two, car) is None


def test_a_car_that_somebodys_phone_uploads_for_is_judged_by_their_limits(two):
    car = two.new_car()
    two.push("cars", [two.reading(car, two.now - HOUR + s * 1000) for s in range(60)])
    [[last]] = two.query("SELECT end_at FROM drover.trip WHERE vehicle = %s", car)
    query(two.env, "INSERT INTO drover.driving (vehicle, from_at, until_at, account, record_id) VALUES (%s, %s - interval '1 minute', %s, 'nora', 'd')", car, last, last)
    assert why(two, car) is None


def test_what_nothing_judges_opens_no_alert_and_what_is_judged_may(two):
    """The reason is the database's; what judges is the workers'. They agree on every vehicle that is here."""
    open_of = dict(two.query("SELECT vehicle, count(*) FROM drover.alert WHERE state = 'open' GROUP BY vehicle"))
    for kind, vehicle, reason in two.query("SELECT kind, vehicle, drover.not_monitored(kind, vehicle) FROM drover.vehicle"):
        assert reason is None or vehicle not in open_of, (kind, vehicle, reason)


def test_of_a_list_it_is_one_look_that_says_the_same(two):
    """Pages asked vehicle by vehicle: each cost as much as a small page."""
    with psycopg.connect(two.env["DROVER_POSTGRES_URL"]) as connection:
        # At one moment: what is judged changes with time.
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        vehicles = connection.execute("SELECT kind, vehicle, drover.not_monitored(kind, vehicle) FROM drover.vehicle UNION SELECT kind, vehicle, drover.not_monitored(kind, vehicle) FROM drover.registration").fetchall()
        kinds, ids = [kind for kind, _, _ in vehicles], [vehicle for _, vehicle, _ in vehicles]
        # Also of one that is named twice, and of none.
        found = connection.execute("SELECT kind, vehicle, not_monitored FROM drover.not_monitored_of(%s, %s)", [kinds + kinds[:1], ids + ids[:1]]).fetchall()
    assert len({reason for _, _, reason in vehicles}) >= 3, vehicles
    assert sorted(found) == sorted(row for row in vehicles if row[2])
    assert two.query("SELECT count(*) FROM drover.not_monitored_of('{}', '{}')") == [(0,)]
    assert two.query("SELECT not_monitored FROM drover.not_monitored_of('{car,machine}', '{never-heard-of,never-heard-of}') ORDER BY 1") == [("no_model",), ("nobody",)]
    lists = [ROOT / "Queries" / "reports" / f"{name}.sql" for name in ("vehicle_list", "vehicles", "fleet_map", "not_monitored")]
    assert [path.name for path in lists if "drover.not_monitored_of(" not in path.read_text() or "drover.not_monitored(" in path.read_text()] == []


def rule(parameter, test, absent=""):
    return "\t".join(["rule", parameter, test, "x", "int", "farmer", "" if test == "none" else "65000", "", "0", "", absent, "", "", "", "", ""])


RULES = "\n".join([
    "drover-rules 2", "model\tGps", rule("GPS Available", "none", "300000"), "model\tS690 Combine", rule("Fuel Level", "below"), "model\tToy", rule("MTG Firmware Version", "none"),
    "model\tTwo", rule("Fuel Level", "below"), rule("Coolant Temperature", "above"), "model\tback\\\\slash", rule("Fuel Level", "below"), "machine\thalf", rule("Fuel Level", "none"),
    "machine\town", rule("Coolant Temperature", "above"), "machine\tshadow", rule("Fuel Level", "none"), "model\tLast"])


JUDGED = [
    ("S690 Combine", "any", True), ("Gps", "any", True), ("Toy", "any", False), ("Toy", "own", True), ("S690 Combine", "shadow", False), ("Two", "half", True),
    ("Last", "any", False), ("S690", "any", False), ("back\\slash", "any", True), ("no such", "any", False)]


@pytest.mark.parametrize("model, machine, judged", JUDGED)
def test_a_machine_is_judged_by_its_own_rules_in_the_place_of_its_models(two, model, machine, judged):
    """The database reads what the workers read: Sources/Domain/Alerts/Rules/RuleText.swift."""
    assert two.query("SELECT drover.is_judged(%s, %s, %s)", RULES, model, machine) == [(judged,)]


def test_machines_of_a_model_are_looked_up_once_and_those_with_rules_by_themselves(two):
    """Many of each model beside those that have rules of their own: each has the reason that it has alone."""
    wanted, of = {}, "many-"
    rules = RULES.replace("machine\t", "machine\t" + of)
    for model, machine, judged in JUDGED:
        for name in [machine] if machine != "any" else [f"{len(wanted) + more}-any" for more in range(3)]:
            wanted[of + name] = (model, None if judged else "no_rules")
    with connect(two.env) as connection:
        connection.execute("INSERT INTO drover.rule_set VALUES (99, '1990-01-01T00:00:00Z', 'many', %s, -1)", [rules])
        for vehicle, (model, _) in wanted.items():
            connection.execute("INSERT INTO drover.vehicle VALUES ('machine', %s, %s, 99, now())", [vehicle, model])
    try:
        found = dict(two.query("SELECT vehicle, not_monitored FROM drover.not_monitored_of(%s, %s)", ["machine"] * len(wanted), list(wanted)))
        assert {vehicle: found.get(vehicle) for vehicle in wanted} == {vehicle: reason for vehicle, (_, reason) in wanted.items()}
        assert {vehicle: why(two, vehicle, "machine") for vehicle in wanted} == {vehicle: found.get(vehicle) for vehicle in wanted}
    finally:
        with connect(two.env) as connection:
            connection.execute("DELETE FROM drover.vehicle WHERE topic_partition = 99")
            connection.execute("DELETE FROM drover.rule_set WHERE topic_partition = 99")


def test_nobodys_login_asks_why_of_any_vehicle(two):
    for function in ("not_monitored(text, text)", "not_monitored_of(text[], text[])"):
        assert two.query("SELECT has_function_privilege('drover_sight', %s, 'EXECUTE')", f"drover.{function}") == [(False,)]


# MARK: Who drives it

def assign(two, account, car, driver):
    visitor = two.entered(account)
    return visitor.post(f"/vehicles/{car}/assign", form=visitor.mark(), id=f"assign-{account}-{car}-{driver or 'nobody'}", driver=driver)


def assigned(two, car):
    two.world.work_off(two.env)
    rows = two.query("SELECT account, assigned_by FROM drover.assignment WHERE vehicle = %s ORDER BY assigned_at DESC LIMIT 1", car)
    return rows[0] if rows else None


def test_a_command_says_who_drives_a_car(two):
    """Texts advised to assign it, and nothing could."""
    run = lambda *words: two.world.drover.run("vehicle", "assign", *words, env=two.env)
    done = run(LONE, "--driver", "noah", "--by", "olga")
    assert done.code == 0 and re.search(f"{LONE}: noah drives it from 20[0-9T:.-]+Z on", done.err), done.err
    assert assigned(two, LONE) == ("noah", "olga") and why(two, LONE) is None
    assert run(LONE, "--nobody", "--by", "olga").code == 0
    assert assigned(two, LONE) == (None, "olga") and why(two, LONE) == "nobody"
    earlier = run(LONE, "--driver", "noah", "--from", "2026-01-02T03:04:05Z", "--by", "olga")
    assert earlier.code == 0 and two.query("SELECT count(*) FROM drover.assignment WHERE vehicle = %s AND assigned_at = '2026-01-02T03:04:05Z'", LONE) == [(1,)]
    for words, said in [((LONE,), "--driver ACCOUNT or --nobody"), ((LONE, "--driver", "a", "--nobody"), "--driver ACCOUNT or --nobody"),
                        (("no-such-car", "--driver", "noah"), "there is no such car"), ((LONE, "--driver", "nobody-there"), "there is no such account"), ((LONE, "--driver", "noah", "--from", "today"), "must be a time")]:
        refused = run(*words)
        assert refused.code != 0 and said in refused.err, refused.err


@pytest.mark.parametrize("account", ["nick", "norbert", "olga", "root"])
def test_who_keeps_a_car_says_on_its_page_who_drives_it(two, account):
    assert 'action="/vehicles/north-van/assign"' in page(two, account, "/vehicles/north-van?kind=car&tab=details")
    assert assign(two, account, "north-van", "noah").status == 303
    assert assigned(two, "north-van") == ("noah", account)
    assert assign(two, account, "north-van", "").status == 303
    assert assigned(two, "north-van") == (None, account)


@pytest.mark.parametrize("account", ["sid", "simon", "sara", "noah", "dora", "anna"])
def test_nobody_else_does(two, account):
    before = assigned(two, "north-van")
    assert assign(two, account, "north-van", account).status in (403, 404)
    assert assigned(two, "north-van") == before


def test_a_car_is_assigned_to_nobody_of_another_customer(two):
    before = assigned(two, "north-van")
    for stranger in ("sara", "no-such-account"):
        assert assign(two, "nick", "north-van", stranger).status == 422
    assert assigned(two, "north-van") == before


def test_who_gets_a_car_amid_a_trip_is_not_told_that_it_has_not_driven(two):
    """It said "It has not driven yet" beside an alert of the same drive."""
    car = two.new_car()
    two.push("cars", [two.reading(car, two.now - 600_000 + s * 1000) for s in range(300)])
    two.push("cars", [two.record("assignment", car, two.now - 400_000, driver="noah")])
    shown = page(two, "noah", f"/cars/{car}/live")
    assert "It has not driven yet" not in shown and "before the car was yours to drive" in shown
    shown = page(two, "noah", f"/vehicles/{car}?kind=car&tab=trips")
    assert "It has not been on a trip yet" not in shown and "before the car was yours to drive" in shown


# MARK: Limits of the installation

def set_limits(two, ts, **settings):
    """As the command does: a record for every partition, of any time."""
    record = two.record("settings", None, ts, account="installation", settings=json.dumps(settings))
    two.world.tell("drover.cars", {key: said for key, said in record.items() if key != "vehicle"})
    two.world.work_off(two.env)


def told(two, car):
    return two.query("SELECT account, parameter FROM drover.alert WHERE vehicle = %s AND state <> 'withdrawn' ORDER BY opened_at", car)


def test_limits_of_the_installation_hold_for_cars_of_nobody_from_their_own_time_on(two):
    """A car of nobody raised nothing at 108 degrees."""
    car, owned, before = two.new_car(), two.new_car(), two.new_car()
    two.push("cars", [two.record("registration", owned, two.now - HOUR, account="nora")])
    two.push("cars", [two.reading(vehicle, two.now - 50_000 + s * 1000, coolant_c=103) for vehicle in (car, owned) for s in range(30)])
    two.push("cars", [two.reading(before, two.now - 9 * 60_000 + s * 1000, coolant_c=103) for s in range(30)])
    assert why(two, car) == "nobody" and told(two, car) == []
    # They come late: its readings are there already.
    set_limits(two, two.now - 60_000, coolant_limit_c=100)
    assert why(two, car) is None and told(two, car) == [("installation", "Engine Coolant Temperature")]
    assert "Not monitored" not in page(two, "olga", f"/vehicles/{car}?kind=car")
    # Hers are 104.4 degrees; the third was silent by then.
    assert told(two, owned) == [] and told(two, before) == []
    # A first owner is asked of all that was before.
    two.push("cars", [two.record("registration", car, two.now, account="nora")])
    assert told(two, car) == [] and why(two, car) is None
    set_limits(two, two.now - 10_000, alerts=False)
    assert why(two, before) == "nobody"


def test_a_command_sets_them(two):
    run = lambda *words: two.world.drover.run("limits", *words, env=two.env)
    assert run("set", "alerts=on", "coolant_limit_c=101", "--by", "olga").code == 0
    two.world.work_off(two.env)
    assert json.loads(run("show", "--format", "json").out)["coolant_limit_c"] == 101
    assert why(two, two.query("SELECT v.vehicle FROM drover.vehicle v WHERE v.vehicle LIKE 'dongle-%' AND drover.car_owner_at(v.vehicle, now()) IS NULL "
               "AND NOT EXISTS (SELECT FROM drover.driving d WHERE d.vehicle = v.vehicle) AND NOT EXISTS (SELECT FROM drover.assignment a WHERE a.vehicle = v.vehicle)")[0][0]) is None
    refused = run("set", "mail=on")
    assert refused.code == 2 and "`mail` is no limit" in refused.err


def test_nobody_else_sets_them(two):
    for account in ("nick", "norbert", "nora"):
        visitor = two.entered(account)
        assert (visitor.get("/limits").status, visitor.post("/limits", form=visitor.mark(), coolant_limit_c="200").status) == (403, 403)
    visitor = two.entered("olga")
    assert "Limits of the installation" in visitor.get("/limits").body
    assert visitor.post("/limits", form=visitor.mark(), coolant_limit_c="hot").status == 422
    assert visitor.post("/limits", form=visitor.mark(), coolant_limit_c="99").status == 303
    two.world.work_off(two.env)
    assert json.loads(two.query("SELECT settings FROM drover.installation_settings()")[0][0]) == {"coolant_limit_c": 99}
    assert two.query("SELECT count(*) FROM drover.audit_entry WHERE action = 'rules_published' AND detail LIKE '%installation%'")[0][0] == 2


def test_no_account_can_be_called_so(two):
    for words in (["account", "add", "installation"], ["token", "add", "--account", "installation", "--scope", "account"],
                  ["account", "settings", "set", "installation", "alerts=off"]):
        refused = two.world.drover.run(*words, env=two.env)
        assert refused.code == 2 and "is the installation itself" in refused.err, words
    with connect(two.env) as connection, pytest.raises(psycopg.errors.CheckViolation):
        connection.execute("INSERT INTO drover.account (account) VALUES ('installation')")
