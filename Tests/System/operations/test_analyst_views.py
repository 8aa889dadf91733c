"""The documented views: what they say of themselves, and that whoever reads them sees what pages would show."""
import json
import re

import psycopg
import pytest
from analysis import filled, psql_login, world  # noqa: F401 (fixtures)
from harness import ROOT
from world import as_page, connect, query

VIEWS = {"vehicle_minute", "vehicle_day", "trip", "alert", "machine_reading", "service", "scan", "ride", "decision", "dispatch_hour", "survey", "sighting",
         "species_week", "tour_day", "weather_hour", "notice"}
BESIDE = {"vehicle", "fleet_vehicle", "tour_waypoint"}
# The key of each, and the table that has its rows.
TABLES = {"vehicle_minute": "vehicle_minute", "vehicle_day": "vehicle_day", "trip": "trip", "alert": "alert", "machine_reading": "machine_reading", "service": "service",
          "scan": "health_scan", "vehicle": "vehicle"}


def columns(connection):
    return connection.execute(
        """SELECT c.relname, obj_description(c.oid), a.attname, a.atttypid::regtype::text, col_description(c.oid, a.attnum)
           FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
           WHERE c.relnamespace = 'analyst'::regnamespace AND c.relkind = 'v' ORDER BY 1, a.attnum""").fetchall()


def test_every_view_and_column_says_what_it_holds(filled):
    with connect(filled) as connection:
        described = columns(connection)
    assert {view for view, *_ in described} == VIEWS | BESIDE
    for view, about, column, kind, comment in described:
        assert re.fullmatch(r"Grain: .+ Key: [\w, ]+\. Fresh: .+", about), view
        assert comment and comment.endswith((".", "?")) or "]" in comment, (view, column)
        if kind in ("smallint", "integer", "bigint", "real", "double precision", "numeric"):
            assert re.search(r"\[[^\]]+\]", comment), (view, column, comment)
        assert kind in ("text", "text[]", "integer", "bigint", "double precision", "boolean", "timestamp with time zone", "date", "jsonb"), (view, column, kind)


def test_keys_are_keys(filled):
    with connect(filled) as connection:
        for view, about in {(row[0], row[1]) for row in columns(connection)}:
            key = re.search(r"Key: ([\w, ]+)\.", about).group(1)
            [[rows, keys]] = connection.execute(f"SELECT count(*), count(DISTINCT ({key})) FROM analyst.{view}").fetchall()
            assert rows == keys > 0, view


def test_the_page_for_analysts_lists_the_views_as_the_catalogue_has_them(filled):
    page = (ROOT / "docs" / "analyst.md").read_text()
    shown = dict(re.findall(r"^\| `analyst\.(\w+)` \| (.+?) \|$", page, re.M))
    with connect(filled) as connection:
        catalogue = {view: about for view, about, *_ in columns(connection)}
    assert shown == catalogue


def test_fuel_is_that_of_the_reports(world, filled):
    reported = json.loads(world.drover.done("report", "trips", "--date", "2020-03-25", "--zone", "UTC", "--format", "json", env=filled).out)
    litres = {trip["vehicle"]: trip["fuel_l"] for trip in reported["trips"]} if isinstance(reported, dict) else {trip["vehicle"]: trip["fuel_l"] for trip in reported}
    found = dict(query(filled, "SELECT vehicle, fuel_l FROM analyst.trip WHERE start_at >= '2020-03-25' AND start_at < '2020-03-26'"))
    assert found and {car: pytest.approx(float(value), abs=1e-3) for car, value in litres.items()} == found


def test_the_ways_of_fuel(filled):
    """Each with the numbers that Sources/Domain/Trips/Fuel.swift has: rate first, then air, as long as it covers nine tenths."""
    with connect(filled) as connection:
        def fuel(*values):
            return connection.execute("SELECT round(fuel_l::numeric, 6)::float8, fuel_method FROM analyst.fuel(%s, %s, %s, " + ", ".join(["%s::bigint"] * 8) + ")", values).fetchone()
        air = 14.7 * 745 * 1000
        assert fuel(None, None, None, 2_000_000, 100, None, None, None, None, None, None) == (2, "fuel_rate")
        assert fuel("gasoline", None, None, 2_000_000, 89, air, 100, None, None, None, None) == (1, "maf")
        assert fuel("gasoline", None, None, 2_000_000, 90, air, 100, None, None, None, None) == (2, "fuel_rate")
        assert fuel("diesel", 2000, None, None, None, air, 100, None, None, None, None) is None
        assert fuel("electric", None, None, 1, 1, None, None, None, None, None, None) is None
        assert fuel("cng", None, None, None, None, None, None, 17.2 * 2567 / 3.785411784 * 3e3, 5, None, None) == (pytest.approx(3, abs=1e-4), "maf_calculated")
        assert fuel(None, 2000, None, None, None, None, None, None, None, air, 5) == (1.6, "speed_density")
        assert fuel(None, 2000, 50, None, None, None, None, None, None, air, 5) == (1, "speed_density")
        assert fuel(None, None, None, None, None, None, None, None, None, air, 5) is None


