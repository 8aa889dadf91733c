import Alerts
import Basics
import Fleet
import Pipeline
import SimKit
import Testing

/// Where a stretch begins and ends, found from few rows, against all readings one after the other.
@Suite("Stretches of a car's readings")
struct DriverStretchTests {
    private static let day = UTC.msPerDay

    /// Readings of some days with pauses about as long as counts, and some exactly at borders.
    private static func times(_ chance: inout SeededChance) -> [Int64] {
        var (ts, times): (Int64, [Int64]) = (20_000 * day + chance.below(day), [])
        let pauses = chance.below(60)
        for _ in 0..<(1 + chance.below(2_000)) {
            times.append(ts)
            ts +=
                pauses > 0 && chance.once(in: 10 * pauses)
                ? DriverAlertFold.reachMs - 61_000 + chance.below(122_000) : 1 + chance.below(15 * 60_000)
            if chance.once(in: 60) { ts = times.last! + DriverAlertFold.reachMs + chance.below(2) }
            let midnightMs = UTC.day(of: ts) + day
            if midnightMs - ts < 1_200_000, chance.once(in: 3) { ts = midnightMs - 1 + chance.below(3) }
        }
        return times
    }

    @Test("The stretch of any row, from the rows of its window", arguments: 0..<8 as Range<UInt64>)
    func span(group: UInt64) {
        for seed in group * 25..<(group + 1) * 25 {
            var chance = SeededChance(seed: seed)
            let times = Self.times(&chance)
            let expected = DriverStretch.all(times.map { CarReading(ts: $0) })
            // A driver's mark may begin a second row in a minute.
            let cutMs = 1 + chance.below(UTC.msPerMinute - 1)
            let rows = Dictionary(grouping: times) { ts in
                let minuteMs = UTC.minute(of: ts)
                return minuteMs / UTC.msPerMinute % 5 == 0 && ts - minuteMs >= cutMs ? minuteMs + cutMs : minuteMs
            }
            let starts = rows.keys.sorted()
            for _ in 0..<20 {
                let start = starts[Int(chance.below(Int64(starts.count)))]
                let window = DriverStretch.window(around: start)
                let near = starts.filter { window.contains($0) }
                let found = DriverStretch.span(of: near.firstIndex(of: start)!, near) { row in
                    (rows[near[row]]!.first!, rows[near[row]]!.last!)
                }
                let stretch = expected.first { $0.toMs >= rows[start]![0] }!
                let held = near[found.rows].flatMap { rows[$0]! }
                guard (found.fromMs, found.toMs, found.goesOn) == (stretch.fromMs, stretch.toMs, stretch.goesOn),
                    held == stretch.readings.map(\.ts)
                else {
                    Issue.record("seed \(seed), row \(start): \(found) for \(stretch.fromMs)...\(stretch.toMs)")
                    return
                }
            }
        }
    }

    @Test("No stretch is as long as two days, and late readings before it move one border at most") func bounded() {
        for seed in 0..<200 as Range<UInt64> {
            var chance = SeededChance(seed: seed)
            let times = Self.times(&chance)
            let whole = DriverStretch.all(times.map { CarReading(ts: $0) })
            #expect(whole.allSatisfy { $0.toMs - $0.fromMs < 2 * Self.day })
            let left = Int(chance.below(Int64(times.count)))
            let (lateMs, others) = (times[left], times.enumerated().filter { $0.offset != left }.map(\.element))
            let before = DriverStretch.all(others.map { CarReading(ts: $0) })
            let reachMs = lateMs + DriverAlertFold.reachMs + 2 * Self.day
            let moved = Set(whole.map(\.fromMs)).symmetricDifference(before.map(\.fromMs))
            #expect(moved.allSatisfy { $0 >= lateMs && $0 <= reachMs }, "seed \(seed): \(moved), late \(lateMs)")
        }
    }
}
