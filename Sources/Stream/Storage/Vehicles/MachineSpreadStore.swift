internal import Fleet
package import Pipeline
package import Postgres

/// Sweeps that judge all machines of a partition again, and how far they are noted, in PostgreSQL (`drover.machine_spreading`).
package enum MachineSpreadStore {
    /// - Parameter offset: only what records before it asked for; nil: all.
    package static func load(
        _ partition: Int32, before offset: Int64? = nil, on connection: Connection
    ) throws -> MachineSpreads {
        MachineSpreads(
            try connection.query(
                """
                SELECT asked_offset, since_at, from_at, until_at, after_vehicle FROM machine_spreading
                WHERE topic_partition = $1 AND asked_offset < $2
                """, [.int4(partition), .int8(offset ?? .max)]
            ).map { row in
                MachineSpread(
                    Rejudging.Span(fromMs: try row.timestampMs("from_at")!, untilMs: try row.timestampMs("until_at")!),
                    sinceMs: try row.timestampMs("since_at")!, askedOffset: Int64(try row.int("asked_offset")!),
                    after: try row.text("after_vehicle").flatMap { VehicleID($0) })
            })
    }

    /// Two rows at most.
    static func write(_ spreads: MachineSpreads, _ partition: Int32, on connection: Connection) throws {
        let all = spreads.all
        let offsets = Parameter.int8Array(all.map(\.askedOffset))
        try connection.query(
            "DELETE FROM machine_spreading WHERE topic_partition = $1 AND asked_offset <> ALL ($2::bigint[])",
            [.int4(partition), offsets])
        guard !all.isEmpty else { return }
        try connection.query(
            """
            INSERT INTO machine_spreading (topic_partition, asked_offset, since_at, from_at, until_at, after_vehicle)
            SELECT $1, asked_offset, since_at, from_at, until_at, nullif(after_vehicle, '')
            FROM unnest($2::bigint[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[], $6::text[])
                AS row(asked_offset, since_at, from_at, until_at, after_vehicle)
            ON CONFLICT (topic_partition, asked_offset) DO UPDATE SET since_at = EXCLUDED.since_at,
                from_at = EXCLUDED.from_at, until_at = EXCLUDED.until_at, after_vehicle = EXCLUDED.after_vehicle
            """,
            [
                .int4(partition), offsets, .timestampArray(all.map(\.sinceMs)),
                .timestampArray(all.map(\.span.fromMs)), .timestampArray(all.map(\.span.untilMs)),
                .textArray(all.map { $0.after?.text ?? "" }),
            ])
    }

    /// A page is of so many machines, whichever of them are set apart: who is apart moves no border of the others' pages.
    static func read(
        _ query: MachinePageQuery, _ partition: Int32, of selection: VehicleSelection, on connection: Connection
    ) throws -> MachinePage {
        // Of some alone a page is of them only: there are few.
        let (condition, parameters) =
            selection.isOnly ? (selection.condition("vehicle", 4), selection.parameters) : ("true", [])
        let looked = try connection.query(
            """
            SELECT vehicle, last_reading_at FROM vehicle
            WHERE topic_partition = $1 AND kind = 'machine' AND vehicle COLLATE "C" > $2 AND \(condition)
            ORDER BY vehicle COLLATE "C" LIMIT $3
            """, [.int4(partition), .text(query.after?.text ?? ""), .int8(Int64(query.countMax))] + parameters
        ).map { row in
            (vehicle: VehicleID(try row.text("vehicle")!)!, lastMs: try row.timestampMs("last_reading_at") ?? .min)
        }
        return MachinePage(
            query, machines: looked.filter { selection.includes($0.vehicle) },
            last: looked.count < query.countMax ? nil : looked.last?.vehicle)
    }

    /// Notes of machines that are set apart what has not come to them yet: by the time they are back it is over.
    static func note(of vehicles: [VehicleID], partition: Int32, on connection: Connection) throws {
        let spreads = try load(partition, on: connection)
        guard !spreads.isEmpty else { return }
        let known = try MachineStore.rejudging(of: vehicles, on: connection)
        let lasts = try connection.query(
            """
            SELECT vehicle, last_reading_at FROM vehicle
            WHERE kind = 'machine' AND last_reading_at IS NOT NULL AND vehicle = ANY ($1::text[])
            """, [.textArray(vehicles.map(\.text))])
        var noted: [VehicleID: Rejudging?] = [:]
        for row in lasts {
            let (vehicle, lastMs) = (VehicleID(try row.text(0)!)!, try row.timestampMs(1)!)
            let asked = spreads.noted(of: vehicle, lastMs: lastMs, waiting: known[vehicle])
            if asked != known[vehicle] { noted[vehicle] = .some(asked) }
        }
        try MachineStore.writeRejudging(noted, partition: partition, on: connection)
    }
}
