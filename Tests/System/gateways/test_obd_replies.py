"""Recorded replies of real cars (../shared/data/elm327-replies), and what `drover obd` prints of them."""
import csv
import json
import re

import pytest
from harness import ROOT
from test_obd import decode, formula, rounded  # noqa: F401 (a fixture)

pytestmark = pytest.mark.needs_shared


def facts(rows):
    return [(row["key"], row["value"]) for row in rows]


def toyota(shared):
    """Request, and the frames (sender, bytes) or the text of each recorded reply. CC BY-NC-SA: read where it lies."""
    replies = {}
    path = shared / "data" / "elm327-replies" / "toyota-auris-hybrid.tsv"
    for row in csv.DictReader(path.open(), delimiter="\t"):
        request = re.sub(r"^\^|\[0123456\]\?\$$", "", row["request_regex"])
        request = "0100" if row["key"] == "NO_DATA" else request
        replies.setdefault((row["scenario"], row["key"], request, row["variant"], row["description"]), []).append(row)
    for (_, key, request, _, _), rows in replies.items():
        if rows[0]["header"]:
            yield key, request, [(row["header"], bytes.fromhex(row["size_hex"] + row["data"])) for row in rows], None
        else:
            yield key, request, None, rows[0]["data"].strip()


def payloads(frames):
    """ISO 15765-2 by hand: answers by sender, in the order of their first frames."""
    answers = {}
    for sender, frame in frames:
        if frame[0] >> 4 == 0:
            answers.setdefault(sender, []).append([frame[0], frame[1:]])
        elif frame[0] >> 4 == 1:
            answers.setdefault(sender, []).append([(frame[0] & 15) << 8 | frame[1], frame[2:]])
        else:
            assert frame[0] >> 4 == 2
            answers[sender][-1][1] += frame[1:]
    return [(sender, data[:length]) for sender, all_of_it in answers.items() for length, data in all_of_it]


def forms(frames):
    """The same frames as four settings of an adapter print them, with echo or without."""
    yield "ATH1", "".join(f"{sender} {frame.hex(' ').upper()} \\r" for sender, frame in frames) + "\\r", True
    yield "ATH1 ATS0 ATE1", "{}\\r" + "".join(f"{sender}{frame.hex()}\\r" for sender, frame in frames), True
    longs = [answer for answer in payloads(frames) if len(answer[1]) > 7]
    if len(longs) <= 1:
        lines = []
        for _, data in payloads(frames):
            if len(data) <= 7:
                lines.append(data.hex(" ").upper())
            else:
                pieces = [data[:6]] + [data[at:at + 7].ljust(7, b"\0") for at in range(6, len(data), 7)]
                lines += [f"{len(data):03X}"] + [f"{number % 16:X}: {piece.hex(' ').upper()}" for number, piece in enumerate(pieces)]
        yield "ATH0", "\\r\\n".join(lines) + "\\r\\n", False
        # All lines glued, as some programs log them; only one answer can stand so.
        if len(payloads(frames)) == 1:
            yield "ATH0 ATS0, glued", "SEARCHING..." + "".join(lines).replace(" ", ""), False


def test_every_reply_of_the_toyota_is_its_frames_put_together(decode, shared):
    pairs, expected, undecoded = [], [], set()
    for key, request, frames, text in toyota(shared):
        if frames is None:
            pairs.append((request, text))
            expected.append(("text", text))
            continue
        for name, reply, has_headers in forms(frames):
            pairs.append((request, reply.format(request) if "{}" in reply else reply))
            expected.append((f"{key} {name}", [(sender if has_headers else "", data) for sender, data in payloads(frames)]))
    assert len({request for request, _ in pairs}) > 90 and len(pairs) > 700
    # What the bytes mean is compared with another decoder in test_obd.py: here each answer alone, in one plain line.
    alone = decode([(request, data.hex()) for (request, _), (_, answers) in zip(pairs, expected) if not isinstance(answers, str) for _, data in answers])
    for (request, _), (name, answers), rows in zip(pairs, expected, decode(pairs)):
        if name == "text":
            assert [row["key"] for row in rows] == ["adapter" if answers.startswith("OBDII") else "fault"], (request, answers)
            assert answers in (rows[0]["value"] or rows[0]["text"])
            continue
        plain = [(sender, row["key"], row["value"], row["of"]) for sender, data in answers for row in alone.pop(0)]
        # The same of two units without names is one answer a line; nothing is lost.
        assert [(row["unit"], row["key"], row["value"], row["of"]) for row in rows] == plain, (request, name)
        assert all(row["key"] != "fault" for row in rows), (request, name, rows)
        if rows[0]["key"] == "payload":
            undecoded.add(request[:2])
            assert [row["value"] for row in rows] == [data.hex() for _, data in answers]
    assert not alone
    # 04 says that codes were cleared, 06 are test results of monitors, 21 is the maker's own; of 09 only counts and the
    # mask stay bytes.
    assert undecoded == {"04", "06", "09", "21"}


