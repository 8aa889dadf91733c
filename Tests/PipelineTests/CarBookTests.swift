import Fleet
import Foundation
import Pipeline
import SimKit
import Testing
import Trips

/// The promise that matters most: any order, any split into batches, any repetition, crashes, lost answers and zombies
/// give the rows that the readings in order give.
struct CarBookTests {
    static let rules = TripRules()

    /// One seed, whole. A failing seed is run again by itself with this.
    static func check(seed: UInt64, readings: Int = 40, rules: TripRules = CarBookTests.rules) -> String? {
        let log = CarSimulation.log(seed: seed, readings: readings, rules: rules)
        var chance = SeededChance(seed: seed &+ 99)
        let faults = seed % 4 == 0 ? CarSimulation.Faults() : .many
        var simulation = CarSimulation(
            log: log, rules: rules, batchMax: [1, 7, 60, 10_000][Int(chance.below(4))], seed: seed)
        simulation.run(faults: faults)
        let expected = CarSimulation.expected(log, rules: rules)
        let results = simulation.tables.results
        guard simulation.tables.doubled.isEmpty else { return "seed \(seed): twice: \(simulation.tables.doubled)" }
        if results == expected { return nil }
        return "seed \(seed): \(difference(results, expected))"
    }

    static func difference(_ a: CarTables.Results, _ b: CarTables.Results) -> String {
        for (vehicle, minutes) in b.minutes {
            for (start, minute) in minutes where a.minutes[vehicle]?[start] != minute {
                let got = a.minutes[vehicle]?[start]
                return "minute \(vehicle) \(start): \(got?.readings.count ?? 0) readings for \(minute.readings.count), "
                    + "trip \(got?.tripStartMs ?? 0) for \(minute.tripStartMs)"
            }
        }
        for vehicle in Set(b.trips.keys).union(a.trips.keys) where a.trips[vehicle] != b.trips[vehicle] {
            func text(_ trips: [Int64: CarTables.TripRow]?) -> [String] {
                (trips ?? [:]).values.map { "\($0.trip.startMs)-\($0.trip.endMs) \($0.isOpen ? "open" : "over")" }
                    .sorted()
            }
            return "trips of \(vehicle): \(text(a.trips[vehicle])) for \(text(b.trips[vehicle]))"
        }
        for (vehicle, days) in b.days where a.days[vehicle] != days { return "days of \(vehicle)" }
        if a.starts != b.starts { return "starts of trips: \(a.starts) for \(b.starts)" }
        return "rows that should not be there"
    }

    /// DROVER_SEEDS: fewer for a build that is slow, more for a long run.
    static let seedsPerGroup = (ProcessInfo.processInfo.environment["DROVER_SEEDS"].flatMap(UInt64.init) ?? 10_000) / 20

    @Test("Ten thousand seeded runs with faults end in the same rows", arguments: 0..<20 as Range<UInt64>)
    func simulation(group: UInt64) {
        let count = CarBookTests.seedsPerGroup
        for seed in (group * count)..<((group + 1) * count) {
            guard let fault = CarBookTests.check(seed: seed) else { continue }
            Issue.record("\(fault)")
            return
        }
    }

    /// Cut at borders, joined by what comes late, and begun on another day by it.
    @Test(
        "Thousands of seeded runs of drives that last for days end in the same rows",
        arguments: 0..<20 as Range<UInt64>)
    func longDrives(group: UInt64) {
        // Each costs as much as several of the short ones.
        let count = CarBookTests.seedsPerGroup / 20
        for seed in (group * count)..<((group + 1) * count) {
            var rules = SeededDrive.longRules
            // A silence of days ends none of these: whole days between two borders have no reading.
            if seed % 5 == 0 { rules.tripGapMs = 2 * UTC.msPerDay }
            guard let fault = CarBookTests.check(seed: seed, readings: 120, rules: rules) else { continue }
            Issue.record("\(fault)")
            return
        }
    }

