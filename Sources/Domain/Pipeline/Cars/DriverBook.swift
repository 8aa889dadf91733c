public import Alerts
internal import Basics
public import Fleet

/// The drivers' alerts of one partition of cars. Facts in (readings, ticks, what people say), what is told out; no I/O.
///
/// A reading that is later than all before it is judged as it comes, from memory. Whatever makes others be judged again (late
/// readings, other drivers or limits, a clock set back) is only noted; at the next tick of the partition the car is judged
/// from what is stored, a stretch at a tick (`DriverJudge`). Which reading is judged when, by
/// what, and what is told of it follow from the log alone (docs/decisions/0011).
///
/// A car that nobody drives or owns costs 24 bytes, where the installation has no limits for it. One that is silent for as long as anything of it can matter is forgotten;
/// its next reading waits for the end of the cycle, when it is known who drives it.
public struct DriverBook: Sendable {
    enum Standing: UInt8 {
        /// It reports for the first time.
        case unknown
        /// Nobody drives or owns it, and the installation has no limits.
        case unwatched
        case watched
    }

    struct Car {
        var standing = Standing.unknown
        /// The latest reading of a car that is watched and in none of the lists below; `.max`: it is not known.
        var lastMs = Int64.min
        /// Since when it is registered: who owned it then counts for all that was before, too; `.max`: it is not.
        var ownedMs = Int64.max
    }

    /// A car whose state after its latest reading is in memory.
    struct Live {
        var watch: DriverWatch
        /// What is told as open.
        var told: ToldAlerts
        /// No reading before it is within reach.
        var fromMs: Int64
        /// The partition's clock when the last reading came, or when it was judged from what is stored; `.min`: long ago.
        var arrivedMs: Int64
        /// What was open has been ended by the clock.
        var passedMs = Int64.min
        /// Readings from this offset on are not in it.
        var nextOffset: Int64

        var lastMs: Int64 { watch.lastMs ?? fromMs }

        /// When the clock changes it next. Silence counts from when the last reading came, too: no clock closes ahead of a
        /// backlog.
        var dueMs: Int64 {
            let (quietMs, reachMs) = (DriverWatch.quietMs, DriverWatch.reachMs)
            if !told.all.isEmpty { return max(watch.quietMs, arrivedMs == .min ? .min : arrivedMs + quietMs) }
            return max(lastMs, arrivedMs) + reachMs + 1
        }

        func isSilent(at tick: Tick) -> Bool {
            dueMs <= tick.clockMs || tick.isClosing && !told.all.isEmpty && watch.quietMs <= tick.clockMs
        }
    }

    /// A reading with what it needs to be judged later in its cycle.
    struct Arrival {
        let reading: CarReading
        let offset: Int64
        let pushedMs: Int64
        let clockMs: Int64
    }

    /// A car that waits for a tick, to be judged from what is stored.
    public struct Waiting: Equatable, Sendable {
        public var fromMs: Int64
        public var untilMs: Int64
        /// Whose turn it is: the record that asked for it, or the tick of the last piece.
        public var askedOffset: Int64
        /// What was told may be corrected.
        public var isLate: Bool
        /// The car's latest readings wait, too: it is not in memory.
        public var isLatest: Bool
        public var arrivedMs: Int64

        public init(
            fromMs: Int64, untilMs: Int64, askedOffset: Int64, isLate: Bool, isLatest: Bool, arrivedMs: Int64
        ) {
            (self.fromMs, self.untilMs, self.askedOffset) = (fromMs, untilMs, askedOffset)
            (self.isLate, self.isLatest, self.arrivedMs) = (isLate, isLatest, arrivedMs)
        }
    }

    /// A tick at whose end something is judged.
    public struct Tick: Sendable {
        public let clockMs: Int64
        public let offset: Int64
        public let pushedMs: Int64
        /// The partition's clock before it.
        public let beforeMs: Int64
        /// Nothing more comes of what is silent: an import is over.
        public let isClosing: Bool
    }

    /// Readings that may wait for the end of their cycle.
    private static let loadingMax = 8_192
    /// A late reading may move the borders of stretches as far behind it: what begins within reach of it may begin earlier now,
    /// and had its first border within two days (`DriverStretch.borderMs`). Every midnight after that one is a border anyway.
    private static let borderReachMs = DriverWatch.reachMs + 2 * UTC.msPerDay

