import Alerts
import Fleet
import SimKit
import Testing
import Trips

/// What drivers are told, against the set of all readings judged at once, and against a worker that commits each record.
@Suite("Drivers' alerts of a partition")
struct DriverBookTests {
    private static func text(_ all: [VehicleID: [Episode]], _ others: [VehicleID: [Episode]]) -> [String] {
        all.flatMap { vehicle, episodes in
            episodes.filter { !(others[vehicle] ?? []).contains($0) }.map {
                "\(vehicle) \($0.name) \($0.model) \($0.openedMs)–\($0.resolvedMs ?? 0) worst \($0.worstValue ?? 0)"
            }
        }.sorted()
    }

    /// Nil: all is well.
    private static func fault(seed: UInt64) -> String? {
        let isLong = seed % 5 == 0
        var rules = TripRules()
        if isLong { (rules.gapMs, rules.tripGapMs) = (600_000, seed % 10 == 0 ? 3_600_000 : 7_200_000) }
        let log = DriverSimulation.log(seed: seed, readings: 80, isLong: isLong)
        let turnsMax = seed % 3 == 0 ? 1 : 128
        var plain = DriverSimulation(log: log, rules: rules, turnsMax: turnsMax, seed: seed)
        plain.run(batchMax: 1, kill: 0)
        let expected = DriverSimulation.expected(log, rules: rules).filter { !$0.value.isEmpty }
        guard plain.episodes == expected else {
            return "seed \(seed): told \(text(plain.episodes, expected)) for \(text(expected, plain.episodes))"
        }
        for (run, batchMax) in [3, 17, 200].enumerated() {
            var other = DriverSimulation(log: log, rules: rules, turnsMax: turnsMax, seed: seed &+ UInt64(run) &* 99)
            other.run(batchMax: Int64(batchMax), kill: run == 0 ? 0 : 5)
            guard other.told == plain.told else {
                let (a, b) = (other.told.transitions.flatMap(\.value), plain.told.transitions.flatMap(\.value))
                return
                    "seed \(seed), run \(run): told \(a.filter { !b.contains($0) }) for \(b.filter { !a.contains($0) }); "
                    + "alerts \(text(other.episodes, plain.episodes)) for \(text(plain.episodes, other.episodes))"
            }
        }
        return nil
    }

    @Test(
        "Early, late, doubled, cut and killed: the same alerts, ids and times", arguments: 0..<12 as Range<UInt64>)
    func same(group: UInt64) {
        let size: UInt64 = 25
        for seed in group * size..<(group + 1) * size {
            guard let fault = DriverBookTests.fault(seed: seed) else { continue }
            Issue.record("\(fault)")
            return
        }
    }

    @Test("In order, a drive is judged from memory: no stretch is read back")
    func cheap() {
        let car = VehicleID("car-1")!
        var registration = Action.Registration()
        registration.car = Action.Car(); registration.car!.account = "jo"
        var log: [DriverSimulation.Record] = [
            .action(
                Action(
                    id: "r", vehicle: car, ts: start - 1_000, by: "test", note: nil, kind: .registration(registration)))
        ]
        for second in 0..<3_600 as Range<Int64> {
            var reading = CarReading(ts: start + second * 1_000)
            reading[.speed] = second % 600 < 100 ? 150_000 : 50_000
            log.append(.reading(car, reading))
            if second % 5 == 0 { log.append(.tick(start + second * 1_000, isClosing: false)) }
        }
        var simulation = DriverSimulation(log: log, rules: TripRules(), turnsMax: 128, seed: 1)
        simulation.run(batchMax: 20, kill: 0)
        #expect(simulation.turns == 0)
        #expect(simulation.episodes[car]?.count == 6)
    }

    @Test("No clock closes an alert while a backlog of its car comes in order")
    func backlog() {
        let car = VehicleID("car-1")!
        var registration = Action.Registration()
        registration.car = Action.Car(); registration.car!.account = "jo"
        var log: [DriverSimulation.Record] = [
            .action(
                Action(
                    id: "r", vehicle: car, ts: start - 1_000, by: "test", note: nil, kind: .registration(registration)))
        ]
        for second in 0..<1_000 as Range<Int64> {
            var reading = CarReading(ts: start + second * 1_000)
            reading[.speed] = second < 800 ? 150_000 : 50_000
            log.append(.reading(car, reading))
            if second % 50 == 0 { log.append(.tick(start + 86_400_000 + second * 10, isClosing: false)) }
        }
        var simulation = DriverSimulation(log: log, rules: TripRules(), turnsMax: 128, seed: 1)
        simulation.run(batchMax: 20, kill: 0)
        let told = simulation.told.transitions[car] ?? []
        #expect(told.count == 2 && simulation.episodes[car]?.first?.resolvedMs == start + 800_000, "\(told)")
    }

    private static let start: Int64 = 1_789_344_000_000
    private var start: Int64 { DriverBookTests.start }
}
