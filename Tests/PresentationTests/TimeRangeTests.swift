import Presentation
import Testing

@Suite struct TimeRangeTests {
    /// 2026-11-24 15:19 in Helsinki, which is two hours ahead.
    static let now: Int64 = 1_795_526_340_000
    static let hour: Int64 = 3_600_000
    static let day = 24 * hour

    private func read(_ query: [String: String], zone: String = "Europe/Helsinki") throws(TimeRange.Fault) -> TimeRange?
    {
        try TimeRange.read(query, zone: zone, nowMs: Self.now)
    }

    @Test func addressesSayIt() throws {
        #expect(TimeRange.field(Self.now, zone: "Europe/Helsinki") == "2026-11-24T15:19")
        #expect(try read([:]) == nil)
        #expect(try read(["range": "", "from": ""]) == nil)
        #expect(try read(["range": "live"]) == .live)
        for span in TimeRange.Span.allCases { #expect(try read(["range": span.rawValue]) == .last(span)) }
        #expect(
            try read(["from": "2026-11-24T13:19", "to": "2026-11-24T15:19"])
                == .between(Self.now - 2 * Self.hour..<Self.now))
        // From alone lasts until now; a day begins at its midnight.
        #expect(try read(["from": "2026-11-24"]) == .between(Self.now - 15 * Self.hour - 19 * 60_000..<Self.now))
    }

    @Test(arguments: [
        (["range": "2h"], TimeRange.Fault.unknown), (["range": "24h'"], .unknown),
        (["to": "2026-11-24T13:19"], .unknown),
        (["from": "2026-11-31T00:00"], .unknown), (["from": "2026-11-24T25:00"], .unknown),
        (["from": "2026-11-24T1+:00"], .unknown),
        (["from": "2026-11-24 13:19"], .unknown), (["from": "yesterday"], .unknown),
        (["from": "2026-11-24T13:19", "to": "2026-11-24T13:19"], .backwards),
        (["from": "2026-11-24T13:19", "to": "2026-11-23"], .backwards), (["from": "2026-11-25"], .backwards),
        (["from": "2024-11-24", "to": "2026-11-24"], .tooLong(daysMax: 366)),
    ]) func faultsAreTold(query: [String: String], fault: TimeRange.Fault) {
        #expect(throws: fault) { try read(query) }
    }

    /// What an address is made of is read back, also on the day the clocks change.
    @Test(arguments: ["Europe/Helsinki", "America/New_York", "UTC", "Asia/Kathmandu"]) func addressesAreReadBack(
        zone: String
    ) throws {
        // Around 2026-10-25, when Helsinki's clocks go back, hour by hour without the one that comes twice.
        for hours in Int64(0)..<72 where hours != 24 {
            let from = 1_792_886_400_000 + hours * Self.hour
            let range = TimeRange.between(from..<from + 5 * Self.day)
            let query = Dictionary(range.queryItems(zone: zone).map { ($0.name, $0.value) }) { first, _ in first }
            let again = try read(query, zone: zone)
            guard case .between(let span) = again else {
                Issue.record("\(query)")
                continue
            }
            // A minute that comes twice is read as its first.
            #expect(span.lowerBound == from || span.lowerBound == from - Self.hour)
            #expect(span.upperBound == from + 5 * Self.day || span.upperBound == from + 5 * Self.day - Self.hour)
        }
    }

    @Test func timeMovesOn() {
        #expect(TimeRange.last(.day).spanMs(nowMs: Self.now) == Self.now - Self.day..<Self.now)
        #expect(TimeRange.live.spanMs(nowMs: Self.now) == Self.now - TimeRange.liveMs..<Self.now)
        #expect(TimeRange.between(5..<9).spanMs(nowMs: Self.now) == 5..<9)
    }
}
