import Fleet
import Pipeline
import SimKit
import Testing
import Trips

/// The promise that matters most: any order, any split into batches, any repetition, any loss of memory in between
/// gives the rows that the readings in order give.
struct CarBookTests {
    let rules = TripRules()
    let vehicle = VehicleID("car-1")!

    /// The reference: the whole set folded once, and days summed straight from the minutes.
    private func expected(_ readings: [CarReading], clockMs: Int64) -> CarTables {
        let (minutes, trips, _) = Drive.whole(readings.unioned(), rules: rules)
        var tables = CarTables()
        for minute in minutes {
            tables.minutes[vehicle, default: [:]][minute.startMs] = minute
            let day = UTC.day(of: minute.startMs)
            tables.days[vehicle, default: [:]][day] = (tables.days[vehicle]?[day] ?? DriveTotals()) + minute.totals
        }
        for (index, trip) in trips.enumerated() {
            let isOpen = index == trips.count - 1 && clockMs <= trip.endMs + rules.tripGapMs
            tables.trips[vehicle, default: [:]][trip.startMs] = .init(trip: trip, isOpen: isOpen)
        }
        return tables
    }

    private func run(_ arrivals: [CarReading], clockMs: Int64, tickAt: Int, _ chance: inout SeededChance) -> CarTables {
        var (book, tables) = (CarBook(rules: rules), CarTables())
        var (rest, clock): (ArraySlice<CarReading>, Int64?) = (arrivals[...], nil)
        var batches = 0
        while !rest.isEmpty {
            let taken = rest.prefix(Int(1 + chance.below(80)))
            rest = rest.dropFirst(taken.count)
            let batch = Array(taken).unioned()
            if batches == tickAt {
                clock = clockMs
                tables.close(clockMs: clockMs, rules: rules)
            }
            let history = book.query(vehicle, batch).map(tables.history)
            if let change = book.apply(batch, of: vehicle, history: history, clockMs: clock) {
                // A crash before the commit: nothing was written, memory is gone, the batch comes again.
                if chance.once(in: 15) {
                    book.forgetAll()
                    let again = book.query(vehicle, batch).map(tables.history)
                    if let change = book.apply(batch, of: vehicle, history: again, clockMs: clock) {
                        tables.write(change)
                    }
                } else {
                    tables.write(change)
                }
            }
            if chance.once(in: 10) { book.forgetAll() }
            batches += 1
        }
        tables.close(clockMs: clockMs, rules: rules)
        return tables
    }

    @Test("Any order and any split gives the same rows", arguments: 0..<120 as Range<UInt64>)
    func anyOrder(seed: UInt64) {
        var chance = SeededChance(seed: seed &* 7919 + 1)
        let readings = SeededDrive.readings(seed: seed, count: Int(20 + chance.below(700)))
        let end = readings.map(\.ts).max()!
        let clockMs = end + [-3_600_000, 0, 300_000, 300_001, 10_000_000][Int(chance.below(5))]
        var arrivals = readings
        switch seed % 4 {
        case 0: break
        case 1: arrivals.shuffle(using: &chance)
        case 2:  // A stretch in the middle comes last, as after an outage.
            let from = Int(chance.below(Int64(arrivals.count)))
            let late = arrivals[from...].prefix(arrivals.count / 3)
            arrivals.removeSubrange(from..<from + late.count)
            arrivals += late
        default: arrivals += readings.filter { _ in chance.once(in: 2) }
        }
        let tables = run(arrivals, clockMs: clockMs, tickAt: Int(chance.below(6)), &chance)
        #expect(tables == expected(readings, clockMs: clockMs), "seed \(seed)")
    }
}
