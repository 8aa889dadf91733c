internal import Alerts
internal import Codecs
internal import Fleet
internal import Kafka
internal import Pipeline
internal import Postgres
internal import Storage
internal import Trips

/// Cars: records to `CarPartition`, its rows to the tables.
final class CarStage: Stage {
    private let partition: TopicPartition
    private let decoder: RecordDecoder
    private let rejects: RejectBuffer
    private var cars: CarPartition
    private var actions: [(action: Action, offset: Int64?)] = []

    private let place: KeyPartitioner
    private let kept: KeptSpan
    private let ticks: PartitionTicks
    private let judge: DriverJudge
    /// Cars whose running trip somebody looks at, with what was written of it.
    private var watched: [Int: CarPartition.LiveMark?] = [:]
    /// Cars whose running trip nobody looks at any more: what was written of it since they were forgotten is deleted, too.
    private var unwatched: Set<Int> = []
    private(set) var hasMore = false
    /// Cars that are not in memory and whose records come next; and since when all must be.
    private var wanted: Set<VehicleID> = []
    private var wantedSinceMs: Int64?
    /// Cars that are registered or assigned next, and from when on: whose they were before.
    private var wantedAccounts: [VehicleID: Int64] = [:]
    /// The record that waits for its car's accounts. If it waits a second time, more was said of the car than is read at once: it is read from
    /// the record's own time on, which covers it.
    private var accountless: (offset: Int64, vehicle: VehicleID, isAgain: Bool)?
    /// When it was last looked for cars that can be forgotten, by the partition's clock.
    private var lookedMs: Int64 = 0
    private static let forgetPeriodMs: Int64 = 3_600_000
    private static let wantedMax = 4_096
    /// Sets of trip rules that came since the last hand-over, with the offsets of their records.
    private var tripRules: [(entry: TripRuleTimeline.Entry, offset: Int64)] = []
    /// A record that tells what the partition began with.
    private var notedOffset: Int64?
    /// The rules that the partition began with, where no record tells of them yet.
    var unnotedRules: TripRules?

    init(
        _ partition: TopicPartition, place: KeyPartitioner, cars: CarPartition, judge: DriverJudge,
        decoder: RecordDecoder,
        kept: KeptSpan, rejects: RejectBuffer, ticks: PartitionTicks
    ) {
        (self.kept, self.ticks) = (kept, ticks)
        (self.partition, self.place, self.cars, self.judge) = (partition, place, cars, judge)
        (self.decoder, self.rejects) = (decoder, rejects)
    }

    func process(_ batch: MessageBatch, _ messages: Range<Int>, _ counts: inout RecordCounts) -> Int {
        // Reached through this object, each access to them is checked: once a run, not once a record.
        process(batch, messages, &cars, &judge.drivers, &counts)
    }

    private func process(
        _ batch: MessageBatch, _ messages: Range<Int>, _ cars: inout CarPartition, _ drivers: inout DriverPartition,
        _ counts: inout RecordCounts
    ) -> Int {
        var reading = CarReading(ts: 0)
        for index in messages {
            do throws(DecodeError) {
                if drivers.isFull { return index - messages.lowerBound }
                let isTaken = try process(batch, index, &reading, &cars, &drivers, &counts)
                if !isTaken {
                    if needsRecall { want(batch, index..<messages.upperBound, cars) }
                    return index - messages.lowerBound
                }
            } catch {
                rejects.add(batch, index, error, &counts)
            }
        }
        return messages.count
    }

