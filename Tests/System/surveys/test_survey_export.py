"""Walks taken away: those that found nothing, and the sites that they are walks of."""
import csv
import io
import json
import math
import re
from collections import defaultdict
from datetime import datetime

import psycopg
import pytest
from dwca.read import DwCAReader
from test_sightings_export import TERMS, as_login, export, grant, rows
from world import a_world, query

OWN = {"temperature_c": 21.5, "sun_pct": 80, "gauge": "behind the school"}
# As it is on the log; where the service was asked is a place, too.
ASKED = {"source": "open-meteo", "model": "archive", "ts": 1619852400000, "fetched_ts": 1619900000000, "latitude": -3.3781, "longitude": 39.9888,
         "cell_deg": 0.01, "temperature_c": 25.25, "humidity_pct": 70}


def walk(site, id, start, stop, **more):
    return {"schema": 1, "survey": id, "site": site, "start": start, "stop": stop, "sightings": [], **more}


WALKS = [
    walk("quiet", "nothing", "2021-05-01T10:00:00+03:00", "2021-05-01T11:00:00+03:00", site_name="Quiet\tMeadow", route="=1+1",
         waypoints=[{"latitude": -3.3781, "longitude": 39.9888}, {"latitude": -3.3792, "longitude": 39.9899}, {"latitude": -3.38, "longitude": 39.9871}],
         weather=OWN, protocol="pollard-walk", wing_wear={"worn": [1, 2]}, surveyors=[{"name": "A. Wanjiru", "role": "recorder", "mail": "a@example.org"}]),
    walk("quiet", "something", "2022-06-02T23:30:00+03:00", "2022-06-03T01:00:00+03:00", latitude=-3.37, longitude=39.98,
         sightings=[{"species": "Danaus chrysippus", "count": 2}, {"species": "Acraea eponina", "count": 0, "light_lux": 900, "weather": {"temperature_c": 19}}]),
    walk("quiet", "nowhere", "2019-12-31T23:00:00.250+00:00", "2020-01-01T00:00:00+00:00"),
    walk("hidden", "met", "2021-05-01T10:00:00+03:00", "2021-05-01T11:00:00+03:00", latitude=-3.3781, longitude=39.9888, site_name="Old Well",
         sightings=[{"species": "Acraea anemosa", "count": 1, "weather": {"temperature_c": 20, "gauge": "behind the school"}}]),
    walk("hidden", "missed", "2021-05-08T10:00:00+03:00", "2021-05-08T11:00:00+03:00", site_name="Old Well", route="past the well", comments="at the well",
         weather=OWN, waypoints=[{"latitude": -3.3781, "longitude": 39.9888}, {"latitude": -3.3792, "longitude": 39.9899}], spring="of the well"),
    # Only walks of its year: no sighting has a place there.
    walk("empty", "1", "1987-07-01T10:00:00+01:00", "1987-07-01T10:20:00+01:00", latitude=51.5, longitude=-0.1),
]


@pytest.fixture(scope="module")
def walks(program, tmp_path_factory):
    """Walks by way of the topic and a worker, with Acraea anemosa as a sensitive species, and what a service said of one."""
    with a_world(program) as world:
        env, folder = world.database(), tmp_path_factory.mktemp("walks")
        (folder / "taxa.csv").write_text("taxon,name,rank,sensitive\n1,Acraea anemosa,species,yes\n2,Danaus chrysippus,species,\n3,Acraea eponina,species,\n")
        world.drover.done("taxonomy", "load", folder / "taxa.csv", env=env)
        (folder / "walks.jsonl").write_text("\n".join(map(json.dumps, WALKS)))
        world.drover.done("import", "sightings", folder / "walks.jsonl", "--by", "tests", env=env)
        worker = world.worker(env, "walks")
        world.work_off(env)
        assert worker.stop() == 0
        grant(env)
        query(env, "UPDATE drover.survey SET service_weather = %s WHERE survey IN ('nothing', 'missed')", json.dumps([ASKED]))
        yield world, env


def read(path):
    """Events by id and what belongs to them, by an independent reader."""
    with DwCAReader(path) as archive:
        found = [(dict(event.data), [(row.rowtype, dict(row.data)) for row in event.extensions]) for event in archive]
    assert len({event[TERMS + "eventID"] for event, _ in found}) == len(found)
    return {event[TERMS + "eventID"]: ({key.removeprefix(TERMS): value for key, value in event.items()},
                                       {kind: [{key.removeprefix(TERMS): value for key, value in data.items()} for rowtype, data in more if rowtype == TERMS + kind]
                                        for kind in ("Occurrence", "MeasurementOrFact")}) for event, more in found}


def moment(text, is_end):
    return datetime.fromisoformat(text if "T" in text else text + ("T23:59:59+14:00" if not is_end else "T00:00:00-12:00"))


