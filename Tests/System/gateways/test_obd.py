"""`drover obd` against another decoder (python-OBD, PyPI `obd`), all values of each byte; in the long form all of two bytes."""
import csv
import functools
import io
import json
import logging
import random
import re
from fractions import Fraction

import obd
import pytest
from harness import Drover, is_long

logging.getLogger("obd").setLevel(logging.CRITICAL)

# Where python-OBD 0.7.3 differs from SAE J1979, each with its reason; it must differ, or the row goes.
MISTAKES = {
    "evap_pressure_pa": "0132: it takes the low byte as signed, too, and is 64 Pa off for half of all values",
    "evap_wide_pa": "0154: it subtracts 32767 where the standard has two's complement",
}
# It rounds two factors of the standard: ours and theirs by formula. What that makes of a value is allowed, and no more.
ROUNDED_FACTORS = {
    "(256A+B)*2/65536": (Fraction(2, 65_536), Fraction(305, 10_000_000)),
    "(256C+D)*8/65536": (Fraction(8, 65_536), Fraction(8, 65_535)),
}
# It decodes one value of a parameter; the first, but for these.
SECOND = [*range(0x24, 0x2C), *range(0x34, 0x3C)]
# No numbers: compared further below. It has no decoder for 4F.
OTHERS = {0x00, 0x01, 0x02, 0x03, 0x12, 0x13, 0x1C, 0x1D, 0x1E, 0x20, 0x40, 0x41, 0x51}
NOT_THERE = {0x4F}


@pytest.fixture(scope="module")
def table(program):
    rows = {}
    for row in json.loads(Drover(program).run("obd", "pids", "--format", "json").out):
        rows.setdefault(int(row["pid"], 16), []).append(row)
    return rows


@pytest.fixture
def decode(drover):
    """Pairs of request and reply in, the rows of each pair out."""

    def run(pairs, *options):
        text = "".join(f"{request}\t{reply}\n" for request, reply in pairs)
        run = drover.done("obd", "decode", "-", "--format", "csv", *options, stdin=text)
        rows = [[] for _ in pairs]
        for row in csv.DictReader(io.StringIO(run.out)):
            rows[int(row["line"]) - 1].append(row)
        return rows

    return run


class Message:
    """All that python-OBD's decoders look at."""

    def __init__(self, data):
        self.data = bytearray(data)


def theirs(pid, data):
    """What python-OBD makes of a parameter's data bytes: a number without its unit, or a structure."""
    value = obd.commands[1][pid].decode([Message(bytes([0x41, pid]) + data)])
    return value.magnitude if hasattr(value, "magnitude") else value


@functools.cache
def data_of(count):
    """All values of one byte, and in the long form of two; of more, all of each byte and some by chance."""
    if count <= (2 if is_long() else 1):
        return [value.to_bytes(count, "big") for value in range(256 ** count)]
    chance = random.Random(count)
    edges = [bytes(value if at == place else fill for at in range(count))
             for place in range(count) for value in range(256) for fill in (0, 255)]
    return edges + [chance.randbytes(count) for _ in range(3_000 if is_long() else 1_000)]


def formula(text):
    """The formula that people read, over exact fractions."""
    text = re.sub(r"(\d)([A-D])", r"\1*\2", text)
    code = compile(re.sub(r"\b(\d+)\b", r"F(\1)", text), text, "eval")
    names = {"F": Fraction, "signed": lambda word: word - 65_536 if word >= 32_768 else word}
    return lambda data: Fraction(eval(code, names, dict(zip("ABCD", data))))


def rounded(value, decimals):
    """Half away from zero, as decimal text without zeros behind."""
    scaled = abs(value) * 10 ** decimals
    whole = (scaled.numerator * 2 + scaled.denominator) // (scaled.denominator * 2)
    text = str(whole).rjust(decimals + 1, "0")
    text = (text[:-decimals] + "." + text[-decimals:]).rstrip("0").rstrip(".") if decimals else text
    return "-" + text if value < 0 and whole else text


@functools.cache
def ours_exactly(text, decimals, count):
    """What the formula makes of all data; many parameters share one."""
    exact = formula(text)
    return [rounded(exact(data), decimals) for data in data_of(count)]


DECODERS = {}


def how_many_differ(text, decimals, pid, count, place):
    """Between the formula, rounded, and python-OBD; a decoder does not see which parameter it decodes."""
    decoder = obd.commands[1][pid].decode
    name = (getattr(decoder, "func", decoder).__name__, tuple(getattr(decoder, "keywords", {}).items()))
    key = (text, decimals, name, count, place)
    if key not in DECODERS:
        ours, theirs_factor = ROUNDED_FACTORS.get(text, (0, 0))
        allowed = Fraction(1, 2 * 10 ** decimals) + Fraction(1, 10 ** 9)
        DECODERS[key] = sum(
            abs(Fraction(value) - Fraction(theirs(pid, data)))
            > allowed + int.from_bytes(data[2 * place:2 * place + 2], "big") * abs(ours - theirs_factor)
            for value, data in zip(ours_exactly(text, decimals, count), data_of(count)))
    return DECODERS[key]


