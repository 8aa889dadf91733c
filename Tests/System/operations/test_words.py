"""Words that a command does not know are refused before it touches anything, and those that it knows are listed."""
import re

import pytest
from harness import ROOT
from test_gateway import servers, world  # noqa: F401 (fixtures)

# A command that goes on with a word that it does not know comes to these: nothing answers there.
NOWHERE = {"DROVER_POSTGRES_URL": "host=127.0.0.1 port=1 connect_timeout=1", "DROVER_KAFKA_BROKERS": "127.0.0.1:1"}


def names():
    """Of the table of commands, as their help lists them."""
    sources = "".join(path.read_text() for path in sorted((ROOT / "Sources" / "Tools").rglob("*.swift")))
    return re.findall(r'= Command\(\s*name: "([^"]+)"', sources)


def synopsis(drover, name):
    run = drover.run(*name.split(), "--help")
    assert run.code == 0 and run.out.startswith(f"drover {name} "), run.err
    return run.out.splitlines()[0].removeprefix(f"drover {name} ")


def refused(drover, tmp_path, *words):
    run = drover.run(*words, env={**NOWHERE, "HOME": str(tmp_path)})
    assert run.code == 2, (words, run.out, run.err)
    return run.err


def test_the_table_is_what_help_lists(drover):
    listed = re.findall(r"^  (\S+(?: [a-z-]+)?)  ", drover.run("--help").out, re.M)
    assert len(names()) >= 55 and set(names()) == set(listed), set(names()) ^ set(listed)


@pytest.mark.parametrize("name", names())
def test_a_word_that_is_unknown_is_refused(drover, tmp_path, name):
    line = synopsis(drover, name)
    if "…" in line and not re.search(r"(?:^|\| ?)[a-z]", line):
        return  # As many files, codes or addresses as are typed.
    said = refused(drover, tmp_path, *name.split(), *["nosuchword"] * 9)
    assert "unknown word `nosuchword" in said, said
    for verb in re.findall(r"(?:^|\|) ?([a-z][a-z-]+)", re.sub(r"\[[^]]*\]|\([^)]*\)", "", line)):
        assert verb in said, (verb, said)


@pytest.mark.parametrize("words, says", [
    (["gateway", "status"], "unknown word `status`. `drover gateway` takes options only"),
    (["offsets", "rset"], "unknown word `rset`. Did you mean `reset`? say `show`, `reset`, `accept TOPIC`"),
    (["offsets", "show", "more"], "unknown word `more`"),
    (["fleet", "put"], "put takes FLEET: no FLEET was named"),
    (["fleet", "add", "north"], "no VEHICLE was named"),
    (["account", "settings", "look", "miller"], "unknown word `settings look`"),
    (["serve", "8080"], "unknown word `8080`"),
    (["migrate", "now"], "unknown word `now`"),
    (["import", "people", "a.csv", "b.csv"], "unknown word `b.csv`"),
])
def test_what_is_wrong_is_named(drover, tmp_path, words, says):
    said = refused(drover, tmp_path, *words)
    # Not above forty lines of help.
    assert says in said and len(said.splitlines()) <= 2 and " --help`" in said, said


@pytest.mark.parametrize("words, says", [
    (["vehicle", "register", "golf", "--kind", "car", "--driver", "anna"], "--driver is for `drover vehicle assign`: `register` does not take it"),
    (["vehicle", "list", "--name", "Golf"], "--name is for `drover vehicle register`: `list` does not take it"),
    (["fleet", "add", "north", "golf", "--part-of", "south"], "--part-of is for `drover fleet put`: `add` does not take it"),
    (["account", "list", "--role", "farmer"], "--role is for `drover account add`, `drover account roles`"),
    (["account", "settings", "show", "anna", "--by", "Jo"], "--by is for `drover account settings set`: `settings show` does not take it"),
    (["rejected", "retry", "drover.cars", "0", "1", "--limit", "5"], "--limit is for `drover rejected list`"),
    (["report", "trips", "--change", "2026-11-21T08:00:00Z"], "--change is for `drover report compare`: `trips` does not take it"),
])
def test_an_option_of_another_word_is_not_ignored(drover, tmp_path, words, says):
    assert says in refused(drover, tmp_path, *words)


def test_an_account_that_is_not_there_gets_no_car(empty, tmp_path):
    world, env = empty
    run = world.drover.run("vehicle", "register", "golf", "--kind", "car", "--account", "nosuch", "--by", "Anna", env=env)
    assert run.code == 1 and "--account nosuch: there is no such account" in run.err and "drover account add nosuch" in run.err, run.err


@pytest.fixture
def empty(world):  # noqa: F811
    return world, world.database()

