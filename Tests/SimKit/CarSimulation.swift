public import Alerts
public import Fleet
public import Pipeline
public import Trips

/// A run of a partition of cars in memory: a log, tables with the fence, and workers that crash, are cut off from the answers
/// to their commits, and go on after the partition was given to another. Time is ticks on the log. What stands in the
/// tables, and what is told, must follow from the log alone.
public struct CarSimulation {
    /// How often something goes wrong: once in so many chances; 0 is never.
    public struct Faults: Sendable {
        public var crash: Int64 = 0
        /// The commit happens and its answer is lost.
        public var lostAnswer: Int64 = 0
        /// The commit does not happen.
        public var refusal: Int64 = 0
        /// Another worker takes the partition over while this one goes on.
        public var takeover: Int64 = 0
        public init() {}
        public static let many: Faults = {
            var faults = Faults()
            (faults.crash, faults.lostAnswer, faults.refusal, faults.takeover) = (12, 10, 10, 15)
            return faults
        }()
    }

    private var tables = PartitionTables()
    private let log: [LoggedRecord]
    private let rules: TripRules
    private let batchMax: Int64
    /// Cars that are judged at one tick: a part of what the worker is.
    private let turnsMax: Int
    private let spread: DriverPartition.SpreadSize
    private let faults: Faults
    private let idleMs: Int64
    private let forgets: Bool
    private var chance: SeededChance
    private var workers: [CarWorker] = []

    /// - Parameters:
    ///   - batchMax: records of a commit, at most.
    ///   - rules: what the partition begins with.
    ///   - forgets: cars that have been silent for `idleMs` are left out of memory.
    public init(
        log: [LoggedRecord], rules: TripRules, batchMax: Int64, faults: Faults = Faults(), turnsMax: Int = 128,
        spread: DriverPartition.SpreadSize = .init(cars: 128, waiting: 128, least: 1),
        idleMs: Int64 = CarPartition.idleMs,
        forgets: Bool = false, seed: UInt64
    ) {
        self.spread = spread
        (self.idleMs, self.forgets) = (idleMs, forgets)
        (self.log, self.rules, self.batchMax) = (log, rules, batchMax)
        (self.faults, self.turnsMax) = (faults, turnsMax)
        chance = SeededChance(seed: seed)
    }

    // MARK: What came of it

    public var cars: CarTables { tables.cars }
    public var told: DriverTables.Told { tables.drivers.told }
    public var episodes: [VehicleID: [Episode]] { tables.drivers.episodes }
    /// How many stretches were judged at ticks.
    public var turns: Int { tables.drivers.turns }

    /// The most rows of cars that were written at once.
    public var driverRowsMax: Int { driverRows.max() ?? 0 }
    /// How many rows of drivers' states each commit wrote.
    public var driverRows: [Int] { tables.drivers.rowsWritten }

    // MARK: Running

    /// Works the log off up to `end` under the faults; then, undisturbed, what is left of it. It can go on from there.
    public mutating func run(to end: Int? = nil) {
        let end = Int64(end ?? log.count)
        if workers.isEmpty { workers = [takeOver()] }
        let isDisturbed = faults.crash > 0 || faults.takeover > 0
        var steps = 0
        while isDisturbed, workers.contains(where: { $0.at < end }), steps < 10 * log.count {
            steps += 1
            step(Int(chance.below(Int64(workers.count))), faults, end)
        }
        if isDisturbed { workers = [takeOver()] }
        while workers[0].at < end || workers[0].inFlight != nil || workers[0].written < end {
            step(0, Faults(), end)
        }
    }

    private func takeOver() -> CarWorker { CarWorker(tables, rules: rules, idleMs: idleMs, forgets: forgets) }

    private mutating func once(in n: Int64) -> Bool { n > 0 && chance.once(in: n) }

    private mutating func step(_ number: Int, _ faults: Faults, _ end: Int64) {
        if once(in: faults.crash) {
            workers[number] = takeOver()
            return
        }
        if workers.count < 3, once(in: faults.takeover) { workers.append(takeOver()) }
        for _ in 0..<(1 + chance.below(batchMax)) where workers[number].at < end {
            if workers[number].take(log[Int(workers[number].at)]) { continue }
            if workers[number].needsRecall {
                guard settle(number, faults) else { return }
                if workers[number].recallsWritten { writeAll(number, faults) }
                guard workers[number].needsRecall else { return }
                workers[number].recall(tables)
                continue
            }
            // As a lane does: what was taken is written to its end.
            return writeAll(number, faults)
        }
        if !chance.once(in: 3) { cycle(number, faults) }
    }

    private mutating func writeAll(_ number: Int, _ faults: Faults) {
        repeat {
            guard settle(number, faults), workers[number].isPending else { return }
            workers[number].handOver()
        } while true
    }

    /// One commit cycle: the one in flight is answered, the next is handed over. Where something is read back it waits.
    private mutating func cycle(_ number: Int, _ faults: Faults) {
        guard settle(number, faults), workers[number].isPending else { return }
        workers[number].handOver()
        if workers[number].inFlight!.isResolving { _ = settle(number, faults) }
    }

    /// The commit in flight happens, or not, and its answer arrives, or not. False: the worker starts anew.
    private mutating func settle(_ number: Int, _ faults: Faults) -> Bool {
        guard let commit = workers[number].takeInFlight() else { return true }
        let isOwner = tables.cars.progress.nextOffset == commit.from
        if isOwner, !once(in: faults.refusal) {
            tables.write(commit)
            if commit.isResolving { workers[number].resolve(&tables, turnsMax: turnsMax, spread) }
            tables.cars.progress = commit.to
            if !once(in: faults.lostAnswer) { return true }
        }
        workers[number] = takeOver()
        return false
    }
}
