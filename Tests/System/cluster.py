"""A PostgreSQL cluster of a test's own, which it can stop in every manner at any time."""
import errno
import glob
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import psycopg
from harness import HANG_S, ROOT


# What Drover lets each process of PostgreSQL have, so that all tests show that nothing of ours needs more.
DATA_BYTES_MAX = eval(re.search(r"dataBytesMax = (\d+ << \d+)", (ROOT / "Sources/Tools/LocalServers/PostgresServer.swift").read_text()).group(1))


class Cluster:
    """Reached by a socket in its own folder only. Without fsync: a test kills processes, not the machine."""

    def __init__(self, folder, disk_mib=None, hosts=None, port=None, copy_of=None):
        """`copy_of`: the data folder of a stopped cluster (servers.py) instead of a new one, in a third of the time.
        `disk_mib`: on a file system of its own of this size, which `fill_disk` fills. Mounting one needs root.
        `hosts`: others that reach it over their network (hosts.py). `port`: of the loopback, where it listens, too."""
        self.hosts, self.port = hosts, port
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.is_mounted = disk_mib is not None
        if self.is_mounted:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={disk_mib}m", "tmpfs", str(self.folder)], check=True)
        places = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(re.search(r"(\d+)/bin", path).group(1)))
        assert places, "no /usr/lib/postgresql/*/bin; run Deploy/install"
        self.binaries = Path(places[-1])
        # PostgreSQL refuses to run as root.
        self.become = []
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
            self.become = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
        self.folder.chmod(0o700)
        self.data, self.process, self.databases = self.folder / "data", None, 0
        if copy_of:
            subprocess.run([*self.become, "cp", "-a", str(copy_of), str(self.data)], check=True, cwd="/")
        else:
            self._make()
        if hosts:
            with open(self.data / "pg_hba.conf", "a") as rules:
                rules.write(f"host all all {hosts.network} trust\n")
        self.start()

    def _make(self):
        subprocess.run(
            [*self.become, str(self.binaries / "initdb"), "-D", str(self.data), "-U", "postgres", "-A", "trust", "--no-sync",
             "--encoding=UTF8", "--locale=C.UTF-8", "--wal-segsize=4"], check=True, capture_output=True, cwd="/")

    def conninfo(self, database="postgres", user="postgres"):
        return f"host={self.folder} user={user} dbname={database}" + (f" port={self.port}" if self.port else "")

    def start(self, seconds=HANG_S):
        settings = {
            "listen_addresses": self.hosts.address if self.hosts else "", "unix_socket_directories": self.folder, "max_connections": 100, "shared_buffers": "64MB",
            "max_wal_size": "64MB" if self.is_mounted else "1GB", "fsync": "off", "timezone": "UTC", "logging_collector": "off",
        }
        if self.port:
            settings |= {"listen_addresses": "127.0.0.1", "port": self.port}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with open(self.folder / "postgres.log", "ab") as log:
            self.process = subprocess.Popen(
                ["prlimit", f"--data={DATA_BYTES_MAX}", "--", *(self.become or ["setpriv"]), "--pdeathsig", "INT", str(self.binaries / "postgres"), "-D", str(self.data), *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", start_new_session=True)
        deadline = time.monotonic() + seconds
        while True:
            try:
                psycopg.connect(self.conninfo()).close()
                return
            except psycopg.OperationalError as error:
                assert self.process.poll() is None and time.monotonic() < deadline, f"PostgreSQL does not start: {error}"
                time.sleep(0.02)

    def stop(self, number=signal.SIGINT):
        """SIGINT is the fast stop, SIGQUIT the immediate one: no shutdown at all, recovery from the log at the next start."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.send_signal(signal.SIGCONT)  # A test that failed may have left it stopped.
            self.process.wait(HANG_S)

    def fill_disk(self):
        """Leaves nothing free; what is there stays."""
        with open(self.folder / "ballast", "wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(bytes(1 << 20))
            except OSError as error:
                assert error.errno == errno.ENOSPC

    def free_disk(self):
        """Takes the ballast away. A server that met the full disk in its write-ahead log has ended and starts again."""
        (self.folder / "ballast").unlink()
        if self.process.poll() is not None:
            self.start()

    def close(self):
        self.stop()
        if self.is_mounted:
            subprocess.run(["umount", "--lazy", str(self.folder)], check=True)

    def database(self, program, name="run"):
        """A fresh, migrated database; returns the environment that points `drover` at it, as its least-privileged user."""
        self.databases += 1
        name = f"{name}_{self.databases}"
        with psycopg.connect(self.conninfo(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        env = {"DROVER_POSTGRES_OWNER_URL": self.conninfo(name), "DROVER_POSTGRES_URL": self.conninfo(name)}
        subprocess.run([str(program), "migrate"], env={**os.environ, **env}, check=True, capture_output=True, timeout=HANG_S)
        with psycopg.connect(self.conninfo(name), autocommit=True) as connection:
            connection.execute("""DO $$ BEGIN
                IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'torture') THEN CREATE ROLE torture LOGIN IN ROLE drover_writer; END IF;
                END $$""")
        worker = f"host={self.hosts.address} user=torture dbname={name}" if self.hosts else self.conninfo(name, "torture")
        return {"DROVER_POSTGRES_URL": worker, "TORTURE_OWNER": self.conninfo(name)}
