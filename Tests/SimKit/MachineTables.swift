public import Alerts
public import Fleet
public import Pipeline

/// The tables of machines of one partition in memory, with the answers that the real store gives: an oracle for the order
/// of arrival.
public struct MachineTables: Equatable, Sendable {
    public struct Row: Equatable, Sendable {
        public var reading: MachineReading
        /// Packed, as it is stored.
        public var state: [UInt8]
        public var offset: Int64 = -1

        /// Where it stands says how it came.
        public static func == (a: Row, b: Row) -> Bool { a.reading == b.reading && a.state == b.state }
    }

    public var readings: [VehicleID: [Int64: Row]] = [:]
    /// By id, withdrawn ones too.
    public var alerts: [String: ToldAlert] = [:]
    public var rules: [Int64: RuleTimeline.Entry] = [:]
    public var deadlines: [VehicleID: Int64] = [:]
    public var rejudging: [VehicleID: Rejudging] = [:]
    public var spreads = MachineSpreads()
    public var services: [VehicleID: [ServiceLog.Entry]] = [:]
    public var clockMs: Int64?
    public var nextOffset: Int64 = 0
    /// What the outbox was given.
    public var transitions: [AlertTransition] = []

    public init() {}

    /// What people are told now, ids left out.
    public var episodes: [String: Episode] {
        Dictionary(uniqueKeysWithValues: alerts.values.filter { !$0.isWithdrawn }.map { ($0.episode.id, $0.episode) })
    }

    /// Precondition, as the store's upsert has it: no key stands twice in a change.
    public mutating func write(_ changes: MachineChanges) {
        for change in changes.machines {
            precondition(Set(change.readings.map(\.reading.ts)).count == change.readings.count)
            precondition(Set(change.alerts.map(\.id)).count == change.alerts.count)
            for row in change.readings {
                readings[change.vehicle, default: [:]][row.reading.ts] = Row(
                    reading: row.reading, state: row.state?.packed ?? [], offset: row.offset)
            }
            for alert in change.alerts { alerts[alert.id] = alert }
            if change.isLatest { deadlines[change.vehicle] = change.nextDeadlineMs }
        }
        for (vehicle, asked) in changes.rejudging { rejudging[vehicle] = asked }
        spreads = changes.spreads ?? spreads
        for (entry, _) in changes.rules where rules[entry.inForceMs]?.rules.version ?? "" < entry.rules.version {
            rules[entry.inForceMs] = entry
        }
        for action in changes.actions { insert(action) }
        transitions += changes.transitions
    }

    private mutating func insert(_ action: Action) {
        guard case .service(let atHours) = action.kind, let vehicle = action.vehicle else { return }
        let entry = ServiceLog.Entry(doneMs: action.ts, atHours: atHours, id: action.id)
        var log = ServiceLog(services[vehicle] ?? [])
        if log.insert(entry) != nil { services[vehicle] = log.entries }
    }

    /// What a worker has in memory that takes the partition over.
    public func partition(machinesMax: Int = 200_000, pace: MachinePartition.Pace = .product) -> MachinePartition {
        var partition = MachinePartition(
            rules: RuleTimeline(rules.values), clockMs: clockMs, rejudging: rejudging, spreads: spreads,
            machinesMax: machinesMax, pace: pace)
        partition.restore(deadlines.map { ($0.key, history(.end($0.key)), $0.value) })
        return partition
    }

    public func read(_ needs: MachineNeeds, into histories: inout MachineHistories) {
        for query in needs.machines { histories.machines[query.vehicle] = history(query) }
        for place in needs.places {
            let row = readings[place.vehicle]?[place.ts]
            histories.places.updateValue(row.map(MachineTables.row), forKey: place)
        }
        guard let query = needs.page else { return }
        let machines = readings.keys.filter { query.after == nil || $0 > query.after! }.sorted().prefix(query.countMax)
        histories.page = MachinePage(
            query, machines: machines.map { ($0, readings[$0]!.keys.max()!) },
            last: machines.count < query.countMax ? nil : machines.last)
    }

