"""Rules from files to the log to alerts: publish, watch, SIGHUP, broken files."""
import json
import re
import shutil
import signal
import tempfile
import time
from pathlib import Path

import pytest
from harness import ROOT, Drover
from world import World, connect, producer

TRACTOR = "8R Tractor-thresholds.xml"


@pytest.fixture(scope="module")
def world(program):
    folder = Path(tempfile.mkdtemp(prefix="drover-rules-", dir="/tmp"))
    folder.chmod(0o711)
    drover = Drover(program)
    yield World(drover, drover.servers(folder / "data"))
    drover.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def rules(tmp_path):
    """A copy of the shipped files, to be changed."""
    return Path(shutil.copytree(ROOT / "Deploy" / "thresholds", tmp_path / "thresholds"))


def change(rules, old, new, name=TRACTOR):
    text = (rules / name).read_text()
    assert old in text
    (rules / name).write_text(text.replace(old, new))


def publish(world, env, rules, *arguments):
    run = world.drover.run("rules", "publish", rules, *arguments, env=env)
    assert run.code == 0, run.err
    return run.out


def versions(env):
    """The set that the workers know last, by partition."""
    with connect(env) as connection:
        return dict(connection.execute(
            "SELECT DISTINCT ON (topic_partition) topic_partition, version FROM drover.rule_set ORDER BY 1, in_force_at DESC").fetchall())


def wait_until(what, seconds=30):
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, f"not so after {seconds} s"
        time.sleep(0.05)


def read(world, vehicle, **values):
    """A reading of now."""
    ts = int(time.time() * 1000)
    reading = {"schema": 1, "kind": "reading", "id": f"r-{ts}", "vehicle": vehicle, "ts": ts, "model": "8R Tractor", **values}
    sender = producer(world.brokers)
    sender.produce("drover.machines", key=vehicle.encode(), value=json.dumps(reading).encode())
    assert sender.flush(20) == 0


def alerts(world, env, vehicle):
    world.work_off(env)
    with connect(env) as connection:
        return connection.execute(
            "SELECT parameter, threshold, rules_version FROM drover.alert WHERE vehicle = %s ORDER BY opened_at", [vehicle]).fetchall()


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
    run = world.drover.run("rules", "publish", "--check", ROOT / "Tests", env=env)
    assert run.code == 1 and "holds no `<model>-thresholds.xml`" in run.err
    run = world.drover.run("rules", "publish", "--check", ROOT / "Deploy/thresholds")
    assert run.code == 0 and "models: 8R Tractor, R4038 Sprayer, S690 Combine" in run.out


def serve(world, env, rules, watch_s):
    return world.drover.start(
        "serve", "--port", "0", "--set", f"alerts.thresholds_dir={rules}", "--set", f"alerts.watch_s={watch_s}", env=env)


def test_a_changed_file_reaches_the_workers_and_a_broken_one_leaves_the_last_good_set(world, rules):
    env = world.database()
    worker = world.worker(env, "watched")
    page = serve(world, env, rules, 1)
    page.wait_for("rules (published|are in force)", 30)
    change(rules, "<threshold>85</threshold>", "<threshold>84</threshold>")
    page.wait_for("changed 8R Tractor: Coolant Temperature: threshold 85 → 84", 30)
    version = version_of(world, rules)
    wait_until(lambda: set(versions(env).values()) == {version})

    change(rules, "<threshold>84</threshold>", "<threshold>eighty</threshold>")
    page.wait_for(r'last good set stays in force" error=.*8R Tractor-thresholds.xml:\d+: <threshold>: is \W+eighty\W+, must be a number', 30)
    read(world, "watched-1", coolant_c=84.5)
    assert alerts(world, env, "watched-1") == [("Coolant Temperature", 84, version)]
    assert set(versions(env).values()) == {version}

    change(rules, "<threshold>eighty</threshold>", "<threshold>83</threshold>")
    page.wait_for("threshold 84 → 83", 30)
    assert (page.stop(), worker.stop()) == (0, 0)


def test_sighup_reads_the_files_at_once(world, rules):
    env = world.database()
    worker = world.worker(env, "reloaded")
    page = serve(world, env, rules, 3600)
    page.wait_for("the page is at", 30)
    change(rules, "<threshold>85</threshold>", "<threshold>81</threshold>")
    change(rules, "<clear>82</clear>", "<clear>79</clear>")
    page.signal(signal.SIGHUP)
    page.wait_for("threshold .* → 81", 30)
    version = version_of(world, rules)
    wait_until(lambda: set(versions(env).values()) == {version})
    page.signal(signal.SIGHUP)
    page.wait_for(f"rules are in force already\" version={version}", 30)
    assert (page.stop(), worker.stop()) == (0, 0)


def test_rule_tests_pass_for_the_shipped_rules_and_tell_what_a_change_breaks(drover, rules):
    run = drover.run("rules", "test", ROOT / "Deploy" / "thresholds")
    assert (run.code, run.out, run.err) == (0, "84 rule tests passed, 0 failed\n", "")
    change(rules, "<critical>95</critical>", "<critical>96</critical>")
    run = drover.run("rules", "test", rules)
    assert run.code == 1 and run.out == "83 rule tests passed, 1 failed\n"
    assert run.err.startswith(
        "8R Tractor.yaml:34: coolant just above 95 is critical and stays so until it clears\n"
        "  expected: Coolant Temperature opened +0s, resolved +2m, state resolved, severity critical, worst 95.1\n"
        "  came:     Coolant Temperature opened +0s, resolved +2m, state resolved, severity warning, ")
    (rules / "tests" / "more.yaml").write_text("tests: [{name: a, when: [], then: []}]\n")
    run = drover.run("rules", "test", rules)
    assert run.code == 1 and "more.yaml:1: `given` must name a model and a start\n" in run.err
    assert run.out == "83 rule tests passed, 1 failed, 1 files not read\n"
    run = drover.run("rules", "test", rules, "--tests", rules)
    assert run.code == 1 and "holds no rule tests" in run.err
