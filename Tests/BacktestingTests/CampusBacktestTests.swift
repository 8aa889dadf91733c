import Backtesting
import Fleet
import Pipeline
import Routing
import SimKit
import Testing

/// A day tried again, beside the day as it was.
struct CampusBacktestTests {
    private static let ground: CampusSettings = {
        var ground = CampusSettings(
            name: "The square",
            boundary: [(0, 0), (200_000, 0), (200_000, 200_000), (0, 200_000)].map {
                Position(latitude: 389_000_000 + $0.0, longitude: -770_000_000 + $0.1)
            })
        // Chance has no part in it: the improvement is seeded by what a trial does not repeat.
        ground.numbers = [.iterations: 0, .otherVehicleS: 0, .movedArrivalS: 0, .pickupS: 20_000, .dropoffS: 10_000]
        return ground
    }()
    private static let beginMs: Int64 = 1_790_000_000_000

    /// A log whose vehicles drive as planned and say so, decided by the worker's own `CampusPartition`.
    private struct Log {
        var records: [(record: RideRecord, offset: Int64, atMs: Int64)] = []
        var campuses = CampusPartition(clockMs: 0, decidesFrom: 0)
        var simulation: CampusSimulation
        let area: CampusArea

        init() {
            area = CampusArea(boundary: CampusBacktestTests.ground.boundary)!
            simulation = CampusSimulation(
                campus: Campus(
                    rules: CampusBacktestTests.ground.rules(surge: 1),
                    travel: CampusBacktestTests.ground.travel(speedKmh: nil))!, seed: 1,
                startMs: CampusBacktestTests.beginMs)
            say(.campus(CampusBacktestTests.ground))
        }

        /// Vehicles tell where they are before anybody says anything.
        mutating func say(_ kind: RideRecord.Kind) {
            for vehicle in simulation.campus.vehicles where campuses.dispatchers["c"]?.vehicles[vehicle.id] != nil {
                let place = area.position(vehicle.place)
                push(.position(vehicle: vehicle.id, place: place, speedMmPerS: 10_000))
            }
            push(kind)
        }

        private mutating func push(_ kind: RideRecord.Kind) {
            let (offset, atMs) = (
                Int64(records.count), CampusBacktestTests.beginMs + Int64((simulation.nowS * 1_000).rounded())
            )
            let record = RideRecord(id: "x-\(offset)", campus: "c", ts: atMs, by: "test", kind: kind)
            records.append((record, offset, atMs))
            try! campuses.accept(record, offset: offset, atMs: atMs)
        }

        mutating func drive(untilS: Double) {
            while let event = simulation.next(untilS: untilS) {
                _ = simulation.apply(event)
                switch event {
                case .pickedUp(let id): say(.done(request: id, isPickup: true))
                case .droppedOff(let id): say(.done(request: id, isPickup: false))
                default: break
                }
            }
        }
    }

    private static func day(_ seed: UInt64) -> Log {
        var chance = SeededChance(seed: seed)
        var log = Log()
        func place() -> Position {
            Position(
                latitude: 389_000_000 + Int32(chance.below(200_000)),
                longitude: -770_000_000 + Int32(chance.below(200_000)))
        }
        for v in 0..<4 {
            let entered = RideRecord.InService(
                vehicle: "v\(v)", driver: "d\(v)", person: .init(name: "D", photo: nil), capacity: 4, place: place())
            _ = log.simulation.apply(.entered(vehicle: "v\(v)", capacity: 4, place: log.area.point(entered.place)))
            log.say(.inService(entered))
        }
        var nowS = 0.0
        for number in 0..<36 {
            nowS += Double(chance.below(60_000)) / 1_000
            log.drive(untilS: nowS)
            if chance.once(in: 8), let ride = log.simulation.campus.rides.first(where: { !$0.isOnBoard }) {
                log.say(.cancel(request: ride.request.id))
                _ = log.simulation.apply(.cancelled(request: ride.request.id))
            } else if chance.once(in: 10), let ride = log.simulation.campus.rides.first(where: { !$0.isOnBoard }) {
                log.say(.override(request: ride.request.id))
                _ = log.simulation.apply(.overridden(request: ride.request.id))
            } else {
                let pickup = RideRecord.Pickup(
                    request: "r\(number)", rider: "p\(number)", passengers: Int(1 + chance.below(2)), from: place(),
                    to: place())
                log.say(.pickup(pickup))
                // As the partition made it, with what it has learned.
                _ = log.simulation.apply(
                    .requested(log.campuses.dispatchers["c"]!.campus.ride(pickup.request)!.request))
            }
        }
        log.drive(untilS: nowS + 7_000)
        return log
    }

