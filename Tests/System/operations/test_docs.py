"""What the documentation shows is run, and what it lists is what the program has."""
import json
import re
import shlex
import subprocess

import migrations
import pytest
from harness import HANG_S, ROOT

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
    run = drover.done(*shlex.split(line)[1:])
    assert run.out.strip()


def shown_commands():
    """Every command of ours that a page shows, with its continued lines; what comes of it is for those above, and for people."""
    for page in PAGES:
        for block in re.findall(r"```(?:sh|console)\n(.*?)```", page.read_text(), re.S):
            for line in block.replace("\\\n", " ").splitlines():
                if found := re.match(r"\$? ?(?:[A-Z_]+=\S+ )*(?:[^\s=]*/)?drover ([a-z].*)", line.split("  #")[0]):
                    yield pytest.param(page.name, found.group(1), id=f"{page.name}: {found.group(1)[:40]}")


@pytest.fixture(scope="module")
def known(program):
    """Each command with its help, and every setting."""
    say = lambda *words: subprocess.run([program, *words], capture_output=True, text=True, check=True, timeout=HANG_S).stdout
    names = re.findall(r"^  (\w[\w -]*?)  +\w", say("--help"), re.M)
    return {name: say(*name.split(), "--help") for name in names}, {row["key"] for row in json.loads(say("settings", "--format", "json"))}


@pytest.mark.parametrize("page, shown", list(shown_commands()))
def test_each_command_that_a_page_shows_is_one_with_these_options_and_settings(known, page, shown):
    commands, settings = known
    words = shlex.split(shown.split(" | ")[0].split(" > ")[0], comments=True)
    name = max((name for name in commands if words[:len(name.split())] == name.split()), key=len, default=None)
    assert name, f"drover {words[0]}: there is no such command"
    for word, after in zip(words, [*words[1:], ""]):
        if word.startswith("--"):
            assert re.search(rf"^  {re.escape(word.partition('=')[0])}\b", commands[name], re.M), f"{word} is not an option of `drover {name}`"
        if word == "--set":
            assert after.partition("=")[0] in settings, after


def test_the_rule_tests_in_the_docs_pass(drover, tmp_path):
    [text] = re.findall(r"```yaml\n(given.*?)```", (ROOT / "docs" / "machines.md").read_text(), re.S)
    (tmp_path / "docs.yaml").write_text(text)
    run = drover.run("rules", "test", ROOT / "Deploy" / "thresholds", "--tests", tmp_path)
    assert (run.code, run.out) == (0, "1 rule tests passed, 0 failed\n"), run.err


def test_every_command_explains_itself_with_an_example(known):
    commands, _ = known
    assert {"up", "trips", "work", "import cars"} <= set(commands)
    for name, text in commands.items():
        assert "Example:\n  drover " in text, name


def test_the_version_is_the_newest_of_the_changelog_and_the_migrations(drover):
    heading = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.M).group(1)
    release = "not released yet" if heading == "Unreleased" else heading.split()[0]
    newest = migrations.newest()
    run = drover.run("--version")
    assert (run.code, run.out) == (0, f"drover {release}, database {newest}\n"), run.err


def test_the_page_of_settings_is_what_the_program_prints(drover):
    run = drover.done("settings", "--format", "markdown")
    assert (ROOT / "docs" / "settings.md").read_text() == run.out, "make it again: drover settings --format markdown > docs/settings.md"


def anchors(page):
    """As hosts of repositories make them of headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    heads = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head).replace("`", "") for head in re.findall(r"^#+ +(.+?) *$", text, re.M)]
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_the_page_of_long_tests_is_what_their_marks_say():
    printed = subprocess.run([ROOT / "Deploy" / "generate" / "long-tests"], capture_output=True, text=True, check=True).stdout
    assert (ROOT / "docs" / "long-tests.md").read_text() == printed, "make it again: Deploy/generate/long-tests > docs/long-tests.md"


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.M | re.S)
        for target, anchor in re.findall(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)", text):
            to = page.parent / target if target else page
            assert to.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in anchors(to), f"{page.name}: {target}#{anchor}: there is no such heading"


def test_the_index_leads_to_every_page():
    index = (ROOT / "docs" / "README.md").read_text()
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").glob("**/*.md") if path.name != "README.md"]
    assert [page for page in pages if f"]({page})" not in index and f"]({page}#" not in index] == []


def test_each_file_and_type_that_the_architecture_names_exists():
    text = (ROOT / "docs" / "architecture.md").read_text()
    files = re.findall(r"`(Sources/[\w/+]+(?:\.swift)?)`", text)
    assert len(files) > 30 and [file for file in files if not (ROOT / file).exists()] == []
    for file, name in re.findall(r"`(Sources/[\w/]+\.swift)` \(`(\w+)`\)", text):
        assert re.search(rf"\b(struct|class|enum|extension) {name}\b", (ROOT / file).read_text()), f"{file}: {name}"


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


def test_what_bounds_each_table_is_told():
    """A table that nobody has thought about grows for ever."""
    tables = {name for text in migrations.texts() for name in re.findall(r"^CREATE (?:UNLOGGED )?TABLE drover\.(\w+)", text, re.M)}
    told = set(re.findall(r"`(\w+)`", (ROOT / "docs" / "scale.md").read_text().partition("\n## What grows\n")[2].partition("\n## ")[0]))
    assert len(tables) > 80 and tables - told == set()
