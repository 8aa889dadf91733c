public import Alerts
public import Fleet
internal import Pipeline
public import Trips

/// A seeded run of a partition of cars that people drive: a log, tables in memory, and a worker that commits where chance
/// says so and is killed. What is told must follow from the log alone.
public struct DriverSimulation {
    public enum Record: Sendable {
        case reading(VehicleID, CarReading)
        case tick(Int64, isClosing: Bool)
        case action(Action)
        /// A driver's mark, as the cut that it is.
        case cut(VehicleID, Int64)
    }

    /// What people were told, in its order, by car.
    public struct Told: Equatable, Sendable {
        public var alerts: [String: ToldAlert] = [:]
        public var transitions: [VehicleID: [String]] = [:]
    }

    /// What people said.
    public struct Actions: Sendable {
        var drivings: [VehicleID: [Drivers.Driving]] = [:]
        var assignments: [VehicleID: [Drivers.Change]] = [:]
        var owners: [VehicleID: [Drivers.Change]] = [:]
        var settings: [String: [DriverRules.Version]] = [:]

        mutating func take(_ action: Action) {
            switch action.kind {
            case .driving(let fromMs):
                drivings[action.vehicle!, default: []].append(
                    .init(fromMs: fromMs, untilMs: action.ts, account: action.by, id: action.id))
            case .assignment(let driver):
                assignments[action.vehicle!, default: []].append(.init(fromMs: action.ts, account: driver))
            case .registration(let registration):
                owners[action.vehicle!, default: []].append(
                    .init(fromMs: action.ts, account: registration.car?.account))
            case .settings(let account, let text):
                settings[account, default: []].append(
                    .init(inForceMs: action.ts, settings: try! DriverSettings(text: text)))
            default: break
            }
        }

        var watched: Set<VehicleID> {
            Set(drivings.keys).union(assignments.keys).union(owners.keys).filter { context($0).isWatched }
        }

        func cars(of account: String) -> [VehicleID] {
            watched.filter { context($0).drivers.accounts.contains(account) }.sorted()
        }

        func context(_ vehicle: VehicleID, fromMs: Int64 = 0) -> DriverContext {
            let drivers = Drivers(
                drivings: Drivers.joined(drivings[vehicle] ?? []).filter { $0.untilMs + Drivers.pauseMsMax >= fromMs },
                assignments: assignments[vehicle] ?? [], owners: owners[vehicle] ?? [])
            let rules = drivers.accounts.map { ($0, DriverRules(account: $0, versions: settings[$0] ?? [])) }
            return DriverContext(
                drivers: drivers, rules: Dictionary(uniqueKeysWithValues: rules), hasDriven: drivings[vehicle] != nil)
        }
    }

    public private(set) var told = Told()
    private var tables = CarTables()
    private var actions = Actions()
    private var records: [VehicleID: DriverRecord] = [:]
    /// How many stretches were judged at ticks.
    public private(set) var turns = 0

    private let rules: TripRules
    private let log: [Record]
    private let turnsMax: Int
    private var chance: SeededChance
    private var book: CarBook
    private var drivers: DriverBook
    private var at: Int64 = 0
    private var pending: [Action] = []
    private var cuts: [(VehicleID, Int64)] = []

    /// - Parameter turnsMax: of one tick; a part of what the worker is.
    public init(log: [Record], rules: TripRules, turnsMax: Int, seed: UInt64) {
        (self.log, self.rules, self.turnsMax) = (log, rules, turnsMax)
        chance = SeededChance(seed: seed)
        book = tables.book(rules: rules)
        drivers = DriverBook(storedOffset: 0, tripGapMs: rules.tripGapMs)
    }