    /// Records before it are in the database, with all that was told of them.
    let storedOffset: Int64
    var cars: [Car] = []
    var lives: [Int: Live] = [:]
    var loading: [Int: [Arrival]] = [:]
    private var loadingCount = 0
    var waiting: [Int: Waiting] = [:]
    /// Cars whose trouble codes are judged at the next tick, and since which record; also ones that never reported.
    var codes: [VehicleID: Int64] = [:]
    /// Cars that said which trouble codes they have.
    var scanned: Set<VehicleID> = []
    /// Of cars that were registered or assigned lately: read back, and what came since.
    var accounts: [VehicleID: CarAccounts] = [:]
    /// The limits of cars that nobody answers for.
    public internal(set) var installation = InstallationLimits()
    /// The times of those of which something is to be written.
    var changedLimits: Set<Int64> = []
    /// Clocks that were set back, of which some cars do not know yet.
    public internal(set) var spreads = CarSpreads()
    var changedSpreads: CarSpreads?
    /// Until the end of the cycle.
    var setBackTo: (clockMs: Int64, offset: Int64)?
    /// Some vehicles alone write nothing of what comes to a partition's cars.
    var isWhole = true
    /// Accounts whose limits changed, until the end of the cycle.
    private var changedSettings: [SettingsChange] = []
    private var due: Tick?
    /// No live car is due before.
    var nextDueMs = Int64.min
    /// What follows from the records so far must be written before the next is taken.
    public internal(set) var isFull = false

    var alerts: [String: ToldAlert] = [:]
    var transitions: [AlertTransition] = []
    var changed: Set<Int> = []
    var changedCodes: Set<VehicleID> = []

    public init(storedOffset: Int64) { self.storedOffset = storedOffset }

    // MARK: Readings

    /// A reading that the book of cars has taken, in whatever order. `clockMs` is the partition's clock before it.
    @inline(__always)
    public mutating func look(
        _ number: Int, _ reading: borrowing CarReading, offset: Int64, pushedMs: Int64, clockMs: Int64
    ) {
        if number < cars.count, cars[number].standing == .unwatched { return }
        see(number, Arrival(reading: copy reading, offset: offset, pushedMs: pushedMs, clockMs: clockMs))
    }

    private mutating func see(_ number: Int, _ arrival: Arrival) {
        while cars.count <= number { cars.append(Car()) }
        let ts = arrival.reading.ts
        if let index = lives.index(forKey: number) { return go(on: index, number, arrival) }
        // What it led to was written.
        guard arrival.offset >= storedOffset else {
            cars[number].lastMs = max(cars[number].lastMs, ts)
            // Who is watched is known from the database.
            if cars[number].standing == .unknown { cars[number].standing = .unwatched }
            return
        }
        let lastMs = cars[number].lastMs
        let isNew = lastMs == .min || ts > lastMs && ts - lastMs > DriverWatch.reachMs
        if loading[number] != nil || isNew && waiting[number]?.isLatest != true { return load(number, arrival) }
        ask(number, fromMs: ts, arrival, isLate: isLate(ts, lastMs))
    }

    /// Of a minute before the latest: neighbours that change places correct nothing.
    private func isLate(_ ts: Int64, _ lastMs: Int64) -> Bool {
        lastMs != .min && lastMs != .max && UTC.minute(of: ts) < UTC.minute(of: lastMs)
    }

    /// Until the end of the cycle, when it is known who drives it.
    private mutating func load(_ number: Int, _ arrival: Arrival) {
        loading[number, default: []].append(arrival)
        loadingCount += 1
        if loadingCount >= DriverBook.loadingMax { isFull = true }
    }

