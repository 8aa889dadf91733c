"""What a rolling upgrade rests on. The upgrade itself, with an older version under load, is upgrade.py (`make upgrade`)."""
import ast
import subprocess

import pytest
from harness import ROOT
from migrations import BASELINE, FOLDER, SINGLES
from upgrade import workers_stop

PLACES = [str(place.relative_to(ROOT)) for place in (FOLDER, SINGLES)]


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True).stdout


def changed(is_kept):
    """Files of migrations that more than one commit wrote, or that differ from what is committed."""
    # By commits, not by today's names: one that was taken away or renamed has changed, too.
    written = git("log", "--no-renames", "--format=", "--name-only", "--", *PLACES).split()
    edited = git("diff", "--no-renames", "--name-only", "--diff-filter=MD", "HEAD", "--", *PLACES).split()
    return {name for name in {name for name in written if written.count(name) > 1} | set(edited) if is_kept(name)}


def is_kept(name):
    """The one exception: single migrations up to the baseline became the baseline, before the first release."""
    if name == PLACES[1]:
        return True
    migration = name.removeprefix(PLACES[0] + "/").split("/")[0]
    return migration[:4].isdigit() and (int(migration[:4]) > BASELINE or migration == f"{BASELINE:04}_baseline")


def test_a_migration_that_has_landed_never_changes():
    assert changed(is_kept) == set()
    # It finds one that did, within its first hour.
    assert f"{PLACES[0]}/0045_periods.sql" in changed(lambda name: True)


def test_what_is_kept_are_the_baseline_and_what_follows_it():
    names = ["0076_baseline/01_roles.sql", "0077_next.sql", "0078_folder/a.sql", "0076_tries_at_once.sql", "0001_first_path.sql", "README.md"]
    assert [is_kept(f"{PLACES[0]}/{name}") for name in names] == [True, True, True, False, False, False]


PAGE = """| With | Do |
| --- | --- |
| migration 0080 (all rows anew) | both large tables are copied once: stop the workers |
| migration 0081 (a view) | nothing |
"""


@pytest.mark.parametrize("was, to, stop", [(79, 81, True), (76, 80, True), (80, 81, False), (76, 79, False)])
def test_the_rehearsal_stops_workers_where_the_page_says_so(was, to, stop):
    assert workers_stop(was, to, PAGE) == stop


def test_the_rehearsal_asks_its_site_for_what_it_has():
    """The test command does not run it."""
    tree = ast.parse((ROOT / "Tests" / "System" / "upgrade.py").read_text())
    [site] = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Site"]
    has = {node.name for node in site.body if isinstance(node, ast.FunctionDef)}
    has |= {node.attr for node in ast.walk(site) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}

    def is_site(node):
        return isinstance(node, ast.Name) and node.id == "site" or isinstance(node, ast.Attribute) and node.attr == "site"

    asked = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and is_site(node.value)}
    assert len(asked) > 10 and asked <= has, asked - has