    /// False: what follows from the records before it must be written first.
    @inline(__always)
    private func process(
        _ batch: MessageBatch, _ index: Int, _ reading: inout CarReading, _ cars: inout CarPartition,
        _ drivers: inout DriverPartition, _ counts: inout RecordCounts
    ) throws(DecodeError) -> Bool {
        let offset = batch.offset(index)
        let result = unsafe batch.withBytes(index) { key, value in
            Result { () throws(DecodeError) -> Bool in
                guard let value = unsafe value else { throw .tombstone }
                let pushedMs = batch.timestampMs(index)
                switch try unsafe decoder.decodeCar(value, key: key, into: &reading) {
                case .tick(let ts):
                    return process(try decoder.tick(ts), offset, pushedMs, &cars, &drivers, &counts)
                case .reading(let dropped):
                    if Ahead.isReadingTooFar(reading.ts, pushedMs) { throw .timeAhead(ms: reading.ts - pushedMs) }
                    try kept.check(reading.ts, pushedMs)
                    guard let number = try unsafe cars.accept(key: key, reading, offset: offset, pushedMs: pushedMs)
                    else {
                        wanted.insert(unsafe VehicleID(String(decoding: key, as: UTF8.self))!)
                        return false
                    }
                    counts.droppedFields += dropped
                    drivers.look(number, reading, offset: offset, pushedMs: pushedMs, clockMs: cars.clockMs)
                case .other:
                    return try unsafe processOther(value, key: key, offset, pushedMs, &cars, &drivers, &counts)
                }
                return true
            }
        }
        return try result.get()
    }

    /// False: what follows from the records before it must be written first.
    private func process(
        _ tick: Tick, _ offset: Int64, _ pushedMs: Int64, _ cars: inout CarPartition, _ drivers: inout DriverPartition,
        _ counts: inout RecordCounts
    ) -> Bool {
        if tick.isSetBack {
            if drivers.mustWaitForClock { return false }
            wantedSinceMs = cars.neededSince(clockMs: tick.ts)
            if wantedSinceMs != nil { return false }
        }
        switch ticks.accept(tick, offset: offset, pushedMs: pushedMs, &counts) {
        case .counts(let ms):
            let beforeMs = cars.clockMs
            cars.tick(ms, offset: offset)
            drivers.tick(
                clockMs: cars.clockMs, after: beforeMs, offset: offset, pushedMs: pushedMs, isClosing: tick.isOfImport)
        case .setBack(let ms):
            cars.setBack(ms, offset: offset)
            drivers.setBack(clockMs: ms, offset: offset)
        case .waits, .dropped: break
        }
        return true
    }

    /// Processes what people say: rare beside readings.
    private func processOther(
        _ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, _ offset: Int64, _ pushedMs: Int64,
        _ cars: inout CarPartition, _ drivers: inout DriverPartition, _ counts: inout RecordCounts
    ) throws(DecodeError) -> Bool {
        let action: Action
        switch try unsafe decoder.decode(value, key: key, isMachine: false) {
        case .action(let said): action = said
        case .tick(let tick): return process(tick, offset, pushedMs, &cars, &drivers, &counts)
        case .tripRules(let fromMs, let limits):
            try applyTripRules(fromMs, limits, offset, pushedMs, &cars)
            return true
        case .car, .machine, .rules: throw .kindUnknown
        }
        if Ahead.isReadingTooFar(action.ts, pushedMs) { throw .timeAhead(ms: action.ts - pushedMs) }
        if let vehicle = action.vehicle {
            try unsafe place.check(key)
            if action.kind.isOfTrips, cars.mayBeStored(vehicle) {
                wanted.insert(vehicle)
                return false
            }
        }
        let number = action.vehicle.flatMap { cars.number(of: $0) }
        if drivers.mustWait(for: action, of: number) { return false }
        let lastMs = number.map { cars.lastMs($0) } ?? .min
        if drivers.needsAccounts(for: action, lastMs: lastMs, offset: offset) {
            wantedAccounts[action.vehicle!] = action.ts
            accountless = (offset, action.vehicle!, isAgain: accountless?.offset == offset)
            return false
        }
        switch action.kind {
        case .tripStart, .tripStop:
            try kept.check(action.ts, pushedMs)
            let cut = TripCuts.time(isStart: action.kind == .tripStart, at: action.ts)
            try unsafe cars.accept(key: key, cut: cut, offset: offset, pushedMs: pushedMs)
        case .settings(_, let text):
            try kept.check(action.ts, pushedMs)
            do throws(DriverSettings.Fault) { _ = try DriverSettings(text: text) } catch {
                throw .settings(error.description)
            }
        case .registration, .service, .acknowledgement, .silence, .triage, .pollRequest, .pollAnswer, .tripDiscard,
            .tripTag,
            .driving, .assignment, .scanRequest, .scan, .support, .tripSummary, .weather:
            break
        }
        actions.append((action, offset))
        drivers.accept(action, of: number, lastMs: lastMs, offset: offset, leastMs: kept.leastMs(pushedMs))
        return true
    }

