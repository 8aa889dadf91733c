"""Two installations share a cluster: neither sees the other's topics, records or group."""
from confluent_kafka.admin import AdminClient
from harness import HANG_S, until
from world import query, recordings


def installation(world, name):
    return {**world.database(), "DROVER_KAFKA_TOPIC_PREFIX": f"{name}.", "DROVER_KAFKA_GROUP": "drover"}


def left(world, env):
    run = world.drover.done("offsets", "show", env=env)
    return sum(int(line.split()[5]) for line in run.out.splitlines()[1:])


def test_two_installations_share_a_broker(world, fixtures):
    files = recordings(fixtures)[:2]
    homes = [installation(world, name) for name in ("north", "south")]
    # Both groups are called `drover`: with one group each worker would get half of the partitions, and read none of its own.
    workers = [world.drover.start("work", env=env) for env in homes]
    for env, (path, car) in zip(homes, files):
        world.drover.done("import", "cars", path, "--vehicle", car, env=env)
    for env, worker, (path, car) in zip(homes, workers, files):
        until(lambda: left(world, env) == 0, worker, about=f"the end of {path}")
        assert query(env, "SELECT DISTINCT vehicle FROM drover.vehicle_minute") == [(car,)]
        # The database knows the topics by their own names: it moves to another prefix, or to none, with its log.
        assert query(env, "SELECT count(*) FROM drover.partition_progress WHERE topic !~ '^drover[.]'") == [(0,)]
    topics = set(AdminClient({"bootstrap.servers": world.brokers}).list_topics(timeout=HANG_S).topics)
    assert {"north.drover.cars", "south.drover.cars", "north.drover.alerts"} <= topics and "drover.cars" not in topics


def test_a_prefix_that_no_topic_can_have_is_refused(drover):
    run = drover.run("check", "--set", "kafka.topic_prefix=north/")
    assert run.code == 1 and "kafka.topic_prefix: is `north/`" in run.out + run.err, run
