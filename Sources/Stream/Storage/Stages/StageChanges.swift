package import Fleet
package import Pipeline
package import Postgres
package import Surveys
package import Trips

/// Changes that follow from one partition's records of a cycle, as values: the stage made them, here they are written.
package struct StageChanges {
    package var vehicles: [VehicleStore.Row] = []
    package var droppedTrips: [(vehicle: String, startMs: Int64)] = []
    package var droppedMinutes: [(vehicle: String, startMs: Int64)] = []
    package var tables: [TableRows] = []
    /// Changes that only its kind of stage has; nil: none.
    package var own: OwnChanges?
    /// Surveys' versions that a collector may get: a replay passes nothing on.
    package var versions: [StoredVersion] = []
    /// Records that leave the database: a replay tells nobody.
    package var outbox: [OutboxRecord] = []
    package var count = 0
    /// Records that were refused for what is known already.
    package var refused = 0

    package init() {}
}

/// Changes of one kind of stage beside rows for COPY.
package enum OwnChanges {
    case cars(CarChanges, partition: Int32)
    case machines(MachineChanges, partition: Int32)
    case campuses(CampusPartition.Changes, partition: Int32)
    case surveys(SurveyChanges, partition: Int32)
    case tours(TourChanges)
}

/// Changes that cars have to write after their rows, in this order.
package struct CarChanges {
    /// Trips that begin at a known place: their weather may be known.
    package var starts: [(vehicle: String, startMs: Int64)] = []
    /// Cars whose running trip nobody looks at any more.
    package var unwatched: [String] = []
    /// A record that tells by what rules the partition began.
    package var notedOffset: Int64?
    package var rules: [(entry: TripRuleTimeline.Entry, offset: Int64)] = []
    package var actions: [(action: Action, offset: Int64?)] = []
    package var drivers: DriverPartition.Changes?

    package init() {}
}

/// Writes what stages have made. Decides nothing.
package enum StageStore {
    /// Precondition: within the transaction that has moved these partitions on.
    ///
    /// - Parameter tables: what the stages' rows are written to, in this order.
    package static func write(
        _ changes: [StageChanges], tables: [StagedTable], on connection: Connection
    ) throws -> Int {
        try VehicleStore.write(changes.flatMap(\.vehicles), on: connection)
        try CarStore.drop(
            trips: changes.flatMap(\.droppedTrips), minutes: changes.flatMap(\.droppedMinutes), on: connection)
        let rows = changes.flatMap(\.tables)
        for table in tables {
            try table.write(rows.filter { $0.table.name == table.name }.map(\.bytes), on: connection)
        }
        for own in changes.compactMap(\.own) { try write(own, on: connection) }
        return changes.reduce(0) { $0 + $1.count }
    }

    private static func write(_ own: OwnChanges, on connection: Connection) throws {
        switch own {
        case .cars(let changes, let partition): try write(changes, partition, on: connection)
        case .machines(let changes, let partition):
            try MachineStore.write(changes, partition: partition, on: connection)
        case .campuses(let changes, let partition):
            try RideStore.write(changes, partition: partition, on: connection)
        case .surveys(let changes, let partition):
            try SurveyStore.write(changes, partition: partition, on: connection)
        case .tours(let changes): try TourEventStore.write(changes, on: connection)
        }
    }

    private static func write(_ changes: CarChanges, _ partition: Int32, on connection: Connection) throws {
        try TripWeatherStore.settle(changes.starts, on: connection)
        if !changes.unwatched.isEmpty { try LiveTripStore.forget(changes.unwatched, on: connection) }
        if let offset = changes.notedOffset {
            try TripRuleStore.note(offset: offset, partition: partition, on: connection)
        }
        for (entry, offset) in changes.rules {
            try TripRuleStore.write(entry, offset: offset, partition: partition, on: connection)
        }
        try ActionStore.write(changes.actions, partition: partition, on: connection)
        if let drivers = changes.drivers { try write(drivers, partition: partition, on: connection) }
    }

    /// Writes what was told of cars' drivers, and what a takeover has to know of it.
    package static func write(
        _ changes: DriverPartition.Changes, partition: Int32, on connection: Connection
    ) throws {
        try DriverAlertStore.write(changes.alerts, on: connection)
        try DriverRecordStore.write(changes.records, gone: changes.gone, partition: partition, on: connection)
        try InstallationLimitsStore.write(changes, partition: partition, on: connection)
        if let spreads = changes.spreads {
            try CarSpreadStore.write(spreads, partition: partition, on: connection)
        }
    }
}
