internal import Alerts
package import Fleet
package import Pipeline
package import Postgres

/// Cars of a partition that are judged again because its clock was set back, and how far that is noted, in PostgreSQL
/// (0077_car_spreading.sql).
package enum CarSpreadStore {
    /// - Parameter offset: only what records before it asked for; nil: all.
    package static func load(_ partition: Int32, before offset: Int64? = nil, on connection: Connection) throws
        -> CarSpreads
    {
        CarSpreads(
            try connection.query(
                """
                SELECT asked_offset, since_at, after_vehicle FROM car_spreading
                WHERE topic_partition = $1 AND asked_offset < $2
                """, [.int4(partition), .int8(offset ?? .max)]
            ).map { row in
                CarSpread(
                    sinceMs: try row.timestampMs("since_at")!, askedOffset: Int64(try row.int("asked_offset")!),
                    after: try row.text("after_vehicle").flatMap { VehicleID($0) })
            })
    }

    /// Two rows at most. Precondition: within the transaction that moves the offsets.
    package static func write(_ spreads: CarSpreads, partition: Int32, on connection: Connection) throws {
        let all = spreads.all
        let offsets = Parameter.int8Array(all.map(\.askedOffset))
        try connection.query(
            "DELETE FROM car_spreading WHERE topic_partition = $1 AND asked_offset <> ALL ($2::bigint[])",
            [.int4(partition), offsets])
        guard !all.isEmpty else { return }
        try connection.query(
            """
            INSERT INTO car_spreading (topic_partition, asked_offset, since_at, after_vehicle)
            SELECT $1, asked_offset, since_at, nullif(after_vehicle, '')
            FROM unnest($2::bigint[], $3::timestamptz[], $4::text[]) AS row(asked_offset, since_at, after_vehicle)
            ON CONFLICT (topic_partition, asked_offset) DO UPDATE SET since_at = EXCLUDED.since_at,
                after_vehicle = EXCLUDED.after_vehicle
            """,
            [
                .int4(partition), offsets, .timestampArray(all.map(\.sinceMs)),
                .textArray(all.map { $0.after?.text ?? "" }),
            ])
    }

    /// The partition's cars behind one, by their names.
    package static func cars(
        after vehicle: VehicleID?, most: Int, partition: Int32, _ selection: VehicleSelection,
        on connection: Connection
    ) throws -> [DriverPartition.StoredCar] {
        try cars(
            """
            SELECT v.vehicle FROM vehicle v
            WHERE v.kind = 'car' AND v.topic_partition = $1 AND v.vehicle COLLATE "C" > $2
                AND \(selection.condition("v.vehicle", 4))
            ORDER BY v.vehicle COLLATE "C" LIMIT $3
            """,
            [.int4(partition), .text(vehicle?.text ?? ""), .int8(Int64(most))] + selection.parameters, on: connection)
    }

    /// - Parameter page: which they are.
    private static func cars(
        _ page: String, _ parameters: [Parameter], on connection: Connection
    ) throws -> [DriverPartition.StoredCar] {
        // Looked up for each car: an EXISTS may read a whole table instead.
        try connection.query(
            """
            SELECT page.vehicle,
                (SELECT t.end_at FROM trip t WHERE t.vehicle = page.vehicle ORDER BY t.start_at DESC LIMIT 1) AS last_at,
                coalesce(
                    (SELECT true FROM car_owner o WHERE o.vehicle = page.vehicle AND o.account IS NOT NULL LIMIT 1),
                    (SELECT true FROM assignment a WHERE a.vehicle = page.vehicle AND a.account IS NOT NULL LIMIT 1),
                    (SELECT true FROM driving d WHERE d.vehicle = page.vehicle LIMIT 1), false) AS is_watched
            FROM (\(page)) AS page
            ORDER BY page.vehicle COLLATE "C"
            """, parameters
        ).map { row in
            DriverPartition.StoredCar(
                VehicleID(try row.text("vehicle")!)!, lastMs: try row.timestampMs("last_at") ?? .min,
                isWatched: try row.bool("is_watched")!)
        }
    }

    /// Notes of cars that are set apart what has not come to them yet: by the time they are back it is over.
    static func note(of vehicles: [VehicleID], partition: Int32, clockMs: Int64, on connection: Connection) throws {
        let spreads = try load(partition, on: connection)
        guard !spreads.isEmpty else { return }
        let limits = InstallationLimits(try InstallationLimitsStore.load(partition, on: connection))
        let known = Dictionary(
            uniqueKeysWithValues: try DriverRecordStore.records(of: vehicles, on: connection).map { ($0.vehicle, $0) })
        let cars = try cars(
            "SELECT v.vehicle FROM vehicle v WHERE v.kind = 'car' AND v.vehicle = ANY ($1::text[])",
            [.textArray(vehicles.map(\.text))], on: connection)
        let noted = cars.compactMap { car in
            (known[car.vehicle] ?? DriverRecord(vehicle: car.vehicle, live: nil, waiting: nil, codesOffset: nil))
                .noted(spreads, of: car, limits, clockMs: clockMs)
        }
        try DriverRecordStore.write(noted, gone: [], partition: partition, on: connection)
    }
}
