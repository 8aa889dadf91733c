"""Surveys passed on to a collector: only of accounts that want it, each version once, whatever the collector does."""
import json
import random
import re
import time
from datetime import datetime, timedelta, timezone

import psycopg
import pytest
from certificates import self_signed
from harness import is_long, lent, until
from stand_ins import KEY, Collector
from stories import database, house, world  # noqa: F401 (fixtures)
from test_survey_weather import middle
from world import Asked, query, url_of

START = datetime(2026, 6, 15, 9, 10, tzinfo=timezone(timedelta(hours=3)))
SECRETS = ["wanjiru@example.org", "+254 700 000001", "Wanjiru Otieno", "hunter2-at-bamona", KEY]


@pytest.fixture
def desk(world, certificate, tmp_path, request):
    name = re.sub("[^a-z0-9]", "", request.node.name)[4:]
    yield from lent(Desk(world, certificate, tmp_path, name[:20] + name[-4:]))


class Desk(Asked):
    """A worker, a collector, and what `drover notify` needs to know of it."""

    def __init__(self, world, certificate, folder, name):
        self.world, self.certificate, self.folder, self.name = world, certificate, folder, name
        self.env = world.database()
        # As production's login, without other rights.
        query(self.env, "GRANT drover_relay TO drover_notify")
        self.relay_url = url_of(self.env, "drover_notify")
        self.token = folder / "token"
        self.token.write_text(KEY + "\n")
        self.collector = Collector(certificate)
        self.worker, self.relays = world.worker(self.env, "forward"), []
        self.worker.wait_for("partitions assigned")

    def close(self):
        self.collector.release()
        try:
            for relay in self.relays:
                relay.stop()
            assert self.worker.stop() == 0
        finally:
            self.collector.close()
        # Whatever happened: nobody's contact and no key is in what was sent or logged.
        said = [running.output() for running in [self.worker, *self.relays]] + [request.body.decode() for request in self.collector.requests]
        for secret in SECRETS:
            assert not [text for text in said if secret in text], secret

    def notify(self, **settings):
        settings = {"url": f"https://127.0.0.1:{self.collector.port}/sightings", "ca_file": self.certificate[0], "token_file": self.token, **settings}
        arguments = [word for key, value in settings.items() if value for word in ("--set", f"forward.{key}={value}")]
        relay = self.world.drover.start("notify", *arguments, env={**self.env, "DROVER_POSTGRES_RELAY_URL": self.relay_url})
        self.relays.append(relay)
        return relay

    def switch(self, account, on=True):
        self.drover("account", "settings", "set", f"{self.name}.{account}", f"forward_surveys={'on' if on else 'off'}", "--by", "tests")
        self.world.work_off(self.env)

    def drover(self, *arguments, code=0):
        run = self.world.drover.run(*arguments, env=self.env)
        assert run.code == code, run.err
        return run.out + run.err

    def site(self, number=0):
        return f"{self.name}-{number}"

    def survey(self, number, site=0, **more):
        return {"schema": 1, "survey": f"s{number}", "site": self.site(site), "start": START.isoformat(), "stop": (START + timedelta(minutes=40)).isoformat(),
                "latitude": -3.37812, "longitude": 39.98765, "sightings": [{"species": "Acraea anemosa", "count": number}], **more}

    def push(self, *surveys, account="anna"):
        """A pair is a survey and the version that it was made from."""
        def record(survey, based_on=None):
            kind = {"kind": "survey"} if based_on is None else {"kind": "review", "based_on": based_on}
            return {"schema": 1, **kind, "id": f"r-{survey['survey']}-{based_on}", "site": survey["site"], "ts": int(time.time() * 1000), "account": f"{self.name}.{account}", "by": "tests", "survey": survey}
        self.world.push("drover.sightings", *[record(*each) if isinstance(each, tuple) else record(each) for each in surveys])
        self.world.work_off(self.env)

    def states(self):
        return {f"{site}:{survey}:{version}": state for site, survey, version, state in self.query("SELECT site, survey, version, state FROM drover.forward")}

    def hurry(self):
        """What was put off is tried now."""
        self.query("DELETE FROM drover.forward_pause RETURNING 1")
        self.query("UPDATE drover.forward SET try_at = now() WHERE state = 'waiting' RETURNING 1")

    def looked_again(self, count):
        """So many relays have looked for what waits once more, from beginning to end."""
        for _ in range(2):
            [[now]] = self.query("SELECT clock_timestamp()")
            until(lambda: self.query("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'drover-forward' "
                                     "AND query_start > %s", now) == [(count,)], *self.relays)

    def listed(self, *options):
        return json.loads(self.drover("sightings", "forwards", *options, "--format", "json"))


