"""Two customers of one installation: no report, whoever asks for it, of whom and however it leaves, has a row of the other's. What there is
of reports and of their parameters is read from the product, so that a new one is held to it, too."""
import csv
import io
import json
import re
import urllib.parse
from datetime import datetime, timedelta, timezone

import pytest
from harness import until
from people import add_account, PASSWORD, Visitor
from test_accounts import Site
from test_drive_pages import raw, spreadsheet
from test_reports import text
from world import connect, query, url_of

DAY = datetime(2026, 9, 14, tzinfo=timezone.utc)
CUSTOMERS = ["northern", "southern"]
# Of each customer one of each role that is somebody's of a fleet or campus, and one with all of them.
ROLES = ["farmer", "dealer", "driver", "fleet_manager", "dispatcher", "analyst"]
# Reports of what no customer owns: walks and tours are everybody's who has the role.
NOBODYS = {"survey-day", "tour-visits"}
# What an address may ask of a report. `date`, `until`, `span`, `zone`, `units` and `format` name nobody's.
OWNED, OTHER = {"of", "fleet"}, {"report", "date", "until", "span", "zone", "units", "format"}
FORMS = ["html", "csv", "json", "xlsx", "pdf", "table"]


@pytest.fixture(scope="module")
def two(world, tmp_path_factory):
    two = Two(world, tmp_path_factory.mktemp("report-access"))
    yield two
    two.site.close()


class Two:
    """Each customer has a car, a machine and a campus of its name with rows of one day, and its people."""

    def __init__(self, world, folder):
        self.world, self.env = world, world.database()
        self.site = Site(world, self.env, None, folder, has_mail=False)
        with connect(self.env) as connection:
            for customer in CUSTOMERS:
                fill(connection, customer)
                for account in self.people(customer):
                    add_account(self.env, account, *(ROLES if account.endswith("all") else [account.split("-")[1]]))
                    member(connection, customer, account)
        add_account(self.env, "root", "administrator", "operator", "dispatcher", "researcher", "ranger")
        self.visitors = {account: Visitor(self.site.port) for account in ["root", *(who for customer in CUSTOMERS for who in self.people(customer))]}
        for account, visitor in self.visitors.items():
            assert visitor.log_in(f"{account}@example.org", PASSWORD).status == 303

    @staticmethod
    def people(customer):
        return [f"{customer}-{role}" for role in [*ROLES, "all"]]

    def get(self, account, path, **values):
        return self.visitors[account].get(path + "?" + urllib.parse.urlencode(values))

    def reports(self, account="root"):
        return re.findall(r'<option value="([\w-]+)"', re.search(r'<select id="report".*?</select>', self.get(account, "/reports").body, re.S).group())


