"""What people do about alerts: who may act on which, one and many, of machines and cars, by hand, by keys, by programs, and again from the log."""
import json
import re
import time

import pytest
from harness import lent, looked_at, now_ms, until
from people import PASSWORD, Visitor, enter, logged_in
from playwright.sync_api import expect
from test_pages import Fleet
from test_uploads import give_token
from world import as_page, connect, query

# Everybody's role, and what they may see and do: of the machine in a fleet with "miller", of the car in a fleet with "mila".
PEOPLE = {
    "miller": ["farmer"], "neighbour": ["farmer"], "dealer": ["dealer"], "dev": ["developer"], "mila": ["fleet_manager"], "driver": ["driver"],
    "other": ["driver"], "ops": ["operator"], "analyst": ["analyst"], "dispatcher": ["dispatcher"], "rider": ["rider"], "ranger": ["ranger"],
}
# The car said nothing since yesterday: no other reading of it ends its alert.
MACHINE, CAR = "combine-9", "van-2"
# Answers to an acknowledgement: 303 taken, 403 seen but not theirs to act on, 404 not there for them.
MAY = {
    MACHINE: {"miller": 303, "neighbour": 404, "dealer": 404, "dev": 303, "mila": 404, "driver": 404, "other": 404, "ops": 303, "analyst": 403,
              "dispatcher": 403, "rider": 403, "ranger": 403},
    CAR: {"miller": 404, "neighbour": 404, "dealer": 404, "dev": 404, "mila": 303, "driver": 303, "other": 404, "ops": 303, "analyst": 403,
          "dispatcher": 403, "rider": 403, "ranger": 403},
}


class Farm(Fleet):
    def __init__(self, world, folder):
        super().__init__(world, folder)
        for account, roles in PEOPLE.items():
            self.site.with_account(account, f"{account}@example.org", PASSWORD, *roles)
        with connect(self.env) as connection:
            connection.execute("INSERT INTO drover.fleet (fleet, name) VALUES ('farm', 'Farm'), ('vans', 'Vans')")
            connection.execute("INSERT INTO drover.fleet_vehicle VALUES ('farm', 'machine', %s), ('vans', 'car', %s)", [MACHINE, CAR])
            connection.execute("INSERT INTO drover.fleet_member VALUES ('farm', 'miller'), ('vans', 'mila')")
        self.visitors = {account: logged_in(self.site.port, account) for account in PEOPLE}
        now = now_ms()
        world.drover.done("vehicle", "assign", CAR, "--driver", "driver", "--from", "2026-01-01T00:00:00Z", "--by", "Anna", env=self.env)
        self.boil(now - 50_000, range(50))
        world.finish(self.env)
        until(lambda: self.open(CAR) and self.open(MACHINE), self.worker)

    def boil(self, start, seconds):
        self.drive(CAR, start, seconds, coolant_c=125, speed_kmh=40, latitude_deg=49.0, longitude_deg=8.4)

    def open(self, vehicle):
        return [alert for (alert,) in self.query("SELECT alert_id FROM drover.alert WHERE vehicle = %s AND state = 'open' AND NOT (parameter = 'Engine Hours')"
                                                 " ORDER BY opened_at DESC", vehicle)]

    def say(self, who, alert, deed="acknowledge", **fields):
        visitor = self.visitors[who]
        return visitor.post(f"/alerts/{alert}/{deed}", **{"form": visitor.mark(), "id": f"t-{time.monotonic_ns()}", **fields})

    def stands(self, alert, what):
        [row] = self.query(f"SELECT {what} FROM drover.alert_now WHERE alert_id = %s", alert)
        return row if len(row) > 1 else row[0]

    def clear(self, alert):
        """As if nobody had said anything of it."""
        with connect(self.env) as connection:
            connection.execute("DELETE FROM drover.alert_triage WHERE alert_id = %s", [alert])
            connection.execute("DELETE FROM drover.acknowledgement WHERE alert_id = %s", [alert])
            connection.execute("DELETE FROM drover.silence")


@pytest.fixture(scope="module")
def farm(world, tmp_path_factory):
    yield from lent(Farm(world, tmp_path_factory.mktemp("triage")))


@pytest.fixture(autouse=True)
def hot(farm):
    """The car goes on: five minutes of silence would end its alert."""
    farm.boil(now_ms(), range(1))


