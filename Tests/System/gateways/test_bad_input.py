"""What goes wrong is said: which thing, where, and what to do; the exit code tells programs."""
import re
import socket

import pytest
from harness import HANG_S
from test_gateway import servers, world  # noqa: F401 (fixtures)
from world import producer, query

NOWHERE = {"DROVER_POSTGRES_URL": "host=127.0.0.1 port=1 connect_timeout=3", "DROVER_KAFKA_BROKERS": "127.0.0.1:1"}


def said(run, code, *texts):
    assert run.code == code, run.err
    for text in texts:
        assert text in run.err, run.err
    assert "Fatal error" not in run.err


@pytest.fixture
def drive(fixtures):
    return fixtures / "cars" / "kit-seat-leon" / "2018-02-20_Seat_Leon_KA_KA_Frei.1hz.csv"


def test_a_csv_cut_in_the_middle_of_a_line_is_read_up_to_there(drover, drive, tmp_path):
    cut = tmp_path / drive.name
    cut.write_bytes(drive.read_bytes()[:20_010])
    run = drover.run("trips", cut, "--format", "csv")
    said(run, 0, str(cut), "1 rows cut off")
    assert len(run.out.splitlines()) == 2


@pytest.mark.parametrize("content, text", [
    (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is not a text file"), (b"", "holds no header"), (b"a,b,c\n1,2,3\n", "no column with the time"),
    (b"time,colour\n2026-01-01T00:00:00Z,red\n", "no column that is known"), (b"{\"vehicle\": 1}\n", "no column with the time"),
    (b"time,speed\nyesterday,5\n", "no reading that can be used"),
])
def test_a_file_of_another_kind(drover, tmp_path, content, text):
    path = tmp_path / "drive.csv"
    path.write_bytes(content)
    said(drover.run("trips", path), 1, str(path), text)


def test_a_bad_file_does_not_keep_the_good_one_out(drover, drive, tmp_path):
    run = drover.run("trips", tmp_path / "missing.csv", drive, "--format", "csv")
    said(run, 1, "missing.csv: No such file or directory")
    assert len(run.out.splitlines()) == 2


@pytest.fixture
def undated(tmp_path):
    path = tmp_path / "etios.csv"
    path.write_text("t_s,VEHICLE_SPEED\n0,10\n1,11\n")
    return path


def test_relative_times_need_a_start(drover, undated):
    said(drover.run("trips", undated), 0, "has no date", "--start TIME")


def test_a_start_is_said_to_be_of_no_use_where_it_is(drover, fixtures):
    """A clock without a date takes its date from the file's name, unless a start is said."""
    start = ["--start", "2026-01-01T00:00:00Z", "--format", "csv"]
    [clock] = (fixtures / "cars" / "kit-seat-leon").glob("2018-02-20*.csv")
    run = drover.run("trips", clock, *start)
    assert run.code == 0 and "not used" not in run.err and ",2026-01-01T00:00:00Z," in run.out, run.err
    [dated] = (fixtures / "cars" / "envirocar").glob("dodge*.csv")
    run = drover.run("trips", dated, *start)
    assert "--start is not used: the file has dates" in run.err and run.out == drover.run("trips", dated, "--format", "csv").out


@pytest.mark.parametrize("arguments, text", [
    (["fly"], "unknown command `fly`. `drover --help` lists"), (["trips"], "no FILE was named"), (["trips", "x", "--gab", "5"], "--gab is not an option"),
    (["trips", "x", "--gap", "0"], "--gap 0: must be a whole number, 1 to 600"), (["trips", "x", "--gap"], "--gap needs a value"),
    (["trips", "x", "--format", "xml"], "must be one of csv, json, table"), (["report"], "fleet-day"),
    (["report", "fleet-day", "--date", "2026-02-30"], "2026-02-30"), (["report", "dispatch-day", "--vehicle", "v"], "report trips"), (["report", "fleet-day", "--date", "2026-02-03", "--zone", "Mars/Base"], "Mars/Base"),
    (["import", "cars", "x.csv", "--vehicle", "a b"], "1 to 64 letters"),
])
def test_wrong_use_is_exit_code_2_and_says_how(drover, arguments, text):
    said(drover.run(*arguments), 2, text)


@pytest.mark.parametrize("words, says", [
    (["nonsense"], "drover: unknown command `nonsense`. `drover --help` lists all commands\n"),
    (["reprot", "trips"], "drover: unknown command `reprot`. Did you mean report? `drover --help` lists all commands\n"),
    (["exprt", "sightings"], "drover: unknown command `exprt`. Did you mean export sightings? `drover --help` lists all commands\n"),
    (["obd", "pid"], "drover: unknown command `obd pid`: say obd decode, obd pids, obd code. `drover --help` lists all commands\n"),
    (["obd", "--help"], "drover: unknown command `obd`: say obd decode, obd pids, obd code. `drover --help` lists all commands\n"),
    (["--port", "1", "serve"], "drover: --port: the command comes first, then its options: drover COMMAND --port. `drover --help` lists all commands\n"),
    (["check", "--ofline"], "drover check: --ofline is not an option of `drover check`. Did you mean --offline? `drover check --help` lists them\n"),
    (["check", "--nonsense"], "drover check: --nonsense is not an option of `drover check`. `drover check --help` lists them\n"),
])
def test_a_mistyped_word_is_named_with_what_is_near_to_it_and_nothing_else(drover, words, says):
    run = drover.run(*words)
    assert (run.code, run.out, run.err) == (2, "", says)


def test_what_is_wrong_is_said_in_whole_sentences_and_once_and_no_secret_is_repeated(drover):
    env = {**NOWHERE, "DROVER_POSTGRES_URL": "host=127.0.0.1 port=1 user=u password=hunter2"}
    for command in (["migrate"], ["offsets", "show"]):
        run = drover.run(*command, env=env)
        assert run.code == 1 and "hunter2" not in run.out + run.err
    run = drover.run("check", "--set", "postgres.page_url=host=/nowhere", "--set", "web.port=x", env=env)
    assert "hunter2" not in run.out + run.err
    lines = dict(line.split(": ", 1) for line in run.out.splitlines())
    assert run.code == 1 and lines["PostgreSQL"].startswith("connection to server ")
    assert "on that socket? Start the server" in lines["postgres.page_url"] and not re.search(r"[.?!]\. ", run.out)
    assert "It is: port of the pages and the API; 0: any free one." in lines["settings"]


def thresholds(folder, content, name="8R Tractor-thresholds.xml"):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(content)
    return folder


PARAMETER = "<root>\n<parameter>\n<name>Fuel Level</name>\n<test>{}</test>\n<unit>gallons</unit><type>int</type><user>farmer</user><threshold>{}</threshold>\n</parameter>\n</root>\n"


@pytest.mark.parametrize("content, texts", [
    (PARAMETER.format("over", 50), ["8R Tractor-thresholds.xml:4: <test>", '"over"', "above, below, none"]),
    (PARAMETER.format("below", "much"), ["<threshold>", '"much"', "must be a number"]),
    (PARAMETER.format("over", "much"), ['"over"']),
    (PARAMETER.format("below", 50)[:-20], ["8R Tractor-thresholds.xml", "cut off"]),
    ('<!DOCTYPE r [<!ENTITY a "b">]>\n' + PARAMETER.format("below", 50), ["a document type is not accepted"]),
    ("", ["8R Tractor-thresholds.xml"]),
])
def test_a_threshold_file_that_does_not_load_says_where_and_what_is_accepted(drover, fixtures, tmp_path, content, texts):
    folder = thresholds(tmp_path / "rules", content)
    said(drover.run("alerts", fixtures / "machines" / "readings.jsonl", "--thresholds", folder), 1, *texts)


def test_a_folder_without_thresholds(drover, fixtures, tmp_path):
    said(drover.run("alerts", fixtures / "machines" / "readings.jsonl", "--thresholds", tmp_path), 1, "holds no `<model>-thresholds.xml`")


def test_a_json_line_cut_in_the_middle_is_named_and_the_rest_counts(drover, fixtures, tmp_path):
    lines = (fixtures / "machines" / "readings.jsonl").read_text().splitlines(True)
    path = tmp_path / "cut.jsonl"
    path.write_text("".join(lines[:7]) + lines[7][:40] + "\n" + "".join(lines[8:]))
    run = drover.run("alerts", path, "--format", "csv")
    said(run, 1, f"{path}: line 8: ")
    assert len(run.out.splitlines()) == 13


def test_postgres_down(drover):
    for command in (["migrate"], ["report", "fleet-day", "--date", "2026-01-01"], ["offsets", "show"]):
        said(drover.run(*command, env=NOWHERE), 1, "PostgreSQL", "127.0.0.1")


def test_without_a_broker_an_import_ends_and_a_worker_waits_and_stops_when_told(drover, drive, undated):
    """Beside each other: each gives the broker ten seconds."""
    worker = drover.start("work", env=NOWHERE)
    imports = [drover.start("import", "cars", path, env=NOWHERE) for path in (drive, undated)]
    for each in imports:
        each.wait_for(re.escape("Is the broker up, and are kafka.brokers and kafka.security_protocol right?"))
        assert each.wait() == 1
    worker.wait_for("the worker cannot start yet")
    assert worker.stop() == 0


def test_a_port_that_is_taken(drover):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        said(drover.run("serve", "--port", port, env=NOWHERE), 1, f"port {port} on 127.0.0.1 is taken", "choose another port")


def test_a_data_folder_that_cannot_be_made(drover, tmp_path):
    (tmp_path / "file").write_text("")
    said(drover.run("up", "--data", tmp_path / "file" / "data"), 1, str(tmp_path / "file"), "--data")


def test_rubbish_on_a_topic_is_put_aside_and_the_rest_goes_on(drover, world):  # noqa: F811
    env = world.database()
    ts = 1_790_000_000_000
    good = '{"schema":1,"kind":"reading","id":"a-1","vehicle":"car-1","ts":%d,"speed_kmh":50}' % ts
    rubbish = {
        "not a JSON object": b"\xff\xfe not json", "no value": None, "not known, 1 is": good.replace(":1,", ":9,", 1).encode(),
        "the record's key": good.replace("car-1", "car-2").encode(), "`ts` 12 is not": good.replace(str(ts), "12").encode(),
        "hours ahead": good.replace(str(ts), str(ts + 10**11)).encode(), "`kind` is not": good.replace("reading", "party").encode(),
    }
    drover.done("check", env=env)
    worker = world.assigned(env, "tidy")
    pushing = producer(world.brokers)
    for value in [good.encode(), *rubbish.values(), good.replace(str(ts), str(ts + 1000)).encode()]:
        pushing.produce("drover.cars", key=b"car-1", value=value)
    assert pushing.flush(HANG_S) == 0
    worker.wait_for("records not taken")
    world.finish(env)
    assert worker.stop() == 0
    reasons = [row[0] for row in query(env, "SELECT reason FROM drover.rejected ORDER BY record_offset")]
    assert [wanted for wanted, reason in zip(rubbish, reasons) if wanted not in reason] == [], reasons
    assert len(reasons) == len(rubbish)
    assert query(env, "SELECT readings FROM drover.trip") == [(2,)]
