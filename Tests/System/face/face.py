"""A fleet in Helsinki whose day stands still, and its main pages: what pictures, keyboards, zoom and a second browser are tried on. What
a page shows or reckons with is the same at each run: the records, and the clocks of the worker, the server and the browser."""
import shutil
import subprocess
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

from harness import ROOT, until
from people import PASSWORD, Visitor, lend_cookie
from test_accounts import Site
from test_pages import Fleet
from world import a_world, query

# A Monday, and what every page shows.
MOMENT = datetime(2026, 6, 15, 9, 10, tzinfo=timezone.utc)
MINUTE_MS, DAY_MS = 60_000, 86_400_000
STATION, FIELD = (60.1719, 24.9414), (60.2290, 25.0180)
VEHICLES = [("car", "van-1", "Post van 1", "north"), ("car", "van-2", "Post van 2", "south"), ("car", "van-3", "Courier van", "south"),
            ("machine", "combine-9", "Combine, north field", "farm"), ("machine", "tractor-4", "Tractor in the yard", "farm")]


def still_clock(moment, folder):
    """The environment of a process whose time of the day stands still."""
    library = folder / "still_clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, Path(__file__).with_name("still_clock.c")], check=True)
    return {"LD_PRELOAD": str(library), "STILL_CLOCK": str(int(moment.timestamp()))}


class Still(Fleet):
    """People: mia keeps the fleet, root is the administrator. Without a worker: what is asked of it stays asked."""

    def __init__(self, world, folder):
        self.world, self.env = world, world.database()
        self.now = int(MOMENT.timestamp()) * 1000
        # Ticks of the present would tell it that June is over.
        rules = shutil.copytree(ROOT / "Deploy" / "thresholds", folder / "thresholds", ignore=shutil.ignore_patterns("machines"))
        self.worker = world.assigned(self.env, "still", **{"ticks.roles": "notify", "alerts.thresholds_dir": rules})
        env = {**self.env, **still_clock(MOMENT, folder)}
        self.site = Site(world, env, None, folder, "--set", "ticks.roles=notify", "--set", f"alerts.thresholds_dir={rules}", has_mail=False)
        self.address = f"http://127.0.0.1:{self.site.port}"
        for kind, vehicle, name, tag in VEHICLES:
            world.drover.done("vehicle", "register", vehicle, "--kind", kind, "--name", name, "--by", "Anna", "--tags", tag, env=self.env)
        for account, roles in {"mia": ["fleet_manager", "farmer"], "root": ["administrator"], "ivo": ["driver"]}.items():
            self.site.with_account(account, f"{account}@example.org", PASSWORD, *roles)
        query(self.env, "INSERT INTO drover.fleet (fleet, name) VALUES ('city', 'City')")
        query(self.env, "INSERT INTO drover.fleet_member VALUES ('city', 'mia')")
        for kind, vehicle, *_ in VEHICLES:
            query(self.env, "INSERT INTO drover.fleet_vehicle VALUES ('city', %s, %s)", kind, vehicle)
        self.drives()
        self.machines()
        world.work_off(self.env)
        self.worker.stop()
        self.visitors = {who: self.visitor(who) for who in ("mia", "root")}

    def drives(self):
        for days, air in [(11, 9), (9, 10), (7, 9), (5, 12), (3, 9), (1, 11)]:
            self.way("van-1", self.now - days * DAY_MS, 600, air)
        self.way("van-2", self.now - 2 * DAY_MS, 500, 10)
        self.way("van-3", self.now - 65 * MINUTE_MS, 700, 10)
        self.way("van-1", self.now - 12 * MINUTE_MS, 720, 11)

    def way(self, car, start, seconds, air):
        """To and fro along the streets by the station, with a stop of ninety seconds and a hard brake after it."""
        speed = lambda s: 0 if 200 <= s < 290 else 62 if s == 330 else 30 if s == 331 else 30 + abs(s % 40 - 20)
        self.drive(car, start, range(seconds), speed_kmh=speed, maf_gps=air, latitude_deg=lambda s: STATION[0] + s * 0.00002, longitude_deg=lambda s: STATION[1] + s * 0.00008)

    def machines(self):
        for machine, place, values in [("combine-9", FIELD, [(600, 70), (420, 84), (300, 82), (120, 80), (30, 88), (20, 93), (6, 97), (1, 96)]),
                                       ("tractor-4", (60.2270, 25.0010), [(600, 66), (300, 74), (60, 70), (2, 71)])]:
            for minutes, coolant in values:
                ts = self.now - minutes * MINUTE_MS
                self.world.push("drover.machines", {
                    "schema": 1, "kind": "reading", "id": f"{machine}-{ts}", "vehicle": machine, "ts": ts, "model": "S690 Combine" if machine == "combine-9" else "8R Tractor",
                    "gps_available": True, "reporting": True, "coolant_c": coolant, "hydraulic_oil_c": 50, "tire_pressure_kpa": 190, "fuel_level_gal": 200,
                    "engine_hours_h": 812, "latitude_deg": place[0], "longitude_deg": place[1], "serial": "0042"})

    def visitor(self, who):
        visitor = Visitor(self.site.port)
        assert visitor.log_in(f"{who}@example.org").status == 303
        return visitor

    def pages(self):
        """The main pages: name, who reads it (None: whoever comes), and address."""
        [(alert,)] = self.query("SELECT alert_id FROM drover.alert WHERE vehicle = 'combine-9' AND parameter = 'Coolant Temperature' AND state = 'open'")
        [(trip,)] = self.query("SELECT floor(extract(epoch FROM max(start_at)) * 1000)::bigint FROM drover.trip WHERE vehicle = 'van-3'")
        return [
            ("home", "mia", "/"), ("map", "mia", "/map"), ("vehicles", "mia", "/vehicles"), ("vehicle", "mia", "/vehicles/combine-9?kind=machine"),
            ("charts", "mia", "/vehicles/combine-9?kind=machine&tab=charts"), ("alerts", "mia", "/alerts"), ("alert", "mia", f"/alerts/{alert}"),
            ("trips", "mia", "/trips"), ("trip", "mia", f"/trips/van-3/{trip}"), ("rules", "mia", "/thresholds"),
            ("rule", "mia", "/thresholds/machines/combine-9/Coolant%20Temperature"), ("field", "mia", "/field/combine-9"), ("overview", "mia", "/fleet"),
            ("services", "mia", "/services"), ("settings", "mia", "/settings"), ("notifications", "mia", "/notices"), ("people", "root", "/administration"),
            ("search", "mia", "/search?q=van"), ("sign-in", None, "/login"), ("missing", "mia", "/no-such-page")]

    def enter(self, page, who, path):
        # A page that keeps itself up to date would notice that somebody else logs in, and go to the log-in itself.
        page.goto("about:blank")
        page.context.clear_cookies()
        if who:
            lend_cookie(self.visitors[who], page, self.address)
        page.goto(self.address + path)
        settled(page)


@contextmanager
def stood_still(program, folder):
    with a_world(program) as world:
        still = Still(world, folder)
        try:
            yield still
        finally:
            still.close()


def settled(page):
    """Maps and charts are drawn, and what a page asks for after it has come is there."""
    page.wait_for_load_state()
    until(lambda: page.evaluate("""() => [...document.querySelectorAll('[data-glyphs]')].every((each) => !each.checkVisibility() || each.dataset.drawn)
        && [...document.querySelectorAll('figure.chart')].every((each) => !each.checkVisibility() || each.querySelector('canvas, svg'))
        && !document.querySelector('[aria-busy=true]')"""), about="what the page draws")