    /// What stands in the tables follows from the log up to the stored offset, however it was split and disturbed.
    @Test(
        "The tables are a function of the log's prefix", arguments: 0..<150 as Range<UInt64>,
        [CarBookTests.rules, SeededDrive.longRules])
    func prefix(seed: UInt64, rules: TripRules) {
        let log = CarSimulation.log(seed: seed, readings: 60, rules: rules)
        var chance = SeededChance(seed: seed)
        let end = Int(1 + chance.below(Int64(log.count)))
        var (results, states): ([CarTables.Results], [[VehicleID: [UInt8]]]) = ([], [])
        for (batchMax, faults) in [(1, CarSimulation.Faults()), (40, .many), (10_000, CarSimulation.Faults())] {
            var simulation = CarSimulation(log: log, rules: rules, batchMax: Int64(batchMax), seed: seed)
            simulation.run(faults: faults, end: end)
            results.append(simulation.tables.results)
            states.append(CarBookTests.latestStates(simulation.tables))
        }
        for other in results.dropFirst() where other != results[0] {
            Issue.record("seed \(seed) to \(end): \(CarBookTests.difference(other, results[0]))")
        }
        for other in states.dropFirst() where other != states[0] {
            Issue.record("seed \(seed) to \(end): states \(other) for \(states[0])")
        }
    }

    /// The packed state beside each car's latest trip, without the offset that it begins with: as `drover verify` compares.
    private static func latestStates(_ tables: CarTables) -> [VehicleID: [UInt8]] {
        var latest: [VehicleID: [UInt8]] = [:]
        for (vehicle, trips) in tables.trips {
            guard let last = trips.keys.max(), let state = tables.states[vehicle]?[last] else { continue }
            latest[vehicle] = Array(state.drop { $0 >= 0x80 }.dropFirst())
        }
        return latest
    }

    private static let car = VehicleID("car-1")!

    private static func take(
        _ book: inout CarBook, _ ts: Int64, speed: Int32 = 30_000, offset: Int64, pushedMs: Int64 = 1_000
    ) {
        var reading = CarReading(ts: ts)
        reading[.speed] = speed
        unsafe Array(car.text.utf8).withUnsafeBytes { key in
            _ = try! unsafe book.take(key: key, reading, offset: offset, pushedMs: pushedMs)
        }
    }

    /// One cycle: rows to the tables, late readings folded in.
    private static func cycle(_ book: inout CarBook, _ tables: inout CarTables, nextOffset: Int64) {
        tables.write(book.rows, of: book)
        book.clearRows()
        while book.hasLate {
            book.resolve(tables.histories(book.lateQueries), nextOffset: nextOffset)
            tables.write(book.rows, of: book)
            book.clearRows()
        }
        tables.progress = CarProgress(
            nextOffset: nextOffset, replayFrom: book.replayFrom.offset, replayClockMs: book.replayFrom.clockMs)
    }

    @Test("A minute with a reading every millisecond, each of them twice and more, is taken", arguments: [false, true])
    func fullMinute(comesAgain: Bool) throws {
        let startMs: Int64 = 1_767_225_600_000
        var (tables, offset) = (CarTables(), Int64(0))
        var book = tables.book(rules: CarBookTests.rules)
        CarBookTests.take(&book, startMs, offset: offset)
        offset += 1
        if comesAgain {
            // The minute is stored, and all that follows finds its bag gone.
            book.tick(startMs + 400_000, offset: offset)
            offset += 1
            CarBookTests.cycle(&book, &tables, nextOffset: offset)
            book = tables.book(rules: CarBookTests.rules)
        }
        for ts in 0..<60_000 as Range<Int64> {
            CarBookTests.take(&book, startMs + ts, offset: offset)
            offset += 1
        }
        for _ in 0..<70_000 {
            CarBookTests.take(&book, startMs + 59_999, offset: offset)
            offset += 1
        }
        CarBookTests.cycle(&book, &tables, nextOffset: offset)
        book.tick(startMs + 1_000_000, offset: offset)
        CarBookTests.cycle(&book, &tables, nextOffset: offset + 1)
        #expect(tables.results.minutes[CarBookTests.car]?[startMs]?.readings.count == 60_000)
    }

    @Test(
        "What a producer stamped that no clock says is no time of a correction", arguments: [-1, .min, .max] as [Int64])
    func impossibleStamp(pushedMs: Int64) {
        let startMs: Int64 = 1_767_225_600_000
        var tables = CarTables()
        var book = tables.book(rules: CarBookTests.rules)
        CarBookTests.take(&book, startMs, offset: 0)
        CarBookTests.take(&book, startMs + 120_000, offset: 1)
        CarBookTests.cycle(&book, &tables, nextOffset: 2)
        CarBookTests.take(&book, startMs + 1, offset: 2, pushedMs: pushedMs)
        book.resolve(tables.histories(book.lateQueries), nextOffset: 3)
        #expect(book.rows.minutes.contains { $0.correction.revision == 1 })
        #expect(book.rows.minutes.allSatisfy { $0.correction.revisedMs == nil })
    }
}
