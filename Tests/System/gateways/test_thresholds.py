"""The threshold table of the machines, cell by cell, through the whole path: emulated boxes, gateway, broker, worker, rows
of drover.alert, with the shipped thresholds. What is expected is written here, not read from the threshold files."""
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

import pytest
from harness import until
from test_gateway import emulate, gateway, register, servers, world  # noqa: F401 (fixtures)
from world import connect, query

# Test, alert beyond (strict), critical beyond, and the value at which it resolves: our own choice, on the good side.
LIMITS = {
    "S690 Combine": {
        "fuel_level_gal": ("below", 65, None, 70), "coolant_c": ("above", 85, 95, 82),
        "hydraulic_oil_c": ("above", 55, None, 52), "tire_pressure_kpa": ("below", 160, None, 165)},
    "R4038 Sprayer": {
        "fuel_level_gal": ("below", 40, None, 44), "coolant_c": ("above", 85, 95, 82),
        "hydraulic_oil_c": ("above", 88, None, 85), "tire_pressure_kpa": ("below", 420, None, 425)},
    "8R Tractor": {
        "fuel_level_gal": ("below", 50, None, 54), "coolant_c": ("above", 85, 95, 82),
        "hydraulic_oil_c": ("above", 55, None, 52), "tire_pressure_kpa": ("below", 70, None, 72)},
}
RECOMMENDED = {"S690 Combine": 193, "R4038 Sprayer": 441, "8R Tractor": 80}
NAMES = {
    "fuel_level_gal": "Fuel Level", "coolant_c": "Coolant Temperature", "hydraulic_oil_c": "Hydraulic Oil Temperature",
    "tire_pressure_kpa": "Tire Pressure", "gps_available": "GPS Available", "engine_hours_h": "Engine Hours",
    "last_cell_call_in_at": "Last Cell Call In", "last_reprogramming_ok": "Last Reprogramming Status"}
DEALERS = {"Last Cell Call In", "Last Reprogramming Status"}
SERVICED = "No service recorded"
MEMORY_MIN = 65  # Three ramps of 20 minutes: at least one is whole, whenever the test begins.
DAY_MIN = 24 * 60


@dataclass
class Case:
    parameter: str  # as the table names it
    model: str
    value: str  # as the table names it
    expected: str  # what stands in drover.alert, or `walk`: what a walk over the readings finds
    values: dict = field(default_factory=dict)  # what the box says
    box: dict = field(default_factory=dict)
    walk: tuple = ()  # column, test, threshold, critical, clear, seconds that it must have held
    service_h: float | None = None
    service_later_h: float | None = None


def limits(model, key, test, threshold, critical, clear):
    """Around the limits by a thousandth, the finest that the wire can say, and a ramp from beyond the limit to good."""
    out = -1 if test == "below" else 1
    name = NAMES[key]

    def constant(what, value, expected):
        return Case(name, model, f"{what}: {value}", expected, {key: value})
    yield constant("within", threshold - out / 1000, "nothing")
    yield constant("at", threshold, "nothing")
    yield constant("beyond", threshold + out / 1000, f"{name} warning open")
    if critical is not None:
        yield constant("just within critical", critical - out / 1000, f"{name} warning open")
        yield constant("at critical", critical, f"{name} warning open")
        yield constant("beyond critical", critical + out / 1000, f"{name} critical open")
        ramp = f"{critical + out} to {clear - out * 2} over 20 min"
    else:
        ramp = f"{threshold + out * 2} to {clear - out * 2} over 20 min"
    yield Case(name, model, f"clearing: {ramp}", "walk", {key: ramp}, walk=(key, test, threshold, critical, clear, 0))


def gps(model):
    """Half a period there, half not: five, six or seven readings without, a minute apart."""
    for minutes, what in ((10, "none for 4 min"), (12, "none for 5 min"), (14, "none for 6 min, then there")):
        yield Case("GPS", model, what, "walk" if minutes == 14 else "nothing", {"gps_available": f"1 to 0 over {minutes} min"},
                   walk=("gps_available", "below", 1, None, 1, 300))
    yield Case("GPS", model, "no word of it for 30 min", "GPS Available warning open 5 min after the first reading", box={"structure_bytes": 89})


def hours(model):
    def at(run, expected):
        return Case("machine hours", model, f"{run} h since the service", expected, {"engine_hours_h": 1000 + run}, service_h=1000)
    yield at(40, "nothing")
    yield at(49.999, "Engine Hours warning due_soon")
    yield at(50, "Engine Hours warning due_soon")
    yield at(50.001, "Engine Hours warning open")
    yield Case("machine hours", model, "60 h, then a service", "Engine Hours warning resolved", {"engine_hours_h": 1060}, service_h=1000, service_later_h=1060)
    yield Case("machine hours", model, "no service recorded", "nothing but that", {"engine_hours_h": 12})


