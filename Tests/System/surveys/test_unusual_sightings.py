"""Out of place and out of season: what reviewers are shown, beside a count of the sightings one by one."""
import json
import math
import random
from collections import defaultdict
from datetime import date

import pytest
from analysis import walked
from harness import ROOT
from world import connect, query

COMMON = [f"Common {n}" for n in range(12)]


def walk(site, id, day, species, latitude, longitude, **more):
    return {"schema": 1, "survey": id, "site": site, "start": f"{day}T10:00:00+12:00", "stop": f"{day}T11:00:00+12:00", "latitude": latitude,
            "longitude": longitude, "sightings": [{"species": name, "count": 1} for name in species], **more}


def islands():
    """Sites on both sides of 180°, walked from May to July and in December, and what does not belong there."""
    random.seed(7)
    places = {"west": (-17.5, 179.5), "east": (-18.5, -179.5), "south": (-20.2, -178.4)}
    for number in range(76):
        site = random.choice(sorted(places))
        month, names = (random.choice([5, 6, 7]), COMMON) if number < 40 else (12, COMMON[:11])
        yield walk(site, f"w{number}", date(2015 + number % 7, month, 1 + number % 28), random.sample(names, 10), *places[site])
    yield walk("west", "rare", "2019-06-03", ["Charaxes candiope", COMMON[0]], *places["west"])
    yield walk("west", "none", "2019-06-04", [], *places["west"], comments="nothing")
    yield walk("east", "late", "2019-12-20", [COMMON[11], COMMON[1]], *places["east"])
    # Two that speak for each other over the meridian, and one of which there are too few to say when they fly.
    yield walk("west", "pair", "2019-06-05", ["Graphium antheus"], *places["west"])
    yield walk("east", "pair", "2020-07-05", ["Graphium antheus"], *places["east"])
    yield walk("south", "few", "2020-12-05", ["Graphium antheus"], *places["south"])
    # Nobody knows what is usual here.
    yield walk("new", "first", "2020-07-05", ["Vanessa cardui", COMMON[0]], 10.5, 10.5)
    # Looked for and not there is no record.
    yield {**walk("west", "zero", "2019-06-06", [], *places["west"]), "sightings": [{"species": "Junonia oenone", "count": 0}]}


def expected(env):
    """By the words of docs/surveys.md, from the sightings themselves."""
    with connect(env) as connection:
        records = defaultdict(set)
        for site, survey, day, species, latitude, longitude in connection.execute(
                "SELECT site, survey, local_date, species, latitude_deg, longitude_deg FROM drover.sighting WHERE individuals > 0 AND latitude_deg IS NOT NULL"):
            records[site, day.year, day.month, species, math.floor(latitude), (math.floor(longitude) + 180) % 360 - 180].add(survey)
    near = lambda a, b: abs(a[4] - b[4]) <= 3 and min((a[5] - b[5]) % 360, (b[5] - a[5]) % 360) <= 3
    beside = lambda a, b: (a[2] - b[2]) % 12 in (0, 1, 11)
    found, regions = {}, {}
    by_species = defaultdict(list)
    for key in records:
        by_species[key[3]].append(key)
    for key, surveys in records.items():
        if len(surveys) != 1:
            continue
        others = [other for other in by_species[key[3]] if near(key, other) and other[:3] != key[:3]]
        if any(beside(key, other) for other in others):
            continue
        if key[4:] not in regions:
            regions[key[4:]] = [(other, len(records[other])) for other in records if near(key, other)]
        all_of = regions[key[4:]]
        if not others and sum(n for _, n in all_of) >= 300:
            found[key[0], *surveys, key[3]] = "out of place"
        elif sum(len(records[other]) for other in others) >= 20 and sum(n for other, n in all_of if beside(key, other)) >= 300:
            found[key[0], *surveys, key[3]] = "out of season"
    return found


@pytest.mark.needs_shared
def test_what_is_unusual_is_what_a_count_of_all_sightings_says(program, shared, tmp_path):
    with walked(program, shared) as world:
        env = world.filled
        walks = list(islands())
        names = sorted({each["species"] for one in walks for each in one["sightings"]})
        known = (ROOT / "Deploy" / "taxonomy" / "butterflies-watamu.csv").read_text(encoding="utf-8")
        more = [name for name in names if f",{name}," not in known]
        columns = known.splitlines()[0].split(",")
        (tmp_path / "taxa.csv").write_text(known.rstrip("\n") + "\n" + "\n".join(
            ",".join({"taxon": f"t{n}", "name": name, "rank": "species"}.get(column, "") for column in columns) for n, name in enumerate(more)) + "\n")
        world.drover.done("taxonomy", "load", tmp_path / "taxa.csv", env=env)
        (tmp_path / "walks.jsonl").write_text("\n".join(map(json.dumps, walks)))
        world.drover.done("import", "sightings", tmp_path / "walks.jsonl", "--by", "tests", env=env)
        worker = world.worker(env, "unusual")
        world.work_off(env)

        def shown(*options):
            run = world.drover.done("sightings", "open", "--format", "json", *options, env=env)
            return {(row["site"], row["survey"], *part.split(": ")[:1]): part.split(": ")[1] for row in json.loads(run.out) for part in row["reasons"].split("; ")
                    if part.split(": ")[1].startswith("out of")}

        wanted = expected(env)
        assert {key: reason for key, reason in wanted.items() if key[0] != "watamu"} == {
            ("west", "rare", "Charaxes candiope"): "out of place", ("east", "late", COMMON[11]): "out of season"}
        assert sum(key[0] == "watamu" for key in wanted) >= 5
        given = {(site, survey, given): (site, survey, species) for site, survey, given, species in query(env, "SELECT site, survey, given_name, species FROM drover.sighting")}
        found = {given[key]: reason for key, reason in shown().items()}
        assert found == wanted
        for site in ["west", "east", "watamu", "nowhere"]:
            assert {given[key]: reason for key, reason in shown("--site", site).items()} == {key: reason for key, reason in wanted.items() if key[0] == site}
        run = world.drover.done("query", "sightings/to_review", "limit=1000", "--format", "json", env={**env, "DROVER_POSTGRES_READER_URL": env["DROVER_POSTGRES_URL"]})
        assert {(row["site"], row["survey"]) for row in json.loads(run.out) if "out of" in row["reasons"]} == {key[:2] for key in wanted}
        # Whoever has looked at it says so with a version of it, changed or not; it speaks for the next of its kind.
        rare = next(one for one in walks if one["survey"] == "rare")
        (tmp_path / "rare.json").write_text(json.dumps(rare))
        world.drover.done("sightings", "review", tmp_path / "rare.json", "--based-on", 0, "--by", "tests", "--note", "seen by two", env=env)
        (tmp_path / "next.jsonl").write_text(json.dumps({**rare, "survey": "next", "start": "2020-07-03T10:00:00+12:00", "stop": "2020-07-03T11:00:00+12:00"}))
        assert ("west", "rare", "Charaxes candiope") not in shown()
        world.drover.done("import", "sightings", tmp_path / "next.jsonl", "--by", "tests", env=env)
        world.work_off(env)
        assert not any(key[1] in ("rare", "next") for key in shown())
        assert worker.stop() == 0
