internal import Alerts
internal import Fleet

/// One machine while records are taken: the state after its latest reading, and what is not written yet.
struct LiveMachine {
    let vehicle: VehicleID
    /// The state after the latest reading; nil while that is not known.
    private(set) var fold: AlertFold?
    private(set) var lastMs: Int64?
    private(set) var told: ToldAlerts
    private(set) var services: ServiceLog
    /// It has late readings that wait to be judged.
    var isWaiting: Bool
    /// Judged, in the order of their times.
    private var inOrder: [MachineRow] = []
    /// Those that wait to be judged, and corrected ones with the state as it was.
    private var late: [Int64: MachineRow] = [:]
    private(set) var hasChanged = false
    /// Of a reading that told the machine's ID another one of the same time took the place, which does not.
    private var isMachineIDLost = false

    init(_ machine: MachinePartition.Machine, isWaiting: Bool) {
        (vehicle, fold, lastMs) = (machine.vehicle, machine.fold, machine.fold.lastMs)
        (told, services, self.isWaiting) = (machine.told, machine.services, isWaiting)
    }

    init(_ vehicle: VehicleID, _ end: MachineHistory, isWaiting: Bool) {
        (self.vehicle, told, services, self.isWaiting) = (vehicle, end.told, end.services, isWaiting)
        switch end.before {
        case .nothing: fold = AlertFold()
        case .state(let state): (fold, lastMs) = (state, state.lastMs)
        case .unknown(let ms): lastMs = ms
        }
    }

    /// As memory keeps it.
    var machine: MachinePartition.Machine? {
        guard let fold, fold.lastMs != nil else { return nil }
        return MachinePartition.Machine(vehicle: vehicle, fold: fold, told: told, services: services)
    }

    func isLatest(_ ts: Int64) -> Bool { ts > lastMs ?? .min }

    /// Judges a reading that is later than all before it.
    mutating func append(
        _ reading: MachineReading, _ event: MachineEvent, _ rules: RuleTimeline, clockMs: Int64
    ) -> [AlertTransition] {
        guard var fold else {
            late[reading.ts] = MachineRow(reading: reading, offset: event.offset, state: nil)
            (lastMs, hasChanged) = (reading.ts, true)
            return []
        }
        let prevMs = fold.lastMs ?? .min
        var episodes = fold.openByID
        for episode in fold.observe(reading, rules: rules, services: services) { episodes[episode.id] = episode }
        inOrder.append(MachineRow(reading: reading, offset: event.offset, state: fold))
        (self.fold, lastMs, hasChanged) = (fold, reading.ts, true)
        return tell(episodes, since: prevMs, rules, clockMs: clockMs, event)
    }

    /// Puts a late reading into its place. Where one of the same time is stored, the one that `unioned` keeps counts.
    /// - Returns: false: the stored one stays.
    mutating func insert(_ reading: MachineReading, over stored: MachineRow?, offset: Int64) -> Bool {
        if let stored, [stored.reading, reading].unioned() == [stored.reading] { return false }
        if stored?.reading.machineID != nil, reading.machineID == nil { isMachineIDLost = true }
        let row = MachineRow(reading: reading, offset: offset, state: stored?.state)
        if let index = index(at: reading.ts) { inOrder[index] = row } else { late[reading.ts] = row }
        hasChanged = true
        return true
    }

    /// The row of a reading that is not written yet.
    func row(at ts: Int64) -> MachineRow? { late[ts] ?? index(at: ts).map { inOrder[$0] } }

    private func index(at ts: Int64) -> Int? {
        var (low, high) = (0, inOrder.count)
        while low < high {
            let middle = (low + high) / 2
            if inOrder[middle].reading.ts < ts { low = middle + 1 } else { high = middle }
        }
        return low < inOrder.count && inOrder[low].reading.ts == ts ? low : nil
    }

    /// Nil: every reading is judged as before.
    mutating func insert(_ service: ServiceLog.Entry) -> RuleTimeline.Effect? {
        let effect = services.insert(service)
        if effect != nil { hasChanged = true }
        return effect
    }

    /// Tells what the clock, or a service after the latest reading, has changed.
    mutating func tellEnd(_ rules: RuleTimeline, clockMs: Int64, _ event: MachineEvent) -> [AlertTransition] {
        guard let fold else { return [] }
        hasChanged = true
        return tell(fold.openByID, since: fold.lastMs ?? .min, rules, clockMs: clockMs, event)
    }

    private mutating func tell(
        _ episodes: [String: Episode], since prevMs: Int64, _ rules: RuleTimeline, clockMs: Int64, _ event: MachineEvent
    ) -> [AlertTransition] {
        var episodes = episodes
        // While it waits, what is late may say that it was not silent: only what was told stands.
        let overdue = fold!.overdue(at: clockMs, rules: rules, vehicle: vehicle).filter { episode in
            !isWaiting || told.all.contains { !$0.isWithdrawn && $0.episode.competes(with: episode) }
        }
        for episode in overdue + fold!.served(services, rules: rules) { episodes[episode.id] = episode }
        return told.tell(
            Array(episodes.values), cause: AlertCause(pushedMs: event.pushedMs, isLate: false)
        ) { $0.episode.resolvedMs ?? .max > prevMs ? .judged : .untouched }
    }

    /// When the clock opens its next alert. While it waits that may be passed: it opens when the machine waits no more.
    func dueMs(after clockMs: Int64, _ rules: RuleTimeline) -> Int64? {
        fold?.nextDeadlineMs(after: isWaiting ? .min : clockMs, rules: rules, vehicle: vehicle)
    }

    /// Nil when nothing changed.
    func change(dueMs: Int64?, wasDueMs: Int64?) -> MachineChange? {
        let readings = (inOrder + late.values).sorted { $0.reading.ts < $1.reading.ts }
        let alerts = told.changed
        guard let lastMs, !readings.isEmpty || !alerts.isEmpty || fold != nil && dueMs != wasDueMs else { return nil }
        return MachineChange(
            vehicle: vehicle, model: fold?.lastModel ?? readings.last?.reading.model ?? "", lastMs: lastMs,
            readings: readings, alerts: alerts, isLatest: fold != nil, nextDeadlineMs: dueMs,
            isMachineIDLost: isMachineIDLost)
    }
}

extension AlertFold {
    /// A damaged state that still decodes may hold an id twice: no reason to stop.
    var openByID: [String: Episode] { Dictionary(open.map { ($0.id, $0) }) { first, _ in first } }
}