def test_only_accounts_that_want_it_and_each_version_once(desk):
    desk.notify()
    desk.push(desk.survey(1), account="early")
    desk.switch("anna")
    desk.switch("ben", on=False)
    desk.push(desk.survey(2), desk.survey(3, site=1))
    desk.push(desk.survey(4), account="ben")
    desk.push(desk.survey(2), account="anna")  # Again: stored once.
    desk.push((desk.survey(2, comments="was a moth"), 0), account="review")
    desk.push((desk.survey(4, comments="was a moth"), 0), account="anna")  # Who handed it in has not switched it on.
    wanted = [f"{desk.site()}:s2:0", f"{desk.site(1)}:s3:0", f"{desk.site()}:s2:1"]
    # Of what is handed in later nothing is missing, and of the others nothing came before it.
    desk.push(desk.survey(9))
    wanted.append(f"{desk.site()}:s9:0")
    until(lambda: wanted[-1] in desk.collector.ids() and "waiting" not in desk.states().values())
    assert sorted(desk.collector.ids()) == sorted(wanted)
    assert desk.states() == dict.fromkeys(wanted, "sent")
    for request in desk.collector.taken:
        assert request.path == "/sightings" and request.headers["Authorization"] == f"Bearer {KEY}"
        assert request.headers["Content-Type"].startswith("text/csv") and {row["Record ID"] for row in request.rows()} == {request.id}
    sent = desk.listed("--state", "sent")
    assert [row["answer"] for row in sent] == ["thank you"] * 4 and {row["status"] for row in sent} <= {201, "201"}


def test_what_is_sent_holds_no_people_no_formulas_and_what_was_seen(desk):
    desk.switch("anna")
    seen = START + timedelta(minutes=7)
    one = desk.survey(1, site_name='The "well", north', comments="=cmd|' /C calc'!A0", bamona_password="hunter2-at-bamona", login={"user": "w", "Password": "hunter2-at-bamona"},
                      surveyors=[{"name": "Wanjiru Otieno", "role": "recorder", "mail": "wanjiru@example.org", "phone": "+254 700 000001", "club_pwd": "hunter2-at-bamona"}],
                      notes="mail wanjiru@example.org",
                      sightings=[{"species": "+Danaus", "count": 3, "time": seen.isoformat(), "latitude": -3.3001, "longitude": 39.9, "behaviour": "basking", "comments": "@sum\nline 2"},
                                 {"species": "Acraea anemosa", "count": 0, "uncertainty_m": 30}])
    desk.push(one, desk.survey(2, sightings=[]))
    desk.notify()
    until(lambda: len(desk.collector.ids()) == 2)
    by_id = {request.id: request.rows() for request in desk.collector.taken}
    first, second = by_id[f"{desk.site()}:s1:0"]
    assert first == {
        "Record ID": f"{desk.site()}:s1:0", "Sighting ID": f"{desk.site()}:s1:0", "Observation Date": "2026-06-15", "Start Time": "09:10", "End Time": "09:50",
        "Species Name": "'+Danaus", "Name as Reported": "'+Danaus", "Number Seen": "3", "Life Stage": "", "Sex": "", "Behavior": "basking", "Certainty": "",
        "Latitude": "-3.3001", "Longitude": "39.9", "Coordinate Uncertainty (m)": "", "Location Name": 'The "well", north', "Habitat": "", "Coordinate Remarks": "",
        "Survey Protocol": "", "Observers": "", "Comments": "'@sum\nline 2"}
    assert (second["Sighting ID"], second["Number Seen"], second["Latitude"], second["Coordinate Uncertainty (m)"]) == (f"{desk.site()}:s1:1", "0", "-3.37812", "30")
    [nothing] = by_id[f"{desk.site()}:s2:0"]
    assert (nothing["Species Name"], nothing["Number Seen"], nothing["Observation Date"]) == ("", "", "2026-06-15")
    # A password for a collector is not even stored; what else is not known is.
    [body] = [body for body, in desk.query("SELECT body FROM drover.survey_version WHERE survey = 's1' AND site = %s", desk.site())]
    assert "hunter2" not in body and json.loads(body)["login"] == {"user": "w"} and json.loads(body)["notes"] == "mail wanjiru@example.org"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        psycopg.connect(desk.relay_url).execute("SELECT body FROM drover.survey_version")


