internal import Alerts
internal import Fleet
internal import Pipeline
internal import Trips

/// All tables of a partition of cars, in memory.
struct PartitionTables: Sendable {
    var cars = CarTables()
    var drivers = DriverTables()

    mutating func write(_ commit: CarWorker.Commit) {
        cars.write(commit.rows, of: commit.partition)
        for action in commit.actions {
            if let cut = action.cut { cars.cuts[cut.vehicle, default: []].insert(cut.ms) }
            drivers.sayings.take(action)
        }
        for entry in commit.rules { cars.rules[entry.fromMs] = entry.rules }
        if let changes = commit.changes { drivers.write(changes) }
    }
}

extension PartitionTables {
    /// Cars behind one, by their names.
    fileprivate func page(after: VehicleID?, _ most: Int, sinceMs: Int64) -> [DriverPartition.StoredCar] {
        let left = cars.vehicles.sorted().filter { car in after.map { car > $0 } ?? true }
        return left.prefix(most).map { stored($0, sinceMs: sinceMs) }
    }

    private func stored(_ vehicle: VehicleID, sinceMs: Int64) -> DriverPartition.StoredCar {
        DriverPartition.StoredCar(
            vehicle, lastMs: cars.trips[vehicle]?.max { $0.key < $1.key }?.value.row.trip.endMs ?? .min,
            isAlwaysOwned: drivers.sayings.drivers(vehicle).isAlwaysOwned,
            hasScans: drivers.sayings.scans(of: vehicle).contains { $0.ts >= sinceMs },
            isWatched: drivers.sayings.isWatched(vehicle))
    }
}

/// A worker of a partition, as `CarStage` and `DriverJudge` are one: `CarPartition` and `DriverPartition` side by side, and what is handed over.
struct CarWorker {
    struct Commit {
        let rows: CarRows
        let actions: [Action]
        let rules: [TripRuleTimeline.Entry]
        let changes: DriverPartition.Changes?
        /// Names the cars of `rows`.
        let partition: CarPartition
        let from: Int64
        let to: CarProgress
        /// The lane waits for it: something is read back in the same transaction.
        let isResolving: Bool
    }

    private(set) var partition: CarPartition
    var drivers: DriverPartition
    /// The next record.
    private(set) var at: Int64
    /// The offset that the next commit compares with.
    private(set) var written: Int64
    /// Handed over and not yet answered: the lane goes on meanwhile.
    private(set) var inFlight: Commit?
    /// Whether it forgets idle cars.
    private let forgets: Bool
    /// Cars that are not in memory and whose records come next; and since when all must be.
    private var wanted: Set<VehicleID> = []
    private var wantedSinceMs: Int64?
    private var wantedAccounts: [VehicleID: Int64] = [:]
    /// Since the last hand-over.
    private var actions: [Action] = []
    private var rules: [TripRuleTimeline.Entry] = []

    /// It takes the partition over.
    init(_ tables: PartitionTables, rules: TripRules, idleMs: Int64, forgets: Bool) {
        let progress = tables.cars.progress
        self.forgets = forgets
        partition = tables.cars.partition(rules: rules, idleMs: idleMs)
        drivers = DriverPartition(storedOffset: progress.nextOffset)
        (at, written) = (progress.replayFrom, progress.nextOffset)
        drivers.restore(installation: tables.drivers.installation, tables.drivers.spreads)
        load(since: forgets ? partition.idleBeforeMs : .min, tables)
        drivers.restore(codes: tables.drivers.codes)
    }

    // MARK: Cars that are not in memory

    var needsRecall: Bool { !wanted.isEmpty || wantedSinceMs != nil || !wantedAccounts.isEmpty }

    /// All that was taken must be written before.
    var recallsWritten: Bool { !wantedAccounts.isEmpty }

    /// As `CarStage`. Precondition: what was handed over before is written.
    mutating func recall(_ tables: PartitionTables) {
        if let sinceMs = wantedSinceMs { load(since: sinceMs, tables) }
        let vehicles = wanted.filter { partition.number(of: $0) == nil }
        load(vehicles.sorted(), tables)
        partition.knowsNew(vehicles.filter { partition.number(of: $0) == nil })
        let sayings = tables.drivers.sayings
        drivers.know(
            accounts: Dictionary(
                uniqueKeysWithValues: wantedAccounts.map { ($0.key, sayings.accounts(of: $0.key, since: $0.value)) }))
        (wanted, wantedSinceMs, wantedAccounts) = ([], nil, [:])
    }

    /// As `CarLoader`.
    private mutating func load(since sinceMs: Int64, _ tables: PartitionTables) {
        let others = tables.cars.vehicles.filter { partition.number(of: $0) == nil }
        let meant = others.filter {
            sinceMs == .min || tables.cars.reported($0, since: sinceMs) || tables.drivers.isAwake($0)
        }
        load(meant.sorted(), tables)
        partition.holds(since: meant.count == others.count ? .min : sinceMs)
    }

