"""Sightings taken away: real surveys through the whole path, read back by readers that are not ours."""
import csv
import io
import json
import math
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree
import zipfile
from collections import Counter, defaultdict
from datetime import datetime, timezone

import psycopg
import pytest
from analysis import files, walked  # noqa: F401 (a fixture)
from certificates import self_signed
from dwca.read import DwCAReader
from harness import ROOT
from test_uploads import Phone, give_token
from world import connect, query, url_of

TERMS = "http://rs.tdwg.org/dwc/terms/"
FORMULA = "=cmd|'/c calc'!A0"


def qualname(term):
    return TERMS + term


@pytest.fixture(scope="module")
def world(program, shared):
    """With the walks of A Rocha Kenya."""
    with walked(program, shared) as world:
        yield world


@pytest.fixture(scope="module")
def watamu(world):
    """And logins for analysts and researchers."""
    grant(world.filled)
    return world.filled


def grant(env):
    with connect(env) as connection:
        for role, of in [("drover_analyst", "drover_reader"), ("drover_biologist", "drover_reader, drover_researcher")]:
            connection.execute(f"CREATE ROLE {role} LOGIN")
            connection.execute(f"GRANT {of} TO {role}")


def as_login(env, role):
    return {**env, "DROVER_POSTGRES_READER_URL": url_of(env, role)}


def export(world, env, *arguments, role="drover_analyst"):
    return world.drover.done("export", "sightings", *arguments, env=as_login(env, role)).out


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.needs_shared
def test_an_archive_is_read_by_another_reader_with_the_same_counts_and_positions(world, watamu, files, tmp_path):
    events, occurrences, _ = files
    path = tmp_path / "watamu.zip"
    export(world, watamu, "--format", "dwca", "--out", path, "--title", "Watamu <1> & more", "--creator", "A Rocha Kenya", "--rights", "CC0 1.0")
    assert not list(tmp_path.glob("*.part*"))
    expected = Counter((row["eventID"], row["scientificName"], int(row["individualCount"])) for row in occurrences)
    places = {row["eventID"]: (row["decimalLatitude"], row["decimalLongitude"]) for row in events}
    days = sorted(row["eventDate"] for row in events)
    found, met = Counter(), defaultdict(set)
    with DwCAReader(path) as archive:
        assert archive.core_contains_term(qualname("eventDate")) and archive.descriptor.core.type == qualname("Event")
        assert {e.type for e in archive.descriptor.extensions} == {qualname("Occurrence"), qualname("MeasurementOrFact")}
        assert archive.metadata.find("dataset/title").text == "Watamu <1> & more"
        for event in archive:
            if event.data[qualname("eventID")] == "watamu":
                assert not event.extensions and event.data[qualname("eventDate")] == f"{days[0]}/{days[-1]}"
                continue
            assert event.data[qualname("parentEventID")] == "watamu"
            survey = event.data[qualname("eventID")].split(":")[1]
            begin, end = event.data[qualname("eventDate")].split("/")
            assert begin[:10] == survey[:10] and begin.endswith("+03:00")
            assert (event.data[qualname("decimalLatitude")], event.data[qualname("decimalLongitude")]) == places[survey]
            for row in event.extensions:
                met[row.rowtype].add(row.data.get(qualname("occurrenceID")))
                if row.rowtype != qualname("Occurrence"):
                    continue
                data = row.data
                found[survey, data[qualname("scientificName")], int(data[qualname("individualCount")])] += 1
                assert data[qualname("occurrenceStatus")] == ("present" if data[qualname("individualCount")] != "0" else "absent")
                assert data[qualname("basisOfRecord")] == "HumanObservation" and data[qualname("recordedBy")] == ""
                assert data[qualname("geodeticDatum")] == "EPSG:4326"
                assert (data[qualname("decimalLatitude")], data[qualname("decimalLongitude")]) == places[survey]
    assert found == expected and len(met[qualname("Occurrence")]) == len(occurrences)
    # Zipped once more, it is the same to the byte.
    again = tmp_path / "again.zip"
    export(world, watamu, "--format", "dwca", "--out", again, "--title", "Watamu <1> & more", "--creator", "A Rocha Kenya", "--rights", "CC0 1.0")
    assert path.read_bytes() == again.read_bytes() and zipfile.ZipFile(path).testzip() is None
    assert ElementTree.fromstring(zipfile.ZipFile(path).read("meta.xml")).get("metadata") == "eml.xml"


