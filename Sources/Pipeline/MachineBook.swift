public import Alerts
public import Fleet

/// The machines of one partition. Facts in (records in the order of the log, history), rows and transitions out; no
/// clock of its own and no I/O.
///
/// Records are taken one by one, so that what was told, and with it ids and revisions, follows from the log alone and
/// not from how it was cut into batches. Readings in order are judged on from memory; for anything else the readings
/// from there on are read back, and judged again until the state is what it was.
public struct MachineBook: Sendable {
    public enum Outcome: Equatable, Sendable {
        /// Nothing was taken: read this back and come again with all that was read back so far.
        case needs(MachineNeeds)
        case taken(MachineChanges)
    }

    struct Machine: Sendable {
        var vehicle: VehicleID
        /// The state after the latest reading.
        var fold: AlertFold
        var told: ToldAlerts
        var services: ServiceLog
    }

    /// Readings read back at first for a late one; eight times as many each time that they do not suffice.
    public static let pageRows = 32

    public internal(set) var rules: RuleTimeline
    /// The partition's clock: its greatest tick.
    public internal(set) var clockMs: Int64
    private(set) var slots: [VehicleID: Int] = [:]
    private(set) var machines: [Machine] = []
    /// By slot: when the clock opens the machine's next alert; `Int64.max` for never.
    private(set) var deadlineMs: [Int64] = []
    private let machinesMax: Int

    /// For a partition taken over: its rule sets and its clock as they are stored.
    public init(rules: RuleTimeline, clockMs: Int64?, machinesMax: Int = 200_000) {
        (self.rules, self.clockMs, self.machinesMax) = (rules, clockMs ?? .min, machinesMax)
    }

    public var count: Int { machines.count }

    /// Takes over the machines that have a deadline: their histories after the latest reading. Returns how many had to
    /// be judged again, because their state could not be decoded.
    public mutating func restore(_ histories: [VehicleID: MachineHistory]) -> Int {
        var rebuilt = 0
        for (vehicle, history) in histories {
            var window = MachineWindow(vehicle: vehicle, history)
            let isBroken = window.needsRepair
            // Whole, so it is never short. The rows are written when the machine's readings are next read back.
            if isBroken { _ = try? window.repair(rules, clockMs: clockMs, pushedMs: clockMs) }
            guard let lastMs = window.end.lastMs else { continue }
            keep(
                Machine(
                    vehicle: vehicle, fold: window.end, told: history.told.remaining(after: lastMs),
                    services: history.services))
            guard isBroken, let slot = slots[vehicle] else { continue }
            // What was overdue may never have been told: the next tick looks.
            deadlineMs[slot] = .min
            rebuilt += 1
        }
        return rebuilt
    }

    /// Takes records in the order of the log. Either all are taken, or none and it is said what is missing.
    public mutating func take(_ events: [MachineEvent], histories: MachineHistories) -> Outcome {
        let session = MachineSession.run(self, histories, events)
        if let needs = session.needs { return .needs(needs) }
        (rules, clockMs) = (session.rules, session.clockMs)
        var changes = session.changes
        for window in session.windows.values.sorted(by: { $0.vehicle < $1.vehicle }) {
            let wasMs = deadline(of: window.vehicle)
            keep(window)
            let nextMs =
                window.isWhole
                ? window.end.nextDeadlineMs(after: clockMs, rules: rules, vehicle: window.vehicle)
                : deadline(of: window.vehicle)
            if let change = window.change(nextMs, wasDeadlineMs: wasMs) { changes.machines.append(change) }
        }
        return .taken(changes)
    }

    // MARK: Memory

    func machine(_ vehicle: VehicleID) -> Machine? { slots[vehicle].map { machines[$0] } }

    private func deadline(of vehicle: VehicleID) -> Int64? {
        slots[vehicle].flatMap { deadlineMs[$0] == .max ? nil : deadlineMs[$0] }
    }

    private mutating func keep(_ window: MachineWindow) {
        guard window.isWhole else {
            // Its end is as it was; of the alerts that memory holds some may have been corrected.
            guard let slot = slots[window.vehicle] else { return }
            for alert in window.told.all where window.told.changedIDs.contains(alert.id) {
                machines[slot].told.replace(alert)
            }
            return
        }
        guard let lastMs = window.end.lastMs else { return }
        keep(
            Machine(
                vehicle: window.vehicle, fold: window.end, told: window.told.remaining(after: lastMs),
                services: window.services))
    }

    /// Beyond the limit only machines with a deadline are added; the others are read back when they report.
    private mutating func keep(_ machine: Machine) {
        let dueMs = machine.fold.nextDeadlineMs(after: clockMs, rules: rules, vehicle: machine.vehicle) ?? .max
        if let slot = slots[machine.vehicle] {
            (machines[slot], deadlineMs[slot]) = (machine, dueMs)
        } else if dueMs != .max || machines.count < machinesMax {
            slots[machine.vehicle] = machines.count
            machines.append(machine)
            deadlineMs.append(dueMs)
        }
    }
}
