import Alerts
import Backtesting
import Basics
import Fleet
import Pipeline
import SimKit
import Testing

struct ToldTests {
    /// What a worker tells that takes the records one by one.
    private static func worker(_ log: [MachineEvent]) -> [ToldAlert] {
        var (tables, machines) = (MachineTables(), MachinePartition(rules: RuleTimeline(), clockMs: nil))
        for event in log { _ = tables.take([event], into: &machines) }
        return tables.alerts.values.sorted { ($0.episode.openedMs, $0.id) < ($1.episode.openedMs, $1.id) }
    }

    @Test("A rule test tells what the worker tells, corrections included", arguments: 0..<40 as Range<UInt64>)
    func same(seed: UInt64) {
        var chance = SeededChance(seed: seed)
        let vehicle = VehicleID("m-1")!
        var readings = SeededMachine.readings(seed: seed, count: 40, vehicle: vehicle)
        for index in readings.indices where chance.once(in: 6) { readings.swapAt(index, chance.index(readings.count)) }
        var facts = readings.map { RuleTest.Fact.reading($0) }
        for (at, ts) in readings.map(\.ts).enumerated().reversed() where chance.once(in: 5) {
            facts.insert(.tick(ts + chance.below(900_000)), at: at)
        }
        // What is late is judged at a tick.
        facts.append(.tick(facts.reduce(Int64.min) { max($0, $1.ms) } + 1))
        let test = RuleTest(name: "", place: "", model: "", vehicle: vehicle, startMs: 0, facts: facts, expected: [])
        let first = RuleTimeline.Entry(inForceMs: UTC.plausible.lowerBound, rules: SeededMachine.rules)
        var log = [MachineEvent(.rules(first), offset: 0, pushedMs: 0)]
        for fact in facts {
            let event: MachineEvent.Fact
            switch fact {
            case .reading(let reading): event = .reading(reading)
            case .tick(let ts): event = .tick(ts)
            case .service: continue
            }
            log.append(MachineEvent(event, offset: Int64(log.count), pushedMs: fact.ms))
        }
        let told = test.told(SeededMachine.rules)
        let wanted = ToldTests.worker(log)
        #expect(told.map(\.id) == wanted.map(\.id), "seed \(seed)")
        for (told, wanted) in zip(told, wanted) { #expect(told == wanted, "seed \(seed)") }
        #expect(told.count > 2, "seed \(seed) tests little")
    }
}
