internal import Alerts
internal import Fleet
internal import Pipeline
internal import Postgres
internal import Storage

/// The drivers' alerts of one partition of cars: what `DriverPartition` needs of the database, and what it writes. What waits
/// is judged at a tick, from what is stored and the open minutes.
///
/// Belongs to its stage, and is used by one thread at a time like it.
final class DriverJudge {
    let partition: Int32
    let selection: VehicleSelection
    /// The stage shows it each reading itself: to reach it through this object is checked each time.
    var drivers: DriverPartition
    /// The next offset of the cycle that is judged.
    private var nextOffset: Int64 = 0

    var isOfSome: Bool { selection.isOnly }

    /// The bounds of one tick: readings that are judged, and cars. A fourth is for those of whom only history waits. At least
    /// one stretch of each is.
    private static let readingsMax = 65_536
    static let carsMax = 128

    init(partition: Int32, _ selection: VehicleSelection, _ drivers: DriverPartition) {
        (self.partition, self.selection, self.drivers) = (partition, selection, drivers)
    }

    // MARK: The end of a cycle

    /// Precondition: within the transaction, after the rows and actions of the cycle.
    func judge(_ carPartition: inout CarPartition, nextOffset: Int64, on connection: Connection) throws
        -> [OutboxRecord]
    {
        self.nextOffset = nextOffset
        try begin(carPartition, on: connection)
        try ask(&carPartition, on: connection)
        try setBack(&carPartition, on: connection)
        guard let tick = drivers.dequeueTick() else {
            return try write(drivers.drainChanges(carPartition), on: connection)
        }
        try goOnSettingBack(&carPartition, tick, on: connection)
        try spreadLimits(&carPartition, tick, on: connection)
        drivers.passSilence(tick)
        // What is judged from what is stored goes on from what was told.
        var told = try write(drivers.drainChanges(carPartition), on: connection)
        for vehicle in drivers.codeTurns().prefix(DriverJudge.carsMax) {
            try judgeCodes(vehicle, tick, on: connection)
        }
        let (latest, others) = drivers.turns(carPartition, most: DriverJudge.carsMax)
        let latestMax = others.isEmpty ? DriverJudge.readingsMax : DriverJudge.readingsMax / 4 * 3
        let count = try judge(latest, most: latestMax, tick, &carPartition, on: connection)
        _ = try judge(
            others, most: DriverJudge.readingsMax - min(count, latestMax), tick, &carPartition, on: connection)
        told += try write(drivers.drainChanges(carPartition), on: connection)
        return told
    }

    private func write(_ changes: DriverPartition.Changes, on connection: Connection) throws -> [OutboxRecord] {
        try StageStore.write(changes, partition: partition, on: connection)
        return changes.transitions.map { OutboxRecord($0) }
    }

    /// Finds out who drives the cars that began to.
    private func begin(_ carPartition: borrowing CarPartition, on connection: Connection) throws {
        let newcomers = drivers.newcomers
        var cars: [(vehicle: VehicleID, fromMs: Int64)] = []
        for car in newcomers { cars.append((carPartition.name(car.number), car.fromMs)) }
        let contexts = try DriverContextStore.contexts(
            of: cars, partition: partition, before: settingsBefore, drivers.installation, on: connection)
        // Who reports for the first time may have been asked for its trouble codes before.
        if !cars.isEmpty {
            drivers.know(scanned: try DriverContextStore.scanned(of: cars.map(\.vehicle), on: connection))
        }
        for (newcomer, car) in zip(newcomers, cars) {
            drivers.begin(newcomer.number, car.vehicle, contexts[car.vehicle]!)
        }
    }

