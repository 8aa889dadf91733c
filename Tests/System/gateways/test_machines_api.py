"""What programs read of machines: the field view, the list and the history, by role; real TLS, broker, worker, PostgreSQL."""
import re
import shutil
from datetime import datetime, timezone
from pathlib import Path

import psycopg
import pytest
from harness import until
from test_uploads import HOUR, a_desk, now
from world import query

MINUTE = 60_000


@pytest.fixture(scope="module")
def desk(program):
    with a_desk(program) as desk:
        desk.work("machines")
        desk.sender = desk.phone()
        desk.readers = {role: desk.phone(desk.token("--scope", "read", "--role", role)[0]) for role in ("farmer", "dealer", "developer")}
        yield desk


def run(desk, *arguments):
    return desk.drover.done(*arguments, env=desk.env).out


def register(desk, vehicle, *options):
    run(desk, "vehicle", "register", vehicle, "--by", "Anna", *options)


def send(desk, vehicle, *values, model="S690 Combine", until=None):
    """A reading a minute, the last one now."""
    until = until or now()
    batch = [{"schema": 1, "kind": "reading", "id": f"{vehicle}-{until}-{n}", "vehicle": vehicle, "model": model,
              "ts": until - (len(values) - 1 - n) * MINUTE, **each} for n, each in enumerate(values)]
    assert desk.sender.post(batch).json["accepted"] == len(batch)
    desk.rows()
    return batch


def utc(ms):
    return datetime.fromtimestamp(ms / 1000, timezone.utc).isoformat(timespec="milliseconds").replace(".000", "").replace("+00:00", "Z")


def names(items):
    return [item["parameter" if "parameter" in item else "name"] for item in items]


def test_the_field_view_tells_the_worst_first_and_what_the_role_may_see(desk):
    well = {"engine_hours_h": 1200, "fuel_level_gal": 300, "coolant_c": 75.5, "gps_available": True, "latitude_deg": 41.5,
            "longitude_deg": -93.5, "serial": "MTG-1", "firmware": "4.11.2", "last_cell_call_in_ts": now() - 6 * 24 * HOUR,
            "connected_devices": 1, "connected_device_names": ["StarFire 6000"]}
    batch = send(desk, "view-1", well, {**well, "fuel_level_gal": 60}, {**well, "fuel_level_gal": 59.5, "coolant_c": 98.25})
    register(desk, "view-1", "--name", "Käthe <3", "--tags", "north,old")
    answer = desk.readers["farmer"].get("/v1/machines/view-1")
    document = answer.json
    assert (document["vehicle"], document["name"], document["model"]) == ("view-1", "Käthe <3", "S690 Combine")
    assert (document["tags"], document["is_disabled"], document["last_updated"]) == (["north", "old"], False, utc(batch[2]["ts"]))
    # Critical before warning; what opened later first.
    assert names(document["alerts"]) == ["Coolant Temperature", "Fuel Level", "Engine Hours"]
    coolant, fuel, _ = document["alerts"]
    assert (coolant["severity"], coolant["worst_value"], coolant["unit"]) == ("critical", 98.25, "°C")
    assert "stop the engine" in coolant["advice"]
    assert (fuel["severity"], fuel["since"], fuel["worst_value"]) == ("warning", utc(batch[1]["ts"]), 59.5)
    parameters = {each["name"]: each for each in document["parameters"]}
    assert parameters["Coolant Temperature"] == {
        "name": "Coolant Temperature", "key": "coolant_c", "value": 98.25, "unit": "°C", "read_at": utc(batch[2]["ts"])}
    assert (parameters["GPS Available"]["value"], parameters["Latitude"]["value"]) == (True, 41.5)
    assert parameters["Connected Device Names"]["value"] == ["StarFire 6000"]
    # What dealers see beyond farmers; what the box did not say is not there.
    assert set(parameters) == {"Engine Hours", "Fuel Level", "Coolant Temperature", "GPS Available", "Latitude", "Longitude",
                               "Connected Devices", "Connected Device Names"}
    for role in ("dealer", "developer"):
        more = desk.readers[role].get("/v1/machines/view-1").json
        assert set(names(more["alerts"])) - set(names(document["alerts"])) == {"Last Cell Call In"}
        assert set(names(more["parameters"])) - set(parameters) == {"Terminal Serial Number", "MTG Firmware Version", "Last Cell Call In"}

    tag = answer.headers["ETag"]
    same = desk.readers["farmer"].get("/v1/machines/view-1", If_None_Match=tag)
    assert (same.status, same.body) == (304, b"")
    run(desk, "alert", "acknowledge", fuel["alert"], "--by", "Jo")
    run(desk, "alert", "silence", "--vehicle", "view-1", "--parameter", "Fuel Level", "--until", "2099-01-01T00:00:00Z", "--by", "Jo")
    after = desk.readers["farmer"].get("/v1/machines/view-1", If_None_Match=tag)
    assert after.status == 200
    seen = after.json["alerts"][1]
    assert (seen["acknowledged_by"], seen["silenced_until"]) == ("Jo", "2099-01-01T00:00:00Z") and seen["acknowledged"]
    assert after.json["alerts"][0] == coolant