    // MARK: Cars that are not in memory

    /// Notes the cars of the records that come next: they are read back together.
    private func want(_ batch: MessageBatch, _ messages: Range<Int>, _ cars: borrowing CarPartition) {
        let isOfAccounts = !wantedAccounts.isEmpty
        for index in messages where wanted.count < CarStage.wantedMax {
            unsafe batch.withBytes(index) { key, value in
                guard unsafe VehicleID.isValid(key), unsafe place.holds(key),
                    let vehicle = unsafe VehicleID(String(decoding: key, as: UTF8.self))
                else { return }
                if cars.mayBeStored(vehicle) { wanted.insert(vehicle) }
                if isOfAccounts, wantedAccounts.count < DriverPartition.accountsMax, let value = unsafe value,
                    let ms = unsafe decoder.givenMs(value)
                {
                    wantAccounts(of: vehicle, since: ms)
                }
            }
        }
    }

    private func wantAccounts(of vehicle: VehicleID, since ms: Int64) {
        if let accountless, accountless.isAgain, accountless.vehicle == vehicle { return }
        wantedAccounts[vehicle] = min(wantedAccounts[vehicle] ?? ms, ms)
    }

    var needsRecall: Bool { !wanted.isEmpty || wantedSinceMs != nil || !wantedAccounts.isEmpty }

    var recallsWritten: Bool { !wantedAccounts.isEmpty }

    func recall(on connection: Connection) throws {
        if let sinceMs = wantedSinceMs { try judge.load(since: sinceMs, &cars, on: connection) }
        let vehicles = wanted.filter { cars.number(of: $0) == nil }
        try judge.load(vehicles.sorted(), &cars, on: connection)
        cars.knowsNew(vehicles.filter { cars.number(of: $0) == nil })
        if !wantedAccounts.isEmpty {
            judge.drivers.know(accounts: try DriverContextStore.accounts(of: wantedAccounts, on: connection))
        }
        (wanted, wantedSinceMs, wantedAccounts) = ([], nil, [:])
    }

    /// Precondition: the rows so far were handed over.
    private func forgetIdle() {
        // Also where the clock was set back behind the last look.
        guard !judge.isOfSome, abs(cars.clockMs - lookedMs) >= CarStage.forgetPeriodMs else { return }
        lookedMs = cars.clockMs
        cars.forgetNew()
        judge.drivers.forgetScanned(cars)
        guard let leaving = cars.leavingIdle(unless: { watched.keys.contains($0) || judge.drivers.needs($0) }) else {
            return
        }
        cars.keep(leaving)
        judge.drivers.keep(leaving, cars)
        watched = leaving.renumbered(watched)
    }

    private func applyTripRules(
        _ fromMs: Int64, _ limits: TripLimits, _ offset: Int64, _ pushedMs: Int64, _ cars: inout CarPartition
    ) throws(DecodeError) {
        let rules = try TripRules(limits)
        guard fromMs != TripRulesBase.fromMs else {
            notedOffset = notedOffset ?? offset
            return
        }
        // A vehicle that is taken up again alone goes by the rules that its partition has taken.
        guard !judge.isOfSome else { return }
        if let entry = cars.apply(rules: rules, fromMs: fromMs, offset: offset, pushedMs: pushedMs) {
            tripRules.append((entry, offset))
        }
    }

