"""TLS to PostgreSQL, by a root of the tests' own: the right one, another one, a certificate that has run out."""
import os
import re
import shutil

import psycopg
import pytest
from brokers import Noida
from certificates import Authority
from cluster import Cluster
from harness import free_port, until
from servers import TEMPLATE, golden


def issue(authority, name, ends="20491231235959Z"):
    return authority.issue(name, use="server", begins="20200101000000Z", ends=ends)


@pytest.fixture(scope="module")
def roots(tmp_path_factory):
    folder = tmp_path_factory.mktemp("roots")
    return Authority(folder, "ours"), Authority(folder, "theirs")


class TLSCluster(Cluster):
    """Reached over TCP, and that by TLS only."""

    def use(self, certificate, key):
        """From the next session on, without a restart."""
        for path, name in ((certificate, "server.crt"), (key, "server.key")):
            own = self.data / name
            own.unlink(missing_ok=True)
            own.write_bytes(path.read_bytes())
            own.chmod(0o600)
            if os.geteuid() == 0:
                shutil.chown(own, "postgres", "postgres")
        (self.data / "pg_hba.conf").write_text("local all all trust\nhostssl all all 127.0.0.1/32 trust\n")
        with psycopg.connect(self.conninfo(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET ssl = on")
            connection.execute("SELECT pg_reload_conf()")

    def over_tls(self, root, host="127.0.0.1", mode="verify-full"):
        return f"host={host} port={self.port} user=torture dbname={TEMPLATE} sslmode={mode} sslrootcert={root}"


@pytest.fixture
def cluster(data, program):
    data.mkdir(mode=0o711)
    cluster = TLSCluster(data / "postgres", port=free_port(), copy_of=golden(program))
    try:
        with psycopg.connect(cluster.conninfo(TEMPLATE), autocommit=True) as connection:
            connection.execute("CREATE ROLE torture LOGIN IN ROLE drover_writer")
        # A check of a broker that is away takes seconds.
        cluster.broker = Noida(data / "broker")
        yield cluster
        cluster.broker.stop()
    finally:
        cluster.close()


def checked(drover, cluster, url):
    """What `drover check` says of PostgreSQL."""
    out = drover.run("check", env={"DROVER_POSTGRES_URL": url, "DROVER_KAFKA_BROKERS": cluster.broker.brokers}).out
    return re.search(r"^PostgreSQL: (.*)$", out, re.M)[1]


def test_postgresql_is_believed_by_the_right_root_only(cluster, drover, roots):
    ours, theirs = roots
    good = cluster.over_tls(ours.root)
    cluster.use(*issue(ours, "postgres"))
    until(lambda: checked(drover, cluster, good).startswith("ok, server "))
    assert "signed by the roots of sslrootcert" in checked(drover, cluster, cluster.over_tls(theirs.root))
    # The certificate holds 127.0.0.1 and no name.
    assert "another host's" in checked(drover, cluster, cluster.over_tls(ours.root, host="localhost hostaddr=127.0.0.1"))
    assert "correct sslrootcert" in checked(drover, cluster, cluster.over_tls("/nowhere/root.pem"))
    # Plain TCP is refused by the server, TLS by nobody who does not insist on it.
    assert "no pg_hba.conf entry" in checked(drover, cluster, cluster.over_tls(ours.root, mode="disable"))
    # A certificate that has run out, taken up by the server without a restart; then one that holds again.
    cluster.use(*issue(ours, "old", ends="20210101000000Z"))
    assert "has run out" in until(lambda: not (said := checked(drover, cluster, good)).startswith("ok") and said)
    cluster.use(*issue(ours, "new"))
    assert until(lambda: checked(drover, cluster, good).startswith("ok"))
