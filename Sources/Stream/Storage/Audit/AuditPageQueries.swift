package import Postgres

/// The audit log for administrators' pages, through `drover.audit_shown`: who is none gets nothing.
/// Precondition: `RowSecurity.apply` in this transaction.
package enum AuditPageQueries {
    package struct Question: Sendable {
        package var account, action: String?
        package var sinceMs, untilMs: Int64?
        /// Only below this number, or only above that one.
        package var before, after: Int64?
        package init() {}

        /// Parameters of both functions.
        var filters: [Parameter] {
            [
                .text(account), action.map { .textArray([$0]) } ?? .null, sinceMs.map { .timestampMs($0) } ?? .null,
                untilMs.map { .timestampMs($0) } ?? .null,
            ]
        }
    }

    package struct Line: Sendable {
        package let sequence, atMs: Int64
        package let action: String
        /// Nil: nobody, or erased.
        package let actor, subject, remote: String?
        package let detail: String
    }

    /// The newest first.
    package static func lines(_ question: Question, limit: Int, on connection: Connection) throws -> [Line] {
        try connection.query(
            "SELECT * FROM drover.audit_shown($1, $2, $3, $4, $5, $6)",
            question.filters + [question.before.map { .int8($0) } ?? .null, .int4(Int32(limit))]
        ).map { row in
            Line(
                sequence: Int64(try row.int("sequence")!), atMs: try row.timestampMs("at")!,
                action: try row.text("action")!, actor: try row.text("actor"), subject: try row.text("subject"),
                remote: try row.text("remote"), detail: try row.text("detail")!)
        }
    }

    /// False: the reader may not read the log and gets no entries, whatever is asked.
    package static func isRead(on connection: Connection) throws -> Bool {
        try connection.query("SELECT drover.audit_is_read()")[0].bool(0)!
    }

    /// The oldest first, from the entry behind `after` on.
    package static func entries(
        _ question: Question, limit: Int64, on connection: Connection
    ) throws -> [AuditEntry] {
        try connection.query(
            "SELECT * FROM drover.audit_listed($1, $2, $3, $4, $5, $6)",
            question.filters + [question.after.map { .int8($0) } ?? .null, .int4(Int32(limit))]
        ).map { try AuditEntry($0) }
    }
}
