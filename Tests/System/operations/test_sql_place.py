"""SQL stands in Storage, beside what decodes its rows, or by name in Queries; nowhere else."""
import re

from harness import ROOT

# A statement on tables. What only sets up a connection or a transaction (SET, BEGIN, SAVEPOINT) may stand where that is decided.
BEGINS = r"(?:SELECT|INSERT|UPDATE|DELETE|WITH|MERGE|CALL|VALUES|LISTEN|NOTIFY|COPY|LOCK TABLE|TRUNCATE|CREATE|ALTER|DROP|GRANT|REVOKE|REFRESH|VACUUM|DO \$)"
# Raw or not, of one line or of several: where a literal opens, and the statement that may follow at once.
LITERAL = re.compile(r'(?<![\\"])#*"(?:""\s*)?\(*\s*(' + BEGINS + r")\b(?=[\s(*])")
# Nothing of these is a statement on our tables.
APART = {
    "Connection.swift": "the client of PostgreSQL: its own statements",
    "Notifications.swift": "the client of PostgreSQL: LISTEN itself",
    "Spool.swift": "a file of SQLite of its own, whose only reader it is",
    "MBTiles.swift": "files of SQLite that others write",
    "DatabaseSetup.swift": "the logins of a cluster that has no schema yet",
    "ReadyQuery.swift": "what it puts around a query of Queries",
    "QuestionWords.swift": "statements to begin with, which people send as their own",
    "QuestionView.swift": "the field's own example",
    "CheckCommand.swift": "says what an operator is to type",
    "EngineBaseline.swift": "a table of a bench's own",
}
# Where it still stands, and how many. Numbers only fall; a file without any is taken off.
LEFT = {
    "SightingsBench.swift": 2,
}


def statements(text):
    """What literals of a file begin with. Comments hold none."""
    code = re.sub(r"^\s*//.*$|(?<=\s)// .*$", "", text, flags=re.M)
    return LITERAL.findall(code)


def found():
    places = {}
    for path in sorted((ROOT / "Sources").rglob("*.swift")):
        if "Storage" not in path.parts and path.name not in APART and (of := statements(path.read_text())):
            places[path.name] = places.get(path.name, 0) + len(of)
    return places


def test_sql_stands_in_storage():
    now = found()
    more = {name: count for name, count in now.items() if count > LEFT.get(name, 0)}
    assert not more, f"SQL outside of Storage: give it to the …Store of its noun, as a function that returns typed values: {more}"
    fewer = {name: now.get(name, 0) for name, count in LEFT.items() if now.get(name, 0) < count}
    assert not fewer, f"less SQL stands there than LEFT says. Write it down: {fewer}"


def test_what_a_statement_is():
    assert statements('let a = "SELECT 1"\nlet b = """\n    INSERT INTO t VALUES (1)\n    """\nlet c = #"(SELECT \\s)"#') == ["SELECT", "INSERT", "SELECT"]
    assert statements('connection.query("CALL drover.f()"); x.execute("LISTEN \\(channel)"); "WITH " + more') == ["CALL", "LISTEN", "WITH"]
    assert statements('"SELECTED"\n"Select one"\n// "SELECT 1"\n    f(x) // as in "SELECT 1"\n"a \\"SELECT 1\\" that"\n"COPYING"') == []


def test_what_stands_apart_is_there():
    there = {path.name for path in (ROOT / "Sources").rglob("*.swift")}
    assert set(APART) <= there, set(APART) - there
