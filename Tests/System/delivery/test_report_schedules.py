"""Reports at times of their own: cron by a zone's clock, each due time once whoever is killed, mailed with the rights of an account,
revised when data comes late."""
import functools
import hashlib
import json
import os
import random
import re
import signal
import subprocess
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from certificates import self_signed
from harness import HANG_S, is_long, lent, looked_at, until
from playwright.sync_api import expect
from test_accounts import Site
from people import add_account, enter, PASSWORD, Visitor
from test_drive_pages import raw
from test_reports import facts, text
from world import connect

UTC = timezone.utc
# The February of which the last report fell due, for a schedule of each 1 March at six: once since then, whatever the date is today.
YEAR = datetime.now(UTC).year - (datetime.now(UTC) < datetime(datetime.now(UTC).year, 3, 1, 6, tzinfo=UTC))
FEBRUARY = f"{YEAR}-02-01", f"{YEAR}-02-{29 if YEAR % 4 == 0 and (YEAR % 100 or YEAR % 400 == 0) else 28}"

# MARK: when


def field(word, low, high, names=()):
    """An independent reading of one field of a crontab."""
    values = set()
    for part in word.split(","):
        span, _, step = part.partition("/")
        if span == "*":
            first, last = low, high
        else:
            ends = [names.index(end.lower()) if end.lower() in names else int(end) for end in span.split("-")]
            first, last = ends[0], ends[-1]
        values |= set(range(first, last + 1, int(step or 1)))
    return values


MONTHS = ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]


