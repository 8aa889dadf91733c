import Alerts
import Fleet
import Pipeline
import SimKit
import Testing
import Trips

/// How limits of the installation come to cars, told by hand. The seeds of `CarTrialTests` have what is told in the end.
@Suite("Limits of the installation, for cars that nobody answers for")
struct InstallationLimitsTests {
    private static let startMs: Int64 = 1_789_344_000_000
    private static let cars = (0..<300).map { VehicleID("car-\($0)")! }

    private static func reading(_ car: VehicleID, _ second: Int64, speed: Int32 = 150_000) -> LoggedRecord {
        var reading = CarReading(ts: startMs + second * 1_000)
        reading[.speed] = speed
        return .reading(car, reading)
    }

    private static func limits(_ second: Int64, _ text: String = #"{"speed_limit_kmh":100}"#, id: String = "l")
        -> LoggedRecord
    {
        .action(
            Action(
                id: id, vehicle: nil, ts: startMs + second * 1_000, by: "test", note: nil,
                kind: .settings(account: InstallationLimits.account, text: text)))
    }

    private static func ticks(_ count: Int64, from second: Int64) -> [LoggedRecord] {
        (0..<count).map { .tick(startMs + (second + 5 * $0) * 1_000) }
    }

    private static func simulation(_ log: [LoggedRecord], forgets: Bool = true) -> CarSimulation {
        var simulation = CarSimulation(
            log: log, rules: TripRules(), batchMax: 20, turnsMax: 8, spread: .init(cars: 50, waiting: 16, least: 2),
            forgets: forgets, seed: 1)
        simulation.run()
        return simulation
    }

    @Test("Limits of the past have each car judged that drove since, some at a tick, and write no more rows at once")
    func bounded() {
        let readings = Self.cars.map { Self.reading($0, 10) }
        // A day later, so that no minute of theirs is open.
        let simulation = Self.simulation(
            readings + Self.ticks(1, from: 80_000) + [Self.limits(0)] + Self.ticks(60, from: 90_000))
        #expect(simulation.episodes.count == Self.cars.count)
        // And a look whether something is before.
        #expect(simulation.turns == 2 * Self.cars.count)
        #expect(simulation.driverRowsMax <= 16 + 8 + 8)
    }

    @Test("Limits from now on have no car judged again that is silent, and hold for its next reading")
    func silent() {
        let log =
            Self.cars.map { Self.reading($0, 10) } + Self.ticks(1, from: 8_000) + [Self.limits(8_000)]
            + Self.ticks(10, from: 8_005) + Self.cars.map { Self.reading($0, 9_000) } + Self.ticks(1, from: 9_010)
        let simulation = Self.simulation(log)
        #expect(simulation.turns == 0)
        let opened = simulation.episodes.values.map { $0.map(\.openedMs) }
        #expect(opened.count == Self.cars.count && opened.allSatisfy { $0 == [Self.startMs + 9_000_000] })
    }

    @Test(
        "Limits from now on take cars into memory that drive, some at a tick, so that their next reading need not wait")
    func driving() {
        let log =
            Self.cars.map { Self.reading($0, 10) } + [Self.limits(11)] + Self.ticks(60, from: 20)
            + Self.cars.map { Self.reading($0, 330) }
        let simulation = Self.simulation(log)
        #expect(simulation.turns == Self.cars.count)
        #expect(simulation.told.alerts.count == Self.cars.count)
    }

    @Test("Switched off they end what is open, and of two of one time the greater id counts")
    func off() {
        let car = Self.cars[0]
        var log = [Self.limits(0), Self.limits(50, #"{"alerts":false}"#, id: "off")] + Self.ticks(4, from: -60)
        log += (0..<100).map { Self.reading(car, $0) } + Self.ticks(2, from: 100)
        #expect(Self.simulation(log).episodes[car]?.map(\.resolvedMs) == [Self.startMs + 50_000])
        log +=
            [Self.limits(0, #"{"speed_limit_kmh":180}"#, id: "m"), Self.limits(0, id: "k")] + Self.ticks(6, from: 200)
        #expect(Self.simulation(log).episodes[car] == nil)
    }

    @Test("Who answers for a car is asked first")
    func owned() {
        var registration = Action.Registration()
        registration.car = Action.Car()
        registration.car!.account = "jo"
        let owner = Action(
            id: "r", vehicle: Self.cars[0], ts: Self.startMs + 50_000, by: "test", note: nil,
            kind: .registration(registration))
        var log =
            [Self.limits(0)] + Self.ticks(2, from: -60)
            + (0..<100).map { Self.reading(Self.cars[0], $0, speed: 110_000) }
        #expect(Self.simulation(log).episodes[Self.cars[0]]?.map(\.model) == [InstallationLimits.account])
        // The standard is 128.7 km/h, and the first owner is asked of before, too.
        log += [.action(owner)] + Self.ticks(4, from: 200)
        #expect(Self.simulation(log).episodes[Self.cars[0]] == nil)
    }

    @Test("A scan that was not answered has nothing judged, whether the worker remembers the car or not")
    func scans() {
        func scan(_ id: String, _ second: Int64, isDone: Bool) -> LoggedRecord {
            var scan = Action.HealthScan(request: nil, isDone: isDone, text: "")
            if isDone { scan.stored = ["P0133"] }
            return .action(
                Action(
                    id: id, vehicle: Self.cars[1], ts: Self.startMs + second * 1_000, by: "test", note: nil,
                    kind: .scan(scan)))
        }
        var log = [scan("a", 5, isDone: true), Self.reading(Self.cars[0], 0, speed: 10_000)]
        log +=
            Self.ticks(1, from: 6) + [Self.limits(1)] + Self.ticks(20, from: 10) + [scan("b", 110, isDone: false)]
            + Self.ticks(20, from: 115)
        log += [Self.reading(Self.cars[1], 220, speed: 10_000)] + Self.ticks(2, from: 230)
        let told = [true, false].map { Self.simulation(log, forgets: $0).told }
        #expect(told[0] == told[1])
        #expect(told[0].alerts.values.map(\.episode.model) == [InstallationLimits.account])
    }

    @Test("Limits in the place of others of their time come to one car after the other, and write no more rows at once")
    func replaced() {
        var log = [Self.limits(0)] + Self.ticks(1, from: 1)
        for (index, car) in Self.cars.enumerated() {
            log.append(Self.reading(car, 10, speed: 50_000))
            // A commit of few cars each.
            if index % 10 == 9 { log.append(.tick(Self.startMs + 11_000 + Int64(index))) }
        }
        // Minutes are written once they are over; no car is silent for long yet.
        log += Self.ticks(30, from: 16)
        let before = Self.simulation(log).driverRows.count
        log.append(Self.limits(0, #"{"speed_limit_kmh":40}"#, id: "m"))
        log += (170..<230).map { .tick(Self.startMs + $0 * 1_000) }
        let simulation = Self.simulation(log)
        #expect(simulation.told.alerts.count == Self.cars.count)
        let rows = simulation.driverRows.dropFirst(before)
        #expect(rows.reduce(0, +) >= Self.cars.count && rows.allSatisfy { $0 <= 16 + 8 + 8 })
        for (batchMax, forgets) in [(1, false), (3, true), (50, false)] as [(Int64, Bool)] {
            var other = CarSimulation(
                log: log, rules: TripRules(), batchMax: batchMax, faults: .many, turnsMax: 8,
                spread: .init(cars: 50, waiting: 16, least: 2), forgets: forgets, seed: 2)
            other.run()
            #expect(other.told == simulation.told)
        }
    }

    @Test("What is replaced holds for a car until the other has come to it")
    func holdsMeanwhile() {
        let last = Self.cars.max()!
        let log =
            [Self.limits(0)] + Self.ticks(1, from: 1) + Self.cars.map { Self.reading($0, 10, speed: 50_000) }
            + [Self.limits(0, #"{"speed_limit_kmh":200}"#, id: "m")] + Self.ticks(1, from: 16)
            + [Self.reading(last, 20)]
        var simulation = Self.simulation(log)
        #expect(simulation.episodes[last]?.map(\.openedMs) == [Self.startMs + 20_000])
        simulation = Self.simulation(log + Self.ticks(60, from: 21))
        #expect(simulation.episodes.isEmpty)
    }

    @Test("Of limits of one time three are kept at most, and each comes to all cars or to none")
    func threeOfOneTime() {
        var limits = InstallationLimits()
        func say(_ id: String) -> Bool {
            limits.add(.init(inForceMs: 0, id: id, settings: .standard, offset: 1 + Int64(id.utf8.first!), fromMs: 0))
        }
        func ids() -> [String] { limits.entries(inForceMs: 0).map(\.id) }
        let taken = [say("a"), say("b")]
        #expect(taken == [true, true] && ids() == ["b"])
        _ = limits.spread(to: .all(offset: 1))
        let others = [say("c"), say("d"), say("a")]
        #expect(others == [true, true, false] && ids() == ["b", "d"])
        _ = limits.spread(to: .upTo(VehicleID("car-1")!))
        let more = [say("e"), say("f")]
        #expect(more == [true, true] && ids() == ["b", "d", "f"])
        #expect(limits.spreading?.id == "d")
        _ = limits.spread(to: .all(offset: 2))
        #expect(ids() == ["d", "f"] && limits.spreading?.id == "f")
        _ = limits.spread(to: .all(offset: 3))
        #expect(ids() == ["f"] && limits.spreading == nil)
    }

    @Test("A car waits behind the one that a record came to last")
    func reach() {
        var limits = InstallationLimits()
        let (first, last) = (VehicleID("a")!, VehicleID("b")!)
        let entry = InstallationLimits.Entry(
            inForceMs: 0, id: "x", settings: .standard, offset: 1, fromMs: 0)
        let taken = [limits.add(entry), limits.add(entry)]
        #expect(taken == [true, false])
        #expect(limits.rules(of: first) == nil)
        _ = limits.spread(to: .upTo(first))
        #expect(limits.rules(of: first) != nil && limits.rules(of: last) == nil)
        _ = limits.spread(to: .all(offset: 2))
        #expect(limits.rules(of: last) == limits.rules(of: first) && limits.spreading == nil)
    }
}