@pytest.mark.needs_shared
def test_tables_and_features_say_the_same_as_the_source(world, watamu, files):
    events, occurrences, _ = files
    table = rows(export(world, watamu))
    assert len(table) == len(occurrences) == len({row["occurrence"] for row in table})
    assert Counter((r["survey"], r["species"], r["individuals"]) for r in table) == Counter(
        (r["eventID"], r["scientificName"], r["individualCount"]) for r in occurrences)
    collection = json.loads(export(world, watamu, "--format", "geojson"))
    assert len(collection["features"]) == len(table)
    for feature, row in zip(collection["features"], table):
        assert [str(x) for x in feature["geometry"]["coordinates"]] == [row["longitude_deg"], row["latitude_deg"]]
        assert feature["properties"] == {**feature["properties"], "occurrence": row["occurrence"], "individuals": int(row["individuals"])}
    # Ordered, so that a cut-off export goes on behind its last row, wherever that is.
    keys = [(row["started_at"], row["site"], row["survey"], int(row["sighting"])) for row in table]
    assert keys == sorted(keys)
    cut = 7_000
    at = "/".join(map(str, keys[cut - 1]))
    rest = export(world, watamu, "--after", at)
    assert list(csv.reader(io.StringIO(rest))) == [list(row.values()) for row in table[cut:]]


@pytest.mark.needs_shared
def test_queries_choose_what_the_source_says(world, watamu, files):
    events, occurrences, _ = files
    day = {row["eventID"]: row["eventDate"] for row in events}
    species = "Papilio demodocus"
    chosen = rows(export(world, watamu, "--species", species, "--from", "2020-06-01", "--to", "2020-09-01"))
    assert Counter(r["survey"] for r in chosen) == Counter(
        r["eventID"] for r in occurrences if r["scientificName"] == species and "2020-06-01" <= day[r["eventID"]] < "2020-09-01")
    both = rows(export(world, watamu, "--species", species, "--species", "Eronia cleodora"))
    assert {r["species"] for r in both} == {species, "Eronia cleodora"}
    assert export(world, watamu, "--site", "nowhere").count("\n") == 1
    near, far = (len(rows(export(world, watamu, "--near", f"-3.378,{lon},5", "--species", species))) for lon in (39.98, 40.98))
    assert near > 0 and far == 0
    for wrong in [["--near", "1,2"], ["--from", "x"], ["--format", "xlsx"], ["--after", "x/y"], ["--surveyor", "x"], ["--resume"], ["x"],
                  ["--format", "dwca", "--after", "2020-05-01"]]:
        assert world.drover.run("export", "sightings", *wrong, env=watamu).code == 2, wrong
    # Nothing of an option becomes a part of the statement.
    for hostile in ["x' OR true --", "'; DROP TABLE drover.sighting; --", "\\', 1"]:
        assert export(world, watamu, "--species", hostile).count("\n") == 1


def radius_m(lat):
    """Half the diagonal of a cell of 0.1° in metres, at the edge nearer to the equator, by the haversine."""
    a, b = math.radians(lat), math.radians(lat - math.copysign(0.05, lat))
    half = math.radians(0.025)
    return math.ceil(2 * 6_371_008.8 * math.asin(math.sqrt(math.sin(half) ** 2 + math.cos(a) * math.cos(b) * math.sin(half) ** 2)))


