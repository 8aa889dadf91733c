package import Alerts
package import Fleet
package import Pipeline
package import Postgres
internal import Wire

/// What drivers' alerts are judged from, and the alerts, in PostgreSQL. All within the transaction that writes what asked
/// for it, so that it sees those rows. Decides nothing.
package enum DriverAlertStore {
    static let codes = "'Trouble Code %'"

    // MARK: Judging

    /// Of the car's latest stored reading; nil: there is none.
    package static func lastMs(of vehicle: VehicleID, on connection: Connection) throws -> Int64? {
        try connection.query(
            "SELECT end_at FROM trip WHERE vehicle = $1 ORDER BY start_at DESC LIMIT 1", [.text(vehicle.text)]
        ).first?.timestampMs(0)
    }

    /// Since when something of the car is open, however long ago it was left; nil: nothing is.
    package static func openSinceMs(of vehicle: VehicleID, on connection: Connection) throws -> Int64? {
        try connection.query(
            """
            SELECT min(opened_at) FROM alert
            WHERE vehicle = $1 AND kind = 'car' AND state = 'open' AND parameter NOT LIKE \(codes)
            """, [.text(vehicle.text)])[0].timestampMs(0)
    }

    /// The first stretch that ends at `fromMs` or later and begins before `untilMs`, both with what is within reach. One
    /// after the other they are judged: a span of years must not be in memory at once.
    ///
    /// - Parameters:
    ///   - open: readings of the open minute, which may not be stored yet.
    ///   - borderMs: where their trip begins, if the drive began before.
    /// - Returns: nil when there is none.
    package static func stretch(
        of vehicle: VehicleID, fromMs: Int64, untilMs: Int64, open: [CarReading], borderMs: Int64? = nil,
        on connection: Connection
    ) throws -> DriverStretch? {
        if let stretch = try stretch(of: vehicle, at: fromMs, open: open, borderMs, on: connection) { return stretch }
        let next = try connection.query(
            "SELECT min(start_at) FROM trip WHERE vehicle = $1 AND start_at BETWEEN $2 AND $3",
            [.text(vehicle.text), .timestampMs(clamped(fromMs)), .timestampMs(clamped(untilMs))])[0].timestampMs(0)
        let inMemory = open.first { $0.ts >= fromMs && $0.ts <= untilMs }?.ts
        return try [next, inMemory].compactMap { $0 }.min().flatMap {
            try stretch(of: vehicle, at: $0, open: open, borderMs, on: connection)
        }
    }

    private static func stretch(
        of vehicle: VehicleID, at ms: Int64, open: [CarReading], _ borderMs: Int64?, on connection: Connection
    ) throws -> DriverStretch? {
        let atMs = clamped(ms)
        var (fromMs, toMs) = (atMs, atMs)
        // The borders around it, as far as they are known.
        var (firstMs, nextMs) = (Int64.min, Int64.max)
        if let borderMs, borderMs <= atMs { firstMs = borderMs } else { nextMs = borderMs ?? .max }
        var (isFound, isGrowing) = (false, true)
        while isGrowing {
            let (beforeMs, afterMs) = (fromMs, toMs)
            let row = try connection.query(
                """
                SELECT min(start_at) AS from_at, max(end_at) AS to_at,
                    max(start_at) FILTER (WHERE from_before AND start_at <= $4) AS first_at,
                    min(end_at) FILTER (WHERE goes_on AND end_at > $4) AS next_at
                FROM trip
                WHERE vehicle = $1 AND start_at <= $3 AND end_at >= $2 AND start_at >= coalesce((
                    SELECT max(earlier.start_at) FROM trip earlier
                    WHERE earlier.vehicle = $1 AND earlier.start_at <= $2), $2)
                """,
                [
                    .text(vehicle.text), .timestampMs(clamped(max(fromMs - DriverWatch.reachMs, firstMs))),
                    .timestampMs(clamped(min(toMs + DriverWatch.reachMs, nextMs - 1))), .timestampMs(atMs),
                ])[0]
            firstMs = max(firstMs, try row.timestampMs("first_at") ?? .min)
            nextMs = min(nextMs, try row.timestampMs("next_at") ?? .max)
            if let tripFromMs = try row.timestampMs("from_at"), let tripToMs = try row.timestampMs("to_at") {
                (fromMs, toMs, isFound) = (min(fromMs, tripFromMs), max(toMs, tripToMs), true)
            }
            if let first = open.first?.ts, let last = open.last?.ts, first <= toMs + DriverWatch.reachMs,
                last >= fromMs - DriverWatch.reachMs, first < nextMs, last >= firstMs
            {
                (fromMs, toMs, isFound) = (min(fromMs, first), max(toMs, last), true)
            }
            (fromMs, toMs) = (max(fromMs, firstMs), min(toMs, nextMs - 1))
            isGrowing = (beforeMs, afterMs) != (fromMs, toMs)
        }
        guard isFound else { return nil }
        // The trip's row may not know yet that the drive goes on.
        let goesOn = nextMs != .max && toMs + DriverWatch.reachMs >= nextMs
        if goesOn { toMs = nextMs - 1 }
        let span = fromMs...toMs
        let readings = try readings(of: vehicle, fromMs, toMs, on: connection) + open.filter { span.contains($0.ts) }
        let later = try connection.query(
            "SELECT EXISTS (SELECT FROM trip WHERE vehicle = $1 AND start_at > $2)",
            [.text(vehicle.text), .timestampMs(toMs)])[0].bool(0)!
        return DriverStretch(
            fromMs: fromMs, toMs: toMs, readings: readings.unioned(),
            isFollowed: later || open.contains { $0.ts > toMs }, goesOn: goesOn)
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

    /// What was told of a car's values in a span.
    package static func told(
        of vehicle: VehicleID, fromMs: Int64, toMs: Int64, on connection: Connection
    ) throws -> ToldAlerts {
        try told(
            "parameter NOT LIKE \(codes) AND (opened_at BETWEEN $2 AND $3 OR first_opened_at BETWEEN $2 AND $3)",
            [.text(vehicle.text), .timestampMs(clamped(fromMs)), .timestampMs(clamped(toMs))], on: connection)
    }

    /// What is told as open of the values of a partition's cars.
    package static func open(partition: Int32, on connection: Connection) throws -> [VehicleID: [ToldAlert]] {
        let alerts = try connection.query(
            """
            SELECT \(MachineStore.alert.columns.map { "a.\($0)" }.joined(separator: ", "))
            FROM alert a JOIN vehicle v ON v.kind = 'car' AND v.vehicle = a.vehicle
            WHERE a.kind = 'car' AND a.state = 'open' AND a.parameter NOT LIKE \(codes) AND v.topic_partition = $1
            ORDER BY a.opened_at, a.alert_id
            """, [.int4(partition)]
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
