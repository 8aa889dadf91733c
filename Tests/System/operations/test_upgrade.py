"""What a rolling upgrade rests on. The upgrade itself, with an older version under load, is upgrade.py (`make upgrade`)."""
import subprocess

import pytest
from harness import ROOT
from upgrade import workers_stop

# Younger ones must be as they were when they came. 0045 was changed within its first hour, which nobody may do again.
FROM = 46


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True).stdout


def changed(since=FROM):
    """Migrations that more than one commit wrote, or that differ from what is committed."""
    # By commits, not by today's names: one that was taken away or renamed has changed, too.
    written = git("log", "--no-renames", "--format=", "--name-only", "--", "Queries/migrations").split()
    edited = git("diff", "--no-renames", "--name-only", "--diff-filter=MD", "HEAD", "--", "Queries/migrations").split()
    found = {name for name in written if written.count(name) > 1} | set(edited)
    return {name.rpartition("/")[2] for name in found if (number := name.rpartition("/")[2][:4]).isdigit() and int(number) >= since}


def test_a_migration_that_has_landed_never_changes():
    assert changed() == set()
    # It finds the one that did.
    assert "0045_periods.sql" in changed(since=45)


@pytest.mark.parametrize("was, to, stop", [(44, 46, True), (39, 45, True), (45, 46, False), (39, 44, False)])
def test_the_rehearsal_stops_workers_where_the_page_says_so(was, to, stop):
    assert workers_stop(was, to) == stop
