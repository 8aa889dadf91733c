"""What people say of machines and alerts: records on the log, in the tables, in what is judged, and the same after a replay."""
import json
import os
import pwd
import time

import pytest
from harness import HANG_S, now_ms, until
from test_gateway import emulate, gateway, servers, world  # noqa: F401 (fixtures)
from test_rejected import rows as rejected
from world import query


def read(world, vehicle, ago_s, **values):  # noqa: F811
    ts = (int(time.time()) - ago_s) * 1000
    reading = {"schema": 1, "kind": "reading", "id": f"r-{ts}", "vehicle": vehicle, "ts": ts, "model": "8R Tractor", "gps_available": True, **values}
    world.push("drover.machines", reading)


def alerts(env, what="parameter, state", where="true"):
    return query(env, f"SELECT {what} FROM drover.alert_now WHERE {where} ORDER BY opened_at, parameter")


def ask(world, env, *arguments, code=0):  # noqa: F811
    run = world.drover.run(*arguments, env=env)
    assert run.code == code, run.err
    return run


def test_a_service_an_acknowledgement_and_a_silence(world):  # noqa: F811
    env = world.database()
    worker = world.assigned(env, "actions")
    read(world, "m-1", 7_200, engine_hours_h=1_000)
    until(lambda: alerts(env) == [("Engine Hours", "open")], worker)

    # Recorded later than it was done: the reading after it is judged by it.
    assert "done" in ask(world, env, "vehicle", "service", "m-1", "--hours", 990, "--at", "2026-01-01T00:00:00Z", "--by", "Anna").err
    until(lambda: alerts(env, "state") == [("withdrawn",)], worker)
    read(world, "m-1", 3_600, engine_hours_h=1_036)
    until(lambda: ("due_soon",) in alerts(env, "state"), worker)
    read(world, "m-1", 1_800, engine_hours_h=1_040.1)
    until(lambda: ("open",) in alerts(env, "state"), worker)
    [(alert, worst)] = alerts(env, "alert_id, worst_value", "state = 'open'")
    assert worst == pytest.approx(50.1)

    story = json.loads(ask(world, env, "alert", "show", alert, "--format", "json").out)
    assert story["rule_source"] == "of model 8R Tractor" and story["ends_with"] == "recording a service"
    assert story["repeats_30_days"] == 0
    partition, offset = query(env, "SELECT v.topic_partition, r.record_offset FROM drover.machine_reading r JOIN drover.vehicle v USING (vehicle) WHERE r.engine_hours_h = 1036")[0]
    assert {"what": "opened", "topic": "drover.machines", "partition": partition, "offset": offset, "value": "1036"}.items() <= story["readings"][-2].items()
    text = ask(world, env, "alert", "show", alert).out
    assert "ends with: recording a service" in text and "1040.1" in text and "drover.machines" in text

    ask(world, env, "alert", "acknowledge", alert, "--by", "Anna", "--note", "on Friday")
    ask(world, env, "alert", "acknowledge", alert, "--by", "Bert")
    assert alerts(env, "acknowledged_by, acknowledgement_note", "state = 'open'") == [("Anna", "on Friday")]
    ask(world, env, "alert", "silence", "--model", "8R Tractor", "--parameter", "Machine Hours", "--until", "2099-01-01T00:00:00Z", "--by", "Anna")
    assert [row[0] for row in alerts(env, "silenced_until_at IS NOT NULL", "state = 'open'")] == [True]
    assert "Anna" in ask(world, env, "alert", "list", "--vehicle", "m-1").out
    # Taken back.
    ask(world, env, "alert", "silence", "--model", "8R Tractor", "--parameter", "Engine Hours", "--until", "2026-01-01T00:00:00Z", "--by", "Anna")
    assert [row[0] for row in alerts(env, "silenced_until_at IS NULL", "state = 'open'")] == [True]

    assert "it could not have 1400.1 h" in ask(world, env, "vehicle", "service", "m-1", "--hours", 1_400.1, "--by", "Anna", code=1).err
    # Nobody says who: a service, or a container, has neither variable.
    ask(world, {**env, "USER": "", "LOGNAME": ""}, "vehicle", "service", "m-1", "--hours", 1_040.1)
    until(lambda: alerts(env, "state", "state <> 'withdrawn'") == [("resolved",)], worker)
    assert query(env, "SELECT recorded_by FROM drover.service ORDER BY done_at DESC")[0] == (pwd.getpwuid(os.getuid()).pw_name,)
    history = json.loads(ask(world, env, "vehicle", "history", "m-1", "--limit", 2, "--format", "json").out)
    assert [row["engine_hours_h"] for row in history] == [1040.1, 1036]
    next_page = json.loads(ask(world, env, "vehicle", "history", "m-1", "--before", history[-1]["read_at"], "--format", "json").out)
    assert [row["engine_hours_h"] for row in next_page] == [1000]

    world.replayed(env)
    assert rejected(env) == [] and worker.stop() == 0