def test_a_machines_own_rule_says_who_sees_a_parameter(desk, tmp_path):
    send(desk, "own-1", {"coolant_c": 70, "serial": "MTG-2"}, model="8R Tractor")
    rule = """<root><parameter><name>{}</name><test>none</test><unit> </unit><type>{}</type><user>{}</user>
        <threshold>0</threshold></parameter></root>"""
    both = rule.format("Coolant Temperature", "int", "developer").replace(
        "</root>", "") + rule.format("MTG Serial Number", "string", "farmer").replace("<root>", "")

    folder = tmp_path / "rules"
    shutil.copytree(Path(__file__).resolve().parents[3] / "Deploy" / "thresholds", folder)
    (folder / "machines").mkdir()
    (folder / "machines" / "own-1-thresholds.xml").write_text(both)
    # The server publishes its own files when it starts; these come after them.
    desk.server.wait_for("rules (published|are in force)")
    version = re.search(r"version (\w+)", run(desk, "rules", "publish", folder, "--check")).group(1)
    run(desk, "rules", "publish", folder)

    def in_force():
        return query(desk.env, "SELECT DISTINCT ON (topic_partition) version FROM drover.rule_set ORDER BY topic_partition, in_force_at DESC")
    until(lambda: in_force() == [(version,)] * 8)
    assert names(desk.readers["farmer"].get("/v1/machines/own-1").json["parameters"]) == ["Terminal Serial Number"]
    assert len(desk.readers["developer"].get("/v1/machines/own-1").json["parameters"]) == 2


def test_a_machine_that_has_said_nothing_yet_and_those_that_are_none(desk):
    register(desk, "silent-1", "--name", "New", "--model", "8R Tractor")
    farmer = desk.readers["farmer"]
    document = farmer.get("/v1/machines/silent-1").json
    assert (document["model"], document["last_updated"], document["alerts"], document["parameters"]) == ("8R Tractor", None, [], [])
    assert farmer.get("/v1/machines/silent-1/readings").json == {"readings": [], "next": None}
    query(desk.env, "INSERT INTO drover.vehicle (kind, vehicle, topic_partition) VALUES ('car', 'van-1', 0)")
    for path in ["van-1", "nobody", "nobody/readings", "a%2Fb", "x" * 65]:
        assert farmer.get(f"/v1/machines/{path}").problem == (404, "not-found")


def pages(phone, path, name):
    """All items of all pages, and how many pages there were."""
    items, count = [], 0
    while path:
        answer = phone.get(path)
        assert answer.status == 200, answer.body
        items += answer.json[name]
        path, count = answer.json["next"], count + 1
    return items, count


