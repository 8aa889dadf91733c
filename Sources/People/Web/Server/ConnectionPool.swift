internal import Postgres
internal import Synchronization

/// Sessions with PostgreSQL for the threads of a server: a few are kept for the next request; more requests at a time
/// open more and close them again.
final class ConnectionPool: Sendable {
    private let conninfo: String
    private let idleMax: Int
    private let idle = Mutex<[Idle]>([])

    /// A connection that no thread uses. It moves from one thread to the next through the mutex, one at a time.
    private struct Idle: @unchecked Sendable { let connection: Connection }

    init(conninfo: String, idleMax: Int = 4) { (self.conninfo, self.idleMax) = (conninfo, idleMax) }

    /// Without a round trip. The second look finds the end behind what the server said last.
    private static func seemsOpen(_ connection: Connection) -> Bool {
        (0..<2).allSatisfy { _ in (try? connection.notifications(timeoutMs: 0)) != nil }
    }

    /// Lends a connection. One that failed is not kept: the next request opens a new one.
    func withConnection<R>(_ body: (Connection) throws -> R) throws -> R {
        var kept = idle.withLock { $0.popLast() }
        // One that died while it waited is replaced; a request must not pay for a restart of the server.
        if let waiting = kept, !ConnectionPool.seemsOpen(waiting.connection) { kept = nil }
        // The server has few threads: one that waits for a lock gives up soon.
        let connection = try kept?.connection ?? Connection.ofService(conninfo: conninfo, lockS: 5)
        let result = try body(connection)
        let back = Idle(connection: connection)
        idle.withLock { if $0.count < idleMax { $0.append(back) } }
        return result
    }
}