@pytest.mark.parametrize("vehicle", [MACHINE, CAR])
def test_who_may_act_on_which_alert_is_one_rule_for_every_word(farm, vehicle):
    alert = farm.open(vehicle)[0]
    words = {"acknowledge": {}, "reopen": {}, "assign": {"to": ""}, "comment": {"note": "seen"}, "mute": {"until": "now"}}
    for who, status in MAY[vehicle].items():
        before = query(farm.env, "SELECT (SELECT count(*) FROM drover.acknowledgement) + (SELECT count(*) FROM drover.alert_triage)")
        for deed, fields in words.items():
            assert farm.say(who, alert, deed, **fields).status == status, (who, deed)
        many = farm.visitors[who].post("/alerts", form=farm.visitors[who].mark(), batch=f"b-{who}", alert=alert, do="acknowledge")
        assert many.status == status, who
        page = farm.visitors[who].get(f"/alerts/{alert}")
        # Who reads fleets may open pages of alerts; of others' alerts, as the analyst's and the dispatcher's, there is none.
        assert page.status == {303: 200, 403: 403 if who in ("rider", "ranger") else 404, 404: 404}[status], who
        assert ("/acknowledge\"" in page.body or "/reopen\"" in page.body) == (status == 303), who
        listed = farm.visitors[who].get("/alerts")
        assert (listed.status == 200 and f'data-alert="{alert}"' in listed.body) <= (page.status == 200), who
        if status == 303:
            farm.world.work_off(farm.env)
        else:
            assert query(farm.env, "SELECT (SELECT count(*) FROM drover.acknowledgement) + (SELECT count(*) FROM drover.alert_triage)") == before, who
    farm.world.finish(farm.env)
    farm.clear(alert)


def test_people_are_shown_by_name_to_who_knows_them(farm):
    """Names stand in pages; ids stay in files. Of others' people nothing is told, even to who guesses an id."""
    names = {"mila": ("Mila", "Virta"), "driver": ("Dora", ""), "ops": ("Otto", "Ops"), "miller": ("Max", "Miller")}
    with connect(farm.env) as connection:
        for account, (first, last) in names.items():
            connection.execute("UPDATE drover.account SET first_name = %s, last_name = %s WHERE account = %s", [first, last, account])
    alert = farm.open(CAR)[0]
    try:
        assert farm.say("mila", alert).status == 303 and farm.say("mila", alert, "assign", to="driver").status == 303
        until(lambda: farm.stands(alert, "acknowledged_by, assigned_to") == ("mila", "driver"), farm.worker)
        listed = farm.visitors["driver"].get("/alerts?tab=acknowledged").body
        assert "acknowledged by Mila Virta" in listed and "by mila" not in listed
        told = farm.visitors["mila"].get(f"/alerts/{alert}").body
        assert "Acknowledged by Dora" in told and "assigned it to <b>Dora</b>" in told and "<b>You</b> acknowledged it" in told
        assert "Acknowledged by Mila Virta" in farm.visitors["ops"].get(f"/vehicles/{CAR}?kind=car").body
        # A name that nobody gave: the id.
        assert farm.say("ops", alert, "reopen").status == 303 and farm.say("ops", alert, "comment", note="mine now").status == 303
        until(lambda: farm.query("SELECT 1 FROM drover.alert_triage WHERE alert_id = %s AND word = 'comment' AND said_by = 'ops'", alert), farm.worker)
        assert "<b>Otto Ops</b>: mine now" in farm.visitors["mila"].get(f"/alerts/{alert}").body
        known = {}
        for who in ("mila", "driver", "neighbour", "miller", "other", "rider", "ops", "dealer"):
            with as_page(farm.env, who) as database:
                known[who] = {account for account, _ in database.execute("SELECT account, name FROM drover.names_of(%s)", [list(PEOPLE)])}
        # Who runs the installation is known to who reads fleets; the driver is assigned to the car of mila's fleet, and not in it.
        assert known == {"mila": {"mila", "driver", "ops"}, "driver": {"mila", "driver", "ops"}, "neighbour": {"ops"}, "miller": {"miller", "ops"}, "other": {"ops"},
                         "rider": set(), "ops": set(names), "dealer": {"ops"}}
    finally:
        with connect(farm.env) as connection:
            connection.execute("UPDATE drover.account SET first_name = '', last_name = '' WHERE account = ANY(%s)", [list(names)])
        farm.clear(alert)


def test_a_cars_alert_is_acknowledged_on_its_page_by_who_may(farm):
    alert = farm.open(CAR)[0]
    farm.clear(alert)
    for who, may in MAY[CAR].items():
        page = farm.visitors[who].get(f"/vehicles/{CAR}?kind=car")
        assert (f'action="/alerts/{alert}/acknowledge"' in page.body) == (may == 303), (who, page.status)
    assert farm.say("driver", alert).status == 303
    until(lambda: farm.stands(alert, "acknowledged_by") == "driver", farm.worker)
    shown = farm.visitors["mila"].get(f"/vehicles/{CAR}?kind=car").body
    assert "Acknowledged by driver" in shown and f"/alerts/{alert}/acknowledge" not in shown
    farm.clear(alert)