    private mutating func load(_ vehicles: [VehicleID], _ tables: PartitionTables) {
        let first = partition.count
        for vehicle in vehicles where tables.cars.vehicles.contains(vehicle) {
            tables.cars.load(vehicle, into: &partition)
        }
        tables.drivers.load(vehicles, partition, from: first, into: &drivers)
    }

    private mutating func forgetIdle() {
        guard forgets else { return }
        partition.forgetNew()
        drivers.forgetScanned(partition)
        guard let leaving = partition.leavingIdle(unless: drivers.needs) else { return }
        partition.keep(leaving)
        drivers.keep(leaving, partition)
    }

    // MARK: Records

    /// False: what follows from the records before it must be written first.
    mutating func take(_ record: LoggedRecord) -> Bool {
        if drivers.isFull { return false }
        let (offset, pushedMs) = (at, 1_000 + at)
        switch record {
        case .reading(let vehicle, let reading):
            let number = unsafe Array(vehicle.text.utf8).withUnsafeBytes { key in
                try! unsafe partition.accept(key: key, reading, offset: offset, pushedMs: pushedMs)
            }
            guard let number else {
                wanted = [vehicle]
                return false
            }
            drivers.look(number, reading, offset: offset, pushedMs: pushedMs, clockMs: partition.clockMs)
        case .tick(let ms, let isClosing):
            let beforeMs = partition.clockMs
            partition.tick(ms, offset: offset)
            drivers.tick(
                clockMs: partition.clockMs, after: beforeMs, offset: offset, pushedMs: pushedMs, isClosing: isClosing)
        case .setBack(let ms):
            if drivers.mustWaitForClock { return false }
            wantedSinceMs = partition.neededSince(clockMs: ms)
            if wantedSinceMs != nil { return false }
            if ms < partition.clockMs {
                partition.setBack(ms, offset: offset)
                drivers.setBack(clockMs: ms, offset: offset)
            }
        case .rules(let new, let fromMs):
            if let entry = partition.apply(rules: new, fromMs: fromMs, offset: offset, pushedMs: pushedMs) {
                rules.append(entry)
            }
        case .action(let action):
            if !take(action, offset, pushedMs) { return false }
        }
        at += 1
        return true
    }

    private mutating func take(_ action: Action, _ offset: Int64, _ pushedMs: Int64) -> Bool {
        if let vehicle = action.vehicle, partition.mayBeStored(vehicle) {
            switch action.kind {
            case .tripStart, .tripStop, .driving, .assignment, .registration:
                wanted = [vehicle]
                return false
            default: break
            }
        }
        let number = action.vehicle.flatMap { partition.number(of: $0) }
        if drivers.mustWait(for: action, of: number) { return false }
        let lastMs = number.map { partition.lastMs($0) } ?? .min
        if drivers.needsAccounts(for: action, lastMs: lastMs, offset: offset) {
            wantedAccounts[action.vehicle!] = action.ts
            return false
        }
        if let cut = action.cut {
            unsafe Array(cut.vehicle.text.utf8).withUnsafeBytes { key in
                _ = try! unsafe partition.accept(key: key, cut: cut.ms, offset: offset, pushedMs: pushedMs)
            }
        }
        actions.append(action)
        drivers.accept(action, of: number, lastMs: lastMs, offset: offset)
        return true
    }

    // MARK: Commits

    /// Between the replay's start and the stored offset there is nothing to write.
    var isPending: Bool { at > written }

    /// Precondition: no commit is in flight.
    mutating func handOver() {
        precondition(inFlight == nil)
        let isResolving = partition.hasLate || drivers.hasWork
        for minute in partition.rows.minutes { drivers.wrote(Int(minute.car)) }
        let replay = partition.replayFrom
        inFlight = Commit(
            rows: partition.rows, actions: actions, rules: rules,
            changes: drivers.hasChanges ? drivers.drainChanges(partition) : nil, partition: partition, from: written,
            to: CarProgress(nextOffset: at, replayFrom: min(replay.offset, at), replayClockMs: replay.clockMs),
            isResolving: isResolving)
        written = at
        partition.clearRows()
        (actions, rules) = ([], [])
        forgetIdle()
    }

    /// The commit in flight is over: it is written, or lost.
    mutating func takeInFlight() -> Commit? {
        defer { inFlight = nil }
        return inFlight
    }

    /// What is late, and then what waits for a tick, within the transaction that has written the commit's rows.
    mutating func resolve(_ tables: inout PartitionTables, turnsMax: Int, _ size: DriverPartition.SpreadSize) {
        while partition.hasLate {
            partition.resolve(tables.cars.histories(partition.lateQueries), nextOffset: at)
            for minute in partition.rows.minutes { drivers.wrote(Int(minute.car)) }
            tables.cars.write(partition.rows, of: partition)
            partition.clearRows()
        }
        judge(&tables, turnsMax: turnsMax, size)
    }

    // MARK: As `DriverJudge`