def dealers(model):
    call_in, again = "last_cell_call_in_ts", "last_reprogramming_ok"
    yield Case("last cell call-in", model, "10 min less than 5 days", "nothing", {call_in: 5 * DAY_MIN - 10})
    yield Case("last cell call-in", model, "5 days to the ms", "Last Cell Call In warning open by the clock", {call_in: 5 * DAY_MIN})
    yield Case("last cell call-in", model, "10 min more than 5 days", "Last Cell Call In warning open", {call_in: 5 * DAY_MIN + 10})
    yield Case("last cell call-in", model, "more, then less than 5 days", "walk", {call_in: f"{5 * DAY_MIN + 60} to {5 * DAY_MIN - 60} over 20 min"},
               walk=("last_cell_call_in_at", "above", timedelta(days=5), None, timedelta(days=5), 0))
    yield Case("last reprogramming", model, "failed", "Last Reprogramming Status warning open", {again: 0})
    yield Case("last reprogramming", model, "failed, then done", "walk", {again: "0 to 1 over 20 min"}, walk=("last_reprogramming_ok", "below", 1, None, 1, 0))


def shown(model):
    for key, name in (("rda_license", "RDA licence"), ("wdt_license", "WDT licence"), ("machine_sync", "Machine Sync"), ("connected_devices", "connected devices")):
        yield Case(name, model, "0", "nothing", {key: 0})
    yield Case("firmware version", model, "0.0.1", "nothing", box={"firmware": "0.0.1"})
    yield Case("serial number", model, "of the box", "nothing")


def all_cases():
    for model, parameters in LIMITS.items():
        for key, row in parameters.items():
            yield from limits(model, key, *row)
        for rows in (gps, hours, dealers, shown):
            yield from rows(model)
    bad = {"coolant_c": 120, "fuel_level_gal": 0, "gps_available": 0, "last_reprogramming_ok": 0, "last_cell_call_in_ts": 10 * DAY_MIN}
    yield Case("all of them", "9R Tractor", "beyond, and the model has no thresholds", "nothing", bad)


def scenario(path, cases):
    lines = ["interval_s: 60", f"memory_min: {MEMORY_MIN}", "boxes:"]
    for index, case in enumerate(cases):
        lines += [f"  b{index:03}:", f"    model: {case.model}"]
        lines += [f"    {key}: {value}" for key, value in case.box.items()]
        if case.values:
            lines += ["    values:"] + [f"      {key}: {value}" for key, value in case.values.items()]
    path.write_text("\n".join(lines) + "\n")
    return path


def walk(readings, test, threshold, critical, clear, hold_s):
    """Episodes of readings (time, value) in order: (opened, resolved, severity)."""
    found, since = [], None
    for at, value in readings:
        def beyond(limit):
            return limit is not None and (value < limit if test == "below" else value > limit)
        is_open = found and found[-1][1] is None
        if is_open and not beyond(clear):
            found[-1][1], since = at, None
        elif is_open and beyond(critical):
            found[-1][2] = "critical"
        elif not is_open and beyond(threshold):
            since = since or at
            if hold_s == 0 or (at - since).total_seconds() > hold_s:
                found.append([at, None, "critical" if beyond(critical) else "warning"])
        elif not is_open:
            since = None
    return [tuple(each) for each in found]


def said(name, episodes):
    return "; ".join(f"{name} {severity} {opened:%H:%M}–" + (f"{resolved:%H:%M} resolved" if resolved else "open")
                     for opened, resolved, severity in episodes) or "nothing"