KNOWN = [command.pid for command in obd.commands[1] if command is not None and command.pid not in OTHERS | NOT_THERE | {0x5F}]


# Their count of bytes has mode and parameter in it; it is 4 for the trims of two banks, too. Six at most are asked for
# at once, of one size.
SIZES = {size: [pid for pid in KNOWN if obd.commands[1][pid].bytes - 2 == size] for size in (1, 2, 4)}
GROUPS = [pids[at:at + 6] for pids in SIZES.values() for at in range(0, len(pids), 6)]


def test_the_comparison_leaves_nothing_out(table):
    """Every parameter of ours that python-OBD decodes is in one of the tests."""
    ours = set(table)
    assert ours >= set(KNOWN) | OTHERS | NOT_THERE
    drops = {command.pid for command in obd.commands[1] if getattr(command.decode, "__name__", "") == "drop"}
    assert drops == NOT_THERE | {0x5F}
    assert sorted(pid for group in GROUPS for pid in group) == KNOWN


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: " ".join(f"{pid:02X}" for pid in group))
def test_every_byte_value_is_what_python_obd_says(drover, table, group):
    rows = [row for pid in group for row in table[pid]]
    count = rows[0]["bytes"]
    data = data_of(count)
    request = "01" + "".join(f"{pid:02X}" for pid in group)
    text = "".join(f"{request}\t41{''.join(f'{pid:02X}{each.hex()}' for pid in group)}\n" for each in data)
    _, lines, _, _, keys, values, _, _ = zip(*csv.reader(io.StringIO(drover.done("obd", "decode", "-", "--format", "csv", stdin=text).out)))
    assert list(keys[1:]) == [row["key"] for row in rows] * len(data)
    assert list(lines[1::len(rows)]) == [str(line + 1) for line in range(len(data))]
    for place, row in enumerate(rows):
        pid, decimals = int(row["pid"], 16), row["decimals"]
        assert list(values[1 + place::len(rows)]) == ours_exactly(row["formula"], decimals, count), row["key"]
        which = table[pid].index(row)
        if which == (1 if pid in SECOND else 0):
            differing = how_many_differ(row["formula"], decimals, pid, count, which)
            assert (differing > 0) == (row["key"] in MISTAKES), f"{row['key']}: {differing} of {len(data)} differ"


def test_all_trouble_codes_are_what_python_obd_says(decode):
    """All 65,536 in the long form, in every mode that lists them and with and without a count; 0000 is padding."""
    codes = [value.to_bytes(2, "big") for value in range(65_536)] if is_long() else sorted({bytes(2), *data_of(2)})
    # It writes hexadecimal digits small.
    expected = [(obd.decoders.parse_dtc(tuple(code)) or ("",))[0].upper() for code in codes]
    for request, form, key in [("03", "4301{}", "stored_code"), ("07", "47{}00000000", "pending_code"), ("0A", "4A{}", "permanent_code")]:
        found = decode([(request, form.format(code.hex())) for code in codes])
        assert [[(row["key"], row["value"]) for row in rows] for rows in found] == [[(key, code)] for code in expected]
    # Of a freeze frame it makes P0000 where there is none: its own test for padding misses an array of bytes.
    found = decode([("0102", f"4102{code.hex()}") for code in codes])
    assert [rows[0]["value"] for rows in found] == ["none", *expected[1:]]
    assert theirs(0x02, codes[0])[0] == "P0000"
    assert all(theirs(0x02, code)[0].upper() == text for code, text in zip(codes[1:], expected[1:]))


def test_readiness_is_what_python_obd_says(decode):
    names = {
        "MISFIRE_MONITORING": "misfire", "FUEL_SYSTEM_MONITORING": "fuel system", "COMPONENT_MONITORING": "components",
        "CATALYST_MONITORING": "catalyst", "HEATED_CATALYST_MONITORING": "heated catalyst",
        "EVAPORATIVE_SYSTEM_MONITORING": "evaporative system", "SECONDARY_AIR_SYSTEM_MONITORING": "secondary air",
        "OXYGEN_SENSOR_MONITORING": "oxygen sensor", "OXYGEN_SENSOR_HEATER_MONITORING": "oxygen sensor heater",
        "EGR_VVT_SYSTEM_MONITORING": "EGR or VVT", "NMHC_CATALYST_MONITORING": "NMHC catalyst",
        "NOX_SCR_AFTERTREATMENT_MONITORING": "NOx aftertreatment", "BOOST_PRESSURE_MONITORING": "boost pressure",
        "EXHAUST_GAS_SENSOR_MONITORING": "exhaust gas sensor", "PM_FILTER_MONITORING": "particulate filter",
    }
    # Bits that it leaves out: byte C, bit 4 is the filter of gasoline cars; 2 and 4 of diesels are reserved.
    left_out = {"gasoline particulate filter", "reserved 2", "reserved 4"}
    for pid in (0x01, 0x41):
        data = data_of(4)
        for each, [row] in zip(data, decode([(f"01{pid:02X}", f"41{pid:02X}{each.hex()}") for each in data])):
            status = theirs(pid, each)
            parts = row["value"].split("; ")
            if pid == 0x01:
                count = f"{status.DTC_count} code{'' if status.DTC_count == 1 else 's'}"
                assert parts[:2] == ["lamp on" if status.MIL else "lamp off", count]
            ours = set(re.sub(r"^(not ready: |all monitors complete)", "", parts[-1]).split(", ")) - {""} - left_out
            tests = [test for test in vars(status).values() if hasattr(test, "available") and test.name]
            assert ours == {names[test.name] for test in tests if test.available and not test.complete}, each.hex()