@pytest.mark.needs_shared
def test_sensitive_species_are_blurred_and_people_left_out(world, watamu):
    with connect(watamu) as connection:
        survey, = connection.execute("SELECT survey FROM drover.sighting WHERE sighting = 2 LIMIT 1").fetchone()
        connection.execute("UPDATE drover.sighting SET is_sensitive = sighting = 0, is_blurred = true, comments = 'at the well' WHERE survey = %s", [survey])
        connection.execute("UPDATE drover.survey SET route = 'behind the school', is_blurred = true WHERE survey = %s", [survey])
        connection.execute("INSERT INTO drover.surveyor (site, survey, surveyor, role, name, mail, phone) VALUES ('watamu', %s, 0, 'recorder', %s, 'a@example.org', '+254 1')", [survey, FORMULA])
    try:
        everything = export(world, watamu)
        blurred = [row for row in rows(everything) if row["generalization"]]
        assert {row["survey"] for row in blurred} == {survey} and len(blurred) >= 3
        for row in blurred:
            assert (row["latitude_deg"], row["longitude_deg"], row["uncertainty_m"]) == ("-3.35", "39.95", str(radius_m(-3.35)))
            assert row["route"] == row["comments"] == row["section"] == ""
        for word in ["at the well", "behind the school", "a@example.org", "+254", "calc"]:
            assert word not in everything
        # The login itself cannot see more.
        for option in ["--people", "--places"]:
            world.drover.fails("export", "sightings", option, env=as_login(watamu, "drover_analyst"), says="permission denied")
        with psycopg.connect(as_login(watamu, "drover_analyst")["DROVER_POSTGRES_READER_URL"], autocommit=True) as analyst:
            assert analyst.execute("SELECT count(*) FROM drover.sighting_shown").fetchone()[0] > 12_000
            for statement in ["SELECT * FROM drover.sighting", "SELECT * FROM drover.sighting_exact", "SELECT name FROM drover.surveyor",
                              "SELECT line FROM drover.survey", "SELECT latitude_deg FROM drover.survey", "SELECT body FROM drover.survey_version"]:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    analyst.execute(statement)
        seen = [row for row in rows(export(world, watamu, "--people", "--places", role="drover_biologist")) if row["survey"] == survey]
        assert {row["latitude_deg"] for row in seen} == {"-3.378178"} and seen[0]["comments"] == "at the well"
        # A name that a spreadsheet would run.
        assert {row["recorded_by"] for row in seen} == {"'" + FORMULA}
        assert json.loads(seen[0]["surveyors"]) == [{"name": FORMULA, "role": "recorder", "mail": "a@example.org", "phone": "+254 1"}]
        assert len(rows(export(world, watamu, "--people", "--surveyor", FORMULA, role="drover_biologist"))) == len(seen)
        feature = next(f for f in json.loads(export(world, watamu, "--people", "--format", "geojson", role="drover_biologist"))["features"] if f["properties"]["survey"] == survey)
        assert feature["properties"]["recorded_by"] == FORMULA and feature["properties"]["generalization"]
    finally:
        with connect(watamu) as connection:
            connection.execute("UPDATE drover.sighting SET is_sensitive = false, is_blurred = false, comments = NULL WHERE survey = %s", [survey])
            connection.execute("UPDATE drover.survey SET route = NULL, is_blurred = false WHERE survey = %s", [survey])
            connection.execute("DELETE FROM drover.surveyor")


