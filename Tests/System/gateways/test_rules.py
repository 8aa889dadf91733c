"""Rules from files to the log to alerts: publish, watch, SIGHUP, broken files."""
import json
import random
import re
import shutil
import signal
import time
from pathlib import Path

import pytest
from harness import ROOT, until
from world import a_world, query, url_of

TRACTOR = "8R Tractor-thresholds.xml"


@pytest.fixture
def rules(tmp_path):
    """A copy of the shipped files, to be changed."""
    return Path(shutil.copytree(ROOT / "Deploy" / "thresholds", tmp_path / "thresholds"))


def change(rules, old, new, name=TRACTOR):
    text = (rules / name).read_text()
    assert old in text
    (rules / name).write_text(text.replace(old, new))


def publish(world, env, rules, *arguments):
    return world.drover.done("rules", "publish", rules, *arguments, env=env).out


def versions(env):
    """The set that the workers know last, by partition."""
    return dict(query(env, "SELECT DISTINCT ON (topic_partition) topic_partition, version FROM drover.rule_set ORDER BY 1, in_force_at DESC"))


def first_sets(env):
    """Partitions with the set of a worker's own files."""
    return query(env, "SELECT count(*) FROM drover.rule_set WHERE in_force_at = '1990-01-01T00:00:00Z'")[0][0]


def read(world, vehicle, **values):
    """A reading of now."""
    ts = int(time.time() * 1000)
    reading = {"schema": 1, "kind": "reading", "id": f"r-{ts}", "vehicle": vehicle, "ts": ts, "model": "8R Tractor", **values}
    world.push("drover.machines", reading)


def alerts(world, env, vehicle):
    world.work_off(env)
    return query(env, "SELECT parameter, threshold, rules_version FROM drover.alert WHERE vehicle = %s ORDER BY opened_at", vehicle)


def version_of(world, rules):
    return re.search(r"version (\w+)", world.drover.run("rules", "publish", rules, "--check").out).group(1)


def test_published_rules_judge_and_say_what_changed(world, rules):
    env = world.database()
    first = publish(world, env, rules)
    assert "added 8R Tractor: Coolant Temperature: test above, unit °C" in first
    assert re.search(r"put on (\d+) of \1 partitions of drover.machines", first)
    # Nothing was read by a worker yet: the log itself says that nothing changed.
    assert publish(world, env, rules) == f"version {version_of(world, rules)} is in force already; nothing was published\n"

    change(rules, "<threshold>85</threshold>", "<threshold>80</threshold>")
    change(rules, "<clear>82</clear>", "<clear>78</clear>")
    (rules / "machines").mkdir()
    (rules / "machines" / "cool-2-thresholds.xml").write_text(
        (ROOT / "Tests/Fixtures/thresholds/old/S690 Combine-thresholds.xml").read_text()
        .replace("Fuel Level", "Coolant Temperature").replace("below<", "above<").replace(">65<", ">99<"))
    lines = publish(world, env, rules).splitlines()
    assert lines[:2] == [
        "changed 8R Tractor: Coolant Temperature: threshold 85 → 80, clear 82 → 78",
        "added machine cool-2: Coolant Temperature: test above, unit gallons, type int, user farmer, threshold 99",
    ]
    worker = world.worker(env, "judge")
    for vehicle in ("cool-1", "cool-2"):
        read(world, vehicle, coolant_c=81)
    version = version_of(world, rules)
    assert alerts(world, env, "cool-1") == [("Coolant Temperature", 80, version)]
    assert alerts(world, env, "cool-2") == []
    # The worker's own files, which it publishes for partitions without a set, do not take the place of what was published.
    until(lambda: first_sets(env) == len(versions(env)))
    assert set(versions(env).values()) == {version}
    # What workers have read, and what they have not.
    assert "nothing was published" in publish(world, env, rules)
    assert worker.stop() == 0
    assert "removed machine cool-2: Coolant Temperature" in publish(world, env, ROOT / "Deploy" / "thresholds")
    assert publish(world, env, rules).splitlines()[0].endswith("threshold 85 → 80, clear 82 → 78")