def fill(connection, customer):
    car, machine, rider = f"{customer}-van", f"{customer}-combine", f"{customer}-rider"
    columns = [name for name, in connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = 'drover.trip'::regclass AND attnum > 0 AND attnotnull AND NOT attisdropped AND NOT atthasdef").fetchall()]
    values = {"vehicle": "%(car)s", "start_at": "%(at)s", "end_at": "%(at)s + interval '20 minutes'", "is_open": "false", "distance_mm": "9000000"}
    at = DAY + timedelta(hours=9)
    connection.execute("INSERT INTO drover.vehicle VALUES ('car', %s, NULL, 0, %s), ('machine', %s, '8R Tractor', 0, %s)", [car, at, machine, at])
    connection.execute(f"INSERT INTO drover.trip ({', '.join(columns)}) VALUES ({', '.join(values.get(name, '0') for name in columns)})", {"car": car, "at": at})
    connection.execute("INSERT INTO drover.car_owner VALUES (%s, %s, %s, 'o')", [car, DAY - timedelta(days=9), f"{customer}-driver"])
    connection.execute("INSERT INTO drover.service (vehicle, done_at, engine_hours_h, recorded_by, record_id) VALUES (%s, %s, 800, 'Jo', 's')", [machine, at])
    for kind, vehicle in (("car", car), ("machine", machine)):
        connection.execute(
            """INSERT INTO drover.alert (alert_id, kind, vehicle, model, parameter, unit, severity, state, test, threshold, since_at, opened_at, first_opened_at, worst_at, audience,
               rules_version) VALUES (%s, %s, %s, '8R Tractor', 'Coolant Temperature', '°C', 'warning', 'open', 'above', 85, %s, %s, %s, %s, 'farmer', 'v')""",
            [f"a-{vehicle}", kind, vehicle, at, at, at, at])
    connection.execute("INSERT INTO drover.campus (campus, topic_partition, name, settings, state, record_offset) VALUES (%s, 0, %s, '{}', '', 0)", [customer, customer])
    connection.execute("INSERT INTO drover.rider VALUES (%s, %s, %s, NULL)", [customer, rider, rider])
    connection.execute(
        """INSERT INTO drover.ride (campus, request, rider, state, passengers, from_latitude_deg, from_longitude_deg, to_latitude_deg, to_longitude_deg, requested_at, vehicle, pickup_at,
           dropoff_at, ended_at, sign_at) VALUES (%s, %s, %s, 'done', 1, 38.9, -77, 38.91, -77.01, %s, %s, %s, %s, %s, %s)""",
        [customer, f"{customer}-ride", rider, at, f"{customer}-bus", at, at + timedelta(minutes=9), at + timedelta(minutes=9), at])
    why = {"steps": [{"event": "override", "moved": [{"request": f"{customer}-ride", "vehicle_before": "x", "vehicle": f"{customer}-bus", "pickup_before": "2026-09-14T09:00:00.000Z",
                                                      "pickup": "2026-09-14T09:05:00.000Z"}]}]}
    connection.execute("INSERT INTO drover.dispatch_decision VALUES (%s, 1, %s, '', %s)", [customer, at, json.dumps(why)])
    connection.execute("INSERT INTO drover.fleet (fleet, name) VALUES (%s, %s)", [customer, customer])
    connection.execute("INSERT INTO drover.fleet_vehicle VALUES (%s, 'car', %s), (%s, 'machine', %s)", [customer, car, customer, machine])


def member(connection, customer, account):
    connection.execute("INSERT INTO drover.fleet_member VALUES (%s, %s)", [customer, account])
    if account.endswith(("dispatcher", "all")):
        connection.execute("INSERT INTO drover.person (campus, person, role, name, mail) VALUES (%s, %s, 'dispatcher', 'D', %s)", [customer, account, f"{account}@example.org"])
        connection.execute("INSERT INTO drover.person_account VALUES (%s, %s, %s)", [customer, account, account])
    if account.endswith(("dealer", "all")):
        connection.execute("INSERT INTO drover.dealership (vehicle, dealer, confirmed_at, confirmed_by, shares_past) VALUES (%s, %s, %s, 'x', true)", [f"{customer}-combine", account, DAY])


def listed(value):
    """The rows of a JSON answer, wherever they stand in it."""
    return [row for each in value.values() if isinstance(each, list) for row in each] if isinstance(value, dict) else value


def foreign(customer):
    return next(other for other in CUSTOMERS if other != customer)


def of_another(customer):
    """Each parameter with what is the other's."""
    other = foreign(customer)
    return [{"fleet": other}, {"of": other}, *({"of": f"{other}-{what}"} for what in ("van", "combine", "bus", "ride"))]


def readable(body, form):
    return str(spreadsheet(body)) if form == "xlsx" else text(body) if form == "pdf" else body.decode()


WHEN = {"date": "2026-09-14", "span": "month", "zone": "UTC"}
PEOPLE = [(customer, account) for customer in CUSTOMERS for account in Two.people(customer)]


def test_the_parameters_of_a_report_are_those_that_are_tried_here(two):
    """A new one belongs to OWNED, with values of both customers, or to OTHER."""
    form = re.search(r'<form class="filter" method="get" action="/reports">.*?</form>', two.get("root", "/reports").body, re.S).group()
    assert set(re.findall(r'name="(\w+)"', form)) <= OWNED | OTHER
    link = re.search(r'href="/reports/trips\?([^"]*)"', two.get("root", "/reports", report="trips", of="northern-van", fleet="northern", **WHEN).body).group(1)
    assert {part.split("=")[0] for part in link.split("&amp;")} == (OWNED | OTHER) - {"report"}


def test_every_report_has_rows_of_both_for_who_sees_all(two):
    """Otherwise the other tests would find nothing wrong with a new one."""
    for report in set(two.reports()) - NOBODYS:
        rows = json.dumps(listed(json.loads(two.get("root", f"/reports/{report}", format="json", **WHEN).body)))
        assert all(customer in rows for customer in CUSTOMERS), report


@pytest.mark.parametrize("customer,account", PEOPLE)
def test_no_report_has_rows_of_another_customer(two, customer, account):
    """By its campus as a parameter, and without any, `dispatch-day` had the other's rides."""
    other, mine = foreign(customer), set(two.reports(account))
    assert two.get(account, "/reports/trips" if "trips" not in mine else "/reports/tour-visits", **WHEN).status == 403
    for report in mine:
        found = []
        for values in [{}, {"fleet": customer}, *of_another(customer)]:
            answer = two.get(account, f"/reports/{report}", format="json", **values, **WHEN)
            assert answer.status in (200, 404), (report, values, answer.body)
            rows = listed(json.loads(answer.body)) if answer.status == 200 else []
            found.append(rows)
            # Rides are of no fleet: one's own stay.
            assert other not in json.dumps(rows) and (other not in str(values) or rows == [] or "fleet" in values and rows == found[0]), (report, values)


@pytest.mark.parametrize("customer", CUSTOMERS)
def test_in_no_form_is_anything_of_another_customer(two, customer):
    account, other = f"{customer}-all", foreign(customer)
    for report in two.reports(account):
        for form in FORMS:
            status, _, body = raw(two.visitors[account], f"/reports/{report}?" + urllib.parse.urlencode({**WHEN, "format": form}))
            assert status == 200 and other not in readable(body, form), (report, form)
        for values in of_another(customer):
            page = two.get(account, "/reports", report=report, **values, **WHEN).body
            assert other not in "".join(re.findall("<t[dh].*?</t[dh]>", page, re.S)), (report, values)


@pytest.mark.parametrize("customer", CUSTOMERS)
def test_pages_that_reports_are_made_of_are_of_nothing_of_another_customers(two, customer):
    account, other, start = f"{customer}-all", foreign(customer), int((DAY + timedelta(hours=9)).timestamp() * 1000)
    def pages(whose):
        return [f"/trips?date=2026-09-14&vehicle={whose}-van", f"/vehicles/{whose}-combine", f"/vehicles/{whose}-combine/readings", f"/alerts/a-{whose}-combine"]
    assert [two.visitors[account].get(path).status for path in pages(customer)] == [200] * len(pages(customer))
    closed = [*pages(other), f"/v1/tracks/{other}-van/{start}", f"/dispatch/{other}/why/{other}-ride"]
    assert [two.visitors[account].get(path).status for path in closed] == [404] * len(closed)
    for path in ("/fleet?date=2026-09-14", "/trips?date=2026-09-14", "/alerts", "/map", f"/dispatch?campus={other}"):
        assert f"{other}-" not in two.visitors[account].get(path).body, path


@pytest.mark.parametrize("customer", CUSTOMERS)
def test_everybody_has_what_is_theirs(two, customer):
    """Held back is the other's alone."""
    for report in set(two.reports(f"{customer}-all")) - NOBODYS:
        rows = list(csv.reader(io.StringIO(two.get(f"{customer}-all", f"/reports/{report}", format="csv", **WHEN).body)))
        assert len(rows) > 1 and customer in str(rows), report
    seen = two.get(f"{customer}-dispatcher", "/reports/dispatch-day", format="json", of=customer, **WHEN)
    assert {row["campus"] for row in listed(json.loads(seen.body))} == {customer}
    assert f'value="{foreign(customer)}"' not in two.get(f"{customer}-all", "/reports").body


def test_what_comes_by_itself_is_held_to_the_same(two):
    with connect(two.env) as connection:
        for customer in CUSTOMERS:
            for report in two.reports(f"{customer}-all"):
                for values in [{}, *of_another(customer)]:
                    connection.execute(
                        """WITH made AS (INSERT INTO drover.report_schedule (account, report, span, narrowed_to, fleet, format, cron, is_enabled)
                               VALUES (%s, %s, 'month', %s, %s, 'json', '0 6 1 10 *', false) RETURNING schedule_id)
                           INSERT INTO drover.report_run (schedule_id, due_at, is_asked) SELECT schedule_id, '2026-10-01T06:00Z', true FROM made""",
                        [f"{customer}-all", report, values.get("of", ""), values.get("fleet", "")])
        connection.execute("GRANT drover_relay TO drover_notify")
    relay_url = url_of(two.env, "drover_notify")
    relay = two.world.drover.start("notify", "--set", f"postgres.page_url={two.site.pages}",
                                   env={**two.env, "DROVER_POSTGRES_RELAY_URL": relay_url})

    def rows(sql):
        return query(two.env, sql)
    try:
        until(lambda: rows("SELECT count(*) FROM drover.report_run WHERE state = 'waiting'") == [(0,)], relay)
    finally:
        relay.stop()
    made = rows("""SELECT s.account, s.report, s.narrowed_to || s.fleet, r.state, r.content, r.reason FROM drover.report_schedule s JOIN drover.report_run r USING (schedule_id)""")
    assert len(made) > 50
    for account, report, narrowed, state, content, reason in made:
        assert state == "done", (account, report, narrowed, reason)
        found, customer = json.dumps(listed(json.loads(bytes(content)))), account.split("-")[0]
        assert foreign(customer) not in found and (customer in found if narrowed == "" else found == "[]" or report == "dispatch-day"), (account, report, narrowed)


@pytest.mark.parametrize("customer", CUSTOMERS)
def test_no_ready_query_has_rows_of_another_customer(two, customer):
    """Of every query each parameter that can name somebody's, with what is the other's."""
    account, other = f"{customer}-all", foreign(customer)
    standard = {"from": "2026-09-01", "to": "2026-09-30", "species": "Papilio demodocus", "site": "x", "year": "2026", "latitude": "1", "longitude": "1", "month": "9", "tour": "x"}
    offered = sorted(set(re.findall(r'href="/queries/(\w+/\w+)"', two.get(account, "/queries").body)))
    assert len(offered) > 20, offered
    for query in offered:
        fields = re.findall(r'<(?:input|select) id="p-(\w+)"', two.get(account, f"/queries/{query}").body)
        values = {field: standard[field] for field in fields if field in standard}
        owned = [field for field in fields if field in ("fleet", "campus", "vehicle", "car", "machine")]
        for asked in [values, *({**values, field: value} for field in owned for value in (other, f"{other}-van", f"{other}-combine"))]:
            answer = two.get(account, f"/queries/{query}", format="json", **asked)
            assert answer.status == 200 and other not in answer.body, (query, asked, answer.body)
