"""Queries/migrations, as tests and tools need to know them."""
import io
import tarfile
from pathlib import Path

from harness import ROOT

FOLDER = ROOT / "Queries" / "migrations"
BASELINE = 76
# What was there before the baseline, of which databases of that time are made. Its last commit is 9a3697d7.
SINGLES = ROOT / "Tests" / "Fixtures" / "migrations" / "0001-0076.tar.xz"


def newest(folder=FOLDER):
    """Its number: a file's, or that of a folder whose files are one migration."""
    return max(int(path.name[:4]) for path in Path(folder).iterdir() if path.name[:4].isdigit())


def texts():
    """All of them, in order."""
    return [path.read_text() for path in sorted(FOLDER.rglob("*.sql"))]


def singles():
    """(number, name, text) of each single migration before the baseline, in order."""
    with tarfile.open(fileobj=io.BytesIO(SINGLES.read_bytes())) as archive:
        return [(int(name[:4]), name, archive.extractfile(name).read().decode()) for name in sorted(archive.getnames())]


def apply_singles(connection, last=BASELINE):
    """As `drover migrate` of that time did, up to this number. The connection commits by itself."""
    connection.execute("CREATE SCHEMA drover")
    connection.execute("CREATE TABLE drover.migration (number int PRIMARY KEY, name text NOT NULL, digest text NOT NULL, "
                       "applied_at timestamptz NOT NULL DEFAULT now())")
    for number, name, text in singles():
        if number <= last:
            with connection.transaction():
                connection.execute(text)
                connection.execute("INSERT INTO drover.migration (number, name, digest) VALUES (%s, %s, md5(%s))", [number, name, text])