    /// - Parameters:
    ///   - batchMax: records of a commit, at most.
    ///   - kill: once in so many commits the worker is killed before it; 0: never.
    public mutating func run(batchMax: Int64, kill: Int64) {
        while at < Int64(log.count) {
            for _ in 0..<(1 + chance.below(batchMax)) where at < Int64(log.count) { if !take() { break } }
            if kill > 0, chance.once(in: kill) { takeOver() } else { commit() }
        }
    }

    private mutating func takeOver() {
        book = tables.book(rules: rules)
        at = tables.progress.replayFrom
        (pending, cuts) = ([], [])
        drivers = DriverBook(storedOffset: tables.progress.nextOffset, tripGapMs: rules.tripGapMs)
        var contexts: [VehicleID: DriverContext] = [:]
        for record in records.values {
            if let fromMs = record.fromMs { contexts[record.vehicle] = actions.context(record.vehicle, fromMs: fromMs) }
        }
        let open = told.alerts.values.filter { !$0.isWithdrawn && $0.episode.resolvedMs == nil }
        drivers.restore(
            book, watched: actions.watched.sorted().map { ($0, actions.context($0).drivers.ownedMs) }, scanned: [],
            records: records.values.sorted { $0.vehicle < $1.vehicle },
            open: Dictionary(grouping: open, by: \.episode.vehicle), contexts: contexts)
    }

    /// False: what follows from the records before must be written first.
    private mutating func take() -> Bool {
        if drivers.isFull { return false }
        let offset = at
        switch log[Int(offset)] {
        case .reading(let vehicle, let reading):
            let number = unsafe Array(vehicle.text.utf8).withUnsafeBytes { key in
                try! unsafe book.take(key: key, reading, offset: offset, pushedMs: 1_000 + offset)
            }
            drivers.look(number, reading, offset: offset, pushedMs: 1_000 + offset, clockMs: book.clockMs)
        case .tick(let ms, let isClosing):
            let beforeMs = book.clockMs
            book.tick(ms, offset: offset)
            if ms > beforeMs {
                drivers.tick(
                    clockMs: ms, after: beforeMs, offset: offset, pushedMs: 1_000 + offset, isClosing: isClosing)
            }
        case .cut(let vehicle, let cut):
            let mark = Action(id: "cut-\(offset)", vehicle: vehicle, ts: cut, by: "", note: nil, kind: .tripStart)
            if drivers.mustWait(for: mark, of: book.number(of: vehicle)) { return false }
            unsafe Array(vehicle.text.utf8).withUnsafeBytes { key in
                try! unsafe book.take(key: key, cut: cut, offset: offset, pushedMs: 1_000 + offset)
            }
            cuts.append((vehicle, cut))
            tell(mark, offset)
        case .action(let action):
            if drivers.mustWait(for: action, of: action.vehicle.flatMap { book.number(of: $0) }) { return false }
            if offset >= tables.progress.nextOffset { pending.append(action) }
            tell(action, offset)
        }
        at += 1
        return true
    }

    private mutating func tell(_ action: Action, _ offset: Int64) {
        let number = action.vehicle.flatMap { book.number(of: $0) }
        drivers.take(action, of: number, lastMs: number.map { book.lastMs($0) } ?? .min, offset: offset)
    }

    private mutating func commit() {
        guard at > tables.progress.nextOffset else { return }
        let replay = book.replayFrom
        for action in pending { actions.take(action) }
        for (vehicle, cut) in cuts { tables.cuts[vehicle, default: []].insert(cut) }
        (pending, cuts) = ([], [])
        writeRows()
        write(drivers.takeChanges(book))
        while book.hasLate {
            book.resolve(tables.histories(book.lateQueries), nextOffset: at)
            writeRows()
        }
        if drivers.hasWork { judge() }
        write(drivers.takeChanges(book))
        tables.progress = CarProgress(nextOffset: at, replayFrom: min(replay.offset, at), replayClockMs: replay.clockMs)
    }

    private mutating func writeRows() {
        for minute in book.rows.minutes { drivers.wrote(Int(minute.car)) }
        tables.write(book.rows, of: book)
        book.clearRows()
    }