def test_a_site_where_a_sensitive_species_was_seen_is_blurred(desk, tmp_path):
    taxonomy = tmp_path / "taxonomy.csv"
    taxonomy.write_text("taxon,name,rank,sensitive\na,Acraea anemosa,species,yes\nb,Danaus chrysippus,species,\n")
    desk.drover("taxonomy", "load", taxonomy)
    desk.switch("anna")
    told = {"site_name": "the well", "comments": "behind the well", "route": "to the well", "sightings": [{"species": "danaus  CHRYSIPPUS", "count": 2, "habitat": "well", "comments": "at the well", "uncertainty_m": 20_000}]}
    desk.push(desk.survey(1), desk.survey(2, **told), desk.survey(3, site=1, **told))
    desk.notify()
    until(lambda: len(desk.collector.ids()) == 3)
    [hidden], [open] = [next(request.rows() for request in desk.collector.taken if request.id == id) for id in (f"{desk.site()}:s2:0", f"{desk.site(1)}:s3:0")]
    place = middle((-3.37812, 39.98765))
    assert (float(hidden["Latitude"]), float(hidden["Longitude"])) == pytest.approx(place, abs=1e-9)
    assert hidden["Coordinate Uncertainty (m)"] == "20000" and "0.1 degrees" in hidden["Coordinate Remarks"]
    assert hidden["Species Name"] == "Danaus chrysippus" and hidden["Number Seen"] == "2"
    assert not [text for text in hidden.values() if "well" in text]
    assert (open["Latitude"], open["Location Name"], open["Comments"], open["Coordinate Remarks"]) == ("-3.37812", "the well", "at the well", "")


def test_a_refusal_is_listed_with_the_collectors_words_and_tried_again_when_asked(desk):
    bad = f"{desk.site()}:s1:0"
    words = "Species \u00e4 unknown\x1b[31m\r\n" + "x" * 9_000 + KEY
    desk.collector.trick = lambda request: (422, words, {}) if request.id == bad else (200, KEY, {})
    desk.switch("anna")
    desk.push(desk.survey(1), desk.survey(2), (desk.survey(1, comments="2"), 0))
    desk.notify()
    # The correction of what was refused goes out all the same.
    until(lambda: desk.states() == {bad: "refused", f"{desk.site()}:s2:0": "sent", f"{desk.site()}:s1:1": "sent"})
    [row] = desk.listed("--state", "refused")
    assert row["survey"] == "s1" and str(row["status"]) == "422" and row["answer"].startswith("Species \u00e4 unknown [31m xxx") and len(row["answer"].encode()) <= 500
    desk.push(desk.survey(3))
    until(lambda: desk.states()[f"{desk.site()}:s3:0"] == "sent")
    assert [request.id for request in desk.collector.requests].count(bad) == 1
    desk.collector.trick = None
    assert "1 version of surveys" in desk.drover("sightings", "forwards", "retry")
    until(lambda: desk.states()[bad] == "sent")
    assert desk.listed("--state", "refused") == [] and len(desk.listed("--site", desk.site(), "--survey", "s1")) == 2
    assert KEY not in json.dumps(desk.listed())
    desk.drover("sightings", "forwards", "--state", "lost", code=2)


