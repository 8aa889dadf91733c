"""Stories that begin as if nothing had been before, on servers that others have used: in a hundredth of the time of new ones on a busy machine."""
import copy
from contextlib import contextmanager

import pytest
from brokers import Noida
from harness import Drover
from world import a_world, connect


class Database:
    """One for many stories, one after the other: each finds it as it was made."""

    def __init__(self, world):
        self.env = world.database()
        with connect(self.env) as connection:
            tables = [name for name, in connection.execute(
                "SELECT format('drover.%I', relname) FROM pg_class WHERE relnamespace = 'drover'::regnamespace AND relkind IN ('r', 'p') "
                "AND NOT relispartition").fetchall()]
            # What migrations put in stays.
            self.tables = [table for table in tables if not connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchall()]

    def emptied(self):
        """The environment that points the command at it."""
        with connect(self.env) as connection:
            for schema, in connection.execute("SELECT quote_ident(nspname) FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname NOT IN "
                                              "('drover', 'public', 'information_schema')").fetchall():
                connection.execute(f"DROP SCHEMA {schema} CASCADE")  # Of a replay.
            with connection.transaction():
                # In any order, and nobody is told.
                connection.execute("SET LOCAL session_replication_role = replica")
                connection.execute(";".join(f"DELETE FROM {table}" for table in self.tables))
        return dict(self.env)


@contextmanager
def alone(world, folder, database=None):
    """The world with a broker on which nothing is yet and with roles that end with the story: none reads what others said before it.
    `database`: what its `database()` is, instead of a new one."""
    broker, own = Noida(folder / "broker"), copy.copy(world)
    own.brokers, own.watchers, own.drover = broker.brokers, {}, Drover(world.drover.program)
    if database:
        own.database = lambda: {**database.emptied(), "DROVER_KAFKA_BROKERS": own.brokers}
    try:
        yield own
    finally:
        try:
            own.drover.close()
        finally:
            for consumer in own.watchers.values():
                consumer.close()
            broker.stop()


@pytest.fixture(scope="module")
def house(program):
    """For stories that want a broker of their own: `world`."""
    with a_world(program) as world:
        yield world


@pytest.fixture(scope="module")
def database(house):
    return Database(house)


@pytest.fixture
def world(house, database, tmp_path):
    with alone(house, tmp_path, database) as world:
        yield world
