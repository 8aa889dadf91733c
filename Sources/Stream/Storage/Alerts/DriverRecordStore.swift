internal import Codecs
package import Fleet
package import Pipeline
package import Postgres

/// The state of drivers' alerts that a worker needs when it takes a partition over, in PostgreSQL.
package enum DriverRecordStore {
    private static let table = StagedTable(
        name: "car_watch",
        columns: [
            "vehicle", "topic_partition", "state", "next_offset", "from_at", "until_at", "asked_offset", "is_late",
            "is_latest", "arrived_at", "codes_offset",
        ], key: ["vehicle"])

    package static func records(of vehicles: [VehicleID], on connection: Connection) throws -> [DriverRecord] {
        try connection.query(
            "SELECT * FROM car_watch WHERE vehicle = ANY ($1::text[]) ORDER BY vehicle",
            [.textArray(vehicles.map(\.text))]
        ).map(record)
    }

    /// Cars of a partition whose trouble codes wait, and since which record; also ones that never reported.
    package static func codes(of partition: Int32, on connection: Connection) throws -> [VehicleID: Int64] {
        let rows = try connection.query(
            "SELECT vehicle, codes_offset FROM car_watch WHERE topic_partition = $1 AND codes_offset IS NOT NULL",
            [.int4(partition)])
        return Dictionary(
            uniqueKeysWithValues: try rows.map { (VehicleID(try $0.text(0)!)!, Int64(try $0.int(1)!)) })
    }

    private static func record(_ row: Row) throws -> DriverRecord {
        var waiting: DriverPartition.Waiting?
        if let askedOffset = try row.int("asked_offset") {
            waiting = DriverPartition.Waiting(
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
