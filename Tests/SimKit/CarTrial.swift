internal import Alerts
internal import Basics
internal import Fleet
internal import Pipeline
internal import Trips

/// One seed, whole: the same log by workers that commit each record, up to 3, 17 and 200 of them, the latter under faults.
/// A seed that fails is run again by itself with this. Most of these workers forget cars that have been silent, some after no time.
///
/// - In the end minutes, trips and days of each are what the whole set of readings gives, folded at once, and what is told is
///   what it gives, judged at once.
/// - After any part of the log the rows, the states beside the latest trips, and alerts with ids, times told and transitions
///   are the same for all.
public enum CarTrial {
    /// Nil: all is well.
    public static func fault(seed: UInt64) -> String? {
        let log = CarLog(seed: seed)
        var chance = SeededChance(seed: seed &+ 99)
        let turnsMax = seed % 3 == 0 ? 1 : 128
        let spread = DriverPartition.SpreadSize(cars: 1 + Int(seed / 3 % 3), waiting: turnsMax == 1 ? 1 : 3, least: 1)
        let middle = Int(1 + chance.below(Int64(log.records.count)))
        // Of some seeds also who holds each record's car only as long as it must.
        let idleMs = [CarPartition.idleMs, 0, 600_000, UTC.msPerDay][Int(seed / 2 % 4)]
        func simulation(_ batchMax: Int64, _ faults: CarSimulation.Faults) -> CarSimulation {
            CarSimulation(
                log: log.records, rules: log.rules, batchMax: batchMax, faults: faults, turnsMax: turnsMax,
                spread: spread, idleMs: idleMs, forgets: batchMax != 17 && (batchMax != 1 || seed % 3 == 0),
                seed: seed &+ UInt64(batchMax))
        }
        var plain = simulation(1, .init())
        plain.run(to: middle)
        let plainMiddle = plain
        plain.run()
        let whole = CarWhole(log.records, rules: log.rules, idleMs: idleMs)
        if let fault = fault(plain, whole) { return "seed \(seed), each record: \(fault)" }
        for batchMax in [3, 17, 200] as [Int64] {
            var other = simulation(batchMax, batchMax == 3 && seed % 4 == 0 ? .init() : .many)
            other.run(to: middle)
            if let fault = difference(other, plainMiddle) { return "seed \(seed), \(batchMax) to \(middle): \(fault)" }
            other.run()
            if let fault = difference(other, plain) { return "seed \(seed), \(batchMax): \(fault)" }
        }
        return nil
    }

    private static func fault(_ simulation: CarSimulation, _ whole: CarWhole) -> String? {
        let (rows, expected) = (simulation.cars.results, whole.rows)
        if rows != expected { return rows.difference(from: expected) }
        let (told, episodes) = (simulation.episodes, whole.episodes)
        return told == episodes ? nil : "told \(text(told, without: episodes)) for \(text(episodes, without: told))"
    }

    private static func difference(_ a: CarSimulation, _ b: CarSimulation) -> String? {
        guard a.cars.doubled.isEmpty else { return "twice: \(a.cars.doubled)" }
        let (rows, others) = (a.cars.results, b.cars.results)
        if rows != others { return rows.difference(from: others) }
        if a.cars.latestStates != b.cars.latestStates { return "states beside the latest trips" }
        guard a.told != b.told else { return nil }
        let (told, other) = (a.told.transitions.flatMap(\.value), b.told.transitions.flatMap(\.value))
        return "told \(told.filter { !other.contains($0) }) for \(other.filter { !told.contains($0) }); "
            + "alerts \(text(a.episodes, without: b.episodes)) for \(text(b.episodes, without: a.episodes))"
    }

    private static func text(_ all: [VehicleID: [Episode]], without others: [VehicleID: [Episode]]) -> [String] {
        all.flatMap { vehicle, episodes in
            episodes.filter { !(others[vehicle] ?? []).contains($0) }.map {
                "\(vehicle) \($0.name) \($0.model) \($0.openedMs)–\($0.resolvedMs ?? 0) worst \($0.worstValue ?? 0)"
            }
        }.sorted()
    }
}
