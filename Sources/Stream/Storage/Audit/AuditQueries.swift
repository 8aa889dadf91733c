package import Postgres

/// The audit log for who owns the database.
package enum AuditQueries {
    package struct Filter: Sendable {
        package var account: String?
        package var actions: [String] = []
        package var sinceMs, untilMs: Int64?
        /// Only behind this one.
        package var after: Int64?
        package init() {}

        var values: [Parameter] {
            [
                .text(account), .textArray(actions), sinceMs.map { .timestampMs($0) } ?? .null,
                untilMs.map { .timestampMs($0) } ?? .null, after.map { .int8($0) } ?? .null,
            ]
        }
        static let condition = """
            ($1::text IS NULL OR $1 IN (a.said, s.said)) AND ($2::text[] = '{}' OR e.action = ANY ($2))
            AND ($3::timestamptz IS NULL OR e.at >= $3) AND ($4::timestamptz IS NULL OR e.at < $4)
            AND ($5::bigint IS NULL OR e.sequence > $5)
            """
    }

    /// The oldest first; with `newest` the last `limit` of them, else the first.
    package static func entries(
        _ filter: Filter, newest: Bool, limit: Int64, on connection: Connection
    ) throws -> [AuditEntry] {
        let entries = try connection.query(
            """
            SELECT \(AuditEntry.columns) FROM \(AuditEntry.tables) WHERE \(Filter.condition)
            ORDER BY e.sequence \(newest ? "DESC" : "ASC") LIMIT $6
            """, filter.values + [.int8(limit)]
        ).map { try AuditEntry($0) }
        return newest ? entries.reversed() : entries
    }

    /// Where the chain ends.
    package struct Head: Equatable, Sendable {
        package let sequence: Int64
        package let hash: [UInt8]
    }

    package static func head(on connection: Connection) throws -> Head {
        let row = try connection.query("SELECT sequence, hash FROM drover.audit_head")[0]
        return Head(sequence: Int64(try row.int("sequence")!), hash: try row.bytes("hash")!)
    }
}
