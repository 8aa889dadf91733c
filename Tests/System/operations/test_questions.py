"""Questions of people's own, where others' rows are in the same database: what psql tells of rows that it hides, who may have psql, and what the
service of questions lets nobody do."""
import base64
import csv
import hashlib
import html
import io
import json
import re
import secrets
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import openpyxl
import psycopg
import pytest
from harness import HANG_S, ROOT, until
from people import Visitor, add_account, logged_in
from test_nobody import ROLES as ALL_ROLES
from world import Asked, as_served, connect, query, url_of

ROLES = {"sue": "analyst", "nora": "analyst", "root": "administrator", "boss": "fleet_manager", "rider": "rider"}
HIDDEN = 51.1234567


@pytest.fixture(scope="module")
def desk(world):
    desk = Desk(world)
    yield desk
    desk.server.stop()


class Desk(Asked):
    """South, with a tractor, and north, with a combine."""

    def __init__(self, world):
        self.world, self.env, self.tokens = world, world.database(), {}
        with connect(self.env) as owner:
            owner.execute("GRANT drover_query TO drover_asker")
            for account, role in ROLES.items():
                add_account(self.env, account, role)
                self.tokens[account] = token(owner, account, "query")
            self.tokens["reads"] = token(owner, "sue", "read")
            owner.execute("INSERT INTO drover.fleet (fleet, name) VALUES ('south', 'South'), ('north', 'North')")
            owner.execute("INSERT INTO drover.fleet_member VALUES ('south', 'sue'), ('north', 'nora'), ('north', 'boss')")
            for fleet, machine, latitude in (("south", "tractor-1", 1), ("north", "combine-1", HIDDEN)):
                add_machine(owner, fleet, machine, latitude)
        self.server = world.drover.start("serve", "--port", "0", "--set", "web.query_s=3", env={
            **as_served(self.env), "DROVER_POSTGRES_QUERY_URL": self.login("drover_asker")})
        self.address = self.server.wait_for(r"at (http://127\.0\.0\.1:\d+)/").group(1)

    def ask(self, account, statement, form="application/json", body=None):
        """Status, and the answer or why there is none."""
        request = urllib.request.Request(
            self.address + "/v1/query", json.dumps({"statement": statement} if body is None else body).encode(),
            {"Authorization": "Bearer " + self.tokens[account], "Content-Type": "application/json", "Accept": form})
        try:
            with urllib.request.urlopen(request, timeout=HANG_S) as answer:
                text = answer.read().decode()
                return 200, json.loads(text) if form.endswith("json") else text
        except urllib.error.HTTPError as refused:
            return refused.code, json.loads(refused.read())["detail"]

    def rows(self, account, statement):
        status, answer = self.ask(account, statement)
        assert status == 200, answer
        return answer["rows"]


def token(owner, account, scope):
    text = "drover_" + base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode()
    digest = hashlib.blake2b(text.encode(), digest_size=32).digest()
    owner.execute("INSERT INTO drover.token (token_id, account, scopes, digest) VALUES (%s, %s, %s, %s)", [f"{account}-{scope}", account, [scope], digest])
    return text


def add_machine(owner, fleet, machine, latitude):
    owner.execute("SELECT drover.make_period('drover.machine_reading', '2026-09-14')")
    owner.execute("INSERT INTO drover.fleet_vehicle VALUES (%s, 'machine', %s)", [fleet, machine])
    owner.execute("INSERT INTO drover.vehicle VALUES ('machine', %s, '8R', 0, '2026-09-14')", [machine])
    owner.execute("INSERT INTO drover.machine_reading (vehicle, read_at, reading_id, model, latitude_deg, longitude_deg, alert_state) VALUES (%s, '2026-09-14', 1, '8R', %s, 7, '')",
                  [machine, latitude])


# MARK: psql


def by_hand(env, account):
    """A login as `drover account psql` makes it where nobody has neighbours."""
    with connect(env) as owner:
        user = f"drover_account_{account}"
        if not owner.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [user]).fetchone():
            owner.execute(f"CREATE ROLE {user}")
        owner.execute(f"ALTER ROLE {user} LOGIN; GRANT drover_sight TO {user}")
        owner.execute("INSERT INTO drover.account_login VALUES (%s, %s)", [user, account])
    return psycopg.connect(url_of(env, user), autocommit=True)


def bisected(explain):
    """A hidden latitude, by a plan that is not the same where a row has matched."""
    def is_there(low, high):
        plan = explain(f"SELECT FROM analyst.machine_reading WHERE latitude_deg > {low!r} AND latitude_deg <= {high!r} AND vehicle <> 'tractor-1'")
        return "never executed" not in plan
    low, high = 0.0, 90.0
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (low, middle) if is_there(low, middle) else (middle, high)
    return high


