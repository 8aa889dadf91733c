"""Surveys from files and records to tables: counts as in the files, once, whatever order, repeats and kills."""
import csv
import json
import math
import random
import time
from collections import Counter, defaultdict
from datetime import date, datetime, timedelta, timezone

import psycopg
import pytest
from analysis import files, walked  # noqa: F401 (a fixture)
from harness import HANG_S, is_long, until
from world import a_world, connect, dump, producer, query

HOUR = timedelta(hours=1)


def ms(moment):
    return int(moment.timestamp() * 1000)


# Real surveys.

@pytest.fixture(scope="module")
def coast(program, shared):
    """A world with the walks of A Rocha Kenya."""
    with walked(program, shared) as world:
        yield world


@pytest.fixture
def watamu(coast):
    return coast.filled


@pytest.mark.needs_shared
def test_counts_are_those_of_the_files(watamu, files):
    events, occurrences, taxa = files
    assert query(watamu, "SELECT count(*), sum(sightings), sum(individuals) FROM drover.survey") == [
        (905, 12603, sum(int(row["individualCount"]) for row in occurrences))]
    by_species = Counter()
    for row in occurrences:
        by_species[row["scientificName"]] += int(row["individualCount"])
    assert dict(query(watamu, "SELECT species, sum(individuals)::int FROM drover.sighting GROUP BY 1")) == by_species
    # Five species have the key of another taxon there.
    uses = Counter(row["taxonID"] for row in taxa)
    keys = {row["scientificName"]: row["taxonID"] if uses[row["taxonID"]] == 1 or row["taxonRank"] == "genus"
            else "name-" + row["scientificName"].lower().replace(" ", "-") for row in taxa}
    assert dict(query(watamu, "SELECT DISTINCT species, taxon FROM drover.sighting")) == {name: keys[name] for name in by_species}
    assert query(watamu, "SELECT count(*) FROM drover.survey WHERE needs_review") == [(0,)]


@pytest.mark.needs_shared
def test_surveys_are_when_and_where_the_files_say(watamu, files):
    events, _, _ = files
    expected = set()
    for row in events:
        start, stop = (datetime.fromisoformat(f"{row['eventDate']}T{clock}:00+03:00") for clock in row["eventTime"].split("/"))
        expected.add((row["eventID"], start, stop, row["decimalLatitude"], row["decimalLongitude"], json.dumps(row["dynamicProperties"])))
    stored = query(watamu, """SELECT survey, started_at, stopped_at, latitude_deg::text, longitude_deg::text, others ->> 'dynamicProperties' FROM drover.survey""")
    assert {(*row[:5], json.dumps(row[5])) for row in stored} == expected


@pytest.mark.needs_shared
def test_the_walk_is_that_of_the_route(watamu, shared):
    line = json.loads((shared / "data" / "sightings-arocha-butterflies" / "transect.geojson").read_text())["features"][0]["geometry"]["coordinates"]
    length = 0
    for (lon1, lat1, *_), (lon2, lat2, *_) in zip(line, line[1:]):
        a, b, c, d = map(math.radians, (round(lat1, 7), round(lon1, 7), round(lat2, 7), round(lon2, 7)))
        length += 2 * 6_371_008.8 * math.asin(math.sqrt(math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2))
    for distance, pace, seconds in query(watamu, "SELECT distance_m, pace_mps, extract(epoch FROM stopped_at - started_at)::float8 FROM drover.survey"):
        assert distance == pytest.approx(length, rel=1e-6)
        assert pace is None if seconds == 0 else pace == pytest.approx(length / seconds, rel=1e-6)


@pytest.mark.needs_shared
def test_weeks_and_seasons_add_up(watamu, files):
    events, occurrences, _ = files
    day = {row["eventID"]: date.fromisoformat(row["eventDate"]) for row in events}
    weeks, seasons = defaultdict(lambda: [0, 0]), defaultdict(set)
    for row in occurrences:
        on = day[row["eventID"]]
        week = weeks[row["scientificName"], *on.isocalendar()[:2]]
        week[0] += 1
        week[1] += int(row["individualCount"])
        seasons[on.year, on.month, row["scientificName"]].add(row["eventID"])
    assert {row[:3]: list(row[3:]) for row in query(
        watamu, "SELECT species, iso_year, iso_week, sightings::int, individuals::int FROM drover.sighting_week WHERE behaviour = '' AND temperature_band = ''")} == dict(weeks)
    assert {row[:3]: row[3] for row in query(
        watamu, "SELECT year, month, species, surveys::int FROM drover.species_season WHERE latitude_cell = -4 AND longitude_cell = 39")} == {
            key: len(found) for key, found in seasons.items()}


