import Fleet
import Pipeline
import SimKit
import Testing
import Trips

/// Drivers' marks, told by hand: what stands in the tables after each. The seeds of `CarTrialTests` mix the same at random.
struct TripCutTests {
    private static let startMs: Int64 = 1_767_225_600_000
    private static let car = VehicleID("car-1")!

    /// A partition with one car, in memory: every record is committed before the next.
    private struct Run {
        var tables = CarTables()
        var cars: CarPartition
        var offset: Int64 = 0

        init() { cars = tables.partition(rules: TripRules()) }

        /// At so many seconds after the start, 36 km/h.
        mutating func read(_ seconds: Int64...) {
            for second in seconds {
                var reading = CarReading(ts: startMs + second * 1_000)
                reading[.speed] = 36_000
                unsafe Array(car.text.utf8).withUnsafeBytes { key in
                    _ = try! unsafe cars.accept(key: key, reading, offset: offset, pushedMs: 1_000)
                }
                commit()
            }
        }

        mutating func mark(start: Int64) { cut(TripCuts.time(isStart: true, at: startMs + start * 1_000)) }
        mutating func mark(stop: Int64) { cut(TripCuts.time(isStart: false, at: startMs + stop * 1_000)) }

        private mutating func cut(_ time: Int64) {
            unsafe Array(car.text.utf8).withUnsafeBytes { key in
                _ = try! unsafe cars.accept(key: key, cut: time, offset: offset, pushedMs: 1_000)
            }
            tables.cuts[car, default: []].insert(time)
            commit()
        }

        mutating func tick(_ second: Int64) {
            cars.tick(startMs + second * 1_000, offset: offset)
            commit()
        }

        mutating func setBack(_ second: Int64) {
            cars.setBack(startMs + second * 1_000, offset: offset)
            commit()
        }

        private mutating func commit() {
            offset += 1
            tables.write(cars.rows, of: cars)
            cars.clearRows()
            while cars.hasLate {
                cars.resolve(tables.histories(cars.lateQueries), nextOffset: offset)
                tables.write(cars.rows, of: cars)
                cars.clearRows()
            }
            tables.progress = CarProgress(
                nextOffset: offset, replayFrom: cars.replayFrom.offset, replayClockMs: cars.replayFrom.clockMs)
        }

        /// Another worker goes on from the tables.
        mutating func takeOver() { cars = tables.partition(rules: TripRules()) }

        /// `first-last` of each trip in seconds, `+` where it is open.
        var trips: [String] {
            tables.results.trips[car, default: [:]].values.sorted { $0.trip.startMs < $1.trip.startMs }.map {
                let (first, last) = ($0.trip.startMs - startMs, $0.trip.endMs - startMs)
                return "\(first / 1_000)-\(last / 1_000)" + ($0.isOpen ? "+" : "")
            }
        }

        /// Start of each stretch in milliseconds, and its readings.
        var stretches: [Int64: Int] {
            let rows = tables.results.minutes[car, default: [:]].values
            return Dictionary(uniqueKeysWithValues: rows.map { ($0.startMs - startMs, $0.readings.count) })
        }
    }

    @Test(
        "A trip that only a wrong clock has ended is open again when it is set back; what is in memory is written",
        arguments: [false, true])
    func aClockThatIsSetBack(takingOver: Bool) {
        var run = Run()
        run.read(0, 10, 70)
        run.tick(100_000)
        #expect(run.trips == ["0-70"])
        if takingOver { run.takeOver() }
        run.setBack(100)
        #expect(run.trips == ["0-70+"] && run.cars.replayFrom.offset == run.offset)
        if takingOver { run.takeOver() }
        run.read(80, 130)
        run.setBack(90)
        #expect(run.trips == ["0-130+"] && run.stretches == [0: 2, 60_000: 2, 120_000: 1])
        run.tick(1_000)
        #expect(run.trips == ["0-130"])
        // Before its end, and beyond what ends it.
        run.setBack(900)
        #expect(run.trips == ["0-130"])
    }

    @Test func aTripThatItsDriverHasEndedStaysSoWhenTheClockIsSetBack() {
        var run = Run()
        run.read(0, 10)
        run.mark(stop: 15)
        run.tick(100_000)
        run.setBack(20)
        #expect(run.trips == ["0-10"])
    }

    @Test func aStartBeginsATripWithAReadingOfItsOwnTime() {
        var run = Run()
        run.read(0, 10, 20)
        run.mark(start: 20)
        #expect(run.trips == ["0-10", "20-20+"] && run.stretches == [0: 2, 20_000: 1])
        run.read(30, 70)
        run.tick(200)
        #expect(run.trips == ["0-10", "20-70+"] && run.stretches == [0: 2, 20_000: 2, 60_000: 1])
    }