    func watch(_ vehicles: Set<String>) {
        guard !vehicles.isEmpty || !watched.isEmpty else { return }
        let numbers = Set(vehicles.compactMap { VehicleID($0).flatMap { cars.number(of: $0) } })
        unwatched.formUnion(watched.keys)
        unwatched.subtract(numbers)
        watched = Dictionary(uniqueKeysWithValues: numbers.map { ($0, watched[$0] ?? nil) })
    }

    private func liveRows() -> TableRows? {
        var trips: [(vehicle: String, live: LiveTrip)] = []
        for (number, mark) in watched where cars.liveMark(number) != mark {
            watched[number] = cars.liveMark(number)
            if let live = cars.live(number) { trips.append((text(Int32(number)), live)) }
        }
        return LiveTripStore.rows(trips)
    }

    var vehicleCount: Int { cars.count }
    var waitingRows: Int { cars.rows.count + actions.count }
    var needsHistory: Bool { cars.hasLate || judge.drivers.hasWork }
    var replayFrom: (offset: Int64, clockMs: Int64)? { cars.replayFrom }

    func changes() -> StageChanges {
        var changes = StageChanges()
        changes.tables = CarStore.encode(cars)
        if !watched.isEmpty, let live = liveRows() { changes.tables.append(live) }
        changes.count = cars.rows.count + actions.count
        changes.vehicles = cars.rows.vehicles.map {
            VehicleStore.Row(vehicle: text($0), kind: .car, model: nil, partition: partition.partition, lastMs: nil)
        }
        for minute in cars.rows.minutes { judge.drivers.wrote(Int(minute.car)) }
        changes.droppedTrips = cars.rows.droppedTrips.map { (text($0.car), $0.startMs) }
        changes.droppedMinutes = cars.rows.droppedMinutes.map { (text($0.car), $0.startMs) }
        let own = ownChanges()
        changes.own = .cars(own, partition: partition.partition)
        changes.outbox = own.drivers?.transitions.map { OutboxRecord($0) } ?? []
        cars.clearRows()
        forgetIdle()
        return changes
    }

    private func ownChanges() -> CarChanges {
        var own = CarChanges()
        own.starts = cars.rows.minutes.filter { $0.startPlace != nil }.map { (text($0.car), $0.tripStartMs) }
        own.unwatched = unwatched.map { text(Int32($0)) }
        (own.rules, own.notedOffset, own.actions) = (tripRules, notedOffset, actions)
        unwatched.removeAll()
        (tripRules, notedOffset) = ([], nil)
        actions.removeAll(keepingCapacity: true)
        if judge.drivers.hasChanges { own.drivers = judge.drivers.drainChanges(cars) }
        return own
    }

    private func text(_ car: Int32) -> String { String(decoding: cars.vehicle(car), as: UTF8.self) }

    func resolve(nextOffset: Int64, on connection: Connection) throws -> StageChanges {
        if cars.hasLate {
            cars.resolve(try CarStore.history(cars.lateQueries, on: connection), nextOffset: nextOffset)
        }
        hasMore = cars.hasLate
        return changes()
    }

    func conclude(nextOffset: Int64, on connection: Connection) throws -> [OutboxRecord] {
        try judge.judge(&cars, nextOffset: nextOffset, on: connection)
    }
}

extension Action.Kind {
    /// True: it says whose trips they are, or where they end; what else is said of a car asks nothing of what is known of it.
    fileprivate var isOfTrips: Bool {
        switch self {
        case .tripStart, .tripStop, .driving, .assignment, .registration: true
        case .service, .acknowledgement, .silence, .triage, .pollRequest, .pollAnswer, .tripDiscard, .tripTag,
            .settings,
            .scanRequest, .scan, .support, .tripSummary, .weather:
            false
        }
    }
}
