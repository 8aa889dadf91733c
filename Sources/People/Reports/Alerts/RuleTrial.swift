package import Alerts
package import Backtesting
package import Fleet
package import Postgres
internal import Storage

/// A rule that is not saved on the stored readings of some days, for a page that somebody waits for: it reads little of each reading,
/// begins where no alert can be open (or a month before the days), and stops at its bounds.
package struct RuleTrial {
    /// Readings in memory at once.
    private static let pageRows = 5_000
    private static let alertsMax = 1_000
    /// How far before the days it is looked for a reading at which no alert is open.
    private static let leadMs: Int64 = 30 * 86_400_000

    /// The most that one trial may cost. A machine is judged whole or not at all.
    package struct Bounds {
        let readingsMax: Int
        let isOver: () -> Bool

        package init(readingsMax: Int, isOver: @escaping () -> Bool) {
            (self.readingsMax, self.isOver) = (readingsMax, isOver)
        }
    }

    package struct Outcome {
        package var machines = 0
        package var readings = 0
        /// Machines that were left out at a bound.
        package var left = 0
        /// Those that were open at some time of the days.
        package var alerts: [BacktestAlert] = []
        /// By candidate: alerts that opened within the days.
        package var counts: [Int]
        /// By day: the highest value of all machines, the lowest where the rule says `below`; nil: there was none.
        package var extremes: [Int64?]
        /// Each machine's last value.
        package var latest: [(vehicle: VehicleID, value: Int64?, ms: Int64)] = []

        init(candidates: Int, days: Int) {
            counts = Array(repeating: 0, count: candidates)
            extremes = Array(repeating: nil, count: days)
        }
    }

    let parameter: MachineParameter
    /// The first moments of the days, and the end of the last.
    let daysMs: [Int64]
    /// The first is the one that is tried; the others are only counted.
    let candidates: [RuleSet]
    let threshold: Threshold?
    let bounds: Bounds
    /// A partition's greatest tick.
    let clock: (Int32) throws -> Int64?

    /// - Parameters:
    ///   - threshold: the rule that `candidates` differ in; nil: there is none.
    package init(
        parameter: MachineParameter, daysMs: [Int64], candidates: [RuleSet], threshold: Threshold?, bounds: Bounds,
        clock: @escaping (Int32) throws -> Int64?
    ) {
        precondition(daysMs.count > 1 && !candidates.isEmpty)
        self.parameter = parameter
        self.daysMs = daysMs
        self.candidates = candidates
        self.threshold = threshold
        self.bounds = bounds
        self.clock = clock
    }

    private var spanMs: Range<Int64> { daysMs[0]..<daysMs[daysMs.count - 1] }

    /// Precondition: statements on `connection` find the tables without their schema, and see one moment.
    package func run(of vehicles: [VehicleID], model: String?, on connection: Connection) throws -> Outcome {
        var machines = try vehicles.flatMap { try MachineStore.machine($0, on: connection) }
        if let model { machines += try MachineStore.machines(of: model, on: connection) }
        var outcome = Outcome(candidates: candidates.count, days: daysMs.count - 1)
        for (index, machine) in machines.enumerated() {
            var sum = outcome
            guard try judge(machine, model: model, into: &sum, on: connection) else {
                outcome.left = machines.count - index
                break
            }
            outcome = sum
            outcome.machines += 1
        }
        outcome.alerts.sort { $0.openedMs > $1.openedMs }
        return outcome
    }

    /// False: it would go beyond the bounds.
    private func judge(
        _ machine: (vehicle: VehicleID, partition: Int32), model: String?, into outcome: inout Outcome,
        on connection: Connection
    ) throws -> Bool {
        let services = threshold?.every == nil ? .none : try MachineStore.services(of: machine.vehicle, on: connection)
        var trials = candidates.map { MachineBacktest(rules: RuleTimeline(always: $0), services: services) }
        var fromMs = try startMs(machine.vehicle, connection)
        var latest: (value: Int64?, ms: Int64)?
        while true {
            guard outcome.readings < bounds.readingsMax, !bounds.isOver() else { return false }
            let page = try MachineStore.readings(
                of: machine.vehicle, only: [parameter, .contact], spanMs: fromMs..<spanMs.upperBound,
                rowsMax: RuleTrial.pageRows,
                on: connection)
            for reading in page {
                for index in trials.indices { trials[index].observe(reading) }
                guard let value = parameter.compared(in: reading) else { continue }
                note(value, at: reading.ts, &outcome)
                latest = (value, reading.ts)
            }
            outcome.readings += page.count
            guard page.count == RuleTrial.pageRows else { break }
            fromMs = page[page.count - 1].ts + 1
        }
        let clockMs = try clock(machine.partition)
        for index in trials.indices {
            let found = trials[index].episodes(clockMs: clockMs).filter { isWanted($0, model) }
            outcome.counts[index] += found.count { $0.openedMs >= spanMs.lowerBound }
            guard index == 0 else { continue }
            let was = try MachineStore.alerts(
                of: machine.vehicle, parameter, openSinceMs: spanMs.lowerBound, rowsMax: RuleTrial.alertsMax,
                on: connection)
            outcome.alerts += BacktestAlert.pairs(was: was.filter { isWanted($0, model) }, would: found)
        }
        outcome.latest.append((machine.vehicle, latest?.value, latest?.ms ?? 0))
        return true
    }

    private func isWanted(_ episode: Episode, _ model: String?) -> Bool {
        episode.parameter == parameter && model.map { $0 == episode.model } != false
            && episode.openedMs < spanMs.upperBound && episode.resolvedMs ?? .max > spanMs.lowerBound
    }

    private func startMs(_ vehicle: VehicleID, _ connection: Connection) throws -> Int64 {
        let oldestMs = spanMs.lowerBound - RuleTrial.leadMs
        guard let threshold, threshold.every == nil, let limit = goodLimit else { return oldestMs }
        return try MachineStore.calmMs(
            of: vehicle, parameter, threshold.test, limit: limit, beforeMs: spanMs.lowerBound, oldestMs: oldestMs,
            on: connection)
            ?? oldestMs
    }

    /// At this value no candidate has an alert open.
    private var goodLimit: Int64? {
        let rules = candidates.flatMap { Array($0.models.values) + Array($0.machines.values) }.flatMap { $0 }
            .filter { $0.field == .parameter(parameter) }
        let limits = rules.flatMap { [$0.threshold, $0.clear].compactMap(\.self) }
        guard rules.allSatisfy({ $0.test == threshold?.test }) else { return nil }
        return threshold?.test == .below ? limits.max() : limits.min()
    }

    private func note(_ value: Int64, at ms: Int64, _ outcome: inout Outcome) {
        guard spanMs.contains(ms), let day = daysMs.lastIndex(where: { $0 <= ms }) else { return }
        let isLowest = threshold?.test == .below
        if outcome.extremes[day].map({ isLowest ? value < $0 : value > $0 }) ?? true { outcome.extremes[day] = value }
    }
}
