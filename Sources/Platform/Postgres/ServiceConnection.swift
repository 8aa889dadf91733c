extension Connection {
    /// A session of a long-running process. A statement that waits for a lock, or runs, longer than this fails, and the thread goes on:
    /// nobody with a login of their own can bring a server to a halt. `SET LOCAL` gives a statement more.
    package static func ofService(
        conninfo: String, connectTimeoutS: Int = 10, applicationName: String = "drover", lockS: Int = 10,
        statementS: Int = 60
    ) throws -> Connection {
        let connection = try Connection(
            conninfo: conninfo, connectTimeoutS: connectTimeoutS, applicationName: applicationName)
        try connection.execute(
            "SET lock_timeout = '\(lockS)s'; SET statement_timeout = '\(statementS)s'; "
                // Look-ups of many rows by key look dear: to compile them takes ten times as long as to run them.
                + "SET jit = off")
        return connection
    }
}
