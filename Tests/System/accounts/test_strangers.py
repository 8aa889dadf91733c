"""Two customers of one installation, north and south: who writes about a vehicle must be allowed to, and having written opens no sight."""
import json
import time

import pytest
from harness import lent, until
from people import PASSWORD, Visitor
from test_accounts import Site
from test_uploads import give_token, new_token, now
from world import Asked, as_page, connect

HOUR = 3_600_000
NORTH = {"norbert": ["farmer"], "nick": ["fleet_manager"], "nora": ["driver"], "noah": ["driver"]}
SOUTH = {"sid": ["farmer"], "simon": ["fleet_manager"], "sara": ["driver"], "sean": ["driver", "farmer", "fleet_manager", "dispatcher", "analyst"]}
OTHERS = {"dora": ["dealer"], "dan": ["dealer"], "devi": ["developer"], "anna": ["analyst"], "olga": ["operator"], "root": ["administrator"], "plain": []}
MACHINE, VAN, GOLF = "north-combine", "north-van", "north-golf"


@pytest.fixture(scope="module")
def two(world, tmp_path_factory):
    yield from lent(Two(world, tmp_path_factory.mktemp("strangers")))


class Two(Asked):
    """North has a machine and a van in its fleet, and a driver of north a car of her own. Dora is its confirmed dealer, Dan has asked."""

    def __init__(self, world, folder):
        self.world, self.env, self.free = world, world.database(), 0
        self.worker = world.assigned(self.env, "strangers")
        self.site = Site(world, self.env, None, folder, has_mail=False)
        for account, roles in (NORTH | SOUTH | OTHERS).items():
            self.site.with_account(account, f"{account}@example.org", PASSWORD, *roles)
        self.now = now() // 1000 * 1000
        self.push("cars", [self.record("registration", GOLF, self.now - 1000 * HOUR, account="nora"), self.record("registration", VAN, self.now - 1000 * HOUR)])
        self.push("machines", [self.record("registration", MACHINE, self.now - 1000 * HOUR, model="8R Tractor")])
        with connect(self.env) as connection:
            connection.execute("INSERT INTO drover.fleet (fleet, name) VALUES ('north', 'North'), ('south', 'South')")
            connection.execute("INSERT INTO drover.fleet_vehicle VALUES ('north', 'machine', %s), ('north', 'car', %s), ('south', 'machine', 'south-combine')", [MACHINE, VAN])
            for fleet, members in [("north", NORTH), ("south", SOUTH)]:
                for account in members:
                    connection.execute("INSERT INTO drover.fleet_member VALUES (%s, %s)", [fleet, account])
            connection.execute("INSERT INTO drover.dealership (vehicle, dealer, confirmed_at, confirmed_by) VALUES (%s, 'dora', %s, 'norbert')",
                               [MACHINE, self.at(self.now - 100 * HOUR)])
            connection.execute("INSERT INTO drover.dealership (vehicle, dealer) VALUES (%s, 'dan')", [MACHINE])
        # The van drives now, as its own adapter tells.
        self.push("cars", [self.reading(VAN, self.now - 60_000 + s * 1000) for s in range(60)])
        world.work_off(self.env)
        self.tokens = {account: give_token(self.env, account, "upload", "account", "read") for account in NORTH | SOUTH | OTHERS}

    @staticmethod
    def at(ms):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ms / 1000))

    def record(self, kind, vehicle, ts, **values):
        return {"schema": 1, "kind": kind, "id": f"{kind}-{time.monotonic_ns()}", "vehicle": vehicle, "ts": ts, "by": "test", **values}

    def reading(self, car, ts, **values):
        return {"schema": 1, "kind": "reading", "id": f"{car}-{ts}", "vehicle": car, "ts": ts, "speed_kmh": 50, **values}

    def machine_reading(self, machine, ts):
        return {"schema": 1, "kind": "reading", "id": f"r-{time.monotonic_ns()}", "vehicle": machine, "model": "8R Tractor", "ts": ts, "coolant_c": 140}

    def push(self, topic, records):
        self.world.push("drover." + topic, *records)
        self.world.work_off(self.env)

    def send(self, token, path, body, method="POST"):
        """The status, and of a problem its type."""
        answer = self.site_visitor().ask(method, path, json.dumps(body) if body is not None else None, Authorization=f"Bearer {token}", Content_Type="application/json")
        is_problem = answer.headers["Content-Type"] == "application/problem+json"
        return answer.status, json.loads(answer.body)["type"].removeprefix("urn:drover:problem:") if is_problem else ""

    def get(self, account, path):
        return self.send(self.tokens[account], path, None, "GET")

    def site_visitor(self):
        return Visitor(self.site.port)

    def entered(self, account):
        visitor = self.site_visitor()
        assert visitor.log_in(f"{account}@example.org").status == 303
        return visitor

    def new_car(self):
        self.free += 1
        return f"dongle-{self.free}"

    def uploads(self, car, ts):
        """All that an app can say of a car about this time: (address, body)."""
        return [("/v1/readings/cars", self.reading(car, ts)), ("/v1/scans", self.record("scan", car, ts, text="none", done=True)),
                ("/v1/trips", self.record("trip_start", car, ts)), ("/v1/trips", self.record("trip_stop", car, ts)),
                ("/v1/trips", self.record("trip_discard", car, ts, trip_ts=ts)), ("/v1/trips", self.record("trip_tag", car, ts, trip_ts=ts, tag="mine")),
                ("/v1/trips", self.record("trip_summary", car, ts, from_ts=ts - 60_000, distance_km=1))]

    def close(self):
        try:
            self.site.close()
        finally:
            self.worker.stop()