    private mutating func go(on index: Dictionary<Int, Live>.Index, _ number: Int, _ arrival: Arrival) {
        let ts = arrival.reading.ts
        guard arrival.offset >= lives.values[index].nextOffset else { return }
        guard let lastMs = lives.values[index].watch.lastMs else { return observe(arrival, at: index, number) }
        let fromMs = lives.values[index].fromMs
        if ts <= max(lastMs, lives.values[index].passedMs) {
            guard arrival.offset >= storedOffset else { return }
            return ask(number, fromMs: ts, arrival, isLate: isLate(ts, lastMs))
        }
        var episodes: [Episode] = []
        if ts - lastMs > DriverWatch.reachMs {
            lives.values[index].fromMs = ts
        } else if let borderMs = DriverStretch.borderMs(from: fromMs, between: lastMs, and: ts) {
            episodes = lives.values[index].watch.cut(at: borderMs)
            lives.values[index].fromMs = borderMs
        }
        observe(arrival, at: index, number, after: episodes)
    }

    private mutating func observe(
        _ arrival: Arrival, at index: Dictionary<Int, Live>.Index, _ number: Int, after before: [Episode] = []
    ) {
        let episodes = before + lives.values[index].watch.observe(arrival.reading)
        lives.values[index].arrivedMs = arrival.clockMs
        lives.values[index].nextOffset = arrival.offset + 1
        if !episodes.isEmpty, arrival.offset >= storedOffset {
            tell(number, episodes, pushedMs: arrival.pushedMs)
        } else if !lives.values[index].told.all.isEmpty {
            // A shorter pause may be in force from now on.
            nextDueMs = min(nextDueMs, lives.values[index].dueMs)
        }
    }

    private mutating func tell(_ number: Int, _ episodes: [Episode], pushedMs: Int64) {
        guard var live = lives[number] else { return }
        var now = Dictionary(live.watch.open.map { ($0.id, $0) }) { first, _ in first }
        for episode in episodes { now[episode.id] = episode }
        transitions += live.told.tell(Array(now.values), cause: AlertCause(pushedMs: pushedMs, isLate: false)) { _ in
            true
        }
        for alert in live.told.changed { alerts[alert.id] = alert }
        live.told = live.told.open
        lives[number] = live
        changed.insert(number)
        nextDueMs = min(nextDueMs, live.dueMs)
    }

    // MARK: What makes readings be judged again

    /// Because of a reading.
    private mutating func ask(_ number: Int, fromMs: Int64, _ arrival: Arrival, isLate: Bool) {
        ask(
            number, fromMs: fromMs, untilMs: arrival.reading.ts + DriverBook.borderReachMs, offset: arrival.offset,
            isLate: isLate)
        if waiting[number]!.isLatest {
            if waiting[number]!.arrivedMs != arrival.clockMs { changed.insert(number) }
            waiting[number]!.arrivedMs = arrival.clockMs
            cars[number].lastMs = max(cars[number].lastMs, arrival.reading.ts)
        }
    }

    public mutating func ask(_ number: Int, fromMs: Int64, untilMs: Int64, offset: Int64, isLate: Bool) {
        while cars.count <= number { cars.append(Car()) }
        cars[number].standing = .watched
        var asked = Waiting(
            fromMs: fromMs, untilMs: untilMs, askedOffset: offset, isLate: isLate, isLatest: true, arrivedMs: .min)
        if let live = lives[number] {
            asked.isLatest = asked.untilMs >= live.fromMs - DriverWatch.reachMs
            if asked.isLatest {
                // Also what it had begun to judge.
                (asked.fromMs, asked.arrivedMs) = (min(asked.fromMs, live.lastMs), live.arrivedMs)
                cars[number].lastMs = max(cars[number].lastMs, live.lastMs)
                lives[number] = nil
            }
        } else if let arrivals = loading.removeValue(forKey: number) {
            loadingCount -= arrivals.count
            for arrival in arrivals {
                asked.fromMs = min(asked.fromMs, arrival.reading.ts)
                cars[number].lastMs = max(cars[number].lastMs, arrival.reading.ts)
                asked.arrivedMs = arrival.clockMs
            }
        }
        if let before = waiting[number] { asked.formUnion(before) }
        (asked.fromMs, asked.untilMs) = (DriverBook.plausible(asked.fromMs), DriverBook.plausible(asked.untilMs))
        if waiting[number] != asked { changed.insert(number) }
        waiting[number] = asked
    }

    /// A car's latest reading may be of no time that is known.
    private static func plausible(_ ms: Int64) -> Int64 {
        min(max(ms, UTC.plausible.lowerBound), UTC.plausible.upperBound)
    }