def test_broken_files_are_told_and_nothing_is_published(world):
    env = world.database()
    run = world.drover.run("rules", "publish", ROOT / "Tests/Fixtures/thresholds/broken", env=env)
    assert run.code == 1 and run.out == ""
    assert len(re.findall(r"^\d\d [\w ]+-thresholds\.xml:\d+: <\w+>: ", run.err, re.M)) == 12
    assert '06 critical on the good side-thresholds.xml:9: <critical>: is "80", critical must lie beyond the threshold.' in run.err
    world.drover.fails("rules", "publish", "--check", ROOT / "Tests", env=env, says="holds no `<model>-thresholds.xml`")
    run = world.drover.run("rules", "publish", "--check", ROOT / "Deploy/thresholds")
    assert run.code == 0 and "models: 8R Tractor, R4038 Sprayer, S690 Combine" in run.out


def serve(world, env, rules, watch_s):
    return world.drover.start(
        "serve", "--port", "0", "--set", f"alerts.thresholds_dir={rules}", "--set", f"alerts.watch_s={watch_s}", env=env)


def test_a_changed_file_reaches_the_workers_and_a_broken_one_leaves_the_last_good_set(world, rules):
    env = world.database()
    worker = world.worker(env, "watched")
    page = serve(world, env, rules, 1)
    page.wait_for("rules (published|are in force)")
    change(rules, "<threshold>85</threshold>", "<threshold>84</threshold>")
    page.wait_for("changed 8R Tractor: Coolant Temperature: threshold 85 → 84")
    version = version_of(world, rules)
    until(lambda: set(versions(env).values()) == {version})

    change(rules, "<threshold>84</threshold>", "<threshold>eighty</threshold>")
    page.wait_for(r'last good set stays in force" error=.*8R Tractor-thresholds.xml:\d+: <threshold>: is \W+eighty\W+, must be a number')
    read(world, "watched-1", coolant_c=84.5)
    assert alerts(world, env, "watched-1") == [("Coolant Temperature", 84, version)]
    assert set(versions(env).values()) == {version}

    change(rules, "<threshold>eighty</threshold>", "<threshold>83</threshold>")
    page.wait_for("threshold 84 → 83")
    assert (page.stop(), worker.stop()) == (0, 0)


def test_sighup_reads_the_files_at_once(world, rules):
    env = world.database()
    worker = world.worker(env, "reloaded")
    page = serve(world, env, rules, 3600)
    page.wait_for("the page is at")
    change(rules, "<threshold>85</threshold>", "<threshold>81</threshold>")
    change(rules, "<clear>82</clear>", "<clear>79</clear>")
    page.signal(signal.SIGHUP)
    page.wait_for("threshold .* → 81")
    version = version_of(world, rules)
    until(lambda: set(versions(env).values()) == {version})
    page.signal(signal.SIGHUP)
    page.wait_for(f"rules are in force already\" version={version}")
    assert (page.stop(), worker.stop()) == (0, 0)


def test_rule_tests_pass_for_the_shipped_rules_and_tell_what_a_change_breaks(drover, rules):
    run = drover.run("rules", "test", ROOT / "Deploy" / "thresholds")
    assert (run.code, run.out, run.err) == (0, "87 rule tests passed, 0 failed\n", "")
    change(rules, "<critical>95</critical>", "<critical>96</critical>")
    run = drover.run("rules", "test", rules)
    assert run.code == 1 and run.out == "86 rule tests passed, 1 failed\n"
    assert run.err.startswith(
        "8R Tractor.yaml:36: coolant just above 95 is critical and stays so until it clears\n"
        "  expected: Coolant Temperature opened +0s, resolved +2m, state resolved, severity critical, worst 95.1\n"
        "  came:     Coolant Temperature opened +0s, resolved +2m, state resolved, severity warning, ")
    (rules / "tests" / "more.yaml").write_text("tests: [{name: a, when: [], then: []}]\n")
    run = drover.run("rules", "test", rules)
    assert run.code == 1 and "more.yaml:1: `given` must name a model and a start\n" in run.err
    assert run.out == "86 rule tests passed, 1 failed, 1 files not read\n"
    drover.fails("rules", "test", rules, "--tests", rules, says="holds no rule tests")


DAY = 86_400_000
SEPTEMBER = 1_788_220_800_000  # 2026-09-01T00:00:00Z