TAKEN, NOT_CAR, NOT_MACHINE = (200, ""), (403, "not-your-car"), (403, "not-your-machine")


# MARK: Writing

@pytest.mark.parametrize("account", NORTH | SOUTH | OTHERS)
def test_who_may_hand_in_a_reading_of_a_fleets_machine(two, account):
    """A stranger's reading of 140 degrees opened a critical alert of north's."""
    may = account in ("norbert", "nick", "dora", "olga", "root")
    for path in ("/v1/readings", "/v1/readings/machines"):
        assert two.send(two.tokens[account], path, two.machine_reading(MACHINE, two.now - HOUR)) == (TAKEN if may else NOT_MACHINE)
    # Nothing of a batch with another's machine in it is taken.
    if account in SOUTH:
        mixed = [two.machine_reading("south-combine", two.now - HOUR), two.machine_reading(MACHINE, two.now - HOUR)]
        assert two.send(two.tokens[account], "/v1/readings", mixed) == NOT_MACHINE


def test_a_dealer_hands_in_nothing_of_before_the_owner_confirmed(two):
    assert two.send(two.tokens["dora"], "/v1/readings", two.machine_reading(MACHINE, two.now - 101 * HOUR)) == NOT_MACHINE


@pytest.mark.parametrize("account", NORTH | SOUTH | OTHERS)
def test_who_may_say_what_of_whose_car(two, account):
    """A driver of south discarded a trip of north's, and handed in readings of its van."""
    for car, may in [(VAN, {*NORTH, "olga", "root"}), (GOLF, {"nora", "olga", "root"})]:
        # An hour of their own: what another drove in the fleet's van is not theirs to discard.
        hour = two.now - (500 + 2 * list(two.tokens).index(account)) * HOUR
        answers = [two.send(two.tokens[account], path, body) for path, body in two.uploads(car, hour)]
        assert answers == [TAKEN if account in may else NOT_CAR] * len(answers), car


def test_nothing_of_strangers_is_on_the_log(two):
    strangers = [*SOUTH, "dan", "devi", "anna", "plain"]
    for account in strangers:
        for car in (VAN, GOLF):
            for path, body in two.uploads(car, two.now - 400 * HOUR):
                two.send(two.tokens[account], path, body)
        two.send(two.tokens[account], "/v1/readings", two.machine_reading(MACHINE, two.now - 400 * HOUR))
    two.world.work_off(two.env)
    for sql in ["SELECT account FROM drover.driving", "SELECT noted_by FROM drover.trip_note", "SELECT marked_by FROM drover.trip_mark",
                "SELECT account FROM drover.trip_summary", "SELECT scanned_by FROM drover.health_scan"]:
        assert {who for who, in two.query(sql)}.isdisjoint(strangers), sql
    assert two.query("SELECT count(*) FROM drover.machine_reading WHERE vehicle = %s AND read_at < %s", MACHINE, two.at(two.now - 300 * HOUR)) == [(0,)]