def test_a_login_of_the_database_tells_hidden_rows_by_explain_and_so_there_is_none_between_neighbours(desk):
    """Why: PostgreSQL says what it looked at. The login ends with the fleet that makes neighbours, also where it is connected."""
    env = desk.world.database()
    with connect(env) as owner:
        add_account(env, "sue", "analyst")
        add_account(env, "root", "administrator")
        owner.execute("INSERT INTO drover.fleet (fleet, name) VALUES ('south', 'South')")
        add_machine(owner, "south", "tractor-1", 1)
        owner.execute("INSERT INTO drover.fleet_member VALUES ('south', 'sue')")
        owner.execute("INSERT INTO drover.fleet (fleet, name, part_of) VALUES ('shed', 'Shed', 'south')")
        # Of one fleet and its parts nobody has neighbours.
        desk.world.drover.done("account", "psql", "sue", env=env)
        desk.world.drover.done("account", "no-psql", "sue", env=env)
        psql = by_hand(env, "sue")
        add_machine(owner, "shed", "combine-1", HIDDEN)
        owner.execute("DELETE FROM drover.fleet_vehicle WHERE vehicle = 'combine-1'")
        found = bisected(lambda sql: str(psql.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + sql).fetchall()))
        assert abs(found - HIDDEN) < 1e-6
        with by_hand(env, "root") as administrator:
            owner.execute("INSERT INTO drover.fleet (fleet, name) VALUES ('north', 'North')")
            with pytest.raises(psycopg.OperationalError):
                psql.execute("SELECT 1")
            # Who sees all keeps it.
            assert administrator.execute("SELECT count(*) FROM analyst.machine_reading").fetchone() == (2,)
            assert owner.execute("SELECT login FROM drover.account_login").fetchall() == [("drover_account_root",)]
            assert owner.execute("SELECT rolcanlogin, pg_has_role(oid, 'drover_sight', 'MEMBER') FROM pg_roles WHERE rolname = 'drover_account_sue'").fetchone() == (False, False)
            # Without the role it is anybody's.
            owner.execute("UPDATE drover.account SET roles = '{analyst}' WHERE account = 'root'")
            with pytest.raises(psycopg.OperationalError):
                administrator.execute("SELECT 1")
    desk.world.drover.fails("account", "psql", "sue", env=env, says=["more than one fleet or campus", "/query"])


def test_the_fleet_that_ends_logins_says_whose(desk):
    """They ended without a word: who had one found out by being thrown out."""
    env = desk.world.database()
    for account in ("sue", "nora"):
        add_account(env, account, "analyst")
    put = lambda *words: desk.world.drover.run("fleet", "put", *words, env=env)
    assert put("south").code == 0
    with by_hand(env, "sue"), by_hand(env, "nora"):
        part = put("shed", "--part-of", "south")
        assert part.code == 0 and "psql" not in part.err, part.err
        made = put("north")
    assert made.code == 0 and "psql has ended for nora, sue: with more than one fleet" in made.err and "/query" in made.err, made.err
    assert "psql" not in put("north").err


def test_parts_of_one_fleet_are_neighbours_of_each_other(desk):
    """Two customers below one fleet of all: who is in the whole sees both, who is in a part would learn of the other."""
    env = desk.world.database()
    add_account(env, "sue", "analyst")
    add_account(env, "all", "analyst")
    with connect(env) as owner:
        owner.execute("INSERT INTO drover.fleet (fleet, name) VALUES ('farms', 'All farms')")
        owner.execute("INSERT INTO drover.fleet (fleet, name, part_of) VALUES ('south', 'South', 'farms')")
        owner.execute("INSERT INTO drover.fleet_member VALUES ('south', 'sue'), ('farms', 'all')")
        with by_hand(env, "sue") as psql, by_hand(env, "all") as whole:
            assert psql.execute("SELECT 1").fetchone() == (1,)
            owner.execute("INSERT INTO drover.fleet (fleet, name, part_of) VALUES ('north', 'North', 'farms')")
            with pytest.raises(psycopg.OperationalError):
                psql.execute("SELECT 1")
            assert whole.execute("SELECT 1").fetchone() == (1,)
            # Who leaves the whole is beside its parts.
            owner.execute("DELETE FROM drover.fleet_member WHERE account = 'all'")
            with pytest.raises(psycopg.OperationalError):
                whole.execute("SELECT 1")
    desk.world.drover.fails("account", "psql", "sue", env=env, says="/query")


def test_two_campuses_are_neighbours_and_a_copy_of_the_database_is_looked_at(desk):
    env = desk.world.database()
    add_account(env, "disp", "dispatcher")
    def campus(name):
        owner.execute("INSERT INTO drover.campus (campus, topic_partition, name, settings, state, record_offset) VALUES (%s, 0, %s, '{}', '', 0)", [name, name])
    with connect(env) as owner:
        campus("hill")
        with by_hand(env, "disp") as psql:
            campus("foggy")
            with pytest.raises(psycopg.OperationalError):
                psql.execute("SELECT 1")
        # As where accounts came with a copy, and logins stayed.
        owner.execute("INSERT INTO drover.account_login VALUES ('drover_account_nowhere', 'disp')")
        run = desk.world.drover.run("migrate", env={**env, "DROVER_POSTGRES_OWNER_URL": env["DROVER_POSTGRES_URL"]})
        assert run.code == 0 and "1 database login of a person was ended" in run.err, run.err


# MARK: what a question may not


def test_each_asks_of_their_own_rows(desk):
    position = "SELECT vehicle, latitude_deg FROM analyst.machine_reading ORDER BY vehicle"
    assert desk.rows("sue", position) == [["tractor-1", 1]] and desk.rows("nora", position) == [["combine-1", HIDDEN]]
    assert desk.rows("root", position) == [["combine-1", HIDDEN], ["tractor-1", 1]] and desk.rows("rider", position) == []
    joined = "SELECT r.vehicle, v.model, f.fleet FROM analyst.machine_reading r JOIN vehicle v USING (vehicle) JOIN fleet_vehicle f USING (vehicle);"
    assert desk.rows("sue", joined) == [["tractor-1", "8R", "south"]] and desk.rows("nora", joined) == [["combine-1", "8R", "north"]]


