import Basics
import Codecs
import Fleet
import Pipeline
import SimKit
import Testing
import Trips

/// Trips are folded by the rules in force when they begin: a function of the readings and the sets on the log. The seeds of
/// `CarTrialTests` mix them with all else.
struct TripRulesTests {
    private static let minute = UTC.msPerMinute
    private static let start: Int64 = 1_764_576_000_000

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
        var cars = CarPartition(rules: TripRules(), progress: progress)
        let (new, pushedMs) = (Self.rules(tripGapMin: 9), Self.start)
        #expect(cars.apply(rules: new, fromMs: 0, offset: 4, pushedMs: pushedMs) == nil)
        let entry = cars.apply(rules: new, fromMs: pushedMs, offset: 5, pushedMs: pushedMs)
        #expect(entry == .init(fromMs: pushedMs + DecodeError.aheadMsMax, rules: new))
        let later = cars.apply(rules: TripRules(), fromMs: pushedMs + 10 * UTC.msPerDay, offset: 6, pushedMs: pushedMs)
        #expect(later?.fromMs == pushedMs + 10 * UTC.msPerDay)
        _ = try unsafe Array("car-1".utf8).withUnsafeBytes { key in
            try unsafe cars.accept(
                key: key, CarReading(ts: pushedMs + 20 * UTC.msPerDay), offset: 7, pushedMs: pushedMs)
        }
        let last = cars.apply(rules: new, fromMs: pushedMs, offset: 8, pushedMs: -1)
        #expect(last?.fromMs == pushedMs + 20 * UTC.msPerDay + 1)
    }
}