def history(seed, machines=6, readings=240):
    """Seeded readings of tractors around all limits: values missing, GPS lost, reporting machines that fall silent, boxes without
    contact; and the services that were done."""
    chance = random.Random(seed)
    made = []
    for machine in range(machines):
        vehicle, ts = f"try-{seed}-{machine}", SEPTEMBER + machine * 1000
        call_in = ts
        for index in range(readings):
            ts += chance.choice([60_000, 120_000, 600_000, 3_600_000, 9 * 3_600_000])
            call_in = ts if chance.random() < 0.02 else call_in
            reading = {"schema": 1, "kind": "reading", "id": f"r-{index}", "vehicle": vehicle, "ts": ts, "model": "8R Tractor",
                       "reporting": chance.random() < 0.5, "last_cell_call_in_ts": call_in, "engine_hours_h": index}
            for key, low, high in (("coolant_c", 70, 100), ("hydraulic_oil_c", 45, 60), ("tire_pressure_kpa", 65, 80), ("fuel_level_gal", 40, 60)):
                if chance.random() < 0.9:
                    reading[key] = round(chance.uniform(low, high), 1)
            if chance.random() < 0.6:
                reading["gps_available"] = chance.random() < 0.7
            if chance.random() < 0.5:
                reading["last_reprogramming_ok"] = chance.random() < 0.8
            made.append(reading)
            if chance.random() < 0.05:
                made.append({"schema": 1, "kind": "reading", "id": f"contact-{index}", "vehicle": vehicle, "ts": ts + 30_500, "model": "8R Tractor",
                             "reporting": True, "contact": chance.random() < 0.5})
            if chance.random() < 0.02:
                made.append({"schema": 1, "kind": "service", "id": f"s-{index}", "vehicle": vehicle, "ts": ts + 10_000, "by": "Anna",
                             "engine_hours_h": index})
    return made


def tried(world, env, parameter, *arguments, days=("2026-09-01", "2026-12-31")):
    run = world.drover.done("rules", "try", "--parameter", parameter, "--model", "8R Tractor", "--from", days[0], "--to", days[1],
                            "--format", "json", *arguments, env=env)
    return json.loads(run.out)


def two_sets(world, env, rules):
    """Another limit for fuel, in force from the middle of the history on and told at its end."""
    shutil.copytree(ROOT / "Deploy" / "thresholds", rules)
    change(rules, "<threshold>50</threshold>\n    <clear>54<", "<threshold>45</threshold>\n    <clear>48<")
    publish(world, env, rules)
    world.work_off(env)
    version, text = query(env, "SELECT version, rules FROM drover.rule_set ORDER BY in_force_at DESC LIMIT 1")[0]
    world.tell("drover.machines", {"schema": 1, "kind": "rules", "ts": SEPTEMBER + 10 * DAY, "version": version, "rules": text})


