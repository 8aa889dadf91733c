internal import Postgres
internal import Telemetry
internal import Threads

/// A thread of its own with a session that listens to one channel. It comes back by itself when the session is lost.
final class DatabaseListener: Sendable {
    static let waitMs: Int32 = 250
    /// It looks that often without being told: a full queue of notifications swallows them
    /// (`drover.tell_outbox` and the like).
    static let pollMs: Int64 = 1_000
    /// Between two looks that were told for, however many tell: every login of the database may `NOTIFY`.
    private static let restMs = 5

    private static let backOffMs: ClosedRange<Int64> = 250...5_000

    private let name, channel, conninfo, trouble: String
    private let log: Log
    private let thread = WorkerThread()

    /// - Parameter trouble: what does not work while the session is lost, for the log.
    init(name: String, channel: String, conninfo: String, trouble: String, log: Log) {
        self.name = name
        self.channel = channel
        self.conninfo = conninfo
        self.trouble = trouble
        self.log = log
    }

    /// Call once.
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
        thread.start(name) { [self] _ in run(waitMs, away, look) }
    }

    /// Waits for the end of the thread. To be called once, after `start`.
    func stop() { thread.stop() }

    private func run(
        _ waitMs: () -> Int32, _ away: () -> Void, _ look: (Connection, Bool) throws -> Void
    ) {
        var backOff = BackOff(DatabaseListener.backOffMs)
        while !thread.isStopping {
            do {
                let connection = try Connection(
                    conninfo: conninfo, connectTimeoutS: 2, applicationName: "drover \(name)")
                try connection.execute("SET lock_timeout = '2s'; SET statement_timeout = '5s'")
                try connection.listen(to: channel)
                backOff.reset()
                try serve(connection, waitMs, look)
            } catch {
                log.warning(trouble, ["error": "\(error)", "retry_in_ms": "\(backOff.ms)"])
                pause(backOff.ms, away)
                backOff.lengthen()
            }
        }
    }

    private func serve(
        _ connection: Connection, _ waitMs: () -> Int32, _ look: (Connection, Bool) throws -> Void
    ) throws {
        var lookedMs = Clock.steadyMs()
        try look(connection, true)
        while !thread.isStopping {
            let isTold = try !connection.notifications(timeoutMs: waitMs()).isEmpty
            let isNews = isTold || Clock.steadyMs() - lookedMs >= DatabaseListener.pollMs
            if isNews { lookedMs = Clock.steadyMs() }
            try look(connection, isNews)
            if isTold { thread.pause(ms: DatabaseListener.restMs) }
        }
    }

    private func pause(_ ms: Int64, _ away: () -> Void) {
        let endMs = Clock.steadyMs() + ms
        repeat {
            away()
            thread.pause(ms: 100)
        } while Clock.steadyMs() < endMs && !thread.isStopping
    }
}
