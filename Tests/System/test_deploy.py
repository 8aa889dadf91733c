"""What Deploy/ holds for operators is taken by the programs that it is for."""
import re
import shlex
import subprocess

import pytest
from harness import ROOT

UNITS = sorted(path.name for path in (ROOT / "Deploy" / "systemd").iterdir())
SERVICES = [name for name in UNITS if name.endswith(".service")]


@pytest.fixture
def folder(tmp_path, program):
    """The units, with this program where the installed one would be; an instance of each that wants a number."""
    for name in UNITS:
        text = (ROOT / "Deploy" / "systemd" / name).read_text().replace("/opt/drover/bin/drover", str(program))
        (tmp_path / name.replace("@.", "@1.")).write_text(text)
    return tmp_path


def test_units_are_in_order_and_give_away_little(folder):
    names = sorted(path.name for path in folder.iterdir())
    run = subprocess.run(["systemd-analyze", "verify", *[f"./{name}" for name in names]], cwd=folder, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    for name in names:
        if name.endswith(".service"):
            run = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20", f"./{name}"], cwd=folder, capture_output=True, text=True)
            assert run.returncode == 0, run.stdout
    # It does find what is wrong.
    broken = folder / "drover-serve.service"
    broken.write_text(broken.read_text().replace("Restart=always", "Restart=sometimes"))
    assert "sometimes" in subprocess.run(["systemd-analyze", "verify", "./drover-serve.service"], cwd=folder, capture_output=True, text=True).stderr


@pytest.mark.parametrize("name", SERVICES)
def test_each_command_of_a_unit_is_one_that_the_program_has(drover, name):
    command = re.search(r"^ExecStart=(.+)$", (ROOT / "Deploy" / "systemd" / name).read_text(), re.M).group(1)
    words = shlex.split(command.replace("%i", "1"))
    assert words[0] == "/opt/drover/bin/drover"
    said = drover.run(words[1], "--help")
    assert said.code == 0 and all(word in said.out for word in words if word.startswith("--")), said.out
    keys = {pair.partition("=")[0] for word, pair in zip(words, words[1:]) if word == "--set"}
    table = (ROOT / "docs" / "operator.md").read_text()
    assert all(f"| `{key}` |" in table for key in keys), keys



def test_alert_rules_fire_when_they_should():
    """Prometheus's own tool reads the rules and runs their tests; each figure is one that a process serves."""
    folder = ROOT / "Deploy" / "prometheus"
    for words in (["check", "rules", "rules.yaml"], ["test", "rules", "tests.yaml"]):
        run = subprocess.run(["promtool", *words], cwd=folder, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
    sources = "".join(path.read_text() for path in (ROOT / "Sources").rglob("*.swift"))
    named = set(re.findall(r"drover_[a-z_]+", re.sub(r"summary:.*|remedy:.*", "", (folder / "rules.yaml").read_text())))
    assert named and {name for name in named if f'"{name}"' not in sources} == set()