def test_a_collector_that_wants_to_be_left_alone_is_by_all_relays(desk):
    desk.collector.trick = lambda request: (429, "slow down", {"Retry-After": "3600"})
    desk.switch("anna")
    desk.push(*[desk.survey(number) for number in range(1, 6)])
    # Both ask at the same moment, which none can help.
    desk.collector.hold()
    for _ in range(2):
        desk.notify()
    until(lambda: len(desk.collector.requests) == 2)
    [[before]] = desk.query("SELECT clock_timestamp()")
    desk.collector.release()
    until(lambda: desk.query("SELECT count(*) FROM drover.forward WHERE tries = 1") == [(2,)])
    [[until_at, after]] = desk.query("SELECT until_at, clock_timestamp() FROM drover.forward_pause")
    assert before <= until_at - timedelta(hours=1) <= after
    desk.looked_again(2)
    assert len(desk.collector.requests) == 2 and set(desk.states().values()) == {"waiting"}
    desk.collector.trick = None
    desk.hurry()
    until(lambda: set(desk.states().values()) == {"sent"})
    assert sorted(desk.collector.ids()) == sorted(f"{desk.site()}:s{number}:0" for number in range(1, 6))


def test_an_answer_that_says_nothing_of_the_survey_puts_it_off_and_versions_keep_their_order(desk):
    bad = []
    desk.collector.trick = lambda request: (bad.pop(), "not well", {"Location": "https://elsewhere.example"}) if bad else (200, "", {})
    desk.switch("anna")
    desk.notify()
    for number, status in enumerate([500, 503, 401, 301] if is_long() else [503, 301], 1):
        bad.append(status)
        done, name = len(desk.collector.requests), f"{desk.site()}:s{number}"
        desk.push(desk.survey(number), (desk.survey(number, comments="2"), 0), (desk.survey(number, comments="3"), 1))
        row = lambda: desk.query("SELECT state, tries, status, try_at - made_at >= interval '2 s' FROM drover.forward WHERE survey = %s AND version = 0", f"s{number}")
        until(lambda: row() == [("waiting", 1, status, True)])
        desk.hurry()
        until(lambda: set(desk.states().values()) == {"sent"})
        assert [request.id for request in desk.collector.requests[done:]] == [f"{name}:{version}" for version in (0, 0, 1, 2)], status
        assert desk.query("SELECT tries FROM drover.forward WHERE survey = %s ORDER BY version", f"s{number}") == [(2,), (1,), (1,)]
    assert [rows[0]["Comments"] for rows in (request.rows() for request in desk.collector.taken)] == [""] * len(desk.collector.taken)


def test_a_collector_that_is_away_or_shows_another_certificate_gets_all_later(desk, tmp_path):
    port = desk.collector.port
    desk.collector.close()
    desk.switch("anna")
    desk.push(*[desk.survey(number) for number in range(1, 9)])
    relay = desk.notify()
    tries = lambda: desk.query("SELECT sum(tries) FROM drover.forward")[0][0]
    until(lambda: tries() > 0, relay)
    assert set(desk.states().values()) == {"waiting"}
    # Somebody else at its address.
    before, other, tried = desk.collector, Collector(self_signed(tmp_path, "other"), port), tries()
    until(lambda: other.lost and tries() > tried, relay)
    assert other.requests == [] and set(desk.states().values()) == {"waiting"}
    other.close()
    desk.collector = Collector(desk.certificate, port)
    desk.drover("sightings", "forwards", "retry")
    until(lambda: set(desk.states().values()) == {"sent"})
    assert sorted(desk.collector.ids()) == sorted(f"{desk.site()}:s{number}:0" for number in range(1, 9)) and before.requests == []
    assert relay.output().count("surveys cannot be passed on") == 1


