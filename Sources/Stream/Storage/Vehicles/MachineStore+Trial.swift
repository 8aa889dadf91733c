package import Alerts
package import Fleet
package import Postgres

/// Reads what a page needs that tries a rule: little of each reading, and only of some days.
extension MachineStore {
    /// Readings in the order of their times, with these parameters only: a tenth of each row.
    package static func readings(
        of vehicle: VehicleID, only wanted: Set<MachineParameter>, spanMs: Range<Int64>, rowsMax: Int,
        on connection: Connection
    ) throws -> [MachineReading] {
        let parameters = parameters.filter { wanted.contains($0.parameter) }
        return try connection.query(
            """
            SELECT read_at, model, is_reporting, is_partial, \(parameters.map(\.column).joined(separator: ", ")) FROM machine_reading
            WHERE vehicle = $1 AND read_at >= $2 AND read_at < $3 ORDER BY read_at LIMIT $4
            """, [.text(vehicle.text), from(spanMs.lowerBound), from(spanMs.upperBound), .int8(Int64(rowsMax))]
        ).map { row in
            var reading = MachineReading(
                vehicle: vehicle, ts: try row.timestampMs("read_at")!, id: "", model: try row.text("model")!)
            for (parameter, column) in parameters { reading.values[parameter] = try value(parameter, column, row) }
            reading.isReporting = try row.bool("is_reporting")!
            reading.isPartial = try row.bool("is_partial")!
            return reading
        }
    }

    /// The last reading before the span, not older than `oldestMs`, whose value is at `limit` or on its good side: no alert of it is open
    /// then, whatever was before. Nil: none, or the parameter has no such value.
    package static func calmMs(
        of vehicle: VehicleID, _ parameter: MachineParameter, _ test: Threshold.Test, limit: Int64, beforeMs: Int64,
        oldestMs: Int64, on connection: Connection
    ) throws -> Int64? {
        guard parameter != .contact, test != .shown,
            let column = parameters.first(where: { $0.parameter == parameter })?.column
        else { return nil }
        let value: String
        switch parameter.row.kind {
        case .number, .count: value = column
        case .flag: value = "\(column)::int"
        case .time: return nil
        }
        return try connection.query(
            """
            SELECT read_at FROM machine_reading WHERE vehicle = $1 AND read_at < $2 AND read_at >= $3
                AND \(value) \(test == .below ? ">=" : "<=") $4
            ORDER BY read_at DESC LIMIT 1
            """,
            [.text(vehicle.text), from(beforeMs), from(oldestMs), .float8(Double(limit) / 1_000)]
        ).first.flatMap { try $0.timestampMs("read_at") }
    }

    /// Those that were open at some time since then, the latest `rowsMax`.
    package static func alerts(
        of vehicle: VehicleID, _ parameter: MachineParameter, openSinceMs: Int64, rowsMax: Int,
        on connection: Connection
    ) throws -> [Episode] {
        try connection.query(
            """
            SELECT \(alert.columns.joined(separator: ", ")) FROM alert
            WHERE vehicle = $1 AND kind = 'machine' AND state <> 'withdrawn' AND (resolved_at IS NULL OR resolved_at > $2)
                AND parameter = ANY ($3::text[])
            ORDER BY opened_at DESC, alert_id LIMIT $4
            """,
            [
                .text(vehicle.text), from(openSinceMs), .textArray(ThresholdField.names(of: parameter)),
                .int8(Int64(rowsMax)),
            ]
        ).map { try toldAlert($0).episode }.filter { $0.parameter == parameter }
    }
}
