import Fleet
import Pipeline
import Postgres
import SimKit
import Storage
import Testing
import Trips

/// What a driver's alerts are judged from, of a car that drives for days.
@Suite(.enabled(if: testDatabase != nil, "set DROVER_TEST_POSTGRES"))
struct StoredStretchTests {
    private static let midnightMs: Int64 = 1_767_225_600_000
    private static let car = VehicleID("car-1")!

    private static func take(_ cars: inout CarPartition, minute: Int64, offset: Int64) {
        var reading = CarReading(ts: midnightMs + minute * 60_000)
        reading[.speed] = 36_000
        unsafe Array(car.text.utf8).withUnsafeBytes { key in
            _ = try! unsafe cars.accept(key: key, reading, offset: offset, pushedMs: 1_000)
        }
    }

    /// Begin and end of each stretch in minutes, one after the other as they are judged.
    private static func stretches(_ open: [CarReading], _ db: Connection) throws -> [String] {
        var (fromMs, found): (Int64, [String]) = (midnightMs, [])
        while let stretch = try DriverAlertStore.stretch(
            of: car, fromMs: fromMs, untilMs: .max, open: open, on: db)
        {
            #expect(stretch.readings.allSatisfy { $0.ts >= stretch.fromMs && $0.ts <= stretch.toMs })
            let (first, last) = (stretch.fromMs - midnightMs, stretch.toMs - midnightMs)
            found.append(
                "\(first / 60_000)-\(last / 60_000)\(stretch.goesOn ? ">" : "") \(stretch.readings.count)"
                    + (stretch.isFollowed ? " followed" : ""))
            fromMs = stretch.untilMs + 1
        }
        return found
    }

    @Test func aStretchEndsWithThePartOfTheDrive() throws {
        let db = try SchemaConnection.connectForWriting(TestDatabase.migrated("stretch"))
        var cars = CarPartition(
            rules: TripRules(), progress: CarProgress(nextOffset: 0, replayFrom: 0, replayClockMs: 0))
        // A silence of ten minutes ends a trip, but no stretch.
        let minutes = [50, 54, 64] + Array(stride(from: 68, through: 2_876, by: 4)) as [Int64]
        for (offset, minute) in minutes.enumerated() {
            StoredStretchTests.take(&cars, minute: minute, offset: Int64(offset))
        }
        cars.tick(StoredStretchTests.midnightMs + 2_880 * 60_000, offset: 3_000)
        func write() throws {
            let rows = CarStore.encode(cars)
            try db.transaction {
                for table in CarStore.tables {
                    try table.write(rows.filter { $0.table.name == table.name }.map(\.bytes), on: db)
                }
            }
            cars.clearRows()
        }
        try write()
        // The first minute of the next part is in memory only: the tables do not know yet that the drive goes on.
        StoredStretchTests.take(&cars, minute: 2_880, offset: 3_001)
        let number = try #require(cars.number(of: StoredStretchTests.car))
        let open = cars.openReadings(number)
        let judged = try StoredStretchTests.stretches(open, db)
        #expect(judged == ["50-2879> 706 followed", "2880-2880 1"])
        // And when it is stored the same.
        for minute in stride(from: 2_884, through: 4_320, by: 4) as StrideThrough<Int64> {
            StoredStretchTests.take(&cars, minute: minute, offset: 3_001 + minute)
        }
        cars.tick(StoredStretchTests.midnightMs + 9_000 * 60_000, offset: 20_000)
        try write()
        let stored = try StoredStretchTests.stretches([], db)
        #expect(stored == ["50-2879> 706 followed", "2880-4319> 360 followed", "4320-4320 1"])
    }
}
