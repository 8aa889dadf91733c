internal import Alerts
internal import Fleet

/// One machine while a batch is taken: its readings from some time on, and the alerts that they can touch.
struct MachineWindow {
    /// The readings at hand end before what is asked; more must be read back.
    struct Short: Error {}

    let vehicle: VehicleID
    /// Readings from here on are known.
    let fromMs: Int64
    let isWhole: Bool
    private let before: AlertFold
    private var rows: [MachineRow]
    private(set) var told: ToldAlerts
    private(set) var services: ServiceLog
    private var changedRows: Set<Int64> = []

    /// A machine in memory: everything before its latest reading is out of reach.
    init(vehicle: VehicleID, _ machine: MachineBook.Machine) {
        (self.vehicle, fromMs) = (vehicle, machine.fold.lastMs.map { $0 + 1 } ?? .min)
        (isWhole, before, rows) = (true, machine.fold, [])
        (told, services) = (machine.told, machine.services)
    }

    init(vehicle: VehicleID, _ history: MachineHistory) {
        (self.vehicle, fromMs, isWhole) = (vehicle, history.fromMs, history.isWhole)
        (before, rows, told, services) = (history.before ?? AlertFold(), history.rows, history.told, history.services)
    }

    /// The state after the last row.
    var end: AlertFold { rows.isEmpty ? before : rows[rows.count - 1].state! }
    var needsRepair: Bool { rows.contains { $0.state == nil } }

    /// Judges again where the state is not known.
    mutating func repair(
        _ rules: RuleTimeline, clockMs: Int64, pushedMs: Int64
    ) throws(Short) -> [AlertTransition] {
        var transitions: [AlertTransition] = []
        while let index = rows.firstIndex(where: { $0.state == nil }) {
            transitions += try judge(
                from: index, rules, clockMs: clockMs, AlertCause(pushedMs: pushedMs, isLate: true))
        }
        return transitions
    }

    /// Takes a reading into its place. Of two of one time the one that `unioned` keeps counts.
    mutating func insert(
        _ reading: MachineReading, offset: Int64, _ rules: RuleTimeline, clockMs: Int64, pushedMs: Int64
    ) throws(Short) -> [AlertTransition] {
        let index = firstIndex(from: reading.ts)
        guard isWhole || index < rows.count else { throw Short() }
        let isLate = index < rows.count
        if isLate, rows[index].reading.ts == reading.ts {
            guard [rows[index].reading, reading].unioned() != [rows[index].reading] else { return [] }
            rows[index] = MachineRow(reading: reading, offset: offset, state: nil)
        } else {
            rows.insert(MachineRow(reading: reading, offset: offset, state: nil), at: index)
        }
        return try judge(from: index, rules, clockMs: clockMs, AlertCause(pushedMs: pushedMs, isLate: isLate))
    }

    /// Judges again what other rules are in force for now.
    mutating func apply(
        _ effect: RuleTimeline.Effect, _ rules: RuleTimeline, clockMs: Int64, pushedMs: Int64
    ) throws(Short) -> [AlertTransition] {
        let index = firstIndex(from: effect.fromMs)
        guard index < rows.count else {
            guard isWhole else { throw Short() }
            return []
        }
        return try judge(
            from: index, untilMs: effect.untilMs ?? .max, rules, clockMs: clockMs,
            AlertCause(pushedMs: pushedMs, isLate: true))
    }

    /// Judges again what another service is the last for.
    mutating func serve(
        _ service: ServiceLog.Entry, _ rules: RuleTimeline, clockMs: Int64, pushedMs: Int64
    ) throws(Short) -> [AlertTransition] {
        var services = services
        guard let effect = services.insert(service) else { return [] }
        let index = firstIndex(from: effect.fromMs)
        guard isWhole || index < rows.count else { throw Short() }
        self.services = services
        return try judge(
            from: index, untilMs: effect.untilMs ?? .max, rules, clockMs: clockMs,
            AlertCause(pushedMs: pushedMs, isLate: index < rows.count))
    }

    /// Tells what the clock has opened.
    mutating func tick(_ rules: RuleTimeline, clockMs: Int64, pushedMs: Int64) throws(Short) -> [AlertTransition] {
        try judge(from: rows.count, rules, clockMs: clockMs, AlertCause(pushedMs: pushedMs, isLate: false))
    }

    /// Tells what the clock has not opened after all.
    mutating func setBack(_ rules: RuleTimeline, clockMs: Int64, pushedMs: Int64) throws(Short) -> [AlertTransition] {
        try judge(from: rows.count, rules, clockMs: clockMs, AlertCause(pushedMs: pushedMs, isLate: true))
    }

    /// Judges the rows from `index` on, and stops where the state is what it was before: what follows is, too. Before
    /// `untilMs` the rules are others, so an equal state says nothing.
    private mutating func judge(
        from index: Int, untilMs: Int64 = .min, _ rules: RuleTimeline, clockMs: Int64, _ cause: AlertCause
    ) throws(Short) -> [AlertTransition] {
        var fold = index > 0 ? rows[index - 1].state! : before
        let prevMs = fold.lastMs ?? .min
        // A damaged state that still decodes may hold an id twice: no reason to stop.
        var episodes = Dictionary(fold.open.map { ($0.id, $0) }) { first, _ in first }
        for at in index..<rows.count {
            for episode in fold.observe(rows[at].reading, rules: rules, services: services) {
                episodes[episode.id] = episode
            }
            guard rows[at].state != fold else {
                if rows[at].reading.ts >= untilMs { return tell(episodes, since: prevMs, settled: fold, cause) }
                continue
            }
            rows[at].state = fold
            changedRows.insert(rows[at].reading.ts)
        }
        guard isWhole else { throw Short() }
        for episode in fold.overdue(at: clockMs, rules: rules, vehicle: vehicle) { episodes[episode.id] = episode }
        for episode in fold.served(services, rules: rules) { episodes[episode.id] = episode }
        return tell(episodes, since: prevMs, settled: nil, cause)
    }

    /// `settled` is the state that was reached as before. What is open in it, and what opens later (never before that
    /// reading), is as it was.
    private mutating func tell(
        _ episodes: [String: Episode], since prevMs: Int64, settled: AlertFold?, _ cause: AlertCause
    ) -> [AlertTransition] {
        let same = Set(settled?.open.map(\.id) ?? [])
        let endMs = settled?.lastMs ?? .max
        return told.tell(episodes.values.filter { !same.contains($0.id) }, cause: cause) { alert in
            let episode = alert.episode
            return episode.resolvedMs ?? .max > prevMs && episode.openedMs < endMs && !same.contains(episode.id)
        }
    }

    private func firstIndex(from ts: Int64) -> Int {
        // Mostly the end.
        if let last = rows.last, last.reading.ts < ts { return rows.count }
        return rows.firstIndex { $0.reading.ts >= ts } ?? rows.count
    }

    /// Nil when nothing changed.
    func change(_ nextDeadlineMs: Int64?, wasDeadlineMs: Int64?) -> MachineChange? {
        let readings = rows.filter { changedRows.contains($0.reading.ts) }
        let alerts = told.all.filter { told.changedIDs.contains($0.id) }
        guard !readings.isEmpty || !alerts.isEmpty || isWhole && nextDeadlineMs != wasDeadlineMs else { return nil }
        return MachineChange(
            vehicle: vehicle, model: end.lastModel!, lastMs: end.lastMs!, readings: readings,
            alerts: alerts.sorted { $0.id < $1.id }, isLatest: isWhole, nextDeadlineMs: nextDeadlineMs)
    }
}