@pytest.mark.needs_shared
def test_a_second_import_changes_nothing(coast, watamu, shared):
    before = dump(watamu)
    worker = coast.worker(watamu, "again")
    coast.drover.done("import", "sightings", shared / "data" / "sightings-arocha-butterflies", "--offset", "+03:00", "--site", "watamu", "--by", "tests", env=watamu)
    coast.work_off(watamu)
    assert worker.stop() == 0
    assert dump(watamu) == before
    assert before["rejected"] == []


@pytest.mark.needs_shared
def test_a_replay_gives_the_same(coast, watamu):
    tables = coast.replayed(watamu)
    assert tables["sighting"] == 12603 and tables["survey"] == 905


@pytest.mark.needs_shared
def test_visits_of_a_scheme(program, shared):
    with a_world(program) as world:
        env = world.database()
        folder = shared / "data" / "pollard-walk-rbms"
        world.drover.done("import", "sightings", folder, "--offset", "+01:00", "--site", "rbms", "--by", "tests", env=env)
        worker = world.worker(env, "rbms")
        world.work_off(env)
        read = lambda name: list(csv.DictReader((folder / name).open()))
        visits, counts = read("m_visit.csv"), read("m_count.csv")
        mine = "FROM drover.survey WHERE site LIKE 'rbms-%%'"
        assert query(env, f"SELECT count(*), sum(sightings)::int, sum(individuals)::int, count(*) FILTER (WHERE weather_missing > 0) {mine}", ) == [
            (len(visits), len(counts), sum(int(row["COUNT"]) for row in counts), 0)]
        by_site = Counter(f"rbms-{row['SITE_ID']}" for row in visits)
        assert dict(query(env, f"SELECT site, count(*)::int {mine} GROUP BY 1")) == by_site
        # Numbers are no names: taken, and for a reviewer.
        assert query(env, "SELECT DISTINCT needs_review, review_reason, taxon FROM drover.sighting WHERE site LIKE 'rbms-%%'") == [(True, "the name is not in the taxonomy", None)]
        assert worker.stop() == 0


# Records.

START = datetime(2026, 6, 15, 10, 0, tzinfo=timezone.utc)


def a_survey(site, survey, **fields):
    return {"schema": 1, "survey": survey, "site": site, "start": "2026-06-15T11:10:00+01:00", "stop": "2026-06-15T12:20:00+01:00",
            "latitude": 52.1, "longitude": -1.2, "protocol": "pollard-walk", "surveyors": [{"name": "A. Person", "role": "recorder", "mail": "a@example.org"}],
            "sightings": [{"species": "Danaus chrysippus", "count": 3, "time": "2026-06-15T11:20:00+01:00", "behaviour": "nectaring"},
                          {"species": "unheard of", "count": 1}], **fields}


def answer(hour, fetched, temperature):
    return json.dumps({"source": "open-meteo", "model": "archive", "ts": ms(START + hour * HOUR), "fetched_ts": fetched, "latitude": 52.15, "longitude": -1.15,
                       "cell_deg": 0.1, "temperature_c": temperature, "wind_speed_mps": 2.5, "cloud_cover_pct": 20, "precipitation_mm_per_h": 0}, separators=(",", ":"))


class Records:
    def __init__(self, world):
        self.sender, self.count = producer(world.brokers), 0

    def say(self, site, kind, **fields):
        self.count += 1
        record = {"schema": 1, "kind": kind, "id": f"r-{self.count}", "site": site, "ts": int(time.time() * 1000), "account": "club", "by": "tests", **fields}
        self.push(site, json.dumps(record))
        return record

    def push(self, site, value):
        self.sender.produce("drover.sightings", key=site.encode(), value=value.encode())

    def flush(self):
        assert self.sender.flush(HANG_S) == 0


@pytest.fixture(scope="module")
def story(world):
    env = world.database()
    world.drover.done("taxonomy", "load", "Deploy/taxonomy/butterflies-watamu.csv", env=env)
    worker = world.worker(env, "story")
    yield env
    assert worker.stop() == 0