class Stored:
    """What the tables hold of one machine."""

    def __init__(self, connection, vehicle, live_since):
        self.alerts = connection.execute(
            """SELECT parameter, severity, state, opened_at, resolved_at, threshold, recommended, audience, advice, test
               FROM drover.alert WHERE vehicle = %s AND state <> 'withdrawn' ORDER BY opened_at, parameter""", [vehicle]).fetchall()
        self.readings = connection.execute(
            f"""SELECT read_at, coolant_c, fuel_level_gal, hydraulic_oil_c, tire_pressure_kpa, gps_available::int, last_reprogramming_ok::int,
                read_at - last_cell_call_in_at FROM drover.machine_reading WHERE vehicle = %s AND contact IS NULL ORDER BY read_at""", [vehicle]).fetchall()
        self.column = {name: index + 1 for index, name in enumerate(
            ["coolant_c", "fuel_level_gal", "hydraulic_oil_c", "tire_pressure_kpa", "gps_available", "last_reprogramming_ok", "last_cell_call_in_at"])}

        # A box goes on making readings while it is polled: what the clock opened at one of these, the next one resolves.
        at = [row[0] for row in self.readings]
        self.live = {one: another for one, another in zip(at, at[1:]) if another >= live_since}

    def of(self, column):
        return [(row[0], row[self.column[column]]) for row in self.readings]

    def others(self, case):
        """Without what every machine has whose service was never recorded."""
        none = [each for each in self.alerts if each[0] == "Engine Hours" and each[8].startswith(SERVICED)]
        is_wanted = case.service_h is None and case.model in LIMITS and "structure_bytes" not in case.box
        assert len(none) == is_wanted, f"{case}: {none}"
        return [each for each in self.alerts if each not in none]

    def expected(self, case):
        if case.expected == "walk":
            return said(NAMES[case.walk[0]], walk(self.of(case.walk[0]), *case.walk[1:]))
        return "nothing" if case.expected == "nothing but that" else case.expected

    def got(self, case):
        first, last = self.readings[0][0], self.readings[-1][0]
        if case.expected == "walk":
            # What the clock opens after the last reading is no part of the walk.
            return said(NAMES[case.walk[0]], [(each[3], each[4], each[1]) for each in self.others(case) if each[3] <= last])
        words = []
        for name, severity, state, opened, resolved, _, _, _, _, test in self.others(case):
            if case.expected.endswith("by the clock") and resolved and resolved == self.live.get(opened):
                continue
            when = "" if opened == first else " by the clock" if opened == last else f" {(opened - first).total_seconds() / 60:g} min after the first reading"
            words.append(f"{name} {severity} {state}{when}")
        return "; ".join(words) or "nothing"


def check_gps_spans(stored, case):
    """The box said what the case is named after."""
    zeros, longest = None, 0
    for at, value in stored.of("gps_available"):
        zeros = None if value else zeros or at
        longest = max(longest, (at - zeros).total_seconds()) if zeros else longest
    assert longest == {"10": 240, "12": 300, "14": 360}[case.values["gps_available"].split()[-2]], case


def test_every_cell_of_the_threshold_table_from_the_box_to_the_alert(world, tmp_path):  # noqa: F811
    cases = list(all_cases())
    env = world.database()
    worker = world.worker(env, "one", **{"ticks.interval_s": 1})
    live_since = datetime.now(timezone.utc)
    boxes = sorted(emulate(world, scenario(tmp_path / "table.yaml", cases), len(cases)), key=lambda box: box["what"])
    assert [box["what"] for box in boxes] == [f"b{index:03}" for index in range(len(cases))]
    vehicles = [box["serial"] for box in boxes]
    register(env, boxes)

    def serve(vehicle, hours, *at):
        world.drover.done("vehicle", "service", vehicle, "--hours", f"{hours:g}", "--by", "Anna", *at, env=env)

    def serve_all(hours, *at):
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda each: serve(*each, *at), [(v, getattr(c, hours)) for v, c in zip(vehicles, cases) if getattr(c, hours)]))
    serve_all("service_h", "--at", f"{datetime.now(timezone.utc) - timedelta(days=2):%Y-%m-%dT%H:%M:%SZ}")
    running = gateway(world, env, tmp_path)

    def is_told():
        return dict(query(env, "SELECT vehicle, count(*) FROM drover.machine_reading WHERE contact IS NULL GROUP BY 1"))
    until(lambda: len(counts := is_told()) == len(cases) and min(counts.values()) >= MEMORY_MIN, running, worker)
    assert running.stop() == 0
    serve_all("service_later_h")
    world.work_off(env)

    def clock_is_past():
        return query(env, """SELECT min(clock_at) > (SELECT max(read_at) FROM drover.machine_reading) FROM drover.partition_progress
               WHERE topic = 'drover.machines'""")[0][0]
    until(clock_is_past, worker)
    assert worker.stop() == 0

    table, wrong = [], []
    with connect(env) as connection:
        for case, vehicle in zip(cases, vehicles):
            stored = Stored(connection, vehicle, live_since)
            if case.parameter == "GPS" and case.values:
                check_gps_spans(stored, case)
            expected, got = stored.expected(case), stored.got(case)
            if case.expected == "walk":
                assert "resolved" in expected, f"{case}: the ramp is never past its limit and back: {expected}"
            table.append(f"| {case.parameter} | {case.model} | {case.value} | {expected} | {got} |")
            if expected != got:
                wrong.append(table[-1])
            for name, _, _, _, _, threshold, recommended, audience, _, _ in stored.alerts:
                limit = next((row[1] for key, row in LIMITS[case.model].items() if NAMES[key] == name), threshold)
                wanted = (limit, RECOMMENDED[case.model] if name == "Tire Pressure" else None, "dealer" if name in DEALERS else "farmer")
                if (threshold, recommended, audience) != wanted:
                    wrong.append(f"{case.model}, {name}: {(threshold, recommended, audience)}, expected {wanted}")
        assert connection.execute("SELECT count(*) FROM drover.rejected").fetchone() == (0,)
    print("\n| parameter | model | value | expected | got |\n| --- | --- | --- | --- | --- |\n" + "\n".join(table))
    assert not wrong, "\n".join(wrong)

    def parameters(role):
        return {alert["parameter"] for alert in json.loads(world.drover.done("alert", "list", "--all", "--role", role, "--limit", 10_000, "--format", "json", env=env).out)}
    assert parameters("dealer") == parameters("developer") == set(NAMES.values())
    assert parameters("farmer") == set(NAMES.values()) - DEALERS