@pytest.fixture(scope="module")
def lived(program, tmp_path_factory):
    """A history that came late, shuffled and twice, under two rule sets, on a log of its own; and the role that may only read
    its tables."""
    with a_world(program) as world:
        env = world.database()
        publish(world, env, ROOT / "Deploy" / "thresholds")
        chance, made = random.Random(4), history(4)
        late = chance.sample(made, len(made) // 3)
        world.push("drover.machines", *[each for each in made if each not in late])
        worker = world.worker(env, "lived")
        world.work_off(env)
        world.tell("drover.machines", {"schema": 1, "kind": "tick", "ts": int(time.time() * 1000)})
        chance.shuffle(late)
        world.push("drover.machines", *late + late[:50])
        world.work_off(env)
        two_sets(world, env, tmp_path_factory.mktemp("rules") / "thresholds")
        world.work_off(env)
        assert worker.stop() == 0
        query(env, "CREATE ROLE try_reader LOGIN IN ROLE drover_reader")
        reader = url_of(env, "try_reader")
        assert "try_reader" in reader
        yield world, {**env, "DROVER_POSTGRES_READER_URL": reader, "DROVER_POSTGRES_URL": "host=nowhere.invalid"}, env


# The fuel limit changed in between: only the rules that were in force reproduce it.
CURRENT = {"Coolant Temperature": ("--above", "85"), "Fuel Level": (), "Tire Pressure": ("--below", "70"),
           "Hydraulic Oil Temperature": ("--above", "55"), "GPS Available": ("--below", "1"), "Last Cell Call In": ("--above", "5"),
           "Engine Hours": ("--above", "50"), "Last Reprogramming Status": ()}


@pytest.mark.parametrize("parameter", CURRENT)
def test_the_current_threshold_reproduces_the_real_history(lived, parameter):
    world, reader, owner = lived
    for limit in ((), CURRENT[parameter]):
        answer = tried(world, reader, parameter, *limit)
        assert (answer["changed"], answer["added"], answer["removed"]) == (0, 0, 0), answer["alerts"]
    rows = query(owner, """SELECT count(*), count(*) FILTER (WHERE revision > 0), count(*) FILTER (WHERE resolved_at IS NULL)
           FROM drover.alert WHERE parameter = %s AND state <> 'withdrawn' AND model = '8R Tractor'""", parameter)[0]
    assert answer["same"] == rows[0] == len(answer["alerts"]) > 0
    assert answer["machines"] == 6 and answer["readings"] >= 6 * 240
    if parameter in ("Coolant Temperature", "GPS Available"):
        # It holds because late data was judged again, not because there was none.
        assert rows[0] > 50 and rows[1] > 10
    if parameter == "Fuel Level":
        assert tried(world, reader, parameter, "--below", "50")["added"] > 0


def test_another_threshold_says_what_would_have_been(lived):
    world, reader, owner = lived
    answer = tried(world, reader, "Coolant Temperature", "--above", "90")
    assert answer["removed"] > 0 and answer["changed"] > 0 and answer["machines"] == 6
    # An independent look: without hysteresis and hold a plain walk over the readings.
    rows = query(owner, "SELECT vehicle, read_at, coolant_c FROM drover.machine_reading WHERE coolant_c IS NOT NULL ORDER BY 1, 2")
    opened, is_open, last = [], False, None
    for vehicle, at, celsius in rows:
        is_open = is_open and vehicle == last and celsius > 82
        if not is_open and celsius > 90:
            is_open = True
            opened.append((vehicle, at.strftime("%Y-%m-%dT%H:%M:%SZ")))
        last = vehicle
    ours = [(each["vehicle"], each["would_be"]["opened"]) for each in answer["alerts"] if each["would_be"]]
    assert sorted(ours) == sorted(opened) and len(opened) > 20
    # A day in the reader's zone: alerts that were open then.
    day = tried(world, reader, "Coolant Temperature", "--above", "90", "--zone", "America/New_York", days=("2026-09-03", "2026-09-03"))
    wanted = [each for each in answer["alerts"] if each["would_be"] and each["would_be"]["opened"] < "2026-09-04T04:00:00Z"
              and (each["would_be"]["resolved"] or "9") > "2026-09-03T04:00:00Z"]
    assert [each["would_be"] for each in day["alerts"] if each["would_be"]] == [each["would_be"] for each in wanted] != []
    # As a table for people, and refused with what is accepted.
    run = world.drover.run("rules", "try", "--parameter", "Coolant Temperature", "--model", "8R Tractor", "--above", "90",
                           "--from", "2026-09-03", "--to", "2026-09-03", env=reader)
    assert run.code == 0 and run.out.startswith("vehicle") and "6 machines, " in run.err
    for words, element in [(["--above", "100", "--critical", "90"], "critical"), (["--critical", "80"], "critical"), (["--above", "90", "--clear", "91"], "clear")]:
        run = world.drover.run("rules", "try", "--parameter", "Coolant Temperature", "--model", "8R Tractor", *words, "--from", "2026-09-03", "--to", "2026-09-03", env=reader)
        assert run.code == 2 and f"--{element}: {element} must lie" in run.err, run.err
    run = world.drover.run("rules", "try", "--parameter", "Heat", "--model", "8R Tractor", "--from", "2026-09-03", "--to", "2026-09-03", env=reader)
    assert run.code == 2 and "must be one of Engine Hours, " in run.err
    run = world.drover.run("rules", "try", "--parameter", "Fuel Level", "--model", "9R", "--from", "2026-09-03", "--to", "2026-09-03", env=reader)
    assert run.code == 1 and "no machine of the model `9R` has reported" in run.err
