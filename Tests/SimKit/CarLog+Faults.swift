internal import Basics
internal import Fleet
internal import Trips

/// What operators say: trip rules, and clocks that are set right.
extension CarLog {
    static let tripGapsMs: [Int64] = [60_000, 90_000, 300_000, 900_000, 7_200_000]

    /// Sets in force at any time of the readings, most of them told before these; some at one time, or twice.
    mutating func addRules() {
        for _ in 0..<(1 + chance.below(5)) {
            var rules = TripRules()
            rules.tripGapMs = CarLog.tripGapsMs[Int(chance.below(5))]
            rules.gapMs = min(rules.tripGapMs, [1_000, 10_000, 60_000, 600_000][Int(chance.below(4))])
            rules.sharpMmPerS2 = 500 + chance.below(4_000)
            (rules.sharpMergeMs, rules.sharpHoldMs) = (chance.below(3_000), chance.below(2_000))
            let step = [0, 1, -1, chance.below(60_000) - 30_000, chance.below(10_000_000) - 5_000_000]
            let fromMs = aReading().reading.ts + step[Int(chance.below(5))]
            for _ in 0..<(chance.once(in: 5) ? 2 : 1) {
                let place = chance.once(in: 4) ? Int(chance.below(Int64(records.count))) : 0
                records.insert(.rules(rules, fromMs: fromMs), at: place)
                if chance.once(in: 2) { rules.sharpHoldMs = chance.below(2_000) }
            }
        }
    }

    /// A clock goes ahead, by seconds or by days, and is set back to where it was, or to before.
    mutating func addWrongClocks() {
        for _ in 0..<1 + chance.below(3) {
            let ahead = Int(chance.below(Int64(records.count + 1)))
            let aheadMs = [30_000, 400_000, 4_000_000, 2 * UTC.msPerDay][Int(chance.below(4))]
            var beforeMs = aReading().reading.ts
            for case .tick(let ts, _) in records[..<ahead] { beforeMs = ts }
            let back = ahead + Int(chance.below(Int64(min(20, records.count - ahead) + 1)))
            if chance.once(in: 4) { beforeMs -= chance.below(600_000) }
            records.insert(.setBack(beforeMs), at: back)
            records.insert(.tick(beforeMs + aheadMs), at: ahead)
        }
    }
}