    private static func row(_ row: Row) -> MachineRow {
        MachineRow(reading: row.reading, offset: row.offset, state: try? AlertFold(packed: row.state))
    }

    private func history(_ query: MachineQuery) -> MachineHistory {
        let rows = readings[query.vehicle, default: [:]].sorted { $0.key < $1.key }
        let after = rows.filter { $0.key >= query.fromMs }
        var history = MachineHistory(
            before: .nothing, rows: after.prefix(query.rowsMax).map { MachineTables.row($0.value) },
            rowsMax: query.rowsMax, isWhole: query.rowsMax == 0 || after.count <= query.rowsMax,
            services: ServiceLog(services[query.vehicle] ?? []))
        var (lastMs, open): (Int64, [Episode]) = (.min, [])
        let isEnd = query.rowsMax == 0
        if let before = rows.last(where: { $0.key < query.fromMs && (isEnd || !$0.value.state.isEmpty) }) {
            let state = MachineTables.row(before.value).state
            history.before = state.map { .state($0) } ?? .unknown(lastMs: before.key)
            (lastMs, open) = (before.key, state?.open ?? [])
        }
        let told = alerts.values.filter {
            $0.episode.vehicle == query.vehicle && $0.isReached(after: lastMs, open: open)
        }
        history.told = ToldAlerts(told.sorted { $0.id < $1.id })
        return history
    }

    /// Takes records as a commit does, part by part; returns what followed.
    public mutating func take(_ events: [MachineEvent], into partition: inout MachinePartition) -> [MachineChanges] {
        var (rest, histories, found): (ArraySlice<MachineEvent>, MachineHistories, [MachineChanges]) = (
            events[...], MachineHistories(), []
        )
        var rounds = 0
        while !rest.isEmpty {
            switch partition.accept(rest, histories: histories) {
            case .accepted(let changes, let count):
                precondition(count > 0)
                write(changes)
                found.append(changes)
                (rest, histories, rounds) = (rest.dropFirst(count), MachineHistories(), 0)
            case .needs(let needs):
                rounds += 1
                precondition(rounds < 5, "records that never have enough")
                read(needs, into: &histories)
            }
        }
        nextOffset = events.last.map { $0.offset + 1 } ?? nextOffset
        for fact in events.map(\.fact) {
            if case .tick(let ts) = fact { clockMs = max(clockMs ?? ts, ts) }
            if case .setBack(let ts) = fact { clockMs = clockMs.map { min($0, ts) } }
        }
        return found
    }

    /// The whole log at once, without its order: what any order must come to.
    public static func whole(_ log: [MachineEvent]) -> MachineTables {
        var (tables, all, clockMs): (MachineTables, [MachineReading], Int64) = (MachineTables(), [], .min)
        var rules = RuleTimeline()
        for event in log {
            switch event.fact {
            case .reading(let reading): all.append(reading)
            case .tick(let ts): clockMs = max(clockMs, ts)
            case .setBack(let ts): clockMs = min(clockMs, ts)
            case .rules(let entry): _ = rules.insert(entry)
            case .action(let action): tables.insert(action)
            }
        }
        for (vehicle, readings) in Dictionary(grouping: all, by: \.vehicle) {
            var (fold, episodes): (AlertFold, [Episode]) = (AlertFold(), [])
            let services = ServiceLog(tables.services[vehicle] ?? [])
            for reading in readings.unioned() {
                episodes += fold.observe(reading, rules: rules, services: services)
                tables.readings[vehicle, default: [:]][reading.ts] = Row(reading: reading, state: fold.packed)
            }
            episodes += fold.overdue(at: clockMs, rules: rules, vehicle: vehicle)
            episodes += fold.served(services, rules: rules)
            for episode in episodes {
                tables.alerts[episode.id] = ToldAlert(id: episode.id, firstOpenedMs: episode.openedMs, episode: episode)
            }
            tables.deadlines[vehicle] = fold.nextDeadlineMs(after: clockMs, rules: rules, vehicle: vehicle)
        }
        return tables
    }
}

