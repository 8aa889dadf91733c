internal import Alerts
internal import Fleet

/// One batch while it is taken: the machines that it touches, the rules and the clock as they change on the way. The book
/// itself stays as it is until the whole batch is done.
struct MachineSession {
    private let book: MachineBook
    private let histories: MachineHistories
    private var rules: RuleTimeline
    private var clockMs: Int64
    private var windows: [VehicleID: MachineWindow] = [:]
    /// When the clock opens the next alert of each machine whose window is whole.
    private var windowDeadlineMs: [VehicleID: Int64] = [:]
    private var changes = MachineChanges()
    private var missing: [VehicleID: MachineQuery] = [:]
    private var missingSinceMs: Int64?
    /// The earliest reading of each machine in the batch.
    private var earliestMs: [VehicleID: Int64] = [:]
    /// No machine of the book has an earlier deadline, except those that have been seen to.
    private var nextDeadlineMs: Int64

    /// What a session comes to, without the book: that is the caller's alone again and can be changed in place.
    struct Result {
        let needs: MachineNeeds?
        let windows: [VehicleID: MachineWindow]
        let changes: MachineChanges
        let rules: RuleTimeline
        let clockMs: Int64
    }

    static func run(_ book: MachineBook, _ histories: MachineHistories, _ events: [MachineEvent]) -> Result {
        var session = MachineSession(book, histories, events)
        for event in events { session.take(event) }
        return Result(
            needs: session.needs, windows: session.windows, changes: session.changes, rules: session.rules,
            clockMs: session.clockMs)
    }

    private init(_ book: MachineBook, _ histories: MachineHistories, _ events: [MachineEvent]) {
        (self.book, self.histories) = (book, histories)
        (rules, clockMs) = (book.rules, book.clockMs)
        nextDeadlineMs = book.deadlineMs.min() ?? .max
        for case .reading(let reading) in events.lazy.map(\.fact) {
            earliestMs[reading.vehicle] = min(earliestMs[reading.vehicle] ?? .max, reading.ts)
        }
    }

    private var needs: MachineNeeds? {
        guard !missing.isEmpty || missingSinceMs != nil else { return nil }
        var needs = MachineNeeds()
        needs.machines = missing.values.sorted { $0.vehicle < $1.vehicle }
        needs.reportedSinceMs = missingSinceMs
        return needs
    }

    private mutating func take(_ event: MachineEvent) {
        switch event.fact {
        case .reading(let reading):
            let (rules, clockMs) = (rules, clockMs)
            change(reading.vehicle, event.pushedMs, fromMs: earliestMs[reading.vehicle]!, rowsMax: MachineBook.pageRows)
            {
                (window) throws(MachineWindow.Short) in
                try window.insert(reading, offset: event.offset, rules, clockMs: clockMs, pushedMs: event.pushedMs)
            }
        case .tick(let ts): tick(ts, event.pushedMs)
        case .setBack(let ts): setBack(ts, event.pushedMs)
        case .rules(let entry):
            changes.rules.append((entry, event.offset))
            if let effect = rules.insert(entry) { apply(effect, event.pushedMs) }
        case .action(let action):
            changes.actions.append(action)
            if case .service(let atHours) = action.kind, let vehicle = action.vehicle {
                serve(vehicle, ServiceLog.Entry(doneMs: action.ts, atHours: atHours, id: action.id), event.pushedMs)
            }
        }
    }

    /// What ran before the service, and what runs after it, is judged by it.
    private mutating func serve(_ vehicle: VehicleID, _ service: ServiceLog.Entry, _ pushedMs: Int64) {
        let (rules, clockMs) = (rules, clockMs)
        let fromMs = min(service.doneMs, earliestMs[vehicle] ?? .max)
        change(vehicle, pushedMs, fromMs: fromMs, rowsMax: nil) { (window) throws(MachineWindow.Short) in
            try window.serve(service, rules, clockMs: clockMs, pushedMs: pushedMs)
        }
    }

    private mutating func tick(_ ts: Int64, _ pushedMs: Int64) {
        guard ts > clockMs else { return }
        clockMs = ts
        var due = windowDeadlineMs.filter { $0.value < ts }.map(\.key)
        if nextDeadlineMs < ts {
            nextDeadlineMs = .max
            for (slot, deadlineMs) in book.deadlineMs.enumerated() {
                if deadlineMs >= ts {
                    nextDeadlineMs = min(nextDeadlineMs, deadlineMs)
                } else if windows[book.machines[slot].vehicle]?.isWhole != true {
                    due.append(book.machines[slot].vehicle)
                }
            }
        }
        let (rules, clockMs) = (rules, clockMs)
        for vehicle in due.sorted() {
            change(vehicle, pushedMs, fromMs: earliestMs[vehicle] ?? .max, rowsMax: nil) {
                (window) throws(MachineWindow.Short) in
                try window.tick(rules, clockMs: clockMs, pushedMs: pushedMs)
            }
        }
    }

