internal import Alerts
internal import Basics
package import Fleet
package import Pipeline
package import Postgres

/// Cars of a partition into memory, with their drivers' alerts: those that have to be there when it is taken over, and later those
/// that are asked for.
package struct CarLoader {
    private let partition: Int32
    private let selection: VehicleSelection
    private let connection: Connection
    /// What accounts set by records from there on is left out; nil: nothing is.
    private let offset: Int64?

    package init(
        _ partition: Int32, of selection: VehicleSelection = .all, before offset: Int64? = nil,
        on connection: Connection
    ) { (self.partition, self.selection, self.offset, self.connection) = (partition, selection, offset, connection) }

    private static let pageMax = 20_000

    /// When the partition is taken over. Of some alone all are loaded, of all those that are not idle. Returns of how many the state
    /// could not be read.
    package func loadAll(into book: inout CarPartition, _ drivers: inout DriverPartition) throws -> Int {
        let before = selection.isOnly ? offset : nil
        drivers.restore(
            installation: try InstallationLimitsStore.load(partition, on: connection),
            try CarSpreadStore.load(partition, before: before, on: connection), before: before)
        let unreadable = try load(since: selection.isOnly ? .min : book.idleBeforeMs, into: &book, &drivers)
        if selection.isOnly {
            let others = selection.vehicles.filter { book.number(of: $0) == nil }
            try load(others.sorted(), into: &book, &drivers)
            book.knowsNew(others)
        }
        drivers.restore(
            codes: try CarWatchStore.codes(of: partition, on: connection).filter { selection.takes($0.key) })
        return unreadable
    }

    /// Those that are not in memory and said something at `sinceMs` or later, and those of which something waits or is open.
    @discardableResult
    package func load(since sinceMs: Int64, into book: inout CarPartition, _ drivers: inout DriverPartition) throws
        -> Int
    {
        var (last, unreadable, left) = ("", 0, 0)
        while true {
            // Looked up for each car: an EXISTS may read a whole table instead, and once a page.
            let rows = try connection.query(
                """
                SELECT v.vehicle, $3::timestamptz IS NULL
                    OR (SELECT max(d.day_at) FROM vehicle_day d WHERE d.vehicle = v.vehicle) >= date_trunc('day', $3, 'UTC')
                    OR (SELECT w.state IS NOT NULL OR w.asked_offset IS NOT NULL FROM car_watch w WHERE w.vehicle = v.vehicle)
                    OR (SELECT true FROM alert a WHERE a.kind = 'car' AND a.state = 'open' AND a.vehicle = v.vehicle
                        AND a.parameter NOT LIKE \(DriverAlertStore.codes) LIMIT 1) AS is_meant
                FROM vehicle v
                WHERE v.kind = 'car' AND v.topic_partition = $1 AND v.vehicle > $2 AND \(selection.condition("v.vehicle", 4))
                ORDER BY v.vehicle LIMIT \(CarLoader.pageMax)
                """,
                [
                    .int4(partition), .text(last),
                    sinceMs == .min ? .null : .timestampMs(DriverAlertStore.clamped(sinceMs)),
                ] + selection.parameters)
            var vehicles: [VehicleID] = []
            for row in rows {
                last = try row.text(0)!
                guard try row.bool(1) ?? false else {
                    left += 1
                    continue
                }
                let vehicle = VehicleID(last)!
                if book.number(of: vehicle) == nil { vehicles.append(vehicle) }
            }
            unreadable += try load(vehicles, into: &book, &drivers)
            guard rows.count < CarLoader.pageMax else { continue }
            // Where none is left out, one that is not in memory is new.
            book.holds(since: left == 0 ? .min : sinceMs)
            return unreadable
        }
    }

    /// Precondition: none of them is in memory.
    @discardableResult
    package func load(_ vehicles: [VehicleID], into book: inout CarPartition, _ drivers: inout DriverPartition) throws
        -> Int
    {
        let vehicles = vehicles.filter(selection.takes)
        guard !vehicles.isEmpty else { return 0 }
        let first = book.count
        let unreadable = try CarStore.load(vehicles, of: partition, into: &book, on: connection)
        drivers.know(scanned: try DriverContextStore.scanned(of: vehicles, on: connection))
        // Of one that never reported nothing else is known.
        let known = vehicles.filter { book.number(of: $0) != nil }
        let records = known.isEmpty ? [] : try CarWatchStore.records(of: known, on: connection)
        drivers.restore(
            book, from: first, people: known.isEmpty ? [] : try DriverContextStore.people(of: known, on: connection),
            records: records,
            open: known.isEmpty ? [:] : try DriverAlertStore.open(of: known, on: connection),
            contexts: try DriverContextStore.contexts(
                of: records.compactMap { record in record.fromMs.map { (record.vehicle, $0) } }, partition: partition,
                before: offset, drivers.installation, on: connection))
        return unreadable
    }
}
