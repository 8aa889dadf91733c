"""Figures of trips against a second computation that shares nothing with the program: plain Python, straight from the
words of docs/fleet-manager.md."""
import csv
import json
from bisect import bisect_right
from itertools import pairwise

import pytest

GAP_MS = 10_000
KIT = {"speed": "Vehicle Speed Sensor [km/h]", "rpm": "Engine RPM [RPM]"}
ETIOS = {
    "speed": "VEHICLE_SPEED", "rpm": "ENGINE_RPM", "pressure": "INTAKE_MANIFOLD_PRESSURE", "intake": "INTAKE_AIR_TEMP",
    "short": "SHORT_TERM_FUEL_TRIM_BANK_1", "long": "LONG_TERM_FUEL_TRIM_BANK_1",
}


def clock_ms(text):
    hours, minutes, seconds = text.split(":")
    return int(hours) * 3_600_000 + int(minutes) * 60_000 + round(float(seconds) * 1_000)


def read(path, columns):
    """Times in ms and rows of the columns, numbers or None."""
    rows = []
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            ts = clock_ms(row["Time"]) if "Time" in row else round(float(row["t_s"]) * 1_000)
            values = {name: float(row[column]) if row[column] else None for name, column in columns.items()}
            rows.append((ts, values))
    return rows


def speeds(rows):
    """Speed in m/s by time. Rows of one time that say different things stand a millisecond apart."""
    points = []
    for ts, row in rows:
        if row["speed"] is None:
            continue
        if points and ts <= points[-1][0]:
            if points[-1][1] == row["speed"] / 3.6:
                continue
            ts = points[-1][0] + 1
        points.append((ts, row["speed"] / 3.6))
    return points


def runs(points):
    run = points[:1]
    for a, b in pairwise(points):
        if b[0] - a[0] > GAP_MS:
            yield run
            run = []
        run.append(b)
    yield run


def speed_at(run, ts):
    after = bisect_right(run, (ts, float("inf")))
    (t0, v0), (t1, v1) = run[after - 1], run[min(after, len(run) - 1)]
    return v0 if t1 == t0 else v0 + (v1 - v0) * (ts - t0) / (t1 - t0)


def mean(run, start, end):
    inner = run[bisect_right(run, (start, float("inf"))):bisect_right(run, (end - 1, float("inf")))]
    points = [(start, speed_at(run, start)), *inner, (end, speed_at(run, end))]
    return sum((a[1] + b[1]) / 2 * (b[0] - a[0]) for a, b in pairwise(points)) / (end - start)