    private mutating func write(_ changes: DriverBook.Changes) {
        for alert in changes.alerts { told.alerts[alert.id] = alert }
        for transition in changes.transitions {
            told.transitions[transition.alert.episode.vehicle, default: []].append(
                "\(transition.id) \(transition.pushedMs) \(transition.alert.episode.worstValue ?? 0)")
        }
        for record in changes.records { records[record.vehicle] = record }
        for vehicle in changes.gone { records[vehicle] = nil }
    }

    private mutating func judge() {
        for (number, fromMs) in drivers.newcomers {
            let vehicle = book.name(number)
            drivers.begin(number, vehicle, actions.context(vehicle, fromMs: fromMs))
        }
        for (account, fromMs, offset) in drivers.takeAccounts() {
            for vehicle in actions.cars(of: account) {
                guard let number = book.number(of: vehicle) else { continue }
                drivers.ask(number, fromMs: fromMs, untilMs: .max, offset: offset, isLate: true)
            }
        }
        guard let tick = drivers.takeTick() else { return }
        drivers.passSilence(tick)
        write(drivers.takeChanges(book))
        for turn in drivers.turns(book).prefix(turnsMax) {
            turns += 1
            let all = stretches(turn.vehicle)
            let stretch =
                turn.asked.isLatest
                ? all.last : all.first { $0.toMs >= turn.asked.fromMs && $0.fromMs <= turn.asked.untilMs }
            guard let stretch else {
                drivers.giveUp(turn)
                continue
            }
            let alerts = told.alerts.values.filter { alert in
                alert.episode.vehicle == turn.vehicle
                    && (stretch.fromMs...stretch.untilMs).contains(alert.episode.openedMs)
                    || alert.episode.vehicle == turn.vehicle
                        && (stretch.fromMs...stretch.untilMs).contains(alert.firstOpenedMs)
            }.sorted { ($0.episode.openedMs, $0.id) < ($1.episode.openedMs, $1.id) }
            let open = told.alerts.values.filter {
                $0.episode.vehicle == turn.vehicle && !$0.isWithdrawn && $0.episode.resolvedMs == nil
            }
            drivers.judge(
                turn, stretch, actions.context(turn.vehicle, fromMs: stretch.fromMs), told: ToldAlerts(alerts),
                openSinceMs: open.map(\.episode.openedMs).min(), tick)
        }
    }

    /// As the store finds them, from what is stored and the open minute.
    private mutating func stretches(_ vehicle: VehicleID) -> [DriverStretch] {
        let stored = (tables.minutes[vehicle] ?? [:]).values.flatMap(\.row.readings)
        let open = book.number(of: vehicle).map { book.openReadings($0) } ?? []
        return DriverSimulation.stretches(
            (stored + open).unioned(), cuts: TripCuts((tables.cuts[vehicle] ?? []).sorted()), rules)
    }

    private static func stretches(_ readings: [CarReading], cuts: TripCuts, _ rules: TripRules) -> [DriverStretch] {
        let (_, trips, _) = Drive.whole(readings, cuts: cuts, rules: rules)
        let borders = trips.filter(\.isFromBefore).map(\.startMs)
        var groups: [(fromMs: Int64, readings: [CarReading])] = []
        for reading in readings {
            let border = groups.last.flatMap { group in
                borders.first { $0 > group.readings.last!.ts && $0 <= reading.ts }
            }
            if let last = groups.last?.readings.last, border == nil, reading.ts - last.ts <= DriverWatch.reachMs {
                groups[groups.count - 1].readings.append(reading)
            } else {
                groups.append((border ?? reading.ts, [reading]))
            }
        }
        return groups.indices.map { index in
            let next = index + 1 < groups.count ? groups[index + 1].fromMs : nil
            let goesOn = next.map { borders.contains($0) } ?? false
            return DriverStretch(
                fromMs: groups[index].fromMs, toMs: goesOn ? next! - 1 : groups[index].readings.last!.ts,
                readings: groups[index].readings, isFollowed: next != nil, goesOn: goesOn)
        }
    }

