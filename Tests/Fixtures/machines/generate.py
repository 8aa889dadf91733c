"""Makes readings.jsonl (seeded, synthetic) and expected.json (the alerts that must come of it).

The expectation is written from the specification's table alone and shares no code with Drover: for every machine and
parameter it walks the readings and applies "strictly above/below, resolved past the clear value, worst value since".
Run: python3 generate.py
"""
import json
import random

T0 = 1_789_344_000_000  # 2026-09-14T00:00:00Z
STEP = 600_000          # a reading every ten minutes
N = 288                 # two days
DAY = 86_400_000
rnd = random.Random(20260914)

MACHINES = [
    ("combine-1", "S690 Combine", "overheats in the afternoon of the first day, past the engine-stop limit"),
    ("combine-2", "S690 Combine", "healthy"),
    ("sprayer-1", "R4038 Sprayer", "leaks a tyre slowly, is inflated on the second day"),
    ("tractor-1", "8R Tractor", "runs low on fuel, loses GPS for 40 minutes"),
    ("tractor-2", "8R Tractor", "its last reprogramming failed, and it has not called in for six days"),
    ("loader-1", "544K Loader", "a model without thresholds: shown, no alert"),
]
BASE = {  # fuel, coolant, hydraulic oil, tyre
    "S690 Combine": (300, 74, 46, 193), "R4038 Sprayer": (140, 75, 70, 441),
    "8R Tractor": (180, 74, 46, 80), "544K Loader": (60, 99, 99, 10),
}


def wave(i, start, length, height):
    """A rise and fall of `height` over `length` readings."""
    at = i - start
    if at < 0 or at > length:
        return 0.0
    half = length / 2
    return height * (1 - abs(at - half) / half)


def reading(vehicle, model, i):
    fuel, coolant, oil, tyre = BASE[model]
    ts = T0 + i * STEP
    r = {"schema": 1, "kind": "reading", "id": f"{vehicle}-{i:04d}", "vehicle": vehicle, "ts": ts, "model": model,
         "serial": "MTG-" + vehicle.upper(), "firmware": "4.11.2"}
    values = {
        "engine_hours_h": round(1200 + i * STEP / 3_600_000, 2), "engine_turn_on_count": 800 + i // 60,
        "key_turn_on_count": 1500 + i // 30,
        "fuel_level_gal": round(fuel - (i % 144) * 0.4 + rnd.uniform(-0.3, 0.3), 1),
        "coolant_c": round(coolant + rnd.uniform(-2, 2), 1), "hydraulic_oil_c": round(oil + rnd.uniform(-2, 2), 1),
        "tire_pressure_kpa": round(tyre + rnd.uniform(-1.5, 1.5), 1), "gps_available": True, "gps_fix_ts": ts - 4000,
        "latitude_deg": round(41.6 + rnd.uniform(-0.01, 0.01), 6), "longitude_deg": round(-93.6 + rnd.uniform(-0.01, 0.01), 6),
        "rda_license": True, "wdt_license": vehicle != "sprayer-1", "machine_sync": True,
        "connected_devices": 1, "connected_device_names": ["StarFire 6000"],
        "last_cell_call_in_ts": ts - 3_600_000 * 5, "last_reprogramming_ok": True, "last_reprogramming_ts": T0 - 90 * DAY,
    }
    if vehicle == "combine-1":
        values["coolant_c"] = round(values["coolant_c"] + wave(i, 78, 24, 26), 1)
        values["hydraulic_oil_c"] = round(values["hydraulic_oil_c"] + wave(i, 84, 20, 14), 1)
    if vehicle == "sprayer-1" and i >= 40:
        values["tire_pressure_kpa"] = round(441 - (i - 40) * 0.25 if i < 200 else 441 + rnd.uniform(-1, 1), 1)
    if vehicle == "tractor-1":
        values["fuel_level_gal"] = round(max(20, 180 - i * 0.9) if i < 200 else 180 - (i - 200) * 0.5, 1)
        if 100 <= i < 104:
            values["gps_available"] = False
            del values["gps_fix_ts"], values["latitude_deg"], values["longitude_deg"]
    if vehicle == "tractor-2":
        values["last_reprogramming_ok"] = i < 30 or i >= 250
        values["last_cell_call_in_ts"] = T0 - 4 * DAY if i < 220 else ts - 60_000
    r.update(values)
    return r