def test_switching_it_off_stops_what_is_not_sent_and_other_collectors_get_nothing_from_us(desk):
    desk.switch("anna")
    desk.push(desk.survey(1), desk.survey(2, forward_to="bamona"), desk.survey(3, forward_to="another"))
    desk.push(desk.survey(4), account="ben")
    desk.switch("anna", on=False)
    desk.switch("ben")
    desk.push(desk.survey(5, forward_to="bamona"), account="ben")
    desk.notify()
    at = desk.site()
    until(lambda: "waiting" not in desk.states().values())
    assert desk.states() == {f"{at}:s1:0": "stopped", f"{at}:s2:0": "stopped", f"{at}:s3:0": "stopped", f"{at}:s5:0": "sent"}
    desk.switch("anna")
    desk.drover("sightings", "forwards", "retry", "--site", at)
    until(lambda: "waiting" not in desk.states().values())
    assert desk.states() == {f"{at}:s1:0": "sent", f"{at}:s2:0": "sent", f"{at}:s3:0": "stopped", f"{at}:s5:0": "sent"}
    assert sorted(desk.collector.ids()) == [f"{at}:s1:0", f"{at}:s2:0", f"{at}:s5:0"]


def test_relays_that_are_killed_at_random_moments_lose_nothing(desk):
    """Each while the collector has what one of two relays sent, and has not answered yet."""
    chance, count, kills = random.Random(1), *((60, 12) if is_long() else (24, 4))
    desk.switch("anna")
    desk.push(*[desk.survey(number, site=number % 3) for number in range(1, count + 1)])
    wanted = {f"{desk.site(number % 3)}:s{number}:0" for number in range(1, count + 1)}
    relays = [desk.notify(), desk.notify()]
    for kill in range(kills):
        # Some get through before the next one.
        until(lambda: len(desk.collector.ids()) >= kill * count / kills * 0.8, *relays)
        desk.collector.hold()
        asked = len(desk.collector.requests)
        until(lambda: len(desk.collector.requests) > asked, *relays)
        victim = chance.randrange(2)
        relays[victim].kill()
        desk.relays.remove(relays[victim])
        desk.collector.release()
        relays[victim] = desk.notify()
    until(lambda: set(desk.states().values()) == {"sent"}, *relays)
    ids = desk.collector.ids()
    assert set(ids) == wanted
    # What came twice says so: the same id, and the same to the byte.
    bodies = {}
    for request in desk.collector.taken:
        assert bodies.setdefault(request.id, request.body) == request.body
    assert len(ids) - len(wanted) <= kills
    print(len(ids) - len(wanted), "came twice")


def test_a_replay_passes_nothing_on(desk):
    desk.switch("anna")
    desk.push(desk.survey(1), (desk.survey(1, comments="2"), 0))
    desk.notify()
    until(lambda: len(desk.collector.ids()) == 2)
    desk.world.replayed(desk.env)
    desk.push(desk.survey(2))
    until(lambda: "waiting" not in desk.states().values())
    assert len(desk.collector.requests) == 3 and len(desk.states()) == 3
    # A worker that reads it all anew in the live tables neither.
    [(rows,)] = desk.query("SELECT count(*) FROM again.survey_version WHERE site = %s", desk.site())
    assert rows == 2


@pytest.mark.parametrize("setting, text, says", [
    ("url", "http://collector.example/x", "must begin with https://"), ("url", "https://user:word@collector.example", "without user"),
    ("fields", "Species = species\n", "one column must be `id`"), ("fields", "ID = id\nMail = mail\n", "line 2: `mail` is no field"),
    ("fields", "ID = id\nID = id\n", "line 2: the column `ID` stands there before"), ("token_file", "", "its first line must be the key"),
    ("token_file", "a b\n", "its first line must be the key"), ("ca_file", None, "No such file"), ("name", "a b", "forward.name")])
def test_settings_that_are_wrong_are_told(drover, tmp_path, setting, text, says):
    value = text
    if setting in ("fields", "token_file", "ca_file"):
        value = tmp_path / "file"
        if text is not None:
            value.write_text(text)
    settings = {"url": "https://127.0.0.1:1/x", setting: value}
    run = drover.run("notify", *[word for key, each in settings.items() for word in ("--set", f"forward.{key}={each}")])
    assert run.code != 0 and says in run.err, run.err