    /// Before it is taken, the readings that wait for the end of the cycle must be judged: it says otherwise only of later ones.
    public func mustWait(for action: Action, of number: Int?) -> Bool {
        switch action.kind {
        case .settings: mustWaitForClock
        case .tripStart, .tripStop: false
        default: number.map { loading[$0] != nil } ?? false
        }
    }

    /// So must they before the clock is set back.
    public var mustWaitForClock: Bool { !loading.isEmpty }

    /// What may change by what somebody is judged. `number` is nil while nothing is known of the car.
    ///
    /// - Parameters:
    ///   - lastMs: of the car's latest reading; `.min`: it has not reported, `.max`: it is not known.
    ///   - leastMs: of what was before it a part may be deleted: no stretch of that time is judged again.
    public mutating func take(
        _ action: Action, of number: Int?, lastMs: Int64, offset: Int64, leastMs: Int64 = .min
    ) {
        guard offset >= storedOffset else { return }
        let leastMs = leastMs == .min ? .min : leastMs + DriverBook.borderReachMs
        if case .settings(let account, let text) = action.kind {
            let fromMs = max(action.ts, leastMs)
            if account == InstallationLimits.account {
                return take(limits: text, action, fromMs: fromMs, offset: offset)
            }
            changedSettings.append(SettingsChange(account: account, fromMs: fromMs, offset: offset, leastMs: leastMs))
            // Also of drives that are over by then: the next one may be its, too.
            for (number, live) in lives
            where live.lastMs >= leastMs && live.watch.knows(account, since: live.fromMs) {
                ask(number, fromMs: fromMs, untilMs: .max, offset: offset, isLate: true)
            }
            isFull = true
            return
        }
        guard let vehicle = action.vehicle else { return }
        guard isNew(action, of: vehicle) else {
            // Who comes first is kept all the same.
            if case .registration = action.kind, let number, number < cars.count {
                cars[number].ownedMs = min(cars[number].ownedMs, action.ts)
            }
            return
        }
        // Marks alone are nothing to judge: who drives is read with the first reading.
        let number = lastMs == .min ? nil : number
        switch action.kind {
        // A scan that the car did not answer says nothing, and nobody that takes over would know of it.
        case .scan(let scan):
            guard scan.isDone else { return }
            scanned.insert(vehicle)
        case .driving(let fromMs):
            if let number { drive(number, fromMs, action, lastMs: lastMs, offset: offset, leastMs: leastMs) }
        case .assignment, .registration:
            if let number {
                know(number, lastMs: lastMs)
                let fromMs = isFirstOwner(action, of: number) ? Int64.min : action.ts
                if lastMs >= leastMs {
                    ask(number, fromMs: max(fromMs, leastMs), untilMs: .max, offset: offset, isLate: true)
                }
            }
        default: return
        }
        if scanned.contains(vehicle) { askCodes(vehicle, offset: offset) }
    }

    /// A car drives before it is registered: what its first registration says, and be it nobody's name, counts for that time, too.
    private mutating func isFirstOwner(_ action: Action, of number: Int) -> Bool {
        guard case .registration(let registration) = action.kind, registration.car != nil,
            action.ts <= cars[number].ownedMs
        else { return false }
        cars[number].ownedMs = action.ts
        return true
    }

    private mutating func drive(
        _ number: Int, _ fromMs: Int64, _ action: Action, lastMs: Int64, offset: Int64, leastMs: Int64
    ) {
        know(number, lastMs: lastMs)
        let driving = Drivers.Driving(fromMs: fromMs, untilMs: action.ts, account: action.by, id: action.id)
        if let fromMs = lives[number]?.fromMs, lives[number]!.watch.add(driving, since: fromMs) {
            changed.insert(number)
            return
        }
        // It comes before its readings.
        let lastMs = cars[number].lastMs
        let isAtRest = lives[number] == nil && waiting[number] == nil
        if isAtRest, lastMs == .min || fromMs > lastMs && fromMs - lastMs > DriverWatch.reachMs { return }
        // It may fill a pause between two drives: the later one began earlier then.
        let untilMs = action.ts + Drivers.pauseMsMax + Drivers.beginMsMax
        guard untilMs >= leastMs, max(lastMs, lives[number]?.lastMs ?? .min) >= leastMs else { return }
        ask(
            number, fromMs: max(fromMs - Drivers.pauseMsMax, leastMs), untilMs: untilMs, offset: offset, isLate: false)
    }