    /// The reference: each car's set of readings, judged at once by all that was said.
    public static func expected(_ log: [Record], rules: TripRules) -> [VehicleID: [Episode]] {
        var (actions, readings, cuts) = (Actions(), [VehicleID: [CarReading]](), [VehicleID: [Int64]]())
        for record in log {
            switch record {
            case .reading(let vehicle, let reading): readings[vehicle, default: []].append(reading)
            case .action(let action): actions.take(action)
            case .cut(let vehicle, let cut): cuts[vehicle, default: []].append(cut)
            case .tick: break
            }
        }
        var expected: [VehicleID: [Episode]] = [:]
        for (vehicle, readings) in readings {
            let context = actions.context(vehicle)
            for stretch in stretches(readings.unioned(), cuts: TripCuts(cuts[vehicle] ?? []), rules) {
                expected[vehicle, default: []] +=
                    DriverJudgement(
                        vehicle: vehicle, readings: stretch.readings, context,
                        passedMs: stretch.toMs + DriverWatch.reachMs
                    ).episodes
            }
        }
        return expected
    }

    /// What stands as told at the end.
    public var episodes: [VehicleID: [Episode]] {
        Dictionary(grouping: told.alerts.values.filter { !$0.isWithdrawn }.map(\.episode), by: \.vehicle).mapValues {
            $0.sorted { ($0.openedMs, $0.id) < ($1.openedMs, $1.id) }
        }
    }
}

extension DriverSimulation {
    /// A log of a few cars whose drivers go beyond their limits: in order, shuffled, with a stretch that comes last, doubled,
    /// neighbours changed; with drives, assignments, owners and settings at their place or late; ticks of a clock that runs
    /// with the readings, or long after them. The last ticks close everything.
    public static func log(seed: UInt64, readings: Int, isLong: Bool) -> [Record] {
        var chance = SeededChance(seed: seed &* 6_007 &+ 5)
        var arrivals: [(VehicleID, CarReading)] = []
        for car in 0..<(1 + chance.below(3)) {
            let drive = drive(&chance, count: Int(5 + chance.below(Int64(readings))), isLong: isLong)
            arrivals += drive.map { (VehicleID("car-\(car)")!, $0) }
        }
        arrivals.sort { $0.1.ts < $1.1.ts }
        let all = arrivals
        switch chance.below(6) {
        case 0, 1: break
        case 2: arrivals.shuffle(using: &chance)
        case 3:
            let from = Int(chance.below(Int64(arrivals.count)))
            let late = arrivals[from...].prefix(arrivals.count / 3)
            arrivals.removeSubrange(from..<from + late.count)
            arrivals += late
        case 4: arrivals += all.filter { _ in chance.once(in: 2) }
        default:
            for index in arrivals.indices.dropLast() where chance.once(in: 6) {
                arrivals.swapAt(index, index + 1 + Int(chance.below(Int64(min(8, arrivals.count - index - 1)))))
            }
        }
        var log: [Record] = []
        let end = all[all.count - 1].1.ts
        let isLive = !chance.once(in: 3)
        var clock = isLive ? all[0].1.ts : end + chance.below(100_000_000)
        for (vehicle, reading) in arrivals {
            if chance.once(in: 6) {
                clock = isLive ? max(clock, reading.ts + chance.below(20_000) - 5_000) : clock + 5_000
                log.append(.tick(clock, isClosing: chance.once(in: 50)))
            }
            log.append(.reading(vehicle, reading))
        }
        addActions(&log, all, &chance)
        clock = max(clock, end)
        for _ in 0..<400 {
            clock += 1_000
            log.append(.tick(clock, isClosing: false))
        }
        for _ in 0..<3 {
            clock += 4_000_000
            log.append(.tick(clock, isClosing: false))
        }
        return log
    }

