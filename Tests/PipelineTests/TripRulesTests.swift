import Fleet
import Foundation
import Pipeline
import SimKit
import Testing
import Trips
import Wire

/// Trips are folded by the rules in force when they begin: a function of the readings and the sets on the log.
struct TripRulesTests {
    private static let minute = UTC.msPerMinute
    private static let start: Int64 = 1_764_576_000_000

    private static func check(seed: UInt64, readings: Int, isLong: Bool) -> String? {
        let base = isLong ? SeededDrive.longRules : TripRules()
        var log = CarSimulation.log(seed: seed, readings: readings, rules: base)
        CarSimulation.addRules(&log, seed: seed)
        var chance = SeededChance(seed: seed &+ 7)
        let batchMax = [1, 7, 60, 10_000][Int(chance.below(4))]
        var simulation = CarSimulation(log: log, rules: base, batchMax: Int64(batchMax), seed: seed)
        simulation.run(faults: seed % 4 == 0 ? CarSimulation.Faults() : .many)
        let expected = CarSimulation.expected(log, rules: base)
        let results = simulation.tables.results
        guard simulation.tables.doubled.isEmpty else { return "seed \(seed): twice: \(simulation.tables.doubled)" }
        return results == expected ? nil : "seed \(seed): \(CarBookTests.difference(results, expected))"
    }

    @Test(
        "Any order, any split and any fault end in the rows of the whole, whatever sets the log has",
        arguments: 0..<20 as Range<UInt64>, [false, true])
    func simulation(group: UInt64, isLong: Bool) {
        let count = max(1, CarBookTests.seedsPerGroup / (isLong ? 20 : 2))
        for seed in (group * count)..<((group + 1) * count) {
            guard let fault = Self.check(seed: seed, readings: isLong ? 120 : 40, isLong: isLong) else { continue }
            Issue.record("\(fault)")
            return
        }
    }

    @Test(
        "What stands in the tables follows from the log before it, with sets, too", arguments: 0..<300 as Range<UInt64>)
    func prefix(seed: UInt64) {
        let isLong = seed % 3 == 0
        let base = isLong ? SeededDrive.longRules : TripRules()
        var log = CarSimulation.log(seed: seed, readings: 60, rules: base)
        CarSimulation.addRules(&log, seed: seed)
        var chance = SeededChance(seed: seed)
        let end = Int(1 + chance.below(Int64(log.count)))
        var results: [CarTables.Results] = []
        for (batchMax, faults) in [(1, CarSimulation.Faults()), (40, .many), (10_000, CarSimulation.Faults())] {
            var simulation = CarSimulation(log: log, rules: base, batchMax: Int64(batchMax), seed: seed)
            simulation.run(faults: faults, end: end)
            results.append(simulation.tables.results)
        }
        for other in results.dropFirst() where other != results[0] {
            Issue.record("seed \(seed) to \(end): \(CarBookTests.difference(other, results[0]))")
        }
    }

    private static func rules(tripGapMin: Int64) -> TripRules {
        var rules = TripRules()
        rules.tripGapMs = tripGapMin * minute
        return rules
    }

    private static func reading(_ minutes: Int64) -> CarReading {
        var reading = CarReading(ts: start + minutes * minute)
        reading[.speed] = 30_000
        return reading
    }

    @Test("The set in force at the first reading ends the trip, whatever comes into force meanwhile")
    func running() {
        var timeline = TripRuleTimeline(base: Self.rules(tripGapMin: 5))
        timeline.insert(.init(fromMs: Self.start + 10 * Self.minute, rules: Self.rules(tripGapMin: 20)))
        // 0 to 8 ends by 5 minutes, though it is over only after the set is in force; 14 begins by the set.
        let readings = [0, 4, 8, 14, 30, 49, 70].map(Self.reading)
        let trips = Drive.whole(readings, rules: timeline).trips
        #expect(trips.map { ($0.startMs - Self.start) / Self.minute } == [0, 14, 70])
    }

    @Test("A part of a long drive is folded by the set of its border")
    func parts() {
        let border = UTC.day(of: Self.start) + 2 * UTC.msPerDay
        var timeline = TripRuleTimeline(base: Self.rules(tripGapMin: 60))
        timeline.insert(.init(fromMs: border - 1, rules: Self.rules(tripGapMin: 10)))
        let readings = stride(from: UTC.day(of: Self.start) + Self.minute, to: border + 3_600_000, by: 1_800_000).map {
            CarReading(ts: $0)
        }
        let trips = Drive.whole(readings, rules: timeline).trips
        // The first silence of half an hour after the border ends the part; those before it ended nothing.
        #expect(trips.map(\.startMs).prefix(2) == [readings[0].ts, border])
        #expect(trips[1].isFromBefore && !trips[1].goesOn && trips[2].startMs == trips[1].endMs + 1_800_000)
    }

    @Test("Of two sets of one time the greater limits count, in any order")
    func oneTime() {
        let (a, b) = (Self.rules(tripGapMin: 5), Self.rules(tripGapMin: 6))
        for sets in [[a, b], [b, a], [b, a, b]] {
            let timeline = TripRuleTimeline(base: a, sets.map { .init(fromMs: 1, rules: $0) })
            #expect(timeline.inForce(at: 1) == b && timeline.entries.count == 1)
        }
    }

    @Test("A set is in force a day after it is pushed at the earliest, and after every reading before it")
    func earliest() throws {
        let progress = CarProgress(nextOffset: 5, replayFrom: 5, replayClockMs: 0)
        var book = CarBook(rules: TripRules(), progress: progress)
        let (new, pushedMs) = (Self.rules(tripGapMin: 9), Self.start)
        #expect(book.take(rules: new, fromMs: 0, offset: 4, pushedMs: pushedMs) == nil)
        let entry = book.take(rules: new, fromMs: pushedMs, offset: 5, pushedMs: pushedMs)
        #expect(entry == .init(fromMs: pushedMs + DecodeError.aheadMsMax, rules: new))
        let later = book.take(rules: TripRules(), fromMs: pushedMs + 10 * UTC.msPerDay, offset: 6, pushedMs: pushedMs)
        #expect(later?.fromMs == pushedMs + 10 * UTC.msPerDay)
        _ = try unsafe Array("car-1".utf8).withUnsafeBytes { key in
            try unsafe book.take(
                key: key, CarReading(ts: pushedMs + 20 * UTC.msPerDay), offset: 7, pushedMs: pushedMs)
        }
        let last = book.take(rules: new, fromMs: pushedMs, offset: 8, pushedMs: -1)
        #expect(last?.fromMs == pushedMs + 20 * UTC.msPerDay + 1)
    }
}
