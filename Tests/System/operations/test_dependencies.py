"""Every dependency is listed with why it is there and a licence that goes with ours; the lists for programs and people are made
from that (Deploy/generate/sbom)."""
import importlib.metadata
import importlib.util
import json
import re
import subprocess
import tomllib
from importlib.machinery import SourceFileLoader
from importlib.resources import files
from pathlib import Path

import jsonschema_rs
import pytest
from harness import ROOT

TABLE = tomllib.loads((ROOT / "Deploy" / "generate" / "dependencies.toml").read_text())
loader = SourceFileLoader("sbom", str(ROOT / "Deploy" / "generate" / "sbom"))
sbom = importlib.util.module_from_spec(importlib.util.spec_from_loader("sbom", loader))
loader.exec_module(sbom)

PERMISSIVE = {"Apache-2.0", "MIT", "MIT-Modern-Variant", "MIT-0", "X11", "ISC", "BSD-2-Clause", "BSD-3-Clause", "PostgreSQL", "Zlib", "curl", "blessing",
              "PSF-2.0", "public domain", "CC0-1.0", "Bitstream-Vera", "Apache-2.0 WITH Swift-exception"}
# As shared libraries, which whoever has the program can put others in the place of.
SHARED = {"LGPL-2.0-or-later", "LGPL-2.1-or-later", "LGPL-2.1-only OR MPL-1.1", "GPL-3.0-or-later WITH GCC-exception-3.1"}
# In processes of their own, not shipped with the program.
BESIDE = {"GPL-2.0-only", "GPL-2.0-only WITH Classpath-exception-2.0", "GPL-2.0-or-later", "GPL-3.0-only", "GPL-3.0-or-later", "GPL-2.0-only OR GPL-3.0-only", "LGPL-3.0-only", "MPL-2.0"}
DATA = {"CC-BY-4.0", "ODbL-1.0"}
# In files of their own, that the program only reads.
SHIPPED = {"ODbL-1.0", "OFL-1.1"}
ALLOWED = {"linked": PERMISSIVE | SHARED, "runs": PERMISSIVE | BESIDE | SHARED, "build": PERMISSIVE | BESIDE | SHARED, "test": PERMISSIVE | BESIDE | SHARED | DATA}
# Installed by tests, never copied: its terms are not commercial.
EXCEPTIONS = {"elm327-emulator": "CC-BY-NC-SA-4.0"}


def entries():
    for kind in ("debian", "other", "shipped"):
        yield from ((entry["name"], entry) for entry in TABLE[kind])
    yield from TABLE["python"].items()


def goes(licence, use, is_shipped=False):
    """One of several is enough, all that are joined must."""
    if licence in (ALLOWED[use] - BESIDE | SHIPPED if is_shipped else ALLOWED[use]):
        return True
    if " OR " in licence:
        return any(goes(part, use) for part in licence.split(" OR "))
    return " AND " in licence and all(goes(part, use) for part in licence.split(" AND "))


def test_every_licence_goes_with_ours_and_every_dependency_has_a_reason():
    names = [name for name, _ in entries()]
    assert len(names) == len(set(names)) and all(entry["why"] for _, entry in entries())
    shipped = {entry["name"] for entry in TABLE["shipped"]}
    assert [name for name, entry in entries() if not goes(entry["licence"], entry["use"], name in shipped) and EXCEPTIONS.get(name) != entry["licence"]] == []
    assert not goes("GPL-2.0-only", "linked") and not goes("CC-BY-NC-SA-4.0", "test") and not goes("MIT AND GPL-3.0-or-later", "linked")
    assert goes("OFL-1.1", "runs", True) and not goes("OFL-1.1", "linked") and not goes("GPL-3.0-only", "runs", True)


def packages_of_install():
    text = (ROOT / "Deploy" / "install").read_text()
    listed = re.search(r"^packages=\((.*?)^\)", text, re.M | re.S).group(1) + " ".join(re.findall(r"packages\+=\(([^)]*)\)", text))
    return set(re.sub(r"#.*", "", listed).split())


def test_what_is_installed_from_debian_is_listed():
    ours = {entry["name"] for entry in TABLE["debian"]} | {entry["dev"] for entry in TABLE["debian"] if "dev" in entry}
    assert packages_of_install() - ours == set()
    # What came with one of these has none of its own in Deploy/install.
    assert {entry.get("dev", entry["name"]) for entry in TABLE["debian"]} - packages_of_install() == set()


def test_every_library_that_the_package_links_is_listed():
    linked = set(re.findall(r'linkedLibrary\("([^"]+)"\)', (ROOT / "Package.swift").read_text()))
    for file in (ROOT / "Sources").glob("C/*/module.modulemap"):
        linked |= set(re.findall(r'link "([^"]+)"', file.read_text()))
    listed = {library for entry in TABLE["debian"] for library in entry.get("links", [])}
    assert len(linked) > 10 and linked - listed == set()


