internal import Basics
internal import HTTPServer
internal import Postgres
internal import Storage
internal import Synchronization
package import Telemetry

/// Open pages of fleets: each is told that there is news, and asks for it with its own rights. A thread of its own waits for
/// the database to say so.
package final class LiveStreams: Sendable {
    static let limits = StreamLimits(inAll: 1_000, ofOne: 8)
    static let heartbeatMs: Int64 = 15_000
    /// Commits come many times a second; people read more slowly.
    static let newsMs: Int64 = 1_000
    /// Other events than commits count as news, too.
    private static let lookMs: Int64 = 100
    /// Then it ends, and who comes back shows a session that still holds.
    static let lifeMs: Int64 = 900_000
    static let channel = "drover_fleet"

    private struct Subscriber: StreamSubscriber {
        let account: String
        let access: StreamAccess
        let stream: BodyStream
        let endMs: Int64
    }

    private struct State {
        var subscribers: [Subscriber] = []
        var isNews = false
        var toldMs: Int64 = 0
        var lookedMs: Int64 = 0
        /// The committed offsets of vehicles' topics, as pages were told last.
        var progress: String?
        var beatMs = Clock.steadyMs()
    }

    private let listener: DatabaseListener
    private let state = Mutex(State())

    package init(conninfo: String, log: Log) {
        listener = DatabaseListener(
            name: "live-streams", channel: LiveStreams.channel, conninfo: conninfo,
            trouble: "open pages are not told of news", log: log)
        // The thread keeps this alive until it is stopped.
        listener.start { [self] connection, isNews in try look(connection, isNews: isNews) }
    }

    /// Call once.
    package func stop() {
        listener.stop()
        for subscriber in state.withLock({ $0.subscribers }) { subscriber.stream.end() }
    }

    /// - Parameter access: the session that it is opened with.
    func open(_ account: String, by access: StreamAccess) -> Result<BodyStream, StreamLimits.Refusal> {
        state.withLock { state in
            Result { () throws(StreamLimits.Refusal) in
                try LiveStreams.limits.room(in: &state.subscribers) { $0.account == account }
                let stream = BodyStream(bytesMax: 16 << 10)
                stream.greet(againMs: 3_000)
                state.subscribers.append(
                    Subscriber(
                        account: account, access: access, stream: stream,
                        endMs: Clock.steadyMs() + LiveStreams.lifeMs))
                // What was committed since the page was made.
                state.isNews = true
                state.progress = nil
                return stream
            }
        }
    }

    /// On the listener's thread.
    private func look(_ connection: Connection, isNews: Bool) throws {
        let nowMs = Clock.steadyMs()
        let asked = state.withLock { state in
            nowMs - state.beatMs >= LiveStreams.heartbeatMs ? Set(state.subscribers.map(\.access)) : []
        }
        let shut = try StreamAccessQueries.shut(asked, on: connection)
        let isDue = state.withLock { state in
            state.subscribers.end(shut)
            state.isNews = state.isNews || isNews
            guard state.isNews, !state.subscribers.isEmpty, nowMs - state.toldMs >= LiveStreams.newsMs,
                nowMs - state.lookedMs >= LiveStreams.lookMs
            else { return false }
            state.isNews = false
            state.lookedMs = nowMs
            return true
        }
        tell(isDue ? try ProgressStore.vehicles(on: connection) : nil, nowMs)
    }

    /// WHATWG HTML, 9.2.5: an event, or a comment that keeps the connection.
    /// - Parameter progress: nil: nobody has looked.
    private func tell(_ progress: String?, _ nowMs: Int64) {
        state.withLock { state in
            var text = ""
            if nowMs - state.beatMs >= LiveStreams.heartbeatMs {
                state.beatMs = nowMs
                text = ": \n\n"
            }
            if let progress, progress != state.progress {
                state.progress = progress
                state.toldMs = nowMs
                text = "event: fleet\ndata: {\"as_of\":\"\(UTC.text(Clock.nowMs() / 1_000 * 1_000))\"}\n\n"
            }
            guard !text.isEmpty else { return }
            for subscriber in state.subscribers {
                subscriber.stream.send(Array(text.utf8))
                if subscriber.endMs <= nowMs { subscriber.stream.end() }
            }
            state.subscribers.removeAll { $0.stream.isEnded }
        }
    }
}
