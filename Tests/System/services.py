"""Services of others as they speak: OpenWeatherMap, Open-Meteo, OSRM and Nominatim, with a truth of their own.

What is true follows from a seed and the place; the server tells it in the units and shapes of each API. It writes down
every request, and can be made to answer badly.
"""
import gzip
import json
import random
import threading
import time
from datetime import datetime, timedelta, timezone
from math import asin, cos, radians, sin, sqrt
from urllib.parse import parse_qs, unquote, urlsplit

from certificates import self_signed
from stand_ins import Answering, StandIn

KEY = "s3cret-key-of-ours"
OPEN_METEO = {"temperature_2m": ("temperature_c", "°C"), "wind_speed_10m": ("wind_speed_mps", "m/s"),
              "wind_gusts_10m": ("wind_gust_mps", "m/s"), "wind_direction_10m": ("wind_direction_deg", "°"),
              "cloud_cover": ("cloud_cover_pct", "%"), "precipitation": ("precipitation_mm_per_h", "mm"),
              "relative_humidity_2m": ("humidity_pct", "%"), "pressure_msl": ("pressure_hpa", "hPa"),
              "weather_code": ("condition_code", "wmo code")}


def metres(a, b):
    """Great-circle distance, on the sphere that Drover uses (IUGG mean radius)."""
    (p, q), (r, s) = [tuple(map(radians, place)) for place in (a, b)]
    h = sin((r - p) / 2) ** 2 + cos(p) * cos(r) * sin((s - q) / 2) ** 2
    return 2 * 6_371_008.8 * asin(sqrt(h))


class Truth:
    def __init__(self, seed=7):
        self.seed = seed

    def weather(self, latitude, longitude, hour):
        chance = random.Random(f"{self.seed} {latitude:.5f} {longitude:.5f} {int(hour.timestamp()) // 3600}")
        speed = round(chance.uniform(0, 20), 2)
        return {"temperature_c": round(chance.uniform(-25, 38), 2), "wind_speed_mps": speed,
                "wind_gust_mps": round(speed * 1.7, 2), "wind_direction_deg": chance.randrange(360),
                "cloud_cover_pct": chance.randrange(101), "precipitation_mm_per_h": round(chance.uniform(0, 9), 1),
                "humidity_pct": chance.randrange(10, 101), "pressure_hpa": round(chance.uniform(960, 1050), 1),
                "condition_code": chance.choice([200, 500, 800])}

    def way(self, a, b):
        """Seconds and metres by road; one way is not the other."""
        chance = random.Random(f"{self.seed} {a} {b}")
        distance = round(metres(a, b) * chance.uniform(1.1, 1.9), 1)
        return round(distance / chance.uniform(4, 16), 1), distance


def encoded(points):
    """The polyline format as its description tells it, step by step."""
    text, last = "", (0, 0)
    for point in points:
        now = tuple(round(value * 1e5) for value in point)
        for step in (now[0] - last[0], now[1] - last[1]):
            bits = ~(step << 1) if step < 0 else step << 1
            while True:
                chunk, bits = bits & 31, bits >> 5
                text += chr((chunk | 32 if bits else chunk) + 63)
                if not bits:
                    break
        last = now
    return text