def test_every_library_that_the_program_loads_is_listed(program):
    loaded = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    names = set(re.findall(r"NEEDED.*\[lib(.+?)\.so[.\d]*\]", loaded))
    # Swift's own libraries are one dependency; `libpango-1.0.so.0` has its version in the name.
    swift = re.compile(r"swift|dispatch$|BlocksRuntime$|_?Foundation")
    names = {re.sub(r"^(yaml|sqlite3?|curl)-?\d*(\.\d+)?$", lambda m: m.group(1), name) for name in names if not swift.match(name)}
    linked = {library for entry in TABLE["debian"] if entry["use"] == "linked" for library in entry.get("links", [])}
    assert len(names) > 10 and names - linked == set()


@pytest.mark.parametrize("entry", TABLE["debian"], ids=lambda entry: entry["name"])
def test_a_debian_package_is_under_the_licence_that_is_listed(entry):
    paper = Path("/usr/share/doc") / entry["name"] / "copyright"
    if not paper.exists():
        pytest.skip("not installed here")
    assert entry["says"] in paper.read_text(errors="replace")


def test_every_python_package_is_listed_pinned_and_under_its_licence():
    pinned = sbom.pinned()
    assert set(TABLE["python"]) == set(pinned) and all(digests for _, digests in pinned.values())
    lines = [line for path in (ROOT / "Deploy" / "setup").glob("requirements-*.txt") for line in path.read_text().splitlines() if re.match(r"[A-Za-z0-9]", line)]
    assert len(lines) == len(pinned), "a line is not pinned by version and digest"
    wrong = {}
    for name, entry in TABLE["python"].items():
        try:
            about = importlib.metadata.metadata(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # The broker's environment is another one.
        told = about.get("License-Expression")
        if told and told != entry["licence"]:
            wrong[name] = told
    assert wrong == {}


def test_what_others_made_and_we_ship_is_listed_with_its_text():
    for entry in TABLE["shipped"]:
        assert (ROOT / entry["path"]).exists() and (ROOT / entry["text"]).exists(), entry["name"]
    listed, texts = {entry["path"] for entry in TABLE["shipped"]}, {entry["text"] for entry in TABLE["shipped"]}
    # Whatever has a licence or an origin beside it.
    tracked = subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-z", "Sources/People/Web/Assets", "Deploy"], capture_output=True, text=True).stdout.split("\0")
    for name in tracked:
        if re.search(r"licen[cs]e$", name, re.I):
            assert name in texts or any(path.rsplit("/", 1)[0] == name.rsplit("/", 1)[0] or path == name.rsplit("/", 1)[0] for path in listed), name
    rows = re.findall(r"^\| `([^`]+)` \|", (ROOT / "Sources/People/Web/Assets/README.md").read_text(), re.M)
    assert {f"Sources/People/Web/Assets/{row.rstrip('/')}" for row in rows} <= listed


def versionless(bill):
    """Without what depends on when Debian's packages were brought up to date."""
    text = json.dumps(bill)
    for entry in TABLE["debian"]:
        text = re.sub(rf"(pkg:deb/debian/{re.escape(entry['name'].replace('+', '%2B'))})@[^\"]*", r"\1", text)
    bill = json.loads(text)
    for made in bill["components"]:
        if made["bom-ref"].startswith("pkg:deb/"):
            made.pop("version", None)
    return bill


def test_the_lists_are_what_the_table_makes():
    printed = lambda which: subprocess.run([ROOT / "Deploy" / "generate" / "sbom", "--print", which], capture_output=True, text=True, check=True).stdout
    again = "make them again: Deploy/generate/sbom"
    assert (ROOT / "docs" / "dependencies.md").read_text() == printed("page"), again
    kept = json.loads((ROOT / "docs" / "sbom.json").read_text())
    assert versionless(kept) == versionless(json.loads(printed("sbom"))), again
    assert all("version" in made for made in kept["components"] if made["bom-ref"].startswith("pkg:")), "made where not all was installed"


def test_the_bill_of_materials_is_cyclonedx():
    folder = files("cyclonedx.schema") / "_res"
    schemas = {name: json.loads((folder / name).read_text()) for name in ("bom-1.5.SNAPSHOT.schema.json", "spdx.SNAPSHOT.schema.json", "jsf-0.82.SNAPSHOT.schema.json")}
    registry = jsonschema_rs.Registry([(f"http://cyclonedx.org/schema/{name}", schema) for name, schema in schemas.items()])
    validator = jsonschema_rs.validator_for(schemas["bom-1.5.SNAPSHOT.schema.json"], registry=registry)
    bill = json.loads((ROOT / "docs" / "sbom.json").read_text())
    assert [error.message for error in validator.iter_errors(bill)] == []
    bill["components"][0]["licenses"] = [{"license": {"id": "No-Such-Licence"}}]
    assert not validator.is_valid(bill)
