public import Alerts
public import Fleet

/// The machines of one partition. Facts in (records in the order of the log, history), rows and transitions out; no
/// clock of its own and no I/O.
///
/// A reading that comes in the order of its machine's times is judged at once, from memory. Whatever makes readings be
/// judged again (a late one, other rules, a service, a clock that is set back) only says from when on; at each tick that
/// is done a piece further, for one machine after the other, until the state comes out as it was (decision 22). So what
/// was told, and with it ids and revisions, follows from the log alone, and no record costs more than a bound.
public struct MachinePartition: Sendable {
    public enum Outcome: Equatable, Sendable {
        /// Nothing was taken: read this back and come again with all that was read back so far.
        case needs(MachineNeeds)
        /// So many of the records were taken. The others come again when what follows is written.
        case accepted(MachineChanges, count: Int)
    }

    struct Machine: Sendable {
        var vehicle: VehicleID
        /// The state after the latest reading.
        var fold: AlertFold
        var told: ToldAlerts
        var services: ServiceLog
    }

    /// How much is judged again at one tick.
    public struct Pace: Sendable {
        /// Readings of one machine that are read back, at first and where those do not suffice; the last is a piece.
        public var pages: [Int]
        /// Readings of all machines, counted by their pages: half of them for who waits longest, half for who came last and
        /// needs no more than a page. So rules for ten thousand machines keep nobody's late reading waiting.
        public var rows: Int
        /// Machines that are noted at once where something of all of them changed.
        public var notedMax: Int

        public init(pages: [Int], rows: Int, notedMax: Int = 4_096) {
            (self.pages, self.rows, self.notedMax) = (pages, rows, notedMax)
        }

        public static let product = Pace(pages: [32, 256, 2_048, 8_192], rows: 16_384)
    }

    public internal(set) var rules: RuleTimeline
    /// The partition's clock: its greatest tick.
    public internal(set) var clockMs: Int64
    public internal(set) var queue: RejudgingQueue
    public internal(set) var spreads: MachineSpreads
    let pace: Pace
    private(set) var slots: [VehicleID: Int] = [:]
    private(set) var machines: [Machine] = []
    /// By slot: when the clock opens the machine's next alert; `Int64.max` for never.
    private(set) var deadlineMs: [Int64] = []
    private let machinesMax: Int

    /// For a partition taken over: its rule sets, its clock and what waits to be judged again, as they are stored.
    public init(
        rules: RuleTimeline, clockMs: Int64?, rejudging: [VehicleID: Rejudging] = [:],
        spreads: MachineSpreads = MachineSpreads(), machinesMax: Int = 200_000, pace: Pace = .product
    ) {
        (self.rules, self.clockMs, self.machinesMax) = (rules, clockMs ?? .min, machinesMax)
        (queue, self.spreads, self.pace) = (RejudgingQueue(rejudging), spreads, pace)
    }

    public var count: Int { machines.count }
    public var isRejudging: Bool { !queue.isEmpty || !spreads.isEmpty }

    /// The time of the latest reading of a machine that is held in memory.
    public func lastMs(of vehicle: VehicleID) -> Int64? { machine(vehicle)?.fold.lastMs }

    /// Takes over machines that have a deadline: what is known after their latest readings, and that deadline as it is stored,
    /// which may have passed while the machine waited to be judged again. One whose state is not known is judged again.
    public mutating func restore(_ ends: [(vehicle: VehicleID, end: MachineHistory, dueMs: Int64)]) {
        var unknown: [VehicleID] = []
        for (vehicle, end, dueMs) in ends {
            switch end.before {
            case .nothing: break
            case .state(let fold):
                keep(Machine(vehicle: vehicle, fold: fold, told: end.told, services: end.services), dueMs: dueMs)
            case .unknown: unknown.append(vehicle)
            }
        }
        queue.askFirst(unknown)
    }

    /// Takes records in the order of the log, from the first: as many as can be taken before what follows from them is
    /// written. Either these are all taken, or none and it is said what is missing.
    public mutating func accept(_ events: ArraySlice<MachineEvent>, histories: MachineHistories) -> Outcome {
        guard let first = events.first else { return .accepted(MachineChanges(), count: 0) }
        switch first.fact {
        case .tick(let ts) where isRejudging && ts > clockMs: return turn(ts, first, histories)
        case .rules(let entry): return apply(entry, first, histories)
        case .setBack(let ts): return setBack(ts, first, histories)
        case .reading, .tick, .action: break
        }
        let batch = MachineBatchFold.run(self, histories, events)
        if !batch.needs.isEmpty { return .needs(batch.needs) }
        clockMs = batch.clockMs
        var changes = batch.changes
        for (vehicle, asked) in batch.asked { ask(asked, of: vehicle, &changes) }
        for live in batch.machines.values.sorted(by: { $0.vehicle < $1.vehicle }) where live.hasChanged {
            write(live, &changes)
        }
        return .accepted(changes, count: batch.count)
    }