def test_a_program_says_what_its_account_may_say(farm):
    machine, car = farm.open(MACHINE)[0], farm.open(CAR)[0]

    def say(who, alert, deed, scope="account", **fields):
        token = farm.tokens.setdefault((who, scope), give_token(farm.env, who, scope))
        answer = Visitor(farm.site.port).ask("POST", f"/v1/alerts/{alert}/{deed}", json.dumps({"id": f"p-{time.monotonic_ns()}", **fields}),
                                             **{"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        return answer.status
    farm.tokens = {}
    assert say("miller", machine, "acknowledge", note="by a program") == 202 and say("driver", car, "comment", note="on my way") == 202
    assert [say("neighbour", machine, "acknowledge"), say("miller", car, "comment", note="x"), say("miller", machine, "comment"),
            say("miller", machine, "acknowledge", scope="read"), say("analyst", machine, "acknowledge")] == [404, 404, 422, 403, 404]
    until(lambda: farm.stands(machine, "acknowledged_by, acknowledgement_note") == ("miller", "by a program"), farm.worker)
    until(lambda: farm.query("SELECT said_by, note FROM drover.alert_triage WHERE alert_id = %s", car) == [("driver", "on my way")], farm.worker)
    farm.clear(machine)
    farm.clear(car)


def test_an_alert_is_given_only_to_who_may_take_care_of_it(farm):
    alert = farm.open(MACHINE)[0]
    with connect(farm.env) as connection:
        connection.execute("INSERT INTO drover.fleet_member VALUES ('farm', 'dealer'), ('farm', 'mila')")
    try:
        # A dealer in the fleet may not write of it as a dealer; a fleet manager may.
        page = farm.visitors["miller"].get(f"/alerts/{alert}").body
        offered = set(re.findall(r'name="to" value="([^"]*)"', page))
        assert offered == {"me", "mila"}
        assert [farm.say("miller", alert, "assign", to=to).status for to in ("mila", "neighbour", "dealer", "nobody-there", "ops")] == [303, 422, 422, 422, 422]
        until(lambda: farm.stands(alert, "assigned_to, assigned_by") == ("mila", "miller"), farm.worker)
        mine = farm.visitors["mila"].get("/alerts?with=me").body
        assert f'data-alert="{alert}"' in mine and "assigned, not acknowledged" in mine
        assert f'data-alert="{alert}"' not in farm.visitors["miller"].get("/alerts?with=nobody").body
        assert farm.say("mila", alert, "assign", to="").status == 303
        until(lambda: farm.stands(alert, "assigned_to") is None, farm.worker)
    finally:
        with connect(farm.env) as connection:
            connection.execute("DELETE FROM drover.fleet_member WHERE account IN ('dealer', 'mila') AND fleet = 'farm'")
        farm.clear(alert)


def test_from_the_list_an_alert_goes_to_somebody_else(farm, page):
    alert = farm.open(MACHINE)[0]
    with connect(farm.env) as connection:
        connection.execute("INSERT INTO drover.fleet_member VALUES ('farm', 'mila')")
    try:
        enter(page, farm.address, "miller", "/alerts")
        row = page.locator(f"#alerts .al[data-alert='{alert}']")
        row.locator("summary").click()
        row.get_by_role("button", name="Assign to somebody else").click()
        expect(page.locator("#selected")).to_have_text("1 selected")
        expect(page.get_by_label("Assign to", exact=True)).to_be_focused()
        page.get_by_label("Assign to", exact=True).select_option("mila")
        page.locator("#bulk").get_by_role("button", name="Assign", exact=True).click()
        page.wait_for_url("**said=assignment")
        until(lambda: farm.stands(alert, "assigned_to, assigned_by") == ("mila", "miller"), farm.worker)
    finally:
        with connect(farm.env) as connection:
            connection.execute("DELETE FROM drover.fleet_member WHERE account = 'mila' AND fleet = 'farm'")
        farm.clear(alert)


def test_acknowledging_is_taken_back_and_counts_anew(farm):
    alert = farm.open(MACHINE)[0]
    for round in range(2):
        assert farm.say("miller", alert, note=f"round {round}").status == 303
        until(lambda: farm.stands(alert, "acknowledgement_note") == f"round {round}", farm.worker)
        assert f'data-alert="{alert}"' in farm.visitors["miller"].get("/alerts?tab=acknowledged").body
        assert farm.say("dev", alert, "reopen").status == 303
        until(lambda: farm.stands(alert, "acknowledged_by") is None, farm.worker)
    told = farm.visitors["miller"].get(f"/alerts/{alert}").body
    assert told.count("acknowledged it") == 2 and told.count("took the acknowledgement back") == 2
    entries = dict(farm.query("SELECT action, count(*) FROM drover.audit_entry WHERE action LIKE 'alert%%' AND detail::jsonb ->> 'alert' = %s GROUP BY 1", alert))
    assert entries["alert_reopened"] >= 2 and entries["alert_acknowledged"] >= 2
    farm.clear(alert)


def test_muted_for_a_while_until_the_morning_and_to_its_end(farm):
    for alert in (farm.open(MACHINE)[0], farm.open(CAR)[0]):
        who = "ops"
        until_at = "extract(epoch FROM silenced_until_at - now()), is_muted_to_its_end"
        assert farm.say(who, alert, "mute", until="hour").status == 303
        until(lambda: farm.stands(alert, "silenced_until_at") is not None, farm.worker)
        seconds, to_end = farm.stands(alert, until_at)
        assert 3_400 < seconds <= 3_600 and not to_end
        assert farm.say(who, alert, "mute", until="morning").status == 303
        until(lambda: farm.stands(alert, "to_char(silenced_until_at AT TIME ZONE 'UTC', 'HH24:MI')") == "07:00", farm.worker)
        assert farm.say(who, alert, "mute", until="end").status == 303
        until(lambda: farm.stands(alert, "is_muted_to_its_end"), farm.worker)
        assert "muted until it is over" in farm.visitors[who].get(f"/alerts/{alert}").body
        assert farm.say(who, alert, "mute", until="now").status == 303
        until(lambda: farm.stands(alert, "silenced_until_at") is None, farm.worker)
        assert farm.say(who, alert, "mute", until="later").status == 422
        farm.clear(alert)


def test_many_at_once_and_none_of_others(farm):
    machine, car = farm.open(MACHINE)[0], farm.open(CAR)[0]
    ops, miller = farm.visitors["ops"], farm.visitors["miller"]

    def many(visitor, do, *alerts, **fields):
        items = [("form", visitor.mark()), ("batch", f"b-{time.monotonic_ns()}"), ("do", do), *[("alert", alert) for alert in alerts], *fields.items()]
        return visitor.post_items("/alerts", items)
    assert many(miller, "acknowledge", machine, car).status == 404, "one that is not there refuses all"
    assert [many(ops, "acknowledge").status, many(ops, "silence", machine).status, many(ops, "nonsense", machine).status] == [422] * 3
    answer = many(ops, "acknowledge", machine, car, next="/alerts?severity=critical")
    assert (answer.status, answer.headers["Location"]) == (303, "/alerts?severity=critical&said=acknowledgement")
    until(lambda: [farm.stands(alert, "acknowledged_by") for alert in (machine, car)] == ["ops", "ops"], farm.worker)
    # What is chosen for many is in fields of its own.
    assert many(ops, "assign", machine, car, **{"all-to": "me"}).status == 303
    until(lambda: [farm.stands(alert, "assigned_to") for alert in (machine, car)] == ["ops", "ops"], farm.worker)
    for alert in (machine, car):
        farm.clear(alert)


@pytest.mark.parametrize("next_page, to", [
    ("/", "/"), ("/fleet?date=2026-09-14", "/fleet?date=2026-09-14"), ("/alerts", "/alerts?said=acknowledgement"), ("https://evil.example/", None), ("//evil.example/", None),
    ("/\\evil.example", None), ("javascript:alert(1)", None), ("", None)])
def test_the_answer_leads_to_pages_of_ours_only(farm, next_page, to):
    alert = farm.open(MACHINE)[0]
    answer = farm.say("ops", alert, next=next_page)
    assert (answer.status, answer.headers["Location"]) == (303, to or f"/alerts/{alert}?said=acknowledgement")


def test_a_service_is_recorded_with_one_click(farm, page):
    alert = farm.query("SELECT alert_id FROM drover.alert WHERE vehicle = %s AND parameter = 'Engine Hours' AND state IN ('open', 'due_soon')", MACHINE)[0][0]
    farm.enter(page, "/alerts?tab=services")
    row = page.locator(f"[data-alert='{alert}']")
    expect(row).to_contain_text("Service")
    expect(page.locator("#tabs [aria-current]")).to_contain_text("Services")
    row.get_by_role("button", name=re.compile("Record")).click()
    page.wait_for_url("**said=service")
    expect(page.locator(".strip.ok")).to_contain_text("Service recorded")
    expect(page.locator(f"[data-alert='{alert}']")).to_have_count(0)
    assert farm.query("SELECT state FROM drover.alert WHERE alert_id = %s", alert)[0][0] == "resolved"
    [(hours, note, by)] = farm.query("SELECT engine_hours_h, note, recorded_by FROM drover.service WHERE vehicle = %s", MACHINE)
    assert (hours, note, by) == (812, "Regular service", "manager")
    page.goto(farm.address + "/alerts?tab=resolved")
    expect(page.locator("#alerts tbody tr").filter(has=page.locator(f"a[href='/alerts/{alert}']"))).to_have_count(1)


def test_by_keys_and_taken_back_in_place(farm, page, screenshots):
    alerts = farm.open(MACHINE) + farm.open(CAR)
    for alert in alerts:
        farm.clear(alert)
    farm.enter(page, "/alerts")
    rows = page.locator("#alerts .al")
    count = rows.count()
    assert count >= 2
    looked_at(page, screenshots, "triage", dark=True)
    expect(page.locator("#bulk")).to_be_hidden()
    page.locator("body").press("j")
    expect(rows.first.locator("a").first).to_be_focused()
    page.keyboard.press("x")
    expect(page.locator("#selected")).to_have_text("1 selected")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(rows.first.locator("a").first).to_be_focused()
    first = rows.first.get_attribute("data-alert")
    page.keyboard.press("a")
    expect(page.locator(".toast")).to_contain_text("Acknowledged. It is with you now.")
    expect(page.locator(f"[data-alert='{first}']")).to_have_count(0)
    assert page.url.endswith("/alerts")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    until(lambda: farm.query("SELECT 1 FROM drover.alert_triage WHERE alert_id = %s AND word = 'reopened' AND said_by = 'manager'", first), farm.worker)
    assert farm.query("SELECT acknowledged_by FROM drover.acknowledgement WHERE alert_id = %s", first) == [("manager",)] and farm.stands(first, "acknowledged_by") is None
    expect(page.locator(f"[data-alert='{first}']")).to_have_count(1)
    # Keys of somebody who types are letters.
    page.get_by_label("Vehicle, alert or person").press_sequentially("ajx")
    expect(page.locator("#bulk")).to_be_hidden()


def test_without_script_everything_is_there(farm, page, browser):
    alert = farm.open(MACHINE)[0]
    farm.clear(alert)
    farm.enter(page, "/alerts")
    plain = browser.new_context(java_script_enabled=False)
    plain.add_cookies(page.context.cookies())
    still = plain.new_page()
    still.goto(farm.address + "/alerts?severity=critical&search=combine")
    row = still.locator(f"[data-alert='{alert}']")
    row.get_by_role("checkbox").check()
    still.locator("#bulk").get_by_role("button", name="Acknowledge").click()
    assert still.url == f"{farm.address}/alerts?severity=critical&search=combine&said=acknowledgement"
    expect(still.locator(".strip.ok")).to_contain_text("Acknowledged")
    until(lambda: farm.stands(alert, "acknowledged_by") == "manager", farm.worker)
    still.goto(f"{farm.address}/alerts/{alert}")
    still.get_by_label("Comment").fill("Filter <changed>")
    still.get_by_role("button", name="Send").click()
    until(lambda: farm.query("SELECT note FROM drover.alert_triage WHERE alert_id = %s AND word = 'comment'", alert) == [("Filter <changed>",)], farm.worker)
    still.reload()
    expect(still.locator("#happened")).to_contain_text("You: Filter <changed>")
    plain.close()
    farm.clear(alert)


def test_of_a_machine_and_of_a_car_all_words_count(farm):
    """That a replay of them gives the same rows, gateways/test_actions.py says."""
    machine, car = farm.open(MACHINE)[0], farm.open(CAR)[0]
    for alert in (machine, car):
        for deed, fields in [("acknowledge", {"note": "mine"}), ("reopen", {}), ("assign", {"to": "me"}), ("comment", {"note": "words"}), ("mute", {"until": "end"})]:
            assert farm.say("ops", alert, deed, **fields).status == 303
    until(lambda: farm.query("SELECT count(*) FROM drover.alert_triage WHERE alert_id = ANY (%s) AND word = 'muted'", [machine, car]) == [(2,)], farm.worker)
    for alert in (machine, car):
        assert farm.stands(alert, "acknowledged_by, assigned_to, is_muted_to_its_end") == (None, "ops", True)
