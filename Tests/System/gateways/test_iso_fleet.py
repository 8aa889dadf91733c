"""Fleets of ISO 15143-3 services: a real HTTPS server of the test's own, which answers well and badly."""
import base64
import calendar
import re
import time
from urllib.parse import unquote

import pytest
from certificates import self_signed
from harness import lent
from stand_ins import Answering, StandIn
from world import query

SECRET = "s3cret/with:odd chars"
FIXTURE = "telematics/fleet.xml"


class Maker(StandIn):
    """A maker's service. `pages` are its documents by path; `tricks` what happens first on a path, one after the other."""

    def __init__(self, folder):
        self.certificate, key = self_signed(folder, "maker")
        self.pages, self.tricks, self.asked = {}, {}, []
        self.valid, self.given, self.expires_in = set(), 0, 3600
        maker = self

        class Handler(Answering):
            protocol_version = "HTTP/1.0"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                wanted = "Basic " + base64.b64encode(b"drover%20client:s3cret%2Fwith%3Aodd%20chars").decode()
                if self.path != "/token" or body != b"grant_type=client_credentials" or self.headers["Authorization"] != wanted:
                    return self.reply(401, b'{"error":"invalid_client"}')
                maker.given += 1
                maker.valid.add(f"token-{maker.given}")
                self.reply(200, b'{"access_token":"token-%d","expires_in":%d}' % (maker.given, maker.expires_in))

            def do_GET(self):
                path = unquote(self.path)
                maker.asked.append(path)
                if (self.headers["Authorization"] or "").removeprefix("Bearer ") not in maker.valid:
                    return self.reply(401)
                if maker.tricks.get(path):
                    return maker.tricks[path].pop(0)(self, path)
                self.reply(200 if path in maker.pages else 404, maker.pages.get(path, b""))

        super().__init__(Handler, (self.certificate, key))

    def settings(self, **more):
        values = {"endpoint": self.address + "/Fleet/1", "token_url": self.address + "/token", "client_id": "drover client",
                  "ca_file": self.certificate, **more}
        return [part for key, value in values.items() for part in ("--set", f"iso.{key}={value}")]


def busy(retry_after):
    return lambda handler, path: handler.reply(429, Retry_After=retry_after)


def broken(status):
    return lambda handler, path: handler.reply(status)


