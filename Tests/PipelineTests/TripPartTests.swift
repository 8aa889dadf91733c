import Fleet
import Pipeline
import SimKit
import Testing
import Trips

/// Drives that run for days, told by hand. The seeds of `CarTrialTests` mix the same at random.
struct TripPartTests {
    private static let midnightMs: Int64 = 1_767_225_600_000
    private static let car = VehicleID("car-1")!

    /// A partition with one car, in memory.
    private struct Run {
        var tables = CarTables()
        var cars: CarPartition
        var offset: Int64 = 0
        /// Stretches and readings that the last late reading read back.
        var readBack = (minutes: 0, readings: 0)

        init() { cars = tables.partition(rules: TripRules()) }

        /// One reading each four minutes, at so many minutes after midnight from `first` to `last`, and one at `last`.
        mutating func drive(_ first: Int64, _ last: Int64) {
            for minute in stride(from: first, to: last, by: 4) { take(minute) }
            take(last)
            commit()
        }

        mutating func read(_ minutes: Int64...) {
            for minute in minutes { take(minute) }
            commit()
        }

        private mutating func take(_ minute: Int64) {
            var reading = CarReading(ts: midnightMs + minute * 60_000)
            (reading[.speed], reading[.rpm]) = (36_000, 2_000_000)
            unsafe Array(car.text.utf8).withUnsafeBytes { key in
                _ = try! unsafe cars.accept(key: key, reading, offset: offset, pushedMs: 1_000)
            }
            offset += 1
        }

        mutating func mark(start: Int64) {
            let cut = midnightMs + start * 60_000
            unsafe Array(car.text.utf8).withUnsafeBytes { key in
                _ = try! unsafe cars.accept(key: key, cut: cut, offset: offset, pushedMs: 1_000)
            }
            offset += 1
            tables.cuts[car, default: []].insert(cut)
            commit()
        }

        mutating func tick(_ minute: Int64) {
            cars.tick(midnightMs + minute * 60_000, offset: offset)
            offset += 1
            commit()
        }

        private mutating func commit() {
            tables.write(cars.rows, of: cars)
            cars.clearRows()
            readBack = (0, 0)
            while cars.hasLate {
                let histories = tables.histories(cars.lateQueries)
                for history in histories.values {
                    readBack.minutes += history.minutes.count
                    readBack.readings += history.minutes.reduce(0) { $0 + $1.minute.readings.count }
                }
                cars.resolve(histories, nextOffset: offset)
                tables.write(cars.rows, of: cars)
                cars.clearRows()
            }
            tables.progress = CarProgress(
                nextOffset: offset, replayFrom: cars.replayFrom.offset, replayClockMs: cars.replayFrom.clockMs)
        }

        /// Begin and end of each trip in minutes; `<`: it is from before, `>`: it goes on, `+`: it is open.
        var trips: [String] {
            tables.results.trips[car, default: [:]].values.sorted { $0.trip.startMs < $1.trip.startMs }.map {
                let (first, last) = ($0.trip.startMs - midnightMs, $0.trip.endMs - midnightMs)
                return ($0.trip.isFromBefore ? "<" : "") + "\(first / 60_000)-\(last / 60_000)"
                    + ($0.trip.goesOn ? ">" : "") + ($0.isOpen ? "+" : "")
            }
        }

        /// What one that has all at once makes of the same.
        func isWhole(clock minute: Int64) -> Bool {
            var log = tables.minutes[car]!.values.flatMap(\.row.readings).map { LoggedRecord.reading(car, $0) }
            log += tables.cuts[car, default: []].map { .cut(car, $0) } + [.tick(midnightMs + minute * 60_000)]
            return CarWhole(log, rules: TripRules()).rows == tables.results
        }
    }

    private static let day: Int64 = 1_440

    @Test(
        "The first border is the first midnight after a day, and each after it is one",
        arguments: [
            (0, ["0-1440>", "<1440-2880>", "<2880-4320>", "<4320-4324"]),
            (4, ["4-2880>", "<2880-4320>", "<4320-4324"]),
            (1_436, ["1436-2880>", "<2880-4320>", "<4320-4324"]), (1_440, ["1440-2880>", "<2880-4320>", "<4320-4324"]),
        ] as [(Int64, [String])])
    func borders(begin: Int64, trips: [String]) {
        var run = Run()
        run.drive(begin, 3 * TripPartTests.day + 4)
        run.tick(10_000)
        #expect(run.trips == trips && run.isWhole(clock: 10_000))
    }

