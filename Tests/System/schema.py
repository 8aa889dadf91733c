#!/usr/bin/env python3
"""Writes Queries/schema.sql, today's tables, views, functions, policies and grants, from the migrations: `make schema`.

It is for reading; `drover migrate` never runs it. What the catalogue holds comes from pg_dump, in an order by name and without what differs
from server to server; the remarks are those of the migrations (above a statement, or behind a column) and those of COMMENT ON.
"""
import os
import re
import shutil
import subprocess
from pathlib import Path

from cluster import Cluster
from harness import ROOT, scratch
from servers import TEMPLATE, golden

PLACE = ROOT / "Queries" / "schema.sql"
# Made as time passes (drover.make_month): how many there are depends on the day.
OF_A_MONTH = re.compile(r"\b\w+_\d{4}_\d{2}(?:_\w+)?\b")
HEAD = """\
-- Today's schema, for reading: made from Queries/migrations by `make schema`, never run. Tests/System/operations/test_schema.py holds it to them.
-- Tables of months (drover.machine_reading_2026_11) look like the table that they are parts of and are left out; so are owners.
-- Rights that only the owner has, and the rights of PUBLIC to call a function, are PostgreSQL's standard unless they are told here."""


def today(program):
    """What the file is to be, by a database that this program has migrated."""
    folder = scratch("drover-schema-")
    try:
        cluster = Cluster(folder / "postgres", copy_of=golden(program))
        try:
            dump = subprocess.run([str(cluster.binaries / "pg_dump"), "--schema-only", "--no-owner", "--dbname", cluster.conninfo(TEMPLATE)],
                                  check=True, capture_output=True, text=True).stdout
        finally:
            cluster.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return written(objects(dump), Remarks())


def same(one, other):
    """Also when another version of PostgreSQL wrote it: 15 names the table of each column in a view, 16 only where it must."""
    return seen(one) == seen(other)


def seen(text):
    views = re.compile(r"^CREATE VIEW .*?;\n", re.S | re.M)
    return views.sub(lambda found: re.sub(r"\b[a-z_]+\.(?=[a-z_\"])|[\s()]+", "", found.group(0)), text)


# MARK: what pg_dump says

def objects(dump):
    """(kind, schema, name, statements) of each object."""
    parts = re.split(r"^--\n-- Name: (.*); Type: (.*?); Schema: (.*?); Owner: .*\n--\n", dump, flags=re.M)
    for name, kind, schema, text in zip(parts[1::4], parts[2::4], parts[3::4], parts[4::4]):
        text = re.sub(r"^SET default_\w+ = .*\n|^\\(?:un)?restrict .*\n", "", text, flags=re.M)
        text = text.replace("--\n-- PostgreSQL database dump complete\n--", "").strip()
        if not OF_A_MONTH.search(name) and schema != "pg_catalog":
            yield kind, schema, name, text


def written(found, remarks):
    schemas, whole, below = {}, {}, {}
    for kind, schema, name, text in found:
        if kind == "SCHEMA":
            schemas[name] = [text]
        elif schema == "-":
            schemas[name.removeprefix("SCHEMA ")].append(text)
        elif kind in ORDER:
            whole[schema, ORDER[kind], signature(text) if kind == "FUNCTION" else name] = text
        else:
            below.setdefault((schema, owner(kind, name, text)), []).append((kind, text))
    pages = [HEAD]
    for schema, texts in sorted(schemas.items()):
        pages.append(f"\n\n-- MARK: {schema}\n\n" + "\n".join(remarked(texts)))
        for key in sorted(key for key in whole if key[0] == schema):
            pages.append(one(key, whole[key], below.pop((schema, key[2]), []), remarks))
    assert not below, list(below)[:5]
    return "\n".join(pages) + "\n"


ORDER = {"TYPE": 0, "DOMAIN": 0, "TABLE": 1, "VIEW": 2, "FUNCTION": 3}