def test_a_driver_acts_on_the_time_of_the_assignment_and_on_no_other(two):
    """Who was assigned now discarded the trips of everybody before; a batch with one reading of one's own opened the rest."""
    car, now = two.new_car(), two.now
    two.push("cars", [two.record("registration", car, now - 1000 * HOUR, account="nora"), two.record("assignment", car, now - 2 * HOUR, driver="noah"),
                      two.record("assignment", car, now - HOUR)])
    noah, within = two.tokens["noah"], now - 90 * 60_000
    assert two.send(noah, "/v1/trips", two.record("trip_discard", car, within, trip_ts=now - 200 * HOUR)) == NOT_CAR
    assert two.send(noah, "/v1/trips", two.record("trip_tag", car, within, trip_ts=now - 200 * HOUR, tag="x")) == NOT_CAR
    assert two.send(noah, "/v1/trips", two.record("trip_summary", car, within, from_ts=now - 200 * HOUR, distance_km=1)) == NOT_CAR
    assert two.send(noah, "/v1/readings/cars", [two.reading(car, now - 200 * HOUR), two.reading(car, within)]) == NOT_CAR
    # One's own drive is tagged afterwards, and in one batch with what was said meanwhile.
    assert two.send(noah, "/v1/trips", [two.record("trip_tag", car, now, trip_ts=within, tag="work"), two.record("trip_stop", car, within)]) == TAKEN
    assert two.send(noah, "/v1/readings/cars", [two.reading(car, within), two.reading(car, within + 1000)]) == TAKEN


# MARK: What nobody owns

def test_a_new_cars_first_driver_goes_on_and_nobody_else_does(two):
    """The first use of an adapter needs no operator. The next stranger wrote to that car, too, and then read it."""
    car, now = two.new_car(), two.now
    for account, wanted in [("sara", TAKEN), ("nora", NOT_CAR), ("sara", TAKEN), ("sid", NOT_CAR)]:
        for path, body in two.uploads(car, now - 50 * HOUR):
            assert two.send(two.tokens[account], path, body) == wanted, (account, path)
    # Who gets it, owns it: what was handed in before stays.
    two.push("cars", [two.record("registration", car, now - HOUR, account="noah")])
    assert two.send(two.tokens["sara"], "/v1/readings/cars", two.reading(car, now)) == NOT_CAR
    assert two.send(two.tokens["noah"], "/v1/readings/cars", two.reading(car, now)) == TAKEN


def test_who_announced_a_drive_does_not_see_it_when_the_car_is_anothers(two):
    """A phone hands in readings of up to a day ahead. Its driver was then the driver of whatever the car did that day, whoever had it."""
    car, at = two.new_car(), now() // 1000 * 1000
    assert two.send(two.tokens["sara"], "/v1/readings/cars", [two.reading(car, at - 60_000), two.reading(car, at + 23 * HOUR)]) == TAKEN
    assert two.send(two.tokens["sara"], "/v1/readings/cars", two.reading(car, at + 22 * HOUR)) == TAKEN
    two.world.work_off(two.env)
    # The drive is until now: none of tomorrow.
    assert two.query("SELECT from_at <= now(), until_at < now() + interval '1 hour' FROM drover.driving WHERE vehicle = %s", car) == [(True, True)]
    # As it stands in logs of before.
    two.query("INSERT INTO drover.driving VALUES (%s, now() - interval '1 minute', now() + interval '23 hours', 'sara', 'announced') RETURNING 1", car)
    two.query("INSERT INTO drover.fleet_vehicle VALUES ('north', 'car', %s) RETURNING 1", car)
    later = now() // 1000 * 1000 + 1000
    two.push("cars", [two.reading(car, later + s * 1000) for s in range(10)])
    two.world.finish(two.env)
    with as_page(two.env, "sara") as page:
        assert page.execute("SELECT count(*) FROM drover.trip_now WHERE vehicle = %s AND end_at > %s", [car, two.at(later)]).fetchone() == (0,)
    with as_page(two.env, "norbert") as page:
        assert page.execute("SELECT count(*) FROM drover.trip_now WHERE vehicle = %s AND end_at > %s", [car, two.at(later)]).fetchone() != (0,)


def test_a_refused_batch_takes_no_new_car(two):
    car = two.new_car()
    assert two.send(two.tokens["sara"], "/v1/readings/cars", [two.reading(car, two.now), two.reading(GOLF, two.now)]) == NOT_CAR
    assert two.send(two.tokens["nora"], "/v1/readings/cars", two.reading(car, two.now)) == TAKEN


def test_a_car_that_its_own_adapter_tells_of_is_not_free(two):
    car = two.new_car()
    two.push("cars", [two.reading(car, two.now - HOUR)])
    two.world.tick()
    until(lambda: two.query("SELECT 1 FROM drover.vehicle WHERE vehicle = %s", car), two.worker)
    assert two.send(two.tokens["sara"], "/v1/readings/cars", two.reading(car, two.now)) == NOT_CAR
    # Who is assigned to it, is.
    two.push("cars", [two.record("assignment", car, two.now - 2 * HOUR, driver="nora")])
    assert two.send(two.tokens["nora"], "/v1/readings/cars", two.reading(car, two.now)) == TAKEN
    assert two.send(two.tokens["sara"], "/v1/readings/cars", two.reading(car, two.now)) == NOT_CAR