@pytest.mark.needs_shared
def test_a_species_that_becomes_sensitive_blurs_all_walks_of_its_sites(world, watamu, tmp_path):
    taxonomy = ROOT / "Deploy" / "taxonomy" / "butterflies-watamu.csv"
    taxa = list(csv.DictReader(taxonomy.open()))
    for taxon in taxa:
        taxon["sensitive"] = "yes" if taxon["name"] == "Acraea anemosa" else "no"
    with (tmp_path / "taxa.csv").open("w") as file:
        writer = csv.DictWriter(file, taxa[0].keys())
        writer.writeheader()
        writer.writerows(taxa)

    def load(path):
        world.drover.done("taxonomy", "load", path, env=watamu)

    def blurred():
        return {row["survey"] for row in rows(export(world, watamu)) if row["generalization"]}
    def surveys(condition):
        return {survey for survey, in query(watamu, f"SELECT survey FROM drover.sighting WHERE {condition}")}
    met, walks = surveys("species = 'Acraea anemosa'"), surveys("site = 'watamu'")
    query(watamu, """INSERT INTO drover.sighting (site, survey, sighting, seen_at, local_date, species, given_name, individuals)
        SELECT 'elsewhere', 'x', 0, seen_at, local_date, 'Acraea', 'Acraea', 1 FROM drover.sighting LIMIT 1""")
    assert met and met < walks and not blurred() and surveys("is_blurred") == set()
    load(tmp_path / "taxa.csv")
    # Not only the walks that met it: where a site's other walks went tells where it lives.
    assert blurred() == walks == surveys("is_blurred")
    assert surveys("NOT is_blurred") == {"x"} and surveys("is_sensitive") == met
    load(taxonomy)
    assert not blurred() and surveys("is_blurred") == set()
    query(watamu, "DELETE FROM drover.sighting WHERE site = 'elsewhere'")