def test_a_walk_that_found_nothing_is_an_event_and_its_site_the_parent(walks, tmp_path):
    world, env = walks
    export(world, env, "--format", "dwca", "--out", tmp_path / "a.zip")
    events = read(tmp_path / "a.zip")
    assert {id for id in events if ":" in id} == {f"{each['site']}:{each['survey']}" for each in WALKS}
    days = defaultdict(list)
    for id, (event, _) in events.items():
        if ":" not in id:
            continue
        parent = event["parentEventID"]
        assert parent == event["locationID"] == id.split(":")[0] and events[parent][0]["parentEventID"] == ""
        days[parent] += [text[:10] for text in event["eventDate"].split("/")]
    for id, found in days.items():
        # An interval that holds those of its walks, by the days of the surveyors' clocks.
        assert events[id][0]["eventDate"] == f"{min(found)}/{max(found)}"
        assert events[id][1] == {"Occurrence": [], "MeasurementOrFact": []}
    assert set(events) - {id for id in events if ":" in id} == set(days)
    event, more = events["quiet:nothing"]
    assert more["Occurrence"] == [] and event["locality"] == "Quiet Meadow" and event["verbatimLocality"] == "=1+1"
    assert {(m["measurementType"], m["measurementValue"], m["measurementUnit"], m["measurementMethod"], m["measurementDeterminedDate"], m["occurrenceID"])
            for m in more["MeasurementOrFact"]} == {
        ("air temperature", "21.5", "°C", "surveyor", "2021-05-01T10:00:00+03:00", ""), ("sunshine", "80", "%", "surveyor", "2021-05-01T10:00:00+03:00", ""),
        ("air temperature", "25.25", "°C", "open-meteo archive", "2021-05-01T10:00:00+03:00", ""),
        ("relative humidity", "70", "%", "open-meteo archive", "2021-05-01T10:00:00+03:00", "")}
    line = [tuple(map(float, pair.split())) for pair in re.fullmatch(r"LINESTRING \((.*)\)", event["footprintWKT"]).group(1).split(", ")]
    assert line == [(p["longitude"], p["latitude"]) for p in WALKS[0]["waypoints"]] and event["footprintSRS"] == "EPSG:4326"
    assert json.loads(event["dynamicProperties"]) == {"wing_wear": {"worn": [1, 2]}}
    # The site's place and way are of the newest walk that has a way, its name of the newest that has one.
    site = events["quiet"][0]
    assert site["footprintWKT"] == event["footprintWKT"] and site["locality"] == "Quiet Meadow" and site["samplingEffort"] == "3 walks"
    _, more = events["quiet:something"]
    assert [(o["scientificName"], o["occurrenceStatus"]) for o in more["Occurrence"]] == [("Danaus chrysippus", "present"), ("Acraea eponina", "absent")]
    assert {(m["measurementID"], m["measurementValue"], m["occurrenceID"]) for m in more["MeasurementOrFact"]} == {
        ("quiet:something:1:air-temperature", "19", "quiet:something:1"), ("quiet:something:1:illuminance", "900", "quiet:something:1")}
    assert events["empty:1"][0]["eventDate"] == "1987-07-01T10:00:00+01:00/1987-07-01T10:20:00+01:00"
    ids = [m["measurementID"] for _, more in events.values() for m in more["MeasurementOrFact"]]
    assert len(ids) == len(set(ids))


def test_all_walks_of_a_sensitive_site_are_blurred(walks, tmp_path):
    world, env = walks
    export(world, env, "--format", "dwca", "--out", tmp_path / "a.zip")
    events = read(tmp_path / "a.zip")
    for id in ["hidden", "hidden:met", "hidden:missed"]:
        event, _ = events[id]
        assert (event["decimalLatitude"], event["decimalLongitude"], event["footprintWKT"], event["locality"]) == ("-3.35", "39.95", "", "")
        assert event["dataGeneralizations"] and event["informationWithheld"] and int(event["coordinateUncertaintyInMeters"]) > 7_000
    assert [m["measurementType"] for m in events["hidden:missed"][1]["MeasurementOrFact"]][-1] == "relative humidity"
    [met] = rows(export(world, env, "--site", "hidden"))
    assert json.loads(met["own_weather"]) == {"temperature_c": 20}
    told = json.dumps(met) + "".join("".join(event.values()) + json.dumps(more) for id, (event, more) in events.items() if id.startswith("hidden"))
    table, features = (export(world, env, "--rows", "surveys", "--site", "hidden", "--format", form) for form in ("csv", "geojson"))
    for word in ["39.98", "-3.37", "well", "Well", "school"]:
        assert word not in told + table + features, word
    assert [feature["geometry"]["type"] for feature in json.loads(features)["features"]] == ["Point", "Point"]
    exact = rows(export(world, env, "--rows", "surveys", "--places", "--site", "hidden", role="drover_biologist"))
    assert [(row["latitude_deg"], row["site_name"]) for row in exact] == [("-3.3781", "Old Well")] * 2
    with psycopg.connect(as_login(env, "drover_analyst")["DROVER_POSTGRES_READER_URL"], autocommit=True) as analyst:
        assert analyst.execute("SELECT count(*) FROM drover.survey_shown").fetchone()[0] == len(WALKS)
        for statement in ["SELECT * FROM drover.survey_exact", "SELECT service_weather FROM drover.survey", "SELECT own_weather FROM drover.survey", "SELECT line FROM drover.survey"]:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                analyst.execute(statement)


