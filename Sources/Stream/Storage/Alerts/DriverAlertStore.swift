package import Alerts
internal import Basics
internal import Codecs
package import Fleet
package import Pipeline
package import Postgres

/// Drivers' alerts, and the rows that they are judged from, in PostgreSQL. All within the transaction that writes what asked
/// for it, so that it sees those rows. Decides nothing.
package enum DriverAlertStore {
    static let codes = "'Trouble Code %'"

    // MARK: Judging

    /// Since when something of the car is open, however long ago it was left; nil: nothing is.
    package static func openSinceMs(of vehicle: VehicleID, on connection: Connection) throws -> Int64? {
        try connection.query(
            """
            SELECT min(opened_at) FROM alert
            WHERE vehicle = $1 AND kind = 'car' AND state = 'open' AND parameter NOT LIKE \(codes)
            """, [.text(vehicle.text)])[0].timestampMs(0)
    }

    /// The first stretch that ends at `fromMs` or later and begins before `untilMs`, with what is within reach. One after the other
    /// they are judged: a span of years must not be in memory at once.
    ///
    /// - Parameter open: readings of the open minute, which may not be stored yet.
    /// - Returns: nil when there is none.
    package static func stretch(
        of vehicle: VehicleID, fromMs: Int64, untilMs: Int64, open: [CarReading], on connection: Connection
    ) throws -> DriverStretch? {
        var nextMs = clamped(fromMs - DriverAlertFold.reachMs)
        while let rowMs = try rowMs(of: vehicle, after: nextMs, open, on: connection), rowMs <= untilMs {
            guard let stretch = try stretch(of: vehicle, at: rowMs, open: open, on: connection) else { return nil }
            if stretch.untilMs >= fromMs { return stretch.fromMs <= untilMs ? stretch : nil }
            // A border lies between them.
            nextMs = stretch.untilMs + 1
        }
        return nil
    }

    /// The latest stretch; nil: the car has no readings.
    package static func latestStretch(
        of vehicle: VehicleID, open: [CarReading], on connection: Connection
    ) throws -> DriverStretch? {
        let storedMs = try connection.query(
            "SELECT max(minute_at) FROM vehicle_minute WHERE vehicle = $1", [.text(vehicle.text)])[0].timestampMs(0)
        return try [storedMs, open.last?.ts].compactMap { $0 }.max().flatMap {
            try stretch(of: vehicle, at: $0, open: open, on: connection)
        }
    }

    /// Where the first row of readings at a time or later begins; one that began before it may hold them.
    private static func rowMs(
        of vehicle: VehicleID, after ms: Int64, _ open: [CarReading], on connection: Connection
    ) throws -> Int64? {
        let storedMs = try connection.query(
            "SELECT min(minute_at) FROM vehicle_minute WHERE vehicle = $1 AND minute_at >= $2",
            [.text(vehicle.text), .timestampMs(UTC.minute(of: ms))])[0].timestampMs(0)
        return [storedMs, open.first { $0.ts >= ms }?.ts].compactMap { $0 }.min()
    }

    /// So many rows of a window are read at once.
    private static let sparseRowsMax = 256

    /// The stretch of the last row that begins at `ms` or before.
    private static func stretch(
        of vehicle: VehicleID, at ms: Int64, open: [CarReading], on connection: Connection
    ) throws -> DriverStretch? {
        let window = DriverStretch.window(around: ms)
        var starts = try connection.query(
            "SELECT minute_at FROM vehicle_minute WHERE vehicle = $1 AND minute_at BETWEEN $2 AND $3 ORDER BY minute_at",
            [.text(vehicle.text), .timestampMs(clamped(window.lowerBound)), .timestampMs(clamped(window.upperBound))]
        ).map { try $0.timestampMs(0)! }
        if let openMs = open.first?.ts, window.contains(openMs) {
            starts.insert(openMs, at: starts.firstIndex { $0 > openMs } ?? starts.count)
        }
        guard let row = starts.lastIndex(where: { $0 <= ms }) else { return nil }
        // Who reports about once an hour has few rows and many that have to be looked into.
        let isSparse = starts.count <= sparseRowsMax
        let all = isSparse ? try self.readings(of: vehicle, starts[0], clamped(window.upperBound), on: connection) : []
        func readings(_ fromMs: Int64, _ toMs: Int64) throws -> [CarReading] {
            let stored =
                isSparse
                ? all.filter { $0.ts >= fromMs && $0.ts <= toMs }
                : try self.readings(of: vehicle, fromMs, toMs, on: connection)
            return (stored + open.filter { $0.ts >= fromMs && $0.ts <= toMs }).unioned()
        }
        let span = try DriverStretch.span(of: row, starts) { row in
            let held = try readings(starts[row], UTC.minute(of: starts[row]) + UTC.msPerMinute - 1)
            // A row that holds nothing is none of ours.
            return (held.first?.ts ?? starts[row], held.last?.ts ?? starts[row])
        }
        let later = try connection.query(
            "SELECT EXISTS (SELECT FROM vehicle_minute WHERE vehicle = $1 AND minute_at > $2)",
            [.text(vehicle.text), .timestampMs(span.toMs)])[0].bool(0)!
        return DriverStretch(
            fromMs: span.fromMs, toMs: span.toMs, readings: try readings(span.fromMs, span.toMs),
            isFollowed: later || open.contains { $0.ts > span.toMs }, goesOn: span.goesOn)
    }

    private static func readings(
        of vehicle: VehicleID, _ fromMs: Int64, _ toMs: Int64, on connection: Connection
    ) throws -> [CarReading] {
        try connection.query(
            """
            SELECT minute_at, samples FROM vehicle_minute
            WHERE vehicle = $1 AND minute_at > $2::timestamptz - interval '1 minute' AND minute_at <= $3 ORDER BY minute_at
            """, [.text(vehicle.text), .timestampMs(fromMs), .timestampMs(toMs)]
        ).flatMap { row in
            try PackedSamples.decode(try row.bytes("samples")!, minuteMs: try row.timestampMs("minute_at")!)
        }.filter { $0.ts >= fromMs && $0.ts <= toMs }
    }

    /// The answered scans of a car.
    package static func scans(of vehicle: VehicleID, on connection: Connection) throws -> [TroubleCodes.Scan] {
        try connection.query(
            """
            SELECT scan_id, scanned_at, stored || pending || permanent AS codes FROM health_scan
            WHERE vehicle = $1 AND is_done
            """, [.text(vehicle.text)]
        ).map { row in
            TroubleCodes.Scan(
                ts: try row.timestampMs("scanned_at")!, id: try row.text("scan_id")!,
                codes: Set(try row.textArray("codes")!.compactMap { $0 }))
        }
    }

    /// Alerts that were told of a car's values in a span.
    package static func told(
        of vehicle: VehicleID, fromMs: Int64, toMs: Int64, on connection: Connection
    ) throws -> ToldAlerts {
        try told(
            "parameter NOT LIKE \(codes) AND (opened_at BETWEEN $2 AND $3 OR first_opened_at BETWEEN $2 AND $3)",
            [.text(vehicle.text), .timestampMs(clamped(fromMs)), .timestampMs(clamped(toMs))], on: connection)
    }

    /// Alerts that are told as open of these cars' values.
    package static func open(of vehicles: [VehicleID], on connection: Connection) throws -> [VehicleID: [ToldAlert]] {
        let alerts = try connection.query(
            """
            SELECT \(MachineStore.alert.columns.joined(separator: ", ")) FROM alert
            WHERE kind = 'car' AND state = 'open' AND parameter NOT LIKE \(codes) AND vehicle = ANY ($1::text[])
            ORDER BY opened_at, alert_id
            """, [.textArray(vehicles.map(\.text))]
        ).map(MachineStore.toldAlert)
        return Dictionary(grouping: alerts, by: \.episode.vehicle)
    }

    package static func toldCodes(of vehicle: VehicleID, on connection: Connection) throws -> ToldAlerts {
        try told("parameter LIKE \(codes)", [.text(vehicle.text)], on: connection)
    }

    private static func told(
        _ condition: String, _ parameters: [Parameter], on connection: Connection
    ) throws -> ToldAlerts {
        ToldAlerts(
            try connection.query(
                """
                SELECT \(MachineStore.alert.columns.joined(separator: ", ")) FROM alert
                WHERE vehicle = $1 AND kind = 'car' AND \(condition) ORDER BY opened_at, alert_id
                """, parameters
            ).map(MachineStore.toldAlert))
    }

    package static func write(_ alerts: [ToldAlert], on connection: Connection) throws {
        try MachineStore.alert.write(alerts, on: connection) { (alert, copy: inout BinaryCopy) in
            MachineStore.fill(alert, &copy)
        }
    }

    /// A timestamptz does not reach as far as an Int64.
    static func clamped(_ ms: Int64) -> Int64 {
        min(max(ms, UTC.plausible.lowerBound), UTC.plausible.upperBound)
    }
}