@pytest.mark.parametrize("pid", [0x00, 0x20, 0x40])
def test_supported_parameters_are_what_python_obd_says(decode, pid):
    data = data_of(4)
    for each, [row] in zip(data, decode([(f"01{pid:02X}", f"41{pid:02X}{each.hex()}") for each in data])):
        bits = theirs(pid, each)
        listed = [f"{pid + 1 + place:02X}" for place in range(32) if bits[place]]
        assert row["value"] == (" ".join(listed) or "none"), each.hex()


def test_choices_are_what_python_obd_says(decode):
    def values(pid, data=None):
        data = data or data_of(1)
        return zip(data, decode([(f"01{pid:02X}", f"41{pid:02X}{each.hex()}") for each in data]))

    for each, [row] in values(0x51):
        other = theirs(0x51, each)
        assert row["value"].lower() == (other.lower() if other else f"{each[0]} (unknown)")
    # It knows what 1C = 33 is, and calls stage VI stage IV; 0 and the reserved ones are no standard.
    for each, [row] in values(0x1C):
        other = theirs(0x1C, each)
        if other in (None, "Reserved", "Undefined"):
            assert row["value"] == f"{each[0]} (unknown)"
        else:
            words = set(re.findall(r"\b[A-Z][A-Zb]*OBD[A-Za-z]*|CARB|EPA|EMD|JOBD|KOBD|IOBD|OBDBr", row["value"]))
            assert words <= set(re.findall(r"[A-Za-z]+", other)), (row["value"], other)
    fuel = {"": None, "temperature": "open loop: engine too cold", "using oxygen": "closed loop",
            "engine load": "open loop: load, or fuel cut on overrun", "system failure": "open loop: fault",
            "fault in the feedback": "closed loop with a faulty sensor"}
    for each, rows in values(0x03, data_of(2)):
        other = theirs(0x03, each) or ("", "")
        for byte, row, text in zip(each, rows, other):
            expected = next(ours for part, ours in reversed(fuel.items()) if part in text)
            assert row["value"] == (expected or ("off or absent" if byte == 0 else f"{byte} (unknown)"))
    air = {1: "Upstream", 2: "Downstream of catalytic converter", 4: "From the outside atmosphere or off", 8: "Pump commanded on for diagnostics"}
    ours = {1: "upstream of the catalyst", 2: "downstream of the catalyst", 4: "from outside, or off", 8: "pump on for diagnosis"}
    for each, [row] in values(0x12):
        assert row["value"] == ours.get(each[0], f"{each[0]} (unknown)")
        # Its table ends before the highest bits: there it fails.
        if each[0] not in (16, 32, 64, 128):
            assert theirs(0x12, each) == air.get(each[0])


def test_flags_are_those_of_the_standard_where_python_obd_mirrors_them(decode):
    """It counts bits from the other end in 0113, 011D and 011E: A0 is bank 1, sensor 1, and the power take-off."""
    for pid, banks, sensors in [(0x13, 2, 4), (0x1D, 4, 2)]:
        data = data_of(1)
        for each, [row] in zip(data, decode([(f"01{pid:02X}", f"41{pid:02X}{each.hex()}") for each in data])):
            ours = set(re.findall(r"bank (\d), sensor (\d)", row["value"]))
            standard = {(str(bit // sensors + 1), str(bit % sensors + 1)) for bit in range(8) if each[0] >> bit & 1}
            there = theirs(pid, each)
            mirrored = {(str(banks + 1 - bank), str(sensors - place)) for bank in range(1, banks + 1) for place in range(sensors) if there[bank][place]}
            assert ours == standard == mirrored
    data = data_of(1)
    for each, [row] in zip(data, decode([("011E", f"411E{each.hex()}") for each in data])):
        assert row["value"] == ("power take-off active" if each[0] & 1 else "none")
        assert theirs(0x1E, each) == bool(each[0] & 0x80)


def test_a_freeze_frame_has_the_same_values(decode, table):
    """Mode 02 is mode 01 with the number of the frame in between."""
    chance = random.Random(2)
    pairs = []
    for pid, rows in table.items():
        data = chance.randbytes(rows[0]["bytes"]).hex()
        pairs += [(f"01{pid:02X}", f"41{pid:02X}{data}"), (f"02{pid:02X}00", f"42{pid:02X}00{data}")]
    found = decode(pairs)
    for now, frozen in zip(found[::2], found[1::2]):
        assert [(row["key"], row["value"], row["of"]) for row in now] == [(row["key"], row["value"], row["of"]) for row in frozen]
        assert all(row["key"] not in ("fault", "payload") for row in now)
