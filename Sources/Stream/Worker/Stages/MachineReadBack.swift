package import Pipeline
package import Postgres
package import Storage

/// The loops between a partition's machines and what is stored of them: they say what they need, it is read, they go on.
package enum MachineReadBack {
    private static let loadedAtOnce = 2_000

    /// A partition that is taken over: its rule sets, the machines that have a deadline and those that wait to be judged
    /// again.
    ///
    /// - Parameters:
    ///   - clockMs: the partition's clock as stored with its offset.
    ///   - rulesBefore: what is known of rules where the machines stand, if that is not where their partition does.
    package static func load(
        partition: Int32, of selection: VehicleSelection = .all, clockMs: Int64?, rulesBefore: Int64? = nil,
        pace: MachinePartition.Pace = .product, on connection: Connection
    ) throws -> MachinePartition {
        var machines = MachinePartition(
            rules: try MachineStore.rules(partition: partition, before: rulesBefore, on: connection), clockMs: clockMs,
            rejudging: try MachineStore.rejudging(partition: partition, on: connection).filter {
                selection.includes($0.key)
            },
            spreads: try MachineSpreadStore.load(partition, before: rulesBefore, on: connection), pace: pace)
        let due = try MachineStore.deadlines(partition: partition, of: selection, on: connection)
        for start in stride(from: 0, to: due.count, by: loadedAtOnce) {
            let page = due[start...].prefix(loadedAtOnce)
            var (needs, histories) = (MachineNeeds(), MachineHistories())
            needs.machines = page.map { .end($0.vehicle) }
            try MachineStore.read(needs, partition: partition, of: selection, into: &histories, on: connection)
            machines.restore(page.map { ($0.vehicle, histories.machines[$0.vehicle]!, $0.ms) })
        }
        return machines
    }

    /// Folds as many of the events as can be folded before what follows from them is written.
    package static func fold(
        _ events: ArraySlice<MachineEvent>, into machines: inout MachinePartition, partition: Int32,
        of selection: VehicleSelection = .all, on connection: Connection
    ) throws -> (changes: MachineChanges, count: Int) {
        var histories = MachineHistories()
        while true {
            switch machines.accept(events, histories: histories) {
            case .accepted(let changes, let count): return (changes, count)
            case .needs(let needs):
                try MachineStore.read(needs, partition: partition, of: selection, into: &histories, on: connection)
            }
        }
    }
}
