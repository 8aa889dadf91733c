"""A desk for surveyors' apps: serve over HTTPS with a login that may hand surveys in and nothing else."""
import itertools
import json
import uuid
import xmlrpc.client
from datetime import datetime, timedelta, timezone

import psycopg
from certificates import self_signed
from test_uploads import JSON, Phone, give_token
from world import Asked, as_served, messages

SITES = itertools.count(1)


class SurveyDesk(Asked):
    """A migrated database and `drover serve` whose surveys go through a login in drover_survey alone."""

    def __init__(self, world, folder, brokers=None, settings=()):
        self.world, self.drover, self.settings = world, world.drover, list(settings)
        self.env = as_served({**self.world.database(), **({"DROVER_KAFKA_BROKERS": brokers} if brokers else {})})
        if not self.query("SELECT 1 FROM pg_roles WHERE rolname = 'drover_surveyors'"):
            self.query("CREATE ROLE drover_surveyors LOGIN")
        self.query("GRANT drover_survey TO drover_surveyors")
        self.env["DROVER_POSTGRES_SURVEY_URL"] = self.login("drover_surveyors")
        self.certificate, self.key = self_signed(folder, "first")
        self.map = folder / "node-map.txt"
        self.map.write_text(NODE_MAP)
        self.serve()

    def serve(self, port=0):
        more = itertools.chain.from_iterable(("--set", setting) for setting in self.settings)
        self.server = self.drover.start(
            "serve", "--port", port, "--set", f"web.certificate={self.certificate}", "--set", f"web.certificate_key={self.key}",
            "--set", f"surveys.node_map_file={self.map}", *more, env=self.env)
        self.port = self.server.page_port

    def token(self, *scopes, account="wanjiru"):
        return give_token(self.env, account, *(scopes or ["survey"]))

    def app(self, token=None, **more):
        return App(self.port, self.certificate, token or self.token(**more))

    def calls(self):
        """Python's own XML-RPC client."""
        context = self.app("none").tls
        return xmlrpc.client.ServerProxy(f"https://127.0.0.1:{self.port}/v1/xmlrpc", context=context, allow_none=True)

    def log(self):
        """Every record of the topic: key and value."""
        read = [(message.key(), json.loads(message.value())) for message in messages(self.env["DROVER_KAFKA_BROKERS"], "drover.sightings")]
        return [(key.decode(), record) for key, record in read if record["kind"] != "tick"]

    def logged(self, site):
        """What surveys of the site say on the log."""
        return [record["survey"] for key, record in self.log() if key == site and record["kind"] == "survey"]


class App(Phone):
    def hand_in(self, survey, kind=JSON, **more):
        return self.post(survey, kind, "/v1/surveys", **more)


NODE_MAP = """
title = site_name
field_id = survey
field_site = site
field_start = start
field_stop = stop
field_sightings[].species = sightings[].species
field_sightings[].count = sightings[].count
@utc_offset = +03:00
"""


def a_site():
    return f"transect-{next(SITES)}-{uuid.uuid4().hex[:8]}"


def survey(site, id="s-1", **more):
    return {"schema": 1, "survey": id, "site": site, "site_name": "Watamu", "start": "2020-05-01T13:00:00+03:00",
            "stop": "2020-05-01T13:33:00+03:00",
            "surveyors": [{"name": "A. Wanjiru", "role": "recorder", "mail": "a@example.org", "phone": "+254 1"}],
            "sightings": [{"species": "Papilio demodocus", "count": 1, "latitude": -3.3781, "longitude": 39.9888, "wing": {"worn": True}},
                          {"species": "Danaus chrysippus", "count": 0}], **more}


def ahead(**delta):
    return (datetime.now(timezone.utc) + timedelta(**delta)).strftime("%Y-%m-%dT%H:%M:%SZ")


def tables_readable(conninfo):
    """Tables and views of the schema that the login may read or write in any way."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        return [name for name, in connection.execute("""
            SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'drover' AND c.relkind IN ('r', 'v', 'm', 'p')
                AND has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')""")]