/// Seeded readings of one machine: values around the limits of `SeededMachine.rules`, missing values, two models,
/// deadlines met to the millisecond, and readings of one time that say different things.
public enum SeededMachine {
    private static func rule(_ parameter: MachineParameter, _ test: Threshold.Test, _ limit: Int64) -> Threshold {
        Threshold(field: .parameter(parameter), test: test, unit: "", type: .int, audience: .farmer, threshold: limit)
    }

    public static let rules: RuleSet = {
        var (coolant, tire, gps) = (
            rule(.coolantTemperature, .above, 85_000), rule(.tirePressure, .below, 70_000),
            rule(.gpsAvailable, .below, 1_000)
        )
        (coolant.critical, coolant.clear) = (95_000, 82_000)
        tire.holdMs = 600_000
        (gps.holdMs, gps.absentMs) = (300_000, 300_000)
        var sprayer = coolant
        sprayer.clear = nil
        var shortGPS = gps
        shortGPS.absentMs = 60_000
        // 864 s.
        let callIn = rule(.lastCellCallIn, .above, 10)
        var service = rule(.engineHours, .above, 0)
        service.every = 20_000
        let contact = rule(.contact, .below, 1_000)
        return RuleSet([
            "8R Tractor": [coolant, tire, gps, callIn, service, contact], "R4038 Sprayer": [sprayer, shortGPS],
        ])
    }()

    /// Sets that judge the same readings otherwise.
    public static let others: [RuleSet] = {
        var (gps, coolant, callIn) = (
            rule(.gpsAvailable, .below, 1_000), rule(.coolantTemperature, .above, 88_000),
            rule(.lastCellCallIn, .above, 5)
        )
        (gps.absentMs, coolant.holdMs, callIn.critical) = (500_000, 200_000, 15)
        return [
            RuleSet(["8R Tractor": [gps, callIn]]),
            // Machines of the simulations with rules of their own.
            RuleSet(
                ["8R Tractor": [coolant], "544K Loader": [gps, callIn]],
                machines: [VehicleID("m-1")!: [gps], VehicleID("m-2")!: [callIn, rule(.tirePressure, .below, 72_000)]]),
            RuleSet.empty,
        ]
    }()

    /// A log of readings in some order, with ticks, rule sets and services anywhere between; the clock only goes on.
    public static func log(_ arrivals: [MachineReading], _ chance: inout SeededChance) -> [MachineEvent] {
        let times = arrivals.map(\.ts)
        let (firstMs, spanMs) = (times.min()!, times.max()! - times.min()! + 3_600_000)
        func time() -> Int64 { firstMs - 600_000 + chance.below(spanMs + 1_200_000) }
        var facts = arrivals.map { MachineEvent.Fact.reading($0) }
        var sets = (0..<chance.below(4)).map { _ in ([rules] + others)[Int(chance.below(4))] }
        if !chance.once(in: 8) { sets.append(rules) }
        for set in sets {
            let entry = RuleTimeline.Entry(inForceMs: chance.once(in: 3) ? chance.pick(times) : time(), rules: set)
            for _ in 0...chance.below(2) {
                let at = chance.once(in: 3) ? 0 : chance.index(facts.count)
                facts.insert(.rules(entry), at: at)
            }
        }
        let vehicles = Set(arrivals.map(\.vehicle)).sorted()
        for number in 0..<chance.below(8) {
            let action = Action(
                id: "s-\(number)", vehicle: chance.pick(vehicles), ts: chance.once(in: 3) ? chance.pick(times) : time(),
                by: "somebody", note: nil, kind: .service(atHours: 1_000_000 + chance.below(80) * 1_000))
            for _ in 0...chance.below(2) { facts.insert(.action(action), at: chance.index(facts.count + 1)) }
        }
        let ticks = (0..<chance.below(30)).map { _ in time() }.sorted()
        let places = ticks.map { _ in chance.index(facts.count + 1) }.sorted()
        for (tick, place) in zip(ticks, places).reversed() { facts.insert(.tick(tick), at: place) }
        return facts.logged { firstMs + $0 }
    }