    private mutating func write(_ live: LiveMachine, _ changes: inout MachineChanges) {
        let (wasDueMs, dueMs) = (deadline(of: live.vehicle), live.dueMs(after: clockMs, rules))
        if let machine = live.machine { keep(machine, dueMs: dueMs) }
        if let change = live.change(dueMs: dueMs, wasDueMs: wasDueMs) { changes.machines.append(change) }
    }

    // MARK: What is judged again

    private mutating func ask(_ asked: Rejudging, of vehicle: VehicleID, _ changes: inout MachineChanges) {
        if let changed = queue.ask(asked, of: vehicle) { changes.rejudging[vehicle] = .some(changed) }
    }

    /// Every machine with a reading that is judged by other rules now.
    private mutating func apply(
        _ entry: RuleTimeline.Entry, _ event: MachineEvent, _ histories: MachineHistories
    ) -> Outcome {
        var (rules, changes) = (rules, MachineChanges())
        changes.rules = [(entry, event.offset)]
        if let effect = rules.insert(entry) {
            guard let page = histories.page(firstPage) else { return .needs(firstPage) }
            let span = Rejudging.Span(fromMs: effect.fromMs, untilMs: effect.untilMs ?? .max)
            begin(MachineSpread(span, sinceMs: effect.fromMs, askedOffset: event.offset), page, &changes)
        }
        self.rules = rules
        return .accepted(changes, count: 1)
    }

    /// The clock was moved wrongly: what it opened is withdrawn, where the machine's last reading says so.
    private mutating func setBack(_ ts: Int64, _ event: MachineEvent, _ histories: MachineHistories) -> Outcome {
        guard ts < clockMs else { return .accepted(MachineChanges(), count: 1) }
        guard let page = histories.page(firstPage) else { return .needs(firstPage) }
        clockMs = ts
        var changes = MachineChanges()
        let end = Rejudging.Span(fromMs: .max, untilMs: .max)
        begin(MachineSpread(end, sinceMs: .min, askedOffset: event.offset), page, &changes)
        return .accepted(changes, count: 1)
    }

    private var firstPage: MachinePageQuery { MachinePageQuery(after: nil, countMax: pace.notedMax) }

    /// Notes the first piece, at the record that asks for it; the others at ticks.
    private mutating func begin(_ spread: MachineSpread, _ page: MachinePage, _ changes: inout MachineChanges) {
        for (vehicle, asked) in page.noted(spread, askedOffset: spread.askedOffset) {
            ask(asked, of: vehicle, &changes)
        }
        guard let last = page.last else { return }
        var spread = spread
        spread.after = last
        spreads.add(spread)
        changes.spreads = spreads
    }

    /// A tick: the machines that wait are judged a piece further, in the order of the queue, as far as the pace goes;
    /// then it opens what is due of those that do not wait. Where something of all machines changed, the next piece of them is noted.
    private mutating func turn(_ ts: Int64, _ event: MachineEvent, _ histories: MachineHistories) -> Outcome {
        var needs = MachineNeeds()
        let turns = turns(ts, event, histories, &needs)
        let noted = noted(event, histories, &needs)
        guard needs.isEmpty else { return .needs(needs) }
        clockMs = ts
        var changes = MachineChanges()
        // In the order of their names, as those that ask at one offset are when they are read back.
        let turnOf = Dictionary(uniqueKeysWithValues: turns.map { ($0.vehicle, $0) })
        for vehicle in Set(turnOf.keys).union(noted.keys).sorted() {
            if let turn = turnOf[vehicle] { end(turn, ts, event, &changes) }
            if let asked = noted[vehicle] { ask(asked, of: vehicle, &changes) }
        }
        // Also of those that wait no more: what was open before is as it was.
        var written = Dictionary(uniqueKeysWithValues: changes.machines.enumerated().map { ($1.vehicle, $0) })
        for vehicle in due(before: ts) {
            var live = LiveMachine(machine(vehicle)!, isWaiting: false)
            changes.transitions += live.tellEnd(rules, clockMs: ts, event)
            write(live, &changes)
            guard let last = changes.machines.last, last.vehicle == vehicle, let first = written[vehicle] else {
                continue
            }
            written[vehicle] = nil
            changes.machines[first] = changes.machines[first].merged(with: changes.machines.removeLast())
        }
        if let first = spreads.first {
            if let last = histories.page(first.next(pace))?.last { spreads.advance(to: last) } else { spreads.finish() }
            changes.spreads = spreads
        }
        return .accepted(changes, count: 1)
    }

    private mutating func end(_ turn: MachineTurn, _ ts: Int64, _ event: MachineEvent, _ changes: inout MachineChanges)
    {
        let next = turn.next(askedOffset: event.offset)
        queue.replace(next, of: turn.vehicle)
        changes.rejudging.updateValue(next, forKey: turn.vehicle)
        changes.transitions += turn.transitions
        if turn.isRebuilt { changes.rebuilt += 1 }
        let wasDueMs = deadline(of: turn.vehicle)
        var dueMs = wasDueMs
        if let end = turn.end {
            dueMs = end.fold.nextDeadlineMs(after: ts, rules: rules, vehicle: turn.vehicle)
            keep(end, dueMs: dueMs)
        } else if let slot = slots[turn.vehicle] {
            let fold = machines[slot].fold
            for alert in turn.alerts { machines[slot].told.adopt(alert, after: fold) }
        }
        if let change = turn.change(dueMs: dueMs, wasDueMs: wasDueMs) { changes.machines.append(change) }
    }

