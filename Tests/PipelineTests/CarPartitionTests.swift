import Basics
import Fleet
import Pipeline
import SimKit
import Testing
import Trips

/// What a producer may do to a minute, told by hand. `CarTrialTests` has the promise that any order, split and fault give the same.
struct CarPartitionTests {
    static let rules = TripRules()

    private static let car = VehicleID("car-1")!

    private static func take(
        _ cars: inout CarPartition, _ ts: Int64, speed: Int32 = 30_000, offset: Int64, pushedMs: Int64 = 1_000
    ) {
        var reading = CarReading(ts: ts)
        reading[.speed] = speed
        unsafe Array(car.text.utf8).withUnsafeBytes { key in
            _ = try! unsafe cars.accept(key: key, reading, offset: offset, pushedMs: pushedMs)
        }
    }

    /// One cycle: rows to the tables, late readings folded in.
    private static func cycle(_ cars: inout CarPartition, _ tables: inout CarTables, nextOffset: Int64) {
        tables.write(cars.rows, of: cars)
        cars.clearRows()
        while cars.hasLate {
            cars.resolve(tables.histories(cars.lateQueries), nextOffset: nextOffset)
            tables.write(cars.rows, of: cars)
            cars.clearRows()
        }
        tables.progress = CarProgress(
            nextOffset: nextOffset, replayFrom: cars.replayFrom.offset, replayClockMs: cars.replayFrom.clockMs)
    }

    @Test("A minute with a reading every millisecond, each of them twice and more, is taken", arguments: [false, true])
    func fullMinute(comesAgain: Bool) throws {
        let startMs: Int64 = 1_767_225_600_000
        var (tables, offset) = (CarTables(), Int64(0))
        var cars = tables.partition(rules: CarPartitionTests.rules)
        CarPartitionTests.take(&cars, startMs, offset: offset)
        offset += 1
        if comesAgain {
            // The minute is stored, and all that follows finds its bag gone.
            cars.tick(startMs + 400_000, offset: offset)
            offset += 1
            CarPartitionTests.cycle(&cars, &tables, nextOffset: offset)
            cars = tables.partition(rules: CarPartitionTests.rules)
        }
        for ts in 0..<60_000 as Range<Int64> {
            CarPartitionTests.take(&cars, startMs + ts, offset: offset)
            offset += 1
        }
        for _ in 0..<70_000 {
            CarPartitionTests.take(&cars, startMs + 59_999, offset: offset)
            offset += 1
        }
        CarPartitionTests.cycle(&cars, &tables, nextOffset: offset)
        cars.tick(startMs + 1_000_000, offset: offset)
        CarPartitionTests.cycle(&cars, &tables, nextOffset: offset + 1)
        #expect(tables.results.minutes[CarPartitionTests.car]?[startMs]?.readings.count == 60_000)
    }

    @Test(
        "What a producer stamped that no clock says is no time of a correction", arguments: [-1, .min, .max] as [Int64])
    func impossibleStamp(pushedMs: Int64) {
        let startMs: Int64 = 1_767_225_600_000
        var tables = CarTables()
        var cars = tables.partition(rules: CarPartitionTests.rules)
        CarPartitionTests.take(&cars, startMs, offset: 0)
        CarPartitionTests.take(&cars, startMs + 120_000, offset: 1)
        CarPartitionTests.cycle(&cars, &tables, nextOffset: 2)
        CarPartitionTests.take(&cars, startMs + 1, offset: 2, pushedMs: pushedMs)
        cars.resolve(tables.histories(cars.lateQueries), nextOffset: 3)
        #expect(cars.rows.minutes.contains { $0.correction.revision == 1 })
        #expect(cars.rows.minutes.allSatisfy { $0.correction.revisedMs == nil })
    }

    @Test("Ids that come once leave no trace in memory; what is said of one later needs it back")
    func idle() throws {
        let startMs: Int64 = 1_767_225_600_000
        let count = 20_000
        var cars = CarTables().partition(rules: CarPartitionTests.rules)
        func take(_ number: Int, _ ts: Int64, offset: Int) -> Int? {
            unsafe Array("car-\(number)".utf8).withUnsafeBytes { key in
                try! unsafe cars.accept(key: key, CarReading(ts: ts), offset: Int64(offset), pushedMs: 1_000)
            }
        }
        cars.tick(startMs, offset: 0)
        for number in 0..<count { #expect(take(number, startMs, offset: 1 + number) != nil) }
        cars.tick(startMs + 3_600_000, offset: Int64(count + 1))
        for (index, days) in [1, 2, 3].enumerated() as EnumeratedSequence<[Int64]> {
            cars.tick(startMs + days * UTC.msPerDay, offset: Int64(count + 2 + index))
            cars.clearRows()
            if let leaving = cars.leavingIdle(unless: { $0 == 7 }) { cars.keep(leaving) }
            #expect(cars.count == (days < 3 ? count : 1))
        }
        // The one that is needed elsewhere has another number now.
        #expect(take(7, startMs + 3 * UTC.msPerDay, offset: count + 10) == 0)
        #expect(take(8, startMs + 3 * UTC.msPerDay, offset: count + 11) == nil && cars.count == 1)
        cars.knowsNew([VehicleID("car-8")!])
        #expect(take(8, startMs + 3 * UTC.msPerDay, offset: count + 11) == 1)
        // A clock that is set back into their time needs all of it.
        #expect(cars.neededSince(clockMs: startMs + UTC.msPerDay) == startMs - UTC.msPerDay)
        #expect(cars.neededSince(clockMs: startMs + 4 * UTC.msPerDay) == nil)
    }
}