# parameter: (key, {model: (test, threshold, critical, clear)}) as in the specification, clear as in the shipped files
RULES = {
    "Fuel Level": ("fuel_level_gal", {"S690 Combine": ("below", 65, None, 70), "R4038 Sprayer": ("below", 40, None, 44), "8R Tractor": ("below", 50, None, 54)}),
    "Coolant Temperature": ("coolant_c", {m: ("above", 85, 95, 82) for m in ("S690 Combine", "R4038 Sprayer", "8R Tractor")}),
    "Hydraulic Oil Temperature": ("hydraulic_oil_c", {"S690 Combine": ("above", 55, None, 52), "R4038 Sprayer": ("above", 88, None, 85), "8R Tractor": ("above", 55, None, 52)}),
    "Tire Pressure": ("tire_pressure_kpa", {"S690 Combine": ("below", 160, None, 165), "R4038 Sprayer": ("below", 420, None, 425), "8R Tractor": ("below", 70, None, 72)}),
    "Last Reprogramming Status": ("last_reprogramming_ok", {m: ("below", 1, None, 1) for m in ("S690 Combine", "R4038 Sprayer", "8R Tractor")}),
    "Last Cell Call In": ("last_cell_call_in_ts", {m: ("above", 5, None, 5) for m in ("S690 Combine", "R4038 Sprayer", "8R Tractor")}),
}


def value(r, key):
    if key not in r:
        return None
    if key == "last_cell_call_in_ts":
        return (r["ts"] - r[key]) / DAY
    return float(r[key])


def expected(readings):
    out = []
    model = readings[0]["model"]
    for parameter, (key, models) in RULES.items():
        if model not in models:
            continue
        test, limit, critical, clear = models[model]
        beyond = (lambda v, l: v > l) if test == "above" else (lambda v, l: v < l)
        open_ = before = None
        for r in readings:
            v = value(r, key)
            if open_ is None:
                if beyond(v, limit):
                    opened = r["ts"]
                    # An age passes its limit between readings: the alert opens at that time.
                    if key == "last_cell_call_in_ts" and before:
                        opened = max(before["ts"], before[key] + limit * DAY)
                    open_ = {"opened": opened, "worst": v, "severity": "warning"}
            elif not beyond(v, clear):
                out.append((parameter, open_, r["ts"]))
                open_ = None
            if open_:
                open_["worst"] = max(open_["worst"], v) if test == "above" else min(open_["worst"], v)
                if critical is not None and beyond(v, critical):
                    open_["severity"] = "critical"
            before = r
        if open_:
            out.append((parameter, open_, None))
    # GPS: not available for more than five minutes; the first reading beyond that opens, an available one resolves.
    if model in RULES["Fuel Level"][1]:
        since = opened = None
        for r in readings:
            if r["gps_available"]:
                if opened:
                    out.append(("GPS Available", {"opened": opened, "worst": 0, "severity": "warning"}, r["ts"]))
                since = opened = None
            else:
                since = since or r["ts"]
                if not opened and r["ts"] - since > 300_000:
                    opened = r["ts"]
        # No service was ever recorded: open from the first reading on.
        out.append(("Engine Hours", {"opened": readings[0]["ts"], "worst": max(r["engine_hours_h"] for r in readings), "severity": "warning"}, None))
    return out


def main():
    every = {v: [reading(v, m, i) for i in range(N)] for v, m, _ in MACHINES}
    with open("readings.jsonl", "w") as f:
        for i in range(N):
            for vehicle, _, _ in MACHINES:
                f.write(json.dumps(every[vehicle][i], separators=(",", ":")) + "\n")
    rows = []
    for vehicle, readings in every.items():
        for parameter, episode, resolved in expected(readings):
            rows.append({"vehicle": vehicle, "parameter": parameter, "severity": episode["severity"], "opened_ts": episode["opened"],
                         "resolved_ts": resolved, "worst_value": round(episode["worst"], 3)})
    rows.sort(key=lambda r: (r["vehicle"], r["parameter"], r["opened_ts"]))
    with open("expected.json", "w") as f:
        json.dump(rows, f, indent=1)
        f.write("\n")


main()