def test_what_is_said_of_alerts_of_machines_and_cars_is_the_same_from_the_log(world):  # noqa: F811
    """Also in another order and twice: the latest by time and id counts, whatever came first."""
    env = world.database()
    worker = world.assigned(env, "triage")
    now = now_ms()
    for topic, vehicle in (("drover.machines", "m-1"), ("drover.cars", "car-1")):
        def say(kind, second, number=0, **fields):
            return {"schema": 1, "kind": kind, "id": f"{kind}-{second}-{number}", "vehicle": vehicle, "ts": now - 60_000 + second * 1000, "by": "anna", "alert": f"{vehicle}-1", **fields}
        said = [say("alert_reopening", 2), say("acknowledgement", 3, note="again"), say("acknowledgement", 1, note="first"), say("alert_assignment", 4, account="ben"),
                say("alert_assignment", 5), say("alert_comment", 6, note="words"), say("alert_mute", 7, until_ts=now + 3_600_000), say("alert_mute", 8)]
        world.push(topic, *said, said[0], say("alert_comment", 9), say("alert_mute", 10, until_ts="x"))
    rows = "SELECT word, account, until_at IS NULL, note FROM drover.alert_triage WHERE vehicle = %s ORDER BY said_at"
    wanted = [("reopened", None, True, None), ("assigned", "ben", True, None), ("assigned", None, True, None), ("comment", None, True, "words"), ("muted", None, False, None),
              ("muted", None, True, None)]
    for vehicle in ("m-1", "car-1"):
        until(lambda: query(env, rows, vehicle) == wanted, worker)
        assert query(env, "SELECT note FROM drover.acknowledgement WHERE vehicle = %s ORDER BY acknowledged_at", vehicle) == [("first",), ("again",)]
    assert len(rejected(env)) == 4, "a comment that says nothing, and a time that is none"
    assert world.replayed(env)["alert_triage"] == 12
    assert worker.stop() == 0


def test_a_registered_box_is_polled_until_it_is_disabled_and_its_silence_is_one_alert(world, tmp_path):  # noqa: F811
    env = world.database()
    worker = world.assigned(env, "registered")
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text("interval_s: 1\nmemory_min: 5\nboxes:\n  one:\n    model: 8R Tractor\n    values:\n      coolant_c: 70\n")
    [box] = emulate(world, scenario, 1)
    emulator = world.drover.started[-1]
    ask(world, env, "vehicle", "register", "8R-0001", "--name", "Old Faithful", "--model", "8R Tractor", "--address", f"{box['host']}:{box['port']}",
        "--tags", "north,big", "--by", "Anna")
    polling = gateway(world, env, tmp_path)

    def readings():
        return query(env, "SELECT count(*) FROM drover.machine_reading WHERE vehicle = '8R-0001' AND coolant_c = 70")[0][0]
    until(lambda: readings() >= 3, polling, worker)
    [row] = json.loads(ask(world, env, "vehicle", "list", "--search", "faithful", "--tag", "north", "--format", "json").out)
    assert (row["name"], row["tags"], row["is_disabled"]) == ("Old Faithful", ["north", "big"], False)

    by_name = ask(world, env, "vehicle", "list", "--sort", "name").out.splitlines()
    assert len(by_name) == 2 and "Old Faithful" in by_name[1]
    assert "must be one of last_reading_at, model, name" in ask(world, env, "vehicle", "list", "--sort", "luck", code=2).err
    assert "new reading" in ask(world, env, "gateway", "poll", "8R-0001", "--by", "Anna", "--wait", HANG_S).out
    emulator.stop()
    said = ask(world, env, "gateway", "poll", "8R-0001", "--by", "Anna", "--wait", HANG_S, code=1).err
    assert "No answer from the box at that address" in said, said
    polling.wait_for('"somebody asks for a box that does not answer" vehicle=8R-0001 fault="[^"]*Connection refused')
    # Only now in a hurry: a busy machine may keep a box that is there waiting for as long as this.
    assert polling.stop() == 0
    polling = gateway(world, env, tmp_path, **{"gateway.contact_lost_s": 1})
    until(lambda: ("Contact", "open") in alerts(env), polling, worker)
    # In the place of the absences, and the service that nobody has recorded stands beside it.
    assert alerts(env) == [("Engine Hours", "open"), ("Contact", "open")]
    ask(world, env, "vehicle", "register", "8R-0001", "--disable", "--by", "Anna")
    polling.wait_for('boxes=0 dropped=1')
    assert "No answer from the box at that address" in ask(world, env, "gateway", "poll", "8R-0001", "--by", "Anna", "--wait", HANG_S, code=1).err
    assert query(env, "SELECT is_done FROM drover.poll_request ORDER BY asked_at") == [(True,), (False,), (False,)]
    [row] = json.loads(ask(world, env, "vehicle", "list", "--format", "json").out)
    assert row["is_disabled"] and row["name"] == "Old Faithful" and row["address"].endswith(str(box["port"]))
    assert polling.stop() == 0
    # Nobody listens any more: that ends the alert.
    until(lambda: ("Contact", "resolved") in alerts(env), worker)
    for each in (["vehicle", "service", "m-none", "--hours", 10], ["gateway", "poll", "m-none"]):
        assert "m-none: there is no such machine" in ask(world, env, *each, "--by", "Anna", code=1).err
    assert "no gateway has answered" in ask(world, env, "gateway", "poll", "8R-0001", "--by", "Anna", "--wait", 1, code=1).err
    world.replayed(env)
    assert rejected(env) == [] and worker.stop() == 0


@pytest.mark.parametrize("arguments, text", [
    (["vehicle"], "say `list`"), (["vehicle", "register", "a b"], "a vehicle's id is"), (["vehicle", "service", "m-1"], "--hours 1234.5"),
    (["vehicle", "service", "m-1", "--hours", "-1"], "--hours 1234.5"), (["alert", "silence"], "--until"), (["alert"], "say `list`"),
    (["alert", "silence", "--until", "2099-01-01T00:00:00Z"], "say what is silenced"),
    (["alert", "silence", "--parameter", "Luck", "--until", "2099-01-01T00:00:00Z"], "Luck: is no parameter"),
])
def test_wrong_use_says_how(drover, arguments, text):
    drover.fails(*arguments, says=text, code=2)