def signature(text):
    """Name and arguments, as rights and comments call a function."""
    name, arguments = re.match(r"CREATE FUNCTION \w+\.(\w+)\((.*?)\) RETURNS ", text, re.S).groups()
    return f"{name}({re.sub(r' DEFAULT (?:[^,()]|[(][^()]*[)])*', '', arguments)})"


def owner(kind, name, text):
    """The table, view or function that it belongs to."""
    if kind in ("ACL", "COMMENT"):
        name = re.sub(r"^(?:TABLE|VIEW|FUNCTION|SEQUENCE|TYPE|COLUMN) ", "", name)
        return name if "FUNCTION" in text.split("(")[0] else name.split(".")[0]
    if kind == "SEQUENCE":
        return re.match(r"ALTER TABLE \w+\.(\w+) ", text).group(1)
    if kind == "INDEX":
        return re.search(r" ON (?:ONLY )?\w+\.(\w+)", text).group(1)
    return name.split(" ")[0]


def one(key, text, below, remarks):
    schema, order, name = key
    comments = dict(comment(text) for kind, text in below if kind == "COMMENT")
    below = [(kind, text) for kind, text in below if kind != "COMMENT"]
    plain = f"{schema}.{name.partition('(')[0]}"
    lines = ["-- " + line for line in [comments.pop("", None)] if line] or remarks.above.get(plain, [])
    if order == ORDER["TABLE"]:
        lines = lines + table(plain, text, below, comments, remarks)
    else:
        lines = lines + [f"--   {column}: {said}" for column, said in comments.items()] + [text.replace(" CREATE", "CREATE")]
    for kind in ("INDEX", "TRIGGER", "ROW SECURITY", "POLICY"):
        texts = sorted(text for of, text in below if of == kind)
        for text in policies(texts) if kind == "POLICY" else texts:
            index = re.match(r"CREATE (?:UNIQUE )?INDEX (\w+)", text)
            lines += (remarks.above.get(f"index {index.group(1)}", []) if index else []) + [text]
    return "\n" + "\n".join(lines + grants(text for kind, text in below if kind == "ACL"))


def comment(text):
    """(column or nothing, what is said)."""
    found = re.match(r"COMMENT ON (COLUMN )?(?:\w+ )?\S+?(?:\.(\w+))?(?:\([^']*\))? IS '(.*)';$", text, re.S)
    return found.group(2) if found.group(1) else "", found.group(3).replace("''", "'")


def table(plain, text, below, comments, remarks):
    """Its columns, then its constraints, each with what is said of it."""
    text = re.sub(r"GENERATED ALWAYS AS \(.*?\) STORED", lambda found: " ".join(found.group(0).split()).replace("( ", "("), text.split("\n\n")[0], flags=re.S)
    head, *lines = text.split("\n")
    end = next(number for number, line in enumerate(lines) if line.startswith(")"))
    lines, foot = lines[:end], lines[end:]
    for kind, more in below:
        if kind.endswith("CONSTRAINT"):
            lines.append("    " + re.search(r"ADD (CONSTRAINT .*);", more, re.S).group(1))
        elif kind == "SEQUENCE":
            column, value = re.search(r"ALTER COLUMN (\S+) ADD (GENERATED .*? AS IDENTITY)", more).groups()
            lines = [f"{line.rstrip(',')} {value}" if line.split()[0] == column else line for line in lines]
    lines = [line.rstrip(",").replace("timestamp with time zone", "timestamptz") for line in lines]
    rules = sorted((line for line in lines if line.startswith("    CONSTRAINT ")), key=lambda line: (" PRIMARY KEY " not in line, line))
    columns = [line for line in lines if line not in rules]
    shown = []
    for line in columns + rules:
        name = line.split()[0]
        said = comments.get(name) or remarks.behind.get((plain, name)) if line in columns else None
        end = "," if line != (columns + rules)[-1] else ""
        shown.append(line + end + (f"  -- {said}" if said else ""))
    return [head, *shown, *foot]