def test_what_the_toyota_says_of_itself(decode, shared):
    said = {}
    replies = [(request, reply) for _, request, frames, _ in toyota(shared) if frames for _, reply, _ in list(forms(frames))[:1]]
    for (request, _), rows in zip(replies, decode(replies)):
        said.setdefault(request, facts(rows))
    assert said["0904"] == [("calibration_id", "312J6000"), ("calibration_id", "A4701000")]
    assert said["0906"] == [("calibration_check", "6953CD4B"), ("calibration_check", "611F6EF2")]
    assert said["090A"] == [("unit_name", "ECM-EngineControl")]
    assert said["03"] == [("stored_code", "")] and said["020200"] == [("freeze_code", "none")]
    assert said["0101"] == [("readiness", "lamp off; 0 codes; all monitors complete")]
    assert said["0151"] == [("fuel_type", "gasoline")] and said["0133"] == [("barometric_kpa", "97")]


def test_every_payload_of_the_etios_is_its_formula(drover, decode, shared):
    table = {}
    for row in json.loads(drover.run("obd", "pids", "--format", "json").out):
        table.setdefault(int(row["pid"], 16), []).append(row)
    payloads, headings = [], []
    for line in (shared / "data" / "elm327-replies" / "toyota-etios-raw-payloads.txt").read_text().splitlines():
        found = re.fullmatch(r"[0-9.]+:([0-9a-f]+),?\s*", line)
        (payloads.append(bytes.fromhex(found[1])) if found else headings.append(line))
    assert len(payloads) > 150 and all(re.match(r"-{20}|Battery voltage|\s*$", line) for line in headings), headings
    found = decode([(f"01{payload[0]:02x}", f"41{payload.hex()}") for payload in payloads])
    for payload, rows in zip(payloads, found):
        ours = table[payload[0]]
        assert [row["key"] for row in rows] == [row["key"] for row in ours], payload.hex()
        for row, of in zip(rows, ours):
            assert row["value"] == rounded(formula(of["formula"])(payload[1:]), of["decimals"]), payload.hex()


# ObdMetrics' own test strings, by request and reply: what they say by SAE J1979, or why nothing.
OBDMETRICS = {
    ("0105", "410522"): [("coolant_c", "-6")],
    ("010B", "410b35"): [("map_kpa", "53")],
    ("010C", "410c541B"): [("rpm", "5382.75")], ("010C", "410C541B"): [("rpm", "5382.75")],
    ("0115", "4115FFff"): [("o2_2_v", "1.275"), ("o2_2_trim_pct", "99.21875")],
    ("0100", "4100be3ea813"): [("supported_01", "01 03 04 05 06 07 0B 0C 0D 0E 0F 11 13 15 1C 1F 20")],
    ("0902", "SEARCHING...0140:4902015756571:5A5A5A314B5A412:4D363930333932"): [("vin", "WVWZZZ1KZAM690392")],
    ("ATRV", "12v"): [("adapter_voltage_v", "12")],
    ("01 0B 05 1", "410Bff0500"): [("map_kpa", "255"), ("coolant_c", "-40")],
    ("01 0C 0F 1", "410c00000f00"): [("rpm", "0"), ("intake_air_c", "-40")],
    # 06 and 07 have one byte each, 10, 15 and 0C two: a reply in the order of the request, padded with AA.
    ("01 06 07 10 15 05 0B 3", "00C0:410680078B151:5AFF05000BFFAA"): [
        ("short_fuel_trim_pct", "0"), ("long_fuel_trim_pct", "8.59375"), ("o2_2_v", "0.45"), ("o2_2_trim_pct", "99.21875"),
        ("coolant_c", "-40"), ("map_kpa", "255")],
    ("01 0B 0C 11 0D 05 0F 3", "00E0:410BFF0C00001:11000D0005000F2:00AAAAAAAAAAAA"): [
        ("map_kpa", "255"), ("rpm", "0"), ("throttle_pct", "0"), ("speed_kmh", "0"), ("coolant_c", "-40"), ("intake_air_c", "-40")],
    # Hand-made by their author: a reply to 0140 under the name 0200, which is no request of that.
    ("0200", "4140fed00400"): "`4140fed00400` answers another request",
    ("010D", ""): "the adapter answered with nothing",
    ("0111", "no data"): "NO DATA", ("221935", "nodata"): "NO DATA",
    ("22194f", "stopped"): "STOPPED", ("221812", "unabletoconnect"): "UNABLE TO CONNECT",
    ("222000", "xxxxxxxxxxxxxx"): "`XXXXXXXXXXXXXX` is neither data nor a message",
    ("221000", ""): "the adapter answered with nothing",
    ("14FFFFFF", "22"): "`22` answers another request",
    # One digit too many in the request: it asks for 2181, and the reply is about 181F.
    ("222181F", "62181F0119"): "`62181f0119` answers another request",
    # Several lines: put together and cut to their length. ISO 14229 has the codes of mode 19 in a form of its own.
    ("19020D", "00F0:5902CF26E4001:482BC10048D0082:00480"): [("payload", "5902cf26e400482bc10048d0080048")],
    ("22 194F 1003 1935 2", "00B0:62194F2E65101:0348193548"): [("payload", "62194f2e65100348193548")],
    ("22F191", "00E0:62F1913532301:353533323020202:20"): [("payload", "62f1913532303535333230202020")],
    ("22F192", "00E0:62F1924D4D311:304A41485732332:32"): [("payload", "62f1924d4d31304a414857323332")],
    ("22F187", "00E0:62F1873530351:353938353220202:20"): [("payload", "62f1873530353539383532202020")],
    ("22F190", "0140:62F1905A41521:454145424E394B2:37363137323839"): [("payload", "62f1905a4152454145424e394b37363137323839")],
    ("22F18C", "0120:62F18C5444341:313930393539452:3031343430"): [("payload", "62f18c5444343139303935394530313434" + "30")],
    ("22F194", "00E0:62F1945031341:315641304520202:20"): [("payload", "62f1945031343156413045202020")],
}


