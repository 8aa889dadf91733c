internal import Postgres
internal import Telemetry

/// The session with PostgreSQL that clients of services share within a thread. It comes back by itself, and never keeps
/// its caller for longer than a few seconds.
package final class SharedDatabase {
    private static let againMs: Int64 = 5_000

    private let conninfo: String
    private var connection: Connection?
    private var tryAgainMs: Int64 = 0

    package init(conninfo: String) { self.conninfo = conninfo }

    func run<T>(_ service: String, _ body: (Connection) throws -> T) throws(ServiceError) -> T {
        do {
            let open = try connect(service)
            do { return try body(open) } catch let error as PostgresError {
                if error.isConnectionLost { connection = nil }
                throw error
            }
        } catch let error as ServiceError {
            throw error
        } catch {
            throw ServiceError(service, .database, "PostgreSQL does not count or keep: \(error)")
        }
    }

    private func connect(_ service: String) throws -> Connection {
        if let connection { return connection }
        guard Clock.steadyMs() >= tryAgainMs else {
            throw ServiceError(service, .database, "PostgreSQL is away: it is asked nothing until that is back")
        }
        tryAgainMs = Clock.steadyMs() + SharedDatabase.againMs
        let made = try Connection(conninfo: conninfo, connectTimeoutS: 2, applicationName: "drover-outside")
        // Others hold the row of a service for a moment only.
        try made.execute("SET statement_timeout = '3s'; SET lock_timeout = '2s'")
        connection = made
        return made
    }
}