def test_a_new_machine_is_its_first_senders_until_it_is_in_a_fleet(two):
    machine = "new-" + two.new_car()
    def answers():
        return [two.send(two.tokens[who], "/v1/readings", two.machine_reading(machine, two.now - HOUR)) for who in ("sid", "norbert", "olga")]
    assert answers() == [TAKEN, NOT_MACHINE, TAKEN]
    two.world.work_off(two.env)
    two.query("INSERT INTO drover.fleet_vehicle VALUES ('north', 'machine', %s) RETURNING 1", machine)
    assert answers() == [NOT_MACHINE, TAKEN, TAKEN]
    known = "old-" + machine
    two.push("machines", [two.machine_reading(known, two.now - HOUR)])
    assert two.send(two.tokens["sid"], "/v1/readings", two.machine_reading(known, two.now)) == NOT_MACHINE


def test_first_use_ends_with_whatever_says_whose_it_is(two):
    """And stays ended: whoever came first does not come back when an owner or a fleet has given it away."""
    def answer(vehicle, account="sean"):
        send = ("/v1/readings", two.machine_reading(vehicle, two.now - HOUR)) if vehicle.startswith("m-") else ("/v1/readings/cars", two.reading(vehicle, two.now))
        return two.send(two.tokens[account], *send)
    adapter, owned, boxed, given = "c-adapter", "c-owned", "m-boxed", "m-given"
    assert {answer(vehicle, "sid" if vehicle.startswith("m-") else "sean") for vehicle in (adapter, owned, boxed, given)} == {TAKEN}
    two.world.work_off(two.env)
    two.push("cars", [two.record("registration", adapter, two.now - HOUR, host="10.0.0.7", port=35000),
                      two.record("registration", owned, two.now - 2 * HOUR, account="nora"), two.record("registration", owned, two.now - HOUR)])
    two.push("machines", [two.record("registration", boxed, two.now - HOUR, model="8R Tractor", host="10.0.0.8", port=35000)])
    two.query("INSERT INTO drover.fleet_vehicle VALUES ('north', 'machine', %s) RETURNING 1", given)
    two.query("DELETE FROM drover.fleet_vehicle WHERE vehicle = %s RETURNING 1", given)
    assert [answer(adapter), answer(owned), answer(boxed, "sid"), answer(given, "sid")] == [NOT_CAR, NOT_CAR, NOT_MACHINE, NOT_MACHINE]
    assert now_of(two, "sean", adapter) == 404


def test_an_owner_says_nothing_of_the_time_when_another_had_the_car(two):
    car = two.new_car()
    two.push("cars", [two.record("registration", car, two.now - hours * HOUR, account=account) for hours, account in ((9, "sara"), (6, "nora"), (3, "sara"))])
    both = [two.reading(car, two.now - 8 * HOUR), two.reading(car, two.now - HOUR)]
    assert two.send(two.tokens["sara"], "/v1/readings/cars", both) == NOT_CAR
    assert [two.send(two.tokens["sara"], "/v1/readings/cars", each) for each in both] == [TAKEN, TAKEN]


def test_an_id_that_anothers_phone_has_taken_is_not_free_to_register(two):
    """Before the worker has read the first reading, a page gave the id to who asked for it."""
    for kind, path, body, who, asker, fleets in [("car", "/v1/readings/cars", two.reading, "sara", "nora", None),
                                                ("machine", "/v1/readings", two.machine_reading, "sid", "norbert", ["north"])]:
        vehicle = f"{kind}-{two.new_car()}"
        two.worker.stop()
        try:
            assert two.send(two.tokens[who], path, body(vehicle, two.now)) == TAKEN
            with as_page(two.env, asker) as connection:
                assert connection.execute("SELECT drover.change_vehicle(%s, %s, '', 'a-1', %s::text[], %s)",
                                          [kind, vehicle, fleets, asker if kind == "car" else None]).fetchone() == ("known",)
        finally:
            two.worker = two.world.worker(two.env, "strangers")
    two.world.work_off(two.env)


# MARK: Reading

def now_of(two, account, car=VAN):
    return two.get(account, f"/v1/cars/{car}/now")[0]


