import Backtesting
import Testing

struct RuleTestTimeTests {
    private let start: Int64 = 1_789_344_000_000

    @Test(
        "Times as they are written",
        arguments: [
            ("+0s", 0, "+0s"), ("+5m", 300_000, "+5m"), ("-2d", -172_800_000, "-2d"),
            ("+1h30m", 5_400_000, "+1h30m"), ("+301s", 301_000, "+5m1s"), ("+1500ms", 1_500, "+1s500ms"),
            ("2026-09-14T00:00:00Z", 0, "+0s"), ("2026-09-14T02:05:00+02:00", 300_000, "+5m"),
        ] as [(String, Int64, String)])
    func times(text: String, ms: Int64, canonical: String) {
        #expect(RuleTestTime.parse(text, from: start) == start + ms)
        #expect(RuleTestTime.text(start + ms, from: start) == canonical)
    }

    @Test(
        "What is no time",
        arguments: ["", "+", "5m", "+5", "+5min", "+m", "+-5m", "+99999999999d", "+9999999999d", "2026-10-25T02:00:00"])
    func none(text: String) { #expect(RuleTestTime.parse(text, from: start) == nil) }
}
