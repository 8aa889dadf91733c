"""The house: folders have storeys, a target imports only what stands above it, and no folder is a heap."""
import re
import subprocess
from collections import Counter

import pytest
from harness import ROOT

STOREYS = ["Platform", "Domain", "Stream", "Edges", "People", "Tools"]
FILES_MAX = 30
# System's modules; C modules are each listed in Package.swift.
IMPORT = re.compile(r"^(?:@testable )?(?:(?:public|package|internal|private|fileprivate) )?import (\w+)", re.M)
PACKAGE = (ROOT / "Package.swift").read_text()
# Of our targets, in the order of Package.swift: storey, name, what it says that it imports.
TARGETS = [(storey, name, set(re.findall(r'"(\w+)"', listed))) for storey, name, listed in re.findall(
    r'\btarget\(\s*"(\w+)/(\w+)",\s*\[([^]]*)\]', PACKAGE)]
COMMAND = re.search(r'name: "drover",\s*dependencies: \[([^]]*)\],\s*path: "Sources/Tools/drover"', PACKAGE)
TARGETS.append(("Tools", "drover", set(re.findall(r'"(\w+)"', COMMAND[1]))))
NAMES = [name for _, name, _ in TARGETS]
C = {path.name for path in (ROOT / "Sources" / "C").iterdir()}


def tracked():
    """Paths that git knows, or those that are there where there is no checkout."""
    run = subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return sorted({path for path in run.stdout.split("\0") if path and (ROOT / path).exists()})


def imports(storey, name):
    return {module for path in (ROOT / "Sources" / storey / name).rglob("*.swift") for module in IMPORT.findall(path.read_text())}


def test_the_package_has_the_order_of_the_storeys_and_every_folder():
    places = [STOREYS.index(storey) for storey, _, _ in TARGETS]
    assert places == sorted(places) and len(TARGETS) > 30
    folders = {path.relative_to(ROOT / "Sources").as_posix() for storey in STOREYS for path in (ROOT / "Sources" / storey).iterdir()}
    assert folders == {f"{storey}/{name}" for storey, name, _ in TARGETS}
    assert {path.name for path in (ROOT / "Sources").iterdir()} == {"C", *STOREYS}


@pytest.mark.parametrize("storey, name", [target[:2] for target in TARGETS])
def test_a_target_imports_what_stands_above_it_and_lists_it(storey, name):
    found = imports(storey, name)
    above = set(NAMES[: NAMES.index(name)])
    assert found & set(NAMES) <= above, f"{name} imports {sorted(found & set(NAMES) - above)}, which stand below it in Package.swift"
    [listed] = [target[2] for target in TARGETS if target[1] == name]
    assert found & (set(NAMES) | C) == listed, "Package.swift lists something else for it"


def test_c_libraries_have_one_importer():
    """But these, whose shims are small."""
    importers = Counter(module for storey, name, _ in TARGETS for module in imports(storey, name) & C)
    assert {module: count for module, count in importers.items() if count > 1} == SHARED


# More than one importer today. May only fall.
SHARED = {"COpenSSL": 3, "CSQLite": 2}


def test_no_folder_holds_more_than_a_person_reads():
    counts = Counter(path.rpartition("/")[0] for path in tracked() if path.startswith(("Sources/", "Tests/")))
    assert {folder: count for folder, count in counts.items() if count > FILES_MAX} == {}