    /// From now on it is watched.
    mutating func know(_ number: Int, lastMs: Int64) {
        while cars.count <= number { cars.append(Car()) }
        guard cars[number].standing != .watched else { return }
        (cars[number].standing, cars[number].lastMs) = (.watched, lastMs)
    }

    public mutating func askCodes(_ vehicle: VehicleID, offset: Int64) {
        guard codes[vehicle] == nil else { return }
        codes[vehicle] = offset
        changedCodes.insert(vehicle)
    }

    public func isScanned(_ vehicle: VehicleID) -> Bool { scanned.contains(vehicle) }

    // MARK: Ticks

    /// Time passes. Where something waits, that is judged at the end of the cycle, which this tick ends.
    public mutating func tick(
        clockMs: Int64, after beforeMs: Int64, offset: Int64, pushedMs: Int64, isClosing: Bool
    ) {
        guard offset >= storedOffset else { return }
        let tick = Tick(
            clockMs: clockMs, offset: offset, pushedMs: pushedMs, beforeMs: beforeMs, isClosing: isClosing)
        if waiting.isEmpty, codes.isEmpty, loading.isEmpty, spreads.isEmpty, spreading == nil {
            passSilence(tick)
        } else {
            (due, isFull) = (tick, true)
        }
    }

    /// What silence has ended.
    public mutating func passSilence(_ tick: Tick) {
        guard tick.clockMs >= nextDueMs || tick.isClosing else { return }
        let silent = lives.filter { $0.value.isSilent(at: tick) }.sorted {
            $0.value.watch.vehicle < $1.value.watch.vehicle
        }
        for (number, live) in silent {
            if live.arrivedMs == tick.beforeMs, !tick.isClosing {
                // It came since the tick before, however far this one is beyond. Not at this one: the next must not say so again.
                lives[number]!.arrivedMs = tick.clockMs - 1
                changed.insert(number)
            } else {
                pass(number, tick)
            }
        }
        nextDueMs = lives.values.map(\.dueMs).min() ?? .max
    }

    private mutating func pass(_ number: Int, _ tick: Tick) {
        if !lives[number]!.told.all.isEmpty {
            let episodes = lives[number]!.watch.pass(tick.clockMs)
            lives[number]!.passedMs = tick.clockMs
            changed.insert(number)
            tell(number, episodes, pushedMs: tick.pushedMs)
        }
        guard lives[number]!.told.all.isEmpty, lives[number]!.dueMs <= tick.clockMs else { return }
        cars[number].lastMs = max(cars[number].lastMs, lives[number]!.lastMs)
        lives[number] = nil
        changed.insert(number)
    }

    // MARK: The end of a cycle

    /// Something is judged with the database's help.
    public var hasWork: Bool { !loading.isEmpty || due != nil || setBackTo != nil || !changedSettings.isEmpty }

    /// Cars that somebody drives for the first time in a while, or that report for the first time, and the first readings of
    /// these.
    public var newcomers: [(number: Int, fromMs: Int64)] {
        loading.map { ($0.key, $0.value[0].reading.ts) }.sorted { $0.0 < $1.0 }
    }

    /// It is known who drives one of them.
    public mutating func begin(_ number: Int, _ vehicle: VehicleID, _ context: DriverContext) {
        guard let arrivals = loading.removeValue(forKey: number) else { return }
        loadingCount -= arrivals.count
        cars[number].ownedMs = context.drivers.ownedMs
        askCodesOfNew(number, vehicle, offset: arrivals[0].offset)
        guard context.isWatched else {
            cars[number].standing = .unwatched
            return
        }
        let fromMs = arrivals[0].reading.ts
        cars[number].standing = .watched
        lives[number] = Live(
            watch: DriverWatch(vehicle: vehicle, context), told: ToldAlerts(), fromMs: fromMs,
            arrivedMs: arrivals[0].clockMs, nextOffset: arrivals[0].offset)
        changed.insert(number)
        for arrival in arrivals { see(number, arrival) }
        if let live = lives[number] { nextDueMs = min(nextDueMs, live.dueMs) }
    }

