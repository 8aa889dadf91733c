internal import Postgres
internal import Storage
internal import Telemetry

/// One thread and one session that hear of the workers' commits: for requests that wait for a decision, and for streams.
/// `drover.assignments` says the same a relay later; its rows would have to be read here anyway (decision 13).
final class CommitListener: Sendable {
    /// While somebody waits: a commit that was heard of before its record's place was known must not lie about.
    private static let waitMs: Int32 = 25

    private let listener: DatabaseListener
    let waits = CommitWaiters()
    let streams: RideStreams

    /// - Parameter sign: told of people who listen to a stream: their signs of life.
    init(conninfo: String, log: Log, sign: @escaping @Sendable (RideStreams.Subject, _ signMs: Int64) -> Void) {
        streams = RideStreams(sign: sign)
        listener = DatabaseListener(
            name: "campus-watch", channel: RideQueries.channel, conninfo: conninfo,
            trouble: "decisions do not reach riders' and drivers' apps", log: log)
        // The thread keeps this alive until it is stopped.
        listener.start(
            waitMs: { [self] in waits.isEmpty ? DatabaseListener.waitMs : CommitListener.waitMs },
            away: { [self] in waits.settle(on: nil) },
            look: { [self] connection, isNews in try look(connection, isNews) })
    }

    /// Call once.
    func stop() {
        listener.stop()
        streams.stop()
    }

    private func look(_ connection: Connection, _ isNews: Bool) throws {
        if isNews { waits.found(try RideQueries.progress(on: connection)) }
        waits.settle(on: connection)
        try streams.look(connection, isNews: isNews)
    }
}
