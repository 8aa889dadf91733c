internal import Alerts
internal import Codecs
package import Formats
package import Postgres

/// Events told of accounts' alerts, in the order of their ids (`drover.alert_event`).
package enum AlertEventStore {
    package static let channel = "drover_alert_event"

    package struct Event: Sendable {
        package let id: Int64
        package let account: String
        /// The record of drover.alerts in the account's units.
        package let json: String
    }

    /// The events of these accounts after an id, oldest first.
    package static func after(
        _ id: Int64, of accounts: [String], rowsMax: Int, on connection: Connection
    ) throws -> [Event] {
        let rows = try connection.query(
            """
            SELECT event_id, account, record FROM drover.alert_event
            WHERE account = ANY ($1) AND event_id > $2 ORDER BY event_id LIMIT $3
            """, [.textArray(accounts), .int8(id), .int8(rowsMax)])
        var units: [String: DriverSettings.Units] = [:]
        return try rows.map { row in
            let account = try row.text("account")!
            if units[account] == nil { units[account] = try unitsOf(account, on: connection) }
            return Event(
                id: Int64(try row.int("event_id")!), account: account,
                json: try shown(row.text("record")!, units[account]!))
        }
    }

    /// The last id there is; 0 before the first.
    package static func lastID(on connection: Connection) throws -> Int64 {
        Int64(try connection.query("SELECT coalesce(max(event_id), 0) FROM drover.alert_event")[0].int(0)!)
    }

    /// The account's alerts as JSON objects, open ones first, then the latest.
    package static func alerts(
        of account: String, all: Bool, rowsMax: Int64, on connection: Connection
    ) throws -> [JSONValue] {
        let units = try unitsOf(account, on: connection)
        return try connection.query(
            """
            SELECT json_strip_nulls(json_build_object(
                'alert', a.alert_id, 'vehicle', a.vehicle, 'vehicle_name', r.name, 'parameter', a.parameter,
                'unit', a.unit, 'severity', a.severity, 'state', a.state, 'test', a.test, 'threshold', a.threshold,
                'opening_value', a.opening_value, 'worst_value', a.worst_value,
                'since', a.since_at, 'opened', a.opened_at, 'worst', a.worst_at, 'resolved', a.resolved_at,
                'advice', a.advice, 'acknowledged_by', a.acknowledged_by))::text
            FROM drover.alert_now a LEFT JOIN drover.registration r ON r.kind = 'car' AND r.vehicle = a.vehicle
            WHERE a.kind = 'car' AND a.account = $1 AND a.state <> 'withdrawn' AND ($2 OR a.state = 'open')
            ORDER BY a.state = 'open' DESC, a.opened_at DESC, a.alert_id LIMIT $3
            """, [.text(account), .bool(all), .int8(rowsMax)]
        ).map { row in
            .object(ShownAlert.fields(try FlatJSON.fields(Array(row.text(0)!.utf8), bytesMax: 100_000), in: units))
        }
    }

    private static func unitsOf(_ account: String, on connection: Connection) throws -> DriverSettings.Units {
        try AccountStore.settings(of: account, on: connection)?.settings.units ?? .us
    }

    private static func shown(_ record: String, _ units: DriverSettings.Units) throws -> String {
        let fields = try FlatJSON.fields(Array(record.utf8), bytesMax: 100_000)
        return JSONValue.object(ShownAlert.fields(fields, in: units)).rendered()
    }
}