    /// An account's limits changed.
    public struct SettingsChange: Sendable {
        public let account: String
        public let fromMs: Int64
        public let offset: Int64
        /// Cars whose latest reading is older are not judged again: a part of their last stretch may be deleted.
        public let leastMs: Int64
    }

    /// Whose limits changed in this cycle.
    public mutating func takeAccounts() -> [SettingsChange] {
        defer { changedSettings = [] }
        return changedSettings
    }

    public mutating func takeTick() -> Tick? {
        defer { due = nil }
        return due
    }

    /// Rows of the car were written that hold readings which are in memory only here.
    public mutating func wrote(_ number: Int) { if lives[number] != nil { changed.insert(number) } }

    // MARK: Taking over

    /// Cars that said which trouble codes they have, also some that never reported.
    public mutating func know(scanned vehicles: [VehicleID]) { scanned.formUnion(vehicles) }

    /// Cars whose trouble codes wait, and since which record.
    public mutating func restore(codes: [VehicleID: Int64]) { self.codes = codes }

    /// What the database knows of cars that the book has from number `first` on.
    ///
    /// - Parameters:
    ///   - people: of those whom somebody has driven or owned, or has been said to.
    ///   - open: what is told as open.
    ///   - contexts: of those with a state.
    public mutating func restore(
        _ book: borrowing CarBook, from first: Int, people: [People], records: [DriverRecord],
        open: [VehicleID: [ToldAlert]], contexts: [VehicleID: DriverContext]
    ) {
        while cars.count < first { cars.append(Car()) }
        for number in first..<max(first, book.count) {
            cars.append(Car(standing: book.lastMs(number) == .min ? .unknown : .unwatched))
        }
        watchAll(book, from: first)
        for people in people {
            guard let number = book.number(of: people.vehicle) else { continue }
            if people.isWatched { (cars[number].standing, cars[number].lastMs) = (.watched, book.lastMs(number)) }
            cars[number].ownedMs = people.ownedMs
        }
        nextDueMs = .min
        var open = open
        for record in records {
            guard let number = book.number(of: record.vehicle) else { continue }
            let told = open.removeValue(forKey: record.vehicle) ?? []
            // Of a car that nobody drives its trouble codes may wait, and what was told of it to be taken back.
            let isLatest = record.waiting?.isLatest == true
            if record.live != nil || isLatest || record.waiting == nil && !told.isEmpty {
                (cars[number].standing, cars[number].lastMs) = (.watched, book.lastMs(number))
            }
            waiting[number] = record.waiting
            if isLatest { continue }
            guard record.live != nil || record.waiting == nil && !told.isEmpty else { continue }
            let live = contexts[record.vehicle].flatMap { Live(record, told, $0) }
            // What waits elsewhere may end what is told as open there.
            if let live, live.lastMs >= cars[number].lastMs,
                live.told.all.count == (record.waiting == nil ? told.count : live.watch.open.count)
            {
                lives[number] = live
            } else {
                // It cannot be read, or a program from before went on without it.
                askAll(number, fromMs: min(live?.fromMs ?? .max, told.map(\.episode.openedMs).min() ?? .max))
            }
        }
        for (vehicle, told) in open {
            guard let number = book.number(of: vehicle) else { continue }
            askAll(number, fromMs: told.map(\.episode.openedMs).min()!)
        }
    }

    /// Who has to do with a car.
    public struct People: Sendable {
        let vehicle: VehicleID
        /// Since when it is registered; `.max`: it is not.
        let ownedMs: Int64
        let isWatched: Bool
        public init(_ vehicle: VehicleID, ownedMs: Int64, isWatched: Bool) {
            (self.vehicle, self.ownedMs, self.isWatched) = (vehicle, ownedMs, isWatched)
        }
    }

    private mutating func askAll(_ number: Int, fromMs: Int64) {
        let lastMs = cars[number].lastMs
        ask(number, fromMs: min(fromMs, lastMs), untilMs: .max, offset: -1, isLate: true)
    }
}
