"""What the documentation shows is run, and what it lists is what the program has."""
import re
import shlex

import pytest
from harness import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")])


def offline_commands():
    for page in PAGES:
        for block in re.findall(r"```sh\n(.*?)```", page.read_text(), re.S):
            for line in block.splitlines():
                if re.match(r"drover (trips|alerts|plan|obd|rules test|rules publish .*--check)\b", line):
                    yield pytest.param(line, id=f"{page.name}: {line[:40]}")


@pytest.mark.parametrize("line", list(offline_commands()))
def test_offline_commands_in_the_docs_work_as_shown(drover, line, monkeypatch):
    monkeypatch.chdir(ROOT)
    run = drover.run(*shlex.split(line)[1:])
    assert run.code == 0, run.err
    assert run.out.strip()


def test_the_rule_tests_in_the_docs_pass(drover, tmp_path):
    [text] = re.findall(r"```yaml\n(given.*?)```", (ROOT / "docs" / "machines.md").read_text(), re.S)
    (tmp_path / "docs.yaml").write_text(text)
    run = drover.run("rules", "test", ROOT / "Deploy" / "thresholds", "--tests", tmp_path)
    assert (run.code, run.out) == (0, "1 rule tests passed, 0 failed\n"), run.err


def test_every_command_explains_itself_with_an_example(drover):
    names = re.findall(r"^  (\w[\w ]*?)  +\w", drover.run("--help").out, re.M)
    assert {"up", "trips", "work", "import cars"} <= set(names)
    for name in names:
        run = drover.run(*name.split(), "--help")
        assert run.code == 0 and "Example:\n  drover " in run.out, name


def test_the_page_of_settings_is_what_the_program_prints(drover):
    run = drover.run("settings", "--format", "markdown")
    assert run.code == 0, run.err
    assert (ROOT / "docs" / "settings.md").read_text() == run.out, "make it again: drover settings --format markdown > docs/settings.md"


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def named_tests():
    """Tests that pages name: `test_x.py`, `test_x.py::test_y`, `XTests.swift`."""
    for page in PAGES:
        for file, test in re.findall(r"`(test_\w+\.py|\w+Tests\.swift)(?:::(\w+))?`", page.read_text()):
            yield page, file, test


def test_each_test_that_a_page_names_exists():
    named = set(named_tests())
    assert len(named) > 50
    for page, file, test in named:
        [path] = (ROOT / "Tests").rglob(file)
        assert not test or re.search(rf"^def {test}\(", path.read_text(), re.M), f"{page.name}: {file}::{test}"


def test_the_developers_page_lists_every_fuzz_target():
    listed = set(re.findall(r"`fuzz/([a-z-]+)`", (ROOT / "docs" / "developer.md").read_text()))
    source = (ROOT / "Tests" / "FuzzTests" / "FuzzTests.swift").read_text()
    targets = set(re.findall(r'Target\(\s*name: "([a-z-]+)"', source))
    folders = {path.name for path in (ROOT / "Tests" / "Fixtures" / "fuzz").iterdir() if path.is_dir()}
    assert listed == targets == folders
