internal import CLibpq

extension Connection {
    /// Runs `body` between BEGIN and COMMIT, or rolls back and throws on.
    ///
    /// A lost connection during COMMIT throws with `isOutcomeUnknown`: the caller reads back whether it happened.
    /// - Parameter begin: for another isolation level or read-only, e.g. `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`.
    @discardableResult
    package func transaction<R>(_ begin: String = "BEGIN", _ body: () throws -> R) throws -> R {
        precondition(!isInTransaction, "a transaction within a transaction")
        try execute(begin)
        let value: R
        do {
            value = try body()
        } catch {
            rollBack()
            throw error
        }
        try commit()
        return value
    }

    /// Runs `body` on one state of the database: in the transaction that is open, or in one of its own that only reads.
    package func snapshot<R>(_ body: () throws -> R) throws -> R {
        isInTransaction ? try body() : try transaction(Connection.beginSnapshot, body)
    }

    package static let beginSnapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    private func commit() throws {
        let result = unsafe PQexec(handle, "COMMIT")
        defer { unsafe PQclear(result) }

        guard unsafe PQresultStatus(result) == PGRES_COMMAND_OK else {
            var error = unsafe PostgresError.of(result, on: handle)
            // With a SQLSTATE (deferred constraint, serialization) the server has reported that the commit failed.
            error.isOutcomeUnknown = error.isConnectionLost
            rollBack()
            throw error
        }
        // The server answers COMMIT of a failed transaction with a friendly ROLLBACK. It is no success.
        guard unsafe String(cString: PQcmdStatus(result)) == "COMMIT" else {
            throw PostgresError(
                sqlState: "25P02", message: "the transaction was rolled back because a statement in it failed")
        }
    }

    /// The error that led here matters more than one of ROLLBACK; a connection that cannot roll back is lost, and the
    /// server rolls back by itself.
    private func rollBack() {
        if isOpen, isInTransaction { _ = try? execute("ROLLBACK") }
    }
}