    private mutating func judge(_ tables: inout PartitionTables, turnsMax: Int, _ size: DriverPartition.SpreadSize) {
        let newcomers = drivers.newcomers
        tables.drivers.know(scanned: newcomers.map { partition.name($0.number) }, &drivers)
        for (number, fromMs) in newcomers {
            let vehicle = partition.name(number)
            drivers.begin(number, vehicle, tables.drivers.context(vehicle, fromMs: fromMs, drivers))
        }
        for change in drivers.drainAccounts() {
            let vehicles = tables.drivers.sayings.cars(of: change.account)
            load(vehicles.filter { partition.number(of: $0) == nil }, tables)
            for vehicle in vehicles {
                if drivers.isScanned(vehicle) { drivers.askCodes(vehicle, offset: change.offset) }
                guard let number = partition.number(of: vehicle), partition.lastMs(number) != .min else { continue }
                drivers.ask(number, fromMs: change.fromMs, untilMs: .max, offset: change.offset, isLate: true)
            }
        }
        if let (spread, clockMs) = drivers.dequeueSetBack() {
            drivers.begin(note(spread, tables, size, clockMs: clockMs, offset: spread.askedOffset))
        }
        if let tick = drivers.dequeueTick() {
            if let spread = drivers.spreads.first {
                let rest = note(spread, tables, size, clockMs: tick.clockMs, offset: tick.offset)
                if let rest { drivers.advanceSpread(to: rest) } else { drivers.finishSpread() }
            }
            spreadLimits(tables, size, tick)
            drivers.passSilence(tick)
            // What is judged from what is stored goes on from what was told.
            tables.drivers.write(drivers.drainChanges(partition))
            for vehicle in drivers.codeTurns().prefix(turnsMax) { judgeCodes(of: vehicle, tick, tables.drivers) }
            let (latest, others) = drivers.turns(partition, most: turnsMax)
            for turn in latest + others {
                judge(turn, tick, &tables)
                if let rest = drivers.rest(of: turn) { judge(rest, tick, &tables) }
            }
        }
        tables.drivers.write(drivers.drainChanges(partition))
    }

    /// Cars that a clock which was set back comes to. Returns what is left of it.
    private mutating func note(
        _ spread: CarSpread, _ tables: PartitionTables, _ size: DriverPartition.SpreadSize, clockMs: Int64,
        offset: Int64
    ) -> CarSpread? {
        var (rest, room) = (spread, drivers.room(size))
        while let most = room.nextPage() {
            let stored = tables.page(after: rest.after, most, sinceMs: .max)
            let (cars, recalled) = drivers.next(of: stored, spread, partition, &room, clockMs: clockMs)
            load(recalled, tables)
            drivers.note(cars, spread, partition, clockMs: clockMs, offset: offset)
            rest.after = cars.last?.vehicle ?? rest.after
            if cars.count < most { return cars.count == stored.count ? nil : rest }
        }
        return rest
    }

    /// What the installation has set comes to some more cars.
    private mutating func spreadLimits(
        _ tables: PartitionTables, _ size: DriverPartition.SpreadSize, _ tick: DriverPartition.Tick
    ) {
        var room = drivers.room(size)
        while let (limits, after) = drivers.spreading, let most = room.nextPage() {
            let stored = tables.page(after: after, most, sinceMs: limits.inForceMs)
            let (cars, recalled) = drivers.next(of: stored, partition, &room, tick)
            load(recalled, tables)
            drivers.spread(to: cars, isAll: cars.count == stored.count && stored.count < most, partition, tick)
            if cars.count < most { return }
        }
    }

    private mutating func judge(
        _ turn: DriverPartition.Turn, _ tick: DriverPartition.Tick, _ tables: inout PartitionTables
    ) {
        tables.drivers.turns += 1
        let all = stretches(turn, tables.cars)
        let found =
            turn.asked.isLatest
            ? all.last : all.first { $0.toMs >= turn.asked.fromMs && $0.fromMs <= turn.asked.untilMs }
        guard let stretch = found else { return drivers.giveUp(turn) }
        drivers.judge(
            turn, stretch, tables.drivers.context(turn.vehicle, fromMs: stretch.fromMs, drivers),
            told: tables.drivers.told(of: turn.vehicle, stretch.fromMs...stretch.untilMs),
            openSinceMs: tables.drivers.openSinceMs(of: turn.vehicle), tick)
    }

    /// As the store finds them, from what is stored and the open minute.
    private mutating func stretches(_ turn: DriverPartition.Turn, _ tables: CarTables) -> [DriverStretch] {
        let stored = (tables.minutes[turn.vehicle] ?? [:]).values.flatMap(\.row.readings)
        return DriverStretch.all((stored + partition.openReadings(turn.number)).unioned())
    }

    private mutating func judgeCodes(of vehicle: VehicleID, _ tick: DriverPartition.Tick, _ tables: DriverTables) {
        let scans = tables.sayings.scans(of: vehicle)
        let fromMs = scans.map(\.ts).min()
        drivers.judge(
            codesOf: vehicle, scans, fromMs.map { tables.context(vehicle, fromMs: $0, drivers) },
            told: tables.toldCodes(of: vehicle), tick)
    }
}
