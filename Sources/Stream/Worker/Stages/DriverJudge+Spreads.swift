internal import Alerts
internal import Fleet
internal import Pipeline
internal import Postgres
internal import Storage

/// Changes that come to all cars of a partition, some at each tick, in the order of their names.
extension DriverJudge {
    /// The bounds of one tick: cars that are looked at; cars that may wait to be judged again, as many as two ticks judge; and cars that it
    /// comes to whatever waits.
    private static let spreadSize = DriverPartition.SpreadSize(cars: 16_384, waiting: 2 * carsMax, least: 16)

    // MARK: A clock that was set back

    /// Its first piece, with the record.
    func setBack(_ carPartition: inout CarPartition, on connection: Connection) throws {
        guard let (spread, clockMs) = drivers.dequeueSetBack() else { return }
        drivers.begin(
            try note(spread, &carPartition, clockMs: clockMs, offset: spread.askedOffset, on: connection))
    }

    /// The next piece of the one that goes on.
    func goOnSettingBack(_ carPartition: inout CarPartition, _ tick: DriverPartition.Tick, on connection: Connection)
        throws
    {
        guard let spread = drivers.spreads.first else { return }
        let rest = try note(spread, &carPartition, clockMs: tick.clockMs, offset: tick.offset, on: connection)
        if let rest { drivers.advanceSpread(to: rest) } else { drivers.finishSpread() }
    }

    /// Returns what is left of it; nil: nothing.
    private func note(
        _ spread: CarSpread, _ carPartition: inout CarPartition, clockMs: Int64, offset: Int64,
        on connection: Connection
    ) throws -> CarSpread? {
        var (rest, room) = (spread, drivers.room(DriverJudge.spreadSize))
        while let most = room.nextPage() {
            let stored = try CarSpreadStore.cars(
                after: rest.after, most: most, partition: partition, selection, on: connection)
            let (cars, recalled) = drivers.next(of: stored, spread, carPartition, &room, clockMs: clockMs)
            try load(recalled, &carPartition, on: connection)
            drivers.note(cars, spread, carPartition, clockMs: clockMs, offset: offset)
            rest.after = cars.last?.vehicle ?? rest.after
            if cars.count < most { return cars.count == stored.count ? nil : rest }
        }
        return rest
    }

    // MARK: What the installation has set

    func spreadLimits(_ carPartition: inout CarPartition, _ tick: DriverPartition.Tick, on connection: Connection)
        throws
    {
        var room = drivers.room(DriverJudge.spreadSize)
        while let (limits, after) = drivers.spreading, let most = room.nextPage() {
            let stored = try InstallationLimitsStore.cars(
                after: after, most: most, sinceMs: limits.inForceMs, partition: partition, selection, on: connection)
            let (cars, recalled) = drivers.next(of: stored, carPartition, &room, tick)
            try load(recalled, &carPartition, on: connection)
            let isAll = cars.count == stored.count && stored.count < most
            drivers.spread(to: cars, isAll: isAll, carPartition, tick)
            if cars.count < most { return }
        }
    }
}