REFUSED = [
    "EXPLAIN SELECT 1", "EXPLAIN (ANALYZE) TABLE trip", "WITH x AS (EXPLAIN SELECT 1) TABLE x", "SELECT query_to_xml('EXPLAIN ANALYZE TABLE own.trip', true, true, '')",
    "SELECT 1; EXPLAIN TABLE trip", "SELECT 1) AS answer; EXPLAIN SELECT (1", "SELECT 1) AS a, (SELECT 2", "LOAD 'auto_explain'", "SET drover.account = 'nora'", "RESET ALL",
    "DO $$ BEGIN END $$", "COPY trip TO STDOUT", "COPY (SELECT 1) TO PROGRAM 'id'", "DECLARE c CURSOR FOR SELECT 1", "PREPARE p AS SELECT 1", "EXECUTE p", "SHOW ALL", "BEGIN", "COMMIT",
    "CREATE TABLE t (a int)", "SELECT 1 INTO t", "WITH d AS (DELETE FROM trip RETURNING 1) TABLE d", "SELECT vehicle FROM vehicle FOR UPDATE", "LISTEN x", "NOTIFY x",
    "SELECT set_config('drover.account', 'nora', false)", "SELECT set_config('role', 'drover_page', false)", "SELECT drover.begin_question('nora') IS NULL", "SELECT current_setting('work_mem')",
    "SELECT pg_advisory_lock(1) IS NULL", "SELECT pg_try_advisory_lock(1)", "SELECT pg_sleep(1) IS NULL", "SELECT pg_notify('x', 'y') IS NULL", "SELECT pg_terminate_backend(1)",
    "SELECT lo_creat(-1)", "SELECT lo_get(1)", "SELECT pg_read_file('/etc/passwd')", "SELECT * FROM dblink('', 'SELECT 1') AS d(a int)", "SELECT nextval('drover.alert_event_event_id_seq')",
    "SELECT clock_timestamp()", "SELECT timeofday()", "SELECT table_to_xml('own.trip', true, true, '')", "SELECT cursor_to_xml('c', 1, true, true, '')", "SELECT ts_rewrite('a'::tsquery, 'SELECT 1, 2')",
    "SELECT word FROM ts_stat('SELECT 1')", "SELECT reltuples FROM pg_class", "SELECT histogram_bounds::text FROM pg_stats", "SELECT query FROM pg_stat_activity", "SELECT * FROM information_schema.tables",
    "SELECT pg_stat_get_live_tuples(1::oid)", "SELECT pg_relation_size(1::oid)", "TABLE drover.machine_reading", "TABLE drover.account", "TABLE drover.question", "SELECT drover.seen('machine')", "SELECT 10::oid::regrole",
    "SELECT 'drover.turn'::regclass", "SELECT repeat('x', 1000000000)", "SELECT 1 AS a, 2 AS a", "SELECT $1",
    "SELECT makeaclitem(10, 10, 'SELECT', false)::text AS a", "SELECT a::text FROM json_to_record('{\"a\": 10}') AS r(a regrole)", "SELECT * FROM json_to_record('{\"a\": 10}') AS r(a regrole)",
    "SELECT satisfies_hash_partition(1::oid, 1, 0, 1)", "SELECT xmlparse(document '<a/>')::text AS x", "SELECT * FROM xmltable('/a' PASSING '<a/>' COLUMNS b text)",
    "SELECT r::text AS a FROM json_to_record('{\"a\": 10}') AS r(a regrole)", "SELECT to_json(r)::text AS a FROM ROWS FROM (json_to_record('{\"a\": 10}') AS (a regrole)) AS r",
    "SELECT count(*) FROM json_to_record('{\"a\": \"drover_asker\"}') AS r(a regrole)", "SELECT json_populate_record(NULL::pg_class, '{\"relacl\": [\"drover_asker=r/drover_asker\"]}')::text AS a",
    "SELECT array_agg(o)::regrole[]::text[] AS a FROM (VALUES (10::oid)) AS v(o)", "SELECT '<a/>'::xml::text AS x", "", "no sql",
]


