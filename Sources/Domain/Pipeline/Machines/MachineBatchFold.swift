internal import Alerts
internal import Fleet

/// Records while they are taken: readings, services, and ticks that judge nothing again. The partition itself stays as it is
/// until they are all done.
struct MachineBatchFold {
    private let partition: MachinePartition
    private let histories: MachineHistories
    private var clockMs: Int64
    private var machines: [VehicleID: LiveMachine] = [:]
    private var changes = MachineChanges()
    /// Rejudgings that are asked for, in the order of the log.
    private var asked: [(vehicle: VehicleID, Rejudging)] = []
    private var needs = MachineNeeds()
    /// How many were taken.
    private var count = 0
    private var missing: Set<VehicleID> = []

    /// The result of a session, without the partition: that is the caller's alone again and can be changed in place.
    struct Result {
        let needs: MachineNeeds
        let machines: [VehicleID: LiveMachine]
        let changes: MachineChanges
        let asked: [(vehicle: VehicleID, Rejudging)]
        let clockMs: Int64
        let count: Int
    }

    static func run(
        _ partition: MachinePartition, _ histories: MachineHistories, _ events: ArraySlice<MachineEvent>
    ) -> Result {
        var fold = MachineBatchFold(partition, histories)
        for event in events {
            guard fold.apply(event) else { break }
            fold.count += 1
        }
        return Result(
            needs: fold.needs, machines: fold.machines, changes: fold.changes, asked: fold.asked,
            clockMs: fold.clockMs, count: fold.count)
    }

    private init(_ partition: MachinePartition, _ histories: MachineHistories) {
        (self.partition, self.histories, clockMs) = (partition, histories, partition.clockMs)
    }

    /// False: what follows from the records before it must be written first.
    private mutating func apply(_ event: MachineEvent) -> Bool {
        switch event.fact {
        case .reading(let reading): apply(reading, event)
        case .tick(let ts): return tick(ts, event)
        case .rules, .setBack: return false
        case .action(let action):
            changes.actions.append(action)
            if case .service(let atHours) = action.kind, let vehicle = action.vehicle {
                serve(vehicle, ServiceLog.Entry(doneMs: action.ts, atHours: atHours, id: action.id), event)
            }
        }
        return true
    }

    private mutating func apply(_ reading: MachineReading, _ event: MachineEvent) {
        guard var live = machine(reading.vehicle, event) else { return }
        defer { machines[reading.vehicle] = live }
        if live.isLatest(reading.ts) {
            changes.transitions += live.append(reading, event, partition.rules, clockMs: clockMs)
        } else {
            guard let stored = stored(reading, live) else { return }
            guard live.insert(reading, over: stored, offset: event.offset) else { return }
            ask(&live, fromMs: reading.ts, untilMs: reading.ts, event, isLate: true)
        }
    }

    /// The reading that stands where a late one goes; outer nil: it must be read back.
    private mutating func stored(_ reading: MachineReading, _ live: LiveMachine) -> MachineRow?? {
        if let row = live.row(at: reading.ts) { return .some(row) }
        let place = MachinePlace(vehicle: reading.vehicle, ts: reading.ts)
        if let known = histories.places[place] { return .some(known) }
        needs.places.append(place)
        return nil
    }

    /// Takes a service in: readings before it, and after it, are judged by it.
    private mutating func serve(_ vehicle: VehicleID, _ service: ServiceLog.Entry, _ event: MachineEvent) {
        guard var live = machine(vehicle, event) else { return }
        defer { machines[vehicle] = live }
        guard let effect = live.insert(service) else { return }
        if let lastMs = live.lastMs, lastMs >= effect.fromMs || live.isWaiting || live.fold == nil {
            ask(&live, fromMs: effect.fromMs, untilMs: effect.untilMs ?? .max, event, isLate: false)
        } else {
            changes.transitions += live.tellEnd(partition.rules, clockMs: clockMs, event)
        }
    }

    private mutating func tick(_ ts: Int64, _ event: MachineEvent) -> Bool {
        guard ts > clockMs else { return true }
        guard asked.isEmpty, !partition.isRejudging else { return false }
        let (wasMs, known) = (clockMs, partition.due(before: ts).filter { machines[$0] == nil })
        let due = machines.values.filter { $0.dueMs(after: wasMs, partition.rules) ?? .max < ts }.map(\.vehicle)
        clockMs = ts
        for vehicle in (known + due).sorted() {
            guard var live = machine(vehicle, event) else { continue }
            changes.transitions += live.tellEnd(partition.rules, clockMs: ts, event)
            machines[vehicle] = live
        }
        return true
    }

    private mutating func ask(
        _ live: inout LiveMachine, fromMs: Int64, untilMs: Int64, _ event: MachineEvent, isLate: Bool
    ) {
        if isLate { live.isWaiting = true }
        let span = Rejudging.Span(fromMs: fromMs, untilMs: untilMs)
        asked.append((live.vehicle, Rejudging(span, askedOffset: event.offset, isLate: isLate)))
    }

    /// Taken out, so that it is changed in place: the caller puts it back. Nil: it must be read back.
    private mutating func machine(_ vehicle: VehicleID, _ event: MachineEvent) -> LiveMachine? {
        if let live = machines.removeValue(forKey: vehicle) { return live }
        let isWaiting = partition.queue[vehicle]?.isLate ?? false
        if let machine = partition.machine(vehicle) { return LiveMachine(machine, isWaiting: isWaiting) }
        guard let end = histories.machines[vehicle] else {
            if missing.insert(vehicle).inserted { needs.machines.append(.end(vehicle)) }
            return nil
        }
        var live = LiveMachine(vehicle, end, isWaiting: isWaiting)
        if case .unknown = end.before, partition.queue[vehicle] == nil {
            changes.rebuilt += 1
            ask(&live, fromMs: .min, untilMs: .max, event, isLate: true)
        }
        return live
    }
}