    @Test func aStopEndsTheTripWithAReadingOfItsOwnTime() {
        var run = Run()
        run.read(0, 10, 20)
        run.mark(stop: 10)
        #expect(run.trips == ["0-10", "20-20+"] && run.stretches == [0: 2, 10_001: 1])
    }

    /// Told at once: nobody waits five minutes for the trip that he has ended.
    @Test func aStopAfterTheLastReadingEndsTheTripAtOnce() {
        var run = Run()
        run.read(0, 10)
        #expect(run.trips == [])
        run.mark(stop: 15)
        #expect(run.trips == ["0-10"] && run.stretches == [0: 2])
        // A late reading before it is still of that trip, and one after it begins the next.
        run.read(12, 20)
        run.tick(100)
        #expect(run.trips == ["0-12", "20-20+"] && run.stretches == [0: 3, 15_001: 1])
    }

    @Test func theIntervalAcrossACutIsNotDriven() {
        var run = Run()
        run.read(0, 10, 20)
        run.mark(start: 20)
        run.tick(1_000)
        let trips = run.tables.results.trips[TripCutTests.car]!.values
        #expect(trips.map(\.trip.totals.distanceMm).sorted() == [0, 100_000])
        #expect(trips.allSatisfy { $0.trip.totals.holes == 0 })
        #expect(run.tables.results.days[TripCutTests.car]!.values.map(\.distanceMm) == [100_000])
    }

    @Test func anyOrderOfStopAndStartGivesTheSameRows() {
        var results: [CarTables.Results] = []
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            var run = Run()
            for step in order {
                switch step {
                case 0: run.mark(stop: 12)
                case 1: run.mark(start: 28)
                default: run.read(0, 10, 30, 40, 90)
                }
            }
            run.tick(1_000)
            #expect(run.trips == ["0-10", "30-90"], "\(order)")
            #expect(run.stretches == [0: 2, 28_000: 2, 60_000: 1], "\(order)")
            results.append(run.tables.results)
        }
        #expect(results.allSatisfy { $0 == results[0] })
    }

    @Test func aLateMarkCutsATripThatIsLongOver() {
        var run = Run()
        run.read(0, 10, 20, 70, 1_000)
        run.tick(3_000)
        run.mark(start: 15)
        #expect(run.trips == ["0-10", "20-70", "1000-1000"])
        #expect(run.stretches == [0: 2, 15_000: 1, 60_000: 1, 960_000: 1])
        // The same again, and one where nothing is: nothing changes.
        let before = run.tables.results
        run.mark(start: 15)
        run.mark(stop: 500)
        #expect(run.tables.results == before)
    }

    @Test func aCutNearerToTheReadingMovesTheStretchsStart() {
        var run = Run()
        run.read(0, 10, 40)
        run.tick(1_000)
        run.mark(stop: 20)
        #expect(run.stretches == [0: 2, 20_001: 1])
        run.mark(start: 30)
        #expect(run.stretches == [0: 2, 30_000: 1])
        run.mark(start: 25)
        #expect(run.stretches == [0: 2, 30_000: 1] && run.trips == ["0-10", "40-40"])
    }

    @Test func aMarkBeforeAllReadingsWaitsForThem() {
        var run = Run()
        run.mark(start: 30)
        run.takeOver()
        run.read(20, 40)
        run.tick(1_000)
        #expect(run.trips == ["20-20", "40-40"] && run.stretches == [0: 1, 30_000: 1])
    }

    @Test func whoTakesOverKnowsTheMarks() {
        var run = Run()
        run.read(0, 10, 20)
        run.mark(start: 15)
        run.mark(stop: 50)
        run.takeOver()
        run.read(30, 55)
        // What is in memory only would be read again from the log.
        run.tick(120)
        run.takeOver()
        run.read(56)
        run.tick(1_000)
        #expect(run.trips == ["0-10", "20-30", "55-56"] && run.stretches == [0: 2, 15_000: 2, 50_001: 2])
    }

    @Test func readingsBetweenAStopAndTheNextStartAreATripOfTheirOwn() {
        var run = Run()
        run.read(0, 10)
        run.mark(stop: 10)
        run.read(20)
        run.mark(start: 30)
        run.read(30, 40)
        run.tick(1_000)
        #expect(run.trips == ["0-10", "20-20", "30-40"])
    }

    @Test("Most seeded logs with marks would give other rows without them")
    func marksMatter() {
        var (marked, changed) = (0, 0)
        for seed in 0..<200 as Range<UInt64> {
            let log = CarLog(seed: seed, readings: 40)
            let plain = log.records.filter { $0.cut == nil }
            guard plain.count < log.records.count else { continue }
            marked += 1
            if CarWhole(log.records, rules: log.rules).rows != CarWhole(plain, rules: log.rules).rows { changed += 1 }
        }
        #expect(marked > 150 && changed * 3 > marked * 2, "\(changed) of \(marked)")
    }
}
