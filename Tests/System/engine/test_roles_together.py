"""`drover run`: several roles in one process do what each does alone, say together how they are, and end together."""
import re

import pytest
from harness import free_port, until
from test_health import Probed
from world import messages, query


@pytest.fixture
def env(world):
    return world.database()


def start(world, env, roles, **settings):
    port = free_port()
    # A group of the database's own: tests do not share progress.
    settings = {"metrics.port": port, "kafka.group": re.search(r"story_\w+", env["DROVER_POSTGRES_URL"]).group(0), **settings}
    pairs = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    return Probed(world.drover.start("run", "--roles", roles, *pairs, env=env), port)


def test_readings_go_in_and_alerts_come_out_of_one_process(world, env, fixtures):
    before = len(messages(world.brokers, "drover.alerts"))
    together = start(world, env, "work,notify")
    world.import_recordings(env, fixtures)
    together.running.wait_for("partitions assigned")
    world.work_off(env)
    assert query(env, "SELECT count(*) FROM drover.trip")[0][0] > 0
    alerts = query(env, "SELECT count(*) FROM drover.alert")[0][0]
    until(lambda: query(env, "SELECT count(*) FROM drover.outbox")[0][0] == 0, together.running, about="an empty outbox")
    assert len(messages(world.brokers, "drover.alerts")) - before >= alerts > 0
    assert together.running.stop() == 0


def test_each_role_has_checks_of_its_own(world, env):
    together = start(world, env, "work,notify")
    assert set(together.until("/readyz", 200)) == {"notify-broker", "notify-database", "partitions", "turn", "work-broker", "work-database"}
    assert {"poll", "relay", "notices"} <= set(together.ask("/livez")[1]["checks"])
    assert together.running.output().count("figures are served") == 1
    assert together.running.stop() == 0


def test_one_role_is_as_its_own_command(world, env):
    alone = start(world, env, "notify")
    assert set(alone.until("/readyz", 200)) == {"broker", "database", "turn"}
    assert alone.running.stop() == 0


def test_when_one_fails_the_others_stop_and_its_message_is_the_last(world, env, tmp_path):
    failing = start(world, env, "work,serve", **{"web.port": 0, "web.certificate": tmp_path / "missing.pem"})
    assert failing.running.wait() == 1
    assert "set both or none" in failing.running.tail(1)[0] and "drover run: " in failing.running.tail(1)[0]
    assert re.search("a role failed, so all stop.*serve", failing.running.output())


@pytest.mark.parametrize("roles, says", [
    (["--roles", "work,cook"], "--roles work,cook: `cook` is not one of work, notify, gateway, serve"),
    (["--roles", "work,notify,work"], "--roles work,notify,work: `work` is named twice"),
    (["--roles", ""], "`` is not one of work, notify, gateway, serve"),
    ([], "--roles is missing. Name some of work, notify, gateway, serve"),
])
def test_what_is_no_list_of_roles_is_refused(world, roles, says):
    world.drover.fails("run", *roles, code=2, says=says)
