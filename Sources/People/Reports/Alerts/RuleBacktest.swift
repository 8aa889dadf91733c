package import Alerts
package import Backtesting
package import Fleet
package import Postgres
internal import Storage

/// Other rules of one parameter on the stored readings, beside what was raised. Machines are judged one after the other, from
/// their first reading on: an alert may have begun long before.
package struct RuleBacktest {
    /// Readings in memory at once.
    private static let pageRows = 5_000

    package struct Outcome {
        package var machines = 0
        package var readings = 0
        package var alerts: [BacktestAlert] = []
        /// Machines that were left out, because so many readings are not judged at once.
        package var left = 0

        package init() {}

        package mutating func add(_ other: Outcome) {
            machines = machines + other.machines
            readings = readings + other.readings
            left = left + other.left
            alerts += other.alerts
        }

        package func count(_ verdict: BacktestAlert.Verdict) -> Int { alerts.count { $0.verdict == verdict } }
    }

    let parameter: MachineParameter
    /// Alerts that were open within it are looked at.
    let spanMs: Range<Int64>
    /// Replaces the rules in force by those to try.
    let rules: (RuleTimeline) throws -> RuleTimeline
    /// A partition's greatest tick.
    let clock: (Int32) throws -> Int64?
    let readingsMax: Int

    package init(
        parameter: MachineParameter, spanMs: Range<Int64>, readingsMax: Int = .max,
        rules: @escaping (RuleTimeline) throws -> RuleTimeline, clock: @escaping (Int32) throws -> Int64?
    ) {
        self.parameter = parameter
        self.spanMs = spanMs
        self.readingsMax = readingsMax
        self.rules = rules
        self.clock = clock
    }

    /// Precondition: statements on `connection` find the tables without their schema.
    package func run(ofModel model: String, on connection: Connection) throws -> Outcome {
        try run(try MachineStore.machines(of: model, on: connection), model: model, on: connection)
    }

    package func run(of vehicle: VehicleID, on connection: Connection) throws -> Outcome {
        try run(try MachineStore.machine(vehicle, on: connection), model: nil, on: connection)
    }

    private func run(
        _ machines: [(vehicle: VehicleID, partition: Int32)], model: String?, on connection: Connection
    ) throws -> Outcome {
        var (outcome, timelines): (Outcome, [Int32: RuleTimeline]) = (Outcome(), [:])
        func isWanted(_ episode: Episode) -> Bool {
            episode.parameter == parameter && model.map { $0 == episode.model } != false
                && episode.openedMs < spanMs.upperBound && episode.resolvedMs ?? .max > spanMs.lowerBound
        }
        for (index, machine) in machines.enumerated() {
            guard outcome.readings < readingsMax else {
                outcome.left = machines.count - index
                break
            }
            // Readings, alerts, rules and clock of one moment.
            try connection.snapshot {
                let timeline =
                    try timelines[machine.partition]
                    ?? rules(MachineStore.rules(partition: machine.partition, on: connection))
                timelines[machine.partition] = timeline
                let would = try judge(machine.vehicle, machine.partition, timeline, connection, &outcome.readings)
                let was = try MachineStore.alerts(of: machine.vehicle, parameter, on: connection)
                outcome.alerts += BacktestAlert.pairs(was: was.filter(isWanted), would: would.filter(isWanted))
            }
            outcome.machines += 1
        }
        return outcome
    }

    private func judge(
        _ vehicle: VehicleID, _ partition: Int32, _ rules: RuleTimeline, _ connection: Connection, _ readings: inout Int
    ) throws -> [Episode] {
        let services = try MachineStore.services(of: vehicle, on: connection)
        var (trial, fromMs) = (MachineBacktest(rules: rules, services: services), Int64.min)
        while true {
            let page = try MachineStore.readings(
                of: vehicle, fromMs: fromMs, rowsMax: RuleBacktest.pageRows, on: connection)
            for reading in page where !trial.isSettled(before: spanMs.upperBound) {
                trial.observe(reading)
                readings += 1
            }
            guard page.count == RuleBacktest.pageRows, !trial.isSettled(before: spanMs.upperBound) else { break }
            fromMs = page[page.count - 1].ts + 1
        }
        return trial.episodes(clockMs: try clock(partition))
    }
}