    /// In the order of time, in any order, with a backlog in the middle that comes last, or with some that come again.
    public static func arrivals(
        _ all: [MachineReading], seed: UInt64, _ chance: inout SeededChance
    ) -> [MachineReading] {
        var arrivals = all.sorted { $0.ts < $1.ts }
        switch seed % 4 {
        case 0: break
        case 1: arrivals.shuffle(using: &chance)
        case 2:
            let from = chance.index(arrivals.count)
            let late = arrivals[from...].prefix(arrivals.count / 3)
            arrivals.removeSubrange(from..<from + late.count)
            arrivals += late
        default: arrivals += all.filter { _ in chance.once(in: 2) }
        }
        return arrivals
    }

    /// Ticks after a log, at which what is late is judged to its end.
    public static func closing(_ log: [MachineEvent], count: Int = 12) -> [MachineEvent] {
        let ms = log.map { if case .tick(let ts) = $0.fact { ts } else { Int64.min } }.max() ?? .min
        let firstMs = max(ms, 1_789_344_000_000)
        return (1...count).map { number in
            MachineEvent(
                .tick(firstMs + Int64(number)), offset: Int64(log.count + number - 1),
                pushedMs: (log.last?.pushedMs ?? 0) + Int64(number))
        }
    }

    public static func readings(seed: UInt64, count: Int, vehicle: VehicleID) -> [MachineReading] {
        var chance = SeededChance(seed: seed)
        var (ts, model): (Int64, String) = (1_789_344_000_000, "8R Tractor")
        return (0..<count).map { index in
            if chance.once(in: 12) {
                var reading = MachineReading(
                    vehicle: vehicle, ts: ts + 30_500, id: "contact-\(index)", model: "unknown")
                reading.values[.contact] = chance.once(in: 2) ? 0 : 1
                return reading
            }
            // A step of 0 is a second reading of one time; the other ids sort before or after it by chance.
            ts += [0, 60_000, 100_000, 200_000, 300_000, 300_001, 900_000][Int(chance.below(7))]
            if chance.once(in: 25) {
                model =
                    model == "8R Tractor" ? "R4038 Sprayer" : model == "R4038 Sprayer" ? "544K Loader" : "8R Tractor"
            }
            var reading = MachineReading(
                vehicle: vehicle, ts: ts, id: "r\(chance.below(900) + 100)-\(index)", model: model)
            if !chance.once(in: 5) { reading.values[.coolantTemperature] = 78_000 + chance.below(20) * 1_000 }
            if !chance.once(in: 5) { reading.values[.tirePressure] = 66_000 + chance.below(10) * 1_000 }
            if chance.once(in: 2) { reading.values[.gpsAvailable] = chance.once(in: 4) ? 0 : 1 }
            if !chance.once(in: 3) { reading.values[.lastCellCallIn] = ts - chance.below(20) * 60_000 }
            if !chance.once(in: 4) { reading.values[.engineHours] = 1_000_000 + Int64(index) * 700 }
            reading.isReporting = chance.once(in: 2)
            return reading
        }
    }
}

extension [MachineEvent.Fact] {
    /// As they stand on the log from an offset on.
    public func logged(from first: Int64 = 0, pushedMs: (_ offset: Int64) -> Int64 = { _ in 0 }) -> [MachineEvent] {
        enumerated().map { MachineEvent($1, offset: first + Int64($0), pushedMs: pushedMs(first + Int64($0))) }
    }
}
