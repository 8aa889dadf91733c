import Synchronization
import Telemetry
import Testing

/// Collects what a log writes.
final class Lines: Sendable {
    private let text = Mutex("")
    var all: String { text.withLock { $0 } }
    func log(_ level: Log.Level = .debug, _ format: Log.Format = .text, nowMs: Int64 = 1_795_243_920_123) -> Log {
        Log(level: level, format: format, nowMs: { nowMs }, write: { line in self.text.withLock { $0 += line } })
    }
}

@Suite struct LogTests {
    @Test func aLineIsFixedTextPlusKeys() {
        let lines = Lines()
        lines.log().info("copy finished", ["rows": 4812, "duration_ms": LogValue(37), "late": true, "ratio": 0.5])
        #expect(
            lines.all
                == "2026-11-21T06:52:00.123Z info \"copy finished\" rows=4812 duration_ms=37 late=true ratio=0.5\n")
    }

    @Test func wholeSecondsKeepTheirMilliseconds() {
        let lines = Lines()
        lines.log(nowMs: 1_795_243_920_000).warning("x")
        #expect(lines.all == "2026-11-21T06:52:00.000Z warning \"x\"\n")
    }

    @Test(arguments: [
        ("plain", "k=plain"), ("", "k=\"\""), ("two words", "k=\"two words\""), ("a=b", "k=\"a=b\""),
        ("say \"x\" \\", "k=\"say \\\"x\\\" \\\\\""),
        ("one\n2026-01-01T00:00:00Z error \"forged\"", "k=\"one\\n2026-01-01T00:00:00Z error \\\"forged\\\"\""),
        ("\u{1B}[2Jgone", "k=\"\\u{1b}[2Jgone\""), ("line\u{2028}separator", "k=\"line\\u{2028}separator\""),
        ("Köln", "k=\"Köln\""),
    ])
    func valuesCannotBreakTheLine(_ value: String, _ expect: String) {
        let lines = Lines()
        lines.log().error("e", ["k": LogValue(value)])
        #expect(lines.all == "2026-11-21T06:52:00.123Z error \"e\" \(expect)\n")
    }

    @Test func textCannotBreakTheLineEither() {
        let lines = Lines()
        lines.log().error("one\r\ntwo", ["a key\n": 1])
        #expect(lines.all == "2026-11-21T06:52:00.123Z error \"one\\r\\ntwo\" bad_key=1\n")
    }

    @Test func aLongValueIsCut() {
        let lines = Lines()
        lines.log().info("x", ["k": LogValue(String(repeating: "é ", count: 5000))])
        #expect(lines.all.count < 2100)
        #expect(lines.all.hasSuffix("…\"\n"))
    }

    @Test func aLineAsJSONHasValuesOfTheirKinds() {
        let (lines, rows) = (Lines(), 4812)
        lines.log(.debug, .json).with(["lane": 3]).info(
            "copy \"finished\"\n",
            ["rows": "\(rows)", "text": "4812", "both": "\(rows) rows", "late": true, "error": ""])
        #expect(
            lines.all
                == "{\"time\":\"2026-11-21T06:52:00.123Z\",\"level\":\"info\",\"message\":\"copy \\\"finished\\\"\\n\",\"fields\":"
                + #"{"lane":3,"rows":4812,"text":"4812","both":"4812 rows","late":true,"error":""}}\#n"#)
    }

    @Test func aLineAsJSONIsOneLineWhateverItHolds() {
        let lines = Lines()
        lines.log(.debug, .json).error("a\u{2028}b", ["bad key": "\u{1B}[2J\\", "ratio": LogValue(Double.nan)])
        #expect(
            lines.all
                == "{\"time\":\"2026-11-21T06:52:00.123Z\",\"level\":\"error\",\"message\":\"a\\u2028b\",\"fields\":"
                + "{\"bad_key\":\"\\u001b[2J\\\\\",\"ratio\":\"nan\"}}\n")
        lines.log(.debug, .json).info("x")
        #expect(lines.all.hasSuffix("\"fields\":{}}\n"))
    }

    @Test func lowerLevelsAreDroppedUnmade() {
        let lines = Lines()
        let log = lines.log(.warning)
        log.info(
            {
                Issue.record("made for nothing"); return "x"
            }())
        log.warning("kept")
        #expect(lines.all.contains("kept"))
        #expect(Log.Level("warning") == .warning)
        #expect(Log.Level("loud") == nil)
    }

    @Test func commonKeysComeFirst() {
        let lines = Lines()
        lines.log().with(["lane": 3]).with(["role": "work"]).info("up", ["partitions": 4])
        #expect(lines.all.hasSuffix("\"up\" lane=3 role=work partitions=4\n"))
    }

    @Test func oncePerPeriodCountsTheRest() {
        let once = Throttle(periodMs: 1000, keysMax: 2)
        #expect(once.pass("a", nowMs: 0) == 0)
        #expect(once.pass("a", nowMs: 1) == nil)
        #expect(once.pass("b", nowMs: 2) == 0)
        #expect(once.pass("a", nowMs: 999) == nil)
        #expect(once.pass("a", nowMs: 1000) == 2)
    }
}