def test_every_string_of_obdmetrics_is_decoded_or_says_why_not(decode, shared):
    pairs = []
    for path in sorted((shared / "data" / "elm327-replies" / "obdmetrics").glob("*.tsv")):
        for row in csv.DictReader(path.open(), delimiter="\t"):
            pairs.append((row["request"], row["reply"] or ""))
    assert len(pairs) > 100
    seen = set()
    for (request, reply), rows in zip(pairs, decode(pairs)):
        # Letters differ from file to file.
        expected = next((said for (asked, answered), said in OBDMETRICS.items() if (asked.lower(), answered.lower()) == (request.lower(), reply.lower())), None)
        if expected is None:
            # The rest are single lines of the maker's own services.
            assert request[:2] in ("22", "14") and re.fullmatch(r"(62|54)[0-9A-Fa-f]*", reply), (request, reply)
            expected = [("payload", reply.lower())]
        if isinstance(expected, str):
            assert [row["key"] for row in rows] == ["fault"] and rows[0]["text"].startswith(expected), (request, reply, rows)
            seen.add(expected)
        else:
            assert facts(rows) == expected, (request, reply)
            if expected[0][0] == "payload":
                assert rows[0]["text"] == f"not decoded: service {request[:2]} is the maker's own"
    assert len(seen) >= 6


def test_the_session_of_the_docs_prints_every_kind_of_row(drover):
    run = drover.run("obd", "decode", ROOT / "Tests" / "Fixtures" / "obd" / "session.txt", "--format", "json")
    assert run.code == 0 and "3 of " in run.err
    keys = {row["key"] for row in json.loads(run.out)}
    assert keys >= {"adapter", "adapter_voltage_v", "supported_01", "readiness", "rpm", "stored_code", "pending_code",
                    "permanent_code", "freeze_code", "vin", "fault", "payload"}
    assert {type(row["value"]) for row in json.loads(run.out) if row["key"] in ("rpm", "maf_gps")} <= {int, float}


@pytest.mark.parametrize("text, code, says", [
    ("", 1, "holds no request"), ("hello\nworld\n", 1, "holds no request"), (">zz\n41 0C 1A F8\n", 0, "is no request"),
    (">41 0C 1A F8\r>", 0, "this looks like a reply without its request"), (">010C\r" + "4" * 9_000, 0, "more than 8192 bytes"),
    (">010C\r\x00\xff\r>", 0, "is neither data nor a message"),
])
def test_a_bad_transcript_says_what_to_do(drover, text, code, says):
    run = drover.run("obd", "decode", "-", stdin=text)
    assert run.code == code and says in run.out + run.err


def test_codes_of_a_make_come_from_its_file(drover, tmp_path):
    (tmp_path / "generic.csv").write_bytes((ROOT / "Deploy" / "trouble-codes" / "generic.csv").read_bytes())
    (tmp_path / "land-rover.csv").write_text('code,description\nP1100,"Own, of the maker"\n')
    run = drover.run("obd", "code", "P1100", "p0133", "--codes", tmp_path, "--make", "Land Rover", "--format", "json")
    assert [(row["code"], row["origin"], row["description"]) for row in json.loads(run.out)] == [
        ("P1100", "manufacturer", "Own, of the maker"), ("P0133", "generic", "O2 Sensor Circuit Slow Response Bank 1 Sensor 1")]
    (tmp_path / "land-rover.csv").write_text("code,description\nP11,short\n")
    drover.fails("obd", "code", "P1100", "--codes", tmp_path, "--make", "Land Rover", says="land-rover.csv: line 2: must be a code like P0133")
