internal import Postgres

/// Transactions that a migration could not get past: an analyst's that idles for hours is enough.
enum MigrationLocks {
    /// A transaction that holds locks on our tables.
    struct Holder: Hashable {
        let pid: Int
        let transaction, login, program: String
        /// Empty: the owner may not see it of this login.
        let since: String

        var text: String {
            "pid \(pid), login \(login)" + (program.isEmpty ? "" : ", \(program)")
                + (since.isEmpty ? "" : ", in a transaction since \(since)")
        }
    }

    /// Two migrations that lock in another order than a transaction does meet in a deadlock, too.
    static func isInTheWay(_ error: PostgresError) -> Bool {
        !error.isConnectionLost && [PostgresError.lockNotAvailable, "40P01"].contains(error.sqlState)
    }

    /// Without the relay, which keeps its turn as long as it lives (`relay_turn`): it is in nobody's way, and stood first.
    static func holders(on connection: Connection) throws -> [Holder] {
        try connection.query(
            """
            SELECT DISTINCT l.pid, l.virtualtransaction, coalesce(a.usename::text, '?') AS login, coalesce(a.application_name, '') AS program,
                coalesce(to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), '') AS since
            FROM pg_locks l JOIN pg_class c ON c.oid = l.relation LEFT JOIN pg_stat_activity a ON a.pid = l.pid
            WHERE l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND c.relnamespace = 'drover'::regnamespace AND c.relname <> 'relay_turn' AND l.pid <> pg_backend_pid()
            ORDER BY since, l.pid LIMIT 100
            """
        ).map { row in
            Holder(
                pid: try row.int("pid")!, transaction: try row.text("virtualtransaction")!,
                login: try row.text("login")!,
                program: try row.text("program")!, since: try row.text("since")!)
        }
    }

    /// Said once, while it is tried again.
    static func waiting(_ file: String, _ holders: [Holder], _ patience: Migrator.Patience) -> String {
        let seconds = (patience.lockMs + patience.restMs) * Int64(patience.tries) / 1_000
        let shown = holders.prefix(5).map(\.text).joined(separator: "; ")
        return "\(file): waits for transactions that hold locks on the tables, for \(seconds) s at most: "
            + (shown.isEmpty ? "they follow each other" : shown)
    }

    /// - Parameter holders: who was there throughout.
    static func advice(_ file: String, _ holders: [Holder]) -> String {
        let head = "\(file): was not applied, nothing of it: "
        guard !holders.isEmpty else {
            return head + "other transactions on the tables followed each other without a gap. "
                + "Run drover migrate again when less is going on"
        }
        let shown = holders.prefix(5).map(\.text).joined(separator: "; ")
        return head + "transactions hold locks on the tables and do not end: \(shown). Let them be ended, or end them "
            + "(SELECT pg_terminate_backend(\(holders[0].pid)), as a superuser or their own login), and run drover migrate again"
    }
}
