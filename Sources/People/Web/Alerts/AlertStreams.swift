internal import HTTPServer
internal import Postgres
internal import Storage
internal import Synchronization
package import Telemetry

/// Drivers' open pages and apps: an account's events go to all of its streams at once. A thread of its own waits for notifications from
/// the database.
package final class AlertStreams: Sendable {
    static let limits = StreamLimits(inAll: 300, ofOne: 8)
    static let heartbeatMs: Int64 = 10_000
    private static let rowsMax = 500
    /// Then it ends, and who comes back shows a session or token that still holds.
    private static let lifeMs: Int64 = 900_000

    private struct Subscriber: StreamSubscriber {
        let account: String
        let access: StreamAccess
        let stream: BodyStream
        /// The last event that it was sent.
        var lastID: Int64
        let endMs = Clock.steadyMs() + AlertStreams.lifeMs
    }

    private let listener: DatabaseListener
    /// Held while events are read and sent: a new subscriber misses none and gets none twice.
    private let subscribers = Mutex<[Subscriber]>([])
    private let beatMs = Atomic(Clock.steadyMs())

    package init(conninfo: String, log: Log) {
        listener = DatabaseListener(
            name: "alert-streams", channel: AlertEventStore.channel, conninfo: conninfo,
            trouble: "alerts do not reach open pages", log: log)
        // The thread keeps this alive until it is stopped.
        listener.start { [self] connection, isNews in try look(connection, isNews) }
    }

    /// Call once.
    package func stop() {
        listener.stop()
        for subscriber in subscribers.withLock({ $0 }) { subscriber.stream.end() }
    }

    /// A stream of the account's alerts after an event; nil: from now on.
    /// - Parameter access: the token or session that it is opened with.
    func open(
        _ account: String, by access: StreamAccess, after id: Int64?, on connection: Connection
    ) throws -> Result<BodyStream, StreamLimits.Refusal> {
        try subscribers.withLock { subscribers in
            do throws(StreamLimits.Refusal) {
                try AlertStreams.limits.room(in: &subscribers) { $0.account == account }
            } catch {
                return .failure(error)
            }
            var subscriber = Subscriber(
                account: account, access: access, stream: BodyStream(),
                lastID: try id ?? AlertEventStore.lastID(on: connection))
            subscriber.stream.greet(againMs: 3_000)
            while try AlertStreams.send(to: &subscriber, on: connection) == AlertStreams.rowsMax {}
            subscribers.append(subscriber)
            return .success(subscriber.stream)
        }
    }

    // MARK: The thread

    private func look(_ connection: Connection, _ isNews: Bool) throws {
        if isNews { try deliver(connection) }
        guard Clock.steadyMs() - beatMs.load(ordering: .relaxed) >= AlertStreams.heartbeatMs else { return }
        try DatabaseLogin.endLost(on: connection)
        let shut = try StreamAccessQueries.shut(Set(subscribers.withLock { $0.map(\.access) }), on: connection)
        beatMs.store(Clock.steadyMs(), ordering: .relaxed)
        subscribers.withLock { subscribers in
            subscribers.end(shut)
            let nowMs = Clock.steadyMs()
            for subscriber in subscribers where subscriber.endMs <= nowMs { subscriber.stream.end() }
            subscribers.removeAll { !$0.stream.beat() }
        }
    }

    private func deliver(_ connection: Connection) throws {
        try subscribers.withLock { subscribers in
            subscribers.removeAll { $0.stream.isEnded }
            guard let firstID = subscribers.map(\.lastID).min() else { return }
            let accounts = Set(subscribers.map(\.account)).sorted()
            var lastID = firstID
            while true {
                let events = try AlertEventStore.after(
                    lastID, of: accounts, rowsMax: AlertStreams.rowsMax, on: connection)
                for index in subscribers.indices {
                    for event in events where event.account == subscribers[index].account {
                        AlertStreams.send(event, to: &subscribers[index])
                    }
                }
                guard events.count == AlertStreams.rowsMax, let last = events.last else { return }
                lastID = last.id
            }
        }
    }

    private static func send(to subscriber: inout Subscriber, on connection: Connection) throws -> Int {
        let events = try AlertEventStore.after(
            subscriber.lastID, of: [subscriber.account], rowsMax: rowsMax, on: connection)
        for event in events { send(event, to: &subscriber) }
        return events.count
    }

    /// WHATWG HTML, 9.2.5: an event's id is what the client names when it comes back.
    private static func send(_ event: AlertEventStore.Event, to subscriber: inout Subscriber) {
        guard event.id > subscriber.lastID else { return }
        subscriber.lastID = event.id
        subscriber.stream.send(Array("id: \(event.id)\nevent: alert\ndata: \(event.json)\n\n".utf8))
    }
}
