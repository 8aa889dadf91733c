"""A seeded month (twelve days in the short form) of machines that are parked, switched off, uploaded by hand or at work: silence raises what it must, when
it must, and nothing else. The month is pushed in seconds, each record with the stamp that it had then."""
import json
import random
from datetime import datetime, timezone

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from harness import HANG_S, ROOT, is_long
from test_gateway import servers, world  # noqa: F401 (fixtures)
from world import accept_stamps, producer, query

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
TICK = 5 * MINUTE
DAYS = 30 if is_long() else 12
# Days on which GPS is lost: first by word, then with everything else.
BY_WORD, SILENT, SILENT_AGAIN = (14, 16, 20) if is_long() else (5, 6, 8)
START = 1_740_960_000_000  # 2025-03-03T00:00:00Z


class Month:
    """What is pushed, by time, and the alerts that follow: (vehicle, parameter, opened, resolved, told, end told)."""

    def __init__(self, seed, each):
        self.chance = random.Random(seed)
        self.start = START
        self.records, self.wanted = [], []
        for index in range(each):
            for kind in (self.working, self.parked, self.switched_off, self.uploaded):
                kind(f"{kind.__name__}-{index}")
        self.losing("losing")
        for at in range(self.start, self.start + DAYS * DAY, TICK):
            self.tick(at)

    def tick(self, at):
        self.records.append((at, None, {"schema": 1, "kind": "tick", "ts": at}))

    def read(self, vehicle, ts, pushed=None, **values):
        reading = {"schema": 1, "kind": "reading", "id": f"{vehicle}-{ts}", "vehicle": vehicle, "ts": ts, "model": "8R Tractor",
                   "coolant_c": 80, "gps_available": True, **values}
        self.records.append((pushed or ts + self.chance.randrange(10_000), vehicle, {key: value for key, value in reading.items() if value is not None}))

    def shifts(self, days=range(DAYS)):
        """Begin and end of work; the first day at least, and never five days without."""
        worked = -4
        for day in days:
            if day - worked > 3 or self.chance.random() < 0.7:
                worked = day
                begin = self.start + day * DAY + self.chance.randrange(5 * HOUR, 12 * HOUR)
                yield begin, begin + self.chance.randrange(1 * HOUR, 3 * HOUR)

    def shift(self, begin, end):
        """Times of readings: less than five minutes apart with all that may come between."""
        while begin < end:
            yield begin
            begin += 4 * MINUTE + self.chance.randrange(-15_000, 15_000)

    def polled(self, vehicle, ts, running, **values):
        self.read(vehicle, ts, reporting=True if running else None, last_cell_call_in_ts=ts, **values)

    def working(self, vehicle, days=range(DAYS)):
        """Polled while it runs; the engine is off at its last reading, and then nothing comes."""
        for begin, end in self.shifts(days):
            for ts in self.shift(begin, end):
                self.polled(vehicle, ts, running=True)
            self.polled(vehicle, last := ts + MINUTE, running=False)
        return last

    def parked(self, vehicle):
        """Polled all the time with the engine off, not always in reach."""
        for hour in range(DAYS * 24):
            if hour % 24 == 0 or self.chance.random() < 0.6:
                self.polled(vehicle, self.start + hour * HOUR + self.chance.randrange(HOUR), running=False)

    def switched_off(self, vehicle):
        """Silent for days with the engine off: five days after its last call-in that is told, and nothing else."""
        last = self.working(vehicle, range(3))
        back = self.start + (DAYS - 3) * DAY + self.chance.randrange(DAY)
        self.polled(vehicle, back, running=False)
        due = last + 5 * DAY
        self.wanted.append((vehicle, "Last Cell Call In", due, back, due // TICK * TICK + TICK, self.records[-1][0]))

    def uploaded(self, vehicle):
        """Worked without anybody polling it; a phone hands the readings over days later."""
        upload = self.start
        for begin, end in self.shifts():
            if upload < end:
                upload = min(end + self.chance.randrange(10 * MINUTE, 4 * DAY), self.start + DAYS * DAY)
            for ts in self.shift(begin, end):
                self.read(vehicle, ts, pushed=upload)

    def losing(self, vehicle):
        """Three hours of work a day. On three of them GPS is lost: first by word, then with everything else."""
        call = {"pushed": None}
        for day in range(DAYS):
            nine = self.start + day * DAY + 9 * HOUR
            for ts in range(nine, nine + 3 * HOUR, 4 * MINUTE):
                minute = (ts - nine) // MINUTE
                if day == BY_WORD:
                    self.polled(vehicle, ts, running=True, **({"gps_available": None} if 60 <= minute <= 100 else {}))
                    call[minute] = self.records[-1][0]
                elif day not in (SILENT, SILENT_AGAIN) or minute <= 60 or minute >= 152:
                    self.polled(vehicle, ts, running=True)
                    call[day, minute] = self.records[-1][0]
            self.polled(vehicle, nine + 3 * HOUR, running=False)
        at = lambda day, minute: self.start + day * DAY + 9 * HOUR + minute * MINUTE  # noqa: E731
        self.wanted += [
            # The last word at 9:56, told by the reading of 10:04; back at 10:44.
            (vehicle, "GPS Available", at(BY_WORD, 61), at(BY_WORD, 104), call[64], call[104]),
            # Silent after 10:00, told by the first tick after 10:05; back at 11:32.
            (vehicle, "GPS Available", at(SILENT, 65), at(SILENT, 152), at(SILENT, 66), call[SILENT, 152]),
            (vehicle, "GPS Available", at(SILENT_AGAIN, 65), at(SILENT_AGAIN, 152), at(SILENT_AGAIN, 70), call[SILENT_AGAIN, 152]),
        ]
        self.tick(at(SILENT, 66))
        self.deadline, self.lost_again = at(SILENT, 65), at(SILENT_AGAIN, 60)

    def until(self, end):
        """What is pushed until then, the last millisecond included, and not taken yet."""
        taken = sorted((each for each in self.records if each[0] <= end), key=lambda each: each[0])
        self.records = [each for each in self.records if each[0] > end]
        return taken

    def alerts(self, end):
        """As they must stand then."""
        return sorted(
            (vehicle, parameter, "resolved" if is_over else "open", opened, resolved if is_over else None, told, over_told if is_over else None, 0)
            for vehicle, parameter, opened, resolved, told, over_told in self.wanted if told <= end for is_over in [over_told <= end])


def push(sender, partitions, taken):
    for at, vehicle, record in taken:
        places = [{"key": vehicle.encode()}] if vehicle else [{"partition": number} for number in range(partitions)]
        for place in places:
            while True:
                try:
                    sender.produce("drover.machines", value=json.dumps(record).encode(), timestamp=at, **place)
                    break
                except BufferError:
                    sender.poll(0.1)
    assert sender.flush(HANG_S) == 0


def stored(env):
    """All alerts, those that were taken back too."""
    def ms(at):
        return at and round(at.timestamp() * 1000)
    rows = query(env, "SELECT vehicle, parameter, state, opened_at, resolved_at, told_at, resolved_told_at, revision FROM drover.alert")
    return sorted((*row[:3], *map(ms, row[3:7]), row[7]) for row in rows)


@pytest.mark.parametrize("each, partitions, seed", [(3, 2, 1), pytest.param(40, 8, 2, marks=pytest.mark.long(reason="forty machines of each kind"))])
def test_a_month_of_silence_tells_what_is_lost_on_time_and_nothing_else(world, each, partitions, seed):  # noqa: F811
    admin = AdminClient({"bootstrap.servers": world.brokers})
    config = {"retention.ms": "-1", "message.timestamp.type": "CreateTime"}  # The stamps that records come with are kept.
    admin.create_topics([NewTopic("drover.machines", partitions, 1, config=config)])["drover.machines"].result(HANG_S)
    month = Month(seed, each)
    env, sender = world.database(), producer(world.brokers)
    accept_stamps(env["DROVER_POSTGRES_URL"], ["drover.machines"], partitions)
    world.drover.done("rules", "publish", ROOT / "Deploy" / "thresholds", env=env)
    # No ticks of the present: the partitions' clocks are those of the month.
    settings = {"ticks.roles": "notify"}
    worker = world.worker(env, "one", **settings)

    def go_to(end):
        push(sender, partitions, month.until(end))
        world.work_off(env)
        assert stored(env) == month.alerts(end), datetime.fromtimestamp(end / 1000, timezone.utc)

    go_to(month.deadline)  # To the millisecond five minutes without: not more, so nothing is told.
    assert not any(alert[3] == month.deadline for alert in stored(env))
    go_to(month.deadline + MINUTE)
    assert any(alert[2:4] == ("open", month.deadline) for alert in stored(env))
    go_to(month.lost_again + MINUTE)
    assert worker.stop() == 0
    push(sender, partitions, month.until(month.lost_again + HOUR))  # Nobody looks when the time is up.
    worker = world.worker(env, "one", **settings)
    go_to(month.lost_again + HOUR)
    assert any(alert[2:4] == ("open", month.lost_again + 5 * MINUTE) for alert in stored(env))
    go_to(month.start + DAYS * DAY)
    assert month.records == []
    assert len(stored(env)) == 3 + each

    told = query(env, "SELECT record::jsonb FROM drover.outbox WHERE topic = 'drover.alerts'")
    assert sorted(record["transition"] for record, in told) == ["opened"] * (3 + each) + ["resolved"] * (3 + each)
    # Nothing of this was told late: the first tick after the deadline was there in time.
    assert not [record for record, in told if "late" in record]
    world.replayed(env, seconds=2 * HANG_S)
    assert worker.stop() == 0
