public import Postgres

/// Connections to the tables of one schema: `drover`, or the one that a replay builds.
public enum Store {
    public static let liveSchema = "drover"

    /// Opens a session whose statements find the tables of `schema` and nobody else's.
    public static func connect(_ conninfo: String, schema: String = liveSchema) throws -> Connection {
        let connection = try Connection(conninfo: conninfo)
        try connection.query("SELECT set_config('search_path', quote_ident($1), false)", [.text(schema)])
        return connection
    }

    /// A session for a lane's commits. After an error it is given up: what it remembers may be gone.
    package static func connectForWriting(_ conninfo: String, schema: String = liveSchema) throws -> Connection {
        let connection = try connect(conninfo, schema: schema)
        // A worker that stands still in the middle of a commit must not keep its partitions' rows locked for ever.
        try connection.execute("SET idle_in_transaction_session_timeout = '30s'")
        return connection
    }
}