def test_nothing_but_one_select_is_taken(desk):
    taken = [statement for statement in REFUSED if desk.ask("sue", statement)[0] != 422]
    assert taken == []
    # None of them has changed who asks, or what is under way.
    assert desk.rows("sue", "SELECT vehicle FROM machine_reading") == [["tractor-1"]]
    assert query(desk.env, "SELECT count(*) FROM drover.question") == [(0,)]
    assert query(desk.env, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == [(0,)]
    assert query(desk.env, "SELECT count(*) FROM pg_class WHERE relname = 'drover_question'") == [(0,)]


def test_no_name_of_a_login_is_told_by_how_it_is_refused(desk):
    with connect(desk.env) as owner:
        if not owner.execute("SELECT 1 FROM pg_roles WHERE rolname = 'drover_account_there'").fetchone():
            owner.execute("CREATE ROLE drover_account_there NOLOGIN")
    said = {desk.ask("sue", f"SELECT 'drover_account_{name}'::regrole") for name in ("there", "nowhere")}
    assert len(said) == 1 and said.pop()[0] == 422


@pytest.mark.parametrize("statement, rows", [
    ("SELECT 1 AS one, 1.5 AS n, 'x' AS t, true AS b, NULL AS nothing, date '2026-09-14' AS d, timestamptz '2026-09-14 08:00Z' AS at, ARRAY['a'] AS l",
     [[1, 1.5, "x", True, None, "2026-09-14", "2026-09-14T08:00:00Z", ["a"]]]),
    ("SELECT 'NaN'::float8 AS a, '-Infinity'::float8 AS b", [["nan", "-inf"]]),
    ("VALUES (1, 'analyst.trip') -- analyst.trip", [[1, "analyst.trip"]]),
    ("WITH RECURSIVE n AS (SELECT 1 AS k UNION ALL SELECT k + 1 FROM n WHERE k < 4) SELECT sum(k) FROM n", [[10]]),
    ("SELECT count(*) FILTER (WHERE v.model ~ '^8'), max(r.latitude_deg), string_agg(DISTINCT v.vehicle, ',') FROM vehicle v LEFT JOIN machine_reading r USING (vehicle)", [[1, 1, "tractor-1"]]),
    ("SELECT date_trunc('month', read_at), to_char(read_at, 'YYYY'), row_number() OVER (ORDER BY read_at), percentile_cont(0.5) WITHIN GROUP (ORDER BY latitude_deg) FROM machine_reading GROUP BY read_at",
     [["2026-09-01T00:00:00Z", "2026", 1, 1]]),
    ("SELECT jsonb_build_object('a', 1) ->> 'a' AS a, round(2.345, 2), coalesce(NULL, 3), now() > '2020-01-01' AS n, extract(isodow FROM date '2026-09-14'), random() < 2 AS r", [["1", 2.35, 3, True, 1, True]]),
])
def test_what_analysts_write_is_taken(desk, statement, rows):
    assert desk.rows("sue", statement) == rows


def test_a_condition_is_never_put_to_a_hidden_row(desk):
    """What the plan of a question looks at does not depend on its conditions: the views hold their rows together first."""
    with psycopg.connect(desk.login("drover_asker")) as asker:
        asker.execute("SELECT drover.begin_question('sue')")
        def plan(low, high):
            return "\n".join(row[0] for row in asker.execute(
                f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT FROM own.machine_reading WHERE latitude_deg > {low} AND latitude_deg <= {high} AND vehicle <> 'tractor-1'").fetchall())
        there, elsewhere = plan(51, 52).replace("'51'", "'L'").replace("'52'", "'H'"), plan(20, 30).replace("'20'", "'L'").replace("'30'", "'H'")
        assert there == elsewhere and "Subquery Scan on machine_reading" in there
        # Said once for a transaction, and not again.
        with pytest.raises(psycopg.errors.UniqueViolation):
            asker.execute("SELECT drover.begin_question('nora')")
    with psycopg.connect(desk.login("drover_asker")) as asker:
        assert asker.execute("SELECT count(*) FROM own.machine_reading").fetchone() == (0,)
    # A login that may do anything else asks for nobody.
    with psycopg.connect(desk.env["DROVER_POSTGRES_URL"]) as other, pytest.raises(psycopg.errors.InsufficientPrivilege):
        other.execute("SELECT drover.begin_question('sue')")


def test_the_views_of_questions_have_the_rows_of_the_analysts_views(desk):
    views = [row[0] for row in query(desk.env, "SELECT relname FROM pg_class WHERE relnamespace = 'analyst'::regnamespace AND relkind = 'v'")]
    assert sorted(views) == sorted(row[0] for row in query(desk.env, "SELECT relname FROM pg_class WHERE relnamespace = 'own'::regnamespace"))
    with connect(desk.env) as page:
        page.execute("BEGIN; SET LOCAL ROLE drover_page")
        page.execute("SELECT set_config('drover.account', 'nora', true)")
        for view in views:
            assert desk.rows("nora", f"SELECT count(*) FROM {view}") == [list(page.execute(f"SELECT count(*) FROM analyst.{view}").fetchone())], view
        page.execute("ROLLBACK")


# MARK: limits


def test_answers_and_statements_have_limits(desk):
    status, why = desk.ask("sue", "SELECT count(*) FROM generate_series(1, 10000000000)")
    assert status == 422 and "longer than 3 s" in why
    status, why = desk.ask("sue", f"SELECT string_agg('{'Drover' * 40}', '') FROM generate_series(1, 100000) AS g")
    assert status == 422 and "longer than 16777216 bytes" in why
    status, why = desk.ask("sue", "SELECT g FROM generate_series(1, 100001) AS g")
    assert status == 422 and "more than 100000 rows" in why
    status, why = desk.ask("sue", "SELECT 1 --" + "x" * 20_000)
    assert status == 422 and "at most 20000 bytes" in why
    status, why = desk.ask("sue", "SELECT 1 / (latitude_deg - 1)::int FROM machine_reading")
    assert status == 422 and "division by zero" in why
    assert len(desk.rows("sue", "SELECT g FROM generate_series(1, 100000) AS g")) == 100_000


def nested(steps):
    statement = "SELECT length(vehicle) AS x FROM vehicle"
    for step in range(steps):
        statement = f"SELECT x + x AS x FROM ({statement}) AS t{step}"
    return statement


def put_in(steps, how):
    parts = [f"a0 AS {how} (SELECT count(*) AS k FROM vehicle)"] + [
        f"a{step} AS {how} (SELECT count(*) AS k FROM a{step - 1} AS x, a{step - 1} AS y)" for step in range(1, steps)]
    return f"WITH {', '.join(parts)} SELECT k FROM a{steps - 1}"


def test_a_plan_that_would_fill_the_memory_is_not_made(desk):
    """PostgreSQL does not look at the clock while it puts subqueries into one another: of 24 steps it took 20 GB, and was killed."""
    for statement in (nested(17), put_in(10, "NOT MATERIALIZED"), "SELECT 1 AS a FROM " + ", ".join(f"vehicle AS v{n}" for n in range(100)), f"SELECT {' + '.join('1' * 600)} AS a"):
        status, why = desk.ask("sue", statement)
        assert status == 422 and "use one another too often" in why, why
    assert len(desk.rows("sue", nested(8))) == 1
    assert desk.rows("sue", put_in(10, "MATERIALIZED")) == [[1]] and desk.rows("sue", put_in(10, "")) == [[1]]


# Two values that are long, and the constant that one of them may be.
MEET = {
    "a <@ b": "a <@ ARRAY[1, 2]::bigint[]", "a @> b": "a @> '{1, 2}'", "a && b": "ARRAY[1, 2]::bigint[] && a", "t LIKE u": "t LIKE '%ab%'", "t NOT ILIKE u": "t NOT ILIKE 'a!%' ESCAPE '!'",
    "t LIKE ANY (ARRAY[u])": "t LIKE ANY (ARRAY['a%', '%b'])", "strpos(t, u)": "strpos(t, 'ab')", "position(t IN u)": "position('ab' IN u)", "replace(t, u, t)": "replace(t, 'ab', u)",
    "split_part(t, u, 1)": "split_part(t, 'b', 1)", "string_to_array(t, u)": "string_to_array(t, 'b')", "translate(t, u, t)": "translate(t, 'ab', 'c')", "btrim(t, u)": "btrim(t, 'a')",
    "j @> k": "j @> '{\"a\": 1}'", "j ?| string_to_array(t, ',')": "j ?| ARRAY['a', 'b']", "j - string_to_array(t, ',')": "j - 'a'", "t::bytea LIKE u::bytea": "t::bytea LIKE '%a'",
    "path(g) <-> path(h)": "point(1, 2) <@ g", "to_date(t, u)": "to_date('2026', 'YYYY')"}
VALUES = """(SELECT array_agg(n) AS a, array_agg(-n) AS b, string_agg('a', '') AS t, string_agg('b', '') AS u, jsonb_agg(n) AS j, jsonb_agg(-n) AS k,
    polygon(circle(point(0, 0), 1)) AS g, polygon(circle(point(9, 0), 1)) AS h FROM generate_series(1::bigint, {0}) AS n) AS s"""


@pytest.mark.parametrize("step", MEET)
def test_no_step_of_a_question_takes_the_product_of_two_long_values(desk, step):
    """75,000 numbers <@ as many took 43 s at web.query_s=10: nothing ends PostgreSQL within such a step."""
    status, why = desk.ask("sue", f"SELECT {step} AS x FROM {VALUES.format(9)}")
    assert status == 422 and "PostgreSQL cannot stop within such a step" in why and "= ANY" in why, (status, why)
    assert len(desk.rows("sue", f"SELECT {MEET[step]} AS x FROM {VALUES.format(9)}")) == 1


def test_what_two_values_of_a_question_may_still_do(desk):
    once = "a || b, t || u, t = u, t < u, t ~ u, t SIMILAR TO u, starts_with(t, u), array_position(a, 3), array_to_string(a, t), j || k, j -> t, a = b, concat(t, u), n = ANY (a)"
    columns = ", ".join(f"{part} AS c{number}" for number, part in enumerate(re.split(r", (?![^(]*\))", once)))
    assert len(desk.rows("sue", f"SELECT {columns} FROM {VALUES.format(9)}, generate_series(1::bigint, 2) AS n")) == 2
    # Short is what is written out: not what becomes long.
    for statement in ("t LIKE 'a'::char(100000)", f"strpos(t, '{'a' * 101}')", f"a <@ ARRAY[{', '.join('1' * 101)}]::bigint[]", "t LIKE (SELECT string_agg('%', '') FROM vehicle)"):
        status, why = desk.ask("sue", f"SELECT {statement} AS x FROM {VALUES.format(9)}")
        assert status == 422 and "cannot stop" in why, (statement, status, why)
    # Nor many short ones of one row.
    for columns in (", ".join(f"t LIKE '%{number:098d}' AS c{number}" for number in range(11)), ", ".join(f"md5(t) AS c{number}" for number in range(1001))):
        status, why = desk.ask("sue", f"SELECT {columns} FROM {VALUES.format(9)}")
        assert status == 422 and "too often in one row" in why, (status, why)
    assert len(desk.rows("sue", "SELECT " + ", ".join(f"vehicle LIKE '%{number}%' AS c{number}" for number in range(100)) + " FROM vehicle")) == 1
    # One value by itself: 80,000 accents took 111 s.
    for statement in ("normalize(t)", "t IS NORMALIZED", "jsonb_path_exists(j, '$[*] ? (@ == $[*])')", "j @? '$.a'", "to_tsvector('simple', t) IS NULL"):
        status, why = desk.ask("sue", f"SELECT {statement} AS x FROM {VALUES.format(9)}")
        assert status == 422 and "may not be asked" in why, (statement, status, why)


def test_an_account_asks_one_at_a_time_and_others_go_on(desk):
    slow = "SELECT count(*) FROM generate_series(1, 10000000000)"
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda _: desk.ask("sue", slow), range(3)))
    assert sorted(status for status, _ in answers)[-1] == 429 and {status for status, _ in answers} <= {422, 429}
    assert desk.rows("nora", "SELECT 1") == [[1]]


def under_way(desk, owner, waiting=False):
    """How many questions are; `waiting`: for a lock."""
    return owner.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'drover_asker' AND state = 'active' AND (NOT %s OR wait_event_type = 'Lock')",
                         [waiting]).fetchone()[0]


