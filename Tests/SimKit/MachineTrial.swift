internal import Alerts
internal import Fleet
internal import Pipeline

/// One seed, whole: the same log of a partition of machines by workers that commit each record, up to 3, 17 and 60 of them,
/// the latter killed before and after commits. What changes of all machines at once is noted of a few at a time.
///
/// - In the end readings with their states, alerts and deadlines of each are what the whole set of readings gives, judged at once.
/// - The tables, and what was told, are the same for all; nothing waits any more, and no record made more rows than its bound.
public enum MachineTrial {
    /// Nil: all is well.
    public static func fault(seed: UInt64) -> String? {
        var chance = SeededChance(seed: seed &* 7919 &+ 3)
        let log = log(seed, &chance)
        let pace = pace(&chance)
        let machinesMax = chance.once(in: 3) ? Int(chance.below(5)) : 200_000
        func run(_ batchMax: Int64) -> (tables: MachineTables, rowsMax: Int) {
            MachineTrial.run(log, &chance, batchMax: batchMax, machinesMax: machinesMax, pace: pace)
        }
        let (plain, rowsMax) = run(1)
        if let fault = fault(plain, MachineTables.whole(log)) { return "seed \(seed), each record: \(fault)" }
        let bound = pace.rows + pace.notedMax
        if rowsMax > bound { return "seed \(seed): \(rowsMax) machines noted by one record, not \(bound)" }
        for batchMax in [3, 17, 60] as [Int64] {
            let other = run(batchMax).tables
            if let fault = difference(other, plain) { return "seed \(seed), \(batchMax): \(fault)" }
        }
        return nil
    }

    /// Machines enough that what changes of all comes to them in many pieces.
    private static func log(_ seed: UInt64, _ chance: inout SeededChance) -> [MachineEvent] {
        let vehicles = (0..<2 + chance.below(8)).map { VehicleID("m-\($0)")! }
        let all = vehicles.flatMap {
            SeededMachine.readings(seed: chance.next(), count: Int(3 + chance.below(30)), vehicle: $0)
        }
        var facts = SeededMachine.log(SeededMachine.arrivals(all, seed: seed, &chance), &chance).map(\.fact)
        let (firstMs, lastMs) = (all.map(\.ts).min()!, all.map(\.ts).max()!)
        func time() -> Int64 { firstMs - 600_000 + chance.below(lastMs - firstMs + 4_000_000) }
        func place() -> Int { chance.index(facts.count + 1) }
        for _ in 0..<(chance.once(in: 3) ? 1 + chance.below(3) : 0) { facts.insert(.setBack(time()), at: place()) }
        // Ticks at which pieces are noted, and sets that come meanwhile.
        for _ in 0..<chance.below(20) { facts.insert(.tick(time()), at: place()) }
        for _ in 0..<chance.below(4) {
            let rules = ([SeededMachine.rules] + SeededMachine.others)[Int(chance.below(4))]
            facts.insert(.rules(RuleTimeline.Entry(inForceMs: time(), rules: rules)), at: place())
        }
        let events = facts.logged { firstMs + $0 }
        return events + SeededMachine.closing(events, count: 30 + 4 * all.count + 8 * vehicles.count)
    }

    private static func pace(_ chance: inout SeededChance) -> MachinePartition.Pace {
        let notedMax = Int(1 + chance.below(4))
        if chance.once(in: 3) {
            let product = MachinePartition.Pace.product
            return MachinePartition.Pace(pages: product.pages, rows: product.rows, notedMax: notedMax)
        }
        let first = Int(1 + chance.below(4))
        let last = first + Int(1 + chance.below(chance.once(in: 2) ? 8 : 100))
        return MachinePartition.Pace(pages: [first, last], rows: last + Int(chance.below(60)), notedMax: notedMax)
    }

    /// Who commits each record is not killed.
    private static func run(
        _ log: [MachineEvent], _ chance: inout SeededChance, batchMax: Int64, machinesMax: Int,
        pace: MachinePartition.Pace
    ) -> (tables: MachineTables, rowsMax: Int) {
        var (tables, rowsMax) = (MachineTables(), 0)
        var machines = tables.partition(machinesMax: machinesMax, pace: pace)
        while tables.nextOffset < log.count {
            let batch = Array(log[Int(tables.nextOffset)...].prefix(Int(1 + chance.below(batchMax))))
            var written = tables
            let found = written.take(batch, into: &machines)
            rowsMax = max(rowsMax, batchMax == 1 ? found.map(\.rejudging.count).max() ?? 0 : 0)
            let isKilled = batchMax > 1 && chance.once(in: 6)
            if !isKilled || chance.once(in: 2) { tables = written }
            if isKilled { machines = tables.partition(machinesMax: machinesMax, pace: pace) }
        }
        return (tables, rowsMax)
    }

    private static func fault(_ tables: MachineTables, _ whole: MachineTables) -> String? {
        if !tables.rejudging.isEmpty || !tables.spreads.isEmpty { return "\(tables.rejudging.count) wait at the end" }
        if tables.readings != whole.readings { return "readings or states" }
        if tables.deadlines != whole.deadlines { return "deadlines" }
        if tables.episodes != whole.episodes {
            return "told \(text(tables, without: whole)) for \(text(whole, without: tables))"
        }
        let ids = tables.transitions.map(\.id)
        return Set(ids).count == ids.count ? nil : "a transition twice"
    }

    private static func difference(_ a: MachineTables, _ b: MachineTables) -> String? {
        if a == b { return nil }
        guard a.readings == b.readings, a.deadlines == b.deadlines, a.alerts == b.alerts else { return "rows" }
        return a.transitions == b.transitions ? "what waits" : "what was told"
    }

    private static func text(_ tables: MachineTables, without other: MachineTables) -> [String] {
        tables.episodes.filter { other.episodes[$0.key] != $0.value }.map { "\($0.key) \($0.value.openedMs)" }.sorted()
    }
}