@functools.cache
def walls(zone, since, days):
    """Minute by minute, by the zone database of Python, from two days before: the moment, the wall clock then when it shows that for the
    first time, and the walls that it leaves out just before."""
    at, place, shown, before, found = since - timedelta(days=2), ZoneInfo(zone), set(), None, []
    while at <= since + timedelta(days=days):
        wall = at.astimezone(place).replace(tzinfo=None)
        skipped = [before + timedelta(minutes=n) for n in range(1, int((wall - before).total_seconds()) // 60)] if before else []
        found.append((at, None if wall in shown else wall, skipped))
        shown.add(wall)
        before = wall if before is None or wall > before else before
        at += timedelta(minutes=1)
    return found


def due_times(cron, zone, since, days):
    """What the clock shows for the first time, and what it leaves out at the first moment after."""
    minute, hour, day, month, weekday = cron.split()
    minutes, hours, in_month = field(minute, 0, 59), field(hour, 0, 23), field(day, 1, 31)
    months, weekdays = field(month, 1, 12, MONTHS), {value % 7 for value in field(weekday, 0, 7, WEEKDAYS)}

    def fits(wall):
        if wall.minute not in minutes or wall.hour not in hours or wall.month not in months:
            return False
        is_in = wall.day in in_month, (wall.weekday() + 1) % 7 in weekdays
        return all(is_in) if "*" in (day[0], weekday[0]) else any(is_in)
    return [at for at, wall, skipped in walls(zone, since, days) if at > since and (wall and fits(wall) or any(map(fits, skipped)))]


def told(drover, cron, zone, since, count):
    run = drover.done("schedule", "next", cron, "--zone", zone, "--since", since.strftime("%Y-%m-%dT%H:%M:%SZ"), "--count", str(count))
    return [datetime.fromisoformat(line.replace("Z", "+00:00")) for line in run.out.split()]


# A spring and an autumn day of each, where it has them in 2026; Kathmandu and Sao Paulo have none, Casablanca goes back for Ramadan.
CHANGES = [("Europe/Berlin", "2026-03-29"), ("Europe/Berlin", "2026-10-25"), ("America/New_York", "2026-03-08"), ("America/New_York", "2026-11-01"),
           ("Australia/Lord_Howe", "2026-10-04"), ("Australia/Lord_Howe", "2026-04-05"), ("Asia/Kathmandu", "2026-03-29"), ("Africa/Casablanca", "2026-02-15"),
           ("Africa/Casablanca", "2026-03-22"), ("America/Sao_Paulo", "2018-11-04"), ("America/Sao_Paulo", "2018-02-18")]


CRONS = ["30 2 * * *", "0 6 * * *", "15 1 * * *", "*/20 * * * *", "5,35 0-3 * * *", "0 0 * * *", "59 23 * * *", "45 1-2 * * sun"]


@pytest.mark.parametrize("zone, day", CHANGES)
def test_what_falls_due_around_a_day_of_23_or_25_hours(drover, zone, day):
    since = datetime.fromisoformat(day).replace(tzinfo=UTC) - timedelta(days=1)
    # Each run is a process: all with DROVER_LONG, otherwise the one that the clock leaves out in Europe and some that change from day to day.
    turn = CHANGES.index((zone, day))
    for cron in CRONS if is_long() else {CRONS[0], CRONS[1 + turn % 7], CRONS[1 + (turn + 3) % 7]}:
        expected = due_times(cron, zone, since, 3)
        assert told(drover, cron, zone, since, len(expected)) == expected, cron


def test_what_falls_due_is_what_another_reading_of_the_crontab_says(drover):
    chance, zones = random.Random(7), ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca", "UTC"]

    def any_field(low, high, names=()):
        kind = chance.randrange(6)
        a, b = sorted(chance.sample(range(low, high + 1), 2))
        named = names[a] if names and a < len(names) and names[a] else str(a)
        return ["*", str(a), f"{a}-{b}", f"*/{chance.randint(2, high)}", f"{a}-{b}/{chance.randint(1, 5)}", f"{named},{b}"][kind]
    for number in range(40 if is_long() else 8):
        cron = " ".join([any_field(0, 59), any_field(0, 23), any_field(1, 28), chance.choice(["*", any_field(1, 12, MONTHS)]), any_field(0, 6, WEEKDAYS)])
        zone, since = zones[number % len(zones)], datetime(2026, chance.randint(1, 12), chance.randint(1, 28), chance.randint(0, 23), tzinfo=UTC)
        expected = due_times(cron, zone, since, 21 if is_long() else 9)[:400]
        if expected:
            assert told(drover, cron, zone, since, len(expected)) == expected, (cron, zone, since)


def test_leap_days_come_and_what_never_comes_is_refused(drover):
    assert told(drover, "0 0 29 2 *", "UTC", datetime(2096, 3, 1, tzinfo=UTC), 1) == [datetime(2104, 2, 29, tzinfo=UTC)]
    some = ["0 6 * *", "60 * * * *", "5-3 * * * *", "*/0 * * * *", "0 0 31 4,6 *", ""]
    more = ["* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "5/10 * * * *", "a * * * *", "1,,2 * * * *", "0 0 30 2 *", "* * * * * *", "-1 * * * *", "1- * * * *",
            "*-5 * * * *", "0 0 * * mon-"]
    for wrong in some + more if is_long() else some:
        run = drover.run("schedule", "next", wrong)
        assert run.code == 2 and "cron" not in run.out, (wrong, run.out)


# MARK: what becomes of it


@pytest.fixture(scope="module")
def house(world, tmp_path_factory, fixtures):
    folder = tmp_path_factory.mktemp("schedules")
    yield from lent(Desk(world, folder, self_signed(folder, "mail"), fixtures))


@pytest.fixture
def desk(house):
    """Without schedules, mail and relays of another test, whatever became of that."""
    yield house
    house.end()


class Desk:
    """Recorded drives of one car, two fleets with a manager each, a real mail server; `drover notify` as production has it."""

    def __init__(self, world, folder, certificate, fixtures):
        self.world, self.env, self.folder = world, world.database(), folder / "kept"
        self.folder.mkdir()
        drives = fixtures / "cars" / "kit-seat-leon"
        for file in sorted(drives.glob("*.1hz.csv")):
            if "Beschleunigung" not in file.name:
                world.drover.done("import", "cars", file, "--vehicle", "seat-leon", env=self.env)
        self.worker = world.worker(self.env, "schedules")
        world.work_off(self.env)
        self.site = Site(world, self.env, certificate, folder)
        self.office = self.site.office
        self.stop()
        for account, roles in [("manager", ["fleet_manager"]), ("other", ["fleet_manager"]), ("root", ["administrator"]), ("wanja", ["ranger"])]:
            self.site.with_account(account, f"{account}@example.org", PASSWORD, *roles)
        self.run("INSERT INTO drover.fleet (fleet, name) VALUES ('north', 'North'), ('south', 'South')")
        self.run("INSERT INTO drover.fleet_vehicle VALUES ('north', 'car', 'seat-leon')")
        self.run("INSERT INTO drover.fleet_member VALUES ('north', 'manager'), ('south', 'other')")

    def run(self, sql, *values):
        with connect(self.env) as connection:
            cursor = connection.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else cursor.rowcount

    def notify(self, *more):
        words = [word for key, value in (("postgres.page_url", self.site.pages), ("reports.folder", self.folder),
                                         ("reports.grace_s", 0), ("web.public_url", "http://127.0.0.1:1")) for word in ("--set", f"{key}={value}")]
        return self.office.notify(*words, *more)

    def stop(self):
        for relay in self.office.relays:
            relay.stop()
        self.office.relays.clear()

    def add(self, report, account, *words):
        return int(self.world.drover.done("schedule", "add", report, "--account", account, *words, env=self.env).out)

    def runs(self, schedule):
        return self.run("SELECT state, first_date, last_date, tries, rows, mails, revision, change, reason, content FROM drover.report_run WHERE schedule_id = %s ORDER BY due_at", schedule)

    def is_settled(self, *schedules):
        """All that is due stands in the ledger and was made."""
        [[open_ones]] = self.run("""SELECT count(*) FROM drover.report_schedule s WHERE schedule_id = ANY (%s) AND (next_due_at IS NULL AND trouble IS NULL
            OR EXISTS (SELECT FROM drover.report_run r WHERE r.schedule_id = s.schedule_id AND r.state = 'waiting'))""", list(schedules))
        return open_ones == 0

    def command(self, *words):
        return subprocess.run([self.world.drover.program, "report", *words], capture_output=True, timeout=HANG_S, env={**os.environ, **self.env}, check=True).stdout

    def end(self):
        self.stop()
        self.run("DELETE FROM drover.report_schedule WHERE shipped IS NULL")
        self.run("DELETE FROM drover.mail")
        self.office.box.mails.clear()

    def close(self):
        try:
            self.worker.stop()
        finally:
            self.site.close()


def test_a_long_past_is_caught_up_as_far_as_a_hundred_and_says_what_it_leaves_out(desk):
    schedule = desk.add("trips", "manager", "--cron", "0 6 * * *", "--zone", "Europe/Berlin", "--as", "json", "--since", "2018-02-01T05:30:00Z")
    berlin = ZoneInfo("Europe/Berlin")
    noon = (datetime.now(berlin) - timedelta(days=9)).replace(hour=12, minute=0, second=0, microsecond=0)
    mornings = lambda: ((now := datetime.now(berlin)).date() - noon.date()).days - (now.hour < 6)
    short = desk.add("trips", "manager", "--cron", "0 6 * * *", "--zone", "Europe/Berlin", "--since", noon.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    before = mornings()
    relay = desk.notify()
    until(lambda: desk.is_settled(schedule, short), relay)
    [[count]] = desk.run("SELECT count(*) FROM drover.report_run WHERE schedule_id = %s", short)
    assert count in (before, mornings())
    for made, count in ((schedule, 100), (short, count)):
        rows = desk.run("SELECT due_at, state, first_date FROM drover.report_run WHERE schedule_id = %s ORDER BY due_at", made)
        walls = [row[0].astimezone(ZoneInfo("Europe/Berlin")) for row in rows]
        assert len(rows) == count and {row[1] for row in rows} == {"done"} and {(wall.hour, wall.minute) for wall in walls} == {(6, 0)}
        assert [row[2] for row in rows] == [str(wall.date() - timedelta(days=1)) for wall in walls]
        assert len({wall.date() for wall in walls}) == count and (walls[-1].date() - walls[0].date()).days == count - 1
        [[left_out]] = desk.run("SELECT left_out_at FROM drover.report_schedule WHERE schedule_id = %s", made)
        assert (left_out is None) if made == short else left_out.astimezone(ZoneInfo("Europe/Berlin")).date() == walls[0].date() - timedelta(days=1)


def test_days_add_up_to_their_month(desk):
    days = desk.add("trips", "manager", "--cron", "0 6 * * *", "--zone", "Europe/Berlin", "--as", "json", "--since", "2018-01-31T12:00:00Z")
    month = desk.add("trips", "manager", "--cron", "0 6 1 3 *", "--zone", "Europe/Berlin", "--span", "month", "--as", "json", "--since", "2018-02-02T00:00:00Z")
    # Nothing falls due after that: the past of one month alone.
    desk.run("""INSERT INTO drover.report_run (schedule_id, due_at, try_at) SELECT %s, day + interval '6 hours', day
                FROM generate_series(timestamptz '2018-02-02 Europe/Berlin', '2018-03-01 Europe/Berlin', '1 day') day""", days)
    desk.run("UPDATE drover.report_schedule SET planned_until = now() WHERE schedule_id = %s", days)
    desk.notify()
    until(lambda: desk.is_settled(days, month))
    made = [json.loads(bytes(run[9])) for run in desk.runs(days)]
    assert [report["date"] for report in made] == [f"2018-02-{day:02}" for day in range(1, 29)]
    whole = next(report for report in (json.loads(bytes(run[9])) for run in desk.runs(month)) if report["date"] == "2018-02-01/2018-02-28")
    for figure in ("trips", "distance_km", "idle_s", "integrated_s", "sharp_brakings"):
        assert sum(report["totals"][figure] for report in made) == pytest.approx(whole["totals"][figure], abs=1e-6)
    assert whole["totals"]["trips"] == 3


def test_it_has_the_rights_of_its_account_and_the_bytes_of_the_command(desk):
    first, last = FEBRUARY
    since = ["--cron", "0 6 1 3 *", "--span", "month", "--since", f"{last}T00:00:00Z"]
    wanted = ["--date", first, "--span", "month"]
    own = [desk.add("fleet-day", "manager", *since, "--as", form, "--file") for form in ("html", "csv", "json", "xlsx", "pdf")]
    past = ["--cron", "0 6 1 3 *", "--span", "month", "--since", "2018-02-28T00:00:00Z"]
    seen, unseen = desk.add("trips", "manager", *past, "--as", "csv"), desk.add("trips", "other", *past, "--as", "csv")
    strange = desk.add("dispatch-day", "manager", *since)
    desk.notify()
    until(lambda: desk.is_settled(*own, seen, unseen, strange))
    for schedule, form in zip(own, ("html", "csv", "json", "xlsx", "pdf")):
        [run] = desk.runs(schedule)
        assert run[0] == "done" and bytes(run[9]) == desk.command("fleet-day", *wanted, "--format", form)
        assert (desk.folder / f"{schedule}-fleet-day-{first}-to-{last}.{form}").read_bytes() == bytes(run[9])
        if form == "pdf":
            assert f"Fleet day February {YEAR}" in text(bytes(run[9]))
    assert sum(run[4] for run in desk.runs(seen)) == 3 and b"seat-leon" in bytes(desk.runs(seen)[0][9])
    assert sum(run[4] for run in desk.runs(unseen)) == 0 and b"seat-leon" not in b"".join(bytes(run[9]) for run in desk.runs(unseen))
    # What cannot be made is seen and stops no other.
    [run] = desk.runs(strange)
    assert run[0] == "failed" and "roles" in run[8]
    listed = desk.world.drover.run("schedule", "runs", strange, env=desk.env)
    assert "failed" in listed.out and "roles" in listed.out


def json_lines(run):
    assert run.code == 0, run.err
    return [json.loads(line) for line in run.out.splitlines()]


def test_it_comes_by_mail_once_also_when_nobody_was_there(desk):
    (begin, last), is_one = FEBRUARY, lambda name: f"{name} February {YEAR}"
    when = ["--cron", "0 6 1 3 *", "--span", "month", "--since", f"{last}T00:00:00Z"]
    page, paper = desk.add("trips", "manager", *when, "--mail", "manager", "--mail", "root", "--as", "html"), desk.add("fuel", "manager", *when, "--mail", "manager", "--as", "pdf")
    # Two at a time.
    relays = desk.notify(), desk.notify()
    until(lambda: len(desk.office.box.mails) >= 3, *relays)
    until(lambda: desk.is_settled(page, paper) and desk.office.rows() == {}, *relays)
    mails = sorted((mail[1][0], mail[2]["Subject"], mail[2]) for mail in desk.office.box.mails)
    assert [(to, subject) for to, subject, _ in mails] == [
        ("manager@example.org", is_one("Fuel")), ("manager@example.org", is_one("Trips of")), ("root@example.org", is_one("Trips of"))]
    [file] = list(mails[0][2].iter_attachments())
    assert file.get_content_type() == "application/pdf" and facts(file.get_content())["Title"] == is_one("Fuel")
    assert f"fuel-{begin}-to-{last}.pdf" == file.get_filename()
    html = mails[1][2].get_body(("html",)).get_content()
    assert html.replace("\r\n", "\n").strip() == desk.command("trips", "--date", begin, "--span", "month", "--format", "html").decode().strip()
    assert "/reports/schedules" in mails[1][2].get_body(("plain",)).get_content()
    assert len({mail[2]["Message-ID"] for mail in desk.office.box.mails}) == 3
    # The audit log tells which was made with whose sight, and to whom it went.
    told = json_lines(desk.world.drover.run("audit", "--account", "manager", "--action", "report_run", "--action", "report_mailed", "--json", env=desk.env))
    found = [(entry["action"], entry["actor"], entry["subject"], json.loads(entry["detail"])) for entry in told]
    of_page = [(action, actor, subject) for action, actor, subject, detail in found if detail.get("schedule") == str(page)]
    assert sorted(of_page, key=str) == [("report_mailed", "manager", "manager"), ("report_mailed", "manager", "root"), ("report_run", "manager", None)]
    [run] = [detail for action, _, _, detail in found if action == "report_run" and detail.get("schedule") == str(paper)]
    assert (run["report"], run["from"], run["until"]) == ("fuel", begin, last)


def test_killed_again_and_again_each_due_time_is_told_once(desk):
    hours, kills = (40, 12) if is_long() else (10, 3)
    schedules = [desk.add("trips", "manager", "--cron", "0 * * * *", "--as", form, "--mail", "manager", "--since",
                          (datetime.now(UTC) - timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")) for form in ("html", "pdf")]
    made = lambda: desk.run("SELECT count(*) FROM drover.report_run WHERE schedule_id = ANY (%s) AND state = 'done'", schedules)[0][0]
    chance = random.Random(11)
    for _ in range(kills):
        relays, wanted = [desk.notify(), desk.notify()], made() + chance.randint(0, 4)
        until(lambda: made() >= wanted or desk.is_settled(*schedules), *relays)
        for relay in relays:
            relay.kill()
    desk.stop()
    # Between the server's taking it and its mark.
    last = desk.notify()
    desk.office.box.before = lambda: last.signal(signal.SIGKILL)
    desk.run("INSERT INTO drover.report_run (schedule_id, due_at) SELECT %s, min(due_at) - interval '1 hour' FROM drover.report_run", schedules[0])
    last.wait()
    desk.office.box.before = lambda: None
    relay = desk.notify()
    until(lambda: desk.is_settled(*schedules) and desk.office.rows() == {}, relay)
    for schedule in schedules:
        due = desk.run("SELECT due_at, state, mails FROM drover.report_run WHERE schedule_id = %s ORDER BY due_at", schedule)
        # An hour may have ended meanwhile.
        assert len(due) - hours - (schedule == schedules[0]) in (0, 1) and {row[1:] for row in due} == {("done", 1)}
        assert {later[0] - sooner[0] for sooner, later in zip(due, due[1:])} == {timedelta(hours=1)}
        # A mail that was sent and not yet marked comes again under its own name: never two mails of one run.
        ids = [mail[2]["Message-ID"] for mail in desk.office.box.mails if mail[2]["Message-ID"].startswith(f"<report-{schedule}-")]
        assert len(set(ids)) == len(due)
    again = len(desk.office.box.mails) - len({mail[2]["Message-ID"] for mail in desk.office.box.mails})
    assert again >= 1


def test_stopped_over_a_due_time_it_is_made_once_of_the_right_days(desk):
    # Summer time ends there on the first Sunday of April: the day before has 24 hours by its own clock.
    sunday = datetime((datetime.now(UTC) - timedelta(days=100)).year, 4, 7)
    sunday -= timedelta(days=(sunday.weekday() + 1) % 7)
    before = f"{sunday - timedelta(days=1):%Y-%m-%d}"
    schedule = desk.add("trips", "manager", "--cron", "0 6 * * *", "--zone", "Pacific/Auckland", "--mail", "manager")
    # As if it had been planned last then; that day is no Sunday or Saturday again for years.
    desk.run("UPDATE drover.report_schedule SET planned_until = %s::timestamptz, next_due_at = %s::timestamptz, cron = %s WHERE schedule_id = %s",
             f"{before} 12:00 Pacific/Auckland", f"{sunday:%Y-%m-%d} 06:00 Pacific/Auckland", f"0 6 {sunday.day} 4 */6", schedule)
    relay = desk.notify()
    until(lambda: desk.is_settled(schedule) and len(desk.office.box.mails) == 1, relay)
    desk.stop()
    relay = desk.notify()
    desk.run("UPDATE drover.report_schedule SET next_due_at = now() WHERE schedule_id = %s", schedule)
    until(lambda: desk.run("SELECT next_due_at > now() FROM drover.report_schedule WHERE schedule_id = %s", schedule) == [(True,)], relay)
    assert [run[:3] for run in desk.runs(schedule)] == [("done", before, before)]
    assert len(desk.office.box.mails) == 1


def test_what_was_missed_while_it_was_off_stays_missed(desk):
    # Half a day from now: none falls due meanwhile.
    far = datetime.now(UTC) + timedelta(hours=12)
    schedule = desk.add("trips", "manager", "--cron", f"{far.minute} {far.hour} * * *", "--since", (datetime.now(UTC) - timedelta(days=5)).strftime("%Y-%m-%dT%H:%M:%SZ"))
    desk.world.drover.done("schedule", "off", schedule, env=desk.env)
    desk.notify()
    desk.world.drover.done("schedule", "on", schedule, env=desk.env)
    until(lambda: desk.is_settled(schedule))
    assert desk.runs(schedule) == []
    desk.world.drover.done("schedule", "run", schedule, env=desk.env)
    until(lambda: [run[0] for run in desk.runs(schedule)] == ["done"])
    desk.world.drover.done("schedule", "remove", schedule, env=desk.env)
    assert desk.run("SELECT 1 FROM drover.report_schedule WHERE schedule_id = %s", schedule) == []


def test_other_times_hold_from_now_on_and_lose_nothing_that_was_due(desk):
    def change(*words):
        return desk.world.drover.run("schedule", "change", schedule, *words, env=desk.env)

    def due():
        return [row[0].astimezone(UTC).strftime("%H:%M") for row in desk.run("SELECT due_at FROM drover.report_run WHERE schedule_id = %s ORDER BY due_at", schedule)]

    # Nobody was there to see what fell due: it falls due by the new times.
    far = datetime.now(UTC) + timedelta(hours=12)
    since = far - timedelta(hours=12, days=3)
    schedule = desk.add("trips", "manager", "--cron", f"{(far - timedelta(hours=6)).minute} {(far - timedelta(hours=6)).hour} * * *", "--since", since.strftime("%Y-%m-%dT%H:%M:%SZ"))
    assert change("--cron", f"{far.minute} {far.hour} * * *").code == 0
    relay = desk.notify()
    until(lambda: desk.is_settled(schedule), relay)
    assert due() == [f"{far:%H:%M}"] * 3
    # All of it stands in the ledger: what the new times say of the past does not.
    [[changed_at]] = desk.run("SELECT now()")
    assert change("--cron", "*/5 * * * *", "--zone", "Asia/Kolkata").code == 0
    until(lambda: desk.is_settled(schedule), relay)
    assert due()[:3] == [f"{far:%H:%M}"] * 3
    assert all(at > changed_at for at, in desk.run("SELECT due_at FROM drover.report_run WHERE schedule_id = %s ORDER BY due_at OFFSET 3", schedule))
    assert desk.run("SELECT cron, zone, next_due_at - now() < interval '5 minutes' FROM drover.report_schedule WHERE schedule_id = %s", schedule) == [("*/5 * * * *", "Asia/Kolkata", True)]
    assert change("--cron", "0 7 * * mon").code == 0
    assert desk.run("SELECT zone FROM drover.report_schedule WHERE schedule_id = %s", schedule) == [("Asia/Kolkata",)]
    for words, message in [(["--cron", "0 0 30 2 *"], "no such day"), (["--cron", "0 6"], "must be five fields"), (["--cron", "0 6 * * *", "--zone", "Mars/North"], "Europe/Berlin"), ([], "--cron is needed")]:
        refused = change(*words)
        assert refused.code == 2 and message in refused.err, refused.err
    desk.world.drover.fails("schedule", "change", 999_999, "--cron", "0 6 * * *", env=desk.env, says="there is no such schedule")


def test_a_failing_one_waits_longer_each_time_and_stops_no_other(desk):
    when = ["--cron", "0 6 1 3 *", "--since", f"{FEBRUARY[1]}T00:00:00Z"]
    failing, good, lost = desk.add("trips", "manager", *when, "--file"), desk.add("trips", "manager", *when), desk.add("trips", "other", *when)
    desk.run("UPDATE drover.account SET disabled_at = now() WHERE account = 'other'")
    # The folder goes away while it runs.
    away = desk.folder.with_name("away")
    desk.notify()
    until(lambda: desk.is_settled(failing, good, lost))
    desk.folder.rename(away)
    try:
        desk.run("UPDATE drover.report_run SET state = 'waiting', tries = 0, try_at = now() WHERE schedule_id = %s", failing)
        until(lambda: desk.runs(failing)[0][3] >= 1)
        [run] = desk.runs(failing)
        assert run[0] == "waiting" and "no such folder" in run[8]
        [[before]] = desk.run("SELECT now()")
        desk.run("UPDATE drover.report_run SET tries = 5, try_at = now() WHERE schedule_id = %s", failing)
        until(lambda: desk.runs(failing)[0][3] == 6)
        [[tried_at, after]] = desk.run("SELECT try_at - interval '320 s', now() FROM drover.report_run WHERE schedule_id = %s", failing)
        assert before <= tried_at <= after
    finally:
        away.rename(desk.folder)
    desk.run("UPDATE drover.report_run SET try_at = now() WHERE schedule_id = %s", failing)
    until(lambda: desk.runs(failing)[0][0] == "done")
    assert [run[0] for run in desk.runs(good)] == ["done"]
    [run] = desk.runs(lost)
    assert run[0] == "failed" and "disabled" in run[8] and run[9] is None
    desk.run("UPDATE drover.account SET disabled_at = NULL WHERE account = 'other'")


def test_data_that_comes_late_revises_what_was_told_and_is_mailed_when_asked_for(desk):
    schedule = desk.add("trips", "manager", "--cron", "0 6 1 3 *", "--span", "month", "--as", "csv", "--mail", "manager", "--since", "2018-02-28T00:00:00Z")
    desk.run("UPDATE drover.report_schedule SET planned_until = now() WHERE schedule_id = %s", schedule)
    desk.run("INSERT INTO drover.report_run (schedule_id, due_at) VALUES (%s, '2018-03-01T06:00Z')", schedule)
    desk.notify("--set", "reports.look_s=1", "--set", "reports.look_days=400")
    until(lambda: desk.is_settled(schedule))
    until(lambda: len(desk.office.box.mails) == 1)
    desk.run("UPDATE drover.report_run SET look_at = now() WHERE schedule_id = %s", schedule)
    [before] = desk.runs(schedule)
    # The same again: nothing is revised.
    until(lambda: desk.run("SELECT look_at IS NULL OR look_at > now() FROM drover.report_run WHERE schedule_id = %s", schedule) == [(True,)])
    assert desk.runs(schedule)[0][6] == 0
    desk.run("UPDATE drover.trip SET distance_mm = distance_mm + 1000000, revised_at = now() WHERE start_at = (SELECT min(start_at) FROM drover.trip WHERE start_at >= '2018-02-01')")
    desk.run("UPDATE drover.report_run SET look_at = now() WHERE schedule_id = %s", schedule)
    until(lambda: desk.runs(schedule)[0][6] == 1)
    [after] = desk.runs(schedule)
    assert bytes(after[9]) != bytes(before[9]) and after[7].startswith("1 row changed\n") and "distance_km" in after[7] and "→" in after[7]
    assert hashlib.sha256(bytes(after[9])).hexdigest() in desk.world.drover.run("schedule", "runs", schedule, "--format", "csv", env=desk.env).out
    # Nobody asked for it to be mailed.
    assert len(desk.office.box.mails) == 1 and desk.office.rows() == {}
    desk.run("UPDATE drover.report_run SET wants_mail = true WHERE schedule_id = %s", schedule)
    until(lambda: len(desk.office.box.mails) == 2)
    [first, second] = [mail[2] for mail in desk.office.box.mails]
    assert second["Subject"] == "Revised: Trips February 2018" and second["In-Reply-To"] == first["Message-ID"] != second["Message-ID"]
    [file] = second.iter_attachments()
    assert file.get_payload(decode=True) == bytes(after[9])
    # The report itself says which row late data has corrected.
    assert "1 of the trips were corrected" in desk.command("trips", "--date", "2018-02-01", "--span", "month", "--format", "html").decode()


def test_somebody_lets_a_report_come_and_sees_what_became_of_it(desk, page, screenshots):
    desk.notify("--set", "reports.look_s=1")
    address = f"http://127.0.0.1:{desk.site.port}"
    enter(page, address, "manager", "/reports")
    page.get_by_role("link", name="Scheduled reports").click()
    page.wait_for_url("**/reports/schedules")
    expect(page.locator("main")).to_contain_text("No scheduled reports yet")
    page.get_by_label("Report", exact=True).select_option("trips")
    page.get_by_label("Time", exact=True).select_option("month")
    page.get_by_label("Day", exact=True).select_option("month")
    page.get_by_label("At", exact=True).fill("06:30")
    page.get_by_label("Format", exact=True).select_option("pdf")
    page.get_by_label("Fleet").select_option("north")
    page.get_by_label("Mail it to me").check()
    page.get_by_role("button", name="Schedule", exact=True).press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Scheduled.")
    one = page.get_by_role("region", name="Trips of the month before, North, PDF", exact=True)
    expect(one).to_contain_text("On the first of each month at 06:30")
    expect(one).to_contain_text("Mailed to you, kept here.")
    [[schedule, cron]] = desk.run("SELECT schedule_id, cron FROM drover.report_schedule WHERE account = 'manager'")
    assert cron == "30 6 1 * *"
    until(lambda: desk.is_settled(schedule))
    # Another time, by the keyboard.
    page.get_by_text("Change time").press("Enter")
    expect(one.get_by_label("Day", exact=True)).to_have_value("month")
    expect(one.get_by_label("At", exact=True)).to_have_value("06:30")
    looked_at(page, screenshots, "schedule-change")
    one.get_by_label("Day", exact=True).select_option("monday")
    one.get_by_label("At", exact=True).fill("07:15")
    one.get_by_role("button", name="Save").press("Enter")
    page.wait_for_url("**/reports/schedules?said=change")
    expect(one).to_contain_text("Every Monday at 07:15")
    assert desk.run("SELECT cron FROM drover.report_schedule WHERE schedule_id = %s", schedule) == [("15 7 * * mon",)]
    page.get_by_text("Change time").click()
    one.get_by_label("Day", exact=True).select_option("weekdays")
    one.get_by_role("button", name="Save").click()
    expect(one).to_contain_text("Every weekday at 07:15")
    page.get_by_text("Change time").click()
    one.get_by_label("Or cron").fill("30 6 1 jan-dec *")
    one.get_by_role("button", name="Save").click()
    expect(one).to_contain_text("30 6 1 jan-dec *")
    until(lambda: desk.is_settled(schedule))
    assert desk.runs(schedule) == []
    page.get_by_role("button", name="Run now").click()
    # Loaded again it asks for nothing twice.
    page.wait_for_url("**/reports/schedules?said=run")
    expect(page.get_by_role("status")).to_contain_text("Running now")
    until(lambda: [run[0] for run in desk.runs(schedule)] == ["done"])
    desk.run("UPDATE drover.report_run SET revision = 1, change = %s WHERE schedule_id = %s", "1 row changed\nseat-leon 2026-10-02 08:00: distance_km 10.3 → 12.1", schedule)
    page.goto(f"{address}/reports/schedules")
    expect(page.get_by_role("region", name=re.compile("Runs of"))).to_contain_text("Revised by data that came late")
    expect(one).to_contain_text(re.compile(r"Last\s*Ready PDF"))
    page.get_by_text("What changed").click()
    looked_at(page, screenshots, "schedules")
    page.get_by_role("button", name=re.compile("Mail again")).click()
    until(lambda: any("Revised" in mail[2]["Subject"] for mail in desk.office.box.mails))
    link = page.get_by_role("link", name=re.compile("PDF of")).first.get_attribute("href")
    manager, other, root = (Visitor(desk.site.port) for _ in range(3))
    for visitor, who in ((manager, "manager"), (other, "other"), (root, "root")):
        assert visitor.log_in(f"{who}@example.org").status == 303
    assert raw(manager, link)[2] == bytes(desk.runs(schedule)[0][9]) and raw(root, link)[0] == 200
    # What is another's is neither shown, switched, run nor ended.
    assert raw(other, link)[0] == 404 and f"value=\"{schedule}\"" not in other.get("/reports/schedules").body
    mark = other.mark()
    for deed in ("on", "off", "end", "run", "mail"):
        assert other.post(f"/reports/schedules/{deed}", form=mark, schedule=str(schedule), due="1700000000").status == 409, deed
    assert other.post("/reports/schedules/change", form=mark, schedule=str(schedule), days="day", at="06:00").status == 409
    for wrong in ({"cron": "0 6 * *"}, {"cron": "0 0 30 2 *"}, {"at": "25:00"}, {"days": "never"}, {"report": "dispatch-day"}, {"span": "year"}, {"format": "exe"}, {"of": "a b"}):
        fields = {"report": "trips", "span": "day", "days": "day", "at": "06:00", "format": "csv", **wrong}
        assert other.post("/reports/schedules/add", form=mark, **fields).status == 422, wrong
        if wrong.keys() & {"cron", "at", "days"}:
            assert manager.post("/reports/schedules/change", form=manager.mark(), schedule=str(schedule), **fields).status == 422, wrong
    assert desk.run("SELECT cron FROM drover.report_schedule WHERE schedule_id = %s", schedule) == [("30 6 1 jan-dec *",)]
    page.get_by_role("button", name=re.compile("Switch off: ")).click()
    expect(one).to_contain_text(re.compile(r"Next\s*Off"))
    page.get_by_role("button", name=re.compile("Delete: ")).click()
    expect(page.locator("main")).to_contain_text("No scheduled reports yet")
    # Those that come with Drover are off until an administrator takes one.
    mark = root.mark()
    shipped = desk.run("SELECT schedule_id, report, cron, is_enabled, account FROM drover.report_schedule WHERE shipped IS NOT NULL ORDER BY schedule_id")
    assert [row[1:] for row in shipped] == [("fleet-day", "0 6 * * *", False, None), ("maintenance", "0 6 * * mon", False, None), ("fuel", "0 6 1 * *", False, None)]
    assert root.post("/reports/schedules/on", form=mark, schedule=str(shipped[0][0])).status == 303
    assert desk.run("SELECT account, mail_to, is_enabled FROM drover.report_schedule WHERE schedule_id = %s", shipped[0][0]) == [("root", ["root"], True)]
    # Its time can be another one, until it is given back; that of another account stays by that one's clock.
    assert root.post("/reports/schedules/change", form=mark, schedule=str(shipped[0][0]), days="day", at="05:00").status == 303
    assert root.post("/reports/schedules/change", form=mark, schedule=str(shipped[1][0]), days="day", at="05:00").status == 409, "nobody's"
    enter(page, address, "root", "/reports/schedules")
    looked_at(page, screenshots, "schedules-all")
    assert root.post("/reports/schedules/end", form=mark, schedule=str(shipped[0][0])).status == 303
    assert desk.run("SELECT account, is_enabled, cron FROM drover.report_schedule WHERE schedule_id = %s", shipped[0][0]) == [(None, False, "0 6 * * *")]


def test_reports_that_one_account_asks_for_now_have_a_bound(env):
    """Times of a schedule are an hour apart; fifty of them that were asked for by hand were fifty reports a minute."""
    add_account(env, "spy", "driver")
    with connect(env) as connection, connection.transaction():
        connection.execute("INSERT INTO drover.report_schedule (account, report, span, format, cron) SELECT 'spy', 'trips', 'day', 'pdf', '0 6 * * *' FROM generate_series(1, 25)")
        schedules = [row[0] for row in connection.execute("SELECT schedule_id FROM drover.report_schedule WHERE account = 'spy'").fetchall()]
        connection.execute("SET LOCAL ROLE drover_page")
        connection.execute("SELECT set_config('drover.account', 'spy', true)")
        asked = [connection.execute("SELECT drover.ask_report_run(%s)", [schedule]).fetchone()[0] for schedule in schedules]
    assert asked == [True] * 20 + [False] * 5
