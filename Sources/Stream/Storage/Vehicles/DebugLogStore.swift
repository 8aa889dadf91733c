internal import Codecs
package import Fleet
package import Postgres

/// Debug logs of boxes, as they were fetched.
package enum DebugLogStore {
    /// As the table has it.
    package static let bytesMax = 16 << 20
    /// The number of logs of one vehicle; the oldest go first.
    package static let keptMax = 50

    /// Returns its id.
    package static func add(_ log: [UInt8], of vehicle: VehicleID, on connection: Connection) throws -> Int {
        let text = DebugLogText(log)
        let time = { (ms: Int64?) -> Parameter in ms.map { .timestampMs($0) } ?? .null }
        return try connection.transaction {
            let rows = try connection.query(
                """
                INSERT INTO drover.debug_log (vehicle, log, first_at, last_at, error_lines, warning_lines, info_lines,
                    debug_lines, other_lines)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING debug_log_id
                """,
                [.text(vehicle.text), .bytes(log), time(text.span?.lowerBound), time(text.span?.upperBound)]
                    + DebugLogText.Level.allCases.map { .int4(Int32(text.count($0))) })
            try connection.query(
                """
                DELETE FROM drover.debug_log WHERE vehicle = $1 AND debug_log_id <= (
                    SELECT debug_log_id FROM drover.debug_log WHERE vehicle = $1
                    ORDER BY debug_log_id DESC OFFSET $2 LIMIT 1)
                """, [.text(vehicle.text), .int8(keptMax)])
            return try rows[0].int("debug_log_id")!
        }
    }

    /// Nil: there is no such log of this vehicle, or nobody who asks sees it.
    package static func read(_ id: Int, of vehicle: String, on connection: Connection) throws -> [UInt8]? {
        try connection.query(
            "SELECT log FROM drover.debug_log WHERE debug_log_id = $1 AND vehicle = $2", [.int8(id), .text(vehicle)]
        ).first.flatMap { try $0.bytes("log") }
    }

    /// Nil: there is no such log.
    package static func read(_ id: Int, on connection: Connection) throws -> [UInt8]? {
        try connection.query("SELECT log FROM drover.debug_log WHERE debug_log_id = $1", [.int8(id)]).first
            .flatMap { try $0.bytes("log") }
    }
}
