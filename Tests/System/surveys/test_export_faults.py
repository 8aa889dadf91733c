"""Exports that are disturbed: full disks, clients that stop reading, reviews meanwhile, texts and filters with bad intent."""
import concurrent.futures
import csv
import http.client
import io
import json
import os
import resource
import signal
import ssl
import subprocess

import pytest
from harness import HANG_S, until
from test_sightings_export import as_login, export, rows, served_to_programs, watamu, world  # noqa: F401  (fixtures)
from test_uploads import Phone, give_token
from world import connect, query

# What spreadsheets take for a formula, in the ways OWASP's page on CSV injection lists.
SIGNS = ["=", "+", "-", "@", "\t=", "\r=", "\n=", "＝", "＋", "－", "＠"]


@pytest.mark.needs_shared
def test_no_text_of_a_table_begins_a_formula(world, watamu, tmp_path):  # noqa: F811
    def text(sign, name):
        return f"{sign}HYPERLINK(\"//x\") {name}"
    walks = [{
        "schema": 1, "survey": f"s-{n}", "site": "formulas", "start": f"2021-05-{n + 1:02}T10:00:00Z", "stop": f"2021-05-{n + 1:02}T11:00:00Z",
        **{name: text(sign, name) for name in ["site_name", "route", "protocol", "comments"]},
        "surveyors": [{"name": text(sign, "name"), "role": "recorder", "expertise": text(sign, "expertise")}],
        "sightings": [{"species": text(sign, "species"), "count": 1, "photos": [text(sign, "photo")], **{
            name: text(sign, name) for name in ["section", "habitat", "conditions", "behaviour", "life_stage", "sex", "mark", "animals", "plants", "comments"]}}],
    } for n, sign in enumerate(SIGNS)]
    (tmp_path / "walks.jsonl").write_text("\n".join(map(json.dumps, walks)))
    world.drover.done("import", "sightings", tmp_path / "walks.jsonl", "--by", "tests", env=watamu)
    worker = world.worker(watamu, "watamu-export")
    world.work_off(watamu)
    assert worker.stop() == 0
    typed = 0
    for kind in ["sightings", "surveys"]:
        read = csv.DictReader(io.StringIO(export(world, watamu, "--site", "formulas", "--rows", kind, "--people", role="drover_biologist"), newline=""))
        table = list(read)
        assert len(table) == len(SIGNS)
        for row in table:
            for name, cell in row.items():
                if "HYPERLINK" in cell and not cell.startswith("["):
                    assert cell.startswith("'"), (kind, name, cell)
                    typed += 1
                assert cell[:1] not in "=+@\t\r\n＝＋－＠" or cell == "", (kind, name, cell)
    # 17 of each sighting (its name twice), 6 of each walk; tabs and line ends at the begin may have been taken off before.
    assert typed >= 20 * len(SIGNS)
    with connect(watamu) as connection:
        for table in ["sighting", "survey", "surveyor"]:
            connection.execute(f"DELETE FROM drover.{table} WHERE site = 'formulas'")