@pytest.mark.long(reason="three days of readings; test_gateway.py has a backlog over a line that is cut")
def test_a_backlog_of_three_days_tells_its_overheating_late_and_no_false_alert(world, tmp_path):  # noqa: F811
    """Over a line that is cut ten times; the clock of the log is days ahead of the readings all the while."""
    (tmp_path / "cut.yaml").write_text(
        """memory_min: 4320\nboxes:\n  cut:\n    model: S690 Combine\n    cut_after_bytes: 120000\n    values:\n      coolant_c: 70 .. 99 over 1440 min\n""")
    env = world.database()
    worker = world.worker(env, "one", **{"ticks.interval_s": 1})
    [box] = boxes = emulate(world, tmp_path / "cut.yaml", 1)
    register(env, boxes)
    running, vehicle = gateway(world, env, tmp_path), box["serial"]

    def count():
        return query(env, "SELECT count(*) FROM drover.machine_reading WHERE contact IS NULL")[0][0]
    until(lambda: count() >= 4_320, running, worker)
    assert running.stop() == 0
    assert running.output().count("closed in the middle of an answer") >= 10
    world.work_off(env)
    assert worker.stop() == 0
    with connect(env) as connection:
        stored = Stored(connection, vehicle, live_since=datetime.now(timezone.utc))
        expected = walk(stored.of("coolant_c"), "above", 85, 95, 82, 0)
        rows = connection.execute(
            """SELECT parameter, opened_at, resolved_at, severity, told_at, resolved_told_at, revision, alert_id, state FROM drover.alert
               ORDER BY parameter, opened_at""").fetchall()
        told = [record for record, in connection.execute("SELECT record::jsonb FROM drover.outbox WHERE topic = 'drover.alerts' ORDER BY outbox_id")]
    # Those that were withdrawn, too: there are none.
    assert [row[0] for row in rows] == ["Coolant Temperature"] * len(expected) + ["Engine Hours"]
    assert [row[1:4] for row in rows[:-1]] == expected
    assert {row[6] for row in rows} == {0}

    def is_late(at, told_at):
        return told_at - at > timedelta(minutes=5)
    late = [(is_late(row[1], row[4]), bool(row[2]) and is_late(row[2], row[5])) for row in rows[:-1]]
    assert late.count((True, True)) >= 2
    kinds = [record["transition"] for record in told if record["parameter"] == "Coolant Temperature"]
    assert sorted(kind for kind in kinds if kind != "worse") == ["opened"] * len(expected) + ["resolved"] * sum(bool(each[1]) for each in expected)
    # That it is critical is told once: with its opening, where the readings up to then came together, or after it.
    for row in rows[:-1]:
        critical = [record for record in told if record["alert"] == row[7] and record["severity"] == "critical" and record["transition"] in ("opened", "worse")]
        assert len(critical) == (row[3] == "critical"), (row, kinds)
    for row, (opened_late, resolved_late) in zip(rows, late):
        marks = {record["transition"]: "late" in record for record in told if record["alert"] == row[7]}
        assert (marks["opened"], marks.get("resolved", False)) == (opened_late, resolved_late)
        run = world.drover.run("alert", "show", row[7], env=env)
        assert run.code == 0 and (("opened late: told 2" in run.out), ("resolved late: told 2" in run.out)) == (opened_late, resolved_late), run.out
    run = world.drover.run("alert", "list", "--all", "--format", "json", env=env)
    assert {(alert["is_opened_late"], bool(alert["is_resolved_late"])) for alert in json.loads(run.out) if alert["parameter"] == "Coolant Temperature"} == set(late)