class Services(StandIn):
    def __init__(self, folder, truth=None, https=True):
        self.truth, self.asked, self.trick, self.closing = truth or Truth(), [], None, threading.Event()
        # What its own clock shows.
        self.now = lambda: datetime.now(timezone.utc)
        self.began = self.now()
        self.units, self.ignores_units, self.tables_max = {}, False, 10_000
        self.places = {"2121 i street nw": (38.89871, -77.04861), "far away inn": (10.0, 10.0)}
        self.unreachable, self.off_the_map, self.lock = set(), set(), threading.Lock()
        outer = self

        class Handler(Answering):
            kind = "application/json; charset=utf-8"

            def do_GET(self):
                url = urlsplit(self.path)
                query = {key: values[0] for key, values in parse_qs(url.query).items()}
                with outer.lock:
                    outer.asked.append((time.monotonic(), unquote(url.path), query, dict(self.headers)))
                    trick = outer.trick
                outer.wait()
                if trick:
                    return trick(self)
                status, value = outer.answer(unquote(url.path), query)
                self.reply(status, json.dumps(value).encode())

        pair = self_signed(folder, "services") if https else None
        self.certificate = pair and pair[0]
        super().__init__(Handler, pair)

    def close(self):
        self.closing.set()
        super().close()

    def paths(self):
        return [path for _, path, _, _ in self.asked]

    # What each API says.

    def answer(self, path, query):
        if path == "/data/2.5/weather":
            return self.open_weather_map(query, self.now(), lambda hour: self.owm_current(query, hour))
        if path == "/data/3.0/onecall/timemachine":
            hour = datetime.fromtimestamp(int(query["dt"]), timezone.utc)
            return self.open_weather_map(query, hour, lambda hour: {"data": [self.owm_flat(query, hour)]})
        if path in ("/v1/forecast", "/v1/archive"):
            return 200, self.open_meteo(query)
        if path.startswith("/table/v1/driving/"):
            return self.table(path, query)
        if path.startswith("/route/v1/driving/"):
            return 200, self.route(path)
        if path == "/search":
            return 200, self.search(query)
        if path == "/reverse":
            return 200, self.reverse(query)
        return 404, {"code": "NotFound"}

    def open_weather_map(self, query, hour, shape):
        if query.get("appid") != KEY:
            return 401, {"cod": 401, "message": f"Invalid API key {query.get('appid')}"}
        return 200, shape(hour.replace(minute=0, second=0, microsecond=0))

    def owm_values(self, query, hour):
        truth = self.truth.weather(float(query["lat"]), float(query["lon"]), hour)
        # A service that does not do as it is told answers in what its owner finds handy.
        kelvin = 0 if self.ignores_units or query.get("units") == "metric" else 273.15
        return truth, {"temp": round(truth["temperature_c"] + kelvin, 2), "pressure": truth["pressure_hpa"], "humidity": truth["humidity_pct"]}

    def owm_current(self, query, hour):
        truth, main = self.owm_values(query, hour)
        return {"coord": {"lat": float(query["lat"]), "lon": float(query["lon"])}, "main": main,
                "weather": [{"id": truth["condition_code"]}], "clouds": {"all": truth["cloud_cover_pct"]},
                "wind": {"speed": truth["wind_speed_mps"], "deg": truth["wind_direction_deg"], "gust": truth["wind_gust_mps"]},
                "rain": {"1h": truth["precipitation_mm_per_h"]}, "dt": int(hour.timestamp()), "cod": 200}

    def owm_flat(self, query, hour):
        truth, main = self.owm_values(query, hour)
        return {**main, "dt": int(hour.timestamp()), "weather": [{"id": truth["condition_code"]}], "clouds": truth["cloud_cover_pct"],
                "wind_speed": truth["wind_speed_mps"], "wind_deg": truth["wind_direction_deg"], "wind_gust": truth["wind_gust_mps"],
                "rain": {"1h": truth["precipitation_mm_per_h"]}}

    def open_meteo(self, query):
        day = datetime.fromisoformat(query["start_date"]).replace(tzinfo=timezone.utc)
        hours = [day + timedelta(hours=n) for n in range(24)]
        truths = [self.truth.weather(float(query["latitude"]), float(query["longitude"]), hour) for hour in hours]
        units, hourly = {"time": "unixtime"}, {"time": [int(hour.timestamp()) for hour in hours]}
        for column in query["hourly"].split(","):
            name, unit = OPEN_METEO[column]
            unit, convert = self.units.get(column, (unit, lambda value: value))
            units[column], hourly[column] = unit, [convert(truth[name]) for truth in truths]
        return {"latitude": float(query["latitude"]), "longitude": float(query["longitude"]), "utc_offset_seconds": 0,
                "timezone": "GMT", "hourly_units": units, "hourly": hourly}

    @staticmethod
    def coordinates(path):
        return [tuple(reversed(tuple(map(float, pair.split(","))))) for pair in path.rsplit("/", 1)[1].split(";")]

    def table(self, path, query):
        places = self.coordinates(path)
        if len(places) > self.tables_max:
            return 400, {"code": "TooBig", "message": "Too many table coordinates"}
        rows, columns = ([places[int(n)] for n in query[key].split(";")] for key in ("sources", "destinations"))
        ways = [[(None, None) if (a, b) in self.unreachable else self.truth.way(a, b) for b in columns] for a in rows]

        def waypoints(some):
            return [{"distance": 25_000.0 if place in self.off_the_map else 3.2, "location": list(reversed(place))} for place in some]
        return 200, {"code": "Ok", "durations": [[way[0] for way in row] for row in ways],
                     "distances": [[way[1] for way in row] for row in ways], "sources": waypoints(rows), "destinations": waypoints(columns)}

    def road(self, a, b):
        """Over a corner that no straight line has."""
        return [a, (round((a[0] + b[0]) / 2 + 0.002, 5), round((a[1] + b[1]) / 2, 5)), b]

    def route(self, path):
        places = self.coordinates(path)
        points = [places[0]]
        for a, b in zip(places, places[1:]):
            points += self.road(a, b)[1:]
        ways = [self.truth.way(a, b) for a, b in zip(places, places[1:])]
        return {"code": "Ok", "routes": [{"geometry": encoded(points), "duration": sum(way[0] for way in ways), "distance": sum(way[1] for way in ways)}],
                "waypoints": [{"distance": 1.0} for _ in places]}

    def search(self, query):
        found = self.places.get(query["q"].lower())
        return [{"lat": f"{found[0]:.7f}", "lon": f"{found[1]:.7f}", "display_name": f"The house at {found[0]}, {found[1]}"}] if found else []

    def reverse(self, query):
        if float(query["lat"]) < 0:
            return {"error": "Unable to geocode"}
        return {"lat": "38.0000001", "lon": "-77.0000001", "display_name": f"Beside {query['lat']}, {query['lon']}\u202e\u0007!"}


# Ways to answer badly.

def slow(services, seconds=30):
    def trick(handler):
        services.closing.wait(seconds)
    return trick


def status(code, body=b"{}", **headers):
    return lambda handler: handler.reply(code, body, **headers)


def body(content, kind="application/json"):
    return lambda handler: handler.reply(200, content, kind=kind)


def endless(handler):
    """A body that never ends, as fast as it is taken. The socket's error ends it."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    handler.close_connection = True
    while True:
        handler.wfile.write(b"[" * 65_536)


def packed_bomb(handler):
    """A few kilobytes that unpack to far more than is read."""
    handler.reply(200, gzip.compress(b" " * (64 << 20)), Content_Encoding="gzip")


def endless_headers(handler):
    handler.send_response(200)
    handler.close_connection = True
    while True:
        handler.send_header("X-More", "x" * 1_000)
        handler.flush_headers()


def cut_off(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"latitude":')
    handler.close_connection = True


def drip(services):
    """A byte now and then: no single read is slow."""
    def trick(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        while not services.closing.wait(0.05):
            handler.wfile.write(b" ")
    return trick


def deep(handler):
    handler.reply(200, b"[" * 100_000)