    private static func drive(_ chance: inout SeededChance, count: Int, isLong: Bool) -> [CarReading] {
        var (ts, readings): (Int64, [CarReading]) = (1_767_225_600_000 - chance.below(7_200_000), [])
        var (speed, volts): (Int64, Int64) = (50_000, 13_000)
        for _ in 0..<count {
            if isLong {
                ts += chance.once(in: 30) ? 1 + chance.below(3 * 3_600_000) : 1_200_000 + chance.below(2_300_000)
                let midnightMs = UTC.day(of: ts) + UTC.msPerDay
                if midnightMs - ts < 1_800_000, chance.once(in: 2) { ts = midnightMs - 1 + chance.below(3) }
            } else {
                ts += chance.once(in: 50) ? 1 + chance.below(70 * 60_000) : 1_000 + chance.below(9_000)
            }
            if chance.once(in: 10) { speed = chance.below(5) * 40_000 }
            if chance.once(in: 10) { volts = 11_000 + chance.below(6) * 1_000 }
            var reading = CarReading(ts: ts)
            if !chance.once(in: 4) { reading[.speed] = Int32(speed + chance.below(20_000)) }
            if chance.once(in: 3) { reading[.coolant] = Int32(95_000 + chance.below(12) * 1_000) }
            if chance.once(in: 2) { reading[.voltage] = Int32(volts) }
            readings.append(reading)
            if chance.once(in: 40) {
                reading[.speed] = Int32(chance.below(200_000))
                readings.append(reading)
            }
        }
        return readings
    }

    private static func addActions(
        _ log: inout [Record], _ all: [(VehicleID, CarReading)], _ chance: inout SeededChance
    ) {
        let accounts = ["jo", "al", "kim"]
        func account() -> String { accounts[Int(chance.below(3))] }
        let count = 2 + chance.below(12)
        for number in 0..<count {
            let (vehicle, reading) = all[Int(chance.below(Int64(all.count)))]
            let ts = reading.ts + [0, 1, -1, chance.below(600_000) - 300_000][Int(chance.below(4))]
            let record: Record
            func action(_ kind: Action.Kind, by: String = "test", of vehicle: VehicleID?) -> Record {
                .action(Action(id: "a\(number)", vehicle: vehicle, ts: ts, by: by, note: nil, kind: kind))
            }
            switch chance.below(10) {
            case 0...2:
                let fromMs = ts - [0, 10_000, chance.below(1_000_000)][Int(chance.below(3))]
                record = action(.driving(fromMs: fromMs), by: account(), of: vehicle)
            case 3, 4: record = action(.assignment(driver: chance.once(in: 4) ? nil : account()), of: vehicle)
            case 5:
                var registration = Action.Registration()
                registration.car = Action.Car(); registration.car!.account = account()
                record = action(.registration(registration), of: vehicle)
            case 6, 7: record = .cut(vehicle, ts)
            default:
                let limit = 60 + chance.below(10) * 15
                record = action(
                    .settings(account: account(), text: #"{"speed_limit_kmh":\#(limit)}"#), of: nil)
            }
            let isAtItsPlace = !chance.once(in: 3)
            let place = log.firstIndex { if case .reading(_, let other) = $0 { other.ts >= ts } else { false } }
            let index =
                number == 0 ? 0 : isAtItsPlace ? place ?? log.count : Int(chance.below(Int64(log.count + 1)))
            log.insert(record, at: index)
        }
        // Somebody owns the first car from the beginning.
        var registration = Action.Registration()
        registration.car = Action.Car(); registration.car!.account = "jo"
        log.insert(
            .action(
                Action(
                    id: "first", vehicle: VehicleID("car-0")!, ts: 1_700_000_000_000, by: "test", note: nil,
                    kind: .registration(registration))), at: 0)
    }
}