    /// The next piece of what is to be noted of all machines.
    private func noted(
        _ event: MachineEvent, _ histories: MachineHistories, _ needs: inout MachineNeeds
    ) -> [VehicleID: Rejudging] {
        guard let spread = spreads.first else { return [:] }
        guard let page = histories.page(spread.next(pace)) else {
            needs.page = spread.next(pace)
            return [:]
        }
        return Dictionary(uniqueKeysWithValues: page.noted(spread, askedOffset: event.offset))
    }

    /// Which machines are judged a piece further at a tick, and what comes of it; or what must be read back to know.
    private func turns(
        _ ts: Int64, _ event: MachineEvent, _ histories: MachineHistories, _ needs: inout MachineNeeds
    ) -> [MachineTurn] {
        let first = pace.pages[0]
        func turn(_ vehicle: VehicleID, _ asked: Rejudging) -> (turn: MachineTurn, rowsMax: Int)? {
            guard let history = histories.machines[vehicle] else {
                needs.machines.append(MachineQuery(vehicle: vehicle, fromMs: asked.span.fromMs, rowsMax: first))
                return nil
            }
            let cause = AlertCause(pushedMs: event.pushedMs, isLate: true)
            let turn = MachineTurn(vehicle: vehicle, asked, history, rules: rules, clockMs: ts, cause: cause)
            return (turn, history.rowsMax)
        }
        var (left, found, tried): (Int, [MachineTurn], Set<VehicleID>) = (max(pace.rows / 2, first), [], [])
        for (vehicle, asked) in queue.first(1 + pace.rows / first) {
            guard left >= first else { break }
            tried.insert(vehicle)
            guard let (turn, rowsMax) = turn(vehicle, asked) else {
                left -= first
                continue
            }
            let page = turn.isShort ? pace.pages.first { $0 > rowsMax } : nil
            let cost = page ?? rowsMax
            guard left >= cost || found.isEmpty else { break }
            left -= cost
            found.append(turn)
            guard let page else { continue }
            needs.machines.append(MachineQuery(vehicle: vehicle, fromMs: asked.span.fromMs, rowsMax: page))
        }
        for (vehicle, asked) in queue.last(pace.rows / 2 / first) where !tried.contains(vehicle) {
            guard let (turn, _) = turn(vehicle, asked), !turn.isShort else { continue }
            found.append(turn)
        }
        return found
    }

    // MARK: Memory

    func machine(_ vehicle: VehicleID) -> Machine? { slots[vehicle].map { machines[$0] } }

    /// The machines whose deadlines the clock has passed, except those with late readings that wait to be judged: they may
    /// say that the machine was not silent.
    func due(before clockMs: Int64) -> [VehicleID] {
        deadlineMs.indices.filter { deadlineMs[$0] < clockMs }.map { machines[$0].vehicle }
            .filter { queue[$0]?.isLate != true }.sorted()
    }

    private func deadline(of vehicle: VehicleID) -> Int64? {
        slots[vehicle].flatMap { deadlineMs[$0] == .max ? nil : deadlineMs[$0] }
    }

    /// Beyond the limit only machines with a deadline are held; the others are read back when they report.
    private mutating func keep(_ machine: Machine, dueMs: Int64?) {
        var machine = machine
        let dueMs = dueMs ?? .max
        machine.told = machine.told.remaining(after: machine.fold)
        if let slot = slots[machine.vehicle] {
            (machines[slot], deadlineMs[slot]) = (machine, dueMs)
            if dueMs == .max, machines.count > machinesMax { forget(slot) }
        } else if dueMs != .max || machines.count < machinesMax {
            slots[machine.vehicle] = machines.count
            machines.append(machine)
            deadlineMs.append(dueMs)
        }
    }

    /// The last one takes its place.
    private mutating func forget(_ slot: Int) {
        slots[machines[slot].vehicle] = nil
        let (machine, dueMs) = (machines.removeLast(), deadlineMs.removeLast())
        guard slot < machines.count else { return }
        (machines[slot], deadlineMs[slot]) = (machine, dueMs)
        slots[machine.vehicle] = slot
    }
}

extension MachinePartition.Outcome {
    fileprivate static func needs(_ page: MachinePageQuery) -> MachinePartition.Outcome {
        var needs = MachineNeeds()
        needs.page = page
        return .needs(needs)
    }
}

extension MachineHistories {
    fileprivate func page(_ query: MachinePageQuery) -> MachinePage? { page.flatMap { $0.query == query ? $0 : nil } }
}

extension MachineSpread {
    fileprivate func next(_ pace: MachinePartition.Pace) -> MachinePageQuery {
        MachinePageQuery(after: after, countMax: pace.notedMax)
    }
}
