import Basics
import Testing

struct TimeTests {
    // References: `date -u -d TEXT +%s`.
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-21T06:52:00Z", 1_795_243_920_000), ("2000-02-29", 951_782_400_000),
            ("2026-11-21 07:52:00.5+01:00", 1_795_243_920_500), ("2026-11-20T22:52:00.123456-0800", 1_795_243_920_123),
            ("1969-12-31T23:59:59.999Z", -1),
        ] as [(String, Int64)])
    func parses(_ text: String, _ ts: Int64) { #expect(UTC.parse(text) == ts) }

    @Test(arguments: [
        "", "2026", "2026-13-01", "2026-02-30", "2100-02-29", "2026-11-21T06:52", "2026-11-21T25:00:00Z",
        "2026-11-21T06:52:00", "2026-11-21T06:52:00+25:00", "2026-11-21T06:52:00Zx", "21.11.2026",
    ])
    func refuses(_ text: String) { #expect(UTC.parse(text) == nil) }

    @Test func writesWhatItParses() {
        for ts in stride(from: Int64(-62_000_000_000_000), through: 250_000_000_000_000, by: 7_777_777_777_777) {
            #expect(UTC.parse(UTC.text(ts)) == ts)
        }
    }

    @Test func minutesAndDaysOfNegativeTimes() {
        #expect(UTC.minute(of: -1) == -60_000)
        #expect(UTC.day(of: -1) == -86_400_000)
        #expect(UTC.minute(of: 59_999) == 0)
    }
}