    @Test func aTripThatEndsAtItsBorderHasNoPartBehindIt() {
        var run = Run()
        run.drive(0, 1_436)
        #expect(run.trips.last == "0-1432+")
        run.tick(10_000)
        #expect(run.trips == ["0-1436"])
        run.read(1_440)
        run.tick(10_001)
        #expect(run.trips == ["0-1440>", "<1440-1440"] && run.isWhole(clock: 10_001))
    }

    @Test func aReadingBeforeTheStartMovesTheFirstBorderByADayAndNoOther() {
        var run = Run()
        run.drive(4, 6 * TripPartTests.day)
        run.tick(20_000)
        #expect(run.trips.prefix(2) == ["4-2880>", "<2880-4320>"] && run.trips.count == 6)
        run.read(0)
        #expect(run.trips.prefix(3) == ["0-1440>", "<1440-2880>", "<2880-4320>"] && run.trips.count == 7)
        #expect(run.readBack.minutes <= 3 * 360 && run.isWhole(clock: 20_000))
    }

    @Test func aReadingBetweenTwoDrivesMakesOneOfThem() {
        var run = Run()
        run.drive(100, 2_900)
        run.drive(2_908, 6 * TripPartTests.day)
        run.tick(20_000)
        #expect(run.trips.prefix(3) == ["100-2880>", "<2880-2900", "2908-5760>"])
        run.read(2_904)
        #expect(run.trips.prefix(4) == ["100-2880>", "<2880-4320>", "<4320-5760>", "<5760-7200>"])
        #expect(run.isWhole(clock: 20_000))
    }

    @Test func aGapAtABorderThatALateReadingFills() {
        var run = Run()
        run.drive(100, 2_876)
        run.drive(2_883, 3_000)
        run.tick(20_000)
        #expect(run.trips == ["100-2876", "2883-3000"])
        run.read(2_879)
        #expect(run.trips == ["100-2880>", "<2880-3000"] && run.isWhole(clock: 20_000))
    }

    @Test func aMarkInAPartBeginsADriveWithADayOfItsOwn() {
        var run = Run()
        run.drive(0, 5 * TripPartTests.day)
        run.tick(20_000)
        #expect(run.trips.count == 6)
        run.mark(start: 2_000)
        #expect(run.trips == ["0-1440>", "<1440-1996", "2000-4320>", "<4320-5760>", "<5760-7200>", "<7200-7200"])
        #expect(run.isWhole(clock: 20_000))
    }

    @Test func aLateReadingInADriveOfMonthsReadsDaysBack() {
        var run = Run()
        run.drive(100, 150 * TripPartTests.day)
        run.tick(1_000_000)
        #expect(run.trips.count == 150)
        for minute in [101, 2_875, 2_882, 70 * 1_440 - 1, 70 * 1_440 + 1, 100_001, 149 * 1_440 + 2] as [Int64] {
            run.read(minute)
            // A part of a day has 360 readings, the first one almost twice as many.
            #expect(run.readBack.minutes <= 3 * 360 && run.readBack.readings <= 3 * 361, "\(minute)")
        }
        // Far apart and at once: one day after the other.
        run.read(50_001, 90_001, 120_001)
        #expect(run.readBack.minutes <= 3 * 720)
        #expect(run.isWhole(clock: 1_000_000))
    }

    @Test("Most seeded logs of long drives have parts, some of three days")
    func partsMatter() {
        var (parted, long) = (0, 0)
        for seed in 0..<200 as Range<UInt64> {
            let log = CarLog(seed: seed, readings: 120, rules: SeededDrive.longRules)
            let rows = CarWhole(log.records, rules: log.rules).rows.trips.values.flatMap(\.values)
            if rows.contains(where: \.trip.isFromBefore) { parted += 1 }
            if rows.contains(where: { $0.trip.isFromBefore && $0.trip.goesOn }) { long += 1 }
        }
        #expect(parted > 100 && long > 30, "\(parted), \(long)")
    }
}
