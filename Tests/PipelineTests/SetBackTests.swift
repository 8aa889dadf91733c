import Alerts
import Fleet
import Pipeline
import SimKit
import Testing
import Trips

/// How a clock that is set back comes to cars, told by hand. The seeds of `CarTrialTests` have what is told in the end.
@Suite("A partition's clock that is set back")
struct SetBackTests {
    private static let startMs: Int64 = 1_789_344_000_000
    private static let cars = (0..<200).map { VehicleID("car-\($0)")! }
    /// After the last car's reading.
    private static let endMs = startMs + 200 * 400_000

    private static func reading(_ car: VehicleID, _ ms: Int64) -> LoggedRecord {
        var reading = CarReading(ts: ms)
        reading[.speed] = 150_000
        return .reading(car, reading)
    }

    /// Each car drives alone, too fast, and is over by the clock before the next ones; all of them on one day. The clock goes ahead by two
    /// hours behind them, and is set back.
    private static let day: [LoggedRecord] = {
        var log: [LoggedRecord] = [
            .action(
                Action(
                    id: "l", vehicle: nil, ts: startMs, by: "test", note: nil,
                    kind: .settings(account: InstallationLimits.account, text: #"{"speed_limit_kmh":100}"#))),
            .tick(startMs),
        ]
        for (index, car) in cars.enumerated() {
            let ms = startMs + Int64(index) * 400_000
            log += [reading(car, ms), .tick(ms + 5_000)]
        }
        return log + [.tick(endMs + 7_200_000), .setBack(endMs)]
    }()

    private static func ticks(_ count: Int64) -> [LoggedRecord] { (1...count).map { .tick(endMs + $0 * 5_000) } }

    private static func simulation(
        _ log: [LoggedRecord], _ spread: DriverPartition.SpreadSize = .init(cars: 50, waiting: 16, least: 2),
        batchMax: Int64 = 20, faults: CarSimulation.Faults = .init(), forgets: Bool = true
    ) -> CarSimulation {
        var simulation = CarSimulation(
            log: log, rules: TripRules(), batchMax: batchMax, faults: faults, turnsMax: 8, spread: spread,
            forgets: forgets, seed: 1)
        simulation.run()
        return simulation
    }

    @Test("It has each car of its last day judged again, some at a tick, and writes no more rows at once")
    func bounded() {
        let simulation = Self.simulation(Self.day + Self.ticks(60))
        #expect(simulation.turns == Self.cars.count)
        #expect(simulation.driverRowsMax <= 16 + 8 + 8)
    }

    @Test("Few cars are noted with the record: as many as there are, whatever the pieces of more")
    func few() {
        let simulation = Self.simulation(Self.day + Self.ticks(1), .init(cars: 16_384, waiting: 256, least: 16))
        #expect(simulation.driverRowsMax >= Self.cars.count)
        let (all, pieces) = (Self.day + Self.ticks(60), Self.simulation(Self.day + Self.ticks(60)))
        let whole = Self.simulation(all, .init(cars: 16_384, waiting: 256, least: 16))
        #expect(whole.told.alerts.keys.sorted() == pieces.told.alerts.keys.sorted())
        #expect(whole.episodes == pieces.episodes && whole.episodes == CarWhole(all, rules: TripRules()).episodes)
    }

    @Test("Killed, cut otherwise, with cars in memory or not: the same alerts, ids and times")
    func same() {
        let log = Self.day + Self.ticks(60)
        let told = Self.simulation(log).told
        #expect(Self.simulation(log, batchMax: 1, forgets: false).told == told)
        #expect(Self.simulation(log, batchMax: 3, faults: .many).told == told)
        #expect(Self.simulation(log, batchMax: 50, faults: .many, forgets: false).told == told)
    }

    @Test("A car that it has not come to goes on as it is, and what comes of it meanwhile is judged with what was")
    func meanwhile() {
        let last = Self.cars[199]
        let lastMs = Self.startMs + 199 * 400_000
        // Its alert was over by the clock; its next reading says that it was not silent.
        let log = Self.day + Self.ticks(1) + [Self.reading(last, lastMs + 60_000)] + Self.ticks(80)
        let simulation = Self.simulation(log)
        #expect(simulation.episodes == CarWhole(log, rules: TripRules()).episodes)
        #expect(simulation.episodes[last]?.count == 1)
    }

    @Test("However often it is set back again, the first comes to its end, and there are two at most")
    func again() {
        var log = Self.day + Self.ticks(2)
        for number in 0..<40 as Range<Int64> {
            log += [.tick(Self.endMs + 60_000 + number), .setBack(Self.endMs + 20_000 + number)]
        }
        log += (1...120).map { .tick(Self.endMs + 100_000 + $0 * 1_000) }
        let simulation = Self.simulation(log)
        #expect(simulation.driverRowsMax <= 16 + 8 + 8)
        #expect(simulation.episodes == CarWhole(log, rules: TripRules()).episodes)
        #expect(Self.simulation(log, batchMax: 7, faults: .many).told == simulation.told)
    }

    // MARK: Pages

    private static func pages(_ room: SpreadRoom) -> [Int] {
        var (room, pages) = (room, [Int]())
        while let next = room.nextPage() { pages.append(next) }
        return pages
    }

    @Test("Few cars are read where few are let in, and as many as ever where none of them waits")
    func pages() {
        var drivers = DriverPartition(storedOffset: 0)
        let size = DriverPartition.SpreadSize(cars: 16_384, waiting: 256, least: 16)
        #expect(Self.pages(drivers.room(size)) == [512, 2_048, 8_192, 5_632])
        for number in 0..<250 { drivers.ask(number, fromMs: 0, untilMs: 0, offset: 0, isLate: true) }
        #expect(Self.pages(drivers.room(size)) == [32, 128, 512, 2_048, 8_192, 5_472])
    }
}