def test_a_survey_is_stored_and_its_weather_comes_later(world, story):
    records = Records(world)
    records.say("hill", "survey", survey=a_survey("hill", "s1"))
    records.flush()
    world.work_off(story)
    assert query(story, "SELECT version, local_date, gate, gate_reasons, weather_missing, needs_review, sightings, individuals FROM drover.survey WHERE site = 'hill'") == [
        (0, date(2026, 6, 15), "unknown", ["the temperature is not known", "the wind is not known", "whether it rained is not known"], 2, True, 2, 4)]
    assert query(story, "SELECT species, taxon, review_reason FROM drover.sighting WHERE site = 'hill' ORDER BY sighting") == [
        ("Danaus chrysippus", "7642610", None), ("unheard of", None, "the name is not in the taxonomy")]
    records.say("hill", "weather", survey="s1", answers=[answer(0, 1_800_000_000_000, 18.25), answer(1, 1_800_000_000_000, 19)])
    records.flush()
    world.work_off(story)
    assert query(story, "SELECT gate, weather_missing FROM drover.survey WHERE site = 'hill'") == [("within", 0)]
    assert query(story, "SELECT temperature_c, wind_speed_mps, weather_source, weather_at FROM drover.sighting WHERE site = 'hill' ORDER BY sighting") == 2 * [
        (18.25, 2.5, "open-meteo archive", START)]
    assert query(story, "SELECT behaviour, temperature_band, individuals FROM drover.sighting_week WHERE site = 'hill' ORDER BY 1") == [("", "15", 1), ("nectaring", "15", 3)]


def test_the_first_submission_counts_and_reviews_follow_their_version(world, story):
    records = Records(world)
    first = a_survey("wood", "s1")
    records.say("wood", "survey", survey=first)
    records.say("wood", "survey", survey=first)
    records.say("wood", "survey", survey=a_survey("wood", "s1", comments="changed"))
    better = a_survey("wood", "s1", sightings=[{"species": "Danaus chrysippus", "count": 9}], surveyors=[])
    records.say("wood", "review", survey=better, based_on=0, note="counted again", by="reviewer")
    records.say("wood", "review", survey=a_survey("wood", "s1", comments="late"), based_on=0)
    records.push("wood", '{"schema":1,"kind":"survey"')
    records.push("wood", json.dumps({"schema": 1, "kind": "survey", "id": "x", "site": "wood", "ts": int(time.time() * 1000), "account": "club", "by": "t",
                                     "survey": a_survey("wood", "s2", latitude=91)}))
    ahead = {"start": "2099-06-15T10:00:00Z", "stop": "2099-06-15T11:00:00Z", "sightings": []}
    records.say("wood", "survey", survey=a_survey("wood", "s3", **ahead))
    records.flush()
    world.work_off(story)
    assert query(story, "SELECT version, comments, individuals, submitted_by, revised_at IS NOT NULL FROM drover.survey WHERE site = 'wood'") == [(1, None, 9, "tests", True)]
    assert query(story, "SELECT version, said_by, note, based_on FROM drover.survey_version WHERE site = 'wood' ORDER BY version") == [(0, "tests", None, None), (1, "reviewer", "counted again", 0)]
    assert query(story, "SELECT individuals FROM drover.sighting WHERE site = 'wood'") == [(9,)]
    assert query(story, "SELECT sum(individuals)::int FROM drover.sighting_week WHERE site = 'wood'") == [(9,)]
    assert query(story, "SELECT count(*) FROM drover.surveyor WHERE site = 'wood'") == [(0,)]
    reasons = [reason for reason, in query(story, "SELECT reason FROM drover.rejected WHERE topic = 'drover.sightings' ORDER BY record_offset")]
    assert [reason[:40] for reason in reasons] == [
        "a survey of this site and id was handed ", "another review was made from version 0 b", "not a JSON object: not JSON: see byte 27", "`survey` is no survey: latitude: must be",
        reasons[4][:40]]
    assert reasons[4].endswith("hours ahead of the time it was pushed, at most 24 are believed")