def severity(points):
    up = down = 0.0
    for run in runs(points):
        second = -(-run[0][0] // 1_000) * 1_000
        while second + 4_000 <= run[-1][0]:
            change = (mean(run, second + 2_000, second + 4_000) - mean(run, second, second + 2_000)) / 2
            up, down = up + max(0, change) ** 2, down + max(0, -change) ** 2
            second += 1_000
    return up, down


def peaks(points):
    best = worst = 0.0
    for run in runs(points):
        for ts, speed in run:
            if ts - 1_000 >= run[0][0]:
                change = speed - speed_at(run, ts - 1_000)
                best, worst = max(best, change), max(worst, -change)
    return best, worst


def density_litres(rows, displacement_l, efficiency):
    """Speed-density (ideal gas law, a filling in two turns) with trims; gasoline."""
    flows = []
    for ts, row in rows:
        if None in (row["rpm"], row["pressure"], row["intake"]):
            continue
        air = row["rpm"] * row["pressure"] / (row["intake"] + 273.15) / 120 * efficiency * displacement_l * 28.97 / 8.314
        flows.append((ts, air * (1 + (row["short"] + row["long"]) / 100)))
    grams = sum((a[1] + b[1]) / 2 * (b[0] - a[0]) / 1_000 for a, b in pairwise(flows) if b[0] - a[0] <= GAP_MS)
    return grams / 14.7 / 745


def figures(drover, path, *options):
    [trip] = json.loads(drover.done("trips", path, "--trip-gap", "100000", "--format", "json", *options).out)
    return trip


def kit(folder):
    return sorted(folder.glob("*Seat_Leon*.csv"))


def check(drover, path):
    trip, points = figures(drover, path), speeds(read(path, KIT))
    (up, down), (best, worst) = severity(points), peaks(points)
    assert trip["acceleration_severity_m2ps3"] == pytest.approx(up, rel=2e-3, abs=0.01)
    assert trip["braking_severity_m2ps3"] == pytest.approx(down, rel=2e-3, abs=0.01)
    assert trip["max_acceleration_mps2"] == pytest.approx(best, abs=0.002)
    assert trip["max_braking_mps2"] == pytest.approx(worst, abs=0.002)


def test_peaks_and_severity_of_the_shipped_drives(drover, fixtures):
    paths = kit(fixtures / "cars" / "kit-seat-leon")
    for path in paths:
        check(drover, path)
    assert len(paths) == 6


@pytest.mark.needs_shared
def test_peaks_and_severity_of_all_drives(drover, shared):
    paths = kit(shared / "data" / "obd-kit-seat-leon")
    for path in paths:
        check(drover, path)
    assert len(paths) == 14


def difference(a, b):
    return abs(a - b) / max(a, b)


@pytest.mark.needs_shared
def test_severity_does_not_ask_how_often_the_logger_read(drover, shared):
    """Both drives that exist at 1 Hz and at full rate, and the full rate thinned. The table of decision 9."""
    pairs = [(path, path.with_name(path.name.replace(".full.", ".1hz.")))
             for path in kit(shared / "data" / "obd-kit-seat-leon") if ".full." in path.name]
    assert len(pairs) == 2
    counts, severities = [], []
    for full, slow in pairs:
        fast, slow = figures(drover, full), figures(drover, slow)
        for side, key in (("accelerations", "acceleration"), ("brakings", "braking")):
            count = (slow[f"sharp_{side}"], fast[f"sharp_{side}"])
            hard = (slow[f"{key}_severity_m2ps3"], fast[f"{key}_severity_m2ps3"])
            counts.append(difference(*count))
            severities.append(difference(*hard))
            print(f"{full.name} {side}: counts {count} {counts[-1]:.1%}, severity {hard} {severities[-1]:.1%}")
    assert max(severities) < 0.045 and max(severities) < min(counts) / 8


@pytest.mark.needs_shared
@pytest.mark.parametrize("step_ms", [200, 500, 1_000])
def test_severity_of_a_thinned_drive(drover, shared, tmp_path, step_ms):
    for path in kit(shared / "data" / "obd-kit-seat-leon"):
        if ".full." not in path.name:
            continue
        whole = figures(drover, path)
        for phase in (0, 300, 600):
            header, *lines = path.read_text(encoding="utf-8").splitlines()
            kept, last = [header], None
            for line in lines:
                slot = (clock_ms(line.split(",")[0]) + phase) // step_ms
                if slot != last:
                    kept.append(line)
                last = slot
            thin = tmp_path / path.name
            thin.write_text("\n".join(kept) + "\n", encoding="utf-8")
            part = figures(drover, thin)
            for key in ("acceleration_severity_m2ps3", "braking_severity_m2ps3"):
                assert difference(part[key], whole[key]) < 0.05, (path.name, step_ms, phase, key)


@pytest.mark.needs_shared
def test_fuel_by_speed_density(drover, shared):
    """Toyota Etios, 1496 cm³, without an air flow sensor. Its λ is always 0, which is none."""
    paths = [path for path in sorted((shared / "data" / "obd-carobd-etios").glob("*.csv"))
             if path.name not in ("clock.csv", "expected.csv") and ".original." not in path.name]
    for path in paths:
        trip = figures(drover, path, "--displacement", "1496", "--efficiency", "82")
        assert trip["fuel_method"] == "speed_density"
        wanted = density_litres(read(path, ETIOS), 1.496, 0.82)
        assert trip["fuel_l"] == pytest.approx(wanted, rel=2e-4)
        assert figures(drover, path)["fuel_unknown"] == "displacement is not registered"
        print(f"{path.name}: {trip['fuel_l']} L, {trip['average_mpg']} MPG")
    assert len(paths) == 11


@pytest.mark.parametrize(("fuel", "ratio", "density"), [("ethanol", 9.0, 789), ("methanol", 6.47, 791), ("lpg", 15.6, 538)])
def test_other_fuels_by_the_table(drover, fixtures, fuel, ratio, density):
    path = kit(fixtures / "cars" / "kit-seat-leon")[0]
    gasoline, other = figures(drover, path), figures(drover, path, "--fuel", fuel)
    assert other["fuel_l"] == pytest.approx(gasoline["fuel_l"] * 14.7 * 745 / ratio / density, rel=1e-6)


def test_limits_of_sharp_events_can_be_set(drover, fixtures):
    path = fixtures / "cars" / "kit-seat-leon" / "2018-02-20_Seat_Leon_KA_KA_Frei.1hz.csv"
    counts = [figures(drover, path, *options)["sharp_accelerations"]
              for options in ([], ["--sharp", "4.2"], ["--sharp-speed", "40"], ["--sharp-hold", "900"])]
    points = speeds(read(path, KIT))
    assert counts[0] == 8 and all(count < 8 for count in counts[1:])
    sharp = [ts for run in runs(points) for ts, v in run if ts - 1_000 >= run[0][0] and v - speed_at(run, ts - 1_000) > 4.2]
    assert counts[1] == sum(1 for a, b in pairwise([0, *sharp]) if b - a > 1_100)


def test_an_impossible_value_is_wrong_use(drover, fixtures):
    path = kit(fixtures / "cars" / "kit-seat-leon")[0]
    for options in (["--fuel", "coal"], ["--displacement", "0"], ["--efficiency", "9"], ["--sharp", "nan"]):
        drover.fails("trips", path, *options, says=options[0], code=2)
