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
        _ book: inout CarPartition, _ ts: Int64, speed: Int32 = 30_000, offset: Int64, pushedMs: Int64 = 1_000
    ) {
        var reading = CarReading(ts: ts)
        reading[.speed] = speed
        unsafe Array(car.text.utf8).withUnsafeBytes { key in
            _ = try! unsafe book.accept(key: key, reading, offset: offset, pushedMs: pushedMs)
        }
    }

    /// One cycle: rows to the tables, late readings folded in.
    private static func cycle(_ book: inout CarPartition, _ tables: inout CarTables, nextOffset: Int64) {
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
        var book = tables.book(rules: CarPartitionTests.rules)
        CarPartitionTests.take(&book, startMs, offset: offset)
        offset += 1
        if comesAgain {
            // The minute is stored, and all that follows finds its bag gone.
            book.tick(startMs + 400_000, offset: offset)
            offset += 1
            CarPartitionTests.cycle(&book, &tables, nextOffset: offset)
            book = tables.book(rules: CarPartitionTests.rules)
        }
        for ts in 0..<60_000 as Range<Int64> {
            CarPartitionTests.take(&book, startMs + ts, offset: offset)
            offset += 1
        }
        for _ in 0..<70_000 {
            CarPartitionTests.take(&book, startMs + 59_999, offset: offset)
            offset += 1
        }
        CarPartitionTests.cycle(&book, &tables, nextOffset: offset)
        book.tick(startMs + 1_000_000, offset: offset)
        CarPartitionTests.cycle(&book, &tables, nextOffset: offset + 1)
        #expect(tables.results.minutes[CarPartitionTests.car]?[startMs]?.readings.count == 60_000)
    }

    @Test(
        "What a producer stamped that no clock says is no time of a correction", arguments: [-1, .min, .max] as [Int64])
    func impossibleStamp(pushedMs: Int64) {
        let startMs: Int64 = 1_767_225_600_000
        var tables = CarTables()
        var book = tables.book(rules: CarPartitionTests.rules)
        CarPartitionTests.take(&book, startMs, offset: 0)
        CarPartitionTests.take(&book, startMs + 120_000, offset: 1)
        CarPartitionTests.cycle(&book, &tables, nextOffset: 2)
        CarPartitionTests.take(&book, startMs + 1, offset: 2, pushedMs: pushedMs)
        book.resolve(tables.histories(book.lateQueries), nextOffset: 3)
        #expect(book.rows.minutes.contains { $0.correction.revision == 1 })
        #expect(book.rows.minutes.allSatisfy { $0.correction.revisedMs == nil })
    }

    @Test("Ids that come once leave no trace in memory; what is said of one later needs it back")
    func idle() throws {
        let startMs: Int64 = 1_767_225_600_000
        let count = 20_000
        var book = CarTables().book(rules: CarPartitionTests.rules)
        func take(_ number: Int, _ ts: Int64, offset: Int) -> Int? {
            unsafe Array("car-\(number)".utf8).withUnsafeBytes { key in
                try! unsafe book.accept(key: key, CarReading(ts: ts), offset: Int64(offset), pushedMs: 1_000)
            }
        }
        book.tick(startMs, offset: 0)
        for number in 0..<count { #expect(take(number, startMs, offset: 1 + number) != nil) }
        book.tick(startMs + 3_600_000, offset: Int64(count + 1))
        for (index, days) in [1, 2, 3].enumerated() as EnumeratedSequence<[Int64]> {
            book.tick(startMs + days * UTC.msPerDay, offset: Int64(count + 2 + index))
            book.clearRows()
            if let leaving = book.leavingIdle(unless: { $0 == 7 }) { book.keep(leaving) }
            #expect(book.count == (days < 3 ? count : 1))
        }
        // The one that is needed elsewhere has another number now.
        #expect(take(7, startMs + 3 * UTC.msPerDay, offset: count + 10) == 0)
        #expect(take(8, startMs + 3 * UTC.msPerDay, offset: count + 11) == nil && book.count == 1)
        book.knowsNew([VehicleID("car-8")!])
        #expect(take(8, startMs + 3 * UTC.msPerDay, offset: count + 11) == 1)
        // A clock that is set back into their time needs all of it.
        #expect(book.neededSince(clockMs: startMs + UTC.msPerDay) == startMs - UTC.msPerDay)
        #expect(book.neededSince(clockMs: startMs + 4 * UTC.msPerDay) == nil)
    }
}