def test_a_reviewer_reads_a_survey_and_says_it_better(world, story, tmp_path):
    records = Records(world)
    records.say("lake", "survey", survey=a_survey("lake", "s1"))
    records.flush()
    world.work_off(story)
    run = world.drover.run("sightings", "open", "--site", "lake", "--format", "json", env=story)
    assert json.loads(run.out) == [{"site": "lake", "survey": "s1", "version": 0, "date": "2026-06-15", "reasons": "unheard of: the name is not in the taxonomy"}]
    run = world.drover.run("sightings", "show", "lake", "s1", env=story)
    assert run.code == 0 and "version 0 by tests" in run.err
    body = json.loads(run.out)
    body["sightings"][1]["species"] = "Papilio demodocus"
    file = tmp_path / "better.json"
    file.write_text(json.dumps(body))
    run = world.drover.run("sightings", "review", file, "--based-on", "0", "--note", "seen the photo", "--by", "Rita", env=story)
    assert run.code == 0 and "version 1 of survey s1" in run.err, run.err
    assert query(story, "SELECT version, needs_review FROM drover.survey WHERE site = 'lake'") == [(1, False)]
    world.drover.fails("sightings", "review", file, "--based-on", "0", "--by", "Rita", env=story, says="another review has changed")
    file.write_text(json.dumps({**body, "latitude": 91, "sightings": [{"species": "x", "count": -1}]}))
    world.drover.fails("sightings", "review", file, "--based-on", "1", "--by", "Rita", env=story, says=["latitude: must be", "sightings[0].count: must be"])