def test_the_accounts_of_one_customer_leave_places_to_another(desk):
    """Four of them held all."""
    slow, crowd = "SELECT count(*) FROM generate_series(1, 10000000000)", [f"south-{number}" for number in range(4)]
    with connect(desk.env) as owner, ThreadPoolExecutor(4) as pool:
        for account in crowd:
            add_account(desk.env, account, "analyst")
            desk.tokens[account] = token(owner, account, "query")
            owner.execute("INSERT INTO drover.fleet_member VALUES ('south', %s)", [account])
        answers = [pool.submit(desk.ask, account, slow) for account in crowd]
        until(lambda: under_way(desk, owner) + sum(answer.done() for answer in answers) >= 4)
        assert desk.rows("nora", "SELECT 1") == [[1]] and desk.rows("root", "SELECT 1") == [[1]]
        said = sorted(answer.result() for answer in answers)
    assert [status for status, _ in said] == [422, 422, 429, 429] and "questions of your fleet or campus" in said[2][1], said


LET_GO = {
    "by the door": "SELECT drover.disable_account('leaver')", "for good": "SELECT drover.erase_account('leaver')",
    # Where nothing could end its connection.
    "unnoticed": "UPDATE drover.account SET disabled_at = now() WHERE account = 'leaver'"}


def amid(desk, owner, ask, end, is_ended=False):
    """What `ask` gets of the account leaver when `end` comes while its question is under way."""
    add_account(desk.env, "leaver", "analyst")
    with connect(desk.env) as other, ThreadPoolExecutor(1) as pool:
        owner.execute("DELETE FROM drover.token WHERE account = 'leaver'; UPDATE drover.account SET disabled_at = NULL, roles = '{analyst}' WHERE account = 'leaver'")
        owner.execute("INSERT INTO drover.fleet_member VALUES ('south', 'leaver') ON CONFLICT DO NOTHING")
        desk.tokens["leaver"] = token(owner, "leaver", "query")
        assert desk.rows("leaver", "SELECT vehicle FROM vehicle") == [["tractor-1"]]
        asks = ask()
        # Held up by this lock, for less than a question waits.
        other.execute("BEGIN; LOCK TABLE drover.vehicle IN ACCESS EXCLUSIVE MODE")
        answer = pool.submit(asks)
        until(lambda: under_way(desk, owner, waiting=True) == 1)
        owner.execute(end)
        if is_ended:
            until(lambda: under_way(desk, owner) == 0)
        other.execute("ROLLBACK")
        return answer.result()