def cut_off(handler, path):
    """Half of the page, then nothing."""
    page = handler.server.maker.pages[path]
    handler.reply(200, page[:len(page) // 2], length=len(page))
    handler.close_connection = True


def half_a_page(handler, path):
    page = handler.server.maker.pages[path]
    handler.reply(200, page[:len(page) // 2])


def machine(name, *elements, pin=None):
    header = f"<EquipmentHeader><OEMName>Acme</OEMName><Model>8R Tractor</Model><EquipmentID>{name}</EquipmentID><PIN>{pin or 'P' + name}</PIN></EquipmentHeader>"
    return f"<Equipment>{header}{''.join(elements)}</Equipment>"


def hours(at, value):
    return f'<CumulativeOperatingHours datetime="{at}"><Hour>{value}</Hour></CumulativeOperatingHours>'


def fuel(at, percent):
    return (f'<FuelRemaining datetime="{at}"><Percent>{percent}</Percent><FuelTankCapacityUnits>litre</FuelTankCapacityUnits>'
            f"<FuelTankCapacity>378.5411784</FuelTankCapacity></FuelRemaining>")


def document(root, *content, next=None):
    link = f"<Links><rel>next</rel><href>{next}</href></Links>" if next else ""
    return f'<?xml version="1.0"?><{root} xmlns="urn:x">{link}{"".join(content)}</{root}>'.encode()


@pytest.fixture
def maker(tmp_path):
    maker = Maker(tmp_path)
    maker.server.maker = maker
    yield from lent(maker)


@pytest.fixture(scope="module")
def env(world):
    """One database and one worker for all: each test has machines of its own."""
    env = {**world.database(), "DROVER_ISO_CLIENT_SECRET": SECRET}
    world.worker(env, "iso")
    return env


def pull(drover, maker, env, code=0, **more):
    run = drover.run("gateway", "pull-iso", "--once", *maker.settings(**more), env=env)
    assert run.code == code, run.err
    # Neither secret nor token is ever told.
    assert "s3cret" not in run.err and "token-" not in run.err and "Basic " not in run.err
    return run


def rows(world, env, like):
    world.work_off(env)
    found = query(env, "SELECT vehicle, read_at, engine_hours_h, fuel_level_gal, gps_available, is_reporting FROM drover.machine_reading "
                  "WHERE vehicle LIKE %s ORDER BY vehicle, read_at", like)
    return [(vehicle, at.strftime("%H:%M"), *rest) for vehicle, at, *rest in found]


def test_a_real_fleet_pulled_twice_gives_one_row_a_time(drover, world, maker, env, fixtures):
    maker.pages["/Fleet/0"] = (fixtures / FIXTURE).read_bytes().replace(b"https://telematics.example", maker.address.encode())
    for _ in range(2):
        # Its next page is itself, where it ends.
        run = pull(drover, maker, env, endpoint=maker.address + "/Fleet/0")
        assert re.search(r"(\d+) readings from 1 pages; 0 pages were given up", run.err)
    assert maker.asked == ["/Fleet/0"] * 2
    found = rows(world, env, "1000000%")
    assert len(found) == int(re.search(r"(\d+) readings", run.err).group(1)) > 40
    assert ("100000003", "11:08", 233.7, None, True, False) in found


def test_pages_with_times_of_their_own_in_any_shape(drover, world, maker, env):
    day = "2026-09-14T"
    maker.pages = {
        "/Fleet/1": document("Fleet", machine("iso-a", fuel(day + "10:00:00Z", 50), hours(day + "10:05:00Z", 7)), next="/Fleet/2"),
        # Another casing, no elements at all, relative links.
        "/Fleet/2": document("FLEET", machine("iso-b").replace("EquipmentHeader", "equipmentheader"),
                             machine("iso-c", hours(day + "12:00:00+02:00", 8)), next="3"),
        "/Fleet/3": document("Fleet", machine("iso-d", hours(day + "10:00:00Z", 9), fuel(day + "10:00:00Z", 25)),
                             "<Equipment/>", machine("iso-d", hours(day + "11:00:00Z", 99), pin="another"), next=maker.address + "/Fleet/1"),
    }
    run = pull(drover, maker, env)
    assert maker.asked == ["/Fleet/1", "/Fleet/2", "/Fleet/3"] and maker.given == 1
    assert "machines without a name are left out" in run.err and "two machines have one name" in run.err
    assert rows(world, env, "iso-_") == [
        ("iso-a", "10:00", None, 50.0, None, False), ("iso-a", "10:05", 7.0, None, None, False),
        ("iso-c", "10:00", 8.0, None, None, False), ("iso-d", "10:00", 9.0, 25.0, None, False)]


def test_busy_broken_and_cut_off_answers_are_asked_for_again(drover, world, maker, env):
    maker.pages = {
        "/Fleet/1": document("Fleet", machine("bad-a", hours("2026-09-14T10:00:00Z", 1)), next="/Fleet/2"),
        "/Fleet/2": document("Fleet", machine("bad-b", hours("2026-09-14T10:00:00Z", 2)), next="/Fleet/3"),
        "/Fleet/3": document("Fleet", machine("bad-c", hours("2026-09-14T10:00:00Z", 3))),
    }
    # The second wait for one page would be four times as long.
    maker.tricks = {"/Fleet/1": [busy(1), busy("Sun, 06 Nov 1994 08:49:37 GMT"), cut_off], "/Fleet/2": [half_a_page], "/Fleet/3": [broken(503)]}
    run = pull(drover, maker, env)
    assert maker.asked == ["/Fleet/1"] * 4 + ["/Fleet/2"] * 2 + ["/Fleet/3"] * 2
    assert run.err.count("a page of the fleet is asked for again") == 5 and "status 429" in run.err and 'retry_in_ms=1000' in run.err
    assert [row[:3] for row in rows(world, env, "bad-_")] == [("bad-a", "10:00", 1.0), ("bad-b", "10:00", 2.0), ("bad-c", "10:00", 3.0)]


def test_a_token_that_is_not_taken_any_more_is_replaced(drover, world, maker, env):
    def expire(handler, path):
        maker.valid.clear()
        handler.reply(200, maker.pages[path])

    maker.pages = {
        "/Fleet/1": document("Fleet", machine("tok-a", hours("2026-09-14T10:00:00Z", 1)), next="/Fleet/2"),
        "/Fleet/2": document("Fleet", machine("tok-b", hours("2026-09-14T10:00:00Z", 2)), next="/Fleet/3"),
        "/Fleet/3": document("Fleet", machine("tok-c", hours("2026-09-14T10:00:00Z", 3))),
    }
    maker.tricks["/Fleet/1"] = [expire]
    pull(drover, maker, env)
    assert maker.given == 2
    # One that says that it holds for no time is asked for each time anew.
    maker.expires_in = 10
    pull(drover, maker, env)
    assert maker.given == 5
    assert [row[2] for row in rows(world, env, "tok-_")] == [1.0, 2.0, 3.0]


def test_time_series_of_the_hours_asked_for(drover, world, maker, env):
    maker.pages["/api/Fleet/1"] = document("Fleet", machine("ser-a", hours("2026-09-14T10:00:00Z", 5), pin="P/1"))
    windows = set()

    class Series(dict):
        """Answers for whatever window is asked for."""

        def get(self, path, otherwise=None):
            if not (found := re.fullmatch(r"/api/Fleet/Equipment/P/1/(\w+)/(\S+Z)/(\S+Z)/(\d)", path)):
                return super().get(path, otherwise)
            name, start, end, page = found.groups()
            windows.add((start, end))
            if name == "CumulativeOperatingHours":
                more = {"next": path[:-1] + "2"} if page == "1" else {}
                return document("CumulativeOperatingHoursMessages", hours(f"2026-09-14T0{page}:00:00Z", page), hours(f"2026-09-14T0{page}:30:00Z", page), **more)
            if name == "FuelRemainingRatio":
                return document("FuelRemainingMessages", fuel("2026-09-14T01:00:00Z", 10))
            return document("LocationMessages", '<Location datetime="2026-09-14T03:00:00Z"><Latitude>48</Latitude><Longitude>9</Longitude></Location>')

        def __contains__(self, path):
            return self.get(path) is not None

    maker.pages = Series(maker.pages)
    pull(drover, maker, env, endpoint=maker.address + "/api/Fleet/1", series_h=24)
    assert len(maker.asked) == 5
    (start, end), = windows
    parse = lambda text: calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))
    assert parse(end) - parse(start) == 24 * 3600
    assert [row[1:5] for row in rows(world, env, "ser-_")] == [
        # Of two series and one time.
        ("01:00", 1.0, 10.0, None), ("01:30", 1.0, None, None),
        ("02:00", 2.0, None, None), ("02:30", 2.0, None, None), ("03:00", None, None, True), ("10:00", 5.0, None, None)]


@pytest.mark.parametrize("page, says", [
    (b"<html><body>Login</body></html>", "<html> instead of <Fleet>"), (b"", "not well-formed XML"),
    (b'<!DOCTYPE x [<!ENTITY e "e">]><Fleet>&e;</Fleet>', "a document type is not accepted"),
])
def test_what_is_no_fleet_is_given_up_with_the_reason(drover, maker, env, page, says):
    maker.pages["/Fleet/1"] = page
    # Each time it is the same; a real service may do better the second time.
    running = drover.start("gateway", "pull-iso", *maker.settings(), env=env)
    running.wait_for(says)
    assert running.stop() == 0


def test_what_cannot_work_is_said_at_once(drover, maker, env, tmp_path):
    assert "status 404" in pull(drover, maker, env, code=1).err
    assert "the client credentials are refused" in pull(drover, maker, env, code=1, client_id="nobody").err
    maker.pages["/Fleet/1"] = document("Fleet", next="https://127.0.0.1:1/Fleet/2")
    assert "its next page is at another server" in pull(drover, maker, env, code=1).err
    assert "must be an address like https://" in pull(drover, maker, env, code=1, endpoint="http://127.0.0.1/Fleet/1").err
    assert "iso.endpoint is not set" in pull(drover, maker, env, code=1, endpoint="").err
    assert "not both" in pull(drover, maker, env, code=1, client_secret_file=tmp_path / "x").err


def test_the_secret_comes_from_a_file_as_well(drover, maker, env, tmp_path):
    maker.pages["/Fleet/1"] = document("Fleet")
    (tmp_path / "secret").write_text(SECRET + "\n")
    pull(drover, maker, {**env, "DROVER_ISO_CLIENT_SECRET": ""}, client_secret_file=tmp_path / "secret")
    assert maker.given == 1


def test_a_server_whose_certificate_is_not_trusted_gets_neither_secret_nor_request(drover, maker, env, tmp_path):
    other, _ = self_signed(tmp_path, "other")
    running = drover.start("gateway", "pull-iso", *maker.settings(ca_file=other), env=env)
    running.wait_for("(?i)certificate")
    assert running.stop() == 0
    assert maker.asked == [] and maker.given == 0


def test_no_more_requests_an_hour_than_allowed(drover, maker, env):
    maker.pages = {f"/Fleet/{n}": document("Fleet", next=f"/Fleet/{n + 1}") for n in range(1, 5)}
    running = drover.start("gateway", "pull-iso", *maker.settings(requests_per_hour_max=2), env=env)
    running.wait_for("the requests of this hour are spent")
    assert running.stop() == 0
    assert maker.asked == ["/Fleet/1", "/Fleet/2"]