def test_the_species_list_of_a_place_holds_names_only(world, story):
    names = lambda *at: [name for name, in query(story, "SELECT * FROM drover.species_list(%s, %s, %s)", *at)]
    everything = [name for name, in query(story, "SELECT name FROM drover.taxon WHERE rank = 'species' ORDER BY name COLLATE \"C\"")]
    assert names(-60, 100, 1) == everything, "nothing was seen there"
    assert names(52.9, -2.9, 6) == names(51.2, -0.1, 5) == ["Danaus chrysippus", "Papilio demodocus"], "but not what nobody knows"
    assert names(55, -1, 6) == names(52.1, -1.2, 9) == everything
    records = Records(world)
    records.say("fiji", "survey", survey=a_survey("fiji", "s1", latitude=-17, longitude=180, sightings=[{"species": "Danaus chrysippus", "count": 1}, {"species": "Papilio demodocus", "count": 0}]))
    records.flush()
    world.work_off(story)
    assert names(-17.5, 179.5, 7) == names(-16.5, -179.5, 5) == names(-17, -180, 6) == names(-17, 180, 6) == ["Danaus chrysippus"]
    for bad in [(91, 0, 1), (float("nan"), 0, 1), (0, 181, 1), (0, 0, 0), (0, 0, 13), (None, 0, 1)]:
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            names(*bad)
    with connect(story) as connection:
        connection.execute("SET ROLE drover_api")
        assert connection.execute("SELECT count(*) FROM drover.species_list(0, 0, 1)").fetchone()[0] > 100
        for table in ("survey", "survey_version", "survey_waiting", "survey_weather", "surveyor", "sighting", "sighting_week", "species_season", "taxon", "taxon_name"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT FROM drover.{table}")


@pytest.mark.needs_shared
def test_flight_curves_are_those_of_the_files(coast, watamu, files):
    events, occurrences, _ = files
    counts = Counter()
    for row in occurrences:
        if row["scientificName"] == "Colotis amatus":
            counts[row["eventID"]] += int(row["individualCount"])
    weeks = defaultdict(list)
    for row in events:
        weeks[date.fromisoformat(row["eventDate"]).isocalendar()[:2]].append(counts[row["eventID"]])
    run = coast.drover.run("sightings", "curve", "Colotis amatus", "--site", "watamu", "--format", "json", env=watamu)
    shown = {int(row["year"]): row for row in json.loads(run.out)}
    assert sorted(shown) == [2020, 2021]
    for year, row in shown.items():
        means = {week: sum(found) / len(found) for (of, week), found in sorted(weeks.items()) if of == year}
        area = 0
        for week, later in zip(list(means), list(means)[1:]):
            for step in range(later - week):
                at = lambda n: means[week] + (means[later] - means[week]) * n / (later - week)
                area += (at(step) + at(step + 1)) / 2
        assert float(row["index"]) == pytest.approx(area, abs=0.002)
        assert int(row["visits"]) == sum(len(found) for (of, _), found in weeks.items() if of == year)


def test_another_taxonomy_makes_the_rows_again(world, story, tmp_path):
    rows = query(story, "SELECT taxon, name FROM drover.taxon WHERE taxon = '7642610'")
    assert rows == [("7642610", "Danaus chrysippus")]
    other = tmp_path / "other.csv"
    other.write_text("taxon,name,rank,sensitive,synonyms\n1,Danaus novus,species,yes,Danaus  CHRYSIPPUS|x\n2,Unheard of,species,no,\n")
    world.drover.done("taxonomy", "load", str(other), env=story)
    assert query(story, "SELECT DISTINCT species, given_name, taxon, is_sensitive, needs_review FROM drover.sighting WHERE site IN ('hill', 'wood') ORDER BY 1") == [
        ("Danaus novus", "Danaus chrysippus", "1", True, False), ("Unheard of", "unheard of", "2", False, False)]
    assert query(story, "SELECT species, sum(individuals)::int FROM drover.sighting_week WHERE site = 'hill' GROUP BY 1 ORDER BY 1") == [("Danaus novus", 3), ("Unheard of", 1)]
    bad = tmp_path / "bad.csv"
    bad.write_text("taxon,name,rank\n1,A,species\n1,B,species\n")
    world.drover.fails("taxonomy", "load", str(bad), env=story, says="line 3: `taxon` stands there before")
    assert query(story, "SELECT count(*) FROM drover.taxon") == [(2,)]


def set_of_records(seed):
    """One submission a survey, its reviews and its weather: what any order must make the same of."""
    chance = random.Random(seed)
    records = []
    for number in range(40):
        site, survey = f"set-{number % 7}", f"s{number}"
        def body(**fields):
            return a_survey(site, survey, sightings=[
                {"species": chance.choice(["Danaus chrysippus", "Papilio demodocus", "thing"]), "count": chance.randrange(5),
                 "time": (START + timedelta(minutes=chance.randrange(20, 60))).isoformat()} for _ in range(chance.randrange(4))], **fields)
        records.append((site, "survey", {"survey": body()}))
        for base in range(chance.randrange(3)):
            records.append((site, "review", {"survey": body(comments=f"review {base}"), "based_on": base}))
        for _ in range(chance.randrange(3)):
            records.append((site, "weather", {"survey": survey, "answers": [answer(hour, chance.randrange(5), chance.randrange(30)) for hour in range(chance.randrange(1, 3))]}))
    return [(site, {"schema": 1, "kind": kind, "id": f"set-{seed}-{index}", "site": site, "ts": ms(START), "account": "club", "by": "tests", **fields})
            for index, (site, kind, fields) in enumerate(records)]


def only_sets(rows):
    return {table: [row for row in found if row and str(row[0]).startswith("set-")] for table, found in rows.items() if table.startswith(("survey", "sighting", "species"))}


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long(reason="another set of records"))])
def test_any_order_repeats_and_kills_end_in_the_same_rows(program, seed):
    """Each order on a broker of its own: the log is the order. Kills of all sorts: test_torture.py."""
    chance, results = random.Random(seed), []
    records = set_of_records(seed)
    for order in range(2):
        with a_world(program) as world:
            env = world.database()
            sent = list(records)
            if order:
                sent += chance.choices(records, k=40)
                chance.shuffle(sent)
            worker = world.worker(env, "order", **{"work.commit_interval_ms": 5, "kafka.batch_messages_max": 7})
            sender = producer(world.brokers)
            # A topic that is made by whoever writes first has another number of partitions.
            until(lambda: "drover.sightings" in sender.list_topics(timeout=HANG_S).topics, worker)
            kill_at = [] if not order else range(39, len(sent), 40) if is_long() else [len(sent) // 2]
            for index, (site, record) in enumerate(sent):
                sender.produce("drover.sightings", key=site.encode(), value=json.dumps(record).encode())
                if index in kill_at:
                    assert sender.flush(HANG_S) == 0
                    worker.kill()
                    worker = world.worker(env, "order", **{"work.commit_interval_ms": 5, "kafka.batch_messages_max": 7})
            assert sender.flush(HANG_S) == 0
            world.work_off(env)
            results.append(only_sets(dump(env)))
            assert query(env, "SELECT count(*) FROM drover.rejected") == [(0,)]
            assert query(env, "SELECT count(*) FROM drover.survey_waiting") == [(0,)]
            if order or is_long():
                world.replayed(env)
            assert worker.stop() == 0
    assert len(results[0]["survey"]) == 40
    for table in results[0]:
        assert len(results[0][table]) == len(results[1][table]), table
        for one, other in zip(results[0][table], results[1][table]):
            assert [pair for pair in zip(one, other) if pair[0] != pair[1]] == [], (table, one[:3])
