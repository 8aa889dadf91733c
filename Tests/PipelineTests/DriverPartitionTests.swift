import Alerts
import Fleet
import SimKit
import Testing
import Trips

/// How drivers' alerts are judged, told by hand. The seeds of `CarTrialTests` have what is told in the end.
@Suite("Drivers' alerts of a partition")
struct DriverPartitionTests {
    private static let startMs: Int64 = 1_789_344_000_000
    private static let car = VehicleID("car-1")!

    /// What a worker makes of it, the car being jo's from the beginning.
    private static func simulation(_ log: [LoggedRecord], batchMax: Int64 = 20) -> CarSimulation {
        var registration = Action.Registration()
        registration.car = Action.Car()
        registration.car!.account = "jo"
        let owner = Action(
            id: "r", vehicle: car, ts: startMs - 1_000, by: "test", note: nil, kind: .registration(registration))
        var simulation = CarSimulation(log: [.action(owner)] + log, rules: TripRules(), batchMax: batchMax, seed: 1)
        simulation.run()
        return simulation
    }

    private static func reading(_ second: Int64, speed: Int32) -> LoggedRecord {
        var reading = CarReading(ts: startMs + second * 1_000)
        reading[.speed] = speed
        return .reading(car, reading)
    }

    @Test("In order, a drive is judged from memory: no stretch is read back")
    func cheap() {
        var log: [LoggedRecord] = []
        for second in 0..<3_600 as Range<Int64> {
            log.append(Self.reading(second, speed: second % 600 < 100 ? 150_000 : 50_000))
            if second % 5 == 0 { log.append(.tick(Self.startMs + second * 1_000)) }
        }
        let simulation = Self.simulation(log)
        #expect(simulation.turns == 0)
        #expect(simulation.episodes[Self.car]?.count == 6)
    }

    /// In somebody's name, from a second on.
    private static func registration(_ second: Int64, id: String, account: String?) -> LoggedRecord {
        var registration = Action.Registration()
        registration.car = Action.Car()
        registration.car!.account = account
        return .action(
            Action(
                id: id, vehicle: car, ts: startMs + second * 1_000, by: "test", note: nil,
                kind: .registration(registration)))
    }

    @Test("A registration that comes twice, or says what is known, has nothing judged again", arguments: [1, 20])
    func registeredTwice(batchMax: Int64) {
        func turns(_ said: [LoggedRecord]) -> Int {
            var log: [LoggedRecord] = []
            for second in 0..<600 as Range<Int64> {
                log.append(Self.reading(second, speed: 150_000))
                if second == 300 { log += said }
                if second % 5 == 0 { log.append(.tick(Self.startMs + second * 1_000)) }
            }
            return Self.simulation(log, batchMax: batchMax).turns
        }
        let first = Self.registration(-1, id: "r", account: "jo")
        #expect(turns([first, first]) == 0)
        #expect(
            turns([Self.registration(200, id: "s", account: "jo"), Self.registration(-9, id: "q", account: "jo")]) == 0)
        #expect(turns([Self.registration(200, id: "s", account: "al")]) > 0)
        #expect(turns([Self.registration(200, id: "s", account: nil)]) > 0)
        // Of one time the greater id counts.
        #expect(turns([Self.registration(-1, id: "a", account: "al")]) == 0)
        #expect(turns([Self.registration(-1, id: "z", account: "al")]) > 0)
    }

    /// Who is to drive it, from a second on.
    private static func assignment(_ second: Int64, id: String, _ driver: String?) -> LoggedRecord {
        .action(
            Action(
                id: id, vehicle: car, ts: startMs + second * 1_000, by: "test", note: nil,
                kind: .assignment(driver: driver)))
    }

    @Test("An assignment that comes twice, or says what is known, has nothing judged again", arguments: [1, 20])
    func assignedTwice(batchMax: Int64) {
        let first = Self.assignment(-1, id: "b", "al")
        func turns(_ said: [LoggedRecord], first: [LoggedRecord]) -> Int {
            var log = first
            for second in 0..<600 as Range<Int64> {
                log.append(Self.reading(second, speed: 150_000))
                if second == 300 { log += said }
                if second % 5 == 0 { log.append(.tick(Self.startMs + second * 1_000)) }
            }
            return Self.simulation(log, batchMax: batchMax).turns
        }
        func turns(_ said: LoggedRecord...) -> Int { turns(said, first: [first]) }
        #expect(turns(first, first) == 0)
        #expect(turns(Self.assignment(200, id: "s", "al"), Self.assignment(100, id: "t", "al")) == 0)
        #expect(turns(Self.assignment(-9, id: "n", nil)) == 0)
        #expect(turns([Self.assignment(-9, id: "n", nil)], first: []) == 0)
        #expect(turns(Self.assignment(200, id: "s", "jo")) > 0)
        #expect(turns(Self.assignment(200, id: "s", nil)) > 0)
        // The same again, but another was between.
        #expect(turns([Self.assignment(250, id: "s", "al")], first: [first, Self.assignment(100, id: "m", nil)]) > 0)
        // Of one time the greater id counts.
        #expect(turns(Self.assignment(-1, id: "a", "jo")) == 0)
        #expect(turns(Self.assignment(-1, id: "z", "jo")) > 0)
    }

    @Test("No clock closes an alert while a backlog of its car comes in order")
    func backlog() {
        var log: [LoggedRecord] = []
        for second in 0..<1_000 as Range<Int64> {
            log.append(Self.reading(second, speed: second < 800 ? 150_000 : 50_000))
            if second % 50 == 0 { log.append(.tick(Self.startMs + 86_400_000 + second * 10)) }
        }
        let simulation = Self.simulation(log)
        let told = simulation.told.transitions[Self.car] ?? []
        let endMs = simulation.episodes[Self.car]?.first?.resolvedMs
        #expect(told.count == 2 && endMs == Self.startMs + 800_000, "\(told)")
    }

    @Test("The clock set back behind a car's first readings waits until these are judged")
    func setBack() {
        var log: [LoggedRecord] = [.tick(Self.startMs + 86_400_000)]
        for second in 0..<3 as Range<Int64> { log.append(Self.reading(second, speed: 150_000)) }
        log += [.setBack(Self.startMs + 4_000)] + (1..<200).map { .tick(Self.startMs + 4_000 + $0 * 5_000) }
        let told = [1, 3, 100].map { Self.simulation(log, batchMax: $0).told }
        #expect(told[0].transitions[Self.car]?.count == 2 && told.allSatisfy { $0 == told[0] }, "\(told)")
    }

    @Test("History is judged, too, of a car whose readings change places at every tick")
    func history() {
        var log: [LoggedRecord] = []
        // Two days ago it went too fast, and nobody knew whose it was.
        for second in 0..<60 as Range<Int64> { log.append(Self.reading(second, speed: 150_000)) }
        let today: Int64 = 2 * 86_400
        for second in stride(from: today, to: today + 600, by: 10) {
            log.append(Self.reading(second + 5, speed: 50_000))
            log.append(Self.reading(second, speed: 50_000))
            log.append(.tick(Self.startMs + (second + 6) * 1_000))
            if second == today + 100 { log.append(Self.reading(30, speed: 170_000)) }
        }
        let simulation = Self.simulation(log)
        #expect(simulation.episodes[Self.car]?.map(\.worstValue) == [170_000])
    }
}