    private static func read(_ log: Log, fromS: Int64 = 0) -> CampusDay {
        var day = CampusDay(
            campus: "c", spanMs: beginMs + fromS * 1_000..<beginMs + 86_400_000, decidesFrom: 0)
        for (record, offset, atMs) in log.records { day.accept(record, offset: offset, atMs: atMs) }
        return day
    }

    @Test("With the same weights a day that was driven as planned comes out as it was", arguments: 0..<UInt64(2))
    func same(_ seed: UInt64) throws {
        let log = CampusBacktestTests.day(seed)
        let day = CampusBacktestTests.read(log)
        let (was, would) = (day.figures, try #require(CampusBacktest.run(day)))
        #expect(was.requests == would.requests && was.requests > 18)
        #expect(
            (was.served, was.cancelled, was.expired, was.refused) == (
                would.served, would.cancelled, would.expired, would.refused
            ), "seed \(seed)")
        #expect(was.overrides == would.overrides, "seed \(seed)")
        let (a, b) = (was.waitingS.reduce(0, +), would.waitingS.reduce(0, +))
        #expect((a - b).magnitude < 0.01 * Double(was.served), "seed \(seed)")
        #expect(
            (was.ridingS.reduce(0, +) - would.ridingS.reduce(0, +)).magnitude < 0.01 * Double(was.served),
            "seed \(seed)")
        #expect((would.driveS - log.simulation.driveS).magnitude < 1, "seed \(seed)")
        #expect(was.directS > 0 && (was.directS - would.directS).magnitude < 1e-6 * was.directS)
    }

    @Test("Other weights decide otherwise: without a price on waiting people wait longer, and vehicles drive less")
    func other() throws {
        var (sameWait, otherWait, sameDrive, otherDrive) = (0.0, 0.0, 0.0, 0.0)
        for seed in 0..<UInt64(2) {
            let day = CampusBacktestTests.read(CampusBacktestTests.day(seed))
            let same = try #require(CampusBacktest.run(day))
            let other = try #require(CampusBacktest.run(day, changed: [.wait: 0, .ride: 0]))
            #expect(same.requests == other.requests)
            sameWait += same.waitingS.reduce(0, +)
            otherWait += other.waitingS.reduce(0, +)
            (sameDrive, otherDrive) = (sameDrive + same.driveS, otherDrive + other.driveS)
        }
        #expect(otherWait > 1.05 * sameWait && otherDrive < sameDrive)
    }

    @Test("A span in the middle begins as the day stood then, and counts who asked within it")
    func middle() throws {
        let log = CampusBacktestTests.day(3)
        let day = CampusBacktestTests.read(log, fromS: 600)
        let asked = log.records.filter {
            if case .pickup = $0.record.kind { $0.atMs >= CampusBacktestTests.beginMs + 600_000 } else { false }
        }
        let would = try #require(CampusBacktest.run(day))
        #expect(day.figures.requests == asked.count && would.requests == asked.count && asked.count > 5)
        #expect((day.start?.campus.rides.isEmpty ?? true) == false)
        let (a, b) = (day.figures.waitingS.reduce(0, +), would.waitingS.reduce(0, +))
        // Vehicles on the way began where they stood last: the log has no positions.
        #expect((a - b).magnitude < 0.25 * a)
    }

    @Test func aCampusThatIsNotThereHasNoDay() {
        let day = CampusDay(campus: "c", spanMs: 0..<1, decidesFrom: 0)
        #expect(CampusBacktest.run(day) == nil && day.figures.requests == 0)
    }

    @Test func aQuantileIsTheNearestRank() {
        #expect(
            CampusFigures.quantile(0.9, of: [5, 1, 4, 2, 3]) == 5 && CampusFigures.quantile(0.5, of: [4, 1, 3, 2]) == 2)
        #expect(CampusFigures.quantile(0.5, of: []) == nil)
    }
}