def policies(texts):
    """Those that let a program's role see every row are one line."""
    everything = re.compile(r"CREATE POLICY all_rows_of_(\w+) ON \S+ TO \1 USING \(true\)( WITH CHECK \(true\))?;$")
    roles = {}
    for text in texts:
        if found := everything.match(text):
            roles.setdefault(found.group(2) or "", []).append(found.group(1))
    return [f"-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true){check}, each of: {', '.join(names)}" for check, names in sorted(roles.items())] + [
        text for text in texts if not everything.match(text)]


def grants(texts):
    """One for all roles, and one for all columns, that have the same right."""
    columns, rights = {}, {}
    for line in [line for text in texts for line in text.split("\n")]:
        verb, right, thing, way, role = re.match(r"(GRANT|REVOKE) (\S+) ON (.*) (TO|FROM) (\S+);$", line).groups()
        kinds = ", ".join(sorted(re.sub(r"\(.*?\)", "", right).split(",")))
        columns.setdefault((verb, kinds, thing, way, role), []).append(right[right.find("(") + 1:right.find(")")] if "(" in right else "")
    for (verb, right, thing, way, role), names in columns.items():
        of = f" ({', '.join(names)})" if names[0] else ""
        rights.setdefault((verb, right, of, thing, way), []).append(role)
    return [f"{verb} {right.replace(', ', of + ', ')}{of} ON {thing} {way} {', '.join(sorted(roles))};"
            for (verb, right, of, thing, way), roles in sorted(rights.items(), key=lambda one: (one[0][0] == "GRANT", *one[0]))]


def remarked(texts):
    said, rest = [], []
    for text in texts:
        (said if text.startswith("COMMENT") else rest).append(text)
    plain = [text for text in rest if not re.match("GRANT|REVOKE", text)]
    return ["-- " + comment(text)[1] for text in said] + plain + grants(text for text in rest if text not in plain)


# MARK: what the migrations remark

class Remarks:
    """The latest of the migrations wins, and one without a remark leaves that of before."""

    def __init__(self, folder=ROOT / "Queries" / "migrations"):
        self.above, self.behind = {}, {}
        for path in sorted(folder.rglob("*.sql")):
            self._read(path.read_text().split("\n"))

    def _read(self, lines):
        above, place = [], None
        for line in lines:
            if line.startswith("--"):
                above = [] if line.startswith("-- MARK:") else above + [line]
                continue
            if made := re.match(r"CREATE (?:OR REPLACE |UNLOGGED )?(TABLE|VIEW|FUNCTION) (?:IF NOT EXISTS )?(\w+\.\w+)", line):
                place = made.group(2) if made.group(1) == "TABLE" else None
                self._keep(made.group(2), above)
            elif made := re.match(r"CREATE (?:UNIQUE )?INDEX (?:IF NOT EXISTS )?(\w+)", line):
                self._keep(f"index {made.group(1)}", above)
            elif made := re.match(r"ALTER TABLE (?:ONLY )?(\w+\.\w+)", line):
                place = made.group(1)
            if place:
                self._columns(place, line, above)
            above = []
            code = line.partition("-- ")[0].rstrip()
            if code.endswith(";") or ");" in code:
                place = None

    def _keep(self, name, above):
        if above:
            self.above[name] = above

    def _columns(self, table, line, above):
        code, _, said = line.partition("-- ")
        added = re.search(r"ADD (?:COLUMN )?(?:IF NOT EXISTS )?([a-z]\w*) [a-z]", code)
        column = added.group(1) if added else (re.match(r"    ([a-z]\w*) +[a-z]", code) or [None, None])[1]
        said = said.strip() or (" ".join(line[3:] for line in above) if added or line.startswith(" ") else "")
        if column and said:
            self.behind[table, column] = said


if __name__ == "__main__":
    PLACE.write_text(today(Path(os.environ.get("DROVER_BIN", ROOT / ".build" / "release" / "drover")).resolve()))
    print(f"{PLACE.relative_to(ROOT)} is written")