def rows(connection, view, columns="*"):
    return connection.execute(f"SELECT {columns} FROM analyst.{view}").fetchall()


def test_an_analyst_sees_their_fleet_and_what_pages_show(world, filled):
    """In psql as in pages; and those of nobody's fleets nothing."""
    north = {row[0] for row in query(filled, "SELECT vehicle FROM drover.fleet_vehicle WHERE fleet = 'north'")}
    everything = {view: query(filled, f"SELECT count(*) FROM analyst.{view}")[0][0] for view in VIEWS | BESIDE}
    with as_page(filled, "anna") as page, psycopg.connect(psql_login(filled, "anna")) as psql:
        for view, table in TABLES.items():
            mine = {row[0] for row in rows(psql, view, "vehicle")}
            assert mine == {row[0] for row in page.execute(f"SELECT vehicle FROM drover.{table}").fetchall()} and mine and mine <= north, view
            assert len(rows(psql, view)) == page.execute(f"SELECT count(*) FROM drover.{table}").fetchone()[0] < everything[view]
        assert {row[0] for row in rows(psql, "fleet_vehicle", "fleet")} == {"north"}
        for view in VIEWS | BESIDE:
            assert sorted(map(str, rows(psql, view))) == sorted(map(str, rows(page, view))), view
        # No campus is theirs; sightings, visits and weather are everybody's who has the role.
        for view, count in {"ride": 0, "decision": 0, "dispatch_hour": 0, "survey": everything["survey"], "sighting": everything["sighting"], "species_week": everything["species_week"],
                            "tour_day": everything["tour_day"], "weather_hour": everything["weather_hour"] - 1, "notice": everything["notice"] // 2}.items():
            assert len(rows(psql, view)) == count, view
    with psycopg.connect(psql_login(filled, "nobody")) as psql:
        assert {view: len(rows(psql, view)) for view in VIEWS | BESIDE} == {view: len(rows(psql, "tour_waypoint")) if view == "tour_waypoint" else 0 for view in VIEWS | BESIDE}
    with psycopg.connect(psql_login(filled, "root")) as psql:
        assert {view: len(rows(psql, view)) for view in VIEWS | BESIDE} == everything


def test_sensitive_places_and_people_stay_hidden(world, filled):
    with psycopg.connect(psql_login(filled, "anna"), autocommit=True) as psql:
        for view in ("sighting", "survey"):
            places = set(rows(psql, view, "site, latitude_deg, longitude_deg"))
            assert places == {("site-0", -3.35, 39.95), ("site-1", -3.3781, 39.9891)}, view
        blurred = str([row for row in rows(psql, "sighting") if "site-0" in row[2]] + [row for row in rows(psql, "survey") if row[1] == "site-0"])
        assert "well" not in blurred and "-3.378" not in blurred
        for words in ["SELECT * FROM drover.sighting", "SELECT * FROM drover.sighting_shown", "SELECT * FROM drover.survey", "SELECT * FROM drover.tour_day", "SELECT * FROM drover.weather_hour",
                      "SELECT * FROM drover.tour_version", "CREATE VIEW analyst.mine AS SELECT 1", "SELECT analyst.has_role('x') FROM drover.account"]:
            psql.execute("SET default_transaction_read_only = off")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                psql.execute(words)
    with connect(filled) as owner:
        for view in ("ride", "dispatch_hour", "decision"):
            assert "Rosa" not in str(rows(owner, view)), view
        assert all(round(row[0], 3) == row[0] for row in rows(owner, "ride", "from_latitude_deg"))


def test_no_function_of_a_question_sees_rows_that_are_kept_back(world, filled):
    """A function that tells what it gets, and says that it costs nothing, is asked as early as PostgreSQL dares."""
    for account, seen in (("nobody", {}), ("anna", {"sighting", "species_week", "survey"})):
        told = []
        with psycopg.connect(psql_login(filled, account), autocommit=True) as psql:
            psql.execute("SET default_transaction_read_only = off")
            psql.execute("CREATE FUNCTION pg_temp.tell(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE 'told %', t; RETURN true; END $$")
            psql.add_notice_handler(lambda notice: told.append(notice.message_primary))
            for view, column in [("sighting", "latitude_deg::text"), ("survey", "latitude_deg::text"), ("species_week", "species"), ("tour_day", "waypoint"), ("weather_hour", "latitude_deg::text"),
                                 ("trip", "vehicle"), ("alert", "vehicle"), ("machine_reading", "vehicle"), ("ride", "request")]:
                told.clear()
                found = psql.execute(f"SELECT count(*) FROM analyst.{view} WHERE pg_temp.tell({column})").fetchone()[0]
                assert len(told) == found, view
                if view in ("sighting", "survey"):
                    assert "told -3.3781" in told if account == "anna" else not told
                    joined = psql.execute("SELECT count(*) FROM analyst.sighting s JOIN analyst.survey v USING (site, survey) WHERE pg_temp.tell(v.site || s.species)").fetchone()[0]
                    assert bool(joined) == (account == "anna") and (account == "anna" or not told)
