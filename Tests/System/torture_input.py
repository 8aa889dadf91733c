"""A seeded set of records as a fleet sends them: cars at 1 Hz with holes and pauses, machines every half minute, some of it late,
repeated, contradictory or rubbish; and the orders in which the same set may arrive."""
import json
import random
from dataclasses import dataclass

CARS, MACHINES, TOURS = "drover.cars", "drover.machines", "drover.tours"
# A Monday, an hour before midnight UTC: trips and days cross it. Long past, so that no reading runs ahead of the broker's clock.
BEGIN_MS = 1_709_593_200_000
MODELS = ("S690 Combine", "R4038 Sprayer", "8R Tractor")


@dataclass(frozen=True)
class Item:
    """A record on its way. Without a key it goes to every partition of its topic, a tick to those of every topic."""

    topic: str
    key: bytes | None
    value: bytes | None
    ts: int
    arrives_ms: float

    @property
    def is_tick(self):
        return self.key is None and not self.topic


def tick(ts, arrives_ms):
    return Item("", None, json.dumps({"schema": 1, "kind": "tick", "ts": int(ts), "by": "import.load"}).encode(), int(ts), arrives_ms)


class Fleet:
    """What was measured and said: `readings` is the set, each once. `as_sent` and `in_order` and so on are arrivals of it."""

    def __init__(self, seed, cars=300, machines=20, minutes=(10, 40), span_min=60):
        self.seed = seed
        chance = random.Random(f"{seed} fleet")
        self.readings = []
        for number in range(cars):
            self._car(f"car-{number:04d}", random.Random(f"{seed} car {number}"), chance, minutes, span_min)
        for number in range(machines):
            self._machine(f"machine-{number:03d}", MODELS[number % 3], random.Random(f"{seed} machine {number}"), span_min)
        for number in range(machines):
            self._machine_actions(f"machine-{number:03d}", random.Random(f"{seed} machine actions {number}"), span_min)
        for number in range(cars):
            self._car_actions(f"car-{number:04d}", random.Random(f"{seed} car actions {number}"), span_min)
        self._settings(random.Random(f"{seed} settings"), span_min)
        for number in range(max(2, machines // 4)):
            self._visits(f"tour-{number}", random.Random(f"{seed} tour {number}"), span_min)
        self.readings.sort(key=lambda item: (item.ts, item.key or b"", item.value))
        self.end_ms = max(item.ts for item in self.readings) + 1
        # Of more than 64 in 4,096 offsets a partition keeps a sum, and no longer a row each (RejectedLog).
        count = min(200, max(8, len(self.readings) // 1000))
        self.rubbish = [self._rubbish(number, chance) for number in range(count)]

    # MARK: what is measured

    def _push(self, topic, fields, kind="reading"):
        value = json.dumps({"schema": 1, "kind": kind, **fields}, separators=(",", ":")).encode()
        self.readings.append(Item(topic, fields["vehicle"].encode(), value, fields["ts"], fields["ts"]))

    def _car(self, vehicle, walk, chance, minutes, span_min):
        length = walk.uniform(*minutes) * 60
        ts = BEGIN_MS + int(chance.uniform(0, max(1, span_min * 60 - length))) * 1000 + walk.choice((0, 0, 250))
        stop, number, speed, coolant = ts + length * 1000, 0, walk.uniform(0, 60), walk.uniform(20, 90)
        while ts < stop:
            speed = max(0.0, speed - walk.uniform(11, 30)) if walk.random() < 0.004 else min(130.0, max(0.0, speed + walk.uniform(-3, 3.05)))
            coolant = min(118.0, coolant + walk.uniform(-0.8, 1))
            fields = {"id": f"{vehicle}-{number}", "vehicle": vehicle, "ts": ts, "speed_kmh": round(speed, 1)}
            if walk.random() < 0.95:
                fields |= {"rpm": 800 + int(speed * 25), "maf_gps": round(2 + speed * 0.25, 2)}
            if number % 5 == 0:
                fields |= {"coolant_c": round(coolant, 1), "voltage_v": round(13.5 + walk.random(), 2)}
                fields |= {"latitude_deg": 41.61, "longitude_deg": -93.59}
            self._push(CARS, fields)
            if walk.random() < 0.003:  # The same time once more with another value: a fixed rule decides, not the order.
                self._push(CARS, fields | {"id": f"{vehicle}-{number}-again", "speed_kmh": round(speed + 1, 1)})
            number += 1
            draw = walk.random()
            # Mostly every second; sometimes a hole that is bridged, one that is not, and a pause that ends the trip.
            ts += 1000 if draw < 0.99 else 1000 * walk.randint(2, 30) if draw < 0.999 else 1000 * walk.randint(290, 420)

    def _machine(self, vehicle, model, walk, span_min):
        coolant, oil, fuel, hours = walk.uniform(60, 80), walk.uniform(35, 50), walk.uniform(60, 120), walk.uniform(1_000, 1_002)
        ts, number, fix = BEGIN_MS + walk.randint(0, 29) * 1000, 0, BEGIN_MS
        while ts < BEGIN_MS + span_min * 60_000:
            coolant = min(105.0, max(50.0, coolant + walk.uniform(-4, 4.2)))
            oil = min(70.0, max(30.0, oil + walk.uniform(-2, 2.1)))
            fuel, hours = max(5.0, fuel - walk.uniform(0, 0.6)), hours + 1 / 120
            if walk.random() < 0.9:
                fix = ts - walk.randint(0, 5) * 1000
            fields = {
                "id": f"{vehicle}-{number:04d}", "vehicle": vehicle, "ts": ts, "model": model, "serial": f"MTG-{vehicle}",
                "firmware": "4.11.2", "engine_hours_h": round(hours, 2), "engine_turn_on_count": 800 + number // 40,
                "key_turn_on_count": 1500 + number // 40, "fuel_level_gal": round(fuel, 1), "coolant_c": round(coolant, 1),
                "hydraulic_oil_c": round(oil, 1), "tire_pressure_kpa": round(walk.gauss(175, 10), 1), "gps_available": walk.random() < 0.97,
                "gps_fix_ts": fix, "latitude_deg": round(41.6 + walk.random() / 100, 6), "longitude_deg": -93.59, "rda_license": True,
                "wdt_license": walk.random() < 0.99, "machine_sync": True, "connected_devices": 1, "connected_device_names": ["StarFire 6000"],
            }
            self._push(MACHINES, fields)
            number += 1
            # Sometimes a silence of some minutes: an absence, until late data explain it.
            ts += 30_000 if walk.random() < 0.98 else walk.randint(4, 9) * 60_000

    # MARK: what people and gateways say

    def _say(self, topic, vehicle, kind, ts, number=0, **fields):
        self._push(topic, {"id": f"{vehicle}-{kind}-{number}", "vehicle": vehicle, "ts": int(ts), "by": "torture"} | fields, kind)

    def _machine_actions(self, vehicle, chance, span_min):
        def some_time():
            return BEGIN_MS + int(chance.uniform(0, span_min * 60_000))

        for number in range(2):
            self._say(MACHINES, vehicle, "registration", some_time(), number, name=f"name {number} of {vehicle}", tags=[f"tag-{number}"])
            self._say(MACHINES, vehicle, "service", some_time(), number, engine_hours_h=round(chance.uniform(900, 1_000), 1))
            self._say(MACHINES, vehicle, "acknowledgement", some_time(), number, alert=f"{vehicle}-4-{number}", note="seen")
            for word, more in (("alert_assignment", {"account": "anna"}), ("alert_comment", {"note": "words"}), ("alert_reopening", {}), ("alert_mute", {})):
                self._say(MACHINES, vehicle, word, some_time(), number, alert=f"{vehicle}-4-{number}", **more)
            asked = some_time()
            self._say(MACHINES, vehicle, "silence", asked, number, parameter="Coolant Temperature", until_ts=asked + 3_600_000)
            self._say(MACHINES, vehicle, "poll_request", asked, number, until_ts=asked + 60_000)
            self._say(
                MACHINES, vehicle, "poll_answer", asked + 5_000, number, request=f"{vehicle}-poll_request-{number}", done=number == 0,
                text="2 readings")

    def _car_actions(self, vehicle, chance, span_min):
        def some_time():
            return BEGIN_MS + int(chance.uniform(0, span_min * 60_000))

        for number in range(2):
            self._say(CARS, vehicle, "registration", some_time(), number, make="Seat", fuel="gasoline", displacement_cc=1_400 + number)
            self._say(CARS, vehicle, "acknowledgement", some_time(), number, alert=f"{vehicle}-4-{number}")
            for word, more in (("alert_assignment", {"account": "anna"}), ("alert_comment", {"note": "words"}), ("alert_reopening", {}), ("alert_mute", {})):
                self._say(CARS, vehicle, word, some_time(), number, alert=f"{vehicle}-4-{number}", **more)
            self._say(CARS, vehicle, "trip_tag", some_time(), number, trip_ts=BEGIN_MS + 60_000, tag=f"tag {number}")
            self._say(CARS, vehicle, "driving", some_time(), number, from_ts=BEGIN_MS)
            self._say(CARS, vehicle, "assignment", some_time(), number, driver=f"driver-{chance.randrange(6)}")
            asked = some_time()
            self._say(CARS, vehicle, "scan_request", asked, number, until_ts=asked + 60_000)
            self._say(
                CARS, vehicle, "scan", asked + 5_000, number, request=f"{vehicle}-scan_request-{number}", done=True,
                text="1 trouble code: P0133", stored=["P0133"], lamp=True)
            for hour in range(2):  # Two answers of each hour, of which the later one counts.
                hour_ts = BEGIN_MS // 3_600_000 * 3_600_000 + hour * 3_600_000
                answer = {
                    "source": "open-meteo", "model": "forecast", "ts": hour_ts, "fetched_ts": hour_ts + 7_200_000 + number,
                    "latitude": 41.65, "longitude": -93.55, "cell_deg": 0.1, "temperature_c": round(chance.uniform(-5, 35), 1)}
                self._say(CARS, vehicle, "weather", some_time(), 2 * hour + number, hour_ts=hour_ts, answer=json.dumps(answer))
            self._say(CARS, vehicle, "support", some_time(), number, pids=["010C", "010D", f"01{number:02X}"])
        self._say(CARS, vehicle, "trip_discard", some_time(), trip_ts=BEGIN_MS + 120_000)
        for kind in ("trip_start", "trip_stop"):
            if chance.random() < 0.6:
                self._say(CARS, vehicle, kind, some_time())

    def _settings(self, chance, span_min):
        """Of the accounts that cars are assigned to: limits that change in the middle."""
        for account, number in ((f"driver-{n}", n) for n in range(6)):
            for change in range(2):
                ts = BEGIN_MS + int(chance.uniform(0, span_min * 60_000))
                settings = {"speed_limit_kmh": 100 + 10 * number + 5 * change, "coolant_alert": change == 0}
                fields = {
                    "schema": 1, "kind": "settings", "id": f"{account}-settings-{change}", "ts": ts, "by": account, "account": account,
                    "settings": json.dumps(settings)}
                self.readings.append(Item(CARS, None, json.dumps(fields).encode(), ts, ts))

    def _visits(self, tour, chance, span_min):
        """Of visitors' phones: every tenth id stands for two events that differ."""
        for number in range(40):
            ts = BEGIN_MS + chance.randrange(span_min * 60_000)
            fields = {"id": f"{tour}-{number - number % 10 // 9}", "tour": tour, "version": 1 + number % 2, "ts": ts, "utc_offset_min": chance.choice((-300, 0, 60, 780))}
            kind = {"kind": "download"} if number % 7 == 0 else {"kind": "visit", "waypoint": f"w{chance.randrange(4)}"}
            value = json.dumps({"schema": 1, **kind, **fields}, separators=(",", ":")).encode()
            self.readings.append(Item(TOURS, tour.encode(), value, ts, ts))

    def _rubbish(self, number, chance):
        key = f"rubbish-{number}"
        value = chance.choice([
            b'{"schema":1,"kind":"reading","id":"%d","vehicle":"x' % number, b"\x00\xff not json %d" % number,
            b'{"schema":9,"kind":"reading","vehicle":"%s","ts":1,"n":%d}' % (key.encode(), number),
            b'{"schema":1,"kind":"reading","id":"r","vehicle":"another","ts":%d}' % (BEGIN_MS + number),
            b'{"schema":1,"kind":"dance","vehicle":"%s","ts":%d}' % (key.encode(), BEGIN_MS + number),
            b'[%d]' % number,
        ])
        ts = BEGIN_MS + int(chance.uniform(0, self.end_ms - BEGIN_MS))
        return Item(chance.choice((CARS, MACHINES)), key.encode(), value, ts, ts)

    # MARK: how it arrives

    def _set(self, duplicates, chance):
        items = self.readings + self.rubbish
        return items + [chance.choice(self.readings) for _ in range(int(len(self.readings) * duplicates))]

    def _arriving(self, items, at):
        """Sorted by arrival, with a tick a minute of the arrivals' clock and the ticks that close everything."""
        placed = sorted(((at(item), number, item) for number, item in enumerate(items)), key=lambda row: row[:2])
        result, due = [], BEGIN_MS
        for when, _, item in placed:
            if when >= due:
                result.append(tick(when, when))
                due = when + 60_000
            result.append(item)
        return result + self.final_ticks()

    def final_ticks(self):
        """A day after the last reading: every trip is closed, every absence is due."""
        return [tick(self.end_ms + 86_400_000, self.end_ms + 86_400_000)]

    def as_sent(self, late=0.05, duplicates=0.10):
        """As it comes from the field: a car's readings mostly in order, 5 % up to 20 minutes late, 10 % a second time."""
        chance = random.Random(f"{self.seed} sent")
        return self._arriving(
            self._set(duplicates, chance),
            lambda item: item.ts + (chance.uniform(0, 1_200_000) if chance.random() < late else chance.uniform(0, 400)))

    def in_order(self, duplicates=0.0):
        return self._arriving(self._set(duplicates, random.Random(f"{self.seed} order")), lambda item: item.ts)

    def shuffled(self, within_ms=None, duplicates=0.0):
        """Any order within spans of so many milliseconds; None: any order at all. The ticks come from a clock that is later."""
        chance = random.Random(f"{self.seed} shuffled {within_ms}")
        items, length = self._set(duplicates, chance), self.end_ms - BEGIN_MS
        span = within_ms or length
        return self._arriving(
            items, lambda item: self.end_ms + (item.ts - BEGIN_MS) // span * span + chance.uniform(0, span))