def test_the_list_is_sorted_searched_and_paged_through_all(desk):
    for number in range(7):
        register(desk, f"list-{number}", "--tags", "a b&c" if number % 2 else "even", "--name", f"Größe {number}",
                 *(["--disable"] if number == 2 else []))
    send(desk, "list-3", {"fuel_level_gal": 50, "last_cell_call_in_ts": now() - 6 * 24 * HOUR})
    farmer = desk.readers["farmer"]
    everything, count = pages(farmer, "/v1/machines?search=LIST-&limit=3", "machines")
    assert [each["vehicle"] for each in everything] == [f"list-{n}" for n in (0, 1, 3, 4, 5, 6, 2)] and count == 3
    assert [each["is_disabled"] for each in everything] == [False] * 6 + [True]
    third = everything[2]
    assert (third["name"], third["tags"], third["model"], third["open_alerts"], third["worst_severity"]) == (
        "Größe 3", ["a b&c"], "S690 Combine", 1, "warning")
    assert third["last_updated"] and everything[0]["last_updated"] is None
    assert desk.readers["dealer"].get("/v1/machines?search=list-3").json["machines"][0]["open_alerts"] == 2
    # The next page's address carries what was asked for.
    odd, count = pages(farmer, "/v1/machines?tag=a+b%26c&search=gr%C3%B6%C3%9Fe&limit=2", "machines")
    assert [each["vehicle"] for each in odd] == ["list-1", "list-3", "list-5"] and count == 2


def test_the_history_is_paged_through_all_newest_first(desk):
    batch = send(desk, "history-1", *({"coolant_c": 60 + n / 8, "serial": "MTG-3"} for n in range(25)), until=now() - 999)
    readings, count = pages(desk.readers["farmer"], "/v1/machines/history-1/readings?limit=10", "readings")
    assert count == 3
    assert [(each["read_at"], each["coolant_c"]) for each in readings] == [(utc(each["ts"]), each["coolant_c"]) for each in reversed(batch)]
    assert {"serial", "reading_id"}.isdisjoint(readings[0]) and readings[0]["fuel_level_gal"] is None
    dealt = desk.readers["dealer"].get(f"/v1/machines/history-1/readings?limit=1&before={utc(batch[3]['ts'])}").json["readings"]
    assert (dealt[0]["read_at"], dealt[0]["serial"]) == (utc(batch[2]["ts"]), "MTG-3")


def test_tokens_without_the_scope_and_questions_that_make_no_sense_are_refused(desk):
    assert desk.sender.get("/v1/machines").problem == (403, "scope-missing")
    assert desk.readers["farmer"].ask("POST", "/v1/machines", "{}").problem == (405, "method-not-allowed")
    only_reads = desk.drover.run("token", "add", "--account", "miller", "--scope", "read", env=desk.env)
    phone = desk.phone(only_reads.out.strip())
    assert phone.post({}).problem == (403, "scope-missing")
    assert "read  farmer" in re.sub("  +", "  ", run(desk, "token", "list"))
    assert desk.drover.run("token", "add", "--account", "miller", "--scope", "read", "--role", "king", env=desk.env).code == 2
    for question, problem in [("?limit=0", "limit"), ("?limit=1001", "limit"), ("?limit=x", "limit"), ("?after=list-3", "after"),
                              ("?after=2.a", "after"), ("/history-1/readings?before=yesterday", "before"),
                              ("/history-1/readings?limit=-1", "limit")]:
        assert phone.get("/v1/machines" + question).problem == (400, problem)
    assert phone.ask("GET", "/v1/machines", Authorization="Bearer x").problem == (401, "token-unknown")


def test_the_pages_login_reads_no_secret(desk):
    with psycopg.connect(desk.env["DROVER_POSTGRES_READER_URL"], autocommit=True) as connection:
        for table in ["token", "debug_log", "outbox", "rejected"]:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT FROM drover.{table}")
