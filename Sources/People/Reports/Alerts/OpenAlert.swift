package import Alerts
internal import Basics
internal import Codecs
package import Fleet
internal import Formats
package import Postgres

/// An open alert with its handling: who has seen it, and until when it is silenced.
package struct OpenAlert: Sendable {
    package let alert: AlertRow
    package let id: String
    package let vehicleName: String?
    /// `of this machine` or `of model 8R Tractor`; nil: it is a car's, or its rule set is not on record.
    package let rule: String?
    package let acknowledgedBy: String?
    package let acknowledgedMs, silencedUntilMs: Int64?

    /// The worst first.
    /// - Parameters:
    ///   - kind: nil: both.
    ///   - vehicle: empty: of all.
    package static func read(
        ofKind kind: VehicleKind? = nil, _ vehicle: String = "", role: Audience, limit: Int64, _ queries: ReportQueries,
        on connection: Connection
    ) throws -> [OpenAlert] {
        try connection.query(
            queries["open_alerts"],
            [.text(vehicle), .textArray(role.seen.map(\.rawValue)), .int8(limit), .text(kind?.rawValue ?? "")]
        ).map(OpenAlert.init)
    }

    private init(_ row: Row) throws {
        alert = try AlertRow(row)
        id = try row.text("alert_id")!
        vehicleName = try row.text("vehicle_name")
        rule = try row.text("rule")
        acknowledgedBy = try row.text("acknowledged_by")
        acknowledgedMs = try row.timestampMs("acknowledged_at")
        silencedUntilMs = try row.timestampMs("silenced_until_at")
    }

    var json: JSONValue {
        func time(_ ms: Int64?) -> JSONValue { .optional(ms.map(UTC.text)) }
        let unit = alert.unit.allSatisfy(\.isWhitespace) ? nil : alert.unit
        return .object([
            ("alert", .text(id)), ("severity", .text(alert.severity.rawValue)), ("state", .text(alert.state.rawValue)),
            ("parameter", .text(alert.parameter)), ("since", time(alert.sinceMs)), ("opened", time(alert.openedMs)),
            ("worst_value", .number(alert.worstValue)), ("unit", .optional(unit)),
            ("recommended", .number(alert.recommended)), ("advice", .optional(alert.advice)),
            ("rule", .optional(rule)),
            ("acknowledged_by", .optional(acknowledgedBy)), ("acknowledged", time(acknowledgedMs)),
            ("silenced_until", time(silencedUntilMs)),
        ])
    }
}
