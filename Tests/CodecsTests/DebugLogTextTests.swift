import Codecs
import Testing

@Suite struct DebugLogTextTests {
    private struct Seen: Equatable {
        let level: DebugLogText.Level
        let ts: Int64?
    }

    @Test(arguments: [
        ("2026-11-21T08:00:00Z WARN modem: no carrier", DebugLogText.Level.warning, Int64?(1_795_248_000_000)),
        ("2026-11-21T08:00:00.250Z [error] disk", .error, 1_795_248_000_250),
        ("2026-11-21 08:00:00Z WARN x", .warning, 1_795_248_000_000), ("2026-11-21 WARN x", .other, nil),
        ("ERROR: no time", .error, nil), ("2026-11-21T08:00:00Z", .other, 1_795_248_000_000),
        ("2026-11-21T08:00:00Z informed", .other, 1_795_248_000_000),
        ("1970-01-01T00:00:12Z INFO clock is not set", .other, nil), ("    at frame 7 ERROR", .other, nil),
        ("", .other, nil),
        ("Trace: x", .debug, nil), ("Notice x", .info, nil),
    ])
    func levelAndTimeOfALine(text: String, level: DebugLogText.Level, ts: Int64?) throws {
        let line = try #require(DebugLogText(Array((text + "\nend").utf8)).lines.first)
        #expect(Seen(level: line.level, ts: line.ts) == Seen(level: level, ts: ts))
        #expect(line.text == text)
    }

    @Test func linesAreCountedByLevelAndSpanTheirTimes() {
        let log = DebugLogText(Array("2026-11-21T08:00:01Z INFO b\r\nmore of it\n\n2026-11-21T08:00:00Z ERR a\n".utf8))
        #expect(
            log.lines.map(\.text) == ["2026-11-21T08:00:01Z INFO b", "more of it", "", "2026-11-21T08:00:00Z ERR a"])
        #expect(log.lines.map(\.number) == [1, 2, 3, 4])
        #expect(DebugLogText.Level.allCases.map(log.count) == [1, 0, 1, 0, 2])
        #expect(log.span == 1_795_248_000_000...1_795_248_001_000)
        #expect(DebugLogText([]).lines.isEmpty)
        #expect(DebugLogText([]).span == nil)
    }

    @Test func bytesThatAreNoTextAndControlCharactersDoNotReachATerminal() {
        let log = DebugLogText([0x1B, 0x5B, 0x32, 0x4A, 0xFF, 0x00, 0x41, 0x09, 0x42])
        #expect(log.lines.map(\.text) == ["\u{FFFD}[2J\u{FFFD}\u{FFFD}A\tB"])
    }
}