    /// The cars of accounts whose limits changed.
    private func ask(_ carPartition: inout CarPartition, on connection: Connection) throws {
        for change in drivers.drainAccounts() {
            let vehicles = try DriverContextStore.cars(
                of: change.account, fromMs: change.fromMs, partition: partition, on: connection
            ).filter(selection.includes)
            try load(vehicles.filter { carPartition.number(of: $0) == nil }, &carPartition, on: connection)
            for vehicle in vehicles {
                if drivers.isScanned(vehicle) { drivers.askCodes(vehicle, offset: change.offset) }
                // Marks alone are nothing to judge: who drives is read with the first reading.
                guard let number = carPartition.number(of: vehicle), carPartition.lastMs(number) != .min,
                    carPartition.lastMs(number) >= change.leastMs
                else { continue }
                drivers.ask(number, fromMs: change.fromMs, untilMs: .max, offset: change.offset, isLate: true)
            }
        }
    }

    // MARK: Cars that are not in memory

    func load(_ vehicles: [VehicleID], _ carPartition: inout CarPartition, on connection: Connection) throws {
        try loader(on: connection).load(vehicles, into: &carPartition, &drivers)
    }

    func load(since sinceMs: Int64, _ carPartition: inout CarPartition, on connection: Connection) throws {
        try loader(on: connection).load(since: sinceMs, into: &carPartition, &drivers)
    }

    private func loader(on connection: Connection) -> CarLoader {
        CarLoader(partition, of: selection, before: settingsBefore, on: connection)
    }

    /// The partition may be further on than a vehicle that is taken up again alone: what accounts set there it does not know yet.
    private var settingsBefore: Int64? { selection.isOnly ? nextOffset : nil }

    // MARK: What waits

    /// Returns how many readings were judged.
    private func judge(
        _ turns: [DriverPartition.Turn], most: Int, _ tick: DriverPartition.Tick, _ carPartition: inout CarPartition,
        on connection: Connection
    ) throws -> Int {
        var readings = 0
        for turn in turns where readings < most {
            readings += try judge(turn, tick, &carPartition, on: connection)
            if let rest = drivers.rest(of: turn) { readings += try judge(rest, tick, &carPartition, on: connection) }
        }
        return readings
    }

    /// Returns how many readings were judged.
    private func judge(
        _ turn: DriverPartition.Turn, _ tick: DriverPartition.Tick, _ carPartition: inout CarPartition,
        on connection: Connection
    ) throws -> Int {
        let vehicle = turn.vehicle
        guard let stretch = try stretch(turn, &carPartition, on: connection) else {
            drivers.giveUp(turn)
            return 0
        }
        let goesLive = turn.asked.isLatest && !stretch.isFollowed
        let contexts = try DriverContextStore.contexts(
            of: [(vehicle, stretch.fromMs)], untilMs: goesLive ? .max : stretch.toMs, partition: partition,
            before: settingsBefore, drivers.installation, on: connection)
        let told = try DriverAlertStore.told(
            of: vehicle, fromMs: stretch.fromMs, toMs: stretch.untilMs, on: connection)
        drivers.judge(
            turn, stretch, contexts[vehicle]!, told: told,
            openSinceMs: try DriverAlertStore.openSinceMs(of: vehicle, on: connection), tick)
        return stretch.readings.count
    }

    private func stretch(
        _ turn: DriverPartition.Turn, _ carPartition: inout CarPartition, on connection: Connection
    ) throws -> DriverStretch? {
        let open = carPartition.openReadings(turn.number)
        if turn.asked.isLatest {
            return try DriverAlertStore.latestStretch(of: turn.vehicle, open: open, on: connection)
        }
        return try DriverAlertStore.stretch(
            of: turn.vehicle, fromMs: turn.asked.fromMs, untilMs: turn.asked.untilMs, open: open, on: connection)
    }

    private func judgeCodes(_ vehicle: VehicleID, _ tick: DriverPartition.Tick, on connection: Connection) throws {
        let scans = try DriverAlertStore.scans(of: vehicle, on: connection)
        let contexts = try DriverContextStore.contexts(
            of: scans.map(\.ts).min().map { [(vehicle, $0)] } ?? [], partition: partition,
            before: settingsBefore, drivers.installation, on: connection)
        let told = try DriverAlertStore.toldCodes(of: vehicle, on: connection)
        drivers.judge(codesOf: vehicle, scans, contexts[vehicle], told: told, tick)
    }
}
