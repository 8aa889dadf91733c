package import Alerts
package import Fleet
package import Pipeline
package import Postgres

/// The installation's limits for cars that nobody answers for, and to which cars of a partition they have come, in PostgreSQL.
package enum InstallationLimitsStore {
    /// Nothing has been seen yet, and nobody has set limits.
    package static func isNew(_ connection: Connection) throws -> Bool {
        try connection.query(
            """
            SELECT NOT EXISTS (SELECT FROM drover.vehicle)
                AND NOT EXISTS (SELECT FROM drover.account_settings s WHERE s.account = $1)
            """, [.text(InstallationLimits.account)])[0].bool(0)!
    }

    package static func load(_ partition: Int32, on connection: Connection) throws -> [InstallationLimits.Entry] {
        try connection.query(
            """
            SELECT in_force_at, settings, record_id, record_offset, judged_from_at, reached_vehicle, reached_all_offset
            FROM account_settings WHERE topic_partition = $1 AND account = $2
            UNION ALL
            SELECT in_force_at, settings, record_id, record_offset, judged_from_at, reached_vehicle, reached_all_offset
            FROM replaced_limits WHERE topic_partition = $1
            """, [.int4(partition), .text(InstallationLimits.account)]
        ).map(entry)
    }

    private static func entry(_ row: Row) throws -> InstallationLimits.Entry {
        let reach: InstallationLimits.Reach =
            if let offset = try row.int("reached_all_offset") {
                .all(offset: Int64(offset))
            } else {
                .upTo(try row.text("reached_vehicle").flatMap { VehicleID($0) })
            }
        // As those of accounts: a row of a version that took more must not stop all alerts.
        let settings = (try? DriverSettings(text: try row.text("settings")!)) ?? .off
        // Where the program before wrote it, it has come to none.
        let inForceMs = try row.timestampMs("in_force_at")!
        return InstallationLimits.Entry(
            inForceMs: inForceMs, id: try row.text("record_id")!, settings: settings,
            offset: try row.int("record_offset").map { Int64($0) } ?? -1,
            fromMs: try row.timestampMs("judged_from_at") ?? inForceMs, reach: reach)
    }

    /// How far it has come. Precondition: within the transaction that moves the offsets, after the records themselves.
    package static func write(
        _ changes: DriverPartition.Changes, partition: Int32, on connection: Connection
    ) throws {
        for entries in changes.limits {
            guard let last = entries.last else { continue }
            try connection.query(
                """
                UPDATE account_settings SET judged_from_at = $4, reached_vehicle = $5, reached_all_offset = $6
                WHERE topic_partition = $1 AND account = $2 AND in_force_at = $3
                """,
                [.int4(partition), .text(InstallationLimits.account), .timestampMs(last.inForceMs)] + reach(of: last))
            let everywhere = entries.compactMap { entry -> Int64? in
                if case .all(let offset) = entry.reach { offset } else { nil }
            }
            try write(
                replaced: entries.dropLast(), inForceMs: last.inForceMs, everywhere: everywhere.max() ?? -1, partition,
                on: connection)
        }
    }

    /// Those of one time that still hold for cars to which the last one has not come: two at most; and what was replaced everywhere while a
    /// car is set apart that has yet to take what replaced it. One that came to no car is never kept.
    ///
    /// - Parameter everywhere: the offset at which the last of those that have come to all cars had done so.
    private static func write(
        replaced entries: ArraySlice<InstallationLimits.Entry>, inForceMs: Int64, everywhere: Int64,
        _ partition: Int32, on connection: Connection
    ) throws {
        let time: [Parameter] = [.int4(partition), .timestampMs(inForceMs)]
        try connection.query(
            """
            DELETE FROM replaced_limits
            WHERE topic_partition = $1 AND in_force_at = $2 AND record_id <> ALL ($3::text[])
                AND (reached_vehicle IS NULL AND reached_all_offset IS NULL OR NOT EXISTS (
                    SELECT FROM drover.quarantine q
                    WHERE q.topic = $4 AND q.partition = $1 AND q.next_offset <= $5))
            """, time + [.textArray(entries.map(\.id)), .text(Topic.cars), .int8(everywhere)])
        for entry in entries {
            try connection.query(
                """
                INSERT INTO replaced_limits (topic_partition, in_force_at, judged_from_at, reached_vehicle,
                    reached_all_offset, record_id, settings, record_offset)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
                ON CONFLICT (topic_partition, in_force_at, record_id) DO UPDATE SET
                    reached_vehicle = EXCLUDED.reached_vehicle, reached_all_offset = EXCLUDED.reached_all_offset
                """,
                time + reach(of: entry) + [.text(entry.id), .text(entry.settings.text), .int8(entry.offset)])
        }
    }

    /// From when on it is judged again, and to which cars it has come.
    private static func reach(of entry: InstallationLimits.Entry) -> [Parameter] {
        let fromMs = Parameter.timestampMs(DriverAlertStore.clamped(entry.fromMs))
        return switch entry.reach {
        case .upTo(let vehicle): [fromMs, .text(vehicle?.text), .null]
        case .all(let offset): [fromMs, .null, .int8(offset)]
        }
    }

    /// The partition's cars behind one, by their names.
    ///
    /// - Parameter sinceMs: of what they said of their trouble codes only this counts.
    package static func cars(
        after vehicle: VehicleID?, most: Int, sinceMs: Int64, partition: Int32, _ selection: VehicleSelection,
        on connection: Connection
    ) throws -> [DriverPartition.StoredCar] {
        // Looked up for each car: an EXISTS may read a whole table instead.
        try connection.query(
            """
            SELECT page.vehicle,
                (SELECT t.end_at FROM trip t WHERE t.vehicle = page.vehicle ORDER BY t.start_at DESC LIMIT 1) AS last_at,
                (SELECT bool_and(coalesce(o.account <> $5, false)) FROM car_owner o WHERE o.vehicle = page.vehicle) AS is_owned,
                (SELECT true FROM health_scan s WHERE s.vehicle = page.vehicle AND s.is_done AND s.scanned_at >= $4 LIMIT 1)
                    AS has_scans
            FROM (
                SELECT v.vehicle FROM vehicle v
                WHERE v.kind = 'car' AND v.topic_partition = $1 AND v.vehicle COLLATE "C" > $2
                    AND \(selection.condition("v.vehicle", 6))
                ORDER BY v.vehicle COLLATE "C" LIMIT $3) AS page
            ORDER BY page.vehicle COLLATE "C"
            """,
            [
                .int4(partition), .text(vehicle?.text ?? ""), .int8(Int64(most)),
                .timestampMs(DriverAlertStore.clamped(sinceMs)), .text(InstallationLimits.account),
            ] + selection.parameters
        ).map { row in
            DriverPartition.StoredCar(
                VehicleID(try row.text("vehicle")!)!, lastMs: try row.timestampMs("last_at") ?? .min,
                isAlwaysOwned: try row.bool("is_owned") ?? false, hasScans: try row.bool("has_scans") ?? false)
        }
    }
}
