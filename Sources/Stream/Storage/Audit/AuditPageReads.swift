public import Postgres

/// The audit log for administrators' pages, through `drover.audit_shown`: who is none gets nothing.
/// Precondition: `Sight.take` in this transaction.
public enum AuditPageReads {
    public struct Question: Sendable {
        public var account, action: String?
        public var sinceMs, untilMs: Int64?
        /// Only below this number, or only above that one.
        public var before, after: Int64?
        public init() {}

        /// Parameters of both functions.
        var filters: [Parameter] {
            [
                .text(account), action.map { .textArray([$0]) } ?? .null, sinceMs.map { .timestampMs($0) } ?? .null,
                untilMs.map { .timestampMs($0) } ?? .null,
            ]
        }
    }

    public struct Line: Sendable {
        public let sequence, atMs: Int64
        public let action: String
        /// Nil: nobody, or erased.
        public let actor, subject, remote: String?
        public let detail: String
    }

    /// The newest first.
    public static func lines(_ question: Question, limit: Int, on connection: Connection) throws -> [Line] {
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

    /// Whoever does not read it gets no entries, whatever is asked.
    public static func isRead(on connection: Connection) throws -> Bool {
        try connection.query("SELECT drover.audit_is_read()")[0].bool(0)!
    }

    /// The oldest first, from the entry behind `after` on.
    public static func entries(
        _ question: Question, limit: Int64, on connection: Connection
    ) throws -> [AuditEntry] {
        try connection.query(
            "SELECT * FROM drover.audit_listed($1, $2, $3, $4, $5, $6)",
            question.filters + [question.after.map { .int8($0) } ?? .null, .int4(Int32(limit))]
        ).map { try AuditEntry($0) }
    }
}
