package import Postgres

/// Connections to the tables of one schema: `drover`, or the one that a replay builds.
package enum SchemaConnection {
    package static let liveSchema = "drover"

    /// Opens a session whose statements find the tables of `schema` and nobody else's.
    package static func connect(_ conninfo: String, schema: String = liveSchema) throws -> Connection {
        let connection = try Connection(conninfo: conninfo)
        try connection.query("SELECT set_config('search_path', quote_ident($1), false)", [.text(schema)])
        return connection
    }

    /// The same for statements of one transaction that others have begun.
    package static func findTablesInTransaction(on connection: Connection) throws {
        try connection.execute("SET LOCAL search_path TO drover, pg_catalog")
    }

    /// A session for a lane's commits. After an error it is given up: what it remembers may be gone.
    package static func connectForWriting(_ conninfo: String, schema: String = liveSchema) throws -> Connection {
        let connection = try connect(conninfo, schema: schema)
        // A worker that stands still amid a commit must not keep its partitions' rows locked for ever. Its other sessions may wait
        // behind that one: they must not get its locks in turn, 30 s each, before somebody who works does.
        try connection.execute(
            "SET idle_in_transaction_session_timeout = '\(standingStillS)s'; "
                + "SET lock_timeout = '\(standingStillS / 3)s'; SET statement_timeout = '\(statementS)s'; "
                // Look-ups of many rows by key: to compile them takes longer than to run them.
                + "SET jit = off")
        return connection
    }

    private static let standingStillS = 30
    /// A taxonomy makes the rows of all surveys again; a commit takes milliseconds.
    private static let statementS = 600

    /// Ends sessions of writers that wait for the rest of a COPY for longer than a commit may stand still: to PostgreSQL they are busy,
    /// and no time-out of its own ends them. Who waited in vain for a lock calls it; returns how many there were.
    package static func endStalledSessions(_ conninfo: String) throws -> Int {
        try connect(conninfo).query(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE usename = current_user AND datname = current_database() AND state = 'active' AND wait_event = 'ClientRead'
                AND query LIKE 'COPY stage\\_%' AND query_start < clock_timestamp() - make_interval(secs => $1)
            """, [.float8(Double(standingStillS))]
        ).count
    }
}
