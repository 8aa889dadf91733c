"""`drover status` against real servers: well, behind, waiting, refused, and without a broker."""
import json
import time

from harness import until
from world import connect, url_of


def status(world, env, code=None):
    run = world.drover.run("status", "--format", "json", env=env)
    assert code is None or run.code == code, run.out + run.err
    return {line["what"]: line for line in json.loads(run.out)}


def test_an_installation_from_well_to_ill(world):
    env = world.database()
    worker = world.assigned(env, "status", **{"ticks.interval_s": 1})
    relay = world.drover.start("notify", env=env)
    until(lambda: all(line["what_to_do"] is None for line in status(world, env).values()), worker, relay)
    well = status(world, env, code=0)
    assert well["drover.cars"]["is"].startswith("written up to ") and well["mails"]["is"] == "0" and well["records behind"]["is"].isdigit()
    table = world.drover.run("status", env=env)
    assert table.code == 0 and "what to do" in table.out and "Traceback" not in table.err
    relay.stop()
    # Stopped before the clock is taken away: a tick that is on its way would give it back.
    worker.stop()
    with connect(env) as connection:
        connection.execute("INSERT INTO drover.mail (mail_id, recipient, subject, body, made_at, expires_at) VALUES ('m', 'a@b.example', 's', 'x', now() - interval '3 hours', now() + interval '1 day')")
        connection.execute("INSERT INTO drover.notice_event (alert_id, transition, told_at) VALUES ('a', 'opened', now() - interval '5 minutes')")
        connection.execute("INSERT INTO drover.outbox (topic, key, record_id, record, refused) VALUES ('drover.alerts', 'k', 'r', '{}', 'too large')")
        connection.execute("UPDATE drover.partition_progress SET clock_at = NULL WHERE topic = 'drover.tours'")
    ill = status(world, env, code=1)
    assert ill["mails"] == {"what": "mails", "is": "1, the oldest from 3 h ago", "what_to_do": "does the mail server take mail? See the log of drover notify"}
    assert ill["alerts to decide about"]["what_to_do"] == "is drover notify running?"
    assert ill["refused by the broker"]["is"] == "1" and "outbox" in ill["refused by the broker"]["what_to_do"]
    assert ill["drover.tours"]["is"] == "no tick yet" and "drover work" in ill["drover.tours"]["what_to_do"]
    # Without a broker the rest is said all the same.
    away = status(world, {**env, "DROVER_KAFKA_BROKERS": "127.0.0.1:1"}, code=1)
    assert away["records behind"]["is"].startswith("unknown: ") and away["mails"] == ill["mails"]
    # A login that does not see all says so of each thing, and nothing is called well that it did not see.
    name = f"reads_{time.monotonic_ns()}"
    with connect(env) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN IN ROLE drover_reader")
        try:
            reader = url_of(env, name)
            seen = status(world, {**env, "DROVER_POSTGRES_OWNER_URL": reader}, code=1)
            for what in ("mails", "refused by the broker"):
                assert seen[what]["is"].startswith("not seen") and "postgres.owner_url" in seen[what]["what_to_do"]
            for what in ("database", "records behind", "drover.tours", "open alerts", "vehicles silent for a day"):
                assert seen[what] == ill[what]
        finally:
            connection.execute(f"DROP ROLE {name}")
    # Without PostgreSQL there is nothing to say but that.
    world.drover.fails("status", env={**env, "DROVER_POSTGRES_URL": "host=127.0.0.1 port=1 dbname=x"}, says="drover status: ")
