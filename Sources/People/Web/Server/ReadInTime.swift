internal import Postgres

extension Connection {
    /// Reads within a transaction for so long at most; what comes after has the connection's own time again. Nil: it takes longer.
    func inTime<R>(ms: Int, _ read: () throws -> R) throws -> R? {
        try execute("SAVEPOINT asked; SET LOCAL statement_timeout = \(ms)")
        let found: R?
        do { found = try read() } catch let error as PostgresError where error.sqlState == "57014" { found = nil }
        // Either way: the time was the savepoint's, and nothing was written.
        try execute("ROLLBACK TO asked; RELEASE asked")
        return found
    }
}