def by_token(desk):
    return lambda: lambda: desk.ask("leaver", "SELECT vehicle FROM vehicle")


@pytest.mark.parametrize("how", LET_GO)
def test_who_is_let_go_amid_a_question_gets_no_answer(desk, how):
    """What was under way was answered still."""
    with connect(desk.env) as owner:
        status, why = amid(desk, owner, by_token(desk), LET_GO[how], is_ended=how != "unnoticed")
    # Its connection and its token end a moment before others can see that the account has.
    ended = status == 403 and ("leaver is disabled" in why or "does not hold any more" in why or "no account leaver" in why)
    assert ended or status == 503 and how != "unnoticed", (status, why)
    # Nobody else's was ended.
    assert desk.rows("sue", "SELECT 1") == [[1]]


@pytest.mark.parametrize("end", ["UPDATE drover.token SET revoked_at = now() WHERE account = 'leaver'", "UPDATE drover.account SET roles = '{rider}' WHERE account = 'leaver'"], ids=["token", "role"])
def test_whose_token_or_role_is_taken_amid_a_question_gets_no_answer(desk, end):
    """The account was looked at again, and nothing else."""
    with connect(desk.env) as owner:
        status, why = amid(desk, owner, by_token(desk), end)
    assert status == 403 and "does not hold any more" in why, (status, why)


@pytest.mark.parametrize("end", ["DELETE FROM drover.account_session WHERE account = 'leaver'", "UPDATE drover.account SET roles = '{rider}' WHERE account = 'leaver'"], ids=["log-in", "role"])
def test_so_it_is_on_the_page(desk, end):
    def ask():
        visitor = logged_in(desk.address.rpartition(":")[2], "leaver")
        form = visitor.mark()
        return lambda: visitor.post("/query", form=form, statement="SELECT vehicle FROM vehicle")
    with connect(desk.env) as owner:
        answer = amid(desk, owner, ask, end)
    assert answer.status == 403 and "does not hold any more" in answer.body and "tractor-1" not in answer.body, answer.body


def test_an_account_has_one_export_at_a_time(desk):
    """Two places are all there are: one account had both."""
    def export(account):
        request = urllib.request.Request(desk.address + "/v1/sightings/export?format=csv", headers={"Authorization": "Bearer " + desk.tokens[account + "-export"]})
        try:
            with urllib.request.urlopen(request, timeout=HANG_S) as answer:
                return answer.status, None
        except urllib.error.HTTPError as refused:
            return refused.code, refused.headers["Retry-After"]
    with connect(desk.env) as owner, connect(desk.env) as other, ThreadPoolExecutor(2) as pool:
        for account in ("sue", "nora", "root"):
            desk.tokens[account + "-export"] = token(owner, account, "export")
        def waiting():
            return owner.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'drover export' AND wait_event_type = 'Lock'").fetchone()[0]
        other.execute("BEGIN; LOCK TABLE drover.survey IN ACCESS EXCLUSIVE MODE")
        first = pool.submit(export, "sue")
        until(lambda: waiting() == 1)
        assert export("sue") == (429, "30")
        second = pool.submit(export, "nora")
        until(lambda: waiting() == 2)
        assert export("root") == (503, "30")
        other.execute("ROLLBACK")
        assert first.result() == second.result() == (200, None)
        until(lambda: export("sue")[0] == 200)


