package import Postgres

/// An operation that takes effect outside the database, on the log or in files: nothing can undo it, so its entry is committed before it is done, and
/// what then came to nothing has another that says so.
package struct AuditedOperation: Sendable {
    package enum Outcome: String, Sendable {
        case failed
        /// The broker has not said that it is on the log; it may be.
        case unconfirmed
    }

    private let action: AuditAction
    private let actor, subject, remote: String?
    private let detail: AuditLog.Detail

    /// As of `AuditLog.record`.
    package init(
        _ action: AuditAction, by actor: String?, about subject: String? = nil, from remote: String? = nil,
        _ detail: AuditLog.Detail
    ) {
        self.action = action
        self.actor = actor
        self.subject = subject
        self.remote = remote
        self.detail = detail
    }

    /// Writes the entry; an operation whose entry cannot be written is not done. Call it last in a transaction, and do it when that is committed.
    package func tell(on connection: Connection) throws {
        try AuditLog.record(action, by: actor, about: subject, from: remote, detail, on: connection)
    }

    /// Adds an entry of what became of the operation that was told before and is not done.
    package func tell(_ outcome: Outcome, on connection: Connection) throws {
        try AuditLog.record(
            action, by: actor, about: subject, from: remote, detail + [("outcome", outcome.rawValue)], on: connection)
    }

    /// Precondition: the connection is in no transaction.
    package func run<R>(on connection: Connection, _ deed: () throws -> R) throws -> R {
        try tell(on: connection)
        do { return try deed() } catch {
            // Why it failed is what somebody must hear; the entry is there.
            try? tell(.failed, on: connection)
            throw error
        }
    }
}
