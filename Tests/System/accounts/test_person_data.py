"""What is held of a person: taken along on the page and by the operator; every table is in the one list."""
import http.client
import io
import json
import re
import zipfile

import psycopg
import pytest
from harness import HANG_S, lent
from people import PASSWORD
from test_accounts import Site
from world import connect


@pytest.fixture(scope="module")
def site(world, tmp_path_factory):
    yield from lent(Site(world, world.database(), None, tmp_path_factory.mktemp("data"), has_mail=False))


def test_every_table_is_in_the_list_and_its_rows_can_be_read(site):
    with connect(site.env) as connection:
        tables = {name for name, in connection.execute(
            """SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'drover'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition""")}
        listed = connection.execute("SELECT relation, condition, left_out, why_not FROM drover.person_data()").fetchall()
        assert sorted(row[0] for row in listed) == sorted(tables)
        for relation, condition, left_out, why_not in listed:
            assert (condition is None) == bool(why_not), relation
            columns = {name for name, in connection.execute("SELECT column_name FROM information_schema.columns WHERE table_schema = 'drover' AND table_name = %s", [relation])}
            assert set(left_out or []) <= columns, relation
            # A column that names an account says something of it.
            assert condition or "account" not in columns, relation
            if condition:
                connection.execute("SELECT * FROM drover.rows_of_person('nobody', %s)", [relation]).fetchall()
            # Nobody's to read, and content comes as a file.
            secret = {name for name in columns if name in ("digest", "password", "salt", "secret", "content", "payload", "webhook_key", "auth")}
            assert why_not or secret <= set(left_out), (relation, secret)


def test_what_is_erased_is_what_is_taken_along(site):
    """Whatever erasing writes to is in the list, with rows about the account."""
    with connect(site.env) as connection:
        held = {name for name, in connection.execute("SELECT relation FROM drover.person_data() WHERE condition IS NOT NULL")}
        bodies = dict(connection.execute("SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'drover'::regnamespace"))
    # By `erase_account`, whatever that calls, and what triggers do.
    called = [name for name in bodies if "erase" in name]
    for name in called:
        called += sorted({word for word in re.findall(r"drover\.(\w+)\(", bodies[name]) if word in bodies} - set(called))
    written = {table for name in called for table in re.findall(r"(?:DELETE FROM|UPDATE) drover\.(\w+)", bodies[name])}
    assert "account_session" in written and written - {"audit_head"} <= held, written - held


def test_a_person_takes_all_along_and_nothing_of_others(site, tmp_path):
    miller = site.with_account("miller", "miller@example.org", PASSWORD, "farmer")
    site.with_account("fink", "fink@example.org", PASSWORD, "farmer")
    with connect(site.env) as connection:
        connection.execute("INSERT INTO drover.driving (vehicle, from_at, until_at, account, record_id) VALUES ('car-1', '2026-05-01 08:00Z', '2026-05-01 09:00Z', 'miller', 'd-1'), ('car-1', '2026-05-02 08:00Z', '2026-05-02 09:00Z', 'fink', 'd-2')")
        connection.execute("INSERT INTO drover.survey_photo (photo, account, media_type, content) VALUES (%s, 'miller', 'image/jpeg', 'JPEG1'), (%s, 'fink', 'image/jpeg', 'JPEG2')", ["a" * 64, "b" * 64])
        connection.execute("INSERT INTO drover.token (token_id, account, name, scopes, digest) VALUES ('t-1', 'miller', 'the red phone', '{read}', sha256('1')), ('t-2', 'fink', 'the blue phone', '{read}', sha256('2'))")
    miller.log_in()
    run = site.run("export", "miller", "--to", tmp_path)
    assert run.code == 0, run.err
    file = tmp_path / run.out.strip().rpartition("/")[2]
    assert file.stat().st_mode & 0o777 == 0o600 and not list(tmp_path.glob("*.part"))
    link = http.client.HTTPConnection("127.0.0.1", int(site.port), timeout=HANG_S)
    link.request("POST", "/account/data", "form=" + miller.mark(), {"Cookie": miller.cookie, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"})
    answer = link.getresponse()
    assert answer.status == 200 and "drover-miller-" in answer.headers["Content-Disposition"] and answer.headers["Cache-Control"] == "no-store"
    archives = [zipfile.ZipFile(file), zipfile.ZipFile(io.BytesIO(answer.read()))]
    link.close()
    (account, mail, password), = site.query("SELECT account, mail, encode(password, 'hex') FROM drover.account WHERE account = 'miller'")
    for archive in archives:
        assert archive.testzip() is None
        tables = {name.removesuffix(".json"): json.loads(archive.read(name)) for name in archive.namelist() if name.endswith(".json")}
        assert tables["account"][0]["mail"] == mail and tables["token"][0]["name"] == "the red phone"
        assert [row["record_id"] for row in tables["driving"]] == ["d-1"] and tables["account_session"]
        assert archive.read(f"files/survey_photo/{'a' * 64}.jpeg") == b"JPEG1"
        text = b"".join(archive.read(name) for name in archive.namelist()).decode()
        for other in ("fink", "blue phone", "JPEG2", password, "digest\":"):
            assert other not in text, other
    assert archives[0].namelist() == archives[1].namelist()
    assert site.run("export", "nobody", "--to", tmp_path).code == 1 and site.run("export", "miller").code == 2


def test_a_drive_that_somebody_only_said_opens_no_trip_of_anothers_car(site):
    """The archive had places of a car that its pages would not show."""
    sean = site.with_account("sean", "sean@example.org", PASSWORD, "driver")
    site.with_account("nora", "nora@example.org", PASSWORD, "driver")
    with connect(site.env) as connection:
        connection.execute("INSERT INTO drover.car_owner (vehicle, owned_at, account, record_id) VALUES ('noras', '2026-01-01', 'nora', 'o-1'), ('seans', '2026-01-01', 'sean', 'o-2')")
        connection.execute("INSERT INTO drover.driving (vehicle, from_at, until_at, account, record_id) SELECT v, '2026-05-01 08:00Z', '2026-05-01 09:00Z', 'sean', v FROM unnest(ARRAY['noras', 'seans']) AS v")
        connection.execute("INSERT INTO drover.trip_start (vehicle, start_at, latitude_deg, longitude_deg, lacks_weather) SELECT v, '2026-05-01 08:30Z', 51, 7, false FROM unnest(ARRAY['noras', 'seans']) AS v")
        assert sean.log_in("sean@example.org").status == 303
        digest, = connection.execute("SELECT digest FROM drover.account_session WHERE account = 'sean'").fetchone()
        def starts(function, *of):
            return [json.loads(row)["vehicle"] for row, in connection.execute(f"SELECT drover.{function}(%s, 'trip_start')", of)]
        assert starts("own_rows", digest) == ["seans"]
        assert sorted(starts("rows_of_person", "sean")) == ["noras", "seans"]


def test_the_pages_login_reads_only_whose_session_it_has(site):
    with psycopg.connect(site.web, autocommit=True) as web:
        for asked in ("drover.rows_of_person('miller', 'account')", "drover.believed_drives('miller')", "drover.files_of_person('miller')", "drover.take_factor_code('miller', 1, NULL)",
                      "drover.has_second_factor('miller')"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                web.execute(f"SELECT {asked}")
        assert web.execute("SELECT count(*) FROM drover.own_rows(sha256('no session'), 'account')").fetchone() == (0,)
        for table in ("account_second_factor", "account_recovery_code"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                web.execute(f"SELECT * FROM drover.{table}")
