internal import Alerts
package import Fleet
package import Pipeline
package import Postgres
internal import Wire

/// What a worker that takes a partition over has to know of drivers' alerts, in PostgreSQL.
package enum CarWatchStore {
    private static let table = StagedTable(
        name: "car_watch",
        columns: [
            "vehicle", "topic_partition", "state", "next_offset", "from_at", "until_at", "asked_offset", "is_late",
            "is_latest", "arrived_at", "codes_offset",
        ], key: ["vehicle"])

    package static func load(
        _ partition: Int32, nextOffset: Int64, of selection: VehicleSelection = .all,
        into drivers: inout DriverBook, _ book: borrowing CarBook, on connection: Connection
    ) throws {
        let records = try connection.query(
            "SELECT * FROM car_watch WHERE topic_partition = $1 ORDER BY vehicle", [.int4(partition)]
        ).map(record).filter { selection.takes($0.vehicle) }
        let cars = records.compactMap { record in record.fromMs.map { (record.vehicle, $0) } }
        drivers.restore(
            book, watched: try DriverContextStore.watched(partition: partition, on: connection),
            scanned: try DriverContextStore.scanned(partition: partition, on: connection).filter(selection.takes),
            records: records,
            open: try DriverAlertStore.open(partition: partition, on: connection).filter { selection.takes($0.key) },
            contexts: try DriverContextStore.contexts(
                of: cars, partition: partition, before: nextOffset, on: connection))
    }

    private static func record(_ row: Row) throws -> DriverRecord {
        var waiting: DriverBook.Waiting?
        if let askedOffset = try row.int("asked_offset") {
            waiting = DriverBook.Waiting(
                fromMs: try row.timestampMs("from_at")!, untilMs: try row.timestampMs("until_at")!,
                askedOffset: Int64(askedOffset), isLate: try row.bool("is_late")!,
                isLatest: try row.bool("is_latest")!, arrivedMs: try row.timestampMs("arrived_at") ?? .min)
        }
        return DriverRecord(
            vehicle: VehicleID(try row.text("vehicle")!)!,
            live: try row.bytes("state").map { ($0, Int64(try row.int("next_offset")!)) }, waiting: waiting,
            codesOffset: try row.int("codes_offset").map { Int64($0) })
    }

    /// Precondition: within the transaction that moves the offsets; a vehicle stands once.
    package static func write(
        _ records: [DriverRecord], gone: [VehicleID], partition: Int32, on connection: Connection
    ) throws {
        if !gone.isEmpty {
            try connection.query(
                "DELETE FROM car_watch WHERE vehicle = ANY ($1::text[])", [.textArray(gone.map(\.text))])
        }
        try table.write(records, on: connection) { (record, copy: inout BinaryCopy) in
            copy.text(record.vehicle.text)
            copy.int4(partition)
            if let state = record.live?.state { copy.bytea(state) } else { copy.null() }
            copy.int8(record.live?.nextOffset)
            copy.timestampMs(record.waiting?.fromMs)
            copy.timestampMs(record.waiting?.untilMs)
            copy.int8(record.waiting?.askedOffset)
            copy.bool(record.waiting?.isLate)
            copy.bool(record.waiting?.isLatest)
            copy.timestampMs(record.waiting.flatMap { $0.arrivedMs == .min ? nil : $0.arrivedMs })
            copy.int8(record.codesOffset)
        }
    }
}