def limited(most):
    """A disk that is full after so many bytes."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    return limit


@pytest.mark.needs_shared
@pytest.mark.parametrize("form", ["csv", "geojson", "dwca"])
def test_a_full_disk_is_told_and_what_was_whole_is_kept(world, watamu, tmp_path, form):  # noqa: F811
    env = {**os.environ, **as_login(watamu, "drover_analyst")}
    command = [world.drover.program, "export", "sightings", "--format", form]
    with open("/dev/full", "w") as full:
        run = subprocess.run(command, env=env, stdout=full, stderr=subprocess.PIPE, text=True, timeout=HANG_S)
    assert run.returncode == 1 and "No space left on device" in run.stderr, run.stderr
    path = tmp_path / "all"
    whole = export(world, watamu, "--format", form) if form != "dwca" else None
    most = 100_000 if form == "dwca" else 3_000_000
    run = subprocess.run([*command, "--out", path], env=env, capture_output=True, text=True, timeout=HANG_S, preexec_fn=limited(most))
    assert run.returncode == 1 and "all.part" in run.stderr, run.stderr
    assert not path.exists()
    if form != "dwca":
        run = subprocess.run([*command, "--out", path, "--resume"], env=env, capture_output=True, text=True, timeout=HANG_S)
        assert run.returncode == 0, run.stderr
        assert path.read_text() == whole and not list(tmp_path.glob("*.part*"))


@pytest.mark.needs_shared
def test_an_export_is_of_one_moment_whatever_reviewers_do_meanwhile(world, watamu):  # noqa: F811
    env = {**os.environ, **as_login(watamu, "drover_analyst")}
    before = export(world, watamu)
    process = subprocess.Popen([world.drover.program, "export", "sightings"], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    head = process.stdout.read(5_000)
    # It waits for its reader now, far from the end; the last walk gets a new version.
    last = rows(before)[-1]
    query(watamu, "UPDATE drover.sighting SET individuals = 77 WHERE survey = %s", last["survey"])
    try:
        assert head + process.stdout.read() == before and process.wait(HANG_S) == 0
        after = rows(export(world, watamu))
        assert {row["individuals"] for row in after if row["survey"] == last["survey"]} == {"77"}
    finally:
        counts = {int(row["sighting"]): int(row["individuals"]) for row in rows(before) if row["survey"] == last["survey"]}
        with connect(watamu) as connection:
            for sighting, count in counts.items():
                connection.execute("UPDATE drover.sighting SET individuals = %s WHERE survey = %s AND sighting = %s", [count, last["survey"], sighting])


@pytest.mark.needs_shared
def test_of_two_reviewers_at_once_one_is_told_to_begin_anew(world, watamu, tmp_path):  # noqa: F811
    run = world.drover.run("sightings", "show", "watamu", "2020-05-01_1000", env=watamu)
    if run.code != 0:
        survey, = query(watamu, "SELECT survey FROM drover.survey WHERE site = 'watamu' ORDER BY started_at LIMIT 1")[0]
        run = world.drover.run("sightings", "show", "watamu", survey, env=watamu)
    shown = json.loads(run.out)
    worker = world.worker(watamu, "watamu-export")
    bodies = []
    for name in ["first", "second", "third"]:
        (tmp_path / name).write_text(json.dumps({**shown, "comments": name}))
        bodies.append(tmp_path / name)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        runs = list(pool.map(lambda path: world.drover.run("sightings", "review", path, "--based-on", 0, "--by", path.name, env=watamu), bodies))
    assert worker.stop() == 0
    assert sorted(run.code for run in runs) == [0, 1, 1], [run.err for run in runs]
    assert all("another review has changed" in run.err for run in runs if run.code == 1)
    winner = next(path.name for path, run in zip(bodies, runs) if run.code == 0)
    assert query(watamu, "SELECT comments, version FROM drover.survey WHERE site = 'watamu' AND survey = %s", shown["survey"]) == [(winner, 1)]


@pytest.mark.needs_shared
def test_who_stops_reading_is_given_up_and_bad_filters_are_refused(world, watamu, drover, tmp_path):  # noqa: F811
    server, port, certificate = served_to_programs(watamu, drover, tmp_path)
    phone = Phone(port, certificate, give_token(watamu, "museum", "export"))
    for query in ["species=%00", "species=%FF%FE", "site=%00", "behaviour=a%00b", "rows=x", "format=dwca&rows=surveys", "rows=surveys&after=2020-05-01/a/b/1"]:
        answer = phone.get("/v1/sightings/export?" + query)
        assert answer.status in (400, 414), (query[:40], answer.status, answer.body[:200])
    for query in ["species='%3B%20DROP%20TABLE%20drover.sighting%3B--", "species=%5C'", "site=x'%20OR%20true--", "behaviour=%22%5C%22"]:
        answer = phone.get("/v1/sightings/export?" + query)
        assert answer.status == 200 and answer.body.count(b"\n") == 1, query
    assert len(rows(phone.get("/v1/sightings/export?rows=surveys&site=watamu").body.decode())) == 905
    # The server's login names nobody, whatever a token may see.
    assert Phone(port, certificate, give_token(watamu, "museum", "export", "export-people")).get("/v1/sightings/export?surveyor=x").problem == (403, "not-granted")
    # Two that read nothing take both places; they are given back when the connections go.
    stuck = []
    for account in ("museum", "institute"):
        bearer = phone.token if account == "museum" else give_token(watamu, account, "export")
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=ssl.create_default_context(cafile=certificate), timeout=HANG_S)
        connection.request("GET", "/v1/sightings/export?format=geojson", headers={"Authorization": f"Bearer {bearer}"})
        response = connection.getresponse()
        assert response.read(100)
        stuck += [connection, response]
    assert phone.get("/v1/sightings/export").problem == (429, "busy")
    answer = Phone(port, certificate, give_token(watamu, "garden", "export")).get("/v1/sightings/export")
    assert answer.problem == (503, "busy") and answer.headers["Retry-After"]
    for each in stuck:
        each.close()
    def served():
        answer = phone.get("/v1/sightings/export?site=nowhere")
        return answer.status not in (429, 503) and answer
    assert until(served, server, about="the places of clients that are gone").status == 200
    with connect(watamu) as connection:
        # A session that was told to end may still be listed.
        until(lambda: connection.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'drover export' AND datname = current_database()").fetchone() == (0,), server)