def test_a_forged_reading_opens_no_live_trip(two):
    """One reading of north's van, and its live trip was there for an hour."""
    assert now_of(two, "sara") == 404
    answer = two.send(two.tokens["sara"], "/v1/readings/cars", two.reading(VAN, two.now))
    two.world.work_off(two.env)
    assert now_of(two, "sara") == 404
    assert answer == NOT_CAR
    # A driver of the fleet reads what she drives.
    assert two.send(two.tokens["noah"], "/v1/readings/cars", two.reading(VAN, two.now)) == TAKEN
    two.world.work_off(two.env)
    assert now_of(two, "noah") == 200


def test_a_drive_that_somebody_only_said_opens_no_sight(two):
    """As they stand on logs of before: drives of south's over all of north's trips."""
    two.push("cars", [two.reading(GOLF, two.now - HOUR + s * 1000) for s in range(60)])
    two.push("cars", [two.record("driving", car, two.now, from_ts=two.now - 1000 * HOUR, by="sean") for car in (VAN, GOLF)])
    assert now_of(two, "sean") == now_of(two, "sean", GOLF) == 404
    with as_page(two.env, "sean") as connection:
        for table in ("vehicle", "registration", "trip", "trip_now", "live_trip", "live_trip_now", "vehicle_minute", "vehicle_day", "health_scan"):
            found = connection.execute(f"SELECT count(vehicle) FROM drover.{table} WHERE vehicle IN (%s, %s)", [VAN, GOLF]).fetchone()
            assert found == (0,), table
    with as_page(two.env, "nora") as connection:
        assert connection.execute("SELECT count(*) > 0 FROM drover.trip WHERE vehicle = %s", [GOLF]).fetchone() == (True,)


def test_who_drove_a_new_car_keeps_the_drive_when_it_is_registered_for_another(two):
    """Only the drives of before: from then on the car is its owner's."""
    assert two.send(two.tokens["sean"], "/v1/readings/cars", two.reading("new-van", two.now - 2 * HOUR)) == TAKEN
    two.world.work_off(two.env)
    two.push("cars", [two.record("registration", "new-van", two.now - HOUR, account="nora")])
    two.world.finish(two.env)
    assert two.send(two.tokens["sean"], "/v1/readings/cars", two.reading("new-van", two.now)) == NOT_CAR
    trips = "SELECT count(*) FROM drover.trip WHERE vehicle = 'new-van'"
    for account, count in (("sean", 1), ("nora", 1), ("sara", 0)):
        with as_page(two.env, account) as connection:
            assert connection.execute(trips).fetchone() == (count,), account


def test_who_drove_a_car_once_has_no_adapter_asked_today(two):
    """By a drive of long ago a page took the wish for a scan of the car."""
    car, now = two.new_car(), two.now
    two.push("cars", [two.record("registration", car, now - 1000 * HOUR, account="nora"), two.record("assignment", car, now - 200 * HOUR, driver="sara"),
                      two.record("assignment", car, now - 199 * HOUR)])
    def ask(account):
        visitor = two.entered(account)
        return visitor.post(f"/cars/{car}/scan", form=visitor.mark(), id=f"a-{time.monotonic_ns()}").status
    assert ask("sara") == 403
    assert ask("nora") == 303


@pytest.mark.parametrize("path", ["/v1/machines", f"/v1/machines/{MACHINE}", f"/v1/machines/{MACHINE}/readings", f"/v1/field-view/{MACHINE}", f"/v1/cars/{VAN}/now",
                                  "/v1/alerts", "/v1/settings", "/v1/sightings/export"])
def test_a_token_whose_account_does_not_exist_reads_nothing(two, path):
    """It read all machines of everybody, as one of the installation's own programs."""
    token, digest = new_token()
    with connect(two.env) as connection:
        connection.execute("INSERT INTO drover.token (token_id, account, scopes, digest, role) VALUES (%s, 'no-such-account', %s, %s, 'developer')",
                           [f"t-{time.monotonic_ns()}", ["upload", "read", "account", "export", "export-people", "export-places"], digest])
    assert two.send(token, path, None, "GET") == (401, "token-account")


def test_no_token_that_reads_is_given_to_nobody(two):
    for scope in ("read", "account", "export"):
        two.world.drover.fails("token", "add", "--account", "no-such-account", "--scope", scope, env=two.env, says="drover account add no-such-account")
    run = two.world.drover.run("token", "add", "--account", "no-such-account", "--scope", "upload", env=two.env)
    assert run.code == 0 and "reads nothing" in run.err