def test_walks_are_rows_of_tables_and_features(walks, tmp_path):
    world, env = walks
    text = export(world, env, "--rows", "surveys")
    table = rows(text)
    assert [(row["site"], row["survey"], int(row["sightings"])) for row in table] == [
        ("empty", "1", 0), ("quiet", "nowhere", 0), ("hidden", "met", 1), ("quiet", "nothing", 0), ("hidden", "missed", 0), ("quiet", "something", 2)]
    quiet = next(row for row in table if row["survey"] == "nothing")
    assert quiet["route"] == "'=1+1" and json.loads(quiet["service_weather"]) == [ASKED] and quiet["gate"] == "outside" and quiet["gate_reasons"]
    assert json.loads(quiet["others"]) == {"wing_wear": {"worn": [1, 2]}} and json.loads(quiet["own_weather"]) == OWN
    steps = [(p["latitude"], p["longitude"]) for p in WALKS[0]["waypoints"]]
    metres = sum(math.dist((a[0] * 111_195, a[1] * 111_195 * math.cos(math.radians(3.379))), (b[0] * 111_195, b[1] * 111_195 * math.cos(math.radians(3.379))))
                 for a, b in zip(steps, steps[1:]))
    assert float(quiet["distance_m"]) == pytest.approx(metres, rel=1e-3)
    features = json.loads(export(world, env, "--rows", "surveys", "--format", "geojson"))["features"]
    assert [feature["properties"]["event"] for feature in features] == [row["event"] for row in table]
    lines = {f["properties"]["survey"]: f["geometry"] for f in features}
    assert lines["nothing"] == {"type": "LineString", "coordinates": [[lon, lat] for lat, lon in steps]} and lines["nowhere"] is None
    # Behind any row go the others.
    for at, row in enumerate(table):
        rest = export(world, env, "--rows", "surveys", "--after", "/".join([row["started_at"], row["site"], row["survey"]]))
        assert list(csv.reader(io.StringIO(rest))) == [list(other.values()) for other in table[at + 1:]]
    assert "A. Wanjiru" not in text
    [seen] = [row for row in rows(export(world, env, "--rows", "surveys", "--people", "--surveyor", "A. Wanjiru", role="drover_biologist"))]
    assert seen["survey"] == "nothing" and seen["recorded_by"] == "A. Wanjiru"
    for wrong in [["--rows", "x"], ["--rows", "surveys", "--format", "dwca"], ["--rows", "surveys", "--after", "2020-05-01/a/b/1"], ["--after", "2020-05-01/a/b"]]:
        assert world.drover.run("export", "sightings", *wrong, env=env).code == 2, wrong


@pytest.mark.parametrize("options, expected", [
    (["--species", "Danaus chrysippus"], {"something"}), (["--behaviour", "basking"], set()),
    (["--from", "2021-05-01", "--to", "2021-05-02"], {"met", "nothing"}), (["--from", "2022-06-02T20:30:00Z"], {"something"}),
    (["--near=-3.378,39.988,3"], {"nothing", "something"}), (["--near=-3.35,39.95,0.1"], {"met", "missed"}), (["--site", "empty"], {"1"}),
    (["--near=-3.378,39.988,3", "--to", "2022-01-01"], {"nothing"}), (["--site", "quiet", "--species", "Acraea anemosa"], set())])
def test_a_filter_chooses_walks_alike_in_each_format(walks, tmp_path, options, expected):
    world, env = walks
    assert {row["survey"] for row in rows(export(world, env, "--rows", "surveys", *options))} == expected
    export(world, env, "--format", "dwca", "--out", tmp_path / "a.zip", *options)
    events = read(tmp_path / "a.zip")
    assert {id.split(":")[1] for id in events if ":" in id} == expected
    assert {id for id in events if ":" not in id} == {each["site"] for each in WALKS if each["survey"] in expected}
    # Occurrences and measurements are of events that are there: the reader drops those of others.
    text = export(world, env, *options)
    assert len(rows(text)) == sum(len(more["Occurrence"]) for _, more in events.values())


def test_a_species_that_is_no_longer_sensitive_shows_its_walks_again(walks, tmp_path):
    world, env = walks
    taxa = "taxon,name,rank,sensitive\n1,Acraea anemosa,species,{}\n2,Danaus chrysippus,species,\n3,Acraea eponina,species,\n"
    for sensitive, blurred in [("", set()), ("yes", {"met", "missed"})]:
        (tmp_path / "taxa.csv").write_text(taxa.format(sensitive))
        world.drover.done("taxonomy", "load", tmp_path / "taxa.csv", env=env)
        assert {survey for survey, in query(env, "SELECT survey FROM drover.survey WHERE is_blurred")} == blurred
        assert {row["survey"] for row in rows(export(world, env, "--rows", "surveys")) if row["generalization"]} == blurred