@pytest.mark.needs_shared
def test_an_export_that_is_killed_goes_on_where_it_was(world, watamu, tmp_path):
    path, whole = tmp_path / "all.csv", export(world, watamu)
    env = {**os.environ, **as_login(watamu, "drover_analyst")}
    # What was whole is marked month by month; behind it stands the half of a month that never ended.
    text = whole.split("\n")
    half = next(i for i, line in enumerate(text) if "2021-0" in line[:80])
    kept = "\n".join(text[:half]) + "\n"
    month = re.search(r",(20\d\d-\d\d)-\d\dT", text[half]).group(1)
    (tmp_path / "all.csv.part").write_text(kept + text[half] + "\nhalf a li")
    begin = datetime.strptime(month, "%Y-%m").replace(tzinfo=timezone.utc)
    (tmp_path / "all.csv.part.at").write_text(f"csv-sightings {len(kept.encode())} {int(begin.timestamp()) * 1000}")
    run = subprocess.run([world.drover.program, "export", "sightings", "--out", path, "--resume"], env=env, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert path.read_text() == whole and not list(tmp_path.glob("*.part*"))


def served_to_programs(watamu, drover, folder):
    """A server of the export for programs, its port and its certificate."""
    certificate, key = self_signed(folder, "first")
    query(watamu, "GRANT drover_reader, drover_api TO drover_web")
    server = drover.start("serve", "--port", 0, "--set", f"web.certificate={certificate}", "--set", f"web.certificate_key={key}", env=as_login(watamu, "drover_web"))
    return server, server.page_port, certificate


@pytest.mark.needs_shared
def test_programs_take_sightings_away_as_far_as_their_token_allows(world, watamu, drover, tmp_path):
    _, port, certificate = served_to_programs(watamu, drover, tmp_path)

    def token(*scopes):
        return Phone(port, certificate, give_token(watamu, "museum", *scopes))

    taker = token("export")
    answer = taker.get("/v1/sightings/export?species=Papilio%20demodocus&to=2021-01-01")
    assert answer.status == 200 and answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.body.decode() == export(world, watamu, "--species", "Papilio demodocus", "--to", "2021-01-01")
    whole = taker.get("/v1/sightings/export?format=dwca")
    assert len(zipfile.ZipFile(io.BytesIO(whole.body)).read("occurrence.txt").splitlines()) == 12_604
    assert json.loads(taker.get("/v1/sightings/export?format=geojson&site=watamu&to=2020-06-01").body)["features"]
    for query in ["format=xls", "from=x", "near=1", "surveyor=x", "where=1", "format=dwca&after=2020-05-01"]:
        assert taker.get("/v1/sightings/export?" + query).problem == (400, "query"), query
    for scope in ["survey", "read", "upload", "export-people"]:
        assert token(scope).get("/v1/sightings/export").problem == (403, "scope-missing")
    # The page's login is no researcher: the database says no whatever the token says, and before the first byte.
    assert token("export", "export-places").get("/v1/sightings/export").problem == (403, "not-granted")


@pytest.mark.needs_shared
def test_ready_queries_answer_analysts_with_the_numbers_of_the_source(world, watamu, files):
    events, occurrences, _ = files
    day = {row["eventID"]: datetime.fromisoformat(row["eventDate"]) for row in events}
    species = Counter(row["scientificName"] for row in occurrences).most_common(1)[0][0]
    mine = [(day[row["eventID"]], int(row["individualCount"])) for row in occurrences if row["scientificName"] == species]
    of_2020 = [(on, count) for on, count in mine if on.year == 2020]
    env = as_login(watamu, "drover_analyst")
    asked = set()

    def ask(name, **values):
        given = [f"{key.rstrip('_')}={value}" for key, value in values.items()]
        run = world.drover.done("query", f"sightings/{name}", *given, "--format", "json", env=env)
        plan = world.drover.run("query", f"sightings/{name}", *given, "--explain", env=env)
        assert plan.code == 0 and "Execution Time" in plan.out, plan.err
        asked.add(name)
        return json.loads(run.out)

    def sums(found, key):
        sums = defaultdict(lambda: [0, 0])
        for on, count in found:
            sums[key(on)][0] += 1
            sums[key(on)][1] += count
        return sorted((at, *both) for at, both in sums.items())
    weeks = ask("counts_by_week", species=species, year=2021)
    assert [(row["iso_week"], row["sightings"], row["individuals"]) for row in weeks] == sums(
        [each for each in mine if each[0].isocalendar()[0] == 2021], lambda on: on.isocalendar()[1])
    years = ask("first_and_last", species=species)
    assert [(row["year"], row["individuals"]) for row in years] == [(year, count) for year, _, count in sums(mine, lambda on: on.year)]
    assert years[-1]["last_seen"] == f"{max(on for on, count in mine if count):%Y-%m-%d}"
    totals = Counter()
    for row in occurrences:
        totals[row["scientificName"]] += int(row["individualCount"])
    assert {row["species"]: row["individuals"] for row in ask("species_of_site", site="watamu")} == totals
    assert ask("latest_of_species", species=species)[0]["seen_at"][:10] == years[-1]["last_seen"]
    near = {row["species"]: row["individuals"] for row in ask("near", latitude=-3.378, longitude=39.99, km=1, month=7)}
    assert near[species] == sum(count for on, count in mine if on.month == 7)
    assert ask("near", latitude=3.378, longitude=39.99, km=10, month=7) == []
    assert sum(row["sightings"] for row in ask("behaviour", species=species)) == len(mine)
    [effort] = ask("effort", from_="2000-01-01", to="2030-01-01")
    assert effort["surveys"] == len(events)
    assert sum(row["sightings"] for row in ask("weather", species=species, year=2020)) == len(of_2020)
    assert sum(row["individuals"] for row in ask("map", species=species, year=2020)) == sum(count for _, count in of_2020)
    curve = ask("flight_curve", species=species, site="watamu", year=2021)
    visits = Counter(on.isocalendar()[1] for on in day.values() if on.isocalendar()[0] == 2021)
    counted = {row["iso_week"]: row["individuals"] for row in weeks}
    assert {row["iso_week"]: row["surveys"] for row in curve} == visits
    assert {row["iso_week"]: row["mean"] for row in curve} == pytest.approx(
        {week: counted.get(week, 0) / count for week, count in visits.items()}, abs=1e-6)
    for name, values in [("outside_protocol", {"from_": "2000-01-01", "to": "2030-01-01"}), ("to_review", {})]:
        ask(name, **values)
    assert asked == {path.stem for path in (ROOT / "Queries" / "sightings").glob("*.sql")}
    world.drover.fails("query", "sightings/near", "latitude=x", "what=1", env=env, says=["latitude=x: must be a number", "what is none", "month is missing"], code=2)
