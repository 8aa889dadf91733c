"""Queries/schema.sql shows the schema that the migrations make."""
import difflib

from schema import PLACE, objects, same, today, written


def test_the_page_of_the_schema_is_what_the_migrations_make(program):
    shown, made = PLACE.read_text(), today(program)
    changes = "\n".join(list(difflib.unified_diff(shown.split("\n"), made.split("\n"), "Queries/schema.sql", "the migrations", lineterm="", n=1))[:60])
    assert same(shown, made), f"Queries/schema.sql is not what the migrations make. Write it again: make schema\n{changes}"


def test_another_version_of_postgresql_writes_the_same_page():
    assert same("CREATE VIEW a.b AS\n SELECT t.x\n   FROM (a.t t);\n", "CREATE VIEW a.b AS\n SELECT x\n   FROM a.t t;\n")
    assert not same("CREATE VIEW a.b AS\n SELECT t.x\n   FROM a.t;\n", "CREATE VIEW a.b AS\n SELECT t.y\n   FROM a.t;\n")
    assert not same("CREATE TABLE a.t (\n    x integer\n);\n", "CREATE TABLE a.t (\n    y integer\n);\n")


DUMP = """--
-- PostgreSQL database dump
--

SET default_tablespace = '';

--
-- Name: a; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA a;


--
-- Name: t; Type: TABLE; Schema: a; Owner: -
--

CREATE TABLE a.t (
    x integer NOT NULL,
    at timestamp with time zone,
    y integer GENERATED ALWAYS AS (
CASE
    WHEN (x > 0) THEN x
    ELSE 0
END) STORED
);


--
-- Name: t_2026_11; Type: TABLE; Schema: a; Owner: -
--

CREATE TABLE a.t_2026_11 (
    x integer NOT NULL
);


--
-- Name: t t_pkey; Type: CONSTRAINT; Schema: a; Owner: -
--

ALTER TABLE ONLY a.t
    ADD CONSTRAINT t_pkey PRIMARY KEY (x);


--
-- Name: t all_rows_of_one; Type: POLICY; Schema: a; Owner: -
--

CREATE POLICY all_rows_of_one ON a.t TO one USING (true);


--
-- Name: TABLE t; Type: ACL; Schema: a; Owner: -
--

GRANT SELECT ON TABLE a.t TO two;
GRANT SELECT ON TABLE a.t TO one;


--
-- Name: COLUMN t.x; Type: ACL; Schema: a; Owner: -
--

GRANT SELECT(x),UPDATE(x) ON TABLE a.t TO three;


--
-- PostgreSQL database dump complete
--

"""


class Remarks:
    above, behind = {"a.t": ["-- Things."]}, {("a.t", "x"): "which one"}


def test_what_belongs_to_a_table_stands_with_it():
    assert written(objects(DUMP), Remarks).partition("-- MARK: a\n")[2] == """
CREATE SCHEMA a;

-- Things.
CREATE TABLE a.t (
    x integer NOT NULL,  -- which one
    at timestamptz,
    y integer GENERATED ALWAYS AS (CASE WHEN (x > 0) THEN x ELSE 0 END) STORED,
    CONSTRAINT t_pkey PRIMARY KEY (x)
);
-- CREATE POLICY all_rows_of_ROLE … TO ROLE USING (true), each of: one
GRANT SELECT ON TABLE a.t TO one, two;
GRANT SELECT (x), UPDATE (x) ON TABLE a.t TO three;
"""