def test_tables_of_texts_and_times_without_end_come_as_they_are(desk):
    """They came as bytes, and as a time in the year 292 million."""
    statement = """SELECT ARRAY[ARRAY['a', 'b c'], ARRAY['', NULL]] AS t, ARRAY['x', NULL] AS l, '{}'::text[] AS e, 'infinity'::timestamptz AS f, '-infinity'::timestamptz AS p,
        'infinity'::date AS d, ARRAY[ARRAY['q"', '{', 'null', 'b\\']] AS q"""
    assert desk.rows("sue", statement) == [['{{a,"b c"},{"",NULL}}', ["x", None], [], "infinity", "-infinity", "infinity", '{{"q\\"","{","null","b\\\\"}}']]
    status, text = desk.ask("sue", statement, form="text/csv")
    assert status == 200 and list(csv.reader(io.StringIO(text)))[1][:5] == ['{{a,"b c"},{"",NULL}}', "x", "", "infinity", "-infinity"]


def test_a_question_of_long_texts_is_refused_and_the_server_goes_on(desk):
    """Twenty texts of 100 MB took 2 GB in two seconds, and nothing but the clock ended them. Where Linux ends the process, PostgreSQL ends all others."""
    texts = ", ".join(f"replace(a, 'x', a) AS t{number}" for number in range(20))
    statement = f"SELECT {' + '.join(f'length(t{number})' for number in range(20))} AS n FROM (SELECT {texts} FROM (SELECT string_agg('x', '') AS a FROM generate_series(1, 10000)) AS one OFFSET 0) AS all_of_them"
    with connect(desk.env) as beside:
        beside.execute("CREATE TEMPORARY TABLE here (a int)")
        status, why = desk.ask("sue", statement)
        assert status == 422 and "more memory or room than there is" in why and "fewer vehicles" in why, (status, why)
        assert beside.execute("SELECT count(*) FROM here").fetchone() == (0,)
    assert desk.rows("sue", "SELECT vehicle FROM machine_reading") == [["tractor-1"]]
    # Far from what answers need.
    assert desk.rows("sue", statement.replace("10000)", "1000)")) == [[20_000_000]]


# MARK: ways to ask


def test_by_token_as_csv_and_with_words_for_what_is_wrong(desk):
    status, text = desk.ask("sue", "SELECT vehicle, model FROM vehicle", form="text/csv")
    assert (status, list(csv.reader(io.StringIO(text)))) == (200, [["vehicle", "model"], ["tractor-1", "8R"]])
    status, why = desk.ask("sue", "SELECT nothing FROM vehicle")
    assert status == 422 and 'column "nothing" does not exist' in why
    assert desk.ask("reads", "SELECT 1")[0] == 403
    assert desk.ask("sue", "", body={"query": "SELECT 1"})[0] == 422 and desk.ask("sue", "SELECT 1", form="image/png")[0] == 406


def test_on_the_page(desk):
    visitor = logged_in(desk.address.rpartition(":")[2], "sue")
    page = visitor.get("/query")
    assert page.status == 200 and "<code>machine_reading</code>" in page.body and "latitude_deg" in page.body
    answer = visitor.post("/query", form=visitor.mark(), statement="SELECT vehicle, latitude_deg FROM analyst.machine_reading")
    assert answer.status == 200 and "tractor-1" in answer.body and "combine-1" not in answer.body
    # That it was asked is in the audit log, not what.
    told = query(desk.env, "SELECT detail FROM drover.audit_entry e JOIN drover.audit_name n ON n.digest = e.actor WHERE e.action = 'query_run' AND n.said = 'sue' "
                 "AND detail !~ 'token'")
    assert told == [('{"query":"a statement of one\'s own"}',)]
    answer = visitor.post("/query", form=visitor.mark(), statement="EXPLAIN SELECT '<b>'")
    assert answer.status == 422 and 'role="alert"' in answer.body and "without EXPLAIN" in answer.body and "<b>" not in answer.body
    # Where the fault stands, and what was meant perhaps.
    answer = visitor.post("/query", form=visitor.mark(), statement="SELECT vehicle,\n  latitude_dge\nFROM machine_reading")
    assert answer.status == 422 and "Line 2: <code>  latitude_dge</code>" in answer.body and "Did you mean latitude_deg?" in answer.body
    answer = visitor.post("/query", form=visitor.mark(), statement="TABLE machine_readings")
    assert answer.status == 422 and "Line 1: <code>TABLE machine_readings</code>" in answer.body and "Did you mean machine_reading?" in answer.body
    answer = visitor.post("/query", form=visitor.mark(), statement='SELECT vehicle FROM vehicle WHERE vehicle = "north"')
    assert answer.status == 422 and "Texts stand in single quotes: &#39;north&#39;." in answer.body
    answer = visitor.post("/query", form=visitor.mark(), statement="SELECT vehicle FROM vehicle", format="csv")
    assert (answer.status, answer.body.splitlines()) == (200, ["vehicle", "tractor-1"])
    rider = Visitor(visitor.port)
    assert rider.log_in("rider@example.org").status == 303 and rider.get("/query").status == 403


