"""Closed worlds: what has a few values is an enum, decoded at the border, and whoever switches over one names each case."""
import re

from harness import ROOT

SWIFT = {path: path.read_text() for path in sorted((ROOT / "Sources").rglob("*.swift"))}
# Today's counts: of switches over numbers, foreign enums and texts from outside; and of such texts that happen to be words of
# an enum. May only fall.
DEFAULTS_MAX = 156
COMPARED_MAX = 8


def words():
    """Raw values of the domain's enums that tables, records and pages have as texts."""
    found = set()
    for path, text in SWIFT.items():
        if path.is_relative_to(ROOT / "Sources" / "Domain"):
            for body in re.findall(r"enum \w+: String[^{]*\{(.*?)\n? *\}", text, re.S):
                found.update(word for raw, name in re.findall(r'(?:case |, )(?:\w+ = "([^"]+)"|(\w+))', body) for word in (raw, name) if word)
    return found


def test_a_switch_over_an_enum_of_ours_has_no_default():
    """Where it has one, a new case is no error where it matters."""
    count = sum(len(re.findall(r"^ *default:", text, re.M)) for text in SWIFT.values())
    assert count <= DEFAULTS_MAX, "write out the cases of an enum of ours"


def test_words_of_an_enum_are_not_compared_as_texts():
    """In the store, at the edges and on pages they are decoded by then; records are decoded in the domain."""
    known = words()
    assert {"at_once", "due_soon", "on_board", "machine"} <= known
    compared = [
        f"{path.relative_to(ROOT)}: {line.strip()}" for path, text in SWIFT.items() for line in text.splitlines()
        if path.relative_to(ROOT).parts[1] in ("Stream", "Edges", "People") and re.search(r'[=!]= "|^ *case "', line)
        and any(word in known for word in re.findall(r'(?:[=!]= |^ *case |, )"([a-z_ ]+)"', line))]
    assert len(compared) <= COMPARED_MAX, "\n".join(compared)
