internal import Foundation
internal import Observe
internal import Postgres
internal import Synchronization

/// A thread of its own with a session that listens to one channel. It comes back by itself when the session is lost.
final class DatabaseListener: Sendable {
    static let waitMs: Int32 = 250
    /// It looks that often without being told: a full queue of notifications swallows them
    /// (Queries/migrations/0065_logins.sql).
    static let pollMs: Int64 = 1_000
    /// Between two looks that were told for, however many tell: every login of the database may `NOTIFY`.
    private static let restS = 0.005

    private let name, channel, conninfo, trouble: String
    private let log: Log
    private let isStopped = Atomic(false)
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter trouble: what does not work while the session is lost, for the log.
    init(name: String, channel: String, conninfo: String, trouble: String, log: Log) {
        (self.name, self.channel, self.conninfo) = (name, channel, conninfo)
        (self.trouble, self.log) = (trouble, log)
    }

    /// To be called once.
    /// - Parameters:
    ///   - waitMs: the longest time between two looks, asked before each.
    ///   - away: called a few times a second while there is no session.
    ///   - look: called with whether there may be news: it was told so, a session begins, or nobody has looked for a
    ///     while. Anybody may tell, and anything: what is true stands in the tables. What it throws ends the session.
    func start(
        waitMs: @escaping @Sendable () -> Int32 = { DatabaseListener.waitMs },
        away: @escaping @Sendable () -> Void = {},
        look: @escaping @Sendable (Connection, _ isNews: Bool) throws -> Void
    ) {
        // The thread keeps what it calls alive until it is stopped.
        Threads.start(name) { [self] in
            run(waitMs, away, look)
            ended.signal()
        }
    }

    /// Waits for the end of the thread. To be called once, after `start`.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        ended.wait()
    }

    private func run(
        _ waitMs: () -> Int32, _ away: () -> Void, _ look: (Connection, Bool) throws -> Void
    ) {
        var backOffMs = 250
        while !isStopped.load(ordering: .relaxed) {
            do {
                let connection = try Connection(
                    conninfo: conninfo, connectTimeoutS: 2, applicationName: "drover \(name)")
                try connection.execute("SET lock_timeout = '2s'; SET statement_timeout = '5s'; LISTEN \(channel)")
                backOffMs = 250
                try serve(connection, waitMs, look)
            } catch {
                log.warning(trouble, ["error": "\(error)", "retry_in_ms": "\(backOffMs)"])
                pause(backOffMs, away)
                backOffMs = min(backOffMs * 2, 5_000)
            }
        }
    }

    private func serve(
        _ connection: Connection, _ waitMs: () -> Int32, _ look: (Connection, Bool) throws -> Void
    ) throws {
        var lookedMs = Clock.steadyMs()
        try look(connection, true)
        while !isStopped.load(ordering: .relaxed) {
            let isTold = try !connection.notifications(timeoutMs: waitMs()).isEmpty
            let isNews = isTold || Clock.steadyMs() - lookedMs >= DatabaseListener.pollMs
            if isNews { lookedMs = Clock.steadyMs() }
            try look(connection, isNews)
            if isTold { Thread.sleep(forTimeInterval: DatabaseListener.restS) }
        }
    }

    private func pause(_ ms: Int, _ away: () -> Void) {
        let endMs = Clock.steadyMs() + Int64(ms)
        repeat {
            away()
            Thread.sleep(forTimeInterval: 0.1)
        } while Clock.steadyMs() < endMs && !isStopped.load(ordering: .relaxed)
    }
}