def test_what_is_offered_runs_as_it_stands_and_columns_are_explained(desk):
    visitor = logged_in(desk.address.rpartition(":")[2], "sue")
    page = visitor.get("/query").body
    assert "<dt><code>idle_ms</code></dt><dd>Time standing with the engine running [ms].</dd>" in page
    offered = [html.unescape(text) for text in re.findall(r'<button class="btn small" name="statement" value="([^"]*)"', page)]
    assert len(offered) > 20 and any(text.startswith("SELECT vehicle, sum(distance_mm)") for text in offered)
    for statement in offered:
        answer = visitor.post("/query", form=visitor.mark(), statement=statement)
        assert answer.status == 200, (statement, answer.body)


def test_an_answer_as_a_spreadsheet_holds_texts_as_texts_and_is_the_same_each_time(desk):
    visitor = logged_in(desk.address.rpartition(":")[2], "sue")
    statement = "SELECT '=1+1' AS formula, '  <&>\"' || chr(7) || E'\\r\\n.' AS odd, 12.5 AS number, true AS flag"
    form = urllib.parse.urlencode({"form": visitor.mark(), "statement": statement, "format": "xlsx"})

    def asked():
        headers = {"Cookie": visitor.cookie, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"}
        with urllib.request.urlopen(urllib.request.Request(desk.address + "/query", form.encode(), headers), timeout=HANG_S) as answer:
            return answer.read()
    file = asked()
    assert file == asked()
    [sheet] = openpyxl.load_workbook(io.BytesIO(file)).worksheets
    assert (sheet.title, sheet.freeze_panes, sheet.column_dimensions["A"].width) == ("answer", "A2", 18)
    head, row = sheet.iter_rows()
    assert [cell.value for cell in head] == ["formula", "odd", "number", "flag"] and all(cell.font.b for cell in head)
    assert [cell.value for cell in row] == ["=1+1", '  <&>"\n.', 12.5, "yes"]
    assert [cell.data_type for cell in row] == ["s", "s", "n", "s"] and not any(cell.font.b for cell in row)


def test_whoever_asks_on_the_page_may_have_an_app_password_for_it(desk):
    page = re.search(r"`GET /query` \| (.*) \|", (ROOT / "docs" / "access.md").read_text()).group(1)
    roles = query(desk.env, "SELECT array_agg(r) FROM unnest(%s::text[]) AS r WHERE 'query' = ANY (drover.own_scopes(ARRAY[r]))", ALL_ROLES)[0][0]
    assert {role.replace("_", " ") for role in roles} == set(page.split(", "))


def test_by_the_command_on_this_machine_and_from_another(desk):
    env = {**desk.env, "DROVER_POSTGRES_QUERY_URL": desk.login("drover_asker")}
    run = desk.world.drover.run("query", "SELECT vehicle FROM analyst.vehicle", "--as", "nora", "--format", "csv", env=env)
    assert (run.code, run.out) == (0, "vehicle\ncombine-1\n"), run.err
    desk.world.drover.fails("query", "EXPLAIN SELECT 1", "--as", "nora", env=env, says="without EXPLAIN")
    desk.world.drover.fails("query", "SELECT 1 AS one", "--as", "nosuch", env=env, says="--as nosuch: There is no account nosuch. See `drover account list`")
    assert desk.world.drover.run("query", "SELECT 1", env=env).code == 2
    assert desk.world.drover.run("query", "SELECT 1", "--as", "nora", "--explain", env=env).code == 2
    run = desk.world.drover.run("query", "SELECT vehicle FROM vehicle", "--url", desk.address, "--format", "csv", env={**desk.env, "DROVER_TOKEN": desk.tokens["sue"]})
    assert (run.code, run.out.split()) == (0, ["vehicle", "tractor-1"]), run.err
    desk.world.drover.fails("query", "SELECT vehicle FROM vehicle", "--url", desk.address, env={**desk.env, "DROVER_TOKEN": desk.tokens["reads"]}, says="query")


# MARK: a database of one's own


def test_a_copy_holds_ones_own_rows_and_comes_anew(desk):
    def database(name):
        return re.sub(r"dbname='?\w+'?", f"dbname='{name}'", desk.env["DROVER_POSTGRES_URL"])
    name = f"of_nora_{secrets.token_hex(4)}"
    env = {**desk.env, "DROVER_POSTGRES_QUERY_URL": desk.login("drover_asker")}
    query(desk.env, f"CREATE DATABASE {name}")
    views = [row[0] for row in query(desk.env, "SELECT relname FROM pg_class WHERE relnamespace = 'own'::regnamespace")]
    for _ in range(2):
        run = desk.world.drover.run("account", "copy", "nora", env={**env, "DROVER_COPY_TO": database(name)})
        assert run.code == 0 and "analyst.machine_reading: 1 rows" in run.out, run.err
        with psycopg.connect(database(name)) as mine:
            assert mine.execute("SELECT vehicle, latitude_deg FROM analyst.machine_reading").fetchall() == [("combine-1", HIDDEN)]
            assert {row[0] for row in mine.execute("SELECT relname FROM pg_class WHERE relnamespace = 'analyst'::regnamespace AND relkind = 'r'").fetchall()} == set(views)
    # Never into a database that holds others' rows.
    desk.world.drover.fails("account", "copy", "nora", env={**env, "DROVER_COPY_TO": desk.env["DROVER_POSTGRES_URL"]}, says="is one of Drover")
    desk.world.drover.fails("account", "copy", "nosuch", env={**env, "DROVER_COPY_TO": database(name)}, says="There is no account nosuch")
    assert desk.world.drover.run("account", "copy", "nora", env=env).code == 2