    /// The clock was moved wrongly: machines whose deadlines it passed meanwhile are judged again, and what it opened is withdrawn.
    /// Those that have no deadline left are not in the book.
    private mutating func setBack(_ ts: Int64, _ pushedMs: Int64) {
        guard ts < clockMs else { return }
        let passed = ts..<clockMs
        clockMs = ts
        // The next tick looks for it.
        nextDeadlineMs = ts
        guard let stored = histories.reportedSince, stored.ms <= 0 else {
            missingSinceMs = 0
            return
        }
        let (rules, clockMs) = (rules, clockMs)
        func wasPassed(_ fold: AlertFold, _ vehicle: VehicleID) -> Bool {
            fold.nextDeadlineMs(after: passed.lowerBound, rules: rules, vehicle: vehicle).map(passed.contains) ?? false
        }
        let ends = Dictionary(uniqueKeysWithValues: book.machines.map { ($0.vehicle, $0.fold) })
        let due = stored.vehicles.union(windows.keys).filter { vehicle in
            if let window = windows[vehicle], window.isWhole { return wasPassed(window.end, vehicle) }
            return ends[vehicle].map { wasPassed($0, vehicle) } ?? true
        }
        for vehicle in due.sorted() {
            change(vehicle, pushedMs, fromMs: earliestMs[vehicle] ?? .max, rowsMax: nil) {
                (window) throws(MachineWindow.Short) in
                try window.setBack(rules, clockMs: clockMs, pushedMs: pushedMs)
            }
        }
    }

    /// Every machine with a reading that is judged by other rules now.
    private mutating func apply(_ effect: RuleTimeline.Effect, _ pushedMs: Int64) {
        guard let stored = histories.reportedSince, stored.ms <= effect.fromMs else {
            missingSinceMs = min(missingSinceMs ?? .max, effect.fromMs)
            return
        }
        let touched = windows.values.filter { $0.end.lastMs ?? .min >= effect.fromMs }.map(\.vehicle)
        let (rules, clockMs) = (rules, clockMs)
        for vehicle in stored.vehicles.union(touched).sorted() {
            let fromMs = min(effect.fromMs, earliestMs[vehicle] ?? .max)
            change(vehicle, pushedMs, fromMs: fromMs, rowsMax: nil) { (window) throws(MachineWindow.Short) in
                try window.apply(effect, rules, clockMs: clockMs, pushedMs: pushedMs)
            }
        }
    }

    /// Changes the machine's window, which reaches back to `fromMs`, or notes what is missing for that.
    private mutating func change(
        _ vehicle: VehicleID, _ pushedMs: Int64, fromMs: Int64, rowsMax: Int?,
        _ body: (inout MachineWindow) throws(MachineWindow.Short) -> [AlertTransition]
    ) {
        guard missing[vehicle] == nil else {
            return miss(vehicle, fromMs: fromMs, rowsMax: rowsMax)
        }
        do throws(MachineWindow.Short) {
            guard var window = try window(vehicle, pushedMs), window.fromMs <= fromMs else {
                return miss(vehicle, fromMs: fromMs, rowsMax: rowsMax)
            }
            changes.transitions += try body(&window)
            windows[vehicle] = window
            guard window.isWhole else { return }
            windowDeadlineMs[vehicle] = window.end.nextDeadlineMs(after: clockMs, rules: rules, vehicle: vehicle)
        } catch {
            let known = histories.machines[vehicle]?.rows.count ?? 0
            miss(vehicle, fromMs: fromMs, rowsMax: rowsMax.map { max($0, known * 8) })
        }
    }

    private mutating func miss(_ vehicle: VehicleID, fromMs: Int64, rowsMax: Int?) {
        let before = missing[vehicle]
        let knownFromMs = histories.machines[vehicle]?.fromMs ?? .max
        let rows = rowsMax.flatMap { rows in before.map { $0.rowsMax.map { max($0, rows) } } ?? rows }
        missing[vehicle] = MachineQuery(
            vehicle: vehicle, fromMs: min(fromMs, before?.fromMs ?? .max, knownFromMs), rowsMax: rows)
    }

    private mutating func window(_ vehicle: VehicleID, _ pushedMs: Int64) throws(MachineWindow.Short) -> MachineWindow?
    {
        if let window = windows[vehicle] { return window }
        guard let history = histories.machines[vehicle] else {
            guard let machine = book.machine(vehicle) else { return nil }
            return MachineWindow(vehicle: vehicle, machine)
        }
        var window = MachineWindow(vehicle: vehicle, history)
        if window.needsRepair {
            changes.rebuilt += 1
            changes.transitions += try window.repair(rules, clockMs: clockMs, pushedMs: pushedMs)
        }
        return window
    }
}
